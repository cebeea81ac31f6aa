-- Conditions after columns that have none, or only bounds: the scan leaps from one value of those columns to the next
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TABLE sk AS SELECT i AS id, CASE WHEN i % 11 = 0 THEN NULL ELSE i % 5 END AS a, CASE WHEN i % 13 = 0 THEN NULL ELSE i * 7919 % 401 END AS b,
	(CASE WHEN i % 2 = 0 THEN 'x' ELSE 'Y' END || i % 4) COLLATE "en-x-icu" AS t, round(i * 31 % 50 / 10.0, i % 3) AS n, repeat(md5(i::text), 8) AS pad FROM generate_series(1, 1500) i;
CREATE FUNCTION skipped(def text, ord text, back text) RETURNS TABLE (d text, state text, mode text, query text, complaint text) LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT (compare('sk', def, ARRAY(SELECT format('SELECT id FROM %%t WHERE %s %s', c, o) FROM unnest(ARRAY[ord, back]) o, unnest(ARRAY[
		'b = 77', 'b BETWEEN 100 AND 103', 'b < 3', 'b > 397', 'b IS NULL', 'b = ANY (''{7,399,200,-1,400,NULL}'')', 'b = ANY (''{7,399,200}'') AND b > 7', 'b = 77 AND n = 1',
		'b = 1000', 'b < 0', 'b > 5 AND b < 5', 'a > 1 AND b = 78', 'a < 3 AND b IN (3, 4)', 'a IS NOT NULL AND b < 2', 'b < ANY (''{2,3}'')', 'b IS NOT NULL AND n = 3.00', 'b = 12::int8', 'b > 397::int2']) c), '{only}')).*
$$;
SELECT * FROM skipped('(a, b, n, id) INCLUDE (pad)', '', 'ORDER BY a DESC, b DESC, n DESC, id DESC') WHERE complaint <> 'no index condition';
SELECT * FROM skipped('(a, b DESC NULLS LAST, id) INCLUDE (n, pad)', 'ORDER BY a, b DESC NULLS LAST, id', 'ORDER BY a DESC, b NULLS FIRST, id DESC') WHERE complaint <> 'no index condition';
SELECT * FROM skipped('(t, b, id) INCLUDE (n, a, pad)', 'ORDER BY t, b, id', 'ORDER BY t DESC, b DESC, id DESC') WHERE complaint <> 'no index condition';
SELECT * FROM skipped('(a, t DESC, b, id) INCLUDE (n, pad)', 'ORDER BY a, t DESC, b, id', 'ORDER BY a DESC, t, b DESC, id DESC') WHERE complaint <> 'no index condition';
-- in the middle of a column that is bounded, after one that is pinned and one that is a list
SELECT * FROM compare('sk', '(a, t, b, n, id) INCLUDE (pad)', ARRAY(SELECT format('SELECT id FROM %%t WHERE %s %s', c, o) FROM unnest(ARRAY['ORDER BY a, t, b, n, id', 'ORDER BY a DESC, t DESC, b DESC, n DESC, id DESC', '']) o, unnest(ARRAY[
	'a = 3 AND b = 77', 'a = 3 AND t > ''x'' AND b = 78', 'a = 2 AND t < ''x2'' AND b IN (7, 8, 9)', 'a = 1 AND b > 100 AND n = 1', 'a IS NULL AND n = 2.50']) c));
SELECT * FROM compare('sk', '(a, t, b, id) INCLUDE (pad)', ARRAY(SELECT format('SELECT id FROM %%t WHERE %s', c) FROM unnest(ARRAY[
	'a IN (1, 3) AND b = 77', 'a IN (1, 3) AND t IN (''x0'', ''Y1'', ''x2'') AND id < 100', 'a = ANY (''{0,2,4}'') AND t > ''x'' AND b IN (7, 8)']) c));
