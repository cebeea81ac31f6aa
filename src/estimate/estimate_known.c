/*-------------------------------------------------------------------------
 * estimate_known.c - what a backend keeps of an index from one plan to the next
 *
 * A statement that is planned each time asks the same index for another constant each time.  A
 * descent for that costs as much as running the statement.  So a backend that does so again and
 * again notes
 *
 * positions: some thousand low fences of leaves, with the number of entries before each.  If a
 * constant falls between two of them, its rank is known except for the entries in between.  They
 * are good as long as the trees stand still (T6).  Dead entries that VACUUM removes are counted
 * until it reports the index's new figures; those that readers have removed (X3) are, too.
 *
 * values: the lowest and the highest one seen in the first column.  Any value between two constants
 * stands for all, and whether an entry still has it does not matter.  They are good until the
 * relation is invalidated.
 *
 * Both concern the first column only.  Only sfx_known_learn and sfx_known_ranks_by_leaves read
 * pages.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "encode.h"
#include "estimate.h"
#include "find.h"
#include "inner.h"
#include "leaf.h"
#include "memo.h"
#include "meta.h"
#include "pos.h"
#include "range.h"
#include "rank.h"
#include "state.h"
#include "upper.h"

#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#define INDEXES			8		/* remembered */
#define POSITIONS		2048	/* positions kept of an index, about */
#define MAX_LEAVES		262144	/* leaves of an index whose positions are noted: some 20 ms */
#define LEAVES_A_PLAN	64		/* leaves that are worth noting for each plan made without
								 * positions */
#define MAX_COPY		(1024 * 1024)	/* bytes of positions, of an index */
#define MAX_KEY			64
#define MAX_VALUE		64

/* The positions of a run. */
typedef struct Part
{
	int			n;
	SfxUpper   *upper;			/* leads to the number of the position at or below; NULL: one leaf,
								 * n is 1 */
	double	   *below;			/* [n + 1]: entries before each, and all */
} Part;

/* A value that was seen. */
typedef struct Seen
{
	SfxPos		pos;			/* its entry; key NULL: none was seen */
	Datum		value;
	uint8		key[MAX_KEY];
	char		bytes[MAX_VALUE];
} Seen;

struct SfxKnown
{
	SfxMemo		memo;
	SfxState	state;			/* that what follows is of */
	uint64		plans;			/* made without positions in that state */
	bool		learned;
	bool		given_up;		/* not worth it, or impossible, in that state */
	MemoryContext cxt;			/* of the members below */
	int			nparts;
	Part		part[SFX_MAX_RUNS];
	int			step;			/* leaves for each position */
	double		total;
	double		nulls;
	Seen		low;
	Seen		high;
};

static SfxKnown known[INDEXES];
static SfxMemoTable table = SFX_MEMO_TABLE(known);

SfxKnown *
sfx_known_index(Relation index, const SfxMeta *meta)
{
	bool		fresh;
	SfxKnown   *k = sfx_memo_get(&table, index, meta->build_id, 0, &fresh);

	if (fresh)
		k->low.pos.key = k->high.pos.key = NULL;
	if (fresh || !sfx_state_still_holds(&k->state, meta, SFX_TREES_STAND_STILL))
	{
		k->state = sfx_state_take(meta);
		if (SFX_MUTANT("positions outlive groups"))
			return k;
		k->learned = k->given_up = false;
		k->plans = 0;
	}
	return k;
}

/* ---- positions ---- */

bool
sfx_known_worth_learning(SfxKnown *k, const SfxMeta *meta)
{
	uint64		leaves = sfx_meta_leaves(meta);

	return !k->learned && !k->given_up && leaves <= MAX_LEAVES && ++k->plans * LEAVES_A_PLAN > leaves + POSITIONS;
}

/* The positions of a run while they are collected. */
typedef struct Gathered
{
	SfxChild   *pos;			/* blkno: the position's number */
	double	   *below;
	int			n;
	int			room;
	uint64		leaves;			/* leaves passed */
	double		entries;		/* entries in these */
	int			step;			/* leaves to a position */
	MemoryContext cxt;			/* of the above */
} Gathered;

