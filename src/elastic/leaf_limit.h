/*-------------------------------------------------------------------------
 * leaf_limit.h - which leaves are cut and which are whole, for the storage parameter size_limit
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LEAF_LIMIT_H
#define SURFIDX_LEAF_LIMIT_H

#include "leaf_change.h"
#include "meta.h"

/*
 * Pages of trees and log, without free ones.  The caller needs no lock.  Memory is left in the
 * current context.
 */
extern uint64 sfx_limit_pages(Relation index, const SfxOrder *order, const SfxMeta *meta);

/* The storage parameter size_limit in pages. */
extern double sfx_limit_in_pages(Relation index);

/* Pages up to which leaves become whole below that limit. */
extern double sfx_limit_most_whole(double limit);

/* The limit near which an index of so many pages is taken to about so many others. */
extern double sfx_limit_to(double pages, double target);

/*
 * Unless the parameter keys decides, cut keys of leaves if trees and log are near the limit or
 * above it, or recover some if they are far below (W9).  The limit is c->share, or size_limit
 * without one.  If they stay above size_limit although the pass was not interrupted, that is
 * written to the server log, once.
 */
extern void sfx_limit_keep(SfxLeafChange *c);

#endif							/* SURFIDX_LEAF_LIMIT_H */
