-- inet, cidr, macaddr, macaddr8: both families, masks, containment
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('ne', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 3 = 0 THEN format('2001:db8::%s/%s', to_hex(i * 79 % 997), 64 + i % 65)
	ELSE format('10.%s.%s.%s/%s', i % 3, i * 7 % 11, i * 13 % 251, 8 + i % 25) END::inet FROM generate_series(1, 600) i$$);
SELECT * FROM compare_type('ne', '{0.0.0.0/0,10.1.2.3,10.1.2.3/24,10.2.0.0/16,::/0,2001:db8::10/100,ffff::}');
SELECT make_source('ci', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 3 = 0 THEN network(format('2001:db8::%s/%s', to_hex(i * 79 % 997), 100 + i % 29)::inet)
	ELSE network(format('10.%s.%s.%s/%s', i % 3, i * 7 % 11, i * 13 % 251, 8 + i % 25)::inet) END FROM generate_series(1, 600) i$$);
SELECT * FROM compare_type('ci', '{0.0.0.0/0,10.1.0.0/16,10.1.2.3/32,2001:db8::/100,ffff::/16}', 'cidr_ops');
SELECT make_source('ma', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE substr(md5((i % 300)::text), 1, 12)::macaddr END FROM generate_series(1, 600) i$$);
SELECT * FROM compare_type('ma', '{00:00:00:00:00:00,80:00:00:00:00:00,ff:ff:ff:ff:ff:ff}');
SELECT make_source('m8', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE substr(md5((i % 300)::text), 1, 16)::macaddr8 END FROM generate_series(1, 600) i$$);
SELECT * FROM compare_type('m8', '{00:00:00:00:00:00:00:00,80:00:00:00:00:00:00:00,ff:ff:ff:ff:ff:ff:ff:ff}');
DROP TABLE ne, ci, ma, m8;
