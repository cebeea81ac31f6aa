/*-------------------------------------------------------------------------
 * init.c - what happens when the library is loaded
 *
 * Loaded through shared_preload_libraries it sets up everything.  Loaded in any other way (by
 * pg_upgrade, or by the first call of one of its functions) it must not fail: it then defines what
 * can be defined late, and sfx_require_preload turns each attempt to use an index into a clear
 * error.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_offer.h"
#include "agg_path.h"
#include "am.h"
#include "cpu.h"
#include "estimate.h"
#include "explain_ahead.h"
#include "gone.h"
#include "image.h"
#include "index_only.h"
#include "offset.h"
#include "offset_path.h"
#include "planner.h"
#include "utility.h"
#include "settings.h"

#include "miscadmin.h"

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	sfx_cpu_init();
	sfx_planner_define_gucs();
	sfx_utility_define_gucs();
	sfx_estimate_define_gucs();
	sfx_agg_offer_define_gucs();
	sfx_index_only_define_gucs();
	sfx_offset_define_gucs();
	sfx_stop_define_gucs();
	/* last, as it reserves the prefix */
	sfx_define_gucs(process_shared_preload_libraries_in_progress);
	sfx_define_reloptions();
	if (!process_shared_preload_libraries_in_progress)
		return;
	sfx_wal_init();
	sfx_shmem_init();
	sfx_gone_init();
	sfx_image_init();
	sfx_planner_init();
	sfx_utility_init();
	sfx_estimate_init();
	sfx_agg_init();
	sfx_offset_init();
	sfx_plan_start_init();
	sfx_explain_ahead_init();
	sfx_together_init();
	sfx_preloaded = true;
}
