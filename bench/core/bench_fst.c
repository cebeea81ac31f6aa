/*
 * bench_fst.c - the trie of a SuRF, pages and image of the index, beside pointer tries and a
 * B+tree: memory, lookups, ranges
 *
 *	bench_fst [-n entries] [-s int8 | e-mails] [-t]		(bench/papers/fst.sh)
 *
 * Lines of "set, structure, metric, value" with tabs.  Keys: random int8; made-up e-mails, host
 * first.  Metrics: bytes an entry; ns of CPU for a lookup of a present key, chosen uniformly and as
 * YCSB does (Zipf, scrambled), and for a range of 50 keys; of the trie bits for each of its
 * nodes, too.  -t: of the trie alone.
 *
 * trie: a SuRF without suffixes, keys cut as in the paper, and no values: the leaf's number is not
 * computed.  pages: leaves packed full, with keys and TIDs, and inner pages above them; text with
 * FSST.  image: the B+tree of the delta, keys with TIDs, inserted in random order.  The others are
 * those of baselines.h: values of 8 bytes; the tries do not hold the keys, the B+tree does.
 */
#define _POSIX_C_SOURCE 200809L
#include "baselines.h"
#include "cpu.h"
#include "delta.h"
#include "inner.h"
#include "leaf.h"
#include "made.h"
#include "../../src/core/test/resize.h"
#include "../../src/core/test/surf_iter.h"

#define PROBES	200000
#define RANGES	20000
#define RANGE	50
#define ROUNDS	3
#define PAGE	8192
#define CAPACITY	(PAGE - 48)

static const char *set;
static bool integer_keys;
static volatile uint64_t sink;
static Key *uniform,
		   *skewed;

static void
fail(int line)
{
	fprintf(stderr, "bench_fst.c, line %d, %s\n", line, set);
	exit(1);
}

static void
tell(const char *structure, const char *metric, double v)
{
	printf("%s\t%s\t%s\t%.5g\n", set, structure, metric, v);
	fflush(stdout);
}

/* ---- what is measured of each structure ---- */

typedef struct Structure
{
	const char *name;
	bool		(*find) (void *s, const Key *k);
	void		(*walk) (void *s, const Key *k, uint64_t *sum);
	void	   *state;
} Structure;

static double
time_finds(const Structure *s, const Key *probe)
{
	double		best = 1e18;

	for (int round = 0; round < ROUNDS; round++)
	{
		double		t = now();
		uint64_t	found = 0;

		for (int i = 0; i < PROBES; i++)
			found += s->find(s->state, &probe[i]);
		t = now() - t;
		best = t < best ? t : best;
		if (found != PROBES)
		{
			fprintf(stderr, "%s: %s finds %lu of %d\n", set, s->name, (unsigned long) found,
				PROBES);
			fail(__LINE__);
		}
	}
	return best / PROBES;
}

static void
measure(const Structure *s, double bytes)
{
	double		best = 1e18;
	uint64_t	sum = 0;

	tell(s->name, "bytes an entry", bytes / (double) nkeys);
	tell(s->name, "point, ns", time_finds(s, uniform));
	tell(s->name, "point, Zipf, ns", time_finds(s, skewed));
	for (int round = 0; round < ROUNDS; round++)
	{
		double		t = now();

		for (int i = 0; i < RANGES; i++)
			s->walk(s->state, &uniform[i], &sum);
		t = now() - t;
		best = t < best ? t : best;
	}
	sink = sum;
	tell(s->name, "range of 50, ns", best / RANGES);
}

/* ---- the trie ---- */

typedef struct Trie
{
	SfxSurf		s;
	SfxSurfIter it;
} Trie;

static bool
trie_find(void *s, const Key *k)
{
	return sfx_surf_lookup(&((Trie *) s)->s, k->s, k->len) == 1;
}

