/*-------------------------------------------------------------------------
 * budget.c - surfidx.size_budget: one size for all indexes of a database, shared out by how their
 * leaves are read (W9)
 *
 * Every so often a worker looks at all indexes: how many leaves of which heat are cut and whole.
 * The leaves of all of them queue for whole keys, the hottest first, until the budget is used up.
 * A leaf that is whole stands DOUBLINGS of heat before its place, unless it is cold, and a cut one
 * is judged by the heat that it will have as several whole ones.  So a leaf is cut for another one
 * only if that is read several times as often, and nothing changes back and forth.
 *
 * From that follows a target for each index, and a limit by which leaf_limit.c goes there.  Room
 * that is not there yet is not granted: leaves are cut first, and the next pass grants what has
 * become free.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "budget.h"
#include "column.h"
#include "counters.h"
#include "leaf_limit.h"
#include "meta.h"
#include "order.h"
#include "recover.h"
#include "settings.h"
#include "subxact.h"

#include "utils/rel.h"
#include "utils/timestamp.h"

#include <math.h>

#define CUT_ABOVE	0.98		/* shares of the budget: above this leaves are cut, ... */
#define AIM			0.95		/* ... to reach this, to which others become whole, too */
#define WORTH		0.01		/* smaller changes of an index are not made */
#define DOUBLINGS	2
#define UNKNOWN_CUT	0.25		/* as_cut before some leaves were cut, or where cut ones have other
								 * keys: little, since what turns out to be missing is cut by the
								 * next pass */
#define MOST_AS_CUT	0.9
#define PACE		20			/* of the time at most one part in so many is spent on looking */
#define ASK_MS		1000
#define VISITS		(2.0 * SFX_HEAT_OF_KEYS)	/* of a leaf, that tell whether it is hot */

#define KEYS		(SFX_HEAT_MAX + DOUBLINGS + 1)

/* ---- when ---- */

bool
sfx_budget_due(void)
{
	return (sfx_guc_size_budget > 0 || sfx_guc_autotune) &&
		GetCurrentTimestamp() >= (TimestampTz) sfx_database_get(SFX_COUNT_DUE);
}

bool
sfx_budget_asks(void)
{
	static TimestampTz asked = 0;
	TimestampTz now;

	if (sfx_guc_size_budget <= 0 && !sfx_guc_autotune)
		return false;
	now = GetCurrentTimestamp();
	if (!TimestampDifferenceExceeds(asked, now, ASK_MS))
		return false;
	asked = now;
	return sfx_budget_due();
}

void
sfx_budget_next(double ms)
{
	int			wait = (int) Max(sfx_guc_budget_interval * 1000.0, Min(PACE * ms, 86400e3));

	sfx_database_set(SFX_COUNT_DUE,
					 (uint64) TimestampTzPlusMilliseconds(GetCurrentTimestamp(), wait));
}

bool
sfx_budget_ages(void)
{
	return sfx_database_get(SFX_COUNT_AGES) != 0;
}

/* ---- what there is ---- */

#define BUCKETS		72			/* classes of leaves by their entries, four for each doubling */

/* Leaves of an index, whole and cut ones, and those of an unknown kind. */
typedef struct Census
{
	SfxBudgetIndex *x;
	bool		age;
	double		leaves[2];
	double		entries[2];
	uint32		unknown[BUCKETS];
	double		unknown_entries[BUCKETS];
} Census;

static void
count_kind(Census *c, bool cut, int heat, uint32 leaves, double entries)
{
	(cut ? c->x->cut : c->x->whole)[heat] += leaves;
	c->leaves[cut] += leaves;
	c->entries[cut] += entries;
}

/* An SfxChildVisit. */
static void
count_leaf(const SfxTree *t, const SfxChild *leaf, void *arg)
{
	Census	   *c = arg;
	int			b = leaf->count > 0 ? Min((int) (4 * log2((double) leaf->count)), BUCKETS - 1) : 0;
	int			heat = sfx_heat_of(t->index, leaf->blkno);
	bool		cut = sfx_heat_is_cut(t->index, leaf->blkno);

	if (cut || heat > 0)
		count_kind(c, cut, heat, 1, leaf->count);
	else
	{
		c->unknown[b]++;
		c->unknown_entries[b] += leaf->count;
	}
	if (c->age)
		sfx_heat_age(t->index, leaf->blkno);
}

