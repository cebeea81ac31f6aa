/*
 * HOPE: order, injectivity, round trips, bounds, batches and dictionaries of all schemes;
 * optimality of the codes.
 */
#include "hope_format.h"
#include "tap.h"

#define NKEYS		3000
#define TEXT		(1 << 17)
#define LIMIT		4096

static const char *const scheme_name[] = {"", "Single-Char", "Double-Char", "3-Grams", "4-Grams", "ALM", "ALM-Improved"};
static uint64_t seed = 20;

/* ---- key sets ---- */

typedef struct Set
{
	const char *name;
	uint8_t		text[TEXT];
	SfxHopeKey	keys[NKEYS];
	uint32_t	used,
				n;
} Set;

typedef enum Kind
{
	NOTHING, WORDS, BINARY, ZEROS, HIGH, LONG, NKINDS
} Kind;

static void
add(Set *s, const void *p, uint32_t len)
{
	if (s->n == NKEYS || len > TEXT - s->used)
		return;
	if (len > 0)
		memcpy(s->text + s->used, p, len);
	s->keys[s->n++] = (SfxHopeKey) {s->text + s->used, len};
	s->used += len;
}

static int
compare(const void *a, const void *b)
{
	const SfxHopeKey *x = a,
			   *y = b;

	return sfx_cmp_bytes(x->key, x->len, y->key, y->len);
}

/* A string of bytes out of few or many different ones, with repetitions. */
static uint32_t
make_key(Kind kind, uint8_t *p)
{
	static const char *const word[] = {"com.gmail@", "http://www.", "index", ".html", "an", "a", "abc", "abcd",
	"/usr/share/doc/", "\xff\xff"};
	static const uint8_t zeros[] = {0, 0, 0, 1, 'k', 0, 0xFF},
				high[] = {0xFF, 0xFF, 0xFF, 0xFE, 0, 'z', 0xFF};
	uint32_t	len = 0,
				want = kind == LONG ? 200 + (uint32_t) (rnd(&seed) % 600) : (uint32_t) (rnd(&seed) % 20);

	while (len < want)
	{
		uint64_t	x = rnd(&seed);

		if (kind == WORDS || (kind == LONG && x % 4 > 0))
		{
			const char *w = word[(x >> 8) % 10];

			memcpy(p + len, w, strlen(w));
			len += (uint32_t) strlen(w);
			if (x % 3 == 0)
				p[len++] = (uint8_t) ('a' + (x >> 20) % 26);
		}
		else if (kind == ZEROS)
			p[len++] = zeros[x % 7];
		else if (kind == HIGH)
			p[len++] = high[x % 7];
		else
			p[len++] = (uint8_t) (x >> 40);
	}
	return len;
}

/*
 * Keys of one kind, prefixes of some of them, and these with a smallest or largest byte appended.
 */
static void
make_set(Set *s, Kind kind)
{
	static const char *const names[] = {"nothing", "words", "binary", "zero bytes", "0xFF bytes", "long keys"};
	uint8_t		key[1024] = {0};
	uint32_t	len;

	s->name = names[kind];
	s->n = s->used = 0;
	for (int i = 0; i < NKEYS / 4 && kind != NOTHING; i++)
	{
		len = make_key(kind, key);
		add(s, key, len);
		len = len > 0 ? (uint32_t) (rnd(&seed) % len) : 0;
		add(s, key, len);
		key[len] = 0;
		add(s, key, len + 1);
		key[len] = 0xFF;
		add(s, key, len + 1);
	}
	qsort(s->keys, s->n, sizeof(SfxHopeKey), compare);
}

/* ---- dictionaries ---- */

static int
build(SfxHopeScheme scheme, const Set *sample, uint8_t **dict)
{
	size_t		cap = SFX_HOPE_DICT_BOUND(scheme, LIMIT),
				size = sfx_hope_build_size(scheme, LIMIT, sample->used);
	void	   *scratch = malloc(size);
	int			len;

	*dict = malloc(cap);
	memset(scratch, 0xA5, size);
	len = sfx_hope_build(scheme, LIMIT, sample->keys, sample->n, scratch, size, *dict, cap);
	free(scratch);
	return len;
}

