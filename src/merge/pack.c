/*-------------------------------------------------------------------------
 * pack.c - packing a group: its leaves' entries and those of the source, in order, into new leaves
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "ask_ahead.h"
#include "dead_rows.h"
#include "dict.h"
#include "find.h"
#include "group.h"
#include "leaf.h"
#include "pack.h"
#include "page.h"
#include "pos.h"
#include "settings.h"
#include "source.h"

#include <math.h>

#include "miscadmin.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#define LAST_PAGE_SPREAD	0.03	/* pages by which the estimate of a group's last one errs */

static int
keep_page(void *ctx, const SfxLeafOut *out)
{
	SfxPack    *p = ctx;
	SfxNewLeaf *l;

	if (p->n == SFX_SWAP_MAX)
	{
		p->too_many = true;
		return SFX_NOSPACE;
	}
	l = &p->leaf[p->n++];
	l->body = palloc(out->len);
	memcpy(l->body, out->body, out->len);
	l->len = out->len;
	l->low = sfx_pos_copy(&out->low);
	l->nentries = out->nentries;
	p->after += out->nentries;
	return SFX_OK;
}

/* What the packer has said. */
static bool
pack_check(SfxPack *p, int rc)
{
	if (rc == SFX_CORRUPT)
		sfx_corrupt(p->group->tree.index, sfx_group_leaf(p->group, p->group->from),
					"entries of this leaf or of its right neighbours are out of order");
	if (rc < 0 && !p->too_many)
		elog(ERROR, "surfidx: leaf packer failed with %d on index \"%s\"",
			 rc, RelationGetRelationName(p->group->tree.index));
	return rc >= 0;
}

static bool
pack_add(SfxPack *p, const SfxEntry *e)
{
	p->added++;
	return pack_check(p, sfx_packer_add(p->packer, e));
}

static inline bool
may_take(const SfxPack *p)
{
	return p->n < p->most_pages && p->taken < p->max_taken;
}

static bool
is_filtered(SfxPack *p, uint64 tid)
{
	ItemPointerData ptr;

	if (p->filter == NULL && !p->versions.asked)
		return false;
	sfx_tid_pointer(p->group->tree.index, tid, &ptr);
	return (p->filter && p->filter(&ptr, p->arg)) || (p->versions.asked && sfx_tid_list_has(&ptr, &p->versions.tids));
}

/* One entry of the source, which is gone on from. */
static bool
pack_fresh(SfxPack *p, const SfxEntry *e)
{
	p->taken++;
	if (p->versions.heap)
		sfx_versions_note(&p->versions, e, true);
	if ((p->filter || p->versions.asked) && is_filtered(p, e->tid))
	{
		p->removed++;
		return true;
	}
	return pack_add(p, e);
}

/* Take entries of the source below limit, an entry of a leaf. False: too many pages. */
static bool
pack_source(SfxPack *p, const SfxEntry *leaf_entry, const SfxPos *limit)
{
	const SfxEntry *e;

	while (p->src && (e = sfx_source_peek(p->src)) != NULL && may_take(p))
	{
		SfxPos		pos = sfx_entry_pos(e);
		int			c = sfx_order_cmp_pos(p->src->order, &pos, limit);

		if (c > 0)
		{
			/* an older version of the row that is to come, perhaps */
			if (p->versions.heap && pos.len == limit->len && memcmp(pos.key, limit->key, pos.len) == 0)
				sfx_versions_note(&p->versions, leaf_entry, false);
			return true;
		}
		/* the same (key, TID) in the tree: it was merged before a crash */
		if (c == 0)
			p->taken++;
		else if (!pack_fresh(p, e))
			return false;
		sfx_source_advance(p->src);
		if (c == 0)
			break;
	}
	if (p->versions.heap && sfx_versions_same(&p->versions, leaf_entry))
		sfx_versions_note(&p->versions, leaf_entry, false);
	return true;
}

/* Entry i of the block stands before what the source gives next: the first one that does not.  Galloping, then bisection. */
static int
before_source(const SfxPack *p, const SfxBlock *block, int i)
{
	const SfxEntry *next = p->src && may_take(p) ? sfx_source_peek(p->src) : NULL;
	SfxPos		limit;
	int			step = 1,
				end = block->nent;

	if (next == NULL)
		return end;
	limit = sfx_entry_pos(next);
	while (end - i > 1)
	{
		int			mid = i + (step < end - i ? step : (end - i) / 2);
		SfxEntry	e;
		SfxPos		pos;

		sfx_block_entry(block, mid, &e);
		pos = sfx_entry_pos(&e);
		if (sfx_order_cmp_pos(p->group->tree.order, &pos, &limit) < 0)
		{
			i = mid;
			step = step < block->nent ? 2 * step : step;
		}
		else
		{
			end = mid;
			step = block->nent;
		}
	}
	return end;
}

/* The first entry of the block in [i, end) that the filter drops, or end. */
static int
next_filtered(SfxPack *p, const SfxBlock *block, int i, int end)
{
	while (i < end && !is_filtered(p, block->tid[i]))
		i++;
	return i;
}

/* The entries of a block and those of the source before them.  codes: of its keys, where they may be used; else NULL. */
static bool
pack_block(SfxPack *p, const SfxBlock *block, const SfxCodes *codes)
{
	bool		filters = p->filter != NULL || p->versions.asked;
	int			drop = filters ? next_filtered(p, block, 0, block->nent) : block->nent;

	for (int i = 0; i < block->nent;)
	{
		SfxEntry	e;
		SfxPos		pos;
		int			end = i + 1;

		sfx_block_entry(block, i, &e);
		pos = sfx_entry_pos(&e);
		if (!pack_source(p, &e, &pos))
			return false;
		if (i == drop)
		{
			p->removed++;
			drop = next_filtered(p, block, end, block->nent);
		}
		else
		{
			/* where versions of rows matter, each entry is looked at */
			if (p->versions.heap == NULL)
				end = Min(before_source(p, block, i), drop);
			p->inside |= p->taken > 0;
			p->added += end - i;
			if (!pack_check(p, sfx_packer_add_run(p->packer, block, i, end, codes)))
				return false;
		}
		i = end;
	}
	return true;
}

