/*-------------------------------------------------------------------------
 * build_scan.c - the rows of a table become items, in each process of a build
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "build.h"
#include "column.h"
#include "key.h"
#include "leaf.h"
#include "order.h"
#include "payload.h"

#include "access/tableam.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/*
 * key | TID, 6 bytes big-endian | payload | payload length, 2 bytes, if INCLUDE columns | flags, 1
 * byte, if unique
 *
 * No key is a prefix of another, so that the byte order of items is the order of (key, TID).
 */
static int
form_item(SfxBuild *bs, ItemPointer tid, Datum *values, bool *isnull, bool alive)
{
	uint8	   *start = bs->item;
	int			len = sfx_key_encode(&bs->kd, bs->index, values, isnull, start);

	sfx_put_tid(start + len, SFX_TID(ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid)));
	len += 6;
	if (bs->plan.natts > bs->plan.nkeys)
	{
		int			paylen = sfx_payload_encode(&bs->kd, bs->index, values, isnull, start + len,
												SFX_MAX_ENTRY - (len - 6));

		len += paylen;
		sfx_put16(start + len, (uint16) paylen);
		len += 2;
	}
	if (bs->plan.unique)
	{
		uint8		flags = alive ? SFX_ITEM_ALIVE : 0;

		for (int i = 0; i < bs->kd.nkeys; i++)
			if (isnull[i])
				flags |= SFX_ITEM_HAS_NULL;
		start[len++] = flags;
	}
	return len;
}

void
sfx_build_parse_item(SfxBuild *bs, const uint8 *start, int end, SfxEntry *e, uint8 *flags)
{
	*flags = bs->plan.unique ? start[--end] : 0;
	e->paylen = 0;
	if (bs->plan.natts > bs->plan.nkeys)
	{
		end -= 2;
		e->paylen = sfx_get16(start + end);
		end -= e->paylen;
	}
	e->payload = start + end;
	end -= 6;
	e->tid = sfx_get_tid(start + end);
	e->key = start;
	e->keylen = end;
}

static void
build_callback(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	SfxBuild   *bs = arg;
	MemoryContext old = MemoryContextSwitchTo(bs->rowcxt);
	int			len = form_item(bs, tid, values, isnull, alive);

	sfx_order_prove(bs->order, values, isnull);
	MemoryContextSwitchTo(old);
	MemoryContextReset(bs->rowcxt);
	sfx_spool_put(bs->spool, bs->item, len, values, isnull);
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
