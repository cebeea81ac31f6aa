/*-------------------------------------------------------------------------
 * agg_value.c - aggregating many entries: states, and values from states
 *
 * The rows of all entries that come here are visible.  Entries come many at a time, as a stretch of
 * a decoded block whose keys ascend.  So where the aggregate's column is the one by which they
 * ascend, the ends of the stretch decide; integers that stand at one place in keys of one length
 * are summed in place; all else is decoded value by value.  So are arguments that are computed: once
 * for equal keys.  Sums have 128 bits, and numeric's functions make their results, so these are core's.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_partial.h"
#include "agg_value_impl.h"
#include "catalog_rows.h"
#include "key.h"
#include "payload.h"

#include "catalog/pg_aggregate.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_agg.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

/* ---- set-up ---- */

static inline bool
has_place(const SfxColumn *col)
{
	return !col->raw && col->typbyval && col->enc->direct == SFX_DIRECT_SIGNED &&
		col->enc->width == col->typlen;
}

Oid
sfx_agg_transition(const Aggref *agg)
{
	FormData_pg_aggregate row;

	sfx_row_must_get(AGGFNOID, agg->aggfnoid, &row, sizeof(row));
	return row.aggtransfn;
}

/* Find the aggregate's transition function, as core calls it. */
static void
find_function(SfxAggMethod *m)
{
	const Aggref *agg = m->out.aggref;
	Oid			fn = sfx_agg_transition(agg);
	Oid			types[FUNC_MAX_ARGS];
	Expr	   *expr;
	int			n;

	fmgr_info(fn, &m->transfn);
	n = get_aggregate_argtypes((Aggref *) agg, types);
	build_aggregate_transfn_expr(types, n, 0, false, agg->aggtranstype, agg->inputcollid, fn,
								 InvalidOid, &expr, NULL);
	fmgr_info_set_expr((Node *) expr, &m->transfn);
	get_typlenbyval(agg->aggtranstype, &m->typlen, &m->typbyval);
}

bool
sfx_aggregate_is_numeric(const Aggref *agg)
{
	return agg && (agg->aggfnoid == F_SUM_NUMERIC || agg->aggfnoid == F_AVG_NUMERIC);
}

bool
sfx_aggregate_ends_keys(const SfxKeyDesc *kd, int column)
{
	return column == kd->nkeys - 1 && kd->nrests == 1 && !kd->col[column].raw;
}

/* The form of the values that are taken. */
static void
set_form(const SfxAggregates *a, SfxAggMethod *m, const SfxAggOutput *out)
{
	if (sfx_agg_is_computed(out))
	{
		if (out->aggref->args != NIL)
			get_typlenbyval(exprType((Node *) linitial_node(TargetEntry, out->aggref->args)->expr),
							&m->typlen, &m->typbyval);
		return;
	}
	m->typlen = TupleDescAttr(RelationGetDescr(a->index), out->column)->attlen;
	/* a ROW's value is its entry */
	m->typbyval = TupleDescAttr(RelationGetDescr(a->index), out->column)->attbyval &&
		out->kind != SFX_AGG_ROW;
}

static void
set_method(SfxAggregates *a, SfxAggMethod *m, const SfxAggOutput *out)
{
	const SfxColumn *col;
	bool		key;

	m->out = *out;
	key = sfx_agg_in_key(a, m);
	col = &a->kd->col[key ? out->column : 0];
	set_form(a, m, out);
	if (out->kind == SFX_AGG_LEAST)
		find_function(m);
	if (out->kind == SFX_AGG_FED)
		sfx_fed_begin(a, out->fed);
	m->numeric = sfx_aggregate_is_numeric(out->aggref) && out->kind != SFX_AGG_FED;
	m->last = m->numeric && key && sfx_aggregate_ends_keys(a->kd, out->column);
	m->integer = (!m->numeric && (out->kind == SFX_AGG_SUM || out->kind == SFX_AGG_AVG)) ||
		(out->kind == SFX_AGG_LEAST && out->direction != 0 && key && has_place(col));
	if ((m->integer || out->kind == SFX_AGG_GROUP) && key && has_place(col))
	{
		m->at = sfx_key_place(a->kd, out->column) + 1;
		m->width = col->enc->width;
		m->flip = UINT64CONST(1) << (8 * m->width - 1);
		if (col->desc)
			m->flip = ~m->flip;
	}
}

