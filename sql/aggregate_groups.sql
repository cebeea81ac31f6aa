-- GROUP BY, DISTINCT and count(DISTINCT) computed by the index: what is answered, what is declined, and that groups are core's
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE COLLATION german (provider = icu, locale = 'de');
CREATE TABLE t (id int NOT NULL, b int NOT NULL, s text DEFAULT 'new' COLLATE "C", k int, big int8, u uuid, g text COLLATE german, v int)
	WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.k := nullif(NEW.id % 200, 7);
	NEW.big := nullif(NEW.id % 50, 5) * 92233720368547758;
	NEW.u := md5((NEW.id % 1000)::text)::uuid;
	NEW.g := (ARRAY['ä', 'a', 'A', 'z', 'Z', 'ae', NULL, 'ß'])[1 + NEW.id % 8] || repeat('x', CASE WHEN NEW.id % 40 = 9 THEN 9000 ELSE 0 END);
	NEW.v := NEW.id % 1000;
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, i % 9, 'key ' || i % 300 FROM generate_series(1, 20000) i;
CREATE INDEX t_id ON t USING surfidx (id);
CREATE INDEX t_kb ON t USING surfidx (k DESC, b, big) INCLUDE (v);
CREATE INDEX t_s ON t USING surfidx (s, big NULLS FIRST, b);
CREATE INDEX t_u ON t USING surfidx (u, id);
CREATE INDEX t_g ON t USING surfidx (g, b) INCLUDE (v);
VACUUM ANALYZE t;

