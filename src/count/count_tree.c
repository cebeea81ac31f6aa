/*-------------------------------------------------------------------------
 * count_tree.c - the exact number of a run's entries in a range
 *
 * It is added up from the counts on the pages above the leaves, which are exact, since a leaf and
 * its parent change in one record (T2).  Only the leaves that hold a bound are read.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "count_tree.h"
#include "counters.h"
#include "dict.h"
#include "find.h"
#include "inner.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"

#include "miscadmin.h"
#include "utils/memutils.h"

typedef struct TreeCount
{
	Relation	index;
	const SfxOrder *order;
	const SfxMeta *meta;
	const SfxRun *run;
	const SfxPos *hi;
	bool		near_end;		/* the end of the range is in the leaf that holds pos */
	SfxBoundBuf at;				/* entries before it are counted */
	uint64		n;
	uint64		most;			/* n does not exceed it: a leaf that has more is left, ... */
	bool		enough;			/* ... and the count ends */
	bool		exact;			/* no bound is undecided beside a cut key */
} TreeCount;

static inline bool
below_end(const TreeCount *t)
{
	return t->hi->key == NULL || sfx_order_cmp_pos(t->order, &t->at.pos, t->hi) < 0;
}

/* Count n more entries.  False: these are too many. */
static inline bool
add(TreeCount *t, uint64 n)
{
	t->enough = n > t->most - t->n;
	if (!t->enough)
		t->n += n;
	return !t->enough;
}

/* Does a cut leaf leave open on which side of pos one of its entries is? */
static bool
is_undecided(const SfxLeaf *leaf, const SfxPos *pos)
{
	SfxBlock   *block = palloc(sizeof(SfxBlock));
	int			result = sfx_leaf_undecided(leaf, pos, block);

	/* damage is reported when the leaf is counted */
	pfree(block);
	return result != 0;
}

/*
 * Count the entries of one leaf from t->at to the end of the leaf or of the range; t->at becomes
 * the leaf's end.  False: the range, or the tree, ends in this leaf, or it has too many, or the run is
 * gone.
 */
static bool
count_leaf(TreeCount *t)
{
	SfxTree    *tree = SfxTreeOf(t->index, t->order, t->meta, t->run->id);
	Buffer		buf = sfx_tree_find(tree, &t->at.pos, false, 0);
	BlockNumber blkno;
	char	   *copy = palloc(BLCKSZ);
	uint8	   *fences = palloc(2 * SFX_MAX_ENTRY);
	SfxLeaf		leaf;
	SfxPos		low,
				high;
	bool		inf;
	int			r;

	/* the run is gone, and the count is void: the caller sees that in the list of runs */
	if (!BufferIsValid(buf))
		return false;
	sfx_leaves_read++;
	sfx_leaves_tidless++;
	blkno = BufferGetBlockNumber(buf);
	memcpy(copy, BufferGetPage(buf), BLCKSZ);
	if (sfx_leaf_open(&leaf, SfxPageBody((Page) copy), SfxPageBodyLen((Page) copy), t->order) < 0 ||
		sfx_leaf_fences(&leaf, fences, &low, fences + SFX_MAX_ENTRY, &high, &inf) < 0)
		sfx_corrupt(t->index, blkno, "leaf header or directory");
	sfx_dict_attach(t->index, blkno, (Page) copy, &leaf, NULL);
	UnlockReleaseBuffer(buf);
	if (leaf.cut &&
		(is_undecided(&leaf, &t->at.pos) || (t->hi->key && is_undecided(&leaf, t->hi))))
		t->exact = false;
	r = sfx_leaf_count(&leaf, &t->at.pos, t->hi->key ? t->hi : NULL);
	if (r < 0)
		sfx_corrupt(t->index, blkno, "leaf block");
	if (add(t, r) && !inf)
		sfx_bound_set(&t->at, &high);
	pfree(copy);
	pfree(fences);
	return !t->enough && !inf && below_end(t);
}

/* A copy of a page above the leaves. */
typedef struct Above
{
	SfxInner	page;
	BlockNumber blkno;
	SfxPos		low;
	SfxPos		high;
	bool		inf;
	uint8		fences[2 * SFX_MAX_ENTRY];
	PGAlignedBlock copy;
} Above;

