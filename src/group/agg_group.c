/*-------------------------------------------------------------------------
 * agg_group.c - grouping the entries of an index scan by equal leading columns
 *
 * Entries come in index order, a stretch of a decoded block at a time, so groups follow one
 * another, and a stretch is cut where a group ends.  Entries whose rows the visibility map vouches
 * for are added to the group's aggregates at once, many in one call.  The others are put off with
 * their keys, since the values are those of the entries, whatever stands at their TIDs later (Y9).
 * A group is given out when none of its rows is put off (Y9).  So there is a queue of groups: the
 * first are ready, the last is open, those between wait for rows that are put off.  When there are
 * enough rows or groups, all rows put off are looked at, page by page.
 *
 * Where rows are grouped by all columns of the keys, entries with different keys are groups of one
 * entry.  Such a stretch, if the map vouches for all of it, bypasses the queue, except for its
 * first and last entries, whose groups may have more entries before or after it.
 *
 * Without grouping columns there is one group, whose entries may come in any order (R9), and blocks
 * as they are coded where the map vouches for all of their rows (Y1).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_group_impl.h"
#include "payload.h"
#include "scan.h"

#include "miscadmin.h"
#include "optimizer/clauses.h"
#include "utils/memutils.h"

/* entries; a shorter stretch does not pay */
#define ONES_LEAST		4
/* distance between two outputs' values: not a multiple of what a set of the cache holds */
#define ONES_STRIDE		(SFX_BLOCK_ENTRIES + 8)
/*
 * After several coded blocks with hidden rows so many are not tried, as they likely have some, too.
 */
#define BLOCKS_HIDDEN	8
/* Rows of a block, at most, that are looked at one by one rather than put off. */
#define HIDDEN_FEW		16

StaticAssertDecl(SFX_BLOCK_ENTRIES <= SFX_VISIBILITY_ENTRIES, "a stretch is tested at once");

/* ---- set-up ---- */

/* Prepare to make buckets. */
static SfxBucketer *
create_bucketer(const SfxGroups *g)
{
	SfxExpr    *once = NULL;

	for (int i = 0; i < g->noutputs && !g->by.again; i++)
		if (g->outputs[i].kind == SFX_AGG_FUNCTION)
			once = g->outputs[i].prepared;
	return sfx_bucketer_create(&g->kd.col[g->columns - 1], g->index, g->by.steps, g->exprs, once);
}

/*
 * May what is computed of an entry raise an error?  Comparisons and the like, which are leakproof,
 * do not.
 */
static bool
may_fail(const SfxGroups *g)
{
	for (int i = 0; i < g->noutputs; i++)
	{
		const SfxAggOutput *out = &g->outputs[i];

		if (out->kind == SFX_AGG_FED ||
			(out->aggref && (contain_leaked_vars((Node *) out->aggref->aggfilter) ||
							 (sfx_agg_is_computed(out) &&
							  contain_leaked_vars((Node *) out->aggref->args)))))
			return true;
	}
	return g->condition && sfx_condition_may_fail(g->condition);
}

