/*-------------------------------------------------------------------------
 * offset.h - the rows of OFFSET are passed over by the index
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_OFFSET_H
#define SURFIDX_OFFSET_H

/* At preload: install the hooks. */
extern void sfx_offset_init(void);

#endif							/* SURFIDX_OFFSET_H */
