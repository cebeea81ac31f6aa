/*-------------------------------------------------------------------------
 * tree_end.c - this backend's memory of where main trees end
 *
 * Keys that ascend are looked for beyond the greatest one, before they come: by unique checks, by queues that are asked for more.  The
 * answer is always the same leaf, and always no.  Who has got it some times from there notes the tree's last entry.
 *
 * Entries come into a tree only by groups of merges, and the record of such a group counts it in the metapage. So as long as the metapage that a
 * reader has read for R1 has the same count, all entries of the main tree stand before the one that was noted: the reader may leave the
 * tree out, as if it had read the last leaf at R1.  What a merge brings into it since is in the stages that R2 and R3 still look at.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "find.h"
#include "leaf.h"
#include "meta.h"

#define TREES			4		/* remembered */
#define NOES_BEFORE		32		/* empty answers from the last leaf before its last entry is worth a look */
#define MAX_KEY			64

typedef struct TreeEnd
{
	uint64		build_id;
	uint64		groups;			/* the metapage's, when it was noted */
	uint32		noes;			/* since then */
	uint32		len;			/* of the last entry's key; 0: not noted */
	uint64		tid;
	uint64		last_used;
	uint8		key[MAX_KEY];
} TreeEnd;

static TreeEnd ends[TREES];
static TreeEnd *latest = &ends[0];
static uint64 clock_hand = 0;

static inline bool
is_of(const TreeEnd *t, const SfxMeta *meta)
{
	return t->build_id == meta->build_id && (t->groups == meta->work.groups || SFX_MUTANT("old ends of trees"));
}

bool
sfx_last_before(const SfxMeta *meta, const SfxOrder *order, const SfxPos *pos)
{
	SfxPos		last;

	if (!is_of(latest, meta))
	{
		int			i = 0;

		while (i < TREES && !is_of(&ends[i], meta))
			i++;
		if (i == TREES)
			return false;
		latest = &ends[i];
	}
	if (latest->len == 0)
		return false;
	last = (SfxPos) {latest->key, latest->len, latest->tid};
	return sfx_order_cmp_pos(order, &last, pos) < 0;
}

bool
sfx_last_wanted(const SfxMeta *meta)
{
	TreeEnd    *t = &ends[0];

	for (int i = 0; i < TREES; i++)
	{
		if (is_of(&ends[i], meta))
		{
			t = &ends[i];
			break;
		}
		/* an outdated one of the same tree goes first */
		if (ends[i].build_id == meta->build_id || (t->build_id != meta->build_id && ends[i].last_used < t->last_used))
			t = &ends[i];
	}
	if (!is_of(t, meta))
	{
		t->build_id = meta->build_id;
		t->groups = meta->work.groups;
		t->noes = t->len = 0;
	}
	t->last_used = ++clock_hand;
	latest = t;
	return t->len == 0 && ++t->noes >= NOES_BEFORE;
}

void
sfx_last_note(const SfxMeta *meta, const SfxEntry *e)
{
	Assert(latest->build_id == meta->build_id);
	latest->noes = 0;
	if (e->keylen > MAX_KEY)
		return;
	memcpy(latest->key, e->key, e->keylen);
	latest->len = e->keylen;
	latest->tid = e->tid;
}
