/*-------------------------------------------------------------------------
 * agg_partial.c - sums in the form in which core's partial aggregation passes them to its final
 * step
 *
 * Counts, min and max are their own states.  So are sums of int2 and int4, which are int8; averages
 * of these are arrays of count and sum.  Those of int8 and numeric have internal forms of core's,
 * which core's functions make: any n values with that sum lead to the same state.  For int8 these
 * are two integers that differ by at most 1, each the right number of times; for numerics, the sum
 * itself and zeros.  A value that is added n times is made by doubling states (once for each bit of
 * n).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_partial.h"

#include "port/pg_bitutils.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

static inline Datum
numeric_of(int64 v)
{
	return NumericGetDatum(int64_to_numeric(v));
}

static inline int64
int8_of(Datum numeric)
{
	return DatumGetInt64(DirectFunctionCall1(numeric_int8, numeric));
}

/* ---- states of sums of int8 ---- */

/* Call one of an aggregate's functions, as a node does that aggregates in the current context. */
static Datum
call(PGFunction function, int nargs, NullableDatum a, NullableDatum b)
{
	LOCAL_FCINFO(fcinfo, 2);
	WindowAggState *caller = makeNode(WindowAggState);
	Datum		result;

	caller->curaggcontext = CurrentMemoryContext;
	InitFunctionCallInfoData(*fcinfo, NULL, nargs, InvalidOid, (Node *) caller, NULL);
	fcinfo->args[0] = a;
	fcinfo->args[1] = b;
	result = function(fcinfo);
	pfree(caller);
	if (fcinfo->isnull)
		elog(ERROR, "an aggregate's function returned NULL");
	return result;
}

static const NullableDatum nothing = {.isnull = true};

static inline NullableDatum
something(Datum value)
{
	NullableDatum d = {.value = value};

	return d;
}

/* Functions of a type's aggregates. */
typedef struct Maker
{
	PGFunction	accum;
	PGFunction	combine;
	PGFunction	serialize;
} Maker;

static const Maker int8s = {int8_avg_accum, int8_avg_combine, int8_avg_serialize};
static const Maker numerics = {numeric_avg_accum, numeric_avg_combine, numeric_avg_serialize};

/* Combine two states into a's; b's remains as it was. */
static inline Datum
both(const Maker *m, Datum a, Datum b)
{
	return call(m->combine, 2, something(a), something(b));
}

/* The state after adding one value n > 0 times. */
static Datum
state_of(const Maker *m, Datum v, uint64 n)
{
	Datum		once = call(m->accum, 2, nothing, something(v));
	Datum		state = call(m->combine, 2, nothing, something(once));

	for (int bit = pg_leftmost_one_pos64(n) - 1; bit >= 0; bit--)
	{
		state = both(m, state, call(m->combine, 2, nothing, something(state)));
		if (n & UINT64CONST(1) << bit)
			state = both(m, state, once);
	}
	return state;
}

static Datum
state_of_int8s(Datum sum, uint64 n)
{
	Datum		count = numeric_of((int64) n);
	Datum		mean = DirectFunctionCall2(numeric_div_trunc, sum, count);
	Datum		rest = DirectFunctionCall2(numeric_mod, sum, count);
	int64		each = int8_of(mean);
	int64		more = int8_of(rest);
	int64		next = more < 0 ? each - 1 : each + 1;
	uint64		others = more < 0 ? (uint64) -more : (uint64) more;
	Datum		state = state_of(&int8s, Int64GetDatum(each), n - others);

	Assert(others < n);
	if (others > 0 && !SFX_MUTANT("sums of means"))
		state = both(&int8s, state, state_of(&int8s, Int64GetDatum(next), others));
	return call(int8s.serialize, 1, something(state), nothing);
}

/* The sum has the greatest display scale of the values; zeros have none. */
static Datum
state_of_numerics(Datum sum, uint64 n)
{
	Datum		state = state_of(&numerics, sum, 1);

	if (n > 1)
		state = both(&numerics, state, state_of(&numerics, numeric_of(0), n - 1));
	return call(numerics.serialize, 1, something(state), nothing);
}

/* ---- public functions ---- */

static Datum
state_of_average(int64 n, int64 sum)
{
	Datum		both[2] = {Int64GetDatum(n), Int64GetDatum(sum)};

	return PointerGetDatum(construct_array(both, 2, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

Datum
sfx_partial_sum(const Aggref *agg, Datum sum, uint64 n)
{
	Assert(n > 0);
	switch (agg->aggfnoid)
	{
		case F_SUM_INT2:
		case F_SUM_INT4:
			return Int64GetDatum(int8_of(sum));
		case F_AVG_INT2:
		case F_AVG_INT4:
			return state_of_average((int64) n, int8_of(sum));
		case F_SUM_NUMERIC:
		case F_AVG_NUMERIC:
			return state_of_numerics(sum, n);
		default:
			return state_of_int8s(sum, n);
	}
}

Datum
sfx_partial_none(const Aggref *agg, bool *isnull)
{
	*isnull = agg->aggfnoid != F_AVG_INT2 && agg->aggfnoid != F_AVG_INT4;
	return *isnull ? (Datum) 0 : state_of_average(0, 0);
}
