/*-------------------------------------------------------------------------
 * leaf_limit.c - which leaves are cut and which are whole, for the storage parameter size_limit, or
 * for an index's share in size_budget (W9)
 *
 * From CUT_FROM of the limit on leaves are cut, coldest first, until CUT_TO is reached.  Below
 * WHOLE_FROM, leaves that scans take keys from become whole, hottest first, up to WHOLE_TO.  A pass
 * goes round the leaves once for each class of heat.  It begins where the previous pass ended, so
 * it first meets leaves that this one left whole, and leaves written since.  A round reads only
 * leaves of its class, so a pass reads no leaf twice.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "counters.h"
#include "heat.h"
#include "leaf_change.h"
#include "leaf_limit.h"
#include "merge_lock.h"
#include "recover.h"
#include "settings.h"

#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define CUT_FROM		0.90	/* shares of the limit */
#define CUT_TO			0.85
#define WHOLE_FROM		0.75
#define WHOLE_TO		0.80
#define WHOLE_MOST		0.85	/* ... which no group may exceed */
#define FIRST_GROWTH	8.0		/* pages that a cut leaf becomes, before any was made whole */
#define LEAVES_A_LOOK	64		/* leaves of the round's class examined in one hold of the merge
								 * lock */

/* Upper bounds of the classes of heat. */
static const int classes[] = {0, 1, 3, 6, 10, SFX_HEAT_MAX};

typedef enum PassResult
{
	PASS_ON,
	PASS_ROUND,					/* the round has ended */
	PASS_ENOUGH,
	PASS_GIVEN_UP
} PassResult;

typedef struct Pass
{
	SfxLeafChange *c;
	double		limit;			/* pages */
	uint64		inner;			/* at the beginning of the pass */
	int			least,			/* the round's class of heat */
				most;
	double		growth;			/* pages that a cut leaf becomes, on average */
	uint64		grown_from,
				grown_to;
	bool		wrapped;		/* the round has passed the end of the tree */
	SfxPos		hand;			/* where rounds begin and end */
	uint8		hand_key[SFX_HAND_KEY];
} Pass;

/* ---- size of the index ---- */

/* An SfxChildVisit. */
static void
count_child(const SfxTree *t, const SfxChild *child, void *arg)
{
	++*(uint64 *) arg;
}

/*
 * Pages of level 1 are the children of level 2, or the root is one; higher levels are negligible.
 */
static uint64
all_inner_pages(Relation index, const SfxOrder *order, const SfxMeta *meta)
{
	uint64		n = 0;

	for (int r = 0; r < meta->nruns; r++)
	{
		n += meta->runs[r].level > 0 ? 1 : 0;
		(void) sfx_tree_children(SfxTreeOf(index, order, meta, meta->runs[r].id), 2, count_child,
								 &n);
	}
	return n;
}

/* Leaves and log pages. */
static uint64
other_pages(const SfxMeta *meta)
{
	return sfx_meta_leaves(meta) + sfx_meta_log_pages(meta);
}

uint64
sfx_limit_pages(Relation index, const SfxOrder *order, const SfxMeta *meta)
{
	return all_inner_pages(index, order, meta) + other_pages(meta);
}

double
sfx_limit_in_pages(Relation index)
{
	return sfx_opt_size_limit(index) * (1024.0 / BLCKSZ);
}

/* What bounds the index in this pass: its share, which heeds size_limit, or that. */
static double
limit_now(const SfxLeafChange *c)
{
	return c->share.limit > 0 ? c->share.limit : sfx_limit_in_pages(c->index);
}

double
sfx_limit_most_whole(double limit)
{
	return WHOLE_TO * limit;
}

double
sfx_limit_to(double pages, double target)
{
	if (target < pages)
		return Min(target / CUT_TO, (pages - 1) / CUT_FROM);
	return Max(target / WHOLE_TO, (pages + 1) / WHOLE_FROM);
}

static inline double
share(const Pass *p, const SfxMeta *meta)
{
	return (p->inner + other_pages(meta)) / p->limit;
}

/* ---- one group ---- */

/* Is the mean heat of these leaves, rounded up, in the round's class? */
static bool
is_of_class(const Pass *p, const SfxGroup *g, int from, int to)
{
	int			sum = sfx_leaf_change_heat(p->c, g, from, to);

	return (p->least == 0 || sum > (p->least - 1) * (to - from)) && sum <= p->most * (to - from);
}

static bool
has_other_kind(const Pass *p, const SfxGroup *g, int from, int to)
{
	for (int i = from; i < to; i++)
		if (sfx_group_is_cut(g, i) != p->c->cut)
			return true;
	return false;
}

/* Is the target share reached, or would the next group exceed it? */
static bool
is_enough(const Pass *p, const SfxMeta *meta)
{
	double		now = share(p, meta);

	if (p->c->cut)
		return now <= CUT_TO;
	return now >= WHOLE_TO ||
		now + SFX_WHOLE_LEAVES * (p->growth - 1) / p->limit > WHOLE_MOST;
}

