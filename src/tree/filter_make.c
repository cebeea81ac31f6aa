/*-------------------------------------------------------------------------
 * filter_make.c - filter pages: over which leaves, and when they are made
 *
 * A filter page covers the positions of up to SFX_FILTER_LEAVES neighbouring leaves below one
 * parent, which names it beside their downlinks (F1).  The record that changes a leaf replaces or
 * unlinks the filter over it (F2), so a live filter page speaks for the leaves as they are (F3).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "dict.h"
#include "filter.h"
#include "filter_make.h"
#include "find.h"
#include "inner.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "settings.h"
#include "surf.h"
#include "wal.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/rel.h"

#define FIRST_GUESS_BITS	12	/* bits of a key in a SuRF without suffixes, until one was made */

/*
 * The kind of filter that such keys can have, where `kind` is asked for.  A SuRF is a trie of bytes
 * in their order; hashes find a key only where equal keys have equal bytes.
 */
static int
possible_kind(const SfxKeyDesc *kd, int kind)
{
	if (kind == SFX_FILTER_SURF && kd->comparator)
		kind = SFX_FILTER_BLOOM;
	if (kind == SFX_FILTER_BLOOM && (!kd->image_equal || kd->nrests > 0))
		kind = SFX_FILTER_NONE;
	return kind;
}

/*
 * The filter that the index's storage parameters ask for, or the kind that its keys can have
 * instead.
 */
static void
filter_spec(Relation index, SfxFilterSpec *spec)
{
	SfxKeyDesc *kd;

	sfx_opt_filter(index, spec);
	if (spec->kind == SFX_FILTER_NONE)
		return;
	kd = palloc(sizeof(SfxKeyDesc));
	sfx_keydesc_init(kd, index);
	spec->kind = possible_kind(kd, spec->kind);
	pfree(kd);
}

void
sfx_filter_notice(Relation index)
{
	SfxKeyDesc *kd;
	SfxFilterSpec spec;
	int			kind,
				col = 0;

	sfx_opt_filter(index, &spec);
	if (spec.kind == SFX_FILTER_NONE)
		return;
	kd = palloc(sizeof(SfxKeyDesc));
	sfx_keydesc_init(kd, index);
	kind = possible_kind(kd, spec.kind);
	while (col < kd->nkeys - 1 && !kd->col[col].raw)
		col++;
	if (kind == SFX_FILTER_NONE)
		ereport(NOTICE,
				(errmsg("index \"%s\" can have no filter", RelationGetRelationName(index)),
				 errdetail("Equal values of its columns may have different bytes, which hashes cannot tell."),
				 kd->comparator ? 0 : errhint("With filter = surf it has one.")));
	else if (kind != spec.kind)
		ereport(NOTICE,
				(errmsg("index \"%s\" gets Bloom filters in place of SuRFs", RelationGetRelationName(index)),
				 errdetail("Column \"%s\" is compared by a function, but a SuRF needs keys whose bytes are in order.",
						   NameStr(TupleDescAttr(RelationGetDescr(index), col)->attname)),
				 errhint("Bloom filters answer for single keys only, with all columns given, and not for ranges.")));
	pfree(kd);
}

/* ---- making ---- */

/* A maker of filters over neighbouring leaves, one after the other. */
typedef struct Maker
{
	Relation	index;
	const SfxOrder *order;
	SfxFilterSpec spec;
	double		bits;			/* that an entry takes, by the last filter made */
	void		(*open) (void *ctx, int i, SfxLeaf *leaf);	/* opens leaf number i, valid until the
															 * next one is opened */
	void	   *ctx;
	SfxBlock   *block;			/* room for a decoded block */
} Maker;

/* As SfxSurfAlloc.resize: palloc, in the context ctx, of any size. */
static void *
resize(void *ctx, void *old, size_t oldsize, size_t newsize)
{
	if (newsize == 0)
	{
		if (old)
			pfree(old);
		return NULL;
	}
	return old ? repalloc_huge(old, newsize) : MemoryContextAllocHuge((MemoryContext) ctx, newsize);
}

/* Memory: the current context.  open, ctx: how the maker gets at the leaves. */
static void
maker_init(Maker *m, Relation index, const SfxOrder *order, const SfxFilterSpec *spec,
		   void (*open) (void *ctx, int i, SfxLeaf *leaf), void *ctx)
{
	m->index = index;
	m->order = order;
	m->spec = *spec;
	m->bits = spec->kind == SFX_FILTER_BLOOM ? SFX_BLOOM_BITS : FIRST_GUESS_BITS + spec->hashbits + spec->realbits;
	m->open = open;
	m->ctx = ctx;
	m->block = palloc(sizeof(SfxBlock));
}

