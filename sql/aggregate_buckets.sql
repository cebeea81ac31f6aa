-- Groups by functions that ascend (date_trunc, date_bin, date of a timestamp) computed by the index: what is answered, what is declined, and that groups are core's
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE TABLE t (id int NOT NULL, b int NOT NULL, s text DEFAULT 'new' COLLATE "C", at timestamp, tz timestamptz, far timestamp, v int) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.at := CASE WHEN NEW.id % 97 <> 3 THEN '2023-12-30'::timestamp + (NEW.id % 30000) * interval '7 minutes 13.000001 seconds' END;
	NEW.tz := CASE NEW.id % 500 WHEN 3 THEN 'infinity' WHEN 4 THEN '-infinity' ELSE '1999-12-31 12:00+00'::timestamptz + NEW.id * interval '41 seconds' END;
	NEW.far := CASE NEW.id % 400 WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' WHEN 3 THEN NULL ELSE '0001-01-01'::timestamp + (NEW.id - 12000) * interval '51 days 3 hours' END;
	NEW.v := nullif(NEW.id % 1000, 5);
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, i % 9, 'key ' || i % 300 FROM generate_series(1, 20000) i;
CREATE INDEX t_at ON t USING surfidx (at) INCLUDE (v, b);
CREATE INDEX t_b_at ON t USING surfidx (b, at DESC NULLS LAST, v);
CREATE INDEX t_tz ON t USING surfidx (tz DESC) INCLUDE (v);
CREATE INDEX t_far ON t USING surfidx (far NULLS FIRST, id);
CREATE INDEX t_s_at ON t USING surfidx (s, s DESC, at);
VACUUM ANALYZE t;
-- every unit that is known, and bounds of buckets themselves, on either side of the origin
CREATE TABLE edges (at timestamp) WITH (autovacuum_enabled = off);
INSERT INTO edges SELECT o + i * s + e FROM unnest(ARRAY['2001-01-01', '1999-02-28 23:00', '0001-01-01 BC', '4713-01-01 BC']::timestamp[]) o, unnest(ARRAY['1 day', '7 days', '1 hour', '1 month', '10 years']::interval[]) s,
	generate_series(0, 60) i, unnest(ARRAY['0', '1 microsecond', '-1 microsecond', '1 hour']::interval[]) e WHERE o + i * s + e >= '4713-01-01 BC';