static SfxHope *
open_dict(const uint8_t *dict, int len)
{
	size_t		size = sfx_hope_state_size(dict, (size_t) len);
	SfxHope    *h;

	if (size == 0)
		return NULL;
	h = calloc(1, size);
	if (sfx_hope_open(h, size, dict, (size_t) len) == SFX_OK)
		return h;
	free(h);
	return NULL;
}

static SfxHope *
make_dict(SfxHopeScheme scheme, const Set *sample)
{
	uint8_t    *dict;
	int			len = build(scheme, sample, &dict);
	SfxHope    *h = open_dict(dict, len);

	free(dict);
	return h;
}

/* ---- properties of a dictionary on a set of keys ---- */

typedef struct Result
{
	bool		order,			/* as that of the keys, and equal only if they are */
				round_trip,
				bounded;		/* one byte less is refused */
} Result;

static int
sign(int c)
{
	return (c > 0) - (c < 0);
}

/* Does the code of k compare with the string t as k does? */
static bool
compares(const SfxHope *h, const uint8_t *code, size_t len, const SfxHopeKey *k, const SfxHopeKey *t)
{
	size_t		lcp;
	int			side;

	return sfx_hope_compare(h, code, len, len, t->key, t->len, 0, &lcp, &side) == SFX_OK &&
		lcp == sfx_lcp(k->key, k->len, t->key, t->len) &&
		sign(side) == (lcp == k->len ? 0 : sign(compare(k, t)));
}

static Result
check_set(const SfxHope *h, const Set *s)
{
	static uint8_t enc[4 * TEXT],
				back[TEXT];
	static uint32_t end[NKEYS];
	Result		r = {true, true, true};
	uint32_t	at = 0;
	int			n;

	for (uint32_t i = 0; i < s->n; i++)
	{
		const SfxHopeKey *k = &s->keys[i];

		n = sfx_hope_encode(h, k->key, k->len, enc + at, sizeof(enc) - at);
		r.bounded &= n >= 0;
		if (n < 0)
			return r;
		end[i] = at + (uint32_t) n;
		r.bounded &= sfx_hope_encode(h, k->key, k->len, back, (size_t) n) == n;
		r.bounded &= n == 0 || sfx_hope_encode(h, k->key, k->len, back, (size_t) n - 1) == SFX_NOSPACE;
		r.round_trip &= sfx_hope_decode(h, enc + at, (size_t) n, back, sizeof(back)) == (int) k->len;
		r.round_trip &= k->len == 0 || memcmp(back, k->key, k->len) == 0;
		memset(back, 0, k->len);
		r.round_trip &= sfx_hope_decode(h, enc + at, (size_t) n, back, k->len) == (int) k->len;
		r.round_trip &= compares(h, enc + at, (size_t) n, k, i > 0 ? &k[-1] : k) && compares(h, enc + at, (size_t) n, k, k);
		r.round_trip &= k->len == 0 || memcmp(back, k->key, k->len) == 0;
		r.bounded &= k->len == 0 || sfx_hope_decode(h, enc + at, (size_t) n, back, k->len - 1) == SFX_NOSPACE;
		if (i > 0)
		{
			uint32_t	prev = i > 1 ? end[i - 2] : 0;

			r.order &= sign(compare(k - 1, k)) == sign(sfx_cmp_bytes(enc + prev, at - prev, enc + at, (uint32_t) n));
		}
		at = end[i];
	}
	return r;
}

