/*
 * Unit test of the CPU levels: every kernel of every level against the scalar one, on sound and on
 * hostile bits.
 */
#include <string.h>

#include "bits.h"
#include "cpu.h"
#include "decimal.h"
#include "tap.h"

#define MAXN	256

static uint64_t seed;

/* A copy at the very end of its allocation, so that ASan sees a read beyond. */
static uint8_t *
exact(const uint8_t *p, size_t len)
{
	uint8_t    *b = malloc(len ? len : 1);

	memcpy(b, p, len);
	return b;
}

static int
test_unpack(const SfxKernels *k, const SfxKernels *ref)
{
	int			bad = 0;

	for (int t = 0; t < 20000; t++)
	{
		unsigned	w = (unsigned) (rnd(&seed) % 65);
		int			n = (int) (rnd(&seed) % (MAXN + 1));
		size_t		bit = rnd(&seed) % 100,
					len = (bit + (size_t) n * w + 7) / 8 + (t % 3 ? 0 : rnd(&seed) % 70);
		uint64_t	base = t % 2 ? rnd(&seed) : 0,
					a[MAXN + 1],
					b[MAXN + 1];
		uint8_t		raw[MAXN * 8 + 100],
				   *p;

		for (size_t i = 0; i < len; i++)
			raw[i] = (uint8_t) rnd(&seed);
		p = exact(raw, len);
		a[n] = b[n] = 4711;
		ref->unpack(p, len, bit, w, n, base, a);
		k->unpack(p, len, bit, w, n, base, b);
		for (int i = 0; i < n; i++)
			bad += a[i] != base + sfx_bits_get(p, len, bit + (size_t) i * w, w);
		bad += memcmp(a, b, 8 * (size_t) (n + 1)) != 0;
		free(p);
	}
	return bad;
}

static int
test_split_radix(const SfxKernels *k, const SfxKernels *ref)
{
	int			bad = 0;

	for (int t = 0; t < 20000; t++)
	{
		uint64_t	a[MAXN],
					b[MAXN],
					base = rnd(&seed) >> (16 + t % 30),
					all = 0;
		uint32_t	radix = 2 + (uint32_t) (rnd(&seed) % (t % 2 ? 300 : 65535));
		int			n = (int) (rnd(&seed) % 40);

		for (int i = 0; i < n; i++)
			a[i] = b[i] = t % 5 == 0 ? UINT32_MAX - (uint64_t) i : rnd(&seed) >> 32 >> (t % 24);
		for (int i = 0; i < n; i++)
			all |= base + (a[i] / radix << 16) + a[i] % radix;
		bad += ref->split_radix(a, n, radix, base) != all;
		bad += k->split_radix(b, n, radix, base) != all;
		bad += memcmp(a, b, 8 * (size_t) n) != 0;
	}
	return bad;
}

static int
test_deposit(const SfxKernels *k)
{
	int			bad = 0;

	for (int t = 0; t < 20000; t++)
	{
		uint64_t	a[MAXN],
					b[MAXN],
					mask = t % 7 == 0 ? UINT64_MAX : t % 7 == 1 ? UINT64_MAX << t % 64 : (rnd(&seed) & rnd(&seed)) | rnd(&seed) >> t % 64,
					value = rnd(&seed) & ~mask;
		int			n = (int) (rnd(&seed) % 40);

		for (int i = 0; i < n; i++)
		{
			uint64_t	v = a[i] = rnd(&seed);

			b[i] = value;
			for (unsigned bit = 0; bit < 64; bit++)
				if (mask >> bit & 1)
				{
					b[i] |= (v & 1) << bit;
					v >>= 1;
				}
		}
		k->deposit(a, n, mask, value);
		bad += memcmp(a, b, 8 * (size_t) n) != 0;
	}
	return bad;
}

