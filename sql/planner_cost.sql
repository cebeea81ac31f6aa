SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- Costs: what a clause saves.  One after a column that no equality fixes lets the scan leap over the values of that column; that saves most of
-- the range if they are few, and nothing if they are many.
CREATE TABLE t AS SELECT i % 10 AS a, i * 7919 % 10007 AS b, i % 3 AS c FROM generate_series(1, 50000) i;
CREATE INDEX t_abc ON t USING surfidx (a, b, c);
VACUUM ANALYZE t;

CREATE FUNCTION cost(condition text) RETURNS float LANGUAGE plpgsql AS $$
DECLARE
	plan	json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) SELECT a, b, c FROM t WHERE ' || condition INTO plan;
	IF plan -> 0 -> 'Plan' ->> 'Node Type' <> 'Index Only Scan' THEN
		RAISE 'not an index-only scan: %', plan;
	END IF;
	RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;

SELECT condition, round((100 * cost(condition) / cost('true'))::numeric / 10) * 10 AS "about % of the whole"
FROM unnest(ARRAY['a = 3', 'a = 3 AND b = 7', 'a IN (3, 4)', 'a IN (3, 4) AND b = 7 AND c = 1', 'a IS NULL AND b = 7']) condition;
SELECT condition, cost(condition) < 0.5 * cost(range) AS "less than the range", few_values
FROM (VALUES ('b = 7', 'true', true), ('b < 100', 'true', true), ('b IN (7, 9)', 'true', true), ('a > 5 AND b = 7', 'a > 5', true), ('b = 7 AND c = 1', 'true', true),
	('c = 1', 'true', false), ('a = 3 AND c = 1', 'a = 3', false), ('a IN (3, 4) AND b < 5000 AND c = 1', 'a IN (3, 4) AND b < 5000', false)) v (condition, range, few_values);
-- and so it is chosen, or not
RESET enable_seqscan;
SET enable_indexonlyscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE b = 7;
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE c = 1 AND b > 3;

DROP FUNCTION cost;
DROP TABLE t;

-- Keys that leaves have cut come from rows, each somewhere else: a sort, a bitmap, a sequential scan are faster where there are many, and what
-- needs no keys is as fast as ever.
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET enable_indexonlyscan;
SET surfidx.auto_merge = off;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE cut AS SELECT hashint8extended(i, 1) AS n, i AS v, repeat('x', 60) AS pad FROM generate_series(1, 50000) i;
CREATE INDEX cut_n ON cut USING surfidx (n);
VACUUM ANALYZE cut;
CREATE FUNCTION plans() RETURNS TABLE (query text, plan text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOREACH query IN ARRAY ARRAY['n FROM cut ORDER BY n', 'n FROM cut ORDER BY n LIMIT 100', 'n FROM cut WHERE n BETWEEN 0 AND 92233720368547758',
		'n FROM cut WHERE n BETWEEN 0 AND 922337203685477580 ORDER BY n', 'sum(n) FROM cut', 'sum(n) FROM cut WHERE n BETWEEN 0 AND 922337203685477580',
		'count(*) FROM cut', 'count(*) FROM cut WHERE n > 0', 'count(*) FROM cut WHERE n % 10 = 3', 'max(n) FROM cut', 'DISTINCT n FROM cut',
		'count(*) FROM cut a JOIN cut b USING (n)', 'a.n FROM cut a JOIN cut b ON a.n = b.n + 1 WHERE b.v < 20', 'n FROM cut WHERE n = 7', '* FROM cut WHERE n = 7'] LOOP
		plan := '';
		FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT ' || query LOOP
			plan := plan || coalesce(' < ' || substring(line FROM '^(?: *->  |)(\w[\w ]+?)(?: using \w+| on [\w ]+| \(\w+\)|)(?: \w)?$'), '');
		END LOOP;
		plan := substr(plan, 4);
		RETURN NEXT;
	END LOOP;
END $$;
CREATE TABLE whole AS SELECT * FROM plans();
ALTER INDEX cut_n SET (keys = cut);
REINDEX INDEX cut_n;
SELECT query, w.plan AS whole, c.plan AS cut FROM whole w JOIN plans() c USING (query) ORDER BY query;
DROP FUNCTION plans;
DROP TABLE cut, whole;
