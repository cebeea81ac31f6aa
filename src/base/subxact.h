/*-------------------------------------------------------------------------
 * subxact.h - what may fail without the statement's failing
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SUBXACT_H
#define SURFIDX_SUBXACT_H

#include "surfidx.h"

/*
 * Run work(arg) in a subtransaction, and roll that back: locks that it took are gone, and what is
 * allocated in the caller's memory stays.  NULL, or what it threw, in the caller's memory.  What
 * may not be swallowed, a cancel first of all, is for the caller to ReThrowError().  Not in
 * parallel mode, which has no subtransactions.
 */
extern ErrorData *sfx_attempt(void (*work) (void *arg), void *arg);

/*
 * The same for the sake of the rollback: locks and the transaction number that they were announced
 * to standbys with are gone.  Errors go on to the caller.
 */
extern void sfx_undone(void (*work) (void *arg), void *arg);

/*
 * sfx_attempt for work that the statement does for the index's good, and could do without (M10): an
 * error becomes a warning, "could not <what> index".  A cancel or a timeout is thrown on.
 */
extern void sfx_attempt_aside(Relation index, const char *what, void (*work) (void *arg),
							  void *arg);

/*
 * Does an attempt reach other servers (M11)?  Then a statement in the midst of its work makes none.
 */
extern bool sfx_attempts_are_told(void);

/* A COMMIT or PREPARE TRANSACTION has been executed: the transaction's end is next. */
extern void sfx_attempts_at_end(void);

#endif							/* SURFIDX_SUBXACT_H */
