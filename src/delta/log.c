/*-------------------------------------------------------------------------
 * log.c - the delta log: a chain of pages per generation to which inserts append
 *
 * The log is the truth of the delta (D1).  An append takes an exclusive lock on the tail
 * page, puts bytes at pd_lower, and writes one small WAL record, of one entry or of several
 * (pending.c).  The tail's block number is cached per relation; the page itself tells whether it
 * still is the tail (kind, build, generation, seal, right link: D2).
 *
 * To extend the chain a backend allocates and locks the new page first, then locks the metapage,
 * then the old tail.  Nothing leads to the new page yet, so no other backend waits for its lock
 * with another one in hand.
 *
 * An appender that others outrun again and again takes the metapage's lock in the end (D6): then no
 * one else can extend or freeze the log, and that try is the last.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "bufhint.h"
#include "leaf.h"
#include "log.h"
#include "log_entry.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "wal.h"

#include "miscadmin.h"
#include "utils/rel.h"

#define LOG_LINKS			1	/* right links followed before the metapage is read again */
#define LOG_TRIES			10	/* before an appender takes the metapage's lock */

/*
 * In rd_amcache: where this backend believes the active generation's tail to be.  The block number
 * is also the relation's target block, which core resets when the file is truncated, as it does not
 * reset rd_amcache.  If the two differ the cache is void (G3).
 */
typedef struct SfxTailCache
{
	uint64		build_id;
	uint32		gen;
	BlockNumber tail;
} SfxTailCache;

/* ---- appending ---- */

/* The cache, made from the metapage if there is none that may be believed. */
static SfxTailCache *
tail_cache(Relation index)
{
	SfxTailCache *c = index->rd_amcache;

	if (c == NULL || (RelationGetTargetBlock(index) != c->tail && !SFX_MUTANT("believe old tails")))
	{
		SfxMeta		meta;

		sfx_log_forget_tail(index);
		sfx_meta_read(index, &meta);
		c = MemoryContextAlloc(index->rd_indexcxt, sizeof(*c));
		c->build_id = meta.build_id;
		c->gen = meta.gens[0].gen;
		c->tail = meta.gens[0].tail;
		RelationSetTargetBlock(index, c->tail);
		index->rd_amcache = c;
	}
	return c;
}

void
sfx_log_forget_tail(Relation index)
{
	if (index->rd_amcache)
		pfree(index->rd_amcache);
	index->rd_amcache = NULL;
}

/*
 * The tail of the active generation, locked; InvalidBuffer: the generation has no page yet.  The
 * caller holds the metapage's lock, so what meta says of the tail is so, and a page that says
 * otherwise is damaged (T4).
 */
static Buffer
lock_tail(Relation index, const SfxMeta *meta, int mode)
{
	BlockNumber tail = meta->gens[0].tail;
	Buffer		buf;
	Page		page;

	if (tail == InvalidBlockNumber)
		return InvalidBuffer;
	buf = sfx_read_linked(index, tail, NULL);
	LockBuffer(buf, mode);
	page = BufferGetPage(buf);
	if (!sfx_log_page_is(index, tail, page, meta->build_id, meta->gens[0].gen))
		sfx_corrupt(index, tail, "tail of the delta log is not a page of its generation");
	if (SfxPageGetTail(page)->flags & SFX_LOG_SEALED)
		sfx_corrupt(index, tail, "tail of the delta log is sealed");
	if (SfxPageGetTail(page)->right != InvalidBlockNumber)
		sfx_corrupt(index, tail, "tail of the delta log is not its last page");
	return buf;
}

/*
 * Link the page in newbuf after the tail, or make it the generation's first page (tailbuf invalid),
 * in one EXTEND record.  All buffers are locked exclusively; *meta becomes what the metapage says.
 */
