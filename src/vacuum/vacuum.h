/*-------------------------------------------------------------------------
 * vacuum.h - VACUUM
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_VACUUM_H
#define SURFIDX_VACUUM_H

#include "surfidx.h"

extern IndexBulkDeleteResult *sfx_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
											 IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *sfx_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats);

#endif							/* SURFIDX_VACUUM_H */
