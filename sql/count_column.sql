-- count(column) of a column that may be NULL, with which an index begins: count(*) of the others
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.auto_merge = off;
CREATE TYPE pair AS (a int, b int);
CREATE TABLE t (k text, v int, w int NOT NULL, p pair);
INSERT INTO t SELECT CASE WHEN i % 3 > 0 THEN 'key ' || i END, nullif(i % 7, 0), i,
	CASE i % 3 WHEN 0 THEN row(i, NULL)::pair WHEN 1 THEN row(NULL, NULL)::pair END
	FROM generate_series(1, 20000) i;
CREATE INDEX t_k ON t USING surfidx (k);
CREATE INDEX t_vw ON t USING surfidx (v DESC, w);
CREATE INDEX t_p ON t USING surfidx (p);
CREATE INDEX t_w ON t USING surfidx (w);
VACUUM ANALYZE t;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT count(k) FROM t;
EXPLAIN (COSTS OFF) SELECT count(v) + 1 AS more, count(v) FROM t WHERE v > 3;
EXPLAIN (COSTS OFF) SELECT count(w) FROM t;
EXPLAIN (COSTS OFF) SELECT x.n FROM (SELECT count(k) AS n FROM t) x;
EXPLAIN (COSTS OFF) SELECT count(k), count(v) FROM t;
CREATE TABLE queries (n int, q text);
INSERT INTO queries SELECT row_number() OVER (), q FROM unnest(ARRAY[
	'SELECT count(k) FROM t', 'SELECT count(v) FROM t', 'SELECT count(p) FROM t', 'SELECT count(w) FROM t',
	'SELECT count(k), count(k) * 2, 7 FROM t', 'SELECT count(k), count(*) FROM t', 'SELECT count(k), count(v) FROM t',
	'SELECT count(k) FILTER (WHERE w > 500) FROM t', 'SELECT count(DISTINCT v) FROM t',
	'SELECT count(k) FROM t WHERE k IS NULL', 'SELECT count(k) FROM t WHERE k > ''key 5''',
	'SELECT count(k) FROM t WHERE w < 1000 OR k IS NULL', 'SELECT count(v) FROM t WHERE w % 2 = 0 AND v IN (1, 5)',
	'SELECT count(k) FROM t WHERE false', 'SELECT count(k) FROM t HAVING count(k) > 10', 'SELECT count(k) FROM t GROUP BY ()',
	'SELECT v, count(k) FROM t GROUP BY v ORDER BY v', 'SELECT count(a.k) FROM t a JOIN t b USING (w)',
	'SELECT count(k) FROM t TABLESAMPLE system (100)', 'SELECT count(k) OVER () FROM t LIMIT 1',
	'SELECT count(k) FROM t LIMIT 0', 'SELECT DISTINCT count(k) FROM t', 'SELECT count(k) FROM t ORDER BY count(k)',
	'SELECT count(k) FROM t UNION ALL SELECT count(v) FROM t ORDER BY 1',
	'WITH c AS MATERIALIZED (SELECT count(k) n FROM t) SELECT n FROM c',
	'SELECT w, (SELECT count(v) FROM t i WHERE i.w < o.w) FROM t o WHERE w < 10 ORDER BY w',
	'SELECT (SELECT count(o.k) FROM t i WHERE i.w = 1) FROM t o',
	'SELECT count(k) FROM (SELECT k FROM t ORDER BY w OFFSET 3) x', 'SELECT w FROM t WHERE w = (SELECT count(k) FROM t)']) q;
CREATE FUNCTION answer(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a text;
BEGIN
	EXECUTE format('SELECT string_agg(x::text, %L) FROM (%s) x', '; ', q) INTO a;
	RETURN coalesce(a, 'no rows');
END $$;
CREATE FUNCTION differences() RETURNS TABLE (q text, ours text, cores text) LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT * FROM queries ORDER BY n LOOP
		q := r.q;
		PERFORM set_config('surfidx.aggregates', 'on', true);
		ours := answer(r.q);
		PERFORM set_config('surfidx.aggregates', 'off', true);
		PERFORM set_config('enable_indexonlyscan', 'off', true);
		PERFORM set_config('enable_indexscan', 'off', true);
		PERFORM set_config('enable_bitmapscan', 'off', true);
		cores := answer(r.q);
		PERFORM set_config('enable_indexonlyscan', 'on', true);
		PERFORM set_config('enable_indexscan', 'on', true);
		PERFORM set_config('enable_bitmapscan', 'on', true);
		IF ours IS DISTINCT FROM cores THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT n, answer(q) FROM queries ORDER BY n;
SELECT * FROM differences();
-- with rows that wait in the delta, and dead ones
INSERT INTO t SELECT CASE WHEN i % 2 = 0 THEN 'new ' || i END, NULL, -i, NULL FROM generate_series(1, 500) i;
DELETE FROM t WHERE w % 10 = 0;
SELECT * FROM differences();
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM differences();
COMMIT;
-- a plan is kept; the index goes, the column becomes NOT NULL
PREPARE counted AS SELECT count(v) FROM t;
EXECUTE counted;
DROP INDEX t_vw;
EXECUTE counted;
UPDATE t SET v = 8 WHERE v IS NULL;
ALTER TABLE t ALTER v SET NOT NULL;
CREATE INDEX t_v ON t USING surfidx (v);
EXECUTE counted;
SELECT * FROM differences();
-- a condition with side effects is evaluated for all rows
CREATE SEQUENCE asked;
SELECT count(k) FROM t WHERE w + nextval('asked') * 0 = w;
SELECT last_value = (SELECT count(*) FROM t) AS for_all FROM asked;
DROP SEQUENCE asked;
-- a function that not all may call; a table whose rows not all may see
CREATE ROLE surfidx_counter;
GRANT SELECT (k) ON t TO surfidx_counter;
SET ROLE surfidx_counter;
SELECT count(k) FROM t;
SELECT count(v) FROM t;
RESET ROLE;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON t USING (k LIKE 'new%');
SET ROLE surfidx_counter;
SELECT count(k) FROM t;
RESET ROLE;
DROP TABLE t, queries;
DROP FUNCTION answer, differences;
DROP TYPE pair;
DROP ROLE surfidx_counter;
