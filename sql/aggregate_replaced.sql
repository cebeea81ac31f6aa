-- Functions of an aggregate that are replaced under a kept plan, or an open cursor
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
CREATE TABLE replaced (a int, b int);
INSERT INTO replaced SELECT g / 4, g FROM generate_series(0, 39) g;
CREATE INDEX ON replaced USING surfidx (a, b);
VACUUM ANALYZE replaced;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- a transition function that becomes strict: core's error, since the first value is no text
CREATE FUNCTION replaced_step(text, int) RETURNS text IMMUTABLE LANGUAGE sql
	AS $$ SELECT coalesce($1, '') || $2::text || ' ' $$;
CREATE AGGREGATE replaced_list(int) (sfunc = replaced_step, stype = text);
SET plan_cache_mode = force_generic_plan;
PREPARE lists AS SELECT a, replaced_list(b) FROM replaced GROUP BY a ORDER BY a LIMIT 2;
EXPLAIN (COSTS OFF) EXECUTE lists;
EXECUTE lists;
BEGIN;
DECLARE c CURSOR FOR SELECT a, replaced_list(b) FROM replaced GROUP BY a ORDER BY a;
CREATE OR REPLACE FUNCTION replaced_step(text, int) RETURNS text IMMUTABLE STRICT LANGUAGE sql
	AS $$ SELECT coalesce($1, '') || $2::text || ' ' $$;
FETCH 2 FROM c;
\set VERBOSITY sqlstate
EXECUTE lists;
ROLLBACK;
\set VERBOSITY default
EXECUTE lists;

-- an aggregate with another type of states: the cursor keeps what it began with
CREATE FUNCTION replaced_text(text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT $1 $$;
CREATE FUNCTION replaced_add(int8, int) RETURNS int8 IMMUTABLE LANGUAGE sql AS $$ SELECT coalesce($1, 0) + $2 $$;
CREATE FUNCTION replaced_number(int8) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT 'sum ' || $1 $$;
CREATE OR REPLACE AGGREGATE replaced_list(int) (sfunc = replaced_step, stype = text, finalfunc = replaced_text);
BEGIN;
DECLARE c CURSOR FOR SELECT a, replaced_list(b) FROM replaced GROUP BY a ORDER BY a;
DECLARE d CURSOR FOR SELECT g, (SELECT replaced_list(b) FROM replaced WHERE a = g) FROM generate_series(0, 9) g;
FETCH 1 FROM d;
CREATE OR REPLACE AGGREGATE replaced_list(int) (sfunc = replaced_add, stype = int8, finalfunc = replaced_number);
FETCH 2 FROM c;
FETCH 2 FROM d;
EXECUTE lists;
COMMIT;
DEALLOCATE lists;
DROP TABLE replaced;
DROP AGGREGATE replaced_list(int);
DROP FUNCTION replaced_step, replaced_text, replaced_add, replaced_number;
