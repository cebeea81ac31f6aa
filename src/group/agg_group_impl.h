/*-------------------------------------------------------------------------
 * agg_group_impl.h - groups of entries: what agg_group.c, agg_queue.c and agg_leap.c share
 *
 * agg_group.c reads the entries and gives groups out; agg_queue.c keeps groups that are open or
 * wait for rows that are put off; agg_leap.c leaves out the rest of large groups.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_GROUP_IMPL_H
#define SURFIDX_AGG_GROUP_IMPL_H

#include "agg_bucket.h"
#include "agg_group.h"
#include "encode.h"
#include "key.h"
#include "order.h"
#include "visible.h"

#include "access/relscan.h"

/*
 * Rows that are put off before they are looked at, and entries that are taken at once: few at
 * first, in case few groups are wanted.
 */
#define SFX_ROWS_FIRST	16
/* The same where one group is wanted: many. */
#define SFX_ROWS_FIRST_OF_ALL	8192

/* A growing string of bytes; places in it are offsets. */
typedef struct Bytes
{
	uint8	   *data;
	Size		used;
	Size		size;
} Bytes;

/* A group of the queue. */
typedef struct Gathered
{
	Size		key;			/* offset in keys of its first entry's key */
	uint32		keylen;
	uint32		len;			/* bytes of the key that tell the group apart; with a bucket: those
								 * before it */
	uint32		outer;			/* distinct: those that tell the group around it apart */
	bool		squeezed;		/* equal keys may have different bytes */
	SfxBucket	bucket;			/* if rows are grouped by a bucket */
	uint64		visible;		/* visible rows */
} Gathered;

/* A row that is put off; its TID stands beside it. */
typedef struct Row
{
	Size		at;				/* offset in row_bytes of key and payload */
	uint16		keylen;
	uint16		paylen;
	bool		haspay;
	int			group;
} Row;

/* All groups of a scan. */
struct SfxGroups
{
	IndexScanDesc scan;
	Relation	index;
	MemoryContext cxt;
	SfxKeyDesc	kd;
	const SfxOrder *order;
	SfxGrouping by;
	int			columns;		/* of the groups in the queue */
	SfxBucketer *bucketer;		/* of the last of these columns, or NULL */
	SfxExprs   *exprs;			/* NULL: there are no expressions */
	SfxCondition *condition;	/* that rows have to pass; NULL: all do */
	SfxVisibility *visibility;
	SfxAggregates *aggregates;
	const SfxAggOutput *outputs;
	int			noutputs;
	uint64		visible;		/* visible rows since sfx_groups_rows, ... */
	uint64		refused;		/* ... and those that the condition refused */
	bool		ended;			/* the scan has no more entries */
	bool		careful;		/* entries of the next group are added when it is asked for, as
								 * they may raise errors */
	bool		in_order;		/* entries have to be added in index order (Y9) */
	bool		feed_tried;		/* entries were asked for in any order (R9), or have to be in order */

	/* entries of the scan in hand: `left` of the block, from left_from on, were not taken yet */
	const SfxBlock *block;
	int			left;
	int			left_from;
	const bool *known;			/* for each of the block's entries: is its row known to be visible?
								 * NULL: unknown */
	int			portion;		/* entries taken at once */

	int			untried;		/* coded blocks that will not be tried, ... */
	int			next_untried;	/* ... and how many after the next one with hidden rows */

	/* the queue: groups given out, then ready ones, then those that wait, then the open one */
	Gathered   *group;
	SfxAggState *states;		/* noutputs for each */
	int			ngroups;
	int			room;
	int			ready;			/* groups, from the first on, that are given out or ready */
	int			given;			/* groups given out */
	Bytes		keys;

	/*
	 * groups of one entry each, which come after those that are ready: entries [one, ones_end) of
	 * a block
	 */
	const SfxBlock *ones;		/* NULL: there are none; its entry ones_end opens a group after
								 * them */
	int			one;
	int			ones_end;
	Datum	   *ones_values;	/* output k of entry i: [k * ONES_STRIDE + i] */
	MemoryContext ones_cxt;		/* by-reference values of these */

	/* rows that are put off */
	int			nrows;
	int			most_rows;		/* at most, apart from those of one stretch */
	int			rows_room;
	uint64	   *tid;
	Row		   *row;
	bool	   *seen;
	Bytes		row_bytes;

