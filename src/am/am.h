/*-------------------------------------------------------------------------
 * am.h - the access method's functions that build and fill an index; start-up
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AM_H
#define SURFIDX_AM_H

#include "lib/stringinfo.h"

/*
 * AM functions, with the arguments and locks that core's documentation of IndexAmRoutine describes.
 */
extern IndexBuildResult *sfx_build(Relation heap, Relation index, IndexInfo *info);
extern void sfx_buildempty(Relation index);
extern bool sfx_insert(Relation index, Datum *values, bool *isnull, ItemPointer ht_ctid, Relation heap,
					   IndexUniqueCheck checkUnique, bool indexUnchanged, IndexInfo *info);
extern bool sfx_canreturn(Relation index, int attno);
extern bool sfx_validate(Oid opclass);
extern void sfx_adjustmembers(Oid opfamily, Oid opclass, List *operators, List *functions);
extern char *sfx_buildphasename(int64 phase);

/* subphases of CREATE INDEX beyond PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE (1) */
#define SFX_PHASE_SCAN	2		/* table scan and encoding of keys */
#define SFX_PHASE_SORT	3
#define SFX_PHASE_WRITE	4		/* leaves, then inner pages */

/*
 * Start-up, called by _PG_init while preloading: the resource manager; the hooks that request and
 * set up shared memory.
 */
extern void sfx_wal_init(void);
extern const char *sfx_wal_identify(uint8 info);
extern void sfx_wal_desc(StringInfo buf, XLogReaderState *record);
extern void sfx_shmem_init(void);

/* Install the hooks of rule D7, and the one that gives functions to nodes of plans. */
extern void sfx_together_init(void);
extern void sfx_plan_start_init(void);

#endif							/* SURFIDX_AM_H */
