/*-------------------------------------------------------------------------
 * log.h - the delta's log in pages (D1, D2, D6, D7); the entries' format: log_format.h
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LOG_H
#define SURFIDX_LOG_H

#include "leaf.h"
#include "log_format.h"
#include "log_watch.h"
#include "meta.h"

/*
 * Parse the entry at *off (bytes from the body's start; 0 for the first) and move *off on.  False:
 * the page has no more.  *e points into the page; *dead: it is flagged (V2).  ERROR if damaged.
 */
extern bool sfx_log_parse(Relation index, BlockNumber blkno, Page page, uint32 *off, SfxEntry *e, bool *dead);

/*
 * The end of a log page, copied: the entries after a place, as a small page that sfx_log_parse
 * reads from `off` on.  len 0: there are none.
 */
#define SFX_LOG_END_MAX		384 /* bytes of entries */

typedef struct SfxLogEnd
{
	BlockNumber blkno;
	uint32		off;			/* where they begin in the copy's body */
	uint32		len;			/* their bytes */
	union
	{
		char		page[512];
		int64		aligned;
	}			copy;
} SfxLogEnd;

/*
 * Copy what the page, which is locked, holds from off on: at most SFX_LOG_END_MAX bytes, as the
 * caller has made sure.
 */
extern void sfx_log_copy_end(BlockNumber blkno, Page page, uint32 off, SfxLogEnd *end);

/*
 * Move *off, where an entry of the copy begins, over entries that are not of the range [lo, hi):
 * over all whose bytes tell that at once.  hi->key: NULL for no end; lo's for the range of that key
 * alone, which may be in comparator order; other ranges are in byte order.
 */
extern void sfx_log_skip_outside(const SfxLogEnd *end, uint32 *off, const SfxPos *lo,
								 const SfxPos *hi);

/* Is this page, which is locked, one of that generation of that build?  ERROR if it is damaged. */
extern bool sfx_log_page_is(Relation index, BlockNumber blkno, Page page, uint64 build_id, uint32 gen);

/*
 * Copy page blkno of generation meta->gens[g], the seq-th of its chain, but for the unused room in
 * the middle of it.  False: it belongs to the generation no more.  ERROR if damaged or out of
 * sequence.  Locks the page for the copy.
 */
extern bool sfx_log_copy_page(Relation index, const SfxMeta *meta, int g, BlockNumber blkno,
							  uint32 seq, Page copy);

/*
 * Append one entry to the active generation: one page, one record (D1).  unchanged:
 * SFX_LOG_UNCHANGED.  True: the log grew by a page; the caller calls sfx_merge_pressure once it
 * holds no lock.  The caller holds no LWLock.
 */
extern bool sfx_log_append(Relation index, const SfxEntry *e, bool unchanged);

/*
 * The same for e[*done..n), one record for each page that takes some of them (D7).  *done counts
 * the entries that are in the log, so that a caller that catches an error knows where to go on.
 */
extern bool sfx_log_append_many(Relation index, const SfxEntry *e, const bool *unchanged, int n,
								int *done);

/*
 * Append one entry, but not if one after the watch's place does not pass, or the log's end cannot
 * be reached from there: then false.  *grew becomes true where sfx_log_append would say so, in
 * either case.
 */
extern bool sfx_log_append_watched(Relation index, const SfxEntry *e, bool unchanged,
								   SfxLogWatch *watch, bool *grew);

/*
 * Number of entries in the logs of all generations, dead ones included, at one moment; *meta: the
 * metapage of that moment.  Locks the metapage, and the tail under it.
 */
extern uint64 sfx_log_count(Relation index, SfxMeta *meta);

/* This backend's cached tail is void: a build has replaced the index's contents. */
extern void sfx_log_forget_tail(Relation index);

/*
 * Seal the active generation and open the next (D2); needs the merge lock.  *meta: the metapage
 * after that.  False: the log is empty, or there are SFX_MAX_GENS generations.
 */
extern bool sfx_log_freeze(Relation index, SfxMeta *meta);

/* As sfx_page_alloc, for the next page of the active generation's log (log_place.c). */
extern Buffer sfx_page_alloc_log(Relation index, const SfxMeta *meta);

#endif							/* SURFIDX_LOG_H */