/* Is the value of a group of one entry a number that stands in the key? */
static bool
has_way_for_one(const SfxAggregates *a, const SfxAggMethod *m)
{
	if (m->out.filter)
		return false;
	return m->out.kind == SFX_AGG_COUNT_ROWS ||
		(m->out.kind == SFX_AGG_COUNT_COLUMN && sfx_agg_in_key(a, m)) ||
		(m->out.kind != SFX_AGG_AVG && m->at > 0 && m->width > 1 &&
		 !(m->out.kind == SFX_AGG_SUM && sfx_agg_is_partial(m->out.aggref)));
}

/* Can the values be taken from coded blocks, if those have the right form? */
static bool
has_coded_way(const SfxAggregates *a, const SfxAggMethod *m)
{
	if (m->out.filter)
		return false;
	switch (m->out.kind)
	{
		case SFX_AGG_COUNT_ROWS:
			return a->keylen > 0;
		case SFX_AGG_COUNT_COLUMN:
			return a->keylen > 0 && sfx_agg_in_key(a, m);
		case SFX_AGG_SUM:
		case SFX_AGG_AVG:
		case SFX_AGG_LEAST:
			return a->keylen > 0 && m->at > 0 && m->width > 1;
		default:
			return false;
	}
}

SfxAggregates *
sfx_aggregates_create(Relation index, const SfxKeyDesc *kd, const SfxOrder *order,
					  SfxExprs *exprs, const SfxAggOutput *outputs, int n)
{
	SfxAggregates *a = palloc0(sizeof(SfxAggregates));

	a->index = index;
	a->kd = kd;
	a->order = order;
	a->exprs = exprs;
	a->cxt = CurrentMemoryContext;
	a->scratch = AllocSetContextCreate(a->cxt, "surfidx aggregates", ALLOCSET_DEFAULT_SIZES);
	a->keylen = kd->nrests > 0 ? 0 : Max(sfx_key_place(kd, kd->nkeys), 0);
	a->n = n;
	a->method = palloc0(n * sizeof(SfxAggMethod));
	a->slow = palloc0(n * sizeof(int));
	a->sum = palloc(n * sizeof(SfxSum));
	a->coded = true;
	a->ones = a->places = a->keylen > 0;
	for (int i = 0; i < n; i++)
	{
		set_method(a, &a->method[i], &outputs[i]);
		a->coded &= has_coded_way(a, &a->method[i]);
		a->ones &= has_way_for_one(a, &a->method[i]);
		if (outputs[i].kind == SFX_AGG_FUNCTION)
			a->places = false;
		if (outputs[i].kind == SFX_AGG_ROW && a->row == NULL)
			a->row = &a->method[i];
		if (outputs[i].kind == SFX_AGG_GROUP)
			a->places &= a->method[i].at > 0 && a->method[i].width > 1;
	}
	return a;
}

bool
sfx_aggregates_need_keys(const SfxAggOutput *outputs, int n)
{
	for (int i = 0; i < n; i++)
		if (outputs[i].kind != SFX_AGG_COUNT_ROWS || sfx_agg_is_filtered(&outputs[i]))
			return true;
	return false;
}

bool
sfx_aggregates_need_order(const SfxAggOutput *outputs, int n)
{
	for (int i = 0; i < n; i++)
		if (outputs[i].kind == SFX_AGG_FED)
			return true;
	return false;
}

/* ---- values of entries ---- */

