/*-------------------------------------------------------------------------
 * estimate_count.c - the entries between the constants of a column's conditions
 *
 * Most of it is known within 1 % from what a backend keeps of the index (estimate_known.c) and from
 * images in memory: no page is read, and so no subtransaction is needed, as it would be in case a
 * page is damaged.  Where that is not enough, the ranks of the constants are looked up (rank.c).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "encode.h"
#include "estimate.h"
#include "image.h"
#include "key.h"
#include "leaf.h"
#include "meta.h"
#include "metacache.h"
#include "range.h"
#include "rank.h"
#include "reader.h"
#include "subxact.h"

#include "access/stratnum.h"
#include "access/xact.h"
#include "utils/datum.h"
#include "utils/rel.h"

#define CERTAINLY_SOME	8		/* if ranks say that so many entries lie between two positions,
								 * there is one */
#define MAX_ERROR		0.01	/* of the entries that a condition finds */

/*
 * Insert an edge at its place among the others, unless there is one at that position; its bytes are
 * copied.
 */
static SfxPos
add_edge(const SfxConditions *c, SfxEdges *e, const SfxPos *pos)
{
	uint8	   *bytes = e->bytes + e->used;
	int			i = e->n;

	for (; i > 0; i--)
	{
		int			cmp = e->pos[i - 1].key == NULL ? 1 : sfx_order_cmp_pos(c->o.order, &e->pos[i - 1], pos);

		if (cmp == 0)
			return e->pos[i - 1];
		if (cmp < 0)
			break;
	}
	if (e->used + pos->len > sizeof(e->bytes))
		bytes = palloc(pos->len);
	else
		e->used += pos->len;
	memcpy(bytes, pos->key, pos->len);
	memmove(&e->pos[i + 1], &e->pos[i], (e->n++ - i) * sizeof(SfxPos));
	e->pos[i] = *pos;
	e->pos[i].key = bytes;
	return e->pos[i];
}

/*
 * The range of the columns before ours, and of a condition on ours (NULL: none).  False: it is not
 * one range.
 */
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

/* Add the range of a condition, and its edges. */
static bool
add_range(SfxConditions *c, ScanKey key, SfxEdges *e)
{
	SfxRange	range;

	if (!range_of_condition(c, key, &range))
		return false;
	if (range.empty)
	{
		c->compound = true;
		return true;
	}
	e->range[e->nranges].key = key;
	e->range[e->nranges].lo = add_edge(c, e, &range.lo);
	if (range.hi.key)
		range.hi = add_edge(c, e, &range.hi);
	e->range[e->nranges++].hi = range.hi;
	return true;
}

/* Add the edge where NULLs begin or end. */
static bool
add_nulls(SfxConditions *c, SfxEdges *e)
{
	static const uint8 mark[] = {SFX_MARK_VALUE, SFX_MARK_NULL_LAST};
	ScanKeyData key;
	SfxRange	range;

	if (c->o.order == NULL && c->col == 0)
	{
		(void) add_edge(c, e, &(SfxPos) {&mark[!c->o.kd.col[0].nulls_first], 1, 0});
		return true;
	}
	ScanKeyEntryInitialize(&key, SK_ISNULL | SK_SEARCHNOTNULL, c->col + 1, InvalidStrategy, InvalidOid, InvalidOid, InvalidOid, 0);
	if (!range_of_condition(c, &key, &range))
		return false;
	if (!range.empty)
	{
		(void) add_edge(c, e, &range.lo);
		if (range.hi.key)
			(void) add_edge(c, e, &range.hi);
	}
	return true;
}

bool
sfx_edges_find(SfxConditions *c, bool nulls, SfxEdges *e)
{
	SfxPos		start = SFX_POS_FIRST;
	SfxRange	range;

	if (2 * list_length(c->keys) + 4 > SFX_MAX_EDGES)
		return false;
	e->n = e->nranges = e->used = 0;
	/* where the values of the columns before end, the last edge is */
	range.hi.key = NULL;
	if (c->col > 0)
	{
		if (!range_of_condition(c, NULL, &range) || range.empty)
			return false;
		start = range.lo;
	}
	(void) add_edge(c, e, &start);
	if (range.hi.key)
		(void) add_edge(c, e, &range.hi);
	else
		e->pos[e->n++] = SFX_POS_END;
	if (nulls && !add_nulls(c, e))
		return false;
	foreach_ptr(ScanKeyData, key, c->keys)
	{
		if (!add_range(c, key, e))
			return false;
	}
	return true;
}

