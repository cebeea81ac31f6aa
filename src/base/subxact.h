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

/*
 * Run work(arg) in a subtransaction and roll that back: what is not undone by that stays, locks
 * and the transaction number that they were announced to standbys with are gone.  Errors go on to
 * the caller.  Not in parallel mode.
 */
extern void sfx_undone(void (*work) (void *arg), void *arg);

/*
 * sfx_attempt for work that the statement does for the index's good, and could do without (M10): an
 * error becomes a warning, "could not <what> index".  A cancel or a timeout is thrown on.
 */
extern void sfx_attempt_aside(Relation index, const char *what, void (*work) (void *arg),
							  void *arg);

#endif							/* SURFIDX_SUBXACT_H */
