/*-------------------------------------------------------------------------
 * cpu_kernels.h - the kernels of cpu.h; cpu.c includes this once for each level
 *
 * LEVEL is the level's number, NAME(f) gives a function its name, TARGET is the attribute that lets
 * it use the level's instructions.  A kernel without a version for a level takes the one of the
 * next lower level.
 *-------------------------------------------------------------------------
 */

TARGET static inline unsigned
NAME(count_ones)(uint64_t x)
{
#if LEVEL >= 1
	return (unsigned) __builtin_popcountll(x);
#else
	return sfx_popcount(x);
#endif
}

/* The position of the one number k (from 0) of x, which has more than k ones. */
TARGET static inline unsigned
NAME(select_one)(uint64_t x, unsigned k)
{
#if LEVEL >= 2
	return (unsigned) _tzcnt_u64(_pdep_u64(UINT64_C(1) << k, x));
#else
	return sfx_select(x, k);
#endif
}

/*
 * The position, in the bitmap, of the one (or, if flip has all bits, of the zero) number k; -1 if
 * there are not that many.  Zeros may be found beyond the bitmap's end, but only in its last word.
 */
TARGET static inline int
NAME(ef_select)(const SfxEf *e, unsigned k, uint64_t flip)
{
	size_t		full = e->mapbits / 64,
				j = 0;
	uint64_t	x;
	unsigned	ones;

	if ((e->map & 7) == 0)
	{
		const uint8_t *p = e->p + (e->map >> 3);

		for (; j < full; j++)
		{
			x = sfx_load64(p + 8 * j) ^ flip;
			ones = NAME(count_ones)(x);
			if (k < ones)
				return (int) (64 * j + NAME(select_one)(x, k));
			k -= ones;
		}
	}
	for (; j < ef_words(e); j++)
	{
		x = ef_word(e, j) ^ flip;
		ones = NAME(count_ones)(x);
		if (k < ones)
			return (int) (64 * j + NAME(select_one)(x, k));
		k -= ones;
	}
	return -1;
}

TARGET static int
NAME(ef_get)(const SfxEf *e, int i, uint64_t *v)
{
	int			pos = NAME(ef_select)(e, (unsigned) i, 0);

	if (pos < 0)
		return SFX_CORRUPT;
	*v = (uint64_t) (pos - i) << e->low | ef_low(e, i);
	return SFX_OK;
}

/*
 * Number of those of the numbers [i, end), which have the same high part, whose low bits are < low.
 * Mostly that are none to three.
 */
TARGET static inline int
NAME(ef_count_group)(const SfxEf *e, int i, int end, uint64_t low, bool *equal)
{
	size_t		bit = e->lows + (size_t) i * e->low;
	uint64_t	mask = sfx_mask(e->low),
				v = 0;
	int			found = i;

	if (end - i <= LINEAR_SEARCH && e->low <= SFX_ONE_LOAD && (bit + LINEAR_SEARCH * (size_t) e->low) / 8 + 8 <= e->avail)
		for (; found < end; found++, bit += e->low)
		{
			v = (sfx_load64(e->p + (bit >> 3)) >> (bit & 7)) & mask;
			if (v >= low)
				break;
		}
	else
	{
		found = ef_search_group(e, i, end, low);
		v = found < end ? ef_low(e, found) : 0;
	}
	*equal = found < end && v == low;
	return found - i;
}

TARGET static int
NAME(ef_search)(const SfxEf *e, uint64_t x, bool *equal)
{
	uint64_t	high = x >> e->low,
				low = x & sfx_mask(e->low);
	int			n = e->n,
				pos = 0,
				i;

	*equal = false;
	if (high > e->mapbits - (size_t) n) /* more than there are zeros */
		return n;
	if (high > 0)
	{
		pos = NAME(ef_select)(e, (unsigned) high - 1, ~UINT64_C(0)) + 1;
		if (pos == 0 || pos - (int) high > n)
			return SFX_CORRUPT;
	}

	/* the numbers with this high part are those from pos up to the next zero */
	i = pos - (int) high;
	while (i < n && (size_t) pos < e->mapbits)
	{
		uint64_t	zeros = ~ef_word(e, (size_t) pos / 64) >> (pos % 64);
		int			left = 64 - pos % 64,
					group = zeros ? __builtin_ctzll(zeros) : 64,
					end,
					less;

		if (group == 0)
			return i;
		group = group < left ? group : left;
		end = i + group < n ? i + group : n;
		less = NAME(ef_count_group)(e, i, end, low, equal);
		if (less < end - i || group < left)
			return i + less;
		i = end;
		pos += group;
	}
	return i;
}

