/*-------------------------------------------------------------------------
 * reader_impl.h - what the files of the reader offer each other
 *
 * The files in order; each uses those before it:
 *
 *	reader_room.c	takes memory when it is needed, and gives it back
 *	reader_ahead.c	prefetches leaves that come next
 *	reader_gate.c	pins the gate and reads the metapage
 *	reader_look.c	looks at the rows of batches that last
 *	reader_batch.c	copies entries of the delta
 *	reader_cut.c	recovers cut keys
 *	reader_leaf.c	reads a run's leaf
 *	reader_stream.c	merges what a step has read into one ordered stream
 *	reader_dead.c	notes and removes dead entries
 *	reader_main.c	reads the main tree's leaf
 *	reader_step.c	reads a step
 *	reader_range.c	seeks, and knows where in the range the caller stands
 *	reader_count.c	counts without a stream
 *	reader_pass.c	passes over rows by ranks
 *	reader.c		sets readers up and goes from step to step
 *
 * All of them run in the backend that owns the reader.  None is called while an LWLock is held,
 * unless its comment says so.  Only these files include this header.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_READER_IMPL_H
#define SURFIDX_READER_IMPL_H

#include "reader_parts.h"
#include "scratch.h"

/* ---- reader_room.c ---- */

/* The bytes of a bound that is so long. */
extern uint8 *sfx_reader_bound_bytes(SfxReader *r, BoundRoom *room, uint32 len);

/* The cursor's block becomes a whole one, with what it has. */
extern void sfx_reader_take_whole(SfxReader *r, LeafCursor *s);
static inline void
sfx_reader_take_block(SfxReader *r, LeafCursor *s)
{
	if (unlikely((char *) s->block == s->few.bytes))
		sfx_reader_take_whole(r, s);
}

/* The cursor gets a page, if it has none. */
extern void sfx_reader_take_page(SfxReader *r, LeafCursor *s);

/* Has the backend many readers?  With assertions two of three answers are yes for few ones, too. */
#ifdef USE_ASSERT_CHECKING
extern uint32 sfx_readers_asked;
#endif
static inline bool
are_many(void)
{
#ifdef USE_ASSERT_CHECKING
	/* to have each way tested, and turns from one to the other in the midst of a scan */
	if (++sfx_readers_asked % 3 != 0)
		return true;
#endif
	return sfx_spares_taken[SFX_SPARE_READER] > READERS_IN_WHOLE;
}

/*
 * A step was read, or one more block of it, which will be looked at and not added to: if many
 * readers are open, give back what the cursor does not need for that.
 */
extern void sfx_reader_make_small(SfxReader *r, LeafCursor *s);
static inline void
sfx_reader_settle(SfxReader *r, LeafCursor *s)
{
	if (unlikely(are_many()))
		sfx_reader_make_small(r, s);
}

/* No step is in hand: if many readers are open, give back what this one has taken for steps. */
extern void sfx_reader_give_all_back(SfxReader *r);
static inline void
sfx_reader_give_back(SfxReader *r)
{
	if (unlikely(are_many()))
		sfx_reader_give_all_back(r);
}

/* A batch has no more room than at first. */
extern void sfx_reader_shrink_batch(Batch *b);

/* Begin a cursor, with no more than it always has; end it. */
extern void sfx_reader_begin_cursor(LeafCursor *s);
extern void sfx_reader_end_cursor(LeafCursor *s);

/* ---- reader_range.c ---- */

/*
 * Set cur for the direction now asked for, from where the caller stands.  The entry last returned
 * has to be still in hand if the caller stands on one.
 */
extern void sfx_reader_set_boundary(SfxReader *r);

/* K4: ERROR if the range took more steps than an index in order could. */
extern void sfx_reader_must_end(SfxReader *r);

/* ---- reader_step.c ---- */

/*
 * Read the step from cur on, in the reader's direction (R1 to R6).  What was found dead in the one
 * before has been removed.  ERROR if the index is damaged, out of order, or the snapshot expired.
 */
extern void sfx_reader_one_step(SfxReader *r);

/* ---- reader_leaf.c ---- */

/*
 * The leaf of a run that holds pos, locked in shared mode and open in *leaf.  InvalidBuffer with
 * *answered: a filter says that there is no need to read it, and stop may have moved to the
 * filter's fence; without: the run is gone.
 */
