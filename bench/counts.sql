-- What bench/counts.sh measures on the tables of bench/schema.sql: answers that are computed by
-- block, and rows that come out of one, beside btree's index-only scan.

/*
 * mark: how many times less CPU than btree's it is to take.  $1 is replaced by a range's ends.
 * rows: of a range; NULL: all of the table.
 */
CREATE TABLE bench.count_query (n serial, key_set text, state text, rows bigint, metric text,
	query text, mark float8);

INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark) VALUES
	('int8', 'merged', NULL, 'count(*)', 'SELECT count(*) FROM r', 20),
	('email', 'merged', NULL, 'count(*)', 'SELECT count(*) FROM r', 20),
	('timestamp', 'merged', NULL, 'count(*)', 'SELECT count(*) FROM r', 30),
	('serial', 'merged', NULL, 'count(*)', 'SELECT count(*) FROM r', 100);
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark)
	SELECT 'int8', 'merged', rows, 'count(*) of a range of ' || rows,
		'SELECT count(*) FROM r WHERE $1', mark
	FROM (VALUES (10, 1), (100, 1), (1000, 4), (10000, 15), (100000, 15)) v(rows, mark);
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark) VALUES
	('int8', 'tenth hidden', NULL, 'count(*), 10 % of pages not all-visible',
		'SELECT count(*) FROM r', 10),
	('int8', 'all hidden', NULL, 'count(*), no page all-visible', 'SELECT count(*) FROM r', 15),
	('serial', 'all hidden', NULL, 'count(*), no page all-visible', 'SELECT count(*) FROM r', 2.5),
	('int8', 'delta of 1 %', NULL, 'count(*), 1 % in the delta', 'SELECT count(*) FROM r', 8),
	('int8', 'delta of 5 %', NULL, 'count(*), 5 % in the delta', 'SELECT count(*) FROM r', 8);

-- Sums and groups, which are answered in one number here.
INSERT INTO bench.key_set VALUES
	('hundred', 'int8', $$SELECT i::int8 * 7919 % greatest($1 / 100, 1) * 1000003, i > $1
		FROM generate_series(1, $1 + $2) i$$,
		$$k + 1$$, 'int8, 100 rows of each in random order; more of the same', 0);
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark) VALUES
	('int8', 'merged', NULL, 'sum', 'SELECT sum(k) FROM r', 12),
	('serial', 'merged', NULL, 'sum', 'SELECT sum(k) FROM r', 20),
	('numeric', 'merged', NULL, 'sum', 'SELECT sum(k) FROM r', NULL),
	('timestamp', 'merged', NULL, 'GROUP BY date_bin, a day',
		$$SELECT count(*) FROM (SELECT date_bin('1 day', k, '2000-01-01'), count(*) FROM r
			GROUP BY 1) x$$, 50),
	('serial', 'merged', NULL, 'avg', 'SELECT avg(k) FROM r', 20),
	('int8', 'merged', NULL, 'sum, min, max and count',
		'SELECT sum(k) + min(k) + max(k) + count(k) FROM r', 12),
	('int8', 'tenth hidden', NULL, 'sum, 10 % of pages not all-visible', 'SELECT sum(k) FROM r',
		NULL),
	('int8', 'delta of 1 %', NULL, 'sum, 1 % in the delta', 'SELECT sum(k) FROM r', 8),
	('int8', 'delta of 5 %', NULL, 'sum, 5 % in the delta', 'SELECT sum(k) FROM r', 8);
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark)
	SELECT v.key_set, 'merged', NULL, m.metric, m.query,
		CASE v.key_set WHEN 'hundred' THEN 10 ELSE 4 END
	FROM (VALUES ('hundred'), ('int8')) v(key_set),
		(VALUES ('GROUP BY', 'SELECT count(*) FROM (SELECT k, count(*) FROM r GROUP BY k) x'),
			('DISTINCT', 'SELECT count(*) FROM (SELECT DISTINCT k FROM r) x'),
			('count(DISTINCT)', 'SELECT count(DISTINCT k) FROM r')) m(metric, query);
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark)
	SELECT v.key_set, 'delta of 5 %', NULL, m.metric || ', 5 % in the delta', m.query, v.mark
	FROM (VALUES ('hundred', 8), ('int8', NULL)) v(key_set, mark),
		(VALUES ('GROUP BY', 'SELECT count(*) FROM (SELECT k, count(*) FROM r GROUP BY k) x'),
			('DISTINCT', 'SELECT count(*) FROM (SELECT DISTINCT k FROM r) x')) m(metric, query);