/* ---- a value for each interval ---- */

/*
 * A bound of at most that many bytes stands in full in its range: what comes before it and after it
 * is certain.
 */
#define CERTAIN_BOUND	256

/*
 * Is the constant of a condition, of the column's own type, a value between lo and hi, neighbours
 * among the edges?  It is the first or last value of the condition's range, or comes right before
 * or after it; and no edge separates equal values.
 */
static bool
constant_between(const SfxConditions *c, const SfxEdges *e, int r, const SfxPos *lo, const SfxPos *hi)
{
	const SfxColumn *col = &c->o.kd.col[c->col];
	ScanKey		key = e->range[r].key;
	const SfxPos *klo = &e->range[r].lo;
	const SfxPos *khi = &e->range[r].hi;
	bool		greater,
				inclusive;

	if ((OidIsValid(key->sk_subtype) && key->sk_subtype != col->type) || klo->len > CERTAIN_BOUND || khi->len > CERTAIN_BOUND)
		return false;
	greater = key->sk_strategy == BTGreaterStrategyNumber || key->sk_strategy == BTGreaterEqualStrategyNumber;
	inclusive = key->sk_strategy != BTGreaterStrategyNumber && key->sk_strategy != BTLessStrategyNumber;
	if (key->sk_strategy == BTEqualStrategyNumber || greater != col->desc)
		return sfx_order_cmp_pos(c->o.order, inclusive ? lo : hi, klo) == 0;
	if (khi->key == NULL || (inclusive && hi->key == NULL))
		return inclusive && khi->key == NULL && hi->key == NULL;
	return sfx_order_cmp_pos(c->o.order, inclusive ? hi : lo, khi) == 0;
}

/*
 * A value between two edges without a look at the index: a constant of the query, or a value that
 * was seen.  False: none is known.
 */
static bool
known_value(const SfxConditions *c, const SfxEdges *e, const SfxKnown *known, const SfxPos *lo, const SfxPos *hi, SfxPiece *v)
{
	const SfxColumn *col = &c->o.kd.col[c->col];

	v->isnull = false;
	for (int r = 0; r < e->nranges; r++)
		if (constant_between(c, e, r, lo, hi))
		{
			v->first = e->range[r].key->sk_argument;
			return true;
		}
	if (c->col > 0)
		return false;
	if (col->nulls_first ? hi->key && hi->len == 1 && hi->key[0] == SFX_MARK_VALUE : lo->len > 0 && lo->key[0] == SFX_MARK_NULL_LAST)
	{
		v->isnull = true;
		return true;
	}
	if (known == NULL || !sfx_known_value(known, c->o.order, lo, hi, &v->first))
		return false;
	v->first = datumCopy(v->first, col->typbyval, col->typlen);
	return true;
}

/* The column's value in the interval's first entry.  False: the interval is empty. */
static bool
first_value(const SfxConditions *c, SfxReader *reader, SfxKnown *known, const SfxPos *lo, const SfxPos *hi, char *arena, SfxPiece *v)
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
	if (known && c->col == 0 && !v->isnull)
		sfx_known_note(known, col, o->order, &e, v->first);
	return true;
}

/* ---- measuring by what is known ---- */

/*
 * Insert *v into piece[0..n), which is ordered by share: core takes the first for the most common
 * value.
 */
static void
insert_piece(SfxPiece *piece, int n, const SfxPiece *v)
{
	piece[n] = *v;
	for (int j = n; j > 0 && piece[j - 1].share < v->share; j--)
	{
		piece[j] = piece[j - 1];
		piece[j - 1] = *v;
	}
}

/* The ranks of the edges, as far as they are known from what is kept and from images. */
typedef struct Guess
{
	double		rank[SFX_MAX_EDGES + 2];	/* entries below, the delta's included ... */
	double		off[SFX_MAX_EDGES + 2]; /* ... and by how much that may be wrong */
} Guess;

