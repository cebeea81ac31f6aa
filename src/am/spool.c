/*-------------------------------------------------------------------------
 * spool.c - sorting a build's items
 *
 * Ordered bytes are sorted in memory by core's sort of byte strings (itemsort.h), which takes half
 * the time of a sort by comparisons.  Where memory does not suffice, what was gathered is sorted
 * and written to a file, and the files are merged at the end.  MERGE_ORDER files of one size are
 * merged into one before that, so there are few of them.
 *
 * In the comparator key space items are sorted by words that tell what they can of the order, and
 * by the order's comparisons where words are equal (sfx_item_sort_by).  Files have no words, and
 * are merged by comparisons.
 *
 * In a parallel build each participant sorts its share like this and leaves files; the leader
 * merges them.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "build.h"
#include "column.h"
#include "itemsort.h"
#include "key.h"
#include "order.h"
#include "spool_files.h"
#include "transform.h"

#include "access/nbtree.h"
#include "miscadmin.h"
#include "postmaster/bgworker_internals.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/sortsupport.h"

#define LEAST_MEMORY		(256 * 1024)
#define LEAST_CHUNK			(32 * 1024)
#define MOST_CHUNK			(1024 * 1024)
#define PREFETCH_AHEAD		12	/* items that are fetched ahead into the processor's caches */
#define FIRST_LOOK			10	/* items after which abbreviations are first judged, as by
								 * tuplesort */
#define MERGE_ORDER			16	/* files of one level that are merged into one */
#define NUMBER_BITS			20	/* low bits of a file's number, which count a participant's own
								 * files; the others tell the participant */

StaticAssertDecl(MAX_PARALLEL_WORKER_LIMIT < 1 << (32 - NUMBER_BITS), "participants of a build need different numbers of files");

/* A file of sorted items. */
typedef struct SpoolFile
{
	SfxSorted  *file;			/* NULL: in the shared set, by its number */
	uint32		number;
	int			level;			/* how often its items were merged */
} SpoolFile;

struct SfxSpool
{
	const SfxBuild *build;
	MemoryContext cxt;
	Size		limit;			/* bytes */
	Size		chunk_size;
	SfxSpoolShared *shared;		/* NULL: the build is not parallel */
	int			part;

	/* in memory */
	SfxItem    *items;
	Size		nitems;
	Size		maxitems;
	Size		next;
	uint8	  **chunks;
	int			nchunks;
	int			maxchunks;
	Size		used;			/* bytes in use of the last chunk */

	/* in files */
	SpoolFile	file[SFX_SPOOL_FILES];
	int			nfiles;
	uint32		next_number;
	SfxSortedMerge *merge;		/* NULL: items are taken from memory */

	/* comparator key space */
	int			raw;			/* the first raw column */
	SortSupportData ssup;		/* of that column */
	SfxTransform *transform;	/* for that column, where core has no abbreviations */
	bool		abbreviates;	/* items have words */
	Size		abbreviated;	/* values, so far */
	Size		next_look;		/* number of values at which abbreviations are judged next */
	char	   *arena;			/* for one value */
};

/* ---- words of items in the comparator key space ---- */

/*
 * Prepare the words that tell what they can of an item's place.  First come the columns before the
 * first raw one, with its marker: the *lead*, eight bytes in each word.  Then core's abbreviation
 * of the raw column's value, if its class has one that is an unsigned number, or words of the C
 * library's transform (K2).  There are no further words, as values with one abbreviation need not
 * be equal.  Leads order as their columns do, and none is a prefix of another one.
 */
static void
begin_words(SfxSpool *s)
{
	const SfxColumn *col = s->build->kd.col;

	while (!col[s->raw].raw)
		s->raw++;
	s->ssup.ssup_cxt = s->cxt;
	s->ssup.ssup_collation = col[s->raw].collation;
	s->ssup.ssup_attno = s->raw + 1;
	s->ssup.abbreviate = true;
	sfx_column_sortsupport(s->build->index, &s->build->kd, s->raw, &s->ssup);
	s->abbreviates = s->ssup.abbrev_converter != NULL &&
		s->ssup.comparator == ssup_datum_unsigned_cmp;
	if (s->ssup.abbrev_converter == NULL &&
		index_getprocid(s->build->index, s->raw + 1, BTORDER_PROC) == F_BTTEXTCMP)
		s->transform = sfx_transform_create(col[s->raw].collation);
	s->abbreviates |= s->transform != NULL;
	s->next_look = FIRST_LOOK;
	s->arena = palloc(SFX_ARENA);
}

/* Length of an item's lead. */
static int
lead_length(const SfxSpool *s, const uint8 *item, int len)
{
	int			n = 0;

	for (int i = 0; i < s->raw; i++)
		n += sfx_column_length(&s->build->kd.col[i], s->build->index, item + n, len - n);
	return n + 1;
}