/*
 * Find the word at which decoding starts: the one of one number `from`, without the ones before it.
 * False if there is none.
 */
TARGET static inline bool
NAME(ef_start)(const SfxEf *e, int from, size_t *word, uint64_t *x)
{
	size_t		j = 0,
				words = ef_words(e);
	unsigned	skip = (unsigned) from,
				ones;

	*x = ef_word(e, 0);
	for (; skip >= (ones = NAME(count_ones)(*x)); *x = ef_word(e, j))
	{
		skip -= ones;
		if (++j >= words)
			return false;
	}
	*x &= ~UINT64_C(0) << NAME(select_one)(*x, skip);
	*word = j;
	return true;
}

/* ---- unpacking ---- */

#if LEVEL == 2

/*
 * How to shuffle and shift eight values from q on, two of each 16 bytes loaded, and where the loads
 * are.
 */
typedef struct UnpackAvx2
{
	__m256i		shuffle[2];
	__m256i		shift[2];
	unsigned	load[4];
} UnpackAvx2;

TARGET static inline void
NAME(unpack_plan)(UnpackAvx2 *u, unsigned phase, unsigned w)
{
	uint64_t	shuffle[8],
				shift[8];

	for (unsigned v = 0; v < 8; v++)
	{
		unsigned	bit = phase + v * w;

		if (v % 2 == 0)
			u->load[v / 2] = bit >> 3;
		shuffle[v] = UINT64_C(0x0706050403020100) + SFX_BYTES_01 * ((bit >> 3) - u->load[v / 2]);
		shift[v] = bit & 7;
	}
	for (int h = 0; h < 2; h++)
	{
		u->shuffle[h] = _mm256_loadu_si256((const __m256i *) (shuffle + 4 * h));
		u->shift[h] = _mm256_loadu_si256((const __m256i *) (shift + 4 * h));
	}
}

TARGET static void
NAME(unpack)(const uint8_t *p, size_t avail, size_t bit, unsigned w, int n, uint64_t base, uint64_t *out)
{
	__m256i		mask,
				add;
	UnpackAvx2	u;
	int			i = 0;

	if (n >= 16 && w > 0 && w <= SFX_ONE_LOAD)
	{
		NAME(unpack_plan)(&u, bit & 7, w);
		mask = _mm256_set1_epi64x((long long) sfx_mask(w));
		add = _mm256_set1_epi64x((long long) base);
		for (; i + 8 <= n && (bit >> 3) + u.load[3] + 16 <= avail; i += 8, bit += 8 * w)
		{
			const uint8_t *q = p + (bit >> 3);

			for (int h = 0; h < 2; h++)
			{
				__m256i		x = _mm256_inserti128_si256(
					_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *) (q + u.load[2 * h]))),
					_mm_loadu_si128((const __m128i *) (q + u.load[2 * h + 1])), 1);

				x = _mm256_srlv_epi64(_mm256_shuffle_epi8(x, u.shuffle[h]), u.shift[h]);
				_mm256_storeu_si256((__m256i *) (out + i + 4 * h), _mm256_add_epi64(_mm256_and_si256(x, mask), add));
			}
		}
	}
	sfx_bits_unpack(p, avail, bit, w, n - i, base, out + i);
}

#elif LEVEL == 3

/*
 * Eight values take w bytes, so all groups of eight begin at the same bit of a byte: one
 * permutation and one shift for all.  There are no masked loads or stores here and below: one that
 * reaches into a page that was not touched yet costs microseconds.
 */
TARGET static void
NAME(unpack)(const uint8_t *p, size_t avail, size_t bit, unsigned w, int n, uint64_t base, uint64_t *out)
{
	const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
	__m512i		bits,
				bytes,
				shift,
				mask,
				add;

	if (w == 0 || w > SFX_ONE_LOAD || n < 4)
	{
		sfx_bits_unpack(p, avail, bit, w, n, base, out);
		return;
	}
	bits = _mm512_add_epi64(_mm512_mul_epu32(lane, _mm512_set1_epi64(w)), _mm512_set1_epi64((long long) (bit & 7)));
	shift = _mm512_and_si512(bits, _mm512_set1_epi64(7));
	bytes = _mm512_shuffle_epi8(_mm512_srli_epi64(bits, 3),
								_mm512_set4_epi32(0x08080808, 0x08080808, 0, 0));
	bytes = _mm512_add_epi8(bytes, _mm512_set1_epi64(0x0706050403020100));
	mask = _mm512_set1_epi64((long long) sfx_mask(w));
	add = _mm512_set1_epi64((long long) base);
	for (int i = 0; i < n; i += 8, bit += 8 * w)
	{
		size_t		left = avail - (bit >> 3);
		uint8_t		last[64] = {0};
		__m512i		x;

		if (left >= 64)
			x = _mm512_loadu_si512(p + (bit >> 3));
		else
		{
			memcpy(last, p + (bit >> 3), left);
			x = _mm512_loadu_si512(last);
		}
		x = _mm512_srlv_epi64(_mm512_permutexvar_epi8(bytes, x), shift);
		x = _mm512_add_epi64(_mm512_and_si512(x, mask), add);
		if (n - i >= 8)
			_mm512_storeu_si512(out + i, x);
		else
		{
			_mm512_storeu_si512(last, x);
			memcpy(out + i, last, 8 * (size_t) (n - i));
		}
	}
}

