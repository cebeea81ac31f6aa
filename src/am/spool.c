/*-------------------------------------------------------------------------
 * spool.c - a build's items on their way into order
 *
 * Ordered bytes are sorted in memory by core's sort of byte strings (itemsort.h), which takes half the time of a sort by
 * comparisons.  Where memory does not suffice, what was gathered is sorted and goes to a file, and the files are merged at the end; MERGE_ORDER files
 * of one size are merged into one before, so that there are few of them.
 *
 * In the comparator key space tuplesort sorts, by the columns' values (sortorder.c) and then by the item.
 *
 * In a parallel build each participant sorts its share like that and leaves files (or what tuplesort makes) behind; one merges them.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "build.h"
#include "column.h"
#include "itemsort.h"
#include "order.h"
#include "spool_files.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "postmaster/bgworker_internals.h"
#include "utils/memutils.h"

#define BYTEA_LESS_OPERATOR	1957	/* bytea < bytea */
#define LEAST_MEMORY		(256 * 1024)
#define LEAST_CHUNK			(32 * 1024)
#define MOST_CHUNK			(1024 * 1024)
#define PREFETCH_AHEAD		12
#define MERGE_ORDER			16	/* files that are merged into one before the end */
#define NUMBER_BITS			20	/* of a file's number, that count a participant's own; the others
								 * tell the participant */

StaticAssertDecl(MAX_PARALLEL_WORKER_LIMIT < 1 << (32 - NUMBER_BITS), "participants of a build need different numbers of files");

/* One of the files. */
typedef struct SpoolFile
{
	SfxSorted  *file;			/* NULL: in the shared set, by its number */
	uint32		number;
	int			level;			/* how often its items were merged */
} SpoolFile;

struct SfxSpool
{
	Relation	index;
	const SfxKeyDesc *kd;
	MemoryContext cxt;
	Size		limit;			/* bytes */
	Size		chunk_size;
	SortCoordinate coordinate;
	SfxSpoolShared *shared;		/* NULL: the build is not parallel */
	int			part;

	/* ordered bytes: in memory */
	SfxItem    *items;
	Size		nitems;
	Size		maxitems;
	Size		next;
	uint8	  **chunks;
	int			nchunks;
	int			maxchunks;
	Size		used;			/* of the last chunk */

	/* ordered bytes: in files */
	SpoolFile	file[SFX_SPOOL_FILES];
	int			nfiles;
	uint32		next_number;
	SfxSortedMerge *merge;		/* NULL: items are taken from memory */

	/* comparator key space */
	Tuplesortstate *sort;
	struct varlena *datum;		/* room for one item */
	TupleDesc	desc;			/* key columns, then the item */
	TupleTableSlot *slot;
	Datum	   *values;
	bool	   *isnull;
};

/* ---- tuplesort ---- */

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

	if (!tuplesort_gettupleslot(s->sort, true, false, s->slot, NULL))
		return NULL;
	return (struct varlena *) DatumGetPointer(slot_getattr(s->slot, s->kd->nkeys + 1, &isnull));
}

/* ---- in memory ---- */

/* Bytes in use, with room for so many items: each stands in two arrays while they are sorted. */
static Size
memory_for(const SfxSpool *s, int nchunks, Size maxitems)
{
	return (Size) nchunks * s->chunk_size + 2 * maxitems * sizeof(SfxItem);
}

