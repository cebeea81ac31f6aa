-- Unique indexes: plain, of several columns, partial, on an expression, with INCLUDE, NULLS NOT DISTINCT; in each state of the index, beside btree
\getenv srcdir PG_ABS_SRCDIR
\set states :srcdir '/sql/helpers/states.sql'
\set ECHO none
\i :states
CALL replay($script$
CREATE TABLE uq (id int, a int, b text COLLATE "en-x-icu", n numeric);
CREATE UNIQUE INDEX uq_ab ON uq USING surfidx (a, b);
CREATE UNIQUE INDEX uq_n ON uq USING surfidx (n) INCLUDE (id);
CREATE UNIQUE INDEX uq_part ON uq USING surfidx (a) WHERE id > 100;
CREATE UNIQUE INDEX uq_expr ON uq USING surfidx (lower(b)) WHERE id > 200;
INSERT INTO uq SELECT i, i % 10, 'b' || i, i FROM generate_series(1, 50) i;
INSERT INTO uq VALUES (60, 3, 'b3', 60);
INSERT INTO uq VALUES (60, 3, 'b03', 7.00);
INSERT INTO uq VALUES (60, 3, NULL, NULL), (61, 3, NULL, NULL);
INSERT INTO uq VALUES (60, 3, 'b3', 60);
INSERT INTO uq VALUES (60, 3, 'b03', 7.00);
INSERT INTO uq VALUES (101, 1, 'x', 101), (102, 2, 'y', 102);
INSERT INTO uq VALUES (103, 1, 'z', 103);
UPDATE uq SET id = 104 WHERE id = 21;
INSERT INTO uq VALUES (201, 8, 'Same', 201);
INSERT INTO uq VALUES (202, 9, 'sAME', 202);
-- moved along, and in one statement, where btree fails as well
UPDATE uq SET n = n + 1000 WHERE n <= 50;
UPDATE uq SET n = n + 1 WHERE n > 1000;
DELETE FROM uq WHERE id = 101;
INSERT INTO uq VALUES (105, 1, 'x', 101);
BEGIN;
DELETE FROM uq WHERE id = 105;
INSERT INTO uq VALUES (106, 1, 'x', 101.0);
SAVEPOINT s;
INSERT INTO uq VALUES (107, 1, 'q', 107);
ROLLBACK TO s;
COMMIT;

SELECT id, a, b, n FROM uq WHERE a = 3 ORDER BY b, id;
SELECT n, id FROM uq WHERE n > 1040 ORDER BY n;
SELECT a, b FROM uq WHERE a > 7 ORDER BY a, b;
SELECT id FROM uq WHERE lower(b) = 'same' AND id > 200;
-- NULLS NOT DISTINCT
CREATE TABLE nnd (a int, b numeric);
CREATE UNIQUE INDEX nnd_ab ON nnd USING surfidx (a, b) NULLS NOT DISTINCT;
INSERT INTO nnd VALUES (1, NULL), (NULL, 1), (NULL, NULL), (1, 1);
INSERT INTO nnd VALUES (1, NULL);
INSERT INTO nnd VALUES (NULL, 1.0);
INSERT INTO nnd VALUES (NULL, NULL);
INSERT INTO nnd VALUES (1, 1.00);

-- at creation
INSERT INTO nnd VALUES (2, 5.0);
DROP INDEX nnd_ab;
INSERT INTO nnd VALUES (2, 5.0);
CREATE UNIQUE INDEX nnd_ab ON nnd USING surfidx (a, b);
DELETE FROM nnd WHERE a = 2;
INSERT INTO nnd VALUES (NULL, NULL);
CREATE UNIQUE INDEX nnd_ab ON nnd USING surfidx (a, b) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX nnd_ab ON nnd USING surfidx (a, b);

SELECT a, b FROM nnd ORDER BY a, b;
SELECT a, b FROM nnd WHERE a IS NULL ORDER BY b;
-- a temporary and an unlogged table
CREATE TEMP TABLE tq (a text COLLATE "en-x-icu");
CREATE UNIQUE INDEX ON tq USING surfidx (a);
INSERT INTO tq VALUES ('x');
INSERT INTO tq VALUES ('x');
CREATE UNLOGGED TABLE ulq (a float8);
CREATE UNIQUE INDEX ON ulq USING surfidx (a);
INSERT INTO ulq VALUES ('-0');
INSERT INTO ulq VALUES ('0');
DROP TABLE tq;
$script$);
TABLE outcomes;
\set ECHO all
-- what cannot stand in a transaction, or not in a string
CREATE TABLE uq (id int, a int, b text COLLATE "en-x-icu", n numeric);
CREATE UNIQUE INDEX uq_ab ON uq USING surfidx (a, b);
INSERT INTO uq SELECT i, i % 10, 'b' || i, i FROM generate_series(1, 50) i;
COPY uq (id, a, b, n) FROM stdin;
300	3	b3	300
\.

SELECT surfidx_merge('uq_ab') > 0;
COPY uq (id, a, b, n) FROM stdin;
300	3	b3	300
\.

INSERT INTO uq VALUES (51, 3, NULL, 1), (52, 3, NULL, 1.0);
CREATE UNIQUE INDEX CONCURRENTLY uq_n ON uq USING surfidx (n);
SELECT indexrelid::regclass, indisvalid FROM pg_index WHERE indrelid = 'uq'::regclass ORDER BY 1;
REINDEX INDEX CONCURRENTLY uq_ab;
SELECT surfidx_check('uq_ab', true, true);
DROP TABLE uq;
