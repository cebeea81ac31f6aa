SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.unique_notice = off;
CREATE SCHEMA ref;
SET search_path = ref, public;

-- What core grants only to btree, up to PostgreSQL 17 or in all versions; docs/unique.md has the workarounds.
CREATE TABLE r (k int, v int);
CREATE UNIQUE INDEX r_k ON r USING surfidx (k);
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE UNIQUE INDEX p_k ON p USING surfidx (k);
\echo :LAST_ERROR_SQLSTATE
ALTER TABLE p ADD PRIMARY KEY (k) WITH (access_method = surfidx);
CREATE TABLE q (k int PRIMARY KEY WITH (access_method = surfidx)) PARTITION BY RANGE (k);
CREATE MATERIALIZED VIEW m AS SELECT 1 AS k;
CREATE UNIQUE INDEX m_k ON m USING surfidx (k);
REFRESH MATERIALIZED VIEW CONCURRENTLY m;
INSERT INTO r VALUES (1) ON CONFLICT (k int4_ops) DO NOTHING;
SET surfidx.onconflict_lift = off;
INSERT INTO r VALUES (7) ON CONFLICT DO NOTHING;
DELETE FROM r;
RESET surfidx.onconflict_lift;
-- rows routed to a partition that has a unique index of its own
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE UNIQUE INDEX p1_k ON p1 USING surfidx (k);
INSERT INTO p VALUES (1) ON CONFLICT DO NOTHING;
INSERT INTO p1 VALUES (1), (1) ON CONFLICT DO NOTHING;
SELECT * FROM p;

-- A foreign key refers to the oldest unique index on the columns (sql/foreign_refer.sql)
CREATE UNIQUE INDEX r_bt ON r (k);
CREATE TABLE child (k int REFERENCES r (k));
SELECT conindid::regclass FROM pg_constraint WHERE conrelid = 'child'::regclass;
-- partial ones are not looked at
CREATE TABLE r2 (k int);
CREATE UNIQUE INDEX r2_k ON r2 USING surfidx (k) WHERE k IS NOT NULL;
ALTER TABLE r2 ADD PRIMARY KEY (k);
CREATE TABLE child2 (k int REFERENCES r2 (k));

SET client_min_messages = warning;
DROP SCHEMA ref CASCADE;
