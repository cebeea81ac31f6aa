-- Aggregates of partitioned tables and of tables with children: states by the tables' indexes, and core's Finalize
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
-- groups of a row or two are cheaper in core's plan: make its rows dear
SET cpu_index_tuple_cost = 1;
-- a default partition, partitions of partitions, columns elsewhere and dropped, an empty partition
CREATE TABLE t (gone int, id int NOT NULL, b int NOT NULL, s text DEFAULT 'new' COLLATE "C", big int8, small int2, f float8, d date DEFAULT '2020-02-02') PARTITION BY RANGE (id);
ALTER TABLE t DROP COLUMN gone;
CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (5000) WITH (autovacuum_enabled = off);
CREATE TABLE t2 (d date, s text COLLATE "C" DEFAULT 'new', small int2, gone text, big int8, f float8, b int NOT NULL, id int NOT NULL) WITH (autovacuum_enabled = off);
ALTER TABLE t2 DROP COLUMN gone;
ALTER TABLE t ATTACH PARTITION t2 FOR VALUES FROM (5000) TO (10000);
CREATE TABLE t3 (big int8, id int NOT NULL, s text COLLATE "C", b int NOT NULL, d date, f float8, small int2) PARTITION BY HASH (id);
ALTER TABLE t ATTACH PARTITION t3 FOR VALUES FROM (10000) TO (22000);
CREATE TABLE t3a PARTITION OF t3 FOR VALUES WITH (MODULUS 2, REMAINDER 0) WITH (autovacuum_enabled = off);
CREATE TABLE t3b (f float8, small int2, b int NOT NULL, id int NOT NULL, s text COLLATE "C", big int8, d date) WITH (autovacuum_enabled = off);
ALTER TABLE t3 ATTACH PARTITION t3b FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE t4 PARTITION OF t FOR VALUES FROM (-1000) TO (0) WITH (autovacuum_enabled = off);
CREATE TABLE td PARTITION OF t DEFAULT WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.big := nullif(NEW.id % 50, 5) * 92233720368547758 * CASE WHEN NEW.id % 2 = 0 THEN 1 ELSE -1 END;
	NEW.small := nullif(NEW.id % 1000, 7);
	NEW.f := NEW.id % 10;
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t (id, b, s) SELECT i, i % 9, 'key ' || i % 300 FROM generate_series(1, 24000) i WHERE i <= 20000 OR i > 23000;
DELETE FROM t WHERE id > 23000;
CREATE INDEX t_id ON t USING surfidx (id) INCLUDE (small);
CREATE INDEX t_b ON t USING surfidx (b, big DESC) INCLUDE (id, d);
CREATE INDEX t_s ON t USING surfidx (s, b) INCLUDE (big);
VACUUM ANALYZE t;

-- answered: states by each table, whatever its columns' numbers
EXPLAIN (COSTS OFF) SELECT count(*) FROM t;
EXPLAIN (COSTS OFF, VERBOSE) SELECT sum(id) + 1 AS n, avg(small), count(small) FROM t WHERE id > 12000 HAVING count(*) > 3;
EXPLAIN (COSTS OFF) SELECT s, count(*), max(b) FROM t WHERE s > 'key 2' GROUP BY s HAVING count(*) > 5 ORDER BY s LIMIT 3;
EXPLAIN (COSTS OFF) SELECT DISTINCT b FROM t;
-- one table is left
EXPLAIN (COSTS OFF) SELECT count(*), sum(small) FROM t WHERE id BETWEEN 6000 AND 7000;
SET enable_partitionwise_aggregate = on;
EXPLAIN (COSTS OFF) SELECT id, count(*) FROM t WHERE id < 7000 GROUP BY id;
EXPLAIN (COSTS OFF) SELECT b, count(*), sum(big) FROM t WHERE b > 3 GROUP BY b;
RESET enable_partitionwise_aggregate;
INSERT INTO asked (query) VALUES
	('SELECT count(*) FROM t'), ('SELECT count(*) FROM t WHERE id < 0'), ('SELECT count(*) FROM t WHERE id > 4000 AND id <= 15000'), ('SELECT count(*) AS n FROM t WHERE id = 700'),
	('SELECT count(*), sum(id), avg(id), min(id), max(id) FROM t'), ('SELECT sum(small), avg(small), min(small), max(small), count(small) FROM t WHERE id > 100'),
	('SELECT sum(big), avg(big), min(big), max(big), count(big), min(d), max(d) FROM t WHERE b > 2'), ('SELECT avg(id), sum(big) FROM t WHERE b = 100'), ('SELECT avg(id), sum(small) FROM t WHERE id BETWEEN 21000 AND 21100'),
	('SELECT sum(id) * 2 + count(*) AS n, max(id) FROM t WHERE id > 17 HAVING count(*) > 5'), ('SELECT sum(id) FROM t WHERE id > 17 HAVING count(*) < 5'),
	('SELECT min(s), max(s), count(s), avg(big), sum(big) FROM t WHERE s < ''key 77'''),
	('SELECT b, count(*), sum(big), avg(big), max(id), avg(id) FROM t GROUP BY b'), ('SELECT b, big, count(*) FROM t GROUP BY b, big ORDER BY b, big DESC'), ('SELECT count(*) FROM t GROUP BY b'),
	('SELECT big, count(*), min(d) FROM t WHERE b = 5 GROUP BY big'), ('SELECT id, count(*), sum(small) FROM t WHERE id < 16000 GROUP BY id'),
	('SELECT s, sum(b), avg(b), sum(big) FROM t GROUP BY s HAVING max(b) > 4'), ('SELECT s, count(*) FROM t GROUP BY s ORDER BY s LIMIT 5'), ('SELECT s FROM t GROUP BY s'), ('SELECT s, count(*), sum(count(*)) OVER (ORDER BY s) AS running FROM t GROUP BY s'),
	('SELECT DISTINCT b FROM t'), ('SELECT DISTINCT s, b FROM t ORDER BY s, b'), ('SELECT count(*) AS n FROM (SELECT DISTINCT s FROM t) x'),
	('SELECT i, (SELECT count(*) FROM t WHERE id < i) AS n FROM generate_series(4000, 20000, 4000) i'),
	('SELECT x.n, y.n FROM (SELECT count(*) AS n FROM t WHERE id > 3000) x, (SELECT count(*) AS n FROM t WHERE b < 3) y'), ('SELECT count(*) FROM t WHERE b = 3 AND big IS NULL');