static void
trie_walk(void *s, const Key *k, uint64_t *sum)
{
	Trie	   *t = s;
	bool		fp;

	if (sfx_surf_seek(&t->it, k->s, k->len, &fp) == 1)
		for (int i = 0; i < RANGE; i++)
		{
			*sum += t->it.len;
			if (sfx_surf_next(&t->it) != 1)
				break;
		}
}

static void
run_trie(void)
{
	SfxSurfAlloc alloc = {NULL, resize};
	SfxSurfBuild b;
	uint64_t	size;
	uint8_t    *bytes;
	Trie		t;
	double		start = now();

	sfx_surf_build_init(&b, &alloc, 0, 0);
	for (size_t i = 0; i < nkeys; i++)
		sfx_surf_add(&b, keys[i].s, keys[i].len);
	if (sfx_surf_size(&b, &size) != SFX_OK || (bytes = malloc(size)) == NULL ||
		sfx_surf_write(&b, bytes, size) != SFX_OK ||
		sfx_surf_open(&t.s, bytes, size) != SFX_OK)
		fail(__LINE__);
	tell("trie", "build, ns an entry", (now() - start) / (double) nkeys);
	sfx_surf_build_free(&b);
	sfx_surf_iter_init(&t.it, &t.s, malloc(sfx_surf_iter_size(&t.s)));
	tell("trie", "dense nodes", (double) t.s.ndense);
	/* one of the paper's nodes is an edge; it has one for each byte of a path, too */
	tell("trie", "bits an edge", 8.0 * (double) size / (double) t.s.nedges);
	measure(&(Structure) {"trie", trie_find, trie_walk, &t}, (double) size);
	free(bytes);
}

/* ---- pages ---- */

#define LEVELS	6

typedef struct Pages
{
	uint8_t   **page;
	uint32_t   *len;
	uint32_t	npages,
				room,
				root;
	int			levels;			/* of inner pages */
	SfxChild   *child;			/* of the level that is made */
	uint32_t	nchildren;
	SfxHope    *dict;
	long		dictbytes;
	SfxBlock	out;
} Pages;

static uint8_t page_key[SFX_MAX_ENTRY + 16];

/* A key as the index stores it: a byte before it; text ends with a zero. */
static SfxPos
stored(const Key *k, uint8_t *out)
{
	out[0] = 1;
	memcpy(out + 1, k->s, k->len);
	return (SfxPos) {out, k->len + 1, 0};
}

static uint32_t
add_page(Pages *p, const uint8_t *body, uint32_t len)
{
	if (p->npages == p->room)
	{
		p->room = p->room ? 2 * p->room : 1024;
		p->page = realloc(p->page, p->room * sizeof(*p->page));
		p->len = realloc(p->len, p->room * sizeof(*p->len));
	}
	p->page[p->npages] = aligned_alloc(PAGE, PAGE);
	memcpy(p->page[p->npages], body, len);
	p->len[p->npages] = len;
	return p->npages++;
}

static void
add_child(Pages *p, const SfxPos *low, uint32_t block, uint64_t count)
{
	uint8_t    *copy = malloc(low->len + 1);

	if (p->nchildren % 1024 == 0)
		p->child = realloc(p->child, (p->nchildren + 1024) * sizeof(SfxChild));
	memcpy(copy, low->key, low->len);
	p->child[p->nchildren++] = (SfxChild) {.low = {copy, low->len, low->tid}, .blkno = block,
		.count = count};
}

static int
emit(void *ctx, const SfxLeafOut *o)
{
	Pages	   *p = ctx;

	add_child(p, &o->low, add_page(p, o->body, o->len), o->nentries);
	return 0;
}

static int
skip(void *ctx, const SfxLeafOut *o)
{
	(void) ctx;
	(void) o;
	return 0;
}

