/*-------------------------------------------------------------------------
 * intcodec_encode.c - choosing a codec for a block of integers, and encoding it
 *-------------------------------------------------------------------------
 */
#include "intcodec_bytes.h"

/* All that the choice of a codec needs to know of a block, gathered in one pass. */
typedef struct IntStats
{
	bool		sorted;			/* only if so the rest is set, except for min and max */
	uint64_t	min;
	uint64_t	max;
	uint64_t	mindelta;		/* within chunks */
	uint64_t	maxdelta[MAX_CHUNKS];
	uint64_t	step;			/* the line from the first value to the last */
	unsigned	frac;
} IntStats;

static void
int_minmax(const uint64_t *v, int n, IntStats *s)
{
	s->sorted = false;
	s->min = s->max = v[0];
	for (int i = 1; i < n; i++)
	{
		s->min = v[i] < s->min ? v[i] : s->min;
		s->max = v[i] > s->max ? v[i] : s->max;
	}
}

/*
 * Collect the statistics in one pass, which ends with the first chunk in which a value is less than
 * the previous one.
 */
static void
int_stats(const uint64_t *v, int n, IntStats *s)
{
	uint64_t	prev = v[0],
				mind = UINT64_MAX;
	bool		descends = false;

	for (int k = 0; k < chunk_count(n) && !descends; k++)
	{
		const uint64_t *c = v + k * CHUNK;
		int			m = chunk_values(n, k);
		uint64_t	maxd = 0;

		descends = c[0] < prev;
		for (int j = 1; j < m; j++)
		{
			uint64_t	d = c[j] - c[j - 1];

			descends |= c[j] < c[j - 1];
			maxd = d > maxd ? d : maxd;
			mind = d < mind ? d : mind;
		}
		s->maxdelta[k] = maxd;
		prev = c[m - 1];
	}
	if (descends)
	{
		int_minmax(v, n, s);
		return;
	}
	s->sorted = true;
	s->min = v[0];
	s->max = v[n - 1];
	s->mindelta = n > 1 ? mind : 0;
	/* a chunk of one value has no delta, so none may be below the least one */
	if (n % CHUNK == 1)
		s->maxdelta[n / CHUNK] = s->mindelta;
}

static inline size_t
plain_size(const IntStats *s, int n)
{
	return 2 + sfx_bytelen(s->min) + (size_t) n * sfx_bytelen(s->max - s->min);
}

static inline size_t
for_size(const IntStats *s, int n)
{
	return 2 + sfx_bytelen(s->min) + sfx_bits_bytes((size_t) n, sfx_bitlen(s->max - s->min));
}

/*
 * Find the low bits with which Elias-Fano is smallest, log2(range / n) or a neighbour, and the
 * bitmap's bits.  Returns the size of the block.
 */
static size_t
ef_size(const IntStats *s, int n, unsigned *low, size_t *bitmap)
{
	uint64_t	range = s->max - s->min;
	unsigned	l = sfx_bitlen(range / (uint64_t) n);
	size_t		best = SIZE_MAX;

	for (unsigned c = l > 1 ? l - 2 : 0; c <= l && c < 64; c++)
	{
		size_t		bits = (size_t) n + (size_t) (range >> c),
					size = (bits + 7) / 8 + sfx_bits_bytes((size_t) n, c);

		if ((bits + 7) / 8 <= MAX_EF_BITMAP && size < best)
		{
			best = size;
			*low = c;
			*bitmap = bits;
		}
	}
	return best + 3 + sfx_bytelen(s->min);
}

static size_t
dbp_size(const IntStats *s, const uint64_t *v, int n)
{
	int			nchunks = chunk_count(n);
	size_t		size = 2 + (size_t) nchunks + sfx_bytelen(s->min) + sfx_bytelen(s->mindelta) +
		(size_t) (nchunks - 1) * sfx_bytelen(v[(nchunks - 1) * CHUNK] - v[0]);

	for (int k = 0; k < nchunks; k++)
		size += sfx_bits_bytes((size_t) chunk_values(n, k) - 1, sfx_bitlen(s->maxdelta[k] - s->mindelta));
	return size;
}

