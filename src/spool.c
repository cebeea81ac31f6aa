/*-------------------------------------------------------------------------
 * spool.c - a build's items on their way into order
 *
 * Ordered bytes are sorted in memory by core's sort of byte strings (core/itemsort.h), which takes half the time of a sort by
 * comparisons.  Where memory does not suffice, what was gathered goes to PostgreSQL's tuplesort, and what comes after it
 * follows; so tapes and their merging stay its business.
 *
 * In the comparator key space tuplesort sorts from the beginning, by the columns' values (sort.c) and then by the item.
 *
 * In a parallel build each worker sorts its share like that and hands it to tuplesort as one sorted run; the leader's
 * tuplesort merges these.
 *-------------------------------------------------------------------------
 */
#include "build.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "itemsort.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#define BYTEA_LESS_OPERATOR	1957	/* bytea < bytea */
#define CHUNK_SIZE			(1024 * 1024)
#define PREFETCH_AHEAD		12

struct SfxSpool
{
	Relation	index;
	const SfxKeyDesc *kd;
	MemoryContext cxt;
	Size		limit;			/* bytes */
	SortCoordinate coordinate;
	bool		in_memory;

	/* in memory */
	SfxItem    *items;
	Size		nitems;
	Size		maxitems;
	Size		next;
	uint8	  **chunks;
	int			nchunks;
	int			maxchunks;
	Size		used;			/* of the last chunk */

	/* tuplesort */
	Tuplesortstate *sort;
	struct varlena *datum;		/* room for one item */
	Datum		last;			/* ordered bytes: to be freed, or 0 */
	TupleDesc	desc;			/* comparator key space: key columns, then the item */
	TupleTableSlot *slot;
	Datum	   *values;
	bool	   *isnull;
};

/* ---- tuplesort ---- */

static void
begin_bytes(SfxSpool *s, Size limit)
{
	s->sort = tuplesort_begin_datum(BYTEAOID, BYTEA_LESS_OPERATOR, InvalidOid, false, limit / 1024, s->coordinate,
									TUPLESORT_NONE);
}

static void
begin_columns(SfxSpool *s)
{
	int			n = s->kd->nkeys;
	AttrNumber *attnums = palloc(sizeof(AttrNumber) * (n + 1));
	Oid		   *operators = palloc(sizeof(Oid) * (n + 1));
	Oid		   *collations = palloc(sizeof(Oid) * (n + 1));
	bool	   *nulls_first = palloc(sizeof(bool) * (n + 1));
	Oid			less = sfx_sort_operator(s->index);

	s->desc = CreateTemplateTupleDesc(n + 1);
	for (int i = 0; i < n; i++)
	{
		const SfxColumn *col = &s->kd->col[i];

		TupleDescCopyEntry(s->desc, i + 1, RelationGetDescr(s->index), i + 1);
		attnums[i] = i + 1;
		operators[i] = less;
		collations[i] = col->collation;
		nulls_first[i] = col->nulls_first;
	}
	TupleDescInitEntry(s->desc, n + 1, "item", BYTEAOID, -1, 0);
	attnums[n] = n + 1;
	operators[n] = BYTEA_LESS_OPERATOR;
	collations[n] = InvalidOid;
	nulls_first[n] = false;
	s->slot = MakeSingleTupleTableSlot(s->desc, &TTSOpsMinimalTuple);
	s->values = palloc(sizeof(Datum) * (n + 1));
	s->isnull = palloc0(sizeof(bool) * (n + 1));
	sfx_sort_prepare(s->index, s->kd);
	s->sort = tuplesort_begin_heap(s->desc, n + 1, attnums, operators, collations, nulls_first,
								   s->limit / 1024, s->coordinate, TUPLESORT_NONE);
}

static void
put_bytes(SfxSpool *s, const uint8 *item, int len)
{
	memcpy(VARDATA(s->datum), item, len);
	SET_VARSIZE(s->datum, VARHDRSZ + len);
	tuplesort_putdatum(s->sort, PointerGetDatum(s->datum), false);
}

static void
put_columns(SfxSpool *s, const uint8 *item, int len, const Datum *values, const bool *isnull)
{
	int			n = s->kd->nkeys;
	MinimalTuple tuple;

	memcpy(VARDATA(s->datum), item, len);
	SET_VARSIZE(s->datum, VARHDRSZ + len);
	memcpy(s->values, values, sizeof(Datum) * n);
	memcpy(s->isnull, isnull, sizeof(bool) * n);
	s->values[n] = PointerGetDatum(s->datum);
	tuple = SfxFormMinimalTuple(s->desc, s->values, s->isnull);
	ExecForceStoreMinimalTuple(tuple, s->slot, true);
	tuplesort_puttupleslot(s->sort, s->slot);
	ExecClearTuple(s->slot);
}

static struct varlena *
next_datum(SfxSpool *s)
{
	bool		isnull;

	if (s->slot)
	{
		if (!tuplesort_gettupleslot(s->sort, true, false, s->slot, NULL))
			return NULL;
		return (struct varlena *) DatumGetPointer(slot_getattr(s->slot, s->kd->nkeys + 1, &isnull));
	}
	if (SfxTuplesortDatumIsCopy && s->last)
		pfree(DatumGetPointer(s->last));
	s->last = (Datum) 0;
	if (!SfxTuplesortGetDatum(s->sort, &s->last, &isnull))
		return NULL;
	return (struct varlena *) DatumGetPointer(s->last);
}

/* ---- in memory ---- */

