/*
 * Unit tests of fsst.c and fsst_build.c, through the calls of hope.h that FSST has.
 */
#include "tap.h"

#include "fsst.h"

#define N		4000
#define MAXLEN	200

static uint8_t text[N][MAXLEN];
static SfxHopeKey keys[N];
static uint64_t seed = 1;

typedef enum Kind
{
	WORDS, ZEROS, RANDOM, LONG, NKINDS
} Kind;

static const char *const kind_name[] = {"words", "zeros and ones", "random bytes", "long repetitions"};

static void
make(Kind kind)
{
	static const char *const word[] = {"lib", "include", "share/", "doc/", "python3", ".so", "a", "x86_64-linux-gnu/", "\xFF\xFE", ""};

	for (int i = 0; i < N; i++)
	{
		uint32_t	len = 0;

		for (uint64_t k = rnd(&seed) % 6; k > 0 && len < MAXLEN / 2; k--)
			switch (kind)
			{
				case WORDS:
					for (const char *w = word[rnd(&seed) % 10]; *w; w++)
						text[i][len++] = (uint8_t) *w;
					break;
				case ZEROS:
					text[i][len++] = rnd(&seed) & 1;
					break;
				case RANDOM:
					text[i][len++] = (uint8_t) rnd(&seed);
					break;
				default:
					for (uint64_t n = rnd(&seed) % 40; n > 0 && len < MAXLEN / 2; n--)
						text[i][len++] = (uint8_t) ('a' + k);
			}
		keys[i] = (SfxHopeKey) {text[i], len};
	}
}

static SfxHope *
open_table(const uint8_t *dict, size_t len)
{
	size_t		size = sfx_hope_state_size(dict, len);
	SfxHope    *h = malloc(size);

	if (size > 0 && sfx_hope_open(h, size, dict, len) == SFX_OK)
		return h;
	free(h);
	return NULL;
}

static int
build(uint32_t n, uint8_t *dict, size_t cap)
{
	size_t		size = sfx_hope_build_size(SFX_FSST, 0, 0);
	void	   *scratch = malloc(size);
	int			len = sfx_hope_build(SFX_FSST, FSST_SYMBOLS, keys, n, scratch, size, dict, cap);

	free(scratch);
	return len;
}

static int
sign(int c)
{
	return (c > 0) - (c < 0);
}

static uint8_t dict[SFX_HOPE_DICT_BOUND(SFX_FSST, FSST_SYMBOLS)];

/*
 * Whatever a table was made from, any string is decoded to itself, compares as itself, and fits
 * into its bound.
 */
static void
test_kind(Kind sample, Kind kind)
{
	SfxHope    *h;
	size_t		raw = 0,
				coded = 0;
	bool		back_ok = true,
				room_ok = true,
				compare_ok = true;
	int			len;

	make(sample);
	len = build(N, dict, sizeof(dict));
	h = len > 0 ? open_table(dict, (size_t) len) : NULL;
	make(kind);
	for (int i = 0; i < N && h; i++)
	{
		const SfxHopeKey *k = &keys[i],
				   *t = &keys[rnd(&seed) % N];
		uint8_t		code[2 * MAXLEN],
					back[8 * 2 * MAXLEN];
		int			n = sfx_hope_encode(h, k->key, k->len, code, sizeof(code)),
					side;
		size_t		lcp;

		raw += k->len;
		coded += (size_t) n;
		room_ok &= n >= 0 && (size_t) n <= 2 * k->len &&
			(n == 0 || sfx_hope_encode(h, k->key, k->len, back, (size_t) n - 1) == SFX_NOSPACE) &&
			sfx_hope_encode(h, k->key, k->len, back, (size_t) n) == n &&
			(k->len == 0 || sfx_hope_decode(h, code, (size_t) n, back, k->len - 1) == SFX_NOSPACE);
		back_ok &= sfx_hope_decode(h, code, (size_t) n, back, k->len) == (int) k->len && memcmp(back, k->key, k->len) == 0 &&
			sfx_hope_decode_within(h, code, (size_t) n, sizeof(code), back, sizeof(back)) == (int) k->len && memcmp(back, k->key, k->len) == 0;
		compare_ok &= sfx_hope_compare(h, code, (size_t) n, sizeof(code), t->key, t->len, 0, &lcp, &side) == SFX_OK &&
			lcp == sfx_lcp(k->key, k->len, t->key, t->len) &&
			sign(side) == (lcp == k->len ? 0 : sign(sfx_cmp_bytes(k->key, k->len, t->key, t->len)));
	}
	ok(h != NULL && back_ok && room_ok && compare_ok, "%s with a table of %s, %d bytes: %zu bytes in %zu; round trip %d, room %d, comparisons %d",
	   kind_name[kind], kind_name[sample], len, raw, coded, back_ok, room_ok, compare_ok);
	if (sample == kind && kind != RANDOM)
		ok(2 * coded < raw, "%s take less than half", kind_name[kind]);
	free(h);
}

/*
 * A code that is known for another start, before the key's or after it, is used as far as possible.
 * (If words are cut anywhere, they take a quarter more that way; in leaves one key in ten is cut.)
 */
