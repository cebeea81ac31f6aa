/*-------------------------------------------------------------------------
 * agg_value.c - what aggregates make of many entries: states, and values from states
 *
 * All rows of the entries that come here are visible.  They come many at a time, as a stretch of a
 * decoded block whose keys ascend: so where an aggregate's column is that by which they ascend, the
 * ends tell; integers that stand at one place of keys of one length are summed in place; all else
 * is decoded value by value.  Sums have 128 bits, so that their results are core's: numeric's
 * functions make them.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_partial.h"
#include "agg_value.h"
#include "key.h"
#include "leaf_sum.h"
#include "number.h"
#include "payload.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "parser/parse_agg.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/syscache.h"

/* A shorter stretch is summed key by key. */
#define ALIKE_LEAST		8

/* How an output is computed. */
typedef struct Method
{
	SfxAggOutput out;
	int16		typlen;			/* of the values that it takes */
	bool		typbyval;
	bool		integer;		/* SUM, AVG; LEAST: values are numbers in their own order */
	bool		numeric;		/* SUM, AVG of numeric */
	bool		last;			/* ... which keys end with */

	/*
	 * Where an integer stands in keys of one length: behind its marker; 0: nowhere.
	 */
	int			at;
	int			width;
	uint64		flip;			/* bits to flip, above those of its width as well */
	FmgrInfo	transfn;
} Method;

struct SfxAggregates
{
	Relation	index;
	const SfxKeyDesc *kd;
	MemoryContext cxt;			/* states' values */
	MemoryContext scratch;		/* what a call of sfx_aggregates_add leaves behind */
	uint32		keylen;			/* of every key without NULLs; 0: they differ */
	int			n;
	Method	   *method;
	bool		coded;			/* all have short ways for coded blocks */
	bool		ones;			/* ... and for groups of one entry */
	bool		places;			/* all columns that rows are grouped by have places */
	SfxSum	   *sum;			/* of such a block, for each of them */
	int		   *slow;			/* numbers of methods whose values are taken one by one */
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	PGAlignedBlock arena[SFX_ARENA / BLCKSZ];
	PGAlignedBlock payload_arena[SFX_ARENA / BLCKSZ];
};

/* ---- set-up ---- */

static inline bool
has_place(const SfxColumn *col)
{
	return !col->raw && col->typbyval && col->enc->direct == SFX_DIRECT_SIGNED &&
		col->enc->width == col->typlen;
}

/* The place of a column in keys of one length, or 0. */
static int
place_of(const SfxKeyDesc *kd, int column)
{
	int			at = 1;

	for (int i = 0; i < column; i++)
	{
		if (kd->col[i].raw || kd->col[i].enc->width == 0)
			return 0;
		at += 1 + kd->col[i].enc->width;
	}
	return at;
}

static uint32
length_of_keys(const SfxKeyDesc *kd)
{
	for (int i = 0; i < kd->nkeys; i++)
		if (kd->col[i].raw || kd->col[i].enc->width == 0)
			return 0;
	return kd->nrests > 0 ? 0 : place_of(kd, kd->nkeys) - 1;
}

/* The aggregate's transition function, as core calls it. */
static void
find_function(Method *m)
{
	const Aggref *agg = m->out.aggref;
	HeapTuple	tup = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(agg->aggfnoid));
	Oid			types[FUNC_MAX_ARGS];
	Oid			fn;
	Expr	   *expr;
	int			n;

	if (!HeapTupleIsValid(tup))
		elog(ERROR, "cache lookup failed for aggregate %u", agg->aggfnoid);
	fn = ((Form_pg_aggregate) GETSTRUCT(tup))->aggtransfn;
	ReleaseSysCache(tup);
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

