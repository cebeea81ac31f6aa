-- The rows of OFFSET are passed over by the index: the same rows as with btree, in each state of the
-- index and of the table, and without fetching those before

\getenv srcdir PG_ABS_SRCDIR
\set pages :srcdir '/sql/helpers/pages.sql'
\set ECHO none
\i :pages
\set ECHO all
SET enable_sort = off;
SET enable_incremental_sort = off;

CREATE TABLE t_surf (id int, k int, g int, v text) WITH (autovacuum_enabled = off);
CREATE TABLE t_tree (LIKE t_surf) WITH (autovacuum_enabled = off);
\set offsets '''{0,2,15,17,333,4999,9990,19999,20300,30000,9223372036854775807}'', 1'

SELECT twice('INSERT INTO %t SELECT i, i * 7919::bigint % 20011, i % 3, md5(i::text) FROM generate_series(1, 20000) i;
	INSERT INTO %t SELECT 20000 + i, CASE WHEN i % 2 = 0 THEN 777 END, i % 3, NULL FROM generate_series(1, 300) i');
CREATE INDEX s_k ON t_surf USING surfidx (k, id);
CREATE INDEX s_gk ON t_surf USING surfidx (g, k DESC NULLS LAST, id);
CREATE INDEX s_part ON t_surf USING surfidx (id) WHERE g = 1;
CREATE INDEX b_k ON t_tree (k, id);
CREATE INDEX b_gk ON t_tree (g, k DESC NULLS LAST, id);
CREATE INDEX b_part ON t_tree (id) WHERE g = 1;
SELECT level > 0, leaves > 4 FROM surfidx_meta('s_k');

INSERT INTO asked (query) VALUES
('SELECT k, id FROM %t ORDER BY k, id LIMIT 3 OFFSET %o'),
('SELECT k, id FROM %t ORDER BY k DESC, id DESC LIMIT 3 OFFSET %o'),
('SELECT * FROM %t ORDER BY k, id LIMIT 3 OFFSET %o'),
('SELECT * FROM %t ORDER BY k DESC, id DESC LIMIT 3 OFFSET %o'),
('SELECT k + 1 AS k1, id FROM %t WHERE k > 500 AND k < 19000 ORDER BY k, id LIMIT 2 OFFSET %o'),
('SELECT k, id FROM %t WHERE k > 500 AND k < 19000 ORDER BY k DESC, id DESC LIMIT 2 OFFSET %o'),
('SELECT k, id FROM %t WHERE k = 777 ORDER BY id OFFSET %o FETCH FIRST 2 ROWS ONLY'),
('SELECT k, id FROM %t WHERE k IS NULL ORDER BY k DESC, id DESC LIMIT 2 OFFSET %o'),
('SELECT g, k, id FROM %t WHERE g = 1 ORDER BY k DESC NULLS LAST, id LIMIT 2 OFFSET %o'),
('SELECT g, k, id, v FROM %t WHERE g = 2 ORDER BY k NULLS FIRST, id DESC LIMIT 2 OFFSET %o'),
('SELECT id FROM %t WHERE g = 1 ORDER BY id LIMIT 2 OFFSET %o'),
('SELECT k FROM %t ORDER BY k OFFSET %o FETCH FIRST 1 ROWS WITH TIES');

\echo built, not all-visible
SELECT * FROM differences(:offsets);
\echo all-visible
VACUUM ANALYZE t_surf, t_tree;
SELECT * FROM differences(:offsets);
\echo a delta, all-visible
SELECT twice('INSERT INTO %t SELECT 30000 + i, i * 61 % 20011, i % 3, NULL FROM generate_series(1, 320) i');
VACUUM (INDEX_CLEANUP OFF) t_surf, t_tree;
SELECT gens, delta_entries > 0 FROM (SELECT generations AS gens, delta_entries FROM surfidx_meta('s_k')) m;
SELECT * FROM differences(:offsets);
\echo runs, all-visible
SELECT surfidx_merge('s_k') IS NOT NULL, surfidx_merge('s_gk') IS NOT NULL;
SELECT * FROM differences(:offsets);
\echo rows updated in place and elsewhere, and dead ones
SELECT twice('UPDATE %t SET v = ''!'' WHERE id % 20 = 3;
	UPDATE %t SET k = k + 1 WHERE id % 20 = 4;
	DELETE FROM %t WHERE id % 20 = 5');
SELECT * FROM differences(:offsets);
\echo deleted and inserted by this transaction
BEGIN;
SELECT twice('DELETE FROM %t WHERE id % 20 = 6;
	INSERT INTO %t SELECT 40000 + i, i, 1, NULL FROM generate_series(1, 50) i');
SELECT * FROM differences(:offsets);
ROLLBACK;
\echo SERIALIZABLE
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM differences(:offsets);
COMMIT;
\echo vacuumed and merged
VACUUM t_surf, t_tree;
SELECT * FROM differences(:offsets);

-- several ranges, and expressions as OFFSET
SELECT rows_of(replace(q, '%t', 't_surf')) = rows_of(replace(q, '%t', 't_tree'))
	FROM unnest(ARRAY['SELECT g, k, id FROM %t WHERE g IN (0, 2) AND k > 100 ORDER BY g, k DESC NULLS LAST, id LIMIT 3 OFFSET 7000',
		'SELECT k, id FROM %t WHERE k IN (1, 777, 778, 900) ORDER BY k, id LIMIT 5 OFFSET 100',
		'SELECT k, id FROM %t ORDER BY k, id LIMIT 3 OFFSET (SELECT count(*) / 2 FROM %t)',
		'SELECT (SELECT k FROM %t ORDER BY k, id LIMIT 1 OFFSET x * 100) FROM generate_series(0, 250) x',
		'SELECT (SELECT id FROM %t WHERE k = 700 + x ORDER BY id LIMIT 1 OFFSET 3) FROM generate_series(70, 80) x',
		'SELECT * FROM generate_series(1, 30) x, LATERAL (SELECT k, id FROM %t WHERE g = x % 3 ORDER BY k DESC NULLS LAST, id LIMIT 1 OFFSET x * 70) y']) q;
SELECT k FROM t_surf ORDER BY k, id LIMIT 1 OFFSET NULL;
SELECT k FROM t_surf ORDER BY k, id LIMIT 0 OFFSET 1000;
SELECT k FROM t_surf ORDER BY k, id LIMIT 1 OFFSET -1;

-- prepared, with the offset and the condition as parameters
SET plan_cache_mode = force_generic_plan;
PREPARE page(bigint, int) AS SELECT k, id FROM t_surf WHERE k > $2 ORDER BY k, id LIMIT 2 OFFSET $1;
PREPARE page_tree(bigint, int) AS SELECT k, id FROM t_tree WHERE k > $2 ORDER BY k, id LIMIT 2 OFFSET $1;
EXECUTE page(5000, 100);
EXECUTE page_tree(5000, 100);
EXECUTE page(0, 15000);
EXECUTE page_tree(0, 15000);
EXECUTE page(4000, 15000);
EXECUTE page_tree(4000, 15000);
SELECT * FROM scanned('EXECUTE page(5000, 100)');
RESET plan_cache_mode;

-- a cursor goes back to the window's first row, no further
BEGIN;
DECLARE s SCROLL CURSOR FOR SELECT k, id FROM t_surf ORDER BY k, id LIMIT 4 OFFSET 12000;
DECLARE b SCROLL CURSOR FOR SELECT k, id FROM t_tree ORDER BY k, id LIMIT 4 OFFSET 12000;
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

-- what has to look at the rows before is left to core: filters, row locks, volatile functions
SELECT scan FROM scanned('SELECT k FROM t_surf WHERE v <> ''!'' ORDER BY k, id LIMIT 1 OFFSET 50');
SELECT k FROM t_surf WHERE k > 100 ORDER BY k, id LIMIT 1 OFFSET 500 FOR UPDATE;
SELECT k FROM t_tree WHERE k > 100 ORDER BY k, id LIMIT 1 OFFSET 500 FOR UPDATE;
CREATE SEQUENCE passed;
SELECT nextval('passed'), k FROM t_surf WHERE k > 100 ORDER BY k, id LIMIT 1 OFFSET 50;
SELECT (SELECT nextval('passed') WHERE t.k IS NOT NULL), k FROM t_surf t WHERE k > 100 ORDER BY k, id LIMIT 1 OFFSET 500;
SET surfidx.offset_by_rank = off;
SELECT scan FROM scanned('SELECT k FROM t_surf ORDER BY k, id LIMIT 1 OFFSET 50');
RESET surfidx.offset_by_rank;

-- its price: no sort, where core would sort for a page far off
RESET enable_seqscan;
RESET enable_sort;
RESET enable_incremental_sort;
RESET enable_bitmapscan;
CREATE TABLE p_surf (k int, v text) WITH (autovacuum_enabled = off);
INSERT INTO p_surf SELECT i * 7919::bigint % 20011, repeat('v', 800) FROM generate_series(1, 5000) i;
CREATE TABLE p_tree AS TABLE p_surf;
CREATE INDEX ON p_surf USING surfidx (k);
CREATE INDEX ON p_tree (k);
VACUUM ANALYZE p_surf, p_tree;
EXPLAIN (COSTS OFF) SELECT * FROM p_surf ORDER BY k LIMIT 10 OFFSET 4000;
EXPLAIN (COSTS OFF) SELECT * FROM p_tree ORDER BY k LIMIT 10 OFFSET 4000;
EXPLAIN (COSTS OFF) SELECT * FROM p_surf WHERE v > 'a' ORDER BY k LIMIT 10 OFFSET 4000;
SET surfidx.offset_by_rank = off;
EXPLAIN (COSTS OFF) SELECT * FROM p_surf ORDER BY k LIMIT 10 OFFSET 4000;
RESET surfidx.offset_by_rank;
DROP TABLE p_surf, p_tree;

-- keys of one column in comparator order, cut ones, and a table of one leaf
CREATE TABLE w (k text COLLATE "en-x-icu") WITH (autovacuum_enabled = off);
INSERT INTO w SELECT md5(i::text) FROM generate_series(1, 5000) i;
CREATE INDEX w_k ON w USING surfidx (k);
VACUUM w;
SET enable_seqscan = off;
SELECT * FROM scanned('SELECT k FROM w ORDER BY k LIMIT 2 OFFSET 4000');
SELECT array_agg(k) = (SELECT array_agg(k) FROM (SELECT k FROM (SELECT k FROM w ORDER BY k LIMIT 4002) x ORDER BY k DESC LIMIT 2) y)
	FROM (SELECT k FROM (SELECT k FROM w ORDER BY k LIMIT 2 OFFSET 4000) x ORDER BY k DESC) z;
CREATE TABLE c (k text COLLATE "C") WITH (autovacuum_enabled = off);
INSERT INTO c SELECT md5(i::text) FROM generate_series(1, 8000) i;
CREATE INDEX c_k ON c USING surfidx (k) WITH (keys = cut);
VACUUM c;
INSERT INTO c SELECT md5(i::text) FROM generate_series(8001, 8100) i;
SELECT o, (SELECT k FROM c ORDER BY k LIMIT 1 OFFSET o) = (SELECT (array_agg(k ORDER BY k))[o + 1] FROM c) AS up,
	(SELECT k FROM c ORDER BY k DESC LIMIT 1 OFFSET o) = (SELECT (array_agg(k ORDER BY k DESC))[o + 1] FROM c) AS down
	FROM unnest('{3,16,777,5000,8099}'::int[]) o;
VACUUM c;
SELECT o, (SELECT k FROM c ORDER BY k LIMIT 1 OFFSET o) = (SELECT (array_agg(k ORDER BY k))[o + 1] FROM c) AS up,
	(SELECT k FROM c ORDER BY k DESC LIMIT 1 OFFSET o) = (SELECT (array_agg(k ORDER BY k DESC))[o + 1] FROM c) AS down
	FROM unnest('{3,16,777,5000,8099}'::int[]) o;

-- equal keys over the border of leaves, all-visible, in both directions
CREATE TABLE d_surf WITH (autovacuum_enabled = off) AS
	SELECT (i * 7919::bigint % 20000 / 3)::int AS k FROM generate_series(0, 19999) i;
CREATE TABLE d_tree AS TABLE d_surf;
CREATE INDEX d_k ON d_surf USING surfidx (k);
CREATE INDEX d_kd ON d_surf USING surfidx ((k + 0) DESC);
CREATE INDEX ON d_tree (k);
VACUUM ANALYZE d_surf, d_tree;
SET enable_sort = off;
SELECT leaves > 4 FROM surfidx_meta('d_k');
CREATE FUNCTION wrong_places(query text, down bool) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	wrong bigint := 0;
	k int;
BEGIN
	FOR o IN 4000..10000 LOOP
		EXECUTE query INTO k USING o;
		wrong := wrong + (k IS DISTINCT FROM CASE WHEN down THEN 19999 - o ELSE o END / 3)::int;
	END LOOP;
	RETURN wrong;
END $$;
SELECT wrong_places('SELECT k FROM d_surf ORDER BY k LIMIT 1 OFFSET $1', false) AS up,
	wrong_places('SELECT k FROM d_surf ORDER BY k DESC LIMIT 1 OFFSET $1', true) AS down,
	wrong_places('SELECT k + 0 FROM d_surf ORDER BY k + 0 DESC LIMIT 1 OFFSET $1', true) AS desc_up,
	wrong_places('SELECT k + 0 FROM d_surf ORDER BY k + 0 LIMIT 1 OFFSET $1', false) AS desc_down;
SELECT count(*) FROM generate_series(4000::bigint, 10000) n
	WHERE surfidx_nth('d_k', -n)::text <> surfidx_nth('d_k', 20000 - n)::text;
DROP TABLE d_surf, d_tree;
DROP TABLE t_surf, t_tree, asked, w, c;
DROP FUNCTION twice, rows_below, scanned, plan, rows_of, differences, wrong_places;
DROP SEQUENCE passed;