extern Buffer sfx_reader_find_leaf(SfxReader *r, const SfxMeta *meta, uint32 run, const SfxPos *pos,
								   LeafCursor *s, SfxLeaf *leaf, bool *answered);

/* The step has nothing of this run's leaf. */
extern void sfx_reader_skip_leaf(SfxReader *r, LeafCursor *s);

/* R4: begin with a leaf, open with its dictionary; stop moves to its fence. */
extern void sfx_reader_open_leaf(SfxReader *r, LeafCursor *s, const SfxLeaf *leaf);

/*
 * Decode the leaf's first block of the step, which pos falls into.  False: there is none.  *more:
 * the next block may have some of the step, too.  The leaf's page may be locked.
 */
extern bool sfx_reader_first_block(SfxReader *r, const SfxMeta *meta, LeafCursor *s,
								   const SfxLeaf *leaf, const SfxPos *pos, bool *more);

/*
 * Decode what of block number b of leaf lies between cur and stop, or a part of it.  first: it is
 * the one that cur falls into; all others lie beyond cur.  The leaf's page may be locked.
 */
extern void sfx_reader_decode(SfxReader *r, LeafCursor *s, const SfxLeaf *leaf, int b, bool first);

/* Decode more of the cursor's block, of which something is left. */
extern void sfx_reader_decode_left(SfxReader *r, LeafCursor *s);

/*
 * Keep a copy of the leaf in buf, which s->leaf has open, and let buf go; stop moves to its fence.
 */
extern void sfx_reader_keep_leaf(SfxReader *r, LeafCursor *s, Buffer buf);

/*
 * The same, forward, of those blocks alone that stand between cur and stop: numbers [*first, *end).
 */
extern void sfx_reader_keep_blocks(SfxReader *r, LeafCursor *s, Buffer buf, int *first, int *end);

/* The main tree's leaf has its keys whole, which is worth something to the scan. */
extern void sfx_reader_warm(SfxReader *r);

/* ---- reader_main.c ---- */

/*
 * R3 and R8 for the main tree, and for the blocks of the other runs' leaves, which are copied: stop
 * does not move any more.  gate.missing: the step has to begin again with a gate.
 */
extern void sfx_reader_read_main(SfxReader *r, const SfxMeta *meta, const SfxPos *pos);

/* ---- reader_gate.c ---- */

/*
 * Which gate a reader tries first: the one that was current when this backend last looked, or
 * SFX_GATE_UNKNOWN.
 */
#define SFX_GATE_UNKNOWN	2
extern uint8 sfx_reader_last_gate(Relation index);

/* Read the metapage with the gate that it names pinned. */
extern void sfx_reader_pin_gate(SfxReader *r, SfxMeta *meta);

/* R1: read the metapage, with the gate that it names pinned if the reader wants one. */
extern void sfx_reader_meta(SfxReader *r, SfxMeta *meta);

/* ---- reader_batch.c ---- */

/* R2 for all generations.  False: start again with R1. */
extern bool sfx_reader_fill_batches(SfxReader *r, const SfxMeta *meta);

/* R4: leave out, or throw away, what the batches hold beyond stop. */
extern void sfx_reader_trim_batches(SfxReader *r);

/* K4, where statements can change the order: ERROR if a batch is in another order than today's. */
extern void sfx_reader_prove_batches(SfxReader *r, const SfxMeta *meta);

/* ---- reader_look.c ---- */

/* Of the batches just copied, keep the entries whose rows are visible (R10).  Forward only. */
extern void sfx_reader_look_at_batches(SfxReader *r);

/* ---- reader_stream.c ---- */

/* The union's next entry of this step.  False: the step has no more. */
extern bool sfx_reader_union_next(SfxReader *r, SfxEntry *e);

/* ---- reader_cut.c: main's copied leaf has cut keys; batches are trimmed ---- */

/*
 * cur and stop among its stored keys.  others: other stages have entries in the step.  Uses main's
 * block.
 */
extern void sfx_reader_cut_bounds(SfxReader *r, bool others);

/* How many keys of a block are to be decoded next; 0: all. */
extern int	sfx_reader_cut_part(SfxReader *r);

