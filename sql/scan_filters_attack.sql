-- Conditions that do not bound the range, in each plan, beside a sequential scan.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET timezone = 'Europe/Berlin';

-- where the answers of a query differ: a line for each plan that gives other rows
CREATE FUNCTION filters_attack(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	want text;
	got text;
	plan text;
	rows text := format('SELECT md5(string_agg(x::text, chr(10) ORDER BY x::text COLLATE "C")) || count(*) FROM (%s) x', q);
BEGIN
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL surfidx.aggregates = off;
	EXECUTE rows INTO want;
	SET LOCAL enable_seqscan = off;
	SET LOCAL surfidx.aggregates = on;
	FOREACH plan IN ARRAY ARRAY['enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan'] LOOP
		PERFORM set_config('enable_indexscan', (plan <> 'enable_bitmapscan')::text, true),
			set_config('enable_indexonlyscan', (plan = 'enable_indexonlyscan')::text, true),
			set_config('enable_bitmapscan', (plan = 'enable_bitmapscan')::text, true);
		EXECUTE rows INTO got;
		IF got IS DISTINCT FROM want THEN
			RETURN NEXT plan || ': ' || q;
		END IF;
	END LOOP;
END $$;

-- conditions on columns k, v and z, a sample of all combinations
CREATE FUNCTION filters_attack_all(k text[], v text[], z text[], nth int) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT f FROM (
		SELECT format('SELECT k, v, z FROM fa WHERE %s AND %s AND %s', a, b, c) AS q,
			row_number() OVER (ORDER BY a COLLATE "C", b COLLATE "C", c COLLATE "C") AS n
		FROM unnest(k) a, unnest(v) b, unnest(z) c) x, filters_attack(q) f
	WHERE n % nth = 0
$$;

-- Comparator order: IS NULL and IS NOT NULL are filters that operators know nothing of.
CREATE TABLE fa (k text COLLATE "und-x-icu", v int, z int, w text COLLATE "und-x-icu");
INSERT INTO fa SELECT 'x' || i % 5, CASE WHEN i % 4 = 0 THEN i % 7 END, i % 1000, CASE WHEN i % 3 = 0 THEN 'w' || i % 50 END
FROM generate_series(1, 4000) i;
CREATE INDEX fa_i ON fa USING surfidx (k, v, z);
CREATE INDEX fa_j ON fa USING surfidx (z, w DESC, v);
VACUUM ANALYZE fa;
SELECT filters_attack(q) FROM unnest(ARRAY[
	$$SELECT k, v, z FROM fa WHERE k > 'a' AND v IS NULL AND z >= 700$$,
	$$SELECT k, v, z FROM fa WHERE k > 'a' AND v IS NOT NULL AND z >= 700$$,
	$$SELECT k, v, z FROM fa WHERE v IS NULL AND z = 7$$,
	$$SELECT z, w, v FROM fa WHERE z > 20 AND w IS NULL AND v = 3$$,
	$$SELECT z, w, v FROM fa WHERE z > 20 AND w IS NOT NULL AND v = 3$$,
	$$SELECT z, w, v FROM fa WHERE z > 20 AND w IS NULL AND v IS NULL$$]) q;
DROP TABLE fa;

-- Byte order: values that are equal and differ, prefixes of one another, ends of types.
CREATE TABLE fa (k numeric, v text COLLATE "C", z float8) WITH (autovacuum_enabled = off);
CREATE INDEX fa_i ON fa USING surfidx (k, v DESC, z NULLS FIRST);
INSERT INTO fa SELECT
	(ARRAY['1', '1.0', '1.00', '-1', 'NaN', '1e30', '-1e-30', '0.0', NULL])[1 + i % 9]::numeric,
	(ARRAY['', 'a', 'ab', 'aa', repeat('L', 29), repeat('L', 30), repeat('L', 31), repeat('L', 1100) || 'a', repeat('L', 1100) || 'b', E'\x01', NULL])[1 + i % 11],
	(ARRAY['0', '-0', 'NaN', 'inf', '-inf', '1', '0.1', '1e-300', NULL])[1 + i / 3 % 9]::float8
FROM generate_series(1, 2000) i;
ANALYZE fa;
CREATE FUNCTION filters_attack_bytes() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT filters_attack_all(
		ARRAY['k BETWEEN -1 AND 1', 'k > 0', 'k <= 1.000', 'true'],
		ARRAY[$q$v = 'a'$q$, $q$v < 'ab'$q$, $q$v >= 'ab'$q$, 'v IS NULL', 'v IS NOT NULL', $q$v = ANY ('{a,"",LL,NULL}')$q$,
			$q$v LIKE 'L%'$q$, $q$v > repeat('L', 30)$q$, $q$v <= repeat('L', 31)$q$, $q$v = repeat('L', 1100) || 'b'$q$,
			$q$v < ANY (ARRAY['', repeat('L', 29)])$q$, $q$v >= 'a'::name$q$],
		ARRAY['z = 0', 'z >= 0', $q$z = 'NaN'$q$, $q$z < 'inf'$q$, 'z IS NULL', 'z = ANY (ARRAY[-0, 0.1, 1]::float8[])',
			'z <= 0.1::float4', '(v, z) > (''aa'', 0)', 'true'],
		17)
$$;
SELECT filters_attack_bytes();
SELECT surfidx_merge('fa_i') >= 0 AS merged;
VACUUM fa;
INSERT INTO fa SELECT k, v, z FROM fa LIMIT 300;
SELECT filters_attack_bytes();
DROP INDEX fa_i;
CREATE INDEX fa_i ON fa USING surfidx (k DESC, v, z DESC) WITH (keys = cut);
DELETE FROM fa WHERE z = 1;
VACUUM fa;
SELECT filters_attack_bytes();
DROP TABLE fa;

-- Constants of other types, some of which only operators can tell of, from row to row of a join.
CREATE TABLE fa (k timestamp, v date, z int2);
INSERT INTO fa SELECT '2024-10-27 00:00'::timestamp + i % 300 * interval '1 min', '2024-10-25'::date + i % 5, i % 50 - 25
FROM generate_series(1, 4000) i;
CREATE INDEX fa_i ON fa USING surfidx (k, v, z);
VACUUM ANALYZE fa;
CREATE TABLE fp AS SELECT '2024-10-26 22:00+00'::timestamptz + i * interval '7 min' AS a,
	'2024-10-26 22:00+00'::timestamptz + i * interval '29 min' AS b,
	'2024-10-25 00:00'::timestamptz + i % 9 * interval '12 hours' AS c, (i % 50 - 25)::bigint AS d
FROM generate_series(0, 30) i;
INSERT INTO fp VALUES (NULL, NULL, NULL, NULL), ('-infinity', 'infinity', 'infinity', 40000), ('-infinity', 'infinity', '2024-10-27', -9e18);
ANALYZE fp;
SELECT filters_attack(format('SELECT a, (SELECT count(*) FROM fa WHERE %s) FROM fp', c)) FROM unnest(ARRAY[
	'k >= a AND k < b AND v = c', 'k = a', 'k <= a AND v >= c AND z < d', 'k <= a AND v IS NOT NULL AND z = d',
	'v = c AND z = d', 'v <= c AND z = ANY (ARRAY[d, d + 1])', '(k, v) > (a, c) AND z = d',
	'k > a AND k < b AND (v, z) < (c, d)']) c;
SELECT filters_attack(format('SELECT a, x.* FROM fp, LATERAL (SELECT k, v, z FROM fa WHERE k >= a AND k < b AND v >= c AND z > d
	ORDER BY k %1$s, v %1$s, z %1$s LIMIT 3) x', o)) FROM unnest(ARRAY['ASC', 'DESC']) o;
DROP TABLE fa, fp;

-- A cursor that turns round where entries are passed over, and among those that pass.
CREATE TABLE fa (k int, v int, z int);
INSERT INTO fa SELECT i % 3, i % 100, i FROM generate_series(1, 6000) i;
CREATE INDEX fa_i ON fa USING surfidx (k, v, z);
VACUUM ANALYZE fa;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, v, z FROM fa WHERE k >= 0 AND v BETWEEN 7 AND 8 AND z < 1000 ORDER BY k, v, z;
MOVE 3 FROM c;
FETCH 2 FROM c;
FETCH BACKWARD 3 FROM c;
MOVE 2 FROM c;
FETCH 2 FROM c;
MOVE ALL FROM c;
FETCH BACKWARD 2 FROM c;
FETCH 3 FROM c;
MOVE BACKWARD ALL FROM c;
FETCH 1 FROM c;
COMMIT;
DROP TABLE fa;
DROP FUNCTION filters_attack_bytes, filters_attack_all, filters_attack;
