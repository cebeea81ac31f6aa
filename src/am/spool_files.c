/*-------------------------------------------------------------------------
 * spool_files.c - sorted items in temporary files, and their merge
 *
 * A file is a sequence of items, each two bytes of length and its bytes.  The merge compares the
 * first eight bytes of items, and the others only where these are equal.  The files stand in a
 * heap, with the least item on top.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "spool_files.h"

#include "build.h"
#include "miscadmin.h"
#include "storage/buffile.h"

#define BUFFER_LEAST	(2 * (2 + SFX_ITEM_MAX))
#define BUFFER_MOST		(256 * 1024)
#define WRITE_BUFFER	(64 * 1024)

struct SfxSorted
{
	BufFile    *file;
	FileSet    *set;
	uint8	   *buf;			/* a buffer: of items not yet written, or read ahead */
	Size		size;			/* of buf */
	Size		used;			/* bytes in buf */
	/* reading */
	Size		at;				/* offset of the current item */
	bool		end;			/* the file has no more than buf */
	uint64		word;			/* the current item's first bytes, as a number */
};

struct SfxSortedMerge
{
	int			n;				/* files in the heap, which have items left */
	int			nfiles;
	bool		started;		/* an item was returned */
	SfxSorted **heap;
	SfxSorted **files;
	SfxSortedCmp cmp;			/* NULL: by bytes */
	void	   *arg;
};

static void
name_of(uint32 number, char *name)
{
	snprintf(name, MAXPGPATH, "%u", number);
}

/* ---- writing ---- */

SfxSorted *
sfx_sorted_create(FileSet *set, uint32 number)
{
	SfxSorted  *f = palloc0(sizeof(SfxSorted));
	char		name[MAXPGPATH];

	name_of(number, name);
	f->set = set;
	f->file = set ? BufFileCreateFileSet(set, name) : BufFileCreateTemp(false);
	f->size = WRITE_BUFFER;
	f->buf = palloc(f->size);
	return f;
}

/* Write the buffer to the file. */
static void
flush(SfxSorted *f)
{
	CHECK_FOR_INTERRUPTS();
	if (f->used > 0)
		BufFileWrite(f->file, f->buf, f->used);
	f->used = 0;
}

void
sfx_sorted_put(SfxSorted *f, const uint8 *item, int len)
{
	if (f->used + 2 + len > f->size)
		flush(f);
	sfx_put16(f->buf + f->used, (uint16) len);
	memcpy(f->buf + f->used + 2, item, len);
	f->used += 2 + len;
}

void
sfx_sorted_finish(SfxSorted *f)
{
	flush(f);
	pfree(f->buf);
	f->buf = NULL;
	if (f->set)
	{
		BufFileExportFileSet(f->file);
		BufFileClose(f->file);
		pfree(f);
	}
	else if (BufFileSeek(f->file, 0, 0, SEEK_SET) != 0)
		elog(ERROR, "could not rewind a temporary file");
}

SfxSorted *
sfx_sorted_open(FileSet *set, uint32 number)
{
	SfxSorted  *f = palloc0(sizeof(SfxSorted));
	char		name[MAXPGPATH];

	name_of(number, name);
	f->set = set;
	f->file = BufFileOpenFileSet(set, name, O_RDONLY, false);
	return f;
}

void
sfx_sorted_delete(FileSet *set, uint32 number)
{
	char		name[MAXPGPATH];

	name_of(number, name);
	BufFileDeleteFileSet(set, name, false);
}

/* ---- merging ---- */

/* Fill the buffer, keeping its rest. */
static void
fill(SfxSorted *f)
{
	Size		left = f->used - f->at;
	Size		got;

	CHECK_FOR_INTERRUPTS();
	memmove(f->buf, f->buf + f->at, left);
	got = BufFileRead(f->file, f->buf + left, f->size - left);
	f->end = got < f->size - left;
	f->used = left + got;
	f->at = 0;
}

