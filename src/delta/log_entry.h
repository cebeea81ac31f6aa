/*-------------------------------------------------------------------------
 * log_entry.h - entries formed for a log page
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LOG_ENTRY_H
#define SURFIDX_LOG_ENTRY_H

#include "leaf.h"

#define SFX_LOG_ENTRY_HEADER	11	/* bytes, at most, of an entry beside key and payload */

/* Bytes of a buffer for what a page takes, and one entry more that has no room on it. */
#define SFX_LOG_FORMED	(BLCKSZ + SFX_LOG_ENTRY_HEADER + SFX_MAX_ENTRY)

/*
 * Form the bytes that append the first of e[0..n) to a log page, which is locked: as many entries
 * as it has room for.  out: SFX_LOG_FORMED bytes.  Returns how many entries, in *len bytes; 0: not
 * even the first one fits.
 */
extern int	sfx_log_form(Page page, const SfxEntry *e, const bool *unchanged, int n, uint8 *out,
						 int *len);

/*
 * Skip a stretch of entries whose keys ascend.  From *off on, which is not the page's first entry,
 * it skips entries whose keys are each above the one before, the first of them above *top, and that
 * carry no flag.  Returns how many.  *top becomes the last one's position, with its key in the
 * page, *off the place after it.  0 says nothing: sfx_log_parse tells what the next entry is.
 */
extern uint32 sfx_log_skip_rising(Page page, uint32 *off, SfxPos *top);

/*
 * Page changes shared by action and redo.  The caller has locked the page exclusively and checked
 * it; it marks the buffer dirty and sets the LSN.  init: an empty log page, the seq-th of its
 * generation, with `before` entries on earlier pages.  put: append n formed entries, for which
 * there is room.  flag: mark the entries at these body offsets as dead (V2).
 */
extern void sfx_log_page_init(Page page, uint64 build_id, uint32 gen, uint32 seq, uint64 before);
extern void sfx_log_page_put(Page page, const uint8 *bytes, int len, int n);
extern void sfx_log_page_flag(Page page, const uint16 *offs, int n);

#endif							/* SURFIDX_LOG_ENTRY_H */