/* ---- exceptions ---- */

/* The exceptions among the deltas of a block: those wider than their chunk's width. */
typedef struct PatchPlan
{
	uint8_t		width[MAX_CHUNKS];
	int			npatches;
	unsigned	highbytes;
} PatchPlan;

/*
 * Returns the width with which m deltas, of which count[w] have w bits, and their exceptions (of
 * cost bytes each) take least; *bits: how many bits these are.
 */
static unsigned
plan_width(const uint8_t count[65], int m, unsigned cost, size_t *bits)
{
	unsigned	best = 64;
	int			wider = 0;

	*bits = SIZE_MAX;
	for (unsigned w = 64;; wider += count[w--])
	{
		size_t		size = (size_t) m * w + 8 * (size_t) wider * cost;

		if (size <= *bits)
		{
			*bits = size;
			best = w;
		}
		if (w == 0 || wider == m)
			return best;
	}
}

static inline uint64_t
max_excess(const IntStats *s, int n)
{
	uint64_t	max = s->mindelta;

	for (int k = 0; k < chunk_count(n); k++)
		max = s->maxdelta[k] > max ? s->maxdelta[k] : max;
	return max - s->mindelta;
}

static inline size_t
pdbp_header(const IntStats *s, const uint64_t *v, int n)
{
	size_t		nchunks = (size_t) chunk_count(n);

	return 4 + nchunks + sfx_bytelen(s->min) + sfx_bytelen(s->mindelta) +
		(nchunks - 1) * sfx_bytelen(v[(nchunks - 1) * CHUNK] - v[0]);
}

/* Estimate the size of PDBP from every eighth delta: most blocks need no closer look. */
static size_t
pdbp_guess(const IntStats *s, const uint64_t *v, int n)
{
	uint8_t		count[65] = {0};
	int			m = 0;
	size_t		bits;

	for (int i = 5; i < n; i += 8, m++)
		count[sfx_bitlen(v[i] - v[i - 1] - s->mindelta)]++;
	if (m == 0)
		return SIZE_MAX;
	plan_width(count, m, 1 + sfx_bytelen(max_excess(s, n)), &bits);
	return bits * (size_t) n / (size_t) m / 8 + pdbp_header(s, v, n);
}

/*
 * Choose the width of each chunk and so the exceptions.  Returns PDBP's size; SIZE_MAX: there are
 * more exceptions than can be counted.
 */
static size_t
pdbp_size(const IntStats *s, const uint64_t *v, int n, PatchPlan *plan)
{
	int			nchunks = chunk_count(n);
	size_t		size = pdbp_header(s, v, n);
	unsigned	cost = 1 + sfx_bytelen(max_excess(s, n));
	uint64_t	high = 0;

	plan->npatches = 0;
	for (int k = 0; k < nchunks; k++)
	{
		const uint64_t *c = v + k * CHUNK;
		int			m = chunk_values(n, k);
		uint8_t		count[65] = {0};
		size_t		bits;
		unsigned	w;

		for (int j = 1; j < m; j++)
			count[sfx_bitlen(c[j] - c[j - 1] - s->mindelta)]++;
		w = plan_width(count, m - 1, cost, &bits);
		for (int j = 1; j < m && w < 64; j++)
		{
			uint64_t	h = (c[j] - c[j - 1] - s->mindelta) >> w;

			plan->npatches += h != 0;
			high |= h;
		}
		plan->width[k] = (uint8_t) w;
		size += sfx_bits_bytes((size_t) m - 1, w);
	}
	plan->highbytes = high ? sfx_bytelen(high) : 1;
	return plan->npatches > 255 ? SIZE_MAX : size + (size_t) plan->npatches * (1 + plan->highbytes);
}

