/*-------------------------------------------------------------------------
 * shared_memory.c - surfidx_shared_memory(): the tables of a fixed size in shared memory, which
 * serve all databases, and how full they are
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "counters.h"
#include "image.h"
#include "progress.h"
#include "requests.h"
#include "shared_use.h"
#include "sql_rows.h"

#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(surfidx_shared_memory);

#define TABLES	6
#define COLUMNS	5

Datum
surfidx_shared_memory(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;
	SfxSharedUse use[TABLES];

	sfx_image_use(&use[0]);
	sfx_activity_use(&use[2]);
	sfx_requests_use(&use[3]);
	sfx_progress_use(&use[5]);
	rsinfo = sfx_many_rows(fcinfo, COLUMNS);
	for (int i = 0; i < TABLES; i++)
	{
		bool		counted = use[i].taken >= 0;
		Datum		values[COLUMNS] = {
			CStringGetTextDatum(use[i].what), Int64GetDatum(use[i].places),
			Int64GetDatum(use[i].used), Int64GetDatum(use[i].taken), Int64GetDatum(use[i].evicted)
		};
		bool		nulls[COLUMNS] = {false, false, false, !counted, !counted};

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
