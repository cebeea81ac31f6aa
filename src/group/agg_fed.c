/*-------------------------------------------------------------------------
 * agg_fed.c - any aggregate, by its own functions
 *
 * The aggregate's transition function is called for each entry, in index order, with arguments that
 * were computed once for equal keys.  Calls are those of core's Agg (Y9): the same order, strictness,
 * memory contexts, copies, and an AggState as the caller, which functions ask for the context that
 * lasts as long as the group (AggCheckCallContext and its like).
 */
#include "surfidx.h"
#include "agg_partial.h"
#include "agg_value_impl.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "executor/executor.h"
#include "executor/nodeAgg.h"
#include "parser/parse_agg.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

/* An aggregate's functions. */
typedef struct SfxFed
{
	AggStatePerTransData pertrans;	/* for AggGetAggref() */
	FmgrInfo	transfn;
	FmgrInfo	last;			/* makes the result of a state; fn_oid 0: there is none */
	int			nlast;			/* its arguments */
	int16		lastlen;		/* of its result */
	int			nargs;			/* those of transfn beside the state */
	int16		typlen;			/* of states */
	bool		typbyval;
	NullableDatum initial;
	FunctionCallInfo call;		/* of transfn */
	struct FedState *open;		/* the state to which values are added */
} SfxFed;

/* A group's state.  It stands in its own context. */
typedef struct FedState
{
	ExprContext context;
	NullableDatum value;
	bool		none;			/* the first value that is not NULL will be the state */
} FedState;

/* ---- functions ---- */

static Datum
initial_state(HeapTuple tup, Oid type, bool *isnull)
{
	Datum		initial = SysCacheGetAttr(AGGFNOID, tup, Anum_pg_aggregate_agginitval, isnull);
	Oid			input;
	Oid			param;

	if (*isnull)
		return (Datum) 0;
	getTypeInputInfo(type, &input, &param);
	return OidInputFunctionCall(input, TextDatumGetCString(initial), param, -1);
}

/* The function that makes a value or, for core's final step, bytes of a state. */
static void
find_last(SfxFed *fed, const Aggref *agg, Form_pg_aggregate form, Oid *types, int n)
{
	Expr	   *expr;

	fed->nlast = 1;
	fed->lastlen = get_typlen(agg->aggtype);
	if (sfx_agg_is_partial(agg))
	{
		if (agg->aggtranstype != INTERNALOID)
			return;
		fmgr_info(form->aggserialfn, &fed->last);
		build_aggregate_serialfn_expr(form->aggserialfn, &expr);
	}
	else
	{
		if (!OidIsValid(form->aggfinalfn))
			return;
		if (form->aggfinalextra)
			fed->nlast += n;
		fmgr_info(form->aggfinalfn, &fed->last);
		build_aggregate_finalfn_expr(types, fed->nlast, agg->aggtranstype, agg->aggtype,
									 agg->inputcollid, form->aggfinalfn, &expr);
	}
	fmgr_info_set_expr((Node *) expr, &fed->last);
}

/* What functions take for the node that calls them. */
static AggState *
create_caller(const SfxAggregates *a)
{
	AggState   *caller = makeNode(AggState);

	caller->tmpcontext = makeNode(ExprContext);
	caller->tmpcontext->ecxt_per_query_memory = a->cxt;
	caller->tmpcontext->ecxt_per_tuple_memory =
		AllocSetContextCreate(a->cxt, "surfidx transition", ALLOCSET_DEFAULT_SIZES);
	return caller;
}

/* Core's error, if the first value would be the state and is not of its type. */
static void
check_first_value(const SfxFed *fed, const Aggref *agg, const Oid *types)
{
	if (fed->transfn.fn_strict && fed->initial.isnull &&
		(fed->nargs == 0 || !IsBinaryCoercible(types[0], agg->aggtranstype)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("aggregate %u needs to have compatible input type and transition type",
						agg->aggfnoid)));
}

