-- Index-only scans whose columns are not read return TIDs alone; if any are read, they return all columns
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/verdict.sql'
\set ECHO none
\i :helpers
\set ECHO all
-- rows one by one
SET surfidx.aggregates = off;
CREATE TABLE src AS SELECT i AS id, nullif('key ' || lpad(((i * 7919) % 700)::text, 5, '0'), 'key 00007') AS k, i % 9 AS b, 'pay' || i AS p FROM generate_series(1, 6000) i;
CREATE TABLE t_delta (id int, k text COLLATE "C", b int, p text);
CREATE TABLE t_few (LIKE t_delta);
CREATE TABLE t_half (LIKE t_delta);
CREATE TABLE t_runs (LIKE t_delta);
CREATE TABLE t_built (LIKE t_delta);
CREATE VIEW tabs AS SELECT unnest(ARRAY['t_delta', 't_few', 't_half', 't_runs', 't_built']) AS tab;
INSERT INTO t_built SELECT * FROM src;
INSERT INTO t_few SELECT * FROM src WHERE id % 1000 <> 0;
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 0;
INSERT INTO t_runs SELECT * FROM src WHERE id % 5 = 0;
SELECT format('CREATE INDEX %I ON %I USING surfidx (k)', tab || '_k', tab) FROM tabs ORDER BY 1 \gexec
SELECT format('CREATE INDEX %I ON %I USING surfidx (b, id) INCLUDE (p)', tab || '_bi', tab) FROM tabs ORDER BY 1 \gexec
INSERT INTO t_delta SELECT * FROM src;
INSERT INTO t_few SELECT * FROM src WHERE id % 1000 = 0;
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 1;
-- a run over a part of the keys
ALTER INDEX t_runs_k SET (delta_size = 64, run_ratio = 10, merge_ratio = 10);
ALTER INDEX t_runs_bi SET (delta_size = 64, run_ratio = 10, merge_ratio = 10);
INSERT INTO t_runs SELECT id, 'key 001' || id, b, p FROM src WHERE id % 3 = 1;
VACUUM t_runs;
SELECT array_agg(entries) AS runs FROM surfidx_runs('t_runs_k');
VACUUM ANALYZE t_built;
ANALYZE t_delta, t_few, t_half, t_runs;

CREATE TABLE queries (q text);
INSERT INTO queries VALUES
	-- nothing of the rows is read
	('SELECT count(*) FROM %t WHERE k IS NOT NULL'), ('SELECT count(*) FROM %t WHERE k IS NULL'), ('SELECT count(*) FROM %t WHERE k > ''key 00100'''),
	('SELECT count(*) FROM %t WHERE k BETWEEN ''key 00100'' AND ''key 00103'''), ('SELECT count(*) FROM %t WHERE k = ''key 00100'''),
	('SELECT count(*) FROM %t WHERE k IN (''key 00100'', ''key 00101'', ''key 00690'')'), ('SELECT 7 FROM %t WHERE k < ''key 00010'''),
	('SELECT count(*) FROM %t WHERE b = 3'), ('SELECT count(*) FROM %t WHERE b >= 3 AND id > 5000'), ('SELECT count(*) FROM %t WHERE b IN (2, 4, 7) AND id BETWEEN 100 AND 4000'),
	('SELECT EXISTS (SELECT 1 FROM %t WHERE k > ''key 00500'')'), ('SELECT EXISTS (SELECT 1 FROM %t WHERE k > ''lock'')'),
	('SELECT count(*) FROM (SELECT 1 FROM %t WHERE k > ''key 00100'' LIMIT 400) x'), ('SELECT 1 FROM %t WHERE k > ''key 00600'' ORDER BY k DESC LIMIT 30'),
	('SELECT g FROM generate_series(1, 9) g WHERE EXISTS (SELECT 1 FROM %t WHERE b = g AND id > 5990)'),
	('SELECT g, (SELECT count(*) FROM %t WHERE b = g AND id > 100) FROM generate_series(1, 9) g'),
	-- something is
	('SELECT count(*), count(k) FROM %t WHERE k > ''key 00100'''), ('SELECT count(*) FILTER (WHERE k > ''key 00300'') FROM %t WHERE k > ''key 00100'''),
	('SELECT count(*), min(p) FROM %t WHERE b = 3'), ('SELECT count(*) FROM %t WHERE b = 3 AND p > ''pay3'''), ('SELECT count(*) FROM %t WHERE b = 3 HAVING max(id) > 4000'),
	('SELECT count(*) FROM %t WHERE b > 3 AND id % 3 = 1'), ('SELECT b, count(*) FROM %t WHERE b > 3 GROUP BY b'), ('SELECT count(DISTINCT id) FROM %t WHERE b > 3'),
	('SELECT string_agg(''x'', '''' ORDER BY id) FROM %t WHERE b = 3 AND id < 100'), ('SELECT id % 2, count(*) FROM %t WHERE b = 3 GROUP BY GROUPING SETS ((id % 2), ())'),
	('SELECT (SELECT count(*) FROM generate_series(1, t.id)) FROM %t t WHERE b = 3 AND id < 200'), ('SELECT count(*) OVER (), k FROM %t WHERE k > ''key 00690'''),
	('SELECT id IS NULL, k FROM (SELECT id, ''one'' AS k FROM %t WHERE b = 3 AND id < 100) x'), ('SELECT DISTINCT b FROM %t WHERE b > 3');

