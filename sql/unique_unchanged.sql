-- UPDATEs that leave the key of a unique index alone are not checked (U1), others are.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.unique_notice = off;
SET enable_seqscan = off;
CREATE TABLE unch (id int, k int, t text);
CREATE UNIQUE INDEX unch_id ON unch USING surfidx (id);
CREATE INDEX unch_k ON unch USING surfidx (k);
INSERT INTO unch SELECT g, g, g::text FROM generate_series(1, 100) g;
-- unchanged, one by one and many together; changed
UPDATE unch SET k = k + 1 WHERE id = 5;
UPDATE unch SET k = k + 1 WHERE id = 5;
UPDATE unch SET k = k + 1;
UPDATE unch SET id = 6 WHERE id = 5;
INSERT INTO unch VALUES (5, 0);
SELECT count(*), count(DISTINCT id), sum(k) FROM unch WHERE id > 0;
SELECT surfidx_check('unch_id', true, true);
-- of rows of this transaction, and of what was rolled back
BEGIN;
INSERT INTO unch VALUES (101, 101);
UPDATE unch SET k = 0 WHERE id IN (7, 101);
SAVEPOINT a;
UPDATE unch SET k = 1 WHERE id = 7;
UPDATE unch SET k = k + 1;
ROLLBACK TO a;
SAVEPOINT b;
INSERT INTO unch VALUES (7, 0);
ROLLBACK TO b;
UPDATE unch SET k = 2 WHERE id = 7;
DELETE FROM unch WHERE id = 7;
INSERT INTO unch VALUES (7, 3);
UPDATE unch SET k = 4 WHERE id = 7;
COMMIT;
INSERT INTO unch VALUES (7, 5);
INSERT INTO unch VALUES (101, 5);
-- ON CONFLICT, a modifying WITH, MERGE
INSERT INTO unch VALUES (7, 6) ON CONFLICT (id) DO UPDATE SET k = excluded.k;
WITH u AS (UPDATE unch SET k = 7 WHERE id = 7 RETURNING *) SELECT id, k FROM u;
MERGE INTO unch u USING (VALUES (7, 8)) v (a, b) ON u.id = v.a WHEN MATCHED THEN UPDATE SET k = v.b;
INSERT INTO unch VALUES (7, 9);
SELECT * FROM unch WHERE id = 7;
-- a trigger changes what the statement does not
CREATE FUNCTION unch_moves() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := NEW.k; RETURN NEW; END';
CREATE TRIGGER moves BEFORE UPDATE ON unch FOR EACH ROW EXECUTE FUNCTION unch_moves();
UPDATE unch SET k = 9 WHERE id = 8;
UPDATE unch SET k = 1009 WHERE id = 8;
DROP TRIGGER moves ON unch;
-- generated columns change with others
CREATE TABLE unch_g (id int, k int, g int GENERATED ALWAYS AS (k % 10) STORED);
CREATE UNIQUE INDEX unch_g_g ON unch_g USING surfidx (g);
INSERT INTO unch_g SELECT g, g FROM generate_series(1, 5) g;
UPDATE unch_g SET k = 15 WHERE id = 4;
UPDATE unch_g SET k = 16 WHERE id = 4;
-- a row comes into an index with a predicate
CREATE TABLE unch_p (id int, open bool, k int);
CREATE UNIQUE INDEX unch_p_id ON unch_p USING surfidx (id) WHERE open;
INSERT INTO unch_p VALUES (1, true), (1, false);
UPDATE unch_p SET open = true WHERE NOT open;
-- a function that is not what it was
CREATE TABLE unch_f (id int, k int);
CREATE INDEX unch_f_k ON unch_f (k);
CREATE FUNCTION unch_of(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN n; END';
CREATE UNIQUE INDEX unch_f_id ON unch_f USING surfidx (unch_of(id));
INSERT INTO unch_f SELECT g, g FROM generate_series(1, 4) g;
CREATE OR REPLACE FUNCTION unch_of(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN n + 1; END';
UPDATE unch_f SET k = 0 WHERE id = 1;
TRUNCATE unch_f;
DROP TABLE unch_f;
-- an index that is not valid yet may lack a row's old version
UPDATE pg_index SET indisready = false, indisvalid = false WHERE indexrelid = 'unch_id'::regclass;
INSERT INTO unch VALUES (9, 2000);
UPDATE pg_index SET indisready = true WHERE indexrelid = 'unch_id'::regclass;
UPDATE unch SET k = k + 1 WHERE k = 2000;
DELETE FROM unch WHERE k = 2000;
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'unch_id'::regclass;
SELECT surfidx_check('unch_id', true, true);
-- deferred constraints are checked in the end
CREATE TABLE unch_d (id int, k int, CONSTRAINT unch_d_id UNIQUE (id) WITH (access_method = surfidx) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO unch_d VALUES (1, 1), (2, 2);
BEGIN;
UPDATE unch_d SET id = 1 WHERE id = 2;
UPDATE unch_d SET k = 3;
COMMIT;
-- partitions: in place, and to another one with other columns
CREATE TABLE unch_q (id int, k int, x int) PARTITION BY RANGE (k);
CREATE TABLE unch_q1 (gone int, x int, k int, id int);
ALTER TABLE unch_q1 DROP COLUMN gone;
ALTER TABLE unch_q ATTACH PARTITION unch_q1 FOR VALUES FROM (0) TO (100);
CREATE TABLE unch_q2 PARTITION OF unch_q FOR VALUES FROM (100) TO (200);
CREATE UNIQUE INDEX unch_q1_id ON unch_q1 USING surfidx (id);
CREATE UNIQUE INDEX unch_q1_x ON unch_q1 USING surfidx (x);
CREATE UNIQUE INDEX unch_q2_id ON unch_q2 USING surfidx (id);
INSERT INTO unch_q VALUES (1, 1, 1), (2, 2, 2), (1, 101, 1);
UPDATE unch_q SET x = 10 WHERE id = 1;
UPDATE unch_q SET x = 2 WHERE id = 1;
UPDATE unch_q SET k = k + 5 WHERE id = 2;
UPDATE unch_q SET k = 102 WHERE k = 1;
SELECT surfidx_check(i, true, true) FROM unnest('{unch_q1_id, unch_q1_x, unch_q2_id}'::regclass[]) i;
DROP TABLE unch, unch_g, unch_p, unch_d, unch_q;
DROP FUNCTION unch_moves, unch_of;
