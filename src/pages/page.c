/*-------------------------------------------------------------------------
 * page.c - making and checking pages, and the errors of damaged ones
 *
 * Every page that is read goes through sfx_page_check before a byte of its body is believed (P1).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "page.h"

#include "storage/smgr.h"
#include "utils/rel.h"

StaticAssertDecl(sizeof(SfxPageTail) == 24, "page tail is 24 bytes on disk");
StaticAssertDecl(offsetof(SfxPageTail, page_id) == 22, "page id stands in the last two bytes");
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
sfx_out_of_order(Relation index, const SfxOrder *order, BlockNumber blkno, const char *what)
{
	if (order == NULL)
		sfx_corrupt(index, blkno, what);
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is out of order at block %u: %s",
					RelationGetRelationName(index), blkno, what),
			 errdetail("A collation, or a comparison function, orders values in another way than "
					   "when they came into the index; or it is damaged."),
			 errhint("Please REINDEX it, and, if a collation has changed with the C library or "
					 "with ICU, every index of such text.")));
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

bool
sfx_has_block(Relation rel, BlockNumber blkno, BlockNumber *end)
{
	*end = RelationGetSmgr(rel)->smgr_cached_nblocks[MAIN_FORKNUM];
	if (*end == InvalidBlockNumber || blkno >= *end)
		*end = RelationGetNumberOfBlocks(rel);
	return blkno < *end;
}

Buffer
sfx_read_linked(Relation index, BlockNumber blkno, BufferAccessStrategy strategy)
{
	BlockNumber end;

	if (!sfx_has_block(index, blkno, &end))
		sfx_corrupt(index, blkno, "a link leads there, beyond the end of the file");
	return ReadBufferExtended(index, MAIN_FORKNUM, blkno, RBM_NORMAL, strategy);
}

bool
sfx_heap_reaches(Relation heap, uint64 tid, BlockNumber *end)
{
	*end = MaxBlockNumber;
	return heap->rd_tableam != GetHeapamTableAmRoutine() ||
		sfx_has_block(heap, SFX_TID_BLOCK(tid), end);
}

uint16
sfx_max_offset(Relation heap)
{
	return heap->rd_tableam == GetHeapamTableAmRoutine() ? SFX_MAX_HEAP_OFFSET : SFX_MAX_OFFSET;
}

BlockNumber
sfx_heap_end(Relation index, Relation heap, uint64 tid)
{
	BlockNumber end;

	if (!sfx_heap_reaches(heap, tid, &end))
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

const char *
sfx_page_fault(Page page)
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

void
sfx_format_unknown(Relation index, BlockNumber blkno, uint16 version)
{
	if (version == 0 || version > SFX_FORMAT_MOST)
		sfx_corrupt(index, blkno, "no version of the page format");
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("index \"%s\" has format version %u at block %u, this library reads versions %u to %u",
					RelationGetRelationName(index), version, blkno,
					SFX_FORMAT_OLDEST, SFX_FORMAT_VERSION),
			 version < SFX_FORMAT_OLDEST ? errhint("REINDEX it.") :
			 errhint("Install a newer surfidx, or REINDEX the index.")));
	pg_unreachable();
}

bool
sfx_page_check(Relation index, BlockNumber blkno, Page page)
{
	SfxPageTail *tail;
	const char *fault;

	if (PageIsNew(page))
		return false;
	fault = sfx_page_fault(page);
	if (fault != NULL)
		sfx_corrupt(index, blkno, fault);
	tail = SfxPageGetTail(page);
	if (!sfx_format_is_read(tail->version))
		sfx_format_unknown(index, blkno, tail->version);
	if (tail->kind < SFX_PAGE_META || tail->kind > SFX_PAGE_DICT)
		sfx_corrupt(index, blkno, "unknown kind of page");
	return true;
}
