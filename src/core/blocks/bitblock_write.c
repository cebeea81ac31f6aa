/*-------------------------------------------------------------------------
 * bitblock_write.c - key stream of a BITS block: where keys are cut, and encoding them (format in
 * bitblock.h)
 *-------------------------------------------------------------------------
 */
#include "bitblock.h"
#include "contract.h"

#define MOST_BITS		(8 * SFX_BITS_MAXWIDTH)
#define MOST_NEEDED		(MOST_BITS + SFX_BITS_FURTHER)
#define RECORD_BITS		10		/* bits that a record takes for each of its keys, if it has two, as
								 * most do; */
#define ALONE_BITS		14		/* ... or one key, of which more or less is known than of others */
#define FURTHER_SHARE	64		/* one key of so many may need further bits */
#define GROWN_SHARE		8		/* a block has grown if more than one key of so many is not known
								 * well */
#define MORE_GROWN		1		/* bits for keys to come that a grown block has in addition */
#define RECORD_KEYS		4

/* How many keys of a block there are of each kind: the input for the choice of a bit. */
typedef struct BitStats
{
	int			need[MOST_NEEDED + 1];	/* keys of which that many bits are to be stored */
	int			have[MOST_BITS + 1];	/* keys of which that many bits are known; the last place:
										 * that many or more */
	int			ends[MOST_BITS / 8 + 1];	/* keys whose known bits end with this byte, which
											 * they do not need */
} BitStats;

/* How keys are stored: r bits of most keys, each ended by another bit or not. */
typedef struct BitChoice
{
	uint32_t	r;				/* 0: this form is not suitable for the keys */
	bool		ended;
} BitChoice;

/*
 * Number of bits to store of key i if it needs `bits`.  If these reach into the last byte that is
 * known, which may be the whole key's last one: all of that byte.
 */
static inline uint32_t
to_last_byte(const SfxBitKeys *k, int i, uint32_t bits)
{
	return k->have[i] % 8 == 0 && bits > k->have[i] - 8 ? k->have[i] : bits;
}

/*
 * The number of bits that tell all but one of FURTHER_SHARE keys of the block apart.  (For random
 * keys that is a 64th part of the average distance of two.)  0: no number does.
 */
static uint32_t
bits_apart(const SfxBitKeys *k)
{
	int			need[MOST_BITS + 1] = {0};
	int			more = k->n;

	for (int i = 0; i < k->n; i++)
		need[k->need[i] < MOST_BITS ? k->need[i] : MOST_BITS]++;
	for (uint32_t r = 0; r < MOST_BITS; r++)
	{
		more -= need[r];
		if (r > 0 && more <= k->n / FURTHER_SHARE)
			return r;
	}
	return 0;
}

/*
 * Find what is to be stored of each key (W12): as many bits as tell nearly all keys apart, and more
 * for keys to come, since what is not stored is forgotten; if so many are known.  False: there is
 * no room.
 */
static bool
want_bits(const SfxBitKeys *k, uint32_t *want)
{
	uint32_t	all = bits_apart(k) + 1;
	int			old = 0;

	if (all == 1)
		return false;
	for (int i = 0; i < k->n; i++)
		old += k->have[i] <= all + MORE_GROWN;
	if (old > k->n / GROWN_SHARE)
		all += MORE_GROWN;
	for (int i = 0; i < k->n && SFX_CORE_MUTANT("blocks end at old keys"); i++)
		all = k->have[i] < all ? k->have[i] : all;
	for (int i = 0; i < k->n; i++)
	{
		uint32_t	bits = k->need[i] > all ? k->need[i] : all;

		if (k->have[i] == 0)
			return false;
		want[i] = bits > k->have[i] ? k->have[i] : to_last_byte(k, i, bits);
		if (want[i] > MOST_NEEDED)
			return false;
	}
	return true;
}

static void
count_bits(const SfxBitKeys *k, BitStats *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < k->n; i++)
	{
		uint32_t	have = k->have[i];

		s->need[k->need[i]]++;
		s->have[have < MOST_BITS ? have : MOST_BITS]++;
		if (have % 8 == 0 && have <= MOST_BITS && k->need[i] <= have - 8)
			s->ends[have / 8]++;
	}
}

