/*-------------------------------------------------------------------------
 * reader_parts.h - the parts that a reader is made of
 *
 * Each part has a file for what is done with it; the steps fill them in.  The range says what is to
 * be read; the window [cur, stop) is the step in hand; a cursor for each run and batches of the
 * delta have what the stages hold of the window.  Cut keys, dead entries and reading ahead stand
 * beside these, and a step that does not meet them passes them by.
 *
 * Only the files of the reader include this, by reader_impl.h.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_READER_PARTS_H
#define SURFIDX_READER_PARTS_H

#include "block_copy.h"
#include "counters.h"
#include "dead_leaf.h"
#include "dict.h"
#include "find.h"
#include "leaf.h"
#include "log.h"
#include "meta.h"
#include "reader.h"
#include "state.h"

#include "utils/rel.h"

#define READER_BATCH		128
#define READER_BATCH_FIRST	24	/* after a seek, and a batch has so much room at first */
#define READER_BATCH_BYTES	32768
#define READER_BATCH_FEW	4096
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
 * A caller that asks for a range's first row may want few: after a seek, the first parts of
 * front-coded blocks have about so many keys, two of each size, and each pair twice as many as the
 * one before.  What the caller expects to read, if that is known, comes before them.
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

#define BATCH_NO_IMAGE		PG_UINT64_MAX

/*
 * A copied batch of one generation, in the direction of the scan.  One that lasts (R10) has entries
 * of visible rows, for several steps.
 */
typedef struct Batch
{
	uint32		gen;
	int			n;				/* entries of the step in hand, and of those before it */
	int			at;
	bool		cut;			/* there is more after it, */
	SfxPos		end;			/* ... and this is the first position that was not copied */
	int			all;			/* entries, if it lasts */
	uint32		used;
	uint64		seen;			/* entries of the log that the image had; BATCH_NO_IMAGE: it is the
								 * log's end */
	bool		has_flagged;	/* entries that are flagged in the image, too */
	int			nkilled;
	uint8		killed[READER_BATCH];	/* numbers of entries whose rows are dead */
	int			room;			/* entries; bytes follow from that */
	SfxEntry   *entry;			/* few, or more of them */
	uint8	   *bytes;
	SfxEntry	few[READER_BATCH];	/* (all that the log's end may have) */
	uint8		few_bytes[READER_BATCH_FEW + SFX_MAX_ENTRY];
} Batch;

typedef enum Anchor
{
	ANCHOR_RANGE,				/* nothing returned yet: the range's end */
	ANCHOR_END,					/* ran off the range */
	ANCHOR_ENTRY,				/* after the entry last returned */
	ANCHOR_POS					/* at a position given by sfx_reader_reposition */
} Anchor;

/*
 * A cursor decodes into a whole block.  If a backend has more readers than these, most of them for
 * a row each, what comes out goes to a small one where it has room, and the whole one is for the
 * next reader.
 */
#define READERS_IN_WHOLE	3
#define READER_FEW_KEYS		4608	/* bytes: all keys of most blocks of numbers */

/* One run's leaf in a step: what it has between cur and stop, and the next entry of that. */
typedef struct LeafCursor
{
	int			at;				/* next entry of block, -1 or nent: none */
	bool		have_page;		/* page holds a copy for the blocks to come */
	bool		keyless;		/* the step needs no keys: blocks are decoded without; page holds a
								 * copy in any case */
	bool		tidless;		/* the step needs no TIDs: Y8 */
	bool		whole;			/* the step stops at or beyond the leaf's fence: blocks need not be
								 * cut there */
	bool		promised;		/* a filter said that there may be something */
	bool		skips;			/* of the block in hand some entries are left out: skip (X8) */
	int			blockno;
	SfxLeaf		leaf;
	SfxDict    *dict;			/* pinned: the one that the last leaf needed */
	BlockNumber leafblk;
	uint32		run;			/* the leaf's, and ... */
	uint32		entries;		/* ... how many it has; 0: no leaf was read */
	SfxBlock   *block;			/* decoded: a whole one, or few */
	uint64		skip[(SFX_BLOCK_ENTRIES + 63) / 64];
	PGAlignedBlock *page;		/* NULL: not needed */
	union
	{
		uint64		align;
		char		bytes[SFX_BLOCK_SIZE(READER_FEW_KEYS)];
	}			few;
} LeafCursor;

/* ---- the parts of a reader ---- */

