/*-------------------------------------------------------------------------
 * inspect_stats.c - surfidx_stats(): what an index consists of and what merges have done, as a row;
 * surfidx_leaf_keys(): what its leaves have of keys
 *
 * What the metapage counts is exact as of now.  What only pages tell comes from a random sample of
 * the file's blocks, or from all of them if the sample is as large as that.  Blocks are classified
 * one by one by what they say of themselves, so it does not matter that the tree changes meanwhile.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "column.h"
#include "counters.h"
#include "index_open.h"
#include "inspect.h"
#include "leaf_limit.h"
#include "log.h"
#include "meta.h"
#include "order.h"
#include "page.h"
#include "recover.h"
#include "settings.h"
#include "sql_rows.h"
#include "subxact.h"

#include "access/relation.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/sampling.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(surfidx_stats);
PG_FUNCTION_INFO_V1(surfidx_leaf_keys);

enum
{
	ST_BYTES, ST_BLOCKS, ST_SAMPLED, ST_ENTRIES, ST_DELTA_ENTRIES, ST_DEAD_ENTRIES, ST_GENERATIONS, ST_RUNS, ST_LEVELS,
	ST_PER_ENTRY, ST_KEYS, ST_TIDS, ST_PAYLOAD, ST_LEAF_OTHER, ST_LEAF_FREE, ST_INNER, ST_FILTERS, ST_DELTA, ST_DICTIONARIES, ST_FREE, ST_META,
	ST_FILL, ST_CODECS, ST_DICTS,
	ST_MERGES, ST_MERGED, ST_GROUPS, ST_LEAVES_WRITTEN, ST_BYTES_WRITTEN, ST_SECONDS, ST_AMPLIFICATION,
	ST_FILTERS_ASKED, ST_FILTERS_DENIED, ST_FILTERS_WRONG,
	ST_READ_AHEAD, ST_READ_IN_VAIN,
	STATS_COLUMNS
};

enum
{
	LK_KEYS, LK_LEAVES, LK_CUT_LEAVES, LK_CUT_ENTRIES, LK_READ, LK_MERGED, LK_LEAVES_CUT,
	LK_LEAVES_WHOLE, LK_CHANGED, LK_LIMIT, LK_SIZE, LK_OVER,
	KEYS_COLUMNS
};

/* Sums over the blocks that were looked at. */
typedef struct Sample
{
	int64		blocks;
	int64		leaf;			/* blocks of each kind */
	int64		inner;
	int64		filter;
	int64		log;
	int64		dict;
	int64		free;
	int64		meta;			/* and gates */
	int64		dead;			/* flagged entries of the log */
	SfxLeafSums leaves;
	SfxDictSum	dicts[SFX_MAX_DICTS];
} Sample;

/*
 * Classify a block by its kind, and add what it holds to *s.  ERROR if a leaf or a log page is
 * damaged.
 */
static void
count_block(Relation index, const SfxOrder *order, const SfxMeta *meta, BlockNumber blkno, BufferAccessStrategy strategy, Sample *s)
{
	PGAlignedBlock page;
	SfxPageTail *tail = sfx_inspect_copy(index, meta, blkno, strategy, page.data);
	int64		dead;

	s->blocks++;
	if (tail == NULL || sfx_page_is_free(page.data, meta))
	{
		s->free++;
		return;
	}
	switch (tail->kind)
	{
		case SFX_PAGE_LEAF:
			s->leaf++;
			sfx_inspect_leaf(index, order, blkno, page.data, &s->leaves);
			sfx_inspect_dicts(index, meta, order, blkno, page.data, s->dicts);
			break;
		case SFX_PAGE_INNER:
			s->inner++;
			break;
		case SFX_PAGE_FILTER:
			s->filter++;
			break;
		case SFX_PAGE_LOG:
			s->log++;
			(void) sfx_inspect_log(index, blkno, page.data, &dead);
			s->dead += dead;
			break;
		case SFX_PAGE_DICT:
			s->dict++;
			break;
		default:
			s->meta++;
			break;
	}
}

