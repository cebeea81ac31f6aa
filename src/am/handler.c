/*-------------------------------------------------------------------------
 * handler.c - the access method as core sees it
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "am.h"
#include "cost.h"
#include "encode.h"
#include "scan.h"
#include "settings.h"
#include "vacuum.h"

#include "access/nbtree.h"
#include "commands/progress.h"
#include "commands/vacuum.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(surfidx_handler);

/* Support function numbers 1 to 6 and strategies are btree's, which the planner relies on for ordered indexes. */
StaticAssertDecl(BTORDER_PROC == 1 && BTSORTSUPPORT_PROC == 2 && BTINRANGE_PROC == 3 &&
				 BTEQUALIMAGE_PROC == 4 && BTOPTIONS_PROC == 5 && BTNProcs < SFX_ENCODING_PROC,
				 "support function numbers must be btree's");

/* ------------------------------------------------------------------ the handler */

static void
set_properties(IndexAmRoutine *am)
{
	am->amstrategies = BTMaxStrategyNumber;
	am->amsupport = SFX_NPROCS;
	am->amoptsprocnum = BTOPTIONS_PROC;
	am->amcanorder = true;
	am->amcanbackward = true;
	am->amcanunique = true;
	am->amcanmulticol = true;
	am->amoptionalkey = true;
	am->amsearcharray = true;
	am->amsearchnulls = true;
	am->amclusterable = true;
	am->ampredlocks = true;
	am->amcanparallel = true;
	am->amcaninclude = true;
	am->amparallelvacuumoptions = VACUUM_OPTION_NO_PARALLEL;
	am->amkeytype = InvalidOid;
}

static void
set_functions(IndexAmRoutine *am)
{
	am->ambuild = sfx_build;
	am->ambuildempty = sfx_buildempty;
	am->aminsert = sfx_insert;
	am->ambulkdelete = sfx_bulkdelete;
	am->amvacuumcleanup = sfx_vacuumcleanup;
	am->amcanreturn = sfx_canreturn;
	am->amestimateparallelscan = sfx_estimateparallelscan;
	am->aminitparallelscan = sfx_initparallelscan;
	am->amparallelrescan = sfx_parallelrescan;
	am->amcostestimate = sfx_costestimate;
	am->amoptions = sfx_options;
	am->ambuildphasename = sfx_buildphasename;
	am->amvalidate = sfx_validate;
	am->amadjustmembers = sfx_adjustmembers;
	am->ambeginscan = sfx_beginscan;
	am->amrescan = sfx_rescan;
	am->amgettuple = sfx_gettuple;
	am->amgetbitmap = sfx_getbitmap;
	am->amendscan = sfx_endscan;
	am->ammarkpos = sfx_markpos;
	am->amrestrpos = sfx_restrpos;
}

/* Everything that is not set is off or absent: no ORDER BY operators, no other storage type. */
Datum
surfidx_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *am = makeNode(IndexAmRoutine);

	set_properties(am);
	set_functions(am);
	SfxSetNewAmFields(am);
	PG_RETURN_POINTER(am);
}

/* Every encoding is reversible, and INCLUDE columns are stored as they are. */
bool
sfx_canreturn(Relation index, int attno)
{
	return true;
}

char *
sfx_buildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case SFX_PHASE_SCAN:
			return "scanning table";
		case SFX_PHASE_SORT:
			return "sorting keys";
		case SFX_PHASE_WRITE:
			return "writing pages";
		default:
			return NULL;
	}
}
