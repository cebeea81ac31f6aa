-- Partitioned tables: order across partitions, attach and detach, new partitions, pruning; in each state of the indexes, beside btree
\getenv srcdir PG_ABS_SRCDIR
\set states :srcdir '/sql/helpers/states.sql'
\set ECHO none
\i :states
CALL replay($script$
CREATE TABLE pt (id int, k numeric, t text COLLATE "en-x-icu") PARTITION BY RANGE (k);
CREATE TABLE pt1 PARTITION OF pt FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE pt2 PARTITION OF pt FOR VALUES FROM (100) TO (200);
CREATE INDEX pt_k ON pt USING surfidx (k, id);
CREATE INDEX pt_t ON pt USING surfidx (t DESC) INCLUDE (id);
CREATE TABLE pt3 PARTITION OF pt FOR VALUES FROM (200) TO (MAXVALUE);
INSERT INTO pt SELECT i, i * 7919 % 300, 't' || i % 50 FROM generate_series(1, 900) i;
SELECT count(*), min(k), max(k), bool_and(ok) FROM (SELECT k, (k, id) > lag((k, id)) OVER () IS NOT FALSE AS ok
	FROM (SELECT k, id FROM pt WHERE k > 90 AND k < 110 ORDER BY k, id) s) s2;
SELECT t FROM pt ORDER BY t DESC LIMIT 3;
SELECT min(t), max(k) FROM pt;
-- a table with an index of its own is attached
CREATE TABLE pt4 (LIKE pt);
CREATE INDEX pt4_own ON pt4 USING surfidx (k, id);
ALTER TABLE pt DETACH PARTITION pt3;
ALTER TABLE pt ATTACH PARTITION pt3 FOR VALUES FROM (200) TO (300);
INSERT INTO pt4 VALUES (1, 400, 'x'), (2, 500, 'y');
ALTER TABLE pt ATTACH PARTITION pt4 FOR VALUES FROM (300) TO (MAXVALUE);
-- rows move
UPDATE pt SET k = k + 100 WHERE k = 150;
SELECT k, id FROM pt WHERE k >= 299 ORDER BY k, id;
-- unique indexes on the partitions
CREATE UNIQUE INDEX ON pt1 USING surfidx (id);
CREATE UNIQUE INDEX ON pt2 USING surfidx (id) INCLUDE (k);
SELECT id FROM pt WHERE k < 200 AND id BETWEEN 100 AND 120 ORDER BY id;
INSERT INTO pt SELECT id, k, 'again' FROM pt WHERE k = 50 ORDER BY id LIMIT 1;
UPDATE pt SET k = k + 0.5 WHERE id = 77;
DELETE FROM pt WHERE t = 't7';
SELECT t, count(*) FROM pt WHERE t > 't6' GROUP BY t ORDER BY t DESC;
SELECT min(k), max(k) FROM pt;
TRUNCATE pt2;
SELECT count(*), sum(id), sum(k) FROM pt WHERE t < 't3';
DROP INDEX pt_k;
$script$);
TABLE outcomes;
\pset tuples_only off
\pset format aligned
\set ECHO all
-- the plans, and what only surfidx has
CREATE TABLE pt (id int, k numeric, t text COLLATE "en-x-icu") PARTITION BY RANGE (k);
CREATE TABLE pt1 PARTITION OF pt FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE pt2 PARTITION OF pt FOR VALUES FROM (100) TO (200);
CREATE INDEX pt_k ON pt USING surfidx (k, id);
CREATE INDEX pt_t ON pt USING surfidx (t DESC) INCLUDE (id);
CREATE TABLE pt3 PARTITION OF pt FOR VALUES FROM (200) TO (MAXVALUE);
INSERT INTO pt SELECT i, i * 7919 % 300, 't' || i % 50 FROM generate_series(1, 900) i;
SELECT surfidx_merge('pt1_k_id_idx'), surfidx_merge('pt3_t_id_idx');
SELECT inhrelid::regclass, am.amname FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_am am ON am.oid = relam
WHERE inhparent IN ('pt_k'::regclass, 'pt_t'::regclass) ORDER BY 1;
SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT k, id FROM pt WHERE k > 90 AND k < 110 ORDER BY k, id;
SELECT count(*), min(k), max(k), bool_and(ok) FROM (SELECT k, (k, id) > lag((k, id)) OVER () IS NOT FALSE AS ok
	FROM (SELECT k, id FROM pt WHERE k > 90 AND k < 110 ORDER BY k, id) s) s2;
EXPLAIN (COSTS OFF) SELECT t FROM pt ORDER BY t DESC LIMIT 3;
SELECT t FROM pt ORDER BY t DESC LIMIT 3;
SELECT min(t), max(k) FROM pt;
-- a table with an index of its own is attached
CREATE TABLE pt4 (LIKE pt);
CREATE INDEX pt4_own ON pt4 USING surfidx (k, id);
ALTER TABLE pt DETACH PARTITION pt3;
ALTER TABLE pt ATTACH PARTITION pt3 FOR VALUES FROM (200) TO (300);
INSERT INTO pt4 VALUES (1, 400, 'x'), (2, 500, 'y');
ALTER TABLE pt ATTACH PARTITION pt4 FOR VALUES FROM (300) TO (MAXVALUE);
SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'pt_k'::regclass ORDER BY 1;
-- an index of another access method does not do
CREATE TABLE pt5 (LIKE pt);
CREATE INDEX pt5_bt ON pt5 (k, id);
ALTER INDEX pt_k ATTACH PARTITION pt5_bt;
ALTER INDEX pt_k SET (delta_size = 64);
-- rows move
UPDATE pt SET k = k + 100 WHERE k = 150;
SELECT surfidx_check(indexrelid, true) FROM pg_index i JOIN pg_class c ON c.oid = indexrelid WHERE indrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'pt'::regclass);
REINDEX INDEX pt_k;
REINDEX TABLE pt;
SELECT k, id FROM pt WHERE k >= 299 ORDER BY k, id;
RESET enable_seqscan; RESET enable_sort; RESET enable_bitmapscan;
DROP INDEX pt1_k_id_idx;
DROP INDEX pt_k;
DROP TABLE pt, pt5;

-- DETACH plans a query in the midst of its own changes, which must not see them: a row estimate's subtransaction is rolled back
CREATE TABLE pd (a int PRIMARY KEY, b int) PARTITION BY RANGE (a);
CREATE TABLE pd1 PARTITION OF pd FOR VALUES FROM (0) TO (10);
CREATE INDEX ON pd USING surfidx (a);
CREATE TABLE pf (x int REFERENCES pd, y int REFERENCES pd);
ALTER TABLE pd DETACH PARTITION pd1;
DROP TABLE pf, pd, pd1;
