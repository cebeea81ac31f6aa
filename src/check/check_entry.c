/*-------------------------------------------------------------------------
 * check_entry.c - what an entry has to satisfy wherever it stands
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "check.h"
#include "column.h"
#include "key.h"
#include "leaf.h"
#include "payload.h"

#include "utils/memutils.h"

static void
remember_entry(SfxCheck *cs, const SfxEntry *e)
{
	uint8		bytes[SFX_MAX_ENTRY + 6];
	int			len = sfx_check_element(cs, e->key, e->keylen, e->tid, bytes);

	bloom_add_element(cs->filter, bytes, len);
}

/* Check that the entry's values can be decoded, and are its row's. */
static void
check_values(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e, bool dead)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	ErrorContextCallback context = {.callback = sfx_check_context,.arg = &blkno,.previous = error_context_stack};
	MemoryContext old = MemoryContextSwitchTo(cs->rowcxt);

	error_context_stack = &context;
	sfx_key_decode(&cs->kd, cs->index, e->key, e->keylen, cs->kd.nkeys, values, isnull, cs->arena);
	if (e->paylen > 0)
		sfx_payload_decode(&cs->kd, cs->index, e->payload, e->paylen, values, isnull, cs->arena);
	if (cs->rows && !dead)
		sfx_check_row(cs, blkno, e);
	error_context_stack = context.previous;
	MemoryContextSwitchTo(old);
	if (sfx_key_may_be_long(&cs->kd, e->keylen))
		MemoryContextReset(cs->rowcxt);
}

static void
note_tid(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e)
{
	if (e->tid <= cs->max_tid)
		return;
	cs->max_tid = e->tid;
	cs->max_tid_blkno = blkno;
}

static void
check_form(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e)
{
	if (e->keylen < 1)
		sfx_broken(cs, blkno, "entry without a key");
	if (SFX_TID_OFFSET(e->tid) == 0 || SFX_TID_OFFSET(e->tid) > sfx_max_offset(cs->heap) ||
		SFX_TID_BLOCK(e->tid) == InvalidBlockNumber)
		sfx_broken(cs, blkno, "entry with the impossible TID (%u,%u)", SFX_TID_BLOCK(e->tid), SFX_TID_OFFSET(e->tid));
	if ((e->paylen > 0) != (cs->kd.natts > cs->kd.nkeys))
		sfx_broken(cs, blkno, "entry with %u bytes of INCLUDE columns in an index with %d of them",
				   e->paylen, cs->kd.natts - cs->kd.nkeys);
}

/* See check.h. */
void
sfx_check_entry(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e, bool dead)
{
	check_form(cs, blkno, e);
	check_values(cs, blkno, e, dead);
	if (dead)
		return;
	note_tid(cs, blkno, e);
	if (cs->filter)
		remember_entry(cs, e);
	if (cs->rows && !cs->moving)
		sfx_check_only(cs, blkno, e);
}

void
sfx_check_cut_entry(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e)
{
	check_form(cs, blkno, e);
	note_tid(cs, blkno, e);
	if (cs->rows && !cs->moving)
		sfx_check_only(cs, blkno, e);
	if (cs->rows)
		sfx_check_row_is_there(cs, blkno, e->tid);
}
