/*-------------------------------------------------------------------------
 * visible.h - how many of many entries' rows a snapshot sees, most of them by the visibility map
 * alone
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_VISIBLE_H
#define SURFIDX_VISIBLE_H

#include "surfidx.h"

#include "leaf.h"

#include "access/relscan.h"

typedef struct SfxVisibility SfxVisibility;

/*
 * Pages of the visibility map that one count keeps pinned, at most.  The planner declines tables
 * that need more.
 */
extern int	sfx_visibility_max_pages(void);

/* Heap blocks whose bits stand on a page of the map. */
extern BlockNumber sfx_visibility_blocks(void);

/*
 * Begin a count of rows that the scan's MVCC snapshot sees.  All pages of the table's map are
 * pinned until the end (Y1).  Memory: the current context; TIDs whose rows have to be looked at
 * take work_mem at most.
 */
extern SfxVisibility *sfx_visibility_begin(IndexScanDesc scan);

/*
 * Add n entries, which the caller has read from the index since sfx_visibility_begin and for which
 * it still holds the gate (Y2). Rows that the map does not tell are looked at later (Y2).  Errors:
 * damage, if a TID lies beyond the table's end.
 */
extern void sfx_visibility_add(SfxVisibility *v, const uint64 *tid, int n);

/*
 * The same for the entries e of a leaf's block with lo <= e < hi (NULL: no bound): how many, or
 * SFX_CORRUPT.  Not for serializable transactions.
 */
extern int	sfx_visibility_add_block(SfxVisibility *v, const SfxLeaf *leaf, int b, const SfxPos *lo,
									 const SfxPos *hi);

/*
 * Does the map vouch for the rows of all these entries (as above)?  1, or 0, and nothing is added;
 * or SFX_CORRUPT.
 */
extern int	sfx_visibility_of_block(SfxVisibility *v, const SfxLeaf *leaf, int b, const SfxPos *lo,
									const SfxPos *hi);

/* Is the whole table all-visible now? */
extern bool sfx_visibility_of_all(const SfxVisibility *v);

/* So many bytes of the map are looked at for that. */
extern Size sfx_visibility_map_bytes(const SfxVisibility *v);

/* Add n rows that are visible, as who adds them knows. */
extern void sfx_visibility_add_visible(SfxVisibility *v, uint64 n);

/* Forget what was added. */
extern void sfx_visibility_forget(SfxVisibility *v);

/*
 * How many rows were visible, of all that was added; then begin anew.  *fetched: rows that were
 * looked at in the table.
 */
extern uint64 sfx_visibility_count(SfxVisibility *v, uint64 *fetched);

/*
 * For who wants to know which rows are visible.  Of n entries, as for sfx_visibility_add and at
 * most so many, those whose rows the map does not tell: their numbers, ascending, and how many.
 */
#define SFX_VISIBILITY_ENTRIES	512
extern int	sfx_visibility_hidden(SfxVisibility *v, const uint64 *tid, int n, uint16 *hidden);

/*
 * Look at n rows, at most so many, that it has told of (Y2): seen[i] is whether row i is visible.
 * tid's contents are lost.  They count as fetched.
 */
#define SFX_VISIBILITY_ROWS		65536
extern void sfx_visibility_look(SfxVisibility *v, uint64 *tid, int n, bool *seen);

/* Let go of the map and the table; v is gone. */
extern void sfx_visibility_end(SfxVisibility *v);

#endif							/* SURFIDX_VISIBLE_H */
