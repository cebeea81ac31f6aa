/*-------------------------------------------------------------------------
 * log_sorted.h - a generation whose log is nearly in order, read as if it were (D8)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LOG_SORTED_H
#define SURFIDX_LOG_SORTED_H

#include "surfidx.h"
#include "leaf.h"
#include "meta.h"

typedef struct SfxLogSorted SfxLogSorted;

/*
 * One walk over the log of generation meta->gens[g].  NULL: it is not nearly in order, or has not
 * the order of bytes.  The merge lock is held.  Memory: the current context; of a page a few bytes
 * beside two keys.
 */
extern SfxLogSorted *sfx_log_sorted(Relation index, const SfxOrder *order, const SfxMeta *meta,
									int g);
extern void sfx_log_sorted_free(SfxLogSorted *s);

/* Entries in that log, flagged ones too, and those that were not flagged when it was walked. */
extern uint64 sfx_log_sorted_seen(const SfxLogSorted *s);
extern uint64 sfx_log_sorted_live(const SfxLogSorted *s);

/* Are there some of UPDATEs that changed no key? */
extern bool sfx_log_sorted_unchanged(const SfxLogSorted *s);

/*
 * The merge lock was given up since the last look: what was read then may be flagged by now, and
 * the generation has another place in the metapage's list.
 */
extern void sfx_log_sorted_begin(SfxLogSorted *s, const SfxMeta *meta, int g);

/*
 * Entries from pos on, in order, each once, those that are flagged left out: how many stand in
 * *entries, which lasts until the next call; 0: there are none.  *more: there may be others behind
 * them.  The merge lock is held, and meta was read under it.
 */
extern int	sfx_log_sorted_seek(SfxLogSorted *s, Relation index, const SfxMeta *meta,
								const SfxPos *pos, SfxEntry **entries, bool *more);

/*
 * A position that no entry >= pos is below, and from which such a one is not far. False: there is
 * none.
 */
extern bool sfx_log_sorted_next(SfxLogSorted *s, Relation index, const SfxMeta *meta,
								const SfxPos *pos, SfxPos *next);

#endif							/* SURFIDX_LOG_SORTED_H */
