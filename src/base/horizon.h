/*-------------------------------------------------------------------------
 * horizon.h - conflict horizons: which snapshots of standbys may see what was removed
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_HORIZON_H
#define SURFIDX_HORIZON_H

/*
 * The newest transaction whose snapshots may see the rows of removed entries; invalid: there is
 * none.  Redo of the removal cancels such snapshots.
 */
typedef struct SfxHorizon
{
	TransactionId xid;
	bool		catalog;		/* the table is a catalog for logical decoding */
} SfxHorizon;

/* Make *horizon the later of the two. */
extern void sfx_horizon_raise(SfxHorizon *horizon, const SfxHorizon *by);

#endif							/* SURFIDX_HORIZON_H */
