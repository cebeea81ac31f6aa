-- How often the comparison function is called: never for values of equal bytes, but once in a statement that inserts to see that the type can be compared.
-- Counted by one in PL/pgSQL, inside a row type.  (That a build sorts by support function 2 is seen in user_opclasses, where it contradicts function 1.)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE SCHEMA cnt;
CREATE SEQUENCE cnt.calls;
CREATE TYPE cnt.part AS (i int);
CREATE TYPE cnt.whole AS (p cnt.part);
-- an index is built only with functions in C: this one becomes PL/pgSQL afterwards
CREATE FUNCTION cnt.cmp(a cnt.part, b cnt.part) RETURNS int LANGUAGE internal IMMUTABLE AS 'btrecordcmp';
CREATE FUNCTION cnt.lt(cnt.part, cnt.part) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT cnt.cmp($1, $2) < 0';
CREATE FUNCTION cnt.le(cnt.part, cnt.part) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT cnt.cmp($1, $2) <= 0';
CREATE FUNCTION cnt.eq(cnt.part, cnt.part) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT cnt.cmp($1, $2) = 0';
CREATE FUNCTION cnt.ge(cnt.part, cnt.part) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT cnt.cmp($1, $2) >= 0';
CREATE FUNCTION cnt.gt(cnt.part, cnt.part) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT cnt.cmp($1, $2) > 0';
CREATE OPERATOR cnt.< (LEFTARG = cnt.part, RIGHTARG = cnt.part, FUNCTION = cnt.lt);
CREATE OPERATOR cnt.<= (LEFTARG = cnt.part, RIGHTARG = cnt.part, FUNCTION = cnt.le);
CREATE OPERATOR cnt.= (LEFTARG = cnt.part, RIGHTARG = cnt.part, FUNCTION = cnt.eq);
CREATE OPERATOR cnt.>= (LEFTARG = cnt.part, RIGHTARG = cnt.part, FUNCTION = cnt.ge);
CREATE OPERATOR cnt.> (LEFTARG = cnt.part, RIGHTARG = cnt.part, FUNCTION = cnt.gt);
CREATE OPERATOR CLASS cnt.part_ops DEFAULT FOR TYPE cnt.part USING btree AS
	OPERATOR 1 cnt.<, OPERATOR 2 cnt.<=, OPERATOR 3 cnt.=, OPERATOR 4 cnt.>=, OPERATOR 5 cnt.>, FUNCTION 1 cnt.cmp(cnt.part, cnt.part);
CREATE FUNCTION cnt.of(i int) RETURNS cnt.whole LANGUAGE sql IMMUTABLE AS 'SELECT ROW(ROW(i)::cnt.part)::cnt.whole';
CREATE FUNCTION cnt.count(statement text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setval('cnt.calls', 1);
	EXECUTE statement;
	RETURN nextval('cnt.calls') - 2;
END $$;

CREATE TABLE cnt.s (w cnt.whole, n int);
CREATE TABLE cnt.b (LIKE cnt.s);
CREATE INDEX s_w ON cnt.s USING surfidx (w);
CREATE INDEX b_w ON cnt.b (w);
CREATE OR REPLACE FUNCTION cnt.cmp(a cnt.part, b cnt.part) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM pg_catalog.nextval('cnt.calls');
	RETURN pg_catalog.btint4cmp(a.i, b.i);
END $$;
-- 300 equal values into the delta, into the tree, into both
SELECT cnt.count('INSERT INTO cnt.s SELECT cnt.of(7), i FROM generate_series(1, 300) i') AS surfidx,
	cnt.count('INSERT INTO cnt.b SELECT cnt.of(7), i FROM generate_series(1, 300) i') >= 300 AS btree;
SELECT cnt.count('SELECT surfidx_merge(''cnt.s_w'')') AS merge;
SELECT cnt.count('INSERT INTO cnt.s SELECT cnt.of(7), i FROM generate_series(1, 300) i') AS surfidx;
SELECT cnt.count('SELECT surfidx_merge(''cnt.s_w'')') AS merge;
-- looked for
SELECT cnt.count('SELECT count(n) FROM cnt.s WHERE w = cnt.of(7)') AS surfidx, cnt.count('SELECT count(n) FROM cnt.b WHERE w = cnt.of(7)') > 0 AS btree;
-- among 1,000 values: about as many as it takes to find one by bisection, in the tree and in the delta; the value itself costs none
INSERT INTO cnt.s SELECT cnt.of(i * 7919 % 1009), i FROM generate_series(1, 1000) i;
INSERT INTO cnt.b SELECT cnt.of(i * 7919 % 1009), i FROM generate_series(1, 1000) i;
SELECT cnt.count('SELECT count(n) FROM cnt.s WHERE w = cnt.of(500)') BETWEEN 1 AND 40 AS delta;
SELECT surfidx_merge('cnt.s_w') > 0 AS merged;
SELECT cnt.count('SELECT count(n) FROM cnt.s WHERE w = cnt.of(500)') BETWEEN 1 AND 40 AS tree;
SELECT surfidx_check('cnt.s_w', true, true);
SELECT count(*) FROM (SELECT w, n FROM cnt.s WHERE w >= cnt.of(5) AND w < cnt.of(9)) q;

SET client_min_messages = warning;
DROP SCHEMA cnt CASCADE;
