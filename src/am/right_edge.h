/*-------------------------------------------------------------------------
 * right_edge.h - where indexes with ascending keys end (U3)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RIGHT_EDGE_H
#define SURFIDX_RIGHT_EDGE_H

#include "surfidx.h"
#include "leaf.h"
#include "log_watch.h"

/*
 * A key is about to come into a unique index in byte order.  Does this backend know where the
 * index's entries end?
 */
extern bool sfx_edge_known(Relation index, const SfxEntry *e);

/*
 * Of an index whose end is known: do all entries that this backend has seen stand before lo, which
 * has to last?  Then *watch lets an append go on only if that is true of all others, too.
 */
extern bool sfx_edge_watch(Relation index, const SfxPos *lo, SfxLogWatch *watch);

/* It has not let it. */
extern void sfx_edge_refused(Relation index);

/*
 * Would it pay to look for the end?  Where the last keys of this backend have ascended, and not if
 * the last looks were in vain.
 */
extern bool sfx_edge_wanted(Relation index);

/* All entries that stand before that place of the log, and those of trees, stand before lo. */
extern void sfx_edge_note(Relation index, const SfxPos *lo, const SfxLogPlace *place);

#endif							/* SURFIDX_RIGHT_EDGE_H */
