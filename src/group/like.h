/*-------------------------------------------------------------------------
 * like.h - LIKE, with a look for the pattern's longest literal first
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LIKE_H
#define SURFIDX_LIKE_H

/*
 * Where the expression, which is ready to be evaluated, calls textlike, let it call a function that
 * returns the same and is faster for patterns that begin with a wildcard.  NULL: nothing to do.
 */
extern void sfx_like_quicken(ExprState *state);

#endif							/* SURFIDX_LIKE_H */