/* An SfxChildVisit. */
static void
gather_leaf(const SfxTree *t, const SfxChild *leaf, void *arg)
{
	Gathered   *g = arg;

	if (g->leaves++ % g->step == 0)
	{
		MemoryContext old = MemoryContextSwitchTo(g->cxt);

		if (g->n + 1 >= g->room)
		{
			g->room *= 2;
			g->pos = repalloc(g->pos, g->room * sizeof(SfxChild));
			g->below = repalloc(g->below, g->room * sizeof(double));
		}
		g->pos[g->n].low = sfx_pos_copy(&leaf->low);
		g->pos[g->n].blkno = g->n;
		g->below[g->n++] = g->entries;
		MemoryContextSwitchTo(old);
	}
	g->entries += leaf->count;
}

/*
 * Learn a run's positions.  *room: bytes left for positions.  False: these are too many, or the run
 * is gone.
 */
static bool
learn_run(SfxKnown *k, const SfxOpened *o, const SfxMeta *meta, const SfxRun *run, Part *part, int64 *room)
{
	Gathered	g = {.room = 64,.step = k->step,.cxt = CurrentMemoryContext};
	int64		size;

	part->upper = NULL;
	part->n = 1;
	g.below = palloc(g.room * sizeof(double));
	g.below[0] = 0;
	g.entries = run->entries;
	if (run->level > 0)
	{
		g.pos = palloc(g.room * sizeof(SfxChild));
		g.entries = 0;
		if (!sfx_tree_children(SfxTreeOf(o->index, o->order, meta, run->id), 1, gather_leaf, &g))
			return false;
		size = sfx_upper_size_of(g.pos, g.n);
		*room -= size + g.n * sizeof(double);
		if (*room < 0)
			return false;
		part->upper = sfx_upper_build_of(MemoryContextAlloc(k->cxt, size), g.pos, g.n, o->order);
		if (part->upper == NULL)
			return false;
		part->n = g.n;
	}
	g.below[part->n] = g.entries;
	part->below = MemoryContextAlloc(k->cxt, (part->n + 1) * sizeof(double));
	memcpy(part->below, g.below, (part->n + 1) * sizeof(double));
	k->total += g.entries;
	return true;
}

void
sfx_known_learn(SfxKnown *k, const SfxOpened *o, const SfxMeta *meta)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "surfidx positions", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	static const uint8 mark[] = {SFX_MARK_VALUE, SFX_MARK_NULL_LAST};
	bool		nulls_first = o->kd.col[0].nulls_first;
	SfxPos		edge = {nulls_first ? &mark[0] : &mark[1], 1, 0};
	double		below;
	uint64		entries = sfx_meta_entries(meta);
	int64		room = MAX_COPY;
	bool		all = true;

	k->given_up = true;
	if (k->cxt == NULL)
		k->cxt = AllocSetContextCreate(TopMemoryContext, "surfidx known index", ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(k->cxt);
	k->total = k->nulls = 0;
	k->nparts = 0;
	k->step = sfx_meta_leaves(meta) / POSITIONS + 1;
	for (int r = 0; r < meta->nruns && all; r++)
		all = learn_run(k, o, meta, &meta->runs[r], &k->part[k->nparts++], &room);
	if (all && o->order == NULL)
	{
		/* in counts of the last merge, which differ a little from those of the pages */
		below = sfx_rank(o, meta, &edge);
		k->nulls = (nulls_first ? below : entries - below) * k->total / Max(entries, 1);
		if (k->nulls < 0.5)
			k->nulls = 0;
	}
	k->learned = all;
	k->given_up = !all;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}

bool
sfx_known_learned(const SfxKnown *k, double *total, double *nulls)
{
	*total = k->total;
	*nulls = k->nulls;
	return k->learned;
}

/*
 * The rank of a position of one byte, which is before all values, or after them, or after the
 * NULLs.
 */
static double
rank_of_mark(const SfxKnown *k, const SfxColumn *col, uint8 mark)
{
	if (mark < SFX_MARK_VALUE || (mark == SFX_MARK_VALUE && !col->nulls_first))
		return 0;
	if (mark == SFX_MARK_VALUE)
		return k->nulls;
	return mark == SFX_MARK_NULL_LAST && !col->nulls_first ? k->total - k->nulls : k->total;
}

