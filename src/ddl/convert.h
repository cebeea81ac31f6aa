/*-------------------------------------------------------------------------
 * convert.h - surfidx_convert(): changing the access method of existing indexes (Q6)
 *
 *	convert_stays.c		which indexes stay as they are, and why
 *	convert_text.c		names and statements
 *	convert_twin.c		what stands beside an index under those names
 *	convert_plan.c		the steps of a table
 *	convert_swap.c		the exchange of an index and its twin
 *	convert_worker.c	the worker that runs the steps
 *	convert_slots.c		the number of these workers
 *	convert.c			the SQL functions
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CONVERT_H
#define SURFIDX_CONVERT_H

#include "shared_area.h"

#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/guc.h"

typedef enum SfxStepKind
{
	SFX_STEP_LEFT,				/* nothing is done: the remark says why */
	SFX_STEP_CREATE,			/* create the twin */
	SFX_STEP_SWAP,
	SFX_STEP_DROP
} SfxStepKind;

/* A step.  The steps of one item follow one another; if one fails, the later ones are left out. */
typedef struct SfxStep
{
	SfxStepKind kind;
	Oid			item;			/* the index that is converted: of a tree the topmost */
	Oid			table;
	Oid			index;			/* the index that the step is about, by its OID before the
								 * conversion */
	bool		deferrable;		/* the twin must not check at once */
	char	   *statement;		/* NULL: SFX_STEP_LEFT */
	char	   *remark;			/* may be NULL */
} SfxStep;

/* ---- names ---- */

/* The name of an index's twin, and its own name once it was replaced; name: NAMEDATALEN bytes. */
extern void sfx_twin_name(char *name, Oid of);	/* NAMEDATALEN */
extern void sfx_replaced_name(char *name, Oid of);

/* Is that the name of a twin, and of which index? */
extern bool sfx_is_twin_name(const char *name, Oid *of);

/*
 * The statement that creates the twin: CREATE INDEX CONCURRENTLY.  Names are qualified unless they
 * are in the search path.
 */
extern char *sfx_twin_statement(Relation index, Oid am);

/*
 * The same with any name, and for a constraint with the parameter that keeps the method.  NULL: a
 * column has no class of that method.
 */
extern char *sfx_index_statement(Relation index, Oid am, const char *name, bool of_constraint);
extern char *sfx_qualified_name(Oid relid);

/* The schema of the extension's functions: where that of its access method is. */
extern char *sfx_our_schema(void);

/* Set what makes names qualified, and constants be read as they were written. */
extern void sfx_exact_settings(GucAction action);

/*
 * The type of a key column; its operator class; and the class that it would have with that method.
 */
extern Oid	sfx_key_type(Relation index, int i);
extern Oid	sfx_key_class(Relation index, int i);
extern Oid	sfx_key_class_in(Relation index, int i, Oid am);	/* InvalidOid: none */

/* ---- what stands beside an index ---- */

/* The index's twin: an index of the same table with the twin's name; else NULL. */
extern Relation sfx_open_twin(Relation index, LOCKMODE lock);

/* Is it the same as the index, except for that method? */
extern bool sfx_is_twin(Relation index, Relation twin, Oid am);

/* What an index does that a twin must not do, as a verb with its object; NULL: nothing. */
extern const char *sfx_work_of(Relation index);

/* Why relations with those names keep the index from being converted; NULL: they do not. */
extern const char *sfx_beside_stays(Relation index);

/* ---- what is to be done ---- */

/* May an index of that method be converted to that one? */
extern bool sfx_is_convertible(Oid from, Oid to);

/*
 * Does the user own the index, with all below it?  May the user create indexes in the schemas of
 * these?
 */
extern bool sfx_owns_index(Relation index);
extern bool sfx_may_create_beside(Relation index);

/* Why the index, with all below it, cannot become one of that method; NULL: it can. */
extern const char *sfx_index_stays(Relation index, Oid am);

/*
 * The exchange: the twin becomes the index, with its name and all that depends on it.  Locks the
 * table and its partitions ShareUpdateExclusive, and then, within lock_timeout (NULL: the
 * session's), indexes of partitioned tables AccessExclusive.  ERROR if not everything is there and
 * as it should be.
 */
extern void sfx_convert_swap(Oid index, const char *lock_timeout);

/* The statement that drops that index's twin, if there is one that is not valid; else NULL. */
extern char *sfx_drop_of_failed(Oid index);

/* What is to be converted. */
typedef struct SfxConversion
{
	Oid			database;
	Oid			session_user;
	Oid			user;
	Oid			table;			/* or InvalidOid, and all tables of ... */
	Oid			schema;			/* ... this schema */
	bool		ours;			/* to our method; else back to btree */
	TransactionId caller;		/* the caller's transaction: nothing is done before it commits, or
								 * if it does not */
} SfxConversion;

/*
 * The tables that are converted by themselves; and the steps of one of them, with its partitions.
 * Keep no lock; what is dropped meanwhile is left out.
 */
extern List *sfx_convert_tables(const SfxConversion *c);
extern List *sfx_convert_plan(const SfxConversion *c, Oid table);

/* ---- the worker ---- */

/*
 * Start a worker.  ERROR if there are too many already, or no worker slot is free.  In a database
 * one worker goes on at a time.
 */
extern void sfx_convert_start(const SfxConversion *c);

/* ---- places for workers ---- */

extern const SfxSharedArea sfx_convert_area;

/*
 * How many workers there may be; take a place, or -1; give the place to that process (0: to none).
 */
extern int	sfx_convert_places(void);
extern int	sfx_convert_take_place(void);
extern void sfx_convert_give_place(int place, pid_t worker);

#endif							/* SURFIDX_CONVERT_H */
