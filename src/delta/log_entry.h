/*-------------------------------------------------------------------------
 * log_entry.h - entries formed for a log page
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LOG_ENTRY_H
#define SURFIDX_LOG_ENTRY_H

#include "surfidx.h"
#include "leaf.h"

#define SFX_LOG_ENTRY_HEADER	11	/* bytes, at most */

/* Room for what a page takes and one entry that it does not take any more, in bytes. */
#define SFX_LOG_FORMED	(BLCKSZ + SFX_LOG_ENTRY_HEADER + SFX_MAX_ENTRY)

/*
 * The bytes that add the first of e[0..n) to a log page (locked), as many as it has room for, to
 * out (SFX_LOG_FORMED).  How many entries, in *len bytes; 0: not even the first one.
 */
extern int	sfx_log_form(Page page, const SfxEntry *e, const bool *unchanged, int n, uint8 *out,
						 int *len);

/*
 * Of the page's entries from *off on, which is not its first one: how many follow each other whose
 * keys are each above the one before, the first one's above *top, and that are neither flagged nor
 * of an UPDATE that changed no key.  *top becomes the last one's position, in the page, *off what
 * is behind it.  0 says nothing: sfx_log_parse tells what the next one is.
 */
extern uint32 sfx_log_skip_rising(Page page, uint32 *off, SfxPos *top);

/* Page changes shared by action and redo. The pages are locked and checked. */
extern void sfx_log_page_init(Page page, uint64 build_id, uint32 gen, uint32 seq, uint64 before);
extern void sfx_log_page_put(Page page, const uint8 *bytes, int len, int n);
extern void sfx_log_page_flag(Page page, const uint16 *offs, int n);

#endif							/* SURFIDX_LOG_ENTRY_H */
