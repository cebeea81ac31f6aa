/*-------------------------------------------------------------------------
 * pack.h - what the rewriting of a group (rewrite.c) and its packing (pack.c) share
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PACK_H
#define SURFIDX_PACK_H

#include "dead_rows.h"
#include "dict.h"
#include "find.h"
#include "group.h"
#include "leaf.h"
#include "recover.h"
#include "source.h"
#include "swap.h"

#define MERGE_ROOM			3	/* pages that the leaf at which the source stands may need after
								 * the group has stopped taking entries */

/* The state of packing one group; set up by sfx_group_rewrite, reset by each attempt. */
typedef struct SfxPack
{
	SfxGroup   *group;
	SfxSource  *src;
	SfxPos		start;			/* the source's first entry for the group */
	SfxDeadAmong among;			/* the caller's, with arg: which entries to drop; or NULL */
	void	   *arg;
	int			ndead;			/* entries of the block at hand that are dropped, ... */
	uint16		dead[SFX_BLOCK_ENTRIES + 1];	/* ... their places, ascending, and then the
												 * block's end */
	uint64		max_taken;		/* entries of the source, at most */
	SfxDictChoice dict[SFX_MAX_DICTS];	/* for the new leaves */
	int			ndicts;
	SfxCodes   *codes;			/* of the block at hand */
	SfxRestSample *sample;		/* of the new leaves' rests, or NULL */
	SfxPacker  *packer;
	int			n;
	SfxNewLeaf	leaf[SFX_SWAP_MAX];
	uint64		taken;
	uint64		removed;
	int64		before;			/* entries in the old leaves */
	int64		added;			/* old and new entries given to the packer */
	int64		after;			/* those of them on finished pages */
	bool		grow;			/* take in right neighbors */
	int			most_blocks;	/* of the record, at most */
	int			most_pages;		/* pages after which no entry is taken from the source */
	uint64		rests,			/* bytes of rests in the new pages: before coding, as stored, and
								 * as their dictionaries have promised */
				stored,
				promised;
	bool		inside;			/* an old entry came after a new one */
	int			bound;			/* an entry of the block at hand that is known to be >= the
								 * source's next one; -1: none */
	int			passed;			/* one that is known to be before the source's next one; -1: none */
	bool		too_many;
	SfxVersions versions;

	/* cut leaves */
	bool		cut;			/* the new leaves' keys are to be cut */
	bool		mixed;			/* the group takes leaves of the kind of its first one only */
	bool		whole;			/* all old keys are recovered */
	uint32		part;			/* entries of a new leaf, at most; 0: as many as fit */
	bool		again;			/* this attempt is void: it met a cut leaf, or needs whole keys */
	int			old_cut;		/* old leaves that are cut */
	SfxRecovery *recovery;		/* NULL: not needed yet */
	Relation	heap;			/* the table, while keys are being recovered */
	Relation	opened;			/* ... if it was opened for that */
	BlockNumber blkno;			/* the leaf at hand, if it is cut; else InvalidBlockNumber */
	int			keyno;			/* number of the key of the block at hand that was recovered; -1:
								 * none */
	uint32		keylen;			/* its length */
	uint8		key[SFX_MAX_ENTRY];
} SfxPack;

/*
 * Pack the group into p->leaf, palloc'd; the source is at its first entry.  With p->grow the group
 * takes in right neighbors meanwhile.  False: it needs more pages than one record takes.  Locks
 * as for sfx_group_rewrite.  Errors: the table of cut leaves is locked (W3), or damage.
 */
extern bool sfx_pack_group(SfxPack *p);

/*
 * Return the source to its first entry.  From there on it may have fewer entries than before, or
 * none, since readers take dead ones out of images (X1).
 */
extern void sfx_pack_restart(SfxPack *p);

/*
 * The last merge of this process needed rows, and ended in an error since it did not get the
 * table's lock (W3).
 */
extern bool sfx_pack_lacks_table;

#endif							/* SURFIDX_PACK_H */
