/*-------------------------------------------------------------------------
 * scan_pass.c - rows that are passed over, because nobody wants them (OFFSET)
 *
 * By ranks where that is possible (reader_pass.c), and the rest in order: as many entries are read
 * as rows are still to be passed, without keys; then it is found out how many of them are visible,
 * by the map and with one visit to each page of the table for which it does not vouch; and so on
 * with as many as were not.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "scan_impl.h"

#include "miscadmin.h"

/* Fewer rows are read in order at once. */
#if defined(USE_ASSERT_CHECKING) || defined(SFX_TEST)
#define WORTH_RANKS		16		/* to have it tested */
#else
#define WORTH_RANKS		1024
#endif

typedef struct Pass
{
	IndexScanDesc scan;
	SfxScan    *so;
	SfxVisibility *v;			/* NULL: entries count */
	uint64		fetched;		/* rows looked at in the table */
} Pass;

/* The next entries in that direction, no more than `most`: their number, and TIDs. */
static int
next_tids(Pass *p, ScanDirection dir, uint64 most, const uint64 **tid)
{
	SfxScan    *so = p->so;
	SfxEntry	e;
	int			n = 0;

	if (so->swift)
		n = sfx_reader_stretch_some(so->reader, dir, (int) Min(most, SFX_BLOCK_ENTRIES), tid);
	if (n > 0)
		return n;
	so->swift = false;
	if (!sfx_scan_next(p->scan, so, dir, &e))
		return 0;
	so->swift = sfx_scan_goes_on(so);
	so->blocks.tid = e.tid;
	*tid = &so->blocks.tid;
	return 1;
}

/* Read n entries, or to the end, and add them to v.  Returns how many. */
static uint64
read_entries(Pass *p, ScanDirection dir, uint64 n)
{
	const uint64 *tid;
	uint64		done = 0;
	int			now;

	while (done < n && (now = next_tids(p, dir, n - done, &tid)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		SFX_STOP("entries in hand");
		if (p->v)
			sfx_visibility_add(p->v, tid, now);
		done += now;
	}
	pgstat_count_index_tuples(p->scan->indexRelation, done);
	return done;
}

/* Pass over n rows by reading their entries. */
static uint64
pass_in_order(Pass *p, ScanDirection dir, uint64 n)
{
	uint64		passed = 0;
	uint64		wanted;
	uint64		done;

	do
	{
		uint64		fetched = 0;

		wanted = n - passed;
		done = read_entries(p, dir, wanted);
		passed += p->v ? sfx_visibility_count(p->v, &fetched) : done;
		p->fetched += fetched;
	} while (passed < n && done == wanted);
	return passed;
}

/* May entries be counted in whatever order, and is that worth a look at all of the map? */
static bool
may_rank(const Pass *p, uint64 n)
{
	const SfxScan *so = p->so;
	uint64		look = p->v ? sfx_visibility_map_bytes(p->v) / MAP_BYTES_AN_ENTRY : 0;

	return n >= WORTH_RANKS + look && !sfx_scan_has_filters(so) && sfx_scankeys_single(&so->keys) &&
		!so->mark && !so->locks.wanted;
}

/* The next entry asked for follows the one last read; with again it is that one. */
static void
stand_there(SfxScan *so, bool again)
{
	SfxPosBuf  *at = palloc(sizeof(SfxPosBuf));
	SfxEntry	last;
	SfxPos		pos;

	sfx_reader_last(so->reader, &last);
	pos = sfx_entry_pos(&last);
	sfx_pos_set(at, &pos);
	sfx_reader_reposition(so->reader, &at->pos, again);
	pfree(at);
}

/*
 * The same from the end, by ranks: to the first row that is wanted, forward.  False: that is not
 * possible, and the scan is at its start.
 */
static bool
pass_backward(Pass *p, uint64 n, uint64 *passed)
{
	SfxScan    *so = p->so;
	uint64		left = n;
	bool		end;

	if (!sfx_reader_pass(so->reader, p->v, true, &left, passed, &end))
		return false;
	if (end)
		return true;
	left -= *passed;
	if (left > 0 && pass_in_order(p, ForwardScanDirection, left) < left)
	{
		/* there is no order (K4) */
		so->swift = false;
		sfx_scan_seek_range(p->scan, so, BackwardScanDirection, true);
		return false;
	}
	if (left > 0)
		stand_there(so, true);
	*passed = n;
	return true;
}

static uint64
pass_forward(Pass *p, uint64 n)
{
	uint64		passed = 0;
	bool		end = false;

	if (may_rank(p, n) &&
		sfx_reader_pass(p->so->reader, p->v, false, &n, &passed, &end) && end)
		return passed;
	if (passed == n)
		return n;
	passed += pass_in_order(p, ForwardScanDirection, n - passed);
	if (passed == n)
		stand_there(p->so, false);
	return passed;
}

static uint64
pass(Pass *p, ScanDirection dir, uint64 n)
{
	uint64		passed;

	if (ScanDirectionIsForward(dir))
		return pass_forward(p, n);
	if (may_rank(p, n) && pass_backward(p, n, &passed))
		return passed;
	passed = pass_in_order(p, dir, n);
	if (passed == n)
		stand_there(p->so, false);
	return passed;
}

uint64
sfx_scan_pass(IndexScanDesc scan, ScanDirection dir, uint64 n, SfxVisibility *v, uint64 *fetched)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	Pass		p = {scan, so, v, 0};
	uint64		passed;

	Assert(!so->started && !scan->parallel_scan && n > 0);
	*fetched = 0;
	sfx_scan_start(scan, dir);
	if (so->empty)
		return 0;
	/* what comes is not looked at as it is read, so VACUUM must wait (Y2) */
	sfx_reader_hold_gate(so->reader, !SFX_MUTANT("rows without a gate"));
	sfx_reader_candidates(so->reader, false, false);
	sfx_reader_tids_only(so->reader, !sfx_scan_has_filters(so) && so->mark == NULL);
	sfx_reader_dead(so->reader, NULL, false);
	/* a seek chooses by these; with locks (S1) they were so before */
	if (!so->locks.wanted)
		sfx_scan_seek_range(scan, so, dir, true);
	passed = pass(&p, dir, n);
	so->swift = false;
	sfx_reader_hold_gate(so->reader, so->gate);
	sfx_scan_tell_reader(scan, so);
	*fetched = p.fetched;
	return passed;
}
