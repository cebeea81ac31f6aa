/*-------------------------------------------------------------------------
 * agg_exec.h - the plan node that computes aggregates by the index
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_EXEC_H
#define SURFIDX_AGG_EXEC_H

#include "agg_want.h"

#include "nodes/extensible.h"

/* At preload: register the node. */
extern void sfx_agg_exec_init(void);

/*
 * Make a node over child, an index-only scan of ours whose conditions the index alone answers.  The
 * node's scan tuple is what is wanted; having and tlist are expressions over its columns.
 */
extern CustomScan *sfx_agg_make_plan(Plan *child, const SfxAggWanted *wanted, List *tlist,
									 List *having);

#endif							/* SURFIDX_AGG_EXEC_H */
