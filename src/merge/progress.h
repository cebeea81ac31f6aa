/*-------------------------------------------------------------------------
 * progress.h - what a merge tells about itself
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PROGRESS_H
#define SURFIDX_PROGRESS_H

#include "surfidx.h"
#include "shared_area.h"

#include "datatype/timestamp.h"

typedef enum SfxProgressPhase
{
	SFX_PROGRESS_START,
	SFX_PROGRESS_DELTA,
	SFX_PROGRESS_RUN,
	SFX_PROGRESS_SLEEP,
	SFX_PROGRESS_CUT,
	SFX_PROGRESS_WHOLE
} SfxProgressPhase;

typedef struct SfxProgress
{
	int			pid;			/* 0: the slot is free */
	Oid			db;
	Oid			index;
	SfxProgressPhase phase;
	uint32		source;			/* generation or run that is merged */
	uint32		target;			/* run */
	uint64		done;			/* entries of the source that this merge has taken */
	uint64		total;			/* entries of the source, roughly; more than done at the end if
								 * another merge had begun it */
	uint64		groups;			/* written since the merge began, of all sources */
	uint64		leaves;
	TimestampTz began;
} SfxProgress;

/*
 * A slot for a merge of that index; never NULL.  To be given back by sfx_progress_end, also on
 * errors.
 */
extern SfxProgress *sfx_progress_begin(Relation index);
extern void sfx_progress_end(SfxProgress *p);

/* A row of surfidx_shared_memory(). */
struct SfxSharedUse;
extern void sfx_progress_use(struct SfxSharedUse *use);
extern const SfxSharedArea sfx_progress_area;

#endif							/* SURFIDX_PROGRESS_H */
