/*-------------------------------------------------------------------------
 * settled.h - does NOT NULL hold for all rows that a snapshot sees?
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SETTLED_H
#define SURFIDX_SETTLED_H

#include "utils/snapshot.h"

/*
 * Has the table's column no NULL in any row that the snapshot sees?  ALTER TABLE looks at the newest
 * rows; a snapshot from before it may see others.  NULL: in any row that any snapshot sees, now or
 * later, for plans, which may be kept and run with an older snapshot than the planner's.
 */
extern bool sfx_column_has_no_nulls(Relation table, AttrNumber column, Snapshot snapshot);

#endif							/* SURFIDX_SETTLED_H */
