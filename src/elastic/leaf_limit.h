/*-------------------------------------------------------------------------
 * leaf_limit.h - which leaves are cut, and which are whole, for the storage parameter size_limit
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LEAF_LIMIT_H
#define SURFIDX_LEAF_LIMIT_H

#include "surfidx.h"
#include "leaf_change.h"
#include "meta.h"

/* Pages of trees and log, without what is free.  No lock is needed; memory: the current context. */
extern uint64 sfx_limit_pages(Relation index, const SfxOrder *order, const SfxMeta *meta);

/* What size_limit is in pages. */
extern double sfx_limit_in_pages(Relation index);

/*
 * Cut or recover keys of leaves, if trees and log are too near the limit or far below it, and keys
 * are not pinned; tell the log if they are above it and nothing is left to do.
 */
extern void sfx_limit_keep(SfxLeafChange *c);

#endif							/* SURFIDX_LEAF_LIMIT_H */
