-- surfidx_convert(): what it prints, what running that makes, what it leaves and refuses (rule Q6).
-- The worker, crashes, writers and dumps: t/convert.pl
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.unique_notice = off;
SET default_tablespace = '';
CREATE SCHEMA conv;
SET search_path = conv, public;

CREATE FUNCTION steps(what regclass, how name DEFAULT 'surfidx', OUT index_name text, OUT step text, OUT why text)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT regexp_replace(indexrelid::regclass::text, '_(new|old)_\d+', '_\1_N'), regexp_replace(statement, '_(new|old)_\d+', '_\1_N'), remark
	FROM surfidx_convert(what, method => how)
$$;
CREATE VIEW definitions AS
	SELECT indrelid::regclass AS of, regexp_replace(pg_get_indexdef(indexrelid), '_(new|old)_\d+', '_\1_N') AS definition, conname, indisvalid AS valid
	FROM pg_index LEFT JOIN pg_constraint ON conindid = indexrelid AND contype IN ('p', 'u', 'x')
	WHERE indexrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'conv'::regnamespace);

-- ---- each kind of index ----

CREATE TABLE t (id bigint, k int, "Col 2" text COLLATE "C", s text, n name, a int[], b bool, v varchar(9));
CREATE INDEX t_k ON t (k DESC, s COLLATE "POSIX" DESC NULLS LAST, b NULLS FIRST);
CREATE INDEX "t Index" ON t ("Col 2" text_pattern_ops, a) INCLUDE (s, "Col 2") WHERE k > 5 AND s IS NOT NULL;
CREATE INDEX t_expr ON t (lower(s), (k + 1) DESC, upper("Col 2")) WITH (fillfactor = 70, deduplicate_items = off);
CREATE INDEX t_name ON t (n);
CREATE UNIQUE INDEX t_unique ON t (id, k) NULLS NOT DISTINCT;
CREATE INDEX t_hash ON t USING hash (k);
CREATE INDEX t_v ON t (v varchar_ops);
ALTER TABLE t ADD CONSTRAINT t_pk PRIMARY KEY (id), ADD CONSTRAINT t_later UNIQUE (k) INCLUDE (b) DEFERRABLE INITIALLY DEFERRED;
ALTER INDEX t_expr ALTER COLUMN 2 SET STATISTICS 123;
ALTER TABLE t CLUSTER ON t_pk, REPLICA IDENTITY USING INDEX t_pk;
COMMENT ON INDEX t_k IS 'of t_k';
COMMENT ON CONSTRAINT t_pk ON t IS 'of t_pk';
ALTER INDEX t_name DEPENDS ON EXTENSION plpgsql;
CREATE VIEW by_key AS SELECT id, s, k FROM t GROUP BY id;
INSERT INTO t SELECT g, g, 'c' || g, 's' || g % 10, 'n' || g, ARRAY[g], g % 2 = 0, 'v' || g FROM generate_series(1, 500) g;
ANALYZE t;
CREATE TABLE before AS SELECT * FROM definitions;
SELECT * FROM steps('t');
\set ECHO none
\o /dev/null
SELECT statement FROM surfidx_convert('t') \gexec
\o
\set ECHO all
SELECT * FROM definitions ORDER BY 2;
SELECT * FROM steps('t');
SELECT relname, indisprimary, indisclustered, indisreplident, indimmediate, obj_description(indexrelid, 'pg_class') AS comment,
	(SELECT array_agg(nullif(attstattarget, -1) ORDER BY attnum) FROM pg_attribute WHERE attrelid = indexrelid) AS targets,
	(SELECT count(*) FROM pg_statistic WHERE starelid = indexrelid) AS statistics,
	(SELECT count(*) FROM pg_depend d WHERE d.objid = indexrelid AND d.refclassid = 'pg_opclass'::regclass) AS classes,
	(SELECT count(*) FROM pg_depend d WHERE d.objid = indexrelid AND d.deptype = 'x') AS depends
FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = 't'::regclass ORDER BY 1;
SELECT conname, conindid::regclass, obj_description(c.oid, 'pg_constraint'), tgconstrindid::regclass, condeferrable
FROM pg_constraint c LEFT JOIN pg_trigger ON tgconstraint = c.oid WHERE conrelid = 't'::regclass AND contype <> 'n' ORDER BY 1;
SELECT surfidx_check(indexrelid, true, true) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam
WHERE indrelid = 't'::regclass AND amname = 'surfidx';
UPDATE t SET k = k + 1;
INSERT INTO t VALUES (1, 0);
INSERT INTO t VALUES (1, 0) ON CONFLICT ON CONSTRAINT t_pk DO UPDATE SET s = 'upserted';
\set VERBOSITY terse
DROP EXTENSION surfidx;
\set VERBOSITY default

-- and back
SET surfidx.in_place_of_btree = 'indexes';
SELECT * FROM steps('t', 'btree');
\set ECHO none
\o /dev/null
SELECT statement FROM surfidx_convert('t', method => 'btree') \gexec
\o
\set ECHO all
RESET surfidx.in_place_of_btree;
SELECT replace(definition, ' WITH (fillfactor=''70'', deduplicate_items=off)', ''), conname, valid FROM before
EXCEPT SELECT definition, conname, valid FROM definitions;
SELECT relname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relnamespace = 'conv'::regnamespace AND amname = 'surfidx';
SELECT relname, reloptions FROM pg_class WHERE relnamespace = 'conv'::regnamespace AND relkind = 'i' AND reloptions IS NOT NULL;
BEGIN;
SET client_min_messages = warning;
DROP TABLE before;
DROP EXTENSION surfidx;
ROLLBACK;

-- ---- from each state that a run may leave ----

