/*-------------------------------------------------------------------------
 * policy.c - when a merge is due, and where it goes: decisions only
 *
 * The cost of a merge is that of the leaves that it rewrites: 8 kB of WAL and some 100 us each,
 * however many entries they receive.  It frees the log's pages, and readers need no image any more.
 * A merge is due at any of five bounds:
 *
 * 1. size: the log has delta_size kilobytes (less if the memory for images is small, since a
 *    delta beyond it is slow to read);
 * 2. ratio: it has merge_ratio entries for each one of the tree;
 * 3. worth: it has merge_ratio entries for each one of the leaves that it falls into;
 * 4. churn: it has 1.25 times merge_ratio pages for each leaf of the tree, 12 at least, and the last
 *    merge left out a dead entry for every other one that it brought: if entries replace dead ones
 *    the tree does not grow, and the file exceeds it by the log, whose entries are larger;
 * 5. dead: all but a few of its entries are known to be dead: a merge writes nearly nothing.
 *
 * If keys are spread over the whole index, bound 3 equals bound 2.  If they ascend, or keep to a
 * part of the keys, bound 3 is met long before: a merge costs a few leaves then, and the log of an
 * index whose leaves hold 40,000 entries each would otherwise grow to many times the size of the
 * tree.  Freed pages stay in the file, so only a small log keeps the file small.  Checking bound 3
 * needs the image, so only a worker does it, each time that the log has doubled.
 *
 * While a delta fills fast, merge_ratio counts PATIENCE times: if it was begun after the redo
 * position of the last checkpoint.  A btree logs the image of a page once for each checkpoint, a
 * merge each time that it writes one.  The first check after the next checkpoint ends the wait.
 * Multiples of the bounds go by PATIENCE in any case: a checkpoint makes deltas due, which waited;
 * it makes none late.
 *
 * A delta to which no session has appended for idle_flush is merged once a reader meets it, since a
 * lookup costs a seventh more with it.  The reader makes the request.  So there is no timer and no
 * process that waits, and an idle server stays idle.  A delta that is not read is left to VACUUM.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "delta.h"
#include "image.h"
#include "log.h"
#include "merge_lock.h"
#include "meta.h"
#include "order.h"
#include "page.h"
#include "policy.h"
#include "requests.h"
#include "settings.h"
#include "source.h"

#include "access/xlog.h"
#include "utils/rel.h"

#define FLOOR_PAGES		32		/* by ratio no smaller delta is merged, since starting a worker
								 * takes some 3 ms */
#define PATIENCE		2		/* times merge_ratio, of a delta that fills fast */
#define CHURN_SHED		500		/* so many of 1,000 entries replaced dead ones */
#define CHURN_SHARE		1.25	/* times merge_ratio: log pages for each leaf then, ... */
#define CHURN_FLOOR		12		/* ... and log pages at least */
#define DEAD_SHARE		8		/* all but one entry in so many are known to be dead, ... */
#define DEAD_FLOOR		8		/* ... in a log of so many pages, or ... */
#define DEAD_FLOOR_OWN	2		/* ... so many, if no worker has to be started */
#define LOOK_PAGES		64		/* pages at which a worker first checks bound 3: a power of two */
/*
 * Multiples of the bounds.  A generation whose merge ends by then has at most twice the bound, for
 * which the images' pool has room.
 */
#define SLICE_AT		1.5		/* if no worker has come, inserters merge due runs */
#define MORE_AT			1.75	/* one more worker is started; late, since the more entries a merge
								 * takes the less each one costs */
#define HELP_AT			2		/* inserters merge the delta if no worker does */
#define BRAKE_AT		3		/* the worker does not keep up: inserters slow down */

typedef struct DeltaSize
{
	uint64		pages;
	uint64		entries;
	uint64		max_pages;
	double		max_entries;	/* by merge_ratio, and ... */
	uint64		churn_pages;	/* ... so many pages; times ... */
	double		due_at;			/* ... this a merge is due, ... */
	double		late_from;		/* ... and times this and more than 1 it is late */
	bool		churns;			/* bound 4 applies */
	uint64		dead;			/* entries that are known to be dead */
	uint64		dead_pages;		/* log pages from which on bound 5 applies */
	uint64		merges;			/* so far */
} DeltaSize;

