/*-------------------------------------------------------------------------
 * group_blocks.c - an upper bound of the blocks in the record of a group
 *
 * The record has the leaves, their parent, and the pages into which that and its parents are split.
 * The number is estimated before pages are built: roughly, by the bytes of all separators; if the
 * result is large, as if they were front-coded, since hundreds of separators may be long and nearly
 * the same.  A group whose record would be too large gets smaller, so any leaf can be rewritten
 * (T5).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "group_blocks.h"
#include "page.h"
#include "swap.h"

#define INNER_OVERHEAD		128 /* bytes of an inner page that do not grow with its children, at
								 * most */
#define CHILD_OVERHEAD		24	/* bytes of a child beside its separator, at most */
#define FRONT_BLOCK			16	/* one separator in so many is stored whole (inner_format.h) */
#define FEW_PAGES			4	/* so few pages need no closer estimate */

/* The children that the parent will have. */
typedef struct Children
{
	const SfxPos *low;
	int			n;
	const SfxPos *high;			/* NULL: none */
	bool		ordered;		/* in comparator order: no prefix is left out */
} Children;

/* The inner page that is being filled. */
typedef struct Filling
{
	int			from;			/* first child */
	int			n;
	Size		whole;			/* bytes of separators that are stored whole, but for the page's
								 * prefix, ... */
	int			nwhole;			/* ... and their number */
	Size		rests;			/* bytes that the others do not share with their predecessor */
	uint32		prefix;			/* bytes that all separators have in common */
} Filling;

static uint32
shared(const SfxPos *a, const SfxPos *b)
{
	return sfx_lcp(a->key, a->len, b->key, b->len);
}

static const SfxPos *
behind(const Children *c, int i)
{
	return i + 1 < c->n ? &c->low[i + 1] : c->high;
}

static void
add_child(Filling *f, const Children *c)
{
	const SfxPos *low = &c->low[f->from + f->n];
	uint32		same = f->n > 0 ? shared(low - 1, low) : low->len;

	f->prefix = f->n > 0 ? Min(f->prefix, same) : same;
	if (f->n % FRONT_BLOCK == 0)
	{
		f->whole += low->len;
		f->nwhole++;
	}
	else
		f->rests += low->len - same;
	f->n++;
}

static Size
page_bytes(const Filling *f, const Children *c)
{
	int			last = f->from + f->n - 1;
	const SfxPos *high = behind(c, last);
	uint32		prefix = 0;

	if (high && !c->ordered)
		prefix = Min(f->prefix, shared(&c->low[last], high));
	return INNER_OVERHEAD + c->low[f->from].len + (high ? high->len - prefix : 0) +
		f->whole - (Size) f->nwhole * prefix + f->rests + (Size) f->n * CHILD_OVERHEAD;
}

/* The number of pages if they are filled one by one; any page has room for two children. */
static int
count_pages(const Children *c)
{
	Filling		f = {0};
	int			pages = 1;

	while (f.from + f.n < c->n)
	{
		Filling		before = f;

		add_child(&f, c);
		if (before.n < 2 || page_bytes(&f, c) <= SFX_BODY_CAPACITY)
			continue;
		f = (Filling) {.from = before.from + before.n};
		pages++;
	}
	return pages;
}

/* The number of pages if separators shared no bytes. */
static Size
rough_pages(const Children *c)
{
	Size		bytes = (Size) c->n * CHILD_OVERHEAD;
	Size		longest = 0;
	int			room;

	for (int i = 0; i < c->n; i++)
	{
		bytes += c->low[i].len;
		longest = Max(longest, c->low[i].len);
	}
	room = (int) SFX_BODY_CAPACITY - INNER_OVERHEAD - 2 * (int) longest;
	return Min((Size) c->n / 2, bytes / Max(room, 1));
}

/* The children of the group's parent, with these leaves in place of its own. */
static void
collect(const SfxGroup *g, const SfxNewLeaf *leaf, int n, Children *c)
{
	SfxPos	   *low = palloc(sizeof(SfxPos) * (n + (g->has_node ? g->node.nchildren : 0) + 1));

	*c = (Children) {.low = low,.ordered = g->tree.order != NULL};
	for (int i = 0; g->has_node && i < g->from; i++)
		low[c->n++] = g->node.children[i].low;
	for (int i = 0; i < n; i++)
		low[c->n++] = leaf[i].low;
	for (int i = g->to; g->has_node && i < g->node.nchildren; i++)
		low[c->n++] = g->node.children[i].low;
	if (g->has_node && !g->node.high_inf)
		c->high = &g->node.high;
}

static bool
has_filters(const SfxGroup *g)
{
	for (int i = 0; g->has_node && i < g->node.nchildren; i++)
		if (g->node.children[i].filter != 0)
			return true;
	return false;
}

/*
 * A page ends when its next child, with a fence, does not fit; splitting in halves may need one
 * more page.  If separators are as long as keys may be, an inner page has room for two children
 * only, so pages of upper levels count as well.
 */
int
sfx_group_blocks(const SfxGroup *g, const SfxNewLeaf *leaf, int n, int filters)
{
	int			nold = g->to - g->from;
	const SfxRun *run = sfx_meta_run(g->tree.index, g->tree.meta, g->tree.run);
	bool		at_root = !g->has_node || g->node.blkno == run->root;
	Children	c;
	int			inner;

	if (!g->has_node && n == 1)
		return 1;
	collect(g, leaf, n, &c);
	inner = (int) rough_pages(&c) + 2;
	/* pages that must end between two filters may be half full */
	if (inner > FEW_PAGES)
		inner = Min(inner, count_pages(&c) * (has_filters(g) ? 2 : 1) + 1);
	pfree(unconstify(SfxPos *, c.low));
	return Max(n, nold) + inner + (at_root ? inner : 0) + filters;
}
