/*-------------------------------------------------------------------------
 * leaf_kinds.h - kinds of keys and TIDs for tests of leaves, and the tests that run with every
 * order and dictionary (inline: not all tests that include this call all of them)
 *-------------------------------------------------------------------------
 */
#ifndef SFX_TEST_LEAF_KINDS_H
#define SFX_TEST_LEAF_KINDS_H

#include "leaf_pages.h"

static uint64_t
table_tid(int i)
{
	return SFX_TID(i / 226, i % 226 + 1);
}

static uint64_t
random_tid(void)
{
	return SFX_TID(rnd(&seed) % 100000, rnd(&seed) % 200 + 1);
}

static void
put_int8(uint8_t *k, uint64_t v)
{
	v ^= UINT64_C(1) << 63;
	k[0] = 1;
	for (int i = 0; i < 8; i++)
		k[1 + i] = (uint8_t) (v >> (56 - 8 * i));
}

typedef enum Kind
{
	SERIAL, RANDOM, DUPS, UUID, TEXT, PATHS, COMPOSITE, MIXED, BINARY, PAYLOAD, WIDE,
	UUID4, SPARSE, HEADS, CASES, ALPHABETS, LONGKEYS, NKINDS
} Kind;

static const char *const kind_name[] = {
	"serial int8", "random int8", "duplicates", "uuid", "short text", "paths", "composite (int4, int4)",
	"text of one length", "any bytes", "payloads", "int8 and text",
	"uuid v4", "two words, few varying bits", "many keys with the same 64 bits",
	"words in large and small letters",
	"strings of small alphabets", "long keys"
};

static void
make_text(uint8_t *out, uint32_t len, int letters)
{
	for (uint32_t i = 0; i + 1 < len; i++)
		out[i] = (uint8_t) ('a' + rnd(&seed) % (uint64_t) letters);
	out[len - 1] = 0;
}

/*
 * A string of a small alphabet, whose number is its first byte, with or without a byte zero at the
 * end.
 */
