/* Unit test of tidcodec: every codec against the array it was given. */
#include <string.h>

#include "cpu.h"
#include "tidcodec.h"
#include "tap.h"

#define NKINDS 21

static const char *const codec_name[] = {"any", "PLAIN", "RUNS", "FOR", "ZIGZAG", "POSTING", "PATCHED"};

/*
 * n TIDs in table order with rows per heap page, from row first on; one of so many (0: none) is
 * missing.
 */
static void
table_order(uint64_t *tid, int n, uint64_t first, uint64_t rows, uint64_t lost, uint64_t *seed)
{
	for (int i = 0; i < n; first++)
		if (lost == 0 || rnd(seed) % lost != 0)
			tid[i++] = SFX_TID(first / rows, first % rows + 1);
}

static void
reverse(uint64_t *tid, int n)
{
	for (int i = 0; i < n / 2; i++)
	{
		uint64_t	t = tid[i];

		tid[i] = tid[n - 1 - i];
		tid[n - 1 - i] = t;
	}
}

/*
 * Fill tid with n TIDs of one kind, and set the lists of which they are made.  Returns the number
 * of lists; 0: no ends.
 */
static int
make(int kind, int n, uint64_t *seed, uint64_t *tid, uint16_t *ends)
{
	static const uint64_t rows_per_page[] = {1, 2, 3, 8, 60, 64, 185, 226, 291};
	uint64_t	rows = rows_per_page[rnd(seed) % 9];
	uint64_t	first = rnd(seed) % (rows << (rnd(seed) % 32));
	uint64_t	block = rnd(seed) >> (32 + rnd(seed) % 32),
				row = 0;
	int			nlists = 0;

	table_order(tid, n, first, rows, kind == 1 ? 10 : kind == 2 ? 2 : 0, seed);
	for (int i = 0; i < n && kind >= 3; i++)
	{
		uint64_t	r = rnd(seed);

		switch (kind)
		{
			case 3:	tid[i] = 0; break;
			case 4:	tid[i] = SFX_MAX_TID; break;
			case 5:	tid[i] = r & SFX_MAX_TID; break;
			case 6:	tid[i] = i % 2 ? SFX_MAX_TID : 0; break;
			case 7:	tid[i] = SFX_TID(r % 44248, (r >> 32) % 226 + 1); break;
			case 8:	tid[i] = SFX_TID(block, r % 65536); break;
			case 9:	tid[i] = r % 50 == 0 ? SFX_TID(r >> 40, (r >> 32) % 226 + 1) : tid[i]; break;
			case 10: row = first + (uint64_t) i + r % 20; tid[i] = SFX_TID(row / rows, row % rows + 1); break;
			case 11: tid[i] = SFX_MAX_TID - 1000 + (uint64_t) i; break;
			case 12: if (r % 100 == 0 || i == 0) { block++; row = 1 + (r >> 32) % 3; } tid[i] = SFX_TID(block, row++); break;
			case 13: case 14: case 15: tid[i] = SFX_TID(r % 44248, (r >> 32) % 226 + 1); break;
			case 19: tid[i] = r % 40 == 0 ? SFX_TID(r >> 40, (r >> 32) % 226 + 1) : SFX_TID((uint64_t) i / 8 + r % 3, r % 100 + 1); break;
			case 20: row = first + (uint64_t) i + r % 20 + (r % 30 == 0 ? r >> 20 & 0xFFFFFF : 0); tid[i] = SFX_TID(row / rows, row % rows + 1); break;
			case 16: tid[i] = SFX_TID(r % 300, (r >> 32) % 2 + 65534); break;
			default: break;
		}
	}
	if (kind == 17)
		reverse(tid, n);
	if (kind == 14)
		qsort(tid, (size_t) n, sizeof(*tid), cmp64);
	for (int start = 0; start < n && (kind == 13 || kind == 15 || kind == 16 || kind == 18); nlists++)
	{
		int			m = 1 + (int) (rnd(seed) % (kind == 15 ? 7 : 150));

		m = m < n - start ? m : n - start;
		qsort(tid + start, (size_t) m, sizeof(*tid), cmp64);
		ends[nlists] = (uint16_t) (start += m);
	}
	return nlists;
}

