/*-------------------------------------------------------------------------
 * fixblock.c - key stream of a FIXED block (format in fixblock.h)
 *
 * There are two halves: *words* for keys of up to 16 bytes, which are handled as two big-endian
 * words, and *bytes* for wider ones.
 *-------------------------------------------------------------------------
 */
#include "fixblock.h"
#include "contract.h"
#include "cpu.h"

#include "bits.h"
#include "intcodec.h"

/* ---- words: cores ---- */

/*
 * Gather the bits of x where mask has ones, in their order.  For a single word: a table of runs is
 * not worth while.
 */
static inline uint64_t
gather_once(uint64_t mask, uint64_t x)
{
	uint64_t	v = 0;
	unsigned	at = 0;

	while (mask)
	{
		unsigned	s = (unsigned) __builtin_ctzll(mask);
		unsigned	len;

		mask >>= s;
		x >>= s;
		if (mask == UINT64_MAX)
			return x;			/* the whole word */
		len = (unsigned) __builtin_ctzll(~mask);
		v |= (x & sfx_mask(len)) << at;
		at += len;
		mask >>= len;
		x >>= len;
	}
	return v;
}

/* The first 64 bits of a core of n0 + n1 bits; nrest bits remain. */
static inline uint64_t
core_head(uint64_t c0, uint64_t c1, unsigned n1, unsigned nrest)
{
	unsigned	n = n1 - nrest;	/* bits of the second word that go to the head; 64 only if the first
								 * word gives none */

	return n == 64 ? c1 : c0 << n | (nrest == 64 ? 0 : c1 >> nrest);
}

/*
 * Write the integer block with the codec that was asked for, or with the best one if that does not
 * apply.
 */
static int
encode_ints(const SfxKeys *k, const uint64_t *v, uint8_t *out, size_t cap)
{
	bool		pinned = k->codec != 0 && k->codec != SFX_INT_DECIMAL;
	int			r = pinned ? sfx_int_encode_as((SfxIntCodec) k->codec, v, k->n, out, cap) : SFX_NOSPACE;

	return r < 0 ? sfx_int_encode(v, k->n, out, cap) : r;
}

/* ---- words: encoder ---- */

/*
 * Find the bits that vary.  Bits above the first varying one are counted as varying: the integer
 * block subtracts them as its base.
 */
static void
varying_bits(const SfxKeys *k, int width, uint64_t vary[2])
{
	uint64_t	valid[2] = {sfx_high_bytes(width < 8 ? width : 8), sfx_high_bytes(width < 8 ? 0 : width - 8)};
	const uint8_t *p = k->bytes + k->off[0] + k->skip;
	uint32_t	stride = k->off[1] - k->off[0];
	uint64_t	first[2],
				all[2] = {0, 0};
	uint64_t	a0,
				a1;

	memcpy(first, p, 16);
	for (int i = 1; i < k->n; i++)
	{
		uint64_t	x[2];

		p += stride;
		memcpy(x, p, 16);
		all[0] |= x[0] ^ first[0];
		all[1] |= x[1] ^ first[1];
	}
	a0 = sfx_load_be64((const uint8_t *) &all[0]) & valid[0];
	a1 = sfx_load_be64((const uint8_t *) &all[1]) & valid[1];
	if (a0)
		a0 |= ~(UINT64_MAX >> __builtin_clzll(a0));
	vary[0] = a0 & valid[0];
	vary[1] = a1;
	/* constant bits cost two bytes for each byte that has some, once */
	for (int i = 0; i < width; i++)
	{
		uint64_t	byte = UINT64_C(0xFF) << (56 - 8 * (i % 8));
		unsigned	same = 8 - sfx_popcount(vary[i / 8] & byte);

		if (same * (unsigned) k->n <= 8 * 3)
			vary[i / 8] |= byte;
	}
}

/* Write width, bitmap, masks and values.  Returns their end. */
static uint8_t *
put_constants(const uint64_t vary[2], const uint8_t *first, int width, uint8_t *p)
{
	uint32_t	map = 0;
	uint8_t    *at = p;

	for (int i = 0; i < width; i++)
		if ((vary[i / 8] >> (56 - 8 * (i % 8)) & 0xFF) != 0xFF)
			map |= 1u << i;
	*p++ = (uint8_t) width;
	if (map == 0)
	{
		*at |= SFX_FIX_ALL;
		return p;
	}
	for (int i = 0; i < width; i += 8)
		*p++ = (uint8_t) (map >> i);
	for (int i = 0; i < width; i++)
		if (map >> i & 1)
		{
			uint8_t		m = (uint8_t) (vary[i / 8] >> (56 - 8 * (i % 8)));

			*p++ = m;
			*p++ = first[i] & (uint8_t) ~m;
		}
	return p;
}

