/*-------------------------------------------------------------------------
 * leaf_keys.h - making leaves of the main tree cut or whole, as the storage parameters keys and
 * size_limit ask
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LEAF_KEYS_H
#define SURFIDX_LEAF_KEYS_H

#include "progress.h"

/* How a backend that changes leaves shares the index with others. */
typedef struct SfxLeafManner
{
	bool		(*go_on) (Relation index, SfxProgress *p);	/* called before each group without a
															 * lock; false ends the changes */
	bool		wait;			/* for the merge lock; else a busy lock ends the changes */
} SfxLeafManner;

/*
 * What size_budget grants an index for the moment: a limit as size_limit is one.  Leaves that are
 * hotter than `cold` are not cut for its sake, and leaves that are less hot than `hot` do not
 * become whole.
 */
typedef struct SfxBudgetShare
{
	double		limit;			/* pages; 0: none */
	int			cold;
	int			hot;
	double		growth;			/* pages that a cut leaf becomes, as a guess */
} SfxBudgetShare;

/*
 * Cut or recover keys, if the main tree has leaves of another kind than the storage parameters ask
 * for; then do what size_limit asks for.  Waits for the merge lock for each group, whatever
 * how->wait says, except for size_limit.  Returns leaves written.  Errors: a locked table whose
 * rows are needed (W3, not for size_limit), damage.
 */
extern uint64 sfx_change_leaf_keys(Relation index, const SfxOrder *order, const SfxLeafManner *how);

/* The same for size_limit only, and for a share in size_budget (NULL: none). */
extern uint64 sfx_keep_size_limit(Relation index, const SfxOrder *order, const SfxLeafManner *how,
								  const SfxBudgetShare *share);

#endif							/* SURFIDX_LEAF_KEYS_H */
