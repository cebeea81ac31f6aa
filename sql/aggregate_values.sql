-- count(column), sum, avg, min, max computed by the index: what is answered, what is declined, and that the values are core's
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE TABLE t (id int NOT NULL, b int NOT NULL, s text DEFAULT 'new' COLLATE "C", k int, big int8, small int2, num numeric, f float8, day date, at timestamptz)
	WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.k := nullif(NEW.id % 500, 7);
	NEW.big := nullif(NEW.id % 100, 5) * CASE WHEN NEW.id % 2 = 0 THEN 92233720368547758 ELSE -92233720368547758 END;
	NEW.small := NEW.id % 30000;
	NEW.num := CASE NEW.id % 3 WHEN 0 THEN NULL WHEN 1 THEN NEW.id % 77 ELSE (NEW.id % 77)::numeric(10, 2) END;
	NEW.f := NEW.id % 33 / 7.0;
	NEW.day := '2000-01-01'::date + NEW.id % 1000;
	NEW.at := '2000-01-01'::timestamptz + NEW.id * interval '1 hour';
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT g, g % 9, 'key ' || g % 300 FROM generate_series(1, 20000) g;
CREATE INDEX t_id ON t USING surfidx (id);
CREATE INDEX t_kb ON t USING surfidx (k DESC, b, big) INCLUDE (small, num);
CREATE INDEX t_s ON t USING surfidx (s, big NULLS FIRST);
CREATE INDEX t_big ON t USING surfidx (big DESC NULLS LAST, small, f);
CREATE INDEX t_at ON t USING surfidx (at, day DESC);
VACUUM ANALYZE t;

-- answered
EXPLAIN (COSTS OFF) SELECT sum(id), avg(id), min(id), max(id), count(id), count(*) FROM t WHERE id > 10;
EXPLAIN (COSTS OFF) SELECT sum(b) + max(k) AS x FROM t WHERE k BETWEEN 3 AND 300 HAVING avg(b) > 1;
INSERT INTO asked (query) VALUES
	('SELECT sum(id), avg(id), min(id), max(id), count(*) FROM t'),
	('SELECT sum(id), avg(id), min(id), max(id), count(*) FROM t WHERE id BETWEEN 100 AND 17000'),
	('SELECT sum(id), avg(id), count(*) FROM t WHERE id < 0'),
	('SELECT max(id), min(id), sum(id) FROM t WHERE id < 0'),
	('SELECT count(k) FROM t'), ('SELECT count(k), count(*) FROM t WHERE k IS NULL'), ('SELECT count(k), count(*) FROM t WHERE k > 400'),
	('SELECT sum(k), avg(k), count(k), min(k), max(k) FROM t'),
	('SELECT sum(b), avg(b), min(b), max(b) FROM t WHERE k = 3'),
	('SELECT sum(b), min(big), max(big), sum(big), avg(big), count(big) FROM t WHERE k BETWEEN 5 AND 99'),
	('SELECT sum(small), avg(small), min(small), max(small), count(small), min(num)::numeric(10, 2), max(num)::numeric(10, 2), count(num) FROM t WHERE k > 250'),
	('SELECT sum(big), avg(big), min(big), max(big), count(big), sum(small), avg(small), min(small), max(small) FROM t WHERE big > 0'),
	('SELECT sum(big), avg(big) FROM t WHERE big < 0'), ('SELECT sum(big), avg(big), count(f), min(f), max(f) FROM t'),
	('SELECT min(s), max(s), count(s), count(*), sum(big), max(big) FROM t'), ('SELECT min(s), max(s), count(*) FROM t WHERE s > ''key 2'''),
	('SELECT min(big), max(big), count(*) FROM t WHERE s = ''key 7'''),
	('SELECT min(day), max(day), count(day), min(at), max(at), count(*) FROM t'), ('SELECT max(day), count(day) FROM t WHERE at > ''2000-03-01'''),
	('SELECT sum(id) + count(*) AS x, max(id)::text || ''!'' AS y, sum(id) / nullif(count(*), 0) AS z FROM t WHERE id > 10 HAVING max(id) > 5'),
	('SELECT sum(id) FROM t WHERE id > 10 HAVING avg(id) < 5'),
	('SELECT sum(id::int4), sum(id) FROM t WHERE id > 10'),
	('SELECT sum(b), max(b) FROM t WHERE k = ANY (ARRAY[1, 5, 5, 400, 17])'),
	('SELECT sum(b), max(big), count(*) FROM t WHERE k > 400 AND b > 3'),
	('SELECT (SELECT sum(b) FROM t WHERE k = 3) AS x, (SELECT max(id) - min(id) + count(*) FROM t WHERE id > 50) AS y'),
	('WITH c AS MATERIALIZED (SELECT sum(id) AS n FROM t WHERE id > 5) SELECT n FROM c WHERE n > 3'),
	('SELECT g, (SELECT sum(b) + count(*) FROM t WHERE k < g) AS n FROM generate_series(1, 5) g'),
	('SELECT g, (SELECT max(b) + count(*) FROM t WHERE k = ANY (ARRAY[g, 2 * g])) AS n FROM generate_series(1, 5) g'),
	('SELECT sum(id) OVER () AS x, count(*) AS n FROM (SELECT sum(id) AS id, count(*) FROM t WHERE id > 100) x GROUP BY id');
