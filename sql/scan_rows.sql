-- Index-only scans that take rows out of decoded blocks (surfidx.rows_by_block) return what they return row by row, in the same order
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
CREATE SCHEMA scan_rows;
SET search_path = scan_rows, public;
SET surfidx.aggregates = off;
SET surfidx.auto_merge = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;
SET timezone = 'UTC';
SET extra_float_digits = 1;

-- Columns of each way to a value: integers, floats, 16 bytes, short text; what is decoded; several at once
CREATE TABLE src AS SELECT i AS id, (i * 7919::int8 - 9000000) AS i8, (i * 37 % 1000 - 500)::int4 AS i4, (i % 300)::int2 AS i2, (i * 1.5 - 3000)::float8 AS f8, (i % 700 - 350)::float4 AS f4,
	md5(i::text)::uuid AS u, 'key ' || lpad((i * 7919 % 700)::text, 4, '0') COLLATE "C" AS t, CASE WHEN i % 500 = 7 THEN repeat('long ' || i, 40) ELSE 'key ' || i END COLLATE "C" AS tl, (i % 977)::numeric(8, 2) AS n,
	nullif(i % 50, 13) AS x, timestamptz '2026-01-01' + i * interval '1 hour' AS ts, i % 3 = 0 AS b, ('n' || i % 100)::name AS nm,
	CASE i % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' WHEN 2 THEN 0.000 WHEN 3 THEN (10::numeric ^ 300)::numeric + i WHEN 4 THEN i * (10::numeric ^ -70) WHEN 5 THEN -1234567890123456789.5 * i WHEN 6 THEN i::numeric(10, 1)
		WHEN 7 THEN i::numeric(90, 70) ELSE round(((i * 7919 % 200003) - 100000) / (10.0 ^ (i % 6)), i % 7) END AS nn,
	CASE i % 20 WHEN 0 THEN 0 WHEN 1 THEN '-0' WHEN 2 THEN 'NaN' WHEN 3 THEN '-Infinity' ELSE i * 0.25 - 300 END::float8 AS fz, nullif(i % 9 - 4, 3)::float4 AS fy,
	CASE WHEN i % 7 = 0 THEN ('fe80::' || to_hex(i) || CASE WHEN i % 2 = 0 THEN '/64' ELSE '' END) ELSE '10.' || i % 250 || '.' || i % 13 || '.1/' || 8 + i % 25 END::inet AS ip,
	('08:00:2b:01:' || to_char(i / 100, 'FM00') || ':' || to_char(i % 100, 'FM00'))::macaddr AS mac, make_interval(months => i % 5, days => i % 31, hours => i % 50 - 25) AS iv, (i % 1009)::bit(11) AS bt,
	CASE WHEN i % 300 = 7 THEN decode(repeat('00', 500), 'hex') ELSE decode(lpad(to_hex(i + 65536 * (i % 3)), 6, '0'), 'hex') END AS ba, ('c' || i % 333)::char(9) AS ch, ('c' || i % 333)::char(200) AS cw,
	ARRAY[i % 20, i % 7] AS ar, (i % 1440 * interval '1 min')::time AT TIME ZONE 'UTC' AS tz,
	CASE WHEN i % 900 = 1 THEN repeat(md5(i::text), 60) ELSE 'Straße ' || i % 321 END COLLATE "und-x-icu" AS tu, CASE WHEN i % 40 <> 9 THEN 'Tag ' || i % 123 || repeat('x', i % 140) END AS tv
	FROM generate_series(1, 4000) i;
CREATE TABLE columns (c text, cols text, include text DEFAULT '');
INSERT INTO columns (c, cols) VALUES ('i8', 'i8'), ('i8d', 'i8 DESC'), ('i4', 'i4'), ('i2', 'i2'), ('f8', 'f8'), ('f8d', 'f8 DESC'), ('f4', 'f4'), ('u', 'u'), ('ud', 'u DESC'), ('t', 't'), ('td', 't DESC'), ('tl', 'tl'),
	('n', 'n'), ('x', 'x'), ('ts', 'ts'), ('b', 'b'), ('nm', 'nm'), ('two', 'i4, i8'), ('three', 'i2, u, f4'), ('mixed', 'i4 DESC, t'), ('nulls', 'x, i4'),
	('nn', 'nn'), ('nnd', 'nn DESC'), ('fz', 'fz'), ('floats', 'fz DESC, fy, i2'), ('ip', 'ip'), ('ipd', 'ip DESC'), ('mac', 'mac'), ('macs', 'mac DESC, mac'), ('iv', 'iv'), ('spans', 'iv DESC, nn, i4'), ('bt', 'bt'), ('btd', 'bt DESC'),
	('ba', 'ba'), ('ch', 'ch'), ('chd', 'ch DESC, b'), ('cw', 'cw'), ('ar', 'ar'), ('tz', 'tz'), ('tu', 'tu'), ('tus', 'tu, i2'), ('tv', 'tv'), ('tvs', 'tv DESC, n DESC, tl'), ('nms', 'nm, t, i2'),
	('many', 'b, i2, tv NULLS FIRST, n, u, ip, iv, ts, x NULLS FIRST');
