-- Percentiles by the place of their rows: what core's sort finds, in each state of the index and of
-- the table

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET max_parallel_workers_per_gather = 0;
SET surfidx.auto_merge = off;
\pset tuples_only on
\pset format unaligned

CREATE TABLE t (id int, k int, g int, w float4, n numeric, v text, d interval, c time)
	WITH (autovacuum_enabled = off);
CREATE TABLE asked (n serial, query text, by_place bool);

CREATE FUNCTION by_place(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Limit' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$;

CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT array_agg(r::text)::text FROM (' || query || ') r' INTO result;
	RETURN result;
EXCEPTION WHEN numeric_value_out_of_range THEN
	RETURN sqlerrm;
END $$;

-- Queries with another answer than core's, or another kind of plan than expected
CREATE FUNCTION differences(fractions text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	q		record;
	f		text;
	query	text;
	ours	text;
	cores	text;
	planned	bool;
BEGIN
	FOR q IN SELECT * FROM asked ORDER BY n LOOP
		FOREACH f IN ARRAY fractions LOOP
			query := replace(replace(q.query, '%a', quote_literal('{0.9,' || coalesce(f, 'NULL') || ',NULL,0.5}') || '::float8[]'),
				'%f', coalesce(quote_literal(f), 'NULL') || '::float8');
			SET LOCAL enable_seqscan = off;
			SET LOCAL enable_bitmapscan = off;
			planned := by_place(query);
			ours := answer(query);
			SET LOCAL surfidx.offset_by_rank = off;
			cores := answer(query);
			SET LOCAL surfidx.offset_by_rank = on;
			IF ours IS DISTINCT FROM cores THEN
				RETURN NEXT format('%s for %s: %s', ours, cores, query);
			END IF;
			IF planned <> q.by_place THEN
				RETURN NEXT CASE WHEN planned THEN 'by place: ' ELSE 'sorted: ' END || query;
			END IF;
		END LOOP;
	END LOOP;
END $$;

INSERT INTO t SELECT i, i * 7919::bigint % 2011, i % 3, i % 777 - 300, i % 1000 / 7.0, md5(i::text),
	i % 500 * interval '1 hour', time '00:00' + i * interval '17 s' FROM generate_series(1, 6000) i;
INSERT INTO t SELECT 10000 + i, CASE WHEN i % 2 = 0 THEN 777 END, i % 3, 'nan' FROM generate_series(1, 300) i;
CREATE INDEX t_k ON t USING surfidx (k, id);
CREATE INDEX t_gk ON t USING surfidx (g, k DESC NULLS LAST);
CREATE INDEX t_w ON t USING surfidx (w NULLS FIRST);
CREATE INDEX t_n ON t USING surfidx (n);
CREATE INDEX t_v ON t USING surfidx (v COLLATE "C");
CREATE INDEX t_d ON t USING surfidx (d);
CREATE INDEX t_c ON t USING surfidx (c);
CREATE INDEX t_e ON t USING surfidx ((id % 1000));
ANALYZE t;

INSERT INTO asked (query, by_place) VALUES
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k) FROM t', true),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k DESC) FROM t', true),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k NULLS FIRST) FROM t', true),
('SELECT percentile_disc(%a) WITHIN GROUP (ORDER BY k) FROM t', true),
('SELECT percentile_cont(%f) WITHIN GROUP (ORDER BY k) FROM t', true),
('SELECT percentile_cont(%f) WITHIN GROUP (ORDER BY k DESC) FROM t', true),
('SELECT percentile_cont(%a) WITHIN GROUP (ORDER BY k) FROM t', true),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k), percentile_cont(0.1) WITHIN GROUP (ORDER BY k) FROM t WHERE k > 100 AND k < 1500', true),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k DESC NULLS LAST) FROM t WHERE g = 1', true),
('SELECT percentile_cont(%a) WITHIN GROUP (ORDER BY k), count(*), max(k), count(*) + min(k) AS s FROM t WHERE g = 2 AND k > 20', true),
('SELECT percentile_cont(%f) WITHIN GROUP (ORDER BY w) FROM t', true),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY w DESC NULLS LAST) FROM t', true),
('SELECT percentile_cont(%f) WITHIN GROUP (ORDER BY n) FROM t', true),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY v COLLATE "C") FROM t', true),
('SELECT percentile_cont(%f) WITHIN GROUP (ORDER BY d) FROM t', true),
('SELECT percentile_cont(%a) WITHIN GROUP (ORDER BY d) FROM t', true),
('SELECT percentile_cont(%f) WITHIN GROUP (ORDER BY c) FROM t', true),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY id % 1000) FROM t', true),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k) + 1 AS p FROM t WHERE k > 500 ORDER BY 1 LIMIT 3', true),
('SELECT DISTINCT percentile_disc(%f) WITHIN GROUP (ORDER BY k) || ''!'', count(*), count(*) FROM t WHERE k > 500', true),
-- no rows
('SELECT p FROM generate_series(1999, 5000, 3001) x, LATERAL (SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k) FROM t WHERE k > x) y(p)', true),
('SELECT p FROM generate_series(1999, 5000, 3001) x, LATERAL (SELECT percentile_cont(%f) WITHIN GROUP (ORDER BY k) FROM t WHERE k > x) y(p)', true),
('SELECT p FROM generate_series(1999, 5000, 3001) x, LATERAL (SELECT percentile_cont(%a) WITHIN GROUP (ORDER BY k) FROM t WHERE k > x) y(p)', true),
('SELECT percentile_disc(''{}''::float8[]) WITHIN GROUP (ORDER BY k) FROM t', true),
-- subqueries, of which some see an outer query's columns
('SELECT x, (SELECT percentile_cont(%f) WITHIN GROUP (ORDER BY k) FROM t WHERE g = x) FROM generate_series(0, 3) x', true),
('SELECT x, p FROM generate_series(0, 3) x, LATERAL (SELECT percentile_disc(least(%f, x / 3.0)) WITHIN GROUP (ORDER BY k) + x FROM t WHERE g = x) y(p)', true),
('WITH y AS MATERIALIZED (SELECT percentile_cont(%a) WITHIN GROUP (ORDER BY k) AS p FROM t WHERE g = 1) SELECT p FROM y', true),
-- what is left to core
('SELECT g, percentile_disc(%f) WITHIN GROUP (ORDER BY k) FROM t GROUP BY g ORDER BY g', false),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k) FROM t HAVING count(*) > 0', false),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k) FILTER (WHERE id > 7) FROM t', false),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k), percentile_disc(0.5) WITHIN GROUP (ORDER BY w) FROM t', false),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k) FROM t WHERE random() >= 0', false),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k + 1) FROM t', false),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY t.k) FROM t JOIN t u USING (id)', false),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k) FROM (SELECT DISTINCT k FROM t) s', false),
('SELECT percentile_disc(%f) WITHIN GROUP (ORDER BY k) FROM t TABLESAMPLE SYSTEM (100)', false),
('SELECT percentile_disc(''[0:1]={0.1,0.5}''::float8[]) WITHIN GROUP (ORDER BY k) FROM t', false),
('SELECT percentile_disc(ARRAY[[0.1,0.5],[0.2,0.7]]) WITHIN GROUP (ORDER BY k) FROM t', false);

