/* test_delta.c - the delta's B+tree against a sorted array */
#include "delta.h"
#include "hash.h"
#include "orders.h"
#include "tap.h"

/* ---- an allocator over one array: it counts, can be exhausted, and finds double frees ---- */

#define NNODES 4096

typedef struct Arena
{
	uint8_t    *mem;
	uint32_t	next_free[NNODES + 1];	/* 0: in use */
	uint32_t	head;
	uint32_t	nfree;
	int			bad;
} Arena;

static uint32_t
arena_alloc(void *ctx)
{
	Arena	   *ar = ctx;
	uint32_t	ref = ar->head;

	if (ar->nfree == 0)
		return SFX_NODE_NULL;
	ar->head = ar->next_free[ref];
	ar->next_free[ref] = 0;
	ar->nfree--;
	memset(ar->mem + (size_t) (ref - 1) * SFX_NODE_SIZE, 0xA5, SFX_NODE_SIZE);
	return ref;
}

static void
arena_free(void *ctx, uint32_t ref)
{
	Arena	   *ar = ctx;

	if (ref == 0 || ref > NNODES || ar->next_free[ref] != 0)
	{
		ar->bad++;
		return;
	}
	memset(ar->mem + (size_t) (ref - 1) * SFX_NODE_SIZE, 0x5A, SFX_NODE_SIZE);
	ar->next_free[ref] = ar->head;
	ar->head = ref;
	ar->nfree++;
}

static void *
arena_addr(void *ctx, uint32_t ref)
{
	return ((Arena *) ctx)->mem + (size_t) (ref - 1) * SFX_NODE_SIZE;
}

static uint32_t
arena_available(void *ctx)
{
	return ((Arena *) ctx)->nfree;
}

static Arena arena;
static SfxNodeAlloc A = {&arena, arena_alloc, arena_free, arena_addr, arena_available, NULL};

static void
arena_init(uint32_t n)
{
	if (!arena.mem)
		arena.mem = malloc((size_t) NNODES * SFX_NODE_SIZE);
	for (uint32_t i = 1; i <= NNODES; i++)
		arena.next_free[i] = i < n ? i + 1 : UINT32_MAX;
	arena.head = 1;
	arena.nfree = n;
}

/* ---- the reference ---- */

#define MAXREF 20000

static SfxEntry ref[MAXREF];
static int	nref;

static void
ref_clear(void)
{
	for (int i = 0; i < nref; i++)
		free((void *) ref[i].key);
	nref = 0;
}