/* Room for one more item of so many bytes.  False: not within the limit. */
static bool
make_room(SfxSpool *s, int len)
{
	if (s->nitems == s->maxitems)
	{
		Size		used = memory_for(s, s->nchunks, 0);
		Size		most = s->limit <= used ? 0 : (s->limit - used) / (2 * sizeof(SfxItem));
		Size		want = Min(Max(1024, 2 * s->maxitems), most);

		if (want <= s->nitems)
			return false;
		s->items = s->items == NULL ? MemoryContextAllocHuge(s->cxt, want * sizeof(SfxItem)) :
			repalloc_huge(s->items, want * sizeof(SfxItem));
		s->maxitems = want;
	}
	if (s->nchunks == 0 || s->used + len > s->chunk_size)
	{
		if (memory_for(s, s->nchunks + 1, s->maxitems) > s->limit)
			return false;
		if (s->nchunks == s->maxchunks)
		{
			s->maxchunks = Max(64, 2 * s->maxchunks);
			s->chunks = s->chunks == NULL ? MemoryContextAlloc(s->cxt, s->maxchunks * sizeof(uint8 *)) :
				repalloc(s->chunks, s->maxchunks * sizeof(uint8 *));
		}
		s->chunks[s->nchunks++] = MemoryContextAlloc(s->cxt, s->chunk_size);
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
	s->nchunks = s->maxchunks = 0;
	s->nitems = s->maxitems = 0;
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

/* ---- in files ---- */

/* A new file, at the end of the list. */
static SfxSorted *
create_file(SfxSpool *s, int level)
{
	SpoolFile  *f = &s->file[s->nfiles++];
	SfxSorted  *file;

	f->level = level;
	if (s->shared && s->next_number >> NUMBER_BITS != 0)
		elog(ERROR, "surfidx: too many temporary files for index \"%s\"", RelationGetRelationName(s->index));
	f->number = (uint32) s->part << NUMBER_BITS | s->next_number++;
	file = sfx_sorted_create(s->shared ? &s->shared->files.fs : NULL, f->number);
	f->file = s->shared ? NULL : file;
	return file;
}

static SfxSortedMerge *
merge_files(SfxSpool *s, const SpoolFile *f, int n)
{
	SfxSorted **files = palloc(sizeof(SfxSorted *) * Max(n, 1));
	SfxSortedMerge *merge;

	for (int i = 0; i < n; i++)
		files[i] = f[i].file ? f[i].file : sfx_sorted_open(&s->shared->files.fs, f[i].number);
	merge = sfx_sorted_merge_begin(files, n, s->limit);
	pfree(files);
	return merge;
}

/* Make one of the last n files. */
static void
join_files(SfxSpool *s, int n)
{
	SpoolFile	old[SFX_SPOOL_FILES];
	SfxSortedMerge *merge;
	SfxSorted  *file;
	const uint8 *item;
	int			len;

	s->nfiles -= n;
	memcpy(old, s->file + s->nfiles, sizeof(SpoolFile) * n);
	merge = merge_files(s, old, n);
	file = create_file(s, old[0].level + 1);
	while ((item = sfx_sorted_merge_next(merge, &len)) != NULL)
		sfx_sorted_put(file, item, len);
	sfx_sorted_finish(file);
	sfx_sorted_merge_end(merge);
	for (int i = 0; i < n && s->shared; i++)
		sfx_sorted_delete(&s->shared->files.fs, old[i].number);
}

/* Sort what is in memory, and write it out. */
static void
write_out(SfxSpool *s)
{
	MemoryContext old = MemoryContextSwitchTo(s->cxt);
	SfxSorted  *file;
	int			same = 0;

	sort_in_memory(s);
	file = create_file(s, 0);
	for (Size i = 0; i < s->nitems; i++)
	{
		if (i + PREFETCH_AHEAD < s->nitems)
			__builtin_prefetch(s->items[i + PREFETCH_AHEAD].at);
		sfx_sorted_put(file, sfx_item_bytes(&s->items[i]), sfx_item_len(&s->items[i]));
	}
	sfx_sorted_finish(file);
	free_memory(s);
	do
	{
		for (same = 0; same < s->nfiles && s->file[s->nfiles - 1 - same].level == s->file[s->nfiles - 1].level;)
			same++;
		if (same >= MERGE_ORDER)
			join_files(s, same);
	} while (same >= MERGE_ORDER);
	if (s->nfiles == SFX_SPOOL_FILES)
		join_files(s, s->nfiles);
	MemoryContextSwitchTo(old);
}

/* Tell whoever merges where our items are. */
static void
publish_files(SfxSpool *s)
{
	for (int i = 0; i < s->nfiles; i++)
		s->shared->part[s->part].file[i] = s->file[i].number;
	s->shared->part[s->part].nfiles = s->nfiles;
}

/* What all participants have left behind. */
static SfxSortedMerge *
merge_parts(SfxSpool *s)
{
	SpoolFile  *f = palloc(sizeof(SpoolFile) * SFX_SPOOL_FILES * s->shared->nparts);
	SfxSortedMerge *merge;
	int			n = 0;

	for (int p = 0; p < s->shared->nparts; p++)
		for (int i = 0; i < s->shared->part[p].nfiles; i++)
			f[n++] = (SpoolFile)
		{
			NULL, s->shared->part[p].file[i], 0
		};
	merge = merge_files(s, f, n);
	pfree(f);
	return merge;
}

/* ---- the public face ---- */

SfxSpool *
sfx_spool_begin(Relation index, const SfxKeyDesc *kd, const SfxOrder *order, int workmem, const SfxSpoolPart *part)
{
	SfxSpool   *s = palloc0(sizeof(SfxSpool));

	s->index = index;
	s->kd = kd;
	s->cxt = CurrentMemoryContext;
	s->limit = Max((Size) workmem * 1024, LEAST_MEMORY);
	s->chunk_size = Min(Max(s->limit / 16, LEAST_CHUNK), MOST_CHUNK);
	if (part)
	{
		s->coordinate = part->coordinate;
		s->shared = part->shared;
		s->part = part->number;
	}
	if (order)
	{
		s->datum = palloc(VARHDRSZ + SFX_ITEM_MAX);
		begin_columns(s);
	}
	return s;
}

void
sfx_spool_put(SfxSpool *s, const uint8 *item, int len, const Datum *values, const bool *isnull)
{
	uint8	   *at;

	if (s->sort)
	{
		put_columns(s, item, len, values, isnull);
		return;
	}
	if (!make_room(s, 2 + len))
	{
		write_out(s);
		/* there is always room for some items */
		if (!make_room(s, 2 + len))
			elog(ERROR, "surfidx: no memory to sort the items of index \"%s\"", RelationGetRelationName(s->index));
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
	if (s->sort)
		tuplesort_performsort(s->sort);
	else if (s->shared && s->part < 0)
		s->merge = merge_parts(s);
	else if (s->shared)
	{
		if (s->nitems > 0)
			write_out(s);
		publish_files(s);
	}
	else if (s->nfiles == 0)
		sort_in_memory(s);
	else
	{
		if (s->nitems > 0)
			write_out(s);
		s->merge = merge_files(s, s->file, s->nfiles);
	}
}

const uint8 *
sfx_spool_next(SfxSpool *s, int *len)
{
	const SfxItem *item;

	if (s->merge)
		return sfx_sorted_merge_next(s->merge, len);
	if (s->sort)
	{
		struct varlena *v = next_datum(s);

		if (v == NULL)
			return NULL;
		*len = VARSIZE_ANY_EXHDR(v);
		return (const uint8 *) VARDATA_ANY(v);
	}
	if (s->next == s->nitems)
		return NULL;
	item = &s->items[s->next];
	if (s->next + PREFETCH_AHEAD < s->nitems)
		__builtin_prefetch(item[PREFETCH_AHEAD].at);
	s->next++;
	*len = sfx_item_len(item);
	return sfx_item_bytes(item);
}

void
sfx_spool_end(SfxSpool *s)
{
	if (s->slot)
		ExecDropSingleTupleTableSlot(s->slot);
	if (s->sort)
		tuplesort_end(s->sort);
	if (s->merge)
		sfx_sorted_merge_end(s->merge);
	free_memory(s);
	pfree(s);
}
