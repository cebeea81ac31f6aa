-- Three key columns, one descending, strings of varying length in the middle
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/verdict.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TABLE src AS
SELECT i AS id, (i * 7919) % 12 AS a, 'v' || (i * 104729) % 17 || repeat('x', i % 3) AS b, ((i * 31) % 23 - 10)::int8 AS c, i % 5 = 0 AS d
FROM generate_series(1, 2500) i;

CREATE TABLE t_delta (id int, a int, b text COLLATE "C", c int8, d bool);
CREATE TABLE t_half (LIKE t_delta);
CREATE TABLE t_merged (LIKE t_delta);
CREATE TABLE t_built (LIKE t_delta);
CREATE VIEW tabs AS SELECT unnest(ARRAY['t_delta', 't_half', 't_merged', 't_built']) AS tab;
INSERT INTO t_built SELECT * FROM src;
SELECT format('CREATE INDEX %I ON %I USING surfidx (a, b DESC, c)', tab || '_abc', tab) FROM tabs ORDER BY 1 \gexec
INSERT INTO t_delta SELECT * FROM src;
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 0;
INSERT INTO t_merged SELECT * FROM src;
SELECT count(surfidx_merge((tab || '_abc')::regclass)) FROM tabs WHERE tab IN ('t_half', 't_merged');
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 1;
ANALYZE t_delta, t_half, t_merged, t_built;

CREATE TABLE conds (cond text);
INSERT INTO conds VALUES
	-- prefixes of equalities, a range after them
	('a = 3'), ('a = 3 AND b = ''v5x'''), ('a = 3 AND b = ''v5x'' AND c = 4'), ('a = 3 AND b = ''v5x'' AND c > 0'),
	('a = 3 AND b = ''v5x'' AND c BETWEEN -3 AND 5'), ('a = 3 AND b > ''v5'''), ('a = 3 AND b >= ''v5xx'' AND b < ''v7'''),
	('a = 3 AND b <= ''v11'''), ('a = 3 AND b < '''''), ('a = 3 AND b LIKE ''v1%'''),
	('a > 3'), ('a >= 3 AND a < 6'), ('a < 0'), ('a <= 0'), ('a > 11'),
	-- conditions on later columns alone
	('a > 3 AND b = ''v5'''), ('a >= 3 AND a <= 5 AND c = 4'), ('a = 3 AND c = 4'), ('a = 3 AND c <> 4 AND c > 2'),
	('a = 3 AND b > ''v2'' AND c < 0'), ('a = 3 AND b > ''v2'' AND b < ''v4'' AND c >= 0 AND c < 7'),
	('b = ''v5xx'''), ('c = 7'), ('b = ''v5xx'' AND c = 7'), ('c > 11'),
	-- cross-type
	('a = 3::int8 AND b = ''v5x'' AND c = 4::int2'), ('a = 3::int2 AND c < 5::int4'), ('a > 4000000000 AND c = 1'), ('a < 4000000000 AND c = 1'),
	('a = 3 AND c > 5::int2 AND c < 100000'),
	-- redundant and contradictory
	('a = 3 AND a = 3'), ('a = 3 AND a = 4'), ('a = 3 AND a > 2 AND b = ''v5'''), ('a = 3 AND a < 3'),
	('a > 2 AND a > 4 AND a < 9 AND a <= 7'), ('a > 6 AND a < 6'), ('a > 5 AND a < 6'),
	('a = 3 AND b = ''v5'' AND b < ''v4'''), ('a = 3 AND b > ''v1'' AND b > ''v3'' AND b < ''v9'''),
	('a = 3 AND c > 5 AND c < 4'), ('a = 3 AND c = 4 AND c = 5'), ('a IS NULL'), ('a IS NOT NULL AND b = ''v5'''),
	-- constants too long for any key
	('a = 3 AND b = repeat(''v'', 4000)'), ('a = 3 AND b > repeat(''v'', 4000)'), ('a = 3 AND b < repeat(''v'', 4000) AND c = 3'),
	('a = 3 AND b = ''v5'' || repeat(''x'', 2675) AND c = 3'), ('a = 3 AND b < ''v5'' || repeat(''x'', 2685)'),
	-- what no index condition is made of
	('(a, b) > (3, ''v5'') AND a < 6'), ('a = 3 AND d');
CREATE TABLE shapes (shape text);
INSERT INTO shapes VALUES
	('SELECT * FROM %%t WHERE %s'),
	('SELECT a, b, c FROM %%t WHERE %s ORDER BY a, b DESC, c'),
	('SELECT a, b, c FROM %%t WHERE %s ORDER BY a DESC, b, c DESC');
CREATE VIEW queries AS SELECT format(shape, cond) AS q FROM conds, shapes;

SELECT tab, how, count(*) AS asked, count(*) FILTER (WHERE v <> 'ok') AS wrong, min(q || ': ' || v) FILTER (WHERE v <> 'ok') AS example
FROM (SELECT tab, how, q, verdict(tab, q, how) AS v FROM tabs, queries, (VALUES ('index'), ('bitmap')) h (how)) r
GROUP BY tab, how ORDER BY tab, how;
SELECT tab, count(*) AS asked, count(*) FILTER (WHERE v <> 'ok') AS wrong, min(q || ': ' || v) FILTER (WHERE v <> 'ok') AS example
FROM (SELECT tab, q, verdict(tab, q, 'only') AS v FROM tabs, queries WHERE q !~ '\*' AND q !~ ' d ') r
GROUP BY tab ORDER BY tab;

-- All of it in order
SELECT tab, verdict(tab, 'SELECT a, b, c FROM %t ORDER BY a, b DESC, c'), verdict(tab, 'SELECT a, b, c FROM %t ORDER BY a DESC, b, c DESC', 'only')
FROM tabs ORDER BY tab;

-- What it looks like
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM t_half WHERE a = 3 AND b > 'v5' AND c = 4 ORDER BY b DESC;
SELECT a, b, c FROM t_half WHERE a = 3 AND b > 'v5' AND c = 4 ORDER BY b DESC, c LIMIT 4;
EXPLAIN (COSTS OFF) SELECT a, b, c FROM t_half WHERE a = 3 ORDER BY a, b DESC, c DESC LIMIT 4;
SELECT a, b, c FROM t_half WHERE a = 3 ORDER BY a, b DESC, c DESC LIMIT 4;
RESET ALL;

DROP VIEW queries, tabs;
DROP TABLE src, t_delta, t_half, t_merged, t_built, conds, shapes;
DROP FUNCTION verdict;
