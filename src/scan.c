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

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/tupmacs.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "parallel.h"
#include "scankey.h"
#include "spare.h"

/* TIDs handed to a bitmap at once. */
#define BITMAP_BATCH	256

/* An index tuple's size has 13 bits. */
#define MAX_ITUP_SIZE	INDEX_SIZE_MASK

/* What index-only scans and filters decode entries into. */
typedef struct SfxDecoded
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	PGAlignedBlock key_arena[SFX_ARENA / BLCKSZ];
	PGAlignedBlock pay_arena[SFX_ARENA / BLCKSZ];	/* INCLUDE columns */
} SfxDecoded;

/* The tuple that index-only scans hand out, formed in place for every row. */
typedef struct SfxRow
{
	bool		laid_out;		/* the fields below are set for this index */
	bool		fixed;			/* all columns are fixed-width and by value */
	bool		direct;			/* try sfx_key_form: no INCLUDE columns, and it has worked so far */
	bool		ready;			/* header and padding of the fixed layout are in place */
	uint16		size;			/* of the fixed layout */
	uint16		offset[INDEX_MAX_KEYS];
	PGAlignedBlock itup;		/* an IndexTuple */
} SfxRow;

StaticAssertDecl(MAXALIGN(MAX_ITUP_SIZE) <= BLCKSZ, "an index tuple fits a block");

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
	SfxKeyDesc	kd;
	const SfxOrder *order;		/* of the key space; NULL: bytes */
	MemoryContext cxt;			/* lives as long as the scan */
	SfxReader  *reader;			/* NULL until first needed */
	bool		gate;			/* the reader's */
	bool		started;		/* the conditions are worked out and the reader stands on a range */
	bool		empty;			/* they contradict one another */
	bool		on_entry;		/* last is the entry last returned */
	int			range;			/* parallel: the range that the odometer shows */
	SfxEntry	last;			/* points into the reader, or into mark */
	SfxMark    *mark;
	SfxScanKeys keys;
	SfxDecoded	dec;
	SfxRow		row;
} SfxScan;

/* ------------------------------------------------------------------ begin, restart, end */

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
	so->reader = NULL;
	so->gate = false;
	so->started = false;
	so->empty = false;
	so->on_entry = false;
	so->row.laid_out = so->row.ready = false;
	so->mark = NULL;
	so->order = sfx_order_create(index, &so->kd, false);
	sfx_scankeys_init(&so->keys, index, &so->kd, so->order, nkeys);

	scan->xs_itupdesc = RelationGetDescr(index);
	scan->opaque = so;
	return scan;
}

void
sfx_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	if (keys && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (so->reader && so->started)
		sfx_reader_reset(so->reader);
	so->started = false;
	so->on_entry = false;
	if (so->mark)
		so->mark->set = false;
}

void
sfx_endscan(IndexScanDesc scan)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	if (so->reader)
		sfx_reader_end(so->reader);
	sfx_scankeys_end(&so->keys);
	if (so->mark)
	{
		pfree(so->mark->key);
		pfree(so->mark->wheels);
		pfree(so->mark);
	}
	if (so->order)
		sfx_order_end(so->order);
	sfx_spare_put(SFX_SPARE_SCAN, so);
	scan->opaque = NULL;
}

/* ------------------------------------------------------------------ moving */

/* Let the reader stand on the range that the odometer shows. */
static void
seek_range(SfxScan *so)
{
	SfxPos		lo;
	SfxPos		hi;

	sfx_scankeys_bounds(&so->keys, &lo, &hi);
	sfx_reader_seek(so->reader, &lo, &hi);
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
	so->on_entry = false;
	so->empty = !sfx_scankeys_prepare(&so->keys, scan->keyData, scan->numberOfKeys);
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
	sfx_scankeys_rewind(&so->keys, dir);
	so->range = 0;
	seek_range(so);
}

/* One step of a parallel scan, which is ours now: from where the share says; leaves there where the next one begins. */
static void
parallel_step(IndexScanDesc scan, SfxScan *so, ScanDirection dir, SfxShare *share)
{
	SfxPos		from = {share->key, share->len, share->tid};
	SfxPos		stop;
	bool		done = false;

	for (; so->range < share->range; so->range++)
		(void) sfx_scankeys_advance(&so->keys, dir);
	seek_range(so);
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
			return false;
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
			return false;
		seek_range(so);
	}
	return true;
}

