-- Plans that depend on the version of PostgreSQL: order under = ANY after the first column (17), OR as = ANY (18), skip scans (18), the probe of a column's ends (18);
-- and those of foreign keys. The same answers in each state of the indexes.
\getenv srcdir PG_ABS_SRCDIR
\set plans :srcdir '/sql/helpers/plans.sql'
\set ECHO none
\i :plans
\set ECHO all
SELECT twice($$CREATE TABLE t (id int NOT NULL, g int, k int8, s text COLLATE "C", v int) WITH (autovacuum_enabled = off)$$);
SELECT twice($$INSERT INTO t SELECT i, i % 8, i * 7919 % 10007, 's' || i * 31 % 997, i FROM generate_series(1, 9000) i$$);
SELECT twice($$CREATE UNIQUE INDEX t_id ON t USING %am (id)$$);
SELECT twice($$CREATE INDEX t_gks ON t USING %am (g, k, s)$$);
SELECT twice($$CREATE INDEX t_sk ON t USING %am (s DESC, k) INCLUDE (g)$$);
SELECT twice($$INSERT INTO t SELECT i, i % 8, i * 7919 % 10007, 's' || i * 31 % 997, i FROM generate_series(9001, 10000) i$$);
VACUUM (ANALYZE, INDEX_CLEANUP off) sx.t, bt.t;

-- = ANY in the index's order: on the first column, after an equality, after another array, backward
SELECT show($$SELECT g, k FROM t WHERE g = 3 AND k = ANY ('{3743, 7053, 356, 5}') ORDER BY k$$);
SELECT show($$SELECT g, k FROM t WHERE g = ANY ('{3, 5}') AND k = ANY ('{3743, 7053, 356, 5}') ORDER BY g, k$$);
SELECT show($$SELECT g, k, s FROM t WHERE g = 3 AND k = ANY ('{3743, 7053, 356, 5}') ORDER BY k DESC, s DESC$$);
SELECT show($$SELECT s, k FROM t WHERE s = 's93' AND k = ANY ('{3743, 100, 3463}') ORDER BY k LIMIT 2$$);
-- OR of one column
SELECT show($$SELECT id FROM t WHERE id = 5 OR id = 77 OR id = 9999$$);
SELECT show($$SELECT id FROM t WHERE id = 5 OR id = 77 OR id = 9999 ORDER BY id DESC$$);
SELECT show($$SELECT g, k FROM t WHERE g = 2 AND (k = 2190 OR k = 500 OR k = 5831)$$);
-- a condition after a column without one
SELECT twice($$DROP INDEX t_sk$$);
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SELECT show($$SELECT g, k FROM t WHERE k = 4711$$);
SELECT show($$SELECT g, k FROM t WHERE k = 4711 AND s > 's0' ORDER BY g$$);
SELECT show($$SELECT g, k FROM t WHERE g > 5 AND k BETWEEN 100 AND 200$$);
RESET enable_bitmapscan;
RESET enable_seqscan;

-- A column's end, which has moved since ANALYZE: is it looked up in the index, as in btree's? (surfidx.range_estimates would count.)
SET surfidx.range_estimates = off;
SELECT twice($$INSERT INTO t SELECT i, i % 8, i, 's', i FROM generate_series(10001, 20000) i$$);
CREATE FUNCTION expected(query text, schema text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	PERFORM set_config('search_path', schema || ', public', true);
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT abs(expected(q, 'sx') / expected(q, 'bt') - 1) < 0.01 AS "the end as btree's" FROM (SELECT 'SELECT * FROM t WHERE id > 9950') v (q);
RESET surfidx.range_estimates;
SELECT abs(expected(q, 'sx') / 10050 - 1) < 0.1 AS "counted" FROM (SELECT 'SELECT * FROM t WHERE id > 9950') v (q);
SELECT twice($$DELETE FROM t WHERE id > 10000$$);
VACUUM sx.t, bt.t;

-- A foreign key's checks go through whatever index there is on either side.
SELECT twice($$CREATE TABLE parent (k int PRIMARY KEY)$$);
SELECT twice($$CREATE TABLE child (k int REFERENCES parent ON DELETE CASCADE, v int) WITH (autovacuum_enabled = off)$$);
SELECT twice($$CREATE INDEX child_k ON child USING %am (k)$$);
SELECT twice($$INSERT INTO parent SELECT generate_series(1, 2000)$$);
SELECT twice($$INSERT INTO child SELECT i % 2000 + 1, i FROM generate_series(1, 6000) i$$);
ANALYZE sx.child, bt.child;
SELECT show($$SELECT v FROM ONLY child x WHERE 77 OPERATOR(pg_catalog.=) k FOR KEY SHARE OF x$$);
SELECT show($$DELETE FROM child WHERE 78 = k RETURNING v$$);
SELECT twice($$DELETE FROM parent WHERE k BETWEEN 80 AND 90$$);
SELECT same($$SELECT k, v FROM child WHERE k BETWEEN 75 AND 95 ORDER BY k, v$$);
-- what does not change anything
DELETE FROM asked WHERE query ~ '^DELETE';
SELECT in_states();
SELECT plans_end();
DROP FUNCTION plans_end, expected;
