/*-------------------------------------------------------------------------
 * pack.c - packing a group: the entries of its leaves and of the source, merged in order into new
 * leaves
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

#include "access/table.h"
#include "miscadmin.h"
#include "utils/rel.h"

#define LAST_PAGE_SPREAD	0.03	/* error of the estimate of a group's last page */

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

/*
 * Do the entries of one key have no room on a page?  To be divided they need the whole key, so the
 * attempt is repeated with whole keys.
 */
static bool
needs_whole_keys(SfxPack *p, int rc)
{
	if (rc != SFX_NOSPACE || !p->cut || p->whole || p->too_many)
		return false;
	p->whole = p->again = true;
	return true;
}

/*
 * Handle the packer's result: damage, and failures other than too many pages, are errors.  False:
 * this attempt has failed.
 */
static bool
pack_check(SfxPack *p, int rc)
{
	if (rc == SFX_CORRUPT)
		sfx_out_of_order(p->group->tree.index, p->group->tree.order,
						 sfx_group_leaf(p->group, p->group->from),
						 "entries of this leaf or of its right neighbours are out of order");
	if (needs_whole_keys(p, rc))
		return false;
	if (rc < 0 && !p->too_many)
		sfx_corrupt(p->group->tree.index, sfx_group_leaf(p->group, p->group->from),
					psprintf("entries of this leaf or of its right neighbors cannot be packed (%d)",
							 rc));
	return rc >= 0;
}

static bool
pack_add(SfxPack *p, const SfxEntry *e)
{
	p->added++;
	return pack_check(p, sfx_packer_add(p->packer, e));
}

/* (one entry in any case: a group that takes none leaves the merge where it was) */
static inline bool
may_take(const SfxPack *p)
{
	return p->taken == 0 || (p->n < p->most_pages && p->taken < p->max_taken);
}

/*
 * Merge two ascending lists of places, which may have places in common, into *a; returns the
 * length.
 */
static int
join_places(uint16 *a, int na, const uint16 *b, int nb)
{
	uint16		both[SFX_BLOCK_ENTRIES];
	int			n = 0;

	if (nb == 0)
		return na;
	for (int i = 0, j = 0; i < na || j < nb;)
	{
		bool		first = j == nb || (i < na && a[i] <= b[j]);

		both[n] = first ? a[i] : b[j];
		j += j < nb && b[j] == both[n];
		i += first;
		n++;
	}
	memcpy(a, both, n * sizeof(uint16));
	return n;
}

/*
 * Which of these entries are dropped, as the caller's `among` says or as dead versions (X5)?  An
 * SfxDeadAmong.
 */
static int
dropped_among(SfxPack *p, const uint64 *tids, int n, uint16 *dead)
{
	Relation	index = p->group->tree.index;
	int			found = p->among ? p->among(index, tids, n, dead, p->arg) : 0;
	uint16		other[SFX_BLOCK_ENTRIES];
	int			nother;

	if (!p->versions.asked)
		return found;
	nother = sfx_tid_list_among(index, tids, n, other, &p->versions.tids);
	return join_places(dead, found, other, nother);
}

static bool
is_dropped(SfxPack *p, uint64 tid)
{
	uint16		place;

	return dropped_among(p, &tid, 1, &place) > 0;
}

/* Pack one entry of the source, after which the caller advances. */
static bool
pack_fresh(SfxPack *p, const SfxEntry *e)
{
	p->taken++;
	if (p->versions.heap)
		sfx_versions_note(&p->versions, e, true);
	if ((p->among || p->versions.asked) && is_dropped(p, e->tid))
	{
		p->removed++;
		return true;
	}
	return pack_add(p, e);
}

/* May guesses tell where entries of the source go (B5)?  Not if each old entry is examined. */
static inline bool
may_guess(const SfxPack *p)
{
	return sfx_order_guesses(p->group->tree.order) && p->versions.heap == NULL &&
		!BlockNumberIsValid(p->blkno);
}

