/*-------------------------------------------------------------------------
 * agg_step.c - functions of time that are constant between two of their steps
 *
 * date_trunc, a cast to date, extract and date_bin look at a time's calendar only as far as a unit:
 * a *grain* of the calendar, such as an hour or a quarter.  Between two transitions of a zone local
 * time is universal time plus a number, so the times of one grain are a range there, and whatever
 * is computed from such a function has one value for all of them (Y16).  That needs no proof for
 * each function, and no call.
 *
 * Of a column that is used in any other way each value is a grain of its own.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_bucket.h"

#include "common/int.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/scansup.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/timestamp.h"

/* days of a stride, at most: a thousand years */
#define STRIDE_DAYS		365000
/* 2000-01-03, a Monday, in days of Timestamp */
#define MONDAY			2
/* the first year whose beginning date2j knows */
#define FIRST_YEAR		(-4712)
#define ONE_YEAR		(366 * USECS_PER_DAY)

/* ---- which functions have steps ---- */

static const char *
text_of(const Node *arg)
{
	const Const *c = (const Const *) arg;

	return IsA(arg, Const) && !c->constisnull ? TextDatumGetCString(c->constvalue) : NULL;
}

/* Units, and the grains of functions of them. */
static const struct
{
	int			unit;
	bool		begins;			/* when it begins is constant within a grain, ... */
	bool		number;			/* ... and so is its number */
	int64		width;
	int64		origin;
	int			months;
	int			first_month;
}			units[] = {
	{DTK_MICROSEC, true, false, 1},
	{DTK_MILLISEC, true, false, 1000},
	{DTK_SECOND, true, false, USECS_PER_SEC},
	{DTK_MINUTE, true, true, USECS_PER_MINUTE},
	{DTK_HOUR, true, true, USECS_PER_HOUR},
	{DTK_DAY, true, true, USECS_PER_DAY},
	{DTK_DOW, false, true, USECS_PER_DAY},
	{DTK_ISODOW, false, true, USECS_PER_DAY},
	{DTK_DOY, false, true, USECS_PER_DAY},
	{DTK_WEEK, true, true, 7 * USECS_PER_DAY, MONDAY * USECS_PER_DAY},
	{DTK_ISOYEAR, false, true, 7 * USECS_PER_DAY, MONDAY * USECS_PER_DAY},
	{DTK_MONTH, true, true, 0, 0, 1},
	{DTK_QUARTER, true, true, 0, 0, 3},
	{DTK_YEAR, true, true, 0, 0, 12},
	{DTK_DECADE, true, true, 0, 0, 120},
	{DTK_CENTURY, true, true, 0, 0, 1200, 12},
	{DTK_MILLENNIUM, true, true, 0, 0, 12000, 12},
	/* the offset changes at transitions only */
	{DTK_TZ, false, true, 0, 0, 12000},
	{DTK_TZ_HOUR, false, true, 0, 0, 12000},
	{DTK_TZ_MINUTE, false, true, 0, 0, 12000}
};

/*
 * The grain of a unit.  field: the function tells the unit's number, rather than when it begins.
 * False: it is not known, or the function's result is not constant.
 */
static bool
find_unit(const char *name, bool field, SfxTimeStep *step)
{
	char	   *unit = downcase_truncate_identifier(name, (int) strlen(name), false);
	int			val;
	int			type = DecodeUnits(0, unit, &val);

	if (type == UNKNOWN_FIELD)
		type = DecodeSpecial(0, unit, &val);
	if (type != UNITS && !(field && type == RESERV))
		return false;
	for (int i = 0; i < lengthof(units); i++)
	{
		if (units[i].unit != val)
			continue;
		step->width = units[i].width;
		step->origin = units[i].origin;
		step->months = units[i].months;
		step->first_month = units[i].first_month;
		return field ? units[i].number : units[i].begins;
	}
	return false;
}

/* Note a date_bin's stride and origin. */
static bool
find_stride(const FuncExpr *f, SfxTimeStep *step)
{
	const Const *stride = linitial(f->args);
	const Const *origin = llast(f->args);
	const Interval *i;

	if (!IsA(stride, Const) || stride->constisnull || !IsA(origin, Const) || origin->constisnull)
		return false;
	i = DatumGetIntervalP(stride->constvalue);
	step->origin = DatumGetTimestamp(origin->constvalue);
	/* an infinite one has months */
	if (i->month != 0 || i->day < 0 || i->time < 0 || (i->day == 0 && i->time == 0) ||
		i->day >= STRIDE_DAYS || i->time >= STRIDE_DAYS * USECS_PER_DAY)
		return false;
	step->width = i->day * USECS_PER_DAY + i->time;
	step->from_origin = true;
	return true;
}

/*
 * Note a zone that is named by a constant, as core understands it.  False: it is no zone, or an
 * abbreviation whose offset varies.
 */
