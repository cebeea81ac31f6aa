/*-------------------------------------------------------------------------
 * surf_symbols.c - SuRF: a code for the bytes of paths: symbols of 1 to 8 bytes, each with as many
 * bits as its frequency says
 *
 * All single bytes that occur are symbols.  If there are enough paths to learn from, strings are
 * added, which are found as those of FSST are (Boncz, Neumann, Leis, VLDB 2020, section 4): in a
 * few rounds a sample is cut into the symbols of the previous round, and the next round takes the
 * symbols and the concatenations of neighbours that save most bits.  The code is an optimal prefix
 * code; its lengths come from hope_assign.c, since an alphabetic code of ascending weights is
 * optimal among all.
 *-------------------------------------------------------------------------
 */
#include "surf_build.h"
#include "hope_format.h"

#define SAMPLE		32768
#define ROUNDS		4			/* half as many if paths are fewer: a filter of one page must not
								 * take long */
#define NSTRINGS	255
#define NCODES		(256 + NSTRINGS)	/* strings, then bytes */
#define CANDIDATES	8192		/* a power of 2 */
/* Strings pay only from that many bytes of different paths on. */
#define STRINGS_FROM	8192
/* Bits assumed for a byte that the sample does not have. */
#define UNSEEN		12

typedef struct Candidate
{
	uint64_t	bytes;			/* the first in the lowest 8 bits */
	uint64_t	gain;			/* bits */
	uint32_t	len;
} Candidate;

/* The table under construction. */
typedef struct Trainer
{
	Candidate	string[NSTRINGS];
	unsigned	n;
	uint16_t	first[257];		/* strings by their first byte, longer ones first */
	uint64_t	count[NCODES];
	uint8_t		length[NCODES]; /* of codes */
	uint16_t	used[NCODES];	/* the codes that occur, by count */
	unsigned	nused;
} Trainer;

/* What only the search for strings needs. */
typedef struct Finder
{
	uint16_t	pair[NCODES][NCODES];
	Candidate	candidate[CANDIDATES];
	unsigned	ncandidates;
} Finder;

/* ---- cutting paths into symbols ---- */

/* Order strings by first byte, and by falling length. */
static void
index_strings(Trainer *t)
{
	for (unsigned i = 1; i < t->n; i++)
	{
		Candidate	c = t->string[i];
		unsigned	key = (unsigned) (c.bytes & 0xFF) * 16 + 8 - c.len,
					j = i;

		for (; j > 0 && (unsigned) (t->string[j - 1].bytes & 0xFF) * 16 + 8 - t->string[j - 1].len > key; j--)
			t->string[j] = t->string[j - 1];
		t->string[j] = c;
	}
	for (unsigned c = 0, i = 0; c <= 256; c++)
	{
		while (i < t->n && (t->string[i].bytes & 0xFF) < c)
			i++;
		t->first[c] = (uint16_t) i;
	}
}

/* Returns the longest symbol that s[0..len) begins with. */
static inline unsigned
match(const Trainer *t, const uint8_t *s, uint32_t len)
{
	unsigned	i = t->first[s[0]],
				end = t->first[s[0] + 1];

	if (i < end)
	{
		uint64_t	x = len >= 8 ? sfx_load64(s) : sfx_load_bytes(s, len);

		for (; i < end; i++)
		{
			const Candidate *c = &t->string[i];

			if (c->len <= len && ((x ^ c->bytes) & sfx_mask(c->len * 8)) == 0)
				return i;
		}
	}
	return NSTRINGS + s[0];
}

static inline Candidate
symbol(const Trainer *t, unsigned code)
{
	if (code < NSTRINGS)
		return t->string[code];
	return (Candidate) {.bytes = code - NSTRINGS, .len = 1};
}

static inline uint32_t
symbol_len(const Trainer *t, unsigned code)
{
	return code < NSTRINGS ? t->string[code].len : 1;
}

/* ---- the code ---- */

/*
 * List the codes that occur, by count, and find the lengths of an optimal code for them.  False: no
 * memory.
 */
