/*-------------------------------------------------------------------------
 * scankey_pieces.c - the pieces of the key order in which a row comparison is true (R11)
 *
 * (a, b, c) > (1, 2, 3) is true of entries with a > 1, of those with a = 1 and b > 2, and of those
 * with a = 1, b = 2 and c > 3: for each member, an interval of one column after equal values of the
 * previous ones.  If the members are the index's next columns, each of these is a piece of the key
 * order, whatever the direction of its column, and entries read from it need no check.
 *
 * Between two pieces are the NULLs of the deeper piece's column, at one end of that piece.  If they
 * are at its other end, the two pieces touch and become one.  Mostly one or two pieces are left.
 *
 * Entries that are equal up to a member of which bytes do not tell (it is not the next column, or its
 * constant is CONST_FILTER, near or too long) are one more piece, and the comparison is a filter, too.
 *
 * If the first column also has an equality or a list, that pins it, and this file is not used.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "key.h"
#include "order.h"
#include "rowcompare.h"
#include "scankey.h"
#include "scankey_impl.h"

static inline int
cmp_bounds(const SfxScanKeys *sk, int col, const SfxBytes *a, const SfxBytes *b)
{
	return sfx_order_cmp_columns(sk->order, col, a->p, a->len, b->p, b->len);
}

static inline bool
is_upward(StrategyNumber strategy)
{
	return strategy >= BTGreaterEqualStrategyNumber;
}

/* A bound of a piece, palloc'd: prefix and bytes. */
static SfxBytes
keep_bound(const uint8 *prefix, int plen, const uint8 *b, int blen)
{
	uint8	   *p = palloc(plen + blen);

	memcpy(p, prefix, plen);
	memcpy(p + plen, b, blen);
	return (SfxBytes) {p, plen + blen};
}

/*
 * The piece with iv's values of column col after the prefix.  If iv reaches the last value at the
 * end without NULLs, the piece extends to that end of the prefix, and so touches the next piece.
 * prefix has room for a mark.
 */
static SfxRowPiece
make_piece(const SfxScanKeys *sk, int col, uint8 *prefix, int plen, const ByteRange *iv)
{
	uint8		lo[4];
	uint8		hi[4];
	ByteRange	all = {lo, hi, 0, 0};
	SfxRowPiece piece = {keep_bound(prefix, plen, iv->lo, iv->lolen),
	keep_bound(prefix, plen, iv->hi, iv->hilen)};
	uint8	   *end;

	if (plen == 0)
		return piece;
	sfx_interval_all(sk, &all);
	end = palloc(plen + 1);
	memcpy(end, prefix, plen);
	if (sk->kd->col[col].nulls_first)
	{
		if (iv->hilen == all.hilen && memcmp(iv->hi, hi, all.hilen) == 0)
			piece.hi = (SfxBytes) {end, end_above(sk, end, plen)};
	}
	else if (iv->lolen == all.lolen && memcmp(iv->lo, lo, all.lolen) == 0)
		piece.lo = (SfxBytes) {end, end_below(sk, end, plen)};
	return piece;
}

/* The state of a walk over a row's members. */
typedef struct RowWalk
{
	SfxRowPiece *piece;			/* known pieces: at the front, ... */
	int			nfront;
	int			back;			/* ... and from here on; later members' pieces come in between */
	uint8	   *prefix;			/* values of the members so far */
	int			plen;
} RowWalk;

typedef enum RowStep
{
	ROW_ON,						/* continue with the next member */
	ROW_DONE,					/* no value is equal to this member, or it was the last one */
	ROW_UNKNOWN					/* bytes do not tell what passes of entries equal up to this member */
} RowStep;

/*
 * Add the piece of one more member, which has this strategy.  ROW_UNKNOWN: the caller has to forget
 * what was added.
 */
static RowStep
take_member(SfxScanKeys *sk, const ScanKeyData *m, StrategyNumber strategy, RowWalk *w)
{
	const SfxColumn *col = &sk->kd->col[m->sk_attno - 1];
	SfxQual		q = {
		.col = m->sk_attno - 1,.strategy = strategy,.subtype = m->sk_subtype,
		.own_type = m->sk_subtype == col->type
	};
	uint8		lo[SFX_MAX_ENTRY + 1];
	uint8		hi[SFX_MAX_ENTRY + 1];
	ByteRange	iv = {lo, hi, 0, 0};
	bool		near = false;
	SfxConverted c;

	if (m->sk_flags & SK_ISNULL)
		return ROW_DONE;
	switch (sfx_interval_constant(sk, &q, m->sk_argument, &iv, &near))
	{
		case CONST_FILTER:
			return ROW_UNKNOWN;
		case CONST_NONE:
			break;
		case CONST_INTERVAL:
			if (near || w->plen + Max(iv.lolen, iv.hilen) > SFX_MAX_ENTRY)
				return ROW_UNKNOWN;
			w->piece[is_upward(strategy) != col->desc ? --w->back : w->nfront++] =
				make_piece(sk, q.col, w->prefix, w->plen, &iv);
	}
	if (m->sk_flags & SK_ROW_END)
		return ROW_DONE;

	q.strategy = BTEqualStrategyNumber;
	switch (sfx_convert_constant(col, &q, m->sk_argument, &c))
	{
		case CONST_FILTER:
			return ROW_UNKNOWN;
		case CONST_NONE:
			return ROW_DONE;
		case CONST_INTERVAL:
			break;
	}
	if (c.near || !sfx_bound_encode(sk->kd, sk->index, q.col, c.value, w->prefix, &w->plen,
									SFX_MAX_ENTRY))
		return ROW_UNKNOWN;
	return ROW_ON;
}