static int
test_sum_halves(const SfxKernels *k)
{
	int			bad = 0;

	for (int t = 0; t < 20000; t++)
	{
		uint64_t	v[MAXN],
					low = 0,
					high = 0,
					got[2];
		int			n = (int) (rnd(&seed) % (MAXN + 1));

		for (int i = 0; i < n; i++)
		{
			v[i] = t % 5 == 0 ? UINT64_MAX : rnd(&seed) >> t % 64;
			low += v[i] & UINT32_MAX;
			high += v[i] >> 32;
		}
		k->sum_halves(v, n, &got[0], &got[1]);
		bad += got[0] != low || got[1] != high;
	}
	return bad;
}

static int
test_symbols(const SfxKernels *k)
{
	int			bad = 0;

	for (int t = 0; t < 20000; t++)
	{
		SfxSymbols	s = {.bits = 1 + (unsigned) (rnd(&seed) % 6)};
		uint8_t		stream[80],
					out[128];
		uint32_t	n = (uint32_t) (rnd(&seed) % 100);
		size_t		avail = (size_t) (rnd(&seed) % (sizeof(stream) + 1));

		for (int i = 0; i < SFX_SYMBOLS; i++)
			s.symbol[i] = (uint8_t) rnd(&seed);
		for (size_t i = 0; i < sizeof(stream); i++)
			stream[i] = (uint8_t) rnd(&seed);
		k->symbols(&s, stream, avail, n, out);
		for (uint32_t i = 0; i < n; i++)
		{
			unsigned	v = 0;

			for (size_t bit = 0, at = (size_t) i * s.bits; bit < s.bits; bit++, at++)
				v |= at / 8 < avail ? (unsigned) (stream[at / 8] >> at % 8 & 1) << bit : 0;
			bad += out[i] != s.symbol[v];
		}
	}
	return bad;
}

/* Keys that were put together are separated again, whatever their constant bits are. */
static int
test_get_words(const SfxKernels *k, const SfxKernels *ref)
{
	int			bad = 0;

	for (int t = 0; t < 5000; t++)
	{
		SfxWords	w;
		uint64_t	head[40],
					rest[40],
					h[40],
					r[40];
		uint8_t		prefix[16] = {0},
					keys[40 * 32 + 16] = {0};
		uint32_t	prelen = (uint32_t) (rnd(&seed) % 16);
		int			n = (int) (rnd(&seed) % 40);

		for (int i = 0; i < 2; i++)
		{
			w.vary[i] = t % 5 == i ? UINT64_MAX : t % 5 == i + 2 ? 0 : rnd(&seed) | rnd(&seed);
			w.value[i] = rnd(&seed) & ~w.vary[i];
		}
		w.n1 = sfx_popcount(w.vary[1]);
		w.nrest = sfx_popcount(w.vary[0]) + w.n1 > 64 ? sfx_popcount(w.vary[0]) + w.n1 - 64 : 0;
		for (int i = 0; i < n; i++)
		{
			head[i] = rnd(&seed) & sfx_mask(sfx_popcount(w.vary[0]) + w.n1 - w.nrest);
			rest[i] = rnd(&seed) & sfx_mask(w.nrest);
		}
		ref->put_words(&w, head, rest, n, prefix, prelen, prelen + 16, keys);
		w.value[0] = w.value[1] = rnd(&seed);
		k->get_words(&w, keys + prelen, prelen + 16, n, h, r);
		bad += memcmp(h, head, (size_t) n * sizeof(uint64_t)) != 0 || memcmp(r, rest, (size_t) n * sizeof(uint64_t)) != 0;
	}
	return bad;
}

