/*-------------------------------------------------------------------------
 * lwlocks.h - which LWLocks this backend holds, for assertions
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LWLOCKS_H
#define SURFIDX_LWLOCKS_H

#include "surfidx.h"

/* True: this backend holds no LWLock, so neither a page's lock nor an image's. */
extern bool sfx_holds_no_lwlock(void);

#endif							/* SURFIDX_LWLOCKS_H */
