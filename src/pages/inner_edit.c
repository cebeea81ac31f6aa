/*-------------------------------------------------------------------------
 * inner_edit.c - what a record says of an inner page some of whose children were replaced, and how
 * redo repeats the change
 *
 * Most groups change their parent in one place, and the parent stays one page.  Then the record has
 * the new children instead of an image (except for the first change after a checkpoint), and redo
 * builds the page from its former contents as the action did.  sfx_inner_build is a function of its
 * arguments on every processor, so the bytes are the same.
 *
 *	0	2	first child that goes
 *	2	2	first child after it that stays
 *	4	2	number of new children, then for each:
 *	.	4	block
 *	.	8	entries below it
 *	.	8	TID of its low fence
 *	.	4	block of the filter over it
 *	.	2	length of the low fence's key
 *	.	.	key
 *
 * In native byte order, as all of WAL.  Not used for pages in comparator order, whose comparisons
 * need the catalogs, nor where the filters of other children change.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "inner.h"
#include "page.h"
#include "wal.h"

#include "utils/memutils.h"

#define EDIT_HEAD	6
#define EDIT_CHILD	26

char *
sfx_edit_encode(int from, int to, const SfxChild *repl, int n, Size *len)
{
	uint16		head[3] = {(uint16) from, (uint16) to, (uint16) n};
	Size		size = EDIT_HEAD;
	char	   *data,
			   *p;

	for (int i = 0; i < n; i++)
		size += EDIT_CHILD + repl[i].low.len;
	p = data = palloc(size);
	memcpy(p, head, EDIT_HEAD);
	p += EDIT_HEAD;
	for (int i = 0; i < n; i++)
	{
		uint16		keylen = (uint16) repl[i].low.len;

		memcpy(p, &repl[i].blkno, 4);
		memcpy(p + 4, &repl[i].count, 8);
		memcpy(p + 12, &repl[i].low.tid, 8);
		memcpy(p + 20, &repl[i].filter, 4);
		memcpy(p + 24, &keylen, 2);
		if (keylen > 0)
			memcpy(p + EDIT_CHILD, repl[i].low.key, keylen);
		p += EDIT_CHILD + keylen;
	}
	*len = size;
	return data;
}

/* The children of a page, with copies of their keys in the current context. */
typedef struct Children
{
	SfxChild   *child;
	int			n;
} Children;

/* As an SfxChildFn: copies a child. */
static int
collect(void *ctx, int i, const SfxChild *child)
{
	Children   *c = ctx;
	uint8	   *key = palloc(Max(child->low.len, 1));

	if (child->low.len > 0)
		memcpy(key, child->low.key, child->low.len);
	c->child[i] = *child;
	c->child[i].low.key = key;
	c->n = i + 1;
	return SFX_OK;
}

/*
 * Parse one new child at *at of data; moves *at on.  Its key points into data.  False: there is no
 * whole one.
 */
static bool
parse_child(const char *data, Size len, Size *at, SfxChild *c)
{
	uint16		keylen;

	if (len - *at < EDIT_CHILD)
		return false;
	memcpy(&c->blkno, data + *at, 4);
	memcpy(&c->count, data + *at + 4, 8);
	memcpy(&c->low.tid, data + *at + 12, 8);
	memcpy(&c->filter, data + *at + 20, 4);
	memcpy(&keylen, data + *at + 24, 2);
	*at += EDIT_CHILD;
	if (len - *at < keylen)
		return false;
	c->low.key = (const uint8_t *) data + *at;
	c->low.len = keylen;
	*at += keylen;
	return true;
}

/* *out: the page's children after the edit.  False: page or edit are damaged. */
static bool
apply(const SfxInner *inner, const char *data, Size len, Children *out)
{
	Children	old = {palloc(sizeof(SfxChild) * Max(inner->nchildren, 1)), 0};
	uint16		head[3];
	Size		at = EDIT_HEAD;

	if (len < EDIT_HEAD || sfx_inner_each(inner, collect, &old) < 0)
		return false;
	memcpy(head, data, EDIT_HEAD);
	if (head[0] > head[1] || head[1] > old.n)
		return false;
	out->n = old.n - (head[1] - head[0]) + head[2];
	out->child = palloc(sizeof(SfxChild) * Max(out->n, 1));
	memcpy(out->child, old.child, sizeof(SfxChild) * head[0]);
	for (int i = 0; i < head[2]; i++)
		if (!parse_child(data, len, &at, &out->child[head[0] + i]))
			return false;
	memcpy(out->child + head[0] + head[2], old.child + head[1], sizeof(SfxChild) * (old.n - head[1]));
	return at == len;
}

/* Apply the edit to the page.  False: page or data are damaged. */
static bool
redo(Page page, const char *data, Size len)
{
	SfxPageTail tail = *SfxPageGetTail(page);
	uint8	   *lowbuf = palloc(SFX_MAX_ENTRY);
	uint8	   *highbuf = palloc(SFX_MAX_ENTRY);
	uint8	   *body = palloc(SFX_BODY_CAPACITY);
	Children	children;
	SfxInner	inner;
	SfxPos		low,
				high;
	bool		inf;
	int			size;

	if (PageIsNew(page) || tail.kind != SFX_PAGE_INNER ||
		sfx_inner_open(&inner, SfxPageBody(page), SfxPageBodyLen(page), NULL) < 0 ||
		sfx_inner_fences(&inner, lowbuf, &low, highbuf, &high, &inf) < 0 ||
		!apply(&inner, data, len, &children))
		return false;
	size = sfx_inner_build(children.child, children.n, inf ? NULL : &high, body, SFX_BODY_CAPACITY,
						   palloc(sfx_inner_scratch_size()), NULL);
	if (size < 0)
		return false;
	sfx_page_init(page, SFX_PAGE_INNER, tail.build_id, tail.owner, tail.level);
	sfx_page_set_body(page, body, (uint32) size);
	SfxPageGetTail(page)->right = tail.right;
	return true;
}

bool
sfx_edit_redo(Page page, const char *data, Size len)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx redo", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	bool		done = redo(page, data, len);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return done;
}
