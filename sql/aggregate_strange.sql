-- Strange aggregates, fed by the index, return what core makes of them: states that become NULL, are expanded, composite or of a domain, arguments that are kept,
-- functions that ask or change the table, that catch errors, cursors beside savepoints
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE TYPE strange_pair AS (x int, y text);
CREATE DOMAIN strange_number AS int CHECK (value IS NULL OR value >= 0);
CREATE TABLE t (a int, b text COLLATE "C", id int, v int) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill(low int, high int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO t SELECT nullif(g % 11, 7), nullif(left(md5((g % 40)::text), g % 5), 'c4'), g, nullif(g % 13, 3) FROM generate_series(low, high) g $$;
SELECT fill(1, 1200);
CREATE INDEX ON t USING surfidx (a, b, id) INCLUDE (v);
VACUUM ANALYZE t;

CREATE FUNCTION gone(text, text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT CASE WHEN length($2) = 3 THEN NULL ELSE coalesce($1, '0') || left($2, 2) END $$;
CREATE AGGREGATE gone(text) (sfunc = gone, stype = text);
CREATE FUNCTION gone_strict(text, text) RETURNS text IMMUTABLE STRICT LANGUAGE sql AS $$ SELECT CASE WHEN $2 LIKE '%7%' THEN NULL ELSE $1 || left($2, 2) END $$;
CREATE AGGREGATE gone_strict(text) (sfunc = gone_strict, stype = text);
CREATE AGGREGATE gone_begun(text) (sfunc = gone_strict, stype = text, initcond = '');
CREATE FUNCTION longer(int[], int) RETURNS int[] IMMUTABLE LANGUAGE plpgsql AS $$ DECLARE r int[] := $1; BEGIN r[coalesce(array_length(r, 1), 0) + 1] := $2; RETURN r; END $$;
CREATE FUNCTION weighed(int[]) RETURNS bigint IMMUTABLE LANGUAGE sql AS $$ SELECT sum(n * i) FROM unnest($1) WITH ORDINALITY u (n, i) $$;
CREATE AGGREGATE longer(int) (sfunc = longer, stype = int[]);
CREATE AGGREGATE weighed(int) (sfunc = longer, stype = int[], initcond = '{}', finalfunc = weighed, finalfunc_modify = read_write);
CREATE FUNCTION last_of(anycompatiblearray, anycompatible) RETURNS anycompatible IMMUTABLE LANGUAGE sql AS $$ SELECT $1[array_upper($1, 1)] $$;
CREATE AGGREGATE last_of(anycompatible) (sfunc = array_append, stype = anycompatiblearray, finalfunc = last_of, finalfunc_extra, initcond = '{}');
CREATE FUNCTION argument(anyelement, anyelement) RETURNS anyelement IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN $2; END $$;
CREATE AGGREGATE argument(anyelement) (sfunc = argument, stype = anyelement);
CREATE FUNCTION paired(strange_pair, int, text) RETURNS strange_pair IMMUTABLE LANGUAGE plpgsql AS $$
	DECLARE p strange_pair; BEGIN p.x := coalesce(($1).x, 0) + coalesce($2, 1000); p.y := coalesce($3, ($1).y); RETURN p; END $$;
CREATE AGGREGATE paired(int, text) (sfunc = paired, stype = strange_pair, initcond = '(5,)');
CREATE FUNCTION numbered(strange_number, int) RETURNS strange_number IMMUTABLE LANGUAGE sql AS $$ SELECT (coalesce($1, 0) + coalesce($2, 1))::strange_number $$;
CREATE AGGREGATE numbered(int) (sfunc = numbered, stype = strange_number);
CREATE FUNCTION caught(bigint, int) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN $1 * 3 % 1009 + 100 / ($2 % 5); EXCEPTION WHEN division_by_zero THEN RETURN $1 + 7; END $$;
CREATE AGGREGATE caught(int) (sfunc = caught, stype = bigint, initcond = '0');
CREATE FUNCTION defined(bigint, int) RETURNS bigint IMMUTABLE SECURITY DEFINER SET work_mem = '1MB' LANGUAGE plpgsql AS $$ BEGIN RETURN coalesce($1, 0) * 3 % 1009 + coalesce($2, 1); END $$;
CREATE AGGREGATE defined(int) (sfunc = defined, stype = bigint);
CREATE FUNCTION asks(text, int) RETURNS text STABLE LANGUAGE plpgsql AS $$ BEGIN
	RETURN md5(coalesce($1, '') || (SELECT string_agg(x.s, '' ORDER BY x.a) FROM (SELECT a, gone(b ORDER BY b, id) s FROM t WHERE a < $2 AND id < 100 GROUP BY a) x)); END $$;
CREATE AGGREGATE asks(int) (sfunc = asks, stype = text);

INSERT INTO asked (query) VALUES
	('SELECT a, gone(b ORDER BY b, id), gone_strict(b ORDER BY b, id), gone_begun(b ORDER BY b, id) FILTER (WHERE v > 2) FROM t GROUP BY a'),
	('SELECT a, b, longer(id ORDER BY id), weighed(v ORDER BY id), last_of(b ORDER BY id), last_of(v ORDER BY id) FROM t GROUP BY a, b'),
	('SELECT argument(b ORDER BY a, b, id), argument(ARRAY[id, v] ORDER BY a, b, id), argument(v ORDER BY a, b, id) FROM t WHERE b LIKE ''%a%'''),
	('SELECT a % 3 AS g, sum(v), max(b) FROM t WHERE b LIKE ''%4%'' OR v > 5 GROUP BY a % 3'),
	('SELECT a, paired(v, b ORDER BY b, id), numbered(v), numbered(v) + 1 AS more FROM t GROUP BY a HAVING numbered(v) > 100'),
	('SELECT a, caught(id ORDER BY b, id), defined(v ORDER BY b, id), count(*) FROM t WHERE v IS DISTINCT FROM 4 GROUP BY a ORDER BY a LIMIT 5'),
	('SELECT a, asks(a) FROM t WHERE a < 4 AND id < 60 GROUP BY a'),
	('SELECT g, (SELECT gone(b || g ORDER BY b, id) FROM t WHERE a = g AND id > g) FROM generate_series(0, 11) g'),
	('SELECT g, l.* FROM generate_series(0, 3) g CROSS JOIN LATERAL (SELECT a, longer(id + g ORDER BY b, id) FROM t WHERE a BETWEEN g AND g + 1 AND id < 90 GROUP BY a) l');
SELECT * FROM differences();
SELECT fill(1201, 1500);
DELETE FROM t WHERE id % 7 = 2;
UPDATE t SET v = v + 1 WHERE id % 9 = 4;
SELECT * FROM differences();
\echo cut keys
ALTER INDEX t_a_b_id_v_idx SET (delta_size = 64);
CREATE INDEX ON t USING surfidx (id, v) WITH (keys = cut);
SELECT surfidx_merge('t_a_b_id_v_idx') > 0;
VACUUM t;
INSERT INTO asked (query) VALUES ('SELECT id, longer(v) FROM t WHERE v < 4 GROUP BY id'), ('SELECT longer(v ORDER BY id, v) FILTER (WHERE id > 50) FROM t WHERE v % 2 = 0');
SELECT * FROM differences(false);
DROP INDEX t_id_v_idx;

-- functions that change the table meanwhile: a statement does not see what they do
CREATE FUNCTION inserts(int) RETURNS int LANGUAGE sql AS $$ INSERT INTO t VALUES ($1 % 11, 'new', 5000 + $1, $1), ($1 % 5, 'x', 6000 + $1, 3) RETURNING $1 $$;
CREATE FUNCTION deletes(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM t WHERE id = $1 + 7; UPDATE t SET v = 1, b = 'upd' WHERE id = $1 + 3; RETURN $1; END $$;
CREATE FUNCTION undoes(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES ($1 % 11, 'sub', 7000 + $1); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN RETURN $1; END $$;
CREATE FUNCTION merges(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF $1 % 40 = 0 THEN PERFORM inserts($1), surfidx_merge('t_a_b_id_v_idx'); END IF; RETURN $1; END $$;
DO $do$
DECLARE
	f	text;
	q	text;
	on_off	text;
	seen	text[];
BEGIN
	FOREACH f IN ARRAY ARRAY['inserts', 'deletes', 'undoes', 'merges'] LOOP
		EXECUTE format('CREATE FUNCTION hidden(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT %s($1)); END $$;
			CREATE FUNCTION hidden(bigint, int) RETURNS bigint IMMUTABLE LANGUAGE sql AS $$ SELECT coalesce($1, 0) * 3 %% 1009 + hidden($2) $$;
			CREATE AGGREGATE changes(int) (sfunc = hidden, stype = bigint)', f);
		FOREACH q IN ARRAY ARRAY['SELECT a, changes(id ORDER BY b, id), count(*) FROM t WHERE id < 300 GROUP BY a', 'SELECT sum(hidden(id)), count(*) FILTER (WHERE hidden(v) > 2), max(b) FROM t WHERE id < 300',
				'SELECT DISTINCT a FROM t WHERE id < 300 AND hidden(id) > 30'] LOOP
			seen := '{}';
			FOREACH on_off IN ARRAY ARRAY['on', 'off'] LOOP
				PERFORM set_config('surfidx.aggregates', on_off, true), set_config('enable_indexscan', on_off, true);
				ASSERT plan_of(q) ~ 'SurfidxAggregate' = (on_off = 'on'), q;
				BEGIN
					seen := seen || rows_of(q);
					RAISE assert_failure;
				EXCEPTION WHEN assert_failure THEN
				END;
			END LOOP;
			ASSERT seen[1] = seen[2], f || ': ' || q || ' ' || seen::text;
		END LOOP;
		DROP AGGREGATE changes(int);
		DROP FUNCTION hidden(int), hidden(bigint, int);
	END LOOP;
END $do$;

-- a cursor goes on beside savepoints, merges and deletions of its session, by the snapshot of its beginning
CREATE TABLE whole AS SELECT a, gone(b ORDER BY b, id) g, longer(id ORDER BY b, id) l FROM t GROUP BY a;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT t.a, gone(b ORDER BY b, id) IS NOT DISTINCT FROM (SELECT g FROM whole w WHERE w.a IS NOT DISTINCT FROM t.a) AS g,
	longer(id ORDER BY b, id) = (SELECT l FROM whole w WHERE w.a IS NOT DISTINCT FROM t.a) AS l FROM t GROUP BY a ORDER BY a;
FETCH 2 FROM c;
SAVEPOINT s;
SELECT fill(8001, 8400);
FETCH 1 FROM c;
SELECT surfidx_merge('t_a_b_id_v_idx') > 0;
FETCH 2 FROM c;
ROLLBACK TO s;
FETCH 2 FROM c;
DELETE FROM t WHERE id % 2 = 0;
SELECT surfidx_merge('t_a_b_id_v_idx') >= 0;
FETCH ALL FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;

-- rights that are taken away from a kept plan
CREATE ROLE regress_strange;
GRANT SELECT ON t TO regress_strange;
SET plan_cache_mode = force_generic_plan;
SET ROLE regress_strange;
PREPARE kept AS SELECT count(*), weighed(v ORDER BY a, b, id) IS NULL AS none FROM t;
EXECUTE kept;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION weighed(int) FROM PUBLIC;
SET ROLE regress_strange;
EXECUTE kept;
RESET ROLE;
GRANT EXECUTE ON FUNCTION weighed(int) TO PUBLIC;
ALTER AGGREGATE weighed(int) OWNER TO regress_strange;
REVOKE EXECUTE ON FUNCTION weighed(int[]) FROM PUBLIC;
EXECUTE kept;
DEALLOCATE kept;
GRANT EXECUTE ON FUNCTION weighed(int[]) TO PUBLIC;
ALTER AGGREGATE weighed(int) OWNER TO CURRENT_USER;
DROP OWNED BY regress_strange;
DROP ROLE regress_strange;
SELECT surfidx_check('t_a_b_id_v_idx', true, true);
DROP TABLE t, whole, asked, declined;
DROP AGGREGATE gone(text), gone_strict(text), gone_begun(text), longer(int), weighed(int), last_of(anycompatible), argument(anyelement), paired(int, text), numbered(int),
	caught(int), defined(int), asks(int);
DROP FUNCTION fill, gone, gone_strict, longer, weighed, last_of, argument, paired, numbered, caught, defined, asks, inserts, deletes, undoes, merges,
	plan_of, analyzed, rows_of, differences, declined;
DROP TYPE strange_pair;
DROP DOMAIN strange_number;
