-- Exclusion constraints with =, on several types, deferrable ones too; in each state of the index, beside btree
\getenv srcdir PG_ABS_SRCDIR
\set states :srcdir '/sql/helpers/states.sql'
\set ECHO none
\i :states
CALL replay($script$
CREATE TABLE ex (id int, n numeric, t text COLLATE "en-x-icu",
	EXCLUDE USING surfidx (n WITH =),
	CONSTRAINT ex_late EXCLUDE USING surfidx (t WITH =, (id % 10) WITH =) WHERE (id > 5) DEFERRABLE);
INSERT INTO ex VALUES (1, 1.0, 'a'), (2, 2, 'a'), (3, NULL, 'b'), (4, NULL, 'b');
INSERT INTO ex VALUES (5, 1.00, 'c');
INSERT INTO ex VALUES (5, 1.00, 'c');
INSERT INTO ex VALUES (5, 1.00, 'c') ON CONFLICT DO NOTHING;
INSERT INTO ex VALUES (6, 6, 'd'), (26, 7, 'd');
BEGIN;
SET CONSTRAINTS ex_late DEFERRED;
INSERT INTO ex VALUES (6, 6, 'd'), (26, 7, 'd');
UPDATE ex SET t = 'e' WHERE id = 26;
COMMIT;
BEGIN;
SET CONSTRAINTS ex_late DEFERRED;
UPDATE ex SET t = 'd' WHERE id = 26;
COMMIT;
BEGIN;
SET CONSTRAINTS ex_late DEFERRED;
UPDATE ex SET t = 'd' WHERE id = 26;
SET CONSTRAINTS ex_late IMMEDIATE;
ROLLBACK;
SELECT id, n, t FROM ex ORDER BY id;
ALTER TABLE ex ADD EXCLUDE USING surfidx (id WITH =, t WITH =);
ALTER TABLE ex ADD EXCLUDE USING surfidx (id WITH <>);
ALTER TABLE ex ADD EXCLUDE USING surfidx ((t || 'x') WITH =);
INSERT INTO ex VALUES (26, 8, 'e');
SELECT id, n FROM ex WHERE n > 1 ORDER BY n;
SELECT id, t FROM ex WHERE t = 'a' AND id > 5 AND id % 10 = 6;
SELECT id, t FROM ex ORDER BY id, t;
ALTER TABLE ex DROP CONSTRAINT ex_late;
INSERT INTO ex VALUES (26, 9, 'zz'), (36, 10, 'zz');
$script$);
TABLE outcomes;
\set ECHO all
-- how they are shown
CREATE TABLE ex (id int, n numeric, t text COLLATE "en-x-icu",
	EXCLUDE USING surfidx (n WITH =),
	CONSTRAINT ex_late EXCLUDE USING surfidx (t WITH =, (id % 10) WITH =) WHERE (id > 5) DEFERRABLE);
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'ex'::regclass ORDER BY 1;
-- at COMMIT
BEGIN;
SET CONSTRAINTS ex_late DEFERRED;
INSERT INTO ex VALUES (6, 6, 'd'), (26, 7, 'd');
COMMIT;
DROP TABLE ex;
