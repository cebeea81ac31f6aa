/*-------------------------------------------------------------------------
 * state.h - the state of an index's stages under one metapage, and what of it holds under later
 * ones (T6)
 *
 * Code that keeps something it has read from an index takes the state of the metapage that it read
 * first.  What it keeps is good as long as the state still holds under the metapage in hand.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_STATE_H
#define SURFIDX_STATE_H

#include "meta.h"

typedef struct SfxState
{
	uint64		build_id;		/* the life: counts of another one mean something else */
	uint64		groups;			/* groups of merges that were counted */
	bool		moving;			/* entries may stand in two stages: a generation is frozen, or a
								 * run is being merged */
} SfxState;

/* What has to hold of a state. */
typedef enum SfxStillHolds
{
	SFX_TREES_STAND_STILL,		/* T6: no entry has come into a tree since */
	SFX_STAGES_ARE_DISJOINT		/* R9: nor had any entry more than one stage when the state was
								 * taken. So whatever stages of that metapage were read since then
								 * gave each entry once */
} SfxStillHolds;

static inline SfxState
sfx_state_take(const SfxMeta *meta)
{
	return (SfxState)
	{
		.build_id = meta->build_id,.groups = meta->work.groups,
			.moving = meta->ngens > 1 || meta->resume[SFX_RESUME_RUN].source != 0
	};
}

/*
 * Does it still hold under this metapage, which was read later, or is the same one?  The file is
 * the same: the relation was open all the time, or a memo.h table has compared files.
 */
static inline bool
sfx_state_still_holds(const SfxState *s, const SfxMeta *now, SfxStillHolds what)
{
	/* a life's groups are only counted up */
	Assert(s->build_id != now->build_id || s->groups <= now->work.groups);
	if (s->build_id != now->build_id || s->groups != now->work.groups)
		return false;
	return what == SFX_TREES_STAND_STILL || !s->moving;
}

#endif							/* SURFIDX_STATE_H */
