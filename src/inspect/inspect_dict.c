/*-------------------------------------------------------------------------
 * inspect_dict.c - what dictionaries save now: leaves that name them are packed once more, and
 * their rests measured
 *
 * The rate that a dictionary promised is in the metapage, from the leaves on which it was tried.
 * What it saves for the keys that have come since is the same quotient for the leaves of today:
 * bytes of rests as stored, for each byte that front coding leaves.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "inspect.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"
#include "settings.h"

#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

/* The packer's output function: packed leaves are not needed. */
static int
drop_leaf(void *ctx, const SfxLeafOut *out)
{
	return SFX_OK;
}

/* Pack the leaf's entries again, and add their rests to *d. */
static void
measure(Relation index, const SfxOrder *order, BlockNumber blkno, const SfxLeaf *leaf, SfxDictSum *d)
{
	SfxBlock   *block = palloc(sizeof(SfxBlock));
	SfxPacker  *packer = sfx_packer_init(palloc(sfx_packer_size()), SFX_BODY_CAPACITY, &SFX_POS_FIRST, drop_leaf, NULL, order);
	uint64		raw,
				stored;

	sfx_packer_add_dict(packer, leaf->dict, leaf->dictno);
	for (int b = 0; b < leaf->nblocks; b++)
	{
		if (sfx_leaf_decode(leaf, b, NULL, NULL, block) < 0)
			sfx_corrupt(index, blkno, "leaf block");
		for (int i = 0; i < block->nent; i++)
		{
			SfxEntry	e;

			sfx_block_entry(block, i, &e);
			if (sfx_packer_add(packer, &e) < 0)
				sfx_corrupt(index, blkno, "order of entries");
		}
	}
	if (sfx_packer_finish(packer, NULL) < 0)
		sfx_corrupt(index, blkno, "order of entries");
	sfx_packer_rests(packer, 0, &raw, &stored);
	d->measured++;
	d->raw += raw;
	d->stored += stored;
}

void
sfx_inspect_dicts(Relation index, const SfxMeta *meta, const SfxOrder *order, BlockNumber blkno, Page page, SfxDictSum *sums)
{
	MemoryContext cxt;
	MemoryContext old;
	SfxLeaf		leaf;

	if (sfx_leaf_open(&leaf, SfxPageBody(page), SfxPageBodyLen(page), order) < 0)
		sfx_corrupt(index, blkno, "leaf header or directory");
	if (leaf.dictno == 0)
		return;
	for (uint32 i = 0; i < meta->ndicts; i++)
	{
		SfxDictSum *d = &sums[i];

		if (meta->dict[i].number != leaf.dictno)
			continue;
		d->leaves++;
		if (d->measured >= SFX_MEASURED_LEAVES || !sfx_inspect_attach(index, blkno, page, &leaf))
			return;
		cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx dictionary's rate", ALLOCSET_DEFAULT_SIZES);
		old = MemoryContextSwitchTo(cxt);
		measure(index, order, blkno, &leaf, d);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(cxt);
		return;
	}
}

Datum
sfx_inspect_dicts_json(const SfxMeta *meta, const SfxDictSum *sums, double scale)
{
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfoChar(&out, '[');
	for (uint32 i = 0; i < meta->ndicts; i++)
	{
		const SfxDictRef *ref = &meta->dict[i];

		appendStringInfo(&out, "%s{\"dictionary\": %u, \"scheme\": \"%s\", \"bytes\": %u, \"leaves\": %.0f, \"rate\": %.3f, \"rate_now\": ",
						 i > 0 ? ", " : "", ref->number, sfx_hope_name(ref->scheme), ref->len, sums[i].leaves * scale, SfxDictRate(ref) / 1000.0);
		if (sums[i].raw > 0)
			appendStringInfo(&out, "%.3f}", (double) sums[i].stored / sums[i].raw);
		else
			appendStringInfoString(&out, "null}");
	}
	appendStringInfoChar(&out, ']');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data));
}
