/*-------------------------------------------------------------------------
 * twin.h - operator classes of ours and of btree that define the same order
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_TWIN_H
#define SURFIDX_TWIN_H

#include "nodes/pg_list.h"

/* Do both classes order the same values by the same operators and the same function? */
extern bool sfx_are_twins(Oid ours, Oid btree);

/* May that class of ours compare values of a column of that type while pages are locked? */
extern bool sfx_class_takes(Oid ours, Oid type);

/*
 * Our class of the same name as btree's that takes columns of that type, schema-qualified; NIL:
 * there is none, or the user may not use its schema.
 */
extern List *sfx_twin_of_name(Oid btree, Oid type, Oid am);

/*
 * The class of that method, ours or btree, in place of the other one's for columns of that type:
 * one of the same name, else the type's default, else any.  InvalidOid: there is none.
 */
extern Oid	sfx_twin_class(Oid opclass, Oid type, Oid am);

#endif							/* SURFIDX_TWIN_H */
