/*-------------------------------------------------------------------------
 * estimate_histogram.c - does ANALYZE's histogram tell that a range is one of few rows?
 *
 * Core's estimate from the histogram is off by at most the two bins in which the range begins and
 * ends.  Only at the ends of a histogram the truth may be anything, for example after rows with new
 * keys were inserted.
 *
 * The histogram is kept unpacked per index (N1): until a merge changes the tree, the log doubles,
 * or ANALYZE writes another row of pg_statistic.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "estimate.h"
#include "memo.h"
#include "metacache.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#define INDEXES			8		/* remembered */
#define OPERATORS		4		/* of a column's: < <= > >= */
#define FEW				20		/* one in so many bins is few rows */
#define STALE			10		/* so is one in so many rows changed since ANALYZE */
#define LOG_PAGES		16		/* of a log that is small, however full it was */
#define MAX_BOUNDS		1001
#define MAX_BYTES		(64 * 1024)

/* A comparison of the column with a constant, by which histograms may be searched. */
typedef struct Comparison
{
	Oid			op;				/* InvalidOid: none is kept */
	bool		greater;		/* > or >= */
	FmgrInfo	compare;
} Comparison;

typedef struct Histogram
{
	SfxMemo		memo;
	/* ANALYZE's row that it is from */
	ItemPointerData row;
	TransactionId xmin;
	uint64		log_pages;		/* of the index at that time */
	bool		stale;			/* many rows have changed since */
	int			n;				/* number of bounds; 0: there is no histogram that would do */
	Datum	   *bound;
	MemoryContext cxt;			/* of the bounds */
	Comparison	comparison[OPERATORS];
} Histogram;

static Histogram histogram[INDEXES];
static SfxMemoTable table = SFX_MEMO_TABLE(histogram);

/* ---- loading ---- */

/* Have many rows changed since ANALYZE? */
static bool
is_stale(Oid relid, const SfxMeta *meta)
{
	int64		live,
				dead,
				changed;

	return !SfxTableRows(relid, &live, &dead, &changed) ||
		changed > live / STALE || sfx_meta_entries(meta) > live + dead + live / STALE;
}

static const TypeCacheEntry *
type_of(Relation index)
{
	return lookup_type_cache(index->rd_opcintype[0], TYPECACHE_LT_OPR);
}

/*
 * Are values compared without functions of others?  Such a function may plan a query, which would
 * load another histogram in the midst of a search.
 */
static bool
is_simple(const TypeCacheEntry *type)
{
	return OidIsValid(type->lt_opr) && type->lt_opr < FirstGenbkiObjectId && !OidIsValid(type->typelem) &&
		(type->typtype == TYPTYPE_BASE || type->typtype == TYPTYPE_ENUM);
}

/*
 * Copy the bounds of ANALYZE's histogram, if it describes all values but NULLs, in the order of that
 * collation.
 */
static void
load_bounds(Histogram *h, HeapTuple row, const TypeCacheEntry *type, Oid collation)
{
	AttStatsSlot slot;
	MemoryContext old;
	Size		bytes = 0;

	if (get_attstatsslot(&slot, row, STATISTIC_KIND_MCV, InvalidOid, 0))
	{
		free_attstatsslot(&slot);
		return;
	}
	if (!get_attstatsslot(&slot, row, STATISTIC_KIND_HISTOGRAM, type->lt_opr, ATTSTATSSLOT_VALUES))
		return;
	for (int i = 0; i < slot.nvalues && !type->typbyval; i++)
		bytes += datumGetSize(slot.values[i], false, type->typlen);
	if (slot.stacoll == collation && slot.nvalues > FEW && slot.nvalues <= MAX_BOUNDS && bytes <= MAX_BYTES)
	{
		old = MemoryContextSwitchTo(h->cxt);
		h->bound = palloc(slot.nvalues * sizeof(Datum));
		for (int i = 0; i < slot.nvalues; i++)
			h->bound[i] = datumCopy(slot.values[i], type->typbyval, type->typlen);
		MemoryContextSwitchTo(old);
		h->n = slot.nvalues;
	}
	free_attstatsslot(&slot);
}

/* Take what ANALYZE's row says now. */
static void
load(Histogram *h, Relation index, HeapTuple row, const SfxMeta *meta)
{
	const TypeCacheEntry *type = type_of(index);

	if (h->cxt == NULL)
		h->cxt = AllocSetContextCreate(TopMemoryContext, "surfidx histogram", ALLOCSET_SMALL_SIZES);
	MemoryContextReset(h->cxt);
	h->n = 0;
	memset(h->comparison, 0, sizeof(h->comparison));
	h->row = row->t_self;
	h->xmin = HeapTupleHeaderGetRawXmin(row->t_data);
	h->log_pages = sfx_meta_log_pages(meta);
	h->stale = is_stale(index->rd_index->indrelid, meta);
	if (is_simple(type) && !h->stale)
		load_bounds(h, row, type, index->rd_indcollation[0]);
}

