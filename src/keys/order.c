/*-------------------------------------------------------------------------
 * order.c - the comparator key space: the order of keys that their bytes alone do not tell
 *
 * A key of this space is built as in ordered bytes, column by column, marker and value; but a raw
 * column's value is just the datum's bytes.  The order compares column by column: markers as bytes,
 * raw values by the operator class (sort support, or support function 1), other values as bytes; a
 * key that ends first is smaller.  Up to here "equal" means what the comparison functions say.
 * Stored keys that are equal but not identical are then put in the order of their bytes, which
 * makes the order total: core may take 0 as "the same bytes".
 *
 * Bounds end in SFX_MARK_BEFORE or SFX_MARK_AFTER, which stand below and above every continuation
 * of the columns before them, equal keys with other bytes included.
 *
 * After the last column a stored key may go on with the rests of columns that have an encoding.
 * They are compared as bytes, and make keys differ whose columns are equal.
 *
 * Truncated separators end after a whole column and need no mark: shorter is smaller.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "collate.h"
#include "column.h"
#include "damage.h"
#include "encode.h"
#include "key.h"
#include "order.h"
#include "scratch.h"

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "catalog/pg_opclass.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/sortsupport.h"
#include "utils/syscache.h"

#define CALLS_PER_RESET		256 /* comparisons between two resets of the scratch context */

/*
 * A guess that says nothing costs a tenth of a comparison, one that says something saves a
 * comparison.
 */
#define GUESS_PAYS			8
#define GUESSES_IN_VAIN		64	/* so many of them in excess, and no guess is made ... */
#define GUESSES_LEFT_OUT	2048	/* ... for so many times */

/* The order of one index, for one scan, insert or build. */
typedef struct SfxKeyOrder
{
	SfxOrder	base;			/* must be first */
	Relation	index;
	const SfxKeyDesc *kd;
	MemoryContext scratch;		/* garbage of comparison functions goes here */
	int			calls;			/* since its last reset */
	bool		bulk;			/* sort support is used */
	FmgrInfo   *proc[INDEX_MAX_KEYS];	/* if not bulk: support function 1, as cached with the
										 * relation */
	int			unproved;		/* columns that sfx_order_prove still has to look at */
	bool		proved[INDEX_MAX_KEYS];
	/* support function 1 is text's, which sfx_collate stands for */
	bool		is_text[INDEX_MAX_KEYS];
	const SfxRanks *ranks[INDEX_MAX_KEYS];	/* of strings whose order may be guessed; else NULL */
	int			in_vain;		/* guesses that said nothing, less what others have saved */
	int			left_out;		/* guesses that are still to be left out */
	SortSupportData ssup[INDEX_MAX_KEYS];	/* bulk */
} SfxKeyOrder;

void
sfx_column_sortsupport(Relation index, const SfxKeyDesc *kd, int attno, SortSupport ssup)
{
	Oid			proc = index_getprocid(index, attno + 1, BTSORTSUPPORT_PROC);

	if (OidIsValid(proc))
		OidFunctionCall1(proc, PointerGetDatum(ssup));
	if (ssup->comparator == NULL)
		PrepareSortSupportComparisonShim(index_getprocid(index, attno + 1, BTORDER_PROC), ssup);
}

static void
init_sortsupport(SfxKeyOrder *ko, int i)
{
	SortSupport ssup = &ko->ssup[i];

	memset(ssup, 0, sizeof(*ssup));
	ssup->ssup_cxt = CurrentMemoryContext;
	ssup->ssup_collation = ko->kd->col[i].collation;
	ssup->ssup_attno = i + 1;
	ssup->abbreviate = false;
	sfx_column_sortsupport(ko->index, ko->kd, i, ssup);
}

/*
 * May the order of this column's strings be guessed?  Their bytes stand in the key as they are, and
 * end in 00.
 */
