/*-------------------------------------------------------------------------
 * visible.h - counting which rows of many entries a snapshot sees, mostly by the visibility map
 * alone
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_VISIBLE_H
#define SURFIDX_VISIBLE_H

#include "leaf.h"

typedef struct SfxVisibility SfxVisibility;

/*
 * Pages of the visibility map that one count keeps pinned, at most.  The planner does not choose
 * such counts for tables that need more.
 */
extern int	sfx_visibility_max_pages(void);

/* Heap blocks whose bits are on one page of the map. */
extern BlockNumber sfx_visibility_blocks(void);

/*
 * Begin to count rows that the scan's MVCC snapshot sees.  All pages of the table's map stay pinned
 * until sfx_visibility_end (Y1).  Memory: from the current context; the list of TIDs that are put
 * off takes work_mem at most.
 */
extern SfxVisibility *sfx_visibility_begin(IndexScanDesc scan);

/*
 * Add n entries.  REQUIRES: the caller has read them from the index since sfx_visibility_begin, and
 * still holds the gate (Y2).  Rows for which the map does not vouch are put off, and visited later.
 * Errors: damage, if a TID is beyond the table's end.
 */
extern void sfx_visibility_add(SfxVisibility *v, const uint64 *tid, int n);

/*
 * The same for the entries e of block b of a leaf with lo <= e < hi (NULL: no bound).  Returns
 * their number, or SFX_CORRUPT.  Not in SERIALIZABLE transactions (asserted).
 */
extern int	sfx_visibility_add_block(SfxVisibility *v, const SfxLeaf *leaf, int b, const SfxPos *lo,
									 const SfxPos *hi);

/*
 * Does the map vouch for the rows of all these entries?  1 or 0, or SFX_CORRUPT; nothing is added.
 * Requirements as for sfx_visibility_add_block.
 */
extern int	sfx_visibility_of_block(SfxVisibility *v, const SfxLeaf *leaf, int b, const SfxPos *lo,
									const SfxPos *hi);

/* Does the map vouch for the whole table now (Y8)? */
extern bool sfx_visibility_of_all(const SfxVisibility *v);

/* Bytes of the map that sfx_visibility_of_all reads. */
extern Size sfx_visibility_map_bytes(const SfxVisibility *v);

/* Add n rows that the caller knows to be visible. */
extern void sfx_visibility_add_visible(SfxVisibility *v, uint64 n);

/* Forget what was added. */
extern void sfx_visibility_forget(SfxVisibility *v);

/*
 * Visit the rows that were put off; returns the number of visible rows of all that was added, and
 * begins a new count.  *fetched: rows that were visited.
 */
extern uint64 sfx_visibility_count(SfxVisibility *v, uint64 *fetched);

/*
 * For callers that need to know which rows are visible: of n entries, at most
 * SFX_VISIBILITY_ENTRIES, find those for whose rows the map does not vouch.  Writes their numbers
 * to hidden, ascending, and returns how many they are.  Requirements as for sfx_visibility_add.
 */
#define SFX_VISIBILITY_ENTRIES	512
extern int	sfx_visibility_hidden(SfxVisibility *v, const uint64 *tid, int n, uint16 *hidden);

/*
 * Visit n rows that sfx_visibility_hidden has reported, at most SFX_VISIBILITY_ROWS: seen[i]
 * becomes whether row i is visible (Y2).  tid is overwritten.  The rows count as fetched.
 */
#define SFX_VISIBILITY_ROWS		65536
extern void sfx_visibility_look(SfxVisibility *v, uint64 *tid, int n, bool *seen);

/* Release the map and the table's rows, and free v. */
extern void sfx_visibility_end(SfxVisibility *v);

#endif							/* SURFIDX_VISIBLE_H */
