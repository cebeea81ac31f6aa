-- Conditions on columns of composite types whose constants are rows of another type: ROW(...) without
-- a cast is of type record.  Each was called a damaged value of the index (XX002).
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET max_parallel_workers_per_gather = 0;
SET surfidx.auto_merge = off;

CREATE TYPE inner_row AS (a int, b text);
CREATE TYPE outer_row AS (i inner_row, n numeric, l int[]);
CREATE TYPE like_inner AS (x int, y text);
CREATE TYPE gapped AS (a int, gone int8, b text);
ALTER TYPE gapped DROP ATTRIBUTE gone;
CREATE DOMAIN inner_domain AS inner_row CHECK ((VALUE).a IS DISTINCT FROM -1);
CREATE TYPE inner_range AS RANGE (subtype = inner_row);

-- one table for each method; without statistics, whose values the planner would compare first
CREATE TABLE rows_b (c inner_row, k int, d inner_domain, o outer_row, g gapped, e inner_row[],
	r inner_range, m inner_multirange) WITH (autovacuum_enabled = off);
CREATE TABLE rows_s (LIKE rows_b) WITH (autovacuum_enabled = off);
CREATE TABLE shape (a int, gone int, b text);
ALTER TABLE shape DROP COLUMN gone;
INSERT INTO shape SELECT g, 'x' || g % 3 FROM generate_series(1, 20) g;
INSERT INTO rows_b SELECT ROW(g / 2, 'x' || g % 3)::inner_row, g, ROW(g, 'x')::inner_domain,
	ROW(ROW(g / 3, 'x'), g, ARRAY[g, NULL])::outer_row, ROW(g, repeat('x', g))::gapped, ARRAY[ROW(g, 'x')::inner_row, NULL], inner_range(ROW(g, 'a'), ROW(g + 2, 'b')),
	inner_multirange(inner_range(ROW(g, 'a'), ROW(g + 2, 'b')))
	FROM generate_series(1, 300) g;
INSERT INTO rows_b (c, k) VALUES (ROW(NULL, NULL), 0), (ROW(7, NULL), 0), (NULL, 0), (ROW(8, repeat('long', 1500)), 0);
INSERT INTO rows_s SELECT * FROM rows_b;
ALTER TABLE rows_b ADD s shape;
ALTER TABLE rows_s ADD s shape;
UPDATE rows_b SET s = shape FROM shape WHERE shape.a = k % 25;
UPDATE rows_s SET s = shape FROM shape WHERE shape.a = k % 25;
-- an attribute that older rows do not have
ALTER TYPE gapped ADD ATTRIBUTE z int;
DO $$
DECLARE col text;
BEGIN
	FOREACH col IN ARRAY '{c,"c, k","k, c",d,o,g,e,r,m,s,"s record_image_ops"}'::text[] LOOP
		EXECUTE format('CREATE INDEX ON rows_b (%s)', col);
		EXECUTE format('CREATE INDEX ON rows_s USING surfidx (%s)', col);
	END LOOP;
END $$;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;

