SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET max_parallel_workers_per_gather = 0;
SET surfidx.auto_merge = off;

-- Merge joins between columns full of duplicates: the inner side is marked and restored for every one of them.
CREATE TABLE src AS
SELECT i AS id, nullif((i * 7919) % 60, 13) AS a, ((i * 31) % 40)::int8 AS b, 'm' || (i * 104729) % 25 AS c FROM generate_series(1, 500) i;

CREATE TABLE t_delta (id int, a int, b int8, c text COLLATE "C");
CREATE TABLE t_half (LIKE t_delta);
CREATE TABLE t_merged (LIKE t_delta);
CREATE TABLE t_built (LIKE t_delta);
CREATE VIEW tabs AS SELECT unnest(ARRAY['t_delta', 't_half', 't_merged', 't_built']) AS tab;
INSERT INTO t_built SELECT * FROM src;
SELECT format('CREATE INDEX %I ON %I USING surfidx (a)', tab || '_a', tab) FROM tabs ORDER BY 1 \gexec
SELECT format('CREATE INDEX %I ON %I USING surfidx (b DESC, c)', tab || '_bc', tab) FROM tabs ORDER BY 1 \gexec
SELECT format('CREATE INDEX %I ON %I USING surfidx (c, b)', tab || '_cb', tab) FROM tabs ORDER BY 1 \gexec
INSERT INTO t_delta SELECT * FROM src;
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 0;
INSERT INTO t_merged SELECT * FROM src;
SELECT count(surfidx_merge((tab || i)::regclass)) FROM tabs, unnest(ARRAY['_a', '_bc', '_cb']) i WHERE tab IN ('t_half', 't_merged');
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 1;
ANALYZE t_delta, t_half, t_merged, t_built;

-- The rows of a join done by merging two index scans, against a hash join of two sequential ones
CREATE FUNCTION joined(tab text, query text, only_ bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q		text := replace(query, '%t', tab);
	agg		text := 'SELECT count(*) || '' rows '' || md5(string_agg(r::text, '','' ORDER BY r::text)) FROM (' || q || ') r';
	line	text;
	plan	text := '';
	want	text;
	got		text;
BEGIN
	PERFORM set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
		set_config('enable_mergejoin', 'off', true), set_config('enable_hashjoin', 'on', true), set_config('enable_seqscan', 'on', true),
		set_config('enable_sort', 'on', true), set_config('enable_material', 'on', true);
	EXECUTE agg INTO want;
	PERFORM set_config('enable_indexscan', 'on', true),
		set_config('enable_indexonlyscan', CASE WHEN only_ THEN 'on' ELSE 'off' END, true), set_config('enable_mergejoin', 'on', true),
		set_config('enable_hashjoin', 'off', true), set_config('enable_nestloop', 'off', true), set_config('enable_seqscan', 'off', true),
		set_config('enable_sort', 'off', true), set_config('enable_material', 'off', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || q LOOP
		plan := plan || line || E'\n';
	END LOOP;
	EXECUTE agg INTO got;
	IF plan !~ 'Merge' OR plan ~ 'Sort' OR plan ~ 'Materialize' OR only_ <> (plan ~ 'Index Only') THEN
		RETURN 'not merged: ' || plan;
	END IF;
	RETURN CASE WHEN got = want THEN 'ok, ' || split_part(got, ' ', 1) || ' rows' ELSE format('WRONG: %s, should be %s', got, want) END;
END $$;

CREATE TABLE queries (q text, only_ bool);
INSERT INTO queries VALUES
	('SELECT x.a, y.a AS y FROM %t x JOIN %t y ON x.a = y.a', true),
	('SELECT x.id, y.id AS y FROM %t x JOIN %t y ON x.a = y.a', false),
	('SELECT x.a, y.b FROM %t x JOIN %t y ON x.a = y.b WHERE x.a IS NOT NULL', true),
	('SELECT x.id, y.id AS y FROM %t x JOIN %t y ON x.b = y.b AND x.c = y.c', false),
	('SELECT x.b, x.c, y.b AS y FROM %t x JOIN %t y ON x.c = y.c AND x.b = y.b', true),
	('SELECT x.id, y.id AS y FROM %t x LEFT JOIN %t y ON x.c = y.c AND x.b = y.b AND x.id < y.id', false),
	('SELECT x.a, y.a AS y FROM %t x JOIN %t y ON x.a = y.a WHERE x.a IN (3, 17, 18, 44, 500) AND y.a IN (3, 17, 18, 44, 1000)', true),
	('SELECT x.a, y.a AS y FROM %t x FULL JOIN %t y ON x.a = y.a', true);
SELECT q, tab, joined(tab, q, only_) FROM queries, tabs ORDER BY q COLLATE "C", tab;

-- Different tables, so that one side has its rows in the delta and the other in leaves
SELECT x.tab AS outer_, y.tab AS inner_, joined(x.tab, 'SELECT x.id, y.id AS y FROM %t x JOIN ' || y.tab || ' y ON x.a = y.a AND x.id <> y.id', false)
FROM tabs x, tabs y WHERE x.tab <> y.tab ORDER BY 1, 2;

SET enable_seqscan = off;
SET enable_sort = off;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT x.id, y.id FROM t_half x JOIN t_half y ON x.b = y.b AND x.c = y.c;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t_delta x JOIN t_merged y ON x.a = y.a;
SELECT count(*) FROM t_delta x JOIN t_merged y ON x.a = y.a;
RESET ALL;

DROP VIEW tabs;
DROP TABLE src, t_delta, t_half, t_merged, t_built, queries;
DROP FUNCTION joined;
