/*-------------------------------------------------------------------------
 * log.h - the delta's log in pages
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LOG_H
#define SURFIDX_LOG_H

#include "surfidx.h"
#include "leaf.h"
#include "log_format.h"
#include "log_watch.h"
#include "meta.h"

/*
 * One entry of a log page parsed at *off (bytes from the body's start); advances *off.  False at
 * the end.  ERROR if damaged.
 */
extern bool sfx_log_parse(Relation index, BlockNumber blkno, Page page, uint32 *off, SfxEntry *e, bool *dead);

/*
 * The end of a log page, copied: the entries behind a place, as a small page that sfx_log_parse
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

/* Copy what a page (locked) holds behind off, at most SFX_LOG_END_MAX bytes. */
extern void sfx_log_copy_end(BlockNumber blkno, Page page, uint32 off, SfxLogEnd *end);

/* Is this page (locked) one of that generation? */
extern bool sfx_log_page_is(Relation index, BlockNumber blkno, Page page, uint64 build_id, uint32 gen);

/*
 * Copy a page of generation meta->gens[g], the one with that number, without the room in it that
 * nothing uses.  False: it is not one of the generation any more.  ERROR if damaged.
 */
extern bool sfx_log_copy_page(Relation index, const SfxMeta *meta, int g, BlockNumber blkno,
							  uint32 seq, Page copy);

/*
 * Append one entry to the active generation: one page, one record.  unchanged: SFX_LOG_UNCHANGED.
 * True if the log grew by a page: the caller asks sfx_merge_pressure then, once it holds no lock.
 */
extern bool sfx_log_append(Relation index, const SfxEntry *e, bool unchanged);

/*
 * The same for e[*done..n), one record for each page that takes some of them.  *done counts what is
 * in the log, so that who catches an error knows where to go on.
 */
extern bool sfx_log_append_many(Relation index, const SfxEntry *e, const bool *unchanged, int n,
								int *done);

/*
 * Append one entry, unless there is one behind the watch's place that does not pass, or no way from
 * there: then false.  *grew becomes true as sfx_log_append says, in both cases.
 */
extern bool sfx_log_append_watched(Relation index, const SfxEntry *e, bool unchanged,
								   SfxLogWatch *watch, bool *grew);

/*
 * Entries in the log of all generations, dead ones included, as of one moment; *meta: the
 * metapage of that moment.
 */
extern uint64 sfx_log_count(Relation index, SfxMeta *meta);

/* A build has replaced the index's contents: this backend's memory of the tail is void. */
extern void sfx_log_forget_tail(Relation index);

/*
 * Seal the active generation and open the next; needs the merge lock.  *meta: the metapage after.
 * carry: the new one may be given entries of older ones (carry.h).  False: nothing to freeze.
 */
extern bool sfx_log_freeze(Relation index, bool carry, SfxMeta *meta);

/* As sfx_page_alloc, for the next page of the active generation's log (log_place.c). */
extern Buffer sfx_page_alloc_log(Relation index, const SfxMeta *meta);

#endif							/* SURFIDX_LOG_H */