SfxGroups *
sfx_groups_begin(IndexScanDesc scan, SfxExprs *exprs, SfxCondition *condition,
				 const SfxGrouping *grouping, const SfxAggOutput *outputs, int n)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx groups",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	SfxGroups  *g = palloc(sizeof(SfxGroups));

	Assert(scan->xs_want_itup);
	/* the buffers at its end are not cleared */
	memset(g, 0, offsetof(SfxGroups, outer_key));
	g->scan = scan;
	g->index = scan->indexRelation;
	g->cxt = cxt;
	g->by = *grouping;
	g->columns = grouping->columns + grouping->distinct;
	g->outputs = outputs;
	g->noutputs = n;
	g->exprs = exprs;
	sfx_exprs_begin(exprs);
	g->condition = condition;
	g->order = sfx_order_open(g->index, &g->kd, false);
	if (grouping->steps != NIL)
		g->bucketer = create_bucketer(g);
	g->visibility = sfx_visibility_begin(scan);
	g->careful = g->columns > 0 && may_fail(g);
	g->in_order = g->feed_tried = sfx_aggregates_need_order(outputs, n) && !SFX_MUTANT("rows come late");
	g->aggregates = sfx_aggregates_create(g->index, &g->kd, g->order, exprs, outputs, n);
	g->most_rows = g->columns == 0 ? SFX_ROWS_FIRST_OF_ALL : SFX_ROWS_FIRST;
	g->portion = g->columns == 0 ? SFX_BLOCK_ENTRIES : SFX_ROWS_FIRST;
	g->outer_states = palloc0(n * sizeof(SfxAggState));
	sfx_groups_plan_leaps(g);
	g->single = palloc(sizeof(SfxBlock));
	g->given_cxt = AllocSetContextCreate(cxt, "surfidx group", ALLOCSET_DEFAULT_SIZES);
	g->ones_cxt = AllocSetContextCreate(cxt, "surfidx groups of one", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(old);
	return g;
}

void
sfx_groups_end(SfxGroups *g)
{
	/* what functions have registered for the end of their groups */
	for (int i = 0; g->in_order && i < g->ngroups; i++)
		sfx_aggregates_clear(g->aggregates, sfx_queue_states(g, i));
	sfx_visibility_end(g->visibility);
	sfx_order_end(g->order);
	MemoryContextDelete(g->cxt);
}

void
sfx_groups_rows(SfxGroups *g, uint64 *visible, uint64 *refused, uint64 *fetched)
{
	(void) sfx_visibility_count(g->visibility, fetched);
	*visible = g->visible;
	*refused = g->refused;
	g->visible = g->refused = 0;
}

/* ---- reading ---- */

/*
 * Add entries [from, to) to the open group; those at hidden, counted from base, are put off.  (In
 * order: they are of dead rows.)
 */
static const uint16 *
add_to_group(SfxGroups *g, const SfxBlock *block, int from, int to, int base,
			 const uint16 *hidden, const uint16 *hidden_end)
{
	int			open = g->ngroups - 1;

	while (from < to)
	{
		int			stop = hidden < hidden_end ? Min(base + *hidden, to) : to;

		if (stop > from)
			sfx_queue_add(g, open, block, from, stop);
		if (stop < to)
		{
			if (!g->in_order)
				sfx_queue_put_off(g, block, stop);
			hidden++;
			stop++;
		}
		from = stop;
	}
	return hidden;
}

/*
 * Add n entries of a decoded block to their groups, from entry first on; those at hidden, counted
 * from there, are put off.
 */
static void
add_entries(SfxGroups *g, const SfxBlock *block, int first, int n, const uint16 *hidden,
			int nhidden)
{
	const uint16 *next = hidden;
	const uint16 *hidden_end = hidden + nhidden;
	int			to = first + n;

	for (int at = first; at < to;)
	{
		int			end = to;

		if (g->columns > 0)
		{
			int			k = sfx_block_keyno(block, at);

			if (g->ngroups == 0 || !sfx_queue_belongs(g, block, at))
				sfx_queue_open(g, block->keys + block->keyoff[k],
							   block->keyoff[k + 1] - block->keyoff[k]);
			end = sfx_queue_end_of_group(g, block, at, to);
		}
		next = add_to_group(g, block, at, end, first, next, hidden_end);
		g->gathered += end - at;
		at = end;
	}
}

/* Are these entries, all visible, groups of their own, except for the first and the last? */
static bool
are_ones(SfxGroups *g, const SfxBlock *block, int first, int n)
{
	return n >= ONES_LEAST && g->condition == NULL && g->columns == g->kd.nkeys && !g->by.distinct && !g->bucketer &&
		!g->kd.comparator &&
		g->nrows == 0 && sfx_aggregates_have_ones(g->aggregates, block, first, first + n);
}

