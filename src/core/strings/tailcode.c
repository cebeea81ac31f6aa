/*-------------------------------------------------------------------------
 * tailcode.c - order-preserving compression of the bytes of long keys after the first ones
 *
 * Arithmetic coding with a model that learns.  Such a code keeps the order of strings if each step
 * divides the interval in the order of the possible symbols: two strings have the same model and
 * the same interval up to where they differ, and from there on disjoint intervals, the smaller
 * string's below the other's.  The code is the shortest sequence of bytes all of whose
 * continuations are in the last interval; so it is not a prefix of another code, and bytes after it
 * change nothing.
 *
 * The model.  If the last bytes were seen before, the byte that followed them then is predicted,
 * and there are three cases: a smaller byte, this one, a greater one.  So long repetitions take
 * almost nothing.  If nothing is predicted, or the prediction was wrong, the byte is coded bit by
 * bit, from the highest on: what contexts of 0 to 2 bytes tell about the bit is mixed, on the
 * logistic scale, with weights that are learned as well (context mixing).  All computations are in
 * integers (>> of negative ones is arithmetic), so that every machine learns the same.
 *
 * The model starts from nothing for each string; the known bytes in front are what it learns first.
 *-------------------------------------------------------------------------
 */
#include "tailcode.h"

#define MATCH_MIN	4			/* bytes that must agree for a prediction */
#define WEIGHT_MAX	(1 << 22)	/* 64 */
#define LEARN_FRONT	256			/* known bytes from which the contexts learn */
#define MATCH_LOOK	32			/* bytes that are compared to tell how good a match is */

typedef enum CoderMode
{
	CODER_LEARN,
	CODER_ENCODE,
	CODER_DECODE
} CoderMode;

/* The interval; what it has in common with all later ones is written (or read) already. */
typedef struct Coder
{
	uint32_t	low;
	uint32_t	high;
	uint32_t	point;			/* DECODE: the next four bytes of the code */
	const uint8_t *in;
	const uint8_t *in_end;
	uint8_t    *out;
	uint32_t	len;			/* bytes written, or for which there was no room */
	uint32_t	maxlen;
} Coder;

static inline uint8_t
next_in(Coder *c)
{
	return c->in < c->in_end ? *c->in++ : 0;
}

static inline void
put_out(Coder *c, uint8_t b)
{
	if (c->len < c->maxlen)
		c->out[c->len] = b;
	c->len++;
}

/*
 * One binary step: 0 takes the lower part of the interval, p0 / 65536 of it (0 < p0 < 65536).
 * Returns the bit, which is known beforehand unless it is decoded.  As low < high, both parts have
 * a point.
 */
static inline int
code_bit(Coder *c, CoderMode mode, int bit, uint32_t p0)
{
	uint32_t	range = c->high - c->low;
	uint32_t	mid = c->low + (uint32_t) ((uint64_t) range * p0 >> 16);

	if (mode == CODER_LEARN)
		return bit;
	if (mode == CODER_DECODE)
		bit = c->point > mid;
	if (bit)
		c->low = mid + 1;
	else
		c->high = mid;
	while (((c->low ^ c->high) >> 24) == 0)
	{
		if (mode == CODER_ENCODE)
			put_out(c, (uint8_t) (c->low >> 24));
		else
			c->point = c->point << 8 | next_in(c);
		c->low <<= 8;
		c->high = c->high << 8 | 0xFF;
	}
	return bit;
}

/* Write the fewest bytes that are in the interval whatever follows them. */
static void
finish(Coder *c)
{
	for (int shift = 24; shift >= 0; shift -= 8)
	{
		uint32_t	mask = (UINT32_C(1) << shift) - 1;
		uint32_t	v = (c->low + mask) & ~mask;	/* the least with zeros at the end; 0: there is
													 * none */

		if (v < c->low || (v | mask) > c->high)
			continue;
		for (int s = 24; s >= shift; s -= 8)
			put_out(c, (uint8_t) (v >> s));
		return;
	}
}

/* ---- the model ---- */

/* 4096 / (1 + e^(-x / 256)) for x from -2048 to 2047, linear between points */
static int
squash(int x)
{
	static const int16_t point[33] = {
		1, 2, 4, 6, 10, 17, 27, 45, 74, 120, 194, 311, 488, 747, 1102, 1546, 2048,
		2550, 2994, 3349, 3608, 3785, 3902, 3976, 4022, 4051, 4069, 4079, 4086, 4090, 4092, 4094, 4095
	};
	int			i;

	if (x < -2047)
		return 1;
	if (x > 2046)
		return 4095;
	x += 2048;
	i = x >> 7;
	return (point[i] * (128 - (x & 127)) + point[i + 1] * (x & 127) + 64) >> 7;
}

