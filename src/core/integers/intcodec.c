/*-------------------------------------------------------------------------
 * intcodec.c - decoding and searching blocks of integers (layouts: intcodec_format.h)
 *-------------------------------------------------------------------------
 */
#include "intcodec_bytes.h"
#include "contract.h"
#include "cpu.h"
#include "decimal.h"

/* ---- headers ---- */

/*
 * Find a block's parts.  Reads nothing beyond the header; all sizes in the header are checked
 * against len before anything else is read.
 */
static inline int
parse_fields(const uint8_t *in, size_t len, int n, SfxInt *b, size_t *pos, size_t *stream)
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
		case SFX_INT_PDBP:
		case SFX_INT_DBP:
			*pos = 2 + (size_t) chunk_count(n) + (b->codec == SFX_INT_PDBP ? 2 : 0);
			if (len < *pos || (in[1] & 15) > 8 || in[1] >> 4 > 8)
				return SFX_CORRUPT;
			b->widths = in + 2;
			b->mapbytes = in[1] >> 4;
			*stream = 0;
			for (int k = 0; k < chunk_count(n); k++)
			{
				if (b->widths[k] > 64)
					return SFX_CORRUPT;
				*stream += sfx_bits_bytes((size_t) chunk_values(n, k) - 1, b->widths[k]);
			}
			b->npatches = 0;
			if (b->codec == SFX_INT_DBP)
				return SFX_OK;
			b->npatches = in[*pos - 2];
			b->highbytes = in[*pos - 1];
			return b->highbytes >= 1 && b->highbytes <= 8 ? SFX_OK : SFX_CORRUPT;
		case SFX_INT_VBYTE:
		case SFX_INT_VARINTGB:
		case SFX_INT_STREAMVBYTE:
			if (len < 4 || in[1] > 8)
				return SFX_CORRUPT;
			b->mapbytes = in[1];
			b->streambytes = sfx_load_bytes(in + 2, 2);
			*pos = 4;
			*stream = b->streambytes;
			return SFX_OK;
		case SFX_INT_EF:
		case SFX_INT_DECIMAL:
		case SFX_INT_CODECS:
			break;
	}
	return SFX_CORRUPT;
}

static inline int
open_ef(SfxInt *b, const uint8_t *in, size_t len, size_t nb)
{
	if (len < 3 || in[1] > 63)
		return SFX_CORRUPT;
	b->width = in[1];
	b->mapbytes = in[2];
	b->size = 3 + nb + b->mapbytes + sfx_bits_bytes((size_t) b->n, b->width);
	if (b->size > len || (unsigned) b->n > 8 * b->mapbytes)
		return SFX_CORRUPT;
	b->base = sfx_load64_avail(in + 3, len - 3) & sfx_mask(8 * (unsigned) nb);
	b->map = in + 3 + nb;
	b->p = b->map + b->mapbytes;
	b->avail = len - 3 - nb - b->mapbytes;
	return (int) b->size;
}

/*
 * Parse the header of a block of any codec except DECIMAL, and check that its parts fit into len.
 * Returns the block's length, or SFX_CORRUPT.
 */
static int
open_block(SfxInt *b, const uint8_t *in, size_t len, int n)
{
	size_t		pos = 2,
				stream,
				nb,
				nstep = 0,
				nfrac = 0,
				nmap = 0,
				npatch = 0;

	if (n < 1 || n > SFX_INT_MAX || len < 2)
		return SFX_CORRUPT;
	b->codec = SFX_INT_CODEC(in[0]);
	b->n = n;
	nb = in[0] >> 3 & 15;
	if (nb > 8)
		return SFX_CORRUPT;
	/* most blocks are Elias-Fano */
	if (b->codec == SFX_INT_EF)
		return open_ef(b, in, len, nb);
	if (parse_fields(in, len, n, b, &pos, &stream) < 0)
		return SFX_CORRUPT;
	if (b->codec == SFX_INT_LFOR)
	{
		nstep = in[2];
		nfrac = in[1] >> 7;
	}
	else if (b->codec == SFX_INT_DBP || b->codec == SFX_INT_PDBP)
	{
		nstep = in[1] & 15;
		nmap = b->mapbytes * (size_t) (chunk_count(n) - 1);
		npatch = (size_t) b->npatches * (1 + (b->codec == SFX_INT_PDBP ? b->highbytes : 0));
	}
	else if (is_bytewise(b->codec))
		nmap = (b->mapbytes + 2) * (size_t) (chunk_count(n) - 1);

	b->size = pos + nb + nstep + nfrac + nmap + npatch + stream;
	if (b->size > len)
		return SFX_CORRUPT;

	b->base = sfx_load64_avail(in + pos, len - pos) & sfx_mask(8 * (unsigned) nb);
	pos += nb;
	b->step = sfx_load64_avail(in + pos, len - pos) & sfx_mask(8 * (unsigned) nstep);
	pos += nstep;
	b->frac = nfrac ? in[pos] : 0;
	pos += nfrac;
	b->map = in + pos;
	b->patches = b->map + nmap;
	b->p = b->patches + npatch;
	b->avail = len - pos - nmap - npatch;
	return (int) b->size;
}

