/*-------------------------------------------------------------------------
 * leaf_keys.c - making leaves of the main tree cut or whole, as the storage parameter keys asks
 *
 * Leaves that merges write are cut as soon as the parameter says so.  VACUUM and surfidx_merge()
 * rewrite the others here, and all leaves that are to be whole again.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "leaf_change.h"
#include "leaf_keys.h"
#include "leaf_limit.h"
#include "merge_lock.h"
#include "meta.h"
#include "recover.h"
#include "settings.h"
#include "wal.h"

#include "storage/ipc.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/*
 * Change the group at c->pos, and move c->pos after it; false when it was the last.  Merge lock
 * held (asserted).
 */
static bool
change_next(SfxLeafChange *c, SfxMeta *meta)
{
	SfxGroup	g;
	int			end;

	Assert(sfx_merge_lock_held(c->index));
	sfx_group_locate(&g, SfxTreeOf(c->index, c->order, meta, SfxMetaMain(meta)->id), &c->pos.pos,
					 &c->kept);
	end = g.from + (c->cut ? SFX_CUT_LEAVES : SFX_WHOLE_LEAVES);
	end = g.has_node ? Min(end, g.node.nchildren) : 1;
	if (sfx_leaf_change_group(c, &g, end) < 0)
		return false;
	return sfx_leaf_change_next(c, &g);
}

/* All leaves were visited: correct the metapage's count of cut leaves, which is rough. */
static void
note_end(SfxLeafChange *c)
{
	SfxMeta		meta;
	Buffer		buf;

	sfx_meta_lock(c->index, &meta, &buf);
	SfxMetaMain(&meta)->cut = c->cut ? SfxMetaMain(&meta)->leaves : 0;
	sfx_meta_change(c->index, buf, &meta, SFX_META_STATS, NULL);
}

/* Does the main tree have leaves that are not of the wanted kind?  By the metapage's count. */
static bool
is_wanted(Relation index, bool cut, SfxProgress *p)
{
	SfxMeta		meta;
	const SfxRun *main = NULL;

	sfx_meta_read(index, &meta);
	main = SfxMetaMain(&meta);
	p->total = main->entries;
	return cut ? main->cut < main->leaves : main->cut > 0;
}

/* Make all leaves of the main tree of the kind that keys asks for. */
static void
change_all(SfxLeafChange *c)
{
	SfxLeafKeys keys = sfx_leaves_wanted(c->index, c->order);
	bool		more = is_wanted(c->index, keys == SFX_LEAVES_CUT, c->progress);

	sfx_leaf_change_start(c, keys == SFX_LEAVES_CUT);
	while (more && c->how->go_on(c->index, c->progress))
	{
		MemoryContext old;
		SfxMeta		meta;

		sfx_merge_lock(c->index);
		/* the parameter may have changed */
		AcceptInvalidationMessages();
		if (sfx_leaves_wanted(c->index, c->order) != keys)
		{
			sfx_merge_unlock(c->index);
			break;
		}
		old = MemoryContextSwitchTo(c->cxt);
		sfx_meta_read(c->index, &meta);
		more = change_next(c, &meta);
		MemoryContextSwitchTo(old);
		MemoryContextReset(c->cxt);
		if (!more)
			note_end(c);
		sfx_merge_unlock(c->index);
		SFX_STOP("leaf keys changed");
	}
}

/* Run what(), shown by surfidx_progress(); returns leaves written. */
static uint64
change(Relation index, const SfxOrder *order, const SfxLeafManner *how, const SfxBudgetShare *share,
	   void (*what) (SfxLeafChange *c))
{
	SfxLeafChange *c = palloc(sizeof(SfxLeafChange));
	uint64		written;

	sfx_leaf_change_begin(c, index, order, how);
	if (share)
		c->share = *share;
	c->progress = sfx_progress_begin(index);
	PG_ENSURE_ERROR_CLEANUP(sfx_progress_clean_up, PointerGetDatum(c->progress));
	what(c);
	PG_END_ENSURE_ERROR_CLEANUP(sfx_progress_clean_up, PointerGetDatum(c->progress));
	sfx_progress_end(c->progress);
	sfx_leaf_change_end(c);
	written = c->written;
	pfree(c);
	return written;
}

uint64
sfx_keep_size_limit(Relation index, const SfxOrder *order, const SfxLeafManner *how,
					const SfxBudgetShare *share)
{
	if (share == NULL && sfx_opt_size_limit(index) == 0)
		return 0;
	return change(index, order, how, share, sfx_limit_keep);
}

uint64
sfx_change_leaf_keys(Relation index, const SfxOrder *order, const SfxLeafManner *how)
{
	uint64		written = 0;

	if (sfx_leaves_wanted(index, order) != SFX_LEAVES_BOUND)
		written = change(index, order, how, NULL, change_all);
	return written + sfx_keep_size_limit(index, order, how, NULL);
}
