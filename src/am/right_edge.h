/*-------------------------------------------------------------------------
 * right_edge.h - where indexes with ascending keys end (U3)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RIGHT_EDGE_H
#define SURFIDX_RIGHT_EDGE_H

#include "surfidx.h"
#include "leaf.h"
#include "log_watch.h"

typedef struct SfxEdge SfxEdge;

/*
 * A key is about to come into a unique index in byte order: to be called once for each.  As long as
 * this backend does not know where the index's entries end (NULL), keys that rise are counted.
 * What comes back is good until the next call.
 */
extern SfxEdge *sfx_edge_see_key(Relation index, const SfxEntry *e);

/*
 * Do all entries that this backend has seen stand before lo, which has to last as long as the
 * watch?  Then *watch lets an append go on only if that is true of all others, too; the entry that
 * is appended is seen as well.
 */
extern bool sfx_edge_watch(SfxEdge *edge, const SfxPos *lo, SfxLogWatch *watch);

/* It has not let it. */
extern void sfx_edge_refused(SfxEdge *edge);

/*
 * True: the caller is to look for the end now, and to tell of it where it is found (sfx_edge_note).
 * So it is where the last keys of this backend have risen; then not for a pause, which doubles with
 * each turn until one finds the end.
 */
extern bool sfx_edge_take_turn(Relation index);

/* All entries that stand before that place of the log, and those of trees, stand before lo. */
extern void sfx_edge_note(Relation index, const SfxPos *lo, const SfxLogPlace *place);

#endif							/* SURFIDX_RIGHT_EDGE_H */