\set ECHO none
\i :states
\set ECHO all

-- declined: core's plan stays
INSERT INTO t SELECT g, g % 9, 'key ' || g % 300 FROM generate_series(3001, 20000) g;
CREATE INDEX t_num ON t USING surfidx (num, f);
VACUUM ANALYZE;
INSERT INTO declined (why, query) VALUES
	('volatile condition', 'SELECT sum(id) FROM t WHERE id > 5 AND id > random()'),
	('volatile', 'SELECT sum(id) FROM t WHERE id > 5 AND random() < 2'),
	('FILTER by a subquery', 'SELECT sum(id) FILTER (WHERE id > (SELECT 5)) FROM t WHERE id > 3'),
	('DISTINCT', 'SELECT sum(DISTINCT id) FROM t WHERE id > 3'),
	('another ORDER BY', 'SELECT sum(id ORDER BY id DESC) FROM t WHERE id > 3'),
	('grouping sets', 'SELECT sum(id) FROM t WHERE id > 3 GROUP BY GROUPING SETS ((), ())'),
	('join', 'SELECT sum(t.id) FROM t JOIN t u USING (id) WHERE t.id < 50'),
	('sample', 'SELECT sum(id) FROM t TABLESAMPLE system (100)'),
	('a column that the index has not', 'SELECT sum(id), sum(b) FROM t WHERE id > 3'),
	('the whole row', 'SELECT count(t) FROM t WHERE id > 3'), ('a system column', 'SELECT max(ctid) FROM t WHERE id > 3'),
	('ordered set', 'SELECT mode() WITHIN GROUP (ORDER BY id) FROM t WHERE id > 3'),
	('condition that is never true', 'SELECT sum(id) FROM t WHERE id > 5 AND false');
SELECT * FROM declined();
SELECT count(*) FROM declined;
-- row-level security
CREATE ROLE surfidx_agg_reader;
GRANT SELECT ON t TO surfidx_agg_reader;
CREATE POLICY hide ON t USING (id > 100);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
SET ROLE surfidx_agg_reader;
SELECT sum(id) FROM t WHERE id < 200;
EXPLAIN (COSTS OFF) SELECT sum(id) FROM t WHERE id < 200;
RESET ROLE;
ALTER TABLE t DISABLE ROW LEVEL SECURITY;
DROP POLICY hide ON t;
-- the right to call an aggregate is needed by an index, too
BEGIN;
REVOKE EXECUTE ON FUNCTION sum(int4) FROM PUBLIC;
SET LOCAL ROLE surfidx_agg_reader;
SELECT sum(id) FROM t WHERE id > 3;
ROLLBACK;
-- prepared, through new rows, REINDEX and the loss of its index
SET plan_cache_mode = force_generic_plan;
PREPARE q(int, int) AS SELECT sum(id), count(*), max(id) FROM t WHERE id > $1 AND id < $2;
EXPLAIN (COSTS OFF) EXECUTE q(1, 2);
EXECUTE q(100, 200);
EXECUTE q(100, NULL);
REINDEX INDEX t_id;
EXECUTE q(100, 300);
DROP INDEX t_id;
EXECUTE q(100, 300);
CREATE INDEX t_id ON t USING surfidx (id);
EXECUTE q(100, 300);
DEALLOCATE q;
RESET plan_cache_mode;
BEGIN;
DECLARE cur SCROLL CURSOR FOR SELECT sum(id), min(id), max(id), count(*) FROM t WHERE id < 100;
FETCH 1 FROM cur;
FETCH 1 FROM cur;
FETCH BACKWARD 1 FROM cur;
COMMIT;
DO $$
DECLARE
	n numeric;
	total numeric := 0;
