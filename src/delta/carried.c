/*-------------------------------------------------------------------------
 * carried.c - entries of a generation that newer ones have, too
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "carried.h"
#include "delta.h"
#include "image.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "pos.h"

#include "utils/rel.h"

#define WALK_ENTRIES	16		/* entries that a search steps over before it descends by key */

/*
 * See carried.h.  A listed generation that has no image is damage: under the merge lock no
 * generation leaves the list (T4).
 */
SfxImage *
sfx_carried_image(Relation index, const SfxOrder *order, const SfxMeta *meta, int g)
{
	SfxImage   *img = sfx_image_acquire(index, order, meta, g);

	if (img == NULL)
		/* under the merge lock it cannot have left the list */
		sfx_corrupt(index, meta->gens[g].first, "a page of the log that begins here is not one of its generation");
	return img;
}

/*
 * Move the cursor, which stands at or before pos, to the first entry >= pos.  True: that is pos.
 * *have: the cursor stands on an entry.  After WALK_ENTRIES steps a search by key takes over; if
 * that does not lead to pos either, the comparisons are no order (K4), and the entry counts as not
 * found.
 */
static bool
find_next(const SfxDelta *d, const SfxNodeAlloc *a, SfxCursor *c, bool *have,
		  const SfxOrder *order, const SfxPos *pos)
{
	for (int n = 0; *have && n <= WALK_ENTRIES + 1; n++)
	{
		SfxEntry	e;
		SfxPos		at;
		int			cmp;

		sfx_delta_get(d, a, c, &e);
		at = sfx_entry_pos(&e);
		cmp = sfx_order_cmp_pos(order, &at, pos);
		if (cmp >= 0)
			return cmp == 0;
		*have = n < WALK_ENTRIES ? sfx_delta_next(d, a, c) : sfx_delta_seek(d, a, pos, c);
	}
	return false;
}

/* Take out those that one newer generation has; entry[0..n) ascend.  How many are left. */
static int
leave_out(Relation index, const SfxOrder *order, const SfxMeta *meta, int newer, SfxEntry *entry, int n)
{
	SfxImage   *img = sfx_carried_image(index, order, meta, newer);
	SfxNodeAlloc a;
	const SfxDelta *d = sfx_image_delta(img, order, &a);
	SfxPos		first = sfx_entry_pos(&entry[0]);
	SfxCursor	c;
	bool		have = sfx_delta_seek(d, &a, &first, &c);
	int			left = 0;

	for (int i = 0; i < n; i++)
	{
		SfxPos		pos = sfx_entry_pos(&entry[i]);

		if (!find_next(d, &a, &c, &have, order, &pos))
			entry[left++] = entry[i];
	}
	sfx_image_release(img);
	return left;
}

int
sfx_carry_leave_out(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, SfxEntry *entry, int n)
{
	Assert(sfx_merge_lock_held(index));
	for (int newer = g - 1; newer >= 0 && n > 0; newer--)
		if (sfx_carried(meta, newer) && meta->gens[newer].first != InvalidBlockNumber && !SFX_MUTANT("merge what was carried over"))
			n = leave_out(index, order, meta, newer, entry, n);
	return n;
}