static bool
check_block(const uint64_t *tid, int n, const uint16_t *ends, int nlists, const uint8_t *enc, int size, uint64_t *seed)
{
	uint8_t    *b = malloc((size_t) size);
	uint64_t	out[SFX_TID_MAXN + 1];
	bool		good;

	memcpy(b, enc, (size_t) size);
	good = sfx_tid_size(b, (size_t) size, n, ends, nlists) == size &&
		sfx_tid_decode(b, (size_t) size, n, ends, nlists, 0, n, out) == SFX_OK &&
		memcmp(out, tid, 8 * (size_t) n) == 0;
	for (int len = 0; len < size && good; len += 1 + len / 8)
		good = sfx_tid_size(b, (size_t) len, n, ends, nlists) == SFX_CORRUPT;
	for (int i = 0; i < n && good; i++)
		good = sfx_tid_decode(b, (size_t) size, n, ends, nlists, i, i + 1, out) == SFX_OK && out[0] == tid[i];
	for (int t = 0; t < 20 && good; t++)
	{
		int			from = (int) (rnd(seed) % (uint64_t) (n + 1)),
					to = from + (int) (rnd(seed) % (uint64_t) (n - from + 1));

		out[to - from] = 12345;
		good = sfx_tid_decode(b, (size_t) size, n, ends, nlists, from, to, out) == SFX_OK &&
			memcmp(out, tid + from, 8 * (size_t) (to - from)) == 0 && out[to - from] == 12345;
	}
	good = good && sfx_tid_decode(b, (size_t) size, n, ends, nlists, 0, n + 1, out) == SFX_CORRUPT &&
		sfx_tid_decode(b, (size_t) size, n, ends, nlists, 1, 0, out) == SFX_CORRUPT;
	free(b);
	return good;
}

static void
test_codec(int codec)
{
	static const int sizes[] = {1, 2, 3, 7, 8, 63, 64, 65, 100, 128, 129, 200, 255, 256, 257, 500, 511, 512};
	uint64_t	seed = 4242 + (uint64_t) codec;
	uint64_t	tid[SFX_TID_MAXN];
	uint16_t	list_ends[SFX_TID_MAXN];
	uint8_t		enc[SFX_TID_BOUND(SFX_TID_MAXN) + 64],
				other[sizeof(enc)];
	int			bad_kind = -1,
				bad_n = 0,
				blocks = 0;
	bool		smallest = true,
				bounded = true;

	for (int kind = 0; kind < NKINDS; kind++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes) && bad_kind < 0; s++)
			for (int round = 0; round < 6 && bad_kind < 0; round++)
			{
				int			n = sizes[s],
							nlists = make(kind, n, &seed, tid, list_ends),
							size;
				const uint16_t *ends = nlists ? list_ends : NULL;
				size_t		cap = SFX_TID_BOUND(n);

				memset(enc, 0xA5, sizeof(enc));
				size = codec == 0 ? sfx_tid_encode(tid, n, ends, nlists, enc, cap) :
					sfx_tid_encode_as((SfxTidCodec) codec, tid, n, ends, nlists, enc, cap);
				if (size == SFX_NOSPACE && codec != 0)
					continue;
				blocks++;
				bounded &= size > 0 && (size_t) size <= cap && enc[cap] == 0xA5;
				if (!check_block(tid, n, ends, nlists, enc, size, &seed) || (codec && (enc[0] & 7) != codec))
				{
					bad_kind = kind;
					bad_n = n;
				}
				memset(other, 0xA5, sizeof(other));
				bounded &= codec == 0 ? sfx_tid_encode(tid, n, ends, nlists, other, (size_t) size - 1) == SFX_NOSPACE :
					sfx_tid_encode_as((SfxTidCodec) codec, tid, n, ends, nlists, other, (size_t) size - 1) == SFX_NOSPACE;
				bounded &= other[size] == 0xA5;
				for (int c = 1; c < SFX_TID_CODECS && codec == 0; c++)
				{
					int			o = sfx_tid_encode_as((SfxTidCodec) c, tid, n, ends, nlists, other, cap);

					smallest &= o < 0 || size <= o || ((enc[0] & 7) == SFX_TID_RUNS && size <= n / 8) ||
						(c == SFX_TID_PATCHED && (size < 24 || size <= n / 8 || o >= size - size / 8));
				}
			}
	ok(bad_kind < 0, "%s: round trips (kind %d, n %d; %d blocks)", codec_name[codec], bad_kind, bad_n, blocks);
	ok(bounded, "%s: stays within its bound, and says so when it cannot", codec_name[codec]);
	if (codec == 0)
		ok(smallest, "the choice is the smallest, or runs of a bit per TID, or not patched");
}

