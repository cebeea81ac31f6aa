/*-------------------------------------------------------------------------
 * scankey.c - from scan keys to byte ranges: the conditions' shape, the ranges in order, their
 * bounds
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "key.h"
#include "rowcompare.h"
#include "scankey.h"
#include "scankey_impl.h"

#include "utils/memutils.h"

void
sfx_scankeys_init(SfxScanKeys *sk, Relation index, const SfxKeyDesc *kd, const SfxOrder *order, int nkeys)
{
	/* the buffers at its end are not cleared */
	memset(sk, 0, offsetof(SfxScanKeys, few));
	sk->index = index;
	sk->kd = kd;
	sk->order = order;
	sk->parent = CurrentMemoryContext;
	sk->nquals = nkeys;
	sk->leap_col = -1;
	if (nkeys == 0)
		return;
	/* one allocation, since statements may be short */
	sk->quals = palloc0(MAXALIGN(nkeys * sizeof(SfxQual)) + nkeys * sizeof(SfxScanFilter) + kd->nkeys * sizeof(SfxList));
	sk->filters = (SfxScanFilter *) ((char *) sk->quals + MAXALIGN(nkeys * sizeof(SfxQual)));
	sk->lists = (SfxList *) (sk->filters + nkeys);
}

void
sfx_scankeys_end(SfxScanKeys *sk)
{
	if (sk->work)
		MemoryContextDelete(sk->work);
	if (sk->eval)
		MemoryContextDelete(sk->eval);
	if (sk->quals)
		pfree(sk->quals);
	if (sk->more)
		pfree(sk->more);
	if (sk->leap_lo)
	{
		pfree(sk->leap_lo);
		pfree(sk->leap_hi);
		pfree(sk->leap_to);
	}
}

/* ------------------------------------------------------------------ the shape */

/* The flags of a key that belong to the shape. */
static inline int
shape_flags(const ScanKeyData *key)
{
	if (key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL))
		return key->sk_flags;
	return key->sk_flags & ~SK_ISNULL;
}

static bool
same_shape(const SfxScanKeys *sk, ScanKey keys, int nkeys)
{
	if (nkeys != sk->nquals)
		return false;
	for (int i = 0; i < nkeys; i++)
	{
		const SfxQual *q = &sk->quals[i];
		const ScanKeyData *key = &keys[q->keyno];

		if (key->sk_attno != q->col + 1 || key->sk_strategy != (q->row ? q->row : q->strategy) ||
			shape_flags(key) != q->flags || sfx_first_key(key)->sk_subtype != q->subtype)
			return false;
	}
	return true;
}

/* Does the preparation of this condition need memory? */
static bool
needs_work_memory(const SfxKeyDesc *kd, const SfxQual *q)
{
	return (q->flags & SK_SEARCHARRAY) || q->row ||
		(!q->is_test && !(q->own_type && kd->col[q->col].typbyval));
}

/* What a row comparison implies for its first column alone: <= or >=. */
static inline StrategyNumber
first_strategy(StrategyNumber row)
{
	if (row <= BTLessEqualStrategyNumber)
		return BTLessEqualStrategyNumber;
	return BTGreaterEqualStrategyNumber;
}

/* The shape of key number i. */
static SfxQual
shape_of(const SfxScanKeys *sk, const ScanKeyData *key, int i)
{
	bool		row = (key->sk_flags & SK_ROW_HEADER) != 0;
	SfxQual		q;

	if ((key->sk_flags & (SK_ROW_MEMBER | SK_ORDER_BY)) ||
		key->sk_attno < 1 || key->sk_attno > sk->kd->nkeys)
		elog(ERROR, "unsupported scan key for surfidx index \"%s\"",
			 RelationGetRelationName(sk->index));

	memset(&q, 0, sizeof(q));
	q.keyno = i;
	q.col = key->sk_attno - 1;
	q.flags = shape_flags(key);
	q.row = row ? key->sk_strategy : 0;
	q.upto = row ? sfx_row_upto(key) : key->sk_attno;
	q.strategy = row ? first_strategy(key->sk_strategy) : key->sk_strategy;
	q.subtype = sfx_first_key(key)->sk_subtype;
	q.is_test = (key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL)) != 0;
	q.own_type = q.subtype == InvalidOid || q.subtype == sk->kd->col[q.col].type;
	if (!q.is_test && (q.strategy < BTLessStrategyNumber || q.strategy > BTGreaterStrategyNumber))
		elog(ERROR, "unsupported strategy %d for surfidx index \"%s\"", q.strategy,
			 RelationGetRelationName(sk->index));
	return q;
}

