-- Groups whose ends decide (DISTINCT, min and max of the next column): the index skips the rest of them, and the groups are the same as core's
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
-- a few groups of thousands of rows, beside small ones; the next column is NULL at either end, or in all of a group
CREATE TABLE t (id int NOT NULL, b int NOT NULL, s text DEFAULT 'new' COLLATE "C", k int, x int, at timestamptz, g text COLLATE "und-x-icu", n numeric(8, 2), u uuid, f int) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.k := CASE WHEN NEW.id % 50 = 7 THEN NEW.id % 400 WHEN NEW.id % 50 < 4 THEN NULL ELSE NEW.id % 5 END;
	NEW.x := CASE WHEN NEW.k = 3 AND NEW.id % 3 > 0 OR NEW.k = 2 AND NEW.id % 2000 < 20 THEN NULL ELSE NEW.id::int8 * 7919 % 20011 END;
	NEW.at := '2026-01-01'::timestamptz + NEW.id * 7919 % 20011 * interval '1 minute';
	NEW.g := CASE WHEN NEW.k IS NOT NULL THEN 'Maß ' || NEW.k || CASE WHEN NEW.k = 4 THEN repeat('x', 3000) ELSE '' END END;
	NEW.n := NEW.x / 4.0;
	NEW.u := md5(NEW.id::text)::uuid;
	NEW.f := -1;
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, i % 9, 'key ' || i % 3 FROM generate_series(1, 20000) i;
CREATE INDEX t_k ON t USING surfidx (k, x, b);
CREATE INDEX t_kd ON t USING surfidx (k DESC NULLS LAST, at DESC) INCLUDE (b);
CREATE INDEX t_s ON t USING surfidx (s DESC, n NULLS FIRST);
CREATE INDEX t_g ON t USING surfidx (g, x DESC NULLS LAST);
CREATE INDEX t_f ON t USING surfidx (f, u);
VACUUM ANALYZE t;
INSERT INTO asked (query) VALUES
	('SELECT DISTINCT k FROM t'), ('SELECT DISTINCT k FROM t ORDER BY k'), ('SELECT k FROM t GROUP BY k ORDER BY k LIMIT 3'), ('SELECT DISTINCT s FROM t'), ('SELECT left(g, 20) AS g, length(g) AS n FROM (SELECT DISTINCT g FROM t) d'),
	('SELECT DISTINCT f FROM t'), ('SELECT k, x FROM t GROUP BY k, x'), ('SELECT DISTINCT k FROM t WHERE k > 1'), ('SELECT DISTINCT k FROM t WHERE k IN (1, 3, 4, 77, 107)'), ('SELECT k FROM t WHERE k = 3 AND x > 100 GROUP BY k'),
	('SELECT k, min(x) FROM t GROUP BY k'), ('SELECT k, max(x) FROM t GROUP BY k'), ('SELECT k, min(x), max(x) FROM t GROUP BY k'), ('SELECT k, max(x), max(k), min(k) FROM t GROUP BY k'),
	('SELECT k, min(at) FROM t GROUP BY k'), ('SELECT k, max(at) FROM t GROUP BY k ORDER BY k DESC NULLS LAST'), ('SELECT k, min(at), max(at) FROM t WHERE k > 0 GROUP BY k'), ('SELECT k, max(at) FROM t WHERE k IN (1, 2, 4, 207) GROUP BY k'),
	('SELECT k, max(at) FROM t WHERE k = ANY (ARRAY[0, 1, 4]) AND at < ''2026-01-09'' GROUP BY k'), ('SELECT k, max(x) FROM t WHERE k < 4 AND x BETWEEN 500 AND 15000 GROUP BY k'), ('SELECT k, max(x), min(x) FROM t WHERE k IS NULL GROUP BY k'),
	('SELECT s, min(n) FROM t GROUP BY s'), ('SELECT s, max(n) FROM t GROUP BY s'), ('SELECT s, min(n), max(n) FROM t GROUP BY s ORDER BY s DESC'), ('SELECT s, max(n) FROM t GROUP BY s HAVING max(n) > 4 ORDER BY s DESC LIMIT 2'),
	('SELECT left(g, 9) AS g, min(x), max(x) FROM t GROUP BY t.g'), ('SELECT left(g, 9) AS g, max(x) FROM t GROUP BY t.g'), ('SELECT k, x, min(b), max(b) FROM t GROUP BY k, x'),
	('SELECT i, (SELECT max(m) FROM (SELECT k, max(x) AS m FROM t WHERE k >= i GROUP BY k) d) FROM generate_series(0, 5) i'), ('SELECT d.k, m.at FROM (SELECT DISTINCT k FROM t) d JOIN (SELECT k, max(at) AS at FROM t GROUP BY k) m USING (k)');
