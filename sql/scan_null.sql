-- Two columns with NULLs under every placement of them
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/verdict.sql'
\set ECHO none
\i :helpers
\set ECHO all
-- rows one by one
SET surfidx.aggregates = off;
CREATE TABLE src AS
SELECT i AS id, nullif((i * 7919) % 23, 5) AS a, nullif((i * 104729) % 19, 4)::text AS b
FROM generate_series(1, 1200) i;

CREATE VIEW places AS SELECT * FROM (VALUES
	('af', 'ASC NULLS FIRST'), ('al', 'ASC NULLS LAST'), ('df', 'DESC NULLS FIRST'), ('dl', 'DESC NULLS LAST')) p (p, place);
CREATE VIEW states AS SELECT unnest(ARRAY['delta', 'half', 'merged', 'built']) AS state;
CREATE VIEW tabs AS SELECT p, place, state, 't_' || p || '_' || state AS tab FROM places, states;

SELECT format('CREATE TABLE %I (id int, a int, b text COLLATE "C")', tab) FROM tabs ORDER BY 1 \gexec
SELECT format('INSERT INTO %I SELECT * FROM src', tab) FROM tabs WHERE state = 'built' ORDER BY 1 \gexec
SELECT format('CREATE INDEX %I ON %I USING surfidx (a %s, b %s)', tab || '_ab', tab, place, place) FROM tabs ORDER BY 1 \gexec
SELECT format('INSERT INTO %I SELECT * FROM src', tab) FROM tabs WHERE state IN ('delta', 'merged') ORDER BY 1 \gexec
SELECT format('INSERT INTO %I SELECT * FROM src WHERE id %% 2 = 0', tab) FROM tabs WHERE state = 'half' ORDER BY 1 \gexec
SELECT count(surfidx_merge((tab || '_ab')::regclass)) FROM tabs WHERE state IN ('half', 'merged');
SELECT format('INSERT INTO %I SELECT * FROM src WHERE id %% 2 = 1', tab) FROM tabs WHERE state = 'half' ORDER BY 1 \gexec
SELECT format('ANALYZE %I', tab) FROM tabs ORDER BY 1 \gexec

CREATE TABLE conds (cond text);
INSERT INTO conds VALUES
	('a IS NULL'), ('a IS NOT NULL'), ('a IS NULL AND b IS NULL'), ('a IS NULL AND b = ''7'''), ('a IS NULL AND b > ''12'''),
	('a IS NULL AND b IS NOT NULL'), ('a = 7 AND b IS NULL'), ('a = 7 AND b IS NOT NULL'), ('a > 7 AND b IS NULL'),
	('a > 7 AND b IS NOT NULL'), ('a < 7'), ('a <= 7'), ('a > 7'), ('a >= 7'), ('a = 7'), ('a = 5'), ('a = 7 AND b > ''12'''),
	('a = 7 AND b < ''12'''), ('a < 7 AND b > ''12'''), ('b IS NULL'), ('b IS NOT NULL'), ('a IS NOT NULL AND b IS NULL'),
	('a IS NOT NULL AND a < 9'), ('a IS NULL AND a = 3'), ('a IS NULL AND a IS NOT NULL'), ('a < 3000000000'), ('a > 3000000000'),
	('a >= -3000000000 AND b IS NULL'), ('a = ANY(''{3,NULL,7}'')'), ('a IS NULL AND b = ANY(''{3,NULL,7}'')');
CREATE VIEW queries AS
SELECT tab, state, p, format('SELECT a, b FROM %%t WHERE %s', cond) AS q FROM tabs, conds
UNION ALL
SELECT tab, state, p, format('SELECT a, b FROM %%t WHERE %s ORDER BY a %s, b %2$s', cond, place) FROM tabs, conds
UNION ALL
SELECT t.tab, t.state, t.p, format('SELECT a, b FROM %%t WHERE %s ORDER BY a %s, b %2$s', cond, r.place)
FROM tabs t JOIN places r ON (t.p, r.p) IN (('af', 'dl'), ('dl', 'af'), ('al', 'df'), ('df', 'al')), conds;	-- backward

SELECT state, p, count(*) AS asked, count(*) FILTER (WHERE v <> 'ok') AS wrong, min(q || ': ' || v) FILTER (WHERE v <> 'ok') AS example
FROM (SELECT *, verdict(tab, q, (ARRAY['index', 'only'])[1 + (hashtext(q) & 1)]) AS v FROM queries) r GROUP BY state, p ORDER BY state, p;
SELECT state, count(*) > 100 AS asked, count(*) FILTER (WHERE v <> 'ok') AS wrong, min(q || ': ' || v) FILTER (WHERE v <> 'ok') AS example
FROM (SELECT *, verdict(tab, q, 'bitmap') AS v FROM queries WHERE hashtext(q) % 3 = 0) r GROUP BY state ORDER BY state;

-- MIN and MAX pass NULLs over
SELECT tab, verdict(tab, 'SELECT min(a), max(a) FROM %t') FROM tabs ORDER BY tab;

-- A NULL that comes as a parameter matches nothing
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE eq (int) AS SELECT count(*) FROM t_af_half WHERE a = $1;
PREPARE lt (int) AS SELECT count(*) FROM t_dl_half WHERE a < $1;
PREPARE eqb (text) AS SELECT count(*) FROM t_al_half WHERE a IS NULL AND b = $1;
PREPARE later (text) AS SELECT count(*) FROM t_al_half WHERE a > 3 AND b = $1;
PREPARE list (int[]) AS SELECT count(*) FROM t_al_half WHERE a = ANY ($1);
EXPLAIN (COSTS OFF) EXECUTE eq(NULL);
EXECUTE eq(NULL);
EXECUTE eq(7);
EXECUTE lt(NULL);
EXECUTE lt(7);
EXECUTE eqb(NULL);
EXECUTE eqb('7');
EXECUTE later(NULL);
EXECUTE later('7');
EXECUTE list(NULL);
EXECUTE list('{}');
EXECUTE list('{NULL}');
EXECUTE list('{NULL,7,7}');
DEALLOCATE ALL;

-- What it looks like
EXPLAIN (COSTS OFF) SELECT a, b FROM t_dl_half WHERE a IS NULL ORDER BY a DESC NULLS LAST, b DESC NULLS LAST LIMIT 3;
SELECT a, b FROM t_dl_half WHERE a IS NULL ORDER BY a DESC NULLS LAST, b DESC NULLS LAST LIMIT 3;
EXPLAIN (COSTS OFF) SELECT a, b FROM t_dl_half ORDER BY a NULLS FIRST, b NULLS FIRST LIMIT 3;
SELECT a, b FROM t_dl_half ORDER BY a NULLS FIRST, b NULLS FIRST LIMIT 3;
SELECT a, b FROM t_dl_half WHERE a = 22 AND b IS NULL;
RESET ALL;

SELECT format('DROP TABLE %I', tab) FROM tabs ORDER BY 1 \gexec
DROP VIEW queries, tabs, states, places;
DROP TABLE src, conds;
DROP FUNCTION verdict;