static void
set_method(SfxAggregates *a, Method *m, const SfxAggOutput *out)
{
	const SfxColumn *col = &a->kd->col[out->column];
	bool		key = out->column < a->kd->nkeys;
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(a->index), out->column);

	m->out = *out;
	m->typlen = att->attlen;
	m->typbyval = att->attbyval;
	if (out->kind == SFX_AGG_LEAST)
		find_function(m);
	m->numeric = sfx_aggregate_is_numeric(out->aggref);
	m->last = m->numeric && key && sfx_aggregate_ends_keys(a->kd, out->column);
	m->integer = (!m->numeric && (out->kind == SFX_AGG_SUM || out->kind == SFX_AGG_AVG)) ||
		(out->kind == SFX_AGG_LEAST && out->direction != 0 && key && has_place(col));
	if ((m->integer || out->kind == SFX_AGG_GROUP) && key && has_place(col))
	{
		m->at = place_of(a->kd, out->column);
		m->width = col->enc->width;
		m->flip = UINT64CONST(1) << (8 * m->width - 1);
		if (col->desc)
			m->flip = ~m->flip;
	}
}

/* Does a number that stands in the key tell its value for a group of one entry? */
static bool
has_way_for_one(const SfxAggregates *a, const Method *m)
{
	return m->out.kind == SFX_AGG_COUNT_ROWS ||
		(m->out.kind == SFX_AGG_COUNT_COLUMN && m->out.column < a->kd->nkeys) ||
		(m->out.kind != SFX_AGG_AVG && m->at > 0 && m->width > 1 &&
		 !(m->out.kind == SFX_AGG_SUM && sfx_agg_is_partial(m->out.aggref)));
}

/* Can its values be taken from coded blocks, if those are of the right form? */
static bool
has_coded_way(const SfxAggregates *a, const Method *m)
{
	switch (m->out.kind)
	{
		case SFX_AGG_COUNT_ROWS:
			return a->keylen > 0;
		case SFX_AGG_COUNT_COLUMN:
			return a->keylen > 0 && m->out.column < a->kd->nkeys;
		case SFX_AGG_SUM:
		case SFX_AGG_AVG:
		case SFX_AGG_LEAST:
			return a->keylen > 0 && m->at > 0 && m->width > 1;
		default:
			return false;
	}
}

SfxAggregates *
sfx_aggregates_create(Relation index, const SfxKeyDesc *kd, const SfxAggOutput *outputs, int n)
{
	SfxAggregates *a = palloc0(sizeof(SfxAggregates));

	a->index = index;
	a->kd = kd;
	a->cxt = CurrentMemoryContext;
	a->scratch = AllocSetContextCreate(a->cxt, "surfidx aggregates", ALLOCSET_DEFAULT_SIZES);
	a->keylen = length_of_keys(kd);
	a->n = n;
	a->method = palloc0(n * sizeof(Method));
	a->slow = palloc0(n * sizeof(int));
	a->sum = palloc(n * sizeof(SfxSum));
	a->coded = true;
	a->ones = a->places = a->keylen > 0;
	for (int i = 0; i < n; i++)
	{
		set_method(a, &a->method[i], &outputs[i]);
		a->coded &= has_coded_way(a, &a->method[i]);
		a->ones &= has_way_for_one(a, &a->method[i]);
		if (outputs[i].kind == SFX_AGG_GROUP)
			a->places &= a->method[i].at > 0 && a->method[i].width > 1;
	}
	return a;
}

bool
sfx_aggregates_need_keys(const SfxAggOutput *outputs, int n)
{
	for (int i = 0; i < n; i++)
		if (outputs[i].kind != SFX_AGG_COUNT_ROWS)
			return true;
	return false;
}

/* ---- values of entries ---- */

static inline bool
in_key(const SfxAggregates *a, const Method *m)
{
	return m->out.column < a->kd->nkeys;
}

/* Columns of a key as they were stored, those before upto; valid until the next call. */
static void
decode_key(SfxAggregates *a, const SfxBlock *block, int i, int upto)
{
	const SfxKeyDesc *kd = a->kd;
	SfxEntry	e;

	sfx_block_entry(block, i, &e);
	/* only a whole key has the rests */
	sfx_key_decode(kd, a->index, e.key, e.keylen, kd->nrests > 0 ? kd->nkeys : upto,
				   a->values, a->isnull, a->arena->data);
}