static void
link_page(Relation index, SfxMeta *meta, Buffer metabuf, Buffer tailbuf, Buffer newbuf)
{
	SfxXlExtend x = {.build_id = meta->build_id,.gen = meta->gens[0].gen};

	x.newblk = BufferGetBlockNumber(newbuf);
	if (BufferIsValid(tailbuf))
	{
		SfxLogHeader *h = (SfxLogHeader *) SfxPageBody(BufferGetPage(tailbuf));

		x.before = h->before + h->nentries;
		x.seq = h->seq + 1;
	}
	else
		meta->gens[0].first = x.newblk;
	meta->gens[0].tail = x.newblk;
	meta->gens[0].pages++;

	START_CRIT_SECTION();
	sfx_meta_store(BufferGetPage(metabuf), meta);
	MarkBufferDirty(metabuf);
	sfx_log_page_init(BufferGetPage(newbuf), x.build_id, x.gen, x.seq, x.before);
	MarkBufferDirty(newbuf);
	if (BufferIsValid(tailbuf))
	{
		SfxPageGetTail(BufferGetPage(tailbuf))->right = x.newblk;
		MarkBufferDirty(tailbuf);
	}
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterData((char *) &x, sizeof(x));
		XLogRegisterBuffer(0, metabuf, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) meta, sizeof(SfxMeta));
		XLogRegisterBuffer(1, newbuf, REGBUF_WILL_INIT | REGBUF_STANDARD);
		if (BufferIsValid(tailbuf))
			XLogRegisterBuffer(2, tailbuf, REGBUF_STANDARD);
		lsn = XLogInsert(SFX_RMGR_ID, XLOG_SFX_EXTEND);
		PageSetLSN(BufferGetPage(metabuf), lsn);
		PageSetLSN(BufferGetPage(newbuf), lsn);
		if (BufferIsValid(tailbuf))
			PageSetLSN(BufferGetPage(tailbuf), lsn);
	}
	END_CRIT_SECTION();
}

/*
 * Allocate a page for the log, then lock the metapage, both exclusively: in this order (see above).
 * *meta: the metapage.  A damaged metapage may name the new page as its tail, and to lock that
 * again would wait for ourselves.
 */
static Buffer
lock_to_extend(Relation index, SfxMeta *meta, Buffer *metabuf)
{
	Buffer		newbuf = sfx_page_alloc_log(index, meta);

	SFX_STOP("log page allocated");
	sfx_meta_lock(index, meta, metabuf);
	/* this backend holds its lock already */
	if (meta->gens[0].tail == BufferGetBlockNumber(newbuf))
		sfx_corrupt(index, meta->gens[0].tail, "tail of the delta log is a free page");
	return newbuf;
}

/*
 * Unlock all that was locked to extend the log.  A new page that was not used goes back to the free
 * space map.
 */
static void
unlock_extended(Relation index, Buffer metabuf, Buffer tailbuf, Buffer newbuf, bool used)
{
	BlockNumber blkno = BufferGetBlockNumber(newbuf);
	SfxFreed	freed = {0};

	if (BufferIsValid(tailbuf))
		UnlockReleaseBuffer(tailbuf);
	UnlockReleaseBuffer(newbuf);
	UnlockReleaseBuffer(metabuf);
	if (!used)
		sfx_freed_add(&freed, index, blkno);
	sfx_freed_end(&freed, index);
}

/*
 * Add a page to generation gen after tail (InvalidBlockNumber: its first page).  False: another
 * backend has added one, or the generation was frozen.
 */
static bool
extend_log(Relation index, uint32 gen, BlockNumber tail)
{
	SfxMeta		meta;
	Buffer		newbuf,
				metabuf,
				tailbuf = InvalidBuffer;
	bool		ours;

	sfx_meta_read(index, &meta);

	/*
	 * many appenders find the page full at the same moment, and one of them is to add a page: the
	 * others see that here, before they allocate one
	 */
	if (meta.gens[0].gen != gen || meta.gens[0].tail != tail)
		return false;
	newbuf = lock_to_extend(index, &meta, &metabuf);
	ours = meta.gens[0].gen == gen && meta.gens[0].tail == tail;
	if (ours)
	{
		tailbuf = lock_tail(index, &meta, BUFFER_LOCK_EXCLUSIVE);
		link_page(index, &meta, metabuf, tailbuf, newbuf);
	}
	unlock_extended(index, metabuf, tailbuf, newbuf, ours);
	return ours;
}