/* Look at `want` of the first nblocks blocks, or at all of them (want 0). */
static void
take_sample(Relation index, const SfxMeta *meta, BlockNumber nblocks, int want, Sample *s)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	SfxKeyDesc *kd = palloc(sizeof(SfxKeyDesc));
	const SfxOrder *order;
	BlockSamplerData sampler;

	order = sfx_order_open(index, kd, false);
	BlockSampler_Init(&sampler, nblocks, want == 0 || want > nblocks ? (int) Min(nblocks, PG_INT32_MAX) : want,
					  pg_prng_uint32(&pg_global_prng_state));
	while (BlockSampler_HasMore(&sampler))
	{
		CHECK_FOR_INTERRUPTS();
		count_block(index, order, meta, BlockSampler_Next(&sampler), strategy, s);
	}
	sfx_order_end(order);
	FreeAccessStrategy(strategy);
}

/* Bytes per entry, part by part. */
static void
put_parts(const Sample *s, BlockNumber nblocks, double entries, Datum *values, bool *nulls)
{
	double		scale = (double) nblocks / s->blocks / entries;
	const SfxLeafSums *l = &s->leaves;

	values[ST_PER_ENTRY] = Float8GetDatum((double) nblocks * BLCKSZ / entries);
	values[ST_KEYS] = Float8GetDatum(l->key_bytes * scale);
	values[ST_TIDS] = Float8GetDatum(l->tid_bytes * scale);
	values[ST_PAYLOAD] = Float8GetDatum(l->payload_bytes * scale);
	values[ST_LEAF_OTHER] = Float8GetDatum((l->bytes - l->key_bytes - l->tid_bytes - l->payload_bytes +
											s->leaf * (BLCKSZ - (int64) SFX_BODY_CAPACITY)) * scale);
	values[ST_LEAF_FREE] = Float8GetDatum((s->leaf * (int64) SFX_BODY_CAPACITY - l->bytes) * scale);
	values[ST_INNER] = Float8GetDatum(s->inner * BLCKSZ * scale);
	values[ST_FILTERS] = Float8GetDatum(s->filter * BLCKSZ * scale);
	values[ST_DELTA] = Float8GetDatum(s->log * BLCKSZ * scale);
	values[ST_DICTIONARIES] = Float8GetDatum(s->dict * BLCKSZ * scale);
	values[ST_FREE] = Float8GetDatum(s->free * BLCKSZ * scale);
	values[ST_META] = Float8GetDatum(s->meta * BLCKSZ * scale);
	for (int i = ST_PER_ENTRY; i <= ST_META; i++)
		nulls[i] = false;
}

/*
 * What merges have done since the build.  Amplification: pages written, log pages included, for
 * each log page.
 */
static void
put_work(const SfxMeta *meta, Datum *values, bool *nulls)
{
	const SfxWork *w = &meta->work;

	values[ST_MERGES] = Int64GetDatum((int64) meta->merges);
	values[ST_MERGED] = Int64GetDatum((int64) w->entries);
	values[ST_GROUPS] = Int64GetDatum((int64) w->groups);
	values[ST_LEAVES_WRITTEN] = Int64GetDatum((int64) w->leaves);
	values[ST_BYTES_WRITTEN] = Int64GetDatum((int64) w->pages * BLCKSZ);
	values[ST_SECONDS] = Float8GetDatum(w->usecs / 1e6);
	nulls[ST_AMPLIFICATION] = w->log_pages == 0;
	if (w->log_pages > 0)
		values[ST_AMPLIFICATION] = Float8GetDatum((double) (w->log_pages + w->pages) / w->log_pages);
}

typedef struct StatsOf
{
	Oid			relid;
	int			want;
	Datum	   *values;
	bool	   *nulls;
} StatsOf;

/*
 * Compute all columns of arg, a StatsOf, except the names of the view; NULLs if the index is gone.
 */