/* Open what precedes the block of d.  Returns its length, or SFX_CORRUPT. */
static inline int
open_decimal(SfxInt *b, const uint8_t *in, size_t len)
{
	size_t		nb = in[0] >> 3 & 15;

	if (nb > 7 || len < 2 + nb || (in[1] & ~(DECIMAL_BIASED | DECIMAL_PLACES)) != 0)
		return SFX_CORRUPT;
	b->decimals.places = in[1] & DECIMAL_PLACES;
	b->decimals.biased = (in[1] & DECIMAL_BIASED) != 0;
	b->decimals.low = sfx_mask(64 - 8 * (unsigned) nb);
	b->decimals.high = nb > 0 ? sfx_load_bytes(in + 2, nb) << (64 - 8 * nb) : 0;
	return 2 + (int) nb;
}

int
sfx_int_open(SfxInt *b, const uint8_t *in, size_t len, int n)
{
	int			head;

	b->decimal = len >= 2 && SFX_INT_CODEC(in[0]) == SFX_INT_DECIMAL;
	if (!b->decimal)
		return open_block(b, in, len, n);
	head = open_decimal(b, in, len);
	if (head < 0 || open_block(b, in + head, len - (size_t) head, n) < 0)
		return SFX_CORRUPT;
	b->size += (size_t) head;
	return (int) b->size;
}

/* ---- Elias-Fano ---- */

/* The bitmap and the low bits are adjacent. */
static inline SfxEf
ef_view(const SfxInt *b)
{
	return (SfxEf) {b->map, b->avail + b->mapbytes, 0, 8 * b->mapbytes, 8 * b->mapbytes, b->width, b->n};
}

static int
ef_at(const SfxInt *b, int i, uint64_t *v)
{
	SfxEf		e = ef_view(b);

	if (sfx_kernels->ef_get(&e, i, v) != SFX_OK)
		return SFX_CORRUPT;
	*v += b->base;
	return SFX_OK;
}

static int
ef_search(const SfxInt *b, uint64_t x, bool *equal)
{
	SfxEf		e = ef_view(b);

	return x < b->base ? 0 : sfx_kernels->ef_search(&e, x - b->base, equal);
}

/* ---- delta packing ---- */

/* The first value of chunk k; *p, *avail: the chunk's stream. */
static inline uint64_t
dbp_start(const SfxInt *b, int k, const uint8_t **p, size_t *avail)
{
	size_t		at = 0,
				check = (size_t) (k - 1) * b->mapbytes;

	for (int c = 0; c < k; c++)
		at += sfx_bits_bytes((size_t) chunk_values(b->n, c) - 1, b->widths[c]);
	*p = b->p + at;
	*avail = b->avail - at;
	return k == 0 ? b->base : b->base + sfx_load_bytes(b->map + check, b->mapbytes);
}

/* The high part of exception e, shifted to its place. */
static inline uint64_t
patch_value(const SfxInt *b, int e, unsigned w)
{
	const uint8_t *high = b->patches + b->npatches + (size_t) e * b->highbytes;

	return w < 64 ? sfx_load_bytes(high, b->highbytes) << w : 0;
}

/* Add the high parts to the deltas of values [from, to), which are in delta[0..to-from). */
static inline void
patch(const SfxInt *b, int from, int to, unsigned w, uint64_t *delta)
{
	for (int e = 0; e < b->npatches; e++)
		if (b->patches[e] >= from && b->patches[e] < to)
			delta[b->patches[e] - from] += patch_value(b, e, w);
}

/* The value at i, and where the next ones of the chunk are. */
static uint64_t
dbp_at(const SfxInt *b, int i, const uint8_t **p, size_t *avail)
{
	int			k = i / CHUNK,
				ndeltas = i % CHUNK;
	unsigned	w = b->widths[k];
	uint64_t	v = dbp_start(b, k, p, avail);

	for (int e = 0; e < b->npatches; e++)
		if (b->patches[e] > k * CHUNK && b->patches[e] <= i)
			v += patch_value(b, e, w);
	return v + (uint64_t) ndeltas * b->step + sfx_bits_sum(*p, *avail, w, ndeltas);
}

