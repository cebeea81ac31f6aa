-- Parallel index and index-only scans: each entry is returned by exactly one participant, in every state of the delta
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET surfidx.aggregates = off;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET enable_bitmapscan = off;
SET enable_hashagg = off;
-- work that is worth sharing
SET cpu_tuple_cost = 1;
SET cpu_index_tuple_cost = 1;

CREATE TABLE par (i int, s text COLLATE "C", n numeric, pad text) WITH (autovacuum_enabled = off);
CREATE INDEX par_i ON par USING surfidx (i) INCLUDE (s);
CREATE INDEX par_s ON par USING surfidx (s DESC, i);
CREATE INDEX par_n ON par USING surfidx (n);

-- one query by sequential scan and by parallel index scan: '' if they agree
CREATE FUNCTION par_cmp(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan text;
	a text;
	b text;
	line text;
BEGIN
	SET LOCAL enable_seqscan = off;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || q LOOP
		plan := concat_ws(' ', plan, trim(line));
	END LOOP;
	EXECUTE q INTO a;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	SET LOCAL max_parallel_workers_per_gather = 0;
	EXECUTE q INTO b;
	SET LOCAL enable_indexscan = on;
	SET LOCAL enable_indexonlyscan = on;
	SET LOCAL max_parallel_workers_per_gather = 2;
	RETURN CASE WHEN plan !~ 'Parallel Index' THEN 'not parallel: ' || plan
		WHEN a IS DISTINCT FROM b THEN format('%s instead of %s: %s', a, b, q) ELSE '' END;
END $$;

CREATE FUNCTION par_all() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT r FROM (VALUES
		('SELECT row(count(*), sum(i), min(i), max(i))::text FROM par WHERE i >= 0'),
		('SELECT row(count(*), sum(i), sum(length(s)))::text FROM par WHERE i BETWEEN 1000 AND 9000'),
		('SELECT row(count(*), sum(i))::text FROM par WHERE i = ANY (ARRAY[' || (SELECT string_agg(g::text, ',') FROM generate_series(1, 20000, 37) g) || '])'),
		('SELECT row(count(*), sum(i), sum(length(pad)))::text FROM par WHERE s > ''4'''),
		('SELECT row(count(*), sum(i))::text FROM par WHERE s IS NULL AND i > 0'),
		('SELECT row(count(*), sum(n))::text FROM par WHERE n < 50.5'),
		('SELECT md5(string_agg(s || i, '','')) FROM (SELECT s, count(*) AS i FROM par WHERE s > ''8'' GROUP BY s ORDER BY s DESC) x'),
		('SELECT md5(string_agg(s || i, '','')) FROM (SELECT s, count(*) AS i FROM par WHERE s > ''8'' GROUP BY s ORDER BY s) x')) q (q),
		LATERAL par_cmp(q) r
	WHERE r <> '';
$$;

INSERT INTO par SELECT g * 7919 % 20011, CASE WHEN g % 50 > 0 THEN md5((g % 3000)::text) END, g % 1000 / 4.0, repeat('x', 100)
FROM generate_series(1, 10000) g;
ANALYZE par;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM par WHERE i > 100;
EXPLAIN (COSTS OFF) SELECT s, count(*) FROM par WHERE s > '8' GROUP BY s ORDER BY s;
RESET enable_seqscan;
SELECT * FROM par_all();
SELECT surfidx_merge('par_i') > 0 AS i, surfidx_merge('par_s') > 0 AS s, surfidx_merge('par_n') > 0 AS n;
SELECT * FROM par_all();
INSERT INTO par SELECT g * 7919 % 20011, CASE WHEN g % 50 > 0 THEN md5((g % 3000)::text) END, g % 1000 / 4.0, repeat('x', 100)
FROM generate_series(10001, 20000) g;
SELECT * FROM par_all();
DELETE FROM par WHERE i % 5 = 0;
VACUUM par;
SELECT * FROM par_all();
SELECT surfidx_check('par_i', true), surfidx_check('par_s', true), surfidx_check('par_n', true);
-- restarted in a nested loop
SET enable_seqscan = off;
SELECT count(*), sum(c) FROM generate_series(1, 3) k, LATERAL (SELECT count(*) AS c FROM par WHERE i > k * 1000) x;
-- a bitmap that one participant makes and all read by
INSERT INTO par SELECT g * 7919 % 20011, md5((g % 3000)::text), g % 1000 / 4.0, repeat('x', 100) FROM generate_series(20001, 22000) g;
ANALYZE par;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM par WHERE i BETWEEN 1000 AND 9000;
SELECT row(count(*), sum(i), sum(n))::text AS par, (SELECT row(count(*), sum(length(pad)))::text FROM par WHERE s > '8' OR n < 50.5) AS ored
FROM par WHERE i BETWEEN 1000 AND 9000 \gset bitmap_
SET enable_seqscan = on;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;
SELECT row(count(*), sum(i), sum(n))::text = :'bitmap_par' AS same, (SELECT row(count(*), sum(length(pad)))::text FROM par WHERE s > '8' OR n < 50.5) = :'bitmap_ored' AS same_ored
FROM par WHERE i BETWEEN 1000 AND 9000;
DROP TABLE par;
DROP FUNCTION par_all(), par_cmp(text);