/*
 * Encode words: constants, the integer block of the cores' first 64 bits, then the remaining bits,
 * packed.  Returns the bytes written, or SFX_NOSPACE.
 */
static int
encode_varying(const SfxKeys *k, int width, uint8_t *out, size_t cap, bool *hasrest)
{
	SfxWords	w = {0};
	uint64_t	head[SFX_INT_MAX],
				rest[SFX_INT_MAX];
	const uint8_t *key = k->bytes + k->off[0] + k->skip;
	uint32_t	stride = k->off[1] - k->off[0];
	unsigned	n0;
	uint8_t    *p;
	int			r;

	if (cap < 3 + 2 * SFX_FIX_MAXBITS)
		return SFX_NOSPACE;
	varying_bits(k, width, w.vary);
	p = put_constants(w.vary, key, width, out);
	n0 = sfx_popcount(w.vary[0]);
	w.n1 = sfx_popcount(w.vary[1]);
	w.nrest = n0 + w.n1 > 64 ? n0 + w.n1 - 64 : 0;
	*hasrest = w.nrest > 0;
	/* the varying bits are adjacent, and nothing precedes them */
	if (w.n1 == 0 && n0 > 0 && w.vary[0] >> (64 - n0) == sfx_mask(n0))
	{
		for (int i = 0; i < k->n; i++)
			head[i] = sfx_load_be64(key + (size_t) i * stride) >> (64 - n0);
	}
	else
		sfx_kernels->get_words(&w, key, stride, k->n, head, rest);
	r = encode_ints(k, head, p, cap - (size_t) (p - out));
	if (r < 0)
		return r;
	p += r;
	if (w.nrest)
	{
		size_t		bytes = ((size_t) k->n * w.nrest + 7) / 8;
		SfxBitWriter bw;

		if (cap - (size_t) (p - out) < bytes)
			return SFX_NOSPACE;
		sfx_bits_start(&bw, p);
		for (int i = 0; i < k->n; i++)
			sfx_bits_put(&bw, rest[i], w.nrest);
		p = sfx_bits_end(&bw);
	}
	return (int) (p - out);
}

/*
 * Encode keys whose last 8 bytes are images of doubles that are decimals.  The first of these bytes
 * may be in the prefix.
 */
static int
encode_decimals(const SfxKeys *k, int width, uint8_t *out, size_t cap)
{
	const uint8_t *p = k->bytes + k->off[1] - 8;
	uint32_t	stride = k->off[1] - k->off[0];
	uint64_t	image[SFX_INT_MAX];
	int			r;

	if (width > 8 || stride < 8 || cap < 1 || (k->codec != 0 && k->codec != SFX_INT_DECIMAL) ||
		!sfx_int_is_decimal(sfx_load_be64(p)))
		return SFX_NOSPACE;
	for (int i = 0; i < k->n; i++, p += stride)
		image[i] = sfx_load_be64(p);
	r = sfx_int_encode_decimals(image, k->n, (unsigned) width, out + 1, cap - 1);
	if (r < 0)
		return r;
	out[0] = (uint8_t) (width | SFX_FIX_ALL);
	return r + 1;
}

/* Use decimals only if they take an eighth less: they are slower to search and to decode. */
static int
encode_words(const SfxKeys *k, int width, uint8_t *out, size_t cap, bool *hasrest)
{
	uint8_t		other[1 + SFX_INT_BOUND(SFX_INT_MAX)];
	int			d = encode_decimals(k, width, other, cap < sizeof(other) ? cap : sizeof(other));
	int			r = encode_varying(k, width, out, cap, hasrest);

	if (d < 0 || (r >= 0 && d > r - r / 8 && k->codec != SFX_INT_DECIMAL))
		return r;
	*hasrest = false;
	memcpy(out, other, (size_t) d);
	return d;
}

/* ---- words: decoder ---- */

