/*-------------------------------------------------------------------------
 * rowcompare.h - row comparisons, (a, b) > (1, 2), as conditions of a scan
 *
 * As a scan key a row comparison is what core makes of it: a header (SK_ROW_HEADER) whose argument
 * is the list of its members (SK_ROW_MEMBER), the last of which has SK_ROW_END.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ROWCOMPARE_H
#define SURFIDX_ROWCOMPARE_H

#include "access/skey.h"

/*
 * The key with the condition on the first column: the first member of a row comparison, or the key
 * itself.
 */
static inline const ScanKeyData *
sfx_first_key(const ScanKeyData *key)
{
	return (key->sk_flags & SK_ROW_HEADER) ? (ScanKey) DatumGetPointer(key->sk_argument) : key;
}

/* The number of leading columns that a row comparison reads. */
extern int	sfx_row_upto(const ScanKeyData *header);

/*
 * Is the row comparison true of the values of these columns?  Calls comparison functions, so no
 * page is locked.
 */
extern bool sfx_row_passes(const ScanKeyData *header, const Datum *values, const bool *isnull);

#endif							/* SURFIDX_ROWCOMPARE_H */