static bool
find_zone(const Node *arg, SfxTimeStep *step)
{
	const char *name = text_of(arg);
	char	   *lower;
	pg_tz	   *zone;
	long		offset;
	int			seconds;
	int			type;

	if (name == NULL)
		return false;
	lower = downcase_truncate_identifier(name, (int) strlen(name), false);
	if (!SfxDecodeAbbreviation(lower, &type, &seconds, &zone) || type == DYNTZ)
		return false;
	step->by_settings = strcmp(lower, "utc") != 0 && strcmp(lower, "gmt") != 0;
	if (type == TZ || type == DTZ)
		step->offset = seconds * USECS_PER_SEC;
	else if ((zone = pg_tzset(name)) == NULL)
		return false;
	else if (pg_get_timezone_offset(zone, &offset))
		step->offset = offset * USECS_PER_SEC;
	else
		step->zone = zone;
	return true;
}

/* Find the column that is the function's argument, perhaps as local time of some zone. */
static bool
find_column(Node *arg, SfxTimeStep *step)
{
	const FuncExpr *f = (const FuncExpr *) arg;

	if (IsA(arg, FuncExpr) && f->funcid == F_TIMEZONE_TEXT_TIMESTAMPTZ)
	{
		if (!find_zone(linitial(f->args), step))
			return false;
		arg = lsecond(f->args);
	}
	else if (IsA(arg, FuncExpr) && f->funcid == F_TIMESTAMP_TIMESTAMPTZ)
	{
		step->session = true;
		arg = linitial(f->args);
	}
	step->column = (Var *) arg;
	return IsA(arg, Var);
}

/* Does the session's time zone decide what the function returns? */
static bool
is_by_session(Oid function)
{
	return function == F_DATE_TIMESTAMPTZ || function == F_DATE_TRUNC_TEXT_TIMESTAMPTZ ||
		function == F_EXTRACT_TEXT_TIMESTAMPTZ || function == F_DATE_PART_TEXT_TIMESTAMPTZ;
}

/* Is it a function with steps? */
static bool
find_step(const FuncExpr *f, SfxTimeStep *step)
{
	bool		known;

	memset(step, 0, sizeof(*step));
	step->session = is_by_session(f->funcid);
	switch (f->funcid)
	{
		case F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP:
		case F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ:
			known = find_stride(f, step);
			break;
		case F_DATE_TIMESTAMPTZ:
		case F_DATE_TIMESTAMP:
			step->width = USECS_PER_DAY;
			known = true;
			break;
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
			known = text_of(linitial(f->args)) && find_unit(text_of(linitial(f->args)), false, step);
			if (list_length(f->args) == 3)
				known = known && find_zone(lthird(f->args), step);
			break;
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_TIMESTAMP:
			known = text_of(linitial(f->args)) && find_unit(text_of(linitial(f->args)), true, step);
			step->field = true;
			break;
		default:
			return false;
	}
	if (!known || !find_column(list_nth(f->args, list_length(f->args) > 1 ? 1 : 0), step))
		return false;
	step->ascends = !step->field && !step->session && step->zone == NULL && !step->by_settings;
	return true;
}

/* What is collected from an expression. */
static bool
collect(Node *node, SfxSteps *found)
{
	SfxTimeStep *step;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			found->whole = list_append_unique(found->whole, node);
			return false;
		case T_Param:
			return ((Param *) node)->paramkind != PARAM_EXTERN;
		case T_FuncExpr:
			step = palloc(sizeof(SfxTimeStep));
			if (!find_step((FuncExpr *) node, step))
				break;
			found->steps = lappend(found->steps, step);
			return false;
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_PlaceHolderVar:
		case T_CurrentOfExpr:
		case T_NextValueExpr:
			return true;
		default:
			break;
	}
	return expression_tree_walker(node, collect, found);
}

bool
sfx_steps_find(Node *expr, SfxSteps *found)
{
	SfxTimeStep step;

	memset(found, 0, sizeof(*found));
	if (collect(expr, found) || contain_volatile_functions(expr) || expression_returns_set(expr))
		return false;
	found->ascends = IsA(expr, FuncExpr) && find_step((FuncExpr *) expr, &step) && step.ascends;
	return found->whole != NIL || found->steps != NIL;
}

/* ---- ranges ---- */

static int64
floor_div(int64 a, int64 b)
{
	return a / b - (a % b < 0);
}

/* When a month begins, counted from year 0 of the calendar. */
static Timestamp
begin_of_month(int64 month)
{
	int64		year = floor_div(month, 12);
	Timestamp	result;

	if (year < FIRST_YEAR)
		return MIN_TIMESTAMP;
	if (pg_mul_s64_overflow(date2j((int) year, (int) (month - 12 * year) + 1, 1) -
							POSTGRES_EPOCH_JDATE, USECS_PER_DAY, &result))
		return END_TIMESTAMP;
	return result;
}