static void
take_shape(SfxScanKeys *sk, ScanKey keys, int nkeys)
{
	for (int i = 0; i < nkeys; i++)
	{
		SfxQual		q = shape_of(sk, &keys[i], i);
		int			at = i;

		if (sk->work == NULL && needs_work_memory(sk->kd, &q))
			sk->work = AllocSetContextCreate(sk->parent, "surfidx scan keys", ALLOCSET_SMALL_SIZES);

		/* sorted by column, else in their order */
		for (; at > 0 && sk->quals[at - 1].col > q.col; at--)
			sk->quals[at] = sk->quals[at - 1];
		sk->quals[at] = q;
	}
	sk->nquals = nkeys;
	sk->shaped = true;
}

/* ------------------------------------------------------------------ the ranges */

/* Do conditions bound the first column on both sides, so that all ranges have two ends? */
static bool
bounds_both_sides(const SfxScanKeys *sk)
{
	bool		below = false;
	bool		above = false;

	for (int i = 0; i < sk->nquals && sk->quals[i].col == 0; i++)
	{
		const SfxQual *q = &sk->quals[i];

		if (q->is_test && !(q->flags & SK_SEARCHNULL))
			continue;
		below |= q->is_test || q->strategy >= BTEqualStrategyNumber;
		above |= q->is_test || q->strategy <= BTEqualStrategyNumber;
	}
	return below && above;
}

/* Begin to work conditions out.  False: a NULL contradicts. */
static bool
begin_work(SfxScanKeys *sk, ScanKey keys, int nkeys)
{
	Assert(nkeys <= sk->nquals || !sk->shaped);

	sk->nlists = sk->npieces = 0;
	sk->nfilters = sk->inexact = 0;
	sk->filter_upto = 0;
	sk->leap_col = -1;
	sk->pinned_len = sk->tail_lo_len = sk->tail_hi_len = 0;

	/*
	 * An operator with a NULL constant matches no row, nor does a row comparison that begins with
	 * NULL.
	 */
	for (int i = 0; i < nkeys; i++)
	{
		int			flags = sfx_first_key(&keys[i])->sk_flags;

		if ((flags & SK_ISNULL) && !(flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL)))
			return false;
	}

	if (!sk->shaped || !same_shape(sk, keys, nkeys))
		take_shape(sk, keys, nkeys);
	if (sk->work)
		MemoryContextReset(sk->work);
	return true;
}

/* Work the conditions out, on bytes of the caller. */
static bool
work_out(SfxScanKeys *sk, ScanKey keys, int nkeys)
{
	MemoryContext old = CurrentMemoryContext;
	bool		result = true;
	int			q = 0;

	if (!begin_work(sk, keys, nkeys))
		return false;
	if (sk->work)
		MemoryContextSwitchTo(sk->work);
	sk->one_key = sk->kd->image_equal && sk->kd->nrests == 0;
	for (int col = 0; col < sk->kd->nkeys; col++)
	{
		ColumnResult r;
		int			n = 0;

		while (q + n < sk->nquals && sk->quals[q + n].col == col)
			n++;
		r = n > 0 ? sfx_interval_column(sk, keys, sk->quals + q, n) : COL_OPEN;
		if (r == COL_EMPTY || (r == COL_RANGE && !sfx_pieces_tail(sk, keys, sk->quals + q, n)))
			result = false;
		q += n;
		if (r != COL_PINNED && r != COL_LIST)
		{
			sk->one_key = false;
			break;
		}
	}
	sk->closed = bounds_both_sides(sk);
	if (result)
	{
		int			later = q;

		for (; q < sk->nquals; q++)
			sfx_scanfilter_add(sk, &sk->quals[q]);
		result = sfx_scanfilter_fill(sk, keys) && sfx_leap_prepare(sk, keys, later);
	}
	MemoryContextSwitchTo(old);
	return result;
}

