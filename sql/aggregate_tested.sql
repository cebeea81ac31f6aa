-- FILTER and conditions of key columns, told by the bytes of keys: each operator, lists, NULLs, booleans, AND and OR, constants that bytes do not tell
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE TYPE color AS ENUM ('red', 'green', 'blue');
CREATE TABLE t (id int NOT NULL, b int, s text DEFAULT 'new' COLLATE "C", flag bool, i8 int8, f float8, n numeric, v varchar(9) COLLATE "C", c char(5) COLLATE "C", at timestamp, d date, u uuid, ip inet, e color, x text COLLATE "und-x-icu", p int) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	k	int := NEW.id % 11;
BEGIN
	NEW.flag := CASE k % 3 WHEN 0 THEN true WHEN 1 THEN false END;
	NEW.i8 := nullif(k, 3) * 3000000000;
	NEW.f := CASE k WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'Infinity' WHEN 3 THEN NULL ELSE k / 2.0 END;
	NEW.n := CASE k WHEN 0 THEN 'NaN' WHEN 1 THEN NULL ELSE k / 2.0 END;
	NEW.v := CASE WHEN k > 1 THEN repeat('v', k % 4) || k % 3 END;
	NEW.c := CASE WHEN k > 1 THEN repeat('c', k % 4) END;
	NEW.at := CASE WHEN k > 1 THEN timestamp '2026-01-01' + k % 5 * interval '12 hours' ELSE 'infinity' END;
	NEW.d := CASE WHEN k > 1 THEN date '2026-01-01' + k % 5 END;
	NEW.u := CASE WHEN k > 1 THEN md5((k % 5)::text)::uuid END;
	NEW.ip := CASE WHEN k > 1 THEN ('10.0.0.' || k % 5)::inet END;
	NEW.e := CASE k % 4 WHEN 0 THEN 'red' WHEN 1 THEN 'green' WHEN 2 THEN 'blue' END::color;
	NEW.x := CASE WHEN k > 1 THEN repeat('é', k % 4) END;
	NEW.p := nullif(k, 5);
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, nullif(i % 9, 8), 'key ' || i % 7 FROM generate_series(1, 3000) i;
CREATE INDEX t_bytes ON t USING surfidx (b, s, flag, i8 DESC, f, n DESC NULLS LAST, v, c NULLS FIRST, at, d DESC, u, ip, e DESC, id) INCLUDE (p);
CREATE INDEX t_order ON t USING surfidx (b, x, p);
VACUUM ANALYZE t;
-- (rows that core hands out are dear)
SET cpu_index_tuple_cost = 1;
-- each column by each operator, alone and with others, beside a group and without one
CREATE TABLE asking (col text, a text, b text);
INSERT INTO asking VALUES ('b', '3', '7'), ('b', '5000000000', '-5'), ('b', '3::int2', '4::int8'), ('s', '''key 3''', '''key'''), ('s', 'repeat(''key'', 30)', '''key 5'''), ('i8', '3000000000', '21'), ('f', '''NaN''', '0'), ('f', '2.5', '''Infinity'''),
	('n', '2.50', '''NaN'''), ('n', '1e30', '0.0'), ('v', '''vv1''', '''v'''), ('c', '''cc''', '''cc  '''), ('at', '''2026-01-02''', '''infinity'''), ('at', 'timestamptz ''2026-01-02''', 'date ''2026-01-02'''), ('d', '''2026-01-03''', '''2026-01-04'''), ('u', 'md5(''3'')::uuid', 'md5(''4'')::uuid'),
	('ip', '''10.0.0.3''', '''10.0.0.0/8'''), ('e', '''green''', '''blue'''), ('id', '77', '4990'), ('p', '3', '7'), ('x', '''éé''', '''é''');
INSERT INTO asked (query)
	SELECT replace(replace(replace(replace('SELECT ' || v.groups || string_agg(format(f.filters, operator), ', ') || ' FROM t' || v.by, '$c', a.col), '$a', a.a), '$b', a.b), '$o', v.other)
	FROM asking a, unnest('{=,<>,<,<=,>,>=}'::text[]) operator,
		(VALUES ('count(*) FILTER (WHERE $c %1$s $a), count($o) FILTER (WHERE $b %1$s $c), sum($o) FILTER (WHERE $c %1$s $a AND $c IS NOT NULL), count(*) FILTER (WHERE $c %1$s $b OR $c IS NULL OR $o IN (1, 4))')) f(filters),
		(VALUES ('', '', 'b'), ('b, ', ' GROUP BY b', 'b')) v(groups, by, other)
	WHERE v.by = '' OR a.col IN ('f', 'id')
	GROUP BY a.col, a.a, a.b, v.groups, v.by, v.other;
