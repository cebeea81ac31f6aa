/*-------------------------------------------------------------------------
 * fsst_build.c - making a table of symbols from a sample (after section 4.2 of the paper)
 *
 * The sample is coded with the current table, at first an empty one; each symbol that was used,
 * each two adjacent ones, and the first byte of each are candidates for the next table, which takes
 * those that cover most bytes.  After some rounds symbols are long.  Then the number of uses
 * decides on the codes of one byte; that is done twice, because the best division of a string
 * depends on which codes are short.
 *-------------------------------------------------------------------------
 */
#include "fsst.h"

#define FSST_SAMPLE		(256 * 1024)	/* bytes of the sample that are read, about */
#define ROUNDS			8
#define MIN_USES		3		/* of two adjacent symbols, to be a candidate as one */
#define KEPT_USES		2		/* of a symbol, to be kept in the end */
#define BYTE_WORTH		8		/* a byte without a symbol costs an escape, and is part of all
								 * symbols to come */
#define BYTE_SHARE		16		/* one of so many occurrences of a byte is not covered by symbols,
								 * in other strings than the sample */
#define CANDIDATE_BITS	17
#define MAX_CANDIDATES	(1u << CANDIDATE_BITS)

typedef struct Candidate
{
	FsstSlot	symbol;			/* of length 0: empty */
	uint32_t	uses;
} Candidate;

typedef struct Scratch
{
	uint32_t	ncandidates;
	uint32_t	limit;			/* most symbols, */
	uint32_t	n;				/* and those that are chosen */
	Candidate	candidate[MAX_CANDIDATES];
	Candidate	best[FSST_SYMBOLS];
	FsstSlot	symbol[FSST_SYMBOLS];
	uint32_t	uses[256 * (FSST_LEADS + 2)];
	uint64_t	table[];		/* an Fsst of FSST_LEADS */
} Scratch;

typedef struct Sample
{
	const SfxHopeKey *keys;
	uint32_t	n;
	uint32_t	stride;			/* of so many keys one is counted, so that they have FSST_SAMPLE
								 * bytes, from all parts */
} Sample;

size_t
sfx_fsst_build_size(void)
{
	return sizeof(Scratch) + sfx_fsst_size(FSST_LEADS);
}

static uint32_t
sample_stride(const SfxHopeKey *keys, uint32_t n)
{
	uint64_t	bytes = 0;

	for (uint32_t k = 0; k < n; k++)
		bytes += keys[k].len;
	return (uint32_t) (bytes / FSST_SAMPLE) + 1;
}

/* ---- candidates ---- */

/* Count a use of n bytes at p. */
static void
propose(Scratch *c, const uint8_t *p, uint32_t n)
{
	FsstSlot	s = {{0}, (uint8_t) n};
	uint64_t	x,
				y;
	uint32_t	at;

	memcpy(s.byte, p, n);
	x = sfx_load64(s.byte);
	y = sfx_load64(s.byte + 8);
	at = (uint32_t) ((x * UINT64_C(0x9E3779B97F4A7C15) ^ y) * UINT64_C(0xD6E8FEB86659FD93) >> (64 - CANDIDATE_BITS));
	while (c->candidate[at].symbol.len != 0 && memcmp(&c->candidate[at].symbol, &s, sizeof(s)) != 0)
		at = (at + 1) & (MAX_CANDIDATES - 1);
	if (c->candidate[at].symbol.len == 0)
	{
		/* the table is searched up to the first gap, so it must have some */
		if (c->ncandidates >= MAX_CANDIDATES / 4 * 3)
			return;
		c->ncandidates++;
		c->candidate[at].symbol = s;
	}
	c->candidate[at].uses++;
}

/* Count the candidates of a string; in the last round only the symbols themselves. */
static void
propose_all(Scratch *c, const uint8_t *p, size_t len, bool last)
{
	const Fsst *f = (const Fsst *) c->table;
	uint32_t	before = 0;		/* bytes of the previous symbol */

	for (size_t i = 0; i < len;)
	{
		size_t		left = len - i;
		uint64_t	x = sfx_load64_avail(p + i, left),
					y = left > 8 ? sfx_load64_avail(p + i + 8, left - 8) : 0;
		uint32_t	n = f->slot[fsst_longest(f, x, y, left)].len;

		propose(c, p + i, n);
		if (!last)
		{
			/* the first byte alone, so that symbols can become shorter, too */
			if (n > 1)
				propose(c, p + i, 1);
			if (before > 0 && before < FSST_MAXSYM)
			{
				propose(c, p + i - before, before + n < FSST_MAXSYM ? before + n : FSST_MAXSYM);
				if (n > 1)
					propose(c, p + i - before, before + 1);
			}
		}
		before = n;
		i += n;
	}
}

