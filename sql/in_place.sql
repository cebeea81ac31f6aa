-- surfidx.in_place_of_btree: an index whose statement names btree, or no method, becomes surfidx (rule Q5)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
CREATE SCHEMA ip;
SET search_path = ip, public;
SET extra_float_digits = 0;
SET surfidx.in_place_notice = off;
\getenv srcdir PG_ABS_SRCDIR
\set tried :srcdir '/sql/helpers/tried.sql'
\set ECHO none
\i :tried
\set ECHO all
-- The method of each index; a constraint's has to say in its parameters what it is.  Before 18 what is unique stays btree: in_place_1.out.
CREATE VIEW ip.made AS
	SELECT x.indrelid::regclass AS on_table, i.relname AS index, amname AS method,
		CASE WHEN (amname = 'surfidx' AND EXISTS (SELECT FROM pg_constraint WHERE conindid = i.oid AND contype IN ('p', 'u'))) IS DISTINCT FROM
			coalesce('access_method=surfidx' = ANY (reloptions), false) THEN 'wrong parameters' END AS wrong,
		replace(regexp_replace(pg_get_indexdef(i.oid), '^.*USING \w+ ', ''), ' WITH (access_method=surfidx)', '') AS definition
	FROM pg_index x JOIN pg_class i ON i.oid = indexrelid JOIN pg_am a ON a.oid = i.relam
	WHERE i.relnamespace = 'ip'::regnamespace ORDER BY indrelid::regclass::text, i.relname;

-- what each value means
SELECT name, setting, enumvals, context FROM pg_settings WHERE name = 'surfidx.in_place_of_btree';
DO $$
DECLARE v text;
BEGIN
	FOREACH v IN ARRAY '{off,constraints,indexes,all}'::text[] LOOP
		PERFORM set_config('surfidx.in_place_of_btree', v, false);
		EXECUTE format('CREATE TABLE v_%s (id int PRIMARY KEY, a int)', v);
		EXECUTE format('CREATE INDEX ON v_%s USING btree (a)', v);
		EXECUTE format('ALTER TABLE v_%s ADD UNIQUE (a)', v);
	END LOOP;
END $$;
SELECT on_table, index, method, wrong FROM made;
SELECT tried('SET surfidx.in_place_of_btree = hash');
SET surfidx.in_place_of_btree = on;

-- CREATE INDEX, in all its forms
SET surfidx.in_place_of_btree = 'all';
SET client_min_messages = notice;
CREATE DOMAIN dom AS int CHECK (VALUE > 0);
CREATE TABLE t (id int, a text, b text COLLATE "C", c numeric, d dom, e int[], f jsonb, j json);
INSERT INTO t SELECT g, 'a' || g, 'b' || g, g, g, ARRAY[g], to_jsonb(g), '{}' FROM generate_series(1, 200) g;
CREATE INDEX i_plain ON t (id);
CREATE INDEX IF NOT EXISTS i_plain ON t (a);
CREATE INDEX i_btree ON t USING btree (id DESC NULLS LAST, a COLLATE "C");
CREATE INDEX i_include ON t (id) INCLUDE (j, a);
CREATE INDEX i_where ON t (a) WHERE id > 5;
CREATE INDEX i_expr ON t ((id + 1), lower(a), ((f -> 'x')));
CREATE INDEX i_types ON t (c, d, e, f);
CREATE INDEX i_pattern ON t (a text_pattern_ops, b pg_catalog.varchar_ops, id int4_ops);
CREATE INDEX i_with ON t (id) WITH (fillfactor = 70, deduplicate_items = off);
CREATE INDEX i_ours ON t (id) WITH (delta_size = 128);
CREATE UNIQUE INDEX u_plain ON t (id);
CREATE UNIQUE INDEX u_nulls ON t (c) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX u_expr ON t ((id + 1)) WHERE id > 5;
CREATE UNIQUE INDEX u_pattern ON t (a text_pattern_ops);
CREATE INDEX i_hash ON t USING hash (id);
CREATE INDEX CONCURRENTLY i_conc ON t (b);
SELECT index, method, wrong, definition FROM made WHERE on_table = 't'::regclass;
-- errors are core's
SELECT s, tried(s) FROM unnest(ARRAY['CREATE INDEX ON t (nothing)', 'CREATE INDEX ON nothing (a)', 'CREATE INDEX ON t (j)', 'CREATE INDEX ON t (ctid)', 'CREATE INDEX ON t ((random()))',
	'CREATE INDEX ON t (nothing(a))', 'CREATE INDEX ON t (id text_ops)', 'CREATE INDEX ON t (id nothing_ops)', 'CREATE INDEX ON made (index)', 'CREATE UNIQUE INDEX ON t (j)',
	'CREATE INDEX ON t (id) WITH (nothing = 1)', 'CREATE INDEX ON t (id) INCLUDE (nothing)', 'CREATE INDEX i_plain ON t (id)', 'ALTER TABLE t ADD UNIQUE (nothing)', 'ALTER TABLE nothing ADD UNIQUE (a)',
	'ALTER TABLE t ADD UNIQUE (j)', 'ALTER TABLE t ADD z nothing UNIQUE', 'ALTER TABLE t ADD EXCLUDE (j WITH =)', 'CREATE TABLE z (j json PRIMARY KEY)']) s;
