/*-------------------------------------------------------------------------
 * dict_train.h - making dictionaries: samples of rests, the choice of a scheme, whether it pays
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DICT_TRAIN_H
#define SURFIDX_DICT_TRAIN_H

#include "dict.h"
#include "stats.h"

/*
 * Make a dictionary from a sample of n rests.  option: as from sfx_opt_hope; with SFX_HOPE_AUTO a
 * dictionary is made only if an index of so many entries gets clearly smaller with it.  old: the
 * dictionary that the new one must beat, or NULL.  True: *new is set, its bytes palloc'd.
 */
extern bool sfx_dict_train(int option, const SfxHopeKey *rests, uint32 n, double entries, const SfxHope *old, SfxNewDict *new);

/*
 * For a build: sample the index's keys from blocks all over the table, compute their rests as if
 * all keys were there, and make a dictionary from them.  False: none was made.  The table is locked
 * by the build.
 */
extern bool sfx_dict_train_from_heap(Relation heap, Relation index, const IndexInfo *info, const SfxKeyDesc *kd, double entries,
									 SfxNewDict *new);

/*
 * A merge, or a part of it, has written what stats describe: is a dictionary due, or another one?
 * If so, some are made and added to the index, and *meta becomes the metapage.  last: the merge
 * ends here.  Merge lock held (asserted).
 */
extern void sfx_dict_review(Relation index, SfxMeta *meta, SfxMergeStats *stats, bool last);

/*
 * May keys of this index have rests that are worth a dictionary, and do its parameters allow one?
 */
extern bool sfx_dict_possible(Relation index, const SfxKeyDesc *kd);

#endif							/* SURFIDX_DICT_TRAIN_H */