/* Parse what put_constants wrote after the width; NULL if it is broken. */
static const uint8_t *
get_constants(SfxFix *f, bool all, const uint8_t *p, const uint8_t *end)
{
	uint32_t	map = 0;

	f->vary[0] = sfx_high_bytes(f->width < 8 ? f->width : 8);
	f->vary[1] = sfx_high_bytes(f->width < 8 ? 0 : f->width - 8);
	f->value[0] = f->value[1] = 0;
	if (all)
		return p;
	if (end - p < (f->width + 7) / 8)
		return NULL;
	for (int i = 0; i < f->width; i += 8)
		map |= (uint32_t) *p++ << i;
	if (map >> f->width)
		return NULL;
	for (; map; map &= map - 1)
	{
		int			i = __builtin_ctz(map);
		int			shift = 56 - 8 * (i % 8);

		if (end - p < 2 || (p[0] & p[1]))
			return NULL;
		f->vary[i / 8] &= ~((uint64_t) (uint8_t) ~p[0] << shift);
		f->value[i / 8] |= (uint64_t) p[1] << shift;
		p += 2;
	}
	return p;
}

/* Parse a stream of words after its first byte, and check that all parts are inside it. */
static int
open_words(SfxFix *f, bool all, const uint8_t *p, const uint8_t *end)
{
	unsigned	nbits;
	size_t		bytes;
	int			r;

	p = get_constants(f, all, p, end);
	if (p == NULL)
		return SFX_CORRUPT;
	f->all = all;
	if (all)
	{
		f->nbits[0] = 8 * (unsigned) (f->width < 8 ? f->width : 8);
		f->nbits[1] = 8 * (unsigned) f->width - f->nbits[0];
	}
	else
	{
		f->nbits[0] = sfx_popcount(f->vary[0]);
		f->nbits[1] = sfx_popcount(f->vary[1]);
	}
	nbits = f->nbits[0] + f->nbits[1];
	if (nbits == 0)
		return SFX_CORRUPT;
	f->nrest = nbits > 64 ? nbits - 64 : 0;
	r = sfx_int_open(&f->ints, p, (size_t) (end - p), f->n);
	if (r < 0)
		return SFX_CORRUPT;
	f->rest = p + r;
	bytes = ((size_t) f->n * f->nrest + 7) / 8;
	if ((size_t) (end - f->rest) < bytes)
		return SFX_CORRUPT;
	f->end = f->rest + bytes;
	return SFX_OK;
}

/*
 * Project t to the space of cores: the number of keys < t is the number of cores < (head, rest), or
 * <= if *above.  *exact: t has the width and the constant bits of the keys.
 */
static void
project_words(const SfxFix *f, const uint8_t *t, uint32_t tlen, uint64_t *head, uint64_t *rest,
			  bool *above, bool *exact)
{
	uint32_t	width = (uint32_t) f->width;
	uint32_t	n = tlen < width ? tlen : width;
	uint64_t	x0,
				x1 = 0;
	uint64_t	d0,
				d1;

	/* the usual case: an integer of so many bytes */
	if (f->all && width <= 8 && tlen == width)
	{
		*head = sfx_load_be(t, width) >> (64 - 8 * width);
		*rest = 0;
		*above = false;
		*exact = true;
		return;
	}
	/* a t that ends early is below all keys that go on, as if it went on with zeros */
	x0 = sfx_load_be(t, n < 8 ? n : 8);
	if (n > 8)
		x1 = sfx_load_be(t + 8, n - 8);
	*above = tlen > width;
	*exact = tlen == width;

	/* the first constant bit that differs decides; what follows it in t does not matter */
	d0 = (x0 ^ f->value[0]) & ~f->vary[0];
	d1 = (x1 ^ f->value[1]) & ~f->vary[1];
	if (d0 | d1)
	{
		uint64_t	below = UINT64_MAX >> __builtin_clzll(d0 ? d0 : d1);
		uint64_t	fill;

		*above = ((d0 ? x0 : x1) & (below ^ (below >> 1))) != 0;
		*exact = false;
		fill = *above ? UINT64_MAX : 0;
		if (d0)
		{
			x0 = (x0 & ~below) | (fill & below);
			x1 = fill;
		}
		else
			x1 = (x1 & ~below) | (fill & below);
	}
	x1 = gather_once(f->vary[1], x1);
	*head = core_head(gather_once(f->vary[0], x0), x1, f->nbits[1], f->nrest);
	*rest = x1 & sfx_mask(f->nrest);
}

static inline uint64_t
get_rest(const SfxFix *f, int i)
{
	return sfx_bits_get(f->rest, (size_t) (f->end - f->rest), (size_t) i * f->nrest, f->nrest);
}

