/*-------------------------------------------------------------------------
 * strcolumn_write.c - cut keys with a column of shared lengths: encoding (format in strcolumn.h)
 *-------------------------------------------------------------------------
 */
#include "strcolumn.h"

#include "bits.h"

/* What is stored of each key, and of all. */
typedef struct Plan
{
	uint32_t	shared[SFX_BLOCK_KEYS + 1];
	uint32_t	rest[SFX_BLOCK_KEYS];
	uint32_t	longer[SFX_BLOCK_KEYS]; /* by how much it is longer than the rule says */
	int			nover;
	int			nlonger;
	uint32_t	nsymbols;
	uint32_t	least;
	unsigned	bits;
	uint64_t	seen[4];		/* bytes of the rests */
	unsigned	symbolbits;
	unsigned	first;			/* the least symbol */
	uint32_t	map;			/* bytes of the bitmap */
} Plan;

/* Find the lengths of all keys.  False: these keys cannot have this form. */
static bool
plan_keys(const SfxKeys *k, Plan *p)
{
	int			n = k->n;

	p->shared[0] = p->shared[n] = 0;
	p->nlonger = 0;
	p->nsymbols = 0;
	for (int i = 1; i < n; i++)
		p->shared[i] = k->lcp[i] - k->skip;
	for (int i = 0; i < n; i++)
	{
		uint32_t	len = k->off[i + 1] - k->off[i] - k->skip;
		uint32_t	above = p->shared[i + 1] > p->shared[i] ? p->shared[i + 1] : p->shared[i];

		if (len <= above || len - above - 1 > UINT16_MAX || above >= SFX_COLUMN_SHARED)
			return false;
		p->longer[i] = len - above - 1;
		p->nlonger += p->longer[i] > 0;
		p->rest[i] = len - p->shared[i];
		p->nsymbols += p->rest[i];
	}
	return p->nsymbols <= SFX_COLUMN_SYMBOLS && p->nlonger <= UINT8_MAX;
}

/* Choose the width of shared lengths, so that these and the exceptions take least. */
static void
plan_width(int n, Plan *p)
{
	uint32_t	count[SFX_COLUMN_SHARED] = {0};
	uint32_t	size = UINT32_MAX,
				greater = (uint32_t) n - 1;
	uint32_t	at;

	p->least = n > 1 ? UINT32_MAX : 0;
	for (int i = 1; i < n; i++)
	{
		count[p->shared[i]]++;
		p->least = p->shared[i] < p->least ? p->shared[i] : p->least;
	}
	at = p->least;
	for (unsigned w = 0; w <= 6; w++)
	{
		uint32_t	all;

		for (; at < p->least + (UINT32_C(1) << w) && at < SFX_COLUMN_SHARED; at++)
			greater -= count[at];
		all = (uint32_t) sfx_bits_bytes((size_t) n - 1, w) + 2 * greater;
		if (all < size && greater <= UINT8_MAX)
		{
			size = all;
			p->bits = w;
			p->nover = (int) greater;
		}
	}
}

/* Find the symbols that rests have. */
static void
plan_symbols(const SfxKeys *k, Plan *p)
{
	int			n = 0;
	unsigned	last = 0;

	memset(p->seen, 0, sizeof(p->seen));
	for (int i = 0; i < k->n; i++)
	{
		const uint8_t *end = k->bytes + k->off[i + 1];

		for (const uint8_t *b = end - p->rest[i]; b < end; b++)
			p->seen[*b / 64] |= UINT64_C(1) << *b % 64;
	}
	p->first = UINT32_MAX;
	for (unsigned b = 0; b < 256; b++)
		if (p->seen[b / 64] >> b % 64 & 1)
		{
			p->first = n == 0 ? b : p->first;
			last = b;
			n++;
		}
	p->symbolbits = n > SFX_SYMBOLS ? 8 : sfx_symbol_bits((uint32_t) n);
	p->map = (last - p->first) / 8 + 1;
	if (sfx_bits_bytes(p->nsymbols, p->symbolbits) + 2 + p->map >= p->nsymbols)
		p->symbolbits = 8;
}

