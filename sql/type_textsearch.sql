-- tsvector, tsquery
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('tv', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE
	setweight(to_tsvector('simple', format('w%s x%s y%s', i % 13, i % 7, i % 3)), 'A') || CASE WHEN i % 4 = 0 THEN '' ELSE format('z:%s', i % 50 + 1)::tsvector END END
	FROM generate_series(1, 700) i$$);
SELECT * FROM compare_type('tv', '{"","a","''w1'':1A ''x1'':2A ''y1'':3A","w5 x2 y1 z:3","zz"}');
SELECT make_source('tq', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE format('w%s & (x%s | !y%s)', i % 13, i % 7, i % 3) END::tsquery FROM generate_series(1, 700) i$$);
SELECT * FROM compare_type('tq', '{"","a","w1 & (x1 | !y1)","zz <-> a"}');
DROP TABLE tv, tq;
