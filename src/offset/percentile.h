/*-------------------------------------------------------------------------
 * percentile.h - percentiles by the place of their rows
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PERCENTILE_H
#define SURFIDX_PERCENTILE_H

/* At preload: install the hook. */
extern void sfx_percentile_init(void);

#endif							/* SURFIDX_PERCENTILE_H */