static void
stats_of(void *arg)
{
	const StatsOf *of = arg;
	Datum	   *values = of->values;
	bool	   *nulls = of->nulls;
	Relation	index = sfx_open_index_if_there(of->relid);
	Sample		s = {0};
	BlockNumber nblocks;
	uint64		counts[SFX_COUNTS];
	SfxMeta		meta;
	int64		delta;
	int64		entries;

	if (index == NULL)
	{
		memset(nulls, true, sizeof(bool) * STATS_COLUMNS);
		return;
	}
	delta = (int64) sfx_log_count(index, &meta);
	nblocks = RelationGetNumberOfBlocks(index);
	take_sample(index, &meta, nblocks, of->want, &s);
	entries = delta + (int64) sfx_meta_entries(&meta);

	values[ST_BYTES] = Int64GetDatum((int64) nblocks * BLCKSZ);
	values[ST_BLOCKS] = Int64GetDatum(nblocks);
	values[ST_SAMPLED] = Int64GetDatum(s.blocks);
	values[ST_ENTRIES] = Int64GetDatum(entries);
	values[ST_DELTA_ENTRIES] = Int64GetDatum(delta);
	values[ST_DEAD_ENTRIES] = Int64GetDatum((int64) ((double) s.dead * nblocks / s.blocks + 0.5));
	values[ST_GENERATIONS] = Int32GetDatum(meta.ngens);
	values[ST_RUNS] = Int32GetDatum(meta.nruns);
	values[ST_LEVELS] = Int32GetDatum((int32) SfxMetaMain(&meta)->level + 1);
	for (int i = ST_PER_ENTRY; i <= ST_FILL; i++)
		nulls[i] = true;
	if (entries > 0)
		put_parts(&s, nblocks, entries, values, nulls);
	if (s.leaf > 0)
		values[ST_FILL] = Float8GetDatum((double) s.leaves.bytes / s.leaf / SFX_BODY_CAPACITY);
	nulls[ST_FILL] = s.leaf == 0;
	values[ST_CODECS] = sfx_inspect_codecs(&s.leaves);
	values[ST_DICTS] = sfx_inspect_dicts_json(&meta, s.dicts, (double) nblocks / s.blocks);
	put_work(&meta, values, nulls);
	sfx_activity_get(index, counts);
	values[ST_FILTERS_ASKED] = Int64GetDatum((int64) counts[SFX_COUNT_ASKED]);
	values[ST_FILTERS_DENIED] = Int64GetDatum((int64) counts[SFX_COUNT_DENIED]);
	values[ST_FILTERS_WRONG] = Int64GetDatum((int64) counts[SFX_COUNT_WRONG]);
	values[ST_READ_AHEAD] = Int64GetDatum((int64) counts[SFX_COUNT_AHEAD]);
	values[ST_READ_IN_VAIN] = Int64GetDatum((int64) counts[SFX_COUNT_IN_VAIN]);
	relation_close(index, AccessShareLock);
}

/*
 * May the error be caused by the index, or is it one of this session (a cancel, a lock that was not
 * available, no memory)?
 */
static bool
is_of_index(const ErrorData *edata)
{
	int			category = ERRCODE_TO_CATEGORY(edata->sqlerrcode);

	return category != ERRCODE_OPERATOR_INTERVENTION && category != ERRCODE_INSUFFICIENT_RESOURCES &&
		category != ERRCODE_TRANSACTION_ROLLBACK && edata->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE;
}

/* The same; if the index cannot be read, a WARNING and NULLs. */
static void
try_stats_of(StatsOf *of)
{
	ErrorData  *edata = sfx_attempt(stats_of, of);

	if (edata == NULL)
		return;
	if (!is_of_index(edata))
		ReThrowError(edata);
	memset(of->nulls, true, sizeof(bool) * STATS_COLUMNS);
	/* (it may have been dropped after the error) */
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(of->relid)))
		ereport(WARNING,
				(errcode(edata->sqlerrcode),
				 errmsg("index \"%s\" cannot be looked at: %s", get_rel_name(of->relid), edata->message),
				 edata->hint ? errhint("%s", edata->hint) : 0));
}

static void
check_sample(int32 want)
{
	if (want < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the number of blocks to look at must not be negative"),
				 errhint("0 means all of them.")));
}

/*
 * surfidx_stats(index regclass, sample_blocks integer, strict boolean): sample_blocks 0 means all
 * of them.  Not strict: an index that cannot be read is a WARNING and a row of NULLs, so that a
 * query over all indexes goes on.
 */