INSERT INTO asked (query)
	SELECT replace(replace(replace('SELECT count(*) FILTER (WHERE $c IN ($a, $b)), count(*) FILTER (WHERE $c NOT IN ($a, $b)), count(*) FILTER (WHERE $c IN ($a, NULL)), count(*) FILTER (WHERE $c NOT IN ($b, NULL)), min($c) FILTER (WHERE NOT ($c = $a OR $c > $b)) FROM t', '$c', col), '$a', a), '$b', b)
	FROM asking WHERE a !~ '::|tz' AND col <> 'flag';
INSERT INTO asked (query)
	SELECT replace(replace(replace('SELECT count(*), max(b) FROM t WHERE $c = $a OR $c > $b AND b < 5 OR b IS NULL', '$c', col), '$a', a), '$b', b) FROM asking;
INSERT INTO asked (query) VALUES ('SELECT count(*) FILTER (WHERE flag), count(*) FILTER (WHERE NOT flag), count(*) FILTER (WHERE flag IS NULL), count(*) FILTER (WHERE flag = false), count(*) FILTER (WHERE flag IS NOT TRUE), count(*) FILTER (WHERE flag <> true AND b = 3) FROM t'),
	('SELECT count(*) FILTER (WHERE b = ANY (''{}''::int[])), count(*) FILTER (WHERE b <> ALL (''{}''::int[])), count(*) FILTER (WHERE b = ALL (''{3,3}''::int[])), count(*) FILTER (WHERE b <> ANY (''{3,4}''::int[])) FROM t'),
	('SELECT count(*) FILTER (WHERE s LIKE ''key 3%'' AND b = 2), count(*) FILTER (WHERE b = 2 AND s LIKE ''key 3%''), count(*) FILTER (WHERE b % 2 = 1 AND i8 = 0) FROM t'),
	('SELECT count(*) FILTER (WHERE b <> 0 AND 10 / b > 1), count(*) FILTER (WHERE b = 3 AND id > 77 AND p = 4) FROM t');
EXPLAIN (COSTS OFF) SELECT count(*) FILTER (WHERE i8 = 3) FROM t;
SELECT * FROM differences();
-- some of them in each state
DELETE FROM asked WHERE n % 7 <> 3;
\set ECHO none
\i :states
\set ECHO all
-- constants that are evaluated: only if core would, and anew for each outer row
CREATE FUNCTION failing() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE 'evaluated'; END $$;
INSERT INTO t (id) VALUES (1);
SELECT count(*) FILTER (WHERE b IS NULL AND b IS NOT NULL AND id = failing()) FROM t;
SELECT count(*) FILTER (WHERE b IS NULL AND id = failing()) FROM t;
PREPARE q(int, int[]) AS SELECT count(*) FILTER (WHERE i8 = $1), count(*) FILTER (WHERE b = ANY ($2)), count(*) FILTER (WHERE b <> ALL ($2)) FROM t;
SET plan_cache_mode = force_generic_plan;
EXECUTE q(0, '{1,3}');
EXECUTE q(NULL, NULL);
EXECUTE q(7, '{1,NULL}');
RESET plan_cache_mode;
SELECT k, (SELECT count(*) FROM t WHERE i8 = k * 3000000000 OR b = k) AS n FROM generate_series(1, 5) k;
-- an empty list is evaluated for NULLs, too, of which a group or a block may consist: <> ALL is true for them
CREATE TABLE lists (a int, b int) WITH (autovacuum_enabled = off);
INSERT INTO lists SELECT i % 2, nullif(i % 3, 0) FROM generate_series(1, 3000) i;
CREATE INDEX lists_a_b ON lists USING surfidx (a, b DESC);
VACUUM ANALYZE lists;
EXPLAIN (COSTS OFF) SELECT a, b, count(*) FILTER (WHERE b <> ALL ('{}'::int[])) FROM lists GROUP BY a, b;
SELECT a, b, count(*) FILTER (WHERE b <> ALL ('{}'::int[])) AS one, count(*) FILTER (WHERE NOT b = ANY ('{}'::int[]) OR a = 7) AS other FROM lists GROUP BY a, b ORDER BY 1, 2;
SELECT count(*) FILTER (WHERE b <> ALL ('{}'::int[])) FROM lists WHERE b IS NULL;
SELECT count(*) FILTER (WHERE b <> failing()) FROM lists WHERE b IS NULL;
DROP TABLE lists;
DROP TABLE t, asked, declined, asking;
DROP TYPE color;
DROP FUNCTION fill, failing, plan_of, analyzed, rows_of, differences, declined;