/* What the caller wants: set between ranges, and kept from range to range. */
typedef struct ReaderWant
{
	Snapshot	snapshot;		/* see sfx_reader_snapshot */
	int			expected;		/* entries of a range that are likely to be asked for, 0: unknown */
	bool		one;			/* the range's first entry and no other */
	bool		tids_only;		/* no keys */
	bool		candidates;		/* of cut leaves stored keys will do, ... */
	bool		rechecks;		/* ... and the caller looks at the rows for what they are */
	Relation	heap;			/* the table, if what is found dead is removed; else NULL */
	bool		skip_dead;		/* no rows that are dead to all snapshots, and ... */
	bool		pass_dead;		/* ... neither from where a step begins (X8) */
	bool		believe;		/* a filter's word is enough */
} ReaderWant;

/* The pages that stay pinned from step to step (reader_gate.c). */
typedef struct ReaderGate
{
	Buffer		buf;			/* the gate; invalid: none is pinned */
	Buffer		metabuf;		/* the metapage, where it had to be read; invalid: it had not */
	uint32		number;			/* of the gate that was the current one when last looked at */
	bool		wanted;			/* one is held while a step is in hand */
	bool		missing;		/* a cut leaf was met without one: the step begins again */
} ReaderGate;

/*
 * The range, and where in it the caller stands (reader_range.c).  It is set by a seek and ends with
 * the next one.
 */
typedef struct ReaderRange
{
	Bound		lo;
	Bound		hi;
	ScanDirection dir;
	bool		point;			/* the range is all TIDs of one key */
	bool		hashed;			/* hash is that key's */
	bool		follows;		/* the range comes after another one of the same scan */
	bool		placed;			/* the range's first step has been made: place is set */
	bool		anchor_inclusive;	/* ANCHOR_POS: anchor_pos itself can come, too */
	bool		cut_point;		/* it is a lookup for which one stored key of a cut leaf may do */
	bool		notes_dead;		/* what is dead from a step's beginning on is noted (X8) */
	Anchor		anchor;
	int			wanted;			/* entries that are expected and were not decoded yet */
	int			parts;			/* small parts of blocks still to come */
	uint64		hash;
	uint64		steps;			/* one after the other, in one direction (K4) */
	SfxLogPlace place;			/* up to which the first step saw the log (U1) */
	Bound		anchor_pos;		/* ANCHOR_POS */
} ReaderRange;

/* The window being read: the step in hand, [cur, stop), backward [stop, cur) (reader_step.c). */
typedef struct ReaderWindow
{
	bool		active;			/* there is one */
	bool		final;			/* its stop is the range's end */
	int			curbuf;			/* which of room.win cur may point to; stop: the other one */
	Bound		cur;
	Bound		stop;
	SfxState	state;			/* R1's of the step in hand, or of the last one */
} ReaderWindow;

/* What the window has of the delta (reader_batch.c). */
typedef struct ReaderDelta
{
	int			nbatches;
	int			portion;		/* entries that the next batches have; 0: they do not last */
	bool		lasting;		/* those in hand last (R10) */
	struct SfxVisibility *looker;	/* batches may last, and this looks at their rows; or NULL */
	Batch	   *batch[READER_BATCHES];
	SfxLogEnd	end;			/* of the active generation's log (I9) */
} ReaderDelta;

/* Filters before leaves (reader_leaf.c). */
typedef struct ReaderFilters
{
	bool		ask;			/* no leaf was read that had entries of the range */
	bool		keys_only;		/* filters that were met know single keys only: they are not asked
								 * for ranges any more */
	bool		maybe;			/* one has said yes, and that is enough */
	SfxFilterCounts counts;		/* since the last reset */
} ReaderFilters;

/* The entry last returned; not a copy, which would cost more than the rest of a call. */
typedef struct LastEntry
{
	const SfxEntry *batch;		/* NULL: it is in leaf's block, at number at */
	LeafCursor *leaf;
	int			at;
} LastEntry;

/*
 * The place of an entry of another stage among those of main's block, if that has no keys
 * (reader_stream.c).
 */
typedef struct RankedEntry
{
	const uint8 *key;			/* NULL: nothing is known */
	uint64		tid;
	int			block;
	int			rank;
	bool		equal;
} RankedEntry;

