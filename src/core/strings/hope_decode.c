/*-------------------------------------------------------------------------
 * hope_decode.c - decoding by tables over the next bits (layout: hope_format.h; one step:
 * hope_step.h)
 *-------------------------------------------------------------------------
 */
#include "fsst.h"
#include "hope_step.h"

#define TABLE_SIZE	(1u << HOPE_DECODE_BITS)
#define SECOND_SIZE	(1u << HOPE_SECOND_BITS)

/* ---- the table ---- */

static uint64_t
special(uint64_t kind, uint64_t bits, uint64_t low)
{
	return HOPE_SPECIAL | bits << 60 | kind << 57 | low;
}

/*
 * For each value of the next 12 bits, find the interval with that code, or the first one whose code
 * begins with them.
 */
static void
fill_first(const SfxHope *h, uint32_t *first)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code);
	uint32_t	v = 0;

	for (uint32_t i = 0; i < h->shape.nintervals; i++)
	{
		uint32_t	from = HOPE_CODE(code[i]) >> (32 - HOPE_DECODE_BITS),
					bits = HOPE_BITS(code[i]),
					to = from + (bits < HOPE_DECODE_BITS ? 1u << (HOPE_DECODE_BITS - bits) : 1);

		for (v = v < from ? from : v; v < to; v++)
			first[v] = i;
	}
}

/* The entry for all codes in the 12 bits v, of which the first one is whole and short enough. */
static uint64_t
several(const SfxHope *h, const uint32_t *first, uint32_t v)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code);
	uint8_t		bytes[8] = {0};
	uint32_t	used = 0,
				nbytes = 0;

	for (;;)
	{
		uint32_t	i = first[(v << used) & (TABLE_SIZE - 1)],
					len = HOPE_SYMLEN(code[i]);
		uint8_t		buf[SFX_HOPE_MAXSYM];

		if (i == HOPE_END || used + HOPE_BITS(code[i]) > HOPE_DECODE_BITS || nbytes + len > HOPE_DECODE_BYTES)
			break;
		memcpy(bytes + nbytes, sfx_hope_symbol(h, i, buf), len);
		nbytes += len;
		used += HOPE_BITS(code[i]);
	}
	return sfx_load64(bytes) | (uint64_t) nbytes << 57 | (uint64_t) used << 60;
}

/* The entry of a code of that many bits, counted from the first bit of the table's. */
static uint64_t
one_code(const SfxHope *h, uint32_t i, uint32_t bits)
{
	uint32_t	len = HOPE_SYMLEN(HOPE_CTABLE(h, uint32_t, code)[i]);
	uint8_t		buf[SFX_HOPE_MAXSYM];

	if (i == HOPE_END)
		return special(HOPE_KIND_END, 0, 0);
	if (len > HOPE_DECODE_BYTES)
		return special(HOPE_KIND_LONG, bits, (uint64_t) len << 28 | HOPE_CTABLE(h, uint32_t, start)[i]);
	memset(buf, 0, 8);
	memcpy(buf, sfx_hope_symbol(h, i, buf), len);
	return (sfx_load64(buf) & sfx_mask(8 * len)) | (uint64_t) len << 57 | (uint64_t) bits << 60;
}

/* Fill the table of the bits after v, with which the codes [i, stop) begin. */
static void
fill_second(const SfxHope *h, uint32_t i, uint32_t stop, uint64_t *table)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code);

	for (uint32_t w = 0; w < SECOND_SIZE;)
	{
		uint32_t	bits = HOPE_BITS(code[i]) - HOPE_DECODE_BITS,
					n = 1;
		uint64_t	e;

		if (bits <= HOPE_SECOND_BITS)
		{
			e = one_code(h, i, bits);
			for (uint32_t to = w + (1u << (HOPE_SECOND_BITS - bits)); w < to; w++)
				table[w] = e;
			i++;
			continue;
		}
		while (i + n < stop && (HOPE_CODE(code[i + n]) >> (32 - HOPE_DECODE_BITS - HOPE_SECOND_BITS) & (SECOND_SIZE - 1)) == w)
			n++;
		table[w++] = special(HOPE_KIND_SEARCH, 0, (uint64_t) n << 28 | i);
		i += n;
	}
}

void
sfx_hope_fill_decode(SfxHope *h)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code);
	uint64_t   *table = HOPE_TABLE(h, uint64_t, decode);
	uint64_t   *second = HOPE_TABLE(h, uint64_t, second);
	uint32_t	nsecond = 0,
				first[TABLE_SIZE + 1];

	fill_first(h, first);
	first[TABLE_SIZE] = h->shape.nintervals;
	for (uint32_t v = 0; v < TABLE_SIZE; v++)
	{
		uint32_t	i = first[v],
					bits = HOPE_BITS(code[i]);

		if (bits > HOPE_DECODE_BITS && nsecond < hope_second_tables(&h->shape))
		{
			fill_second(h, i, first[v + 1], second + nsecond * SECOND_SIZE);
			table[v] = special(HOPE_KIND_SECOND, 0, nsecond * SECOND_SIZE);
			nsecond++;
		}
		else if (bits > HOPE_DECODE_BITS)
			table[v] = special(HOPE_KIND_SEARCH, 0, (uint64_t) (first[v + 1] - i) << 28 | i);
		else if (i == HOPE_END || HOPE_SYMLEN(code[i]) > HOPE_DECODE_BYTES)
			table[v] = one_code(h, i, bits);
		else
			table[v] = several(h, first, v);
	}
}

