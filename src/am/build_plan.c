/*-------------------------------------------------------------------------
 * build_plan.c - the plan of a build, made once (A1)
 *
 * The process that was asked for the index makes the plan, from what core asks for (IndexInfo), the
 * relations' cache entries, and its settings.  Core may ask for other things than the catalogs say:
 * VACUUM FULL and CLUSTER rebuild a unique index without a check of uniqueness.  So the workers of
 * a parallel build get the plan in shared memory, and their IndexInfo is made to say the same.
 *
 * What a process has to look up for itself is in the plan as well: each process makes a plan of its
 * own from what it sees, and compares the two.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "build.h"
#include "column.h"

#include "access/nbtree.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "utils/rel.h"

static void
plan_column(SfxBuildColumn *c, Relation index, int attno, const SfxColumn *col)
{
	c->type = col->type;
	c->collation = col->collation;
	c->order_proc = index_getprocid(index, attno + 1, BTORDER_PROC);
	c->sort_proc = index_getprocid(index, attno + 1, BTSORTSUPPORT_PROC);
	c->encoding_proc = index_getprocid(index, attno + 1, SFX_ENCODING_PROC);
	c->typlen = col->typlen;
	c->desc = col->desc;
	c->nulls_first = col->nulls_first;
	c->raw = col->raw;
	c->counted = col->counted;
	c->has_rest = col->enc != NULL && col->enc->rest != NULL;
}

void
sfx_build_plan(SfxBuildPlan *plan, Relation heap, Relation index, const IndexInfo *info,
			   const SfxKeyDesc *kd)
{
	/* padding, too: plans are compared as bytes */
	memset(plan, 0, sizeof(*plan));
	plan->heap = RelationGetRelid(heap);
	plan->index = RelationGetRelid(index);
	plan->heap_file = SfxRelLocator(heap);
	plan->index_file = SfxRelLocator(index);
	plan->unique = info->ii_Unique;
	plan->nulls_not_distinct = info->ii_NullsNotDistinct;
	plan->exclusion = info->ii_ExclusionOps != NULL;
	plan->concurrent = info->ii_Concurrent;
	plan->partial = info->ii_Predicate != NIL;
	plan->nexpressions = list_length(info->ii_Expressions);
	for (int i = 0; i < info->ii_NumIndexAttrs; i++)
		plan->attnum[i] = info->ii_IndexAttrNumbers[i];
	plan->natts = kd->natts;
	plan->nkeys = kd->nkeys;
	plan->comparator = kd->comparator;
	for (int i = 0; i < kd->nkeys; i++)
		plan_column(&plan->col[i], index, i, &kd->col[i]);
	plan->workmem = maintenance_work_mem;
	GetUserIdAndSecContext(&plan->user, &plan->security);
}

IndexInfo *
sfx_build_worker_info(Relation index, const SfxBuildPlan *plan)
{
	IndexInfo  *info = BuildIndexInfo(index);

	info->ii_Unique = plan->unique;
	info->ii_NullsNotDistinct = plan->nulls_not_distinct;
	info->ii_Concurrent = plan->concurrent;
	if (!plan->exclusion)
	{
		info->ii_ExclusionOps = NULL;
		info->ii_ExclusionProcs = NULL;
		info->ii_ExclusionStrats = NULL;
	}
	return info;
}

void
sfx_build_same_plan(const SfxBuildPlan *plan, Relation heap, Relation index, const IndexInfo *info,
					const SfxKeyDesc *kd)
{
	SfxBuildPlan own;

	sfx_build_plan(&own, heap, index, info, kd);
	if (memcmp(&own, plan, sizeof(own)) != 0)
		elog(ERROR, "surfidx: a worker building index \"%s\" has another plan than its leader",
			 RelationGetRelationName(index));
}
