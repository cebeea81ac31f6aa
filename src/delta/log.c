/*-------------------------------------------------------------------------
 * log.c - the delta log: a chain of pages per generation to which inserts append
 *
 * The log is the truth of the dynamic stage.  An append is: exclusive lock on
 * the tail page, bytes at pd_lower, one small WAL record.  The tail's block number is cached per relation; the
 * page itself tells whether it still is the tail (kind, build, generation, seal, right link).
 *
 * Extending the chain: the new page is allocated first (nobody waits for the
 * lock of a page that nothing leads to), then metapage, then old tail.
 *
 * An appender whom others outrun again and again, which is nobody's fault, holds the metapage's
 * lock in the end (D6): the log is neither extended nor frozen then, and the next try is the last.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "bufhint.h"
#include "leaf.h"
#include "log.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "wal.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define LOG_ENTRY_HEADER	11	/* at most */
#define LOG_FIRST_HEADER	9	/* of a page's first entry */
#define TID_OFFSET_BITS		9
#define TID_BLOCKS			(1 << (16 - TID_OFFSET_BITS))
#define LOG_BODY_START		(MAXALIGN(SizeOfPageHeaderData))
#define LOG_LINKS			1	/* right links followed before the metapage is asked */
#define LOG_TRIES			10	/* before an appender holds the metapage's lock */

StaticAssertDecl(sizeof(SfxLogHeader) == 16, "log header is 16 bytes on disk");

/*
 * In rd_amcache: where this backend believes the active generation's tail to be.  The block stands in the relation's target block, too: that one is
 * forgotten when the file is truncated, as rd_amcache is not, and if they differ neither is believed.
 */
typedef struct SfxTailCache
{
	uint64		build_id;
	uint32		gen;
	BlockNumber tail;
} SfxTailCache;

StaticAssertDecl(sizeof(((SfxLogEnd *) 0)->copy) >= MAXALIGN(SizeOfPageHeaderData) +
				 sizeof(SfxLogHeader) + LOG_FIRST_HEADER + SFX_LOG_END_MAX, "a copied end fits");

/* ---- page functions, shared with redo ---- */

void
sfx_log_page_init(Page page, uint64 build_id, uint32 gen, uint32 seq, uint64 before)
{
	SfxLogHeader h = {.seq = seq,.nentries = 0,.before = before};

	sfx_page_init(page, SFX_PAGE_LOG, build_id, gen, 0);
	sfx_page_set_body(page, (uint8_t *) &h, sizeof(h));
}

void
sfx_log_page_put(Page page, const uint8 *bytes, int len)
{
	PageHeader	ph = (PageHeader) page;

	Assert(ph->pd_lower + len <= ph->pd_upper);
	memcpy((char *) page + ph->pd_lower, bytes, len);
	ph->pd_lower += len;
	((SfxLogHeader *) SfxPageBody(page))->nentries++;
}

void
sfx_log_page_flag(Page page, const uint16 *offs, int n)
{
	uint8	   *body = SfxPageBody(page);

	for (int i = 0; i < n; i++)
		body[offs[i]] |= SFX_LOG_DEAD;
}

/* The bytes of an entry's header with these flags. */
static inline uint32
header_size(uint8 flags)
{
	return 1 + (flags & SFX_LOG_LEN2 ? 2 : flags & SFX_LOG_LEN1 ? 1 : 0) + (flags & SFX_LOG_TID ? 6 : 2) +
		(flags & SFX_LOG_PAYLOAD ? 2 : 0);
}

/* What later entries of a page refer to: the key length and the heap block of its first one.  False: the page has no sound one. */
static inline bool
first_entry(const uint8 *body, uint32 len, uint32 *keylen, uint64 *block)
{
	const uint8 *p = body + sizeof(SfxLogHeader);

	if (len < sizeof(SfxLogHeader) + LOG_FIRST_HEADER || (*p & (SFX_LOG_LEN2 | SFX_LOG_TID)) != (SFX_LOG_LEN2 | SFX_LOG_TID))
		return false;
	*keylen = sfx_get16(p + 1);
	*block = sfx_get_tid(p + 3) >> 16;
	return true;
}

