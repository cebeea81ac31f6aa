/*-------------------------------------------------------------------------
 * dict.c - dictionaries in pages, and the ones that this backend has opened: H1 and H3
 * (src/README.md)
 *
 * A dictionary's pages form a chain by right links.  Their owner is the dictionary's number, flags
 * is the page's number in the chain, and the bodies one after the other are the dictionary's bytes.
 * They are written once, in the record that enters the dictionary into the metapage's list, and
 * become free pages in the record that takes it off the list.
 *
 * Opened dictionaries are large, and made from pages alone: each backend keeps those it has used,
 * on a standby as well.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "dict.h"
#include "hope.h"
#include "leaf.h"
#include "memo.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "settings.h"
#include "wal.h"

#include "access/xact.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define BUSY_USECS		100
#define CACHE_BYTES		(32 * 1024 * 1024)	/* beyond that many, dictionaries that are not in use
											 * are closed, the longest unused first */

StaticAssertDecl(sizeof(SfxDictRef) == 20, "dictionary reference is 20 bytes on disk");
StaticAssertDecl(SFX_MAX_DICTS <= SFX_PACKER_DICTS, "a packer takes all dictionaries");
StaticAssertDecl(SFX_DICT_PAGES + 1 < SFX_GROUP_BLOCKS, "a dictionary's pages and the metapage fit one record");

/* A dictionary that this backend has opened, in TopMemoryContext. */
struct SfxDict
{
	dlist_node	node;			/* in cache, which has the last one used first */
	Oid			index;
	SfxLife		life;
	uint32		number;
	uint32		crc;			/* the checksum that the metapage listed when it was opened */
	bool		doubted;		/* an invalidation has come: the next use compares the metapage's
								 * checksum */
	int			pins;			/* by sfx_dict_attach; it is not closed then */
	bool		held;			/* in use up to the end of the transaction */
	Size		size;			/* bytes of hope */
	SfxHope    *hope;
};

static dlist_head cache = DLIST_STATIC_INIT(cache);
static Size cache_bytes;

/*
 * Called with an index whose relation was invalidated (memo.h).  There are many more invalidations
 * than new files, and opening takes milliseconds: so the dictionary stays, and the next use asks
 * the metapage.
 */
static void
doubt(Oid index)
{
	dlist_iter	i;

	dlist_foreach(i, &cache)
	{
		SfxDict    *d = dlist_container(SfxDict, node, i.cur);

		if (d->index == index || !OidIsValid(index))
			d->doubted = true;
	}
}

static SfxMemoTable table = {.forget = doubt};

/* ---- pages ---- */

int
sfx_dict_pages(uint32 len)
{
	return (len + SFX_BODY_CAPACITY - 1) / SFX_BODY_CAPACITY;
}

void
sfx_dict_page_init(Page page, const SfxMeta *meta, const SfxNewDict *new, int seq)
{
	int			from = seq * (int) SFX_BODY_CAPACITY;

	sfx_page_init(page, SFX_PAGE_DICT, meta->build_id, meta->next_dict, 0);
	sfx_page_set_body(page, new->bytes + from, Min(new->len - from, (int) SFX_BODY_CAPACITY));
	SfxPageGetTail(page)->flags = seq;
}

/* CRC-32C, as SfxDictRef.crc. */
static pg_crc32c
checksum(const uint8 *bytes, int len)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, bytes, len);
	FIN_CRC32C(crc);
	return crc;
}

void
sfx_dict_enter(SfxMeta *meta, const SfxNewDict *new, BlockNumber first)
{
	SfxDictRef *ref = &meta->dict[meta->ndicts++];

	Assert(meta->ndicts <= SFX_MAX_DICTS && new->len <= SFX_DICT_MAX_BYTES);
	ref->number = meta->next_dict++;
	ref->first = first;
	ref->len = new->len;
	ref->crc = checksum(new->bytes, new->len);
	ref->scheme = new->scheme;
	ref->rate = new->rate;
}

static const char busy[] = "a dictionary's page is in use";

/*
 * Copy the part of a dictionary that block *blkno should hold to out (want bytes), and move *blkno
 * to the block to its right.  NULL; or what is wrong with the block, palloc'd or constant: damage,
 * or the page was moved after its link was read (G1).  Or `busy`, unless it may wait: a block from
 * which a page was moved may be a new page by now, whose writer waits for the leaf that the caller
 * holds.
 */
