-- PRIMARY KEY and UNIQUE constraints WITH (access_method = surfidx): each statement that creates, changes or drops them (rules Q1 to Q4)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.unique_notice = off;
CREATE SCHEMA cm;
SET search_path = cm, public;
\getenv srcdir PG_ABS_SRCDIR
\set tried :srcdir '/sql/helpers/tried.sql'
\set ECHO none
\i :tried
\set ECHO all
-- constraints of the schema, with the methods of their indexes and what dumps say
CREATE VIEW methods AS
	SELECT c.conrelid::regclass AS on_table, conname, contype, amname, condeferrable AS later, condeferred AS deferred,
		split_part(pg_get_constraintdef(c.oid), ' DEFERRABLE', 1) AS definition, i.reloptions, x.indisreplident AS ident, x.indisclustered AS clustered,
		obj_description(c.oid, 'pg_constraint') AS said, obj_description(i.oid) AS said_of_index
	FROM pg_constraint c JOIN pg_class i ON i.oid = conindid JOIN pg_am a ON a.oid = i.relam JOIN pg_index x ON x.indexrelid = i.oid
	WHERE contype IN ('p', 'u', 'x') AND connamespace = 'cm'::regnamespace
	ORDER BY c.conrelid::regclass::text, conname;

-- CREATE TABLE: of a column, of the table, deferrable, INCLUDE, NULLS NOT DISTINCT, with other parameters
CREATE TABLE a (id int8 PRIMARY KEY WITH (access_method = surfidx), e text COLLATE "C" UNIQUE WITH (access_method = 'surfidx', delta_size = 128),
	d int, f int, g int, UNIQUE (d) WITH (access_method = surfidx) DEFERRABLE INITIALLY DEFERRED, CONSTRAINT a_fg UNIQUE NULLS NOT DISTINCT (f) INCLUDE (g) WITH (access_method = surfidx),
	CONSTRAINT plain UNIQUE (g));
SELECT on_table, conname, contype, amname, later, deferred, definition, reloptions FROM methods;
\d a
INSERT INTO a SELECT g, 'e' || g, g, g, g FROM generate_series(1, 1000) g;
SELECT tried('INSERT INTO a VALUES (5, ''x'', 5000, 5000, 5000)'), tried('INSERT INTO a VALUES (5000, ''e7'', 5000, 5000, 5000)'), tried('INSERT INTO a VALUES (NULL)');
SELECT tried('INSERT INTO a (id, f) VALUES (5001, NULL), (5002, NULL)');
INSERT INTO a VALUES (5, 'x', 5000, 5000, 5000) ON CONFLICT (id) DO UPDATE SET e = 'updated' RETURNING id, e;
INSERT INTO a VALUES (5, 'x', 5000, 5000, 5000) ON CONFLICT ON CONSTRAINT a_pkey DO NOTHING RETURNING id;
INSERT INTO a VALUES (6, 'x', 5000, 5000, 5000) ON CONFLICT ON CONSTRAINT a_pkey DO UPDATE SET e = 'again' RETURNING id, e;
SELECT surfidx_merge('a_pkey') > 0 AS merged;
INSERT INTO a VALUES (5, 'x', 5000, 5000, 5000) ON CONFLICT DO NOTHING RETURNING id;
BEGIN;
UPDATE a SET d = d + 1;
COMMIT;
SELECT tried('UPDATE a SET d = 77 WHERE id < 3; SET CONSTRAINTS ALL IMMEDIATE');
-- a primary key determines the other columns
SELECT id, e FROM a GROUP BY id ORDER BY id LIMIT 2;
EXPLAIN (COSTS OFF) SELECT x.g FROM a x LEFT JOIN a y ON y.id = x.g;

-- ALTER TABLE ADD, also with a column; in one statement with what it replaces
CREATE TABLE b (id int, x int);
INSERT INTO b SELECT g, g FROM generate_series(1, 100) g;
ALTER TABLE b ADD PRIMARY KEY (id) WITH (access_method = surfidx), ADD COLUMN u int UNIQUE WITH (access_method = surfidx), ADD CONSTRAINT b_x UNIQUE (x);
ALTER TABLE b DROP CONSTRAINT b_pkey, ADD CONSTRAINT b_key PRIMARY KEY (x, id) WITH (access_method = surfidx);
SELECT on_table, conname, contype, amname, definition, reloptions FROM methods WHERE on_table = 'b'::regclass;