void
sfx_tail_init(SfxTailModel *m)
{
	int			p = 0;

	for (int x = -2048; x < 2048; x++)
	{
		m->squash[x + 2048] = (int16_t) squash(x);
		for (int v = squash(x); p <= v && p < 4096; p++)
			m->stretch[p] = (int16_t) x;
	}
	for (; p < 4096; p++)
		m->stretch[p] = 2047;
}

/*
 * A slot: 12 bits of probability that the bit is 1, 4 bits of how often it was used; stored so that
 * zeros mean "not known".
 */
#define SLOT_FRESH	0x8000

/*
 * The eight steps of a byte change a weight by 1 / 6 at most, so it is enough to bound it once for
 * each byte.
 */
static inline int32_t
bound_weight(int32_t w)
{
	return w > WEIGHT_MAX ? WEIGHT_MAX : w < -WEIGHT_MAX ? -WEIGHT_MAX : w;
}

static inline void
learn_slot(uint16_t *slot, int target)
{
	static const uint16_t rate[16] = {	/* 65536 / (n + 1.5), from 12 on the same */
		43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710, 6898, 6241, 5698, 5242, 4854, 4854, 4854, 4854
	};
	int			s = *slot ^ SLOT_FRESH;
	int			n = s & 15;
	int			p = s >> 4;

	p += ((target - p) * (int) rate[n]) >> 16;
	*slot = (uint16_t) ((p << 4 | (n + (n < 15))) ^ SLOT_FRESH);
}

static void
start(SfxTailModel *m)
{
	memset(m->slot, 0, sizeof(m->slot));
	memset(m->last, 0, sizeof(m->last));
	for (int i = 0; i < SFX_TAIL_ORDERS; i++)
		m->weight[i] = 65536 / 2;
	for (int i = 0; i < SFX_TAIL_LENGTHS; i++)
		m->less[i] = m->greater[i] = (uint16_t) (32768 / (4 + i * i));
}

/*
 * Code one byte, bit by bit; before: the previous two bytes.  The slots of a context's four bits
 * are adjacent: one cache line for each context and half of a byte.
 */
static inline int
code_byte(SfxTailModel *m, Coder *c, CoderMode mode, int byte, uint32_t before)
{
	uint32_t	context[SFX_TAIL_ORDERS];
	int32_t		w0 = m->weight[0],
				w1 = m->weight[1],
				w2 = m->weight[2];
	int			node = 1;

	for (int i = 0; i < SFX_TAIL_ORDERS; i++)
		context[i] = ((before & ((UINT32_C(1) << (8 * i)) - 1)) + (uint32_t) i) * UINT32_C(0x9E3779B1);
	for (int shift = 4; shift >= 0; shift -= 4)
	{
		uint16_t   *slot[SFX_TAIL_ORDERS];
		int			n = 1;

		for (int i = 0; i < SFX_TAIL_ORDERS; i++)
			slot[i] = &m->slot[i][((context[i] ^ (uint32_t) node * UINT32_C(0x85EBCA6B)) * UINT32_C(0xC2B2AE35)) >> 18 & ~UINT32_C(15)];
		for (int b = shift + 3; b >= shift; b--)
		{
			/* unrolled, since most of the time is spent here */
			int			x0 = m->stretch[(slot[0][n] ^ SLOT_FRESH) >> 4],
						x1 = m->stretch[(slot[1][n] ^ SLOT_FRESH) >> 4],
						x2 = m->stretch[(slot[2][n] ^ SLOT_FRESH) >> 4];
			int64_t		dot = ((int64_t) x0 * w0 + (int64_t) x1 * w1 + (int64_t) x2 * w2) >> 16;
			int			p1 = m->squash[(dot > 2047 ? 2047 : dot < -2048 ? -2048 : dot) + 2048];
			int			bit = code_bit(c, mode, byte >> b & 1, 65536 - (uint32_t) p1 * 16);
			int			error = ((bit << 12) - p1) * 10;
			int			target = bit ? 4095 : 0;

			w0 += (x0 * error) >> 16;
			w1 += (x1 * error) >> 16;
			w2 += (x2 * error) >> 16;
			learn_slot(&slot[0][n], target);
			learn_slot(&slot[1][n], target);
			learn_slot(&slot[2][n], target);
			n = n << 1 | bit;
		}
		node = node << 4 | (n & 15);
	}
	m->weight[0] = bound_weight(w0);
	m->weight[1] = bound_weight(w1);
	m->weight[2] = bound_weight(w2);
	return node & 0xFF;
}

static inline int
length_class(uint32_t len)
{
	if (len < 16)
		return (int) len - MATCH_MIN;
	return len < 24 ? 12 : len < 32 ? 13 : len < 64 ? 14 : 15;
}

static inline void
learn_match(uint16_t *p, int bit)
{
	if (bit)
		*p += (uint16_t) ((65535 - *p) >> 5);
	else
		*p -= *p >> 5;
}

