/*-------------------------------------------------------------------------
 * check.c - surfidx_check(): every invariant that the pages have, and the index against its table
 *
 * The check copies one page at a time and looks at the copy, so it never holds a buffer lock while
 * it works or reports.  Its order is the one in which entries move (log, then tree), so no entry
 * escapes it.
 *
 *	1. metapage and gates
 *	2. each generation: its chain of log pages, then its image against the log
 *	3. each level of the tree from the root down, along right links, beside the level above
 *	4. every block that nothing owns so far is a free one
 *	5. rowsmatch: every entry met in 2 and 3 leads to a row with its key and INCLUDE columns, or to
 *	   one that no snapshot can see any more; between 3 and 4 at the latest
 *	6. heapallindexed: every row that a snapshot taken before 1 sees has its entry, and no two of
 *	   them have the same key in a unique index
 *
 * On a primary the merge lock keeps the tree and the list of generations as they are; meanwhile the
 * active generation may grow, and VACUUM may flag log entries.  On a standby replay does not wait:
 * there a violation counts only if replay stood still during the look (T4).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "catalog_rows.h"
#include "check.h"
#include "dict.h"
#include "find.h"
#include "hope.h"
#include "index_open.h"
#include "inner.h"
#include "key.h"
#include "leaf.h"
#include "log.h"
#include "merge_lock.h"
#include "meta.h"
#include "order.h"
#include "page.h"
#include "pending.h"
#include "retry.h"
#include "settings.h"
#include "shrink.h"
#include "sql_rows.h"
#include "subxact.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(surfidx_check);
PG_FUNCTION_INFO_V1(surfidx_check_all);

#define CHECK_TRIES			20	/* on a standby whose replay goes on */

/* An index, and what is checked beside its own pages. */
typedef struct CheckWhat
{
	Oid			relid;
	bool		heapallindexed;
	bool		rowsmatch;
} CheckWhat;

/* ---- 1. metapage and gates ---- */

static void
own_dict_block(void *arg, BlockNumber from, BlockNumber blkno)
{
	sfx_check_own(arg, from, blkno);
}

/* Check each dictionary from its pages to its tables. */
static void
check_dicts(SfxCheck *cs)
{
	SfxMeta    *m = &cs->meta;

	for (uint32 i = 0; i < m->ndicts; i++)
	{
		SfxDictRef *ref = &m->dict[i];
		uint8	   *bytes = sfx_dict_read(cs->index, m->build_id, ref, own_dict_block, cs);
		Size		size = sfx_hope_state_size(bytes, ref->len);
		SfxHope    *hope = palloc(Max(size, 1));

		if (size == 0 || sfx_hope_open(hope, size, bytes, ref->len) != SFX_OK)
			sfx_broken(cs, ref->first, "dictionary %u is broken", ref->number);
		if (sfx_hope_scheme(hope) != ref->scheme)
			sfx_broken(cs, ref->first, "dictionary %u is of scheme %d, the metapage says %u",
					   ref->number, sfx_hope_scheme(hope), ref->scheme);
		pfree(hope);
		pfree(bytes);
	}
}

static void
check_meta(SfxCheck *cs)
{
	SfxMeta    *m = &cs->meta;

	sfx_meta_read(cs->index, m);
	if (!sfx_format_is_read(m->version) || m->min_version > m->version)
		sfx_broken(cs, SFX_META_BLKNO, "format version %u", m->version);

	for (BlockNumber blkno = SFX_META_BLKNO; blkno < SFX_FIRST_BLKNO; blkno++)
	{
		SfxPageTail *tail;

		sfx_check_own(cs, SFX_META_BLKNO, blkno);
		tail = sfx_check_copy(cs, blkno);
		if (tail == NULL || tail->kind != (blkno == SFX_META_BLKNO ? SFX_PAGE_META : SFX_PAGE_GATE))
			sfx_broken(cs, blkno, blkno == SFX_META_BLKNO ? "not a metapage" : "not a gate page");
		if (tail->build_id != m->build_id)
			sfx_broken(cs, blkno, "page of another build");
	}
	check_dicts(cs);
}

/* ---- 4. the other blocks ---- */

/* Has the active generation taken this page since its chain was walked? */
static bool
is_new_log_page(SfxCheck *cs, SfxPageTail *tail)
{
	SfxLogHeader *h = (SfxLogHeader *) SfxPageBody(cs->page.data);

	return tail->kind == SFX_PAGE_LOG && tail->build_id == cs->meta.build_id &&
		tail->owner == cs->meta.gens[0].gen &&
		SfxPageBodyLen(cs->page.data) >= sizeof(SfxLogHeader) &&
		(!cs->active_seen || h->seq > cs->last_seq);
}

