-- Aggregates, too, obey advice against index scans of one table: since 19 an extension may; before, a setting for all tables
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE t (a int NOT NULL, b int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT g, g % 9 FROM generate_series(1, 20000) g;
CREATE INDEX t_a ON t USING surfidx (a);
CREATE INDEX t_b ON t USING surfidx (b);
VACUUM ANALYZE t;
CREATE FUNCTION by_index(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	line	text;
	found	bool := false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		found := found OR line ~ 'SurfidxAggregate';
	END LOOP;
	RETURN found;
END $$;
SELECT current_setting('server_version_num')::int >= 190000 AS advised \gset
SELECT by_index('SELECT count(*), max(a) FROM t WHERE a > 5'), by_index('SELECT b, count(*) FROM t GROUP BY b');
\if :advised
	LOAD 'pg_plan_advice';
	SET pg_plan_advice.advice = 'SEQ_SCAN(t)';
\else
	SET enable_indexscan = off;
\endif
SELECT by_index('SELECT count(*), max(a) FROM t WHERE a > 5'), by_index('SELECT b, count(*) FROM t GROUP BY b');
\if :advised
	SET pg_plan_advice.advice = 'INDEX_ONLY_SCAN(t t_a)';
\else
	SET enable_indexscan = on;
\endif
SELECT by_index('SELECT count(*), max(a) FROM t WHERE a > 5');
DROP TABLE t;
DROP FUNCTION by_index;
