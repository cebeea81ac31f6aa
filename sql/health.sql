-- surfidx_health(): a row for each index, the most urgent reason, and a statement that helps
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.auto_merge = off;
CREATE SCHEMA health;
SET search_path = health, public;
CREATE VIEW h AS
SELECT indexrelname, status, regexp_replace(reason, '\d+ (bytes|kB|MB)', 'N', 'g') AS reason,
	regexp_replace(statement, '\d+ kB', 'N kB') AS statement, statement AS verbatim
FROM surfidx_health() WHERE schemaname = 'health';

CREATE TABLE t (id int8, k uuid, c int) WITH (autovacuum_enabled = off, vacuum_truncate = off);
INSERT INTO t SELECT i, md5(i::text)::uuid, i / 2 FROM generate_series(1, 300000) i;
CREATE INDEX "the id" ON t USING surfidx (id);
CREATE INDEX free ON t USING surfidx (k);
CREATE INDEX part ON t USING surfidx (c) WHERE c < 0;
SELECT indexrelname, status, reason, statement FROM h;

-- One that a build left behind
\set VERBOSITY terse
CREATE UNIQUE INDEX CONCURRENTLY invalid ON t USING surfidx (c);
SELECT indexrelname, status, reason, statement FROM h WHERE status <> 'ok';
DROP INDEX invalid;

-- A delta that nobody merges, in an index whose name has to be quoted
ALTER INDEX "the id" SET (delta_size = '64kB');
INSERT INTO t SELECT i, NULL, -1 FROM generate_series(1, 30000) i;
SELECT indexrelname, status, reason, statement FROM h;
SELECT verbatim AS statement FROM h WHERE indexrelname = 'the id' \gset
:statement;
SELECT indexrelname, status, reason, statement FROM h WHERE indexrelname = 'the id';
-- a number is of kilobytes
ALTER INDEX "the id" SET (delta_size = 64);
INSERT INTO t SELECT i, NULL, -1 FROM generate_series(1, 30000) i;
SELECT indexrelname, status, reason, statement FROM h WHERE indexrelname = 'the id';
ALTER INDEX "the id" SET (delta_size = 2048);
SELECT indexrelname, status, reason, statement FROM h WHERE indexrelname = 'the id';
DROP INDEX "the id";

-- Free space that VACUUM was told not to give back
DELETE FROM t WHERE id > 3000;
VACUUM t;
SELECT indexrelname, status, reason, statement FROM h;
SELECT verbatim AS statement FROM h WHERE indexrelname = 'free' \gset
:statement;
SELECT indexrelname, status, reason, statement FROM h;
DROP TABLE t;

-- A bound that cannot be kept
CREATE TABLE l (k uuid) WITH (autovacuum_enabled = off);
INSERT INTO l SELECT md5(i::text)::uuid FROM generate_series(1, 50000) i;
CREATE INDEX small ON l USING surfidx (k) WITH (size_limit = '64kB');
SELECT indexrelname, status, reason, statement FROM h;
SELECT verbatim AS statement FROM h \gset
:statement;
SELECT indexrelname, status, reason, statement FROM h;
SELECT verbatim AS statement FROM h \gset
:statement;
SELECT indexrelname, status, reason, statement FROM h;
DROP TABLE l;

-- Collations of which the library has another version: bytes do not depend on it
CREATE COLLATION changing (provider = icu, locale = 'en');
CREATE TABLE c (t text COLLATE changing);
CREATE INDEX by_collation ON c USING surfidx (t);
CREATE INDEX by_bytes ON c USING surfidx (t text_pattern_ops);
CREATE INDEX by_c ON c USING surfidx (t COLLATE "C");
SELECT indexrelname, status, reason, statement FROM h;
UPDATE pg_collation SET collversion = '0' WHERE collname = 'changing';
SELECT indexrelname, status, reason, statement FROM h;
ALTER COLLATION changing REFRESH VERSION;
SELECT count(*) FILTER (WHERE status = 'ok') AS ok, count(*) AS indexes FROM h;

-- Roles that may ask, and those that may not
CREATE ROLE health_monitor;
GRANT pg_monitor TO health_monitor;
CREATE ROLE health_nobody;
SET ROLE health_monitor;
SELECT count(*) FROM surfidx_health() WHERE schemaname = 'health';
SET ROLE health_nobody;
SELECT count(*) FROM surfidx_health();
RESET ROLE;
DROP ROLE health_monitor, health_nobody;
DROP SCHEMA health CASCADE;
