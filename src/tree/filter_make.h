/*-------------------------------------------------------------------------
 * filter_make.h - filter pages in the index: made with the leaves that they cover, asked before a
 * leaf is read
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_FILTERS_H
#define SURFIDX_FILTERS_H

#include "surfidx.h"
#include "child_file.h"
#include "filter.h"
#include "find.h"
#include "inner.h"
#include "leaf.h"
#include "meta.h"
#include "wal.h"


/*
 * Bounds of what one filter covers.  A page above the leaves must have room for all leaves of one
 * filter whatever else it holds, so that it can always be split between two filters: see README F1.
 */
#define SFX_FILTER_LEAVES	16
#define SFX_FILTER_MAXFENCE	128 /* bytes of its leaves' fences, at most */

/* The filter that the index's storage parameters ask for, as far as its keys can have it. */
extern void sfx_filter_spec(Relation index, SfxFilterSpec *spec);

/* The NOTICE, where that is another kind than the parameters say, or none. */
extern void sfx_filter_notice(Relation index);

/* ---- making ---- */

/* Makes filters over neighbouring leaves, one after the other. */
typedef struct SfxFilterMaker
{
	Relation	index;
	const SfxOrder *order;
	SfxFilterSpec spec;
	double		bits;			/* that an entry takes, as far as is known */
	void		(*open) (void *ctx, int i, SfxLeaf *leaf);	/* leaf number i, valid until the next
															 * one is opened */
	void	   *ctx;
	SfxBlock   *block;
} SfxFilterMaker;

/* Memory: the current context. */
extern void sfx_filter_maker_init(SfxFilterMaker *m, Relation index, const SfxOrder *order, const SfxFilterSpec *spec,
								  void (*open) (void *ctx, int i, SfxLeaf *leaf), void *ctx);

/*
 * A filter over the leaves from number at on, of n, whose low fences and numbers of entries c has
 * and the last one's high fence is high (NULL: infinity); about entries of them, at most.  Returns
 * how many leaves it covers, 0 if leaf at can have none; the body (SFX_BODY_CAPACITY bytes) and its
 * length.
 */
extern int	sfx_filter_make(SfxFilterMaker *m, const SfxChild *c, int n, int at, const SfxPos *high, double entries,
							uint8 *body, uint32 *len);

/*
 * At the end of a build: write filters over the leaves behind what was written before *next.  The
 * leaves with the filters named, for which the caller answers from then on; leaves itself, where
 * there are none.
 */
extern SfxChildFile *sfx_filters_build(Relation index, const SfxOrder *order, const SfxMeta *meta,
									   SfxChildFile *leaves, BlockNumber *next);

typedef struct SfxFilterPage
{
	int			first;			/* leaves that it covers, counted from SfxFilterPlan.first */
	int			n;
	uint8	   *body;
	uint32		len;
} SfxFilterPage;

/* What a swap of the leaves [from, to) does to filters. */
typedef struct SfxFilterPlan
{
	int			first;			/* children [first, end) of the node lose theirs */
	int			end;
	int			nold;			/* blocks of these filters */
	BlockNumber old[SFX_GROUP_BLOCKS];
	int			n;
	SfxFilterPage page[SFX_GROUP_BLOCKS];
} SfxFilterPlan;

/*
 * All filters that cover one of the children [from, to) of node (NULL: there is none): first, end,
 * old.
 */
extern void sfx_filters_touched(const SfxNode *node, int from, int to, SfxFilterPlan *plan);

/*
 * Make at most room filters over the leaves that replace children [from, to), and those that lose
 * theirs: the rest of *plan.  Needs the merge lock; reads the leaves beside.  Memory: the current
 * context.
 */
extern void sfx_filters_plan(const SfxTree *t, const SfxNode *node, int from, int to,
							 const SfxNewLeaf *leaves, int n, int room, SfxFilterPlan *plan);

#endif							/* SURFIDX_FILTERS_H */
