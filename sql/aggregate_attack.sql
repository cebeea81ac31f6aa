-- Bugs that an attack found in aggregates by the index
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.auto_merge = off;
SET max_parallel_workers_per_gather = 0;

-- a column that rows are grouped by is constant, and one of the tables has no index (16 and later: "expression not found in targetlist")
CREATE TABLE ga (a int, b int) PARTITION BY RANGE (b);
CREATE TABLE ga1 PARTITION OF ga FOR VALUES FROM (0) TO (10);
CREATE TABLE ga2 PARTITION OF ga FOR VALUES FROM (10) TO (20);
CREATE INDEX ON ga1 USING surfidx (a);
INSERT INTO ga SELECT i % 5, i % 20 FROM generate_series(1, 20000) i;
VACUUM ANALYZE ga;
SELECT a, count(*) FROM ga WHERE a = 3 GROUP BY a;
SELECT a, b < 10 AS low, count(*), sum(b) FROM ga WHERE a = 3 GROUP BY a, b < 10 ORDER BY 2;
CREATE INDEX ON ga2 USING surfidx (a);
SELECT a, count(*) FROM ga WHERE a = 3 GROUP BY a;
SELECT a, count(*) FROM ga WHERE a = 77 GROUP BY a;

-- dead rows, for which the function of a bucket would throw
CREATE TABLE gd (ts timestamp) WITH (autovacuum_enabled = off);
CREATE INDEX ON gd USING surfidx (ts);
INSERT INTO gd SELECT '2024-01-01'::timestamp + i * interval '1 h' FROM generate_series(1, 50) i;
INSERT INTO gd VALUES ('4714-11-24 00:00 BC'), ('4714-11-24 05:00 BC'), ('294276-12-31'), ('infinity'), ('-infinity'), (NULL);
SET enable_seqscan = off;
SELECT date_trunc('year', ts), count(*) FROM gd GROUP BY 1;
BEGIN;
DELETE FROM gd WHERE ts < '4700-01-01 BC' AND ts > '-infinity';
EXPLAIN (COSTS OFF) SELECT date_trunc('year', ts), count(*) FROM gd GROUP BY 1;
SELECT date_trunc('year', ts), count(*) FROM gd GROUP BY 1 ORDER BY 1;
SELECT date_bin('7 days', ts, '2024-01-02'), count(*) FROM gd GROUP BY 1 ORDER BY 1;
SELECT date_bin('10000 days', ts, '294276-01-01'), count(*) FROM gd GROUP BY 1 ORDER BY 1;
ROLLBACK;
SELECT date_bin('10000 days', ts, '294276-01-01'), count(*) FROM gd GROUP BY 1;

-- GROUPING() is computed by core's Agg only
CREATE TABLE gg (a int, b int) WITH (autovacuum_enabled = off);
CREATE INDEX ON gg USING surfidx (a, b);
INSERT INTO gg SELECT i % 3, i FROM generate_series(1, 50) i;
CREATE TABLE gp (a int, b int) PARTITION BY LIST (a);
CREATE TABLE gp0 PARTITION OF gp FOR VALUES IN (0, 1);
CREATE TABLE gp1 PARTITION OF gp FOR VALUES IN (2);
CREATE INDEX ON gp USING surfidx (a, b);
INSERT INTO gp SELECT * FROM gg;
EXPLAIN (COSTS OFF) SELECT a, count(*) FROM gg GROUP BY a ORDER BY a;
SELECT a, count(*), grouping(a) FROM gg GROUP BY a ORDER BY a;
SELECT a, max(b) FROM gg GROUP BY a HAVING grouping(a) = 0 ORDER BY a;
SELECT grouping(a, b), count(*) FROM gg WHERE a = 1 AND b < 10 GROUP BY a, b ORDER BY a, b;
SELECT a, count(*), grouping(a) FROM gp GROUP BY a ORDER BY a;
SELECT a, max(b) FROM gp GROUP BY a HAVING grouping(a) = 0 ORDER BY a;
-- groups by a linguistic text whose bytes depend on the next column: long keys are compressed
CREATE TABLE gs (s text COLLATE "en-x-icu", at timestamp, s2 text COLLATE "en-x-icu")
	WITH (autovacuum_enabled = off);
CREATE INDEX gs_s ON gs USING surfidx (s, at, s2);
INSERT INTO gs
	SELECT repeat(chr(97 + i % 3) || ' word', 300), '2024-01-01'::timestamp + i * interval '1 hour',
		repeat('x' || i, CASE WHEN i % 2 = 0 THEN 1 ELSE 400 END)
	FROM generate_series(1, 600) i;
VACUUM ANALYZE gs;
CREATE TEMP TABLE gs_asked (n int, query text);
INSERT INTO gs_asked VALUES
	(1, 'SELECT s, date_trunc(''day'', at) AS d, count(*) AS c FROM gs GROUP BY 1, 2'),
	(2, 'SELECT s, date_trunc(''month'', at) AS d, count(*) AS c FROM gs GROUP BY 1, 2'),
	(3, 'SELECT s, count(*) AS c, max(at) AS m FROM gs GROUP BY s'),
	(4, 'SELECT s, max(at) AS m FROM gs GROUP BY s');
CREATE FUNCTION gs_said(aggregates text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said	text;
	plan	json;
BEGIN
	PERFORM set_config('surfidx.aggregates', aggregates, true);
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	IF plan::text ~ 'SurfidxAggregate' <> (aggregates = 'on') THEN
		RETURN 'another plan: ' || aggregates;
	END IF;
	EXECUTE format('SELECT md5(string_agg(x::text, '','' ORDER BY x::text)) FROM (%s) x', query)
		INTO said;
	RETURN said;
END $$;
SELECT n, gs_said('on', query) = gs_said('off', query) AS same FROM gs_asked ORDER BY n;
RESET surfidx.aggregates;
-- the owner of an aggregate has to be allowed to use its function, as for core's nodes
CREATE ROLE surfidx_attack_owner;
CREATE FUNCTION surfidx_attack_less(int, int) RETURNS int
	LANGUAGE sql IMMUTABLE STRICT AS 'SELECT least($1, $2)';
REVOKE EXECUTE ON FUNCTION surfidx_attack_less(int, int) FROM PUBLIC;
CREATE AGGREGATE surfidx_attack_min(int) (sfunc = surfidx_attack_less, stype = int, sortop = <);
ALTER AGGREGATE surfidx_attack_min(int) OWNER TO surfidx_attack_owner;
SELECT a, surfidx_attack_min(b) FROM gg GROUP BY a ORDER BY a;
SET surfidx.aggregates = off;
SELECT a, surfidx_attack_min(b) FROM gg GROUP BY a ORDER BY a;
RESET surfidx.aggregates;
GRANT EXECUTE ON FUNCTION surfidx_attack_less(int, int) TO surfidx_attack_owner;
SELECT a, surfidx_attack_min(b) FROM gg GROUP BY a ORDER BY a;
DROP AGGREGATE surfidx_attack_min(int);
DROP FUNCTION surfidx_attack_less;
DROP ROLE surfidx_attack_owner;
DROP FUNCTION gs_said;
DROP TABLE ga, gd, gg, gp, gs, gs_asked;
