/*-------------------------------------------------------------------------
 * reader.h - all stages as one ordered stream
 *
 * The only way in which anything reads the index by key: scans, unique checks, counts, row
 * estimates.  Rules R1 to R13 (src/README.md, "read").
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_READER_H
#define SURFIDX_READER_H

#include "leaf.h"
#include "log_watch.h"

typedef struct SfxReader SfxReader;

/*
 * A reader begins with this: entries of a decoded block that it would return next without a look at
 * anything else.
 */
typedef struct SfxStretch
{
	const SfxBlock *block;
	int			at;				/* the next one's number in block */
	int			end;			/* at: none */
	int			whole;			/* where it ended, before it was shortened */
	int			step;			/* the direction: 1 or -1 */
} SfxStretch;

/*
 * gate: pin the current gate page while entries are in hand (index-only and non-MVCC scans).
 * Memory: current context.
 */
extern SfxReader *sfx_reader_begin(Relation index, const SfxOrder *order, bool gate);

/* Has this backend so many readers that each should give back what it does not need? */
extern bool sfx_readers_are_many(void);

/*
 * The snapshot of the caller: ERROR at a step where it has expired.  NULL, as at first: no error.
 */
extern void sfx_reader_snapshot(SfxReader *r, Snapshot snapshot);

/*
 * From the next step on the caller needs no keys or payloads (true) or does again: those of leaves
 * are not decoded where a step has nothing to merge with a leaf's entries, which show an empty key
 * then.  sfx_reader_last has the key of the entry last returned all the same (no payload).
 */
extern void sfx_reader_tids_only(SfxReader *r, bool tids_only);

/*
 * From the next seek on, heap: the index's open table, if entries that the reader itself finds dead
 * to all snapshots are to be removed (X3); else NULL.  pass: the caller wants no rows that are dead
 * to all snapshots, and asks the table about all others; what of the main tree this backend knows
 * to be dead is left out, and what is found dead is noted (X8).
 */
extern void sfx_reader_dead(SfxReader *r, Relation heap, bool pass);

/*
 * From the next seek on the caller wants no rows that are dead to all snapshots: entries that this
 * backend has found to be of such may be left out, here and there (X8).
 */
extern void sfx_reader_skip_dead(SfxReader *r, bool skip);

/*
 * So many entries of a range are likely to be asked for, 0: unknown.  A hint (N4), from the next
 * seek on: what a step decodes at once goes by it.
 */
extern void sfx_reader_expect(SfxReader *r, int entries);

/*
 * From the next seek on, for callers that need no keys (sfx_reader_tids_only): leaves with cut keys
 * may give entries in order with stored keys (true).  rechecks: the caller has an MVCC snapshot and
 * one range, and looks at the rows of the entries that sfx_reader_recheck() names, which may lie
 * outside of it (W7).
 */
extern void sfx_reader_candidates(SfxReader *r, bool candidates, bool rechecks);

/* May the entry last returned, and those of its stretch, lie outside of the range? */
extern bool sfx_reader_recheck(const SfxReader *r);

/*
 * The whole table was all-visible at a moment after R1 of the step in hand.  From now on entries
 * may come in blocks without TIDs (SfxBlock.tidless), whose rows are visible (Y8).  For callers
 * that go forward through whole stretches, and do not come back.
 */
extern void sfx_reader_vouch(SfxReader *r);

/*
 * From the next range on, forward, much of the delta may be read at once, and its rows be looked at
 * by v, which has to last until the reader is rewound (R10).  The gate is needed.
 */
struct SfxVisibility;
extern void sfx_reader_look_ahead(SfxReader *r, struct SfxVisibility *v);

/*
 * Position on the range [lo, hi) (hi->key NULL: to the end; lo->len 0: from the start).  Entries
 * ascend if ForwardScanDirection is asked for first, and descend with BackwardScanDirection.
 * Cheap: nothing is read yet, nor copied: the bounds' bytes have to stay until the next seek or
 * reset.  The range was locked before, if the snapshot is a serializable transaction's (S1).
 */
extern void sfx_reader_seek(SfxReader *r, const SfxPos *lo, const SfxPos *hi);

/*
 * The same for one more range of a scan, for the same snapshot: it may be read from the leaf that
 * was read last, where nothing has come into the tree since.
 */
extern void sfx_reader_seek_on(SfxReader *r, const SfxPos *lo, const SfxPos *hi);

/*
 * Of the range last sought, from which something was asked: whatever stands before this place of
 * the log was seen, or was gone by then.
 */
extern SfxLogPlace sfx_reader_log_place(const SfxReader *r);

/* The range just sought is next to never empty: do not ask filters for it. */
extern void sfx_reader_no_filters(SfxReader *r);

/*
 * The first entry of [lo, hi), for callers that want no other: less is decoded.  The reader stands
 * nowhere afterwards.  *e as from sfx_reader_next.
 */
