/*-------------------------------------------------------------------------
 * inspect.h - what the functions that look into indexes share
 *
 *	inspect.c			metapage, runs, filters
 *	inspect_page.c		one page: surfidx_page_stats(), surfidx_page_items()
 *	inspect_stats.c		the whole index: surfidx_stats()
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_INSPECT_H
#define SURFIDX_INSPECT_H

#include "tree.h"

#include "lib/stringinfo.h"
#include "tidcodec.h"

/* The metapage; the number of entries in the log of all its generations, dead ones included. */
extern int64 sfx_inspect_meta(Relation index, SfxMeta *meta);

/*
 * Copy a block to page (BLCKSZ, MAXALIGNed), checked as far as sfx_page_check goes; its tail, NULL: it is new.  ERROR if it is of
 * another build.  strategy may be NULL.
 */
extern SfxPageTail *sfx_inspect_copy(Relation index, const SfxMeta *meta, BlockNumber blkno, BufferAccessStrategy strategy, Page page);

/* What leaves consist of, summed up. */
typedef struct SfxLeafSums
{
	int64		entries;
	int64		blocks;
	int64		keys;			/* distinct ones, block by block */
	int64		bytes;			/* of bodies, of which: */
	int64		key_bytes;		/* keys */
	int64		tid_bytes;		/* TIDs and lengths of posting lists */
	int64		payload_bytes;	/* INCLUDE columns; the rest: headers, fences, directories */
	int64		keycodec[SFX_KEYS_CODECS];	/* blocks */
	int64		tidcodec[SFX_TID_CODECS];
} SfxLeafSums;

/* Add that leaf to *sums.  ERROR if it is damaged. */
extern void sfx_inspect_leaf(Relation index, const SfxOrder *order, BlockNumber blkno, Page page, SfxLeafSums *sums);

/* Entries of a log page; *dead: those that VACUUM has flagged.  ERROR if it is damaged. */
extern int64 sfx_inspect_log(Relation index, BlockNumber blkno, Page page, int64 *dead);

/* The codecs of blocks, as jsonb: {"keys": {name: blocks}, "tids": {name: blocks}}. */
extern Datum sfx_inspect_codecs(const SfxLeafSums *sums);

#endif							/* SURFIDX_INSPECT_H */
