-- Collation versions: core warns about a mismatch as with btree; an index in byte order does not depend on the collation
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
CREATE COLLATION en_old (provider = icu, locale = 'en');
CREATE TABLE cv (a text COLLATE en_old, b text COLLATE en_old, c text COLLATE "C");
INSERT INTO cv SELECT md5(i::text), md5(i::text), md5(i::text) FROM generate_series(1, 200) i;
CREATE INDEX cv_a ON cv USING btree (a);
CREATE INDEX cv_b ON cv USING surfidx (b);
CREATE INDEX cv_p ON cv USING surfidx (b text_pattern_ops);
CREATE INDEX cv_c ON cv USING surfidx (c);
UPDATE pg_collation SET collversion = '0' WHERE collname = 'en_old';
-- each session warns once
\c -
\set VERBOSITY terse
SET enable_seqscan = off;
SELECT count(*) FROM cv WHERE a > 'f';
\c -
\set VERBOSITY terse
SET enable_seqscan = off;
SELECT count(*) FROM cv WHERE b > 'f';
SELECT count(*) FROM cv WHERE b > 'e';
\c -
\set VERBOSITY terse
INSERT INTO cv (b) VALUES ('new');
\c -
\set VERBOSITY terse
SET enable_seqscan = off;
SELECT count(*) FROM cv WHERE c > 'f';
SET client_min_messages = warning;
REINDEX TABLE cv;
ALTER COLLATION en_old REFRESH VERSION;
\c -
\set VERBOSITY terse
SET enable_seqscan = off;
SELECT count(*) FROM cv WHERE b > 'f';
SELECT surfidx_check('cv_b', true), surfidx_check('cv_p', true);
DROP TABLE cv;
DROP COLLATION en_old;
