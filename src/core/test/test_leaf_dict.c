/* test_leaf_dict.c - leaf pages whose keys have rests in the code of a dictionary */
#include "leaf_kinds.h"

/* An opened dictionary made from the sample. */
static SfxHope *
open_trained(SfxHopeScheme scheme)
{
	static SfxHopeKey keys[SFX_SAMPLE_KEYS];
	size_t		cap = SFX_HOPE_DICT_BOUND(scheme, 4096);
	uint8_t    *bytes = malloc(cap);
	size_t		size = sfx_hope_build_size(scheme, 4096, sample.used);
	void	   *scratch = malloc(size);
	uint32_t	nkeys = sfx_sample_keys(&sample, keys);
	int			len = sfx_hope_build(scheme, 4096, keys, nkeys, scratch, size, bytes, cap);
	SfxHope    *d;

	if (len < 0)
		abort();
	free(scratch);
	size = sfx_hope_state_size(bytes, (size_t) len);
	d = malloc(size);
	if (sfx_hope_open(d, size, bytes, (size_t) len) != SFX_OK)
		abort();
	free(bytes);
	return d;
}

/* A dictionary made from the rests that front coding leaves of text and paths. */
static void
train(SfxHopeScheme scheme)
{
	sfx_sample_init(&sample);
	sampling = true;
	make(PATHS, 12000);
	pack(CAPACITY, NULL, NULL);
	make(CASES, 4000);
	pack(CAPACITY, NULL, NULL);
	sampling = false;
	dict = open_trained(scheme);
}

static size_t
packed_size(void)
{
	size_t		bytes = 0;

	pack(CAPACITY, NULL, NULL);
	for (int i = 0; i < npages; i++)
		bytes += page[i].len;
	return bytes;
}

/*
 * Paths get smaller by it, unless packing is about as good (codes of single bytes); pages that do
 * not are written as without a dictionary, and do not name it.
 */
static void
test_gain(void)
{
	SfxHope    *d = dict;
	size_t		with,
				without;
	int			named = 0;
	SfxLeaf		l;

	make(PATHS, 12000);
	with = packed_size();
	make(PATHS, 12000);
	dict = NULL;
	without = packed_size();
	dict = d;
	ok(sfx_hope_scheme(d) == SFX_HOPE_SINGLE ? with <= without + without / 16 : with < without,
	   "%spaths take %zu bytes, %zu without", order_name(), with, without);
	make(UUID, 3000);
	pack(CAPACITY, NULL, NULL);
	for (int i = 0; i < npages; i++)
		named += open_leaf(&l, &page[i]) != SFX_OK || l.dictno != 0;
	ok(named == 0, "%spages of uuids name no dictionary", order_name());
}

/* Of two dictionaries pages name the one made for such keys, wherever it stands. */
static void
test_choice(void)
{
	SfxHope    *other;
	size_t		alone;

	sfx_sample_init(&sample);
	for (; sample.nkeys < 1000; sample.end[sample.nkeys++] = sample.used)
	{
		memcpy(sample.bytes + sample.used, "\xF0\xF1\xF2\xF3", 4);
		sample.used += 4;
	}
	other = open_trained(sfx_hope_scheme(dict));
	make(PATHS, 12000);
	alone = packed_size();
	for (int last = 0; last < 2; last++)
	{
		void	   *mem = packer_memory();
		SfxPos		none = {NULL, 0, 0};
		SfxPacker  *p = sfx_packer_init(mem, CAPACITY, &none, keep_page, NULL, order);
		SfxLeaf		l;
		int			wrong = 0;
		size_t		bytes = 0;
		uint64_t	raw,
					stored;

		npages = 0;
		sfx_packer_add_dict(p, last ? other : dict, last ? DICTNO + 1 : DICTNO);
		sfx_packer_add_dict(p, last ? dict : other, last ? DICTNO : DICTNO + 1);
		for (int i = 0; i < n; i++)
			sfx_packer_add(p, &entry[i]);
		sfx_packer_finish(p, NULL);
		for (int i = 0; i < npages; i++)
		{
			wrong += open_leaf(&l, &page[i]) != SFX_OK || l.dictno > DICTNO;
			bytes += page[i].len;
		}
		sfx_packer_rests(p, DICTNO + 1, &raw, &stored);
		ok(wrong == 0 && bytes == alone && raw == 0, "%spages of paths name their dictionary, the %s one",
		   order_name(), last ? "last" : "first");
		free(mem);
	}
	free(other);
}

/*
 * Pack entries [0, n) again, of which pages [0, old) have every other one, with the codes of these
 * pages.
 */
static void
pack_with_codes(int old)
{
	void	   *mem = packer_memory();
	SfxPos		none = {NULL, 0, 0};
	SfxPacker  *p = sfx_packer_init(mem, CAPACITY, &none, keep_page, NULL, order);
	static SfxCodes codes;
	int			at = 0;

	sfx_packer_add_dict(p, dict, DICTNO);
	for (int i = 0; i < old; i++)
	{
		SfxLeaf		l;

		open_leaf(&l, &page[i]);
		for (int b = 0; b < l.nblocks; b++)
		{
			if (sfx_leaf_decode(&l, b, NULL, NULL, &blk) != SFX_OK || sfx_leaf_codes(&l, b, &codes) != SFX_OK)
				abort();
			for (int e = 0; e < blk.nent; e++)
			{
				sfx_packer_add_run(p, &blk, e, e + 1, &codes);
				at++;
				if (at < n)
					sfx_packer_add(p, &entry[at++]);
			}
		}
	}
	sfx_packer_finish(p, NULL);
	free(mem);
}

