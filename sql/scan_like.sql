-- LIKE above an index-only scan and below an aggregate: what textlike says, errors included, for random strings and patterns
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET max_parallel_workers_per_gather = 0;
SET enable_bitmapscan = off;
\pset tuples_only on
\pset format unaligned
CREATE FUNCTION letters(seed int, low int, high int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce(string_agg(substr('aaabbcé%_\', 1 + abs(hashint4(seed * 100 + i)) % 10, 1), ''), '')
		FROM generate_series(1, low + abs(hashint4(seed)) % (high - low + 1)) i
$$;
CREATE TABLE w (t text COLLATE "C", n int);
INSERT INTO w SELECT letters(i, 0, 14), i FROM generate_series(1, 3000) i;
INSERT INTO w VALUES (NULL, 0), (repeat('ab', 800) || 'c', 1), (repeat('x', 2000) || 'éa_b', 2);
CREATE INDEX w_t ON w USING surfidx (t);
VACUUM ANALYZE w;
CREATE FUNCTION answer(query text, pattern text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format(query, pattern) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
CREATE FUNCTION differ(query text) RETURNS TABLE (pattern text, want text, got text) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..400 LOOP
		pattern := CASE WHEN i % 3 > 0 THEN '%' ELSE '' END || letters(-i, 0, 6) || CASE WHEN i % 2 = 0 THEN '%' ELSE '' END;
		SET LOCAL enable_seqscan = on;
		SET LOCAL enable_indexonlyscan = off;
		SET LOCAL enable_indexscan = off;
		want := answer(query, pattern);
		SET LOCAL enable_seqscan = off;
		SET LOCAL enable_indexonlyscan = on;
		SET LOCAL enable_indexscan = on;
		got := answer(query, pattern);
		IF got IS DISTINCT FROM want THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT q, d.* FROM unnest(ARRAY['SELECT count(*) FROM w WHERE t LIKE %L', 'SELECT md5(string_agg(t, '','' ORDER BY t)) FROM w WHERE t LIKE %L',
	'SELECT count(*) FROM w WHERE t LIKE %L AND t LIKE ''%%b%%''', 'SELECT count(*) FROM w WHERE t NOT LIKE %L', 'SELECT count(*) FILTER (WHERE t LIKE %L) FROM w']) q, differ(q) d;
-- some match, and some patterns are wrong
SELECT count(DISTINCT a) > 50, count(*) FILTER (WHERE a = '22025') > 5 FROM (SELECT answer('SELECT count(*) FROM w WHERE t LIKE %L', '%' || letters(-i, 0, 6)) AS a FROM generate_series(1, 400) i) x;
-- a pattern that changes from row to row, and from execution to execution
CREATE TABLE patterns AS SELECT i, '%' || letters(-i, 0, 3) || '%' AS p FROM generate_series(1, 300) i;
DELETE FROM patterns WHERE answer('SELECT count(*) FROM w WHERE t LIKE %L', p) = '22025';
ANALYZE patterns;
SET enable_seqscan = off;
SET enable_material = off;
SET enable_memoize = off;
CREATE FUNCTION matches(pattern text) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM w WHERE t LIKE pattern); END $$;
CREATE TABLE counts AS SELECT i, p, (SELECT count(*) FROM w WHERE t LIKE p) AS n, matches(p) AS m FROM patterns;
SELECT count(*) > 100, sum(n) > 10000, count(*) FILTER (WHERE n <> m) FROM counts;
SET enable_seqscan = on;
SET enable_indexonlyscan = off;
SET enable_indexscan = off;
SELECT count(*) FROM counts WHERE n <> (SELECT count(*) FROM w WHERE t LIKE p);
DROP TABLE w, patterns, counts;
DROP FUNCTION letters, answer, differ, matches;
