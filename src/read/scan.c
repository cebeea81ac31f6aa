/*-------------------------------------------------------------------------
 * scan.c - index scans, index-only scans, bitmap scans, marks
 *
 * A scan is a walk over the byte ranges that scankey.c makes of its conditions, each read through one SfxReader.
 *
 * Position: the present range (the odometer of scankey.c) and, inside it, the reader's own position by key.
 * Moving past either end of a range goes on with the neighbouring range; at the last one the odometer stays, so that
 * a cursor that turns round finds the last row again.
 *
 * A mark is the odometer and a copy of the entry last returned; restoring it seeks by that key.  No batch is kept for it,
 * so a merge between mark and restore does not matter.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "key.h"
#include "leaf.h"
#include "order.h"
#include "page.h"
#include "parallel.h"
#include "predicate.h"
#include "reader.h"
#include "row.h"
#include "rowcompare.h"
#include "scan.h"
#include "scankey.h"
#include "scratch.h"
#include "settings.h"
#include "visible.h"

#include "access/relscan.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* TIDs handed to a bitmap at once. */
#define BITMAP_BATCH	256

/* Entries in a row that fail the filters before a leap is tried: it costs as much as looking at some tens of them. */
#define LEAP_PATIENCE	24

/* Rows that an index-only scan returns before it pins the map: who wants few does not wait. */
#define ROWS_BEFORE_MAP	16
/* So many rows of a range are made ready first, if there are so many in the stretch. */
#define FIRST_PORTION	32

StaticAssertDecl(SFX_BLOCK_ENTRIES <= SFX_VISIBILITY_ENTRIES, "a block is tested at once");

typedef struct SfxMark
{
	bool		set;
	uint64		tid;
	uint32		len;
	uint8	   *key;			/* SFX_MAX_ENTRY bytes */
	int		   *wheels;			/* the odometer; one for each key column */
} SfxMark;

typedef struct SfxScan
{
	SfxRowsAhead rows_ahead;	/* first: see sfx_scan_row */
	SfxKeyDesc	kd;
	const SfxOrder *order;		/* of the key space; NULL: bytes */
	MemoryContext cxt;			/* lives as long as the scan */
	MemoryContext longs;		/* what decoding a long key leaves behind; NULL: there was none */
	SfxReader  *reader;			/* NULL until first needed */
	bool		gate;			/* the reader's */
	bool		started;		/* the conditions are worked out and the reader stands on a range */
	bool		empty;			/* they contradict one another */
	bool		on_entry;		/* an entry was returned last, which the reader knows */
	BlockNumber heap_end;		/* the table has so many blocks at least, as far as that was asked */
	bool		swift;			/* an entry was returned last, and those of the reader's stretch
								 * may follow without a look at anything */
	bool		on_mark;		/* the restored mark is where the scan stands, and nothing was
								 * returned since */
	uint64		tid;			/* what sfx_scan_tids returned, if that was one */
	SfxBlock   *single;			/* what sfx_scan_entries returned, if that was one */
	bool		unread;			/* the plan reads no column: NULLs will do (index_only.c) */
	SfxVisibility *map;			/* rows by block: NULL: not asked yet */
	int			asked;			/* rows that it might have been asked for */
	int			portion;		/* so many rows are made ready next */
	int			prepared_from;	/* the last ones that were, by their numbers in the block */
	int			prepared;
	char	   *texts;			/* values of rows_ahead; NULL: not needed yet */
	bool		form;			/* rows are to be formed */
	bool		rows;			/* row is set up */
	int			failed;			/* entries in a row that the filters did not let pass */
	bool		leaping;		/* the last leap led to another leaf */
	BlockNumber leapt_from;		/* leaf from which the last leap went; InvalidBlockNumber: it is
								 * judged already */
	int			range;			/* parallel: the range that the odometer shows */
	bool		serializable;	/* what is read is locked */
	bool		turned;			/* the range in hand was not read straight on from its start */
	ScanDirection dir;			/* serializable: of the first fetch in the range in hand */
	SfxKeyLock	lock;			/* the range in hand's */
	bool		ahead;			/* parallel: nothing passes between the steps that fell to us and
								 * ahead_pos */
	SfxPos		ahead_pos;
	int			nkeys;			/* scan keys, each row comparison being one */
	ScanKey		members;		/* of row comparisons that came in parts; NULL: there were none */
	SfxMark    *mark;
	SfxScanKeys keys;
	SfxRow		row;
} SfxScan;

