/*-------------------------------------------------------------------------
 * log_sorted.c - a generation whose log is nearly in order, read as if it were (D8)
 *
 * Where keys ascend the log is in order as it stands, or nearly so, since several sessions append
 * their keys a little out of turn.  One walk finds for each page the least entry on it or any later
 * page, its *floor*, and the greatest entry on it or any earlier page, its *top*.  Floors ascend,
 * and so do tops.  What lies between a page's floor and the next one's, its *piece*, stands on that
 * page and on the few before it whose top reaches the floor.  So reading the log in order takes
 * these pages, piece by piece, and a sort of the entries out of turn, but no image.
 *
 * A page that reaches back over more than REACH others ends the attempt, so a log of random keys
 * costs a few pages.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "leaf.h"
#include "log.h"
#include "log_entry.h"
#include "log_sorted.h"
#include "page.h"
#include "pos.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#define REACH			8
#define MOVES_EACH		8		/* moves per entry of the insertion sort; beyond that it is
								 * quicksort */

/* What the walk keeps of a page. */
typedef struct LogPage
{
	BlockNumber blkno;
	uint32		nentries;
	bool		in_order;		/* its own entries ascend */
	SfxPos		floor;			/* flagged entries count, too */
	SfxPos		top;
} LogPage;

struct SfxLogSorted
{
	MemoryContext cxt;
	uint32		gen;
	int			g;				/* its index in the metapage's list */
	int			npages;
	int			maxpages;
	LogPage    *page;
	uint64		seen;			/* entries in the log, flagged ones included */
	uint64		live;			/* entries that were not flagged during the walk */
	bool		unchanged;		/* some are SFX_LOG_UNCHANGED */

	/* the piece in hand: number of its page, -1: none */
	int			loaded;
	uint32		nentries;
	uint32		room;			/* of entry[] */
	SfxEntry   *entry;			/* the piece in order; keys and payloads are in ... */
	char	   *copies;			/* ... copies of up to REACH + 1 pages */
};

static int
compare_entries(const void *a, const void *b)
{
	SfxPos		x = sfx_entry_pos(a);
	SfxPos		y = sfx_entry_pos(b);

	return sfx_cmp_pos(&x, &y);
}

/* ---- the walk ---- */

/*
 * Measure a copied page: its number of entries, its own floor and top (whose keys stay in the
 * page).
 */
static LogPage
measure_page(SfxLogSorted *s, Relation index, BlockNumber blkno, Page page)
{
	LogPage		p = {.blkno = blkno,.in_order = true};
	uint32		off = sizeof(SfxLogHeader);
	uint32		at = off;
	SfxEntry	e;
	bool		dead;

	for (; sfx_log_parse(index, blkno, page, &off, &e, &dead); at = off)
	{
		SfxPos		pos = sfx_entry_pos(&e);
		uint32		rising;

		s->unchanged |= (SfxPageBody(page)[at] & SFX_LOG_UNCHANGED) != 0;
		s->live += !dead;
		if (p.nentries++ == 0)
			p.floor = p.top = pos;
		else if (sfx_cmp_pos(&pos, &p.top) > 0)
			p.top = pos;
		else
		{
			p.in_order = false;
			if (sfx_cmp_pos(&pos, &p.floor) < 0)
				p.floor = pos;
		}
		rising = sfx_log_skip_rising(page, &off, &p.top);
		p.nentries += rising;
		s->live += rising;
	}
	s->seen += p.nentries;
	return p;
}

/* Is floor above the top of page i - 1, and so above all entries before page i? */
static inline bool
is_above(const SfxLogSorted *s, int i, const SfxPos *floor)
{
	return i == 0 || sfx_cmp_pos(&s->page[i - 1].top, floor) < 0;
}

/* The first page, up to page i, that may have entries at or above floor. */
static int
reach_back(const SfxLogSorted *s, int i, const SfxPos *floor)
{
	while (!is_above(s, i, floor))
		i--;
	return i;
}

/*
 * Add a page after the others: its top becomes the running maximum, and its keys are copied.
 * False: it reaches back over more than REACH pages.
 */
static bool
add_page(SfxLogSorted *s, LogPage *p)
{
	int			n = s->npages;

	for (int i = n; !is_above(s, i, &p->floor); i--)
		if (n - i == REACH)
			return false;
	p->floor = sfx_pos_copy(&p->floor);
	p->top = is_above(s, n, &p->top) ? sfx_pos_copy(&p->top) : s->page[n - 1].top;
	if (n == s->maxpages)
	{
		s->maxpages *= 2;
		s->page = repalloc(s->page, s->maxpages * sizeof(LogPage));
	}
	s->page[s->npages++] = *p;
	return true;
}

