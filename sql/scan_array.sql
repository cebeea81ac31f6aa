-- Lists of constants on one and on several columns; b is descending
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/verdict.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TABLE src AS
SELECT i AS id, nullif((i * 7919) % 41 - 20, 9) AS a, 'w' || (i * 104729) % 29 AS b, ((i * 31) % 13)::int8 AS c
FROM generate_series(1, 3000) i;

CREATE TABLE t_delta (id int, a int, b text COLLATE "C", c int8);
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
	-- on the first column: order, duplicates, NULLs, absent values, none at all
	('a IN (3, 7)'), ('a IN (7, -3, 7, 7, 0)'), ('a = ANY (''{9,NULL,3,100,-100}'')'), ('a = ANY (''{100,200}'')'),
	('a = ANY (''{5,NULL}'')'), ('a = ANY (ARRAY[[1,2],[3,NULL]])'),
	('a = ANY (''{3,7,4000000000}''::int8[])'), ('a = ANY (''{3,7,7}''::int2[])'), ('a = ANY (''{4000000000}''::int8[])'),
	('a = ANY (ARRAY(SELECT x::int FROM generate_series(-30, 30, 3) x))'),
	-- with other conditions on the same column
	('a IN (1, 3, 5, 7) AND a > 3'), ('a IN (1, 3, 5, 7) AND a <= 5 AND a >= 3'), ('a IN (1, 3, 5, 7) AND a = 5'),
	('a IN (1, 3, 5, 7) AND a = 6'), ('a IN (1, 3, 5, 7) AND a IN (5, 7, 8, 1)'), ('a IN (1, 3) AND a IN (4, 7)'),
	('a IN (1, 3, 5) AND a = ANY (''{3,5,4}''::int8[]) AND a = ANY (''{5,3}''::int2[])'), ('a IN (1, 3, 5) AND a IS NOT NULL'),
	('a IN (1, 3, 5) AND a IS NULL'), ('a IN (1, 3, 5) AND a > 10'),
	-- on several columns, with ranges and filters after them
	('a IN (3, -7) AND b IN (''w5'', ''w17'', ''none'')'), ('a IN (3, -7, 11) AND b IN (''w5'', ''w17'', ''w5'') AND c IN (1, 12, 3)'),
	('a = 3 AND b IN (''w5'', ''w17'', ''w6'', ''w9'')'), ('a IN (3, -7) AND b = ''w5'' AND c IN (4, 5, 6)'),
	('a IN (3, -7, 11) AND b > ''w5'' AND b <= ''w8'''), ('a IN (3, -7, 11) AND c IN (1, 12)'), ('a IN (3, -7, 11) AND c = 4::int2'),
	('a > 3 AND b IN (''w5'', ''w17'')'), ('a > 3 AND c = ANY (''{1,NULL,12}''::int4[])'), ('b IN (''w5'', ''w17'')'), ('c IN (1, 4)'),
	('a IN (3, 4) AND b IN (''w5'', ''w17'') AND c > 3 AND c < 9'), ('a IS NULL AND b IN (''w5'', ''w17'')'),
	('a IN (3, 4) AND b IN (repeat(''w'', 5000), ''w17'')'), ('a IN (3, 4) AND b IN (repeat(''w'', 2000), repeat(''w'', 2690))'),
	-- other operators than =
	('a < ANY (''{-5,NULL,-12}'')'), ('a <= ANY (''{-5,-12,NULL,-5}'')'), ('a > ANY (''{15,3,17}'')'), ('a >= ANY (''{15,17}'')'),
	('a > ANY (''{15,4000000000}''::int8[])'), ('a < ANY (''{-15,-4000000000}''::int8[])'), ('a < ANY (''{NULL}''::int[])'),
	('a = 3 AND b > ANY (''{w5,w7}'')'), ('a = 3 AND b <= ANY (''{w12,w1}'') AND c IN (3, 4)'), ('a > 2 AND b < ANY (''{w12,w1}'')'),
	('a IN (3, 4) AND b >= ANY (''{w5,w7}'') AND b < ''w6''');
CREATE TABLE shapes (shape text);
INSERT INTO shapes VALUES
	('SELECT a, b, c FROM %%t WHERE %s'),
	('SELECT a FROM %%t WHERE %s ORDER BY a'),
	('SELECT a FROM %%t WHERE %s ORDER BY a DESC');
-- (core does not make a condition of a list on a later column where order is asked for, before 17)
CREATE VIEW queries AS SELECT format(shape, cond) AS q FROM conds, shapes;
SELECT tab, how, count(*) AS asked, count(*) FILTER (WHERE v !~ '^(ok|sorted|no index condition)$') AS wrong, min(q || ': ' || v) FILTER (WHERE v !~ '^(ok|sorted|no index condition)$') AS example
FROM (SELECT tab, how, q, verdict(tab, q, how) AS v FROM tabs, queries, (VALUES ('index'), ('only'), ('bitmap')) h (how)) r
GROUP BY tab, how ORDER BY tab, how;

-- A long list
SELECT tab, verdict(tab, 'SELECT a FROM %t WHERE a = ANY (ARRAY(SELECT (x * 7919) % 5000 FROM generate_series(0, 4999) x)) ORDER BY a'),
	verdict(tab, 'SELECT a, b, c FROM %t WHERE a = ANY (ARRAY(SELECT (x * 7919) % 500 - 250 FROM generate_series(0, 499) x)) AND b = ANY (ARRAY(SELECT ''w'' || x FROM generate_series(0, 50) x))')
FROM tabs ORDER BY tab;

-- The order that the index gives is the columns' order, whatever that of the list
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT a, b, c FROM t_half WHERE a IN (7, -3, 5) AND c < 1;
SELECT a, b, c FROM t_half WHERE a IN (7, -3, 5) AND c < 1;
EXPLAIN (COSTS OFF) SELECT a FROM t_half WHERE a IN (7, -3, 5) AND b = 'w4' ORDER BY a DESC;
SELECT a FROM t_half WHERE a IN (7, -3, 5) AND b = 'w4' ORDER BY a DESC;
SELECT a, b, c FROM t_half WHERE a IN (7, -3) AND b IN ('w4', 'w3', 'w20') AND c IN (5, 6, 7, 8);
RESET ALL;

DROP VIEW queries, tabs;
DROP TABLE src, t_delta, t_half, t_merged, t_built, conds, shapes;
DROP FUNCTION verdict;