#else

TARGET static void
NAME(unpack)(const uint8_t *p, size_t avail, size_t bit, unsigned w, int n, uint64_t base, uint64_t *out)
{
	sfx_bits_unpack(p, avail, bit, w, n, base, out);
}

#endif

/* ---- decoding Elias-Fano ---- */

/*
 * Add the high parts of m numbers, which are the ones of x, word j; the first of them is number i.
 * out has room for `room` numbers.
 */
TARGET static inline void
NAME(ef_add_high)(uint64_t x, size_t j, int i, int m, unsigned low, int room, uint64_t *out)
{
	int			k = 0;

#if LEVEL >= 3
	const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
	const __m128i count = _mm_cvtsi32_si128((int) low);
	const __m512i iota = _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48,
										 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32,
										 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
										 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	uint8_t		at[64];
	__m512i		before = _mm512_sub_epi64(_mm512_set1_epi64((long long) (64 * j) - i), lane);

	_mm512_storeu_si512(at, _mm512_maskz_compress_epi8(x, iota));
	for (; k < m && k + 8 <= room; k += 8)
	{
		__mmask8	some = m - k >= 8 ? 0xFF : (__mmask8) ((1u << (m - k)) - 1);
		__m512i		high = _mm512_add_epi64(_mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *) (at + k))), before);
		__m512i		v = _mm512_loadu_si512(out + k);

		_mm512_storeu_si512(out + k, _mm512_mask_add_epi64(v, some, v, _mm512_sll_epi64(high, count)));
		before = _mm512_sub_epi64(before, _mm512_set1_epi64(8));
	}
	for (; k < m; k++)
		out[k] += (uint64_t) (64 * j + at[k] - (unsigned) (i + k)) << low;
#else
	(void) room;
	for (; k < m; k++, x &= x - 1)
		out[k] += (uint64_t) (64 * j + (unsigned) __builtin_ctzll(x) - (unsigned) (i + k)) << low;
#endif
}

/* The low bits are unpacked first; then the high parts are added, word by word of the bitmap. */
TARGET static int
NAME(ef_decode)(const SfxEf *e, int from, int to, uint64_t base, uint64_t *out)
{
	size_t		j,
				words = ef_words(e);
	uint64_t	x;
	int			i = from;

	if (from == to)
		return SFX_OK;
	if (!NAME(ef_start)(e, from, &j, &x))
		return SFX_CORRUPT;
	NAME(unpack)(e->p, e->avail, e->lows + (size_t) from * e->low, e->low, to - from, base, out);
	for (;;)
	{
		int			ones = (int) NAME(count_ones)(x),
					m = ones < to - i ? ones : to - i;

		NAME(ef_add_high)(x, j, i, m, e->low, to - i, out + (i - from));
		i += m;
		if (i == to)
			return SFX_OK;
		if (++j >= words)
			return SFX_CORRUPT;
		x = ef_word(e, j);
	}
}

/* ---- lines ---- */