extern bool sfx_reader_first(SfxReader *r, const SfxPos *lo, const SfxPos *hi, SfxEntry *e);

/*
 * Count the visible rows of the range just sought into v (R9), after sfx_reader_tids_only; the
 * reader is at the range's end then.  False: that is not possible, nothing is counted, and the
 * range has to be read.  Not for serializable transactions.
 */
extern bool sfx_reader_count(SfxReader *r, struct SfxVisibility *v);

/*
 * Takes the entries of a range, in no order.  visible: all of their rows are visible (Y8).  If not,
 * the taker finds out which are before it returns, while the gate is held (Y2).
 */
typedef struct SfxTaker
{
	/*
	 * Entries e of a leaf's block with lo <= e < hi (NULL: no bound), as they are coded: how many
	 * were taken, SFX_NOT_CODED, or SFX_CORRUPT.
	 */
	int			(*coded) (void *arg, const SfxLeaf *leaf, int b, const SfxPos *lo,
						  const SfxPos *hi, bool visible);
	/* all entries of a decoded block, which is not empty */
	void		(*decoded) (void *arg, const SfxBlock *block, bool visible);
	void	   *arg;
} SfxTaker;

#define SFX_NOT_CODED	(-1000)

/*
 * The same with keys: hand the range's entries to the taker, with v's map.  False: that is not
 * possible, and the taker has to forget what it was given.
 */
extern bool sfx_reader_feed(SfxReader *r, struct SfxVisibility *v, const SfxTaker *taker);

/*
 * Pass over most of the first n entries of the range just sought, *passed, without reading them;
 * the reader stands before the next one then.  v: only if all of these are of visible rows; the
 * reader holds a gate.  NULL: they need not be.  from_end: the place is n entries from the range's
 * end, and *n becomes the number of entries before it.  *end: the range has no entry but those that
 * were passed.  False: that is not possible, and the range is to be read from its start.
 */
extern bool sfx_reader_pass(SfxReader *r, struct SfxVisibility *v, bool from_end, uint64 *n,
							uint64 *passed, bool *end);

/* Hold a gate from the next step on, or let it go.  No step is in hand. */
extern void sfx_reader_hold_gate(SfxReader *r, bool gate);

/*
 * For callers that read in order, without TIDs, a stretch at a time: was every entry of the step
 * handed out, and does the range go on?  The stretch is closed.
 */
extern bool sfx_reader_at_leaf_end(SfxReader *r);

/*
 * After sfx_reader_at_leaf_end has said so: *n, the number of entries, all of visible rows, from
 * the step's stop to end, or to the range's end if that comes first (Y19).  False: they have to be
 * read, and *n is not set.  The reader stays where it is.
 */
extern bool sfx_reader_count_on(SfxReader *r, const SfxPos *end, uint64 *n);

/*
 * The same within a leaf, after a block was handed out: the reader passes over the next blocks that
 * lie before end as a whole, and returns how many entries they have.
 */
extern int	sfx_reader_count_blocks(SfxReader *r, const SfxPos *end);

/*
 * May the range just sought hold an entry?  False is certain.  True is certain where no filter was
 * asked.
 */
extern bool sfx_reader_may_hold(SfxReader *r);

/*
 * The next entry in that direction after the last one returned; at first, from the range's end on
 * that side.  The direction may change at any call: the entry last returned is not returned again.
 * After the end was hit, the other direction begins with the last entry, as in btree's scans.  *e
 * points into the reader's memory, valid until the next call.  False at the end.
 */
extern bool sfx_reader_next(SfxReader *r, ScanDirection dir, SfxEntry *e);

/*
 * The short way to the next entry, as sfx_reader_next would return it: it is number *i in *block.
 * False: not this way. sfx_block_entry makes an entry of it, valid until the next call.
 */
static inline bool
sfx_reader_stretch(SfxReader *r, ScanDirection dir, const SfxBlock **block, int *i)
{
	SfxStretch *s = (SfxStretch *) r;

	if (s->at == s->end || s->step != (int) dir)
		return false;
	*i = s->at;
	*block = s->block;
	s->at = *i + (int) dir;
	return true;
}

/* What comes that way. */
static inline SfxStretch *
sfx_reader_in_hand(SfxReader *r)
{
	return (SfxStretch *) r;
}

/* As sfx_reader_stretch, and the reader stays where it is. */
static inline bool
sfx_reader_peek(const SfxReader *r, ScanDirection dir, const SfxBlock **block, int *i)
{
	const SfxStretch *s = (const SfxStretch *) r;

	if (s->at == s->end || s->step != (int) dir)
		return false;
	*i = s->at;
	*block = s->block;
	return true;
}

/* n entries at most come that way; those after them come from sfx_reader_next. */
static inline void
sfx_reader_shorten(SfxReader *r, int n)
{
	SfxStretch *s = (SfxStretch *) r;

	if ((s->end - s->at) * s->step > n)
		s->end = s->at + n * s->step;
}

