-- Builds in memory, with files and with parallel workers have to make the same index.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.unique_notice = off;
SET min_parallel_table_scan_size = 0;
SET statement_timeout = '120s';

CREATE TABLE spooled (id int, n int8, t text COLLATE "C", l text COLLATE "POSIX", v numeric, p text) WITH (parallel_workers = 2);
INSERT INTO spooled
	SELECT i, hashint8extended(i, 1), repeat('prefix', i % 4) || md5(i::text), md5((i % 100)::text),
		CASE WHEN i % 50 > 0 THEN (i % 1000) / 8.0 END, 'payload ' || i
	FROM generate_series(1, 30000) i;
INSERT INTO spooled (id) SELECT i FROM generate_series(30001, 30100) i;
VACUUM ANALYZE spooled;

-- Every index is checked against the table and against its order, and what it returns against a sort.
CREATE PROCEDURE spooled_indexes(workers int, memory text) LANGUAGE plpgsql AS $$
DECLARE
	d text;
BEGIN
	PERFORM set_config('max_parallel_maintenance_workers', workers::text, true);
	PERFORM set_config('maintenance_work_mem', memory, true);
	FOREACH d IN ARRAY ARRAY['(n)', '(n DESC NULLS LAST, id)', '(t)', '(l, t)', '(v)', '(id) INCLUDE (p)', '(lower(t), v)'] LOOP
		EXECUTE 'CREATE INDEX spooled_index ON spooled USING surfidx ' || d;
		PERFORM surfidx_check('spooled_index', true);
		EXECUTE 'REINDEX INDEX spooled_index';
		PERFORM surfidx_check('spooled_index', true);
		DROP INDEX spooled_index;
	END LOOP;
	EXECUTE 'CREATE UNIQUE INDEX spooled_unique ON spooled USING surfidx (id)';
	PERFORM surfidx_check('spooled_unique', true);
	DROP INDEX spooled_unique;
	BEGIN
		EXECUTE 'CREATE UNIQUE INDEX spooled_unique ON spooled USING surfidx (l)';
		RAISE 'duplicates were not found';
	EXCEPTION WHEN unique_violation THEN
		RAISE NOTICE '%', SQLERRM;
	END;
END $$;

CALL spooled_indexes(0, '64MB');
CALL spooled_indexes(0, '1MB');
-- with 64 MB the planner allows one worker, with 256 MB both
CALL spooled_indexes(2, '64MB');
CALL spooled_indexes(2, '256MB');

-- so many files that some are merged before the end
CREATE TABLE spooled_much AS SELECT i, md5(i::text) COLLATE "C" AS t FROM generate_series(1, 250000) i;
ANALYZE spooled_much;
BEGIN;
SET LOCAL max_parallel_maintenance_workers = 0;
SET LOCAL maintenance_work_mem = '1MB';
CREATE INDEX spooled_much_t ON spooled_much USING surfidx (t, i);
SELECT surfidx_check('spooled_much_t', true);
COMMIT;
DROP TABLE spooled_much;

-- concurrently, while there are dead rows; and the whole table at once
SET max_parallel_maintenance_workers = 2;
SET maintenance_work_mem = '128MB';
DELETE FROM spooled WHERE id % 7 = 0;
UPDATE spooled SET n = n + 1 WHERE id % 11 = 0;
CREATE INDEX CONCURRENTLY spooled_index ON spooled USING surfidx (n, t);
SELECT surfidx_check('spooled_index', true);
REINDEX INDEX CONCURRENTLY spooled_index;
SELECT surfidx_check('spooled_index', true);
CREATE INDEX spooled_text ON spooled USING surfidx (t);
REINDEX TABLE spooled;
SELECT surfidx_check('spooled_index', true), surfidx_check('spooled_text', true);
SET enable_seqscan = off;
SELECT count(*), md5(string_agg(t, ',' ORDER BY t)) = md5(string_agg(t, ',')) AS in_order FROM (SELECT t FROM spooled ORDER BY t) s;
RESET enable_seqscan;
TRUNCATE spooled;
INSERT INTO spooled (id, t) VALUES (1, 'one');
SELECT surfidx_check('spooled_text', true);
-- a temporary table's build stays in one process
CREATE TEMP TABLE spooled_temp (a int) WITH (parallel_workers = 2);
INSERT INTO spooled_temp SELECT generate_series(1, 1000);
CREATE INDEX spooled_temp_a ON spooled_temp USING surfidx (a);
SELECT surfidx_check('spooled_temp_a', true);

DROP TABLE spooled, spooled_temp;
DROP PROCEDURE spooled_indexes(int, text);
-- the C library's words (K3) of short and long strings: what they are made in outlives a row
CREATE COLLATION spool_words (provider = libc, locale = 'C.UTF-8');
CREATE TABLE spool_long AS SELECT repeat(md5(i::text), 1 + i * 7 % 64) COLLATE spool_words AS k
	FROM generate_series(1, 500) i;
CREATE INDEX spool_long_k ON spool_long USING surfidx (k);
SELECT surfidx_check('spool_long_k', true, true);
DROP TABLE spool_long;
DROP COLLATION spool_words;