TARGET static void
NAME(add_line)(uint64_t *v, int n, uint64_t start, uint64_t whole, unsigned frac)
{
	uint64_t	w = whole * start,
				f = frac * start;
	int			i = 0;

#if LEVEL >= 3
	const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
	__m512i		w8 = _mm512_add_epi64(_mm512_set1_epi64((long long) w), _mm512_mullo_epi64(lane, _mm512_set1_epi64((long long) whole))),
				f8 = _mm512_add_epi64(_mm512_set1_epi64((long long) f), _mm512_mullo_epi64(lane, _mm512_set1_epi64(frac))),
				wstep = _mm512_set1_epi64((long long) (8 * whole)),
				fstep = _mm512_set1_epi64(8 * frac);

	for (; i + 8 <= n; i += 8)
	{
		__m512i		x = _mm512_add_epi64(_mm512_loadu_si512(v + i), _mm512_add_epi64(w8, _mm512_srli_epi64(f8, 8)));

		_mm512_storeu_si512(v + i, x);
		w8 = _mm512_add_epi64(w8, wstep);
		f8 = _mm512_add_epi64(f8, fstep);
	}
#elif LEVEL == 2
	__m256i		w4 = _mm256_set_epi64x((long long) (w + 3 * whole), (long long) (w + 2 * whole), (long long) (w + whole), (long long) w),
				f4 = _mm256_set_epi64x((long long) (f + 3 * frac), (long long) (f + 2 * frac), (long long) (f + frac), (long long) f),
				wstep = _mm256_set1_epi64x((long long) (4 * whole)),
				fstep = _mm256_set1_epi64x(4 * frac);

	for (; i + 4 <= n; i += 4)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) (v + i));

		_mm256_storeu_si256((__m256i *) (v + i), _mm256_add_epi64(x, _mm256_add_epi64(w4, _mm256_srli_epi64(f4, 8))));
		w4 = _mm256_add_epi64(w4, wstep);
		f4 = _mm256_add_epi64(f4, fstep);
	}
#endif
	for (w = whole * (start + (uint64_t) i), f = frac * (start + (uint64_t) i); i < n; i++, w += whole, f += frac)
		v[i] += w + (f >> 8);
}

/* ---- TIDs ---- */

/* Division is a multiplication with the rounded-up reciprocal, which may be one too high. */
TARGET static uint64_t
NAME(split_radix)(uint64_t *v, int n, uint32_t radix, uint64_t base)
{
	uint64_t	reciprocal = ((UINT64_C(1) << 32) + radix - 1) / radix,
				all = 0;
	int			i = 0;

#if LEVEL >= 2
	const __m256i r4 = _mm256_set1_epi64x((long long) reciprocal);
	const __m256i d4 = _mm256_set1_epi64x(radix);
	const __m256i b4 = _mm256_set1_epi64x((long long) base);
	__m256i		all4 = _mm256_setzero_si256();
	uint64_t	part[4];

	for (; i + 4 <= n; i += 4)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) (v + i));
		__m256i		q = _mm256_srli_epi64(_mm256_mul_epu32(x, r4), 32);

		q = _mm256_add_epi64(q, _mm256_cmpgt_epi64(_mm256_mul_epu32(q, d4), x));
		x = _mm256_sub_epi64(x, _mm256_mul_epu32(q, d4));
		x = _mm256_add_epi64(_mm256_add_epi64(x, b4), _mm256_slli_epi64(q, 16));
		all4 = _mm256_or_si256(all4, x);
		_mm256_storeu_si256((__m256i *) (v + i), x);
	}
	_mm256_storeu_si256((__m256i *) part, all4);
	all = part[0] | part[1] | part[2] | part[3];
#endif
	for (; i < n; i++)
	{
		uint64_t	q = v[i] * reciprocal >> 32;

		q -= q * radix > v[i];
		v[i] = base + (q << 16) + (v[i] - q * radix);
		all |= v[i];
	}
	return all;
}

/* ---- keys ---- */

TARGET static void
NAME(deposit)(uint64_t *v, int n, uint64_t mask, uint64_t value)
{
#if LEVEL >= 2
	for (int i = 0; i < n; i++)
		v[i] = value | _pdep_u64(v[i], mask);
#else
	SfxRuns		r;

	sfx_runs_find(mask, &r);
	for (int i = 0; i < n; i++)
		v[i] = value | sfx_deposit(&r, v[i]);
#endif
}

TARGET static void
NAME(put_words)(const SfxWords *w, const uint64_t *head, const uint64_t *rest, int n, const uint8_t *prefix,
				uint32_t prelen, uint32_t keylen, uint8_t *out)
{
	unsigned	down = w->n1 - w->nrest;
	uint64_t	mask = sfx_mask(w->n1);
	uint64_t	low = w->nrest == 64 ? 0 : UINT64_MAX;
	unsigned	up = w->nrest & 63;
#if LEVEL >= 2
	const __m128i reverse = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
	const __m128i pre = _mm_loadu_si128((const __m128i *) prefix);
#else
	SfxRuns		r0,
				r1;

	sfx_runs_find(w->vary[0], &r0);
	sfx_runs_find(w->vary[1], &r1);
#endif

	for (int i = 0; i < n; i++, out += keylen)
	{
		uint64_t	c0 = down == 64 ? 0 : head[i] >> down;
		uint64_t	c1 = (((head[i] & low) << up) | rest[i]) & mask;

#if LEVEL >= 2
		c0 = w->value[0] | _pdep_u64(c0, w->vary[0]);
		c1 = w->value[1] | _pdep_u64(c1, w->vary[1]);
		_mm_storeu_si128((__m128i *) out, pre);
		_mm_storeu_si128((__m128i *) (out + prelen),
						 _mm_shuffle_epi8(_mm_set_epi64x((long long) c1, (long long) c0), reverse));
#else
		memcpy(out, prefix, 16);
		sfx_store_be64(out + prelen, w->value[0] | sfx_deposit(&r0, c0));
		sfx_store_be64(out + prelen + 8, w->value[1] | sfx_deposit(&r1, c1));
#endif
	}
}

