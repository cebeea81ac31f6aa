/*-------------------------------------------------------------------------
 * tree_passed.c - this backend's memory of entries of main trees that are dead to everybody
 *
 * Who takes the first row of a queue passes all that were taken since the leaf was written last,
 * and asks the table about each.  What he has found dead from where he began without a gap is
 * noted, and whoever begins there begins behind it.
 *
 * Dead to everybody stays dead, and entries come into a tree only by groups of merges, which the
 * metapage counts.  So as long as the metapage of R1 has the count of the step that has looked,
 * what the tree has between the two positions is what was looked at, or less (X8).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "find.h"
#include "memo.h"
#include "meta.h"

#define TREES		4			/* remembered */
#define PASSED_MOST	1024		/* entries: then they are passed once more, so that X3 may write
								 * the leaf without them, and others need not pass more either */

typedef struct Place
{
	uint32		len;
	uint64		tid;
	uint8		key[SFX_PASSED_KEY];
} Place;

/* All entries of the tree in [from, to) are dead. */
typedef struct Passed
{
	SfxMemo		memo;			/* as of the metapage's groups */
	Place		from;
	Place		to;
	int			n;				/* entries that were found dead there */
} Passed;

static Passed passed[TREES];
static SfxMemoTable table = SFX_MEMO_TABLE(passed);

static inline uint64
as_of(uint64 groups)
{
	return SFX_MUTANT("passed for good") ? 0 : groups;
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
	const Passed *p = sfx_memo_find(&table, index, meta->build_id, as_of(meta->work.groups));

	if (p == NULL || cmp_place(&p->from, pos) > 0 || cmp_place(&p->to, pos) <= 0)
		return false;
	memcpy(key, p->to.key, p->to.len);
	*to = (SfxPos) {key, p->to.len, p->to.tid};
	return true;
}

void
sfx_passed_note(Relation index, uint64 build_id, uint64 groups, const SfxPos *from,
				const SfxPos *to, int n)
{
	bool		fresh;
	Passed	   *p;

	if (from->len > SFX_PASSED_KEY || to->len > SFX_PASSED_KEY)
		return;
	p = sfx_memo_get(&table, index, build_id, as_of(groups), &fresh);
	/* what is known goes on, or something else is */
	if (fresh || cmp_place(&p->from, from) > 0 || cmp_place(&p->to, from) < 0)
	{
		set_place(&p->from, from);
		set_place(&p->to, to);
		/* of one step: the leaf may just have been written without them, or it could not be */
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
