/*-------------------------------------------------------------------------
 * build.h - what the parts of a build share: build.c, spool.c, build_parallel.c
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_BUILD_H
#define SURFIDX_BUILD_H

#include "surfidx.h"
#include "column.h"
#include "inner.h"
#include "meta.h"

#include "access/tableam.h"
#include "storage/sharedfileset.h"
#include "utils/tuplesort.h"

/* ---- spool.c: items on their way into order ---- */

typedef struct SfxSpool SfxSpool;

/* Files that a participant of a parallel build leaves behind, at most. */
#define SFX_SPOOL_FILES	64

/* Where the participants of a parallel build leave what they have sorted, in shared memory: in ordered bytes files, else tuplesort's. */
typedef struct SfxSpoolShared
{
	SharedFileSet files;
	int			nparts;
	struct
	{
		int			nfiles;		/* set by the participant when all are there */
		uint32		file[SFX_SPOOL_FILES];	/* numbers in the set */
	}			part[FLEXIBLE_ARRAY_MEMBER];
} SfxSpoolShared;

static inline Size
sfx_spool_shared_size(int participants)
{
	return offsetof(SfxSpoolShared, part) + participants * sizeof(((SfxSpoolShared *) 0)->part[0]);
}

/* A spool's part in a parallel build. */
typedef struct SfxSpoolPart
{
	SortCoordinate coordinate;
	SfxSpoolShared *shared;
	int			number;			/* of the participant; -1: the one who brings together what all have sorted */
} SfxSpoolPart;

/* Bytes of an item at most: key, TID, payload and its length, flags. */
#define SFX_ITEM_MAX	(SFX_MAX_ENTRY + 6 + 3)

/*
 * A sort in workmem kilobytes, in the current memory context; kd and order must outlive it.  part: of a parallel
 * sort; NULL: all of it.
 */
extern SfxSpool *sfx_spool_begin(Relation index, const SfxKeyDesc *kd, const SfxOrder *order, int workmem,
								 const SfxSpoolPart *part);
/* Add an item, which is copied. In the comparator key space the key columns' values have to come along. */
extern void sfx_spool_put(SfxSpool *s, const uint8 *item, int len, const Datum *values, const bool *isnull);
/* All items are there: sort, or as a worker of a parallel sort hand them to its leader. */
extern void sfx_spool_perform(SfxSpool *s);
/* The next item in order, valid until the next call; NULL at the end. */
extern const uint8 *sfx_spool_next(SfxSpool *s, int *len);
extern void sfx_spool_end(SfxSpool *s);

/* ---- build.c ---- */

typedef struct SfxBuild
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	SfxKeyDesc	kd;
	const SfxOrder *order;
	const SfxOrder *proof;		/* the order as searches will see it */
	bool		has_payload;
	bool		unique;
	SfxSpool   *spool;
	MemoryContext rowcxt;
	double		indtuples;
	struct SfxBuildLeader *leader;	/* of a parallel build */
	/* when leaves and inner pages are written */
	SfxMeta		meta;
	BlockNumber next;			/* the block to be written next */
	SfxChild   *children;
	int			nchildren;
	int			maxchildren;
	uint8		item[SFX_ITEM_MAX];
} SfxBuild;

/* What every participant of a build needs to scan. */
extern void sfx_build_begin(SfxBuild *b, Relation heap, Relation index, IndexInfo *info);
/* Scan the heap (all of it, or what scan says) into b->spool; rows seen. progress: report it. */
extern double sfx_build_scan(SfxBuild *b, TableScanDesc scan, bool progress);

/* ---- build_parallel.c ---- */

/*
 * Scan and sort with other processes and set b->spool to what they bring; *rows: rows seen. False: this build is to be
 * serial, and nothing was done.
 */
extern bool sfx_build_parallel(SfxBuild *b, double *rows);
/* Let the processes go; b->spool is at its end. */
extern void sfx_build_parallel_end(SfxBuild *b);

#endif							/* SURFIDX_BUILD_H */