-- of 20,000 rows few are read
CREATE FUNCTION rows_read(query text) RETURNS TABLE (read text) LANGUAGE sql AS
	$$ SELECT CASE WHEN n::int < 12000 THEN 'few' ELSE 'many' END FROM analyzed(query) l, LATERAL substring(l FROM 'Index Only Scan.*actual rows=(\d+)') n WHERE n IS NOT NULL $$;
SELECT query, rows_read(query) FROM asked WHERE query ~ '^SELECT DISTINCT k FROM t$|^SELECT (k, (min|max)\((x|at)\)|s, min\(n\)) FROM t GROUP BY .$' ORDER BY n;
-- leaps have a price: that of large groups is a small part of what reading all of them costs; groups that are short are read
CREATE TABLE priced (k int NOT NULL, few int NOT NULL, x int NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO priced SELECT i % 4, i / 100, i * 7919 % 60011 FROM generate_series(1, 60000) i;
CREATE INDEX priced_k ON priced USING surfidx (k, x);
CREATE INDEX priced_few ON priced USING surfidx (few, x);
VACUUM ANALYZE priced;
CREATE FUNCTION price(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN (plan->0->'Plan'->>'Total Cost')::float8;
END $$;
SELECT column_name, outputs, price(format('SELECT %s, %s FROM priced GROUP BY 1', column_name, outputs)) <
		price(format('SELECT %s, count(*) FROM priced GROUP BY 1', column_name)) / 2 AS leaps
	FROM unnest(ARRAY['k', 'few']) column_name, unnest(ARRAY['min(x)', 'max(x)', 'min(x), max(x)', 'sum(x)', 'count(DISTINCT x)']) outputs;
SELECT price('SELECT DISTINCT k FROM priced') < price('SELECT k, count(*) FROM priced GROUP BY k') / 4 AS leaps;
-- groups come in the order that is asked for, though an index with another one has them cheaper
CREATE INDEX priced_back ON priced USING surfidx (k DESC NULLS LAST);
SET enable_sort = off;
SELECT plan_of('SELECT k FROM priced GROUP BY k ORDER BY k LIMIT 2'), plan_of('SELECT k FROM priced GROUP BY k ORDER BY k DESC NULLS LAST LIMIT 2');
RESET enable_sort;
DROP FUNCTION price;
DROP TABLE priced;
-- the first and the last thousands of a group are dead
SELECT * FROM differences();
DELETE FROM t WHERE k = 1 AND (x < 9000 OR x > 19000);
DELETE FROM t WHERE k = 2 AND at > '2026-01-08';
DELETE FROM t WHERE k = 4 AND id % 500 > 3;
SELECT * FROM differences();
VACUUM t;
SELECT * FROM differences();
INSERT INTO t SELECT i, i % 9, 'key ' || i % 3 FROM generate_series(1, 20000) i WHERE i % 5 IN (1, 2, 4);
SELECT * FROM differences();
VACUUM (INDEX_CLEANUP on) t;
\set ECHO none
\i :states
DROP TABLE t, asked, declined;
DROP FUNCTION fill, rows_read, plan_of, rows_of, differences, declined, analyzed;