static const char *
read_part(Relation index, uint64 build_id, const SfxDictRef *ref, BlockNumber *blkno, int seq,
		  uint8 *out, uint32 want, bool may_wait)
{
	Buffer		buf = sfx_read_linked(index, *blkno, NULL);
	Page		page = BufferGetPage(buf);
	const SfxPageTail *tail;
	const char *why = NULL;

	if (may_wait)
		LockBuffer(buf, BUFFER_LOCK_SHARE);
	else if (!ConditionalLockBuffer(buf))
	{
		ReleaseBuffer(buf);
		return busy;
	}
	if (!sfx_page_check(index, *blkno, page))
		why = "a dictionary's page is empty";
	else if ((tail = SfxPageGetTail(page))->kind != SFX_PAGE_DICT || tail->build_id != build_id || tail->owner != ref->number || tail->flags != seq)
		why = psprintf("not page %d of dictionary %u", seq, ref->number);
	else if (SfxPageBodyLen(page) != want)
		why = "a dictionary's page has another size than the metapage says";
	else
	{
		memcpy(out, SfxPageBody(page), want);
		*blkno = tail->right;
	}
	UnlockReleaseBuffer(buf);
	return why;
}

/* Where and why a chain could not be read. */
typedef struct BadChain
{
	BlockNumber at;
	const char *why;
	int			seq;			/* the number of the page that `at` should be */
	BlockNumber from;			/* the page whose link leads to `at`, the metapage for the first
								 * page; InvalidBlockNumber: it is not the link that is in doubt */
} BadChain;

/*
 * Read a dictionary's bytes, palloc'd; NULL, with *bad.  own (may be NULL) is shown each block and
 * the block whose link leads there.  may_wait: the caller holds no leaf's lock.
 */
static uint8 *
read_chain(Relation index, uint64 build_id, const SfxDictRef *ref, void (*own) (void *arg, BlockNumber from, BlockNumber blkno),
		   void *arg, bool may_wait, BadChain *bad)
{
	uint8	   *bytes;
	BlockNumber blkno = ref->first;
	BlockNumber from = SFX_META_BLKNO;
	int			npages = sfx_dict_pages(ref->len);

	bad->at = SFX_META_BLKNO;
	bad->from = InvalidBlockNumber;
	bad->why = "a dictionary of an impossible size is listed";
	if (ref->len == 0 || ref->len > SFX_DICT_MAX_BYTES)
		return NULL;
	bytes = palloc(ref->len);
	for (bad->seq = 0; bad->seq < npages; bad->seq++)
	{
		uint32		at = bad->seq * (uint32) SFX_BODY_CAPACITY;

		bad->from = InvalidBlockNumber;
		bad->why = psprintf("the chain of dictionary %u ends early", ref->number);
		if (blkno < SFX_FIRST_BLKNO || blkno == InvalidBlockNumber)
			return NULL;
		if (own)
			own(arg, from, blkno);
		bad->from = from;
		from = bad->at = blkno;
		SFX_STOP("dictionary link followed");
		bad->why = read_part(index, build_id, ref, &blkno, bad->seq, bytes + at,
							 Min(ref->len - at, SFX_BODY_CAPACITY), may_wait);
		if (bad->why)
			return NULL;
	}
	bad->from = InvalidBlockNumber;
	bad->why = psprintf("the chain of dictionary %u does not end", ref->number);
	if (blkno != InvalidBlockNumber)
		return NULL;
	bad->at = ref->first;
	bad->why = psprintf("dictionary %u does not have the checksum that the metapage says",
						ref->number);
	return checksum(bytes, ref->len) == ref->crc ? bytes : NULL;
}

uint8 *
sfx_dict_read(Relation index, uint64 build_id, const SfxDictRef *ref,
			  void (*own) (void *arg, BlockNumber from, BlockNumber blkno), void *arg)
{
	BadChain	bad;
	uint8	   *bytes = read_chain(index, build_id, ref, own, arg, true, &bad);

	if (bytes == NULL)
		sfx_corrupt(index, bad.at, bad.why);
	return bytes;
}

/* ---- the opened ones ---- */