BEGIN READ ONLY;
CREATE INDEX ON t (a);
ROLLBACK;
BEGIN;
CREATE INDEX CONCURRENTLY ON t (a);
ROLLBACK;
CREATE ROLE ip_alice;
GRANT USAGE ON SCHEMA ip TO ip_alice;
SET ROLE ip_alice;
CREATE INDEX ON t (a);
ALTER TABLE t ADD UNIQUE (a);
RESET ROLE;

-- constraints, in CREATE TABLE and ALTER TABLE
CREATE TABLE c (id serial PRIMARY KEY, a text UNIQUE, b int, d int, j json, UNIQUE NULLS NOT DISTINCT (b) INCLUDE (j) WITH (fillfactor = 80),
	UNIQUE (d) DEFERRABLE INITIALLY DEFERRED, EXCLUDE USING btree (b WITH =), EXCLUDE (d WITH =));
ALTER TABLE c ADD e int UNIQUE, ADD f bigserial, ADD CONSTRAINT c_f UNIQUE (f, a), ADD g dom UNIQUE, ADD UNIQUE (b, d);
CREATE TABLE c2 (a int, b int);
ALTER TABLE c2 ALTER b TYPE numeric, ADD UNIQUE (b, a), ALTER a TYPE json USING NULL;
ALTER TABLE c2 ALTER b TYPE numeric, ADD UNIQUE (b), ADD c int2, ADD PRIMARY KEY (c, b);
ALTER TABLE c DROP CONSTRAINT c_pkey, ADD PRIMARY KEY (id, d);
ALTER TABLE c ADD COLUMN IF NOT EXISTS e json UNIQUE, ADD UNIQUE (e, id);
ALTER TABLE IF EXISTS nothing ADD UNIQUE (a);
ALTER TABLE c ADD CONSTRAINT explicit UNIQUE (f) WITH (access_method = surfidx);
SELECT index, method, wrong, definition FROM made WHERE on_table IN ('c'::regclass, 'c2'::regclass);
ALTER TABLE c DROP CONSTRAINT explicit;
INSERT INTO c (a, b, d, e, g) SELECT g, g, g, g, g FROM generate_series(1, 100) g;
SELECT tried('INSERT INTO c (id, d) VALUES (7, 7)');
SELECT tried('INSERT INTO c (a) VALUES (7)');
INSERT INTO c (id, a, d) VALUES (500, 7, 500) ON CONFLICT (a) DO UPDATE SET e = 700 RETURNING id, e;
CREATE UNIQUE INDEX c_using ON c (f);
ALTER TABLE c ADD UNIQUE USING INDEX c_using;
CREATE TABLE ref (id int REFERENCES c (e), k int PRIMARY KEY);
CREATE TABLE self (id int PRIMARY KEY, parent int REFERENCES self);
INSERT INTO self VALUES (1, NULL), (2, 1);
SELECT tried('INSERT INTO self VALUES (3, 4)'), tried('INSERT INTO ref VALUES (-1, 1)');
CREATE SCHEMA ip2 CREATE TABLE st (k int PRIMARY KEY) CREATE INDEX st_k ON st (k);
SELECT (SELECT amname FROM pg_am WHERE oid = relam) AS plain_index FROM pg_class WHERE oid = 'ip2.st_k'::regclass;
CREATE MATERIALIZED VIEW mv AS SELECT id, a FROM t;
CREATE UNIQUE INDEX mv_id ON mv (id);
CREATE INDEX mv_a ON mv (a);
REFRESH MATERIALIZED VIEW CONCURRENTLY mv;
CREATE UNLOGGED TABLE un (id int PRIMARY KEY);
CREATE TABLE ctas AS SELECT 1 AS a;
SELECT 1 AS a INTO sinto;
SELECT on_table, index, method, wrong FROM made WHERE on_table::text IN ('mv', 'un', 'ctas', 'sinto', 'ref', 'self') OR index = 'c_using';

