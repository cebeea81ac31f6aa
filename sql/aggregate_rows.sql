-- DISTINCT ON: the first row of each group, or the last one, where the query's order is the index's or its reverse, with all of its columns
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
-- (a sort may cost less where few groups are asked for)
SET enable_incremental_sort = off;
-- few groups of thousands of rows beside small ones and such of one row; NULLs at either end, or in all of a group
CREATE TABLE t (id int NOT NULL, b int NOT NULL, s text DEFAULT 'new' COLLATE "C", k int, x int, at timestamptz NOT NULL, g text COLLATE "und-x-icu", n numeric(8, 2), v varchar(9) COLLATE "C") WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.k := CASE WHEN NEW.id % 50 = 7 THEN NEW.id % 4000 WHEN NEW.id % 50 < 4 THEN NULL ELSE NEW.id % 5 END;
	NEW.x := CASE WHEN NEW.k = 3 AND NEW.id % 3 > 0 OR NEW.k = 2 AND NEW.id % 2000 < 20 THEN NULL ELSE NEW.id::int8 * 7919 % 2011 END;
	NEW.at := '2026-01-01'::timestamptz + NEW.id::int8 * 7919 % 20011 * interval '1 minute';
	NEW.g := CASE WHEN NEW.k IS NOT NULL THEN 'Maß ' || NEW.k || CASE WHEN NEW.k = 4 THEN repeat('x', 3000) ELSE '' END END;
	NEW.n := NEW.x / 4.0;
	NEW.v := NEW.k;
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, i % 9, 'key ' || i % 300 FROM generate_series(1, 10000) i;
CREATE INDEX t_k ON t USING surfidx (k, x, id) INCLUDE (b, s);
CREATE INDEX t_kd ON t USING surfidx (k DESC NULLS LAST, at DESC, id) INCLUDE (b);
CREATE INDEX t_s ON t USING surfidx (s, n NULLS FIRST, id);
CREATE INDEX t_g ON t USING surfidx (g, x DESC NULLS LAST, id);
CREATE INDEX t_v ON t USING surfidx (v, at);
CREATE INDEX t_at ON t USING surfidx (at, id) INCLUDE (x);
VACUUM ANALYZE t;
INSERT INTO asked (query) VALUES
	('SELECT DISTINCT ON (k) k, x, id FROM t ORDER BY k, x, id'), ('SELECT DISTINCT ON (k) k, x, id FROM t ORDER BY k, x DESC, id DESC'), ('SELECT DISTINCT ON (k) k, x, id, b, s FROM t ORDER BY k, x, id'), ('SELECT DISTINCT ON (k) id + b AS c, s || x AS d, k FROM t ORDER BY k, x DESC, id DESC'),
	('SELECT DISTINCT ON (k) k, at, id FROM t ORDER BY k, at, id DESC'), ('SELECT DISTINCT ON (k) k, at, id, b FROM t ORDER BY k DESC NULLS LAST, at DESC, id'), ('SELECT DISTINCT ON (k) k, at FROM t ORDER BY k, at DESC'), ('SELECT DISTINCT ON (k) k, at FROM t ORDER BY k DESC, at DESC NULLS LAST'), ('SELECT DISTINCT ON (k) b FROM t ORDER BY k, at DESC, id'),
	('SELECT DISTINCT ON (k, x) k, x, id FROM t ORDER BY k, x, id'), ('SELECT DISTINCT ON (x, k) id FROM t ORDER BY k, x, id DESC'), ('SELECT DISTINCT ON (k, x, id) b, s FROM t ORDER BY k, x, id'), ('SELECT DISTINCT ON (k) k FROM t'),
	('SELECT DISTINCT ON (k) k, x, id FROM t WHERE k > 1 ORDER BY k, x, id'), ('SELECT DISTINCT ON (k) k, x, id FROM t WHERE k IN (1, 3, 4, 77, 107) ORDER BY k, x DESC, id DESC'), ('SELECT DISTINCT ON (k) k, x, id FROM t WHERE k < 4 AND x BETWEEN 50 AND 1500 ORDER BY k, x DESC, id DESC'), ('SELECT DISTINCT ON (x) k, x, id FROM t WHERE k = 3 ORDER BY x, k, id'),
	('SELECT DISTINCT ON (k) k, x, id FROM t WHERE b % 3 = 1 ORDER BY k, x, id'), ('SELECT DISTINCT ON (k) k, x, id FROM t WHERE b % 3 = 1 AND s LIKE ''%7%'' ORDER BY k, x DESC, id DESC'), ('SELECT DISTINCT ON (k) k, id FROM t WHERE x = 7 AND k IN (0, 1, 2, 3, 4) ORDER BY k, x, id'),
	('SELECT DISTINCT ON (s) s, n, id FROM t ORDER BY s, n NULLS FIRST, id'), ('SELECT DISTINCT ON (s) s, n, id FROM t ORDER BY s, n DESC NULLS LAST, id DESC'), ('SELECT DISTINCT ON (g) left(g, 9) AS h, x, id FROM t ORDER BY g, x DESC NULLS LAST, id'), ('SELECT DISTINCT ON (g) left(g, 9) AS h, x, id FROM t ORDER BY g, x NULLS FIRST, id DESC'),
	('SELECT DISTINCT ON (v) v, at FROM t ORDER BY v, at DESC'), ('SELECT DISTINCT ON (date_bin(''1 day'', at, ''2001-01-01'')) at, id, x FROM t ORDER BY date_bin(''1 day'', at, ''2001-01-01''), at, id'), ('SELECT DISTINCT ON (date_bin(''1 hour'', at, ''2001-01-01'')) at, id, x FROM t ORDER BY date_bin(''1 hour'', at, ''2001-01-01''), at DESC, id DESC'),
	('SELECT DISTINCT ON (k) k, at FROM t ORDER BY k, at DESC LIMIT 3'), ('SELECT DISTINCT ON (k) k, at FROM t ORDER BY k, at DESC OFFSET 2 LIMIT 3'), ('SELECT sum(x), count(*) FROM (SELECT DISTINCT ON (k) k, x FROM t ORDER BY k, x DESC, id DESC) d'), ('SELECT i, (SELECT sum(x) FROM (SELECT DISTINCT ON (k) x FROM t WHERE k >= i ORDER BY k, x, id) d) FROM generate_series(0, 5) i');
