-- count(*) computed by the index (surfidx.aggregates): what is answered, what is declined, and that both give the same numbers
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE TABLE t (id int NOT NULL, k int, s text, b int NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT g, nullif(g % 500, 7), 'key ' || g % 300, g % 9 FROM generate_series(1, 20000) g;
CREATE INDEX t_id ON t USING surfidx (id);
CREATE INDEX t_kb ON t USING surfidx (k DESC, b) INCLUDE (id);
CREATE INDEX t_s ON t USING surfidx (s) WHERE b < 5;
VACUUM ANALYZE t;

-- answered
EXPLAIN (COSTS OFF) SELECT count(*) FROM t;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE id BETWEEN 100 AND 9000;
EXPLAIN (COSTS OFF) SELECT count(id) + 1 AS more, count(*) FROM t WHERE id > 10 HAVING count(*) > 5 AND max(id) < 1000000;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE k = 3 AND b > 2;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE s > 'key 2' AND b < 5;
EXPLAIN (COSTS OFF) WITH c AS MATERIALIZED (SELECT count(*) AS n FROM t WHERE id > 5) SELECT n FROM c WHERE n > 3;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT count(*) AS n FROM t WHERE id > 5) x, (SELECT count(*) AS m FROM t WHERE k IS NULL) y ORDER BY n;

-- declined: core's plan stays
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line	text;
	plan	text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	RETURN plan;
END $$;
CREATE TABLE parent (id int NOT NULL, b int) PARTITION BY LIST (b);
CREATE TABLE child PARTITION OF parent FOR VALUES IN (1);
CREATE INDEX parent_id ON parent USING surfidx (id);
INSERT INTO parent SELECT g, 1 FROM generate_series(1, 1000) g;
CREATE TABLE base (id int NOT NULL);
CREATE TABLE heir () INHERITS (base);
CREATE INDEX base_id ON base USING surfidx (id);
VACUUM ANALYZE;
CREATE TABLE declined (n serial, why text, query text);
CREATE TABLE u (k int);
INSERT INTO declined (why, query) VALUES
	('a condition on another column', 'SELECT count(*) FROM t WHERE id > 5 AND s || id > ''b'''),
	('volatile', 'SELECT count(*) FROM t WHERE id > 5 AND random() < 2'),
	('FILTER by a subquery', 'SELECT count(*) FILTER (WHERE id > (SELECT 5)) FROM t WHERE id > 3'),
	('another ORDER BY', 'SELECT count(id ORDER BY id DESC) FROM t WHERE id > 3'),
	('an ordered set', 'SELECT count(*), mode() WITHIN GROUP (ORDER BY id) FROM t WHERE id > 3'),
	('DISTINCT in HAVING', 'SELECT count(*) FROM t WHERE id > 3 HAVING sum(DISTINCT id) > 0'),
	('grouping sets', 'SELECT count(*) FROM t WHERE id > 3 GROUP BY GROUPING SETS ((), ())'),
	('join', 'SELECT count(*) FROM t JOIN t u USING (id) WHERE t.id < 50'),
	('sample', 'SELECT count(*) FROM t TABLESAMPLE system (100)'),
	('condition that is never true', 'SELECT count(*) FROM t WHERE id > 5 AND false'),
	('a condition on no column', 'SELECT count(*) FROM t WHERE id > 5 AND current_setting(''a.b'', true) IS NULL'),
	('row marks', 'SELECT count(*) FROM (SELECT id FROM t WHERE id > 3 FOR UPDATE) x'),
	('row marks of a key', 'SELECT count(*) FROM (SELECT id FROM t WHERE id > 3 FOR KEY SHARE SKIP LOCKED) x'),
	('window', 'SELECT count(*) OVER () FROM t WHERE id > 3'), ('LIMIT', 'SELECT count(*) FROM (SELECT id FROM t WHERE id > 3 LIMIT 7) x'),
	('OFFSET', 'SELECT count(*) FROM (SELECT id FROM t WHERE id > 3 OFFSET 7) x'), ('UNION', 'SELECT count(*) FROM (SELECT id FROM t WHERE id > 3 UNION ALL SELECT 1) x'),
	('set-returning', 'SELECT count(*) FROM (SELECT generate_series(1, 2) FROM t WHERE id > 3) x'), ('semijoin', 'SELECT count(*) FROM t WHERE EXISTS (SELECT FROM u WHERE k = id)'),
	('antijoin', 'SELECT count(*) FROM t WHERE NOT EXISTS (SELECT FROM u WHERE k = id)'), ('outer join', 'SELECT count(u.k) FROM t LEFT JOIN u ON u.k = id'),
	('subplan', 'SELECT count(*) FROM t WHERE id > 3 AND b NOT IN (SELECT k FROM u)'), ('whole row', 'SELECT count(t) FROM t WHERE id > 3'),
	('ordered set', 'SELECT mode() WITHIN GROUP (ORDER BY id) FROM t WHERE id > 3'), ('an aggregate of many', 'SELECT corr(id, length(s)) FROM t WHERE id > 3'),
	('a column of the whole table', 'SELECT count(s) FROM t WHERE id > 3');