/* Decode keys of more than one word. */
static void
decode_wide(const SfxFix *f, int from, int n, uint32_t prelen, const uint64_t *head, uint8_t *out)
{
	SfxWords	w = {{f->vary[0], f->vary[1]}, {f->value[0], f->value[1]}, f->nbits[1], f->nrest};
	uint64_t	rest[SFX_INT_MAX] = {0};
	uint8_t		prefix[16] = {0};
	uint32_t	keylen = prelen + (uint32_t) f->width;

	if (f->nrest)
		sfx_kernels->unpack(f->rest, (size_t) (f->end - f->rest), (size_t) from * f->nrest, f->nrest, n, 0, rest);
	if (prelen <= 16)
	{
		memcpy(prefix, out, prelen);
		sfx_kernels->put_words(&w, head, rest, n, prefix, prelen, keylen, out);
		return;
	}
	/*
	 * A long prefix: its last 16 bytes are written like that, and those before them are copied from
	 * the first key.
	 */
	memcpy(prefix, out + prelen - 16, 16);
	sfx_kernels->put_words(&w, head, rest, n, prefix, 16, keylen, out + prelen - 16);
	for (int i = 1; i < n; i++)
		memcpy(out + (size_t) i * keylen, out, prelen - 16);
}

/* Write keys [from, to), as sfx_fix_decode.  Up to 8 bytes of width need one word for each key. */
static int
decode_words(const SfxFix *f, int from, int to, uint32_t prelen, uint8_t *out)
{
	uint64_t	v[SFX_INT_MAX];
	uint32_t	keylen = prelen + (uint32_t) f->width;
	int			n = to - from;
	uint8_t		prefix[16];
	uint8_t    *q = out;

	if (sfx_int_read(&f->ints, from, to, v) != SFX_OK)
		return SFX_CORRUPT;
	if (f->width > 8)
	{
		decode_wide(f, from, n, prelen, v, out);
		return SFX_OK;
	}
	sfx_kernels->deposit(v, n, f->vary[0], f->value[0]);
	memcpy(prefix, out, 16);

	/*
	 * A store may run into the next key's place, which is written after it.  The prefix comes from
	 * a register, or from the first key: the previous key may not have left the store buffer yet.
	 */
	if (prelen <= 16)
		for (int i = 0; i < n; i++, q += keylen)
		{
			memcpy(q, prefix, 16);
			sfx_store_be64(q + prelen, v[i]);
		}
	else
		for (int i = 0; i < n; i++, q += keylen)
		{
			if (i > 0)
				sfx_copy16(q, out, prelen);
			sfx_store_be64(q + prelen, v[i]);
		}
	return SFX_OK;
}

/* ---- bytes ---- */