static int
size_in_table_order(uint64_t rows, uint64_t lost, bool backward)
{
	uint64_t	seed = 5;
	uint64_t	tid[256];
	uint8_t		enc[SFX_TID_BOUND(256)];
	int			worst = 0;

	for (uint64_t first = 100000; first < 100000 + 256 * 50; first += 256)
	{
		int			size;

		table_order(tid, 256, first, rows, lost, &seed);
		if (backward)
			reverse(tid, 256);
		size = sfx_tid_encode(tid, 256, NULL, 0, enc, sizeof(enc));
		worst = size > worst ? size : worst;
	}
	return worst;
}

static void
test_sizes(void)
{
	uint64_t	seed = 6;
	uint64_t	tid[512];
	uint16_t	ends[5] = {100, 200, 300, 400, 500};
	uint8_t		enc[SFX_TID_BOUND(512)];
	int			size;

	size = size_in_table_order(226, 0, false);
	ok(size <= 14, "table order, 226 rows per page: %d bytes", size);
	size = size_in_table_order(185, 0, false);
	ok(size <= 14, "table order, 185 rows per page: %d bytes", size);
	size = size_in_table_order(8, 0, false);
	ok(size <= 14, "table order, 8 rows per page: %d bytes", size);
	size = size_in_table_order(226, 0, true);
	ok(size <= 14, "backward table order, 226 rows per page: %d bytes", size);
	size = size_in_table_order(226, 50, false);
	ok(size <= 45, "table order with 2%% dead: %d bytes", size);

	for (int i = 0; i < 512; i++)
		tid[i] = SFX_TID(rnd(&seed) % 44248, rnd(&seed) % 226 + 1);
	size = sfx_tid_encode(tid, 256, NULL, 0, enc, sizeof(enc));
	ok(size <= 256 * 3 + 8 && (enc[0] & 7) == SFX_TID_FOR, "random order: %.2f bytes each", size / 256.0);
	/* in order except for 3 %, which were updated */
	for (int i = 0; i < 256; i++)
	{
		uint64_t	row = rnd(&seed) % 33 == 0 ? rnd(&seed) % 10000000 : 3000000 + (uint64_t) i + rnd(&seed) % 10;

		tid[i] = SFX_TID(row / 226, row % 226 + 1);
	}
	size = sfx_tid_encode(tid, 256, NULL, 0, enc, sizeof(enc));
	ok(size <= 256 * 0.95 && (enc[0] & 7) == SFX_TID_PATCHED, "nearly in order with outliers: %.2f bytes each", size / 256.0);
	for (int i = 0; i < 512; i++)
		tid[i] = SFX_TID(rnd(&seed) % 44248, rnd(&seed) % 226 + 1);
	for (int l = 0; l < 5; l++)
		qsort(tid + 100 * l, 100, sizeof(*tid), cmp64);
	size = sfx_tid_encode(tid, 500, ends, 5, enc, sizeof(enc));
	ok(size <= 500 * 2.40 && (enc[0] & 7) == SFX_TID_POSTING, "posting lists of 100: %.2f bytes each", size / 500.0);
}

