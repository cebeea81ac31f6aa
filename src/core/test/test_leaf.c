/* test_leaf.c - leaf pages: packing and reading against a sorted array, in byte order and others */
#include "leaf_kinds.h"

/*
 * A run that does not ascend, after one that does: the packer refuses it and takes nothing of it.
 */
static void
test_run_order(void)
{
	void	   *mem = packer_memory();
	SfxPos		none = {NULL, 0, 0};
	SfxPacker  *p = sfx_packer_init(mem, CAPACITY, &none, keep_page, NULL, NULL);
	int			r1,
				r2;

	reset();
	memset(&blk, 0, sizeof(blk));
	blk.nent = blk.nkeys = 20;
	blk.width = 9;
	for (uint32_t i = 0; i < 20; i++)
	{
		blk.keyoff[i + 1] = 9 * (i + 1);
		blk.keys[9 * i + 8] = (uint8_t) (i == 12 ? 3 : i);
		blk.tid[i] = SFX_TID(1, i + 1);
	}
	r1 = sfx_packer_add_run(p, &blk, 0, 12, NULL);
	r2 = sfx_packer_add_run(p, &blk, 12, 20, NULL);
	ok(r1 == SFX_OK && r2 == SFX_CORRUPT, "a run of entries out of order is refused");
	free(mem);
}

/* Some entries of a decoded block are removed: the others stay as they were. */
static bool
check_drop(uint64_t share, bool *dropped)
{
	static SfxBlock was;
	uint16_t	places[SFX_BLOCK_ENTRIES];
	int			nplaces = 0,
				left = 0;

	memcpy(&was, &blk, sizeof(was));
	for (int i = 0; i < was.nent; i++)
		if (rnd(&seed) % share == 0)
			places[nplaces++] = (uint16_t) i;
	*dropped = sfx_block_drop(&blk, places, nplaces);
	if (!*dropped)
		nplaces = 0;
	for (int i = 0, k = 0; i < was.nent; i++)
	{
		SfxEntry	a,
					b;

		if (k < nplaces && places[k] == i)
		{
			k++;
			continue;
		}
		sfx_block_entry(&was, i, &a);
		sfx_block_entry(&blk, left++, &b);
		if (a.tid != b.tid || a.paylen != b.paylen ||
			!sfx_same_bytes(a.key, a.keylen, b.key, b.keylen))
			return false;
	}
	return left == blk.nent && (was.dups || left == blk.nkeys);
}

static void
test_drop(void)
{
	bool		good = true;
	int			drops = 0,
				refused = 0;

	for (int c = 0; c < CASES; c++)
	{
		make(c, 2000);
		pack(CAPACITY, NULL, NULL);
		for (int i = 0; i < npages; i++)
		{
			SfxLeaf		l;

			open_leaf(&l, &page[i]);
			for (int b = 0; b < l.nblocks && good; b++)
			{
				static const uint64_t shares[] = {1, 2, 5, 1000};
				bool		dropped;

				good = sfx_leaf_decode(&l, b, NULL, NULL, &blk) == SFX_OK &&
					check_drop(shares[rnd(&seed) % 4], &dropped);
				drops += good && dropped;
				refused += good && !dropped;
			}
		}
	}
	ok(good && drops > 20 && refused > 20, "entries are taken out of %d blocks, not of %d others",
	   drops, refused);
}

