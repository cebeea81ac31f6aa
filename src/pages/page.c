/*-------------------------------------------------------------------------
 * page.c - making, checking and allocating pages; the metapage
 *
 * Every page that is read goes through sfx_page_check before a byte of its
 * body is believed.  Allocation believes a page's own state, never the free
 * space map alone: the map is not logged and may lie after a crash.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "bufhint.h"
#include "meta.h"
#include "metacache.h"
#include "page.h"

#include "access/heapam.h"
#include "miscadmin.h"
#include "storage/freespace.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/rel.h"

StaticAssertDecl(sizeof(SfxPageTail) == 24, "page tail is 24 bytes on disk");
StaticAssertDecl(offsetof(SfxPageTail, page_id) == 22, "page id stands in the last two bytes");
StaticAssertDecl(sizeof(SfxGen) == 24, "generation is 24 bytes on disk");
StaticAssertDecl(sizeof(SfxRun) == 32, "run is 32 bytes on disk");
StaticAssertDecl(sizeof(SfxResume) == 64, "merge position is 64 bytes on disk");
StaticAssertDecl(sizeof(SfxWork) == 48, "counters of merges are 48 bytes on disk");
StaticAssertDecl(sizeof(SfxMeta) <= SFX_BODY_CAPACITY, "metapage fits");
StaticAssertDecl(3 * SFX_MAX_ENTRY + 56 <= SFX_BODY_CAPACITY, "two fences and one entry fit");

void
sfx_corrupt(Relation index, BlockNumber blkno, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is damaged at block %u: %s",
					RelationGetRelationName(index), blkno, what),
			 errhint("Please REINDEX it.")));
	pg_unreachable();
}

void
sfx_bad_tid(Relation index, uint64 tid)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is damaged: an entry has the impossible TID (%u,%u)",
					RelationGetRelationName(index), SFX_TID_BLOCK(tid), SFX_TID_OFFSET(tid)),
			 errhint("Please REINDEX it.")));
	pg_unreachable();
}

BlockNumber
sfx_heap_end(Relation index, Relation heap, uint64 tid)
{
	BlockNumber end;

	if (heap->rd_tableam != GetHeapamTableAmRoutine())
		return MaxBlockNumber;
	end = RelationGetSmgr(heap)->smgr_cached_nblocks[MAIN_FORKNUM];
	if (end == InvalidBlockNumber || SFX_TID_BLOCK(tid) >= end)
		end = RelationGetNumberOfBlocks(heap);
	if (SFX_TID_BLOCK(tid) >= end)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" is damaged: an entry has TID (%u,%u), which lies beyond the end of table \"%s\"",
						RelationGetRelationName(index), SFX_TID_BLOCK(tid), SFX_TID_OFFSET(tid), RelationGetRelationName(heap)),
				 errhint("Please REINDEX it.")));
	return end;
}

void
sfx_page_init(Page page, SfxPageKind kind, uint64 build_id, uint32 owner, int level)
{
	SfxPageTail *tail;

	PageInit(page, BLCKSZ, sizeof(SfxPageTail));
	tail = SfxPageGetTail(page);
	tail->build_id = build_id;
	tail->right = InvalidBlockNumber;
	tail->owner = owner;
	tail->kind = kind;
	tail->level = level;
	tail->flags = 0;
	tail->version = SFX_FORMAT_VERSION;
	tail->page_id = SFX_PAGE_ID;
}

void
sfx_page_set_body(Page page, const uint8_t *body, uint32 len)
{
	Assert(len <= SFX_BODY_CAPACITY);
	memcpy(SfxPageBody(page), body, len);
	((PageHeader) page)->pd_lower = MAXALIGN(SizeOfPageHeaderData) + len;
}

/* What makes a page that is not new one that nobody may look into; NULL: nothing.  Another format's version is not among it. */
static const char *
page_fault(Page page)
{
	PageHeader	ph = (PageHeader) page;

	if (ph->pd_special != BLCKSZ - sizeof(SfxPageTail) ||
		ph->pd_lower < MAXALIGN(SizeOfPageHeaderData) ||
		ph->pd_lower > ph->pd_special)
		return "page header out of bounds";
	if (SfxPageGetTail(page)->page_id != SFX_PAGE_ID)
		return "not a surfidx page";
	return NULL;
}

