-- dates, times and timestamps, with infinities and both sides of the epoch
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('da', $$SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 50 = 0 THEN '-infinity' WHEN i % 51 = 0 THEN 'infinity' WHEN i % 52 = 0 THEN '4713-01-01 BC' ELSE '2000-01-01'::date + i * 7919 % 400 - 200 END::date FROM generate_series(1, 400) i$$);
SELECT * FROM compare_type('da', '{-infinity,4713-01-01 BC,1999-12-31,2000-01-01,2000-03-01,infinity}');
SELECT make_source('ts', $$SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 50 = 0 THEN '-infinity' WHEN i % 51 = 0 THEN 'infinity' ELSE '2000-01-01'::timestamp + (i * 7919 % 400 - 200) * interval '1 hour 3.000001 sec' END::timestamp FROM generate_series(1, 400) i$$);
SELECT * FROM compare_type('ts', '{-infinity,1999-12-31 23:59:59.999999,2000-01-01,2000-01-03 00:02:24.000048,infinity}');
SELECT make_source('tz', 'SELECT id, v AT TIME ZONE ''Europe/Berlin'' FROM ts');
SELECT * FROM compare_type('tz', '{-infinity,1999-12-31 23:59:59.999999+00,2000-01-01 00:00+00,2000-01-01 12:00+12,infinity}');
SELECT make_source('ti', $$SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 50 = 0 THEN '24:00' ELSE '00:00'::time + i * 7919 % 400 * interval '2 min 0.000001 sec' END::time FROM generate_series(1, 400) i$$);
SELECT * FROM compare_type('ti', '{00:00,00:02:00.000001,12:00,23:59:59.999999,24:00}');
DROP TABLE da, ts, tz, ti;
