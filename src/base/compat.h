/*-------------------------------------------------------------------------
 * compat.h - every difference between PostgreSQL 15, 16, 17, 18 and 19, and nothing else
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COMPAT_H
#define SURFIDX_COMPAT_H

#include "postgres.h"
#include "utils/rel.h"

#include "stop.h"

#if PG_VERSION_NUM < 150000
#error "surfidx needs PostgreSQL 15 or newer"
#endif

/* RelFileNode was renamed RelFileLocator in 16. */
#if PG_VERSION_NUM < 160000
#include "storage/relfilenode.h"
typedef RelFileNode SfxLocator;
#define SfxRelLocator(rel)			((rel)->rd_node)
#define SfxRelDatabase(rel)			((rel)->rd_node.dbNode)
#define SfxLocatorEquals(a, b)		RelFileNodeEquals(a, b)
#define SfxLocatorDb(l)				((l).dbNode)
#define SfxLocatorNumber(l)			((l).relNode)
#define SfxLocatorOfDatabase(db)	{.dbNode = (db)}
#else
#include "storage/relfilelocator.h"
typedef RelFileLocator SfxLocator;
#define SfxRelLocator(rel)			((rel)->rd_locator)
#define SfxRelDatabase(rel)			((rel)->rd_locator.dbOid)
#define SfxLocatorEquals(a, b)		RelFileLocatorEquals(a, b)
#define SfxLocatorDb(l)				((l).dbOid)
#define SfxLocatorNumber(l)			((l).relNumber)
#define SfxLocatorOfDatabase(db)	{.dbOid = (db)}
#endif

/* Renamed in 17. */
#if PG_VERSION_NUM < 170000
#define SfxTransamVariables			ShmemVariableCache
#else
#define SfxTransamVariables			TransamVariables
#endif

/* One new block at the end of the relation, exclusively locked. */
#if PG_VERSION_NUM < 160000
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
static inline Buffer
SfxExtendRelation(Relation rel)
{
	bool		needlock = !RELATION_IS_LOCAL(rel);
	Buffer		buf;

	if (needlock)
		LockRelationForExtension(rel, ExclusiveLock);
	buf = ReadBuffer(rel, P_NEW);
	SFX_STOP("extended");
	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	if (needlock)
		UnlockRelationForExtension(rel, ExclusiveLock);
	return buf;
}
#else
#include "storage/bufmgr.h"
static inline Buffer
SfxExtendRelation(Relation rel)
{
	return ExtendBufferedRel(BMR_REL(rel), MAIN_FORKNUM, NULL, EB_LOCK_FIRST);
}
#endif

/* postgres.h no longer has the varlena macros since 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/*
 * Core's header of locales includes ICU's headers, which the server's development package does not
 * bring.  Nothing here needs what they declare, and the members used have the same offsets without.
 */
#include "catalog/pg_collation.h"
#ifdef USE_ICU
#undef USE_ICU
#include "utils/pg_locale.h"
#define USE_ICU 1
#else
#include "utils/pg_locale.h"
#endif

/* Does a collation compare by bytes?  lc_collate_is_c went away in 18. */
#if PG_VERSION_NUM < 180000
#define SfxCollateIsC(collation)	lc_collate_is_c(collation)
#else
#define SfxCollateIsC(collation)	(pg_newlocale_from_collation(collation)->collate_is_c)
#endif

/* Is it cheap for varstr_cmp to look its collation up? */
#define SFX_COLLATION_AT_HAND		(PG_VERSION_NUM >= 180000)

/*
 * Is a collation a C library's?  Then *lt is its locale, 0: the process's own.  In 19 a locale does
 * not tell its provider: the answer is no.
 */
static inline bool
SfxLibcLocale(Oid collation, locale_t *lt)
{
#if PG_VERSION_NUM < 190000
	pg_locale_t locale = pg_newlocale_from_collation(collation);

	*lt = (locale_t) 0;
	if (locale == NULL)
		return true;
	if (locale->provider != COLLPROVIDER_LIBC)
		return false;
	if (PG_VERSION_NUM >= 180000 || collation != DEFAULT_COLLATION_OID)
		*lt = locale->info.lt;
	return true;
#else
	*lt = (locale_t) 0;
	return false;
#endif
}

