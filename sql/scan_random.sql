-- Random conditions on random columns, answered by index, by bitmap and by a sequential scan
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET max_parallel_workers_per_gather = 0;
SET timezone = 'UTC';
SET surfidx.auto_merge = off;

CREATE TABLE src (a int2, b text COLLATE "C", c int8, d date, u bytea);
CREATE TABLE f (LIKE src);
CREATE INDEX f_abcd ON f USING surfidx (a, b DESC, c NULLS FIRST, d);
CREATE INDEX f_uad ON f USING surfidx (u DESC NULLS LAST, a DESC, d DESC);
CREATE INDEX f_dcb ON f USING surfidx (d, c DESC NULLS LAST, b) INCLUDE (a);

-- A whole number below n
CREATE FUNCTION pick(n int) RETURNS int LANGUAGE sql AS $$ SELECT floor(random() * n)::int $$;
CREATE FUNCTION one_of(VARIADIC choices text[]) RETURNS text LANGUAGE sql AS $$ SELECT choices[1 + pick(cardinality(choices))] $$;

SELECT setseed(0.1);
INSERT INTO src
SELECT nullif(pick(12) - 4, 3), nullif(repeat(chr(97 + pick(3)), pick(4)), 'bb'), nullif(pick(11) - 5, 0),
	date '2020-01-01' + pick(7), decode(repeat(lpad(to_hex(pick(3)), 2, '0'), pick(4)), 'hex')
FROM generate_series(1, 2000);

-- A constant for a column: of its own type or another one of the family, often one that occurs, sometimes out of range
CREATE FUNCTION constant(col text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE col
		WHEN 'a' THEN format(one_of('(%s)::int2', '%s::int4', '%s::int8', '%s0000::int4', '(0 - %s0000000000)::int8'), pick(12) - 4)
		WHEN 'b' THEN quote_literal(repeat(chr(97 + pick(3)), pick(4)))
		WHEN 'c' THEN format('(%s)::%s', pick(12) - 6, one_of('int2', 'int4', 'int8'))
		WHEN 'd' THEN format(one_of('date ''2020-01-0%s''', 'timestamp ''2020-01-0%s''', 'timestamp ''2020-01-0%s 12:00''',
									'timestamptz ''2020-01-0%s''', 'timestamptz ''2020-01-0%s 00:00:01'''), 1 + pick(8))
		ELSE quote_literal('\x' || repeat(lpad(to_hex(pick(3)), 2, '0'), pick(4))) END $$;

CREATE FUNCTION list(col text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	items	text[];
BEGIN
	FOR i IN 0 .. pick(5) LOOP
		items := items || CASE
			WHEN random() < 0.1 THEN 'NULL'
			WHEN col IN ('a', 'c') THEN (pick(12) - 4)::text
			WHEN col = 'd' THEN quote_literal('2020-01-0' || 1 + pick(8) || one_of('', '', ' 13:00'))
			ELSE constant(col) END;
	END LOOP;
	RETURN format('ARRAY[%s]::%s[]', array_to_string(items, ', '),
				  CASE WHEN col IN ('a', 'c') THEN one_of('int2', 'int4', 'int8') WHEN col = 'b' THEN 'text'
				  WHEN col = 'd' THEN one_of('date', 'timestamp', 'timestamptz') ELSE 'bytea' END);
END $$;

CREATE FUNCTION condition(col text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r		float := random();
	op		text := one_of('<', '<=', '=', '=', '>=', '>');
BEGIN
	RETURN CASE WHEN r < 0.08 THEN col || ' IS NULL' WHEN r < 0.15 THEN col || ' IS NOT NULL'
		WHEN r < 0.65 THEN format('%s %s %s', col, op, constant(col))
		ELSE format('%s %s ANY (%s)', col, CASE WHEN r < 0.9 THEN '=' ELSE op END, list(col)) END;
END $$;

CREATE FUNCTION random_query() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	cols	text[] := ARRAY['a', 'b', 'c', 'd', 'u'];
	conds	text[];
	ord		text := one_of('a, b DESC, c NULLS FIRST, d', 'a DESC, b, c DESC NULLS LAST, d DESC', 'u DESC NULLS LAST, a DESC, d DESC',
						   'u NULLS FIRST, a, d', 'd, c DESC NULLS LAST, b', 'd DESC, c NULLS FIRST, b DESC', 'a, b, c, d, u');
BEGIN
	FOR i IN 0 .. pick(5) LOOP
		conds := conds || condition(cols[1 + floor(random() ^ 1.5 * 5)::int]);
	END LOOP;
	RETURN format('SELECT %s FROM f WHERE %s ORDER BY %s', regexp_replace(ord, ' (DESC|NULLS|FIRST|LAST)', '', 'g'),
				  array_to_string(conds, ' AND '), ord);
END $$;

CREATE FUNCTION answer(q text, seq bool, ind bool, bitmap bool, sort bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result	text;
BEGIN
	PERFORM set_config('enable_seqscan', seq::text, true), set_config('enable_indexscan', ind::text, true),
		set_config('enable_indexonlyscan', ind::text, true), set_config('enable_bitmapscan', bitmap::text, true),
		set_config('enable_sort', sort::text, true);
	EXECUTE 'SELECT array_agg(r::text)::text FROM (' || q || ') r' INTO result;
	RETURN result;
END $$;

-- The queries that got different answers
CREATE FUNCTION differing(n int, seed float) RETURNS TABLE (q text, how text) LANGUAGE plpgsql AS $$
DECLARE
	want	text;
BEGIN
	PERFORM setseed(seed);
	FOR i IN 1 .. n LOOP
		q := random_query();
		want := answer(q, true, false, false, true);
		FOR how IN SELECT unnest(ARRAY['index', 'index, sort', 'bitmap']) LOOP
			IF answer(q, false, how ~ 'index', how = 'bitmap', how <> 'index') IS DISTINCT FROM want THEN
				RETURN NEXT;
			END IF;
		END LOOP;
	END LOOP;
END $$;

-- In the delta
INSERT INTO f SELECT * FROM src;
ANALYZE f;
SELECT * FROM differing(200, 0.2);
-- In both
TRUNCATE f;
INSERT INTO f SELECT * FROM src LIMIT 1200;
SELECT surfidx_merge('f_abcd') >= 0 AND surfidx_merge('f_uad') >= 0 AND surfidx_merge('f_dcb') >= 0 AS merged;
INSERT INTO f SELECT * FROM src OFFSET 1200;
ANALYZE f;
SELECT * FROM differing(400, 0.3);
-- In the tree, built by merges and built at once
SELECT surfidx_merge('f_abcd') >= 0 AND surfidx_merge('f_uad') >= 0 AND surfidx_merge('f_dcb') >= 0 AS merged;
SELECT * FROM differing(200, 0.4);
REINDEX TABLE f;
SELECT * FROM differing(200, 0.5);

DROP TABLE src, f;
DROP FUNCTION pick, one_of, constant, list, condition, random_query, answer, differing;
