-- Relations that have the names that surfidx_convert() uses, and twins that have become part of something
-- else (rule Q6).  Conversions themselves: sql/convert.sql
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.unique_notice = off;
CREATE SCHEMA beside;
SET search_path = beside, public;
CREATE FUNCTION steps(what regclass, how name DEFAULT 'surfidx', OUT index_name text, OUT step text, OUT why text)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT regexp_replace(indexrelid::regclass::text, '_(new|old)_\d+', '_\1_N'), regexp_replace(statement, '_(new|old)_\d+', '_\1_N', 'g'),
		regexp_replace(remark, '_(new|old)_\d+', '_\1_N')
	FROM surfidx_convert(what, method => how)
$$;
-- What an exchange says, with names that are the same in each run.
CREATE FUNCTION swap(what regclass, OUT says text) LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM surfidx_convert_swap(what);
	says := 'done';
EXCEPTION WHEN object_not_in_prerequisite_state THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	says := regexp_replace(SQLERRM || ': ' || detail, '_(new|old)_\d+', '_\1_N', 'g');
END $$;
CREATE FUNCTION twin(of regclass, kind text, what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE %s INDEX surfidx_new_%s ON %s', kind, of::oid, what);
END $$;

-- ---- a twin that has got work ----

-- part of a partitioned table's index, by its creation
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);
CREATE INDEX p1_v ON p1 (v);
INSERT INTO p SELECT g, g FROM generate_series(1, 99) g;
SELECT twin('p1_v', '', 'p1 USING surfidx (v)');
SELECT * FROM steps('p1');
CREATE INDEX p_v ON p USING surfidx (v);
SELECT * FROM steps('p1');
SELECT * FROM steps('p');
SELECT * FROM steps('p', 'btree');
SELECT swap('p1_v');
ALTER TABLE p DETACH PARTITION p1;
SELECT * FROM steps('p1');
SELECT swap('p1_v');
DROP TABLE p, p1;

-- ... by ATTACH PARTITION of the table, and of the index
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE INDEX p_v ON p USING surfidx (v);
CREATE TABLE p1 (k int, v int);
CREATE INDEX p1_v ON p1 (v);
SELECT twin('p1_v', '', 'p1 USING surfidx (v)');
ALTER TABLE p ATTACH PARTITION p1 FOR VALUES FROM (0) TO (100);
SELECT * FROM steps('p1');
SELECT swap('p1_v');
CREATE INDEX p_k ON ONLY p USING surfidx (k);
CREATE INDEX p1_k ON p1 (k);
SELECT twin('p1_k', '', 'p1 USING surfidx (k)');
SELECT 'surfidx_new_' || 'p1_k'::regclass::oid AS twin \gset
ALTER INDEX p_k ATTACH PARTITION :twin;
SELECT swap('p1_k');
SELECT * FROM steps('p');
-- ... of a leaf of a tree
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (200);
CREATE INDEX p_kv ON p (k, v);
SELECT twin('p1_k_v_idx', '', 'p1 USING surfidx (k, v)');
SELECT twin('p2_k_v_idx', '', 'p2 USING surfidx (k, v)');
CREATE INDEX p_kv_too ON p USING surfidx (k, v);
SELECT * FROM steps('p');
SELECT swap('p_kv');
-- ... and what was replaced
CREATE TABLE p3 (k int, v int);
CREATE INDEX p3_v ON p3 (v);
SELECT 'surfidx_old_' || 'p3_v'::regclass::oid AS old \gset
SELECT twin('p3_v', '', 'p3 USING surfidx (v)');
SELECT swap('p3_v');
DROP INDEX p_v;
CREATE INDEX p_v ON p (v);
ALTER TABLE p ATTACH PARTITION p3 FOR VALUES FROM (200) TO (300);
SELECT indisvalid, relispartition FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname = :'old';
SELECT * FROM steps('p3');
DROP TABLE p;

