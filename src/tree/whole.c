/*-------------------------------------------------------------------------
 * whole.c - proving that a scan of all entries gives all of them
 *
 * A scan goes from leaf to leaf by comparisons.  Where a collation has changed since the leaves
 * were written, these may lead past some.  A query gives a wrong answer then, until the index is
 * made again; but CLUSTER would write a table without the rows of these leaves.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "dict.h"
#include "find.h"
#include "image.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "pos.h"
#include "whole.h"

#include "miscadmin.h"

/* What is needed for one leaf after the other. */
typedef struct Walk
{
	const SfxTree *tree;
	SfxBlock   *scratch;
	SfxPosBuf	next;			/* where the next leaf has to begin */
	bool		more;
	uint8		low[SFX_MAX_ENTRY];
	uint8		high[SFX_MAX_ENTRY];
	PGAlignedBlock copy;
} Walk;

/* The leaf to which comparisons lead from the root. */
static BlockNumber
leaf_of(const SfxTree *t, const SfxPos *pos)
{
	Buffer		buf = sfx_tree_find(t, pos, false, 0);
	BlockNumber blkno = BufferGetBlockNumber(buf);

	UnlockReleaseBuffer(buf);
	return blkno;
}

/*
 * One leaf: its entries ascend, it begins where the one before has ended, and comparisons lead
 * there.  The next one.
 */
static BlockNumber
prove_leaf(Walk *w, BlockNumber blkno)
{
	const SfxTree *t = w->tree;
	Page		page = (Page) w->copy.data;
	SfxLeaf		leaf;
	SfxPos		low,
				high;
	const char *why;
	bool		inf;
	int			rc;

	sfx_leaf_copy(t, blkno, NULL, w->copy.data, &leaf);
	sfx_dict_attach(t->index, blkno, page, &leaf, NULL);
	rc = sfx_leaf_verify(leaf.body, leaf.len, t->order, leaf.dict, w->scratch, &why);
	if (rc == SFX_DISORDER)
		sfx_out_of_order(t->index, t->order, blkno, why);
	if (rc < 0)
		sfx_corrupt(t->index, blkno, why);
	if (sfx_leaf_fences(&leaf, w->low, &low, w->high, &high, &inf) < 0)
		sfx_corrupt(t->index, blkno, "leaf fences");
	if (!sfx_same_pos(&low, &w->next.pos))
		sfx_corrupt(t->index, blkno, "this leaf does not begin where the one before ends");
	if (leaf_of(t, &low) != blkno)
		sfx_out_of_order(t->index, t->order, blkno, "comparisons lead to another leaf");
	w->more = !inf;
	if (w->more)
		sfx_pos_set(&w->next, &high);
	return SfxPageGetTail(page)->right;
}

static void
prove_tree(Walk *w)
{
	BlockNumber blkno = leaf_of(w->tree, &SFX_POS_FIRST);

	sfx_pos_set(&w->next, &SFX_POS_FIRST);
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!BlockNumberIsValid(blkno))
			sfx_corrupt(w->tree->index, blkno, "no right neighbour beyond a finite high fence");
		blkno = prove_leaf(w, blkno);
	} while (w->more);
}

void
sfx_prove_order(Relation index, const SfxOrder *order)
{
	Walk	   *w = palloc(sizeof(Walk));
	SfxMeta		meta;

	w->scratch = palloc(sizeof(SfxBlock));
	sfx_merge_lock(index);
	sfx_meta_read(index, &meta);
	/* images that were filled in another order are filled anew */
	for (int g = 0; g < meta.ngens && !SFX_MUTANT("images of before the order"); g++)
		sfx_image_forget(index, &meta, meta.gens[g].gen);
	for (int r = 0; r < meta.nruns; r++)
	{
		SfxTree		tree = {index, order, &meta, meta.runs[r].id};

		w->tree = &tree;
		prove_tree(w);
	}
	sfx_merge_unlock(index);
	pfree(w->scratch);
	pfree(w);
}
