/*-------------------------------------------------------------------------
 * constraint.h - PRIMARY KEY and UNIQUE constraints whose index is ours: WITH (access_method =
 * surfidx)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CONSTRAINT_H
#define SURFIDX_CONSTRAINT_H

#include "surfidx.h"

#include "nodes/parsenodes.h"
#include "utils/relcache.h"

/* Is that the name of an access method that is ours, in this database? */
extern bool sfx_is_our_method(const char *name);

/*
 * Is that an index of ours, of a partitioned table too?  InvalidOid and whatever is gone are not.
 */
extern bool sfx_is_our_index(Oid relid);

/*
 * Rule Q1: what the parameter access_method of an index or constraint says becomes the statement's
 * method.  The tree is changed.  ERROR: INVALID_PARAMETER_VALUE (another method than ours).
 */
extern void sfx_method_of_index(IndexStmt *stmt);
extern void sfx_method_of_constraints(AlterTableStmt *stmt);

/* The parameters with ours, or without any, access_method. */
extern List *sfx_with_method(List *options, bool ours);

/*
 * Rule Q2.  ERROR (FEATURE_NOT_SUPPORTED) if the statement sets or resets the parameter of an
 * index of ours.
 */
extern void sfx_method_stays(AlterTableStmt *stmt);

/*
 * constraint_type.c, rule Q3: take down the constraints that the statement would have core build
 * again, and put them back when it is done.  Locks the tables and those that refer to them,
 * AccessExclusive; ERROR: FEATURE_NOT_SUPPORTED (another command needs it meanwhile; somebody
 * else's foreign key refers to one).
 */
extern List *sfx_constraints_down(AlterTableStmt *stmt);
extern void sfx_constraints_up(List *down);

/* Does any command rebuild columns of tables that there are? */
extern bool sfx_rebuilds_any(const AlterTableStmt *stmt);

/*
 * What these two do to one constraint, whose index that is: noted (the referrers are locked),
 * taken down, put back with an index of ours or a btree, and then the foreign keys that refer to
 * it.
 */
typedef struct SfxDown SfxDown;
extern SfxDown *sfx_down_note(const AlterTableStmt *stmt, Relation table, Relation index);
extern void sfx_down_take(const SfxDown *d);
extern void sfx_down_put_back(const SfxDown *d, bool ours);
extern void sfx_down_foreign_up(const SfxDown *d);

/*
 * constraint_attach.c, rule Q5: a partition that is attached gets its primary key of the parent's
 * method.  Locks both as core is going to.
 */
extern void sfx_method_of_partition(AlterTableStmt *stmt);

/* The same where the parent gets its primary key: those of its partitions, as it is going to be. */
extern void sfx_method_of_partitions(AlterTableStmt *stmt);

/*
 * constraint_foreign.c: the foreign keys that refer to that index of the table, whose constraint
 * has that name, locked; taken down; put back.
 */
extern List *sfx_foreign_of(const AlterTableStmt *stmt, Relation table, Oid index, const char *name);
extern void sfx_foreign_down(List *foreign);
extern void sfx_foreign_up(List *foreign);

/*
 * constraint_foreign.c, before 18: the foreign keys that core would make again, referring to an
 * index of ours, since the statement rebuilds one of their columns in that table; locked.  (Those
 * that go with a constraint have gone already.)
 */
extern List *sfx_foreign_rebuilt(const AlterTableStmt *stmt, bool top, Oid table);

/*
 * constraint_refer.c, rule Q7: the foreign keys that may refer to an index of ours are made, or
 * leave the statement to be made behind it.  Locks as core does it.
 */
extern void sfx_refer_init(void);
extern List *sfx_foreign_out(AlterTableStmt *stmt, const char *source);
extern void sfx_foreign_done(List *out, const char *source);

/* Does pg_index have others' classes for indexes of ours?  None may be opened then. */
extern bool sfx_classes_are_lent(void);

/*
 * A key, the statement's only command, as core makes it.  Its OID.  It refers to that index, or to
 * the one that core chooses (InvalidOid).
 */
extern Oid	sfx_foreign_make(AlterTableStmt *stmt, Oid table, Oid index, const char *source);

/*
 * constraint_index.c: ADD ... USING INDEX of an index of ours leaves the statement, and is done
 * behind it.  Locks the table of such an index, AccessExclusive; ERROR: as core's, for one that
 * cannot become a constraint's; FEATURE_NOT_SUPPORTED (another command stands beside it).
 */
extern List *sfx_using_out(AlterTableStmt *stmt);
extern void sfx_using_done(List *out);

#endif							/* SURFIDX_CONSTRAINT_H */