/* ------------------------------------------------------------------ begin, restart, end */

static SfxStretch no_rows = {.step = ForwardScanDirection};

/* No row is ready: the stretch is another one, or will be.  Those that were taken are counted. */
static inline void
forget_rows(IndexScanDesc scan, SfxScan *so)
{
	if (so->rows_ahead.taken > 0)
		pgstat_count_index_tuples(scan->indexRelation, so->rows_ahead.taken);
	so->rows_ahead.taken = 0;
	if (!SFX_MUTANT("rows outlive their stretch"))
		so->rows_ahead.stretch = &no_rows;
}

IndexScanDesc
sfx_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan;
	SfxScan    *so;
	bool		fresh;

	Assert(norderbys == 0);
	sfx_require_preload(index);

	scan = RelationGetIndexScan(index, nkeys, norderbys);
	/* not zeroed: most of it are buffers */
	so = sfx_spare_get(SFX_SPARE_SCAN, sizeof(SfxScan), &fresh);
	sfx_keydesc_init(&so->kd, index);
	so->cxt = CurrentMemoryContext;
	so->longs = NULL;
	so->nkeys = nkeys;
	so->members = NULL;
	so->reader = NULL;
	so->gate = false;
	so->serializable = so->turned = false;
	so->dir = ForwardScanDirection;
	so->lock = (SfxKeyLock) {0};
	so->started = false;
	so->empty = false;
	so->heap_end = 0;
	so->single = NULL;
	so->on_entry = so->on_mark = so->swift = false;
	so->unread = so->form = so->rows = false;
	so->map = NULL;
	so->asked = 0;
	so->texts = NULL;
	so->rows_ahead.taken = 0;
	so->rows_ahead.stretch = &no_rows;
	so->mark = NULL;
	so->order = sfx_order_create(index, &so->kd, false);
	sfx_scankeys_init(&so->keys, index, &so->kd, so->order, nkeys);

	if (unlikely(IsolationIsSerializable()))
		sfx_predicate_begin(index);
	scan->xs_itupdesc = RelationGetDescr(index);
	scan->opaque = so;
	return scan;
}

/* Is there anything to ask of entries that lie in the ranges? */
static inline bool
has_filters(const SfxScan *so)
{
	return so->keys.nfilters > 0;
}

/* Before the keys are looked at: row comparisons that the plan took apart become one key each. */
static void
gather_row_comparisons(IndexScanDesc scan, SfxScan *so)
{
	bool		any = false;

	so->nkeys = scan->numberOfKeys;
	for (int i = 0; i < so->nkeys; i++)
		any |= sfx_is_row_member(scan->keyData[i].sk_func.fn_oid);
	if (likely(!any))
		return;
	if (so->members == NULL)
		so->members = MemoryContextAllocZero(so->cxt, so->nkeys * sizeof(ScanKeyData));
	so->nkeys = sfx_row_gather(scan->indexRelation, scan->keyData, so->nkeys, so->members, so->cxt);
}

/*
 * The range in hand is left.  If it was read straight on, and not to its end, what lies behind the
 * entry last returned was not read: nobody has been told of it (S3).
 */
static void
leave_range(IndexScanDesc scan, SfxScan *so)
{
	SfxEntry	last;
	bool		whole;

	if (likely(so->lock.serial == 0))
		return;
	whole = !so->on_entry || (so->turned && !SFX_MUTANT("read straight on"));
	if (!whole)
		sfx_reader_last(so->reader, &last);
	sfx_predicate_close(scan->indexRelation, so->order, &so->lock, whole ? NULL : &last,
						ScanDirectionIsBackward(so->dir));
}