/* Whatever sample a dictionary was made from, it has all properties for all keys. */
static void
test_schemes(void)
{
	static Set	set[NKINDS];

	for (int kind = 0; kind < NKINDS; kind++)
		make_set(&set[kind], (Kind) kind);
	for (int scheme = 1; scheme <= SFX_HOPE_NSCHEMES; scheme++)
	{
		for (int k = 0; k < NKINDS; k++)
		{
			Result		all = {true, true, true};
			uint8_t    *dict,
					   *dict2;
			int			len = build((SfxHopeScheme) scheme, &set[k], &dict);
			SfxHope    *h = len > 0 ? open_dict(dict, len) : NULL;

			for (int j = 0; j < NKINDS && h; j++)
			{
				Result		r;

				/* all pairs only with the dictionaries that have most symbols */
				if (k != WORDS && k != ZEROS && j != k && j != ZEROS)
					continue;
				r = check_set(h, &set[j]);
				all.order &= r.order;
				all.round_trip &= r.round_trip;
				all.bounded &= r.bounded;
			}
			ok(h != NULL && all.order && all.round_trip && all.bounded,
			   "%s from %s: %u intervals, %d bytes; order %d, round trip %d, bounds %d",
			   scheme_name[scheme], set[k].name, h ? sfx_hope_intervals(h) : 0, len, all.order, all.round_trip,
			   all.bounded);
			if (k == WORDS)
			{
				ok(build((SfxHopeScheme) scheme, &set[k], &dict2) == len && memcmp(dict, dict2, (size_t) len) == 0 &&
				   sfx_hope_scheme(h) == (SfxHopeScheme) scheme && sfx_hope_intervals(h) <=
				   (scheme == SFX_HOPE_DOUBLE ? SFX_HOPE_MAX_INTERVALS : LIMIT),
				   "%s: the same sample makes the same dictionary", scheme_name[scheme]);
				free(dict2);
			}
			free(h);
			free(dict);
		}
	}
}

/* ---- every short string over a few bytes, in order ---- */

static void
test_all_short(void)
{
	static const uint8_t byte[] = {0, 1, 'a', 'b', 0xFE, 0xFF};
	static Set	set,
				words;
	uint8_t		key[4];

	set.n = set.used = 0;
	add(&set, key, 0);
	for (int len = 1; len <= 4; len++)
		for (int i = 0; i < (len == 1 ? 6 : len == 2 ? 36 : len == 3 ? 216 : 1296); i++)
		{
			for (int j = 0, x = i; j < len; j++, x /= 6)
				key[j] = byte[x % 6];
			add(&set, key, (uint32_t) len);
		}
	qsort(set.keys, set.n, sizeof(SfxHopeKey), compare);
	make_set(&words, ZEROS);
	for (int scheme = 1; scheme <= SFX_HOPE_NSCHEMES; scheme++)
	{
		bool		good = true;

		for (int k = 0; k < 2; k++)
		{
			SfxHope    *h = make_dict((SfxHopeScheme) scheme, k ? &words : &set);
			Result		r = check_set(h, &set);

			good &= r.order && r.round_trip && r.bounded;
			free(h);
		}
		ok(good, "%s: all %u strings of up to four bytes out of six", scheme_name[scheme], set.n);
	}
}

/* ---- truncated codes as separators ---- */

/*
 * A truncated encoding compares with all whole ones as a byte string between its neighbours does.
 */
static void
test_separators(void)
{
	static Set	set;
	static uint8_t enc[4 * TEXT];
	static uint32_t end[NKEYS];
	SfxHope    *h;
	bool		good = true;

	make_set(&set, WORDS);
	h = make_dict(SFX_HOPE_DOUBLE, &set);
	for (uint32_t i = 0, at = 0; i < set.n; i++)
		end[i] = at += (uint32_t) sfx_hope_encode(h, set.keys[i].key, set.keys[i].len, enc + at, sizeof(enc) - at);
	for (uint32_t i = 2; i < set.n; i++)
	{
		SfxPos		a = {enc + end[i - 2], end[i - 1] - end[i - 2], 0},
					b = {enc + end[i - 1], end[i] - end[i - 1], 0},
					s;

		if (compare(&set.keys[i - 1], &set.keys[i]) == 0)
			continue;
		s = sfx_separator(&a, &b);
		good &= sfx_cmp_pos(&a, &s) < 0 && sfx_cmp_pos(&s, &b) <= 0;
	}
	ok(good, "codes make separators");
	free(h);
}

