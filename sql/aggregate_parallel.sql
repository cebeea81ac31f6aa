-- Aggregates by the index beside and under parallel nodes: under a Gather, in subplans of workers, in functions that they call, table by table of a partitioned one
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE TABLE t (id int NOT NULL, b int NOT NULL, s text DEFAULT 'new' COLLATE "C", big int8) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.big := nullif(NEW.id % 50, 5) * 92233720368547758;
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, i % 9, 'key ' || i % 300 FROM generate_series(1, 20000) i;
CREATE INDEX t_id ON t USING surfidx (id);
CREATE INDEX t_b ON t USING surfidx (b, big) INCLUDE (id);
CREATE INDEX t_s ON t USING surfidx (s, b) INCLUDE (big);
VACUUM ANALYZE t;
-- all plans that may be are run by a worker (the setting's name is another one before 16)
SET max_parallel_workers_per_gather = 2;
SELECT count(set_config(name, 'on', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE id > 10;
EXPLAIN (COSTS OFF) SELECT b, sum(big), avg(big) FROM t GROUP BY b HAVING max(id) > 5;
EXPLAIN (COSTS OFF) SELECT DISTINCT s FROM t;
SELECT * FROM analyzed('SELECT b, count(*) FROM t WHERE b > 6 GROUP BY b');
INSERT INTO asked (query) VALUES
	('SELECT count(*) FROM t'), ('SELECT count(*) FROM t WHERE id > 4000 AND id <= 15000'), ('SELECT sum(id), avg(id), min(id), max(id) FROM t'), ('SELECT sum(big), avg(big), min(big), max(big), count(big) FROM t WHERE b > 2'),
	('SELECT b, count(*), sum(big), avg(big), max(id), avg(id) FROM t GROUP BY b'), ('SELECT s, count(*) FROM t GROUP BY s ORDER BY s LIMIT 5'), ('SELECT DISTINCT s FROM t'), ('SELECT id, count(*) FROM t GROUP BY id'),
	('SELECT s, count(DISTINCT b), sum(big) FROM t GROUP BY s HAVING max(b) > 4'), ('SELECT count(DISTINCT s), min(s), max(s) FROM t');
\set ECHO none
\i :states
\set ECHO all
SELECT count(set_config(name, 'off', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');

-- a tree whose tables go to workers, one by one
CREATE TABLE p (id int NOT NULL, v int8, s text COLLATE "C") PARTITION BY RANGE (id);
SELECT format('CREATE TABLE p%s PARTITION OF p FOR VALUES FROM (%s) TO (%s) WITH (autovacuum_enabled = off, parallel_workers = 2)', g, g * 4000, g * 4000 + 4000) FROM generate_series(0, 4) g \gexec
INSERT INTO p SELECT i, i * 1000000007::int8, 'k' || i % 7 FROM generate_series(0, 19999) i;
CREATE INDEX ON p USING surfidx (id, v);
CREATE INDEX ON p USING surfidx (s, v);
VACUUM ANALYZE p;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*), sum(v), avg(v) FROM p WHERE id > 5;
DELETE FROM asked;
INSERT INTO asked (query) VALUES
	('SELECT count(*), sum(v), avg(v), min(v), max(v) FROM p'), ('SELECT count(*), sum(v), avg(v), min(v), max(v) FROM p WHERE id > 9000'), ('SELECT s, sum(v), count(*) FROM p GROUP BY s'), ('SELECT DISTINCT s FROM p');
SELECT * FROM differences();
SET parallel_leader_participation = off;
SELECT * FROM differences();
SET enable_partitionwise_aggregate = on;
SELECT * FROM differences();
RESET enable_partitionwise_aggregate;
-- tables that a run-time parameter leaves out, in workers
SET plan_cache_mode = force_generic_plan;
PREPARE between (int, int) AS SELECT count(*), sum(v), avg(id) FROM p WHERE id BETWEEN $1 AND $2;
EXPLAIN (COSTS OFF) EXECUTE between (3990, 8009);
EXECUTE between (3990, 8009);
DEALLOCATE between;
RESET plan_cache_mode;

-- subplans, and functions that workers call
CREATE TABLE outside AS SELECT i FROM generate_series(1, 400) i;
ALTER TABLE outside SET (parallel_workers = 2);
ANALYZE outside;
INSERT INTO t SELECT i, i % 9, 'key ' || i % 300 FROM generate_series(3001, 20000) i;
VACUUM ANALYZE t;
SET enable_seqscan = on;
SELECT plan_of('SELECT sum(i) FROM outside WHERE i NOT IN (SELECT b FROM t GROUP BY b)') ~ 'Gather.*Parallel Seq Scan on outside.*SubPlan.*SurfidxAggregate';
SELECT plan_of('SELECT sum(i), sum(n) FROM outside JOIN (SELECT b, count(*) AS n FROM t GROUP BY b) x ON b = i % 10') ~ 'Gather.*Join.*Parallel Seq Scan on outside.*SurfidxAggregate';
CREATE FUNCTION counted(i int) RETURNS int8 LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$ BEGIN RETURN (SELECT count(*) + sum(id) FROM t WHERE id <= i * 50); END $$;
CREATE FUNCTION counted_tree(i int) RETURNS numeric LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$ BEGIN RETURN (SELECT count(*) + sum(v) FROM p WHERE id <= i * 50); END $$;
EXPLAIN (COSTS OFF) SELECT sum(counted(i)), sum(counted_tree(i)) FROM outside;
SELECT sum(n) FROM (SELECT (SELECT count(*) FROM t WHERE id < i * 50) AS n FROM outside) x WHERE n > 3;
SELECT sum(i) FROM outside WHERE i NOT IN (SELECT b FROM t GROUP BY b);
SELECT sum(i), sum(n) FROM outside JOIN (SELECT b, count(*) AS n FROM t GROUP BY b) x ON b = i % 10;
SELECT sum(counted(i)), sum(counted_tree(i)) FROM outside;
SET surfidx.aggregates = off;
SELECT sum(n) FROM (SELECT (SELECT count(*) FROM t WHERE id < i * 50) AS n FROM outside) x WHERE n > 3;
SELECT sum(i) FROM outside WHERE i NOT IN (SELECT b FROM t GROUP BY b);
SELECT sum(i), sum(n) FROM outside JOIN (SELECT b, count(*) AS n FROM t GROUP BY b) x ON b = i % 10;
SELECT sum(counted(i)), sum(counted_tree(i)) FROM outside;
SET surfidx.aggregates = on;
-- the other table's plan stays parallel beside a count
SELECT plan_of('SELECT sum(i) FROM outside WHERE i > (SELECT count(*) FROM t WHERE id < 300)') ~ 'InitPlan.*SurfidxAggregate.*Gather.*Parallel Seq Scan on outside';

-- what workers must not compute
CREATE FUNCTION unsafe(n int8) RETURNS int8 LANGUAGE plpgsql STABLE PARALLEL UNSAFE AS $$ BEGIN RETURN n; END $$;
CREATE FUNCTION restricted(n int8) RETURNS int8 LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$ BEGIN RETURN n; END $$;
SET enable_seqscan = off;
SELECT count(set_config(name, 'on', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
EXPLAIN (COSTS OFF) SELECT count(*) FROM t HAVING unsafe(count(*)) > 3;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t HAVING restricted(count(*)) > 3;
EXPLAIN (COSTS OFF) SELECT count(*) FROM p HAVING restricted(count(*)) > 3;
SELECT count(set_config(name, 'off', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
DROP TABLE t, p, outside, asked, declined;
DROP FUNCTION fill, analyzed, counted, counted_tree, unsafe, restricted, plan_of, rows_of, differences, declined;