/* Main's block was decoded: recover those of its keys that are needed. */
extern void sfx_reader_recover_keys(SfxReader *r);

/* e is entry i of main's block: give it its whole key, unless its row is dead to all snapshots. */
extern void sfx_reader_whole_key(SfxReader *r, int i, SfxEntry *e);

/* Close the table, if it was opened to recover keys. */
extern void sfx_reader_end_recovery(SfxReader *r);

/* ---- reader_ahead.c ---- */

/*
 * The range goes on after the step in hand: ask for the leaves to come.  right: the right neighbor,
 * if that is the next one.
 */
extern void sfx_reader_ask_ahead(SfxReader *r, const SfxMeta *meta, BlockNumber right);

/* ---- reader_dead.c ---- */

/*
 * The step is read, forward: may what is found dead in the main tree be noted as a range (X8)?  The
 * range notes dead entries (range.notes_dead).
 */
extern void sfx_reader_start_passing(SfxReader *r, const SfxMeta *meta);

/* The step is at its end, and the next one goes on from there (X8). */
extern void sfx_reader_passed_step(SfxReader *r);

/* Remove what was found dead in the step in hand, and in leaves before it; note the range of X8. */
extern void sfx_reader_remove_dead(SfxReader *r, SfxDeadWhen when);

/* ---- what all of them use ---- */

/* R6: ERROR if the snapshot has expired.  The metapage's LSN tells, of which a pin is held. */
static inline void
test_for_old_snapshot(SfxReader *r)
{
	if (unlikely(SfxSnapshotsExpire()))
		SfxTestForOldSnapshot(r->want.snapshot, r->index, BufferGetPage(r->gate.metabuf));
}

static inline bool
forward(const SfxReader *r)
{
	return ScanDirectionIsForward(r->range.dir);
}

/* Point b to a copy of these bytes. */
static inline void
bound_set(SfxReader *r, Bound *b, BoundRoom *room, const uint8 *key, uint32 len, uint64 tid)
{
	uint8	   *bytes = len <= BOUND_FEW ? room->few : sfx_reader_bound_bytes(r, room, len);

	Assert(len <= SFX_BOUND_MAX);
	if (len > 0)
		memmove(bytes, key, len);
	b->pos.key = bytes;
	b->pos.len = len;
	b->pos.tid = tid;
	b->inf = false;
}

static inline void
set_cur(SfxReader *r, const uint8 *key, uint32 len, uint64 tid)
{
	bound_set(r, &r->win.cur, &r->room.win[r->win.curbuf], key, len, tid);
}

/* Is this key in there? */
static inline bool
is_in(const BoundRoom *room, const uint8 *key)
{
	return key == room->few || (room->more && key == room->more);
}

/* The next step begins where this one stops. */
static inline void
cur_from_stop(SfxReader *r)
{
	r->win.cur = r->win.stop;
	if (is_in(&r->room.win[1 - r->win.curbuf], r->win.cur.pos.key))
		r->win.curbuf = 1 - r->win.curbuf;
}

/* Note how far callers came in the stretch, and end it. */
static inline void
close_stretch(SfxReader *r)
{
	if (r->stretched)
	{
		r->stretched->at = r->stretch.at;
		r->last.at = r->stretch.at - r->stretch.step;
	}
	r->stretched = NULL;
	r->stretch.end = r->stretch.whole = r->stretch.at;
}

/* Y8: has nothing come into the trees since the map vouched for what they have? */
static inline bool
sfx_reader_is_vouched(const SfxReader *r, const SfxMeta *meta)
{
	return r->vouch.given && (SFX_MUTANT("vouched for good") ||
							  sfx_state_still_holds(&r->vouch.state, meta, SFX_TREES_STAND_STILL));
}

/* Does e lie beyond the far end of the range, seen from cur? */
static inline bool
beyond_range(const SfxReader *r, const SfxEntry *e)
{
	SfxPos		p = {e->key, e->keylen, e->tid};

	if (forward(r))
		return !r->range.hi.inf && sfx_order_cmp_pos(r->order, &p, &r->range.hi.pos) >= 0;
	return sfx_order_cmp_pos(r->order, &p, &r->range.lo.pos) < 0;
}