/* Copy the page with that number in the chain of generation meta->gens[g]. */
static void
copy_page(Relation index, const SfxMeta *meta, int g, BlockNumber blkno, int seq, Page copy)
{
	/* under the merge lock the generation cannot have left the list */
	if (!sfx_log_copy_page(index, meta, g, blkno, (uint32) seq, copy))
		sfx_corrupt(index, blkno, "a page of the log is not one of its generation");
}

/* Walk over the whole log, filling page[].  False: it is not nearly in order. */
static bool
walk(SfxLogSorted *s, Relation index, const SfxMeta *meta)
{
	BlockNumber blkno = meta->gens[s->g].first;
	PGAlignedBlock copy;

	while (blkno != InvalidBlockNumber)
	{
		LogPage		p;

		CHECK_FOR_INTERRUPTS();
		copy_page(index, meta, s->g, blkno, s->npages, copy.data);
		p = measure_page(s, index, blkno, copy.data);
		/* the last page, added a moment ago, may be empty */
		if (p.nentries == 0)
			break;
		if (!add_page(s, &p))
			return false;
		blkno = SfxPageGetTail((Page) copy.data)->right;
	}
	/* from each page's own floor to the least of all later ones */
	for (int i = s->npages - 2; i >= 0; i--)
		if (sfx_cmp_pos(&s->page[i + 1].floor, &s->page[i].floor) < 0)
			s->page[i].floor = s->page[i + 1].floor;
	return true;
}

/* See log_sorted.h. */
SfxLogSorted *
sfx_log_sorted(Relation index, const SfxOrder *order, const SfxMeta *meta, int g)
{
	MemoryContext cxt;
	MemoryContext old;
	SfxLogSorted *s;
	bool		sorted;

	if (order != NULL)
		return NULL;
	cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx log in order",
								ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cxt);
	s = palloc0(sizeof(SfxLogSorted));
	s->cxt = cxt;
	s->g = g;
	s->gen = meta->gens[g].gen;
	s->maxpages = 64;
	s->page = palloc(s->maxpages * sizeof(LogPage));
	s->loaded = -1;
	sorted = walk(s, index, meta);
	MemoryContextSwitchTo(old);
	if (sorted)
		return s;
	sfx_log_sorted_free(s);
	return NULL;
}

void
sfx_log_sorted_free(SfxLogSorted *s)
{
	if (s != NULL)
		MemoryContextDelete(s->cxt);
}

uint64
sfx_log_sorted_seen(const SfxLogSorted *s)
{
	return s->seen;
}

uint64
sfx_log_sorted_live(const SfxLogSorted *s)
{
	return s->live;
}

bool
sfx_log_sorted_unchanged(const SfxLogSorted *s)
{
	return s->unchanged;
}

/* ---- reading ---- */

void
sfx_log_sorted_begin(SfxLogSorted *s, const SfxMeta *meta, int g)
{
	Assert(meta->gens[g].gen == s->gen);
	s->g = g;
	if (!SFX_MUTANT("pieces outlive the merge lock"))
		s->loaded = -1;
}