/* Close a dictionary. */
static void
forget(SfxDict *d)
{
	dlist_delete(&d->node);
	cache_bytes -= d->size;
	pfree(d->hope);
	pfree(d);
}

/*
 * Close dictionaries that are not in use, the longest unused first, until the others take at most
 * limit bytes.
 */
static void
trim_cache(Size limit)
{
	dlist_node *n = dlist_is_empty(&cache) ? NULL : dlist_tail_node(&cache);

	while (n && cache_bytes > limit)
	{
		SfxDict    *d = dlist_container(SfxDict, node, n);

		n = dlist_has_prev(&cache, n) ? dlist_prev_node(&cache, n) : NULL;
		if (d->pins == 0 && !d->held)
			forget(d);
	}
}

/*
 * Scans end with the transaction, also those that an error has ended: nothing is pinned any more.
 */
static void
at_transaction_end(XactEvent event, void *arg)
{
	dlist_iter	i;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE &&
		event != XACT_EVENT_PARALLEL_COMMIT && event != XACT_EVENT_PARALLEL_ABORT)
		return;
	dlist_foreach(i, &cache)
	{
		SfxDict    *d = dlist_container(SfxDict, node, i.cur);

		d->pins = 0;
		d->held = false;
	}
	trim_cache(CACHE_BYTES);
}

/* What the metapage lists under that number; NULL: nothing. */
static const SfxDictRef *
find_ref(const SfxMeta *meta, uint32 number)
{
	for (uint32 i = 0; i < meta->ndicts; i++)
		if (meta->dict[i].number == number)
			return &meta->dict[i];
	return NULL;
}

/*
 * Does the metapage list this dictionary under its number, with its checksum?  meta: NULL, if the
 * caller has none; then the metapage is read.
 */
static bool
is_listed(Relation index, const SfxMeta *meta, SfxDict *d)
{
	SfxMeta		now;
	const SfxDictRef *ref;

	if (meta == NULL)
	{
		sfx_meta_read(index, &now);
		meta = &now;
	}
	ref = meta->build_id == d->life.build_id ? find_ref(meta, d->number) : NULL;
	d->doubted = ref == NULL || ref->crc != d->crc;
	return !d->doubted;
}

/*
 * The opened dictionary of that number in this life of the index; NULL: none, or none that still is
 * what the metapage lists.
 */
static SfxDict *
find_opened(Relation index, const SfxMeta *meta, uint64 build_id, uint32 number)
{
	SfxLife		life = sfx_life(index, build_id);
	dlist_iter	i;

	dlist_foreach(i, &cache)
	{
		SfxDict    *d = dlist_container(SfxDict, node, i.cur);

		if (d->number == number && sfx_life_equals(&d->life, &life) &&
			(!d->doubted || is_listed(index, meta, d)))
		{
			dlist_move_head(&cache, &d->node);
			return d;
		}
	}
	return NULL;
}

/*
 * The opened state of a dictionary's bytes, in the current context; NULL if they are no dictionary.
 */
static SfxHope *
open_bytes(const uint8 *bytes, uint32 len, Size *size)
{
	SfxHope    *hope;

	*size = sfx_hope_state_size(bytes, len);
	if (*size == 0)
		return NULL;
	hope = palloc(*size);
	if (sfx_hope_open(hope, *size, bytes, len) == SFX_OK)
		return hope;
	pfree(hope);
	return NULL;
}

const SfxHope *
sfx_dict_open_new(const SfxNewDict *new)
{
	Size		size;

	return open_bytes(new->bytes, new->len, &size);
}

/*
 * Open a dictionary whose bytes were read, and keep it; frees bytes.  ERROR if they are no
 * dictionary.
 */
static SfxDict *
open_read(Relation index, uint64 build_id, const SfxDictRef *ref, uint8 *bytes)
{
	static bool registered = false;
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	SfxDict    *d;
	SfxHope    *hope;
	Size		size;

	if (!registered)
		RegisterXactCallback(at_transaction_end, NULL);
	registered = true;
	d = palloc0(sizeof(SfxDict));
	hope = open_bytes(bytes, ref->len, &size);
	MemoryContextSwitchTo(old);
	if (hope == NULL)
	{
		pfree(d);
		sfx_corrupt(index, ref->first, psprintf("dictionary %u is broken", ref->number));
	}
	sfx_memo_register(&table);
	d->index = RelationGetRelid(index);
	d->life = sfx_life(index, build_id);
	d->number = ref->number;
	d->crc = ref->crc;
	d->size = size;
	d->hope = hope;
	dlist_push_head(&cache, &d->node);
	cache_bytes += size;
	d->pins++;
	trim_cache(CACHE_BYTES);
	d->pins--;
	pfree(bytes);
	return d;
}

