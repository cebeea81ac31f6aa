/*
 * test_leaf_cut.c - leaves with cut keys: each stored key is the beginning of its own whole key and
 * of no other one, keys that a leaf cannot place are found, and cut keys can be packed again
 */
#include "leaf_kinds.h"

#define MOST	1000

/* The entries that are packed; entry has them as they were before anything was cut. */
static SfxEntry given[MAXN];
static uint8_t loose[MAXN];		/* bits of each key's last byte that are not known */

static uint32_t capacity = CAPACITY;
static uint32_t part;			/* most entries of a page; 0: as many as fit */

/* Numbers of what was read: keys with loose bits, and blocks of each of the ways to store these. */
static long bits_cut;
static int	bit_blocks;
static int	ended_blocks;			/* whose keys are each ended by a bit */
static int	string_blocks;			/* front-coded, with a column of loose bits */
static int	single_blocks;			/* of one key */

static int
pack_cut(const SfxPos *low, const SfxPos *high)
{
	void	   *mem = packer_memory();
	SfxPos		none = {NULL, 0, 0};
	SfxPacker  *p = sfx_packer_init(mem, capacity, low ? low : &none, keep_page, NULL, NULL);
	int			r = SFX_OK;

	sfx_packer_cut_keys(p, MOST);
	sfx_packer_part(p, part);
	for (int i = 0; i < n && r == SFX_OK; i++)
		r = sfx_packer_add_cut(p, &given[i], loose[i]);
	if (r == SFX_OK)
		r = sfx_packer_finish(p, high);
	free(mem);
	return r;
}

/* Does the key begin with the known part of key i? */
static bool
begins(int i, const SfxEntry *e)
{
	return sfx_begins(given[i].key, given[i].keylen, loose[i], e->key, e->keylen);
}

/* Let the entries that are packed be those of the case. */
static void
give_all(void)
{
	memcpy(given, entry, sizeof(SfxEntry) * (size_t) n);
	memset(loose, 0, sizeof(loose));
}

/* Check the pages against entry; given becomes what was read. */
static const char *
check_cut(uint64_t *bytes)
{
	int			at = 0;

	*bytes = 0;
	for (int i = 0; i < npages; i++)
	{
		SfxLeaf		l;
		const char *why;

		if (sfx_leaf_verify(page[i].body, page[i].len, NULL, NULL, &blk, &why) != SFX_OK)
			return why;
		if (sfx_leaf_open(&l, page[i].body, page[i].len, NULL) != SFX_OK || !l.cut)
			return "not a cut leaf";
		*bytes += page[i].len;
		if (page[i].low.tid != 0 &&
			(page[i].low.len != entry[at].keylen ||
			 memcmp(page[i].low.key, entry[at].key, entry[at].keylen) != 0))
			return "a fence among the entries of a key is not whole";
		for (int b = 0; b < l.nblocks; b++)
		{
			SfxBlockInfo info;

			if (sfx_leaf_decode(&l, b, NULL, NULL, &blk) != SFX_OK ||
				sfx_leaf_block_info(&l, b, &info) != SFX_OK)
				return "decoding";
			bit_blocks += info.keycodec == SFX_KEYS_BITS;
			ended_blocks += info.keycodec == SFX_KEYS_ENDED;
			string_blocks += blk.bits && info.keycodec != SFX_KEYS_BITS &&
				info.keycodec != SFX_KEYS_ENDED;
			single_blocks += blk.bits && blk.nkeys == 1;
			for (int j = 0; j < blk.nent; j++, at++)
			{
				SfxEntry	e;
				uint8_t    *key;

				sfx_block_entry(&blk, j, &e);
				given[at] = e;
				loose[at] = (uint8_t) sfx_block_loose(&blk, j);
				bits_cut += loose[at] > 0;
				if (e.tid != entry[at].tid || !begins(at, &entry[at]))
					return "not the beginning of its key";
				if (loose[at] > 0 && e.keylen == entry[at].keylen)
					return "a key's last byte is cut";
				if (entry[at].keylen > MOST && e.keylen != entry[at].keylen)
					return "a long key is cut";
				key = arena_get(e.keylen);
				memcpy(key, e.key, e.keylen);
				given[at].key = key;
			}
		}
	}
	return at == n ? NULL : "entries are missing";
}