static void
decode_payload(SfxAggregates *a, const SfxBlock *block, int i)
{
	SfxEntry	e;

	sfx_block_entry(block, i, &e);
	sfx_payload_decode(a->kd, a->index, e.payload, e.paylen, a->values, a->isnull,
					   a->payload_arena->data);
}

static inline int64
integer_of(const Method *m, Datum value)
{
	return m->typlen == 8 ? DatumGetInt64(value) : m->typlen == 4 ? DatumGetInt32(value) :
		m->typlen == 2 ? DatumGetInt16(value) : DatumGetChar(value);
}

static Datum
datum_of(const Method *m, int64 v)
{
	return m->typlen == 8 ? Int64GetDatum(v) : m->typlen == 4 ? Int32GetDatum((int32) v) :
		m->typlen == 2 ? Int16GetDatum((int16) v) : CharGetDatum((char) v);
}

/* Do entries i and k have one key? */
static inline bool
same_key(const SfxBlock *block, int i, int k)
{
	return sfx_block_keyno(block, i) == sfx_block_keyno(block, k);
}

/* Is an entry's column, which is the key's, NULL? */
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
count_values(const SfxAggregates *a, const Method *m, SfxAggState *s, const SfxBlock *block,
			 int from, int to)
{
	int			column = m->out.column;
	bool		null;

	if (!in_key(a, m))
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

/* Two halves: neither overflows, for so many entries as a block has. */
typedef struct Halves
{
	int64		high;
	uint64		low;
} Halves;

static inline int64
load(const uint8 *p, int width, uint64 flip)
{
	if (width == 8)
	{
		uint64		v;

		memcpy(&v, p, 8);
		return (int64) (pg_ntoh64(v) ^ flip);
	}
	if (width == 4)
	{
		uint32		v;

		memcpy(&v, p, 4);
		return (int32) (pg_ntoh32(v) ^ (uint32) flip);
	}
	else
	{
		uint16		v;

		memcpy(&v, p, 2);
		return (int16) (pg_ntoh16(v) ^ (uint16) flip);
	}
}

/*
 * The entries' integers, each as often as it comes, summed and compared.  Width is known where this
 * is inlined.
 */
static inline void
reduce(const Method *m, int width, const SfxBlock *block, int from, int to, Halves *sum,
	   int64 *least, int64 *most)
{
	const uint8 *p = block->keys + block->keyoff[sfx_block_keyno(block, from)] + m->at;
	uint32		step = block->width;
	int64		lo = load(p, width, m->flip);
	int64		hi = lo;

	for (int i = from; i < to; p += step)
	{
		int64		v = load(p, width, m->flip);
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
reduce_in_place(const Method *m, const SfxBlock *block, int from, int to, Halves *sum,
				int64 *least, int64 *most)
{
	if (m->width == 8)
		reduce(m, 8, block, from, to, sum, least, most);
	else if (m->width == 4)
		reduce(m, 4, block, from, to, sum, least, most);
	else
		reduce(m, 2, block, from, to, sum, least, most);
}

/* Does every key of these entries have the integer at its place? */
static bool
in_place(const SfxAggregates *a, const Method *m, const SfxBlock *block, int from, int to)
{
	return m->at > 0 && m->width > 1 && a->keylen > 0 && block->width == a->keylen &&
		block->keys[block->keyoff[sfx_block_keyno(block, from)] + m->at - 1] == SFX_MARK_VALUE &&
		block->keys[block->keyoff[sfx_block_keyno(block, to - 1)] + m->at - 1] == SFX_MARK_VALUE;
}

/* The sum, of 128 bits, and halves of less. */
static void
add_halves(SfxAggState *s, const Halves *sum)
{
	uint64		low = s->low;

	s->low += sum->low;
	s->high += s->low < low;
	low = s->low;
	s->low += (uint64) sum->high << 32;
	s->high += (sum->high >> 32) + (s->low < low);
}

static void
note_least(const Method *m, SfxAggState *s, int64 v)
{
	if (!s->have || (m->out.direction > 0 ? v < s->high : v > s->high))
		s->high = v;
	s->have = true;
}

static bool
add_integers(const SfxAggregates *a, const Method *m, SfxAggState *s, const SfxBlock *block,
			 int from, int to)
{
	Halves		sum = {0, 0};
	int64		least,
				most;

	if (!in_place(a, m, block, from, to))
		return false;
	if (m->out.kind != SFX_AGG_LEAST)
	{
		s->n += to - from;
		reduce_in_place(m, block, from, to, &sum, &least, &most);
		add_halves(s, &sum);
		return true;
	}
	/* of an ascending column the ends tell */
	if (m->out.ordered)
	{
		reduce_in_place(m, block, from, from + 1, &sum, &least, &most);
		note_least(m, s, least);
		from = to - 1;
	}
	reduce_in_place(m, block, from, to, &sum, &least, &most);
	note_least(m, s, m->out.direction > 0 ? least : most);
	return true;
}

/* ---- numerics ---- */

/* The states of what does not fit: NaN, infinities, large and fine ones. */
static void
add_odd(SfxAggregates *a, SfxAggState *s, Datum value, int times)
{
	MemoryContext old = MemoryContextSwitchTo(a->cxt);
	Datum		sum = value;

	if (times > 1)
		sum = DirectFunctionCall2(numeric_mul, value, NumericGetDatum(int64_to_numeric(times)));
	if (s->have)
		sum = DirectFunctionCall2(numeric_add, s->value, sum);
	else
		sum = datumCopy(sum, false, -1);
	if (s->have)
		pfree(DatumGetPointer(s->value));
	s->value = sum;
	s->have = true;
	MemoryContextSwitchTo(old);
}

static void
add_parts(SfxAggState *s, int64 whole, int64 fraction, int scale)
{
	Halves		h = {whole >> 32, (uint32) whole};

	add_halves(s, &h);
	s->fraction += fraction;
	s->scale = Max(s->scale, scale);
}

static void
add_numeric(SfxAggregates *a, SfxAggState *s, Datum value, int times)
{
	SfxNumber	number;

	s->n += times;
	if (sfx_number_of_numeric(value, &number))
		add_parts(s, number.whole * times, number.fraction * times, number.scale);
	else
		add_odd(a, s, value, times);
}

/* Entries that have the key of the one before them, once more. */
static void
add_repeated(const SfxBlock *block, int from, int to, int at, bool desc, SfxNumber *sum)
{
	SfxNumber	number = {0, 0, 0};

	for (int i = from + 1; i < to; i++)
	{
		if (!same_key(block, i, i - 1))
			continue;
		(void) sfx_number_of_bytes(block->keys + block->keyoff[block->keyno[i]] + at,
								   (int) block->width - at, desc, &number);
		sum->whole += number.whole;
		sum->fraction += number.fraction;
	}
}

/*
 * The same where keys are alike, but for the numeric, by which they ascend: all of one length, and
 * few have several entries.
 */
static bool
add_alike(const SfxAggregates *a, const Method *m, SfxAggState *s, const SfxBlock *block, int from,
		  int to)
{
	int			key = sfx_block_keyno(block, from);
	int			n = sfx_block_keyno(block, to - 1) - key + 1;
	const uint8 *p = block->keys + block->keyoff[key];
	int			width = (int) block->width;
	int			at = 0;
	bool		desc = a->kd->col[m->out.column].desc;
	SfxNumber	sum;

	if (!m->out.ordered || width == 0 || n < ALIKE_LEAST || n < (to - from) / 4 * 3)
		return false;
	for (int c = 0; c < m->out.column; c++)
		at += sfx_column_length(&a->kd->col[c], a->index, p + at, width - at);
	/* neither NULL nor damaged */
	if (width - at < 3 || p[at] != SFX_MARK_VALUE || p[(n - 1) * width + at] != SFX_MARK_VALUE ||
		!sfx_number_sum(p + at + 1, width - at - 1, width, n, desc, &sum))
		return false;
	if (block->dups)
		add_repeated(block, from, to, at + 1, desc, &sum);
	s->n += to - from;
	add_parts(s, sum.whole, sum.fraction, sum.scale);
	return true;
}

/* Those that keys end with are read where they stand. */
static bool
add_numerics(SfxAggregates *a, const Method *m, SfxAggState *s, const SfxBlock *block, int from,
			 int to)
{
	int			column = m->out.column;
	const SfxColumn *col = &a->kd->col[column];
	SfxNumber	sum = {0, 0, 0};
	int			times;

	if (!m->last)
		return false;
	if (add_alike(a, m, s, block, from, to))
		return true;
	for (int i = from; i < to; i += times)
	{
		int			k = sfx_block_keyno(block, i);
		const uint8 *p = block->keys + block->keyoff[k];
		const uint8 *end = block->keys + block->keyoff[k + 1];
		SfxNumber	number;

		for (times = 1; i + times < to && same_key(block, i, i + times);)
			times++;
		for (int c = 0; c < column; c++)
			p += sfx_column_length(&a->kd->col[c], a->index, p, (int) (end - p));
		if (end - p > 1 && *p == SFX_MARK_VALUE &&
			sfx_number_of_bytes(p + 1, (int) (end - p) - 1, col->desc, &number))
		{
			s->n += times;
			sum.whole += number.whole * times;
			sum.fraction += number.fraction * times;
			sum.scale = Max(sum.scale, number.scale);
			continue;
		}
		decode_key(a, block, i, column + 1);
		if (!a->isnull[column])
			add_numeric(a, s, a->values[column], times);
	}
	add_parts(s, sum.whole, sum.fraction, sum.scale);
	return true;
}

StaticAssertDecl(SFX_BLOCK_ENTRIES <= 900, "a block's numbers of 16 digits have a sum of 64 bits");

/* ---- integers of coded blocks ---- */

static int
what_is_wanted(const Method *m)
{
	switch (m->out.kind)
	{
		case SFX_AGG_SUM:
		case SFX_AGG_AVG:
			return SFX_WANT_SUM;
		case SFX_AGG_LEAST:
			return m->out.ordered ? SFX_WANT_ENDS : SFX_WANT_BOUNDS;
		default:
			return 0;
	}
}

static int
sum_coded(const SfxAggregates *a, const Method *m, const SfxLeaf *leaf, int b, const SfxPos *lo,
		  const SfxPos *hi, SfxSum *sum)
{
	int			want = what_is_wanted(m);
	SfxPlace	place = {a->keylen, 0, 0, SFX_MARK_VALUE};

	if (want != 0)
	{
		place.at = m->at;
		place.width = m->width;
	}
	return sfx_leaf_sum(leaf, b, lo, hi, &place, want, sum);
}

/* What numbers of this form stand for. */
static int64
number_of(const Method *m, uint64 v)
{
	v ^= m->flip;
	return m->width == 8 ? (int64) v : m->width == 4 ? (int32) v : m->width == 2 ? (int16) v :
		(int8) v;
}

/*
 * The sum of what they stand for: each is so much less than it looks like, and of a descending
 * column the complement of that.
 */
static void
add_sum(const Method *m, SfxAggState *s, const SfxSum *sum)
{
	bool		desc = number_of(m, 0) > 0; /* the least bytes are the greatest number */
	int64		more = SFX_BLOCK_ENTRIES + 1;
	Halves		h;

	if (m->width == 8)
	{
		h.high = (int64) sum->high - ((int64) sum->n << 31);
		h.low = sum->low;
	}
	else
	{
		int64		all = ((int64) ((sum->high << 32) + sum->low) -
						   ((int64) sum->n << (8 * m->width - 1)));

		h.high = all >> 32;
		h.low = (uint32) all;
	}
	if (desc)
	{
		h.high = -h.high - more;
		h.low = ((uint64) more << 32) - h.low - (uint64) sum->n;
	}
	s->n += sum->n;
	add_halves(s, &h);
}

static void
add_coded(const Method *m, SfxAggState *s, const SfxSum *sum)
{
	switch (m->out.kind)
	{
		case SFX_AGG_SUM:
		case SFX_AGG_AVG:
			add_sum(m, s, sum);
			break;
		case SFX_AGG_LEAST:
			note_least(m, s, number_of(m, sum->least));
			note_least(m, s, number_of(m, sum->most));
			break;
		default:
			s->n += sum->n;
	}
}

int
sfx_aggregates_sum_coded(SfxAggregates *a, const SfxLeaf *leaf, int b, const SfxPos *lo,
						 const SfxPos *hi)
{
	if (!a->coded)
		return SFX_NOT_CODED;
	for (int i = 0; i < a->n; i++)
	{
		int			done = sum_coded(a, &a->method[i], leaf, b, lo, hi, &a->sum[i]);

		if (done <= 0)
			return done < 0 ? SFX_CORRUPT : SFX_NOT_CODED;
		Assert(a->sum[i].n == a->sum[0].n);
	}
	return a->sum[0].n;
}

void
sfx_aggregates_add_coded(SfxAggregates *a, SfxAggState *states)
{
	for (int i = 0; i < a->n; i++)
		add_coded(&a->method[i], &states[i], &a->sum[i]);
}

/* ---- any type ---- */

/* As core's transition of a strict function whose state begins with the first value. */
static void
take_least(SfxAggregates *a, Method *m, SfxAggState *s, Datum value)
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

/* The ends of an ascending column.  False: they do not tell. */
static bool
add_ends(SfxAggregates *a, Method *m, SfxAggState *s, const SfxBlock *block, int from, int to)
{
	int			column = m->out.column;

	/* NULLs stand at one end, so if neither is one there is none */
	if (!m->out.ordered || m->out.direction == 0 || is_null(a, column, block, from) ||
		is_null(a, column, block, to - 1))
		return false;
	decode_key(a, block, from, column + 1);
	take_least(a, m, s, a->values[column]);
	if (!same_key(block, from, to - 1))
	{
		decode_key(a, block, to - 1, column + 1);
		take_least(a, m, s, a->values[column]);
	}
	return true;
}

/* One entry's value; repeated: it has the key of the entry before. */
static void
add_value(SfxAggregates *a, Method *m, SfxAggState *s, bool repeated)
{
	int			column = m->out.column;
	Halves		sum;
	int64		v;

	if (a->isnull[column])
		return;
	if (m->out.kind == SFX_AGG_LEAST)
	{
		if (repeated && in_key(a, m))
			return;
		if (m->integer)
			note_least(m, s, integer_of(m, a->values[column]));
		else
			take_least(a, m, s, a->values[column]);
		return;
	}
	if (m->numeric)
	{
		add_numeric(a, s, a->values[column], 1);
		return;
	}
	s->n++;
	if (m->out.kind == SFX_AGG_COUNT_COLUMN)
		return;
	v = integer_of(m, a->values[column]);
	sum.high = v >> 32;
	sum.low = (uint32) v;
	add_halves(s, &sum);
}

/* What takes values one by one: each entry is decoded once for all n of them. */
static void
add_slowly(SfxAggregates *a, int n, SfxAggState *states, const SfxBlock *block, int from, int to)
{
	int			upto = 0;
	bool		payload = false;

	for (int k = 0; k < n; k++)
	{
		const Method *m = &a->method[a->slow[k]];

		if (in_key(a, m))
			upto = Max(upto, m->out.column + 1);
		else
			payload = true;
	}
	for (int i = from; i < to; i++)
	{
		bool		repeated = i > from && same_key(block, i, i - 1);

		if (upto > 0 && !repeated)
			decode_key(a, block, i, upto);
		if (payload)
			decode_payload(a, block, i);
		for (int k = 0; k < n; k++)
			add_value(a, &a->method[a->slow[k]], &states[a->slow[k]], repeated);
	}
}

/* The short ways of one method.  False: there is none for these entries. */
static bool
add_quickly(SfxAggregates *a, Method *m, SfxAggState *s, const SfxBlock *block, int from, int to)
{
	switch (m->out.kind)
	{
		case SFX_AGG_GROUP:
		case SFX_AGG_BUCKET:
		case SFX_AGG_COUNT_DISTINCT:
			return true;
		case SFX_AGG_COUNT_ROWS:
			s->n += to - from;
			return true;
		case SFX_AGG_COUNT_COLUMN:
			return count_values(a, m, s, block, from, to);
		default:
			return m->integer ? add_integers(a, m, s, block, from, to) :
				m->numeric ? add_numerics(a, m, s, block, from, to) :
				add_ends(a, m, s, block, from, to);
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
		if (!add_quickly(a, &a->method[i], &states[i], block, from, to))
			a->slow[nslow++] = i;
	if (nslow > 0)
		add_slowly(a, nslow, states, block, from, to);
	MemoryContextSwitchTo(old);
	MemoryContextReset(a->scratch);
}

void
sfx_aggregates_merge(SfxAggregates *a, SfxAggState *states, const SfxAggState *more)
{
	for (int i = 0; i < a->n; i++)
	{
		Method	   *m = &a->method[i];
		SfxAggState *s = &states[i];

		if (m->out.kind == SFX_AGG_COUNT_DISTINCT)
			continue;
		s->n += more[i].n;
		if (m->out.kind == SFX_AGG_LEAST)
		{
			if (!more[i].have)
				continue;
			if (m->integer)
				note_least(m, s, more[i].high);
			else
				take_least(a, m, s, more[i].value);
			continue;
		}
		s->low += more[i].low;
		s->high += more[i].high + (s->low < more[i].low);
		s->fraction += more[i].fraction;
		s->scale = Max(s->scale, more[i].scale);
		if (m->numeric && more[i].have)
			add_odd(a, s, more[i].value, 1);
	}
}

void
sfx_aggregates_clear(SfxAggregates *a, SfxAggState *states)
{
	for (int i = 0; i < a->n; i++)
		if (states[i].have && !a->method[i].integer && !a->method[i].typbyval)
			pfree(DatumGetPointer(states[i].value));
	memset(states, 0, a->n * sizeof(SfxAggState));
}

/* ---- results ---- */

static Datum
numeric_of(const SfxAggState *s)
{
	Datum		shift = NumericGetDatum(int64_to_numeric(INT64CONST(1) << 32));
	Datum		sum;

	if (s->high == ((int64) s->low < 0 ? -1 : 0))
		return NumericGetDatum(int64_to_numeric((int64) s->low));
	sum = NumericGetDatum(int64_to_numeric(s->high));
	for (int half = 1; half >= 0; half--)
	{
		int64		part = (int64) (s->low >> 32 * half & 0xFFFFFFFF);

		sum = DirectFunctionCall2(numeric_mul, sum, shift);
		sum = DirectFunctionCall2(numeric_add, sum, NumericGetDatum(int64_to_numeric(part)));
	}
	return sum;
}

/* The sum of numerics, with core's display scale: the greatest of them. */
static Datum
sum_of_numerics(const SfxAggState *s)
{
	Datum		fraction = NumericGetDatum(int64_div_fast_to_numeric(s->fraction,
																	 SFX_NUMBER_PLACES));
	Datum		sum = DirectFunctionCall2(numeric_add, numeric_of(s), fraction);

	sum = DirectFunctionCall2(numeric_round, sum, Int32GetDatum(s->scale));
	return s->have ? DirectFunctionCall2(numeric_add, sum, s->value) : sum;
}

Datum
sfx_aggregates_value(SfxAggregates *a, int i, const SfxAggState *states, bool *isnull)
{
	const Method *m = &a->method[i];
	const SfxAggState *s = &states[i];

	*isnull = false;
	if ((m->out.kind == SFX_AGG_SUM || m->out.kind == SFX_AGG_AVG) &&
		sfx_agg_is_partial(m->out.aggref))
		return s->n > 0 ? sfx_partial_sum(m->out.aggref,
										  m->numeric ? sum_of_numerics(s) : numeric_of(s), s->n) :
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
			if (m->numeric)
				return sum_of_numerics(s);
			/* sums of less than int8 are int8 */
			return m->typlen == 8 ? numeric_of(s) : Int64GetDatum((int64) s->low);
		case SFX_AGG_AVG:
			*isnull = s->n == 0;
			if (*isnull)
				return (Datum) 0;
			return DirectFunctionCall2(numeric_div, m->numeric ? sum_of_numerics(s) : numeric_of(s),
									   NumericGetDatum(int64_to_numeric((int64) s->n)));
		case SFX_AGG_LEAST:
			*isnull = !s->have;
			return m->integer && s->have ? datum_of(m, s->high) : s->value;
		default:
			elog(ERROR, "not an aggregate");
			return (Datum) 0;
	}
}

/* ---- groups of one entry ---- */

static inline int64
load_number(const Method *m, const uint8 *key)
{
	const uint8 *p = key + m->at;

	return m->width == 8 ? load(p, 8, m->flip) : m->width == 4 ? load(p, 4, m->flip) :
		load(p, 2, m->flip);
}

bool
sfx_aggregates_group(const SfxAggregates *a, const uint8 *key, uint32 keylen, Datum *values,
					 bool *isnull)
{
	if (!a->places || keylen != a->keylen)
		return false;
	for (int i = 0; i < a->n; i++)
	{
		const Method *m = &a->method[i];

		if (m->out.kind != SFX_AGG_GROUP)
			continue;
		if (key[m->at - 1] != SFX_MARK_VALUE)
			return false;
		values[i] = datum_of(m, load_number(m, key));
		isnull[i] = false;
	}
	return true;
}

bool
sfx_aggregates_have_ones(const SfxAggregates *a, const SfxBlock *block, int from, int to)
{
	if (!a->ones || block->dups || block->width != a->keylen)
		return false;
	for (int i = 0; i < a->n; i++)
		if (a->method[i].at > 0 && !in_place(a, &a->method[i], block, from, to))
			return false;
	return true;
}

/* Numbers of entries [from, to), as datums. */
static void
ones_of_width(const Method *m, int width, const SfxBlock *block, int from, int to, Datum *values)
{
	const uint8 *p = block->keys + block->keyoff[from] + m->at;
	uint32		step = block->width;

	for (int i = from; i < to; i++, p += step)
	{
		int64		v = load(p, width, m->flip);

		*values++ = width == 8 ? Int64GetDatum(v) : width == 4 ? Int32GetDatum((int32) v) :
			Int16GetDatum((int16) v);
	}
}

static void
ones_of_number(const Method *m, const SfxBlock *block, int from, int to, Datum *values)
{
	if (m->width == 8)
		ones_of_width(m, 8, block, from, to, values);
	else if (m->width == 4)
		ones_of_width(m, 4, block, from, to, values);
	else
		ones_of_width(m, 2, block, from, to, values);
}

void
sfx_aggregates_ones(const SfxAggregates *a, int k, const SfxBlock *block, int from, int to,
					Datum *values)
{
	const Method *m = &a->method[k];

	Assert(a->ones && !block->dups);
	if (m->out.kind == SFX_AGG_COUNT_ROWS || m->out.kind == SFX_AGG_COUNT_COLUMN)
	{
		for (int i = 0; i < to - from; i++)
			values[i] = Int64GetDatum(1);
		return;
	}
	ones_of_number(m, block, from, to, values);
	if (m->out.kind != SFX_AGG_SUM)
		return;
	/* a sum's type is another one */
	for (int i = 0; i < to - from; i++)
	{
		int64		v = integer_of(m, values[i]);

		values[i] = m->width == 8 ? NumericGetDatum(int64_to_numeric(v)) : Int64GetDatum(v);
	}
}