-- LIKE copies methods
CREATE TABLE like_t (LIKE t INCLUDING ALL);
SET surfidx.in_place_of_btree = off;
CREATE TABLE plain (id int PRIMARY KEY, a text);
CREATE INDEX plain_a ON plain (a);
CREATE TABLE like_off (LIKE t INCLUDING ALL);
SET surfidx.in_place_of_btree = 'all';
CREATE TABLE like_plain (LIKE plain INCLUDING ALL);
SELECT on_table, count(*) FILTER (WHERE method = 'surfidx') AS ours, count(*) FILTER (WHERE method = 'btree') AS btrees FROM made WHERE on_table::text ~ '^like' GROUP BY 1 ORDER BY 1;
SELECT (SELECT amname FROM pg_am WHERE oid = relam) AS copied FROM pg_class WHERE oid IN ('like_plain_pkey'::regclass, 'like_plain_a_idx'::regclass);

-- partitions
CREATE TABLE p (k int, v int, PRIMARY KEY (k)) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);
CREATE INDEX p_v ON p (v);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (200);
CREATE TABLE p3 (k int NOT NULL, v int);
ALTER TABLE p3 ADD PRIMARY KEY (k);
CREATE INDEX p3_mine ON p3 (v);
ALTER TABLE p ATTACH PARTITION p3 FOR VALUES FROM (200) TO (300);
CREATE INDEX p_only ON ONLY p (v, k);
CREATE INDEX p1_only ON p1 (v, k);
CREATE INDEX p2_only ON p2 (v, k);
CREATE INDEX p3_only ON p3 (v, k);
ALTER INDEX p_only ATTACH PARTITION p1_only;
ALTER INDEX p_only ATTACH PARTITION p2_only;
ALTER INDEX p_only ATTACH PARTITION p3_only;
CREATE TABLE h (k int PRIMARY KEY, v int) PARTITION BY HASH (k);
CREATE TABLE h1 PARTITION OF h FOR VALUES WITH (MODULUS 1, REMAINDER 0);
ALTER TABLE h ADD UNIQUE (v, k);
INSERT INTO p SELECT g, g FROM generate_series(0, 299) g;
INSERT INTO p VALUES (150, 1), (250, 1) ON CONFLICT (k) DO UPDATE SET v = -1 RETURNING *;
SELECT tried('INSERT INTO h VALUES (1, 1), (1, 2)'), (SELECT bool_and(indisvalid) FROM pg_index WHERE indexrelid = 'p_only'::regclass) AS valid;
SELECT on_table, index, method, wrong FROM made WHERE on_table::text ~ '^[ph]\d?$';
SELECT left(tried('CREATE TABLE wo (k int, v int, PRIMARY KEY (v)) PARTITION BY RANGE (k)'), 5);

-- no lock that would not be taken without us
CREATE VIEW locks AS SELECT relation::regclass AS on_table, mode FROM pg_locks
	WHERE pid = pg_backend_pid() AND relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'ip'::regnamespace AND relkind IN ('r', 'p')) ORDER BY relation::regclass::text, mode;
