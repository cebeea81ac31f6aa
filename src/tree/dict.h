/*-------------------------------------------------------------------------
 * dict.h - an index's dictionaries: their pages, the backend's opened ones, and making them
 *
 * A dictionary (hope.h) codes what front coding leaves of keys in leaves.  The metapage lists an
 * index's dictionaries, a few at most, oldest first; each has a number that is never used again
 * within a build.  New leaves are written with the newest one; a leaf that needs one names it.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DICT_H
#define SURFIDX_DICT_H

#include "surfidx.h"
#include "column.h"
#include "hope.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"

/* Bytes of a dictionary, at most: its pages and the metapage are one record. */
#define SFX_DICT_PAGES		24
#define SFX_DICT_MAX_BYTES	(SFX_DICT_PAGES * (int) SFX_BODY_CAPACITY)

/* One that this backend has opened. */
typedef struct SfxDict SfxDict;

extern const SfxHope *sfx_dict_hope(const SfxDict *d);

/*
 * Give a leaf just opened the dictionary that it names, if any.  The leaf's page is still locked,
 * or the merge lock is held: so the dictionary is there, or the index is damaged (ERROR).  Reads
 * the dictionary's pages if need be, while that lock is held (see LOCK ORDER).  Good until *pin is
 * used for another leaf or given back; with pin NULL to the end of the transaction.
 */
extern void sfx_dict_attach(Relation index, BlockNumber blkno, Page page, SfxLeaf *leaf, SfxDict **pin);

/*
 * The same for who holds the merge lock, or builds the index, and knows the metapage as it is or
 * will be. Good to the end of the transaction.
 */
extern void sfx_dict_attach_listed(Relation index, const SfxMeta *meta, BlockNumber blkno, SfxLeaf *leaf);

/* Let go; *pin becomes NULL.  The end of the transaction does so, too. */
extern void sfx_dict_unpin(SfxDict **pin);

/* The dictionary with which new leaves are to be written, NULL if there is none or the storage parameter says "off". Merge lock held. Good to
 * the end of the transaction. */
extern const SfxHope *sfx_dict_for_writing(Relation index, const SfxMeta *meta, uint32 *number);

/* A dictionary just made. */
typedef struct SfxNewDict
{
	uint8	   *bytes;			/* palloc'd */
	int			len;
	SfxHopeScheme scheme;
	int			rate;			/* bytes stored per 1,000 bytes of rests, expected */
} SfxNewDict;

/* Is this scheme, or the search for the best one, asked for? */
extern bool sfx_dict_wanted(Relation index);

/* Enter a dictionary into a metapage's list as number meta->next_dict; its pages begin at first. */
extern void sfx_dict_enter(SfxMeta *meta, const SfxNewDict *new, BlockNumber first);

/*
 * Make page the seq-th page of the dictionary that sfx_dict_enter will enter; its right link is the
 * caller's.
 */
extern void sfx_dict_page_init(Page page, const SfxMeta *meta, const SfxNewDict *new, int seq);
extern int	sfx_dict_pages(uint32 len);

/* Open one that has no pages yet, in the current memory context. */
extern const SfxHope *sfx_dict_open_new(const SfxNewDict *new);

/*
 * Write a dictionary and enter it, in one record; *meta becomes the metapage. Merge lock held.
 * False: the list is full.
 */
extern bool sfx_dict_add(Relation index, SfxMeta *meta, const SfxNewDict *new);

/*
 * Take a dictionary that no leaf names off the list and free its pages, in one record. Merge lock
 * held.
 */
extern void sfx_dict_drop(Relation index, uint32 number);

/*
 * Move the dictionary page in block blkno into the free block of target, which is exclusively
 * locked and is let go, in one record with the link to it.  Merge lock held. The old block is not
 * given to the free space map. False: blkno is no dictionary's page.
 */
extern bool sfx_dict_move(Relation index, BlockNumber blkno, Buffer target);

/* Expect another rate of the newest dictionary from now on. Merge lock held. */
extern void sfx_dict_set_rate(Relation index, SfxMeta *meta, int rate);

/*
 * Read a dictionary's bytes from its pages: palloc'd.  ERROR if they are damaged.  own (may be
 * NULL) is called for each block.
 */
extern uint8 *sfx_dict_read(Relation index, uint64 build_id, const SfxDictRef *ref,
							void (*own) (void *arg, BlockNumber from, BlockNumber blkno), void *arg);

#endif							/* SURFIDX_DICT_H */
