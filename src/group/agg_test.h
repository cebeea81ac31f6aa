/*-------------------------------------------------------------------------
 * agg_test.h - clauses that the bytes of keys tell
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_TEST_H
#define SURFIDX_AGG_TEST_H

#include "column.h"
#include "leaf.h"

/* A clause of key columns: comparisons, lists, tests for NULL, booleans, and AND and OR of these. */
typedef struct SfxTest SfxTest;

/*
 * Make a test of a clause whose Vars are columns of the table, or of the scan's tuple (INDEX_VAR).
 * NULL: it is no such clause.  parent: the node that evaluates its constants; NULL: none will.
 */
extern SfxTest * sfx_test_prepare(Relation index, const SfxKeyDesc *kd, Node *clause,
								  PlanState *parent);

/*
 * Of keys [from, to) of a block unset those in told for which the clause is not true.  False: its
 * constants have no bytes that tell, and told is as may be.  Constants are evaluated when they are
 * first needed in a round.
 */
extern bool sfx_test_keys(SfxTest * test, ExprContext *econtext, uint32 round,
						  const SfxBlock *block, int from, int to, bool *told);

#endif							/* SURFIDX_AGG_TEST_H */
