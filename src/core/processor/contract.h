/*-------------------------------------------------------------------------
 * contract.h - what the library checks of itself, and how a test build breaks a rule
 *
 * Nothing can be asserted about bytes: a function that finds them damaged returns SFX_CORRUPT.  So
 * checks that are too expensive for every call are made only if SFX_CHECKED is 1, and have that
 * result, too: a fault of the library is an error then, instead of a wrong result, and damage is
 * not a crash.  SFX_CHECKED is 1 in servers with assertions (Makefile) and in the unit tests.
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

/*
 * Is this rule to be broken?  (base/stop.h sets the function, and has the same for the server's
 * code.)
 */
#ifdef SFX_TEST
extern bool (*sfx_core_mutant) (const char *rule);

#define SFX_CORE_MUTANT(rule)	(sfx_core_mutant != NULL && sfx_core_mutant(rule))
#else
#define SFX_CORE_MUTANT(rule)	false
#endif

#endif							/* SFX_CONTRACT_H */
