/*-------------------------------------------------------------------------
 * ranks.c - surfidx_rank(), surfidx_nth(), surfidx_sample(), surfidx_ntiles(): order statistics for
 * applications
 *
 * Places are numbered from 0, as OFFSET does, and are those of entries, as in surfidx_count(): also
 * of rows that are dead but not yet vacuumed, and of rows not visible yet.  The keys that are
 * returned are those of rows that the caller's snapshot sees: where the row at a place is not
 * visible, of the next one that is; a sample draws again.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "count.h"
#include "predicate.h"
#include "range.h"
#include "scan.h"
#include "sql_rows.h"

#include "access/tableam.h"
#include "common/pg_prng.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(surfidx_rank);
PG_FUNCTION_INFO_V1(surfidx_nth);
PG_FUNCTION_INFO_V1(surfidx_sample);
PG_FUNCTION_INFO_V1(surfidx_ntiles);

#define KEY_COLUMNS		2		/* of a row: its key, and its TID */
#define TILE_COLUMNS	4
#define TILES_MAX		100000
#define SAMPLE_MAX		1000000

/* ---- the row at a place ---- */

typedef struct Walk
{
	SfxOpened	o;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	MemoryContext row;			/* what is made of one row */
} Walk;

static void
begin_walk(Walk *w, Oid relid)
{
	sfx_open_to_look(relid, &w->o);
	w->scan = SfxBeginScan(w->o.heap, w->o.index, GetActiveSnapshot());
	w->scan->xs_want_itup = true;
	w->slot = table_slot_create(w->o.heap, NULL);
	w->row = AllocSetContextCreate(CurrentMemoryContext, "surfidx row", ALLOCSET_DEFAULT_SIZES);
}

static void
end_walk(Walk *w)
{
	MemoryContextDelete(w->row);
	ExecDropSingleTupleTableSlot(w->slot);
	index_endscan(w->scan);
	sfx_close_after_look(&w->o);
}

/* All entries of the index. */
static uint64
count_all(Walk *w)
{
	SfxRange   *range = palloc(sizeof(SfxRange));
	SfxArg		open = {.isnull = true};
	uint64		n;

	sfx_range_between(&w->o, &open, true, &open, true, range);
	sfx_predicate_read(w->o.index, w->o.order, GetActiveSnapshot(), &range->lo, &range->hi, NULL);
	n = sfx_count_exact(&w->o, range);
	pfree(range);
	return n;
}

/*
 * Go to the entry after the first n in that direction; if onward, to the first one from there on
 * whose row is visible.  False: there is none.  The scan has its key and TID.
 */
static bool
go_to(Walk *w, ScanDirection dir, uint64 n, bool onward)
{
	uint64		fetched;

	index_rescan(w->scan, NULL, 0, NULL, 0);
	if (n > 0 && sfx_scan_pass(w->scan, dir, n, NULL, &fetched) < n)
		return false;
	while (index_getnext_tid(w->scan, dir) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (index_fetch_heap(w->scan, w->slot))
			return true;
		if (!onward)
			break;
	}
	return false;
}

/* The key of the entry where the scan stands, its columns as text. */
static Datum
key_of(Walk *w)
{
	TupleDesc	desc = w->scan->xs_itupdesc;
	int			n = IndexRelationGetNumberOfKeyAttributes(w->o.index);
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	int			dims[1] = {n};
	int			lbs[1] = {1};

	index_deform_tuple(w->scan->xs_itup, desc, values, nulls);
	for (int i = 0; i < n; i++)
	{
		Oid			output;
		bool		varlena;

		if (nulls[i])
			continue;
		getTypeOutputInfo(TupleDescAttr(desc, i)->atttypid, &output, &varlena);
		values[i] = CStringGetTextDatum(OidOutputFunctionCall(output, values[i]));
	}
	return PointerGetDatum(construct_md_array(values, nulls, 1, dims, lbs, TEXTOID, -1, false,
											  TYPALIGN_INT));
}

static Datum
tid_of(Walk *w)
{
	ItemPointer tid = palloc(sizeof(ItemPointerData));

	ItemPointerCopy(&w->slot->tts_tid, tid);
	return PointerGetDatum(tid);
}

