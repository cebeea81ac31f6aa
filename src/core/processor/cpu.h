/*-------------------------------------------------------------------------
 * cpu.h - the kernels that are compiled for several levels of processors, and which level is in use
 *
 * All levels give the same results on any input, damaged ones included; SFX_CPU_SCALAR is the
 * reference.  The level in use is the only state of the core library.  Until sfx_cpu_init is called
 * it is SFX_CPU_SCALAR.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_CPU_H
#define SFX_CPU_H

#include "sfx.h"

typedef enum SfxCpuLevel
{
	SFX_CPU_SCALAR,				/* any processor */
	SFX_CPU_POPCNT,				/* x86-64-v2: SSE4.2 and POPCNT */
	SFX_CPU_AVX2,				/* x86-64-v3: AVX2, BMI1 and BMI2, unless that is in microcode */
	SFX_CPU_AVX512,				/* AVX-512 F, BW, DQ, VL, VBMI and VBMI2 (Ice Lake, Zen 4) */
	SFX_CPU_LEVELS
} SfxCpuLevel;

/*
 * Use the best level that this processor has.  Called when the library is loaded; calling it again
 * does no harm.
 */
extern void sfx_cpu_init(void);

/*
 * Use this level, for tests.  False (and no change) if the processor, or the build, does not have
 * it.
 */
extern bool sfx_cpu_pin(SfxCpuLevel level);

extern SfxCpuLevel sfx_cpu_level(void);
extern const char *sfx_cpu_name(SfxCpuLevel level);

/*
 * Elias-Fano: n numbers that do not descend.  Their high parts are a bitmap in which bit high(i) +
 * i is set, their low bits are packed.  Both are in one bit stream (bits.h), and the caller has
 * checked that they are inside avail.  The bitmap may be wrong.
 */
typedef struct SfxEf
{
	const uint8_t *p;			/* the stream */
	size_t		avail;			/* readable bytes from p on */
	size_t		map;			/* first bit of the bitmap */
	size_t		mapbits;		/* > 0 */
	size_t		lows;			/* first bit of the low bits */
	unsigned	low;			/* of each number, 0..63 */
	int			n;				/* numbers */
} SfxEf;

/*
 * Keys of two words, in which some bits vary.  The varying ones in their order make a core, in
 * which the n1 bits of the second word follow those of the first; a core is given as its first bits
 * (head) and the nrest last ones (rest).
 */
typedef struct SfxWords
{
	uint64_t	vary[2];
	uint64_t	value[2];		/* the constant bits */
	unsigned	n1;
	unsigned	nrest;			/* <= n1 */
} SfxWords;

/*
 * The visibility map: bit 2 * (b % blocks) of page[b / blocks] says whether heap block b is
 * all-visible.  Other backends may write the pages meanwhile.  Blocks beyond the last page are not
 * all-visible.
 */
typedef struct SfxVisMap
{
	const uint8_t *const *page; /* each of blocks / 4 bytes, 4-byte aligned */
	uint32_t	npages;
	uint32_t	blocks;			/* heap blocks on a page of the map: a multiple of 16, and > 1 */
} SfxVisMap;

/* The bytes for which numbers of a few bits stand. */
#define SFX_SYMBOLS		64
typedef struct SfxSymbols
{
	unsigned	bits;			/* of a number, 1 to 6 */
	uint8_t		symbol[SFX_SYMBOLS];
} SfxSymbols;

/* Number of bits that number n <= SFX_SYMBOLS symbols. */
static inline unsigned
sfx_symbol_bits(uint32_t n)
{
	unsigned	bits = 1;

	while (n > UINT32_C(1) << bits)
		bits++;
	return bits;
}

/* Decimals (decimal.h) of one e, and what their images have in common. */
typedef struct SfxDecimals
{
	unsigned	places;			/* e <= SFX_DECIMAL_PLACES */
	bool		biased;			/* d + 2^50 is stored for d: some may be negative */
	uint64_t	high;			/* bits that all images have, and */
	uint64_t	low;			/* a mask of the others, 0 or more of the last ones */
} SfxDecimals;

/* The kernel `hidden` may overwrite that many numbers after those that it returns. */
#define SFX_HIDDEN_SLACK	8