void
sfx_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	if (keys && scan->numberOfKeys > 0)
	{
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
		gather_row_comparisons(scan, so);
	}
	leave_range(scan, so);
	forget_rows(scan, so);
	if (so->reader && so->started)
		sfx_reader_rewind(so->reader);
	so->started = false;
	so->heap_end = 0;
	so->on_entry = so->on_mark = so->swift = false;
	if (so->mark)
		so->mark->set = false;
}

void
sfx_endscan(IndexScanDesc scan)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	leave_range(scan, so);
	forget_rows(scan, so);
	if (so->reader)
		sfx_reader_end(so->reader);
	sfx_scankeys_end(&so->keys);
	if (so->mark)
	{
		pfree(so->mark->key);
		pfree(so->mark->wheels);
		pfree(so->mark);
	}
	if (so->map)
		sfx_visibility_end(so->map);
	if (so->texts)
		pfree(so->texts);
	sfx_order_end(so->order);
	if (so->members)
		pfree(so->members);
	if (so->longs)
		MemoryContextDelete(so->longs);
	if (so->single)
		pfree(so->single);
	sfx_spare_put(SFX_SPARE_SCAN, so);
	scan->opaque = NULL;
}

/* ------------------------------------------------------------------ moving */

/* Let the reader stand on the range that the odometer shows, the scan's first or a later one. */
static void
seek_range(IndexScanDesc scan, SfxScan *so, ScanDirection dir, bool first)
{
	SfxPos		lo;
	SfxPos		hi;

	sfx_scankeys_bounds(&so->keys, &lo, &hi);
	if (unlikely(so->serializable) && !SFX_MUTANT("lock behind the read"))
	{
		/* of a parallel scan's range others read the rest */
		bool		shrinks = !scan->parallel_scan && !so->keys.one_key;

		sfx_predicate_read(scan->indexRelation, so->order, scan->xs_snapshot, &lo, &hi,
						   shrinks ? &so->lock : NULL);
		so->dir = dir;
		so->turned = false;
	}
	if (first)
		sfx_reader_seek(so->reader, &lo, &hi);
	else
		sfx_reader_seek_on(so->reader, &lo, &hi);
	if (!so->keys.closed)
		sfx_reader_no_filters(so->reader);
}

/*
 * First fetch after a (re)start.  Only now is it known whether the executor wants index tuples.  A reader that may return
 * entries whose heap rows VACUUM is about to reuse has to hold the gate: where rows are taken from the
 * index alone, and where the snapshot does not tell new rows from old ones.
 */
static void
start_scan(IndexScanDesc scan, ScanDirection dir)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	bool		gate = scan->xs_want_itup || scan->xs_snapshot == NULL || !IsMVCCSnapshot(scan->xs_snapshot);

	pgstat_count_index_scan(scan->indexRelation);
	SfxCountIndexSearch(scan);
	so->started = true;
	so->on_entry = so->on_mark = false;
	so->portion = FIRST_PORTION;
	so->form = scan->xs_want_itup && !so->unread;
	if (so->unread)
		sfx_row_nulls(&so->row);
	so->empty = !sfx_scankeys_prepare(&so->keys, scan->keyData, so->nkeys);
	if (so->empty)
		return;

	if (so->reader && so->gate != gate)
	{
		sfx_reader_end(so->reader);
		so->reader = NULL;
	}
	if (so->reader == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(so->cxt);

		so->reader = sfx_reader_begin(scan->indexRelation, so->order, gate);
		so->gate = gate;
		MemoryContextSwitchTo(old);
	}
	sfx_reader_snapshot(so->reader, scan->xs_snapshot);
	sfx_reader_tids_only(so->reader, !so->form && !has_filters(so) && so->mark == NULL);
	sfx_scankeys_rewind(&so->keys, dir);
	so->serializable = sfx_predicate_wanted(scan->xs_snapshot);
	so->failed = 0;
	so->leaping = false;
	so->leapt_from = InvalidBlockNumber;
	so->range = 0;
	so->ahead = false;
	seek_range(scan, so, dir, true);
}

