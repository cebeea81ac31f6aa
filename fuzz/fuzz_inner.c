/*
 * Fuzz target of inner.h and louds.h.  The first byte chooses the order of keys, and what the rest
 * is: (a) a hostile page body with probes, or (b) the description of a set of separators that is
 * built in both formats, searched and compared.
 */
#include <stdlib.h>
#include "inner.h"
#include "upper.h"
#include "louds.h"
#include "../src/core/test/orders.h"

static uint64_t scratch[1 << 18];
static uint8_t	body[8144];
static SfxChild set[600];
static const SfxOrder *order;

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
touch(void *ctx, int i, const SfxChild *c)
{
	uint32_t   *sum = ctx;

	for (uint32_t j = 0; j < c->low.len; j++)
		*sum += c->low.key[j];
	*sum += (uint32_t) i;
	return 0;
}

static void
probe_all(const SfxInner *p, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size && i < 400; i += 1 + i / 8)
	{
		SfxPos		pos = {.key = data + i, .len = (uint32_t) (size - i), .tid = i % 3 ? 0 : i + 1};
		int			a,
					b;

		if (i % 2 && pos.len > 20)
			pos.len = 20;
		a = sfx_inner_find(p, &pos);
		b = sfx_inner_find_before(p, &pos);
		if ((a != SFX_CORRUPT && (a < 0 || a >= p->nchildren)) || (b != SFX_CORRUPT && (b < 0 || b >= p->nchildren)))
			abort();
		sfx_inner_cmp_fences(p, &pos);
	}
}

/* A decoded copy, if one comes about, is searched within its bounds. */
static void
decode_all(const SfxInner *p, const uint8_t *data, size_t size)
{
	/* twice the same page is no sequence, but must be read within bounds, too */
	SfxInner	two[2] = {*p, *p};
	int			n = 1 + (int) (size & 1);
	int64_t		need = sfx_upper_size(two, n);
	void	   *mem = need > 0 ? malloc((size_t) need) : NULL;
	SfxUpper   *u = mem ? sfx_upper_build(mem, two, n) : NULL;

	for (size_t i = 0; u && i < size && i < 400; i += 1 + i / 8)
	{
		SfxPos		pos = {.key = data + i, .len = (uint32_t) (size - i), .tid = i % 3 ? 0 : i + 1};

		sfx_upper_find(u, order, &pos, i % 2, NULL);
	}
	free(mem);
}

static void
hostile(const uint8_t *data, size_t size)
{
	SfxInner	p;
	const char *why = NULL;
	uint32_t	sum = 0;
	uint32_t	blk;
	uint64_t	count,
				own,
				total;
	static uint8_t lob[SFX_MAX_ENTRY],
				hib[SFX_MAX_ENTRY];
	SfxPos		lo,
				hi;
	bool		inf;
	int			rc = sfx_inner_verify(data, (uint32_t) size, order, scratch, &why);

	if ((rc < 0) != (why != NULL))
		abort();
	if (sfx_inner_open(&p, data, (uint32_t) size, order) != SFX_OK)
		return;
	sfx_inner_fences(&p, lob, &lo, hib, &hi, &inf);
	probe_all(&p, data, size);
	sfx_inner_each(&p, touch, &sum);
	for (int i = -1; i <= p.nchildren; i++)
	{
		sfx_inner_child(&p, i, &blk, &count);
		sfx_inner_counts(&p, i, &count, &own, &total);
		sfx_inner_pass(&p, i, p.nchildren, size, &count);
	}
	decode_all(&p, data, size);
}

static int
cmp_child(const void *a, const void *b)
{
	return sfx_order_cmp_pos(order, &((const SfxChild *) a)->low, &((const SfxChild *) b)->low);
}

/*
 * The input cut into strings: a length byte, then the bytes.  Each one is used if it is greater
 * than the last; in comparator order they are sorted, and some have a TID.
 */
static int
cut(const uint8_t *data, size_t size)
{
	int			n = 0;
	size_t		at = 0;

	while (at < size && n < 600)
	{
		uint32_t	len = data[at++] % 24;
		SfxPos		p = {.key = data + at, .len = len, .tid = 0};

		if (at + len > size)
			break;
		at += len;
		if (order)
			p.tid = data[at - len - 1] & 32 ? data[at - len - 1] + 1u : 0;
		else if (n > 0 && sfx_cmp_pos(&set[n - 1].low, &p) >= 0)
			continue;
		set[n].low = p;
		set[n].blkno = len * 7;
		set[n].count = at;
		n++;
	}
	if (order)
	{
		int			m = 0;

		qsort(set, (size_t) n, sizeof(SfxChild), cmp_child);
		for (int i = 0; i < n; i++)
			if (m == 0 || cmp_child(&set[m - 1], &set[i]) != 0)
				set[m++] = set[i];
		n = m;
	}
	return n;
}

static void
round_trip(const uint8_t *data, size_t size)
{
	int			n = cut(data, size);
	SfxInner	p;
	const char *why;

	for (int f = 0; f < 2; f++)
		for (int m = n - 1; m <= n; m++)
		{
			int			len = m < 1 ? -1 : sfx_inner_build_as((SfxInnerFormat) f, set, m, m < n ? &set[m].low : NULL,
															  body, sizeof(body), scratch, order);

			if (len < 0)
				continue;
			if (sfx_inner_verify(body, (uint32_t) len, order, scratch, &why) < 0 ||
				sfx_inner_open(&p, body, (uint32_t) len, order) < 0)
				abort();
			for (int i = 0; i < m; i++)
			{
				uint32_t	blk;
				uint64_t	count;

				if (sfx_inner_find(&p, &set[i].low) != i ||
					sfx_inner_find_before(&p, &set[i].low) != (i > 0 ? i - 1 : 0) || sfx_inner_child(&p, i, &blk, &count) < 0 ||
					blk != set[i].blkno || count != set[i].count)
					abort();
			}
			/* a flipped byte somewhere: bounded */
			body[size * 31 % (size_t) len] ^= data[size / 2] | 1;
			hostile(body, (size_t) len);
		}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t    *copy;

	if (size < 2 || size > 9000)
		return 0;
	if (sfx_inner_scratch_size() > sizeof(scratch))
		abort();
	order = data[0] / 2 % (NORDERS + 1) ? &orders[data[0] / 2 % (NORDERS + 1) - 1].base : NULL;
	/* a copy of the exact size, so that any overrun is seen */
	copy = malloc(size - 1);
	memcpy(copy, data + 1, size - 1);
	if (data[0] & 1)
		hostile(copy, size - 1);
	else
		round_trip(copy, size - 1);
	free(copy);
	return 0;
}
