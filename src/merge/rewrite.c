/*-------------------------------------------------------------------------
 * rewrite.c - the one routine that rewrites leaves: the inner loop of merges and VACUUM
 *
 * Rules M1 to M5.  A group starts as one leaf.  It takes in its right neighbors while the source's
 * next entries fall into them.  If a leaf overflows, it takes in neighbors up to SFX_GROUP_LEAVES,
 * so that k full leaves become k + 1 and not 2k.  A leaf that grows only at its end (ascending
 * keys) is left full and gets a new right neighbor.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "ask_ahead.h"
#include "dead_rows.h"
#include "dict.h"
#include "filter.h"
#include "filter_make.h"
#include "find.h"
#include "group.h"
#include "group_blocks.h"
#include "horizon.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "pack.h"
#include "page.h"
#include "pos.h"
#include "rewrite.h"
#include "settings.h"
#include "source.h"
#include "stats.h"
#include "swap.h"
#include "wal.h"

#define MERGE_PAGES			24	/* pages after which a group takes no entry from the source, at
								 * most */
#define LAST_PAGE_SPARSE	(SFX_BODY_CAPACITY / 10 * 6)	/* with fewer bytes a group's last page
															 * joins the next group */
#define LEAF_PARTS			8	/* into which a leaf is divided whose whole keys do not fit */

static int
old_filters(const SfxGroup *g)
{
	SfxFilterPlan plan;

	sfx_filters_touched(g->has_node ? &g->node : NULL, g->from, g->to, &plan);
	return plan.nold;
}

/* Swap the pages, and make as many filters over them as the record has room for. */
static void
swap_group(SfxGroup *g, const SfxPack *p, bool works)
{
	SfxFilterPlan *plan = palloc(sizeof(SfxFilterPlan));
	SfxNode    *node = g->has_node ? &g->node : NULL;
	int			room = p->most_blocks - 1 - sfx_group_blocks(g, p->leaf, p->n, 0);

	sfx_filters_plan(&g->tree, node, g->from, g->to, p->leaf, p->n, room, plan);
	sfx_tree_swap(&g->tree, node, g->from, g->to, p->leaf, p->n, works, &g->horizon, plan);
}

/*
 * Take in neighbors of the same kind (W8) on both sides, up to SFX_GROUP_LEAVES leaves.  False:
 * there are none to take.
 */
static bool
widen_group(SfxGroup *g, const SfxPack *p)
{
	int			before = g->to - g->from;
	int			from = g->from;
	int			to = g->to;

	if (!g->has_node || before >= SFX_GROUP_LEAVES)
		return false;
	g->to = Min(g->from + SFX_GROUP_LEAVES, g->node.nchildren);
	g->from = Max(0, g->to - SFX_GROUP_LEAVES);
	while (p->mixed && from > g->from && sfx_group_is_cut(g, from - 1) == p->cut)
		from--;
	while (p->mixed && to < g->to && sfx_group_is_cut(g, to) == p->cut)
		to++;
	if (p->mixed)
	{
		g->from = from;
		g->to = to;
	}
	return g->to - g->from > before;
}

/* If the left neighbor that had joined the group is of another kind (W8), it leaves the group. */
static void
leave_other_kind(SfxGroup *g)
{
	const SfxRun *main = SfxMetaMain(g->tree.meta);

	if (g->joined && g->tree.run == main->id && main->cut > 0 &&
		sfx_group_is_cut(g, g->from) != sfx_group_is_cut(g, g->from + 1))
	{
		g->from++;
		g->joined = false;
	}
}

/* Note in the group where work continues: at the source's next entry, or after the group. */
static void
set_resume(SfxGroup *g, SfxSource *src)
{
	const SfxEntry *e = src ? sfx_source_peek(src) : NULL;
	SfxPos		pos;

	if (src)
	{
		g->resume_inf = e == NULL;
		if (e)
		{
			pos = sfx_entry_pos(e);
			g->resume = sfx_pos_copy(&pos);
		}
		return;
	}
	g->resume_inf = !sfx_group_high(g, &pos);
	if (!g->resume_inf)
		g->resume = sfx_pos_copy(&pos);
}

