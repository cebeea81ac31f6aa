/*-------------------------------------------------------------------------
 * autotune.h - surfidx.autotune: what surfidx_tune() proposes, applied
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AUTOTUNE_H
#define SURFIDX_AUTOTUNE_H

#include "nodes/pg_list.h"

/* A row of surfidx_tune(). */
typedef struct SfxProposal
{
	Oid			index;
	char	   *setting;
	char	   *value;
	char	   *statement;
	char	   *revert;			/* keeps the parameter as it was, so it is not changed again */
	char	   *reason;
} SfxProposal;

/* What surfidx_tune() proposes to set, in its order: a list of SfxProposal in that context. */
extern List *sfx_autotune_ask(MemoryContext cxt);

/*
 * Do so, and log it, unless the parameter is set already.  The caller holds the lock of ALTER INDEX
 * ... SET, ShareUpdateExclusiveLock.  Returns whether it was done.
 */
extern bool sfx_autotune_apply(Relation index, const SfxProposal *p);

#endif							/* SURFIDX_AUTOTUNE_H */
