-- integers, oid, bool: with their greatest and least values, and constants of one another's types
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('i2', 'SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 50 = 0 THEN -32768 WHEN i % 51 = 0 THEN 32767 ELSE i * 7919 % 300 - 150 END::int2 FROM generate_series(1, 400) i');
SELECT * FROM compare_type('i2', '{-32768,-150,-1,0,7,149,32767}');
SELECT make_source('i4', 'SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 50 = 0 THEN -2147483648 WHEN i % 51 = 0 THEN 2147483647 ELSE i * 7919 % 300 - 150 END::int4 FROM generate_series(1, 400) i');
SELECT * FROM compare_type('i4', '{-2147483648,-150,-1,0,7,149,2147483647}');
SELECT make_source('i8', 'SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 50 = 0 THEN -9223372036854775808 WHEN i % 51 = 0 THEN 9223372036854775807 ELSE i::int8 * i * 7919000 % 3000000001 - 1500000000 END::int8 FROM generate_series(1, 400) i');
SELECT * FROM compare_type('i8', '{-9223372036854775808,-1500000000,-1,0,4294967296,9223372036854775807}');
SELECT c.* FROM unnest('{i2,i4,i8}'::text[]) t, compare(t::regclass, '(v) INCLUDE (id)', ARRAY(SELECT format('SELECT id, v FROM %%t WHERE v %s %s::%s', o, c, ct) FROM unnest('{<,<=,=,>=,>}'::text[]) o, unnest('{-150,7,32767}'::text[]) c, unnest('{int2,int4,int8}'::text[]) ct), '{only,bitmap}') c;
SELECT make_source('oi', 'SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 50 = 0 THEN 4294967295 ELSE i::int8 * i * 7919000 % 4000000001 END::oid FROM generate_series(1, 400) i');
SELECT * FROM compare_type('oi', '{0,7919000,2147483648,4294967295}');
SELECT make_source('bo', 'SELECT i, CASE i % 11 WHEN 0 THEN NULL ELSE i % 3 = 0 END FROM generate_series(1, 200) i');
SELECT * FROM compare_type('bo', '{f,t}');
DROP TABLE i2, i4, i8, oi, bo;