/* A key near one that is there: cut short, longer, or with another byte. */
static SfxPos
probe(uint8_t *buf)
{
	const SfxEntry *e = &entry[rnd(&seed) % (uint64_t) n];
	SfxPos		pos = {buf, e->keylen, rnd(&seed) % 2 ? 0 : e->tid};

	memcpy(buf, e->key, e->keylen);
	switch (rnd(&seed) % 4)
	{
		case 0:
			break;
		case 1:
			pos.len = (uint32_t) (rnd(&seed) % (e->keylen + 1));
			break;
		case 2:
			memset(buf + pos.len, (int) rnd(&seed), 3);
			pos.len += 3;
			break;
		default:
			buf[rnd(&seed) % e->keylen] ^= (uint8_t) (1u << rnd(&seed) % 8);
	}
	return pos;
}

/* That many entries of the page are before a position that none of its keys leaves undecided. */
static int
before(const Page *pg, const SfxPos *pos)
{
	int			all = 0;

	for (int j = pg->first; j < pg->first + (int) pg->nentries; j++)
	{
		SfxPos		e = {given[j].key, given[j].keylen, given[j].tid};

		all += sfx_cmp_pos(&e, pos) < 0;
	}
	return all;
}

/*
 * Which positions are undecided, and the places of the others, compared with a look at all keys of
 * the page.
 */
static const char *
check_undecided(int tries, int *met)
{
	static uint8_t buf[SFX_MAX_ENTRY + 16];

	for (int t = 0; t < tries; t++)
	{
		SfxPos		pos = probe(buf);
		int			i = 0,
					found = -1,
					r;
		SfxLeaf		l;
		SfxEntry	e;

		while (i + 1 < npages && sfx_cmp_pos(&page[i + 1].low, &pos) <= 0)
			i++;
		sfx_leaf_open(&l, page[i].body, page[i].len, NULL);
		for (int j = page[i].first; j < page[i].first + (int) page[i].nentries && found < 0; j++)
			if (sfx_leaves_open(given[j].key, given[j].keylen, loose[j], pos.key, pos.len))
				found = j;
		r = sfx_leaf_undecided(&l, &pos, &blk);
		if (r != (found >= 0))
			return "undecided or not";
		if (r == 0 && sfx_leaf_count(&l, &(SfxPos) {NULL, 0, 0}, &pos) != before(&page[i], &pos))
			return "a search passes over entries";
		if (r == 0)
			continue;
		++*met;
		sfx_block_entry(&blk, 0, &e);
		if (e.keylen != given[found].keylen || memcmp(e.key, given[found].key, e.keylen) != 0)
			return "another key is undecided";
		/* lists of keys that are whole may be in several blocks: these are not tested */
		if (given[found].keylen < entry[found].keylen &&
			(e.tid != given[found].tid ||
			 given[found + blk.nent - 1].tid != blk.tid[blk.nent - 1] ||
			 (found + blk.nent < n && begins(found, &given[found + blk.nent]))))
			return "not all of its entries";
	}
	return NULL;
}

/* Some entries are removed, as by VACUUM: the others are packed again, without the keys. */
static void
drop_some(int one_in)
{
	int			m = 0;

	for (int i = 0; i < n; i++)
		if (rnd(&seed) % (uint64_t) one_in != 0)
		{
			entry[m] = entry[i];
			loose[m] = loose[i];
			given[m++] = given[i];
		}
	n = m;
}

