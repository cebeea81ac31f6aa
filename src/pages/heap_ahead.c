/*-------------------------------------------------------------------------
 * heap_ahead.c - asking for pages of the table before their rows are visited
 *
 * A read that nobody has asked for makes its visitor wait; of those that were asked for, the disk
 * works on many at once.  The distance begins at one page and doubles while there are reads.  Where
 * pages turn out to be in memory the visitor is told to pass some rows without asking, twice as
 * many each time.  A page that was asked for and is not needed costs a read and nothing else (N4).
 *
 * A page that follows the previous one is not asked for: the kernel sees that order by itself, and
 * reads larger pieces for it.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "heap_ahead.h"
#include "page.h"
#include "settings.h"

#include <math.h>

#include "access/tableam.h"
#include "utils/spccache.h"

#define HITS_ENOUGH		16
#define FIRST_REST		64
#define LONGEST_REST	4096

/* For costs: pages that a query reads before it asks for any. */
#define FIRST_PAGES		3

/* 32 pages on their way at once, the default, halve the cost of a page. */
#define AHEAD_DOUBLINGS	5.0

/*
 * So many pages of a table in that tablespace may be on their way at once; 0: settings forbid it.
 * maintenance: it is not for a query.
 */
static int
most_of_tablespace(Oid tablespace, bool maintenance)
{
	int			concurrency = maintenance ? get_tablespace_maintenance_io_concurrency(tablespace) :
	get_tablespace_io_concurrency(tablespace);

	if (sfx_guc_read_ahead == 0 || concurrency == 0)
		return 0;
	return Min(Max(concurrency, sfx_guc_read_ahead), SFX_AHEAD_MAX);
}

/*
 * Where there is a row for each page, a bitmap scan reads most pages in their order, and saves more
 * (docs/dev/measured/2026-11-read-ahead.md).
 */
double
sfx_ahead_saves(Oid tablespace, double rows, double visited, double table_pages)
{
	int			n = most_of_tablespace(tablespace, false);
	double		sparse = 2 * (1 - rows / Max(table_pages, 1));
	double		doublings;

	if (n <= 1 || visited <= FIRST_PAGES)
		return 0;
	doublings = log2(n);
	return Max(Min(sparse, 1), 0) * doublings / (AHEAD_DOUBLINGS + doublings) *
		(visited - FIRST_PAGES) / visited;
}

/* The same of this table; 0, too, if it is not heap's. */
static int
most_at_once(Relation heap, bool maintenance)
{
	/* no access method can say that its TIDs' blocks are those of its main fork: heap's are */
	if (heap == NULL || heap->rd_tableam != GetHeapamTableAmRoutine())
		return 0;
	return most_of_tablespace(heap->rd_rel->reltablespace, maintenance);
}

void
sfx_ahead_begin(SfxHeapAhead *a, Relation heap, bool maintenance)
{
	memset(a, 0, offsetof(SfxHeapAhead, row));
	a->heap = heap;
	a->most = most_at_once(heap, maintenance);
	a->rest = FIRST_REST;
	for (int i = 0; i < SFX_AHEAD_RECENT; i++)
		a->recent[i] = InvalidBlockNumber;
}

/* Rows up to this one were visited. */
static void
drop_visited(SfxHeapAhead *a, uint64 row)
{
	while (a->n > 0 && a->row[a->first] <= row)
	{
		a->first = (a->first + 1) % SFX_AHEAD_MAX;
		a->n--;
	}
}

bool
sfx_ahead_due(SfxHeapAhead *a, uint64 row)
{
	drop_visited(a, row);
	/* by halves of the window, so that not every row takes a look */
	if (a->most == 0 || row < a->rest_until || a->n > a->window / 2)
		return false;
	a->window = Min(Max(2 * a->window, 1), a->most);
	return true;
}

/* Is it one of the pages asked for last?  If not, it is the youngest of them now. */
static bool
is_recent(SfxHeapAhead *a, BlockNumber block)
{
	for (int i = 0; i < SFX_AHEAD_RECENT; i++)
		if (a->recent[i] == block)
			return true;
	a->last = (a->last + 1) % SFX_AHEAD_RECENT;
	a->recent[a->last] = block;
	return false;
}

void
sfx_ahead_rest(SfxHeapAhead *a, uint64 row)
{
	a->hits = 0;
	a->window = 0;
	a->rest_until = row + a->rest;
	a->rest = Min(2 * a->rest, LONGEST_REST);
}

/* Does the table have the page of this TID? */
static inline bool
is_there(SfxHeapAhead *a, uint64 tid)
{
	return SFX_TID_BLOCK(tid) < a->end || sfx_heap_reaches(a->heap, tid, &a->end);
}

bool
sfx_ahead_is_read(SfxHeapAhead *a, uint64 tid)
{
	return is_there(a, tid) &&
		PrefetchBuffer(a->heap, MAIN_FORKNUM, SFX_TID_BLOCK(tid)).initiated_io;
}

uint64
sfx_ahead_next_due(const SfxHeapAhead *a, uint64 known)
{
	int			more = a->n - a->window / 2;

	return more <= 0 ? known : a->row[(a->first + more - 1) % SFX_AHEAD_MAX];
}

void
sfx_ahead_ask(SfxHeapAhead *a, uint64 row, uint64 tid)
{
	BlockNumber block = SFX_TID_BLOCK(tid);
	BlockNumber before = a->recent[a->last];

	Assert(sfx_ahead_has_room(a));
	Assert(a->n == 0 || a->row[(a->first + a->n - 1) % SFX_AHEAD_MAX] <= row);
	if (is_recent(a, block) || !is_there(a, tid))
		return;
	if ((block > 0 && block == before + 1) ||
		!PrefetchBuffer(a->heap, MAIN_FORKNUM, block).initiated_io)
	{
		if (++a->hits == HITS_ENOUGH)
			sfx_ahead_rest(a, row);
		return;
	}
	a->hits = 0;
	a->rest = FIRST_REST;
	a->asked++;
	a->row[(a->first + a->n++) % SFX_AHEAD_MAX] = row;
}

void
sfx_ahead_forget(SfxHeapAhead *a, uint64 row)
{
	drop_visited(a, row);
	a->vain += a->n;
	a->n = a->window = a->hits = 0;
}

uint64
sfx_ahead_in_list(SfxHeapAhead *a, uint64 i, uint64 n)
{
	if (i == 0 || i < a->at)
	{
		a->base = a->lists_end;
		a->lists_end += n;
		a->next = 0;
	}
	a->at = i;
	a->next = Max(a->next, i);
	return a->base + i;
}

void
sfx_ahead_rows(SfxHeapAhead *a, const uint64 *tid, Size stride, uint64 i, uint64 n)
{
	if (!sfx_ahead_due(a, sfx_ahead_in_list(a, i, n)))
		return;
	for (; a->next < n && sfx_ahead_has_room(a); a->next++)
		sfx_ahead_ask(a, a->base + a->next,
					  *(const uint64 *) ((const char *) tid + a->next * stride));
}
