/*-------------------------------------------------------------------------
 * tidcodec_encode.c - choosing a codec for a block of TIDs, and encoding it
 *-------------------------------------------------------------------------
 */
#include "tidcodec_format.h"

static inline uint64_t
linearise(const TidFrame *f, uint64_t tid)
{
	uint64_t	blocks = SFX_TID_BLOCK(tid) - SFX_TID_BLOCK(f->base);

	return blocks * f->radix + (SFX_TID_OFFSET(tid) - SFX_TID_OFFSET(f->base));
}

static size_t
frame_size(const TidFrame *f)
{
	return 1 + sfx_bytelen(SFX_TID_BLOCK(f->base)) + (SFX_TID_OFFSET(f->base) == 1 ? 0 : 2) +
		(f->radix > 256 ? 2 : 1);
}

static uint8_t *
put_frame(const TidFrame *f, SfxTidCodec codec, uint8_t *out)
{
	unsigned	nblock = sfx_bytelen(SFX_TID_BLOCK(f->base)),
				nradix = f->radix > 256 ? 2 : 1;
	uint8_t    *p = out;

	*p++ = (uint8_t) ((unsigned) codec | nblock << 3 |
					  (SFX_TID_OFFSET(f->base) == 1 ? 0x40 : 0) | (nradix == 1 ? 0x80 : 0));
	sfx_store_bytes(p, SFX_TID_BLOCK(f->base), nblock);
	p += nblock;
	if (SFX_TID_OFFSET(f->base) != 1)
	{
		sfx_store_bytes(p, SFX_TID_OFFSET(f->base), 2);
		p += 2;
	}
	sfx_store_bytes(p, f->radix - 1, nradix);
	return p + nradix;
}

static int
plain_encode(const uint64_t *tid, int n, uint8_t *out)
{
	out[0] = SFX_TID_PLAIN;
	for (int i = 0; i < n; i++)
		sfx_store_bytes(out + 1 + 6 * i, tid[i], 6);
	return 1 + 6 * n;
}

/* ---- RUNS ---- */

typedef struct RunWriter
{
	uint8_t    *p;
	size_t		size;
	size_t		limit;			/* nothing is written beyond that */
} RunWriter;

static inline void
run_byte(RunWriter *w, unsigned byte)
{
	if (w->size < w->limit)
		w->p[w->size] = (uint8_t) byte;
	w->size++;
}

static void
run_varint(RunWriter *w, uint64_t x)
{
	for (; x >= 0x80; x >>= 7)
		run_byte(w, (unsigned) (x & 0x7F) | 0x80);
	run_byte(w, (unsigned) x);
}

/* A length field, which is 0 if the length does not fit. */
static inline unsigned
short_field(uint64_t x, unsigned bits)
{
	return x < UINT64_C(1) << bits ? (unsigned) x : 0;
}

static void
put_run(RunWriter *w, uint64_t last, uint64_t start, uint64_t length)
{
	if (w->size > 1 && start == (((last >> 16) + 1) << 16 | 1))
	{
		run_byte(w, RUN_NEXT | short_field(length, 6) << 2);
		if (length >= 64)
			run_varint(w, length);
	}
	else if (w->size > 1 && start >> 16 == last >> 16 && start > last + 1)
	{
		uint64_t	gap = start - last - 1;

		run_byte(w, RUN_GAP | short_field(gap, 2) << 2 | short_field(length, 4) << 4);
		if (gap >= 4)
			run_varint(w, gap);
		if (length >= 16)
			run_varint(w, length);
	}
	else
	{
		run_byte(w, RUN_JUMP | short_field(length, 6) << 2);
		if (length >= 64)
			run_varint(w, length);
		run_varint(w, zigzag((int64_t) (start >> 16) - (int64_t) (last >> 16)));
		run_varint(w, start & 0xFFFF);
	}
}

/*
 * Where the runs of a block, or of the reversed block, begin, in the order in which they are
 * written.
 */
