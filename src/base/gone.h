/*-------------------------------------------------------------------------
 * gone.h - the death of files: for whoever keeps something of them in shared memory
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_GONE_H
#define SURFIDX_GONE_H

#include "surfidx.h"

/*
 * A file has died, and its numbers may come again; its number InvalidOid: all files of that
 * database.  Called at the very end of a transaction, where nothing may be thrown.
 */
typedef void (*SfxGoneFunction) (const SfxLocator *file);

extern void sfx_gone_tell(SfxGoneFunction f);
extern void sfx_gone_init(void);

#endif							/* SURFIDX_GONE_H */