pg_noreturn static void not_listed(Relation index, BlockNumber blkno, uint32 number);

/* ERROR: a leaf names a dictionary that is not in the list.  By H1 that is damage. */
static void
not_listed(Relation index, BlockNumber blkno, uint32 number)
{
	sfx_corrupt(index, blkno, psprintf("the leaf needs dictionary %u, which the metapage does not list", number));
}

/* The same for a caller that holds the merge lock: no page moves. */
static SfxDict *
open_listed(Relation index, const SfxMeta *meta, const SfxDictRef *ref)
{
	return open_read(index, meta->build_id, ref, sfx_dict_read(index, meta->build_id, ref, NULL, NULL));
}

/*
 * H3: a page of a dictionary is not where a link led.  True: that link leads there still (or no
 * link is in doubt), so it is damage.  Page and link change in one record, and pages move to lower
 * blocks only (sfx_dict_move), so a link that leads to one block at two moments has led there in
 * between.
 */
static bool
still_leads_there(Relation index, uint64 build_id, uint32 number, const BadChain *bad)
{
	bool		leads = false;
	Buffer		buf;
	SfxMeta		meta;
	const SfxDictRef *ref;

	if (bad->from == InvalidBlockNumber)
		return true;
	if (bad->from == SFX_META_BLKNO)
	{
		sfx_meta_read(index, &meta);
		ref = find_ref(&meta, number);
		return ref == NULL || ref->first == bad->at;
	}
	buf = sfx_read_linked(index, bad->from, NULL);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	if (sfx_page_check(index, bad->from, BufferGetPage(buf)))
	{
		const SfxPageTail *tail = SfxPageGetTail(BufferGetPage(buf));

		leads = tail->kind == SFX_PAGE_DICT && tail->build_id == build_id &&
			tail->owner == number && tail->flags == bad->seq - 1 && tail->right == bad->at;
	}
	UnlockReleaseBuffer(buf);
	return leads;
}

/*
 * The dictionary that leaf blkno needs, whose lock the caller holds.  VACUUM may be moving its
 * pages: then the look begins again from the metapage.  Each repetition has seen a page move to a
 * lower block, and a dictionary has few pages, or a page in use, so this ends.
 */
static SfxDict *
open_for_leaf(Relation index, BlockNumber blkno, uint64 build_id, uint32 number)
{
	BadChain	bad;

	do
	{
		SfxMeta		meta;
		const SfxDictRef *ref;
		uint8	   *bytes;

		sfx_meta_read(index, &meta);
		ref = meta.build_id == build_id ? find_ref(&meta, number) : NULL;
		if (ref == NULL)
			not_listed(index, blkno, number);
		SFX_STOP("dictionary found");
		bytes = read_chain(index, build_id, ref, NULL, NULL, false, &bad);
		if (bytes)
			return open_read(index, build_id, ref, bytes);
		if (bad.why == busy)
			pg_usleep(BUSY_USECS);
	} while (bad.why == busy || (!still_leads_there(index, build_id, number, &bad) &&
								 !SFX_MUTANT("dictionaries stand still")));
	sfx_corrupt(index, bad.at, bad.why);
}

void
sfx_dict_unpin(SfxDict **pin)
{
	if (*pin && (*pin)->pins > 0)
		(*pin)->pins--;
	*pin = NULL;
}

void
sfx_dict_attach(Relation index, BlockNumber blkno, Page page, SfxLeaf *leaf, SfxDict **pin)
{
	uint64		build_id = SfxPageGetTail(page)->build_id;
	SfxLife		life = sfx_life(index, build_id);
	SfxDict    *d;

	if (leaf->dictno == 0)
		return;
	d = pin ? *pin : NULL;
	if (d == NULL || d->doubted || d->number != leaf->dictno || !sfx_life_equals(&d->life, &life))
	{
		d = find_opened(index, NULL, build_id, leaf->dictno);
		if (d == NULL)
			d = open_for_leaf(index, blkno, build_id, leaf->dictno);
		if (pin)
		{
			sfx_dict_unpin(pin);
			*pin = d;
			d->pins++;
		}
		else
			d->held = true;
	}
	leaf->dict = d->hope;
}

