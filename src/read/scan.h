/*-------------------------------------------------------------------------
 * scan.h - the access method's scan functions
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SCAN_H
#define SURFIDX_SCAN_H

#include "surfidx.h"
#include "leaf.h"

extern bool sfx_canreturn(Relation index, int attno);
extern IndexScanDesc sfx_beginscan(Relation index, int nkeys, int norderbys);
extern void sfx_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys);
extern bool sfx_gettuple(IndexScanDesc scan, ScanDirection dir);
extern int64 sfx_getbitmap(IndexScanDesc scan, TIDBitmap *tbm);

/*
 * In place of sfx_gettuple, forward: TIDs of the next entries, one or many, whose rows nobody wants
 * (sfx_unread_keys was the array of order-by keys of the last rescan).  Their number, 0 at the end;
 * valid until the next call.  The gate is held until then if xs_want_itup is set.
 */
extern int	sfx_scan_tids(IndexScanDesc scan, const uint64 **tid);

/*
 * The same for who only counts, right behind the rescan: add all rows to v.  False: not that way,
 * nothing was added.
 */
struct SfxVisibility;
extern bool sfx_scan_count(IndexScanDesc scan, struct SfxVisibility *v);

/* The same for who needs keys, by which he has nothing to sort: see sfx_reader_feed. */
struct SfxTaker;
extern bool sfx_scan_feed(IndexScanDesc scan, struct SfxVisibility *v,
						  const struct SfxTaker *taker);

/*
 * The same with keys and payloads: the next entries, of a decoded block those from *from on, and
 * how many.  Several that come at once have come out of one block, in which they are neighbours.
 */
extern int	sfx_scan_entries(IndexScanDesc scan, const SfxBlock **block, int *from);
extern void sfx_endscan(IndexScanDesc scan);
extern void sfx_markpos(IndexScanDesc scan);
extern void sfx_restrpos(IndexScanDesc scan);
extern Size sfx_estimateparallelscan(SfxEstimateParallelArgs);
extern void sfx_initparallelscan(void *target);
extern void sfx_parallelrescan(IndexScanDesc scan);

#endif							/* SURFIDX_SCAN_H */
