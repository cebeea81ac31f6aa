/*-------------------------------------------------------------------------
 * intcodec.c - decoding and searching blocks of integers (layouts: intcodec_format.h)
 *-------------------------------------------------------------------------
 */
#include "intcodec_format.h"

#define LINEAR_SCAN		8		/* groups up to this size are searched one by one */

/* A block's header, checked: all that it promises lies within (p, avail). */
typedef struct IntBlock
{
	SfxIntCodec codec;
	unsigned	width;			/* bits per value of the stream (EF: low bits) */
	uint64_t	base;
	const uint8_t *p;			/* the stream; DBP: chunk 0's */
	size_t		avail;			/* readable bytes from p on */
	size_t		size;			/* of the whole block */
	uint64_t	step;			/* LFOR: slope, whole part; DBP: least delta */
	unsigned	frac;			/* LFOR: slope, 1/256ths */
	const uint8_t *map;			/* EF: bitmap; DBP: checkpoints */
	unsigned	mapbytes;		/* EF: its length; DBP: bytes per checkpoint */
	const uint8_t *widths;		/* DBP: bits per delta of each chunk */
} IntBlock;

/* ---- headers ---- */

/*
 * Where a block's parts stand.  Reads nothing beyond the header; what the
 * header promises is checked against len before anything else is read.
 */
static inline int
parse_fields(const uint8_t *in, size_t len, int n, IntBlock *b, size_t *pos, size_t *stream)
{
	switch (b->codec)
	{
		case SFX_INT_PLAIN:
			if (in[1] > 8)
				return SFX_CORRUPT;
			b->width = 8 * in[1];
			*stream = (size_t) n * in[1];
			return SFX_OK;
		case SFX_INT_FOR:
			if (in[1] > 64)
				return SFX_CORRUPT;
			b->width = in[1];
			*stream = sfx_bits_bytes((size_t) n, b->width);
			return SFX_OK;
		case SFX_INT_LFOR:
			b->width = in[1] & 0x7F;
			if (len < 3 || b->width > 64 || in[2] > 8)
				return SFX_CORRUPT;
			*pos = 3;
			*stream = sfx_bits_bytes((size_t) n, b->width);
			return SFX_OK;
		case SFX_INT_EF:
			if (len < 3 || in[1] > 63)
				return SFX_CORRUPT;
			b->width = in[1];
			b->mapbytes = in[2];
			*pos = 3;
			*stream = sfx_bits_bytes((size_t) n, b->width);
			return (unsigned) n <= 8 * b->mapbytes ? SFX_OK : SFX_CORRUPT;
		case SFX_INT_DBP:
			if (len < 2 + (size_t) chunk_count(n) || (in[1] & 15) > 8 || in[1] >> 4 > 8)
				return SFX_CORRUPT;
			b->widths = in + 2;
			b->mapbytes = in[1] >> 4;
			*pos = 2 + (size_t) chunk_count(n);
			*stream = 0;
			for (int k = 0; k < chunk_count(n); k++)
			{
				if (b->widths[k] > 64)
					return SFX_CORRUPT;
				*stream += sfx_bits_bytes((size_t) chunk_values(n, k) - 1, b->widths[k]);
			}
			return SFX_OK;
	}
	return SFX_CORRUPT;
}

static inline int
parse(const uint8_t *in, size_t len, int n, IntBlock *b)
{
	size_t		pos = 2,
				stream,
				nb,
				nstep = 0,
				nfrac = 0,
				nmap = 0;

	if (n < 1 || n > SFX_INT_MAX || len < 2 || in[0] >= 9 << 3)
		return SFX_CORRUPT;
	b->codec = (SfxIntCodec) (in[0] & 7);
	nb = in[0] >> 3;
	if (parse_fields(in, len, n, b, &pos, &stream) < 0)
		return SFX_CORRUPT;
	if (b->codec == SFX_INT_LFOR)
	{
		nstep = in[2];
		nfrac = in[1] >> 7;
	}
	else if (b->codec == SFX_INT_EF)
		nmap = b->mapbytes;
	else if (b->codec == SFX_INT_DBP)
	{
		nstep = in[1] & 15;
		nmap = b->mapbytes * (size_t) (chunk_count(n) - 1);
	}

	b->size = pos + nb + nstep + nfrac + nmap + stream;
	if (b->size > len)
		return SFX_CORRUPT;

	b->base = sfx_load64_avail(in + pos, len - pos) & sfx_mask(8 * (unsigned) nb);
	pos += nb;
	b->step = sfx_load64_avail(in + pos, len - pos) & sfx_mask(8 * (unsigned) nstep);
	pos += nstep;
	b->frac = nfrac ? in[pos] : 0;
	pos += nfrac;
	b->map = in + pos;
	b->p = in + pos + nmap;
	b->avail = len - pos - nmap;
	return SFX_OK;
}

