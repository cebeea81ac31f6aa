/*-------------------------------------------------------------------------
 * inspect.c - surfidx_meta(), surfidx_runs(), surfidx_dictionaries(), surfidx_filters(): the
 * metapage, runs and filters, as rows
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "counters.h"
#include "filter_page.h"
#include "find.h"
#include "index_open.h"
#include "inner.h"
#include "inspect.h"
#include "log.h"
#include "meta.h"
#include "order.h"
#include "page.h"
#include "settings.h"
#include "sql_rows.h"

#include "access/relation.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(surfidx_meta);
PG_FUNCTION_INFO_V1(surfidx_runs);
PG_FUNCTION_INFO_V1(surfidx_filters);
PG_FUNCTION_INFO_V1(surfidx_page_counts);
PG_FUNCTION_INFO_V1(surfidx_dictionaries);

#define META_COLUMNS	14
#define RUN_COLUMNS		6
#define DICT_COLUMNS	4

/*
 * surfidx_meta(index regclass): the metapage, as a row.  Where its lists are damaged (fault) nobody
 * follows them: the entries of the delta, for which its log is visited, are NULL then.
 */
Datum
surfidx_meta(PG_FUNCTION_ARGS)
{
	Relation	index = sfx_open_index_if_there(PG_GETARG_OID(0));
	Datum		values[META_COLUMNS];
	bool		nulls[META_COLUMNS] = {0};
	SfxMeta		meta;
	SfxRun		none = {0};
	SfxRun	   *run;
	uint64		entries = 0;
	int			i = 0;
	const char *fault;

	if (index == NULL)
		PG_RETURN_NULL();
	fault = sfx_meta_look(index, &meta);
	if (fault == NULL)
		entries = sfx_log_count(index, &meta);
	run = meta.nruns > 0 ? SfxMetaMain(&meta) : &none;
	values[i++] = Int32GetDatum(meta.version);
	values[i++] = CStringGetTextDatum(psprintf("%016llx", (unsigned long long) meta.build_id));
	values[i++] = Int64GetDatum((int64) meta.epoch);
	values[i++] = Int64GetDatum((int64) meta.removals);
	values[i++] = Int32GetDatum(meta.ngens);
	values[i++] = Int32GetDatum(meta.ngens - 1);
	values[i++] = Int64GetDatum((int64) sfx_meta_log_pages(&meta));
	nulls[i] = fault != NULL;
	values[i++] = Int64GetDatum((int64) entries);
	values[i++] = Int64GetDatum((int64) meta.merges);
	values[i++] = Int64GetDatum((int64) run->root);
	values[i++] = Int32GetDatum((int32) run->level);
	values[i++] = Int64GetDatum((int64) run->entries);
	values[i++] = Int64GetDatum((int64) run->leaves);
	nulls[i] = fault == NULL;
	values[i++] = fault ? CStringGetTextDatum(fault) : (Datum) 0;
	Assert(i == META_COLUMNS);
	relation_close(index, AccessShareLock);
	return sfx_one_row(fcinfo, META_COLUMNS, values, nulls);
}

