/*-------------------------------------------------------------------------
 * agg_leap.c - large groups that are decided by their ends: the rest is not read
 *
 * Rows may only be told apart (DISTINCT), or the aggregates may be min and max of the groups' own
 * columns or of the next one, or the first or last row is all that is wanted (DISTINCT ON).  Then a
 * group's first rows decide min (of a descending column max), and its last rows the other.  When so
 * many entries of a group were read that a descent costs less than reading on, the scan goes to the
 * group's end: straight to the next group, or, if the last rows are needed, back from there to a
 * visible row (Y18).
 *
 * Where rows are just counted, and the map vouches for the whole table, the rest of a group is
 * counted by the heads of blocks, and by the pages above the leaves (Y19).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_group_impl.h"
#include "pos.h"
#include "scan.h"

#define LEAP_MOST		(64 * 1024)

StaticAssertDecl(SFX_BLOCK_ENTRIES - SFX_ROWS_FIRST < SFX_LEAP_FIRST,
				 "stretches are whole before the first leap");
/* entries from a group's end that are looked at, one by one */
#define LEAP_BACK		16
/*
 * Entries of a group that are read before the rest is counted by pages: as many as it takes time to
 * decode a page above the leaves.  And those read before blocks of the leaf in hand are counted: a
 * block.
 */
#if defined(USE_ASSERT_CHECKING) || defined(SFX_TEST)
#define COUNT_FIRST		64		/* small, so that tests get there */
#define COUNT_FIRST_BLOCKS	16
#else
#define COUNT_FIRST		16384
#define COUNT_FIRST_BLOCKS	256
#endif

bool
sfx_groups_may_leap(const SfxGrouping *grouping, const SfxAggOutput *outputs, int n)
{
	if (grouping->columns == 0 || grouping->distinct || grouping->steps != NIL)
		return false;
	for (int i = 0; i < n; i++)
		if (outputs[i].kind != SFX_AGG_GROUP && outputs[i].kind != SFX_AGG_FUNCTION &&
			outputs[i].kind != SFX_AGG_ROW &&
			(outputs[i].kind != SFX_AGG_LEAST || sfx_agg_is_filtered(&outputs[i]) || !outputs[i].ordered || outputs[i].direction == 0))
			return false;
	return true;
}

/* Do the outputs depend on the number of rows of a group only? */
static bool
are_counts(const SfxGroups *g)
{
	if (g->columns == 0 || g->by.distinct || g->condition)
		return false;
	for (int i = 0; i < g->noutputs; i++)
		if (g->outputs[i].kind != SFX_AGG_GROUP && g->outputs[i].kind != SFX_AGG_FUNCTION &&
			(g->outputs[i].kind != SFX_AGG_COUNT_ROWS || sfx_agg_is_filtered(&g->outputs[i])))
			return false;
	return true;
}

void
sfx_groups_plan_leaps(SfxGroups *g)
{
	g->leaps = g->condition == NULL && sfx_groups_may_leap(&g->by, g->outputs, g->noutputs);
	g->counts = !g->leaps && are_counts(g);
	g->patience = g->counts ? COUNT_FIRST : SFX_LEAP_FIRST;
	g->block_patience = COUNT_FIRST_BLOCKS;
	g->leapt_from = InvalidBlockNumber;
	for (int i = 0; g->leaps && i < g->noutputs; i++)
	{
		const SfxAggOutput *out = &g->outputs[i];

		if (out->kind == SFX_AGG_LEAST && out->column == g->columns)
			g->leaps_last |= (out->direction > 0) == g->kd.col[out->column].desc;
		g->leaps_last |= out->kind == SFX_AGG_ROW && out->direction < 0;
	}
}

/* Are enough rows of the open group known to be visible for what its first rows decide? */
static bool
decided(SfxGroups *g)
{
	const SfxAggState *states = sfx_queue_states(g, g->ngroups - 1);

	if (SFX_MUTANT("groups left unseen"))
		return true;
	if (g->group[g->ngroups - 1].visible == 0)
		return false;
	for (int i = 0; i < g->noutputs; i++)
		if (g->outputs[i].kind == SFX_AGG_LEAST && !states[i].have)
			return false;
	return true;
}

/*
 * The end of a group: a position above all of its keys and not above the next group's.  False:
 * nothing is above it, or it is not known.
 */
static bool
end_of_group(const SfxGroups *g, const Gathered *group, uint8 *bytes, SfxPos *pos)
{
	*pos = (SfxPos) {bytes, group->len, 0};
	memcpy(bytes, g->keys.data + group->key, group->len);
	if (g->bucketer)
	{
		pos->len += sfx_bucket_end(g->bucketer, &group->bucket, bytes + group->len);
		return pos->len > group->len;
	}
	if (g->kd.comparator)
	{
		bytes[pos->len++] = SFX_MARK_AFTER;
		return true;
	}
	pos->len = sfx_successor(bytes, pos->len);
	return pos->len > 0;
}

/* May other keys with equal columns have different bytes? */
static bool
is_squeezed(const SfxGroups *g, const uint8 *key, uint32 keylen)
{
	return g->kd.comparator && sfx_key_is_squeezed(&g->kd, g->index, key, keylen);
}

