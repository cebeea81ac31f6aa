/*-------------------------------------------------------------------------
 * count_column.c - count(column) as count(*) of rows whose column is not NULL
 *
 *	SELECT count(k) FROM t WHERE c
 *
 * is the same as
 *
 *	SELECT count(*) FROM t WHERE c AND k IS NOT NULL
 *
 * which an index that begins with k answers by ranks: its NULLs stand at one end.  A column that is
 * NOT NULL needs no such change.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "count_column.h"
#include "settings.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

/* ---- what fits ---- */

/* The column that the aggregate counts; NULL: it is another one. */
static const Var *
counted_column(const Aggref *agg)
{
	const Node *arg;

	if (agg->aggfnoid != F_COUNT_ANY || agg->aggfilter != NULL || agg->aggdistinct != NIL ||
		agg->aggorder != NIL || agg->agglevelsup > 0)
		return NULL;
	arg = (Node *) linitial_node(TargetEntry, agg->args)->expr;
	return IsA(arg, Var) && ((const Var *) arg)->varlevelsup == 0 &&
		((const Var *) arg)->varattno > 0 ? (const Var *) arg : NULL;
}

/*
 * Walker: is there anything in an output beside the counts of one column, and constants?  context:
 * the column (const Var **), NULL if none was counted so far.
 */
static bool
is_unfit(Node *node, void *context)
{
	const Var **counted = context;
	const Var  *column;

	if (node == NULL)
		return false;
	if (IsA(node, Var) || IsA(node, SubLink) || IsA(node, GroupingFunc))
		return true;
	if (!IsA(node, Aggref))
		return expression_tree_walker(node, is_unfit, context);
	column = counted_column((Aggref *) node);
	if (column == NULL || (*counted && !equal(column, *counted)))
		return true;
	*counted = column;
	return false;
}

/* Has the index all columns of the set, which is as pull_varattnos makes it? */
static bool
has_columns(Relation index, const Bitmapset * columns)
{
	Bitmapset  *has = NULL;

	for (int i = 0; i < IndexRelationGetNumberOfAttributes(index); i++)
		has = bms_add_member(has, index->rd_index->indkey.values[i] -
							 FirstLowInvalidHeapAttributeNumber);
	return bms_is_subset(columns, has);
}

/*
 * Has the table an index of ours that begins with the column, which may be NULL, and has all
 * columns with conditions?
 */
static bool
has_index(const RangeTblEntry *rte, AttrNumber attno, const Bitmapset * conditions)
{
	Relation	table = table_open(rte->relid, NoLock);
	bool		found = false;

	/* (core knows of children whose column is NOT NULL by now, and drops the condition there) */
	if (table->rd_rel->relhasindex && !(rte->inh && table->rd_rel->relhassubclass) &&
		!SfxColumnIsNotNull(table, attno))
	{
		foreach_oid(oid, RelationGetIndexList(table))
		{
			Relation	index = index_open(oid, rte->rellockmode);

			found |= sfx_is_ours(index->rd_indam) && index->rd_index->indisvalid &&
				index->rd_index->indkey.values[0] == attno && has_columns(index, conditions);
			index_close(index, NoLock);
		}
	}
	table_close(table, NoLock);
	return found;
}

RangeTblEntry *
sfx_only_table(const Query *q)
{
	Node	   *from = list_length(q->jointree->fromlist) == 1 ? linitial(q->jointree->fromlist) : NULL;
	RangeTblEntry *rte;

	if (from == NULL || !IsA(from, RangeTblRef))
		return NULL;
	rte = rt_fetch(((RangeTblRef *) from)->rtindex, q->rtable);
	return rte->rtekind == RTE_RELATION && rte->tablesample == NULL && rte->securityQuals == NIL ?
		rte : NULL;
}

/* The column that all outputs of the query count, with an index; NULL: it is another query. */
static const Var *
fits(const Query *q)
{
	const RangeTblEntry *rte = sfx_only_table(q);
	Bitmapset  *conditions = NULL;
	const Var  *column = NULL;

	if (q->commandType != CMD_SELECT || !q->hasAggs || q->hasTargetSRFs || q->hasWindowFuncs ||
		q->hasSubLinks || q->hasRowSecurity || q->groupClause != NIL || q->groupingSets != NIL ||
		q->setOperations != NULL || rte == NULL ||
		is_unfit((Node *) q->targetList, &column) || is_unfit(q->havingQual, &column) || column == NULL)
		return NULL;
	pull_varattnos(q->jointree->quals, column->varno, &conditions);
	/* (a volatile condition is to be evaluated for all rows) */
	if (contain_volatile_functions(q->jointree->quals) ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) ||
		!has_index(rte, column->varattno, conditions))
		return NULL;
	/* (plans are kept, and the user may be another one when they run) */
	return SfxMayExecuteAs(F_COUNT_ANY, ACL_ID_PUBLIC) && SfxMayExecuteAs(F_COUNT_, ACL_ID_PUBLIC) ?
		column : NULL;
}

/* ---- the change ---- */

/* Mutator: counts become count(*). */
static Node *
count_rows(Node *node, void *context)
{
	Aggref	   *agg;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Aggref))
		return expression_tree_mutator(node, count_rows, context);
	agg = makeNode(Aggref);
	*agg = *(Aggref *) node;
	agg->aggfnoid = F_COUNT_;
	agg->aggargtypes = agg->args = NIL;
	agg->inputcollid = InvalidOid;
	agg->aggstar = true;
	return (Node *) agg;
}

/* Can there be a query in the query? */
static bool
may_have_queries(const Query *q)
{
	foreach_node(RangeTblEntry, rte, q->rtable)
	{
		if (rte->rtekind == RTE_SUBQUERY)
			return true;
	}
	return q->hasSubLinks || q->cteList != NIL;
}

/* Walker: all queries. */
static bool
change(Node *node, void *context)
{
	Query	   *q = (Query *) node;
	const Var  *column;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, change, context);
	if (may_have_queries(q))
		(void) query_tree_walker(q, change, context, 0);
	column = fits(q);
	if (column)
	{
		NullTest   *test = makeNode(NullTest);

		/* (count(column) counts rows of a composite type that have NULLs, too) */
		test->arg = copyObject((Expr *) column);
		test->nulltesttype = IS_NOT_NULL;
		test->argisrow = false;
		test->location = -1;
		q->targetList = (List *) count_rows((Node *) q->targetList, NULL);
		q->havingQual = count_rows(q->havingQual, NULL);
		q->jointree->quals = make_and_qual(q->jointree->quals, (Node *) test);
	}
	return false;
}

void
sfx_count_rows_of_columns(Query *query)
{
	(void) change((Node *) query, NULL);
}
