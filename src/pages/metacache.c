/*-------------------------------------------------------------------------
 * metacache.c - metapages, without a visit to them for each plan and each step of a reader (E6)
 *
 * Each step begins with the metapage (R1).  Costs need the height of the tree and the runs in front
 * of it; row estimates also need to know whether the tree has changed.  Core keeps btree's metapage
 * in its relation cache for that, but ours changes with each group of a merge.  So a counter in
 * shared memory counts the changes of all metapages of the server, and what a backend has seen of a
 * metapage is good until the counter moves.
 *
 * A writer raises the counter after it has changed the page, while it holds the page's lock; a
 * reader reads the counter first and the page then.  So what is kept may be newer than it seems,
 * never older.  Pages that come by other ways (the end of a build, core's full images in redo)
 * belong to a new file, for which there is an invalidation of the relation.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "memo.h"
#include "meta.h"
#include "metacache.h"

#include "port/atomics.h"
#include "utils/rel.h"

#define KEPT			64		/* indexes: as many as 6 bits have values */
#define MAX_HEIGHT		32		/* of a tree; more is damage */

static SfxGlance kept[KEPT];

static SfxMemoTable table = SFX_MEMO_TABLE(kept);

/*
 * The glance at an index's metapage, kept or read anew.  rel: the index, or NULL.  The planner has
 * no open relation at hand that would name the file; it needs none, since changes are counted for
 * all files, and an invalidation tells of a new one.
 */
static const SfxGlance *
glance(Oid index, Relation rel)
{
	/* the OIDs of partitions' indexes may be multiples of any number apart */
	SfxGlance  *g = &kept[index * 2654435769U >> 26];
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

bool
sfx_meta_known(Relation index, SfxMeta *meta)
{
	const SfxGlance *g = glance(RelationGetRelid(index), index);

	if (likely(g->sound))
		sfx_meta_assign(meta, &g->meta);
	return g->sound;
}

int
sfx_tree_height(Relation index)
{
	const SfxGlance *g = glance(RelationGetRelid(index), index);

	return g->sound ? SfxMetaMain(&g->meta)->level : 1;
}
