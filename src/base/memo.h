/*-------------------------------------------------------------------------
 * memo.h - what this backend remembers of indexes (N1): of what, and until when
 *
 * A memory is believed if it is of the same life of the index as the metapage in hand: the same
 * build in the same file.  Neither alone will do.  ALTER INDEX ... SET TABLESPACE copies a file
 * with its build id, and when that is rolled back the build has two histories; and a file may be
 * truncated and built again in place.  What else a memory depends on (src/README.md has the table)
 * is one number of the metapage that only grows during a life.
 *
 * Numbers of files come again, though rarely.  So a memory also ends with the next invalidation of
 * the relation.  There is one whenever an index gets or loses a file, also in a backend that rolls
 * back, and only that backend has seen the file that goes.
 *
 * Hints need none of this: what they lead to tells whether they are right (bufhint.c, the reader's
 * last gate, the log's tail).
 *
 * All of it is memory of this backend, and needs no lock.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_MEMO_H
#define SURFIDX_MEMO_H

/* One build of an index in one file. */
typedef struct SfxLife
{
	SfxLocator	loc;			/* tablespace, database, number */
	uint64		build_id;
} SfxLife;

/* The life of an open index, as a page or metapage names its build. */
static inline SfxLife
sfx_life(Relation index, uint64 build_id)
{
	return (SfxLife) {SfxRelLocator(index), build_id};
}

static inline bool
sfx_life_equals(const SfxLife *a, const SfxLife *b)
{
	return a->build_id == b->build_id &&
		(SfxLocatorEquals(a->loc, b->loc) || SFX_MUTANT("memories of any file"));
}

/* The head of each entry of a table: what the entry is about. */
typedef struct SfxMemo
{
	Oid			index;			/* InvalidOid: the entry is free */
	SfxLife		life;
	uint64		as_of;			/* the number that the entry depends on besides; 0: none */
	uint64		last_used;		/* by the table's clock */
} SfxMemo;

/*
 * The memories of one kind: an array of a fixed size, or something else that forget takes care of.
 */
typedef struct SfxMemoTable
{
	void	   *entries;		/* the array; each entry begins with an SfxMemo */
	int			n;				/* its length */
	Size		size;			/* of an entry */

	/*
	 * called with an invalidated index, or InvalidOid for all, instead of freeing entries; or NULL
	 */
	void		(*forget) (Oid index);
	void	   *latest;			/* the entry found last */
	uint64		clock;
	bool		registered;		/* invalidations reach the table */
	struct SfxMemoTable *next;	/* list of registered tables */
} SfxMemoTable;

/* Initializer of a table over an array. */
#define SFX_MEMO_TABLE(array)	{.entries = (array), .n = lengthof(array), \
		.size = sizeof((array)[0]), .latest = (array)}

/* Register the table, so that invalidations reach it.  Cheap if it was registered before. */
extern void sfx_memo_register(SfxMemoTable *table);

/* The entry of that life, as of that number; NULL: there is none. */
extern void *sfx_memo_find(SfxMemoTable *table, Relation index, uint64 build_id, uint64 as_of);

/*
 * The same; if there is none, an entry that now is of it: then *fresh, and the caller empties all
 * but the memo.  It is the index's outdated entry, or the least recently used one.  Registers the
 * table.
 */
extern void *sfx_memo_get(SfxMemoTable *table, Relation index, uint64 build_id, uint64 as_of,
						  bool *fresh);

#endif							/* SURFIDX_MEMO_H */
