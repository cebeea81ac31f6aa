/*-------------------------------------------------------------------------
 * source.h - the entries of a generation or run in order
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SOURCE_H
#define SURFIDX_SOURCE_H

#include "surfidx.h"
#include "horizon.h"
#include "leaf.h"
#include "log_sorted.h"
#include "meta.h"
#include "pos.h"

/*
 * The entries of one generation or run in order, copied out of its image or leaves chunk by chunk,
 * or out of its log, if that is nearly in order (D8).
 */
#define SFX_SOURCE_CHUNK	512
#define SFX_SOURCE_BYTES	65536

typedef struct SfxSource
{
	Relation	index;
	const SfxOrder *order;
	const SfxMeta *meta;		/* read under the merge lock that is still held */
	uint32		run;			/* 0: it is a generation, ... */
	int			g;				/* ... this one, ... */
	SfxLogSorted *log;			/* ... of which this has the log; NULL: the image is looked at */
	uint64		seen;			/* log entries behind the image, or in the log */
	bool		unchanged;		/* some of them are of UPDATEs that changed no key */
	SfxHorizon	horizon;		/* of those taken out of it */
	int			n;
	int			at;
	bool		more;			/* there may be entries behind this chunk */
	uint32		used;
	SfxEntry   *entry;			/* chunk, or the log's own */
	SfxEntry   *chunk;
	uint8	   *bytes;
	SfxBlock   *block;			/* of a run's leaf; NULL: a generation */
} SfxSource;

/* run 0: generation meta->gens[g], with its log in order, or NULL; else the run with that id. */
extern void sfx_source_init(SfxSource *src, Relation index, const SfxOrder *order,
							const SfxMeta *meta, uint32 run, int g, SfxLogSorted *log);

/*
 * The log of generation meta->gens[g] as one in order, if it is one and may be merged like that;
 * else NULL.
 */
extern SfxLogSorted *sfx_source_log(Relation index, const SfxOrder *order, const SfxMeta *meta,
									int g);

/* Stand on the first entry >= pos; false if there is none. */
extern bool sfx_source_seek(SfxSource *src, const SfxPos *pos);

/* The entry stood on. */
extern const SfxEntry *sfx_source_peek(SfxSource *src);
extern void sfx_source_advance(SfxSource *src);

/*
 * The first entry of generation meta->gens[g] from *pos on: its position, or one not far before it,
 * replaces *pos.  log: as above.  *n: its entries.  False if there is none.
 */
extern bool sfx_generation_next(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
								SfxLogSorted *log, SfxPosBuf *pos, uint64 *n);

#endif							/* SURFIDX_SOURCE_H */