static bool
is_guessable(const SfxKeyOrder *ko, int i)
{
	const SfxColumn *col = &ko->kd->col[i];

	return ko->is_text[i] && OidIsValid(col->collation) && col->typlen == -1 && !col->counted;
}

/*
 * Do guesses pay for this index?  Not if another raw column comes first, or digits count as
 * numbers, of which ranks say nothing.
 */
static bool
makes_guesses(const SfxKeyOrder *ko)
{
	int			i = 0;

	while (i < ko->kd->nkeys && !ko->kd->col[i].raw)
		i++;
	return i < ko->kd->nkeys && ko->ranks[i] != NULL && !ko->ranks[i]->numeric;
}

static inline int
compare(SfxKeyOrder *ko, int i, Datum a, Datum b)
{
	SFX_STOP("compare");
	if (ko->bulk)
		return ko->ssup[i].comparator(a, b, &ko->ssup[i]);
	return DatumGetInt32(FunctionCall2Coll(ko->proc[i], ko->kd->col[i].collation, a, b));
}

void
sfx_order_prove(const SfxOrder *o, const Datum *values, const bool *isnull)
{
	SfxKeyOrder *ko = (SfxKeyOrder *) o;
	MemoryContext old;

	if (o == NULL || ko->unproved == 0)
		return;
	old = MemoryContextSwitchTo(ko->scratch);
	for (int i = 0; i < ko->kd->nkeys; i++)
	{
		if (ko->proved[i] || isnull[i])
			continue;
		(void) compare(ko, i, values[i], values[i]);
		ko->proved[i] = true;
		ko->unproved--;
	}
	MemoryContextSwitchTo(old);
}

static inline bool
is_compressed(const SfxColumn *col, Datum value)
{
	return col->typlen == -1 && VARATT_IS_COMPRESSED(DatumGetPointer(value));
}

/* Error context: what a comparison function throws about stored values does not name the index. */
static void
compare_context(void *arg)
{
	errcontext("comparing keys of surfidx index \"%s\"", RelationGetRelationName(((SfxKeyOrder *) arg)->index));
}

/* Compare two values of a raw column by the operator class.  (Not inlined: its arenas are large.) */
static pg_noinline int
cmp_decoded(SfxKeyOrder *ko, int i, const uint8 *a, int alen, const uint8 *b, int blen)
{
	const SfxColumn *col = &ko->kd->col[i];
	ErrorContextCallback context = {.callback = compare_context,.arg = ko};
	PGAlignedBlock arena_a[SFX_ARENA / BLCKSZ];
	PGAlignedBlock arena_b[SFX_ARENA / BLCKSZ];
	MemoryContext old;
	Datum		da,
				db;
	int			c;

	context.previous = error_context_stack;
	error_context_stack = &context;
	(void) sfx_value_decode(col, a, alen, &da, arena_a->data);
	(void) sfx_value_decode(col, b, blen, &db, arena_b->data);
	old = MemoryContextSwitchTo(ko->scratch);
	c = compare(ko, i, da, db);
	MemoryContextSwitchTo(old);
	error_context_stack = context.previous;
	/* decompressed values are large */
	if (++ko->calls >= CALLS_PER_RESET || is_compressed(col, da) || is_compressed(col, db))
	{
		MemoryContextReset(ko->scratch);
		ko->calls = 0;
	}
	return c;
}

/* Compare two values of a raw column, markers not included. */
static int
cmp_raw(SfxKeyOrder *ko, int i, const uint8 *a, int alen, const uint8 *b, int blen)
{
	const SfxColumn *col = &ko->kd->col[i];
	int			c;

	if (alen == blen && memcmp(a, b, alen) == 0)
		return 0;
	if (ko->is_text[i])
	{
		int			an = sfx_plain_string(col, a, alen);
		int			bn = sfx_plain_string(col, b, blen);

		if (an >= 0 && bn >= 0)
		{
			c = sfx_collate(col->collation, a, an, b, bn);
			return col->desc ? (c < 0) - (c > 0) : c;
		}
	}
	c = cmp_decoded(ko, i, a, alen, b, blen);
	return col->desc ? (c < 0) - (c > 0) : c;
}