/*
 * Compare an entry of a block with one of the source.  If *sure is set, exactly; otherwise the
 * result may be a guess, and *sure becomes true if it happens to be exact (B5).
 */
static inline int
cmp_source(const SfxPack *p, const SfxPos *pos, const SfxPos *next, bool *sure)
{
	const SfxOrder *order = p->group->tree.order;

	return *sure ? sfx_order_cmp_pos(order, pos, next) :
		sfx_order_guess_pos(order, pos, next, sure);
}

/*
 * Take the source's entries below limit, which is entry i of a leaf's block.  With guesses, the
 * last of them may be left, and before_source then looks at i again.  False: too many pages.
 */
static bool
pack_source(SfxPack *p, const SfxEntry *leaf_entry, const SfxPos *limit, int i)
{
	const SfxEntry *e;

	while (p->src && (e = sfx_source_peek(p->src)) != NULL && may_take(p))
	{
		SfxPos		pos = sfx_entry_pos(e);
		bool		sure = !may_guess(p);
		int			c;

		if (p->bound == i)
			c = pos.tid == limit->tid &&
				sfx_same_bytes(pos.key, pos.len, limit->key, limit->len) ? 0 : -1;
		else if ((c = cmp_source(p, &pos, limit, &sure)) > 0 && !sure)
			return true;
		else if (!sure)
			c = sfx_order_cmp_pos(p->src->order, &pos, limit);
		if (c >= 0)
			p->passed = i;
		if (c > 0)
		{
			/* perhaps an older version of the row whose entry comes next */
			if (p->versions.heap && pos.len == limit->len && memcmp(pos.key, limit->key, pos.len) == 0)
				sfx_versions_note(&p->versions, leaf_entry, false);
			return true;
		}

		/*
		 * the same (key, TID) is in the tree: an earlier merge brought it, before a crash or error
		 */
		if (c == 0)
			p->taken++;
		else if (!pack_fresh(p, e))
			return false;
		sfx_source_advance(p->src);
		p->bound = -1;
		if (c == 0)
			break;
	}
	if (p->versions.heap && sfx_versions_same(&p->versions, leaf_entry))
		sfx_versions_note(&p->versions, leaf_entry, false);
	return true;
}

/*
 * The first entry of the block in [*lo, *end) that is not before next, or *end: exponential search
 * from the usual distance between two new entries, then bisection.  *lo and *end become bounds that
 * were proved by comparisons.
 */
static int
place_next(const SfxPack *p, const SfxBlock *block, int *lo, int *end, const SfxPos *next, bool sure)
{
	uint64		step = p->before / (p->taken + 1) * 2 / 3;
	bool		bounded = false;
	int			from = *lo,
				to = *end;

	step = Max(step, 1);
	while (from < to)
	{
		int			mid = bounded || step > to - from ? (from + to) / 2 : from + (int) step - 1;
		bool		certain = sure;
		SfxEntry	e;
		SfxPos		pos;

		sfx_block_entry(block, mid, &e);
		pos = sfx_entry_pos(&e);
		if (cmp_source(p, &pos, next, &certain) < 0)
		{
			from = mid + 1;
			step *= 2;
			*lo = certain ? from : *lo;
		}
		else
		{
			to = mid;
			bounded = true;
			*end = certain ? to : *end;
		}
	}
	return from;
}

/* Is entry i before next?  Compares exactly. */
static bool
stands_before(const SfxPack *p, const SfxBlock *block, int i, const SfxPos *next)
{
	bool		sure = true;
	SfxEntry	e;
	SfxPos		pos;

	sfx_block_entry(block, i, &e);
	pos = sfx_entry_pos(&e);
	return cmp_source(p, &pos, next, &sure) < 0;
}

/*
 * The first entry of the block, from i on, that is not before the source's next one.  A guess in
 * pack_source may have left that one below entry i, so i itself is examined unless it was proved.
 */