/* Look an abbreviation of a zone up; its errors were added in 16. */
#if PG_VERSION_NUM < 160000
#define SfxDecodeAbbreviation(name, type, offset, zone) \
	(*(type) = DecodeTimezoneAbbrev(0, name, offset, zone), true)
#else
#define SfxDecodeAbbreviation(name, type, offset, zone) \
	(DecodeTimezoneAbbrev(0, name, type, offset, zone, &(DateTimeErrorExtra) {0}) == 0)
#endif

/*
 * Do scans have to ask for pages of the table themselves?  Once the executor takes batches of TIDs
 * (amgetbatch), the table's access method will.
 */
#define SFX_SCANS_READ_AHEAD		(PG_VERSION_NUM < 200000)

/* EXPLAIN ANALYZE counts index searches from 18 on. */
#if PG_VERSION_NUM < 180000
#define SfxCountIndexSearch(scan)	((void) 0)
#else
#define SfxCountIndexSearch(scan) \
	do { \
		if ((scan)->instrument) \
			(scan)->instrument->nsearches++; \
	} while (0)
#endif

/*
 * The user whose rights a table of the query is read with: it moved from the range table entry to
 * the planner's relation in 16.
 */
#include "nodes/pathnodes.h"
#if PG_VERSION_NUM < 160000
#define SfxPlannedUser(rel, rte)	(OidIsValid((rte)->checkAsUser) ? (rte)->checkAsUser : GetUserId())
#else
#define SfxPlannedUser(rel, rte)	(OidIsValid((rel)->userid) ? (rel)->userid : GetUserId())
#endif

/* Fields of IndexAmRoutine that are newer than 15; those left zero are right as they are. */
#include "access/amapi.h"
#if PG_VERSION_NUM >= 180000
#include "access/nbtree.h"
#include "storage/bufmgr.h"

/* the strategies are btree's, and core calls these with btree's families as well */
#define SFX_NEW_AM_FIELDS \
	.amtranslatestrategy = bttranslatestrategy, \
	.amtranslatecmptype = bttranslatecmptype, \
	.amconsistentequality = true, \
	.amconsistentordering = true, \
	.amgettreeheight = sfx_tree_height, \
	.amcanbuildparallel = true
#elif PG_VERSION_NUM >= 170000
#define SFX_NEW_AM_FIELDS	.amcanbuildparallel = true
#else
#define SFX_NEW_AM_FIELDS
#endif

/* What a handler returns: before 19 core frees it, so it is a copy; since 19 core keeps it. */
#if PG_VERSION_NUM < 190000
static inline IndexAmRoutine *
SfxHandlerAnswer(const IndexAmRoutine *am)
{
	IndexAmRoutine *copy = makeNode(IndexAmRoutine);

	*copy = *am;
	return copy;
}
#else
#define SfxHandlerAnswer(am)	(am)
#endif

/*
 * Where the AM's part of a parallel scan's descriptor begins; and the shapes of the function that
 * tells its size.
 */
#if PG_VERSION_NUM < 180000
#define SfxParallelOffset(target)	((target)->ps_offset)
#else
#define SfxParallelOffset(target)	((target)->ps_offset_am)
#endif
#if PG_VERSION_NUM < 170000
#define SfxEstimateParallelArgs		void
#elif PG_VERSION_NUM < 180000
#define SfxEstimateParallelArgs		int nkeys, int norderbys
#else
#define SfxEstimateParallelArgs		Relation index, int nkeys, int norderbys
#endif

/*
 * Number of workers that a build of this index may have: core plans them for every access method
 * since 17, before for btree alone.
 */
#include "nodes/execnodes.h"
#if PG_VERSION_NUM < 170000
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"
static inline int
SfxBuildWorkers(Relation heap, Relation index, IndexInfo *info)
{
	/* an empty table: TRUNCATE rebuilds its indexes, and core allows no workers there */
	if (!IsNormalProcessingMode() || RelationGetNumberOfBlocks(heap) == 0)
		return 0;
	return plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
}
#else
#define SfxBuildWorkers(heap, index, info)	((info)->ii_ParallelWorkers)
#endif