INSERT INTO columns VALUES ('in_i', 'i4', 'i2, u, ts'), ('in_t', 't', 'tv, n, ip, x'), ('in_l', 'nn DESC, tv', 'tl, ar, f8, nm, mac'), ('in_b', 'ip', 'ba, bt, cw, iv');
CREATE VIEW states AS SELECT unnest(ARRAY['built', 'delta', 'half', 'runs']) AS state;
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT state, c, cols, include, state || '_' || c AS tab FROM states, columns LOOP
		EXECUTE format('CREATE TABLE %I (LIKE src) WITH (autovacuum_enabled = off)', r.tab);
		EXECUTE format('INSERT INTO %I SELECT * FROM src WHERE %s', r.tab, CASE r.state WHEN 'built' THEN 'true' WHEN 'delta' THEN 'false' WHEN 'half' THEN 'id % 2 = 0' ELSE 'id % 5 = 0' END);
		EXECUTE format('CREATE INDEX ON %I USING surfidx (%s)%s', r.tab, r.cols, ' INCLUDE (' || nullif(r.include, '') || ')');
		CASE r.state
			WHEN 'delta' THEN EXECUTE format('INSERT INTO %I SELECT * FROM src', r.tab);
			WHEN 'half' THEN EXECUTE format('INSERT INTO %I SELECT * FROM src WHERE id %% 2 = 1', r.tab);
			WHEN 'runs' THEN
				EXECUTE format('ALTER INDEX %I SET (delta_size = 64, run_ratio = 10, merge_ratio = 10)', (SELECT indexrelid::regclass FROM pg_index WHERE indrelid = r.tab::regclass));
				EXECUTE format('INSERT INTO %I SELECT * FROM src WHERE id %% 5 = 1', r.tab);
			ELSE NULL;
		END CASE;
	END LOOP;
END $$;
SELECT format('VACUUM ANALYZE %I', state || '_' || c) FROM states, columns WHERE state <> 'delta' \gexec
-- a delta in front of pages that are all-visible
INSERT INTO runs_i8 SELECT * FROM src WHERE id % 5 = 2;
INSERT INTO runs_t SELECT * FROM src WHERE id % 5 = 2;