/* Make rows of entries [from, to); without key columns if these are not used. */
static void
make_rows(SfxAggregates *a, const SfxBlock *block, int from, int to, bool keys)
{
	if (a->rows == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(a->cxt);

		a->rows = sfx_rows_of_block_begin(a->index, a->kd);
		MemoryContextSwitchTo(old);
	}
	memset(a->ready + from, true, to - from);
	if (keys)
		sfx_rows_of_block_make(a->rows, block, from, to - from, a->ready);
	else
		sfx_rows_of_block_make_payloads(a->rows, block, from, to - from);
}

/* All columns of entry i; valid until the next call. */
static inline void
take_row(SfxAggregates *a, const SfxBlock *block, int i, const Datum **values, const bool **isnull)
{
	SfxEntry	e;

	*values = sfx_rows_of_block_values(a->rows) + i * a->kd->natts;
	*isnull = sfx_rows_of_block_nulls(a->rows) + i * a->kd->natts;
	if (a->ready[i])
		return;
	sfx_agg_decode_key(a, block, i, a->kd->nkeys);
	sfx_block_entry(block, i, &e);
	if (e.payload)
		sfx_payload_decode(a->kd, a->index, e.payload, e.paylen, a->values, a->isnull,
						   a->payload_arena->data);
	*values = a->values;
	*isnull = a->isnull;
}

/* Is a key column of an entry NULL? */
static bool
is_null(const SfxAggregates *a, int column, const SfxBlock *block, int i)
{
	SfxEntry	e;
	const uint8 *p;

	sfx_block_entry(block, i, &e);
	p = e.key;
	for (int c = 0; c < column; c++)
		p += sfx_column_length(&a->kd->col[c], a->index, p, (int) (e.key + e.keylen - p));
	return p >= e.key + e.keylen || *p != SFX_MARK_VALUE;
}

/* ---- counts ---- */

static bool
count_values(const SfxAggregates *a, const SfxAggMethod *m, SfxAggState *s, const SfxBlock *block,
			 int from, int to)
{
	int			column = m->out.column;
	bool		null;

	if (!sfx_agg_in_key(a, m))
		return false;
	/* a NULL makes a key shorter */
	if (a->keylen > 0 && block->width == a->keylen)
	{
		s->n += to - from;
		return true;
	}
	if (!m->out.ordered)
		return false;
	null = is_null(a, column, block, from);
	if (is_null(a, column, block, to - 1) != null)
		return false;
	s->n += null ? 0 : to - from;
	return true;
}

/* ---- integers ---- */

/*
 * Sum and compare the integers of entries [from, to).  The width is a constant where this is
 * inlined.
 */
static inline void
reduce(const SfxAggMethod *m, int width, const SfxBlock *block, int from, int to, SfxHalves *sum,
	   int64 *least, int64 *most)
{
	const uint8 *p = block->keys + block->keyoff[sfx_block_keyno(block, from)] + m->at;
	uint32		step = block->width;
	int64		lo = sfx_agg_load(p, width, m->flip);
	int64		hi = lo;

	for (int i = from; i < to; p += step)
	{
		int64		v = sfx_agg_load(p, width, m->flip);
		int			times = 1;

		if (block->dups)
			while (i + times < to && block->keyno[i + times] == block->keyno[i])
				times++;
		sum->high += (v >> 32) * times;
		sum->low += (uint64) (uint32) v * times;
		lo = Min(lo, v);
		hi = Max(hi, v);
		i += times;
	}
	*least = lo;
	*most = hi;
}

static void
reduce_in_place(const SfxAggMethod *m, const SfxBlock *block, int from, int to, SfxHalves *sum,
				int64 *least, int64 *most)
{
	if (m->width == 8)
		reduce(m, 8, block, from, to, sum, least, most);
	else if (m->width == 4)
		reduce(m, 4, block, from, to, sum, least, most);
	else
		reduce(m, 2, block, from, to, sum, least, most);
}

