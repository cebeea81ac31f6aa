/*-------------------------------------------------------------------------
 * agg_group.c - the entries of an index scan, by groups of equal leading columns
 *
 * Entries come in index order, a stretch of a decoded block at a time, so groups follow one another
 * and a stretch is cut where they end.  What the visibility map vouches for goes to its group's
 * aggregates at once, many entries in one call.  Other entries are put off, keys and all, since
 * their values are those of the entries, whatever stands at their TIDs later (Y9).  A group is
 * given out when none of its rows is put off any more (Y10).  So there is a queue of groups: the
 * first are done, the last is open, those between wait for rows that are put off.  When there are
 * enough of either, all rows put off are looked at, page by page.
 *
 * Where all columns of the keys are grouped by, entries with keys of their own are groups of their
 * own.  Such a stretch, if the map vouches for all of it, does not pass through the queue, but for
 * its ends, which may have more entries before or behind it.
 *
 * Without columns to group by there is one group, whose entries may come in any order (R9), and
 * blocks as they are coded where the map vouches for all of their rows (Y11).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_bucket.h"
#include "agg_group.h"
#include "encode.h"
#include "key.h"
#include "order.h"
#include "scan.h"
#include "visible.h"

#include "access/relscan.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Rows put off before they are looked at: first few, for who wants few groups. */
#define ROWS_FIRST		256
#define ROWS_GROWTH		4
/* Groups in the queue, a stretch's aside. */
#define GROUPS_MOST		1024
#define BYTES_FIRST		8192
/* A shorter stretch does not pay. */
#define ONES_LEAST		4
/* From one output's values to the next one's: no multiple of what a cache's set takes. */
#define ONES_STRIDE		(SFX_BLOCK_ENTRIES + 8)
/* Behind a coded block with hidden rows so many are not tried: likely they have some, too. */
#define BLOCKS_HIDDEN	8

StaticAssertDecl(SFX_BLOCK_ENTRIES <= SFX_VISIBILITY_ENTRIES, "a stretch is tested at once");

/* Bytes that grow; places in it are told by offsets. */
typedef struct Bytes
{
	uint8	   *data;
	Size		used;
	Size		size;
} Bytes;

/* Which group by a function of a column. */
typedef struct Bucket
{
	bool		null;			/* the one of NULLs */
	int			fails;			/* the one of values that the function refuses: -1 low, 1 high ones */
	Datum		value;			/* else its result; if it fails a column's value */
} Bucket;

typedef struct Gathered
{
	Size		key;			/* where the key of its first entry stands in keys */
	uint32		keylen;
	uint32		len;			/* bytes of the key that tell the group; with a bucket: before it */
	uint32		outer;			/* distinct: those that tell the group around it */
	bool		squeezed;		/* equal keys may have other bytes */
	Bucket		bucket;			/* if rows are grouped by one */
	uint64		visible;		/* rows */
} Gathered;

/* A row that is put off, beside its TID. */
typedef struct Row
{
	Size		at;				/* key, then payload, in row_bytes */
	uint16		keylen;
	uint16		paylen;
	bool		haspay;
	int			group;
} Row;

struct SfxGroups
{
	IndexScanDesc scan;
	Relation	index;
	MemoryContext cxt;
	SfxKeyDesc	kd;
	const SfxOrder *order;
	SfxGrouping by;
	int			columns;		/* of the groups in the queue */
	SfxBucket  *bucket;			/* of the last one, or NULL */
	SfxVisibility *visibility;
	SfxAggregates *aggregates;
	const SfxAggOutput *outputs;
	int			noutputs;
	uint64		visible;		/* since sfx_groups_rows */
	bool		ended;			/* the scan has no more entries */
	bool		fed;			/* entries were asked for in any order */
	int			untried;		/* coded blocks to come that are not tried */

	/* the queue: given out, ready, waiting */
	Gathered   *group;
	SfxAggState *states;		/* noutputs for each */
	int			ngroups;
	int			room;
	int			ready;			/* the first so many are ready */
	int			given;
	Bytes		keys;

	/* groups of one entry, which come behind those that are ready: [one, ones_end) of this block */
	const SfxBlock *ones;		/* NULL: none; its entry ones_end is to open a group behind them */
	int			one;
	int			ones_end;
	Datum	   *ones_values;	/* of output k's group of entry i: [k * ONES_STRIDE + i] */
	MemoryContext ones_cxt;		/* those by reference */

