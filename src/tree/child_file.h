/*-------------------------------------------------------------------------
 * child_file.h - the pages of one level of a tree that is being built, on their way to the level
 * above
 *
 * A build has one for each leaf of the index: what exceeds a megabyte goes to a temporary file,
 * which is no larger than the separators of these pages.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CHILD_FILE_H
#define SURFIDX_CHILD_FILE_H

#include "inner.h"

typedef struct SfxChildFile SfxChildFile;

/* An empty file; index: named in errors.  Memory: the current context, which has to outlive it. */
extern SfxChildFile *sfx_child_file_create(Relation index);

/* Add a page; *child is copied.  Not after a window has begun. */
extern void sfx_child_file_put(SfxChildFile *f, const SfxChild *child);

/* Number of pages added. */
extern uint64 sfx_child_file_count(const SfxChildFile *f);

/* Free it, and its temporary file. */
extern void sfx_child_file_end(SfxChildFile *f);

/* A window on a file that gets no more pages: the pages that were read and not yet dropped. */
typedef struct SfxChildWindow
{
	SfxChildFile *file;
	SfxChild   *child;			/* the window's pages, [0..n) */
	int			n;
	int			room;			/* entries that child[] has room for */
	uint64		unread;			/* pages of the file after those of the window */
} SfxChildWindow;

/* Begin a window at the first page of f; once for each file. */
extern void sfx_child_window_begin(SfxChildWindow *w, SfxChildFile *f);

/*
 * Read on until the window has n pages, or the file ends.  Pages that the window had stay where
 * they are in the order; the array may move.
 */
extern void sfx_child_window_fill(SfxChildWindow *w, int n);

/* Drop the window's first n pages. */
extern void sfx_child_window_drop(SfxChildWindow *w, int n);

/* Free the window; the file stays. */
extern void sfx_child_window_end(SfxChildWindow *w);

#endif							/* SURFIDX_CHILD_FILE_H */