static bool
add_integers(const SfxAggregates *a, const SfxAggMethod *m, SfxAggState *s, const SfxBlock *block,
			 int from, int to)
{
	SfxHalves	sum = {0, 0};
	int64		least,
				most;

	if (!sfx_agg_in_place(a, m, block, from, to))
		return false;
	if (m->out.kind != SFX_AGG_LEAST)
	{
		s->n += to - from;
		reduce_in_place(m, block, from, to, &sum, &least, &most);
		sfx_agg_add_halves(s, &sum);
		return true;
	}
	/* of an ascending column the ends decide */
	if (m->out.ordered)
	{
		reduce_in_place(m, block, from, from + 1, &sum, &least, &most);
		sfx_agg_note_least(m, s, least);
		from = to - 1;
	}
	reduce_in_place(m, block, from, to, &sum, &least, &most);
	sfx_agg_note_least(m, s, m->out.direction > 0 ? least : most);
	return true;
}

/* ---- any type ---- */

/* As core's transition of a strict function, whose state begins as the first value. */
static void
take_least(SfxAggregates *a, SfxAggMethod *m, SfxAggState *s, Datum value)
{
	LOCAL_FCINFO(fcinfo, 2);
	MemoryContext old;
	Datum		result = value;

	if (s->have)
	{
		InitFunctionCallInfoData(*fcinfo, &m->transfn, 2, m->out.aggref->inputcollid, NULL, NULL);
		fcinfo->args[0].value = s->value;
		fcinfo->args[0].isnull = false;
		fcinfo->args[1].value = value;
		fcinfo->args[1].isnull = false;
		result = FunctionCallInvoke(fcinfo);
		if (fcinfo->isnull)
			elog(ERROR, "function %u returned NULL", m->transfn.fn_oid);
		if (m->typbyval || DatumGetPointer(result) == DatumGetPointer(s->value))
		{
			s->value = result;
			return;
		}
	}
	old = MemoryContextSwitchTo(a->cxt);
	result = datumCopy(result, m->typbyval, m->typlen);
	MemoryContextSwitchTo(old);
	if (s->have && !m->typbyval)
		pfree(DatumGetPointer(s->value));
	s->value = result;
	s->have = true;
}

/* Take the ends of an ascending column.  False: they do not decide. */
static bool
add_ends(SfxAggregates *a, SfxAggMethod *m, SfxAggState *s, const SfxBlock *block, int from, int to)
{
	int			column = m->out.column;

	/* NULLs stand at one end: if neither end is NULL there is none */
	if (!m->out.ordered || m->out.direction == 0 || is_null(a, column, block, from) ||
		is_null(a, column, block, to - 1))
		return false;
	sfx_agg_decode_key(a, block, from, column + 1);
	take_least(a, m, s, a->values[column]);
	if (!sfx_agg_same_key(block, from, to - 1))
	{
		sfx_agg_decode_key(a, block, to - 1, column + 1);
		take_least(a, m, s, a->values[column]);
	}
	return true;
}

/* Add a value `times` times. */
static void
add_value(SfxAggregates *a, SfxAggMethod *m, SfxAggState *s, Datum value, int times)
{
	SfxHalves	sum;
	int64		v;

	if (m->out.kind == SFX_AGG_LEAST)
	{
		if (m->integer)
			sfx_agg_note_least(m, s, sfx_agg_integer_of(m, value));
		else
			take_least(a, m, s, value);
		return;
	}
	if (m->numeric)
	{
		sfx_agg_add_numeric(a, s, value, times);
		return;
	}
	s->n += times;
	if (m->out.kind == SFX_AGG_COUNT_COLUMN)
		return;
	v = sfx_agg_integer_of(m, value);
	sum.high = (v >> 32) * times;
	sum.low = (uint64) (uint32) v * times;
	sfx_agg_add_halves(s, &sum);
}

/* Are the method's values taken from key columns, or computed from some? */
static bool
uses_key(const SfxAggregates *a, const SfxAggMethod *m)
{
	return sfx_agg_is_computed(&m->out) ? sfx_arguments_use_key(m->out.args) :
		sfx_agg_in_key(a, m);
}