/* ---- Elias-Fano ---- */

/* Word j of the bitmap; bits that are not the bitmap's are zero. */
static inline uint64_t
ef_word(const IntBlock *b, unsigned j)
{
	unsigned	left = b->mapbytes - 8 * j;
	uint64_t	x = sfx_load64_avail(b->map + 8 * j, left + b->avail);

	return left >= 8 ? x : x & sfx_mask(8 * left);
}

static inline unsigned
ef_words(const IntBlock *b)
{
	return (b->mapbytes + 7) / 8;
}

static inline uint64_t
ef_low(const IntBlock *b, int i)
{
	return sfx_bits_get(b->p, b->avail, (size_t) i * b->width, b->width);
}

/*
 * The bitmap position of one (or, flip = all bits, zero) number k; SFX_CORRUPT if there are not so many.
 * Zeros may be found beyond the bitmap's end, but only in its last word.
 */
static inline int
ef_select(const IntBlock *b, unsigned k, uint64_t flip)
{
	unsigned	full = b->mapbytes / 8,
				j = 0;
	uint64_t	x;

	for (; j < full; j++)
	{
		unsigned	count;

		x = sfx_load64(b->map + 8 * j) ^ flip;
		count = sfx_popcount(x);
		if (k < count)
			return (int) (64 * j + sfx_select(x, k));
		k -= count;
	}
	if (j == ef_words(b))
		return SFX_CORRUPT;
	x = ef_word(b, j) ^ flip;
	return k < sfx_popcount(x) ? (int) (64 * j + sfx_select(x, k)) : SFX_CORRUPT;
}

static int
ef_get(const IntBlock *b, int i, uint64_t *v)
{
	int			pos = ef_select(b, (unsigned) i, 0);

	if (pos < 0)
		return SFX_CORRUPT;
	*v = b->base + (((uint64_t) (pos - i) << b->width) | ef_low(b, i));
	return SFX_OK;
}

/*
 * The low and the high bits are joined word by word of the bitmap.  Low bits are read with one
 * load as long as that stays inside; only a value or two at the end of a page cannot.
 */
static int
ef_decode(const IntBlock *b, int from, int to, uint64_t *out)
{
	unsigned	j = 0,
				width = b->width;
	uint64_t	mask = sfx_mask(width),
				x;
	int			i = from,
				skip = from,
				loadable = from;

	if (from == to)
		return SFX_OK;
	if (width > 0 && width <= SFX_ONE_LOAD)
		loadable += sfx_bits_loadable(b->avail, (size_t) from * width, width, to - from);

	/* The word of one number from, without those before it. */
	x = ef_word(b, 0);
	for (int ones; skip >= (ones = (int) sfx_popcount(x)); x = ef_word(b, j))
	{
		skip -= ones;
		if (++j >= ef_words(b))
			return SFX_CORRUPT;
	}
	x &= ~UINT64_C(0) << sfx_select(x, (unsigned) skip);

	for (;;)
	{
		int			word_end = i + (int) sfx_popcount(x),
					end = word_end < to ? word_end : to,
					fast = end < loadable ? end : loadable;

		for (; i < fast; i++, x &= x - 1)
		{
			size_t		bit = (size_t) i * width;
			uint64_t	high = 64 * j + (unsigned) __builtin_ctzll(x) - (unsigned) i;

			out[i - from] = b->base + (high << width) + ((sfx_load64(b->p + (bit >> 3)) >> (bit & 7)) & mask);
		}
		for (; i < end; i++, x &= x - 1)
			out[i - from] = b->base + ((uint64_t) (64 * j + (unsigned) __builtin_ctzll(x) - (unsigned) i) << width) +
				ef_low(b, i);
		if (i == to)
			return SFX_OK;
		if (++j >= ef_words(b))
			return SFX_CORRUPT;
		x = ef_word(b, j);
	}
}

