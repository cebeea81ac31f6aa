/*
 * orders.h - orders of keys that are not byte order, for tests and fuzz targets
 *
 * They count their calls, insist on their contract (never an empty string, never two equal ones,
 * left < right), and can fail at a chosen call, as a comparison function of the server may.
 */
#ifndef SFX_ORDERS_H
#define SFX_ORDERS_H

#include <setjmp.h>
#include <stdlib.h>

#include "sfx.h"

static uint64_t order_calls;	/* of cmp and of separate */
static uint64_t order_fail_at;	/* the call that leaves by longjmp; 0: none */
static jmp_buf order_failed;

static void
order_called(void)
{
	if (++order_calls == order_fail_at)
	{
		order_fail_at = 0;
		longjmp(order_failed, 1);
	}
}

typedef int (*OrderCmp) (const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen);

static uint8_t
fold(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t) (c - 'A' + 'a') : c;
}

/* Large and small letters are equal; bytes break ties. */
static int
cmp_nocase(const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	for (uint32_t i = 0; i < alen && i < blen; i++)
		if (fold(a[i]) != fold(b[i]))
			return fold(a[i]) - fold(b[i]);
	if (alen != blen)
		return alen < blen ? -1 : 1;
	return sfx_cmp_bytes(a, alen, b, blen);
}

static int
cmp_reversed(const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	return sfx_cmp_bytes(b, blen, a, alen);
}

static int
cmp_length(const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	if (alen != blen)
		return alen < blen ? -1 : 1;
	return cmp_reversed(a, alen, b, blen);
}

/*
 * A key's first byte is the number of the following ones that are its first column; the others are
 * the second.
 */
static uint32_t
column_len(const uint8_t *a, uint32_t alen)
{
	return a[0] % 32u < alen ? a[0] % 32u : alen - 1;
}

/* First column descending, then the second one ascending, then bytes. */
static int
cmp_columns(const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	uint32_t	m = column_len(a, alen);
	uint32_t	n = column_len(b, blen);
	int			c = sfx_cmp_bytes(b + 1, n, a + 1, m);

	if (c == 0)
		c = sfx_cmp_bytes(a + 1 + m, alen - 1 - m, b + 1 + n, blen - 1 - n);
	return c != 0 ? c : sfx_cmp_bytes(a, alen, b, blen);
}

typedef enum OrderKind
{
	ORDER_NOCASE, ORDER_REVERSED, ORDER_LENGTH, ORDER_COLUMNS, ORDER_BYTES, NORDERS
} OrderKind;

typedef struct TestOrder
{
	SfxOrder	base;
	OrderKind	kind;
	const char *name;
} TestOrder;

static int
order_compare(OrderKind kind, const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	static const OrderCmp cmp[NORDERS] = {[ORDER_NOCASE] = cmp_nocase, [ORDER_REVERSED] = cmp_reversed,
	[ORDER_LENGTH] = cmp_length, [ORDER_COLUMNS] = cmp_columns};

	if (kind == ORDER_BYTES)
	{
		int			c = sfx_cmp_bytes(a, alen, b, blen);

		/* extremes: only the sign may count */
		return c < 0 ? -2147483647 - 1 : c > 0 ? 2147483647 : 0;
	}
	return cmp[kind] (a, alen, b, blen);
}

static int
order_cmp(const SfxOrder *o, const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	int			c;

	order_called();
	if (alen == 0 || blen == 0)
		abort();
	c = order_compare(((const TestOrder *) o)->kind, a, alen, b, blen);
	if (c == 0)
		abort();
	return c;
}

static uint32_t
order_separate(const SfxOrder *o, const uint8_t *left, uint32_t llen, const uint8_t *right, uint32_t rlen)
{
	OrderKind	kind = ((const TestOrder *) o)->kind;
	uint32_t	n = 0;

	order_called();
	if (llen == 0 || rlen == 0 || order_compare(kind, left, llen, right, rlen) >= 0)
		abort();
	switch (kind)
	{
		case ORDER_NOCASE:
			while (n < llen && n < rlen && fold(left[n]) == fold(right[n]))
				n++;
			return n < rlen ? n + 1 : rlen;
		case ORDER_LENGTH:
			return llen + 1 < rlen ? llen + 1 : rlen;
		case ORDER_COLUMNS:
			n = column_len(right, rlen);
			return sfx_cmp_bytes(left + 1, column_len(left, llen), right + 1, n) != 0 ? n + 1 : rlen;
		case ORDER_BYTES:
			return sfx_lcp(left, llen, right, rlen) + 1;
		default:
			return rlen;
	}
}

/*
 * Ranks: good ones, none, useless ones, and ones that look good while a copy is made and mislead
 * later.
 */
static uint32_t
order_ranks(const SfxOrder *o, const uint8_t *key, uint32_t len, uint8_t *out, uint32_t cap)
{
	static uint32_t lie;
	OrderKind	kind = ((const TestOrder *) o)->kind;
	uint32_t	n = len < cap ? len : cap;

	order_called();
	if (kind == ORDER_COLUMNS)
	{
		n = cap < 3 ? cap : 3;
		lie++;
		for (uint32_t i = 0; i < n; i++)
			out[i] = (uint8_t) (lie >> (16 - 8 * i));
		return n;
	}
	if (kind == ORDER_LENGTH)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		out[i] = kind == ORDER_NOCASE ? fold(key[i]) : (uint8_t) ~key[i];
	if (kind == ORDER_REVERSED && n < cap)
		out[n++] = 0xFF;
	return n;
}

/*
 * Correct except for some lies in the order without case, no guesses in reverse order; otherwise by
 * bytes, which is often wrong.
 */
static int
order_guess(const SfxOrder *o, const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	OrderKind	kind = ((const TestOrder *) o)->kind;
	uint32_t	lot = (a[alen - 1] * 31u + b[blen - 1] * 7u + alen) % 16;
	int			c;

	if (alen == 0 || blen == 0)
		abort();
	if (kind == ORDER_REVERSED)
		return 0;
	c = kind == ORDER_NOCASE ? order_compare(kind, a, alen, b, blen) :
		sfx_cmp_bytes(a, alen, b, blen);
	return lot == 0 ? (c < 0) - (c > 0) : lot == 1 ? 0 : c;
}

static const TestOrder orders[NORDERS] = {
	{{order_cmp, order_separate, order_ranks, order_guess, false}, ORDER_NOCASE, "no case"},
	{{order_cmp, order_separate, order_ranks, order_guess, false}, ORDER_REVERSED, "reversed"},
	{{order_cmp, order_separate, order_ranks, order_guess, false}, ORDER_LENGTH, "length first"},
	{{order_cmp, order_separate, order_ranks, NULL, false}, ORDER_COLUMNS, "two columns"},
	{{order_cmp, order_separate, NULL, NULL, false}, ORDER_BYTES, "bytes"}
};

#endif							/* SFX_ORDERS_H */