/* The same by runs of the pages' blocks, as a merge takes them over. */
static int
drop_by_runs(int one_in)
{
	static Page old[MAXPAGES];
	void	   *mem = packer_memory();
	SfxPos		none = {NULL, 0, 0};
	SfxPacker  *p = sfx_packer_init(mem, capacity, &none, keep_page, NULL, NULL);
	int			nold = npages,
				at = 0,
				m = 0,
				r = SFX_OK;

	memcpy(old, page, sizeof(Page) * (size_t) npages);
	npages = 0;
	sfx_packer_cut_keys(p, MOST);
	for (int i = 0; i < nold; i++)
	{
		SfxLeaf		l;

		sfx_leaf_open(&l, old[i].body, old[i].len, NULL);
		for (int b = 0; b < l.nblocks && r == SFX_OK; b++)
		{
			int			from = 0;

			sfx_leaf_decode(&l, b, NULL, NULL, &blk);
			for (int j = 0; j < blk.nent && r == SFX_OK; j++, at++)
			{
				if (rnd(&seed) % (uint64_t) one_in == 0)
				{
					r = sfx_packer_add_run(p, &blk, from, j, NULL);
					from = j + 1;
				}
				else
					entry[m++] = entry[at];
			}
			if (r == SFX_OK)
				r = sfx_packer_add_run(p, &blk, from, blk.nent, NULL);
		}
		free(old[i].body);
	}
	n = m;
	if (r == SFX_OK)
		r = sfx_packer_finish(p, NULL);
	free(mem);
	return r;
}

/*
 * New entries are added, whole, if no cut key leaves their place undecided.  Returns how many are
 * not.
 */
static int
bring_some(const SfxEntry *more, int nmore)
{
	static SfxEntry both[MAXN];
	static SfxEntry both_given[MAXN];
	static uint8_t both_loose[MAXN];
	int			m = 0,
				i = 0,
				out = 0;

	for (int j = 0; j <= nmore; j++)
	{
		while (i < n && (j == nmore || cmp_entry(&entry[i], &more[j]) < 0))
		{
			both[m] = entry[i];
			both_loose[m] = loose[i];
			both_given[m++] = given[i++];
		}
		if (j == nmore ||
			(m > 0 && sfx_begins(both_given[m - 1].key, both_given[m - 1].keylen, both_loose[m - 1],
								 more[j].key, more[j].keylen)) ||
			(i < n && begins(i, &more[j])))
		{
			out += j < nmore;
			continue;
		}
		both[m] = both_given[m] = more[j];
		both_loose[m++] = 0;
	}
	memcpy(entry, both, sizeof(SfxEntry) * (size_t) m);
	memcpy(given, both_given, sizeof(SfxEntry) * (size_t) m);
	memcpy(loose, both_loose, (size_t) m);
	n = m;
	return out;
}

static void
forget_pages(void)
{
	for (int i = 0; i < npages; i++)
		free(page[i].body);
	npages = 0;
}

/* The same entries on pages of few, except for those of one key. */
static const char *
parted(void)
{
	uint64_t	bytes;
	const char *err;

	part = 1 + (uint32_t) (rnd(&seed) % 700);
	err = pack_cut(NULL, NULL) != SFX_OK ? "packing parts" : check_cut(&bytes);
	for (int i = 0; i < npages && !err; i++)
	{
		const SfxEntry *first = &entry[page[i].first];
		const SfxEntry *last = first + page[i].nentries - 1;

		if (page[i].nentries > part &&
			(first->keylen != last->keylen || memcmp(first->key, last->key, first->keylen) != 0))
			err = "too many on a page";
	}
	part = 0;
	forget_pages();
	return err;
}

/* One kind of keys: packed, read, thinned out, filled up and packed again. */
static const char *
one_kind(Kind kind, uint64_t *whole, uint64_t *cut, int *met)
{
	static SfxEntry more[MAXN];
	const char *err;
	int			nmore = 0;

	make(kind, 9000);
	sort_entries();
	if (pack(CAPACITY, NULL, NULL) != SFX_OK)
		return "packing whole keys";
	*whole = 0;
	for (int i = 0; i < npages; i++)
		*whole += page[i].len;
	forget_pages();
	/* a third comes later */
	for (int i = 0, m = 0; i < n; i++)
	{
		if (i % 3 == 1)
			more[nmore++] = entry[i];
		else
			entry[m++] = entry[i];
		if (i == n - 1)
			n = m;
	}
	give_all();
	if (pack_cut(NULL, NULL) != SFX_OK)
		return "packing";
	if ((err = check_cut(cut)) != NULL || (err = check_undecided(1500, met)) != NULL)
		return err;
	/* the entries of one key may have moved to the next page */
	if (kind != DUPS && !are_full(capacity, room_for_one()))
		return "a page is not full";
	forget_pages();
	if ((err = parted()) != NULL)
		return err;
	drop_some(4);
	if (pack_cut(NULL, NULL) != SFX_OK)
		return "packing what is left";
	if ((err = check_cut(cut)) != NULL)
		return err;
	if (drop_by_runs(10) != SFX_OK)
		return "packing blocks of what is left";
	if ((err = check_cut(cut)) != NULL || (err = check_undecided(500, met)) != NULL)
		return err;
	forget_pages();
	bring_some(more, nmore);
	if (pack_cut(NULL, NULL) != SFX_OK)
		return "packing what came";
	if ((err = check_cut(cut)) != NULL || (err = check_undecided(500, met)) != NULL)
		return err;
	return NULL;
}