/* ---- decoding ---- */

HopeStep
sfx_hope_step_search(const SfxHope *h, uint64_t e, uint64_t acc)
{
	HopeStep	s = {NULL, 0, 0, 0};
	uint8_t		buf[SFX_HOPE_MAXSYM] = {0};
	uint32_t	i,
				word;

	if (HOPE_KIND(e) == HOPE_KIND_END)
		return s;
	i = hope_search_code(h, e, acc);
	if (i == HOPE_END)
		return s;
	word = HOPE_CTABLE(h, uint32_t, code)[i];
	s = (HopeStep) {sfx_hope_symbol(h, i, buf), 0, HOPE_SYMLEN(word), HOPE_BITS(word)};
	if (s.symbol == buf)
	{
		s.word = sfx_load64(buf);
		s.symbol = NULL;
	}
	return s;
}

int
sfx_hope_decode_within(const SfxHope *h, const uint8_t *in, size_t len, size_t readable, uint8_t *out, size_t cap)
{
	const uint64_t *table = HOPE_CTABLE(h, uint64_t, decode);
	size_t		bit = 0,
				n = 0;
	uint64_t	acc;

	if (hope_is_fsst(h))
		return sfx_fsst_decode((const Fsst *) h, in, len, readable, out, cap);
	while ((acc = hope_window(in, len, readable, bit)) != 0)
	{
		uint8_t		buf[HOPE_WINDOW_ROOM];
		uint8_t    *to = cap - n >= HOPE_WINDOW_ROOM ? out + n : buf;
		uint8_t    *end = hope_decode_window(h, table, acc, HOPE_WINDOW_STOP, &bit, to);

		if (end == NULL)
			return SFX_CORRUPT;
		if (to == buf)
		{
			if ((size_t) (end - buf) > cap - n)
				return SFX_NOSPACE;
			memcpy(out + n, buf, (size_t) (end - buf));
		}
		n += (size_t) (end - to);
	}
	return hope_ends_well(bit, len) ? (int) n : SFX_CORRUPT;
}

int
sfx_hope_decode(const SfxHope *h, const uint8_t *in, size_t len, uint8_t *out, size_t cap)
{
	return sfx_hope_decode_within(h, in, len, len, out, cap);
}

/* ---- comparing ---- */

int
sfx_hope_compare(const SfxHope *h, const uint8_t *in, size_t len, size_t readable,
				 const uint8_t *t, size_t tlen, size_t at, size_t *lcp, int *side)
{
	const uint64_t *table = HOPE_CTABLE(h, uint64_t, decode);
	size_t		bit = 0;
	uint64_t	acc = 0;
	unsigned	taken = HOPE_WINDOW_STOP + 1;

	if (hope_is_fsst(h))
		return sfx_fsst_compare((const Fsst *) h, in, len, t, tlen, at, lcp, side);
	for (;;)
	{
		HopeStep	s;
		size_t		i = 0,
					left = tlen - at;

		if (taken > HOPE_WINDOW_STOP)
		{
			acc = hope_window(in, len, readable, bit);
			taken = 0;
		}
		if (acc == 0)
			break;
		s = hope_step(h, table, acc);
		if (s.nbytes == 0)
			return SFX_CORRUPT;
		acc <<= s.bits;
		taken += s.bits;
		bit += s.bits;
		if (s.symbol == NULL)
		{
			/*
			 * At most seven bytes, with nothing above them except the number: most comparisons end
			 * here.
			 */
			uint64_t	x = (s.word ^ hope_load_rest(t, tlen, at)) | UINT64_C(1) << (8 * s.nbytes);

			i = (size_t) __builtin_ctzll(x) / 8;
			i = i < left ? i : left;
			at += i;
			if (i < s.nbytes)
			{
				*lcp = at;
				*side = i == left ? 1 : (int) (s.word >> (8 * i) & 0xFF) - (int) t[at];
				return SFX_OK;
			}
			continue;
		}
		while (i < s.nbytes && i < left && s.symbol[i] == t[at + i])
			i++;
		at += i;
		if (i < s.nbytes)
		{
			*lcp = at;
			*side = i == left ? 1 : (int) s.symbol[i] - (int) t[at];
			return SFX_OK;
		}
	}
	*lcp = at;
	*side = 0;
	return hope_ends_well(bit, len) ? SFX_OK : SFX_CORRUPT;
}
