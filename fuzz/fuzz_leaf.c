/*
 * fuzz_leaf.c - hostile bytes to the leaf reader, and round trips through the packer
 *
 * The first byte chooses the order of keys, whether there is a dictionary, and: a leaf body as it
 * is; a key stream; or entries cut from the bytes, packed, read back, then damaged in one place and
 * read again.
 */
#include <stdlib.h>

#include "fixblock.h"
#include "cpu.h"
#include "leaf.h"
#include "leaf_sum.h"
#include "strblock.h"
#include "../src/core/test/orders.h"

static SfxBlock blk;
static const SfxOrder *order;
static SfxHope *dict;			/* NULL: none */
static uint8_t lowbuf[SFX_MAX_ENTRY],
			highbuf[SFX_MAX_ENTRY];

#define CHECK(x) do { if (!(x)) abort(); } while (0)

/* Everything a reader can do to a body. */
static void
read_body(const uint8_t *body, uint32_t len, const SfxPos *lo, const SfxPos *hi)
{
	SfxLeaf		l;
	SfxPos		low,
				high;
	bool		inf;
	const char *why;
	uint64_t	tid[SFX_BLOCK_ENTRIES];
	SfxBlockInfo info;
	SfxCodes	codes;
	SfxSum		sum;
	static const uint8_t bits[64] = {0x55, 0xFF, 0x10};
	const uint8_t *map_page = bits;
	SfxVisMap	map = {&map_page, 1, 4 * sizeof(bits)};
	uint64_t	hidden[SFX_BLOCK_ENTRIES + SFX_HIDDEN_SLACK];
	int			limit,
				n;
	bool		equal;

	sfx_leaf_verify(body, len, order, dict, &blk, &why);
	if (sfx_leaf_open(&l, body, len, order) != SFX_OK)
		return;
	l.dict = dict;
	sfx_leaf_fences(&l, lowbuf, &low, highbuf, &high, &inf);
	sfx_leaf_cmp_fences(&l, lo);
	CHECK(sfx_leaf_find_block(&l, lo) <= l.nblocks);
	CHECK(sfx_leaf_find_exact(&l, lo->key, lo->len, hi->tid, &blk, &n) != SFX_EXACT_FOUND ||
		  (n < l.nblocks && blk.nent <= SFX_BLOCK_ENTRIES));
	CHECK(sfx_leaf_find_block_before(&l, lo) <= l.nblocks);
	CHECK(sfx_leaf_undecided(&l, lo, &blk) < 1 || blk.keyoff[1] - blk.keyoff[0] <= lo->len);
	limit = l.nblocks < 8 ? l.nblocks : 8;
	for (int b = 0; b < limit; b++)
	{
		sfx_leaf_tids(&l, b, tid);
		CHECK(sfx_leaf_block_info(&l, b, &info) != SFX_OK ||
			  info.head + info.keys + info.lists + info.tids + info.payload <= len);
		sfx_leaf_decode(&l, b, NULL, NULL, &blk);
		sfx_leaf_codes(&l, b, &codes);
		for (int r = sfx_leaf_decode_limit(&l, b, NULL, NULL, 32, b % 2, &blk); r == SFX_OK && sfx_block_left(&blk);)
			r = sfx_leaf_decode_left(&l, b, 32, b % 2, &blk);
		sfx_leaf_decode(&l, b, lo, NULL, &blk);
		sfx_leaf_decode(&l, b, lo, lo, &blk);
		if (sfx_leaf_decode_keyless(&l, b, lo, b % 2 ? hi : NULL, &blk) == SFX_OK)
			sfx_leaf_add_keys(&l, b, &blk);
		sfx_leaf_decode_tidless(&l, b, b % 2 ? lo : NULL, hi, &blk);
		if (sfx_leaf_hidden(&l, b, b % 3 ? lo : NULL, b % 2 ? hi : NULL, &map, hidden, &n) >= 0)
			CHECK(n >= 0 && n <= SFX_BLOCK_ENTRIES);
		for (int want = 0; want < 8; want++)
		{
			SfxPlace	place = {lo->len, lo->len > 9 ? lo->len - 8 : 1, 8, 0};

			place.mark = lo->len > place.at ? lo->key[place.at - 1] : 0;
			if (sfx_leaf_sum(&l, b, want % 2 ? lo : NULL, NULL, &place, want, &sum) > 0)
				CHECK(sum.n >= 0 && sum.n <= SFX_BLOCK_ENTRIES);
		}
		CHECK(sfx_leaf_count(&l, lo, hi) >= SFX_CORRUPT);
		CHECK(sfx_leaf_rank(&l, b, lo, &equal) <= SFX_BLOCK_ENTRIES);
		if (sfx_leaf_decode(&l, b, lo, hi, &blk) == SFX_OK)
			for (int i = 0; i < blk.nent; i++)
			{
				SfxEntry	e;

				sfx_block_entry(&blk, i, &e);
				CHECK(e.keylen <= SFX_MAX_ENTRY && e.key + e.keylen <= blk.keys + sizeof(blk.keys));
				CHECK(e.paylen == 0 || e.payload + e.paylen <= body + len);
			}
	}
}