\set ECHO none
\i :states
\set ECHO all
INSERT INTO t (id, b, s) SELECT i, i % 9, 'key ' || i % 300 FROM generate_series(3001, 24000) i;
VACUUM ANALYZE t;
SET enable_partitionwise_aggregate = on;
SELECT * FROM differences();
RESET enable_partitionwise_aggregate;
INSERT INTO asked (query) VALUES ('SELECT sum(id) FROM t WHERE id = ANY (ARRAY(SELECT g FROM generate_series(3, 15000) g))'), ('SELECT sum(id) FROM t WHERE id = ANY (ARRAY[3, 7000, 13000, 30000, 3])');
SELECT * FROM differences(false);

-- run-time parameters leave out partitions, at the beginning and in a loop
SET plan_cache_mode = force_generic_plan;
PREPARE between (int, int) AS SELECT count(*), sum(small), avg(id) FROM t WHERE id BETWEEN $1 AND $2;
SELECT * FROM analyzed('EXECUTE between (6000, 7000)');
EXECUTE between (6000, 7000);
EXECUTE between (4990, 5009);
EXECUTE between (9, 2);
SELECT * FROM analyzed('SELECT i, (SELECT count(*) FROM t WHERE id = i) FROM generate_series(4998, 5002) i');
-- a plan that is kept lives on when partitions and indexes come and go
ALTER TABLE t DETACH PARTITION t2;
EXECUTE between (4990, 5009);
ALTER TABLE t ATTACH PARTITION t2 FOR VALUES FROM (5000) TO (10000);
EXECUTE between (4990, 5009);
DROP INDEX t_id;
EXECUTE between (4990, 5009);
CREATE INDEX t_id ON t USING surfidx (id) INCLUDE (small);
EXECUTE between (4990, 5009);
SELECT plan_of('EXECUTE between (4990, 5009)') ~ 'SurfidxAggregate';
DEALLOCATE between;
RESET plan_cache_mode;

-- a table without an index that answers is aggregated by core: another access method, none at all, a foreign table
CREATE TABLE m (id int NOT NULL, v int8, s text COLLATE "C") PARTITION BY RANGE (id);
CREATE TABLE m1 PARTITION OF m FOR VALUES FROM (0) TO (10000);
CREATE TABLE m2 PARTITION OF m FOR VALUES FROM (10000) TO (11000);
CREATE TABLE m3 PARTITION OF m FOR VALUES FROM (11000) TO (12000);
INSERT INTO m SELECT i, i * 1000000007::int8, 'k' || i % 7 FROM generate_series(0, 11999) i;
CREATE INDEX ON m1 USING surfidx (id, v);
CREATE INDEX ON m1 USING surfidx (s, v);
CREATE INDEX ON m2 (id) INCLUDE (v);
VACUUM ANALYZE m;
SET enable_seqscan = on;
EXPLAIN (COSTS OFF) SELECT count(*), sum(v), avg(v) FROM m WHERE id > 5;
EXPLAIN (COSTS OFF) SELECT s, sum(v) FROM m GROUP BY s;
EXPLAIN (COSTS OFF) SELECT DISTINCT s FROM m;
DO $$ BEGIN
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'file_fdw') THEN
		CREATE EXTENSION file_fdw;
		CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
		CREATE FOREIGN TABLE m4 PARTITION OF m FOR VALUES FROM (12000) TO (13000) SERVER files OPTIONS (program 'for i in 1 2 3; do echo 1200$i,$i,k1; done', format 'csv');
	END IF;
