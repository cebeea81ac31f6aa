/*
 * test_strcolumn.c - cut keys with a column of shared lengths: they are decoded to themselves,
 * whole and in parts, searches end where they should, and damage does no harm; on all levels of
 * processors
 */
#include "strblock.h"
#include "tap.h"

#define N		SFX_BLOCK_KEYS
#define ROOM	(N * 400)

static uint64_t seed = 11;
static uint8_t bytes[ROOM + 16];
static uint32_t off[N + 1];
static uint16_t lcp[N];
static int	n;
static uint32_t skip;

static uint8_t stream[ROOM];
static int	len;
static int	columns,
			refused,
			with_over,
			with_longer,
			raw_rests;

static uint64_t
below(uint64_t limit)
{
	return rnd(&seed) % limit;
}

static const uint8_t *
key(int i, uint32_t *keylen)
{
	*keylen = off[i + 1] - off[i];
	return bytes + off[i];
}

/*
 * Keys in order, none of them the beginning of another one: each shares some bytes with the
 * previous one, has a greater one after them, and perhaps more.
 */
static void
make(int kind)
{
	uint32_t	letters = kind % 4 == 0 ? 256 : kind % 4 == 1 ? 2 : kind % 4 == 2 ? 40 : 90;
	uint32_t	base = letters == 256 ? 0 : 33 + (uint32_t) below(20);
	uint32_t	depth = kind % 5 == 0 ? 150 : kind % 5 == 1 ? 3 : 12;
	uint32_t	keylen = 0;
	uint8_t		now[400];

	skip = (uint32_t) below(3) * 5;
	memset(now, 'p', skip);
	n = 0;
	off[0] = 0;
	for (int want = 1 + (int) below(N); n < want;)
	{
		uint32_t	at = skip + (uint32_t) below(depth),
					more = kind % 3 == 0 ? 0 : (uint32_t) below(kind % 7 == 0 ? 90 : 4);

		if (n == 0)
		{
			at = skip;
			now[at] = (uint8_t) base;
		}
		else
		{
			/* (so that it does not begin with the previous one) */
			at = at < keylen ? at : keylen - 1;
			while (at > skip && now[at] >= base + letters - 1)
				at--;
			if (now[at] >= base + letters - 1)
				break;
			now[at] = (uint8_t) (now[at] + 1 + below(1 + (base + letters - 2 - now[at]) / 8));
		}
		lcp[n] = (uint16_t) at;
		keylen = at + 1;
		while (more-- > 0 && keylen < sizeof(now))
			now[keylen++] = (uint8_t) (base + below(letters));
		memcpy(bytes + off[n], now, keylen);
		off[n + 1] = off[n] + keylen;
		n++;
	}
}

/*
 * Cut as a leaf would: each key one byte after what it shares with its neighbours, some keys not.
 */
static void
cut(int kind)
{
	uint32_t	at = 0;

	for (int i = 0; i < n; i++)
	{
		uint32_t	keylen;
		const uint8_t *k = key(i, &keylen);
		uint32_t	need = i > 0 ? lcp[i] : 0;

		if (i + 1 < n && lcp[i + 1] > need)
			need = lcp[i + 1];
		need = (need > skip ? need : skip) + 1;
		if (kind % 4 == 3 && below(9) == 0)
			need += (uint32_t) below(50);
		need = need < keylen ? need : keylen;
		memmove(bytes + at, k, need);
		off[i] = at;
		at += need;
	}
	off[n] = at;
	/* (the keys are moved down over one another) */
}

static bool
encode(void)
{
	SfxKeys		k = {bytes, off, lcp, n, skip, 0, NULL};
	bool		surely;

	len = sfx_strcol_encode(&k, stream, sizeof(stream), &surely);
	if (len < 0)
	{
		refused++;
		return false;
	}
	columns++;
	with_over += stream[3] > 0;
	with_longer += stream[4] > 0;
	raw_rests += stream[1] >> 4 == 8;
	return true;
}

static const char *
check_parts(const SfxStr *s)
{
	static uint8_t out[ROOM + 1000];
	uint32_t	bound[N + 1];

	for (int t = 0; t < 20; t++)
	{
		int			from = t == 0 ? 0 : (int) below((uint64_t) n);
		int			to = t == 0 ? n : from + 1 + (int) below((uint64_t) (n - from));

		memcpy(out, bytes, skip);
		if (sfx_str_decode(s, from, to, skip, out, sizeof(out), bound, stream + len) != SFX_OK)
			return "decoding";
		for (int i = from; i < to; i++)
		{
			uint32_t	keylen;
			const uint8_t *k = key(i, &keylen);

			if (bound[i - from + 1] - bound[i - from] != keylen ||
				memcmp(out + bound[i - from], k, keylen) != 0)
				return "another key comes back";
		}
	}
	return NULL;
}

