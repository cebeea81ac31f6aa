-- Read by the tests with \i: every query is run in each state that an index's entries can be in, by each kind of scan,
-- and its answer compared with that of a sequential scan over a table without index. Only mismatches come out.
--
--	compare(src, def, queries, modes)	src: a table with a column "id"; def: what follows CREATE INDEX ... ON t USING surfidx;
--										%t in the queries stands for the table
--	make_source(name, query)			a table (id, v, g, rk) of the query's (id, v): g = id % 5, rk = v's rank, NULLs last
--	compare_type(src, literals, ...)	all operators and orders of the type of src.v
--
-- An answer to a query with ORDER BY must come in that order and without a sort (bitmap scans aside), so it has to be total
-- in what the query returns; rk serves where values are equal but different.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET max_parallel_workers_per_gather = 0;
SET surfidx.auto_merge = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
SET lc_monetary = 'C';

CREATE OR REPLACE FUNCTION compare_scans(mode text) RETURNS void LANGUAGE sql AS $$
	SELECT set_config('enable_seqscan', CASE WHEN mode = 'seq' THEN 'on' ELSE 'off' END, false),
		set_config('enable_sort', CASE WHEN mode IN ('seq', 'bitmap') THEN 'on' ELSE 'off' END, false),
		set_config('enable_incremental_sort', CASE WHEN mode = 'seq' THEN 'on' ELSE 'off' END, false),
		set_config('enable_indexscan', CASE WHEN mode IN ('index', 'only') THEN 'on' ELSE 'off' END, false),
		set_config('enable_indexonlyscan', CASE WHEN mode = 'only' THEN 'on' ELSE 'off' END, false),
		set_config('enable_bitmapscan', CASE WHEN mode = 'bitmap' THEN 'on' ELSE 'off' END, false);
	SELECT;
$$;

