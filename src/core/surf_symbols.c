/*-------------------------------------------------------------------------
 * surf_symbols.c - SuRF: a table of up to 255 byte strings of up to 8 bytes, to write paths in
 *
 * After FSST (Boncz, Neumann, Leis, VLDB 2020, section 4): a few rounds of writing a sample with the table of the round before;
 * the next table takes the symbols and the concatenations of neighbouring symbols that covered most bytes.
 * A byte without a symbol takes an escape and itself.
 */
#include "surf_build.h"

#define ROUNDS		5
#define SAMPLE		32768
#define NSYMBOLS	255
#define ESCAPE		255
#define LITERAL		256			/* code of a byte without a symbol, while training */
#define NCODES		512
#define CANDIDATES	32768		/* a power of 2 */

typedef struct Candidate
{
	uint64_t	bytes;			/* the first in the lowest 8 bits */
	uint32_t	gain;
	uint32_t	len;
} Candidate;

/* The table while it is made, and all that training needs. */
struct SurfTrainer
{
	Candidate	symbol[NSYMBOLS];
	unsigned	n;
	uint16_t	first[257];		/* symbols by their first byte, longer ones first */
	uint32_t	count[NCODES];
	uint16_t	pair[NCODES][NCODES];
	Candidate	candidate[CANDIDATES];
	unsigned	ncandidates;
	uint8_t		room[8];
};

/* Order symbols by first byte, and by falling length. */
static void
index_symbols(SurfTrainer *t)
{
	for (unsigned i = 1; i < t->n; i++)
	{
		Candidate	c = t->symbol[i];
		unsigned	key = (unsigned) (c.bytes & 0xFF) * 16 + 8 - c.len,
					j = i;

		for (; j > 0 && (unsigned) (t->symbol[j - 1].bytes & 0xFF) * 16 + 8 - t->symbol[j - 1].len > key; j--)
			t->symbol[j] = t->symbol[j - 1];
		t->symbol[j] = c;
	}
	for (unsigned c = 0, i = 0; c <= 256; c++)
	{
		while (i < t->n && (t->symbol[i].bytes & 0xFF) < c)
			i++;
		t->first[c] = (uint16_t) i;
	}
}

/* The longest symbol that s[0..len) begins with, or the literal. */
static inline unsigned
match(const SurfTrainer *t, const uint8_t *s, uint32_t len)
{
	uint64_t	x = len >= 8 ? sfx_load64(s) : sfx_load_bytes(s, len);

	for (unsigned i = t->first[s[0]]; i < t->first[s[0] + 1]; i++)
	{
		const Candidate *c = &t->symbol[i];

		if (c->len <= len && ((x ^ c->bytes) & sfx_mask(c->len * 8)) == 0)
			return i;
	}
	return LITERAL + s[0];
}

static void
count_string(SurfTrainer *t, const uint8_t *s, uint32_t len)
{
	unsigned	prev = NCODES;

	while (len > 0)
	{
		unsigned	code = match(t, s, len);
		uint32_t	n = code < LITERAL ? t->symbol[code].len : 1;

		t->count[code]++;
		if (prev < NCODES)
			t->pair[prev][code]++;
		prev = code;
		s += n;
		len -= n;
	}
}

static void
propose(SurfTrainer *t, uint64_t bytes, uint32_t len, uint32_t gain)
{
	size_t		at = (size_t) (surf_mix(bytes + len) & (CANDIDATES - 1));
	Candidate  *c;

	for (; (c = &t->candidate[at])->len != 0; at = (at + 1) & (CANDIDATES - 1))
	{
		if (c->bytes == bytes && c->len == len)
		{
			c->gain += gain;
			return;
		}
	}
	if (t->ncandidates >= CANDIDATES / 2)
		return;
	t->ncandidates++;
	*c = (Candidate) {.bytes = bytes, .gain = gain, .len = len};
}

static Candidate
code_string(const SurfTrainer *t, unsigned code)
{
	if (code < LITERAL)
		return t->symbol[code];
	return (Candidate) {.bytes = code - LITERAL, .len = 1};
}

/* Keep the best candidates: a heap with the worst on top. */
static void
choose_symbols(SurfTrainer *t)
{
	Candidate  *h = t->symbol;

	t->n = 0;
	for (unsigned k = 0; k < CANDIDATES; k++)
	{
		Candidate	c = t->candidate[k];
		unsigned	i;

		if (c.len == 0 || (t->n == NSYMBOLS && c.gain <= h[0].gain))
			continue;
		if (t->n < NSYMBOLS)
		{
			for (i = t->n++; i > 0 && h[(i - 1) / 2].gain > c.gain; i = (i - 1) / 2)
				h[i] = h[(i - 1) / 2];
			h[i] = c;
			continue;
		}
		for (i = 0; 2 * i + 1 < t->n;)
		{
			unsigned	child = 2 * i + 1;

			child += child + 1 < t->n && h[child + 1].gain < h[child].gain;
			if (h[child].gain >= c.gain)
				break;
			h[i] = h[child];
			i = child;
		}
		h[i] = c;
	}
}

static void
next_table(SurfTrainer *t)
{
	memset(t->candidate, 0, sizeof(t->candidate));
	t->ncandidates = 0;
	for (unsigned a = 0; a < NCODES; a++)
	{
		Candidate	x;

		if (t->count[a] == 0)
			continue;
		x = code_string(t, a);
		/* a literal costs two bytes: a symbol for it saves as much as one for two bytes */
		propose(t, x.bytes, x.len, t->count[a] * (x.len == 1 ? 2 : x.len));
		for (unsigned b = 0; b < NCODES; b++)
		{
			Candidate	y;

			if (t->pair[a][b] < 2)
				continue;
			y = code_string(t, b);
			if (x.len + y.len <= 8)
				propose(t, x.bytes | y.bytes << (8 * x.len), x.len + y.len, t->pair[a][b] * (x.len + y.len));
		}
	}
	choose_symbols(t);
	index_symbols(t);
}

uint32_t
surf_encode_path(const SurfTrainer *t, const uint8_t *s, uint32_t len, uint8_t *out)
{
	uint8_t    *p = out;

	while (len > 0)
	{
		unsigned	code = match(t, s, len);
		uint32_t	n = code < LITERAL ? t->symbol[code].len : 1;

		*p++ = (uint8_t) (code < LITERAL ? code : ESCAPE);
		if (code >= LITERAL)
			*p++ = s[0];
		s += n;
		len -= n;
	}
	return (uint32_t) (p - out);
}

SurfTrainer *
surf_train(SfxSurfBuild *b, uint32_t npaths)
{
	const SurfPath *dict = (const SurfPath *) b->dict.p;
	uint64_t	step = 1 + b->pathbytes.len / SAMPLE;
	SurfTrainer *t = surf_vec_zeroed(b, &b->buckets, sizeof(*t));
	uint8_t    *out = surf_vec_zeroed(b, &b->symbols, SURF_SYMBOLS);

	if (t == NULL || out == NULL)
		return NULL;
	for (int round = 0; round < ROUNDS; round++)
	{
		memset(t->count, 0, sizeof(t->count));
		memset(t->pair, 0, sizeof(t->pair));
		for (uint64_t i = 0; i < npaths; i += step)
			count_string(t, b->pathbytes.p + dict[i].off, dict[i].len < SAMPLE / 8 ? dict[i].len : SAMPLE / 8);
		next_table(t);
	}
	for (unsigned i = 0; i < t->n; i++)
	{
		out[i] = (uint8_t) t->symbol[i].len;
		sfx_store64(out + 256 + 8 * i, t->symbol[i].bytes);
	}
	return t;
}
