/*-------------------------------------------------------------------------
 * utility.h - the hook that all utility statements pass
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_UTILITY_H
#define SURFIDX_UTILITY_H

extern void sfx_utility_define_gucs(void);	/* called once, by _PG_init, before sfx_define_gucs */
extern void sfx_utility_init(void);

#endif							/* SURFIDX_UTILITY_H */
