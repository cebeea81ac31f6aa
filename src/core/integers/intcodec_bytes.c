/*-------------------------------------------------------------------------
 * intcodec_bytes.c - integer blocks of whole bytes: VByte, VarIntGB and Stream-VByte over deltas
 *
 * Each delta takes as many bytes as it needs, so that a few large ones cost little; nearly always
 * the blocks are larger than bit-packed ones, and slower to search.  Layouts: intcodec_format.h.
 *-------------------------------------------------------------------------
 */
#include "intcodec_bytes.h"

/* ---- one chunk's deltas ---- */

#define MAX_VBYTE	10			/* bytes of 64 bits */

/*
 * Decode one value of any length.  Returns its end; NULL if the bytes end early, or the value does
 * not end.
 */
static const uint8_t *
vbyte_one(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	*v = 0;
	for (unsigned k = 0; k < MAX_VBYTE && p < end; k++)
	{
		*v |= (uint64_t) (*p & 0x7F) << 7 * k;
		if (*p++ < 0x80)
			return p;
	}
	return NULL;
}

/*
 * Masked: the high bits of eight bytes tell at once where values end.  Eight values of a byte each
 * are common; otherwise the bits of the first value are joined by sevens, fourteens and
 * twenty-eights.
 */
static bool
vbyte_decode(const uint8_t *p, const uint8_t *end, int n, uint64_t *out)
{
	for (int i = 0; i < n;)
	{
		uint64_t	x = end - p >= 8 ? sfx_load64(p) : SFX_BYTES_80,
					stop = ~x & SFX_BYTES_80;
		unsigned	nbytes;

		if (stop == SFX_BYTES_80 && n - i >= 8)
		{
			for (int k = 0; k < 8; k++)
				out[i + k] = x >> 8 * k & 0x7F;
			i += 8;
			p += 8;
			continue;
		}
		if (stop == 0)
		{
			p = vbyte_one(p, end, &out[i++]);
			if (p == NULL)
				return false;
			continue;
		}
		nbytes = (unsigned) __builtin_ctzll(stop) / 8 + 1;
		x &= sfx_mask(8 * nbytes) & SFX_BYTES_7F;
		x = (x & UINT64_C(0x007F007F007F007F)) | (x & UINT64_C(0x7F007F007F007F00)) >> 1;
		x = (x & UINT64_C(0x00003FFF00003FFF)) | (x & UINT64_C(0x3FFF00003FFF0000)) >> 2;
		out[i++] = (x & UINT64_C(0x000000000FFFFFFF)) | (x & UINT64_C(0x0FFFFFFF00000000)) >> 4;
		p += nbytes;
	}
	return true;
}

/*
 * Decode up to four values, with lengths in control and data at *p, which moves after them.  False:
 * the bytes end early.
 */
static inline bool
four_decode(unsigned control, const uint8_t **p, const uint8_t *end, int n, uint64_t *out)
{
	const uint8_t *q = *p;

	if (n == 4 && end - q >= 16 + 8)
		for (int k = 0; k < 4; k++, control >>= 2)
		{
			unsigned	len = (control & 3) + 1;

			out[k] = sfx_load64(q) & sfx_mask(8 * len);
			q += len;
		}
	else
		for (int k = 0; k < n; k++, control >>= 2)
		{
			unsigned	len = (control & 3) + 1;

			if (end - q < (ptrdiff_t) len)
				return false;
			out[k] = sfx_load_bytes(q, len);
			q += len;
		}
	*p = q;
	return true;
}

static bool
varintgb_decode(const uint8_t *p, const uint8_t *end, int n, uint64_t *out)
{
	for (int i = 0; i < n; i += 4)
	{
		if (p >= end)
			return false;
		p++;
		if (!four_decode(p[-1], &p, end, n - i < 4 ? n - i : 4, out + i))
			return false;
	}
	return true;
}

/* Decode the first n of all values; the control bytes of all are in front. */
static bool
streamvbyte_decode(const uint8_t *p, const uint8_t *end, int all, int n, uint64_t *out)
{
	const uint8_t *control = p;

	if (end - p < (all + 3) / 4)
		return false;
	p += (all + 3) / 4;
	for (int i = 0; i < n; i += 4)
		if (!four_decode(*control++, &p, end, n - i < 4 ? n - i : 4, out + i))
			return false;
	return true;
}

/* ---- chunks ---- */

static inline const uint8_t *
checkpoint(const SfxInt *b, int k)
{
	return b->map + (size_t) (k - 1) * (b->mapbytes + 2);
}

static inline uint64_t
chunk_first(const SfxInt *b, int k)
{
	return k == 0 ? b->base : b->base + sfx_load_bytes(checkpoint(b, k), b->mapbytes);
}

/* Decode the first m (>= 1) values of chunk k into out. */
static bool
chunk_decode(const SfxInt *b, int k, int m, uint64_t *out)
{
	size_t		at = k == 0 ? 0 : (size_t) sfx_load_bytes(checkpoint(b, k) + b->mapbytes, 2);
	const uint8_t *end = b->p + b->streambytes;
	bool		good;

	out[0] = chunk_first(b, k);
	if (m == 1)
		return true;
	if (at > b->streambytes)
		return false;
	if (b->codec == SFX_INT_VBYTE)
		good = vbyte_decode(b->p + at, end, m - 1, out + 1);
	else if (b->codec == SFX_INT_VARINTGB)
		good = varintgb_decode(b->p + at, end, m - 1, out + 1);
	else
		good = streamvbyte_decode(b->p + at, end, chunk_values(b->n, k) - 1, m - 1, out + 1);
	for (int i = 1; i < m && good; i++)
		out[i] += out[i - 1];
	return good;
}

