/*-------------------------------------------------------------------------
 * offset_path.h - what OFFSET costs where the index passes over its rows
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_OFFSET_PATH_H
#define SURFIDX_OFFSET_PATH_H

#include "storage/block.h"

/* Is it wanted that the index passes over them (surfidx.offset_by_rank)? */
extern bool sfx_offset_wanted(void);

/*
 * Fewer rows are left to core: of a table with so many blocks, of which each page of the map has to
 * be pinned.
 */
extern int64 sfx_offset_worth(BlockNumber blocks);

/* Define the setting; and, at preload, install the hook. */
extern void sfx_offset_define_gucs(void);
extern void sfx_offset_path_init(void);

#endif							/* SURFIDX_OFFSET_PATH_H */