-- A statement's answer, or its SQLSTATE; through an index of that method.
CREATE FUNCTION answer(stmt text, tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	line text;
	plan text := '';
BEGIN
	stmt := replace(stmt, '%t', tab);
	BEGIN
		IF stmt !~ '^SELECT f' THEN
			FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || stmt LOOP
				plan := plan || line;
			END LOOP;
			IF plan !~ ('Index (Only )?Scan (Backward )?(using|on) ' || tab) THEN
				RETURN 'no index: ' || plan;
			END IF;
		END IF;
		EXECUTE stmt INTO result;
		-- what it did is taken back
		IF stmt !~ '^SELECT' THEN
			EXECUTE format('SELECT count(*) || '' '' || sum(k) FROM %s', tab) INTO result;
			RAISE division_by_zero USING MESSAGE = coalesce(result, 'NULL');
		END IF;
	EXCEPTION WHEN division_by_zero THEN
		RETURN sqlerrm;
	WHEN OTHERS THEN
		RETURN sqlstate;
	END;
	RETURN coalesce(result, 'NULL');
END $$;

CREATE FUNCTION f(tab text, v inner_row) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	r record;
	whole inner_row;
	part record;
	n bigint;
	total bigint := 0;
BEGIN
	r := v;
	EXECUTE format('SELECT count(*) FROM %s WHERE c = $1', tab) USING r INTO n;
	total := n;
	r := ROW(v.a, v.b);
	EXECUTE format('SELECT count(*) FROM %s WHERE c >= $1', tab) USING r INTO n;
	total := total + n;
	SELECT v.a, v.b INTO part;
	part.a := part.a + 1;
	EXECUTE format('SELECT count(*) FROM %s WHERE c = $1 OR c = $2', tab) USING part, v INTO n;
	total := total + n;
	whole := v;
	whole.b := whole.b || '';
	EXECUTE format('SELECT count(*) FROM %s WHERE c = $1', tab) USING whole INTO n;
	RETURN total + n;
END $$;

-- arrays and rows that plpgsql has taken apart; a range of any type
CREATE FUNCTION f_parts(tab text, r anyrange) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a inner_row[];
	e inner_row;
	o outer_row;
	n bigint;
	total text := '';
BEGIN
	FOR i IN 3 .. 9 LOOP
		e.a := i;
		e.b := 'x';
		a := NULL;
		a[1] := e;
		a := a || NULL::inner_row;
		EXECUTE format('SELECT count(*) FROM %s WHERE e = $1 OR e > $2', tab) USING a, a || a INTO n;
		total := total || ' ' || n;
		o.i := e;
		o.n := 3 * i;
		o.l[1] := 3 * i;
		o.l[2] := NULL;
		EXECUTE format('SELECT count(*) FROM %s WHERE o = $1', tab) USING o INTO n;
		total := total || ' ' || n;
		EXECUTE format('SELECT count(*) FROM %s WHERE o < $1', tab) USING ROW(o.i, o.n, o.l) INTO n;
		total := total || ' ' || n;
	END LOOP;
	EXECUTE format('SELECT count(*) FROM %s WHERE r = $1 OR r < $1', tab) USING r INTO n;
	RETURN total || ' ' || n;
END $$;
-- values that are stored out of line, compressed, with short headers
CREATE TABLE held AS SELECT c, e, r, o, k FROM rows_b WHERE k < 9;
INSERT INTO held (c, k) VALUES (ROW(8, repeat('long', 1500)), 0);
CREATE TABLE outside (LIKE held);
ALTER TABLE outside ALTER c SET STORAGE EXTERNAL;
INSERT INTO outside SELECT * FROM held;

CREATE TABLE statements (id int GENERATED ALWAYS AS IDENTITY, stmt text);
INSERT INTO statements (stmt)
	SELECT format('SELECT count(*) || '' '' || sum(k) FROM %%t WHERE %s %s %s', v.col, op, v.value)
	FROM unnest('{<,<=,=,>=,>}'::text[]) op,
	(VALUES
		('c', $$ROW(5, 'x1'::text)$$), ('c', $$ROW(500, 'x1'::text)$$), ('c', 'ROW(5, NULL::text)'),
		('c', 'ROW(NULL::int, NULL::text)'), ('c', $$ROW(8, repeat('long', 1500))$$),
		('c', $$ROW(8, repeat('long', 9000))$$),
		('c', $$ROW(5, 'x1'::text)::like_inner$$), ('c', $$ROW(5, 'x1'::text)::inner_domain$$),
		('c', $$ROW(5, 'x1'::text, NULL)::gapped$$), ('c', '(SELECT x FROM shape x WHERE a = 5)'),
		('c', '(SELECT x FROM (SELECT a, b FROM shape WHERE a = 5) x)'),
		('c', $$(SELECT x FROM (VALUES (5, 'x1'::text)) x)$$),
		-- rows that cannot be compared with it: an error only where what comes before is equal
		('c', 'ROW(5, 7)'), ('c', 'ROW(500, 7)'), ('c', 'ROW(5)'), ('c', 'ROW(500)'), ('c', 'ROW()'),
		('c', $$ROW(5, 'x1'::text, 7)$$), ('c', $$ROW(500, 'x1'::text, 7)$$), ('c', $$ROW('a'::text)$$),
		('c', $$ROW(5, 'x1'::text COLLATE "POSIX")$$), ('c', $$ROW(5, 'x1'::varchar)$$),
		('d', $$ROW(5, 'x'::text)$$), ('d', $$ROW(5, 'x'::text)::inner_row$$), ('d', 'ROW(5, 7)'),
		('o', $$ROW(ROW(5, 'x'::text)::inner_row, 16::numeric, ARRAY[16, NULL])$$),
		('o', $$ROW(ROW(5, 'x'::text), 16::numeric, ARRAY[16, NULL])$$),
		('o', $$ROW(ROW(5, 'x'::text)::inner_row, 16::numeric, ARRAY[1])$$),
		('g', $$ROW(5, 'xxxxx'::text, NULL::int)$$), ('g', $$ROW(5, 'xxxxx'::text)$$),
		('e', $$ARRAY[ROW(5, 'x'::text)::inner_row, NULL]$$), ('e', $$ARRAY[ROW(5, 'x'::text)]::inner_row[]$$),
		('r', $$inner_range(ROW(5, 'a'::text), ROW(7, 'b'::text))$$),
		('r', $$inner_range(ROW(5, 'a'::text), NULL)$$),
		('m', $$inner_multirange(inner_range(ROW(5, 'a'::text), ROW(7, 'b'::text)))$$),
		('s', $$ROW(5, 'x2'::text)$$), ('s', '(SELECT shape FROM shape WHERE a = 5)'),
		('s', $$ROW(5, 'x2'::text)::like_inner$$), ('s', 'ROW(5, 5, NULL)')) v (col, value);
INSERT INTO statements (stmt)
	SELECT format('SELECT count(*) || '' '' || sum(k) FROM %%t WHERE s %s %s', op, v)
	FROM unnest('{*<,*<=,*=,*>=,*>}'::text[]) op, unnest('{"ROW(5, ''x2''::text)","ROW(5, 7)"}'::text[]) v;
INSERT INTO statements (stmt) VALUES
	($$SELECT count(*) || ' ' || sum(k) FROM %t WHERE (c, k) > (ROW(5, 'x1'::text), 1)$$),
	($$SELECT count(*) || ' ' || sum(k) FROM %t WHERE (c, k) <= (ROW(5, 'x1'::text), 10)$$),
	($$SELECT count(*) || ' ' || sum(k) FROM %t WHERE (k, c) >= (11, ROW(5, 'x1'::text))$$),
	($$SELECT count(*) || ' ' || sum(k) FROM %t WHERE (c, k) > (ROW(5, 7), 1)$$),
	($$SELECT count(*) || ' ' || sum(k) FROM %t WHERE c = ROW(5, 'x1'::text) AND k = 10$$),
	($$SELECT count(*) || ' ' || sum(k) FROM %t WHERE c > ROW(5, 'x1'::text) AND c < ROW(9, 'x1'::text)$$),
	($$SELECT count(*) || ' ' || sum(k) FROM %t WHERE c = ANY (ARRAY[ROW(5, 'x1'::text)::inner_row, ROW(6, 'x0'::text)::inner_row])$$),
	($$SELECT string_agg(t::text, ' ') FROM (SELECT c FROM %t WHERE c >= ROW(5, 'x1'::text) ORDER BY c LIMIT 5) t$$),
	($$SELECT string_agg(t::text, ' ') FROM (SELECT c FROM %t WHERE c <= ROW(5, 'x1'::text) ORDER BY c DESC LIMIT 5) t$$),
	($$SELECT count(*) FROM shape s JOIN %t t ON t.c = ROW(s.a, s.b)$$),
	($$SELECT count(*) FROM shape s JOIN %t t ON t.c > ROW(s.a, s.b) AND t.c < ROW(s.a + 2, s.b)$$),
	($$SELECT count(*) FROM shape s, LATERAL (SELECT FROM %t t WHERE t.s = s) t$$),
	($$DELETE FROM %t WHERE c = ROW(5, 'x1'::text)$$),
	($$UPDATE %t SET k = k + 1000 WHERE c > ROW(140, 'x1'::text)$$),
	($$MERGE INTO %t t USING shape s ON t.c = ROW(s.a, s.b) WHEN MATCHED THEN UPDATE SET k = 7000 WHEN NOT MATCHED THEN DO NOTHING$$),
	($$SELECT count(*) FROM held h JOIN %t t ON t.c = h.c$$),
	($$SELECT count(*) FROM outside h JOIN %t t ON t.c = h.c$$),
	($$SELECT count(*) FROM outside h JOIN %t t ON t.c = ROW((h.c).a, (h.c).b)$$),
	($$SELECT count(*) FROM held h JOIN %t t ON t.e = h.e$$),
	($$SELECT count(*) FROM held h JOIN %t t ON t.r = h.r$$),
	($$SELECT count(*) FROM held h JOIN %t t ON t.o = h.o$$),
	($$SELECT f_parts('%t', inner_range(ROW(5, 'a'), ROW(7, 'b')))$$),
	($$SELECT f('%t', ROW(5, 'x1'))$$), ($$SELECT f('%t', ROW(8, repeat('long', 1500)))$$);

CREATE FUNCTION wrong() RETURNS TABLE (stmt text, btree text, surfidx text) LANGUAGE sql AS $$
	SELECT * FROM (SELECT stmt, answer(stmt, 'rows_b') b, answer(stmt, 'rows_s') s FROM statements ORDER BY id) x
	WHERE b IS DISTINCT FROM s OR b ~ 'no index';
$$;
SELECT count(*), count(*) FILTER (WHERE answer(stmt, 'rows_b') ~ '^[0-9A-Z]{5}$') AS errors FROM statements;
-- in the tree, in the log, in both
SELECT * FROM wrong();
CREATE TABLE keep AS SELECT * FROM rows_s;
TRUNCATE rows_s;
INSERT INTO rows_s SELECT * FROM keep;
SELECT * FROM wrong();
SELECT count(surfidx_merge(indexrelid)) FROM pg_index WHERE indrelid = 'rows_s'::regclass;
DELETE FROM rows_s WHERE k % 3 = 0;
INSERT INTO rows_s SELECT * FROM keep WHERE k % 3 = 0;
SELECT * FROM wrong();
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT * FROM wrong() WHERE stmt !~ 'ORDER BY';
RESET enable_indexscan;
RESET enable_indexonlyscan;

-- functions that take bounds
VACUUM rows_s;
SELECT surfidx_count('rows_s_c_idx', ROW(5, 'x1'::text), ROW(9, 'x1'::text)),
	surfidx_count('rows_s_c_idx', ROW(5, 'x1'::text)::inner_row, ROW(9, 'x1'::text)::like_inner),
	surfidx_count('rows_s_c_k_idx', ROW(5, 'x1'::text), NULL),
	surfidx_may_contain('rows_s_c_idx', ROW(5, 'x1'::text)),
	surfidx_may_contain('rows_s_c_idx', ROW(5, 'x'::text)),
	surfidx_may_contain('rows_s_d_idx', ROW(5, 'x'::text)),
	surfidx_may_contain('rows_s_c_k_idx', ROW(5, 'x1'::text)::like_inner, 10),
	surfidx_may_contain_range('rows_s_c_idx', ROW(5, 'x'::text), ROW(5, 'y'::text));
-- ... with columns of other types, which implicit casts make right
SELECT surfidx_count('rows_s_c_idx', ROW(5::int2, 'x1'), ROW(9::int2, 'x1'::varchar)),
	surfidx_count('rows_s_c_k_idx', ROW(5::int2, 'x1'), NULL),
	surfidx_count('rows_s_g_idx', ROW(100::int2, repeat('x', 100)::char(100), 1), NULL),
	surfidx_count('rows_s_o_idx', ROW(ROW(5, 'x')::inner_row, 7, NULL::int[]), NULL),
	surfidx_may_contain('rows_s_c_idx', ROW(5::int2, 'x1'::name)),
	surfidx_may_contain('rows_s_d_idx', ROW(5::int2, 'x'::varchar)),
	surfidx_may_contain('rows_s_d_idx', ROW(NULL::int2, 'x'::varchar));
SELECT surfidx_may_contain('rows_s_d_idx', ROW(-1::int2, 'x'));
SELECT surfidx_count('rows_s_c_idx', ROW(5::int8, 'x1'), NULL);
SELECT surfidx_count('rows_s_c_idx', ROW(5, 7), NULL);
SELECT surfidx_may_contain('rows_s_c_idx', ROW(5));
SELECT surfidx_may_contain('rows_s_c_idx', 5);
DROP TABLE rows_b, rows_s, keep, shape, held, outside, statements CASCADE;
DROP FUNCTION wrong, answer, f, f_parts;
DROP TYPE inner_range, inner_domain, gapped, like_inner, outer_row, inner_row CASCADE;