static void
read_streams(const uint8_t *data, size_t size, int n)
{
	static uint8_t out[SFX_BLOCK_RAW + SFX_MAX_ENTRY];
	uint32_t	off[SFX_BLOCK_KEYS + 1];
	SfxStr		s;
	SfxFix		f;
	SfxStrPlace place;
	bool		equal;

	if (sfx_str_open(&s, data, size, n, dict) == SFX_OK)
	{
		sfx_str_search(&s, data, size < 9 ? (uint32_t) size : 9, &place);
		CHECK(!s.column || !place.begins || place.len <= size);
		for (int from = 0; order && from <= n; from += 1 + from)
		{
			SfxSeek		seek = from == 0 && size % 3 == 0 ? SFX_SEEK_EXACT : (SfxSeek) (size & 1);
			int			i = sfx_str_search_order(&s, data, (uint32_t) (size < 5 ? size : 5), from, seek, order,
												 data, (uint32_t) (size < 9 ? size : 9), &equal);

			CHECK(i == SFX_CORRUPT || (i >= from && i <= n));
		}
		sfx_str_decode(&s, 0, n, 3, out, sizeof(out), off, data + size);
		sfx_str_decode(&s, n / 2, n, 0, out, 3000, off, data + size);
		sfx_str_decode(&s, n / 3, n / 3 + 1, 3, out, sizeof(out), off, data + size);
	}
	if (sfx_fix_open(&f, data, size, n) == SFX_OK)
	{
		sfx_fix_search(&f, data, size < 9 ? (uint32_t) size : 9, &equal);
		sfx_fix_search(&f, f.rest, (uint32_t) f.width < size - (size_t) (f.rest - data) ? (uint32_t) f.width : 0, &equal);
		sfx_fix_decode(&f, 0, n, 20, out);
		sfx_fix_decode(&f, n / 3, n, 0, out);
	}
}

/*
 * Entries made of the bytes: each byte says what the next key shares with the one before and how it
 * goes on.
 */
#define MAXENT 3000

typedef struct Made
{
	SfxEntry	e[MAXENT];
	int			n;
	int			read;			/* how many have been seen in pages */
	bool		cut;			/* keys are; the pages stay, to be packed again: */
	int			npages;
	uint8_t    *page[MAXENT];
	uint32_t	len[MAXENT];
	const uint8_t *lo,
			   *damage;
} Made;

static int
cmp_entry(const void *a, const void *b)
{
	const SfxEntry *x = a,
			   *y = b;
	SfxPos		p = {x->key, x->keylen, x->tid};
	SfxPos		q = {y->key, y->keylen, y->tid};

	return sfx_order_cmp_pos(order, &p, &q);
}

