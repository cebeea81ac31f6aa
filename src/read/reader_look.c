/*-------------------------------------------------------------------------
 * reader_look.c - the rows of batches that last for several steps (R10)
 *
 * A caller that reads many entries in order would stop at each one of the delta's to see its row.
 * Here the rows of many such entries are looked at together, page by page, and the entries that are
 * left have visible rows, like those that the map vouches for.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "reader_impl.h"
#include "visible.h"

StaticAssertDecl(READER_LASTING <= SFX_VISIBILITY_ROWS, "a batch's rows are looked at together");

void
sfx_reader_look_ahead(SfxReader *r, SfxVisibility *v)
{
	/* its rows are looked at while their TIDs cannot be reused */
	Assert(r->gate.wanted || SFX_MUTANT("rows without a gate"));
	r->delta.looker = v;
}

/* Which of a batch's entries does the map not vouch for?  Their numbers, and how many. */
static int
find_hidden(SfxReader *r, const Batch *b, int *number)
{
	uint64		tid[SFX_VISIBILITY_ENTRIES];
	uint16		hidden[SFX_VISIBILITY_ENTRIES];
	int			found = 0;

	for (int from = 0; from < b->n; from += SFX_VISIBILITY_ENTRIES)
	{
		int			n = Min(b->n - from, SFX_VISIBILITY_ENTRIES);

		for (int i = 0; i < n; i++)
			tid[i] = b->entry[from + i].tid;
		n = sfx_visibility_hidden(r->delta.looker, tid, n, hidden);
		for (int h = 0; h < n; h++)
			number[found++] = from + hidden[h];
	}
	return found;
}

/* Drop those of the n entries that are not seen. */
static void
keep_seen(Batch *b, const int *number, const bool *seen, int n)
{
	int			kept;
	int			h = 0;

	while (h < n && seen[h])
		h++;
	if (h == n)
		return;
	kept = number[h];
	for (int i = kept; i < b->n; i++)
	{
		bool		keep = h == n || number[h] != i || seen[h];

		h += h < n && number[h] == i;
		if (keep)
			b->entry[kept++] = b->entry[i];
	}
	b->n = kept;
}

static void
look_at_batch(SfxReader *r, Batch *b)
{
	int		   *number = MemoryContextAlloc(r->cxt, b->n * sizeof(int));
	uint64	   *tid = MemoryContextAlloc(r->cxt, b->n * sizeof(uint64));
	bool	   *seen = MemoryContextAlloc(r->cxt, b->n * sizeof(bool));
	int			n = find_hidden(r, b, number);

	for (int i = 0; i < n; i++)
		tid[i] = b->entry[number[i]].tid;
	sfx_visibility_look(r->delta.looker, tid, n, seen);
	if (!SFX_MUTANT("rows of batches unseen"))
		keep_seen(b, number, seen, n);
	pfree(number);
	pfree(tid);
	pfree(seen);
}

void
sfx_reader_look_at_batches(SfxReader *r)
{
	Assert(forward(r) && (!r->gate.wanted || BufferIsValid(r->gate.buf)));
	SFX_STOP("rows of batches");
	for (int i = 0; i < r->delta.nbatches; i++)
	{
		if (r->delta.batch[i]->n > 0)
			look_at_batch(r, r->delta.batch[i]);
		r->delta.batch[i]->all = r->delta.batch[i]->n;
	}
	r->delta.lasting = true;
	SFX_STOP("batches last");
}
