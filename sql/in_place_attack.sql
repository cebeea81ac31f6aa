-- Bugs that an attack found in surfidx.in_place_of_btree
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.unique_notice = off;
CREATE SCHEMA ia;
SET search_path = ia, public;
CREATE VIEW methods AS SELECT relname, amname FROM pg_class c JOIN pg_am a ON a.oid = relam
	WHERE relkind IN ('i', 'I') AND relnamespace = 'ia'::regnamespace ORDER BY relname;

-- a partition that cannot have ours keeps the others from it, or they could not be attached
CREATE ACCESS METHOD heap4 TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE hp (a int, b text) PARTITION BY RANGE (a);
CREATE TABLE hpa PARTITION OF hp FOR VALUES FROM (0) TO (10);
CREATE TABLE hpb PARTITION OF hp FOR VALUES FROM (10) TO (20) USING heap4;
SET surfidx.in_place_of_btree = 'all';
CREATE INDEX hp_b ON ONLY hp (b);
CREATE INDEX hpa_b ON hpa (b);
ALTER INDEX hp_b ATTACH PARTITION hpa_b;
SELECT * FROM methods;

-- so does an index that is there
CREATE TABLE op (a int, b text) PARTITION BY RANGE (a);
CREATE TABLE op1 PARTITION OF op FOR VALUES FROM (0) TO (10);
SET surfidx.in_place_of_btree = off;
CREATE INDEX op1_a ON op1 (a);
CREATE INDEX op1_lower ON op1 (lower(b), a);
SET surfidx.in_place_of_btree = 'all';
CREATE INDEX op_a ON ONLY op (a);
ALTER INDEX op_a ATTACH PARTITION op1_a;
CREATE INDEX op_lower ON op (lower(b), a);
CREATE INDEX op_b ON op (b);
SELECT * FROM methods WHERE relname ~ '^op';

-- a partition's primary key before its parent's
SET surfidx.in_place_of_btree = off;
CREATE TABLE kp (a int NOT NULL, b int) PARTITION BY RANGE (a);
CREATE TABLE kp1 PARTITION OF kp (PRIMARY KEY (a)) FOR VALUES FROM (0) TO (10);
SET surfidx.in_place_of_btree = 'all';
ALTER TABLE kp ADD PRIMARY KEY (a);
SELECT * FROM methods WHERE relname ~ '^kp';

-- a class in a schema that its user may not look into
CREATE ROLE ia_alice;
CREATE SCHEMA ia_own AUTHORIZATION ia_alice;
CREATE SCHEMA ia_hidden;
CREATE OPERATOR CLASS ia_hidden.mine FOR TYPE int USING surfidx AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int, int);
CREATE OPERATOR CLASS public.mine FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int, int);
GRANT USAGE ON SCHEMA public TO ia_alice;
SET ROLE ia_alice;
CREATE TABLE ia_own.t (a int);
CREATE INDEX ON ia_own.t (a public.mine);
RESET ROLE;

-- a class with btree's operators and another function is another one
CREATE FUNCTION backwards(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp($1, $2)';
CREATE OPERATOR CLASS other FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 backwards(int, int);
CREATE TABLE oc (a int);
CREATE INDEX oc_a ON oc (a other);
SELECT * FROM methods WHERE relname ~ '^oc';

-- a unique constraint with a name beside ALTER TYPE of a primary key
CREATE TABLE ak (id int PRIMARY KEY WITH (access_method = surfidx), d int);
ALTER TABLE ak ALTER id TYPE bigint, ADD CONSTRAINT ak_d UNIQUE (d);
\d ak
DROP SCHEMA ia, ia_own, ia_hidden CASCADE;
DROP OPERATOR FAMILY public.mine USING btree CASCADE;
DROP ACCESS METHOD heap4 CASCADE;
DROP OWNED BY ia_alice;
DROP ROLE ia_alice;
