/*-------------------------------------------------------------------------
 * check.c - surfidx_check(): every invariant that the pages have, and the index against its table
 *
 * The check copies one page at a time and looks at the copy, so that it never holds a buffer lock while it works or
 * reports.  Its order is the one in which entries move (log, then tree), so that no entry escapes it.
 *
 *	1. metapage and gates
 *	2. each generation: its chain of log pages, then its image against the log
 *	3. each level of the tree from the root down, along right links, beside the level above
 *	4. every block that nobody owns so far is a free one
 *	5. heapallindexed: every row that a snapshot taken before 1 sees has its entry
 *
 * On a primary the merge lock keeps the tree and the list of generations as they are; what may change meanwhile
 * is that the active generation grows and that VACUUM flags log entries.  On a standby replay stops for
 * nobody: there a violation counts only if replay stood still meanwhile, or if it is found twice.
 *-------------------------------------------------------------------------
 */
#include "merge.h"
#include "tree.h"

#include <stdarg.h>

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "catalog/index.h"
#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "lib/bloomfilter.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(surfidx_check);

#define CHECK_TRIES			20	/* on a standby */
#define MAX_TREE_LEVEL		32
#define CHECK_INTERVAL		1024	/* entries between two looks at interrupts */

typedef struct Check
{
	Relation	heap;
	Relation	index;
	SfxMeta		meta;
	SfxKeyDesc	kd;
	const SfxOrder *order;
	BufferAccessStrategy strategy;
	BlockNumber nblocks;		/* blocks that owned has bits for */
	uint8	   *owned;			/* bit per block: somebody leads to it */
	bloom_filter *filter;		/* of (key, TID); NULL: not asked for */
	uint32		last_seq;		/* of the active generation's last page seen */
	bool		active_seen;	/* ... if it has pages */
	uint64		max_tid;		/* greatest TID of all entries, and a block it stands on */
	BlockNumber max_tid_blkno;
	SfxBlock   *block;
	void	   *scratch;		/* for sfx_inner_verify */
	char	   *arena;			/* for decoded keys */
	MemoryContext rowcxt;		/* for what the encoding of a row allocates */
	PGAlignedBlock page;		/* the page in hand */
} Check;

/* A generation's log entries as hashes: undead[0..nundead) from the front, dead ones from the back. */
typedef struct LogHashes
{
	uint64	   *hash;
	uint64		size;			/* log entries that the image has seen */
	uint64		nundead;
	uint64		ndead;
} LogHashes;

/* The level above, read along beside the level that is checked. */
typedef struct Parents
{
	int			level;
	BlockNumber right;
	int			n;
	int			at;
	SfxChild   *children;
	MemoryContext cxt;
} Parents;

pg_noreturn static void broken(Check *cs, BlockNumber blkno, const char *fmt,...) pg_attribute_printf(3, 4);

static void
broken(Check *cs, BlockNumber blkno, const char *fmt,...)
{
	char		what[512];
	va_list		args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	sfx_corrupt(cs->index, blkno, what);
}

/* ---- blocks ---- */

/* Make room in owned for a file that has grown. */
static void
grow_owned(Check *cs, BlockNumber nblocks)
{
	Size		oldlen = cs->owned ? (Size) cs->nblocks / 8 + 1 : 0;
	Size		newlen = (Size) nblocks / 8 + 1;

	cs->owned = cs->owned ? repalloc_huge(cs->owned, newlen) :
		MemoryContextAllocHuge(CurrentMemoryContext, newlen);
	memset(cs->owned + oldlen, 0, newlen - oldlen);
	cs->nblocks = nblocks;
}

static bool
is_owned(Check *cs, BlockNumber blkno)
{
	return (cs->owned[blkno / 8] & (1 << (blkno % 8))) != 0;
}

/* Block blkno, to which block from leads, is taken: it must exist and be nobody else's.  Ends every cycle of links. */
static void
own_block(Check *cs, BlockNumber from, BlockNumber blkno)
{
	if (blkno >= cs->nblocks)
	{
		BlockNumber now = RelationGetNumberOfBlocks(cs->index);

		if (blkno >= now)
			broken(cs, from, "link to block %u beyond the end of the file, which has %u blocks", blkno, now);
		grow_owned(cs, now);
	}
	if (is_owned(cs, blkno))
		broken(cs, from, "link to block %u, which has another owner already", blkno);
	cs->owned[blkno / 8] |= 1 << (blkno % 8);
}

