/*-------------------------------------------------------------------------
 * agg_queue.c - groups of entries that wait for rows
 *
 * A queue of groups: the first are ready, the last is open, those between wait for rows that are
 * put off (Y9).  The keys of these rows are kept here, since a row's values are those of its entry
 * (Y9).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_group_impl.h"

#include "miscadmin.h"

#define ROWS_GROWTH		2
/* groups in the queue, at most, apart from those of one stretch */
#define GROUPS_MOST		1024
#define BYTES_FIRST		8192

/* Enlarge an array, or make it (NULL). */
static void *
grow(SfxGroups *g, void *array, Size size)
{
	return array ? repalloc_huge(array, size) : MemoryContextAllocHuge(g->cxt, size);
}

/* Make room for len more bytes; returns their offset. */
static Size
append(SfxGroups *g, Bytes *b, Size len)
{
	Size		at = b->used;

	if (at + len > b->size)
	{
		b->size = Max(Max(2 * b->size, at + len), BYTES_FIRST);
		b->data = grow(g, b->data, b->size);
	}
	b->used += len;
	return at;
}

/* ---- entries of one group ---- */

/* Bytes of a key's leading columns. */
static uint32
prefix_length(SfxGroups *g, const uint8 *key, uint32 keylen, int columns)
{
	const uint8 *p = key;

	for (int c = 0; c < columns; c++)
		p += sfx_column_length(&g->kd.col[c], g->index, p, (int) (key + keylen - p));
	return (uint32) (p - key);
}

bool
sfx_queue_same_by_order(SfxGroups *g, const uint8 *a, uint32 len, bool squeezed, int columns,
						const uint8 *b, uint32 keylen)
{
	if (!squeezed && !sfx_key_is_squeezed(&g->kd, g->index, b, keylen))
		return false;
	return sfx_order_cmp_columns(g->order, 0, a, len, b,
								 prefix_length(g, b, keylen, columns)) == 0;
}

static bool
in_bucket(SfxGroups *g, const Gathered *open, const uint8 *key, uint32 keylen)
{
	uint32		at = open->len;
	bool		same = keylen > at && (memcmp(g->keys.data + open->key, key, at) == 0 ||
									   SFX_MUTANT("buckets of any columns"));

	if (!same && g->kd.comparator &&
		sfx_queue_same_by_order(g, g->keys.data + open->key, at, open->squeezed, g->columns - 1,
								key, keylen))
	{
		at = prefix_length(g, key, keylen, g->columns - 1);
		same = keylen > at;
	}
	return same && sfx_bucket_has(g->bucketer, &open->bucket, key + at, keylen - at);
}

/* Does entry i belong to that group? */
static inline bool
belongs(SfxGroups *g, const Gathered *open, const SfxBlock *block, int i)
{
	int			k = sfx_block_keyno(block, i);
	const uint8 *key = block->keys + block->keyoff[k];
	uint32		keylen = block->keyoff[k + 1] - block->keyoff[k];

	if (g->bucketer)
		return in_bucket(g, open, key, keylen);
	return sfx_queue_same(g, g->keys.data + open->key, open->len, open->squeezed, g->columns, key,
						  keylen);
}

bool
sfx_queue_belongs(SfxGroups *g, const SfxBlock *block, int i)
{
	return belongs(g, &g->group[g->ngroups - 1], block, i);
}

int
sfx_queue_end_of_group(SfxGroups *g, const SfxBlock *block, int from, int to)
{
	const Gathered *open = &g->group[g->ngroups - 1];
	int			in = from;
	int			out = to;

	if (g->bucketer && (belongs(g, open, block, to - 1) || SFX_MUTANT("buckets without an end")))
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

	g->group = grow(g, g->group, room * sizeof(Gathered));
	g->states = grow(g, g->states, room * size);
	memset(sfx_queue_states(g, g->room), 0, (room - g->room) * size);
	g->room = room;
}

void
sfx_groups_misled(const SfxGroups *g)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is damaged: keys of a leaf are out of order",
					RelationGetRelationName(g->index)),
			 errhint("Please REINDEX it.")));
	pg_unreachable();
}

void
sfx_queue_open(SfxGroups *g, const uint8 *key, uint32 keylen)
{
	Gathered   *group;

	/* entries come in order, so no group comes twice, unless a leaf is damaged */
	if (g->ngroups > 0 && !g->kd.comparator &&
		sfx_cmp_bytes(g->keys.data + g->group[g->ngroups - 1].key,
					  g->group[g->ngroups - 1].keylen, key, keylen) >= 0)
		sfx_groups_misled(g);
	if (g->ngroups == g->room)
		grow_queue(g);
	group = &g->group[g->ngroups++];
	group->keylen = keylen;
	group->key = append(g, &g->keys, keylen);
	if (keylen > 0)
		memcpy(g->keys.data + group->key, key, keylen);
	group->len = prefix_length(g, key, keylen, g->columns - (g->bucketer ? 1 : 0));
	if (g->bucketer)
		group->bucket = sfx_bucket_of(g->bucketer, key + group->len, keylen - group->len);
	group->outer = g->by.distinct ? prefix_length(g, key, keylen, g->by.columns) : group->len;
	group->squeezed = g->kd.comparator && sfx_key_is_squeezed(&g->kd, g->index, key, keylen);
	group->visible = 0;
	g->gathered = 0;
}