/* Is there nothing between cur and the range's end? */
static inline bool
range_is_empty(const SfxReader *r)
{
	if (forward(r))
		return !r->range.hi.inf &&
			sfx_order_cmp_pos(r->order, &r->win.cur.pos, &r->range.hi.pos) >= 0;
	return !r->win.cur.inf && sfx_order_cmp_pos(r->order, &r->win.cur.pos, &r->range.lo.pos) <= 0;
}

/* The step in hand is over, or void, and the next one does not go on from it. */
static inline void
end_step(SfxReader *r)
{
	close_stretch(r);
	r->win.active = r->delta.lasting = false;
}

/* The step in hand is done with: what was found dead in it, and with when in those before it. */
static inline void
remove_dead(SfxReader *r, SfxDeadWhen when)
{
	if (unlikely(r->dead.in_batches > 0 || r->dead.in_leaves || r->passed.found ||
				 (when != SFX_DEAD_STEP && r->dead.leaves.first)))
		sfx_reader_remove_dead(r, when);
}

/* Is entry i of the main tree's block, or its end, the next one after those that are dead? */
static inline bool
is_next_passed(const SfxReader *r, int i)
{
	int			b = r->main.blockno;

	i += r->main.block->first;
	return SFX_MUTANT("gaps are passed") || (b == r->passed.block && i == r->passed.at) ||
		(b == r->passed.block + 1 && i == 0 && r->passed.at == r->passed.total);
}

/* It is dead, too. */
static inline void
pass_number(SfxReader *r, int i)
{
	r->passed.block = r->main.blockno;
	r->passed.at = r->main.block->first + i + 1;
	r->passed.total = r->main.block->total;
}

/* Is entry i of the cursor's block known to be of a dead row? */
static inline bool
is_skipped(const LeafCursor *s, int i)
{
	return (s->skip[i / 64] >> i % 64 & 1) != 0;
}

/* A position in each leaf of the step, unless what X8 knows was left out. */
static inline const SfxPos *
in_leaf(const SfxReader *r)
{
	return forward(r) ? &r->win.cur.pos : &r->win.stop.pos;
}

/* The cursor's leaf, of which entries are to be noted: the table heap says that they are dead. */
static inline SfxDeadInLeaf *
dead_in_leaf(SfxReader *r, LeafCursor *s, Relation heap)
{
	Assert(BlockNumberIsValid(s->leafblk));
	r->dead.in_leaves = true;
	r->dead.heap = heap;
	return sfx_dead_in_leaf(&r->dead.leaves, s->run, s->leafblk, s->entries, r->dead.goes_on);
}

/* Entries from..to - 1 of the main tree's block are dead to all snapshots, as their rows say. */
static inline void
note_dead(SfxReader *r, int from, int to)
{
	LeafCursor *s = &r->main;

	if (r->want.heap)
		sfx_dead_note(&r->dead.leaves, dead_in_leaf(r, s, r->want.heap), in_leaf(r),
					  s->block->tid + from, to - from);
}

static inline void
drop_gate(SfxReader *r)
{
	if (BufferIsValid(r->gate.buf))
		ReleaseBuffer(r->gate.buf);
	r->gate.buf = InvalidBuffer;
	/* what VACUUM may have removed since is in the copy still */
	if (!SFX_MUTANT("copy outlives its gate"))
		r->kept.valid = false;
}

/* Move stop nearer, to this position. */
static inline void
stop_at(SfxReader *r, const uint8 *key, uint32 len, uint64 tid)
{
	SfxPos		p = {key, len, tid};

	if (forward(r) ? (!r->win.stop.inf && sfx_order_cmp_pos(r->order, &r->win.stop.pos, &p) <= 0) :
		sfx_order_cmp_pos(r->order, &r->win.stop.pos, &p) >= 0)
		return;
	bound_set(r, &r->win.stop, &r->room.win[1 - r->win.curbuf], key, len, tid);
	r->win.final = false;
}

/* Owned like the reader itself. */
static inline void *
get_spare(SfxReader *r, SfxSpareKind kind, Size size)
{
	MemoryContext old = MemoryContextSwitchTo(r->cxt);
	void	   *spare = sfx_spare_get(kind, size);

	MemoryContextSwitchTo(old);
	return spare;
}

#endif							/* SURFIDX_READER_IMPL_H */