/*
 * Note in the metapage (a copy, which the group's record stores) where the merge of the source
 * continues (M5).  After the last group the previous position stays; the record that drops the
 * source removes it.
 */
static void
note_progress(SfxGroup *g, const SfxSource *src, const SfxMergeStats *stats)
{
	SfxResume  *r = &g->tree.meta->resume[src->run != 0 ? SFX_RESUME_RUN : SFX_RESUME_GEN];
	uint32		source = src->run != 0 ? src->run : g->tree.meta->gens[src->g].gen;
	SfxHorizon	horizon;

	if (r->source != source)
	{
		memset(r, 0, sizeof(*r));
		r->source = source;
	}
	r->target = g->tree.run;

	/*
	 * a later merge of the source may use a new image, without the entries removed from this one
	 * (X1)
	 */
	horizon.xid = r->horizon;
	horizon.catalog = r->catalog;
	sfx_horizon_raise(&horizon, &stats->horizon);
	sfx_horizon_raise(&horizon, &src->horizon);
	r->horizon = horizon.xid;
	r->catalog = horizon.catalog;
	if (g->resume_inf || (g->resume.len > SFX_RESUME_KEY && g->tree.order != NULL))
		return;
	/* in byte order a prefix of a key sorts before it */
	r->len = Min(g->resume.len, SFX_RESUME_KEY);
	r->tid = g->resume.len > SFX_RESUME_KEY ? 0 : g->resume.tid;
	memset(r->key, 0, SFX_RESUME_KEY);
	memcpy(r->key, g->resume.key, r->len);
}

/*
 * Pages after which a group takes nothing more from the source: those that one record has room for
 * beside the parent, which may be split, and the levels above; fewer if there are filters, whose
 * pages count as well.
 */
static int
most_pages(const SfxGroup *g, int most_blocks)
{
	SfxFilterSpec spec;
	int			room = most_blocks - 1 - (sfx_group_blocks(g, NULL, 0, 0) - (g->to - g->from));

	sfx_opt_filter(g->tree.index, &spec);
	if (g->has_node && (spec.kind != SFX_FILTER_NONE || old_filters(g) > 0))
		room = room * 2 / 3;
	return Max(Min(room - MERGE_ROOM, MERGE_PAGES), 2 * MERGE_ROOM);
}

/* Set *step to what one rewriting of a group has done. */
static void
count_step(const SfxPack *p, SfxMergeStats *step)
{
	int			nold = p->group->to - p->group->from;

	step->taken = p->taken;
	step->removed = p->removed;
	step->entries = p->after - p->before;
	step->leaves = p->n - nold;
	step->cut = (p->cut ? p->n : 0) - p->old_cut;
	step->changed = p->cut ? nold - p->old_cut : p->old_cut;
	step->groups = 1;
	step->written = p->n;
}

/* The group has been written: add its step to what was done before. */
static void
add_step(SfxMergeStats *stats, const SfxMergeStats *step, const SfxGroup *g, const SfxPack *p)
{
	stats->taken += step->taken;
	stats->removed += step->removed;
	stats->entries += step->entries;
	stats->leaves += step->leaves;
	stats->cut += step->cut;
	stats->changed += step->changed;
	stats->groups += step->groups;
	stats->written += step->written;
	stats->asked += g->asked;
	stats->reads_begun += g->reads_begun;
	stats->rests += p->rests;
	stats->stored += p->stored;
	stats->promised += p->promised;
	stats->last_entries = p->leaf[p->n - 1].len < LAST_PAGE_SPARSE ? p->leaf[p->n - 1].nentries : 0;
}

/*
 * The group [*from, *to) did not fit in one record.  Each further attempt is smaller: without the
 * neighbors that had joined; then half of the leaves (the source starts in the first one); then
 * half of the new entries.  After that, a record of the maximal size, however few buffers there
 * are; then a leaf that was to be whole stays cut and becomes several (W9).
 */