CREATE INDEX edges_at ON edges USING surfidx (at);
VACUUM ANALYZE edges;
INSERT INTO asked (query)
	SELECT format('SELECT date_trunc(%L, at) AS d, count(*), min(at), max(at) FROM edges %s GROUP BY 1', u, CASE WHEN u ~ 'dec|cent|mill' THEN 'WHERE at > ''4000-01-01 BC''' END)
	FROM unnest(ARRAY['microseconds', 'milliseconds', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year', 'decade', 'century', 'millennium', 'WEEK']) u;
INSERT INTO asked (query)
	SELECT format('SELECT date_bin(%L, at, %L) AS d, count(*), min(at), max(at) FROM edges GROUP BY 1', stride, origin)
	FROM unnest(ARRAY['1 day', '1 hour', '7 days', '1 microsecond']) stride, unnest(ARRAY['2001-01-01', '1999-02-28 23:00', '2150-06-01', '0001-01-01 BC']) origin;
INSERT INTO asked (query) VALUES ('SELECT at::date AS d, count(*), min(at), max(at) FROM edges GROUP BY 1');
SELECT * FROM differences();
TRUNCATE asked;
EXPLAIN (COSTS OFF) SELECT date_trunc('day', at) AS day, count(*), sum(v) FROM t GROUP BY day ORDER BY day;
EXPLAIN (COSTS OFF) SELECT b, date_bin('1 day', at, '2001-01-01') AS day, max(at) FROM t WHERE at > '2024-02-01' GROUP BY b, day HAVING count(*) > 3;
EXPLAIN (COSTS OFF) SELECT DISTINCT at::date FROM t;
INSERT INTO asked (query)
	SELECT format('SELECT date_trunc(%L, far) AS d, count(*), count(far), min(far), max(far), sum(id) FROM t GROUP BY 1', u)
	FROM unnest(ARRAY['week', 'quarter', 'century']) u;
INSERT INTO asked (query)
	SELECT format('SELECT date_bin(%L, %s, %L) AS d, count(*), max(%2$s), min(%2$s), count(%2$s) FROM t GROUP BY 1', stride, c, origin)
	FROM unnest(ARRAY['41 minutes', '90 days 5 hours']) stride, unnest(ARRAY['at', 'tz']) c, unnest(ARRAY['2000-01-03 00:00:13', '2150-06-01']) origin;
INSERT INTO asked (query) VALUES ('SELECT at::date AS d, count(*), sum(v), avg(b), min(at), max(at), max(v) FROM t GROUP BY 1'), ('SELECT DISTINCT at::date AS d FROM t'), ('SELECT DISTINCT date_trunc(''month'', at) AS d FROM t WHERE at > ''2024-02-01'''),
	('SELECT count(*) FROM t GROUP BY date_trunc(''hour'', at) HAVING count(*) > 8'), ('SELECT date_trunc(''day'', at) + interval ''1 day'' AS until, count(*) + 1 AS n FROM t GROUP BY date_trunc(''day'', at)'),
	('SELECT date_trunc(''day'', at) AS d, count(*) FROM t GROUP BY 1 ORDER BY 1 DESC NULLS FIRST LIMIT 20'), ('SELECT date_trunc(''day'', at) AS d, b, count(*) FROM t GROUP BY 1, 2'),
	('SELECT b, date_bin(''3 hours'', at, ''2024-01-01'') AS d, count(*), sum(v), min(v), max(at), min(at), count(at) FROM t GROUP BY 1, 2'), ('SELECT date_trunc(''week'', at) AS d, count(*), max(v) FROM t WHERE b = 3 GROUP BY 1'),
	('SELECT s, date_trunc(''day'', at) AS d, count(*) FROM t GROUP BY 1, 2'), ('SELECT date_trunc(''year'', far) AS d, count(*) FROM t WHERE far IS NULL GROUP BY 1'),
	('SELECT DISTINCT b, at::date AS d FROM t WHERE b IN (2, 5)'), ('SELECT date_trunc(''day'', at) AS d, count(*), sum(count(*)) OVER () AS r FROM t GROUP BY 1'), ('SELECT at::date AS d, count(*) FROM t WHERE at < ''1900-01-01'' GROUP BY 1');
\set ECHO none
\i :states
\set ECHO all
-- partitions, one with its columns in another order
CREATE TABLE pt (at timestamp, k int, n numeric(10,2)) PARTITION BY RANGE (at);
CREATE TABLE pt1 PARTITION OF pt FOR VALUES FROM ('2024-01-01') TO ('2024-01-15');
CREATE TABLE pt2 (n numeric(10,2), k int, at timestamp);
ALTER TABLE pt ATTACH PARTITION pt2 FOR VALUES FROM ('2024-01-15') TO ('2025-01-01');
INSERT INTO pt SELECT '2024-01-01'::timestamp + i * interval '83 seconds', i % 7, i FROM generate_series(1, 50000) i;
CREATE INDEX pt_at ON pt USING surfidx (at, n);
CREATE INDEX pt_k ON pt USING surfidx (k, at);
VACUUM ANALYZE pt;
TRUNCATE asked;
INSERT INTO asked (query) VALUES ('SELECT date_trunc(''week'', at) AS d, count(*), sum(n), avg(n) FROM pt GROUP BY 1'), ('SELECT DISTINCT date_trunc(''day'', at) AS d FROM pt'),
	('SELECT k, at::date AS d, count(*) FROM pt GROUP BY 1, 2'), ('SELECT date_bin(''5 days'', at, ''2024-01-03'') AS d, count(*) + 1 AS n FROM pt GROUP BY 1 HAVING count(*) > 100 ORDER BY 1');
SELECT * FROM differences();
SET enable_partitionwise_aggregate = on;
SELECT * FROM differences();
RESET enable_partitionwise_aggregate;
-- declined: what is not known to be a group's, or is not worth it
SET timezone = 'America/Havana';
INSERT INTO t SELECT i, 1 FROM generate_series(1, 2000) i;
INSERT INTO declined (why, query) VALUES ('a column''s unit', 'SELECT date_trunc(s, at), count(*) FROM t GROUP BY 1'),
	('a field', 'SELECT extract(hour FROM at), count(*) FROM t GROUP BY 1'), ('months', 'SELECT date_bin(''1 month'', at, ''2001-01-01''), count(*) FROM t GROUP BY 1'), ('a negative stride', 'SELECT date_bin(''-1 day'', at, ''2001-01-01''), count(*) FROM t GROUP BY 1'),
	('a stride of nothing', 'SELECT date_bin(''0'', at, ''2001-01-01''), count(*) FROM t GROUP BY 1'), ('a stride of either sign', 'SELECT date_bin(''1 day -1 hour'', at, ''2001-01-01''), count(*) FROM t GROUP BY 1'),
	('no origin', 'SELECT date_bin(''1 day'', at, NULL), count(*) FROM t GROUP BY 1'), ('the origin', 'SELECT date_bin(''1 day'', ''2001-01-01'', at), count(*) FROM t GROUP BY 1'), ('an expression', 'SELECT date_trunc(''day'', at + interval ''1 hour''), count(*) FROM t GROUP BY 1'),
	('a column after it', 'SELECT date_trunc(''day'', at), v, count(*) FROM t WHERE b = 3 GROUP BY 1, 2'), ('count(DISTINCT)', 'SELECT date_trunc(''day'', at), count(DISTINCT v) FROM t WHERE b = 3 GROUP BY 1'),
	('grouping sets', 'SELECT date_trunc(''day'', at), count(*) FROM t GROUP BY ROLLUP (1)');
SELECT * FROM declined();
-- prepared, and its unit a parameter: known or not
PREPARE q(text) AS SELECT date_trunc($1, at) AS d, count(*) FROM t WHERE at < '2024-01-01' GROUP BY 1 ORDER BY 1;
EXECUTE q('day');
SET plan_cache_mode = force_generic_plan;
EXECUTE q('day');
EXPLAIN (COSTS OFF) EXECUTE q('day');
-- a user without the right to call the function gets an error
CREATE ROLE surfidx_bucket_reader;
GRANT SELECT ON t TO surfidx_bucket_reader;
BEGIN;
REVOKE EXECUTE ON FUNCTION date_trunc(text, timestamp) FROM PUBLIC;
SET ROLE surfidx_bucket_reader;
SELECT date_trunc('year', at) AS d, count(*) FROM t GROUP BY 1;
ROLLBACK;
DROP TABLE t, edges, pt, asked, declined;
DROP FUNCTION fill, plan_of, analyzed, rows_of, differences, declined;
DROP ROLE surfidx_bucket_reader;
