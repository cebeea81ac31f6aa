/*-------------------------------------------------------------------------
 * onconflict.h - INSERT ... ON CONFLICT on tables with unique surfidx indexes, before 18
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ONCONFLICT_H
#define SURFIDX_ONCONFLICT_H

extern void sfx_onconflict_define_gucs(void);	/* called once, by _PG_init, before sfx_define_gucs */
extern void sfx_onconflict_init(void);	/* an executor hook, on versions that need it */

/* Is surfidx.onconflict_lift on? */
extern bool sfx_onconflict_lifted(void);

#endif							/* SURFIDX_ONCONFLICT_H */
