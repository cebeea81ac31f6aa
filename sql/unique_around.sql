-- Workarounds for what core grants only to btree (docs/unique.md): they work, in every version and in every state of the index.
SET client_min_messages = warning;
SET datestyle = 'ISO, YMD';
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.auto_merge = off;
CREATE SCHEMA ua;
SET search_path = ua, public;
\getenv srcdir PG_ABS_SRCDIR
\set tried :srcdir '/sql/helpers/tried.sql'
\set ECHO none
\i :tried
\set ECHO all

-- PRIMARY KEY: NOT NULL and a unique index, the row's identity
CREATE TABLE account (id bigint NOT NULL, email text COLLATE "C", v int DEFAULT 0);
CREATE UNIQUE INDEX account_id ON account USING surfidx (id);
ALTER TABLE account REPLICA IDENTITY USING INDEX account_id;
ALTER TABLE account ADD CONSTRAINT account_email EXCLUDE USING surfidx (email WITH =) DEFERRABLE;
INSERT INTO account SELECT i, 'a' || i FROM generate_series(1, 20) i;
SELECT tried('INSERT INTO account VALUES (3, ''x'')');
SELECT tried('INSERT INTO account VALUES (NULL, ''x'')');
SELECT surfidx_merge('account_id') > 0 AS merged;
SELECT tried('INSERT INTO account VALUES (3, ''x'')');
INSERT INTO account VALUES (3, 'x') ON CONFLICT (id) DO UPDATE SET v = 1 RETURNING *;
-- UNIQUE: an exclusion constraint
SELECT tried('INSERT INTO account VALUES (30, ''a4'')');
INSERT INTO account VALUES (30, 'a4') ON CONFLICT DO NOTHING;
BEGIN;
SET CONSTRAINTS account_email DEFERRED;
UPDATE account SET email = CASE id WHEN 5 THEN 'a6' ELSE 'a5' END WHERE id IN (5, 6);
COMMIT;
SELECT id, email FROM account WHERE email IN ('a5', 'a6') ORDER BY id;
SELECT conname, contype, condeferrable, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'account'::regclass AND contype <> 'n';

-- Foreign keys: an older btree beside it, or the surfidx index made younger
CREATE TABLE customer (id bigint PRIMARY KEY, name text COLLATE "C");
CREATE UNIQUE INDEX customer_id_name ON customer USING surfidx (id) INCLUDE (name);
CREATE TABLE purchase (id bigint NOT NULL, customer_id bigint NOT NULL REFERENCES customer ON DELETE CASCADE);
CREATE INDEX purchase_customer ON purchase USING surfidx (customer_id);
CREATE TABLE early (id bigint NOT NULL);
CREATE UNIQUE INDEX early_id ON early USING surfidx (id);
ALTER TABLE early ADD PRIMARY KEY (id);
REINDEX INDEX CONCURRENTLY early_id;
CREATE TABLE late (id bigint REFERENCES early ON UPDATE CASCADE);
CREATE INDEX late_id ON late USING surfidx (id);
INSERT INTO customer VALUES (1, 'one'), (2, 'two');
INSERT INTO purchase VALUES (10, 1), (11, 1), (12, 2);
SELECT tried('INSERT INTO purchase VALUES (13, 3)');
SELECT surfidx_merge('purchase_customer') > 0 AS merged;
INSERT INTO purchase VALUES (14, 1);
DELETE FROM customer WHERE id = 1;
SELECT * FROM purchase;
INSERT INTO early VALUES (1), (2);
INSERT INTO late VALUES (1), (2);
UPDATE early SET id = id + 10;
SELECT * FROM late ORDER BY id;
SELECT tried('DELETE FROM early');