static void
pack(Pages *p, SfxRestSample *sample)
{
	SfxPos		low = {(const uint8_t *) "", 0, 0};
	void	   *mem = malloc(sfx_packer_size());
	SfxPacker  *packer = sfx_packer_init(mem, CAPACITY, &low, sample ? skip : emit, p, NULL);

	if (sample)
	{
		sfx_sample_init(sample);
		sfx_packer_set_sample(packer, sample);
	}
	else if (p->dict)
		sfx_packer_add_dict(packer, p->dict, 1);
	for (size_t i = 0; i < nkeys; i++)
	{
		SfxPos		k = stored(&keys[i], page_key);
		SfxEntry	e = {k.key, k.len, 0, NULL, SFX_TID(i / 185, i % 185 + 1)};

		if (sfx_packer_add(packer, &e) != SFX_OK)
			fail(__LINE__);
	}
	if (sfx_packer_finish(packer, NULL) != SFX_OK)
		fail(__LINE__);
	free(mem);
}

/* FSST from a sample of the rests that leaves without it have, as an index does. */
static void
train(Pages *p)
{
	static SfxRestSample sample;
	SfxHopeKey *rests = malloc(sizeof(SfxHopeKey) * SFX_SAMPLE_KEYS);
	size_t		room_of_build = sfx_hope_build_size(SFX_FSST, 4096, SFX_SAMPLE_BYTES);
	size_t		cap = SFX_HOPE_DICT_BOUND(SFX_FSST, 4096);
	uint8_t    *bytes = malloc(cap);
	void	   *scratch = malloc(room_of_build);
	int			len;

	pack(p, &sample);
	len = sfx_hope_build(SFX_FSST, 4096, rests, sfx_sample_keys(&sample, rests), scratch,
		room_of_build, bytes, cap);
	if (len < 0)
		fail(__LINE__);
	p->dict = malloc(sfx_hope_state_size(bytes, (size_t) len));
	if (sfx_hope_open(p->dict, sfx_hope_state_size(bytes, (size_t) len), bytes,
		(size_t) len) != SFX_OK)
		fail(__LINE__);
	p->dictbytes = len;
	free(rests);
	free(scratch);
}

static void
add_inner_level(Pages *p)
{
	SfxChild   *child = p->child;
	int			n = (int) p->nchildren;
	void	   *scratch = malloc(sfx_inner_scratch_size());
	static uint8_t body[PAGE];

	p->child = NULL;
	p->nchildren = 0;
	for (int at = 0; at < n;)
	{
		int			most = n - at < SFX_INNER_MAXCHILDREN ? n - at : SFX_INNER_MAXCHILDREN,
					len,
					fit = sfx_inner_fit(child + at, most, at + most < n ? &child[at + most].low :
						NULL, body, CAPACITY, scratch, &len, NULL);

		if (fit < 1)
			fail(__LINE__);
		add_child(p, &child[at].low, add_page(p, body, (uint32_t) len), 0);
		at += fit;
	}
	p->levels++;
	free(child);
	free(scratch);
}

static void
open_leaf(Pages *p, SfxLeaf *l, uint32_t block)
{
	if (sfx_leaf_open(l, p->page[block], p->len[block], NULL) != SFX_OK)
		fail(__LINE__);
	l->dict = l->dictno ? p->dict : NULL;
}

static uint32_t
descend(Pages *p, const SfxPos *pos)
{
	uint32_t	block = p->root;

	for (int level = p->levels; level > 0; level--)
	{
		SfxInner	q;
		uint64_t	count;

		if (sfx_inner_open(&q, p->page[block], p->len[block], NULL) != SFX_OK ||
			sfx_inner_child(&q, sfx_inner_find(&q, pos), &block, &count) != SFX_OK)
			fail(__LINE__);
	}
	return block;
}

