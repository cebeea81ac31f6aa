/*-------------------------------------------------------------------------
 * meta.h - the metapage
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_META_H
#define SURFIDX_META_H

#include "page.h"
#include "shared_area.h"

#define SFX_MAGIC			0x53464931	/* "SFI1" */
#define SFX_MAGIC_BEFORE_1	0x53464958	/* of private builds, whose format numbers mean nothing */
#define SFX_META_BLKNO	0
#define SFX_GATE_BLKNO(n)	((BlockNumber) (1 + (n)))
#define SFX_FIRST_BLKNO	3
#define SFX_MAX_GENS	4
#define SFX_MAX_RUNS	8
#define SFX_MAX_DICTS	4
#define SFX_MAX_LEVEL	32		/* of a root: no tree is so high */

/* A generation of the delta: a chain of log pages. */
typedef struct SfxGen
{
	uint32		gen;			/* never reused within one build */
	BlockNumber first;			/* InvalidBlockNumber: nothing appended yet */
	BlockNumber tail;			/* last page */
	uint32		pages;
	uint64		sealed;			/* once frozen: its final number of entries */
} SfxGen;

/* A run: a tree. */
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
 * How far a merge has come (M5): what its source has below the position is in other stages already.
 * A key that is too long is cut off, or the position before it is kept: then a little is merged
 * twice.
 */
#define SFX_RESUME_KEY	40

typedef struct SfxResume
{
	uint32		source;			/* generation or run; 0: none */
	uint32		target;			/* the run that it goes into: what is merged twice meets itself
								 * there */
	TransactionId horizon;		/* conflict horizon of entries that the merge did not find any more
								 * (X1) */
	uint16		catalog;
	uint16		len;
	uint64		tid;
	uint8		key[SFX_RESUME_KEY];
} SfxResume;

/* Index of resume[]: the oldest frozen generation's position, and that of the run being merged. */
#define SFX_RESUME_GEN	0
#define SFX_RESUME_RUN	1

/* A dictionary of the index. */
typedef struct SfxDictRef
{
	uint32		number;			/* never reused within one build; leaves name it */
	BlockNumber first;			/* its first page */
	uint32		len;			/* its bytes */
	uint32		crc;			/* CRC-32C of them */
	uint16		scheme;			/* SfxHopeScheme */
	uint16		rate;			/* bytes stored per 1,000 bytes of rests, when it was new;
								 * SFX_DICT_WRITTEN */
} SfxDictRef;

/* In rate: leaves were written with it since VACUUM last began to look which ones name it (H1). */
#define SFX_DICT_WRITTEN	0x8000
#define SfxDictRate(ref)	((ref)->rate & ~SFX_DICT_WRITTEN)

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

/*
 * The metapage's contents.  The lists of generations, runs and dictionaries change under the merge
 * lock only, except for the pages of the active generation, which appenders add.
 */
typedef struct SfxMeta
{
	uint32		magic;
	uint16		version;
	uint16		min_version;
	uint64		build_id;		/* random, new with every build */
	uint64		epoch;			/* structure epoch: raised by root changes, and by whatever voids
								 * links read before (truncation) */
	uint64		removals;		/* removal counter (V2): images as of a lower one have to read
								 * their dead flags again */
	uint8		gate;			/* 0 or 1: the gate that new scans pin */
	uint8		reserved;		/* 0 */
	uint16		shed;			/* dead entries that the last merge of a generation left out, per
								 * 1,000 entries that it brought */
	uint32		next_gen;
	uint32		next_run;
	uint16		ngens;			/* gens[0] is active, then frozen, newest first */
	uint8		nruns;			/* newest first; runs[nruns-1] is the main tree */
	uint8		stub_pause;		/* number of merges that will not look for stubs (dead line
								 * pointers), since the last look was in vain */
	uint64		merges;			/* generations merged so far */
	SfxGen		gens[SFX_MAX_GENS];
	SfxRun		runs[SFX_MAX_RUNS];
	SfxResume	resume[2];		/* of the oldest frozen generation, and of the one run that is
								 * being merged into an older one */
	SfxWork		work;
	uint32		ndicts;
	uint32		next_dict;
	SfxDictRef	dict[SFX_MAX_DICTS];	/* oldest first */
} SfxMeta;

