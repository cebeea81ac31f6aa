/*-------------------------------------------------------------------------
 * metacache.c - what the planner wants of metapages, without a visit to them for each plan
 *
 * Costs need the height of the tree and the runs in front of it, row estimates also whether the
 * tree has changed: core keeps btree's metapage in its relation cache for that.  Ours changes with
 * each group of a merge; so a counter in shared memory counts the changes of all metapages, and
 * what a backend has seen of one is good as long as the counter has not moved.
 *
 * The counter moves after the page, under the page's lock, and is read before it: what is kept may
 * be newer than it seems, never older.  Pages that come by other ways (the end of a build, core's
 * full images in redo) belong to a new file, of which an invalidation of the relation tells.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "memo.h"
#include "meta.h"
#include "metacache.h"

#include "access/genam.h"
#include "port/atomics.h"
#include "storage/shmem.h"
#include "utils/rel.h"

#define KEPT			32		/* indexes */
#define MAX_HEIGHT		32		/* of a tree that is believed */

static SfxGlance kept[KEPT];

static SfxMemoTable table = SFX_MEMO_TABLE(kept);

/*
 * rel: the index, or NULL.  Who plans has no relation at hand to tell its file: changes are counted
 * of all files, and an invalidation tells of another one.
 */
static const SfxGlance *
glance(Oid index, Relation rel)
{
	SfxGlance  *g = &kept[index % KEPT];
	uint64		now = sfx_meta_changes();
	Relation	opened = NULL;

	if (likely(g->memo.index == index && g->memo.as_of == now && now != 0))
		return g;
	pg_read_barrier();
	sfx_memo_register(&table);
	g->memo.as_of = 0;
	if (rel == NULL)
		rel = opened = index_open(index, NoLock);
	g->memo.index = index;
	g->sound = sfx_meta_try_read(rel, &g->meta) && SfxMetaMain(&g->meta)->level <= MAX_HEIGHT;
	if (opened)
		index_close(opened, NoLock);
	SFX_STOP("metapage glanced at");
	if (SFX_MUTANT("changes counted behind the page"))
		now = sfx_meta_changes();
	g->memo.as_of = now;
	return g;
}

const SfxGlance *
sfx_glance(Oid index)
{
	return glance(index, NULL);
}

int
sfx_tree_height(Relation index)
{
	const SfxGlance *g = glance(RelationGetRelid(index), index);

	return g->sound ? SfxMetaMain(&g->meta)->level : 1;
}
