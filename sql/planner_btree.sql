SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET surfidx.unique_notice = off;
SET max_parallel_workers_per_gather = 0;
SET enable_memoize = off;
\pset tuples_only on
\pset format unaligned
-- Tables without a surfidx index get the same plans whether our hooks act or not, also beside tables that have one.
CREATE SCHEMA pb;
SET search_path = pb, public;
CREATE TABLE t (id int PRIMARY KEY, k int8, f bool, ip inet, p text, c text COLLATE "C", d date, h int, g point, j jsonb)
	WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i % 1000, i % 500 = 0, '10.0.0.0'::inet + i * 7, 'p' || i, 'c' || i, date '2020-01-01' + i % 700, i, point(i, i), '{}'
	FROM generate_series(1, 5000) i;
CREATE INDEX t_kd ON t (k, d);
CREATE INDEX t_f ON t (f);
CREATE INDEX t_ip ON t (ip);
CREATE INDEX t_p ON t (p text_pattern_ops);
CREATE INDEX t_c ON t (c);
CREATE INDEX t_h ON t USING hash (h);
CREATE INDEX t_g ON t USING gist (g);
CREATE INDEX t_j ON t USING gin (j);
CREATE INDEX t_brin ON t USING brin (d);
CREATE INDEX t_part ON t (d) WHERE f;
CREATE UNIQUE INDEX t_expr ON t ((id + 1), k);
CREATE TABLE part (k int, v int, PRIMARY KEY (k)) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (1000);
CREATE TABLE part2 PARTITION OF part FOR VALUES FROM (1000) TO (2000);
INSERT INTO part SELECT i, i FROM generate_series(0, 1999) i;
CREATE TABLE other (id int, v int);
INSERT INTO other SELECT i, i FROM generate_series(1, 2000) i;
CREATE UNIQUE INDEX other_id ON other USING surfidx (id);
VACUUM ANALYZE t, part, other;

CREATE TABLE queries (n serial, q text);
INSERT INTO queries (q) VALUES
	('SELECT * FROM t WHERE id = 5'),
	('SELECT * FROM t WHERE id = 5::int8 OR k = 7'),
	('SELECT * FROM t WHERE (k, d) > (990, date ''2021-01-01'') ORDER BY k, d'),
	('SELECT * FROM t WHERE f'),
	('SELECT * FROM t WHERE NOT f AND k = 5'),
	('SELECT * FROM t WHERE ip << ''10.0.4.0/24'''),
	('SELECT * FROM t WHERE p LIKE ''p12%'''),
	('SELECT * FROM t WHERE c LIKE ''c12%'''),
	('SELECT * FROM t WHERE h = 77'),
	('SELECT * FROM t WHERE g <@ box ''(0,0),(5,5)'''),
	('SELECT * FROM t ORDER BY g <-> point(3, 3) LIMIT 5'),
	('SELECT * FROM t WHERE j @> ''{"a": 1}'''),
	('SELECT * FROM t WHERE d = ''2020-02-02'' AND f'),
	('SELECT min(k), max(id) FROM t'),
	('SELECT k, d FROM t WHERE k IN (1, 2, 3) ORDER BY k DESC, d DESC'),
	('SELECT x.k FROM t x LEFT JOIN t y ON x.k = y.id'),
	('SELECT x.* FROM t x JOIN t y ON x.k = y.id'),
	('SELECT x.* FROM t x JOIN t y ON x.k = y.id AND x.id + 1 = y.k'),
	('SELECT * FROM t WHERE id IN (SELECT k FROM t)'),
	('SELECT * FROM part WHERE k < 1500 ORDER BY k DESC'),
	('SELECT p.v FROM part p LEFT JOIN part q ON p.v = q.k'),
	('SELECT t.* FROM t JOIN other o ON o.v = t.id WHERE o.v < 100'),
	('SELECT t.* FROM t WHERE EXISTS (SELECT FROM other o WHERE o.v = t.id)'),
	('INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING'),
	('INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET k = 1'),
	('INSERT INTO part VALUES (1) ON CONFLICT (k) DO UPDATE SET v = 1'),
	('UPDATE t SET k = 1 WHERE id = 5');

CREATE FUNCTION plans(lift text) RETURNS TABLE (n int, plan text) LANGUAGE plpgsql AS $$
DECLARE
	query	queries;
	line	text;
BEGIN
	PERFORM set_config('surfidx.planner_lift', lift, true), set_config('surfidx.onconflict_lift', lift, true);
	FOR query IN SELECT * FROM queries LOOP
		n := query.n;
		plan := '';
		-- costs and all
		FOR line IN EXECUTE 'EXPLAIN (VERBOSE) ' || query.q LOOP
			plan := plan || line || E'\n';
		END LOOP;
		RETURN NEXT;
	END LOOP;
END $$;
CREATE TEMP TABLE with_lift AS SELECT * FROM plans('on');
CREATE TEMP TABLE without_lift AS SELECT * FROM plans('off');
SELECT count(*) AS queries, count(*) FILTER (WHERE a.plan = b.plan) AS same
FROM with_lift a JOIN without_lift b USING (n);
SELECT q, a.plan, b.plan FROM with_lift a JOIN without_lift b USING (n) JOIN queries USING (n) WHERE a.plan <> b.plan ORDER BY n;

-- ON CONFLICT on tables with btree alone
SET surfidx.onconflict_lift = on;
INSERT INTO t VALUES (1), (7001) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO t VALUES (1), (7002) ON CONFLICT (id) DO UPDATE SET k = 0 RETURNING id, k;
INSERT INTO part VALUES (1, 0), (1001, 0) ON CONFLICT (k) DO UPDATE SET v = -1 RETURNING k, v;

SET client_min_messages = warning;
DROP SCHEMA pb CASCADE;
DROP TABLE with_lift, without_lift;
