/*-------------------------------------------------------------------------
 * agg_group_impl.h - groups of entries: what agg_group.c and agg_queue.c share
 *
 * agg_group.c reads the entries and gives groups out; agg_queue.c keeps those that are open or wait
 * for rows that are put off.
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
 * Rows put off before they are looked at, and entries taken at once: first few, for who wants few
 * groups.
 */
#define SFX_ROWS_FIRST	16
/* ... many, for who wants one group. */
#define SFX_ROWS_FIRST_OF_ALL	8192

/* Bytes that grow; places in it are told by offsets. */
typedef struct Bytes
{
	uint8	   *data;
	Size		used;
	Size		size;
} Bytes;

typedef struct Gathered
{
	Size		key;			/* where the key of its first entry stands in keys */
	uint32		keylen;
	uint32		len;			/* bytes of the key that tell the group; with a bucket: before it */
	uint32		outer;			/* distinct: those that tell the group around it */
	bool		squeezed;		/* equal keys may have other bytes */
	SfxBucketed bucket;			/* if rows are grouped by one */
	uint64		visible;		/* rows */
} Gathered;

/* A row that is put off, beside its TID. */
typedef struct Row
{
	Size		at;				/* key, then payload, in row_bytes */
	uint16		keylen;
	uint16		paylen;
	bool		haspay;
	int			group;
} Row;

struct SfxGroups
{
	IndexScanDesc scan;
	Relation	index;
	MemoryContext cxt;
	SfxKeyDesc	kd;
	const SfxOrder *order;
	SfxGrouping by;
	int			columns;		/* of the groups in the queue */
	SfxBucket  *bucket;			/* of the last one, or NULL */
	SfxVisibility *visibility;
	SfxAggregates *aggregates;
	const SfxAggOutput *outputs;
	int			noutputs;
	uint64		visible;		/* since sfx_groups_rows */
	bool		ended;			/* the scan has no more entries */
	bool		fed;			/* entries were asked for in any order */

	/* the scan's entries in hand: so many of the block, from left_from on, were not taken yet */
	const SfxBlock *block;
	int			left;
	int			left_from;
	const bool *known;			/* of the block's entries: rows that are; NULL: unknown */
	int			portion;		/* so many are taken at once */

	int			untried;		/* coded blocks to come that are not tried, */
	int			next_untried;	/* ... and how many behind the next one with hidden rows */

	/* the queue: given out, ready, waiting */
	Gathered   *group;
	SfxAggState *states;		/* noutputs for each */
	int			ngroups;
	int			room;
	int			ready;			/* the first so many are ready */
	int			given;
	Bytes		keys;

	/* groups of one entry, which come behind those that are ready: [one, ones_end) of this block */
	const SfxBlock *ones;		/* NULL: none; its entry ones_end is to open a group behind them */
	int			one;
	int			ones_end;
	Datum	   *ones_values;	/* of output k's group of entry i: [k * ONES_STRIDE + i] */
	MemoryContext ones_cxt;		/* those by reference */

	/* rows put off */
	int			nrows;
	int			most_rows;		/* and no more, a stretch's aside */
	int			rows_room;
	uint64	   *tid;
	Row		   *row;
	bool	   *seen;
	Bytes		row_bytes;

	/* distinct: the group around those in the queue */
	bool		around;
	const Gathered *held;		/* of the queue, not added to it yet; NULL while the queue moves */
	Gathered	outer;			/* its key stands in outer_key */
	SfxAggState *outer_states;

	/* leaps to the ends of groups (agg_leap.c) */
	bool		leaps;			/* outputs are decided by a group's first rows, ... */
	bool		leaps_last;		/* ... some by its last ones */
	bool		counts;			/* ... or they are but counted */
	int			gathered;		/* entries of the open group since it began, or the last leap */
	int			patience;		/* so many are read before a leap, */
	int			block_patience; /* ... and before blocks of a leaf are counted */
	BlockNumber leapt_from;		/* the leaf of the last one */

	SfxBlock   *single;
	MemoryContext given_cxt;	/* values of the group given out, as far as they are made for it */
	uint8		outer_key[SFX_MAX_ENTRY];
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	PGAlignedBlock arena[SFX_ARENA / BLCKSZ];
};

/* The aggregates of a group of the queue. */
static inline SfxAggState *
sfx_queue_states(SfxGroups *g, int group)
{
	return g->states + (Size) group * g->noutputs;
}

/* The same where bytes differ. */
extern bool sfx_queue_same_by_order(SfxGroups *g, const uint8 *a, uint32 len, bool squeezed,
									int columns, const uint8 *b, uint32 keylen);

/*
 * Is the key equal to another one in its first columns, of which those are len bytes?  Equal
 * columns have equal bytes, but where long values are compressed.
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

/* Is entry i of the group that is open, the last one of the queue? */
extern bool sfx_queue_belongs(SfxGroups *g, const SfxBlock *block, int i);

/* Entries [from, returned value), at most to, are of that group, as from is. */
extern int	sfx_queue_end_of_group(SfxGroups *g, const SfxBlock *block, int from, int to);

/* ereport(ERROR, ERRCODE_INDEX_CORRUPTED): entries that were read are in no order. */
pg_noreturn extern void sfx_groups_misled(const SfxGroups *g);

/* A group begins with this key, which is copied. */
extern void sfx_queue_open(SfxGroups *g, const uint8 *key, uint32 keylen);

/* The groups that were given out go; what is open comes to the queue's start. */
extern void sfx_queue_drop_given(SfxGroups *g);

/* The row of entry i, of the group that is open, is put off. */
extern void sfx_queue_put_off(SfxGroups *g, const SfxBlock *block, int i);

/* Look at the rows that are put off; those that are visible go to their groups. */
extern void sfx_queue_settle(SfxGroups *g);

/* Is there so much in hand that rows have to be looked at? */
extern bool sfx_queue_is_full(const SfxGroups *g);

/* ---- agg_leap.c ---- */

/* Are the outputs of the kinds that groups' ends decide? */
extern void sfx_groups_plan_leaps(SfxGroups *g);

/*
 * The open group has had entries enough to leave the rest, if it is decided; key: the last one's.
 */
extern void sfx_groups_leap(SfxGroups *g, const uint8 *key, uint32 keylen);

/* ... to count it, where the scan can, without TIDs. */
extern void sfx_groups_count_on(SfxGroups *g, const uint8 *key, uint32 keylen);

#endif							/* SURFIDX_AGG_GROUP_IMPL_H */