-- UNIQUE on a partitioned table: an index on each partition
CREATE TABLE measure (sensor int NOT NULL, at date NOT NULL, value float8) PARTITION BY RANGE (at);
CREATE TABLE measure_2026 PARTITION OF measure FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE UNIQUE INDEX measure_2026_key ON measure_2026 USING surfidx (sensor, at);
CREATE TABLE measure_2027 (LIKE measure);
CREATE UNIQUE INDEX measure_2027_key ON measure_2027 USING surfidx (sensor, at);
ALTER TABLE measure ATTACH PARTITION measure_2027 FOR VALUES FROM ('2027-01-01') TO ('2028-01-01');
INSERT INTO measure SELECT i % 3, date '2026-12-01' + i, i FROM generate_series(0, 60) i;
SELECT tried('INSERT INTO measure VALUES (0, ''2026-12-01'', 1)'), tried('INSERT INTO measure VALUES (2, ''2027-01-02'', 1)');
SELECT surfidx_merge('measure_2026_key') > 0 AS merged;
SELECT tried('INSERT INTO measure VALUES (0, ''2026-12-01'', 1)');
SELECT tried('UPDATE measure SET at = ''2027-01-02'' WHERE sensor = 2 AND at = ''2026-12-03''');
-- ON CONFLICT with the partition named, and MERGE into all of them
INSERT INTO measure_2026 VALUES (0, '2026-12-01', -1), (9, '2026-12-01', -2) ON CONFLICT (sensor, at) DO UPDATE SET value = excluded.value RETURNING *;
MERGE INTO measure m USING (VALUES (0, date '2026-12-01', 100), (2, date '2027-01-02', 101), (8, date '2027-01-01', 102)) n (sensor, at, value)
	ON m.sensor = n.sensor AND m.at = n.at
	WHEN MATCHED THEN UPDATE SET value = n.value
	WHEN NOT MATCHED THEN INSERT VALUES (n.sensor, n.at, n.value);
SELECT tableoid::regclass, * FROM measure WHERE value < 0 OR value >= 100 ORDER BY 2, 3;
-- the violation that a MERGE meets when another session was faster
SELECT tried('MERGE INTO measure m USING (VALUES (5, date ''2026-02-02''), (5, date ''2026-02-02'')) n (sensor, at) ON m.sensor = n.sensor AND m.at = n.at
	WHEN NOT MATCHED THEN INSERT VALUES (n.sensor, n.at, 0)');

-- REFRESH MATERIALIZED VIEW CONCURRENTLY: a small btree beside it, or a twin
CREATE MATERIALIZED VIEW latest AS SELECT sensor, max(at) AS at FROM measure GROUP BY sensor;
CREATE UNIQUE INDEX latest_sensor ON latest (sensor);
CREATE UNIQUE INDEX latest_at ON latest USING surfidx (at, sensor);
INSERT INTO measure VALUES (0, '2027-11-11', 0);
DELETE FROM measure WHERE sensor = 9;
REFRESH MATERIALIZED VIEW CONCURRENTLY latest;
SELECT * FROM latest ORDER BY at DESC, sensor;
SELECT surfidx_merge('latest_at') > 0 AS merged;
INSERT INTO measure VALUES (1, '2027-12-12', 0);
REFRESH MATERIALIZED VIEW CONCURRENTLY latest;
CREATE MATERIALIZED VIEW latest_twin AS SELECT sensor, max(at) AS at FROM measure GROUP BY sensor;
CREATE UNIQUE INDEX latest_twin_at ON latest_twin USING surfidx (at, sensor);
INSERT INTO measure VALUES (2, '2027-12-13', 0);
REFRESH MATERIALIZED VIEW latest_twin;
BEGIN;
ALTER MATERIALIZED VIEW latest RENAME TO latest_old;
ALTER MATERIALIZED VIEW latest_twin RENAME TO latest;
ALTER MATERIALIZED VIEW latest_old RENAME TO latest_twin;
COMMIT;
SET enable_seqscan = off;
SELECT * FROM latest ORDER BY at DESC, sensor LIMIT 2;
SELECT * FROM latest_twin ORDER BY at DESC, sensor LIMIT 2;
RESET enable_seqscan;

-- A conflict target without the operator class
INSERT INTO account VALUES (3, 'x') ON CONFLICT (id) DO NOTHING;

SELECT i::text, surfidx_check(i, true, true) FROM (SELECT c.oid::regclass FROM pg_class c JOIN pg_am a ON a.oid = relam
	WHERE amname = 'surfidx' AND relnamespace = 'ua'::regnamespace AND relkind = 'i') s (i) ORDER BY i::text COLLATE "C";
SET client_min_messages = warning;
DROP SCHEMA ua CASCADE;
