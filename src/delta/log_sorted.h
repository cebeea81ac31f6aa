/*-------------------------------------------------------------------------
 * log_sorted.h - a generation whose log is nearly in order, read as if it were (D8)
 *
 * For merges, which hold the merge lock in all calls that read pages.  A sealed log changes in its
 * dead flags alone, and these are read anew where the lock was given up (M2).
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LOG_SORTED_H
#define SURFIDX_LOG_SORTED_H

#include "leaf.h"
#include "meta.h"

typedef struct SfxLogSorted SfxLogSorted;

/*
 * Walk once over the log of generation meta->gens[g].  NULL: it is not nearly in order, or the
 * index is in comparator order.  The caller holds the merge lock.  Memory: a context below the
 * current one, of a few bytes and two keys for each page; sfx_log_sorted_free ends it (NULL will
 * do).
 */
extern SfxLogSorted *sfx_log_sorted(Relation index, const SfxOrder *order, const SfxMeta *meta,
									int g);
extern void sfx_log_sorted_free(SfxLogSorted *s);

/*
 * Number of entries in that log, flagged ones included; and of those that were not flagged when it
 * was walked.
 */
extern uint64 sfx_log_sorted_seen(const SfxLogSorted *s);
extern uint64 sfx_log_sorted_live(const SfxLogSorted *s);

/* Does the log have entries of UPDATEs that changed no key (SFX_LOG_UNCHANGED)? */
extern bool sfx_log_sorted_unchanged(const SfxLogSorted *s);

/*
 * To be called when the merge lock was given up since the last call, with the metapage read after
 * it was taken again.  What was read before may have been flagged since, so it is read again; and
 * the generation may be another one in the metapage's list: meta->gens[g].
 */
extern void sfx_log_sorted_begin(SfxLogSorted *s, const SfxMeta *meta, int g);

/*
 * Entries from pos on, in order, each once, flagged ones left out.  Returns how many stand at
 * *entries, valid until the next call; 0: there are none.  *more: others may follow them.  The
 * caller holds the merge lock, and has read meta under it.
 */
extern int	sfx_log_sorted_seek(SfxLogSorted *s, Relation index, const SfxMeta *meta,
								const SfxPos *pos, SfxEntry **entries, bool *more);

/*
 * *next: a position that is not above the first entry >= pos, and not far below it; for walks that
 * ask which leaves the log touches.  False: there is no such entry.  The caller holds the merge
 * lock.
 */
extern bool sfx_log_sorted_next(SfxLogSorted *s, Relation index, const SfxMeta *meta,
								const SfxPos *pos, SfxPos *next);

#endif							/* SURFIDX_LOG_SORTED_H */
