/*-------------------------------------------------------------------------
 * damage.h - errors of entries that do not fit, and of stored ones that cannot be read
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DAMAGE_H
#define SURFIDX_DAMAGE_H

#include "surfidx.h"

/*
 * The errors of entries that do not fit (size: what they would need), and of stored ones that
 * cannot be read.
 */
pg_noreturn extern void sfx_entry_too_large(Relation index, int64 size);
pg_noreturn extern void sfx_entry_damaged(Relation index, const char *what);

#endif							/* SURFIDX_DAMAGE_H */
