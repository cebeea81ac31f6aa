/*-------------------------------------------------------------------------
 * bitblock_write.c - key stream of a BITS block: where keys are cut, and encoding them (format in
 * bitblock.h)
 *-------------------------------------------------------------------------
 */
#include "bitblock.h"

#define MOST_BITS		(8 * SFX_BITS_MAXWIDTH)
#define MOST_NEEDED		(MOST_BITS + SFX_BITS_FURTHER)
#define RECORD_BITS		10		/* what a record takes for each of its keys: most have two */
#define FURTHER_SHARE	64		/* one key of so many may need further bits ... */
#define FEWER_SHARE		8		/* ... and one of so many have fewer */
#define RECORD_KEYS		4

/* What the choice of a bit needs to know of a block's keys: how many there are of each kind. */
typedef struct BitStats
{
	int			need[MOST_NEEDED + 1];	/* need so many bits */
	int			have[MOST_BITS + 1];	/* have so many, or more in the last place */
	int			ends[MOST_BITS / 8 + 1];	/* end in this byte, and do not need it */
} BitStats;

/*
 * So many bits a key needs; if they go into its last byte, which may be the whole key's last one:
 * all of that.
 */
static inline uint32_t
to_last_byte(const SfxBitKeys *k, int i, uint32_t bits)
{
	return k->have[i] % 8 == 0 && bits > k->have[i] - 8 ? k->have[i] : bits;
}

/* False: a key needs more than there is room for. */
static bool
count_bits(const SfxBitKeys *k, BitStats *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < k->n; i++)
	{
		uint32_t	need = to_last_byte(k, i, k->need[i]);
		uint32_t	have = k->have[i];

		if (need > MOST_NEEDED || have == 0)
			return false;
		s->need[need]++;
		s->have[have < MOST_BITS ? have : MOST_BITS]++;
		if (have % 8 == 0 && have <= MOST_BITS && need <= have - 8)
			s->ends[have / 8]++;
	}
	return true;
}

/*
 * The bits that are stored of most keys: the least that tell nearly all of them apart, and one for
 * the keys to come, since what is not stored is forgotten.  (Of keys at random that is a 128th part
 * of what lies between two on average, so that one of 128 positions is undecided.)  More, where all
 * keys together take less then.  0: none will do.
 */
static unsigned
choose_bits(const SfxBitKeys *k, const BitStats *s)
{
	unsigned	least = 0,
				best = 0;
	long		more[MOST_NEEDED + 1],	/* keys that need more than that, */
				further[MOST_NEEDED + 1];	/* and bits that they need more */
	long		fewer = 0,
				bestcost = 0;

	more[MOST_NEEDED] = further[MOST_NEEDED] = 0;
	for (int r = MOST_NEEDED - 1; r >= 0; r--)
	{
		more[r] = more[r + 1] + s->need[r + 1];
		further[r] = further[r + 1] + more[r];
	}
	for (unsigned r = 1; r <= MOST_BITS; r++)
	{
		long		ends = r % 8 ? s->ends[r / 8 + 1] : 0;
		long		cost;
		bool		known;			/* most keys have more than r */

		/* keys that have fewer than r */
		fewer += s->have[r - 1];
		if (r > SFX_BITS_FEWER && s->have[r - SFX_BITS_FEWER - 1] > 0)
			break;
		known = fewer + s->have[r] <= k->n / FEWER_SHARE;
		if (least == 0 && (more[r] <= k->n / FURTHER_SHARE || !known))
			least = known ? r + 1 : r;
		if (least == 0 || r < least || more[r + SFX_BITS_FURTHER] > 0)
			continue;
		cost = (long) r * k->n + further[r] + (more[r] + fewer) * RECORD_BITS +
			ends * (RECORD_BITS + 8 - (long) (r % 8));
		if (best == 0 || cost < bestcost)
		{
			best = r;
			bestcost = cost;
		}
	}
	return best;
}

/* How many bits of key i are stored, if most keys have r. */
static inline uint32_t
stored_bits(const SfxBitKeys *k, int i, uint32_t r)
{
	if (k->have[i] < r)
		return k->have[i];
	return to_last_byte(k, i, k->need[i] > r ? k->need[i] : r);
}

/* Key i behind what is skipped, and how long it is. */
static inline const uint8_t *
rest_of_key(const SfxBitKeys *k, int i, uint32_t *len)
{
	uint32_t	from = k->off[i] + k->skip;

	*len = k->off[i + 1] - from;
	return k->bytes + from;
}

