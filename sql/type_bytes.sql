-- values that are their own bytes: uuid, bytea, text and varchar in collation C
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('uu', $$SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 50 = 0 THEN repeat('0', 32) WHEN i % 51 = 0 THEN repeat('f', 32) ELSE md5((i % 200)::text) END::uuid FROM generate_series(1, 400) i$$);
SELECT * FROM compare_type('uu', ARRAY['00000000-0000-0000-0000-000000000000', md5('7'), md5('8'), 'ffffffff-ffff-ffff-ffff-ffffffffffff']);
SELECT make_source('by', $$SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 50 = 0 THEN '' WHEN i % 7 = 0 THEN decode(repeat('00', i % 5) || '01', 'hex') WHEN i % 5 = 0 THEN decode(repeat('00', i % 9), 'hex') ELSE substr(decode(md5((i % 200)::text), 'hex'), 1, 1 + i % 16) || CASE i % 3 WHEN 0 THEN '\x00' ELSE '\x' END::bytea END FROM generate_series(1, 400) i$$);
SELECT * FROM compare_type('by', ARRAY['\x', '\x00', '\x0001', '\x000000', '\x01', '\x8f', '\xffff']);
SELECT make_source('tc', $$SELECT i, (CASE WHEN i % 11 = 0 THEN NULL WHEN i % 50 = 0 THEN '' WHEN i % 7 = 0 THEN '/usr/share/' || repeat('x', i % 30) ELSE substr('Ärger/' || md5((i % 200)::text), 1 + i % 2, 3 + i % 20) END) COLLATE "C" FROM generate_series(1, 400) i$$);
SELECT * FROM compare_type('tc', ARRAY['', '/usr/share/', '/usr/share/x', 'rger/c4', 'Ä', '~']);
SELECT make_source('vc', 'SELECT id, v::varchar(20) COLLATE "C" FROM tc');
SELECT * FROM compare_type('vc', ARRAY['', '/usr/share/', '/usr/share/x', 'rger/c4', '~']);
SELECT * FROM compare('tc', '(v) INCLUDE (id)', '{"SELECT id, v FROM %t WHERE v LIKE ''/usr/share/x%''", "SELECT id, v FROM %t WHERE v ~ ''^rger/[0-9]'' ORDER BY v, id"}', '{only}') WHERE complaint <> 'sorted';
DROP TABLE uu, by, tc, vc;