bool
sfx_log_parse(Relation index, BlockNumber blkno, Page page, uint32 *off, SfxEntry *e, bool *dead)
{
	uint8	   *body = SfxPageBody(page);
	uint32		len = SfxPageBodyLen(page);
	uint32		at = *off < sizeof(SfxLogHeader) ? sizeof(SfxLogHeader) : *off;
	uint32		firstlen = 0;
	uint64		firstblock = 0;
	uint8		flags;

	if (at == len)
		return false;
	if (at > len || at + header_size(body[at]) > len)
		sfx_corrupt(index, blkno, "log entry header cut off");
	if (!first_entry(body, len, &firstlen, &firstblock))
		sfx_corrupt(index, blkno, "first entry of a log page");
	flags = body[at++];
	*dead = (flags & SFX_LOG_DEAD) != 0;
	e->keylen = flags & SFX_LOG_LEN2 ? sfx_get16(body + at) : flags & SFX_LOG_LEN1 ? body[at] : firstlen;
	at += flags & SFX_LOG_LEN2 ? 2 : flags & SFX_LOG_LEN1 ? 1 : 0;
	if (flags & SFX_LOG_TID)
	{
		e->tid = sfx_get_tid(body + at);
		at += 6;
	}
	else
	{
		uint16		tid = sfx_get16(body + at);

		e->tid = (firstblock + (tid >> TID_OFFSET_BITS) - SFX_LOG_BACK) << 16 | (tid & ((1 << TID_OFFSET_BITS) - 1));
		e->tid &= UINT64CONST(0xFFFFFFFFFFFF);
		at += 2;
	}
	e->paylen = 0;
	if (flags & SFX_LOG_PAYLOAD)
	{
		e->paylen = sfx_get16(body + at);
		at += 2;
	}
	if (e->keylen + e->paylen > SFX_MAX_ENTRY || at + e->keylen + e->paylen > len)
		sfx_corrupt(index, blkno, "log entry reaches beyond its page");
	e->key = body + at;
	e->payload = body + at + e->keylen;
	*off = at + e->keylen + e->paylen;
	return true;
}

/* Later entries refer to the header of the page's first one, so it comes along. */
void
sfx_log_copy_end(BlockNumber blkno, Page page, uint32 off, SfxLogEnd *end)
{
	const uint8 *body = SfxPageBody(page);
	uint32		from = Max(off, sizeof(SfxLogHeader));
	uint32		kept = Min(from, sizeof(SfxLogHeader) + LOG_FIRST_HEADER);
	Page		copy = end->copy.page;

	end->blkno = blkno;
	end->off = kept;
	end->len = SfxPageBodyLen(page) - from;
	Assert(end->len <= SFX_LOG_END_MAX);
	memcpy(SfxPageBody(copy), body, kept);
	memcpy(SfxPageBody(copy) + kept, body + from, end->len);
	((PageHeader) copy)->pd_lower = SfxPageBody(copy) - (uint8 *) copy + kept + end->len;
}

/* Is this page, locked by us, one of generation gen? */
bool
sfx_log_page_is(Relation index, BlockNumber blkno, Page page, uint64 build_id, uint32 gen)
{
	SfxPageTail *tail;

	if (!sfx_page_check(index, blkno, page))
		return false;
	tail = SfxPageGetTail(page);
	if (tail->kind != SFX_PAGE_LOG || tail->build_id != build_id || tail->owner != gen)
		return false;
	if (SfxPageBodyLen(page) < sizeof(SfxLogHeader))
		sfx_corrupt(index, blkno, "log page without header");
	return true;
}

/* ---- appending ---- */

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

