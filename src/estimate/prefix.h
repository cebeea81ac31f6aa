/*-------------------------------------------------------------------------
 * prefix.h - patterns that a range of an index answers exactly
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PREFIX_H
#define SURFIDX_PREFIX_H

/*
 * Core derives a range of the index from LIKE 'abc%' or ^@ and keeps the condition as a filter.
 * Mark those of the path's clauses whose range is exact, so that core leaves the filter out.
 */
extern void sfx_prefix_mark_exact(IndexPath *path);

#endif							/* SURFIDX_PREFIX_H */
