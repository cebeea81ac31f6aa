-- Groups of many rows that are only counted: the rest of each is counted by the pages above the leaves, where all of the table is all-visible, and the numbers are core's
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
-- groups that are longer than leaves, as long, and shorter; NULLs at either end; long texts
CREATE TABLE t (id int NOT NULL, b int NOT NULL, s text DEFAULT 'new' COLLATE "C", k int, x int, at timestamp, tz timestamptz, g text COLLATE "und-x-icu") WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.k := CASE WHEN NEW.id % 50 = 7 THEN NEW.id % 400 WHEN NEW.id % 50 < 4 THEN NULL ELSE NEW.id % 5 END;
	NEW.x := nullif(NEW.id % 7, 3);
	NEW.at := CASE WHEN NEW.id % 1000 < 990 THEN '2001-01-01'::timestamp + NEW.id * 7919 % 20011 * interval '1 hour' + interval '7 minutes' WHEN NEW.id % 5 = 0 THEN 'infinity' WHEN NEW.id % 5 < 3 THEN '-infinity' END;
	NEW.tz := '1999-12-31 22:30+00'::timestamptz + NEW.id % 9000 * interval '10 minutes';
	NEW.g := CASE WHEN NEW.k IS NOT NULL THEN 'Maß ' || NEW.k || CASE WHEN NEW.k = 4 THEN repeat('x', 3000) ELSE '' END END;
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, i % 9, 'key ' || i % 3 FROM generate_series(1, 20000) i;
CREATE INDEX t_k ON t USING surfidx (k, x, b);
CREATE INDEX t_kd ON t USING surfidx (k DESC NULLS LAST, id DESC) INCLUDE (b);
CREATE INDEX t_s ON t USING surfidx (s DESC, id NULLS FIRST);
CREATE INDEX t_g ON t USING surfidx (g, x);
CREATE INDEX t_at ON t USING surfidx (at);
CREATE INDEX t_x ON t USING surfidx (x, at, id);
CREATE INDEX t_tz ON t USING surfidx (tz NULLS FIRST) INCLUDE (b);
CREATE INDEX t_back ON t USING surfidx (b, tz DESC);
VACUUM ANALYZE t;
INSERT INTO asked (query) VALUES
	('SELECT k, count(*) FROM t GROUP BY k'), ('SELECT k, count(*) AS n FROM t GROUP BY k ORDER BY k LIMIT 3'), ('SELECT k, x, count(*) FROM t GROUP BY k, x'), ('SELECT k, count(*) FROM t WHERE k > 1 GROUP BY k'),
	('SELECT k, count(*) FROM t WHERE k IN (1, 3, 4, 77, 107) GROUP BY k'), ('SELECT k, count(*) FROM t WHERE k IS NULL GROUP BY k'), ('SELECT k, x, count(*) FROM t WHERE k = 3 AND x BETWEEN 2 AND 4 GROUP BY k, x'),
	('SELECT k, count(*) FROM t WHERE k = 3 AND x > 2 GROUP BY k'), ('SELECT k, count(*) FROM t WHERE k = 3 AND x = 5 AND b < 4 GROUP BY k'), ('SELECT k, count(*) FROM t WHERE k BETWEEN 0 AND 4 GROUP BY k HAVING count(*) > 3000'),
	('SELECT s, count(*) FROM t GROUP BY s'), ('SELECT s, count(*) FROM t GROUP BY s ORDER BY s DESC LIMIT 2'), ('SELECT left(g, 20) AS g, n FROM (SELECT g, count(*) AS n FROM t GROUP BY g) d'), ('SELECT left(g, 9) AS g, x, n FROM (SELECT g, x, count(*) AS n FROM t GROUP BY g, x) d'),
	('SELECT date_trunc(''month'', at), count(*) FROM t GROUP BY 1'), ('SELECT date_trunc(''century'', at), count(*) FROM t GROUP BY 1'), ('SELECT date_trunc(''year'', at), count(*) FROM t WHERE at BETWEEN ''2001-03-01'' AND ''2002-09-09 09:09'' GROUP BY 1'),
	('SELECT date_trunc(''week'', at) AS w, count(*) FROM t GROUP BY 1 ORDER BY 1 LIMIT 9'), ('SELECT at::date, count(*) FROM t GROUP BY 1'), ('SELECT date_bin(''1 day'', tz, ''2000-01-01 00:00+00''), count(*) FROM t GROUP BY 1'),
	('SELECT date_bin(''13 hours'', tz, ''2010-01-01 00:00:01+00''), count(*) FROM t GROUP BY 1'), ('SELECT x, date_trunc(''quarter'', at), count(*) FROM t GROUP BY 1, 2'), ('SELECT date_trunc(''year'', at), count(*) FROM t WHERE x = 4 GROUP BY 1'),
	('SELECT date_trunc(''year'', at), count(*) FROM t WHERE x = 5 AND at > ''2001-06-01'' GROUP BY 1'), ('SELECT DISTINCT date_trunc(''month'', at) FROM t'), ('SELECT b, date_bin(''20 days'', tz, ''2000-01-01 00:00+00''), count(*) FROM t GROUP BY 1, 2'),
	('SELECT i, (SELECT sum(n) FROM (SELECT k, count(*) AS n FROM t WHERE k >= i GROUP BY k) d) FROM generate_series(0, 5) i');
-- few pages of the index are read
CREATE FUNCTION pages_read(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
END $$;
CREATE TABLE wide (k int NOT NULL, at timestamp NOT NULL, u uuid NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO wide SELECT i % 3, '2001-01-01'::timestamp + i * interval '1 minute', md5(i::text)::uuid FROM generate_series(1, 300000) i;
CREATE INDEX wide_k ON wide USING surfidx (k, u);
CREATE INDEX wide_at ON wide USING surfidx (at, u);
VACUUM ANALYZE wide;
SELECT q, plan_of(q) ~ 'SurfidxAggregate' AS answered, pages_read(q) < pg_relation_size('wide_k') / 8192 / 2 AS few
	FROM unnest(ARRAY['SELECT k, count(*) FROM wide GROUP BY k', 'SELECT date_trunc(''year'', at), count(*) FROM wide GROUP BY 1', 'SELECT k, count(*), sum(k) FROM wide GROUP BY k']) q;
DROP TABLE wide;
-- in the delta are rows whose pages are all-visible
SELECT * FROM differences();
INSERT INTO t SELECT i, i % 9, 'key ' || i % 3 FROM generate_series(1, 20000) i WHERE i % 5 IN (1, 2, 4);
VACUUM (INDEX_CLEANUP off) t;
SELECT * FROM differences();
VACUUM t;
\set ECHO none
\i :states
\set ECHO all
DROP TABLE t, asked, declined;
DROP FUNCTION fill, pages_read, plan_of, analyzed, rows_of, differences, declined;
