-- Intermediate runs: a delta that has too few entries for the main tree's leaves goes into a run of its own, which
-- is merged into an older one when it has grown.  Every reader has to see through all of them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET statement_timeout = '120s';

CREATE TABLE runs (k int8, p int) WITH (autovacuum_enabled = off);
CREATE FUNCTION runs_add(n int, salt int) RETURNS void LANGUAGE sql AS
	$$INSERT INTO runs SELECT hashint8extended(i, salt) % 1000000, i FROM generate_series(1, n) i$$;
-- what a sequential scan says against forward, backward and bitmap scans of the index
CREATE FUNCTION runs_compare(OUT missing bigint, OUT extra bigint, OUT backward bigint, OUT bitmap bigint)
	LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_seqscan = on;
	CREATE TEMP TABLE by_heap AS SELECT k, ctid::text AS t FROM runs;
	SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on; SET LOCAL enable_sort = off;
	CREATE TEMP TABLE by_index AS SELECT k, ctid::text AS t FROM runs WHERE k > -1000000000 ORDER BY k;
	CREATE TEMP TABLE by_index_back AS SELECT k, ctid::text AS t FROM runs WHERE k > -1000000000 ORDER BY k DESC;
	SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = on; SET LOCAL enable_sort = on;
	bitmap := (SELECT count(*) FROM runs WHERE k BETWEEN -300000 AND 300000) -
		(SELECT count(*) FROM by_heap WHERE k BETWEEN -300000 AND 300000);
	SET LOCAL enable_seqscan = on;
	missing := (SELECT count(*) FROM (TABLE by_heap EXCEPT ALL TABLE by_index) d);
	extra := (SELECT count(*) FROM (TABLE by_index EXCEPT ALL TABLE by_heap) d);
	backward := (SELECT count(*) FROM (TABLE by_index EXCEPT ALL TABLE by_index_back) d) +
		(SELECT count(*) FROM by_index_back) - (SELECT count(*) FROM by_index);
	DROP TABLE by_heap, by_index, by_index_back;
END $$;
-- what the planner expects of a lookup
CREATE FUNCTION runs_cost(OUT cost numeric) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
	EXECUTE 'EXPLAIN (FORMAT json) SELECT k FROM runs WHERE k = 1' INTO plan;
	cost := plan->0->'Plan'->>'Startup Cost';
END $$;

SELECT runs_add(40000, 1);
CREATE INDEX runs_k ON runs USING surfidx (k) WITH (delta_size = 64, run_ratio = 10, merge_ratio = 10);
-- three deltas, three runs; then one so small that it joins the newest
SELECT runs_add(3000, 2);
VACUUM runs;
SELECT runs_add(3000, 3);
VACUUM runs;
SELECT runs_add(3000, 4);
VACUUM runs;
SELECT runs_add(100, 5);
VACUUM runs;
SELECT row_number() OVER () AS n, entries, merging FROM surfidx_runs('runs_k');
SELECT delta_entries FROM surfidx_meta('runs_k');
SELECT surfidx_check('runs_k', true);
SELECT runs_cost() AS with_runs \gset
SELECT runs_add(500, 6);
SELECT * FROM runs_compare();

-- a cursor that turns round between the runs, and a merge of all of them while it is open
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_sort = off;
SET LOCAL enable_bitmapscan = off;
DECLARE c SCROLL CURSOR FOR SELECT k, p FROM runs WHERE k BETWEEN -100 AND 500 ORDER BY k;
MOVE FORWARD 5 IN c;
SELECT count(*) FROM runs_compare();
SELECT surfidx_merge('runs_k') > 0 AS merged;
MOVE FORWARD ALL IN c;
MOVE BACKWARD ALL IN c;
COMMIT;
SELECT row_number() OVER () AS n, entries FROM surfidx_runs('runs_k');
SELECT runs_cost() < :with_runs - 3 * 0.1 AS fewer_descents;
SELECT surfidx_check('runs_k', true);
SELECT * FROM runs_compare();

-- VACUUM removes from every run
SELECT runs_add(3000, 7);
VACUUM runs;
SELECT runs_add(3000, 8);
VACUUM runs;
DELETE FROM runs WHERE p % 3 = 0;
VACUUM runs;
SELECT row_number() OVER () AS n, entries FROM surfidx_runs('runs_k');
SELECT runs_add(2000, 9);
SELECT surfidx_check('runs_k', true);
SELECT * FROM runs_compare();

-- a run that has grown is merged into the next one
ALTER INDEX runs_k SET (merge_ratio = 0.1);
VACUUM runs;
SELECT row_number() OVER () AS n, entries FROM surfidx_runs('runs_k');
SELECT surfidx_check('runs_k', true);
SELECT * FROM runs_compare();
DROP TABLE runs;

-- the list of runs is bounded, whatever the settings
CREATE TABLE runs (k int8, p int) WITH (autovacuum_enabled = off);
SELECT runs_add(20000, 1);
CREATE INDEX runs_k ON runs USING surfidx (k) WITH (delta_size = 64, run_ratio = 10, merge_ratio = 10);
SELECT runs_add(2200, 20);
VACUUM runs;
SELECT runs_add(2200, 21);
VACUUM runs;
SELECT runs_add(2200, 22);
VACUUM runs;
SELECT runs_add(2200, 23);
VACUUM runs;
SELECT runs_add(2200, 24);
VACUUM runs;
SELECT runs_add(2200, 25);
VACUUM runs;
SELECT runs_add(2200, 26);
VACUUM runs;
SELECT runs_add(2200, 27);
VACUUM runs;
SELECT count(*) BETWEEN 2 AND 8 AS bounded, sum(entries) FROM surfidx_runs('runs_k');
SELECT surfidx_check('runs_k', true);
SELECT * FROM runs_compare();
-- pages of dropped runs are used again
SELECT surfidx_merge('runs_k') > 0 AS merged;
SELECT count(*) FROM surfidx_runs('runs_k');
SELECT surfidx_check('runs_k', true);

-- a unique constraint looks into every run
DROP TABLE runs;
CREATE TABLE runs (k int8, p int) WITH (autovacuum_enabled = off);
INSERT INTO runs SELECT i * 7 % 100003, i FROM generate_series(1, 20000) i;
SET client_min_messages = warning;
CREATE UNIQUE INDEX runs_k ON runs USING surfidx (k) INCLUDE (p) WITH (delta_size = 64, run_ratio = 10, merge_ratio = 10);
RESET client_min_messages;
INSERT INTO runs SELECT 200000 + i * 7919 % 100003, i FROM generate_series(1, 3000) i;
VACUUM runs;
INSERT INTO runs SELECT 400000 + i * 7919 % 100003, i FROM generate_series(1, 3000) i;
VACUUM runs;
SELECT count(*) FROM surfidx_runs('runs_k');
INSERT INTO runs SELECT k, 0 FROM runs WHERE p = 1000 AND k < 200000;
INSERT INTO runs SELECT k, 0 FROM runs WHERE p = 1000 AND k BETWEEN 200000 AND 400000;
INSERT INTO runs SELECT k, 0 FROM runs WHERE p = 1000 AND k > 400000;
-- payloads come from runs, too
SET enable_seqscan = off;
SELECT count(*), sum(p) FROM runs WHERE k BETWEEN 210000 AND 450000;
RESET enable_seqscan;
SELECT surfidx_check('runs_k', true);
SELECT count(*) FROM surfidx_progress();
DROP TABLE runs;
DROP FUNCTION runs_add, runs_compare, runs_cost;