/*
 * Leaves changed in one record, at most.  Cutting frees a third to two thirds of a leaf, so only as
 * many leaves are cut as free the excess.
 */
static int
stride(const Pass *p, const SfxMeta *meta)
{
	double		excess = (share(p, meta) - CUT_TO) * p->limit;

	if (!p->c->cut)
		return SFX_WHOLE_LEAVES;
	return Max(SFX_GROUP_LEAVES, (int) Min(2 * excess, SFX_CUT_LEAVES));
}

/*
 * Find the first leaves from g->from on, under this parent, that are to be changed: [g->from,
 * *end).  False: there are none before *end.
 */
static bool
find_leaves(const Pass *p, SfxGroup *g, int leaves, int *end)
{
	int			looked = 0;

	for (int at = g->from; at < g->node.nchildren; at = *end)
	{
		*end = Min(at + leaves, g->node.nchildren);
		g->from = at;
		if (is_of_class(p, g, at, *end))
		{
			if (has_other_kind(p, g, at, *end))
				return true;
			looked += *end - at;
		}
		for (int i = at; i < *end; i++)
			p->c->progress->done += g->node.children[i].count;
		if (looked >= LEAVES_A_LOOK)
			break;
	}
	return false;
}

static void
note_growth(Pass *p, int changed, uint64 written)
{
	if (p->c->cut || changed == 0)
		return;
	p->grown_from += changed;
	p->grown_to += written;
	p->growth = (double) p->grown_to / p->grown_from;
}

/* Move on.  Has the round ended?  At the end of the tree it continues at the first leaf. */
static PassResult
end_of_step(Pass *p, const SfxGroup *g)
{
	SfxLeafChange *c = p->c;

	if (!sfx_leaf_change_next(c, g))
	{
		if (p->wrapped || p->hand.len == 0)
			return PASS_ROUND;
		p->wrapped = true;
		sfx_pos_set(&c->pos, &SFX_POS_FIRST);
		return PASS_ON;
	}
	if (p->wrapped && sfx_order_cmp_pos(c->order, &c->pos.pos, &p->hand) >= 0)
		return PASS_ROUND;
	return PASS_ON;
}

/*
 * Look for leaves to change from c->pos on, and change one group of them.  Merge lock held
 * (asserted).
 */
static PassResult
limit_step(Pass *p, SfxMeta *meta)
{
	SfxLeafChange *c = p->c;
	SfxGroup	g;
	int			end = 1;
	int			changed = 0;
	uint64		written = c->written;

	Assert(sfx_merge_lock_held(c->index));
	if (is_enough(p, meta))
		return PASS_ENOUGH;
	sfx_group_locate(&g, SfxTreeOf(c->index, c->order, meta, SfxMetaMain(meta)->id), &c->pos.pos,
					 &c->kept);
	/* a tree of one leaf has one page, cut or not */
	if (!g.has_node)
		return PASS_ENOUGH;
	if (find_leaves(p, &g, stride(p, meta), &end))
		changed = sfx_leaf_change_group(c, &g, end);
	else
		g.to = end;
	if (changed < 0)
		return PASS_GIVEN_UP;
	note_growth(p, changed, c->written - written);
	return end_of_step(p, &g);
}

/* ---- a pass ---- */

static bool
take_lock(const SfxLeafChange *c)
{
	if (!c->how->wait)
		return sfx_merge_trylock(c->index);
	sfx_merge_lock(c->index);
	return true;
}

/*
 * One step in one hold of the merge lock, unless the storage parameters have changed, or the
 * caller's manner ends the pass.
 */
static PassResult
next_step(Pass *p)
{
	SfxLeafChange *c = p->c;
	MemoryContext old;
	PassResult	result = PASS_GIVEN_UP;
	uint64		changed = c->changed;
	SfxMeta		meta;

	if (!c->how->go_on(c->index, c->progress) || !take_lock(c))
		return PASS_GIVEN_UP;
	/* the parameters may have changed */
	AcceptInvalidationMessages();
	if (sfx_leaves_wanted(c->index, c->order) == SFX_LEAVES_BOUND &&
		limit_now(c) == p->limit)
	{
		old = MemoryContextSwitchTo(c->cxt);
		sfx_meta_read(c->index, &meta);
		result = limit_step(p, &meta);
		MemoryContextSwitchTo(old);
		MemoryContextReset(c->cxt);
	}
	sfx_merge_unlock(c->index);
	if (c->changed > changed)
		SFX_STOP("leaf keys changed");
	return result;
}

/* Go round the leaves once, and change those of one class of heat. */
static PassResult
run_round(Pass *p, int least, int most)
{
	SfxLeafChange *c = p->c;
	PassResult	result = PASS_ON;

	p->least = least;
	p->most = most;
	p->wrapped = false;
	c->progress->done = 0;
	sfx_pos_set(&c->pos, &p->hand);
	while (result == PASS_ON)
		result = next_step(p);
	return result;
}

/*
 * Cut the coldest leaves first; at last, any that are left, since some may have changed their
 * class.
 */