/*
 * A parent does not tell which leaves are cut, and heat tells it only of leaves that are read.  The
 * metapage tells how many: of the others those that have the most entries are taken to be cut.
 */
static void
tell_kinds(Census *c, uint64 cut)
{
	double		ratio;

	c->x->as_cut = UNKNOWN_CUT;
	for (int b = BUCKETS - 1; b >= 0; b--)
		if (c->unknown[b] > 0)
			count_kind(c, c->leaves[true] + (c->unknown[b] + 1) / 2 <= cut, 0, c->unknown[b],
					   c->unknown_entries[b]);
	/* few whole ones are cut ones that are nearly empty */
	if (c->leaves[true] == 0 || c->leaves[false] <= c->leaves[true] / 8)
		return;
	ratio = c->entries[false] / c->leaves[false] / (c->entries[true] / c->leaves[true]);
	if (ratio < MOST_AS_CUT)
		c->x->as_cut = Max(ratio, 0.05);
}

typedef struct Look
{
	Relation	index;
	bool		age;
	SfxBudgetIndex *x;
} Look;

/* For sfx_attempt. */
static void
look(void *arg)
{
	Look	   *l = arg;
	SfxKeyDesc *kd = palloc(sizeof(SfxKeyDesc));
	const SfxOrder *order = sfx_order_open(l->index, kd, true);
	Census	   *c = palloc0(sizeof(Census));
	double		limit = sfx_limit_in_pages(l->index);
	SfxMeta		meta;

	sfx_meta_read(l->index, &meta);
	l->x->pages = sfx_limit_pages(l->index, order, &meta);
	l->x->most = limit > 0 ? sfx_limit_most_whole(limit) : l->x->pages * 1e6;
	c->x = l->x;
	c->age = l->age;
	if (sfx_leaves_wanted(l->index, order) == SFX_LEAVES_BOUND)
	{
		(void) sfx_tree_children(SfxTreeOf(l->index, order, &meta, SfxMetaMain(&meta)->id), 1,
								 count_leaf, c);
		tell_kinds(c, SfxMetaMain(&meta)->cut);
		l->x->fixed = false;	/* at last: an error leaves it alone */
	}
	sfx_order_end(order);
}

void
sfx_budget_look(Relation index, bool age, SfxBudgetIndex *x)
{
	Look		l = {index, age, x};
	ErrorData  *edata;

	x->index = RelationGetRelid(index);
	x->fixed = true;
	x->pages = RelationGetNumberOfBlocks(index);
	if (!index->rd_index->indisready)
		return;
	if ((edata = sfx_attempt(look, &l)) == NULL)
		return;
	if (ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION)
		ReThrowError(edata);
	FreeErrorData(edata);
}

/* ---- shares ---- */

/* Pages that an index keeps, and gets, by whole keys. */
typedef struct Grant
{
	double		kept;
	double		more;
} Grant;

/* Doublings by which a cut leaf is hotter than the whole ones that it becomes. */
static int
hotter(const SfxBudgetIndex *x)
{
	return (int) (log2(1 / x->as_cut) + 0.5);
}

/* Pages that leaves in that place of the queue keep by being whole, or get by becoming whole. */
static double
to_keep(const SfxBudgetIndex *x, int key)
{
	int			heat = key > 1 ? key - DOUBLINGS : 0;

	return key == 1 || heat > 0 ? x->whole[heat] * (1 - x->as_cut) : 0;
}

static double
to_get(const SfxBudgetIndex *x, int key)
{
	int			heat = key + hotter(x);

	return heat <= SFX_HEAT_MAX ? x->cut[heat] * (1 / x->as_cut - 1) : 0;
}

static double
take(double *room, double pages)
{
	double		taken = Min(pages, *room);

	*room -= taken;
	return taken;
}

/*
 * Grant pages to the queue as long as there is room.  Returns the first place of which something
 * was denied; 0: nothing was.
 */
static int
serve_queue(const SfxBudgetIndex *x, int n, double room, Grant *g)
{
	int			denied = 0;

	for (int key = KEYS - 1; key > 0; key--)
	{
		for (int i = 0; i < n; i++)
			if (!x[i].fixed)
				g[i].kept += take(&room, to_keep(&x[i], key));
		for (int i = 0; i < n; i++)
			if (!x[i].fixed)
				g[i].more += take(&room, Min(to_get(&x[i], key),
											 Max(x[i].most - x[i].pages - g[i].more, 0)));
		if (room <= 0 && denied == 0)
			denied = key;
	}
	return denied;
}

