/*-------------------------------------------------------------------------
 * lwlocks.h - what this backend holds, for assertions
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LWLOCKS_H
#define SURFIDX_LWLOCKS_H

#include "surfidx.h"

/* No LWLock is held: so no page's lock, and no image's. */
extern bool sfx_holds_no_lwlock(void);

#endif							/* SURFIDX_LWLOCKS_H */