typedef struct TidRuns
{
	int			n;
	bool		reversed;
	uint16_t	at[SFX_TID_MAXN + 1];	/* at[n]: TIDs in the block */
} TidRuns;

static void
find_runs(const uint64_t *tid, int n, bool reversed, TidRuns *r)
{
	const uint64_t *t = reversed ? tid + n - 1 : tid;
	ptrdiff_t	next = reversed ? -1 : 1;

	r->reversed = reversed;
	r->at[0] = 0;
	r->n = 1;
	for (int i = 1; i < n; i++, t += next)
	{
		r->at[r->n] = (uint16_t) i;
		r->n += t[next] != t[0] + 1;
	}
	r->at[r->n] = (uint16_t) n;
}

/* Write the runs.  Returns the block's size, or a size greater than limit. */
static size_t
runs_encode(const uint64_t *tid, const TidRuns *r, uint8_t *out, size_t limit)
{
	RunWriter	w = {out, 0, limit};
	const uint64_t *first = r->reversed ? tid + r->at[r->n] - 1 : tid;
	uint64_t	last = 0,
				previous = 0;	/* length of the previous run */
	int			repeats = 0;

	run_byte(&w, SFX_TID_RUNS | (r->reversed ? RUNS_REVERSED : 0));
	for (int i = 0; i < r->n && w.size <= limit; i++)
	{
		uint64_t	start = r->reversed ? first[-r->at[i]] : first[r->at[i]];
		uint64_t	length = (uint64_t) (r->at[i + 1] - r->at[i]);

		if (length == previous && start == (((last >> 16) + 1) << 16 | 1) && repeats < 64)
			repeats++;
		else
		{
			if (repeats > 0)
				run_byte(&w, RUN_AGAIN | (unsigned) (repeats - 1) << 2);
			repeats = 0;
			put_run(&w, last, start, length);
		}
		previous = length;
		last = start + length - 1;
	}
	if (repeats > 0)
		run_byte(&w, RUN_AGAIN | (unsigned) (repeats - 1) << 2);
	return w.size;
}

/* ---- FOR ---- */

static int
for_encode(const uint64_t *tid, int n, const TidFrame *f, unsigned width, uint8_t *out)
{
	uint8_t    *p = put_frame(f, SFX_TID_FOR, out);
	SfxBitWriter b;

	*p++ = (uint8_t) width;
	sfx_bits_start(&b, p);
	for (int i = 0; i < n; i++)
		sfx_bits_put(&b, linearise(f, tid[i]), width);
	return (int) (sfx_bits_end(&b) - out);
}

/* ---- ZIGZAG ---- */

typedef struct Deltas
{
	int64_t		min;
	int64_t		max[MAX_CHUNKS];
} Deltas;

static void
find_deltas(const uint64_t *lin, int n, Deltas *d)
{
	int64_t		min = INT64_MAX;

	for (int k = 0; k < chunk_count(n); k++)
	{
		const uint64_t *c = lin + k * CHUNK;
		int64_t		max = INT64_MIN;

		for (int j = 1; j < chunk_values(n, k); j++)
		{
			int64_t		x = (int64_t) (c[j] - c[j - 1]);

			max = x > max ? x : max;
			min = x < min ? x : min;
		}
		d->max[k] = max;
	}
	d->min = n > 1 ? min : 0;
	if (n % CHUNK == 1)
		d->max[n / CHUNK] = d->min;
}

/*
 * The same for a block of few runs.  Within a run each delta is 1, or -1; deltas between runs are
 * looked at one by one.
 */