static void
dbp_decode(const SfxInt *b, int from, int to, uint64_t *out)
{
	while (from < to)
	{
		int			k = from / CHUNK,
					skip = from % CHUNK,
					end = (k + 1) * CHUNK < to ? (k + 1) * CHUNK : to;
		unsigned	w = b->widths[k];
		const uint8_t *p;
		size_t		avail;
		uint64_t	v = dbp_at(b, from, &p, &avail);

		/* the deltas are unpacked to where their sums go */
		*out++ = v;
		sfx_kernels->unpack(p, avail, (size_t) skip * w, w, end - from - 1, b->step, out);
		patch(b, from + 1, end, w, out);
		for (; ++from < end; out++)
			*out = v += *out;
	}
}

/*
 * Find the last chunk whose first value is < x, by the checkpoints, and sum up its deltas until x
 * is reached.
 */
static int
dbp_search(const SfxInt *b, uint64_t x, bool *equal)
{
	uint64_t	delta[CHUNK];
	const uint8_t *p;
	size_t		avail;
	uint64_t	v;
	int			k = 0,
				j,
				m;

	while (k + 1 < chunk_count(b->n) &&
		   b->base + sfx_load_bytes(b->map + (size_t) k * b->mapbytes, b->mapbytes) < x)
		k++;
	v = dbp_start(b, k, &p, &avail);
	m = chunk_values(b->n, k);
	if (v < x)
	{
		sfx_kernels->unpack(p, avail, 0, b->widths[k], m - 1, b->step, delta);
		patch(b, k * CHUNK + 1, k * CHUNK + m, b->widths[k], delta);
	}
	for (j = 0; v < x; v += delta[j++])
		if (j + 1 == m)
		{
			/* the next chunk's first value, which is >= x */
			if (k + 1 < chunk_count(b->n))
				*equal = b->base + sfx_load_bytes(b->map + (size_t) k * b->mapbytes, b->mapbytes) == x;
			return k * CHUNK + m;
		}
	*equal = v == x;
	return k * CHUNK + j;
}

/* ---- PLAIN, FOR, LFOR ---- */

static inline uint64_t
packed_at(const SfxInt *b, int i)
{
	uint64_t	v = b->base + sfx_bits_get(b->p, b->avail, (size_t) i * b->width, b->width);

	return b->codec == SFX_INT_LFOR ? v + line(b->step, b->frac, i) : v;
}

static void
packed_decode(const SfxInt *b, int from, int to, uint64_t *out)
{
	sfx_kernels->unpack(b->p, b->avail, (size_t) from * b->width, b->width, to - from, b->base, out);
	if (b->codec == SFX_INT_LFOR)
		sfx_kernels->add_line(out, to - from, (uint64_t) from, b->step, b->frac);
}

/* Returns the first of values [lo, hi) that is >= x; hi if there is none. */
static inline int
packed_search(const SfxInt *b, int lo, int hi, uint64_t x, bool *equal)
{
	int			n = hi - lo;
	uint64_t	v;

	while (n > 1)
	{
		int			half = n / 2;

		if (packed_at(b, lo + half - 1) < x)
			lo += half;
		n -= half;
	}
	if (n > 0 && (v = packed_at(b, lo)) >= x)
	{
		*equal = v == x;
		return lo;
	}
	lo += n > 0;
	if (lo < b->n)
		*equal = packed_at(b, lo) == x;
	return lo;
}

/*
 * The line narrows the search: base + step * i <= v[i] <= base + (step + 1) * i + mask.  If base
 * stands for a negative number (the first value is smaller), that is not a comparison of numbers.
 */
static int
lfor_search(const SfxInt *b, uint64_t x, bool *equal)
{
	uint64_t	first = packed_at(b, 0),
				dist = x - b->base,
				mask = sfx_mask(b->width),
				slope = b->step + (b->frac != 0),
				q;
	int			n = b->n,
				lo = 0,
				hi = n;

	if (x <= first)
	{
		*equal = x == first;
		return 0;
	}
	if (first < b->base || b->step == 0 || slope == 0)
		return packed_search(b, 0, n, x, equal);
	q = dist / b->step;			/* v[q + 1] >= x */
	if (q < (uint64_t) n)
		hi = (int) q + 1 < n ? (int) q + 1 : n;
	if (dist > mask)
	{
		q = slope == b->step ? q - mask / slope : (dist - mask) / slope;
		lo = q < (uint64_t) hi ? (int) q : hi;
		lo = lo > 0 ? lo - 1 : 0;
	}
	return packed_search(b, lo, hi, x, equal);
}