static void
refuse_number(const char *what, int64 n, int64 least, int64 most)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s is %lld", what, (long long) n),
			 errhint("Give a number from %lld to %lld.", (long long) least, (long long) most)));
}

/* ---- SQL ---- */

/*
 * surfidx_rank(index, VARIADIC key): how many entries come before the first one with these leading
 * columns, or before where it would stand.  A NULL value means that the column is NULL.
 */
Datum
surfidx_rank(PG_FUNCTION_ARGS)
{
	SfxOpened	o;
	SfxRange   *range = palloc(sizeof(SfxRange));
	uint64		rank;

	if (!sfx_open_to_look_for(fcinfo, &o, range))
		PG_RETURN_NULL();
	if (range->empty)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no key of index \"%s\" can have these columns",
						RelationGetRelationName(o.index)),
				 errhint("Give values of the columns' types.")));
	/* from the start up to the range */
	range->hi = range->lo;
	range->lo = SFX_POS_FIRST;
	sfx_predicate_read(o.index, o.order, GetActiveSnapshot(), &range->lo, &range->hi, NULL);
	rank = sfx_count_exact(&o, range);
	sfx_close_after_look(&o);
	PG_RETURN_INT64((int64) rank);
}

/*
 * surfidx_nth(index, n): the row after the first n entries; n < 0: from the end, -1 is the last one.
 * NULLs: there is none.
 */
Datum
surfidx_nth(PG_FUNCTION_ARGS)
{
	int64		n = PG_GETARG_INT64(1);
	Datum		values[KEY_COLUMNS] = {0};
	bool		nulls[KEY_COLUMNS] = {true, true};
	Walk		w;

	begin_walk(&w, PG_GETARG_OID(0));
	if (go_to(&w, n < 0 ? BackwardScanDirection : ForwardScanDirection,
			  n < 0 ? -(uint64) n - 1 : (uint64) n, true))
	{
		values[0] = key_of(&w);
		values[1] = tid_of(&w);
		nulls[0] = nulls[1] = false;
	}
	end_walk(&w);
	return sfx_one_row(fcinfo, KEY_COLUMNS, values, nulls);
}

/*
 * The places from 0 to all - 1 in random order (Fisher and Yates): draw number i changes places
 * with a random one that was not drawn yet.  Those that are not where they were are in a table.
 */
typedef struct Moved
{
	uint64		at;
	uint64		place;
} Moved;

static uint64
place_at(HTAB *moved, uint64 at)
{
	Moved	   *m = hash_search(moved, &at, HASH_FIND, NULL);

	return m ? m->place : at;
}

static uint64
draw(HTAB *moved, uint64 i, uint64 all)
{
	uint64		at = pg_prng_uint64_range(&pg_global_prng_state, i, all - 1);
	uint64		place = place_at(moved, at);
	uint64		first = place_at(moved, i);
	Moved	   *m = hash_search(moved, &at, HASH_ENTER, NULL);

	m->place = first;
	return place;
}