/* Codes that are taken from pages make the same pages as codes that are made anew. */
static void
test_codes(void)
{
	static SfxEntry all[MAXN];
	int			nall,
				old,
				made,
				differ;

	make(PATHS, 12000);
	memcpy(all, entry, sizeof(SfxEntry) * (size_t) n);
	nall = n;
	for (n = 0; 2 * n < nall; n++)
		entry[n] = all[2 * n];
	pack(CAPACITY, NULL, NULL);
	old = npages;
	memcpy(entry, all, sizeof(SfxEntry) * (size_t) nall);
	n = nall;
	pack(CAPACITY, NULL, NULL);
	made = npages;
	pack_with_codes(old);
	if (hope_is_fsst(dict))
	{
		size_t		with = 0,
					without = 0;
		const char *why;

		for (int i = old; i < made; i++)
			without += page[i].len;
		for (int i = made; i < npages; i++)
			with += page[i].len;
		for (int i = 0; i < made; i++)
			free(page[i].body);
		npages -= made;
		memmove(page, page + made, sizeof(Page) * (size_t) npages);
		why = check_pages(CAPACITY);
		ok(why == NULL && nearly_as_small(with, without), "%spages packed with codes of other pages hold the same: %zu bytes, %zu without%s%s", order_name(), with, without,
		   why ? "; " : "", why ? why : "");
		return;
	}
	differ = npages - made != made - old;
	for (int i = old; i < made && !differ; i++)
		differ = page[i].len != page[i + made - old].len || memcmp(page[i].body, page[i + made - old].body, page[i].len) != 0;
	ok(!differ, "%spages packed with codes of other pages are those packed without", order_name());
}

/*
 * Without its dictionary, or with another one, a leaf gives errors or wrong keys, but correct TIDs.
 */
static void
test_wrong_dict(void)
{
	SfxHope    *right = dict;
	SfxHope    *wrong;
	SfxLeaf		l;
	SfxPos		lo;
	uint64_t	tid[SFX_BLOCK_ENTRIES];
	const char *why;
	int			missing = 0,
				found = 0;

	train(sfx_hope_scheme(right) == SFX_HOPE_SINGLE ? SFX_HOPE_DOUBLE : SFX_HOPE_SINGLE);
	wrong = dict;
	dict = right;
	make(PATHS, 6000);
	pack(CAPACITY, NULL, NULL);
	for (int i = 0; i < npages; i++)
	{
		lo = pos_of(&entry[page[i].first]);
		sfx_leaf_open(&l, page[i].body, page[i].len, NULL);
		/* packed pages need none */
		if (sfx_hope_scheme(right) == SFX_HOPE_SINGLE && l.dictno == 0)
		{
			found++;
			continue;
		}
		missing += l.dictno != DICTNO || sfx_leaf_tids(&l, 0, tid) < 1 ||
			sfx_leaf_decode(&l, 0, NULL, NULL, &blk) != SFX_CORRUPT || sfx_leaf_decode(&l, 0, &lo, NULL, &blk) != SFX_CORRUPT;
		found += sfx_leaf_verify(page[i].body, page[i].len, NULL, wrong, &blk, &why) == SFX_CORRUPT;
	}
	ok(missing == 0, "%swithout the dictionary keys are corrupt and TIDs are not", order_name());
	ok(found == npages, "%sthe verifier refuses pages read with another dictionary", order_name());
	free(wrong);
}

/* A sample stays evenly spread when it overflows. */
static void
test_sample(void)
{
	static SfxHopeKey keys[SFX_SAMPLE_KEYS];
	uint32_t	nkeys;

	sfx_sample_init(&sample);
	sampling = true;
	for (int i = 0; i < 4; i++)
	{
		make(PATHS, 40000);
		pack(CAPACITY, NULL, NULL);
	}
	sampling = false;
	nkeys = sfx_sample_keys(&sample, keys);
	ok(sample.stride > 1 && nkeys >= SFX_SAMPLE_KEYS / 2 - 16 && nkeys <= SFX_SAMPLE_KEYS &&
	   keys[nkeys - 1].key + keys[nkeys - 1].len == sample.bytes + sample.used,
	   "a sample of %u rests, every group of %u", nkeys, sample.stride);
}

static void
test_dicts(void)
{
	test_sample();
	for (int scheme = 1; scheme <= SFX_FSST; scheme++)
	{
		order = NULL;
		train((SfxHopeScheme) scheme);
		test_gain();
		test_choice();
		test_codes();
		test_kinds();
		test_small();
		test_broken();
		test_wrong_dict();
		if (scheme == SFX_HOPE_DOUBLE || scheme == SFX_HOPE_ALM_IMPROVED || scheme == SFX_FSST)
		{
			order = &orders[scheme % NORDERS].base;
			test_codes();
			test_kinds();
			test_small();
			test_broken();
		}
		free(dict);
		dict = NULL;
	}
	order = NULL;
}

int
main(void)
{
	sfx_cpu_init();
	arena = malloc(ARENA);
	test_dicts();
	reset();
	free(arena);
	return done_testing();
}