static void
test_cut_kinds(void)
{
	static const Kind kinds[] = {SERIAL, RANDOM, DUPS, UUID, TEXT, PATHS, COMPOSITE, MIXED, WIDE,
	UUID4, SPARSE, LONGKEYS};
	int			met = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
	{
		uint64_t	whole = 0,
					cut = 0;
		const char *err = one_kind(kinds[i], &whole, &cut, &met);

		ok(!err, "%s: cut%s%s", kind_name[kinds[i]], err ? ": " : "", err ? err : "");
		printf("# %s: %llu bytes whole, %llu cut\n", kind_name[kinds[i]],
			   (unsigned long long) whole, (unsigned long long) cut);
	}
	ok(met > 1000, "positions were undecided: %d", met);
}

/* Sort the entries, each of them once. */
static void
sort_distinct(void)
{
	sort_entries();
	for (int i = 0, m = 0; i < n; i++)
	{
		if (m == 0 || cmp_entry(&entry[m - 1], &entry[i]) != 0)
			entry[m++] = entry[i];
		if (i == n - 1)
			n = m;
	}
}

/* Numbers of a shape: the difference of two of them has up to so many bits, more or less often. */
static void
make_numbers(uint64_t shape, int count)
{
	uint32_t	width = 1 + (uint32_t) (shape % 4 == 0 ? rnd(&seed) % 20 : 4u << shape % 3);
	uint64_t	hi = rnd(&seed),
				lo = rnd(&seed);

	reset();
	while (n < count)
	{
		uint64_t	most = shape % 5 == 0 ? 64 : 16 + shape % 48;
		uint64_t	gap = 1 + (rnd(&seed) >> rnd(&seed) % most);
		uint64_t	r = rnd(&seed);
		int			list = r % 20 == 0 ? 3 : 1;
		uint8_t		key[48] = {0};
		const uint8_t *from = shape % 2 ? key + (16 - width % 16) % 16 : key + 4;

		/* in some shapes, lists of thousands; consecutive keys */
		if (r % 50 == 0 && shape % 7 == 0)
			list = (int) ((r >> 32) % 2000);
		if (shape % 3 == 0 && r % 16 < 4)
			gap = 1;
		else if (shape % 3 == 1)
			gap = rnd(&seed) | 1;
		hi += lo + gap < lo;
		lo += gap;
		for (int i = 0; i < 8; i++)
		{
			key[i] = (uint8_t) (hi >> (56 - 8 * i));
			key[8 + i] = (uint8_t) (lo >> (56 - 8 * i));
			key[16 + i] = (uint8_t) (r >> i);
		}
		for (int i = 0; i < list && n < count; i++)
			memcpy(add(width, random_tid()), from, width);
	}
	sort_distinct();
}