/* The page whose piece has pos, or the first page; npages if there are no pages. */
static int
find_piece(const SfxLogSorted *s, const SfxPos *pos)
{
	int			lo = 0,
				hi = s->npages;

	/* the first page whose floor is above pos */
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;

		if (sfx_cmp_pos(&s->page[mid].floor, pos) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return Max(lo - 1, 0);
}

/* Make room for the entries of pages [from, to], and for the copies of REACH + 1 pages. */
static void
make_room(SfxLogSorted *s, int from, int to)
{
	uint32		n = 0;

	for (int i = from; i <= to; i++)
		n += s->page[i].nentries;
	if (s->copies == NULL)
		s->copies = MemoryContextAlloc(s->cxt, (REACH + 1) * BLCKSZ);
	if (n <= s->room)
		return;
	if (s->entry)
		pfree(s->entry);
	s->room = n;
	s->entry = MemoryContextAlloc(s->cxt, s->room * sizeof(SfxEntry));
}

/*
 * Sort the piece in hand, and leave each entry once.  Few entries are out of turn, and not far: an
 * insertion sort, until it has made too many moves.
 */
static void
sort_piece(SfxLogSorted *s)
{
	SfxEntry   *entry = s->entry;
	uint64		moves = (uint64) s->nentries * MOVES_EACH;
	uint32		n = 0;

	for (uint32 i = 1; i < s->nentries; i++)
	{
		SfxEntry	e = entry[i];
		uint32		at = i;

		for (; at > 0 && compare_entries(&entry[at - 1], &e) > 0 && moves > 0; moves--, at--)
			entry[at] = entry[at - 1];
		entry[at] = e;
	}
	if (moves == 0)
		qsort(entry, s->nentries, sizeof(SfxEntry), compare_entries);
	/* an entry without a row (X7) comes again if a row of its key gets its TID */
	for (uint32 i = 0; i < s->nentries; i++)
		if (n == 0 || compare_entries(&entry[n - 1], &entry[i]) != 0)
			entry[n++] = entry[i];
	s->nentries = n;
}

/*
 * Copy page i again, and add its unflagged entries in [floor, ceiling) to the piece in hand.  NULL:
 * no bound on that side.
 */
static void
load_page(SfxLogSorted *s, Relation index, const SfxMeta *meta, int i, Page copy,
		  const SfxPos *floor, const SfxPos *ceiling)
{
	uint32		off = sizeof(SfxLogHeader);
	SfxEntry	e;
	bool		dead;

	copy_page(index, meta, s->g, s->page[i].blkno, i, copy);
	while (sfx_log_parse(index, s->page[i].blkno, copy, &off, &e, &dead))
	{
		SfxPos		pos = sfx_entry_pos(&e);

		/* the last page of the active generation may have got more entries since the walk */
		if (!dead && s->nentries < s->room &&
			(floor == NULL || sfx_cmp_pos(&pos, floor) >= 0) &&
			(ceiling == NULL || sfx_cmp_pos(&pos, ceiling) < 0))
			s->entry[s->nentries++] = e;
	}
}

/*
 * Bring the piece of that page to hand, unless it is.  Copies pages [from, number], where from is
 * the first whose top reaches the piece's floor.
 */
static void
load(SfxLogSorted *s, Relation index, const SfxMeta *meta, int number)
{
	const LogPage *p = &s->page[number];
	int			from;
	const SfxPos *ceiling = NULL;

	if (s->loaded == number)
		return;
	s->loaded = -1;
	s->nentries = 0;
	from = reach_back(s, number, &p->floor);
	if (number + 1 < s->npages && !is_above(s, number + 1, &p[1].floor))
		ceiling = &p[1].floor;
	make_room(s, from, number);
	for (int i = from; i <= number; i++)
		load_page(s, index, meta, i, s->copies + (Size) (i - from) * BLCKSZ,
				  from < number ? &p->floor : NULL, ceiling);
	if ((from < number || !p->in_order) && !SFX_MUTANT("logs unsorted"))
		sort_piece(s);
	s->loaded = number;
}

int
sfx_log_sorted_seek(SfxLogSorted *s, Relation index, const SfxMeta *meta, const SfxPos *pos,
					SfxEntry **entries, bool *more)
{
	for (int number = find_piece(s, pos); number < s->npages; number++)
	{
		uint32		lo = 0,
					hi;

		load(s, index, meta, number);
		hi = s->nentries;
		while (lo < hi)
		{
			uint32		mid = (lo + hi) / 2;
			SfxPos		p = sfx_entry_pos(&s->entry[mid]);

			if (sfx_cmp_pos(&p, pos) < 0)
				lo = mid + 1;
			else
				hi = mid;
		}
		*entries = s->entry + lo;
		*more = number + 1 < s->npages;
		if (lo < s->nentries)
			return (int) (s->nentries - lo);
	}
	return 0;
}

/* See log_sorted.h.  The piece is loaded only if the next page's floor does not answer. */
bool
sfx_log_sorted_next(SfxLogSorted *s, Relation index, const SfxMeta *meta, const SfxPos *pos,
					SfxPos *next)
{
	int			number = find_piece(s, pos);
	SfxEntry   *entries;
	bool		more;

	if (number == s->npages)
		return false;
	*next = s->page[number].floor;
	if (sfx_cmp_pos(next, pos) >= 0)
		return true;
	if (sfx_log_sorted_seek(s, index, meta, pos, &entries, &more) == 0)
		return false;
	*next = sfx_entry_pos(entries);
	return true;
}
