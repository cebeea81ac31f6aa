/*-------------------------------------------------------------------------
 * estimate_count.c - the entries between the constants of a column's conditions, as a row of pg_statistic
 *-------------------------------------------------------------------------
 */
#include "estimate.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#define COUNT_EXACTLY	2000	/* so many entries of the delta are counted one by one */

static int
cmp_edges(const void *a, const void *b, void *order)
{
	return sfx_order_cmp_pos(order, a, b);
}

static void
add_edge(SfxEdges *e, const SfxPos *pos)
{
	SfxPos	   *to = &e->pos[e->n++];
	uint8	   *bytes = palloc(pos->len + 1);

	memcpy(bytes, pos->key, pos->len);
	*to = *pos;
	to->key = bytes;
}

/* The range of the columns before ours, and of a condition on ours (NULL: none).  False: it is not one range. */
static bool
range_of_condition(const SfxConditions *c, ScanKey key, SfxRange *range)
{
	ScanKeyData keys[INDEX_MAX_KEYS];
	int			n = c->col;

	memcpy(keys, c->pin, sizeof(ScanKeyData) * n);
	if (key)
		keys[n++] = *key;
	return sfx_range_of_keys(&c->o, keys, n, range);
}

bool
sfx_edges_find(SfxConditions *c, bool nulls, SfxEdges *e)
{
	SfxPos		start = {(const uint8_t *) "", 0, 0};
	SfxPos		end = {NULL, 0, 0};
	SfxRange   *range = palloc(sizeof(SfxRange));
	ListCell   *lc;
	bool		open = true;	/* to the index's end */
	int			n = 1;

	if (nulls)
	{
		ScanKey		key = palloc(sizeof(ScanKeyData));

		ScanKeyEntryInitialize(key, SK_ISNULL | SK_SEARCHNOTNULL, c->col + 1, InvalidStrategy, InvalidOid, InvalidOid, InvalidOid, 0);
		c->keys = lappend(c->keys, key);
	}
	if (2 * list_length(c->keys) + 2 > SFX_MAX_EDGES)
		return false;
	e->n = 0;
	if (c->col > 0)
	{
		if (!range_of_condition(c, NULL, range) || range->empty)
			return false;
		start = range->lo;
		open = range->hi.key == NULL;
		if (!open)
			add_edge(e, &range->hi);
	}
	add_edge(e, &start);
	foreach(lc, c->keys)
	{
		if (!range_of_condition(c, lfirst(lc), range))
			return false;
		if (range->empty)
			continue;
		add_edge(e, &range->lo);
		if (range->hi.key)
			add_edge(e, &range->hi);
	}
	qsort_arg(e->pos, e->n, sizeof(SfxPos), cmp_edges, unconstify(SfxOrder *, c->o.order));
	for (int i = 1; i < e->n; i++)
		if (sfx_order_cmp_pos(c->o.order, &e->pos[i], &e->pos[n - 1]) != 0)
			e->pos[n++] = e->pos[i];
	/* where the values of the columns before end, so does what is asked for */
	if (open)
		e->pos[n++] = end;
	e->n = n;
	return true;
}

/* The column of the piece's first entry.  False: it is empty. */
static bool
first_value(const SfxConditions *c, SfxReader *reader, const SfxPos *lo, const SfxPos *hi, char *arena, SfxPiece *v)
{
	const SfxOpened *o = &c->o;
	const SfxColumn *col = &o->kd.col[c->col];
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	SfxEntry	e;

	if (!sfx_reader_first(reader, lo, hi, &e))
		return false;
	sfx_key_decode(&o->kd, o->index, e.key, e.keylen, c->col + 1, values, isnull, arena);
	v->isnull = isnull[c->col];
	v->first = v->isnull ? (Datum) 0 : datumCopy(values[c->col], col->typbyval, col->typlen);
	return true;
}

/* Entries of the delta between two positions. */
static double
count_delta(const SfxOpened *o, const SfxMeta *meta, const SfxPos *lo, const SfxPos *hi, double about)
{
	SfxRange   *range;
	uint64		n = 0;

	if (about > COUNT_EXACTLY)
		return about;
	range = palloc(sizeof(SfxRange));
	range->lo = *lo;
	range->hi = *hi;
	for (int g = 0; g < meta->ngens; g++)
		(void) sfx_count_generation(o, meta, g, range, &n);
	pfree(range);
	return n;
}

/* sfx_edges_measure where damage is an error. */
static int
measure(const SfxConditions *c, const SfxEdges *e, SfxPiece *piece)
{
	const SfxOpened *o = &c->o;
	SfxReader  *reader = sfx_reader_begin(o->index, o->order, false);
	char	   *arena = palloc(SFX_ARENA);
	SfxMeta		meta;
	SfxRank		below,
				next;
	double		total = 0;
	int			n = 0;

	sfx_meta_read(o->index, &meta);
	sfx_rank(o, &meta, &e->pos[0], &below);
	for (int i = 0; i + 1 < e->n; i++, below = next)
	{
		SfxPiece	v;

		sfx_rank(o, &meta, &e->pos[i + 1], &next);
		if (!first_value(c, reader, &e->pos[i], &e->pos[i + 1], arena, &v))
			continue;
		v.share = Max(next.tree - below.tree, 0);
		if (next.delta_total > 0)
			v.share += count_delta(o, &meta, &e->pos[i], &e->pos[i + 1], next.delta - below.delta);
		v.share = Max(v.share, 1);
		total += v.share;
		/* core takes the first for the most common one */
		piece[n] = v;
		for (int j = n++; j > 0 && piece[j - 1].share < v.share; j--)
		{
			piece[j] = piece[j - 1];
			piece[j - 1] = v;
		}
	}
	sfx_reader_end(reader);
	for (int i = 0; i < n; i++)
		piece[i].share /= total;
	return n;
}

