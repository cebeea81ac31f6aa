/*-------------------------------------------------------------------------
 * rewrite.c - the one routine that rewrites leaves: merge's and VACUUM's inner loop
 *
 * See merge.c for the rules M1 to M5.  A group starts as one leaf.  It takes in its right neighbours while the next
 * entries of the source fall into them; and where one leaf overflows, as many neighbours as make SFX_GROUP_LEAVES,
 * so that k full leaves become k + 1 and not 2k.  A leaf that grows only at its end (ascending keys) is left
 * full and gets a new right neighbour.
 *-------------------------------------------------------------------------
 */
#include "dead.h"
#include "filters.h"
#include "rewrite.h"

#include "dict.h"

#include <math.h>

#include "miscadmin.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#define MERGE_PAGES			24	/* pages after which a group takes no more from the source, at most */
#define MERGE_ROOM			3	/* pages that the leaf may take then in which the source stands */
#define LAST_PAGE_SPARSE	(SFX_BODY_CAPACITY / 10 * 6)	/* bytes with which a group's last page joins the next group */
#define LAST_PAGE_SPREAD	0.03	/* pages by which the estimate of a group's last one errs */
#define PREFETCH_LEAVES		8
#define INNER_OVERHEAD		128 /* bytes of an inner page, at most, that do not grow with its children */
#define CHILD_OVERHEAD		24	/* bytes of a child beside its separator, at most */

void
sfx_pos_set(SfxPosBuf *buf, const SfxPos *pos)
{
	Assert(pos->len <= sizeof(buf->bytes));
	if (pos->len > 0)
		memmove(buf->bytes, pos->key, pos->len);
	buf->pos.key = buf->bytes;
	buf->pos.len = pos->len;
	buf->pos.tid = pos->tid;
}

/* ---- source ---- */

void
sfx_source_init(SfxSource *src, Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, int g)
{
	src->index = index;
	src->order = order;
	src->meta = meta;
	src->run = run;
	src->g = g;
	src->seen = 0;
	src->unchanged = false;
	src->horizon.xid = InvalidTransactionId;
	src->horizon.catalog = false;
	src->n = src->at = 0;
	src->more = false;
	src->entry = palloc(sizeof(SfxEntry) * SFX_SOURCE_CHUNK);
	src->bytes = palloc(SFX_SOURCE_BYTES + SFX_MAX_ENTRY);
	src->block = run != 0 ? palloc(sizeof(SfxBlock)) : NULL;
}

static void
source_add(SfxSource *src, const SfxEntry *e)
{
	SfxEntry   *to = &src->entry[src->n++];
	uint8	   *bytes = src->bytes + src->used;

	*to = *e;
	memcpy(bytes, e->key, e->keylen);
	if (e->paylen > 0)
		memcpy(bytes + e->keylen, e->payload, e->paylen);
	to->key = bytes;
	to->payload = bytes + e->keylen;
	src->used += e->keylen + e->paylen;
}

static void
chunk_clear(SfxSource *src)
{
	src->n = src->at = 0;
	src->used = 0;
	src->more = false;
}

static bool
chunk_is_full(const SfxSource *src)
{
	return src->n == SFX_SOURCE_CHUNK || src->used >= SFX_SOURCE_BYTES;
}

/*
 * The first leaf block of a run that has entries >= pos, decoded from there on into src->block; false if there is none.
 * Payloads of the block lie in *copy, a page.  *last: no other block can have greater ones.
 */
