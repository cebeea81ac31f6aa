/*-------------------------------------------------------------------------
 * rowcompare.h - row comparisons, (a, b) > (1, 2), as conditions of a scan
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ROWCOMPARE_H
#define SURFIDX_ROWCOMPARE_H

#include "surfidx.h"

#include "access/skey.h"

/* One row comparison; its members are the executor's and stay until the next restart. */
typedef struct SfxRowCompare
{
	ScanKey		member;			/* the last one has SK_ROW_END */
	StrategyNumber strategy;
} SfxRowCompare;

/*
 * Put what a row comparison says of its first column in the place of each one among keys, which are ours to change; *rows (palloced, or NULL if
 * there are none) gets the comparisons themselves.  Returns how many there are; *upto is raised to the number of columns that they need.
 */
extern int	sfx_rowcompare_split(Relation index, ScanKey keys, int nkeys, SfxRowCompare **rows, int *upto);

/* Are all of them true of these values? */
extern bool sfx_rowcompare_check(const SfxRowCompare *rows, int n, const Datum *values, const bool *isnull);

#endif							/* SURFIDX_ROWCOMPARE_H */
