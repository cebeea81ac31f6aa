-- Read by the tests of aggregates with \i: queries of the table "asked", computed by the index and by core, have to have the same rows.
--
--	differences(answered)	the queries whose rows differ (those with ORDER BY in their order, the others sorted), or, if answered, that the index does not answer
--	plan_of(query)	EXPLAIN's lines as one text; analyzed(query): those of EXPLAIN (ANALYZE), that differ from run to run left out
--	declined()		those of the table "declined" that the index answers all the same

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE TABLE asked (n serial, query text);
CREATE TABLE declined (n serial, why text, query text);

CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line	text;
	plan	text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	RETURN plan;
END $$;

CREATE FUNCTION analyzed(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line	text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		IF line !~ 'Index Searches|Workers Launched' THEN
			-- 19 has names for subplans; how many leaves: aggregate_explain
			line := regexp_replace(line, 'SubPlan \w+', 'SubPlan');
			line := regexp_replace(line, 'with TIDs.*', 'n');
			RETURN NEXT regexp_replace(regexp_replace(line, '\.00', '', 'g'), 'Memory Usage: \d+kB', 'Memory Usage');
		END IF;
	END LOOP;
END $$;

CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows	text;
BEGIN
	EXECUTE 'SELECT string_agg(x::text, ''|'' ' || CASE WHEN query ~ 'ORDER BY' THEN '' ELSE 'ORDER BY x::text COLLATE "C"' END || ') FROM (' || query || ') x' INTO rows;
	RETURN rows;
END $$;

CREATE FUNCTION differences(answered bool DEFAULT true) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	q	text;
	a	text;
	b	text;
BEGIN
	FOR q IN SELECT query FROM asked ORDER BY n LOOP
		PERFORM set_config('surfidx.aggregates', 'on', true);
		IF answered AND plan_of(q) !~ 'SurfidxAggregate' THEN
			RETURN NEXT 'not answered: ' || q;
		END IF;
		a := rows_of(q);
		PERFORM set_config('surfidx.aggregates', 'off', true), set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true);
		b := rows_of(q);
		PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'on', true), set_config('surfidx.aggregates', 'on', true);
		IF a IS DISTINCT FROM b THEN
			RETURN NEXT left(q || ': ' || coalesce(a, 'NULL') || ' instead of ' || coalesce(b, 'NULL'), 2000);
		END IF;
	END LOOP;
END $$;

CREATE FUNCTION declined() RETURNS SETOF text LANGUAGE sql AS
	$$ SELECT why FROM declined WHERE plan_of(query) ~ 'SurfidxAggregate' ORDER BY n $$;
