/*
 * bench_table.c - bytes per entry, key and TID, of whole leaves ("make bench-core")
 *
 *	bench_table [-n entries] [-s set] [emails=file] [urls=file] [paths=file]
 *
 * "limit" is what a set of so many distinct keys needs at least, log2 C(U, n) / n, with U taken
 * from the gaps in each key's neighbourhood, plus log2(n!) / n for the order of the TIDs.  "of
 * which" tells where the bytes of an entry went: key streams, TIDs, lists (posting-list ends),
 * directory, separators and block heads, page (headers, fences, free). Strings come without a
 * dictionary and with one of each scheme that indexes choose from, trained on a sample of the rests
 * that the pages without one have; its bytes count. Times are those of pages in the cache, best of
 * several rounds: find is the way to a key's number in a leaf, lookup the entry itself; decode is
 * per entry, with TID and key bytes, ints its integer alone.  Bytes are those of 8 KB pages.  Where
 * a stream ends only the reader knows (leaf_block.h).
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "cpu.h"
#include "leaf_block.h"

#define PAGE		8192
#define CAPACITY	(PAGE - 48)	/* without page header and tail */
#define ROWS		185			/* per heap page */

typedef struct Key
{
	uint64_t	hi;				/* or offset of a string */
	uint64_t	lo;				/* or its length */
} Key;

static Key *key;
static uint64_t *tid;
static uint8_t *text;
static long n;


static double
uniform(void)
{
	return ((double) (rnd() >> 11) + 0.5) / 9007199254740992.0;
}

