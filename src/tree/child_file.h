/*-------------------------------------------------------------------------
 * child_file.h - the pages of one level of a tree that is built, on their way to the level above
 *
 * A build has as many of them as the index has leaves: what exceeds a megabyte stands in a
 * temporary file, which takes no more room than the pages' positions do.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CHILD_FILE_H
#define SURFIDX_CHILD_FILE_H

#include "surfidx.h"
#include "inner.h"

typedef struct SfxChildFile SfxChildFile;

/* An empty one; index: named in errors.  Memory: the current context, which has to outlive it. */
extern SfxChildFile *sfx_child_file_create(Relation index);

/* Add a page, which is copied. */
extern void sfx_child_file_put(SfxChildFile *f, const SfxChild *child);

/* How many there are. */
extern uint64 sfx_child_file_count(const SfxChildFile *f);

/* It goes, and its temporary file. */
extern void sfx_child_file_end(SfxChildFile *f);

/* Of a file that gets no more: those that were not dropped yet, as many as are wanted. */
typedef struct SfxChildWindow
{
	SfxChildFile *file;
	SfxChild   *child;			/* [0..n) */
	int			n;
	int			room;
	uint64		unread;			/* that come behind them */
} SfxChildWindow;

/* All of f, from its first page on; once for each file. */
extern void sfx_child_window_begin(SfxChildWindow *w, SfxChildFile *f);

/* Have n of them in the window, or all that are left.  What the window had before stays valid. */
extern void sfx_child_window_fill(SfxChildWindow *w, int n);

/* The first n are not needed any more. */
extern void sfx_child_window_drop(SfxChildWindow *w, int n);

/* It goes; the file stays. */
extern void sfx_child_window_end(SfxChildWindow *w);

#endif							/* SURFIDX_CHILD_FILE_H */