/*
 * Bound 1 in pages.  An image takes two or three nodes for a log page, and readers build images of
 * their own once a generation takes half the pool.
 */
static uint64
max_log_pages(Relation index)
{
	return Min((uint64) sfx_opt_delta_size(index) * 1024 / BLCKSZ,
			   (uint64) sfx_guc_delta_memory * 1024 / SFX_NODE_SIZE / 8);
}

/*
 * Has the delta been begun since the last checkpoint?  A guess: the page that is asked may have been
 * flagged by VACUUM later, or be another one by now.
 */
static bool
fills_fast(Relation index, const SfxMeta *meta)
{
	BlockNumber first = meta->gens[meta->ngens - 1].first;
	XLogRecPtr	begun;
	Buffer		buf;

	if (!RelationNeedsWAL(index) || first == InvalidBlockNumber)
		return false;
	buf = sfx_read_linked(index, first, NULL);
	begun = BufferGetLSNAtomic(buf);
	ReleaseBuffer(buf);
	return begun > GetRedoRecPtr();
}

/* What merge_ratio counts times, of a delta that may be due. */
static double
times_due(Relation index, const SfxMeta *meta)
{
	return fills_fast(index, meta) ? PATIENCE : 1;
}

/*
 * One of bounds 1, 2, 4 and 5, in words for the server log, of which the delta has at least so many
 * times the size; NULL: of none.
 */
static const char *
exceeds(const DeltaSize *d, double times)
{
	double		by_ratio = times > 1 ? times * d->late_from : d->due_at;

	if (d->pages >= times * d->max_pages)
		return "the delta has delta_size";
	if (d->churns && d->pages >= by_ratio * d->churn_pages)
		return "its entries replace dead ones";
	if (d->pages >= times * d->dead_pages && (d->entries - d->dead) * DEAD_SHARE <= d->entries)
		return "nearly all entries of the delta are dead";
	if (d->pages >= times * FLOOR_PAGES && d->entries >= by_ratio * d->max_entries)
		return "the delta has merge_ratio of the entries";
	return NULL;
}

static void
measure(Relation index, DeltaSize *d)
{
	SfxMeta		meta;
	double		ratio = sfx_opt_merge_ratio(index);

	d->entries = sfx_log_count(index, &meta);
	d->pages = sfx_meta_log_pages(&meta);
	d->max_pages = max_log_pages(index);
	d->due_at = 1;
	d->late_from = RelationNeedsWAL(index) ? PATIENCE : 1;
	d->max_entries = ratio * SfxMetaMain(&meta)->entries;
	d->churn_pages = Max(CHURN_FLOOR, (uint64) (ratio * CHURN_SHARE * SfxMetaMain(&meta)->leaves));
	d->churns = meta.shed >= CHURN_SHED;
	d->merges = meta.merges;
	d->dead_pages = sfx_request_shut_out(index) ? DEAD_FLOOR_OWN : DEAD_FLOOR;
	d->dead = 0;
	for (int g = 0; g < meta.ngens && d->pages >= d->dead_pages; g++)
		d->dead += sfx_image_known_dead(index, &meta, g);
	/* the image may have more entries by now than were counted */
	d->dead = Min(d->dead, d->entries);
	/* the log's first page is read only where it can make a difference, by bound 4 or by others */
	if (d->pages >= d->churn_pages || exceeds(d, 1) != NULL)
		d->due_at = times_due(index, &meta);
}

/*
 * Has the log just doubled?  If appends of several inserters skip the very number of pages, bound 3
 * is checked at the next doubling.
 */
static bool
time_to_look(const DeltaSize *d)
{
	return d->pages >= LOOK_PAGES && (d->pages & (d->pages - 1)) == 0;
}

/* ---- bound 3 ---- */

typedef struct Worth
{
	double		ratio;
	double		entries;		/* of the leaves into which the delta falls */
} Worth;

/*
 * An SfxLeafVisit: counts the leaves' entries, until they are too many for the delta.  So the walk
 * is no longer than the merge that it would justify.
 */
