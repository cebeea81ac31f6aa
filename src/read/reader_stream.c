/*-------------------------------------------------------------------------
 * reader_stream.c - what a step has read, as one ordered stream: the union of all stages
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "leaf.h"
#include "page.h"
#include "reader.h"
#include "reader_impl.h"

#include "miscadmin.h"

/* So many entries of the main tree between two of other stages are handed out as they are. */
#define MERGED_STRETCH	128

static int
cmp_entries(const SfxReader *r, const SfxEntry *a, const SfxEntry *b)
{
	SfxPos		pa = {a->key, a->keylen, a->tid};
	SfxPos		pb = {b->key, b->keylen, b->tid};

	return sfx_order_cmp_pos(r->order, &pa, &pb);
}

/* The step goes on after its first block. */
static inline void
ask_for_right(SfxReader *r)
{
	if (BlockNumberIsValid(r->ahead.right))
		(void) sfx_prefetch_page(r->index, r->ahead.right);
	r->ahead.right = InvalidBlockNumber;
}

/* Stand on the leaf's next entry; decodes the next block, or more of this one, where needed. */
static bool
stand_on_next(SfxReader *r, LeafCursor *s)
{
	while (s->at < 0 || s->at >= s->block->nent)
	{
		int			next = s->blockno + (forward(r) ? 1 : -1);
		bool		left = sfx_block_left(s->block);

		if (!s->have_page || (!left && (next < 0 || next >= s->leaf.nblocks)))
			return false;
		CHECK_FOR_INTERRUPTS();
		sfx_reader_take_block(r, s);
		if (left)
			sfx_reader_decode_left(r, s);
		else
		{
			ask_for_right(r);
			sfx_reader_decode(r, s, &s->leaf, next, false);
		}
		/* cut off by stop: later blocks hold nothing for this step */
		if (!sfx_block_left(s->block) &&
			(forward(r) ? s->block->first + s->block->nent < s->block->total :
			 s->block->first > 0))
			s->have_page = false;
		sfx_reader_settle(r, s);
	}
	return true;
}

static inline void
leaf_advance(SfxReader *r, LeafCursor *s)
{
	s->at += forward(r) ? 1 : -1;
}

/* The leaf's next entry of this step that is not left out (X8). */
static bool
leaf_peek(SfxReader *r, LeafCursor *s, SfxEntry *e)
{
	for (;;)
	{
		if (!stand_on_next(r, s))
			return false;
		if (likely(!s->skips) || !is_skipped(s, s->at))
			break;
		if (s == &r->main && r->passed.on && is_next_passed(r, s->at))
			pass_number(r, s->at);
		leaf_advance(r, s);
	}
	sfx_block_entry(s->block, s->at, e);
	return true;
}

/* How many of the n entries from the cursor's position on come before one that is left out? */
static int
count_to_skipped(const SfxReader *r, const LeafCursor *s, int n)
{
	int			i = 0;

	while (i < n && !is_skipped(s, s->at + i * r->stretch.step))
		i++;
	return i;
}

static bool
comes_before(const SfxReader *r, const SfxEntry *a, const SfxEntry *b)
{
	int			c = cmp_entries(r, a, b);

	return forward(r) ? c < 0 : c > 0;
}

static void
skip_if_equal(SfxReader *r, LeafCursor *s, const SfxEntry *e)
{
	SfxEntry	l;

	if (leaf_peek(r, s, &l) && cmp_entries(r, &l, e) == 0)
		leaf_advance(r, s);
}

/*
 * Where e, of another stage, belongs in main's block, which is keyless: before entry number rank
 * of those that came out.  *equal: that one is e itself.  Looked up once for each e and block:
 * bytes of entries in hand stay where they are until the step ends.
 */
static int
rank_in_main(SfxReader *r, const SfxEntry *e, bool *equal)
{
	LeafCursor *s = &r->main;

	if (r->ranked.key != e->key || r->ranked.tid != e->tid || r->ranked.block != s->blockno)
	{
		SfxPos		pos = {e->key, e->keylen, e->tid};

		r->ranked.rank = sfx_leaf_rank(&s->leaf, s->blockno, &pos, &r->ranked.equal);
		if (r->ranked.rank < 0)
			sfx_corrupt(r->index, s->leafblk, "leaf block");
		r->ranked.key = e->key;
		r->ranked.tid = e->tid;
		r->ranked.block = s->blockno;
	}
	*equal = r->ranked.equal && !SFX_MUTANT("twice in two stages");
	return r->ranked.rank - s->block->first;
}

