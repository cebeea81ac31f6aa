/*-------------------------------------------------------------------------
 * pack.h - what the rewriting of a group (rewrite.c) and its packing (pack.c) share
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PACK_H
#define SURFIDX_PACK_H

#include "surfidx.h"
#include "dead_rows.h"
#include "find.h"
#include "group.h"
#include "hope.h"
#include "leaf.h"
#include "rewrite.h"
#include "source.h"

#define MERGE_ROOM			3	/* pages that the leaf may take in which the source stands when the
								 * group takes no more */

typedef struct SfxPack
{
	SfxGroup   *group;
	SfxSource  *src;
	IndexBulkDeleteCallback filter;
	void	   *arg;
	uint64		max_taken;		/* entries of the source, at most */
	const SfxHope *dict;		/* for the new leaves; may be NULL */
	uint32		dictno;
	SfxCodes   *codes;			/* of the block in hand */
	SfxRestSample *sample;		/* of their rests, if the caller wants one */
	SfxPacker  *packer;
	int			n;
	SfxNewLeaf	leaf[SFX_SWAP_MAX];
	uint64		taken;
	uint64		removed;
	int64		before;			/* entries in the old leaves */
	int64		added;			/* that were kept, and new ones */
	int64		after;			/* those in pages already */
	bool		grow;			/* take in right neighbours */
	int			most_blocks;	/* of the record, at most */
	int			most_pages;		/* after which nothing more is taken from the source */
	uint64		rests,			/* bytes of rests in the new pages: before coding, and as stored */
				stored;
	bool		inside;			/* an old entry came after a new one */
	bool		too_many;
	SfxVersions versions;
} SfxPack;

/*
 * Pack the group, the source being at its first entry; with p->grow it takes in right neighbours on the way.  False: more
 * pages than one record takes.
 */
extern bool sfx_pack_group(SfxPack *p);

#endif							/* SURFIDX_PACK_H */
