-- Aggregates of one table whose index workers share by portions: each entry is counted by exactly one participant, in every state of the delta and of the table
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE t (id int NOT NULL, b int, s text DEFAULT 'new' COLLATE "C", v int8, n numeric, f float8, at timestamptz, a int[]) WITH (autovacuum_enabled = off, parallel_workers = 2);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.v := nullif(NEW.id % 1000, 5) * 92233720368547;
	NEW.n := nullif(NEW.id % 700, 11) / 10.0;
	-- sums of these are exact in any order
	NEW.f := CASE WHEN NEW.id % 90 <> 7 THEN NEW.id % 64 / 8.0 END;
	NEW.at := '2024-01-01'::timestamptz + NEW.id * interval '1 minute';
	NEW.a := ARRAY[NEW.id % 70, NEW.id % 1100];
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, nullif(i % 9, 8), 'key ' || i % 300 FROM generate_series(1, 20000) i;
CREATE INDEX t_id ON t USING surfidx (id) INCLUDE (v, s, f);
CREATE INDEX t_b ON t USING surfidx (b, s DESC) INCLUDE (n, id, v);
CREATE INDEX t_s ON t USING surfidx (s, v) INCLUDE (id);
CREATE INDEX t_n ON t USING surfidx (n NULLS FIRST);
CREATE INDEX t_at ON t USING surfidx (at DESC, v);
CREATE INDEX t_a ON t USING surfidx (a) INCLUDE (b);
-- few groups, the planner thinks
ALTER TABLE t ALTER id SET (n_distinct = 3), ALTER b SET (n_distinct = 3), ALTER s SET (n_distinct = 3), ALTER v SET (n_distinct = 3);
VACUUM ANALYZE t;
EXPLAIN (COSTS OFF) SELECT sum(v), avg(id), min(s), stddev(f) FROM t WHERE id > 100;
EXPLAIN (COSTS OFF) SELECT b, s, count(n), sum(id) FROM t GROUP BY b, s HAVING max(v) > 5 ORDER BY b, s DESC;
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT s, sum(id) FROM t GROUP BY s ORDER BY s LIMIT 3;
SELECT s, sum(id) FROM t GROUP BY s ORDER BY s LIMIT 3;
RESET enable_hashagg;
-- so that FILTERs that take their time are answered, too
SET cpu_index_tuple_cost = 0.1;
INSERT INTO asked (query) VALUES
	('SELECT sum(id), avg(id), min(id), max(id), count(v) FROM t'), ('SELECT sum(v), avg(v), min(v), max(v), count(*) FROM t WHERE id BETWEEN 4000 AND 15000'), ('SELECT sum(n), avg(n), max(n), count(n) FROM t'), ('SELECT sum(n), min(n) FROM t WHERE n > 20 AND n < 60'), ('SELECT count(*) FROM t WHERE id % 7 = 3'),
	('SELECT sum(f), avg(f), regr_count(f, length(s)), bool_or(f > 7), stddev(id), variance(v) FROM t WHERE id > 3'), ('SELECT sum(CASE WHEN v > 500 THEN 1 ELSE 0 END), max(s || id), count(nullif(id % 3, 1)) FROM t'), ('SELECT count(*) FILTER (WHERE id > 9000), sum(v) FILTER (WHERE s > ''key 2''), min(f) FILTER (WHERE id % 3 = 0) FROM t'),
	('SELECT b, count(*), sum(n), avg(v), max(id) FROM t GROUP BY b'), ('SELECT b, s, count(*), sum(n), avg(v), max(id) FROM t GROUP BY b, s ORDER BY b, s DESC'), ('SELECT s, sum(v), count(v), max(length(s)) FROM t GROUP BY s HAVING count(*) > 66'), ('SELECT s, count(*), sum(v) FROM t WHERE s > ''key 2'' GROUP BY s ORDER BY s LIMIT 5'), ('SELECT id, count(*), sum(v) FROM t GROUP BY id'),
	('SELECT s, min(v), max(v) FROM t GROUP BY s'), ('SELECT s, v, count(*), max(v) FROM t GROUP BY v, s'), ('SELECT b, sum(id) FROM t WHERE b > 2 AND s < ''key 2'' GROUP BY b'),
	('SELECT date_trunc(''day'', at), count(v), sum(v) FROM t GROUP BY 1'), ('SELECT at::date, sum(v) FROM t WHERE at > ''2024-01-05'' GROUP BY 1 ORDER BY 1 DESC'), ('SELECT extract(hour FROM at), sum(v) FROM t GROUP BY 1'), ('SELECT sum(b), max(a) FROM t WHERE a > ''{3}'' AND a < ''{60, 7}'''),
	('SELECT count(*), sum(v) FROM t WHERE (s, v) > (''key 150'', 3) AND (s, v) <= (''key 2'', 92233720368547)'), ('SELECT max(v) + 1, b FROM t GROUP BY b HAVING sum(id) > 100 ORDER BY b');
