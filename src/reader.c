/*-------------------------------------------------------------------------
 * reader.c - delta and tree as one ordered stream of entries
 *
 * Everything that reads the index by key comes through here.  A reader is positioned by key. One
 * *step* covers the positions from the boundary `cur` to `stop`:
 *
 *	R1	the metapage is read (after the gate was pinned, where one is asked for);
 *	R2	then a bounded batch of each generation's image, newest first, from cur on;
 *	R3	then the leaf that holds cur of each run, newest first, the main tree's last.  Entries move in this direction, never
 *		back: what a merge moves meanwhile is seen twice, and (key, TID) drops the second one; nothing is missed.
 *	R4	stop is the least of: the range's end, the leaf's fence, the end of each batch that was cut off.
 *		What was read beyond stop is thrown away; the next step begins with R1 there.
 *	R5	a generation or run that is gone by then sends the step back to R1.
 *	R6	a snapshot that has expired meanwhile is an error.
 *
 * No lock is held between calls and nothing but the gate page and the metapage is pinned. (DESIGN sections 4, 5 and 8.)
 *-------------------------------------------------------------------------
 */
#include "activity.h"
#include "dead.h"
#include "dict.h"
#include "spare.h"
#include "tree.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define READER_BATCH		128
#define READER_BATCH_BYTES	32768
#define READER_MAX_RESTARTS	1000

/*
 * A bound or boundary.  lo and hi point to the caller's bytes, the others there or to bytes of the reader's own: copies
 * cost more than all else that a point lookup does with them.
 */
typedef struct Bound
{
	SfxPos		pos;
	bool		inf;			/* minus infinity as a low bound, plus infinity as a high one */
} Bound;

/* A copied batch of one generation, in the direction of the scan. */
typedef struct Batch
{
	uint32		gen;
	int			n;
	int			at;
	bool		cut;			/* there is more behind it */
	uint32		used;
	int			nkilled;
	uint8		killed[READER_BATCH];	/* numbers of entries whose rows are dead */
	SfxEntry	entry[READER_BATCH];
	uint8		bytes[READER_BATCH_BYTES + SFX_MAX_ENTRY];
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
	bool		whole;			/* the step stops at or beyond the leaf's fence: blocks need not be cut there */
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
	Share	   *stretched;		/* whose entries it has; NULL: there is none.  Then the share's at and last_at lag behind */
	MemoryContext cxt;			/* the owner's */
	Relation	index;
	const SfxOrder *order;
	Snapshot	snapshot;		/* see sfx_reader_snapshot */
	bool		gate;
	Buffer		gatebuf;
	Buffer		metabuf;		/* pinned from the first step on */
	uint32		gateno;
	ScanDirection dir;
	Anchor		anchor;
	bool		anchor_inclusive;
	/* ANCHOR_ENTRY: where the entry last returned stands; not a copy, which would cost more than the rest of a call */
	const SfxEntry *last_batch; /* NULL: in last_share's block, at last_at */
	Share	   *last_share;
	int			last_at;
	bool		active;			/* a step is in hand */
	bool		final;			/* ... and its stop is the range's end */
	bool		ask;			/* filters before leaves: none was read that had entries of the range */
	bool		believe;		/* a filter's word is enough */
	bool		maybe;			/* ... and one has said yes */
	SfxFilterCounts filters;	/* since the last reset */
	int			nbatches;
	int			nruns;			/* runs of the step besides the main tree */
	Bound		lo;
	Bound		hi;
	Bound		cur;
	Bound		stop;
	Bound		anchor_pos;
	int			curbuf;			/* which of bound_bytes cur may point to; stop: the other one */
	Batch	   *batch[SFX_MAX_GENS];
	/* rows of this step that are dead to everybody */
	Relation	heap;			/* set with the first of them */
	int			nkilled;		/* in batches */
	int			ndead;			/* in the main tree's leaf */
	uint64	   *dead;			/* their TIDs; room for SFX_DEAD_MAX, NULL until first needed */
	Bound		dead_pos;		/* where the first of them stands */
	uint32		leaf_entries;	/* of the main tree's leaf */
	Share	   *run[SFX_MAX_RUNS];	/* [0, nruns) in use */
	Share		main;
	uint8		bound_bytes[2][SFX_BOUND_MAX];
	uint8		anchor_bytes[SFX_BOUND_MAX];
	uint8		dead_bytes[SFX_MAX_ENTRY];
};

uint64		sfx_leaves_read = 0;

static uint8 fence_low[SFX_MAX_ENTRY];
static uint8 fence_high[SFX_MAX_ENTRY];

static inline bool
forward(const SfxReader *r)
{
	return ScanDirectionIsForward(r->dir);
}

/* Point b to a copy of these bytes. */
static void
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

