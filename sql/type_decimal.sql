-- Doubles that are decimals: stored in blocks of integers, with the same answers as others
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
-- prices and their like, of both signs, of several numbers of places; beside them what is no decimal
SELECT make_source('price', $$SELECT i, ((i * 7919) % 30011 - 9000) / 100::float8 FROM generate_series(1, 900) i$$);
SELECT * FROM compare_type('price', '{-Infinity,-90,-12.34,-12.345,-0,0,0.01,0.010000000000000002,0.009999999999999998,99.99,1e300,NaN}');
SELECT make_source('mixed', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 311 = 0 THEN 'NaN' WHEN i % 313 = 0 THEN 'Infinity'
	WHEN i % 307 = 0 THEN '-0' WHEN i % 293 = 0 THEN '0' WHEN i BETWEEN 400 AND 450 THEN (i / 7::float8)::text
	WHEN i % 101 = 0 THEN '1125899906842624' WHEN i % 103 = 0 THEN '-1125899906842623' WHEN i % 107 = 0 THEN '0.000000000000001'
	WHEN i > 700 THEN (i * 1000000007::int8)::text ELSE round(i * 0.317, i % 7)::text END::float8 FROM generate_series(1, 900) i$$);
SELECT * FROM compare_type('mixed', '{-1125899906842623,-1,0,0.1,0.3,0.30000000000000004,57.142857142857146,1125899906842624,700000004900,NaN}');
SELECT make_source('f4', $$SELECT i, (((i * 7919) % 30011 - 9000) / 100::float8)::float4 FROM generate_series(1, 900) i$$);
SELECT * FROM compare_type('f4', '{-Infinity,-12.34,0,0.01,99.99,NaN}');
SELECT * FROM compare('price', '(g, v DESC) INCLUDE (id, rk)', ARRAY(
	SELECT format('SELECT id, v FROM %%t WHERE g = %s AND v %s %L', g, op, c)
	FROM unnest('{1,4}'::int[]) g, unnest('{<,<=,=,>=,>}'::text[]) op, unnest('{-12.34,-12.3400000000000001,0.07,0.070000000000000007,45.6}'::text[]) c)
	|| '{"SELECT g, v FROM %t WHERE g = 3 ORDER BY v DESC"}'
	, '{index,bitmap}');
DROP TABLE price, mixed, f4;

