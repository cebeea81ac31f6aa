/*-------------------------------------------------------------------------
 * inspect.h - what the functions that look into indexes share
 *
 *	inspect.c		metapage, runs, filters
 *	inspect_page.c	one page: surfidx_page_stats(), surfidx_page_items()
 *	inspect_dict.c	what dictionaries save
 *	inspect_stats.c	the whole index: surfidx_stats()
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_INSPECT_H
#define SURFIDX_INSPECT_H

#include "leaf.h"
#include "meta.h"
#include "page.h"
#include "tidcodec.h"

/*
 * Copy a block to page (BLCKSZ, MAXALIGNed), checked as far as sfx_page_check goes; returns its
 * tail, NULL if it is new.  ERROR if it is of another build.  strategy may be NULL.
 */
extern SfxPageTail *sfx_inspect_copy(Relation index, const SfxMeta *meta, BlockNumber blkno, BufferAccessStrategy strategy, Page page);

/* Sums over leaves. */
typedef struct SfxLeafSums
{
	int64		entries;
	int64		cut_entries;	/* ... of leaves with cut keys */
	int64		blocks;
	int64		keys;			/* distinct keys, block by block */
	int64		bytes;			/* of bodies, of which: */
	int64		key_bytes;		/* keys */
	int64		tid_bytes;		/* TIDs and lengths of posting lists */
	int64		payload_bytes;	/* INCLUDE columns; the rest: headers, fences, directories */
	int64		keycodec[SFX_KEYS_CODECS];	/* blocks with each codec */
	int64		tidcodec[SFX_TID_CODECS];
} SfxLeafSums;

/* Add a leaf to *sums.  ERROR if it is damaged. */
extern void sfx_inspect_leaf(Relation index, const SfxOrder *order, BlockNumber blkno, Page page, SfxLeafSums *sums);

/*
 * Number of entries of a log page; *dead: of those that VACUUM has flagged.  ERROR if it is
 * damaged.
 */
extern int64 sfx_inspect_log(Relation index, BlockNumber blkno, Page page, int64 *dead);

/*
 * Attach the dictionary of a leaf that was copied to page a moment ago.  A dictionary goes with the
 * last leaf that needs it, and that may have been this one; so it is looked up under the leaf's
 * lock, if the leaf still is what was copied; else false.  It stays open to the end of the
 * transaction.
 */
extern bool sfx_inspect_attach(Relation index, BlockNumber blkno, Page page, SfxLeaf *leaf);

/*
 * A dictionary's leaves among those looked at, and the rests of the first SFX_MEASURED_LEAVES of
 * them: bytes before coding, and as they are stored.
 */
#define SFX_MEASURED_LEAVES	32
typedef struct SfxDictSum
{
	int64		leaves;
	int64		measured;
	uint64		raw;
	uint64		stored;
} SfxDictSum;

/*
 * Add a leaf, copied to page, to its dictionary's sums: sums[i] is that of meta->dict[i].  ERROR if
 * it is damaged.
 */
extern void sfx_inspect_dicts(Relation index, const SfxMeta *meta, const SfxOrder *order, BlockNumber blkno, Page page, SfxDictSum *sums);

/*
 * A jsonb array with an object for each dictionary, oldest first.  scale: leaves of the index for
 * each leaf looked at.
 */
extern Datum sfx_inspect_dicts_json(const SfxMeta *meta, const SfxDictSum *sums, double scale);

/* The codecs of blocks, as jsonb: {"keys": {name: blocks}, "tids": {name: blocks}}. */
extern Datum sfx_inspect_codecs(const SfxLeafSums *sums);

#endif							/* SURFIDX_INSPECT_H */