/*
 * If a leap of ours leads beyond where the next step begins, it begins there.  Where others have been meanwhile does not matter: what lies before the
 * leap's end cannot pass, whoever looks at it.
 */
static void
leap_ahead(SfxScan *so, ScanDirection dir, SfxShare *share)
{
	const SfxPos *to = &so->ahead_pos;
	int			c;

	if (!so->ahead || so->range != share->range || share->at_start)
		return;
	c = so->order ? so->order->cmp(so->order, to->key, to->len, share->key, share->len) :
		sfx_cmp_bytes(to->key, to->len, share->key, share->len);
	if (c == 0)
		c = (to->tid > share->tid) - (to->tid < share->tid);
	if (ScanDirectionIsForward(dir) ? c <= 0 : c >= 0)
		return;
	share->len = to->len;
	share->tid = to->tid;
	memcpy(share->key, to->key, to->len);
}

/* One step of a parallel scan, which is ours now: from where the share says; leaves there where the next one begins. */
static void
parallel_step(IndexScanDesc scan, SfxScan *so, ScanDirection dir, SfxShare *share)
{
	SfxPos		from;
	SfxPos		stop;
	bool		done = false;

	leap_ahead(so, dir, share);
	so->ahead = false;
	from = (SfxPos) {share->key, share->len, share->tid};
	for (; so->range < share->range; so->range++)
		(void) sfx_scankeys_advance(&so->keys, dir);
	seek_range(scan, so, dir, true);
	if (sfx_reader_step(so->reader, dir, share->at_start ? NULL : &from, &stop))
	{
		share->at_start = false;
		share->len = stop.len;
		share->tid = stop.tid;
		memcpy(share->key, stop.key, stop.len);
	}
	else if (sfx_scankeys_advance(&so->keys, dir))
	{
		share->range = ++so->range;
		share->at_start = true;
	}
	else
		done = true;
	sfx_parallel_publish(scan, done);
}

/* The next entry of the steps that fall to us. */
static bool
next_parallel_entry(IndexScanDesc scan, SfxScan *so, ScanDirection dir, SfxEntry *e)
{
	while (!sfx_reader_take(so->reader, e))
	{
		SfxShare   *share = sfx_parallel_seize(scan);

		CHECK_FOR_INTERRUPTS();
		if (share == NULL)
		{
			sfx_reader_release_gate(so->reader);
			return false;
		}
		parallel_step(scan, so, dir, share);
	}
	return true;
}

/* The next entry in that direction, over all ranges; filters not looked at. */
static inline bool
next_entry(IndexScanDesc scan, SfxScan *so, ScanDirection dir, SfxEntry *e)
{
	if (scan->parallel_scan)
		return next_parallel_entry(scan, so, dir, e);
	while (!sfx_reader_next(so->reader, dir, e))
	{
		CHECK_FOR_INTERRUPTS();
		if (!sfx_scankeys_advance(&so->keys, dir))
		{
			sfx_reader_release_gate(so->reader);
			return false;
		}
		so->on_entry = false;
		leave_range(scan, so);
		seek_range(scan, so, dir, false);
	}
	return true;
}

/* Where the values of a long key may be allocated: empty, and whole until the next call. */
static MemoryContext
long_context(SfxScan *so)
{
	if (so->longs == NULL)
		so->longs = AllocSetContextCreate(so->cxt, "surfidx long keys", ALLOCSET_DEFAULT_SIZES);
	else
		MemoryContextReset(so->longs);
	return so->longs;
}

static inline void
decode_for_filters(IndexScanDesc scan, SfxScan *so, const SfxEntry *e)
{
	sfx_key_decode(&so->kd, scan->indexRelation, e->key, e->keylen, so->keys.filter_upto,
				   so->row.values, so->row.isnull, so->row.key_arena->data);
}

