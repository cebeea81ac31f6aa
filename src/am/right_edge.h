/*-------------------------------------------------------------------------
 * right_edge.h - where indexes with ascending keys end (U3)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RIGHT_EDGE_H
#define SURFIDX_RIGHT_EDGE_H

#include "leaf.h"
#include "log_watch.h"

typedef struct SfxEdge SfxEdge;

/*
 * To be called once for each key that is about to be inserted into a unique index in byte order.
 * NULL: this backend does not know where the index ends; ascending keys are counted.  The result is
 * valid until the next call.
 */
extern SfxEdge *sfx_edge_see_key(Relation index, const SfxEntry *e);

/*
 * Do all entries that this backend knows of stand before lo?  Then *watch lets an append go through
 * only if all entries appended since do, too; the appended entry becomes the new end.  lo has to
 * last as long as the watch.
 */
extern bool sfx_edge_watch(SfxEdge *edge, const SfxPos *lo, SfxLogWatch *watch);

/* The append was refused. */
extern void sfx_edge_refused(SfxEdge *edge);

/*
 * True: the last keys of this backend have ascended, so the caller is to look for the index's end
 * now, and to call sfx_edge_note if its key is beyond that.  After that there is a pause, which
 * doubles with each turn until one finds the end.
 */
extern bool sfx_edge_take_turn(Relation index);

/* Note that all entries before that place of the log, and those of trees, stand before lo. */
extern void sfx_edge_note(Relation index, const SfxPos *lo, const SfxLogPlace *place);

#endif							/* SURFIDX_RIGHT_EDGE_H */