/*
 * May the user maintain the index?  Its owner may; from 17 on also users with that privilege on the
 * table.
 */
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#if PG_VERSION_NUM < 160000
#define SfxOwnsRelation(relid)	pg_class_ownercheck(relid, GetUserId())
#else
#define SfxOwnsRelation(relid)	object_ownercheck(RelationRelationId, relid, GetUserId())
#endif
#if PG_VERSION_NUM < 170000
#define SfxMayMaintain(index)	SfxOwnsRelation(index)
#else
#define SfxMayMaintain(index) \
	(SfxOwnsRelation(index) || \
	 pg_class_aclcheck(IndexGetRelation(index, false), GetUserId(), ACL_MAINTAIN) == ACLCHECK_OK)
#endif

/* May the role call a function, or use a schema, or create something in it? */
#if PG_VERSION_NUM < 160000
#define SfxMayExecuteAs(func, role)	(pg_proc_aclcheck(func, role, ACL_EXECUTE) == ACLCHECK_OK)
#define SfxMayUseSchema(schema) \
	(pg_namespace_aclcheck(schema, GetUserId(), ACL_USAGE) == ACLCHECK_OK)
#define SfxMayCreateIn(schema) \
	(pg_namespace_aclcheck(schema, GetUserId(), ACL_CREATE) == ACLCHECK_OK)
#else
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#define SfxMayExecuteAs(func, role) \
	(object_aclcheck(ProcedureRelationId, func, role, ACL_EXECUTE) == ACLCHECK_OK)
#define SfxMayUseSchema(schema) \
	(object_aclcheck(NamespaceRelationId, schema, GetUserId(), ACL_USAGE) == ACLCHECK_OK)
#define SfxMayCreateIn(schema) \
	(object_aclcheck(NamespaceRelationId, schema, GetUserId(), ACL_CREATE) == ACLCHECK_OK)
#endif

/*
 * The rights that a query's tables ask for stand beside the range table since 16.  And since 18 a
 * sort says itself whether it descends.
 */
#if PG_VERSION_NUM < 160000
#define SfxCopyPermissions(to, from)	((void) 0)
#define SfxForgetPermissions(query)		((void) 0)
#else
#define SfxCopyPermissions(to, from)	((to)->rteperminfos = (from)->rteperminfos)
#define SfxForgetPermissions(query)		((query)->rteperminfos = NIL)
#endif
#if PG_VERSION_NUM < 180000
#define SfxSetDescending(sort, down)	((void) 0)
#else
#define SfxSetDescending(sort, down)	((sort)->reverse_sort = (down))
#endif

/*
 * The clauses that rows are grouped or told apart by: since 16 without columns that have one value.
 */
#if PG_VERSION_NUM < 160000
#define SfxGroupClause(root)		((root)->parse->groupClause)
#define SfxDistinctClause(root)		((root)->parse->distinctClause)
#else
#define SfxGroupClause(root)		((root)->processed_groupClause)
#define SfxDistinctClause(root)		((root)->processed_distinctClause)
#endif

/* Run a portal to its end. */
#if PG_VERSION_NUM < 180000
#define SfxPortalRun(portal, dest)	PortalRun(portal, FETCH_ALL, true, true, dest, dest, NULL)
#else
#define SfxPortalRun(portal, dest)	PortalRun(portal, FETCH_ALL, true, dest, dest, NULL)
#endif

/*
 * Since 18 a header of its own declares what a node shows in EXPLAIN, and the number of the query's
 * tables leaves out the entry that stands for its groups.
 */
#if PG_VERSION_NUM < 180000
#include "commands/explain.h"
#define SfxExplainTables(es)	list_length((es)->rtable)
#else
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#define SfxExplainTables(es)	((es)->rtable_size)
#endif

/* pg_attribute_always_inline, which said "inline" as well, was renamed in 19. */
#ifndef pg_always_inline
#define pg_always_inline	pg_attribute_always_inline
#endif

/* Since 18 written before the declaration; there is no pg_attribute_noreturn any more. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn	_Noreturn
#endif

/* Timeouts newer than 15 that must not end the worker. */
#if PG_VERSION_NUM < 170000
#define SFX_MORE_TIMEOUTS
#else
#define SFX_MORE_TIMEOUTS	{"transaction_timeout", "0"},
#endif

/* Functions that run as a table's owner fix their search_path from 17 on. */
#if PG_VERSION_NUM >= 170000
#include "miscadmin.h"
#include "utils/guc.h"
#define SfxRestrictSearchPath()	RestrictSearchPath()
#else
#define SfxRestrictSearchPath()	((void) 0)
#endif

