/*-------------------------------------------------------------------------
 * vacuum_delta.c - does VACUUM merge the delta?  V6 (src/README.md, "VACUUM")
 *
 * A merge costs the leaves that it writes, and the bounds of policy.c make it wait until it brings
 * enough entries for that.  VACUUM comes when it likes: a delta that is not due it merges only
 * where that is as good as free.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "log.h"
#include "merge_lock.h"
#include "meta.h"
#include "policy.h"
#include "touched.h"
#include "vacuum_delta.h"

#define FEW_LEAVES	64			/* half a megabyte of WAL for each VACUUM */
#define ASKED		64			/* leaves that are looked at, at most */

/* Leaves that the delta falls into, and some of them, as many from everywhere. */
typedef struct Touched
{
	bool		all;			/* else no more than too many of them */
	uint64		n;
	uint64		step;			/* each so many'th leaf is in the list */
	int			nlisted;
	BlockNumber listed[ASKED];
} Touched;

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
 * Of the leaves that are touched, how many are not written but for the merge?  All of them where
 * the delta goes into a run, or VACUUM writes none.
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

/* A log of which all entries are dead touches no leaf: it goes. */
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
