/*-------------------------------------------------------------------------
 * scan.h - the access method's scan functions
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SCAN_H
#define SURFIDX_SCAN_H

#include "page.h"
#include "reader.h"

#include "access/relscan.h"

extern IndexScanDesc sfx_beginscan(Relation index, int nkeys, int norderbys);
extern void sfx_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
					   int norderbys);
extern bool sfx_gettuple(IndexScanDesc scan, ScanDirection dir);

/*
 * No column of the scan's rows is read: NULLs will do.  It holds for rescans, too; a call after the
 * first row is ignored.
 */
extern void sfx_scan_unread(IndexScanDesc scan);

/*
 * So many rows are likely to be asked for, of each range.  A hint (N4), to be given before the
 * first row; it holds for rescans, too.
 */
extern void sfx_scan_expect(IndexScanDesc scan, int rows);

/* A scan's state begins with this: which rows the stretch in hand has ready for sfx_scan_row. */
typedef struct SfxRowsAhead
{
	SfxStretch *stretch;		/* the reader's, or an empty one: none are */
	int			taken;			/* by sfx_scan_row, and not counted yet */
	int			natts;
	const Datum *value;			/* natts for each entry, by its number in the block, ... */
	const bool *isnull;
	bool		ready[SFX_BLOCK_ENTRIES];	/* ... if they are made, and the map says that the row
											 * is visible */
} SfxRowsAhead;

/* The stretch's next entry becomes the one last returned. */
static inline void
sfx_scan_take(IndexScanDesc scan, SfxStretch *s)
{
	Assert(s->at != s->end);
	sfx_tid_pointer(scan->indexRelation, SFX_MAX_OFFSET, s->block->tid[s->at], &scan->xs_heaptid);
	s->at += s->step;
	((SfxRowsAhead *) scan->opaque)->taken++;
}

/*
 * The short way of an index-only scan, in place of sfx_gettuple: the values of the next row, if it
 * follows the one last returned in a decoded block, and the map tells that it is visible.  They are
 * valid until the next call.  False: it is not ready, and nothing has changed; then
 * sfx_scan_row_slowly is asked, and if that returns false, too, it takes sfx_gettuple.
 */
static inline bool
sfx_scan_row(IndexScanDesc scan, ScanDirection dir, Datum *values, bool *isnull)
{
	SfxRowsAhead *rows = (SfxRowsAhead *) scan->opaque;
	SfxStretch *s = rows->stretch;
	int			i = s->at;

	if (unlikely(i == s->end || s->step != (int) dir || !rows->ready[i]))
		return false;
	if (rows->natts == 1)
	{
		values[0] = rows->value[i];
		isnull[0] = rows->isnull[i];
	}
	else
		for (int c = 0, from = i * rows->natts; c < rows->natts; c++)
		{
			values[c] = rows->value[from + c];
			isnull[c] = rows->isnull[from + c];
		}
	sfx_scan_take(scan, s);
	return true;
}

extern bool sfx_scan_row_slowly(IndexScanDesc scan, ScanDirection dir, Datum *values,
								bool *isnull);

/*
 * In place of as many calls of sfx_gettuple, right after the rescan: pass over the first n rows in
 * that direction that v's snapshot sees, or entries, if v is NULL.  Returns how many; if fewer than
 * n, the scan is at its end.  *fetched: rows that were looked at in the table.  Not in parallel
 * scans.
 */
struct SfxVisibility;
extern uint64 sfx_scan_pass(IndexScanDesc scan, ScanDirection dir, uint64 n,
							struct SfxVisibility *v, uint64 *fetched);

extern int64 sfx_getbitmap(IndexScanDesc scan, TIDBitmap *tbm);

/*
 * In place of sfx_gettuple, forward, after sfx_scan_unread: *tid, the TIDs of the next entries, one
 * or many.  Returns their number, 0 at the end.  They are valid until the next call; the gate is
 * held until then if xs_want_itup is set.
 */
extern int	sfx_scan_tids(IndexScanDesc scan, const uint64 **tid);

/*
 * The same for a count, directly after the rescan: add all rows to v.  False: not that way, nothing
 * was added.
 */
extern bool sfx_scan_count(IndexScanDesc scan, struct SfxVisibility *v);

/* The same for a caller that needs keys, but no order: see sfx_reader_feed. */
struct SfxTaker;
extern bool sfx_scan_feed(IndexScanDesc scan, struct SfxVisibility *v,
						  const struct SfxTaker *taker);

/*
 * The same with keys and payloads: the next entries, of a decoded block those from *from on, and
 * how many.  Several that come at once are neighbours in one block.  If that is tidless, their rows
 * are visible; those that are *known, by their number in the block (NULL: none), are, too; of the
 * others v's map has to be asked.  v has to last until the scan is started anew, or ends.
 */
extern int	sfx_scan_entries(IndexScanDesc scan, struct SfxVisibility *v,
							 const SfxBlock **block, int *from, const bool **known);

/*
 * For callers that read entries so, and skip some: may the scan leave entries out (can_skip)?  The
 * leaf that it reads from (leaf).  Go on at pos, or the range's end if that comes first (skip).
 * After sfx_scan_skip, before anything else is read: the entries before pos, backward, one by one
 * in a block (back; false: there is none in the range); after those another sfx_scan_skip has to
 * come.
 */
extern bool sfx_scan_can_skip(IndexScanDesc scan);
extern BlockNumber sfx_scan_leaf(IndexScanDesc scan);
extern void sfx_scan_skip(IndexScanDesc scan, const SfxPos *pos);
extern bool sfx_scan_back(IndexScanDesc scan, const SfxBlock **block);

/*
 * The same when a leaf was read to its end (at_leaf_end): *n, how many rows come before pos.  True:
 * the scan went there.  False: they have to be read.
 */
extern bool sfx_scan_at_leaf_end(IndexScanDesc scan);
extern bool sfx_scan_count_on(IndexScanDesc scan, const SfxPos *pos, uint64 *n);

/* The same within a leaf: rows of blocks that lie before pos as a whole, which are passed over. */
extern int	sfx_scan_count_blocks(IndexScanDesc scan, const SfxPos *pos);

/*
 * Where the rows of the next n lookups stand, as hints (N4).  keys: nkeys of each lookup, one lookup
 * after the other.  Out: from tid[i * most] on the TIDs of the first rows of lookup i, found[i] of
 * them, at most `most`.  heap: the index's open table.  Memory is left in the current context.
 */
extern void sfx_scan_lookups(Relation index, Relation heap, ScanKey keys, int nkeys, int n,
							 uint64 *tid, int most, int *found);

extern void sfx_endscan(IndexScanDesc scan);
extern void sfx_markpos(IndexScanDesc scan);
extern void sfx_restrpos(IndexScanDesc scan);
extern Size sfx_estimateparallelscan(SfxEstimateParallelArgs);
extern void sfx_initparallelscan(void *target);
extern void sfx_parallelrescan(IndexScanDesc scan);

/*
 * Several participants with the same scan read it by portions.  State for it, of that size, is
 * shared and set up by sfx_initparallelscan before any takes part.  After a rescan, forward: the
 * scan will return the entries of a portion that nobody else reads.  False: none is left.  The
 * portions of one participant ascend.
 */
typedef struct SfxParallelScan SfxParallelScan;
extern Size sfx_portions_size(void);
extern bool sfx_scan_take_portion(IndexScanDesc scan, SfxParallelScan *ps);

#endif							/* SURFIDX_SCAN_H */
