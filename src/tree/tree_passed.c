/*-------------------------------------------------------------------------
 * tree_passed.c - this backend's memory of entries of main trees that are dead to all snapshots
 *
 * A consumer of a queue that takes the first row rescans all entries taken since the leaf was last
 * written, and asks the table about each.  What it has found dead without a gap, from where it
 * began, is noted as a range; a later scan that begins in the range goes on at its end (X8).
 *
 * Dead to all snapshots stays dead, and entries come into a tree only by groups of merges, which
 * the metapage counts.  So while the metapage of R1 has the count of the step that looked, the
 * range holds the entries that were looked at, or fewer.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "find.h"
#include "memo.h"
#include "meta.h"

#define TREES		4			/* remembered */
#define PASSED_MOST	1024		/* entries; with so many the range is forgotten, and they are read
								 * once more: X3 may then write the leaf without them, and new
								 * sessions are spared them, too */

/* A position. */
typedef struct Place
{
	uint32		len;
	uint64		tid;
	uint8		key[SFX_PASSED_KEY];
} Place;

/* A range: all entries of the tree in [from, to) are dead. */
typedef struct Passed
{
	SfxMemo		memo;			/* as of the metapage's groups */
	Place		from;
	Place		to;
	int			n;				/* entries that were found dead in it */
} Passed;

static Passed passed[TREES];
static SfxMemoTable table = SFX_MEMO_TABLE(passed);

/* The count of groups that a memory depends on (T6); memo.h compares the life. */
static inline uint64
as_of(const SfxState *state)
{
	return SFX_MUTANT("passed for good") ? 0 : state->groups;
}

static void
set_place(Place *p, const SfxPos *pos)
{
	Assert(pos->len <= SFX_PASSED_KEY);
	memcpy(p->key, pos->key, pos->len);
	p->len = pos->len;
	p->tid = pos->tid;
}

static inline int
cmp_place(const Place *p, const SfxPos *pos)
{
	SfxPos		at = {p->key, p->len, p->tid};

	return sfx_order_cmp_pos(NULL, &at, pos);
}

bool
sfx_passed_until(Relation index, const SfxMeta *meta, const SfxPos *pos, SfxPos *to, uint8 *key)
{
	SfxState	state = sfx_state_take(meta);
	const Passed *p = sfx_memo_find(&table, index, state.build_id, as_of(&state));

	if (p == NULL || cmp_place(&p->from, pos) > 0 || cmp_place(&p->to, pos) <= 0)
		return false;
	memcpy(key, p->to.key, p->to.len);
	*to = (SfxPos) {key, p->to.len, p->to.tid};
	return true;
}

void
sfx_passed_note(Relation index, const SfxState *state, const SfxPos *from, const SfxPos *to,
				int n)
{
	bool		fresh;
	Passed	   *p;

	if (from->len > SFX_PASSED_KEY || to->len > SFX_PASSED_KEY)
		return;
	p = sfx_memo_get(&table, index, state->build_id, as_of(state), &fresh);
	/* extend the known range, or begin another one */
	if (fresh || cmp_place(&p->from, from) > 0 || cmp_place(&p->to, from) < 0)
	{
		set_place(&p->from, from);
		set_place(&p->to, to);

		/*
		 * one step found so many: the leaf may have just been written without them, or could not
		 * be
		 */
		p->n = n < PASSED_MOST ? n : 0;
	}
	else if (cmp_place(&p->to, to) < 0)
	{
		set_place(&p->to, to);
		p->n += n;
	}
	if (p->n >= PASSED_MOST)
	{
		p->to = p->from;
		p->n = 0;
	}
}
