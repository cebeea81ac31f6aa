/*-------------------------------------------------------------------------
 * memo.h - what this backend remembers of indexes: of what, and until when
 *
 * A memory is believed if it is of the same life of the index as the metapage in hand: the same
 * build in the same file.  Neither does alone.  ALTER INDEX ... SET TABLESPACE copies a file with
 * its build id, and when it is rolled back the build has two histories; a file may be truncated and
 * built again in place.  What else a memory depends on (src/README.md has the table) is one number
 * of the metapage that only grows in a life.
 *
 * Numbers of files come again, though rarely.  So a memory also ends with the next invalidation of
 * the relation: there is one whenever an index gets or loses a file, in the backend that rolls back
 * as well, and only that one has ever seen the file that goes.
 *
 * Hints need none of this: what they lead to tells whether they are right (bufhint.c, the reader's
 * last gate, the log's tail).
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_MEMO_H
#define SURFIDX_MEMO_H

#include "surfidx.h"

/* A build in a file. */
typedef struct SfxLife
{
	SfxLocator	loc;			/* tablespace, database, number */
	uint64		build_id;
} SfxLife;

static inline SfxLife
sfx_life(Relation index, uint64 build_id)
{
	return (SfxLife)
	{
		SfxRelLocator(index), build_id
	};
}

static inline bool
sfx_life_equals(const SfxLife *a, const SfxLife *b)
{
	return a->build_id == b->build_id &&
		(SfxLocatorEquals(a->loc, b->loc) || SFX_MUTANT("memories of any file"));
}

/* The first member of each entry of a table. */
typedef struct SfxMemo
{
	Oid			index;			/* InvalidOid: nobody's, it says nothing */
	SfxLife		life;
	uint64		as_of;			/* the number that it depends on besides; 0: none */
	uint64		last_used;
} SfxMemo;

/* The memories of one kind: an array of a fixed size, or whatever forget looks after. */
typedef struct SfxMemoTable
{
	void	   *entries;
	int			n;
	Size		size;			/* of an entry */
	/* in place of what is done with entries; InvalidOid: all indexes */
	void		(*forget) (Oid index);
	void	   *latest;
	uint64		clock;
	bool		registered;
	struct SfxMemoTable *next;
} SfxMemoTable;

#define SFX_MEMO_TABLE(array)	{.entries = (array), .n = lengthof(array), \
		.size = sizeof((array)[0]), .latest = (array)}

/* From now on invalidations reach the table.  Cheap where it has been called before. */
extern void sfx_memo_register(SfxMemoTable *table);

/* The entry of that life as of that number; NULL: there is none. */
extern void *sfx_memo_find(SfxMemoTable *table, Relation index, uint64 build_id, uint64 as_of);

/*
 * The same, or else one that has been given to it: *fresh, and the caller empties all but the memo.
 * An outdated one of the same index goes first, then the one that was not used for the longest
 * time.
 */
extern void *sfx_memo_get(SfxMemoTable *table, Relation index, uint64 build_id, uint64 as_of,
						  bool *fresh);

#endif							/* SURFIDX_MEMO_H */
