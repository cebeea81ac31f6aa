/*-------------------------------------------------------------------------
 * meta_fault.c - may a metapage be followed?
 *
 * Code that follows its lists (a merge from source to source, a walk along a chain) comes to an end
 * because the lists are what they should be (P2).  So they are checked wherever the page is read.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "meta.h"

/* The active one first, then those that are frozen, the newest first; numbers without a gap. */
static const char *
generations_fault(const SfxMeta *m)
{
	for (int g = 0; g < m->ngens; g++)
	{
		const SfxGen *gen = &m->gens[g];

		if (gen->gen == 0 || gen->gen != m->gens[0].gen - g)
			return psprintf("generation %u stands where %u should", gen->gen, m->gens[0].gen - g);

		/*
		 * code that follows these links locks the page, and may hold the metapage's lock: they
		 * must not lead back to it
		 */
		if (gen->first < SFX_FIRST_BLKNO || gen->tail < SFX_FIRST_BLKNO)
			return "a log page is a reserved block";
		if ((gen->first == InvalidBlockNumber) != (gen->tail == InvalidBlockNumber) ||
			(gen->first == InvalidBlockNumber) != (gen->pages == 0))
			return psprintf("generation %u has %u pages from block %u to block %u",
							gen->gen, gen->pages, gen->first, gen->tail);

		/*
		 * a frozen one may have no entries: frozen between its first page and the first append,
		 * but it has the page
		 */
		if (g > 0 && gen->pages == 0)
			return psprintf("frozen generation %u has no pages", gen->gen);
		if (g == 0 && gen->sealed != 0)
			return psprintf("active generation %u is sealed", gen->gen);
	}
	if (m->next_gen != m->gens[0].gen + 1)
		return psprintf("the next generation is %u and the active one %u", m->next_gen,
						m->gens[0].gen);
	return NULL;
}

static const char *
runs_fault(const SfxMeta *m)
{
	for (int r = 0; r < m->nruns; r++)
	{
		const SfxRun *run = &m->runs[r];

		if (run->id == 0 || run->id >= m->next_run)
			return psprintf("run %u with %u as the next one", run->id, m->next_run);
		if (sfx_meta_find_run(m, run->id) != r)
			return psprintf("run %u is listed twice", run->id);
		if (run->level > SFX_MAX_LEVEL || run->root < SFX_FIRST_BLKNO ||
			run->root == InvalidBlockNumber)
			return psprintf("root of run %u at block %u of level %u", run->id, run->root,
							run->level);
	}
	return NULL;
}

/* M5, M6: of the oldest frozen generation into some run, of a run into an older one. */
static const char *
resume_fault(const SfxMeta *m)
{
	const SfxResume *gen = &m->resume[SFX_RESUME_GEN];
	const SfxResume *run = &m->resume[SFX_RESUME_RUN];
	int			source;

	if (gen->len > SFX_RESUME_KEY || run->len > SFX_RESUME_KEY)
		return "length of a merge position";
	if (gen->source != 0 && (m->ngens < 2 || gen->source != SfxMetaOldestGen(m)))
		return psprintf("generation %u is half merged, and is not the oldest frozen one",
						gen->source);
	if (gen->source != 0 && sfx_meta_find_run(m, gen->target) < 0)
		return psprintf("generation %u was merged into run %u, which is not listed", gen->source,
						gen->target);
	if (run->source == 0)
		return NULL;
	source = sfx_meta_find_run(m, run->source);
	if (source < 0 || source == m->nruns - 1)
		return psprintf("run %u is half merged, and is none in front of the main tree",
						run->source);
	if (run->target != 0 && sfx_meta_find_run(m, run->target) <= source)
		return psprintf("run %u was merged into run %u, which is not an older one", run->source,
						run->target);
	return NULL;
}

static const char *
dicts_fault(const SfxMeta *m)
{
	uint32		last = 0;

	for (uint32 i = 0; i < m->ndicts; i++)
	{
		const SfxDictRef *ref = &m->dict[i];

		if (ref->number <= last || ref->number >= m->next_dict)
			return psprintf("dictionary %u is listed behind %u, and the next one is to be %u",
							ref->number, last, m->next_dict);
		if (ref->first < SFX_FIRST_BLKNO || ref->first == InvalidBlockNumber)
			return "a dictionary's page is a reserved block";
		last = ref->number;
	}
	return NULL;
}

const char *
sfx_meta_fault(const SfxMeta *m)
{
	const char *fault;

	if (m->ngens < 1 || m->ngens > SFX_MAX_GENS || m->nruns < 1 || m->nruns > SFX_MAX_RUNS ||
		m->gate > 1 || m->ndicts > SFX_MAX_DICTS)
		return "metapage counts out of bounds";
	if ((fault = generations_fault(m)) == NULL && (fault = runs_fault(m)) == NULL &&
		(fault = resume_fault(m)) == NULL)
		fault = dicts_fault(m);
	return fault;
}
