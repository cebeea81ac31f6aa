-- INCLUDE columns: types with and without an operator class, NULL, long, compressed, of no width
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TYPE inc_pair AS (a int, b text);
CREATE TABLE inc AS SELECT i AS id, i * 7919 % 301 AS k,
	CASE WHEN i % 3 > 0 THEN json_build_object('i', i) END AS js, CASE WHEN i % 5 > 0 THEN point(i, -i) END AS po,
	'<x>' || i || '</x>' AS tx, repeat('x', i % 200 * 3) AS lo, ('n' || i)::name AS na, ROW(i, 'r' || i)::inc_pair AS re,
	ARRAY[i, NULL, i] AS ar, i % 2 = 0 AS bo, '(1,2)'::tid AS ti, (i % 9)::"char" AS ch, i::numeric / 4 AS nu, '{}'::int[] AS em,
	int4range(i, i + 5) AS ra, make_interval(mins => i) AS iv, (i % 7)::int2 AS sm
	FROM generate_series(1, 400) i;
SELECT * FROM compare('inc', '(k) INCLUDE (id, js, po, tx, lo, na, re, ar, bo, ti, ch, nu, em, ra, iv, sm)',
	'{"SELECT * FROM %t WHERE k < 40", "SELECT k, js, na, em FROM %t WHERE k = 77", "SELECT id, re, bo FROM %t WHERE k BETWEEN 100 AND 110",
	"SELECT k FROM %t ORDER BY k", "SELECT k, lo, sm FROM %t WHERE k > 290 AND sm = 3"}');
-- after a key that needs its comparison function
SELECT * FROM compare('inc', '(nu, tx COLLATE "en-x-icu") INCLUDE (id, js, lo, re, ti, iv)',
	'{"SELECT nu, id, js, lo, re, ti, iv FROM %t WHERE nu < 10.0 ORDER BY nu, tx COLLATE \"en-x-icu\"", "SELECT re FROM %t WHERE nu = 4.50"}', '{index,bitmap}');
SELECT * FROM compare('inc', '(re) INCLUDE (js, po, tx)', '{"SELECT re, js, po, tx FROM %t WHERE re > ROW(390, ''r390'')::inc_pair ORDER BY re"}', '{index,only}');

-- a condition on an INCLUDE column is a filter; the columns cannot be ordered by
CREATE INDEX inc_k ON inc USING surfidx (k) INCLUDE (nu);
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT k, nu FROM inc WHERE k = 5 AND nu > 1 ORDER BY k, nu;
SELECT pg_get_indexdef('inc_k'::regclass);
\set VERBOSITY sqlstate
CREATE INDEX ON inc USING surfidx (k) INCLUDE (nu DESC);
CREATE INDEX ON inc USING surfidx (k) INCLUDE ((k + 1));
\set VERBOSITY default
-- too large together
INSERT INTO inc (k, lo) VALUES (1, repeat('y', 100));
CREATE INDEX inc_lo ON inc USING surfidx (k) INCLUDE (tx);
INSERT INTO inc (k, tx) SELECT 1, string_agg(md5(i::text), '') FROM generate_series(1, 90) i;
SELECT surfidx_check('inc_lo', true), surfidx_check('inc_k', true);
DROP TABLE inc;
DROP TYPE inc_pair;