	/* distinct: the group around those of the queue */
	bool		around;
	const Gathered *held;		/* a group of the queue that was not added to it yet; NULL while
								 * the queue moves */
	Gathered	outer;			/* its key is in outer_key */
	SfxAggState *outer_states;

	/* leaps to the ends of groups (agg_leap.c) */
	bool		leaps;			/* the outputs are decided by a group's first rows, ... */
	bool		leaps_last;		/* ... and some of them by its last rows */
	bool		counts;			/* or they are just counts */
	int			gathered;		/* entries of the open group since it began, or the last leap */
	int			patience;		/* entries that are read before a leap, ... */
	int			block_patience; /* ... and before blocks of a leaf are counted */
	BlockNumber leapt_from;		/* the leaf of the last leap */

	SfxBlock   *single;
	MemoryContext given_cxt;	/* values made for the group that is given out */
	uint8		outer_key[SFX_MAX_ENTRY];
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	PGAlignedBlock arena[SFX_ARENA / BLCKSZ];
	PGAlignedBlock payload_arena[SFX_ARENA / BLCKSZ];
};

/* The states of a group of the queue. */
static inline SfxAggState *
sfx_queue_states(SfxGroups *g, int group)
{
	return g->states + (Size) group * g->noutputs;
}

/* The same, where bytes differ. */
extern bool sfx_queue_same_by_order(SfxGroups *g, const uint8 *a, uint32 len, bool squeezed,
									int columns, const uint8 *b, uint32 keylen);

/*
 * Is the key equal to another one in the leading columns, which are len bytes of a?  Equal columns
 * have equal bytes, except where long values are compressed.
 */
static inline bool
sfx_queue_same(SfxGroups *g, const uint8 *a, uint32 len, bool squeezed, int columns,
			   const uint8 *b, uint32 keylen)
{
	if (keylen >= len && memcmp(a, b, len) == 0)
		return true;
	if (likely(!g->kd.comparator))
		return false;
	return sfx_queue_same_by_order(g, a, len, squeezed, columns, b, keylen);
}

/* Does entry i belong to the open group, the last one of the queue? */
extern bool sfx_queue_belongs(SfxGroups *g, const SfxBlock *block, int i);

/* Entries [from, result), at most up to `to`, belong to the open group, as `from` does. */
extern int	sfx_queue_end_of_group(SfxGroups *g, const SfxBlock *block, int from, int to);

/* ERROR (INDEX_CORRUPTED): entries that were read are not in order. */
pg_noreturn extern void sfx_groups_misled(const SfxGroups *g);

/* Open a group with this key; it is copied. */
extern void sfx_queue_open(SfxGroups *g, const uint8 *key, uint32 keylen);

/* Remove the groups that were given out; the open group moves to the queue's start. */
extern void sfx_queue_drop_given(SfxGroups *g);

/*
 * Put off the row of entry i, which belongs to the open group: its key and payload are copied (Y9).
 */
extern void sfx_queue_put_off(SfxGroups *g, const SfxBlock *block, int i);

/* Look at the rows that are put off; those that are visible are added to their groups. */
extern void sfx_queue_settle(SfxGroups *g);

/* Is it time to look at rows: are there as many, or as many groups, as the queue takes? */
extern bool sfx_queue_is_full(const SfxGroups *g);

/*
 * Add entries [from, to) of a decoded block, whose rows are visible, to a group of the queue, as far
 * as they pass the condition.
 */
extern void sfx_queue_add(SfxGroups *g, int group, const SfxBlock *block, int from, int to);

/* ---- agg_leap.c ---- */

/* Find out which leaps the outputs allow. */
extern void sfx_groups_plan_leaps(SfxGroups *g);

/*
 * Enough entries of the open group were read: leave out the rest, if the group is decided (Y18).
 * key: the last entry's.
 */
extern void sfx_groups_leap(SfxGroups *g, const uint8 *key, uint32 keylen);

/*
 * Enough entries of the open group were read: count the rest without TIDs, if the scan can (Y19).
 * key: the last entry's.
 */
extern void sfx_groups_count_on(SfxGroups *g, const uint8 *key, uint32 keylen);

#endif							/* SURFIDX_AGG_GROUP_IMPL_H */
