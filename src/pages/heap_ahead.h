/*-------------------------------------------------------------------------
 * heap_ahead.h - asking for pages of the table before their rows are visited
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_HEAP_AHEAD_H
#define SURFIDX_HEAP_AHEAD_H

#include "executor/instrument.h"
#include "utils/rel.h"

/* Pages that this backend has read into buffers so far. */
static inline int64
sfx_pages_read(void)
{
	return pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
}

/* Pages that one visitor has on their way at once, at most. */
#define SFX_AHEAD_MAX		256

#define SFX_AHEAD_RECENT	8

/*
 * One visitor of rows.  It numbers the rows in the order in which it comes to them, and tells for
 * which row it asks for a page.
 */
typedef struct SfxHeapAhead
{
	Relation	heap;
	BlockNumber end;			/* so many blocks the table has at least */
	int			most;			/* pages on their way at once, at most; 0: nothing is asked for */
	int			window;			/* ... and at present */
	int			hits;			/* pages in a row that nobody had to read */
	int			rest;			/* rows to pass when there were too many of them */
	uint64		rest_until;		/* the row at which pages are asked for again */
	uint64		base;			/* of a list: the number of its first row, ... */
	uint64		lists_end;		/* ... that of the next list's, ... */
	uint64		at;				/* ... where its visitor is in it, ... */
	uint64		next;			/* ... and the first one in it that was not looked at */
	uint64		asked;			/* pages so far, ... */
	uint64		vain;			/* ... and those whose rows were not visited in the end */
	BlockNumber recent[SFX_AHEAD_RECENT];	/* asked for last; a ring ... */
	int			last;			/* ... and its youngest member */
	int			first;			/* of those on their way, in the ring of their rows' numbers */
	int			n;				/* so many are */
	uint64		row[SFX_AHEAD_MAX];
} SfxHeapAhead;

/*
 * For costs: a visitor of `rows` rows on `visited` pages of a table in that tablespace, which has
 * table_pages, asks for the pages before it needs them.  Returns the share, 0 to 1, of the pages'
 * cost that this saves.
 */
extern double sfx_ahead_saves(Oid tablespace, double rows, double visited, double table_pages);

/*
 * Begin; nothing was asked for.  heap: NULL, or not heap's: nothing will be.  maintenance: it is
 * not for a query.
 */
extern void sfx_ahead_begin(SfxHeapAhead *a, Relation heap, bool maintenance);

/*
 * Row number `row` was visited, or is now.  True: it is time to ask for pages of rows after it, as
 * long as there is room.
 */
extern bool sfx_ahead_due(SfxHeapAhead *a, uint64 row);

/* May one more page be asked for? */
static inline bool
sfx_ahead_has_room(const SfxHeapAhead *a)
{
	return a->n < a->window;
}

/*
 * Row number `row`, not below those asked for before (asserted), has this TID: ask for its page,
 * unless that was done, or the page lies beyond the table's end.  There has to be room (asserted).
 * Where too many pages in a row are in memory, or are read by the kernel without being asked for,
 * there is no room any more, and none until some rows have passed.
 */
extern void sfx_ahead_ask(SfxHeapAhead *a, uint64 row, uint64 tid);

/* Must the page of this TID be read?  Then it is asked for.  False, too, if there is none. */
extern bool sfx_ahead_is_read(SfxHeapAhead *a, uint64 tid);

/* Let some rows pass from row number `row` on: none before number rest_until is due. */
extern void sfx_ahead_rest(SfxHeapAhead *a, uint64 row);

/*
 * The next row that may be due, if no more pages are asked for and the visitor knows of rows up to
 * number `known`.
 */
extern uint64 sfx_ahead_next_due(const SfxHeapAhead *a, uint64 known);

/* Pages that were asked for on behalf of rows after number `row` are counted as in vain. */
extern void sfx_ahead_forget(SfxHeapAhead *a, uint64 row);

/*
 * For lists of rows one after the other: row i of a list of n is the next.  Its number, if all of
 * them are counted.
 */
extern uint64 sfx_ahead_in_list(SfxHeapAhead *a, uint64 i, uint64 n);

/*
 * All of that where each row of the list is visited.  tid: the first one's TID, each of the others
 * `stride` bytes after the previous one.
 */
extern void sfx_ahead_rows(SfxHeapAhead *a, const uint64 *tid, Size stride, uint64 i, uint64 n);

#endif							/* SURFIDX_HEAP_AHEAD_H */