static void
test_empty(void)
{
	SfxPos		low = {(const uint8_t *) "abcX", 4, 7},
				high = {(const uint8_t *) "abcY", 4, 9},
				pos = {(const uint8_t *) "abcXX", 5, 0},
				below = {(const uint8_t *) "abcX", 4, 6};
	SfxLeaf		l;
	const char *err;

	reset();
	ok(pack(CAPACITY, &low, &high) == SFX_OK && npages == 1 && (err = check_pages(CAPACITY)) == NULL,
	   "no entries: one empty page");
	open_leaf(&l, &page[0]);
	ok(l.nblocks == 0 && sfx_leaf_find_block(&l, &pos) == 0 && sfx_leaf_find_block_before(&l, &pos) == 0,
	   "no block is found there");
	ok(sfx_leaf_cmp_fences(&l, &pos) == 0 && sfx_leaf_cmp_fences(&l, &below) < 0 &&
	   sfx_leaf_cmp_fences(&l, &low) == 0 && sfx_leaf_cmp_fences(&l, &high) > 0, "its fences hold");
	ok(page[0].len == 16 + 12 + 3 + 1 + 1, "the fences' common prefix is stored once");
}

/* One key's posting list over many pages; its neighbours around it. */
static void
test_posting(void)
{
	const char *err;
	SfxPos		high = {(const uint8_t *) "m", 1, 0};

	/* above them all in any order */
	if (order && ((const TestOrder *) order)->kind == ORDER_REVERSED)
		high.key = (const uint8_t *) "a";
	if (order && ((const TestOrder *) order)->kind == ORDER_LENGTH)
		high = (SfxPos) {(const uint8_t *) "abcde", 5, 0};
	if (order && ((const TestOrder *) order)->kind == ORDER_COLUMNS)
		high = (SfxPos) {(const uint8_t *) "\004abcd", 5, 0};
	reset();
	for (int i = 0; i < (order ? 20000 : 50000); i++)
		memcpy(add(4, random_tid()), i % 500 == 0 ? "key" : i % 501 == 0 ? "kez" : "kex", 4);
	sort_entries();
	err = pack(CAPACITY, NULL, &high) != SFX_OK ? "packer" : check_pages(CAPACITY);
	if (!err)
		err = check_search(3000);
	ok(!err && npages > (order ? 2 : 5), "%sone key over %d pages%s%s", order_name(), npages, err ? ": " : "", err ? err : "");
}

/* Three items of the largest size; both fences have TIDs. */
static void
test_largest(void)
{
	static uint8_t lowkey[SFX_MAX_ENTRY],
				highkey[SFX_MAX_ENTRY];
	SfxPos		low = {lowkey, SFX_MAX_ENTRY, SFX_MAX_TID},
				high = {highkey, SFX_MAX_ENTRY, SFX_MAX_TID};
	const char *err = NULL;
	int			r;

	bool		down = order && ((const TestOrder *) order)->kind != ORDER_NOCASE &&
		((const TestOrder *) order)->kind != ORDER_BYTES;

	memset(lowkey, down ? 200 : 1, sizeof(lowkey));
	memset(highkey, down ? 1 : 200, sizeof(highkey));
	reset();
	memset(add(SFX_MAX_ENTRY, SFX_MAX_TID), 100, SFX_MAX_ENTRY);
	r = pack(CAPACITY, &low, &high);
	ok(r == SFX_OK && npages == 1 && (err = check_pages(CAPACITY)) == NULL,
	   "%stwo largest fences and the largest entry: %u bytes", order_name(), npages ? page[0].len : 0);

	reset();
	for (int i = 0; i < 60; i++)
		memset(add(SFX_MAX_ENTRY, SFX_MAX_TID - 50 + (uint64_t) (i % 30)), down ? 101 - i / 30 : 100 + i / 30, SFX_MAX_ENTRY);
	r = pack(CAPACITY, &low, &high);
	ok(r == SFX_OK && (err = check_pages(CAPACITY)) == NULL, "two largest keys with 30 TIDs each: %d pages", npages);

	reset();
	for (int i = 0; i < 20; i++)
	{
		put_int8(add(9, 1), (uint64_t) (down && ((const TestOrder *) order)->kind != ORDER_COLUMNS ? 20 - i : i));
		entry[i].paylen = SFX_MAX_ENTRY - 9;
		entry[i].payload = arena_get(SFX_MAX_ENTRY);
		memset((uint8_t *) entry[i].payload, i, SFX_MAX_ENTRY);
	}
	r = pack(CAPACITY, NULL, NULL);
	ok(r == SFX_OK && (err = check_pages(CAPACITY)) == NULL, "largest payloads: %d pages", npages);
}

