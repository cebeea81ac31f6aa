/*-------------------------------------------------------------------------
 * rowlift.h - row comparisons, (a, b) > (1, 2), as conditions of an index before 18 (L4)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ROWLIFT_H
#define SURFIDX_ROWLIFT_H

#include "access/skey.h"
#include "utils/fmgroids.h"

/* Install hooks at preload, on versions whose executor accepts row comparisons for btree only. */
extern void sfx_rowlift_init(void);

/*
 * May the planner take an index of the current query for a btree, so that it makes row comparisons
 * its conditions?  Only if there are some, and if the plan comes by our hook.
 */
extern bool sfx_rowlift_offers(PlannerInfo *root);

/* ---- row_gather.c: the scan keys that the executor makes of a plan's marked members ---- */

/* Functions of core that no search operator has: search operators return boolean. */
#define SFX_ROW_GOES_ON		F_BTRECORDCMP
#define SFX_ROW_ENDS		F_BTRECORDIMAGECMP

static inline bool
sfx_is_row_member(Oid function)
{
	return function == SFX_ROW_GOES_ON || function == SFX_ROW_ENDS;
}

/*
 * Replace each row of marked members among keys by one header; returns the number of keys left.
 * members: room for all members, zeroed before the first call; it is the scan's, and keys point
 * into it.  Functions are looked up in cxt, the scan's memory context.
 */
extern int	sfx_row_gather(Relation index, ScanKey keys, int nkeys, ScanKey members,
						   MemoryContext cxt);

#endif							/* SURFIDX_ROWLIFT_H */