static int
before_source(SfxPack *p, const SfxBlock *block, int i)
{
	const SfxEntry *e = p->src && may_take(p) ? sfx_source_peek(p->src) : NULL;
	bool		guess = may_guess(p);
	int			lo = guess && p->passed != i ? i : i + 1;
	int			end = block->nent;
	SfxPos		next;
	int			at;

	if (e == NULL)
		return end;
	next = sfx_entry_pos(e);
	at = place_next(p, block, &lo, &end, &next, !guess);
	if (SFX_MUTANT("guesses unproved"))
		guess = false;
	if (guess && at > lo && !stands_before(p, block, at - 1, &next))
	{
		end = at - 1;
		at = place_next(p, block, &lo, &end, &next, true);
	}
	else if (guess && at < end && stands_before(p, block, at, &next))
	{
		lo = at + 1;
		at = place_next(p, block, &lo, &end, &next, true);
	}
	if (!BlockNumberIsValid(p->blkno))
		p->bound = at;
	return at;
}

/* ---- cut leaves ---- */

bool		sfx_pack_lacks_table = false;

/* The recovery from which keys of the leaf at hand come; opened when it is first needed. */
static SfxRecovery *
recovery(SfxPack *p)
{
	Relation	index = p->group->tree.index;

	if (p->recovery)
		return p->recovery;
	if (p->group->heap)
		p->heap = p->group->heap;
	else
		p->heap = p->opened = sfx_recovery_open_heap(index);
	sfx_pack_lacks_table = p->heap == NULL;
	if (p->heap == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("could not merge index \"%s\": its keys are cut, and its table is locked",
						RelationGetRelationName(index)),
				 errhint("It is merged when the lock is free.")));
	p->recovery = sfx_recovery_begin(index, p->heap);
	return p->recovery;
}

static void
end_recovery(SfxPack *p)
{
	if (p->recovery)
		sfx_recovery_end(p->recovery, SFX_COUNT_MERGED);
	if (p->opened)
		table_close(p->opened, AccessShareLock);
	p->recovery = NULL;
	p->heap = p->opened = NULL;
}

/* Entry i of the block at hand, with its whole key if that was recovered. */
static void
block_entry(const SfxPack *p, const SfxBlock *block, int i, SfxEntry *e)
{
	sfx_block_entry(block, i, e);
	if (sfx_block_keyno(block, i) == p->keyno)
	{
		e->key = p->key;
		e->keylen = p->keylen;
	}
}

/* Does the stored key of entry i leave open whether it is before the source's next entry? */
static bool
is_undecided(const SfxPack *p, const SfxBlock *block, int i)
{
	const SfxEntry *next = p->src && may_take(p) ? sfx_source_peek(p->src) : NULL;
	unsigned	loose = SFX_MUTANT("bytes tell") ? 0 : sfx_block_loose(block, i);
	SfxEntry	e;

	if (next == NULL)
		return false;
	sfx_block_entry(block, i, &e);
	return sfx_leaves_open(e.key, e.keylen, loose, next->key, next->keylen) ||
		SFX_MUTANT("merges ask for each row");
}

/*
 * Recover the key of entry *i, the first remaining one of its key, from the rows of that and the
 * following entries of the key.  If all these rows are dead to everybody, their entries go: *i
 * becomes the next entry, and the result is false (W4).
 */
static bool
recover_key(SfxPack *p, const SfxBlock *block, int *i)
{
	int			end = sfx_block_end_of_key(block, *i);
	int			len;

	if (p->whole)
		sfx_recovery_ahead(recovery(p), block, *i);
	len = sfx_recover_key(recovery(p), p->blkno, block, *i, end, p->key);
	if (len >= 0)
	{
		p->keyno = sfx_block_keyno(block, *i);
		p->keylen = len;
		return true;
	}
	if (!SFX_MUTANT("cut keys go without a horizon"))
		sfx_dead_known(p->group->tree.index, p->heap, block->tid + *i, end - *i, &p->group->horizon);
	p->removed += end - *i;
	*i = end;
	return false;
}