/*
 * Put n formed entries on the tail page, which is locked exclusively and has room for their bytes,
 * and log that: APPEND, or BATCH if there are several.
 */
static void
put_logged(Relation index, Buffer buf, const uint8 *bytes, int len, int n)
{
	uint16		count = (uint16) n;

	START_CRIT_SECTION();
	sfx_log_page_put(BufferGetPage(buf), bytes, len, n);
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		if (n > 1)
			XLogRegisterData((char *) &count, sizeof(count));
		XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) bytes, len);
		lsn = XLogInsert(SFX_RMGR_ID, n > 1 ? XLOG_SFX_BATCH : XLOG_SFX_APPEND);
		PageSetLSN(BufferGetPage(buf), lsn);
	}
	END_CRIT_SECTION();
}

/* What is to be appended: entries [*done, n). */
typedef struct Appending
{
	const SfxEntry *e;
	const bool *unchanged;
	int			n;
	int		   *done;
	SfxLogWatch *watch;			/* NULL: append whatever others have appended */
	bool	   *refused;		/* the watch has refused */
} Appending;

typedef enum
{
	APPEND_DONE,
	APPEND_AGAIN,				/* the page has a right neighbour, which is cached now: try there */
	APPEND_FULL,				/* no room for all that is left: extend the log */
	APPEND_BEHIND,				/* the watch's place is on an earlier page: it has to follow */
	APPEND_REFUSED,
	APPEND_STALE				/* not a page of the active generation any more: forget the cache */
} AppendResult;

/*
 * U1, U3: may the entry be appended to this page, the log's last, which is locked?  APPEND_DONE:
 * yes.
 */
static AppendResult
ask_watch(Relation index, Buffer buf, const Appending *a)
{
	if (a->watch == NULL)
		return APPEND_DONE;
	switch (sfx_log_watch_tail(index, BufferGetBlockNumber(buf), BufferGetPage(buf), a->watch))
	{
		case SFX_WATCH_PASSED:
			return APPEND_DONE;
		case SFX_WATCH_BEHIND:
			return APPEND_BEHIND;
		default:
			return APPEND_REFUSED;
	}
}

/*
 * Put as many of the entries as have room on the log's last page, which is locked.  False: some are
 * left.
 */
static bool
put_entries(Relation index, Buffer buf, const Appending *a)
{
	uint8		bytes[SFX_LOG_FORMED];
	int			len;
	int			n = sfx_log_form(BufferGetPage(buf), a->e + *a->done, a->unchanged + *a->done,
								 a->n - *a->done, bytes, &len);

	if (n > 0)
		put_logged(index, buf, bytes, len, n);
	*a->done += n;
	return *a->done == a->n;
}

/*
 * One try on the page that the cache names.  Whether it is the tail still is decided under its lock
 * (D2): between our look at the cache and the lock, another backend may have extended the log, or
 * frozen it.
 */
static AppendResult
try_append(Relation index, SfxTailCache *c, const Appending *a)
{
	Buffer		buf = sfx_read_tail_page(index, c->tail);
	Page		page = BufferGetPage(buf);
	AppendResult result;

	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	if (!sfx_log_page_is(index, c->tail, page, c->build_id, c->gen) ||
		((SfxPageGetTail(page)->flags & SFX_LOG_SEALED) && !SFX_MUTANT("append behind seal")))
		result = APPEND_STALE;
	else if (SfxPageGetTail(page)->right != InvalidBlockNumber)
	{
		c->tail = SfxPageGetTail(page)->right;
		RelationSetTargetBlock(index, c->tail);
		result = APPEND_AGAIN;
	}
	else if ((result = ask_watch(index, buf, a)) == APPEND_DONE)
	{
		result = put_entries(index, buf, a) ? APPEND_DONE : APPEND_FULL;
		if (result == APPEND_DONE && a->watch != NULL)
			sfx_log_watch_appended(page, a->watch, a->e);
	}
	UnlockReleaseBuffer(buf);
	return result;
}

