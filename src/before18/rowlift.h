/*-------------------------------------------------------------------------
 * rowlift.h - row comparisons, (a, b) > (1, 2), as conditions of an index before 18
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ROWLIFT_H
#define SURFIDX_ROWLIFT_H

#include "surfidx.h"

#include "access/skey.h"
#include "nodes/pathnodes.h"
#include "utils/fmgroids.h"

/* At preload, on versions whose executor makes row comparisons for btree only. */
extern void sfx_rowlift_init(void);

/*
 * May the planner take an index of the query at hand for a btree, so that it makes row comparisons
 * its conditions?  Only if there are some, and if what it makes of them comes by here again.
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
 * Make one header of each row of marked members among keys; how many keys there are then.  members
 * has room for all of them, zeroed before the first time; it is the scan's, in whose memory
 * context functions are looked up, and keys point into it.
 */
extern int	sfx_row_gather(Relation index, ScanKey keys, int nkeys, ScanKey members,
						   MemoryContext cxt);

#endif							/* SURFIDX_ROWLIFT_H */
