/*-------------------------------------------------------------------------
 * scan_impl.h - what the files of the access method's scans share
 *
 * scan.c sets a scan up and goes from range to range.  Beside it stand scan_ahead.c (pages of the
 * table asked for before their rows are visited), scan_get.c (one entry at a time), scan_lookups.c
 * (lookups that come soon), scan_rows.c (rows out of decoded blocks), scan_blocks.c (many entries
 * at once, for bitmaps and aggregates), scan_pass.c (rows that are passed over), scan_mark.c and
 * parallel.c.  Only these files include this.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SCAN_IMPL_H
#define SURFIDX_SCAN_IMPL_H

#include "heap_ahead.h"
#include "key.h"
#include "order.h"
#include "predicate.h"
#include "reader.h"
#include "row.h"
#include "row_block.h"
#include "scan.h"
#include "scankey.h"
#include "visible.h"

#include "pgstat.h"

/* To test an entry's TID takes about as long as to look at so much of the map. */
#define MAP_BYTES_AN_ENTRY	32

typedef struct SfxMark
{
	bool		set;
	uint64		tid;
	uint64		nth;			/* as in SfxScan */
	uint32		len;
	uint8	   *key;			/* SFX_MAX_ENTRY bytes */
	int		   *wheels;			/* the odometer: one for each key column, and the pieces' */
} SfxMark;

typedef struct SfxScout SfxScout;

/* ---- the parts of a scan ---- */

/* Rows for index-only scans (scan_rows.c). */
typedef struct ScanRows
{
	bool		unread;			/* the plan reads no column: NULLs will do (index_only.c) */
	bool		form;			/* rows are to be formed */
	bool		set_up;			/* SfxScan.row is */
	int			expected;		/* rows that are likely to be asked for, 0: unknown */
	int			asked;			/* rows that the map might have been asked for */
	int			portion;		/* so many rows are made ready next */
	int			prepared_from;	/* the last ones that were, by their numbers in the block */
	int			prepared;
	SfxVisibility *map;			/* rows by block: NULL: not asked yet */
	SfxRowsOfBlock *values;		/* of rows_ahead; NULL: not needed yet */
} ScanRows;

/* Entries many at once (scan_blocks.c). */
typedef struct ScanBlocks
{
	uint64		tid;			/* what sfx_scan_tids returned, if that was one */
	SfxBlock   *single;			/* what sfx_scan_entries returned: one entry, ... */
	SfxBlock   *merged;			/* ... or entries of several stages */
	bool	   *known;			/* which of merged were looked at */
	uint8	   *payloads;		/* those of merged; NULL: the index has none */
	Size		handed;			/* sfx_scan_entries: so many entries were returned ... */
	bool		looked;			/* ... and the whole map was looked at */
} ScanBlocks;

/* Leaps over entries that fail the filters. */
typedef struct ScanLeap
{
	int			failed;			/* entries in a row that the filters did not let pass */
	int			wait;			/* so many of them, before a leap is tried */
	bool		far;			/* the last leap led to another leaf */
	BlockNumber from;			/* leaf from which the last leap went; InvalidBlockNumber: it is
								 * judged already */
} ScanLeap;

/* A participant of a parallel scan. */
typedef struct ScanShare
{
	int			range;			/* the range that the odometer shows */
	bool		ahead;			/* nothing passes between the steps that fell to us and pos */
	SfxPos		pos;
} ScanShare;

/* What of its ranges a participant of an aggregate reads (parallel.c). */
typedef struct SfxPortion
{
	bool		first;			/* nobody has read anything before */
	bool		ends;			/* it ends at hi; else where the ranges do */
	SfxBoundBuf lo;
	SfxBoundBuf hi;
} SfxPortion;

/* Locks of ranges in SERIALIZABLE transactions. */
typedef struct ScanLocks
{
	bool		wanted;			/* what is read is locked */
	bool		turned;			/* the range in hand was not read straight on from its start */
	ScanDirection dir;			/* of the first fetch in the range in hand */
	SfxKeyLock	lock;			/* the range in hand's */
} ScanLocks;

/* Pages of the table that are asked for before their rows are visited (scan_ahead.c). */
typedef struct ScanAhead
{
	uint64		nth;			/* number of the entry last returned, over all restarts; those that
								 * come in a stretch count when it ends, from ... */
	int			stood;			/* ... this number in its block on */
	uint64		look_at;		/* the entry of this number, with which the scan looks at what
								 * comes (R13) */
	bool		looks_soon;		/* stretches end before that entry */
	bool		scouts;			/* this is another scan's scout */
	int64		patience;		/* a scout's: entries that may fail, and ranges; others have none */
	SfxScout   *scout;			/* NULL: not needed yet */
	SfxHeapAhead pages;			/* for pages of the table; not begun while its heap is NULL */
} ScanAhead;

typedef struct SfxScan
{
	SfxRowsAhead rows_ahead;	/* first: see sfx_scan_row */
	SfxKeyDesc	kd;
	const SfxOrder *order;		/* of the key space; NULL: bytes */
	MemoryContext cxt;			/* lives as long as the scan */
	MemoryContext longs;		/* what decoding a long key leaves; NULL: there was none */
	SfxReader  *reader;			/* NULL until first needed */
	bool		gate;			/* the reader's */

	/* where the scan stands */
	bool		started;		/* the conditions are worked out and the reader stands on a range */
	bool		empty;			/* they contradict one another */
	bool		on_entry;		/* an entry was returned last, which the reader knows */
	bool		on_mark;		/* the restored mark is where the scan stands, and nothing was
								 * returned since */
	bool		swift;			/* an entry was returned last, and those of the reader's stretch
								 * may follow without a look at anything */

	BlockNumber heap_end;		/* the table has so many blocks at least, when last asked */
	uint16		max_offset;		/* of the table's TIDs (page.h) */
	int			nkeys;			/* scan keys, each row comparison being one */
	ScanKey		members;		/* of row comparisons that came in parts; NULL: there were none */
	SfxMark    *mark;
	ScanRows	rows;
	ScanBlocks	blocks;
	ScanLeap	leap;
	ScanShare	share;
	SfxPortion *portion;		/* NULL: all is read */
	ScanLocks	locks;
	ScanAhead	ahead;
	SfxScanKeys keys;
	SfxRow		row;
} SfxScan;

