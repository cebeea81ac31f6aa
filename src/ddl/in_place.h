/*-------------------------------------------------------------------------
 * in_place.h - surfidx.in_place_of_btree: indexes that nobody asked us for
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_IN_PLACE_H
#define SURFIDX_IN_PLACE_H

#include "nodes/parsenodes.h"

extern void sfx_in_place_define_gucs(void);

/* Are constraints, and what CREATE INDEX makes, to be ours, as far as they can? */
extern bool sfx_in_place_constraints(void);
extern bool sfx_in_place_indexes(void);

extern bool sfx_in_place_any(void);

/* Why indexes of that table stay btree, whatever they are; NULL: they need not. */
extern const char *sfx_relation_stays(Oid relid);

/*
 * Rule Q5: a statement that would make btrees makes indexes of ours, as far as the setting, the
 * types and core allow.  The tree is changed.  Locks the table as core is going to; ERROR only
 * where core would say the same.  source: the statement's text, for positions in errors.
 */
extern void sfx_in_place_of_index(IndexStmt *stmt, const char *source);
extern void sfx_in_place_of_constraints(AlterTableStmt *stmt);

#endif							/* SURFIDX_IN_PLACE_H */