/* The step in hand is over, or void. */
static inline void
end_step(SfxReader *r)
{
	close_stretch(r);
	r->active = false;
}

/* Order of two high bounds (inf greatest), or with low of two low ones (inf least). */
static int
bound_cmp(const SfxReader *r, const Bound *a, const Bound *b, bool low)
{
	if (a->inf || b->inf)
		return low ? b->inf - a->inf : a->inf - b->inf;
	return sfx_order_cmp_pos(r->order, &a->pos, &b->pos);
}

/* ---- set-up ---- */

SfxReader *
sfx_reader_begin(Relation index, const SfxOrder *order, bool gate)
{
	bool		fresh;
	SfxReader  *r = sfx_spare_get(SFX_SPARE_READER, sizeof(SfxReader), &fresh);

	/* Not zeroed whole: most of it is buffers. */
	r->cxt = CurrentMemoryContext;
	r->index = index;
	r->order = order;
	r->snapshot = NULL;
	r->gate = gate;
	r->gatebuf = r->metabuf = InvalidBuffer;
	r->gateno = 0;
	r->main.dict = NULL;
	for (int i = 0; i < SFX_MAX_GENS; i++)
		r->batch[i] = NULL;
	for (int i = 0; i < SFX_MAX_RUNS; i++)
		r->run[i] = NULL;
	r->anchor = ANCHOR_END;
	r->dir = ForwardScanDirection;
	r->curbuf = 0;
	r->stretched = NULL;
	r->stretch.block = NULL;
	r->stretch.at = 0;
	r->stretch.step = 1;
	end_step(r);
	r->believe = r->maybe = false;
	memset(&r->filters, 0, sizeof(r->filters));
	r->nkilled = r->ndead = 0;
	r->dead = NULL;
	return r;
}

void
sfx_reader_snapshot(SfxReader *r, Snapshot snapshot)
{
	r->snapshot = snapshot;
}

static void remove_dead(SfxReader *r);

void
sfx_reader_seek(SfxReader *r, const SfxPos *lo, const SfxPos *hi)
{
	remove_dead(r);
	r->lo.pos = *lo;
	r->lo.inf = false;
	r->hi.pos = *hi;
	r->hi.inf = hi->key == NULL;
	r->ask = true;
	r->anchor = ANCHOR_RANGE;
	end_step(r);
}

void
sfx_reader_no_filters(SfxReader *r)
{
	r->ask = false;
}

void
sfx_reader_reposition(SfxReader *r, const SfxPos *pos, bool inclusive)
{
	remove_dead(r);
	bound_set(&r->anchor_pos, r->anchor_bytes, pos->key, pos->len, pos->tid);
	r->anchor = ANCHOR_POS;
	r->anchor_inclusive = inclusive;
	end_step(r);
}

BlockNumber
sfx_reader_leaf(const SfxReader *r)
{
	return r->main.leafblk;
}

static void
drop_gate(SfxReader *r)
{
	if (BufferIsValid(r->gatebuf))
		ReleaseBuffer(r->gatebuf);
	r->gatebuf = InvalidBuffer;
}

static void
unpin_dicts(SfxReader *r)
{
	sfx_dict_unpin(&r->main.dict);
	for (int i = 0; i < SFX_MAX_RUNS && r->run[i]; i++)
		sfx_dict_unpin(&r->run[i]->dict);
}

void
sfx_reader_release_gate(SfxReader *r)
{
	drop_gate(r);
}

void
sfx_reader_rewind(SfxReader *r)
{
	remove_dead(r);
	drop_gate(r);
	end_step(r);
	r->anchor = ANCHOR_END;
}

void
sfx_reader_reset(SfxReader *r)
{
	sfx_reader_rewind(r);
	if (BufferIsValid(r->metabuf))
		ReleaseBuffer(r->metabuf);
	r->metabuf = InvalidBuffer;
	if (r->filters.asked > 0)
		sfx_activity_add(r->index, &r->filters);
}

void
sfx_reader_end(SfxReader *r)
{
	sfx_reader_reset(r);
	unpin_dicts(r);
	for (int i = 0; i < SFX_MAX_GENS; i++)
		if (r->batch[i])
			sfx_spare_put(SFX_SPARE_BATCH, r->batch[i]);
	for (int i = 0; i < SFX_MAX_RUNS; i++)
		if (r->run[i])
			sfx_spare_put(SFX_SPARE_SHARE, r->run[i]);
	sfx_spare_put(SFX_SPARE_READER, r);
}

/* ---- one step ---- */

/*
 * Pin the gate that the metapage names, before anything is copied.  Which one that is hardly ever changes: the one
 * of the last time is pinned first, and one look at the metapage confirms it.
 */
