/*-------------------------------------------------------------------------
 * keyset.h - a set of keys: sorted, without duplicates, every tenth set aside as an absent one
 *
 * add() all keys, then split(): keys[] are the set, in order in memory, too, as a build gets its
 * keys from leaves or from a sort; absent[] are in no order.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_KEYSET_H
#define SFX_KEYSET_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "sfx.h"

typedef struct Key
{
	const uint8_t *s;
	uint32_t	len;
} Key;

static Key *all;
static size_t nall,
			room;
static Key *keys,
		   *absent;
static size_t nkeys,
			nabsent;
static uint8_t *absent_bytes,
		   *key_bytes;
static inline void
add(const void *s, uint32_t len)
{
	uint8_t    *p = malloc(len + 1);

	if (nall == room)
		all = realloc(all, (room = room ? 2 * room : 1024) * sizeof(Key));
	memcpy(p, s, len);
	all[nall++] = (Key) {p, len};
}

static inline int
cmp_key(const void *x, const void *y)
{
	const Key  *a = x,
			   *b = y;

	return sfx_cmp_bytes(a->s, a->len, b->s, b->len);
}

static inline void
shuffle(Key *k, size_t n)
{
	for (size_t i = n; i > 1; i--)
	{
		size_t		j = rnd() % i;
		Key			t = k[i - 1];

		k[i - 1] = k[j];
		k[j] = t;
	}
}

/* Copies of keys one after the other, so that fetching a probe costs no cache miss. */
static inline uint8_t *
gather(Key *k, size_t n)
{
	size_t		sum = 0;
	uint8_t    *buf,
			   *p;

	for (size_t i = 0; i < n; i++)
		sum += k[i].len;
	p = buf = malloc(sum + 1);
	for (size_t i = 0; i < n; i++)
	{
		memcpy(p, k[i].s, k[i].len);
		k[i].s = p;
		p += k[i].len;
	}
	return buf;
}

/* Sort, drop duplicates, and set every tenth aside. */
static inline void
split(void)
{
	size_t		n = 0;

	qsort(all, nall, sizeof(Key), cmp_key);
	for (size_t i = 0; i < nall; i++)
		if (n == 0 || cmp_key(&all[n - 1], &all[i]) != 0)
			all[n++] = all[i];
		else
			free((void *) all[i].s);
	keys = malloc((n + 1) * sizeof(Key));
	absent = malloc((n + 1) * sizeof(Key));
	nkeys = nabsent = 0;
	for (size_t i = 0; i < n; i++)
		if (rnd() % 10 == 0)
			absent[nabsent++] = all[i];
		else
			keys[nkeys++] = all[i];
	shuffle(absent, nabsent);
	absent_bytes = gather(absent, nabsent);
	/* a build gets its keys from leaves or from a sort: in order in memory, too */
	key_bytes = gather(keys, nkeys);
	for (size_t i = 0; i < n; i++)
		free((void *) all[i].s);
	free(all);
	all = NULL;
	nall = room = 0;
}

static inline void
integers(size_t n)
{
	for (size_t i = 0; i < n + n / 9; i++)
	{
		uint64_t	v = rnd();

		add(&v, 8);
	}
}

static inline void
emails(size_t n)
{
	static const char *const first[] = {"james", "mary", "john", "patricia", "robert", "jennifer",
		"michael", "linda",
	"william", "elizabeth", "david", "barbara", "richard", "susan", "joseph", "jessica", "thomas",
		"sarah", "karen", "daniel", "lisa",
	"matthew", "anthony", "mark", "sandra", "steven", "kimberly", "paul", "emily", "andrew",
		"donna", "kevin", "brian",
	"laura", "jason", "helen", "ryan", "gary", "amy", "eric", "anna", "ruth", "scott", "frank"};
	static const char *const last[] = {"smith", "johnson", "williams", "brown", "jones", "garcia",
		"miller", "davis",
	"martinez", "lopez", "gonzalez", "wilson", "anderson", "taylor", "moore", "jackson", "lee",
		"perez", "thompson", "white", "harris",
	"clark", "lewis", "robinson", "walker", "young", "allen", "king", "wright", "torres",
		"nguyen", "hill", "flores",
	"green", "adams", "nelson", "baker", "hall", "rivera", "campbell", "mitchell", "carter",
		"roberts"};
	static const char *const syl[] = {"an", "ber", "ca", "dor", "el", "fra", "gi", "har", "is",
		"jo", "ka", "lin", "mar",
	"ne", "o", "pe", "qui", "ro", "sa", "tho", "u", "vi", "wil", "xa", "y", "zo"};
	static const char *const host[] = {"com.gmail", "com.yahoo", "com.hotmail", "com.aol",
		"de.gmx", "net.comcast", "com.msn"};
	static const char *const tld[] = {"com", "com", "com", "net", "org", "de", "co.uk", "edu",
		"fr", "it"};
	static const char sep[] = "._-";
	char		b[200];

	for (size_t i = 0; i < n + n / 9; i++)
	{
		int			k;

		if (rnd() % 10 < 6)
			k = sprintf(b, "%s@", host[rnd() % 7 * (rnd() % 7) / 6]);
		else
		{
			k = sprintf(b, "%s.", tld[rnd() % 10]);
			for (int j = 2 + (int) (rnd() % 2); j > 0; j--)
				k += sprintf(b + k, "%s", syl[rnd() % 26 * (rnd() % 26) / 25]);
			k += sprintf(b + k, "@");
		}
		switch (rnd() % 4)
		{
			case 0:
				k += sprintf(b + k, "%s%c%s", first[rnd() % 44], sep[rnd() % 3], last[rnd() % 43]);
				break;
			case 1:
				k += sprintf(b + k, "%c%s", (int) ('a' + rnd() % 26), last[rnd() % 43]);
				break;
			case 2:
				k += sprintf(b + k, "%s", first[rnd() % 44]);
				break;
			default:
				for (int j = 2 + (int) (rnd() % 3); j > 0; j--)
					k += sprintf(b + k, "%s", syl[rnd() % 26]);
		}
		if (rnd() % 4)
			k += sprintf(b + k, "%d", (int) (rnd() % (rnd() % 2 ? 100 : 10000)));
		add(b, (uint32_t) k);
	}
}

#endif							/* SFX_KEYSET_H */