/* The entry's TID in two bytes behind that of the page's first entry; false if it lies too far away. */
static bool
short_tid(uint64 tid, uint64 firstblock, uint16 *out)
{
	int64		block = (int64) (tid >> 16) - (int64) firstblock + SFX_LOG_BACK;
	uint32		offset = tid & 0xFFFF;

	*out = (uint16) (block << TID_OFFSET_BITS | offset);
	return block >= 0 && block < TID_BLOCKS && offset < (1 << TID_OFFSET_BITS);
}

/* The bytes that add the entry to a log page, which is locked; their number. */
static int
form_log_entry(Page page, const SfxEntry *e, bool unchanged, uint8 *out)
{
	uint32		firstlen = 0;
	uint64		firstblock = 0;
	bool		has_first = first_entry(SfxPageBody(page), SfxPageBodyLen(page), &firstlen, &firstblock);
	uint8		flags = (unchanged ? SFX_LOG_UNCHANGED : 0) | (e->paylen > 0 ? SFX_LOG_PAYLOAD : 0);
	uint16		tid = 0;
	int			at = 1;

	if (!has_first || (e->keylen != firstlen && e->keylen > 0xFF))
	{
		flags |= SFX_LOG_LEN2;
		sfx_put16(out + at, (uint16) e->keylen);
		at += 2;
	}
	else if (e->keylen != firstlen)
	{
		flags |= SFX_LOG_LEN1;
		out[at++] = (uint8) e->keylen;
	}
	if (has_first && short_tid(e->tid, firstblock, &tid))
	{
		sfx_put16(out + at, tid);
		at += 2;
	}
	else
	{
		flags |= SFX_LOG_TID;
		sfx_put_tid(out + at, e->tid);
		at += 6;
	}
	if (e->paylen > 0)
	{
		sfx_put16(out + at, (uint16) e->paylen);
		at += 2;
	}
	out[0] = flags;
	memcpy(out + at, e->key, e->keylen);
	at += e->keylen;
	if (e->paylen > 0)
		memcpy(out + at, e->payload, e->paylen);
	return at + e->paylen;
}

/*
 * The tail of the active generation, locked; InvalidBuffer: it has no page yet.  The metapage is
 * locked as well: what it says of the tail cannot change, and if the page says something else it is
 * damaged.
 */
static Buffer
lock_tail(Relation index, const SfxMeta *meta, int mode)
{
	BlockNumber tail = meta->gens[0].tail;
	Buffer		buf;
	Page		page;

	if (tail == InvalidBlockNumber)
		return InvalidBuffer;
	buf = ReadBuffer(index, tail);
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
 * Put the page of newbuf behind the tail, or make it the generation's first one (tailbuf invalid).
 * All are locked; *meta becomes what the metapage says.
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

/* A new page for the log, then the metapage, both exclusively locked. */
static Buffer
lock_to_extend(Relation index, SfxMeta *meta, Buffer *metabuf)
{
	Buffer		newbuf = sfx_page_alloc_log(index, meta);

	SFX_STOP("log page allocated");
	sfx_meta_lock(index, meta, metabuf);
	/* its lock is ours already */
	if (meta->gens[0].tail == BufferGetBlockNumber(newbuf))
		sfx_corrupt(index, meta->gens[0].tail, "tail of the delta log is a free page");
	return newbuf;
}

static void
unlock_extended(Relation index, Buffer metabuf, Buffer tailbuf, Buffer newbuf, bool used)
{
	BlockNumber blkno = BufferGetBlockNumber(newbuf);

	if (BufferIsValid(tailbuf))
		UnlockReleaseBuffer(tailbuf);
	UnlockReleaseBuffer(newbuf);
	UnlockReleaseBuffer(metabuf);
	if (!used)
		sfx_page_release_free(index, blkno);
}

/*
 * Add a page to generation gen behind tail (InvalidBlockNumber: its first page), unless somebody else
 * did: then false.
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
	/* where many append they all find the page full at once: one of them has to add a page */
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

/* Put the entry's bytes on the tail page, which is locked and has room. */
static void
put_logged(Relation index, Buffer buf, const uint8 *bytes, int len)
{
	START_CRIT_SECTION();
	sfx_log_page_put(BufferGetPage(buf), bytes, len);
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) bytes, len);
		lsn = XLogInsert(SFX_RMGR_ID, XLOG_SFX_APPEND);
		PageSetLSN(BufferGetPage(buf), lsn);
	}
	END_CRIT_SECTION();
}