/* Long keys that share much, among those that are there. */
static int
make_long(SfxEntry *more, int count)
{
	int			m = 0;

	for (int i = 0; i < count; i++)
	{
		const SfxEntry *e = &entry[rnd(&seed) % (uint64_t) n];
		uint8_t    *key = arena_get(80);

		memcpy(key, e->key, e->keylen < 3 ? e->keylen : 3);
		memset(key + 3, (int) rnd(&seed), 77);
		for (int j = 0; j < 3; j++)
		{
			key[79] = (uint8_t) j;
			more[m].key = arena_get(80);
			memcpy((uint8_t *) more[m].key, key, 80);
			more[m].keylen = 80;
			more[m].paylen = 0;
			more[m].payload = NULL;
			more[m++].tid = SFX_TID(i, 1 + j);
		}
	}
	qsort(more, (size_t) m, sizeof(SfxEntry), cmp_entry);
	return m;
}

/*
 * Numbers of all shapes, cut between bits, thinned out, filled up with keys that do not suit them.
 */
static void
test_cut_numbers(void)
{
	static SfxEntry more[3000];
	const char *err = NULL;
	int			met = 0,
				round = 0;

	for (; round < 120 && !err; round++)
	{
		uint64_t	bytes;

		make_numbers((uint64_t) round, 400 + (int) (rnd(&seed) % 8000));
		give_all();
		capacity = 4096 + (uint32_t) (rnd(&seed) % (CAPACITY - 4096));
		if (pack_cut(NULL, NULL) != SFX_OK)
			err = "packing";
		for (int again = 0; again < 4 && !err; again++)
		{
			int			one_in = again == 0 ? 2 : again == 1 ? 1000 : 7;

			if ((err = check_cut(&bytes)) != NULL || (err = check_undecided(300, &met)) != NULL)
				break;
			if (drop_by_runs(one_in) != SFX_OK)
				err = "packing blocks";
			else if ((err = check_cut(&bytes)) == NULL && n > 0)
			{
				forget_pages();
				bring_some(more, make_long(more, (int) (rnd(&seed) % 40)));
				err = pack_cut(NULL, NULL) != SFX_OK ? "packing what came" : NULL;
			}
			else if (n == 0)
				break;
		}
	}
	capacity = CAPACITY;
	ok(!err, "numbers of all shapes%s%s (%d)", err ? ": " : "", err ? err : "", round);
	ok(bits_cut > 100000 && bit_blocks > 1000 && string_blocks > 100,
	   "keys are cut between bits: %ld; blocks %d, of strings %d", bits_cut, bit_blocks,
	   string_blocks);
}

/*
 * Pages with other bytes in some places: all functions that read them end, and stay within them
 * (B2).
 */
static void
damage_pages(int tries)
{
	static uint8_t buf[SFX_MAX_ENTRY + 16];
	int			read = 0;

	for (int t = 0; t < tries; t++)
	{
		const Page *pg = &page[rnd(&seed) % (uint64_t) npages];
		uint8_t    *body = malloc(pg->len);
		const char *why;
		SfxLeaf		l;

		memcpy(body, pg->body, pg->len);
		for (int i = 1 + (int) (rnd(&seed) % 20); i > 0; i--)
			body[rnd(&seed) % pg->len] = (uint8_t) (rnd(&seed) >> 8);
		(void) sfx_leaf_verify(body, pg->len, NULL, NULL, &blk, &why);
		if (sfx_leaf_open(&l, body, pg->len, NULL) == SFX_OK)
			for (int b = 0; b < l.nblocks; b++)
			{
				SfxPos		pos = probe(buf);

				read += sfx_leaf_decode(&l, b, NULL, NULL, &blk) == SFX_OK;
				(void) sfx_leaf_undecided(&l, &pos, &blk);
				(void) sfx_leaf_count(&l, &(SfxPos) {NULL, 0, 0}, &pos);
			}
		free(body);
	}
	ok(read > tries, "damaged pages: %d blocks were read", read);
}

/*
 * Keys are added to others, a tenth each time, up to sixty times as many: hardly any begins as an
 * old one is stored, since new ones are stored as neighbours require (W12).
 */
