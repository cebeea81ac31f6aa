SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- Costs: what a clause saves.  One behind a column that no equality fixes saves nothing of the range that is read,
-- whatever core's estimate for btree makes of it (18 counts on skip scans).
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
SELECT condition, cost(condition) > 0.25 * cost(range) AS "as the range, but for the rows"
FROM (VALUES ('b = 7', 'true'), ('c = 1', 'true'), ('b = 7 AND c = 1', 'true'), ('a > 5 AND b = 7', 'a > 5'), ('a = 3 AND c = 1', 'a = 3'),
	('a IN (3, 4) AND b < 5000 AND c = 1', 'a IN (3, 4) AND b < 5000')) v (condition, range);

DROP FUNCTION cost;
DROP TABLE t;
