/*-------------------------------------------------------------------------
 * subxact.h - what may fail without the statement's failing
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SUBXACT_H
#define SURFIDX_SUBXACT_H

#include "surfidx.h"

/*
 * Run work(arg) in a subtransaction.  NULL, or what it threw, in the caller's memory; all that it had done, locks taken included, is undone then.  What
 * may not be swallowed, a cancel first of all, is for the caller to ReThrowError().  Not in parallel mode, which has no subtransactions.
 */
extern ErrorData *sfx_attempt(void (*work) (void *arg), void *arg);

#endif							/* SURFIDX_SUBXACT_H */