static inline uint32_t
probability(uint16_t p)
{
	return p < 16 ? 16 : p > 65520 ? 65520 : p;
}

/* Code one byte that was predicted; the number of bytes that agree, len, tells how likely it is. */
static int
code_predicted(SfxTailModel *m, Coder *c, CoderMode mode, int byte, int predicted, uint32_t len, uint32_t before)
{
	int			k = length_class(len);
	int			less = !code_bit(c, mode, byte >= predicted, probability(m->less[k]));
	int			greater = 0;

	learn_match(&m->less[k], less);
	if (!less)
	{
		greater = code_bit(c, mode, byte > predicted, 65536 - probability(m->greater[k]));
		learn_match(&m->greater[k], greater);
	}
	return less || greater ? code_byte(m, c, mode, byte, before) : predicted;
}

static inline uint32_t
match_hash(const uint8_t *s, uint32_t at)
{
	uint32_t	v = (uint32_t) s[at - 1] | (uint32_t) s[at - 2] << 8 | (uint32_t) s[at - 3] << 16 | (uint32_t) s[at - 4] << 24;

	return v * UINT32_C(0x9E3779B1) >> 20;
}

/* The match at a position of s, kept from one call to the next. */
typedef struct Match
{
	uint32_t	at;				/* the predicted byte's position; 0: nothing is predicted */
	uint32_t	len;			/* at least so many bytes before it agree */
} Match;

static void
find_match(SfxTailModel *m, Match *match, const uint8_t *s, uint32_t at)
{
	uint32_t	h = match_hash(s, at);
	uint32_t	from = match->at != 0 ? match->at : m->last[h];
	uint32_t	n = match->at != 0 ? match->len : 0;

	m->last[h] = at;
	if (n == 0 && from != 0)
		while (n < MATCH_LOOK && n < from && s[from - 1 - n] == s[at - 1 - n])
			n++;
	match->at = n >= MATCH_MIN ? from : 0;
	match->len = n;
}

static inline void
code_bytes(SfxTailModel *m, Coder *c, CoderMode mode, Match *match, uint8_t *s, uint32_t at, uint32_t end)
{
	uint32_t	before = 0;

	for (uint32_t i = at < 3 ? 0 : at - 3; i < at; i++)
		before = before << 8 | s[i];
	for (; at < end; at++)
	{
		bool		predicted = match->at != 0;
		int			guess = predicted ? s[match->at] : 0;
		int			byte = mode == CODER_DECODE ? 0 : s[at];

		byte = predicted ? code_predicted(m, c, mode, byte, guess, match->len, before) : code_byte(m, c, mode, byte, before);
		if (mode == CODER_DECODE)
			s[at] = (uint8_t) byte;
		else if (c->len > c->maxlen)
			return;
		before = before << 8 | (uint32_t) byte;
		if (predicted && byte == guess)
		{
			match->at++;
			match->len += match->len < 65535;
		}
		else
			match->at = match->len = 0;
		if (at + 1 >= MATCH_MIN)
			find_match(m, match, s, at + 1);
	}
}

/*
 * Learn the known bytes: all of them may be repeated, but only the last ones teach the contexts,
 * since that takes time.
 */
static void
learn_front(SfxTailModel *m, Coder *c, Match *match, uint8_t *s, uint32_t from)
{
	uint32_t	at = from > LEARN_FRONT ? from - LEARN_FRONT : 0;

	for (uint32_t i = MATCH_MIN; i <= at; i++)
		m->last[match_hash(s, i)] = i;
	code_bytes(m, c, CODER_LEARN, match, s, at, from);
}

int
sfx_tail_encode(SfxTailModel *m, const uint8_t *src, uint32_t from, uint32_t n, uint8_t *out, uint32_t maxlen)
{
	Coder		c = {.high = UINT32_MAX, .out = out, .maxlen = maxlen};
	Match		match = {0, 0};

	start(m);
	/* only decoding writes to it */
	learn_front(m, &c, &match, (uint8_t *) (uintptr_t) src, from);
	code_bytes(m, &c, CODER_ENCODE, &match, (uint8_t *) (uintptr_t) src, from, n);
	finish(&c);
	return c.len <= maxlen ? (int) c.len : SFX_NOSPACE;
}

void
sfx_tail_decode(SfxTailModel *m, const uint8_t *code, uint32_t len, uint8_t *dst, uint32_t from, uint32_t n)
{
	Coder		c = {.high = UINT32_MAX, .in = code, .in_end = code + len};
	Match		match = {0, 0};

	start(m);
	learn_front(m, &c, &match, dst, from);
	for (int i = 0; i < 4; i++)
		c.point = c.point << 8 | next_in(&c);
	code_bytes(m, &c, CODER_DECODE, &match, dst, from, n);
}
