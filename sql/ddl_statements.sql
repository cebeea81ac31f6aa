-- Statements that change an index and its table: rewrites, CLUSTER, REINDEX, names, comments, tablespaces, dependencies
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE SCHEMA dd;
SET search_path = dd, public;
CREATE TABLE dd (id int, a int, t text COLLATE "en-x-icu", n numeric(10, 2));
INSERT INTO dd SELECT i, i * 7919 % 500, 't' || i * 104729 % 300, i / 4.0 FROM generate_series(1, 600) i;
CREATE INDEX dd_a ON dd USING surfidx (a) WITH (delta_size = 256);
CREATE INDEX dd_t ON dd USING surfidx (t, n DESC);
CREATE INDEX dd_e ON dd USING surfidx ((a % 10), lower(t));
INSERT INTO dd SELECT i, i * 7919 % 500, 't' || i * 104729 % 300, i / 4.0 FROM generate_series(601, 900) i;
CREATE FUNCTION checked() RETURNS bigint LANGUAGE sql AS
	$$ SELECT count(surfidx_check(indexrelid, true)::text) FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = 'dd.dd'::regclass $$;

-- storage parameters
ALTER INDEX dd_a SET (merge_ratio = 0.25, delta_size = 128);
SELECT reloptions FROM pg_class WHERE relname = 'dd_a';
ALTER INDEX dd_a RESET (delta_size);
SELECT reloptions FROM pg_class WHERE relname = 'dd_a';
ALTER INDEX dd_a SET (delta_size = 'much');
ALTER INDEX dd_a SET (merge_ratio = -1);
ALTER INDEX dd_a SET (no_such = 1);
ALTER INDEX dd_e ALTER COLUMN 1 SET STATISTICS 300;
ALTER INDEX dd_e ALTER COLUMN 3 SET STATISTICS 300;
ALTER INDEX dd_a ALTER COLUMN 1 SET STATISTICS 300;
ANALYZE dd;
SELECT attname FROM pg_stats WHERE tablename = 'dd_e' ORDER BY 1;
-- names, comments, owners
ALTER INDEX dd_a RENAME TO dd_aa;
ALTER TABLE dd RENAME COLUMN a TO aa;
COMMENT ON INDEX dd_aa IS 'a comment';
SELECT obj_description('dd_aa'::regclass), pg_get_indexdef('dd_aa'::regclass), pg_get_indexdef('dd_e'::regclass);
-- rewrites
ALTER TABLE dd ALTER COLUMN aa TYPE int8;
SELECT checked();
ALTER TABLE dd ALTER COLUMN aa TYPE numeric USING aa / 2.0, ALTER COLUMN t TYPE varchar(20) COLLATE "C";
SELECT checked(), pg_get_indexdef('dd_t'::regclass);
ALTER TABLE dd ALTER COLUMN t TYPE text;	-- no rewrite
ALTER TABLE dd ADD COLUMN x int DEFAULT 5, ADD COLUMN y uuid DEFAULT gen_random_uuid();
SELECT checked(), obj_description('dd_aa'::regclass);
\set VERBOSITY sqlstate
ALTER TABLE dd ALTER COLUMN t TYPE json USING to_json(t);
\set VERBOSITY default
DROP INDEX dd_e;
-- CLUSTER, VACUUM FULL
CLUSTER dd USING dd_aa;
SELECT count(*) FROM (SELECT aa < lag(aa) OVER (ORDER BY ctid) AS down FROM dd) s WHERE down;
CLUSTER dd;
VACUUM FULL dd;
DELETE FROM dd WHERE id % 3 = 0;
VACUUM dd;
SELECT checked();
TRUNCATE dd;
SELECT checked();
INSERT INTO dd SELECT i, i, 't' || i, i FROM generate_series(1, 300) i;
-- REINDEX
REINDEX INDEX dd_aa;
REINDEX TABLE dd;
REINDEX SCHEMA dd;
REINDEX INDEX CONCURRENTLY dd_t;
REINDEX TABLE CONCURRENTLY dd;
SELECT checked(), count(*) FROM dd WHERE aa >= 100;
-- a tablespace
SET allow_in_place_tablespaces = true;
CREATE TABLESPACE surfidx_space LOCATION '';
ALTER INDEX dd_t SET TABLESPACE surfidx_space;
INSERT INTO dd SELECT i, i, 't' || i, i FROM generate_series(301, 600) i;
SELECT surfidx_merge('dd_t'), checked();
CREATE INDEX dd_s ON dd USING surfidx (n) TABLESPACE surfidx_space;
ALTER INDEX dd_s SET TABLESPACE pg_default;
ALTER TABLE dd SET TABLESPACE surfidx_space;
ALTER TABLE dd SET TABLESPACE pg_default;
ALTER INDEX dd_t SET TABLESPACE pg_default;
SELECT checked();
DROP TABLESPACE surfidx_space;
-- logged and unlogged
ALTER TABLE dd SET UNLOGGED;
INSERT INTO dd SELECT i, i, 't' || i, i FROM generate_series(601, 700) i;
ALTER TABLE dd SET LOGGED;
SELECT checked();
-- in a transaction that fails
BEGIN;
TRUNCATE dd;
INSERT INTO dd VALUES (1, 1, 'one', 1);
SELECT surfidx_merge('dd_aa'), checked();
REINDEX INDEX dd_aa;
ROLLBACK;
SELECT checked(), count(*) FROM dd;
BEGIN;
DROP INDEX dd_t;
CREATE INDEX dd_t ON dd USING surfidx (t);
SAVEPOINT s;
INSERT INTO dd SELECT i, i, 't' || i, i FROM generate_series(701, 800) i;
SELECT surfidx_merge('dd_t') >= 0;
ROLLBACK TO s;
SELECT checked();
COMMIT;
SELECT checked();

-- event triggers see the commands
CREATE FUNCTION tell() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE r record; BEGIN
	FOR r IN SELECT * FROM pg_event_trigger_ddl_commands() LOOP RAISE INFO '% %', r.command_tag, r.object_identity; END LOOP;
END $$;
CREATE EVENT TRIGGER surfidx_tell ON ddl_command_end WHEN TAG IN ('CREATE INDEX', 'ALTER INDEX') EXECUTE FUNCTION tell();
CREATE INDEX dd_ev ON dd USING surfidx (id);
ALTER INDEX dd_ev SET (fillfactor = 50);
DROP EVENT TRIGGER surfidx_tell;

-- inheritance
CREATE TABLE dd_child () INHERITS (dd);
CREATE INDEX dd_child_id ON dd_child USING surfidx (id, n);
INSERT INTO dd_child (id, n) VALUES (5, 5.5), (701, 7);
SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM dd WHERE id < 10 ORDER BY id;
SELECT id FROM dd WHERE id < 8 ORDER BY id;
CREATE TABLE dd_like (LIKE dd INCLUDING INDEXES);
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'dd_like'::regclass ORDER BY indexrelid::regclass::text;
RESET enable_seqscan; RESET enable_sort; RESET enable_bitmapscan;

-- what depends on what
CREATE FUNCTION plus1(n numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT n + 1';
CREATE INDEX dd_f ON dd USING surfidx (plus1(n));
DROP FUNCTION plus1(numeric);
\set VERBOSITY terse
DROP EXTENSION surfidx;
\set VERBOSITY default
ALTER TABLE dd DROP COLUMN n;
DROP FUNCTION plus1(numeric) CASCADE;
SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'dd'::regclass ORDER BY 1;
SET client_min_messages = warning;
RESET search_path;
DROP SCHEMA dd CASCADE;
