/*-------------------------------------------------------------------------
 * child_file.c - the pages of one level of a tree that is being built, on their way to the level
 * above
 *
 * One record for each page follows the other: block, filter, length of the low fence's key, its
 * TID, number of entries, key.  Written from first to last, then read in the same order, once.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "child_file.h"

#include "storage/buffile.h"
#include "utils/rel.h"

#define BUFFER_LEAST	8192
#define BUFFER_MOST		(1024 * 1024)	/* bytes; beyond them the buffer is written to a file */

/* The head of a page's record; the key follows. */
typedef struct Record
{
	uint32		blkno;
	uint32		filter;
	uint64		count;
	uint64		tid;
	uint32		len;			/* of the key, which follows */
} Record;

/*
 * While it is written: records go to buf, and from there to file once buf has BUFFER_MOST bytes.
 * While it is read: from file if there is one, else from buf.
 */
struct SfxChildFile
{
	Relation	index;
	uint64		n;
	uint8	   *buf;			/* the end of the records; without a file, all of them */
	Size		size;			/* of buf */
	Size		used;
	Size		at;				/* bytes of buf that were read */
	BufFile    *file;
	bool		reading;		/* a window reads it: nothing is added any more */
};

SfxChildFile *
sfx_child_file_create(Relation index)
{
	SfxChildFile *f = palloc0(sizeof(SfxChildFile));

	f->index = index;
	f->size = BUFFER_LEAST;
	f->buf = palloc(f->size);
	return f;
}

/* Append what buf holds to the file, which is made if there is none. */
static void
write_out(SfxChildFile *f)
{
	if (f->file == NULL)
		f->file = BufFileCreateTemp(false);
	BufFileWrite(f->file, f->buf, f->used);
	f->used = 0;
}

/* Make room in buf for n more bytes, fewer than BUFFER_LEAST: enlarge it, or write it out. */
static void
make_room(SfxChildFile *f, Size n)
{
	if (f->used + n <= f->size)
		return;
	if (f->size == BUFFER_MOST)
		write_out(f);
	else
	{
		f->size *= 2;
		f->buf = repalloc(f->buf, f->size);
	}
}

static void
put(SfxChildFile *f, const void *bytes, Size n)
{
	memcpy(f->buf + f->used, bytes, n);
	f->used += n;
}

void
sfx_child_file_put(SfxChildFile *f, const SfxChild *child)
{
	Record		r = {0};

	Assert(!f->reading && child->low.len <= SFX_MAX_ENTRY);
	r.blkno = child->blkno;
	r.filter = child->filter;
	r.count = child->count;
	r.tid = child->low.tid;
	r.len = child->low.len;
	make_room(f, sizeof(r) + r.len);
	put(f, &r, sizeof(r));
	put(f, child->low.key, r.len);
	f->n++;
}

uint64
sfx_child_file_count(const SfxChildFile *f)
{
	return f->n;
}

void
sfx_child_file_end(SfxChildFile *f)
{
	if (f->file)
		BufFileClose(f->file);
	if (f->buf)
		pfree(f->buf);
	pfree(f);
}

/* ---- reading ---- */

/* Read the next n bytes.  ERROR if there are fewer. */
static void
get(SfxChildFile *f, void *bytes, Size n)
{
	Size		got;

	if (f->file)
		got = BufFileRead(f->file, bytes, n);
	else
	{
		got = Min(n, f->used - f->at);
		memcpy(bytes, f->buf + f->at, got);
		f->at += got;
	}
	if (got != n)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read the temporary file of index \"%s\": %zu of %zu bytes",
						RelationGetRelationName(f->index), got, n)));
}

void
sfx_child_window_begin(SfxChildWindow *w, SfxChildFile *f)
{
	Assert(!f->reading);
	f->reading = true;
	if (f->file)
	{
		write_out(f);
		if (BufFileSeek(f->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not rewind the temporary file of index \"%s\"",
							RelationGetRelationName(f->index))));
		pfree(f->buf);
		f->buf = NULL;
	}
	w->file = f;
	w->child = NULL;
	w->n = w->room = 0;
	w->unread = f->n;
}

void
sfx_child_window_fill(SfxChildWindow *w, int n)
{
	if (n > w->room)
	{
		w->child = w->child == NULL ? palloc(sizeof(SfxChild) * n) :
			repalloc(w->child, sizeof(SfxChild) * n);
		w->room = n;
	}
	while (w->n < n && w->unread > 0)
	{
		SfxChild   *c = &w->child[w->n++];
		Record		r;
		uint8	   *key;

		get(w->file, &r, sizeof(r));
		key = palloc(Max(r.len, 1));
		get(w->file, key, r.len);
		c->low.key = key;
		c->low.len = r.len;
		c->low.tid = r.tid;
		c->blkno = r.blkno;
		c->count = r.count;
		c->filter = r.filter;
		w->unread--;
	}
}

void
sfx_child_window_drop(SfxChildWindow *w, int n)
{
	Assert(n <= w->n);
	for (int i = 0; i < n; i++)
		pfree((void *) w->child[i].low.key);
	w->n -= n;
	memmove(w->child, w->child + n, sizeof(SfxChild) * w->n);
}

void
sfx_child_window_end(SfxChildWindow *w)
{
	sfx_child_window_drop(w, w->n);
	if (w->child)
		pfree(w->child);
}