SELECT why FROM declined WHERE plan_of(query) LIKE '%SurfidxAggregate%' ORDER BY n;
SELECT count(*) FROM declined;
-- subqueries with parameters; what EXPLAIN ANALYZE tells
SELECT plan_of('SELECT g, (SELECT count(*) FROM t WHERE id < g) FROM generate_series(1, 3) g') ~ 'SurfidxAggregate.*Index Only Scan.*id < g.g';
CREATE FUNCTION analyzed(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line	text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		IF line !~ 'Index Searches' THEN
			-- how many leaves: aggregate_explain
			RETURN NEXT regexp_replace(regexp_replace(line, '\.00', '', 'g'), 'with TIDs.*', 'n');
		END IF;
	END LOOP;
END $$;
SELECT * FROM analyzed('SELECT count(*) FROM t WHERE id > 15000');
-- a partition and a table without its heirs are tables
SELECT plan_of('SELECT count(*) FROM child WHERE id > 3') ~ 'SurfidxAggregate', plan_of('SELECT count(*) FROM ONLY base WHERE id > 3') ~ 'SurfidxAggregate';
-- row-level security hides rows by conditions of its own
CREATE ROLE surfidx_agg_reader;
GRANT SELECT ON t TO surfidx_agg_reader;
CREATE POLICY hide ON t USING (id > 100);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
SET ROLE surfidx_agg_reader;
SELECT plan_of('SELECT count(*) FROM t WHERE id < 200') ~ 'SurfidxAggregate';
SELECT count(*) FROM t WHERE id < 200;
RESET ROLE;
-- ... so do a view's, before which a leaky function must not be called
CREATE FUNCTION leaks(int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS 'BEGIN RETURN $1 > 5; END';
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM t WHERE id > 100;
SELECT plan_of('SELECT count(*) FROM barrier WHERE leaks(id)') ~ 'SurfidxAggregate', plan_of('SELECT count(*) FROM barrier WHERE id < 200 AND leaks(id)') ~ 'SurfidxAggregate';
DROP VIEW barrier;
DROP FUNCTION leaks;
ALTER TABLE t DISABLE ROW LEVEL SECURITY;
DROP POLICY hide ON t;
-- settings
SET surfidx.aggregates = off;
SELECT plan_of('SELECT count(*) FROM t WHERE id > 3') ~ 'SurfidxAggregate';
RESET surfidx.aggregates;
SET enable_indexonlyscan = off;
SELECT plan_of('SELECT count(*) FROM t WHERE id > 3') ~ 'SurfidxAggregate';
RESET enable_indexonlyscan;
SET enable_indexscan = off;
SELECT plan_of('SELECT count(*) FROM t WHERE id > 3') ~ 'SurfidxAggregate';
RESET enable_indexscan;

-- the same numbers, in each state of the delta and of the table
CREATE TABLE asked (n serial, query text);
INSERT INTO asked (query) VALUES
	('SELECT count(*) FROM t'), ('SELECT count(*) FROM t WHERE id > 0'), ('SELECT count(*), count(id) FROM t WHERE id BETWEEN 77 AND 15000'),
	('SELECT count(*) FROM t WHERE id = 500'), ('SELECT count(*) FROM t WHERE id = -1'), ('SELECT count(*) FROM t WHERE id > 5 AND id < 3'),
	('SELECT count(*) FROM t WHERE id = ANY (ARRAY[1, 5, 5, 99999, 17])'), ('SELECT count(*) FROM t WHERE id IN (SELECT 3)'),
	('SELECT count(*) FROM t WHERE k IS NULL'), ('SELECT count(*) FROM t WHERE k IS NOT NULL'), ('SELECT count(*) FROM t WHERE k BETWEEN 5 AND 99 AND b = 3'),
	('SELECT count(*) FROM t WHERE k = 3 AND b IN (1, 2, 5)'), ('SELECT count(*) FROM t WHERE k > 480 AND b > 2'), ('SELECT count(*) FROM t WHERE s > ''key 2'' AND b < 5'),
	('SELECT count(*) FROM t WHERE s = ''key 7'' AND b < 5'), ('SELECT count(*) + 1 FROM t WHERE id > 10 HAVING count(*) > 5'),
	('SELECT count(*) FROM t WHERE id > 10 HAVING count(*) < 5'), ('SELECT count(*) FROM t WHERE id < 100::int8'), ('SELECT count(*) FROM t WHERE id < 99.5'),
	('SELECT string_agg(n::text, '','') FROM (SELECT (SELECT count(*) FROM t WHERE id < g * 1000 AND id >= h) AS n FROM generate_series(1, 25) g, generate_series(1, 3) h) x'),
	('SELECT string_agg(n::text, '','') FROM (SELECT (SELECT count(*) FROM t WHERE id = ANY (ARRAY[g, h, 2 * g])) AS n FROM generate_series(1, 25) g, generate_series(1, 3) h) x');
CREATE FUNCTION differences() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	q	text;
	a	text;
	b	text;
BEGIN
	FOR q IN SELECT query FROM asked ORDER BY n LOOP
		PERFORM set_config('surfidx.aggregates', 'on', true);
		EXECUTE 'SELECT string_agg(x::text, ''|'') FROM (' || q || ') x' INTO a;
		PERFORM set_config('surfidx.aggregates', 'off', true), set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true);
		EXECUTE 'SELECT string_agg(x::text, ''|'') FROM (' || q || ') x' INTO b;
		PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'on', true);
		IF a IS DISTINCT FROM b THEN
			RETURN NEXT q || ': ' || coalesce(a, 'NULL') || ' instead of ' || coalesce(b, 'NULL');
		END IF;
	END LOOP;
