/*-------------------------------------------------------------------------
 * scan.c - what every kind of index scan begins with, and its way from range to range
 *
 * A scan is a walk over the byte ranges that scankey.c makes of its conditions, each read through
 * one SfxReader.
 *
 * Position: the present range (the odometer of scankey.c) and, inside it, the reader's own position
 * by key.  Moving past either end of a range goes on with the neighbouring range; at the last one
 * the odometer stays, so that a cursor that turns round finds the last row again.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "counters.h"
#include "page.h"
#include "rowlift.h"
#include "scan_impl.h"
#include "scratch.h"
#include "settings.h"
#include "whole.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/*
 * Entries in a row that fail the filters before a leap is tried: it costs as much as looking at
 * some tens of them.  After a leap that stays in its leaf, twice as many have to fail, up to ...
 */
#define LEAP_PATIENCE	24
#define LEAP_MOST		(1 << 14)

/* So many rows of a range are made ready first, if there are so many in the stretch. */
#define FIRST_PORTION	32

/* ------------------------------------------------------------------ begin, restart, end */

SfxStretch	sfx_no_rows = {.step = ForwardScanDirection};

IndexScanDesc
sfx_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan;
	SfxScan    *so;

	Assert(norderbys == 0);
	sfx_require_preload(index);

	scan = RelationGetIndexScan(index, nkeys, norderbys);
	/* not zeroed: most of it are buffers */
	so = sfx_spare_get(SFX_SPARE_SCAN, sizeof(SfxScan));
	sfx_keydesc_init(&so->kd, index);
	so->cxt = CurrentMemoryContext;
	so->longs = NULL;
	so->nkeys = nkeys;
	so->members = NULL;
	so->reader = NULL;
	so->gate = false;
	so->locks.wanted = so->locks.turned = false;
	so->locks.dir = ForwardScanDirection;
	so->locks.lock = (SfxKeyLock) {0};
	so->started = false;
	so->empty = false;
	so->heap_end = 0;
	so->max_offset = 0;
	so->blocks.single = so->blocks.merged = NULL;
	so->blocks.known = NULL;
	so->blocks.payloads = NULL;
	so->on_entry = so->on_mark = so->swift = false;
	so->rows.unread = so->rows.form = so->rows.set_up = false;
	sfx_row_begin(&so->row);
	so->rows.map = NULL;
	so->rows.asked = so->rows.expected = 0;
	so->rows.values = NULL;
	so->rows_ahead.taken = 0;
	so->rows_ahead.stretch = &sfx_no_rows;
	so->mark = NULL;
	so->ahead.nth = 0;
	so->ahead.look_at = 0;
	so->ahead.pages.heap = NULL;
	so->ahead.looks_soon = false;
	so->ahead.scouts = false;
	so->ahead.scout = NULL;
	so->ahead.patience = 0;
	so->portion = NULL;
	so->order = sfx_order_create(index, &so->kd, false);
	sfx_scankeys_init(&so->keys, index, &so->kd, so->order, nkeys);

	if (unlikely(IsolationIsSerializable()))
		sfx_predicate_begin(index);
	scan->xs_itupdesc = RelationGetDescr(index);
	scan->opaque = so;
	return scan;
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
 * The range in hand is left.  If it was read straight on, and not to its end, what lies after the
 * entry last returned was not read: the transaction does not depend on it (S3).
 */
void
sfx_scan_leave_range(IndexScanDesc scan, SfxScan *so)
{
	SfxEntry	last;
	bool		whole;

	if (likely(so->locks.lock.serial == 0))
		return;
	whole = !so->on_entry || (so->locks.turned && !SFX_MUTANT("read straight on"));
	if (!whole)
		sfx_reader_last(so->reader, &last);
	sfx_predicate_close(scan->indexRelation, so->order, &so->locks.lock, whole ? NULL : &last,
						ScanDirectionIsBackward(so->locks.dir));
}

void
sfx_scout_rest(SfxScout *s)
{
	SfxScan    *scout = (SfxScan *) s->scan->opaque;

	if (scout->reader && scout->started && !scout->empty)
		sfx_reader_rewind(scout->reader);
	scout->swift = false;
	s->lost = true;
}

