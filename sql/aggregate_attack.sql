-- What an attack found of aggregates by the index
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.auto_merge = off;
SET max_parallel_workers_per_gather = 0;

-- a column that rows are grouped by is constant, and one of the tables has no index (16 and later: "expression not found in targetlist")
CREATE TABLE ga (a int, b int) PARTITION BY RANGE (b);
CREATE TABLE ga1 PARTITION OF ga FOR VALUES FROM (0) TO (10);
CREATE TABLE ga2 PARTITION OF ga FOR VALUES FROM (10) TO (20);
CREATE INDEX ON ga1 USING surfidx (a);
INSERT INTO ga SELECT i % 5, i % 20 FROM generate_series(1, 20000) i;
VACUUM ANALYZE ga;
SELECT a, count(*) FROM ga WHERE a = 3 GROUP BY a;
SELECT a, b < 10 AS low, count(*), sum(b) FROM ga WHERE a = 3 GROUP BY a, b < 10 ORDER BY 2;
CREATE INDEX ON ga2 USING surfidx (a);
SELECT a, count(*) FROM ga WHERE a = 3 GROUP BY a;
SELECT a, count(*) FROM ga WHERE a = 77 GROUP BY a;

-- dead rows, for which the function of a bucket would throw
CREATE TABLE gd (ts timestamp) WITH (autovacuum_enabled = off);
CREATE INDEX ON gd USING surfidx (ts);
INSERT INTO gd SELECT '2024-01-01'::timestamp + i * interval '1 h' FROM generate_series(1, 50) i;
INSERT INTO gd VALUES ('4714-11-24 00:00 BC'), ('4714-11-24 05:00 BC'), ('294276-12-31'), ('infinity'), ('-infinity'), (NULL);
SET enable_seqscan = off;
SELECT date_trunc('year', ts), count(*) FROM gd GROUP BY 1;
BEGIN;
DELETE FROM gd WHERE ts < '4700-01-01 BC' AND ts > '-infinity';
EXPLAIN (COSTS OFF) SELECT date_trunc('year', ts), count(*) FROM gd GROUP BY 1;
SELECT date_trunc('year', ts), count(*) FROM gd GROUP BY 1 ORDER BY 1;
SELECT date_bin('7 days', ts, '2024-01-02'), count(*) FROM gd GROUP BY 1 ORDER BY 1;
SELECT date_bin('10000 days', ts, '294276-01-01'), count(*) FROM gd GROUP BY 1 ORDER BY 1;
ROLLBACK;
SELECT date_bin('10000 days', ts, '294276-01-01'), count(*) FROM gd GROUP BY 1;

-- GROUPING() is computed by core's Agg only
CREATE TABLE gg (a int, b int) WITH (autovacuum_enabled = off);
CREATE INDEX ON gg USING surfidx (a, b);
INSERT INTO gg SELECT i % 3, i FROM generate_series(1, 50) i;
CREATE TABLE gp (a int, b int) PARTITION BY LIST (a);
CREATE TABLE gp0 PARTITION OF gp FOR VALUES IN (0, 1);
CREATE TABLE gp1 PARTITION OF gp FOR VALUES IN (2);
CREATE INDEX ON gp USING surfidx (a, b);
INSERT INTO gp SELECT * FROM gg;
EXPLAIN (COSTS OFF) SELECT a, count(*) FROM gg GROUP BY a ORDER BY a;
SELECT a, count(*), grouping(a) FROM gg GROUP BY a ORDER BY a;
SELECT a, max(b) FROM gg GROUP BY a HAVING grouping(a) = 0 ORDER BY a;
SELECT grouping(a, b), count(*) FROM gg WHERE a = 1 AND b < 10 GROUP BY a, b ORDER BY a, b;
SELECT a, count(*), grouping(a) FROM gp GROUP BY a ORDER BY a;
SELECT a, max(b) FROM gp GROUP BY a HAVING grouping(a) = 0 ORDER BY a;
DROP TABLE ga, gd, gg, gp;