/* VACUUM's throttle also serves ANALYZE since 18, and is told for which of them it works. */
#include "commands/vacuum.h"
#if PG_VERSION_NUM < 180000
#define SfxVacuumDelay()	vacuum_delay_point()
#else
#define SfxVacuumDelay()	vacuum_delay_point(false)
#endif

/* Renamed in 17. */
#include "miscadmin.h"
#if PG_VERSION_NUM < 170000
#include "postmaster/autovacuum.h"
#define SfxIsAutovacuum()	IsAutoVacuumWorkerProcess()
#else
#define SfxIsAutovacuum()	AmAutoVacuumWorkerProcess()
#endif

/* Since 17 a stronger lock counts only if that is asked for. */
#include "storage/lock.h"
#if PG_VERSION_NUM < 170000
#define SfxLockHeldByMe(tag, mode)	LockHeldByMe(tag, mode)
#else
#define SfxLockHeldByMe(tag, mode)	LockHeldByMe(tag, mode, false)
#endif

/*
 * Cancel a standby's queries whose snapshots need what a record removes.  Since 16 logical decoding
 * on standbys may conflict, too, if the table is a catalog for it.
 */
#include "storage/standby.h"
#if PG_VERSION_NUM < 160000
#define SfxResolveConflict(xid, catalog, locator)	ResolveRecoveryConflictWithSnapshot(xid, locator)
#else
#define SfxResolveConflict(xid, catalog, locator)	ResolveRecoveryConflictWithSnapshot(xid, catalog, locator)
#endif

/*
 * Before 17 snapshots can expire (old_snapshot_threshold): VACUUM removes what they see, and a
 * reader of pages that have changed since has to throw (R6).
 */
#include "storage/bufmgr.h"
#if PG_VERSION_NUM < 170000
#include "utils/snapmgr.h"
#define SfxSnapshotsExpire()						(old_snapshot_threshold >= 0)
#define SfxTestForOldSnapshot(snapshot, rel, page)	TestForOldSnapshot(snapshot, rel, page)
#else
#define SfxSnapshotsExpire()						false
#define SfxTestForOldSnapshot(snapshot, rel, page)	((void) 0)
#endif

/*
 * Number of rows of a table, live and dead, and of those changed since ANALYZE, by the statistics;
 * false if they do not know the table.
 * As of now, and not cached: this transaction's view of the statistics is not for us to fix.  But
 * if it uses a snapshot of all statistics, that must not be bypassed.
 */
#include "pgstat.h"
static inline bool
SfxTableRows(Oid relid, int64 *live, int64 *dead, int64 *changed)
{
	int			consistency = pgstat_fetch_consistency;
	PgStat_StatTabEntry *t;

	if (consistency == PGSTAT_FETCH_CONSISTENCY_CACHE)
		pgstat_fetch_consistency = PGSTAT_FETCH_CONSISTENCY_NONE;
	PG_TRY();
	{
		t = pgstat_fetch_stat_tabentry(relid);
	}
	PG_FINALLY();
	{
		pgstat_fetch_consistency = consistency;
	}
	PG_END_TRY();
	if (t == NULL)
		return false;
#if PG_VERSION_NUM < 160000
	*live = t->n_live_tuples;
	*dead = t->n_dead_tuples;
	*changed = t->changes_since_analyze;
#else
	*live = t->live_tuples;
	*dead = t->dead_tuples;
	*changed = t->mod_since_analyze;
#endif
	if (consistency != PGSTAT_FETCH_CONSISTENCY_SNAPSHOT)
		pfree(t);
	return true;
}

/* May VACUUM truncate, by the table's storage parameter?  Since 18 a setting gives the default. */
#include "utils/rel.h"
static inline bool
SfxMayTruncate(Relation heap)
{
	StdRdOptions *opts = (StdRdOptions *) heap->rd_options;

#if PG_VERSION_NUM >= 190000
	if (opts == NULL || opts->vacuum_truncate == PG_TERNARY_UNSET)
		return vacuum_truncate;
#elif PG_VERSION_NUM >= 180000
	if (opts == NULL || !opts->vacuum_truncate_set)
		return vacuum_truncate;
#endif
	return opts == NULL || opts->vacuum_truncate;
}

/* Is this function of language C or internal? */
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "access/htup_details.h"
#include "utils/syscache.h"
static inline bool
SfxFunctionIsC(Oid funcid)
{
	HeapTuple	tup = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	Oid			lang;

	if (!HeapTupleIsValid(tup))
		return false;
	lang = ((Form_pg_proc) GETSTRUCT(tup))->prolang;
	ReleaseSysCache(tup);
	return lang == INTERNALlanguageId || lang == ClanguageId;
}