static double
whole_pages(const SfxBudgetIndex *x)
{
	double		n = 0;

	for (int key = 1; key < KEYS; key++)
		n += to_keep(x, key);
	return n;
}

/*
 * The limit of an index that is to lose or get pages; false if these are too few.  cold: leaves up
 * to this heat may be cut.
 */
static bool
set_share(SfxBudgetIndex *x, double change, int denied, int cold)
{
	if (fabs(change) < Max(WORTH * x->pages, 2))
		return false;
	x->share.limit = sfx_limit_to(x->pages, x->pages + change);
	x->share.cold = cold;
	x->share.hot = Max(denied + hotter(x), 1);
	x->share.growth = 1 / x->as_cut;
	return true;
}

/*
 * Decide which indexes lose or get what.  free: room that there is already.  over: the budget is
 * exceeded, so hot leaves among cold ones are cut, too, if need be; they become whole one by one.
 */
static bool
set_shares(SfxBudgetPass *pass, const Grant *g, int denied, double free, double more, bool over,
		   bool cuts)
{
	int			cold = over ? SFX_HEAT_MAX : Max(denied - DOUBLINGS, 0);
	bool		any = false;

	for (int i = 0; i < pass->n; i++)
	{
		SfxBudgetIndex *x = &pass->x[i];

		if (x->fixed)
			continue;
		if ((over || cuts) && set_share(x, g[i].kept - whole_pages(x), denied, cold))
			any = true;
		else if (free > 0 && g[i].more > 0)
			any |= set_share(x, g[i].more * Min(free / more, 1), denied, cold);
	}
	return any;
}

/*
 * Where little is read, an interval is too short to tell hot leaves from cold ones: if each pass
 * halved the visits, they would be forgotten before.  So the next pass halves them only if the
 * average visit goes to a leaf that has had VISITS of them.
 */
static void
decide_aging(const SfxBudgetPass *pass)
{
	double		visits = 0;
	double		squares = 0;

	for (int i = 0; i < pass->n; i++)
		for (int heat = 1; heat <= SFX_HEAT_MAX; heat++)
		{
			double		n = (double) pass->x[i].whole[heat] + pass->x[i].cut[heat];
			double		each = (1 << (pass->age ? heat - 1 : heat)) - 1;

			visits += n * each;
			squares += n * each * each;
		}
	sfx_database_set(SFX_COUNT_AGES, visits > 0 && squares >= VISITS * visits);
}

bool
sfx_budget_share_out(SfxBudgetPass *pass)
{
	double		budget = sfx_guc_size_budget * (1024.0 / BLCKSZ);
	Grant	   *g = palloc0(sizeof(Grant) * Max(pass->n, 1));
	double		least = 0;		/* pages if all leaves were cut */
	double		more = 0;
	double		free;
	int			denied;
	bool		any;

	decide_aging(pass);
	pass->total = 0;
	for (int i = 0; i < pass->n; i++)
	{
		const SfxBudgetIndex *x = &pass->x[i];

		pass->total += x->pages;
		least += x->pages - (x->fixed ? 0 : whole_pages(x));
	}
	denied = serve_queue(pass->x, pass->n, Max(AIM * budget - least, 0), g);
	for (int i = 0; i < pass->n; i++)
		more += g[i].more;
	free = pass->some_locked ? 0 : Max(AIM * budget - pass->total, 0);
	any = set_shares(pass, g, denied, free, more, pass->total > CUT_ABOVE * budget,
					 !pass->some_locked && more > free + WORTH * budget);
	pfree(g);
	return any;
}

/* ---- saying so ---- */

void
sfx_budget_tell(double total)
{
	double		kb = total * (BLCKSZ / 1024);
	bool		told = sfx_database_get(SFX_COUNT_TOLD) != 0;

	if (told && kb <= CUT_ABOVE * sfx_guc_size_budget)
		sfx_database_set(SFX_COUNT_TOLD, 0);
	if (told || kb <= sfx_guc_size_budget)
		return;
	sfx_database_set(SFX_COUNT_TOLD, 1);
	ereport(WARNING,
			(errmsg("surfidx indexes of this database take %.0f kB "
					"of a surfidx.size_budget of %d kB", kb, sfx_guc_size_budget),
			 errdetail("No leaves are left whose keys could be cut."),
			 errhint("Raise surfidx.size_budget, or ask surfidx_budget() "
					 "what it does not bound.")));
}
