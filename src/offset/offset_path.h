/*-------------------------------------------------------------------------
 * offset_path.h - what OFFSET costs where the index passes over its rows
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_OFFSET_PATH_H
#define SURFIDX_OFFSET_PATH_H

#include "surfidx.h"

/* Is it wanted that the index passes over them (surfidx.offset_by_rank)? */
extern bool sfx_offset_wanted(void);

/* Fewer rows are left to core. */
#if defined(USE_ASSERT_CHECKING) || defined(SFX_TEST)
#define SFX_OFFSET_WORTH	2	/* to have it tested */
#else
#define SFX_OFFSET_WORTH	64
#endif

/* Define the setting; and, at preload, install the hook. */
extern void sfx_offset_define_gucs(void);
extern void sfx_offset_path_init(void);

#endif							/* SURFIDX_OFFSET_PATH_H */
