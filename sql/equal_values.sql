-- Values that are equal and not identical, in ordered bytes: they come back as they were stored, the next column orders them, a unique
-- index takes one of them; and random values of the types whose encodings have something to get wrong
SET surfidx.unique_notice = off;
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all

-- the next column orders what is equal, whatever it looks like
CREATE TABLE eq AS SELECT i AS id, (ARRAY['0', '-0', '1.0', '1.00', '1', '-2.50', '-2.5', '100', '1e2', 'NaN'])[1 + i * 7 % 10]::numeric AS n,
	(ARRAY['0', '-0', '1', '-1', 'NaN', 'Infinity'])[1 + i * 5 % 6]::float8 AS f, (ARRAY['0', '-0', '1', 'NaN'])[1 + i % 4]::float4 AS r,
	(ARRAY['a', 'a ', 'a  ', 'b', 'b '])[1 + i * 3 % 5]::bpchar COLLATE "C" AS b,
	(ARRAY['1 mon', '30 days', '720:00', '29 days 24:00', '-1 mon', '-30 days', '1 mon -30 days', '0'])[1 + i * 3 % 8]::interval AS v,
	chr(97 + i % 3) COLLATE "en-x-icu" AS t FROM generate_series(1, 480) i;
-- in a text of the row blanks at the end show
SELECT * FROM compare('eq', '(n, id)', '{"SELECT n, id FROM %t ORDER BY n, id", "SELECT n, id FROM %t WHERE n = 1.000 ORDER BY id DESC", "SELECT n, id FROM %t WHERE n IN (0, 100) AND id > 50 ORDER BY n, id", "SELECT n, id FROM %t WHERE n < 1.0 AND id % 2 = 0", "SELECT n, id FROM %t WHERE n = ''NaN''"}');
SELECT * FROM compare('eq', '(f DESC NULLS LAST, n DESC, id)', '{"SELECT f, n, id FROM %t ORDER BY f DESC NULLS LAST, n DESC, id", "SELECT f, n, id FROM %t WHERE f = 0 AND n = 1 ORDER BY id", "SELECT f, n, id FROM %t WHERE f >= ''-0'' AND n > 1", "SELECT f, n, id FROM %t WHERE f IN (''-0'', ''NaN'') ORDER BY f DESC NULLS LAST, n DESC, id"}');
SELECT * FROM compare('eq', '(r, b, v) INCLUDE (id)', '{"SELECT r, b, v, id FROM %t WHERE r = 0 AND b = ''a'' AND v = ''30 days''", "SELECT r, b, v, id FROM %t WHERE r = 1", "SELECT r, b, v, id FROM %t WHERE r > 0 AND v < ''0''"}');
SELECT * FROM compare('eq', '(b, id)', '{"SELECT b, id FROM %t ORDER BY b, id", "SELECT b, id FROM %t WHERE b = ''a      '' ORDER BY id", "SELECT b, id FROM %t WHERE b > ''a'' AND id < 300"}');
SELECT * FROM compare('eq', '(v, id DESC)', '{"SELECT v, id FROM %t ORDER BY v, id DESC", "SELECT v, id FROM %t WHERE v = ''1 mon'' ORDER BY id DESC", "SELECT v, id FROM %t WHERE v <= ''0'' ORDER BY v DESC, id"}');
-- beside a column that only a comparison function orders
SELECT * FROM compare('eq', '(n, t, v, id)', '{"SELECT n, t, v, id FROM %t ORDER BY n, t, v, id", "SELECT n, t, v, id FROM %t WHERE n = 1 AND t = ''b''", "SELECT n, t, v, id FROM %t WHERE n = 0.0 AND t >= ''b'' AND v = ''1 mon'' ORDER BY t, id", "SELECT n, t, v, id FROM %t WHERE n < 1 ORDER BY n DESC, t DESC, v DESC, id DESC"}');
SELECT * FROM compare('eq', '(t, f, b) INCLUDE (id)', '{"SELECT t, f, b, id FROM %t WHERE t = ''a'' AND f = 0", "SELECT t, f, b, id FROM %t WHERE t > ''a'' AND b = ''b''"}');

-- unique: one of them, from the delta, from the tree, and when the index is built
CREATE TABLE uq (n numeric, f float8, b char(5) COLLATE "C", v interval, x int);
CREATE UNIQUE INDEX uq_n ON uq USING surfidx (n);
CREATE UNIQUE INDEX uq_f ON uq USING surfidx (f, x);
CREATE UNIQUE INDEX uq_b ON uq USING surfidx (b) INCLUDE (x);
CREATE UNIQUE INDEX uq_v ON uq USING surfidx (x, v);
INSERT INTO uq VALUES (1.0, '-0', 'a', '1 mon', 1);
INSERT INTO uq VALUES (1.00, 1, 'b', '1 mon', 2);
INSERT INTO uq VALUES (2, 0, 'b', '1 day', 1);
INSERT INTO uq VALUES (2, 1, 'a    ', '1 day', 1);
INSERT INTO uq VALUES (2, 1, 'b', '30 days', 1);
SELECT surfidx_merge('uq_n') > 0, surfidx_merge('uq_f') > 0, surfidx_merge('uq_b') > 0, surfidx_merge('uq_v') > 0;
INSERT INTO uq VALUES (1, 1, 'b', '1 mon', 2);
INSERT INTO uq VALUES (2, 0, 'b', '1 day', 1);
INSERT INTO uq VALUES (2, 1, 'a', '1 day', 1);
INSERT INTO uq VALUES (2, 1, 'b', '720:00', 1);
INSERT INTO uq VALUES (1.000, 7, 'z', '0', 7) ON CONFLICT (n) DO UPDATE SET f = 7, x = 7;
INSERT INTO uq VALUES (3, 3, 'c', '0', 3);
DROP INDEX uq_n, uq_f, uq_b, uq_v;
INSERT INTO uq VALUES (1.00, 7, 'a', '30 days', 7);
CREATE UNIQUE INDEX ON uq USING surfidx (n);
CREATE UNIQUE INDEX ON uq USING surfidx (f);
CREATE UNIQUE INDEX ON uq USING surfidx (b);
CREATE UNIQUE INDEX ON uq USING surfidx (v);