TARGET static void
NAME(get_words)(const SfxWords *w, const uint8_t *key, uint32_t keylen, int n, uint64_t *head, uint64_t *rest)
{
	unsigned	up = (w->n1 - w->nrest) & 63;
	unsigned	down = w->nrest & 63;
	uint64_t	first = w->n1 - w->nrest == 64 ? 0 : UINT64_MAX;
	uint64_t	second = w->nrest == 64 ? 0 : UINT64_MAX;
	uint64_t	mask = sfx_mask(w->nrest);
#if LEVEL < 2
	SfxRuns		r0,
				r1;

	sfx_runs_find(w->vary[0], &r0);
	sfx_runs_find(w->vary[1], &r1);
#endif

	for (int i = 0; i < n; i++, key += keylen)
	{
#if LEVEL >= 2
		uint64_t	c0 = _pext_u64(sfx_load_be64(key), w->vary[0]);
		uint64_t	c1 = _pext_u64(sfx_load_be64(key + 8), w->vary[1]);
#else
		uint64_t	c0 = sfx_gather(&r0, sfx_load_be64(key));
		uint64_t	c1 = sfx_gather(&r1, sfx_load_be64(key + 8));
#endif

		head[i] = (c0 & first) << up | (c1 & second) >> down;
		rest[i] = c1 & mask;
	}
}

/* ---- visibility ---- */

/* Is the heap block of a TID all-visible?  The bit may change at any time, so it is read once. */
TARGET static inline bool
NAME(is_visible)(const SfxVisMap *m, uint64_t tid)
{
	uint32_t	block = (uint32_t) (tid >> 16),
				page = m->npages > 1 ? block / m->blocks : 0,
				at = block - page * m->blocks;

	if (page >= m->npages || at >= m->blocks)
		return false;
	return *(const volatile uint8_t *) (m->page[page] + at / 4) >> at % 4 * 2 & 1;
}

#if LEVEL == 2

/*
 * The bits of four TIDs, by two gathers: of the addresses of their pages, and of the words there.
 */
TARGET static inline unsigned
NAME(visible_four)(const SfxVisMap *m, __m256i tid, uint64_t reciprocal)
{
	__m256i		block = _mm256_srli_epi64(tid, 16);
	__m256i		blocks = _mm256_set1_epi64x(m->blocks);
	__m256i		page,
				at,
				in,
				word,
				odd;

	/* division as in split_radix */
	page = _mm256_mul_epu32(block, _mm256_set1_epi64x((long long) reciprocal));
	page = _mm256_srli_epi64(page, 32);
	page = _mm256_add_epi64(page, _mm256_cmpgt_epi64(_mm256_mul_epu32(page, blocks), block));
	in = _mm256_cmpgt_epi64(_mm256_set1_epi64x(m->npages), page);
	at = _mm256_sub_epi64(block, _mm256_mul_epu32(page, blocks));
	page = _mm256_mask_i64gather_epi64(_mm256_setzero_si256(),
									   (const long long *) (const void *) m->page, page, in, 8);
	word = _mm256_add_epi64(page, _mm256_slli_epi64(_mm256_srli_epi64(at, 4), 2));
	/* the low halves of the mask */
	odd = _mm256_permutevar8x32_epi32(in, _mm256_set_epi32(7, 7, 7, 7, 6, 4, 2, 0));
	word = _mm256_cvtepu32_epi64(_mm256_mask_i64gather_epi32(_mm_setzero_si128(),
															 (const int *) 0, word,
															 _mm256_castsi256_si128(odd), 1));
	at = _mm256_slli_epi64(_mm256_and_si256(at, _mm256_set1_epi64x(15)), 1);
	word = _mm256_slli_epi64(_mm256_srlv_epi64(word, at), 63);
	return (unsigned) _mm256_movemask_pd(_mm256_castsi256_pd(word));
}

