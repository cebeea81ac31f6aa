/*-------------------------------------------------------------------------
 * check.h - what the parts of the verifier share
 *
 *	check.c			the whole: metapage, gates, blocks that nobody owns, standbys, SQL
 *	check_base.c	the error, blocks and their owners, copies of pages
 *	check_entry.c	what an entry has to satisfy wherever it stands
 *	check_delta.c	log pages, and images against them
 *	check_tree.c	leaves and inner pages, level by level
 *	check_heap.c	the index against its table: every row has its entry
 *	check_rows.c	every entry has its row
 *	check_unique.c	no key of a unique index stands twice
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CHECK_H
#define SURFIDX_CHECK_H

#include "surfidx.h"
#include "column.h"
#include "find.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"

#include "lib/bloomfilter.h"
#include "utils/snapshot.h"

typedef struct SfxRows SfxRows;

/* One check of one index. */
typedef struct SfxCheck
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
	SfxRows    *rows;			/* NULL: entries are not held against their rows */
	bool		moving;			/* a merge is on its way through the stage in hand: its entries may
								 * stand in an older one, too */
	uint32		last_seq;		/* of the active generation's last page seen */
	bool		active_seen;	/* ... if it has pages */
	uint64		max_tid;		/* greatest TID of all entries, and a block it stands on */
	BlockNumber max_tid_blkno;
	uint32		unposted;		/* inner pages without a downlink: T3 */
	BlockNumber lost;			/* free blocks that the map lacks: P4 */
	SfxBlock   *block;
	void	   *scratch;		/* for sfx_inner_verify */
	char	   *arena;			/* for decoded keys */
	MemoryContext rowcxt;		/* for what the encoding of a row allocates */
	PGAlignedBlock page;		/* the page in hand */
} SfxCheck;

#define SFX_CHECK_MAX_LEVEL	32

/* The error of a violation: index, block, what is wrong. */
pg_noreturn extern void sfx_broken(SfxCheck *cs, BlockNumber blkno, const char *fmt,...) pg_attribute_printf(3, 4);

/* The same of the order of what is there, which comparisons deny that may have changed (K4). */
pg_noreturn extern void sfx_disordered(SfxCheck *cs, BlockNumber blkno, const char *what);

/*
 * Block blkno, to which block from leads, is taken: it must exist and be nobody else's.  Ends every
 * cycle of links.
 */
extern void sfx_check_own(SfxCheck *cs, BlockNumber from, BlockNumber blkno);

/* Does anybody lead to that block? */
extern bool sfx_check_is_owned(SfxCheck *cs, BlockNumber blkno);

/* The file has so many blocks by now: make room for them. */
extern void sfx_check_grow(SfxCheck *cs, BlockNumber nblocks);

/* Copy a page to cs->page, checked as far as sfx_page_check goes; its tail.  NULL: it is new. */
extern SfxPageTail *sfx_check_copy(SfxCheck *cs, BlockNumber blkno);

/* Of an error's context: arg is a BlockNumber, which the decoders of values do not know. */
extern void sfx_check_context(void *arg);

/* What every entry has to satisfy wherever it stands. */
extern void sfx_check_entry(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e, bool dead);

/* ... of a leaf with cut keys, if the key was not recovered. */
extern void sfx_check_cut_entry(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e);

/* Generation number g of the metapage: its chain of log pages, then its image against the log. */
extern void sfx_check_generation(SfxCheck *cs, int g);

/* Every level of the trees, in the order in which entries move. */
extern void sfx_check_trees(SfxCheck *cs);

/* What stands for an entry in cs->filter: key and TID, or the TID alone where equal keys may have been compressed in different ways; its length.
 * bytes may be key. */
extern int	sfx_check_element(SfxCheck *cs, const uint8 *key, int len, uint64 tid, uint8 *bytes);

/* Make cs->filter, big enough for the entries there are. */
extern void sfx_check_make_filter(SfxCheck *cs);

/* Every row that the snapshot sees has its entry in cs->filter. */
extern void sfx_check_heap(SfxCheck *cs, Snapshot snapshot);

/* No two rows that the snapshot sees have the same key, if the index is unique. */
extern void sfx_check_unique(SfxCheck *cs, Snapshot snapshot);

/*
 * From begin to end each entry is held against its row, by sfx_check_entry: some of them at once,
 * the last ones at the end.
 */
extern void sfx_check_rows_begin(SfxCheck *cs);
extern void sfx_check_rows_end(SfxCheck *cs);
extern void sfx_check_row(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e);

/* The same of an entry whose key the leaf does not have, since its row is gone: a line pointer. */
extern void sfx_check_row_is_there(SfxCheck *cs, BlockNumber blkno, uint64 tid);

/* Only one stage has an entry for that row: M3, M5.  Between begin and end as well. */
extern void sfx_check_only(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e);

/* The row of an entry that was taken out of an image is dead to everybody. */
extern void sfx_check_dead(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e);

/* No entry is for a row beyond the table's end. */
extern void sfx_check_tids(SfxCheck *cs);

#endif							/* SURFIDX_CHECK_H */