/* A high fence so long that entries that fit before it is known do not fit with it. */
static void
test_long_high(void)
{
	static uint8_t highkey[SFX_MAX_ENTRY];
	SfxPos		high = {highkey, SFX_MAX_ENTRY, 5};
	const char *err = NULL;

	memset(highkey, 0xFF, sizeof(highkey));
	for (int count = 850; count < 1100 && !err; count += 9)
	{
		make(RANDOM, count);
		err = pack(CAPACITY, NULL, &high) != SFX_OK ? "packer" : check_pages(CAPACITY);
	}
	ok(!err, "a longest high fence on the last page%s%s", err ? ": " : "", err ? err : "");
}

static void
test_full(void)
{
	double		least = 1;

	make(RANDOM, 20000);
	pack(CAPACITY, NULL, NULL);
	for (int i = 0; i + 1 < npages; i++)
		least = (double) page[i].len / CAPACITY < least ? (double) page[i].len / CAPACITY : least;
	ok(least > 0.995, "random int8 pages are full: the emptiest has %.2f%%", 100 * least);
	make(PATHS, 20000);
	pack(CAPACITY, NULL, NULL);
	least = 1;
	for (int i = 0; i + 1 < npages; i++)
		least = (double) page[i].len / CAPACITY < least ? (double) page[i].len / CAPACITY : least;
	ok(least > 0.98, "path pages are full: the emptiest has %.2f%%", 100 * least);
	make(SERIAL, 40000);
	pack(CAPACITY, NULL, NULL);
	ok(page[0].len > CAPACITY * 99 / 100 ? (double) page[0].len / page[0].nentries <= 0.25 : true,
	   "serial keys in table order: %u entries in %u bytes", page[0].nentries, page[0].len);
}

static int
refuse(void *ctx, const SfxLeafOut *o)
{
	(void) o;
	return --*(int *) ctx < 0 ? -77 : 0;
}

static void
test_stop(void)
{
	int			left = 3;
	int			r = 0;
	void	   *mem = packer_memory();
	SfxPos		none = {NULL, 0, 0};
	SfxPacker  *p = sfx_packer_init(mem, CAPACITY, &none, refuse, &left, NULL);

	make(RANDOM, 20000);
	for (int i = 0; i < n && r == 0; i++)
		r = sfx_packer_add(p, &entry[i]);
	ok(r == -77, "what emit returns stops the packer");
	free(mem);
}

/* The cost of a lookup: fences, directory, block. */
static void
test_comparisons(void)
{
	int			most = 0,
				over = 0,
				lookups = 0;
	uint64_t	sum = 0;
	uint64_t	scan;

	make(CASES, 12000);
	pack(CAPACITY, NULL, NULL);
	for (int t = 0; t < 5000; t++)
	{
		const SfxEntry *e = &entry[rnd(&seed) % (uint64_t) n];
		SfxPos		lo = pos_of(e),
					hi = {e->key, e->keylen, UINT64_MAX};
		const Page *p = page;
		SfxLeaf		l;
		int			calls,
					bound = 4;

		while (p->first + (int) p->nentries <= e - entry)
			p++;
		for (uint32_t m = p->nentries; m > 1; m = (m + 1) / 2)
			bound++;
		order_calls = 0;
		open_leaf(&l, p);
		if (sfx_leaf_cmp_fences(&l, &lo) != 0 ||
			sfx_leaf_decode(&l, sfx_leaf_find_block(&l, &lo), &lo, &hi, &blk) != SFX_OK || blk.tid[0] != e->tid)
			abort();
		calls = (int) order_calls;
		sum += order_calls;
		most = calls > most ? calls : most;
		over += calls > bound;
		lookups++;
	}
	ok(over == 0, "%spoint lookup in a leaf of %u: %.2f comparisons, at most %d", order_name(), page[0].nentries,
	   (double) sum / lookups, most);

	/* a scan that passes its bounds to every block */
	order_calls = 0;
	for (int i = 0; i < npages; i++)
	{
		SfxPos		lo = pos_of(&entry[0]);
		SfxPos		hi = pos_of(&entry[n - 1]);
		SfxLeaf		l;

		open_leaf(&l, &page[i]);
		for (int b = 0; b < l.nblocks; b++)
			sfx_leaf_decode(&l, b, &lo, &hi, &blk);
		lookups = l.nblocks;
	}
	scan = order_calls;
	ok(scan < (uint64_t) (npages * 20), "%slong scan: %.1f comparisons per leaf of %d blocks", order_name(),
	   (double) scan / npages, lookups);
}

