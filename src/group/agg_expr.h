/*-------------------------------------------------------------------------
 * agg_expr.h - expressions over an index's columns
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_EXPR_H
#define SURFIDX_AGG_EXPR_H

#include "leaf.h"

/* One row of an index's columns, for which expressions are evaluated. */
typedef struct SfxExprs SfxExprs;

/* An expression, ready to be evaluated. */
typedef struct SfxExpr SfxExpr;

/*
 * Prepare to evaluate expressions for rows of an index-only scan of ours, which has opened its
 * index.  Memory: the current context, as long as the scan's node.
 */
extern SfxExprs *sfx_exprs_create(IndexOnlyScanState *scan);

/*
 * Prepare an expression whose Vars are columns of the table that the index returns.  ERROR: the
 * user may not call its functions.
 */
extern SfxExpr *sfx_expr_prepare(SfxExprs *x, Expr *expr);

/* The first of the index's columns that an expression uses, from 0. */
extern int	sfx_expr_column(const SfxExpr *expr);

/* Set a column of the row. */
extern void sfx_exprs_set(SfxExprs *x, int column, Datum value, bool isnull);

/*
 * Prepare a condition: clauses that all have to be true, over columns of the table (as for
 * sfx_expr_prepare), or over those of the scan's tuple.
 */
typedef struct SfxCondition SfxCondition;
extern SfxCondition *sfx_condition_prepare(SfxExprs *x, List *clauses);

/* A scan begins, perhaps with other parameters. */
extern void sfx_exprs_begin(SfxExprs *x);

/* Entries that are evaluated next are of another block, or of the same after it was filled anew. */
extern void sfx_exprs_forget(SfxExprs *x);

/* May its evaluation raise an error, for all that its functions promise? */
extern bool sfx_condition_may_fail(const SfxCondition *c);

/*
 * Entries [from, result) of a decoded block, up to `to` at most, all pass the condition, or all
 * fail.  It is not evaluated for each: not for equal keys, and where it compares a column that
 * ascends from `from` to `to` only at ends.
 */
extern int	sfx_condition_run(SfxExprs *x, SfxCondition *c, const SfxBlock *block, int from,
							  int to, bool *pass);

/* How many of them pass?  -1: they have to be looked at one after the other. */
extern int	sfx_condition_count(SfxExprs *x, SfxCondition *c, const SfxBlock *block, int from,
								int to);

/*
 * Prepare an aggregate's arguments: expressions over columns of the table, as for sfx_expr_prepare.
 * And are key columns, or INCLUDE columns, among these?
 */
typedef struct SfxArguments SfxArguments;
extern SfxArguments *sfx_arguments_prepare(SfxExprs *x, List *exprs);
extern bool sfx_arguments_use_key(const SfxArguments *args);
extern bool sfx_arguments_use_payload(const SfxArguments *args);

/*
 * Compute the arguments, as many as there are, from a row of the index's columns; valid until the
 * next call.
 */
extern void sfx_arguments_compute(SfxExprs *x, const SfxArguments *args, const Datum *values,
								  const bool *isnull, NullableDatum *arg);

/* The expression's value for the row; by-reference values are in the current context. */
extern Datum sfx_expr_value(SfxExprs *x, const SfxExpr *expr, bool *isnull);

#endif							/* SURFIDX_AGG_EXPR_H */
