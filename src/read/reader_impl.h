/*-------------------------------------------------------------------------
 * reader_impl.h - what the files of the reader share
 *
 * Each uses those before it: reader_ahead.c asks for pages of steps to come, reader_look.c looks at
 * the rows of batches that last, reader_step.c reads a step, reader_stream.c makes one stream of
 * what a step has read, reader_kill.c removes what was found dead, reader_count.c counts without a
 * stream, reader.c sets readers up and goes from step to step.  Nobody else includes this.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_READER_IMPL_H
#define SURFIDX_READER_IMPL_H

#include "surfidx.h"
#include "counters.h"
#include "dict.h"
#include "find.h"
#include "leaf.h"
#include "log.h"
#include "meta.h"
#include "reader.h"

#include "utils/rel.h"
#include "scratch.h"
#include "state.h"

#define READER_BATCH		128
#define READER_BATCH_FIRST	24	/* behind a seek */
#define READER_BATCH_BYTES	32768
#define READER_BATCHES		(SFX_MAX_GENS + 1)	/* each generation's, and the log's end */
/* Entries of a batch that lasts: the first one's of a range, and more each time. */
#if defined(USE_ASSERT_CHECKING) || defined(SFX_TEST)
#define READER_LASTING_FIRST	64	/* to have it tested */
#define READER_LASTING		1024
#else
#define READER_LASTING_FIRST	512
#define READER_LASTING		8192
#endif
#define READER_LASTING_GROWTH	4
/* ... and bytes, for each of them. */
#define READER_LASTING_BYTES	32
/*
 * Who asks for a range's first row may want few: behind a seek, the first parts of front-coded
 * blocks have about so many keys, two of each size, and each pair twice as many as the one before.
 * What the caller expects to read, if he said so, comes before them.
 */
#define READER_PARTS		4
#define READER_PART_KEYS	32
/*
 * So many ranges of a scan in a row that fall into one leaf, and its page is copied for those to
 * come.
 */
#define READER_SAME_LEAF	3

/*
 * A bound or boundary.  lo and hi point to the caller's bytes, the others there or to bytes of the
 * reader's own: copies cost more than all else that a point lookup does with them.
 */
typedef struct Bound
{
	SfxPos		pos;
	bool		inf;			/* minus infinity as a low bound, plus infinity as a high one */
} Bound;

/*
 * A copied batch of one generation, in the direction of the scan.  One that lasts (R10) has entries
 * of visible rows, for several steps.
 */
typedef struct Batch
{
	uint32		gen;
	int			n;				/* entries of the step in hand, and of those before it */
	int			at;
	bool		cut;			/* there is more behind it, */
	SfxPos		end;			/* ... and this is the first position that was not copied */
	int			all;			/* entries, if it lasts */
	uint32		used;
	int			nkilled;
	uint8		killed[READER_BATCH];	/* numbers of entries whose rows are dead */
	int			room;			/* entries; bytes follow from that */
	SfxEntry   *entry;			/* few, or more of them */
	uint8	   *bytes;
	SfxEntry	few[READER_BATCH];
	uint8		few_bytes[READER_BATCH_BYTES + SFX_MAX_ENTRY];
} Batch;

typedef enum Anchor
{
	ANCHOR_RANGE,				/* nothing returned yet: the range's end */
	ANCHOR_END,					/* ran off the range */
	ANCHOR_ENTRY,				/* behind the entry last returned */
	ANCHOR_POS					/* at a position given by sfx_reader_reposition */
} Anchor;

/* One run's share of a step: what its leaf has between cur and stop. */
typedef struct Share
{
	int			at;				/* next entry of block, -1 or nent: none */
	bool		have_page;		/* page holds a copy for the blocks to come */
	bool		keyless;		/* nobody needs the keys of this step: blocks are decoded without;
								 * page holds a copy in any case */
	bool		tidless;		/* nobody needs the TIDs of this step: Y8 */
	bool		whole;			/* the step stops at or beyond the leaf's fence: blocks need not be
								 * cut there */
	bool		promised;		/* a filter said that there may be something */
	int			blockno;
	SfxLeaf		leaf;
	SfxDict    *dict;			/* pinned: the one that the last leaf needed */
	BlockNumber leafblk;
	SfxBlock	block[1];		/* decoded; used like a pointer */
	PGAlignedBlock page;
} Share;

