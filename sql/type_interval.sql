-- interval, timetz, money: intervals and times that are equal and print differently
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('iv', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 3 = 0 THEN make_interval(months => i % 13 - 6)
	WHEN i % 3 = 1 THEN make_interval(days => (i % 13 - 6) * 30) ELSE make_interval(hours => (i % 9 - 4) * 720, secs => i % 50 / 10.0) END
	FROM generate_series(1, 600) i$$);
SELECT * FROM compare_type('iv', '{-200 years,-1 mon,-30 days,0,1 mon,30 days,720 hours,5 mons 00:00:01}');
SELECT make_source('tt', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE
	make_time(i * 7 % 24, i * 11 % 60, 0)::text || CASE i % 4 WHEN 0 THEN '+00' WHEN 1 THEN '+01' WHEN 2 THEN '-05:30' ELSE '+13:45:20' END END::timetz
	FROM generate_series(1, 600) i$$);
SELECT * FROM compare_type('tt', '{00:00+15,08:00+01,07:00+00,12:11-05:30,24:00-15}');
SELECT make_source('mo', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE ((i * 7919) % 301 - 150)::numeric / 4 END::money FROM generate_series(1, 600) i$$);
SELECT * FROM compare_type('mo', '{-92233720368547758.08,-12.5,0,3.25,92233720368547758.07}');

-- the very interval that was stored
CREATE TABLE equals (v interval);
CREATE INDEX equals_v ON equals USING surfidx (v);
INSERT INTO equals VALUES ('1 mon'), ('30 days'), ('720 hours'), ('29 days 24:00');
SET enable_seqscan = off;
SELECT v FROM equals WHERE v = '1 mon' ORDER BY v::text;
SELECT surfidx_merge('equals_v');
SELECT v FROM equals WHERE v = '30 days' ORDER BY v::text;
RESET enable_seqscan;
DROP TABLE iv, tt, mo, equals;