typedef struct Measure
{
	const SfxConditions *c;
	const SfxEdges *e;
	SfxPiece   *piece;
	int			n;
} Measure;

static void
attempt_measure(void *arg)
{
	Measure    *m = arg;

	m->n = measure(m->c, m->e, m->piece);
}

/* Damage is no error: who plans may have other ways to the rows.  In a subtransaction, which parallel workers cannot have on all versions. */
int
sfx_edges_measure(const SfxConditions *c, const SfxEdges *e, SfxPiece *piece)
{
	Measure		m = {c, e, piece, 0};
	ErrorData  *edata;

	if (IsInParallelMode())
		return measure(c, e, piece);
	edata = sfx_attempt(attempt_measure, &m);
	if (edata == NULL)
		return m.n;
	if (edata->sqlerrcode != ERRCODE_INDEX_CORRUPTED && edata->sqlerrcode != ERRCODE_DATA_CORRUPTED)
		ReThrowError(edata);
	ereport(WARNING,
			(errcode(edata->sqlerrcode),
			 errmsg("rows cannot be counted in index \"%s\": %s", RelationGetRelationName(c->o.index), edata->message),
			 errdetail("The planner takes the estimate of ANALYZE."),
			 edata->hint ? errhint("%s", edata->hint) : 0));
	return 0;
}

/* Of pg_statistic, which stays as it is as long as the server runs: kept, since to open it takes as long as to make a row. */
static TupleDesc
statistics_desc(void)
{
	static TupleDesc desc = NULL;

	if (desc == NULL)
	{
		Relation	catalog = table_open(StatisticRelationId, AccessShareLock);
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

		desc = CreateTupleDescCopy(RelationGetDescr(catalog));
		MemoryContextSwitchTo(old);
		table_close(catalog, AccessShareLock);
	}
	return desc;
}

HeapTuple
sfx_statistics_form(const SfxConditions *c, Oid relid, bool inherited, const SfxPiece *piece, int n)
{
	const SfxColumn *col = &c->o.kd.col[c->col];
	HeapTuple	old = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(c->attno), BoolGetDatum(inherited));
	Datum		values[Natts_pg_statistic] = {0};
	bool		isnull[Natts_pg_statistic] = {0};
	Datum	   *mcv = palloc(n * sizeof(Datum));
	Datum	   *numbers = palloc(n * sizeof(Datum));
	double		nulls = 0;
	int			m = 0;
	char		align;
	int16		len;
	bool		byval;

	for (int i = 0; i < n; i++)
	{
		if (piece[i].isnull)
		{
			nulls += piece[i].share;
			continue;
		}
		mcv[m] = piece[i].first;
		numbers[m++] = Float4GetDatum(piece[i].share);
	}
	values[Anum_pg_statistic_starelid - 1] = ObjectIdGetDatum(relid);
	values[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(c->attno);
	values[Anum_pg_statistic_stainherit - 1] = BoolGetDatum(inherited);
	values[Anum_pg_statistic_stanullfrac - 1] = Float4GetDatum(nulls);
	if (HeapTupleIsValid(old))
	{
		Form_pg_statistic s = (Form_pg_statistic) GETSTRUCT(old);

		values[Anum_pg_statistic_stawidth - 1] = Int32GetDatum(s->stawidth);
		values[Anum_pg_statistic_stadistinct - 1] = Float4GetDatum(s->stadistinct);
		ReleaseSysCache(old);
	}
	for (int k = 0; k < STATISTIC_NUM_SLOTS; k++)
	{
		isnull[Anum_pg_statistic_stanumbers1 - 1 + k] = true;
		isnull[Anum_pg_statistic_stavalues1 - 1 + k] = true;
	}
	if (m > 0)
	{
		get_typlenbyvalalign(col->type, &len, &byval, &align);
		values[Anum_pg_statistic_stakind1 - 1] = Int16GetDatum(STATISTIC_KIND_MCV);
		values[Anum_pg_statistic_staop1 - 1] = ObjectIdGetDatum(get_opfamily_member(c->o.index->rd_opfamily[c->col], col->type, col->type,
																				 BTEqualStrategyNumber));
		values[Anum_pg_statistic_stacoll1 - 1] = ObjectIdGetDatum(col->collation);
		values[Anum_pg_statistic_stanumbers1 - 1] = PointerGetDatum(construct_array(numbers, m, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
		values[Anum_pg_statistic_stavalues1 - 1] = PointerGetDatum(construct_array(mcv, m, col->type, len, byval, align));
		isnull[Anum_pg_statistic_stanumbers1 - 1] = isnull[Anum_pg_statistic_stavalues1 - 1] = false;
	}
	return heap_form_tuple(statistics_desc(), values, isnull);
}
