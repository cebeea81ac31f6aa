/*-------------------------------------------------------------------------
 * agg_partial.c - sums as core passes them from partial aggregation to its end
 *
 * Counts, min and max are their own states.  So are sums of int2 and int4, which are int8; averages
 * of these are arrays of the count and the sum.  Sums and averages of int8 have a form of core's
 * own.  Core's functions make it: any n integers with that sum lead to the same state, so it takes
 * two that differ by at most 1, the one so often, the other the rest of times.  Often is made of
 * states that are added to themselves.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_partial.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "port/pg_bitutils.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

bool
sfx_partial_sum_is_known(const Aggref *agg)
{
	switch (agg->aggfnoid)
	{
		case F_SUM_INT2:
		case F_SUM_INT4:
		case F_SUM_INT8:
		case F_AVG_INT2:
		case F_AVG_INT4:
		case F_AVG_INT8:
			return true;
		default:
			return false;
	}
}

static inline Datum
numeric_of(int64 v)
{
	return NumericGetDatum(int64_to_numeric(v));
}

/* ---- states of sums of int8 ---- */

/* One of an aggregate's functions, called as by a node that aggregates in the current context. */
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

/* b's state is as it was; a's becomes that of both. */
static inline Datum
both(Datum a, Datum b)
{
	return call(int8_avg_combine, 2, something(a), something(b));
}

/* The state after one integer that came n > 0 times. */
static Datum
state_of(int64 v, uint64 n)
{
	Datum		once = call(int8_avg_accum, 2, nothing, something(Int64GetDatum(v)));
	Datum		state = call(int8_avg_combine, 2, nothing, something(once));

	for (int bit = pg_leftmost_one_pos64(n) - 1; bit >= 0; bit--)
	{
		state = both(state, call(int8_avg_combine, 2, nothing, something(state)));
		if (n & UINT64CONST(1) << bit)
			state = both(state, once);
	}
	return state;
}

static Datum
state_of_sum(Datum sum, uint64 n)
{
	Datum		count = numeric_of((int64) n);
	Datum		mean = DirectFunctionCall2(numeric_div_trunc, sum, count);
	Datum		rest = DirectFunctionCall2(numeric_mod, sum, count);
	int64		each = DatumGetInt64(DirectFunctionCall1(numeric_int8, mean));
	int64		more = DatumGetInt64(DirectFunctionCall1(numeric_int8, rest));
	uint64		others = more < 0 ? (uint64) -more : (uint64) more;
	Datum		state = state_of(each, n - others);

	Assert(others < n);
	if (others > 0 && !SFX_MUTANT("sums of means"))
		state = both(state, state_of(more < 0 ? each - 1 : each + 1, others));
	return call(int8_avg_serialize, 1, something(state), nothing);
}

/* ---- all of them ---- */

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
			return DirectFunctionCall1(numeric_int8, sum);
		case F_AVG_INT2:
		case F_AVG_INT4:
			return state_of_average((int64) n, DatumGetInt64(DirectFunctionCall1(numeric_int8, sum)));
		default:
			return state_of_sum(sum, n);
	}
}

Datum
sfx_partial_none(const Aggref *agg, bool *isnull)
{
	*isnull = agg->aggfnoid != F_AVG_INT2 && agg->aggfnoid != F_AVG_INT4;
	return *isnull ? (Datum) 0 : state_of_average(0, 0);
}