struct SfxReader
{
	SfxStretch	stretch;		/* first, for callers see it */
	Share	   *stretched;		/* whose entries it has; NULL: there is none.  Then the share's at
								 * and last_at lag behind */

	/* for the reader's life */
	MemoryContext cxt;			/* the owner's */
	Relation	index;
	const SfxOrder *order;
	Snapshot	snapshot;		/* see sfx_reader_snapshot */
	bool		gate;			/* hold one while a step is in hand */
	Buffer		gatebuf;
	Buffer		metabuf;		/* pinned from the first step on */
	uint32		gateno;
	bool		touches;		/* lookups are counted in the image (carry.h) */

	/* the range, and how it is read */
	ScanDirection dir;
	bool		one;			/* nobody will ask for more than the first entry */
	int			expected;		/* entries of a range that are likely to be asked for, 0: unknown, */
	int			wanted;			/* ... and how many of them were not decoded yet */
	bool		tids_only;		/* the caller needs no keys */
	bool		vouched;		/* all of the table was all-visible after R1 had found ... */
	SfxState	vouched_state;	/* ... this state */
	SfxState	step_state;		/* R1's of the step in hand, or of the last one */
	uint64		steps;			/* one after the other, in one direction (K4) */
	bool		point;			/* the range is all TIDs of one key */
	bool		hashed;			/* hash is its */
	bool		follows;		/* the range comes after another one of the same scan */
	uint64		hash;
	Bound		lo;
	Bound		hi;

	/* where the caller stands */
	Anchor		anchor;
	bool		anchor_inclusive;	/* ANCHOR_POS */
	Bound		anchor_pos;

	/*
	 * ANCHOR_ENTRY: where the entry last returned stands; not a copy, which would cost more than
	 * the rest of a call
	 */
	const SfxEntry *last_batch; /* NULL: in last_share's block, at last_at */
	Share	   *last_share;
	int			last_at;

	/*
	 * the place of an entry of another stage among those of main's block, if that is keyless: see
	 * reader_stream.c
	 */
	const uint8 *ranked_key;	/* NULL: nothing is known */
	uint64		ranked_tid;
	int			ranked_block;
	int			rank;
	bool		rank_equal;

	/* the step in hand: [cur, stop), backwards [stop, cur) */
	bool		active;			/* there is one */
	bool		final;			/* its stop is the range's end */
	int			parts;			/* small parts of blocks still to come */
	Bound		cur;
	Bound		stop;
	int			curbuf;			/* which of bound_bytes cur may point to; stop: the other one */
	int			nbatches;
	Batch	   *batch[READER_BATCHES];
	SfxLogEnd	end;			/* of the active generation's log (I9) */
	bool		placed;			/* the range's first step has been made, and ... */
	SfxLogPlace place;			/* ... saw the log up to here */
	struct SfxVisibility *looker;	/* batches may last, and this looks at their rows; or NULL */
	bool		lasting;		/* those in hand do */
	int			portion;		/* entries that the next ones have; 0: they do not last */
	int			nruns;			/* runs of the step besides the main tree */
	Share	   *run[SFX_MAX_RUNS];	/* [0, nruns) in use */

	/* filters */
	bool		ask;			/* filters before leaves: none was read that had entries of the
								 * range */
	bool		keys_only;		/* filters that were met know single keys only: they are not asked
								 * for ranges any more */
	bool		believe;		/* a filter's word is enough */
	bool		maybe;			/* ... and one has said yes */
	SfxFilterCounts filters;	/* since the last reset */

	/* the main tree's leaf as ranges of one scan share it (R7) */
	bool		copied;			/* main.page and main.leaf are all of the leaf main.leafblk, as it
								 * was after R1 had found ... */
	SfxState	copied_state;	/* ... this state */
	int			same_leaf;		/* ranges in a row that fell into it */

	bool		warms;			/* leaves that are read become warm (heat.h) */

	/* the main tree's leaf, if its keys are cut (reader_cut.c) */
	bool		candidates;		/* stored keys will do for the caller, ... */
	bool		rechecks;		/* ... and looks at the rows for what they are */
	bool		gate_missing;	/* a cut leaf was met without one: the step begins again */
	bool		recover_all;	/* keys of the step in hand, */
	bool		recover_some;	/* or those beside entries of other stages */
	bool		recheck;		/* its entries may lie outside of the range */
	struct SfxRecovery *recovery;	/* NULL: not needed yet */
	SfxPos		cut_cur;		/* cur and stop among stored keys */
	SfxPos		cut_stop;
	uint8	   *whole_keys;		/* room for a block's keys; NULL: not needed yet */
	uint64		whole_tid;		/* the first one of the list whose key is there; 0: none */
	int			whole_len;		/* of that key; -1: all of its entries are dead */
	uint8		cut_bytes[2][SFX_MAX_ENTRY];

