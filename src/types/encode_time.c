/*-------------------------------------------------------------------------
 * encode_time.c - byte encodings of dates and times
 *
 *	date, timestamp[tz]		days, microseconds since 2000-01-01: signed, big-endian. The infinities are the extreme integers.
 *	time					microseconds since midnight: likewise
 *	timetz					microseconds since midnight in UTC, not wrapped round, then the zone: 8 and 4 bytes, likewise
 *	interval				microseconds, a month having 30 days and a day 24 hours: 10 bytes, likewise; rest: months and days
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "encode.h"
#include "encode_impl.h"
#include "pgtime.h"

#include "datatype/timestamp.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/timestamp.h"

/*
 * ---- constants of other types ----
 *
 * A date and a timestamp compare as the date's midnight.  Where one side has a time zone, the other
 * one is taken for local time in the session's zone; a scan's constants are converted when it
 * starts, as any operator would.
 *
 * A constant without a zone has one instant.  The other way round, an instant has a local time, but
 * the column's values around it may not ascend with theirs: where clocks are set back or forward,
 * local times are skipped or come twice.  If no clock is set within days of the constant its local
 * time is the bound; else it is only near (SFX_BOUND_NEAR).
 */

#define DAYS_AROUND		4		/* days in which a change of the zone's offset is looked for */
#define DAYS_NEAR		3		/* days: more than the offsets of two zones can differ by, and less
								 * than the above */

/* The first date that has no timestamp. */
#define DATE_PAST_TIMESTAMPS	(TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)

/* Where a timestamp stands among dates. */
static SfxBoundKind
date_from_timestamp(Timestamp ts, DateADT *date)
{
	int64		days = ts / USECS_PER_DAY;

	if (TIMESTAMP_IS_NOBEGIN(ts))
		DATE_NOBEGIN(*date);
	else if (TIMESTAMP_IS_NOEND(ts))
		DATE_NOEND(*date);
	else
	{
		if (ts % USECS_PER_DAY < 0)
			days--;
		*date = (DateADT) days;
		return ts == days * USECS_PER_DAY ? SFX_BOUND_EXACT : SFX_BOUND_AFTER;
	}
	return SFX_BOUND_EXACT;
}

/*
 * Where a date stands among timestamps.  Dates reach further: a date beyond them lies between the
 * last timestamp and infinity.
 */
static SfxBoundKind
timestamp_from_date(DateADT date, Timestamp *ts)
{
	if (DATE_IS_NOBEGIN(date))
		TIMESTAMP_NOBEGIN(*ts);
	else if (DATE_IS_NOEND(date))
		TIMESTAMP_NOEND(*ts);
	else if (date >= DATE_PAST_TIMESTAMPS)
	{
		*ts = END_TIMESTAMP - 1;
		return SFX_BOUND_AFTER;
	}
	else
		*ts = date * USECS_PER_DAY;
	return SFX_BOUND_EXACT;
}

/*
 * The local time of an instant.  *steady: for days around it local times differ from their instants
 * by the same offset.  False: the instant is too near the ends of the range to tell.
 */
static bool
local_time(TimestampTz instant, Timestamp *local, bool *steady)
{
	pg_time_t	from,
				boundary;
	long		before,
				after;
	int			before_isdst,
				after_isdst,
				found;

	if (instant < MIN_TIMESTAMP + 2 * DAYS_AROUND * USECS_PER_DAY || instant > END_TIMESTAMP - 2 * DAYS_AROUND * USECS_PER_DAY)
		return false;
	*local = DatumGetTimestamp(DirectFunctionCall1(timestamptz_timestamp, TimestampTzGetDatum(instant)));
	from = timestamptz_to_time_t(instant) - DAYS_AROUND * SECS_PER_DAY;
	found = pg_next_dst_boundary(&from, &before, &before_isdst, &boundary, &after, &after_isdst, session_timezone);
	*steady = found == 0 || (found > 0 && boundary > from + 2 * DAYS_AROUND * SECS_PER_DAY);
	return true;
}

/* Where an instant stands among timestamps without a zone. */
static SfxBoundKind
timestamp_from_instant(TimestampTz instant, Timestamp *ts, Timestamp *above)
{
	Timestamp	local;
	bool		steady;

	*ts = *above = instant;
	if (TIMESTAMP_NOT_FINITE(instant))
		return SFX_BOUND_EXACT;
	if (!local_time(instant, &local, &steady))
		return SFX_BOUND_UNKNOWN;
	*ts = local;
	if (steady)
		return SFX_BOUND_EXACT;
	*ts = local - DAYS_NEAR * USECS_PER_DAY;
	*above = local + DAYS_NEAR * USECS_PER_DAY;
	return SFX_BOUND_NEAR;
}