/*
 * From 18 on btree's cost estimate expects skip scans: a clause on a column after one without an
 * equality narrows them.
 */
#define SFX_BTREE_SKIPS (PG_VERSION_NUM >= 180000)

/*
 * From 18 on the executor gives row comparisons to any ordered access method that the planner takes
 * for btree.
 */
#define SFX_TAKES_ROW_COMPARISONS	(PG_VERSION_NUM >= 180000)

/* Before 18 core takes btree for the only access method that enforces uniqueness. */
#define SFX_UNIQUE_MEANS_BTREE	(PG_VERSION_NUM < 180000)

/* Is it a key WITHOUT OVERLAPS, whose index is a gist? */
#if PG_VERSION_NUM < 180000
#define SfxWithoutOverlaps(constraint)	false
#define SfxIndexWithoutOverlaps(stmt)	false
#else
#define SfxWithoutOverlaps(constraint)	((constraint)->without_overlaps)
#define SfxIndexWithoutOverlaps(stmt)	((stmt)->iswithoutoverlaps)
#endif

/* Does this ALTER TABLE command make core rebuild what uses the column? */
#if PG_VERSION_NUM < 170000
#define SfxRebuildsColumn(subtype)	((subtype) == AT_AlterColumnType)
#else
#define SfxRebuildsColumn(subtype) \
	((subtype) == AT_AlterColumnType || (subtype) == AT_SetExpression)
#endif

/* Create an index as ALTER TABLE does when it rebuilds one: no check of rights. */
#include "commands/defrem.h"
#if PG_VERSION_NUM < 160000
#define SfxRebuildIndex(table, stmt) \
	DefineIndex(table, stmt, InvalidOid, InvalidOid, InvalidOid, true, false, false, false, true)
#elif PG_VERSION_NUM >= 190000
#define SfxRebuildIndex(table, stmt) \
	DefineIndex(NULL, table, stmt, InvalidOid, InvalidOid, InvalidOid, -1, true, false, false, \
				false, true)
#else
#define SfxRebuildIndex(table, stmt) \
	DefineIndex(table, stmt, InvalidOid, InvalidOid, InvalidOid, -1, true, false, false, false, \
				true)
#endif

/*
 * 17 looks up the equality operator for logical replication's searches by a strategy number that it
 * knows for btree and hash only.
 */
#define SFX_APPLY_MEANS_BTREE	(PG_VERSION_NUM >= 170000 && PG_VERSION_NUM < 180000)

/*
 * Does the caller that began this scan look at xs_recheck?  The executor's nodes do, and from 18 on
 * they have their searches counted; other callers may not look.
 */
#if PG_VERSION_NUM < 180000
#define SfxScanRechecks(scan)	true
#else
#define SfxScanRechecks(scan)	((scan)->instrument != NULL)
#endif

/*
 * Since 19 a caller that fetches rows says whether the query only reads their table: then pruning a
 * page on the way may mark it all-visible.
 */
#include "access/heapam.h"
#include "access/tableam.h"
#include "executor/executor.h"
#if PG_VERSION_NUM < 190000
#define SfxReadsOnly(scanstate)				0
#define SfxFetchFlags(scan)					0
#define SfxBeginFetch(heap, flags)			table_index_fetch_begin(heap)
#define SfxBeginScanParallel(heap, pscan)	table_beginscan_parallel(heap, pscan)
#define SfxPrune(heap, buf, map, flags)		heap_page_prune_opt(heap, buf)
#else
#define SfxReadsOnly(scanstate) \
	(ScanRelIsReadOnly(scanstate) ? SO_HINT_REL_READ_ONLY : SO_NONE)
#define SfxFetchFlags(scan)					((scan)->xs_heapfetch->flags)
#define SfxBeginFetch(heap, flags)			table_index_fetch_begin(heap, flags)
#define SfxBeginScanParallel(heap, pscan)	table_beginscan_parallel(heap, pscan, SO_NONE)
#define SfxPrune(heap, buf, map, flags) \
	heap_page_prune_opt(heap, buf, map, ((flags) & SO_HINT_REL_READ_ONLY) != 0)
#endif