void
sfx_queue_drop_given(SfxGroups *g)
{
	int			left = g->ngroups - g->given;

	if (SFX_MUTANT("groups before their rows"))
		g->nrows = 0;
	Assert(left <= 1 && g->nrows == 0 && g->held == NULL);
	for (int i = 0; i < g->given; i++)
		sfx_aggregates_clear(g->aggregates, sfx_queue_states(g, i));
	if (left == 1 && g->given > 0)
	{
		Gathered   *open = &g->group[g->given];

		memcpy(sfx_queue_states(g, 0), sfx_queue_states(g, g->given),
			   g->noutputs * sizeof(SfxAggState));
		memset(sfx_queue_states(g, g->given), 0, g->noutputs * sizeof(SfxAggState));
		memmove(g->keys.data, g->keys.data + open->key, open->keylen);
		open->key = 0;
		g->group[0] = *open;
	}
	g->keys.used = left == 1 ? g->group[0].keylen : 0;
	g->ngroups = left;
	g->given = g->ready = 0;
}

void
sfx_queue_add(SfxGroups *g, int group, const SfxBlock *block, int from, int to)
{
	bool		pass = true;

	sfx_exprs_forget(g->exprs);
	for (int end = to; from < to; from = end)
	{
		if (g->condition)
			end = sfx_condition_run(g->exprs, g->condition, block, from, to, &pass);
		if (!pass)
		{
			g->refused += end - from;
			continue;
		}
		sfx_aggregates_add(g->aggregates, sfx_queue_states(g, group), block, from, end);
		g->group[group].visible += end - from;
		g->visible += end - from;
	}
}

/* ---- rows that are put off ---- */

static void
grow_rows(SfxGroups *g)
{
	int			room = Min(Max(2 * g->rows_room, SFX_ROWS_FIRST), SFX_VISIBILITY_ROWS);

	g->tid = grow(g, g->tid, room * sizeof(uint64));
	g->row = grow(g, g->row, room * sizeof(Row));
	g->seen = grow(g, g->seen, room * sizeof(bool));
	g->rows_room = room;
}

void
sfx_queue_put_off(SfxGroups *g, const SfxBlock *block, int i)
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

/*
 * May the row's entry be added to the block, after those that it has?  Keys have to ascend (rows of
 * several stages may be put off together), and payloads are not adjacent.
 */
static bool
follows(const SfxGroups *g, const SfxBlock *block, const Row *row)
{
	const uint8 *key = g->row_bytes.data + row->at;
	int			last = block->nent - 1;

	Assert(block->nent == 0 || (block->nkeys == block->nent && !block->dups));
	return last >= 0 && !block->haspay && !row->haspay && !g->kd.comparator &&
		block->nkeys < SFX_BLOCK_KEYS && block->keyoff[last + 1] <= SFX_BLOCK_RAW &&
		sfx_cmp_bytes(block->keys + block->keyoff[last], block->keyoff[last + 1] - block->keyoff[last],
					  key, row->keylen) <= 0;
}

/* Add the rows in the block, all of one group, to that group. */
static void
add_rows(SfxGroups *g, SfxBlock *block, int group)
{
	if (block->nent == 0)
		return;
	sfx_queue_add(g, group, block, 0, block->nent);
	block->nent = 0;
}

/* Add one more row to the block, which is empty or has rows that it follows. */
static void
take_row(SfxGroups *g, SfxBlock *block, const Row *row)
{
	SfxEntry	e;

	e.key = g->row_bytes.data + row->at;
	e.keylen = row->keylen;
	e.payload = row->haspay ? e.key + e.keylen : NULL;
	e.paylen = row->paylen;
	e.tid = 0;
	if (block->nent == 0)
	{
		sfx_block_of_entry(block, &e);
		return;
	}
	memcpy(block->keys + block->keyoff[block->nkeys], e.key, e.keylen);
	block->keyoff[block->nkeys + 1] = block->keyoff[block->nkeys] + e.keylen;
	if (block->width != e.keylen)
		block->width = 0;
	block->nent = ++block->nkeys;
}

/*
 * See agg_group_impl.h.  Each row that was put off has a key of its own in the block, equal or not.
 */
void
sfx_queue_settle(SfxGroups *g)
{
	SfxBlock   *block = g->single;
	int			n = g->nrows;
	int			group = 0;

	sfx_visibility_look(g->visibility, g->tid, n, g->seen);
	block->nent = 0;
	for (int i = 0; i < n; i++)
	{
		const Row  *row = &g->row[i];

		if (!g->seen[i])
			continue;
		if (row->group != group || !follows(g, block, row))
			add_rows(g, block, group);
		group = row->group;
		take_row(g, block, row);
	}
	add_rows(g, block, group);
	g->nrows = 0;
	g->row_bytes.used = 0;
	g->most_rows = Min(ROWS_GROWTH * g->most_rows, SFX_VISIBILITY_ROWS - SFX_BLOCK_ENTRIES);
}

bool
sfx_queue_is_full(const SfxGroups *g)
{
	Size		most = (Size) work_mem * 1024 / 2;

	return g->nrows >= g->most_rows || g->ngroups >= GROUPS_MOST ||
		g->row_bytes.used + g->nrows * (sizeof(Row) + sizeof(uint64) + 1) >= most ||
		g->keys.used >= most;
}
