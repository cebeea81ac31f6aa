/*-------------------------------------------------------------------------
 * pglocale.h - core's locales, without ICU's headers, which a server's packages do not bring along
 *
 * What is used of them (the provider, a C library's locale) stands where it stands with ICU.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PGLOCALE_H
#define SURFIDX_PGLOCALE_H

#undef USE_ICU
#include "utils/pg_locale.h"

#endif							/* SURFIDX_PGLOCALE_H */