/* The same for a map of one page. */
TARGET static inline unsigned
NAME(visible_four_of_page)(const SfxVisMap *m, __m256i tid)
{
	const int  *page = (const int *) (const void *) m->page[0];
	__m256i		block = _mm256_srli_epi64(tid, 16);
	__m256i		there = _mm256_cmpgt_epi64(_mm256_set1_epi64x(m->blocks), block);
	__m256i		odd = _mm256_permutevar8x32_epi32(there, _mm256_set_epi32(7, 7, 7, 7, 6, 4, 2, 0));
	__m256i		word = _mm256_slli_epi64(_mm256_srli_epi64(block, 4), 2);
	__m256i		at = _mm256_slli_epi64(_mm256_and_si256(block, _mm256_set1_epi64x(15)), 1);
	__m128i		in,
				bits;

	in = _mm256_castsi256_si128(odd);
	bits = _mm256_mask_i64gather_epi32(_mm_setzero_si128(), page, word, in, 1);
	word = _mm256_slli_epi64(_mm256_srlv_epi64(_mm256_cvtepu32_epi64(bits), at), 63);
	return (unsigned) _mm256_movemask_pd(_mm256_castsi256_pd(word));
}

#elif LEVEL == 3

TARGET static inline __mmask8
NAME(visible_eight)(const SfxVisMap *m, __m512i tid, uint64_t reciprocal)
{
	__m512i		block = _mm512_srli_epi64(tid, 16);
	__m512i		blocks = _mm512_set1_epi64(m->blocks);
	__m512i		page,
				at,
				word;
	__mmask8	in;

	page = _mm512_mul_epu32(block, _mm512_set1_epi64((long long) reciprocal));
	page = _mm512_srli_epi64(page, 32);
	in = _mm512_cmpgt_epu64_mask(_mm512_mul_epu32(page, blocks), block);
	page = _mm512_mask_sub_epi64(page, in, page, _mm512_set1_epi64(1));
	in = _mm512_cmplt_epu64_mask(page, _mm512_set1_epi64(m->npages));
	at = _mm512_sub_epi64(block, _mm512_mul_epu32(page, blocks));
	page = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), in, page, (const void *) m->page, 8);
	word = _mm512_add_epi64(page, _mm512_slli_epi64(_mm512_srli_epi64(at, 4), 2));
	word = _mm512_cvtepu32_epi64(_mm512_mask_i64gather_epi32(_mm256_setzero_si256(), in, word,
															 (const void *) 0, 1));
	at = _mm512_slli_epi64(_mm512_and_si512(at, _mm512_set1_epi64(15)), 1);
	return _mm512_test_epi64_mask(_mm512_srlv_epi64(word, at), _mm512_set1_epi64(1));
}

/* The same for a map of one page. */
TARGET static inline __mmask8
NAME(visible_eight_of_page)(const SfxVisMap *m, __m512i tid)
{
	__m512i		block = _mm512_srli_epi64(tid, 16);
	__mmask8	in = _mm512_cmplt_epu64_mask(block, _mm512_set1_epi64(m->blocks));
	__m512i		word = _mm512_slli_epi64(_mm512_srli_epi64(block, 4), 2);
	__m512i		at = _mm512_slli_epi64(_mm512_and_si512(block, _mm512_set1_epi64(15)), 1);

	word = _mm512_cvtepu32_epi64(_mm512_mask_i64gather_epi32(_mm256_setzero_si256(), in, word,
															 (const void *) m->page[0], 1));
	return _mm512_test_epi64_mask(_mm512_srlv_epi64(word, at), _mm512_set1_epi64(1));
}

#endif

TARGET static int
NAME(hidden)(const SfxVisMap *m, const uint64_t *tid, int n, uint64_t *out)
{
	int			i = 0,
				found = 0;
#if LEVEL >= 2
	const int	step = LEVEL == 2 ? 4 : 8;
	uint64_t	reciprocal = ((UINT64_C(1) << 32) + m->blocks - 1) / m->blocks;

	for (; m->npages > 0 && i + step <= n; i += step)
	{
#if LEVEL == 2
		__m256i		t = _mm256_loadu_si256((const __m256i *) (tid + i));
		unsigned	mask = ~(m->npages == 1 ? NAME(visible_four_of_page)(m, t) :
							 NAME(visible_four)(m, t, reciprocal)) & 15;

		for (; mask != 0; mask &= mask - 1)
			out[found++] = tid[i + __builtin_ctz(mask)];
#else
		__m512i		t = _mm512_loadu_si512(tid + i);
		__mmask8	mask = (__mmask8) ~(m->npages == 1 ? NAME(visible_eight_of_page)(m, t) :
										NAME(visible_eight)(m, t, reciprocal));

		if (mask != 0)
		{
			_mm512_storeu_si512(out + found, _mm512_maskz_compress_epi64(mask, t));
			found += __builtin_popcount(mask);
		}
#endif
	}
#endif
	for (; i < n; i++)
	{
		uint64_t	t = tid[i];
		bool		visible = NAME(is_visible)(m, t);

		out[found] = t;
		found += !visible;
	}
	return found;
}