bool
sfx_page_check(Relation index, BlockNumber blkno, Page page)
{
	SfxPageTail *tail;
	const char *fault;

	if (PageIsNew(page))
		return false;
	fault = page_fault(page);
	if (fault != NULL)
		sfx_corrupt(index, blkno, fault);
	tail = SfxPageGetTail(page);
	if (tail->version != SFX_FORMAT_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has format version %u at block %u, this library reads version %u",
						RelationGetRelationName(index), tail->version, blkno, SFX_FORMAT_VERSION),
				 errhint("Please REINDEX it.")));
	if (tail->kind < SFX_PAGE_META || tail->kind > SFX_PAGE_DICT)
		sfx_corrupt(index, blkno, "unknown kind of page");
	return true;
}

/* May this page, locked by us, be given a new life? */
static bool
page_is_free(Page page, const SfxMeta *meta)
{
	SfxPageTail *tail;

	if (PageIsNew(page))
		return true;
	if (((PageHeader) page)->pd_special != BLCKSZ - sizeof(SfxPageTail))
		return false;
	tail = SfxPageGetTail(page);
	if (tail->page_id != SFX_PAGE_ID)
		return false;
	if (tail->kind == SFX_PAGE_LOG)
		return tail->owner < SfxMetaOldestGen(meta);
	if (tail->kind == SFX_PAGE_LEAF || tail->kind == SFX_PAGE_INNER || tail->kind == SFX_PAGE_FILTER)
		return tail->owner < meta->next_run && sfx_meta_find_run(meta, tail->owner) < 0;
	return tail->kind == SFX_PAGE_DELETED;
}

bool
sfx_page_is_free(Page page, const SfxMeta *meta)
{
	return page_is_free(page, meta);
}

Buffer
sfx_page_alloc(Relation index, const SfxMeta *meta)
{
	Buffer		buf;

	for (;;)
	{
		BlockNumber blkno = GetFreeIndexPage(index);

		if (blkno == InvalidBlockNumber)
			break;
		CHECK_FOR_INTERRUPTS();
		/* the map may name reserved blocks, or ones beyond the end: it is not logged, and the file may have been longer */
		if (blkno < SFX_FIRST_BLKNO || blkno >= RelationGetNumberOfBlocks(index))
			continue;
		buf = ReadBuffer(index, blkno);
		/* Whoever holds the lock is using the page: not for us. */
		if (ConditionalLockBuffer(buf))
		{
			if (page_is_free(BufferGetPage(buf), meta) || SFX_MUTANT("believe free space map"))
				return buf;
			LockBuffer(buf, BUFFER_LOCK_UNLOCK);
		}
		ReleaseBuffer(buf);
	}
	return sfx_page_extend(index);
}

Buffer
sfx_page_extend(Relation index)
{
	for (;;)
	{
		Buffer		buf = SfxExtendRelation(index);

		if (PageIsNew(BufferGetPage(buf)) || SFX_MUTANT("extend blindly"))
			return buf;
		/* between the extension and our lock somebody found it free, and took it */
		UnlockReleaseBuffer(buf);
	}
}

Buffer
sfx_page_claim(Relation index, BlockNumber blkno, const SfxMeta *meta)
{
	Buffer		buf = ReadBuffer(index, blkno);

	/* Whoever holds the lock is using the page: not for us. */
	if (!ConditionalLockBuffer(buf))
	{
		ReleaseBuffer(buf);
		return InvalidBuffer;
	}
	RecordUsedIndexPage(index, blkno);
	if (page_is_free(BufferGetPage(buf), meta))
		return buf;
	UnlockReleaseBuffer(buf);
	return InvalidBuffer;
}

void
sfx_page_release_free(Relation index, BlockNumber blkno)
{
	RecordFreeIndexPage(index, blkno);
}

/* ---- metapage ---- */

SfxRun *
sfx_meta_run(Relation index, const SfxMeta *m, uint32 id)
{
	int			r = sfx_meta_find_run(m, id);

	if (r < 0)
		elog(ERROR, "surfidx: run %u of index \"%s\" vanished under the merge lock", id, RelationGetRelationName(index));
	return unconstify(SfxRun *, &m->runs[r]);
}