/* A walk along two keys. */
typedef struct Walk
{
	const uint8 *a;
	const uint8 *aend;
	const uint8 *b;
	const uint8 *bend;
} Walk;

static inline bool
is_end_mark(uint8 m)
{
	return m == SFX_MARK_BEFORE || m == SFX_MARK_AFTER;
}

/* Compare column i, which both keys have, and step over it in both. */
static int
cmp_column(SfxKeyOrder *ko, int i, Walk *w)
{
	const SfxColumn *col = &ko->kd->col[i];
	int			alen,
				blen,
				c;

	if (*w->a != *w->b)
		return (int) *w->a - (int) *w->b;
	w->a++;
	w->b++;
	if (w->a[-1] != SFX_MARK_VALUE)
		return 0;
	if (w->a == w->aend || w->b == w->bend) /* a bound that is a marker alone */
		return (w->b == w->bend) - (w->a == w->aend);
	alen = sfx_value_length(col, ko->index, w->a, w->aend - w->a);
	blen = sfx_value_length(col, ko->index, w->b, w->bend - w->b);
	if (col->raw)
		c = cmp_raw(ko, i, w->a, alen, w->b, blen);
	else
		c = sfx_cmp_bytes(w->a, alen, w->b, blen);
	w->a += alen;
	w->b += blen;
	return c;
}

/* Compare what is left, if at least one key is at its end or at an end mark.  False: both go on. */
static bool
cmp_ends(const Walk *w, int *result)
{
	/* before: -1, end: 0, after: 1; a key that goes on is above an end */
	bool		aends = w->a == w->aend || is_end_mark(*w->a);
	bool		bends = w->b == w->bend || is_end_mark(*w->b);
	int			ra = w->a == w->aend ? 0 : !aends ? 0 : *w->a == SFX_MARK_BEFORE ? -1 : 1;
	int			rb = w->b == w->bend ? 0 : !bends ? 0 : *w->b == SFX_MARK_BEFORE ? -1 : 1;

	if (!aends && !bends)
		return false;
	if (ra != rb)
		*result = ra - rb;
	else
		*result = (int) bends - (int) aends;
	return true;
}

/* Compare the rests of two stored keys whose columns are equal. */
static int
order_rests(SfxKeyOrder *ko, const uint8 *a, int alen, const uint8 *b, int blen)
{
	if (ko->kd->nrests == 0)
		sfx_entry_damaged(ko->index, "a key is longer than its columns");
	return sfx_cmp_bytes(a, alen, b, blen);
}

/*
 * Is the key one plain string: marker, bytes, 00, and perhaps an end mark (*mark: -1, 0, 1)?  The
 * number of its bytes; -1: it is not.
 */
static inline int
single_string(const uint8 *p, int len, int *mark)
{
	*mark = 0;
	if (len > 2 && is_end_mark(p[len - 1]))
		*mark = p[--len] == SFX_MARK_BEFORE ? -1 : 1;
	if (len < 2 || p[0] != SFX_MARK_VALUE || p[len - 1] != 0 || memchr(p + 1, 0x01, len - 2) != NULL)
		return -1;
	return len - 2;
}

/*
 * A short cut for the most frequent index of this space, one column of text.  False: compare column
 * by column.
 */
static inline bool
cmp_single_text(SfxKeyOrder *ko, const uint8 *a, int alen, const uint8 *b, int blen, int *result)
{
	const SfxColumn *col = &ko->kd->col[0];
	int			amark,
				bmark;
	int			an = single_string(a, alen, &amark);
	int			bn = an < 0 ? -1 : single_string(b, blen, &bmark);
	int			c = 0;

	if (bn < 0)
		return false;
	if (an != bn || memcmp(a + 1, b + 1, an) != 0)
		c = sfx_collate(col->collation, a + 1, an, b + 1, bn);
	if (c != 0)
		*result = col->desc ? (c < 0) - (c > 0) : c;
	else
		*result = amark != bmark ? amark - bmark : sfx_cmp_bytes(a, alen, b, blen);
	return true;
}