/*
 * What was asked for is not needed any more, and the distance is zero again: a scan that is
 * restarted may want one row.
 */
static void
restart_scout(SfxScan *so)
{
	sfx_scan_count_stretch(so);
	sfx_ahead_forget(&so->ahead.pages, so->ahead.nth);
	sfx_scout_rest(so->ahead.scout);
	so->ahead.scout->stale = true;
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
	sfx_scan_leave_range(scan, so);
	sfx_scan_forget_rows(scan, so);
	if (unlikely(so->ahead.scout != NULL))
		restart_scout(so);
	if (so->reader && so->started)
		sfx_reader_rewind(so->reader);
	so->started = so->blocks.looked = false;
	so->blocks.handed = 0;
	so->heap_end = 0;
	/* a bitmap has no room for more, whatever its table is */
	so->max_offset = scan->heapRelation ? sfx_max_offset(scan->heapRelation) : SFX_MAX_HEAP_OFFSET;
	so->on_entry = so->on_mark = so->swift = false;
	if (so->mark)
		so->mark->set = false;
}

/* The scout of a scan ends, and what it has done is counted. */
static void
end_scout(IndexScanDesc scan, SfxScan *so)
{
	SfxScout   *s = so->ahead.scout;

	sfx_scan_count_stretch(so);
	sfx_ahead_forget(&so->ahead.pages, so->ahead.nth);
	sfx_count_ahead(&SfxRelLocator(scan->indexRelation), &so->ahead.pages);
	if (BufferIsValid(s->map))
		ReleaseBuffer(s->map);
	sfx_endscan(s->scan);
	IndexScanEnd(s->scan);
	pfree(s);
	so->ahead.scout = NULL;
}

void
sfx_endscan(IndexScanDesc scan)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	if (so->ahead.scout)
		end_scout(scan, so);
	sfx_scan_leave_range(scan, so);
	sfx_scan_forget_rows(scan, so);
	if (so->reader)
		sfx_reader_end(so->reader);
	sfx_scankeys_end(&so->keys);
	if (so->mark)
	{
		pfree(so->mark->key);
		pfree(so->mark->wheels);
		pfree(so->mark);
	}
	if (so->rows.map)
		sfx_visibility_end(so->rows.map);
	if (so->rows.values)
		sfx_rows_of_block_end(so->rows.values);
	sfx_row_end(&so->row);
	sfx_order_end(so->order);
	if (so->members)
		pfree(so->members);
	if (so->longs)
		MemoryContextDelete(so->longs);
	if (so->portion)
		pfree(so->portion);
	if (so->blocks.single)
		pfree(so->blocks.single);
	if (so->blocks.merged)
	{
		pfree(so->blocks.merged);
		pfree(so->blocks.known);
	}
	sfx_spare_put(so);
	scan->opaque = NULL;
}

/* ------------------------------------------------------------------ moving */

/* Let the reader stand on the range that the odometer shows, the scan's first or a later one. */
void
sfx_scan_seek_range(IndexScanDesc scan, SfxScan *so, ScanDirection dir, bool first)
{
	SfxPos		lo;
	SfxPos		hi;

	sfx_scankeys_bounds(&so->keys, &lo, &hi);
	if (unlikely(so->locks.wanted) && !SFX_MUTANT("lock behind the read"))
	{
		/* of a parallel scan's range others read the rest */
		bool		shrinks = !scan->parallel_scan && !so->portion && !so->keys.one_key;

		sfx_predicate_read(scan->indexRelation, so->order, scan->xs_snapshot, &lo, &hi,
						   shrinks ? &so->locks.lock : NULL);
		so->locks.dir = dir;
		so->locks.turned = false;
	}
	if (so->portion)
		sfx_portion_cut(so, &lo, &hi);
	if (first)
		sfx_reader_seek(so->reader, &lo, &hi);
	else
		sfx_reader_seek_on(so->reader, &lo, &hi);
	if (!so->keys.closed)
		sfx_reader_no_filters(so->reader);
}

