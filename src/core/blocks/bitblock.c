/*-------------------------------------------------------------------------
 * bitblock.c - key stream of a BITS block: reading it (format in bitblock.h)
 *-------------------------------------------------------------------------
 */
#include "bitblock.h"

typedef struct Record
{
	int			from,
				to;				/* keys */
	unsigned	further;		/* further bits of each key, */
	unsigned	fewer;			/* or bits that it has less */
} Record;

static inline Record
get_record(const SfxBitBlock *b, int r)
{
	unsigned	v = sfx_get16(b->records + 2 * r);
	unsigned	code = v >> 10;
	int			from = (int) (v & 0xFF);

	return (Record) {from, from + 1 + (int) (v >> 8 & 3), code < SFX_BITS_LESS ? code : 0,
		code < SFX_BITS_LESS ? 0 : code - SFX_BITS_LESS + 1};
}

/* The most bits of a key that the FIXED stream has, without the bit that ends it. */
static inline unsigned
stored_bits(const SfxBitBlock *b)
{
	return 8 * (unsigned) b->fix.width - b->loose - b->ended;
}

int
sfx_bitblock_open(SfxBitBlock *b, const uint8_t *in, size_t len, int n)
{
	size_t		bits = 0;
	unsigned	stored;
	int			last = 0;

	if (len < 2 || (in[0] & ~SFX_BITS_ENDED) > 7 || len - 2 < 2 * (size_t) in[1])
		return SFX_CORRUPT;
	b->n = n;
	b->loose = in[0] & 7;
	b->ended = (in[0] & SFX_BITS_ENDED) != 0;
	b->nrecords = in[1];
	b->records = in + 2;
	if (sfx_fix_open(&b->fix, in + 2 + 2 * b->nrecords, len - 2 - 2 * (size_t) b->nrecords,
					 n) != SFX_OK ||
		b->fix.width > SFX_BITS_MAXWIDTH)
		return SFX_CORRUPT;
	if (8 * (unsigned) b->fix.width < b->loose + 2 * (unsigned) b->ended)
		return SFX_CORRUPT;
	stored = stored_bits(b);
	for (int r = 0; r < b->nrecords; r++)
	{
		Record		rec = get_record(b, r);

		if (rec.from < last || rec.to > n || rec.fewer >= stored ||
			(b->ended && rec.fewer > 0))
			return SFX_CORRUPT;
		last = rec.to;
		bits += (size_t) (rec.to - rec.from) * rec.further;
	}
	b->further = b->fix.end;
	if ((bits + 7) / 8 > len - (size_t) (b->further - in))
		return SFX_CORRUPT;
	b->end = b->further + (bits + 7) / 8;
	return SFX_OK;
}

bool
sfx_bitblock_run(const SfxBitBlock *b, int r, int *from, int *to)
{
	Record		rec = get_record(b, r);

	*from = rec.from;
	*to = rec.to;
	return rec.further > 0;
}

/* Number of loose bits of a key of that many bits. */
static inline unsigned
loose_of(unsigned bits)
{
	return (8 - bits % 8) % 8;
}

/*
 * The stream's bytes of a key are at key, with all of its bits there: take off the bit that ends
 * it.  Returns the length.
 */
static inline uint32_t
take_end(const SfxBitBlock *b, uint8_t *key)
{
	if (b->ended)
		key[b->fix.width - 1] &= (uint8_t) ~(1u << b->loose);
	return (stored_bits(b) + 7) / 8;
}

/*
 * Complete a key that record rec names: its bytes in the stream are at key, which has room for the
 * others; bit is where its further bits stand.  Returns its length.
 */
static uint32_t
finish_key(const SfxBitBlock *b, const Record *rec, size_t bit, uint8_t *key, uint8_t *loose)
{
	uint32_t	width = (uint32_t) b->fix.width;
	unsigned	bits = stored_bits(b) + rec->further - rec->fewer;
	unsigned	room = b->loose + b->ended;
	uint64_t	v;

	*loose = (uint8_t) loose_of(bits);
	(void) take_end(b, key);
	if (rec->further == 0)
		return (bits + 7) / 8;
	v = sfx_bits_get(b->further, (size_t) (b->end - b->further), bit, rec->further) <<
		(64 - rec->further);
	if (room > 0)
		key[width - 1] |= (uint8_t) (v >> (64 - room));
	sfx_store_be64(key + width, v << room);
	return (bits + 7) / 8;
}

/*
 * Take the bit that ends a key off the key at p, in a stream whose keys are ended: *v are its bits,
 * *bits is their number.  SFX_CORRUPT: no bit ends it.
 */
static inline int
ended_key(const SfxBitBlock *b, const uint8_t *p, uint64_t *v, unsigned *bits)
{
	*v = sfx_load_be(p, (uint32_t) b->fix.width);
	if (*v == 0)
		return SFX_CORRUPT;
	*bits = 63 - (unsigned) __builtin_ctzll(*v);
	*v &= *v - 1;
	return *bits == 0 || *bits > stored_bits(b) ? SFX_CORRUPT : SFX_OK;
}

