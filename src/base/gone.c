/*-------------------------------------------------------------------------
 * gone.c - the death of files
 *
 * A file dies when the transaction that dropped, truncated or rewrote it commits, or when the one
 * that made it rolls back; so do the files that a subtransaction made when that is rolled back.
 * Core keeps a list of these files, and deletes them right after it has called us.  When a database
 * is dropped all of its files die: a hook is told of it, and the commit settles it.
 *
 * We are not told of COMMIT PREPARED, of replay on a standby, or of a database that moves to
 * another tablespace.  None of these makes an image wrong (N3): what is committed is one history of
 * a file, what is rolled back was seen on this server only, and a database made again shows by its
 * row.  But a table in shared memory cannot count on being told, so it also gives the places of
 * least recently used files to others (I8).
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
static Oid	database = InvalidOid;	/* the database that this transaction drops */

/*
 * Register f, to be called with each file that dies.  Called by the start-up of shared memory,
 * which happens again after each crash: f is registered once.
 */
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

/* Report the files that die with the (sub)transaction that ends right now. */
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

/* Transaction callback.  Throws nothing: it runs where core expects no errors. */
static void
at_end(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;

	/*
	 * PREPARE: we would not be told of ROLLBACK PREPARED, so the files that it would delete count
	 * as dead now
	 */
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

/* The object access hook: notes that a database is being dropped. */
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
