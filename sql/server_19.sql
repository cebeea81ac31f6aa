-- New features of PostgreSQL 19 with surfidx (docs/compatibility.md lists them).  Older servers end here.
SELECT current_setting('server_version_num')::int < 190000 AS older \gset
\if :older
\quit
\endif
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET max_parallel_workers_per_gather = 0;

-- REPACK keeps the method and its parameters, and puts rows in the index's order
CREATE TABLE pk (id bigint PRIMARY KEY WITH (access_method = surfidx), v int, t text);
INSERT INTO pk SELECT g * 7919 % 10007, g % 100, 'x' || g FROM generate_series(1, 10000) g;
CREATE INDEX pk_v ON pk USING surfidx (v) INCLUDE (t) WITH (fillfactor = 70);
DELETE FROM pk WHERE v = 5;
REPACK pk USING INDEX pk_pkey;
SELECT array_agg(id ORDER BY ctid) = array_agg(id ORDER BY id) AS "in order", count(*) FROM pk;
REPACK (CONCURRENTLY) pk USING INDEX pk_v;
SELECT array_agg(v ORDER BY ctid) = array_agg(v ORDER BY v) AS "in order", count(*) FROM pk;
REPACK (CONCURRENTLY) pk;
SELECT indexrelid::regclass, indisprimary, indisclustered, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'pk'::regclass ORDER BY 1;
SELECT indexrelname, problem FROM surfidx_check_all(true, true) WHERE indexrelname ~ '^pk_';

-- foreign keys: one by one, many, of another type
CREATE TABLE fk (r bigint REFERENCES pk, r4 int REFERENCES pk);
INSERT INTO fk SELECT id, id FROM pk;
INSERT INTO fk VALUES (20000, 1);
INSERT INTO fk SELECT id, CASE id WHEN 186 THEN 20186 ELSE id END FROM pk WHERE id < 200;
INSERT INTO fk VALUES (NULL, 1), (1, NULL);
DELETE FROM pk WHERE id = 1;
DROP TABLE fk;

-- ON CONFLICT DO SELECT
INSERT INTO pk VALUES (7, 1, 'y') ON CONFLICT (id) DO SELECT RETURNING id, v <> 1 AS "was there";
INSERT INTO pk VALUES (7, 1, 'y') ON CONFLICT ON CONSTRAINT pk_pkey DO SELECT FOR UPDATE RETURNING id, v <> 1 AS "was there";
INSERT INTO pk VALUES (20000, 1, 'y') ON CONFLICT (id) DO SELECT RETURNING *;

-- a count marks the pages that it prunes all-visible, and finds them in the map the next time
SET enable_seqscan = off;
CREATE EXTENSION pg_visibility;
CREATE TABLE seen (a int) WITH (autovacuum_enabled = off);
INSERT INTO seen SELECT g FROM generate_series(1, 20000) g;
CREATE INDEX seen_a ON seen USING surfidx (a);
SELECT all_visible > 50 AS marked FROM pg_visibility_map_summary('seen');
SELECT count(*) FROM seen WHERE a > 0;
SELECT all_visible > 50 AS marked FROM pg_visibility_map_summary('seen');
SELECT * FROM pg_check_visible('seen');
DROP EXTENSION pg_visibility;
DROP TABLE seen, pk;
