/*-------------------------------------------------------------------------
 * stop.c - stop points and mutants of test builds (stop.h); empty in others
 *
 * Tests declare the SQL functions themselves: they are not part of the extension.
 *
 *	surfidx_stop_set(point text, action text, skip int)
 *			arm it; action: wait (for the first process only), error, crash; the first `skip`
 *			processes pass
 *	surfidx_stop_release(point text)
 *			disarm it, and let the process go that waits there
 *	surfidx_stop_waiting(point text) returns int
 *			how many processes wait there
 *	surfidx_stop_oid(next oid)
 *			set the server's next OID, also for files: so that numbers come again
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "contract.h"
#include "shared_area.h"

#ifdef SFX_TEST

#include <signal.h>
#include <unistd.h>

#include "access/transam.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/pmsignal.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#define MAX_STOPS	64
#define NAP_US		2000L

PG_FUNCTION_INFO_V1(surfidx_stop_set);
PG_FUNCTION_INFO_V1(surfidx_stop_release);
PG_FUNCTION_INFO_V1(surfidx_stop_waiting);
PG_FUNCTION_INFO_V1(surfidx_stop_oid);

typedef enum StopAction
{
	STOP_NONE,
	STOP_WAIT,
	STOP_ERROR,
	STOP_CRASH
} StopAction;

typedef struct Stop
{
	char		point[NAMEDATALEN]; /* empty: free */
	StopAction	action;
	int			skip;			/* visits still to pass */
	bool		taken;			/* a process waits, or has waited: the others pass */
	int			waiting;		/* processes, since it was last armed */
	uint32		armed;			/* how often it was armed: a process that waits for an earlier
								 * arming goes on */
} Stop;

typedef struct StopShared
{
	slock_t		lock;
	volatile int narmed;
	Stop		stop[MAX_STOPS];
} StopShared;

static StopShared *shared = NULL;
static char *mutants = NULL;

static void
attach_area(bool made)
{
	if (made)
		SpinLockInit(&shared->lock);
}

const SfxSharedArea sfx_stop_area = {
	.name = "surfidx stop points",.shared = (void **) &shared,.head = sizeof(StopShared),
	.attach = attach_area
};

void
sfx_stop_define_gucs(void)
{
	DefineCustomStringVariable("surfidx.mutants", "Rules that this test build breaks, separated by commas.", NULL,
							   &mutants, "", PGC_SIGHUP, 0, NULL, NULL, NULL);
	sfx_core_mutant = sfx_mutant;
}

/*
 * The stop of that name; with create, a free one that gets it.  NULL: there is none.  The caller
 * holds the spinlock.
 */
static Stop *
find_stop(const char *point, bool create)
{
	Stop	   *unused = NULL;

	for (int i = 0; i < MAX_STOPS; i++)
	{
		Stop	   *s = &shared->stop[i];

		if (strcmp(s->point, point) == 0)
			return s;
		if (unused == NULL && s->point[0] == '\0')
			unused = s;
	}
	if (create && unused)
		strlcpy(unused->point, point, NAMEDATALEN);
	return create ? unused : NULL;
}

/* End the server as a power failure would, right after the last record that this process wrote. */
static void
crash_here(void)
{
	if (!RecoveryInProgress() && XactLastRecEnd != InvalidXLogRecPtr)
		XLogFlush(XactLastRecEnd);
	kill(PostmasterPid, SIGQUIT);
	for (;;)
		pg_usleep(NAP_US);
}

/* Wait until the stop is released or armed again. */
static void
wait_here(Stop *s, uint32 armed)
{
	while (s->action == STOP_WAIT && s->armed == armed)
	{
		pg_usleep(NAP_US);
		if (!PostmasterIsAlive())
			_exit(1);
		CHECK_FOR_INTERRUPTS();
	}
}

void
sfx_stop(const char *point)
{
	StopAction	action = STOP_NONE;
	uint32		armed = 0;
	Stop	   *s;

	if (shared == NULL || shared->narmed == 0)
		return;
	SpinLockAcquire(&shared->lock);
	s = find_stop(point, false);
	if (s && s->skip > 0)
		s->skip--;
	else if (s)
	{
		action = s->action;
		armed = s->armed;
		if (action == STOP_WAIT && s->taken)
			action = STOP_NONE;
		else if (action == STOP_WAIT)
		{
			s->taken = true;
			s->waiting++;
		}
	}
	SpinLockRelease(&shared->lock);
	if (action == STOP_CRASH)
		crash_here();
	else if (action == STOP_ERROR)
		ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION), errmsg("stopped at \"%s\"", point)));
	else if (action == STOP_WAIT)
	{
		PG_TRY();
		{
			wait_here(s, armed);
		}
		PG_FINALLY();
		{
			SpinLockAcquire(&shared->lock);
			if (s->armed == armed)
				s->waiting--;
			SpinLockRelease(&shared->lock);
		}
		PG_END_TRY();
	}
}

bool
sfx_mutant(const char *rule)
{
	Size		len = strlen(rule);
	const char *at = mutants;

	while (at && (at = strstr(at, rule)) != NULL)
	{
		if ((at == mutants || at[-1] == ',') && (at[len] == '\0' || at[len] == ','))
			return true;
		at += len;
	}
	return false;
}

Datum
surfidx_stop_oid(PG_FUNCTION_ARGS)
{
	LWLockAcquire(OidGenLock, LW_EXCLUSIVE);
	SfxTransamVariables->nextOid = PG_GETARG_OID(0);
	SfxTransamVariables->oidCount = 0;
	LWLockRelease(OidGenLock);
	PG_RETURN_VOID();
}

Datum
surfidx_stop_set(PG_FUNCTION_ARGS)
{
	char	   *point = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *what = text_to_cstring(PG_GETARG_TEXT_PP(1));
	StopAction	action = strcmp(what, "wait") == 0 ? STOP_WAIT : strcmp(what, "error") == 0 ? STOP_ERROR : STOP_CRASH;
	Stop	   *s;

	SpinLockAcquire(&shared->lock);
	s = find_stop(point, true);
	if (s)
	{
		if (s->action == STOP_NONE)
			shared->narmed++;
		s->action = action;
		s->skip = PG_GETARG_INT32(2);
		s->taken = false;
		s->waiting = 0;
		s->armed++;
	}
	SpinLockRelease(&shared->lock);
	if (s == NULL)
		elog(ERROR, "surfidx: more than %d stop points", MAX_STOPS);
	PG_RETURN_VOID();
}

Datum
surfidx_stop_release(PG_FUNCTION_ARGS)
{
	char	   *point = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Stop	   *s;

	SpinLockAcquire(&shared->lock);
	s = find_stop(point, false);
	if (s && s->action != STOP_NONE)
	{
		s->action = STOP_NONE;
		shared->narmed--;
	}
	SpinLockRelease(&shared->lock);
	PG_RETURN_VOID();
}

Datum
surfidx_stop_waiting(PG_FUNCTION_ARGS)
{
	char	   *point = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Stop	   *s;
	int			n;

	SpinLockAcquire(&shared->lock);
	s = find_stop(point, false);
	n = s ? s->waiting : 0;
	SpinLockRelease(&shared->lock);
	PG_RETURN_INT32(n);
}

#endif							/* SFX_TEST */