/* Write the alphabet to out, and the symbols' numbers to number.  Returns the end. */
static uint8_t *
put_symbols(const Plan *p, uint8_t *out, uint8_t *number)
{
	int			n = 0;

	*out++ = (uint8_t) p->first;
	*out++ = (uint8_t) p->map;
	memset(out, 0, p->map);
	for (unsigned b = p->first; b < 256; b++)
		if (p->seen[b / 64] >> b % 64 & 1)
		{
			out[(b - p->first) / 8] |= (uint8_t) (1 << (b - p->first) % 8);
			number[b] = (uint8_t) n++;
		}
	return out + p->map;
}

/* Write the column and its exceptions.  Returns the end. */
static uint8_t *
put_lengths(const Plan *p, int n, uint8_t *out)
{
	uint32_t	most = (UINT32_C(1) << p->bits) - 1;
	SfxBitWriter w;

	sfx_bits_start(&w, out);
	for (int i = 1; i < n; i++)
	{
		uint32_t	v = p->shared[i] - p->least;

		sfx_bits_put(&w, v < most ? v : most, p->bits);
	}
	out = sfx_bits_end(&w);
	for (int i = 1; i < n; i++)
		if (p->shared[i] - p->least > most)
		{
			*out++ = (uint8_t) i;
			*out++ = (uint8_t) (p->shared[i] - p->least - most);
		}
	for (int i = 0; i < n; i++)
		if (p->longer[i] > 0)
		{
			*out++ = (uint8_t) i;
			sfx_put16(out, (uint16_t) p->longer[i]);
			out += 2;
		}
	return out;
}

static uint8_t *
put_rests(const SfxKeys *k, const Plan *p, const uint8_t *number, uint8_t *out)
{
	SfxBitWriter w;

	sfx_bits_start(&w, out);
	for (int i = 0; i < k->n; i++)
	{
		const uint8_t *end = k->bytes + k->off[i + 1];

		for (const uint8_t *b = end - p->rest[i]; b < end; b++)
			sfx_bits_put(&w, p->symbolbits == 8 ? *b : number[*b], p->symbolbits);
	}
	return sfx_bits_end(&w);
}

int
sfx_strcol_encode(const SfxKeys *k, uint8_t *out, size_t cap, bool *surely)
{
	Plan		p;
	uint8_t		number[256];
	uint8_t    *at = out + SFX_COLUMN_HEAD;
	uint32_t	lengths;
	size_t		need;

	*surely = false;
	if (!plan_keys(k, &p))
		return SFX_NOSPACE;
	plan_width(k->n, &p);
	plan_symbols(k, &p);
	lengths = (uint32_t) sfx_bits_bytes((size_t) k->n - 1, p.bits) + 2 * (uint32_t) p.nover +
		3 * (uint32_t) p.nlonger + SFX_COLUMN_HEAD + 2 + p.map;
	need = lengths + sfx_bits_bytes(p.nsymbols, p.symbolbits);
	if (need > cap)
		return SFX_NOSPACE;
	/* other forms have a byte for each key's lengths, unless all keys end in the same byte */
	*surely = lengths < (uint32_t) k->n &&
		k->bytes[k->off[1] - 1] != k->bytes[k->off[k->n] - 1];
	out[0] = SFX_STR_COLUMN;
	out[1] = (uint8_t) (p.bits | p.symbolbits << 4);
	out[2] = (uint8_t) p.least;
	out[3] = (uint8_t) p.nover;
	out[4] = (uint8_t) p.nlonger;
	sfx_put16(out + 5, (uint16_t) p.nsymbols);
	if (p.symbolbits < 8)
		at = put_symbols(&p, at, number);
	at = put_lengths(&p, k->n, at);
	return (int) (put_rests(k, &p, number, at) - out);
}