	/* rows put off */
	int			nrows;
	int			most_rows;		/* and no more, a stretch's aside */
	int			rows_room;
	uint64	   *tid;
	Row		   *row;
	bool	   *seen;
	Bytes		row_bytes;

	/* distinct: the group around those in the queue */
	bool		around;
	const Gathered *held;		/* of the queue, not added to it yet */
	Gathered	outer;			/* its key stands in outer_key */
	SfxAggState *outer_states;

	SfxBlock   *single;
	MemoryContext given_cxt;	/* values of the group given out, as far as they are made for it */
	uint8		outer_key[SFX_MAX_ENTRY];
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	PGAlignedBlock arena[SFX_ARENA / BLCKSZ];
};

/* ---- set-up ---- */

SfxGroups *
sfx_groups_begin(IndexScanDesc scan, const SfxGrouping *grouping, const SfxAggOutput *outputs,
				 int n)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx groups",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	SfxGroups  *g = palloc(sizeof(SfxGroups));

	Assert(scan->xs_want_itup);
	/* not the buffers behind it */
	memset(g, 0, offsetof(SfxGroups, outer_key));
	g->scan = scan;
	g->index = scan->indexRelation;
	g->cxt = cxt;
	g->by = *grouping;
	g->columns = grouping->columns + grouping->distinct;
	g->outputs = outputs;
	g->noutputs = n;
	g->bucket = grouping->bucket ? sfx_bucket_create(grouping->bucket) : NULL;
	g->order = sfx_order_open(g->index, &g->kd, false);
	g->visibility = sfx_visibility_begin(g->index, scan->heapRelation, scan->xs_snapshot);
	g->aggregates = sfx_aggregates_create(g->index, &g->kd, outputs, n);
	g->most_rows = g->columns == 0 ? SFX_VISIBILITY_ROWS - SFX_BLOCK_ENTRIES : ROWS_FIRST;
	g->outer_states = palloc0(n * sizeof(SfxAggState));
	g->single = palloc(sizeof(SfxBlock));
	g->given_cxt = AllocSetContextCreate(cxt, "surfidx group", ALLOCSET_DEFAULT_SIZES);
	g->ones_cxt = AllocSetContextCreate(cxt, "surfidx groups of one", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(old);
	return g;
}

void
sfx_groups_end(SfxGroups *g)
{
	sfx_visibility_end(g->visibility);
	sfx_order_end(g->order);
	MemoryContextDelete(g->cxt);
}

void
sfx_groups_rows(SfxGroups *g, uint64 *visible, uint64 *fetched)
{
	(void) sfx_visibility_count(g->visibility, fetched);
	*visible = g->visible;
	g->visible = 0;
}

/* Room for len bytes more; where they are to be. */
static Size
append(SfxGroups *g, Bytes *b, Size len)
{
	Size		at = b->used;

	if (at + len > b->size)
	{
		b->size = Max(Max(2 * b->size, at + len), BYTES_FIRST);
		b->data = b->data ? repalloc_huge(b->data, b->size) :
			MemoryContextAllocHuge(g->cxt, b->size);
	}
	b->used += len;
	return at;
}

static inline SfxAggState *
states_of(SfxGroups *g, int group)
{
	return g->states + (Size) group * g->noutputs;
}

/* ---- which entries are of one group ---- */

/* Bytes of a key's first columns. */
static uint32
prefix_length(SfxGroups *g, const uint8 *key, uint32 keylen, int columns)
{
	const uint8 *p = key;

	for (int c = 0; c < columns; c++)
		p += sfx_column_length(&g->kd.col[c], g->index, p, (int) (key + keylen - p));
	return (uint32) (p - key);
}

/*
 * Is the key equal to another one in its first columns, of which those are len bytes?  Equal
 * columns have equal bytes, but where long values are compressed.
 */
static inline bool
same_columns(SfxGroups *g, const uint8 *a, uint32 len, bool squeezed, int columns,
			 const uint8 *b, uint32 keylen)
{
	if (keylen >= len && memcmp(a, b, len) == 0)
		return true;
	if (likely(!g->kd.comparator))
		return false;
	if (!squeezed && !sfx_key_is_squeezed(&g->kd, g->index, b, keylen))
		return false;
	return sfx_order_cmp_columns(g->order, 0, a, len, b,
								 prefix_length(g, b, keylen, columns)) == 0;
}

/*
 * Which bucket is a key in, whose column that is behind len bytes?  The row may be dead, so nothing
 * is thrown before the bucket is given out.
 */