/* Are there several ranges, and a row may be taken for one of another range? */
static bool
has_ranges(IndexScanDesc scan, const SfxScan *so)
{
	if (sfx_scankeys_in_pieces(&so->keys))
		return true;
	for (int i = 0; i < scan->numberOfKeys; i++)
		if (scan->keyData[i].sk_flags & SK_SEARCHARRAY)
			return true;
	return false;
}

/*
 * W7: callers that ignore keys, and need none for their locks, may get the stored keys of leaves
 * with cut keys.  Callers that look at the row anyway may also get entries that lie outside of the
 * range, for the row tells.
 */
static void
take_candidates(IndexScanDesc scan, SfxScan *so)
{
	bool		will_do = !so->rows.form && !sfx_scan_has_filters(so) && so->mark == NULL &&
	!so->locks.wanted &&
	(so->ahead.scouts || (scan->xs_snapshot && IsMVCCSnapshot(scan->xs_snapshot)));

	sfx_reader_candidates(so->reader, will_do, so->ahead.scouts ||
						  (!scan->xs_want_itup && SfxScanRechecks(scan) && !has_ranges(scan, so)));
}

/* Is this CLUSTER, which writes what we give it in place of the table? */
static inline bool
copies_table(IndexScanDesc scan)
{
	return scan->xs_snapshot && scan->xs_snapshot->snapshot_type == SNAPSHOT_ANY &&
		scan->numberOfKeys == 0 && scan->parallel_scan == NULL;
}

/* May what the reader finds dead to all snapshots be removed, or even be left out (X8)? */
static void
tell_of_dead(IndexScanDesc scan, SfxScan *so)
{
	bool		ignores = scan->ignore_killed_tuples && !SfxSnapshotsExpire() &&
	!copies_table(scan);
	bool		removes = ignores && !so->ahead.scouts;
	bool		passes = removes && scan->heapRelation && scan->parallel_scan == NULL &&
	so->order == NULL && !so->locks.wanted && !so->gate;

	sfx_reader_dead(so->reader, removes ? scan->heapRelation : NULL, passes);
	sfx_reader_skip_dead(so->reader,
						 ignores && scan->parallel_scan == NULL && !so->locks.wanted &&
						 scan->xs_snapshot != SnapshotAny);
}

void
sfx_scan_tell_reader(IndexScanDesc scan, SfxScan *so)
{
	sfx_reader_tids_only(so->reader,
						 !so->rows.form && !sfx_scan_has_filters(so) && so->mark == NULL);
	take_candidates(scan, so);
	tell_of_dead(scan, so);
}

/*
 * The first rows after a (re)start are no reason to look ahead: lookups and LIMIT 1 pay nothing.
 * Those of an index-only scan come in portions, so it looks after the first one.
 */
static void
look_later(IndexScanDesc scan, SfxScan *so)
{
	ScanAhead  *ahead = &so->ahead;

	ahead->looks_soon = !scan->xs_want_itup && ahead->look_at < ahead->nth + SFX_FIRST_LOOK;
	ahead->look_at = Max(ahead->look_at,
						 ahead->nth + (scan->xs_want_itup ? FIRST_PORTION + 1 : SFX_FIRST_LOOK));
}

/*
 * First fetch after a (re)start.  Only now is it known whether the executor wants index tuples.  A
 * reader that may return entries whose heap rows VACUUM is about to reuse has to hold the gate:
 * where rows are taken from the index alone, and where the snapshot does not tell new rows from old
 * ones.
 */
void
sfx_scan_start(IndexScanDesc scan, ScanDirection dir)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	bool		gate = !so->ahead.scouts &&
	((scan->xs_want_itup && !SFX_MUTANT("rows without a gate")) ||
	 scan->xs_snapshot == NULL || !IsMVCCSnapshot(scan->xs_snapshot));

	if (!so->ahead.scouts)
	{
		if (so->portion == NULL || so->portion->first)
		{
			pgstat_count_index_scan(scan->indexRelation);
			SfxCountIndexSearch(scan);
		}
		look_later(scan, so);
	}
	so->started = true;
	so->on_entry = so->on_mark = false;
	so->rows.portion = FIRST_PORTION;
	if (so->rows.expected > 0)
		so->rows.portion = Min(so->rows.expected, SFX_BLOCK_ENTRIES);
	so->rows.form = scan->xs_want_itup && !so->rows.unread;
	if (so->rows.unread)
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
	if (so->order && copies_table(scan))
		sfx_prove_order(scan->indexRelation, so->order);
	sfx_reader_snapshot(so->reader, scan->xs_snapshot);
	sfx_reader_expect(so->reader, so->rows.expected);
	sfx_scankeys_rewind(&so->keys, dir);
	so->locks.wanted = sfx_predicate_wanted(scan->xs_snapshot);
	sfx_scan_tell_reader(scan, so);
	so->leap.failed = 0;
	so->leap.wait = LEAP_PATIENCE;
	so->leap.far = false;
	so->leap.from = InvalidBlockNumber;
	so->share.range = 0;
	so->share.ahead = false;
	sfx_scan_seek_range(scan, so, dir, true);
}