static bool
pages_find(void *s, const Key *k)
{
	Pages	   *p = s;
	SfxPos		pos = stored(k, page_key);
	SfxPos		end = {pos.key, pos.len, UINT64_MAX};
	SfxLeaf		l;

	open_leaf(p, &l, descend(p, &pos));
	return sfx_leaf_decode(&l, sfx_leaf_find_block(&l, &pos), &pos, &end, &p->out) == SFX_OK &&
		p->out.nent == 1;
}

/* Leaves have the lowest numbers, in order. */
static void
pages_walk(void *s, const Key *k, uint64_t *sum)
{
	Pages	   *p = s;
	SfxPos		pos = stored(k, page_key);
	uint32_t	block = descend(p, &pos);
	SfxLeaf		l;
	int			b,
				left = RANGE;

	open_leaf(p, &l, block);
	b = sfx_leaf_find_block(&l, &pos);
	for (bool first = true; left > 0; first = false, b++)
	{
		if (b == l.nblocks)
		{
			if (++block >= p->root)
				return;
			open_leaf(p, &l, block);
			b = 0;
		}
		if (sfx_leaf_decode_limit(&l, b, first ? &pos : NULL, NULL, left, false, &p->out) != SFX_OK)
			fail(__LINE__);
		for (;;)
		{
			for (int i = 0; i < p->out.nent && left > 0; i++, left--)
				*sum += p->out.tid[i];
			if (left == 0 || !sfx_block_left(&p->out))
				break;
			if (sfx_leaf_decode_left(&l, b, 0, false, &p->out) != SFX_OK)
				fail(__LINE__);
		}
	}
}

static void
run_pages(void)
{
	static Pages p;
	double		start = now();

	memset(&p, 0, sizeof(p));
	if (!integer_keys)
		train(&p);
	pack(&p, NULL);
	do
		add_inner_level(&p);
	while (p.nchildren > 1);
	p.root = p.npages - 1;
	tell("pages", "build, ns an entry", (now() - start) / (double) nkeys);
	measure(&(Structure) {"pages", pages_find, pages_walk, &p},
		(double) p.npages * PAGE + (double) p.dictbytes);
	for (uint32_t i = 0; i < p.npages; i++)
		free(p.page[i]);
}

/* ---- the image ---- */

typedef struct Image
{
	SfxDelta	d;
	SfxNodeAlloc a;
	uint8_t    *mem;
	uint32_t	used,
				total;
} Image;

static uint32_t
node_alloc(void *ctx)
{
	return ++((Image *) ctx)->used;
}

static void
node_free(void *ctx, uint32_t ref)
{
	(void) ctx;
	(void) ref;
}

static void *
node_addr(void *ctx, uint32_t ref)
{
	return ((Image *) ctx)->mem + (size_t) (ref - 1) * SFX_NODE_SIZE;
}

static uint32_t
node_available(void *ctx)
{
	return ((Image *) ctx)->total - ((Image *) ctx)->used;
}

static bool
image_find(void *s, const Key *k)
{
	Image	   *m = s;
	SfxPos		pos = stored(k, page_key);
	SfxCursor	c;
	SfxEntry	e;

	if (!sfx_delta_seek(&m->d, &m->a, &pos, &c))
		return false;
	sfx_delta_get(&m->d, &m->a, &c, &e);
	return e.keylen == pos.len && memcmp(e.key, pos.key, pos.len) == 0;
}

static void
image_walk(void *s, const Key *k, uint64_t *sum)
{
	Image	   *m = s;
	SfxPos		pos = stored(k, page_key);
	SfxCursor	c;
	SfxEntry	e;
	bool		more = sfx_delta_seek(&m->d, &m->a, &pos, &c);

	for (int i = 0; i < RANGE && more; i++, more = sfx_delta_next(&m->d, &m->a, &c))
	{
		sfx_delta_get(&m->d, &m->a, &c, &e);
		*sum += e.tid;
	}
}

