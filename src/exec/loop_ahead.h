/*-------------------------------------------------------------------------
 * loop_ahead.h - reading ahead of the inner side of nested loops
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LOOP_AHEAD_H
#define SURFIDX_LOOP_AHEAD_H

/* At preload, after all others that give functions to nodes of plans. */
extern void sfx_loop_ahead_init(void);

#endif							/* SURFIDX_LOOP_AHEAD_H */