static void
test_arguments(void)
{
	uint64_t	tid[3] = {SFX_MAX_TID + 1, 1, 2},
				out[8];
	uint64_t	three[3] = {7, 8, 9};
	uint16_t	repeated[2] = {2, 2},
				falling[2] = {3, 1},
				beyond[1] = {4},
				sound[2] = {1, 3};
	uint8_t		enc[64];
	int			size;

	ok(sfx_tid_encode(tid, 3, NULL, 0, enc, sizeof(enc)) == SFX_NOSPACE &&
	   sfx_tid_encode(three, 0, NULL, 0, enc, sizeof(enc)) == SFX_NOSPACE &&
	   sfx_tid_encode(three, 513, NULL, 0, enc, sizeof(enc)) == SFX_NOSPACE &&
	   sfx_tid_encode(three, 3, beyond, 1, enc, sizeof(enc)) == SFX_NOSPACE &&
	   sfx_tid_encode_as(SFX_TID_CODECS, three, 3, NULL, 0, enc, sizeof(enc)) == SFX_NOSPACE,
	   "bad arguments are refused");
	size = sfx_tid_encode_as(SFX_TID_POSTING, three, 3, sound, 2, enc, sizeof(enc));
	ok(size > 0 && sfx_tid_decode(enc, (size_t) size, 3, repeated, 2, 0, 3, out) == SFX_CORRUPT &&
	   sfx_tid_decode(enc, (size_t) size, 3, falling, 2, 0, 3, out) == SFX_CORRUPT &&
	   sfx_tid_decode(enc, (size_t) size, 3, beyond, 1, 0, 3, out) == SFX_CORRUPT &&
	   sfx_tid_decode(enc, (size_t) size, 3, sound, 2, 0, 3, out) == SFX_OK, "unsound lists are corruption");
}

/*
 * Damaged blocks: results stay in range, and nothing outside the buffer is touched (run it with
 * ASan).
 */
static void
test_damage(void)
{
	uint64_t	seed = 98;
	uint64_t	tid[SFX_TID_MAXN],
				out[SFX_TID_MAXN];
	uint16_t	list_ends[SFX_TID_MAXN];
	uint8_t		enc[SFX_TID_BOUND(SFX_TID_MAXN)];
	bool		good = true;

	for (int t = 0; t < 10000; t++)
	{
		int			n = 1 + (int) (rnd(&seed) % SFX_TID_MAXN),
					nlists = make((int) (rnd(&seed) % NKINDS), n, &seed, tid, list_ends),
					from = (int) (rnd(&seed) % (uint64_t) n),
					size = sfx_tid_encode_as((SfxTidCodec) (1 + rnd(&seed) % (SFX_TID_CODECS - 1)), tid, n,
											 nlists ? list_ends : NULL, nlists, enc, sizeof(enc));
		uint8_t    *b;

		if (size < 0)
			continue;
		b = damaged_copy(enc, size, &seed);
		good &= sfx_tid_size(b, (size_t) size, n, nlists ? list_ends : NULL, nlists) <= size;
		if (sfx_tid_decode(b, (size_t) size, n, nlists ? list_ends : NULL, nlists, from, n, out) == SFX_OK)
			for (int i = 0; i < n - from; i++)
				good &= out[i] <= SFX_MAX_TID;
		free(b);
	}
	ok(good, "damaged blocks give bounded results");
}

int
main(void)
{
	/* every level of kernels (test_cpu.c compares them one by one) */
	for (int level = 0; level < SFX_CPU_LEVELS; level++)
	{
		if (!sfx_cpu_pin((SfxCpuLevel) level))
			break;
		for (int codec = 0; codec < SFX_TID_CODECS; codec++)
			test_codec(codec);
		test_damage();
	}
	test_sizes();
	test_arguments();
	return done_testing();
}