static void
test_cut_grown(void)
{
	static SfxEntry more[1000];
	const char *err = NULL;
	uint64_t	bytes;
	int			came = 0,
				out = 0,
				met = 0;

	make(RANDOM, 150);
	sort_entries();
	give_all();
	ended_blocks = 0;
	err = pack_cut(NULL, NULL) != SFX_OK ? "packing" : check_cut(&bytes);
	while (n < 9000 && !err)
	{
		int			m = n / 10;

		for (int i = 0; i < m; i++)
		{
			uint8_t    *key = arena_get(9);

			memcpy(key, entry[0].key, 1);
			sfx_store_be64(key + 1, rnd(&seed));
			more[i] = (SfxEntry) {key, 9, 0, NULL, random_tid()};
		}
		qsort(more, (size_t) m, sizeof(SfxEntry), cmp_entry);
		came += m;
		out += bring_some(more, m);
		forget_pages();
		if (pack_cut(NULL, NULL) != SFX_OK)
			err = "packing what came";
		else if ((err = check_cut(&bytes)) == NULL)
			err = check_undecided(200, &met);
	}
	ok(!err && ended_blocks > 100, "cut keys among which others come%s%s: %d blocks have ends",
	   err ? ": " : "", err ? err : "", ended_blocks);
	damage_pages(3000);
	ok(out < came / 25, "%d of %d keys that came begin as one that is there", out, came);
}

/* Of many keys one remains, whose last byte is not whole, between fences without other room. */
static void
test_cut_single(void)
{
	static uint8_t highbuf[16];
	const char *err = NULL;
	SfxPos		low,
				high;
	uint64_t	bytes;
	int			met = 0;

	/* (the keys of a page may all end with a byte) */
	for (long none = bits_cut; bits_cut == none && !err;)
	{
		make(RANDOM, 400);
		sort_entries();
		give_all();
		forget_pages();
		if (pack_cut(NULL, NULL) != SFX_OK || check_cut(&bytes) != NULL)
			err = "packing";
	}
	for (int i = 0; i < n && !err; i++)
		if (loose[i] > 0 && given[i].key[given[i].keylen - 1] >> loose[i] != 0xFF >> loose[i])
		{
			entry[0] = entry[i];
			given[0] = given[i];
			loose[0] = loose[i];
			n = 1;
		}
	forget_pages();
	single_blocks = 0;
	low = high = (SfxPos) {given[0].key, given[0].keylen, 0};
	memcpy(highbuf, low.key, low.len);
	highbuf[low.len - 1] += (uint8_t) (1u << loose[0]);
	high.key = highbuf;
	if (!err && pack_cut(&low, &high) != SFX_OK)
		err = "packing one";
	if (!err && (err = check_cut(&bytes)) == NULL)
		err = check_undecided(500, &met);
	ok(!err && n == 1 && single_blocks == 1 && met > 100, "one key with loose bits%s%s",
	   err ? ": " : "", err ? err : "");
}

/* Even numbers, and some beside them: a bit that all keys share is between those that vary. */
static void
test_cut_shared_bits(void)
{
	const char *err;
	uint64_t	bytes;
	int			met = 0;

	reset();
	n = 0;
	for (uint64_t i = 1; i <= 200; i++)
		for (uint64_t j = 0; j <= (i == 100); j++, n++)
		{
			uint8_t    *key = arena_get(8);

			sfx_store_be64(key, (i << 33) + j);
			entry[n] = (SfxEntry) {key, 8, 0, NULL, SFX_TID(1 + i, 1 + j)};
		}
	give_all();
	bit_blocks = 0;
	if (pack_cut(NULL, NULL) != SFX_OK)
		err = "packing";
	else if ((err = check_cut(&bytes)) == NULL)
		err = check_undecided(300, &met);
	for (uint64_t i = 1; i <= 200 && !err; i++)
	{
		uint8_t		buf[8];
		SfxPos		pos = {buf, 8, 0};
		SfxLeaf		l;

		sfx_store_be64(buf, (i << 33) + (UINT64_C(1) << 32));
		sfx_leaf_open(&l, page[0].body, page[0].len, NULL);
		if (sfx_leaf_count(&l, &(SfxPos) {NULL, 0, 0}, &pos) != before(&page[0], &pos))
			err = "a bound stands among equal keys";
	}
	ok(!err && npages == 1 && bit_blocks > 0, "bounds beside keys that share a bit%s%s", err ? ": " : "",
	   err ? err : "");
}