/* Are the method's values the same for equal keys? */
static bool
is_told_by_keys(const SfxAggregates *a, const SfxAggMethod *m)
{
	return sfx_agg_is_computed(&m->out) ? !sfx_arguments_use_payload(m->out.args) :
		sfx_agg_in_key(a, m);
}

/* Add the values of a method that takes them one by one: those of equal keys together. */
static void
add_one_by_one(SfxAggregates *a, SfxAggMethod *m, SfxAggState *s, const SfxBlock *block, int from,
			   int to)
{
	bool		by_key = block->dups && is_told_by_keys(a, m);
	NullableDatum *arg = a->arg;

	if (m->out.fed)
		sfx_fed_open(a, m, s);
	for (int i = from, end; i < to; i = end)
	{
		const Datum *values;
		const bool *isnull;

		for (end = i + 1; by_key && end < to && block->keyno[i] == block->keyno[end];)
			end++;
		take_row(a, block, i, &values, &isnull);
		if (sfx_agg_is_computed(&m->out))
			sfx_arguments_compute(a->exprs, m->out.args, values, isnull, arg);
		else
			*arg = (NullableDatum) {values[m->out.column], isnull[m->out.column]};
		if (m->out.fed)
			sfx_fed_add(a, m, arg, end - i);
		else if (!arg->isnull)
			add_value(a, m, s, arg->value, end - i);
	}
}

/* The same for n methods: each entry is decoded once for all. */
static void
add_slowly(SfxAggregates *a, int n, SfxAggState *states, const SfxBlock *block, int from, int to)
{
	bool		keys = a->kd->natts == a->kd->nkeys;

	for (int k = 0; k < n; k++)
		keys |= uses_key(a, &a->method[a->slow[k]]);
	make_rows(a, block, from, to, keys);
	for (int k = 0; k < n; k++)
		add_one_by_one(a, &a->method[a->slow[k]], &states[a->slow[k]], block, from, to);
}

/* Add entries by the method's short cut.  False: there is none for these entries. */
static bool
add_quickly(SfxAggregates *a, SfxAggMethod *m, SfxAggState *s, const SfxBlock *block, int from,
			int to)
{
	switch (m->out.kind)
	{
		case SFX_AGG_GROUP:
		case SFX_AGG_FUNCTION:
		case SFX_AGG_COUNT_DISTINCT:
			return true;
		case SFX_AGG_COUNT_ROWS:
			s->n += to - from;
			return true;
		case SFX_AGG_ROW:
			sfx_agg_add_row(a, m, s, block, from, to);
			return true;
		case SFX_AGG_COUNT_COLUMN:
			return count_values(a, m, s, block, from, to);
		default:
			return m->integer ? add_integers(a, m, s, block, from, to) :
				m->numeric ? sfx_agg_add_numerics(a, m, s, block, from, to) :
				add_ends(a, m, s, block, from, to);
	}
}

/* Add the entries that pass the method's filter. */
static void
add_filtered(SfxAggregates *a, int i, SfxAggState *states, const SfxBlock *block, int from, int to)
{
	SfxAggMethod *m = &a->method[i];
	bool		pass;
	int			n = m->out.kind == SFX_AGG_COUNT_ROWS ?
	sfx_condition_count(a->exprs, m->out.filter, block, from, to) : -1;

	if (n >= 0)
	{
		states[i].n += n;
		return;
	}
	for (int end = from; from < to; from = end)
	{
		end = sfx_condition_run(a->exprs, m->out.filter, block, from, to, &pass);
		if (!pass || add_quickly(a, m, &states[i], block, from, end))
			continue;
		a->slow[0] = i;
		add_slowly(a, 1, states, block, from, end);
	}
}

/* ---- states ---- */