/* A body is read with the kind of order with which it was written, or not at all. */
static void
test_other_order(void)
{
	const SfxOrder *other = order ? NULL : &orders[0].base;
	SfxLeaf		l;
	const char *why;
	int			r;

	make(CASES, 3000);
	pack(CAPACITY, NULL, NULL);
	ok(sfx_leaf_open(&l, page[0].body, page[0].len, other) == SFX_CORRUPT &&
	   sfx_leaf_verify(page[0].body, page[0].len, other, dict, &blk, &why) == SFX_CORRUPT,
	   "%sa page is refused in %s", order_name(), other ? "comparator order" : "byte order");
	if (order == NULL)
		return;
	other = &orders[((const TestOrder *) order)->kind == ORDER_REVERSED ? ORDER_LENGTH : ORDER_REVERSED].base;
	r = sfx_leaf_verify(page[0].body, page[0].len, other, dict, &blk, &why);
	ok(r == SFX_DISORDER, "%sthe verifier sees that the order is another one: %s", order_name(), why);
}

/* Decode with the at-th comparison failing.  Returns whether that comparison was made. */
static bool
decode_failing(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, uint64_t at)
{
	order_calls = 0;
	order_fail_at = at;
	if (setjmp(order_failed) != 0)
		return true;
	sfx_leaf_decode(l, b, lo, hi, &blk);
	order_fail_at = 0;
	return false;
}

/* After a comparison that failed, readers can be used again. */
static void
test_failing(void)
{
	SfxPos		lo,
				hi;
	SfxLeaf		l;
	int			failed = 0;
	const char *err;

	make(CASES, 3000);
	pack(CAPACITY, NULL, NULL);
	lo = pos_of(&entry[n / 3]);
	hi = pos_of(&entry[n / 2]);
	open_leaf(&l, &page[npages / 3]);
	for (uint64_t at = 1; at < 30; at++)
		for (int b = 0; b < l.nblocks; b++)
			failed += decode_failing(&l, b, &lo, &hi, at);
	err = check_search(500);
	ok(failed > 0 && err == NULL, "%sread again after %d failed comparisons%s%s", order_name(), failed,
	   err ? ": " : "", err ? err : "");
}

static void
test_orders(void)
{
	for (int i = 0; i < NORDERS; i++)
	{
		order = &orders[i].base;
		test_kinds();
		test_small();
		test_posting();
		test_largest();
		test_broken();
		test_comparisons();
		test_other_order();
		test_failing();
	}
}

int
main(void)
{
	sfx_cpu_init();
	arena = malloc(ARENA);
	test_empty();
	test_kinds();
	test_small();
	test_posting();
	test_largest();
	test_long_high();
	test_full();
	test_stop();
	test_broken();
	test_run_order();
	test_drop();
	test_other_order();
	test_orders();
	ok(summed_few > 100 && summed_many > 100 && summed_dups > 100,
	   "numbers are summed where they stand: %d, %d, %d times", summed_few, summed_many,
	   summed_dups);
	ok(without_tids > 1000, "blocks come out without TIDs: %d times", without_tids);
	reset();
	free(arena);
	return done_testing();
}
