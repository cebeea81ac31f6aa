/*-------------------------------------------------------------------------
 * contract.h - what the library checks of itself, and what a test build can be told to break
 *
 * Of bytes nothing can be asserted: who finds that they are not as they should be says SFX_CORRUPT.
 * So what is too dear to look for always is looked for where SFX_CHECKED is 1, with that answer: a
 * fault of the library is an error then, in place of a wrong result, and damage is no crash.  It is
 * 1 in servers with assertions (Makefile) and in the unit tests.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_CONTRACT_H
#define SFX_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef SFX_ASSERTS
#define SFX_CHECKED		1
#else
#define SFX_CHECKED		0
#endif

/* Is this rule to be broken?  (base/stop.h, which sets the function, has the same for the rest.) */
#ifdef SFX_TEST
extern bool (*sfx_core_mutant) (const char *rule);

#define SFX_CORE_MUTANT(rule)	(sfx_core_mutant != NULL && sfx_core_mutant(rule))
#else
#define SFX_CORE_MUTANT(rule)	false
#endif

#endif							/* SFX_CONTRACT_H */