/* Make the values of the groups of one entry. */
static void
make_ones(SfxGroups *g)
{
	MemoryContext old;

	if (g->ones_values == NULL)
		g->ones_values = palloc(g->noutputs * ONES_STRIDE * sizeof(Datum));
	MemoryContextReset(g->ones_cxt);
	old = MemoryContextSwitchTo(g->ones_cxt);
	for (int k = 0; k < g->noutputs && g->one < g->ones_end; k++)
		sfx_aggregates_ones(g->aggregates, k, g->ones, g->one, g->ones_end,
							g->ones_values + k * ONES_STRIDE + g->one);
	MemoryContextSwitchTo(old);
}

/* Begin groups of one entry.  The open group ends with the first of these entries, or before it. */
static void
begin_ones(SfxGroups *g, const SfxBlock *block, int first, int n)
{
	g->ones = block;
	g->one = first;
	g->ones_end = first + n - 1;
	if (g->ngroups > 0 && sfx_queue_belongs(g, block, first))
		(void) add_to_group(g, block, first, ++g->one, first, NULL, NULL);
	g->visible += g->ones_end - g->one;
	g->ready = g->ngroups;
	make_ones(g);
}

/* The groups of one entry were given out: the last entry opens a group. */
static void
end_ones(SfxGroups *g)
{
	const SfxBlock *block = g->ones;
	int			last = g->ones_end;

	g->ones = NULL;
	sfx_queue_open(g, block->keys + block->keyoff[last],
				   block->keyoff[last + 1] - block->keyoff[last]);
	(void) add_to_group(g, block, last, last + 1, last, NULL, NULL);
}

/*
 * Distinct, one group around all: entries whose groups are whole, since they lie between the first
 * key of these entries and the last one, and can be added to its aggregates at once.  True: [*from,
 * *to).
 */
static bool
are_whole(SfxGroups *g, const SfxBlock *block, int first, int n, int *from, int *to)
{
	if (!g->by.distinct || g->condition || g->by.columns > 0 || g->kd.nkeys > 1 || g->kd.comparator)
		return false;
	*from = first + 1;
	*to = first + n - 1;
	if (block->dups)
	{
		while (*from < *to && block->keyno[*from] == block->keyno[first])
			(*from)++;
		while (*from < *to && block->keyno[*to - 1] == block->keyno[first + n - 1])
			(*to)--;
	}
	return *to - *from >= ONES_LEAST;
}

static void
add_whole(SfxGroups *g, const SfxBlock *block, int from, int to)
{
	int			key = sfx_block_keyno(block, from);
	int			n = sfx_block_keyno(block, to - 1) - key + 1;

	/* a NULL comes first or last */
	if (block->keys[block->keyoff[key]] != SFX_MARK_VALUE ||
		block->keys[block->keyoff[key + n - 1]] != SFX_MARK_VALUE)
		sfx_groups_misled(g);
	sfx_exprs_forget(g->exprs);
	sfx_aggregates_add(g->aggregates, g->outer_states, block, from, to);
	g->visible += to - from;
	for (int i = 0; i < g->noutputs; i++)
		if (g->outputs[i].kind == SFX_AGG_COUNT_DISTINCT)
			g->outer_states[i].n += n;
}

/* Remove from hidden the entries whose rows are known to be visible; returns how many are left. */
static int
leave_out_known(uint16 *hidden, int n, const bool *known)
{
	int			left = 0;

	for (int h = 0; h < n; h++)
		if (!known[hidden[h]])
			hidden[left++] = hidden[h];
	return left;
}

/*
 * Look at hidden rows of a block.  Those that are not visible remain in hidden.
 */
static int
look_at_hidden(SfxGroups *g, const SfxBlock *block, int first, uint16 *hidden, int n)
{
	uint64		tid[SFX_VISIBILITY_ENTRIES];
	bool		seen[SFX_VISIBILITY_ENTRIES];
	int			left = 0;

	for (int h = 0; h < n; h++)
		tid[h] = block->tid[first + hidden[h]];
	sfx_visibility_look(g->visibility, tid, n, seen);
	for (int h = 0; h < n; h++)
		if (!seen[h])
			hidden[left++] = hidden[h];
	return left;
}

