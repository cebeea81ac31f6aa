/*-------------------------------------------------------------------------
 * horizon.h - until when a standby's snapshots may see what was removed
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_HORIZON_H
#define SURFIDX_HORIZON_H

#include "surfidx.h"

/*
 * Removed entries' rows may be seen by a standby's snapshots up to this transaction; invalid: by
 * none.
 */
typedef struct SfxHorizon
{
	TransactionId xid;
	bool		catalog;		/* logical decoding reads the table */
} SfxHorizon;

extern void sfx_horizon_raise(SfxHorizon *horizon, const SfxHorizon *by);

#endif							/* SURFIDX_HORIZON_H */