CREATE TABLE r (k int);
CREATE INDEX r_k ON r (k);
INSERT INTO r SELECT generate_series(1, 100);
SELECT 'r_k'::regclass::oid AS of \gset
\set VERBOSITY terse
-- a twin that is not valid
SET client_min_messages = warning;
CREATE FUNCTION fail(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
CREATE INDEX CONCURRENTLY surfidx_new_:of ON r USING surfidx (fail(k));
RESET client_min_messages;
SELECT * FROM steps('r');
SELECT surfidx_convert_swap('r_k');
-- one that is no twin
DROP INDEX surfidx_new_:of;
CREATE INDEX surfidx_new_:of ON r USING surfidx (k DESC);
SELECT surfidx_convert_swap('r_k');
DROP INDEX surfidx_new_:of;
CREATE INDEX surfidx_new_:of ON r USING surfidx (k) WHERE k > 0;
SELECT surfidx_convert_swap('r_k');
DROP INDEX surfidx_new_:of;
CREATE TABLE surfidx_new_:of (k int);
SELECT surfidx_convert_swap('r_k');
DROP TABLE surfidx_new_:of;
SELECT surfidx_convert_swap('r_k');
-- a twin
CREATE INDEX surfidx_new_:of ON r USING surfidx (k);
SELECT * FROM steps('r');
-- ... that nobody wants any more
SELECT * FROM steps('r', 'btree');
-- rolled back; done, and named otherwise meanwhile
BEGIN;
SELECT surfidx_convert_swap('r_k');
ROLLBACK;
ALTER INDEX r_k RENAME TO r_other;
SELECT surfidx_convert_swap('r_other');
SELECT * FROM steps('r');
SELECT * FROM steps('r', 'btree');
SELECT * FROM definitions WHERE of = 'r'::regclass ORDER BY 2;
DROP INDEX surfidx_old_:of;
SELECT * FROM steps('r');
SELECT surfidx_convert_swap('r_other');
-- a twin whose index is gone
CREATE INDEX r_gone ON r (k);
SELECT 'r_gone'::regclass::oid AS of \gset
CREATE INDEX surfidx_new_:of ON r USING surfidx (k);
DROP INDEX r_gone;
SELECT * FROM steps('r');
\set ECHO none
\o /dev/null
SELECT statement FROM surfidx_convert('r') \gexec
\o
\set ECHO all
-- an index that only looks like one
CREATE INDEX surfidx_new_0x1 ON r (k);
CREATE INDEX surfidx_old_16412 ON r ((k + 1));
CREATE INDEX surfidx_new_16412 ON r ((k + 2));
SELECT * FROM steps('r');
DROP TABLE r;
\set VERBOSITY default

-- ---- a partitioned table ----

CREATE TABLE p (k int, at date, n name) PARTITION BY RANGE (at);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('2026-02-01') TO ('2026-03-01') PARTITION BY LIST (k);
CREATE TABLE p2a PARTITION OF p2 DEFAULT;
CREATE INDEX p_k ON p (k, at DESC);
CREATE INDEX p2_at ON p2 (at);
CREATE INDEX p1_own ON p1 (at);
CREATE INDEX p_n ON p (n);
INSERT INTO p SELECT g, date '2026-01-01' + g % 59, 'n' FROM generate_series(1, 1000) g;
COMMENT ON INDEX p_k IS 'of the tree';
SELECT * FROM steps('p');
SELECT * FROM steps('p1');
SELECT * FROM steps('p2');
\set ECHO none
\o /dev/null
SELECT statement FROM surfidx_convert('p') WHERE statement ~ 'CREATE' \gexec
\o
\set ECHO all
-- a partition that came meanwhile
CREATE TABLE p3 PARTITION OF p FOR VALUES FROM ('2026-03-01') TO ('2026-04-01');
SELECT 'p3_k_at_idx'::regclass::oid AS p3 \gset
\set VERBOSITY terse
SELECT surfidx_convert_swap('p_k');
SELECT surfidx_convert_swap('p1_k_at_idx');
\set VERBOSITY default
\set ECHO none
\o /dev/null
SELECT statement FROM surfidx_convert('p') \gexec
\o
\set ECHO all
SELECT * FROM steps('p');
SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) LIKE '%surfidx%' AS ours, inhparent::regclass, obj_description(indexrelid) AS comment
FROM pg_index LEFT JOIN pg_inherits ON inhrelid = indexrelid WHERE indrelid IN (SELECT relid FROM pg_partition_tree('p')) ORDER BY indexrelid::regclass::text;
SELECT level, relid FROM pg_partition_tree('p_k') ORDER BY 1, relid::regclass::text;
CREATE TABLE p4 PARTITION OF p FOR VALUES FROM ('2026-04-01') TO ('2026-05-01');
SELECT indexdef FROM pg_indexes WHERE tablename = 'p4' ORDER BY 1;
SET enable_seqscan = off;
SELECT count(*) FROM p WHERE k BETWEEN 100 AND 200;
RESET enable_seqscan;
\set ECHO none
\o /dev/null
SELECT statement FROM surfidx_convert('p', method => 'btree') \gexec
\o
\set ECHO all
SELECT count(*) FROM pg_class JOIN pg_am a ON a.oid = relam WHERE relname LIKE 'p%' AND relnamespace = 'conv'::regnamespace AND amname = 'surfidx';
-- a partition whose detachment waits to be finished (DETACH ... CONCURRENTLY, interrupted): its indexes go with the tree
UPDATE pg_inherits SET inhdetachpending = true WHERE inhrelid = 'p2'::regclass;
SELECT indexrelname, left(statement, 12) AS statement, remark FROM surfidx_convert(schema => 'conv') WHERE relname ~ '^p\d*a?$';
\set ECHO none
\o /dev/null
SELECT statement FROM surfidx_convert('p') \gexec
\o
\set ECHO all
SELECT indexrelid::regclass, amname FROM pg_index JOIN pg_class i ON i.oid = indexrelid JOIN pg_am a ON a.oid = relam WHERE indrelid IN ('p2'::regclass, 'p2a'::regclass) ORDER BY indexrelid::regclass::text;
ALTER TABLE p DETACH PARTITION p2 FINALIZE;
DROP TABLE p2;
-- one without partitions, and what a tree keeps as another type
CREATE TABLE e (k int) PARTITION BY LIST (k);
CREATE INDEX e_k ON e (k);
\set ECHO none
\o /dev/null
SELECT statement FROM surfidx_convert('e') \gexec
\o
\set ECHO all
SELECT pg_get_indexdef('e_k'::regclass);
DROP TABLE e, p;

-- ---- what stays ----

