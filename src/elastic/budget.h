/*-------------------------------------------------------------------------
 * budget.h - surfidx.size_budget: one size for all indexes of a database, shared out by how their
 * leaves are read (W9)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_BUDGET_H
#define SURFIDX_BUDGET_H

#include "heat.h"
#include "leaf_keys.h"

/* An index, as a pass finds it. */
typedef struct SfxBudgetIndex
{
	Oid			index;
	bool		fixed;			/* keys, its columns or its state decide about its leaves */
	double		pages;			/* of trees and log */
	double		most;			/* ... to which size_limit lets it grow by whole keys */
	double		as_cut;			/* pages that a whole leaf becomes when its keys are cut, on
								 * average */
	uint32		whole[SFX_HEAT_MAX + 1];	/* leaves of the main tree, by heat */
	uint32		cut[SFX_HEAT_MAX + 1];
	SfxBudgetShare share;		/* what it gets; limit 0: it stays as it is */
	bool		changed;		/* the caller's */
} SfxBudgetIndex;

typedef struct SfxBudgetPass
{
	SfxBudgetIndex *x;
	int			n;
	bool		some_locked;	/* more indexes could not be looked at */
	bool		age;			/* halve the visits to leaves, once they are counted */
	double		total;			/* pages of all x */
} SfxBudgetPass;

/*
 * Is a pass due?  False without a budget and autotune, for which passes are, too.  The latter is for
 * readers: it asks shared memory at most once a second.
 */
extern bool sfx_budget_due(void);
extern bool sfx_budget_asks(void);

/* The next pass is due after the interval, and after many times what this one took in ms. */
extern void sfx_budget_next(double ms);

/*
 * Is the next pass to halve the visits?  The last one has decided it: leaves must have been read
 * often enough to be told from each other, however long that takes.
 */
extern bool sfx_budget_ages(void);

/*
 * Fill *x, all of which is 0.  age: as in SfxBudgetPass.  An index that cannot be read counts with
 * its file.
 */
extern void sfx_budget_look(Relation index, bool age, SfxBudgetIndex *x);

/* Set the pass's total, and the shares.  Returns whether some index is to change. */
extern bool sfx_budget_share_out(SfxBudgetPass *pass);

/* The pass has ended, and nothing was left to be changed: warn once if that is above the budget. */
extern void sfx_budget_tell(double total);

#endif							/* SURFIDX_BUDGET_H */