static PassResult
cut_coldest(Pass *p)
{
	PassResult	result = PASS_ROUND;
	int			most = p->c->share.limit > 0 ? p->c->share.cold : SFX_HEAT_MAX;

	sfx_leaf_change_start(p->c, true);
	for (int i = 0, least = 0; least <= most && result == PASS_ROUND; least = classes[i++] + 1)
		result = run_round(p, least, Min(classes[i], most));
	if (result == PASS_ROUND && most == SFX_HEAT_MAX)
		result = run_round(p, 0, most);
	return result;
}

/* Make the hottest leaves whole first; cold ones stay cut. */
static PassResult
recover_hottest(Pass *p)
{
	PassResult	result = PASS_ROUND;
	int			least = p->c->share.limit > 0 ? p->c->share.hot : 1;

	sfx_leaf_change_start(p->c, false);
	for (int i = lengthof(classes) - 1; classes[i] >= least && result == PASS_ROUND; i--)
		result = run_round(p, Max(classes[i - 1] + 1, least), classes[i]);
	return result;
}

/* An SfxChildVisit: halve the visits. */
static void
age_leaf(const SfxTree *t, const SfxChild *leaf, void *arg)
{
	sfx_heat_age(t->index, leaf->blkno);
}

/*
 * Report once in the server log that trees and log exceed the limit and no leaf is left to be cut.
 */
static void
tell_log(Relation index, uint64 pages)
{
	int			limit = sfx_opt_size_limit(index);
	uint64		counts[SFX_COUNTS];

	sfx_activity_get(index, counts);
	if (pages < CUT_FROM * sfx_limit_in_pages(index) && counts[SFX_COUNT_TOLD] != 0)
		sfx_activity_set(index, SFX_COUNT_TOLD, 0);
	if (pages <= sfx_limit_in_pages(index))
		return;
	if (counts[SFX_COUNT_TOLD] == (uint64) limit)
		return;
	sfx_activity_set(index, SFX_COUNT_TOLD, limit);
	ereport(LOG,
			(errmsg("index \"%s\" takes " UINT64_FORMAT " kB of a size_limit of %d kB",
					RelationGetRelationName(index), pages * (BLCKSZ / 1024), limit),
			 errdetail("No leaves are left whose keys could be cut."),
			 errhint("Raise size_limit, or ask surfidx_leaf_keys() what the index has.")));
}

static void
tell_change(Relation index, uint64 from, uint64 to)
{
	ereport(LOG,
			(errmsg("index \"%s\" has gone from " UINT64_FORMAT " kB to " UINT64_FORMAT
					" kB for surfidx.size_budget",
					RelationGetRelationName(index), from * (BLCKSZ / 1024), to * (BLCKSZ / 1024))));
}

/* Under a budget only a share makes leaves whole. */
static PassResult
run_pass(Pass *p, const SfxMeta *meta)
{
	SfxLeafChange *c = p->c;
	const SfxRun *main = SfxMetaMain(meta);
	double		now = share(p, meta);
	PassResult	result = PASS_ENOUGH;

	c->progress->total = main->entries;
	if (now >= CUT_FROM && main->cut < main->leaves)
		result = cut_coldest(p);
	else if (now < WHOLE_FROM && main->cut > 0 &&
			 (c->share.limit > 0 || sfx_guc_size_budget == 0))
		result = recover_hottest(p);
	else
		return PASS_ENOUGH;
	sfx_activity_set_hand(c->index, c->pos.pos.key, (int) c->pos.pos.len);
	return result;
}

void
sfx_limit_keep(SfxLeafChange *c)
{
	Pass	   *p = palloc0(sizeof(Pass));
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx size limit",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	PassResult	result = PASS_ENOUGH;
	uint64		before;
	SfxMeta		meta;

	p->c = c;
	c->optional = true;
	p->limit = limit_now(c);
	p->growth = c->share.limit > 0 ? c->share.growth : FIRST_GROWTH;
	sfx_meta_read(c->index, &meta);
	p->inner = all_inner_pages(c->index, c->order, &meta);
	before = p->inner + other_pages(&meta);
	MemoryContextReset(cxt);
	p->hand.key = p->hand_key;
	p->hand.len = c->order ? 0 : sfx_activity_hand(c->index, p->hand_key);
	if (sfx_leaves_wanted(c->index, c->order) == SFX_LEAVES_BOUND)
		result = run_pass(p, &meta);
	sfx_meta_read(c->index, &meta);
	/* for a share they have been made to age when it was found */
	if (c->changed > 0 && c->share.limit == 0)
		(void) sfx_tree_children(SfxTreeOf(c->index, c->order, &meta, SfxMetaMain(&meta)->id), 1,
								 age_leaf, NULL);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	if (c->share.limit > 0 && c->changed > 0)
		tell_change(c->index, before, p->inner + other_pages(&meta));
	else if (c->share.limit == 0 && result != PASS_GIVEN_UP)
		tell_log(c->index, p->inner + other_pages(&meta));
	pfree(p);
}