/*
 * Take n entries of a decoded block, in order.  visible: the rows of all are; known: for which it
 * is known, or NULL.
 */
static void
take_entries(SfxGroups *g, const SfxBlock *block, int first, int n, bool visible,
			 const bool *known)
{
	uint16		hidden[SFX_VISIBILITY_ENTRIES];
	int			nhidden = 0;
	int			from;
	int			to;
	bool		ones;

	if (!visible)
		nhidden = sfx_visibility_hidden(g->visibility, block->tid + first, n, hidden);
	if (nhidden > 0 && known)
		nhidden = leave_out_known(hidden, nhidden, known + first);
	ones = nhidden <= HIDDEN_FEW && are_ones(g, block, first, n);

	/*
	 * To put off few rows of groups of one entry would bring all groups after them into the queue:
	 * only those that are not visible are put off, and looked at again.
	 */
	if (nhidden > 0 && (ones || g->in_order))
		nhidden = look_at_hidden(g, block, first, hidden, nhidden);
	if (nhidden == 0 && ones)
		begin_ones(g, block, first, n);
	else if (nhidden == 0 && are_whole(g, block, first, n, &from, &to))
	{
		add_entries(g, block, first, from - first, NULL, 0);
		add_whole(g, block, from, to);
		add_entries(g, block, to, first + n - to, NULL, 0);
	}
	else
		add_entries(g, block, first, n, hidden, nhidden);
}

/*
 * Reduce *n to the entries of the open group.  False: there is none, so that group is to be given
 * out, and the next one is open.
 */
static bool
end_with_group(SfxGroups *g, const SfxBlock *block, int first, int *n)
{
	int			k = sfx_block_keyno(block, first);
	bool		opens = g->ngroups > 0 && !sfx_queue_belongs(g, block, first);

	if (opens || g->ngroups == 0)
		sfx_queue_open(g, block->keys + block->keyoff[k],
					   block->keyoff[k + 1] - block->keyoff[k]);
	*n = sfx_queue_end_of_group(g, block, first, first + *n) - first;
	return !opens;
}

/*
 * Take the next entries of the scan, few at first: a query that wants few groups should not wait
 * for the rows of a whole block.  False: there are none.
 */
static bool
read_entries(SfxGroups *g)
{
	const SfxBlock *block;
	int			first;
	int			n;

	if (g->left == 0)
		g->left = sfx_scan_entries(g->scan, g->visibility, &g->block, &g->left_from, &g->known);
	if (g->left == 0)
		return false;
	SFX_STOP("groups have entries");
	block = g->block;
	first = g->left_from;
	n = block->tidless ? g->left : Min(g->left, g->portion);
	if (g->careful && !end_with_group(g, block, first, &n))
		return true;
	g->portion = Min(2 * g->portion, SFX_BLOCK_ENTRIES);
	g->left_from += n;
	g->left -= n;
	take_entries(g, block, first, n, block->tidless, g->known);
	if (g->left == 0 && (g->leaps ? g->gathered >= g->patience :
						 g->counts && block->tidless && g->gathered >= g->block_patience))
	{
		int			k = sfx_block_keyno(block, first + n - 1);

		(g->leaps ? sfx_groups_leap : sfx_groups_count_on)
			(g, block->keys + block->keyoff[k], block->keyoff[k + 1] - block->keyoff[k]);
	}
	return true;
}

/* ---- in any order ---- */

