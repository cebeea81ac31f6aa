/*-------------------------------------------------------------------------
 * agg_bucket.c - groups of neighbouring values: functions that ascend
 *
 * Groups by an ascending function of a column are neighbours in the column's order, and the end of
 * each is found by bisection.  That a function ascends has to be proven for each function.  These
 * do:
 *
 *	date_bin		counts strides from an origin; with time zone it counts in UTC
 *	date_trunc		of timestamp without time zone: fields of the calendar are cut off, lower ones first
 *	date			of timestamp without time zone
 *
 * date_trunc with time zone does not: where clocks are set back over midnight a day comes again.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_bucket.h"
#include "key.h"

#include "catalog/pg_statistic.h"
#include "common/int.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/timestamp.h"

/* days of a stride, at most: a thousand years */
#define STRIDE_DAYS		365000

struct SfxBucket
{
	FmgrInfo	fn;
	MemoryContext cxt;			/* garbage of calls */
	double		width;			/* of a bucket, in microseconds, about */
	int64		exact;			/* Y16: the exact width, for results from least on; 0: it varies */
	int64		least;
	bool		date;			/* results are dates */
	int			arg;			/* the argument that is the column's value */
	/* ready to be called, but for the value */
	FunctionCallInfoBaseData *call;
};

/* The units that the function accepts. */
static const struct
{
	const char *name;
	double		width;
}			units[] =

{
	{"microseconds", 1}, {"milliseconds", 1000}, {"second", USECS_PER_SEC},
	{"minute", USECS_PER_MINUTE}, {"hour", USECS_PER_HOUR}, {"day", USECS_PER_DAY},
	{"week", 7.0 * USECS_PER_DAY}, {"month", 30.0 * USECS_PER_DAY},
	{"quarter", 91.0 * USECS_PER_DAY}, {"year", 365.0 * USECS_PER_DAY},
	{"decade", 3652.0 * USECS_PER_DAY}, {"century", 36524.0 * USECS_PER_DAY},
	{"millennium", 365242.0 * USECS_PER_DAY}
};

/* Microseconds of a unit; 0: it is not known. */
static double
unit_width(const Const *unit)
{
	char	   *name = TextDatumGetCString(unit->constvalue);

	for (int i = 0; i < lengthof(units); i++)
		if (pg_strcasecmp(name, units[i].name) == 0)
			return units[i].width;
	return 0;
}

static bool
is_stride(const Const *stride)
{
	const Interval *i = DatumGetIntervalP(stride->constvalue);

	/* an infinite one has months */
	return i->month == 0 && i->day >= 0 && i->time >= 0 && (i->day > 0 || i->time > 0) &&
		i->day < STRIDE_DAYS && i->time < STRIDE_DAYS * USECS_PER_DAY;
}

/* Does the function ascend with its column? */
static bool
ascends(const FuncExpr *f)
{
	const Const *first = linitial(f->args);

	switch (f->funcid)
	{
		case F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP:
		case F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ:
			return IsA(first, Const) && !first->constisnull && is_stride(first);
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
			return IsA(first, Const) && !first->constisnull && unit_width(first) > 0;
		case F_DATE_TIMESTAMP:
			return true;
		default:
			return false;
	}
}

Var *
sfx_bucket_column(const Node *expr, Oid eqop)
{
	const FuncExpr *f = (const FuncExpr *) expr;
	Oid			equal = get_opcode(eqop);
	Var		   *column = NULL;

	if (!IsA(f, FuncExpr) || !ascends(f) ||
		(equal != F_TIMESTAMP_EQ && equal != F_TIMESTAMPTZ_EQ && equal != F_DATE_EQ))
		return NULL;
	for (int i = 0; i < list_length(f->args); i++)
	{
		Node	   *arg = list_nth(f->args, i);

		/* date_bin does not ascend with its origin */
		if (IsA(arg, Var) && i == (f->funcid == F_DATE_TIMESTAMP ? 0 : 1))
			column = (Var *) arg;
		else if (!IsA(arg, Const) || ((Const *) arg)->constisnull)
			return NULL;
	}
	return column;
}

/* Width of a bucket in microseconds, about. */
static double
width_of(const FuncExpr *f)
{
	const Const *first = linitial(f->args);
	const Interval *stride;

	if (f->funcid == F_DATE_TIMESTAMP)
		return USECS_PER_DAY;
	if (f->funcid == F_DATE_TRUNC_TEXT_TIMESTAMP)
		return unit_width(first);
	stride = DatumGetIntervalP(first->constvalue);
	return stride->day * (double) USECS_PER_DAY + stride->time;
}

