/*-------------------------------------------------------------------------
 * fsst_build.c - making a table of symbols from a sample (section 4.2 of the paper)
 *
 * The sample is coded with the table at hand, at first an empty one; each symbol that was used, each two that followed one another, and the
 * first byte of each is a candidate for the next table, which takes those that cover most bytes.  After five rounds the symbols are long ones.
 *-------------------------------------------------------------------------
 */
#include "fsst.h"

#define FSST_SAMPLE		(128 * 1024)	/* bytes of the sample that are looked at, about */
#define ROUNDS			5
#define CODES			512		/* symbols, and from 256 on bytes */
#define BYTE_CODE(b)	(256 + (uint32_t) (b))
#define MIN_USES		3		/* of two symbols, to be a candidate as one */
#define BYTE_WORTH		8		/* a byte without a symbol costs an escape, and takes part in all symbols to come */
#define CANDIDATE_BITS	15
#define MAX_CANDIDATES	(1u << CANDIDATE_BITS)

typedef struct Candidate
{
	uint64_t	word;
	uint32_t	gain;			/* bytes of the sample that it covers */
	uint32_t	len;			/* 0: empty */
} Candidate;

typedef struct Scratch
{
	Fsst		f;
	uint32_t	uses[CODES];
	uint32_t	pairs[CODES][CODES];
	uint32_t	ncandidates;
	Candidate	candidate[MAX_CANDIDATES];
} Scratch;

size_t
sfx_fsst_build_size(void)
{
	return sizeof(Scratch);
}

/* ---- counting ---- */

/* Of so many keys one is counted, so that they have FSST_SAMPLE bytes, from all parts of the sample. */
static uint32_t
sample_stride(const SfxHopeKey *keys, uint32_t nkeys)
{
	uint64_t	bytes = 0;

	for (uint32_t k = 0; k < nkeys; k++)
		bytes += keys[k].len;
	return (uint32_t) (bytes / FSST_SAMPLE) + 1;
}

static void
count_string(Scratch *c, const uint8_t *p, size_t len)
{
	uint32_t	before = CODES;

	for (size_t i = 0; i < len;)
	{
		size_t		left = len - i;
		uint32_t	s = fsst_longest(&c->f, sfx_load64_avail(p + i, left), left < 8 ? left : 8),
					n = 1;

		if (s == FSST_ESCAPE)
			s = BYTE_CODE(p[i]);
		else
			n = c->f.len[s];
		c->uses[s]++;
		if (before < CODES)
			c->pairs[before][s]++;
		if (n > 1)
		{
			/* the first byte alone, so that symbols can become shorter, too */
			c->uses[BYTE_CODE(p[i])]++;
			if (before < CODES)
				c->pairs[before][BYTE_CODE(p[i])]++;
		}
		before = s;
		i += n;
	}
}

static void
count_sample(Scratch *c, const SfxHopeKey *keys, uint32_t nkeys, uint32_t stride)
{
	size_t		bytes = 0;

	memset(c->uses, 0, sizeof(c->uses));
	memset(c->pairs, 0, sizeof(c->pairs));
	for (uint32_t k = 0; k < nkeys && bytes < FSST_SAMPLE; k += stride)
	{
		size_t		len = keys[k].len < FSST_SAMPLE - bytes ? keys[k].len : FSST_SAMPLE - bytes;

		count_string(c, keys[k].key, len);
		bytes += len;
	}
}

/* ---- candidates ---- */

static void
propose(Scratch *c, uint64_t word, uint32_t len, uint32_t gain)
{
	uint32_t	at = (uint32_t) ((word * UINT64_C(0x9E3779B97F4A7C15) ^ len) >> 32) & (MAX_CANDIDATES - 1);

	while (c->candidate[at].len != 0 && (c->candidate[at].word != word || c->candidate[at].len != len))
		at = (at + 1) & (MAX_CANDIDATES - 1);
	if (c->candidate[at].len == 0)
	{
		/* the table is searched to the first gap, so it must have some */
		if (c->ncandidates >= MAX_CANDIDATES / 4 * 3)
			return;
		c->ncandidates++;
		c->candidate[at] = (Candidate) {word, 0, len};
	}
	c->candidate[at].gain += gain;
}

static void
code_bytes(const Fsst *f, uint32_t code, uint64_t *word, uint32_t *len)
{
	*word = code < 256 ? f->word[code] : code - 256;
	*len = code < 256 ? f->len[code] : 1;
}