-- answered: sorted groups need no Sort, and LIMIT ends them
EXPLAIN (COSTS OFF) SELECT k, count(*), sum(b) FROM t GROUP BY k ORDER BY k DESC LIMIT 5;
EXPLAIN (COSTS OFF) SELECT s, count(*) + 1 AS n FROM t WHERE s > 'key 2' GROUP BY s HAVING count(*) > 5 AND max(b) > 2 ORDER BY s;
EXPLAIN (COSTS OFF) SELECT DISTINCT s, big FROM t ORDER BY s, big NULLS FIRST LIMIT 3;
EXPLAIN (COSTS OFF, VERBOSE) SELECT b, count(DISTINCT big), count(*) FROM t WHERE k = 5 GROUP BY b;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT k, count(*) AS n FROM t GROUP BY k) x ORDER BY n LIMIT 2;
SELECT * FROM analyzed('SELECT k, count(*) FROM t WHERE k > 190 GROUP BY k HAVING count(*) > 1000');
INSERT INTO asked (query) VALUES
	('SELECT k, count(*) FROM t GROUP BY k'), ('SELECT k, count(*), sum(b), avg(b), min(b), max(b), sum(v), max(v), count(big), min(big) FROM t GROUP BY k'),
	('SELECT k, count(*) FROM t GROUP BY k ORDER BY k DESC'), ('SELECT k, b, count(*), max(big), min(big), sum(big), count(big) FROM t GROUP BY k, b'),
	('SELECT b, k, count(*) FROM t WHERE k > 100 GROUP BY b, k'), ('SELECT k, b, big, count(*), sum(v), max(v) FROM t GROUP BY k, b, big'),
	('SELECT b, sum(big), count(*) FROM t WHERE k = 5 GROUP BY b'), ('SELECT b, count(*), k FROM t WHERE k = 5 GROUP BY b, k'),
	('SELECT big, count(*) FROM t WHERE k = 5 AND b = 2 GROUP BY big'),
	('SELECT id, count(*) FROM t GROUP BY id'), ('SELECT id FROM t WHERE id BETWEEN 50 AND 3000 GROUP BY id'), ('SELECT count(*) FROM t GROUP BY id'),
	('SELECT id / 2 AS h, sum(id) FROM t GROUP BY id'), ('SELECT 1 AS one FROM t GROUP BY k'),
	('SELECT s, count(*) FROM t GROUP BY s HAVING count(*) > 65'), ('SELECT s, count(*) FROM t GROUP BY s HAVING s > ''key 5'' AND min(b) < 3'),
	('SELECT s, count(*) FROM t WHERE s BETWEEN ''key 1'' AND ''key 3'' GROUP BY s ORDER BY s LIMIT 7'),
	('SELECT s, count(*) FROM t GROUP BY s ORDER BY s DESC'), ('SELECT s, count(*) FROM t GROUP BY s ORDER BY s OFFSET 100 LIMIT 7'),
	('SELECT s, count(DISTINCT big), count(*), sum(b), min(big), max(b) FROM t GROUP BY s'),
	('SELECT count(DISTINCT s), count(*), sum(b), max(b), min(s) FROM t'), ('SELECT count(DISTINCT k), count(k) FROM t'), ('SELECT count(DISTINCT k) FROM t WHERE k IS NULL'),
	('SELECT count(DISTINCT id), max(id) FROM t WHERE id > 0'), ('SELECT count(DISTINCT id) FROM t WHERE id < 0'), ('SELECT k, count(DISTINCT b) FROM t GROUP BY k'),
	('SELECT k, count(DISTINCT b), count(DISTINCT b) + 1 AS more FROM t GROUP BY k HAVING count(DISTINCT b) > 3'), ('SELECT count(DISTINCT b) FROM t WHERE k = 3 GROUP BY k'),
	('SELECT DISTINCT k FROM t'), ('SELECT DISTINCT s FROM t ORDER BY s'), ('SELECT DISTINCT b, k FROM t'), ('SELECT DISTINCT id FROM t WHERE id > 15000'),
	('SELECT DISTINCT b FROM t WHERE k = 5'), ('SELECT count(*) AS n FROM (SELECT DISTINCT u FROM t) x'),
	('SELECT u, count(*), max(id), min(id), sum(id) FROM t GROUP BY u'), ('SELECT u, id FROM t GROUP BY u, id'),
	('SELECT left(g, 20) AS g, length(g) AS n, count(*), sum(b), min(v) FROM t GROUP BY g'), ('SELECT count(DISTINCT g), count(g), count(*) FROM t'),
	('SELECT left(g, 20) AS g, b, count(*) FROM t GROUP BY g, b'), ('SELECT left(x.g, 3) AS g, length(x.g) AS n FROM (SELECT DISTINCT g FROM t) x'),
	('SELECT k, count(*), sum(count(*)) OVER (ORDER BY k) AS running FROM t GROUP BY k'), ('SELECT x.k, y.n FROM (SELECT DISTINCT k FROM t) x JOIN (SELECT k, count(*) AS n FROM t GROUP BY k) y USING (k)'),
	('SELECT i, (SELECT max(n) FROM (SELECT b, count(*) AS n FROM t WHERE k = i GROUP BY b) x) AS n FROM generate_series(1, 5) i'),
	('SELECT k, count(*) FROM t WHERE k = ANY (ARRAY[3, 190, 4, 4]) GROUP BY k'), ('SELECT k, b, count(*) FROM t WHERE k > 100 AND b IN (1, 5) GROUP BY k, b');
\set ECHO none
\i :states
\set ECHO all

