SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
-- More entries of short keys on a page of the log than VACUUM had room for when it noted which ones are dead.
CREATE TABLE short (id int, b bool) WITH (autovacuum_enabled = off);
CREATE INDEX short_b ON short USING surfidx (b);
INSERT INTO short SELECT g, g % 3 = 1 FROM generate_series(1, 8000) g;
SELECT generations, log_pages < 8000 / 1024 AS many_a_page, delta_entries FROM surfidx_meta('short_b');
DELETE FROM short WHERE id <= 7000;
VACUUM (INDEX_CLEANUP ON) short;
SELECT surfidx_check('short_b', true, true);
SET enable_seqscan = off;
SELECT count(*) FROM short WHERE b;
SELECT count(*) FROM short WHERE NOT b;
DROP TABLE short;
