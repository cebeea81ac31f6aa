/*-------------------------------------------------------------------------
 * page.h - page layout, checks, and the errors of damaged pages
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PAGE_H
#define SURFIDX_PAGE_H

#include "access/htup_details.h"

/*
 *	offset	size	what
 *	0		24		PageHeaderData
 *	24		...		body: up to pd_lower
 *	...				free
 *	8168	24		SfxPageTail (special space)
 */
typedef enum SfxPageKind
{
	SFX_PAGE_META = 1,
	SFX_PAGE_GATE,
	SFX_PAGE_LOG,
	SFX_PAGE_LEAF,
	SFX_PAGE_INNER,
	SFX_PAGE_DELETED,			/* unlinked: may be reused at once (src/README.md, "Reuse") */
	SFX_PAGE_FILTER,			/* over a few neighbouring leaves (filter_make.h) */
	SFX_PAGE_DICT				/* part of a dictionary, see dict.c */
} SfxPageKind;

typedef struct SfxPageTail
{
	uint64		build_id;		/* the metapage's */
	BlockNumber right;			/* leaf, inner: right neighbour; log, dictionary: its next page */
	uint32		owner;			/* leaf, inner, filter: run id; log: generation; dictionary: its
								 * number */
	uint8		kind;			/* SfxPageKind */
	uint8		level;			/* 0 = leaf */
	uint16		flags;			/* SFX_LOG_SEALED; dictionary: number of the page in its chain */
	uint16		version;		/* the format's: SFX_FORMAT_VERSION, or an older one */
	uint16		page_id;		/* SFX_PAGE_ID: last two bytes, for tools */
} SfxPageTail;

/*
 * The format's version that this code writes, and the oldest that it reads (P5): docs/dev/format.md
 * says what each has brought, format.c what may not change without a new one.  Pages of several
 * versions may stand in one index.
 */
#define SFX_FORMAT_VERSION	1
#define SFX_FORMAT_OLDEST	1
#define SFX_FORMAT_MOST		255 /* more than that is damage */
#define SFX_PAGE_ID			0xFF5F
#define SFX_LOG_SEALED		0x0001

#define SfxPageGetTail(page)	((SfxPageTail *) PageGetSpecialPointer(page))
#define SfxPageBody(page)		((uint8 *) PageGetContents(page))
#define SfxPageBodyLen(page)	((uint32) (((PageHeader) (page))->pd_lower - MAXALIGN(SizeOfPageHeaderData)))
#define SFX_BODY_CAPACITY		(BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(SfxPageTail)))

/* Make page an empty one of that kind, of the current format.  owner: see SfxPageTail. */
extern void sfx_page_init(Page page, SfxPageKind kind, uint64 build_id, uint32 owner, int level);

/* Set the body of a page just made; len is at most SFX_BODY_CAPACITY. */
extern void sfx_page_set_body(Page page, const uint8 *body, uint32 len);

/*
 * Is this a page that this code may look into?  It checks sizes, version and page id.  False: the
 * page is new (all zero).  ERROR (INDEX_CORRUPTED, index and block named) if it is damaged,
 * FEATURE_NOT_SUPPORTED if it is of a format that is not read.  The page is locked, or a copy.
 */
extern bool sfx_page_check(Relation index, BlockNumber blkno, Page page);

/*
 * What is wrong with a page that is not new, so that its body must not be looked into; NULL:
 * nothing.  Another version of the format is not a fault.
 */
extern const char *sfx_page_fault(Page page);

static inline bool
sfx_format_is_read(uint16 version)
{
	return version >= SFX_FORMAT_OLDEST && version <= SFX_FORMAT_VERSION;
}

/* ereport(ERROR, ERRCODE_FEATURE_NOT_SUPPORTED): older than what is read, or newer. */
pg_noreturn extern pg_attribute_cold void sfx_format_unknown(Relation index, BlockNumber blkno,
															 uint16 version);

/* ereport(ERROR, ERRCODE_INDEX_CORRUPTED) naming index and block, with REINDEX in the hint. */
pg_noreturn extern pg_attribute_cold void sfx_corrupt(Relation index, BlockNumber blkno,
													  const char *what);

/*
 * ERROR: what is found stands in another order than it is searched in (K4).  In byte order that is
 * damage; in comparator order the comparisons may have changed, and the error says so.
 */
struct SfxOrder;
pg_noreturn extern pg_attribute_cold void sfx_out_of_order(Relation index,
														   const struct SfxOrder *order,
														   BlockNumber blkno, const char *what);

/* ERROR: a stored TID is none, as damaged bytes may make it, and core does not expect it. */
pg_noreturn extern pg_attribute_cold void sfx_bad_tid(Relation index, uint64 tid);

/*
 * A number of blocks that the table has, greater than the block number of tid; ERROR
 * (ERRCODE_INDEX_CORRUPTED) if tid lies beyond the table's end.  Callers ask before they have core
 * read the row: from 16 on a read beyond the end leaves a buffer in the pool that a growing table
 * may take for its own page.  Costs a system call if the size that this backend remembers is too
 * small.
 */
extern BlockNumber sfx_heap_end(Relation index, Relation heap, uint64 tid);

/*
 * Has the relation's file that block?  *end: a number of blocks that it has, more than that, or, if
 * it has not, all.
 */
extern bool sfx_has_block(Relation rel, BlockNumber blkno, BlockNumber *end);

/*
 * The block that a page names, pinned; a strategy or NULL.  ERRCODE_INDEX_CORRUPTED if it lies
 * beyond the end of the index: the file is cut off only where no reader can hold a link to what
 * goes (G3).
 */
extern Buffer sfx_read_linked(Relation index, BlockNumber blkno, BufferAccessStrategy strategy);

/* The same as an answer: does the table reach to tid?  *end: as above. */
extern bool sfx_heap_reaches(Relation heap, uint64 tid, BlockNumber *end);

/*
 * The largest offset that a TID may have: of a heap's pages, or of bitmaps; other tables' TIDs may
 * have any.
 */
#define SFX_MAX_HEAP_OFFSET	MaxHeapTuplesPerPage
#define SFX_MAX_OFFSET		0xFFFF
extern uint16 sfx_max_offset(Relation heap);

static inline void
sfx_tid_pointer(Relation index, uint16 max_offset, uint64 tid, ItemPointer p)
{
	if (unlikely((uint16) (SFX_TID_OFFSET(tid) - 1) >= max_offset))
		sfx_bad_tid(index, tid);
	ItemPointerSet(p, SFX_TID_BLOCK(tid), SFX_TID_OFFSET(tid));
}

#endif							/* SURFIDX_PAGE_H */
