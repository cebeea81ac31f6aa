/*-------------------------------------------------------------------------
 * estimate.h - the row of pg_statistic that the planner is shown for a query's conditions on a
 * column
 *
 * estimate.c asks the others in this order: which index tells of the column (estimate_index.c),
 * what the query compares it with (estimate_conditions.c), how many entries lie between those
 * constants (estimate_count.c, which keeps what it can from plan to plan: estimate_known.c); and
 * puts the row together (estimate_row.c).  Memory: the current context.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ESTIMATE_H
#define SURFIDX_ESTIMATE_H

#include "surfidx.h"
#include "column.h"
#include "leaf.h"
#include "meta.h"
#include "range.h"

#include "access/htup.h"
#include "access/skey.h"

#define SFX_MAX_EDGES	64		/* positions at which conditions change their answers; more are
								 * left to ANALYZE */

/* The conditions on a column. */
typedef struct SfxConditions
{
	PlannerInfo *root;
	Index		varno;
	AttrNumber	attno;
	int			col;			/* the index's column, from 0 */
	SfxOpened	o;				/* the index; heap is NULL */
	ScanKey		pin;			/* equalities on the columns before it */
	List	   *keys;			/* ScanKeys of the conditions */
	bool		inequality;		/* one of them, at least */
	bool		chained;		/* ... or on a later column that is shown together with this one */
	bool		strange;		/* a condition on the column that was not understood */
	bool		compound;		/* some are not simply comparisons of the column with a constant
								 * that every row has to pass */
} SfxConditions;

/*
 * Does an expression look at the column c->attno of the table c->varno? context: an SfxConditions.
 */
extern bool sfx_conditions_mentioned(Node *node, void *context);

/*
 * Can the condition only be true for one value of what it compares?  Core marks those that it has
 * found in the query itself.
 */
extern bool sfx_is_equality(const RestrictInfo *rinfo);

/* Fill c->pin with the equalities on the first ncols columns.  False: one of them is not fixed. */
extern bool sfx_conditions_pin(SfxConditions *c, RelOptInfo *rel, const IndexOptInfo *info, int ncols);

/*
 * Every condition that may be estimated while the table's size is: its own, and what core takes out
 * of an OR that joins it.  False: one was not understood, or there are equalities only.
 */
extern bool sfx_conditions_collect(SfxConditions *c, RelOptInfo *rel);

/*
 * How many of an index's columns can be shown together: the first ones, all fixed but the last, for
 * which there is another condition.  0: less than two.
 */
extern int	sfx_chain_length(RelOptInfo *rel, const IndexOptInfo *info);

/*
 * The index that tells of a column, whose number in it goes to *col: the one of which most columns
 * can be shown together, if the column is one of them; else the smallest one that begins with it.
 * NULL: none.
 */
extern IndexOptInfo *sfx_telling_index(RelOptInfo *rel, AttrNumber attno, int *col);

/*
 * The positions at which the conditions change their answers, ascending; the last one is the end.
 */
typedef struct SfxEdges
{
	int			n;
	SfxPos		pos[SFX_MAX_EDGES + 2];
	/* of each condition that finds anything the range */
	int			nranges;
	struct
	{
		ScanKey		key;
		SfxPos		lo;
		SfxPos		hi;
	}			range[SFX_MAX_EDGES / 2];
	/* of positions, as long as they have room */
	Size		used;
	uint8		bytes[512];
} SfxEdges;

/* What lies between two of them. */
typedef struct SfxPiece
{
	double		share;			/* of all entries between the first edge and the last */
	Datum		first;
	bool		isnull;
} SfxPiece;

/* nulls: the column may have some.  False: too many, or not so simple. */
extern bool sfx_edges_find(SfxConditions *c, bool nulls, SfxEdges *e);

/*
 * How the entries are spread over the intervals.  The number of those that have any, the largest
 * first; 0 if there is nothing, or if a page is damaged (a WARNING says so).
 */
extern int	sfx_edges_measure(const SfxConditions *c, const SfxEdges *e, SfxPiece *piece);

/*
 * A row of pg_statistic in that memory, from the one that ANALYZE made, if it did.  Values are made
 * plain in piece.
 */
extern HeapTuple sfx_statistics_form(const SfxConditions *c, Oid relid, bool inherited, SfxPiece *piece, int n, MemoryContext cxt);

/* ---- estimate_known.c: what this backend keeps of an index.  Of the first column.  Errors: what comparison functions throw, none in ordered bytes. ---- */

typedef struct SfxKnown SfxKnown;

/* Of the index as that metapage says that it is now.  Valid until the next call. */
extern SfxKnown *sfx_known_index(Relation index, const SfxMeta *meta);

/* One more plan counts entries without positions: is it time to learn them? */
extern bool sfx_known_worth_learning(SfxKnown *k, const SfxMeta *meta);

/* Learn positions, by all pages above the leaves.  Errors: damage. */
extern void sfx_known_learn(SfxKnown *k, const SfxOpened *o, const SfxMeta *meta);

/*
 * Are there positions?  In all stages but the delta there were so many entries, and so many with
 * NULL (in ordered bytes).
 */
extern bool sfx_known_learned(const SfxKnown *k, double *total, double *nulls);

/* How many of these lie below pos, but for *off more or less. */
extern void sfx_known_rank(const SfxKnown *k, const SfxOpened *o, const SfxPos *pos, double *rank, double *off);

/*
 * The same of n ascending ones, none of which is an end of the values or NULLs, by a look into
 * their leaves in each run of *meta, which has to be that of sfx_known_index.  Errors: damage.
 */
extern void sfx_known_ranks_by_leaves(const SfxKnown *k, const SfxOpened *o, const SfxMeta *meta,
									  const SfxPos *pos, int n, double *rank);

/* A value between two positions, if one was seen; it is *k's. */
extern bool sfx_known_value(const SfxKnown *k, const SfxOrder *order, const SfxPos *lo, const SfxPos *hi, Datum *value);
extern void sfx_known_note(SfxKnown *k, const SfxColumn *col, const SfxOrder *order, const SfxEntry *e, Datum value);

extern void sfx_estimate_define_gucs(void);
extern void sfx_estimate_init(void);	/* the planner's hook for statistics */

#endif							/* SURFIDX_ESTIMATE_H */
