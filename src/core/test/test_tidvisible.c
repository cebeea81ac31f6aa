/*
 * Unit test of tidvisible and the kernel hidden: every level of the processor against one bit
 * looked up at a time.
 */
#include <string.h>

#include "cpu.h"
#include "tap.h"
#include "tidcodec.h"
#include "tidvisible.h"

#define BLOCKS		64			/* heap blocks on a page of the map */
#define PAGES		5
#define MAXN		SFX_TID_MAXN

static uint64_t seed;
static uint8_t bits[PAGES][BLOCKS / 4];
static const uint8_t *pages[PAGES];

static bool
visible(const SfxVisMap *m, uint64_t tid)
{
	uint64_t	block = tid >> 16;

	if (block / m->blocks >= m->npages)
		return false;
	return m->page[block / m->blocks][block % m->blocks / 4] >> (block % 4 * 2) & 1;
}

/* Maps with few, many, all and no bits set; the frozen bits beside them are noise. */
static SfxVisMap
make_map(int t)
{
	SfxVisMap	m = {pages, (uint32_t) (t % (PAGES + 1)), BLOCKS};

	for (int p = 0; p < PAGES; p++)
	{
		pages[p] = bits[p];
		for (int i = 0; i < BLOCKS / 4; i++)
		{
			uint64_t	x = rnd(&seed);

			x |= (t % 4 > 0 ? rnd(&seed) : 0) | (t % 4 > 1 ? rnd(&seed) : 0);

			bits[p][i] = t % 17 == 0 ? 0xFF : t % 19 == 0 ? 0xAA : (uint8_t) x;
		}
	}
	return m;
}

static int
expect(const SfxVisMap *m, const uint64_t *tid, int n, uint64_t *out)
{
	int			found = 0;

	for (int i = 0; i < n; i++)
		if (!visible(m, tid[i]))
			out[found++] = tid[i];
	return found;
}

static int
test_kernel(bool in_place)
{
	int			bad = 0;

	for (int t = 0; t < 20000; t++)
	{
		SfxVisMap	m = make_map(t);
		int			n = (int) (rnd(&seed) % 70);
		uint64_t	tid[70 + SFX_HIDDEN_SLACK],
					want[70],
					got[70 + SFX_HIDDEN_SLACK + 1];
		int			k;

		for (int i = 0; i < n; i++)
			tid[i] = rnd(&seed) % (t % 7 ? BLOCKS * (PAGES + 1) : UINT64_C(1) << 32) << 16 |
				(1 + rnd(&seed) % 0xFFFF);
		k = expect(&m, tid, n, want);
		got[n + SFX_HIDDEN_SLACK] = 4711;
		if (in_place)
			memcpy(got, tid, 8 * (size_t) n);
		bad += sfx_kernels->hidden(&m, in_place ? got : tid, n, got) != k;
		bad += memcmp(got, want, 8 * (size_t) k) != 0;
		bad += got[n + SFX_HIDDEN_SLACK] != 4711;
	}
	return bad;
}

/* A block of TIDs of one of several kinds, ascending if the codec requires that. */
static void
make_tids(int kind, uint64_t *tid, int n)
{
	uint64_t	t = (rnd(&seed) % BLOCKS) << 16 | 1;

	for (int i = 0; i < n; i++)
	{
		if (kind == 0)
			t = (t & 0xFFFF) < 40 ? t + 1 : ((t >> 16) + 1) << 16 | 1;	/* table order */
		else if (kind == 1)
			t += rnd(&seed) % 3 ? 1 : rnd(&seed) % 7 << 16 | 1;
		else
			t = rnd(&seed) % (BLOCKS * (PAGES + 1)) << 16 | (1 + rnd(&seed) % 200);
		tid[i] = t;
	}
	if (kind == 3)				/* backward */
		for (int i = 0; i < n; i++)
			tid[i] = (uint64_t) (BLOCKS * 4 - i / 50) << 16 | (uint64_t) (50 - i % 50);
	if (kind == 4)				/* numbers that go on beyond the end of a heap block */
		for (int i = 0; i < n; i++)
			tid[i] = (UINT64_C(7) << 16) + 0xFFF0 + (uint64_t) i;
}

static int
test_codec(SfxTidCodec codec)
{
	int			bad = 0;

	for (int t = 0; t < 3000; t++)
	{
		SfxVisMap	m = make_map(t);
		int			n = 1 + (int) (rnd(&seed) % MAXN),
					from = (int) (rnd(&seed) % (uint64_t) (n + 1)),
					to = from + (int) (rnd(&seed) % (uint64_t) (n - from + 1)),
					size,
					k;
		uint64_t	tid[MAXN],
					want[MAXN],
					got[MAXN + SFX_HIDDEN_SLACK];
		uint8_t		block[SFX_TID_BOUND(MAXN)];

		make_tids(t % 5, tid, n);
		size = codec == 0 ? sfx_tid_encode(tid, n, NULL, n, block, sizeof(block)) :
			sfx_tid_encode_as(codec, tid, n, NULL, n, block, sizeof(block));
		if (size < 0)			/* not every codec accepts every sequence */
			continue;
		k = expect(&m, tid + from, to - from, want);
		bad += sfx_tid_hidden(block, (size_t) size, n, NULL, n, from, to, &m, got) != k;
		bad += memcmp(got, want, 8 * (size_t) k) != 0;
	}
	return bad;
}

/* Any bytes: the function returns, with at most as many TIDs as were asked for. */
static int
test_hostile(void)
{
	int			bad = 0;

	for (int t = 0; t < 50000; t++)
	{
		SfxVisMap	m = make_map(t);
		int			n = 1 + (int) (rnd(&seed) % MAXN),
					from = (int) (rnd(&seed) % (uint64_t) n),
					to = from + (int) (rnd(&seed) % (uint64_t) (n - from + 1)),
					found;
		size_t		len = rnd(&seed) % 60;
		uint64_t	got[MAXN + SFX_HIDDEN_SLACK];
		uint8_t    *block = malloc(len ? len : 1);

		for (size_t i = 0; i < len; i++)
			block[i] = (uint8_t) rnd(&seed);
		if (len > 0 && t % 2)
			block[0] = SFX_TID_RUNS | (t % 4 == 1 ? 8 : 0);
		found = sfx_tid_hidden(block, len, n, NULL, n, from, to, &m, got);
		bad += found != SFX_CORRUPT && (found < 0 || found > to - from);
		free(block);
	}
	return bad;
}

int
main(void)
{
	for (int l = SFX_CPU_SCALAR; l < SFX_CPU_LEVELS; l++)
	{
		const char *name = sfx_cpu_name((SfxCpuLevel) l);

		seed = 42;
		if (!sfx_cpu_pin((SfxCpuLevel) l))
		{
			ok(1, "# skip %s: not this processor", name);
			continue;
		}
		ok(test_kernel(false) == 0, "%s: hidden", name);
		ok(test_kernel(true) == 0, "%s: hidden, in place", name);
		for (int c = 0; c < SFX_TID_CODECS; c++)
			ok(test_codec((SfxTidCodec) c) == 0, "%s: blocks of codec %d", name, c);
		ok(test_hostile() == 0, "%s: hostile bytes", name);
	}
	return done_testing();
}