static Bucket
bucket_of(SfxGroups *g, const uint8 *key, uint32 keylen, uint32 len)
{
	const SfxColumn *col = &g->kd.col[g->columns - 1];
	Bucket		b = {0};
	Datum		value;
	bool		fails;

	Assert(!col->raw && col->typbyval && col->typlen == sizeof(Timestamp));
	b.null = key[len] != SFX_MARK_VALUE;
	if (b.null)
		return b;
	(void) sfx_value_length(col, g->index, key + len + 1, (int) (keylen - len) - 1);
	(void) sfx_value_decode(col, key + len + 1, col->enc->width, &value, NULL);
	b.value = sfx_bucket_try(g->bucket, value, &fails);
	if (fails)
	{
		b.fails = DatumGetTimestamp(value) < 0 ? -1 : 1;
		b.value = value;
	}
	return b;
}

static inline bool
same_bucket(const Bucket *a, const Bucket *b)
{
	return a->null == b->null && a->fails == b->fails && (a->fails != 0 || a->value == b->value);
}

static bool
in_bucket(SfxGroups *g, const Gathered *open, const uint8 *key, uint32 keylen)
{
	Bucket		bucket;

	if (keylen <= open->len || memcmp(g->keys.data + open->key, key, open->len) != 0)
		return false;
	bucket = bucket_of(g, key, keylen, open->len);
	return same_bucket(&bucket, &open->bucket);
}

/* Is entry i of the group that is open? */
static inline bool
belongs(SfxGroups *g, const Gathered *open, const SfxBlock *block, int i)
{
	int			k = sfx_block_keyno(block, i);
	const uint8 *key = block->keys + block->keyoff[k];
	uint32		keylen = block->keyoff[k + 1] - block->keyoff[k];

	if (g->bucket)
		return in_bucket(g, open, key, keylen);
	return same_columns(g, g->keys.data + open->key, open->len, open->squeezed, g->columns, key,
						keylen);
}

/* Entries [from, returned value), at most to, are of the group that is open, as from is. */
static int
end_of_group(SfxGroups *g, const SfxBlock *block, int from, int to)
{
	const Gathered *open = &g->group[g->ngroups - 1];
	int			in = from;
	int			out = to;

	if (g->bucket && belongs(g, open, block, to - 1))
		return to;
	for (int leap = 1; in + leap < to; leap *= 2)
	{
		if (!belongs(g, open, block, in + leap))
		{
			out = in + leap;
			break;
		}
		in += leap;
	}
	while (out - in > 1)
	{
		int			middle = in + (out - in) / 2;

		if (belongs(g, open, block, middle))
			in = middle;
		else
			out = middle;
	}
	return out;
}

/* ---- the queue ---- */

static void
grow_queue(SfxGroups *g)
{
	int			room = Max(2 * g->room, 16);
	Size		size = (Size) g->noutputs * sizeof(SfxAggState);

	if (g->group == NULL)
	{
		g->group = MemoryContextAlloc(g->cxt, room * sizeof(Gathered));
		g->states = MemoryContextAlloc(g->cxt, room * size);
	}
	else
	{
		g->group = repalloc(g->group, room * sizeof(Gathered));
		g->states = repalloc_huge(g->states, room * size);
	}
	memset(states_of(g, g->room), 0, (room - g->room) * size);
	g->room = room;
}

/* A group begins with this key. */
static void
open_group(SfxGroups *g, const uint8 *key, uint32 keylen)
{
	Gathered   *group;

	/* entries come in order, so no group comes twice */
	Assert(g->ngroups == 0 || g->kd.comparator ||
		   sfx_cmp_bytes(g->keys.data + g->group[g->ngroups - 1].key,
						 g->group[g->ngroups - 1].keylen, key, keylen) < 0);
	if (g->ngroups == g->room)
		grow_queue(g);
	group = &g->group[g->ngroups++];
	group->keylen = keylen;
	group->key = append(g, &g->keys, keylen);
	if (keylen > 0)
		memcpy(g->keys.data + group->key, key, keylen);
	group->len = prefix_length(g, key, keylen, g->columns - (g->bucket ? 1 : 0));
	if (g->bucket)
		group->bucket = bucket_of(g, key, keylen, group->len);
	group->outer = g->by.distinct ? prefix_length(g, key, keylen, g->by.columns) : group->len;
	group->squeezed = g->kd.comparator && sfx_key_is_squeezed(&g->kd, g->index, key, keylen);
	group->visible = 0;
}