static int
test_put_words(const SfxKernels *k, const SfxKernels *ref)
{
	int			bad = 0;

	for (int t = 0; t < 5000; t++)
	{
		SfxWords	w;
		uint64_t	head[40],
					rest[40];
		uint8_t		prefix[16],
					a[40 * 32 + 16] = {0},
					b[40 * 32 + 16] = {0};
		uint32_t	prelen = (uint32_t) (rnd(&seed) % 17);
		uint32_t	keylen = prelen + 9 + (uint32_t) (rnd(&seed) % 8);
		int			n = (int) (rnd(&seed) % 40);

		for (int i = 0; i < 2; i++)
		{
			w.vary[i] = t % 5 == i ? UINT64_MAX : rnd(&seed) | rnd(&seed);
			w.value[i] = rnd(&seed) & ~w.vary[i];
		}
		w.n1 = sfx_popcount(w.vary[1]);
		w.nrest = sfx_popcount(w.vary[0]) + w.n1 > 64 ? sfx_popcount(w.vary[0]) + w.n1 - 64 : 0;
		for (int i = 0; i < 16; i++)
			prefix[i] = (uint8_t) rnd(&seed);
		for (int i = 0; i < n; i++)
		{
			head[i] = rnd(&seed);
			rest[i] = rnd(&seed) & sfx_mask(w.nrest);
		}
		k->put_words(&w, head, rest, n, prefix, prelen, keylen, a);
		ref->put_words(&w, head, rest, n, prefix, prelen, keylen, b);
		bad += memcmp(a, b, sizeof(a)) != 0;
		/* and bit by bit: the core's bits, from the last one on */
		for (int i = 0; i < n; i++)
		{
			uint64_t	word[2] = {w.value[0], w.value[1]};
			unsigned	at = 0;

			for (int j = 1; j >= 0; j--)
				for (unsigned bit = 0; bit < 64; bit++)
					if (w.vary[j] >> bit & 1)
					{
						uint64_t	v = at < w.nrest ? rest[i] >> at : head[i] >> (at - w.nrest);

						word[j] |= (v & 1) << bit;
						at++;
					}
			for (uint32_t c = 0; c < keylen; c++)
				bad += a[(size_t) i * keylen + c] != (c < prelen ? prefix[c] :
					(uint8_t) (word[(c - prelen) / 8] >> (56 - 8 * ((c - prelen) % 8))));
		}
	}
	return bad;
}

static int
test_add_line(const SfxKernels *k)
{
	int			bad = 0;

	for (int t = 0; t < 5000; t++)
	{
		uint64_t	a[MAXN + 1],
					b[MAXN + 1],
					start = rnd(&seed) % 300,
					whole = rnd(&seed) >> t % 64;
		unsigned	frac = (unsigned) (rnd(&seed) % 256);
		int			n = (int) (rnd(&seed) % MAXN);

		for (int i = 0; i <= n; i++)
			a[i] = b[i] = rnd(&seed);
		for (int i = 0; i < n; i++)
			a[i] += whole * (start + (uint64_t) i) + (frac * (start + (uint64_t) i) >> 8);
		k->add_line(b, n, start, whole, frac);
		bad += memcmp(a, b, 8 * (size_t) (n + 1)) != 0;
	}
	return bad;
}

/*
 * A bit stream of n numbers with `low` low bits: sound if there are gaps, else random bits.  *e
 * describes it.
 */
static uint8_t *
make_ef(SfxEf *e, int n, unsigned low, bool sound, uint64_t *v)
{
	static uint8_t raw[MAXN * 20 + 100];
	size_t		bits,
				len;
	uint64_t	x = 0;
	uint8_t    *p;

	memset(raw, 0, sizeof(raw));
	e->map = rnd(&seed) % 3 ? 0 : rnd(&seed) % 70;
	e->low = low;
	e->n = n;
	e->mapbits = (size_t) n;
	if (!sound)
		e->mapbits += rnd(&seed) % 700;
	for (int i = 0; i < n && sound; i++)
	{
		v[i] = x += rnd(&seed) % 7 == 0 ? rnd(&seed) & sfx_mask(low + 4) & (UINT64_MAX >> 9) : rnd(&seed) & sfx_mask(low) & (UINT64_MAX >> 9);
		e->mapbits = (size_t) n + (size_t) (x >> low) + 1;
		if (e->mapbits > 8 * MAXN)
		{
			e->n = n = i + 1;
			break;
		}
	}
	e->lows = e->map + e->mapbits + rnd(&seed) % 2 * 5;
	bits = e->lows + (size_t) n * low;
	len = (bits + 7) / 8 + (rnd(&seed) % 2 ? 0 : rnd(&seed) % 70);
	for (size_t i = 0; i < len && i < sizeof(raw) && !sound; i++)
		raw[i] = (uint8_t) (rnd(&seed) & rnd(&seed));
	for (int i = 0; i < n && sound; i++)
	{
		size_t		at = e->map + (size_t) (v[i] >> low) + (size_t) i;

		raw[at / 8] |= (uint8_t) (1 << at % 8);
		for (unsigned b = 0; b < low; b++)
			if (v[i] >> b & 1)
				raw[(e->lows + (size_t) i * low + b) / 8] |= (uint8_t) (1 << (e->lows + (size_t) i * low + b) % 8);
	}
	p = exact(raw, len);
	e->p = p;
	e->avail = len;
	return p;
}