/*
 * Take all entries of the source that precede entry *i of a block, and return that entry in *e.
 * Its key is recovered if the order depends on it.  *alive false: the entry's rows are dead, and *i
 * is after it.  False: too many pages.
 */
static bool
pack_before(SfxPack *p, const SfxBlock *block, int *i, SfxEntry *e, bool *alive)
{
	bool		cut = BlockNumberIsValid(p->blkno);

	*alive = true;
	for (;;)
	{
		SfxPos		pos;
		bool		whole = sfx_block_keyno(block, *i) == p->keyno;

		block_entry(p, block, *i, e);
		if (cut && !whole && (p->whole || is_undecided(p, block, *i)))
		{
			*alive = recover_key(p, block, i);
			if (!*alive)
				return true;
			continue;
		}
		pos = sfx_entry_pos(e);
		if (!pack_source(p, e, &pos, *i))
			return false;
		/* the source's next entry may be undecided beside it as well */
		if (!cut || whole || !is_undecided(p, block, *i))
			return true;
	}
}

/*
 * The end of those entries in [i, end) of a cut leaf's block that certainly precede the source's
 * next one.
 */
static int
decided_before_source(const SfxPack *p, const SfxBlock *block, int i, int end)
{
	int			last;

	if (sfx_block_keyno(block, i) == p->keyno || p->whole)
		return i + 1;
	if (!is_undecided(p, block, end - 1))
		return end;
	last = sfx_block_keyno(block, end - 1);
	while (end - 1 > i && sfx_block_keyno(block, end - 1) == last)
		end--;
	return end;
}

/*
 * Which entries of the block are dropped?  If nothing can come between them they are removed from
 * the block at once, so that the others are packed as one run.
 */
static void
find_dead(SfxPack *p, SfxBlock *block)
{
	p->ndead = dropped_among(p, block->tid, block->nent, p->dead);
	if (p->ndead > 0 && p->src == NULL && !BlockNumberIsValid(p->blkno) &&
		sfx_block_drop(block, p->dead, p->ndead))
	{
		p->removed += p->ndead;
		p->ndead = 0;
	}
	p->dead[p->ndead] = (uint16) block->nent;
}

/*
 * Pack the entries of a block, each after the source's entries before it.  codes: of its keys, if
 * they may be reused; else NULL.
 */
static bool
pack_block(SfxPack *p, SfxBlock *block, const SfxCodes *codes)
{
	const uint16 *drop = p->dead;	/* the first entry from i on that is dropped */

	p->keyno = p->bound = p->passed = -1;
	find_dead(p, block);
	for (int i = 0; i < block->nent;)
	{
		SfxEntry	e;
		bool		alive;
		int			end;

		if (!pack_before(p, block, &i, &e, &alive))
			return false;
		while (*drop < i)
			drop++;
		if (!alive)
			continue;
		end = i + 1;
		if (i == *drop && i < block->nent)
			p->removed++;
		else
		{
			/* if versions of rows are looked for, each entry is examined */
			if (p->versions.heap == NULL)
				end = Min(before_source(p, block, i), *drop);
			if (end == i)
				continue;
			if (BlockNumberIsValid(p->blkno))
				end = decided_before_source(p, block, i, end);
			p->inside |= p->taken > 0;
			if (sfx_block_keyno(block, i) == p->keyno)
			{
				if (!pack_add(p, &e))
					return false;
			}
			else
			{
				p->added += end - i;
				if (!pack_check(p, sfx_packer_add_run(p->packer, block, i, end, codes)))
					return false;
			}
		}
		i = end;
	}
	return true;
}

