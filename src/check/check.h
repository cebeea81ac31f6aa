/*-------------------------------------------------------------------------
 * check.h - what the parts of the verifier share
 *
 *	check.c			the whole: metapage, gates, blocks that nothing owns, standbys, SQL
 *	check_base.c	the error, blocks and their owners, copies of pages
 *	check_entry.c	what an entry has to satisfy wherever it stands
 *	check_delta.c	log pages, and images against them
 *	check_tree.c	leaves and inner pages, level by level
 *	check_heap.c	the index against its table: every row has its entry
 *	check_rows.c	every entry has its row
 *	check_unique.c	no key of a unique index stands twice
 *
 * All of it runs under the merge lock, or on a standby (T4).  Violations are ERRORs of sfx_broken.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CHECK_H
#define SURFIDX_CHECK_H

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
	uint8	   *owned;			/* a bit for each block: something leads to it */
	bloom_filter *filter;		/* of (key, TID); NULL: not asked for */
	SfxRows    *rows;			/* NULL: entries are not compared with their rows */
	bool		moving;			/* a merge is moving entries out of the current stage: they may be
								 * in an older one as well */
	uint32		last_seq;		/* of the active generation's last page seen, ... */
	bool		active_seen;	/* ... if it has pages */
	uint64		max_tid;		/* greatest TID of all entries, and a block where it stands */
	BlockNumber max_tid_blkno;
	uint32		unposted;		/* inner pages without a downlink: T3 */
	BlockNumber lost;			/* free blocks that the free space map lacks: P3 */
	SfxBlock   *block;
	void	   *scratch;		/* for sfx_inner_verify */
	char	   *arena;			/* for decoded keys */
	MemoryContext rowcxt;		/* garbage of the encoding of a row */
	PGAlignedBlock page;		/* the current page */
} SfxCheck;

/* ERROR: a violation, with index, block and what is wrong. */
pg_noreturn extern void sfx_broken(SfxCheck *cs, BlockNumber blkno, const char *fmt,...) pg_attribute_printf(3, 4);

/* ERROR: what is there is out of order by comparisons, which may have changed (K4). */
pg_noreturn extern void sfx_disordered(SfxCheck *cs, BlockNumber blkno, const char *what);

/*
 * Note that block `from` leads to block blkno, which must exist and which nothing else may lead to.
 * Ends every cycle of links.
 */
extern void sfx_check_own(SfxCheck *cs, BlockNumber from, BlockNumber blkno);

/* Does anything lead to that block? */
extern bool sfx_check_is_owned(SfxCheck *cs, BlockNumber blkno);

/* Make room for the blocks that the file has by now. */
extern void sfx_check_grow(SfxCheck *cs, BlockNumber nblocks);

/*
 * Copy a page to cs->page, checked as far as sfx_page_check goes; returns its tail, NULL if it is
 * new.
 */
extern SfxPageTail *sfx_check_copy(SfxCheck *cs, BlockNumber blkno);

/* For error contexts: arg points to a BlockNumber, which the decoders of values do not know. */
extern void sfx_check_context(void *arg);

/* Check what every entry has to satisfy wherever it stands.  dead: it is flagged. */
extern void sfx_check_entry(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e, bool dead);

/* The same for an entry of a leaf with cut keys, whose key was not recovered. */
extern void sfx_check_cut_entry(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e);

/* Check generation meta.gens[g]: its chain of log pages, then its image against the log. */
extern void sfx_check_generation(SfxCheck *cs, int g);

/* Check every level of the trees, in the order in which entries move. */
extern void sfx_check_trees(SfxCheck *cs);

/*
 * The element that stands for an entry in cs->filter, in bytes (which may be key): key and TID, or
 * the TID alone where equal keys may have been compressed in different ways.  Returns its length.
 */
extern int	sfx_check_element(SfxCheck *cs, const uint8 *key, int len, uint64 tid, uint8 *bytes);

/* Make cs->filter, large enough for the entries that there are. */
extern void sfx_check_make_filter(SfxCheck *cs);

/* Check that every row that the snapshot sees has its entry in cs->filter. */
extern void sfx_check_heap(SfxCheck *cs, Snapshot snapshot);

/* Check that no two rows that the snapshot sees have the same key, if the index is unique. */
extern void sfx_check_unique(SfxCheck *cs, Snapshot snapshot);

/*
 * Between begin and end sfx_check_entry compares each entry with its row: many at once, the last
 * ones at the end.
 */
extern void sfx_check_rows_begin(SfxCheck *cs);
extern void sfx_check_rows_end(SfxCheck *cs);
extern void sfx_check_row(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e);

/*
 * The same for an entry whose key the leaf does not have, since its row is gone: it must lead to a
 * line pointer.
 */
extern void sfx_check_row_is_there(SfxCheck *cs, BlockNumber blkno, uint64 tid);

/* Check, between begin and end, that only one stage has an entry for that row (M4, M5). */
extern void sfx_check_only(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e);

/*
 * Check that the row of an entry that was taken out of an image was dead to all snapshots then (X1);
 * taken: the horizon of all that was taken out of it.  NULL: the entry is flagged as dead; then the
 * row must be gone for every new snapshot.
 */
extern void sfx_check_dead(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e,
						   const SfxHorizon *taken);

/* Check that no entry is for a row beyond the table's end. */
extern void sfx_check_tids(SfxCheck *cs);

#endif							/* SURFIDX_CHECK_H */
