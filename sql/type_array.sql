-- arrays: of several dimensions, with NULLs and other lower bounds, empty; elements that are equal and print differently
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('ia', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 31 = 0 THEN '{}' WHEN i % 29 = 0 THEN '[3:4]={1,2}'
	WHEN i % 23 = 0 THEN '{{1,2},{3,4}}' WHEN i % 19 = 0 THEN format('{1,NULL,%s}', i % 5)
	ELSE (SELECT array_agg(i * j % 7)::text FROM generate_series(1, 1 + i % 5) j) END::int[] FROM generate_series(1, 700) i$$);
SELECT * FROM compare_type('ia', '{"{}","{1}","{1,2}","[3:4]={1,2}","{{1,2},{3,4}}","{1,NULL,3}","{6,6,6}"}', arrays => false);
SELECT make_source('na', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL
	ELSE ARRAY[round((i % 7)::numeric / 2, i % 4 + 1), round(i % 3::numeric, i % 3)] END FROM generate_series(1, 700) i$$);
SELECT * FROM compare_type('na', '{"{0}","{1.5,2}","{1.50,2.0}","{3,1}"}', arrays => false);
SELECT make_source('ta', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE ARRAY[chr(97 + i % 26) || 'é', upper(chr(97 + i * 7 % 26))] END COLLATE "en-x-icu"
	FROM generate_series(1, 700) i$$);
SELECT * FROM compare_type('ta', '{"{}","{bé,H}","{Bé,h}","{zé}"}', arrays => false);
DROP TABLE ia, na, ta;