static bool
assign_lengths(SfxSurfBuild *b, Trainer *t)
{
	uint8_t		length[NCODES];
	unsigned	uses[SURF_CODELEN + 1] = {0};
	uint64_t	weight[NCODES];
	void	   *scratch;

	memset(t->length, 0, sizeof(t->length));
	t->nused = 0;
	for (unsigned c = 0; c < NCODES; c++)
	{
		unsigned	i = t->nused;

		if (t->count[c] == 0)
			continue;
		for (; i > 0 && t->count[t->used[i - 1]] > t->count[c]; i--)
			t->used[i] = t->used[i - 1];
		t->used[i] = (uint16_t) c;
		t->nused++;
	}
	for (unsigned i = 0; i < t->nused; i++)
		weight[i] = t->count[t->used[i]];
	scratch = surf_vec_zeroed(b, &b->order, sfx_hope_assign_size(t->nused));
	if (scratch == NULL)
		return false;
	if (t->nused > 0)
		sfx_hope_assign(weight, t->nused, SURF_CODELEN, length, scratch);
	/* equal weights may have lengths in any order; the shortest ones belong to the last */
	for (unsigned i = 0; i < t->nused; i++)
		uses[length[i]]++;
	for (unsigned i = 0, len = SURF_CODELEN; i < t->nused; i++)
	{
		while (uses[len] == 0)
			len--;
		uses[len]--;
		t->length[t->used[i]] = (uint8_t) (len > 0 ? len : 1);
	}
	return true;
}

/* ---- the search for strings ---- */

static void
count_path(Trainer *t, Finder *f, const uint8_t *s, uint32_t len)
{
	unsigned	prev = NCODES;

	while (len > 0)
	{
		unsigned	code = match(t, s, len);
		uint32_t	n = symbol_len(t, code);

		t->count[code]++;
		if (prev < NCODES)
			f->pair[prev][code]++;
		prev = code;
		s += n;
		len -= n;
	}
}

static void
propose(Finder *f, uint64_t bytes, uint32_t len, uint64_t gain)
{
	size_t		at = (size_t) (sfx_hash_mix(bytes + len) & (CANDIDATES - 1));
	Candidate  *c;

	for (; (c = &f->candidate[at])->len != 0; at = (at + 1) & (CANDIDATES - 1))
	{
		if (c->bytes == bytes && c->len == len)
		{
			c->gain += gain;
			return;
		}
	}
	if (f->ncandidates >= CANDIDATES / 2)
		return;
	f->ncandidates++;
	*c = (Candidate) {.bytes = bytes, .gain = gain, .len = len};
}

/*
 * Propose a string that occurs `uses` times and takes `bits` bits as one symbol, `others` bits
 * without being one, if that pays for its place in the table.
 */
static void
propose_for(Finder *f, Candidate x, uint64_t uses, uint64_t others, uint64_t bits)
{
	uint64_t	price = 8 * x.len + 16;

	if (others > bits && uses * (others - bits) > price)
		propose(f, x.bytes, x.len, uses * (others - bits) - price);
}

