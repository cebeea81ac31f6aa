/*
 * Fuzz target of tailcode.h.  The input is (a) a code; (b) two strings that begin alike, which have
 * to come back, and whose codes have to be in their order.
 */
#include <stdlib.h>
#include "tailcode.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAXLEN	4096

static SfxTailModel model;
static uint8_t str[2][MAXLEN + 1];
static uint8_t code[2][3 * MAXLEN];

static void
decode_hostile(const uint8_t *data, size_t size)
{
	uint32_t	from = size > 0 ? data[0] : 0;
	uint32_t	n = from + (size > 1 ? data[1] * 8u : 0);
	uint8_t    *dst = malloc(n + 1);
	uint8_t    *copy = malloc(size + 1);

	memset(dst, 'x', from);
	if (size > 0)
		memcpy(copy, data, size);
	sfx_tail_decode(&model, copy, (uint32_t) size, dst, from, n);
	free(copy);
	free(dst);
}

/* A copy of the bytes without zeros, and a zero. */
static uint32_t
ended(uint8_t *to, const uint8_t *p, size_t n)
{
	uint32_t	len = 0;

	for (size_t i = 0; i < n && len < MAXLEN; i++)
		to[len++] = p[i] ? p[i] : 1;
	to[len++] = 0;
	return len;
}

static void
compare(const uint8_t *data, size_t size)
{
	uint32_t	len[2];
	int			n[2];
	uint32_t	from;
	static uint8_t back[MAXLEN + 1];

	if (size < 2)
		return;
	len[0] = ended(str[0], data + 1, size / 2);
	len[1] = ended(str[1], data + 1 + size / 2, size - 1 - size / 2);
	from = sfx_lcp(str[0], len[0] - 1, str[1], len[1] - 1);
	from = from > 0 ? data[0] % (from + 1) : 0;
	for (int i = 0; i < 2; i++)
	{
		n[i] = sfx_tail_encode(&model, str[i], from, len[i], code[i], sizeof(code[i]));
		if (n[i] < 0)
			abort();
		memcpy(back, str[i], from);
		sfx_tail_decode(&model, code[i], (uint32_t) n[i], back, from, len[i]);
		if (memcmp(back, str[i], len[i]) != 0)
			abort();
	}
	int			want = sfx_cmp_bytes(str[0], len[0], str[1], len[1]);
	int			got = sfx_cmp_bytes(code[0], (size_t) n[0], code[1], (size_t) n[1]);

	if ((want > 0) != (got > 0) || (want < 0) != (got < 0))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int	ready = 0;

	if (!ready)
		sfx_tail_init(&model);
	ready = 1;
	decode_hostile(data, size);
	compare(data, size);
	return 0;
}