/* The grain of a local time. */
static bool
find_grain(const SfxTimeStep *step, Timestamp local, Timestamp *from, Timestamp *to)
{
	int64		distance;
	int64		months;
	int			year;
	int			month;
	int			day;

	if (step->months > 0)
	{
		j2date((int) floor_div(local, USECS_PER_DAY) + POSTGRES_EPOCH_JDATE, &year, &month, &day);
		months = 12 * (int64) year + month - 1 - step->first_month;
		months = floor_div(months, step->months) * step->months + step->first_month;
		*from = begin_of_month(months);
		*to = begin_of_month(months + step->months);
		return true;
	}
	/* before the origin versions differ in where strides begin */
	if (pg_sub_s64_overflow(local, step->origin, &distance) || (step->from_origin && distance < 0))
		return false;
	*from = step->origin + floor_div(distance, step->width) * step->width;
	return !pg_add_s64_overflow(*from, step->width, to) &&
		!(step->from_origin && pg_sub_s64_overflow(*to, step->origin, &distance));
}

/* Seconds since 1970, rounded down. */
static pg_time_t
unix_seconds(Timestamp t)
{
	return floor_div(t, USECS_PER_SEC) +
		(pg_time_t) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;
}

/* The zone's first transition after that time.  False: there is none. */
static bool
next_transition(const pg_tz *zone, pg_time_t seconds, Timestamp *transition)
{
	pg_time_t	next;
	long		offset;
	int			isdst;
	int			result = pg_next_dst_boundary(&seconds, &offset, &isdst, &next, &offset, &isdst, zone);

	/* near the end of time the next one may be after it */
	return result > 0 && next > seconds &&
		!pg_mul_s64_overflow(next - (pg_time_t) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) *
							 SECS_PER_DAY, USECS_PER_SEC, transition);
}

/* Cut a range, in which t is, at the zone's transitions. */
static void
cut_at_transitions(const pg_tz *zone, Timestamp t, Timestamp *from, Timestamp *to)
{
	Timestamp	transition;
	pg_time_t	at;

	/* most have two a year: no need to go through those of a century */
	*from = Max(*from, Max(t - ONE_YEAR, MIN_TIMESTAMP));
	*to = Min(*to, t + Min(ONE_YEAR, END_TIMESTAMP - t));
	at = unix_seconds(*from);

	/* at the last transition of its table core knows of none after it, but a second later it does */
	while (next_transition(zone, at, &transition) || next_transition(zone, at + 1, &transition))
	{
		if (transition > t)
		{
			*to = Min(*to, transition);
			return;
		}
		*from = Max(*from, transition);
		at = unix_seconds(transition);
	}
}

bool
sfx_step_range(const SfxTimeStep *step, Timestamp t, Timestamp *from, Timestamp *to)
{
	const pg_tz *zone = step->session ? session_timezone : step->zone;
	pg_time_t	seconds = unix_seconds(t);
	int64		offset = step->offset;

	if (TIMESTAMP_NOT_FINITE(t))
		return false;
	if (zone)
	{
		const struct pg_tm *tm = pg_localtime(&seconds, zone);

		if (tm == NULL)
			return false;
		offset = tm->tm_gmtoff * USECS_PER_SEC;
	}
	if (!find_grain(step, t + offset, from, to))
		return false;
	*from = Max(*from - offset, MIN_TIMESTAMP);
	*to = *to > END_TIMESTAMP + offset ? END_TIMESTAMP : *to - offset;
	if (zone && !SFX_MUTANT("clocks are never set"))
		cut_at_transitions(zone, t, from, to);
	return *from <= t && t < *to;
}

/* ---- estimates ---- */

/* Width of a step in microseconds, about. */
static double
width_of(const SfxTimeStep *step)
{
	return step->months > 0 ? step->months * 30.44 * USECS_PER_DAY : (double) step->width;
}

double
sfx_steps_number(PlannerInfo *root, Var *column, const List *steps)
{
	VariableStatData stats;
	AttStatsSlot slot;
	double		number = -1;

	examine_variable(root, (Node *) column, 0, &stats);
	if (HeapTupleIsValid(stats.statsTuple) &&
		get_attstatsslot(&slot, stats.statsTuple, STATISTIC_KIND_HISTOGRAM, InvalidOid,
						 ATTSTATSSLOT_VALUES))
	{
		Timestamp	least = DatumGetTimestamp(slot.values[0]);
		Timestamp	most = DatumGetTimestamp(slot.values[slot.nvalues - 1]);

		foreach_ptr(SfxTimeStep, step, steps)
		{
			if (!TIMESTAMP_NOT_FINITE(least) && !TIMESTAMP_NOT_FINITE(most))
				number = Max(number, ((double) most - (double) least) / width_of(step) + 2);
		}
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(stats);
	return number;
}