/* Copy a page to cs->page, checked as far as sfx_page_check goes.  NULL: it is new. */
static SfxPageTail *
copy_page(Check *cs, BlockNumber blkno)
{
	Buffer		buf;

	CHECK_FOR_INTERRUPTS();
	buf = ReadBufferExtended(cs->index, MAIN_FORKNUM, blkno, RBM_NORMAL, cs->strategy);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(cs->page.data, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	return sfx_page_check(cs->index, blkno, cs->page.data) ? SfxPageGetTail(cs->page.data) : NULL;
}

/* ---- entries ---- */

static uint64
entry_hash(const SfxEntry *e)
{
	uint64		h = hash_bytes_extended(e->key, e->keylen, e->tid);

	return e->paylen > 0 ? hash_bytes_extended(e->payload, e->paylen, h) : h;
}

static void
remember_entry(bloom_filter *filter, const uint8 *key, uint32 keylen, uint64 tid)
{
	uint8		bytes[SFX_MAX_ENTRY + 6];

	memcpy(bytes, key, keylen);
	sfx_put_tid(bytes + keylen, tid);
	bloom_add_element(filter, bytes, keylen + 6);
}

/* The decoders of keys do not know the block. */
static void
decode_context(void *arg)
{
	errcontext("checking block %u", *(BlockNumber *) arg);
}

static void
check_bytes(Check *cs, BlockNumber blkno, const SfxEntry *e)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	ErrorContextCallback context = {.callback = decode_context,.arg = &blkno,.previous = error_context_stack};

	error_context_stack = &context;
	sfx_key_decode(&cs->kd, cs->index, e->key, e->keylen, cs->kd.nkeys, values, isnull, cs->arena);
	if (e->paylen > 0)
		sfx_payload_decode(&cs->kd, cs->index, e->payload, e->paylen, values, isnull, cs->arena);
	error_context_stack = context.previous;
}

/* What every entry has to satisfy wherever it stands. */
static void
check_entry(Check *cs, BlockNumber blkno, const SfxEntry *e, bool dead)
{
	if (e->keylen < 1)
		broken(cs, blkno, "entry without a key");
	if (SFX_TID_OFFSET(e->tid) == 0 || SFX_TID_BLOCK(e->tid) == InvalidBlockNumber)
		broken(cs, blkno, "entry with the impossible TID (%u,%u)", SFX_TID_BLOCK(e->tid), SFX_TID_OFFSET(e->tid));
	if ((e->paylen > 0) != (cs->kd.natts > cs->kd.nkeys))
		broken(cs, blkno, "entry with %u bytes of INCLUDE columns in an index with %d of them",
			   e->paylen, cs->kd.natts - cs->kd.nkeys);
	check_bytes(cs, blkno, e);
	if (dead)
		return;
	if (e->tid > cs->max_tid)
	{
		cs->max_tid = e->tid;
		cs->max_tid_blkno = blkno;
	}
	if (cs->filter)
		remember_entry(cs->filter, e->key, e->keylen, e->tid);
}

/* ---- 1. metapage and gates ---- */

static void
check_generation_list(Check *cs)
{
	SfxMeta    *m = &cs->meta;

	for (int g = 0; g < m->ngens; g++)
	{
		SfxGen	   *gen = &m->gens[g];

		if (gen->gen != m->gens[0].gen - g)
			broken(cs, SFX_META_BLKNO, "generation %u stands where %u should", gen->gen, m->gens[0].gen - g);
		if ((gen->first == InvalidBlockNumber) != (gen->tail == InvalidBlockNumber) ||
			(gen->first == InvalidBlockNumber) != (gen->pages == 0))
			broken(cs, SFX_META_BLKNO, "generation %u has %u pages from block %u to block %u",
				   gen->gen, gen->pages, gen->first, gen->tail);
		/* a frozen one may have no entries: frozen between its first page and the first append, but it has the page */
		if (g > 0 && gen->pages == 0)
			broken(cs, SFX_META_BLKNO, "frozen generation %u has no pages", gen->gen);
		if (g == 0 && gen->sealed != 0)
			broken(cs, SFX_META_BLKNO, "active generation %u is sealed", gen->gen);
	}
	if (m->next_gen != m->gens[0].gen + 1)
		broken(cs, SFX_META_BLKNO, "the next generation is %u and the active one %u", m->next_gen, m->gens[0].gen);
}

