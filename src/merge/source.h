/*-------------------------------------------------------------------------
 * source.h - the entries of a generation or run in order
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SOURCE_H
#define SURFIDX_SOURCE_H

#include "surfidx.h"
#include "horizon.h"
#include "leaf.h"
#include "meta.h"
#include "pos.h"

/* The entries of one generation or run in order, copied out of its image or leaves chunk by chunk. */
#define SFX_SOURCE_CHUNK	512
#define SFX_SOURCE_BYTES	65536

typedef struct SfxSource
{
	Relation	index;
	const SfxOrder *order;
	const SfxMeta *meta;		/* read under the merge lock that is still held */
	uint32		run;			/* 0: it is a generation, ... */
	int			g;				/* ... this one */
	uint64		seen;			/* log entries behind the image */
	bool		unchanged;		/* some of them are of UPDATEs that changed no key */
	SfxHorizon	horizon;		/* of those taken out of it */
	int			n;
	int			at;
	bool		more;			/* there may be entries behind this chunk */
	uint32		used;
	SfxEntry   *entry;
	uint8	   *bytes;
	SfxBlock   *block;			/* of a run's leaf; NULL: a generation */
} SfxSource;

/* run 0: generation meta->gens[g]; else the run with that id. */
extern void sfx_source_init(SfxSource *src, Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, int g);

/* Stand on the first entry >= pos; false if there is none. */
extern bool sfx_source_seek(SfxSource *src, const SfxPos *pos);

/* The entry stood on. */
extern const SfxEntry *sfx_source_peek(SfxSource *src);
extern void sfx_source_advance(SfxSource *src);

/* The first entry of generation meta->gens[g] from *pos on: its position replaces *pos.  *n: entries in the image.  False if there is none. */
extern bool sfx_generation_next(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, SfxPosBuf *pos, uint64 *n);

#endif							/* SURFIDX_SOURCE_H */
