/*
 * bench_delta.c - insert and lookup times and space of the delta's B+tree, and of its filter:
 * absent keys by searches and by asking it
 *
 *	cc -std=c11 -O2 -I src/core/image -I src/core/processor bench/core/bench_delta.c src/core/image/*.c -o bench_delta && ./bench_delta
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include "delta.h"
#include "hash.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct Arena
{
	uint8_t    *mem;
	uint32_t	used;
	uint32_t	total;
} Arena;

static uint32_t
arena_alloc(void *ctx)
{
	return ++((Arena *) ctx)->used;
}

static void
arena_free(void *ctx, uint32_t ref)
{
	(void) ctx;
	(void) ref;
}

static void *
arena_addr(void *ctx, uint32_t ref)
{
	return ((Arena *) ctx)->mem + (size_t) (ref - 1) * SFX_NODE_SIZE;
}

static uint32_t
arena_available(void *ctx)
{
	return ((Arena *) ctx)->total - ((Arena *) ctx)->used;
}

static uint64_t
mix(uint64_t z)
{
	z = (z + 1) * UINT64_C(0x9E3779B97F4A7C15);
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

enum
{
	RANDOM8, SERIAL8, DUP100, EMAIL, PATH, NKINDS
};
static const char *const names[] = {"random int8", "serial int8", "100 per key", "e-mail-like", "path-like"};

/* The i-th key of a kind; random order of insertion except for SERIAL8. */
static SfxPos
key_of(int kind, uint64_t i, uint8_t *buf)
{
	static const char *const hosts[] = {"com.gmail", "com.yahoo", "com.hotmail", "de.web", "org.example.mail"};
	SfxPos		p = {buf, 9, SFX_TID(mix(i) % 100000, i % 200 + 1)};
	uint64_t	v = kind == RANDOM8 ? mix(i) : kind == SERIAL8 ? i : mix(i) % 10000;

	if (kind == EMAIL)
	{
		uint64_t	m = mix(i);

		p.len = (uint32_t) sprintf((char *) buf, "%s@%c%c%c%u.%u", hosts[m % 5], 'a' + (int) (m >> 8) % 26,
								   'a' + (int) (m >> 16 & 15), 'a' + (int) (m >> 24 & 7),
								   (unsigned) (m >> 32) % 10000, (unsigned) i % 1000);
		return p;
	}
	if (kind == PATH)
	{
		static const char *const dirs[] = {"share/doc", "share/locale", "lib/python3/dist-packages", "include/linux", "share/icons"};
		uint64_t	m = mix(i);

		p.len = (uint32_t) sprintf((char *) buf, "usr/%s/lib%c%c%u/file%u-%u.txt", dirs[m % 5], 'a' + (int) (m >> 8) % 26, 'a' + (int) (m >> 16 & 15),
								   (unsigned) (m >> 24) % 300, (unsigned) (m >> 40) % 5000, (unsigned) i % 1000);
		return p;
	}
	buf[0] = 1;
	v = __builtin_bswap64(v);
	memcpy(buf + 1, &v, 8);
	return p;
}

int
main(int argc, char **argv)
{
	uint64_t	max = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	Arena		ar = {.total = (uint32_t) (max / 30) + 1000};
	SfxNodeAlloc a = {&ar, arena_alloc, arena_free, arena_addr, arena_available, NULL};

	ar.mem = aligned_alloc(SFX_NODE_SIZE, (size_t) ar.total * SFX_NODE_SIZE);
	memset(ar.mem, 1, (size_t) ar.total * SFX_NODE_SIZE);
	printf("%-12s %9s %8s %8s %8s %6s %6s %8s %8s %6s %6s\n", "keys", "entries", "insert", "lookup", "next", "B/ent", "height", "absent", "filter", "make",
		   "B/ent");
	for (int kind = 0; kind < NKINDS; kind++)
		for (uint64_t n = 10000; n <= max; n *= 10)
		{
			SfxDelta	d = {0};
			uint64_t	sum = 0,
						missing = 0;
			uint64_t	lookups = n < 300000 ? 300000 : n;
			uint8_t		buf[96];
			SfxCursor	c;
			SfxEntry	e;
			SfxPos		p;
			double		t0,
						t1,
						t2,
						t3,
						t4,
						t5,
						t6,
						gen;
			uint64_t	passed = 0;

			ar.used = 0;
			t0 = now();
			for (uint64_t i = 0; i < n; i++)
				sum += key_of(kind, i, buf).len + buf[5];
			gen = (now() - t0) / (double) n;
			t0 = now();
			for (uint64_t i = 0; i < n; i++)
			{
				p = key_of(kind, i, buf);
				e = (SfxEntry) {p.key, p.len, 0, NULL, p.tid};
				sum += (uint64_t) sfx_delta_insert(&d, &a, &e);
			}
			t1 = now();
			for (uint64_t i = 0; i < lookups; i++)
			{
				p = key_of(kind, mix(i) % n, buf);
				if (!sfx_delta_seek(&d, &a, &p, &c))
					missing++;
				else
				{
					sfx_delta_get(&d, &a, &c, &e);
					missing += e.tid != p.tid || e.keylen != p.len || memcmp(e.key, p.key, p.len) != 0;
				}
			}
			t2 = now();
			for (bool more = sfx_delta_seek(&d, &a, NULL, &c); more; more = sfx_delta_next(&d, &a, &c))
			{
				sfx_delta_get(&d, &a, &c, &e);
				sum += e.key[e.keylen - 1];
			}
			t3 = now();
			for (uint64_t i = 0; i < lookups; i++)
			{
				p = key_of(kind, mix(i) % n, buf);
				buf[p.len - 1] ^= 0x55;
				sum += sfx_delta_seek(&d, &a, &p, &c);
			}
			t4 = now();
			if (sfx_delta_filter_grow(&d, &a) != SFX_OK)
				return 1;
			t5 = now();
			for (uint64_t i = 0; i < lookups; i++)
			{
				p = key_of(kind, mix(i) % n, buf);
				buf[p.len - 1] ^= 0x55;
				passed += !sfx_delta_absent(&d, &a, sfx_hash_key(p.key, p.len));
			}
			t6 = now();
			printf("%-12s %9llu %8.0f %8.0f %8.1f %6.1f %6u %8.0f %8.0f %6.0f %6.1f%s\n", names[kind], (unsigned long long) n,
				   (t1 - t0) / (double) n - gen, (t2 - t1) / (double) lookups - gen,
				   (t3 - t2) / (double) d.nentries, (double) d.nodes * SFX_NODE_SIZE / (double) d.nentries,
				   d.height, (t4 - t3) / (double) lookups - gen, (t6 - t5) / (double) lookups - gen, (t5 - t4) / (double) n,
				   (double) d.filter.nodes * SFX_NODE_SIZE / (double) d.nentries, missing ? " MISSING ENTRIES" : sum + passed == 0 ? "?" : "");
		}
	free(ar.mem);
	return 0;
}