-- ADD ... USING INDEX
CREATE TABLE c (id int, x int, y int, z text);
INSERT INTO c SELECT g, g, g FROM generate_series(1, 100) g;
CREATE UNIQUE INDEX c_i ON c USING surfidx (id) INCLUDE (y);
CREATE UNIQUE INDEX c_x ON c USING surfidx (x);
ALTER TABLE c ADD CONSTRAINT c_key PRIMARY KEY USING INDEX c_i;
ALTER TABLE c ADD UNIQUE USING INDEX c_x DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE c ADD COLUMN w int DEFAULT 3;
SELECT on_table, conname, contype, amname, later, deferred, definition, reloptions FROM methods WHERE on_table = 'c'::regclass;
SELECT tried('INSERT INTO c VALUES (NULL, 1)'), tried('INSERT INTO c VALUES (3, 1)');
CREATE UNIQUE INDEX c_y ON c USING surfidx (y);
ALTER TABLE c DROP CONSTRAINT c_key, ADD PRIMARY KEY USING INDEX c_y;
SELECT conname, contype, amname, definition FROM methods WHERE on_table = 'c'::regclass;
-- what cannot be one
CREATE TABLE other (id int);
CREATE UNIQUE INDEX other_i ON other USING surfidx (id);
CREATE UNIQUE INDEX c_desc ON c USING surfidx (id DESC);
CREATE UNIQUE INDEX c_part ON c USING surfidx (id) WHERE id > 5;
CREATE UNIQUE INDEX c_expr ON c USING surfidx ((id + 1));
CREATE UNIQUE INDEX c_coll ON c USING surfidx (z COLLATE "C");
CREATE UNIQUE INDEX c_class ON c USING surfidx (z text_pattern_ops);
CREATE UNIQUE INDEX c_null ON c USING surfidx (w, id) ;
CREATE INDEX c_more ON c USING surfidx (id);
SELECT i, tried('ALTER TABLE c ADD UNIQUE USING INDEX ' || i) FROM unnest('{other_i,c_desc,c_part,c_expr,c_coll,c_class,c_more,c_y,c_none,c}'::text[]) i;
UPDATE c SET w = NULL WHERE id = 1;
SELECT tried('ALTER TABLE c DROP CONSTRAINT c_y, ADD PRIMARY KEY USING INDEX c_null'), tried('ALTER TABLE c ADD PRIMARY KEY USING INDEX c_null');
SELECT count(*) AS still_there FROM methods WHERE conname = 'c_y';

-- LIKE, CREATE SCHEMA, temporary tables, inheritance
CREATE TABLE la (LIKE a INCLUDING ALL);
SELECT on_table, conname, contype, amname, later, reloptions FROM methods WHERE on_table = 'la'::regclass;
CREATE SCHEMA cm2 CREATE TABLE st (k int PRIMARY KEY WITH (access_method = surfidx)) CREATE UNIQUE INDEX st_k ON st (k) WITH (access_method = surfidx);
SELECT indexdef FROM pg_indexes WHERE schemaname = 'cm2' ORDER BY 1;
CREATE TEMP TABLE tt (k int PRIMARY KEY WITH (access_method = surfidx));
INSERT INTO tt VALUES (1), (2);
SELECT tried('INSERT INTO tt VALUES (2)');
ALTER TABLE tt ALTER k TYPE int8;
SELECT tried('INSERT INTO tt VALUES (2)');
CREATE FUNCTION twice() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE again (k int PRIMARY KEY WITH (access_method = surfidx)) ON COMMIT DROP;
	INSERT INTO again VALUES (1);
	ALTER TABLE again ALTER k TYPE int8;
END $$;
SELECT twice();
SELECT twice();