-- (from 16 on core sorts for count(DISTINCT))
CREATE FUNCTION ask() RETURNS TABLE (tab text, asked bigint, wrong bigint, example text) LANGUAGE sql AS $$
	SELECT tab, count(*), count(*) FILTER (WHERE v NOT IN ('ok', 'sorted')), min(q || ': ' || v) FILTER (WHERE v NOT IN ('ok', 'sorted'))
	FROM (SELECT tab, q, verdict(tab, q, 'only') AS v FROM tabs, queries) r GROUP BY tab ORDER BY tab
$$;
CREATE FUNCTION ask_plain() RETURNS TABLE (tab text, asked bigint, wrong bigint, example text) LANGUAGE sql AS $$
	SELECT tab, count(*), count(*) FILTER (WHERE v NOT IN ('ok', 'sorted')), min(q || ': ' || v) FILTER (WHERE v NOT IN ('ok', 'sorted'))
	FROM (SELECT tab, q, verdict(tab, q, how) AS v FROM tabs, queries, unnest(ARRAY['index', 'bitmap']) how WHERE how = 'index' OR q !~ 'LIMIT|EXISTS|SELECT g') r GROUP BY tab ORDER BY tab
$$;
SELECT * FROM ask();
SELECT * FROM ask_plain();
-- a run over all of them, and some more in the delta
INSERT INTO t_runs SELECT * FROM src WHERE id % 5 IN (1, 2);
VACUUM t_runs;
SELECT array_agg(entries) AS runs FROM surfidx_runs('t_runs_bi');
INSERT INTO t_runs SELECT * FROM src WHERE id % 5 = 3 AND k < 'key 00080';
SELECT * FROM ask();
-- rows that nobody sees, found dead by the first scan; then removed; then others in their places
DELETE FROM t_delta WHERE id % 10 = 3;
DELETE FROM t_few WHERE id % 10 = 3;
DELETE FROM t_half WHERE id % 10 = 3;
DELETE FROM t_runs WHERE id % 10 = 3;
DELETE FROM t_built WHERE id % 10 = 3;
SELECT * FROM ask();
SELECT * FROM ask_plain();
VACUUM t_delta, t_few, t_half, t_runs, t_built;
SELECT * FROM ask();
INSERT INTO t_built SELECT * FROM src WHERE id % 10 = 3;
INSERT INTO t_runs SELECT * FROM src WHERE id % 10 = 3;
SELECT * FROM ask();
SELECT count(surfidx_check((tab || x)::regclass, true)) FROM tabs, unnest(ARRAY['_k', '_bi']) x;