/* What is kept of the index's first column, up to date; NULL: its metapage cannot be read. */
static Histogram *
histogram_of(Relation index, HeapTuple row)
{
	const SfxGlance *glance = sfx_glance(RelationGetRelid(index));
	Histogram  *h;
	bool		fresh;

	if (!glance->sound)
		return NULL;
	h = sfx_memo_get(&table, index, glance->meta.build_id, glance->meta.work.groups, &fresh);
	if (fresh || !ItemPointerEquals(&h->row, &row->t_self) ||
		h->xmin != HeapTupleHeaderGetRawXmin(row->t_data) ||
		sfx_meta_log_pages(&glance->meta) > 2 * h->log_pages + LOG_PAGES)
		load(h, index, row, &glance->meta);
	return h;
}

/* ---- searching ---- */

/* The comparison of an operator; NULL: the histogram is not in its order. */
static Comparison *
comparison_of(Histogram *h, Relation index, const OpExpr *clause)
{
	Comparison *free = NULL;
	RegProcedure estimator;
	bool		greater;

	for (int i = 0; i < OPERATORS; i++)
	{
		if (h->comparison[i].op == clause->opno)
			return &h->comparison[i];
		if (!OidIsValid(h->comparison[i].op))
			free = &h->comparison[i];
	}
	if (free == NULL)
		free = &h->comparison[0];
	/* for the same reason as in is_simple; a family may have members of others */
	if (clause->opno >= FirstGenbkiObjectId)
		return NULL;
	estimator = get_oprrest(clause->opno);
	greater = estimator == F_SCALARGTSEL || estimator == F_SCALARGESEL;
	if ((!greater && estimator != F_SCALARLTSEL && estimator != F_SCALARLESEL) ||
		!op_in_opfamily(clause->opno, index->rd_opfamily[0]) ||
		!comparison_ops_are_compatible(type_of(index)->lt_opr, clause->opno))
		return NULL;
	free->op = InvalidOid;
	free->greater = greater;
	fmgr_info_cxt(get_opcode(clause->opno), &free->compare, h->cxt);
	free->op = clause->opno;
	return free;
}

/*
 * The clause is "column op constant": narrow the bounds of which it may be true for some rows in
 * the bins beside them to [*first, *last].  False: it is not such a clause.
 */
static bool
narrow(Histogram *h, Relation index, const RelOptInfo *rel, AttrNumber attno, const OpExpr *clause, int *first, int *last)
{
	const Var  *var;
	const Const *value;
	Comparison *c;
	int			lo = 0,
				hi = h->n;

	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2)
		return false;
	var = linitial(clause->args);
	if (!IsA(var, Var) || var->varno != rel->relid || var->varattno != attno || var->varlevelsup != 0)
		return false;
	value = lsecond(clause->args);
	if (!IsA(value, Const) || value->constisnull || clause->inputcollid != index->rd_indcollation[0])
		return false;
	c = comparison_of(h, index, clause);
	if (c == NULL)
		return false;
	/* the first bound above the constant, or not below it */
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		bool		found = DatumGetBool(FunctionCall2Coll(&c->compare, clause->inputcollid, h->bound[mid], value->constvalue));

		if (found == c->greater)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (c->greater)
		*first = Max(*first, lo - 1);
	else
		*last = Min(*last, lo);
	return true;
}

/* The index's kept histogram, with the table's statistics of its first column, in row. */
typedef struct Source
{
	Relation	index;
	HeapTuple	row;			/* NULL: there are none */
	Histogram  *h;				/* NULL: not to be had */
} Source;

static Source
open_source(Oid relid, const IndexOptInfo *info)
{
	Source		s = {NULL};

	s.row = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(info->indexkeys[0]), BoolGetDatum(false));
	if (!HeapTupleIsValid(s.row))
		return s;
	/* the planner holds a lock on it */
	s.index = index_open(info->indexoid, NoLock);
	s.h = histogram_of(s.index, s.row);
	return s;
}

static void
close_source(const Source *s)
{
	if (s->row == NULL)
		return;
	index_close(s->index, NoLock);
	ReleaseSysCache(s->row);
}

bool
sfx_histogram_is_fresh(Oid relid, const IndexOptInfo *info)
{
	Source		s = open_source(relid, info);
	bool		result = s.h && !s.h->stale;

	close_source(&s);
	return result;
}

bool
sfx_histogram_has_few(Oid relid, const RelOptInfo *rel, const IndexOptInfo *info)
{
	Source		s = open_source(relid, info);
	int			first = -1,
				last = INT_MAX;
	bool		all = s.h && s.h->n > 0;

	foreach_node(RestrictInfo, rinfo, rel->baserestrictinfo)
		all = all && narrow(s.h, s.index, rel, info->indexkeys[0], (OpExpr *) rinfo->clause, &first, &last);
	all = all && first >= 0 && last < s.h->n && (last - first) * FEW <= s.h->n - 1;
	close_source(&s);
	return all;
}
