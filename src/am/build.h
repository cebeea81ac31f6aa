/*-------------------------------------------------------------------------
 * build.h - what the parts of a build share: build.c, build_plan.c, build_scan.c, build_item.c,
 * build_parallel.c, spool.c
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_BUILD_H
#define SURFIDX_BUILD_H

#include "child_file.h"
#include "column.h"
#include "leaf.h"
#include "meta.h"

#include "storage/sharedfileset.h"

/* ---- spool.c: sorting items ---- */

typedef struct SfxSpool SfxSpool;

/* Files that a participant of a parallel build leaves, at most. */
#define SFX_SPOOL_FILES	64

/*
 * In shared memory: the files with sorted items that the participants of a parallel build have
 * left.
 */
typedef struct SfxSpoolShared
{
	SharedFileSet files;
	int			nparts;
	struct
	{
		int			nfiles;		/* set by the participant when all its files are there */
		uint32		file[SFX_SPOOL_FILES];	/* their numbers in the set */
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
	int			number;			/* of the participant; -1: the leader's spool that merges what all
								 * have sorted */
} SfxSpoolPart;

/* Bytes of an item, at most: key, TID, payload and its length, flags. */
#define SFX_ITEM_MAX	(SFX_MAX_ENTRY + 6 + 3)

/*
 * Begin a sort of a build's items, with workmem kilobytes, in the current memory context.  The
 * build has to outlive it.  part: its part of a parallel sort; NULL: it sorts everything.
 */
struct SfxBuild;
extern SfxSpool *sfx_spool_begin(const struct SfxBuild *b, int workmem, const SfxSpoolPart *part);

/*
 * Add an item; it is copied.  In the comparator key space value and isnull are those of the first
 * key column; garbage of its class is left in the current memory context.
 */
extern void sfx_spool_put(SfxSpool *s, const uint8 *item, int len, Datum value, bool isnull);

/* All items were added: sort them, or, in a worker, leave them sorted for the leader. */
extern void sfx_spool_perform(SfxSpool *s);

/* The next item in order, valid until the next call; NULL at the end. */
extern const uint8 *sfx_spool_next(SfxSpool *s, int *len);

/* Free the spool, and close its files. */
extern void sfx_spool_end(SfxSpool *s);

/* ---- build_plan.c ---- */

/* A key column, as all processes of a build have to see it. */
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
 * What a build goes by, serial or parallel (A1).  Compared as bytes.  IndexInfo is for core's scan
 * only; what matters of it beyond this is what the scan reports there (ii_BrokenHotChain).
 */
typedef struct SfxBuildPlan
{
	Oid			heap;
	Oid			index;
	SfxLocator	heap_file;
	SfxLocator	index_file;
	/* as core asks for it, which may differ from the catalogs */
	bool		unique;			/* items end in flags, and neighbours with one key are an error */
	bool		nulls_not_distinct;
	bool		exclusion;		/* the scan waits for rows of other transactions, as with unique */
	bool		concurrent;		/* others write meanwhile: the rows of one snapshot are indexed */
	bool		partial;
	int			nexpressions;
	AttrNumber	attnum[INDEX_MAX_KEYS];
	/* how keys are made and sorted */
	int			natts;			/* with INCLUDE columns */
	int			nkeys;
	bool		comparator;
	SfxBuildColumn col[INDEX_MAX_KEYS];
	int			workmem;		/* kB, of all participants together */
	/* the user that runs the functions of expressions, predicates and classes */
	Oid			user;
	int			security;
} SfxBuildPlan;

/* Make the plan of this process. */
extern void sfx_build_plan(SfxBuildPlan *plan, Relation heap, Relation index, const IndexInfo *info,
						   const SfxKeyDesc *kd);

/* A worker's IndexInfo, which asks for what core asked of the leader. */
extern IndexInfo *sfx_build_worker_info(Relation index, const SfxBuildPlan *plan);

/* A1: ERROR if this process would make another plan. */
extern void sfx_build_same_plan(const SfxBuildPlan *plan, Relation heap, Relation index,
								const IndexInfo *info, const SfxKeyDesc *kd);

/* ---- the state of a build ---- */

/* A build in one process. */
typedef struct SfxBuild
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	SfxKeyDesc	kd;
	const SfxOrder *order;
	const SfxOrder *proof;		/* the order as searches use it (K2) */
	SfxBuildPlan plan;
	SfxSpool   *spool;
	/* reset after each row */
	MemoryContext rowcxt;
	/* entries, so far */
	double		indtuples;
	struct SfxBuildLeader *leader;	/* of a parallel build */
	/* when leaves and inner pages are written */
	SfxMeta		meta;
	BlockNumber next;			/* the next block to be written */
	SfxChildFile *children;		/* pages of the level that is being written */
	uint8		item[SFX_ITEM_MAX];
} SfxBuild;

/* ---- build_item.c ---- */

/* Flags of an item. */
#define SFX_ITEM_ALIVE		0x01	/* the row was live when the heap was scanned */
#define SFX_ITEM_HAS_NULL	0x02

/* Make an item of a row, in b->item; returns its length. */
extern int	sfx_build_form_item(SfxBuild *b, ItemPointer tid, Datum *values, bool *isnull, bool alive);

/* Take an item of that length apart; *e points into it. */
extern void sfx_build_parse_item(const SfxBuild *b, const uint8 *start, int end, SfxEntry *e,
								 uint8 *flags);

/* ---- build_scan.c ---- */

/* Initialize *b for a scan, in any participant of a build.  plan: the leader's; NULL: make it. */
extern void sfx_build_begin(SfxBuild *b, Relation heap, Relation index, IndexInfo *info,
							const SfxBuildPlan *plan);

/*
 * Scan the heap, or what scan describes of it, into b->spool; returns the number of rows seen.
 * progress: report progress.
 */
extern double sfx_build_scan(SfxBuild *b, TableScanDesc scan, bool progress);

/* ---- build_parallel.c ---- */

/*
 * Scan and sort with other processes, and make b->spool the merge of what they leave; *rows: rows
 * seen.  False: this build is serial, and nothing was done.
 */
extern bool sfx_build_parallel(SfxBuild *b, double *rows);

/* End the parallel workers; b->spool was read to its end. */
extern void sfx_build_parallel_end(SfxBuild *b);

#endif							/* SURFIDX_BUILD_H */
