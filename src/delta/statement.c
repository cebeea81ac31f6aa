/*-------------------------------------------------------------------------
 * statement.c - what is known of the statements whose rows come to aminsert
 *
 * An IndexInfo is all that aminsert sees of its statement.  It stands in the statement's memory.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "statement.h"

#include "utils/memutils.h"

/* A memory context of sfx_statement_note, in whose memory this stands. */
typedef struct Statement
{
	MemoryContextCallback gone;
	MemoryContext context;
	int			what;
	struct Statement *next;
} Statement;

static Statement *statements = NULL;

static void
forget(const Statement *which)
{
	for (Statement **s = &statements; *s != NULL; s = &(*s)->next)
		if (*s == which)
		{
			*s = (*s)->next;
			return;
		}
}

static Statement *
find(MemoryContext context)
{
	for (Statement *s = statements; s != NULL; s = s->next)
		if (s->context == context)
			return s;
	return NULL;
}

void
sfx_statement_forget(MemoryContext context)
{
	forget(find(context));
}

static void
context_is_gone(void *arg)
{
	forget(arg);
}

void
sfx_statement_note(MemoryContext context, int what)
{
	Statement  *s = MemoryContextAlloc(context, sizeof(Statement));

	s->context = context;
	s->what = what;
	s->gone.func = context_is_gone;
	s->gone.arg = s;
	s->next = statements;
	statements = s;
	MemoryContextRegisterResetCallback(context, &s->gone);
}

bool
sfx_statement_is(MemoryContext context, int what)
{
	const Statement *s = find(context);

	return s != NULL && (s->what & what) != 0;
}
