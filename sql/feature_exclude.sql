-- Exclusion constraints with =, on several types, deferrable ones too
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TABLE ex (id int, n numeric, t text COLLATE "en-x-icu",
	EXCLUDE USING surfidx (n WITH =),
	CONSTRAINT ex_late EXCLUDE USING surfidx (t WITH =, (id % 10) WITH =) WHERE (id > 5) DEFERRABLE);
INSERT INTO ex VALUES (1, 1.0, 'a'), (2, 2, 'a'), (3, NULL, 'b'), (4, NULL, 'b');
INSERT INTO ex VALUES (5, 1.00, 'c');
SELECT surfidx_merge('ex_n_excl');
INSERT INTO ex VALUES (5, 1.00, 'c');
INSERT INTO ex VALUES (5, 1.00, 'c') ON CONFLICT DO NOTHING;
INSERT INTO ex VALUES (6, 6, 'd'), (26, 7, 'd');
BEGIN;
SET CONSTRAINTS ex_late DEFERRED;
INSERT INTO ex VALUES (6, 6, 'd'), (26, 7, 'd');
SELECT surfidx_merge('ex_late') > 0 AS merged;	-- without what aborted statements left
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
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'ex'::regclass ORDER BY 1;
INSERT INTO ex VALUES (26, 8, 'e');
SELECT surfidx_check(indexrelid, true) FROM pg_index WHERE indrelid = 'ex'::regclass;
ALTER TABLE ex DROP CONSTRAINT ex_late;
DROP TABLE ex;