/* Does the entry pass the filters? */
static bool
passes(IndexScanDesc scan, SfxScan *so, const SfxEntry *e)
{
	if (!has_filters(so))
		return true;
	if (unlikely(sfx_key_may_be_long(&so->kd, e->keylen)))
	{
		MemoryContext old = MemoryContextSwitchTo(long_context(so));

		decode_for_filters(scan, so, e);
		MemoryContextSwitchTo(old);
	}
	else
		decode_for_filters(scan, so, e);
	return sfx_scankeys_check(&so->keys, scan->keyData, so->row.values, so->row.isnull);
}

/*
 * An entry has failed the filters.  If many do, go to where the next one may pass.  Leaps that stay in one leaf save little: they wait for
 * as many failures again.
 */
static void
leap(IndexScanDesc scan, SfxScan *so, ScanDirection dir, const SfxEntry *e)
{
	SfxPos		pos;

	if (so->keys.leap_col < 0)
		return;
	if (scan->parallel_scan)
	{
		/*
		 * entries of the step in hand are looked at all the same; the next step may begin further
		 * on
		 */
		if (++so->failed >= LEAP_PATIENCE)
		{
			so->failed = 0;
			so->ahead = sfx_scankeys_leap(&so->keys, e->key, e->keylen, dir, &so->ahead_pos);
		}
		return;
	}
	if (so->leapt_from != InvalidBlockNumber)
	{
		so->leaping = sfx_reader_leaf(so->reader) != so->leapt_from;
		so->leapt_from = InvalidBlockNumber;
	}
	if (!so->leaping && ++so->failed < LEAP_PATIENCE)
		return;
	so->failed = 0;
	if (!sfx_scankeys_leap(&so->keys, e->key, e->keylen, dir, &pos))
	{
		so->leaping = false;
		return;
	}
	so->leapt_from = sfx_reader_leaf(so->reader);
	sfx_reader_reposition(so->reader, &pos, ScanDirectionIsForward(dir));
}

/* ------------------------------------------------------------------ fetching */

/* The next entry that passes the filters. */
static bool
next_passing(IndexScanDesc scan, SfxScan *so, ScanDirection dir, SfxEntry *e)
{
	while (next_entry(scan, so, dir, e))
	{
		if (passes(scan, so, e))
		{
			so->failed = 0;
			return true;
		}
		leap(scan, so, dir, e);
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

/* The row of an entry, for an index-only scan. */
static void
form_row(IndexScanDesc scan, SfxScan *so, const SfxEntry *e)
{
	MemoryContext old = CurrentMemoryContext;

	if (unlikely(!so->rows))
		sfx_row_init(&so->row, scan->indexRelation, &so->kd);
	so->rows = true;
	if (unlikely(sfx_key_may_be_long(&so->kd, e->keylen)))
		MemoryContextSwitchTo(long_context(so));
	scan->xs_itup = sfx_row_form(&so->row, scan->indexRelation, &so->kd, e);
	MemoryContextSwitchTo(old);
}

/* The row of entry i of a block, whose TID is set. */
static pg_noinline bool
get_row_slowly(IndexScanDesc scan, const SfxBlock *block, int i)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxEntry	e;

	if (SFX_TID_BLOCK(block->tid[i]) >= so->heap_end)
		so->heap_end = sfx_heap_end(scan->indexRelation, scan->heapRelation, block->tid[i]);
	if (!so->form)
		return true;
	sfx_block_entry(block, i, &e);
	form_row(scan, so, &e);
	return true;
}

/* The next entry, wherever it is. */
static pg_noinline bool
get_slowly(IndexScanDesc scan, ScanDirection dir)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxEntry	e;

	scan->xs_recheck = false;
	scan->xs_itup = NULL;
	if (!so->started)
		start_scan(scan, dir);
	so->on_mark = false;
	forget_rows(scan, so);
	so->turned |= dir != so->dir;
	so->on_entry = !so->empty && next_passing(scan, so, dir, &e);
	if (SFX_MUTANT("lock behind the read") && so->started && !so->empty)
	{
		SfxPos		lo;
		SfxPos		hi;

		sfx_scankeys_bounds(&so->keys, &lo, &hi);
		sfx_predicate_read(scan->indexRelation, so->order, scan->xs_snapshot, &lo, &hi, NULL);
	}
	so->swift = so->on_entry && !has_filters(so);
	if (!so->on_entry)
		return false;
	sfx_tid_pointer(scan->indexRelation, e.tid, &scan->xs_heaptid);
	if (SFX_TID_BLOCK(e.tid) >= so->heap_end)
		so->heap_end = sfx_heap_end(scan->indexRelation, scan->heapRelation, e.tid);
	if (so->form)
		form_row(scan, so, &e);
	else if (scan->xs_want_itup)
		scan->xs_itup = (IndexTuple) so->row.itup.data;
	return true;
}

