/*-------------------------------------------------------------------------
 * agg_row.c - the first or the last row of each group
 *
 * DISTINCT ON takes one row of a group, and all of its columns.  The state of the first such output
 * holds that row's entry, of which all are decoded.  Rows that are put off come later than others
 * of their group, so entries are told apart by their keys; of equal ones any is right.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_value_impl.h"

/* A state's value: an entry. */
typedef struct KeptRow
{
	uint32		room;			/* bytes there is room for */
	uint32		keylen;
	uint32		paylen;
	bool		haspay;
	uint8		bytes[FLEXIBLE_ARRAY_MEMBER];	/* key, then payload */
} KeptRow;

static KeptRow *
kept_row(const SfxAggState *s)
{
	return s->have ? (KeptRow *) DatumGetPointer(s->value) : NULL;
}

/* Keep this entry in place of another one. */
static void
keep(SfxAggregates *a, SfxAggState *s, const SfxEntry *e)
{
	KeptRow    *row = kept_row(s);

	if (row == NULL || row->room < e->keylen + e->paylen)
	{
		uint32		room = e->keylen + e->paylen;

		if (row)
			pfree(row);
		row = MemoryContextAlloc(a->cxt, offsetof(KeptRow, bytes) + room);
		row->room = room;
		s->value = PointerGetDatum(row);
		s->have = true;
	}
	row->keylen = e->keylen;
	row->paylen = e->paylen;
	row->haspay = e->payload != NULL;
	memcpy(row->bytes, e->key, e->keylen);
	if (e->paylen > 0)
		memcpy(row->bytes + e->keylen, e->payload, e->paylen);
}

void
sfx_agg_add_row(SfxAggregates *a, const SfxAggMethod *m, SfxAggState *s, const SfxBlock *block,
				int from, int to)
{
	const KeptRow *row = kept_row(s);
	SfxEntry	e;
	int			c = 0;

	/* all outputs are of one row, which the first of them has */
	if (m != a->row)
		return;
	sfx_block_entry(block, m->out.direction > 0 ? from : to - 1, &e);
	if (row && !SFX_MUTANT("rows as they come"))
		c = sfx_order_cmp(a->order, e.key, e.keylen, row->bytes, row->keylen);
	if (row == NULL || (m->out.direction > 0 ? c < 0 : c > 0))
		keep(a, s, &e);
}

bool
sfx_aggregates_take_rows(const SfxAggregates *a)
{
	return a->row != NULL;
}

bool
sfx_aggregates_row(const SfxAggregates *a, const SfxAggState *states, SfxEntry *e)
{
	const KeptRow *row = a->row ? kept_row(&states[a->row - a->method]) : NULL;

	if (row == NULL)
		return false;
	e->key = row->bytes;
	e->keylen = row->keylen;
	e->payload = row->haspay ? row->bytes + row->keylen : NULL;
	e->paylen = row->paylen;
	return true;
}
