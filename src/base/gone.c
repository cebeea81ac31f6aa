/*-------------------------------------------------------------------------
 * gone.c - the death of files
 *
 * A file dies when the transaction commits that dropped, truncated or rewrote it, or when the one
 * ends otherwise that made it; of subtransactions, when they are rolled back.  Core keeps a list
 * of those files, which it deletes right after it has called us.  Of a database all die: a hook
 * hears of it first, and the commit settles it.
 *
 * What is not heard of: COMMIT PREPARED, replay on a standby, and a database that moves to another
 * tablespace.  What is committed is one history of a file, so that no image is wrong for it (N3);
 * what is rolled back was seen here only, and a database made again shows by its row.  So nobody
 * may count on being told: tables in shared memory take a place from who has not used it for long,
 * too.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "gone.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_database.h"
#include "catalog/storage.h"

#define MAX_TOLD	4

static SfxGoneFunction told[MAX_TOLD];
static int	ntold = 0;
static object_access_hook_type prev_access = NULL;
static Oid	database = InvalidOid;	/* that this transaction drops */

/* Called by the start-up of shared memory, which comes again after each crash: f is told once. */
void
sfx_gone_tell(SfxGoneFunction f)
{
	for (int i = 0; i < ntold; i++)
		if (told[i] == f)
			return;
	Assert(ntold < MAX_TOLD);
	told[ntold++] = f;
}

static void
tell(const SfxLocator *file)
{
	for (int i = 0; i < ntold; i++)
		told[i] (file);
}

/* Those that die with the transaction, or subtransaction, that ends right now. */
static void
tell_of_pending(bool commit)
{
	SfxLocator *file;
	int			n = smgrGetPendingDeletes(commit, &file);

	for (int i = 0; i < n; i++)
		tell(&file[i]);
	if (n > 0)
		pfree(file);
}

static void
at_end(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	/* ROLLBACK PREPARED is not heard of: the files that it would delete are forgotten now */
	if (event != XACT_EVENT_PREPARE || !SFX_MUTANT("prepared files stay known"))
		tell_of_pending(event == XACT_EVENT_COMMIT);
	if (OidIsValid(database) && event == XACT_EVENT_COMMIT)
	{
		SfxLocator	all = SfxLocatorOfDatabase(database);

		tell(&all);
	}
	database = InvalidOid;
}

static void
at_subxact_end(SubXactEvent event, SubTransactionId id, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		tell_of_pending(false);
}

static void
at_access(ObjectAccessType access, Oid class, Oid object, int sub, void *arg)
{
	if (prev_access)
		prev_access(access, class, object, sub, arg);
	if (access == OAT_DROP && class == DatabaseRelationId)
		database = object;
}

void
sfx_gone_init(void)
{
	RegisterXactCallback(at_end, NULL);
	RegisterSubXactCallback(at_subxact_end, NULL);
	prev_access = object_access_hook;
	object_access_hook = at_access;
}