-- ALTER COLUMN TYPE: core rebuilds the constraint where no hook sees it; what depends on its index stays
CREATE TABLE k (id int4, e text, f text, CONSTRAINT k_pkey PRIMARY KEY (id) WITH (access_method = surfidx, delta_size = 256), CONSTRAINT k_e UNIQUE (e) INCLUDE (f) WITH (access_method = surfidx) DEFERRABLE);
INSERT INTO k SELECT g, g, g FROM generate_series(1, 500) g;
COMMENT ON CONSTRAINT k_pkey ON k IS 'of the constraint';
COMMENT ON INDEX k_pkey IS 'of the index';
ALTER TABLE k REPLICA IDENTITY USING INDEX k_pkey;
CLUSTER k USING k_pkey;
ALTER TABLE k ALTER id TYPE int8, ALTER e TYPE varchar(20), ALTER f TYPE int USING f::int, ADD COLUMN y int UNIQUE WITH (access_method = surfidx);
SELECT conname, contype, amname, later, definition, reloptions, ident, clustered, said, said_of_index FROM methods WHERE on_table = 'k'::regclass;
SELECT tried('INSERT INTO k VALUES (3)'), tried('INSERT INTO k VALUES (3000, ''4'')');
SELECT tried('ALTER TABLE k ALTER id TYPE int4 USING 1');
SELECT tried('ALTER TABLE k ALTER id TYPE nothing'), tried('ALTER TABLE k ALTER nothing TYPE int'), tried('ALTER TABLE IF EXISTS nothing ALTER id TYPE int');
SELECT conname, amname, definition FROM methods WHERE on_table = 'k'::regclass;
-- a statement that drops the constraint, or a column of it, itself
ALTER TABLE k DROP CONSTRAINT k_pkey, ALTER id TYPE int4;
ALTER TABLE k DROP COLUMN f, ALTER e TYPE text;
SELECT conname, amname, definition FROM methods WHERE on_table = 'k'::regclass;
CREATE TABLE parent (id int PRIMARY KEY WITH (access_method = surfidx), v int);
CREATE TABLE child (UNIQUE (v)) INHERITS (parent);
ALTER TABLE child ADD PRIMARY KEY (id) WITH (access_method = surfidx);
ALTER TABLE parent ALTER id TYPE int8, ALTER v TYPE int8;
SELECT on_table, conname, amname, definition FROM methods WHERE on_table IN ('parent'::regclass, 'child'::regclass);
ALTER TABLE ONLY child ALTER COLUMN v SET DEFAULT 3;
CREATE TABLE part (id int, v int) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF part (PRIMARY KEY (v) WITH (access_method = surfidx)) FOR VALUES FROM (0) TO (100);
ALTER TABLE part ALTER v TYPE int8;
CREATE TYPE ct AS (id int, v int);
CREATE TABLE typed OF ct (PRIMARY KEY (id) WITH (access_method = surfidx));
ALTER TYPE ct ALTER ATTRIBUTE id TYPE int8 CASCADE;
SELECT on_table, conname, amname, definition FROM methods WHERE on_table IN ('part1'::regclass, 'typed'::regclass);

-- the parameter stays what it is, and has one value
SELECT tried('ALTER INDEX k_e RESET (access_method)'), tried('ALTER INDEX a_pkey SET (access_method = surfidx)'), tried('ALTER TABLE a_pkey RESET (delta_size, access_method)'),
	tried('ALTER INDEX a_pkey SET (delta_size = 256)'), tried('ALTER INDEX plain SET (access_method = surfidx)');
SELECT s, tried(s) FROM unnest(ARRAY['CREATE TABLE z (k int PRIMARY KEY WITH (access_method = hash))', 'CREATE TABLE z (k int PRIMARY KEY WITH (access_method = btree))',
	'CREATE TABLE z (k int PRIMARY KEY WITH (access_method))', 'CREATE TABLE z (k xml PRIMARY KEY WITH (access_method = surfidx))', 'CREATE TABLE z (k xid UNIQUE WITH (access_method = surfidx))',
	'CREATE INDEX z ON a USING hash (d) WITH (access_method = surfidx)', 'CREATE TABLE z (k int) WITH (access_method = surfidx)',
	'CREATE TABLE z (k int PRIMARY KEY WITH (access_method = surfidx), UNIQUE (k) WITH (access_method = surfidx), PRIMARY KEY (k))']) s;

-- REINDEX, CLUSTER, VACUUM FULL, SET LOGGED, TRUNCATE keep them
REINDEX TABLE a;
REINDEX INDEX CONCURRENTLY a_pkey;
VACUUM FULL a;
ALTER TABLE a SET UNLOGGED;
ALTER TABLE a SET LOGGED;
SELECT conname, amname, reloptions FROM methods WHERE on_table = 'a'::regclass;
SELECT tried('INSERT INTO a VALUES (5, ''y'', 5000, 5000, 5000)');
TRUNCATE a;
INSERT INTO a VALUES (5, 'y', 5000, 5000, 5000);
SELECT count(surfidx_check(oid, true, true)) AS checked FROM pg_class WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'surfidx') AND relkind = 'i' AND relnamespace = 'cm'::regnamespace;
-- and back to btree
ALTER TABLE a DROP CONSTRAINT a_pkey, ADD PRIMARY KEY (id);
SELECT conname, amname FROM methods WHERE conname = 'a_pkey';

DROP SCHEMA cm CASCADE;
DROP SCHEMA cm2 CASCADE;
