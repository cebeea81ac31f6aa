-- Read by the tests of plans with \i: the same tables with the same indexes, once surfidx (schema sx) and once btree (schema bt).
--
--	twice(statement)	run it in both schemas, %am being the access method
--	show(query)			its plan and the number of its rows, if both are the same in both schemas (the rows in order, where an order is asked for); else the difference
--	same(query)			the same without the plan, for where it differs between versions of PostgreSQL
--	lifted(query)		show() and, beside it, what surfidx gets without surfidx.planner_lift
--	in_states()			all that was asked so far, in each state of the indexes: everything built anew (off), everything in the delta (on), half of each (half), everything merged
--						(merged); by each kind of scan and without index. Only mismatches come out, and a number. It changes the tables of sx, so it stands at the end.
--	plans_end()			drop everything
-- Costs are those of btree, but for what reading ahead saves.
SET surfidx.read_ahead = 0;

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET surfidx.aggregates = off;
SET surfidx.unique_notice = off;
SET max_parallel_workers_per_gather = 0;
SET enable_memoize = off;
\pset tuples_only on
\pset format unaligned
CREATE SCHEMA sx;
CREATE SCHEMA bt;
CREATE TABLE asked (n serial, query text);

CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line	text;
	plan	text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		-- versions write subplans' names differently, and 19 tells why there is a Result
		CONTINUE WHEN line ~ '^ *Replaces: ';
		line := regexp_replace(line, '((Init|Sub)Plan) \w+', '\1');
		plan := plan || regexp_replace(line, ' \(returns .*\)', '') || E'\n';
	END LOOP;
	RETURN plan;
END $$;