/*
 * Guess the ranks.  look: into the leaves of the constants, and into the log.  False: they are not
 * known.
 */
static bool
guess_ranks(const SfxConditions *c, const SfxEdges *e, const SfxKnown *known, const SfxMeta *meta, bool look, Guess *g)
{
	double		below[SFX_MAX_EDGES + 2];

	for (int i = 0; i < e->n; i++)
		sfx_known_rank(known, &c->o, &e->pos[i], &g->rank[i], &g->off[i]);
	for (int i = 0; look && i < e->n; i++)
	{
		int			from = i;

		for (; i < e->n && g->off[i] > 0; i++)
			g->off[i] = 0;
		if (i > from)
			sfx_known_ranks_by_leaves(known, &c->o, meta, &e->pos[from], i - from, &g->rank[from]);
	}
	if (look)
		sfx_rank_in_delta(&c->o, meta, e->pos, e->n, g->rank);
	for (int gen = 0; !look && gen < meta->ngens; gen++)
	{
		if (!sfx_image_glance(c->o.index, c->o.order, meta, gen, e->pos, e->n, below))
			return false;
		for (int i = 0; i < e->n; i++)
			g->rank[i] += below[i];
	}
	return true;
}

/* Is the number of entries between two edges known within 1 %? */
static bool
good_enough(const Guess *g, int from, int to)
{
	return g->off[from] + g->off[to] <= MAX_ERROR * (g->rank[to] - g->rank[from]);
}

static int
edge_at(const SfxConditions *c, const SfxEdges *e, const SfxPos *pos)
{
	for (int i = 0; i < e->n; i++)
		if (e->pos[i].key && sfx_order_cmp_pos(c->o.order, &e->pos[i], pos) == 0)
			return i;
	return e->n - 1;
}

/*
 * Is the number of entries that each condition finds known within 1 %?  If all conditions are
 * comparisons that a row has to pass, what counts are the entries that pass all of them; otherwise
 * core may ask for any interval between two edges.
 */
static bool
all_good_enough(const SfxConditions *c, const SfxEdges *e, const Guess *g)
{
	int			from = 0,
				to = e->n - 1;

	if (c->compound)
	{
		for (int i = 0; i < to; i++)
			if (!good_enough(g, i, i + 1))
				return false;
		return true;
	}
	for (int r = 0; r < e->nranges; r++)
	{
		from = Max(from, edge_at(c, e, &e->range[r].lo));
		to = Min(to, e->range[r].hi.key ? edge_at(c, e, &e->range[r].hi) : e->n - 1);
	}
	return from < to && good_enough(g, from, to);
}

/*
 * Measure the intervals by what is known.  In ordered bytes, and unless look is set, this reads and
 * throws nothing.  False: too little is known.
 */
static bool
measure_by_known(const SfxConditions *c, const SfxEdges *e, const SfxKnown *known, const SfxMeta *meta, bool look, SfxPiece *piece, int *n)
{
	Guess		g;
	double		total = 0,
				entries,
				nulls;

	if (c->col > 0 || !sfx_known_learned(known, &entries, &nulls) || !guess_ranks(c, e, known, meta, look, &g) ||
		!all_good_enough(c, e, &g))
		return false;
	*n = 0;
	for (int i = 0; i + 1 < e->n; i++)
	{
		SfxPiece	v;

		v.share = g.rank[i + 1] - g.rank[i];
		if (v.share < 0.5)
			continue;
		if (!known_value(c, e, known, &e->pos[i], &e->pos[i + 1], &v))
		{
			/* no value of it was seen, and there may be none */
			if (v.share <= g.off[i] + g.off[i + 1] && v.share <= MAX_ERROR * entries)
				continue;
			return false;
		}
		total += v.share;
		insert_piece(piece, (*n)++, &v);
	}
	for (int i = 0; i < *n; i++)
		piece[i].share /= total;
	return *n > 0;
}

/* ---- measuring by look-ups ---- */

