/*-------------------------------------------------------------------------
 * scratch.h - large scratch structures that go from scan to scan
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SPARE_H
#define SURFIDX_SPARE_H

#include "postgres.h"

typedef enum SfxSpareKind
{
	SFX_SPARE_READER,
	SFX_SPARE_BATCH,
	SFX_SPARE_SHARE,
	SFX_SPARE_SCAN,
	SFX_SPARE_ORDER,
	SFX_SPARE_KINDS
} SfxSpareKind;

/*
 * Get a structure of that kind (always of the same size): a new one, with undefined contents, or
 * one that was put back, as its last owner left it (*fresh false).  It is the caller's until
 * sfx_spare_put, or until the current memory context is reset or deleted.
 */
extern void *sfx_spare_get(SfxSpareKind kind, Size size, bool *fresh);
extern void sfx_spare_put(SfxSpareKind kind, void *spare);

#endif							/* SURFIDX_SPARE_H */