/* Bytes as many as conditions and ranges may need. */
typedef struct SfxKeyBytes
{
	uint8		pinned[SFX_MAX_ENTRY];
	uint8		tail_lo[SFX_MAX_ENTRY + 1];
	uint8		tail_hi[SFX_MAX_ENTRY + 1];
	uint8		lo[SFX_BOUND_MAX];
	uint8		hi[SFX_BOUND_MAX];
	uint8		scratch[SFX_MAX_ENTRY];
} SfxKeyBytes;

static void
use_bytes(SfxScanKeys *sk, SfxKeyBytes *bytes)
{
	sk->pinned = bytes->pinned;
	sk->tail_lo = bytes->tail_lo;
	sk->tail_hi = bytes->tail_hi;
	sk->lo = bytes->lo;
	sk->hi = bytes->hi;
	sk->scratch = bytes->scratch;
}

/* Conditions were worked out on these bytes, which go: keep what the ranges are made of. */
static void
keep_bytes(SfxScanKeys *sk, const SfxKeyBytes *from)
{
	if (sk->nlists == 0 && sk->npieces == 0 &&
		Max(sk->pinned_len, Max(sk->tail_lo_len, sk->tail_hi_len)) <= SFX_FEW_BYTES)
	{
		/* (constant lengths take no calls) */
		sk->pinned = memcpy(sk->few[0], from->pinned, SFX_FEW_BYTES);
		if (sk->tail_lo_len + sk->tail_hi_len > 0)
		{
			sk->tail_lo = memcpy(sk->few[1], from->tail_lo, SFX_FEW_BYTES);
			sk->tail_hi = memcpy(sk->few[2], from->tail_hi, SFX_FEW_BYTES);
		}
		sk->lo = sk->few_lo;
		sk->hi = sk->few_hi;
		return;
	}
	if (sk->more == NULL)
		sk->more = MemoryContextAlloc(sk->parent, sizeof(SfxKeyBytes));
	use_bytes(sk, sk->more);
	memcpy(sk->pinned, from->pinned, sk->pinned_len);
	memcpy(sk->tail_lo, from->tail_lo, sk->tail_lo_len);
	memcpy(sk->tail_hi, from->tail_hi, sk->tail_hi_len);
}

bool
sfx_scankeys_prepare(SfxScanKeys *sk, ScanKey keys, int nkeys)
{
	SfxKeyBytes bytes;
	bool		result;

	use_bytes(sk, &bytes);
	result = work_out(sk, keys, nkeys);
	keep_bytes(sk, &bytes);
	sk->scratch = NULL;
	return result;
}

bool
sfx_scankeys_prepare_filters(SfxScanKeys *sk, ScanKey keys, int nkeys)
{
	MemoryContext old = CurrentMemoryContext;
	SfxKeyBytes bytes;
	bool		result;

	use_bytes(sk, &bytes);
	if (!begin_work(sk, keys, nkeys))
		return false;
	if (sk->work)
		MemoryContextSwitchTo(sk->work);
	for (int q = 0; q < sk->nquals; q++)
		sfx_scanfilter_add(sk, &sk->quals[q]);
	result = sfx_scanfilter_fill(sk, keys);
	MemoryContextSwitchTo(old);
	return result;
}

static inline void
rewind_pieces(SfxScanKeys *sk, bool forward)
{
	sk->piece = forward || sk->npieces == 0 ? 0 : sk->npieces - 1;
}

void
sfx_scankeys_rewind(SfxScanKeys *sk, ScanDirection dir)
{
	for (int i = 0; i < sk->nlists; i++)
		sk->lists[i].cur = ScanDirectionIsForward(dir) ? 0 : sk->lists[i].n - 1;
	rewind_pieces(sk, ScanDirectionIsForward(dir));
}