/* The bound, among dates, of a constant of type subtype (see SfxBoundKind). */
static int
bound_date(Oid subtype, Datum value, Datum *own, Datum *above)
{
	DateADT		date,
				last;
	Timestamp	ts,
				high;
	SfxBoundKind kind;

	ts = high = DatumGetTimestamp(value);
	if (subtype == TIMESTAMPTZOID)
		kind = timestamp_from_instant(DatumGetTimestampTz(value), &ts, &high);
	else if (subtype == TIMESTAMPOID)
		kind = SFX_BOUND_EXACT;
	else
		kind = SFX_BOUND_UNKNOWN;
	if (kind == SFX_BOUND_UNKNOWN)
		return kind;
	if (kind == SFX_BOUND_NEAR)
	{
		(void) date_from_timestamp(high, &last);
		*above = DateADTGetDatum(last + 1);
		(void) date_from_timestamp(ts, &date);
	}
	else
		kind = date_from_timestamp(ts, &date);
	*own = DateADTGetDatum(date);
	return kind;
}

static int
bound_timestamp(Oid subtype, Datum value, Datum *own, Datum *above)
{
	Timestamp	ts,
				high;
	SfxBoundKind kind;

	if (subtype == TIMESTAMPTZOID)
	{
		kind = timestamp_from_instant(DatumGetTimestampTz(value), &ts, &high);
		*above = TimestampGetDatum(high);
	}
	else if (subtype == DATEOID)
		kind = timestamp_from_date(DatumGetDateADT(value), &ts);
	else
		return SFX_BOUND_UNKNOWN;
	*own = TimestampGetDatum(ts);
	return kind;
}

/*
 * Where a constant stands among instants.  Local times whose instant is out of range lie between
 * the first or last instant and infinity.
 */
static int
bound_timestamptz(Oid subtype, Datum value, Datum *own, Datum *above)
{
	TimestampTz instant;
	int			overflow;

	if (subtype == DATEOID)
		instant = SfxInstantOfDate(DatumGetDateADT(value), &overflow);
	else if (subtype == TIMESTAMPOID)
		instant = SfxInstantOfLocal(DatumGetTimestamp(value), &overflow);
	else
		return SFX_BOUND_UNKNOWN;
	if (overflow > 0)
		instant = END_TIMESTAMP - 1;
	else if (overflow < 0)
		TIMESTAMP_NOBEGIN(instant);
	*own = TimestampTzGetDatum(instant);
	return overflow == 0 ? SFX_BOUND_EXACT : SFX_BOUND_AFTER;
}

static const SfxEncoding enc_date = {
	.width = 4,.direct = SFX_DIRECT_SIGNED,.bound = bound_date
};
static const SfxEncoding enc_timestamp = {
	.width = 8,.direct = SFX_DIRECT_SIGNED,.encode = sfx_encode_int8,.decode = sfx_decode_int8,.bound = bound_timestamp
};
static const SfxEncoding enc_timestamptz = {
	.width = 8,.direct = SFX_DIRECT_SIGNED,.encode = sfx_encode_int8,.decode = sfx_decode_int8,.bound = bound_timestamptz
};

/* never negative, but stored in an int64 */
static const SfxEncoding enc_time = {
	.width = 8,.direct = SFX_DIRECT_SIGNED,.encode = sfx_encode_int8,.decode = sfx_decode_int8
};

/* ------------------------------------------------------------------ timetz */

#define TIMETZ_WIDTH	12

static int
encode_timetz(Datum value, uint8 *buf, int maxlen)
{
	TimeTzADT  *t = DatumGetTimeTzADTP(value);

	if (maxlen < TIMETZ_WIDTH)
		return -1;
	(void) sfx_put_be((uint64) (t->time + t->zone * USECS_PER_SEC) ^ SFX_SIGN64, 8, buf, 8);
	(void) sfx_put_be((uint32) t->zone ^ SFX_SIGN32, 4, buf + 8, 4);
	return TIMETZ_WIDTH;
}

static Datum
decode_timetz(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	TimeTzADT  *t = (TimeTzADT *) out;

	memset(t, 0, sizeof(*t));
	t->zone = (int32) (sfx_get_be(buf + 8, 4) ^ SFX_SIGN32);
	t->time = (int64) (sfx_get_be(buf, 8) ^ SFX_SIGN64) - t->zone * USECS_PER_SEC;
	*outlen = sizeof(*t);
	return TimeTzADTPGetDatum(t);
}

static const SfxEncoding enc_timetz = {
	.width = TIMETZ_WIDTH,.encode = encode_timetz,.decode = decode_timetz
};

/* ------------------------------------------------------------------ interval
 *
 * rest	00		no months, no days
 *		01		months, days: 4 bytes each, big-endian
 *		02		days only: likewise
 *		03		months only: likewise
 */

#define SPAN_WIDTH	10
#define REST_DAYS	0x02
#define REST_MONTHS	0x03
#define REST_BOTH	0x01

/*
 * A number of microseconds, hi * 2^64 + lo: 64 bits are too few.  The days of a span are less than
 * 2^37.
 */
typedef struct Span
{
	int64		hi;
	uint64		lo;
} Span;