static void
run_image(void)
{
	static Image m;
	uint32_t   *order = malloc(nkeys * sizeof(*order));
	double		start;

	memset(&m, 0, sizeof(m));
	m.total = (uint32_t) (nkeys / 30) + 1000;
	m.mem = aligned_alloc(SFX_NODE_SIZE, (size_t) m.total * SFX_NODE_SIZE);
	m.a = (SfxNodeAlloc) {&m, node_alloc, node_free, node_addr, node_available, NULL};
	for (uint32_t i = 0; i < nkeys; i++)
	{
		uint32_t	j = (uint32_t) (rnd() % (i + 1));

		order[i] = order[j];
		order[j] = i;
	}
	start = now();
	for (size_t i = 0; i < nkeys; i++)
	{
		SfxPos		k = stored(&keys[order[i]], page_key);
		SfxEntry	e = {k.key, k.len, 0, NULL, SFX_TID(order[i] / 185, order[i] % 185 + 1)};

		if (sfx_delta_insert(&m.d, &m.a, &e) != SFX_OK)
			fail(__LINE__);
	}
	tell("image", "build, ns an entry", (now() - start) / (double) nkeys);
	measure(&(Structure) {"image", image_find, image_walk, &m}, (double) m.d.nodes * SFX_NODE_SIZE);
	free(order);
	free(m.mem);
}

/* ---- baselines ---- */

static bool
tree_find(void *s, const Key *k)
{
	return bt_find(s, k) >= 0;
}

static void
tree_walk(void *s, const Key *k, uint64_t *sum)
{
	bt_walk(s, k, RANGE, sum);
}

static bool
art_find(void *s, const Key *k)
{
	return radix_find(s, k) >= 0;
}

static void
art_walk(void *s, const Key *k, uint64_t *sum)
{
	Radix	   *t = s;
	int			left = RANGE;

	radix_walk(t, t->root, 0, k, &left, sum);
}

static void
run_baselines(void)
{
	BtTree		t;

	bt_build(&t, keys, (uint32_t) nkeys, integer_keys);
	measure(&(Structure) {"B+tree", tree_find, tree_walk, &t},
		(double) t.mem.used + (double) t.records.used);
	free(t.mem.p);
	free(t.records.p);
	for (int compact = 0; compact < 2; compact++)
	{
		Radix		r;

		radix_build(&r, keys, (uint32_t) nkeys, compact);
		measure(&(Structure) {compact ? "C-ART" : "ART", art_find, art_walk, &r},
			(double) r.mem.used);
		free(r.mem.p);
	}
}

static void
run(const char *name, bool integers_only, size_t n, bool trie_only)
{
	Zipf		z;

	set = name;
	integer_keys = integers_only;
	seed = 7;
	for (size_t i = 0; i < n + n / 9; i++)
	{
		char		s[401];

		add(s, (uint32_t) made_key(s, integers_only));
	}
	split();
	z = zipf_of(nkeys);
	uniform = malloc(PROBES * sizeof(Key));
	skewed = malloc(PROBES * sizeof(Key));
	for (int i = 0; i < PROBES; i++)
	{
		uniform[i] = keys[rnd() % nkeys];
		skewed[i] = keys[zipf_choose(&z)];
	}
	/* the probes' own bytes cost no cache misses */
	gather(uniform, PROBES);
	gather(skewed, PROBES);
	run_trie();
	if (!trie_only)
	{
		run_pages();
		run_image();
		run_baselines();
	}
}

int
main(int argc, char **argv)
{
	size_t		n = 1000000;
	bool		trie_only = false;
	const char *only = NULL;

	sfx_cpu_init();
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
			n = (size_t) atol(argv[++i]);
		else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
			only = argv[++i];
		else if (strcmp(argv[i], "-t") == 0)
			trie_only = true;
	if (only == NULL || strcmp(only, "int8") == 0)
		run("int8", true, n, trie_only);
	if (only == NULL || strcmp(only, "e-mails") == 0)
		run("e-mails", false, n, trie_only);
	return 0;
}