bool
sfx_scankeys_advance(SfxScanKeys *sk, ScanDirection dir)
{
	int			step = ScanDirectionIsForward(dir) ? 1 : -1;

	if (sk->piece + step >= 0 && sk->piece + step < sk->npieces)
	{
		sk->piece += step;
		return true;
	}
	for (int i = sk->nlists - 1; i >= 0; i--)
	{
		SfxList    *l = &sk->lists[i];

		if (l->cur + step < 0 || l->cur + step >= l->n)
			continue;
		l->cur += step;
		for (int j = i + 1; j < sk->nlists; j++)
			sk->lists[j].cur = step > 0 ? 0 : sk->lists[j].n - 1;
		rewind_pieces(sk, step > 0);
		return true;
	}
	return false;
}

/*
 * Write the prefix of the current range to out; returns its length, or -1 if no key can be so long.
 */
static int
compose_prefix(const SfxScanKeys *sk, uint8 *out)
{
	int			len = 0;
	int			from = 0;

	for (int i = 0; i < sk->nlists; i++)
	{
		const SfxList *l = &sk->lists[i];
		const SfxBytes *e = &l->elem[l->cur];
		int			fixed = l->at - from;

		if (len + fixed + e->len > SFX_MAX_ENTRY)
			return -1;
		memcpy(out + len, sk->pinned + from, fixed);
		memcpy(out + len + fixed, e->p, e->len);
		len += fixed + e->len;
		from = l->at;
	}
	if (len + sk->pinned_len - from > SFX_MAX_ENTRY)
		return -1;
	memcpy(out + len, sk->pinned + from, sk->pinned_len - from);
	return len + sk->pinned_len - from;
}

/* May keys that are equal to the one in lo be stored in compressed form, with other bytes? */
static inline bool
may_be_squeezed(const SfxScanKeys *sk, int len)
{
	return sk->kd->comparator && (len > SFX_MAX_ENTRY / 2 || sfx_key_is_squeezed(sk->kd, sk->index, sk->lo, len));
}

void
sfx_scankeys_bounds(SfxScanKeys *sk, SfxPos *lo, SfxPos *hi)
{
	int			len = compose_prefix(sk, sk->lo);

	lo->tid = hi->tid = 0;
	lo->key = sk->lo;
	hi->key = sk->hi;
	if (len < 0)
	{
		/* an empty range */
		sk->lo[0] = sk->hi[0] = 0xFF;
		lo->len = hi->len = 1;
		return;
	}
	if (sk->one_key && !may_be_squeezed(sk, len))
	{
		/* all TIDs of one key: the same bytes at both ends are searched for once */
		lo->len = hi->len = len;
		hi->key = sk->lo;
		hi->tid = SFX_MAX_TID;
		return;
	}
	memcpy(sk->hi, sk->lo, len);
	if (sk->npieces > 0)
	{
		const SfxRowPiece *p = &sk->pieces[sk->piece];

		lo->len = append_cut(sk, sk->lo, len, p->lo.p, p->lo.len);
		hi->len = append_cut(sk, sk->hi, len, p->hi.p, p->hi.len);
		return;
	}
	if (sk->tail_lo_len > 0)
		lo->len = append_cut(sk, sk->lo, len, sk->tail_lo, sk->tail_lo_len);
	else
		lo->len = end_below(sk, sk->lo, len);
	if (sk->tail_hi_len > 0)
		hi->len = append_cut(sk, sk->hi, len, sk->tail_hi, sk->tail_hi_len);
	else
		hi->len = end_above(sk, sk->hi, len);
	if (hi->len == 0)
		hi->key = NULL;
}

bool
sfx_scankeys_stand_as(SfxScanKeys *sk, const SfxScanKeys *other)
{
	if (sk->nlists != other->nlists || sk->npieces != other->npieces)
		return false;
	for (int i = 0; i < sk->nlists; i++)
	{
		if (sk->lists[i].n != other->lists[i].n)
			return false;
		sk->lists[i].cur = other->lists[i].cur;
	}
	sk->piece = other->piece;
	return true;
}
