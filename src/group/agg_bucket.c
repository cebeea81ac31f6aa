/*-------------------------------------------------------------------------
 * agg_bucket.c - groups of neighbouring values
 *
 * Groups by functions of a column are ranges of the column's values, in which none of the functions
 * has a step (agg_step.c).  The functions themselves are called once for each group, when it is
 * given out.
 *
 * Where a step is followed by a value that was there before (a local hour when clocks are set back,
 * each hour of a day), the group comes again, and core merges it by its value (agg_tree.c).  Of
 * functions that ascend none does; where these have no range that is known, before the origin of
 * date_bin or at infinity, their values are compared.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_bucket.h"
#include "key.h"

#include "utils/memutils.h"

struct SfxBucketer
{
	const SfxColumn *col;
	Relation	index;
	const List *steps;
	SfxExprs   *exprs;
	SfxExpr    *once;
	MemoryContext cxt;			/* garbage of calls */
};

SfxBucketer *
sfx_bucketer_create(const SfxColumn *col, Relation index, const List *steps, SfxExprs *exprs,
					SfxExpr *once)
{
	SfxBucketer *b = palloc0(sizeof(SfxBucketer));

	Assert(!col->raw && col->typbyval);
	b->col = col;
	b->index = index;
	b->steps = steps;
	b->exprs = exprs;
	b->once = once;
	b->cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx bucket", ALLOCSET_SMALL_SIZES);
	return b;
}

/* ---- numbers ---- */

static Datum
datum_of(const SfxBucketer *b, int64 value)
{
	return b->col->typlen == 8 ? Int64GetDatum(value) :
		b->col->typlen == 4 ? Int32GetDatum((int32) value) : Int16GetDatum((int16) value);
}

/* The column's value in a key, from the column's marker on; it is not NULL. */
static int64
value_of(const SfxBucketer *b, const uint8 *key, uint32 keylen)
{
	const SfxColumn *col = b->col;
	Datum		value;

	(void) sfx_value_length(col, b->index, key + 1, (int) keylen - 1);
	(void) sfx_value_decode(col, key + 1, col->enc->width, &value, NULL);
	return col->typlen == 8 ? DatumGetInt64(value) :
		col->typlen == 4 ? DatumGetInt32(value) : DatumGetInt16(value);
}

/* ---- values of functions that ascend ---- */

/* The function's value, if it does not refuse the column's: -1 a low one, 1 a high one; -2: NULL. */
typedef struct Called
{
	int			refused;
	Datum		value;
} Called;

static bool
refuses_value(int sqlerrcode)
{
	return ERRCODE_TO_CATEGORY(sqlerrcode) == ERRCODE_DATA_EXCEPTION ||
		sqlerrcode == ERRCODE_FEATURE_NOT_SUPPORTED;
}

static Called
call(SfxBucketer *b, int64 value)
{
	Called		result = {0};
	bool		isnull;

	sfx_exprs_set(b->exprs, sfx_expr_column(b->once), datum_of(b, value), false);
	result.value = sfx_expr_value(b->exprs, b->once, &isnull);
	if (isnull)
		result.refused = -2;
	return result;
}

/*
 * Call the function for a row that may be dead, for which nothing may be thrown.  What the function
 * throws can be caught, since these functions hold nothing but memory.
 */
static Called
try_call(SfxBucketer *b, int64 value)
{
	MemoryContext old = MemoryContextSwitchTo(b->cxt);
	volatile int refused = 0;
	volatile Datum result = (Datum) 0;

	PG_TRY();
	{
		Called		c = call(b, value);

		refused = c.refused;
		result = c.value;
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(old);
		/* out of memory is no refusal */
		if (!refuses_value(geterrcode()))
			PG_RE_THROW();
		FlushErrorState();
		refused = value < 0 ? -1 : 1;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	MemoryContextReset(b->cxt);
	return (Called) {refused, result};
}

static bool
same_value(SfxBucketer *b, int64 value, int64 other)
{
	Called		r = try_call(b, value);
	Called		o = try_call(b, other);

	return r.refused == o.refused && (r.refused != 0 || r.value == o.value);
}

/* ---- buckets ---- */

SfxBucket
sfx_bucket_of(SfxBucketer *b, const uint8 *key, uint32 keylen)
{
	SfxBucket	bucket = {.null = key[0] != SFX_MARK_VALUE};

	if (bucket.null)
		return bucket;
	bucket.at = value_of(b, key, keylen);
	bucket.from = PG_INT64_MIN;
	bucket.to = PG_INT64_MAX;
	foreach_ptr(SfxTimeStep, step, b->steps)
	{
		Timestamp	from;
		Timestamp	to;

		if (!sfx_step_range(step, bucket.at, &from, &to))
		{
			bucket.from = bucket.to = 0;
			break;
		}
		bucket.from = Max(bucket.from, from);
		bucket.to = Min(bucket.to, to) + SFX_MUTANT("buckets too long");
	}
	Assert(bucket.to == 0 || (bucket.from <= bucket.at && bucket.at < bucket.to));
	return bucket;
}

bool
sfx_bucket_has(SfxBucketer *b, const SfxBucket *bucket, const uint8 *key, uint32 keylen)
{
	bool		null = key[0] != SFX_MARK_VALUE;
	int64		value;

	if (null || bucket->null)
		return null == bucket->null || SFX_MUTANT("NULLs in any bucket");
	value = value_of(b, key, keylen);
	if (value == bucket->at || (value >= bucket->from && value < bucket->to))
	{
		Assert(b->once == NULL || same_value(b, value, bucket->at) ||
			   SFX_MUTANT("buckets too long"));
		return true;
	}
	return b->once && same_value(b, value, bucket->at);
}

uint32
sfx_bucket_end(SfxBucketer *b, const SfxBucket *bucket, uint8 *to)
{
	int			len = 0;

	if (!bucket->null && bucket->from < bucket->to && !b->col->desc)
		(void) sfx_column_encode(b->col, datum_of(b, bucket->to), false, to, &len, SFX_BUCKET_END);
	return (uint32) len;
}
