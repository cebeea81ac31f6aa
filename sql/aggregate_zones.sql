-- Groups by functions of time in zones whose clocks are set, by fields of the calendar, and by other functions of columns, computed by the index: groups are core's, whichever
-- come again
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE TABLE t (id int NOT NULL, b int, s text DEFAULT 'new' COLLATE "C", tz timestamptz, ts timestamp, d date, v int) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.tz := CASE NEW.id % 500 WHEN 3 THEN 'infinity' WHEN 4 THEN '-infinity' WHEN 5 THEN NULL ELSE '2012-10-25 00:00+00'::timestamptz + NEW.id * interval '90 seconds' END;
	NEW.ts := CASE WHEN NEW.id % 400 <> 3 THEN '0002-11-01 BC'::timestamp + NEW.id * interval '67 minutes' END;
	NEW.d := NEW.ts;
	NEW.v := nullif(NEW.id % 1000, 5);
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, i % 5, 'Key ' || i % 60 FROM generate_series(1, 20000) i;
CREATE INDEX t_tz ON t USING surfidx (tz) INCLUDE (v);
CREATE INDEX t_b_tz ON t USING surfidx (b, tz DESC, v);
CREATE INDEX t_ts ON t USING surfidx (ts, v);
CREATE INDEX t_d ON t USING surfidx (d);
CREATE INDEX t_s ON t USING surfidx (s, b) INCLUDE (v);
VACUUM ANALYZE t;
SET timezone = 'America/Havana';
EXPLAIN (COSTS OFF) SELECT date_trunc('day', tz) AS day, count(*), max(v) FROM t GROUP BY day ORDER BY day;
EXPLAIN (COSTS OFF) SELECT date_trunc('hour', tz AT TIME ZONE 'UTC') AS hour, count(*) FROM t GROUP BY hour;
EXPLAIN (COSTS OFF) SELECT DISTINCT extract(hour FROM tz) FROM t;
EXPLAIN (COSTS OFF) SELECT b, tz::date + 1 AS next, count(*) FROM t GROUP BY b, tz::date HAVING count(*) > 9;
INSERT INTO asked (query)
	SELECT format('SELECT date_trunc(%L, tz) AS d, count(*), min(tz), max(tz), sum(v) FROM t GROUP BY 1', u) FROM unnest(ARRAY['hours', 'day', 'week', 'month', 'quarter', 'y', 'century']) u;
INSERT INTO asked (query)
	SELECT format('SELECT extract(%s FROM tz) AS d, count(*), avg(v) FROM t GROUP BY 1', u) FROM unnest(ARRAY['hour', 'dow', 'week', 'month', 'timezone']) u;