/* A probe near a key: the key, shorter, longer, or with another byte. */
static uint32_t
make_probe(uint8_t *t)
{
	uint32_t	tlen;
	const uint8_t *k = key((int) below((uint64_t) n), &tlen);

	memcpy(t, k, tlen);
	switch (below(5))
	{
		case 0:
			break;
		case 1:
			tlen = skip + (uint32_t) below(tlen - skip + 1);
			break;
		case 2:
			memset(t + tlen, (int) below(256), 20);
			tlen += 1 + (uint32_t) below(20);
			break;
		case 3:
			t[skip + below(tlen - skip)] = (uint8_t) below(256);
			break;
		default:
			t[skip + below(tlen - skip)] ^= (uint8_t) (1u << below(8));
			memset(t + tlen, 0, 20);
			tlen += (uint32_t) below(20);
	}
	return tlen;
}

static const char *
check_searches(const SfxStr *s)
{
	for (int t = 0; t < 100; t++)
	{
		uint8_t		probe[500];
		uint32_t	tlen = make_probe(probe);
		SfxStrPlace place;
		int			less = 0,
					begins = -1;
		bool		equal = false;
		int			r = sfx_str_search(s, probe + skip, tlen - skip, &place);

		for (int i = 0; i < n; i++)
		{
			uint32_t	keylen;
			const uint8_t *k = key(i, &keylen);
			int			c = sfx_cmp_bytes(k, keylen, probe, tlen);

			less += c < 0;
			equal |= c == 0;
			if (keylen < tlen && memcmp(k, probe, keylen) == 0)
				begins = (int) (keylen - skip);
		}
		if (r != less || place.equal != equal)
			return "a search ends elsewhere";
		if (place.begins != (begins >= 0) || (begins >= 0 && place.len != (uint32_t) begins))
			return "a key that the probe begins with";
	}
	return NULL;
}

/* One byte after another is damaged: nothing is read or written elsewhere. */
static void
read_damaged(void)
{
	static uint8_t out[20000];

	for (int t = 0; t < 60; t++)
	{
		uint8_t    *copy = malloc((size_t) len);
		uint32_t	bound[N + 1];
		uint8_t		probe[500];
		uint32_t	tlen = make_probe(probe);
		SfxStrPlace place;
		SfxStr		s;
		int			from = (int) below((uint64_t) n),
					size = len;

		memcpy(copy, stream, (size_t) len);
		for (int j = 0; j < 1 + t % 3; j++)
			copy[1 + below(t % 2 ? 20u < (unsigned) len - 1 ? 20u : (unsigned) len - 1 :
						   (unsigned) len - 1)] = (uint8_t) below(256);
		if (t % 7 == 0)
			size = 2 + (int) below((uint64_t) len - 1);
		if (sfx_str_open(&s, copy, (size_t) size, n, NULL) == SFX_OK)
		{
			sfx_str_search(&s, probe, tlen, &place);
			sfx_str_decode(&s, 0, n, 9, out, sizeof(out), bound, copy + size);
			sfx_str_decode(&s, from, n, 0, out, 3000, bound, copy + size);
			sfx_str_decode(&s, from, from + 1, 30, out, 300, bound, copy + size);
		}
		free(copy);
	}
}

int
main(void)
{
	sfx_cpu_init();
	for (int l = SFX_CPU_SCALAR; l < SFX_CPU_LEVELS; l++)
	{
		const char *err = NULL;
		int			round = 0;

		if (!sfx_cpu_pin((SfxCpuLevel) l))
			continue;
		seed = 11;
		columns = refused = with_over = with_longer = raw_rests = 0;
		for (; round < 3000 && !err; round++)
		{
			SfxStr		s;

			make(round);
			cut(round);
			if (!encode())
				continue;
			if (sfx_str_open(&s, stream, (size_t) len, n, NULL) != SFX_OK || !s.column ||
				s.end != stream + len)
				err = "opening";
			else if ((err = check_parts(&s)) == NULL)
				err = check_searches(&s);
			if (round % 4 == 0)
				read_damaged();
		}
		ok(!err, "%s: columns of shared lengths%s%s (%d)", sfx_cpu_name((SfxCpuLevel) l),
		   err ? ": " : "", err ? err : "", round);
		ok(columns > 2000 && with_over > 200 && with_longer > 200 && raw_rests > 200,
		   "%d streams, %d refused, %d and %d with exceptions, %d of bytes", columns, refused,
		   with_over, with_longer, raw_rests);
	}
	return done_testing();
}
