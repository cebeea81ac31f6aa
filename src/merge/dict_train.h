/*-------------------------------------------------------------------------
 * dict_train.h - making dictionaries: samples of rests, the choice of a scheme, whether it pays
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DICT_TRAIN_H
#define SURFIDX_DICT_TRAIN_H

#include "surfidx.h"
#include "dict.h"
#include "stats.h"

/*
 * Make a dictionary from a sample of rests.  option: as sfx_opt_hope has it; with SFX_HOPE_AUTO
 * only if an index of so many entries gets clearly smaller by it.  old (may be NULL): the
 * dictionary that it must beat.
 */
extern bool sfx_dict_train(int option, const SfxHopeKey *rests, uint32 n, double entries, const SfxHope *old, SfxNewDict *new);

/*
 * For a build: a sample of the index's keys from blocks all over the table, taken apart as if they
 * stood among their neighbours, and the dictionary made from it.  False: none.
 */
extern bool sfx_dict_train_from_heap(Relation heap, Relation index, const IndexInfo *info, const SfxKeyDesc *kd, double entries,
									 SfxNewDict *new);

/*
 * What a merge or a part of it has written, as stats say: is it time for a dictionary, or for
 * another one?  last: there is no more to come.  Merge lock held; *meta becomes the metapage.
 */
extern void sfx_dict_review(Relation index, SfxMeta *meta, SfxMergeStats *stats, bool last);

/* May keys of this index have rests that are worth a dictionary, and does its owner want one? */
extern bool sfx_dict_possible(Relation index, const SfxKeyDesc *kd);

#endif							/* SURFIDX_DICT_TRAIN_H */
