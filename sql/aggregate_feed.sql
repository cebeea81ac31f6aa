-- Aggregates that the index passes entries to: their own functions, called in index order; and arguments that are computed
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE TABLE t (id int NOT NULL, b int, s text DEFAULT 'new' COLLATE "C", v int, n numeric, f float8, at timestamptz) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.v := nullif(NEW.id % 1000, 5);
	NEW.n := nullif(NEW.id % 700, 11) / 10.0;
	-- sums of these are exact in any order
	NEW.f := CASE WHEN NEW.id % 90 <> 7 THEN NEW.id % 64 / 8.0 END;
	NEW.at := '2024-01-01'::timestamptz + NEW.id * interval '1 hour';
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, nullif(i % 9, 8), 'key ' || i % 300 FROM generate_series(1, 4000) i;
CREATE INDEX t_id ON t USING surfidx (id) INCLUDE (v, s);
CREATE INDEX t_b ON t USING surfidx (b, s DESC) INCLUDE (n);
CREATE INDEX t_s ON t USING surfidx (s, f);
CREATE INDEX t_n ON t USING surfidx (n NULLS FIRST);
CREATE INDEX t_v ON t USING surfidx (v, id);
CREATE INDEX t_at ON t USING surfidx (at, v);
VACUUM ANALYZE t;
-- aggregates of this test: whose states are expanded, whose last function has the arguments' types, that take many, or strictly
CREATE AGGREGATE collected (anycompatible) (sfunc = array_append, stype = anycompatiblearray, initcond = '{}');
CREATE FUNCTION joined(text, text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN $1 || '/' || $2; END $$;
CREATE AGGREGATE joined (text) (sfunc = joined, stype = text);
CREATE FUNCTION added(int8, VARIADIC int[]) RETURNS int8 LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce($1, 0) + coalesce((SELECT sum(x) FROM unnest($2) x), 0) $$;
CREATE FUNCTION shown(int8, VARIADIC int[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT $1::text || ' in all' $$;
CREATE AGGREGATE added (VARIADIC int[]) (sfunc = added, stype = int8, finalfunc = shown, finalfunc_extra);
CREATE FUNCTION counted(int8) RETURNS int8 LANGUAGE sql IMMUTABLE AS $$ SELECT $1 + 1 $$;
CREATE AGGREGATE counted (*) (sfunc = counted, stype = int8, initcond = '0');
CREATE FUNCTION lost(int, int) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT CASE WHEN $2 < 3990 THEN $2 END $$;
CREATE AGGREGATE lost (int) (sfunc = lost, stype = int, initcond = '1');
EXPLAIN (COSTS OFF) SELECT stddev(id), sum(CASE WHEN id > 100 THEN 1 ELSE 0 END) FROM t;
EXPLAIN (COSTS OFF) SELECT b, string_agg(s, ', ' ORDER BY s DESC) FROM t GROUP BY b;
EXPLAIN (COSTS OFF) SELECT date_bin('1 day', at, '2024-01-01'), string_agg(v::text, ', ' ORDER BY at) FROM t WHERE at > '2024-03-01' GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT max(id % 7) + 1, bool_or(v > 3) FILTER (WHERE id > 5) FROM t HAVING variance(id) > 5;
INSERT INTO asked (query) VALUES ('SELECT stddev(id), variance(id), stddev_pop(id), var_pop(id) FROM t'), ('SELECT stddev(n), var_samp(n), sum(n * 2), avg(n + 0.001), max(n / 3) FROM t WHERE n > 3 OR n IS NULL'), ('SELECT s, sum(f), avg(f), regr_count(f, length(s)), count(f + 1) FROM t GROUP BY s'),
	('SELECT sum(id + 1), avg(id::int8), sum(id::int8 * 92233720368547), min(id % 10), max(-id), count(nullif(id % 3, 1)), count(1), sum(1) FROM t WHERE id > 3'), ('SELECT sum(CASE WHEN v > 500 THEN v ELSE 0 END), bool_and(v > 0), bool_or(v > 998), every(v < 1000), bit_or(v), bit_and(id) FROM t'),
	('SELECT b, string_agg(s, '','' ORDER BY s DESC), array_agg(s ORDER BY s DESC), sum(length(s)), stddev(length(s)) FROM t GROUP BY b'), ('SELECT b, string_agg(s, '','' ORDER BY b, s DESC), sum(n + 1) FILTER (WHERE s > ''key 2''), count(s || NULL) FROM t GROUP BY b HAVING count(*) > 2 ORDER BY b'),
	('SELECT array_agg(id ORDER BY id), json_agg(id ORDER BY id), jsonb_agg(id % 2 ORDER BY id) FROM t WHERE id > 3900'), ('SELECT string_agg(s, '','' ORDER BY id) FILTER (WHERE id > 300), stddev(v) FILTER (WHERE id > 2000), array_agg(v ORDER BY id) FILTER (WHERE s > ''k'') FROM t'), ('SELECT v, array_agg(id ORDER BY id), stddev(id) FROM t WHERE v < 30 GROUP BY v'),
	('SELECT joined(s ORDER BY id), collected(v ORDER BY id), added(id, 1, NULL, v), counted(*), lost(id ORDER BY id) FROM t WHERE id BETWEEN 3900 AND 20100'), ('SELECT collected(id ORDER BY id) FROM t WHERE id > 100000'), ('SELECT joined(s ORDER BY id), stddev(id), array_agg(id) FROM t WHERE id < 0'),
	('SELECT lost(id ORDER BY id), max(s || id) FROM t'), ('SELECT v, collected(id ORDER BY id), added(id) FROM t WHERE v BETWEEN 3 AND 70 GROUP BY v'), ('SELECT date_trunc(''week'', at), stddev(v), sum(v % 10) FROM t GROUP BY 1'), ('SELECT date_bin(''1 week'', at, ''2024-01-01''), sum(v % 10), string_agg(v::text, '','' ORDER BY at) FROM t GROUP BY 1'),
	('SELECT extract(dow FROM at), stddev(v), sum(v % 10) FROM t GROUP BY 1'), ('SELECT length(s), variance(length(s)), bool_or(f > 2), sum(f) FROM t GROUP BY 1');
SET cpu_index_tuple_cost = 0.1;
\set ECHO none
\i :states
\set ECHO all
RESET cpu_index_tuple_cost;
-- without ORDER BY: the order of the index, as core's index-only scan has it
TRUNCATE t;
INSERT INTO t SELECT i, nullif(i % 9, 8), 'key ' || i % 300 FROM generate_series(1, 4000) i;
VACUUM t;
UPDATE t SET s = s || '!' WHERE id % 20 = 3;
DELETE FROM t WHERE id % 20 = 5;
CREATE FUNCTION by_index(query text) RETURNS TABLE (answered bool, same bool) LANGUAGE plpgsql AS $$
DECLARE
	a	text;
BEGIN
	SET LOCAL enable_sort = off;
	answered := plan_of(query) ~ 'SurfidxAggregate';
	a := rows_of(query);
	SET LOCAL surfidx.aggregates = off;
	same := plan_of(query) !~ 'SurfidxAggregate' AND a = rows_of(query);
	SET LOCAL surfidx.aggregates = on;
	RETURN NEXT;
END $$;
SELECT * FROM by_index('SELECT array_agg(v), string_agg(s, '','') FROM t');
SELECT * FROM by_index('SELECT b, array_agg(n), json_agg(s), stddev(n) FROM t GROUP BY b ORDER BY b');
SELECT * FROM by_index('SELECT s, stddev(f), corr(f, length(s)), regr_slope(f, f), avg(f / 7) FROM t GROUP BY s');
SELECT * FROM by_index('SELECT sum(f / 7), avg(f / 3), joined(s) FROM t WHERE s > ''key 1''');
SELECT * FROM by_index('SELECT string_agg(id::text, '','' ORDER BY v, id) FILTER (WHERE id > 70), array_agg(v ORDER BY v) FROM t WHERE v > 7');
SELECT * FROM by_index('SELECT array_agg(v) FROM t WHERE id IN (7, 3, 3999, 4) AND v > 3');
-- errors are those of rows that count
DELETE FROM t WHERE v = 0;
SELECT sum(10 / v) > 0, count(1 / v) > 0, stddev(10 / v) > 0 FROM t WHERE id > 0;
INSERT INTO t (id) VALUES (1000);
SELECT sum(10 / v) FROM t WHERE id > 0;
SELECT stddev(10 / v) FROM t WHERE id > 0;
SELECT sum(10 / v) FILTER (WHERE v <> 0) > 0, stddev(10 / v) > 0 FROM t WHERE v <> 0;
-- parameters, correlated subqueries, rescans
SET plan_cache_mode = force_generic_plan;
PREPARE parts (int) AS SELECT sum(id / $1), string_agg(id::text, $1::text ORDER BY id) FROM t WHERE id < $1 * 10;
EXPLAIN (COSTS OFF) EXECUTE parts (2);
EXECUTE parts (2);
EXECUTE parts (1);
DEALLOCATE parts;
RESET plan_cache_mode;
SELECT plan_of('SELECT i, (SELECT array_agg(v + i ORDER BY id) FROM t WHERE id < i * 2), (SELECT sum(id * i) FROM t) FROM generate_series(1, 3) i') ~ 'SurfidxAggregate.*SurfidxAggregate';
SELECT i, (SELECT array_agg(v + i ORDER BY id) FROM t WHERE id < i * 2), (SELECT sum(id * i) FROM t), (SELECT stddev(id + (SELECT max(v) FROM t)) FROM t) FROM generate_series(1, 3) i;
SELECT i, x.* FROM generate_series(2, 3) i, LATERAL (SELECT b, string_agg(s || i, ',' ORDER BY s DESC) FROM t WHERE s < 'key 102' GROUP BY b ORDER BY b LIMIT 2) x;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT v, array_agg(id ORDER BY id) FROM t WHERE v < 9 GROUP BY v ORDER BY v;
FETCH 3 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH 2 FROM c;
COMMIT;
-- declined
CREATE FUNCTION any_time(int, int) RETURNS int LANGUAGE sql AS $$ SELECT $2 $$;
CREATE AGGREGATE any_time (int) (sfunc = any_time, stype = int);
INSERT INTO declined (why, query) VALUES ('another order', 'SELECT string_agg(s, '','' ORDER BY v) FROM t WHERE id > 3'), ('the reverse', 'SELECT array_agg(id ORDER BY id DESC) FROM t'), ('NULLs elsewhere', 'SELECT array_agg(v ORDER BY v NULLS FIRST) FROM t'),
	('an order that is computed', 'SELECT array_agg(id ORDER BY id + 1) FROM t'), ('DISTINCT', 'SELECT array_agg(DISTINCT id) FROM t'), ('volatile', 'SELECT sum(id + random()) FROM t'), ('a volatile function', 'SELECT any_time(id) FROM t'), ('a subquery', 'SELECT sum(id + (SELECT t.v)) FROM t'),
	('an ordered set', 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY id % 9) FROM t'), ('beside count(DISTINCT)', 'SELECT count(DISTINCT id), stddev(id) FROM t'), ('the whole row', 'SELECT array_agg(t) FROM t'), ('a system column', 'SELECT array_agg(ctid) FROM t');
SELECT * FROM declined();
-- rights to all functions, and those of an argument
CREATE ROLE surfidx_feed_reader;
GRANT SELECT ON t TO surfidx_feed_reader;
REVOKE EXECUTE ON FUNCTION shown FROM public;
CREATE ROLE surfidx_feed_owner;
ALTER AGGREGATE added(int[]) OWNER TO surfidx_feed_owner;
SELECT added(id) FROM t WHERE id < 10;
GRANT EXECUTE ON FUNCTION shown TO surfidx_feed_owner;
REVOKE EXECUTE ON FUNCTION lost(int, int) FROM public;
SET ROLE surfidx_feed_reader;
SELECT added(id) FROM t WHERE id < 10;
SELECT sum(lost(id, id)) FROM t WHERE id < 10;
RESET ROLE;
GRANT EXECUTE ON FUNCTION shown TO public;
DROP OWNED BY surfidx_feed_reader, surfidx_feed_owner;
DROP ROLE surfidx_feed_reader, surfidx_feed_owner;
-- results that functions could change in place, and errors of groups that nobody asks for
CREATE FUNCTION grown(int[]) RETURNS int[] LANGUAGE plpgsql IMMUTABLE AS $$ DECLARE r int[] := '{}'; BEGIN FOR i IN 1..2 LOOP r[i] := i; END LOOP; RETURN r; END $$;
CREATE AGGREGATE grown(int) (sfunc = array_append, stype = int[], finalfunc = grown);
CREATE TABLE l AS SELECT i / 3 AS a, i AS b, i % 2 AS c FROM generate_series(0, 900) i;
CREATE INDEX ON l USING surfidx (a, b) INCLUDE (c);
VACUUM ANALYZE l;
SELECT by_index(q) FROM unnest(ARRAY['SELECT grown(b), array_append(grown(b), 99) FROM l', 'SELECT a, sum(1 / (a - 1)) FROM l GROUP BY a ORDER BY a LIMIT 1']) q;
SELECT array_append(grown(b), 99), grown(b), array_append(grown(b), 77) FROM l;
SELECT a, sum(1 / (a - 1)) FROM l GROUP BY a ORDER BY a LIMIT 1;
SELECT a, stddev(1 / (a - 5)) FROM l GROUP BY a ORDER BY a LIMIT 3;
SELECT a, sum(b) FILTER (WHERE 1 / (a - 1) >= 0) FROM l GROUP BY a ORDER BY a LIMIT 1;
SELECT a, count(*) FROM l WHERE 1 / (a - 2) < 1 GROUP BY a ORDER BY a LIMIT 2;
UPDATE l SET c = 3 WHERE b % 2 = 0;
SELECT a, sum(1 / (a - 1)) FROM l GROUP BY a ORDER BY a LIMIT 1;
BEGIN;
DECLARE c CURSOR FOR SELECT a, sum(1 / (a - 3)) FROM l GROUP BY a ORDER BY a;
FETCH 3 FROM c;
FETCH c;
ROLLBACK;
DROP TABLE l;
DROP AGGREGATE grown (int);
DROP FUNCTION grown(int[]);
-- partitions: states, as far as core can put them together
CREATE TABLE p (LIKE t) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1500);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1500) TO (5000);
INSERT INTO p SELECT * FROM t;
CREATE INDEX ON p USING surfidx (v, id);
CREATE INDEX ON p USING surfidx (n, f);
CREATE INDEX ON p USING surfidx (b, id);
VACUUM ANALYZE p;
DELETE FROM asked;
INSERT INTO asked (query) VALUES ('SELECT stddev(id), variance(v), sum(id + v), avg(id * 2), bool_or(id > 3), count(v + 1), min(id - v) FROM p'), ('SELECT b, stddev(id), sum(id % 10), max(id + b) FROM p GROUP BY b'), ('SELECT stddev(n), avg(f), sum(n + 1), avg(n * 3) FROM p');
EXPLAIN (COSTS OFF) SELECT stddev(id), sum(id + v) FROM p;
SELECT * FROM differences();
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT * FROM differences();
DROP TABLE t, p, asked, declined;
DROP FUNCTION fill, by_index, plan_of, analyzed, rows_of, differences, declined;
DROP AGGREGATE collected (anycompatible), joined (text), counted (*), lost (int), any_time (int);
DROP FUNCTION joined(text, text), added(int8, int[]), shown(int8, int[]), counted(int8), lost(int, int), any_time(int, int) CASCADE;