static void
check_meta(Check *cs)
{
	SfxMeta    *m = &cs->meta;
	SfxRun	   *run;

	sfx_meta_read(cs->index, m);
	run = SfxMetaMain(m);
	if (m->version != SFX_FORMAT_VERSION)
		broken(cs, SFX_META_BLKNO, "format version %u", m->version);
	check_generation_list(cs);
	if (m->nruns != 1)
		broken(cs, SFX_META_BLKNO, "%u runs where there can be one only", m->nruns);
	if (run->id == 0 || run->id >= m->next_run)
		broken(cs, SFX_META_BLKNO, "run %u with %u as the next one", run->id, m->next_run);
	if (run->level > MAX_TREE_LEVEL || run->root < SFX_FIRST_BLKNO)
		broken(cs, SFX_META_BLKNO, "root at block %u of level %u", run->root, run->level);

	for (BlockNumber blkno = SFX_META_BLKNO; blkno < SFX_FIRST_BLKNO; blkno++)
	{
		SfxPageTail *tail;

		own_block(cs, SFX_META_BLKNO, blkno);
		tail = copy_page(cs, blkno);
		if (tail == NULL || tail->kind != (blkno == SFX_META_BLKNO ? SFX_PAGE_META : SFX_PAGE_GATE))
			broken(cs, blkno, blkno == SFX_META_BLKNO ? "not a metapage" : "not a gate page");
		if (tail->build_id != m->build_id)
			broken(cs, blkno, "page of another build");
	}
}

/* ---- 2. the delta ---- */

static void
note_hash(LogHashes *lh, const SfxEntry *e, bool dead)
{
	if (lh->nundead + lh->ndead == lh->size)
		return;					/* younger than the image */
	if (dead)
		lh->hash[lh->size - ++lh->ndead] = entry_hash(e);
	else
		lh->hash[lh->nundead++] = entry_hash(e);
}

/* The entries of the log page in hand; their number. */
static uint32
check_log_entries(Check *cs, BlockNumber blkno, LogHashes *lh)
{
	SfxEntry	e;
	bool		dead;
	uint32		off = 0;
	uint32		n = 0;

	while (sfx_log_parse(cs->index, blkno, cs->page.data, &off, &e, &dead))
	{
		check_entry(cs, blkno, &e, dead);
		note_hash(lh, &e, dead);
		n++;
	}
	return n;
}

/* One page of a chain; the block to its right. */
static BlockNumber
check_log_page(Check *cs, const SfxGen *gen, bool frozen, BlockNumber blkno, uint32 seq, uint64 *total, LogHashes *lh)
{
	SfxPageTail *tail = copy_page(cs, blkno);
	SfxLogHeader *h = (SfxLogHeader *) SfxPageBody(cs->page.data);
	bool		sealed;
	uint32		n;

	if (tail == NULL || !sfx_log_page_is(cs->index, blkno, cs->page.data, cs->meta.build_id, gen->gen))
		broken(cs, blkno, "not a log page of generation %u", gen->gen);
	if (h->seq != seq)
		broken(cs, blkno, "log page number %u of generation %u says that it is number %u", seq, gen->gen, h->seq);
	if (h->before != *total)
		broken(cs, blkno, "log page counts " UINT64_FORMAT " entries before it, there are " UINT64_FORMAT,
			   h->before, *total);
	sealed = (tail->flags & SFX_LOG_SEALED) != 0;
	if (sealed != (frozen && tail->right == InvalidBlockNumber))
		broken(cs, blkno, "log page is %s", sealed ? "sealed before the end of a frozen generation" :
			   "the last one of a frozen generation but not sealed");
	n = check_log_entries(cs, blkno, lh);
	if (n != h->nentries)
		broken(cs, blkno, "log page says that it has %u entries, it has %u", h->nentries, n);
	if ((seq + 1 == gen->pages) != (blkno == gen->tail))
		broken(cs, blkno, "log page number %u of %u, while the metapage has block %u as the last one",
			   seq + 1, gen->pages, gen->tail);
	*total += n;
	return tail->right;
}

