-- float4, float8: zeros of both signs, NaN, infinity, denormal; constants of the other type
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('f8', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 97 = 0 THEN 'NaN' WHEN i % 89 = 0 THEN 'Infinity'
	WHEN i % 83 = 0 THEN '-Infinity' WHEN i % 41 = 0 THEN '-0' WHEN i % 43 = 0 THEN '0' WHEN i % 37 = 0 THEN '4.9e-324'
	ELSE (((i * 7919) % 301 - 150) / 8.0)::text END::float8 FROM generate_series(1, 600) i$$);
SELECT * FROM compare_type('f8', '{-Infinity,-12.5,-0,0,0.125,1e300,NaN}');
SELECT make_source('f4', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 97 = 0 THEN 'NaN' WHEN i % 89 = 0 THEN 'Infinity'
	WHEN i % 83 = 0 THEN '-Infinity' WHEN i % 41 = 0 THEN '-0' WHEN i % 43 = 0 THEN '0' WHEN i % 37 = 0 THEN '1e-45'
	ELSE (((i * 7919) % 301 - 150) / 10.0)::text END::float4 FROM generate_series(1, 600) i$$);
SELECT * FROM compare_type('f4', '{-Infinity,-12.5,-0,0,0.1,1e38,NaN}');

-- 0.1 as float4 is not 0.1 as float8
SELECT * FROM compare('f4', '(v) INCLUDE (id, rk)', ARRAY(
	SELECT format('SELECT id, v FROM %%t WHERE v %s %L::float8', op, c)
	FROM unnest('{<,<=,=,>=,>}'::text[]) op, unnest('{0.1,0.125,-0,NaN,1e300,-1e300,1e-300}'::text[]) c)
	|| '{"SELECT rk FROM %t WHERE v > 0.3::float8 ORDER BY v", "SELECT id, v FROM %t WHERE v = ANY (''{0.1,0.125,-0,NaN}''::float8[])",
	"SELECT rk FROM %t WHERE v < ANY (''{0.1,1e300}''::float8[]) ORDER BY v DESC"}');
SELECT * FROM compare('f8', '(v) INCLUDE (id, rk)', ARRAY(
	SELECT format('SELECT id, v FROM %%t WHERE v %s %L::float4', op, c)
	FROM unnest('{<,<=,=,>=,>}'::text[]) op, unnest('{0.1,0.125,-0,NaN,1e38}'::text[]) c));
DROP TABLE f8, f4;
