SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET surfidx.unique_notice = off;
CREATE SCHEMA con;
SET search_path = con, public;

-- Exclusion constraints by equality
CREATE TABLE x (k int, s text COLLATE "C", EXCLUDE USING surfidx (k WITH =, s WITH =));
INSERT INTO x VALUES (1, 'a'), (1, 'b'), (NULL, 'a'), (NULL, 'a');
INSERT INTO x VALUES (1, 'a');
INSERT INTO x VALUES (1, 'a'), (2, 'a') ON CONFLICT DO NOTHING RETURNING *;
INSERT INTO x VALUES (1, 'b'), (3, 'a') ON CONFLICT ON CONSTRAINT x_k_s_excl DO NOTHING RETURNING *;
UPDATE x SET s = 'b' WHERE k = 1 AND s = 'a';
SELECT surfidx_merge('x_k_s_excl') > 0 AS merged;
INSERT INTO x VALUES (1, 'a');
ALTER TABLE x ADD EXCLUDE USING surfidx ((k + 1) WITH =) WHERE (s = 'z');
INSERT INTO x VALUES (7, 'z');
INSERT INTO x VALUES (7, 'z');
SELECT * FROM x ORDER BY k, s;

-- deferrable
CREATE TABLE xd (k int, CONSTRAINT xd_k EXCLUDE USING surfidx (k WITH =) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO xd VALUES (1), (2);
BEGIN;
UPDATE xd SET k = 3 - k;
INSERT INTO xd VALUES (1);
DELETE FROM xd WHERE ctid = (SELECT ctid FROM xd WHERE k = 1 LIMIT 1);
COMMIT;
BEGIN;
INSERT INTO xd VALUES (2);
COMMIT;
BEGIN;
INSERT INTO xd VALUES (2);
SET CONSTRAINTS xd_k IMMEDIATE;
ROLLBACK;
INSERT INTO xd VALUES (5) ON CONFLICT DO NOTHING;
SELECT * FROM xd ORDER BY k;

-- Replica identity
CREATE TABLE ri (k int NOT NULL, v int);
CREATE UNIQUE INDEX ri_k ON ri USING surfidx (k);
ALTER TABLE ri REPLICA IDENTITY USING INDEX ri_k;
SELECT relreplident, indisreplident FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid WHERE c.oid = 'ri'::regclass;
INSERT INTO ri VALUES (1, 1), (2, 2);
UPDATE ri SET k = k + 10;
DELETE FROM ri WHERE k = 12;
SELECT * FROM ri;

-- Partitioned tables: indexes made from above and attached
CREATE TABLE p (k int, v text COLLATE "C") PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1, 2);
CREATE INDEX p_v ON p USING surfidx (v);
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (3, 4);
CREATE TABLE p3 (k int, v text COLLATE "C");
CREATE INDEX p3_mine ON p3 USING surfidx (v);
ALTER TABLE p ATTACH PARTITION p3 DEFAULT;
INSERT INTO p SELECT i % 7, 'v' || i FROM generate_series(1, 100) i;
SELECT c.relname, a.amname, i.inhparent::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_am a ON a.oid = c.relam
WHERE c.relkind = 'i' AND i.inhparent = 'p_v'::regclass ORDER BY 1;
CREATE INDEX p_only ON ONLY p USING surfidx (k);
SELECT indisvalid FROM pg_index WHERE indexrelid = 'p_only'::regclass;
SET enable_seqscan = off;
SELECT * FROM p WHERE v IN ('v5', 'v6', 'v99') ORDER BY v;
RESET enable_seqscan;
ALTER TABLE p DETACH PARTITION p2;
DROP INDEX p_v;
SELECT count(*) FROM pg_class WHERE relname IN ('p3_mine', 'p1_v_idx', 'p2_v_idx');

-- CLUSTER
CREATE TABLE cl (k int, v int);
INSERT INTO cl SELECT i * 7919 % 1009, i FROM generate_series(1, 1000) i;
CREATE INDEX cl_k ON cl USING surfidx (k DESC);
CLUSTER cl USING cl_k;
SELECT count(*) FROM (SELECT k < lag(k) OVER (ORDER BY ctid) AS falls FROM cl) s WHERE NOT falls;
SELECT surfidx_check('cl_k', true);


SET client_min_messages = warning;
DROP SCHEMA con CASCADE;