/* Take an entry of the open group, alone in its block.  Is its row visible? */
static bool
take_one(SfxGroups *g, const SfxBlock *block)
{
	int			open = g->ngroups - 1;
	uint64		visible = g->group[open].visible;
	uint64		tid = block->tid[0];
	uint16		hidden;

	Assert(g->nrows == 0 && !block->tidless);
	if (sfx_visibility_hidden(g->visibility, &tid, 1, &hidden) > 0)
	{
		sfx_queue_put_off(g, block, 0);
		sfx_queue_settle(g);
		return g->group[open].visible > visible || SFX_MUTANT("last rows unseen");
	}
	sfx_exprs_forget(g->exprs);
	sfx_aggregates_add(g->aggregates, sfx_queue_states(g, open), block, 0, 1);
	g->group[open].visible++;
	g->visible++;
	return true;
}

/*
 * Take the last rows of the open group, back from its end, until one is visible and not NULL.
 * False: none of LEAP_BACK rows is.
 */
static bool
take_last(SfxGroups *g)
{
	const SfxBlock *block;
	int			open = g->ngroups - 1;

	/* what was put off before says nothing about the last row */
	if (g->nrows > 0)
		sfx_queue_settle(g);
	for (int n = 0; n < LEAP_BACK && sfx_scan_back(g->scan, &block); n++)
	{
		const uint8 *key = block->keys + block->keyoff[0];
		uint32		keylen = block->keyoff[1] - block->keyoff[0];

		if (!sfx_queue_belongs(g, block, 0) || is_squeezed(g, key, keylen))
			return false;
		/* a row of DISTINCT ON may have NULLs, min and max have none */
		if (take_one(g, block) &&
			(sfx_aggregates_take_rows(g->aggregates) ||
			 (keylen > g->group[open].len && key[g->group[open].len] == SFX_MARK_VALUE)))
			return true;
	}
	return false;
}

/*
 * See agg_group_impl.h.  If the entries after the last one cannot change the outputs, or the
 * group's end decides them, the scan goes there.
 */
void
sfx_groups_leap(SfxGroups *g, const uint8 *key, uint32 keylen)
{
	const Gathered *group = &g->group[g->ngroups - 1];
	BlockNumber leaf = sfx_scan_leaf(g->scan);
	uint8		end_bytes[SFX_MAX_ENTRY + 1];
	uint8		here_bytes[SFX_MAX_ENTRY];
	SfxPos		end;
	SfxPos		here = {here_bytes, keylen, 0};

	Assert(g->ones == NULL && g->left == 0);
	g->gathered = 0;
	if (group->squeezed || is_squeezed(g, key, keylen) || !decided(g) ||
		!end_of_group(g, group, end_bytes, &end) ||
		!sfx_scan_can_skip(g->scan))
		return;
	/* the last leap stayed within one leaf, and did not pay */
	g->patience = leaf == g->leapt_from ? Min(2 * g->patience, LEAP_MOST) : SFX_LEAP_FIRST;
	g->leapt_from = leaf;
	memcpy(here_bytes, key, keylen);
	sfx_scan_skip(g->scan, &end);
	if (!g->leaps_last)
		return;
	if (take_last(g))
		sfx_scan_skip(g->scan, &end);
	else
	{
		/* some entries come again, to no effect: read all of the group */
		sfx_scan_skip(g->scan, &here);
		g->gathered = -PG_INT32_MAX;
	}
}

/* ---- groups that are counted (Y19) ---- */

static void
count_in(SfxGroups *g, uint64 n)
{
	int			open = g->ngroups - 1;
	SfxAggState *states = sfx_queue_states(g, open);

	g->group[open].visible += n;
	g->visible += n;
	for (int i = 0; i < g->noutputs; i++)
		if (g->outputs[i].kind == SFX_AGG_COUNT_ROWS)
			states[i].n += n;
}

/* Count the blocks of the leaf in hand that belong to the open group as a whole. */
static void
count_blocks(SfxGroups *g, const SfxPos *end)
{
	int			n = sfx_scan_count_blocks(g->scan, end);

	g->block_patience = n > 0 ? COUNT_FIRST_BLOCKS : Min(2 * g->block_patience, LEAP_MOST);
	g->gathered += n;
	count_in(g, n);
}

/* Count what comes after the leaf in hand, by the pages above. */
static void
count_pages(SfxGroups *g, const SfxPos *end)
{
	uint64		n = 0;

	g->gathered = 0;
	if (!sfx_scan_count_on(g->scan, end, &n))
	{
		g->patience = Min(2 * g->patience, LEAP_MOST);
		return;
	}
	/* it did not pay for so few */
	g->patience = n < COUNT_FIRST ? Min(2 * g->patience, LEAP_MOST) : COUNT_FIRST;
	count_in(g, n);
}

void
sfx_groups_count_on(SfxGroups *g, const uint8 *key, uint32 keylen)
{
	const Gathered *group = &g->group[g->ngroups - 1];
	bool		pages = g->gathered >= g->patience;
	uint8		end_bytes[SFX_MAX_ENTRY + 1];
	SfxPos		end;

	/* groups of one entry are not in the queue yet */
	if (g->ones || group->squeezed || is_squeezed(g, key, keylen))
		return;
	if (!end_of_group(g, group, end_bytes, &end))
		return;
	count_blocks(g, &end);
	if (pages && sfx_scan_at_leaf_end(g->scan))
		count_pages(g, &end);
}
