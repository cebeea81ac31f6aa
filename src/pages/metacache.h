/*-------------------------------------------------------------------------
 * metacache.h - metapages that a backend keeps for the planner and for readers
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_METACACHE_H
#define SURFIDX_METACACHE_H

#include "memo.h"
#include "meta.h"

/* A metapage that this backend keeps until some metapage of the server changes. */
typedef struct SfxGlance
{
	SfxMemo		memo;			/* as of that number of changes of metapages; 0: nothing is kept */
	bool		sound;			/* false: the metapage is damaged, or of an unknown format, which
								 * is no reason not to plan */
	SfxMeta		meta;			/* if sound */
} SfxGlance;

/*
 * The index's metapage of now, as far as the planner has to care; valid until the next call.  The
 * index is locked by the caller, or by the planner for it.  ERROR if the metapage cannot be read.
 */
extern const SfxGlance *sfx_glance(Oid index);

/*
 * The same for a reader: the metapage as it is now, or was at some time since the call began.  A gate
 * that it is to confirm is pinned before.  False: it is damaged, which sfx_meta_read tells of.
 */
extern bool sfx_meta_known(Relation index, SfxMeta *meta);

/* Number of the main tree's levels above its leaves; 1 where the metapage is damaged. */
extern int	sfx_tree_height(Relation index);

#endif							/* SURFIDX_METACACHE_H */