void
sfx_aggregates_add(SfxAggregates *a, SfxAggState *states, const SfxBlock *block, int from, int to)
{
	MemoryContext old = MemoryContextSwitchTo(a->scratch);
	int			nslow = 0;

	Assert(from < to);
	for (int i = 0; i < a->n; i++)
	{
		if (a->method[i].out.filter)
			add_filtered(a, i, states, block, from, to);
	}
	for (int i = 0; i < a->n; i++)
		if (a->method[i].out.filter == NULL &&
			!add_quickly(a, &a->method[i], &states[i], block, from, to))
			a->slow[nslow++] = i;
	if (nslow > 0)
		add_slowly(a, nslow, states, block, from, to);
	MemoryContextSwitchTo(old);
	MemoryContextReset(a->scratch);
}

void
sfx_aggregates_merge(SfxAggregates *a, SfxAggState *states, const SfxAggState *more)
{
	MemoryContext old = MemoryContextSwitchTo(a->scratch);

	for (int i = 0; i < a->n; i++)
	{
		SfxAggMethod *m = &a->method[i];
		SfxAggState *s = &states[i];

		if (m->out.kind == SFX_AGG_COUNT_DISTINCT)
			continue;
		s->n += more[i].n;
		if (m->out.kind == SFX_AGG_LEAST)
		{
			if (!more[i].have)
				continue;
			if (m->integer)
				sfx_agg_note_least(m, s, more[i].high);
			else
				take_least(a, m, s, more[i].value);
			continue;
		}
		s->low += more[i].low;
		s->high += more[i].high + (s->low < more[i].low);
		s->fraction += more[i].fraction;
		s->scale = Max(s->scale, more[i].scale);
		if (m->numeric && more[i].have && !SFX_MUTANT("odd numbers stay behind"))
			sfx_agg_add_odd(a, s, more[i].value, 1);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(a->scratch);
}

void
sfx_aggregates_clear(SfxAggregates *a, SfxAggState *states)
{
	for (int i = 0; i < a->n; i++)
	{
		if (!states[i].have)
			continue;
		if (a->method[i].out.kind == SFX_AGG_FED)
			sfx_fed_clear(&states[i]);
		else if (!a->method[i].integer && !a->method[i].typbyval)
			pfree(DatumGetPointer(states[i].value));
	}
	memset(states, 0, a->n * sizeof(SfxAggState));
}

/* ---- results ---- */

/* The sum, as a numeric. */
static Datum
sum_of(const SfxAggMethod *m, const SfxAggState *s)
{
	return m->numeric ? sfx_agg_sum_of_numerics(s) : sfx_agg_sum_of_integers(s);
}

Datum
sfx_aggregates_value(SfxAggregates *a, int i, const SfxAggState *states, bool *isnull)
{
	const SfxAggMethod *m = &a->method[i];
	const SfxAggState *s = &states[i];

	*isnull = false;
	if ((m->out.kind == SFX_AGG_SUM || m->out.kind == SFX_AGG_AVG) &&
		sfx_agg_is_partial(m->out.aggref))
		return s->n > 0 ? sfx_partial_sum(m->out.aggref, sum_of(m, s), s->n) :
			sfx_partial_none(m->out.aggref, isnull);
	switch (m->out.kind)
	{
		case SFX_AGG_COUNT_ROWS:
		case SFX_AGG_COUNT_COLUMN:
		case SFX_AGG_COUNT_DISTINCT:
			return Int64GetDatum((int64) s->n);
		case SFX_AGG_SUM:
			*isnull = s->n == 0;
			if (*isnull)
				return (Datum) 0;
			/* sums of types smaller than int8 are int8 */
			return m->numeric || m->typlen == 8 ? sum_of(m, s) : Int64GetDatum((int64) s->low);
		case SFX_AGG_AVG:
			*isnull = s->n == 0;
			if (*isnull)
				return (Datum) 0;
			return DirectFunctionCall2(numeric_div, sum_of(m, s),
									   NumericGetDatum(int64_to_numeric((int64) s->n)));
		case SFX_AGG_LEAST:
			*isnull = !s->have;
			return m->integer && s->have ? sfx_agg_datum_of(m, s->high) : s->value;
		case SFX_AGG_FED:
			return sfx_fed_value(a, m, s, isnull);
		default:
			elog(ERROR, "not an aggregate");
			return (Datum) 0;
	}
}
