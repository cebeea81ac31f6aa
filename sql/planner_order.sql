-- Plans that need the index's order: the same as with btree, and the same answers in each state of the indexes
\getenv srcdir PG_ABS_SRCDIR
\set plans :srcdir '/sql/helpers/plans.sql'
\set ECHO none
\i :plans
\set ECHO all
-- Nine tenths of the rows stand in leaves, one tenth in the delta.
SELECT twice($$CREATE TABLE t (id int NOT NULL, a int, b int8, c text COLLATE "C", d date, f bool, filler text)
	WITH (autovacuum_enabled = off)$$);
SELECT twice($$INSERT INTO t SELECT i, nullif(i * 7919 % 1000, 7), i * 31 % 5000, 'k' || lpad((i * 17 % 9973)::text, 5, '0'),
	date '2020-01-01' + i % 700, i % 500 = 0, repeat('x', 100) FROM generate_series(1, 9000) i$$);
SELECT twice($$CREATE UNIQUE INDEX t_id ON t USING %am (id)$$);
SELECT twice($$CREATE INDEX t_ab ON t USING %am (a, b)$$);
SELECT twice($$CREATE INDEX t_b ON t USING %am (b DESC NULLS LAST)$$);
SELECT twice($$CREATE INDEX t_c ON t USING %am (c) INCLUDE (a)$$);
SELECT twice($$CREATE INDEX t_d ON t USING %am (d)$$);
SELECT twice($$INSERT INTO t SELECT i, nullif(i * 7919 % 1000, 7), i * 31 % 5000, 'k' || lpad((i * 17 % 9973)::text, 5, '0'),
	date '2020-01-01' + i % 700, i % 500 = 0, repeat('x', 100) FROM generate_series(9001, 10000) i$$);
VACUUM (ANALYZE, INDEX_CLEANUP off) sx.t, bt.t;

-- ORDER BY in both directions
SELECT show($$SELECT id FROM t ORDER BY id LIMIT 10$$);
SELECT show($$SELECT id, a FROM t ORDER BY id DESC LIMIT 10$$);
SELECT show($$SELECT id, b FROM t ORDER BY b DESC NULLS LAST, id LIMIT 10$$);
SELECT show($$SELECT b, filler FROM t ORDER BY b NULLS FIRST LIMIT 10$$);
SELECT show($$SELECT a, b FROM t ORDER BY a, b LIMIT 10$$);
SELECT show($$SELECT a, b FROM t ORDER BY a DESC, b DESC LIMIT 10$$);
SELECT show($$SELECT a, b FROM t WHERE a = 500 ORDER BY b DESC$$);
SELECT show($$SELECT id FROM t WHERE id BETWEEN 8990 AND 9010 ORDER BY id DESC$$);
-- orders that the index does not have
SELECT show($$SELECT a, b FROM t ORDER BY a NULLS FIRST, b LIMIT 1$$);
SELECT show($$SELECT c, filler FROM t ORDER BY c COLLATE "POSIX" LIMIT 1$$);

-- Incremental sort
SELECT show($$SELECT a, id FROM t ORDER BY a, id LIMIT 10$$);

-- MIN and MAX, past NULLs too
SELECT same($$SELECT min(id), max(id) FROM t$$);
SELECT show($$SELECT min(a), max(a) FROM t$$);
SELECT show($$SELECT max(b) FROM t WHERE a = 500$$);
SELECT same($$SELECT DISTINCT ON (a) a, b FROM t WHERE a < 5 ORDER BY a, b DESC$$);

-- Index-only scans
SELECT show($$SELECT id FROM t WHERE id < 100$$);
SELECT show($$SELECT c, a FROM t WHERE c < 'k00100'$$);
SELECT show($$SELECT count(*) FROM t WHERE a = 500 AND b > 1000$$);

-- Merge join; the inner side is marked and restored
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT show($$SELECT x.id, y.a FROM t x JOIN t y ON x.id = y.a$$);
SELECT show($$SELECT x.a, y.a AS y FROM t x JOIN t y ON x.a = y.a WHERE x.a < 3$$);
SELECT show($$SELECT x.id, y.b FROM t x JOIN t y ON x.id = y.b WHERE x.id < 300$$);
RESET enable_hashjoin;
RESET enable_nestloop;

-- Grouping and windows over the order
SET enable_hashagg = off;
SELECT show($$SELECT a, count(*) FROM t GROUP BY a$$);
RESET enable_hashagg;
SELECT same($$SELECT id, lag(id) OVER (ORDER BY id) FROM t WHERE id < 20$$);

-- Cursors that turn round need no Materialize
SET search_path = sx, public;
EXPLAIN (COSTS OFF) DECLARE c SCROLL CURSOR FOR SELECT id FROM t ORDER BY id;
RESET search_path;

-- Partitions in order
SELECT twice($$CREATE TABLE p (k int, v int) PARTITION BY RANGE (k)$$);
SELECT twice($$CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (5000)$$);
SELECT twice($$CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (5000) TO (10000)$$);
SELECT twice($$CREATE INDEX p_k ON p USING %am (k)$$);
SELECT twice($$CREATE TABLE p3 (k int, v int)$$);
SELECT twice($$CREATE INDEX p3_k_idx ON p3 USING %am (k)$$);
SELECT twice($$ALTER TABLE p ATTACH PARTITION p3 FOR VALUES FROM (10000) TO (15000)$$);
SELECT twice($$INSERT INTO p SELECT i, i % 10 FROM generate_series(0, 14999) i$$);
ANALYZE sx.p, bt.p;
SELECT show($$SELECT * FROM p ORDER BY k LIMIT 5$$);
SELECT show($$SELECT * FROM p WHERE k BETWEEN 4995 AND 5004 ORDER BY k DESC$$);
SELECT show($$SELECT min(k), max(k) FROM p$$);

SELECT i::text, surfidx_check(i, true) FROM unnest('{sx.t_id, sx.t_ab, sx.t_b, sx.t_c, sx.t_d}'::regclass[]) i;

SELECT in_states();
SELECT plans_end();
DROP FUNCTION plans_end;