typedef struct SfxKernels
{
	/* Returns the number of numbers < x, or SFX_CORRUPT; *equal: the next one is x. */
	int			(*ef_search) (const SfxEf *e, uint64_t x, bool *equal);

	/* Set *v to number i (0 <= i < n).  SFX_OK or SFX_CORRUPT. */
	int			(*ef_get) (const SfxEf *e, int i, uint64_t *v);

	/* Write base + numbers [from, to) to out.  SFX_OK or SFX_CORRUPT. */
	int			(*ef_decode) (const SfxEf *e, int from, int to, uint64_t base, uint64_t *out);

	/*
	 * out[i] = base + value i of n, each w (0..64) bits wide, from bit on; all are inside the avail
	 * bytes from p on.
	 */
	void		(*unpack) (const uint8_t *p, size_t avail, size_t bit, unsigned w, int n, uint64_t base, uint64_t *out);

	/*
	 * v[i] += whole * (start + i) + (frac * (start + i)) / 256, for n of them; start < 2^32, frac <
	 * 256.
	 */
	void		(*add_line) (uint64_t *v, int n, uint64_t start, uint64_t whole, unsigned frac);

	/*
	 * v[i] = base + ((v[i] / radix) << 16) + v[i] % radix, where all v[i] < 2^32 and 1 < radix <=
	 * 65536. Returns the OR of all.
	 */
	uint64_t	(*split_radix) (uint64_t *v, int n, uint32_t radix, uint64_t base);

	/*
	 * v[i] = value | the low bits of v[i], in their order, where mask has ones; value has none
	 * there.
	 */
	void		(*deposit) (uint64_t *v, int n, uint64_t mask, uint64_t value);

	/*
	 * Write n keys, each prefix, then both words big-endian, keylen bytes apart (the last bytes are
	 * overwritten by the next key).  prefix has 16 bytes, of which prelen count; out has room for
	 * 16 bytes after the last key.
	 */
	void		(*put_words) (const SfxWords *w, const uint64_t *head, const uint64_t *rest, int n, const uint8_t *prefix,
							  uint32_t prelen, uint32_t keylen, uint8_t *out);

	/*
	 * The reverse: head and rest of n keys, keylen bytes apart, whose words begin at key; value is
	 * not used.  16 bytes of the last key are readable.
	 */
	void		(*get_words) (const SfxWords *w, const uint8_t *key, uint32_t keylen, int n, uint64_t *head, uint64_t *rest);

	/*
	 * Write those of n TIDs whose heap block is not all-visible, in their order, to out, which has
	 * room for n + SFX_HIDDEN_SLACK.  Returns how many.  Each TID's bit is read once.  out may be
	 * tid itself.
	 */
	int			(*hidden) (const SfxVisMap *m, const uint64_t *tid, int n, uint64_t *out);

	/* The sums of the low and the high halves of n < 2^31 words. */
	void		(*sum_halves) (const uint64_t *v, int n, uint64_t *low, uint64_t *high);

	/*
	 * Write the symbols for which n numbers stand: number i are bits [i * bits, (i + 1) * bits) of
	 * the stream at p, of which avail bytes may be read; bytes beyond count as zeros.  out has room
	 * for 15 bytes more.
	 */
	void		(*symbols) (const SfxSymbols *s, const uint8_t *p, size_t avail, uint32_t n,
							uint8_t *out);

	/* The first i >= from with v[i] <= most; there is one, and 31 bytes after it are readable. */
	int			(*next_low) (const uint8_t *v, int from, unsigned most);

	/*
	 * The sum of v[i + 1] - v[i] where it is positive, from <= i < to.  8 bytes after v[to] are
	 * readable.
	 */
	uint32_t	(*rises) (const uint8_t *v, int from, int to);

	/*
	 * v[i] = the low bits (m->low) of the image of the decimal v[i], for n of them.  SFX_OK; or
	 * SFX_CORRUPT if one is out of range, or its high bits are not m->high: then v is undefined.
	 */
	int			(*decimals) (const SfxDecimals *m, uint64_t *v, int n);
} SfxKernels;

extern const SfxKernels *sfx_kernels;

#endif							/* SFX_CPU_H */