/* The groups that were given out go; what is open comes to the queue's start. */
static void
drop_given(SfxGroups *g)
{
	int			left = g->ngroups - g->given;

	if (SFX_MUTANT("groups before their rows"))
		g->nrows = 0;
	Assert(left <= 1 && g->nrows == 0);
	for (int i = 0; i < g->given; i++)
		sfx_aggregates_clear(g->aggregates, states_of(g, i));
	if (left == 1 && g->given > 0)
	{
		Gathered   *open = &g->group[g->given];

		memcpy(states_of(g, 0), states_of(g, g->given), g->noutputs * sizeof(SfxAggState));
		memset(states_of(g, g->given), 0, g->noutputs * sizeof(SfxAggState));
		memmove(g->keys.data, g->keys.data + open->key, open->keylen);
		open->key = 0;
		g->group[0] = *open;
	}
	g->keys.used = left == 1 ? g->group[0].keylen : 0;
	g->ngroups = left;
	g->given = g->ready = 0;
}

/* ---- rows that are put off ---- */

static void
grow_rows(SfxGroups *g)
{
	int			room = Min(Max(2 * g->rows_room, ROWS_FIRST), SFX_VISIBILITY_ROWS);

	if (g->tid == NULL)
	{
		g->tid = palloc(room * sizeof(uint64));
		g->row = palloc(room * sizeof(Row));
		g->seen = palloc(room * sizeof(bool));
	}
	else
	{
		g->tid = repalloc(g->tid, room * sizeof(uint64));
		g->row = repalloc(g->row, room * sizeof(Row));
		g->seen = repalloc(g->seen, room * sizeof(bool));
	}
	g->rows_room = room;
}

static void
put_off(SfxGroups *g, const SfxBlock *block, int i)
{
	SfxEntry	e;
	Row		   *row;

	if (g->nrows == g->rows_room)
		grow_rows(g);
	Assert(g->nrows < g->rows_room);
	row = &g->row[g->nrows];
	sfx_block_entry(block, i, &e);
	row->at = append(g, &g->row_bytes, e.keylen + e.paylen);
	row->keylen = (uint16) e.keylen;
	row->paylen = (uint16) e.paylen;
	row->haspay = block->haspay;
	row->group = g->ngroups - 1;
	memcpy(g->row_bytes.data + row->at, e.key, e.keylen);
	if (SFX_MUTANT("values of the row before") && g->nrows > 0 && row[-1].keylen == e.keylen)
		memcpy(g->row_bytes.data + row->at, g->row_bytes.data + row[-1].at, e.keylen);
	if (e.paylen > 0)
		memcpy(g->row_bytes.data + row->at + e.keylen, e.payload, e.paylen);
	g->tid[g->nrows++] = e.tid;
}

/* Look at them; those that are visible go to their groups. */
static void
settle(SfxGroups *g)
{
	int			n = g->nrows;

	sfx_visibility_look(g->visibility, g->tid, n, g->seen);
	for (int i = 0; i < n; i++)
	{
		const Row  *row = &g->row[i];
		SfxEntry	e;

		if (!g->seen[i])
			continue;
		e.key = g->row_bytes.data + row->at;
		e.keylen = row->keylen;
		e.payload = row->haspay ? e.key + e.keylen : NULL;
		e.paylen = row->paylen;
		e.tid = 0;
		sfx_block_of_entry(g->single, &e);
		sfx_aggregates_add(g->aggregates, states_of(g, row->group), g->single, 0, 1);
		g->group[row->group].visible++;
		g->visible++;
	}
	g->nrows = 0;
	g->row_bytes.used = 0;
	g->most_rows = Min(ROWS_GROWTH * g->most_rows, SFX_VISIBILITY_ROWS - SFX_BLOCK_ENTRIES);
}

/* Is there so much in hand that rows have to be looked at? */
static bool
is_full(const SfxGroups *g)
{
	Size		most = (Size) work_mem * 1024 / 2;

	return g->nrows >= g->most_rows || g->ngroups >= GROUPS_MOST ||
		g->row_bytes.used + g->nrows * (sizeof(Row) + sizeof(uint64) + 1) >= most ||
		g->keys.used >= most;
}

/* ---- reading ---- */