/* ---- broken dictionaries and codes ---- */

static void
test_hostile(void)
{
	static Set	set;
	bool		sane = true;
	int			accepted = 0;

	make_set(&set, WORDS);
	for (int scheme = 1; scheme <= SFX_HOPE_NSCHEMES; scheme++)
	{
		uint8_t    *dict,
				   *copy;
		int			len = build((SfxHopeScheme) scheme, &set, &dict);
		SfxHope    *h = open_dict(dict, len);
		uint8_t		in[64],
					out[256];

		for (int i = 0; i < 2000; i++)
		{
			int			r;

			for (int j = 0; j < 64; j++)
				in[j] = (uint8_t) rnd(&seed);
			r = sfx_hope_decode(h, in, (size_t) i % 65, out, (size_t) i % 257);
			sane &= r >= SFX_NOSPACE && r <= i % 257;
		}
		for (int i = 0; i < 300; i++)
		{
			int			n = i < 150 ? len : (int) (rnd(&seed) % (uint64_t) len);

			/* a copy of its own, so that a sanitizer sees each byte beyond */
			copy = malloc((size_t) n + 1);
			memcpy(copy, dict, (size_t) n);
			if (i < 150)
				copy[rnd(&seed) % (uint64_t) (i < 75 ? 40 : len)] ^= (uint8_t) (1 << rnd(&seed) % 8);
			free(h);
			h = open_dict(copy, n);
			if (h && i >= 150)
				sane = false;
			if (h)
			{
				/* bytes that are accepted are a dictionary */
				Result		r = {true, true, true};

				accepted++;
				if (i % 8 == 0)
					r = check_set(h, &set);
				sane &= r.order && r.round_trip && r.bounded;
			}
			free(copy);
		}
		free(h);
		free(dict);
	}
	ok(sane, "broken dictionaries and codes: refused, or harmless (%d accepted)", accepted);
}

/* ---- codes ---- */

static uint64_t
cost(const uint64_t *w, const uint8_t *length, uint32_t n)
{
	uint64_t	sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += w[i] * length[i];
	return sum;
}

/*
 * The least cost by dynamic programming (Gilbert and Moore 1959, with Knuth's bounds on the roots:
 * O(n^2)).
 */
static uint64_t
least_cost(const uint64_t *w, uint32_t n)
{
	static uint64_t c[130][130],
				sum[130];
	static uint32_t root[130][130];

	sum[0] = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		sum[i + 1] = sum[i] + w[i];
		c[i][i] = 0;
		root[i][i] = i;
	}
	for (uint32_t d = 1; d < n; d++)
		for (uint32_t i = 0; i + d < n; i++)
		{
			uint32_t	j = i + d,
						hi = root[i + 1][j] < j ? root[i + 1][j] : j - 1;

			c[i][j] = UINT64_MAX;
			for (uint32_t k = root[i][j - 1]; k <= hi; k++)
				if (c[i][k] + c[k + 1][j] < c[i][j])
				{
					c[i][j] = c[i][k] + c[k + 1][j];
					root[i][j] = k;
				}
			c[i][j] += sum[j + 1] - sum[i];
		}
	return c[0][n - 1];
}

/* Weights of many shapes. */
static uint64_t
weight(int shape, uint32_t i, uint32_t n)
{
	switch (shape)
	{
		case 0:
			return 1;
		case 1:
			return rnd(&seed) % 3;
		case 2:
			return n - i;
		case 3:
			return i;
		case 4:
			return rnd(&seed) % 1000000;
		case 5:
			return UINT64_C(1) << (rnd(&seed) % 30);
		case 6:
			return i < 40 ? UINT64_C(1) << i : 1;
		case 7:
			return (i % 2 ? n - i : i) * 10;
		default:
			return rnd(&seed) % 100 < 95 ? 1 : rnd(&seed) % 100000;
	}
}

