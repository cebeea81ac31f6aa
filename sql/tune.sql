-- surfidx_tune(): what counters say against settings, the statement that applies it, and the one that reverts it
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.auto_merge = off;
SET max_parallel_workers_per_gather = 0;
CREATE SCHEMA tune;
SET search_path = tune, public;
CREATE VIEW tuned AS
SELECT indexrelname, setting, current_value, proposed_value, regexp_replace(reason, '\d+(\.\d+)?', 'N', 'g') AS reason, statement, revert
FROM surfidx_tune(0) WHERE schemaname = 'tune';

CREATE TABLE t (u uuid, s text COLLATE "C", v int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT md5(g::text)::uuid, md5(g::text), g FROM generate_series(1, 12000) g;
CREATE INDEX "the key" ON t USING surfidx (u);
CREATE INDEX filtered ON t USING surfidx (s) WITH (filter = bloom);
ANALYZE t;
SELECT pg_stat_force_next_flush();
SELECT * FROM tuned;

-- rows that are visited anyway; filters that say yes
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
SELECT count(b.v) FROM t a JOIN t b ON b.u = a.u;
SELECT count(b.v) FROM t a JOIN t b ON b.s = a.s;
SELECT pg_stat_force_next_flush();
SELECT * FROM tuned;

-- applied, and reverted
SELECT statement, revert FROM tuned WHERE indexrelname = 'the key' \gset
:statement;
SELECT reloptions FROM pg_class WHERE relname = 'the key';
SELECT count(*) FROM tuned WHERE indexrelname = 'the key';
:revert;
SELECT reloptions FROM pg_class WHERE relname = 'the key';

-- the same by bitmap scans, which count at the table; not where another index may have found these rows
CREATE TABLE bits AS SELECT u, v FROM t;
CREATE INDEX bits_u ON bits USING surfidx (u);
ANALYZE bits;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT count(b.v) FROM t a LEFT JOIN LATERAL (SELECT v FROM bits WHERE u = a.u OFFSET 0) b ON true;
RESET enable_indexonlyscan;
SELECT pg_stat_force_next_flush();
SELECT indexrelname, setting, reason FROM tuned WHERE indexrelname = 'bits_u';
CREATE INDEX bits_v ON bits USING surfidx (v);
VACUUM bits;
SET enable_bitmapscan = off;
RESET enable_indexscan;
SELECT sum(v) > 0 FROM bits;
SELECT pg_stat_force_next_flush();
SELECT indexrelname, setting, reason FROM tuned WHERE indexrelname = 'bits_u';
DROP TABLE bits;

-- merges that write far more than they bring
DROP INDEX "the key", filtered;
CREATE INDEX merged ON t USING surfidx (u) WITH (merge_ratio = 0.05);
DO $$ BEGIN
	FOR i IN 1 .. 12 LOOP
		INSERT INTO t (u) SELECT gen_random_uuid() FROM generate_series(1, 500);
		PERFORM surfidx_merge('merged');
	END LOOP;
END $$;
SELECT * FROM tuned;

-- parameters written in ways that SQL's functions do not know
ALTER INDEX merged SET (delta_size = '0x2000', merge_ratio = '0x1p-3');
SELECT count(*) >= 0 FROM surfidx_tune(0);
SELECT count(*) >= 0 FROM surfidx_health();
DROP SCHEMA tune CASCADE;
