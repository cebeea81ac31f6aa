/*-------------------------------------------------------------------------
 * made.h - keys that are made up: e-mails, URLs and titles as the papers have them, and choices
 *
 * Each function writes one string into s (of 400 bytes) and returns its length.  They take their
 * numbers from rnd().
 *-------------------------------------------------------------------------
 */
#ifndef SFX_MADE_H
#define SFX_MADE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

/* Syllables make words that look as if they had been thought of. */
static inline int
made_word(char *p, uint64_t *x)
{
	static const char *const syllable[] = {"ma", "ri", "an", "jo", "el", "son", "ber", "ka", "li",
		"th", "er", "mi", "ch", "ta",
	"do", "ro", "be", "st", "ne", "ha"};
	int			n = 0,
				k = 2 + (int) (*x & 1);

	for (*x >>= 1; k > 0; k--, *x /= 20)
		n += sprintf(p + n, "%s", syllable[*x % 20]);
	return n;
}

/* The host comes first, as in the papers: com.gmail@marian_jo17, 25 bytes on average. */
static inline size_t
made_email(char *s)
{
	static const char *const host[] = {"com.gmail", "com.yahoo", "com.hotmail", "de.web",
		"org.example.mail",
	"com.aol", "net.comcast", "de.gmx", "com.outlook", "edu.university.cs"};
	uint64_t	x = rnd(),
				h = rnd() % 64;
	int			n;

	if (h < 56)
		n = sprintf(s, "%s@", host[(h * h / 316) % 10]);
	else
	{
		uint64_t	y = rnd() % 4000;

		n = sprintf(s, "%s.", y & 1 ? "com" : y & 2 ? "net" : "org");
		n += made_word(s + n, &y);
		s[n++] = '@';
	}
	n += made_word(s + n, &x);
	if (x & 1)
	{
		s[n++] = x & 2 ? '.' : '_';
		x >>= 2;
		n += made_word(s + n, &x);
	}
	x = rnd();
	if (x & 1)
		n += sprintf(s + n, "%u", (unsigned) (x >> 8) % (x & 2 ? 100 : 10000));
	return (size_t) n;
}

/* A random int8, or an e-mail with the zero byte that ends it, in s (401 bytes); its length. */
static inline size_t
made_key(char *s, bool integer)
{
	uint64_t	v = rnd();
	size_t		len;

	if (integer)
	{
		memcpy(s, &v, 8);
		return 8;
	}
	len = made_email(s);
	s[len++] = '\0';
	return len;
}

static inline size_t
made_url(char *s)
{
	static const char *const part[] = {"index", "article", "news", "products", "category", "images",
	"forum", "view", "user", "search"};
	static const char *const end[] = {".html", ".php?id=", "/", ".aspx?page=", "?q="};
	uint64_t	h = rnd() % 3000,
				x = rnd();
	int			n = sprintf(s, "http://%s", h % 4 ? "www." : "");

	h = h * h / 3000;
	n += made_word(s + n, &h);
	n += sprintf(s + n, "%s/", h % 3 ? ".co.uk" : ".com");
	for (int k = 1 + (int) (x % 3); k > 0; k--)
	{
		x = rnd();
		n += sprintf(s + n, "%s%s", part[(x % 32) * (x % 32) % 10], k > 1 ? "/" : "");
		if (x & 64)
		{
			s[n++] = '-';
			x >>= 8;
			n += made_word(s + n, &x);
			s[n++] = '/';
		}
	}
	x = rnd();
	n += sprintf(s + n, "%s", end[x % 5]);
	if (x & 32)
		n += sprintf(s + n, "%u", (unsigned) (x >> 8) % 100000);
	return (size_t) n;
}

/* As titles of an encyclopedia: The_Marian_of_Jobert_(film), 20 bytes on average. */
static inline size_t
made_title(char *s)
{
	static const char *const small[] = {"of", "the", "and", "in", "de", "for", "at", "County"};
	static const char *const kind[] = {"film", "album", "disambiguation", "footballer", "band",
		"novel"};
	uint64_t	x = rnd();
	int			n = 0;

	if (x % 8 == 0)
		n = sprintf(s, "%s_", x & 8 ? "The" : "List_of");
	for (int k = 1 + (int) (x / 64 % 3); k > 0; k--)
	{
		uint64_t	y = rnd() % (rnd() % 4 ? 3000 : 3000000);
		int			at = n;

		n += made_word(s + n, &y);
		s[at] = (char) (s[at] - 'a' + 'A');
		if (k > 1)
			n += rnd() % 4 ? sprintf(s + n, "_") : sprintf(s + n, "_%s_", small[rnd() % 8]);
	}
	x = rnd();
	if (x % 8 == 0)
		n += sprintf(s + n, "_(%s)", kind[x / 8 % 6]);
	else if (x % 8 == 1)
		n += sprintf(s + n, "_%u", 1850 + (unsigned) (x >> 8) % 170);
	return (size_t) n;
}

/* ---- YCSB's choices ---- */

typedef struct Zipf
{
	uint64_t	n;
	double		zeta,
				alpha,
				eta;
} Zipf;

/* The parameter is 0.99, as in YCSB (Gray et al., SIGMOD 1994, have the method). */
static inline Zipf
zipf_of(uint64_t n)
{
	const double theta = 0.99;
	Zipf		z = {n, 0, 1 / (1 - theta), 0};

	for (uint64_t i = 1; i <= n; i++)
		z.zeta += pow((double) i, -theta);
	z.eta = (1 - pow(2.0 / (double) n, 1 - theta)) / (1 - (1 + pow(0.5, theta)) / z.zeta);
	return z;
}

/* One of 0 .. n - 1; what is chosen often is anywhere ("scrambled"). */
static inline uint64_t
zipf_choose(const Zipf *z)
{
	double		u = (double) (rnd() >> 11) / 9007199254740992.0,
				uz = u * z->zeta;
	uint64_t	i = uz < 1 ? 0 : uz < 1 + pow(0.5, 0.99) ? 1 :
		(uint64_t) ((double) z->n * pow(z->eta * u - z->eta + 1, z->alpha));

	i = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
	return (i ^ i >> 29) * UINT64_C(0xBF58476D1CE4E5B9) % z->n;
}

#endif							/* SFX_MADE_H */
