/*-------------------------------------------------------------------------
 * check_heap.c - the verifier: the index against its table
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "check.h"
#include "key.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

static void
check_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	SfxCheck   *cs = arg;
	uint8		bytes[SFX_MAX_ENTRY + 6];
	MemoryContext old = MemoryContextSwitchTo(cs->rowcxt);
	int			len = sfx_key_encode(&cs->kd, index, values, isnull, bytes);

	MemoryContextSwitchTo(old);
	MemoryContextReset(cs->rowcxt);
	len = sfx_check_element(cs, bytes, len, SFX_TID(ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid)), bytes);
	if (bloom_lacks_element(cs->filter, bytes, len))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" is damaged: row (%u,%u) of table \"%s\" has no entry",
						RelationGetRelationName(index), ItemPointerGetBlockNumber(tid),
						ItemPointerGetOffsetNumber(tid), RelationGetRelationName(cs->heap)),
				 errhint("Please REINDEX it.")));
}

/* Number of elements that the filter has to take, roughly. */
static int64
estimate_entries(SfxCheck *cs)
{
	uint64		logged = sfx_meta_log_pages(&cs->meta) * (BLCKSZ / 16);

	return Max((int64) (sfx_meta_entries(&cs->meta) + logged), 1024);
}

void
sfx_check_make_filter(SfxCheck *cs)
{
	cs->filter = bloom_create(estimate_entries(cs), maintenance_work_mem, pg_prng_uint64(&pg_global_prng_state));
}

/* See check.h.  Rows are read as CREATE INDEX CONCURRENTLY reads them. */
void
sfx_check_heap(SfxCheck *cs, Snapshot snapshot)
{
	IndexInfo  *info = BuildIndexInfo(cs->index);
	TableScanDesc scan = table_beginscan_strat(cs->heap, snapshot, 0, NULL, true, true);

	info->ii_Concurrent = true;
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;
	(void) table_index_build_scan(cs->heap, cs->index, info, true, false, check_row, cs, scan);
}

void
sfx_check_tids(SfxCheck *cs)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(cs->heap);

	if (cs->max_tid > 0 && SFX_TID_BLOCK(cs->max_tid) >= nblocks)
		sfx_broken(cs, cs->max_tid_blkno, "entry for row (%u,%u) of a table that has %u blocks",
				   SFX_TID_BLOCK(cs->max_tid), SFX_TID_OFFSET(cs->max_tid), nblocks);
}