static void
find_deltas_of_runs(const uint64_t *tid, int n, const TidFrame *f, const TidRuns *r, Deltas *d)
{
	int64_t		same = r->reversed ? -1 : 1;
	int			seen[MAX_CHUNKS] = {0};

	d->min = INT64_MAX;
	for (int k = 0; k < chunk_count(n); k++)
		d->max[k] = INT64_MIN;
	for (int i = 1; i < r->n; i++)
	{
		int			at = r->reversed ? n - r->at[i] : r->at[i];
		int64_t		x;

		if (at % CHUNK == 0)
			continue;
		x = (int64_t) (linearise(f, tid[at]) - linearise(f, tid[at - 1]));
		d->max[at / CHUNK] = x > d->max[at / CHUNK] ? x : d->max[at / CHUNK];
		d->min = x < d->min ? x : d->min;
		seen[at / CHUNK]++;
	}
	for (int k = 0; k < chunk_count(n); k++)
		if (seen[k] < chunk_values(n, k) - 1)
		{
			d->max[k] = same > d->max[k] ? same : d->max[k];
			d->min = same < d->min ? same : d->min;
		}
	d->min = n > 1 ? d->min : 0;
	if (n % CHUNK == 1)
		d->max[n / CHUNK] = d->min;
}

static inline unsigned
delta_width(const Deltas *d, int k)
{
	return sfx_bitlen((uint64_t) (d->max[k] - d->min));
}

static size_t
zigzag_size(const TidFrame *f, const Deltas *d, uint64_t range, int n)
{
	size_t		size = frame_size(f) + 1 + sfx_bytelen(zigzag(d->min)) +
		(1 + sfx_bytelen(range)) * (size_t) chunk_count(n);

	for (int k = 0; k < chunk_count(n); k++)
		size += sfx_bits_bytes((size_t) chunk_values(n, k) - 1, delta_width(d, k));
	return size;
}

static int
zigzag_encode(const uint64_t *lin, int n, const TidFrame *f, const Deltas *d, uint64_t range, uint8_t *out)
{
	uint8_t    *p = put_frame(f, SFX_TID_ZIGZAG, out),
			   *widths;
	unsigned	nmin = sfx_bytelen(zigzag(d->min)),
				ncheck = sfx_bytelen(range);

	*p++ = (uint8_t) (nmin | ncheck << 4);
	widths = p;
	p += chunk_count(n);
	sfx_store_bytes(p, zigzag(d->min), nmin);
	p += nmin;
	for (int k = 0; k < chunk_count(n); k++, p += ncheck)
		sfx_store_bytes(p, lin[k * CHUNK], ncheck);
	for (int k = 0; k < chunk_count(n); k++)
	{
		const uint64_t *c = lin + k * CHUNK;
		SfxBitWriter b;

		widths[k] = (uint8_t) delta_width(d, k);
		sfx_bits_start(&b, p);
		for (int j = 1; j < chunk_values(n, k) && widths[k] > 0; j++)
			sfx_bits_put(&b, c[j] - c[j - 1] - (uint64_t) d->min, widths[k]);
		p = sfx_bits_end(&b);
	}
	return (int) (p - out);
}

/* ---- POSTING ---- */

/* Append a list's bitmap and low bits. */
static void
list_encode(SfxBitWriter *b, const uint64_t *lin, int n, uint64_t range)
{
	unsigned	low = list_low(range, n);
	uint64_t	mask = sfx_mask(low),
				x = 0;			/* the bitmap's bits from done on */
	size_t		done = 0,
				bitmap = list_bitmap(range, n, low);

	for (int i = 0; i < n; i++)
	{
		size_t		pos = (size_t) (lin[i] >> low) + (size_t) i;

		for (; pos - done >= 64; done += 64, x = 0)
			sfx_bits_put(b, x, 64);
		x |= UINT64_C(1) << (pos - done);
	}
	for (; bitmap - done >= 64; done += 64, x = 0)
		sfx_bits_put(b, x, 64);
	sfx_bits_put(b, x, (unsigned) (bitmap - done));
	for (int i = 0; i < n; i++)
		sfx_bits_put(b, lin[i] & mask, low);
}