/*
 * The same where the log may have no page yet (tailbuf invalid).  The metapage is locked.  Without
 * a page nothing was appended to this generation, so the watch's place must be in it.
 */
static AppendResult
ask_watch_for_certain(Relation index, const SfxMeta *meta, Buffer tailbuf, const Appending *a)
{
	const SfxLogPlace *at;

	if (BufferIsValid(tailbuf) || a->watch == NULL)
		return BufferIsValid(tailbuf) ? ask_watch(index, tailbuf, a) : APPEND_DONE;
	at = a->watch->place;
	return at->build_id == meta->build_id && at->gen == meta->gens[0].gen ? APPEND_DONE :
		APPEND_BEHIND;
}

/*
 * D6: append under the metapage's lock, which keeps the tail where it is: to the tail if it has
 * room, else to a page that is added under the same lock.  Appends at least one entry, unless the
 * watch refuses.  True: a page was added.
 */
static bool
append_for_certain(Relation index, const Appending *a)
{
	SfxMeta		meta;
	Buffer		newbuf,
				metabuf,
				tailbuf;
	int			before;
	bool		added;

	sfx_meta_read(index, &meta);
	newbuf = lock_to_extend(index, &meta, &metabuf);
	tailbuf = lock_tail(index, &meta, BUFFER_LOCK_EXCLUSIVE);
	*a->refused = ask_watch_for_certain(index, &meta, tailbuf, a) != APPEND_DONE;
	if (*a->refused)
	{
		unlock_extended(index, metabuf, tailbuf, newbuf, false);
		return false;
	}
	added = !BufferIsValid(tailbuf) || !put_entries(index, tailbuf, a);
	before = *a->done;
	if (added)
	{
		link_page(index, &meta, metabuf, tailbuf, newbuf);
		(void) put_entries(index, newbuf, a);
		if (*a->done == before)
			elog(ERROR, "surfidx: an empty log page of index \"%s\" takes no entry of %u bytes",
				 RelationGetRelationName(index), a->e[before].keylen + a->e[before].paylen);
	}
	unlock_extended(index, metabuf, tailbuf, newbuf, added);
	return added;
}

/*
 * Append at least one entry, unless the watch refuses (*a->refused).  True: the log grew by a page.
 */
static bool
append_some(Relation index, const Appending *a)
{
	int			before = *a->done;
	bool		grew = false;
	int			links = 0;

	for (int tries = 0; tries < LOG_TRIES; tries++)
	{
		SfxTailCache *c = tail_cache(index);
		uint32		gen = c->gen;
		BlockNumber tail = c->tail;
		AppendResult r;

		SFX_STOP("append");
		r = tail == InvalidBlockNumber ? APPEND_FULL : try_append(index, c, a);
		CHECK_FOR_INTERRUPTS();
		if (*a->done > before)
			return grew;
		if (r == APPEND_BEHIND)
			r = sfx_log_watch_follow(index, a->watch) == SFX_WATCH_PASSED ? r : APPEND_REFUSED;
		*a->refused = r == APPEND_REFUSED;
		if (*a->refused)
			return grew;
		if (r == APPEND_AGAIN && ++links <= LOG_LINKS)
			continue;
		sfx_log_forget_tail(index);
		if (r == APPEND_FULL)
			grew |= extend_log(index, gen, tail);
	}
	return append_for_certain(index, a) || grew;
}