/* Fences that were not made from keys. */
static void
test_cut_fences(void)
{
	int			wrong = 0;

	for (int round = 0; round < 400 && !wrong; round++)
	{
		static uint8_t lowbuf[64],
					highbuf[64];
		SfxPos		low,
					high;
		uint64_t	bytes;
		uint32_t	keep;

		make(round % 2 ? UUID : WIDE, 40);
		sort_entries();
		give_all();
		/* begins like the first key, and is less; begins like the last one, and is greater */
		keep = (uint32_t) (rnd(&seed) % entry[0].keylen);
		memcpy(lowbuf, entry[0].key, entry[0].keylen);
		low = (SfxPos) {lowbuf, keep + 1, 0};
		if (lowbuf[keep] > 0)
			lowbuf[keep]--;
		keep = (uint32_t) (rnd(&seed) % entry[n - 1].keylen);
		memcpy(highbuf, entry[n - 1].key, entry[n - 1].keylen);
		high = (SfxPos) {highbuf, keep + 1, 0};
		if (highbuf[keep] == 255)
			continue;
		highbuf[keep]++;
		wrong = pack_cut(&low, &high) != SFX_OK || check_cut(&bytes) != NULL;
	}
	ok(!wrong, "cut keys between fences of any kind");
}

/* Lists of all lengths, packed again and again into pages of any size: none is divided. */
static void
test_cut_lists(void)
{
	const char *err = NULL;

	for (int round = 0; round < 60 && !err; round++)
	{
		uint64_t	bytes;

		reset();
		while (n < 8000)
		{
			uint64_t	r = rnd(&seed);
			uint64_t	key = rnd(&seed);
			int			list = 1 + (int) (r % (r % 3 == 0 ? 700 : r % 3 == 1 ? 60 : 3));

			for (int i = 0; i < list; i++)
				put_int8(add(9, random_tid()), key);
		}
		sort_entries();
		give_all();
		for (int again = 0; again < 4 && !err; again++)
		{
			forget_pages();
			capacity = 4096 + (uint32_t) (rnd(&seed) % (CAPACITY - 4096));
			err = pack_cut(NULL, NULL) != SFX_OK ? "packing" : check_cut(&bytes);
			drop_some(50);
		}
	}
	capacity = CAPACITY;
	ok(!err, "lists of cut keys%s%s", err ? ": " : "", err ? err : "");
}

/* Where the rows of one key lie in the table: what the TIDs of its list look like. */
typedef enum Rows
{
	IN_ORDER, TOGETHER, IN_TURN, ANYWHERE, NROWS
} Rows;

static const char *const rows_name[] = {
	"in order", "together", "in turn", "anywhere"
};

/* Each key of a kind with so many entries. */
static void
make_lists(Kind kind, Rows rows, int list)
{
	static SfxEntry key[MAXN];
	int			nkeys = 0,
				count = list < 200 ? 5000 : 20000;

	make(kind, count / list + 1);
	for (int i = 0; i < n && nkeys < count / list; i++)
		if (nkeys == 0 || key[nkeys - 1].keylen != entry[i].keylen ||
			memcmp(key[nkeys - 1].key, entry[i].key, entry[i].keylen) != 0)
			key[nkeys++] = entry[i];
	n = 0;
	for (int i = 0; i < nkeys; i++)
	{
		int			first = rows == TOGETHER ? (int) (rnd(&seed) % 200000) * list : i * list;

		for (int j = 0; j < list; j++)
		{
			entry[n] = key[i];
			entry[n++].tid = rows == ANYWHERE ? random_tid() :
				table_tid(rows == IN_TURN ? j * nkeys + i : first + j);
		}
	}
	sort_distinct();
}

/* Bytes of the pages, full or not, but for what is left of the last one. */
static uint64_t
size_of_pages(void)
{
	return (uint64_t) (npages - 1) * CAPACITY + page[npages - 1].len;
}

/*
 * Cut keys that repeat, however often, take no more room than whole ones, but for a block and the
 * end of a page that a list leaves free.
 */