/*
 * Main's next entry, which has no key, or e of another stage: does main's come first, or are they
 * the same?  Then e's key is main's, too.
 */
static bool
main_comes_first(SfxReader *r, const SfxEntry *e, bool *same)
{
	bool		equal;
	int			rank = rank_in_main(r, e, &equal);

	*same = equal && r->main.at == rank;
	return *same || (forward(r) ? r->main.at < rank : r->main.at >= rank);
}

/*
 * The first of what the streams stand on, but for the cursor `but` (NULL: of all).  False: they are
 * at their ends.  What is main's may lack its key, if no other stream stands on the same.
 */
static bool
first_of_all(SfxReader *r, const LeafCursor *but, SfxEntry *e, LeafCursor **leaf,
			 const SfxEntry **batch)
{
	bool		have = but != &r->main && leaf_peek(r, &r->main, e);

	if (unlikely(have && r->main.block->keyless) && (r->delta.nbatches > 0 || r->nruns > 0))
	{
		SfxEntry	main = *e;
		bool		same = false;
		bool		others = first_of_all(r, &r->main, e, leaf, batch);

		Assert(but == NULL);
		if (others && !main_comes_first(r, e, &same))
			return true;
		if (!same)
			*e = main;
		*leaf = &r->main;
		*batch = NULL;
		return true;
	}
	*leaf = &r->main;
	*batch = NULL;
	for (int i = 0; i < r->nruns; i++)
	{
		SfxEntry	l;

		if (but != r->run[i] && leaf_peek(r, r->run[i], &l) && (!have || comes_before(r, &l, e)))
		{
			*leaf = r->run[i];
			*e = l;
			have = true;
		}
	}
	for (int i = 0; i < r->delta.nbatches; i++)
	{
		const Batch *b = r->delta.batch[i];

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
 * How many of the n entries that cursor s has from its position on come before limit?  Looked for
 * in growing leaps and then by bisection, so that what a step costs beyond the leaf's own entries
 * grows with what there is to merge with them.
 */
static int
count_before(const SfxReader *r, const LeafCursor *s, int n, const SfxEntry *limit)
{
	const SfxBlock *block = s->block;
	int			step = r->stretch.step;
	int			lo = 0;
	int			hi = n;
	int			leap = 1;
	int			compared = -1;	/* a key: its order beside limit's is c */
	int			c = 0;

	while (lo < hi)
	{
		int			count = leap > 0 ? Min(lo + leap, hi) : (lo + hi + 1) / 2;
		int			i = s->at + step * (count - 1);
		int			k = sfx_block_keyno(block, i);

		if (k != compared)
			c = sfx_order_cmp(r->order, block->keys + block->keyoff[k],
							  block->keyoff[k + 1] - block->keyoff[k], limit->key, limit->keylen);
		compared = k;
		if (forward(r) ? c < 0 || (c == 0 && block->tid[i] < limit->tid) :
			c > 0 || (c == 0 && block->tid[i] > limit->tid))
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

/* The same for main's block without keys. */
static int
count_before_keyless(SfxReader *r, int n, const SfxEntry *limit)
{
	bool		equal;
	int			rank = rank_in_main(r, limit, &equal);
	int			before = forward(r) ? rank - r->main.at : r->main.at + 1 - rank - (equal ? 1 : 0);

	return Max(Min(before, n), 0);
}

/* An entry of cursor s was returned: those that follow it directly can be taken the short way. */
static void
open_stretch(SfxReader *r, LeafCursor *s)
{
	int			n = r->stretch.step > 0 ? s->block->nent - s->at : s->at + 1;

	if (unlikely(s->skips))
		n = count_to_skipped(r, s, n);
	if (r->delta.nbatches > 0 || r->nruns > 0)
	{
		SfxEntry	limit;
		LeafCursor *leaf;
		const SfxEntry *batch;

		/* nothing tells how many of another stage come before an entry without a key */
		if (s != &r->main && r->main.keyless)
			n = 0;
		if (n > 0 && first_of_all(r, s, &limit, &leaf, &batch))
			n = s->block->keyless ? count_before_keyless(r, n, &limit) :
				count_before(r, s, n, &limit);
	}
	r->stretched = s;
	r->stretch.block = s->block;
	r->stretch.at = s->at;
	r->stretch.end = r->stretch.whole = s->at + n * r->stretch.step;
}

/*
 * Each stage that stands on e, which is of batch or else of leaf, moves on: of entries with the
 * same (key, TID) one is returned.
 */
static void
step_over(SfxReader *r, const SfxEntry *e, LeafCursor *leaf, const SfxEntry *batch)
{
	for (int i = 0; i < r->delta.nbatches; i++)
	{
		Batch	   *b = r->delta.batch[i];

		if (b->at < b->n && cmp_entries(r, &b->entry[b->at], e) == 0)
			b->at++;
	}
	if (batch == NULL)
		leaf_advance(r, leaf);
	for (int i = 0; i < r->nruns; i++)
		if (batch || r->run[i] != leaf)
			skip_if_equal(r, r->run[i], e);
	/* (of the same two, a main without keys has come first) */
	if ((batch || &r->main != leaf) && !r->main.keyless &&
		!(r->delta.lasting && SFX_MUTANT("twice in a block")))
		skip_if_equal(r, &r->main, e);
}

bool
sfx_reader_union_next(SfxReader *r, SfxEntry *e)
{
	Assert(r->win.active);
	close_stretch(r);
	if (!first_of_all(r, NULL, e, &r->last.leaf, &r->last.batch))
		return false;
	r->last.at = r->last.leaf->at;
	if (r->last.batch == NULL && e->keylen == 0)
	{
		/* without its key: no other stage stands on it */
		leaf_advance(r, r->last.leaf);
		open_stretch(r, r->last.leaf);
		return true;
	}
	step_over(r, e, r->last.leaf, r->last.batch);
	if (r->last.batch == NULL)
		open_stretch(r, r->last.leaf);
	return true;
}

/* The entry last returned is one of a leaf's: its key may have been left out. */
static void
need_key(SfxReader *r)
{
	LeafCursor *s = r->stretched ? r->stretched : r->last.leaf;

	if (likely(!s->block->keyless))
		return;
	sfx_reader_take_block(r, s);
	if (sfx_leaf_add_keys(&s->leaf, s->blockno, s->block) < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	if (r->stretched)
		r->stretch.block = s->block;
}

/* Entry i of the cursor's block, with its whole key. */
static void
leaf_entry(SfxReader *r, LeafCursor *s, int i, SfxEntry *e)
{
	sfx_block_entry(s->block, i, e);
	if (unlikely(s->leaf.cut && s == &r->main && r->want.candidates))
		sfx_reader_whole_key(r, i, e);
}

bool
sfx_reader_last_tidless(const SfxReader *r)
{
	Assert(r->range.anchor == ANCHOR_ENTRY);
	return r->last.batch == NULL && r->last.leaf->block->tidless;
}

/* The entry last returned. */
void
sfx_reader_last(SfxReader *r, SfxEntry *e)
{
	Assert(r->range.anchor == ANCHOR_ENTRY);
	if (r->stretched || r->last.batch == NULL)
		need_key(r);
	if (r->stretched)
		leaf_entry(r, r->stretched, r->stretch.at - r->stretch.step, e);
	else if (r->last.batch)
		*e = *r->last.batch;
	else
		leaf_entry(r, r->last.leaf, r->last.at, e);
}

bool
sfx_reader_recheck(const SfxReader *r)
{
	Assert(r->range.anchor == ANCHOR_ENTRY);
	return r->last.batch == NULL && r->last.leaf == &r->main && r->main.leaf.cut && r->cut.recheck;
}

bool
sfx_reader_last_known(const SfxReader *r)
{
	Assert(r->range.anchor == ANCHOR_ENTRY);
	return r->delta.lasting && r->last.batch != NULL;
}

/* ---- entries of all stages as one block ---- */

/* payload: room for theirs, or NULL if they have none. */
static void
empty_block(SfxBlock *b, uint8 *payload)
{
	b->nent = b->nkeys = b->first = b->total = 0;
	b->width = 0;
	b->dups = b->keyless = b->tidless = b->bits = false;
	b->left_from = b->left_to = 0;
	b->keyoff[0] = b->payoff[0] = 0;
	b->haspay = payload != NULL;
	b->payload = payload;
}

/* Does the block's last entry have this key? */
static inline bool
ends_with(const SfxBlock *b, const uint8 *key, uint32 len)
{
	uint32		last;

	if (b->nkeys == 0)
		return false;
	last = b->keyoff[b->nkeys - 1];
	return sfx_same_bytes(b->keys + last, b->keyoff[b->nkeys] - last, key, len);
}

/* Entries with one key come into the block. */
static void
number_keys(SfxBlock *b)
{
	for (int i = 0; i < b->nent; i++)
		b->keyno[i] = (uint16) i;
	b->dups = true;
}

/* After the block's keys come keys [first, first + n) of another one, or of an entry. */
static void
add_keys(SfxBlock *b, const uint8 *keys, const uint32 *keyoff, int n, uint32 width)
{
	uint32		at = b->keyoff[b->nkeys];
	uint32	   *end = &b->keyoff[b->nkeys + 1];

	memcpy(b->keys + at, keys + keyoff[0], keyoff[n] - keyoff[0]);
	for (int k = 0; k < n; k++)
		end[k] = at + keyoff[k + 1] - keyoff[0];
	b->width = b->nkeys == 0 || b->width == width ? width : 0;
	b->nkeys += n;
}

static inline bool
has_room(const SfxBlock *b)
{
	return b->nent < SFX_BLOCK_ENTRIES && b->nkeys < SFX_BLOCK_KEYS &&
		b->keyoff[b->nkeys] <= SFX_BLOCK_RAW &&
		(!b->haspay || b->payoff[b->nent] <= SFX_MERGED_PAYLOADS);
}

/* Bytes of the payloads of n entries of a decoded block from number at on. */
static inline uint32
payload_bytes(const SfxBlock *from, int at, int n)
{
	return from->haspay ? from->payoff[at + n] - from->payoff[at] : 0;
}

/* Of n entries of a decoded block from number at on, those for which there is room. */
static int
that_fit(const SfxBlock *b, const SfxBlock *from, int at, int n)
{
	uint32		most = SFX_BLOCK_RAW + SFX_MAX_ENTRY - b->keyoff[b->nkeys];
	uint32		most_payload = SFX_MERGED_PAYLOADS + SFX_MAX_ENTRY;
	int			first = sfx_block_keyno(from, at);

	Assert(b->haspay || !from->haspay);
	if (b->haspay)
		most_payload -= b->payoff[b->nent];

	n = Min(n, SFX_BLOCK_ENTRIES - b->nent);
	while (n > 0)
	{
		int			last = sfx_block_keyno(from, at + n - 1);

		if (last - first < SFX_BLOCK_KEYS - b->nkeys &&
			from->keyoff[last + 1] - from->keyoff[first] <= most &&
			payload_bytes(from, at, n) <= most_payload)
			break;
		n--;
	}
	return n;
}

/* Their keys' numbers in the block are so much greater, or less. */
static void
add_key_numbers(SfxBlock *b, const SfxBlock *from, int at, int n, int more)
{
	uint16	   *to = b->keyno + b->nent;
	const uint64 each = UINT64CONST(0x0001000100010001) * (uint64) (int64) more;
	int			i = 0;

	/* four at once: none of them comes below 0, or to 2^16 */
	for (; from->dups && i + 4 <= n; i += 4)
	{
		uint64		four;

		memcpy(&four, from->keyno + at + i, sizeof(four));
		four += each;
		memcpy(to + i, &four, sizeof(four));
	}
	for (; i < n; i++)
		to[i] = (uint16) (sfx_block_keyno(from, at + i) + more);
}

/* Where the payloads of n more entries end, which are copied from there on, at these offsets. */
static void
add_payloads(SfxBlock *b, uint8 *to, const uint8 *payload, const uint32 *payoff, int n)
{
	uint32		at = b->payoff[b->nent];
	uint32	   *end = &b->payoff[b->nent + 1];

	memcpy(to + at, payload + payoff[0], payoff[n] - payoff[0]);
	for (int i = 0; i < n; i++)
		end[i] = at + payoff[i + 1] - payoff[0];
}

/* ... of none. */
static void
add_no_payloads(SfxBlock *b, int n)
{
	for (int i = 0; i < n; i++)
		b->payoff[b->nent + i + 1] = b->payoff[b->nent];
}

/* They come into the block. */
static void
add_stretch(SfxBlock *b, const SfxBlock *from, int at, int n, bool *known, uint8 *payload)
{
	int			first = sfx_block_keyno(from, at);
	int			nkeys = sfx_block_keyno(from, at + n - 1) - first + 1;
	int			same = ends_with(b, from->keys + from->keyoff[first],
								 from->keyoff[first + 1] - from->keyoff[first]);

	if (!b->dups && (same || nkeys < n))
		number_keys(b);
	if (b->dups)
		add_key_numbers(b, from, at, n, b->nkeys - same - first);
	memcpy(b->tid + b->nent, from->tid + at, n * sizeof(uint64));
	memset(known + b->nent, false, n);
	if (nkeys > same)
		add_keys(b, from->keys, from->keyoff + first + same, nkeys - same, from->width);
	if (b->haspay && from->haspay)
		add_payloads(b, payload, from->payload, from->payoff + at, n);
	else if (b->haspay)
		add_no_payloads(b, n);
	b->nent += n;
}

static void
add_entry(SfxBlock *b, const SfxEntry *e, bool known_one, bool *known, uint8 *payload)
{
	bool		same = ends_with(b, e->key, e->keylen);
	uint32		keyoff[2] = {0, e->keylen};
	uint32		payoff[2] = {0, e->paylen};

	if (!b->dups && same)
		number_keys(b);
	if (!same)
		add_keys(b, e->key, keyoff, 1, e->keylen);
	if (b->dups)
		b->keyno[b->nent] = (uint16) (b->nkeys - 1);
	if (b->haspay && e->paylen > 0)
		add_payloads(b, payload, e->payload, payoff, 1);
	else if (b->haspay)
		add_no_payloads(b, 1);
	b->tid[b->nent] = e->tid;
	known[b->nent++] = known_one;
}

/*
 * Main's entries that come before all others' next one: how many of the block in hand, which it
 * may be the end of.
 */
static int
main_before(SfxReader *r, bool others, const SfxEntry *other)
{
	LeafCursor *s = &r->main;
	SfxEntry	e;

	if (!leaf_peek(r, s, &e))
		return 0;
	return others ? count_before(r, s, s->block->nent - s->at, other) : s->block->nent - s->at;
}

/* The reader stands after the block's last entry. */
static void
stand_after(SfxReader *r, const SfxBlock *b)
{
	SfxEntry	last;

	sfx_block_entry(b, b->nent - 1, &last);
	bound_set(r, &r->range.anchor_pos, &r->room.anchor, last.key, last.keylen, last.tid);
	r->range.anchor = ANCHOR_POS;
	r->range.anchor_inclusive = false;
}

int
sfx_reader_merged(SfxReader *r, SfxBlock *block, bool *known, uint8 *payload)
{
	LeafCursor *s = &r->main;

	if (!r->win.active || !r->delta.lasting || s->tidless)
		return 0;
	Assert(forward(r) && !s->keyless && !r->want.tids_only);
	close_stretch(r);
	empty_block(block, payload);
	while (has_room(block))
	{
		SfxEntry	other;
		LeafCursor *leaf;
		const SfxEntry *batch;
		bool		others = first_of_all(r, s, &other, &leaf, &batch);
		int			n = main_before(r, others, &other);

		if (n >= MERGED_STRETCH || (n == 0 && !others))
			break;
		if (n > 0)
		{
			int			fit = that_fit(block, s->block, s->at, n);

			if (fit > 0)
				add_stretch(block, s->block, s->at, fit, known, payload);
			s->at += fit;
			if (fit < n)
				break;
			/* the next block may have more */
			if (s->at == s->block->nent)
				continue;
		}
		if (others)
		{
			if (!has_room(block))
				break;
			add_entry(block, &other, batch != NULL, known, payload);
			step_over(r, &other, leaf, batch);
		}
	}
	block->total = block->nent;
	if (block->nent > 0)
		stand_after(r, block);
	return block->nent;
}