/* ends = NULL: the whole block is one list. */
static int
posting_encode(const uint64_t *lin, int n, const TidFrame *f, uint64_t range,
			   const uint16_t *ends, int nlists, uint8_t *out)
{
	uint8_t    *p = put_frame(f, SFX_TID_POSTING, out);
	unsigned	nrange = sfx_bytelen(range);
	SfxBitWriter b;

	*p++ = (uint8_t) (nrange | (ends == NULL ? 0x10 : 0));
	sfx_store_bytes(p, range, nrange);
	sfx_bits_start(&b, p + nrange);
	if (ends == NULL)
		list_encode(&b, lin, n, range);
	else
		for (int l = 0, start = 0; l < nlists; start = ends[l++])
			list_encode(&b, lin + start, ends[l] - start, range);
	return (int) (sfx_bits_end(&b) - out);
}

/* ---- choosing ---- */

/* Results of one pass over the TIDs. */
typedef struct TidStats
{
	uint64_t	max;
	TidFrame	frame;
	uint32_t	blocks;			/* the greatest block - the least one */
	uint64_t	range;			/* bound of lin */
	int			descents;		/* TIDs smaller than the one before */
	size_t		runs_bound;		/* lower bound of the size of RUNS */
	bool		near;			/* PATCHED would find no exception */
} TidStats;

/*
 * A JUMP run takes three bytes, four if it is RUN_FAR.  A TID that does not follow the previous one
 * (read backward: is not followed by it) by 1..RUN_NEAR must be one.
 */
#define RUN_NEAR	UINT64_C(0x10000)
#define RUN_FAR		(UINT64_C(65) << 16)

static void
set_frame(TidStats *s, uint64_t min, uint64_t max, uint32_t minoff, uint32_t maxoff)
{
	s->max = max;
	s->frame.base = min >> 16 << 16 | minoff;
	s->frame.radix = maxoff - minoff + 1;
	s->blocks = (uint32_t) (max >> 16) - (uint32_t) (min >> 16);
	s->range = (uint64_t) s->blocks * s->frame.radix + s->frame.radix - 1;
}

/* Collect the statistics in one pass.  reversed: runs_bound is for the reversed block. */
static inline void
tid_stats(const uint64_t *tid, int n, bool reversed, TidStats *s)
{
	uint64_t	min = tid[0],
				max = tid[0];
	uint32_t	minoff = SFX_TID_OFFSET(tid[0]),
				maxoff = minoff;
	unsigned	descents = 0,
				jumps = 0,
				far = 0;

	for (int i = 1; i < n; i++)
	{
		uint64_t	t = tid[i],
					step = t - tid[i - 1];
		uint32_t	off = SFX_TID_OFFSET(t);

		min = t < min ? t : min;
		max = t > max ? t : max;
		minoff = off < minoff ? off : minoff;
		maxoff = off > maxoff ? off : maxoff;
		descents += (unsigned) (step >> 63);
		jumps += (reversed ? -step : step) - 1 >= RUN_NEAR;
		far += step + RUN_FAR >= 2 * RUN_FAR;
	}
	s->near = false;
	s->descents = (int) descents;
	s->runs_bound = 4 + 3 * (size_t) jumps + far;
	set_frame(s, min, max, minoff, maxoff);
}

/*
 * The same from the runs, of which there are few; except for runs_bound, which is not needed if the
 * runs are known.
 */