-- The rows of an answer, as text; those of a query without ORDER BY in any one order.
CREATE OR REPLACE FUNCTION compare_answer(query text, tab text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	rows text[];
BEGIN
	EXECUTE 'SELECT array_agg(r::text' || CASE WHEN query ~ 'ORDER BY' THEN '' ELSE ' ORDER BY r::text COLLATE "C"' END
		|| ') FROM (' || replace(query, '%t', tab) || ') r' INTO rows;
	RETURN coalesce(rows, '{}');
END $$;

-- What the plan of a query lacks, or NULL.
CREATE OR REPLACE FUNCTION compare_plan(query text, tab text, mode text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	node CONSTANT text := CASE mode WHEN 'index' THEN 'Index Scan' WHEN 'only' THEN 'Index Only Scan' ELSE 'Bitmap Index Scan' END;
	plan text := '';
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(query, '%t', tab) LOOP
		plan := plan || line || E'\n';
	END LOOP;
	RETURN CASE WHEN position(node IN plan) = 0 THEN 'no ' || node
		WHEN mode <> 'bitmap' AND plan ~ '\mSort\M' THEN 'sorted'
		WHEN query ~ 'WHERE' AND query !~ 'nocond' AND position('Index Cond' IN plan) = 0 THEN 'no index condition' END;
END $$;

-- Bring the entries of the table "subject" into a state; the table has an index already.
CREATE OR REPLACE FUNCTION compare_state(src regclass, state text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	idx CONSTANT regclass := 'subject_idx';
BEGIN
	CASE state
		WHEN 'log' THEN
			EXECUTE format('INSERT INTO subject SELECT * FROM %s', src);
		WHEN 'half' THEN
			TRUNCATE subject;
			EXECUTE format('INSERT INTO subject SELECT * FROM %s WHERE id %% 2 = 0 ORDER BY id', src);
			PERFORM surfidx_merge(idx);
			EXECUTE format('INSERT INTO subject SELECT * FROM %s WHERE id %% 2 = 1 ORDER BY id', src);
			-- dead entries in the tree and in the delta
			DELETE FROM subject WHERE id % 7 < 2;
			EXECUTE format('INSERT INTO subject SELECT * FROM %s WHERE id %% 7 < 2', src);
		WHEN 'merged' THEN
			PERFORM surfidx_merge(idx);
		WHEN 'built' THEN
			REINDEX INDEX subject_idx;
	END CASE;
	PERFORM surfidx_check(idx, true);
END $$;

CREATE OR REPLACE FUNCTION compare(src regclass, idx text, queries text[], modes text[] DEFAULT '{index,only,bitmap}',
	uniq text DEFAULT '')
RETURNS TABLE (def text, state text, mode text, query text, complaint text)
LANGUAGE plpgsql SET client_min_messages = warning AS $$
#variable_conflict use_variable
DECLARE
	want text[];
	got text[];
	answers text[] := '{}';
BEGIN
	def := idx;
	PERFORM compare_scans('seq');
	FOREACH query IN ARRAY queries LOOP
		answers := answers || compare_answer(query, src::text)::text;
	END LOOP;
	DROP TABLE IF EXISTS subject;
	EXECUTE format('CREATE TABLE subject (LIKE %s)', src);
	EXECUTE format('CREATE %s INDEX subject_idx ON subject USING surfidx %s', uniq, idx);
	FOREACH state IN ARRAY ARRAY['log', 'half', 'merged', 'built'] LOOP
		PERFORM compare_scans('seq');
		PERFORM compare_state(src, state);
		FOREACH mode IN ARRAY modes LOOP
			PERFORM compare_scans(mode);
			FOR i IN 1 .. cardinality(queries) LOOP
				query := queries[i];
				CONTINUE WHEN mode = 'bitmap' AND query ~ 'ORDER BY';
				complaint := NULL;
				IF state = 'built' THEN
					complaint := compare_plan(query, 'subject', mode);
				END IF;
				got := compare_answer(query, 'subject');
				want := answers[i]::text[];
				IF got IS DISTINCT FROM want THEN
					complaint := format('WRONG: %s rows, should be %s; first difference %s, should be %s',
						cardinality(got), cardinality(want),
						(SELECT g FROM unnest(got, want) u (g, w) WHERE g IS DISTINCT FROM w LIMIT 1),
						(SELECT w FROM unnest(got, want) u (g, w) WHERE g IS DISTINCT FROM w LIMIT 1));
				END IF;
				IF complaint IS NOT NULL THEN
					RETURN NEXT;
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	PERFORM compare_scans('seq');
	PERFORM set_config('enable_indexscan', 'on', false), set_config('enable_indexonlyscan', 'on', false),
		set_config('enable_bitmapscan', 'on', false);
	DROP TABLE subject;
END $$;

CREATE OR REPLACE FUNCTION make_source(name text, query text, less text DEFAULT '<') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %s AS SELECT q.id, q.v, q.id %% 5 AS g, dense_rank() OVER (ORDER BY q.v USING %s) AS rk
		FROM (%s) q (id, v) ORDER BY q.id', name, less, query);
END $$;

-- Literals are of the type of src.v; ops: its operators as strategies 1 to 5; opclass: as in CREATE INDEX. No arrays of
-- values where the type has none.
CREATE OR REPLACE FUNCTION compare_type(src regclass, literals text[], opclass text DEFAULT '',
	ops text[] DEFAULT '{<,<=,=,>=,>}', arrays bool DEFAULT true)
RETURNS TABLE (def text, state text, mode text, query text, complaint text) LANGUAGE plpgsql AS $$
DECLARE
	typ CONSTANT text := (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = src AND attname = 'v');
	is_row CONSTANT bool := (SELECT typtype = 'c' FROM pg_type t JOIN pg_attribute a ON t.oid = atttypid WHERE attrelid = src AND attname = 'v');
	c text[] := ARRAY(SELECT format('%L::%s', l, typ) FROM unnest(literals) l);
	list text := array_to_string(c, ', ');
	q text[];
	low text := c[1];
	high text := c[cardinality(c)];
	asc_ text := format('ORDER BY v USING %s', ops[1]);
	desc_ text := format('ORDER BY v USING %s NULLS FIRST', ops[5]);
BEGIN
	-- every operator with every value, NULL tests, whole and part in order
	q := ARRAY(SELECT format('SELECT id, v FROM %%t WHERE v %s %s', o, l) FROM unnest(c) l, unnest(ops) o)
		|| ARRAY(SELECT format('SELECT rk FROM %%t WHERE v %s %s AND v %s %s %s', ops[4], l, ops[2], high, asc_) FROM unnest(c) l)
		|| ARRAY[format('SELECT rk FROM %%t %s', asc_), format('SELECT rk FROM %%t %s', desc_),
			format('SELECT rk FROM %%t WHERE v %s %s %s LIMIT 20', ops[5], low, asc_),
			format('SELECT rk FROM %%t WHERE v %s %s %s', ops[1], high, desc_),
			format('SELECT id FROM %%t WHERE v %s %s AND v %s %s', ops[3], low, ops[4], high),
			format('SELECT id FROM %%t WHERE v %s %s AND v %s %s', ops[5], high, ops[1], low)];
	IF NOT is_row THEN
		-- a row IS NULL if its fields are, which no index tells
		q := q || '{"SELECT id, v FROM %t WHERE v IS NULL", "SELECT id, v FROM %t WHERE v IS NOT NULL"}';
	END IF;
	IF arrays THEN
		q := q || ARRAY[format('SELECT rk FROM %%t WHERE v %s ANY (ARRAY[%s]) %s', ops[3], list, asc_),
			format('SELECT rk FROM %%t WHERE v %s ANY (ARRAY[%s]) %s', ops[3], list, desc_),
			format('SELECT id, v FROM %%t WHERE v %s ANY (ARRAY[%s])', ops[3], list),
			format('SELECT id, v FROM %%t WHERE v %s ANY (ARRAY[%s])', ops[1], list),
			format('SELECT id, v FROM %%t WHERE v %s ANY (ARRAY[%s]) AND v %s %s', ops[3], list, ops[5], low)];
	END IF;
	RETURN QUERY SELECT * FROM compare(src, format('(v %s) INCLUDE (id, rk)', opclass), q);

	-- another column after it, descending
	q := ARRAY[format('SELECT v, id FROM %%t %s, id DESC', format('ORDER BY v USING %s NULLS LAST', ops[5])),
			format('SELECT v, id FROM %%t ORDER BY v USING %s NULLS FIRST, id', ops[1])]
		|| ARRAY(SELECT format('SELECT v, id FROM %%t WHERE v %s %s AND id > 300 ORDER BY id', ops[3], l) FROM unnest(c) l)
		|| ARRAY(SELECT format('SELECT v, id FROM %%t WHERE v %s %s AND id BETWEEN 200 AND 700', o, l)
			FROM unnest(c[1:2] || high) l, unnest(ops) o);
	RETURN QUERY SELECT * FROM compare(src, format('(v %s DESC NULLS LAST, id DESC)', opclass), q, '{index,only}');

	-- after another column
	q := ARRAY(SELECT format('SELECT g, v FROM %%t WHERE g = 3 AND v %s %s', o, l) FROM unnest(c) l, unnest(ops) o)
		|| ARRAY[format('SELECT g, rk FROM %%t ORDER BY g, v USING %s NULLS FIRST', ops[5]),
			format('SELECT g, rk FROM %%t WHERE g < 2 ORDER BY g DESC, v USING %s', ops[1]),
			CASE WHEN is_row THEN 'SELECT g, v FROM %t WHERE g = 1' ELSE 'SELECT g, v FROM %t WHERE g = 1 AND v IS NULL' END];
	RETURN QUERY SELECT * FROM compare(src, format('(g, v %s DESC) INCLUDE (rk)', opclass), q, '{only,bitmap}');
END $$;

RESET client_min_messages;
