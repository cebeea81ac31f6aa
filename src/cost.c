/*-------------------------------------------------------------------------
 * cost.c - what the planner is told about the price of a scan
 *
 * The same amount as a btree of as many pages, so that plans are those that a btree would get.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"

#include <math.h>

#include "nodes/pathnodes.h"
#include "utils/index_selfuncs.h"
#include "utils/selfuncs.h"

/* Children of an inner page, roughly: only the logarithm matters. */
#define TYPICAL_FANOUT	256.0

/* Inner levels of a tree of that many pages. */
int
sfx_tree_height(BlockNumber pages)
{
	return pages > SFX_FIRST_BLKNO + 1 ? (int) ceil(log(pages - SFX_FIRST_BLKNO) / log(TYPICAL_FANOUT)) : 0;
}

void
sfx_costestimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup, Cost *total,
				 Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	GenericCosts costs = {0};

	/* core knows the height only of its own trees before 18 */
	if (info->tree_height < 0)
		info->tree_height = sfx_tree_height(info->pages);

	/* btree's estimate needs the ordering operators that core found for the columns; without them, it would crash */
	if (info->sortopfamily != NULL)
	{
		btcostestimate(root, path, loop_count, startup, total, selectivity, correlation, pages);
		return;
	}
	genericcostestimate(root, path, loop_count, &costs);
	*startup = costs.indexStartupCost;
	*total = costs.indexTotalCost;
	*selectivity = costs.indexSelectivity;
	*correlation = costs.indexCorrelation;
	*pages = costs.numIndexPages;
}