/* Choose the number of bits that is stored of most keys, so that all keys together take least. */
static BitChoice
choose_bits(const SfxBitKeys *k, const BitStats *s)
{
	BitChoice	best = {0, false};
	long		more[MOST_NEEDED + 1],	/* keys that need more than that, */
				further[MOST_NEEDED + 1];	/* and the number of bits that they need more */
	long		fewer = 0,		/* keys of which fewer bits are known */
				bestcost = 0;
	uint32_t	least = MOST_BITS;	/* fewest bits that are known of a key */

	more[MOST_NEEDED] = further[MOST_NEEDED] = 0;
	for (int r = MOST_NEEDED - 1; r >= 0; r--)
	{
		more[r] = more[r + 1] + s->need[r + 1];
		further[r] = further[r + 1] + more[r];
	}
	for (uint32_t r = 1; r <= MOST_BITS; r++)
	{
		long		cost;

		fewer += s->have[r - 1];
		if (s->have[r - 1] > 0 && least == MOST_BITS)
			least = r - 1;
		if (more[r + SFX_BITS_FURTHER] > 0)
			continue;
		cost = (long) r * k->n + further[r] + more[r] * RECORD_BITS;
		if (r % 8)
			cost += s->ends[r / 8 + 1] * (RECORD_BITS + 8 - (long) (r % 8));
		/* either a bit that ends each key, or a record for those of which fewer bits are known */
		for (int ended = 0; ended < 2; ended++)
		{
			long		all = cost + (ended ? k->n : fewer * ALONE_BITS);

			if ((ended ? r < MOST_BITS && fewer > 0 : r <= least + SFX_BITS_FEWER) &&
				(best.r == 0 || all < bestcost))
			{
				best = (BitChoice) {r, ended};
				bestcost = all;
			}
		}
	}
	return best;
}

/* Number of bits of key i that are stored, if r bits of most keys are. */
static inline uint32_t
stored_bits(const SfxBitKeys *k, int i, uint32_t r)
{
	if (k->have[i] < r)
		return k->have[i];
	return to_last_byte(k, i, k->need[i] > r ? k->need[i] : r);
}

/* Key i after what is skipped; *len: its length. */
static inline const uint8_t *
rest_of_key(const SfxBitKeys *k, int i, uint32_t *len)
{
	uint32_t	from = k->off[i] + k->skip;

	*len = k->off[i + 1] - from;
	return k->bytes + from;
}

/*
 * Write the FIXED stream: r bits of each key, and one that ends it or not.  Returns the bytes
 * written, or SFX_NOSPACE.
 */
static int
put_fixed(const SfxBitKeys *k, uint32_t r, bool ended, uint8_t *out, size_t cap)
{
	uint8_t		bytes[SFX_BLOCK_KEYS * SFX_BITS_MAXWIDTH + 16];
	uint32_t	off[SFX_BLOCK_KEYS + 1];
	uint32_t	width = (r + ended + 7) / 8;
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
		if (ended)
			last |= UINT64_C(1) << (63 - (k->have[i] < r ? k->have[i] : r));
		if (i == 0)
			first = last;
		sfx_store_be64(bytes + off[i], last);
		off[i + 1] = off[i] + width;
	}
	/* a FIXED stream has bits that vary, or only one key */
	if (first == last && k->n > 1)
		return SFX_NOSPACE;
	return sfx_fix_encode(&keys, out, cap, &rest);
}

/*
 * Write the records of keys that have more bits than r, or fewer (unless keys are ended).  Returns
 * their number, or SFX_NOSPACE.
 */
static int
put_records(const SfxBitKeys *k, uint32_t r, bool ended, uint8_t *out)
{
	int			n = 0,
				count;

	for (int i = 0; i < k->n; i += count)
	{
		uint32_t	bits = stored_bits(k, i, r);
		uint32_t	code;

		count = 1;
		if (bits == r || (ended && bits < r))
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

/* Bits [from, to) of a key of len bytes: at most 56, of which the key has the first. */
static inline uint64_t
bits_of_key(const uint8_t *p, uint32_t len, uint32_t from, uint32_t to)
{
	return sfx_load_be(p + from / 8, len - from / 8) << from % 8 >> (64 - (to - from));
}

/* Write the further bits.  Returns their end, or NULL if there is no room. */
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
sfx_bitblock_encode(const SfxBitKeys *given, uint8_t *out, size_t cap, bool *plain)
{
	uint8_t		records[2 * (UINT8_MAX + 1)];
	uint32_t	want[SFX_BLOCK_KEYS];
	SfxBitKeys	k = *given;
	uint8_t    *p = out;
	BitStats	s;
	BitChoice	choice;
	int			n,
				fixed;

	*plain = false;
	if (!want_bits(given, want))
		return SFX_NOSPACE;
	k.need = want;
	count_bits(&k, &s);
	choice = choose_bits(&k, &s);
	if (choice.r == 0 || (n = put_records(&k, choice.r, choice.ended, records)) < 0 ||
		cap < 2 + 2 * (size_t) n + 16)
		return SFX_NOSPACE;
	*p = (uint8_t) ((8 - (choice.r + choice.ended) % 8) % 8);
	*p++ |= choice.ended ? SFX_BITS_ENDED : 0;
	*p++ = (uint8_t) n;
	memcpy(p, records, 2 * (size_t) n);
	p += 2 * n;
	fixed = put_fixed(&k, choice.r, choice.ended, p, cap - (size_t) (p - out));
	if (fixed < 0)
		return fixed;
	p = put_further(&k, choice.r, p + fixed, out + cap);
	*plain = n == 0 && out[0] == 0;
	return p ? (int) (p - out) : SFX_NOSPACE;
}