SELECT leaves > 1 FROM surfidx_meta('t_k');
\echo built, not all-visible
SELECT * FROM differences('{0.3,NULL}');
\echo all-visible
VACUUM ANALYZE t;
SELECT * FROM differences('{0,0.0000001,0.25,0.999999,1}');
\echo fractions that core refuses
SELECT * FROM differences('{-0.1,1.0000001,nan}');
\echo a delta, all-visible
INSERT INTO t SELECT 30000 + i, i * 61 % 2011, i % 3 FROM generate_series(1, 320) i;
VACUUM (INDEX_CLEANUP OFF) t;
SELECT * FROM differences('{0.3}');
\echo rows updated in place and elsewhere, and dead ones
UPDATE t SET v = '!' WHERE id % 20 = 3;
UPDATE t SET k = k + 1 WHERE id % 20 = 4;
DELETE FROM t WHERE id % 20 = 5;
SELECT * FROM differences('{0.3}');
\echo deleted and inserted by this transaction
BEGIN;
DELETE FROM t WHERE id % 20 = 6;
INSERT INTO t SELECT 40000 + i, i, 1 FROM generate_series(1, 50) i;
SELECT * FROM differences('{0.3}');
ROLLBACK;
\echo SERIALIZABLE
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM differences('{0.3}');
COMMIT;
\echo vacuumed and merged
VACUUM ANALYZE t;
SELECT * FROM differences('{0.3}');