/* Word number i of a value of the raw column. */
static uint64
abbreviate(SfxSpool *s, Datum value, int i)
{
	uint64		word = s->transform ? sfx_transform_word(s->transform, value, i) :
	(uint64) s->ssup.abbrev_converter(value, &s->ssup);

	s->abbreviated += i == 0;
	return s->build->kd.col[s->raw].desc ? ~word : word;
}

/*
 * As tuplesort does: if abbreviations tell little, no more of them are made.  True: that was just
 * found.
 */
static bool
tells_little(SfxSpool *s)
{
	if (s->abbreviated < s->next_look)
		return false;
	s->next_look *= 2;
	s->abbreviates = s->transform ? sfx_transform_pays(s->transform) :
		!s->ssup.abbrev_abort((int) Min(s->abbreviated, INT_MAX), &s->ssup);
	return !s->abbreviates;
}

/* An item's first word. */
static uint64
first_word(SfxSpool *s, const uint8 *item, int len, Datum value, bool isnull)
{
	if (s->raw > 0)
		return sfx_load_be(item, lead_length(s, item, len));
	if (!s->abbreviates)
		return 0;
	if (isnull)
		return s->build->kd.col[0].nulls_first ? 0 : PG_UINT64_MAX;
	return abbreviate(s, value, 0);
}

/* If abbreviations have just turned out to tell little, drop those that were made. */
static void
look_at_words(SfxSpool *s)
{
	if (!s->abbreviates || s->raw > 0 || !tells_little(s))
		return;
	for (Size i = 0; i < s->nitems; i++)
		s->items[i].word = 0;
}

/* Word number i of the raw column, which comes after a lead of that length. */
static uint64
raw_word(SfxSpool *s, const uint8 *item, int len, int lead, int i)
{
	const SfxColumn *col = &s->build->kd.col[s->raw];
	int			n = sfx_value_length(col, s->build->index, item + lead, len - lead);
	Datum		value;

	(void) sfx_value_decode(col, item + lead, n, &value, s->arena);
	return abbreviate(s, value, i);
}

/*
 * SfxItemWords: fill in the words of a level; false: there are none.  Of items that agree in their
 * words so far, either all have more of the lead, or all have the same lead.  (If that is just a
 * marker, the value's words are the first ones, and a NULL has a word of its own.)
 */
static bool
next_words(void *arg, SfxItem *a, size_t n, int level)
{
	SfxSpool   *s = arg;
	int			from = level * (int) sizeof(uint64);

	for (size_t i = 0; i < n; i++)
	{
		const uint8 *item = sfx_item_bytes(&a[i]);
		int			len = sfx_item_len(&a[i]);
		int			lead = lead_length(s, item, len);
		int			of_value = level - (s->raw > 0 ? (lead + 7) / 8 : 0);

		CHECK_FOR_INTERRUPTS();
		if (of_value < 0)
			a[i].word = sfx_load_be(item + from, lead - from);
		else if (of_value >= (s->transform ? SFX_TRANSFORM_WORDS : 1) || !s->abbreviates ||
				 item[lead - 1] != SFX_MARK_VALUE || tells_little(s))
			return false;
		else
			a[i].word = raw_word(s, item, len, lead, of_value);
	}
	return true;
}

/* Compare two items by the columns' values, then by bytes. */
static int
cmp_items(void *arg, const uint8 *a, int alen, const uint8 *b, int blen)
{
	const SfxSpool *s = arg;
	SfxEntry	x;
	SfxEntry	y;
	uint8		flags;
	int			c;

	/* a comparison of long strings may take milliseconds */
	CHECK_FOR_INTERRUPTS();
	sfx_build_parse_item(s->build, a, alen, &x, &flags);
	sfx_build_parse_item(s->build, b, blen, &y, &flags);
	c = s->build->order->cmp(s->build->order, x.key, x.keylen, y.key, y.keylen);
	return c != 0 ? c : (x.tid > y.tid) - (x.tid < y.tid);
}

static int
cmp_in_memory(void *arg, const SfxItem *a, const SfxItem *b)
{
	return cmp_items(arg, sfx_item_bytes(a), sfx_item_len(a), sfx_item_bytes(b), sfx_item_len(b));
}

/* ---- in memory ---- */

/* Bytes that many chunks and items take; each item stands in two arrays while they are sorted. */
static Size
memory_for(const SfxSpool *s, int nchunks, Size maxitems)
{
	return (Size) nchunks * s->chunk_size + 2 * maxitems * sizeof(SfxItem);
}

/* Make room for one more item of that many bytes.  False: it would exceed the limit. */
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

/* Called during a sort, while nothing is held but memory. */
static void
check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/* Are all items in the order of comparisons? */
static bool
in_order(SfxSpool *s)
{
	for (Size i = 1; i < s->nitems; i++)
	{
		if (i + PREFETCH_AHEAD < s->nitems)
			__builtin_prefetch(s->items[i + PREFETCH_AHEAD].at);
		if (cmp_in_memory(s, &s->items[i - 1], &s->items[i]) > 0)
			return false;
	}
	return true;
}