-- a leaf's blocks say which codec they are of
CREATE FUNCTION decimal_codecs(index text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(DISTINCT k, ' ' ORDER BY k) FROM generate_series(1, pg_relation_size(index::regclass) / current_setting('block_size')::int - 1) b,
		surfidx_page_stats(index::regclass, b) s, jsonb_object_keys(s.codecs -> 'keys') k WHERE s.kind = 'leaf' $$;
CREATE TABLE d (id int, price float8, place float8, no float8, whole float8, late float8) WITH (autovacuum_enabled = off, fillfactor = 60);
INSERT INTO d SELECT i, (i * 7919::int8 % 2000003) / 100::float8, (i * 104729::int8 % 18000000 - 9000000) / 100000::float8,
	sqrt(i), i, i / 8::float8 FROM generate_series(1, 20000) i;
CREATE INDEX d_price ON d USING surfidx (price);
CREATE INDEX d_place ON d USING surfidx (place DESC, id);
CREATE INDEX d_place_only ON d USING surfidx (place DESC);
CREATE INDEX d_no ON d USING surfidx (no);
CREATE INDEX d_whole ON d USING surfidx (whole);
CREATE INDEX d_cut ON d USING surfidx (price) WITH (keys = cut);
CREATE INDEX d_pinned ON d USING surfidx (whole) WITH (codec = decimals);
CREATE INDEX d_late ON d USING surfidx (late);
CREATE INDEX d_ef ON d USING surfidx (price) WITH (codec = ef);
SELECT index, decimal_codecs(index) AS codecs FROM unnest('{d_price,d_place_only,d_no,d_pinned}'::text[]) index;
SELECT pg_relation_size('d_price') < 0.6 * pg_relation_size('d_ef') AS smaller;

-- the same questions by indexes and without them, as entries come to be where they are
CREATE TABLE decimal_asked (query text);
INSERT INTO decimal_asked SELECT format(q, c, v) FROM unnest('{price,place,no,whole,late}'::text[]) c,
	unnest(ARRAY['SELECT count(*), sum(%1$s::numeric), min(%1$s), max(%1$s) FROM d WHERE %1$s >= %2$s',
		'SELECT count(%1$s) FROM d WHERE %1$s < %2$s', 'SELECT count(*), min(id), max(id) FROM d WHERE %1$s = %2$s',
		'SELECT %1$s, count(*) FROM d WHERE %1$s BETWEEN %2$s AND %2$s + 40 GROUP BY %1$s ORDER BY %1$s',
		'SELECT %1$s FROM d WHERE %1$s > %2$s ORDER BY %1$s LIMIT 70', 'SELECT %1$s FROM d WHERE %1$s < %2$s ORDER BY %1$s DESC LIMIT 70',
		'SELECT min(%1$s), max(%1$s), count(*) FROM d', 'SELECT %1$s FROM d ORDER BY %1$s']) q,
	unnest('{-45.00001,0,79.19,79.190000000000012,12.5,141.4213562373095,2499.875,19999}'::float8[]) v;
CREATE FUNCTION decimal_answer(q text, by_index bool, OUT r text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('enable_' || s, (NOT by_index)::text, true) FROM unnest('{seqscan,sort,hashagg}'::text[]) s;
	PERFORM set_config('enable_' || s, by_index::text, true) FROM unnest('{indexscan,indexonlyscan}'::text[]) s;
	PERFORM set_config('surfidx.aggregates', CASE WHEN by_index THEN 'on' ELSE 'off' END, true), set_config('enable_bitmapscan', 'off', true);
	EXECUTE format('SELECT md5(string_agg(x::text, $s$ $s$)) FROM (%s) x', q) INTO r;
END $$;
CREATE FUNCTION decimal_ask() RETURNS TABLE (query text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM surfidx_check(indexrelid, true, true) FROM pg_index WHERE indrelid = 'd'::regclass;
	RETURN QUERY SELECT a.query FROM decimal_asked a WHERE decimal_answer(a.query, true) IS DISTINCT FROM decimal_answer(a.query, false);
END $$;
CREATE PROCEDURE decimal_merge() LANGUAGE sql AS $$ SELECT surfidx_merge(indexrelid) FROM pg_index WHERE indrelid = 'd'::regclass $$;
VACUUM (FREEZE, ANALYZE) d;
SELECT * FROM decimal_ask();
-- more of them, with more places, and some that are none among those that are
INSERT INTO d SELECT i, (i * 7919::int8 % 20000003) / 1000::float8, (i * 104729::int8 % 18000000 - 9000000) / 100000::float8,
	sqrt(i), i, CASE WHEN i % 500 = 0 THEN 0.1::float8 + 0.2 ELSE i / 8::float8 END FROM generate_series(20001, 23000) i;
SELECT * FROM decimal_ask();
CALL decimal_merge();
SELECT * FROM decimal_ask();
UPDATE d SET price = price + 0.01, late = late + 0.1 WHERE id % 7 = 0;
DELETE FROM d WHERE id % 11 = 0;
SELECT * FROM decimal_ask();
CALL decimal_merge();
SELECT * FROM decimal_ask();
VACUUM (ANALYZE) d;
SELECT * FROM decimal_ask();
UPDATE d SET price = -price, late = 'Infinity' WHERE id % 13 = 0;
UPDATE d SET price = '-0', late = 0, place = 'NaN' WHERE id % 1301 = 0;
CALL decimal_merge();
VACUUM (FREEZE) d;
SELECT * FROM decimal_ask();
SELECT index, decimal_codecs(index) AS codecs FROM unnest('{d_price,d_late}'::text[]) index;

-- unique
SET surfidx.unique_notice = off;
CREATE TABLE u (v float8);
CREATE UNIQUE INDEX u_v ON u USING surfidx (v);
INSERT INTO u SELECT i / 100::float8 FROM generate_series(1, 3000) i;
SELECT surfidx_merge('u_v');
INSERT INTO u VALUES (7.07);
INSERT INTO u VALUES (7.07::float8 + 1e-15);
INSERT INTO u SELECT i / 100::float8 FROM generate_series(2990, 3010) i ON CONFLICT DO NOTHING;
SELECT count(*), max(v) FROM u;
DROP TABLE d, u, decimal_asked;
DROP FUNCTION decimal_codecs, decimal_answer, decimal_ask;
DROP PROCEDURE decimal_merge;
