-- surfidx_why_not(): why an index does not compute aggregates, or that it does
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE TABLE t (a int NOT NULL, b int, c numeric, d text);
INSERT INTO t SELECT i, i % 10, i, i FROM generate_series(1, 5000) i;
CREATE INDEX t_a ON t USING surfidx (a) INCLUDE (b);
CREATE INDEX t_c ON t USING surfidx (c, b);
VACUUM ANALYZE t;
SELECT q, surfidx_why_not(q) FROM unnest(ARRAY['SELECT count(*) FROM t WHERE a > 5', 'SELECT count(d) FROM t', 'SELECT sum(b) FROM t GROUP BY c', 'SELECT stddev(b + random()) FROM t', 'SELECT count(*) FROM t WHERE b > random()',
	'SELECT count(DISTINCT a) FILTER (WHERE b > 1) FROM t', 'SELECT a, count(*) FROM t GROUP BY ROLLUP (a)', 'SELECT DISTINCT ON (a) a, b FROM t', 'SELECT count(*) FROM t JOIN t u USING (a)', 'SELECT a, b FROM t', 'SELECT count(*) FROM t TABLESAMPLE system (100)',
	'SELECT count(*) FROM (SELECT a FROM t FOR UPDATE) x', 'SELECT a + random(), count(*) FROM t GROUP BY 1', 'SELECT a, count(*) FROM t GROUP BY a']) WITH ORDINALITY x (q, n) ORDER BY n;
SET surfidx.aggregates = off;
SELECT surfidx_why_not('SELECT count(*) FROM t');
RESET surfidx.aggregates;
SET enable_indexonlyscan = off;
SELECT surfidx_why_not('SELECT count(*) FROM t');
RESET enable_indexonlyscan;
-- the query is not executed, and has to be one
SELECT surfidx_why_not('DELETE FROM t');
SELECT count(*) FROM t;
SELECT surfidx_why_not('SELECT 1; SELECT count(*) FROM t');
-- a user that may not execute it is told nothing
CREATE ROLE surfidx_why;
SET ROLE surfidx_why;
SELECT surfidx_why_not('SELECT count(*) FROM t WHERE a > 4000');
RESET ROLE;
DROP ROLE surfidx_why;
-- nor is a function's query that planning calls mixed up with it
CREATE FUNCTION five() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM surfidx_why_not('SELECT sum(b) FROM t'); RETURN 5; END $$;
SELECT surfidx_why_not('SELECT count(*) FROM t WHERE a > five()');
DROP FUNCTION five;
SELECT surfidx_why_not('SELECT count(*) FROM nothing');
SELECT surfidx_why_not('SELECT count(*) FROM t');
DROP TABLE t;
