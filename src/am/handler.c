/*-------------------------------------------------------------------------
 * handler.c - the access method as core sees it
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "constraint.h"
#include "am.h"
#include "cost.h"
#include "encode.h"
#include "metacache.h"
#include "scan.h"
#include "settings.h"
#include "vacuum.h"

#include "access/nbtree.h"
#include "commands/progress.h"
#include "commands/vacuum.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(surfidx_handler);

/*
 * Support functions 1 to 6 and strategies have btree's numbers, which the planner relies on for
 * ordered indexes.
 */
StaticAssertDecl(BTORDER_PROC == 1 && BTSORTSUPPORT_PROC == 2 && BTINRANGE_PROC == 3 &&
				 BTEQUALIMAGE_PROC == 4 && BTOPTIONS_PROC == 5 && BTNProcs < SFX_ENCODING_PROC,
				 "support function numbers must be btree's");

/* ------------------------------------------------------------------ the handler */

/* All that is not set is off or absent: ORDER BY operators, another storage type. */
static const IndexAmRoutine routine = {
	.type = T_IndexAmRoutine,
	.amstrategies = BTMaxStrategyNumber,
	.amsupport = SFX_NPROCS,
	.amoptsprocnum = BTOPTIONS_PROC,
	.amcanorder = true,
	.amcanbackward = true,
	.amcanunique = true,
	.amcanmulticol = true,
	.amoptionalkey = true,
	.amsearcharray = true,
	.amsearchnulls = true,
	.amclusterable = true,
	.ampredlocks = true,
	.amcanparallel = true,
	.amcaninclude = true,
	.amparallelvacuumoptions = VACUUM_OPTION_NO_PARALLEL,
	.amkeytype = InvalidOid,
	.ambuild = sfx_build,
	.ambuildempty = sfx_buildempty,
	.aminsert = sfx_insert,
	.ambulkdelete = sfx_bulkdelete,
	.amvacuumcleanup = sfx_vacuumcleanup,
	.amcanreturn = sfx_canreturn,
	.amestimateparallelscan = sfx_estimateparallelscan,
	.aminitparallelscan = sfx_initparallelscan,
	.amparallelrescan = sfx_parallelrescan,
	.amcostestimate = sfx_costestimate,
	.amoptions = sfx_options,
	.ambuildphasename = sfx_buildphasename,
	.amvalidate = sfx_validate,
	.amadjustmembers = sfx_adjustmembers,
	.ambeginscan = sfx_beginscan,
	.amrescan = sfx_rescan,
	.amgettuple = sfx_gettuple,
	.amgetbitmap = sfx_getbitmap,
	.amendscan = sfx_endscan,
	.ammarkpos = sfx_markpos,
	.amrestrpos = sfx_restrpos,
	SFX_NEW_AM_FIELDS
};

Datum
surfidx_handler(PG_FUNCTION_ARGS)
{
	/* rule Q7: an index opened now would keep the wrong classes */
	Assert(!sfx_classes_are_lent());
	PG_RETURN_POINTER(SfxHandlerAnswer(&routine));
}

/*
 * Every column can be returned: encodings are reversible, and INCLUDE columns are stored as they
 * are.
 */
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
