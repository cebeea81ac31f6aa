-- Conditions that the index does not answer by its order, and FILTER, computed by the index: for its entries, before rows are formed
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE TABLE t (id int NOT NULL, b int, s text DEFAULT 'new' COLLATE "C", m text COLLATE "C", n numeric, v int) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.m := CASE WHEN NEW.id % 300 <> 7 THEN 'com.example@' || chr(97 + NEW.id % 7) || '%_' || NEW.id % 500 END;
	NEW.n := NEW.id % 700 / 10.0;
	NEW.v := nullif(NEW.id % 1000, 5);
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, nullif(i % 9, 8), 'key ' || i % 300 FROM generate_series(1, 20000) i;
CREATE INDEX t_id ON t USING surfidx (id) INCLUDE (v, b);
CREATE INDEX t_b ON t USING surfidx (b, id DESC, v);
CREATE INDEX t_m ON t USING surfidx (m NULLS FIRST) INCLUDE (id);
CREATE INDEX t_n ON t USING surfidx (n, v DESC);
CREATE INDEX t_s ON t USING surfidx (s, b);
VACUUM ANALYZE t;
-- a range that is the pattern needs no filter
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE m LIKE 'com.example@a%';
EXPLAIN (COSTS OFF) SELECT m FROM t WHERE m LIKE 'com.example@a\%\_1%%';
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE m ^@ 'com.example@a';
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE m LIKE 'com.example@a_b%';
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE m LIKE 'com.example@a%1';
EXPLAIN (COSTS OFF) SELECT m FROM t WHERE m ~ '^com.example@a';
-- filters of index-only scans: rows that are refused leave the rest to the block; forward, backward, LIMIT, cursors that turn round
SELECT count(*), md5(string_agg(m, '|')) FROM (SELECT m FROM t WHERE m LIKE '%77%' ORDER BY m) x;
SELECT count(*), md5(string_agg(m, '|')) FROM (SELECT m FROM t WHERE m LIKE '%77%' ORDER BY m DESC) x;
SET surfidx.rows_by_block = off;
SELECT count(*), md5(string_agg(m, '|')) FROM (SELECT m FROM t WHERE m LIKE '%77%' ORDER BY m) x;
SELECT count(*), md5(string_agg(m, '|')) FROM (SELECT m FROM t WHERE m LIKE '%77%' ORDER BY m DESC) x;
RESET surfidx.rows_by_block;
SELECT * FROM analyzed('SELECT upper(m) FROM t WHERE m LIKE ''%77%'' ORDER BY m DESC LIMIT 3');
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, id + 1 AS next FROM t WHERE id % 1500 = 77;
FETCH 4 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
FETCH BACKWARD 3 FROM c;
COMMIT;
-- conditions beside the range, and FILTER
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE m LIKE '%77%';
EXPLAIN (COSTS OFF) SELECT b, count(*) FILTER (WHERE id > 5000), sum(v) FROM t WHERE b IN (1, 2) AND id % 3 = 0 GROUP BY b;
SELECT * FROM analyzed('SELECT count(*), count(*) FILTER (WHERE id > 19000) FROM t WHERE v % 2 = 0');
INSERT INTO asked (query) VALUES ('SELECT count(*) FROM t WHERE m LIKE ''com.example@a%'''), ('SELECT count(*), min(m), max(m) FROM t WHERE m LIKE ''com.example@a\%\_1%'''), ('SELECT count(*) FROM t WHERE m ^@ ''com.example@b%'''), ('SELECT count(*) FROM t WHERE m LIKE ''com.example@_%1'''),
	('SELECT count(*) FROM t WHERE m LIKE ''%77%'''), ('SELECT count(*), max(id) FROM t WHERE m NOT LIKE ''%a%'' AND id % 2 = 0'), ('SELECT m, count(*), sum(id) FROM t WHERE id > 100 GROUP BY m'), ('SELECT count(*) FROM t WHERE m IS NULL OR m > ''com.example@d'''),
	('SELECT count(*) FILTER (WHERE id > 12345), count(*) FILTER (WHERE id <= 77), count(*) FROM t'), ('SELECT sum(v) FILTER (WHERE id BETWEEN 500 AND 700), min(id) FILTER (WHERE id > 800), max(id) FILTER (WHERE id < 900), avg(b) FILTER (WHERE v IS NULL) FROM t'),
	('SELECT b, count(*) FILTER (WHERE id > 7000), max(id) FILTER (WHERE id < 7000), min(v) FILTER (WHERE v > 5), count(v) FROM t GROUP BY b'), ('SELECT b, sum(v) FROM t WHERE v > 500 GROUP BY b HAVING count(*) FILTER (WHERE id > 5) > 3'), ('SELECT b, count(*) FROM t WHERE b BETWEEN 2 AND 5 AND id > 15000 GROUP BY b'),
	('SELECT sum(n) FILTER (WHERE n > 33.3), count(*) FILTER (WHERE v < 10), count(*) FILTER (WHERE n > 1e3) FROM t'), ('SELECT count(DISTINCT s), count(*) FROM t WHERE b <> 3'), ('SELECT DISTINCT s FROM t WHERE b = 4'), ('SELECT s, max(b) FROM t WHERE b < 5 GROUP BY s'),
	('SELECT count(*) FILTER (WHERE b > 3), count(*) FILTER (WHERE b IS NULL), count(*) FILTER (WHERE NOT b > 3) FROM t WHERE b > 1 OR b IS NULL OR b = 0'), ('SELECT length(s), count(*) FILTER (WHERE b > 2) FROM t WHERE b <> 6 GROUP BY 1'),
	('SELECT count(*) FROM t WHERE v <> 0 AND 10 / v > 1');