/* ---- choosing ---- */

/* Number of bytes that a candidate covers beyond its code's. */
static inline uint64_t
gain(const Candidate *x)
{
	return (uint64_t) x->uses * (x->symbol.len == 1 ? BYTE_WORTH : x->symbol.len - 1u);
}

static bool
by_gain(const Candidate *a, const Candidate *b)
{
	uint64_t	x = gain(a),
				y = gain(b);

	return x != y ? x > y : memcmp(&a->symbol, &b->symbol, sizeof(FsstSlot)) < 0;
}

static bool
by_uses(const Candidate *a, const Candidate *b)
{
	return a->uses != b->uses ? a->uses > b->uses : memcmp(&a->symbol, &b->symbol, sizeof(FsstSlot)) < 0;
}

static bool
by_bytes(const Candidate *a, const Candidate *b)
{
	return sfx_cmp_bytes(a->symbol.byte, a->symbol.len, b->symbol.byte, b->symbol.len) < 0;
}

typedef bool (*Before) (const Candidate *a, const Candidate *b);

/* Restore the heap v[0..n), whose last candidate is first, below i. */
static void
sift(Candidate *v, uint32_t n, uint32_t i, Before before)
{
	for (uint32_t k; (k = 2 * i + 1) < n; i = k)
	{
		Candidate	t = v[i];

		if (k + 1 < n && before(&v[k], &v[k + 1]))
			k++;
		if (!before(&t, &v[k]))
			break;
		v[i] = v[k];
		v[k] = t;
	}
}

static void
sort(Candidate *v, uint32_t n, Before before)
{
	for (uint32_t i = n / 2; i-- > 0;)
		sift(v, n, i, before);
	while (n > 1)
	{
		Candidate	t = v[0];

		v[0] = v[--n];
		v[n] = t;
		sift(v, n, 0, before);
	}
}

/* Choose the best candidates. */
static void
take_best(Scratch *c)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < MAX_CANDIDATES; i++)
	{
		const Candidate *x = &c->candidate[i];

		if (x->symbol.len == 0 || (x->symbol.len > 1 && x->uses < MIN_USES))
			continue;
		if (n < c->limit)
		{
			c->best[n++] = *x;
			for (uint32_t k = n / 2; n == c->limit && k-- > 0;)
				sift(c->best, n, k, by_gain);
		}
		else if (by_gain(x, &c->best[0]))
		{
			c->best[0] = *x;
			sift(c->best, n, 0, by_gain);
		}
	}
	c->n = n;
}

/* Number of leads that n symbols need. */
static uint32_t
leads_for(uint32_t n)
{
	uint32_t	ones = FSST_ONES(0);

	return n <= ones ? 0 : (n - ones + 254) / 255;
}

/*
 * Make a table of the chosen symbols: those used most have codes of one byte.  Returns the leads.
 */
static uint32_t
fill_table(Scratch *c)
{
	uint32_t	leads = leads_for(c->n),
				ones = FSST_ONES(leads) < c->n ? FSST_ONES(leads) : c->n;

	sort(c->best, c->n, by_uses);
	sort(c->best, ones, by_bytes);
	sort(c->best + ones, c->n - ones, by_bytes);
	for (uint32_t i = 0; i < c->n; i++)
		c->symbol[i] = c->best[i].symbol;
	sfx_fsst_fill((Fsst *) c->table, leads, c->symbol, c->n);
	return leads;
}

/*
 * Count uses of a symbol of one byte that the sample did not need, though the byte occurs: other
 * strings will need it more.
 */
static void
spare_byte(Scratch *c, uint8_t byte, uint32_t occurs)
{
	if (c->n < c->limit)
		c->best[c->n++] = (Candidate) {{{byte}, 1}, occurs / BYTE_SHARE + 1};
}