/* The span of days * USECS_PER_DAY + time. */
static Span
span_of(int64 days, int64 time)
{
	uint64		abs = days < 0 ? -(uint64) days : (uint64) days;
	uint64		low = (abs & 0xFFFF) * USECS_PER_DAY;	/* less than 2^53 */
	uint64		high = (abs >> 16) * USECS_PER_DAY; /* less than 2^58, times 2^16 */
	Span		s;

	s.lo = (high << 16) + low;
	s.hi = (int64) (high >> 48) + (s.lo < low);
	if (days < 0)
	{
		s.lo = -s.lo;
		s.hi = -s.hi - (s.lo != 0);
	}
	s.lo += (uint64) time;
	s.hi += (s.lo < (uint64) time) - (time < 0);
	return s;
}

static int
encode_interval(Datum value, uint8 *buf, int maxlen)
{
	Interval   *v = DatumGetIntervalP(value);
	Span		s = span_of(v->month * INT64CONST(30) + v->day, v->time);

	if (maxlen < SPAN_WIDTH)
		return -1;
	(void) sfx_put_be((uint16) s.hi ^ SFX_SIGN16, 2, buf, 2);
	(void) sfx_put_be(s.lo, 8, buf + 2, 8);
	return SPAN_WIDTH;
}

static int
rest_interval(Datum value, uint8 *buf, int maxlen)
{
	Interval   *v = DatumGetIntervalP(value);
	int			len = 1;

	if (maxlen < 1 + (v->month != 0 ? 4 : 0) + (v->day != 0 ? 4 : 0))
		return -1;
	if (v->month != 0)
		len += sfx_put_be((uint32) v->month, 4, buf + len, 4);
	if (v->day != 0)
		len += sfx_put_be((uint32) v->day, 4, buf + len, 4);
	buf[0] = v->month == 0 ? (v->day == 0 ? 0 : REST_DAYS) : (v->day == 0 ? REST_MONTHS : REST_BOTH);
	return len;
}

static int
rest_length_interval(const uint8 *buf, int len, const uint8 *rest, int avail)
{
	int			n = avail < 1 || rest[0] > REST_MONTHS ? -1 : rest[0] == 0 ? 1 : rest[0] == REST_BOTH ? 9 : 5;

	return n <= avail ? n : -1;
}

/*
 * Build the interval of these months and days that has the encoded span.  False: its time would not
 * fit an int64.
 */
static bool
interval_with(const uint8 *buf, int32 month, int32 day, Interval *v)
{
	Span		s = {(int16) (sfx_get_be(buf, 2) ^ SFX_SIGN16), sfx_get_be(buf + 2, 8)};
	Span		d = span_of(month * INT64CONST(30) + day, 0);

	s.hi -= d.hi + (s.lo < d.lo);
	s.lo -= d.lo;
	memset(v, 0, sizeof(*v));
	v->month = month;
	v->day = day;
	v->time = (int64) s.lo;
	return s.hi == (v->time < 0 ? -1 : 0);
}

/* SfxEncoding.decode: some interval equal to the one that was stored. */
static Datum
decode_interval(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	Interval   *v = (Interval *) out;

	*outlen = sizeof(*v);
	if (!interval_with(buf, 0, 0, v))
	{
		/*
		 * Too long for a time alone: most of it goes into months and days, whose rounding errors
		 * the time can make up for.
		 */
		double		days = ((int16) (sfx_get_be(buf, 2) ^ SFX_SIGN16) * 18446744073709551616.0 +
							(double) sfx_get_be(buf + 2, 8)) / USECS_PER_DAY;
		int32		month = (int32) Max(Min(days / DAYS_PER_MONTH, PG_INT32_MAX), PG_INT32_MIN);
		int32		day = (int32) Max(Min(days - month * (double) DAYS_PER_MONTH, PG_INT32_MAX), PG_INT32_MIN);

		if (!interval_with(buf, month, day, v))
			sfx_damaged_value("interval");
	}
	return IntervalPGetDatum(v);
}

static Datum
restore_interval(const uint8 *buf, int len, const uint8 *rest, int restlen, char *out, int room, int *outlen)
{
	Interval   *v = (Interval *) out;
	int32		month = rest[0] & 1 ? (int32) sfx_get_be(rest + 1, 4) : 0;
	int32		day = (rest[0] == REST_BOTH ? (int32) sfx_get_be(rest + 5, 4) :
					   rest[0] == REST_DAYS ? (int32) sfx_get_be(rest + 1, 4) : 0);

	if (!interval_with(buf, month, day, v))
		sfx_damaged_value("interval");
	*outlen = sizeof(*v);
	return IntervalPGetDatum(v);
}

static const SfxEncoding enc_interval = {
	.width = SPAN_WIDTH,.encode = encode_interval,.decode = decode_interval,
	.rest = rest_interval,.rest_length = rest_length_interval,.restore = restore_interval
};

/* ------------------------------------------------------------------ the support functions */

SFX_SUPPORT_FUNCTION(date, enc_date);
SFX_SUPPORT_FUNCTION(time, enc_time);
SFX_SUPPORT_FUNCTION(timestamp, enc_timestamp);
SFX_SUPPORT_FUNCTION(timestamptz, enc_timestamptz);
SFX_SUPPORT_FUNCTION(timetz, enc_timetz);
SFX_SUPPORT_FUNCTION(interval, enc_interval);
