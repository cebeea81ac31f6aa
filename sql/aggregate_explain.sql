-- What EXPLAIN ANALYZE says about leaves, how few rows a LIMIT visits, and the right to group
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
CREATE TABLE t (k int, u int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT g / 10, hashint4(g) FROM generate_series(1, 200000) g;
CREATE INDEX t_k ON t USING surfidx (k, u);
CREATE INDEX t_u ON t USING surfidx (u);
VACUUM ANALYZE t;
SET enable_seqscan = off;
SET max_parallel_workers_per_gather = 0;
-- a number of EXPLAIN's, of the first node that has it
CREATE FUNCTION told(query text, what text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan	json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF, SUMMARY OFF) ' || query INTO plan;
	RETURN (regexp_match(plan::text, '"' || what || '": (\d+)'))[1];
END $$;
CREATE VIEW leaves AS
	SELECT n, query, told(query, 'Leaves Read With TIDs') AS tids,
		told(query, 'Leaves Read Without TIDs') AS tidless
	FROM (VALUES (1, 'SELECT count(*) FROM t'), (2, 'SELECT sum(u) FROM t'),
		(3, 'SELECT k, count(*) FROM t GROUP BY k'),
		(4, 'SELECT count(*) FROM t WHERE k = 7')) q(n, query);
-- the map says that all rows are visible: from some leaf on TIDs are left out; counts read next to none
SELECT query, tids > 0 AS tids, tidless > 0 AS tidless,
	tids + tidless < pg_relation_size('t_k') / 8192 AS few
FROM leaves ORDER BY n;
SELECT count.tids + count.tidless < sum.tids + sum.tidless AS fewer
FROM leaves count, leaves sum WHERE count.n = 1 AND sum.n = 2;
-- no row is
UPDATE t SET u = u WHERE k % 2 = 0;
SELECT surfidx_merge('t_k') >= 0 AND surfidx_merge('t_u') >= 0 AS merged;
SELECT query, tids > 0 AS tids, tidless FROM leaves ORDER BY n;
-- in text; not where nothing ran
CREATE FUNCTION lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line	text;
BEGIN
	FOR line IN EXECUTE query LOOP
		CONTINUE WHEN line !~ 'Leaves|Aggregate';
		RETURN NEXT regexp_replace(line, '\(.*\)', '');
	END LOOP;
END $$;
SELECT * FROM lines('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT count(*) FROM t WHERE k = 7');
SELECT * FROM lines('EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE k = 7');
SELECT * FROM lines('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)
	SELECT g, (SELECT count(*) FROM t WHERE k = g AND g < 0) FROM generate_series(1, 3) g WHERE g > 5');
SELECT count(*), sum(n) FROM (SELECT u, count(*) AS n FROM t GROUP BY u) x;
-- a query for few groups does not wait for the rows of a whole block, which are in as many pages; no
-- row is all-visible here, and none is dead: a dead one that an old snapshot may see counts for none
CREATE TABLE fresh (k int, u int) WITH (autovacuum_enabled = off);
INSERT INTO fresh SELECT g / 10, hashint4(g) FROM generate_series(1, 50000) g;
CREATE INDEX fresh_k ON fresh USING surfidx (k, u);
CREATE INDEX fresh_u ON fresh USING surfidx (u);
ANALYZE fresh;
SELECT told('SELECT DISTINCT u FROM fresh LIMIT 1', 'Heap Fetches') <= 32 AS few,
	told('SELECT k, count(*) FROM fresh GROUP BY k LIMIT 1', 'Heap Fetches') <= 64 AS more;
DROP TABLE fresh;
-- grouping requires the right to call the columns' equality functions, as core's nodes do
CREATE ROLE surfidx_explain_reader;
GRANT SELECT ON t TO surfidx_explain_reader;
CREATE FUNCTION tried(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'done';
EXCEPTION WHEN insufficient_privilege THEN
	RETURN SQLERRM;
END $$;
BEGIN;
REVOKE EXECUTE ON FUNCTION int4eq(int4, int4) FROM PUBLIC;
SET ROLE surfidx_explain_reader;
SELECT aggregates, query, tried('SET surfidx.aggregates = ' || aggregates), tried(query)
FROM (VALUES (1, 'SELECT k, count(*) FROM t GROUP BY k'), (2, 'SELECT DISTINCT u FROM t'),
		(3, 'SELECT count(*) FROM t'), (4, 'SELECT max(u) FROM t WHERE k < 9')) q(n, query),
	(VALUES ('on'), ('off')) a(aggregates) ORDER BY n, aggregates;
-- (since 16 a column that has one value only is not asked for)
CREATE TEMP TABLE told_both AS
	SELECT aggregates, tried('SET surfidx.aggregates = ' || aggregates) AS set,
		tried('SELECT k, count(*) FROM t WHERE k = 5::int8 GROUP BY k') AS groups,
		tried('SELECT DISTINCT k FROM t WHERE k = 5::int8') AS distinct_ones
	FROM (VALUES ('on'), ('off')) a(aggregates);
SELECT count(DISTINCT groups), count(DISTINCT distinct_ones) FROM told_both;
ROLLBACK;
-- EXPLAIN alone requires the right to call all functions
BEGIN;
REVOKE EXECUTE ON FUNCTION abs(int4) FROM PUBLIC;
SET ROLE surfidx_explain_reader;
SELECT aggregates, query, tried('SET surfidx.aggregates = ' || aggregates), tried('EXPLAIN ' || query)
FROM (VALUES (1, 'SELECT sum(abs(u)) FROM t'), (2, 'SELECT count(*) FILTER (WHERE abs(u) > 3) FROM t'),
		(3, 'SELECT abs(k), max(u) FROM t GROUP BY abs(k)'), (4, 'SELECT max(u) FROM t WHERE abs(k) = 3'),
		(5, 'SELECT max(u) FILTER (WHERE u > 3) FROM t')) q(n, query),
	(VALUES ('on'), ('off')) a(aggregates) ORDER BY n, aggregates;
ROLLBACK;
DROP VIEW leaves;
DROP TABLE t;
DROP FUNCTION told, lines, tried;
DROP ROLE surfidx_explain_reader;
