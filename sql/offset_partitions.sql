-- The rows of OFFSET are passed over partition by partition: the same rows as with btree, and without fetching those before

\getenv srcdir PG_ABS_SRCDIR
\set pages :srcdir '/sql/helpers/pages.sql'
\set ECHO none
\i :pages
\set ECHO all

-- Fewer than 64 rows are left to core
\set offsets '''{0,17,3000,4299,7000,8100,12000,18300,9223372036854775807}'', 66'

-- Partitions of k, one of them with partitions of its own, one empty
SELECT twice('CREATE TABLE %t (id int, k int, g int, v text) PARTITION BY RANGE (k);
	CREATE TABLE %t_1 PARTITION OF %t FOR VALUES FROM (0) TO (4000) WITH (autovacuum_enabled = off);
	CREATE TABLE %t_2 PARTITION OF %t FOR VALUES FROM (4000) TO (12000) PARTITION BY RANGE (k);
	CREATE TABLE %t_2a PARTITION OF %t_2 FOR VALUES FROM (4000) TO (8000) WITH (autovacuum_enabled = off);
	CREATE TABLE %t_2b PARTITION OF %t_2 FOR VALUES FROM (8000) TO (8100) WITH (autovacuum_enabled = off);
	CREATE TABLE %t_2c PARTITION OF %t_2 FOR VALUES FROM (8100) TO (12000) WITH (autovacuum_enabled = off);
	CREATE TABLE %t_3 PARTITION OF %t FOR VALUES FROM (12000) TO (13000) WITH (autovacuum_enabled = off);
	CREATE TABLE %t_4 PARTITION OF %t FOR VALUES FROM (14000) TO (30000) WITH (autovacuum_enabled = off);
	INSERT INTO %t SELECT i, k, i % 3, md5(i::text) FROM (SELECT i, i * 7919::bigint % 20011 AS k FROM generate_series(1, 20000) i) x
		WHERE k NOT BETWEEN 12000 AND 13999;
	INSERT INTO %t SELECT 20000 + i, 777, i % 3, NULL FROM generate_series(1, 300) i');
CREATE INDEX s_k ON t_surf USING surfidx (k, id);
CREATE INDEX s_gk ON t_surf USING surfidx (g, k, id);
CREATE INDEX b_k ON t_tree (k, id);
CREATE INDEX b_gk ON t_tree (g, k, id);
ANALYZE t_surf, t_tree;

SELECT plan('SELECT k, id FROM t_surf ORDER BY k, id LIMIT 3 OFFSET 9000');

INSERT INTO asked (query) VALUES
('SELECT k, id FROM %t ORDER BY k, id LIMIT 3 OFFSET %o'),
('SELECT k, id FROM %t ORDER BY k DESC, id DESC LIMIT 3 OFFSET %o'),
('SELECT * FROM %t ORDER BY k, id LIMIT 3 OFFSET %o'),
('SELECT * FROM %t ORDER BY k DESC, id DESC LIMIT 3 OFFSET %o'),
('SELECT k + 1 AS k1, id FROM %t WHERE k > 500 AND k < 19000 ORDER BY k, id LIMIT 2 OFFSET %o'),
('SELECT k, id FROM %t WHERE k > 500 AND k < 9000 ORDER BY k DESC, id DESC LIMIT 2 OFFSET %o'),
('SELECT g, k, id FROM %t WHERE g = 1 ORDER BY k, id LIMIT 2 OFFSET %o'),
('SELECT g, k, id, v FROM %t WHERE g = 2 ORDER BY k DESC, id DESC LIMIT 2 OFFSET %o'),
('SELECT k FROM %t ORDER BY k OFFSET %o FETCH FIRST 1 ROWS WITH TIES'),
('SELECT k FROM %t WHERE k > (SELECT 5000) ORDER BY k OFFSET %o LIMIT 2');

\echo built, not all-visible
SELECT * FROM differences(:offsets);
\echo all-visible
VACUUM t_surf, t_tree;
SELECT * FROM differences(:offsets);
\echo a delta, all-visible; then changed rows
SELECT twice('INSERT INTO %t SELECT 30000 + i, i * 29 % 11000, i % 3, NULL FROM generate_series(1, 620) i');
VACUUM (INDEX_CLEANUP OFF) t_surf, t_tree;
SELECT * FROM differences(:offsets);
SELECT twice('UPDATE %t SET v = ''!'' WHERE id % 20 = 3;
	UPDATE %t SET k = k + 1 WHERE id % 20 = 4 AND k NOT BETWEEN 11990 AND 14000;
	DELETE FROM %t WHERE id % 20 = 5');
SELECT * FROM differences(:offsets);
\echo SERIALIZABLE
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM differences(:offsets);
COMMIT;

-- partitions that are left out when the plan is set up, when it runs, and as it goes on
SET plan_cache_mode = force_generic_plan;
PREPARE page(bigint, int) AS SELECT k, id FROM t_surf WHERE k > $2 ORDER BY k, id LIMIT 2 OFFSET $1;
PREPARE page_tree(bigint, int) AS SELECT k, id FROM t_tree WHERE k > $2 ORDER BY k, id LIMIT 2 OFFSET $1;
EXECUTE page(5000, 100);
EXECUTE page_tree(5000, 100);
EXECUTE page(3000, 9000);
EXECUTE page_tree(3000, 9000);
EXECUTE page(0, 15000);
EXECUTE page_tree(0, 15000);
EXECUTE page(3, 25000);
SELECT * FROM scanned('EXECUTE page(5000, 100)');
RESET plan_cache_mode;
SET enable_material = off;
SET enable_memoize = off;
SELECT rows_of(replace(q, '%t', 't_surf')) = rows_of(replace(q, '%t', 't_tree'))
	FROM unnest(ARRAY['SELECT x, (SELECT k FROM %t WHERE k >= x * 100 ORDER BY k, id LIMIT 1 OFFSET x * 40) FROM generate_series(0, 250) x',
		'SELECT x, (SELECT k FROM %t WHERE k >= x * 100 AND k < x * 150 ORDER BY k DESC, id DESC LIMIT 1 OFFSET 80) FROM generate_series(0, 250) x',
		'SELECT * FROM generate_series(1, 30) x, LATERAL (SELECT k, id FROM %t WHERE g = x % 3 AND k > x * 300 ORDER BY k, id LIMIT 1 OFFSET x * 70) y']) q;

-- a cursor goes back to the window's first row, no further, over the border of partitions
BEGIN;
DECLARE s SCROLL CURSOR FOR SELECT k FROM t_surf WHERE k > 3000 ORDER BY k LIMIT 4 OFFSET (SELECT count(*) - 2 FROM t_surf WHERE k > 3000 AND k < 8000);
DECLARE b SCROLL CURSOR FOR SELECT k FROM t_tree WHERE k > 3000 ORDER BY k LIMIT 4 OFFSET (SELECT count(*) - 2 FROM t_tree WHERE k > 3000 AND k < 8000);
FETCH BACKWARD 1 FROM s;
FETCH 3 FROM s;
FETCH 3 FROM b;
FETCH BACKWARD 5 FROM s;
FETCH BACKWARD 5 FROM b;
FETCH 9 FROM s;
FETCH 9 FROM b;
FETCH ABSOLUTE 2 FROM s;
FETCH ABSOLUTE 2 FROM b;
COMMIT;

-- a partition without the index is sorted, and its rows are fetched, those of the others are not
DROP INDEX s_k, b_k, s_gk, b_gk;
SELECT twice('CREATE INDEX ON %t_2a (k)');
CREATE INDEX ON t_surf_1 USING surfidx (k);
CREATE INDEX ON t_surf_2c USING surfidx (k);
CREATE INDEX ON t_surf_4 USING surfidx (k);
VACUUM ANALYZE t_surf, t_tree;
SELECT plan('SELECT k FROM t_surf ORDER BY k LIMIT 1 OFFSET 12000');
SELECT o, rows_of(format('SELECT k FROM t_surf ORDER BY k LIMIT 3 OFFSET %s', o)) IS NOT DISTINCT FROM
	rows_of(format('SELECT k FROM t_tree ORDER BY k LIMIT 3 OFFSET %s', o)) AS same,
	(scanned(format('SELECT k FROM t_surf ORDER BY k LIMIT 3 OFFSET %s', o))).scan < 5000 AS few
	FROM unnest('{0,100,3000,4300,7900,8150,12000,16000,30000}'::int[]) o;
-- the last plan is read without an index, and is not asked again at its end
SELECT plan('SELECT k FROM t_surf_1 WHERE k >= 0 UNION ALL SELECT k FROM t_surf_2b LIMIT 2 OFFSET 4000');
SELECT d, cardinality(rows_of(format('SELECT k FROM t_surf_1 WHERE k >= 0 UNION ALL SELECT k FROM t_surf_2b LIMIT 2 OFFSET %s', n + d)))
	FROM (SELECT (SELECT count(*) FROM t_surf_1) + (SELECT count(*) FROM t_surf_2b) AS n) x, unnest('{-100,-2,-1,0,1,50}'::int[]) d;

-- its price: no sort, where core would sort for a page far off
RESET enable_seqscan;
RESET enable_bitmapscan;
UPDATE t_surf SET v = repeat('v', 200);
CREATE INDEX ON t_surf USING surfidx (k);
VACUUM ANALYZE t_surf;
SELECT plan('SELECT * FROM t_surf ORDER BY k LIMIT 1 OFFSET 16000');
SET surfidx.offset_by_rank = off;
SELECT plan('SELECT * FROM t_surf ORDER BY k LIMIT 1 OFFSET 16000');
RESET surfidx.offset_by_rank;
DROP TABLE t_surf, t_tree, asked;
DROP FUNCTION twice, rows_below, scanned, plan, rows_of, differences;
