-- enum: the order of the labels, and labels that are added in between while an index exists
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TYPE mood AS ENUM ('sad', 'calm', 'glad', 'wild');
SELECT make_source('en', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE (enum_range(NULL::mood))[1 + i * 7 % 4] END FROM generate_series(1, 1500) i$$);
SELECT * FROM compare_type('en', '{sad,calm,glad,wild}');

CREATE INDEX en_v ON en USING surfidx (v, id);
ALTER TYPE mood ADD VALUE 'dull' BEFORE 'calm';
ALTER TYPE mood ADD VALUE 'merry' AFTER 'glad';
INSERT INTO en (id, v) SELECT 2000 + i, (enum_range(NULL::mood))[1 + i % 6] FROM generate_series(1, 300) i;
SELECT surfidx_check('en_v', true), surfidx_merge('en_v') > 0;
SELECT surfidx_check('en_v', true);
SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT v, id FROM en WHERE v > 'sad' AND v < 'glad' ORDER BY v, id;
SELECT v, count(*) FROM en WHERE v > 'sad' AND v < 'wild' GROUP BY v ORDER BY v;
SELECT v, id FROM en WHERE v >= 'dull' ORDER BY v, id LIMIT 3;
SELECT v, id FROM en WHERE v < 'wild' ORDER BY v DESC, id DESC LIMIT 3;
SELECT * FROM compare('en', '(v, id)', '{"SELECT v, id FROM %t ORDER BY v, id", "SELECT v, id FROM %t WHERE v <= ''merry'' ORDER BY v DESC, id DESC"}', '{index,only}');
RESET enable_seqscan; RESET enable_sort; RESET enable_bitmapscan;
DROP TABLE en;
DROP TYPE mood;
