/*-------------------------------------------------------------------------
 * hope_file.c - HOPE dictionaries as bytes (layout: hope_format.h): writing, checking, opening
 *-------------------------------------------------------------------------
 */
#include "fsst.h"

/* ---- code lengths ---- */

/* Number of bits of a run's length in Elias-gamma. */
static unsigned
gamma_bits(uint32_t x)
{
	return 2 * sfx_bitlen(x) - 1;
}

static uint32_t
run_at(const uint8_t *length, uint32_t i, uint32_t n)
{
	uint32_t	run = 1;

	while (i + run < n && length[i + run] == length[i])
		run++;
	return run;
}

static int
write_lengths(const uint8_t *length, uint32_t n, uint8_t *p, size_t cap)
{
	size_t		bits = 0,
				raw = 5 * (size_t) n;
	bool		runs;
	SfxBitWriter b;

	for (uint32_t i = 0, run; i < n; i += run)
	{
		run = run_at(length, i, n);
		bits += 5 + gamma_bits(run);
	}
	runs = bits < raw;
	/* a bit writer stores whole words only where they are full */
	if (cap < 1 + ((runs ? bits : raw) + 7) / 8)
		return SFX_NOSPACE;
	*p = runs ? HOPE_LENGTHS_RUNS : HOPE_LENGTHS_RAW;
	sfx_bits_start(&b, p + 1);
	for (uint32_t i = 0, run = 1; i < n; i += run)
	{
		sfx_bits_put(&b, length[i], 5);
		if (!runs)
			continue;
		run = run_at(length, i, n);
		sfx_bits_put(&b, 0, sfx_bitlen(run) - 1);
		/* the leading one first */
		sfx_bits_put(&b, 1, 1);
		sfx_bits_put(&b, run & sfx_mask(sfx_bitlen(run) - 1), sfx_bitlen(run) - 1);
	}
	return (int) (sfx_bits_end(&b) - p);
}

/* Read the run at bit *bit, which moves after it; 0 if there is none. */
static uint32_t
read_run(const uint8_t *p, size_t len, size_t *bit)
{
	uint64_t	x;
	unsigned	zeros;

	if (*bit >= 8 * len)
		return 0;
	x = sfx_bits_get(p, len, *bit, (unsigned) (8 * len - *bit < 56 ? 8 * len - *bit : 56));
	if (x == 0)
		return 0;
	zeros = (unsigned) __builtin_ctzll(x);
	if (zeros > 20 || *bit + 2 * zeros + 1 > 8 * len)
		return 0;
	*bit += 2 * zeros + 1;
	return (uint32_t) (1u << zeros | ((x >> (zeros + 1)) & sfx_mask(zeros)));
}

/* Put the lengths into code words without one.  All bytes must be used. */
static int
read_lengths(const uint8_t *p, size_t len, uint32_t *code, uint32_t n)
{
	size_t		bit = 0;
	bool		runs;

	if (len < 1 || *p > HOPE_LENGTHS_RUNS)
		return SFX_CORRUPT;
	runs = *p++ == HOPE_LENGTHS_RUNS;
	len--;
	for (uint32_t i = 0, run = 1; i < n; i += run)
	{
		uint32_t	length;

		if (bit + 5 > 8 * len)
			return SFX_CORRUPT;
		length = (uint32_t) sfx_bits_get(p, len, bit, 5);
		bit += 5;
		if (runs)
			run = read_run(p, len, &bit);
		if (run == 0 || run > n - i)
			return SFX_CORRUPT;
		for (uint32_t j = i; j < i + run; j++)
			code[j] |= length;
	}
	return (bit + 7) / 8 == len ? SFX_OK : SFX_CORRUPT;
}

/* ---- whole dictionaries ---- */

static uint32_t
get32(const uint8_t *p)
{
	return (uint32_t) sfx_load_bytes(p, 4);
}

/* Find the symbols of a dictionary; *lengths: the bytes after them.  SFX_OK or SFX_CORRUPT. */
static int
parse(const uint8_t *dict, size_t len, SfxHopeScheme *scheme, HopeSymbols *s,
	  uint32_t *nintervals, const uint8_t **lengths)
{
	uint32_t	bytes;

	if (len < HOPE_HEADER || dict[0] != HOPE_MAGIC || dict[1] < 1 || dict[1] > SFX_HOPE_NSCHEMES)
		return SFX_CORRUPT;
	*scheme = (SfxHopeScheme) dict[1];
	s->n = get32(dict + 2);
	*nintervals = get32(dict + 6);
	bytes = get32(dict + 10);
	if (bytes > len - HOPE_HEADER || s->n > bytes || *nintervals > SFX_HOPE_MAX_INTERVALS)
		return SFX_CORRUPT;
	s->p = dict + HOPE_HEADER;
	s->end = s->p + bytes;
	*lengths = s->end;
	return SFX_OK;
}

int
sfx_hope_finish(SfxHopeScheme scheme, uint8_t *dict, size_t cap, uint32_t nsymbols, size_t symbol_bytes,
				const uint8_t *length, uint32_t n)
{
	size_t		used = HOPE_HEADER + symbol_bytes;
	int			r;

	if (used > cap)
		return SFX_NOSPACE;
	dict[0] = HOPE_MAGIC;
	dict[1] = (uint8_t) scheme;
	sfx_store_bytes(dict + 2, nsymbols, 4);
	sfx_store_bytes(dict + 6, n, 4);
	sfx_store_bytes(dict + 10, symbol_bytes, 4);
	r = write_lengths(length, n, dict + used, cap - used);
	return r < 0 ? r : (int) used + r;
}

static int
read_shape(const uint8_t *dict, size_t len, HopeSymbols *s, HopeShape *shape, const uint8_t **lengths)
{
	SfxHopeScheme scheme;
	uint32_t	n;

	if (parse(dict, len, &scheme, s, &n, lengths) < 0 ||
		sfx_hope_shape(scheme, *s, n, shape) < 0 || shape->nintervals != n)
		return SFX_CORRUPT;
	return SFX_OK;
}

size_t
sfx_hope_state_size(const uint8_t *dict, size_t len)
{
	HopeSymbols s;
	HopeShape	shape;
	const uint8_t *lengths;

	if (len > 1 && dict[1] == SFX_FSST)
		return sfx_fsst_state_size(dict, len);
	if (read_shape(dict, len, &s, &shape, &lengths) < 0)
		return 0;
	return sfx_hope_layout(&shape, NULL);
}

int
sfx_hope_open(SfxHope *h, size_t size, const uint8_t *dict, size_t len)
{
	HopeSymbols s;
	HopeShape	shape;
	const uint8_t *lengths;
	uint32_t   *code;

	if (len > 1 && dict[1] == SFX_FSST)
		return sfx_fsst_open((Fsst *) h, size, dict, len);
	if (read_shape(dict, len, &s, &shape, &lengths) < 0)
		return SFX_CORRUPT;
	if (sfx_hope_layout(&shape, NULL) > size)
		return SFX_NOMEM;
	sfx_hope_layout(&shape, h);
	sfx_hope_fill(h, s);
	code = HOPE_TABLE(h, uint32_t, code);
	if (read_lengths(lengths, len - (size_t) (lengths - dict), code, shape.nintervals) < 0 ||
		sfx_hope_codes(code, shape.nintervals) < 0)
		return SFX_CORRUPT;
	sfx_hope_fill_decode(h);
	return SFX_OK;
}

SfxHopeScheme
sfx_hope_scheme(const SfxHope *h)
{
	return h->shape.scheme;
}

uint32_t
sfx_hope_intervals(const SfxHope *h)
{
	return h->shape.nintervals;
}