/*
 * Pack the entries of a leaf of the group, and those of the source before each.  copy and block are
 * scratch.  False: too many pages, or the attempt is void (p->again).
 */
static bool
pack_leaf(SfxPack *p, BlockNumber blkno, char *copy, SfxBlock *block)
{
	SfxLeaf		leaf;
	bool		coded;			/* keys whose neighbors stay the same are not coded again */

	sfx_leaf_copy(&p->group->tree, blkno, NULL, copy, &leaf);
	sfx_dict_attach(p->group->tree.index, blkno, (Page) copy, &leaf, NULL);
	coded = p->codes && leaf.dictno != 0;
	p->before += leaf.nentries;
	p->blkno = leaf.cut ? blkno : InvalidBlockNumber;
	if (leaf.cut)
	{
		p->old_cut++;
		if (!p->cut && !p->group->whole)
		{
			/*
			 * a cut leaf of which the counts did not tell, after the packer has begun to write
			 * whole keys
			 */
			p->cut = p->again = true;
			return false;
		}
	}
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

/*
 * Take the source's entries below the leaf's high fence, if there is one; an entry equal to it
 * belongs to the right neighbor.
 */
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
 * Pages needed by what has been packed so far, with the fraction of the last one; 0: no page is
 * full.
 */
static double
pages_so_far(const SfxPack *p)
{
	return p->n == 0 ? 0 : p->n + (double) (p->added - p->after) * p->n / p->after;
}

/*
 * Is this the place to end a group?  The entries of finished pages tell how full its last page is,
 * and the growth so far tells how full it would be with more leaves.  True if no larger number of
 * leaves wastes less space.
 */
static bool
fills_pages(const SfxPack *p)
{
	int			leaves = p->group->to - p->group->from;
	double		pages,
				waste;

	if (leaves < p->most_pages / 2 || p->n == 0)
		return false;
	pages = pages_so_far(p);
	waste = (ceil(pages + LAST_PAGE_SPREAD) - pages) / pages;
	for (int more = 1; leaves + more + MERGE_ROOM <= p->most_pages; more++)
	{
		double		then = pages * (leaves + more) / leaves;

		if ((ceil(then + LAST_PAGE_SPREAD) - then) / then < waste)
			return false;
	}
	return true;
}

/*
 * All leaves of the group have been packed.  Take in the next one if the source's next entry falls
 * into it, unless the group is large enough or ends well here.
 */
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

/*
 * Leaf i has been packed without a source, and another one follows.  Might the group exceed one
 * record if that leaf needs as many pages as any so far?  *before: pages before leaf i; *most:
 * pages that one leaf needed, at most.
 */
static bool
is_filled(const SfxPack *p, double *before, double *most)
{
	double		pages = pages_so_far(p);

	*most = Max(*most, pages - *before);
	*before = pages;
	return pages + *most > p->most_pages;
}

/* A packer for the new leaves, and memory for codes. */
static void
begin_packer(SfxPack *p, const SfxPos *low)
{
	Relation	index = p->group->tree.index;

	p->codes = p->ndicts > 0 && !p->cut ? palloc(sizeof(SfxCodes)) : NULL;
	p->packer = sfx_packer_init(palloc(sfx_packer_size()), SFX_BODY_CAPACITY, low, keep_page, p,
								p->group->tree.order);
	sfx_packer_set_codec(p->packer, sfx_opt_codec(index));
	sfx_packer_set_packing(p->packer, sfx_opt_packing(index));
	if (p->cut)
	{
		sfx_packer_cut_keys(p->packer, SFX_CUT_MOST);
		if (p->whole)
			sfx_packer_keys_whole(p->packer);
		sfx_packer_part(p->packer, p->part);
		return;
	}
	for (int i = 0; i < p->ndicts; i++)
		sfx_packer_add_dict(p->packer, p->dict[i].hope, p->dict[i].number);
	sfx_packer_set_sample(p->packer, p->sample);
}

/* Count the rests in the new pages.  Those of cut keys are not coded. */
static void
count_rests(SfxPack *p)
{
	p->rests = p->stored = p->promised = 0;
	if (!p->cut)
		sfx_packer_rests(p->packer, 0, &p->rests, &p->stored);
	for (int i = 0; i < p->ndicts; i++)
	{
		SfxDictChoice *d = &p->dict[i];

		sfx_packer_rests(p->packer, d->number, &d->raw, &d->stored);
		p->promised += d->raw * d->rate / 1000;
	}
}

/* One attempt to pack the group.  False: too many pages, or the attempt is void (p->again). */
static bool
pack_once(SfxPack *p)
{
	SfxGroup   *g = p->group;
	SfxPos		low = sfx_group_low(g);
	SfxPos		high;
	bool		finite = false;
	char	   *copy = palloc(BLCKSZ);
	SfxBlock   *block = palloc(sizeof(SfxBlock));
	double		before = 0,
				most = 0;
	bool		fits = true;

	begin_packer(p, &low);
	p->n = 0;
	p->taken = p->removed = 0;
	p->before = p->added = p->after = 0;
	p->inside = p->too_many = p->again = false;
	p->old_cut = 0;
	sfx_versions_clear(&p->versions);
	for (int i = g->from; i < g->to && fits; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (p->mixed && i > g->from && sfx_group_is_cut(g, i) != p->cut)
		{
			/* a leaf of the other kind ends the group (W8) */
			g->to = i;
			break;
		}
		finite = sfx_group_child_high(g, i, &high);
		if (p->src)
			sfx_group_ask_ahead(g, p->src, i);
		fits = pack_leaf(p, sfx_group_leaf(g, i), copy, block) && pack_rest(p, finite, &high);
		if (fits && i == g->to - 1)
			grow_group(p);

		/*
		 * without a source, the group ends before it becomes too large: dense leaves need more
		 * pages when rows go, and finding that out by packing again is most of VACUUM's time
		 */
		else if (fits && p->src == NULL && is_filled(p, &before, &most))
			g->to = i + 1;
	}
	if (fits)
	{
		int			rc = sfx_packer_finish(p->packer, finite ? &high : NULL);

		fits = rc >= 0;
		(void) needs_whole_keys(p, rc);
	}
	if (!fits && !p->too_many && !p->again)
		sfx_corrupt(g->tree.index, sfx_group_leaf(g, g->from),
					"entries of this leaf or its right neighbors reach into the next one");
	count_rests(p);
	end_recovery(p);
	pfree(copy);
	pfree(block);
	pfree(p->packer);
	if (p->codes)
		pfree(p->codes);
	return fits;
}

/* Decide which kind of leaves the group gets (W8). */
static void
decide_kind(SfxPack *p)
{
	SfxGroup   *g = p->group;
	const SfxRun *main = SfxMetaMain(g->tree.meta);
	bool		may_cut = g->tree.run == main->id;

	p->whole = g->whole;
	p->cut = may_cut && !p->whole &&
		(g->cut || sfx_cut_wanted(g->tree.index, g->tree.order));
	p->mixed = may_cut && !p->whole && !p->cut && main->cut > 0;
	if (p->mixed)
		p->cut = sfx_group_is_cut(g, g->from);
	p->mixed &= !SFX_MUTANT("groups of both kinds");
}

void
sfx_pack_restart(SfxPack *p)
{
	SFX_STOP("packed again");
	if (p->src)
		(void) sfx_source_seek(p->src, &p->start);
}

bool
sfx_pack_group(SfxPack *p)
{
	bool		fits;

	decide_kind(p);
	fits = pack_once(p);
	while (p->again)
	{
		/* a cut leaf was met, or the entries of one cut key must be divided */
		sfx_pack_restart(p);
		fits = pack_once(p);
	}
	return fits;
}