/* Lengths whose codes, left to right, add up to 1 are those of an alphabetic code. */
static bool
is_code(const uint8_t *length, uint32_t n, unsigned maxbits)
{
	uint32_t   *code = calloc(n, 4);
	bool		good = true;

	for (uint32_t i = 0; i < n; i++)
	{
		good &= length[i] <= maxbits;
		code[i] = length[i];
	}
	good &= sfx_hope_codes(code, n) == SFX_OK;
	free(code);
	return good;
}

static void
test_codes(void)
{
	uint64_t	w[130];
	uint8_t		length[130];
	void	   *scratch = malloc(sfx_hope_assign_size(130));
	bool		optimal = true,
				bounded = true;

	for (int shape = 0; shape < 9; shape++)
		for (uint32_t n = 1; n <= 130; n += 1 + n / 20)
			for (int again = 0; again < 4; again++)
			{
				for (uint32_t i = 0; i < n; i++)
					w[i] = weight(shape, i, n);
				sfx_hope_optimal_lengths(w, n, length, scratch);
				optimal &= cost(w, length, n) == least_cost(w, n);
				if (n > 1)
				{
					sfx_hope_assign(w, n, 9, length, scratch);
					bounded &= is_code(length, n, 9);
				}
			}
	ok(optimal, "Garsia-Wachs costs as little as dynamic programming");
	ok(bounded, "bounded lengths make a code");
	free(scratch);
}

/* As many weights as a dictionary can have. */
static void
test_large_codes(void)
{
	uint32_t	n = SFX_HOPE_MAX_INTERVALS;
	uint64_t   *w = malloc(8 * (size_t) n);
	uint8_t    *length = malloc(n);
	void	   *scratch = malloc(sfx_hope_assign_size(n));
	bool		good = true;

	for (int shape = 0; shape < 9; shape++)
	{
		for (uint32_t i = 0; i < n; i++)
			w[i] = weight(shape, i, n);
		sfx_hope_assign(w, n, SFX_HOPE_MAXBITS, length, scratch);
		good &= is_code(length, n, SFX_HOPE_MAXBITS);
	}
	ok(good, "codes of %u intervals of all shapes have at most %d bits", n, SFX_HOPE_MAXBITS);
	free(w);
	free(length);
	free(scratch);
}

/* ---- limits of memory ---- */

static void
test_limits(void)
{
	static Set	set;
	uint8_t		dict[SFX_HOPE_DICT_BOUND(SFX_HOPE_DOUBLE, 0)];
	size_t		size;
	void	   *scratch;
	int			len;

	make_set(&set, BINARY);
	size = sfx_hope_build_size(SFX_HOPE_DOUBLE, LIMIT, set.used);
	scratch = malloc(size);
	ok(sfx_hope_build(SFX_HOPE_DOUBLE, LIMIT, set.keys, set.n, scratch, size - 1, dict, sizeof(dict)) == SFX_NOMEM,
	   "too little scratch memory");
	len = sfx_hope_build(SFX_HOPE_DOUBLE, LIMIT, set.keys, set.n, scratch, size, dict, sizeof(dict));
	ok(len > 0, "a Double-Char dictionary of random pairs has %d bytes", len);
	ok(sfx_hope_build(SFX_HOPE_DOUBLE, LIMIT, set.keys, set.n, scratch, size, dict, (size_t) len - 1) == SFX_NOSPACE,
	   "a byte too little for the dictionary");
	len = sfx_hope_build(SFX_HOPE_DOUBLE, LIMIT, set.keys, set.n, scratch, size, dict, sizeof(dict));
	ok(sfx_hope_open(scratch, sfx_hope_state_size(dict, (size_t) len) - 1, dict, (size_t) len) == SFX_NOMEM,
	   "a byte too little for the state");
	free(scratch);
}

int
main(void)
{
	test_codes();
	test_large_codes();
	test_schemes();
	test_all_short();
	test_separators();
	test_hostile();
	test_limits();
	return done_testing();
}
