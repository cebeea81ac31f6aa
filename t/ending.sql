-- What ends each test of sql/ and specs/: before anything is dropped, and when the test is over, every surfidx index of
-- the database is checked, heapallindexed and rowsmatch.  t/ending.sh runs this in front of each test.
\set QUIET on
\set ON_ERROR_STOP on
SELECT NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'surfidx_ending') AS missing \gset
\if :missing
BEGIN;
SET LOCAL client_min_messages = warning;
CREATE SCHEMA surfidx_ending;

-- A warning for each index that is not sound; a test that damages some on purpose names them in surfidx_ending.damaged.
-- The search path is the session's: indexed functions may depend on it.
CREATE FUNCTION surfidx_ending.check_all() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET client_min_messages = warning AS $$
DECLARE
	nsp text;
	r record;
BEGIN
	SELECT pg_catalog.quote_ident(n.nspname) INTO nsp
		FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
		WHERE e.extname = 'surfidx';
	IF nsp IS NULL THEN
		RETURN;
	END IF;
	FOR r IN EXECUTE 'SELECT indexrelid::pg_catalog.regclass AS index, problem FROM ' || nsp || '.surfidx_check_all(true, true) WHERE problem IS NOT NULL'
	LOOP
		CONTINUE WHEN r.index::pg_catalog.text = ANY (pg_catalog.string_to_array(pg_catalog.current_setting('surfidx_ending.damaged', true), ' '));
		RAISE WARNING 'the ending of the test: index %: %', r.index, r.problem;
	END LOOP;
END
$$;

CREATE FUNCTION surfidx_ending.before_drop() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM surfidx_ending.check_all();
END
$$;

GRANT USAGE ON SCHEMA surfidx_ending TO PUBLIC;
CREATE EVENT TRIGGER surfidx_ending ON ddl_command_start
	WHEN TAG IN ('DROP TABLE', 'DROP INDEX', 'DROP SCHEMA', 'DROP MATERIALIZED VIEW', 'DROP TYPE', 'DROP OWNED', 'DROP EXTENSION')
	EXECUTE FUNCTION surfidx_ending.before_drop();
COMMIT;
\endif