/* The chain of generation number g.  The active one may be longer than the metapage said when it was read. */
static void
check_log_chain(Check *cs, int g, LogHashes *lh)
{
	SfxGen	   *gen = &cs->meta.gens[g];
	bool		frozen = g > 0;
	BlockNumber from = SFX_META_BLKNO;
	BlockNumber blkno = gen->first;
	uint64		total = 0;
	uint32		seq = 0;

	while (blkno != InvalidBlockNumber)
	{
		BlockNumber right;

		own_block(cs, from, blkno);
		right = check_log_page(cs, gen, frozen, blkno, seq, &total, lh);
		if (!frozen)
		{
			cs->active_seen = true;
			cs->last_seq = seq;
		}
		from = blkno;
		blkno = right;
		seq++;
	}
	if (seq < gen->pages || (frozen && seq > gen->pages))
		broken(cs, from, "generation %u ends after %u log pages, the metapage counts %u", gen->gen, seq, gen->pages);
	if (frozen && total != gen->sealed)
		broken(cs, from, "generation %u was sealed with " UINT64_FORMAT " entries, its log has " UINT64_FORMAT,
			   gen->gen, gen->sealed, total);
	if (total < lh->size)
		broken(cs, from, "the image of generation %u has seen " UINT64_FORMAT " log entries, there are " UINT64_FORMAT,
			   gen->gen, lh->size, total);
}

/*
 * The entries of an image as hashes, copied out under its lock into out[0..room).  Returns how many there are, which may be more than
 * room; *seen = log entries behind it.
 */
static uint64
read_image(Check *cs, int g, uint64 *out, uint64 room, uint64 *seen)
{
	SfxImage   *img = sfx_image_acquire(cs->index, cs->order, &cs->meta, g);
	const SfxNodeAlloc *a;
	const SfxDelta *d;
	const char *why = NULL;
	SfxCursor	c;
	uint64		n = 0;
	uint64		count;
	int			rc;

	if (img == NULL)
		broken(cs, SFX_META_BLKNO, "generation %u has no log", cs->meta.gens[g].gen);
	d = sfx_image_delta(img, &a);
	*seen = sfx_image_seen(img);
	count = d->nentries;
	rc = sfx_delta_verify(d, a, &why);
	if (rc == SFX_OK && count <= room)
	{
		bool		have = sfx_delta_seek(d, a, NULL, &c);

		for (; have && n < count; have = sfx_delta_next(d, a, &c))
		{
			SfxEntry	e;

			sfx_delta_get(d, a, &c, &e);
			out[n++] = entry_hash(&e);
		}
	}
	sfx_image_release(img);
	if (rc != SFX_OK)
		broken(cs, cs->meta.gens[g].first, "image of generation %u: %s", cs->meta.gens[g].gen, why ? why : "unknown damage");
	return count;
}

