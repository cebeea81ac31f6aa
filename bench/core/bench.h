/*-------------------------------------------------------------------------
 * bench.h - what the benchmarks of src/core share: pseudo-random numbers and CPU time
 *-------------------------------------------------------------------------
 */
#ifndef SFX_BENCH_H
#define SFX_BENCH_H

#include <stdint.h>
#include <time.h>

/* Set it, and the numbers that follow are always the same. */
static uint64_t seed = 7;

/* The next pseudo-random 64 bits (splitmix64). */
static inline uint64_t
rnd(void)
{
	uint64_t	z = (seed += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/*
 * CPU time of this process, in ns: a call takes some hundreds of them, so it belongs around loops.
 */
static inline double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

#endif							/* SFX_BENCH_H */
