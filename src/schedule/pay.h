/*-------------------------------------------------------------------------
 * pay.h - how fast background work goes
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PAY_H
#define SURFIDX_PAY_H

#include "surfidx.h"
#include "progress.h"

/*
 * A worker pays for the pages that it reads and writes as VACUUM does, and sleeps when the limit is
 * reached; but not while the delta is so far beyond its bound that inserters would have to help.
 * No lock is held.
 */
extern void sfx_worker_pay(Relation index, SfxProgress *p);

#endif							/* SURFIDX_PAY_H */