/* Bytes in use, with room for so many items: each stands in two arrays while they are sorted. */
static Size
memory_for(const SfxSpool *s, int nchunks, Size maxitems)
{
	return (Size) nchunks * CHUNK_SIZE + 2 * maxitems * sizeof(SfxItem);
}

/* Room for one more item of so many bytes.  False: not within the limit. */
static bool
make_room(SfxSpool *s, int len)
{
	if (s->nitems == s->maxitems)
	{
		Size		most = s->limit <= memory_for(s, s->nchunks, 0) ? 0 :
			(s->limit - memory_for(s, s->nchunks, 0)) / (2 * sizeof(SfxItem));
		Size		want = Min(Max(1024, 2 * s->maxitems), most);

		if (want <= s->nitems)
			return false;
		s->items = s->items == NULL ? MemoryContextAllocHuge(s->cxt, want * sizeof(SfxItem)) :
			repalloc_huge(s->items, want * sizeof(SfxItem));
		s->maxitems = want;
	}
	if (s->nchunks == 0 || s->used + len > CHUNK_SIZE)
	{
		if (memory_for(s, s->nchunks + 1, s->maxitems) > s->limit)
			return false;
		if (s->nchunks == s->maxchunks)
		{
			s->maxchunks = Max(64, 2 * s->maxchunks);
			s->chunks = s->chunks == NULL ? MemoryContextAlloc(s->cxt, s->maxchunks * sizeof(uint8 *)) :
				repalloc(s->chunks, s->maxchunks * sizeof(uint8 *));
		}
		s->chunks[s->nchunks++] = MemoryContextAlloc(s->cxt, CHUNK_SIZE);
		s->used = 0;
	}
	return true;
}

static void
free_memory(SfxSpool *s)
{
	for (int i = 0; i < s->nchunks; i++)
		pfree(s->chunks[i]);
	if (s->chunks)
		pfree(s->chunks);
	if (s->items)
		pfree(s->items);
	s->chunks = NULL;
	s->items = NULL;
	s->nchunks = 0;
	s->nitems = 0;
}

/* From here on it is tuplesort's. */
static void
spill(SfxSpool *s)
{
	MemoryContext old = MemoryContextSwitchTo(s->cxt);

	begin_bytes(s, s->limit);
	MemoryContextSwitchTo(old);
	for (Size i = 0; i < s->nitems; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_bytes(s, sfx_item_bytes(&s->items[i]), sfx_item_len(&s->items[i]));
	}
	free_memory(s);
	s->in_memory = false;
}

/* Nothing is held while items are sorted but memory of the build's. */
static void
check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

static void
sort_in_memory(SfxSpool *s)
{
	SfxItem    *tmp = MemoryContextAllocHuge(s->cxt, Max(s->nitems, 1) * sizeof(SfxItem));

	sfx_item_sort(s->items, tmp, s->nitems, check_interrupts);
	pfree(tmp);
}

/* ---- the public face ---- */

SfxSpool *
sfx_spool_begin(Relation index, const SfxKeyDesc *kd, const SfxOrder *order, int workmem, SortCoordinate coordinate)
{
	SfxSpool   *s = palloc0(sizeof(SfxSpool));

	s->index = index;
	s->kd = kd;
	s->cxt = CurrentMemoryContext;
	s->limit = (Size) workmem * 1024;
	s->coordinate = coordinate;
	s->datum = palloc(VARHDRSZ + SFX_ITEM_MAX);
	if (order)
		begin_columns(s);
	else if (coordinate && !coordinate->isWorker)
		begin_bytes(s, s->limit);
	else
		s->in_memory = true;
	/* a worker's tuplesort takes a copy */
	if (s->in_memory && coordinate)
		s->limit /= 2;
	return s;
}

void
sfx_spool_put(SfxSpool *s, const uint8 *item, int len, const Datum *values, const bool *isnull)
{
	uint8	   *at;

	if (s->in_memory && !make_room(s, 2 + len))
		spill(s);
	if (!s->in_memory)
	{
		if (s->slot)
			put_columns(s, item, len, values, isnull);
		else
			put_bytes(s, item, len);
		return;
	}
	at = s->chunks[s->nchunks - 1] + s->used;
	sfx_put16(at, (uint16) len);
	memcpy(at + 2, item, len);
	sfx_item_set(&s->items[s->nitems++], at);
	s->used += 2 + len;
}

void
sfx_spool_perform(SfxSpool *s)
{
	if (s->in_memory)
	{
		sort_in_memory(s);
		/* a worker's share: in order already, so that tuplesort has nothing left to do but to write it */
		if (s->coordinate)
			spill(s);
	}
	if (!s->in_memory)
		tuplesort_performsort(s->sort);
}

const uint8 *
sfx_spool_next(SfxSpool *s, int *len)
{
	if (s->in_memory)
	{
		const SfxItem *item = &s->items[s->next];

		if (s->next == s->nitems)
			return NULL;
		if (s->next + PREFETCH_AHEAD < s->nitems)
			__builtin_prefetch(item[PREFETCH_AHEAD].at);
		s->next++;
		*len = sfx_item_len(item);
		return sfx_item_bytes(item);
	}
	else
	{
		struct varlena *v = next_datum(s);

		if (v == NULL)
			return NULL;
		*len = VARSIZE_ANY_EXHDR(v);
		return (const uint8 *) VARDATA_ANY(v);
	}
}

void
sfx_spool_end(SfxSpool *s)
{
	if (s->slot)
		ExecDropSingleTupleTableSlot(s->slot);
	if (s->sort)
		tuplesort_end(s->sort);
	free_memory(s);
	pfree(s);
}