static bool
pack_leaf(SfxPack *p, BlockNumber blkno, char *copy, SfxBlock *block)
{
	SfxLeaf		leaf;
	bool		coded;			/* what is not moved by new neighbours need not be coded again */

	sfx_leaf_copy(&p->group->tree, blkno, NULL, copy, &leaf);
	sfx_dict_attach(p->group->tree.index, blkno, (Page) copy, &leaf, NULL);
	coded = p->dict && leaf.dictno == p->dictno;
	p->before += leaf.nentries;
	for (int b = 0; b < leaf.nblocks; b++)
	{
		if (sfx_leaf_decode(&leaf, b, NULL, NULL, block) < 0 ||
			(coded && sfx_leaf_codes(&leaf, b, p->codes) < 0))
			sfx_corrupt(p->group->tree.index, blkno, "leaf block");
		if (!pack_block(p, block, coded ? p->codes : NULL))
			return false;
	}
	return true;
}

/* Take what the source has below that fence; an entry equal to it belongs to the right neighbour. */
static bool
pack_rest(SfxPack *p, bool finite, const SfxPos *high)
{
	const SfxEntry *e;

	while (p->src && (e = sfx_source_peek(p->src)) != NULL && may_take(p))
	{
		SfxPos		pos = sfx_entry_pos(e);

		if (finite && sfx_order_cmp_pos(p->group->tree.order, &pos, high) >= 0)
			break;
		if (!pack_fresh(p, e))
			return false;
		sfx_source_advance(p->src);
	}
	return true;
}

/*
 * Is this the place to end a group?  Its last page is as full as it happens to be; the entries of the pages before tell how full, and the
 * growth so far, how full it would be with more leaves.  True if none of those numbers of leaves wastes less.
 */
static bool
fills_pages(const SfxPack *p)
{
	int			leaves = p->group->to - p->group->from;
	double		pages,
				waste;

	if (leaves < p->most_pages / 2 || p->n == 0)
		return false;
	pages = p->n + (double) (p->added - p->after) * p->n / p->after;
	waste = (ceil(pages + LAST_PAGE_SPREAD) - pages) / pages;
	for (int more = 1; leaves + more + MERGE_ROOM <= p->most_pages; more++)
	{
		double		then = pages * (leaves + more) / leaves;

		if ((ceil(then + LAST_PAGE_SPREAD) - then) / then < waste)
			return false;
	}
	return true;
}

/* All leaves of the group have been packed.  Take in the next one if the source goes on there, unless the group is fine as it is. */
static void
grow_group(SfxPack *p)
{
	SfxGroup   *g = p->group;
	const SfxEntry *e;
	SfxPos		pos,
				high;

	if (!p->grow || !g->has_node || g->to == g->node.nchildren || p->n + MERGE_ROOM > p->most_pages ||
		g->to - g->from + MERGE_ROOM > p->most_pages || fills_pages(p))
		return;
	e = sfx_source_peek(p->src);
	if (e == NULL)
		return;
	pos = sfx_entry_pos(e);
	if (!sfx_group_child_high(g, g->to, &high) || sfx_order_cmp_pos(g->tree.order, &pos, &high) < 0)
		g->to++;
}

bool
sfx_pack_group(SfxPack *p)
{
	SfxGroup   *g = p->group;
	SfxPos		low = sfx_group_low(g);
	SfxPos		high;
	bool		finite = false;
	char	   *copy = palloc(BLCKSZ);
	SfxBlock   *block = palloc(sizeof(SfxBlock));
	bool		fits = true;

	p->codes = p->dict ? palloc(sizeof(SfxCodes)) : NULL;
	p->packer = sfx_packer_init(palloc(sfx_packer_size()), SFX_BODY_CAPACITY, &low, keep_page, p,
								g->tree.order);
	sfx_packer_set_codec(p->packer, sfx_opt_codec(g->tree.index));
	sfx_packer_set_packing(p->packer, sfx_opt_packing(g->tree.index));
	if (p->dict)
		sfx_packer_set_dict(p->packer, p->dict, p->dictno);
	sfx_packer_set_sample(p->packer, p->sample);
	p->n = 0;
	p->taken = p->removed = 0;
	p->before = p->added = p->after = 0;
	p->inside = p->too_many = false;
	sfx_versions_clear(&p->versions);
	for (int i = g->from; i < g->to && fits; i++)
	{
		CHECK_FOR_INTERRUPTS();
		finite = sfx_group_child_high(g, i, &high);
		if (p->src)
			sfx_group_ask_ahead(g, p->src, i);
		fits = pack_leaf(p, sfx_group_leaf(g, i), copy, block) && pack_rest(p, finite, &high);
		if (fits && i == g->to - 1)
			grow_group(p);
	}
	if (fits)
		fits = sfx_packer_finish(p->packer, finite ? &high : NULL) >= 0;
	if (!fits && !p->too_many)
		sfx_corrupt(g->tree.index, sfx_group_leaf(g, g->from),
					"entries of this leaf or of its right neighbours lie beyond the next one's");
	sfx_packer_rests(p->packer, &p->rests, &p->stored);
	pfree(copy);
	pfree(block);
	pfree(p->packer);
	if (p->codes)
		pfree(p->codes);
	return fits;
}