SfxFed *
sfx_fed_create(const Aggref *agg)
{
	SfxFed	   *fed = palloc0(sizeof(SfxFed));
	HeapTuple	tup = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(agg->aggfnoid));
	Form_pg_aggregate form;
	Oid			types[FUNC_MAX_ARGS];
	Expr	   *expr;

	if (!HeapTupleIsValid(tup))
		elog(ERROR, "cache lookup failed for aggregate %u", agg->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tup);
	fed->pertrans.aggref = unconstify(Aggref *, agg);
	fed->nargs = get_aggregate_argtypes(unconstify(Aggref *, agg), types);
	fmgr_info(form->aggtransfn, &fed->transfn);
	build_aggregate_transfn_expr(types, fed->nargs, 0, agg->aggvariadic, agg->aggtranstype,
								 agg->inputcollid, form->aggtransfn, InvalidOid, &expr, NULL);
	fmgr_info_set_expr((Node *) expr, &fed->transfn);
	fed->call = palloc0(SizeForFunctionCallInfo(fed->nargs + 1));
	InitFunctionCallInfoData(*fed->call, &fed->transfn, fed->nargs + 1, agg->inputcollid, NULL, NULL);
	get_typlenbyval(agg->aggtranstype, &fed->typlen, &fed->typbyval);
	fed->initial.value = initial_state(tup, agg->aggtranstype, &fed->initial.isnull);
	check_first_value(fed, agg, types);
	find_last(fed, agg, form, types, fed->nargs);
	ReleaseSysCache(tup);
	return fed;
}

void
sfx_fed_begin(SfxAggregates *a, SfxFed *fed)
{
	if (a->caller == NULL)
		a->caller = create_caller(a);
	fed->call->context = (Node *) a->caller;
}

/* ---- states ---- */

static FedState *
begin_state(SfxAggregates *a, const SfxFed *fed)
{
	MemoryContext cxt = AllocSetContextCreate(a->cxt, "surfidx aggregate",
											  ALLOCSET_START_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	FedState   *state = palloc0(sizeof(FedState));

	state->context.type = T_ExprContext;
	state->context.ecxt_per_query_memory = cxt;
	state->context.ecxt_per_tuple_memory = cxt;
	state->value = fed->initial;
	state->none = fed->initial.isnull;
	if (!fed->initial.isnull)
		state->value.value = datumCopy(fed->initial.value, fed->typbyval, fed->typlen);
	MemoryContextSwitchTo(old);
	return state;
}

static FedState *
state_of(SfxAggregates *a, const SfxFed *fed, SfxAggState *s)
{
	if (!s->have)
	{
		s->value = PointerGetDatum(begin_state(a, fed));
		s->have = true;
	}
	return (FedState *) DatumGetPointer(s->value);
}

void
sfx_fed_clear(SfxAggState *s)
{
	FedState   *state = (FedState *) DatumGetPointer(s->value);
	MemoryContext cxt = state->context.ecxt_per_tuple_memory;

	/* AggRegisterCallback() */
	if (state->context.ecxt_callbacks)
		ReScanExprContext(&state->context);
	MemoryContextDelete(cxt);
}

/* As core does it: a state that is not in the group's context is copied there, the old one freed. */
static pg_noinline Datum
keep_state(const SfxFed *fed, FedState *state, Datum value, bool isnull)
{
	MemoryContext cxt = state->context.ecxt_per_tuple_memory;

	if (isnull)
		value = (Datum) 0;
	else if (!DatumIsReadWriteExpandedObject(value, false, fed->typlen) ||
			 MemoryContextGetParent(DatumGetEOHP(value)->eoh_context) != cxt)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);

		value = datumCopy(value, fed->typbyval, fed->typlen);
		MemoryContextSwitchTo(old);
	}
	if (state->value.isnull)
		return value;
	if (DatumIsReadWriteExpandedObject(state->value.value, false, fed->typlen))
		DeleteExpandedObject(state->value.value);
	else
		pfree(DatumGetPointer(state->value.value));
	return value;
}

