/*-------------------------------------------------------------------------
 * meta.h - the metapage
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_META_H
#define SURFIDX_META_H

#include "page.h"
#include "shared_area.h"

#define SFX_MAGIC		0x53464958	/* "SFIX" */
#define SFX_META_BLKNO	0
#define SFX_GATE_BLKNO(n)	((BlockNumber) (1 + (n)))
#define SFX_FIRST_BLKNO	3
#define SFX_MAX_GENS	4
#define SFX_MAX_RUNS	8
#define SFX_MAX_DICTS	4

typedef struct SfxGen
{
	uint32		gen;			/* never reused within one build */
	BlockNumber first;			/* InvalidBlockNumber: nothing appended yet */
	BlockNumber tail;			/* last page */
	uint32		pages;
	uint64		sealed;			/* frozen: final number of entries */
} SfxGen;

typedef struct SfxRun
{
	uint32		id;
	BlockNumber root;
	uint32		level;			/* of the root: 0 = the root is a leaf */
	uint32		cut;			/* leaves with cut keys, roughly; of the main tree only */
	uint64		entries;		/* as of the last merge, roughly */
	uint64		leaves;
} SfxRun;

/*
 * How far a merge has come: what its source has below the position is in other stages already.  A
 * long key is cut off, or the position before it kept: a little is merged twice then.
 */
#define SFX_RESUME_KEY	40

typedef struct SfxResume
{
	uint32		source;			/* generation or run; 0: none */
	uint32		target;			/* the run that it goes into: what is merged twice has to meet
								 * itself there */
	TransactionId horizon;		/* SfxHorizon of entries that the merge found no more */
	uint16		catalog;
	uint16		len;
	uint64		tid;
	uint8		key[SFX_RESUME_KEY];
} SfxResume;

/* Which of the metapage's two positions. */
#define SFX_RESUME_GEN	0
#define SFX_RESUME_RUN	1

typedef struct SfxDictRef
{
	uint32		number;			/* never reused within one build; leaves name it */
	BlockNumber first;			/* its first page */
	uint32		len;			/* its bytes */
	uint32		crc;			/* CRC-32C of them */
	uint16		scheme;			/* SfxHopeScheme */
	uint16		rate;			/* bytes stored per 1,000 bytes of rests, when it was new */
} SfxDictRef;

/* What merges have done since the build.  Changed under the merge lock only. */
typedef struct SfxWork
{
	uint64		entries;		/* of generations that were merged */
	uint64		log_pages;		/* that these had */
	uint64		groups;
	uint64		leaves;			/* written */
	uint64		pages;			/* written: leaves, inner pages and filters */
	uint64		usecs;			/* that it took, sleep not counted */
} SfxWork;

typedef struct SfxMeta
{
	uint32		magic;
	uint16		version;
	uint16		min_version;
	uint64		build_id;		/* random, new with every build */
	uint64		epoch;			/* structure epoch: root changes; whatever makes links void that
								 * were read before it (truncation) */
	uint64		removals;		/* removal counter: images older than this reread their dead flags */
	uint8		gate;			/* 0 or 1: the gate that new scans pin */
	uint8		carried;		/* bit g: gens[g] may have entries of older ones, which carry.c has
								 * put there */
	uint16		shed;			/* dead entries that the last merge of a generation left out, for
								 * 1,000 that it brought, or more of them */
	uint32		next_gen;
	uint32		next_run;
	uint16		ngens;			/* gens[0] is active, then frozen, newest first */
	uint8		nruns;			/* newest first; runs[nruns-1] is the main tree */
	uint8		stub_pause;		/* so many merges to come do not look for stubs: the last look was
								 * in vain */
	uint64		merges;			/* generations merged so far */
	SfxGen		gens[SFX_MAX_GENS];
	SfxRun		runs[SFX_MAX_RUNS];
	SfxResume	resume[2];		/* of the oldest frozen generation; of the one run that is being
								 * merged into an older one */
	SfxWork		work;
	uint32		ndicts;
	uint32		next_dict;
	SfxDictRef	dict[SFX_MAX_DICTS];	/* oldest first; new leaves are written with the last one */
} SfxMeta;

#define SfxPageGetMeta(page)	((SfxMeta *) PageGetContents(page))
#define SfxMetaMain(m)			(&(m)->runs[(m)->nruns - 1])
#define SfxMetaOldestGen(m)		((m)->gens[(m)->ngens - 1].gen)

/* The number of the run with that id in m->runs; -1 if it was dropped. */
static inline int
sfx_meta_find_run(const SfxMeta *m, uint32 id)
{
	for (int i = 0; i < m->nruns; i++)
		if (m->runs[i].id == id)
			return i;
	return -1;
}

/* The run with that id, which must be there: for writers, who hold the merge lock. */
extern SfxRun *sfx_meta_run(Relation index, const SfxMeta *m, uint32 id);

/* Copy the metapage's contents, checked.  One share lock. */
extern void sfx_meta_read(Relation index, SfxMeta *meta);

/*
 * The same for who can do without: false, and no error, where the page is there but no metapage
 * that this code may follow.
 */
extern bool sfx_meta_try_read(Relation index, SfxMeta *meta);

/*
 * As sfx_meta_read for many times: *buf (invalid at first) keeps the metapage pinned until the
 * caller releases it.
 */
extern void sfx_meta_reread(Relation index, SfxMeta *meta, Buffer *buf);

/* As sfx_meta_read of the page in buf, which is pinned, and is left locked in shared mode. */
extern void sfx_meta_copy(Relation index, Buffer buf, SfxMeta *meta);

/* As sfx_meta_read, leaving the metapage exclusively locked in *buf for a change. */
extern void sfx_meta_lock(Relation index, SfxMeta *meta, Buffer *buf);

/* Write *meta into the (locked, in action; restored, in redo) metapage, and count the change.  No
 * logging. */
extern void sfx_meta_store(Page page, const SfxMeta *meta);

/* E6: how many changes of metapages the server has seen, from 1 on; 0: nobody counts. */
extern uint64 sfx_meta_changes(void);

/* One more, which is still locked. */
extern void sfx_meta_count_change(void);
extern const SfxSharedArea sfx_meta_area;

#endif							/* SURFIDX_META_H */