SELECT query FROM asked WHERE plan_of(query) !~ 'Parallel Custom Scan .SurfidxAggregate.' ORDER BY n;
-- whichever way these take
INSERT INTO asked (query) VALUES ('SELECT s, sum(id) FROM t WHERE b = 3 GROUP BY s'), ('SELECT b, sum(id) FROM t WHERE b = 3 GROUP BY b'), ('SELECT b, sum(id) FROM t WHERE b IS NULL GROUP BY b'), ('SELECT sum(id), count(*) FROM t WHERE id < 0'), ('SELECT b, sum(id) FROM t WHERE b > 100 GROUP BY b');
\set ECHO none
\i :states
\set ECHO all
TRUNCATE t;
INSERT INTO t SELECT i, nullif(i % 9, 8), 'key ' || i % 300 FROM generate_series(1, 20000) i;
VACUUM ANALYZE t;
SELECT regexp_replace(line, '\d.*', 'n') FROM analyzed('SELECT b, sum(v) FROM t WHERE id % 2 = 0 GROUP BY b') line;
-- cut keys
ALTER INDEX t_s SET (keys = cut);
REINDEX INDEX t_s;
SELECT * FROM differences();
-- workers alone; the leader, as there is none; the leader, as it is asked to
SET parallel_leader_participation = off;
SELECT * FROM differences(false);
SET max_parallel_workers = 0;
SELECT * FROM differences(false);
RESET parallel_leader_participation;
SELECT * FROM differences();
RESET max_parallel_workers;
-- parameters, rescans, cursors, errors
SET plan_cache_mode = force_generic_plan;
PREPARE between (int, int) AS SELECT count(*), sum(v), avg(id) FROM t WHERE id BETWEEN $1 AND $2;
EXPLAIN (COSTS OFF) EXECUTE between (3990, 8009);
EXECUTE between (3990, 8009);
EXECUTE between (8, 7);
DEALLOCATE between;
RESET plan_cache_mode;
SET enable_material = off;
SELECT plan_of('SELECT k, count(x), sum(c) FROM generate_series(1, 3) k LEFT JOIN (SELECT b, sum(id) AS c FROM t WHERE b < 4 GROUP BY b) x ON c > k GROUP BY k') ~ 'Nested Loop.*Gather.*Parallel Custom Scan';
SELECT k, count(x), sum(c) FROM generate_series(1, 3) k LEFT JOIN (SELECT b, sum(id) AS c FROM t WHERE b < 4 GROUP BY b) x ON c > k GROUP BY k ORDER BY k;
SELECT sum(id) FROM t WHERE b < 4;
SELECT i, (SELECT sum(v) FROM t WHERE id < i * 2000) FROM generate_series(1, 3) i;
RESET enable_material;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT s, sum(id) FROM t WHERE s < 'key 105' GROUP BY s ORDER BY s;
FETCH 3 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
COMMIT;
-- (a worker's says so in its context)
\set SHOW_CONTEXT never
SELECT sum(10 / (id - 15000)) FROM t;
-- what one process does: numbers found above the leaves, lists of ranges, what no worker may compute, or none merge
SELECT plan_of(q) ~ 'Parallel Custom' AS shared, plan_of(q) ~ 'SurfidxAggregate' AS answered FROM unnest(ARRAY['SELECT count(*) FROM t', 'SELECT count(*) FROM t WHERE id > 7000', 'SELECT b, count(*) FROM t GROUP BY b', 'SELECT sum(v) FROM t WHERE id IN (7, 3, 3999, 4)', 'SELECT array_agg(id ORDER BY id) FROM t', 'SELECT b, count(DISTINCT s) FROM t GROUP BY b', 'SELECT DISTINCT s FROM t']) q;
CREATE FUNCTION unsafe(n int8) RETURNS int8 LANGUAGE plpgsql STABLE PARALLEL UNSAFE AS $$ BEGIN RETURN n; END $$;
SELECT plan_of(q) ~ 'Parallel Custom' AS shared, plan_of(q) ~ 'SurfidxAggregate' AS answered FROM unnest(ARRAY['SELECT sum(unsafe(v)) FROM t', 'SELECT sum(v) FROM t HAVING unsafe(count(*)) > 3', 'SELECT sum(v) FILTER (WHERE unsafe(v) > 3) FROM t']) q;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT sum(v) FROM t WHERE id > 100;
SELECT surfidx_check(i, true) FROM unnest('{t_id, t_b, t_s, t_n, t_at, t_a}'::regclass[]) i;
DROP TABLE t, asked, declined;
DROP FUNCTION fill, analyzed, unsafe, plan_of, rows_of, differences, declined;
