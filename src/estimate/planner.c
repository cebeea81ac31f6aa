/*-------------------------------------------------------------------------
 * planner.c - what core grants to btree alone, and hooks can grant to us
 *
 * Core proves uniqueness and derives conditions by comparing an index's operator families with
 * btree's.  Our families are different ones with the same operators, so the planner may be shown
 * btree's in their place (surfidx.planner_lift, L1).  No plan is touched in which no surfidx index
 * takes part.  The folder before18 has what else versions before 18 grant to btree alone.
 *
 * All hooks call those that were installed before them first.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "cost.h"
#include "onconflict.h"
#include "planner.h"
#include "rowlift.h"

#include "access/nbtree.h"
#include "catalog/pg_amop.h"
#include "utils/catcache.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static bool planner_lift = true;

static SfxRelInfoHook prev_relation_info = NULL;

void
sfx_planner_define_gucs(void)
{
	DefineCustomBoolVariable("surfidx.planner_lift",
							 "Lets the planner use surfidx indexes where core looks for btree operator families.",
							 NULL,
							 &planner_lift,
							 true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	sfx_onconflict_define_gucs();
}

/*
 * ---- plans ----
 *
 * The executor looks up each operator in the families that the index really has.  So btree's family
 * may stand in for ours only if ours has every operator of btree's, as the same strategy: a
 * condition found through an operator that we lack would fail at run time.  If an operator is added
 * to a btree family and not to ours, the columns of that family lose the lift, and nothing else
 * happens.
 *
 * relam becomes btree's from 18 on: then core makes row comparisons conditions of the index.
 * Before 18 its executor would refuse them; so relam becomes btree's only for queries that have
 * some, and rowlift.c turns them into what the executor takes (L4).
 */

typedef struct FamilyPair
{
	Oid			ours;
	Oid			btree;
} FamilyPair;

typedef struct Coverage
{
	FamilyPair	pair;			/* hash key */
	bool		covers;
} Coverage;

static HTAB *coverage = NULL;	/* pairs compared so far */
static bool coverage_stale = false;

/* Syscache callback: operators have changed. */
static void
forget_coverage(Datum arg, int cacheid, uint32 hashvalue)
{
	coverage_stale = true;
}

/* Make an empty table of pairs if there is none, or operators have changed since. */
static void
renew_coverage(void)
{
	HASHCTL		ctl = {0};

	if (coverage != NULL && !coverage_stale)
		return;
	if (coverage != NULL)
		hash_destroy(coverage);
	coverage = NULL;
	coverage_stale = false;
	ctl.keysize = sizeof(FamilyPair);
	ctl.entrysize = sizeof(Coverage);
	coverage = hash_create("surfidx operator families", 64, &ctl, HASH_ELEM | HASH_BLOBS);
}

/* Has our family all operators of btree's? */
static bool
compare_families(Oid ours, Oid btree)
{
	CatCList   *members = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(btree));
	bool		covers = true;

	for (int i = 0; i < members->n_members && covers; i++)
	{
		Form_pg_amop op = (Form_pg_amop) GETSTRUCT(&members->members[i]->tuple);

		/* row comparisons also need the comparison function */
		covers = get_opfamily_member(ours, op->amoplefttype, op->amoprighttype, op->amopstrategy) == op->amopopr &&
			OidIsValid(get_opfamily_proc(ours, op->amoplefttype, op->amoprighttype, BTORDER_PROC)) ==
			OidIsValid(get_opfamily_proc(btree, op->amoplefttype, op->amoprighttype, BTORDER_PROC));
	}
	ReleaseSysCacheList(members);
	return covers;
}

static bool
family_covers(Oid ours, Oid btree)
{
	FamilyPair	pair = {ours, btree};
	Coverage   *entry;
	bool		covers;

	renew_coverage();
	entry = hash_search(coverage, &pair, HASH_FIND, NULL);
	if (entry != NULL)
		return entry->covers;
	/* if operators change during the comparison, the next call drops the entry */
	covers = compare_families(ours, btree);
	entry = hash_search(coverage, &pair, HASH_ENTER, NULL);
	entry->covers = covers;
	return covers;
}

static void
lift_relation_info(SFX_REL_INFO_PARAMS)
{
	if (prev_relation_info)
		prev_relation_info(SFX_REL_INFO_ARGS);
	if (!planner_lift)
		return;
	foreach_ptr(IndexOptInfo, info, rel->indexlist)
	{
		bool		all;

		/* without sortopfamily core has found a column whose order no btree family knows */
		if (!sfx_is_our_info(info) || info->sortopfamily == NULL)
			continue;
		all = true;
		for (int i = 0; i < info->nkeycolumns; i++)
			if (family_covers(info->opfamily[i], info->sortopfamily[i]))
				info->opfamily[i] = info->sortopfamily[i];
			else
				all = false;
		if (all && (SFX_TAKES_ROW_COMPARISONS || sfx_rowlift_offers(root)))
			info->relam = BTREE_AM_OID;
	}
}

void
sfx_planner_init(void)
{
	CacheRegisterSyscacheCallback(AMOPOPID, forget_coverage, (Datum) 0);
	prev_relation_info = sfx_rel_info_hook;
	sfx_rel_info_hook = lift_relation_info;
	sfx_cost_init();
	sfx_rowlift_init();
	sfx_onconflict_init();
}