static int
cmp_hash(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

/*
 * An image holds every undead entry of the log that it has seen, once.  It may still hold entries that
 * VACUUM has flagged since, but no others.
 */
static void
compare_image(Check *cs, int g, uint64 *image, uint64 n, LogHashes *lh)
{
	uint64	   *undead = lh->hash;
	uint64	   *dead = lh->hash + lh->nundead;
	uint64		i = 0;
	uint64		u = 0;
	uint64		d = 0;
	uint32		gen = cs->meta.gens[g].gen;

	qsort(image, n, sizeof(uint64), cmp_hash);
	qsort(undead, lh->nundead, sizeof(uint64), cmp_hash);
	qsort(dead, lh->ndead, sizeof(uint64), cmp_hash);
	for (; u < lh->nundead; u++)
	{
		if (u > 0 && undead[u] == undead[u - 1])
			broken(cs, cs->meta.gens[g].first, "an entry stands twice in the log of generation %u", gen);
		while (i < n && image[i] < undead[u])
		{
			while (d < lh->ndead && dead[d] < image[i])
				d++;
			if (d == lh->ndead || dead[d] != image[i])
				broken(cs, cs->meta.gens[g].first, "the image of generation %u has an entry that its log has not", gen);
			i++;
		}
		if (i == n || image[i] != undead[u])
			broken(cs, cs->meta.gens[g].first, "the image of generation %u lacks an entry of its log", gen);
		i++;
	}
	for (; i < n; i++)
	{
		while (d < lh->ndead && dead[d] < image[i])
			d++;
		if (d == lh->ndead || dead[d] != image[i])
			broken(cs, cs->meta.gens[g].first, "the image of generation %u has an entry that its log has not", gen);
	}
}

static void
check_generation(Check *cs, int g)
{
	LogHashes	lh = {0};
	uint64	   *image = NULL;
	uint64		room = 0;
	uint64		n;

	if (cs->meta.gens[g].first == InvalidBlockNumber)
		return;
	/* The active image may grow between two looks: some slack, and another try. */
	while ((n = read_image(cs, g, image, room, &lh.size)) > room)
	{
		CHECK_FOR_INTERRUPTS();
		if (image)
			pfree(image);
		room = n + n / 8 + 1024;
		image = MemoryContextAllocHuge(CurrentMemoryContext, room * sizeof(uint64));
	}
	lh.hash = MemoryContextAllocHuge(CurrentMemoryContext, Max(lh.size, 1) * sizeof(uint64));
	check_log_chain(cs, g, &lh);
	compare_image(cs, g, image, n, &lh);
	pfree(lh.hash);
	if (image)
		pfree(image);
}

/* ---- 3. the tree ---- */

static int
collect_parent(void *ctx, int i, const SfxChild *child)
{
	Parents    *ps = ctx;

	ps->children[i] = *child;
	ps->children[i].low = sfx_pos_copy(&child->low);
	return SFX_OK;
}

/* Stand on the first child of the inner page blkno.  The page has been verified when its own level was. */
static void
load_parent(Check *cs, Parents *ps, BlockNumber blkno)
{
	SfxPageTail *tail = copy_page(cs, blkno);
	MemoryContext old;
	SfxInner	inner;

	if (tail == NULL || tail->kind != SFX_PAGE_INNER || tail->level != ps->level ||
		sfx_inner_open(&inner, SfxPageBody(cs->page.data), SfxPageBodyLen(cs->page.data), cs->order) < 0)
		broken(cs, blkno, "not an inner page of level %d", ps->level);
	MemoryContextReset(ps->cxt);
	old = MemoryContextSwitchTo(ps->cxt);
	ps->right = tail->right;
	ps->n = inner.nchildren;
	ps->at = 0;
	ps->children = palloc(sizeof(SfxChild) * inner.nchildren);
	if (sfx_inner_each(&inner, collect_parent, ps) < 0)
		broken(cs, blkno, "inner page separators");
	MemoryContextSwitchTo(old);
}

/* The next downlink to be met; NULL at the end of the level above. */
static const SfxChild *
next_downlink(Check *cs, Parents *ps)
{
	while (ps->at == ps->n)
	{
		if (ps->right == InvalidBlockNumber)
			return NULL;
		load_parent(cs, ps, ps->right);
	}
	return &ps->children[ps->at];
}

/*
 * Page blkno with that low fence against the next downlink.  A page without one is one whose parent was split and not yet
 * posted: right links lead to it, and only inner pages can be so.
 */
static void
check_downlink(Check *cs, Parents *ps, int level, BlockNumber blkno, const SfxPos *low, uint64 count)
{
	const SfxChild *c = next_downlink(cs, ps);

	if (c == NULL || c->blkno != blkno)
	{
		if (level == 0)
			broken(cs, blkno, "leaf without a downlink; the next one leads to block %u", c ? c->blkno : 0);
		if (c && sfx_order_cmp_pos(cs->order, low, &c->low) >= 0)
			broken(cs, blkno, "the level above leads to block %u before this one", c->blkno);
		return;
	}
	if (sfx_order_cmp_pos(cs->order, low, &c->low) != 0)
		broken(cs, blkno, "low fence differs from the downlink's separator");
	if (level == 0 && c->count != count)
		broken(cs, blkno, "the downlink counts " UINT64_FORMAT " entries, the leaf has " UINT64_FORMAT, c->count, count);
	ps->at++;
}

static void
check_leaf_entries(Check *cs, BlockNumber blkno, const SfxLeaf *leaf)
{
	for (int b = 0; b < leaf->nblocks; b++)
	{
		CHECK_FOR_INTERRUPTS();
		if (sfx_leaf_decode(leaf, b, NULL, NULL, cs->block) < 0)
			broken(cs, blkno, "leaf block %d cannot be decoded", b);
		for (int i = 0; i < cs->block->nent; i++)
		{
			SfxEntry	e;

			sfx_block_entry(cs->block, i, &e);
			check_entry(cs, blkno, &e, false);
		}
	}
}

/* What is said about one page of the tree. */
typedef struct TreePage
{
	SfxPos		low;
	SfxPos		high;
	bool		high_inf;
	BlockNumber right;
	BlockNumber first_child;
	uint64		count;			/* leaf: entries */
	uint8		lowbuf[SFX_MAX_ENTRY + 8];
	uint8		highbuf[SFX_MAX_ENTRY + 8];
} TreePage;

static void
check_leaf(Check *cs, BlockNumber blkno, TreePage *tp)
{
	const uint8 *body = SfxPageBody(cs->page.data);
	uint32		len = SfxPageBodyLen(cs->page.data);
	const char *why = NULL;
	SfxLeaf		leaf;

	if (sfx_leaf_verify(body, len, cs->order, cs->block, &why) < 0 || sfx_leaf_open(&leaf, body, len, cs->order) < 0)
		broken(cs, blkno, "leaf: %s", why ? why : "header or directory");
	if (sfx_leaf_fences(&leaf, tp->lowbuf, &tp->low, tp->highbuf, &tp->high, &tp->high_inf) < 0)
		broken(cs, blkno, "leaf fences");
	tp->count = leaf.nentries;
	check_leaf_entries(cs, blkno, &leaf);
}

static void
check_inner(Check *cs, BlockNumber blkno, TreePage *tp)
{
	const uint8 *body = SfxPageBody(cs->page.data);
	uint32		len = SfxPageBodyLen(cs->page.data);
	const char *why = NULL;
	SfxInner	inner;
	uint32_t	child;
	uint64_t	count;

	if (sfx_inner_verify(body, len, cs->order, cs->scratch, &why) < 0 || sfx_inner_open(&inner, body, len, cs->order) < 0)
		broken(cs, blkno, "inner page: %s", why ? why : "header");
	if (sfx_inner_fences(&inner, tp->lowbuf, &tp->low, tp->highbuf, &tp->high, &tp->high_inf) < 0 ||
		sfx_inner_child(&inner, 0, &child, &count) < 0)
		broken(cs, blkno, "inner page fences");
	tp->first_child = child;
	tp->count = 0;
}

static void
check_tree_page(Check *cs, BlockNumber blkno, int level, TreePage *tp)
{
	SfxPageTail *tail = copy_page(cs, blkno);

	if (tail == NULL || !sfx_tree_page_is(cs->index, blkno, cs->page.data, &cs->meta, level))
		broken(cs, blkno, "not a page of level %d of run %u", level, SfxMetaMain(&cs->meta)->id);
	tp->right = tail->right;
	if (level > 0)
		check_inner(cs, blkno, tp);
	else
		check_leaf(cs, blkno, tp);
	if ((tp->right == InvalidBlockNumber) != tp->high_inf)
		broken(cs, blkno, "%s", tp->high_inf ? "right neighbour of a page that ends at plus infinity" :
			   "no right neighbour beyond a finite high fence");
	if (!tp->high_inf && sfx_order_cmp_pos(cs->order, &tp->low, &tp->high) >= 0)
		broken(cs, blkno, "low fence is not below the high fence");
}

/* One level from its leftmost page on; the leftmost page of the level below. */
static BlockNumber
check_level(Check *cs, int level, BlockNumber first, Parents *ps)
{
	TreePage   *tp = palloc(sizeof(TreePage));
	TreePage   *prev = palloc(sizeof(TreePage));
	BlockNumber from = SFX_META_BLKNO;
	BlockNumber below = InvalidBlockNumber;

	for (BlockNumber blkno = first; blkno != InvalidBlockNumber;)
	{
		TreePage   *t;

		own_block(cs, from, blkno);
		check_tree_page(cs, blkno, level, tp);
		if (blkno == first)
		{
			below = tp->first_child;
			if (tp->low.len != 0 || tp->low.tid != 0)
				broken(cs, blkno, "the first page of level %d does not begin at minus infinity", level);
		}
		else if (sfx_order_cmp_pos(cs->order, &prev->high, &tp->low) != 0)
			broken(cs, blkno, "low fence differs from the high fence of block %u to its left", from);
		if (ps)
			check_downlink(cs, ps, level, blkno, &tp->low, tp->count);
		else if (blkno != first)
			broken(cs, first, "the root has a right neighbour");
		from = blkno;
		blkno = tp->right;
		t = prev;
		prev = tp;
		tp = t;
	}
	if (ps && next_downlink(cs, ps) != NULL)
		broken(cs, next_downlink(cs, ps)->blkno, "page with a downlink that level %d does not lead to", level);
	pfree(tp);
	pfree(prev);
	return below;
}

static void
check_tree(Check *cs)
{
	SfxRun	   *run = SfxMetaMain(&cs->meta);
	BlockNumber first = run->root;
	BlockNumber above = InvalidBlockNumber;
	Parents		ps = {0};

	ps.cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx check", ALLOCSET_DEFAULT_SIZES);
	for (int level = run->level; level >= 0; level--)
	{
		BlockNumber below;

		if (above != InvalidBlockNumber)
		{
			ps.level = level + 1;
			load_parent(cs, &ps, above);
		}
		below = check_level(cs, level, first, above != InvalidBlockNumber ? &ps : NULL);
		above = first;
		first = below;
	}
	MemoryContextDelete(ps.cxt);
}

/* ---- 4. the other blocks ---- */

/* Has the active generation taken this page since its chain was walked? */
static bool
is_new_log_page(Check *cs, SfxPageTail *tail)
{
	SfxLogHeader *h = (SfxLogHeader *) SfxPageBody(cs->page.data);

	return tail->kind == SFX_PAGE_LOG && tail->build_id == cs->meta.build_id &&
		tail->owner == cs->meta.gens[0].gen &&
		SfxPageBodyLen(cs->page.data) >= sizeof(SfxLogHeader) &&
		(!cs->active_seen || h->seq > cs->last_seq);
}

static void
check_free_blocks(Check *cs)
{
	for (BlockNumber blkno = SFX_FIRST_BLKNO; blkno < cs->nblocks; blkno++)
	{
		SfxPageTail *tail;

		if (is_owned(cs, blkno))
			continue;
		tail = copy_page(cs, blkno);
		if (tail != NULL && !sfx_page_is_free(cs->page.data, SfxMetaOldestGen(&cs->meta)) &&
			!is_new_log_page(cs, tail))
			broken(cs, blkno, "page of kind %u, level %u, owner %u belongs to nobody and is not free",
				   tail->kind, tail->level, tail->owner);
	}
}

/* ---- 5. the table ---- */

static void
check_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	Check	   *cs = arg;
	uint8		bytes[SFX_MAX_ENTRY + 6];
	MemoryContext old = MemoryContextSwitchTo(cs->rowcxt);
	int			len = sfx_key_encode(&cs->kd, index, values, isnull, bytes);

	MemoryContextSwitchTo(old);
	MemoryContextReset(cs->rowcxt);
	sfx_put_tid(bytes + len, SFX_TID(ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid)));
	if (bloom_lacks_element(cs->filter, bytes, len + 6))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" is damaged: row (%u,%u) of table \"%s\" has no entry",
						RelationGetRelationName(index), ItemPointerGetBlockNumber(tid),
						ItemPointerGetOffsetNumber(tid), RelationGetRelationName(cs->heap)),
				 errhint("Please REINDEX it.")));
}