static int
ref_lower(const SfxPos *p)
{
	int			lo = 0,
				hi = nref;

	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		SfxPos		m = {ref[mid].key, ref[mid].keylen, ref[mid].tid};

		if (sfx_order_cmp_pos(A.order, &m, p) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool
ref_is(int i, const SfxPos *p)
{
	SfxPos		m;

	if (i >= nref)
		return false;
	m = (SfxPos) {ref[i].key, ref[i].keylen, ref[i].tid};
	return sfx_order_cmp_pos(A.order, &m, p) == 0;
}

static int
ref_insert(const SfxEntry *e)
{
	SfxPos		p = {e->key, e->keylen, e->tid};
	int			i = ref_lower(&p);
	int			found = ref_is(i, &p);
	uint8_t    *copy = malloc(e->keylen + e->paylen + 1);

	if (found)
		free((void *) ref[i].key);
	else
	{
		memmove(&ref[i + 1], &ref[i], (size_t) (nref - i) * sizeof(ref[0]));
		nref++;
	}
	if (e->keylen)
		memcpy(copy, e->key, e->keylen);
	if (e->paylen)
		memcpy(copy + e->keylen, e->payload, e->paylen);
	ref[i] = *e;
	ref[i].key = copy;
	ref[i].payload = copy + e->keylen;
	return found;
}

static int
ref_remove(const SfxPos *p)
{
	int			i = ref_lower(p);

	if (!ref_is(i, p))
		return 0;
	free((void *) ref[i].key);
	nref--;
	memmove(&ref[i], &ref[i + 1], (size_t) (nref - i) * sizeof(ref[0]));
	return 1;
}

static bool
same(const SfxEntry *a, const SfxEntry *b)
{
	return a->keylen == b->keylen && a->tid == b->tid && a->paylen == b->paylen &&
		(a->keylen == 0 || memcmp(a->key, b->key, a->keylen) == 0) &&
		(a->paylen == 0 || memcmp(a->payload, b->payload, a->paylen) == 0);
}

/* Verify, and walk both ways. */
static bool
agrees(const SfxDelta *d)
{
	const char *why;
	SfxCursor	c;
	SfxEntry	e;
	bool		more;
	int			i;
	uint64_t	bytes = 0;

	if (sfx_delta_verify(d, &A, &why) != SFX_OK)
	{
		printf("# verify: %s\n", why);
		return false;
	}
	for (i = 0, more = sfx_delta_seek(d, &A, NULL, &c); more; i++, more = sfx_delta_next(d, &A, &c))
	{
		sfx_delta_get(d, &A, &c, &e);
		if (i >= nref || !same(&e, &ref[i]))
			return false;
		bytes += e.keylen + e.paylen;
	}
	if (i != nref || d->nentries != (uint64_t) nref || d->bytes != bytes)
		return false;
	for (more = sfx_delta_seek_before(d, &A, NULL, &c); more; more = sfx_delta_prev(d, &A, &c))
	{
		sfx_delta_get(d, &A, &c, &e);
		if (--i < 0 || !same(&e, &ref[i]))
			return false;
	}
	return i == 0;
}

/* Both seeks at p against the reference. */
static bool
seeks_agree(const SfxDelta *d, const SfxPos *p)
{
	int			i = ref_lower(p);
	SfxCursor	c;
	SfxEntry	e;

	double		below[4];
	SfxPos		pos[4] = {{(const uint8_t *) "", 0, 0}, *p, *p, {NULL, 0, 0}};

	sfx_delta_ranks(d, &A, pos, 4, below);
	if (sfx_delta_seek(d, &A, p, &c) != (i < nref) || below[1] < 0 || below[1] > nref + 0.001 || below[1] != below[2] || below[0] != 0 || below[3] != nref ||
		((d->height <= 1 || i <= 14 || i >= nref - 14) && below[1] != i))
		return false;
	if (i < nref)
	{
		sfx_delta_get(d, &A, &c, &e);
		if (!same(&e, &ref[i]) || sfx_delta_prev(d, &A, &c) != (i > 0))
			return false;
	}
	if (sfx_delta_seek_before(d, &A, p, &c) != (i > 0))
		return false;
	if (i > 0)
	{
		sfx_delta_get(d, &A, &c, &e);
		if (!same(&e, &ref[i - 1]) || sfx_delta_next(d, &A, &c) != (i < nref))
			return false;
	}
	return true;
}

/* Is p's key denied by the filter although it is there? */
static bool
denied(const SfxDelta *d, const SfxPos *p)
{
	SfxPos		first = {p->key, p->len, 0};
	int			i = ref_lower(&first);

	return sfx_delta_absent(d, &A, sfx_hash_key(p->key, p->len)) && i < nref && ref[i].keylen == p->len &&
		(p->len == 0 || memcmp(ref[i].key, p->key, p->len) == 0);
}

/* ---- kinds of keys ---- */

static uint8_t keybuf[SFX_MAX_ENTRY];

static uint32_t
make_key(int kind, uint64_t v)
{
	uint64_t	s = v;

	memset(keybuf, 0, sizeof(keybuf));
	switch (kind)
	{
		case 0:					/* int8 after a marker byte */
			keybuf[0] = 1;
			for (int i = 0; i < 8; i++)
				keybuf[1 + i] = (uint8_t) (rnd(&s) >> 8);
			return 9;
		case 1:					/* few different keys: many TIDs each */
			keybuf[0] = 1;
			keybuf[8] = (uint8_t) (v % 7);
			return 9;
		case 2:					/* any length, bytes from a small alphabet: deep common prefixes */
			{
				uint32_t	len = rnd(&s) % 120;

				for (uint32_t i = 0; i < len; i++)
					keybuf[i] = (uint8_t) (rnd(&s) % 8 ? 0 : rnd(&s) % 3 * 127);
				return len;
			}
		case 3:					/* longest possible ones, different at the very end */
			keybuf[0] = 1;
			sfx_put32(keybuf + SFX_MAX_ENTRY - 4, __builtin_bswap32((uint32_t) (v % 4096)));
			return SFX_MAX_ENTRY;
		case 4:					/* tiny and huge ones mixed */
			keybuf[0] = (uint8_t) rnd(&s);
			keybuf[1] = (uint8_t) rnd(&s);
			return rnd(&s) % 4 ? 2 : 2 + rnd(&s) % (SFX_MAX_ENTRY - 1);
		case 6:					/* words in large and small letters */
			{
				uint32_t	len = 1 + rnd(&s) % 16;

				for (uint32_t i = 0; i < len; i++)
					keybuf[i] = (uint8_t) ((rnd(&s) % 3 ? 'a' : 'A') + rnd(&s) % 6);
				return len;
			}
		default:				/* paths: 60 bytes shared, then a number */
			return (uint32_t) snprintf((char *) keybuf, sizeof(keybuf),
									   "com.example/a/rather/long/common/prefix/that/exceeds/the/header/%08u",
									   (unsigned) (v % 100000));
	}
}

static uint8_t paybuf[SFX_MAX_ENTRY];

static const char *
order_name(void)
{
	static char name[40];

	name[0] = '\0';
	if (A.order)
		snprintf(name, sizeof(name), "%s: ", ((const TestOrder *) A.order)->name);
	return name;
}

/* One of the two ways to insert, if the finger may be kept. */
static int
insert_somehow(SfxDelta *d, const SfxEntry *e, uint32_t *finger, uint64_t dice)
{
	if (dice % 3 > 0)
		return sfx_delta_insert_near(d, &A, e, finger);
	*finger = SFX_NODE_NULL;
	return sfx_delta_insert(d, &A, e);
}

static void
random_operations(int kind, int n, int domain, bool payloads, uint64_t seed)
{
	SfxDelta	d = {0};
	int			codes = 0,
				seeks = 0,
				trees = 0,
				grown = 0;
	uint32_t	finger = SFX_NODE_NULL;
	uint64_t	v = 0;

	arena_init(NNODES);
	ref_clear();
	for (int i = 0; i < n; i++)
	{
		/* half of them close above the previous one, as in a batch in order */
		v = (rnd(&seed) % 2 ? v + rnd(&seed) % 20 : rnd(&seed)) % (uint64_t) domain;

		uint32_t	len = make_key(kind, v);
		SfxPos		p = {keybuf, len, SFX_TID(v % 1000, kind == 1 ? v / 7 % 200 : 1)};
		/* grow for the first half, shrink in the second */
		bool		insert = rnd(&seed) % 10 < (i < n / 2 ? 8 : 2);

		if (insert)
		{
			SfxEntry	e = {keybuf, len, 0, paybuf, p.tid};

			if (payloads)
				e.paylen = rnd(&seed) % (rnd(&seed) % 50 ? 40 : SFX_MAX_ENTRY) % (SFX_MAX_ENTRY - len + 1);
			for (uint32_t j = 0; j < e.paylen; j++)
				paybuf[j] = (uint8_t) (i + (int) j);
			codes += insert_somehow(&d, &e, &finger, rnd(&seed)) != ref_insert(&e);
		}
		else
		{
			codes += sfx_delta_remove(&d, &A, &p) != ref_remove(&p);
			finger = SFX_NODE_NULL;
		}
		p.len = len - (rnd(&seed) % 2 && len > 0 ? rnd(&seed) % len : 0);
		p.tid = rnd(&seed) % 2 ? p.tid : rnd(&seed) % 3 * (SFX_MAX_TID / 2);
		seeks += !seeks_agree(&d, &p) || denied(&d, &p);
		if (i % (n / 20) == 0)
			trees += !agrees(&d);
		/* one kind has no filter */
		if (kind != 5 && i % (n / 7) == n / 8)
			grown += sfx_delta_filter_grow(&d, &A) == SFX_OK;
	}
	ok(codes == 0, "%skind %d, payloads %d: return codes (%d wrong)", order_name(), kind, payloads, codes);
	ok(seeks == 0, "%skind %d, payloads %d: seeks (%d wrong)", order_name(), kind, payloads, seeks);
	ok(trees == 0, "%skind %d, payloads %d: contents (%d wrong)", order_name(), kind, payloads, trees);
	ok(grown == (kind == 5 ? 0 : 7) && (d.filter.nodes > 0) == (kind != 5), "%skind %d: %d filters made", order_name(), kind, grown);
	while (nref > 0)
	{
		SfxEntry   *e = &ref[rnd(&seed) % (uint64_t) nref];
		SfxPos		p = {e->key, e->keylen, e->tid};

		codes += sfx_delta_remove(&d, &A, &p) != 1;
		ref_remove(&p);
	}
	sfx_delta_filter_free(&d, &A);
	ok(codes == 0 && d.root == 0 && d.height == 0 && d.nodes == 0 && d.nentries == 0 && d.bytes == 0 &&
	   arena.nfree == NNODES && arena.bad == 0,
	   "%skind %d, payloads %d: removing all gives back all nodes", order_name(), kind, payloads);
}

static void
edges(void)
{
	SfxDelta	d = {0};
	SfxCursor	c;
	SfxEntry	e = {(const uint8_t *) "k", 1, 0, NULL, 5};
	SfxPos		p = {(const uint8_t *) "k", 1, 5};
	const char *why;

	arena_init(NNODES);
	ok(!sfx_delta_seek(&d, &A, NULL, &c) && !sfx_delta_seek_before(&d, &A, NULL, &c) &&
	   !sfx_delta_next(&d, &A, &c) && !sfx_delta_prev(&d, &A, &c) &&
	   sfx_delta_remove(&d, &A, &p) == 0 && sfx_delta_verify(&d, &A, &why) == SFX_OK, "empty tree");
	ok(sfx_delta_insert(&d, &A, &e) == 0 && sfx_delta_insert(&d, &A, &e) == 1 && d.nentries == 1 &&
	   d.nodes == 1, "one entry");
	e.tid = 0;
	e.keylen = 0;
	ok(sfx_delta_insert(&d, &A, &e) == 0 && sfx_delta_seek(&d, &A, NULL, &c), "empty key");
	sfx_delta_get(&d, &A, &c, &e);
	ok(e.keylen == 0 && e.tid == 0, "empty key, TID 0 is first");
	e.key = keybuf;
	e.keylen = SFX_MAX_ENTRY;
	e.payload = paybuf;
	e.paylen = 1;
	ok(sfx_delta_insert(&d, &A, &e) == SFX_NOSPACE && d.nentries == 2, "oversized entry is refused");
	sfx_delta_free(&d, &A);
	ok(d.root == 0 && d.height == 0 && d.nentries == 0 && arena.nfree == NNODES && arena.bad == 0, "free");
}

/*
 * Bytes per entry and height for n int8 keys inserted in a given order: 0 up, 1 down, 2 up within
 * 16 groups.
 */
static void
ordered(int order, int n, double most)
{
	SfxDelta	d = {0};
	uint8_t		key[9] = {1};
	int			wrong = 0;
	const char *why;

	arena_init(NNODES);
	for (int i = 0; i < n; i++)
	{
		uint64_t	v = order == 0 ? (uint64_t) i : order == 1 ? (uint64_t) (n - i) :
			(uint64_t) (i % 16) << 40 | (uint64_t) i;
		SfxEntry	e = {key, 9, 0, NULL, (uint64_t) i};

		v = __builtin_bswap64(v);
		memcpy(key + 1, &v, 8);
		wrong += sfx_delta_insert(&d, &A, &e) != 0;
	}
	double		bytes = (double) d.nodes * SFX_NODE_SIZE / n;

	ok(wrong == 0 && sfx_delta_verify(&d, &A, &why) == SFX_OK && bytes < most,
	   "order %d leaves full nodes: %.1f bytes per entry", order, bytes);
	sfx_delta_free(&d, &A);
	ok(arena.nfree == NNODES && arena.bad == 0, "order %d: all nodes given back", order);
}

/* Dead flags stay while entries come around theirs, until that entry itself comes again. */
static void
flags(void)
{
	SfxDelta	d = {0};
	SfxCursor	c;
	SfxEntry	e;
	const char *why = NULL;
	int			wrong = 0,
				n = 0;

	arena_init(NNODES);
	for (uint64_t i = 0; i < 4000; i++)
	{
		uint64_t	v = (i * 2654435761) % 4000;

		e = (SfxEntry) {keybuf, make_key(0, v), (uint32_t) (v % 3), paybuf, 0};
		wrong += sfx_delta_insert(&d, &A, &e) != 0;
	}
	for (uint64_t v = 0; v < 4000; v += 2)
	{
		SfxPos		pos = {keybuf, make_key(0, v), 0};

		wrong += !sfx_delta_seek(&d, &A, &pos, &c) || !sfx_delta_set_dead(&d, &A, &c) ||
			sfx_delta_set_dead(&d, &A, &c);
	}
	for (uint64_t v = 0; v < 4000; v++)
	{
		/* one that is there already, with as much payload or more, or one beside it */
		uint32_t	more = v % 8 == 4 ? 1 : 0;

		e = (SfxEntry) {keybuf, make_key(0, v), (uint32_t) (v % 3) + more, paybuf, v % 4 > 0};
		wrong += sfx_delta_insert(&d, &A, &e) != (v % 4 == 0);
	}
	for (uint64_t v = 0; v < 4000; v++)
	{
		SfxPos		pos = {keybuf, make_key(0, v), 0};

		wrong += !sfx_delta_seek(&d, &A, &pos, &c);
		sfx_delta_get(&d, &A, &c, &e);
		wrong += e.tid != 0 || sfx_delta_dead(&d, &A, &c) != (v % 4 == 2);
		n++;
	}
	ok(n == 4000 && wrong == 0, "dead flags stay with entries until these come again");
	ok(sfx_delta_verify(&d, &A, &why) == SFX_OK, "... and no separator has one: %s",
	   why ? why : "none");
	sfx_delta_free(&d, &A);
}

/* With few nodes inserts fail, and a failed one changes nothing; removals make room again. */
static void
exhaustion(int kind, bool payloads)
{
	SfxDelta	d = {0};
	uint64_t	seed = 99;
	int			failed = 0,
				codes = 0,
				broken = 0;

	ref_clear();
	arena_init(25);
	for (int i = 0; i < 4000; i++)
	{
		uint64_t	v = rnd(&seed) % 3000;
		uint32_t	len = make_key(kind, v);
		SfxEntry	e = {keybuf, len, 0, paybuf, v};
		SfxPos		p = {keybuf, len, v};
		SfxDelta	before;
		int			rc;

		if (payloads)
			e.paylen = rnd(&seed) % (SFX_MAX_ENTRY - len + 1);
		if (i % 100 == 50)
			(void) sfx_delta_filter_grow(&d, &A);
		before = d;
		if (rnd(&seed) % 4 == 0)
		{
			codes += sfx_delta_remove(&d, &A, &p) != ref_remove(&p);
			continue;
		}
		rc = sfx_delta_insert(&d, &A, &e);
		if (rc == SFX_NOMEM)
		{
			failed++;
			broken += memcmp(&before, &d, sizeof(d)) != 0;
			if (failed % 50 == 1)
				broken += !agrees(&d);
		}
		else
			codes += rc != ref_insert(&e);
	}
	ok(failed > 0 && codes == 0 && broken == 0 && agrees(&d),
	   "%skind %d: %d inserts without memory changed nothing", order_name(), kind, failed);
	sfx_delta_free(&d, &A);
	ok(arena.nfree == 25 && arena.bad == 0, "%skind %d: all nodes given back", order_name(), kind);
}

/* 9-byte keys as int8 has them. */
static void
put_number(SfxDelta *d, uint64_t v)
{
	uint8_t		key[9] = {1};
	SfxEntry	e = {key, 9, 0, NULL, 7};

	sfx_put64(key + 1, v);
	sfx_delta_insert(d, &A, &e);
}

static bool
number_absent(const SfxDelta *d, uint64_t v)
{
	uint8_t		key[9] = {1};

	sfx_put64(key + 1, v);
	return sfx_delta_absent(d, &A, sfx_hash_key(key, 9));
}

/*
 * A filter that is made when it is due: its size, its errors when it is new and when it is full,
 * and no key is lost as it grows.
 */
static void
filters(uint64_t step)
{
	SfxDelta	d = {0};
	const uint64_t n = 120000;
	uint64_t	walked = 0,
				made = 0,
				full = 0,
				lost = 0,
				passed = 0;
	const char *why;

	arena_init(NNODES);
	for (uint64_t i = 0; i < n; i++)
	{
		put_number(&d, i * step);
		lost += number_absent(&d, i * step) || number_absent(&d, i / 3 * step);
		if (!sfx_delta_filter_due(&d))
			continue;
		for (uint64_t v = 0; v < 5000 && d.filter.nodes > 1; v++, full++)
			passed += !number_absent(&d, (n + v) * step + 1);
		ok(sfx_delta_filter_nodes(&d) * 10 < d.nodes + 20, "%d nodes of filter beside %d", sfx_delta_filter_nodes(&d), d.nodes);
		ok(sfx_delta_filter_grow(&d, &A) == SFX_OK && !sfx_delta_filter_due(&d), "grown at %d entries", (int) d.nentries);
		walked += d.nentries;
		made++;
	}
	ok(lost == 0 && made > 4 && walked < 2 * n && sfx_delta_verify(&d, &A, &why) == SFX_OK, "%d filters, walks of %.2f entries for each",
	   (int) made, (double) walked / (double) n);
	ok(full > 0 && passed * 100 < full * 2, "of absent keys %.2f %% pass a full filter", (double) passed * 100 / (double) full);
	passed = 0;
	sfx_delta_filter_grow(&d, &A);
	for (uint64_t v = 0; v < 50000; v++)
		passed += !number_absent(&d, (n + v) * step + 1);
	ok(passed * 500 < 50000, "%.3f %% a fresh one", (double) passed / 500);
	sfx_delta_free(&d, &A);
	ok(arena.nfree == NNODES && arena.bad == 0 && d.filter.nodes == 0, "all nodes given back");
}

/* Without room a filter stays as it is; one that is full of removed keys is rebuilt. */
static void
filter_room(void)
{
	SfxDelta	d = {0},
				was;
	uint32_t	left;
	const char *why;

	arena_init(200);
	for (uint64_t i = 0; i < 20000; i++)
		put_number(&d, i);
	ok(sfx_delta_filter_due(&d) && sfx_delta_filter_grow(&d, &A) == SFX_OK && d.filter.nodes > 4, "a filter of several nodes");
	was = d;
	for (left = arena.nfree; arena.nfree > 0;)
		arena_alloc(&arena);
	arena.nfree = 3;
	arena.head = 200;
	arena.next_free[200] = 199;
	arena.next_free[199] = 198;
	arena.next_free[198] = UINT32_MAX;
	ok(left > 3 && sfx_delta_filter_grow(&d, &A) == SFX_NOMEM && memcmp(&was, &d, sizeof(d)) == 0 && arena.nfree == 3 && arena.bad == 0,
	   "without room nothing is changed");
	ok(sfx_delta_verify(&d, &A, &why) == SFX_OK, "and the old one is sound");
	sfx_delta_free(&d, &A);

	memset(&d, 0, sizeof(d));
	arena_init(NNODES);
	for (uint64_t i = 0; i < 1000; i++)
		put_number(&d, i);
	sfx_delta_filter_grow(&d, &A);
	for (uint64_t i = 1000; i < 9000; i++)
	{
		uint8_t		key[9] = {1};
		SfxPos		p = {key, 9, 7};

		sfx_put64(key + 1, i - 1000);
		put_number(&d, i);
		sfx_delta_remove(&d, &A, &p);
	}
	ok(d.nentries == 1000 && sfx_delta_filter_due(&d) && sfx_delta_filter_grow(&d, &A) == SFX_OK && d.filter.keys == 1000 &&
	   number_absent(&d, 1), "a filter full of removed keys is made anew");
	sfx_delta_free(&d, &A);
}

/* verify() must find damage: one bit in each of many places. */
static void
damage(void)
{
	SfxDelta	d = {0};
	uint64_t	seed = 3;
	const char *why;
	int			missed = 0,
				tried = 0;

	arena_init(NNODES);
	ref_clear();
	for (int i = 0; i < 3000; i++)
	{
		SfxEntry	e = {keybuf, make_key(0, rnd(&seed)), 0, NULL, (uint64_t) i};

		sfx_delta_insert(&d, &A, &e);
	}
	for (uint32_t r = 1; r <= d.nodes; r++)
	{
		uint8_t    *nd = arena_addr(&arena, r);

		/* count, low, garbage, and a slot's head */
		for (int off = 14; off < 68; off += off == 18 ? 49 : 2)
		{
			nd[off] ^= 4;
			missed += sfx_delta_verify(&d, &A, &why) == SFX_OK || why == NULL;
			nd[off] ^= 4;
			tried++;
		}
	}
	d.nentries++;
	missed += sfx_delta_verify(&d, &A, &why) == SFX_OK;
	d.nentries--;
	sfx_delta_filter_grow(&d, &A);
	memset(arena_addr(&arena, d.filter.root), 0, SFX_NODE_SIZE / 2);
	missed += sfx_delta_verify(&d, &A, &why) == SFX_OK;
	sfx_delta_filter_free(&d, &A);
	ok(missed == 0 && tried > 40 && sfx_delta_verify(&d, &A, &why) == SFX_OK,
	   "verify sees damage (%d of %d missed)", missed, tried);
	sfx_delta_free(&d, &A);
}

/* The cost of a seek and of an insert. */
static void
comparisons(void)
{
	SfxDelta	d = {0};
	uint64_t	seed = 8;
	uint64_t	seeks = 0,
				inserts = 0;
	int			most = 0,
				n = 20000,
				bound = 3;
	const char *why;

	arena_init(NNODES);
	for (int i = 0; i < n; i++)
	{
		SfxEntry	e = {keybuf, make_key(6, (uint64_t) i), 0, NULL, (uint64_t) i};

		order_calls = 0;
		sfx_delta_insert(&d, &A, &e);
		inserts += order_calls;
	}
	while (1 << (bound - 3) < n)
		bound++;
	for (int i = 0; i < 5000; i++)
	{
		SfxPos		p = {keybuf, make_key(6, rnd(&seed) % 30000), rnd(&seed) % 20000};
		SfxCursor	c;

		order_calls = 0;
		sfx_delta_seek(&d, &A, &p, &c);
		seeks += order_calls;
		most = (int) order_calls > most ? (int) order_calls : most;
	}
	/*
	 * for each node, a search that was misled, two proofs and the rest of a search; if guesses say
	 * nothing, no more than without them
	 */
	if (sfx_order_guesses(A.order) && ((const TestOrder *) A.order)->kind != ORDER_REVERSED)
		bound *= 2;
	ok(most <= bound && inserts / (uint64_t) n < (uint64_t) bound,
	   "%s%d entries, height %u: a seek takes %.1f comparisons, at most %d; an insert %.1f", order_name(), n, d.height,
	   (double) seeks / 5000, most, (double) inserts / n);
	order_calls = 0;
	ok(sfx_delta_verify(&d, &A, &why) == SFX_OK && order_calls < 12 * (uint64_t) n / 10,
	   "%sverify takes one comparison per entry", order_name());
	sfx_delta_free(&d, &A);
}

/*
 * Insert or remove, with the at-th call of the order failing.  Returns whether that call was made.
 */
static bool
fails(SfxDelta *d, const SfxEntry *e, bool insert, uint64_t at, int *rc)
{
	SfxPos		p = {e->key, e->keylen, e->tid};

	order_calls = 0;
	order_fail_at = at;
	if (setjmp(order_failed) != 0)
		return true;
	*rc = insert ? sfx_delta_insert(d, &A, e) : sfx_delta_remove(d, &A, &p);
	order_fail_at = 0;
	return false;
}

/*
 * Each comparison of each operation fails once, and nothing is changed; then the operation
 * succeeds.
 */
static void
failing(int kind)
{
	static uint8_t *before;
	SfxDelta	d = {0};
	uint64_t	seed = 5;
	int			failures = 0,
				changed = 0,
				codes = 0;
	const uint32_t nodes = 60;
	size_t		size = (size_t) nodes * SFX_NODE_SIZE;

	if (!before)
		before = malloc(size);
	ref_clear();
	arena_init(nodes);
	memset(arena.mem, 0, size);
	for (int i = 0; i < 600; i++)
	{
		uint64_t	v = rnd(&seed) % 400;
		uint32_t	len = make_key(kind, v);
		SfxEntry	e = {keybuf, len, 0, paybuf, v % 7};
		SfxPos		p = {keybuf, len, v % 7};
		bool		insert = rnd(&seed) % 5 > 0;
		int			rc = 0;
		uint64_t	at = 1;
		SfxDelta	was = d;
		Arena		arena_was = arena;

		e.paylen = (uint32_t) (rnd(&seed) % 300);
		if (e.paylen > SFX_MAX_ENTRY - len)
			e.paylen = 0;
		memcpy(before, arena.mem, size);
		for (; fails(&d, &e, insert, at, &rc); at++)
		{
			changed += memcmp(&was, &d, sizeof(d)) != 0 || memcmp(before, arena.mem, size) != 0 ||
				memcmp(&arena_was, &arena, sizeof(arena)) != 0;
			failures++;
		}
		codes += rc != (rc == SFX_NOMEM ? rc : insert ? ref_insert(&e) : ref_remove(&p));
		if (i == 50)
			codes += sfx_delta_filter_grow(&d, &A) != SFX_OK;
	}
	ok(changed == 0 && codes == 0 && failures > 1000 && d.nodes > 8 && agrees(&d),
	   "%skind %d: %d failed comparisons changed nothing (%d did, %d results wrong)", order_name(), kind, failures,
	   changed, codes);
	sfx_delta_free(&d, &A);
}

static void
test_order(const TestOrder *o)
{
	const char *why;
	SfxDelta	d = {0};
	int			rc;

	A.order = &o->base;
	for (int kind = 0; kind <= 6; kind++)
		random_operations(kind, kind == 3 ? 1000 : 2500, 2000, kind % 2, (uint64_t) (kind + 50));
	exhaustion(6, true);
	comparisons();
	failing(4);
	failing(6);

	arena_init(NNODES);
	for (int i = 0; i < 2000; i++)
	{
		SfxEntry	e = {keybuf, make_key(6, (uint64_t) i), 0, NULL, (uint64_t) i};

		sfx_delta_insert(&d, &A, &e);
	}
	A.order = &orders[o->kind == ORDER_REVERSED ? ORDER_LENGTH : ORDER_REVERSED].base;
	rc = sfx_delta_verify(&d, &A, &why);
	ok(rc == SFX_DISORDER, "%s: verify sees that the order is another one: %s", o->name, why);
	A.order = NULL;
}

int
main(void)
{
	edges();
	for (int kind = 0; kind <= 5; kind++)
		for (int pay = 0; pay <= 1; pay++)
			random_operations(kind, kind == 3 ? 3000 : 8000, 6000, pay, (uint64_t) (kind * 2 + pay));
	ordered(0, 100000, 24);
	ordered(1, 100000, 24);
	ordered(2, 100000, 26);		/* the first nodes hold many groups and are split in the middle */
	flags();
	for (int kind = 2; kind <= 4; kind++)
		exhaustion(kind, kind == 2);
	damage();
	filters(1);
	filters(UINT64_C(0x9E3779B97F4A7C15) >> 4);
	filter_room();
	for (int i = 0; i < NORDERS; i++)
		test_order(&orders[i]);
	return done_testing();
}