/* ---- sums ---- */

TARGET static void
NAME(sum_halves)(const uint64_t *v, int n, uint64_t *low, uint64_t *high)
{
	uint64_t	lo = 0,
				hi = 0;
	int			i = 0;
#if LEVEL == 3
	__m512i		sum_lo = _mm512_setzero_si512(),
				sum_hi = _mm512_setzero_si512();
	const __m512i mask = _mm512_set1_epi64(UINT32_MAX);

	for (; i + 8 <= n; i += 8)
	{
		__m512i		x = _mm512_loadu_si512(v + i);

		sum_lo = _mm512_add_epi64(sum_lo, _mm512_and_si512(x, mask));
		sum_hi = _mm512_add_epi64(sum_hi, _mm512_srli_epi64(x, 32));
	}
	lo = (uint64_t) _mm512_reduce_add_epi64(sum_lo);
	hi = (uint64_t) _mm512_reduce_add_epi64(sum_hi);
#elif LEVEL == 2
	__m256i		sum_lo = _mm256_setzero_si256(),
				sum_hi = _mm256_setzero_si256();
	const __m256i mask = _mm256_set1_epi64x(UINT32_MAX);
	uint64_t	part[4];

	for (; i + 4 <= n; i += 4)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) (v + i));

		sum_lo = _mm256_add_epi64(sum_lo, _mm256_and_si256(x, mask));
		sum_hi = _mm256_add_epi64(sum_hi, _mm256_srli_epi64(x, 32));
	}
	_mm256_storeu_si256((__m256i *) part, sum_lo);
	lo = part[0] + part[1] + part[2] + part[3];
	_mm256_storeu_si256((__m256i *) part, sum_hi);
	hi = part[0] + part[1] + part[2] + part[3];
#endif
	for (; i < n; i++)
	{
		lo += (uint32_t) v[i];
		hi += v[i] >> 32;
	}
	*low = lo;
	*high = hi;
}

/* ---- symbols ---- */

#if LEVEL >= 2

/* Look up 16 numbers below 64 in a table of four times 16 bytes. */
TARGET static inline __m128i
NAME(look_up)(const __m128i *table, __m128i number)
{
	__m128i		by16 = _mm_slli_epi16(number, 3),
				by32 = _mm_slli_epi16(number, 2);
	__m128i		part[4],
				low,
				high;

	for (int i = 0; i < 4; i++)
		part[i] = _mm_shuffle_epi8(table[i], number);
	low = _mm_blendv_epi8(part[0], part[1], by16);
	high = _mm_blendv_epi8(part[2], part[3], by16);
	return _mm_blendv_epi8(low, high, by32);
}

#endif

/* Eight numbers take as many bytes as one has bits. */
TARGET static void
NAME(symbols)(const SfxSymbols *s, const uint8_t *p, size_t avail, uint32_t n, uint8_t *out)
{
	uint64_t	mask = sfx_mask(s->bits);
#if LEVEL >= 2
	uint64_t	each = mask * UINT64_C(0x0101010101010101);
	__m128i		table[4];

	for (int i = 0; i < 4; i++)
		table[i] = _mm_loadu_si128((const __m128i *) s->symbol + i);
	for (uint32_t i = 0; i < n; i += 16)
	{
		size_t		at = (size_t) i / 8 * s->bits;
		size_t		next = at + s->bits;
		uint64_t	a = at < avail ? sfx_load64_avail(p + at, avail - at) : 0;
		uint64_t	b = next < avail ? sfx_load64_avail(p + next, avail - next) : 0;
		__m128i		number = _mm_set_epi64x((long long) _pdep_u64(b, each),
											(long long) _pdep_u64(a, each));

		if (s->bits <= 4)
			number = _mm_shuffle_epi8(table[0], number);
		else
			number = NAME(look_up)(table, number);
		_mm_storeu_si128((__m128i *) (out + i), number);
	}
#else
	for (uint32_t i = 0; i < n; i += 8)
	{
		size_t		at = (size_t) i / 8 * s->bits;
		uint64_t	x = at < avail ? sfx_load64_avail(p + at, avail - at) : 0;

		for (int j = 0; j < 8; j++, x >>= s->bits)
			out[i + j] = s->symbol[x & mask];
	}
#endif
}

/* ---- shared lengths ---- */

