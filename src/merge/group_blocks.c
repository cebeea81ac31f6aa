/*-------------------------------------------------------------------------
 * group_blocks.c - how many blocks the record of a group takes, at most
 *
 * It has the leaves, their parent, and what that becomes when it is split.  The number is estimated
 * before pages are built: roughly by the bytes of all separators, and where that is much, as if
 * they were front-coded, since hundreds of separators may be long and nearly the same.  A group whose
 * record would be too large gets smaller, so any leaf can be rewritten (T5).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "group_blocks.h"
#include "page.h"

#define INNER_OVERHEAD		128 /* bytes of an inner page, at most, that do not grow with its
								 * children */
#define CHILD_OVERHEAD		24	/* bytes of a child beside its separator, at most */
#define FRONT_BLOCK			16	/* of so many separators the first one is whole (inner_format.h) */
#define FEW_PAGES			4	/* not worth a closer look */

/* The parent's children as they are to be. */
typedef struct Children
{
	const SfxPos *low;
	int			n;
	const SfxPos *high;			/* NULL: none */
	bool		ordered;		/* by comparison functions: no prefix is left out */
} Children;

/* What is on an inner page that is being filled. */
typedef struct Filling
{
	int			from;			/* first child */
	int			n;
	Size		whole;			/* bytes of separators that are whole but for the page's prefix, */
	int			nwhole;			/* how many */
	Size		rests;			/* ... and of what the others do not share with the one before */
	uint32		prefix;			/* bytes that all have in common */
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

/* Pages that are filled one by one; two children have room on any. */
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

/* Before a look at what they share. */
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
 * A page was full when its next child, with a fence, did not fit; splitting it in halves may cost
 * one more.  Where separators are as long as keys can be, an inner page has room for two children,
 * so that the pages above count, too.
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
	/* where pages have to end between two filters, they may be half full */
	if (inner > FEW_PAGES)
		inner = Min(inner, count_pages(&c) * (has_filters(g) ? 2 : 1) + 1);
	pfree(unconstify(SfxPos *, c.low));
	return Max(n, nold) + inner + (at_root ? inner : 0) + filters;
}
