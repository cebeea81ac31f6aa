/*-------------------------------------------------------------------------
 * vacuum.h - VACUUM
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_VACUUM_H
#define SURFIDX_VACUUM_H

/*
 * ambulkdelete and amvacuumcleanup, as index_bulk_delete() and index_vacuum_cleanup() describe
 * them.  They wait for the merge lock, group by group, and for scans at the gate (V3).  Errors:
 * damage, an order that changed (K4), a library that is not preloaded.
 */
extern IndexBulkDeleteResult *sfx_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
											 IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *sfx_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats);

#endif							/* SURFIDX_VACUUM_H */