bool
sfx_log_append_many(Relation index, const SfxEntry *e, const bool *unchanged, int n, int *done)
{
	bool		refused = false;
	Appending	a = {.e = e,.unchanged = unchanged,.n = n,.done = done,.refused = &refused};
	bool		grew = false;

	while (*done < n)
	{
		Assert(e[*done].keylen + e[*done].paylen <= SFX_MAX_ENTRY);
		grew |= append_some(index, &a);
	}
	return grew;
}

bool
sfx_log_append(Relation index, const SfxEntry *e, bool unchanged)
{
	int			done = 0;

	return sfx_log_append_many(index, e, &unchanged, 1, &done);
}

bool
sfx_log_append_watched(Relation index, const SfxEntry *e, bool unchanged, SfxLogWatch *watch,
					   bool *grew)
{
	int			done = 0;
	bool		refused = false;
	Appending	a = {.e = e,.unchanged = &unchanged,.n = 1,.done = &done,.watch = watch,
	.refused = &refused};

	Assert(e->keylen + e->paylen <= SFX_MAX_ENTRY);
	*grew |= append_some(index, &a);
	return !refused;
}

/* ---- counting ---- */

uint64
sfx_log_count(Relation index, SfxMeta *meta)
{
	Buffer		metabuf = sfx_read_page(index, SFX_META_BLKNO);
	Buffer		tailbuf;
	uint64		n = 0;

	sfx_meta_copy(index, metabuf, meta);
	tailbuf = lock_tail(index, meta, BUFFER_LOCK_SHARE);
	if (BufferIsValid(tailbuf))
	{
		const SfxLogHeader *h = (SfxLogHeader *) SfxPageBody(BufferGetPage(tailbuf));

		n = h->before + h->nentries;
		UnlockReleaseBuffer(tailbuf);
	}
	UnlockReleaseBuffer(metabuf);
	for (int g = 1; g < meta->ngens; g++)
		n += meta->gens[g].sealed;
	return n;
}

/* ---- freezing ---- */

/*
 * See log.h.  The seal, the final number of entries and the new list of generations are written in
 * one record, under the locks of metapage and tail: an appender that waits for the tail finds it
 * sealed (D2).
 */
bool
sfx_log_freeze(Relation index, SfxMeta *meta)
{
	Buffer		metabuf,
				tailbuf;
	SfxLogHeader *h;

	Assert(sfx_merge_lock_held(index));
	sfx_meta_lock(index, meta, &metabuf);
	if (meta->gens[0].tail == InvalidBlockNumber || meta->ngens == SFX_MAX_GENS)
	{
		UnlockReleaseBuffer(metabuf);
		return false;
	}
	tailbuf = lock_tail(index, meta, BUFFER_LOCK_EXCLUSIVE);
	h = (SfxLogHeader *) SfxPageBody(BufferGetPage(tailbuf));

	meta->gens[0].sealed = h->before + h->nentries;
	memmove(&meta->gens[1], &meta->gens[0], meta->ngens * sizeof(SfxGen));
	meta->ngens++;
	meta->gens[0].gen = meta->next_gen++;
	meta->gens[0].first = meta->gens[0].tail = InvalidBlockNumber;
	meta->gens[0].pages = 0;
	meta->gens[0].sealed = 0;

	START_CRIT_SECTION();
	SfxPageGetTail(BufferGetPage(tailbuf))->flags |= SFX_LOG_SEALED;
	MarkBufferDirty(tailbuf);
	sfx_meta_store(BufferGetPage(metabuf), meta);
	MarkBufferDirty(metabuf);
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, metabuf, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) meta, sizeof(SfxMeta));
		XLogRegisterBuffer(1, tailbuf, REGBUF_STANDARD);
		lsn = XLogInsert(SFX_RMGR_ID, XLOG_SFX_FREEZE);
		PageSetLSN(BufferGetPage(metabuf), lsn);
		PageSetLSN(BufferGetPage(tailbuf), lsn);
	}
	END_CRIT_SECTION();
	UnlockReleaseBuffer(tailbuf);
	UnlockReleaseBuffer(metabuf);
	return true;
}
