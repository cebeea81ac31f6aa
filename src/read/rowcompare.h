/*-------------------------------------------------------------------------
 * rowcompare.h - row comparisons, (a, b) > (1, 2), as conditions of a scan
 *
 * As a scan key a row comparison is what core makes of it: a header (SK_ROW_HEADER) whose argument
 * is the list of its members (SK_ROW_MEMBER), the last of which has SK_ROW_END.
 *
 * Before 18 the executor makes row comparisons for btree alone.  There the plan says the members
 * one by one, as comparisons of single columns whose functions are marks (plan/rowlift.c); the scan
 * keys that the executor makes of them are put together again when a scan is (re)started.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ROWCOMPARE_H
#define SURFIDX_ROWCOMPARE_H

#include "surfidx.h"

#include "access/skey.h"
#include "utils/fmgroids.h"

/* Functions of core that no search operator has: search operators return boolean. */
#define SFX_ROW_GOES_ON		F_BTRECORDCMP
#define SFX_ROW_ENDS		F_BTRECORDIMAGECMP

static inline bool
sfx_is_row_member(Oid function)
{
	return function == SFX_ROW_GOES_ON || function == SFX_ROW_ENDS;
}

/* The key that tells of the first column: the first member of a row comparison, else the key. */
static inline const ScanKeyData *
sfx_first_key(const ScanKeyData *key)
{
	return (key->sk_flags & SK_ROW_HEADER) ? (ScanKey) DatumGetPointer(key->sk_argument) : key;
}

/*
 * Make one header of each row of marked members among keys; how many keys there are then.  members
 * has room for all of them, zeroed before the first time; it is the scan's, in whose memory
 * context functions are looked up, and keys point into it.
 */
extern int	sfx_row_gather(Relation index, ScanKey keys, int nkeys, ScanKey members,
						   MemoryContext cxt);

/* The number of columns that a row comparison needs. */
extern int	sfx_row_upto(const ScanKeyData *header);

/* Is it true of these values? */
extern bool sfx_row_passes(const ScanKeyData *header, const Datum *values, const bool *isnull);

#endif							/* SURFIDX_ROWCOMPARE_H */