/* The main tree's leaf as ranges of one scan share it (R7; reader_main.c). */
typedef struct KeptLeaf
{
	bool		valid;			/* main.page and main.leaf are all of the leaf main.leafblk, as it
								 * was after R1 had found ... */
	SfxState	state;			/* ... this */
	int			in_a_row;		/* ranges in a row that fell into it */
} KeptLeaf;

/* The map's word for the whole table (Y8). */
typedef struct Vouched
{
	bool		given;			/* after R1 had found ... */
	SfxState	state;			/* ... this */
} Vouched;

/* Cut keys of the main tree's leaf (reader_cut.c); all but recovery and its room: of this step. */
typedef struct CutKeys
{
	bool		all;			/* all keys of the step are recovered, */
	bool		some;			/* or those beside entries of other stages */
	bool		recheck;		/* its entries may lie outside of the range */
	int			part;			/* keys that are decoded next, at once */
	int			whole_len;		/* of the key of whole_tid; -1: all of its entries are dead */
	uint64		whole_tid;		/* the first one of the list whose key is in whole_keys; 0: none */
	uint8	   *whole_keys;		/* room for a block's keys; NULL: not needed yet */
	struct SfxRecovery *recovery;	/* NULL: not needed yet */
	SfxPos		cur;			/* cur and stop among stored keys */
	SfxPos		stop;
} CutKeys;

/* Leaves to come (reader_ahead.c). */
typedef struct ReadAhead
{
	int			went_on;		/* steps of the range that the next leaf was asked for in */
	int			leaves;			/* to come before the parent is looked at again for those after
								 * them */
	BlockNumber right;			/* leaf to be asked for when the step comes to another block,
								 * InvalidBlockNumber: none */
} ReadAhead;

/* Rows that are dead to all snapshots (reader_dead.c). */
typedef struct DeadEntries
{
	Relation	heap;			/* set with the first of them */
	int			in_batches;
	bool		in_leaves;		/* in leaves of this step */
	bool		goes_on;		/* the step comes after another one of its range, or of a list's */
	SfxDeadLeaves leaves;		/* of steps before this one, too (X3) */
} DeadEntries;

/* What of the main tree is dead from the step's beginning on (X8; reader_dead.c). */
typedef struct PassedRange
{
	bool		on;				/* the main tree's entries of this step are dead, up to ... */
	int			block;			/* ... this block, ... */
	int			at;				/* ... before this entry, ... */
	int			total;			/* ... of so many in the block */
	int			n;				/* so many were returned and found dead */
	bool		found;			/* [from, to) is to be noted */
	Bound		from;
	Bound		to;
} PassedRange;

/* Bytes of a bound: few as a rule, the others are taken when they are needed. */
#define BOUND_FEW	96
typedef struct BoundRoom
{
	uint8	   *more;			/* SFX_BOUND_MAX of them; NULL: none yet */
	uint8		few[BOUND_FEW];
} BoundRoom;

/* Bytes of keys that the parts point to: not among them, so that these lie close together. */
typedef struct KeyRoom
{
	BoundRoom	anchor;
	BoundRoom	win[2];			/* of cur and stop, or of stop and cur */
	BoundRoom	cut[2];
	BoundRoom	passed[3];
} KeyRoom;
#define KEY_ROOMS	(sizeof(KeyRoom) / sizeof(BoundRoom))

StaticAssertDecl(SFX_PASSED_KEY <= BOUND_FEW, "what is passed needs no more");

struct SfxReader
{
	SfxStretch	stretch;		/* first, for callers see it */
	LeafCursor *stretched;		/* whose entries it has; NULL: there is none.  Then the cursor's at
								 * and last.at lag */

	MemoryContext cxt;			/* the owner's */
	Relation	index;
	const SfxOrder *order;
	bool		warms;			/* leaves that are read become warm (heat.h) */
	bool		warmed;			/* some have */

	ReaderWant	want;
	ReaderGate	gate;
	ReaderWindow win;
	ReaderRange range;
	LastEntry	last;
	RankedEntry ranked;
	ReaderFilters filter;
	KeptLeaf	kept;
	Vouched		vouch;
	ReadAhead	ahead;
	DeadEntries dead;
	PassedRange passed;
	CutKeys		cut;
	ReaderDelta delta;
	int			nruns;			/* runs of the step besides the main tree */
	LeafCursor *run[SFX_MAX_RUNS];	/* [0, nruns) in use */
	LeafCursor	main;
	KeyRoom		room;
};

#endif							/* SURFIDX_READER_PARTS_H */