/* The FIXED stream: r bits of each key.  Bytes written, or SFX_NOSPACE. */
static int
put_fixed(const SfxBitKeys *k, uint32_t r, uint8_t *out, size_t cap)
{
	uint8_t		bytes[SFX_BLOCK_KEYS * SFX_BITS_MAXWIDTH + 16];
	uint32_t	off[SFX_BLOCK_KEYS + 1];
	uint32_t	width = (r + 7) / 8;
	uint64_t	first = 0,
				last = 0;
	SfxKeys		keys = {bytes, off, NULL, k->n, 0, k->codec, NULL};
	bool		rest;

	off[0] = 0;
	for (int i = 0; i < k->n; i++)
	{
		uint32_t	len;
		const uint8_t *p = rest_of_key(k, i, &len);

		last = sfx_load_be(p, len < width ? len : width) & UINT64_MAX << (64 - r);
		if (i == 0)
			first = last;
		sfx_store_be64(bytes + off[i], last);
		off[i + 1] = off[i] + width;
	}
	/* a FIXED stream has bits that vary, or a few keys */
	if (first == last && k->n > 1)
		return SFX_NOSPACE;
	return sfx_fix_encode(&keys, out, cap, &rest);
}

/* The records of keys that have more or fewer bits than r.  How many, or SFX_NOSPACE. */
static int
put_records(const SfxBitKeys *k, uint32_t r, uint8_t *out)
{
	int			n = 0,
				count;

	for (int i = 0; i < k->n; i += count)
	{
		uint32_t	bits = stored_bits(k, i, r);
		uint32_t	code;

		count = 1;
		if (bits == r)
			continue;
		while (count < RECORD_KEYS && i + count < k->n && stored_bits(k, i + count, r) == bits)
			count++;
		code = bits > r ? bits - r : SFX_BITS_LESS - 1 + r - bits;
		if (n == UINT8_MAX || code >= 64 || (bits > r && code > SFX_BITS_FURTHER))
			return SFX_NOSPACE;
		sfx_put16(out + 2 * n++,
				  (uint16_t) ((unsigned) i | (unsigned) (count - 1) << 8 | code << 10));
	}
	return n;
}

/* Bits [from, to) of a key of len bytes; at most 56, and it has the first of them. */
static inline uint64_t
bits_of_key(const uint8_t *p, uint32_t len, uint32_t from, uint32_t to)
{
	return sfx_load_be(p + from / 8, len - from / 8) << from % 8 >> (64 - (to - from));
}

/* The further bits.  The end of them, or NULL: no room. */
static uint8_t *
put_further(const SfxBitKeys *k, uint32_t r, uint8_t *out, const uint8_t *end)
{
	SfxBitWriter w;

	sfx_bits_start(&w, out);
	for (int i = 0; i < k->n; i++)
	{
		uint32_t	bits = stored_bits(k, i, r);
		uint32_t	len;
		const uint8_t *p = rest_of_key(k, i, &len);

		if (bits <= r)
			continue;
		if (end - w.p < 16)
			return NULL;
		sfx_bits_put(&w, bits_of_key(p, len, r, bits), bits - r);
	}
	return sfx_bits_end(&w);
}

int
sfx_bitblock_encode(const SfxBitKeys *k, uint8_t *out, size_t cap, bool *plain)
{
	uint8_t		records[2 * (UINT8_MAX + 1)];
	uint8_t    *p = out;
	BitStats	s;
	uint32_t	r;
	int			n,
				fixed;

	*plain = false;
	if (!count_bits(k, &s) || (r = choose_bits(k, &s)) == 0 ||
		(n = put_records(k, r, records)) < 0 || cap < 2 + 2 * (size_t) n + 16)
		return SFX_NOSPACE;
	*p++ = (uint8_t) ((8 - r % 8) % 8);
	*p++ = (uint8_t) n;
	memcpy(p, records, 2 * (size_t) n);
	p += 2 * n;
	fixed = put_fixed(k, r, p, cap - (size_t) (p - out));
	if (fixed < 0)
		return fixed;
	p = put_further(k, r, p + fixed, out + cap);
	*plain = n == 0 && out[0] == 0;
	return p ? (int) (p - out) : SFX_NOSPACE;
}