Datum
surfidx_stats(PG_FUNCTION_ARGS)
{
	Datum		values[STATS_COLUMNS];
	bool		nulls[STATS_COLUMNS] = {0};
	StatsOf		of = {PG_GETARG_OID(0), PG_GETARG_INT32(1), values, nulls};

	check_sample(of.want);
	if (PG_GETARG_BOOL(2))
		stats_of(&of);
	else
		try_stats_of(&of);
	return sfx_one_row(fcinfo, STATS_COLUMNS, values, nulls);
}

/* ---- cut keys ---- */

/* What was counted since the file was made or the server started. */
static void
put_key_counts(Relation index, Datum *values, bool *nulls)
{
	uint64		counts[SFX_COUNTS];

	sfx_activity_get(index, counts);
	values[LK_READ] = Int64GetDatum((int64) counts[SFX_COUNT_READ]);
	values[LK_MERGED] = Int64GetDatum((int64) counts[SFX_COUNT_MERGED]);
	values[LK_LEAVES_CUT] = Int64GetDatum((int64) counts[SFX_COUNT_CUT]);
	values[LK_LEAVES_WHOLE] = Int64GetDatum((int64) counts[SFX_COUNT_WHOLE]);
	values[LK_CHANGED] = TimestampTzGetDatum((TimestampTz) counts[SFX_COUNT_CHANGED]);
	nulls[LK_CHANGED] = counts[SFX_COUNT_CHANGED] == 0;
}

/* The index's size, as size_limit counts it. */
static void
put_limit(Relation index, const SfxMeta *meta, Datum *values, bool *nulls)
{
	SfxKeyDesc *kd = palloc(sizeof(SfxKeyDesc));
	const SfxOrder *order = sfx_order_open(index, kd, false);
	static const char *const name[] = {"full", "cut", "by size_limit"};
	SfxLeafKeys keys = sfx_leaves_wanted(index, order);
	uint64		pages = sfx_limit_pages(index, order, meta);

	values[LK_KEYS] = CStringGetTextDatum(name[keys]);
	if (keys == SFX_LEAVES_BOUND && sfx_opt_size_limit(index) == 0)
		values[LK_KEYS] = CStringGetTextDatum("by size_budget");
	values[LK_SIZE] = Int64GetDatum((int64) pages * BLCKSZ);
	values[LK_LIMIT] = Int64GetDatum((int64) sfx_opt_size_limit(index) * 1024);
	values[LK_OVER] = BoolGetDatum(pages > sfx_limit_in_pages(index));
	nulls[LK_LIMIT] = nulls[LK_OVER] = sfx_opt_size_limit(index) == 0;
	sfx_order_end(order);
}

/*
 * surfidx_leaf_keys(index regclass, sample_blocks integer): sample_blocks as for surfidx_stats().
 */
Datum
surfidx_leaf_keys(PG_FUNCTION_ARGS)
{
	int32		want = PG_GETARG_INT32(1);
	Datum		values[KEYS_COLUMNS];
	bool		nulls[KEYS_COLUMNS] = {0};
	Relation	index;
	BlockNumber nblocks;
	SfxMeta		meta;
	Sample		s = {0};

	check_sample(want);
	index = sfx_open_index_if_there(PG_GETARG_OID(0));
	if (index == NULL)
		PG_RETURN_NULL();
	sfx_meta_read(index, &meta);
	nblocks = RelationGetNumberOfBlocks(index);
	take_sample(index, &meta, nblocks, want, &s);
	values[LK_LEAVES] = Int64GetDatum((int64) SfxMetaMain(&meta)->leaves);
	values[LK_CUT_LEAVES] = Int64GetDatum((int64) SfxMetaMain(&meta)->cut);
	values[LK_CUT_ENTRIES] =
		Int64GetDatum((int64) ((double) s.leaves.cut_entries * nblocks / s.blocks + 0.5));
	put_key_counts(index, values, nulls);
	put_limit(index, &meta, values, nulls);
	relation_close(index, AccessShareLock);
	return sfx_one_row(fcinfo, KEYS_COLUMNS, values, nulls);
}