END $$;
DELETE FROM asked;
INSERT INTO asked (query) VALUES
	('SELECT count(*), sum(v), avg(v), min(v), max(v) FROM m'), ('SELECT count(*), sum(v), avg(v), min(v), max(v) FROM m WHERE id > 9000'), ('SELECT s, sum(v), count(*) FROM m GROUP BY s'), ('SELECT DISTINCT s FROM m');
SELECT * FROM differences(false);
-- heirs: the table itself is one of them
CREATE TABLE base (x int, id int NOT NULL, v int8);
CREATE TABLE heir (y text) INHERITS (base);
ALTER TABLE base DROP COLUMN x;
CREATE TABLE grandchild (z int) INHERITS (heir);
INSERT INTO base SELECT i, i * 10 FROM generate_series(1, 4000) i;
INSERT INTO heir SELECT i, i * 100, 'y' FROM generate_series(1, 6000) i;
INSERT INTO grandchild SELECT i, i * 1000, 'y', 3 FROM generate_series(1, 8000) i;
CREATE INDEX ON base USING surfidx (id, v);
CREATE INDEX ON heir USING surfidx (id, v);
CREATE INDEX ON grandchild USING surfidx (id, v);
VACUUM ANALYZE base, heir, grandchild;
EXPLAIN (COSTS OFF, VERBOSE) SELECT count(*), sum(v) FROM base WHERE id > 3000;
DELETE FROM asked;
INSERT INTO asked (query) VALUES ('SELECT count(*), sum(v), avg(v), max(id) FROM base WHERE id > 3000'), ('SELECT id, max(v) FROM base GROUP BY id'), ('SELECT count(*), sum(v) FROM heir'), ('SELECT count(*) FROM ONLY heir');
SELECT * FROM differences();

-- at core's prices each row by itself is no group that pays
RESET cpu_index_tuple_cost;
SELECT plan_of('SELECT id, max(v) FROM base GROUP BY id') ~ 'SurfidxAggregate' AS by_index;
SET cpu_index_tuple_cost = 1;
-- sums that no int8 holds, and means between two numbers
CREATE TABLE w (k int, v int8) PARTITION BY LIST (k);
CREATE TABLE w1 PARTITION OF w FOR VALUES IN (1);
CREATE TABLE w2 PARTITION OF w FOR VALUES IN (2);
INSERT INTO w SELECT 1, 9223372036854775807 - i FROM generate_series(0, 2000) i;
INSERT INTO w SELECT 2, -9223372036854775808 + i * 3 FROM generate_series(0, 1234) i;
CREATE INDEX ON w USING surfidx (k, v);
VACUUM ANALYZE w;
DELETE FROM asked;
INSERT INTO asked (query) VALUES ('SELECT sum(v), avg(v), count(*) FROM w'), ('SELECT sum(v), avg(v), count(*) FROM w WHERE k = 1'), ('SELECT sum(v), avg(v), count(*) FROM w WHERE k = 2'), ('SELECT sum(v), avg(v), k FROM w GROUP BY k'),
	('SELECT sum(v), avg(v) FROM w WHERE k >= 1 AND v > -9223372036854775000 AND v < 9223372036854775800');
SELECT * FROM differences();
DELETE FROM asked;
INSERT INTO asked (query) VALUES ('SELECT k, v, sum(v), avg(v) FROM w GROUP BY k, v');
SELECT * FROM differences(false);

-- scales, values without number, sums of a table that has none
CREATE TABLE d (k int, n numeric) PARTITION BY LIST (k);
SELECT format('CREATE TABLE d%s PARTITION OF d FOR VALUES IN (%s)', g, g) FROM generate_series(1, 5) g \gexec
INSERT INTO d SELECT 1, i::numeric(12, 2) / 100 FROM generate_series(1, 2000) i;
INSERT INTO d SELECT 2, (-i * 1e20)::numeric + (i % 7)::numeric(20, 5) FROM generate_series(1, 2000) i;
INSERT INTO d SELECT 3, CASE WHEN i % 500 = 0 THEN 'Infinity' ELSE i * 0.1 END FROM generate_series(1, 2000) i;
INSERT INTO d SELECT 4, CASE WHEN i % 500 = 0 THEN 'NaN' ELSE i::numeric END FROM generate_series(1, 2000) i;
INSERT INTO d SELECT 5, NULL FROM generate_series(1, 2000) i;
CREATE INDEX ON d USING surfidx (k, n);
VACUUM ANALYZE d;
DELETE FROM asked;
INSERT INTO asked (query) SELECT format('SELECT sum(n), avg(n), count(n) FROM d WHERE k IN (%s)', s) FROM unnest('{"1,2","1,2,5","2,3","1,4","3,4,5","1,2,3,4,5","1,5","5"}'::text[]) s;
INSERT INTO asked (query) VALUES ('SELECT k, sum(n), avg(n) FROM d GROUP BY k');
SELECT * FROM differences();

