/*-------------------------------------------------------------------------
 * group.c - neighboring leaves below one parent: locating them, and their fences
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "find.h"
#include "group.h"
#include "inner.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "stats.h"
#include "swap.h"

/* The block of the page of that level that holds pos; *child: the block of its child that does. */
static BlockNumber
find_downlink(const SfxTree *t, const SfxPos *pos, int level,
			  BlockNumber *child)
{
	Buffer		buf = sfx_tree_find(t, pos, false, level);
	BlockNumber blkno = BufferGetBlockNumber(buf);
	SfxInner	inner;
	uint64_t	count;
	int			i;

	if (sfx_inner_open(&inner, SfxPageBody(BufferGetPage(buf)), SfxPageBodyLen(BufferGetPage(buf)),
					   t->order) < 0 ||
		(i = sfx_inner_find(&inner, pos)) < 0 ||
		sfx_inner_child(&inner, i, child, &count) < 0)
		sfx_corrupt(t->index, blkno, "inner page search");
	UnlockReleaseBuffer(buf);
	return blkno;
}

/* Rule T3's healing: does the level above know the parent, the next one that page, and so on? */
static void
check_posted(const SfxTree *t, const SfxNode *node)
{
	const SfxPos *pos = &node->children[0].low;
	BlockNumber page = node->blkno;

	for (int level = node->level; level < sfx_meta_run(t->index, t->meta, t->run)->level &&
		 !SFX_MUTANT("no healing"); level++)
	{
		BlockNumber child;
		BlockNumber above = find_downlink(t, pos, level + 1, &child);

		if (child != page)
		{
			sfx_tree_post(t, level, pos);
			/* that page may have been split */
			above = find_downlink(t, pos, level + 1, &child);
		}
		page = above;
	}
}

/*
 * Number of the child that holds pos.  In comparator order a child whose low fence has the bytes of
 * pos is preferred, since comparisons may have changed (K4).
 */
static int
find_child(const SfxNode *node, const SfxOrder *order, const SfxPos *pos)
{
	int			lo = 0,
				hi = node->nchildren;

	for (int i = 0; order && i < node->nchildren; i++)
		if (sfx_same_pos(&node->children[i].low, pos))
			return i;
	while (hi - lo > 1)
	{
		int			mid = (lo + hi) / 2;

		if (sfx_order_cmp_pos(order, &node->children[mid].low, pos) <= 0)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

void
sfx_group_locate(SfxGroup *group, const SfxTree *t, const SfxPos *pos, SfxKeptNode *kept)
{
	Assert(sfx_merge_lock_held(t->index));
	group->tree = *t;
	group->horizon.xid = InvalidTransactionId;
	group->horizon.catalog = false;
	group->heap = NULL;
	group->whole = group->cut = false;
	group->joined = false;
	group->asked_to = 0;
	group->asked = group->reads_begun = 0;
	group->has_node = sfx_meta_run(t->index, t->meta, t->run)->level > 0;
	group->from = 0;
	if (group->has_node)
	{
		/* a parent that is kept was checked when it was loaded */
		if (kept == NULL || !sfx_kept_load(kept, t, pos, &group->node))
		{
			if (kept == NULL)
				sfx_tree_load(t, pos, 1, &group->node);
			check_posted(t, &group->node);
		}
		group->from = find_child(&group->node, t->order, pos);
	}
	group->to = group->from + 1;
}

/*
 * If leaves grow by a few percent, a group of n leaves fills n pages and a part of one more, for
 * any n that a record has room for.  The next group takes in that last page if it is sparse.  The
 * page is written twice then, which costs less than the space that it would leave empty. (The page
 * is known by its number of entries; mistaking another leaf for it does no harm.)
 */
void
sfx_group_join_left(SfxGroup *group, const SfxMergeStats *stats)
{
	if (!group->has_node || group->from == 0 || stats->last_entries == 0 ||
		group->node.children[group->from - 1].count != stats->last_entries)
		return;
	group->from--;
	group->joined = true;
}

BlockNumber
sfx_group_leaf(const SfxGroup *group, int i)
{
	return group->has_node ? group->node.children[i].blkno :
		sfx_meta_run(group->tree.index, group->tree.meta, group->tree.run)->root;
}

bool
sfx_group_is_cut(const SfxGroup *group, int i)
{
	char	   *copy = palloc(BLCKSZ);
	SfxLeaf		leaf;

	sfx_leaf_copy(&group->tree, sfx_group_leaf(group, i), NULL, copy, &leaf);
	pfree(copy);
	return leaf.cut;
}

SfxPos
sfx_group_low(const SfxGroup *group)
{
	return group->has_node ? group->node.children[group->from].low : SFX_POS_FIRST;
}

bool
sfx_group_child_high(const SfxGroup *group, int child, SfxPos *high)
{
	if (!group->has_node)
		return false;
	if (child + 1 < group->node.nchildren)
		*high = group->node.children[child + 1].low;
	else if (group->node.high_inf)
		return false;
	else
		*high = group->node.high;
	return true;
}

bool
sfx_group_high(const SfxGroup *group, SfxPos *high)
{
	return sfx_group_child_high(group, group->to - 1, high);
}