/* As many elements as the filter has to take, roughly. */
static int64
estimate_entries(Check *cs)
{
	int64		n = (int64) SfxMetaMain(&cs->meta)->entries;

	for (int g = 0; g < cs->meta.ngens; g++)
		n += (int64) cs->meta.gens[g].pages * (BLCKSZ / 16);
	return Max(n, 1024);
}

/* Every row that the snapshot sees is looked up.  Rows are read as CREATE INDEX CONCURRENTLY would read them. */
static void
check_heap(Check *cs, Snapshot snapshot)
{
	IndexInfo  *info = BuildIndexInfo(cs->index);
	TableScanDesc scan = table_beginscan_strat(cs->heap, snapshot, 0, NULL, true, true);

	info->ii_Concurrent = true;
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;
	(void) table_index_build_scan(cs->heap, cs->index, info, true, false, check_row, cs, scan);
}

static void
check_tids(Check *cs)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(cs->heap);

	if (cs->max_tid > 0 && SFX_TID_BLOCK(cs->max_tid) >= nblocks)
		broken(cs, cs->max_tid_blkno, "entry for row (%u,%u) of a table that has %u blocks",
			   SFX_TID_BLOCK(cs->max_tid), SFX_TID_OFFSET(cs->max_tid), nblocks);
}

