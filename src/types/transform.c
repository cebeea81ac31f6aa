/*-------------------------------------------------------------------------
 * transform.c - strings of a C library's collation as words that probably order as they do
 *
 * strxfrm() gives bytes that should order as strcoll() orders the strings.  C libraries have been
 * found where they do not, and core does not use it.  A build that sorts by these words checks the
 * result with the comparison function (K2).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "leaf_format.h"
#include "transform.h"
#include "varlena.h"

#include "common/hashfn.h"
#include "lib/hyperloglog.h"

#define LEAST_SAMPLE	1000	/* strings from which on it is judged whether the words pay */
#define LEAST_DISTINCT	32		/* distinct first words: so many save five comparisons a string */
#define LONGEST			64		/* mean bytes of a string; longer ones cost more than they save */

struct SfxTransform
{
	locale_t	locale;			/* 0: the process's */
	char	   *src;
	Size		srcsize;
	char	   *dst;
	Size		dstsize;
	hyperLogLogState distinct;	/* of first words */
	Size		strings;		/* transformed so far */
	Size		bytes;			/* of these, in all */
};

static size_t
transform(SfxTransform *t)
{
	if (t->locale)
		return strxfrm_l(t->dst, t->src, t->dstsize, t->locale);
	return strxfrm(t->dst, t->src, t->dstsize);
}

SfxTransform *
sfx_transform_create(Oid collation)
{
	SfxTransform *t;
	locale_t	locale;

	if (!OidIsValid(collation) || !SfxLibcLocale(collation, &locale))
		return NULL;
	t = palloc0(sizeof(SfxTransform));
	t->locale = locale;
	t->srcsize = t->dstsize = 1024;
	t->src = palloc(t->srcsize);
	t->dst = palloc(t->dstsize);
	initHyperLogLog(&t->distinct, 10);
	return t;
}

/*
 * Enlarge a buffer.  It stays in the context in which it was made: the caller may be in a context
 * that ends with the row.
 */
static void
grow(char **buf, Size *size, Size least)
{
	while (*size < least)
		*size *= 2;
	*buf = repalloc(*buf, *size);
}

uint64
sfx_transform_word(SfxTransform *t, Datum value, int i)
{
	text	   *v = DatumGetTextPP(value);
	Size		len = VARSIZE_ANY_EXHDR(v);
	Size		from = (Size) i * sizeof(uint64);
	Size		n;
	uint64		word;

	if (len >= t->srcsize)
		grow(&t->src, &t->srcsize, len + 1);
	memcpy(t->src, VARDATA_ANY(v), len);
	t->src[len] = '\0';
	while ((n = transform(t)) >= t->dstsize)
		grow(&t->dst, &t->dstsize, n + 1);
	word = from < n ? sfx_load_be((uint8 *) t->dst + from, n - from) : 0;
	sfx_free_copy(v, value);
	if (SFX_MUTANT("transforms lie"))
		word = ~word;
	if (i == 0)
	{
		t->strings++;
		t->bytes += len;
		addHyperLogLog(&t->distinct, murmurhash32((uint32) word ^ murmurhash32((uint32) (word >> 32))));
	}
	return word;
}

bool
sfx_transform_pays(const SfxTransform *t)
{
	if (t->strings < LEAST_SAMPLE)
		return true;
	return t->bytes / t->strings <= LONGEST &&
		estimateHyperLogLog(unconstify(hyperLogLogState *, &t->distinct)) >= LEAST_DISTINCT;
}
