/*-------------------------------------------------------------------------
 * planner.h - lifting what core reserves for btree
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PLANNER_H
#define SURFIDX_PLANNER_H

extern void sfx_planner_define_gucs(void);	/* called once, by _PG_init, before sfx_define_gucs */
extern void sfx_planner_init(void); /* install planner and executor hooks */

#endif							/* SURFIDX_PLANNER_H */
