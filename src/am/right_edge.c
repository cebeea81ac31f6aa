/*-------------------------------------------------------------------------
 * right_edge.c - this backend's memory of where indexes end, for unique checks of ascending keys
 *
 * Rule U3 (README): entries come into an index by its log alone.  A backend that knows that all
 * entries stood before a bound when the log ended at some place, and that has seen what was
 * appended since, knows the greatest entry, wherever merges have put it.  A key beyond that is new:
 * it needs no look at images or trees, and its append sees under the page's lock what others have
 * appended.
 *
 * The memory is of one life of the index (memo.h): the page that is appended to confirms the build,
 * and the invalidation of a file empties the table.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "leaf.h"
#include "memo.h"
#include "pos.h"
#include "right_edge.h"

#define EDGES			256		/* remembered indexes: a session may write to many tables in turn */
#define MAX_KEY			64
#define RISING			8		/* keys in a row that are each above the one before, until the end
								 * is looked for; ... */
#define PAUSE			64		/* ... and keys until the next look, if that did not find the end,
								 * twice as many each time, ... */
#define PAUSE_MAX		8192	/* ... up to this number */

/* The end of one index. */
struct SfxEdge
{
	SfxMemo		memo;			/* of the file alone; the place has the build */
	int			rising;			/* keys in a row above the one before; less than 0: a pause */
	int			pause;			/* length of the next pause */
	bool		known;			/* bound and place are valid */
	uint32		lastlen;		/* of the last key of this backend, cut to MAX_KEY */
	uint8		last[MAX_KEY];
	SfxLogPlace place;			/* all entries before it in the log, and those of trees, are at
								 * most ... */
	SfxPos		bound;			/* ... this position */
	uint8		key[MAX_KEY];
	const SfxPos *lo;			/* of the append that is being watched */
};

static SfxEdge edges[EDGES];
static SfxMemoTable table = SFX_MEMO_TABLE(edges);

/* The build is not known before a page was looked at. */
static SfxEdge *
find(Relation index)
{
	return sfx_memo_find(&table, index, 0, 0);
}

/* Count keys that ascend. */
static void
count_rising(SfxEdge *edge, const SfxEntry *e)
{
	uint32		len = Min(e->keylen, MAX_KEY);

	if (edge->rising < 0)
		edge->rising++;
	else if (sfx_cmp_bytes(edge->last, edge->lastlen, e->key, len) >= 0)
		edge->rising = 0;
	else
		edge->rising = Min(edge->rising + 1, RISING);
	memcpy(edge->last, e->key, len);
	edge->lastlen = len;
}

SfxEdge *
sfx_edge_see_key(Relation index, const SfxEntry *e)
{
	bool		fresh;
	SfxEdge    *edge = sfx_memo_get(&table, index, 0, 0, &fresh);

	if (fresh)
	{
		edge->rising = 0;
		edge->pause = PAUSE;
		edge->known = false;
		edge->lastlen = 0;
	}
	if (edge->known)
		return edge;
	count_rising(edge, e);
	return NULL;
}

/* Set the bound.  False: there is no room for the key. */
static bool
set_bound(SfxEdge *edge, const SfxPos *pos)
{
	if (pos->len > MAX_KEY)
		return false;
	memcpy(edge->key, pos->key, pos->len);
	edge->bound = (SfxPos) {edge->key, pos->len, pos->tid};
	return true;
}

/* Raise the bound to an entry, if that is greater. */
static void
raise_bound(SfxEdge *edge, const SfxEntry *e)
{
	SfxPos		pos = sfx_entry_pos(e);

	if (sfx_cmp_pos(&edge->bound, &pos) < 0)
		edge->known &= set_bound(edge, &pos);
}

/*
 * SfxLogWatch.passes: another backend's entry, or one of ours that was not appended at the place.
 * It raises the bound; does the watched key still stand above that?
 */
static bool
passes(void *arg, const SfxEntry *e)
{
	SfxEdge    *edge = arg;

	raise_bound(edge, e);
	return edge->known && sfx_cmp_pos(&edge->bound, edge->lo) < 0;
}

/* SfxLogWatch.appended: our own entry raises the bound, too. */
static void
appended(void *arg, const SfxEntry *e)
{
	raise_bound(arg, e);
}

bool
sfx_edge_watch(SfxEdge *edge, const SfxPos *lo, SfxLogWatch *watch)
{
	if (sfx_cmp_pos(&edge->bound, lo) >= 0)
		return false;
	edge->lo = lo;
	*watch = (SfxLogWatch)
	{
		.place = &edge->place,.passes = passes,.appended = appended,.arg = edge
	};
	return true;
}

/*
 * An entry that does not stand before lo: the index ends there now, which is known.  Otherwise the
 * watch could not follow the log, and nothing is known any more.
 */
void
sfx_edge_refused(SfxEdge *edge)
{
	edge->known &= sfx_cmp_pos(&edge->bound, edge->lo) >= 0;
}

bool
sfx_edge_take_turn(Relation index)
{
	SfxEdge    *edge = find(index);

	if (edge == NULL || edge->known || edge->rising < RISING)
		return false;
	edge->rising = -edge->pause;
	edge->pause = Min(2 * edge->pause, PAUSE_MAX);
	return true;
}

void
sfx_edge_note(Relation index, const SfxPos *lo, const SfxLogPlace *place)
{
	SfxEdge    *edge = find(index);

	/* an invalidation may have come since the turn was taken */
	if (edge == NULL)
		return;
	edge->rising = 0;
	edge->pause = PAUSE;
	edge->place = *place;
	edge->known = set_bound(edge, lo);
}