static inline void
decode_key(IndexScanDesc scan, SfxScan *so, const SfxEntry *e)
{
	sfx_key_decode(&so->kd, scan->indexRelation, e->key, e->keylen, so->kd.nkeys,
				   so->dec.values, so->dec.isnull, so->dec.key_arena->data);
}

/* Does the entry pass the filters?  Decodes at least the first upto columns where there are any. */
static inline bool
passes(IndexScanDesc scan, SfxScan *so, const SfxEntry *e, int upto)
{
	upto = Max(upto, so->keys.filter_upto);
	if (upto == 0)
		return true;
	sfx_key_decode(&so->kd, scan->indexRelation, e->key, e->keylen, upto,
				   so->dec.values, so->dec.isnull, so->dec.key_arena->data);
	return so->keys.nfilters == 0 ||
		sfx_scankeys_check(&so->keys, scan->keyData, so->dec.values, so->dec.isnull);
}

/* ------------------------------------------------------------------ index-only scans */

/* Lay the tuple out once if all columns are fixed-width and by value. */
static void
lay_out(SfxRow *row, TupleDesc desc, int nkeys)
{
	Size		off = MAXALIGN(sizeof(IndexTupleData));

	row->fixed = true;
	for (int i = 0; i < desc->natts && row->fixed; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		row->fixed = att->attbyval && att->attlen > 0;
		off = att_align_nominal(off, att->attalign);
		row->offset[i] = off;
		off += att->attlen;
	}
	row->size = MAXALIGN(off);
	row->direct = !row->fixed && desc->natts == nkeys;
	row->ready = false;
	row->laid_out = true;
}

static inline bool
any_null(const SfxDecoded *dec, int natts)
{
	for (int i = 0; i < natts; i++)
		if (dec->isnull[i])
			return true;
	return false;
}

/* A row with NULLs or values of varying width. */
static void
form_varying(Relation index, SfxDecoded *dec, SfxRow *row, bool has_null)
{
	TupleDesc	desc = RelationGetDescr(index);
	unsigned short info = has_null ? INDEX_NULL_MASK : 0;
	Size		hoff = IndexInfoFindDataOffset(info);
	Size		len = heap_compute_data_size(desc, dec->values, dec->isnull);
	Size		size = MAXALIGN(hoff + len);
	char	   *base = row->itup.data;
	uint16		heapinfo = 0;

	if (size > MAX_ITUP_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row of %zu bytes from index \"%s\" exceeds the maximum of %d for an index-only scan",
						size, RelationGetRelationName(index), MAX_ITUP_SIZE),
				 errhint("Set enable_indexonlyscan to off for this query.")));
	memset(base, 0, size);
	heap_fill_tuple(desc, dec->values, dec->isnull, base + hoff, len,
					&heapinfo, has_null ? (uint8 *) (base + sizeof(IndexTupleData)) : NULL);
	if (heapinfo & HEAP_HASVARWIDTH)
		info |= INDEX_VAR_MASK;
	((IndexTuple) base)->t_info = info | size;
	row->ready = false;			/* the fixed layout's padding was overwritten */
}

/* Form the row straight from the key, without values in between.  False: it has to be decoded after all. */
static bool
form_direct(IndexScanDesc scan, SfxScan *so, const SfxEntry *e)
{
	IndexTuple	itup = (IndexTuple) so->row.itup.data;
	bool		varwidth;
	int			size = sfx_key_form(&so->kd, scan->indexRelation, e->key, e->keylen,
									so->row.itup.data + MAXALIGN(sizeof(IndexTupleData)), &varwidth);

	if (size < 0)
		return false;
	itup->t_info = MAXALIGN(MAXALIGN(sizeof(IndexTupleData)) + size) | (varwidth ? INDEX_VAR_MASK : 0);
	scan->xs_itup = itup;
	return true;
}

/*
 * Form the row in scan->xs_itup from values decoded so far (all key columns) and the payload.  No index_form_tuple: that
 * would allocate, and compress what is thrown away at once.
 */
