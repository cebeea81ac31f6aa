/*-------------------------------------------------------------------------
 * vacuum_delta.c - whether VACUUM merges the delta (V6)
 *
 * The cost of a merge is that of the leaves that it writes, and the bounds of policy.c delay it
 * until it brings enough entries for that.  VACUUM comes at any time, so it merges a delta that is
 * not due only if that is nearly free.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "log.h"
#include "merge_lock.h"
#include "meta.h"
#include "policy.h"
#include "source.h"
#include "vacuum_delta.h"

#define FEW_LEAVES	64			/* half a megabyte of WAL for each VACUUM */
#define ASKED		64			/* leaves examined, at most */

/* The leaves into which the delta falls, and a list of some of them, evenly spread. */
typedef struct Touched
{
	bool		all;			/* count all of them; else stop when they are too many */
	uint64		n;
	uint64		step;			/* one leaf in so many is listed */
	int			nlisted;
	BlockNumber listed[ASKED];
} Touched;

/*
 * An SfxLeafVisit: counts the leaf, and lists it.  If the list is full, every other one is removed.
 */
static bool
note_leaf(const SfxChild *leaf, uint64 entries, void *arg)
{
	Touched    *t = arg;

	if (t->n++ % t->step == 0)
	{
		if (t->nlisted == ASKED)
		{
			for (int i = 0; i < ASKED / 2; i++)
				t->listed[i] = t->listed[2 * i];
			t->nlisted = ASKED / 2;
			t->step *= 2;
		}
		t->listed[t->nlisted++] = leaf->blkno;
	}
	return t->all || t->n <= FEW_LEAVES;
}

/*
 * How many of these leaves does only the merge write?  All, if VACUUM writes none, or if the delta
 * goes into a run.
 */
static uint64
written_in_vain(const Touched *t, const SfxMeta *meta, SfxLeafAsk ask, void *arg)
{
	uint64		others = 0;

	if (!t->all || t->n <= FEW_LEAVES)
		return t->n;
	for (int i = 0; i < t->nlisted; i++)
		if (!ask(meta, t->listed[i], arg))
			others++;
	return t->n * others / t->nlisted;
}

/*
 * Does a merge of the delta write few leaves beside those that VACUUM writes?  A log whose entries
 * are all dead falls into no leaf, and is merged.
 */
static bool
writes_few(Relation index, const SfxOrder *order, SfxLeafAsk ask, void *arg)
{
	Touched    *t = palloc0(sizeof(Touched));
	SfxMeta		meta;
	uint64		entries;
	bool		few = false;

	if (sfx_merge_trylock(index))
	{
		entries = sfx_log_count(index, &meta);
		t->all = ask != NULL && !sfx_merge_makes_runs(index, &meta, entries);
		t->step = 1;
		if (meta.gens[0].first != InvalidBlockNumber)
		{
			(void) sfx_leaves_touched(index, order, &meta, 0, note_leaf, t);
			few = written_in_vain(t, &meta, ask, arg) <= FEW_LEAVES;
		}
		sfx_merge_unlock(index);
	}
	pfree(t);
	return few;
}

bool
sfx_vacuum_merges(Relation index, const SfxOrder *order, SfxLeafAsk ask, void *arg)
{
	return sfx_merge_due(index) || writes_few(index, order, ask, arg);
}
