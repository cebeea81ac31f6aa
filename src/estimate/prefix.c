/*-------------------------------------------------------------------------
 * prefix.c - patterns that a range of an index answers exactly
 *
 * The strings that begin with some bytes are a range of all strings in byte order: from these bytes
 * on, up to those with the last one greater by one.  If that is the range that core derived from a
 * pattern (it may be a wider one), and the pattern asks for nothing else, the range is the
 * condition.  Core derives ranges only where the index compares by bytes.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "prefix.h"

#include "access/stratnum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* A text constant; NULL: it is none. */
static const text *
text_constant(const Node *node)
{
	const Const *c = (const Const *) node;

	return IsA(node, Const) && c->consttype == TEXTOID && !c->constisnull ?
		DatumGetTextPP(c->constvalue) : NULL;
}

/* Is the pattern the bytes of prefix, then % and nothing else? */
static bool
is_prefix_pattern(const text *pattern, const text *prefix)
{
	const char *p = VARDATA_ANY(pattern);
	const char *end = p + VARSIZE_ANY_EXHDR(pattern);
	const char *want = VARDATA_ANY(prefix);
	const char *want_end = want + VARSIZE_ANY_EXHDR(prefix);

	while (p < end && *p != '%')
	{
		if (*p == '_' || (*p == '\\' && ++p == end) || want == want_end || *p++ != *want++)
			return false;
	}
	if (p == end || want < want_end)
		return false;
	while (p < end && *p == '%')
		p++;
	return p == end;
}

/* The constant of the clause's comparison by this strategy; NULL: there is none. */
static const text *
bound_of(const IndexPath *path, const IndexClause *clause, int strategy)
{
	foreach_node(RestrictInfo, rinfo, clause->indexquals)
	{
		const OpExpr *op = (const OpExpr *) rinfo->clause;

		if (IsA(op, OpExpr) &&
			get_op_opfamily_strategy(op->opno, path->indexinfo->opfamily[clause->indexcol]) == strategy)
			return text_constant(lsecond(op->args));
	}
	return NULL;
}

static bool
is_exact(const IndexPath *path, const IndexClause *clause)
{
	const OpExpr *op = (const OpExpr *) clause->rinfo->clause;
	const text *pattern;
	const text *low;
	const text *high;
	Size		len;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2 || list_length(clause->indexquals) != 2 ||
		(get_opcode(op->opno) != F_TEXTLIKE && get_opcode(op->opno) != F_STARTS_WITH))
		return false;
	pattern = text_constant(lsecond(op->args));
	low = bound_of(path, clause, BTGreaterEqualStrategyNumber);
	high = bound_of(path, clause, BTLessStrategyNumber);
	if (pattern == NULL || low == NULL || high == NULL)
		return false;
	len = VARSIZE_ANY_EXHDR(low);
	if (get_opcode(op->opno) == F_STARTS_WITH ?
		VARSIZE_ANY_EXHDR(pattern) != len || memcmp(VARDATA_ANY(pattern), VARDATA_ANY(low), len) != 0 :
		!is_prefix_pattern(pattern, low))
		return false;
	return len > 0 && VARSIZE_ANY_EXHDR(high) == len &&
		memcmp(VARDATA_ANY(low), VARDATA_ANY(high), len - 1) == 0 &&
		(uint8) VARDATA_ANY(low)[len - 1] + 1 == (uint8) VARDATA_ANY(high)[len - 1];
}

void
sfx_prefix_mark_exact(IndexPath *path)
{
	foreach_node(IndexClause, clause, path->indexclauses)
	{
		if (clause->lossy && is_exact(path, clause))
			clause->lossy = false;
	}
}