/* Sort by words and comparisons; if the words prove wrong, by comparisons alone (K2). */
static void
sort_by_order(SfxSpool *s, SfxItem *tmp)
{
	sfx_item_sort_by(s->items, tmp, s->nitems, cmp_in_memory,
					 s->raw > 0 || s->transform ? next_words : NULL, s, check_interrupts);
	if (s->transform == NULL || (s->raw == 0 && !s->abbreviates) ||
		SFX_MUTANT("words unproved") || in_order(s))
		return;
	s->abbreviates = false;
	for (Size i = 0; i < s->nitems; i++)
		s->items[i].word = 0;
	sfx_item_sort_by(s->items, tmp, s->nitems, cmp_in_memory, NULL, s, check_interrupts);
}

static void
sort_in_memory(SfxSpool *s)
{
	SfxItem    *tmp = MemoryContextAllocHuge(s->cxt, Max(s->nitems, 1) * sizeof(SfxItem));

	if (s->build->order)
		sort_by_order(s, tmp);
	else
		sfx_item_sort(s->items, tmp, s->nitems, check_interrupts);
	pfree(tmp);
}

/* ---- in files ---- */

/* Create a file, last in the list. */
static SfxSorted *
create_file(SfxSpool *s, int level)
{
	SpoolFile  *f = &s->file[s->nfiles++];
	SfxSorted  *file;

	f->level = level;
	if (s->shared && s->next_number >> NUMBER_BITS != 0)
		elog(ERROR, "surfidx: too many temporary files for index \"%s\"", RelationGetRelationName(s->build->index));
	f->number = (uint32) s->part << NUMBER_BITS | s->next_number++;
	file = sfx_sorted_create(s->shared ? &s->shared->files.fs : NULL, f->number);
	f->file = s->shared ? NULL : file;
	return file;
}

/* Begin a merge of n files. */
static SfxSortedMerge *
merge_files(SfxSpool *s, const SpoolFile *f, int n)
{
	SfxSorted **files = palloc(sizeof(SfxSorted *) * Max(n, 1));
	SfxSortedMerge *merge;

	for (int i = 0; i < n; i++)
		files[i] = f[i].file ? f[i].file : sfx_sorted_open(&s->shared->files.fs, f[i].number);
	merge = sfx_sorted_merge_begin(files, n, s->limit, s->build->order ? cmp_items : NULL, s);
	pfree(files);
	return merge;
}

/* Merge the last n files into one. */
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

/* Sort what is in memory, and write it to a file. */
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

/* Tell the leader which files have our items. */
static void
publish_files(SfxSpool *s)
{
	for (int i = 0; i < s->nfiles; i++)
		s->shared->part[s->part].file[i] = s->file[i].number;
	s->shared->part[s->part].nfiles = s->nfiles;
}

/* Begin the merge of what all participants have left. */
static SfxSortedMerge *
merge_parts(SfxSpool *s)
{
	SpoolFile  *f = palloc(sizeof(SpoolFile) * SFX_SPOOL_FILES * s->shared->nparts);
	SfxSortedMerge *merge;
	int			n = 0;

	for (int p = 0; p < s->shared->nparts; p++)
		for (int i = 0; i < s->shared->part[p].nfiles; i++)
			f[n++] = (SpoolFile) {NULL, s->shared->part[p].file[i], 0};
	merge = merge_files(s, f, n);
	pfree(f);
	return merge;
}

/* ---- public functions ---- */

SfxSpool *
sfx_spool_begin(const SfxBuild *b, int workmem, const SfxSpoolPart *part)
{
	SfxSpool   *s = palloc0(sizeof(SfxSpool));

	s->build = b;
	s->cxt = CurrentMemoryContext;
	s->limit = Max((Size) workmem * 1024, LEAST_MEMORY);
	s->chunk_size = Min(Max(s->limit / 16, LEAST_CHUNK), MOST_CHUNK);
	if (part)
	{
		s->shared = part->shared;
		s->part = part->number;
	}
	if (b->order)
		begin_words(s);
	return s;
}

void
sfx_spool_put(SfxSpool *s, const uint8 *item, int len, Datum value, bool isnull)
{
	SfxItem    *to;
	uint8	   *at;

	if (!make_room(s, 2 + len))
	{
		write_out(s);
		/* there is room for some items in any case */
		if (!make_room(s, 2 + len))
			elog(ERROR, "surfidx: no memory to sort the items of index \"%s\"", RelationGetRelationName(s->build->index));
	}
	at = s->chunks[s->nchunks - 1] + s->used;
	sfx_put16(at, (uint16) len);
	memcpy(at + 2, item, len);
	to = &s->items[s->nitems++];
	sfx_item_set(to, at);
	s->used += 2 + len;
	if (s->build->order)
	{
		to->word = first_word(s, item, len, value, isnull);
		look_at_words(s);
	}
}

void
sfx_spool_perform(SfxSpool *s)
{
	if (s->shared && s->part < 0)
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
	if (s->merge)
		sfx_sorted_merge_end(s->merge);
	free_memory(s);
	pfree(s);
}