INSERT INTO bench.key_set
	SELECT 'clock', 'timestamp', replace(keys, 'timestamptz', 'timestamp'), miss,
		'timestamps without zone, one a second on average, in table order', NULL
	FROM bench.key_set WHERE name = 'timestamp';
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark)
	SELECT 'clock', 'merged', NULL, 'GROUP BY ' || v.metric,
		format('SELECT count(*) FROM (SELECT %s, count(*) FROM r GROUP BY 1) x', v.expression), 50
	FROM (VALUES ('date_bin, a day', $$date_bin('1 day', k, '2000-01-01')$$),
		('date_trunc, a day', $$date_trunc('day', k)$$),
		('date_trunc, an hour', $$date_trunc('hour', k)$$)) v(metric, expression);

-- Times with a zone whose clocks are set.
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark)
	SELECT 'timestamp', 'merged', NULL, 'GROUP BY ' || v.metric,
		format('SELECT count(*) FROM (SELECT %s, count(*) FROM r GROUP BY 1) x', v.expression), 50
	FROM (VALUES ('date_trunc, an hour', $$date_trunc('hour', k)$$),
		('date_trunc, a day', $$date_trunc('day', k)$$),
		('date_trunc, a day elsewhere', $$date_trunc('day', k, 'America/New_York')$$),
		('k::date', 'k::date'),
		('extract, an hour of the day', 'extract(hour FROM k)')) v(metric, expression);

-- Conditions: ranges of text by LIKE, FILTER, and rows that come out of a filter, by core's nodes.
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark) VALUES
	('email', 'merged', NULL, 'count(*), LIKE a prefix',
		$$SELECT count(*) FROM r WHERE k LIKE 'a%'$$, NULL),
	('int8', 'merged', NULL, 'count(*), FILTER',
		'SELECT count(*) FILTER (WHERE k > 3000000000000000000) FROM r', 10),
	('sensors', 'merged', NULL, 'count(*), FILTER of the second column',
		'SELECT count(*) FILTER (WHERE b > 1000000000) FROM r', 4),
	('sensors', 'merged', NULL, 'sum, FILTER of the second column',
		'SELECT sum(b) FILTER (WHERE b > 1000000000) FROM r', 1.5),
	('int8', 'merged', NULL, 'sum(CASE ... THEN 1 ELSE 0)',
		'SELECT sum(CASE WHEN k > 3000000000000000000 THEN 1 ELSE 0 END) FROM r', NULL);
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark)
	SELECT v.key_set, 'merged', NULL, 'rows, ' || v.condition || m.name,
		replace(m.query, '$condition', v.condition), 1.43
	FROM (VALUES ('email', $$k LIKE '%777%'$$), ('numeric', $$k::text LIKE '%777%'$$),
			('sensors', 'b % 100 = 7')) v(key_set, condition),
		(VALUES ('', 'SELECT count(k) FROM (SELECT k FROM r WHERE $condition OFFSET 0) x'),
			(', descending', 'SELECT count(k) FROM (SELECT k FROM r WHERE $condition
				ORDER BY k DESC OFFSET 0) x'),
			(', LIMIT 1000', 'SELECT count(k) FROM (SELECT k FROM r WHERE $condition
				ORDER BY k LIMIT 1000) x')) m(name, query);

-- Everything was updated here and there: a row in a hundred.
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark)
	SELECT key_set, 'updated', NULL, 'count(*), 1 % of rows updated', 'SELECT count(*) FROM r', 5
	FROM (VALUES ('int8'), ('serial')) v(key_set);

-- The first or last row of each group.
INSERT INTO bench.key_set VALUES
	('readings', 'int4', $$SELECT (i::int8 * 7919 % greatest($1 / 100, 1))::int4, i > $1
		FROM generate_series(1, $1 + $2) i$$,
		$$k + 1$$, 'int4 with 100 rows of each, and a random int4', NULL);
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark)
	SELECT v.key_set, 'merged', NULL, 'DISTINCT ON, the ' || m.name || v.name,
		'SELECT sum(b) FROM (SELECT DISTINCT ON (k) k, b FROM r ORDER BY k, b' || m.direction || ') x',
		v.mark
	FROM (VALUES ('readings', ', 100 rows a group', 10), ('sensors', ', 10,000 rows a group', NULL))
			v(key_set, name, mark),
		(VALUES ('first row', ''), ('last row', ' DESC')) m(name, direction);

