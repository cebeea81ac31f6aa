/*
 * tap.h - the minimum that a unit test of src/core needs: TAP lines on standard output, for prove.
 */
#ifndef SFX_TAP_H
#define SFX_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int	tap_count,
			tap_failed;

static inline int
ok(int pass, const char *fmt,...)
{
	va_list		ap;

	tap_count++;
	if (!pass)
		tap_failed++;
	printf("%sok %d - ", pass ? "" : "not ", tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	return pass;
}

static inline int
done_testing(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

/* splitmix64: the same numbers on every machine for one seed */
static inline uint64_t
rnd(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* For qsort. */
static inline int
cmp64(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a,
				y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* A copy of a block, allocated to the byte, with three bits changed, one of them near its start. */
static inline uint8_t *
damaged_copy(const uint8_t *block, int size, uint64_t *seed)
{
	uint8_t    *b = malloc((size_t) size);

	memcpy(b, block, (size_t) size);
	for (int f = 0; f < 3; f++)
		b[rnd(seed) % (f == 0 && size > 8 ? 8 : (uint64_t) size)] ^= (uint8_t) (1 << rnd(seed) % 8);
	return b;
}

#endif							/* SFX_TAP_H */
