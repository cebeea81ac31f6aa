/*-------------------------------------------------------------------------
 * estimate.h - the row of pg_statistic that the planner is shown for a query's conditions on a column
 *
 * estimate.c asks the others in this order: which index tells of the column (estimate_index.c), what the query compares it with
 * (estimate_conditions.c), how many entries lie between those constants (estimate_count.c).  Memory: the current context.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ESTIMATE_H
#define SURFIDX_ESTIMATE_H

#include "bounds.h"

#include "access/htup.h"
#include "access/skey.h"

#define SFX_MAX_EDGES	64		/* positions at which conditions change their answers; more are left to ANALYZE */

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
} SfxConditions;

/* Does an expression look at the column c->attno of the table c->varno? context: an SfxConditions. */
extern bool sfx_conditions_mentioned(Node *node, void *context);
/* Can the condition only be true for one value of what it compares?  Core marks those that it has found in the query itself. */
extern bool sfx_is_equality(const RestrictInfo *rinfo);
/* Fill c->pin with the equalities on the first ncols columns.  False: one of them is not fixed. */
extern bool sfx_conditions_pin(SfxConditions *c, RelOptInfo *rel, const IndexOptInfo *info, int ncols);
/*
 * Every condition that may be estimated while the table's size is: its own, and what core takes out of an OR that joins it.  False: one was not
 * understood, or there are equalities only.
 */
extern bool sfx_conditions_collect(SfxConditions *c, RelOptInfo *rel);

/* How many of an index's columns can be shown together: the first ones, all fixed but the last, for which there is another condition.  0: less than two. */
extern int	sfx_chain_length(RelOptInfo *rel, const IndexOptInfo *info);
/*
 * The index that tells of a column, whose number in it goes to *col: the one of which most columns can be shown together, if the column is one of them; else the
 * smallest one that begins with it.  NULL: none.
 */
extern IndexOptInfo *sfx_telling_index(RelOptInfo *rel, AttrNumber attno, int *col);

/* The positions at which the conditions change their answers, ascending; the last one is the end. */
typedef struct SfxEdges
{
	int			n;
	SfxPos		pos[SFX_MAX_EDGES + 2];
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
 * How the entries are spread over the intervals.  The number of those that have any, the largest first; 0 if there is nothing, or if a page is damaged (a
 * WARNING says so).
 */
extern int	sfx_edges_measure(const SfxConditions *c, const SfxEdges *e, SfxPiece *piece);
/* A row of pg_statistic, from the one that ANALYZE made, if it did. */
extern HeapTuple sfx_statistics_form(const SfxConditions *c, Oid relid, bool inherited, const SfxPiece *piece, int n);

#endif							/* SURFIDX_ESTIMATE_H */