static uint64_t
ordered_float(double d)
{
	uint64_t	x;

	memcpy(&x, &d, 8);
	return x >> 63 ? ~x : x | UINT64_C(1) << 63;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* ---- key sets ---- */

typedef enum Kind
{
	INT8, INT4, UUID, TENANT, TEXT
} Kind;

static int
cmp_key(const void *a, const void *b)
{
	const Key  *x = a,
			   *y = b;

	if (x->hi != y->hi)
		return x->hi < y->hi ? -1 : 1;
	return (x->lo > y->lo) - (x->lo < y->lo);
}

static int
cmp_text(const void *a, const void *b)
{
	const Key  *x = a,
			   *y = b;

	return sfx_cmp_bytes(text + x->hi, x->lo, text + y->hi, y->lo);
}

static int
cmp_tid(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a,
				y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* The key's bytes as the index stores them; their number. */
static uint32_t
key_bytes(Kind kind, const Key *k, uint8_t *out)
{
	int			at = 0;

	out[at++] = 1;
	switch (kind)
	{
		case INT8:
			for (int i = 0; i < 8; i++)
				out[at++] = (uint8_t) (k->lo >> (56 - 8 * i));
			break;
		case INT4:
			for (int i = 0; i < 4; i++)
				out[at++] = (uint8_t) (k->lo >> (24 - 8 * i));
			break;
		case UUID:
			for (int i = 0; i < 16; i++)
				out[at++] = (uint8_t) ((i < 8 ? k->hi : k->lo) >> (56 - 8 * (i % 8)));
			break;
		case TENANT:
			for (int i = 0; i < 4; i++)
				out[at++] = (uint8_t) (k->hi >> (24 - 8 * i));
			out[at++] = 1;
			for (int i = 0; i < 8; i++)
				out[at++] = (uint8_t) (k->lo >> (56 - 8 * i));
			break;
		case TEXT:
			memcpy(out + 1, text + k->hi, k->lo);
			out[1 + k->lo] = 0;
			return (uint32_t) k->lo + 2;
	}
	return (uint32_t) at;
}

#define SIGN (UINT64_C(1) << 63)

static void
make_random(void)
{
	for (long i = 0; i < n; i++)
		key[i] = (Key) {0, rnd()};
}

static void
make_serial(void)
{
	for (long i = 0; i < n; i++)
		key[i] = (Key) {0, SIGN + 1 + (uint64_t) i};
}

/* One in 10 ms, in microseconds. */
static void
make_timestamps(void)
{
	double		t = 757382400e6;

	for (long i = 0; i < n; i++)
		key[i] = (Key) {0, SIGN + (uint64_t) (t += 1e4 * -log(uniform()))};
}

static void
make_normal(void)
{
	for (long i = 0; i < n; i++)
		key[i] = (Key) {0, ordered_float(normal())};
}

static void
make_iq(void)
{
	for (long i = 0; i < n; i++)
		key[i] = (Key) {0, ordered_float(100 + 15 * normal())};
}

/* Prices: cents, mostly small, many alike. */
static void
make_prices(void)
{
	for (long i = 0; i < n; i++)
		key[i] = (Key) {0, SIGN + (uint64_t) (exp(8 + 1.5 * normal()) * 100)};
}

static void
make_dups(void)
{
	for (long i = 0; i < n; i++)
		key[i] = (Key) {0, 0x80000000 + 1 + (uint64_t) i / 100};
}

static void
make_uuid(void)
{
	n /= 2;
	for (long i = 0; i < n; i++)
		key[i] = (Key) {(rnd() & ~UINT64_C(0xF000)) | 0x4000, (rnd() & ~(UINT64_C(3) << 62)) | UINT64_C(2) << 62};
}

/* 1,000 tenants of different sizes, one event in 10 ms on the whole, in microseconds. */
static void
make_tenant(void)
{
	double		t = 757382400e6;

	for (long i = 0; i < n; i++)
	{
		double		u = uniform();

		key[i] = (Key) {0x80000000 + 1 + (uint64_t) (1000 * u * u), SIGN + (uint64_t) (t += 1e4 * -log(uniform()))};
	}
}

static void
read_text(const char *file)
{
	FILE	   *f = fopen(file, "r");
	char	   *line = NULL;
	size_t		cap = 0,
				used = 0,
				room = 0;
	ssize_t		len;
	long		m = 0;

	if (f == NULL)
	{
		n = 0;
		return;
	}
	while (m < n && (len = getline(&line, &cap, f)) > 0)
	{
		len -= line[len - 1] == '\n';
		if (len < 1 || len > SFX_MAX_ENTRY - 2)
			continue;
		if (used + (size_t) len > room)
			text = realloc(text, room = 2 * room + (size_t) len + 1000000);
		memcpy(text + used, line, (size_t) len);
		key[m++] = (Key) {used, (uint64_t) len};
		used += (size_t) len;
	}
	free(line);
	fclose(f);
	n = m;
}

static const struct
{
	const char *name;
	Kind		kind;
	void		(*make) (void);
	double		mark[2];		/* random TID order, table order */
	double		btree;
}			sets[] = {
	{"random", INT8, make_random, {8.7, 5.6}, 22.5},
	{"serial", INT8, make_serial, {3.2, 0.25}, 22.5},
	{"timestamps", INT8, make_timestamps, {5.1, 2.1}, 22.5},
	{"normal(0,1)", INT8, make_normal, {7.2, 4.2}, 22.5},
	{"normal(100,15)", INT8, make_iq, {7.2, 4.2}, 22.5},
	{"prices", INT8, make_prices, {0, 0}, 7.1},
	{"100 per key", INT4, make_dups, {2.7, 0.55}, 7.1},
	{"uuid", UUID, make_uuid, {16.0, 13.1}, 31.6},
	{"tenant, time", TENANT, make_tenant, {6.5, 3.5}, 31.6},
	{"emails", TEXT, NULL, {9.0, 6.0}, 46.5},
	{"urls", TEXT, NULL, {13.5, 9.5}, 100},
	{"paths", TEXT, NULL, {12.8, 8.7}, 93.6},
};

/* ---- the information limit ---- */

/*
 * Bits per key of distinct keys with gap g on average: those of the gap's geometric distribution.
 */
static double
gap_bits(double g)
{
	if (g <= 1)
		return 0;
	return g > 1e6 ? log2(g) + 1.4426950408889634 : g * log2(g) - (g - 1) * log2(g - 1);
}

static double
key_limit(Kind kind)
{
	double		bits = 0;
	long		w = 100,
				m = 0;

	if (kind == TEXT)
		return NAN;
	if (kind == INT4)			/* lists of 100 */
		return 0;
	for (long i = w; i + w < n; i += w, m++)
	{
		double		d = (double) (key[i + w].lo - key[i - w].lo);

		if (kind == UUID)
			d = ((double) (key[i + w].hi - key[i - w].hi) / 16) * 4611686018427387904.0;
		else if (kind == TENANT && key[i + w].hi != key[i - w].hi)
			d = 2e4 * (double) w * 1000;
		bits += gap_bits(d / (2.0 * (double) w));
	}
	return bits / (double) m / 8;
}

/* Bytes per TID to tell in which order they stand; runs of equal keys are in order. */
static double
tid_limit(Kind kind)
{
	double		bits = (lgamma((double) n + 1) - (kind == INT4 ? (double) n / 100 * lgamma(101) : 0)) / log(2);

	return bits / (double) n / 8;
}

/* ---- packing ---- */

static SfxHope *dict;			/* NULL: none */
static SfxRestSample sample;

static int
open_leaf(SfxLeaf *l, const uint8_t *body, uint32_t len)
{
	int			r = sfx_leaf_open(l, body, len, NULL);

	l->dict = l->dictno ? dict : NULL;
	return r;
}

/* A dictionary of that scheme from the sample; its bytes. */
static long
train(SfxHopeScheme scheme)
{
	uint32_t	limit = scheme >= SFX_HOPE_ALM ? 4096 : 16384;
	SfxHopeKey *rests = malloc(sizeof(SfxHopeKey) * SFX_SAMPLE_KEYS);
	size_t		room = sfx_hope_build_size(scheme, limit, SFX_SAMPLE_BYTES);
	size_t		cap = SFX_HOPE_DICT_BOUND(scheme, limit);
	void	   *scratch = malloc(room);
	uint8_t    *bytes = malloc(cap);
	int			len = sfx_hope_build(scheme, limit, rests, sfx_sample_keys(&sample, rests), scratch, room, bytes, cap);
	size_t		size = len > 0 ? sfx_hope_state_size(bytes, (size_t) len) : 0;

	dict = malloc(size);
	if (size == 0 || dict == NULL || sfx_hope_open(dict, size, bytes, (size_t) len) != SFX_OK)
		abort();
	free(rests);
	free(scratch);
	free(bytes);
	return len;
}

/* The first pages are kept, for times. */
#define HOT		4
#define PROBES	4000
#define ROUNDS	50

static uint8_t hot[HOT][PAGE];
static uint32_t hotlen[HOT];
static long hotentries;

typedef struct Sizes
{
	double		keys,
				lists,
				tids,
				blocks,
				page;
	long		npages;
	long		nblocks;
	long		intcodec[10],
				tidcodec[10];
} Sizes;

static int
account(void *ctx, const SfxLeafOut *o)
{
	Sizes	   *s = ctx;
	SfxLeaf		l;
	Block		k;
	Lists		lists;
	const uint8_t *end;
	double		before = s->keys + s->lists + s->tids;

	if (open_leaf(&l, o->body, o->len) != SFX_OK)
		abort();
	for (int b = 0; b < l.nblocks; b++)
	{
		if (sfx_leaf_open_block(&l, b, &k) != SFX_OK || sfx_leaf_open_lists(&k, 0, 0, &lists) != SFX_OK)
			abort();
		end = sfx_leaf_tids_end(&k, &lists);
		if (k.kind == SFX_BLK_FIXED)
			s->intcodec[k.fix.ints.codec]++;
		else
			s->intcodec[0]++;
		s->tidcodec[*lists.tids & 7]++;
		s->keys += (double) (k.ends - (k.prefix + k.prefixlen));
		s->lists += (double) (lists.tids - k.ends);
		s->tids += (double) (end - lists.tids);
	}
	if (s->npages < HOT)
	{
		memcpy(hot[s->npages], o->body, o->len);
		hotlen[s->npages] = o->len;
		hotentries = (s->npages == 0 ? 0 : hotentries) + o->nentries;
	}
	s->page += PAGE - (double) o->len + (double) l.priv[PV_DIR];
	s->blocks += (double) o->len - l.priv[PV_DIR] - (s->keys + s->lists + s->tids - before);
	s->npages++;
	s->nblocks += l.nblocks;
	return 0;
}

static void
pack(Kind kind, Sizes *s)
{
	static void *mem;
	SfxPos		low = {(const uint8_t *) "", 0, 0};
	uint8_t		bytes[SFX_MAX_ENTRY + 16];
	SfxPacker  *p;

	if (mem == NULL)
		mem = malloc(sfx_packer_size());
	memset(s, 0, sizeof(*s));
	p = sfx_packer_init(mem, CAPACITY, &low, account, s, NULL);
	if (dict)
		sfx_packer_add_dict(p, dict, 1);
	else
	{
		sfx_sample_init(&sample);
		sfx_packer_set_sample(p, &sample);
	}
	for (long i = 0; i < n; i++)
	{
		uint32_t	len = key_bytes(kind, &key[i], bytes);
		SfxEntry	e = {bytes, len, 0, NULL, tid[i]};

		if (sfx_packer_add(p, &e) != SFX_OK)
			abort();
	}
	if (sfx_packer_finish(p, NULL) != SFX_OK)
		abort();
}

static void
order_tids(Kind kind, bool random)
{
	for (long i = 0; i < n; i++)
		tid[i] = SFX_TID(i / ROWS, i % ROWS + 1);
	for (long i = n - 1; i > 0 && random; i--)
	{
		long		j = (long) (rnd() % (uint64_t) (i + 1));
		uint64_t	t = tid[i];

		tid[i] = tid[j];
		tid[j] = t;
	}
	/* equal keys have their TIDs in order */
	for (long i = 0, j; i < n; i = j)
	{
		for (j = i + 1; j < n && (kind == TEXT ? cmp_text : cmp_key) (&key[i], &key[j]) == 0; j++)
			;
		if (j > i + 1)
			qsort(tid + i, (size_t) (j - i), sizeof(uint64_t), cmp_tid);
	}
}

/* ---- times: best of several rounds, pages in the cache ---- */

static volatile long sink;

/* Find a key in its page: which block, and which key of it. */
static double
time_find(Kind kind, long npages)
{
	static uint8_t keys[PROBES][SFX_MAX_ENTRY + 16];
	static SfxPos pos[PROBES];
	static int	where[PROBES];
	double		best = 1e9;
	long		sum = 0;

	for (int i = 0; i < PROBES; i++)
	{
		long		e = (long) (rnd() % (uint64_t) hotentries);
		SfxLeaf		l;

		pos[i] = (SfxPos) {keys[i], key_bytes(kind, &key[e], keys[i]), 0};
		for (where[i] = 0; where[i] + 1 < (npages < HOT ? npages : HOT); where[i]++)
			if (open_leaf(&l, hot[where[i]], hotlen[where[i]]) != SFX_OK || sfx_leaf_cmp_fences(&l, &pos[i]) <= 0)
				break;
	}
	for (int round = 0; round < ROUNDS; round++)
	{
		double		t = now();

		for (int i = 0; i < PROBES; i++)
		{
			SfxLeaf		l;
			Block		k;
			bool		equal = false;

			if (open_leaf(&l, hot[where[i]], hotlen[where[i]]) != SFX_OK ||
				sfx_leaf_open_block(&l, sfx_leaf_find_block(&l, &pos[i]), &k) != SFX_OK)
				abort();
			sum += sfx_leaf_find_lo(&l, &k, SFX_SEEK_PLACE, &pos[i], &equal);
			sum += equal;
		}
		t = (now() - t) / PROBES;
		best = t < best ? t : best;
	}
	sink = sum;
	return best;
}

/* A point lookup as a scan does it: the entries of one key come out. */
static double
time_lookup(Kind kind, long npages)
{
	static uint8_t keys[PROBES][SFX_MAX_ENTRY + 16];
	static SfxPos pos[PROBES];
	static int	where[PROBES];
	static SfxBlock blk;
	double		best = 1e9;
	long		sum = 0;

	for (int i = 0; i < PROBES; i++)
	{
		long		e = (long) (rnd() % (uint64_t) hotentries);
		SfxLeaf		l;

		pos[i] = (SfxPos) {keys[i], key_bytes(kind, &key[e], keys[i]), tid[e]};
		for (where[i] = 0; where[i] + 1 < (npages < HOT ? npages : HOT); where[i]++)
			if (open_leaf(&l, hot[where[i]], hotlen[where[i]]) != SFX_OK || sfx_leaf_cmp_fences(&l, &pos[i]) <= 0)
				break;
	}
	for (int round = 0; round < ROUNDS; round++)
	{
		double		t = now();

		for (int i = 0; i < PROBES; i++)
		{
			SfxLeaf		l;
			SfxPos		end = {pos[i].key, pos[i].len, UINT64_MAX};

			if (open_leaf(&l, hot[where[i]], hotlen[where[i]]) != SFX_OK ||
				sfx_leaf_decode(&l, sfx_leaf_find_block(&l, &pos[i]), &pos[i], &end, &blk) != SFX_OK || blk.nent < 1)
				abort();
			sum += (long) blk.tid[0];
		}
		t = (now() - t) / PROBES;
		best = t < best ? t : best;
	}
	sink = sum;
	return best;
}

/* ns per entry: the integers of the keys alone; keys' bytes and TIDs. */
static void
time_decode(long npages, double *ints, double *entries)
{
	static SfxBlock blk;
	uint64_t	v[SFX_INT_MAX];
	long		sum = 0;

	*ints = *entries = 1e9;
	for (int round = 0; round < 2 * ROUNDS; round++)
	{
		double		t = now(),
				   *best = round % 2 ? ints : entries;

		for (int p = 0; p < (npages < HOT ? npages : HOT); p++)
		{
			SfxLeaf		l;
			Block		k;

			if (open_leaf(&l, hot[p], hotlen[p]) != SFX_OK)
				abort();
			for (int b = 0; b < l.nblocks; b++)
				if (round % 2)
				{
					if (sfx_leaf_open_block(&l, b, &k) == SFX_OK && k.kind == SFX_BLK_FIXED)
						sum += sfx_int_read(&k.fix.ints, 0, k.nkeys, v) + (long) v[k.nkeys / 2];
				}
				else
					sum += sfx_leaf_decode(&l, b, NULL, NULL, &blk) + blk.nent;
		}
		t = (now() - t) / (double) hotentries;
		*best = t < *best ? t : *best;
	}
	sink = sum;
}

static void
print_won(const char *what, const long *won, const char *const *name)
{
	long		all = 0;

	for (int c = 0; c < 10; c++)
		all += won[c];
	printf("  %s", what);
	for (int c = 0; c < 10; c++)
		if (won[c] * 200 > all)
			printf(" %s %.0f%%", name[c], 100.0 * (double) won[c] / (double) all);
}

/* One line of the table. */
static void
measure(size_t set, double limit, bool random, const char *scheme, long dictbytes)
{
	static const char *const intnames[] = {"strings", "PLAIN", "FOR", "LFOR", "EF", "DBP", "PDBP", "VBYTE", "VARINTGB", "SVBYTE"};
	static const char *const tidnames[] = {"single", "PLAIN", "RUNS", "FOR", "ZIGZAG", "POSTING", "PATCHED", "", "", ""};
	Kind		kind = sets[set].kind;
	Sizes		s;
	double		ints,
				entries;
	double		all = limit + (random ? tid_limit(kind) : 0),
				total;

	pack(kind, &s);
	total = ((double) s.npages * PAGE + (double) dictbytes) / (double) n;
	time_decode(s.npages, &ints, &entries);
	printf("%-15s %-12s %-6s %9ld  %7.3f  mark %6.2f %-4s limit %6.2f  btree %5.1f  find %4.0f lookup %4.0f ns  decode %4.2f ints %4.2f ns  of which keys %6.3f tids %6.3f lists %5.3f "
		   "blocks %5.3f page %5.3f;", sets[set].name, scheme, random ? "random" : "table", n, total, sets[set].mark[!random],
		   sets[set].mark[!random] == 0 ? "" : total <= sets[set].mark[!random] ? "ok" : "MISS", all, sets[set].btree,
		   time_find(kind, s.npages), time_lookup(kind, s.npages), entries, kind == TEXT ? NAN : ints,
		   s.keys / (double) n, s.tids / (double) n, s.lists / (double) n, s.blocks / (double) n, s.page / (double) n);
	print_won("", s.intcodec, intnames);
	print_won(";", s.tidcodec, tidnames);
	printf("\n");
	fflush(stdout);
}

static void
run(size_t set)
{
	static const struct
	{
		const char *name;
		SfxHopeScheme scheme;
	}			schemes[] = {{"single", SFX_HOPE_SINGLE}, {"double", SFX_HOPE_DOUBLE}, {"alm_improved", SFX_HOPE_ALM_IMPROVED}, {"fsst", SFX_FSST}};
	Kind		kind = sets[set].kind;
	double		limit;

	qsort(key, (size_t) n, sizeof(Key), kind == TEXT ? cmp_text : cmp_key);
	limit = key_limit(kind);
	for (int random = 1; random >= 0; random--)
	{
		order_tids(kind, random);
		measure(set, limit, random, "", 0);
		for (size_t i = 0; kind == TEXT && i < sizeof(schemes) / sizeof(*schemes); i++)
		{
			long		len = train(schemes[i].scheme);

			measure(set, limit, random, schemes[i].name, len);
			free(dict);
			dict = NULL;
		}
	}
}

int
main(int argc, char **argv)
{
	long		count = 10000000;
	const char *only = NULL;

	sfx_cpu_init();
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
			count = atol(argv[++i]);
		else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
			only = argv[++i];
	key = malloc((size_t) count * sizeof(Key));
	tid = malloc((size_t) count * sizeof(uint64_t));
	if (count < 1000 || key == NULL || tid == NULL)
		return 1;
	printf("# bytes per entry of whole 8 KB leaves; marks are for 10 M entries (uuid 5 M)\n");
	for (size_t s = 0; s < sizeof(sets) / sizeof(*sets); s++)
	{
		if (only && strcmp(only, sets[s].name) != 0)
			continue;
		n = count;
		seed = 7;
		if (sets[s].make)
			sets[s].make();
		else
		{
			n = 0;
			for (int i = 1; i < argc; i++)
				if (strncmp(argv[i], sets[s].name, strlen(sets[s].name)) == 0 && argv[i][strlen(sets[s].name)] == '=')
				{
					n = count;
					read_text(argv[i] + strlen(sets[s].name) + 1);
				}
		}
		if (n > 0)
			run(s);
	}
	return 0;
}
