SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET surfidx.unique_notice = off;
SET max_parallel_workers_per_gather = 0;
SET enable_memoize = off;
\pset tuples_only on
\pset format unaligned

-- Plans that need the index's order: the same as with btree
-- The same tables with the same indexes, once surfidx and once btree.  A query's plan is shown once, with the number
-- of its rows, if plan and rows (in order, where an order is asked for) are the same in both.
CREATE SCHEMA sx;
CREATE SCHEMA bt;

CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line	text;
	plan	text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		-- versions write subplans' names differently
		plan := plan || regexp_replace(line, ' \(returns .*\)', '') || E'\n';
	END LOOP;
	RETURN plan;
END $$;

CREATE FUNCTION rows_of(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	r		record;
	found	text[] := '{}';
BEGIN
	FOR r IN EXECUTE query LOOP
		found := found || r::text;
	END LOOP;
	IF query !~ 'ORDER BY' THEN
		RETURN ARRAY(SELECT unnest(found) ORDER BY 1);
	END IF;
	RETURN found;
END $$;

CREATE FUNCTION show(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan	text[];
	rows_	text[];
BEGIN
	PERFORM set_config('search_path', 'sx, public', true);
	plan[1] := plan_of(query);
	rows_ := rows_of(query);
	PERFORM set_config('search_path', 'bt, public', true);
	plan[2] := plan_of(query);
	RETURN QUERY SELECT * FROM string_to_table(rtrim(plan[1], E'\n'), E'\n');
	IF plan[1] <> plan[2] THEN
		RETURN QUERY SELECT 'BTREE: ' || l FROM string_to_table(rtrim(plan[2], E'\n'), E'\n') l;
	END IF;
	RETURN NEXT CASE WHEN rows_ = rows_of(query) THEN format('(%s rows, plan %s)', cardinality(rows_),
		CASE WHEN plan[1] = plan[2] THEN 'and rows as btree' ELSE 'not as btree' END) ELSE 'WRONG ROWS' END;
	PERFORM set_config('search_path', 'public', true);
END $$;

-- The same without the plan, where it differs between versions of PostgreSQL
CREATE FUNCTION same(query text) RETURNS text LANGUAGE sql AS $$
	SELECT l FROM show(query) l WHERE l ~ '^\(\d+ rows|WRONG';
$$;

-- For statements that differ only in the access method: %am
CREATE FUNCTION twice(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('search_path', 'sx, public', true);
	EXECUTE replace(statement, '%am', 'surfidx');
	PERFORM set_config('search_path', 'bt, public', true);
	EXECUTE replace(statement, '%am', 'btree');
	PERFORM set_config('search_path', 'public', true);
END $$;

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

SET client_min_messages = warning;
DROP SCHEMA sx, bt CASCADE;
DROP FUNCTION same, show, plan_of, rows_of, twice;