/*
 * Begin the scan of an index-only scan's or index scan's node, or one without a node;
 * instrumentation came in 18.
 */
#if PG_VERSION_NUM < 180000
#define SfxBeginScan(heap, index, snapshot) \
	index_beginscan(heap, index, snapshot, 0, 0)
#define SfxBeginPlainScan(node) \
	index_beginscan((node)->ss.ss_currentRelation, (node)->iss_RelationDesc, \
					(node)->ss.ps.state->es_snapshot, (node)->iss_NumScanKeys, 0)
#define SfxIndexBeginScan(node) \
	index_beginscan((node)->ss.ss_currentRelation, (node)->ioss_RelationDesc, \
					(node)->ss.ps.state->es_snapshot, \
					(node)->ioss_NumScanKeys, (node)->ioss_NumOrderByKeys)
#elif PG_VERSION_NUM < 190000
#define SfxBeginScan(heap, index, snapshot) \
	index_beginscan(heap, index, snapshot, NULL, 0, 0)
#define SfxBeginPlainScan(node) \
	index_beginscan((node)->ss.ss_currentRelation, (node)->iss_RelationDesc, \
					(node)->ss.ps.state->es_snapshot, \
					&(node)->iss_Instrument, (node)->iss_NumScanKeys, 0)
#define SfxIndexBeginScan(node) \
	index_beginscan((node)->ss.ss_currentRelation, (node)->ioss_RelationDesc, \
					(node)->ss.ps.state->es_snapshot, \
					&(node)->ioss_Instrument, (node)->ioss_NumScanKeys, (node)->ioss_NumOrderByKeys)
#else
#define SfxBeginScan(heap, index, snapshot) \
	index_beginscan(heap, index, snapshot, NULL, 0, 0, 0)
#define SfxBeginPlainScan(node) \
	index_beginscan((node)->ss.ss_currentRelation, (node)->iss_RelationDesc, \
					(node)->ss.ps.state->es_snapshot, \
					(node)->iss_Instrument, (node)->iss_NumScanKeys, 0, \
					SfxReadsOnly(&(node)->ss))
#define SfxIndexBeginScan(node) \
	index_beginscan((node)->ss.ss_currentRelation, (node)->ioss_RelationDesc, \
					(node)->ss.ps.state->es_snapshot, \
					(node)->ioss_Instrument, (node)->ioss_NumScanKeys, \
					(node)->ioss_NumOrderByKeys, SfxReadsOnly(&(node)->ss))
#endif

/* A slot that promises nothing of its rows. */
#if PG_VERSION_NUM < 190000
#define SfxMakeSlot(desc, ops)	MakeTupleTableSlot(desc, ops)
#else
#define SfxMakeSlot(desc, ops)	MakeTupleTableSlot(desc, ops, 0)
#endif

/*
 * Is the column declared NOT NULL, and not NOT VALID, which there is from 18 on?  From 17 on core
 * drops conditions that follow from that.  SfxNotNullRow: the row of a catalog that VALIDATE
 * CONSTRAINT changes, where row is pg_attribute's; it may be NULL.
 */
#if PG_VERSION_NUM < 180000
#define SfxColumnIsNotNull(table, attnum) \
	((attnum) > 0 && TupleDescAttr(RelationGetDescr(table), (attnum) - 1)->attnotnull)
#define SfxNotNullRow(table, attnum, row)	(row)
#else
#define SfxColumnIsNotNull(table, attnum) \
	((attnum) > 0 && ATTNULLABLE_VALID == \
	 TupleDescCompactAttr(RelationGetDescr(table), (attnum) - 1)->attnullability)
#define SfxNotNullRow(table, attnum, row) \
	findNotNullConstraintAttnum(RelationGetRelid(table), attnum)
#endif
#define SFX_CORE_DROPS_NOT_NULL (PG_VERSION_NUM >= 170000)

/* Members of an equivalence class, including those of a child table, which stand apart since 18. */
#if PG_VERSION_NUM < 180000
#define SfxClassMembers(ec, relid)	((ec)->ec_members)
#else
static inline List *
SfxClassMembers(const EquivalenceClass *ec, Index relid)
{
	if (ec->ec_childmembers == NULL || relid >= ec->ec_childmembers_size)
		return ec->ec_members;
	return list_concat_copy(ec->ec_members, ec->ec_childmembers[relid]);
}
#endif

