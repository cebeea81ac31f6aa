/*
 * tap.h - the minimum that a unit test of src/core needs: TAP lines on standard output, for prove.
 */
#ifndef SFX_TAP_H
#define SFX_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>

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

#endif							/* SFX_TAP_H */
