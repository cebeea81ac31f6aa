/*-------------------------------------------------------------------------
 * explain_ahead.h - EXPLAIN (ANALYZE, BUFFERS) shows what a statement read ahead
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_EXPLAIN_AHEAD_H
#define SURFIDX_EXPLAIN_AHEAD_H

extern void sfx_explain_ahead_init(void);	/* hooks; called once, by _PG_init */

#endif							/* SURFIDX_EXPLAIN_AHEAD_H */