-- groups come in the query's order: no sort, and LIMIT ends early
SELECT plan_of('SELECT DISTINCT ON (k) k, x FROM t ORDER BY k, x DESC LIMIT 3');
SELECT plan_of('SELECT DISTINCT ON (k) k, at FROM t ORDER BY k, at DESC');
-- of 10,000 rows few are read
CREATE FUNCTION rows_read(query text) RETURNS TABLE (read text) LANGUAGE sql AS
	$$ SELECT CASE WHEN n::int < 7000 THEN 'few' ELSE 'many' END FROM analyzed(query) l, LATERAL substring(l FROM 'Index Only Scan.*actual rows=(\d+)') n WHERE n IS NOT NULL $$;
SELECT query, rows_read(query) FROM asked WHERE query ~ '^SELECT DISTINCT ON \(k\) k, (x|at), id FROM t ORDER' ORDER BY n;
-- not answered: other orders, groups that come again, columns that the index has not, several tables
INSERT INTO declined (why, query) VALUES
	('another order', 'SELECT DISTINCT ON (k) k, x FROM t ORDER BY k, x, id DESC'), ('NULLs elsewhere', 'SELECT DISTINCT ON (k) k, x FROM t ORDER BY k, x NULLS FIRST'), ('another column', 'SELECT DISTINCT ON (k) k, x FROM t ORDER BY k, id'), ('an expression', 'SELECT DISTINCT ON (k) k, x FROM t ORDER BY k, x + 1'), ('a column that it has not', 'SELECT DISTINCT ON (k) k, x, n FROM t ORDER BY k, x'),
	('groups come again', 'SELECT DISTINCT ON (date_trunc(''day'', at)) at FROM t ORDER BY date_trunc(''day'', at), at'), ('ctid', 'SELECT DISTINCT ON (k) k, ctid FROM t ORDER BY k'), ('FOR UPDATE', 'SELECT DISTINCT ON (k) k, d.x FROM (SELECT * FROM t FOR UPDATE) d ORDER BY k');
SELECT declined();
CREATE TABLE parts (k int, x int) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
CREATE INDEX ON parts USING surfidx (k, x);
SELECT surfidx_why_not('SELECT DISTINCT ON (k) k, x FROM parts ORDER BY k, x');
SELECT surfidx_why_not('SELECT DISTINCT ON (k) k, x FROM t ORDER BY k, x, id DESC');
DROP TABLE parts;
-- a column that a condition pins may differ by what the query sorts by
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE cased (k int, s text COLLATE ci, id int);
CREATE INDEX ON cased USING surfidx (k, s, id);
INSERT INTO cased VALUES (1, 'ABC', 2), (1, 'abc', 1), (2, 'abC', 9), (2, 'abc', 5);
VACUUM ANALYZE cased;
SELECT DISTINCT ON (k) k, s, id FROM cased WHERE s = 'abc' ORDER BY k, s COLLATE "C", id;
SELECT DISTINCT ON (k) k, s, id FROM cased WHERE s = 'abc' ORDER BY k, s, id;
SELECT DISTINCT ON (k) k, s, id FROM cased WHERE s = 'abc' ORDER BY k, s DESC, id DESC;
-- equal keys with more bytes after their last column, some of them put off
CREATE TABLE rests (k int, s text COLLATE "und-x-icu", f float8, n numeric) WITH (autovacuum_enabled = off);
CREATE INDEX ON rests USING surfidx (k, s, f, n);
INSERT INTO rests SELECT g % 5, 's' || g % 3, (CASE WHEN g % 2 = 0 THEN '-0' ELSE '0' END)::float8, (g % 2)::numeric(5, 1) FROM generate_series(1, 200) g;
ANALYZE rests;
SELECT DISTINCT ON (k) k, s, abs(f), n FROM rests ORDER BY k, s, f, n;
VACUUM rests;
INSERT INTO rests SELECT k, s, f, n FROM rests;
SELECT DISTINCT ON (k) k, s, abs(f), n FROM rests ORDER BY k DESC, s DESC, f DESC, n DESC;
DROP TABLE cased, rests;
DROP COLLATION ci;
-- a cursor that stops between groups, and goes back
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT DISTINCT ON (k) k, x FROM t WHERE k < 5 ORDER BY k, x DESC, id DESC;
FETCH 2 c;
FETCH BACKWARD 1 c;
FETCH 2 c;
COMMIT;
-- the first and the last thousands of a group are dead
SELECT * FROM differences();
DELETE FROM t WHERE k = 1 AND (x < 900 OR x > 1900);
DELETE FROM t WHERE k = 2 AND at > '2026-01-08';
DELETE FROM t WHERE k = 4 AND id % 500 > 3;
SELECT * FROM differences();
VACUUM t;
SELECT * FROM differences();
VACUUM (INDEX_CLEANUP on) t;
-- from here on rows may be equal in all but b and s
DELETE FROM asked WHERE query ~ 'ON \([^)]*\).*\m(b|s)\M.* FROM' AND query !~ 'ON \(s\)';
\set ECHO none
\i :states
DROP TABLE t, asked, declined;
DROP FUNCTION fill, rows_read, plan_of, rows_of, differences, declined, analyzed;