void
sfx_dict_attach_listed(Relation index, const SfxMeta *meta, BlockNumber blkno, SfxLeaf *leaf)
{
	const SfxDictRef *ref;
	SfxDict    *d;

	if (leaf->dictno == 0)
		return;
	d = find_opened(index, meta, meta->build_id, leaf->dictno);
	if (d == NULL)
	{
		ref = find_ref(meta, leaf->dictno);
		if (ref == NULL)
			not_listed(index, blkno, leaf->dictno);
		d = open_listed(index, meta, ref);
	}
	d->held = true;
	leaf->dict = d->hope;
}

bool
sfx_dict_wanted(Relation index)
{
	return sfx_opt_hope(index) != SFX_HOPE_OFF;
}

/* May leaves be written with the i-th dictionary of the list? */
static bool
is_choice(Relation index, const SfxMeta *meta, uint32 i)
{
	int			asked = sfx_opt_hope(index);
	bool		any = false;

	for (uint32 j = 0; j < meta->ndicts; j++)
		any |= meta->dict[j].scheme == asked;
	return any ? meta->dict[i].scheme == asked : asked == SFX_HOPE_AUTO || i == meta->ndicts - 1;
}

int
sfx_dicts_for_writing(Relation index, const SfxMeta *meta, SfxDictChoice *choice)
{
	int			n = 0;

	Assert(sfx_merge_lock_held(index));
	for (uint32 i = 0; i < meta->ndicts && sfx_dict_wanted(index); i++)
	{
		const SfxDictRef *ref = &meta->dict[i];
		SfxDict    *d;

		if (!is_choice(index, meta, i))
			continue;
		d = find_opened(index, meta, meta->build_id, ref->number);
		if (d == NULL)
			d = open_listed(index, meta, ref);
		d->held = true;
		choice[n++] = (SfxDictChoice) {.hope = d->hope,.number = ref->number,.rate = SfxDictRate(ref)};
	}
	return n;
}

/* ---- adding and dropping ---- */

/*
 * Log the pages in bufs, just written, as images, and the metapage, if metabuf is valid, in one
 * GROUP record.  In a critical section; all are locked.
 */
static void
log_change(Relation index, Buffer *bufs, int n, Buffer metabuf, const SfxMeta *meta)
{
	SfxXlGroup	x = {.npages = n,.meta = BufferIsValid(metabuf)};
	XLogRecPtr	lsn;

	XLogBeginInsert();
	XLogRegisterData((char *) &x, sizeof(x));
	for (int i = 0; i < n; i++)
		XLogRegisterBuffer(i, bufs[i], REGBUF_FORCE_IMAGE | REGBUF_STANDARD);
	if (BufferIsValid(metabuf))
	{
		XLogRegisterBuffer(n, metabuf, REGBUF_STANDARD);
		XLogRegisterBufData(n, (char *) meta, sizeof(SfxMeta));
	}
	lsn = XLogInsert(SFX_RMGR_ID, XLOG_SFX_GROUP);
	for (int i = 0; i < n; i++)
		PageSetLSN(BufferGetPage(bufs[i]), lsn);
	if (BufferIsValid(metabuf))
		PageSetLSN(BufferGetPage(metabuf), lsn);
}