-- by the rows that are read: those of the place
CREATE FUNCTION rows_read(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF, BUFFERS OFF) ' || query LOOP
		IF line ~ 'Scan.* using .* t_1' THEN
			RETURN NEXT regexp_replace(regexp_replace(line, '^.*-> *', ''), ' \(actual (rows=\d+).*$', ': \1');
		END IF;
	END LOOP;
END $$;
SELECT rows_read('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM t');
SELECT rows_read('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY k) FROM t WHERE g = 1');

-- fractions as parameters: one in any plan, arrays where their values are known
PREPARE one(float8) AS SELECT percentile_cont($1) WITHIN GROUP (ORDER BY k) FROM t WHERE g = 1;
PREPARE many(float8[]) AS SELECT percentile_disc($1) WITHIN GROUP (ORDER BY k) FROM t WHERE g = 1;
SET plan_cache_mode = force_generic_plan;
SELECT by_place('EXECUTE one(0.3)'), by_place('EXECUTE many(''{0.3,1}'')');
EXECUTE one(0.3);
EXECUTE one(NULL);
EXECUTE one(1.1);
EXECUTE many('{0.3,1}');
SET plan_cache_mode = force_custom_plan;
SELECT by_place('EXECUTE one(0.3)'), by_place('EXECUTE many(''{0.3,1}'')'), by_place('EXECUTE many(NULL)');
EXECUTE many('{0.3,1}');
EXECUTE many(NULL);
SET surfidx.offset_by_rank = off;
EXECUTE one(0.3);
EXECUTE many('{0.3,1}');
RESET surfidx.offset_by_rank;
RESET plan_cache_mode;

-- the second query tree shares nothing with the first, not even row marks
CREATE TABLE a (id int PRIMARY KEY, g int);
CREATE TABLE b (id int PRIMARY KEY, g int);
CREATE VIEW vb AS SELECT * FROM b;
INSERT INTO a VALUES (1, 1);
INSERT INTO b VALUES (1, 2);
SELECT by_place('SELECT * FROM a, vb, (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) p FROM t) s WHERE a.id = vb.id FOR UPDATE OF a, vb');
SELECT * FROM a, vb, (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) p FROM t) s WHERE a.id = vb.id FOR UPDATE OF a, vb;
SET client_min_messages = warning;
DROP TABLE a, b CASCADE;
RESET client_min_messages;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- an order of the cast's result that is not the column's
CREATE FUNCTION abs_lt(float8, float8) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs($1) < abs($2)';
CREATE FUNCTION abs_le(float8, float8) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs($1) <= abs($2)';
CREATE FUNCTION abs_eq(float8, float8) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs($1) = abs($2)';
CREATE FUNCTION abs_ge(float8, float8) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs($1) >= abs($2)';
CREATE FUNCTION abs_gt(float8, float8) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs($1) > abs($2)';
CREATE FUNCTION abs_cmp(float8, float8) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT btfloat8cmp(abs($1), abs($2))';
CREATE OPERATOR |<| (LEFTARG = float8, RIGHTARG = float8, FUNCTION = abs_lt, COMMUTATOR = |>|);
CREATE OPERATOR |<=| (LEFTARG = float8, RIGHTARG = float8, FUNCTION = abs_le, COMMUTATOR = |>=|);
CREATE OPERATOR |=| (LEFTARG = float8, RIGHTARG = float8, FUNCTION = abs_eq, COMMUTATOR = |=|);
CREATE OPERATOR |>=| (LEFTARG = float8, RIGHTARG = float8, FUNCTION = abs_ge, COMMUTATOR = |<=|);
CREATE OPERATOR |>| (LEFTARG = float8, RIGHTARG = float8, FUNCTION = abs_gt, COMMUTATOR = |<|);
CREATE OPERATOR CLASS abs_ops FOR TYPE float8 USING btree AS
	OPERATOR 1 |<|, OPERATOR 2 |<=|, OPERATOR 3 |=|, OPERATOR 4 |>=|, OPERATOR 5 |>|, FUNCTION 1 abs_cmp(float8, float8);