-- A cursor may turn round anywhere, which takes the key of the row that it stands on.
CREATE FUNCTION zigzag(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c		refcursor;
	r		record;
	at		int := 0;
	n		int;
	seed	int := 4711;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE 'SELECT count(*) FROM (' || q || ') x' INTO n;
	OPEN c SCROLL FOR EXECUTE q;
	FOR i IN 1..3000 LOOP
		seed := (seed::bigint * 1103515245 + 12345) % 2147483648;
		IF (seed >> 8) % 300 < 160 THEN
			FETCH NEXT FROM c INTO r;
			at := least(at + 1, n + 1);
		ELSE
			FETCH PRIOR FROM c INTO r;
			at := greatest(at - 1, 0);
		END IF;
		IF found <> (at BETWEEN 1 AND n) THEN
			RETURN format('step %s: at %s of %s, found %s', i, at, n, found);
		END IF;
	END LOOP;
	RETURN 'ok';
END $$;
SELECT tab, zigzag(format('SELECT 1 FROM %I WHERE k >= ''key 00690''', tab)), zigzag(format('SELECT 1 FROM %I WHERE b = 3 AND id < 900', tab)) FROM tabs;

-- Joins of two: which side's columns are read is told apart.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_seqscan = off;
SET enable_material = off;
CREATE FUNCTION nodes(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line	text;
	plan	text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || q LOOP
		plan := plan || ' ' || coalesce(substring(line FROM '(Nested Loop[^>]*|Index Only Scan|Memoize|Aggregate|Append)'), '');
	END LOOP;
	RETURN btrim(regexp_replace(plan, ' +', ' ', 'g'));
END $$;
SELECT nodes(q) FROM (VALUES ('SELECT x.id FROM t_built x, t_half y WHERE x.b = 3 AND x.id < 100 AND y.b = 4 AND y.id < 50'), ('SELECT y.id FROM t_built x, t_half y WHERE x.b = 3 AND x.id < 100 AND y.b = 4 AND y.id < 50')) v (q);
SELECT count(x.id), sum(x.id) FROM t_built x, t_half y WHERE x.b = 3 AND x.id < 100 AND y.b = 4 AND y.id < 50;
SELECT count(y.id), sum(y.id) FROM t_built x, t_half y WHERE x.b = 3 AND x.id < 100 AND y.b = 4 AND y.id < 50;
SELECT count(*) FROM t_built x, t_half y WHERE x.b = 3 AND x.id < 100 AND y.b = 4 AND y.id < 50;
SELECT count(*), count(y.id) FROM t_built x LEFT JOIN t_half y ON y.b = 4 AND y.id = x.id + 1 WHERE x.b = 3 AND x.id < 100;
SELECT count(*) FROM t_built x WHERE x.b = 3 AND NOT EXISTS (SELECT 1 FROM t_half y WHERE y.b = 4 AND y.id = x.id + 1);
SELECT count(*) FROM t_built x, t_half y WHERE x.b = 3 AND x.id < 300 AND y.b = 4 AND y.id < 300 AND x.id + y.id = 305;

-- Partitions, aggregates of parts by workers, functions, prepared statements: plans of any other making
SET enable_partitionwise_aggregate = on;
CREATE TABLE part (k text COLLATE "C", n int) PARTITION BY LIST (n);
CREATE TABLE part_0 PARTITION OF part FOR VALUES IN (0);
CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1);
CREATE INDEX ON part USING surfidx (k);
INSERT INTO part SELECT k, id % 2 FROM src;
VACUUM ANALYZE part;
SELECT count(*) FROM part WHERE k > 'key 00300';
SELECT count(k), count(*) FROM part WHERE k > 'key 00300';
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT count(*) FROM t_built WHERE k > 'key 00300';
SELECT count(k), count(*) FROM t_built WHERE k > 'key 00300';
SELECT count(*) FROM t_runs WHERE k > 'key 00300';
RESET max_parallel_workers_per_gather;
CREATE FUNCTION above(t text) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM t_built WHERE k > t';
CREATE FUNCTION least_above(t text) RETURNS text LANGUAGE plpgsql STABLE AS 'BEGIN RETURN (SELECT min(k) || '' '' || count(*) FROM t_built WHERE k > t); END';
SELECT above(k), least_above(k) FROM (SELECT DISTINCT k FROM t_built WHERE k > 'key 00696') x ORDER BY 1 DESC;
PREPARE q (text) AS SELECT count(*) FROM t_built WHERE k >= $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE q ('key 00300');
EXECUTE q ('key 00699');
-- rows measured are rows counted
CREATE FUNCTION counted(q text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	x	json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || q INTO x;
	RETURN (x -> 0 -> 'Plan' -> 'Plans' -> 0 ->> 'Actual Rows')::numeric;
END $$;
SELECT counted('SELECT count(*) FROM t_built WHERE k >= ''key 00690''');
-- WHERE CURRENT OF goes by the TID
BEGIN;
DECLARE c CURSOR FOR SELECT 1 FROM t_half WHERE b = 4 AND id BETWEEN 100 AND 180;
FETCH 2 FROM c;
DELETE FROM t_half WHERE CURRENT OF c RETURNING id;
ROLLBACK;