/* Add the keys of a leaf to the filter. */
static void
add_leaf(Maker *m, SfxFilterBuild *b, const SfxLeaf *leaf)
{
	for (int i = 0; i < leaf->nblocks; i++)
	{
		SfxBlock   *block = m->block;

		if (sfx_leaf_decode(leaf, i, NULL, NULL, block) < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INDEX_CORRUPTED),
					 errmsg("index \"%s\" is damaged: a leaf block cannot be decoded", RelationGetRelationName(m->index)),
					 errhint("Please REINDEX it.")));
		for (int k = 0; k < block->nkeys; k++)
			if (sfx_filter_add(b, block->keys + block->keyoff[k], block->keyoff[k + 1] - block->keyoff[k]) < 0)
				return;			/* sfx_filter_finish will say so again */
	}
}

/*
 * Make one filter over leaves [at, at + k); returns its length in body, or SFX_NOSPACE.  Over cut
 * leaves there is none (F2): *cut becomes the number of leaves before the first of them.
 */
static int
make_over(Maker *m, const SfxChild *c, int at, int k, const SfxPos *high, uint8 *body,
		  int *cut)
{
	SfxFilterBuild b;
	SfxSurfAlloc alloc = {.ctx = CurrentMemoryContext,.resize = resize};
	int			len;

	sfx_filter_build_init(&b, &m->spec, &alloc);
	for (int i = at; i < at + k; i++)
	{
		SfxLeaf		leaf;

		CHECK_FOR_INTERRUPTS();
		m->open(m->ctx, i, &leaf);
		if (leaf.cut)
		{
			*cut = i - at;
			sfx_filter_build_free(&b);
			return SFX_NOSPACE;
		}
		add_leaf(m, &b, &leaf);
	}
	len = sfx_filter_finish(&b, &c[at].low, high, m->order, body, SFX_BODY_CAPACITY);
	sfx_filter_build_free(&b);
	if (len == SFX_CORRUPT)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" is damaged: keys of a leaf are out of order", RelationGetRelationName(m->index)),
				 errhint("Please REINDEX it.")));
	return len;
}

/*
 * Make a filter over leaves from number `at` on.  c[0..n): the low fences and numbers of entries of
 * all leaves; high: the last one's high fence (NULL: infinity).  It is to cover about `entries`
 * entries, at most.  Returns how many leaves it covers, 0 if leaf `at` can have no filter; the body
 * (SFX_BODY_CAPACITY bytes), and its length.
 */
static int
make_filter(Maker *m, const SfxChild *c, int n, int at, const SfxPos *high, double entries, uint8 *body, uint32 *len)
{
	int			limit = SFX_FILTER_LEAVES;

	for (;;)
	{
		double		room = Min(entries, SFX_BODY_CAPACITY * 8.0 / m->bits);
		double		sum = 0;
		int			k = 0;
		int			cut = -1;
		int			size;

		while (at + k < n && k < limit)
		{
			const SfxPos *end = at + k + 1 < n ? &c[at + k + 1].low : high;

			if (c[at + k].low.len > SFX_FILTER_MAXFENCE || (end && end->len > SFX_FILTER_MAXFENCE) ||
				(k > 0 && sum + c[at + k].count > room))
				break;
			sum += c[at + k++].count;
		}

		/*
		 * not worth a try: a Bloom filter's size is known, and no SuRF is smaller than one or two
		 * bits a key
		 */
		if (k == 0 || (k == 1 && m->spec.kind == SFX_FILTER_BLOOM && sum > 2 * SFX_BODY_CAPACITY * 8))
			return 0;
		size = make_over(m, c, at, k, at + k < n ? &c[at + k].low : high, body,
						 &cut);
		if (size >= 0)
		{
			if (sum > 0)
				m->bits = Max(1.0, size * 8.0 / sum * 1.03);
			*len = size;
			return k;
		}
		if (k == 1 || cut == 0)
			return 0;
		if (cut > 0)
		{
			limit = cut;
			continue;
		}
		m->bits *= 1.15;
		limit = k - 1;
	}
}

/* ---- with a build ---- */

/* The leaves of a build that are being covered. */
typedef struct BuiltLeaves
{
	Relation	index;
	const SfxOrder *order;
	const SfxMeta *meta;
	const SfxChild *c;
	char	   *copy;
} BuiltLeaves;

