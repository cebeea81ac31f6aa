/*-------------------------------------------------------------------------
 * stop.h - stop points and mutants: in test builds only (-DSFX_TEST), else nothing
 *
 * A stop point is a named place between two steps whose order matters.  A test arms it from SQL; a
 * process that reaches it then waits, fails, or takes the server down as a power failure would.
 * This makes races and crashes deterministic.
 *
 * A mutant is a rule of src/README.md that a test build can be told to break (surfidx.mutants), to
 * prove that some test notices: scripts/mutants.sh.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_STOP_H
#define SURFIDX_STOP_H

#ifdef SFX_TEST
/*
 * A stop point.  Any locks may be held.  A process that waits there can be cancelled if the code
 * around it can.  Throws if it was armed with "error".
 */
#define SFX_STOP(point)		sfx_stop(point)
/* Is this rule to be broken? */
#define SFX_MUTANT(rule)	sfx_mutant(rule)

/* SfxSharedArea */
#define SFX_STOP_AREA		(&sfx_stop_area)

extern void sfx_stop(const char *point);
extern bool sfx_mutant(const char *rule);
extern void sfx_stop_define_gucs(void);
extern const struct SfxSharedArea sfx_stop_area;
#else
#define SFX_STOP(point)		((void) 0)
#define SFX_MUTANT(rule)	false
#define SFX_STOP_AREA		NULL
#define sfx_stop_define_gucs()		((void) 0)
#endif

#endif							/* SURFIDX_STOP_H */
