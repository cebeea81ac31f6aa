/*-------------------------------------------------------------------------
 * tidcodec.c - decoding blocks of TIDs (layouts: tidcodec_format.h)
 *-------------------------------------------------------------------------
 */
#include "tidcodec_format.h"
#include "cpu.h"
#include "tidruns.h"

#define FEW				4		/* so few divisions cost less than a reciprocal */

/* ---- the frame: TIDs as numbers ---- */

/* Turn numbers into TIDs, in place. */
static int
delinearise(const TidFrame *f, uint64_t *v, int n, unsigned bits)
{
	uint64_t	radix = f->radix,
				high = 0;

	if (n > FEW && bits <= 32 && radix > 1)
		high = sfx_kernels->split_radix(v, n, f->radix, f->base);
	else if (is_power_of_two(f->radix))
	{
		unsigned	shift = (unsigned) __builtin_ctz(f->radix);

		for (int i = 0; i < n; i++)
		{
			v[i] = f->base + (v[i] >> shift << 16) + (v[i] & (radix - 1));
			high |= v[i];
		}
	}
	else
		for (int i = 0; i < n; i++)
		{
			v[i] = f->base + (v[i] / radix << 16) + v[i] % radix;
			high |= v[i];
		}
	return high > SFX_MAX_TID ? SFX_CORRUPT : SFX_OK;
}

/* Parse the frame.  Returns its length, or SFX_CORRUPT.  At least one byte follows the frame. */
static int
get_frame(const uint8_t *in, size_t len, TidFrame *f)
{
	size_t		nblock = in[0] >> 3 & 7,
				noff = in[0] & 0x40 ? 0 : 2,
				nradix = in[0] & 0x80 ? 1 : 2;
	const uint8_t *p = in + 1;
	uint64_t	offset = 1;

	if (nblock > 4 || len < 1 + nblock + noff + nradix + 1)
		return SFX_CORRUPT;
	f->base = sfx_load_bytes(p, nblock) << 16;
	p += nblock;
	if (noff != 0)
		offset = sfx_load_bytes(p, noff);
	f->base |= offset;
	p += noff;
	f->radix = (uint32_t) sfx_load_bytes(p, nradix) + 1;
	return (int) (p + nradix - in);
}

/* ---- PLAIN ---- */

static int
plain_decode(const uint8_t *in, size_t len, int n, int from, int to, uint64_t *out)
{
	if (len < 1 + 6 * (size_t) n)
		return SFX_CORRUPT;
	sfx_kernels->unpack(in + 1, len - 1, 48 * (size_t) from, 48, to - from, 0, out);
	return SFX_OK;
}

/* ---- RUNS ---- */

static int
runs_size(const uint8_t *in, size_t len, int n)
{
	SfxRunReader r;

	sfx_runs_start(&r, in, len);
	for (int i = 0; i < n; i += (int) r.length)
		if (sfx_run_next(&r, (uint64_t) (n - i)) < 0)
			return SFX_CORRUPT;
	return r.repeats > 0 ? SFX_CORRUPT : (int) (r.p - in);
}

static int
runs_decode(const uint8_t *in, size_t len, int n, int from, int to, uint64_t *out)
{
	bool		reversed = (in[0] & RUNS_REVERSED) != 0;
	int			lo = reversed ? n - to : from,
				hi = reversed ? n - from : to;
	SfxRunReader r;

	sfx_runs_start(&r, in, len);
	for (int i = 0; i < hi; i += (int) r.length)
	{
		int			a,
					b;

		if (sfx_run_next(&r, (uint64_t) (n - i)) < 0)
			return SFX_CORRUPT;
		a = i < lo ? lo : i;
		b = i + (int) r.length < hi ? i + (int) r.length : hi;
		if (reversed)
			for (int k = a; k < b; k++)
				out[hi - 1 - k] = r.start + (uint64_t) (k - i);
		else
			for (int k = a; k < b; k++)
				out[k - lo] = r.start + (uint64_t) (k - i);
	}
	return SFX_OK;
}

/* ---- FOR ---- */

/* Parse the block into f, width and *stream.  Returns its size, or SFX_CORRUPT. */
static int
for_parse(const uint8_t *in, size_t len, int n, TidFrame *f, unsigned *width, const uint8_t **stream)
{
	int			pos = get_frame(in, len, f);
	size_t		size;

	if (pos < 0 || in[pos] > MAX_LIN_BITS)
		return SFX_CORRUPT;
	*width = in[pos];
	*stream = in + pos + 1;
	size = (size_t) pos + 1 + sfx_bits_bytes((size_t) n, *width);
	return size <= len ? (int) size : SFX_CORRUPT;
}