static const char *
same_size(Kind kind, Rows rows, int list)
{
	uint64_t	whole,
				bytes;
	int			met = 0;
	const char *err = NULL;

	make_lists(kind, rows, list);
	give_all();
	if (pack_cut(NULL, NULL) != SFX_OK)
		return "packing";
	/* as it was built, and when half is gone: between, then by runs of blocks */
	for (int again = 0; again < 3 && !err; again++)
	{
		uint64_t	cut = size_of_pages();

		if ((err = check_cut(&bytes)) == NULL)
			err = check_undecided(100, &met);
		forget_pages();
		if (pack(CAPACITY, NULL, NULL) != SFX_OK)
			return "packing whole keys";
		whole = size_of_pages();
		forget_pages();
		if (!err && cut > whole + whole / 16 + (uint64_t) n / 5)
		{
			printf("# %s, %d rows %s: %.2f bytes an entry, whole keys %.2f\n", kind_name[kind],
				   list, rows_name[rows], (double) cut / n, (double) whole / n);
			return "larger than whole keys";
		}
		if (again == 0)
			drop_some(2);
		if (pack_cut(NULL, NULL) != SFX_OK || (again == 1 && drop_by_runs(100) != SFX_OK))
			return "packing again";
	}
	return err;
}

static void
test_cut_sizes(void)
{
	static const Kind kinds[] = {SERIAL, RANDOM, UUID, TEXT, PATHS, COMPOSITE, WIDE};
	static const int lists[] = {1, 2, 5, 10, 30, 100, 200, 257, 360, 512, 513, 600, 1000, 10000};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
	{
		const char *err = NULL;

		for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !err; i++)
			for (Rows rows = 0; rows < NROWS && !err; rows++)
				err = same_size(kinds[k], rows, lists[i]);
		ok(!err, "%s, keys that repeat%s%s", kind_name[kinds[k]], err ? ": " : "", err ? err : "");
	}
}

/* One long key, whose list does not fit beside long fences, is divided, since it is whole. */
static void
test_cut_long_lists(void)
{
	const char *err = NULL;
	uint8_t		low[2600];
	uint8_t		high[2600];

	memset(low, 'a', sizeof(low));
	memset(high, 'c', sizeof(high));
	low[2595] = high[2595] = '2';
	for (int list = 100; list <= 1200 && !err; list += 100)
	{
		SfxPos		lo = {low, 2596, 0};
		SfxPos		hi = {high, 2596, 0};
		uint64_t	bytes;

		reset();
		for (int i = 0; i < list; i++)
		{
			uint8_t    *key = add(2600, random_tid());

			memcpy(key, low, 2596);
			memset(key + 2596, 'x', 4);
		}
		sort_entries();
		give_all();
		if (pack_cut(&lo, &hi) != SFX_OK)
			err = "packing";
		else
			err = check_cut(&bytes);
	}
	ok(!err, "long keys that repeat between long fences%s%s", err ? ": " : "", err ? err : "");
}

/* A key that is the beginning of another one is refused. */
static void
test_cut_beginnings(void)
{
	void	   *mem = packer_memory();
	SfxPos		none = {NULL, 0, 0};
	SfxPacker  *p = sfx_packer_init(mem, CAPACITY, &none, keep_page, NULL, NULL);
	SfxEntry	a = {(const uint8_t *) "abc", 3, 0, NULL, SFX_TID(1, 1)};
	SfxEntry	b = {(const uint8_t *) "abcd", 4, 0, NULL, SFX_TID(1, 2)};

	reset();
	sfx_packer_cut_keys(p, MOST);
	ok(sfx_packer_add(p, &a) == SFX_OK && sfx_packer_add(p, &b) == SFX_CORRUPT,
	   "the beginning of another key is refused");
	free(mem);
}

int
main(void)
{
	sfx_cpu_init();
	arena = malloc(ARENA);
	test_cut_kinds();
	test_cut_numbers();
	test_cut_grown();
	test_cut_single();
	test_cut_shared_bits();
	test_cut_fences();
	test_cut_lists();
	test_cut_sizes();
	test_cut_long_lists();
	test_cut_beginnings();
	reset();
	free(arena);
	return done_testing();
}