static int
lower_bound(const uint64_t *v, int n, uint64_t x)
{
	int			i = 0;

	while (i < n && v[i] < x)
		i++;
	return i;
}

static int
test_ef(const SfxKernels *k, const SfxKernels *ref, bool sound)
{
	int			bad = 0;

	for (int t = 0; t < 6000; t++)
	{
		uint64_t	v[MAXN],
					a[MAXN + 1],
					b[MAXN + 1],
					x;
		SfxEf		e;
		uint8_t    *p = make_ef(&e, 1 + (int) (rnd(&seed) % MAXN), (unsigned) (rnd(&seed) % (t % 4 ? 20 : 56)), sound, v);
		int			from = t % 2 ? 0 : (int) (rnd(&seed) % (uint64_t) (e.n + 1)),
					to = t % 2 ? e.n : from + (int) (rnd(&seed) % (uint64_t) (e.n - from + 1)),
					r,
					s;

		a[to - from] = b[to - from] = 4711;
		r = ref->ef_decode(&e, from, to, 99, a);
		s = k->ef_decode(&e, from, to, 99, b);
		bad += r != s || b[to - from] != 4711 || (r == SFX_OK && memcmp(a, b, 8 * (size_t) (to - from)) != 0);
		for (int i = 0; i < to - from && sound; i++)
			bad += a[i] != v[from + i] + 99;
		for (int i = 0; i < e.n; i += 1 + (int) (rnd(&seed) % 9))
		{
			bool		eq1,
						eq2;

			a[0] = b[0] = 0;
			r = ref->ef_get(&e, i, a);
			s = k->ef_get(&e, i, b);
			bad += r != s || (r == SFX_OK && a[0] != b[0]) || (sound && a[0] != v[i]);
			x = !sound ? rnd(&seed) & sfx_mask(e.low + (unsigned) (rnd(&seed) % 8)) : v[i] + rnd(&seed) % 3 - 1;
			r = ref->ef_search(&e, x, &eq1);
			s = k->ef_search(&e, x, &eq2);
			bad += r != s || eq1 != eq2 || r > e.n;
			if (sound)
			{
				int			lb = lower_bound(v, e.n, x);

				bad += r != lb || eq1 != (lb < e.n && v[lb] == x);
			}
		}
		free(p);
	}
	return bad;
}

/* What keys share: next_low finds what a loop finds, and rises computes the same sum. */
static int
test_shared(const SfxKernels *k)
{
	int			bad = 0;

	for (int t = 0; t < 20000; t++)
	{
		uint8_t		v[200 + 32];
		int			n = 1 + (int) (rnd(&seed) % 199),
					from = (int) (rnd(&seed) % (uint64_t) n),
					to = from + (int) (rnd(&seed) % (uint64_t) (n - from)),
					i = from;
		unsigned	most = (unsigned) (rnd(&seed) % 256);
		unsigned	range = t % 3 == 0 ? 256 : 1 + (unsigned) (rnd(&seed) % 40);
		uint32_t	sum = 0;

		for (size_t j = 0; j < sizeof(v); j++)
			v[j] = (uint8_t) (rnd(&seed) % range);
		if (t % 2)
			most %= range;
		v[n] = 0;
		while (v[i] > most)
			i++;
		for (int j = from; j < to; j++)
			sum += v[j + 1] > v[j] ? (uint32_t) (v[j + 1] - v[j]) : 0;
		bad += k->next_low(v, from, most) != i || k->rises(v, from, to) != sum;
	}
	return bad;
}