static void
read_meta_pinned(SfxReader *r, SfxMeta *meta)
{
	if (SFX_MUTANT("gate not read again"))
	{
		sfx_meta_reread(r->index, meta, &r->metabuf);
		drop_gate(r);
		r->gateno = meta->gate;
		SFX_STOP("gate chosen");
		r->gatebuf = ReadBuffer(r->index, SFX_GATE_BLKNO(r->gateno));
		return;
	}
	for (;;)
	{
		if (!BufferIsValid(r->gatebuf))
		{
			SFX_STOP("gate chosen");
			r->gatebuf = ReadBuffer(r->index, SFX_GATE_BLKNO(r->gateno));
		}
		sfx_meta_reread(r->index, meta, &r->metabuf);
		if (r->gateno == meta->gate)
			return;
		drop_gate(r);
		r->gateno = meta->gate;
		CHECK_FOR_INTERRUPTS();
	}
}

/* R1 */
static void
read_meta(SfxReader *r, SfxMeta *meta)
{
	if (r->gate)
		read_meta_pinned(r, meta);
	else
		sfx_meta_reread(r->index, meta, &r->metabuf);
}

static void
batch_add(Batch *b, const SfxEntry *e)
{
	SfxEntry   *to = &b->entry[b->n++];
	uint8	   *bytes = b->bytes + b->used;

	*to = *e;
	memcpy(bytes, e->key, e->keylen);
	to->key = bytes;
	if (e->paylen > 0)
		memcpy(bytes + e->keylen, e->payload, e->paylen);
	to->payload = bytes + e->keylen;
	b->used += e->keylen + e->paylen;
}

/* Does e lie beyond the far end of the range, seen from cur? */
static bool
beyond_range(const SfxReader *r, const SfxEntry *e)
{
	SfxPos		p = {e->key, e->keylen, e->tid};

	if (forward(r))
		return !r->hi.inf && sfx_order_cmp_pos(r->order, &p, &r->hi.pos) >= 0;
	return sfx_order_cmp_pos(r->order, &p, &r->lo.pos) < 0;
}

/* R2 for one generation.  False: it is gone. */
static bool
fill_batch(SfxReader *r, const SfxMeta *meta, int g, Batch *b)
{
	SfxImage   *img = sfx_image_acquire(r->index, r->order, meta, g);
	const SfxNodeAlloc *a;
	const SfxDelta *d;
	SfxCursor	c;
	bool		have;

	b->gen = meta->gens[g].gen;
	b->n = b->at = 0;
	b->used = 0;
	b->cut = false;
	b->nkilled = 0;
	if (img == NULL)
		return false;
	d = sfx_image_delta(img, &a);
	have = forward(r) ? sfx_delta_seek(d, a, &r->cur.pos, &c) :
		sfx_delta_seek_before(d, a, r->cur.inf ? NULL : &r->cur.pos, &c);
	while (have)
	{
		SfxEntry	e;

		sfx_delta_get(d, a, &c, &e);
		if (beyond_range(r, &e))
			break;
		if (b->n == READER_BATCH || b->used >= READER_BATCH_BYTES)
		{
			b->cut = true;
			break;
		}
		batch_add(b, &e);
		have = forward(r) ? sfx_delta_next(d, a, &c) : sfx_delta_prev(d, a, &c);
	}
	sfx_image_release(img);
	return true;
}

/* Move stop nearer, to this position. */
static void
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
static void *
get_spare(SfxReader *r, SfxSpareKind kind, Size size)
{
	MemoryContext old = MemoryContextSwitchTo(r->cxt);
	bool		fresh;
	void	   *spare = sfx_spare_get(kind, size, &fresh);

	MemoryContextSwitchTo(old);
	return spare;
}

/* R2 for all.  False: start again with R1. */
static bool
fill_batches(SfxReader *r, const SfxMeta *meta)
{
	r->nbatches = 0;
	for (int g = 0; g < meta->ngens; g++)
	{
		Batch	   *b;

		if (meta->gens[g].first == InvalidBlockNumber)
			continue;
		if (r->batch[r->nbatches] == NULL)
			r->batch[r->nbatches] = get_spare(r, SFX_SPARE_BATCH, sizeof(Batch));
		b = r->batch[r->nbatches];
		if (!fill_batch(r, meta, g, b) && !SFX_MUTANT("no restart"))
			return false;
		if (b->cut)
		{
			SfxEntry   *e = &b->entry[b->n - 1];

			stop_at(r, e->key, e->keylen, forward(r) ? e->tid + 1 : e->tid);
		}
		if (b->n > 0)
			r->nbatches++;
	}
	return true;
}

/*
 * Decode what of block number b of leaf lies between cur and stop.  first: it is the one that cur falls into; all
 * others lie beyond cur.
 */