TARGET static int
NAME(next_low)(const uint8_t *v, int from, unsigned most)
{
#if LEVEL >= 2
	const __m256i limit = _mm256_set1_epi8((char) most);

	for (;; from += 32)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) (v + from));
		__m256i		low = _mm256_cmpeq_epi8(_mm256_min_epu8(x, limit), x);
		unsigned	mask = (unsigned) _mm256_movemask_epi8(low);

		if (mask != 0)
			return from + __builtin_ctz(mask);
	}
#else
	while (v[from] > most)
		from++;
	return from;
#endif
}

TARGET static uint32_t
NAME(rises)(const uint8_t *v, int from, int to)
{
	uint32_t	sum = 0;

#if LEVEL >= 2
	__m256i		sums = _mm256_setzero_si256();
	__m128i		two;

	for (; from + 32 <= to; from += 32)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) (v + from));
		__m256i		next = _mm256_loadu_si256((const __m256i *) (v + from + 1));

		sums = _mm256_add_epi64(sums, _mm256_sad_epu8(_mm256_subs_epu8(next, x),
													  _mm256_setzero_si256()));
	}
	two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
	for (; from < to; from += 8)
	{
		__m128i		x = _mm_loadl_epi64((const __m128i *) (v + from));
		__m128i		next = _mm_loadl_epi64((const __m128i *) (v + from + 1));
		__m128i		rise = _mm_subs_epu8(next, x);

		if (to - from < 8)
		{
			uint64_t	mask = sfx_mask(8 * (unsigned) (to - from));

			rise = _mm_and_si128(rise, _mm_cvtsi64_si128((long long) mask));
		}
		two = _mm_add_epi64(two, _mm_sad_epu8(rise, _mm_setzero_si128()));
	}
	sum = (uint32_t) (_mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1));
#else
	for (; from < to; from++)
		sum += v[from + 1] > v[from] ? (uint32_t) (v[from + 1] - v[from]) : 0;
#endif
	return sum;
}

/* ---- decimals ---- */

/*
 * With 0x433 in front of its 52 bits a whole number is a double, 2^52 greater than the number.  A
 * number with more bits is out of range, and is found to be.
 */
TARGET static int
NAME(decimals)(const SfxDecimals *m, uint64_t *v, int n)
{
	uint64_t	bias = m->biased ? SFX_DECIMAL_LIMIT : 0,
				over = 0,
				other = 0;
	int			i = 0;

#if LEVEL >= 2
	const __m256i magic = _mm256_set1_epi64x(0x4330000000000000);
	const __m256d offset = _mm256_set1_pd(4503599627370496.0 + (double) bias);
	const __m256d by = _mm256_set1_pd(sfx_decimal_power(m->places));
	const __m256i sign = _mm256_set1_epi64x((long long) SFX_IMAGE_POSITIVE);
	const __m256i high = _mm256_set1_epi64x((long long) m->high);
	const __m256i low = _mm256_set1_epi64x((long long) m->low);
	__m256i		over4 = _mm256_setzero_si256(),
				other4 = over4;
	uint64_t	part[4];

	for (; i + 4 <= n; i += 4)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) (v + i));
		__m256d		d = _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(x, magic)), offset);
		__m256i		bits = _mm256_castpd_si256(_mm256_div_pd(d, by)),
					minus;

		over4 = _mm256_or_si256(over4, x);
		minus = _mm256_cmpgt_epi64(_mm256_setzero_si256(), bits);
		bits = _mm256_xor_si256(bits, _mm256_or_si256(sign, minus));
		other4 = _mm256_or_si256(other4, _mm256_xor_si256(bits, high));
		_mm256_storeu_si256((__m256i *) (v + i), _mm256_and_si256(bits, low));
	}
	_mm256_storeu_si256((__m256i *) part, over4);
	over = part[0] | part[1] | part[2] | part[3];
	_mm256_storeu_si256((__m256i *) part, other4);
	other = part[0] | part[1] | part[2] | part[3];
#endif
	for (; i < n; i++)
	{
		uint64_t	image = sfx_decimal_image((int64_t) ((v[i] & sfx_mask(52)) - bias), m->places);

		over |= v[i];
		other |= image ^ m->high;
		v[i] = image & m->low;
	}
	over >>= SFX_DECIMAL_BITS + m->biased;
	return over == 0 && (other & ~m->low) == 0 ? SFX_OK : SFX_CORRUPT;
}

static const SfxKernels NAME(kernels) = {
	NAME(ef_search), NAME(ef_get), NAME(ef_decode), NAME(unpack), NAME(add_line), NAME(split_radix),
	NAME(deposit), NAME(put_words), NAME(get_words), NAME(hidden),
	NAME(sum_halves), NAME(symbols), NAME(next_low), NAME(rises), NAME(decimals)
};