static void
tid_stats_of_runs(const uint64_t *tid, int n, const TidRuns *r, TidStats *s)
{
	uint64_t	min = UINT64_MAX,
				max = 0,
				last = 0;
	uint32_t	minoff = UINT32_MAX,
				maxoff = 0;

	s->near = true;
	s->descents = 0;
	for (int i = 0; i < r->n; i++)
	{
		/* as in the reversed block, if these are its runs */
		uint64_t	start = r->reversed ? tid[n - 1 - r->at[i]] : tid[r->at[i]],
					end = start + (uint64_t) (r->at[i + 1] - r->at[i]) - 1;
		bool		one_block = start >> 16 == end >> 16;
		uint32_t	low = one_block ? SFX_TID_OFFSET(start) : 0,
					high = one_block ? SFX_TID_OFFSET(end) : 0xFFFF;

		min = start < min ? start : min;
		max = end > max ? end : max;
		minoff = low < minoff ? low : minoff;
		maxoff = high > maxoff ? high : maxoff;
		s->near &= one_block && (i == 0 || sfx_tid_near(last, start));
		/* (equal TIDs are neither a descent nor a rise) */
		s->descents += i > 0 && (r->reversed ? start > last : start < last);
		last = end;
	}
	s->descents += r->reversed ? n - r->n : 0;
	s->runs_bound = SIZE_MAX;
	set_frame(s, min, max, minoff, maxoff);
}

/*
 * Compute FOR's frame: the radix is rounded up to a power of two, which needs no division to
 * decode, if that costs no bit.
 */
static size_t
for_size(const TidStats *s, int n, TidFrame *f, unsigned *width)
{
	uint32_t	round = UINT32_C(1) << sfx_bitlen(s->frame.radix - 1);

	*f = s->frame;
	*width = sfx_bitlen(s->range);
	if (sfx_bitlen((uint64_t) s->blocks * round + round - 1) <= *width)
		f->radix = round;
	return frame_size(f) + 1 + sfx_bits_bytes((size_t) n, *width);
}

/*
 * A lower bound of ZIGZAG's size: some deltas of each chunk show how wide the others are at least.
 */
static size_t
zigzag_bound(const TidStats *s, const uint64_t *tid, int n)
{
	int64_t		max[MAX_CHUNKS],
				min = INT64_MAX;
	size_t		bound = frame_size(&s->frame) + 1 + (1 + sfx_bytelen(s->range)) * (size_t) chunk_count(n);

	for (int k = 0; k < chunk_count(n); k++)
	{
		const uint64_t *c = tid + k * CHUNK;

		max[k] = INT64_MIN;
		for (int j = 1; j < chunk_values(n, k); j += 8)
		{
			int64_t		x = (int64_t) (linearise(&s->frame, c[j]) - linearise(&s->frame, c[j - 1]));

			max[k] = x > max[k] ? x : max[k];
			min = x < min ? x : min;
		}
	}
	for (int k = 0; k < chunk_count(n); k++)
		if (max[k] >= min)
			bound += sfx_bits_bytes((size_t) chunk_values(n, k) - 1, sfx_bitlen((uint64_t) (max[k] - min)));
	return bound;
}

/*
 * Compute POSTING's size: with *whole, as one list; SIZE_MAX if neither that nor the given lists
 * are sorted.
 */
static size_t
posting_size(const TidStats *s, const uint64_t *tid, int n, const uint16_t *ends, int nlists, bool *whole)
{
	size_t		size;
	int			descents = s->descents;

	*whole = descents == 0;
	if (*whole)
		size = lists_bytes(s->range, n, NULL, 0);
	else
	{
		if (ends == NULL || nlists > n / 2)
			return SIZE_MAX;
		/* are all descents between lists? */
		for (int l = 0; l + 1 < nlists; l++)
			descents -= tid[ends[l]] < tid[ends[l] - 1];
		if (descents != 0)
			return SIZE_MAX;
		size = lists_bytes(s->range, n, ends, nlists);
	}
	return size + frame_size(&s->frame) + 1 + sfx_bytelen(s->range);
}

/*
 * Find the runs, if the block may be runs of four or more, forward or reversed.  False: it is not,
 * as its first TIDs tell; otherwise the caller may rely on all TIDs being at most SFX_MAX_TID.
 */