/* As Maker.open, for leaves that the build has written. */
static void
open_built_leaf(void *ctx, int i, SfxLeaf *leaf)
{
	BuiltLeaves *bl = ctx;

	sfx_leaf_copy(SfxTreeOf(bl->index, bl->order, bl->meta, SfxMetaMain(bl->meta)->id),
				  bl->c[i].blkno, NULL, bl->copy, leaf);
	sfx_dict_attach_listed(bl->index, bl->meta, bl->c[i].blkno, leaf);
}

/*
 * Write a filter's page as the file's next block, which is to be blkno.  Not logged: the build logs
 * the file at its end.
 */
static void
write_built_page(Relation index, const SfxMeta *meta, BlockNumber blkno, const uint8 *body, uint32 len)
{
	Buffer		buf = SfxExtendRelation(index);

	if (BufferGetBlockNumber(buf) != blkno)
		elog(ERROR, "surfidx: block %u of index \"%s\" was expected to be new, got %u",
			 blkno, RelationGetRelationName(index), BufferGetBlockNumber(buf));
	sfx_page_init(BufferGetPage(buf), SFX_PAGE_FILTER, meta->build_id, SfxMetaMain(meta)->id, 0);
	sfx_page_set_body(BufferGetPage(buf), body, len);
	MarkBufferDirty(buf);
	UnlockReleaseBuffer(buf);
}

SfxChildFile *
sfx_filters_build(Relation index, const SfxOrder *order, const SfxMeta *meta, SfxChildFile *leaves,
				  BlockNumber *next)
{
	BuiltLeaves bl = {.index = index,.order = order,.meta = meta};
	SfxFilterSpec spec;
	Maker		m;
	SfxChildFile *named;
	SfxChildWindow w;
	uint8	   *body;
	uint32		len;

	filter_spec(index, &spec);
	/* where the root is a leaf there is no parent that could name a filter */
	if (spec.kind == SFX_FILTER_NONE || sfx_child_file_count(leaves) < 2)
		return leaves;
	body = palloc(SFX_BODY_CAPACITY);
	bl.copy = palloc(BLCKSZ);
	maker_init(&m, index, order, &spec, open_built_leaf, &bl);
	named = sfx_child_file_create(index);
	sfx_child_window_begin(&w, leaves);
	for (;;)
	{
		int			k;

		CHECK_FOR_INTERRUPTS();
		/* and the leaf after them, whose low fence ends the filter */
		sfx_child_window_fill(&w, SFX_FILTER_LEAVES + 1);
		if (w.n == 0)
			break;
		bl.c = w.child;
		k = make_filter(&m, w.child, w.n, 0, NULL, SfxMetaMain(meta)->entries, body, &len);
		for (int i = 0; i < Max(k, 1); i++)
		{
			w.child[i].filter = k > 0 ? *next : 0;
			sfx_child_file_put(named, &w.child[i]);
		}
		if (k > 0)
			write_built_page(index, meta, (*next)++, body, len);
		sfx_child_window_drop(&w, Max(k, 1));
	}
	sfx_child_window_end(&w);
	sfx_child_file_end(leaves);
	pfree(m.block);
	pfree(bl.copy);
	pfree(body);
	return named;
}

/* ---- with a swap ---- */

void
sfx_filters_touched(const SfxNode *node, int from, int to, SfxFilterPlan *plan)
{
	plan->first = from;
	plan->end = to;
	plan->nold = plan->n = 0;
	if (node == NULL)
		return;
	while (plan->first > 0 && node->children[from].filter != 0 &&
		   node->children[plan->first - 1].filter == node->children[from].filter)
		plan->first--;
	while (plan->end < node->nchildren && node->children[to - 1].filter != 0 &&
		   node->children[plan->end].filter == node->children[to - 1].filter)
		plan->end++;
	for (int i = plan->first; i < plan->end; i++)
		if (node->children[i].filter != 0 && (i == plan->first || node->children[i].filter != node->children[i - 1].filter))
		{
			if (plan->nold == SFX_GROUP_BLOCKS)
				elog(ERROR, "surfidx: a group of leaves has too many filters");
			plan->old[plan->nold++] = node->children[i].filter;
		}
}

/* The leaves that get filters at a swap: some are there already, some are new. */
typedef struct SwapLeaves
{
	const SfxTree *tree;
	const SfxChild *c;
	int			from;			/* the new ones: numbers [from, to) */
	int			to;
	const SfxNewLeaf *leaves;
	char	   *copy;			/* a page's room */
} SwapLeaves;