/* SfxOrder.cmp. */
static int
order_cmp(const SfxOrder *o, const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	SfxKeyOrder *ko = (SfxKeyOrder *) o;
	Walk		w = {a, a + alen, b, b + blen};
	int			c;

	if (ko->kd->nkeys == 1 && ko->is_text[0] && cmp_single_text(ko, a, alen, b, blen, &c))
		return c;
	for (int i = 0; i <= ko->kd->nkeys; i++)
	{
		if (cmp_ends(&w, &c))
			return c != 0 ? c : sfx_cmp_bytes(a, alen, b, blen);
		if (i == ko->kd->nkeys)
			return order_rests(ko, a, alen, b, blen);
		if ((c = cmp_column(ko, i, &w)) != 0)
			return c;
	}
	return 0;					/* not reached */
}

/*
 * SfxOrder.ranks (B5): bytes whose order probably is that of keys.  Columns before the first raw
 * one contribute their bytes, end marks included; a first column of text its characters' ranks.
 * Nothing of what comes after it.
 */
static uint32_t
order_ranks(const SfxOrder *o, const uint8_t *key, uint32_t len, uint8_t *out, uint32_t cap)
{
	SfxKeyOrder *ko = (SfxKeyOrder *) o;
	const uint8 *p = key;
	const uint8 *end = key + len;
	uint32		n = 0;

	for (int i = 0; i < ko->kd->nkeys && p < end && n < cap; i++)
	{
		const SfxColumn *col = &ko->kd->col[i];
		int			m = *p++;
		int			size;

		out[n++] = m == SFX_MARK_BEFORE ? 0 : m == SFX_MARK_AFTER ? m : m + 1;
		if (m != SFX_MARK_VALUE || p == end)
			continue;
		size = sfx_value_length(col, ko->index, p, end - p);
		if (col->raw)
		{
			if (ko->ranks[i] == NULL || (size = sfx_plain_string(col, p, size)) < 0)
				break;
			return n + sfx_rank_string(ko->ranks[i], p, size, col->desc, out + n, cap - n);
		}
		size = Min((uint32) size, cap - n);
		memcpy(out + n, p, size);
		n += size;
		p += size;
	}
	return n;
}

/* Guess by column i, of text, whose markers have been read.  0: unknown; else as cmp_column. */
static int
guess_text(SfxKeyOrder *ko, int i, const Walk *w)
{
	int			c;

	if (ko->ranks[i] == NULL)
		return 0;
	c = sfx_collate_guess(ko->ranks[i], w->a, w->aend, w->b, w->bend);
	return ko->kd->col[i].desc ? -c : c;
}

/*
 * What order_cmp probably says.  0: unknown; ends, and keys that are equal so far, are left to it.
 */
static int
guess_columns(SfxKeyOrder *ko, Walk w)
{
	for (int i = 0; i < ko->kd->nkeys; i++)
	{
		int			c;

		if (w.a == w.aend || w.b == w.bend || is_end_mark(*w.a) || is_end_mark(*w.b))
			return 0;
		if (ko->kd->col[i].raw)
		{
			const uint8 *end;
			uint32		same;

			if (*w.a != *w.b)
				return (int) *w.a - (int) *w.b;
			w.a++;
			w.b++;
			if (w.a[-1] != SFX_MARK_VALUE)
				continue;
			c = guess_text(ko, i, &w);
			if (c != 0 || i == ko->kd->nkeys - 1 || ko->ranks[i] == NULL)
				return c;
			same = sfx_lcp(w.a, (uint32) (w.aend - w.a), w.b, (uint32) (w.bend - w.b));
			end = memchr(w.a, 0, same);
			if (end == NULL)
				return 0;
			w.b += end + 1 - w.a;
			w.a = end + 1;
		}
		else if ((c = cmp_column(ko, i, &w)) != 0)
			return c;
	}
	return 0;
}

