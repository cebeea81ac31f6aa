/*-------------------------------------------------------------------------
 * build_item.c - items: rows as they are sorted
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "build.h"
#include "column.h"
#include "key.h"
#include "leaf.h"
#include "payload.h"

/*
 * An item: key | TID, 6 bytes big-endian | payload | payload length, 2 bytes, if there are INCLUDE
 * columns | flags, 1 byte, if unique.
 *
 * No key is a prefix of another one, so the byte order of items is the order of (key, TID).
 */
int
sfx_build_form_item(SfxBuild *bs, ItemPointer tid, Datum *values, bool *isnull, bool alive)
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
sfx_build_parse_item(const SfxBuild *bs, const uint8 *start, int end, SfxEntry *e, uint8 *flags)
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