BEGIN
	FOR i IN 1 .. 20 LOOP
		SELECT sum(id) + max(id) + count(*) INTO n FROM t WHERE id <= i;
		total := total + n;
	END LOOP;
	RAISE NOTICE '%', total;
END $$;

-- sums beyond 64 bits, and their display scale
CREATE TABLE sums (i int8, j int8 NOT NULL);
INSERT INTO sums SELECT 9223372036854775807 - g % 3, -9223372036854775807 - g % 2 FROM generate_series(1, 3000) g;
CREATE INDEX sums_i ON sums USING surfidx (i);
CREATE INDEX sums_j ON sums USING surfidx (j) INCLUDE (i);
VACUUM ANALYZE sums;
TRUNCATE asked;
INSERT INTO asked (query) VALUES ('SELECT sum(i), avg(i), count(*) FROM sums'), ('SELECT sum(j), avg(j), sum(i), avg(i), min(i) FROM sums WHERE j < 0'),
	('SELECT sum(i) FROM sums WHERE i = 9223372036854775807'), ('SELECT sum(j), max(j), count(*) FROM sums WHERE j <= -9223372036854775807');
SELECT * FROM differences();
SELECT sum(i), avg(i), count(*) FROM sums;

-- min and max of every type that has them, as a leading, a later and an INCLUDE column; with NULLs; of values that are equal and look different
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small_number AS int CHECK (VALUE < 100000);
CREATE TABLE kinds (type text, value text);
INSERT INTO kinds VALUES ('int2', 'g::int2'), ('int4', 'g'), ('int8', 'g * 5000000000'), ('numeric', '(g % 50)::numeric(10, 3)'), ('float4', 'g / 7.0'), ('float8', '-g / 7.0'),
	('money', 'g::money'), ('oid', '(g::int8 * 214748)::oid'), ('text', '''a'' || g'), ('varchar', '''b'' || g % 7'), ('bpchar', '''c'' || g % 5'), ('char(5)', '''d'' || g % 99'),
	('date', '''2000-01-01''::date + g'), ('time', '''00:00''::time + g * interval ''1 minute'''), ('timetz', '''00:00+00''::timetz + g * interval ''1 minute'''),
	('timestamp', '''2000-01-01''::timestamp + g * interval ''1 second'''), ('timestamptz', '''1900-01-01''::timestamptz + g * interval ''1 day'''),
	('interval', 'g * interval ''1 hour'''), ('inet', '''10.0.0.0''::inet + g'), ('mood', '(ARRAY[''sad'', ''ok'', ''happy''])[1 + g % 3]::mood'),
	('int4[]', 'ARRAY[g % 10, g]'), ('small_number', 'g'), ('text COLLATE "C"', '''e'' || g'), ('xid8', 'g::text::xid8'), ('pg_lsn', '''0/0''::pg_lsn + g');
CREATE FUNCTION each_type() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	k		record;
	line	text;
BEGIN
	FOR k IN SELECT * FROM kinds LOOP
		EXECUTE format('CREATE TABLE kind (g int NOT NULL, v %s, d %s)', k.type, k.type);
		EXECUTE format('INSERT INTO kind SELECT g %% 10, CASE WHEN g %% 11 > 0 THEN %1$s END, CASE WHEN g %% 13 > 0 THEN %1$s END FROM generate_series(1, 3000) g', k.value);
		CREATE INDEX kind_v ON kind USING surfidx (v, g);
		CREATE INDEX kind_g ON kind USING surfidx (g, d DESC NULLS LAST) INCLUDE (v);
		ANALYZE kind;
		TRUNCATE asked;
		INSERT INTO asked (query) VALUES ('SELECT min(v), max(v), count(v), count(*) FROM kind'), ('SELECT min(d), max(d), count(d), min(v), max(v), count(v) FROM kind WHERE g > 3'),
			('SELECT min(d), max(d), count(d), min(v), count(v) FROM kind WHERE g = 3'), ('SELECT g, min(d), max(d), count(d), min(v), max(v), count(v) FROM kind GROUP BY g');
		BEGIN
			FOR line IN SELECT * FROM differences() LOOP
				RETURN NEXT k.type || ': ' || line;
			END LOOP;
		EXCEPTION WHEN undefined_function THEN
			RETURN NEXT k.type || ': ' || sqlerrm;
		END;
		DROP TABLE kind;
	END LOOP;
END $$;
SELECT * FROM each_type();

-- integers of each width, either direction, with and without duplicates, alone and beside others: table all-visible, rows hidden, and with a delta
CREATE TABLE numbers (n int NOT NULL, big int8 NOT NULL, whole int4 NOT NULL, small int2 NOT NULL, few int2 NOT NULL) WITH (autovacuum_enabled = off);
CREATE FUNCTION each_integer() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	columns	text;
	line	text;
BEGIN
	FOREACH columns IN ARRAY ARRAY['big', 'big DESC', 'whole', 'whole DESC', 'small', 'small DESC', 'few', 'few DESC', 'few, big', 'few DESC, big DESC',
		'whole DESC, small', 'small, whole DESC, few', 'few, small DESC', 'n, few DESC', 'n DESC, big DESC'] LOOP
		EXECUTE format('CREATE INDEX numbers_i ON numbers USING surfidx (%s)', columns);
		TRUNCATE asked;
		INSERT INTO asked (query) SELECT replace(q, '$', c)
			FROM split_part(replace(columns, ' DESC', ''), ', ', 1) c,
				unnest(ARRAY['SELECT sum($) FROM numbers', 'SELECT avg($), count($), count(*) FROM numbers', 'SELECT sum($), min($), max($) FROM numbers',
					'SELECT sum($), count(*) FROM numbers WHERE $ BETWEEN -1000 AND 20000', 'SELECT sum($), max($) FROM numbers WHERE $ < 3',
					'SELECT $, count(*), sum($), max($) FROM numbers GROUP BY $', 'SELECT DISTINCT $ FROM numbers', 'SELECT count(DISTINCT $) FROM numbers']) q;
		INSERT INTO asked (query) SELECT format('SELECT sum(%1$s), min(%1$s), max(%1$s), avg(%1$s), count(%1$s) FROM numbers', c)
			FROM unnest(regexp_split_to_array(replace(columns, ' DESC', ''), ', ')) c;
		FOR line IN SELECT * FROM differences() LOOP
			RETURN NEXT columns || ': ' || line;
		END LOOP;
		DROP INDEX numbers_i;
	END LOOP;
END $$;
INSERT INTO numbers SELECT g, hashint8extended(g, 1), hashint4(g), hashint4(g) >> 16, g % 7 FROM generate_series(-3000, 9000) g;
VACUUM ANALYZE numbers;
SELECT * FROM each_integer();
DELETE FROM numbers WHERE n % 50 = 0 AND n > 0;
SELECT * FROM each_integer();
CREATE INDEX numbers_few ON numbers USING surfidx (few, big);
CREATE INDEX numbers_whole ON numbers USING surfidx (whole DESC);
VACUUM ANALYZE numbers;
INSERT INTO numbers SELECT g, hashint8extended(g, 1), hashint4(g), hashint4(g) >> 16, g % 7 FROM generate_series(9001, 9999) g;
TRUNCATE asked;
INSERT INTO asked (query) VALUES ('SELECT sum(few), sum(big), max(big), avg(big), count(*) FROM numbers'), ('SELECT sum(whole), min(whole), avg(whole) FROM numbers'),
	('SELECT sum(big), min(big) FROM numbers WHERE few = 3'), ('SELECT whole, count(*), sum(whole) FROM numbers GROUP BY whole'), ('SELECT few, sum(big), avg(big), min(big) FROM numbers GROUP BY few'),
	('SELECT DISTINCT whole FROM numbers WHERE whole < 1000000000 ORDER BY whole DESC LIMIT 700');
SELECT * FROM differences();
DROP TABLE t, declined, asked, sums, kinds, numbers;
DROP FUNCTION fill, plan_of, analyzed, rows_of, differences, declined, each_type, each_integer;
DROP TYPE mood, small_number;
DROP ROLE surfidx_agg_reader;