static inline uint32
find_position(const Part *p, const SfxOrder *order, const SfxPos *pos)
{
	return p->upper ? sfx_upper_find(p->upper, order, pos, false, NULL) : 0;
}

void
sfx_known_rank(const SfxKnown *k, const SfxOpened *o, const SfxPos *pos, double *rank, double *off)
{
	*rank = *off = 0;
	if (pos->key == NULL)
		*rank = k->total;
	else if (pos->len == 1 && (o->order == NULL || !o->kd.col[0].nulls_first))
		*rank = rank_of_mark(k, &o->kd.col[0], pos->key[0]);
	else if (pos->len > 0)
		for (int r = 0; r < k->nparts; r++)
		{
			const Part *p = &k->part[r];
			uint32		i = find_position(p, o->order, pos);

			*rank += (p->below[i] + p->below[i + 1]) / 2;
			*off += (p->below[i + 1] - p->below[i]) / 2;
		}
}

/* The ranks of n positions in a part that has a position for each leaf. */
static void
ranks_of_part(const Part *p, const SfxOpened *o, const SfxMeta *meta, uint32 run,
			  const SfxPos *pos, int n, double *rank)
{
	int			below[SFX_MAX_EDGES + 2];
	int			entries;
	int			found;

	for (int i = 0; i < n; i += Max(found, 1))
	{
		found = sfx_ranks_in_leaf(o, meta, run, pos + i, n - i, below, &entries);
		for (int k = 0; k < found; k++)
			rank[i + k] += p->below[find_position(p, o->order, &pos[i + k])] + below[k];
	}
}

void
sfx_known_ranks_by_leaves(const SfxKnown *k, const SfxOpened *o, const SfxMeta *meta,
						  const SfxPos *pos, int n, double *rank)
{
	Assert(n <= SFX_MAX_EDGES + 2);
	memset(rank, 0, n * sizeof(double));
	for (int r = 0; r < k->nparts; r++)
	{
		if (k->step == 1)
			ranks_of_part(&k->part[r], o, meta, meta->runs[r].id, pos, n, rank);
		else
			for (int i = 0; i < n; i++)
				rank[i] += sfx_rank_in_run(o, meta, &meta->runs[r], &pos[i]);
	}
}

/* ---- values ---- */

bool
sfx_known_value(const SfxKnown *k, const SfxOrder *order, const SfxPos *lo, const SfxPos *hi, Datum *value)
{
	for (int i = 0; i < 2; i++)
	{
		const Seen *s = i == 0 ? &k->low : &k->high;

		if (s->pos.key && sfx_order_cmp_pos(order, lo, &s->pos) <= 0 &&
			(hi->key == NULL || sfx_order_cmp_pos(order, &s->pos, hi) < 0))
		{
			*value = s->value;
			return true;
		}
	}
	return false;
}

static void
note(Seen *s, const SfxColumn *col, const SfxEntry *e, Datum value, Size size)
{
	memcpy(s->key, e->key, e->keylen);
	s->pos = (SfxPos) {s->key, e->keylen, e->tid};
	s->value = value;
	if (!col->typbyval)
	{
		memcpy(s->bytes, DatumGetPointer(value), size);
		s->value = PointerGetDatum(s->bytes);
	}
}

void
sfx_known_note(SfxKnown *k, const SfxColumn *col, const SfxOrder *order, const SfxEntry *e, Datum value)
{
	SfxPos		pos = {e->key, e->keylen, e->tid};
	Size		size = col->typbyval ? 0 : datumGetSize(value, false, col->typlen);

	if (e->keylen > MAX_KEY || size > MAX_VALUE)
		return;
	if (k->low.pos.key == NULL || sfx_order_cmp_pos(order, &pos, &k->low.pos) < 0)
		note(&k->low, col, e, value, size);
	if (k->high.pos.key == NULL || sfx_order_cmp_pos(order, &pos, &k->high.pos) > 0)
		note(&k->high, col, e, value, size);
}
