/*
 * Unit test of tailcode: codes keep the order of strings, whatever follows them, and are decoded to
 * the strings.
 */
#include "tailcode.h"
#include "tap.h"

#define MAXLEN	3000
#define N		150

static SfxTailModel model;
static uint64_t seed = 7;
static uint8_t str[N][MAXLEN];
static uint32_t len[N];
static uint8_t code[N][2 * MAXLEN];
static int	codelen[N];

/*
 * Strings of few letters, of many, and repeated ones, each ended by 0 and so no prefix of another
 * one.
 */
static void
make(int i, uint32_t from, int kind)
{
	uint32_t	n = from + (uint32_t) (rnd(&seed) % (MAXLEN - from - 1));
	uint32_t	period = 1 + (uint32_t) (rnd(&seed) % 40);

	if (i > 0 && rnd(&seed) % 2)
	{
		/* one that differs from another in a byte or in its length */
		uint32_t	other = (uint32_t) (rnd(&seed) % (uint64_t) i);

		memcpy(str[i], str[other], MAXLEN);
		n = len[other] - 1;
		if (n > from && rnd(&seed) % 2)
			n = from + (uint32_t) (rnd(&seed) % (n - from));
		else if (n > from)
		{
			uint8_t    *p = &str[i][from + rnd(&seed) % (n - from)];

			*p = (uint8_t) (*p + (rnd(&seed) % 2 ? 1 : -1));
			if (*p == 0)
				*p = 1;
		}
	}
	else
		for (uint32_t k = from; k < n; k++)
			str[i][k] = kind == 0 ? (uint8_t) (1 + rnd(&seed) % 255) : kind == 1 ? (uint8_t) (97 + rnd(&seed) % 3) :
				k < from + period ? (uint8_t) (97 + rnd(&seed) % 26) : str[i][k - period];
	str[i][n] = 0;
	len[i] = n + 1;
}

static int
sign(int c)
{
	return (c > 0) - (c < 0);
}

static int
order(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen)
{
	return sign(sfx_cmp_bytes(a, alen, b, blen));
}

static void
test_kind(uint32_t from, int kind, const char *name)
{
	static uint8_t back[sizeof(code[0])];	/* codes can be longer than their strings */
	int			bad_order = 0,
				bad_prefix = 0,
				bad_back = 0,
				bad_room = 0;

	for (uint32_t k = 0; k < from; k++)
		str[0][k] = (uint8_t) (97 + rnd(&seed) % 20);
	for (int i = 0; i < N; i++)
	{
		memcpy(str[i], str[0], from);
		make(i, from, kind);
		codelen[i] = sfx_tail_encode(&model, str[i], from, len[i], code[i], sizeof(code[i]));
		memcpy(back, str[i], from);
		memset(back + from, 0xAA, sizeof(back) - from);
		sfx_tail_decode(&model, code[i], (uint32_t) codelen[i], back, from, len[i]);
		bad_back += memcmp(back, str[i], len[i]) != 0;
		bad_room += sfx_tail_encode(&model, str[i], from, len[i], code[i], (uint32_t) codelen[i]) != codelen[i] ||
			(codelen[i] > 1 && sfx_tail_encode(&model, str[i], from, len[i], back, (uint32_t) codelen[i] - 1) != SFX_NOSPACE);
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < i; j++)
		{
			int			want = order(str[i], len[i], str[j], len[j]);
			size_t		least = (size_t) (codelen[i] < codelen[j] ? codelen[i] : codelen[j]);

			bad_order += order(code[i], (size_t) codelen[i], code[j], (size_t) codelen[j]) != want;
			bad_prefix += want != 0 && memcmp(code[i], code[j], least) == 0;
		}
	ok(bad_order == 0, "%s behind %u: codes are in the order of strings (%d are not)", name, from, bad_order);
	ok(bad_prefix == 0, "%s behind %u: no code is a prefix of another one (%d are)", name, from, bad_prefix);
	ok(bad_back == 0, "%s behind %u: strings come back (%d do not)", name, from, bad_back);
	ok(bad_room == 0, "%s behind %u: room is kept to (%d times not)", name, from, bad_room);
}

static void
test_sizes(void)
{
	static uint8_t s[100000];
	static uint8_t c[100000];
	int			n;

	memset(s, 'a', sizeof(s));
	n = sfx_tail_encode(&model, s, 512, sizeof(s), c, sizeof(c));
	ok(n > 0 && n < 40, "100,000 equal bytes: %d", n);
	for (size_t i = 0; i < sizeof(s); i++)
		s[i] = (uint8_t) rnd(&seed);
	n = sfx_tail_encode(&model, s, 512, 20512, c, sizeof(c));
	ok(n > 19900 && n < 20100, "20,000 random bytes: %d", n);
	for (size_t i = 0; i < sizeof(s); i++)
		s[i] = (uint8_t) "0123456789abcdef"[rnd(&seed) % 16];
	n = sfx_tail_encode(&model, s, 512, 20512, c, sizeof(c));
	ok(n > 9900 && n < 11000, "20,000 hexadecimal digits: %d", n);
}

/* The same bytes on every machine: the code is a format. */
static void
test_format(void)
{
	static uint8_t s[2000];
	static uint8_t c[2000];
	uint32_t	hash = 0;
	int			n;

	for (size_t i = 0; i < sizeof(s); i++)
		s[i] = (uint8_t) ("the code of these bytes is stored "[i % 34] + (i * i % 97 == 1));
	n = sfx_tail_encode(&model, s, 100, sizeof(s), c, sizeof(c));
	for (int i = 0; i < n; i++)
		hash = hash * 31 + c[i];
	ok(n == 110 && hash == 1060663702u, "the format is as it was: %d bytes, %u", n, hash);
}

int
main(void)
{
	static const uint32_t from[] = {0, 3, 100, 1024};

	sfx_tail_init(&model);
	for (int i = 0; i < 4; i++)
	{
		test_kind(from[i], 0, "many letters");
		test_kind(from[i], 1, "three letters");
		test_kind(from[i], 2, "repetitions");
	}
	test_sizes();
	test_format();
	return done_testing();
}