CREATE TABLE lo (a int, b int) PARTITION BY LIST (a);
CREATE TABLE lo1 PARTITION OF lo FOR VALUES IN (1);
CREATE TABLE lo2 (a int NOT NULL, b int, PRIMARY KEY (a));
SET surfidx.in_place_of_btree = off;
BEGIN; CREATE INDEX ON lo (b); CREATE INDEX ON ONLY lo (a); CREATE INDEX ON ctas (a); ALTER TABLE sinto ADD UNIQUE (a); ALTER TABLE lo ATTACH PARTITION lo2 FOR VALUES IN (2); SELECT * FROM locks; ROLLBACK;
SET surfidx.in_place_of_btree = 'all';
BEGIN; CREATE INDEX ON lo (b); CREATE INDEX ON ONLY lo (a); CREATE INDEX ON ctas (a); ALTER TABLE sinto ADD UNIQUE (a); ALTER TABLE lo ATTACH PARTITION lo2 FOR VALUES IN (2); SELECT * FROM locks; ROLLBACK;

-- an event trigger sees what it saw; functions and DO make them, too
CREATE FUNCTION seen() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
	FOR r IN SELECT * FROM pg_event_trigger_ddl_commands() LOOP
		RAISE NOTICE '% % %', tg_event, r.command_tag, r.object_identity;
	END LOOP;
END $$;
CREATE EVENT TRIGGER ip_seen ON ddl_command_end EXECUTE FUNCTION seen();
CREATE INDEX seen_i ON t (a, b);
CREATE TABLE seen_t (id int PRIMARY KEY);
ALTER TABLE seen_t ADD UNIQUE (id);
DROP EVENT TRIGGER ip_seen;
CREATE FUNCTION makes() RETURNS void LANGUAGE sql AS 'CREATE TABLE IF NOT EXISTS fun (id int UNIQUE, a int); CREATE INDEX IF NOT EXISTS fun_a ON ip.fun (a)';
SELECT makes();
SELECT makes();
DO $$ BEGIN FOR i IN 1..2 LOOP EXECUTE 'CREATE INDEX fun_twice ON fun (a)'; EXECUTE 'DROP INDEX fun_twice'; END LOOP; CREATE INDEX fun_do ON fun (a); END $$;
SELECT on_table, index, method, wrong FROM made WHERE on_table::text IN ('fun', 'seen_t') OR index = 'seen_i';

-- other search paths: classes are found by what they are
SET search_path = '';
CREATE INDEX sp_a ON ip.t (a);
CREATE INDEX sp_pattern ON ip.t (b text_pattern_ops);
ALTER TABLE ip.t ADD CONSTRAINT sp_u UNIQUE (id, a);
CREATE SCHEMA ip3;
CREATE OPERATOR CLASS ip3.text_pattern_ops FOR TYPE text USING surfidx AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 pg_catalog.bttextcmp(text, text);
SET search_path = ip3, ip, public;
CREATE INDEX sp_other ON t (b text_pattern_ops);
SELECT index, method, wrong, definition FROM made WHERE index ~ '^sp_';
SET search_path = ip, public;

-- types of which only btree knows the order: one that can be taken for another, and a class without a twin
SET client_min_messages = warning;
CREATE TYPE mine;
CREATE FUNCTION mine_in(cstring) RETURNS mine LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION mine_out(mine) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE mine (INPUT = mine_in, OUTPUT = mine_out, LIKE = int4);
CREATE CAST (mine AS int4) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (int4 AS mine) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE FUNCTION mine_lt(mine, mine) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4gt';
CREATE FUNCTION mine_le(mine, mine) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4ge';
CREATE FUNCTION mine_eq(mine, mine) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE FUNCTION mine_ge(mine, mine) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4le';
CREATE FUNCTION mine_gt(mine, mine) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4lt';
CREATE FUNCTION mine_cmp(mine, mine) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT btint4cmp($2::int4, $1::int4)';
CREATE OPERATOR < (LEFTARG = mine, RIGHTARG = mine, FUNCTION = mine_lt);
CREATE OPERATOR <= (LEFTARG = mine, RIGHTARG = mine, FUNCTION = mine_le);
CREATE OPERATOR = (LEFTARG = mine, RIGHTARG = mine, FUNCTION = mine_eq);
CREATE OPERATOR >= (LEFTARG = mine, RIGHTARG = mine, FUNCTION = mine_ge);
CREATE OPERATOR > (LEFTARG = mine, RIGHTARG = mine, FUNCTION = mine_gt);
CREATE OPERATOR CLASS mine_ops DEFAULT FOR TYPE mine USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 mine_cmp(mine, mine);
CREATE OPERATOR CLASS int_desc_ops FOR TYPE int4 USING btree AS OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 btint4cmp(int4, int4);
CREATE TABLE m (id mine PRIMARY KEY, v int, w int);
CREATE INDEX m_v ON m (v int_desc_ops);
CREATE INDEX m_id ON m (id, v);
CREATE INDEX m_expr ON m ((id::mine));
ALTER TABLE m ADD UNIQUE (v, id), ADD x mine UNIQUE, ALTER w TYPE mine, ADD UNIQUE (w);
-- one whose comparison function is not written in C
CREATE OPERATOR CLASS mine_ops DEFAULT FOR TYPE mine USING surfidx AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 mine_cmp(mine, mine);
CREATE INDEX m_slow ON m (id);
SELECT index, method, wrong FROM made WHERE on_table = 'm'::regclass;