static void
test_again(void)
{
	int			len;
	SfxHope    *h;
	size_t		fresh = 0,
				again = 0;
	bool		back_ok = true,
				room_ok = true;

	make(WORDS);
	len = build(N, dict, sizeof(dict));
	h = open_table(dict, (size_t) len);
	for (int i = 0; i < N; i++)
	{
		uint32_t	n = keys[i].len,
					from = (uint32_t) (rnd(&seed) % (n + 1)),
					known = (uint32_t) (rnd(&seed) % (n + 1));
		uint8_t		code[2 * MAXLEN],
					out[4 * MAXLEN],
					back[MAXLEN];
		int			codelen = sfx_hope_encode(h, keys[i].key + known, n - known, code, sizeof(code));
		int			r = sfx_fsst_encode_again((const Fsst *) h, keys[i].key + from, n - from, code, (size_t) codelen, (int) known - (int) from,
											  out, sizeof(out));

		back_ok &= sfx_hope_decode(h, out, (size_t) r, back, n - from) == (int) (n - from) && memcmp(back, keys[i].key + from, n - from) == 0;
		room_ok &= r == 0 || sfx_fsst_encode_again((const Fsst *) h, keys[i].key + from, n - from, code, (size_t) codelen, (int) known - (int) from,
												   back, (size_t) r - 1) == SFX_NOSPACE;
		again += (size_t) r;
		fresh += (size_t) sfx_hope_encode(h, keys[i].key + from, n - from, out, sizeof(out));
	}
	ok(back_ok && room_ok && again >= fresh && again < fresh + fresh / 3, "codes made of known ones: %zu bytes, %zu without; round trip %d, room %d", again, fresh,
	   back_ok, room_ok);
	free(h);
}

static void
test_making(void)
{
	static uint8_t again[sizeof(dict)];
	int			len;
	SfxHope    *h;
	uint8_t		out[8];

	make(WORDS);
	len = build(N, dict, sizeof(dict));
	ok(len > 0 && build(N, again, sizeof(again)) == len && memcmp(dict, again, (size_t) len) == 0, "the same sample makes the same table");
	ok(build(N, again, (size_t) len - 1) == SFX_NOSPACE && build(N, again, 2) == SFX_NOSPACE, "a table needs room");
	ok(sfx_hope_build(SFX_FSST, FSST_SYMBOLS, keys, N, dict, 8, again, sizeof(again)) == SFX_NOMEM, "and scratch memory");
	len = build(0, dict, sizeof(dict));
	h = open_table(dict, (size_t) len);
	ok(h && sfx_hope_scheme(h) == SFX_FSST && sfx_hope_intervals(h) == 0 && sfx_hope_encode(h, (const uint8_t *) "ab", 2, out, 8) == 4,
	   "without a sample all bytes are escaped");
	free(h);
}

/* Damaged tables open as complete ones or not at all; codes of nothing are errors. */
static void
test_damage(void)
{
	int			len,
				opened = 0,
				odd = 0;

	make(WORDS);
	len = build(200, dict, sizeof(dict));
	for (int cut = 0; cut < len; cut++)
		odd += open_table(dict, (size_t) cut) != NULL;
	ok(odd == 0, "a table that was cut off is corrupt");
	odd = 0;
	for (int i = 0; i < len; i++)
	{
		uint8_t		was = dict[i];
		SfxHope    *h;

		dict[i] ^= (uint8_t) (1 + rnd(&seed) % 255);
		h = open_table(dict, (size_t) len);
		dict[i] = was;
		if (h == NULL)
			continue;
		opened++;
		for (int k = 0; k < 50; k++)
		{
			uint8_t		code[400],
						back[400];
			int			n = sfx_hope_encode(h, keys[k].key, keys[k].len, code, sizeof(code));

			odd += sfx_hope_decode(h, code, (size_t) n, back, sizeof(back)) != (int) keys[k].len || memcmp(back, keys[k].key, keys[k].len) != 0;
		}
		free(h);
	}
	ok(odd == 0 && opened > 0, "%d tables with one other byte open, and code all keys", opened);
	{
		SfxHope    *h = open_table(dict, (size_t) len);
		uint8_t		odd_code[4][9] = {{FSST_ESCAPE}, {0}, {0, 0, FSST_ESCAPE, 'x', 0, 0, 0, 0, FSST_ESCAPE}, {FSST_ONES(0) - FSST_LEADS, 'a'}},
					back[400],
					slow[400];
		static const int odd_len[] = {1, 1, 9, 2};
		bool		same = true;
		size_t		lcp;
		int			side;

		/* with and without room for decoding without checks */
		for (int i = 0; i < 4; i++)
		{
			int			n = sfx_hope_decode(h, odd_code[i], (size_t) odd_len[i], back, sizeof(back));
			int			m = sfx_hope_decode(h, odd_code[i], (size_t) odd_len[i], slow, 16);

			same &= n >= 0 && m == n && memcmp(back, slow, (size_t) n) == 0 &&
				sfx_hope_compare(h, odd_code[i], (size_t) odd_len[i], sizeof(odd_code[i]), back, (size_t) n, 0, &lcp, &side) == SFX_OK && side == 0 && lcp == (size_t) n;
		}
		ok(same && sfx_hope_decode(h, odd_code[2], 9, back, 0) == SFX_NOSPACE && sfx_hope_decode(h, odd_code[2], 9, back, 2) == 2 &&
		   back[0] == 'x' && back[1] == 0, "codes of nothing, and leads at the end, are read alike by all");
		free(h);
	}
}

int
main(void)
{
	for (int s = 0; s < NKINDS; s++)
		for (int k = 0; k < NKINDS; k++)
			test_kind((Kind) s, (Kind) k);
	test_again();
	test_making();
	test_damage();
	return done_testing();
}
