/*-------------------------------------------------------------------------
 * source.h - the entries of a generation or run, in order
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SOURCE_H
#define SURFIDX_SOURCE_H

#include "horizon.h"
#include "inner.h"
#include "leaf.h"
#include "log_sorted.h"
#include "meta.h"
#include "pos.h"

/*
 * The entries of one generation or run in order: copied out of its image or leaves chunk by chunk,
 * or read from its log if that is nearly in order (D8).
 */
typedef struct SfxSource
{
	Relation	index;
	const SfxOrder *order;
	const SfxMeta *meta;		/* read under the merge lock, which is still held */
	uint32		run;			/* 0: it is a generation, ... */
	int			g;				/* ... this one, ... */
	SfxLogSorted *log;			/* ... its log in order; NULL: the image is used */
	uint64		seen;			/* log entries that the image has applied, or that the log has */
	bool		unchanged;		/* some are of UPDATEs that changed no key */
	SfxHorizon	horizon;		/* of entries taken out of the image (X1) */
	int			n;
	int			at;
	bool		more;			/* there may be entries after this chunk */
	uint32		used;
	SfxEntry   *entry;			/* chunk, or entries of the log */
	SfxEntry   *chunk;
	uint8	   *bytes;
	SfxBlock   *block;			/* of a run's leaf; NULL: a generation */
} SfxSource;

/*
 * Begin to read generation meta->gens[g] if run is 0, from `log` unless that is NULL; else the run
 * with that id.  Merge lock held (asserted).  Memory is palloc'd in the current context.
 */
extern void sfx_source_init(SfxSource *src, Relation index, const SfxOrder *order,
							const SfxMeta *meta, uint32 run, int g, SfxLogSorted *log);

/*
 * The log of generation meta->gens[g] in order, if it is nearly so and may be merged from (D8);
 * else NULL.
 */
extern SfxLogSorted *sfx_source_log(Relation index, const SfxOrder *order, const SfxMeta *meta,
									int g);

/*
 * Move to the first entry >= pos; false if there is none.  Errors: damage; an order that changed
 * (K4).
 */
extern bool sfx_source_seek(SfxSource *src, const SfxPos *pos);

/* The current entry, valid until the source is moved; NULL: there is none. */
extern const SfxEntry *sfx_source_peek(SfxSource *src);
extern void sfx_source_advance(SfxSource *src);

/*
 * Called with a leaf, as its parent has it, and the number of the generation's entries.  False ends
 * the walk.
 */
typedef bool (*SfxLeafVisit) (const SfxChild *leaf, uint64 entries, void *arg);

/*
 * Visit the leaves of the main tree into which entries of generation meta->gens[g] fall, from left
 * to right; none, if the root is a leaf.  Returns the number of the generation's entries; 0 also if
 * its image is not available.  Merge lock held (asserted), meta read under it.
 */
extern uint64 sfx_leaves_touched(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
								 SfxLeafVisit visit, void *arg);

#endif							/* SURFIDX_SOURCE_H */