SELECT by_place('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY w::float8 USING |<|) FROM t WHERE w < ''nan''');
SELECT abs(percentile_disc(0.5) WITHIN GROUP (ORDER BY w::float8 USING |<|)) FROM t WHERE w < 'nan';
SELECT abs(percentile_disc(0.5) WITHIN GROUP (ORDER BY w::float8 USING OPERATOR(pg_catalog.<))) FROM t WHERE w < 'nan';

-- a function that was inlined to know the array is replaced: prepared plans notice
CREATE FUNCTION fractions() RETURNS float8[] STABLE LANGUAGE sql AS $$SELECT '{0,0.9}'::float8[]$$;
PREPARE inlined AS SELECT percentile_disc(fractions()) WITHIN GROUP (ORDER BY k) FROM t WHERE g = 1;
SELECT by_place('EXECUTE inlined');
EXECUTE inlined;
CREATE OR REPLACE FUNCTION fractions() RETURNS float8[] STABLE LANGUAGE sql AS $$SELECT '{1}'::float8[]$$;
EXECUTE inlined;
DEALLOCATE inlined;

-- a fraction is computed once
CREATE FUNCTION fraction(float8) RETURNS float8 STABLE LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE 'computed'; RETURN $1; END $$;
SELECT by_place('SELECT percentile_cont(fraction(0.5)) WITHIN GROUP (ORDER BY k) FROM t');
SELECT percentile_cont(fraction(0.5)) WITHIN GROUP (ORDER BY k) FROM t;
SELECT x, (SELECT percentile_disc(fraction(x / 4.0)) WITHIN GROUP (ORDER BY k) FROM t) FROM generate_series(0, 1) x;

-- rights to execute: the function that the query names, and no other
CREATE ROLE percentile_user;
GRANT SELECT ON t TO percentile_user;
BEGIN;
REVOKE EXECUTE ON FUNCTION percentile_disc(float8[], anyelement) FROM PUBLIC;
SET LOCAL ROLE percentile_user;
SELECT percentile_disc('{0.5}'::float8[]) WITHIN GROUP (ORDER BY k) FROM t;
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION percentile_disc(float8, anyelement), percentile_cont(float8, float8), count(), floor(float8), ceil(float8), unnest(anyarray), int8(float8), float8mul FROM PUBLIC;
SET LOCAL ROLE percentile_user;
SELECT percentile_disc('{0.5}'::float8[]) WITHIN GROUP (ORDER BY k), percentile_cont('{0.5}'::float8[]) WITHIN GROUP (ORDER BY k) FROM t;
ROLLBACK;
DROP OWNED BY percentile_user;
DROP ROLE percentile_user;

-- a value beyond the cast's range is refused where it is at the place
INSERT INTO t (n) VALUES (1e400);
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) > 0 FROM t;
SELECT percentile_cont(1) WITHIN GROUP (ORDER BY n) FROM t WHERE n < 'nan';
DELETE FROM t WHERE n = 1e400;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- a view's owner reads the table, and the columns of it are asked for
CREATE ROLE percentile_reader;
CREATE VIEW median AS SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) AS m FROM t WHERE g = 1;
GRANT SELECT ON median TO percentile_reader;
GRANT SELECT (k) ON t TO percentile_reader;
SET ROLE percentile_reader;
SELECT by_place('SELECT m FROM median'), (SELECT m FROM median) IS NOT NULL;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) IS NOT NULL FROM t;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM t WHERE g = 1;
RESET ROLE;
-- row-level security is left to core
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON t USING (k < 10);
SET ROLE percentile_reader;
SELECT percentile_disc(1) WITHIN GROUP (ORDER BY k) FROM t;
RESET ROLE;
DROP VIEW median;
DROP TABLE t, asked;
DROP OWNED BY percentile_reader;
DROP ROLE percentile_reader;
DROP FUNCTION by_place, answer, differences, rows_read, fractions, fraction;
DROP OPERATOR FAMILY abs_ops USING btree;
DROP OPERATOR |<| (float8, float8), |<=| (float8, float8), |=| (float8, float8), |>=| (float8, float8), |>| (float8, float8);
DROP FUNCTION abs_lt, abs_le, abs_eq, abs_ge, abs_gt, abs_cmp;
