/*-------------------------------------------------------------------------
 * autotune.c - surfidx.autotune: what surfidx_tune() proposes, applied
 *
 * Only a parameter that is not set is changed.  So what the owner has set stays; and what was
 * changed here is set, and does not change again, back or forth.  The statement that reverts a
 * change sets the parameter, too, to what held before: after a RESET the counters would propose the
 * same again.
 *
 * Parameters are changed as ALTER INDEX does it, below the utility hooks and event triggers, so
 * that no user's code runs in a worker, which is a superuser.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "autotune.h"
#include "convert.h"

#include "access/reloptions.h"
#include "commands/tablecmds.h"
#include "executor/spi.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

enum
{
	INDEX = 1, SETTING, VALUE, STATEMENT, REVERT, REASON
};

static SfxProposal *
read_row(HeapTuple row)
{
	TupleDesc	desc = SPI_tuptable->tupdesc;
	SfxProposal *p = palloc(sizeof(SfxProposal));

	p->index = atooid(SPI_getvalue(row, desc, INDEX));
	p->setting = SPI_getvalue(row, desc, SETTING);
	p->value = SPI_getvalue(row, desc, VALUE);
	p->statement = SPI_getvalue(row, desc, STATEMENT);
	p->revert = SPI_getvalue(row, desc, REVERT);
	p->reason = SPI_getvalue(row, desc, REASON);
	return p;
}

List *
sfx_autotune_ask(MemoryContext cxt)
{
	List	   *proposals = NIL;
	char	   *query;
	int			nest = NewGUCNestLevel();

	/* M12: the indexes are looked at, and others may hold locks of them for long */
	(void) set_config_option("lock_timeout", "100ms", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();
	query = psprintf("SELECT indexrelid, setting, proposed_value, statement, "
					 "pg_catalog.format('ALTER INDEX %%I.%%I SET (%%s = %%L)', "
					 "schemaname, indexrelname, setting, current_value), reason "
					 "FROM %s.surfidx_tune(16777216::pg_catalog.int8) WHERE proposed_value IS NOT NULL",
					 quote_identifier(sfx_our_schema()));
	PushActiveSnapshot(GetTransactionSnapshot());
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "surfidx: surfidx_tune() could not be asked");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);

		proposals = lappend(proposals, read_row(SPI_tuptable->vals[i]));
		MemoryContextSwitchTo(old);
	}
	PopActiveSnapshot();
	SPI_finish();
	AtEOXact_GUC(false, nest);
	return proposals;
}

/* As the catalog has it now: the relation's options have defaults for what is not set. */
static bool
is_set(Relation index, const char *setting)
{
	HeapTuple	row = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(index)));
	bool		isnull = true;
	Datum		options = 0;
	bool		found = false;

	if (!HeapTupleIsValid(row))
		return true;
	options = SysCacheGetAttr(RELOID, row, Anum_pg_class_reloptions, &isnull);
	foreach_node(DefElem, set, isnull ? NIL : untransformRelOptions(options))
		found |= strcmp(set->defname, setting) == 0;
	ReleaseSysCache(row);
	return found;
}

bool
sfx_autotune_apply(Relation index, const SfxProposal *p)
{
	AlterTableCmd *cmd = makeNode(AlterTableCmd);

	if (is_set(index, p->setting))
		return false;
	cmd->subtype = AT_SetRelOptions;
	cmd->def = (Node *)
		list_make1(makeDefElem(p->setting, (Node *) makeString(p->value), -1));
	AlterTableInternal(RelationGetRelid(index), list_make1(cmd), false);
	ereport(LOG,
			(errmsg("surfidx.autotune: %s", p->statement),
			 errdetail("Reason: %s.", p->reason),
			 errhint("To undo it for good: %s", p->revert)));
	return true;
}