static void
check_free_blocks(SfxCheck *cs)
{
	for (BlockNumber blkno = SFX_FIRST_BLKNO; blkno < cs->nblocks; blkno++)
	{
		SfxPageTail *tail;

		if (sfx_check_is_owned(cs, blkno))
			continue;
		tail = sfx_check_copy(cs, blkno);
		if (tail != NULL && !sfx_page_is_free(cs->page.data, &cs->meta) &&
			!is_new_log_page(cs, tail))
			sfx_broken(cs, blkno, "page of kind %u, level %u, owner %u belongs to nobody and is not free",
					   tail->kind, tail->level, tail->owner);
		cs->lost += !sfx_map_says_free(cs->index, blkno);
	}
}

/* ---- the whole ---- */

/* A check whose index is open. */
typedef struct CheckAll
{
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;		/* NULL: the table is not compared with the index */
	bool		rowsmatch;
} CheckAll;

/*
 * Run all steps of the check (see the top of the file).  arg: a CheckAll.  Everything is allocated
 * in the current memory context, and left to it.
 */
static void
check_all(void *arg)
{
	const CheckAll *all = arg;
	SfxCheck   *cs = palloc0(sizeof(SfxCheck));

	cs->heap = all->heap;
	cs->index = all->index;
	cs->strategy = GetAccessStrategy(BAS_BULKREAD);
	cs->block = palloc(sizeof(SfxBlock));
	cs->scratch = palloc(sfx_inner_scratch_size());
	cs->arena = palloc(SFX_ARENA);
	cs->rowcxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx check row", ALLOCSET_DEFAULT_SIZES);
	cs->order = sfx_order_open(cs->index, &cs->kd, true);
	sfx_check_grow(cs, RelationGetNumberOfBlocks(cs->index));
	SFX_STOP("check begins");
	check_meta(cs);
	if (all->snapshot)
		sfx_check_make_filter(cs);
	if (all->rowsmatch)
		sfx_check_rows_begin(cs);
	for (int g = 0; g < cs->meta.ngens; g++)
	{
		cs->moving = cs->meta.resume[SFX_RESUME_GEN].source == cs->meta.gens[g].gen;
		sfx_check_generation(cs, g);
	}
	sfx_check_trees(cs);
	if (all->rowsmatch)
		sfx_check_rows_end(cs);
	check_free_blocks(cs);
	sfx_check_tids(cs);
	/* neither is damage: the next merge there, or the next VACUUM, puts it right */
	elog(DEBUG1, "index \"%s\": %u inner pages wait for their downlinks, %u free blocks for the free space map",
		 RelationGetRelationName(cs->index), cs->unposted, cs->lost);
	if (all->snapshot)
	{
		sfx_check_heap(cs, all->snapshot);
		sfx_check_unique(cs, all->snapshot);
	}
}

/*
 * While replay goes on, what looks like damage may be a page that changed between two looks: then
 * the check is repeated.  Only what is found while replay stands still is damage (T4).  False: the
 * standby was promoted.
 */
static bool
check_on_standby(CheckAll *all)
{
	ErrorData  *edata = NULL;

	for (int tries = 0; tries < CHECK_TRIES; tries++)
	{
		XLogRecPtr	start = sfx_replayed();

		edata = sfx_attempt(check_all, all);
		if (edata == NULL)
			return true;
		if (edata->sqlerrcode != ERRCODE_INDEX_CORRUPTED || sfx_replay_stood_still(start))
			ReThrowError(edata);
		if (!RecoveryInProgress())
			return false;
		CHECK_FOR_INTERRUPTS();
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("index \"%s\" changes too fast on this standby to be checked",
					RelationGetRelationName(all->index)),
			 errdetail("Replay went on during each of %d tries. The last one found: %s",
					   CHECK_TRIES, edata->message),
			 errhint("Pause replay with pg_wal_replay_pause() and try again.")));
}

/* A snapshot that sees no row which the index may rightly lack. */
static Snapshot
take_snapshot(Relation index)
{
	Snapshot	snapshot;

	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot check index \"%s\" against its table because it is not valid", RelationGetRelationName(index)),
				 errhint("REINDEX it, or check it without heapallindexed.")));
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	if (IsolationUsesXactSnapshot() && index->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data), snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" is younger than this transaction's snapshot", RelationGetRelationName(index)),
				 errhint("Check it in a new transaction.")));
	return snapshot;
}

