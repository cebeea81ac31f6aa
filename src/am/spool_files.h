/*-------------------------------------------------------------------------
 * spool_files.h - sorted items in temporary files, and their merge
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SPOOL_FILES_H
#define SURFIDX_SPOOL_FILES_H

#include "postgres.h"

#include "storage/fileset.h"

/*
 * Items in order, in a file: first written, then read, once.  Belongs to the memory context and
 * resource owner that are current when it is made.
 */
typedef struct SfxSorted SfxSorted;

/*
 * A file to write to.  set: where another process will find it by its number; NULL: nobody else
 * will.
 */
extern SfxSorted *sfx_sorted_create(FileSet *set, uint32 number);

/* Append an item, not below the one before it. */
extern void sfx_sorted_put(SfxSorted *f, const uint8 *item, int len);

/* That was the last one.  In a set, the file is closed, and is to be opened by whoever reads it. */
extern void sfx_sorted_finish(SfxSorted *f);

/* Open a finished file of a set. */
extern SfxSorted *sfx_sorted_open(FileSet *set, uint32 number);

/* The items of n finished files, or of one, in one order. */
typedef struct SfxSortedMerge SfxSortedMerge;

/* Which of two items comes first, where that is not the order of their bytes. */
typedef int (*SfxSortedCmp) (void *arg, const uint8 *a, int alen, const uint8 *b, int blen);

/*
 * memory: bytes for buffers, together.  The files are the merge's from then on.  cmp: what they are
 * sorted by; NULL: by bytes.
 */
extern SfxSortedMerge *sfx_sorted_merge_begin(SfxSorted **files, int n, Size memory,
											  SfxSortedCmp cmp, void *arg);

/* The next item, valid until the next call; NULL at the end. */
extern const uint8 *sfx_sorted_merge_next(SfxSortedMerge *m, int *len);

/* Close the files, which deletes them but for those of a set. */
extern void sfx_sorted_merge_end(SfxSortedMerge *m);

/* Delete a file of a set that is not open. */
extern void sfx_sorted_delete(FileSet *set, uint32 number);

#endif							/* SURFIDX_SPOOL_FILES_H */
