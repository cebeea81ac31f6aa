/*-------------------------------------------------------------------------
 * collate.c - comparing two strings by a collation, at the least cost
 *
 * Before 18 core's comparison function looks its collation up twice for each pair, which costs as
 * much as ICU takes for short strings.  Sort support has looked it up before.  It compares by the
 * same call of the same provider, and breaks ties in the same way; core's btree, too, is built by
 * the one and searched by the other.  A C library is called as core calls it, but without copies
 * that end in 00: strings in keys end so already.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "collate.h"

#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/varlena.h"

#define COLLATIONS		4		/* remembered by a backend */
#define LONGEST			512		/* bytes; longer strings go to core's comparison function */

/* What this backend has looked up of a collation. */
typedef struct Support
{
	Oid			collation;		/* InvalidOid: none */
	bool		libc;			/* a C library's */
	locale_t	locale;			/* 0: the process's */
	bool		busy;			/* a comparison is running, or has thrown: then this is not used
								 * again */
	SortSupportData ssup;
} Support;

/* A varlena of up to LONGEST bytes, for sort support. */
typedef struct Value
{
	union
	{
		char		head[VARHDRSZ];
		int32		align;
	}			at;
	char		data[LONGEST];
} Value;

static Support supports[COLLATIONS];
static int	victim;
static uint64 asked;

/*
 * Look a collation up, in the place of another one.  Core keeps what it has opened of a collation
 * as long as the backend lives, and so do we, but for what is replaced.
 */
static Support *
make_support(Oid collation)
{
	Support    *s = &supports[victim];
	MemoryContext cxt = s->ssup.ssup_cxt;
	MemoryContext old;

	victim = (victim + 1) % COLLATIONS;
	if (cxt != NULL)
		MemoryContextDelete(cxt);
	memset(s, 0, sizeof(*s));
	s->ssup.ssup_cxt = AllocSetContextCreate(TopMemoryContext, "surfidx collation", ALLOCSET_SMALL_SIZES);
	s->ssup.ssup_collation = collation;
	old = MemoryContextSwitchTo(s->ssup.ssup_cxt);
	varstr_sortsupport(&s->ssup, TEXTOID, collation);
	MemoryContextSwitchTo(old);
	s->libc = SfxLibcLocale(collation, &s->locale);
	s->collation = collation;
	return s;
}

/* The entry of a collation.  One that a thrown comparison left busy is made anew. */
static Support *
find_support(Oid collation)
{
	for (int i = 0; i < COLLATIONS; i++)
		if (supports[i].collation == collation)
		{
			if (!supports[i].busy)
				return &supports[i];
			victim = i;
		}
	return make_support(collation);
}

/* A copy of a string as a varlena, with a short header where that is possible. */
static Datum
make_value(Value *v, const uint8 *p, int len)
{
	/* memmove: memcpy of a bounded length becomes an instruction that takes 20 ns to begin */
	memmove(v->data, p, len);
	if (len + VARHDRSZ_SHORT <= VARATT_SHORT_MAX)
	{
		SET_VARSIZE_SHORT(v->data - VARHDRSZ_SHORT, len + VARHDRSZ_SHORT);
		return PointerGetDatum(v->data - VARHDRSZ_SHORT);
	}
	SET_VARSIZE(v, VARHDRSZ + len);
	return PointerGetDatum(v);
}

/* As core compares by a C library: ties are broken by bytes. */
static int
ask_libc(const Support *s, const char *a, const char *b)
{
	int			c = s->locale ? strcoll_l(a, b, s->locale) : strcoll(a, b);

	return c != 0 ? c : strcmp(a, b);
}

int
sfx_collate(Oid collation, const uint8 *a, int alen, const uint8 *b, int blen)
{
	static Value va,
				vb;
	Support    *s;
	Datum		da,
				db;
	int			c;

	asked++;
	if (SFX_COLLATION_AT_HAND || !OidIsValid(collation))
		return varstr_cmp((const char *) a, alen, (const char *) b, blen, collation);
	s = find_support(collation);
	Assert(a[alen] == 0 && b[blen] == 0);
	if (s->libc)
		return ask_libc(s, (const char *) a, (const char *) b);
	if (alen > LONGEST || blen > LONGEST || s->ssup.comparator == NULL)
		return varstr_cmp((const char *) a, alen, (const char *) b, blen, collation);
	da = make_value(&va, a, alen);
	db = make_value(&vb, b, blen);
	s->busy = true;
	c = s->ssup.comparator(da, db, &s->ssup);
	s->busy = false;
	return c;
}

uint64
sfx_collations(void)
{
	return asked;
}
