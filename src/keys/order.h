/*-------------------------------------------------------------------------
 * order.h - the order of keys: comparisons in searches and in a build's sort
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ORDER_H
#define SURFIDX_ORDER_H

#include "column.h"

/*
 * The order of an index's keys for the core library: NULL for ordered bytes.  Ours until
 * sfx_order_end or until the current memory context is reset; kd and the relation have to live as
 * long.  bulk: for many comparisons (sort support); else cheap to make. Comparisons run the
 * operator class's function and may throw.
 */
extern const SfxOrder *sfx_order_create(Relation index, const SfxKeyDesc *kd, bool bulk);

/* The same, and *kd is filled before. */
extern const SfxOrder *sfx_order_open(Relation index, SfxKeyDesc *kd, bool bulk);

/* Nothing where there is none. */
extern void sfx_order_end(const SfxOrder *order);

/*
 * Are two stored keys equal in all columns, as the comparison function says?  (Not for ordered
 * bytes: see sfx_key_equal_len.)
 */
extern bool sfx_order_equal(const SfxOrder *order, const uint8 *a, int alen, const uint8 *b, int blen);

/*
 * Compare each raw column's first value of this statement with itself: a type may have a class and
 * yet no order (an array or a row of json), and that must be an error before the entry is in the
 * log, where nobody could read past it.
 */
extern void sfx_order_prove(const SfxOrder *order, const Datum *values, const bool *isnull);

/*
 * Order of two values of one column, each marker and value and perhaps SFX_MARK_BEFORE or _AFTER.
 */
extern int	sfx_order_cmp_column(const SfxOrder *order, int col, const uint8 *a, int alen, const uint8 *b, int blen);

/* Order of two bounds of one or more columns from col on, each as above. */
extern int	sfx_order_cmp_columns(const SfxOrder *order, int col, const uint8 *a, int alen,
								  const uint8 *b, int blen);

/*
 * Neighbours of a sorted sequence that come in the wrong order: the ERROR that names index, column
 * and operator class.
 */
pg_noreturn extern void sfx_order_contradiction(const SfxOrder *order, const uint8 *a, int alen, const uint8 *b, int blen);

/*
 * Sort support for a column through the index's own support functions 2 or 1; ssup zeroed but for
 * what callers set.
 */
extern void sfx_column_sortsupport(Relation index, const SfxKeyDesc *kd, int attno, struct SortSupportData *ssup);

#endif							/* SURFIDX_ORDER_H */