/* ---- searching ---- */

/*
 * Keys from i on have the target's bits as far as the stream goes: count also those of them that
 * are < t.  key has the stream's bytes of key i.
 */
static int
search_equal(const SfxBitBlock *b, int i, uint8_t *key, const uint8_t *t, uint32_t tlen,
			 bool *equal)
{
	uint8_t		same[SFX_BITS_MAXWIDTH];
	size_t		bit = 0;
	uint8_t		loose;
	int			first = i;
	int			c;

	memcpy(same, key, SFX_BITS_MAXWIDTH);
	for (int r = 0; r < b->nrecords; r++)
	{
		Record		rec = get_record(b, r);

		if (rec.from > i)
			break;
		for (int j = rec.from; j < rec.to; j++, bit += rec.further)
		{
			uint32_t	len;

			if (j < i)
				continue;
			if (sfx_fix_decode(&b->fix, j, j + 1, 0, key) != SFX_OK)
				return SFX_CORRUPT;
			if (memcmp(key, same, (size_t) b->fix.width) != 0)
				return j;
			len = finish_key(b, &rec, bit, key, &loose);
			c = sfx_cmp_bytes(key, len, t, tlen);
			*equal = c == 0;
			if (c >= 0)
				return j;
			i = j + 1;
		}
	}
	if (i == b->n)
		return i;
	if (i != first && sfx_fix_decode(&b->fix, i, i + 1, 0, key) != SFX_OK)
		return SFX_CORRUPT;
	/* a key that no record names has these bits only */
	c = sfx_cmp_bytes(key, take_end(b, key), t, tlen);
	*equal = c == 0;
	return c < 0 ? i + 1 : i;
}

/*
 * The same in a stream whose keys are ended.  head: the target's bits as far as the stream goes,
 * without a bit that ends them.  The first i keys, with the bits that end them, are less than head,
 * so they are < t: either one of the key's bits differs from head and decides, or head continues
 * after the key's bits with a 1.  Key i may be < t as well, if head begins with its bits: it is
 * compared here.
 */
static int
search_ended(const SfxBitBlock *b, int i, uint64_t head, const uint8_t *t, uint32_t tlen,
			 bool *equal)
{
	uint8_t		key[SFX_BITS_MAXREST + 16];
	uint64_t	v;
	unsigned	bits;
	int			c;

	if (i == b->n)
		return i;
	if (sfx_fix_decode(&b->fix, i, i + 1, 0, key) != SFX_OK ||
		ended_key(b, key, &v, &bits) != SFX_OK)
		return SFX_CORRUPT;
	if ((v ^ head) >> (64 - bits) != 0)
		return i;
	if (bits == stored_bits(b))
		return search_equal(b, i, key, t, tlen, equal);
	sfx_store_be64(key, v);
	c = sfx_cmp_bytes(key, (bits + 7) / 8, t, tlen);
	*equal = c == 0;
	return c < 0 ? i + 1 : i;
}

int
sfx_bitblock_search(const SfxBitBlock *b, const uint8_t *t, uint32_t tlen, bool *equal)
{
	uint8_t		key[SFX_BITS_MAXREST + 16];
	uint32_t	width = (uint32_t) b->fix.width;
	uint64_t	stored = stored_bits(b) > 0 ? UINT64_MAX << (64 - stored_bits(b)) : 0;
	uint64_t	head = sfx_load_be(t, tlen < width ? tlen : width) & stored;
	bool		same;
	int			i;

	*equal = false;
	sfx_store_be64(key, head);
	i = sfx_fix_search(&b->fix, key, width, &same);
	if (i >= 0 && b->ended)
		return search_ended(b, i, head, t, tlen, equal);
	if (i < 0 || !same)
		return i;
	return search_equal(b, i, key, t, tlen, equal);
}

/* ---- decoding ---- */

/* Find the bounds and loose bits of keys [from, to).  True: all have one length. */
static bool
find_bounds(const SfxBitBlock *b, int from, int to, uint32_t keylen, uint32_t *off, uint8_t *loose)
{
	unsigned	bits = stored_bits(b);
	bool		even = true;
	int			i = from;

	memset(loose, (int) b->loose, (size_t) (to - from));
	off[0] = 0;
	for (int r = 0; r < b->nrecords; r++)
	{
		Record		rec = get_record(b, r);
		unsigned	all = bits + rec.further - rec.fewer;
		uint32_t	len = keylen - (uint32_t) b->fix.width + (all + 7) / 8;

		if (rec.to <= from)
			continue;
		if (rec.from >= to)
			break;
		for (; i < rec.from; i++)
			off[i - from + 1] = off[i - from] + keylen;
		for (; i < rec.to && i < to; i++)
		{
			off[i - from + 1] = off[i - from] + len;
			loose[i - from] = (uint8_t) loose_of(all);
			even &= len == keylen;
		}
	}
	for (; i < to; i++)
		off[i - from + 1] = off[i - from] + keylen;
	return even;
}