static bool
run_block(SfxSource *src, const SfxPos *pos, char *copy, bool *last)
{
	SfxPosBuf	at;
	uint8		lowbuf[SFX_MAX_ENTRY];
	uint8		highbuf[SFX_MAX_ENTRY];

	sfx_pos_set(&at, pos);
	for (;;)
	{
		Buffer		buf = sfx_tree_find(src->index, src->order, src->meta, src->run, &at.pos, false, 0);
		BlockNumber blkno;
		SfxLeaf		leaf;
		SfxPos		low,
					high;
		bool		inf;
		int			b = 0;

		if (!BufferIsValid(buf))
			(void) sfx_meta_run(src->index, src->meta, src->run);
		blkno = BufferGetBlockNumber(buf);
		memcpy(copy, BufferGetPage(buf), BLCKSZ);
		UnlockReleaseBuffer(buf);
		CHECK_FOR_INTERRUPTS();
		if (sfx_leaf_open(&leaf, SfxPageBody((Page) copy), SfxPageBodyLen((Page) copy), src->order) < 0 ||
			sfx_leaf_fences(&leaf, lowbuf, &low, highbuf, &high, &inf) < 0 ||
			(leaf.nblocks > 0 && (b = sfx_leaf_find_block(&leaf, &at.pos)) < 0))
			sfx_corrupt(src->index, blkno, "leaf header or directory");
		sfx_dict_attach(src->index, blkno, (Page) copy, &leaf, NULL);
		for (b = leaf.nblocks > 0 ? b : 0; b < leaf.nblocks; b++)
		{
			if (sfx_leaf_decode(&leaf, b, &at.pos, NULL, src->block) < 0)
				sfx_corrupt(src->index, blkno, "leaf block");
			*last = inf && b + 1 == leaf.nblocks;
			if (src->block->nent > 0)
				return true;
		}
		if (inf)
			return false;
		sfx_pos_set(&at, &high);
	}
}

/* A chunk of a run is what one block has. */
static bool
run_seek(SfxSource *src, const SfxPos *pos)
{
	PGAlignedBlock copy;
	bool		last;

	chunk_clear(src);
	if (!run_block(src, pos, copy.data, &last))
		return false;
	for (int i = 0; i < src->block->nent; i++)
	{
		SfxEntry	e;

		if (chunk_is_full(src))
		{
			last = false;
			break;
		}
		sfx_block_entry(src->block, i, &e);
		source_add(src, &e);
	}
	src->more = !last;
	return true;
}

bool
sfx_source_seek(SfxSource *src, const SfxPos *pos)
{
	SfxImage   *img;
	const SfxNodeAlloc *a;
	const SfxDelta *d;
	SfxCursor	c;
	bool		have;

	if (src->run != 0)
		return run_seek(src, pos);
	img = sfx_image_acquire(src->index, src->order, src->meta, src->g);
	if (img == NULL)
		elog(ERROR, "surfidx: a generation of index \"%s\" vanished under the merge lock",
			 RelationGetRelationName(src->index));
	d = sfx_image_delta(img, &a);
	src->seen = sfx_image_seen(img);
	src->unchanged = sfx_image_unchanged(img);
	(void) sfx_image_killed(img, &src->horizon);
	chunk_clear(src);
	have = sfx_delta_seek(d, a, pos, &c);
	while (have)
	{
		SfxEntry	e;

		if (chunk_is_full(src))
		{
			src->more = true;
			break;
		}
		sfx_delta_get(d, a, &c, &e);
		source_add(src, &e);
		have = sfx_delta_next(d, a, &c);
	}
	sfx_image_release(img);
	return src->n > 0;
}

const SfxEntry *
sfx_source_peek(SfxSource *src)
{
	return src->at < src->n ? &src->entry[src->at] : NULL;
}

void
sfx_source_advance(SfxSource *src)
{
	if (++src->at == src->n && src->more)
	{
		SfxPosBuf	next;
		SfxEntry   *last = &src->entry[src->n - 1];
		SfxPos		p = {last->key, last->keylen, last->tid + 1};

		sfx_pos_set(&next, &p);
		(void) sfx_source_seek(src, &next.pos);
	}
}

static SfxPos
entry_pos(const SfxEntry *e)
{
	SfxPos		p = {e->key, e->keylen, e->tid};

	return p;
}

bool
sfx_generation_next(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, SfxPosBuf *pos, uint64 *n)
{
	SfxImage   *img = sfx_image_acquire(index, order, meta, g);
	const SfxNodeAlloc *a;
	const SfxDelta *d;
	SfxCursor	c;
	bool		found;

	if (img == NULL)
		return false;
	d = sfx_image_delta(img, &a);
	*n = d->nentries;
	found = sfx_delta_seek(d, a, &pos->pos, &c);
	if (found)
	{
		SfxEntry	e;
		SfxPos		at;

		sfx_delta_get(d, a, &c, &e);
		at = entry_pos(&e);
		sfx_pos_set(pos, &at);
	}
	sfx_image_release(img);
	return found;
}

/* ---- groups ---- */

