/*-------------------------------------------------------------------------
 * filter_make.h - filter pages in the index: made with the leaves that they cover, asked before a
 * leaf is read
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_FILTER_MAKE_H
#define SURFIDX_FILTER_MAKE_H

#include "child_file.h"
#include "find.h"
#include "meta.h"
#include "swap.h"
#include "wal.h"

/*
 * Bounds of what one filter covers.  A page above the leaves must have room for all leaves of one
 * filter whatever else it holds, so that it can always be split between two filters (F1).
 */
#define SFX_FILTER_LEAVES	16
#define SFX_FILTER_MAXFENCE	128 /* bytes of the fences of its leaves, at most */

/* Raise a NOTICE where the index gets another kind of filter than the parameters say, or none. */
extern void sfx_filter_notice(Relation index);

/* ---- making ---- */

/*
 * At the end of a build: write filters over the leaves to blocks from *next on, which is moved.
 * Returns the leaves with their filters named, in a new file that belongs to the caller (leaves is
 * freed); or leaves itself, where there are no filters.
 */
extern SfxChildFile *sfx_filters_build(Relation index, const SfxOrder *order, const SfxMeta *meta,
									   SfxChildFile *leaves, BlockNumber *next);

/* A filter that a swap writes. */
typedef struct SfxFilterPage
{
	int			first;			/* leaves that it covers, counted from SfxFilterPlan.first */
	int			n;
	uint8	   *body;
	uint32		len;
} SfxFilterPage;

/* What a swap of the leaves [from, to) of a node does to filters. */
typedef struct SfxFilterPlan
{
	int			first;			/* children [first, end) of the node lose their filters */
	int			end;
	int			nold;			/* the blocks of these */
	BlockNumber old[SFX_GROUP_BLOCKS];
	int			n;				/* the new filters */
	SfxFilterPage page[SFX_GROUP_BLOCKS];
} SfxFilterPlan;

/*
 * Begin *plan: first, end and old become those of all filters that cover one of the children [from,
 * to) of node (NULL: there is no parent), and there are no new ones.
 */
extern void sfx_filters_touched(const SfxNode *node, int from, int to, SfxFilterPlan *plan);

/*
 * Complete *plan: make at most room new filters over the leaves that replace children [from, to),
 * and over those beside them that lose theirs.  Needs the merge lock; reads the leaves beside.
 * Memory: the current context.
 */
extern void sfx_filters_plan(const SfxTree *t, const SfxNode *node, int from, int to,
							 const SfxNewLeaf *leaves, int n, int room, SfxFilterPlan *plan);

#endif							/* SURFIDX_FILTER_MAKE_H */