/* The row last returned is dead: tell the reader, then go on. */
static pg_noinline bool
get_after_kill(IndexScanDesc scan, ScanDirection dir)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	if (so->on_entry)
		sfx_reader_kill(so->reader, scan->heapRelation);
	scan->kill_prior_tuple = false;
	return sfx_gettuple(scan, dir);
}

/* Most entries follow one another in a decoded block.  All else is left to calls in the last place, so that this function needs no frame. */
bool
sfx_gettuple(IndexScanDesc scan, ScanDirection dir)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	const SfxBlock *block;
	int			i;

	Assert(!ScanDirectionIsNoMovement(dir));
	if (unlikely(scan->kill_prior_tuple))
		return get_after_kill(scan, dir);
	if (!so->swift || !sfx_reader_stretch(so->reader, dir, &block, &i))
		return get_slowly(scan, dir);
	sfx_tid_pointer(scan->indexRelation, block->tid[i], &scan->xs_heaptid);
	if (unlikely(SFX_TID_BLOCK(block->tid[i]) >= so->heap_end) || (so->form && !sfx_row_quick(&so->row, block, i)))
		return get_row_slowly(scan, block, i);
	return true;
}

/* ------------------------------------------------------------------ rows by block */

void
sfx_scan_unread(IndexScanDesc scan)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	Assert(so->unread || !so->started);
	so->unread = true;
}

/* The map, pinned as soon as rows enough were returned without it.  NULL: not yet. */
static SfxVisibility *
pinned_map(IndexScanDesc scan, SfxScan *so)
{
	if (so->map == NULL && ++so->asked >= ROWS_BEFORE_MAP && IsMVCCSnapshot(scan->xs_snapshot))
	{
		MemoryContext old = MemoryContextSwitchTo(so->cxt);

		so->map = sfx_visibility_begin(scan->indexRelation, scan->heapRelation, scan->xs_snapshot);
		MemoryContextSwitchTo(old);
		SFX_STOP("map pinned");
	}
	return so->map;
}

/*
 * Which of the stretch's next entries are visible for certain, and what are their values?  Who has
 * read few rows of a range may want few: there are more each time.
 */
static pg_noinline void
prepare_rows(IndexScanDesc scan, SfxScan *so)
{
	SfxRowsAhead *rows = &so->rows_ahead;
	SfxStretch *s = sfx_reader_in_hand(so->reader);
	uint16		hidden[SFX_VISIBILITY_ENTRIES];
	int			from;
	int			n;

	if (pinned_map(scan, so) == NULL)
		return;
	n = Min(so->portion, s->step > 0 ? s->end - s->at : s->at - s->end);
	from = s->step > 0 ? s->at : s->at - n + 1;
	so->portion = Min(2 * so->portion, SFX_BLOCK_ENTRIES);
	if (rows->stretch != s)
		memset(rows->visible, false, sizeof(rows->visible));
	rows->stretch = s;
	so->prepared_from = from;
	so->prepared = n;
	memset(rows->visible + from, true, n);
	rows->unread = !so->form;
	rows->single = so->kd.natts == 1;
	if (so->form)
	{
		if (so->row.value == SFX_QUICK_TEXT && so->texts == NULL)
			so->texts = MemoryContextAlloc(so->cxt, SFX_ROW_TEXTS);
		rows->single = sfx_row_values_of_block(&so->row, s->block, from, n, rows->value,
											   so->texts);
	}
	n = sfx_visibility_hidden(so->map, s->block->tid + from, n, hidden);
	for (int i = 0; i < n; i++)
		rows->visible[from + hidden[i]] = SFX_MUTANT("hidden rows are ready");
}