/* What makes a metapage that nobody may follow; NULL: nothing. */
static const char *
meta_fault(const SfxMeta *m)
{
	if (m->ngens < 1 || m->ngens > SFX_MAX_GENS || m->nruns < 1 || m->nruns > SFX_MAX_RUNS || m->gate > 1 ||
		m->ndicts > SFX_MAX_DICTS)
		return "metapage counts out of bounds";
	/* Whoever follows these locks the page, and may hold the metapage's lock: they must not lead back to it. */
	for (int g = 0; g < m->ngens; g++)
		if (m->gens[g].first < SFX_FIRST_BLKNO || m->gens[g].tail < SFX_FIRST_BLKNO)
			return "a log page is a reserved block";
	for (int i = 0; i < 2; i++)
		if (m->resume[i].len > SFX_RESUME_KEY)
			return "length of a merge position";
	for (int r = 0; r < m->nruns; r++)
		if (m->runs[r].root < SFX_FIRST_BLKNO)
			return "the root is a reserved block";
	for (uint32 d = 0; d < m->ndicts; d++)
		if (m->dict[d].first < SFX_FIRST_BLKNO)
			return "a dictionary's page is a reserved block";
	return NULL;
}

static void
meta_check(Relation index, Page page)
{
	SfxMeta    *m;
	const char *fault;

	if (!sfx_page_check(index, SFX_META_BLKNO, page) ||
		SfxPageGetTail(page)->kind != SFX_PAGE_META ||
		SfxPageBodyLen(page) < sizeof(SfxMeta))
		sfx_corrupt(index, SFX_META_BLKNO, "no metapage");
	m = SfxPageGetMeta(page);
	if (m->magic != SFX_MAGIC)
		sfx_corrupt(index, SFX_META_BLKNO, "wrong magic number");
	if (m->min_version > SFX_FORMAT_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" needs format version %u, this library reads version %u",
						RelationGetRelationName(index), m->min_version, SFX_FORMAT_VERSION),
				 errhint("Install a newer surfidx, or REINDEX the index.")));
	fault = meta_fault(m);
	if (fault != NULL)
		sfx_corrupt(index, SFX_META_BLKNO, fault);
}

/* In steps of 64 bytes: one copy of this size compilers make a string instruction, which takes longer to get going. */
static inline void
copy_meta(SfxMeta *to, const SfxMeta *from)
{
	Size		done = 0;

	for (; done + 64 <= sizeof(SfxMeta); done += 64)
		memcpy((char *) to + done, (const char *) from + done, 64);
	memcpy((char *) to + done, (const char *) from + done, sizeof(SfxMeta) % 64);
}

void
sfx_meta_copy(Relation index, Buffer buf, SfxMeta *meta)
{
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	meta_check(index, BufferGetPage(buf));
	copy_meta(meta, SfxPageGetMeta(BufferGetPage(buf)));
}

void
sfx_meta_reread(Relation index, SfxMeta *meta, Buffer *buf)
{
	if (!BufferIsValid(*buf))
		*buf = sfx_read_page(index, SFX_META_BLKNO);
	sfx_meta_copy(index, *buf, meta);
	LockBuffer(*buf, BUFFER_LOCK_UNLOCK);
}

void
sfx_meta_read(Relation index, SfxMeta *meta)
{
	Buffer		buf = InvalidBuffer;

	sfx_meta_reread(index, meta, &buf);
	ReleaseBuffer(buf);
}

bool
sfx_meta_try_read(Relation index, SfxMeta *meta)
{
	Buffer		buf = sfx_read_page(index, SFX_META_BLKNO);
	Page		page = BufferGetPage(buf);
	bool		sound;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	sound = !PageIsNew(page) && page_fault(page) == NULL && SfxPageGetTail(page)->version == SFX_FORMAT_VERSION &&
		SfxPageGetTail(page)->kind == SFX_PAGE_META && SfxPageBodyLen(page) >= sizeof(SfxMeta);
	if (sound)
		copy_meta(meta, SfxPageGetMeta(page));
	UnlockReleaseBuffer(buf);
	return sound && meta->magic == SFX_MAGIC && meta->min_version <= SFX_FORMAT_VERSION && meta_fault(meta) == NULL;
}

void
sfx_meta_lock(Relation index, SfxMeta *meta, Buffer *buf)
{
	*buf = ReadBuffer(index, SFX_META_BLKNO);
	LockBuffer(*buf, BUFFER_LOCK_EXCLUSIVE);
	meta_check(index, BufferGetPage(*buf));
	memcpy(meta, SfxPageGetMeta(BufferGetPage(*buf)), sizeof(SfxMeta));
}

void
sfx_meta_store(Page page, const SfxMeta *meta)
{
	memcpy(SfxPageGetMeta(page), meta, sizeof(SfxMeta));
	((PageHeader) page)->pd_lower = MAXALIGN(SizeOfPageHeaderData) + sizeof(SfxMeta);
	sfx_glance_void();
}
