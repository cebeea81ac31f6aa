/*-------------------------------------------------------------------------
 * scankey_constant.c - converting a constant of another type to the column's type
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "composite.h"
#include "encode.h"
#include "scankey.h"
#include "scankey_impl.h"

ConstResult
sfx_convert_constant(const SfxColumn *col, const SfxQual *q, Datum value, SfxConverted *c)
{
	bool		upward = (q->strategy == BTGreaterStrategyNumber ||
						  q->strategy == BTGreaterEqualStrategyNumber);

	c->value = value;
	c->strategy = q->strategy;
	c->all = c->near = false;
	if (OidIsValid(col->composite))
		return sfx_composite_from(col->composite, value, &c->value) ? CONST_INTERVAL : CONST_FILTER;
	if (q->own_type)
		return CONST_INTERVAL;
	if (col->bound == NULL)
		return CONST_FILTER;
	switch ((SfxBoundKind) col->bound(q->subtype, value, &c->value, &c->above))
	{
		case SFX_BOUND_EXACT:
			return CONST_INTERVAL;
		case SFX_BOUND_AFTER:
			/* a name that was truncated: it sorts after the value in byte order only */
			if (col->raw)
				return CONST_FILTER;
			if (q->strategy == BTEqualStrategyNumber)
				return CONST_NONE;
			c->strategy = upward ? BTGreaterStrategyNumber : BTLessEqualStrategyNumber;
			return CONST_INTERVAL;
		case SFX_BOUND_NEAR:
			c->near = true;
			if (q->strategy == BTEqualStrategyNumber)
				return CONST_INTERVAL;
			c->strategy = upward ? BTGreaterEqualStrategyNumber : BTLessEqualStrategyNumber;
			if (!upward)
				c->value = c->above;
			return CONST_INTERVAL;
		case SFX_BOUND_BELOW_ALL:
			c->all = upward;
			return upward ? CONST_INTERVAL : CONST_NONE;
		case SFX_BOUND_ABOVE_ALL:
			if (upward || q->strategy == BTEqualStrategyNumber)
				return CONST_NONE;
			c->all = true;
			return CONST_INTERVAL;
		case SFX_BOUND_UNKNOWN:
			break;
	}
	return CONST_FILTER;
}