/* Every entry read back by its own position. */
static void
look_up(const SfxLeaf *l, const Made *m, int from, int to)
{
	for (int i = from; i < to; i += 1 + i / 4)
	{
		SfxPos		lo = {m->e[i].key, m->e[i].keylen, m->e[i].tid};
		SfxPos		hi = {m->e[i].key, m->e[i].keylen, m->e[i].tid + 1};
		int			b = sfx_leaf_find_block(l, &lo);

		CHECK(sfx_leaf_cmp_fences(l, &lo) == 0 && b >= 0 && b < l->nblocks);
		CHECK(sfx_leaf_decode(l, b, &lo, &hi, &blk) == SFX_OK && blk.nent == 1 && blk.tid[0] == lo.tid);
		b = sfx_leaf_find_block_before(l, &hi);
		CHECK(b >= 0 && b < l->nblocks);
		CHECK(sfx_leaf_decode(l, b, &lo, NULL, &blk) == SFX_OK && blk.nent > 0 && blk.tid[0] == lo.tid);
	}
}

/* A cut key is what its own position is undecided about, unless it is whole. */
static void
find_undecided(const SfxLeaf *l, const Made *m, int from, int to)
{
	for (int i = from; i < to; i += 1 + i / 4)
	{
		SfxPos		pos = {m->e[i].key, m->e[i].keylen, 0};
		int			r = sfx_leaf_undecided(l, &pos, &blk);
		bool		found = r == 0;

		CHECK(r >= 0);
		for (int j = 0; r > 0 && j < blk.nent; j++)
			found |= blk.tid[j] == m->e[i].tid;
		CHECK(found);
	}
}

/* Of entries in order those whose keys are the beginning of no other one. */
static int
leave_out_beginnings(SfxEntry *e, int n)
{
	int			left = 0;

	for (int i = 0; i < n; i++)
	{
		while (left > 0 && e[left - 1].keylen < e[i].keylen &&
			   memcmp(e[left - 1].key, e[i].key, e[left - 1].keylen) == 0)
			left--;
		e[left++] = e[i];
	}
	return left;
}

static int
emit(void *ctx, const SfxLeafOut *o)
{
	Made	   *m = ctx;
	SfxLeaf		l;
	const char *why;
	uint8_t    *copy = malloc(o->len);
	SfxPos		lo = {m->lo, m->lo[0] % 6, m->lo[1]};
	SfxPos		hi = {m->e[m->read % (m->n ? m->n : 1)].key, m->n ? m->e[m->read % m->n].keylen : 0, m->lo[1]};
	uint32_t	at;

	memcpy(copy, o->body, o->len);
	CHECK(sfx_leaf_verify(copy, o->len, order, dict, &blk, &why) == SFX_OK);
	CHECK(sfx_leaf_open(&l, copy, o->len, order) == SFX_OK);
	l.dict = l.dictno ? dict : NULL;
	for (int b = 0; b < l.nblocks; b++)
	{
		CHECK(sfx_leaf_decode(&l, b, NULL, NULL, &blk) == SFX_OK);
		for (int i = 0; i < blk.nent; i++, m->read++)
		{
			SfxEntry	e;

			sfx_block_entry(&blk, i, &e);
			CHECK(m->cut ? e.keylen <= m->e[m->read].keylen : e.keylen == m->e[m->read].keylen);
			CHECK(e.tid == m->e[m->read].tid && e.paylen == m->e[m->read].paylen);
			CHECK(sfx_begins(e.key, e.keylen, sfx_block_loose(&blk, i), m->e[m->read].key,
							 m->e[m->read].keylen));
			CHECK(e.paylen == 0 || memcmp(e.payload, m->e[m->read].payload, e.paylen) == 0);
		}
	}
	if (m->cut)
		find_undecided(&l, m, m->read - (int) o->nentries, m->read);
	else
		look_up(&l, m, m->read - (int) o->nentries, m->read);
	if (m->cut)
	{
		m->len[m->npages] = o->len;
		m->page[m->npages] = malloc(o->len);
		memcpy(m->page[m->npages++], o->body, o->len);
	}
	at = (uint32_t) (m->damage[0] << 8 | m->damage[1]) % o->len;
	copy[at] ^= m->damage[2];
	read_body(copy, o->len, &lo, &hi);
	free(copy);
	return 0;
}