-- what stays btree for its table's sake
CREATE TEMP TABLE tmp (id int PRIMARY KEY, a int);
CREATE INDEX tmp_a ON tmp (a);
ALTER TABLE tmp ADD UNIQUE (a);
CREATE ACCESS METHOD heap3 TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE h3 (id int PRIMARY KEY, a int) USING heap3;
CREATE INDEX h3_a ON h3 (a);
CREATE TABLE hp (id int, a int) PARTITION BY RANGE (id);
CREATE TABLE hp1 PARTITION OF hp FOR VALUES FROM (0) TO (10);
CREATE TABLE hp2 PARTITION OF hp FOR VALUES FROM (10) TO (20) USING heap3;
CREATE INDEX hp_a ON hp (a);
SELECT relname, amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relkind IN ('i', 'I') AND relname ~ '^(tmp|h3|hp)' AND relnamespace <> 'pg_catalog'::regnamespace ORDER BY 1;

-- they stay what they are, whatever is set: REINDEX, ALTER COLUMN TYPE, CLUSTER, SET LOGGED
SET surfidx.in_place_of_btree = off;
DROP MATERIALIZED VIEW mv;
ALTER TABLE t ALTER a TYPE varchar(20), ALTER id TYPE int8;
ALTER TABLE c DROP CONSTRAINT c_e_key CASCADE;
ALTER TABLE c ALTER d TYPE int8, ALTER a TYPE varchar(30);
ALTER TABLE un SET LOGGED;
REINDEX TABLE t;
REINDEX TABLE CONCURRENTLY t;
CLUSTER t USING i_plain;
ALTER INDEX i_with SET (fillfactor = 90);
ALTER INDEX i_plain RESET (fillfactor);
SELECT on_table, index, method, wrong FROM made WHERE on_table IN ('t'::regclass, 'c'::regclass, 'un'::regclass);
SELECT count(surfidx_check(oid, true, true)) > 15 AS checked FROM pg_class WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'surfidx') AND relkind = 'i' AND relnamespace = 'ip'::regnamespace;

-- why an index stays btree: one notice for a client's statement
SET surfidx.in_place_of_btree = 'all';
RESET surfidx.in_place_notice;
RESET client_min_messages;
CREATE INDEX m_told ON m (id);
DO $$
BEGIN
	CREATE INDEX m_twice ON m (id);
	CREATE INDEX m_again ON m (id);
END $$;
-- ... and none where nothing is made, of temporary tables, or by a setting
CREATE INDEX IF NOT EXISTS m_told ON m (id);
ALTER TABLE m ADD COLUMN IF NOT EXISTS id int UNIQUE, ADD COLUMN IF NOT EXISTS tableoid2 int;
CREATE TEMP TABLE brief (id int, a int);
CREATE INDEX ON brief (a);
SET surfidx.in_place_notice = off;
CREATE INDEX ON m (id);
SET client_min_messages = warning;
DROP SCHEMA ip CASCADE;
DROP SCHEMA ip2 CASCADE;
DROP SCHEMA ip3 CASCADE;
DROP ACCESS METHOD heap3 CASCADE;
DROP ROLE ip_alice;