/*
 * Count how often each symbol is used if strings are divided best, and drop symbols that hardly
 * are.
 */
static void
drop_unused(Scratch *c, const Sample *s)
{
	const Fsst *f = (const Fsst *) c->table;
	uint16_t	pick[FSST_CHUNK];
	uint32_t	occurs[256] = {0};
	uint32_t	n = 0;

	memset(c->uses, 0, sizeof(c->uses));
	for (uint32_t k = 0; k < s->n; k += s->stride)
		for (size_t done = 0; done < s->keys[k].len; done += FSST_CHUNK)
		{
			size_t		left = s->keys[k].len - done;
			uint32_t	len = left < FSST_CHUNK ? (uint32_t) left : FSST_CHUNK;

			sfx_fsst_parse(f, s->keys[k].key + done, len, pick);
			for (uint32_t i = 0; i < len; i += f->slot[pick[i]].len)
				c->uses[pick[i]]++;
			for (uint32_t i = 0; i < len; i++)
				occurs[s->keys[k].key[done + i]]++;
		}
	for (uint32_t i = 0; i < c->n; i++)
	{
		uint32_t	uses = c->uses[i < f->ones ? i + 1 : 256 + i - f->ones];

		if (c->symbol[i].len == 1)
		{
			uint32_t   *o = &occurs[c->symbol[i].byte[0]];

			uses += *o / BYTE_SHARE + 1;
			*o = 0;
		}
		if (uses >= KEPT_USES)
			c->best[n++] = (Candidate) {c->symbol[i], uses};
	}
	c->n = n;
	for (uint32_t b = 0; b < 256; b++)
		if (occurs[b] > 0)
			spare_byte(c, (uint8_t) b, occurs[b]);
}

/* ---- the table ---- */

/* Write the chosen symbols as a table (layout: fsst.h).  Returns the length, or SFX_NOSPACE. */
static int
write_table(const Scratch *c, uint32_t leads, uint8_t *dict, size_t cap)
{
	size_t		used = 5;
	FsstSlot	before = {{0}, 0};

	if (cap < used)
		return SFX_NOSPACE;
	dict[0] = HOPE_MAGIC;
	dict[1] = SFX_FSST;
	dict[2] = (uint8_t) leads;
	dict[3] = (uint8_t) c->n;
	dict[4] = (uint8_t) (c->n >> 8);
	for (uint32_t i = 0; i < c->n; i++)
	{
		const FsstSlot *s = &c->symbol[i];
		uint32_t	shared = sfx_lcp(before.byte, before.len, s->byte, s->len),
					rest;

		/* a symbol has a byte of its own, even if it is a prefix of the previous one */
		shared = shared < s->len ? shared : s->len - 1u;
		rest = s->len - shared;
		if (cap - used < 1 + rest)
			return SFX_NOSPACE;
		dict[used++] = (uint8_t) (shared << 4 | rest);
		memcpy(dict + used, s->byte + shared, rest);
		used += rest;
		before = *s;
	}
	return (int) used;
}

int
sfx_fsst_build(uint32_t limit, const SfxHopeKey *keys, uint32_t nkeys, void *scratch, size_t size, uint8_t *dict, size_t cap)
{
	Scratch    *c = scratch;
	Sample		s = {keys, nkeys, sample_stride(keys, nkeys)};
	uint32_t	leads = 0;

	if (size < sfx_fsst_build_size())
		return SFX_NOMEM;
	c->limit = limit < FSST_SYMBOLS ? limit : FSST_SYMBOLS;
	sfx_fsst_fill((Fsst *) c->table, 0, NULL, 0);
	for (int round = 1; round <= ROUNDS; round++)
	{
		c->ncandidates = 0;
		memset(c->candidate, 0, sizeof(c->candidate));
		for (uint32_t k = 0; k < s.n; k += s.stride)
			propose_all(c, keys[k].key, keys[k].len, round == ROUNDS);
		take_best(c);
		leads = fill_table(c);
	}
	for (int round = 0; round < 2; round++)
	{
		drop_unused(c, &s);
		leads = fill_table(c);
	}
	return write_table(c, leads, dict, cap);
}