double
sfx_bucket_number(PlannerInfo *root, const FuncExpr *expr, Var *column)
{
	VariableStatData stats;
	AttStatsSlot slot;
	double		number = -1;

	examine_variable(root, (Node *) column, 0, &stats);
	if (HeapTupleIsValid(stats.statsTuple) &&
		get_attstatsslot(&slot, stats.statsTuple, STATISTIC_KIND_HISTOGRAM, InvalidOid,
						 ATTSTATSSLOT_VALUES))
	{
		Timestamp	least = DatumGetTimestamp(slot.values[0]);
		Timestamp	most = DatumGetTimestamp(slot.values[slot.nvalues - 1]);

		if (!TIMESTAMP_NOT_FINITE(least) && !TIMESTAMP_NOT_FINITE(most))
			number = ((double) most - (double) least) / width_of(expr) + 2;
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(stats);
	return number;
}

/* Y16: strides count from an origin on; before it, versions differ in where they begin. */
static void
find_exact_width(SfxBucket *b, const FuncExpr *expr)
{
	bool		stride = expr->funcid == F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP ||
	expr->funcid == F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ;
	const Const *origin = llast(expr->args);

	b->least = PG_INT64_MIN;
	/* weeks and longer units follow the calendar */
	if (!stride)
		b->exact = b->width <= USECS_PER_DAY ? (int64) b->width : 0;
	else if (IsA(origin, Const) && !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(origin->constvalue)))
	{
		const Interval *i = DatumGetIntervalP(linitial_node(Const, expr->args)->constvalue);

		b->exact = i->day * USECS_PER_DAY + i->time;
		b->least = DatumGetTimestamp(origin->constvalue);
	}
}

SfxBucket *
sfx_bucket_create(const FuncExpr *expr)
{
	SfxBucket  *b = palloc0(sizeof(SfxBucket));
	int			n = list_length(expr->args);

	b->width = width_of(expr);
	b->date = expr->funcid == F_DATE_TIMESTAMP;
	find_exact_width(b, expr);
	fmgr_info(expr->funcid, &b->fn);
	fmgr_info_set_expr((Node *) expr, &b->fn);
	b->cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx bucket", ALLOCSET_SMALL_SIZES);
	b->call = palloc0(SizeForFunctionCallInfo(n));
	InitFunctionCallInfoData(*b->call, &b->fn, n, expr->inputcollid, NULL, NULL);
	for (int i = 0; i < n; i++)
	{
		const Const *arg = list_nth(expr->args, i);

		if (IsA(arg, Const))
			b->call->args[i].value = arg->constvalue;
		else
			b->arg = i;
	}
	return b;
}

static Datum
call(SfxBucket *b, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(b->cxt);
	Datum		result;

	b->call->args[b->arg].value = value;
	b->call->isnull = false;
	result = FunctionCallInvoke(b->call);
	if (b->call->isnull)
		elog(ERROR, "function %u returned NULL", b->fn.fn_oid);
	MemoryContextSwitchTo(old);
	MemoryContextReset(b->cxt);
	return result;
}

static bool
refuses_value(int sqlerrcode)
{
	return ERRCODE_TO_CATEGORY(sqlerrcode) == ERRCODE_DATA_EXCEPTION ||
		sqlerrcode == ERRCODE_FEATURE_NOT_SUPPORTED;
}

/*
 * Call the function for a row that may be dead, for which nothing may be thrown.  What the function
 * throws can be caught, since these functions hold nothing but memory.  *fails: it has thrown.
 */
static Datum
try_call(SfxBucket *b, Datum value, bool *fails)
{
	MemoryContext old = CurrentMemoryContext;
	volatile Datum result = (Datum) 0;
	volatile bool failed = false;

	PG_TRY();
	{
		result = call(b, value);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(old);
		/* out of memory is no refusal */
		if (!refuses_value(geterrcode()))
			PG_RE_THROW();
		FlushErrorState();
		MemoryContextReset(b->cxt);
		failed = true;
	}
	PG_END_TRY();
	*fails = failed;
	return result;
}

/* Y16: set where the bucket begins and ends, if that follows from its result. */
static void
find_range(const SfxBucket *b, SfxBucketed *bucket)
{
	Timestamp	from;
	Timestamp	to;
	int64		unused;

	if (b->exact == 0)
		return;
	if (!b->date)
		from = DatumGetTimestamp(bucket->value);
	else if (DATE_NOT_FINITE(DatumGetDateADT(bucket->value)))
		return;
	else
		from = DatumGetDateADT(bucket->value) * USECS_PER_DAY;
	if (TIMESTAMP_NOT_FINITE(from) || from < b->least ||
		pg_add_s64_overflow(from, b->exact, &to) || !IS_VALID_TIMESTAMP(to) ||
		(b->least != PG_INT64_MIN && pg_sub_s64_overflow(to, b->least, &unused)))
		return;
	bucket->from = from;
	bucket->to = to;
}

