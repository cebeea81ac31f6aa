-- Key columns of many types, NULLs, and INCLUDE columns, among them types that have no key encoding
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/verdict.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TABLE src AS
SELECT i AS id, nullif((i * 7919) % 50, 7) AS a, nullif('t' || (i * 104729) % 31, 't3') AS b,
	decode(lpad(to_hex((i * 7919) % 256), 2, '0') || '0001', 'hex') AS c, md5((i % 40)::text)::uuid AS u,
	nullif(i % 13, 4)::numeric / 3 AS n, repeat('long ', i % 90) AS l, CASE WHEN i % 4 > 0 THEN ARRAY[i, i % 3, NULL] END AS r,
	nullif(i % 3 = 0, i % 5 = 0) AS f, timestamptz '2001-01-01' + i * interval '1 minute' AS z, ('n' || i % 20)::name AS m
FROM generate_series(1, 800) i;

CREATE TABLE t_delta (id int, a int, b text COLLATE "C", c bytea, u uuid, n numeric, l text, r int[], f bool, z timestamptz, m name);
CREATE TABLE t_half (LIKE t_delta);
CREATE TABLE t_merged (LIKE t_delta);
CREATE TABLE t_built (LIKE t_delta);
CREATE VIEW tabs AS SELECT unnest(ARRAY['t_delta', 't_half', 't_merged', 't_built']) AS tab;
INSERT INTO t_built SELECT * FROM src;
SELECT format('CREATE INDEX %I ON %I USING surfidx (a, z)', tab || '_az', tab) FROM tabs ORDER BY 1 \gexec
SELECT format('CREATE INDEX %I ON %I USING surfidx (id DESC, f) INCLUDE (a, z)', tab || '_fixed', tab) FROM tabs ORDER BY 1 \gexec
SELECT format('CREATE INDEX %I ON %I USING surfidx (b, a DESC, c, u DESC) INCLUDE (n, l, r, f, m)', tab || '_all', tab) FROM tabs ORDER BY 1 \gexec
INSERT INTO t_delta SELECT * FROM src;
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 0;
INSERT INTO t_merged SELECT * FROM src;
SELECT count(surfidx_merge((tab || i)::regclass)) FROM tabs, unnest(ARRAY['_az', '_fixed', '_all']) i WHERE tab IN ('t_half', 't_merged');
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 1;
ANALYZE t_delta, t_half, t_merged, t_built;

CREATE TABLE queries (q text);
INSERT INTO queries VALUES
	('SELECT a, z FROM %t'), ('SELECT a, z FROM %t ORDER BY a, z'), ('SELECT z FROM %t WHERE a = 20 ORDER BY z DESC'),
	('SELECT a, z FROM %t WHERE a IN (3, 20, 21)'), ('SELECT count(*), count(a) FROM %t WHERE a > 30 OR a < 10 AND ''nocond'' = ''nocond'''),
	('SELECT z FROM %t WHERE a IS NULL ORDER BY a, z'),
	('SELECT id, f, a, z FROM %t WHERE id BETWEEN 100 AND 400 ORDER BY id'), ('SELECT id, f, a, z FROM %t WHERE id > 500 AND f ORDER BY id DESC'),
	('SELECT id, f, a, z FROM %t WHERE id > 300 AND f IS NULL ORDER BY id'), ('SELECT id, a FROM %t WHERE id > 300 AND a > 30 ORDER BY id'),
	('SELECT b, a, c, u, n, l, r, f, m FROM %t'), ('SELECT b, a, c, u, n, l, r, f, m FROM %t WHERE b = ''t8'''),
	('SELECT b, a, c, u FROM %t WHERE b > ''t2'' ORDER BY b, a DESC, c, u DESC'), ('SELECT b, a, c, u FROM %t ORDER BY b DESC, a, c DESC, u'),
	('SELECT n, m, b FROM %t WHERE b = ''t8'' AND a > 20'), ('SELECT l, r FROM %t WHERE b IS NULL'), ('SELECT m, l FROM %t WHERE b > ''t2'' AND n > 2'),
	('SELECT b, u FROM %t WHERE b > ''t2'' AND c > ''\x40'' AND u < ''80000000-0000-0000-0000-000000000000'''),
	('SELECT min(b), max(b) FROM %t'), ('SELECT max(z) FROM %t WHERE a = 9');
-- every row looked up in the heap
SELECT tab, count(*) AS asked, count(*) FILTER (WHERE v <> 'ok') AS wrong, min(q || ': ' || v) FILTER (WHERE v <> 'ok') AS example
FROM (SELECT tab, q, verdict(tab, q, 'only') AS v FROM tabs, queries) r GROUP BY tab ORDER BY tab;
-- after deletions, with dead entries in the index
DELETE FROM t_delta WHERE id % 10 = 3;
DELETE FROM t_half WHERE id % 10 = 3;
DELETE FROM t_merged WHERE id % 10 = 3;
DELETE FROM t_built WHERE id % 10 = 3;
SELECT tab, count(*) AS asked, count(*) FILTER (WHERE v <> 'ok') AS wrong, min(q || ': ' || v) FILTER (WHERE v <> 'ok') AS example
FROM (SELECT tab, q, verdict(tab, q, 'only') AS v FROM tabs, queries) r GROUP BY tab ORDER BY tab;
-- and after VACUUM has freed them and set the visibility map
VACUUM t_delta, t_half, t_merged, t_built;
SELECT tab, count(*) AS asked, count(*) FILTER (WHERE v <> 'ok') AS wrong, min(q || ': ' || v) FILTER (WHERE v <> 'ok') AS example
FROM (SELECT tab, q, verdict(tab, q, 'only') AS v FROM tabs, queries) r GROUP BY tab ORDER BY tab;
-- and with their places taken by new rows
INSERT INTO t_delta SELECT * FROM src WHERE id % 10 = 3;
INSERT INTO t_half SELECT * FROM src WHERE id % 10 = 3;
INSERT INTO t_merged SELECT * FROM src WHERE id % 10 = 3;
INSERT INTO t_built SELECT * FROM src WHERE id % 10 = 3;
SELECT tab, count(*) AS asked, count(*) FILTER (WHERE v <> 'ok') AS wrong, min(q || ': ' || v) FILTER (WHERE v <> 'ok') AS example
FROM (SELECT tab, q, verdict(tab, q, 'only') AS v FROM tabs, queries) r GROUP BY tab ORDER BY tab;

-- What it looks like
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT b, a, m, n FROM t_half WHERE b = 't8' AND a < 20 ORDER BY b, a DESC;
SELECT b, a, m, round(n, 3) AS n, r, f, length(l) AS l FROM t_half WHERE b = 't8' AND a < 20 ORDER BY b, a DESC, c LIMIT 8;
EXPLAIN (COSTS OFF) SELECT id, a FROM t_half WHERE id < 6 AND a > 3 ORDER BY id DESC;
SELECT id, f, a, z FROM t_half WHERE id < 6 ORDER BY id DESC;
RESET ALL;

DROP VIEW tabs;
DROP TABLE src, t_delta, t_half, t_merged, t_built, queries;
DROP FUNCTION verdict;
