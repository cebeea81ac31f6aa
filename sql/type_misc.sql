-- tid, oidvector, name, "char", pg_lsn, xid8, oid8, domains
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('ti', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE format('(%s,%s)', i * 7 % 301, i % 9)::tid END FROM generate_series(1, 350) i$$);
SELECT * FROM compare_type('ti', '{"(0,0)","(7,1)","(150,4)","(4294967295,65535)"}');
SELECT make_source('ov', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE format('%s %s', i * 7 % 31, repeat((i % 9)::text || ' ', i % 4))::oidvector END FROM generate_series(1, 350) i$$);
SELECT * FROM compare_type('ov', '{"","7","7 1","30 8 8 8"}', arrays => false);
-- all of a vector comes back, and long ones fit
SELECT * FROM compare('ov', '(v DESC, id)', '{"SELECT v, array_dims(v::oid[]), array_upper(v::oid[], 1) FROM %t WHERE v < ''9 9''", "SELECT v[0], v[1], id FROM %t WHERE v = ''7 1''"}', '{only}');
INSERT INTO ov SELECT 1000 + i, string_agg((j * (i % 3))::text, ' ')::oidvector FROM generate_series(1, 9) i, generate_series(1, 90 * i) j GROUP BY i;
SELECT * FROM compare('ov', '(v)', '{"SELECT v FROM %t WHERE v > ''30 8 8 8''", "SELECT v FROM %t WHERE v IS NOT NULL"}', '{only,bitmap}');
SELECT make_source('na', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE repeat(chr(65 + i % 50), 1 + i % 63) END::name COLLATE "C" FROM generate_series(1, 350) i$$);
SELECT * FROM compare_type('na', '{"",AAA,ZZZZ,a,zz}');
SELECT * FROM compare('na', '(v)', ARRAY(
	SELECT format('SELECT id, v FROM %%t WHERE v %s %L::text', op, c)
	FROM unnest('{<,<=,=,>=,>}'::text[]) op, unnest(ARRAY['AAA', 'KKKKKKKKKKK', repeat('b', 70)]) c), '{index,bitmap}');
SELECT make_source('ch', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE chr(1 + i * 7 % 127) END::"char" FROM generate_series(1, 350) i$$);
SELECT * FROM compare_type('ch', '{"",A,a,~}');
SELECT make_source('ls', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE format('%s/%s', i % 3, to_hex(i * 7919)) END::pg_lsn FROM generate_series(1, 350) i$$);
SELECT * FROM compare_type('ls', '{0/0,1/1000,FFFFFFFF/FFFFFFFF}');
SELECT make_source('xi', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE (i::numeric * 104729 * 1000000 * (i % 3))::text END::xid8 FROM generate_series(1, 350) i$$);
SELECT * FROM compare_type('xi', '{0,104729000000,18446744073709551615}');
-- since 19; before, the same again
SELECT coalesce(to_regtype('oid8'), 'xid8') AS oid8 \gset
SELECT make_source('oi', replace($$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE (i::numeric * 104729 * 1000000 * (i % 3))::text END::%t FROM generate_series(1, 350) i$$, '%t', :'oid8'));
SELECT * FROM compare_type('oi', '{0,104729000000,18446744073709551615}');
CREATE DOMAIN grade AS numeric(4, 2) CHECK (VALUE >= 0);
SELECT make_source('gr', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE (i % 60) / 4.0 END::grade FROM generate_series(1, 350) i$$);
SELECT * FROM compare_type('gr', '{0,3.25,14.75}');
DROP TABLE ti, ov, na, ch, ls, xi, oi, gr;
DROP DOMAIN grade;