/* Join pieces that touch, and remove empty ones; returns the number of those that are left. */
static int
join_touching(const SfxScanKeys *sk, int col, SfxRowPiece *piece, int n)
{
	int			out = 0;

	for (int i = 0; i < n; i++)
	{
		if (cmp_bounds(sk, col, &piece[i].lo, &piece[i].hi) >= 0)
			continue;
		if (out > 0 && (cmp_bounds(sk, col, &piece[out - 1].hi, &piece[i].lo) == 0 ||
						SFX_MUTANT("pieces over NULLs")))
			piece[out - 1].hi = piece[i].hi;
		else
			piece[out++] = piece[i];
	}
	return out;
}

/* All that has the prefix; without one, all within the tail. */
static SfxRowPiece
rest_of_prefix(const SfxScanKeys *sk, const RowWalk *w)
{
	SfxRowPiece piece = {{sk->tail_lo, sk->tail_lo_len}, {sk->tail_hi, sk->tail_hi_len}};

	if (w->plen > 0)
	{
		uint8	   *lo = palloc(w->plen + 1);
		uint8	   *hi = palloc(w->plen + 1);

		memcpy(lo, w->prefix, w->plen);
		memcpy(hi, w->prefix, w->plen);
		piece.lo = (SfxBytes) {lo, end_below(sk, lo, w->plen)};
		piece.hi = (SfxBytes) {hi, end_above(sk, hi, w->plen)};
	}
	return piece;
}

/*
 * Compute the pieces of a row comparison, in order; returns their number.  *exact: it is true of all
 * entries in them.
 */
static int
pieces_of_row(SfxScanKeys *sk, const ScanKeyData *header, SfxRowPiece **result, bool *exact)
{
	const ScanKeyData *m = sfx_first_key(header);
	int			first = m->sk_attno - 1;
	int			most = sk->kd->nkeys - first + 1;
	StrategyNumber strict = is_upward(header->sk_strategy) ? BTGreaterStrategyNumber :
	BTLessStrategyNumber;
	RowWalk		w = {palloc(most * sizeof(SfxRowPiece)), 0, most, NULL, 0};
	RowStep		step = ROW_ON;

	w.prefix = sk->lo;			/* free until sfx_scankeys_bounds */
	for (int i = first; step == ROW_ON; i++, m++)
	{
		RowWalk		before = w;
		bool		last = (m->sk_flags & SK_ROW_END) != 0;

		step = m->sk_attno != i + 1 ? ROW_UNKNOWN :
			take_member(sk, m, last ? header->sk_strategy : strict, &w);
		if (step == ROW_UNKNOWN)
		{
			w = before;
			w.piece[w.nfront++] = rest_of_prefix(sk, &w);
		}
	}
	*exact = step != ROW_UNKNOWN;
	memmove(w.piece + w.nfront, w.piece + w.back, (most - w.back) * sizeof(SfxRowPiece));
	*result = w.piece;
	return join_touching(sk, first, w.piece, w.nfront + most - w.back);
}

/* Intersect two lists of pieces. */
static int
intersect_pieces(const SfxScanKeys *sk, int col, const SfxRowPiece *a, int na,
				 const SfxRowPiece *b, int nb, SfxRowPiece **result)
{
	SfxRowPiece *out = palloc((na + nb) * sizeof(SfxRowPiece));
	int			n = 0;

	for (int i = 0, j = 0; i < na && j < nb;)
	{
		const SfxBytes *lo = cmp_bounds(sk, col, &a[i].lo, &b[j].lo) > 0 ? &a[i].lo : &b[j].lo;
		bool		a_first = cmp_bounds(sk, col, &a[i].hi, &b[j].hi) < 0;
		const SfxBytes *hi = a_first ? &a[i].hi : &b[j].hi;

		if (cmp_bounds(sk, col, lo, hi) < 0)
			out[n++] = (SfxRowPiece) {*lo, *hi};
		if (a_first)
			i++;
		else
			j++;
	}
	*result = out;
	return n;
}

/* Replace the tail by the pieces in which all row comparisons are true.  False: none is left. */
static bool
take_apart(SfxScanKeys *sk, ScanKey keys, SfxQual *quals, int n)
{
	SfxRowPiece *all = palloc(sizeof(SfxRowPiece));
	int			nall = 1;

	all->lo = keep_bound(sk->tail_lo, sk->tail_lo_len, sk->tail_lo, 0);
	all->hi = keep_bound(sk->tail_hi, sk->tail_hi_len, sk->tail_hi, 0);
	for (int i = 0; i < n && nall > 0; i++)
	{
		SfxRowPiece *piece;
		bool		exact;
		int			count;

		if (!quals[i].row)
			continue;
		count = pieces_of_row(sk, &keys[quals[i].keyno], &piece, &exact);
		if (!exact)
			sfx_scanfilter_once(sk, &quals[i]);
		nall = intersect_pieces(sk, quals->col, all, nall, piece, count, &all);
	}
	sk->pieces = all;
	sk->npieces = nall;
	sk->piece = 0;
	return nall > 0;
}

bool
sfx_pieces_tail(SfxScanKeys *sk, ScanKey keys, SfxQual *quals, int n)
{
	Assert(sk->tail_hi_len > 0);
	for (int i = 0; i < n; i++)
	{
		if (quals[i].row)
			return take_apart(sk, keys, quals, n);
	}
	return true;
}
