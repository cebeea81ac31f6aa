-- The phases of a build, as pg_stat_progress_create_index names them: seen from within, by an expression; t/stops/builds looks at the others
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
CREATE SCHEMA prg;
CREATE FUNCTION prg.look() RETURNS void LANGUAGE plpgsql AS $$
DECLARE p text;
BEGIN
	PERFORM pg_catalog.pg_stat_clear_snapshot();
	SELECT phase INTO p FROM pg_catalog.pg_stat_progress_create_index WHERE pid = pg_catalog.pg_backend_pid();
	IF p IS NOT NULL THEN
		PERFORM pg_catalog.setval(pg_catalog.format('prg.%I', p)::regclass, 1);
	END IF;
END $$;
CREATE SEQUENCE prg."building index: initializing";
CREATE SEQUENCE prg."building index: scanning table";
CREATE FUNCTION prg.of(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM prg.look();
	RETURN i;
END $$;
CREATE TABLE prg.t AS SELECT g * 7 % 31 AS i FROM generate_series(1, 30) g;
CREATE INDEX ON prg.t USING surfidx (prg.of(i));
SELECT 'scanning table' AS phase, is_called FROM prg."building index: scanning table";
SELECT surfidx_check('prg.t_of_idx', true, true);
SET client_min_messages = warning;
DROP SCHEMA prg CASCADE;
