-- Read by the tests of pages (LIMIT and OFFSET) with \i: queries over t_surf, whose indexes are surfidx, and t_tree, whose indexes are btree.
--
--	asked (query)				queries; %t stands for the table, %o for the offset
--	differences(offsets, spare)	those whose rows differ, or which fetch more than spare rows that are not asked for
--	twice(statement)			in both tables
--	rows_of(query)				its rows, as text
--	scanned(query)				rows that the nodes at the bottom of its plan return (scan), and rows that come of it (lim)
--	plan(query)					its plan, without what only some versions say of it

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET max_parallel_workers_per_gather = 0;
SET surfidx.auto_merge = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
\pset tuples_only on
\pset format unaligned

CREATE TABLE asked (n serial, query text);

CREATE FUNCTION twice(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE replace(statement, '%t', 't_surf');
	EXECUTE replace(statement, '%t', 't_tree');
END $$;

CREATE FUNCTION rows_below(plan json) RETURNS numeric LANGUAGE sql AS $$
	SELECT CASE WHEN plan->'Plans' IS NULL THEN (plan->>'Actual Rows')::numeric * (plan->>'Actual Loops')::numeric
		ELSE (SELECT sum(rows_below(p)) FROM json_array_elements(plan->'Plans') p) END;
$$;

CREATE FUNCTION scanned(query text, OUT scan int, OUT lim int) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF, FORMAT JSON) ' || query INTO plan;
	lim := (plan->0->'Plan'->>'Actual Rows')::numeric;
	scan := rows_below(plan->0->'Plan');
END $$;

-- 18 says which nodes enable_seqscan = off is against
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line !~ '^ *Disabled: true$' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;

CREATE FUNCTION rows_of(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	result text[];
BEGIN
	EXECUTE 'SELECT array_agg(r::text) FROM (' || query || ') r' INTO result;
	RETURN result;
END $$;

CREATE FUNCTION differences(offsets bigint[], spare int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	q		text;
	o		bigint;
	surf	text;
	s		record;
BEGIN
	FOR q IN SELECT query FROM asked ORDER BY n LOOP
		FOREACH o IN ARRAY offsets LOOP
			surf := replace(replace(q, '%t', 't_surf'), '%o', o::text);
			IF rows_of(surf) IS DISTINCT FROM rows_of(replace(surf, 't_surf', 't_tree')) THEN
				RETURN NEXT 'other rows: ' || surf;
			END IF;
			s := scanned(surf);
			-- few rows are not worth it but where assertions are compiled in (offset_path.c)
			IF o > 100 AND s.scan > s.lim + spare THEN
				RETURN NEXT s.scan || ' rows fetched for ' || s.lim || ': ' || surf;
			END IF;
		END LOOP;
	END LOOP;
END $$;