int
sfx_int_bytes_read(const SfxInt *b, int from, int to, uint64_t *out)
{
	uint64_t	v[CHUNK];

	while (from < to)
	{
		int			k = from / CHUNK,
					skip = from % CHUNK,
					end = (k + 1) * CHUNK < to ? CHUNK : to - k * CHUNK;

		if (!chunk_decode(b, k, end, v))
			return SFX_CORRUPT;
		memcpy(out, v + skip, 8 * (size_t) (end - skip));
		out += end - skip;
		from += end - skip;
	}
	return SFX_OK;
}

int
sfx_int_bytes_search(const SfxInt *b, uint64_t x, bool *equal)
{
	uint64_t	v[CHUNK];
	int			n = chunk_count(b->n),
				k = 0,
				m,
				j = 0;

	while (k + 1 < n && chunk_first(b, k + 1) < x)
		k++;
	m = chunk_values(b->n, k);
	if (!chunk_decode(b, k, m, v))
		return SFX_CORRUPT;
	while (j < m && v[j] < x)
		j++;
	*equal = j < m ? v[j] == x : k + 1 < n && chunk_first(b, k + 1) == x;
	return k * CHUNK + j;
}

/* ---- encoding ---- */

static inline unsigned
vbyte_len(uint64_t x)
{
	unsigned	bits = sfx_bitlen(x);

	return bits == 0 ? 1 : (bits + 6) / 7;
}

static inline unsigned
gb_len(uint64_t x)
{
	unsigned	n = sfx_bytelen(x);

	return n == 0 ? 1 : n;
}

static size_t
chunk_bytes(SfxIntCodec codec, const uint64_t *c, int m)
{
	size_t		size = codec == SFX_INT_VBYTE ? 0 : (size_t) (m - 1 + 3) / 4;

	for (int j = 1; j < m; j++)
		size += codec == SFX_INT_VBYTE ? vbyte_len(c[j] - c[j - 1]) : gb_len(c[j] - c[j - 1]);
	return size;
}

size_t
sfx_int_bytes_size(SfxIntCodec codec, const uint64_t *v, int n)
{
	int			nchunks = chunk_count(n);
	size_t		size = 4 + sfx_bytelen(v[0]) + (size_t) (nchunks - 1) * (2 + sfx_bytelen(v[(nchunks - 1) * CHUNK] - v[0]));

	for (int i = 1; i < n && codec != SFX_INT_VBYTE; i++)
		if (i % CHUNK != 0 && v[i] - v[i - 1] > UINT32_MAX)
			return SIZE_MAX;
	for (int k = 0; k < nchunks; k++)
		size += chunk_bytes(codec, v + k * CHUNK, chunk_values(n, k));
	return size;
}

/* Encode the deltas of one chunk of m values.  Returns the end. */
static uint8_t *
put_chunk(SfxIntCodec codec, const uint64_t *c, int m, uint8_t *p)
{
	uint8_t    *control = p;

	if (codec == SFX_INT_STREAMVBYTE)
	{
		memset(p, 0, (size_t) (m - 1 + 3) / 4);
		p += (m - 1 + 3) / 4;
	}
	for (int j = 1; j < m; j++)
	{
		uint64_t	d = c[j] - c[j - 1];
		unsigned	len = gb_len(d);

		if (codec == SFX_INT_VBYTE)
		{
			for (; d >= 0x80; d >>= 7)
				*p++ = (uint8_t) (d | 0x80);
			*p++ = (uint8_t) d;
			continue;
		}
		if ((j - 1) % 4 == 0 && codec == SFX_INT_VARINTGB)
		{
			control = p++;
			*control = 0;
		}
		*control |= (uint8_t) ((len - 1) << 2 * ((j - 1) % 4));
		if (j % 4 == 0 && codec == SFX_INT_STREAMVBYTE)
			control++;
		sfx_store_bytes(p, d, len);
		p += len;
	}
	return p;
}

uint8_t *
sfx_int_bytes_encode(SfxIntCodec codec, const uint64_t *v, int n, uint8_t *out)
{
	int			nchunks = chunk_count(n);
	unsigned	nb = sfx_bytelen(v[0]),
				ncheck = sfx_bytelen(v[(nchunks - 1) * CHUNK] - v[0]);
	uint8_t    *check = out + 4 + nb,
			   *streams = check + (size_t) (nchunks - 1) * (ncheck + 2),
			   *p = streams;

	out[0] = codec_byte(codec, nb);
	out[1] = (uint8_t) ncheck;
	sfx_store_bytes(out + 4, v[0], nb);
	for (int k = 0; k < nchunks; k++)
	{
		if (k > 0)
		{
			sfx_store_bytes(check, v[k * CHUNK] - v[0], ncheck);
			sfx_store_bytes(check + ncheck, (uint64_t) (p - streams), 2);
			check += ncheck + 2;
		}
		p = put_chunk(codec, v + k * CHUNK, chunk_values(n, k), p);
	}
	sfx_store_bytes(out + 2, (uint64_t) (p - streams), 2);
	return p;
}