#define SfxPageGetMeta(page)	((SfxMeta *) PageGetContents(page))
#define SfxMetaMain(m)			(&(m)->runs[(m)->nruns - 1])
#define SfxMetaOldestGen(m)		((m)->gens[(m)->ngens - 1].gen)

/*
 * *to = *from, in steps of 64 bytes: one copy of this size compilers make a string instruction, which takes
 * longer to get going.
 */
static inline void
sfx_meta_assign(SfxMeta *to, const SfxMeta *from)
{
	Size		done = 0;

	for (; done + 64 <= sizeof(SfxMeta); done += 64)
		memcpy((char *) to + done, (const char *) from + done, 64);
	memcpy((char *) to + done, (const char *) from + done, sizeof(SfxMeta) % 64);
}

/* The index in m->runs of the run with that id; -1 if it was dropped. */
static inline int
sfx_meta_find_run(const SfxMeta *m, uint32 id)
{
	for (int i = 0; i < m->nruns; i++)
		if (m->runs[i].id == id)
			return i;
	return -1;
}

/*
 * What makes a metapage that no code may follow, as a message, perhaps palloced; NULL: nothing.
 * Format versions are not among it.
 */
extern const char *sfx_meta_fault(const SfxMeta *m);

/*
 * The run with that id, which must be listed: for writers, which hold the merge lock.  ERROR if it
 * is not.
 */
extern SfxRun *sfx_meta_run(Relation index, const SfxMeta *m, uint32 id);

/* Entries and leaves of all runs; pages of all generations' logs. */
extern uint64 sfx_meta_entries(const SfxMeta *m);
extern uint64 sfx_meta_leaves(const SfxMeta *m);
extern uint64 sfx_meta_log_pages(const SfxMeta *m);

/* Copy the metapage's contents, checked.  Locks it in shared mode for that. */
extern void sfx_meta_read(Relation index, SfxMeta *meta);

/*
 * The same for callers that can do without: false, and no error, if the page can be read but is no
 * metapage that this code may follow.
 */
extern bool sfx_meta_try_read(Relation index, SfxMeta *meta);

/*
 * The same for those that only show it: what sfx_meta_fault() says is no error, and returned.  The
 * counts of its lists are within their bounds, and may be 0.
 */
extern const char *sfx_meta_look(Relation index, SfxMeta *meta);

/*
 * As sfx_meta_read, for many calls: *buf (invalid at first) keeps the metapage pinned; the caller
 * releases it.
 */
extern void sfx_meta_reread(Relation index, SfxMeta *meta, Buffer *buf);

/* As sfx_meta_read for the metapage in buf, which is pinned, and is left locked in shared mode. */
extern void sfx_meta_copy(Relation index, Buffer buf, SfxMeta *meta);

/* As sfx_meta_read, but leaves the metapage locked exclusively, in *buf, for a change. */
extern void sfx_meta_lock(Relation index, SfxMeta *meta, Buffer *buf);

/*
 * Write *meta into the metapage, which is locked exclusively (or restored, in redo), and count the
 * change (E6).  Does not log it.
 */
extern void sfx_meta_store(Page page, const SfxMeta *meta);

/*
 * E6: number of changes of metapages that the server has seen, from 1 on; 0: there is no counter.
 */
extern uint64 sfx_meta_changes(void);

/* Count a change of a metapage, which is still locked. */
extern void sfx_meta_count_change(void);
extern const SfxSharedArea sfx_meta_area;

#endif							/* SURFIDX_META_H */