/* SfxTaker: sum up a coded block, if all its rows are visible. */
static int
take_coded(void *arg, const SfxLeaf *leaf, int b, const SfxPos *lo, const SfxPos *hi, bool visible)
{
	SfxGroups  *g = arg;
	int			n;
	int			vouched = 1;

	if (g->condition)
		return SFX_NOT_CODED;
	if (g->untried > 0)
	{
		g->untried--;
		return SFX_NOT_CODED;
	}
	n = sfx_aggregates_sum_coded(g->aggregates, leaf, b, lo, hi);
	if (n <= 0)
		return n;
	SFX_STOP("groups have entries");
	if (!visible)
		vouched = sfx_visibility_of_block(g->visibility, leaf, b, lo, hi);
	if (vouched < 0)
		return SFX_CORRUPT;
	if (!vouched)
	{
		g->untried = g->next_untried;
		g->next_untried = Min(2 * g->next_untried + 1, BLOCKS_HIDDEN);
		return SFX_NOT_CODED;
	}
	g->next_untried = 0;
	sfx_aggregates_add_coded(g->aggregates, sfx_queue_states(g, 0));
	g->group[0].visible += n;
	g->visible += n;
	return n;
}

/* SfxTaker: take a decoded block. */
static void
take_decoded(void *arg, const SfxBlock *block, bool visible)
{
	SfxGroups  *g = arg;

	SFX_STOP("groups have entries");
	take_entries(g, block, 0, block->nent, visible, NULL);
	if (g->nrows > 0 && sfx_queue_is_full(g))
		sfx_queue_settle(g);
}

/* Take all entries, in any order, for the only group.  False: they have to come in order. */
static bool
feed(SfxGroups *g)
{
	SfxTaker	taker = {take_coded, take_decoded, g};

	g->feed_tried = true;
	if (sfx_scan_feed(g->scan, g->visibility, &taker))
		return true;
	sfx_aggregates_clear(g->aggregates, sfx_queue_states(g, 0));
	g->group[0].visible = 0;
	g->visible = g->refused = 0;
	g->nrows = 0;
	g->row_bytes.used = 0;
	return false;
}

/*
 * The next group of the queue with visible rows; valid until the next call.  NULL: there is none,
 * or groups of one entry come first.
 */
static const Gathered *
next_in_queue(SfxGroups *g)
{
	Assert(CurrentMemoryContext == g->cxt);
	if (g->columns == 0 && g->ngroups == 0 && !g->ended)
		sfx_queue_open(g, (const uint8 *) "", 0);
	for (;;)
	{
		while (g->given < g->ready)
		{
			const Gathered *group = &g->group[g->given++];

			if (group->visible > 0 || g->columns == 0 || SFX_MUTANT("dead rows throw"))
				return group;
		}
		CHECK_FOR_INTERRUPTS();
		if (g->ready > 0)
			sfx_queue_drop_given(g);
		if (g->ones)
		{
			if (g->one < g->ones_end)
				return NULL;
			end_ones(g);
		}
		if (g->ended)
			return NULL;
		if (g->columns == 0 && !g->feed_tried)
			g->ended = feed(g);
		else
			g->ended = !read_entries(g);
		if (g->nrows > 0 &&
			(g->ended || sfx_queue_is_full(g) || (g->careful && g->ngroups > 1)) &&
			!SFX_MUTANT("groups before their rows"))
			sfx_queue_settle(g);
		if (g->ended)
			g->ready = g->ngroups;
		else if (g->ones)
			Assert(g->nrows == 0 && g->ready == g->ngroups);
		else if (g->nrows == 0 || SFX_MUTANT("groups before their rows"))
			g->ready = Max(g->ngroups - 1, 0);
	}
}

/* ---- what is given out ---- */

