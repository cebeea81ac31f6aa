-- Answers by the index where local time is compared with moments, or comes again: clocks are set back (groups come twice), and forward (two local times are one moment)
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE TABLE at_night (at timestamptz NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO at_night SELECT '2024-10-20 00:00+00'::timestamptz + i * interval '20 minutes' FROM generate_series(0, 2000) i;
CREATE INDEX ON at_night USING surfidx (at);
-- 02:30 and 03:30 are the same moment in New York, and so are two days in Apia
CREATE TABLE local (ts timestamp, d date, b int NOT NULL, c int NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO local SELECT t, d, i % 10, i FROM unnest('{2024-03-10 02:30,2024-03-10 03:30}'::timestamp[], '{2011-12-30,2011-12-31}'::date[]) x(t, d), generate_series(1, 300) i;
INSERT INTO local SELECT '2024-03-10'::timestamp + i * interval '1 min', '2011-01-01'::date + i % 500, i % 10, i FROM generate_series(1, 2000) i;
CREATE INDEX ON local USING surfidx (ts, b, c);
CREATE INDEX ON local USING surfidx (d, b, c);
CREATE INDEX ON local USING surfidx (b, ts, c);
VACUUM ANALYZE at_night, local;
INSERT INTO asked (query) SELECT format('SELECT date_bin(%L, %s, %L) AS h, count(*)%s FROM at_night GROUP BY 1', stride, local, origin, more)
	FROM unnest('{30 minutes,15 minutes,1 hour,3 hours}'::text[]) stride,
	unnest(ARRAY['at AT TIME ZONE ''America/New_York''', 'at::timestamp', 'at AT TIME ZONE interval ''-5 hours''', 'at AT TIME ZONE ''EST''']) local,
	unnest('{2000-01-01,2000-01-01 00:10}'::text[]) origin, unnest(ARRAY['', ', min(at), max(at)']) more;
INSERT INTO asked (query) VALUES ('SELECT DISTINCT date_bin(''30 minutes'', at AT TIME ZONE ''America/New_York'', ''2000-01-01'') FROM at_night'),
	('SELECT DISTINCT ON (h) h, at FROM (SELECT date_bin(''30 minutes'', at AT TIME ZONE ''America/New_York'', ''2000-01-01'') AS h, at FROM at_night) x ORDER BY h, at');
INSERT INTO asked (query) SELECT format(q, moment) FROM unnest(ARRAY['SELECT b, count(*) FROM local WHERE ts = %L::timestamptz GROUP BY b', 'SELECT DISTINCT b FROM local WHERE ts = %L::timestamptz',
	'SELECT DISTINCT ON (b) b, ts, c FROM local WHERE ts = %L::timestamptz ORDER BY b, ts, c', 'SELECT b, max(c), min(c) FROM local WHERE ts = %L::timestamptz AND b > 3 GROUP BY b',
	'SELECT b, count(*) FROM local WHERE d = %L::timestamptz GROUP BY b', 'SELECT count(*), max(b) FROM local WHERE ts = %L::timestamptz', 'SELECT b, sum(c) FILTER (WHERE ts < %L::timestamptz) FROM local GROUP BY b',
	'SELECT b, count(*) FILTER (WHERE ts >= %L::timestamptz AND ts < ''2024-03-10 05:00'') FROM local GROUP BY b', 'SELECT count(*) FILTER (WHERE ts <= %L::timestamptz) FROM local',
	'SELECT DISTINCT ON (b) b, ts FROM local WHERE ts > %L::timestamptz ORDER BY b, ts']) q, unnest('{2024-03-10 07:30+00,2024-03-10 07:00+00,2011-12-30 10:00+00}'::text[]) moment;
-- (what core's own plans make of such moments is not asked)
SET timezone = 'America/New_York';
DELETE FROM asked WHERE plan_of(query) !~ 'SurfidxAggregate';
SELECT differences();
SELECT count(*) > 30 AS many FROM asked;
SET timezone = 'Pacific/Apia';
DELETE FROM asked WHERE plan_of(query) !~ 'SurfidxAggregate';
SELECT differences();
SELECT count(*) > 30 AS many FROM asked;
SET timezone = 'UTC';
DELETE FROM asked WHERE plan_of(query) !~ 'SurfidxAggregate';
SELECT differences();
SELECT count(*) > 30 AS many FROM asked;
-- a clause that would fail is not evaluated for rows that one before it has left out
SET plan_cache_mode = force_generic_plan;
PREPARE divides(int, int) AS SELECT b, count(*) FILTER (WHERE b > $1 AND b < 100 / $2) FROM local GROUP BY b ORDER BY b;
EXECUTE divides(100000, 0);
DROP TABLE at_night, local, asked, declined;
DROP FUNCTION plan_of, analyzed, rows_of, differences, declined;
