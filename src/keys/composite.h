/*-------------------------------------------------------------------------
 * composite.h - rows as values of a column's composite type
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COMPOSITE_H
#define SURFIDX_COMPOSITE_H

#include "nodes/nodes.h"

/*
 * The composite type of an index's column, not a domain over it, if its operators take rows of any
 * type (opcintype record), so that conditions may compare it with others; else InvalidOid.
 */
extern Oid	sfx_composite_of_column(Oid opcintype, Oid type);

/*
 * A row of whatever type as one of that type that compares with others of it as the row would: in
 * *own, palloced or the same.  False: it has other columns, or other collations, so that there is
 * none, and comparing the two may be an error (42804, 42P22).
 */
extern bool sfx_composite_from(Oid type, Datum row, Datum *own);

/*
 * A row of whatever type as an expression of type record, palloced, that implicit casts of its
 * columns make one of that type.  NULL: there are no such casts.  Uses the row's memory.
 */
extern Node *sfx_composite_expr(Datum row, Oid type);

#endif							/* SURFIDX_COMPOSITE_H */
