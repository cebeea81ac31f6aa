/*-------------------------------------------------------------------------
 * drop.h - generations and runs that are merged go
 *-------------------------------------------------------------------------
 */
#ifndef SFX_DROP_H
#define SFX_DROP_H

#include "surfidx.h"
#include "find.h"
#include "horizon.h"

/*
 * Take the oldest generation off the metapage's list (M4 has been checked) and give its pages back. Merge lock held.  usecs: what is to
 * be added to the time that merges took; shed and pause (stub_pause): for the metapage, -1: as before.
 */
extern void sfx_generation_drop(Relation index, uint32 gen, const SfxHorizon *horizon, uint64 usecs, int shed, int pause);

/* Take a run, all of whose entries are in older ones, off the list and give its pages back.  Merge lock held. */
extern void sfx_run_drop(Relation index, const SfxOrder *order, uint32 id, uint64 usecs);

#endif							/* SFX_DROP_H */
