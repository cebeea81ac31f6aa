/*-------------------------------------------------------------------------
 * scratch.h - large scratch structures that go from scan to scan
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SCRATCH_H
#define SURFIDX_SCRATCH_H

typedef enum SfxSpareKind
{
	SFX_SPARE_READER,
	SFX_SPARE_BATCH,
	SFX_SPARE_CURSOR,
	SFX_SPARE_BLOCK,
	SFX_SPARE_PAGE,
	SFX_SPARE_BOUND,
	SFX_SPARE_ROW,
	SFX_SPARE_SCAN,
	SFX_SPARE_ORDER,
	SFX_SPARE_KINDS
} SfxSpareKind;

/*
 * Get a structure of that kind (always of the same size), with undefined contents.  It is the
 * caller's until sfx_spare_put, or until the current memory context is reset or deleted.
 */
extern void *sfx_spare_get(SfxSpareKind kind, Size size);

/* How many of each kind are taken. */
extern int	sfx_spares_taken[SFX_SPARE_KINDS];

extern void sfx_spare_put(void *spare);

#endif							/* SURFIDX_SCRATCH_H */