-- An answer's rows in their order, how they were found, and how many were looked at in the table
CREATE FUNCTION answer(q text, OUT rows text, OUT plan text, OUT fetched text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	EXECUTE 'SELECT count(*) || '' '' || coalesce(md5(string_agg(r::text, ''|'')), '''') FROM (' || q || ') r' INTO rows;
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || q LOOP
		plan := coalesce(plan, '') || coalesce(substring(line FROM '(Index Only Scan|Sort|Seq Scan)'), '');
		fetched := coalesce(fetched || '; ', '') || substring(line FROM 'Heap Fetches: \d+');
	END LOOP;
END $$;
CREATE FUNCTION compare(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	one record;
	block record;
BEGIN
	PERFORM set_config('surfidx.rows_by_block', 'off', false);
	one := answer(q);
	PERFORM set_config('surfidx.rows_by_block', 'on', false);
	block := answer(q);
	IF block.plan !~ 'Index Only Scan' OR block.plan ~ 'Sort' THEN
		RETURN 'plan: ' || block.plan;
	END IF;
	RETURN CASE WHEN one = block THEN 'ok' ELSE format('%s, should be %s', block, one) END;
END $$;
CREATE FUNCTION opposite(cols text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(CASE WHEN c ~ 'DESC' THEN replace(c, ' DESC', '') WHEN c ~ 'NULLS FIRST' THEN replace(c, 'NULLS FIRST', 'DESC NULLS LAST') ELSE c || ' DESC' END, ', ' ORDER BY n) FROM regexp_split_to_table(cols, ', ') WITH ORDINALITY s (c, n)
$$;
CREATE FUNCTION compare_all() RETURNS TABLE (state text, asked bigint, verdicts text) LANGUAGE sql AS $$
	SELECT state, count(*), string_agg(DISTINCT v, ' ' ORDER BY v) FROM (SELECT state, compare(format('SELECT %s FROM %I ORDER BY %s', regexp_replace(cols, ' (DESC|NULLS FIRST)', '', 'g') || coalesce(', ' || nullif(include, ''), ''), state || '_' || c, o)) AS v
		FROM states, columns, unnest(ARRAY[cols, opposite(cols)]) o) r
	GROUP BY state ORDER BY state
$$;
SELECT * FROM compare_all();

-- Pages that are not all-visible any more, rows that nobody sees, rows in their places
DELETE FROM built_i8 WHERE id BETWEEN 1000 AND 1400 OR id % 1000 = 3;
DELETE FROM built_t WHERE id BETWEEN 1000 AND 1400 OR id % 1000 = 3;
UPDATE built_two SET i4 = i4 + 1 WHERE id % 700 = 3;
UPDATE runs_n SET id = id + 1 WHERE id % 700 = 3;
DELETE FROM built_many WHERE id % 900 BETWEEN 1 AND 200;
UPDATE built_in_t SET n = n + 1 WHERE id % 700 = 3;
DELETE FROM half_nn WHERE id % 300 = 3;
DELETE FROM delta_tl WHERE id % 10 = 3;
SELECT * FROM compare_all();
SELECT compare('SELECT i8 FROM built_i8 WHERE i8 > 0 ORDER BY i8') AS again, count(*) FROM built_i8;
VACUUM built_i8, built_t, built_two, runs_n, delta_tl, built_many, half_nn;
INSERT INTO built_i8 SELECT * FROM src WHERE id BETWEEN 1000 AND 1400;
SELECT * FROM compare_all();

-- What a LIMIT asks for is decoded at once: all of it, no more than that, and more later where it says too little
SELECT state, count(*) AS asked, string_agg(DISTINCT v, ' ' ORDER BY v) AS verdicts
	FROM (SELECT state, compare(format('SELECT %s FROM %I ORDER BY %s LIMIT %s', regexp_replace(cols, ' (DESC|NULLS FIRST)', '', 'g') || coalesce(', ' || nullif(include, ''), ''), state || '_' || c, o, l)) AS v
		FROM states, columns, unnest(ARRAY[cols, opposite(cols)]) o, unnest(ARRAY['20 OFFSET (SELECT 300)', '100 OFFSET 200']) l) r
	GROUP BY state ORDER BY state;

-- Ranges, lists, conditions on later columns, what is left to the node, what is computed from a row, few rows of many
SELECT compare(q), q FROM (VALUES ('SELECT i8 FROM built_i8 WHERE i8 BETWEEN 100000 AND 20000000 ORDER BY i8'), ('SELECT i4, i8 FROM built_two WHERE i4 IN (3, 70, 99, 400) ORDER BY i4, i8'),
	('SELECT i8 FROM built_two WHERE i4 > 100 AND i8 % 5 = 2'), ('SELECT i4 * 2, i8 + i4 FROM half_two WHERE i4 > -100 AND i4 + i8 > 7'), ('SELECT i4 FROM built_two WHERE i4 >= 0 AND i8 > 30000000'),
	('SELECT t || ''x'' FROM built_t WHERE t > ''key 0100'''), ('SELECT length(tl) FROM delta_tl WHERE tl LIKE ''%9%'''), ('SELECT u FROM half_u ORDER BY u LIMIT 700 OFFSET 20'),
	('SELECT x FROM built_nulls WHERE x IS NULL'), ('SELECT x, i4 FROM built_nulls WHERE x > 40 AND i4 IS NOT NULL'), ('SELECT max(f8), min(f8) FROM (SELECT f8 FROM built_f8 ORDER BY f8 DESC LIMIT 300) r'),
	('SELECT 1 FROM built_i8 WHERE i8 > 0'), ('SELECT 1 FROM runs_two WHERE i4 > 0'), ('SELECT count(*) FROM (SELECT DISTINCT t FROM built_t) r'),
	('SELECT i4, row_number() OVER (ORDER BY i4), lag(i4, 300) OVER (ORDER BY i4) FROM half_i4'), ('SELECT g, (SELECT sum(i8) FROM built_two WHERE i4 = g AND i8 > 0) FROM generate_series(1, 40) g')) v (q);
-- two scans of one index side by side, the inner one again for each row; merge joins that go back to a mark
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT compare('SELECT a.i4, b.i8 FROM built_i4 a JOIN built_two b ON b.i4 = a.i4 AND a.i4 BETWEEN 10 AND 60');
SELECT compare('SELECT a.t, g FROM generate_series(1, 30) g, LATERAL (SELECT t FROM built_t WHERE t > ''key 0'' || g || ''00'' ORDER BY t LIMIT 60) a');
RESET enable_mergejoin;
SET enable_nestloop = off;
SELECT compare('SELECT a.i4, b.i4 FROM built_i4 a JOIN half_i4 b ON a.i4 = b.i4');
SELECT compare('SELECT a.t, b.t FROM built_t a JOIN half_t b ON a.t = b.t WHERE a.t > ''key 0300''');
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_material;
RESET enable_memoize;