static inline uint64_t
all_ones(int width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* Find the bytes that vary. */
static uint64_t
varying_bytes(const SfxKeys *k, int width)
{
	uint64_t	acc[SFX_FIX_MAXWIDTH / 8] = {0};
	int			words = (width + 7) / 8;
	const uint8_t *first = k->bytes + k->off[0] + k->skip;
	uint64_t	mask = 0;

	for (int i = 1; i < k->n; i++)
	{
		const uint8_t *p = k->bytes + k->off[i] + k->skip;

		for (int w = 0; w < words; w++)
			acc[w] |= sfx_get64(first + 8 * w) ^ sfx_get64(p + 8 * w);
	}
	for (int i = 0; i < width; i++)
	{
		uint8_t		b[8];

		memcpy(b, &acc[i / 8], 8);
		if (b[i % 8])
			mask |= UINT64_C(1) << i;
	}
	return mask;
}

/*
 * Encode keys of more than 16 bytes: the bytes that do not vary, an integer block of the first
 * eight bytes that do, then the others, key after key.  Returns the bytes written, or SFX_NOSPACE.
 */
static int
encode_bytes(const SfxKeys *k, int width, uint8_t *out, size_t cap, bool *hasrest)
{
	uint64_t	mask = varying_bytes(k, width);
	uint64_t	restmask = mask;
	int			nvary = __builtin_popcountll(mask);
	int			nint = nvary < 8 ? nvary : 8;
	const uint8_t *first = k->bytes + k->off[0] + k->skip;
	uint64_t	v[SFX_INT_MAX];
	uint8_t    *p = out;
	int			r;

	*hasrest = nvary > 8;
	if (cap < (size_t) (1 + 8 + width))
		return SFX_NOSPACE;
	*p++ = (uint8_t) (width | (nvary == width ? SFX_FIX_ALL : 0));
	if (nvary < width)
	{
		for (int i = 0; i < width; i += 8)
			*p++ = (uint8_t) (mask >> i);
		for (int i = 0; i < width; i++)
			if (!(mask >> i & 1))
				*p++ = first[i];
	}
	for (int j = 0; j < nint; j++)
		restmask &= restmask - 1;
	for (int i = 0; i < k->n; i++)
	{
		const uint8_t *key = k->bytes + k->off[i] + k->skip;

		v[i] = 0;
		for (uint64_t m = mask ^ restmask; m; m &= m - 1)
			v[i] = v[i] << 8 | key[__builtin_ctzll(m)];
	}
	r = encode_ints(k, v, p, cap - (size_t) (p - out));
	if (r < 0)
		return r;
	p += r;
	if (cap - (size_t) (p - out) < (size_t) k->n * (size_t) (nvary - nint))
		return SFX_NOSPACE;
	for (int i = 0; i < k->n; i++)
		for (uint64_t m = restmask; m; m &= m - 1)
			*p++ = k->bytes[k->off[i] + k->skip + (uint32_t) __builtin_ctzll(m)];
	return (int) (p - out);
}

/* Parse a stream of bytes after its first byte, and check that all parts are inside it. */
static int
open_bytes(SfxFix *f, bool all, const uint8_t *p, const uint8_t *end)
{
	int			nint;
	int			r;

	f->mask = all_ones(f->width);
	if (!all)
	{
		uint64_t	m = 0;

		if (end - p < (f->width + 7) / 8)
			return SFX_CORRUPT;
		for (int i = 0; i < f->width; i += 8)
			m |= (uint64_t) *p++ << i;
		if (m == 0 || (m & ~f->mask))
			return SFX_CORRUPT;
		f->mask = m;
	}
	f->nvary = __builtin_popcountll(f->mask);
	nint = f->nvary < 8 ? f->nvary : 8;
	f->nrest = (unsigned) (f->nvary - nint);
	f->consts = p;
	if (end - p < f->width - f->nvary)
		return SFX_CORRUPT;
	p += f->width - f->nvary;
	r = sfx_int_open(&f->ints, p, (size_t) (end - p), f->n);
	if (r < 0)
		return SFX_CORRUPT;
	p += r;
	f->rest = p;
	if (end - p < (ptrdiff_t) f->n * (ptrdiff_t) f->nrest)
		return SFX_CORRUPT;
	f->end = p + (ptrdiff_t) f->n * (ptrdiff_t) f->nrest;
	return SFX_OK;
}

/* The same as project_words, for bytes that vary. */
static void
project_bytes(const SfxFix *f, const uint8_t *t, uint32_t tlen, uint8_t *core, bool *above, bool *exact)
{
	const uint8_t *c = f->consts;
	int			n = 0;
	int			i;

	*above = false;
	*exact = false;
	for (i = 0; i < f->width; i++)
	{
		if ((uint32_t) i == tlen)
			break;				/* t is a prefix of the keys that agree so far: below them */
		if (f->mask >> i & 1)
			core[n++] = t[i];
		else if (t[i] != *c++)
		{
			*above = t[i] > c[-1];
			break;
		}
	}
	if (i == f->width)
	{
		*exact = tlen == (uint32_t) f->width;
		*above = !*exact;
	}
	else
		memset(core + n, *above ? 0xFF : 0x00, (size_t) (f->nvary - n));
}

static int
decode_bytes(const SfxFix *f, int from, int to, uint32_t prelen, uint8_t *out)
{
	uint64_t	v[SFX_INT_MAX];
	uint32_t	keylen = prelen + (uint32_t) f->width;
	int			nint = f->nvary - (int) f->nrest;
	const uint8_t *rest = f->rest + (size_t) from * f->nrest;
	uint8_t    *q = out;
	const uint8_t *c = f->consts;

	if (sfx_int_read(&f->ints, from, to, v) != SFX_OK)
		return SFX_CORRUPT;
	for (int j = 0; j < f->width; j++)
		if (!(f->mask >> j & 1))
			out[prelen + (uint32_t) j] = *c++;
	for (int i = 0; i < to - from; i++, q += keylen)
	{
		uint64_t	m = f->mask;

		if (i > 0)
			sfx_copy16(q, out, keylen);
		for (int j = nint - 1; j >= 0; j--, m &= m - 1)
			q[prelen + (uint32_t) __builtin_ctzll(m)] = (uint8_t) (v[i] >> (8 * j));
		for (; m; m &= m - 1)
			q[prelen + (uint32_t) __builtin_ctzll(m)] = *rest++;
	}
	return SFX_OK;
}

/* ---- both ---- */

uint32_t
sfx_fix_least(const SfxKeys *k)
{
	int			width = (int) (k->off[1] - k->off[0] - k->skip);
	int			nvary = width <= SFX_FIX_MAXBITS ? 0 :
		__builtin_popcountll(varying_bytes(k, width));

	return nvary > 8 ? (uint32_t) k->n * (uint32_t) (nvary - 8) : 0;
}

int
sfx_fix_encode(const SfxKeys *k, uint8_t *out, size_t cap, bool *rest)
{
	int			width = (int) (k->off[1] - k->off[0] - k->skip);

	return width <= SFX_FIX_MAXBITS ? encode_words(k, width, out, cap, rest) :
		encode_bytes(k, width, out, cap, rest);
}

int
sfx_fix_open(SfxFix *f, const uint8_t *in, size_t len, int n)
{
	bool		all;

	if (len < 1)
		return SFX_CORRUPT;
	f->n = n;
	f->width = in[0] & ~SFX_FIX_ALL;
	all = (in[0] & SFX_FIX_ALL) != 0;
	if (f->width < 1 || f->width > SFX_FIX_MAXWIDTH)
		return SFX_CORRUPT;
	return f->width <= SFX_FIX_MAXBITS ? open_words(f, all, in + 1, in + len) :
		open_bytes(f, all, in + 1, in + len);
}

/* Compare key i's rest with the target's. */
static inline int
cmp_rest(const SfxFix *f, int i, uint64_t rest, const uint8_t *core)
{
	uint64_t	got;

	if (f->width > SFX_FIX_MAXBITS)
		return memcmp(f->rest + (size_t) i * f->nrest, core + 8, f->nrest);
	got = get_rest(f, i);
	return (got > rest) - (got < rest);
}

/*
 * Keys [i, j) have the target's integer: find the first of them whose rest is >= the target's, or
 * j.
 */
static int
search_rest(const SfxFix *f, int i, int j, uint64_t rest, const uint8_t *core, bool *hit)
{
	while (i < j)
	{
		int			mid = (i + j) / 2;
		int			c = cmp_rest(f, mid, rest, core);

		if (c == 0)
		{
			*hit = true;
			return mid;
		}
		if (c < 0)
			i = mid + 1;
		else
			j = mid;
	}
	return i;
}

int
sfx_fix_search(const SfxFix *f, const uint8_t *t, uint32_t tlen, bool *equal)
{
	uint8_t		core[SFX_FIX_MAXWIDTH];
	bool		above,
				exact,
				same,
				hit = false;
	uint64_t	head = 0,
				rest = 0;
	int			i,
				j;

	*equal = false;
	if (f->width <= SFX_FIX_MAXBITS)
		project_words(f, t, tlen, &head, &rest, &above, &exact);
	else
	{
		project_bytes(f, t, tlen, core, &above, &exact);
		for (j = 0; j < f->nvary - (int) f->nrest; j++)
			head = head << 8 | core[j];
	}
	i = sfx_int_search(&f->ints, head, &same);
	if (i < 0 || i > f->n)
		return SFX_CORRUPT;
	if (!same || i == f->n)
		return i;
	if (f->nrest == 0)
		hit = true;
	else
	{
		int			c = cmp_rest(f, i, rest, core);

		hit = c == 0;
		if (c < 0)
		{
			/* several keys with these 64 bits are rare */
			j = head == UINT64_MAX ? f->n : sfx_int_search(&f->ints, head + 1, &same);
			if (j < 0 || j > f->n)
				return SFX_CORRUPT;
			i = search_rest(f, i + 1, j, rest, core, &hit);
		}
	}
	*equal = hit && exact;
	if (!hit || !above)
		return i;
	/* t is above these keys in bits that all keys share; a BITS block may have several of them */
	if (f->nrest > 0 || SFX_CORE_MUTANT("behind the first of a run"))
		return i + 1;
	j = head == UINT64_MAX ? f->n : sfx_int_search(&f->ints, head + 1, &same);
	return j < 0 || j > f->n ? SFX_CORRUPT : j;
}

int
sfx_fix_decode(const SfxFix *f, int from, int to, uint32_t prelen, uint8_t *out)
{
	if (from >= to)
		return SFX_OK;
	return f->width <= SFX_FIX_MAXBITS ? decode_words(f, from, to, prelen, out) :
		decode_bytes(f, from, to, prelen, out);
}