-- random values against a sort
SELECT setseed(0.5);
CREATE TABLE rn AS SELECT i AS id, CASE i % 5 WHEN 0 THEN round(((random() - 0.5) * 1e6)::numeric, i % 7) WHEN 1 THEN (random() * 10)::int * 10::numeric ^ (i % 80 - 40)
	WHEN 2 THEN ((random() - 0.5) * 10 ^ (i % 60 - 30))::numeric WHEN 3 THEN (i % 10)::numeric / 7 * (i % 3 - 1) ELSE trunc(random() * 1e30)::text::numeric END AS n,
	((random() - 0.5) * 10 ^ (i % 600 - 300))::float8 AS f, make_interval(months => (random() * 60)::int - 30, days => (random() * 90)::int - 45, secs => round((random() * 1e5)::numeric, i % 7)::float8) AS v,
	decode(repeat(CASE i % 4 WHEN 0 THEN '00' WHEN 1 THEN '01' WHEN 2 THEN '0000ff' ELSE '' END, i % 300) || CASE WHEN i % 3 = 0 THEN '00' WHEN i % 3 = 1 THEN '02' ELSE '' END
		|| repeat('00', i % 131), 'hex') AS y FROM generate_series(1, 2000) i;
SELECT * FROM compare('rn', '(n, id)', '{"SELECT n, id FROM %t ORDER BY n, id", "SELECT n, id FROM %t WHERE n BETWEEN -0.01 AND 1e10"}', '{only}');
SELECT * FROM compare('rn', '(f DESC, id)', '{"SELECT f, id FROM %t ORDER BY f DESC, id", "SELECT f, id FROM %t WHERE f BETWEEN -1e-100 AND 1e100"}', '{only}');
SELECT * FROM compare('rn', '(v, id)', '{"SELECT v, id FROM %t ORDER BY v, id", "SELECT v, id FROM %t WHERE v BETWEEN ''-40 days'' AND ''1 mon''"}', '{only}');
SELECT * FROM compare('rn', '(y, id)', '{"SELECT y, id FROM %t ORDER BY y, id", "SELECT y, id FROM %t WHERE y > ''\\x0000'' AND y < ''\\x000100''"}', '{only}');
SELECT * FROM compare('rn', '(y DESC, id)', '{"SELECT y, id FROM %t ORDER BY y DESC, id", "SELECT y, id FROM %t WHERE y > ''\\x0000ff'' AND y < ''\\x000200''"}', '{only}');
-- extreme ones
CREATE TABLE ex (id serial, v interval, n numeric, b varbit, c char(5000) COLLATE "C");
INSERT INTO ex (v) SELECT make_interval(months => m, days => d) + s::interval FROM unnest(ARRAY[-2147483646, -1, 0, 1, 2147483646]) m,
	unnest(ARRAY[-2147483646, 0, 2147483646]) d, unnest(ARRAY['-2562047788:00:54.775806', '0', '2562047788:00:54.775806']) s;
INSERT INTO ex (n) SELECT x * ('1e' || e)::numeric FROM unnest(ARRAY[1, -1, 9.5, -9999.9999]) x, unnest(ARRAY[-16383, -400, -64, 0, 64, 400, 131000]) e;
INSERT INTO ex (n) VALUES (repeat('9', 4000)::numeric), (('0.' || repeat('1', 4000))::numeric), (('-0.' || repeat('0', 16000) || '1')::numeric), (0.0000), (('0.' || repeat('0', 16383))::numeric);
INSERT INTO ex (b) VALUES (repeat('0', 20000)::varbit), (repeat('0', 20001)::varbit), ('1'), (''), (repeat('0', 60000)::varbit);
INSERT INTO ex (c) VALUES ('a'), ('b'), ('');
SELECT * FROM compare('ex', '(v)', '{"SELECT v FROM %t WHERE v IS NOT NULL", "SELECT v FROM %t WHERE v > ''0''", "SELECT id FROM %t WHERE v = make_interval(months => 2147483646)"}', '{only,bitmap}') WHERE query !~ 'id' OR mode <> 'only';
SELECT * FROM compare('ex', '(n, id)', '{"SELECT md5(n::text), id FROM %t WHERE n IS NOT NULL ORDER BY n, id", "SELECT id, n FROM %t WHERE n > 1e-100 AND n < 1e100"}', '{only}');
SELECT * FROM compare('ex', '(b, id)', '{"SELECT b, id FROM %t WHERE b IS NOT NULL ORDER BY b, id"}', '{only}');
SELECT * FROM compare('ex', '(c, id)', '{"SELECT c, id FROM %t WHERE c IS NOT NULL ORDER BY c, id"}', '{only}');
-- so long that no row of an index-only scan could hold them
INSERT INTO ex (b) SELECT repeat(string_agg(('x' || md5(i::text))::bit(128)::text, ''), 9)::varbit FROM generate_series(1, 150) i;
CREATE INDEX ON ex USING surfidx (b);
DROP TABLE eq, uq, rn, ex;
