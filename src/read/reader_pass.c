/*-------------------------------------------------------------------------
 * reader_pass.c - to the entry of a given number, by ranks
 *
 * Pages above the leaves tell how many entries each leaf has, so a reader that has to pass over n
 * rows need not read these.  It goes over as many whole leaves of the main tree as fit, counts what
 * the other stages have up to there, and does so again with what is left.  The last leaf, or a few,
 * are left to the caller, which reads them in order.
 *
 * An entry counts as a visible row where the map vouches for the whole table *after* it was counted
 * (Y8), with the gate held in between (Y2); so the map is looked at last.  (A look before that
 * saves the work where the answer will be no.)
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "count_delta.h"
#include "count_tree.h"
#include "meta.h"
#include "reader_impl.h"
#include "visible.h"

#include "miscadmin.h"

typedef struct Passing
{
	SfxReader  *r;
	SfxMeta		meta;			/* as R1 has found it, ... */
	SfxState	state;			/* ... with this state */
	uint64		others;			/* entries of stages besides the main tree in the range */
	SfxBoundBuf at;				/* entries before it were passed */
	SfxBoundBuf to;
	uint64		passed;
	bool		end;			/* those were all entries of the range */
} Passing;

/* What the delta and smaller runs have in [from, to).  False: it cannot be told. */
static bool
count_others(Passing *p, const SfxPos *from, const SfxPos *to, uint64 *n)
{
	const SfxReader *r = p->r;

	*n = 0;
	if (!sfx_count_delta(r->index, r->order, &p->meta, 0, from, to, n))
		return false;
	SFX_STOP("ranks of the delta");
	for (int i = 0; i + 1 < p->meta.nruns; i++)
	{
		bool		exact;

		*n += sfx_count_tree(r->index, r->order, &p->meta, &p->meta.runs[i], from, to, &exact);
		if (!exact)
			return false;
	}
	return true;
}

/* Of n entries, how many are likely to be the main tree's? */
static uint64
share_of_main(const Passing *p, uint64 n)
{
	double		of_main = (double) SfxMetaMain(&p->meta)->entries;

	return p->others == 0 ? n : (uint64) (n * (of_main / (of_main + p->others)));
}

/*
 * Pass over whole leaves of the main tree, with what others have beside them, no more than n
 * entries.  *now: so many.  False: it cannot be told.
 */
static bool
pass_leaves(Passing *p, uint64 n, uint64 *now)
{
	const SfxReader *r = p->r;
	const SfxPos *hi = &r->range.hi.pos;
	uint64		most = share_of_main(p, n);

	*now = 0;
	/* where that is too much, it is so by as many entries as are left out the second time */
	for (int i = 0; i < 2; i++)
	{
		uint64		of_main;
		uint64		of_others = 0;
		bool		all;
		bool		exact;

		sfx_bound_set(&p->to, &p->at.pos);
		of_main = sfx_pass_tree(r->index, r->order, &p->meta, SfxMetaMain(&p->meta), &p->to, hi,
								most, &all, &exact);
		if (!exact ||
			(p->others > 0 &&
			 !count_others(p, &p->at.pos, all ? hi : &p->to.pos, &of_others)))
			return false;
		if (of_main + of_others <= n)
		{
			*now = of_main + of_others;
			p->end = all;
			sfx_bound_set(&p->at, &p->to.pos);
			return true;
		}
		if (of_main + of_others - n >= of_main)
			return true;
		most = of_main - (of_main + of_others - n);
	}
	return true;
}

/* Pass over n entries of the range from its start, less what is left to be read one by one. */
static bool
pass_entries(Passing *p, uint64 n)
{
	uint64		now;

	sfx_bound_set(&p->at, &p->r->range.lo.pos);
	p->passed = 0;
	p->end = false;
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!pass_leaves(p, n - p->passed, &now))
			return false;
		p->passed += now;
	} while (now > 0 && p->others > 0 && !p->end);
	return true;
}

/* How many entries the range has in all. */
static bool
count_all(Passing *p, uint64 *n)
{
	const SfxReader *r = p->r;
	bool		exact;

	*n = p->others + sfx_count_tree(r->index, r->order, &p->meta, SfxMetaMain(&p->meta), &r->range.lo.pos,
									&r->range.hi.pos, &exact);
	return exact;
}

/* The same from the end: n becomes the number of entries before the place. */
static bool
pass_from_end(Passing *p, uint64 *n)
{
	uint64		all;

	if (!count_all(p, &all))
		return false;
	if (*n < all)
	{
		*n = all - *n;
		return pass_entries(p, *n);
	}
	p->passed = *n = all;
	p->end = true;
	return true;
}

/* R9: has what was counted of each stage each entry once? */
static bool
stood_still(const Passing *p)
{
	SfxReader  *r = p->r;
	SfxMeta		after;

	sfx_meta_reread(r->index, &after, &r->gate.metabuf);
	test_for_old_snapshot(r);
	return sfx_state_still_holds(&p->state, &after, SFX_STAGES_ARE_DISJOINT) ||
		SFX_MUTANT("stages overlap");
}

static bool
pass(Passing *p, SfxVisibility *v, bool from_end, uint64 *n)
{
	const SfxReader *r = p->r;

	if (p->state.moving || SfxMetaMain(&p->meta)->level == 0)
		return false;
	/* from the end, the counts of all leaves are read */
	if (from_end && *n < SfxMetaMain(&p->meta)->leaves)
		return false;
	if (v && !sfx_visibility_of_all(v))
		return false;
	SFX_STOP("ranks begun");
	if (!count_others(p, &r->range.lo.pos, &r->range.hi.pos, &p->others) ||
		!(from_end ? pass_from_end(p, n) : pass_entries(p, *n)) || !stood_still(p))
		return false;
	return v == NULL || SFX_MUTANT("map before ranks") || sfx_visibility_of_all(v);
}

bool
sfx_reader_pass(SfxReader *r, SfxVisibility *v, bool from_end, uint64 *n, uint64 *passed,
				bool *end)
{
	Passing    *p = palloc(sizeof(Passing));
	bool		possible;

	Assert(r->range.anchor == ANCHOR_RANGE && !r->win.active);
	p->r = r;
	sfx_reader_meta(r, &p->meta);
	p->state = sfx_state_take(&p->meta);
	possible = pass(p, v, from_end, n);
	if (possible)
	{
		*passed = p->passed;
		*end = p->end;
		r->range.dir = from_end ? BackwardScanDirection : ForwardScanDirection;
		if (p->end)
			r->range.anchor = ANCHOR_END;
		else
			/* an entry may stand at the place itself; what is left is read forward in any case */
			sfx_reader_reposition(r, &p->at.pos, !from_end || *n > p->passed);
	}
	pfree(p);
	return possible;
}
