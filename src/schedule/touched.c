/*-------------------------------------------------------------------------
 * touched.c - the leaves into which a delta falls, found without reading a leaf
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "find.h"
#include "merge_lock.h"
#include "order.h"
#include "pos.h"
#include "source.h"
#include "touched.h"

#include "miscadmin.h"
#include "utils/memutils.h"

uint64
sfx_leaves_touched(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
				   SfxLeafVisit visit, void *arg)
{
	SfxPosBuf  *pos = palloc(sizeof(SfxPosBuf));
	SfxLogSorted *log = sfx_source_log(index, order, meta, g);
	SfxPos		start = {(const uint8_t *) "", 0, 0};
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx leaves touched",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	SfxNode		node = {0};
	uint64		n = 0;
	int			child = 0;

	Assert(sfx_merge_lock_held(index));
	sfx_pos_set(pos, &start);
	while (sfx_generation_next(index, order, meta, g, log, pos, &n) && SfxMetaMain(meta)->level > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (child == node.nchildren ||
			(!node.high_inf && sfx_order_cmp_pos(order, &node.high, &pos->pos) <= 0))
		{
			MemoryContextReset(cxt);
			sfx_tree_load(SfxTreeOf(index, order, meta, SfxMetaMain(meta)->id), &pos->pos, 1,
						  &node);
			child = 0;
		}
		while (child + 1 < node.nchildren &&
			   sfx_order_cmp_pos(order, &node.children[child + 1].low, &pos->pos) <= 0)
			child++;
		if (!visit(&node.children[child], n, arg))
			break;

		/*
		 * continue at the next leaf; if it has another parent, its low fence is the high fence of
		 * this parent
		 */
		if (++child < node.nchildren)
			sfx_pos_set(pos, &node.children[child].low);
		else if (node.high_inf)
			break;
		else
			sfx_pos_set(pos, &node.high);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	sfx_log_sorted_free(log);
	pfree(pos);
	return n;
}