static void
make_symbols(uint64_t r)
{
	static const int sizes[] = {1, 2, 3, 10, 16, 17, 32, 33, 63, 64, 65};
	static const char symbols[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
		"abcdefghijklmnopqrstuvwxyz~\303\377";
	int			which = (int) (r % (sizeof(sizes) / sizeof(sizes[0])));
	uint32_t	len = 2 + (uint32_t) (r >> 8) % (which == 4 ? 70 : 20);
	uint8_t    *k = add(len, random_tid());

	k[0] = (uint8_t) which;
	for (uint32_t j = 1; j < len; j++)
		k[j] = (uint8_t) symbols[rnd(&seed) % (uint64_t) sizes[which]];
	if (which % 2)
		k[len - 1] = 0;
}

static void
make(Kind kind, int count)
{
	reset();
	for (int i = 0; i < count; i++)
	{
		uint64_t	r = rnd(&seed);
		char		buf[200];
		int			len;
		uint8_t    *k;

		switch (kind)
		{
			case SERIAL:
				put_int8(add(9, table_tid(i)), (uint64_t) i + 1000);
				break;
			case RANDOM:
				put_int8(add(9, random_tid()), r);
				break;
			case DUPS:
				put_int8(add(9, random_tid()), r % 7 == 0 ? r % 1000 : r % 3 == 0 ? r % 10 : 5);
				break;
			case UUID:
				k = add(17, random_tid());
				k[0] = 1;
				for (int j = 1; j < 17; j++)
					k[j] = (uint8_t) rnd(&seed);
				break;
			case TEXT:
				len = 2 + (int) (r % 12);
				make_text(add((uint32_t) len, random_tid()), (uint32_t) len, 4);
				break;
			case PATHS:
				len = snprintf(buf, sizeof(buf), "/usr/share/doc/package-%d/section%d/file-name-%d.txt",
							   (int) (r % 50), (int) (r >> 8 & 7), (int) (r >> 16 & 0xFFFF));
				memcpy(add((uint32_t) len + 1, random_tid()), buf, (size_t) len + 1);
				break;
			case COMPOSITE:
				k = add(10, random_tid());
				memcpy(k, "\001\200\000\000\000\001\200\000\000\000", 10);
				k[3] = (uint8_t) (r & 3);
				k[4] = (uint8_t) (r >> 8);
				k[8] = (uint8_t) (r >> 16);
				k[9] = (uint8_t) (r >> 24);
				break;
			case MIXED:
				k = add(30, random_tid());
				make_text(k, 30, 2);
				memset(k + 3, 'x', 9);
				break;
			case BINARY:
				len = (int) (r % 5);
				k = add((uint32_t) len, random_tid());
				for (int j = 0; j < len; j++)
					k[j] = (uint8_t) (rnd(&seed) % 3 * 127);
				break;
			case PAYLOAD:
				put_int8(add(9, random_tid()), r % 20000);
				entry[n - 1].paylen = (uint32_t) (r >> 40) % 20;
				entry[n - 1].payload = arena_get(entry[n - 1].paylen);
				for (uint32_t j = 0; j < entry[n - 1].paylen; j++)
					((uint8_t *) entry[n - 1].payload)[j] = (uint8_t) rnd(&seed);
				break;
			case WIDE:
				len = 1 + (int) (r % 30);
				k = add(9 + (uint32_t) len, random_tid());
				put_int8(k, r >> 50);
				make_text(k + 9, (uint32_t) len, 26);
				break;
			case UUID4:
				k = add(17, random_tid());
				k[0] = 1;
				for (int j = 1; j < 17; j++)
					k[j] = (uint8_t) rnd(&seed);
				k[7] = (k[7] & 0x0F) | 0x40;
				k[9] = (k[9] & 0x3F) | 0x80;
				break;
			case SPARSE:
				len = i < count / 2 ? 12 : 17;
				k = add((uint32_t) len, random_tid());
				memset(k, 0x5A, (size_t) len);
				k[0] = (uint8_t) len;
				k[2] ^= (uint8_t) (r & 0x0C);
				k[5] ^= (uint8_t) (r >> 8 & 0x91);
				k[7] ^= (uint8_t) (r >> 16 & 0xFF);
				k[9] ^= (uint8_t) (r >> 24 & 0x3C);
				k[len - 1] ^= (uint8_t) (r >> 32 & 0x42);
				break;
			case HEADS:
				len = r % 2 ? 17 : 24;
				k = add((uint32_t) len, random_tid());
				memset(k, (int) (r >> 8 & 1) * 255, (size_t) len);
				k[0] = (uint8_t) len;
				for (int j = 1; j < 9; j++)
					k[j] = (uint8_t) (k[j] ^ (r >> 16 & 1 ? 0 : 1 << (r >> 20 & 7)));
				for (int j = 9; j < len; j++)
					k[j] = (uint8_t) rnd(&seed);
				break;
			case CASES:
				len = 2 + (int) (r % 24);
				k = add((uint32_t) len, random_tid());
				make_text(k, (uint32_t) len, 8);
				for (int j = 0; j + 1 < len; j++)
					if (rnd(&seed) % 3 == 0)
						k[j] = (uint8_t) (k[j] - 'a' + 'A');
				break;
			case ALPHABETS:
				make_symbols(r);
				break;
			default:
				len = r % 4 == 0 ? SFX_MAX_ENTRY : 1 + (int) (r % SFX_MAX_ENTRY);
				k = add((uint32_t) len, random_tid());
				make_text(k, (uint32_t) len, 2);
				if (r % 3 == 0 && len > 2500)
					memset(k, 'b', 2500);
				break;
		}
	}
	sort_entries();
}

static const char *
order_name(void)
{
	static const char *const scheme[] = {"", "single", "double", "3grams", "4grams", "alm", "alm_improved", "fsst"};
	static char name[80];

	name[0] = '\0';
	if (order)
		snprintf(name, sizeof(name), "%s: ", ((const TestOrder *) order)->name);
	if (dict)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%s: ", scheme[sfx_hope_scheme(dict)]);
	return name;
}

static inline void
test_kinds(void)
{
	static const uint32_t caps[] = {CAPACITY, 32000, 4096};

	for (int kind = 0; kind < NKINDS; kind++)
	{
		const char *err = NULL;
		int			r = 0;
		size_t		bytes = 0;
		int			count = 0;
		int			most = kind == LONGKEYS ? 300 : order ? 4000 : kind == TEXT || kind == SERIAL ? 40000 : 12000;

		for (int c = 0; c < 3 && !err; c++)
		{
			/* the smallest capacity cannot hold three of the largest entries */
			if (kind == LONGKEYS && c == 2)
				continue;
			make(kind, c == 0 ? most : most / 4);
			r = pack(caps[c], NULL, NULL);
			if (r != SFX_OK)
				err = "packer";
			else if ((err = check_pages(caps[c])) == NULL)
				err = check_search(c == 0 ? 3000 : 1000);
			if (!err && !are_full(caps[c], room_for_one()))
				err = "a page is not full";
			if (!err)
				err = check_runs(caps[c]);
			for (int i = 0; i < npages && c == 0; i++)
				bytes += page[i].len;
			count += c == 0 ? n : 0;
		}
		ok(err == NULL, "%s%s: %.2f bytes per entry%s%s", order_name(), kind_name[kind], (double) bytes / count,
		   err ? ": " : "", err ? err : "");
	}
}

/* Small numbers of entries, where blocks have one key or one entry. */
static inline void
test_small(void)
{
	const char *err = NULL;

	for (int kind = 0; kind < NKINDS && !err; kind++)
		for (int count = 1; count < 40 && !err; count += order ? 5 : 1)
		{
			make(kind, count);
			if (pack(CAPACITY, NULL, NULL) != SFX_OK)
				err = "packer";
			else if ((err = check_pages(CAPACITY)) == NULL)
				err = check_search(60);
		}
	ok(err == NULL, "%s1 to 39 entries of every kind%s%s", order_name(), err ? ": " : "", err ? err : "");
}

/* Broken bytes: no crash (the fuzzer does this thoroughly), and a result either way. */
static inline void
test_broken(void)
{
	int			found = 0,
				calls = 0;

	for (int kind = 0; kind < NKINDS; kind++)
	{
		make(kind, order ? 1500 : 3000);
		pack(CAPACITY, NULL, NULL);
		for (int t = 0; t < (order ? 60 : 300); t++)
		{
			Page	   *p = &page[rnd(&seed) % (uint64_t) npages];
			uint32_t	at = (uint32_t) (rnd(&seed) % (t % 2 ? p->len : 64));
			uint8_t		old = p->body[at < p->len ? at : 0];
			const char *why;

			if (at >= p->len)
				continue;
			p->body[at] ^= (uint8_t) (1 + rnd(&seed) % 255);
			found += sfx_leaf_verify(p->body, p->len, order, dict, &blk, &why) < 0;
			found += sfx_leaf_verify(p->body, at, order, dict, &blk, &why) < 0;
			calls += 2;
			p->body[at] = old;
		}
	}
	ok(found > calls / 2, "%schanged and cut pages: the verifier finds %d of %d", order_name(), found, calls);
}

#endif							/* SFX_TEST_LEAF_KINDS_H */