/* A strict function is not called with NULL, and the first value may be the state. */
static bool
is_passed_over(const SfxFed *fed, FedState *state, const NullableDatum *arg)
{
	for (int i = 0; i < fed->nargs; i++)
		if (arg[i].isnull)
			return true;
	if (state->none)
	{
		MemoryContext old = MemoryContextSwitchTo(state->context.ecxt_per_tuple_memory);

		state->value.value = datumCopy(arg[0].value, fed->typbyval, fed->typlen);
		state->value.isnull = state->none = false;
		MemoryContextSwitchTo(old);
		return true;
	}
	return state->value.isnull;
}

static inline void
call(const SfxFed *fed, FedState *state, const NullableDatum *arg, MemoryContext scratch)
{
	FunctionCallInfo fcinfo = fed->call;
	Datum		result;

	if (!scratch->isReset)
		MemoryContextReset(scratch);
	fcinfo->args[0] = state->value;
	for (int i = 0; i < fed->nargs; i++)
		fcinfo->args[i + 1] = arg[i];
	fcinfo->isnull = false;
	result = FunctionCallInvoke(fcinfo);
	if (!fed->typbyval && DatumGetPointer(result) != DatumGetPointer(state->value.value))
		result = keep_state(fed, state, result, fcinfo->isnull);
	state->value.value = result;
	state->value.isnull = fcinfo->isnull;
}

void
sfx_fed_open(SfxAggregates *a, const SfxAggMethod *m, SfxAggState *s)
{
	m->out.fed->open = state_of(a, m->out.fed, s);
	a->caller->curaggcontext = &m->out.fed->open->context;
	a->caller->curpertrans = &m->out.fed->pertrans;
}

void
sfx_fed_add(SfxAggregates *a, const SfxAggMethod *m, const NullableDatum *arg, int times)
{
	SfxFed	   *fed = m->out.fed;
	MemoryContext scratch = a->caller->tmpcontext->ecxt_per_tuple_memory;
	MemoryContext old = MemoryContextSwitchTo(scratch);

	while (times-- > 0)
		if (!fed->transfn.fn_strict || !is_passed_over(fed, fed->open, arg))
			call(fed, fed->open, arg, scratch);
	MemoryContextSwitchTo(old);
}

Datum
sfx_fed_value(SfxAggregates *a, const SfxAggMethod *m, const SfxAggState *s, bool *isnull)
{
	SfxFed	   *fed = m->out.fed;
	const FedState *state = state_of(a, fed, unconstify(SfxAggState *, s));

	LOCAL_FCINFO(fcinfo, FUNC_MAX_ARGS);
	Datum		value = MakeExpandedObjectReadOnly(state->value.value, state->value.isnull, fed->typlen);
	Datum		result;

	*isnull = state->value.isnull;
	if (!OidIsValid(fed->last.fn_oid))
		return value;
	/* the arguments after the state are NULL */
	if (fed->last.fn_strict && (state->value.isnull || fed->nlast > 1))
	{
		*isnull = true;
		return (Datum) 0;
	}
	sfx_fed_open(a, m, unconstify(SfxAggState *, s));
	InitFunctionCallInfoData(*fcinfo, &fed->last, fed->nlast,
							 sfx_agg_is_partial(m->out.aggref) ? InvalidOid : m->out.aggref->inputcollid,
							 (Node *) a->caller, NULL);
	fcinfo->args[0].value = value;
	fcinfo->args[0].isnull = state->value.isnull;
	for (int i = 1; i < fed->nlast; i++)
		fcinfo->args[i] = (NullableDatum) {.isnull = true};
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	/* a reader of the output may not change it for others */
	return MakeExpandedObjectReadOnly(result, *isnull, fed->lastlen);
}
