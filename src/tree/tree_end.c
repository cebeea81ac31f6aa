/*-------------------------------------------------------------------------
 * tree_end.c - this backend's memory of where main trees end
 *
 * Ascending keys are looked for beyond the greatest one before they are there: by unique checks,
 * and by queues that are asked for more.  The answer is always the same leaf, and always no.  A
 * backend that has got that answer some times notes the tree's last entry.
 *
 * Entries come into a tree only by groups of merges, and the record of such a group counts it in
 * the metapage (T6).  So while the metapage that a reader has read for R1 has the same count, all
 * entries of the main tree stand before the noted position.  The reader may leave the tree out, as
 * if it had read the last leaf at R1; what a merge brings into the tree after that is in the stages
 * that R2 and R3 still look at.  The count is that of one life of the index (memo.h): in another
 * life the same count may mean something else.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "find.h"
#include "leaf.h"
#include "memo.h"
#include "meta.h"

#define TREES			4		/* remembered */
#define NOES_BEFORE		32		/* empty answers from the last leaf before its end is noted */
#define MAX_KEY			64

typedef struct TreeEnd
{
	SfxMemo		memo;			/* as of the metapage's groups */
	uint32		noes;			/* empty answers since this place was given to this tree */
	uint32		len;			/* of the last entry's key; 0: none is noted */
	uint64		tid;
	uint8		key[MAX_KEY];
} TreeEnd;

static TreeEnd ends[TREES];
static SfxMemoTable table = SFX_MEMO_TABLE(ends);

/* The count of groups that a memory depends on (T6); memo.h compares the life. */
static inline uint64
as_of(const SfxMeta *meta)
{
	return SFX_MUTANT("old ends of trees") ? 0 : sfx_state_take(meta).groups;
}

bool
sfx_last_before(Relation index, const SfxMeta *meta, const SfxOrder *order, const SfxPos *pos)
{
	TreeEnd    *t = sfx_memo_find(&table, index, meta->build_id, as_of(meta));
	SfxPos		last;

	if (t == NULL || t->len == 0)
		return false;
	last = (SfxPos) {t->key, t->len, t->tid};
	return sfx_order_cmp_pos(order, &last, pos) < 0;
}

bool
sfx_last_wanted(Relation index, const SfxMeta *meta)
{
	bool		fresh;
	TreeEnd    *t = sfx_memo_get(&table, index, meta->build_id, as_of(meta), &fresh);

	if (fresh)
		t->noes = t->len = 0;
	return t->len == 0 && ++t->noes >= NOES_BEFORE;
}

void
sfx_last_note(Relation index, const SfxMeta *meta, const SfxEntry *e)
{
	TreeEnd    *t = sfx_memo_find(&table, index, meta->build_id, as_of(meta));

	/* an invalidation may have come since sfx_last_wanted */
	if (t == NULL)
		return;
	t->noes = 0;
	if (e->keylen > MAX_KEY)
		return;
	memcpy(t->key, e->key, e->keylen);
	t->len = e->keylen;
	t->tid = e->tid;
}