	/* leaves to come (reader_ahead.c) */
	int			went_on;		/* steps of the range that the next leaf was asked for in */
	BlockNumber right;			/* leaf to be asked for when the step comes to another block,
								 * InvalidBlockNumber: none */
	int			ahead;			/* leaves to come before the parent is looked at again for those
								 * behind them */

	/* rows of this step that are dead to everybody (reader_kill.c) */
	Relation	heap;			/* set with the first of them */
	int			nkilled;		/* in batches */
	int			ndead;			/* in the main tree's leaf */
	uint64	   *dead;			/* their TIDs; room for SFX_DEAD_MAX, NULL until first needed */
	Bound		dead_pos;		/* where the first of them stands */

	/* what of the main tree is dead from the step's beginning on (X8) */
	bool		pass_dead;		/* wanted by the caller */
	bool		passing;		/* the main tree's entries of this step are dead, up to ... */
	int			passed_block;	/* ... before this one, */
	int			passed_at;		/* entry of the block */
	int			passed_total;	/* the block has */
	bool		passed;			/* [passed_from, passed_to) is to be noted */
	Bound		passed_from;
	Bound		passed_to;
	uint32		leaf_entries;	/* of the main tree's leaf */

	Share		main;
	uint8		bound_bytes[2][SFX_BOUND_MAX];
	uint8		anchor_bytes[SFX_BOUND_MAX];
	uint8		dead_bytes[SFX_MAX_ENTRY];
	uint8		passed_bytes[3][SFX_PASSED_KEY];
};

/*
 * reader_step.c: read the step from cur on, in the reader's direction (R1 to R6).  What was found
 * dead in the one before has been removed.
 */
extern void sfx_reader_one_step(SfxReader *r);

/*
 * Decode what of block number b of leaf lies between cur and stop, or a part of it.  first: it is
 * the one that cur falls into; all others lie beyond cur.
 */
extern void sfx_reader_decode(SfxReader *r, Share *s, const SfxLeaf *leaf, int b, bool first);

/*
 * Keep a copy of the leaf in buf, which s->leaf has open, and let buf go; stop moves to its fence.
 */
extern void sfx_reader_keep_leaf(SfxReader *r, Share *s, Buffer buf);

/*
 * The same, forward, of those blocks alone that stand between cur and stop: numbers [*first, *end).
 */
extern void sfx_reader_keep_blocks(SfxReader *r, Share *s, Buffer buf, int *first, int *end);

/* Decode more of the share's block, of which something is left. */
extern void sfx_reader_decode_left(SfxReader *r, Share *s);

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

/*
 * reader_ahead.c: the range goes on behind the step in hand; ask for the leaves to come.  right:
 * the right neighbour, if that is the next one.  No lock is held.
 */
extern void sfx_reader_ask_ahead(SfxReader *r, const SfxMeta *meta, BlockNumber right);

/* reader_look.c: of the batches just copied, keep the entries whose rows are visible (R10). */
extern void sfx_reader_look_at_batches(SfxReader *r);

/* reader_stream.c: the union's next entry of this step. */
extern bool sfx_reader_union_next(SfxReader *r, SfxEntry *e);

/* reader_kill.c: the step is at its end, and the next one goes on from there (X8). */
extern void sfx_reader_passed_step(SfxReader *r);

/* reader_kill.c: remove what of the step in hand was found dead. */
extern void sfx_reader_remove_dead(SfxReader *r);

static inline bool
forward(const SfxReader *r)
{
	return ScanDirectionIsForward(r->dir);
}

/* Point b to a copy of these bytes. */
static inline void
bound_set(Bound *b, uint8 *bytes, const uint8 *key, uint32 len, uint64 tid)
{
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
	bound_set(&r->cur, r->bound_bytes[r->curbuf], key, len, tid);
}