/*
 * Find the base and width of the residuals from the line through the first and the last value.
 * Returns the size.  With stride > 1 only some values are looked at, and the size is a lower bound:
 * enough to refuse most blocks that are no line.  Needs a range below 2^62, so that residuals are
 * signed numbers.
 */
static size_t
lfor_size(const IntStats *s, const uint64_t *v, int n, int stride, uint64_t *base, unsigned *width)
{
	int64_t		lo = 0,
				hi = 0;

	for (int i = stride; i < n; i += stride)
	{
		int64_t		r = (int64_t) (v[i] - v[0] - line(s->step, s->frac, i));

		lo = r < lo ? r : lo;
		hi = r > hi ? r : hi;
	}
	*base = v[0] + (uint64_t) lo;
	*width = sfx_bitlen((uint64_t) (hi - lo));
	return 3 + (stride == 1 ? sfx_bytelen(*base) : 0) + sfx_bytelen(s->step) + (s->frac != 0) +
		sfx_bits_bytes((size_t) n, *width);
}

/* Can LFOR encode the block?  If so, compute the line. */
static bool
lfor_applies(IntStats *s, int n)
{
	uint64_t	range = s->max - s->min,
				steps = (uint64_t) n - 1;

	if (!s->sorted || n < 2 || range >> 62 != 0)
		return false;
	s->step = range / steps;
	s->frac = (unsigned) ((range % steps << 8) / steps);
	return true;
}

static uint8_t *
put_base(uint8_t *out, SfxIntCodec codec, int nfixed, uint64_t base)
{
	unsigned	nb = sfx_bytelen(base);

	out[0] = codec_byte(codec, nb);
	sfx_store_bytes(out + nfixed, base, nb);
	return out + nfixed + nb;
}

static uint8_t *
encode_packed(const uint64_t *v, int n, SfxIntCodec codec, const IntStats *s, uint8_t *out)
{
	unsigned	width = sfx_bitlen(s->max - s->min);
	uint8_t    *p = put_base(out, codec, 2, s->min);

	out[1] = (uint8_t) width;
	if (codec == SFX_INT_PLAIN)
	{
		out[1] = (uint8_t) sfx_bytelen(s->max - s->min);
		width = 8u * out[1];
	}
	return sfx_bits_pack(p, v, n, s->min, width);
}

static uint8_t *
encode_lfor(const uint64_t *v, int n, const IntStats *s, uint64_t base, unsigned width, uint8_t *out)
{
	unsigned	nstep = sfx_bytelen(s->step);
	uint8_t    *p = put_base(out, SFX_INT_LFOR, 3, base);
	SfxBitWriter b;

	out[1] = (uint8_t) (width | (s->frac != 0 ? 0x80 : 0));
	out[2] = (uint8_t) nstep;
	sfx_store_bytes(p, s->step, nstep);
	p += nstep;
	if (s->frac != 0)
		*p++ = (uint8_t) s->frac;
	sfx_bits_start(&b, p);
	for (int i = 0; i < n && width > 0; i++)
		sfx_bits_put(&b, v[i] - base - line(s->step, s->frac, i), width);
	return sfx_bits_end(&b);
}

static uint8_t *
encode_ef(const uint64_t *v, int n, unsigned low, size_t bitmap, uint8_t *out)
{
	uint8_t    *p = put_base(out, SFX_INT_EF, 3, v[0]);
	uint64_t	mask = sfx_mask(low);
	uint8_t    *map = p;
	size_t		word = 0;
	uint64_t	x = 0;
	SfxBitWriter b;

	out[1] = (uint8_t) low;
	out[2] = (uint8_t) ((bitmap + 7) / 8);
	sfx_bits_start(&b, map + out[2]);
	for (int i = 0; i < n; i++)
	{
		size_t		pos = (size_t) ((v[i] - v[0]) >> low) + (size_t) i;

		for (; word < pos / 64; word++, x = 0)
			sfx_store64(map + 8 * word, x);
		x |= UINT64_C(1) << pos % 64;
		sfx_bits_put(&b, (v[i] - v[0]) & mask, low);
	}
	sfx_store_bytes(map + 8 * word, x, out[2] - 8 * word);
	return sfx_bits_end(&b);
}

