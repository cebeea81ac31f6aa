-- bit, varbit: of any length, zeros at the end
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('bi', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE (i * 7919 % 1024)::bit(11) END FROM generate_series(1, 800) i$$);
SELECT * FROM compare_type('bi', '{00000000000,01000000000,01100110011,11111111111}');
SELECT make_source('vb', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL
	ELSE substring((i * 104729::int8 % 65536)::bit(16)::varbit || repeat('0', i % 40)::varbit FROM 1 + i % 9 FOR i % 50) END FROM generate_series(1, 1000) i$$);
SELECT * FROM compare_type('vb', '{"",0,00,000000000,01,1,10,10000000000000000000,1111}');
DROP TABLE bi, vb;
-- bits after the last one, which ">>" left there before PostgreSQL 12: no damage (where core's assertions are on, they object)
CREATE CAST (bytea AS varbit) WITHOUT FUNCTION;
CREATE CAST (varbit AS bytea) WITHOUT FUNCTION;
CREATE TABLE left_over (k int, v varbit, a varbit[]);
CREATE INDEX left_over_k ON left_over USING surfidx (k) INCLUDE (v);
CREATE INDEX left_over_v ON left_over USING surfidx (v);
CREATE INDEX left_over_a ON left_over USING surfidx (a);
INSERT INTO left_over SELECT k, v, ARRAY[v] FROM (SELECT k, CASE WHEN current_setting('debug_assertions')::bool THEN b ELSE set_byte(b::bytea, 4, 255)::varbit END
	FROM (VALUES (1, varbit '11111'), (2, '111')) l (k, b)) q (k, v);
VACUUM left_over;
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
SELECT k, length(v) FROM left_over ORDER BY k;
SELECT length(v) FROM left_over ORDER BY v;
SELECT length(a[1]) FROM left_over ORDER BY a;
SELECT surfidx_check('left_over_k', true), surfidx_check('left_over_v', true), surfidx_check('left_over_a', true);
DROP TABLE left_over;
DROP CAST (bytea AS varbit);
DROP CAST (varbit AS bytea);
