/*-------------------------------------------------------------------------
 * tree_passed.c - this backend's memory of entries of trees that are dead to all snapshots
 *
 * A consumer of a queue that takes the first row rescans all entries taken since the leaf was last
 * written, and asks the table about each.  What it has found dead without a gap, from where it
 * began, is noted as a range; a later scan that begins in the range goes on at its end (X8).
 *
 * Elsewhere dead entries stand among others, such as the old versions of rows that are updated
 * often, and each lookup and range would ask the table about them again.  Their TIDs are noted.
 *
 * Dead to all snapshots stays dead, and entries come into a tree only by groups of merges, which
 * the metapage counts.  So while the metapage of R1 has the count of the step that looked, the
 * range holds the entries that were looked at, or fewer; and each entry of a tree with a TID that
 * was noted is of a row that is dead, for a later row with that TID has its entry in the delta.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "find.h"
#include "memo.h"
#include "meta.h"

#include "utils/memutils.h"

#define TREES		4			/* remembered */
#define TREES_OF_TIDS	16		/* ... with TIDs */
#define SLOTS_FIRST	256			/* places for TIDs, half of them used at most */
#define SLOTS_MOST	4096
#define PASSED_MOST	1024		/* entries; with so many the range is forgotten, and TIDs are, and
								 * they are read once more: X3 may then write the leaf without
								 * them, and new sessions are spared them, too */

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

/* TIDs whose entries in the index's trees are dead. */
typedef struct DeadTids
{
	SfxMemo		memo;			/* as of the metapage's groups */
	int			n;
	int			nslots;			/* a power of two */
	uint64		leaves;			/* bits of the numbers of leaves that they were found in */
	uint64	   *slots;			/* 0: empty */
} DeadTids;

static DeadTids dead_tids[TREES_OF_TIDS];
static SfxMemoTable tids_table = SFX_MEMO_TABLE(dead_tids);

/* Bits of the indexes of which any was ever noted: most lookups need not go through the table. */
static uint64 indexes_noted = 0;

static void forget_tids_of(Relation index, const SfxState *state);

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

	Assert(sfx_order_cmp_pos(NULL, from, to) <= 0);
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
		forget_tids_of(index, state);
	}
}

/* ---- TIDs ---- */

static inline uint64
bit_of(uint32 number)
{
	return UINT64CONST(1) << number % 64;
}

/* Where that TID stands, or would stand. */
static inline uint64 *
place_of(const DeadTids *d, uint64 tid)
{
	uint32		at = (uint32) (tid * UINT64CONST(0x9E3779B97F4A7C15) >> 32);

	while (d->slots[at & (d->nslots - 1)] != 0 && d->slots[at & (d->nslots - 1)] != tid)
		at++;
	return &d->slots[at & (d->nslots - 1)];
}

static void
forget_tids(DeadTids *d)
{
	if (d->n > 0)
		memset(d->slots, 0, d->nslots * sizeof(uint64));
	d->n = 0;
	d->leaves = 0;
}

static void
forget_tids_of(Relation index, const SfxState *state)
{
	DeadTids   *d = sfx_memo_find(&tids_table, index, state->build_id, as_of(state));

	if (d != NULL)
		forget_tids(d);
}

/* Half of the slots are taken: more of them, or an end to all of it. */
static void
more_slots(DeadTids *d)
{
	DeadTids	old = *d;

	if (d->nslots == SLOTS_MOST)
	{
		forget_tids(d);
		return;
	}
	d->slots = MemoryContextAllocZero(TopMemoryContext, 2 * d->nslots * sizeof(uint64));
	d->nslots *= 2;
	for (int i = 0; i < old.nslots; i++)
		if (old.slots[i] != 0)
			*place_of(d, old.slots[i]) = old.slots[i];
	pfree(old.slots);
}

void
sfx_passed_note_tid(Relation index, const SfxState *state, BlockNumber leaf, uint64 tid)
{
	bool		fresh;
	DeadTids   *d = sfx_memo_get(&tids_table, index, state->build_id, as_of(state), &fresh);
	uint64	   *place;

	Assert(tid != 0);
	if (fresh)
		forget_tids(d);
	if (d->slots == NULL)
	{
		d->slots = MemoryContextAllocZero(TopMemoryContext, SLOTS_FIRST * sizeof(uint64));
		d->nslots = SLOTS_FIRST;
	}
	place = place_of(d, tid);
	if (*place == 0)
	{
		if (d->n >= d->nslots / 2)
		{
			more_slots(d);
			place = place_of(d, tid);
		}
		*place = tid;
		d->n++;
	}
	d->leaves |= bit_of(leaf);
	indexes_noted |= bit_of(RelationGetRelid(index));
}

bool
sfx_passed_tids(Relation index, const SfxState *state, BlockNumber leaf, const uint64 *tids, int n,
				uint64 *bits)
{
	const DeadTids *d;
	uint64		any = 0;

	if ((indexes_noted & bit_of(RelationGetRelid(index))) == 0)
		return false;
	d = sfx_memo_find(&tids_table, index, state->build_id, as_of(state));
	if (d == NULL || (d->leaves & bit_of(leaf)) == 0)
		return false;
	memset(bits, 0, (n + 63) / 64 * sizeof(uint64));
	for (int i = 0; i < n; i++)
	{
		uint64		dead = *place_of(d, tids[i]) != 0;

		bits[i / 64] |= dead << i % 64;
		any |= dead;
	}
	return any != 0;
}