static bool
few_runs(const uint64_t *tid, int n, TidRuns *r)
{
	uint16_t	down[SFX_TID_MAXN + 1];
	uint64_t	all = tid[0];
	int			nup = 1,
				ndown = 1,
				i = 1;

	r->at[0] = 0;
	r->reversed = false;
	while (i < n)
	{
		int			end = i + CHUNK < n ? i + CHUNK : n;

		for (; i < end; i++)
		{
			uint64_t	step = tid[i] - tid[i - 1];

			all |= tid[i];
			r->at[nup] = (uint16_t) i;
			nup += step != 1;
			down[ndown] = (uint16_t) (n - i);
			ndown += step != UINT64_MAX;
		}
		r->reversed = ndown < nup;
		if ((r->reversed ? ndown : nup) - 1 > n / 4)
			return false;
	}
	r->n = nup;
	if (n > 1 && r->reversed)
	{
		r->n = ndown;
		for (int k = 1; k < ndown; k++)
			r->at[k] = down[ndown - k];
	}
	r->at[r->n] = (uint16_t) n;
	return all <= SFX_MAX_TID;
}

/*
 * The codec with the smallest form, RUNS aside; SIZE_MAX if there is none.  Sizes are computed, so
 * only the chosen one is encoded.
 */
typedef struct TidChoice
{
	SfxTidCodec codec;
	size_t		size;
	TidFrame	forframe;
	unsigned	width;			/* FOR */
	bool		whole;			/* POSTING */
	bool		have_lin;
	Deltas		deltas;			/* ZIGZAG */
} TidChoice;

static void
fill_lin(TidChoice *c, const TidStats *s, const uint64_t *tid, int n, uint64_t *lin)
{
	for (int i = 0; i < n && !c->have_lin; i++)
		lin[i] = linearise(&s->frame, tid[i]);
	c->have_lin = true;
}

static void
consider(TidChoice *c, int which, SfxTidCodec codec, size_t size)
{
	if ((which == 0 || which == (int) codec) && size < c->size)
	{
		c->size = size;
		c->codec = codec;
	}
}

/* runs: of a block that has few of them; else NULL. */
static void
choose(TidChoice *c, int which, const TidStats *s, const uint64_t *tid, int n,
	   const TidRuns *runs, const uint16_t *ends, int nlists, uint64_t *lin)
{
	c->codec = SFX_TID_PLAIN;
	c->size = SIZE_MAX;
	c->have_lin = false;
	consider(c, which, SFX_TID_PLAIN, 1 + 6 * (size_t) n);
	consider(c, which, SFX_TID_FOR, for_size(s, n, &c->forframe, &c->width));
	consider(c, which, SFX_TID_POSTING, posting_size(s, tid, n, ends, nlists, &c->whole));
	if (runs)
		find_deltas_of_runs(tid, n, &s->frame, runs, &c->deltas);
	else if (which == SFX_TID_ZIGZAG || (which == 0 && zigzag_bound(s, tid, n) < c->size))
	{
		fill_lin(c, s, tid, n, lin);
		find_deltas(lin, n, &c->deltas);
	}
	else
		return;
	consider(c, which, SFX_TID_ZIGZAG, zigzag_size(&s->frame, &c->deltas, s->range, n));
}

/* Write the block in the chosen form, which fits. */
static int
encode_choice(TidChoice *c, const TidStats *s, const uint64_t *tid, int n, const uint16_t *ends,
			  int nlists, uint64_t *lin, uint8_t *out)
{
	switch (c->codec)
	{
		case SFX_TID_PLAIN:
			return plain_encode(tid, n, out);
		case SFX_TID_FOR:
			return for_encode(tid, n, &c->forframe, c->width, out);
		case SFX_TID_ZIGZAG:
			fill_lin(c, s, tid, n, lin);
			return zigzag_encode(lin, n, &s->frame, &c->deltas, s->range, out);
		case SFX_TID_POSTING:
			fill_lin(c, s, tid, n, lin);
			return posting_encode(lin, n, &s->frame, s->range, c->whole ? NULL : ends, nlists, out);
		case SFX_TID_RUNS:
		case SFX_TID_PATCHED:
		case SFX_TID_CODECS:
			break;
	}
	return SFX_NOSPACE;
}