/* Decode keys [from, to), which no record names, to their places. */
static inline int
decode_even(const SfxBitBlock *b, int base, int from, int to, uint32_t prelen, uint8_t *out,
			const uint32_t *off)
{
	uint8_t    *p = out + off[from - base];

	if (from >= to)
		return SFX_OK;
	if (p != out)
		memcpy(p, out, prelen);
	return sfx_fix_decode(&b->fix, from, to, prelen, p);
}

/*
 * Decode key j of a stream whose keys are ended to p, after the prefix, with its further bits from
 * record rec, whose further bits begin at bit.  Returns the key's number of bits, or SFX_CORRUPT.
 */
static int
put_ended(const SfxBitBlock *b, int j, const uint8_t *raw, const Record *rec, size_t bit,
		  uint8_t *p)
{
	uint64_t	v;
	unsigned	bits;
	uint8_t		loose;

	if (ended_key(b, raw, &v, &bits) != SFX_OK)
		return SFX_CORRUPT;
	sfx_store_be64(p, v);
	if (j < rec->from || j >= rec->to)
		return (int) bits;
	if (bits < stored_bits(b))
		return SFX_CORRUPT;
	(void) finish_key(b, rec, bit + (size_t) (j - rec->from) * rec->further, p, &loose);
	return (int) (bits + rec->further);
}

/*
 * The same as sfx_bitblock_decode for a stream whose keys are ended: each key is written to its
 * place.
 */
static int
decode_ended(const SfxBitBlock *b, int from, int to, uint32_t prelen, uint8_t *out, uint32_t cap,
			 uint32_t *off, uint8_t *loose, uint32_t *width)
{
	const Record none = {b->n, b->n, 0, 0};
	uint8_t		raw[SFX_BLOCK_KEYS * SFX_BITS_MAXWIDTH + 16];
	Record		rec = b->nrecords > 0 ? get_record(b, 0) : none;
	size_t		bit = 0;
	int			r = 0;

	if (prelen + (uint32_t) b->fix.width > SFX_MAX_ENTRY ||
		sfx_fix_decode(&b->fix, from, to, 0, raw) != SFX_OK)
		return SFX_CORRUPT;
	off[0] = *width = 0;
	for (int i = 0; i < to - from; i++)
	{
		uint8_t    *p = out + off[i];
		int			bits;

		if ((uint64_t) off[i] + prelen + SFX_BITS_MAXREST + 8 > cap)
			return SFX_CORRUPT;
		if (p != out)
			memcpy(p, out, prelen);
		for (; rec.to <= from + i && r < b->nrecords; r++)
		{
			bit += (size_t) (rec.to - rec.from) * rec.further;
			rec = r + 1 < b->nrecords ? get_record(b, r + 1) : none;
		}
		bits = put_ended(b, from + i, raw + i * b->fix.width, &rec, bit, p + prelen);
		if (bits < 0)
			return SFX_CORRUPT;
		loose[i] = (uint8_t) loose_of((unsigned) bits);
		off[i + 1] = off[i] + prelen + ((uint32_t) bits + 7) / 8;
		if (i == 0 || *width != off[i + 1] - off[i])
			*width = i == 0 ? off[1] : 0;
	}
	return SFX_OK;
}

int
sfx_bitblock_decode(const SfxBitBlock *b, int from, int to, uint32_t prelen, uint8_t *out,
					uint32_t cap, uint32_t *off, uint8_t *loose, uint32_t *width)
{
	uint32_t	keylen = prelen + (uint32_t) b->fix.width;
	size_t		bit = 0;
	int			i = from;
	bool		even;

	if (b->ended)
		return decode_ended(b, from, to, prelen, out, cap, off, loose, width);
	even = find_bounds(b, from, to, keylen, off, loose);
	*width = even ? keylen : 0;
	/* (copies in steps of 16 need room after the last key) */
	if (keylen > SFX_MAX_ENTRY || (uint64_t) off[to - from] + 24 > cap)
		return SFX_CORRUPT;
	for (int r = 0; r < b->nrecords; r++)
	{
		Record		rec = get_record(b, r);

		if (rec.from >= to)
			break;
		if (rec.to > from)
		{
			if (decode_even(b, from, i, rec.from, prelen, out, off) != SFX_OK)
				return SFX_CORRUPT;
			i = rec.from > from ? rec.from : from;
		}
		for (int j = rec.from; j < rec.to; j++, bit += rec.further)
		{
			uint8_t		key[SFX_BITS_MAXREST + 16];
			uint8_t    *p;
			uint32_t	len;

			if (j < from || j >= to)
				continue;
			if (sfx_fix_decode(&b->fix, j, j + 1, 0, key) != SFX_OK)
				return SFX_CORRUPT;
			len = finish_key(b, &rec, bit, key, &loose[j - from]);
			p = out + off[j - from];
			if (p != out)
				memcpy(p, out, prelen);
			memcpy(p + prelen, key, len);
			i = j + 1;
		}
	}
	return decode_even(b, from, i, to, prelen, out, off);
}
