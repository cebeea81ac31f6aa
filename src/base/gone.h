/*-------------------------------------------------------------------------
 * gone.h - the death of files, for modules that keep something of them in shared memory
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_GONE_H
#define SURFIDX_GONE_H

/*
 * Called with a file that has died, whose number may come again; with InvalidOid for the number:
 * all files of that database have died.  It runs at the very end of a (sub)transaction, and must
 * not throw.
 */
typedef void (*SfxGoneFunction) (const SfxLocator *file);

extern void sfx_gone_tell(SfxGoneFunction f);
extern void sfx_gone_init(void);

#endif							/* SURFIDX_GONE_H */
