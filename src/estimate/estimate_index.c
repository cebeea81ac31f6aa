/*-------------------------------------------------------------------------
 * estimate_index.c - the index that tells of a column
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "cost.h"
#include "estimate.h"

/* Has a column an equality, by which every row must have one value there, or another condition? */
static bool
has_condition(RelOptInfo *rel, AttrNumber attno, bool equality)
{
	SfxConditions c = {.varno = rel->relid,.attno = attno};

	foreach_node(RestrictInfo, rinfo, rel->baserestrictinfo)
	{
		if (attno > 0 && sfx_is_equality(rinfo) == equality &&
			sfx_conditions_mentioned((Node *) rinfo->clause, &c))
			return true;
	}
	return false;
}

static bool
has_key_column(const IndexOptInfo *info, AttrNumber attno)
{
	for (int i = 0; i < info->nkeycolumns; i++)
		if (info->indexkeys[i] == attno)
			return true;
	return false;
}

/* May a scan of the index be worth considering? */
static bool
may_be_scanned(RelOptInfo *rel, const IndexOptInfo *info)
{
	AttrNumber	attno = info->indexkeys[0];

	return attno == 0 || has_condition(rel, attno, true) || has_condition(rel, attno, false);
}

/*
 * What holds for column col where the columns before it are fixed must not be used for the cost of
 * a scan on that column without those.  So: do all indexes that have the column, and that
 * conditions lead to, have those columns, too?
 */
static bool
go_together(RelOptInfo *rel, const IndexOptInfo *info, int col)
{
	foreach_node(IndexOptInfo, other, rel->indexlist)
	{
		if (col == 0 || other == info || !has_key_column(other, info->indexkeys[col]) || !may_be_scanned(rel, other))
			continue;
		for (int i = 0; i < col; i++)
			if (!has_key_column(other, info->indexkeys[i]))
				return false;
	}
	return true;
}

bool
sfx_tells_of_all(const IndexOptInfo *info)
{
	return sfx_is_our_info(info) && info->indpred == NIL && !info->hypothetical;
}

/*
 * How many of an index's leading columns can be shown together (E1).  0: fewer than two.
 */
static int
chain_length(RelOptInfo *rel, const IndexOptInfo *info)
{
	int			n = 0;

	while (n < info->nkeycolumns && has_condition(rel, info->indexkeys[n], true) && go_together(rel, info, n))
		n++;
	return n > 0 && n < info->nkeycolumns && has_condition(rel, info->indexkeys[n], false) &&
		go_together(rel, info, n) ? n + 1 : 0;
}

IndexOptInfo *
sfx_telling_index(RelOptInfo *rel, AttrNumber attno, int *col, int *ncols)
{
	IndexOptInfo *first = NULL;
	IndexOptInfo *chain = NULL;

	*ncols = 0;
	foreach_node(IndexOptInfo, info, rel->indexlist)
	{
		int			n;

		if (!sfx_tells_of_all(info))
			continue;
		if (info->indexkeys[0] == attno && (first == NULL || info->pages < first->pages))
			first = info;
		n = info->nkeycolumns > 1 ? chain_length(rel, info) : 0;
		if (n > *ncols || (n > 0 && n == *ncols && info->pages < chain->pages))
		{
			chain = info;
			*ncols = n;
		}
	}
	for (*col = 0; *col < *ncols; ++*col)
		if (chain->indexkeys[*col] == attno)
			return chain;
	*col = 0;
	*ncols = 1;
	return first;
}
