-- Foreign keys that refer to a surfidx index: each statement that creates or rebuilds one writes into
-- the catalogs what it writes for btree, and refuses what it refuses there. The same statements run
-- in two schemas; $ stands for the clause that names the method.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.unique_notice = off;
CREATE ROLE foreign_refer_other;
CREATE SCHEMA of_btree;
CREATE SCHEMA of_surfidx;
GRANT USAGE, CREATE ON SCHEMA of_btree, of_surfidx TO foreign_refer_other;

-- foreign keys, their triggers, and what they depend on, by name
CREATE FUNCTION public.keys_of(place name) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('%s.%s %s %s %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated,
		conindid::regclass, conparentid <> 0, coninhcount) || format(' %s %s %s', conpfeqop::oid[]::regoperator[],
		conppeqop::oid[]::regoperator[], conffeqop::oid[]::regoperator[]) || coalesce(' ' || obj_description(oid, 'pg_constraint'), '')
		FROM pg_constraint WHERE contype = 'f' AND connamespace = place::regnamespace
	UNION ALL SELECT format('%s %s %s %s %s %s %s', tgrelid::regclass, tgfoid::regproc, conname, tgdeferrable, tginitdeferred,
		tgconstrrelid::regclass, tgconstrindid::regclass)
		FROM pg_trigger t JOIN pg_constraint c ON c.oid = tgconstraint WHERE connamespace = place::regnamespace
	UNION ALL SELECT format('%s %s %s', conname, pg_describe_object(refclassid, refobjid, refobjsubid), deptype)
		FROM pg_depend JOIN pg_constraint c ON classid = 'pg_constraint'::regclass AND objid = c.oid
		WHERE contype = 'f' AND connamespace = place::regnamespace
	ORDER BY 1
$$;

