-- A foreign key that goes and comes back with a column's type stays on the index that it referred
-- to, whichever of the referred table's unique indexes is the oldest then.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.unique_notice = off;
CREATE SCHEMA fi;
SET search_path = fi, public;
\pset tuples_only on
-- keys, what they and their triggers depend on, and indexes that are not valid
CREATE VIEW keys (key) AS SELECT conrelid::regclass || ' ' || conname || ': '
	|| conindid::regclass || ' ' || (SELECT string_agg(DISTINCT relname, ',')
		FROM pg_depend d JOIN pg_class i ON i.oid = refobjid AND relkind IN ('i', 'I')
		WHERE classid = 'pg_constraint'::regclass AND objid = c.oid
			AND refclassid = 'pg_class'::regclass)
	|| ' ' || (SELECT string_agg(DISTINCT tgconstrindid::regclass::text, ',')
		FROM pg_trigger WHERE tgconstraint = c.oid)
	FROM pg_constraint c WHERE contype = 'f' AND connamespace = 'fi'::regnamespace
	UNION ALL SELECT indexrelid::regclass || ' is not valid'
	FROM pg_index JOIN pg_class i ON i.oid = indexrelid
	WHERE relnamespace = 'fi'::regnamespace AND NOT indisvalid ORDER BY 1;

-- a primary key, and a btree and a surfidx index beside it
CREATE TABLE a (a int PRIMARY KEY WITH (access_method = surfidx));
CREATE UNIQUE INDEX a_b ON a (a);
CREATE UNIQUE INDEX a_s ON a USING surfidx (a);
CREATE UNIQUE INDEX surfidx_new_1 ON a (a);
INSERT INTO a VALUES (1), (2);
CREATE TABLE ra (a int REFERENCES a ON DELETE CASCADE);
INSERT INTO ra VALUES (1), (2);
ALTER TABLE a ALTER a TYPE bigint;
SELECT * FROM keys;
DROP INDEX a_b, a_s, surfidx_new_1;
DELETE FROM a WHERE a = 1;
INSERT INTO ra VALUES (3);
SELECT * FROM ra;

-- two constraints on the same columns, a key to each
CREATE TABLE b (a int, b int, CONSTRAINT one UNIQUE (a, b) WITH (access_method = surfidx));
CREATE TABLE rb (a int, b int, FOREIGN KEY (a, b) REFERENCES b (a, b));
ALTER TABLE b ADD CONSTRAINT two PRIMARY KEY (b, a) WITH (access_method = surfidx);
CREATE TABLE rb2 (a int, b int, FOREIGN KEY (a, b) REFERENCES b (b, a),
	FOREIGN KEY (b, a) REFERENCES b);
ALTER TABLE b ALTER b TYPE bigint;
ALTER TABLE b ALTER a TYPE bigint;
SELECT * FROM keys WHERE key LIKE 'rb%';
ALTER TABLE b DROP CONSTRAINT two;
DROP TABLE b CASCADE;

-- a constraint that a btree constraint of the same columns stands beside; one made USING INDEX
CREATE TABLE c (a int NOT NULL);
CREATE UNIQUE INDEX c_u ON c USING surfidx (a);
ALTER TABLE c ADD CONSTRAINT c_c UNIQUE USING INDEX c_u;
CREATE TABLE rc (a int REFERENCES c (a));
ALTER TABLE c ADD PRIMARY KEY (a);
ALTER TABLE c ALTER a TYPE bigint;
SELECT * FROM keys WHERE key LIKE 'rc%';
ALTER TABLE c DROP CONSTRAINT c_pkey;

-- a key of the table to itself, with a comment, and partitions that refer
CREATE TABLE d (a int PRIMARY KEY WITH (access_method = surfidx),
	up int CONSTRAINT d_up REFERENCES d);
CREATE UNIQUE INDEX d_b ON d (a);
COMMENT ON CONSTRAINT d_up ON d IS 'stays';
CREATE TABLE rd (a int REFERENCES d) PARTITION BY LIST (a);
CREATE TABLE rd1 PARTITION OF rd FOR VALUES IN (1);
ALTER TABLE d ALTER a TYPE bigint, ALTER up TYPE bigint;
SELECT * FROM keys WHERE key ~ '^r?d';
SELECT obj_description(oid, 'pg_constraint') FROM pg_constraint WHERE conname = 'd_up';
DROP INDEX d_b;
-- and without a constraint: the index that the key has is not the oldest any more
CREATE TABLE e (a int NOT NULL);
CREATE UNIQUE INDEX e_s ON e USING surfidx (a);
CREATE TABLE re (a int REFERENCES e (a));
CREATE UNIQUE INDEX e_t ON e USING surfidx (a);
ALTER TABLE e ADD UNIQUE (a) WITH (access_method = surfidx);
ALTER TABLE e ALTER a TYPE bigint;
SELECT * FROM keys WHERE key LIKE 're%';
-- rows that break a key end the statement, and leave everything as it was
CREATE TABLE f (a int PRIMARY KEY WITH (access_method = surfidx));
CREATE UNIQUE INDEX f_b ON f (a);
INSERT INTO f VALUES (1);
CREATE TABLE rf (a int REFERENCES f);
INSERT INTO rf VALUES (1);
ALTER TABLE f ALTER a TYPE bigint USING a + 1;
SELECT * FROM keys WHERE key ~ '^rf|valid';
SELECT count(surfidx_check(i.oid, true, true)) FROM pg_class i JOIN pg_am m ON m.oid = relam
	WHERE amname = 'surfidx' AND relnamespace = 'fi'::regnamespace AND relkind = 'i';
DROP SCHEMA fi CASCADE;