/* The first of values [i, end), which share their high bits, whose low bits are >= low; else end. */
static inline int
ef_search_group(const IntBlock *b, int i, int end, uint64_t low)
{
	while (end - i > LINEAR_SCAN)
	{
		int			mid = i + (end - i) / 2;

		if (ef_low(b, mid) < low)
			i = mid + 1;
		else
			end = mid;
	}
	while (i < end && ef_low(b, i) < low)
		i++;
	return i;
}

static int
ef_lower_bound(const IntBlock *b, int n, uint64_t x)
{
	uint64_t	high = (x - b->base) >> b->width,
				low = (x - b->base) & sfx_mask(b->width);
	int			pos = 0,
				i;

	if (x <= b->base)
		return 0;
	if (high > 8 * b->mapbytes - (unsigned) n)	/* more than there are zeros */
		return n;
	if (high > 0)
	{
		pos = ef_select(b, (unsigned) high - 1, ~UINT64_C(0)) + 1;
		if (pos == 0 || pos - (int) high > n)
			return SFX_CORRUPT;
	}

	/* The values with these high bits are the ones from pos up to the next zero. */
	i = pos - (int) high;
	while (i < n)
	{
		uint64_t	zeros = ~ef_word(b, (unsigned) pos / 64) >> (pos % 64);
		int			left = 64 - pos % 64,
					group = zeros ? __builtin_ctzll(zeros) : 64,
					end;

		group = group < left ? group : left;
		end = i + group < n ? i + group : n;
		i = ef_search_group(b, i, end, low);
		if (i < end || group < left)
			return i;
		pos += group;
		if ((unsigned) pos >= 8 * b->mapbytes)
			break;
	}
	return i;
}

/* ---- delta packing ---- */

/* The value of chunk k's first, and the chunk's stream. */
static inline uint64_t
dbp_start(const IntBlock *b, int n, int k, const uint8_t **p, size_t *avail)
{
	size_t		at = 0,
				check = (size_t) (k - 1) * b->mapbytes;

	for (int c = 0; c < k; c++)
		at += sfx_bits_bytes((size_t) chunk_values(n, c) - 1, b->widths[c]);
	*p = b->p + at;
	*avail = b->avail - at;
	return k == 0 ? b->base : b->base + sfx_load_bytes(b->map + check, b->mapbytes);
}

static uint64_t
dbp_get(const IntBlock *b, int n, int i)
{
	const uint8_t *p;
	size_t		avail;
	uint64_t	v = dbp_start(b, n, i / CHUNK, &p, &avail);
	int			ndeltas = i % CHUNK;

	return v + (uint64_t) ndeltas * b->step + sfx_bits_sum(p, avail, b->widths[i / CHUNK], ndeltas);
}

static void
dbp_decode(const IntBlock *b, int n, int from, int to, uint64_t *out)
{
	while (from < to)
	{
		int			k = from / CHUNK,
					skip = from % CHUNK,
					end = (k + 1) * CHUNK < to ? (k + 1) * CHUNK : to;
		unsigned	w = b->widths[k];
		const uint8_t *p;
		size_t		avail;
		uint64_t	v = dbp_start(b, n, k, &p, &avail);

		/* The deltas are unpacked to where their sums go. */
		v += (uint64_t) skip * b->step + sfx_bits_sum(p, avail, w, skip);
		*out++ = v;
		sfx_bits_unpack(p, avail, (size_t) skip * w, w, end - from - 1, b->step, out);
		for (; ++from < end; out++)
			*out = v += *out;
	}
}

static int
dbp_lower_bound(const IntBlock *b, int n, uint64_t x)
{
	const uint8_t *p;
	size_t		avail,
				bit = 0;
	uint64_t	v,
				mask;
	unsigned	w;
	int			k = 0,
				j = 1,
				m,
				fast = 1;

	while (k + 1 < chunk_count(n) &&
		   b->base + sfx_load_bytes(b->map + (size_t) k * b->mapbytes, b->mapbytes) < x)
		k++;
	v = dbp_start(b, n, k, &p, &avail);
	if (v >= x)
		return k * CHUNK;

	/* Sum up deltas until x is reached. */
	m = chunk_values(n, k);
	w = b->widths[k];
	mask = sfx_mask(w);
	if (w > 0 && w <= SFX_ONE_LOAD)
		fast += sfx_bits_loadable(avail, 0, w, m - 1);
	for (; j < fast; j++, bit += w)
	{
		v += b->step + ((sfx_load64(p + (bit >> 3)) >> (bit & 7)) & mask);
		if (v >= x)
			return k * CHUNK + j;
	}
	for (; j < m; j++, bit += w)
	{
		v += b->step + sfx_bits_get(p, avail, bit, w);
		if (v >= x)
			return k * CHUNK + j;
	}
	return k * CHUNK + m;
}

