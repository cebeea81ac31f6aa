/*-------------------------------------------------------------------------
 * build.h - what the parts of a build share: build.c, spool.c, build_item.c, build_scan.c,
 * build_parallel.c
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_BUILD_H
#define SURFIDX_BUILD_H

#include "surfidx.h"
#include "child_file.h"
#include "column.h"
#include "inner.h"
#include "leaf.h"
#include "meta.h"

#include "access/tableam.h"
#include "storage/sharedfileset.h"

/* ---- spool.c: items on their way into order ---- */

typedef struct SfxSpool SfxSpool;

/* Files that a participant of a parallel build leaves behind, at most. */
#define SFX_SPOOL_FILES	64

/* Where the participants of a parallel build leave what they have sorted, in shared memory. */
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
	SfxSpoolShared *shared;
	int			number;			/* of the participant; -1: the one who brings together what all
								 * have sorted */
} SfxSpoolPart;

/* Bytes of an item at most: key, TID, payload and its length, flags. */
#define SFX_ITEM_MAX	(SFX_MAX_ENTRY + 6 + 3)

/*
 * A sort of a build's items in workmem kilobytes, in the current memory context; the build has to
 * outlive it.  part: of a parallel sort; NULL: all of it.
 */
struct SfxBuild;
extern SfxSpool *sfx_spool_begin(const struct SfxBuild *b, int workmem, const SfxSpoolPart *part);

/*
 * Add an item, which is copied.  In the comparator key space the first key column's value has to
 * come along, and what its class leaves behind is in the current memory context.
 */
extern void sfx_spool_put(SfxSpool *s, const uint8 *item, int len, Datum value, bool isnull);

/* All items are there: sort, or as a worker of a parallel sort hand them to its leader. */
extern void sfx_spool_perform(SfxSpool *s);

/* The next item in order, valid until the next call; NULL at the end. */
extern const uint8 *sfx_spool_next(SfxSpool *s, int *len);
extern void sfx_spool_end(SfxSpool *s);

/* ---- build_plan.c ---- */

/* A key column as the build's processes have to agree on it. */
typedef struct SfxBuildColumn
{
	Oid			type;
	Oid			collation;
	Oid			order_proc;
	Oid			sort_proc;
	Oid			encoding_proc;
	int16		typlen;
	bool		desc;
	bool		nulls_first;
	bool		raw;
	bool		counted;
	bool		has_rest;
} SfxBuildColumn;

/*
 * What a build goes by, serial or parallel.  Compared as bytes.  IndexInfo is for core's scan only:
 * what it says beside this is what the scan reports (ii_BrokenHotChain).
 */
typedef struct SfxBuildPlan
{
	Oid			heap;
	Oid			index;
	SfxLocator	heap_file;
	SfxLocator	index_file;
	/* as core asks for it, which need not be what the catalogs say */
	bool		unique;			/* items end in flags, and neighbours with one key are an error */
	bool		nulls_not_distinct;
	bool		exclusion;		/* the scan waits for others' rows, as it does for unique */
	bool		concurrent;		/* others write meanwhile: the rows of one snapshot */
	bool		partial;
	int			nexpressions;
	AttrNumber	attnum[INDEX_MAX_KEYS];
	/* how keys are made and sorted */
	int			natts;			/* with INCLUDE columns */
	int			nkeys;
	bool		comparator;
	SfxBuildColumn col[INDEX_MAX_KEYS];
	int			workmem;		/* kB, of all participants together */
	/* who runs the functions of expressions, predicates and classes */
	Oid			user;
	int			security;
} SfxBuildPlan;

extern void sfx_build_plan(SfxBuildPlan *plan, Relation heap, Relation index, const IndexInfo *info,
						   const SfxKeyDesc *kd);

/* A worker's: it asks for what the leader was asked for. */
extern IndexInfo *sfx_build_worker_info(Relation index, const SfxBuildPlan *plan);

/* ERROR if this process would make another plan. */
extern void sfx_build_same_plan(const SfxBuildPlan *plan, Relation heap, Relation index,
								const IndexInfo *info, const SfxKeyDesc *kd);

/* ---- the state of a build ---- */

typedef struct SfxBuild
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	SfxKeyDesc	kd;
	const SfxOrder *order;
	const SfxOrder *proof;		/* the order as searches will see it */
	SfxBuildPlan plan;
	SfxSpool   *spool;
	MemoryContext rowcxt;
	double		indtuples;
	struct SfxBuildLeader *leader;	/* of a parallel build */
	/* when leaves and inner pages are written */
	SfxMeta		meta;
	BlockNumber next;			/* the block to be written next */
	SfxChildFile *children;		/* the pages of the level that is written */
	uint8		item[SFX_ITEM_MAX];
} SfxBuild;

/* ---- build_item.c ---- */

/* Flags of an item. */
#define SFX_ITEM_ALIVE		0x01	/* the row was live when the heap was scanned */
#define SFX_ITEM_HAS_NULL	0x02

/* A row becomes an item in b->item, of so many bytes. */
extern int	sfx_build_form_item(SfxBuild *b, ItemPointer tid, Datum *values, bool *isnull, bool alive);

/* What an item of a build says; *e points into it. */
extern void sfx_build_parse_item(const SfxBuild *b, const uint8 *start, int end, SfxEntry *e,
								 uint8 *flags);

/* ---- build_scan.c ---- */

/* What every participant of a build needs to scan.  plan: the leader's; NULL: make it. */
extern void sfx_build_begin(SfxBuild *b, Relation heap, Relation index, IndexInfo *info,
							const SfxBuildPlan *plan);

/* Scan the heap (all of it, or what scan says) into b->spool; rows seen. progress: report it. */
extern double sfx_build_scan(SfxBuild *b, TableScanDesc scan, bool progress);

/* ---- build_parallel.c ---- */

/*
 * Scan and sort with other processes and set b->spool to what they bring; *rows: rows seen. False:
 * this build is to be serial, and nothing was done.
 */
extern bool sfx_build_parallel(SfxBuild *b, double *rows);

/* Let the processes go; b->spool is at its end. */
extern void sfx_build_parallel_end(SfxBuild *b);

#endif							/* SURFIDX_BUILD_H */