/* The next step begins where this one stops. */
static inline void
cur_from_stop(SfxReader *r)
{
	r->cur = r->stop;
	if (r->cur.pos.key == r->bound_bytes[1 - r->curbuf])
		r->curbuf = 1 - r->curbuf;
}

/* Note how far callers came in the stretch, and end it. */
static inline void
close_stretch(SfxReader *r)
{
	if (r->stretched)
	{
		r->stretched->at = r->stretch.at;
		r->last_at = r->stretch.at - r->stretch.step;
	}
	r->stretched = NULL;
	r->stretch.end = r->stretch.at;
}

/* Y8: has nothing come into the trees since the map vouched for what they have? */
static inline bool
sfx_reader_is_vouched(const SfxReader *r, const SfxMeta *meta)
{
	return r->vouched && (SFX_MUTANT("vouched for good") ||
						  sfx_state_still_holds(&r->vouched_state, meta, SFX_TREES_STAND_STILL));
}

/* Does e lie beyond the far end of the range, seen from cur? */
static inline bool
beyond_range(const SfxReader *r, const SfxEntry *e)
{
	SfxPos		p = {e->key, e->keylen, e->tid};

	if (forward(r))
		return !r->hi.inf && sfx_order_cmp_pos(r->order, &p, &r->hi.pos) >= 0;
	return sfx_order_cmp_pos(r->order, &p, &r->lo.pos) < 0;
}

/* The step in hand is over, or void, and the next one does not go on from it. */
static inline void
end_step(SfxReader *r)
{
	close_stretch(r);
	r->active = r->lasting = false;
}

/* The step in hand is done with. */
static inline void
remove_dead(SfxReader *r)
{
	if (unlikely(r->nkilled > 0 || r->ndead > 0 || r->passed))
		sfx_reader_remove_dead(r);
}

static inline void
drop_gate(SfxReader *r)
{
	if (BufferIsValid(r->gatebuf))
		ReleaseBuffer(r->gatebuf);
	r->gatebuf = InvalidBuffer;
	/* what VACUUM may have removed since is in the copy still */
	if (!SFX_MUTANT("copy outlives its gate"))
		r->copied = false;
}

/* Move stop nearer, to this position. */
static inline void
stop_at(SfxReader *r, const uint8 *key, uint32 len, uint64 tid)
{
	SfxPos		p = {key, len, tid};

	if (forward(r) ? (!r->stop.inf && sfx_order_cmp_pos(r->order, &r->stop.pos, &p) <= 0) :
		sfx_order_cmp_pos(r->order, &r->stop.pos, &p) >= 0)
		return;
	bound_set(&r->stop, r->bound_bytes[1 - r->curbuf], key, len, tid);
	r->final = false;
}

/* Owned like the reader itself. */
static inline void *
get_spare(SfxReader *r, SfxSpareKind kind, Size size)
{
	MemoryContext old = MemoryContextSwitchTo(r->cxt);
	bool		fresh;
	void	   *spare = sfx_spare_get(kind, size, &fresh);

	MemoryContextSwitchTo(old);
	return spare;
}

/* ---- reader_cut.c: main's copied leaf has cut keys; batches are trimmed ---- */

/*
 * cur and stop among its stored keys.  others: other stages have entries in the step.  Uses main's
 * block.
 */
extern void sfx_reader_cut_bounds(SfxReader *r, bool others);

/* How many keys of a block may be decoded at once; 0: all. */
extern int	sfx_reader_cut_part(const SfxReader *r);

/* Main's block was decoded: recover what is needed of its keys. */
extern void sfx_reader_recover_keys(SfxReader *r);

/* e is entry i of main's block: give it its whole key, unless its row is dead to everybody. */
extern void sfx_reader_whole_key(SfxReader *r, int i, SfxEntry *e);

/* The table is not needed any more. */
extern void sfx_reader_end_recovery(SfxReader *r);

/* ---- reader_batch.c ---- */

/* R2 for all generations.  False: start again with R1. */
extern bool sfx_reader_fill_batches(SfxReader *r, const SfxMeta *meta);

/* R4: leave out, or throw away, what the batches hold beyond stop. */
extern void sfx_reader_trim_batches(SfxReader *r);

/*
 * K4: an error if what is left of them is in another order than that of now, which statements can
 * change.
 */
extern void sfx_reader_prove_batches(SfxReader *r, const SfxMeta *meta);

#endif							/* SURFIDX_READER_IMPL_H */
