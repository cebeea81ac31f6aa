-- Read by the tests with \i, after compare.sql or alone: a script is run once with btree indexes and once for each state that a surfidx index can be in, statement by statement,
-- and each statement has to have the same outcome: rows, a number of rows, or an error.
--
--	CALL replay(script)		(then TABLE outcomes) statements end with ; at the end of a line, and begin at the start of one; USING surfidx in them becomes USING btree for comparison.
--							Each is a transaction; BEGIN ... COMMIT (or ROLLBACK) make one of several, and SAVEPOINT ... ROLLBACK TO (or RELEASE) stand in it.
--							Where an error ends a transaction, what was left of it is skipped.
--
-- What comes out: each statement with its outcome, once; and what any state makes of it where that differs.
--
--	off		before each statement the indexes are built anew: there is nothing in the delta
--	on		nothing is ever merged
--	half	the delta is merged before every other statement
--	merged	it is merged before each
--
-- A SELECT is answered without index as well, and by each kind of scan.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET max_parallel_workers_per_gather = 0;
SET surfidx.auto_merge = off;
SET surfidx.unique_notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

CREATE TABLE IF NOT EXISTS replayed (state text, n int, statement text, outcome text);
CREATE SEQUENCE IF NOT EXISTS replay_steps;

-- Bring all indexes of the schema into the state.
CREATE OR REPLACE FUNCTION replay_state(state text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	idx regclass;
	step bigint := nextval('public.replay_steps');
BEGIN
	IF state IN ('btree', 'on') OR (state = 'half' AND step % 2 = 0) THEN
		RETURN;
	END IF;
	FOR idx IN SELECT c.oid FROM pg_class c JOIN pg_am a ON a.oid = relam AND amname = 'surfidx' JOIN pg_index ON indexrelid = c.oid
		WHERE relkind = 'i' AND indisvalid AND (relnamespace = 'replay'::regnamespace OR relnamespace = pg_my_temp_schema()) LOOP
		IF state = 'off' THEN
			BEGIN
				EXECUTE format('REINDEX INDEX %s', idx);
				CONTINUE;
			EXCEPTION WHEN object_in_use OR exclusion_violation THEN	-- deferred constraints have something to check yet
			END;
		END IF;
		PERFORM surfidx_merge(idx);
	END LOOP;
END $$;

CREATE OR REPLACE FUNCTION replay_rows(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record;
	found text[] := '{}';
BEGIN
	FOR r IN EXECUTE statement LOOP
		found := found || r::text;
	END LOOP;
	IF statement !~ 'ORDER BY|RETURNING' THEN
		found := ARRAY(SELECT f FROM unnest(found) f ORDER BY f COLLATE "C");
	END IF;
	RETURN cardinality(found) || ' rows: ' || array_to_string(found, ' ');
END $$;

CREATE OR REPLACE FUNCTION replay_scans(mode text) RETURNS void LANGUAGE sql AS $$
	SELECT set_config('enable_' || node, CASE WHEN node = ANY (off) THEN 'off' ELSE 'on' END, false)
	FROM unnest('{seqscan,indexscan,indexonlyscan,bitmapscan}'::text[]) node,
		(SELECT CASE mode WHEN 'seq' THEN '{indexscan,indexonlyscan,bitmapscan}' WHEN 'index' THEN '{seqscan,bitmapscan,indexonlyscan}'
			WHEN 'only' THEN '{seqscan,bitmapscan}' WHEN 'bitmap' THEN '{seqscan,indexscan,indexonlyscan}' ELSE '{}' END::text[]) o (off);
	SELECT;
$$;

-- Run a statement; its outcome, or its error is thrown.
CREATE OR REPLACE FUNCTION replay_one(statement text, state text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	mode text;
	got text;
	want text;
BEGIN
	PERFORM replay_state(state);
	statement := CASE WHEN state = 'btree' THEN regexp_replace(statement, 'USING surfidx', 'USING btree', 'g') ELSE statement END;
	IF statement ~ '^SELECT \w+\([^)]*\)$' THEN
		-- a function, perhaps one that changes something
		RETURN replay_rows(statement);
	ELSIF statement ~ '^(SELECT|TABLE)' THEN
		PERFORM replay_scans('seq');
		want := replay_rows(statement);
		FOREACH mode IN ARRAY '{index,only,bitmap}'::text[] LOOP
			PERFORM replay_scans(mode);
			got := replay_rows(statement);
			EXIT WHEN got <> want;
		END LOOP;
		PERFORM replay_scans('all');
		RETURN CASE WHEN got = want THEN got ELSE 'BY INDEX ' || got || ' WITHOUT ' || want END;
	ELSIF statement ~ '^WITH|^(INSERT|UPDATE|DELETE|MERGE).*RETURNING' THEN
		RETURN replay_rows(statement);
	END IF;
	EXECUTE statement;
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN CASE WHEN statement ~ '^(INSERT|UPDATE|DELETE|MERGE)' THEN n || ' rows' ELSE 'done' END;
END $$;

-- A transaction, or what follows a savepoint: one outcome for each statement.
CREATE OR REPLACE FUNCTION replay_group(statements text[], state text, undo bool, top bool DEFAULT true) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	outcomes text[] := '{}';
	i int := 1;
	j int;
	message text;
	detail text;
BEGIN
	BEGIN
		WHILE i <= cardinality(statements) LOOP
			IF statements[i] ~ '^SAVEPOINT' THEN
				j := i + 1;
				WHILE statements[j] !~ '^(ROLLBACK TO|RELEASE)' LOOP
					j := j + 1;
				END LOOP;
				outcomes := outcomes || ''::text || replay_group(statements[i + 1 : j - 1], state, statements[j] ~ '^ROLLBACK', false) || ''::text;
				i := j + 1;
			ELSE
				outcomes := outcomes || replay_one(statements[i], state);
				i := i + 1;
			END IF;
		END LOOP;
		IF top THEN
			-- as COMMIT would
			SET CONSTRAINTS ALL IMMEDIATE;
		END IF;
		IF undo THEN
			RAISE EXCEPTION USING ERRCODE = 'ZZ999';
		END IF;
	EXCEPTION
		WHEN SQLSTATE 'ZZ999' THEN
		WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
			outcomes := outcomes || concat_ws(' ', SQLSTATE, message, nullif(detail, ''));
	END;
	-- what was skipped; an error of the last check comes after all
	IF cardinality(outcomes) < cardinality(statements) THEN
		outcomes := outcomes || array_fill('skipped'::text, ARRAY[cardinality(statements) - cardinality(outcomes)]);
	END IF;
	RETURN outcomes;
END $$;

CREATE OR REPLACE PROCEDURE replay(script text) LANGUAGE plpgsql AS $$
DECLARE
	-- without the comments before them
	statements text[] := ARRAY(SELECT t FROM regexp_split_to_table(script, ';[ \t]*\n(?![ \t]|END|BEGIN\n)') WITH ORDINALITY u (s, n),
		LATERAL (SELECT btrim(regexp_replace(s, '^(\s*--[^\n]*\n)+', ''), E' \t\n;')) v (t) WHERE t <> '' ORDER BY n);
	outcomes text[];
	state text;
	i int;
	j int;
BEGIN
	TRUNCATE replayed;
	PERFORM set_config('client_min_messages', 'warning', false);
	FOREACH state IN ARRAY '{btree,off,on,half,merged}'::text[] LOOP
		DROP SCHEMA IF EXISTS replay CASCADE;
		CREATE SCHEMA replay;
		PERFORM set_config('search_path', 'replay, public', false), setval('replay_steps', 1), setseed(0.5);
		i := 1;
		WHILE i <= cardinality(statements) LOOP
			COMMIT;
			j := i;
			IF statements[i] = 'BEGIN' THEN
				WHILE statements[j] !~ '^(COMMIT|ROLLBACK)$' LOOP
					j := j + 1;
				END LOOP;
				outcomes := ''::text || replay_group(statements[i + 1 : j - 1], state, statements[j] = 'ROLLBACK');
			ELSE
				outcomes := replay_group(statements[i : i], state, false);
			END IF;
			INSERT INTO public.replayed SELECT state, i + k - 1, CASE WHEN i + k - 1 <= j THEN statements[i + k - 1] ELSE 'COMMIT' END, outcomes[k]
				FROM generate_subscripts(outcomes, 1) k;
			i := j + 1;
		END LOOP;
		-- nothing is wrong with any index
		INSERT INTO public.replayed SELECT state, cardinality(statements) + 1, 'surfidx_check_all', coalesce(string_agg(problem, ', '), 'sound') FROM surfidx_check_all(true, true);
	END LOOP;
	DROP SCHEMA replay CASCADE;
	PERFORM set_config('search_path', 'public', false), set_config('client_min_messages', 'notice', false);
END $$;

CREATE OR REPLACE VIEW outcomes AS
	SELECT line FROM (
		SELECT n, 1 AS part, '' AS state, regexp_replace(statement, '\s+', ' ', 'g') AS line FROM replayed WHERE state = 'btree'
		UNION ALL SELECT n, 2, '', '=> ' || outcome FROM replayed WHERE state = 'btree' AND outcome NOT IN ('', 'done')
		UNION ALL SELECT n, 3, r.state, 'WRONG when ' || r.state || ': ' || coalesce(r.outcome, 'nothing') FROM replayed r LEFT JOIN replayed b USING (n)
		WHERE b.state = 'btree' AND r.state <> 'btree' AND r.outcome IS DISTINCT FROM b.outcome
		UNION ALL SELECT n, 4, '', 'in ' || count(*) || ' states of 5' FROM replayed GROUP BY n HAVING count(*) <> 5) l
	ORDER BY n, part, state;

RESET client_min_messages;
\pset tuples_only on
\pset format unaligned
