/*-------------------------------------------------------------------------
 * pay.h - throttling background work
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PAY_H
#define SURFIDX_PAY_H

#include "surfidx.h"
#include "progress.h"

/*
 * For a worker between two groups: charge it for the pages that it has read and written, as VACUUM
 * does, and sleep if the limit is reached; but not if the delta is so large that inserters would
 * have to merge.  Workers share one limit.  The phase in *p is SFX_PROGRESS_SLEEP meanwhile.  No
 * LWLock is held (asserted).
 */
extern void sfx_worker_pay(Relation index, SfxProgress *p);

#endif							/* SURFIDX_PAY_H */
