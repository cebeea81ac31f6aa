/*-------------------------------------------------------------------------
 * subxact.c - work that may fail without failing the statement: in a subtransaction of its own
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "subxact.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/resowner.h"

/* What the command has reported of its progress, which a rollback would end. */
typedef struct Progress
{
	ProgressCommandType command;
	Oid			target;
	int64		param[PGSTAT_NUM_PROGRESS_PARAM];
} Progress;

static void
note_progress(Progress *p)
{
	p->command = PROGRESS_COMMAND_INVALID;
	if (MyBEEntry == NULL)
		return;
	p->command = MyBEEntry->st_progress_command;
	p->target = MyBEEntry->st_progress_command_target;
	memcpy(p->param, (const int64 *) MyBEEntry->st_progress_param, sizeof(p->param));
}

static void
restore_progress(const Progress *p)
{
	int			index[PGSTAT_NUM_PROGRESS_PARAM];

	if (p->command == PROGRESS_COMMAND_INVALID)
		return;
	for (int i = 0; i < PGSTAT_NUM_PROGRESS_PARAM; i++)
		index[i] = i;
	pgstat_progress_start_command(p->command, p->target);
	pgstat_progress_update_multi_param(PGSTAT_NUM_PROGRESS_PARAM, index, p->param);
}

/*
 * Between the command that ends a transaction and its end, deferred triggers run.  Core asserts
 * there that no subtransaction is rolled back.
 */
static bool at_end = false;

/* Transaction callback. */
static void
at_transaction_event(XactEvent event, void *arg)
{
	at_end = false;
}

bool
sfx_transaction_ends(void)
{
	return at_end;
}

void
sfx_attempts_at_end(void)
{
	static bool registered = false;

	if (!registered)
		RegisterXactCallback(at_transaction_event, NULL);
	registered = at_end = true;
}

/*
 * See subxact.h.  The subtransaction is rolled back in any case.  To commit it would raise the
 * command counter, and show catalog changes to a statement that is in the middle of making them;
 * core plans queries there (E5).  While deferred triggers run no statement is, and it is committed.
 */
ErrorData *
sfx_attempt(void (*work) (void *arg), void *arg)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile edata = NULL;
	Progress	progress;

	note_progress(&progress);
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		work(arg);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	if (at_end && edata == NULL)
		ReleaseCurrentSubTransaction();
	else
		RollbackAndReleaseCurrentSubTransaction();
	restore_progress(&progress);
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
	return edata;
}

void
sfx_undone(void (*work) (void *arg), void *arg)
{
	ErrorData  *edata = sfx_attempt(work, arg);

	if (edata)
		ReThrowError(edata);
}

/*
 * Citus begins and ends a subtransaction on the servers that take part in the transaction, too, and
 * cannot do so on one that is in the middle of a COPY.  The sessions of its workers, whose names
 * begin so, reach no other servers.
 */
bool
sfx_attempts_are_told(void)
{
	return MyBackendType == B_BACKEND && !SFX_MUTANT("attempts are told") &&
		GetConfigOption("citus.node_conninfo", true, false) != NULL &&
		strncmp(application_name, "citus_", strlen("citus_")) != 0;
}

/*
 * Does this error end the statement, whatever caused it?  A cancel, a timeout, a shutdown: the user
 * or the administrator wants that.
 */
static bool
is_of_the_statement(const ErrorData *edata)
{
	return edata->sqlerrcode == ERRCODE_QUERY_CANCELED ||
		edata->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ||
		edata->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN;
}

/* A warning for each index and statement: what failed once is likely to fail again. */
static void
warn_once(Relation index, const char *what, const ErrorData *edata)
{
	static Oid	last_index = InvalidOid;
	static TimestampTz last_statement = 0;
	TimestampTz statement = GetCurrentStatementStartTimestamp();

	if (last_index == RelationGetRelid(index) && last_statement == statement)
		return;
	last_index = RelationGetRelid(index);
	last_statement = statement;
	ereport(WARNING,
			(errcode(edata->sqlerrcode),
			 errmsg("could not %s index \"%s\": %s", what, RelationGetRelationName(index),
					edata->message),
			 errdetail("The statement does not need it, and goes on. It is tried again later."),
			 edata->hint ? errhint("%s", edata->hint) : 0));
}

void
sfx_attempt_aside(Relation index, const char *what, void (*work) (void *arg), void *arg)
{
	ErrorData  *edata = sfx_attempt(work, arg);

	if (edata == NULL)
		return;
	if (is_of_the_statement(edata))
		ReThrowError(edata);
	warn_once(index, what, edata);
	FreeErrorData(edata);
}
