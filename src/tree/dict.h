/*-------------------------------------------------------------------------
 * dict.h - an index's dictionaries: their pages, those that this backend has opened, making them
 *
 * A dictionary (hope.h) codes what front coding leaves of keys in leaves.  The metapage lists an
 * index's dictionaries, a few at most, oldest first; each has a number that is never used again
 * within a build.  A leaf is written with the one that suits it, and names it (H1).
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DICT_H
#define SURFIDX_DICT_H

#include "column.h"
#include "hope.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"

/* Pages and bytes of a dictionary, at most: its pages and the metapage go into one record (H1). */
#define SFX_DICT_PAGES		24
#define SFX_DICT_MAX_BYTES	(SFX_DICT_PAGES * (int) SFX_BODY_CAPACITY)

/* A dictionary that this backend has opened. */
typedef struct SfxDict SfxDict;

/*
 * Set leaf->dict to the dictionary that a leaf just opened names, if it names one.  The leaf's page
 * is still locked, or the caller holds the merge lock: so the dictionary is listed, or the index is
 * damaged (ERROR; H3).  May read the metapage and the dictionary's pages under that lock (see LOCK
 * ORDER).  The dictionary stays open until *pin is used for another leaf or unpinned; with pin
 * NULL, to the end of the transaction.
 */
extern void sfx_dict_attach(Relation index, BlockNumber blkno, Page page, SfxLeaf *leaf, SfxDict **pin);

/*
 * The same for a caller that holds the merge lock, or builds the index, and knows the metapage as
 * it is or will be.  The dictionary stays open to the end of the transaction.
 */
extern void sfx_dict_attach_listed(Relation index, const SfxMeta *meta, BlockNumber blkno, SfxLeaf *leaf);

/* Let go of the dictionary; *pin becomes NULL.  The end of the transaction does so, too. */
extern void sfx_dict_unpin(SfxDict **pin);

/* A dictionary with which new leaves may be written. */
typedef struct SfxDictChoice
{
	const SfxHope *hope;
	uint32		number;
	uint32		rate;			/* bytes stored per 1,000 bytes of rests, as promised */
	uint64		raw;			/* the caller's: bytes of rests coded with it, before ... */
	uint64		stored;			/* ... and after */
} SfxDictChoice;

/*
 * The dictionaries with which new leaves may be written, oldest first, into choice[SFX_MAX_DICTS];
 * returns their number.  None, if the storage parameter says "off"; those of the scheme that it
 * asks for, or the newest one.  Merge lock held.  They stay open to the end of the transaction.
 */
extern int	sfx_dicts_for_writing(Relation index, const SfxMeta *meta, SfxDictChoice *choice);

/* Leaves are about to be written with this dictionary, in a record that stores *meta (H1). */
extern void sfx_dict_note_written(SfxMeta *meta, uint32 number);

/* A dictionary just made, which has no pages yet. */
typedef struct SfxNewDict
{
	uint8	   *bytes;			/* palloc'd */
	int			len;
	SfxHopeScheme scheme;
	int			rate;			/* bytes stored per 1,000 bytes of rests, expected */
} SfxNewDict;

/* Do the storage parameters ask for a dictionary, of one scheme or of the best one? */
extern bool sfx_dict_wanted(Relation index);

/*
 * Enter a dictionary, as number meta->next_dict, into the list of *meta; its pages begin at block
 * first.
 */
extern void sfx_dict_enter(SfxMeta *meta, const SfxNewDict *new, BlockNumber first);

/*
 * Make `page` the seq-th page of the dictionary that sfx_dict_enter is about to enter.  The caller
 * sets its right link.
 */
extern void sfx_dict_page_init(Page page, const SfxMeta *meta, const SfxNewDict *new, int seq);

/* Number of pages that a dictionary of len bytes takes. */
extern int	sfx_dict_pages(uint32 len);

/*
 * Open a dictionary that has no pages yet, in the current memory context; NULL if its bytes are
 * none.
 */
extern const SfxHope *sfx_dict_open_new(const SfxNewDict *new);

/*
 * Write a dictionary's pages and enter it into the metapage's list, in one record (H1); *meta
 * becomes the metapage.  Merge lock held.  False: the list is full.
 */
extern bool sfx_dict_add(Relation index, SfxMeta *meta, const SfxNewDict *new);

/*
 * From now on it counts whether leaves are written with dictionaries.  *meta becomes the metapage.
 * Merge lock held.
 */
extern void sfx_dicts_forget_written(Relation index, SfxMeta *meta);

/*
 * Take a dictionary off the list, and free its pages, in one record, unless leaves were written
 * with it since sfx_dicts_forget_written (H1).  None named it then.  Merge lock held.
 */
extern void sfx_dict_drop(Relation index, uint32 number);

/*
 * Move the dictionary page in block blkno into the lower, free block of target, in one record with
 * the link to it (G1).  Merge lock held.  target is locked exclusively, and released here.  The old
 * block is not given to the free space map.  False: blkno is no page of a listed dictionary.
 */
extern bool sfx_dict_move(Relation index, BlockNumber blkno, Buffer target);

/*
 * Set the rate that is expected of a dictionary from now on; *meta becomes the metapage.  Merge
 * lock held.
 */
extern void sfx_dict_set_rate(Relation index, SfxMeta *meta, uint32 number, int rate);

/*
 * Read a dictionary's bytes from its pages: palloc'd.  ERROR if they are damaged.  own (may be
 * NULL) is called with each block, and the block whose link leads there.  No page may be moving:
 * the caller holds the merge lock.
 */
extern uint8 *sfx_dict_read(Relation index, uint64 build_id, const SfxDictRef *ref,
							void (*own) (void *arg, BlockNumber from, BlockNumber blkno), void *arg);

#endif							/* SURFIDX_DICT_H */