static bool
count_touched(const SfxChild *child, uint64 n, void *arg)
{
	Worth	   *t = arg;

	t->entries += child->count;
	return n >= t->ratio * t->entries;
}

static bool
worth_leaves(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, double ratio)
{
	Worth		t = {.ratio = ratio};
	uint64		n = sfx_leaves_touched(index, order, meta, g, count_touched, &t);

	return n > 0 && n >= ratio * t.entries;
}

/*
 * Can the delta be read in order at once: has it an up-to-date image, or a log in order?  Merge
 * lock held (asserted).
 */
static bool
is_in_order(Relation index, const SfxOrder *order, const SfxMeta *meta)
{
	SfxLogSorted *log;

	Assert(sfx_merge_lock_held(index));
	if (sfx_image_reaches_tail(index, meta, 0))
		return true;
	log = sfx_source_log(index, order, meta, 0);
	sfx_log_sorted_free(log);
	return log != NULL;
}

/*
 * Make the delta readable in order.  Merge lock held (asserted); it is released while an image is
 * made, and then tried (M2).  False: it is not held any more.
 */
static bool
put_in_order(Relation index, const SfxOrder *order, SfxMeta *meta)
{
	bool		locked = true;
	SfxImage   *img;

	Assert(sfx_merge_lock_held(index));
	if (is_in_order(index, order, meta))
		return true;
	if (!SFX_MUTANT("images under the merge lock"))
	{
		sfx_merge_unlock(index);
		locked = false;
	}
	SFX_STOP("delta to be put in order");
	img = sfx_image_acquire(index, order, meta, 0);
	if (img != NULL)
		sfx_image_release(img);
	if (!locked && !sfx_merge_trylock(index))
		return false;
	sfx_meta_read(index, meta);
	return true;
}

/* Is bound 3 met?  False also if the merge lock is busy. */
static bool
worth_it(Relation index)
{
	SfxKeyDesc *kd = palloc(sizeof(SfxKeyDesc));
	SfxMeta		meta;
	bool		worth = false;
	const SfxOrder *order = sfx_order_open(index, kd, true);

	if (sfx_merge_trylock(index))
	{
		sfx_meta_read(index, &meta);
		if (put_in_order(index, order, &meta))
		{
			worth = worth_leaves(index, order, &meta, 0,
								 times_due(index, &meta) * sfx_opt_merge_ratio(index));
			sfx_merge_unlock(index);
		}
	}
	sfx_order_end(order);
	pfree(kd);
	return worth;
}

/* ---- where merges go ---- */

/* May entries go into run number t (M6)? */
static bool
takes_entries(const SfxMeta *meta, int t)
{
	return meta->resume[SFX_RESUME_RUN].source != meta->runs[t].id || SFX_MUTANT("sources take entries");
}

/*
 * Would a full delta of such entries, spread over the whole index, have too few of them for each
 * leaf of the main tree?  Then the delta goes to the main tree only if its keys are close together.
 */
static bool
is_large(Relation index, const SfxMeta *meta, const SfxGen *gen, uint64 entries, double run_ratio)
{
	double		full = (double) entries * max_log_pages(index) / Max(gen->pages, 1);

	return run_ratio * SfxMetaMain(meta)->entries > full;
}

uint32
sfx_merge_gen_target(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, bool full)
{
	const SfxGen *gen = &meta->gens[g];
	double		ratio = sfx_opt_merge_ratio(index);
	double		run_ratio = sfx_opt_run_ratio(index);
	int			newest = takes_entries(meta, 0) ? 0 : 1;

	Assert(sfx_merge_lock_held(index));
	if (full)
		return meta->runs[newest].id;
	if (!is_large(index, meta, gen, gen->sealed, run_ratio) || worth_leaves(index, order, meta, g, run_ratio))
		return SfxMetaMain(meta)->id;
	for (int t = meta->nruns - 2; t >= newest; t--)
		if (takes_entries(meta, t) && gen->sealed >= ratio * meta->runs[t].entries)
			return meta->runs[t].id;

	/*
	 * a small delta, such as VACUUM may have found, is not worth a run of its own beside another
	 * one
	 */
	if (meta->nruns == SFX_MAX_RUNS || (newest < meta->nruns - 1 && gen->pages < max_log_pages(index) / 2))
		return meta->runs[newest].id;
	return 0;
}

