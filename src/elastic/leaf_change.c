/*-------------------------------------------------------------------------
 * leaf_change.c - making leaves of the main tree cut or whole, group by group (W4, W8)
 *
 * Cutting keys needs the leaf alone.  Making keys whole visits a row for each key, for all keys of
 * a leaf in one hold of the merge lock.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "counters.h"
#include "heat.h"
#include "leaf_change.h"
#include "merge_lock.h"
#include "recover.h"
#include "rewrite.h"

#include "access/table.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

void
sfx_leaf_change_begin(SfxLeafChange *c, Relation index, const SfxOrder *order,
					  const SfxLeafManner *how)
{
	memset(c, 0, sizeof(*c));
	c->index = index;
	c->order = order;
	c->how = how;
	sfx_pos_set(&c->pos, &SFX_POS_FIRST);
	sfx_kept_init(&c->kept);
	c->cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx leaf keys",
								   ALLOCSET_DEFAULT_SIZES);
}

void
sfx_leaf_change_end(SfxLeafChange *c)
{
	sfx_kept_end(&c->kept);
	MemoryContextDelete(c->cxt);
	if (c->changed == 0)
		return;
	sfx_activity_add(c->index, c->cut ? SFX_COUNT_CUT : SFX_COUNT_WHOLE, c->changed);
	sfx_activity_set(c->index, SFX_COUNT_CHANGED, (uint64) GetCurrentTimestamp());
}

void
sfx_leaf_change_start(SfxLeafChange *c, bool cut)
{
	c->cut = cut;
	c->progress->phase = cut ? SFX_PROGRESS_CUT : SFX_PROGRESS_WHOLE;
	c->progress->done = 0;
	sfx_pos_set(&c->pos, &SFX_POS_FIRST);
}

int
sfx_leaf_change_heat(const SfxLeafChange *c, const SfxGroup *g, int from, int to)
{
	int			sum = 0;

	for (int i = from; i < to; i++)
		sum += sfx_heat_of(c->index, sfx_group_leaf(g, i));
	return sum;
}

/*
 * The leaves in place of [g->from, g->to): those that are whole now are as hot as these were.  Cut
 * ones are cold, until scans take keys from them.
 */
static void
hand_heat_on(const SfxLeafChange *c, const SfxGroup *g, int heat)
{
	const SfxNode *now = &c->kept.node;
	int			n = now->nchildren - g->node.nchildren + g->to - g->from;

	if (!g->has_node || !c->kept.valid)
		return;
	for (int i = 0; i < n; i++)
		sfx_heat_set(c->index, now->children[g->from + i].blkno, c->cut, c->cut ? 0 : heat);
}

/*
 * Rewrite leaves [g->from, g->to), at least one of which is of the other kind; result as of
 * sfx_leaf_change_group.
 */
static int
rewrite(SfxLeafChange *c, SfxGroup *g)
{
	SfxMergeStats stats = {0};
	int			heat = sfx_leaf_change_heat(c, g, g->from, g->to) / (g->to - g->from);

	g->whole = !c->cut;
	g->cut = c->cut;
	if (g->whole && c->optional && (g->heap = sfx_recovery_open_heap(c->index)) == NULL)
		return -1;
	sfx_group_rewrite(g, NULL, NULL, NULL, &stats);
	if (g->heap)
		table_close(g->heap, AccessShareLock);
	hand_heat_on(c, g, heat);
	c->written += stats.written;
	c->changed += stats.changed;
	c->progress->groups += stats.groups;
	c->progress->leaves += stats.written;
	c->parted = stats.parted;
	return (int) stats.changed;
}

int
sfx_leaf_change_group(SfxLeafChange *c, SfxGroup *g, int end)
{
	int			first = -1;
	int			last = -1;
	int			changed = 0;
	int			begin = g->from;

	Assert(sfx_merge_lock_held(c->index));
	c->parted = false;
	for (int i = g->from; i < end; i++)
		if (sfx_group_is_cut(g, i) != c->cut)
		{
			first = first < 0 ? i : first;
			last = i;
		}
	g->to = end;
	if (first >= 0)
	{
		g->from = first;
		g->to = last + 1;
		changed = rewrite(c, g);
		/* a group that does not fit in one record is rewritten in part */
		if (g->to > last)
			g->to = end;
	}
	for (int i = begin; g->has_node && i < (c->parted ? g->from : end); i++)
		c->progress->done += g->node.children[i].count;
	return changed;
}

bool
sfx_leaf_change_next(SfxLeafChange *c, const SfxGroup *g)
{
	SfxPos		next;

	if (c->parted)
		next = sfx_group_low(g);
	else if (!sfx_group_high(g, &next))
		return false;
	c->parted = false;
	sfx_pos_set(&c->pos, &next);
	return true;
}
