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
