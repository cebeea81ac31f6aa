-- The phases of a build, as pg_stat_progress_create_index names them: seen from within, by an expression and a comparison function
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
CREATE SEQUENCE prg."building index: sorting keys";
CREATE SEQUENCE prg."building index: writing pages";
CREATE TYPE prg.part AS (i int);
CREATE TYPE prg.whole AS (p prg.part);
CREATE FUNCTION prg.cmp(a prg.part, b prg.part) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM prg.look();
	RETURN pg_catalog.btint4cmp(a.i, b.i);
END $$;
CREATE FUNCTION prg.lt(prg.part, prg.part) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT prg.cmp($1, $2) < 0';
CREATE FUNCTION prg.le(prg.part, prg.part) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT prg.cmp($1, $2) <= 0';
CREATE FUNCTION prg.eq(prg.part, prg.part) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT prg.cmp($1, $2) = 0';
CREATE FUNCTION prg.ge(prg.part, prg.part) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT prg.cmp($1, $2) >= 0';
CREATE FUNCTION prg.gt(prg.part, prg.part) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT prg.cmp($1, $2) > 0';
CREATE OPERATOR prg.< (LEFTARG = prg.part, RIGHTARG = prg.part, FUNCTION = prg.lt);
CREATE OPERATOR prg.<= (LEFTARG = prg.part, RIGHTARG = prg.part, FUNCTION = prg.le);
CREATE OPERATOR prg.= (LEFTARG = prg.part, RIGHTARG = prg.part, FUNCTION = prg.eq);
CREATE OPERATOR prg.>= (LEFTARG = prg.part, RIGHTARG = prg.part, FUNCTION = prg.ge);
CREATE OPERATOR prg.> (LEFTARG = prg.part, RIGHTARG = prg.part, FUNCTION = prg.gt);
CREATE OPERATOR CLASS prg.part_ops DEFAULT FOR TYPE prg.part USING btree AS
	OPERATOR 1 prg.<, OPERATOR 2 prg.<=, OPERATOR 3 prg.=, OPERATOR 4 prg.>=, OPERATOR 5 prg.>, FUNCTION 1 prg.cmp(prg.part, prg.part);
CREATE FUNCTION prg.of(i int) RETURNS prg.whole LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM prg.look();
	RETURN ROW(ROW(i)::prg.part)::prg.whole;
END $$;
CREATE TABLE prg.t AS SELECT g * 7 % 31 AS i FROM generate_series(1, 30) g;
CREATE INDEX ON prg.t USING surfidx (prg.of(i));
SELECT 'scanning table' AS phase, is_called FROM prg."building index: scanning table"
UNION ALL SELECT 'sorting keys', is_called FROM prg."building index: sorting keys"
UNION ALL SELECT 'writing pages', is_called FROM prg."building index: writing pages";
SELECT surfidx_check('prg.t_of_idx', true, true);
SET client_min_messages = warning;
DROP SCHEMA prg CASCADE;
