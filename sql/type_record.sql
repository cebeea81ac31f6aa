-- composite types: field by field, NULL fields last, and by image; row types of tables
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TYPE pair AS (n numeric, t text COLLATE "en-x-icu");
SELECT make_source('re', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL
	ELSE ROW(CASE WHEN i % 11 > 0 THEN round((i % 7)::numeric, i % 3) END, CASE WHEN i % 13 > 0 THEN chr(97 + i * 7 % 26) END)::pair END
	FROM generate_series(1, 800) i$$);
SELECT * FROM compare_type('re', '{"(,)","(2,)","(2.0,k)","(2.00,K)","(5,z)"}');
SELECT make_source('rm', 'SELECT id, v FROM re', '*<');
SELECT * FROM compare_type('rm', '{"(,)","(2,)","(2.0,k)","(5,z)"}', 'record_image_ops', '{*<,*<=,*=,*>=,*>}');

-- the row type of a table that gets another column
CREATE TABLE shape (a int, b text);
CREATE TABLE holder (id int, v shape);
CREATE INDEX holder_v ON holder USING surfidx (v);
INSERT INTO holder SELECT i, ROW(i % 10, 'x' || i)::shape FROM generate_series(1, 300) i;
ALTER TABLE shape ADD COLUMN c int;
INSERT INTO holder SELECT i, ROW(i % 10, 'x' || i, i)::shape FROM generate_series(301, 600) i;
SELECT surfidx_merge('holder_v'), surfidx_check('holder_v', true);
SET enable_seqscan = off;
SELECT count(*) FROM holder WHERE v = ROW(3, 'x13', NULL)::shape OR v = ROW(3, 'x313', 313)::shape;
SELECT * FROM compare('holder', '(v)', '{"SELECT v FROM %t WHERE v > ROW(4, ''x4'', NULL)::shape", "SELECT v FROM %t ORDER BY v"}');
RESET enable_seqscan;
DROP TABLE holder, shape, re, rm;
DROP TYPE pair;