/* The values of entry i of a block.  False: they take more memory than there is at hand. */
static bool
get_values(IndexScanDesc scan, SfxScan *so, const SfxBlock *block, int i, Datum *values,
		   bool *isnull)
{
	SfxEntry	e;

	if (!so->form)
	{
		memset(isnull, true, so->kd.natts);
		return true;
	}
	sfx_block_entry(block, i, &e);
	if (sfx_key_may_be_long(&so->kd, e.keylen))
		return false;
	sfx_row_values(&so->row, scan->indexRelation, &so->kd, &e, values, isnull);
	return true;
}

bool
sfx_scan_row_slowly(IndexScanDesc scan, ScanDirection dir, Datum *values, bool *isnull)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxRowsAhead *rows = &so->rows_ahead;
	const SfxBlock *block;
	int			i;

	/* what is not looked at in the table is locked by core */
	if (!so->swift || so->serializable || !sfx_reader_peek(so->reader, dir, &block, &i))
		return false;
	Assert(!scan->kill_prior_tuple && so->on_entry && !so->on_mark);
	if (rows->stretch == &no_rows || (unsigned) (i - so->prepared_from) >= (unsigned) so->prepared)
		prepare_rows(scan, so);
	if (rows->stretch == &no_rows || !rows->visible[i])
		return false;
	if (rows->single)
	{
		values[0] = rows->value[i];
		isnull[0] = rows->unread;
	}
	else if (!get_values(scan, so, block, i, values, isnull))
		return false;
	sfx_scan_take(scan, rows->stretch);
	return true;
}

int
sfx_scan_tids(IndexScanDesc scan, const uint64 **tid)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxEntry	e;
	int			n = 0;

	Assert(so->unread);
	if (so->swift && (n = sfx_reader_stretch_tids(so->reader, tid)) == 0)
		so->swift = false;
	if (n == 0)
	{
		if (!so->started)
			start_scan(scan, ForwardScanDirection);
		if (so->empty || !next_passing(scan, so, ForwardScanDirection, &e))
			return 0;
		so->swift = !has_filters(so) && scan->parallel_scan == NULL;
		so->tid = e.tid;
		*tid = &so->tid;
		n = 1;
	}
	pgstat_count_index_tuples(scan->indexRelation, n);
	return n;
}

/* Start; are all its entries those of one range, and may they come in any order? */
static bool
start_unordered(IndexScanDesc scan, SfxScan *so)
{
	Assert(!so->started);
	start_scan(scan, ForwardScanDirection);
	return !so->empty && !has_filters(so) && so->keys.nlists == 0 && !so->mark &&
		!so->serializable && !scan->parallel_scan;
}

bool
sfx_scan_count(IndexScanDesc scan, SfxVisibility *v)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	Assert(so->unread);
	if (!start_unordered(scan, so) || !sfx_reader_count(so->reader, v))
		return false;
	sfx_reader_release_gate(so->reader);
	return true;
}

bool
sfx_scan_feed(IndexScanDesc scan, SfxVisibility *v, const SfxTaker *taker)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	Assert(!so->unread);
	if (!start_unordered(scan, so) || !sfx_reader_feed(so->reader, v, taker))
		return false;
	sfx_reader_release_gate(so->reader);
	return true;
}