/* Make the item at f->at the current one.  False: the file is at its end. */
static inline bool
look(SfxSorted *f)
{
	int			len;

	if (unlikely(f->used - f->at < 2 + SFX_ITEM_MAX) && !f->end)
		fill(f);
	if (f->at == f->used)
		return false;
	len = f->used - f->at < 2 ? 0 : sfx_get16(f->buf + f->at);
	if (len == 0 || f->used - f->at < 2 + (Size) len)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("a temporary file of an index build ends within an item")));
	if (likely(len >= 8))
		f->word = sfx_load_be64(f->buf + f->at + 2);
	else
	{
		f->word = 0;
		for (int i = 0; i < len; i++)
			f->word |= (uint64) f->buf[f->at + 2 + i] << (56 - 8 * i);
	}
	return true;
}

/* Go on to the next item. */
static inline bool
step(SfxSorted *f)
{
	f->at += 2 + sfx_get16(f->buf + f->at);
	return look(f);
}

/* Is a's current item less than b's? */
static inline bool
less(const SfxSortedMerge *m, const SfxSorted *a, const SfxSorted *b)
{
	const uint8 *x = a->buf + a->at;
	const uint8 *y = b->buf + b->at;

	if (m->cmp)
		return m->cmp(m->arg, x + 2, sfx_get16(x), y + 2, sfx_get16(y)) < 0;
	if (a->word != b->word)
		return a->word < b->word;
	return sfx_cmp_bytes(x + 2, sfx_get16(x), y + 2, sfx_get16(y)) < 0;
}

/* Restore the heap when the item of its i-th file may have become greater. */
static inline void
sift_down(SfxSortedMerge *m, int i)
{
	SfxSorted  *f = m->heap[i];

	for (;;)
	{
		int			child = 2 * i + 1;

		if (child >= m->n)
			break;
		if (child + 1 < m->n && less(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!less(m, m->heap[child], f))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = f;
}

SfxSortedMerge *
sfx_sorted_merge_begin(SfxSorted **files, int n, Size memory, SfxSortedCmp cmp, void *arg)
{
	SfxSortedMerge *m = palloc0(sizeof(SfxSortedMerge));

	m->files = palloc(sizeof(SfxSorted *) * Max(n, 1));
	m->heap = palloc(sizeof(SfxSorted *) * Max(n, 1));
	m->nfiles = n;
	m->cmp = cmp;
	m->arg = arg;
	for (int i = 0; i < n; i++)
	{
		SfxSorted  *f = m->files[i] = files[i];

		f->size = TYPEALIGN_DOWN(BLCKSZ, Min(Max(memory / n, BUFFER_LEAST + BLCKSZ), BUFFER_MOST));
		f->buf = palloc(f->size);
		f->used = f->at = 0;
		f->end = false;
		if (look(f))
			m->heap[m->n++] = f;
	}
	for (int i = m->n / 2 - 1; i >= 0; i--)
		sift_down(m, i);
	return m;
}

const uint8 *
sfx_sorted_merge_next(SfxSortedMerge *m, int *len)
{
	SfxSorted  *f;

	/* only now go past the item returned last: its bytes were the caller's until this call */
	if (m->started && m->n > 0)
	{
		if (!step(m->heap[0]))
			m->heap[0] = m->heap[--m->n];
		if (m->n > 1)
			sift_down(m, 0);
	}
	m->started = true;
	if (m->n == 0)
		return NULL;
	f = m->heap[0];
	*len = sfx_get16(f->buf + f->at);
	return f->buf + f->at + 2;
}

void
sfx_sorted_merge_end(SfxSortedMerge *m)
{
	for (int i = 0; i < m->nfiles; i++)
	{
		BufFileClose(m->files[i]->file);
		pfree(m->files[i]->buf);
		pfree(m->files[i]);
	}
	pfree(m->files);
	pfree(m->heap);
	pfree(m);
}