/* plan = NULL: DBP. */
static uint8_t *
encode_dbp(const uint64_t *v, int n, const IntStats *s, const PatchPlan *plan, uint8_t *out)
{
	int			nchunks = chunk_count(n),
				nfixed = 2 + nchunks + (plan ? 2 : 0),
				e = 0;
	unsigned	nstep = sfx_bytelen(s->mindelta),
				ncheck = sfx_bytelen(v[(nchunks - 1) * CHUNK] - v[0]);
	uint8_t    *p = put_base(out, plan ? SFX_INT_PDBP : SFX_INT_DBP, nfixed, v[0]),
			   *patches;

	out[1] = (uint8_t) (nstep | ncheck << 4);
	sfx_store_bytes(p, s->mindelta, nstep);
	p += nstep;
	for (int k = 1; k < nchunks; k++, p += ncheck)
		sfx_store_bytes(p, v[k * CHUNK] - v[0], ncheck);
	patches = p;
	if (plan)
	{
		out[nfixed - 2] = (uint8_t) plan->npatches;
		out[nfixed - 1] = (uint8_t) plan->highbytes;
		p += (size_t) plan->npatches * (1 + plan->highbytes);
	}
	for (int k = 0; k < nchunks; k++)
	{
		const uint64_t *c = v + k * CHUNK;
		int			m = chunk_values(n, k);
		unsigned	width = plan ? plan->width[k] : sfx_bitlen(s->maxdelta[k] - s->mindelta);
		SfxBitWriter b;

		out[2 + k] = (uint8_t) width;
		sfx_bits_start(&b, p);
		for (int j = 1; j < m; j++)
		{
			uint64_t	d = c[j] - c[j - 1] - s->mindelta;

			if (plan && width < 64 && d >> width != 0)
			{
				patches[e] = (uint8_t) (k * CHUNK + j);
				sfx_store_bytes(patches + plan->npatches + (size_t) e++ * plan->highbytes, d >> width, plan->highbytes);
				d &= sfx_mask(width);
			}
			if (width > 0)
				sfx_bits_put(&b, d, width);
		}
		p = sfx_bits_end(&b);
	}
	return p;
}

/* ---- choosing ---- */

/*
 * Results of the choice: sizes of the codecs (SIZE_MAX: does not apply), and what encoding needs.
 */
typedef struct IntChoice
{
	size_t		size[SFX_INT_CODECS];
	unsigned	low;			/* EF */
	size_t		bitmap;
	uint64_t	base;			/* LFOR */
	unsigned	width;
	PatchPlan	plan;			/* PDBP */
} IntChoice;

static inline bool
wanted(int which, SfxIntCodec codec)
{
	return which == 0 || which == (int) codec;
}

static size_t
smallest(const IntChoice *c)
{
	size_t		best = SIZE_MAX;

	for (int i = 1; i < SFX_INT_CODECS; i++)
		best = c->size[i] < best ? c->size[i] : best;
	return best;
}

/* Sizes that are within 3 % of each other count as equal. */
static inline size_t
near_tie(size_t size)
{
	return size == SIZE_MAX ? size : size + size * 3 / 100;
}