INSERT INTO asked (query) SELECT format('SELECT extract(%s FROM ts) AS d, count(*) FROM t GROUP BY 1', u) FROM unnest(ARRAY['isodow', 'doy', 'isoyear', 'quarter', 'century']) u;
INSERT INTO asked (query) VALUES ('SELECT tz::date AS d, count(*), count(tz) FROM t GROUP BY 1'), ('SELECT DISTINCT tz::date FROM t'), ('SELECT date_trunc(''day'', tz, ''Pacific/Apia'') AS d, count(*) FROM t GROUP BY 1 ORDER BY 1 DESC NULLS LAST LIMIT 9'),
	('SELECT date_trunc(''hour'', tz AT TIME ZONE ''Australia/Lord_Howe'') AS h, count(*) FROM t GROUP BY 1'), ('SELECT date_trunc(''hour'', tz AT TIME ZONE ''UTC'') AS h, max(v) FROM t GROUP BY 1 ORDER BY 1'), 
	('SELECT (tz AT TIME ZONE ''America/St_Johns'')::date AS d, count(*), sum(v) FROM t GROUP BY 1'), ('SELECT date_trunc(''day'', tz AT TIME ZONE ''EST'') AT TIME ZONE ''EST'' AS d, count(*) FROM t GROUP BY 1'), ('SELECT date_trunc(''day'', tz::timestamp) AS d, count(*) FROM t GROUP BY 1'),
	('SELECT to_char(date_trunc(''month'', tz), ''YYYY-MM'') AS m, count(*), min(v) FROM t GROUP BY 1'), ('SELECT extract(year FROM tz) AS y, extract(month FROM tz) AS m, count(*) FROM t GROUP BY 1, 2'), ('SELECT date_part(''hour'', tz) AS h, count(*) FROM t GROUP BY 1'),
	('SELECT b, date_trunc(''day'', tz) AS d, count(*), max(tz), min(tz), sum(v) FROM t GROUP BY 1, 2'), ('SELECT date_trunc(''month'', d) AS m, count(*) FROM t WHERE d > ''0001-06-01'' GROUP BY 1'), ('SELECT date_trunc(''week'', tz) AS w, count(*) FROM t WHERE b = 3 GROUP BY 1'),
	('SELECT count(*) FROM t GROUP BY date_trunc(''hour'', tz)'), ('SELECT date_trunc(''day'', tz) + interval ''1 day'' AS until, count(*) + 1 AS n FROM t GROUP BY date_trunc(''day'', tz) HAVING max(v) > 3'), ('SELECT date_trunc(''hour'', tz) AS h, date_trunc(''day'', tz) AS d, count(*) FROM t GROUP BY 1, 2'),
	('SELECT extract(century FROM ts) AS c, date_trunc(''decade'', ts) AS d, count(*) FROM t GROUP BY 1, 2'), ('SELECT date_trunc(''month'', d) AS m, count(*) FROM t GROUP BY 1'), ('SELECT extract(dow FROM d) AS w, count(*) FROM t GROUP BY 1'), ('SELECT date_bin(''3 hours'', tz, ''2012-03-03 00:30+00'') AS x, extract(hour FROM tz) AS h, count(*) FROM t GROUP BY 1, 2'),
	('SELECT lower(s) AS l, count(*), sum(v) FROM t GROUP BY 1'), ('SELECT substr(s, 1, 5) AS p, b, count(*) FROM t GROUP BY 1, 2'), ('SELECT coalesce(b, 0) + length(s) AS n, count(*) FROM t GROUP BY 1'), ('SELECT s, CASE WHEN b > 2 THEN ''high'' ELSE ''low'' END AS c, count(*), max(v) FROM t GROUP BY 1, 2'), ('SELECT DISTINCT upper(s) FROM t'),
	('SELECT sum(n) AS n, count(*) AS g FROM (SELECT date_trunc(''hour'', tz) AS h, count(*) AS n FROM t GROUP BY 1) x WHERE n > 2');
\set ECHO none
\i :states
\set ECHO all
-- zones of all kinds: clocks set at midnight, by half an hour, by a day, over the year's end, before zones were made; times dense around it
CREATE TABLE z (at timestamptz) WITH (autovacuum_enabled = off);
INSERT INTO z SELECT o::timestamptz + i * interval '20 minutes' + e FROM unnest(ARRAY['1844-12-30 12:00+00', '1867-10-17 18:00+00', '1883-11-18 12:00+00', '1937-06-30 20:00+00', '1945-08-14 00:00+00', '1969-09-30 10:00+00', '1994-12-30 10:00+00', '2006-10-29 00:00+00',
	'2011-12-29 20:00+00', '2018-11-03 20:00+00', '2022-10-28 20:00+00', '2024-03-09 22:00+00', '2024-11-02 22:00+00', '2437-10-24 20:00+00', '4690-11-24 00:00+00 BC', '294276-12-28 00:00+00']) o,
	generate_series(0, 150) i, unnest(ARRAY['0', '-1 microsecond']::interval[]) e;