bool
sfx_merge_meets_old(Relation index, const SfxMeta *meta, bool full)
{
	const SfxGen *gen = &meta->gens[meta->ngens - 1];
	const SfxResume *r = &meta->resume[SFX_RESUME_GEN];
	uint32		main = SfxMetaMain(meta)->id;

	if (meta->ngens < 2)
		return false;
	if (r->source == gen->gen && r->target != 0)
		return r->target == main;
	if (full)
		return meta->runs[takes_entries(meta, 0) ? 0 : 1].id == main;
	return !is_large(index, meta, gen, gen->sealed, sfx_opt_run_ratio(index));
}

bool
sfx_merge_makes_runs(Relation index, const SfxMeta *meta, uint64 entries)
{
	return meta->nruns > 1 || is_large(index, meta, &meta->gens[0], entries, sfx_opt_run_ratio(index));
}

uint32
sfx_merge_run_target(Relation index, const SfxMeta *meta, int r, bool full)
{
	double		ratio = sfx_opt_merge_ratio(index);

	for (int t = meta->nruns - 1; t > r + 1; t--)
		if (!full && meta->runs[r].entries >= ratio * meta->runs[t].entries)
			return meta->runs[t].id;
	return meta->runs[r + 1].id;
}

int
sfx_merge_run_due(Relation index, const SfxMeta *meta, uint32 upto)
{
	double		ratio = sfx_opt_merge_ratio(index);

	for (int r = 0; r < meta->nruns - 1; r++)
	{
		const SfxRun *run = &meta->runs[r];

		if (upto != 0 ? run->id <= upto : run->entries == 0 || run->entries >= ratio * meta->runs[r + 1].entries)
			return r;
	}
	/* the list of runs is nearly full, which can happen after changes of the storage parameters */
	return meta->nruns >= SFX_MAX_RUNS - 1 ? meta->nruns - 2 : -1;
}

/* ---- the public face ---- */

SfxMergeNeed
sfx_merge_need(Relation index)
{
	SfxMergeNeed need;
	DeltaSize	d;

	measure(index, &d);
	need.due = exceeds(&d, 1) != NULL;
	need.worth_asking = need.due || time_to_look(&d);
	need.pressing = exceeds(&d, MORE_AT) != NULL;
	need.run_overdue = exceeds(&d, SLICE_AT) != NULL;
	need.late = exceeds(&d, HELP_AT) != NULL;
	need.too_late = d.pages >= BRAKE_AT * d.max_pages;
	return need;
}

bool
sfx_merge_run_waits(Relation index)
{
	SfxMeta		meta;

	sfx_meta_read(index, &meta);
	return meta.resume[SFX_RESUME_RUN].source != 0 || sfx_merge_run_due(index, &meta, 0) >= 0;
}

static bool
is_idle(Relation index)
{
	SfxMeta		meta;

	sfx_meta_read(index, &meta);
	return sfx_delta_is_idle(index, &meta);
}

/*
 * Has the table about as many dead rows as the delta has entries?  For an index without merges so
 * far, of which no count of replaced entries exists.  A guess: the dead rows may be old ones.
 */
static bool
replaces_rows(Relation index, double entries)
{
	int64		live,
				dead,
				changed;

	return index->rd_indpred == NULL && SfxTableRows(index->rd_index->indrelid, &live, &dead, &changed) && dead * 1000.0 >= entries * CHURN_SHED;
}

const char *
sfx_merge_due_for_size(Relation index)
{
	DeltaSize	d;
	const char *bound;

	measure(index, &d);
	if (d.merges == 0 && d.pages >= LOOK_PAGES && replaces_rows(index, d.entries))
		d.churns = true;
	if ((bound = exceeds(&d, 1)) != NULL)
		return bound;
	if (d.pages >= LOOK_PAGES && worth_it(index))
		return "the delta has merge_ratio of the entries of its leaves";
	return sfx_merge_run_waits(index) ? "a run is due" : NULL;
}

const char *
sfx_merge_due(Relation index)
{
	const char *bound = sfx_merge_due_for_size(index);

	return bound != NULL || !is_idle(index) ? bound : "the delta is idle";
}