/* A packer of one of the kinds; m loses what that may not have. */
static SfxPacker *
begin_packer(void *mem, const uint8_t *data, const SfxPos *low, Made *m)
{
	SfxPacker  *p = sfx_packer_init(mem, data[1] & 1 ? 8144 : 4096, low, emit, m, order);

	m->cut = order == NULL && data[0] & 2;
	if (m->cut)
	{
		m->n = leave_out_beginnings(m->e, m->n);
		sfx_packer_cut_keys(p, data[1] & 2 ? 1000 : 20);
	}
	else if (dict)
		sfx_packer_add_dict(p, dict, 5);
	return p;
}

/* Pages of cut keys are packed again, block by block, without some of the entries. */
static void
pack_again(void *mem, const uint8_t *data, size_t size, const SfxPos *low, Made *m)
{
	SfxPacker  *p = sfx_packer_init(mem, data[1] & 4 ? 8144 : 4096, low, emit, m, NULL);
	SfxBlock   *b = malloc(sizeof(SfxBlock));
	int			npages = m->npages,
				at = 0,
				left = 0;
	SfxEntry   *was = malloc(sizeof(SfxEntry) * (size_t) (m->n + 1));

	memcpy(was, m->e, sizeof(SfxEntry) * (size_t) m->n);
	for (int i = 0; i < m->n; i++)
		if (data[(size_t) i % size] & 12)
			m->e[left++] = was[i];
	m->n = left;
	m->read = 0;
	sfx_packer_cut_keys(p, data[1] & 2 ? 1000 : 20);
	for (int i = 0; i < npages; i++)
	{
		SfxLeaf		l;

		CHECK(sfx_leaf_open(&l, m->page[i], m->len[i], NULL) == SFX_OK);
		for (int k = 0; k < l.nblocks; k++)
		{
			int			from = 0;

			CHECK(sfx_leaf_decode(&l, k, NULL, NULL, b) == SFX_OK);
			for (int j = 0; j < b->nent; j++, at++)
				if (!(data[(size_t) at % size] & 12))
				{
					CHECK(sfx_packer_add_run(p, b, from, j, NULL) == SFX_OK);
					from = j + 1;
				}
			CHECK(sfx_packer_add_run(p, b, from, b->nent, NULL) == SFX_OK);
		}
	}
	CHECK(sfx_packer_finish(p, NULL) == SFX_OK);
	CHECK(m->read == m->n);
	for (int i = 0; i < m->npages; i++)
		free(m->page[i]);
	free(was);
	free(b);
}

