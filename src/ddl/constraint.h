/*-------------------------------------------------------------------------
 * constraint.h - PRIMARY KEY and UNIQUE constraints whose index is ours: WITH (access_method =
 * surfidx)
 *
 * Functions that take a statement run before core sees it, and change their copy of its tree; what
 * they return is done after the statement.  They lock tables as core is going to.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CONSTRAINT_H
#define SURFIDX_CONSTRAINT_H

#include "nodes/parsenodes.h"

/* Is that the name of an access method of ours, in this database? */
extern bool sfx_is_our_method(const char *name);

/* Is that an index of ours, perhaps of a partitioned table?  Not if it is InvalidOid, or gone. */
extern bool sfx_is_our_index(Oid relid);

/*
 * Q1: make the parameter access_method of an index or constraint the statement's method.  ERROR:
 * INVALID_PARAMETER_VALUE (another method than ours), FEATURE_NOT_SUPPORTED.
 */
extern void sfx_method_of_index(IndexStmt *stmt);
extern void sfx_method_of_constraints(AlterTableStmt *stmt);

/* All constraints (Constraint) that the statement adds, those of new columns included. */
extern List *sfx_constraints_added(const AlterTableStmt *stmt);

/* The parameters with our access_method, or without any; a new list. */
extern List *sfx_with_method(List *options, bool ours);

/*
 * Q1: ERROR (FEATURE_NOT_SUPPORTED) if the statement sets or resets the parameter of an index of
 * ours.
 */
extern void sfx_method_stays(AlterTableStmt *stmt);

/*
 * constraint_type.c, Q3.  sfx_constraints_down: drop the constraints that the statement would make
 * core rebuild; the result says how to bring them back.  Locks the tables, and those that refer to
 * them, AccessExclusive.  ERROR: FEATURE_NOT_SUPPORTED (another command needs one meanwhile;
 * another user's foreign key refers to one).  sfx_constraints_up: bring them back, after the
 * statement.
 */
extern List *sfx_constraints_down(AlterTableStmt *stmt);
extern void sfx_constraints_up(List *down);

/* Does a command of the statement rebuild columns of existing tables? */
extern bool sfx_rebuilds_any(const AlterTableStmt *stmt);

/*
 * The same, step by step, for the constraint of one index.  sfx_down_note: what brings it back; the
 * referring tables are locked.  sfx_down_take: drop it, with the foreign keys that refer to it.
 * sfx_down_put_back: create it with an index of ours, or with a btree.  sfx_down_foreign_up: create
 * the foreign keys.
 */
typedef struct SfxDown SfxDown;
extern SfxDown *sfx_down_note(const AlterTableStmt *stmt, Relation table, Relation index);
extern void sfx_down_take(const SfxDown *d);
extern void sfx_down_put_back(const SfxDown *d, bool ours);
extern void sfx_down_foreign_up(const SfxDown *d);

/*
 * constraint_attach.c, Q5: rebuild the primary key of a partition that is being attached by the
 * parent's method, if theirs differ.  Locks both tables as core is going to.
 */
extern void sfx_method_of_partition(AlterTableStmt *stmt);

/* The same where the parent gets its primary key: for the keys of its partitions. */
extern void sfx_method_of_partitions(AlterTableStmt *stmt);

/*
 * constraint_foreign.c: sfx_foreign_of: the foreign keys that refer to that index of the table,
 * whose constraint has that name; their tables are locked.  sfx_foreign_down: drop them.
 * sfx_foreign_up: create them again.
 */
extern List *sfx_foreign_of(const AlterTableStmt *stmt, Relation table, Oid index, const char *name);
extern void sfx_foreign_down(List *foreign);
extern void sfx_foreign_up(List *foreign);

/*
 * constraint_foreign.c, before 18: the foreign keys that core would rebuild, referring to an index
 * of ours, because the statement rebuilds one of their columns in that table; their tables are
 * locked.  top: that is the table that the statement names.  Keys that go with a constraint are
 * gone already.
 */
extern List *sfx_foreign_rebuilt(const AlterTableStmt *stmt, bool top, Oid table);

/*
 * constraint_refer.c, Q7.  sfx_foreign_out: take foreign keys that may refer to an index of ours
 * out of the statement.  They are created at once if the statement has nothing else, or returned,
 * for sfx_foreign_done, which creates them after it.  source: the statement's text.
 */
extern void sfx_refer_init(void);
extern List *sfx_foreign_out(AlterTableStmt *stmt, const char *source);
extern void sfx_foreign_done(List *out, const char *source);

/*
 * Has pg_index btree's classes for indexes of ours at the moment?  Then none of these may be
 * opened.
 */
extern bool sfx_classes_are_lent(void);

/*
 * Create a foreign key, the statement's only command, by core's function; returns its OID.  It
 * refers to that index, or to the one that core chooses (InvalidOid).
 */
extern Oid	sfx_foreign_make(AlterTableStmt *stmt, Oid table, Oid index, const char *source);

/*
 * constraint_index.c, Q3.  sfx_using_out: take ADD ... USING INDEX of an index of ours out of the
 * statement.  Locks such an index's table AccessExclusive.  ERROR: core's, if the index cannot
 * become a constraint's; FEATURE_NOT_SUPPORTED (other commands in the statement).  sfx_using_done:
 * do it, after the statement.
 */
extern List *sfx_using_out(AlterTableStmt *stmt);
extern void sfx_using_done(List *out);

#endif							/* SURFIDX_CONSTRAINT_H */