static HTAB *
make_moved(int64 n)
{
	HASHCTL		ctl = {.keysize = sizeof(uint64),.entrysize = sizeof(Moved)};

	ctl.hcxt = CurrentMemoryContext;
	return hash_create("surfidx sample", Min(n, 1024), &ctl,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static void
put_row(Walk *w, ReturnSetInfo *rsinfo)
{
	MemoryContext old = MemoryContextSwitchTo(w->row);
	Datum		values[KEY_COLUMNS];
	bool		nulls[KEY_COLUMNS] = {0};

	values[0] = key_of(w);
	values[1] = tid_of(w);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(w->row);
}

/*
 * surfidx_sample(index, n): n rows, drawn from all visible ones with equal chances; all rows, if
 * there are no more.  No row comes twice, unless entries are inserted or removed meanwhile.
 */
Datum
surfidx_sample(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int64		left = PG_GETARG_INT64(1);
	HTAB	   *moved;
	Walk		w;
	uint64		all;

	if (left < 0 || left > SAMPLE_MAX)
		refuse_number("the size of the sample", left, 0, SAMPLE_MAX);
	rsinfo = sfx_many_rows(fcinfo, KEY_COLUMNS);
	begin_walk(&w, PG_GETARG_OID(0));
	all = count_all(&w);
	moved = make_moved(left);
	for (uint64 i = 0; i < all && left > 0; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!go_to(&w, ForwardScanDirection, draw(moved, i, all), false))
			continue;
		put_row(&w, rsinfo);
		left--;
	}
	hash_destroy(moved);
	end_walk(&w);
	return (Datum) 0;
}

static void
put_tile(ReturnSetInfo *rsinfo, int tile, Datum low, Datum high, uint64 entries)
{
	Datum		values[TILE_COLUMNS] = {Int32GetDatum(tile), low, high,
	Int64GetDatum((int64) entries)};
	bool		nulls[TILE_COLUMNS] = {false, low == (Datum) 0, high == (Datum) 0, false};

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* The tile that ends where the scan stands; returns the next one's low bound, and frees this one's. */
static Datum
put_tile_to(Walk *w, ReturnSetInfo *rsinfo, int tile, Datum low, uint64 entries)
{
	MemoryContext old = MemoryContextSwitchTo(w->row);
	Datum		high = key_of(w);

	put_tile(rsinfo, tile, low, high, entries);
	MemoryContextSwitchTo(old);
	if (low != (Datum) 0)
		pfree(DatumGetPointer(low));
	high = datumCopy(high, false, -1);
	MemoryContextReset(w->row);
	return high;
}

/* The first position of the key of the entry where the scan stands. */
static const SfxPos *
begin_of_key(Walk *w, SfxRange *range)
{
	TupleDesc	desc = w->scan->xs_itupdesc;
	int			n = IndexRelationGetNumberOfKeyAttributes(w->o.index);
	SfxArg		col[INDEX_MAX_KEYS];
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	index_deform_tuple(w->scan->xs_itup, desc, values, nulls);
	for (int i = 0; i < n; i++)
	{
		Oid			type = TupleDescAttr(desc, i)->atttypid;

		col[i] = (SfxArg) {values[i], type == CSTRINGOID ? UNKNOWNOID : type, nulls[i]};
	}
	sfx_range_equal(&w->o, col, n, range);
	return &range->lo;
}

/*
 * surfidx_ntiles(index, n): bounds that cut the index into n parts with about as many entries each;
 * [low, high), NULL: an open end.  Equal keys are never parted, so there may be fewer parts.
 */
Datum
surfidx_ntiles(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;
	int			n = PG_GETARG_INT32(1);
	SfxRange   *part = palloc(sizeof(SfxRange));
	SfxRange   *key = palloc(sizeof(SfxRange));
	SfxArg		open = {.isnull = true};
	Datum		low = (Datum) 0;
	int			tile = 1;
	uint64		all;
	Walk		w;

	if (n < 1 || n > TILES_MAX)
		refuse_number("the number of parts", n, 1, TILES_MAX);
	rsinfo = sfx_many_rows(fcinfo, TILE_COLUMNS);
	begin_walk(&w, PG_GETARG_OID(0));
	all = count_all(&w);
	sfx_range_between(&w.o, &open, true, &open, true, part);
	for (int i = 1; i < n && go_to(&w, ForwardScanDirection, (uint64) ((double) all * i / n), true);
		 i++)
	{
		uint64		entries;

		CHECK_FOR_INTERRUPTS();
		part->hi = *begin_of_key(&w, key);
		if (sfx_order_cmp_pos(w.o.order, &part->lo, &part->hi) >= 0 ||
			(entries = sfx_count_exact(&w.o, part)) == 0)
			continue;
		low = put_tile_to(&w, rsinfo, tile++, low, entries);
		memcpy(part->lobuf, part->hi.key, part->hi.len);
		part->lo = (SfxPos) {part->lobuf, part->hi.len, part->hi.tid};
	}
	part->hi.key = NULL;
	put_tile(rsinfo, tile, low, (Datum) 0, sfx_count_exact(&w.o, part));
	end_walk(&w);
	return (Datum) 0;
}