/* ---- the whole ---- */

static void
check_all(Relation heap, Relation index, Snapshot snapshot)
{
	Check	   *cs = palloc0(sizeof(Check));

	cs->heap = heap;
	cs->index = index;
	cs->strategy = GetAccessStrategy(BAS_BULKREAD);
	cs->block = palloc(sizeof(SfxBlock));
	cs->scratch = palloc(sfx_inner_scratch_size());
	cs->arena = palloc(SFX_ARENA);
	cs->rowcxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx check row", ALLOCSET_DEFAULT_SIZES);
	sfx_keydesc_init(&cs->kd, index);
	cs->order = sfx_order_create(index, &cs->kd, true);
	grow_owned(cs, RelationGetNumberOfBlocks(index));
	check_meta(cs);
	if (snapshot)
		cs->filter = bloom_create(estimate_entries(cs), maintenance_work_mem,
								  pg_prng_uint64(&pg_global_prng_state));
	for (int g = 0; g < cs->meta.ngens; g++)
		check_generation(cs, g);
	check_tree(cs);
	check_free_blocks(cs);
	check_tids(cs);
	if (snapshot)
		check_heap(cs, snapshot);
}

/* One check in a subtransaction; what it threw, or NULL. */
static ErrorData *
try_check(Relation heap, Relation index, Snapshot snapshot)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile edata = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		check_all(heap, index, snapshot);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
	return edata;
}