static int
for_decode(const uint8_t *in, size_t len, int n, int from, int to, uint64_t *out)
{
	TidFrame	f;
	unsigned	width;
	const uint8_t *p;

	if (for_parse(in, len, n, &f, &width, &p) < 0)
		return SFX_CORRUPT;
	sfx_kernels->unpack(p, len - (size_t) (p - in), (size_t) from * width, width, to - from, 0, out);
	return delinearise(&f, out, to - from, width);
}

/* ---- ZIGZAG ---- */

typedef struct ZigzagBlock
{
	TidFrame	frame;
	const uint8_t *widths;
	const uint8_t *checks;
	const uint8_t *p;			/* the streams */
	unsigned	ncheck;
	uint64_t	min;
} ZigzagBlock;

static int
zigzag_parse(const uint8_t *in, size_t len, int n, ZigzagBlock *z)
{
	int			pos = get_frame(in, len, &z->frame);
	size_t		nchunks = (size_t) chunk_count(n),
				nmin,
				size;

	if (pos < 0 || (in[pos] & 15) > 7 || in[pos] >> 4 > 6)
		return SFX_CORRUPT;
	nmin = in[pos] & 15;
	z->ncheck = in[pos] >> 4;
	z->widths = in + pos + 1;
	size = (size_t) pos + 1 + nchunks + nmin + nchunks * z->ncheck;
	if (size > len)
		return SFX_CORRUPT;
	z->min = unzigzag(sfx_load_bytes(z->widths + nchunks, nmin));
	z->checks = z->widths + nchunks + nmin;
	z->p = in + size;
	for (size_t k = 0; k < nchunks; k++)
	{
		if (z->widths[k] > MAX_LIN_BITS + 1)
			return SFX_CORRUPT;
		size += sfx_bits_bytes((size_t) chunk_values(n, (int) k) - 1, z->widths[k]);
	}
	return size <= len ? (int) size : SFX_CORRUPT;
}

/* Chunks before from are skipped by their widths; a checkpoint starts each of the others. */
static int
zigzag_decode(const uint8_t *in, size_t len, int n, int from, int to, uint64_t *out)
{
	uint64_t   *o = out;
	ZigzagBlock z;
	const uint8_t *p;
	int			k = 0;
	uint64_t	high = 0;

	if (zigzag_parse(in, len, n, &z) < 0)
		return SFX_CORRUPT;
	p = z.p;
	for (; (k + 1) * CHUNK <= from && k + 1 < chunk_count(n); k++)
		p += sfx_bits_bytes(CHUNK - 1, z.widths[k]);
	for (; from < to; k++)
	{
		int			skip = from % CHUNK,
					end = (k + 1) * CHUNK < to ? (k + 1) * CHUNK : to;
		unsigned	w = z.widths[k];
		size_t		avail = len - (size_t) (p - in);
		uint64_t	v = sfx_load_bytes(z.checks + (size_t) k * z.ncheck, z.ncheck);

		/* the deltas are unpacked to where their sums go */
		v += (uint64_t) skip * z.min + sfx_bits_sum(p, avail, w, skip);
		*o++ = v;
		high |= v;
		sfx_kernels->unpack(p, avail, (size_t) skip * w, w, end - from - 1, z.min, o);
		for (; ++from < end; o++)
		{
			*o = v += *o;
			high |= v;
		}
		p += sfx_bits_bytes((size_t) chunk_values(n, k) - 1, w);
	}
	if (high > SFX_MAX_TID)
		return SFX_CORRUPT;
	return delinearise(&z.frame, out, (int) (o - out), sfx_bitlen(high));
}

/* ---- POSTING ---- */

typedef struct PostingBlock
{
	TidFrame	frame;
	uint64_t	range;
	bool		whole;
	const uint8_t *p;			/* the stream */
	size_t		avail;
} PostingBlock;

/* Parse the header.  Returns the length up to the stream, or SFX_CORRUPT. */
static int
posting_parse(const uint8_t *in, size_t len, const uint16_t *ends, PostingBlock *b)
{
	int			pos = get_frame(in, len, &b->frame);
	size_t		nrange,
				size;

	if (pos < 0 || (in[pos] & 15) > 6)
		return SFX_CORRUPT;
	nrange = in[pos] & 15;
	b->whole = (in[pos] & 0x10) != 0;
	size = (size_t) pos + 1 + nrange;
	if (size > len || (!b->whole && ends == NULL))
		return SFX_CORRUPT;
	b->range = sfx_load_bytes(in + pos + 1, nrange);
	b->p = in + size;
	b->avail = len - size;
	return (int) size;
}