-- a constraint's, the replica identity, clustered, a foreign key's
CREATE TABLE t (k int NOT NULL, v int);
CREATE UNIQUE INDEX t_k ON t USING surfidx (k);
SELECT 'surfidx_new_' || 't_k'::regclass::oid AS twin \gset
SELECT twin('t_k', 'UNIQUE', 't (k)');
BEGIN;
ALTER TABLE t REPLICA IDENTITY USING INDEX :twin;
SELECT * FROM steps('t', 'btree');
SELECT swap('t_k');
ROLLBACK;
BEGIN;
CLUSTER t USING :twin;
SELECT * FROM steps('t', 'btree');
SELECT swap('t_k');
ROLLBACK;
SELECT swap('t_k');
SELECT count(*) FROM steps('t', 'btree') WHERE step ~ 'DROP';
DROP TABLE t;
CREATE TABLE t (k int NOT NULL, v int);
CREATE UNIQUE INDEX t_old ON t (k);
CREATE UNIQUE INDEX t_k ON t USING surfidx (k);
SELECT 'surfidx_new_' || 't_k'::regclass::oid AS twin \gset
ALTER INDEX t_old RENAME TO :twin;
CREATE TABLE refers (k int REFERENCES t (k));
SELECT * FROM steps('t', 'btree');
SELECT swap('t_k');
DROP TABLE refers;
SET client_min_messages = warning;
ALTER TABLE t ADD CONSTRAINT t_c PRIMARY KEY USING INDEX :twin;
ALTER INDEX t_c RENAME TO :twin;
RESET client_min_messages;
SELECT * FROM steps('t', 'btree');
SELECT swap('t_k');
DROP TABLE t;

-- ---- one that is another index ----

CREATE TABLE t (k int, v int);
CREATE INDEX t_k ON t (k);
SELECT twin('t_k', '', 't USING surfidx (k DESC)');
SELECT swap('t_k');
SELECT * FROM steps('t');
\set ECHO none
\o /dev/null
SELECT statement FROM surfidx_convert('t') \gexec
\o
\set ECHO all
SELECT indexdef FROM pg_indexes WHERE tablename = 't' AND schemaname = 'beside';
DROP TABLE t;

-- ---- names that are others' ----

CREATE TABLE t (k int);
CREATE TABLE other (k int);
CREATE INDEX t_k ON t (k);
SELECT 't_k'::regclass::oid AS of \gset
CREATE TABLE surfidx_new_:of (k int);
SELECT * FROM steps('t');
SELECT swap('t_k');
DROP TABLE surfidx_new_:of;
CREATE INDEX surfidx_new_:of ON other (k);
SELECT * FROM steps('t');
SELECT * FROM steps('other');
DROP INDEX surfidx_new_:of;
CREATE VIEW surfidx_old_:of AS SELECT 1;
SELECT * FROM steps('t');
DROP VIEW surfidx_old_:of;
-- of no index, in both directions
DROP TABLE t;
CREATE INDEX surfidx_new_1 ON other (k);
SELECT * FROM steps('other');
SELECT * FROM steps('other', 'btree');
-- what was replaced, and then made a part of something by somebody: it stays, and goes with that
CREATE TABLE whole (k int) PARTITION BY RANGE (k);
CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (10);
CREATE INDEX part_k ON part (k);
SELECT 'surfidx_old_' || 'part_k'::regclass::oid AS old \gset
SELECT twin('part_k', '', 'part USING surfidx (k)');
SELECT swap('part_k');
CREATE INDEX whole_k ON ONLY whole (k);
ALTER INDEX whole_k ATTACH PARTITION :old;
SELECT * FROM steps('part');
SELECT * FROM steps('whole');
SELECT * FROM steps('whole', 'btree');
DROP INDEX whole_k;
SELECT * FROM steps('part');
SELECT count(*) FROM pg_index WHERE indrelid = 'part'::regclass;
DROP TABLE whole;
-- called as what was replaced, but valid
CREATE INDEX o ON other ((k + 1));
SELECT 'surfidx_old_' || 'o'::regclass::oid AS old \gset
ALTER INDEX o RENAME TO :old;
SELECT * FROM steps('other');
SELECT count(*) FROM steps('other', 'btree') WHERE step IS NOT NULL;

SET client_min_messages = warning;
DROP SCHEMA beside CASCADE;
