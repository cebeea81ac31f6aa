/*-------------------------------------------------------------------------
 * index_only.h - rows by block for core's index-only scans
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_INDEX_ONLY_H
#define SURFIDX_INDEX_ONLY_H

#include "surfidx.h"

/* At preload; settings before that. */
extern void sfx_index_only_define_gucs(void);
extern void sfx_index_only_init(void);

#endif							/* SURFIDX_INDEX_ONLY_H */
