/*-------------------------------------------------------------------------
 * subxact.h - work that may fail without failing the statement
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SUBXACT_H
#define SURFIDX_SUBXACT_H

/*
 * Run work(arg) in a subtransaction, and roll that back: its locks and pins are released, but what
 * was allocated in the caller's memory stays.  NULL; or the error that it threw, in the caller's
 * memory.  The caller has to ReThrowError() what must not be swallowed, above all a cancel.  Not in
 * parallel mode, which has no subtransactions.
 */
extern ErrorData *sfx_attempt(void (*work) (void *arg), void *arg);

/*
 * The same for the sake of the rollback, which releases locks, and the transaction ID under which
 * they were announced to standbys.  Errors are thrown on.
 */
extern void sfx_undone(void (*work) (void *arg), void *arg);

/*
 * sfx_attempt for work that the statement does for the index's good, and could do without (M10): an
 * error becomes a warning, "could not <what> index ...".  A cancel or a timeout is thrown on.
 */
extern void sfx_attempt_aside(Relation index, const char *what, void (*work) (void *arg),
							  void *arg);

/*
 * M10: would an attempt reach other servers?  Then no statement makes one in the middle of its
 * work.
 */
extern bool sfx_attempts_are_told(void);

/*
 * To be called when COMMIT or PREPARE TRANSACTION was executed: what follows is the transaction's
 * end.
 */
extern void sfx_attempts_at_end(void);

/* Does that follow now?  Core asserts that no subtransaction is rolled back then. */
extern bool sfx_transaction_ends(void);

#endif							/* SURFIDX_SUBXACT_H */
