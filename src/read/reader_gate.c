/*-------------------------------------------------------------------------
 * reader_gate.c - the pages that a reader keeps pinned: gate and metapage (R1)
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "meta.h"
#include "metacache.h"
#include "pending.h"
#include "reader_impl.h"

#include "miscadmin.h"

/*
 * The gates that this backend found to be the current ones.  An index whose slot another one has
 * taken has none: only VACUUM's flip makes a guess wrong.
 */
#define LAST_GATES	256

static struct
{
	Oid			index;
	uint8		gate;
}			last_gate[LAST_GATES];

uint8
sfx_reader_last_gate(Relation index)
{
	Oid			id = RelationGetRelid(index);

	if (last_gate[id % LAST_GATES].index != id)
		return SFX_GATE_UNKNOWN;
	return last_gate[id % LAST_GATES].gate;
}

static void
note_gate(Relation index, uint8 gate)
{
	Oid			id = RelationGetRelid(index);

	last_gate[id % LAST_GATES].index = id;
	last_gate[id % LAST_GATES].gate = gate;
}

/*
 * The metapage, from this backend's copy if that is as good as the page (E6).  Where snapshots expire
 * the page's LSN is needed, too (R6).
 */
static inline void
read_meta(SfxReader *r, SfxMeta *meta)
{
	if (unlikely(SfxSnapshotsExpire()) || unlikely(!sfx_meta_known(r->index, meta)))
		sfx_meta_reread(r->index, meta, &r->gate.metabuf);
}

/* What a mutant does instead: VACUUM may flip the gate between the two pages. */
static void
pin_gate_unconfirmed(SfxReader *r, SfxMeta *meta)
{
	sfx_meta_reread(r->index, meta, &r->gate.metabuf);
	drop_gate(r);
	r->gate.number = meta->gate;
	SFX_STOP("gate chosen");
	r->gate.buf = sfx_read_page(r->index, SFX_GATE_BLKNO(r->gate.number));
}

/*
 * Pin the gate that the metapage names, before anything is copied.  Which one that is hardly ever
 * changes: the one of the last time is pinned first, and one look at the metapage confirms it.
 */
void
sfx_reader_pin_gate(SfxReader *r, SfxMeta *meta)
{
	if (SFX_MUTANT("gate not read again"))
	{
		pin_gate_unconfirmed(r, meta);
		return;
	}
	for (;;)
	{
		if (!BufferIsValid(r->gate.buf) && r->gate.number != SFX_GATE_UNKNOWN)
		{
			SFX_STOP("gate chosen");
			r->gate.buf = sfx_read_page(r->index, SFX_GATE_BLKNO(r->gate.number));
			/* VACUUM changes the metapage first, and looks for pins then (V3) */
			pg_memory_barrier();
		}
		read_meta(r, meta);
		if (r->gate.number == meta->gate)
			return;
		drop_gate(r);
		r->gate.number = meta->gate;
		note_gate(r->index, meta->gate);
		CHECK_FOR_INTERRUPTS();
	}
}

void
sfx_reader_meta(SfxReader *r, SfxMeta *meta)
{
	sfx_pending_flush_index(r->index);
	if (r->gate.wanted)
		sfx_reader_pin_gate(r, meta);
	else
		read_meta(r, meta);
	Assert(!r->gate.wanted || BufferIsValid(r->gate.buf));
}

void
sfx_reader_hold_gate(SfxReader *r, bool gate)
{
	Assert(!r->win.active);
	r->gate.wanted = gate;
	if (!gate)
		drop_gate(r);
}