-- a cursor that turns round, and marks
CREATE INDEX sk_ab ON sk USING surfidx (a, b, id) INCLUDE (pad);
VACUUM ANALYZE sk;
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a, b, id FROM sk WHERE b IN (77, 300) ORDER BY a, b, id;
FETCH 12 FROM c;
FETCH BACKWARD 7 FROM c;
FETCH 20 FROM c;
FETCH BACKWARD 3 FROM c;
COMMIT;
-- it reads a part of the pages
CREATE TABLE wide AS SELECT i % 8 AS a, i AS b, repeat(md5(i::text), 4) AS pad FROM generate_series(1, 20000) i;
CREATE INDEX wide_ab ON wide USING surfidx (a, b) INCLUDE (pad);
VACUUM ANALYZE wide;
CREATE FUNCTION pages(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
	RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
END $$;
SELECT pg_relation_size('wide_ab') / 8192 > 300 AS large, pages('SELECT a, b FROM wide WHERE b = 7777') < 100 AS one,
	pages('SELECT a, b FROM wide WHERE a > 2 AND b BETWEEN 400 AND 500') < 100 AS some;
-- conditions that rows pass here and there: what fails is passed over where it stands, and the direction changes within runs of both
CREATE TABLE mixed AS SELECT i * 7919 % 20011 AS k, (i * 31 % 100)::int2 AS v, CASE WHEN i % 9 > 0 THEN i % 4 END AS w FROM generate_series(1, 20000) i;
CREATE INDEX mixed_kvw ON mixed USING surfidx (k, v DESC, w);
VACUUM ANALYZE mixed;
SELECT c, pages('SELECT k, v FROM mixed WHERE ' || c) < 150 AS few
	FROM unnest(ARRAY['v = 7', 'v IN (7, 50)', 'v < 60', 'w IS NULL', 'v > 3 AND w = 2']) c;
CREATE FUNCTION walked(conditions text, columns text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	c		refcursor;
	r		record;
	want	text[];
	at		int := 0;
	back	bool;
	wrong	bigint := 0;
BEGIN
	EXECUTE format('SELECT array_agg(r::text ORDER BY k) FROM (SELECT %s, k FROM mixed WHERE %s OFFSET 0) r', columns, conditions) INTO want;
	OPEN c SCROLL FOR EXECUTE format('SELECT %s, k FROM mixed WHERE %s ORDER BY k', columns, conditions);
	FOR n IN 1..2000 LOOP
		back := n * 7919 % 97 < 30;
		IF back THEN
			FETCH BACKWARD FROM c INTO r;
			at := greatest(at - 1, 0);
		ELSE
			FETCH c INTO r;
			at := least(at + 1, cardinality(want) + 1);
		END IF;
		wrong := wrong + (CASE WHEN at BETWEEN 1 AND cardinality(want) THEN r::text END IS DISTINCT FROM CASE WHEN FOUND THEN r::text END
			OR (FOUND AND r::text <> want[at]))::int;
	END LOOP;
	CLOSE c;
	RETURN wrong;
END $$;
SELECT c, walked(c, 'v') AS only, walked(c, 'v, ctid') AS rows
	FROM unnest(ARRAY['k > 100 AND v = 7', 'k < 9000 AND v IN (7, 50)', 'k > 0 AND v < 60', 'k > 0 AND w IS NULL', 'k > 5 AND v > 3 AND w = 2', 'k > 0 AND v < 98', 'k > 0 AND v % 2 = 0 AND w > 0']) c;
INSERT INTO mixed SELECT 20011 + i * 3, i % 100, i % 4 FROM generate_series(1, 300) i;
INSERT INTO mixed SELECT 100000 + i, i % 100, i % 4 FROM generate_series(1, 300) i;
UPDATE mixed SET w = 3 WHERE k % 50 = 1;
SELECT c, walked(c, 'v') AS only, walked(c, 'v, ctid') AS rows
	FROM unnest(ARRAY['k > 100 AND v = 7', 'k > 9000 AND v IN (7, 50)', 'k > 0 AND v < 60', 'k > 0 AND w IS NULL', 'k > 5 AND v > 3 AND w = 2', 'k > 0 AND v < 98']) c;
DROP TABLE mixed;
DROP FUNCTION walked;
SET enable_bitmapscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off;
SELECT pages('SELECT a, b FROM wide WHERE b IN (7777, 12000)') < 150 AS listed;
-- parallel scans leap, too, forward and in ranges of a list
CREATE FUNCTION dear(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000000 AS 'BEGIN RETURN true; END';
CREATE FUNCTION agree(condition text) RETURNS TABLE (parallel bool, n bigint, a bigint, b bigint, same bool) LANGUAGE plpgsql AS $$
DECLARE
	query CONSTANT text := 'SELECT count(*) AS n, sum(a) AS a, sum(b) AS b FROM wide WHERE ' || condition || ' AND dear(b)';
	plan text := '';
	line text;
	want record;
	got record;
BEGIN
	SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_seqscan = on;
	EXECUTE query INTO want;
	SET LOCAL max_parallel_workers_per_gather = 2; SET LOCAL enable_indexonlyscan = on; SET LOCAL enable_seqscan = off; SET LOCAL surfidx.aggregates = off;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line;
	END LOOP;
	EXECUTE query INTO got;
	RETURN QUERY SELECT plan ~ 'Parallel Index Only Scan using wide_ab', got.n, got.a, got.b, got = want;
END $$;
SET enable_indexscan = on; SET enable_bitmapscan = off; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_index_scan_size = 0; SET min_parallel_table_scan_size = 0;
SELECT c, b.* FROM unnest(ARRAY['b BETWEEN 7000 AND 7100', 'b IN (5, 9000, 9001, 20000)', 'a IN (1, 3, 6) AND b > 19000', 'a < 6 AND b < 50', 'b < 0']) c, agree(c) b;
INSERT INTO wide SELECT i % 8, i, 'delta' FROM generate_series(20001, 24000) i;
SELECT c, b.* FROM unnest(ARRAY['b BETWEEN 19900 AND 20100', 'b > 23990', 'a IN (1, 3, 6) AND b > 19990 AND b < 20010']) c, agree(c) b;
SET max_parallel_workers_per_gather = 2;
SELECT pages('SELECT count(*) FROM wide WHERE b BETWEEN 7000 AND 7100 AND dear(b)') < 250 AS some;
DROP FUNCTION agree, dear;
DROP TABLE sk, wide;
DROP FUNCTION pages, skipped;
