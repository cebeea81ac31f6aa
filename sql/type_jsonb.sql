-- jsonb: scalars, arrays, objects, numbers of another scale
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('jb', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE CASE i % 9 WHEN 0 THEN 'null' WHEN 1 THEN 'true' WHEN 2 THEN (i % 17)::text
	WHEN 3 THEN (i % 17)::text || '.00' WHEN 4 THEN format('"s%s"', i % 23) WHEN 5 THEN format('[%s, "x"]', i % 7) WHEN 6 THEN '[]'
	WHEN 7 THEN format('{"k": %s, "l%s": null}', i % 5, i % 3) ELSE format('{"a": {"b": [%s]}}', i % 31) END END::jsonb FROM generate_series(1, 1000) i$$);
SELECT * FROM compare_type('jb', '{"null",false,5,5.0,"\"s7\"","[3, \"x\"]","[]","{}","{\"k\": 2, \"l1\": null}"}');
DROP TABLE jb;