static void
propose_all(Scratch *c, bool last)
{
	uint64_t	a,
				b;
	uint32_t	alen,
				blen;

	memset(c->candidate, 0, sizeof(c->candidate));
	c->ncandidates = 0;
	for (uint32_t s = 0; s < CODES; s++)
	{
		if (c->uses[s] == 0)
			continue;
		code_bytes(&c->f, s, &a, &alen);
		propose(c, a, alen, c->uses[s] * alen * (alen == 1 ? BYTE_WORTH : 1));
	}
	for (uint32_t s = 0; s < CODES && !last; s++)
		for (uint32_t t = 0; t < CODES && c->uses[s] > 0; t++)
		{
			if (c->pairs[s][t] < MIN_USES)
				continue;
			code_bytes(&c->f, s, &a, &alen);
			code_bytes(&c->f, t, &b, &blen);
			if (alen == FSST_MAXSYM)
				continue;
			blen = blen < FSST_MAXSYM - alen ? blen : FSST_MAXSYM - alen;
			propose(c, a | (b & sfx_mask(8 * blen)) << (8 * alen), alen + blen, c->pairs[s][t] * (alen + blen));
		}
}

/* Is a to be taken before b? */
static bool
better(const Candidate *a, const Candidate *b)
{
	if (a->gain != b->gain)
		return a->gain > b->gain;
	return a->len != b->len ? a->len > b->len : a->word < b->word;
}

/* Restore the heap v[0..n), whose worst candidate stands first, below i. */
static void
sift(Candidate *v, uint32_t n, uint32_t i)
{
	for (uint32_t k; (k = 2 * i + 1) < n; i = k)
	{
		Candidate	t = v[i];

		if (k + 1 < n && better(&v[k], &v[k + 1]))
			k++;
		if (!better(&t, &v[k]))
			break;
		v[i] = v[k];
		v[k] = t;
	}
}

/* The best candidates become the symbols of the next table, by their bytes. */
static void
take_best(Scratch *c)
{
	Candidate	best[FSST_SYMBOLS];
	uint32_t	n = 0;

	for (uint32_t i = 0; i < MAX_CANDIDATES; i++)
	{
		const Candidate *x = &c->candidate[i];

		if (x->len == 0)
			continue;
		if (n < FSST_SYMBOLS)
		{
			best[n++] = *x;
			for (uint32_t k = n / 2; n == FSST_SYMBOLS && k-- > 0;)
				sift(best, n, k);
		}
		else if (better(x, &best[0]))
		{
			best[0] = *x;
			sift(best, n, 0);
		}
	}
	/* in one order, whatever order they came in */
	for (uint32_t i = 1; i < n; i++)
	{
		Candidate	x = best[i];
		uint32_t	k = i;

		for (; k > 0 && better(&x, &best[k - 1]); k--)
			best[k] = best[k - 1];
		best[k] = x;
	}
	memset(&c->f, 0, sizeof(c->f));
	c->f.nsymbols = n;
	for (uint32_t i = 0; i < n; i++)
	{
		c->f.word[i] = best[i].word;
		c->f.len[i] = (uint8_t) best[i].len;
	}
}

/* ---- the table ---- */

static int
write_table(const Fsst *f, uint8_t *dict, size_t cap)
{
	size_t		used = 3 + f->nsymbols;

	for (uint32_t s = 0; s < f->nsymbols; s++)
		used += f->len[s];
	if (used > cap)
		return SFX_NOSPACE;
	dict[0] = HOPE_MAGIC;
	dict[1] = SFX_FSST;
	dict[2] = (uint8_t) f->nsymbols;
	used = 3 + f->nsymbols;
	for (uint32_t s = 0; s < f->nsymbols; s++)
	{
		dict[3 + s] = f->len[s];
		sfx_store_bytes(dict + used, f->word[s], f->len[s]);
		used += f->len[s];
	}
	return (int) used;
}

int
sfx_fsst_build(const SfxHopeKey *keys, uint32_t nkeys, void *scratch, size_t size, uint8_t *dict, size_t cap)
{
	Scratch    *c = scratch;
	uint32_t	stride = sample_stride(keys, nkeys);
	int			len = SFX_NOSPACE;

	if (size < sizeof(Scratch))
		return SFX_NOMEM;
	memset(&c->f, 0, sizeof(c->f));
	for (int round = 1; round <= ROUNDS; round++)
	{
		count_sample(c, keys, nkeys, stride);
		propose_all(c, round == ROUNDS);
		take_best(c);
		len = write_table(&c->f, dict, cap);
		if (len < 0 || sfx_fsst_open(&c->f, dict, (size_t) len) < 0)
			return SFX_NOSPACE;
	}
	return len;
}
