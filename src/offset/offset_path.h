/*-------------------------------------------------------------------------
 * offset_path.h - what OFFSET costs where the index passes over its rows
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_OFFSET_PATH_H
#define SURFIDX_OFFSET_PATH_H

#include "surfidx.h"

/* At preload: install the hook. */
extern void sfx_offset_path_init(void);

#endif							/* SURFIDX_OFFSET_PATH_H */