/*
 * Encode with any codec (which = 0), or with that one.  RUNS is written at once if there are few
 * breaks, and kept without a look at the others if it takes at most a bit per TID; or last, if it
 * may be the smallest.  *near: PATCHED would find no exceptions, as far as is known.
 */
static int
encode(int which, const uint64_t *tid, int n, const uint16_t *ends, int nlists, uint8_t *out,
	   size_t cap, bool *near)
{
	uint64_t	lin[SFX_TID_MAXN];
	TidStats	s;
	TidChoice	c;
	TidRuns		r;
	size_t		runs = SIZE_MAX;

	*near = false;
	if (n < 1 || n > SFX_TID_MAXN || !sound_lists(n, ends, nlists))
		return SFX_NOSPACE;
	if (few_runs(tid, n, &r) && which == 0)
	{
		runs = runs_encode(tid, &r, out, cap);
		if (runs <= (size_t) n / 8)
			return runs <= cap ? (int) runs : SFX_NOSPACE;
		tid_stats_of_runs(tid, n, &r, &s);
		choose(&c, which, &s, tid, n, &r, ends, nlists, lin);
	}
	else
	{
		if (r.reversed)
			tid_stats(tid, n, true, &s);
		else
			tid_stats(tid, n, false, &s);
		if (s.max > SFX_MAX_TID)
			return SFX_NOSPACE;
		if (which != SFX_TID_RUNS)
			choose(&c, which, &s, tid, n, NULL, ends, nlists, lin);
		if (which == SFX_TID_RUNS || (which == 0 && s.runs_bound < c.size))
		{
			size_t		limit = which == 0 && c.size < cap ? c.size : cap;

			find_runs(tid, n, r.reversed, &r);
			runs = runs_encode(tid, &r, out, limit);
			if (which == SFX_TID_RUNS)
				return runs <= cap ? (int) runs : SFX_NOSPACE;
			if (runs > c.size)
				runs = SIZE_MAX;	/* cut off */
		}
	}
	*near = s.near;
	if (runs < c.size)
		return runs <= cap ? (int) runs : SFX_NOSPACE;
	return c.size > cap ? SFX_NOSPACE : encode_choice(&c, &s, tid, n, ends, nlists, lin, out);
}

int
sfx_tid_encode_simple(const uint64_t *tid, int n, uint8_t *out, size_t cap)
{
	bool		near;

	return encode(0, tid, n, NULL, 0, out, cap, &near);
}

/* Patched blocks are slower to read: they have to be smaller by more than an eighth. */
int
sfx_tid_encode(const uint64_t *tid, int n, const uint16_t *ends, int nlists, uint8_t *out, size_t cap)
{
	uint8_t		other[SFX_TID_BOUND(SFX_TID_MAXN)];
	bool		near;
	int			size = encode(0, tid, n, ends, nlists, out, cap, &near),
				r;

	if (near || size < n / 8 || size < 24)
		return size;
	r = sfx_tid_patched_encode(tid, n, other, (size_t) (size - size / 8));
	if (r < 0)
		return size;
	memcpy(out, other, (size_t) r);
	return r;
}

int
sfx_tid_encode_as(SfxTidCodec codec, const uint64_t *tid, int n, const uint16_t *ends, int nlists,
				  uint8_t *out, size_t cap)
{
	bool		near;

	if (codec == SFX_TID_PATCHED)
	{
		if (n < 1 || n > SFX_TID_MAXN || !sound_lists(n, ends, nlists))
			return SFX_NOSPACE;
		return sfx_tid_patched_encode(tid, n, out, cap);
	}
	return encode((int) codec, tid, n, ends, nlists, out, cap, &near);
}
