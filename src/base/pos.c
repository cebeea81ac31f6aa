/*-------------------------------------------------------------------------
 * pos.c - positions with bytes of their own; horizons
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "horizon.h"
#include "pos.h"

#include "access/transam.h"

void
sfx_pos_set(SfxPosBuf *buf, const SfxPos *pos)
{
	Assert(pos->len <= sizeof(buf->bytes));
	if (pos->len > 0)
		memmove(buf->bytes, pos->key, pos->len);
	buf->pos.key = buf->bytes;
	buf->pos.len = pos->len;
	buf->pos.tid = pos->tid;
}

SfxPos
sfx_pos_copy(const SfxPos *pos)
{
	SfxPos		copy = *pos;
	uint8	   *key = palloc(Max(pos->len, 1));

	if (pos->len > 0)
		memcpy(key, pos->key, pos->len);
	copy.key = key;
	return copy;
}

void
sfx_horizon_raise(SfxHorizon *horizon, const SfxHorizon *by)
{
	if (!TransactionIdIsValid(by->xid))
		return;
	if (!TransactionIdIsValid(horizon->xid) || TransactionIdFollows(by->xid, horizon->xid))
		horizon->xid = by->xid;
	horizon->catalog |= by->catalog;
}