/*
 * If a leap of this participant leads beyond where the next step begins, the step begins there.
 * Where other participants have been meanwhile does not matter: what lies before the leap's end
 * cannot pass the filters.
 */
static void
leap_ahead(SfxScan *so, ScanDirection dir, SfxShare *share)
{
	const SfxPos *to = &so->share.pos;
	int			c;

	if (!so->share.ahead || so->share.range != share->range || share->at_start)
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

/*
 * One step of a parallel scan, which is ours now: from where the share says; leaves there where the
 * next one begins.
 */
static void
parallel_step(IndexScanDesc scan, SfxScan *so, ScanDirection dir, SfxShare *share)
{
	SfxPos		from;
	SfxPos		stop;
	bool		done = false;

	leap_ahead(so, dir, share);
	so->share.ahead = false;
	from = (SfxPos) {share->key, share->len, share->tid};
	if (so->ahead.scout)
		so->ahead.scout->lost = true;
	for (; so->share.range < share->range; so->share.range++)
		(void) sfx_scankeys_advance(&so->keys, dir);
	sfx_scan_seek_range(scan, so, dir, true);
	if (sfx_reader_step(so->reader, dir, share->at_start ? NULL : &from, &stop))
	{
		share->at_start = false;
		share->len = stop.len;
		share->tid = stop.tid;
		memcpy(share->key, stop.key, stop.len);
	}
	else if (sfx_scankeys_advance(&so->keys, dir))
	{
		share->range = ++so->share.range;
		share->at_start = true;
	}
	else
		done = true;
	sfx_parallel_publish(sfx_parallel_of(scan->parallel_scan), done);
}

/* The next entry of the steps that fall to us. */
static bool
next_parallel_entry(IndexScanDesc scan, SfxScan *so, ScanDirection dir, SfxEntry *e)
{
	while (!sfx_reader_take(so->reader, e))
	{
		SfxShare   *share = sfx_parallel_seize(sfx_parallel_of(scan->parallel_scan));

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
		sfx_scan_leave_range(scan, so);
		sfx_scan_seek_range(scan, so, dir, false);
		if (--so->ahead.patience == 0)
			return false;
	}
	return true;
}

MemoryContext
sfx_scan_long_context(SfxScan *so)
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
				   so->row.values, so->row.isnull, sfx_row_room(&so->row)->key_arena->data);
}

/* Does the entry pass the filters? */
static bool
passes(IndexScanDesc scan, SfxScan *so, const SfxEntry *e)
{
	if (!sfx_scan_has_filters(so))
		return true;
	if (!sfx_scankeys_pass(&so->keys, e->key, e->keylen))
		return false;
	if (so->keys.inexact == 0)
		return true;
	if (unlikely(sfx_key_may_be_long(&so->kd, e->keylen)))
	{
		MemoryContext old = MemoryContextSwitchTo(sfx_scan_long_context(so));

		decode_for_filters(scan, so, e);
		MemoryContextSwitchTo(old);
	}
	else
		decode_for_filters(scan, so, e);
	return sfx_scankeys_check(&so->keys, scan->keyData, so->row.values, so->row.isnull);
}

/*
 * How many entries of the stretch in hand, from its start, pass the filters, or fail, one after the
 * other, as far as the bytes of keys tell?
 */