/* ---- PLAIN, FOR, LFOR ---- */

static inline uint64_t
packed_get(const IntBlock *b, int i)
{
	uint64_t	v = b->base + sfx_bits_get(b->p, b->avail, (size_t) i * b->width, b->width);

	return b->codec == SFX_INT_LFOR ? v + line(b->step, b->frac, i) : v;
}

static void
packed_decode(const IntBlock *b, int from, int to, uint64_t *out)
{
	sfx_bits_unpack(b->p, b->avail, (size_t) from * b->width, b->width, to - from, b->base, out);
	if (b->codec == SFX_INT_LFOR)
		for (int i = from; i < to; i++)
			out[i - from] += line(b->step, b->frac, i);
}

/* The first of values [lo, hi) that is >= x; else hi. */
static inline int
packed_search(const IntBlock *b, int lo, int hi, uint64_t x)
{
	int			n = hi - lo;

	if (n <= 0)
		return hi;
	while (n > 1)
	{
		int			half = n / 2;

		if (packed_get(b, lo + half - 1) < x)
			lo += half;
		n -= half;
	}
	return lo + (packed_get(b, lo) < x);
}

/*
 * The line narrows the search: base + step * i <= v[i] <= base + (step + 1) * i + mask.  Where base stands for
 * a negative number (the first value is smaller), that comparison is not one of numbers.
 */
static int
lfor_lower_bound(const IntBlock *b, int n, uint64_t x)
{
	uint64_t	first = packed_get(b, 0),
				dist = x - b->base,
				mask = sfx_mask(b->width),
				slope = b->step + (b->frac != 0),
				q;
	int			lo = 0,
				hi = n;

	if (x <= first)
		return 0;
	if (first < b->base || b->step == 0 || slope == 0)
		return packed_search(b, 0, n, x);
	q = dist / b->step;			/* v[q + 1] >= x */
	if (q < (uint64_t) n)
		hi = (int) q + 1 < n ? (int) q + 1 : n;
	if (dist > mask)
	{
		q = slope == b->step ? q - mask / slope : (dist - mask) / slope;
		lo = q < (uint64_t) hi ? (int) q : hi;
		lo = lo > 0 ? lo - 1 : 0;
	}
	return packed_search(b, lo, hi, x);
}

/* ---- decoding: the public face ---- */

int
sfx_int_size(const uint8_t *in, size_t len, int n)
{
	IntBlock	b;

	return parse(in, len, n, &b) < 0 ? SFX_CORRUPT : (int) b.size;
}

int
sfx_int_decode(const uint8_t *in, size_t len, int n, int from, int to, uint64_t *out)
{
	IntBlock	b;

	if (parse(in, len, n, &b) < 0 || from < 0 || from > to || to > n)
		return SFX_CORRUPT;
	if (b.codec == SFX_INT_EF)
		return ef_decode(&b, from, to, out);
	if (b.codec == SFX_INT_DBP)
		dbp_decode(&b, n, from, to, out);
	else
		packed_decode(&b, from, to, out);
	return SFX_OK;
}

int
sfx_int_get(const uint8_t *in, size_t len, int n, int i, uint64_t *v)
{
	IntBlock	b;

	if (parse(in, len, n, &b) < 0 || i < 0 || i >= n)
		return SFX_CORRUPT;
	if (b.codec == SFX_INT_EF)
		return ef_get(&b, i, v);
	*v = b.codec == SFX_INT_DBP ? dbp_get(&b, n, i) : packed_get(&b, i);
	return SFX_OK;
}

int
sfx_int_lower_bound(const uint8_t *in, size_t len, int n, uint64_t x)
{
	IntBlock	b;

	if (parse(in, len, n, &b) < 0)
		return SFX_CORRUPT;
	if (b.codec == SFX_INT_EF)
		return ef_lower_bound(&b, n, x);
	if (b.codec == SFX_INT_DBP)
		return dbp_lower_bound(&b, n, x);
	return b.codec == SFX_INT_LFOR ? lfor_lower_bound(&b, n, x) : packed_search(&b, 0, n, x);
}
