-- As many columns as an index can have, half of them compared by functions, with mixed directions
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TABLE wide (id int, c1 int4, c2 numeric, c3 int8, c4 text COLLATE "en-x-icu", c5 date, c6 interval, c7 text COLLATE "C", c8 float8, c9 int2, c10 uuid, c11 bool, c12 timestamptz, c13 inet, c14 "char", c15 int4, c16 bytea, c17 int4, c18 numeric, c19 int8, c20 text COLLATE "en-x-icu", c21 date, c22 interval, c23 text COLLATE "C", c24 float8, c25 int2, c26 uuid, c27 bool, c28 timestamptz, c29 inet, c30 "char", c31 int4, c32 bytea);
INSERT INTO wide SELECT i, i * 9 % 7, round(i::numeric / 5, i % 3), i::int8 * 12 % 5, chr(97 + i * 8 % 3),
	CASE WHEN i % 3 > 0 THEN date '2001-01-01' + i % 4 END, make_interval(days => i % 11), 't' || i % 7, (i % 3) / 2.0,
	(i % 10)::int2, md5((i % 6)::text)::uuid, i % 2 = 0, timestamptz '2001-01-01' + make_interval(hours => i % 9),
	'10.0.0.0'::inet + i % 5, (chr(97 + i % 12))::"char", i * 8 % 7, decode(lpad(to_hex(i % 4), 4, '0'), 'hex'),
	i * 11 % 7, CASE WHEN i % 3 > 0 THEN round(i::numeric / 7, i % 3) END, i::int8 * 3 % 5, chr(97 + i * 10 % 3),
	date '2001-01-01' + i % 6, make_interval(days => i % 2), 't' || i % 9, (i % 5) / 2.0,
	(i % 12)::int2, md5((i % 8)::text)::uuid, i % 4 = 0, timestamptz '2001-01-01' + make_interval(hours => i % 11),
	'10.0.0.0'::inet + i % 7, (chr(97 + i % 3))::"char", i * 10 % 7, decode(lpad(to_hex(i), 4, '0'), 'hex')
	FROM generate_series(1, 300) i;
SELECT * FROM compare('wide', '(c1 NULLS FIRST, c2, c3 DESC, c4, c5 NULLS FIRST, c6 DESC, c7, c8, c9 DESC NULLS FIRST, c10, c11, c12 DESC, c13 NULLS FIRST, c14, c15 DESC, c16, c17 NULLS FIRST, c18 DESC, c19, c20, c21 DESC NULLS FIRST, c22, c23, c24 DESC, c25 NULLS FIRST, c26, c27 DESC, c28, c29 NULLS FIRST, c30 DESC, c31, c32)', ARRAY[
	'SELECT c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32 FROM %t ORDER BY c1 NULLS FIRST, c2, c3 DESC, c4, c5 NULLS FIRST, c6 DESC, c7, c8, c9 DESC NULLS FIRST, c10, c11, c12 DESC, c13 NULLS FIRST, c14, c15 DESC, c16, c17 NULLS FIRST, c18 DESC, c19, c20, c21 DESC NULLS FIRST, c22, c23, c24 DESC, c25 NULLS FIRST, c26, c27 DESC, c28, c29 NULLS FIRST, c30 DESC, c31, c32',
	'SELECT c1, c2, c32 FROM %t WHERE c1 = 3 AND c2 > 5.0',
	'SELECT c32 FROM %t WHERE c1 = ANY (ARRAY[1, 2, 3]) AND c3 = 2 AND c4 = ''b'' AND c31 IS NOT NULL AND c20 >= ''b''',
	'SELECT c5, c18 FROM %t WHERE c1 = 6 AND c5 IS NULL',
	'SELECT c1, c30 FROM %t WHERE c1 >= 2 AND c32 = ''\x0011''',
	'SELECT c1, c2, c3 FROM %t WHERE c1 = 2 ORDER BY c1, c2, c3 DESC']);
SELECT * FROM compare('wide', '(c1 NULLS FIRST, c2, c3 DESC, c4, c5 NULLS FIRST, c6 DESC, c7, c8, c9 DESC NULLS FIRST, c10, c11, c12 DESC, c13 NULLS FIRST, c14, c15 DESC, c16, c17 NULLS FIRST, c18 DESC, c19, c20, c21 DESC NULLS FIRST, c22, c23, c24 DESC, c25 NULLS FIRST, c26, c27 DESC, c28, c29 NULLS FIRST, c30 DESC, c31, c32)', ARRAY['SELECT c32, c31, c30, c29, c28, c27, c26, c25, c24, c23, c22, c21, c20, c19, c18, c17, c16, c15, c14, c13, c12, c11, c10, c9, c8, c7, c6, c5, c4, c3, c2, c1 FROM %t ORDER BY c1 NULLS FIRST, c2, c3 DESC, c4, c5 NULLS FIRST, c6 DESC, c7, c8, c9 DESC NULLS FIRST, c10, c11, c12 DESC, c13 NULLS FIRST, c14, c15 DESC, c16, c17 NULLS FIRST, c18 DESC, c19, c20, c21 DESC NULLS FIRST, c22, c23, c24 DESC, c25 NULLS FIRST, c26, c27 DESC, c28, c29 NULLS FIRST, c30 DESC, c31, c32'], uniq => 'UNIQUE');
ALTER TABLE wide ADD COLUMN c33 int;
CREATE INDEX ON wide USING surfidx (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33);
DROP TABLE wide;
