-- What surfidx.planner_lift gives: plans that core otherwise makes only with btree indexes; the same answers in each state of the indexes
\getenv srcdir PG_ABS_SRCDIR
\set plans :srcdir '/sql/helpers/plans.sql'
\set ECHO none
\i :plans
SET compute_query_id = regress;
\set ECHO all
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

SELECT in_states();
SELECT plans_end();
DROP FUNCTION plans_end;
DROP TABLE few;
DROP OPERATOR FAMILY few_ops USING surfidx;
DROP OPERATOR <! (bool, int);
DROP FUNCTION bool_lt_int;