-- declined: core's plan stays
INSERT INTO t SELECT i, i % 9, 'key ' || i % 300 FROM generate_series(3001, 20000) i;
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE n (num numeric, f float8, iv interval, c text COLLATE any_case, c2 text COLLATE "C", pad bpchar, name name, a int[], i int NOT NULL);
INSERT INTO n SELECT (i % 50)::numeric(10, 2), i % 5, i % 30 * interval '1 day', 'A' || i % 10, 'B' || i % 10, 'p' || i % 10, 'n' || i % 10, ARRAY[i % 10], i % 100 FROM generate_series(1, 5000) i;
CREATE INDEX n_num ON n USING surfidx (num);
CREATE INDEX n_f ON n USING surfidx (f);
CREATE INDEX n_iv ON n USING surfidx (iv);
CREATE INDEX n_c ON n USING surfidx (c);
CREATE INDEX n_c2 ON n USING surfidx (c2);
CREATE INDEX n_pad ON n USING surfidx (pad);
CREATE INDEX n_name ON n USING surfidx (name);
CREATE INDEX n_a ON n USING surfidx (a);
CREATE INDEX n_i ON n USING surfidx (i, num);
VACUUM ANALYZE;
INSERT INTO declined (why, query) VALUES
	('numeric: its scale', 'SELECT num, count(*) FROM n GROUP BY num'), ('numeric, distinct', 'SELECT DISTINCT num FROM n'), ('numeric, counted', 'SELECT count(DISTINCT num) FROM n'),
	('float: zeros', 'SELECT f, count(*) FROM n GROUP BY f'), ('interval', 'SELECT DISTINCT iv FROM n'), ('char: blanks', 'SELECT DISTINCT pad FROM n'),
	('nondeterministic', 'SELECT c, count(*) FROM n GROUP BY c'), ('nondeterministic, counted', 'SELECT count(DISTINCT c) FROM n'),
	('nondeterministic by a clause', 'SELECT c2 COLLATE any_case, count(*) FROM n GROUP BY c2 COLLATE any_case'),
	('nondeterministic by a clause, counted', 'SELECT count(DISTINCT c2 COLLATE any_case) FROM n'),
	('array', 'SELECT a, count(*) FROM n GROUP BY a'),
	('not the leading column', 'SELECT b, count(*) FROM t WHERE k > 3 GROUP BY b'), ('a gap', 'SELECT k, big, count(*) FROM t GROUP BY k, big'),
	('an expression', 'SELECT id % 3, count(*) FROM t GROUP BY id % 3'), ('another column', 'SELECT DISTINCT id, b FROM t'),
	('grouping sets', 'SELECT k, count(*) FROM t GROUP BY GROUPING SETS (k, ())'), ('rollup', 'SELECT k, b, count(*) FROM t GROUP BY ROLLUP (k, b)'),
	('volatile condition', 'SELECT k, count(*) FROM t WHERE b > random() GROUP BY k'),
	('FILTER by a subquery', 'SELECT k, count(*) FILTER (WHERE b > (SELECT 3)) FROM t GROUP BY k'), ('an ordered set', 'SELECT k, mode() WITHIN GROUP (ORDER BY b) FROM t GROUP BY k'),
	('distinct that is no count', 'SELECT k, sum(DISTINCT b) FROM t GROUP BY k'), ('distinct of two', 'SELECT count(DISTINCT (k, b)) FROM t'),
	('two distinct columns', 'SELECT count(DISTINCT k), count(DISTINCT b) FROM t'), ('distinct of a later column', 'SELECT k, count(DISTINCT big) FROM t GROUP BY k'),
	('distinct of a later column, no groups', 'SELECT count(DISTINCT b) FROM t WHERE k > 3'),
	('join', 'SELECT t.k, count(*) FROM t JOIN n ON i = t.id GROUP BY t.k'),
	('sample', 'SELECT k, count(*) FROM t TABLESAMPLE system (100) GROUP BY k'), ('set-returning', 'SELECT DISTINCT k, generate_series(1, 2) FROM t');
SELECT * FROM declined();
SELECT count(*) FROM declined;
-- beside a column whose form equality does not tell the leading one is grouped by
TRUNCATE asked;
INSERT INTO asked (query) VALUES ('SELECT i, count(*), count(num), sum(i) FROM n GROUP BY i'), ('SELECT name, count(*) FROM n GROUP BY name');
SELECT * FROM differences();
-- row-level security
CREATE ROLE surfidx_agg_reader;
GRANT SELECT ON t TO surfidx_agg_reader;
CREATE POLICY hide ON t USING (k > 190);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
SET ROLE surfidx_agg_reader;
SELECT plan_of('SELECT k, count(*) FROM t GROUP BY k') ~ 'SurfidxAggregate', plan_of('SELECT DISTINCT k FROM t') ~ 'SurfidxAggregate';
SELECT count(*) FROM (SELECT DISTINCT k FROM t) x;
RESET ROLE;
ALTER TABLE t DISABLE ROW LEVEL SECURITY;
DROP POLICY hide ON t;
SET surfidx.aggregates = off;
SELECT plan_of('SELECT k, count(*) FROM t GROUP BY k') ~ 'SurfidxAggregate', plan_of('SELECT DISTINCT k FROM t') ~ 'SurfidxAggregate';
RESET surfidx.aggregates;
-- cursors stop in the midst of groups, and turn round; PL/pgSQL; prepared
BEGIN;
DECLARE cur SCROLL CURSOR FOR SELECT k, count(*), sum(b) FROM t GROUP BY k ORDER BY k DESC;
FETCH 3 FROM cur;
FETCH BACKWARD 2 FROM cur;
FETCH 2 FROM cur;
COMMIT;
DO $$
DECLARE
	r record;
	n int := 0;
