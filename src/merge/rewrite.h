/*-------------------------------------------------------------------------
 * rewrite.h - rewriting a group of neighbouring leaves, with or without new entries
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_REWRITE_H
#define SURFIDX_REWRITE_H

#include "surfidx.h"
#include "find.h"
#include "horizon.h"
#include "leaf.h"
#include "meta.h"
#include "pos.h"

typedef struct SfxMergeStats
{
	uint64		taken;			/* entries that came from the delta */
	uint64		removed;		/* entries that the filter dropped */
	int64		entries;		/* entries in leaves: change */
	int64		leaves;			/* leaves: change */
	uint64		groups;			/* groups written */
	uint64		written;		/* leaves written */
	uint64		asked;			/* leaves asked for before they were needed, ... */
	uint64		reads_begun;	/* ... of which so many had to be read */
	BlockNumber asked_last;		/* the last one of them, or of those to which nothing comes; 0: none */
	uint64		rests;			/* bytes of rests in them: before coding, */
	uint64		stored;			/* and as they are stored */
	SfxRestSample *sample;		/* of these rests; NULL: not wanted, or seen already */
	uint32		last_entries;	/* those in the last leaf written, if much of it is empty; else 0 */
	SfxHorizon	horizon;		/* of entries that were in the generation and went nowhere */
} SfxMergeStats;

/* The entries of one generation or run in order, copied out of its image or leaves chunk by chunk. */
#define SFX_SOURCE_CHUNK	512
#define SFX_SOURCE_BYTES	65536

typedef struct SfxSource
{
	Relation	index;
	const SfxOrder *order;
	const SfxMeta *meta;		/* read under the merge lock that is still held */
	uint32		run;			/* 0: it is a generation, ... */
	int			g;				/* ... this one */
	uint64		seen;			/* log entries behind the image */
	bool		unchanged;		/* some of them are of UPDATEs that changed no key */
	SfxHorizon	horizon;		/* of those taken out of it */
	int			n;
	int			at;
	bool		more;			/* there may be entries behind this chunk */
	uint32		used;
	SfxEntry   *entry;
	uint8	   *bytes;
	SfxBlock   *block;			/* of a run's leaf; NULL: a generation */
} SfxSource;

/* run 0: generation meta->gens[g]; else the run with that id. */
extern void sfx_source_init(SfxSource *src, Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, int g);
/* Stand on the first entry >= pos; false if there is none. */
extern bool sfx_source_seek(SfxSource *src, const SfxPos *pos);
/* The entry stood on. */
extern const SfxEntry *sfx_source_peek(SfxSource *src);
extern void sfx_source_advance(SfxSource *src);

/*
 * Into which of the group's parent's children [from, to) do entries of the source fall?  All of a generation's count; of a run's those in hand, and those behind them
 * are not known.
 */
struct SfxGroup;
extern void sfx_source_falls_into(SfxSource *src, const struct SfxGroup *group, int from, int to, bool *wanted);

/* The first entry of generation meta->gens[g] from *pos on: its position replaces *pos.  *n: entries in the image.  False if there is none. */
extern bool sfx_generation_next(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, SfxPosBuf *pos, uint64 *n);

typedef struct SfxGroup
{
	Relation	index;
	const SfxOrder *order;
	SfxMeta    *meta;
	uint32		run;			/* its id */
	bool		has_node;		/* false: the root is a leaf */
	SfxNode		node;			/* the parent */
	int			from;			/* children [from, to) */
	int			to;
	SfxPos		resume;			/* where work goes on after the rewrite */
	bool		resume_inf;		/* nowhere */
	SfxHorizon	horizon;		/* of entries that are dropped, where it is not VACUUM who does it */
	bool		joined;			/* the first leaf has nothing to take */
	int			asked_to;		/* children in front of this one have been asked for, as far as the source falls into them */
	uint32		asked;			/* as in SfxMergeStats */
	uint32		reads_begun;
	Relation	heap;			/* to be asked about versions of rows; NULL: nobody is (the caller sets it after locating) */
} SfxGroup;

#define SFX_GROUP_LEAVES	8	/* neighbours that absorb an overflow, and VACUUM's stride */

/* The group of the one leaf of that run that holds pos.  Merge lock held, meta read under it. kept: for who has many groups; may be NULL. */
extern void sfx_group_locate(SfxGroup *group, Relation index, const SfxOrder *order, SfxMeta *meta, uint32 run, const SfxPos *pos,
							 SfxKeptNode *kept);

/* Take in the leaf to the left, if it is the last one of the group before and much of it is empty. */
extern void sfx_group_join_left(SfxGroup *group, const SfxMergeStats *stats);

/* The block of child i; where the root is a leaf, its own. */
extern BlockNumber sfx_group_leaf(const SfxGroup *group, int i);

/* The group's fences: its low one, and its high one (false: infinity); the latter of any child. */
extern SfxPos sfx_group_low(const SfxGroup *group);
extern bool sfx_group_high(const SfxGroup *group, SfxPos *high);
extern bool sfx_group_child_high(const SfxGroup *group, int child, SfxPos *high);

/*
 * Rewrite the group with the entries of src (may be NULL) and without those whose
 * TID the filter (may be NULL) reports.  With src the group may grow.  Sets resume.  All memory is palloc'd in
 * the current context and left there.
 */
extern void sfx_group_rewrite(SfxGroup *group, SfxSource *src, IndexBulkDeleteCallback filter, void *arg,
							  SfxMergeStats *stats);

/*
 * Child number child of the parent is the next one to be read: ask for those behind it, maintenance_io_concurrency of them, that the source falls into.  They may
 * be the next group's.
 */
extern void sfx_group_asked_before(SfxGroup *group, const SfxMergeStats *stats);
extern void sfx_group_ask_ahead(SfxGroup *group, SfxSource *src, int child);

/* Add the changes of entries and leaves to those of the run on the metapage, if it is still there (vacuum.c). */
extern void sfx_store_tree_stats(Relation index, uint32 run, const SfxMergeStats *stats);
extern void sfx_count_tree_stats(SfxRun *run, const SfxMergeStats *stats);

#endif							/* SURFIDX_REWRITE_H */