static void
put_values(SfxGroups *g, const Gathered *group, const uint8 *key, const SfxAggState *states,
		   Datum *values, bool *isnull)
{
	SfxEntry	e = {key, group->keylen, 0, NULL, 0};
	bool		row = sfx_aggregates_row(g->aggregates, states, &e);
	bool		there = !row &&
	sfx_aggregates_group(g->aggregates, key, group->keylen, values, isnull);

	if (g->by.columns > 0 && !there)
		sfx_key_decode(&g->kd, g->index, e.key, e.keylen, row ? g->kd.nkeys : g->by.columns,
					   g->values, g->isnull, g->arena->data);
	if (row && e.payload)
		sfx_payload_decode(&g->kd, g->index, e.payload, e.paylen, g->values, g->isnull,
						   g->payload_arena->data);
	for (int c = 0; c < g->by.columns && g->exprs; c++)
		sfx_exprs_set(g->exprs, c, g->values[c], g->isnull[c]);
	for (int i = 0; i < g->noutputs; i++)
	{
		const SfxAggOutput *out = &g->outputs[i];

		if (out->kind == SFX_AGG_FUNCTION)
			values[i] = sfx_expr_value(g->exprs, out->prepared, &isnull[i]);
		else if (out->kind != SFX_AGG_GROUP && out->kind != SFX_AGG_ROW)
			values[i] = sfx_aggregates_value(g->aggregates, i, states, &isnull[i]);
		else if (!there)
		{
			values[i] = g->values[out->column];
			isnull[i] = g->isnull[out->column];
		}
	}
}

/* Add a group of the queue to the group around it. */
static void
add_around(SfxGroups *g, const Gathered *group)
{
	const uint8 *key = g->keys.data + group->key;
	bool		counts = group->outer < group->keylen && key[group->outer] == SFX_MARK_VALUE;
	Size		first = (Size) (group - g->group);

	if (!g->around)
	{
		/* not if the group is all rows: add_whole may have added to it already */
		if (g->by.columns > 0)
			sfx_aggregates_clear(g->aggregates, g->outer_states);
		g->outer = *group;
		memcpy(g->outer_key, key, group->keylen);
		g->around = true;
	}
	sfx_aggregates_merge(g->aggregates, g->outer_states, sfx_queue_states(g, (int) first));
	for (int i = 0; i < g->noutputs; i++)
		if (g->outputs[i].kind == SFX_AGG_COUNT_DISTINCT && counts)
			g->outer_states[i].n++;
}

/* The next group of groups. */
static bool
next_around(SfxGroups *g, Datum *values, bool *isnull)
{
	const Gathered *group = g->held;
	bool		empty = g->by.columns == 0 && !g->ended;

	g->held = NULL;
	g->around = false;
	for (;; group = NULL)
	{
		if (group == NULL)
			group = next_in_queue(g);
		if (group == NULL)
			break;
		if (g->around && !sfx_queue_same(g, g->outer_key, g->outer.outer, g->outer.squeezed,
										 g->by.columns, g->keys.data + group->key, group->keylen))
		{
			g->held = group;
			break;
		}
		add_around(g, group);
	}
	if (!g->around && !empty)
		return false;
	MemoryContextSwitchTo(g->given_cxt);
	put_values(g, &g->outer, g->outer_key, g->outer_states, values, isnull);
	return true;
}

/* The next group that is not part of another one. */
static bool
next_group(SfxGroups *g, Datum *values, bool *isnull)
{
	const Gathered *group = next_in_queue(g);

	if (group == NULL)
		return sfx_groups_next_of_one(g, values, isnull);
	MemoryContextSwitchTo(g->given_cxt);
	put_values(g, group, g->keys.data + group->key,
			   sfx_queue_states(g, (int) (group - g->group)), values, isnull);
	return true;
}

bool
sfx_groups_next_of_one(SfxGroups *g, Datum *values, bool *isnull)
{
	const Datum *value;

	if (g->ones == NULL || g->given < g->ready || g->one == g->ones_end)
		return false;
	value = g->ones_values + g->one++;
	for (int k = 0; k < g->noutputs; k++, value += ONES_STRIDE)
	{
		values[k] = *value;
		isnull[k] = false;
	}
	return true;
}

bool
sfx_groups_next(SfxGroups *g, Datum *values, bool *isnull)
{
	MemoryContext old;
	bool		found;

	if (sfx_groups_next_of_one(g, values, isnull))
		return true;
	old = MemoryContextSwitchTo(g->cxt);
	MemoryContextReset(g->given_cxt);
	found = g->by.distinct ? next_around(g, values, isnull) : next_group(g, values, isnull);
	MemoryContextSwitchTo(old);
	return found;
}