bool
sfx_dict_add(Relation index, SfxMeta *meta, const SfxNewDict *new)
{
	Buffer		bufs[SFX_DICT_PAGES];
	Buffer		metabuf;
	SfxMeta		old;
	int			n = sfx_dict_pages(new->len);

	Assert(sfx_merge_lock_held(index));
	Assert(n > 0 && n <= SFX_DICT_PAGES);
	bufs[0] = InvalidBuffer;
	if (meta->ndicts == SFX_MAX_DICTS)
		return false;
	XLogEnsureRecordSpace(SFX_DICT_PAGES + 1, 20);
	for (int i = 0; i < n; i++)
		bufs[i] = sfx_page_alloc(index, meta);
	/* other backends change generations and counters: ours is the list of dictionaries alone */
	sfx_meta_lock(index, &old, &metabuf);
	*meta = old;
	sfx_dict_enter(meta, new, BufferGetBlockNumber(bufs[0]));

	START_CRIT_SECTION();
	for (int i = 0; i < n; i++)
	{
		sfx_dict_page_init(BufferGetPage(bufs[i]), &old, new, i);
		if (i + 1 < n)
			SfxPageGetTail(BufferGetPage(bufs[i]))->right = BufferGetBlockNumber(bufs[i + 1]);
		MarkBufferDirty(bufs[i]);
	}
	sfx_meta_store(BufferGetPage(metabuf), meta);
	MarkBufferDirty(metabuf);
	if (RelationNeedsWAL(index))
		log_change(index, bufs, n, metabuf, meta);
	END_CRIT_SECTION();

	UnlockReleaseBuffer(metabuf);
	for (int i = n - 1; i >= 0; i--)
		UnlockReleaseBuffer(bufs[i]);
	SFX_STOP("dictionary made");
	return true;
}

/* The blocks of a dictionary's chain, collected while it is read. */
typedef struct Chain
{
	int			n;
	BlockNumber blkno[SFX_DICT_PAGES];
} Chain;

static void
collect_block(void *arg, BlockNumber from, BlockNumber blkno)
{
	Chain	   *c = arg;

	c->blkno[c->n++] = blkno;
}

void
sfx_dict_drop(Relation index, uint32 number)
{
	Chain		c = {0};
	Buffer		bufs[SFX_DICT_PAGES];
	Buffer		metabuf;
	SfxMeta		meta;
	const SfxDictRef *ref;
	uint32		i = 0;

	Assert(sfx_merge_lock_held(index));
	sfx_meta_read(index, &meta);
	ref = find_ref(&meta, number);
	if (ref == NULL || ref->rate & SFX_DICT_WRITTEN)
		return;
	pfree(sfx_dict_read(index, meta.build_id, ref, collect_block, &c));
	XLogEnsureRecordSpace(SFX_DICT_PAGES + 1, 20);
	for (int j = 0; j < c.n; j++)
	{
		bufs[j] = sfx_read_linked(index, c.blkno[j], NULL);
		LockBuffer(bufs[j], BUFFER_LOCK_EXCLUSIVE);
	}
	sfx_meta_lock(index, &meta, &metabuf);
	while (meta.dict[i].number != number)
		i++;
	memmove(&meta.dict[i], &meta.dict[i + 1], (meta.ndicts - i - 1) * sizeof(SfxDictRef));
	memset(&meta.dict[--meta.ndicts], 0, sizeof(SfxDictRef));

	START_CRIT_SECTION();
	for (int j = 0; j < c.n; j++)
	{
		sfx_page_init(BufferGetPage(bufs[j]), SFX_PAGE_DELETED, meta.build_id, 0, 0);
		MarkBufferDirty(bufs[j]);
	}
	sfx_meta_store(BufferGetPage(metabuf), &meta);
	MarkBufferDirty(metabuf);
	if (RelationNeedsWAL(index))
		log_change(index, bufs, c.n, metabuf, &meta);
	END_CRIT_SECTION();

	UnlockReleaseBuffer(metabuf);
	for (int j = c.n - 1; j >= 0; j--)
	{
		UnlockReleaseBuffer(bufs[j]);
		sfx_page_release_free(index, c.blkno[j]);
	}
}

/*
 * The block whose link leads to blkno: the page before it in the chain of its dictionary, or the
 * metapage for the first one.  InvalidBlockNumber: blkno is no page of a listed dictionary.  tail:
 * that of the page in blkno.
 */
static BlockNumber
find_predecessor(Relation index, const SfxMeta *meta, BlockNumber blkno, const SfxPageTail *tail)
{
	const SfxDictRef *ref = tail->kind == SFX_PAGE_DICT && tail->build_id == meta->build_id ? find_ref(meta, tail->owner) : NULL;
	Chain		c = {0};

	if (ref == NULL)
		return InvalidBlockNumber;
	pfree(sfx_dict_read(index, meta->build_id, ref, collect_block, &c));
	if (tail->flags >= c.n || c.blkno[tail->flags] != blkno)
		return InvalidBlockNumber;
	return tail->flags == 0 ? SFX_META_BLKNO : c.blkno[tail->flags - 1];
}