static int
posting_size(const uint8_t *in, size_t len, int n, const uint16_t *ends, int nlists)
{
	PostingBlock b;
	int			head = posting_parse(in, len, ends, &b);
	size_t		stream;

	if (head < 0)
		return SFX_CORRUPT;
	stream = lists_bytes(b.range, n, b.whole ? NULL : ends, nlists);
	return stream <= b.avail ? head + (int) stream : SFX_CORRUPT;
}

/* Decode numbers [from, to) of the list of n that starts at bit. */
static inline int
list_decode(const PostingBlock *b, size_t bit, int n, int from, int to, uint64_t *out)
{
	unsigned	low = list_low(b->range, n);
	size_t		nbits = list_bitmap(b->range, n, low);
	SfxEf		e = {b->p, b->avail, bit, nbits, bit + nbits, low, n};

	return to - from == 1 ? sfx_kernels->ef_get(&e, from, out) : sfx_kernels->ef_decode(&e, from, to, 0, out);
}

/* Lists before from are skipped by their sizes, which follow from their lengths. */
static int
posting_decode(const uint8_t *in, size_t len, int n, const uint16_t *ends, int from, int to, uint64_t *out)
{
	PostingBlock b;
	size_t		bit = 0;
	uint64_t	high = 0;

	if (posting_parse(in, len, ends, &b) < 0)
		return SFX_CORRUPT;
	for (int l = 0, start = 0, end; start < to; l++, start = end)
	{
		int			lo = start < from ? from : start,
					hi;
		size_t		bits;

		end = b.whole ? n : ends[l];
		hi = end < to ? end : to;
		/*
		 * each list is checked when it is reached: lists after the last one asked for do not matter
		 */
		bits = list_bits(b.range, end - start);
		if (bit + bits > 8 * b.avail ||
			(lo < hi && list_decode(&b, bit, end - start, lo - start, hi - start, out + (lo - from)) < 0))
			return SFX_CORRUPT;
		bit += bits;
	}
	for (int i = 0; i < to - from; i++)
		high |= out[i];
	if (high > SFX_MAX_TID)
		return SFX_CORRUPT;
	return delinearise(&b.frame, out, to - from, sfx_bitlen(high));
}

/* ---- decoding: the public face ---- */

int
sfx_tid_size(const uint8_t *in, size_t len, int n, const uint16_t *ends, int nlists)
{
	TidFrame	f;
	unsigned	width;
	const uint8_t *p;
	ZigzagBlock z;

	if (n < 1 || n > SFX_TID_MAXN || len < 1)
		return SFX_CORRUPT;
	switch (in[0] & 7)
	{
		case SFX_TID_PLAIN:
			return in[0] == SFX_TID_PLAIN && len >= 1 + 6 * (size_t) n ? 1 + 6 * n : SFX_CORRUPT;
		case SFX_TID_RUNS:
			return runs_size(in, len, n);
		case SFX_TID_FOR:
			return for_parse(in, len, n, &f, &width, &p);
		case SFX_TID_ZIGZAG:
			return zigzag_parse(in, len, n, &z);
		case SFX_TID_POSTING:
			if (!sound_lists(n, ends, nlists))
				return SFX_CORRUPT;
			return posting_size(in, len, n, ends, nlists);
		case SFX_TID_PATCHED:
			return sfx_tid_patched_size(in, len, n);
	}
	return SFX_CORRUPT;
}

int
sfx_tid_decode(const uint8_t *in, size_t len, int n, const uint16_t *ends, int nlists,
			   int from, int to, uint64_t *out)
{
	if (n < 1 || n > SFX_TID_MAXN || len < 1 || from < 0 || from > to || to > n)
		return SFX_CORRUPT;
	switch (in[0] & 7)
	{
		case SFX_TID_PLAIN:
			return plain_decode(in, len, n, from, to, out);
		case SFX_TID_RUNS:
			return runs_decode(in, len, n, from, to, out);
		case SFX_TID_FOR:
			return for_decode(in, len, n, from, to, out);
		case SFX_TID_ZIGZAG:
			return zigzag_decode(in, len, n, from, to, out);
		case SFX_TID_POSTING:
			if (!sound_lists(n, ends, nlists))
				return SFX_CORRUPT;
			return posting_decode(in, len, n, ends, from, to, out);
		case SFX_TID_PATCHED:
			return sfx_tid_patched_decode(in, len, n, from, to, out);
	}
	return SFX_CORRUPT;
}
