/*-------------------------------------------------------------------------
 * offset.h - the rows of OFFSET are passed over by the index
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_OFFSET_H
#define SURFIDX_OFFSET_H

#include "surfidx.h"

/* Is that wanted (surfidx.offset_by_rank)? */
extern bool sfx_offset_wanted(void);

/* Fewer rows are left to core. */
#if defined(USE_ASSERT_CHECKING) || defined(SFX_TEST)
#define SFX_OFFSET_WORTH	2		/* to have it tested */
#else
#define SFX_OFFSET_WORTH	64
#endif

/* At preload; the setting before that. */
extern void sfx_offset_define_gucs(void);
extern void sfx_offset_init(void);

#endif							/* SURFIDX_OFFSET_H */