/* Loops over lists whose members have a type came in 17. */
#include "nodes/pg_list.h"
#if PG_VERSION_NUM < 170000
#define foreach_cell(var)	(&var##__state.l->elements[var##__state.i])
#define foreach_ptr(type, var, lst) \
	foreach_internal(type, *, var, lst, lfirst(foreach_cell(var)))
#define foreach_node(type, var, lst) \
	foreach_internal(type, *, var, lst, lfirst_node(type, foreach_cell(var)))
#define foreach_oid(var, lst) \
	foreach_internal(Oid, , var, lst, lfirst_oid(foreach_cell(var)))
#define foreach_internal(type, pointer, var, lst, get) \
	for (type pointer var = 0, pointer var##__outerloop = (type pointer) 1; \
		 var##__outerloop; var##__outerloop = 0) \
		for (ForEachState var##__state = {(lst), 0}; \
			 (var##__state.l != NIL && var##__state.i < var##__state.l->length && \
			  (var = get, true)); \
			 var##__state.i++)
#endif

/*
 * A tranche of LWLocks and its name: since 19 named once, where its number is assigned; before, by
 * every process.
 */
#include "storage/lwlock.h"
#if PG_VERSION_NUM < 190000
#define SfxNewTranche(name)				LWLockNewTrancheId()
#define SfxNameTranche(tranche, name)	LWLockRegisterTranche(tranche, name)
#else
#define SfxNewTranche(name)				LWLockNewTrancheId(name)
#define SfxNameTranche(tranche, name)	((void) 0)
#endif

/*
 * Does this backend hold an LWLock or a page's lock?  19 does not tell, and page locks are not
 * LWLocks there; but both hold interrupts off, which no other code of ours does for longer than a
 * few instructions.
 */
#if PG_VERSION_NUM < 190000
static inline void
SfxNoteHeld(LWLock *lock, LWLockMode mode, void *any)
{
	*(bool *) any = true;
}

static inline bool
SfxHoldsLWLock(void)
{
	bool		any = false;

	ForEachLWLockHeldByMe(SfxNoteHeld, &any);
	return any;
}
#else
#include "miscadmin.h"
#define SfxHoldsLWLock()	(InterruptHoldoffCount > 0)
#endif

/* What a wait is called in pg_stat_activity: names of an extension's own came in 17. */
#include "utils/wait_event.h"
#if PG_VERSION_NUM < 170000
#define SfxWaitEvent(name)	((void) (name), PG_WAIT_EXTENSION)
#else
#define SfxWaitEvent(name)	WaitEventExtensionNew(name)
#endif

/* The planner's hook also gets the state of EXPLAIN since 19. */
#include "optimizer/planner.h"
#if PG_VERSION_NUM < 190000
#define SFX_PLANNER_PARAMS \
	Query *parse, const char *query_string, int cursor_options, ParamListInfo params
#define SFX_PLANNER_ARGS	parse, query_string, cursor_options, params
#else
#define SFX_PLANNER_PARAMS \
	Query *parse, const char *query_string, int cursor_options, ParamListInfo params, \
	ExplainState *es
#define SFX_PLANNER_ARGS	parse, query_string, cursor_options, params, es
#endif

/*
 * The hook that sees a table's indexes right after the planner has collected them; another one
 * since 19.
 */
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#if PG_VERSION_NUM < 190000
typedef get_relation_info_hook_type SfxRelInfoHook;
#define sfx_rel_info_hook		get_relation_info_hook
#define SFX_REL_INFO_PARAMS		PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel
#define SFX_REL_INFO_ARGS		root, relid, inhparent, rel
#else
typedef build_simple_rel_hook_type SfxRelInfoHook;
#define sfx_rel_info_hook		build_simple_rel_hook
#define SFX_REL_INFO_PARAMS		PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define SFX_REL_INFO_ARGS		root, rel, rte
#endif

/* Paths that append or merge other paths. */
#if PG_VERSION_NUM < 190000
#define SfxCreateAppendPath(root, rel, paths, workers, parallel) \
	create_append_path(root, rel, paths, NIL, NIL, NULL, workers, parallel, -1)
#define SfxCreateMergeAppendPath(root, rel, paths, pathkeys) \
	create_merge_append_path(root, rel, paths, pathkeys, NULL)
#else
#define SfxCreateAppendPath(root, rel, paths, workers, parallel) \
	create_append_path(root, rel, (AppendPathInput) {.subpaths = (paths)}, NIL, NULL, workers, \
					   parallel, -1)
#define SfxCreateMergeAppendPath(root, rel, paths, pathkeys) \
	create_merge_append_path(root, rel, paths, NIL, pathkeys, NULL)
#endif

/*
 * Instants of dates and local times.  *overflow: 0, or the side (-1, 1) on which there is none.
 * Since 19 that is a soft error, and the side is that of the infinity returned.
 */
#include "utils/date.h"
#include "utils/timestamp.h"
#if PG_VERSION_NUM < 190000
#define SfxInstantOfDate(date, overflow)	date2timestamptz_opt_overflow(date, overflow)
#define SfxInstantOfLocal(local, overflow)	timestamp2timestamptz_opt_overflow(local, overflow)
#else
#include "nodes/miscnodes.h"
static inline TimestampTz
SfxInstantOfDate(DateADT date, int *overflow)
{
	ErrorSaveContext error = {T_ErrorSaveContext};
	TimestampTz result = date2timestamptz_safe(date, (Node *) &error);

	*overflow = !error.error_occurred ? 0 : TIMESTAMP_IS_NOBEGIN(result) ? -1 : 1;
	return result;
}

static inline TimestampTz
SfxInstantOfLocal(Timestamp local, int *overflow)
{
	ErrorSaveContext error = {T_ErrorSaveContext};
	TimestampTz result = timestamp2timestamptz_safe(local, (Node *) &error);

	*overflow = !error.error_occurred ? 0 : TIMESTAMP_IS_NOBEGIN(result) ? -1 : 1;
	return result;
}
#endif

/* CLUSTER is a case of REPACK since 19. */
#if PG_VERSION_NUM < 190000
#include "commands/cluster.h"
#else
#include "commands/repack.h"
#endif

/* Included by others before 19. */
#include "utils/tuplestore.h"

/* ERROR if the user may not execute the planned statement.  Rights have a list since 16. */
#include "executor/executor.h"
#include "nodes/plannodes.h"
static inline void
SfxCheckRights(const PlannedStmt *stmt)
{
#if PG_VERSION_NUM < 160000
	ExecCheckRTPerms(stmt->rtable, true);
#else
	ExecCheckPermissions(stmt->rtable, stmt->permInfos, true);
#endif
}

/* What an operator means to ordered indexes: a list.  Of all access methods since 18. */
#if PG_VERSION_NUM < 180000
#define SfxOpInterpretation(op)	get_op_btree_interpretation(op)
#else
#define SfxOpInterpretation(op)	get_op_index_interpretation(op)
#endif

/* A step of an expression that calls a strict function: since 18 two arguments are a kind. */
#if PG_VERSION_NUM < 180000
#define SfxStepCalls(op)	((op) == EEOP_FUNCEXPR_STRICT)
#else
#define SfxStepCalls(op)	((op) == EEOP_FUNCEXPR_STRICT || (op) == EEOP_FUNCEXPR_STRICT_2)
#endif

/* Nodes of a plan that settings disable: since 18 counted, before part of its cost. */
#if PG_VERSION_NUM < 180000
#define SfxDisabledNodes(plan)	0
#else
#define SfxDisabledNodes(plan)	((plan)->disabled_nodes)
#endif

/* What EXPLAIN does with a query if no hook does it. */
#if PG_VERSION_NUM < 170000
#include "tcop/tcopprot.h"
static inline void
SfxExplainOneQuery(Query *query, int options, IntoClause *into, ExplainState *es,
				   const char *source, ParamListInfo params, QueryEnvironment *env)
{
	BufferUsage before = pgBufferUsage;
	BufferUsage buffers = {0};
	PlannedStmt *plan;
	instr_time	begin;
	instr_time	time;

	INSTR_TIME_SET_CURRENT(begin);
	plan = pg_plan_query(query, source, options, params);
	INSTR_TIME_SET_CURRENT(time);
	INSTR_TIME_SUBTRACT(time, begin);
	BufferUsageAccumDiff(&buffers, &pgBufferUsage, &before);
	ExplainOnePlan(plan, into, es, source, params, env, &time, es->buffers ? &buffers : NULL);
}
#else
#define SfxExplainOneQuery	standard_ExplainOneQuery
#endif

#endif							/* SURFIDX_COMPAT_H */