/* The runs, newest first; the last one is the main tree. */
Datum
surfidx_runs(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;
	Relation	index = sfx_open_index_if_there(PG_GETARG_OID(0));
	SfxMeta		meta;

	rsinfo = sfx_many_rows(fcinfo, RUN_COLUMNS);
	if (index == NULL)
		return (Datum) 0;
	(void) sfx_meta_look(index, &meta);
	for (int r = 0; r < meta.nruns; r++)
	{
		SfxRun	   *run = &meta.runs[r];
		Datum		values[RUN_COLUMNS];
		bool		nulls[RUN_COLUMNS] = {0};

		values[0] = Int64GetDatum((int64) run->id);
		values[1] = Int64GetDatum((int64) run->root);
		values[2] = Int32GetDatum((int32) run->level);
		values[3] = Int64GetDatum((int64) run->entries);
		values[4] = Int64GetDatum((int64) run->leaves);
		values[5] = BoolGetDatum(meta.resume[SFX_RESUME_RUN].source == run->id);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	relation_close(index, AccessShareLock);
	return (Datum) 0;
}

/* The dictionaries of keys, oldest first. */
Datum
surfidx_dictionaries(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;
	Relation	index = sfx_open_index_if_there(PG_GETARG_OID(0));
	SfxMeta		meta;

	rsinfo = sfx_many_rows(fcinfo, DICT_COLUMNS);
	if (index == NULL)
		return (Datum) 0;
	(void) sfx_meta_look(index, &meta);
	for (uint32 i = 0; i < meta.ndicts; i++)
	{
		SfxDictRef *ref = &meta.dict[i];
		Datum		values[DICT_COLUMNS];
		bool		nulls[DICT_COLUMNS] = {0};

		values[0] = Int64GetDatum((int64) ref->number);
		values[1] = CStringGetTextDatum(sfx_hope_name(ref->scheme));
		values[2] = Int32GetDatum((int32) ref->len);
		values[3] = Float8GetDatum(SfxDictRate(ref) / 1000.0);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	relation_close(index, AccessShareLock);
	return (Datum) 0;
}

/* ---- filters ---- */

#define FILTER_COLUMNS	5

typedef struct FilterSums
{
	int64		filters;
	int64		leaves;			/* all */
	int64		covered;
	int64		keys;
	int64		bytes;
	BlockNumber last;			/* the filter of the leaf before */
} FilterSums;

/* Add one filter's keys and bytes; nothing if it is gone by now. */
static void
sum_filter(const SfxTree *t, const SfxChild *child, FilterSums *sums)
{
	Buffer		buf = sfx_read_linked(t->index, child->filter, NULL);
	Page		page = BufferGetPage(buf);
	SfxFilter	f;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	if (sfx_filter_page_open(t->index, t->order, t->meta->build_id, t->run, child->filter, page,
							 &child->low, false, &f))
	{
		sums->filters++;
		sums->keys += f.nkeys;
		sums->bytes += SfxPageBodyLen(page);
	}
	UnlockReleaseBuffer(buf);
}

/* An SfxChildVisit: neighbors share a filter. */
static void
sum_leaf(const SfxTree *t, const SfxChild *leaf, void *arg)
{
	FilterSums *sums = arg;

	sums->leaves++;
	sums->covered += leaf->filter != 0;
	if (leaf->filter != 0 && leaf->filter != sums->last)
		sum_filter(t, leaf, sums);
	sums->last = leaf->filter;
}

/*
 * surfidx_filters(index regclass): the sums of all filters of all runs, as a row.  Every page above
 * the leaves is read.
 */
Datum
surfidx_filters(PG_FUNCTION_ARGS)
{
	Relation	index = sfx_open_index_if_there(PG_GETARG_OID(0));
	SfxKeyDesc *kd = palloc(sizeof(SfxKeyDesc));
	Datum		values[FILTER_COLUMNS];
	bool		nulls[FILTER_COLUMNS] = {0};
	FilterSums	sums = {0};
	SfxMeta		meta;
	int			i = 0;
	const SfxOrder *order;

	if (index == NULL)
		PG_RETURN_NULL();
	order = sfx_order_open(index, kd, false);
	sfx_meta_read(index, &meta);
	for (int r = 0; r < meta.nruns; r++)
	{
		sums.leaves += meta.runs[r].level == 0;
		(void) sfx_tree_children(SfxTreeOf(index, order, &meta, meta.runs[r].id), 1, sum_leaf,
								 &sums);
	}
	sfx_order_end(order);
	values[i++] = Int64GetDatum(sums.filters);
	values[i++] = Int64GetDatum(sums.leaves);
	values[i++] = Int64GetDatum(sums.covered);
	values[i++] = Int64GetDatum(sums.keys);
	values[i++] = Int64GetDatum(sums.bytes);
	Assert(i == FILTER_COLUMNS);
	relation_close(index, AccessShareLock);
	return sfx_one_row(fcinfo, FILTER_COLUMNS, values, nulls);
}

/*
 * surfidx_page_counts(): the leaves that this session has read, and how its filters answered, as a
 * row
 */
Datum
surfidx_page_counts(PG_FUNCTION_ARGS)
{
	Datum		values[4];
	bool		nulls[4] = {0};

	values[0] = Int64GetDatum((int64) sfx_leaves_read);
	values[1] = Int64GetDatum((int64) sfx_filter_counts.asked);
	values[2] = Int64GetDatum((int64) sfx_filter_counts.denied);
	values[3] = Int64GetDatum((int64) sfx_filter_counts.wrong);
	return sfx_one_row(fcinfo, 4, values, nulls);
}