/*
 * SfxOrder.guess.  Where ranks say little, as for Chinese, they are tried from time to time only.
 */
static int
order_guess(const SfxOrder *o, const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	SfxKeyOrder *ko = (SfxKeyOrder *) o;
	int			c;

	if (ko->left_out > 0)
	{
		ko->left_out--;
		return 0;
	}
	c = guess_columns(ko, (Walk) {a, a + alen, b, b + blen});
	if (c != 0)
		ko->in_vain = Max(ko->in_vain - GUESS_PAYS, 0);
	else if (++ko->in_vain > GUESSES_IN_VAIN)
	{
		ko->in_vain = GUESSES_IN_VAIN / 2;
		ko->left_out = GUESSES_LEFT_OUT;
	}
	return c;
}

bool
sfx_order_equal(const SfxOrder *o, const uint8 *a, int alen, const uint8 *b, int blen)
{
	SfxKeyOrder *ko = (SfxKeyOrder *) o;
	Walk		w = {a, a + alen, b, b + blen};

	for (int i = 0; i < ko->kd->nkeys; i++)
	{
		if (w.a == w.aend || w.b == w.bend)
			sfx_entry_damaged(ko->index, "a key ends before its last column");
		if (cmp_column(ko, i, &w) != 0)
			return false;
	}
	return true;
}

int
sfx_order_cmp_column(const SfxOrder *o, int col, const uint8 *a, int alen, const uint8 *b, int blen)
{
	SfxKeyOrder *ko = (SfxKeyOrder *) o;
	Walk		w = {a, a + alen, b, b + blen};
	int			c;

	if (o == NULL)
		return sfx_cmp_bytes(a, alen, b, blen);
	if (w.a < w.aend && w.b < w.bend && (c = cmp_column(ko, col, &w)) != 0)
		return c;
	return cmp_ends(&w, &c) ? c : 0;
}

int
sfx_order_cmp_columns(const SfxOrder *o, int col, const uint8 *a, int alen,
					  const uint8 *b, int blen)
{
	SfxKeyOrder *ko = (SfxKeyOrder *) o;
	Walk		w = {a, a + alen, b, b + blen};
	int			c;

	if (o == NULL)
		return sfx_cmp_bytes(a, alen, b, blen);
	while (!cmp_ends(&w, &c))
	{
		Assert(col < ko->kd->nkeys);
		if ((c = cmp_column(ko, col++, &w)) != 0)
			break;
	}
	return c;
}

void
sfx_order_contradiction(const SfxOrder *o, const uint8 *a, int alen, const uint8 *b, int blen)
{
	SfxKeyOrder *ko = (SfxKeyOrder *) o;
	Walk		w = {a, a + alen, b, b + blen};
	int			i = 0;
	HeapTuple	opclass;
	Oid			collation;
	char	   *function;

	while (i < ko->kd->nkeys - 1 && cmp_column(ko, i, &w) == 0)
		i++;
	opclass = SearchSysCache1(CLAOID,
							  ObjectIdGetDatum(get_index_column_opclass(RelationGetRelid(ko->index),
																		i + 1)));
	collation = ko->index->rd_indcollation[i];
	function = format_procedure(index_getprocid(ko->index, i + 1, BTORDER_PROC));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator class \"%s\" does not order column \"%s\" of surfidx index \"%s\"",
					HeapTupleIsValid(opclass) ? NameStr(((Form_pg_opclass) GETSTRUCT(opclass))->opcname) : "?",
					NameStr(TupleDescAttr(RelationGetDescr(ko->index), i)->attname),
					RelationGetRelationName(ko->index)),
			 OidIsValid(collation) ?
			 errdetail("Two values sorted by its sort support are in the wrong order for its "
					   "comparison function %s with collation \"%s\".",
					   function, get_collation_name(collation)) :
			 errdetail("Two values sorted by its sort support are in the wrong order for its "
					   "comparison function %s.", function),
			 OidIsValid(collation) ?
			 errhint("Support functions 1 and 2 have to agree, and the comparison function has to be "
					 "transitive. Some libraries' collations are not, for some strings: another "
					 "collation, such as \"C\", has an order.") :
			 errhint("Support functions 1 and 2 have to agree, and the comparison function has to be "
					 "transitive.")));
}

