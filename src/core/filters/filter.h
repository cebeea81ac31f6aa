/*-------------------------------------------------------------------------
 * filter.h - the body of a filter page: which keys may be in a range of positions
 *
 * A filter covers the positions [low, high), as a leaf does, and has the keys of all entries there.
 * "No" is always right for keys between its fences, "yes" may be wrong.  Kinds:
 *
 *	BLOOM	hashes of whole keys: points only, in any order of keys
 *	SURF	surf.h: points and ranges, keys in byte order only
 *
 * Bytes are not trusted: sfx_filter_open checks sizes, later accesses are bounded.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_FILTER_H
#define SFX_FILTER_H

#include "sfx.h"
#include "surf.h"

typedef enum SfxFilterKind
{
	SFX_FILTER_NONE,
	SFX_FILTER_BLOOM,
	SFX_FILTER_SURF
} SfxFilterKind;

/* What to build. */
typedef struct SfxFilterSpec
{
	SfxFilterKind kind;
	uint8_t		hashbits;		/* SURF: suffix bits of a key, see surf.h */
	uint8_t		realbits;
} SfxFilterSpec;

#define SFX_BLOOM_BITS	10		/* bits for each key: 0.9% of absent keys pass */

/* ---- reading ---- */

typedef struct SfxFilter
{
	SfxFilterKind kind;
	const SfxOrder *order;		/* of positions */
	uint32_t	nkeys;			/* number of distinct keys */
	SfxPos		low;			/* inclusive; points into the body */
	SfxPos		high;			/* exclusive */
	bool		high_inf;
	/* private */
	SfxSurf		surf;
	const uint8_t *bits;
	uint32_t	nbits;
} SfxFilter;

/*
 * Open the filter in body[0..len), which must not change or go away while f is used.  order must
 * outlive f, too.  SFX_OK or SFX_CORRUPT.
 */
extern int sfx_filter_open(SfxFilter *f, const uint8_t *body, uint32_t len, const SfxOrder *order);

/* < 0: pos is below the low fence; 0: inside [low, high); > 0: at or above the high fence. */
extern int sfx_filter_cmp_fences(const SfxFilter *f, const SfxPos *pos);

/* May the key be stored between the fences?  1, 0 (certainly not), or SFX_CORRUPT. */
extern int sfx_filter_key(const SfxFilter *f, const uint8_t *key, uint32_t len);

/*
 * May there be an entry in the part of [lo, hi) (hi NULL: to the end) that is between the fences?
 * 1, 0 (certainly not), or SFX_CORRUPT.  Bounds are positions as scans have them.
 */
extern int sfx_filter_range(const SfxFilter *f, const SfxPos *lo, const SfxPos *hi);

/* Check everything that takes linear time.  Returns NULL, or what is wrong. */
extern const char *sfx_filter_check(const SfxFilter *f);

/* ---- building ---- */

typedef struct SfxFilterBuild
{
	SfxFilterSpec spec;
	SfxSurfAlloc alloc;
	SfxSurfBuild surf;
	SfxSurfVec	hashes;
	uint32_t	nkeys;
	uint64_t	last;			/* BLOOM: hash of the key added last */
	int			error;
} SfxFilterBuild;

/* Start a build.  spec and alloc are copied. */
extern void sfx_filter_build_init(SfxFilterBuild *b, const SfxFilterSpec *spec, const SfxSurfAlloc *alloc);

/*
 * Add a key, in the order of entries (equal ones are adjacent).  SFX_OK, SFX_NOMEM, SFX_NOSPACE or
 * SFX_CORRUPT; errors are final.
 */
extern int sfx_filter_add(SfxFilterBuild *b, const uint8_t *key, uint32_t len);

/*
 * Write a body with these fences (high NULL: infinity) into body[0..capacity).  Returns its length,
 * SFX_NOSPACE if it does not fit, SFX_NOMEM, or SFX_CORRUPT if the keys were out of order.  order:
 * of positions; only whether it is NULL counts.
 */
extern int sfx_filter_finish(SfxFilterBuild *b, const SfxPos *low, const SfxPos *high, const SfxOrder *order,
							 uint8_t *body, uint32_t capacity);

/* Free all memory: at any time after sfx_filter_build_init. */
extern void sfx_filter_build_free(SfxFilterBuild *b);

#endif							/* SFX_FILTER_H */