-- buckets of a column that stands elsewhere, where another column of its type stands
CREATE TABLE u (at timestamp, other timestamp, k int) PARTITION BY LIST (k);
CREATE TABLE u1 PARTITION OF u FOR VALUES IN (1);
CREATE TABLE u2 (other timestamp, at timestamp, k int);
ALTER TABLE u ATTACH PARTITION u2 FOR VALUES IN (2);
INSERT INTO u SELECT '2020-01-01'::timestamp + i * interval '1 hour', '2000-01-01'::timestamp + i * interval '1 minute', 1 + i % 2 FROM generate_series(1, 4000) i;
CREATE INDEX ON u USING surfidx (at);
CREATE INDEX ON u USING surfidx (other);
VACUUM ANALYZE u;
DELETE FROM asked;
INSERT INTO asked (query) VALUES ('SELECT date_trunc(''day'', at) AS d, count(*), max(at) FROM u GROUP BY d'), ('SELECT extract(month FROM at) AS m, count(*), max(at) FROM u GROUP BY m'), ('SELECT date_bin(''1 day'', other, ''2000-01-01'') AS d, count(*) FROM u GROUP BY d'),
	('SELECT at::date AS d, count(*) FROM u GROUP BY d ORDER BY d LIMIT 5'), ('SELECT date_trunc(''month'', at) AS d, min(at), count(*) FROM u GROUP BY d HAVING count(*) > 3');
SELECT * FROM differences();

-- declined
INSERT INTO declined (why, query) VALUES
	('which table', 'SELECT tableoid, count(*) FROM t GROUP BY tableoid'), ('which table, in a condition', 'SELECT count(*) FROM t WHERE tableoid = ''t1''::regclass'),
	('volatile', 'SELECT count(*) FROM t WHERE random() < 2'),
	('DISTINCT', 'SELECT count(DISTINCT b) FROM t'), ('FILTER by a subquery', 'SELECT count(*) FILTER (WHERE id > (SELECT 5)) FROM t'), ('ORDER BY', 'SELECT count(id ORDER BY id) FROM t'),
	('no states', 'SELECT count(*), json_agg(id) FROM t'), ('a column that no index has', 'SELECT sum(f) FROM t'), ('grouping sets', 'SELECT b, count(*) FROM t GROUP BY ROLLUP (b)'),
	('sample', 'SELECT count(*) FROM t TABLESAMPLE system (100)'), ('UNION ALL', 'SELECT count(*) FROM (SELECT id FROM t1 UNION ALL SELECT id FROM t2) x'), ('never true', 'SELECT count(*) FROM t WHERE id > 5 AND false'),
	('volatile', 'SELECT id + random(), count(*) FROM t GROUP BY 1');
SET enable_seqscan = off;
SELECT * FROM declined();
-- rights are the parent's, and those to use the aggregate
CREATE ROLE surfidx_tree_reader;
GRANT SELECT ON t TO surfidx_tree_reader;
SET ROLE surfidx_tree_reader;
SELECT plan_of('SELECT count(*) FROM t WHERE id > 23990') ~ 'SurfidxAggregate';
SELECT count(*) FROM t WHERE id > 23990;
SELECT count(*) FROM t1;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION avg(int4) FROM public;
SET ROLE surfidx_tree_reader;
SELECT avg(id) FROM t WHERE id > 23990;
RESET ROLE;
GRANT EXECUTE ON FUNCTION avg(int4) TO public;
-- policies hide rows
CREATE POLICY hide ON t USING (id > 23995);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
SET ROLE surfidx_tree_reader;
SELECT plan_of('SELECT count(*) FROM t WHERE id > 23990') ~ 'SurfidxAggregate';
SELECT count(*) FROM t WHERE id > 23990;
RESET ROLE;
REVOKE ALL ON t FROM surfidx_tree_reader;
DROP ROLE surfidx_tree_reader;
DROP TABLE t, m, base, heir, grandchild, w, d, u, asked, declined;
DROP FUNCTION fill, analyzed, plan_of, rows_of, differences, declined;
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS file_fdw CASCADE;
