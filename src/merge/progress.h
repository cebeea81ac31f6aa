/*-------------------------------------------------------------------------
 * progress.h - progress of merges, for surfidx_progress()
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PROGRESS_H
#define SURFIDX_PROGRESS_H

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

/* A slot of a merge, in shared memory; only the backend that owns it writes to it. */
typedef struct SfxProgress
{
	int			pid;			/* 0: the slot is free */
	Oid			db;
	Oid			index;
	SfxProgressPhase phase;
	uint32		source;			/* generation or run that is merged */
	uint32		target;			/* run */
	uint64		done;			/* entries of the source that this merge has taken */
	uint64		total;			/* entries of the source, roughly; done stays below it if an
								 * earlier merge took some */
	uint64		groups;			/* written since the merge began, from all sources */
	uint64		leaves;
	TimestampTz began;
} SfxProgress;

/*
 * A slot for a merge of that index, in shared memory if one is free; never NULL.  The owner alone
 * writes to it.  It must be given back by sfx_progress_end, also after errors.
 */
extern SfxProgress *sfx_progress_begin(Relation index);
extern void sfx_progress_end(SfxProgress *p);

/* The same, for PG_ENSURE_ERROR_CLEANUP. */
extern void sfx_progress_clean_up(int code, Datum progress);

/* A row of surfidx_shared_memory(). */
struct SfxSharedUse;
extern void sfx_progress_use(struct SfxSharedUse *use);
extern const SfxSharedArea sfx_progress_area;

#endif							/* SURFIDX_PROGRESS_H */