-- 'same', or how the two differ
CREATE FUNCTION public.alike(script text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	place text;
	said text[];
	ended text;
BEGIN
	FOREACH place IN ARRAY ARRAY['of_btree', 'of_surfidx'] LOOP
		PERFORM set_config('search_path', place || ', public', false);
		ended := 'done';
		BEGIN
			EXECUTE replace(script, '$', CASE place WHEN 'of_surfidx' THEN 'WITH (access_method = surfidx)' ELSE '' END);
			SET CONSTRAINTS ALL IMMEDIATE;
		EXCEPTION WHEN others THEN
			-- which of several keys is named differs in 19, where btree's are checked by a short way
			ended := sqlstate || ' ' || regexp_replace(sqlerrm, 'violates foreign key constraint "\w+"', 'violates a foreign key');
		END;
		said := said || ended;
	END LOOP;
	PERFORM set_config('search_path', 'public', false);
	IF said[1] <> said[2] THEN
		RETURN QUERY SELECT * FROM unnest(said);
	ELSE
		RETURN QUERY SELECT 'same: ' || said[1];
	END IF;
	RETURN QUERY (SELECT '- ' || replace(k, 'of_btree', '') FROM keys_of('of_btree') k
		EXCEPT ALL SELECT '- ' || replace(k, 'of_surfidx', '') FROM keys_of('of_surfidx') k)
		UNION ALL (SELECT '+ ' || replace(k, 'of_surfidx', '') FROM keys_of('of_surfidx') k
		EXCEPT ALL SELECT '+ ' || replace(k, 'of_btree', '') FROM keys_of('of_btree') k);
	-- each index has its own classes again
	RETURN QUERY SELECT format('%s has a class of %s', indexrelid::regclass, opcmethod)
		FROM pg_index i JOIN pg_class c ON c.oid = indexrelid, unnest(indclass) k JOIN pg_opclass o ON o.oid = k
		WHERE relnamespace IN ('of_btree'::regnamespace, 'of_surfidx'::regnamespace) AND opcmethod <> relam;
END $$;

\pset tuples_only on
-- CREATE TABLE: of a column, of the table, several, to itself; types that differ, a domain
SELECT alike($$ CREATE DOMAIN big AS int8; CREATE TABLE ref (k int8 PRIMARY KEY $, t text COLLATE "C" UNIQUE $, n numeric(9, 2), d date, up int8 REFERENCES ref,
	UNIQUE (n, d) $); CREATE TABLE kept (k int PRIMARY KEY) $$);
SELECT alike($$ CREATE TABLE one (k int REFERENCES ref, s smallint REFERENCES ref ON DELETE SET NULL ON UPDATE CASCADE, b big REFERENCES ref (k)
	DEFERRABLE INITIALLY DEFERRED, old int REFERENCES kept, t text REFERENCES ref (t) ON DELETE CASCADE, v varchar(9) REFERENCES ref (t),
	d date, n numeric, CONSTRAINT pair FOREIGN KEY (d, n) REFERENCES ref (d, n) MATCH FULL ON DELETE SET DEFAULT, FOREIGN KEY (n, d) REFERENCES ref (n, d)) $$);
SELECT alike($$ CREATE TABLE self (k int PRIMARY KEY $, up int CONSTRAINT up_fk REFERENCES self, two int, FOREIGN KEY (two) REFERENCES self (k)) $$);
-- ALTER TABLE: alone, several, with other commands, with a column, with the index itself, NOT VALID
SELECT alike($$ INSERT INTO ref SELECT i, 't' || i, i, date '2026-01-01' + i, nullif(i - 1, 0) FROM generate_series(1, 300) i;
	CREATE TABLE two (k int, t text, x int8, CONSTRAINT two_x_check CHECK (x > 0)); INSERT INTO two SELECT i, 't' || i, i FROM generate_series(1, 200) i;
	ALTER TABLE two ADD CONSTRAINT two_fk FOREIGN KEY (k) REFERENCES ref ON DELETE CASCADE $$);
SELECT alike($$ ALTER TABLE two ADD FOREIGN KEY (k) REFERENCES ref, ADD FOREIGN KEY (k) REFERENCES ref (k), ADD FOREIGN KEY (t) REFERENCES ref (t) $$);
SELECT alike($$ ALTER TABLE two ADD c int REFERENCES ref DEFERRABLE INITIALLY DEFERRED DEFAULT 3, ADD d int REFERENCES ref NOT DEFERRABLE UNIQUE $,
	ADD e int REFERENCES kept, ADD CHECK (k > 0), ADD FOREIGN KEY (x) REFERENCES ref $$);
SELECT alike($$ ALTER TABLE two ADD COLUMN IF NOT EXISTS c int REFERENCES ref, ADD COLUMN IF NOT EXISTS f int REFERENCES ref INITIALLY DEFERRED $$);
SELECT alike($$ ALTER TABLE two ADD g int REFERENCES ref DEFERRABLE NOT DEFERRABLE $$);
SELECT alike($$ ALTER TABLE two ADD PRIMARY KEY (k) $, ADD up int REFERENCES two, ADD FOREIGN KEY (x) REFERENCES two $$);
SELECT alike($$ ALTER TABLE two ADD CONSTRAINT later FOREIGN KEY (x) REFERENCES ref NOT VALID $$);
SELECT alike($$ ALTER TABLE two VALIDATE CONSTRAINT later; ALTER TABLE two ALTER CONSTRAINT later DEFERRABLE; COMMENT ON CONSTRAINT later ON two IS 'kept' $$);
SELECT alike($$ ALTER TABLE IF EXISTS nowhere ADD FOREIGN KEY (x) REFERENCES ref $$);
SELECT alike($$ CREATE UNLOGGED TABLE light (k int REFERENCES ref); CREATE TEMP TABLE tref (k int PRIMARY KEY $, up int REFERENCES tref); DROP TABLE tref $$);
-- what is an error
SELECT alike($$ CREATE TEMP TABLE bad (k int REFERENCES ref) $$);
SELECT alike($$ CREATE TABLE bad (k text REFERENCES ref) $$);
SELECT alike($$ CREATE TABLE bad (k date REFERENCES ref (d)) $$);
SELECT alike($$ CREATE TABLE bad (k int, FOREIGN KEY (k, k) REFERENCES ref (k, k)) $$);
SELECT alike($$ CREATE TABLE bad (k int, FOREIGN KEY (k) REFERENCES ref (n, d)) $$);
SELECT alike($$ CREATE TABLE bad (k int REFERENCES ref REFERENCES nothing) $$);
SELECT alike($$ ALTER TABLE two ADD CONSTRAINT two_fk FOREIGN KEY (k) REFERENCES ref $$);
SELECT alike($$ ALTER TABLE two ADD CONSTRAINT bad FOREIGN KEY (nix) REFERENCES ref $$);
SELECT alike($$ INSERT INTO two VALUES (1000, NULL, 1) $$);
SELECT alike($$ ALTER TABLE two DROP CONSTRAINT two_fk, DROP CONSTRAINT two_k_fkey, DROP CONSTRAINT two_k_fkey1; INSERT INTO two VALUES (1000, NULL, 1) $$);
SELECT alike($$ ALTER TABLE two ADD FOREIGN KEY (k) REFERENCES ref $$);
SELECT alike($$ CREATE TABLE lazy (k int PRIMARY KEY $ DEFERRABLE); CREATE TABLE bad (k int REFERENCES lazy) $$);
SELECT alike($$ SET LOCAL ROLE foreign_refer_other; CREATE TABLE bad (k int REFERENCES ref) $$);
SELECT alike($$ SET LOCAL ROLE foreign_refer_other; ALTER TABLE two ADD FOREIGN KEY (k) REFERENCES ref $$);
-- what core makes out of sight: partitions, copies, another type of a column
SELECT alike($$ CREATE TABLE parts (k int REFERENCES ref ON DELETE CASCADE, x int) PARTITION BY RANGE (k); CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
	CREATE TABLE parts2 (x int, k int); INSERT INTO parts2 SELECT i, i FROM generate_series(100, 150) i; ALTER TABLE parts ATTACH PARTITION parts2 FOR VALUES FROM (100) TO (200);
	ALTER TABLE parts ADD CONSTRAINT parts_x FOREIGN KEY (x) REFERENCES ref; CREATE TABLE parts3 PARTITION OF parts FOR VALUES FROM (200) TO (300) PARTITION BY LIST (k);
	ALTER TABLE parts DETACH PARTITION parts1 $$);
SELECT alike($$ ALTER TABLE two ALTER x TYPE int4, ALTER c TYPE int8, ALTER t TYPE varchar $$);
SELECT alike($$ ALTER TABLE one ALTER k TYPE int8, ALTER d TYPE date, ALTER n TYPE numeric(12, 3) $$);
SELECT alike($$ ALTER TABLE parts ALTER x TYPE int8 $$);
SELECT alike($$ ALTER TABLE ref ALTER k TYPE int4, ALTER n TYPE numeric $$);
SELECT alike($$ ALTER TABLE two ALTER x TYPE text $$);
SELECT alike($$ ALTER TABLE two DROP CONSTRAINT later, DROP COLUMN f $$);
SELECT alike($$ ALTER TABLE two ADD i int CONSTRAINT i_fk REFERENCES ref, ADD j int REFERENCES ref $$);
SELECT alike($$ ALTER TABLE two ALTER i TYPE int8, DROP CONSTRAINT i_fk, ALTER j TYPE int8, DROP CONSTRAINT two_x_check $$);
SELECT alike($$ ALTER TABLE one ALTER d TYPE timestamp, DROP COLUMN n $$);
SELECT alike($$ ALTER TABLE self DROP CONSTRAINT self_pkey CASCADE, ALTER k TYPE int8 $$);
CREATE UNIQUE INDEX ON of_btree.kept (k);
ALTER TABLE of_btree.kept DROP CONSTRAINT kept_pkey CASCADE;
ALTER TABLE of_surfidx.kept DROP CONSTRAINT kept_pkey CASCADE;
CREATE UNIQUE INDEX ON of_surfidx.kept USING surfidx (k);
SELECT alike($$ CREATE TABLE kept_by (k int REFERENCES kept (k)) $$);
SELECT alike($$ ALTER TABLE kept ALTER k TYPE int8 $$);
SELECT alike($$ ALTER TABLE kept_by ALTER k TYPE int8 $$);
-- keys hold, and do what they do
SELECT alike($$ DELETE FROM ref WHERE k = 260 $$);
SELECT alike($$ DELETE FROM two WHERE k = 1000; UPDATE ref SET up = NULL; DELETE FROM ref WHERE k BETWEEN 100 AND 110 $$);
SELECT count(*), sum(k), sum(x) FROM of_btree.parts UNION ALL SELECT count(*), sum(k), sum(x) FROM of_surfidx.parts;
SELECT alike($$ INSERT INTO parts VALUES (105) $$);

\pset tuples_only off
-- before 18 an ALTER COLUMN TYPE takes such keys down, and nothing else may ask for them
CREATE FUNCTION public.before_18(script text, words text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE script;
	RETURN current_setting('server_version_num')::int >= 180000;
EXCEPTION WHEN feature_not_supported THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN current_setting('server_version_num')::int < 180000 AND sqlerrm ~ words AND hint ~ 'of its own';
END $$;
SET search_path = of_surfidx, public;
SELECT before_18('ALTER TABLE two ALTER c TYPE int4, VALIDATE CONSTRAINT two_c_fkey', 'of table "two" because foreign key "two_c_fkey" on table "two" refers');
ALTER TABLE kept OWNER TO foreign_refer_other;
SET ROLE foreign_refer_other;
SELECT before_18('ALTER TABLE kept ALTER k TYPE int8', 'of table "kept" because foreign key "kept_by_k_fkey" on table "kept_by" refers');
RESET ROLE;
-- a key that is new may, and one that goes
ALTER TABLE two ALTER c TYPE int4, ADD CONSTRAINT more FOREIGN KEY (c) REFERENCES ref;
ALTER TABLE two ALTER c TYPE int8, DROP CONSTRAINT more;
SET search_path = of_surfidx, public;

-- a session that has the index open goes on
BEGIN;
SET LOCAL enable_seqscan = off;
DECLARE c CURSOR FOR SELECT k FROM ref WHERE k > 5 ORDER BY k;
FETCH 2 FROM c;
CREATE TABLE beside (k int REFERENCES ref);
FETCH 2 FROM c;
COMMIT;
-- triggers that look at tables when the statement begins, and at keys when it ends
CREATE FUNCTION look() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
	c record;
BEGIN
	RAISE NOTICE '%: % row', tg_event, (SELECT count(*) FROM of_surfidx.ref WHERE k = 7);
	IF tg_event = 'ddl_command_end' THEN
		FOR c IN SELECT command_tag, object_identity FROM pg_event_trigger_ddl_commands() LOOP
			RAISE NOTICE '%, % keys', c, (SELECT count(*) FROM pg_constraint WHERE connamespace = 'of_surfidx'::regnamespace AND conname ~ '^beside');
		END LOOP;
	END IF;
END $$;
CREATE EVENT TRIGGER look_start ON ddl_command_start EXECUTE FUNCTION look();
CREATE EVENT TRIGGER look_end ON ddl_command_end EXECUTE FUNCTION look();
SET client_min_messages = notice;
ALTER TABLE beside ADD FOREIGN KEY (k) REFERENCES ref;
ALTER TABLE beside ADD FOREIGN KEY (k) REFERENCES ref NOT VALID;
ALTER TABLE beside ADD FOREIGN KEY (k) REFERENCES ref DEFERRABLE INITIALLY DEFERRED NOT VALID,
	ADD FOREIGN KEY (k) REFERENCES ref;
SELECT conname, convalidated, condeferrable, condeferred FROM pg_constraint
	WHERE conrelid = 'beside'::regclass ORDER BY conname;
CREATE UNIQUE INDEX beside_u ON beside USING surfidx (k);
ALTER TABLE beside ADD UNIQUE USING INDEX beside_u;
CREATE TABLE beside_two (k int REFERENCES ref, l int REFERENCES ref);
SET client_min_messages = warning;
DROP EVENT TRIGGER look_start;
DROP EVENT TRIGGER look_end;
-- a transaction that is rolled back, and one that may not write
BEGIN;
ALTER TABLE beside ADD CONSTRAINT gone FOREIGN KEY (k) REFERENCES ref;
SAVEPOINT s;
ALTER TABLE beside ADD CONSTRAINT gone FOREIGN KEY (k) REFERENCES ref;
ROLLBACK TO s;
ROLLBACK;
BEGIN READ ONLY;
ALTER TABLE beside ADD CONSTRAINT gone FOREIGN KEY (k) REFERENCES ref;
ROLLBACK;
SET search_path = public;
DROP TABLE of_surfidx.beside, of_surfidx.beside_two;
SELECT alike('') AS "and nothing is left";
SELECT surfidx_check('of_surfidx.ref_pkey', true, true);
DROP SCHEMA of_btree, of_surfidx CASCADE;
DROP FUNCTION alike, keys_of, before_18;
DROP ROLE foreign_refer_other;
