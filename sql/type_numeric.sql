-- numeric: equal values of another scale, NaN and infinity, short and long
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('num', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 97 = 0 THEN 'NaN' WHEN i % 89 = 0 THEN 'Infinity'
	WHEN i % 83 = 0 THEN '-Infinity' WHEN i % 41 = 0 THEN repeat('9', i % 60 + 1) || '.' || repeat('1', i % 7 + 1)
	ELSE round(((i * 7919) % 301 - 150) / 4.0, i % 6)::text END::numeric FROM generate_series(1, 1500) i$$);
SELECT * FROM compare_type('num', '{-Infinity,-12.5,0,1.0,1.00,33.33,99999.11,NaN}');

-- a scale of its own comes back as it was stored
CREATE TABLE scales (id int, n numeric);
CREATE INDEX scales_n ON scales USING surfidx (n);
INSERT INTO scales VALUES (1, '1.0'), (2, '1.000'), (3, '1'), (4, '-0.00'), (5, '0'), (6, '1e2'), (7, '100.0');
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM scales WHERE n = 1.00 ORDER BY n;
SELECT n FROM scales WHERE n = 1.00 ORDER BY n::text;
SELECT surfidx_merge('scales_n');
SELECT n FROM scales WHERE n = 1.00 ORDER BY n::text;
SELECT n FROM scales WHERE n IN (0.0, 100) ORDER BY n, n::text;
SELECT surfidx_check('scales_n', true);
RESET enable_seqscan;
DROP TABLE num, scales;
