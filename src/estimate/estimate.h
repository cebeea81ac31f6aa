/*-------------------------------------------------------------------------
 * estimate.h - the row of pg_statistic that the planner is shown for a query's conditions on a
 * column
 *
 * estimate.c calls the others in this order: may a count change the plan (estimate_analyze.c, which
 * asks estimate_histogram.c), which index tells of the column (estimate_index.c), with what the
 * query compares it (estimate_conditions.c), how many entries lie between those constants
 * (estimate_count.c, which keeps from plan to plan what it can: estimate_known.c); then it makes
 * the row (estimate_row.c).  Memory: the current context.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ESTIMATE_H
#define SURFIDX_ESTIMATE_H

#include "column.h"
#include "leaf.h"
#include "meta.h"
#include "range.h"

#include "access/htup.h"
#include "access/skey.h"

#define SFX_MAX_EDGES	64		/* positions at which conditions change their answers; if there are
								 * more, it is left to ANALYZE */

/* The conditions on a column. */
typedef struct SfxConditions
{
	PlannerInfo *root;
	Index		varno;
	AttrNumber	attno;
	int			col;			/* the column's number in the index, from 0 */
	SfxOpened	o;				/* the index; heap is NULL */
	ScanKey		pin;			/* equalities on the columns before it */
	List	   *keys;			/* ScanKeys of the conditions */
	bool		inequality;		/* one of them at least is one */
	bool		chained;		/* ... or there is one on a later column that is shown together
								 * with this one */
	bool		strange;		/* some condition on the column was not understood */
	bool		compound;		/* some condition is not a simple comparison of the column with a
								 * constant that every row has to pass */
} SfxConditions;

/*
 * An expression walker: does the expression refer to column c->attno of table c->varno?  context:
 * an SfxConditions.
 */
extern bool sfx_conditions_mentioned(Node *node, void *context);

/*
 * Can the condition, a RestrictInfo or an expression, be true for one value only of what it
 * compares?  Core marks such conditions that it finds in the query itself.
 */
extern bool sfx_is_equality(const void *clause);

/* Fill c->pin with the equalities on the first ncols columns.  False: a column is not fixed. */
extern bool sfx_conditions_pin(SfxConditions *c, RelOptInfo *rel, const IndexOptInfo *info, int ncols);

/*
 * Collect every condition that core may estimate while it estimates the table's size: the table's
 * own, and what core extracts from ORs of joins.  False: one was not understood, or all are
 * equalities.
 */
extern bool sfx_conditions_collect(SfxConditions *c, RelOptInfo *rel);

/* Is it an index of ours that has all rows? */
extern bool sfx_tells_of_all(const IndexOptInfo *info);

/*
 * The index that tells of a column, the column's number in it (*col), and how many of its leading
 * columns are shown together (*ncols): all fixed except the last, which has another condition (E1);
 * 1: the first column alone.  It is the index of which most columns can be shown together, if the
 * column is among them; else the smallest index that begins with the column.  NULL: none.
 */
extern IndexOptInfo *sfx_telling_index(RelOptInfo *rel, AttrNumber attno, int *col, int *ncols);

/*
 * The positions at which the conditions change their answers, ascending; the last one is the end.
 */
typedef struct SfxEdges
{
	int			n;
	SfxPos		pos[SFX_MAX_EDGES + 2];
	/* the range of each condition that can find anything */
	int			nranges;
	struct
	{
		ScanKey		key;
		SfxPos		lo;
		SfxPos		hi;
	}			range[SFX_MAX_EDGES / 2];
	/* bytes of the positions, for as long as there is room */
	Size		used;
	uint8		bytes[512];
} SfxEdges;

/* The interval between two edges. */
typedef struct SfxPiece
{
	double		share;			/* of all entries between the first edge and the last */
	Datum		first;			/* a value in it */
	bool		isnull;
} SfxPiece;

/*
 * Find the edges.  nulls: the column may have NULLs.  False: there are too many, or conditions are
 * not so simple.
 */
extern bool sfx_edges_find(SfxConditions *c, bool nulls, SfxEdges *e);

/*
 * Measure how the entries are distributed over the intervals.  Returns the number of those that
 * have entries, the largest first; 0: there are none, or a page is damaged (a WARNING says so).
 */
extern int	sfx_edges_measure(const SfxConditions *c, const SfxEdges *e, SfxPiece *piece);

/*
 * Make a row of pg_statistic in that memory, from ANALYZE's row if there is one.  Values in piece
 * are detoasted.
 */
extern HeapTuple sfx_statistics_form(const SfxConditions *c, Oid relid, bool inherited, SfxPiece *piece, int n, MemoryContext cxt);

/*
 * Does ANALYZE's estimate do for this plan, since no count of rows would change it?  While this is
 * asked, core must not be shown anything else for the table.  ERROR of a comparison function, or if
 * the metapage cannot be read.
 */
extern bool sfx_analyze_will_do(PlannerInfo *root, RelOptInfo *rel);

/*
 * Are there statistics of the index's first column, and not stale?  And: do all conditions of the
 * table compare that column with constants inside of ANALYZE's histogram, and find few rows by it?
 * The user may see the column.  ERROR of a comparison function, as in core's use of the histogram,
 * or if the metapage cannot be read.
 */
extern bool sfx_histogram_is_fresh(Oid relid, const IndexOptInfo *info);
extern bool sfx_histogram_has_few(Oid relid, const RelOptInfo *rel, const IndexOptInfo *info);

/*
 * ---- estimate_known.c: what this backend keeps of an index, about its first column.  Errors:
 * those of comparison functions; none in ordered bytes. ----
 */

typedef struct SfxKnown SfxKnown;

/* What is kept of the index, as of that metapage.  Valid until the next call. */
extern SfxKnown *sfx_known_index(Relation index, const SfxMeta *meta);

/* Another plan counts entries without positions: is it time to learn these? */
extern bool sfx_known_worth_learning(SfxKnown *k, const SfxMeta *meta);

/* Learn positions, by all pages above the leaves.  ERROR if pages are damaged. */
extern void sfx_known_learn(SfxKnown *k, const SfxOpened *o, const SfxMeta *meta);

/*
 * Were positions learned?  Then all stages except the delta had *total entries, *nulls of them with
 * NULL (in ordered bytes).
 */
extern bool sfx_known_learned(const SfxKnown *k, double *total, double *nulls);

/* The number of these entries below pos, and by how much it may be wrong (*off). */
extern void sfx_known_rank(const SfxKnown *k, const SfxOpened *o, const SfxPos *pos, double *rank, double *off);

/*
 * The same for n ascending positions, none of which is at an end of the values or NULLs, exactly:
 * by a look into their leaves in each run of *meta, which has to be that of sfx_known_index.  ERROR
 * if pages are damaged.
 */
extern void sfx_known_ranks_by_leaves(const SfxKnown *k, const SfxOpened *o, const SfxMeta *meta,
									  const SfxPos *pos, int n, double *rank);

/* A value between two positions, if one was seen; it is *k's.  And note one that was seen. */
extern bool sfx_known_value(const SfxKnown *k, const SfxOrder *order, const SfxPos *lo, const SfxPos *hi, Datum *value);
extern void sfx_known_note(SfxKnown *k, const SfxColumn *col, const SfxOrder *order, const SfxEntry *e, Datum value);

extern void sfx_estimate_define_gucs(void);
extern void sfx_estimate_init(void);	/* install the planner's hook for statistics */

#endif							/* SURFIDX_ESTIMATE_H */