END $$;
SELECT * FROM differences();
-- everything in the delta beside a tree, on pages that are not all-visible; rows that are dead, deleted by this transaction, updated in place and elsewhere
INSERT INTO t SELECT g, g % 77, 'new ' || g, g % 9 FROM generate_series(20001, 24000) g;
SELECT * FROM differences();
UPDATE t SET s = s || '!' WHERE id % 20 = 3;
UPDATE t SET k = k + 1 WHERE id % 20 = 4;
DELETE FROM t WHERE id % 20 = 5;
SELECT * FROM differences();
BEGIN;
DELETE FROM t WHERE id % 20 = 6;
INSERT INTO t VALUES (30000, 1, 'mine', 1);
SELECT * FROM differences();
SAVEPOINT a;
INSERT INTO t VALUES (30001, 1, 'not mine', 1);
ROLLBACK TO a;
SELECT * FROM differences();
SELECT count(*) FROM t WHERE id >= 30000;
ROLLBACK;
SELECT count(*) FROM t WHERE id >= 30000;
SELECT surfidx_merge('t_id') > 0, surfidx_merge('t_kb') > 0, surfidx_merge('t_s') > 0;
SELECT * FROM differences();
VACUUM t;
SELECT * FROM differences();
-- little memory for rows that have to be looked at
UPDATE t SET b = b;
SET work_mem = '64kB';
SELECT * FROM differences();
RESET work_mem;
-- a prepared plan through REINDEX, new rows and the loss of its index; its parameters
SET plan_cache_mode = force_generic_plan;
PREPARE q(int, int) AS SELECT count(*) FROM t WHERE id > $1 AND id < $2;
EXPLAIN (COSTS OFF) EXECUTE q(1, 2);
EXECUTE q(100, 200);
EXECUTE q(100, NULL);
REINDEX INDEX t_id;
EXECUTE q(100, 300);
DROP INDEX t_id;
EXECUTE q(100, 300);
CREATE INDEX t_id ON t USING surfidx (id);
EXECUTE q(100, 300);
DEALLOCATE q;
RESET plan_cache_mode;
-- a column loses its constraint under a plan
PREPARE c AS SELECT count(id) FROM t WHERE id > 5 OR id IS NULL;
ALTER TABLE t ALTER id DROP NOT NULL;
PREPARE d AS SELECT count(id) FROM t;
INSERT INTO t VALUES (NULL, 1, 'null', 1);
EXECUTE c;
EXECUTE d;
SELECT count(*), count(id) FROM t;
DEALLOCATE ALL;
-- cursors, PL/pgSQL, rows taken for one count after another
BEGIN;
DECLARE cur SCROLL CURSOR FOR SELECT count(*) FROM t WHERE id < 100;
FETCH 1 FROM cur;
FETCH 1 FROM cur;
FETCH BACKWARD 1 FROM cur;
COMMIT;
DO $$
DECLARE
	n int;
	total int := 0;
BEGIN
	FOR i IN 1 .. 20 LOOP
		SELECT count(*) INTO n FROM t WHERE id < i;
		total := total + n;
	END LOOP;
	RAISE NOTICE '%', total;
END $$;
-- by other isolation levels, and of other tables
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM differences();
COMMIT;
CREATE TEMPORARY TABLE tmp (id int NOT NULL);
CREATE UNLOGGED TABLE unl (id int NOT NULL);
CREATE TABLE none (id int NOT NULL);
CREATE INDEX ON tmp USING surfidx (id);
CREATE INDEX ON unl USING surfidx (id);
CREATE INDEX ON none USING surfidx (id);
INSERT INTO tmp SELECT generate_series(1, 500);
INSERT INTO unl SELECT generate_series(1, 600);
SELECT (SELECT count(*) FROM tmp WHERE id > 5), (SELECT count(*) FROM unl WHERE id > 5), (SELECT count(*) FROM none);
SELECT plan_of('SELECT count(*) FROM tmp WHERE id > 5') ~ 'SurfidxAggregate';
-- it counts as a scan of the index
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT idx_scan AS before FROM pg_stat_user_indexes WHERE indexrelname = 'none_id_idx' \gset
SELECT count(*) FROM none;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT idx_scan - :before AS scans FROM pg_stat_user_indexes WHERE indexrelname = 'none_id_idx';
DROP TABLE t, u, parent, base, heir, declined, asked, unl, none;
DROP FUNCTION plan_of, differences, analyzed;
DROP ROLE surfidx_agg_reader;
