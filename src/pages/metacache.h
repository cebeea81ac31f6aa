/*-------------------------------------------------------------------------
 * metacache.h - metapages that a backend keeps for the planner
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_METACACHE_H
#define SURFIDX_METACACHE_H

#include "memo.h"
#include "meta.h"

/*
 * A metapage, kept by this backend for the planner until some metapage of the server has changed.
 */
typedef struct SfxGlance
{
	SfxMemo		memo;			/* as of so many changes of metapages; 0: not kept */
	bool		sound;			/* the metapage is damaged if not: no reason not to plan */
	SfxMeta		meta;			/* if sound */
} SfxGlance;

/*
 * The index is locked by the caller, or by who plans for him.  Valid until the next call. Errors:
 * the metapage cannot be read.
 */
extern const SfxGlance *sfx_glance(Oid index);

/* Levels of the main tree above its leaves; 1 where the metapage is damaged. */
extern int	sfx_tree_height(Relation index);

#endif							/* SURFIDX_METACACHE_H */