\set ECHO none
\i :states
\set ECHO all
-- partitions, parameters, a correlated subquery
CREATE TABLE p (at int, k int, v int) PARTITION BY RANGE (at);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10000);
CREATE TABLE p2 (v int, k int, at int);
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (10000) TO (90000);
INSERT INTO p SELECT i, i % 7, i % 100 FROM generate_series(1, 20000) i;
CREATE INDEX p_at ON p USING surfidx (at) INCLUDE (v);
CREATE INDEX p_k ON p USING surfidx (k, at) INCLUDE (v);
VACUUM ANALYZE p;
TRUNCATE asked;
INSERT INTO asked (query) VALUES ('SELECT count(*) FILTER (WHERE at > 15000), sum(v) FILTER (WHERE v < 50) FROM p WHERE v % 2 = 0'), ('SELECT k, count(*) FILTER (WHERE at > 5000), max(at) FROM p WHERE v > 10 GROUP BY k'),
	('SELECT k, (SELECT count(*) FROM p WHERE p.k = x.k AND p.v > x.k) AS n FROM generate_series(1, 6) x (k) ORDER BY 1');
SET cpu_index_tuple_cost = 0.1;
SELECT * FROM differences();
RESET cpu_index_tuple_cost;
PREPARE q(int, int) AS SELECT count(*) FILTER (WHERE at > $1), count(*) FROM p WHERE v > $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE q(5000, 50);
EXPLAIN (COSTS OFF) EXECUTE q(5000, 50);
RESET plan_cache_mode;
-- declined: volatile conditions, subqueries, columns that the index has not
INSERT INTO declined (why, query) VALUES ('volatile', 'SELECT count(*) FROM t WHERE v > random()'), ('a volatile filter', 'SELECT count(*) FILTER (WHERE v > random()) FROM t'), ('a column that it has not', 'SELECT count(*) FILTER (WHERE n > 3) FROM t WHERE b > 3'), ('a subquery', 'SELECT count(*) FILTER (WHERE id > (SELECT 3)) FROM t'),
	('a hashed subquery', 'SELECT count(*) FROM t WHERE v NOT IN (SELECT b FROM t)'), ('DISTINCT and FILTER', 'SELECT b, count(DISTINCT id) FILTER (WHERE id > 5) FROM t GROUP BY b');
SELECT * FROM declined();
-- a row that nobody sees makes no error; one that is seen does
SELECT count(*) FROM t WHERE 10 / v > 1;
DELETE FROM t WHERE v = 0;
SELECT count(*) FROM t WHERE 10 / v > 1;
SELECT count(*) FILTER (WHERE 10 / v > 1) FROM t;
DROP TABLE t, p, asked, declined;
DROP FUNCTION fill, plan_of, analyzed, rows_of, differences, declined;
