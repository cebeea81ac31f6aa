/*
 * Fuzz target of intcodec.  The first byte chooses the number of values, the rest is tried
 * as an encoded block, and then as values: whatever is encoded must come back.
 */
#include <stdlib.h>

#include "../src/core/test/intblock.h"
#include "cpu.h"
#include "decimal.h"
#include "intcodec.h"

#define CHECK(cond) do { if (!(cond)) abort(); } while (0)

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
decode_hostile(const uint8_t *in, size_t len, int n)
{
	uint64_t	all[SFX_INT_MAX],
				part[SFX_INT_MAX],
				x;
	int			size = sfx_int_size(in, len, n),
				r = sfx_int_decode(in, len, n, 0, n, all),
				from = n / 3,
				to = n - n / 4,
				lb;

	CHECK(size == SFX_CORRUPT || (size >= 2 && (size_t) size <= len));
	CHECK(size > 0 || r == SFX_CORRUPT);
	if (sfx_int_decode(in, len, n, from, to, part) == SFX_OK && r == SFX_OK)
		CHECK(memcmp(part, all + from, 8 * (size_t) (to - from)) == 0);
	for (int i = 0; i < n; i += 1 + n / 16)
	{
		if (int_get(in, len, n, i, &x) == SFX_OK && r == SFX_OK)
			CHECK(x == all[i]);
		lb = int_lower_bound(in, len, n, r == SFX_OK ? all[i] : (uint64_t) i);
		CHECK(lb >= SFX_CORRUPT && lb <= n);
		lb = int_lower_bound(in, len, n, UINT64_MAX >> (i & 63));
		CHECK(lb >= SFX_CORRUPT && lb <= n);
	}
}

static void
round_trip(const uint64_t *v, int n, bool sorted)
{
	uint8_t		enc[SFX_INT_BOUND(SFX_INT_MAX)];
	uint64_t	out[SFX_INT_MAX];

	for (int codec = 0; codec < SFX_INT_CODECS; codec++)
	{
		int			size = codec == 0 ? sfx_int_encode(v, n, enc, SFX_INT_BOUND(n)) :
			sfx_int_encode_as((SfxIntCodec) codec, v, n, enc, SFX_INT_BOUND(n));

		CHECK(codec != 0 || size > 0);
		if (size < 0)
			continue;
		CHECK(sfx_int_size(enc, (size_t) size, n) == size);
		CHECK(sfx_int_decode(enc, (size_t) size, n, 0, n, out) == SFX_OK);
		CHECK(memcmp(out, v, 8 * (size_t) n) == 0);
		for (int i = 0; i < n && sorted; i += 1 + n / 8)
		{
			int			lb = int_lower_bound(enc, (size_t) size, n, v[i]);

			CHECK(lb >= 0 && lb <= i && v[lb] == v[i] && (lb == 0 || v[lb - 1] < v[i]));
		}
	}
}

/* The values as d of so many places; a search for what lies between two finds none. */
static void
decimals_round_trip(uint64_t *v, int n, unsigned places)
{
	uint8_t		enc[SFX_INT_BOUND(SFX_INT_MAX) + 16];
	uint64_t	out[SFX_INT_MAX];
	SfxInt		b;
	bool		equal;
	int			size;

	for (int i = 0; i < n; i++)
	{
		int64_t		d = (int64_t) (v[i] & sfx_mask(SFX_DECIMAL_BITS));

		v[i] = sfx_decimal_image(places & 16 ? d - 1000 : d, places & 15);
	}
	size = sfx_int_encode_decimals(v, n, 8, enc, sizeof(enc));
	if (size < 0)
		return;
	CHECK(sfx_int_open(&b, enc, (size_t) size, n) == size && b.decimal);
	CHECK(sfx_int_read(&b, 0, n, out) == SFX_OK && memcmp(out, v, 8 * (size_t) n) == 0);
	for (int i = 1; i < n && v[i - 1] <= v[i]; i++)
	{
		if (i + 1 < n)
			continue;
		for (int j = 0; j < n; j += 1 + n / 8)
		{
			int			lb = sfx_int_search(&b, v[j], &equal);

			CHECK(lb >= 0 && lb <= j && equal && v[lb] == v[j] && (lb == 0 || v[lb - 1] < v[j]));
			lb = sfx_int_search(&b, v[j] + 1, &equal);
			CHECK(lb > j && equal == (lb < n && v[lb] == v[j] + 1) && v[lb - 1] <= v[j]);
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t	v[SFX_INT_MAX];
	unsigned	width;
	int			n;

	if (size < 3)
		return 0;
	/* a level that the processor lacks leaves the one before */
	sfx_cpu_pin((SfxCpuLevel) (data[size - 1] % SFX_CPU_LEVELS));
	decode_hostile(data + 1, size - 1, data[0] + 1);

	/* Values of data[1] % 8 + 1 bytes; then the same, each added to the one before. */
	width = data[1] % 8 + 1;
	n = (int) ((size - 2) / width < SFX_INT_MAX ? (size - 2) / width : SFX_INT_MAX);
	if (n == 0)
		return 0;
	for (int i = 0; i < n; i++)
	{
		v[i] = 0;
		memcpy(&v[i], data + 2 + width * (size_t) i, width);
	}
	round_trip(v, n, false);
	for (int i = 1; i < n; i++)
		v[i] = v[i] > UINT64_MAX - v[i - 1] ? UINT64_MAX : v[i] + v[i - 1];
	round_trip(v, n, true);
	decimals_round_trip(v, n, data[0]);
	return 0;
}