BEGIN
	FOR r IN SELECT k, count(*) AS c FROM t GROUP BY k ORDER BY k DESC LOOP
		n := n + 1;
		EXIT WHEN r.k < 150;
	END LOOP;
	RAISE NOTICE '% groups', n;
END $$;
PREPARE q(int) AS SELECT k, count(*) FROM t WHERE k > $1 GROUP BY k ORDER BY k DESC;
SET plan_cache_mode = force_generic_plan;
EXECUTE q(196);
REINDEX INDEX t_kb;
EXECUTE q(196);
DROP INDEX t_kb;
EXECUTE q(196);
-- an index that has a column twice
CREATE TABLE twice (a int, b int, s text, u text);
INSERT INTO twice SELECT i % 5, i % 7, 'k' || i % 5, 'u' || i % 7 FROM generate_series(1, 3000) i;
VACUUM ANALYZE twice;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE FUNCTION counted(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	by_index text;
	by_core text;
BEGIN
	EXECUTE format('SELECT string_agg(x::text, '','' ORDER BY x::text) FROM (%s) x', q) INTO by_index;
	SET LOCAL surfidx.aggregates = off;
	EXECUTE format('SELECT string_agg(x::text, '','' ORDER BY x::text) FROM (%s) x', q) INTO by_core;
	RESET surfidx.aggregates;
	RETURN CASE WHEN by_index = by_core THEN 'the same' ELSE by_index || ' for ' || by_core END;
END $$;
CREATE INDEX twice_i ON twice USING surfidx (a, a, b);
SELECT counted('SELECT a, b, count(*) FROM twice GROUP BY a, b'), counted('SELECT DISTINCT a, b FROM twice'), counted('SELECT a, sum(b) FROM twice GROUP BY a');
DROP INDEX twice_i;
CREATE INDEX twice_i ON twice USING surfidx (s text_pattern_ops, s, u);
SELECT counted('SELECT s, u, count(*) FROM twice GROUP BY s, u'), counted('SELECT DISTINCT s, u FROM twice'), counted('SELECT s, count(DISTINCT u) FROM twice GROUP BY s');
DROP INDEX twice_i;
CREATE INDEX twice_i ON twice USING surfidx (a, a DESC, s, b);
SELECT counted('SELECT a, s, b, count(*) FROM twice GROUP BY a, s, b'), counted('SELECT a, s, max(b) FROM twice GROUP BY a, s HAVING count(*) > 3'), counted('SELECT s, b FROM twice WHERE a = 3 GROUP BY s, b');
-- times are taken, and parameters change
CREATE FUNCTION loops(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, SUMMARY OFF) ' || q LOOP
		IF line ~ 'SurfidxAggregate' THEN
			RETURN NEXT substring(line FROM 'loops=\d+');
		END IF;
	END LOOP;
END $$;
SELECT loops('SELECT g, (SELECT count(*) FROM twice WHERE a = g) FROM generate_series(1, 3) g'), loops('SELECT g, (SELECT sum(a) FROM twice WHERE a <= g) FROM generate_series(1, 3) g'),
	loops('SELECT * FROM generate_series(1, 3) g, LATERAL (SELECT a, count(*) FROM twice WHERE a >= g GROUP BY a LIMIT 2) x');
DROP TABLE t, n, declined, asked, twice;
DROP FUNCTION counted, loops, fill, plan_of, rows_of, differences, declined, analyzed;
DROP COLLATION german, any_case;
DROP ROLE surfidx_agg_reader;