/* As Maker.open, for the leaves of a swap. */
static void
open_swap_leaf(void *ctx, int i, SfxLeaf *leaf)
{
	SwapLeaves *sl = ctx;

	if (i < sl->from || i >= sl->to)
		sfx_leaf_copy(sl->tree, sl->c[i].blkno, NULL, sl->copy, leaf);
	else if (sfx_leaf_open(leaf, sl->leaves[i - sl->from].body, sl->leaves[i - sl->from].len,
						   sl->tree->order) < 0)
		elog(ERROR, "surfidx: a new leaf of index \"%s\" cannot be read",
			 RelationGetRelationName(sl->tree->index));
	sfx_dict_attach_listed(sl->tree->index, sl->tree->meta, sl->c[i].blkno, leaf);
}

/*
 * The bits that an entry takes in the filter in block blkno, which is about to be replaced; 0:
 * unknown.
 */
static double
bits_of_old(Relation index, const SfxOrder *order, BlockNumber blkno)
{
	Buffer		buf = sfx_read_linked(index, blkno, NULL);
	Page		page = BufferGetPage(buf);
	SfxFilter	f;
	double		bits = 0;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	if (sfx_page_check(index, blkno, page) && SfxPageGetTail(page)->kind == SFX_PAGE_FILTER &&
		sfx_filter_open(&f, SfxPageBody(page), SfxPageBodyLen(page), order) == SFX_OK && f.nkeys > 0)
		bits = SfxPageBodyLen(page) * 8.0 / f.nkeys;
	UnlockReleaseBuffer(buf);
	return bits;
}

/*
 * The children [plan->first, plan->end) as they will be: the new leaves in place of [from, to).
 * Their number in *total.
 */
static SfxChild *
list_leaves(const SfxNode *node, const SfxFilterPlan *plan, int from, int to, const SfxNewLeaf *leaves, int n, int *total)
{
	SfxChild   *c = palloc0(sizeof(SfxChild) * (plan->end - plan->first - (to - from) + n));
	int			k = 0;

	for (int i = plan->first; i < from; i++)
		c[k++] = node->children[i];
	for (int i = 0; i < n; i++)
	{
		c[k].low = leaves[i].low;
		c[k].blkno = InvalidBlockNumber;
		c[k++].count = leaves[i].nentries;
	}
	for (int i = to; i < plan->end; i++)
		c[k++] = node->children[i];
	*total = k;
	return c;
}

void
sfx_filters_plan(const SfxTree *t, const SfxNode *node, int from, int to,
				 const SfxNewLeaf *leaves, int n, int room, SfxFilterPlan *plan)
{
	SfxFilterSpec spec;
	Maker		m;
	SwapLeaves	sl = {.tree = t,.leaves = leaves};
	const SfxPos *high = NULL;
	SfxChild   *c;
	int			total;
	double		left = 0;
	bool		at_end;

	Assert(sfx_merge_lock_held(t->index));
	sfx_filters_touched(node, from, to, plan);
	filter_spec(t->index, &spec);
	/* where the root stays a leaf there is no parent that could name a filter */
	if (spec.kind == SFX_FILTER_NONE || (node == NULL && n == 1))
		return;
	c = list_leaves(node, plan, from, to, leaves, n, &total);
	if (node && plan->end < node->nchildren)
		high = &node->children[plan->end].low;
	else if (node && !node->high_inf)
		high = &node->high;
	at_end = high == NULL;
	for (int i = 0; i < total; i++)
		left += c[i].count;
	sl.c = c;
	sl.from = from - plan->first;
	sl.to = sl.from + n;
	sl.copy = palloc(BLCKSZ);
	maker_init(&m, t->index, t->order, &spec, open_swap_leaf, &sl);
	if (plan->nold > 0 && spec.kind == SFX_FILTER_SURF)
	{
		double		bits = bits_of_old(t->index, t->order, plan->old[0]);

		if (bits > 0)
			m.bits = bits * 1.05;
	}
	for (int at = 0; at < total && plan->n < Min(room, SFX_GROUP_BLOCKS);)
	{
		SfxFilterPage *p = &plan->page[plan->n];
		double		pages = ceil(left * m.bits / (SFX_BODY_CAPACITY * 8.0));
		int			k;

		p->body = palloc(SFX_BODY_CAPACITY);

		/*
		 * equal shares; but if keys ascend, all filters but the last are full, as their leaves
		 * will not grow
		 */
		k = make_filter(&m, c, total, at, high, at_end ? left : left / Max(pages, 1) * 1.05, p->body, &p->len);
		if (k > 0)
		{
			p->first = at;
			p->n = k;
			plan->n++;
		}
		else
			k = 1;
		while (k-- > 0)
			left -= c[at++].count;
	}
	pfree(sl.copy);
	pfree(m.block);
}

/* ---- reading ---- */
