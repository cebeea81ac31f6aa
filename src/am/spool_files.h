/*-------------------------------------------------------------------------
 * spool_files.h - sorted items in temporary files, and their merge
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SPOOL_FILES_H
#define SURFIDX_SPOOL_FILES_H

#include "storage/fileset.h"

/*
 * Items in order, in a file that is first written, then read, once.  It belongs to the memory
 * context and resource owner that were current when it was made.
 */
typedef struct SfxSorted SfxSorted;

/*
 * Create a file.  set: where another process will find it by its number; NULL: it is for this
 * process alone.
 */
extern SfxSorted *sfx_sorted_create(FileSet *set, uint32 number);

/* Append an item, not less than the one before. */
extern void sfx_sorted_put(SfxSorted *f, const uint8 *item, int len);

/* No more items come.  A file of a set is closed, and freed here; its readers open it. */
extern void sfx_sorted_finish(SfxSorted *f);

/* Open a finished file of a set. */
extern SfxSorted *sfx_sorted_open(FileSet *set, uint32 number);

/* A merge of n finished files. */
typedef struct SfxSortedMerge SfxSortedMerge;

/* Compares two items, where their order is not that of their bytes. */
typedef int (*SfxSortedCmp) (void *arg, const uint8 *a, int alen, const uint8 *b, int blen);

/*
 * Begin a merge, which owns the files from then on.  memory: bytes for all buffers together.  cmp:
 * what the files are sorted by; NULL: by bytes.
 */
extern SfxSortedMerge *sfx_sorted_merge_begin(SfxSorted **files, int n, Size memory,
											  SfxSortedCmp cmp, void *arg);

/* The next item, valid until the next call; NULL at the end. */
extern const uint8 *sfx_sorted_merge_next(SfxSortedMerge *m, int *len);

/* End the merge and close the files; those not of a set are deleted by that. */
extern void sfx_sorted_merge_end(SfxSortedMerge *m);

/* Delete a file of a set, which is not open. */
extern void sfx_sorted_delete(FileSet *set, uint32 number);

#endif							/* SURFIDX_SPOOL_FILES_H */