CREATE FUNCTION rows_of(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	r		record;
	found	text[] := '{}';
BEGIN
	FOR r IN EXECUTE query LOOP
		found := found || r::text;
	END LOOP;
	IF query !~ 'ORDER BY' THEN
		RETURN ARRAY(SELECT unnest(found) ORDER BY 1);
	END IF;
	RETURN found;
END $$;

CREATE FUNCTION show(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan	text[];
	rows_	text[];
BEGIN
	INSERT INTO asked VALUES (DEFAULT, query);
	PERFORM set_config('search_path', 'sx, public', true);
	plan[1] := plan_of(query);
	rows_ := rows_of(query);
	PERFORM set_config('search_path', 'bt, public', true);
	plan[2] := plan_of(query);
	RETURN QUERY SELECT * FROM string_to_table(rtrim(plan[1], E'\n'), E'\n');
	IF plan[1] <> plan[2] THEN
		RETURN QUERY SELECT 'BTREE: ' || l FROM string_to_table(rtrim(plan[2], E'\n'), E'\n') l;
	END IF;
	RETURN NEXT CASE WHEN rows_ = rows_of(query) THEN format('(%s rows, plan %s)', cardinality(rows_),
		CASE WHEN plan[1] = plan[2] THEN 'and rows as btree' ELSE 'not as btree' END) ELSE 'WRONG ROWS' END;
	PERFORM set_config('search_path', 'public', true);
END $$;

-- The same without the plan, where it differs between versions of PostgreSQL
CREATE FUNCTION same(query text) RETURNS text LANGUAGE sql AS $$
	SELECT l FROM show(query) l WHERE l ~ '^\(\d+ rows|WRONG';
$$;

-- For statements that differ only in the access method: %am
CREATE FUNCTION twice(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('search_path', 'sx, public', true);
	EXECUTE replace(statement, '%am', 'surfidx');
	PERFORM set_config('search_path', 'bt, public', true);
	EXECUTE replace(statement, '%am', 'btree');
	PERFORM set_config('search_path', 'public', true);
END $$;

-- What surfidx gets with the lift and without
CREATE FUNCTION lifted(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	rows_	text[];
BEGIN
	RETURN QUERY SELECT * FROM show(query);
	PERFORM set_config('search_path', 'sx, public', true);
	rows_ := rows_of(query);
	PERFORM set_config('surfidx.planner_lift', 'off', true);
	RETURN QUERY SELECT 'without: ' || l FROM string_to_table(rtrim(plan_of(query), E'\n'), E'\n') l;
	IF rows_ <> rows_of(query) THEN
		RETURN NEXT 'WRONG ROWS';
	END IF;
	PERFORM set_config('surfidx.planner_lift', 'on', true);
	PERFORM set_config('search_path', 'public', true);
END $$;

-- The entries of all surfidx indexes, in a state.
CREATE FUNCTION put_state(state text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	tab regclass;
	idx regclass;
BEGIN
	FOR tab IN SELECT DISTINCT indrelid FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam AND amname = 'surfidx'
		WHERE relnamespace = 'sx'::regnamespace AND relkind = 'i' ORDER BY 1 LOOP
		IF state IN ('on', 'half') THEN
			EXECUTE format('CREATE TEMP TABLE kept AS SELECT * FROM %s', tab);
			EXECUTE format('TRUNCATE %s', tab);
			IF state = 'half' THEN
				EXECUTE format('INSERT INTO %s SELECT k.* FROM kept k ORDER BY ctid LIMIT (SELECT count(*) / 2 FROM kept)', tab);
			END IF;
		END IF;
		FOR idx IN SELECT indexrelid FROM pg_index i JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam AND amname = 'surfidx' WHERE indrelid = tab LOOP
			IF state = 'off' THEN
				EXECUTE format('REINDEX INDEX %s', idx);
			ELSIF state <> 'on' THEN
				PERFORM surfidx_merge(idx);
			END IF;
		END LOOP;
		IF state IN ('on', 'half') THEN
			EXECUTE format('INSERT INTO %s SELECT k.* FROM kept k ORDER BY ctid OFFSET %s', tab, CASE state WHEN 'half' THEN '(SELECT count(*) / 2 FROM kept)' ELSE '0' END);
			DROP TABLE kept;
		END IF;
		EXECUTE format('ANALYZE %s', tab);
	END LOOP;
END $$;

CREATE FUNCTION in_states() RETURNS SETOF text LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
	q		record;
	state	text;
	mode	text;
	want	text[];
BEGIN
	FOREACH state IN ARRAY '{half,merged,on,off}'::text[] LOOP
		PERFORM put_state(state);
		FOR q IN SELECT * FROM asked ORDER BY n LOOP
			PERFORM set_config('search_path', 'bt, public', true);
			want := rows_of(q.query);
			PERFORM set_config('search_path', 'sx, public', true);
			FOREACH mode IN ARRAY '{seqscan,indexscan,bitmapscan}'::text[] LOOP
				PERFORM set_config('enable_' || m, CASE WHEN m = mode OR m = 'indexonlyscan' AND mode = 'indexscan' THEN 'on' ELSE 'off' END, true) FROM unnest('{seqscan,indexscan,indexonlyscan,bitmapscan}'::text[]) m;
				IF rows_of(q.query) <> want THEN
					RETURN NEXT format('WRONG when %s, by %s: %s', state, mode, q.query);
				END IF;
			END LOOP;
			PERFORM set_config('enable_' || m, 'on', true) FROM unnest('{seqscan,indexscan,indexonlyscan,bitmapscan}'::text[]) m;
		END LOOP;
		RETURN QUERY SELECT format('%s: %s', indexrelname, problem) FROM surfidx_check_all(true, true) WHERE problem IS NOT NULL;
	END LOOP;
	PERFORM set_config('search_path', 'public', true);
	RETURN NEXT format('%s queries in 4 states', (SELECT count(*) FROM asked));
END $$;

CREATE FUNCTION plans_end() RETURNS void LANGUAGE plpgsql SET client_min_messages = warning AS $$
BEGIN
	DROP SCHEMA sx, bt CASCADE;
	DROP TABLE asked;
	DROP FUNCTION in_states, put_state, lifted, same, show, plan_of, rows_of, twice;
END $$;
