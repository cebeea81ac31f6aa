/*-------------------------------------------------------------------------
 * order.h - the order of keys: comparisons in searches and in a build's sort
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ORDER_H
#define SURFIDX_ORDER_H

#include "column.h"

/*
 * The order of an index's keys for the core library; NULL for ordered bytes.  It is the caller's
 * until sfx_order_end, or until the current memory context is reset; kd and the relation have to
 * live as long.  bulk: for many comparisons (sort support); else it is cheap to make.  Comparisons
 * run the operator class's function and may throw.
 */
extern const SfxOrder *sfx_order_create(Relation index, const SfxKeyDesc *kd, bool bulk);

/* The same; fills *kd first. */
extern const SfxOrder *sfx_order_open(Relation index, SfxKeyDesc *kd, bool bulk);

/* NULL: does nothing. */
extern void sfx_order_end(const SfxOrder *order);

/*
 * Are two stored keys equal in all columns, by the comparison functions?  (For ordered bytes see
 * sfx_key_equal_len.)
 */
extern bool sfx_order_equal(const SfxOrder *order, const uint8 *a, int alen, const uint8 *b, int blen);

/*
 * Compare each raw column's first value of this statement with itself.  A type may have a class and
 * yet no order (an array or a row of json); that has to be an error before the entry is in the log,
 * which no backend could read past it.
 */
extern void sfx_order_prove(const SfxOrder *order, const Datum *values, const bool *isnull);

/* Compare two values of one column, each with its marker, and perhaps SFX_MARK_BEFORE or _AFTER. */
extern int	sfx_order_cmp_column(const SfxOrder *order, int col, const uint8 *a, int alen, const uint8 *b, int blen);

/* Compare two bounds of one or more columns, from column col on, in the same form. */
extern int	sfx_order_cmp_columns(const SfxOrder *order, int col, const uint8 *a, int alen,
								  const uint8 *b, int blen);

/*
 * ERROR, naming index, column and operator class: two neighbours of a sorted sequence compare the
 * wrong way round.
 */
pg_noreturn extern pg_attribute_cold void sfx_order_contradiction(const SfxOrder *order,
																  const uint8 *a, int alen, const uint8 *b, int blen);

/*
 * Prepare sort support for a column by the index's own support functions 2 or 1.  ssup is zeroed,
 * except for what callers set.
 */
extern void sfx_column_sortsupport(Relation index, const SfxKeyDesc *kd, int attno, struct SortSupportData *ssup);

#endif							/* SURFIDX_ORDER_H */
