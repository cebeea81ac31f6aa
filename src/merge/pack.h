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
#include "recover.h"
#include "rewrite.h"
#include "source.h"

#define MERGE_ROOM			3	/* pages that the leaf may take in which the source stands when the
								 * group takes no more */

typedef struct SfxPack
{
	SfxGroup   *group;
	SfxSource  *src;
	SfxPos		start;			/* the first entry that it had for the group */
	SfxDeadAmong filter;
	void	   *arg;
	int			ndead;			/* entries of the block in hand that the filter drops, */
	uint16		dead[SFX_BLOCK_ENTRIES + 1];	/* ... and their places, ascending; then its end */
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
	int			bound;			/* an entry of the block in hand that is known not to stand before
								 * what the source gives next; -1: none */
	int			passed;			/* one that is known to stand before it; -1: none */
	bool		too_many;
	SfxVersions versions;

	/* cut leaves */
	bool		cut;			/* the new leaves' keys are to be cut */
	bool		mixed;			/* they are as the old ones, of which the group takes one kind */
	bool		whole;			/* all old keys are recovered */
	uint32		part;			/* entries of a new leaf, at most; 0: as many as fit */
	bool		again;			/* a cut leaf was met by who had not thought of one */
	int			old_cut;		/* old leaves that are cut */
	SfxRecovery *recovery;		/* NULL: not needed yet */
	Relation	heap;			/* the table, while there is one */
	Relation	opened;			/* ... if it was opened for that */
	BlockNumber blkno;			/* the leaf in hand, if it is cut; else InvalidBlockNumber */
	int			keyno;			/* which key of the block in hand was recovered; -1: none */
	uint32		keylen;			/* its length */
	uint8		key[SFX_MAX_ENTRY];
} SfxPack;

/*
 * Pack the group, the source being at its first entry; with p->grow it takes in right neighbours on
 * the way.  False: more pages than one record takes.
 */
extern bool sfx_pack_group(SfxPack *p);

/*
 * Put the source back to where it stood at first.  It may have fewer entries from there on than it
 * had, or none: readers take dead ones out of images (X1).
 */
extern void sfx_pack_restart(SfxPack *p);

/*
 * The merge that this process began last needed rows, and ended in an error since it did not get the
 * table's lock (W3).
 */
extern bool sfx_pack_lacks_table;

#endif							/* SURFIDX_PACK_H */
