/*
 * Fuzz target of tidcodec.  Two bytes choose the number of TIDs and the lists, the rest is tried
 * as an encoded block, and then as TIDs: whatever is encoded must come back.
 */
#include <stdlib.h>

#include "cpu.h"
#include "tidcodec.h"

#define CHECK(cond) do { if (!(cond)) abort(); } while (0)

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lists of len TIDs, the last one shorter; an unsound list if flaw is set. */
static int
make_lists(int n, int len, bool flaw, uint16_t *ends)
{
	int			nlists = 0;

	for (int end = 0; end < n; nlists++)
	{
		end = end + len < n ? end + len : n;
		ends[nlists] = (uint16_t) end;
	}
	if (flaw)
		ends[nlists / 2] = (uint16_t) (ends[nlists / 2] + len);
	return nlists;
}

static void
decode_hostile(const uint8_t *in, size_t len, int n, const uint16_t *ends, int nlists)
{
	uint64_t	all[SFX_TID_MAXN],
				part[SFX_TID_MAXN];
	int			size = sfx_tid_size(in, len, n, ends, nlists),
				r = sfx_tid_decode(in, len, n, ends, nlists, 0, n, all),
				from = n / 3,
				to = n - n / 4;

	CHECK(size == SFX_CORRUPT || (size >= 1 && (size_t) size <= len));
	if (r == SFX_OK)
		for (int i = 0; i < n; i++)
			CHECK(all[i] <= SFX_MAX_TID);
	if (sfx_tid_decode(in, len, n, ends, nlists, from, to, part) == SFX_OK)
		for (int i = 0; i < to - from; i++)
			CHECK(part[i] <= SFX_MAX_TID && (r != SFX_OK || part[i] == all[from + i]));
	for (int i = 0; i < n; i += 1 + n / 16)
		if (sfx_tid_decode(in, len, n, ends, nlists, i, i + 1, part) == SFX_OK && r == SFX_OK)
			CHECK(part[0] == all[i]);
}

static void
round_trip(const uint64_t *tid, int n, const uint16_t *ends, int nlists)
{
	uint8_t		enc[SFX_TID_BOUND(SFX_TID_MAXN)];
	uint64_t	out[SFX_TID_MAXN];
	int			least = 0;

	for (int codec = 0; codec < SFX_TID_CODECS; codec++)
	{
		int			size = codec == 0 ? sfx_tid_encode(tid, n, ends, nlists, enc, SFX_TID_BOUND(n)) :
			sfx_tid_encode_as((SfxTidCodec) codec, tid, n, ends, nlists, enc, SFX_TID_BOUND(n));

		CHECK(codec != 0 || size > 0);
		if (size < 0)
			continue;
		/*
		 * The choice is the smallest, or runs of a bit per TID, or not patched; and runs are not
		 * looked at where a bound that holds for offsets above 0 says so.
		 */
		if (codec == 0)
			least = size <= n / 8 ? 0 : size;
		CHECK(codec == SFX_TID_RUNS || size >= least - (codec == SFX_TID_PATCHED ? least / 8 : 0) ||
			  (codec == SFX_TID_PATCHED && least < 24));
		CHECK(sfx_tid_size(enc, (size_t) size, n, ends, nlists) == size);
		CHECK(sfx_tid_decode(enc, (size_t) size, n, ends, nlists, 0, n, out) == SFX_OK);
		CHECK(memcmp(out, tid, 8 * (size_t) n) == 0);
		CHECK(sfx_tid_decode(enc, (size_t) size, n, ends, nlists, n / 2, n, out) == SFX_OK);
		CHECK(memcmp(out, tid + n / 2, 8 * (size_t) (n - n / 2)) == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t	tid[SFX_TID_MAXN],
				prev = 0;
	uint16_t	ends[SFX_TID_MAXN + 1];
	int			n,
				len,
				nlists;
	size_t		pos;

	if (size < 4)
		return 0;
	/* a level that the processor lacks leaves the one before */
	sfx_cpu_pin((SfxCpuLevel) (data[size - 1] % SFX_CPU_LEVELS));
	n = 1 + 2 * data[0] + (data[1] & 1);
	len = 1 + (data[1] >> 2);
	nlists = make_lists(n, len, (data[1] & 2) != 0, ends);
	decode_hostile(data + 2, size - 2, n, ends, nlists);
	decode_hostile(data + 2, size - 2, n, NULL, 0);

	/* A byte below 128 is a step from the TID before, one above starts a TID of three bytes. */
	for (n = 0, pos = 2; n < SFX_TID_MAXN && pos + 3 <= size; n++)
	{
		if (data[pos] < 64)
			prev += data[pos++];
		else if (data[pos] < 128)
		{
			prev = ((prev >> 16) + 1) << 16 | (data[pos] & 3);
			pos++;
		}
		else
		{
			prev = SFX_TID((uint32_t) data[pos + 1] << (data[pos] & 31), data[pos + 2]);
			pos += 3;
		}
		tid[n] = prev &= SFX_MAX_TID;
	}
	if (n == 0)
		return 0;
	nlists = make_lists(n, len, false, ends);
	round_trip(tid, n, ends, nlists);
	round_trip(tid, n, NULL, 0);
	return 0;
}
