/*-------------------------------------------------------------------------
 * convert.h - surfidx_convert(): indexes that exist change their access method (rule Q6)
 *
 *	convert_stays.c		what stays as it is, and why
 *	convert_text.c		names and statements
 *	convert_twin.c		what stands beside an index under those names
 *	convert_plan.c		the steps of a table
 *	convert_swap.c		the exchange of an index and its twin
 *	convert_worker.c	who runs the steps
 *	convert_slots.c		how many of these there are
 *	convert.c			the SQL functions
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CONVERT_H
#define SURFIDX_CONVERT_H

#include "surfidx.h"
#include "shared_area.h"

#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/guc.h"
#include "utils/relcache.h"

typedef enum SfxStepKind
{
	SFX_STEP_LEFT,				/* nothing is done: the remark says why */
	SFX_STEP_CREATE,			/* the twin */
	SFX_STEP_SWAP,
	SFX_STEP_DROP
} SfxStepKind;

/* Steps of one item follow one another; if one fails, those behind it are left out. */
typedef struct SfxStep
{
	SfxStepKind kind;
	Oid			item;			/* the index that is converted: of a tree the topmost */
	Oid			table;
	Oid			index;			/* which one it is about, by its OID before */
	bool		deferrable;		/* the twin is not to check at once */
	char	   *statement;		/* NULL: SFX_STEP_LEFT */
	char	   *remark;			/* may be NULL */
} SfxStep;

/* ---- names ---- */

/* What an index is called beside the one that it is to replace, and when it has been replaced. */
extern void sfx_twin_name(char *name, Oid of);	/* NAMEDATALEN */
extern void sfx_replaced_name(char *name, Oid of);

/* Is that the name of a twin, and of which index? */
extern bool sfx_is_twin_name(const char *name, Oid *of);

/*
 * The twin's statement, as CREATE INDEX CONCURRENTLY.  Names are qualified as far as the search
 * path does not have them.
 */
extern char *sfx_twin_statement(Relation index, Oid am);

/*
 * The same of any name, for a constraint with the parameter that keeps the method; NULL: a column
 * has no class in that method.
 */
extern char *sfx_index_statement(Relation index, Oid am, const char *name, bool of_constraint);
extern char *sfx_qualified_name(Oid relid);

/* Settings under which names are qualified, and constants are read as they were written. */
extern void sfx_exact_settings(GucAction action);

/* The type of a key column, and the operator class that it would have with that method. */
extern Oid	sfx_key_type(Relation index, int i);
extern Oid	sfx_key_class(Relation index, int i);
extern Oid	sfx_key_class_in(Relation index, int i, Oid am);	/* InvalidOid: none */

/* ---- what stands beside an index ---- */

/* What is called as the index's twin, if it is an index of the same table; else NULL. */
extern Relation sfx_open_twin(Relation index, LOCKMODE lock);

/* Is it the same as the index, but in that method? */
extern bool sfx_is_twin(Relation index, Relation twin, Oid am);

/* What an index does that a twin must not, as a verb with its object; NULL: nothing. */
extern const char *sfx_work_of(Relation index);

/* Why what has those names keeps the index as it is; NULL: it does not. */
extern const char *sfx_beside_stays(Relation index);

/* ---- what is to be done ---- */

/* May that method be converted to that one? */
extern bool sfx_is_convertible(Oid from, Oid to);

/* Does the user own the index, with all below it?  May he create what is built beside these? */
extern bool sfx_owns_index(Relation index);
extern bool sfx_may_create_beside(Relation index);

/* Why the index, with all below it, does not become that method; NULL: it may. */
extern const char *sfx_index_stays(Relation index, Oid am);

/*
 * The tables of a schema that are converted by themselves, and the steps of one of them, with its
 * partitions.  Nothing stays locked; what is gone by then is left out.
 */
extern List *sfx_convert_tables(Oid schema);
extern List *sfx_convert_plan(Oid table, Oid am);

/*
 * The exchange: the twin becomes the index, in name and in all that hangs on it.  Locks the table,
 * with its partitions, ShareUpdateExclusive, and then, for as long as lock_timeout says (NULL: the
 * session's), indexes of partitioned tables AccessExclusive.  ERROR if not everything is there and
 * as it should be.
 */
extern void sfx_convert_swap(Oid index, const char *lock_timeout);

/* The statement that drops that index's twin, if it is there and not valid; else NULL. */
extern char *sfx_drop_of_failed(Oid index);

/* ---- the worker ---- */

typedef struct SfxConversion
{
	Oid			database;
	Oid			session_user;
	Oid			user;
	Oid			table;			/* or InvalidOid: */
	Oid			schema;
	bool		ours;			/* to our method, or back */
	TransactionId caller;		/* nothing is done before it is committed, or if it is not */
} SfxConversion;

/*
 * ERROR if there are too many already, or is no place for a worker.  In a database one goes on
 * after the other.
 */
extern void sfx_convert_start(const SfxConversion *c);

/* ---- places for workers ---- */

extern const SfxSharedArea sfx_convert_area;

/* How many there may be; one of them, or -1; whose it is then (0: nobody's). */
extern int	sfx_convert_places(void);
extern int	sfx_convert_take_place(void);
extern void sfx_convert_give_place(int place, pid_t worker);

#endif							/* SURFIDX_CONVERT_H */
