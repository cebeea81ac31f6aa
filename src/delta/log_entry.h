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

#endif							/* SURFIDX_LOG_ENTRY_H */