/* Keep the best candidates, in a heap with the worst on top. */
static void
choose_strings(Trainer *t, const Finder *f)
{
	Candidate  *h = t->string;

	t->n = 0;
	for (unsigned k = 0; k < CANDIDATES; k++)
	{
		Candidate	c = f->candidate[k];
		unsigned	i;

		if (c.len == 0 || (t->n == NSTRINGS && c.gain <= h[0].gain))
			continue;
		if (t->n < NSTRINGS)
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

/*
 * Choose the strings of the next round from the counts of this one, each of which stands for step.
 */
static void
next_strings(Trainer *t, Finder *f, uint64_t step)
{
	uint64_t	total = 1;

	memset(f->candidate, 0, sizeof(f->candidate));
	f->ncandidates = 0;
	for (unsigned i = 0; i < t->nused; i++)
		total += t->count[t->used[i]];
	/*
	 * Most frequent ones first, so that candidates do not become too many.  Rows of pairs are
	 * zeroed after use.
	 */
	for (unsigned i = t->nused; i-- > 0;)
	{
		unsigned	a = t->used[i];
		Candidate	x = symbol(t, a);
		uint64_t	apart = 0;

		for (unsigned k = 0; k < x.len; k++)
		{
			unsigned	bits = t->length[NSTRINGS + (x.bytes >> 8 * k & 0xFF)];

			apart += bits > 0 ? bits : UNSEEN;
		}
		if (x.len > 1)
			propose_for(f, x, t->count[a] * step, apart, t->length[a]);
		for (unsigned j = t->nused; j-- > 0;)
		{
			unsigned	b = t->used[j],
						uses = f->pair[a][b];
			Candidate	y = symbol(t, b);

			if (uses >= 2 && x.len + y.len <= 8)
			{
				Candidate	both = {.bytes = x.bytes | y.bytes << 8 * x.len, .len = x.len + y.len};

				propose_for(f, both, uses * step, t->length[a] + t->length[b], sfx_bitlen(total / uses));
			}
		}
		memset(f->pair[a], 0, sizeof(f->pair[a]));
	}
	choose_strings(t, f);
	index_strings(t);
}

/* False: no memory. */
static bool
find_strings(SfxSurfBuild *b, Trainer *t, uint32_t npaths)
{
	const SurfPath *dict = (const SurfPath *) b->dict.p;
	uint64_t	step = 1 + b->pathbytes.len / SAMPLE;
	Finder	   *f = surf_vec_zeroed(b, &b->levels, sizeof(*f));

	if (f == NULL)
		return false;
	for (int round = step > 1 ? 0 : ROUNDS / 2; round < ROUNDS; round++)
	{
		memset(t->count, 0, sizeof(t->count));
		for (uint64_t i = 0; i < npaths; i += step)
			count_path(t, f, b->pathbytes.p + dict[i].off, dict[i].len < SAMPLE / 8 ? dict[i].len : SAMPLE / 8);
		if (!assign_lengths(b, t))
			return false;
		next_strings(t, f, step);
	}
	b->levels.len = 0;
	return true;
}

/* ---- the result ---- */

/* Write the symbols section, and the codes of all symbols into "codes".  False: no memory. */
static bool
write_symbols(SfxSurfBuild *b, const Trainer *t)
{
	uint8_t    *out = surf_vec_zeroed(b, &b->symbols, SURF_SYMENTRIES + (2 + 8) * (size_t) t->nused);
	SurfCode   *codes = surf_vec_zeroed(b, &b->codes, NCODES * sizeof(SurfCode));
	uint8_t    *entry,
			   *strings;
	unsigned	code = 0,
				off = 0,
				len = 1;

	if (out == NULL || codes == NULL)
		return false;
	entry = out + SURF_SYMENTRIES;
	strings = entry + 2 * (size_t) t->nused;
	/* lengths ascend as counts fall; code is the next one in 12 bits */
	for (unsigned i = 0; i <= t->nused; i++)
	{
		unsigned	k = i < t->nused ? t->used[t->nused - 1 - i] : 0,
					until = i < t->nused ? t->length[k] : SURF_CODELEN + 1;
		Candidate	x = symbol(t, k);

		for (; len < until; len++)
		{
			sfx_put16(out + 2 * (len - 1), (uint16_t) code);
			if (len < SURF_CODELEN)
				sfx_put16(out + 2 * (SURF_CODELEN + len), (uint16_t) (i - (code >> (SURF_CODELEN - 1 - len))));
		}
		if (i == t->nused)
			break;
		codes[k] = (SurfCode) {.bits = (uint16_t) (code >> (SURF_CODELEN - len)), .len = (uint8_t) len};
		code += 1u << (SURF_CODELEN - len);
		sfx_put16(entry, (uint16_t) (x.len == 1 ? x.bytes : (x.len - 1) << SURF_SYMOFF | off));
		entry += 2;
		if (x.len > 1)
		{
			sfx_store_bytes(strings + off, x.bytes, x.len);
			off += x.len;
		}
	}
	b->symbols.len = (size_t) (strings - out) + off;
	b->plan.nsymbols = t->nused;
	return true;
}

bool
surf_encode_paths(SfxSurfBuild *b, uint32_t npaths)
{
	SurfPath   *dict = (SurfPath *) b->dict.p;
	Trainer    *t = surf_vec_zeroed(b, &b->buckets, sizeof(*t));
	uint16_t   *cut = surf_vec_zeroed(b, &b->coded, b->pathbytes.len * sizeof(*cut));

	if (t == NULL || cut == NULL || (b->pathbytes.len >= STRINGS_FROM && !find_strings(b, t, npaths)))
		return false;
	memset(t->count, 0, sizeof(t->count));
	for (uint32_t i = 0; i < npaths; i++)
	{
		const uint8_t *s = b->pathbytes.p + dict[i].off;
		uint16_t   *c = cut + dict[i].off;

		for (uint32_t at = 0; at < dict[i].len; at += symbol_len(t, *c++))
			t->count[*c = (uint16_t) match(t, s + at, dict[i].len - at)]++;
		dict[i].ncodes = (uint32_t) (c - (cut + dict[i].off));
	}
	if (!assign_lengths(b, t) || !write_symbols(b, t))
		return false;
	for (uint32_t i = 0; i < npaths; i++)
	{
		dict[i].bits = 0;
		for (uint32_t k = 0; k < dict[i].ncodes; k++)
			dict[i].bits += t->length[cut[dict[i].off + k]];
	}
	return true;
}
