-- Read with \i by a test that has filled "asked" (answers.sql) with queries of the table t (id, b, s and others), whose surfidx indexes are fresh: in each state of
-- the delta and of the table the index's answers are core's.

-- (t may be partitioned)
CREATE VIEW merged AS SELECT indexrelid::regclass AS index FROM pg_index JOIN pg_class c ON c.oid = indexrelid AND c.relkind = 'i' JOIN pg_am a ON a.oid = relam AND amname = 'surfidx'
	WHERE indrelid = 't'::regclass OR indrelid IN (SELECT relid FROM pg_partition_tree('t'));
CREATE FUNCTION merge_all() RETURNS void LANGUAGE sql AS $$
	SELECT surfidx_merge(index) FROM merged;
	SELECT;
$$;
\echo merged, all-visible
SELECT * FROM differences();
\echo a delta beside a tree, on pages that are not all-visible
INSERT INTO t (id, b) SELECT g, g % 9 FROM generate_series(20001, 24000) g;
SELECT * FROM differences();
\echo rows updated in place and elsewhere, and dead ones
UPDATE t SET s = s || '!' WHERE id % 20 = 3;
UPDATE t SET b = b + 1 WHERE id % 20 = 4;
DELETE FROM t WHERE id % 20 = 5;
SELECT * FROM differences();
\echo deleted and inserted by this transaction and by a part of it that failed
BEGIN;
DELETE FROM t WHERE id % 20 = 6;
INSERT INTO t (id, b) VALUES (30000, 1);
SELECT * FROM differences();
SAVEPOINT a;
INSERT INTO t (id, b) VALUES (30001, 1);
ROLLBACK TO a;
SELECT * FROM differences();
ROLLBACK;
\echo merged, dead rows in place
SELECT merge_all() \g /dev/null
SELECT * FROM differences();
\echo runs, and rows that are half all-visible
SELECT format('ALTER INDEX %s SET (delta_size = 64, run_ratio = 10, merge_ratio = 10)', index) FROM merged \gexec
VACUUM t;
SELECT * FROM differences();
INSERT INTO t (id, b) SELECT g, g % 11 FROM generate_series(24001, 30000) g;
SELECT merge_all() \g /dev/null
INSERT INTO t (id, b) SELECT g % 24000, g % 13 FROM generate_series(30001, 34000) g;
SELECT * FROM differences();
\echo little memory for rows that have to be looked at
UPDATE t SET s = s;
SET work_mem = '64kB';
SELECT * FROM differences();
RESET work_mem;
\echo all of it in the delta
TRUNCATE t;
SELECT * FROM differences(false);
INSERT INTO t (id, b, s) SELECT g, g % 7, 'key ' || g % 30 FROM generate_series(1, 3000) g;
SELECT * FROM differences(false);
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM differences(false);
COMMIT;
DROP FUNCTION merge_all;
DROP VIEW merged;