/*
 * Run the check as the table's owner, in restricted operations: expressions and predicates must not
 * run with our privileges.
 */
static void
check_as_owner(Relation heap, Relation index, const CheckWhat *what)
{
	CheckAll	all = {
		heap, index, what->heapallindexed ? take_snapshot(index) : NULL, what->rowsmatch
	};
	Oid			user;
	int			sec;
	int			nest;

	GetUserIdAndSecContext(&user, &sec);
	SetUserIdAndSecContext(heap->rd_rel->relowner, sec | SECURITY_RESTRICTED_OPERATION);
	nest = NewGUCNestLevel();
	SfxRestrictSearchPath();
	if (!RecoveryInProgress() || !check_on_standby(&all))
	{
		sfx_merge_lock(index);
		check_all(&all);
		sfx_merge_unlock(index);
	}
	AtEOXact_GUC(false, nest);
	SetUserIdAndSecContext(user, sec);
	if (all.snapshot)
		UnregisterSnapshot(all.snapshot);
}

/* Check an index as arg, a CheckWhat, says: ERROR at the first violation. */
static void
check_index(void *arg)
{
	const CheckWhat *what = arg;
	Relation	heap;
	Relation	index = sfx_open_with_table(what->relid, &heap);

	/* D7: a statement around this one may hold back entries of rows that our snapshot sees */
	if (!SFX_MUTANT("check misses what waits"))
		sfx_pending_flush_index(index);
	if (sfx_is_absent(index))
		ereport(NOTICE,
				(errmsg("index \"%s\" is unlogged: a standby has nothing of it to check", RelationGetRelationName(index))));
	else
		check_as_owner(heap, index, what);
	relation_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);
}

/* surfidx_check(index, heapallindexed, rowsmatch): ERROR at the first violation. */
Datum
surfidx_check(PG_FUNCTION_ARGS)
{
	CheckWhat	what = {PG_GETARG_OID(0), PG_GETARG_BOOL(1), PG_GETARG_BOOL(2)};

	check_index(&what);
	PG_RETURN_VOID();
}

/* ---- a database ---- */

/*
 * The OIDs, ascending, of the indexes of this database that this session can check: all that are
 * valid and have contents here.
 */
static List *
list_indexes(void)
{
	List	   *oids = NIL;

	foreach_ptr(HeapTupleData, tuple, sfx_rows_with(RelationRelationId, InvalidOid, Anum_pg_class_relam,
													get_index_am_oid(SFX_METHOD, false)))
	{
		Form_pg_class c = (Form_pg_class) GETSTRUCT(tuple);

		if (c->relkind == RELKIND_INDEX && !isOtherTempNamespace(c->relnamespace) &&
			!(RecoveryInProgress() && c->relpersistence == RELPERSISTENCE_UNLOGGED) && get_index_isvalid(c->oid) &&
			!sfx_is_distributed(IndexGetRelation(c->oid, true)))
			oids = lappend_oid(oids, c->oid);
	}
	list_sort(oids, list_oid_cmp);
	return oids;
}

/* Check one index.  Returns what is wrong, or NULL; *gone: it was dropped meanwhile. */
static char *
try_index(CheckWhat *what, bool *gone)
{
	ErrorData  *edata = sfx_attempt(check_index, what);

	*gone = false;
	if (edata == NULL)
		return NULL;
	if (edata->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(edata);
	*gone = !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(what->relid));
	return edata->message;
}

#define CHECK_COLUMNS	(SFX_INDEX_COLUMNS + 1)

/*
 * surfidx_check_all(heapallindexed, rowsmatch): a row for each index, with its first violation or
 * NULL.
 */
Datum
surfidx_check_all(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = sfx_many_rows(fcinfo, CHECK_COLUMNS);

	foreach_oid(oid, list_indexes())
	{
		bool		gone;
		CheckWhat	what = {oid, PG_GETARG_BOOL(0), PG_GETARG_BOOL(1)};
		char	   *problem = try_index(&what, &gone);
		Datum		values[CHECK_COLUMNS];
		bool		nulls[CHECK_COLUMNS];

		if (gone)
			continue;
		sfx_name_index(oid, values, nulls);
		nulls[SFX_INDEX_COLUMNS] = problem == NULL;
		values[SFX_INDEX_COLUMNS] = problem ? CStringGetTextDatum(problem) : (Datum) 0;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
