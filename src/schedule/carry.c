/*-------------------------------------------------------------------------
 * carry.c - entries that stay in the delta although it is merged (storage parameter merge_cold)
 *
 * Lookups count in a generation's image which of its entries they have asked for.  After the
 * generation was frozen, and before its first group is merged, the worker appends those entries
 * that were asked for most to the log of the active generation, by ordinary appends.  The merge
 * then leaves out what a newer generation has.  So an entry goes from a frozen generation into the
 * active one or into a run, and the logs alone tell at any time which of the two.  A crash loses
 * only the counts.  README "merge", M7.
 *
 * At most a part of what makes a merge due is carried over (policy.c), so that each merge makes
 * room.  If more entries were asked for, those with the most touches stay, as far as two bits can
 * tell; of those with three touches or more, if they are too many, an even selection.
 * can tell; and of too many that were asked for three times and more, an even selection.
 */
#include "surfidx.h"
#include "carried.h"
#include "carry.h"
#include "delta.h"
#include "image.h"
#include "leaf.h"
#include "log.h"
#include "merge_lock.h"
#include "meta.h"
#include "policy.h"
#include "pos.h"
#include "source.h"

#include "utils/memutils.h"

#define LOOK_ENTRIES	8192	/* entries examined in one hold of the image's lock */

struct SfxCarry
{
	Relation	index;
	const SfxOrder *order;
	MemoryContext cxt;			/* of a step, which resets it */
	bool		chosen;			/* the following members are set */
	int			least;			/* touches of an entry that is carried over */
	uint64		limit;			/* entries to be carried over, at most, ... */
	uint64		of;				/* ... of so many that have these touches */
	uint64		due;			/* (of them so far) * limit, modulo of */
	uint64		carried;
	uint64		count[SFX_DELTA_TOUCHES + 1];	/* entries with so many touches */
	SfxPosBuf	from;
};

/* The entries that a step has copied out of the image. */
typedef struct Picked
{
	int			n;
	uint32		used;
	SfxEntry	entry[SFX_SOURCE_CHUNK];
	uint8		bytes[SFX_SOURCE_BYTES + SFX_MAX_ENTRY];
} Picked;

/* ---- carrying over ---- */

SfxCarry *
sfx_carry_begin(Relation index, const SfxOrder *order)
{
	SfxCarry   *c = palloc0(sizeof(SfxCarry));

	c->index = index;
	c->order = order;
	c->cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx carry over", ALLOCSET_DEFAULT_SIZES);
	sfx_pos_set(&c->from, &SFX_POS_FIRST);
	return c;
}

void
sfx_carry_end(SfxCarry *c)
{
	MemoryContextDelete(c->cxt);
	pfree(c);
}

/*
 * Is an entry with so many touches carried over?  Called once for each; spreads c->limit entries
 * evenly over c->of candidates.
 */
static bool
picks(SfxCarry *c, int touches)
{
	if (touches < c->least)
		return false;
	c->due += c->limit;
	if (c->due < c->of)
		return false;
	c->due -= c->of;
	return true;
}

static void
pick(Picked *p, const SfxEntry *e)
{
	p->used += sfx_entry_copy(e, &p->entry[p->n++], p->bytes + p->used);
}

/*
 * Examine up to LOOK_ENTRIES entries under the image's lock: count their touches, or copy those to
 * be carried over to *p.  False: these were the last.  *unchanged: as sfx_image_unchanged.
 */
static bool
look(SfxCarry *c, const SfxMeta *meta, int g, Picked *p, bool *unchanged)
{
	SfxImage   *img = sfx_carried_image(c->index, c->order, meta, g);
	SfxNodeAlloc a;
	const SfxDelta *d = sfx_image_delta(img, c->order, &a);
	SfxCursor	at;
	SfxEntry	e;
	bool		have = sfx_delta_seek(d, &a, &c->from.pos, &at);
	bool		misled = false;

	*unchanged = sfx_image_unchanged(img);
	for (int n = 0; have && n < LOOK_ENTRIES && p->n < SFX_SOURCE_CHUNK && p->used < SFX_SOURCE_BYTES; n++)
	{
		int			touches = sfx_delta_touches(d, &a, &at);

		if (!c->chosen)
			c->count[touches]++;
		else if (picks(c, touches))
		{
			sfx_delta_get(d, &a, &at, &e);
			pick(p, &e);
		}
		have = sfx_delta_next(d, &a, &at);
	}
	if (have)
	{
		SfxPos		pos;

		sfx_delta_get(d, &a, &at, &e);
		pos = sfx_entry_pos(&e);
		misled = sfx_image_misleads(c->order, &c->from.pos, &pos);
		sfx_pos_set(&c->from, &pos);
	}
	sfx_image_release(img);
	if (misled)
		sfx_image_misled(c->index, c->order, meta, meta->gens[g].gen);
	return have;
}

/*
 * All entries have been counted: decide how many touches an entry needs.  False: none is carried
 * over.
 */
static bool
choose(SfxCarry *c, const SfxMeta *meta, int g)
{
	c->limit = sfx_merge_carry_limit(c->index, meta, g);
	c->least = SFX_DELTA_TOUCHES;
	c->of = c->count[SFX_DELTA_TOUCHES];
	while (c->least > 1 && c->of + c->count[c->least - 1] <= c->limit)
		c->of += c->count[--c->least];
	c->chosen = true;
	sfx_pos_set(&c->from, &SFX_POS_FIRST);
	/* with of == limit picks() takes every candidate */
	c->of = Max(c->of, c->limit);
	return c->limit > 0;
}

/*
 * Append the picked entries to the active generation, except those that it has already: an earlier
 * attempt appended these before it was interrupted.
 */
static void
append(SfxCarry *c, const SfxMeta *meta, int g, Picked *p, bool unchanged)
{
	int			n = sfx_carry_leave_out(c->index, c->order, meta, g, p->entry, p->n);

	for (int i = 0; i < n && c->carried < c->limit; i++)
	{
		(void) sfx_log_append(c->index, &p->entry[i], unchanged);
		c->carried++;
		SFX_STOP("entry carried over");
	}
}

bool
sfx_carry_step(SfxCarry *c, const SfxMeta *meta, int g)
{
	MemoryContext old = MemoryContextSwitchTo(c->cxt);
	Picked	   *p = palloc(sizeof(Picked));
	bool		unchanged;
	bool		more;

	Assert(sfx_merge_lock_held(c->index));
	p->n = 0;
	p->used = 0;
	more = look(c, meta, g, p, &unchanged);
	if (p->n > 0)
		append(c, meta, g, p, unchanged);
	if (c->chosen)
	{
		more = more && c->carried < c->limit;
		if (!more)
			elog(DEBUG1, "surfidx: index \"%s\": " UINT64_FORMAT " of " UINT64_FORMAT " entries of generation %u stay in the delta",
				 RelationGetRelationName(c->index), c->carried, meta->gens[g].sealed, meta->gens[g].gen);
	}
	else if (!more)
		more = choose(c, meta, g);
	MemoryContextSwitchTo(old);
	MemoryContextReset(c->cxt);
	return more;
}
