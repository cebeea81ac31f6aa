/*-------------------------------------------------------------------------
 * unread_columns.h - index-only scans whose rows nobody reads
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_UNREAD_H
#define SURFIDX_UNREAD_H

#include "surfidx.h"

#include "access/skey.h"

/* At preload. */
extern void sfx_unread_init(void);

/* What amrescan is given as order-by keys, of which there are none: does it tell that no column of the scan's rows is read? */
extern bool sfx_unread_told(ScanKey orderbys);

/* The array that tells it. */
extern ScanKey sfx_unread_keys(void);

#endif							/* SURFIDX_UNREAD_H */