/* Copy the page that holds t->at.  False: the run is gone. */
static bool
load_above(TreeCount *t, Above *a)
{
	Buffer		buf = sfx_tree_find(SfxTreeOf(t->index, t->order, t->meta, t->run->id), &t->at.pos,
									false, 1);
	Page		copy = (Page) a->copy.data;

	if (!BufferIsValid(buf))
		return false;
	a->blkno = BufferGetBlockNumber(buf);
	memcpy(copy, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	if (SfxPageGetTail(copy)->level == 0)
		return false;
	if (sfx_inner_open(&a->page, SfxPageBody(copy), SfxPageBodyLen(copy), t->order) < 0 ||
		sfx_inner_fences(&a->page, a->fences, &a->low, a->fences + SFX_MAX_ENTRY, &a->high, &a->inf) < 0)
		sfx_corrupt(t->index, a->blkno, "inner page");
	return true;
}

/* The child that holds pos; *begins: it begins there. */
static int
find_child(const TreeCount *t, const Above *a, const SfxPos *pos, bool *begins)
{
	int			i = sfx_inner_find(&a->page, pos);
	int			before = sfx_inner_find_before(&a->page, pos);

	if (i < 0 || before < 0)
		sfx_corrupt(t->index, a->blkno, "inner page search");
	*begins = i != before || (i == 0 && sfx_order_cmp_pos(t->order, &a->low, pos) == 0);
	return i;
}

/*
 * t->at becomes the beginning of a child, which the child itself tells: cheaper than to decode it
 * from the copy.  False: the block has another leaf by now, which begins elsewhere.  Moves (G1) and
 * VACUUM write leaves, too, without a group that is counted.
 */
static bool
go_to_child(TreeCount *t, const Above *a, int i)
{
	const SfxTree *tree = SfxTreeOf(t->index, t->order, t->meta, t->run->id);
	uint8	   *fences = palloc(2 * SFX_MAX_ENTRY);
	uint32_t	blkno;
	uint64_t	count;
	SfxPos		low = {0};
	SfxPos		high;
	bool		inf;
	bool		begins;
	bool		valid;

	if (sfx_inner_child(&a->page, i, &blkno, &count) < 0)
		sfx_corrupt(t->index, a->blkno, "inner page");
	valid = sfx_tree_leaf_fences(tree, blkno, fences, &low, fences + SFX_MAX_ENTRY, &high, &inf);
	valid = valid && ((find_child(t, a, &low, &begins) == i && begins) ||
					  SFX_MUTANT("any leaf is the child"));
	if (valid)
		sfx_bound_set(&t->at, &low);
	return valid;
}

/*
 * Count whole leaves: the children from t->at on, of the page above the leaves that holds it, up to
 * the one that holds the end of the range, or has too many; of the page only the counts are
 * decoded.  t->at becomes the end of the last one counted.  *end: that was the tree's last leaf.
 * False: no leaf begins there, or none is in the range as a whole, so a leaf has to be read.
 */
static bool
count_children(TreeCount *t, bool *end)
{
	Above	   *a = palloc(sizeof(Above));
	bool		begins;
	int			from;
	int			to;
	int			next;
	uint64		n;

	if (!load_above(t, a))
		return false;
	from = find_child(t, a, &t->at.pos, &begins);
	if (!begins)
		return false;
	to = a->page.nchildren;
	if (t->hi->key && sfx_inner_cmp_fences(&a->page, t->hi) <= 0)
		to = find_child(t, a, t->hi, &begins);
	t->near_end = to < a->page.nchildren;
	next = sfx_inner_pass(&a->page, from, to, t->most - t->n, &n);
	if (next < 0)
		sfx_corrupt(t->index, a->blkno, "inner page");
	t->n += n;
	t->enough = next < to;
	if (next == from)
		return false;
	*end = next == a->page.nchildren && a->inf;
	SFX_STOP("leaves counted");
	if (next < a->page.nchildren)
		t->exact &= go_to_child(t, a, next);
	else if (!a->inf)
		sfx_bound_set(&t->at, &a->high);
	return t->exact;
}

static void
count(TreeCount *t)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx count",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	bool		more = true;

	while (more && !t->enough && below_end(t))
	{
		bool		end = false;

		CHECK_FOR_INTERRUPTS();
		if (t->run->level > 0 && !t->near_end && count_children(t, &end))
			more = !end;
		else if (!t->exact)
			break;
		else if (!t->enough)
			more = count_leaf(t);
		MemoryContextReset(cxt);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}

uint64
sfx_pass_tree(Relation index, const SfxOrder *order, const SfxMeta *meta, const SfxRun *run,
			  SfxBoundBuf *at, const SfxPos *hi, uint64 most, bool *all, bool *exact)
{
	TreeCount  *t = palloc(sizeof(TreeCount));
	uint64		n;

	t->index = index;
	t->order = order;
	t->meta = meta;
	t->run = run;
	t->hi = hi;
	t->near_end = t->enough = false;
	t->n = 0;
	t->most = most;
	t->exact = true;
	sfx_bound_set(&t->at, &at->pos);
	count(t);
	sfx_bound_set(at, &t->at.pos);
	n = t->n;
	*all = !t->enough;
	*exact = t->exact;
	pfree(t);
	return n;
}

uint64
sfx_count_tree(Relation index, const SfxOrder *order, const SfxMeta *meta, const SfxRun *run,
			   const SfxPos *lo, const SfxPos *hi, bool *exact)
{
	SfxBoundBuf *at = palloc(sizeof(SfxBoundBuf));
	bool		all;
	uint64		n;

	sfx_bound_set(at, lo);
	n = sfx_pass_tree(index, order, meta, run, at, hi, PG_UINT64_MAX, &all, exact);
	pfree(at);
	return n;
}