/* The row with which a scan begins to look ahead. */
#define SFX_FIRST_LOOK	3

/* What reads ahead for a scan (scan_ahead.c): another scan, of the same ranges. */
struct SfxScout
{
	IndexScanDesc scan;
	ScanDirection dir;
	uint64		row;			/* number of the row that it returned last */
	bool		stale;			/* it has the conditions of before a restart */
	bool		lost;			/* it has to be led to where its scan stands */
	bool		at_end;			/* there is nothing after that row */
	uint64		asked;			/* pages that had been asked for when it was led last */
	Buffer		map;			/* index-only: the visibility map's page asked last */
};

/* No row is ready: a stretch without an entry. */
extern SfxStretch sfx_no_rows;

/* No row is ready: the stretch is another one, or will be.  Those that were taken are counted. */
static inline void
sfx_scan_forget_rows(IndexScanDesc scan, SfxScan *so)
{
	if (so->rows_ahead.taken > 0)
		pgstat_count_index_tuples(scan->indexRelation, so->rows_ahead.taken);
	so->rows_ahead.taken = 0;
	if (!SFX_MUTANT("rows outlive their stretch"))
		so->rows_ahead.stretch = &sfx_no_rows;
}

/* Count those entries of the stretch in hand that were returned. */
static inline void
sfx_scan_count_stretch(SfxScan *so)
{
	int			at;

	if (!so->swift)
		return;
	at = sfx_reader_in_hand(so->reader)->at;
	so->ahead.nth += abs(at - so->ahead.stood);
	so->ahead.stood = at;
}

/* Is there anything to ask of entries that lie in the ranges? */
static inline bool
sfx_scan_has_filters(const SfxScan *so)
{
	return so->keys.nfilters > 0;
}

/*
 * First fetch after a (re)start: work out the conditions, let the reader stand on the first range.
 */
extern void sfx_scan_start(IndexScanDesc scan, ScanDirection dir);

/* ---- parallel.c: seizing and publishing the steps, or portions, of a parallel scan ---- */

extern SfxParallelScan *sfx_parallel_of(ParallelIndexScanDesc target);

/* Where the next step begins.  The participant that has seized the scan may read and change it. */
typedef struct SfxShare
{
	int			range;			/* number of the range, counted in the direction of the scan */
	bool		at_start;		/* at its start; else at the position below */
	uint32		len;
	uint64		tid;
	uint8		key[SFX_BOUND_MAX];
} SfxShare;

/* Wait for our turn to make a step.  NULL: the scan is at its end. */
extern SfxShare *sfx_parallel_seize(SfxParallelScan *ps);

/* Let the others go on from what we left in the share. */
extern void sfx_parallel_publish(SfxParallelScan *ps, bool done);

/* What of the range [lo, hi) lies in the scan's portion; if nothing, an empty range in it. */
extern void sfx_portion_cut(const SfxScan *so, SfxPos *lo, SfxPos *hi);

/* ---- scan.c ---- */

/* What the reader has to know of the scan: which keys it needs, whose rows it looks at. */
extern void sfx_scan_tell_reader(IndexScanDesc scan, SfxScan *so);

/* The next entry that passes the filters, over all ranges.  False: there is none. */
extern bool sfx_scan_next(IndexScanDesc scan, SfxScan *so, ScanDirection dir, SfxEntry *e);

/*
 * An entry was returned.  May those of the reader's stretch follow, without a look at anything?  The
 * stretch ends before the first one that fails the filters.
 */
extern bool sfx_scan_goes_on(SfxScan *so);

/* Let the reader stand on the range that the odometer shows, the scan's first or a later one. */
extern void sfx_scan_seek_range(IndexScanDesc scan, SfxScan *so, ScanDirection dir, bool first);

/* The range in hand is left: SERIALIZABLE locks shrink to what was read of it. */
extern void sfx_scan_leave_range(IndexScanDesc scan, SfxScan *so);

/* Where the values of a long key may be allocated: empty, and whole until the next call. */
extern MemoryContext sfx_scan_long_context(SfxScan *so);

/*
 * The scout lets go of its step, with the gate that it may hold for a leaf of cut keys, so that
 * VACUUM does not wait for it (V3).  It is led to its scan's place before it is used again.
 */
extern void sfx_scout_rest(SfxScout *s);

/* A scan that returns hints: it locks nothing, has no snapshot, and is not counted. */
extern IndexScanDesc sfx_scout_scan(Relation index, Relation heap, int nkeys);

/*
 * scan_ahead.c: the entry just returned is number so->ahead.look_at, or a later one, and has this
 * TID. Ask for pages that come next, and say when to do that again.
 */
extern void sfx_scan_look_ahead(IndexScanDesc scan, SfxScan *so, ScanDirection dir, uint64 tid);

#endif							/* SURFIDX_SCAN_IMPL_H */