/*
 * Each decimal by a division of whole numbers; and decimals that are out of range, or have other
 * high bits.
 */
static int
test_decimals(const SfxKernels *k)
{
	int			bad = 0;

	for (int t = 0; t < 20000; t++)
	{
		SfxDecimals m = {(unsigned) (rnd(&seed) % 16), t % 2 == 1, 0, UINT64_MAX};
		uint64_t	v[MAXN],
					image[MAXN],
					other = 0;
		int64_t		bias = m.biased ? SFX_DECIMAL_LIMIT : 0;
		int			n = 1 + (int) (rnd(&seed) % 40);
		unsigned	bits = SFX_DECIMAL_BITS + m.biased;
		bool		wrong = t % 5 == 4;

		for (int i = 0; i < n; i++)
		{
			int64_t		d = (int64_t) (rnd(&seed) >> (64 - SFX_DECIMAL_BITS));

			d >>= t % SFX_DECIMAL_BITS;
			d = m.biased && rnd(&seed) % 2 ? -d : d;
			v[i] = (uint64_t) (d + bias);
			image[i] = sfx_decimal_divide(d, m.places);
			other |= image[i] ^ image[0];
		}
		if (t % 3)
			m.low = sfx_mask(8 * ((sfx_bitlen(other) + 7) / 8));
		m.high = image[0] & ~m.low;
		if (wrong && t % 2)
			v[rnd(&seed) % (uint64_t) n] |= UINT64_C(1) << (bits + rnd(&seed) % (64 - bits));
		else if (wrong && m.low != UINT64_MAX)
			m.high ^= (m.low + 1) << rnd(&seed) % (64 - sfx_bitlen(m.low));
		else
			wrong = false;
		bad += (k->decimals(&m, v, n) == SFX_OK) == wrong;
		for (int i = 0; i < n && !wrong; i++)
			bad += v[i] != (image[i] & m.low);
	}
	return bad;
}

int
main(void)
{
	const SfxKernels *ref;

	ok(sfx_cpu_level() == SFX_CPU_SCALAR && sfx_cpu_pin(SFX_CPU_SCALAR), "scalar until it is told otherwise");
	ref = sfx_kernels;
	for (int l = SFX_CPU_SCALAR; l < SFX_CPU_LEVELS; l++)
	{
		const char *name = sfx_cpu_name((SfxCpuLevel) l);

		seed = 42;
		if (!sfx_cpu_pin((SfxCpuLevel) l))
		{
			ok(sfx_kernels != NULL, "# skip %s: not this processor", name);
			continue;
		}
		ok(sfx_cpu_level() == (SfxCpuLevel) l && test_unpack(sfx_kernels, ref) == 0, "%s: unpack", name);
		ok(test_split_radix(sfx_kernels, ref) == 0, "%s: split_radix", name);
		ok(test_deposit(sfx_kernels) == 0, "%s: deposit", name);
		ok(test_sum_halves(sfx_kernels) == 0, "%s: sum_halves", name);
		ok(test_decimals(sfx_kernels) == 0, "%s: decimals", name);
		ok(test_symbols(sfx_kernels) == 0, "%s: symbols", name);
		ok(test_shared(sfx_kernels) == 0, "%s: shared lengths", name);
		ok(test_put_words(sfx_kernels, ref) == 0, "%s: put_words", name);
		ok(test_get_words(sfx_kernels, ref) == 0, "%s: get_words", name);
		ok(test_add_line(sfx_kernels) == 0, "%s: add_line", name);
		ok(test_ef(sfx_kernels, ref, true) == 0, "%s: Elias-Fano", name);
		ok(test_ef(sfx_kernels, ref, false) == 0, "%s: Elias-Fano, hostile bits", name);
	}
	sfx_cpu_init();
	ok(sfx_cpu_level() < SFX_CPU_LEVELS && sfx_cpu_pin(sfx_cpu_level()), "the best level: %s", sfx_cpu_name(sfx_cpu_level()));
	ok(!sfx_cpu_pin(SFX_CPU_LEVELS), "no level beyond the last one");
	return done_testing();
}