static int
count_alike(const SfxScan *so, bool pass)
{
	const SfxStretch *s = sfx_reader_in_hand(so->reader);
	const SfxBlock *block = s->block;
	int			i = s->at;
	int			last = -1;		/* the key that was looked at last */

	Assert(i == s->end || !block->keyless);
	for (; i != s->end; i += s->step)
	{
		int			k = sfx_block_keyno(block, i);

		if (k != last && sfx_scankeys_pass(&so->keys, block->keys + block->keyoff[k],
										   block->keyoff[k + 1] - block->keyoff[k]) != pass)
			break;
		last = k;
	}
	return abs(i - s->at);
}

bool
sfx_scan_goes_on(SfxScan *so)
{
	if (!sfx_scan_has_filters(so))
		return true;
	if (so->keys.inexact > 0)
		return false;
	sfx_reader_shorten(so->reader, count_alike(so, true));
	return true;
}

/*
 * Pass over the entries of the stretch in hand that fail, as far as the bytes of keys tell, and let
 * *e be the last one.  True: the stretch has another one.
 */
static bool
pass_failing(SfxScan *so, SfxEntry *e)
{
	SfxStretch *s = sfx_reader_in_hand(so->reader);
	int			n = count_alike(so, false);

	so->leap.failed += n;
	so->ahead.patience -= so->ahead.patience > 0 ? Min(n, so->ahead.patience - 1) : 0;
	s->at += n * s->step;
	if (n > 0)
		sfx_block_entry(s->block, s->at - s->step, e);
	return s->at != s->end;
}

/* The next entry of the stretch in hand, which ended before one that fails. */
static bool
next_in_stretch(SfxScan *so, ScanDirection dir, SfxEntry *e)
{
	const SfxBlock *block;
	int			i;

	sfx_reader_lengthen(so->reader);
	if (!so->leap.far && sfx_reader_in_hand(so->reader)->step == (int) dir)
		(void) pass_failing(so, e);
	if (!sfx_reader_stretch(so->reader, dir, &block, &i))
		return false;
	sfx_block_entry(block, i, e);
	return true;
}

/* A leap is over: has it led to another leaf? */
static void
judge_leap(SfxScan *so)
{
	if (so->leap.from == InvalidBlockNumber)
		return;
	so->leap.far = sfx_reader_leaf(so->reader) != so->leap.from;
	so->leap.wait = so->leap.far ? LEAP_PATIENCE : Min(2 * so->leap.wait, LEAP_MOST);
	so->leap.from = InvalidBlockNumber;
}

/*
 * An entry has failed the filters.  If many do, go to where the next one may pass.  Leaps that stay
 * in one leaf save little: more have to fail before the next.  A participant of a parallel scan
 * looks at the entries of its step all the same; its next step may begin further on.
 */
static void
leap(IndexScanDesc scan, SfxScan *so, ScanDirection dir, SfxEntry *e)
{
	SfxPos		pos;
	bool		found;

	so->leap.failed++;
	if (!so->leap.far && (pass_failing(so, e) || so->leap.failed < so->leap.wait))
		return;
	so->leap.failed = 0;
	so->leap.far = false;
	found = so->keys.leap_col >= 0 &&
		sfx_scankeys_leap(&so->keys, e->key, e->keylen, dir, &pos);
	so->share.ahead = found;
	if (found && scan->parallel_scan)
		so->share.pos = pos;
	else if (found)
	{
		so->leap.from = sfx_reader_leaf(so->reader);
		sfx_reader_reposition(so->reader, &pos, ScanDirectionIsForward(dir));
	}
}

/* ------------------------------------------------------------------ fetching */

/* The next entry that passes the filters. */
bool
sfx_scan_next(IndexScanDesc scan, SfxScan *so, ScanDirection dir, SfxEntry *e)
{
	bool		filters = sfx_scan_has_filters(so);

	while ((filters && next_in_stretch(so, dir, e)) || next_entry(scan, so, dir, e))
	{
		judge_leap(so);
		if (passes(scan, so, e))
		{
			so->leap.failed = 0;
			return true;
		}
		leap(scan, so, dir, e);
		CHECK_FOR_INTERRUPTS();
		if (--so->ahead.patience == 0)
			return false;
	}
	return false;
}
