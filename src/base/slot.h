/*-------------------------------------------------------------------------
 * slot.h - rows of a virtual slot, one after the other
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SLOT_H
#define SURFIDX_SLOT_H

#include "executor/tuptable.h"

/*
 * The caller has set the slot's values, which the slot does not own: mark them as valid.  The same
 * as ExecClearTuple and ExecStoreVirtualTuple together, without their calls.
 */
static inline TupleTableSlot *
SfxSlotFilled(TupleTableSlot *slot)
{
	Assert(TTS_IS_VIRTUAL(slot) && !TTS_SHOULDFREE(slot));
	slot->tts_flags &= ~TTS_FLAG_EMPTY;
	slot->tts_nvalid = slot->tts_tupleDescriptor->natts;
	return slot;
}

#endif							/* SURFIDX_SLOT_H */
