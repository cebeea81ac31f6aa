SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET surfidx.unique_notice = off;
SET max_parallel_workers_per_gather = 0;
SET enable_memoize = off;
SET compute_query_id = regress;
\pset tuples_only on
\pset format unaligned

-- What surfidx.planner_lift gives: plans that core otherwise makes only with btree indexes
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

-- What surfidx gets with the lift and without
CREATE FUNCTION lifted(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	rows_	text[];
BEGIN
	RETURN QUERY SELECT * FROM show(query);
	PERFORM set_config('search_path', 'sx, public', true);
	rows_ := rows_of(query);
	PERFORM set_config('surfidx.planner_lift', 'off', true);
	RETURN QUERY SELECT 'without: ' || l FROM string_to_table(rtrim(plan_of(query), E'\n'), E'\n') l;
	IF rows_ <> rows_of(query) THEN
		RETURN NEXT 'WRONG ROWS';
	END IF;
	PERFORM set_config('surfidx.planner_lift', 'on', true);
	PERFORM set_config('search_path', 'public', true);
END $$;

-- All our families stand in for btree's: there is no operator of btree's that ours lacks
SELECT f.opfname, o.amopopr::regoperator
FROM pg_opfamily f JOIN pg_am m ON m.oid = f.opfmethod AND m.amname = 'surfidx'
	JOIN pg_opfamily b ON b.opfname = f.opfname AND b.opfnamespace = 'pg_catalog'::regnamespace
	JOIN pg_am bm ON bm.oid = b.opfmethod AND bm.amname = 'btree'
	JOIN pg_amop o ON o.amopfamily = b.oid
WHERE NOT EXISTS (SELECT FROM pg_amop s WHERE s.amopfamily = f.oid AND s.amopstrategy = o.amopstrategy AND s.amopopr = o.amopopr
	AND s.amoplefttype = o.amoplefttype AND s.amoprighttype = o.amoprighttype)
ORDER BY 1, 2;

SELECT twice($$CREATE TABLE t (id int NOT NULL, k int8, f bool, ip inet, p text, bp char(10), v varchar, filler text) WITH (autovacuum_enabled = off)$$);
SELECT twice($$INSERT INTO t SELECT i, i % 1000, i % 500 = 0, '10.0.0.0'::inet + i * 7, 'p' || i, 'q' || i, 'v' || i, repeat('x', 100)
	FROM generate_series(1, 9000) i$$);
SELECT twice($$CREATE UNIQUE INDEX t_id ON t USING %am (id)$$);
SELECT twice($$CREATE INDEX t_f ON t USING %am (f)$$);
SELECT twice($$CREATE INDEX t_kf ON t USING %am (k, f)$$);
SELECT twice($$CREATE INDEX t_ip ON t USING %am (ip)$$);
SELECT twice($$CREATE INDEX t_p ON t USING %am (p text_pattern_ops)$$);
SELECT twice($$CREATE INDEX t_bp ON t USING %am (bp bpchar_pattern_ops)$$);
SELECT twice($$CREATE INDEX t_v ON t USING %am (v varchar_pattern_ops)$$);
SELECT twice($$INSERT INTO t SELECT i, i % 1000, i % 500 = 0, '10.0.0.0'::inet + i * 7, 'p' || i, 'q' || i, 'v' || i, repeat('x', 100)
	FROM generate_series(9001, 10000) i$$);
VACUUM (ANALYZE, INDEX_CLEANUP off) sx.t, bt.t;

-- An outer join to unique rows of which nothing is needed
SELECT lifted($$SELECT x.k FROM t x LEFT JOIN t y ON x.k = y.id WHERE x.id < 5$$);

-- An inner side of which at most one row matches
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET search_path = sx, public;
EXPLAIN (COSTS OFF, VERBOSE) SELECT x.id, y.filler FROM t x JOIN t y ON x.k = y.id WHERE x.id < 5;
SET surfidx.planner_lift = off;
EXPLAIN (COSTS OFF, VERBOSE) SELECT x.id, y.filler FROM t x JOIN t y ON x.k = y.id WHERE x.id < 5;
RESET surfidx.planner_lift;
RESET search_path;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- Boolean columns as conditions
SELECT lifted($$SELECT id FROM t WHERE f$$);
SELECT lifted($$SELECT id FROM t WHERE k = 0 AND NOT f$$);
SELECT lifted($$SELECT id FROM t WHERE f IS TRUE AND k = 500$$);
SELECT lifted($$SELECT k FROM t WHERE f ORDER BY f, id LIMIT 3$$);

-- Networks
SELECT lifted($$SELECT id FROM t WHERE ip << '10.0.4.0/24'$$);
SELECT lifted($$SELECT id FROM t WHERE ip <<= '10.0.4.5'$$);
SELECT lifted($$SELECT id FROM t WHERE '10.0.4.0/26' >> ip ORDER BY ip$$);

-- Prefixes through the pattern classes
SELECT lifted($$SELECT id FROM t WHERE p LIKE 'p123%'$$);
SELECT lifted($$SELECT id FROM t WHERE p ~ '^p12[34]'$$);
SELECT lifted($$SELECT id FROM t WHERE bp LIKE 'q123%'$$);
SELECT lifted($$SELECT id FROM t WHERE v LIKE 'v123%'$$);

-- A class whose family lacks some of btree's operators (int8 for int4) gets no lift: the executor would not find them
CREATE OPERATOR FAMILY few_ops USING surfidx;
CREATE OPERATOR CLASS few_ops FOR TYPE int4 USING surfidx FAMILY few_ops AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int4, int4);
CREATE TABLE few (id int NOT NULL, v int) WITH (autovacuum_enabled = off);
INSERT INTO few SELECT i, i FROM generate_series(1, 5000) i;
CREATE UNIQUE INDEX few_id ON few USING surfidx (id few_ops);
VACUUM ANALYZE few;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT x.v FROM few x LEFT JOIN few y ON x.v = y.id WHERE x.id = 77;
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT * FROM few WHERE id = 77::int8;
SELECT * FROM few WHERE id = 77::int8;
SELECT * FROM few WHERE id < 3;

-- The same when btree's family gets an operator later
CREATE FUNCTION bool_lt_int(bool, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1::int < $2';
CREATE OPERATOR <! (LEFTARG = bool, RIGHTARG = int, FUNCTION = bool_lt_int);
SET search_path = sx, public;
BEGIN;
EXPLAIN (COSTS OFF) SELECT id FROM t WHERE f;
ALTER OPERATOR FAMILY bool_ops USING btree ADD OPERATOR 1 <! (bool, int);
EXPLAIN (COSTS OFF) SELECT id FROM t WHERE f;
ROLLBACK;
EXPLAIN (COSTS OFF) SELECT id FROM t WHERE f;
RESET search_path;

SET client_min_messages = warning;
DROP SCHEMA sx, bt CASCADE;
DROP TABLE few;
DROP OPERATOR FAMILY few_ops USING surfidx;
DROP OPERATOR <! (bool, int);
DROP FUNCTION bool_lt_int, lifted, same, show, plan_of, rows_of, twice;