static void
decode_block(SfxReader *r, Share *s, const SfxLeaf *leaf, int b, bool first)
{
	const SfxPos *cur = first && !r->cur.inf ? &r->cur.pos : NULL;
	const SfxPos *stop = s->whole || r->stop.inf ? NULL : &r->stop.pos;

	if (sfx_leaf_decode(leaf, b, forward(r) ? cur : stop, forward(r) ? stop : cur, s->block) < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	s->blockno = b;
	s->at = forward(r) ? 0 : s->block->nent - 1;
}

/* Where does the leaf's fence lie in the direction of the scan: beyond stop, or not?  If not, stop moves there. */
static bool
stop_at_fence(SfxReader *r, BlockNumber blkno, const SfxLeaf *leaf)
{
	SfxPos		low,
				high;
	bool		inf;

	if (forward(r))
	{
		if (!r->stop.inf && sfx_leaf_up_to_high(leaf, &r->stop.pos))
			return false;
	}
	else if (sfx_leaf_cmp_fences(leaf, &r->stop.pos) >= 0)
		return false;
	if (sfx_leaf_fences(leaf, fence_low, &low, fence_high, &high, &inf) < 0)
		sfx_corrupt(r->index, blkno, "leaf fences");
	if (!forward(r))
		stop_at(r, low.key, low.len, low.tid);
	else if (!inf)
		stop_at(r, high.key, high.len, high.tid);
	return true;
}

/* The leaf of a run that holds pos.  InvalidBuffer with *answered: a filter says that there is no need to read it; without: the run is gone. */
static Buffer
find_leaf(SfxReader *r, const SfxMeta *meta, uint32 run, const SfxPos *pos, Share *s, SfxLeaf *leaf, bool *answered)
{
	SfxProbe	probe;
	Buffer		buf;
	bool		fwd = forward(r);

	*answered = s->promised = false;
	sfx_leaves_read++;
	/* An open end is next to never empty: no filter is asked for it. */
	if (!r->ask || (fwd ? r->stop.inf : r->stop.pos.len == 0))
		return sfx_tree_find_leaf(r->index, r->order, meta, run, pos, !fwd, leaf);
	probe.lo = fwd ? &r->cur.pos : &r->stop.pos;
	probe.hi = fwd ? &r->stop.pos : r->cur.inf ? NULL : &r->cur.pos;
	/* all TIDs of one key: see sfx_key_range */
	probe.key = !r->hi.inf && sfx_same_bytes(r->lo.pos.key, r->lo.pos.len, r->hi.pos.key, r->hi.pos.len) ? r->lo.pos.key : NULL;
	probe.keylen = r->lo.pos.len;
	probe.no_leaf = r->believe;
	buf = sfx_tree_probe(r->index, r->order, meta, run, pos, !fwd, leaf, &probe);
	r->filters.asked += probe.asked;
	r->filters.denied += probe.asked && probe.absent;
	s->promised = probe.asked && !probe.absent;
	*answered = !BufferIsValid(buf) && sfx_probe_answered(&probe);
	if (!*answered)
		return buf;
	sfx_leaves_read--;
	if (!probe.absent)
		r->maybe = true;
	else if (!probe.fence_inf)
		stop_at(r, probe.fence.key, probe.fence.len, probe.fence.tid);
	return buf;
}

/* The step has nothing of this run's leaf. */
static void
skip_leaf(SfxReader *r, Share *s)
{
	s->have_page = s->promised = false;
	s->leaf.nblocks = 0;
	s->block->nent = 0;
	s->at = forward(r) ? 0 : -1;
}

/* R4, for a leaf that is opened; its page is locked. */
static void
start_share(SfxReader *r, Share *s, Page page, SfxLeaf *leaf)
{
	sfx_dict_attach(r->index, s->leafblk, page, leaf, &s->dict);
	s->have_page = false;
	s->block->nent = 0;
	s->at = forward(r) ? 0 : -1;
	s->whole = stop_at_fence(r, s->leafblk, leaf);
}

/* Is there anything for this step in the blocks behind number b, which is decoded? */
static bool
more_blocks(const SfxReader *r, const Share *s, const SfxLeaf *leaf, int b)
{
	int			last;

	if (!forward(r))
		return s->block->first == 0 && b > 0;
	if (s->block->first + s->block->nent < s->block->total || b + 1 >= leaf->nblocks)
		return false;
	if (s->whole || r->stop.inf)
		return true;
	last = sfx_leaf_find_block(leaf, &r->stop.pos);
	if (last < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf directory");
	return last > b;
}

/* The leaf's first block of the step.  False: there is none.  *more: the next block may have some of it, too. */
static bool
first_block(SfxReader *r, Share *s, const SfxLeaf *leaf, const SfxPos *pos, bool *more)
{
	int			b = 0;

	if (leaf->nblocks > 0)
	{
		if (forward(r))
			b = sfx_leaf_find_block(leaf, pos);
		else
			b = pos->key == NULL ? leaf->nblocks - 1 : sfx_leaf_find_block_before(leaf, pos);
		if (b < 0)
			sfx_corrupt(r->index, s->leafblk, "leaf directory");
	}
	if (b >= leaf->nblocks)
	{
		r->filters.wrong += s->promised;
		return false;
	}
	decode_block(r, s, leaf, b, true);
	/* where there are entries, more are likely to follow */
	if (s->block->nent > 0)
		r->ask = s->promised = false;
	*more = more_blocks(r, s, leaf, b);
	r->filters.wrong += s->promised && !*more;
	return true;
}

/* R3: find the main tree's leaf, decode its first block in place, copy the page if more of it is wanted. */
static void
read_leaf(SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	Share	   *s = &r->main;
	SfxLeaf		leaf;
	bool		answered;
	Buffer		buf = find_leaf(r, meta, SfxMetaMain(meta)->id, pos, s, &leaf, &answered);
	Page		page;
	BlockNumber next;
	bool		more;

	r->leaf_entries = 0;
	if (answered)
	{
		skip_leaf(r, s);
		return;
	}
	page = BufferGetPage(buf);
	s->leafblk = BufferGetBlockNumber(buf);
	start_share(r, s, page, &leaf);
	r->leaf_entries = leaf.nentries;
	if (first_block(r, s, &leaf, pos, &more) && (more || (s->block->haspay && s->block->nent > 0)))
	{
		memcpy(s->page.data, page, BLCKSZ);
		/* payloads lie in the page, too */
		if (s->block->haspay)
			s->block->payload = SfxPageBody((Page) s->page.data) + (s->block->payload - leaf.body);
		s->leaf = leaf;
		s->leaf.body = SfxPageBody((Page) s->page.data);
		s->have_page = more;
	}
	next = s->whole && !r->final && forward(r) ? SfxPageGetTail(page)->right : InvalidBlockNumber;
	UnlockReleaseBuffer(buf);
	/* a scan that goes on will want the next leaf soon */
	if (BlockNumberIsValid(next))
		(void) PrefetchBuffer(r->index, MAIN_FORKNUM, next);
}

/*
 * R3 for the other runs: copy the leaves; they can be decoded only when it is known where the step stops.
 * False: one of them is gone.
 */
static bool
copy_run_leaves(SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	for (r->nruns = 0; r->nruns < meta->nruns - 1; r->nruns++)
	{
		Share	   *s = r->run[r->nruns];
		Buffer		buf;
		bool		answered;

		if (s == NULL)
		{
			s = r->run[r->nruns] = get_spare(r, SFX_SPARE_SHARE, sizeof(Share));
			s->dict = NULL;
		}
		buf = find_leaf(r, meta, meta->runs[r->nruns].id, pos, s, &s->leaf, &answered);
		if (answered)
		{
			skip_leaf(r, s);
			continue;
		}
		if (!BufferIsValid(buf))
			return false;
		s->leafblk = BufferGetBlockNumber(buf);
		memcpy(s->page.data, BufferGetPage(buf), BLCKSZ);
		s->leaf.body = SfxPageBody((Page) s->page.data);
		start_share(r, s, (Page) s->page.data, &s->leaf);
		UnlockReleaseBuffer(buf);
	}
	return true;
}

/* R3 and R4.  False: start again with R1. */
static bool
read_trees(SfxReader *r, const SfxMeta *meta)
{
	SfxPos		infinity = {NULL, 0, 0};
	const SfxPos *pos = r->cur.inf ? &infinity : &r->cur.pos;

	if (!copy_run_leaves(r, meta, pos))
		return false;
	read_leaf(r, meta, pos);
	for (int i = 0; i < r->nruns; i++)
	{
		Share	   *s = r->run[i];
		bool		more;

		/* other leaves may have moved stop since */
		s->whole = false;
		if (first_block(r, s, &s->leaf, pos, &more))
			s->have_page = more;
	}
	return true;
}

/* R4: throw away what the batches hold beyond stop. */
static void
trim_batches(SfxReader *r)
{
	for (int i = 0; i < r->nbatches; i++)
	{
		Batch	   *b = r->batch[i];

		while (b->n > 0)
		{
			SfxEntry   *e = &b->entry[b->n - 1];
			SfxPos		p = {e->key, e->keylen, e->tid};

			if (forward(r) ? r->stop.inf || sfx_order_cmp_pos(r->order, &p, &r->stop.pos) < 0 :
				sfx_order_cmp_pos(r->order, &p, &r->stop.pos) >= 0)
				break;
			b->n--;
		}
	}
}

static void
step(SfxReader *r)
{
	SfxMeta		meta;

	remove_dead(r);
	for (int tries = 0;; tries++)
	{
		if (tries == READER_MAX_RESTARTS)
			sfx_corrupt(r->index, SFX_META_BLKNO, "generations of the delta, or runs, vanish under every reader");
		CHECK_FOR_INTERRUPTS();
		r->stop = forward(r) ? r->hi : r->lo;
		r->final = true;
		read_meta(r, &meta);
		SFX_STOP("metapage read");
		if (SFX_MUTANT("leaf before delta"))
		{
			(void) read_trees(r, &meta);
			SFX_STOP("between stages");
			if (fill_batches(r, &meta))
				break;
		}
		else if (fill_batches(r, &meta))
		{
			SFX_STOP("between stages");
			if (read_trees(r, &meta))
				break;
		}
	}
	/* R6: last, since VACUUM changes the metapage before it removes anything */
	SfxTestForOldSnapshot(r->snapshot, r->index, BufferGetPage(r->metabuf));
	trim_batches(r);
	r->stretch.step = r->dir;
	r->active = true;
}

/* ---- the stream ---- */

static int
cmp_entries(const SfxReader *r, const SfxEntry *a, const SfxEntry *b)
{
	SfxPos		pa = {a->key, a->keylen, a->tid};
	SfxPos		pb = {b->key, b->keylen, b->tid};

	return sfx_order_cmp_pos(r->order, &pa, &pb);
}

/* The leaf's next entry of this step; decodes the next block where needed. */
static bool
leaf_peek(SfxReader *r, Share *s, SfxEntry *e)
{
	while (s->at < 0 || s->at >= s->block->nent)
	{
		int			next = s->blockno + (forward(r) ? 1 : -1);

		if (!s->have_page || next < 0 || next >= s->leaf.nblocks)
			return false;
		CHECK_FOR_INTERRUPTS();
		decode_block(r, s, &s->leaf, next, false);
		/* cut off by stop: later blocks hold nothing for this step */
		if (forward(r) ? s->block->first + s->block->nent < s->block->total : s->block->first > 0)
			s->have_page = false;
	}
	sfx_block_entry(s->block, s->at, e);
	return true;
}

static inline void
leaf_advance(SfxReader *r, Share *s)
{
	s->at += forward(r) ? 1 : -1;
}

static bool
comes_before(const SfxReader *r, const SfxEntry *a, const SfxEntry *b)
{
	int			c = cmp_entries(r, a, b);

	return forward(r) ? c < 0 : c > 0;
}

static void
skip_if_equal(SfxReader *r, Share *s, const SfxEntry *e)
{
	SfxEntry	l;

	if (leaf_peek(r, s, &l) && cmp_entries(r, &l, e) == 0)
		leaf_advance(r, s);
}

/* The first of what the streams stand on, but for the share `but` (NULL: of all).  False: they are at their ends. */
static bool
first_of_all(SfxReader *r, const Share *but, SfxEntry *e, Share **share, const SfxEntry **batch)
{
	bool		have = but != &r->main && leaf_peek(r, &r->main, e);

	*share = &r->main;
	*batch = NULL;
	for (int i = 0; i < r->nruns; i++)
	{
		SfxEntry	l;

		if (but != r->run[i] && leaf_peek(r, r->run[i], &l) && (!have || comes_before(r, &l, e)))
		{
			*share = r->run[i];
			*e = l;
			have = true;
		}
	}
	for (int i = 0; i < r->nbatches; i++)
	{
		const Batch *b = r->batch[i];

		if (b->at < b->n && (!have || comes_before(r, &b->entry[b->at], e)))
		{
			*batch = &b->entry[b->at];
			*e = **batch;
			have = true;
		}
	}
	return have;
}

/*
 * How many of the n entries that share s has from its position on come before limit?  Looked for in growing leaps and
 * then by bisection, so that what a step costs beyond the leaf's own entries grows with what there is to merge with them.
 */
static int
count_before(const SfxReader *r, const Share *s, int n, const SfxEntry *limit)
{
	int			step = r->stretch.step;
	int			lo = 0;
	int			hi = n;
	int			leap = 1;
	SfxEntry	e;

	while (lo < hi)
	{
		int			count = leap > 0 ? Min(lo + leap, hi) : (lo + hi + 1) / 2;

		sfx_block_entry(s->block, s->at + step * (count - 1), &e);
		if (comes_before(r, &e, limit))
		{
			lo = count;
			leap *= 2;
		}
		else
		{
			hi = count - 1;
			leap = 0;
		}
	}
	return lo;
}

/* An entry of share s was returned: those that follow it directly can be taken the short way. */
static void
open_stretch(SfxReader *r, Share *s)
{
	int			n = r->stretch.step > 0 ? s->block->nent - s->at : s->at + 1;

	if (r->nbatches > 0 || r->nruns > 0)
	{
		SfxEntry	limit;
		Share	   *share;
		const SfxEntry *batch;

		if (n > 0 && first_of_all(r, s, &limit, &share, &batch))
			n = count_before(r, s, n, &limit);
	}
	r->stretched = s;
	r->stretch.block = s->block;
	r->stretch.at = s->at;
	r->stretch.end = s->at + n * r->stretch.step;
}

/* The union's next entry of this step. */
static bool
union_next(SfxReader *r, SfxEntry *e)
{
	close_stretch(r);
	if (!first_of_all(r, NULL, e, &r->last_share, &r->last_batch))
		return false;
	r->last_at = r->last_share->at;
	/* Whoever else stands on the same (key, TID) moves on with it. */
	for (int i = 0; i < r->nbatches; i++)
	{
		Batch	   *b = r->batch[i];

		if (b->at < b->n && cmp_entries(r, &b->entry[b->at], e) == 0)
			b->at++;
	}
	if (r->last_batch == NULL)
		leaf_advance(r, r->last_share);
	for (int i = 0; i < r->nruns; i++)
		if (r->last_batch || r->run[i] != r->last_share)
			skip_if_equal(r, r->run[i], e);
	if (r->last_batch || &r->main != r->last_share)
		skip_if_equal(r, &r->main, e);
	if (r->last_batch == NULL)
		open_stretch(r, r->last_share);
	return true;
}

/* The entry last returned. */
void
sfx_reader_last(const SfxReader *r, SfxEntry *e)
{
	Assert(r->anchor == ANCHOR_ENTRY);
	if (r->stretched)
		sfx_block_entry(r->stretched->block, r->stretch.at - r->stretch.step, e);
	else if (r->last_batch)
		*e = *r->last_batch;
	else
		sfx_block_entry(r->last_share->block, r->last_at, e);
}

/* Set cur for the direction now asked for, from where the stream stands. */
static void
set_boundary(SfxReader *r)
{
	const Bound *start = forward(r) ? &r->lo : &r->hi;
	SfxEntry	last;

	switch (r->anchor)
	{
		case ANCHOR_RANGE:
		case ANCHOR_END:		/* turned round after running off the far end */
			r->cur = *start;
			break;
		case ANCHOR_ENTRY:
			sfx_reader_last(r, &last);
			set_cur(r, last.key, last.keylen, last.tid + (forward(r) ? 1 : 0));
			break;
		case ANCHOR_POS:
			r->cur = r->anchor_pos;
			r->cur.pos.tid += forward(r) == r->anchor_inclusive ? 0 : 1;
			break;
	}
	/* never outside the range */
	if (r->anchor >= ANCHOR_ENTRY && bound_cmp(r, &r->cur, start, forward(r)) * (forward(r) ? 1 : -1) < 0)
		r->cur = *start;
}

static bool
range_is_empty(const SfxReader *r)
{
	if (forward(r))
		return !r->hi.inf && sfx_order_cmp_pos(r->order, &r->cur.pos, &r->hi.pos) >= 0;
	return !r->cur.inf && sfx_order_cmp_pos(r->order, &r->cur.pos, &r->lo.pos) <= 0;
}

bool
sfx_reader_next(SfxReader *r, ScanDirection dir, SfxEntry *e)
{
	if (!r->active || r->dir != dir)
	{
		if (r->anchor == ANCHOR_END && r->dir == dir)
			return false;
		r->dir = dir;
		set_boundary(r);
		remove_dead(r);
		end_step(r);
		if (range_is_empty(r))
		{
			r->anchor = ANCHOR_END;
			return false;
		}
		step(r);
	}
	for (;;)
	{
		if (union_next(r, e))
		{
			r->anchor = ANCHOR_ENTRY;
			return true;
		}
		if (r->final || r->maybe)
		{
			r->anchor = ANCHOR_END;
			end_step(r);
			return false;
		}
		cur_from_stop(r);
		step(r);
	}
}

/* ---- dead entries ---- */

void
sfx_reader_kill(SfxReader *r, Relation heap)
{
	SfxEntry	e;

	/* the heap calls dead, too, what it took from snapshots that have expired, and nothing here would tell them */
	if (!r->active || r->anchor != ANCHOR_ENTRY || heap == NULL || SfxSnapshotsExpire())
		return;
	r->heap = heap;
	if (r->last_batch)
	{
		for (int i = 0; i < r->nbatches; i++)
		{
			Batch	   *b = r->batch[i];

			if (r->last_batch < b->entry || r->last_batch >= b->entry + b->n || b->nkilled == READER_BATCH)
				continue;
			b->killed[b->nkilled++] = r->last_batch - b->entry;
			r->nkilled++;
		}
		return;
	}
	/* in the other runs they stay until VACUUM comes */
	if (r->ndead == SFX_DEAD_MAX || r->last_share != &r->main)
		return;
	if (r->dead == NULL)
		r->dead = MemoryContextAlloc(r->cxt, sizeof(uint64) * SFX_DEAD_MAX);
	sfx_reader_last(r, &e);
	if (r->ndead == 0)
		bound_set(&r->dead_pos, r->dead_bytes, e.key, e.keylen, e.tid);
	r->dead[r->ndead++] = e.tid;
}

/* Keep of the n entries those that stand in the image of generation number g now.  How many; 0 if the generation is gone. */
static int
keep_standing(SfxReader *r, const SfxMeta *meta, int g, SfxEntry **entries, int n)
{
	SfxImage   *img = sfx_image_acquire(r->index, r->order, meta, g);
	const SfxNodeAlloc *a;
	const SfxDelta *d;
	int			kept = 0;

	if (img == NULL)
		return 0;
	d = sfx_image_delta(img, &a);
	for (int i = 0; i < n; i++)
	{
		SfxPos		pos = {entries[i]->key, entries[i]->keylen, entries[i]->tid};
		SfxCursor	c;
		SfxEntry	e;

		if (!sfx_delta_seek(d, a, &pos, &c))
			continue;
		sfx_delta_get(d, a, &c, &e);
		if (e.tid == pos.tid && e.keylen == pos.len && memcmp(e.key, pos.key, pos.len) == 0)
			entries[kept++] = entries[i];
	}
	sfx_image_release(img);
	return kept;
}

/* X1: out of the image with them, if they are still there and the heap still says so. */
static void
remove_from_image(SfxReader *r, const SfxMeta *meta, Batch *b)
{
	SfxEntry   *entries[READER_BATCH];
	uint64		tids[READER_BATCH];
	SfxHorizon	horizon = {InvalidTransactionId, false};
	int			n = b->nkilled;
	int			g = 0;

	b->nkilled = 0;
	while (g < meta->ngens && meta->gens[g].gen != b->gen)
		g++;
	if (g == meta->ngens)
		return;
	for (int i = 0; i < n; i++)
		entries[i] = &b->entry[b->killed[i]];
	n = keep_standing(r, meta, g, entries, n);
	for (int i = 0; i < n; i++)
		tids[i] = entries[i]->tid;
	if (n > 0)
	{
		int			ndead = sfx_dead_ask(r->index, r->heap, tids, n, &horizon);

		if (ndead > 0)
			sfx_image_kill(r->index, r->order, meta, g, entries, n, tids, ndead, &horizon);
	}
}

/* The step in hand is done with: remove what of it was found dead. The gate keeps TIDs from being reused meanwhile. */
static void
remove_dead(SfxReader *r)
{
	int			ndead = r->ndead;

	if (r->nkilled > 0)
	{
		SfxMeta		meta;
		int			nbatches = r->nbatches;

		r->nkilled = 0;
		read_meta_pinned(r, &meta);
		for (int i = 0; i < nbatches; i++)
			if (r->batch[i]->nkilled > 0)
				remove_from_image(r, &meta, r->batch[i]);
		if (!r->gate)
			drop_gate(r);
	}
	r->ndead = 0;
	if (ndead > 0 && sfx_dead_worth(r->leaf_entries, ndead))
		sfx_dead_clean_leaf(r->index, r->heap, r->order, &r->dead_pos.pos, r->dead, ndead);
}

bool
sfx_reader_may_hold(SfxReader *r)
{
	SfxEntry	e;
	bool		found;

	r->believe = true;
	r->maybe = false;
	found = sfx_reader_next(r, ForwardScanDirection, &e) || r->maybe;
	r->believe = r->maybe = false;
	return found;
}

/* ---- single steps, for parallel scans ---- */

bool
sfx_reader_step(SfxReader *r, ScanDirection dir, const SfxPos *from, SfxPos *stop)
{
	remove_dead(r);
	r->dir = dir;
	r->anchor = ANCHOR_RANGE;
	end_step(r);
	if (from == NULL)
		set_boundary(r);
	else
		set_cur(r, from->key, from->len, from->tid);
	if (range_is_empty(r))
		return false;
	step(r);
	*stop = r->stop.pos;
	return !r->final;
}

bool
sfx_reader_take(SfxReader *r, SfxEntry *e)
{
	if (!r->active)
		return false;
	if (union_next(r, e))
	{
		r->anchor = ANCHOR_ENTRY;
		return true;
	}
	r->anchor = ANCHOR_END;
	end_step(r);
	return false;
}