void
sfx_leaf_copy(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, BlockNumber blkno,
			  BufferAccessStrategy strategy, char *copy, SfxLeaf *leaf)
{
	Buffer		buf = ReadBufferExtended(index, MAIN_FORKNUM, blkno, RBM_NORMAL, strategy);
	bool		valid;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	valid = sfx_tree_page_is(index, blkno, BufferGetPage(buf), meta, run, 0);
	memcpy(copy, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	if (!valid)
		sfx_corrupt(index, blkno, "a downlink leads to a page that is no leaf");
	if (sfx_leaf_open(leaf, SfxPageBody((Page) copy), SfxPageBodyLen((Page) copy), order) < 0)
		sfx_corrupt(index, blkno, "leaf header or directory");
}

/* The page of that level that holds pos, and the child of it that does. */
static BlockNumber
find_downlink(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, const SfxPos *pos, int level,
			  BlockNumber *child)
{
	Buffer		buf = sfx_tree_find(index, order, meta, run, pos, false, level);
	BlockNumber blkno = BufferGetBlockNumber(buf);
	SfxInner	inner;
	uint64_t	count;
	int			i;

	if (sfx_inner_open(&inner, SfxPageBody(BufferGetPage(buf)), SfxPageBodyLen(BufferGetPage(buf)), order) < 0 ||
		(i = sfx_inner_find(&inner, pos)) < 0 ||
		sfx_inner_child(&inner, i, child, &count) < 0)
		sfx_corrupt(index, blkno, "inner page search");
	UnlockReleaseBuffer(buf);
	return blkno;
}

/* Rule T3's healing: is the parent itself known one level up, and that page on the next one? */
static void
check_posted(Relation index, const SfxOrder *order, SfxMeta *meta, const SfxNode *node)
{
	const SfxPos *pos = &node->children[0].low;
	BlockNumber page = node->blkno;

	for (int level = node->level; level < sfx_meta_run(index, meta, node->run)->level && !SFX_MUTANT("no healing"); level++)
	{
		BlockNumber child;
		BlockNumber above = find_downlink(index, order, meta, node->run, pos, level + 1, &child);

		if (child != page)
		{
			sfx_tree_post(index, order, meta, node->run, level, pos);
			/* that page may have been split */
			above = find_downlink(index, order, meta, node->run, pos, level + 1, &child);
		}
		page = above;
	}
}

/* The child that holds pos. */
static int
find_child(const SfxNode *node, const SfxOrder *order, const SfxPos *pos)
{
	int			lo = 0,
				hi = node->nchildren;

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
sfx_group_locate(SfxGroup *group, Relation index, const SfxOrder *order, SfxMeta *meta, uint32 run, const SfxPos *pos, SfxKeptNode *kept)
{
	group->index = index;
	group->order = order;
	group->meta = meta;
	group->horizon.xid = InvalidTransactionId;
	group->horizon.catalog = false;
	group->heap = NULL;
	group->joined = false;
	group->run = run;
	group->has_node = sfx_meta_run(index, meta, run)->level > 0;
	group->from = 0;
	if (group->has_node)
	{
		/* one that is kept was checked when it was loaded */
		if (kept == NULL || !sfx_kept_load(kept, index, order, meta, run, pos, &group->node))
		{
			if (kept == NULL)
				sfx_tree_load(index, order, meta, run, pos, 1, &group->node);
			check_posted(index, order, meta, &group->node);
		}
		group->from = find_child(&group->node, order, pos);
	}
	group->to = group->from + 1;
}

/*
 * Where leaves grow by a few percent no number of leaves that a record takes ends with a full page: n become n + 1.  That page is written twice then, which
 * is less than what it would leave empty.  (It is known by its number of entries; another leaf with as many does no harm.)
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
		sfx_meta_run(group->index, group->meta, group->run)->root;
}

SfxPos
sfx_group_low(const SfxGroup *group)
{
	SfxPos		min = {(const uint8_t *) "", 0, 0};

	return group->has_node ? group->node.children[group->from].low : min;
}

static bool
child_high(const SfxGroup *group, int child, SfxPos *high)
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
	return child_high(group, group->to - 1, high);
}

/* ---- packing a group ---- */

typedef struct Pack
{
	SfxGroup   *group;
	SfxSource  *src;
	IndexBulkDeleteCallback filter;
	void	   *arg;
	uint64		max_taken;		/* entries of the source, at most */
	const SfxHope *dict;		/* for the new leaves; may be NULL */
	uint32		dictno;
	SfxCodes   *codes;			/* of the block in hand */
	SfxRestSample *sample;		/* of their rests, if the caller wants one */
	SfxPacker  *packer;
	int			n;
	SfxNewLeaf	leaf[SFX_SWAP_MAX];
	uint64		taken;
	uint64		removed;
	int64		before;			/* entries in the old leaves */
	int64		added;			/* that were kept, and new ones */
	int64		after;			/* those in pages already */
	bool		grow;			/* take in right neighbours */
	int			most_pages;		/* after which nothing more is taken from the source */
	uint64		rests,			/* bytes of rests in the new pages: before coding, and as stored */
				stored;
	bool		inside;			/* an old entry came after a new one */
	bool		too_many;
	SfxVersions versions;
} Pack;

static int
keep_page(void *ctx, const SfxLeafOut *out)
{
	Pack	   *p = ctx;
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
pack_check(Pack *p, int rc)
{
	if (rc == SFX_CORRUPT)
		sfx_corrupt(p->group->index, sfx_group_leaf(p->group, p->group->from),
					"entries of this leaf or of its right neighbours are out of order");
	if (rc < 0 && !p->too_many)
		elog(ERROR, "surfidx: leaf packer failed with %d on index \"%s\"",
			 rc, RelationGetRelationName(p->group->index));
	return rc >= 0;
}

static bool
pack_add(Pack *p, const SfxEntry *e)
{
	p->added++;
	return pack_check(p, sfx_packer_add(p->packer, e));
}

static inline bool
may_take(const Pack *p)
{
	return p->n < p->most_pages && p->taken < p->max_taken;
}

static bool
is_filtered(Pack *p, uint64 tid)
{
	ItemPointerData ptr;

	if (p->filter == NULL && !p->versions.asked)
		return false;
	sfx_tid_pointer(p->group->index, tid, &ptr);
	return (p->filter && p->filter(&ptr, p->arg)) || (p->versions.asked && sfx_tid_list_has(&ptr, &p->versions.tids));
}

/* One entry of the source, which is gone on from. */
static bool
pack_fresh(Pack *p, const SfxEntry *e)
{
	p->taken++;
	if (p->versions.heap)
		sfx_versions_note(&p->versions, e, true);
	if (p->versions.asked && is_filtered(p, e->tid))
		return true;
	return pack_add(p, e);
}

/* Take entries of the source below limit, an entry of a leaf. False: too many pages. */
static bool
pack_source(Pack *p, const SfxEntry *leaf_entry, const SfxPos *limit)
{
	const SfxEntry *e;

	while (p->src && (e = sfx_source_peek(p->src)) != NULL && may_take(p))
	{
		SfxPos		pos = entry_pos(e);
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
before_source(const Pack *p, const SfxBlock *block, int i)
{
	const SfxEntry *next = p->src && may_take(p) ? sfx_source_peek(p->src) : NULL;
	SfxPos		limit;
	int			step = 1,
				end = block->nent;

	if (next == NULL)
		return end;
	limit = entry_pos(next);
	while (end - i > 1)
	{
		int			mid = i + (step < end - i ? step : (end - i) / 2);
		SfxEntry	e;
		SfxPos		pos;

		sfx_block_entry(block, mid, &e);
		pos = entry_pos(&e);
		if (sfx_order_cmp_pos(p->group->order, &pos, &limit) < 0)
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

/* The entries of a block and those of the source before them.  codes: of its keys, where they may be used; else NULL. */
static bool
pack_block(Pack *p, const SfxBlock *block, const SfxCodes *codes)
{
	bool		each = p->filter != NULL || p->versions.heap != NULL || p->versions.asked;

	for (int i = 0; i < block->nent;)
	{
		SfxEntry	e;
		SfxPos		pos;
		int			end = i + 1;

		sfx_block_entry(block, i, &e);
		pos = entry_pos(&e);
		if (!pack_source(p, &e, &pos))
			return false;
		if (each && is_filtered(p, e.tid))
			p->removed++;
		else
		{
			if (!each)
				end = before_source(p, block, i);
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
pack_leaf(Pack *p, BlockNumber blkno, char *copy, SfxBlock *block)
{
	SfxLeaf		leaf;
	bool		coded;			/* what is not moved by new neighbours need not be coded again */

	sfx_leaf_copy(p->group->index, p->group->order, p->group->meta, p->group->run, blkno, NULL, copy, &leaf);
	sfx_dict_attach(p->group->index, blkno, (Page) copy, &leaf, NULL);
	coded = p->dict && leaf.dictno == p->dictno;
	p->before += leaf.nentries;
	for (int b = 0; b < leaf.nblocks; b++)
	{
		if (sfx_leaf_decode(&leaf, b, NULL, NULL, block) < 0 ||
			(coded && sfx_leaf_codes(&leaf, b, p->codes) < 0))
			sfx_corrupt(p->group->index, blkno, "leaf block");
		if (!pack_block(p, block, coded ? p->codes : NULL))
			return false;
	}
	return true;
}

/* Take what the source has below that fence; an entry equal to it belongs to the right neighbour. */
static bool
pack_rest(Pack *p, bool finite, const SfxPos *high)
{
	const SfxEntry *e;

	while (p->src && (e = sfx_source_peek(p->src)) != NULL && may_take(p))
	{
		SfxPos		pos = entry_pos(e);

		if (finite && sfx_order_cmp_pos(p->group->order, &pos, high) >= 0)
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
fills_pages(const Pack *p)
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
grow_group(Pack *p)
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
	pos = entry_pos(e);
	if (!child_high(g, g->to, &high) || sfx_order_cmp_pos(g->order, &pos, &high) < 0)
		g->to++;
}

/*
 * Pack the group, the source being at its first entry; with p->grow it takes in right neighbours on the way.  False: more
 * pages than one record takes.
 */
static bool
pack_group(Pack *p)
{
	SfxGroup   *g = p->group;
	SfxPos		low = sfx_group_low(g);
	SfxPos		high;
	bool		finite = false;
	char	   *copy = palloc(BLCKSZ);
	SfxBlock   *block = palloc(sizeof(SfxBlock));
	bool		fits = true;

	p->codes = p->dict ? palloc(sizeof(SfxCodes)) : NULL;
	p->packer = sfx_packer_init(palloc(sfx_packer_size()), SFX_BODY_CAPACITY, &low, keep_page, p, g->order);
	sfx_packer_set_codec(p->packer, sfx_opt_codec(g->index));
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
		finite = child_high(g, i, &high);
		fits = pack_leaf(p, sfx_group_leaf(g, i), copy, block) && pack_rest(p, finite, &high);
		if (fits && i == g->to - 1)
			grow_group(p);
	}
	if (fits)
		fits = sfx_packer_finish(p->packer, finite ? &high : NULL) >= 0;
	if (!fits && !p->too_many)
		sfx_corrupt(g->index, sfx_group_leaf(g, g->from), "entries of this leaf or of its right neighbours lie beyond the next one's");
	sfx_packer_rests(p->packer, &p->rests, &p->stored);
	pfree(copy);
	pfree(block);
	pfree(p->packer);
	if (p->codes)
		pfree(p->codes);
	return fits;
}

/* Bytes of the children [from, to)'s low positions into *bytes, the longest of them into *longest. */
static void
measure_lows(const SfxNode *node, int from, int to, Size *bytes, Size *longest)
{
	for (int i = from; i < to; i++)
	{
		*bytes += node->children[i].low.len;
		*longest = Max(*longest, node->children[i].low.len);
	}
}

/*
 * The blocks that swapping the leaves takes, with filters that go.  Where separators are as long as keys can be, an inner
 * page has room for two children, so that the pages above the leaves count, too.  Their number is estimated from above.
 */
static int
blocks_needed(const SfxGroup *g, const Pack *p, int filters)
{
	int			nold = g->to - g->from;
	int			n = p->n + (g->has_node ? g->node.nchildren - nold : 0);
	bool		at_root = !g->has_node || g->node.blkno == sfx_meta_run(g->index, g->meta, g->run)->root;
	Size		bytes = 0;
	Size		longest = 0;
	Size		room;
	int			inner;

	if (!g->has_node && p->n == 1)
		return 1;
	for (int i = 0; i < p->n; i++)
	{
		bytes += p->leaf[i].low.len;
		longest = Max(longest, p->leaf[i].low.len);
	}
	if (g->has_node)
	{
		measure_lows(&g->node, 0, g->from, &bytes, &longest);
		measure_lows(&g->node, g->to, g->node.nchildren, &bytes, &longest);
	}
	/* a page was full when its next child, with a fence, did not fit; splitting it in halves may cost one more */
	room = Max((int) SFX_BODY_CAPACITY - INNER_OVERHEAD - 2 * (int) longest, 1);
	inner = Min((Size) n / 2, (bytes + (Size) n * CHILD_OVERHEAD) / room) + 2;
	return Max(p->n, nold) + inner + (at_root ? inner : 0) + filters;
}

static int
old_filters(const SfxGroup *g)
{
	SfxFilterPlan plan;

	sfx_filters_touched(g->has_node ? &g->node : NULL, g->from, g->to, &plan);
	return plan.nold;
}

/* Swap the pages, and make the filters over them as far as the record has room. */
static void
swap_group(SfxGroup *g, const Pack *p, bool progress)
{
	SfxFilterPlan *plan = palloc(sizeof(SfxFilterPlan));
	SfxNode    *node = g->has_node ? &g->node : NULL;
	int			room = SFX_GROUP_BLOCKS - 1 - blocks_needed(g, p, 0);

	sfx_filters_plan(g->index, g->order, g->meta, g->run, node, g->from, g->to, p->leaf, p->n, room, plan);
	sfx_tree_swap(g->index, g->order, g->meta, g->run, node, g->from, g->to, p->leaf, p->n, progress, &g->horizon, plan);
}

/* Take in neighbours on both sides until there are SFX_GROUP_LEAVES. False: there are none to take. */
static bool
widen_group(SfxGroup *g)
{
	int			before = g->to - g->from;

	if (!g->has_node || before >= SFX_GROUP_LEAVES)
		return false;
	g->to = Min(g->from + SFX_GROUP_LEAVES, g->node.nchildren);
	g->from = Max(0, g->to - SFX_GROUP_LEAVES);
	return g->to - g->from > before;
}

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
			pos = entry_pos(e);
			g->resume = sfx_pos_copy(&pos);
		}
		return;
	}
	g->resume_inf = !sfx_group_high(g, &pos);
	if (!g->resume_inf)
		g->resume = sfx_pos_copy(&pos);
}

/* Where the merge of the source goes on, for the metapage.  At its end the position before stays: what ends it is the drop. */
static void
note_progress(SfxGroup *g, const SfxSource *src, const SfxMergeStats *stats)
{
	SfxResume  *r = &g->meta->resume[src->run != 0 ? SFX_RESUME_RUN : SFX_RESUME_GEN];
	uint32		source = src->run != 0 ? src->run : g->meta->gens[src->g].gen;
	SfxHorizon	horizon;

	if (r->source != source)
	{
		memset(r, 0, sizeof(*r));
		r->source = source;
	}
	r->target = g->run;
	/* whoever goes on may find an image that does not know any more what was taken out of it */
	horizon.xid = r->horizon;
	horizon.catalog = r->catalog;
	sfx_horizon_raise(&horizon, &stats->horizon);
	sfx_horizon_raise(&horizon, &src->horizon);
	r->horizon = horizon.xid;
	r->catalog = horizon.catalog;
	if (g->resume_inf || (g->resume.len > SFX_RESUME_KEY && g->order != NULL))
		return;
	/* in byte order a prefix stands below what it is a prefix of */
	r->len = Min(g->resume.len, SFX_RESUME_KEY);
	r->tid = g->resume.len > SFX_RESUME_KEY ? 0 : g->resume.tid;
	memset(r->key, 0, SFX_RESUME_KEY);
	memcpy(r->key, g->resume.key, r->len);
}

/*
 * Pages after which a group takes nothing more: what one record has room for beside the parent, which may be split, and what is above
 * it; fewer where there are filters, whose pages count, too.
 */
static int
most_pages(const SfxGroup *g)
{
	Pack		none = {.n = 0};
	SfxFilterSpec spec;
	int			room = SFX_GROUP_BLOCKS - 1 - (blocks_needed(g, &none, 0) - (g->to - g->from));

	sfx_opt_filter(g->index, &spec);
	if (g->has_node && (spec.kind != SFX_FILTER_NONE || old_filters(g) > 0))
		room = room * 2 / 3;
	return Max(Min(room - MERGE_ROOM, MERGE_PAGES), 2 * MERGE_ROOM);
}

/* What one rewriting of a group has done. */
static void
count_step(const Pack *p, SfxMergeStats *step)
{
	int			nold = p->group->to - p->group->from;

	step->taken = p->taken;
	step->removed = p->removed;
	step->entries = p->after - p->before;
	step->leaves = p->n - nold;
	step->groups = 1;
	step->written = p->n;
}

void
sfx_group_rewrite(SfxGroup *g, SfxSource *src, IndexBulkDeleteCallback filter, void *arg,
				  SfxMergeStats *stats)
{
	Pack	   *p = palloc0(sizeof(Pack));
	SfxMergeStats step = {0};
	SfxPos		start = {0};
	bool		may_widen = src != NULL;
	int			from = g->from,
				to = g->to;

	p->group = g;
	p->src = src;
	p->filter = filter;
	p->arg = arg;
	p->max_taken = PG_UINT64_MAX;
	p->versions.heap = src ? g->heap : NULL;
	p->dict = sfx_dict_for_writing(g->index, g->meta, &p->dictno);
	p->sample = stats->sample;
	if (src)
	{
		SfxPos		first = entry_pos(sfx_source_peek(src));

		start = sfx_pos_copy(&first);
		p->grow = true;
	}
	p->most_pages = most_pages(g);
	for (;;)
	{
		bool		fits = pack_group(p) && blocks_needed(g, p, old_filters(g)) < SFX_GROUP_BLOCKS;

		if (p->grow)
			to = g->to;
		p->grow = false;
		if (fits && (p->n <= g->to - g->from || !p->inside || !may_widen || !widen_group(g)) &&
			!sfx_versions_ask(&p->versions, g->index, &g->horizon))
			break;
		if (!fits)
		{
			/* without the neighbours, then a smaller group (the source starts in its first leaf), then fewer new entries */
			may_widen = false;
			if (g->joined)
				from++;
			if (g->joined || g->from != from || g->to != to)
			{
				g->joined = false;
				g->from = from;
				g->to = to;
			}
			else if (g->to - g->from > 1)
				to = g->to = from + (to - from) / 2;
			else if (src && p->taken > 1)
				p->max_taken = p->taken / 2;
			else
				elog(ERROR, "surfidx: a leaf of index \"%s\" cannot be rewritten", RelationGetRelationName(g->index));
		}
		if (src)
			(void) sfx_source_seek(src, &start);
	}
	set_resume(g, src);
	count_step(p, &step);
	if (src)
	{
		sfx_count_tree_stats(sfx_meta_run(g->index, g->meta, g->run), &step);
		note_progress(g, src, stats);
	}
	swap_group(g, p, src != NULL);
	stats->taken += step.taken;
	stats->removed += step.removed;
	stats->entries += step.entries;
	stats->leaves += step.leaves;
	stats->groups += step.groups;
	stats->written += step.written;
	stats->rests += p->rests;
	stats->stored += p->stored;
	stats->last_entries = p->leaf[p->n - 1].len < LAST_PAGE_SPARSE ? p->leaf[p->n - 1].nentries : 0;
}

/* The node is as it was before the swap: its children behind the group are still the ones that it had. */
void
sfx_group_prefetch(const SfxGroup *g, const SfxSource *src)
{
	int			child = g->to;
	int			asked = 0;

	if (!g->has_node)
		return;
	for (int i = src->at; i < src->n && child < g->node.nchildren && asked < PREFETCH_LEAVES;)
	{
		SfxPos		pos = entry_pos(&src->entry[i]);
		SfxPos		high;

		if (sfx_order_cmp_pos(g->order, &pos, &g->node.children[child].low) < 0)
			i++;
		else
		{
			if (!child_high(g, child, &high) || sfx_order_cmp_pos(g->order, &pos, &high) < 0)
			{
				(void) PrefetchBuffer(g->index, MAIN_FORKNUM, g->node.children[child].blkno);
				asked++;
			}
			child++;
		}
	}
}