int
sfx_scan_entries(IndexScanDesc scan, const SfxBlock **block, int *from)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxEntry	e;
	int			n = 0;

	Assert(!so->unread && scan->parallel_scan == NULL);
	if (so->swift)
		n = sfx_reader_stretch_entries(so->reader, false, block, from);
	if (n == 0)
	{
		so->swift = false;
		if (!so->started)
			start_scan(scan, ForwardScanDirection);
		if (so->empty || !next_passing(scan, so, ForwardScanDirection, &e))
			return 0;
		so->swift = !has_filters(so);
		if (so->swift)
			n = sfx_reader_stretch_entries(so->reader, true, block, from);
	}
	if (n == 0)
	{
		if (so->single == NULL)
			so->single = MemoryContextAlloc(so->cxt, sizeof(SfxBlock));
		sfx_block_of_entry(so->single, &e);
		*block = so->single;
		*from = 0;
		n = 1;
	}
	pgstat_count_index_tuples(scan->indexRelation, n);
	return n;
}

int64
sfx_getbitmap(IndexScanDesc scan, TIDBitmap *tbm)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	ItemPointerData tids[BITMAP_BATCH];
	int			n = 0;
	int64		total = 0;
	const SfxBlock *block;
	SfxEntry	e;

	start_scan(scan, ForwardScanDirection);
	if (so->empty)
		return 0;
	while (next_passing(scan, so, ForwardScanDirection, &e))
	{
		int			i = -1;

		do
		{
			sfx_tid_pointer(scan->indexRelation, i < 0 ? e.tid : block->tid[i], &tids[n++]);
			if (n == BITMAP_BATCH)
			{
				tbm_add_tuples(tbm, tids, n, false);
				total += n;
				n = 0;
			}
		} while (!has_filters(so) && sfx_reader_stretch(so->reader, ForwardScanDirection, &block, &i));
		CHECK_FOR_INTERRUPTS();
	}
	if (n > 0)
		tbm_add_tuples(tbm, tids, n, false);
	return total + n;
}

/* ------------------------------------------------------------------ marks */

void
sfx_markpos(IndexScanDesc scan)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxMark    *mark = so->mark;
	SfxEntry	e;

	if (mark == NULL)
	{
		mark = so->mark = MemoryContextAlloc(so->cxt, sizeof(SfxMark));
		mark->key = MemoryContextAlloc(so->cxt, SFX_MAX_ENTRY);
		mark->wheels = MemoryContextAlloc(so->cxt, so->kd.nkeys * sizeof(int));
		/* who marks a place once will do so again, and that takes its key */
		if (so->reader)
			sfx_reader_tids_only(so->reader, false);
	}
	if (so->on_mark)
		return;					/* it stands there */
	mark->set = so->on_entry;
	if (!mark->set)
		return;
	sfx_reader_last(so->reader, &e);
	memcpy(mark->key, e.key, e.keylen);
	mark->len = e.keylen;
	mark->tid = e.tid;
	for (int i = 0; i < so->keys.nlists; i++)
		mark->wheels[i] = so->keys.lists[i].cur;
}

/*
 * The marked row becomes the one last returned: the next fetch returns its neighbour.  Without a mark the scan starts
 * over.
 */
void
sfx_restrpos(IndexScanDesc scan)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxMark    *mark = so->mark;
	SfxPos		pos;
	bool		moved = false;

	so->turned = true;
	forget_rows(scan, so);
	if (mark == NULL || !mark->set)
	{
		leave_range(scan, so);
		if (so->reader && so->started)
			sfx_reader_reset(so->reader);
		so->started = false;
		so->heap_end = 0;
		so->on_entry = so->on_mark = so->swift = false;
		return;
	}
	for (int i = 0; i < so->keys.nlists; i++)
	{
		moved |= so->keys.lists[i].cur != mark->wheels[i];
		so->keys.lists[i].cur = mark->wheels[i];
	}
	if (moved)
	{
		leave_range(scan, so);
		seek_range(scan, so, so->dir, true);
		so->turned = true;
	}
	pos.key = mark->key;
	pos.len = mark->len;
	pos.tid = mark->tid;
	sfx_reader_reposition(so->reader, &pos, false);
	so->on_entry = so->on_mark = true;
	so->swift = false;
}
