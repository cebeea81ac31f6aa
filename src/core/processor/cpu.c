/*-------------------------------------------------------------------------
 * cpu.c - detection of the processor's level, and its kernels
 *
 * The kernels of cpu_kernels.h are compiled once for each level, each function with the target
 * attribute of its level, so that the rest of the library needs no special flags.
 *-------------------------------------------------------------------------
 */
#include "cpu.h"

#include "bits.h"
#include "decimal.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HAVE_X86
#include <cpuid.h>
#include <immintrin.h>
#endif

#define LINEAR_SEARCH	8		/* so few numbers are searched one by one */

/* Word j of the bitmap; bits beyond the bitmap are zero. */
static inline uint64_t
ef_word(const SfxEf *e, size_t j)
{
	size_t		left = e->mapbits - 64 * j,
				bit = e->map + 64 * j,
				byte = bit >> 3;
	unsigned	shift = bit & 7;
	uint64_t	x = sfx_load64_avail(e->p + byte, e->avail - byte) >> shift;

	if (shift > 0 && left > 64 - shift)
		x |= (uint64_t) e->p[byte + 8] << (64 - shift);
	return left >= 64 ? x : x & sfx_mask((unsigned) left);
}

static inline size_t
ef_words(const SfxEf *e)
{
	return (e->mapbits + 63) / 64;
}

static inline uint64_t
ef_low(const SfxEf *e, int i)
{
	return sfx_bits_get(e->p, e->avail, e->lows + (size_t) i * e->low, e->low);
}

/*
 * Returns the first of numbers [i, end), which have the same high part, whose low bits are >= low;
 * end if there is none.
 */
static inline int
ef_search_group(const SfxEf *e, int i, int end, uint64_t low)
{
	while (i < end)
	{
		int			mid = i + (end - i) / 2;

		if (ef_low(e, mid) < low)
			i = mid + 1;
		else
			end = mid;
	}
	return i;
}

#define LEVEL		0
#define NAME(f)		f##_scalar
#define TARGET
#include "cpu_kernels.h"
#undef LEVEL
#undef NAME
#undef TARGET

#ifdef HAVE_X86

#define LEVEL		1
#define NAME(f)		f##_popcnt
#define TARGET		__attribute__((target("sse4.2,popcnt")))
#include "cpu_kernels.h"
#undef LEVEL
#undef NAME
#undef TARGET

#define LEVEL		2
#define NAME(f)		f##_avx2
#define TARGET		__attribute__((target("popcnt,avx2,bmi,bmi2")))
#include "cpu_kernels.h"
#undef LEVEL
#undef NAME
#undef TARGET

#define LEVEL		3
#define NAME(f)		f##_avx512
#define TARGET		__attribute__((target("popcnt,avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")))
#include "cpu_kernels.h"
#undef LEVEL
#undef NAME
#undef TARGET

#endif

static const SfxKernels *const tables[SFX_CPU_LEVELS] = {
	&kernels_scalar,
#ifdef HAVE_X86
	&kernels_popcnt, &kernels_avx2, &kernels_avx512
#endif
};

static SfxCpuLevel current = SFX_CPU_SCALAR;
const SfxKernels *sfx_kernels = &kernels_scalar;

#ifdef HAVE_X86
#define VENDOR_AMD		0x68747541	/* "Auth" */
#define VENDOR_HYGON	0x6F677948	/* "Hygo" */

/* AMD's family 17h (and Hygon's 18h) takes hundreds of cycles for PDEP. */
static bool
slow_pdep(void)
{
	unsigned	eax,
				ebx,
				ecx,
				edx,
				family;

	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) ||
		(ebx != VENDOR_AMD && ebx != VENDOR_HYGON))
		return false;
	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return true;
	family = (eax >> 8 & 0xF) + ((eax >> 8 & 0xF) == 0xF ? eax >> 20 & 0xFF : 0);
	return family < 0x19;
}
#endif

static SfxCpuLevel
detect(void)
{
	SfxCpuLevel level = SFX_CPU_SCALAR;

#ifdef HAVE_X86
	__builtin_cpu_init();
	if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"))
		level = SFX_CPU_POPCNT;
	if (level == SFX_CPU_POPCNT && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		__builtin_cpu_supports("bmi2") && !slow_pdep())
		level = SFX_CPU_AVX2;
	if (level == SFX_CPU_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
		__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2"))
		level = SFX_CPU_AVX512;
#endif
	return level;
}

void
sfx_cpu_init(void)
{
	current = detect();
	sfx_kernels = tables[current];
}

bool
sfx_cpu_pin(SfxCpuLevel level)
{
	if (level > detect())
		return false;
	current = level;
	sfx_kernels = tables[level];
	return true;
}

SfxCpuLevel
sfx_cpu_level(void)
{
	return current;
}

const char *
sfx_cpu_name(SfxCpuLevel level)
{
	static const char *const name[] = {"scalar", "popcnt", "avx2", "avx512"};

	return level < SFX_CPU_LEVELS ? name[level] : "?";
}