static void
round_trip(const uint8_t *data, size_t size)
{
	static Made m;
	static uint8_t keys[MAXENT * 64];
	static void *mem;
	uint8_t		key[64];
	uint32_t	len = 0,
				used = 0;
	uint64_t	tid = 1;
	SfxPos		low = {key, 0, 0};
	SfxPacker  *p;

	if (size < 8)
		return;
	if (mem == NULL)
		mem = malloc(sfx_packer_size());
	m.n = m.read = m.npages = 0;
	m.lo = data;
	m.damage = data + 5;
	for (size_t i = 8; i + 3 < size && m.n < MAXENT; i += 3)
	{
		/* more entries than bytes: repeat the step */
		for (int r = 0; r <= data[i + 2] >> 3 && m.n < MAXENT; r++)
		{
			SfxEntry   *e = &m.e[m.n];
			uint32_t	at = data[i] % 60;

			if (data[i] >= 240 && m.n > 0)
				tid += 1 + (uint64_t) (data[i + 1] & 31) * (data[i + 2] & 7) * 60000;
			else
			{
				/* greater than the one before: raise a byte, then anything */
				if (at > len)
					at = len;
				while (at < len && key[at] == 255)
					at++;
				if (at == 60)
					break;
				if (at < len)
					key[at] += 1 + data[i + 1] % (255 - key[at]);
				else
					key[at] = data[i + 1];
				len = at + 1;
				for (int j = 0; j < (data[i + 2] & 7) && len < 60; j++)
					key[len++] = data[i + 1];
				tid = (uint64_t) data[i + 1] * data[i + 2] * 977;
			}
			if (tid > SFX_MAX_TID)
				break;
			memcpy(keys + used, key, len);
			*e = (SfxEntry) {keys + used, len, data[0] & 1 ? data[i + 1] % 5 : 0, data + i - 8, tid};
			used += len;
			m.n++;
		}
	}
	if (order)
	{
		int			n = 0;

		qsort(m.e, (size_t) m.n, sizeof(SfxEntry), cmp_entry);
		for (int i = 0; i < m.n; i++)
			if (n == 0 || cmp_entry(&m.e[n - 1], &m.e[i]) != 0)
				m.e[n++] = m.e[i];
		m.n = n;
	}
	p = begin_packer(mem, data, &low, &m);
	for (int i = 0; i < m.n; i++)
		CHECK(sfx_packer_add(p, &m.e[i]) == SFX_OK);
	CHECK(sfx_packer_finish(p, NULL) == SFX_OK);
	CHECK(m.read == m.n);
	if (m.cut)
		pack_again(mem, data, size, &low, &m);
}

/*
 * One dictionary of each scheme, made from a few words and runs of bytes as round_trip makes them.
 */
static SfxHope *
make_dict(SfxHopeScheme scheme)
{
	static const char *const word[] = {"aaaa", "bbbbbb", "abc", "zzz", "the", "path/", "/lib", "", "eeeeee", "\001\001\001"};
	SfxHopeKey	keys[10];
	static uint8_t bytes[SFX_HOPE_DICT_BOUND(SFX_HOPE_DOUBLE, 1024) + 1024 * 40];
	size_t		size = sfx_hope_build_size(scheme, 1024, 100);
	void	   *scratch = malloc(size);
	SfxHope    *h;
	int			len;

	for (int i = 0; i < 10; i++)
		keys[i] = (SfxHopeKey) {(const uint8_t *) word[i], (uint32_t) strlen(word[i])};
	len = sfx_hope_build(scheme, 1024, keys, 10, scratch, size, bytes, sizeof(bytes));
	CHECK(len > 0);
	free(scratch);
	size = sfx_hope_state_size(bytes, (size_t) len);
	h = malloc(size);
	CHECK(sfx_hope_open(h, size, bytes, (size_t) len) == SFX_OK);
	return h;
}

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 12)
		return 0;
	/* a level that the processor lacks leaves the one before */
	sfx_cpu_pin((SfxCpuLevel) (data[size - 1] % SFX_CPU_LEVELS));
	order = data[0] / 3 % (NORDERS + 1) ? &orders[data[0] / 3 % (NORDERS + 1) - 1].base : NULL;
	dict = NULL;
	if (data[1] % 4)
	{
		static SfxHope *dicts[SFX_FSST];
		int			i = data[2] >= 216 ? SFX_FSST - 1 : data[2] % SFX_HOPE_NSCHEMES;

		if (dicts[i] == NULL)
			dicts[i] = make_dict((SfxHopeScheme) (i + 1));
		dict = dicts[i];
	}
	switch (data[0] % 3)
	{
		case 0:
			{
				SfxPos		lo = {data + 1, data[1] % 9, data[2]};
				SfxPos		hi = {data + 2, data[2] % 9, data[1]};
				uint8_t    *copy = malloc(size - 10);

				memcpy(copy, data + 10, size - 10);
				if (size - 10 < 40000)
					read_body(copy, (uint32_t) (size - 10), &lo, &hi);
				free(copy);
				break;
			}
		case 1:
			read_streams(data + 2, size - 2, 1 + data[1]);
			break;
		default:
			round_trip(data + 1, size - 1);
			break;
	}
	return 0;
}
