/*-------------------------------------------------------------------------
 * contract.c - mutants of the library in test builds (contract.h); empty in others
 *-------------------------------------------------------------------------
 */
#include "contract.h"

#ifdef SFX_TEST
bool		(*sfx_core_mutant) (const char *rule) = NULL;
#endif
