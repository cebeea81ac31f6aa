/*-------------------------------------------------------------------------
 * build_scan.c - the rows of a table become items, in each process of a build
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "build.h"
#include "order.h"

#include "access/tableam.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Core's callback for each row: adds its item to the spool. */
static void
build_callback(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	SfxBuild   *bs = arg;
	MemoryContext old = MemoryContextSwitchTo(bs->rowcxt);
	int			len = sfx_build_form_item(bs, tid, values, isnull, alive);

	sfx_order_prove(bs->order, values, isnull);
	sfx_spool_put(bs->spool, bs->item, len, values[0], isnull[0]);
	MemoryContextSwitchTo(old);
	MemoryContextReset(bs->rowcxt);
	bs->indtuples += 1;
}

double
sfx_build_scan(SfxBuild *bs, TableScanDesc scan, bool progress)
{
	return table_index_build_scan(bs->heap, bs->index, bs->info, true, progress, build_callback,
								  bs, scan);
}

void
sfx_build_begin(SfxBuild *bs, Relation heap, Relation index, IndexInfo *info,
				const SfxBuildPlan *plan)
{
	memset(bs, 0, sizeof(*bs));
	bs->heap = heap;
	bs->index = index;
	bs->info = info;
	sfx_keydesc_init(&bs->kd, index);
	if (plan)
	{
		sfx_build_same_plan(plan, heap, index, info, &bs->kd);
		bs->plan = *plan;
	}
	else
		sfx_build_plan(&bs->plan, heap, index, info, &bs->kd);
	bs->order = sfx_order_create(index, &bs->kd, true);
	bs->proof = sfx_order_create(index, &bs->kd, false);
	bs->rowcxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx build row",
									   ALLOCSET_DEFAULT_SIZES);
}