typedef struct Measure
{
	const SfxConditions *c;
	const SfxEdges *e;
	const SfxMeta *meta;		/* NULL: it is damaged, and reading it will raise the error */
	SfxKnown   *known;			/* NULL: nothing is kept */
	SfxPiece   *piece;
	int			n;
} Measure;

/*
 * Measure the shares of the pieces between the edges: by what is kept of the index, if that is
 * enough; otherwise by ranks of the edges, and by the first value of each piece that may be empty.
 * May raise an ERROR, of a damaged index or of a comparison function.
 */
static void
attempt_measure(void *arg)
{
	Measure    *m = arg;
	const SfxOpened *o = &m->c->o;
	const SfxPos *edge = m->e->pos;
	SfxReader  *reader = NULL;
	char	   *arena = NULL;
	double	   *rank;
	SfxMeta		read;
	double		total = 0;

	if (m->meta == NULL)
	{
		sfx_meta_read(o->index, &read);
		m->meta = &read;
	}
	if (m->known && m->c->col == 0 && sfx_known_worth_learning(m->known, m->meta))
		sfx_known_learn(m->known, o, m->meta);
	/* comparison functions may throw */
	if (m->known && o->order && measure_by_known(m->c, m->e, m->known, m->meta, false, m->piece, &m->n))
		return;
	if (m->known && measure_by_known(m->c, m->e, m->known, m->meta, true, m->piece, &m->n))
		return;
	m->n = 0;
	rank = palloc(m->e->n * sizeof(double));
	for (int i = 0; i < m->e->n; i++)
		rank[i] = sfx_rank(o, m->meta, &edge[i]);
	sfx_rank_in_delta(o, m->meta, edge, m->e->n, rank);
	for (int i = 0; i + 1 < m->e->n; i++)
	{
		SfxPiece	v;

		v.share = Max(rank[i + 1] - rank[i], 0);
		/* there certainly are entries, and the first of them is not needed */
		if (v.share < CERTAINLY_SOME || !known_value(m->c, m->e, m->known, &edge[i], &edge[i + 1], &v))
		{
			if (reader == NULL)
			{
				reader = sfx_reader_begin(o->index, o->order, false);
				arena = palloc(SFX_ARENA);
			}
			if (!first_value(m->c, reader, m->known, &edge[i], &edge[i + 1], arena, &v))
				continue;
		}
		v.share = Max(v.share, 1);
		total += v.share;
		insert_piece(m->piece, m->n++, &v);
	}
	if (reader)
		sfx_reader_end(reader);
	for (int i = 0; i < m->n; i++)
		m->piece[i].share /= total;
}

/*
 * See estimate.h.  Neither damage nor another format is an error here: there may be other plans.
 * The work is done in a subtransaction, which parallel workers cannot have on all versions (E5).
 */
int
sfx_edges_measure(const SfxConditions *c, const SfxEdges *e, SfxPiece *piece)
{
	const SfxGlance *glance = sfx_glance(RelationGetRelid(c->o.index));
	Measure		m = {c, e, NULL, NULL, piece, 0};
	SfxMeta		meta;
	ErrorData  *edata;

	if (glance->sound)
	{
		m.known = sfx_known_index(c->o.index, &glance->meta);
		if (c->o.order == NULL && measure_by_known(c, e, m.known, &glance->meta, false, piece, &m.n))
			return m.n;
		meta = glance->meta;
		m.meta = &meta;
	}
	if (IsInParallelMode() || sfx_attempts_are_told())
	{
		attempt_measure(&m);
		return m.n;
	}
	edata = sfx_attempt(attempt_measure, &m);
	if (edata == NULL)
		return m.n;
	if (edata->sqlerrcode != ERRCODE_INDEX_CORRUPTED && edata->sqlerrcode != ERRCODE_DATA_CORRUPTED &&
		edata->sqlerrcode != ERRCODE_FEATURE_NOT_SUPPORTED)
		ReThrowError(edata);
	ereport(WARNING,
			(errcode(edata->sqlerrcode),
			 errmsg("rows cannot be counted in index \"%s\": %s", RelationGetRelationName(c->o.index), edata->message),
			 errdetail("The planner takes the estimate of ANALYZE."),
			 edata->hint ? errhint("%s", edata->hint) : 0));
	return 0;
}