static void
next_attempt(SfxGroup *g, SfxPack *p, int *from, int *to)
{
	if (g->joined)
		++* from;
	if (g->joined || g->from != *from || g->to != *to)
	{
		g->joined = false;
		g->from = *from;
		g->to = *to;
	}
	else if (g->to - g->from > 1)
		*to = g->to = *from + (*to - *from) / 2;
	else if (p->src && p->taken > 1)
		p->max_taken = p->taken / 2;
	else if (p->most_blocks < SFX_GROUP_BLOCKS)
		p->most_blocks = SFX_GROUP_BLOCKS;
	else if (g->whole && p->before > LEAF_PARTS)
	{
		g->whole = false;
		p->part = (uint32) p->before / LEAF_PARTS + 1;
	}
	/* fewer, larger parts, each of which still has fewer entries than the leaf */
	else if (p->part > 0 && 2 * p->part < p->before)
		p->part *= 2;
	else
		sfx_corrupt(g->tree.index, sfx_group_leaf(g, g->from), "this leaf cannot be rewritten");
}

/*
 * Has a leaf that was to be whole become several?  Each must have fewer entries, so that this ends.
 */
static bool
is_parted(const SfxPack *p)
{
	if (p->part == 0)
		return false;
	for (int i = 0; i < p->n; i++)
		if (p->leaf[i].nentries >= p->before)
			sfx_corrupt(p->group->tree.index, sfx_group_leaf(p->group, p->group->from),
						"this leaf cannot be parted");
	return true;
}

void
sfx_group_rewrite(SfxGroup *g, SfxSource *src, SfxDeadAmong among, void *arg,
				  SfxMergeStats *stats)
{
	SfxPack    *p = palloc0(sizeof(SfxPack));
	SfxMergeStats step = {0};
	bool		may_widen = src != NULL;
	bool		works = src != NULL || g->cut || g->whole;
	int			from,
				to;

	Assert(sfx_merge_lock_held(g->tree.index));
	leave_other_kind(g);
	from = g->from;
	to = g->to;
	p->group = g;
	p->src = src;
	p->among = among;
	p->arg = arg;
	p->max_taken = PG_UINT64_MAX;
	p->versions.heap = src ? g->heap : NULL;
	p->ndicts = sfx_dicts_for_writing(g->tree.index, g->tree.meta, p->dict);
	p->sample = stats->sample;
	if (src)
	{
		SfxPos		first = sfx_entry_pos(sfx_source_peek(src));

		p->start = sfx_pos_copy(&first);
		p->grow = true;
	}
	p->most_blocks = sfx_record_blocks();
	p->most_pages = most_pages(g, p->most_blocks);
	if (src)
		sfx_group_asked_before(g, stats);
	for (;;)
	{
		bool		fits = sfx_pack_group(p) && sfx_group_blocks(g, p->leaf, p->n, old_filters(g)) < p->most_blocks;

		/*
		 * packing ends the group before a leaf of another kind, also at the end of neighbors taken
		 * in
		 */
		to = p->grow ? g->to : Min(to, g->to);
		p->grow = false;
		if (fits && (p->n <= g->to - g->from || !p->inside || !may_widen || !widen_group(g, p)) &&
			!sfx_versions_ask(&p->versions, g->tree.index, &g->horizon))
			break;
		if (!fits)
		{
			may_widen = false;
			next_attempt(g, p, &from, &to);
		}
		sfx_pack_restart(p);
	}
	stats->parted = is_parted(p);
	set_resume(g, src);
	count_step(p, &step);
	if (!stats->late)
		sfx_count_tree_stats(sfx_meta_run(g->tree.index, g->tree.meta, g->tree.run), &step);
	for (int i = 0; i < p->ndicts; i++)
		if (p->dict[i].raw > 0)
			sfx_dict_note_written(g->tree.meta, p->dict[i].number);
	if (src)
		note_progress(g, src, stats);
	if (src && g->asked_to > 0)
		stats->asked_last = g->node.children[g->asked_to - 1].blkno;
	swap_group(g, p, works);
	add_step(stats, &step, g, p);
}