/* ---- blocks that are not decimals, or of d ---- */

static inline int
read_block(const SfxInt *b, int from, int to, uint64_t *out)
{
	SfxEf		e;

	if (is_bytewise(b->codec))
		return sfx_int_bytes_read(b, from, to, out);
	switch (b->codec)
	{
		case SFX_INT_EF:
			e = ef_view(b);
			return sfx_kernels->ef_decode(&e, from, to, b->base, out);
		case SFX_INT_DBP:
		case SFX_INT_PDBP:
			dbp_decode(b, from, to, out);
			return SFX_OK;
		default:
			packed_decode(b, from, to, out);
			return SFX_OK;
	}
}

static inline int
value_at(const SfxInt *b, int i, uint64_t *v)
{
	const uint8_t *p;
	size_t		avail;

	if (is_bytewise(b->codec))
		return sfx_int_bytes_read(b, i, i + 1, v);
	switch (b->codec)
	{
		case SFX_INT_EF:
			return ef_at(b, i, v);
		case SFX_INT_DBP:
		case SFX_INT_PDBP:
			*v = dbp_at(b, i, &p, &avail);
			return SFX_OK;
		default:
			*v = packed_at(b, i);
			return SFX_OK;
	}
}

static int
search_block(const SfxInt *b, uint64_t x, bool *equal)
{
	if (is_bytewise(b->codec))
		return sfx_int_bytes_search(b, x, equal);
	switch (b->codec)
	{
		case SFX_INT_EF:
			return ef_search(b, x, equal);
		case SFX_INT_DBP:
		case SFX_INT_PDBP:
			return dbp_search(b, x, equal);
		case SFX_INT_LFOR:
			return lfor_search(b, x, equal);
		default:
			return packed_search(b, 0, b->n, x, equal);
	}
}

/* ---- decimals ---- */

/*
 * One d has to be looked at (decimal.h).  Mostly x is its image; then the search in the block need
 * not wait for the division, since the processor predicts the branch.
 */
static int
search_decimal(const SfxInt *b, uint64_t x, bool *equal)
{
	const SfxDecimals *m = &b->decimals;
	int64_t		bias = m->biased ? SFX_DECIMAL_LIMIT : 0,
				near;
	uint64_t	image;
	int			i;

	if (x > m->low)
		return b->n;
	x |= m->high;
	near = sfx_decimal_near(x, m->places);
	image = sfx_decimal_image(near, m->places);
	near += bias;
	if (near >= 0 && image == x)
		return search_block(b, (uint64_t) near, equal);
	near += image < x && !SFX_CORE_MUTANT("decimals are sought below");
	i = search_block(b, near < 0 ? 0 : (uint64_t) near, equal);
	*equal = *equal && SFX_CORE_MUTANT("what lies near a decimal is found");
	return i;
}

/* ---- the public face ---- */

int
sfx_int_read(const SfxInt *b, int from, int to, uint64_t *out)
{
	if (from < 0 || from > to || to > b->n || read_block(b, from, to, out) != SFX_OK)
		return SFX_CORRUPT;
	return b->decimal ? sfx_kernels->decimals(&b->decimals, out, to - from) : SFX_OK;
}

int
sfx_int_at(const SfxInt *b, int i, uint64_t *v)
{
	if (i < 0 || i >= b->n || value_at(b, i, v) != SFX_OK)
		return SFX_CORRUPT;
	return b->decimal ? sfx_kernels->decimals(&b->decimals, v, 1) : SFX_OK;
}

int
sfx_int_search(const SfxInt *b, uint64_t x, bool *equal)
{
	*equal = false;
	return b->decimal ? search_decimal(b, x, equal) : search_block(b, x, equal);
}

int
sfx_int_size(const uint8_t *in, size_t len, int n)
{
	SfxInt		b;

	return sfx_int_open(&b, in, len, n);
}

int
sfx_int_decode(const uint8_t *in, size_t len, int n, int from, int to, uint64_t *out)
{
	SfxInt		b;

	return sfx_int_open(&b, in, len, n) < 0 ? SFX_CORRUPT : sfx_int_read(&b, from, to, out);
}