typedef enum
{
	APPEND_DONE,
	APPEND_AGAIN,				/* the cache moved on: try once more */
	APPEND_FULL,				/* no room: extend */
	APPEND_STALE				/* not the active generation's page: forget the cache */
} AppendResult;

/* Put the entry on the log's last page, which is locked.  False: it has no room. */
static bool
put_entry(Relation index, Buffer buf, const SfxEntry *e, bool unchanged)
{
	uint8		bytes[SFX_MAX_ENTRY + LOG_ENTRY_HEADER];
	Page		page = BufferGetPage(buf);
	int			len = form_log_entry(page, e, unchanged, bytes);

	if (len + ((PageHeader) page)->pd_lower > ((PageHeader) page)->pd_upper)
		return false;
	put_logged(index, buf, bytes, len);
	return true;
}

static AppendResult
try_append(Relation index, SfxTailCache *c, const SfxEntry *e, bool unchanged)
{
	Buffer		buf = ReadBuffer(index, c->tail);
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
	else
		result = put_entry(index, buf, e, unchanged) ? APPEND_DONE : APPEND_FULL;
	UnlockReleaseBuffer(buf);
	return result;
}

/*
 * D6: append under the metapage's lock, which keeps the tail where it is.  On the tail if that has
 * room, else on a page that is added in the same breath.  True: it was added.
 */
static bool
append_for_certain(Relation index, const SfxEntry *e, bool unchanged)
{
	SfxMeta		meta;
	Buffer		newbuf,
				metabuf,
				tailbuf;
	bool		added;

	sfx_meta_read(index, &meta);
	newbuf = lock_to_extend(index, &meta, &metabuf);
	tailbuf = lock_tail(index, &meta, BUFFER_LOCK_EXCLUSIVE);
	added = !BufferIsValid(tailbuf) || !put_entry(index, tailbuf, e, unchanged);
	if (added)
	{
		link_page(index, &meta, metabuf, tailbuf, newbuf);
		if (!put_entry(index, newbuf, e, unchanged))
			elog(ERROR, "surfidx: an empty log page of index \"%s\" takes no entry of %u bytes",
				 RelationGetRelationName(index), e->keylen + e->paylen);
	}
	unlock_extended(index, metabuf, tailbuf, newbuf, added);
	return added;
}

bool
sfx_log_append(Relation index, const SfxEntry *e, bool unchanged)
{
	bool		grew = false;
	int			links = 0;

	Assert(e->keylen + e->paylen <= SFX_MAX_ENTRY);
	for (int tries = 0; tries < LOG_TRIES; tries++)
	{
		SfxTailCache *c = tail_cache(index);
		uint32		gen = c->gen;
		BlockNumber tail = c->tail;
		AppendResult r;

		SFX_STOP("append");
		r = tail == InvalidBlockNumber ? APPEND_FULL : try_append(index, c, e, unchanged);
		CHECK_FOR_INTERRUPTS();
		if (r == APPEND_DONE)
			return grew;
		if (r == APPEND_AGAIN && ++links <= LOG_LINKS)
			continue;
		sfx_log_forget_tail(index);
		if (r == APPEND_FULL)
			grew |= extend_log(index, gen, tail);
	}
	grew |= append_for_certain(index, e, unchanged);
	return grew;
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
 * Seal the active generation, if it has entries and there is room for one more frozen one, and open the next.
 * Caller holds the merge lock.  *meta is the metapage after it.  False if nothing was frozen.
 */
bool
sfx_log_freeze(Relation index, bool carry, SfxMeta *meta)
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
	meta->carried = (uint8) (meta->carried << 1 | (carry ? 1 : 0));
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