static void
measure(IntChoice *c, int which, IntStats *s, const uint64_t *v, int n)
{
	for (int i = 0; i < SFX_INT_CODECS; i++)
		c->size[i] = SIZE_MAX;
	if (which < 0 || which >= SFX_INT_CODECS)
		return;
	if (wanted(which, SFX_INT_PLAIN))
		c->size[SFX_INT_PLAIN] = plain_size(s, n);
	if (wanted(which, SFX_INT_FOR))
		c->size[SFX_INT_FOR] = for_size(s, n);
	if (!s->sorted)
		return;
	if (wanted(which, SFX_INT_EF))
		c->size[SFX_INT_EF] = ef_size(s, n, &c->low, &c->bitmap);
	if (wanted(which, SFX_INT_DBP))
		c->size[SFX_INT_DBP] = dbp_size(s, v, n);
	if (wanted(which, SFX_INT_LFOR) && lfor_applies(s, n) &&
		(n < 64 || lfor_size(s, v, n, n / 16, &c->base, &c->width) <= near_tie(smallest(c))))
		c->size[SFX_INT_LFOR] = lfor_size(s, v, n, 1, &c->base, &c->width);
	/* PDBP is slow to search: a near tie is not enough */
	if (which == SFX_INT_PDBP || (which == 0 && smallest(c) > 20 && near_tie(pdbp_guess(s, v, n)) < smallest(c)))
		c->size[SFX_INT_PDBP] = pdbp_size(s, v, n, &c->plan);
	if (is_bytewise((SfxIntCodec) which))
		c->size[which] = sfx_int_bytes_size((SfxIntCodec) which, v, n);
}

/*
 * Encode with the smallest codec, or with codec `which` if that is not 0.  Sizes are computed from
 * the statistics, so only the chosen one is encoded.
 */
static int
encode(int which, const uint64_t *v, int n, uint8_t *out, size_t cap)
{
	/* the fastest to search first */
	static const SfxIntCodec by_speed[] = {SFX_INT_LFOR, SFX_INT_EF, SFX_INT_PLAIN, SFX_INT_FOR, SFX_INT_DBP, SFX_INT_PDBP,
	SFX_INT_STREAMVBYTE, SFX_INT_VARINTGB, SFX_INT_VBYTE};
	_Static_assert(sizeof(by_speed) / sizeof(*by_speed) == SFX_INT_CODECS - 2,
				   "all codecs from PLAIN on have a place, except DECIMAL");
	IntStats	s;
	IntChoice	c;
	size_t		least;
	uint8_t    *end = out;
	int			i = 0;

	if (n < 1 || n > SFX_INT_MAX)
		return SFX_NOSPACE;
	int_stats(v, n, &s);
	measure(&c, which, &s, v, n);
	least = smallest(&c);
	if (least > cap)
		return SFX_NOSPACE;
	while (c.size[by_speed[i]] > near_tie(least) || c.size[by_speed[i]] > cap)
		i++;
	switch (by_speed[i])
	{
		case SFX_INT_PLAIN:
		case SFX_INT_FOR:
			end = encode_packed(v, n, by_speed[i], &s, out);
			break;
		case SFX_INT_LFOR:
			end = encode_lfor(v, n, &s, c.base, c.width, out);
			break;
		case SFX_INT_EF:
			end = encode_ef(v, n, c.low, c.bitmap, out);
			break;
		case SFX_INT_DBP:
			end = encode_dbp(v, n, &s, NULL, out);
			break;
		case SFX_INT_PDBP:
			end = encode_dbp(v, n, &s, &c.plan, out);
			break;
		case SFX_INT_VBYTE:
		case SFX_INT_VARINTGB:
		case SFX_INT_STREAMVBYTE:
			end = sfx_int_bytes_encode(by_speed[i], v, n, out);
			break;
		case SFX_INT_DECIMAL:
		case SFX_INT_CODECS:
			break;
	}
	return (int) (end - out);
}

int
sfx_int_encode(const uint64_t *v, int n, uint8_t *out, size_t cap)
{
	return encode(0, v, n, out, cap);
}

int
sfx_int_encode_as(SfxIntCodec codec, const uint64_t *v, int n, uint8_t *out, size_t cap)
{
	return encode((int) codec, v, n, out, cap);
}