/*
 * SfxOrder.separate: the whole columns of right up to and including the first that differs; all of
 * right if only its bytes differ.  Returns their length.
 */
static uint32_t
order_separate(const SfxOrder *o, const uint8_t *left, uint32_t llen, const uint8_t *right, uint32_t rlen)
{
	SfxKeyOrder *ko = (SfxKeyOrder *) o;
	Walk		w = {left, left + llen, right, right + rlen};

	for (int i = 0; i < ko->kd->nkeys && w.a < w.aend && w.b < w.bend; i++)
	{
		const uint8 *start = w.b;

		if (cmp_column(ko, i, &w) == 0)
			continue;
		if (w.b == start)		/* the markers differ: the value was not stepped over */
		{
			w.b++;
			if (*start == SFX_MARK_VALUE)
				w.b += sfx_value_length(&ko->kd->col[i], ko->index, w.b, w.bend - w.b);
		}
		return w.b - right;
	}
	return rlen;
}

/* ---- making one ---- */

const SfxOrder *
sfx_order_create(Relation index, const SfxKeyDesc *kd, bool bulk)
{
	SfxKeyOrder *ko;

	if (!kd->comparator)
		return NULL;
	ko = sfx_spare_get(SFX_SPARE_ORDER, sizeof(SfxKeyOrder));
	ko->base.cmp = order_cmp;
	ko->base.separate = order_separate;
	ko->base.ranks = order_ranks;
	ko->base.may_change = false;
	ko->index = index;
	ko->kd = kd;
	ko->calls = 0;
	ko->in_vain = ko->left_out = 0;
	ko->scratch = AllocSetContextCreate(CurrentMemoryContext, "surfidx comparisons", ALLOCSET_SMALL_SIZES);
	ko->bulk = bulk;
	ko->unproved = 0;
	for (int i = 0; i < kd->nkeys; i++)
	{
		ko->proved[i] = !kd->col[i].raw;
		ko->ranks[i] = NULL;
		if (!kd->col[i].raw)
			continue;
		if (bulk)
			init_sortsupport(ko, i);
		else
			ko->proc[i] = index_getprocinfo(index, i + 1, BTORDER_PROC);
		ko->is_text[i] = index_getprocid(index, i + 1, BTORDER_PROC) == F_BTTEXTCMP;
		ko->base.may_change |= !ko->is_text[i];
		/* now, since guesses are made under locks of pages or images */
		if (is_guessable(ko, i))
			ko->ranks[i] = sfx_collate_ranks(kd->col[i].collation);
		ko->unproved++;
	}
	ko->base.guess = makes_guesses(ko) ? order_guess : NULL;
	return &ko->base;
}

const SfxOrder *
sfx_order_open(Relation index, SfxKeyDesc *kd, bool bulk)
{
	sfx_keydesc_init(kd, index);
	return sfx_order_create(index, kd, bulk);
}

void
sfx_order_end(const SfxOrder *o)
{
	SfxKeyOrder *ko = (SfxKeyOrder *) o;

	if (o == NULL)
		return;
	MemoryContextDelete(ko->scratch);
	sfx_spare_put(ko);
}