-- Large groups that their ends decide: 10,000 rows each.
INSERT INTO bench.key_set VALUES
	('sensors', 'int4', $$SELECT (i::int8 * 7919 % greatest($1 / 10000, 1))::int4, i > $1
		FROM generate_series(1, $1 + $2) i$$,
		$$k + 1$$, 'int4 with 10,000 rows of each, and a random int4', NULL);
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark)
	SELECT 'sensors', 'merged', NULL, v.metric || ', 10,000 rows a group', v.query, NULL
	FROM (VALUES ('DISTINCT', 'SELECT count(*) FROM (SELECT DISTINCT k FROM r) x'),
		('GROUP BY', 'SELECT sum(n) FROM (SELECT k, count(*) AS n FROM r GROUP BY k) x'),
		('min', 'SELECT sum(b) FROM (SELECT k, min(b) AS b FROM r GROUP BY k) x'),
		('max', 'SELECT sum(b) FROM (SELECT k, max(b) AS b FROM r GROUP BY k) x')) v(metric, query);

-- Pages far off, whose rows before are passed over; and the same after changes.
INSERT INTO bench.key_set
	SELECT 'offset', type, keys, miss, 'random int8, and pages of them', NULL
	FROM bench.key_set WHERE name = 'int8';
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark)
	SELECT 'offset', s.state, NULL, v.metric || s.name, v.query, s.mark
	FROM (VALUES ('merged', '', 500), ('changed', ', 5,000 fresh rows, 2,000 deleted', 5))
			s(state, name, mark),
		(VALUES ('OFFSET of nine tenths', 'SELECT k FROM r ORDER BY k LIMIT 1
				OFFSET (SELECT rows * 9 / 10 FROM bench.loaded)'),
			('OFFSET of half, descending', 'SELECT k FROM r ORDER BY k DESC LIMIT 1
				OFFSET (SELECT rows / 2 FROM bench.loaded)')) v(metric, query);
CREATE FUNCTION bench.again(query text, times int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	FOR i IN 1..times LOOP
		EXECUTE query INTO answer;
	END LOOP;
	RETURN answer;
END
$$;
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark) VALUES
	('offset', 'merged', NULL, 'OFFSET of nine tenths, twenty statements', $$SELECT bench.again(
		'SELECT k FROM r ORDER BY k LIMIT 1 OFFSET ' || (SELECT rows * 9 / 10 FROM bench.loaded), 20)$$,
		500),
	('email', 'merged', NULL, 'count(*), LIKE a prefix, twenty statements', $$SELECT bench.again(
		'SELECT count(*) FROM r WHERE k LIKE ''a%''', 20)$$, 50),
	('offset', 'merged', NULL, 'percentile_disc', 'SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY k)
		FROM r', 300),
	('offset', 'merged', NULL, 'percentile_disc, three quartiles',
		'SELECT sum(x) FROM unnest((SELECT percentile_disc(ARRAY[0.25, 0.5, 0.75])
			WITHIN GROUP (ORDER BY k) FROM r)) x', 100),
	('sensors', 'merged', NULL, 'OFFSET 9,000 in a group of 10,000',
		'SELECT b FROM r WHERE k = (SELECT min(k) FROM r) ORDER BY b LIMIT 1 OFFSET 9000', 200);

/*
 * Rows of an index-only scan, by core's nodes: all but the last thrown away, and counted.  A set's
 * second column is a key, too, or INCLUDEd.
 */
CREATE TABLE bench.second_column (key_set text, expression text, included bool);
INSERT INTO bench.second_column VALUES
	('sensors', '(random() * 2e9)::int4', false),
	('readings', '(random() * 2e9)::int4', false),
	('pair', 'hashint4(k)', false),
	('include', 'hashint8(k)', true);
CREATE TYPE bench.two AS (a int4, b int4);
CREATE TABLE bench.row_set (name text, type text, key text, title text, columns text, mark float8);
INSERT INTO bench.row_set VALUES
	('pair', 'int4', '(random() * 2e9)::int4', 'two int4', 'k, b', 2.2),
	('include', 'int8', '(random() * 9e18)::int8', 'int8 INCLUDE int4', 'k, b', 1),
	('interval', 'interval', $$make_interval(secs => (random() * 1e9)::int)$$, 'intervals', 'k', 1),
	('bit', 'bit(40)', '((random() * 1e12)::int8)::bit(40)', 'bit(40)', 'k', 1),
	('array', 'int4[]', 'ARRAY[(random() * 1e3)::int4, (random() * 1e9)::int4]',
		'arrays of two int4', 'k', 1),
	('composite', 'bench.two', 'ROW((random() * 1e3)::int4, (random() * 1e9)::int4)::bench.two',
		'composites of two int4', 'k', 1);
INSERT INTO bench.key_set
	SELECT name, type, format('SELECT %s, i > $1 FROM generate_series(1, $1 + $2) i', key), 'k',
		title || ', random TIDs', NULL
	FROM bench.row_set;
INSERT INTO bench.count_query (key_set, state, rows, metric, query, mark)
	SELECT v.key_set, 'merged', NULL, m.metric, replace(m.query, '$columns', v.columns),
		CASE WHEN m.metric NOT LIKE '%by core' THEN v.mark END
	FROM (VALUES ('int8', 'k', 2.2), ('uuid', 'k', 2.2), ('numeric', 'k', 2.2), ('inet', 'k', 1),
				('email', 'k', 1.7)
			UNION ALL SELECT name, columns, mark FROM bench.row_set) v(key_set, columns, mark),
		(VALUES ('rows', 'SELECT ROW(x.*) FROM (SELECT $columns FROM r ORDER BY k
					OFFSET (SELECT rows - 1 FROM bench.loaded)) x'),
			('rows, descending', 'SELECT k FROM r ORDER BY k DESC
					OFFSET (SELECT rows - 1 FROM bench.loaded)'),
			('rows, counted by core', 'SELECT count(k) FROM (SELECT $columns FROM r OFFSET 0) x'))
			m(metric, query)
	WHERE v.key_set = 'int8' OR m.metric <> 'rows, descending';

INSERT INTO bench.ordered_metric (metric)
	SELECT metric FROM bench.count_query GROUP BY metric ORDER BY min(n);

-- The indexes of r, which gets its second column before, if it is to have one.
CREATE PROCEDURE bench.count_indexes(of_set text)
LANGUAGE plpgsql AS $$
DECLARE
	second text;
	included bool;
	columns text := 'k';
BEGIN
	SELECT s.expression, s.included INTO second, included
		FROM bench.second_column s WHERE s.key_set = of_set;
	IF second IS NOT NULL THEN
		EXECUTE format('CREATE TABLE two AS SELECT k, %s AS b FROM r', second);
		DROP TABLE r;
		ALTER TABLE two RENAME TO r;
		columns := CASE WHEN included THEN 'k) INCLUDE (b' ELSE 'k, b' END;
	END IF;
	EXECUTE format('CREATE INDEX r_btree ON r (%s)', columns);
	EXECUTE format('CREATE INDEX r_surfidx ON r USING surfidx (%s)', columns);
END
$$;

-- Ranges of about so many rows each: fewer, the longer they are.
CREATE TABLE bench.count_range (rows bigint, condition text);

CREATE PROCEDURE bench.count_ranges(of_set text)
LANGUAGE plpgsql AS $$
DECLARE
	all_rows bigint := (SELECT rows FROM bench.loaded);
BEGIN
	TRUNCATE bench.count_range;
	IF NOT EXISTS (SELECT FROM bench.count_query q WHERE q.key_set = of_set AND q.rows > 0) THEN
		RETURN;
	END IF;
	CREATE TEMP TABLE place AS SELECT k, row_number() OVER (ORDER BY k) AS n FROM r;
	CREATE INDEX ON place (n);
	ANALYZE place;
	INSERT INTO bench.count_range
		SELECT q.rows, format('k >= %L AND k < %L', lo.k, hi.k)
		FROM bench.count_query q
			CROSS JOIN LATERAL generate_series(1, greatest(3, least(500, 200000 / q.rows))) i
			CROSS JOIN LATERAL (SELECT 1 + (hashint8(i) & 1048575) * (all_rows - q.rows - 1)
				/ 1048576 AS at) p
			JOIN place lo ON lo.n = p.at
			JOIN place hi ON hi.n = p.at + q.rows
		WHERE q.key_set = of_set AND q.rows < all_rows - 1;
	DROP TABLE place;
END
$$;

-- The answer; of ranges, where the statements come one after the other, each planned for itself, the
-- sum of them.
CREATE FUNCTION bench.run_counts(query text, of_rows bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	answers numeric := 0;
	answer text;
	r record;
BEGIN
	IF of_rows IS NULL THEN
		EXECUTE query INTO answer;
		RETURN answer;
	END IF;
	FOR r IN SELECT condition FROM bench.count_range c WHERE c.rows = of_rows LOOP
		EXECUTE replace(query, '$1', r.condition) INTO answer;
		answers := answers + answer::numeric;
	END LOOP;
	RETURN answers;
END
$$;

/*
 * Bring r into a state.  A DELETE that is rolled back clears the bit of its row's page, and the row
 * stays.
 */
CREATE PROCEDURE bench.count_state(state text)
LANGUAGE plpgsql AS $$
DECLARE
	each int := CASE state WHEN 'tenth hidden' THEN 10 WHEN 'all hidden' THEN 1 END;
	share float8 := CASE state WHEN 'delta of 1 %' THEN 0.01 WHEN 'delta of 5 %' THEN 0.05 END;
	loaded bigint := (SELECT rows FROM bench.loaded);
	inserted bigint := (SELECT count(*) FROM r) - loaded;
BEGIN
	IF each IS NOT NULL THEN
		BEGIN
			EXECUTE format('DELETE FROM r WHERE ctid = ANY (ARRAY(SELECT format(''(%%s,1)'', b)::tid
				FROM generate_series(0, %s, %s) b))', pg_relation_size('r') / 8192 - 1, each);
			RAISE EXCEPTION SQLSTATE 'P0099';
		EXCEPTION WHEN SQLSTATE 'P0099' THEN
			NULL;
		END;
	ELSIF state = 'updated' THEN
		UPDATE r SET k = k WHERE hashtext(ctid::text) % 100 = 0;
	ELSIF state = 'changed' THEN
		INSERT INTO r SELECT k FROM more LIMIT 5000;
		DELETE FROM r WHERE ctid IN (SELECT format('(%s,1)', b)::tid
			FROM generate_series(0, pg_relation_size('r') / 8192 - 1) b ORDER BY hashint8(b) LIMIT 2000);
	ELSIF share IS NOT NULL THEN
		INSERT INTO r SELECT k FROM more OFFSET inserted LIMIT loaded * share - inserted;
	END IF;
END
$$;

-- One round of what is to be measured in this state, by either index in turn.
CREATE PROCEDURE bench.counts(of_set text, of_state text)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET TimeZone = 'Europe/Berlin' AS $$
DECLARE
	q bench.count_query;
	statement text;
	b record;
	s record;
	times float8;
BEGIN
	FOR q IN SELECT * FROM bench.count_query c WHERE c.key_set = of_set AND c.state = of_state
		ORDER BY n
	LOOP
		times := 1;
		IF q.rows IS NOT NULL THEN
			SELECT count(*) INTO times FROM bench.count_range c WHERE c.rows = q.rows;
			CONTINUE WHEN times = 0;
		END IF;
		-- (what throws rows away by OFFSET is to read them)
		PERFORM set_config('surfidx.offset_by_rank', CASE WHEN q.metric LIKE 'rows%' THEN 'off'
			ELSE 'on' END, false);
		statement := format('SELECT bench.run_counts(%L, %L)', q.query, q.rows);
		b := bench.timed(statement, 'btree');
		s := bench.timed(statement, 'surfidx');
		IF b.answer IS DISTINCT FROM s.answer THEN
			RAISE EXCEPTION 'WRONG: % by btree: %, by surfidx: % (%)', q.metric, b.answer, s.answer,
				of_set;
		END IF;
		CALL bench.note(of_set, q.metric, 'btree', b.ns / 1000.0 / times);
		CALL bench.note(of_set, q.metric, 'surfidx', s.ns / 1000.0 / times);
	END LOOP;
END
$$;

-- How many times less CPU than btree's, of medians, beside what it is to be.
CREATE VIEW bench.count_report AS
	SELECT q.n, q.key_set, q.metric, r.btree AS "btree, us", r.surfidx AS "surfidx, us",
		bench.number(1 / o.ratio) AS times, q.mark,
		bench.number(1 / o.max) || '-' || bench.number(1 / o.min) AS spread
	FROM bench.count_query q JOIN bench.report r USING (key_set, metric)
		JOIN bench.quotient o USING (key_set, metric);