/* The bucket of a value. */
static SfxBucketed
bucket_of(SfxBucket *b, Datum value)
{
	SfxBucketed bucket = {0};
	bool		fails;

	if (SFX_MUTANT("dead rows throw"))
		(void) call(b, value);
	bucket.value = try_call(b, value, &fails);
	if (fails)
	{
		bucket.fails = DatumGetTimestamp(value) < 0 ? -1 : 1;
		bucket.value = value;
	}
	else
		find_range(b, &bucket);
	return bucket;
}

/* The column's value in a key, from the column's marker on; it is not NULL. */
static Datum
value_of(const SfxColumn *col, Relation index, const uint8 *key, uint32 keylen)
{
	Datum		value;

	(void) sfx_value_length(col, index, key + 1, (int) keylen - 1);
	(void) sfx_value_decode(col, key + 1, col->enc->width, &value, NULL);
	return value;
}

SfxBucketed
sfx_bucketed(SfxBucket *b, const SfxColumn *col, Relation index, const uint8 *key, uint32 keylen)
{
	SfxBucketed bucket = {.null = key[0] != SFX_MARK_VALUE};

	Assert(!col->raw && col->typbyval && col->typlen == sizeof(Timestamp));
	return bucket.null ? bucket : bucket_of(b, value_of(col, index, key, keylen));
}

bool
sfx_bucket_has(SfxBucket *b, const SfxColumn *col, Relation index, const SfxBucketed *bucket,
			   const uint8 *key, uint32 keylen)
{
	SfxBucketed other;
	bool		has;

	if (sfx_bucket_has_range(bucket) && key[0] == SFX_MARK_VALUE)
	{
		Timestamp	value = DatumGetTimestamp(value_of(col, index, key, keylen));

		has = value >= bucket->from && value < bucket->to + SFX_MUTANT("buckets too long");
#ifdef USE_ASSERT_CHECKING
		other = bucket_of(b, TimestampGetDatum(value));
		Assert(has == sfx_bucketed_same(&other, bucket) || SFX_MUTANT("buckets too long"));
#endif
		return has;
	}
	other = sfx_bucketed(b, col, index, key, keylen);
	return sfx_bucketed_same(&other, bucket);
}

/* The first value after the bucket, of which `in` is a value; PG_INT64_MIN: unknown. */
static Timestamp
first_behind(SfxBucket *b, const SfxBucketed *bucket, Timestamp in)
{
	Timestamp	out;
	SfxBucketed other;

	if (sfx_bucket_has_range(bucket))
		return bucket->to;
	if (TIMESTAMP_NOT_FINITE(in) ||
		pg_add_s64_overflow(in, (int64) (2 * b->width) + 1, &out) || !IS_VALID_TIMESTAMP(out))
		return PG_INT64_MIN;
	other = bucket_of(b, TimestampGetDatum(out));
	if (sfx_bucketed_same(&other, bucket))
		return PG_INT64_MIN;
	while (out - in > 1)
	{
		Timestamp	middle = in + (out - in) / 2;

		other = bucket_of(b, TimestampGetDatum(middle));
		if (sfx_bucketed_same(&other, bucket))
			in = middle;
		else
			out = middle;
	}
	return out;
}

uint32
sfx_bucket_end(SfxBucket *b, const SfxColumn *col, Relation index, const SfxBucketed *bucket,
			   const uint8 *key, uint32 keylen, uint8 *to)
{
	Timestamp	out;

	if (bucket->null || bucket->fails != 0 || col->desc)
		return 0;
	out = first_behind(b, bucket, DatumGetTimestamp(value_of(col, index, key, keylen)));
	if (out == PG_INT64_MIN)
		return 0;
	to[0] = SFX_MARK_VALUE;
	return 1 + col->enc->encode(TimestampGetDatum(out), to + 1, SFX_BUCKET_END - 1);
}

Datum
sfx_bucketed_value(SfxBucket *b, const SfxBucketed *bucket)
{
	if (bucket->fails == 0)
		return bucket->value;
	(void) call(b, bucket->value);
	elog(ERROR, "function %u takes a value that it refused", b->fn.fn_oid);
}
