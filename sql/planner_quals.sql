-- Conditions that the index serves: the same plans as with btree, and the same answers in each state of the indexes
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

-- Values of other types of the family
SELECT show($$SELECT id FROM t WHERE id = 42::int8$$);
SELECT show($$SELECT id FROM t WHERE b = 42::int2$$);
SELECT show($$SELECT id, filler FROM t WHERE d < timestamp '2020-01-02 00:00:01'$$);
SELECT show($$SELECT id FROM t WHERE 9995 < id$$);

-- Several columns
SELECT show($$SELECT id FROM t WHERE a = 500 AND b BETWEEN 1000 AND 2000$$);
SELECT show($$SELECT a, b FROM t WHERE a < 3 AND b = 500$$);

-- NULL tests
SELECT show($$SELECT id FROM t WHERE a IS NULL$$);
SELECT show($$SELECT a, b FROM t WHERE a IS NOT NULL ORDER BY a DESC, b DESC LIMIT 3$$);

-- = ANY, in order on the first column
SELECT show($$SELECT id FROM t WHERE id IN (3, 9999, 1, 5000)$$);
SELECT show($$SELECT id FROM t WHERE id IN (3, 9999, 1, 5000) ORDER BY id DESC$$);
SELECT same($$SELECT id FROM t WHERE id = ANY (ARRAY[]::int[])$$);
SELECT same($$SELECT id FROM t WHERE id = ANY ('{5, null, 5, 70000}')$$);
SELECT same($$SELECT a, b FROM t WHERE a = 500 AND b = ANY ('{500, 1500, 2500}'::int8[])$$);
SELECT show($$SELECT id FROM t WHERE id > ALL ('{9990, 9995}')$$);

-- Bitmaps and their combinations
SELECT show($$SELECT id FROM t WHERE a = 500 OR id = 77$$);
SELECT show($$SELECT id FROM t WHERE a = 500 OR c = 'k00017' OR d = date '2020-01-15'$$);
SET enable_indexscan = off;
SET enable_seqscan = off;
SELECT show($$SELECT id FROM t WHERE d BETWEEN '2020-01-02' AND '2020-03-31' AND c BETWEEN 'k00100' AND 'k00500'$$);
RESET enable_indexscan;
RESET enable_seqscan;

-- LIKE and regular expressions with a prefix, COLLATE "C"
SELECT show($$SELECT c FROM t WHERE c LIKE 'k0001%'$$);
SELECT show($$SELECT c FROM t WHERE c LIKE 'k00017'$$);
SELECT show($$SELECT c FROM t WHERE c ~ '^k0001[0-5]'$$);
SELECT show($$SELECT c FROM t WHERE c ^@ 'k0001'$$);

-- Nested loops with the condition from outside
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT show($$SELECT x.id, y.id AS y FROM t x JOIN t y ON y.id = x.a WHERE x.id < 20$$);
SELECT show($$SELECT x.id, y.c FROM t x JOIN LATERAL (SELECT c FROM t y WHERE y.c >= x.c ORDER BY c LIMIT 1) y ON true WHERE x.id < 20$$);
RESET enable_hashjoin;
RESET enable_mergejoin;

-- Partial and expression indexes
SELECT twice($$CREATE INDEX t_part ON t USING %am (d, id) WHERE f$$);
SELECT twice($$CREATE INDEX t_expr ON t USING %am ((id % 100), c)$$);
ANALYZE sx.t, bt.t;
SELECT show($$SELECT id FROM t WHERE f AND d < '2020-03-01'$$);
SELECT show($$SELECT c FROM t WHERE id % 100 = 5 AND c < 'k01000'$$);

-- Row comparisons: as with btree
SET search_path = sx, public;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT a, b FROM t WHERE (a, b) > (998, 1000);
SELECT count(*) FROM t WHERE (a, b) > (998, 1000);
SELECT a, b FROM t WHERE (a, b) > (500, 500) ORDER BY a, b LIMIT 3;
SELECT a, b FROM t WHERE (a, b) <= (500, 500) ORDER BY a DESC, b DESC LIMIT 3;
RESET search_path;
RESET enable_bitmapscan;
SELECT l || ' ' || o || ' ' || r, substring(same(format('SELECT a, b, id FROM t WHERE (%s) %s (%s)', l, o, r)) FROM '\d+ rows|WRONG') FROM unnest('{<,<=,>=,>}'::text[]) o,
	(VALUES ('a, b', '2, 500'), ('a, b', '998, 4999'), ('a, b, id', '500, 500, 77'), ('a, b', '3::int8, 7::int2'), ('a, b', '3, NULL'), ('a, b', 'NULL, 3'), ('id, a', '9990, 10'), ('b, id', '4990, 5'), ('c, a', '''k00500'', 3')) v (l, r);
SELECT substring(same($$SELECT a, b FROM t WHERE (a, b) > (10, 20) AND (a, b) < (12, 3000) AND b > 5 ORDER BY a, b$$) FROM '\d+ rows|WRONG');
SELECT substring(same($$SELECT x.id, y.a, y.b FROM t x JOIN LATERAL (SELECT a, b FROM t y WHERE (y.a, y.b) > (x.a, x.b) ORDER BY a, b LIMIT 2) y ON true WHERE x.id < 20 ORDER BY 1, 2, 3$$) FROM '\d+ rows|WRONG');
RESET search_path;
RESET enable_seqscan;

SELECT in_states();
SELECT plans_end();
DROP FUNCTION plans_end;
