-- ON CONFLICT in every form, in each state of the index, beside btree
\getenv srcdir PG_ABS_SRCDIR
\set states :srcdir '/sql/helpers/states.sql'
\set ECHO none
\i :states
CALL replay($script$
CREATE TABLE t (k int, s text COLLATE "C", v int DEFAULT 0);
CREATE UNIQUE INDEX t_k ON t USING surfidx (k);
INSERT INTO t SELECT i, 's' || i FROM generate_series(1, 5) i;

-- DO NOTHING, without and with a target
INSERT INTO t VALUES (1, 'x'), (6, 's6') ON CONFLICT DO NOTHING RETURNING *;
INSERT INTO t VALUES (1, 'x'), (7, 's7') ON CONFLICT (k) DO NOTHING RETURNING *;
-- rows of one statement that conflict with one another
INSERT INTO t VALUES (8, 'first'), (8, 'second') ON CONFLICT DO NOTHING RETURNING *;
-- NULLs do not conflict
INSERT INTO t VALUES (NULL, 'n'), (NULL, 'n') ON CONFLICT (k) DO NOTHING;

-- DO UPDATE
INSERT INTO t VALUES (1, 'up'), (9, 's9') ON CONFLICT (k) DO UPDATE SET s = excluded.s, v = t.v + 1 RETURNING *;
INSERT INTO t VALUES (1, 'no'), (2, 'yes') ON CONFLICT (k) DO UPDATE SET s = excluded.s WHERE t.k > 1 RETURNING *;
INSERT INTO t VALUES (3) ON CONFLICT (k) DO UPDATE SET k = 30 RETURNING *;
INSERT INTO t VALUES (4) ON CONFLICT (k) DO UPDATE SET k = 5;
INSERT INTO t VALUES (10), (10) ON CONFLICT (k) DO UPDATE SET v = 1;
INSERT INTO t VALUES (1) ON CONFLICT (s) DO NOTHING;
SELECT * FROM t ORDER BY k, s;

INSERT INTO t VALUES (1, 'leaf'), (11, 's11') ON CONFLICT (k) DO UPDATE SET s = excluded.s RETURNING *;
INSERT INTO t SELECT i, 'half' FROM generate_series(1, 14) i ON CONFLICT (k) DO UPDATE SET v = t.v + 10 RETURNING k, v, s;
DELETE FROM t WHERE k = 2;
INSERT INTO t VALUES (2, 'again') ON CONFLICT (k) DO UPDATE SET v = 99 RETURNING *;

-- Savepoints
BEGIN;
SAVEPOINT a;
INSERT INTO t VALUES (20, 'gone') ON CONFLICT DO NOTHING;
ROLLBACK TO a;
INSERT INTO t VALUES (20, 'stays') ON CONFLICT DO NOTHING;
INSERT INTO t VALUES (20, 'late') ON CONFLICT DO NOTHING;
COMMIT;
SELECT * FROM t WHERE k = 20;

-- In WITH, at the top, and both
WITH i AS (INSERT INTO t VALUES (1, 'cte'), (21, 'cte') ON CONFLICT (k) DO UPDATE SET s = excluded.s RETURNING k, s)
SELECT * FROM i ORDER BY k;
WITH i AS (INSERT INTO t VALUES (21, 'x'), (22, 'cte') ON CONFLICT DO NOTHING RETURNING k)
INSERT INTO t SELECT k + 1, 'top' FROM i ON CONFLICT (k) DO NOTHING RETURNING *;
WITH i AS (INSERT INTO t VALUES (22), (24) ON CONFLICT DO NOTHING)
DELETE FROM t WHERE k = 23 RETURNING *;
SELECT k FROM t WHERE k > 20 ORDER BY k;

-- PL/pgSQL and SQL functions
CREATE FUNCTION put_many(n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	new int := 0;
BEGIN
	FOR i IN 1 .. n LOOP
		INSERT INTO t VALUES (100 + i % 7, 'pl') ON CONFLICT (k) DO UPDATE SET v = t.v + 1;
		INSERT INTO t VALUES (100 + i % 9, 'pl') ON CONFLICT DO NOTHING;
		IF FOUND THEN
			new := new + 1;
		END IF;
		BEGIN
			INSERT INTO t VALUES (100, 'pl');
		EXCEPTION WHEN unique_violation THEN
			NULL;
		END;
	END LOOP;
	RETURN new;
END $$;
SELECT put_many(20);
CREATE FUNCTION put_one(int) RETURNS SETOF t LANGUAGE sql AS
	'INSERT INTO t VALUES ($1, ''sql'') ON CONFLICT (k) DO UPDATE SET s = ''sql'' RETURNING *';
SELECT * FROM put_one(100);
SELECT * FROM put_one(110);
SELECT k, s, v FROM t WHERE k >= 100 ORDER BY k;

-- Views and rules
CREATE VIEW tv AS SELECT k, s FROM t WHERE k < 1000 WITH CHECK OPTION;
INSERT INTO tv VALUES (1, 'view'), (40, 'view') ON CONFLICT (k) DO UPDATE SET s = excluded.s RETURNING *;
INSERT INTO tv VALUES (1000, 'view') ON CONFLICT (k) DO UPDATE SET s = excluded.s;
INSERT INTO tv VALUES (40, 'view') ON CONFLICT DO NOTHING RETURNING *;
CREATE TABLE log (k int);
CREATE RULE log_to_t AS ON INSERT TO log DO ALSO INSERT INTO t VALUES (new.k, 'rule') ON CONFLICT DO NOTHING;
INSERT INTO log VALUES (40), (41);
SELECT k, s FROM t WHERE k IN (40, 41) ORDER BY k;

-- Several unique indexes, of both kinds
CREATE TABLE m (id int PRIMARY KEY, a int, b text COLLATE "C", c int);
CREATE UNIQUE INDEX m_ab ON m USING surfidx (a DESC, b) INCLUDE (c);
CREATE UNIQUE INDEX m_c ON m USING surfidx (c);
INSERT INTO m VALUES (1, 1, 'a', 1), (2, 2, 'b', 2);
INSERT INTO m VALUES (1, 9, 'z', 9), (3, 1, 'a', 9), (4, 9, 'z', 1), (5, 5, 'e', 5) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO m VALUES (1, 9, 'z', 9) ON CONFLICT (id) DO UPDATE SET a = 10 RETURNING *;
INSERT INTO m VALUES (8, 10, 'a', 9) ON CONFLICT (b, a) DO UPDATE SET c = 11 RETURNING *;
INSERT INTO m VALUES (8, 8, 'h', 11) ON CONFLICT (c) DO UPDATE SET b = 'c' RETURNING *;
-- a conflict with another index than the target's is an error
INSERT INTO m VALUES (1, 8, 'h', 8) ON CONFLICT (c) DO NOTHING;
INSERT INTO m VALUES (8, 8, 'h', 2) ON CONFLICT (id) DO NOTHING;
INSERT INTO m VALUES (1, 0, '', 0) ON CONFLICT (id) DO UPDATE SET c = 2;
SELECT * FROM m ORDER BY id;

-- Partial indexes, expressions, NULLS NOT DISTINCT
CREATE TABLE e (k int, s text COLLATE "C", gone bool DEFAULT false);
CREATE UNIQUE INDEX e_k ON e USING surfidx (k) WHERE NOT gone;
CREATE UNIQUE INDEX e_s ON e USING surfidx (lower(s), (k % 10));
INSERT INTO e VALUES (1, 'A'), (2, 'B');
INSERT INTO e VALUES (1, 'C', true) ON CONFLICT (k) WHERE NOT gone DO NOTHING RETURNING *;
INSERT INTO e VALUES (1, 'D', false) ON CONFLICT (k) WHERE NOT gone DO UPDATE SET s = 'D' RETURNING *;
INSERT INTO e VALUES (1, 'D') ON CONFLICT (k) DO NOTHING;
INSERT INTO e VALUES (12, 'b'), (13, 'b') ON CONFLICT (lower(s), (k % 10)) DO UPDATE SET s = excluded.s || '!' RETURNING *;
SELECT * FROM e ORDER BY k, s;
CREATE TABLE nn (a int, b int, v int);
CREATE UNIQUE INDEX nn_ab ON nn USING surfidx (a, b) NULLS NOT DISTINCT;
INSERT INTO nn VALUES (1, NULL), (NULL, NULL);
INSERT INTO nn VALUES (1, NULL), (NULL, NULL), (NULL, 1) ON CONFLICT (a, b) DO UPDATE SET v = 1 RETURNING *;
INSERT INTO nn VALUES (1, NULL), (NULL, NULL), (NULL, 1) ON CONFLICT DO NOTHING RETURNING *;

-- Values that are equal and differ, polymorphic classes
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE q (n numeric, m mood, r int4range, a int[], bp char(4));
CREATE UNIQUE INDEX q_n ON q USING surfidx (n);
CREATE UNIQUE INDEX q_mra ON q USING surfidx (m, r, a);
CREATE UNIQUE INDEX q_bp ON q USING surfidx (bp);
INSERT INTO q VALUES (1.0, 'ok', '[1,5)', '{1,2}', 'a');
INSERT INTO q VALUES (1.00, 'sad', '[1,5)', '{1}', 'b') ON CONFLICT (n) DO UPDATE SET n = excluded.n RETURNING *;
INSERT INTO q VALUES (2, 'ok', '[1,4]', '{1,2}', 'b') ON CONFLICT (m, r, a) DO UPDATE SET n = excluded.n RETURNING *;
INSERT INTO q VALUES (3, 'ok', '[1,4]', '{1,3}', 'a   ') ON CONFLICT (bp) DO UPDATE SET n = excluded.n RETURNING *;

-- A collation that takes different strings for equal
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE nd (s text COLLATE ci, v int);
CREATE UNIQUE INDEX nd_s ON nd USING surfidx (s);
INSERT INTO nd VALUES ('Abc', 1), ('abd', 1);
INSERT INTO nd VALUES ('aBC', 2), ('ABE', 2) ON CONFLICT (s) DO UPDATE SET v = excluded.v RETURNING *;
INSERT INTO nd VALUES ('ABD', 3) ON CONFLICT DO NOTHING RETURNING *;
INSERT INTO nd VALUES ('ABD', 3);

-- Temporary, unlogged and inheriting tables; a partition named directly
DROP TABLE IF EXISTS tmp;
CREATE TEMP TABLE tmp (k int);
CREATE UNIQUE INDEX ON tmp USING surfidx (k);
INSERT INTO tmp VALUES (1), (1) ON CONFLICT DO NOTHING RETURNING *;
CREATE UNLOGGED TABLE ul (k int);
CREATE UNIQUE INDEX ON ul USING surfidx (k);
INSERT INTO ul VALUES (1), (1) ON CONFLICT (k) DO NOTHING RETURNING *;
CREATE TABLE parent (k int, v int);
CREATE TABLE kid () INHERITS (parent);
CREATE UNIQUE INDEX ON kid USING surfidx (k);
INSERT INTO kid VALUES (1, 1), (1, 2) ON CONFLICT (k) DO NOTHING RETURNING *;
CREATE TABLE p (k int, v int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1, 2);
CREATE UNIQUE INDEX p1_v ON p1 USING surfidx (v);
INSERT INTO p1 VALUES (1, 1);
INSERT INTO p1 VALUES (1, 3), (2, 1) ON CONFLICT (v) DO UPDATE SET k = 2 RETURNING *;
INSERT INTO p1 VALUES (1, 1), (2, 2) ON CONFLICT DO NOTHING RETURNING *;
$script$);
TABLE outcomes;
\set ECHO all
-- what does not stand in a script: plans, notices, prepared statements
SET surfidx.unique_notice = off;
CREATE SCHEMA onc;
SET search_path = onc, public;
CREATE TABLE t (k int, s text COLLATE "C", v int DEFAULT 0);
CREATE UNIQUE INDEX t_k ON t USING surfidx (k);
INSERT INTO t SELECT i, 's' || i FROM generate_series(1, 5) i;

-- EXPLAIN with and without execution
EXPLAIN (COSTS OFF) INSERT INTO t VALUES (1) ON CONFLICT (k) DO UPDATE SET v = 1;
DO $$ BEGIN EXECUTE 'EXPLAIN ANALYZE INSERT INTO t VALUES (1), (15, ''explained'') ON CONFLICT (k) DO NOTHING'; END $$;
SELECT * FROM t WHERE k = 15;

-- Prepared statements
SET plan_cache_mode = force_generic_plan;
PREPARE put(int, text) AS INSERT INTO t VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET s = excluded.s RETURNING k, s;
EXECUTE put(30, 'a');
EXECUTE put(30, 'b');
DROP INDEX t_k;
EXECUTE put(30, 'c');
CREATE UNIQUE INDEX t_k ON t USING surfidx (k);
EXECUTE put(30, 'd');
DEALLOCATE put;
RESET plan_cache_mode;

-- Triggers
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE '% % % %', tg_when, tg_op, tg_level, CASE WHEN tg_level = 'ROW' THEN new.k END;
	RETURN new;
END $$;
CREATE TABLE tt (k int, v int);
CREATE UNIQUE INDEX tt_k ON tt USING surfidx (k);
INSERT INTO tt VALUES (1, 0);
CREATE TRIGGER a BEFORE INSERT OR UPDATE ON tt FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER b AFTER INSERT OR UPDATE ON tt FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER c BEFORE INSERT OR UPDATE ON tt FOR EACH STATEMENT EXECUTE FUNCTION tell();
INSERT INTO tt VALUES (1), (2) ON CONFLICT (k) DO UPDATE SET v = 1;

-- Many statements, against a table with btree indexes
CREATE TABLE ds (a int, b text COLLATE "C", v int);
CREATE TABLE db (LIKE ds);
CREATE UNIQUE INDEX ds_a ON ds USING surfidx (a);
CREATE UNIQUE INDEX ds_b ON ds USING surfidx (b) WHERE v % 3 > 0;
CREATE UNIQUE INDEX db_a ON db (a);
CREATE UNIQUE INDEX db_b ON db (b) WHERE v % 3 > 0;
DO $$
DECLARE
	how		text[] := ARRAY['', 'DO NOTHING', '(a) DO NOTHING', '(b) WHERE v % 3 > 0 DO NOTHING', '(a) DO UPDATE SET v = %t.v + 1',
		'(a) DO UPDATE SET b = excluded.b, v = excluded.v', '(b) WHERE v % 3 > 0 DO UPDATE SET a = excluded.a + 1000 WHERE %t.v % 2 = 0'];
	query	text;
	n		bigint;
	done	bigint[];
	code	text[];
BEGIN
	PERFORM setseed(0.5);
	FOR i IN 1 .. 2000 LOOP
		query := format('INSERT INTO %%t VALUES (%s, %L, %s)', (random() * 200)::int, 'b' || (random() * 200)::int, i);
		IF random() < 0.9 THEN
			query := query || ' ON CONFLICT ' || how[2 + floor(random() * 6)::int];
		ELSIF random() < 0.3 THEN
			query := format('DELETE FROM %%t WHERE a = %s', (random() * 200)::int);
		END IF;
		FOR j IN 1 .. 2 LOOP
			BEGIN
				EXECUTE replace(query, '%t', CASE j WHEN 1 THEN 'ds' ELSE 'db' END);
				GET DIAGNOSTICS n = ROW_COUNT;
				done[j] := n;
				code[j] := '';
			EXCEPTION WHEN unique_violation THEN
				done[j] := 0;
				code[j] := sqlstate;
			END;
		END LOOP;
		IF done[1] <> done[2] OR code[1] <> code[2] THEN
			RAISE NOTICE 'statement % differs: % (% %, % %)', i, query, done[1], code[1], done[2], code[2];
		END IF;
		IF i % 500 = 0 THEN
			PERFORM surfidx_merge('ds_a');
		END IF;
	END LOOP;
END $$;
SELECT count(*) > 50 AS enough FROM ds;
(TABLE ds EXCEPT TABLE db) UNION ALL (TABLE db EXCEPT TABLE ds);
SELECT surfidx_check('ds_a', true), surfidx_check('ds_b', true);

SET client_min_messages = warning;
DROP SCHEMA onc CASCADE;