/* Entries that were left off come that way again. */
static inline void
sfx_reader_lengthen(SfxReader *r)
{
	SfxStretch *s = (SfxStretch *) r;

	s->end = s->whole;
}

/* The TIDs of all entries that come that way: their number.  They are valid until the next call. */
static inline int
sfx_reader_stretch_tids(SfxReader *r, const uint64 **tid)
{
	SfxStretch *s = (SfxStretch *) r;
	int			n = s->step > 0 ? s->end - s->at : 0;

	if (n <= 0)
		return 0;
	*tid = s->block->tid + s->at;
	s->at = s->end;
	return n;
}

/* The same in that direction, of no more than `most` entries, and in no order. */
static inline int
sfx_reader_stretch_some(SfxReader *r, ScanDirection dir, int most, const uint64 **tid)
{
	SfxStretch *s = (SfxStretch *) r;
	int			n = s->step == (int) dir ? Min(most, (s->end - s->at) * s->step) : 0;

	if (n <= 0)
		return 0;
	*tid = s->block->tid + (s->step > 0 ? s->at : s->at - n + 1);
	s->at += n * s->step;
	return n;
}

/*
 * The entries themselves, with the one that sfx_reader_next has just returned if they follow that:
 * their number, from *from on in *block, with keys and payloads if the reader was asked for those.
 */
static inline int
sfx_reader_stretch_entries(SfxReader *r, bool with_last, const SfxBlock **block, int *from)
{
	SfxStretch *s = (SfxStretch *) r;
	int			n = s->step > 0 ? s->end - s->at : 0;

	if (n <= 0)
		return 0;
	*block = s->block;
	*from = s->at - with_last;
	s->at = s->end;
	return n + with_last;
}

/*
 * The next entries, forward, of all stages, as one block: their number.  known[i], for
 * SFX_BLOCK_ENTRIES of them: entry i was looked at, and its row is visible.  Payloads are copied to
 * payload, which has room for SFX_MERGED_PAYLOADS + SFX_MAX_ENTRY bytes, or is NULL: entries have
 * none.  0: they have to be read one by one or in stretches, which may be the shorter way.
 */
#if defined(USE_ASSERT_CHECKING) || defined(SFX_TEST)
#define SFX_MERGED_PAYLOADS	1024	/* to have it tested */
#else
#define SFX_MERGED_PAYLOADS	(2 * BLCKSZ)
#endif
extern int	sfx_reader_merged(SfxReader *r, SfxBlock *block, bool *known, uint8 *payload);

/* Was the entry that sfx_reader_next has just returned looked at? */
extern bool sfx_reader_last_known(const SfxReader *r);

/* The entry last returned by whichever way.  There has to be one. */
extern void sfx_reader_last(SfxReader *r, SfxEntry *e);

/* Is it one of a block without TIDs? */
extern bool sfx_reader_last_tidless(const SfxReader *r);

/*
 * Continue just after (before) this position in the current range, for restored marks: the next
 * call of sfx_reader_next returns the first entry beyond pos in its direction; with inclusive, pos
 * itself can come, too.
 */
extern void sfx_reader_reposition(SfxReader *r, const SfxPos *pos, bool inclusive);

/*
 * For parallel scans, in place of sfx_reader_next: one step from *from on (NULL: from the range's
 * start) in that direction.  sfx_reader_take then returns the step's entries.  True: there is more
 * of the range, from *stop on (bytes valid until the next step); false: this step ends it.
 */
extern bool sfx_reader_step(SfxReader *r, ScanDirection dir, const SfxPos *from, SfxPos *stop);
extern bool sfx_reader_take(SfxReader *r, SfxEntry *e);

/*
 * The table heap says that the row of the entry last returned is dead to all snapshots.  Its entry
 * is removed where that is cheap (X1, X3): at the end of the step in hand, of this
 * range, of another one, or in sfx_reader_end; heap stays open until then.  Not in recovery.
 */
extern void sfx_reader_kill(SfxReader *r, Relation heap);

/*
 * The leaf of the main tree that the step in hand has copied from: tells whether a seek has led
 * anywhere else.
 */
extern BlockNumber sfx_reader_leaf(const SfxReader *r);

/*
 * The range is at its end and no other one follows for now: release the gate, for which VACUUM
 * would wait otherwise until the scan ends.
 */
extern void sfx_reader_release_gate(SfxReader *r);

/*
 * Drop the batch in hand and the gate's pin; nothing is found until the next seek. The metapage
 * stays pinned.  Leaves may be rewritten (X3), as in the next two.
 */
extern void sfx_reader_rewind(SfxReader *r);

/* The same, and no pin is left. */
extern void sfx_reader_reset(SfxReader *r);
extern void sfx_reader_end(SfxReader *r);

#endif							/* SURFIDX_READER_H */