/* Entries [from, to) are the open group's; those at hidden are to be put off. */
static const uint16 *
add_to_group(SfxGroups *g, const SfxBlock *block, int from, int to, int base,
			 const uint16 *hidden, const uint16 *hidden_end)
{
	int			open = g->ngroups - 1;

	while (from < to)
	{
		int			stop = hidden < hidden_end ? Min(base + *hidden, to) : to;

		if (stop > from)
		{
			sfx_aggregates_add(g->aggregates, states_of(g, open), block, from, stop);
			g->group[open].visible += stop - from;
			g->visible += stop - from;
		}
		if (stop < to)
		{
			put_off(g, block, stop);
			hidden++;
			stop++;
		}
		from = stop;
	}
	return hidden;
}

/* So many entries of a decoded block; those at hidden, from first on, are to be put off. */
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

			if (g->ngroups == 0 || !belongs(g, &g->group[g->ngroups - 1], block, at))
				open_group(g, block->keys + block->keyoff[k],
						   block->keyoff[k + 1] - block->keyoff[k]);
			end = end_of_group(g, block, at, to);
		}
		next = add_to_group(g, block, at, end, first, next, hidden_end);
		at = end;
	}
}

/* Are these entries, all visible, groups of their own but for the first and the last one? */
static bool
are_ones(SfxGroups *g, const SfxBlock *block, int first, int n)
{
	return n >= ONES_LEAST && g->columns == g->kd.nkeys && !g->by.distinct && !g->bucket &&
		!g->kd.comparator &&
		g->nrows == 0 && sfx_aggregates_have_ones(g->aggregates, block, first, first + n);
}

/* The values of those that come. */
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

/* They are.  The group that is open ends with the first of them, or before it. */
static void
begin_ones(SfxGroups *g, const SfxBlock *block, int first, int n)
{
	g->ones = block;
	g->one = first;
	g->ones_end = first + n - 1;
	if (g->ngroups > 0 && belongs(g, &g->group[g->ngroups - 1], block, first))
		(void) add_to_group(g, block, first, ++g->one, first, NULL, NULL);
	g->visible += g->ones_end - g->one;
	g->ready = g->ngroups;
	make_ones(g);
}

/* They have been given out: the last one's group is open. */
static void
end_ones(SfxGroups *g)
{
	const SfxBlock *block = g->ones;
	int			last = g->ones_end;

	g->ones = NULL;
	open_group(g, block->keys + block->keyoff[last], block->keyoff[last + 1] - block->keyoff[last]);
	(void) add_to_group(g, block, last, last + 1, last, NULL, NULL);
}

/*
 * Whole groups of the one group around all of them, whose aggregates can have all of their entries
 * at once: those between the first key of these entries and the last one.  [*from, *to), or false.
 */
static bool
are_whole(SfxGroups *g, const SfxBlock *block, int first, int n, int *from, int *to)
{
	if (!g->by.distinct || g->by.columns > 0 || g->kd.nkeys > 1 || g->kd.comparator)
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

	/* the NULL comes first or last */
	Assert(block->keys[block->keyoff[key]] == SFX_MARK_VALUE &&
		   block->keys[block->keyoff[key + n - 1]] == SFX_MARK_VALUE);
	sfx_aggregates_add(g->aggregates, g->outer_states, block, from, to);
	g->visible += to - from;
	for (int i = 0; i < g->noutputs; i++)
		if (g->outputs[i].kind == SFX_AGG_COUNT_DISTINCT)
			g->outer_states[i].n += n;
}

/* Entries of a decoded block, in order; visible: the rows of all of them are. */
static void
take_entries(SfxGroups *g, const SfxBlock *block, int first, int n, bool visible)
{
	uint16		hidden[SFX_VISIBILITY_ENTRIES];
	int			nhidden = 0;
	int			from;
	int			to;

	if (!visible)
		nhidden = sfx_visibility_hidden(g->visibility, block->tid + first, n, hidden);
	if (nhidden == 0 && are_ones(g, block, first, n))
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

/* The next entries of the scan.  False: there are none. */
static bool
read_entries(SfxGroups *g)
{
	const SfxBlock *block;
	int			first;
	int			n = sfx_scan_entries(g->scan, g->visibility, &block, &first);

	if (n == 0)
		return false;
	SFX_STOP("groups have entries");
	take_entries(g, block, first, n, block->tidless);
	return true;
}

/* ---- in any order ---- */

static int
take_coded(void *arg, const SfxLeaf *leaf, int b, const SfxPos *lo, const SfxPos *hi, bool visible)
{
	SfxGroups  *g = arg;
	int			n;
	int			vouched = 1;

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
		g->untried = BLOCKS_HIDDEN;
		return SFX_NOT_CODED;
	}
	sfx_aggregates_add_coded(g->aggregates, states_of(g, 0));
	g->group[0].visible += n;
	g->visible += n;
	return n;
}