bool
sfx_dict_move(Relation index, BlockNumber blkno, Buffer target)
{
	PGAlignedBlock copy;
	const SfxPageTail *tail;
	BlockNumber to = BufferGetBlockNumber(target);
	BlockNumber before;
	Buffer		bufs[3];		/* the old page, the new one, the page before */
	Buffer		metabuf = InvalidBuffer;
	SfxMeta		meta;
	int			n = 2;

	Assert(sfx_merge_lock_held(index));
	sfx_meta_read(index, &meta);
	bufs[0] = sfx_read_linked(index, blkno, NULL);
	bufs[1] = target;
	LockBuffer(bufs[0], BUFFER_LOCK_SHARE);
	memcpy(copy.data, BufferGetPage(bufs[0]), BLCKSZ);
	LockBuffer(bufs[0], BUFFER_LOCK_UNLOCK);
	tail = SfxPageGetTail(copy.data);
	Assert(to < blkno);			/* readers rely on it: still_leads_there() */
	before = find_predecessor(index, &meta, blkno, tail);
	if (before == InvalidBlockNumber)
	{
		ReleaseBuffer(bufs[0]);
		UnlockReleaseBuffer(target);
		return false;
	}
	LockBuffer(bufs[0], BUFFER_LOCK_EXCLUSIVE);
	if (before == SFX_META_BLKNO)
	{
		sfx_meta_lock(index, &meta, &metabuf);
		unconstify(SfxDictRef *, find_ref(&meta, tail->owner))->first = to;
	}
	else
	{
		bufs[n++] = sfx_read_linked(index, before, NULL);
		LockBuffer(bufs[2], BUFFER_LOCK_EXCLUSIVE);
	}

	START_CRIT_SECTION();
	sfx_page_init(BufferGetPage(bufs[0]), SFX_PAGE_DELETED, meta.build_id, 0, 0);
	sfx_page_init(BufferGetPage(target), SFX_PAGE_DICT, meta.build_id, tail->owner, 0);
	sfx_page_set_body(BufferGetPage(target), SfxPageBody((Page) copy.data), SfxPageBodyLen((Page) copy.data));
	SfxPageGetTail(BufferGetPage(target))->flags = tail->flags;
	SfxPageGetTail(BufferGetPage(target))->right = tail->right;
	if (n == 3)
		SfxPageGetTail(BufferGetPage(bufs[2]))->right = to;
	for (int i = 0; i < n; i++)
		MarkBufferDirty(bufs[i]);
	if (BufferIsValid(metabuf))
	{
		sfx_meta_store(BufferGetPage(metabuf), &meta);
		MarkBufferDirty(metabuf);
	}
	if (RelationNeedsWAL(index))
		log_change(index, bufs, n, metabuf, &meta);
	END_CRIT_SECTION();

	if (BufferIsValid(metabuf))
		UnlockReleaseBuffer(metabuf);
	while (n-- > 0)
		UnlockReleaseBuffer(bufs[n]);
	SFX_STOP("dictionary page moved");
	return true;
}

void
sfx_dict_set_rate(Relation index, SfxMeta *meta, uint32 number, int rate)
{
	Buffer		buf;
	SfxDictRef *ref;

	Assert(sfx_merge_lock_held(index));
	sfx_meta_lock(index, meta, &buf);
	ref = unconstify(SfxDictRef *, find_ref(meta, number));
	if (ref)
		ref->rate = rate | (ref->rate & SFX_DICT_WRITTEN);
	sfx_meta_change(index, buf, meta, SFX_META_STATS, NULL);
}

void
sfx_dict_note_written(SfxMeta *meta, uint32 number)
{
	SfxDictRef *ref = unconstify(SfxDictRef *, find_ref(meta, number));

	if (!SFX_MUTANT("dictionaries written unnoted"))
		ref->rate |= SFX_DICT_WRITTEN;
}

void
sfx_dicts_forget_written(Relation index, SfxMeta *meta)
{
	Buffer		buf;

	Assert(sfx_merge_lock_held(index));
	sfx_meta_lock(index, meta, &buf);
	for (uint32 i = 0; i < meta->ndicts; i++)
		meta->dict[i].rate &= ~SFX_DICT_WRITTEN;
	sfx_meta_change(index, buf, meta, SFX_META_STATS, NULL);
}