CREATE TABLE x (k int, c text, EXCLUDE USING btree (k WITH =));
CREATE FUNCTION slow_cmp(int, int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN $1 - $2; END $$;
CREATE OPERATOR CLASS slow_ops FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 slow_cmp(int, int);
CREATE INDEX x_slow ON x (k slow_ops);
CREATE UNIQUE INDEX x_pattern ON x (c text_pattern_ops);
CREATE INDEX x_invalid ON x (c);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'x_invalid'::regclass;
CREATE INDEX x_brin ON x USING brin (k);
SELECT * FROM steps('x');
SELECT surfidx_convert_swap('x_slow');
SELECT surfidx_convert_swap('x_brin');
SELECT surfidx_convert_swap('x');
DROP TABLE x;
CREATE TEMP TABLE tmp (k int PRIMARY KEY);
SELECT * FROM steps('tmp');
CREATE UNLOGGED TABLE un (k int);
CREATE INDEX un_k ON un (k);
\set ECHO none
\o /dev/null
SELECT statement FROM surfidx_convert('un') \gexec
\o
\set ECHO all
SELECT relpersistence FROM pg_class WHERE relname = 'un_k';
DROP TABLE un;

CREATE TABLE member (k int PRIMARY KEY);
ALTER EXTENSION plpgsql ADD TABLE member;
SELECT * FROM steps('member');
ALTER EXTENSION plpgsql DROP TABLE member;
DROP TABLE member;

-- a partition of another schema, and of another owner
CREATE ROLE regress_convert;
GRANT USAGE, CREATE ON SCHEMA conv TO regress_convert;
CREATE SCHEMA conv2;
CREATE TABLE q (k int, v int) PARTITION BY LIST (k);
CREATE TABLE conv2.q1 PARTITION OF q DEFAULT;
CREATE INDEX q_k ON q (k);
CREATE INDEX q1_v ON conv2.q1 (v);
ALTER TABLE q OWNER TO regress_convert;
SELECT statement IS NOT NULL AS step, remark FROM surfidx_convert(schema => 'conv2');
SET ROLE regress_convert;
SELECT * FROM steps('q');
SELECT surfidx_convert_swap('q_k');
RESET ROLE;
DROP TABLE q;
DROP SCHEMA conv2;

-- before 18 what only a btree may be
CREATE TABLE target (id int PRIMARY KEY, other int UNIQUE, free int UNIQUE);
CREATE UNIQUE INDEX target_too ON target (id) INCLUDE (free);
CREATE TABLE refers (id int REFERENCES target, other int REFERENCES target (other));
CREATE MATERIALIZED VIEW mv AS SELECT id FROM target;
CREATE UNIQUE INDEX mv_id ON mv (id);
CREATE TABLE up (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE up1 PARTITION OF up FOR VALUES FROM (0) TO (100);
CREATE UNIQUE INDEX up1_own ON up1 (id);
SELECT * FROM steps('target');
SELECT * FROM steps('mv');
SELECT * FROM steps('up');

-- ---- whom it serves ----

SELECT surfidx_convert();
SELECT surfidx_convert('t', 'conv');
SELECT surfidx_convert('t', method => 'gist');
SELECT surfidx_convert('by_key');
SELECT surfidx_convert('pg_class');
SELECT surfidx_convert('t_pk');
SELECT surfidx_convert(1);
SELECT surfidx_convert_swap(1);
SET ROLE regress_convert;
CREATE TABLE mine (k int);
CREATE INDEX mine_k ON mine (k);
SELECT surfidx_convert('t');
SELECT surfidx_convert_swap('t_pk');
SELECT schemaname, relname, statement IS NOT NULL AS step, remark FROM surfidx_convert(schema => 'conv') WHERE indexrelid IN ('t_pk'::regclass, 'mine_k'::regclass);
\set ECHO none
\o /dev/null
SELECT statement FROM surfidx_convert('mine') \gexec
\o
\set ECHO all
SELECT pg_get_indexdef('mine_k'::regclass);
DROP TABLE mine;
RESET ROLE;
BEGIN READ ONLY;
SELECT surfidx_convert('t', dry_run => false);
ROLLBACK;
SET default_tablespace = pg_default;
SELECT step FROM steps('target') WHERE step ~ 'CREATE' AND index_name = 'target_free_key';
RESET default_tablespace;

SET client_min_messages = warning;
DROP SCHEMA conv CASCADE;
DROP ROLE regress_convert;