-- A cursor may turn round anywhere
CREATE FUNCTION zigzag(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c		refcursor;
	r		record;
	all_rows text[];
	at		int := 0;
	n		int;
	seed	int := 4711;
	run		int := 0;
	forward bool := true;
BEGIN
	EXECUTE 'SELECT array_agg(r::text) FROM (' || q || ') r' INTO all_rows;
	n := cardinality(all_rows);
	OPEN c SCROLL FOR EXECUTE q;
	FOR i IN 1..6000 LOOP
		IF run = 0 THEN
			seed := (seed::bigint * 1103515245 + 12345) % 2147483648;
			forward := (seed >> 8) % 300 < 170;
			run := 1 + (seed >> 16) % 60;
		END IF;
		run := run - 1;
		IF forward THEN
			FETCH NEXT FROM c INTO r;
			at := least(at + 1, n + 1);
		ELSE
			FETCH PRIOR FROM c INTO r;
			at := greatest(at - 1, 0);
		END IF;
		IF found <> (at BETWEEN 1 AND n) OR found AND r::text <> all_rows[at] THEN
			RETURN format('step %s: at %s of %s: %s', i, at, n, r);
		END IF;
	END LOOP;
	RETURN 'ok';
END $$;
SELECT state, zigzag(format('SELECT i8 FROM %I ORDER BY i8', state || '_i8')), zigzag(format('SELECT t FROM %I WHERE t > ''key 0200'' ORDER BY t DESC', state || '_t')), zigzag(format('SELECT i4, i8 FROM %I WHERE i4 IN (7, 44, 45, 300) ORDER BY i4, i8', state || '_two')) FROM states;

SELECT state, zigzag(format('SELECT t FROM %I ORDER BY t DESC LIMIT 150', state || '_t')), zigzag(format('SELECT tu FROM %I ORDER BY tu LIMIT 40 OFFSET (SELECT 50)', state || '_tu')) FROM states;

-- A row that an index-only scan stands on can be deleted there
CREATE FUNCTION delete_current(n int) RETURNS SETOF int8 LANGUAGE plpgsql AS $$
DECLARE
	c	CURSOR FOR SELECT i8 FROM built_i8 ORDER BY i8;
	v	int8;
BEGIN
	OPEN c;
	MOVE FORWARD n FROM c;
	FOR i IN 1..3 LOOP
		FETCH c INTO v;
		DELETE FROM built_i8 WHERE CURRENT OF c;
		RETURN NEXT v;
	END LOOP;
END $$;
BEGIN;
CREATE TEMP TABLE gone AS SELECT v FROM delete_current(300) v;
SELECT v, (SELECT count(*) FROM built_i8 WHERE i8 = v) AS there, (SELECT count(*) FROM src WHERE i8 = v) AS was FROM gone;
ROLLBACK;

-- An open cursor sees neither what is inserted nor what is deleted meanwhile
BEGIN;
DECLARE c CURSOR FOR SELECT i8 FROM built_i8 ORDER BY i8;
MOVE 200 FROM c;
DELETE FROM built_i8 WHERE id % 2 = 0;
INSERT INTO built_i8 SELECT * FROM src WHERE id % 3 = 0;
CREATE FUNCTION rest_of_c() RETURNS TABLE (rows bigint, total numeric) LANGUAGE plpgsql AS $$
DECLARE
	c	refcursor := 'c';
	v	int8;
BEGIN
	rows := 0;
	total := 0;
	LOOP
		FETCH c INTO v;
		EXIT WHEN NOT found;
		rows := rows + 1;
		total := total + v;
	END LOOP;
	RETURN NEXT;
END $$;
SELECT rows + 200 = (SELECT count(*) FROM src WHERE id % 1000 <> 3 OR id BETWEEN 1000 AND 1400) AS all_of_them FROM rest_of_c();
ROLLBACK;

-- SERIALIZABLE: what is read counts as read, as row by row
CREATE FUNCTION predicate_locks(by_block bool) RETURNS TABLE (of text, kind text, n bigint) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('surfidx.rows_by_block', by_block::text, true);
	PERFORM count(i8 + 1) FROM built_i8 WHERE i8 < -8500000;
	RETURN QUERY SELECT relation::regclass::text, locktype, count(*) FROM pg_locks WHERE mode = 'SIReadLock' AND pid = pg_backend_pid() AND relation = 'built_i8'::regclass GROUP BY 1, 2;
END $$;
BEGIN ISOLATION LEVEL SERIALIZABLE;
CREATE TEMP TABLE one AS SELECT * FROM predicate_locks(false);
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) > 0 AS some, count(*) FILTER (WHERE n <> (SELECT o.n FROM one o WHERE o.of = l.of AND o.kind = l.kind)) AS others FROM predicate_locks(true) l;
COMMIT;

SET client_min_messages = warning;
DROP SCHEMA scan_rows CASCADE;
