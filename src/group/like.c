/*-------------------------------------------------------------------------
 * like.c - LIKE, with a look for the pattern's longest literal first
 *
 * What a pattern has between two wildcards stands in each matching string, byte by byte, whatever
 * the encoding, if the collation is deterministic.  memmem() finds out that it does not in a
 * fraction of the time that textlike takes to try each place.  Errors stay the same: textlike
 * complains of a pattern when it comes to its end, which it does where all literals match.
 *-------------------------------------------------------------------------
 */
/* for memmem(); the server's flags have it, too */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "surfidx.h"
#include "like.h"

#include "executor/execExpr.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

/* Of the pattern that a call had last; in the function's memory. */
typedef struct Pattern
{
	int			room;			/* for each of the two */
	int			len;
	char	   *bytes;
	int			literal_len;	/* 0: it is not looked for */
	char	   *literal;
} Pattern;

/* The longest string of bytes between two wildcards, in p->literal. */
static void
find_literal(Pattern *p)
{
	int			from = 0;
	int			len = 0;

	p->literal_len = 0;
	for (int i = 0; i < p->len; i++)
	{
		char		c = p->bytes[i];

		if (c == '%' || c == '_')
		{
			from += len;
			len = 0;
			continue;
		}
		if (c == '\\' && ++i < p->len)
			c = p->bytes[i];
		else if (c == '\\')
			break;
		/* runs stand one after the other, the longest so far first */
		p->literal[from + len++] = c;
		if (len > p->literal_len)
		{
			memmove(p->literal, p->literal + from, len);
			p->literal_len = len;
			from = 0;
		}
	}
}

static pg_noinline Pattern *
take_pattern(FunctionCallInfo fcinfo, const char *bytes, int len)
{
	FmgrInfo   *f = fcinfo->flinfo;
	Pattern    *p = f->fn_extra;

	if (p == NULL)
		f->fn_extra = p = MemoryContextAllocZero(f->fn_mcxt, sizeof(Pattern));
	if (p->bytes == NULL || len > p->room)
	{
		p->room = Max(len, 32);
		p->bytes = MemoryContextAlloc(f->fn_mcxt, p->room);
		p->literal = MemoryContextAlloc(f->fn_mcxt, p->room);
	}
	memcpy(p->bytes, bytes, len);
	p->len = len;
	p->literal_len = 0;
	/* a string that the pattern begins with is compared as fast by textlike */
	if (len > 0 && (bytes[0] == '%' || bytes[0] == '_') && OidIsValid(PG_GET_COLLATION()) &&
		get_collation_isdeterministic(PG_GET_COLLATION()))
		find_literal(p);
	return p;
}

static Datum
quick_like(PG_FUNCTION_ARGS)
{
	struct varlena *value = (struct varlena *) PG_GETARG_POINTER(0);
	struct varlena *pattern = (struct varlena *) PG_GETARG_POINTER(1);
	Pattern    *p = fcinfo->flinfo->fn_extra;

	if (VARATT_IS_COMPRESSED(value) || VARATT_IS_EXTERNAL(value) ||
		VARATT_IS_COMPRESSED(pattern) || VARATT_IS_EXTERNAL(pattern))
		return textlike(fcinfo);
	if (p == NULL || p->len != (int) VARSIZE_ANY_EXHDR(pattern) ||
		memcmp(p->bytes, VARDATA_ANY(pattern), p->len) != 0)
		p = take_pattern(fcinfo, VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern));
	if (p->literal_len > 0 &&
		memmem(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), p->literal, p->literal_len) == NULL)
		return BoolGetDatum(false);
	return textlike(fcinfo);
}

void
sfx_like_quicken(ExprState *state)
{
	for (int i = 0; state && i < state->steps_len; i++)
	{
		ExprEvalStep *step = &state->steps[i];

		if (SfxStepCalls(ExecEvalStepOp(state, step)) &&
			step->d.func.finfo->fn_oid == F_TEXTLIKE)
			step->d.func.fn_addr = quick_like;
	}
}