static void
take_decoded(void *arg, const SfxBlock *block, bool visible)
{
	SfxGroups  *g = arg;

	SFX_STOP("groups have entries");
	take_entries(g, block, 0, block->nent, visible);
	if (g->nrows > 0 && is_full(g))
		settle(g);
}

/* All entries, for the one group.  False: they have to come in order. */
static bool
feed(SfxGroups *g)
{
	SfxTaker	taker = {take_coded, take_decoded, g};

	g->fed = true;
	if (sfx_scan_feed(g->scan, g->visibility, &taker))
		return true;
	sfx_aggregates_clear(g->aggregates, states_of(g, 0));
	g->group[0].visible = 0;
	g->visible = 0;
	g->nrows = 0;
	g->row_bytes.used = 0;
	return false;
}

/*
 * The next group of the queue of which rows are visible, or NULL: there is none, or those of one
 * entry come first.  Valid until the next call.
 */
static const Gathered *
next_in_queue(SfxGroups *g)
{
	if (g->columns == 0 && g->ngroups == 0 && !g->ended)
		open_group(g, (const uint8 *) "", 0);
	for (;;)
	{
		while (g->given < g->ready)
		{
			const Gathered *group = &g->group[g->given++];

			if (group->visible > 0 || g->columns == 0)
				return group;
		}
		CHECK_FOR_INTERRUPTS();
		if (g->ready > 0)
			drop_given(g);
		if (g->ones)
		{
			if (g->one < g->ones_end)
				return NULL;
			end_ones(g);
		}
		if (g->ended)
			return NULL;
		if (g->columns == 0 && !g->fed)
			g->ended = feed(g);
		else
			g->ended = !read_entries(g);
		if (g->nrows > 0 && (g->ended || is_full(g)) && !SFX_MUTANT("groups before their rows"))
			settle(g);
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
	uint32		keylen = group->keylen;
	bool		there = sfx_aggregates_group(g->aggregates, key, keylen, values, isnull);

	if (g->by.columns > 0 && !there)
		sfx_key_decode(&g->kd, g->index, key, keylen, g->by.columns, g->values, g->isnull,
					   g->arena->data);
	for (int i = 0; i < g->noutputs; i++)
	{
		const SfxAggOutput *out = &g->outputs[i];

		if (out->kind == SFX_AGG_BUCKET)
		{
			isnull[i] = group->bucket.null;
			/* throws */
			values[i] = group->bucket.fails != 0 ?
				sfx_bucket_of(g->bucket, group->bucket.value) : group->bucket.value;
		}
		else if (out->kind != SFX_AGG_GROUP)
			values[i] = sfx_aggregates_value(g->aggregates, i, states, &isnull[i]);
		else if (!there)
		{
			values[i] = g->values[out->column];
			isnull[i] = g->isnull[out->column];
		}
	}
}

/* A group of the queue becomes part of the one around it. */
static void
add_around(SfxGroups *g, const Gathered *group)
{
	const uint8 *key = g->keys.data + group->key;
	bool		counts = group->outer < group->keylen && key[group->outer] == SFX_MARK_VALUE;
	Size		first = (Size) (group - g->group);

	if (!g->around)
	{
		/* (of all rows: add_whole may have been here) */
		if (g->by.columns > 0)
			sfx_aggregates_clear(g->aggregates, g->outer_states);
		g->outer = *group;
		memcpy(g->outer_key, key, group->keylen);
		g->around = true;
	}
	sfx_aggregates_merge(g->aggregates, g->outer_states, states_of(g, (int) first));
	for (int i = 0; i < g->noutputs; i++)
		if (g->outputs[i].kind == SFX_AGG_COUNT_DISTINCT && counts)
			g->outer_states[i].n++;
}

/* The same for groups of groups. */
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
		if (g->around && !same_columns(g, g->outer_key, g->outer.outer, g->outer.squeezed,
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

/* The next one that is not part of another. */
static bool
next_group(SfxGroups *g, Datum *values, bool *isnull)
{
	const Gathered *group = next_in_queue(g);

	if (group == NULL)
		return sfx_groups_next_of_one(g, values, isnull);
	MemoryContextSwitchTo(g->given_cxt);
	put_values(g, group, g->keys.data + group->key, states_of(g, (int) (group - g->group)), values,
			   isnull);
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
