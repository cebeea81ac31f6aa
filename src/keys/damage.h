/*-------------------------------------------------------------------------
 * damage.h - errors of entries that do not fit, and of stored ones that cannot be read
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DAMAGE_H
#define SURFIDX_DAMAGE_H

/*
 * ERROR: an entry is too large; size: the bytes that it would need.  ERROR: a stored entry cannot
 * be read.  Both name the index.
 */
pg_noreturn extern pg_attribute_cold void sfx_entry_too_large(Relation index, int64 size);
pg_noreturn extern pg_attribute_cold void sfx_entry_damaged(Relation index, const char *what);

#endif							/* SURFIDX_DAMAGE_H */