INSERT INTO z VALUES ('infinity'), ('-infinity'), (NULL);
INSERT INTO z SELECT '1880-01-01'::timestamptz + i * interval '17 days 5 hours' FROM generate_series(0, 3000) i;
CREATE INDEX z_at ON z USING surfidx (at);
VACUUM ANALYZE z;
CREATE FUNCTION in_zones(zones text[], expressions text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	zone	text;
	e	text;
	q	text;
	a	text;
	b	text;
BEGIN
	FOREACH zone IN ARRAY zones LOOP
		PERFORM set_config('timezone', zone, true);
		FOREACH e IN ARRAY expressions LOOP
			q := format('SELECT md5(string_agg(x::text, ''|'' ORDER BY x::text COLLATE "C")) FROM (SELECT %s AS e, count(*), min(at), max(at) FROM z WHERE at > ''4700-01-01 BC'' AND at < ''294276-12-30'' GROUP BY 1) x', e);
			PERFORM set_config('surfidx.aggregates', 'on', true);
			IF plan_of(q) !~ 'SurfidxAggregate' THEN
				RETURN NEXT 'not answered: ' || e;
			END IF;
			EXECUTE q INTO a;
			PERFORM set_config('surfidx.aggregates', 'off', true);
			EXECUTE q INTO b;
			IF a IS DISTINCT FROM b THEN
				RETURN NEXT zone || ': ' || e;
			END IF;
		END LOOP;
	END LOOP;
END $$;
-- groups of few rows, too
SET cpu_tuple_cost = 0;
EXPLAIN (COSTS OFF) SELECT date_trunc('hour', at), count(*) FROM z GROUP BY 1;
SELECT in_zones(ARRAY['America/Havana', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia', 'Asia/Manila', 'America/Juneau', 'Pacific/Kwajalein', 'Africa/Monrovia', 'Europe/Amsterdam', 'Europe/Dublin', 'America/Sao_Paulo', 'Asia/Amman',
	'Antarctica/Troll', 'Africa/Casablanca', 'EST5EDT4,M3.2.0,M11.1.0', 'UTC'],
	ARRAY['date_trunc(''hour'', at)', 'date_trunc(''day'', at)', 'at::date', 'date_trunc(''week'', at)', 'date_trunc(''month'', at)', 'date_trunc(''decade'', at)', 'date_trunc(''hour'', at::timestamp)', 'extract(week FROM at)', 'extract(timezone FROM at)',
	'date_trunc(''day'', at, ''America/Havana'')']);
DELETE FROM z WHERE at < '1800-01-01' OR at > '2500-01-01' OR extract(minute FROM at) NOT IN (0, 59) OR extract(hour FROM at) % 3 = 1;
VACUUM ANALYZE z;
SELECT in_zones(array_agg(name ORDER BY name), ARRAY['to_char(date_trunc(''hour'', at::timestamp), ''YYYY-MM-DD HH24'')']) FROM pg_timezone_names WHERE name !~ '^posix';
RESET cpu_tuple_cost;
-- the session's zone changes between planning and execution, and while a cursor is open
SET timezone = 'UTC';
PREPARE days AS SELECT min(d), count(*) FROM (SELECT date_trunc('day', at) AS d FROM z WHERE at BETWEEN '2024-03-09' AND '2024-03-12' GROUP BY 1) x;
SET plan_cache_mode = force_generic_plan;
EXECUTE days;
SET timezone = 'Asia/Kathmandu';
EXECUTE days;
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM z WHERE at > '1930-01-01' AND at < '2025-01-01' GROUP BY date_trunc('day', at AT TIME ZONE 'UTC') ORDER BY date_trunc('day', at AT TIME ZONE 'UTC');
FETCH 2 FROM c;
SET LOCAL timezone = 'America/Havana';
FETCH 2 FROM c;
COMMIT;
-- declined
INSERT INTO declined (why, query) VALUES ('volatile', 'SELECT date_trunc(''day'', tz + random() * interval ''1 day''), count(*) FROM t GROUP BY 1'), ('a subquery', 'SELECT date_trunc((SELECT ''day''), tz), count(*) FROM t GROUP BY 1'),
	('not leading', 'SELECT date_trunc(''day'', tz), count(*) FROM t WHERE b > 3 AND v > 3 GROUP BY 1'), ('a column that it has not', 'SELECT date_trunc(''day'', tz), id, count(*) FROM t GROUP BY 1, 2'), ('count(DISTINCT)', 'SELECT date_trunc(''day'', tz), count(DISTINCT v) FROM t WHERE b = 3 GROUP BY 1'),
	('grouping sets', 'SELECT date_trunc(''day'', tz), count(*) FROM t GROUP BY ROLLUP (1)'), ('nothing', 'SELECT now() + interval ''1 day'', count(*) FROM t GROUP BY 1');
SELECT * FROM declined();
-- what fails for a visible row fails, for others not
SELECT date_trunc('fortnight', at), count(*) FROM z GROUP BY 1;
SELECT date_trunc('day', at, 'Nowhere'), count(*) FROM z GROUP BY 1;
SELECT 10 / (b - 1), count(*) FROM t GROUP BY 1 ORDER BY 1;
DELETE FROM t WHERE b = 1;
SELECT 10 / (b - 1), count(*) FROM t GROUP BY 1 ORDER BY 1;
-- a zone's name means something else than when the plan was made: groups are neither lost nor come twice
CREATE TABLE named (at timestamptz) WITH (autovacuum_enabled = off);
INSERT INTO named SELECT timestamptz '2024-01-01 00:00+00' + i * interval '37 minutes' FROM generate_series(1, 3000) i;
CREATE INDEX named_at ON named USING surfidx (at);
VACUUM ANALYZE named;
SET plan_cache_mode = force_generic_plan;
SET timezone_abbreviations = 'Australia';
PREPARE one AS SELECT count(*), count(DISTINCT d), sum(n) FROM (SELECT date_trunc('day', at, 'EAST') d, count(*) n FROM named GROUP BY 1) x;
PREPARE two AS SELECT count(*), count(DISTINCT (u, d)), sum(n) FROM (SELECT date_trunc('day', at, 'UTC') u, date_trunc('hour', at, 'EAST') d, count(*) n FROM named GROUP BY 1, 2) x;
EXECUTE one;
EXECUTE two;
SET timezone_abbreviations = 'Default';
EXECUTE one;
EXECUTE two;
DEALLOCATE ALL;
RESET timezone_abbreviations;
RESET plan_cache_mode;
DROP TABLE named;

-- the stepped column twice in an index; a constant group beside a window function; long values that a filter looks at
CREATE TABLE odd (at timestamp, x text, body text COLLATE "C") WITH (autovacuum_enabled = off);
INSERT INTO odd SELECT timestamp '2024-01-01' + i * interval '1 hour', 'x' || i % 3, repeat(md5(i::text), 60) FROM generate_series(1, 500) i;
CREATE INDEX odd_twice ON odd USING surfidx (at, at, x);
VACUUM ANALYZE odd;
SELECT x, extract(hour FROM at) AS h, count(*) FROM odd WHERE at < '2024-01-03' GROUP BY 1, 2 ORDER BY 2, 1 LIMIT 5;
DROP INDEX odd_twice;
CREATE INDEX odd_xat ON odd USING surfidx (x, at);
SELECT x, date_trunc('day', at) AS d, count(*), sum(count(*)) OVER () FROM odd WHERE x = 'x1' GROUP BY 1, 2 ORDER BY 2 LIMIT 3;
SELECT x, extract(hour FROM at) AS h, count(*), sum(count(*)) OVER () FROM odd WHERE x = 'x1' GROUP BY 1, 2 ORDER BY 2 LIMIT 3;
CREATE INDEX odd_body ON odd USING surfidx (body);
SELECT count(*) FROM odd WHERE body LIKE '%abc%';
SELECT count(*) FILTER (WHERE body LIKE '%abc%') FROM odd;
DROP TABLE odd;
DROP TABLE t, z, asked, declined;
DROP FUNCTION fill, in_zones, plan_of, analyzed, rows_of, differences, declined;