static void
form_row(IndexScanDesc scan, SfxScan *so, const SfxEntry *e)
{
	Relation	index = scan->indexRelation;
	SfxDecoded *dec = &so->dec;
	SfxRow	   *row = &so->row;
	IndexTuple	itup = (IndexTuple) row->itup.data;
	TupleDesc	desc = scan->xs_itupdesc;
	bool		has_null;

	if (so->kd.natts > so->kd.nkeys)
		sfx_payload_decode(&so->kd, index, e->payload, e->paylen, dec->values, dec->isnull, dec->pay_arena->data);
	has_null = any_null(dec, so->kd.natts);
	if (!row->fixed || has_null)
		form_varying(index, dec, row, has_null);
	else
	{
		if (!row->ready)
		{
			memset(itup, 0, row->size);
			itup->t_info = row->size;
			row->ready = true;
		}
		for (int i = 0; i < so->kd.natts; i++)
			store_att_byval((char *) itup + row->offset[i], dec->values[i], TupleDescAttr(desc, i)->attlen);
	}
	scan->xs_itup = itup;	/* whose t_tid nobody reads: that is what xs_heaptid is for */
}

/* ------------------------------------------------------------------ fetching */

bool
sfx_gettuple(IndexScanDesc scan, ScanDirection dir)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	int			upto;

	Assert(!ScanDirectionIsNoMovement(dir));
	scan->xs_recheck = false;
	scan->xs_itup = NULL;
	if (!so->started)
		start_scan(scan, dir);
	if (so->empty)
		return false;
	if (scan->xs_want_itup && !so->row.laid_out)
		lay_out(&so->row, scan->xs_itupdesc, so->kd.nkeys);
	if (scan->kill_prior_tuple && so->on_entry)
		sfx_reader_kill(so->reader, scan->heapRelation);
	upto = scan->xs_want_itup && !so->row.direct ? so->kd.nkeys : 0;

	while (next_entry(scan, so, dir, &so->last))
	{
		if (!passes(scan, so, &so->last, upto))
		{
			CHECK_FOR_INTERRUPTS();
			continue;
		}
		sfx_tid_pointer(scan->indexRelation, so->last.tid, &scan->xs_heaptid);
		if (scan->xs_want_itup && !(so->row.direct && form_direct(scan, so, &so->last)))
		{
			if (so->row.direct)
				decode_key(scan, so, &so->last);
			form_row(scan, so, &so->last);
		}
		so->on_entry = true;
		return true;
	}
	so->on_entry = false;
	return false;
}

int64
sfx_getbitmap(IndexScanDesc scan, TIDBitmap *tbm)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	ItemPointerData tids[BITMAP_BATCH];
	int			n = 0;
	int64		total = 0;
	SfxEntry	e;

	start_scan(scan, ForwardScanDirection);
	if (so->empty)
		return 0;
	while (next_entry(scan, so, ForwardScanDirection, &e))
	{
		if (passes(scan, so, &e, 0))
			sfx_tid_pointer(scan->indexRelation, e.tid, &tids[n++]);
		if (n == BITMAP_BATCH)
		{
			tbm_add_tuples(tbm, tids, n, false);
			total += n;
			n = 0;
		}
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

	if (mark == NULL)
	{
		mark = so->mark = MemoryContextAlloc(so->cxt, sizeof(SfxMark));
		mark->key = MemoryContextAlloc(so->cxt, SFX_MAX_ENTRY);
		mark->wheels = MemoryContextAlloc(so->cxt, so->kd.nkeys * sizeof(int));
	}
	mark->set = so->on_entry;
	if (!mark->set)
		return;
	if (so->last.key != mark->key)
		memcpy(mark->key, so->last.key, so->last.keylen);
	mark->len = so->last.keylen;
	mark->tid = so->last.tid;
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

	if (mark == NULL || !mark->set)
	{
		if (so->reader && so->started)
			sfx_reader_reset(so->reader);
		so->started = false;
		so->on_entry = false;
		return;
	}
	for (int i = 0; i < so->keys.nlists; i++)
	{
		moved |= so->keys.lists[i].cur != mark->wheels[i];
		so->keys.lists[i].cur = mark->wheels[i];
	}
	if (moved)
		seek_range(so);
	pos.key = mark->key;
	pos.len = mark->len;
	pos.tid = mark->tid;
	sfx_reader_reposition(so->reader, &pos, false);
	so->last.key = mark->key;
	so->last.keylen = mark->len;
	so->last.tid = mark->tid;
	so->last.payload = NULL;
	so->last.paylen = 0;
	so->on_entry = true;
}