/*
 * While replay goes on, what looks like damage may be a page that changed between two looks.  Try again
 * then; the same message twice running is believed.
 */
static void
check_on_standby(Relation heap, Relation index, Snapshot snapshot)
{
	char	   *last = NULL;

	for (int tries = 0; tries < CHECK_TRIES; tries++)
	{
		XLogRecPtr	start = GetXLogReplayRecPtr(NULL);
		ErrorData  *edata = try_check(heap, index, snapshot);

		if (edata == NULL)
			return;
		if (edata->sqlerrcode != ERRCODE_INDEX_CORRUPTED || GetXLogReplayRecPtr(NULL) == start ||
			(last && strcmp(last, edata->message) == 0))
			ReThrowError(edata);
		last = edata->message;
		CHECK_FOR_INTERRUPTS();
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("index \"%s\" changes too fast on this standby to be checked", RelationGetRelationName(index)),
			 errhint("Pause replay with pg_wal_replay_pause() and try again.")));
}

/* A snapshot that sees no row which the index may lack. */
static Snapshot
take_snapshot(Relation index)
{
	Snapshot	snapshot;

	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot check index \"%s\" against its table because it is not valid", RelationGetRelationName(index)),
				 errhint("REINDEX it, or check it without heapallindexed.")));
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	if (IsolationUsesXactSnapshot() && index->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data), snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" is younger than this transaction's snapshot", RelationGetRelationName(index)),
				 errhint("Check it in a new transaction.")));
	return snapshot;
}

/* Expressions and predicates run as the table's owner, with none of our privileges. */
static void
check_as_owner(Relation heap, Relation index, bool heapallindexed)
{
	Snapshot	snapshot = heapallindexed ? take_snapshot(index) : NULL;
	Oid			user;
	int			sec;
	int			nest;

	GetUserIdAndSecContext(&user, &sec);
	SetUserIdAndSecContext(heap->rd_rel->relowner, sec | SECURITY_RESTRICTED_OPERATION);
	nest = NewGUCNestLevel();
	SfxRestrictSearchPath();
	if (RecoveryInProgress())
		check_on_standby(heap, index, snapshot);
	else
	{
		sfx_merge_lock(index);
		check_all(heap, index, snapshot);
		sfx_merge_unlock(index);
	}
	AtEOXact_GUC(false, nest);
	SetUserIdAndSecContext(user, sec);
	if (snapshot)
		UnregisterSnapshot(snapshot);
}

/* surfidx_check(index, heapallindexed): ERROR at the first violation. */
Datum
surfidx_check(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	bool		heapallindexed = PG_GETARG_BOOL(1);
	Oid			heapid = IndexGetRelation(relid, true);
	Relation	heap = NULL;
	Relation	index;

	/* Table before index, as everywhere.  No index at all: the opening of it will say so. */
	if (OidIsValid(heapid))
		heap = table_open(heapid, AccessShareLock);
	index = sfx_open_index(relid, AccessShareLock);
	if (heap == NULL || heapid != IndexGetRelation(relid, false))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("could not open the table of index \"%s\"", RelationGetRelationName(index)),
				 errhint("The index was dropped or replaced at this moment.")));
	if (!index->rd_index->indisready)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not ready: CREATE INDEX CONCURRENTLY has not filled it yet, or has failed",
						RelationGetRelationName(index)),
				 errhint("If nobody is building it now, drop it or REINDEX it.")));
	if (RecoveryInProgress() && index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		ereport(NOTICE,
				(errmsg("index \"%s\" is unlogged: a standby has nothing of it to check", RelationGetRelationName(index))));
	else
		check_as_owner(heap, index, heapallindexed);
	relation_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);
	PG_RETURN_VOID();
}
