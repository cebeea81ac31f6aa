/*-------------------------------------------------------------------------
 * in_place.h - surfidx.in_place_of_btree: indexes of ours where a statement asks for btree or names
 * no method
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_IN_PLACE_H
#define SURFIDX_IN_PLACE_H

#include "nodes/parsenodes.h"

extern void sfx_in_place_define_gucs(void);

/* Is what CREATE INDEX creates to be ours, as far as possible?  Or that, or constraints? */
extern bool sfx_in_place_indexes(void);
extern bool sfx_in_place_any(void);

/* Why all indexes of that table stay btree; NULL: they need not. */
extern const char *sfx_relation_stays(Oid relid);

/*
 * Q5: change a statement that would create btrees so that it creates indexes of ours, as far as the
 * setting, the types and core allow.  Locks the table as core is going to; ERROR only where core
 * would raise the same.  source: the statement's text, for positions in errors.
 */
extern void sfx_in_place_of_index(IndexStmt *stmt, const char *source);
extern void sfx_in_place_of_constraints(AlterTableStmt *stmt);

/* IF NOT EXISTS, and there is a relation of that name, so that nothing will be created. */
extern bool sfx_name_is_taken(const IndexStmt *stmt, Oid table);

#endif							/* SURFIDX_IN_PLACE_H */
