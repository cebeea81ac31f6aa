-- Operator classes that a user creates: of a type without one, in another order; comparison functions that are not in C
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TYPE fraction AS (p int8, q int8);
CREATE FUNCTION fraction_cmp_sql(fraction, fraction) RETURNS int IMMUTABLE STRICT LANGUAGE sql AS
	'SELECT numeric_cmp($1.p::numeric * $2.q, $2.p::numeric * $1.q)';
CREATE FUNCTION fraction_cmp_pl(fraction, fraction) RETURNS int IMMUTABLE STRICT LANGUAGE plpgsql AS
	'BEGIN RETURN numeric_cmp($1.p::numeric * $2.q, $2.p::numeric * $1.q); END';
CREATE FUNCTION fraction_cmp(fraction, fraction) RETURNS int IMMUTABLE STRICT LANGUAGE internal AS 'btrecordcmp';
CREATE FUNCTION fraction_lt(fraction, fraction) RETURNS bool IMMUTABLE STRICT LANGUAGE internal AS 'record_lt';
CREATE FUNCTION fraction_le(fraction, fraction) RETURNS bool IMMUTABLE STRICT LANGUAGE internal AS 'record_le';
CREATE FUNCTION fraction_eq(fraction, fraction) RETURNS bool IMMUTABLE STRICT LANGUAGE internal AS 'record_eq';
CREATE FUNCTION fraction_ge(fraction, fraction) RETURNS bool IMMUTABLE STRICT LANGUAGE internal AS 'record_ge';
CREATE FUNCTION fraction_gt(fraction, fraction) RETURNS bool IMMUTABLE STRICT LANGUAGE internal AS 'record_gt';
CREATE OPERATOR < (LEFTARG = fraction, RIGHTARG = fraction, FUNCTION = fraction_lt, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = fraction, RIGHTARG = fraction, FUNCTION = fraction_le, COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR = (LEFTARG = fraction, RIGHTARG = fraction, FUNCTION = fraction_eq, COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel, MERGES);
CREATE OPERATOR >= (LEFTARG = fraction, RIGHTARG = fraction, FUNCTION = fraction_ge, COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR > (LEFTARG = fraction, RIGHTARG = fraction, FUNCTION = fraction_gt, COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE TABLE fr (id int, v fraction, t text);
INSERT INTO fr SELECT i, ROW(i % 20, 1 + i % 7)::fraction, md5(i::text) FROM generate_series(1, 100) i;
CREATE OPERATOR CLASS fraction_sql FOR TYPE fraction USING surfidx AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 fraction_cmp_sql(fraction, fraction);
CREATE INDEX ON fr USING surfidx (id, v fraction_sql);
CREATE OPERATOR CLASS fraction_pl FOR TYPE fraction USING surfidx AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 fraction_cmp_pl(fraction, fraction);
CREATE INDEX ON fr USING surfidx (v fraction_pl);
-- 18 sorts by any access method's class that has the operator, these included, so they must not disagree with the next
DROP OPERATOR FAMILY fraction_sql USING surfidx;
DROP OPERATOR FAMILY fraction_pl USING surfidx;
-- without a btree class for its operators core knows no order for them: the index is built all the same, by its own function
CREATE OPERATOR CLASS fraction_own FOR TYPE fraction USING surfidx AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 fraction_cmp(fraction, fraction);
CREATE INDEX fr_own ON fr USING surfidx (v fraction_own DESC NULLS LAST, id);
SELECT surfidx_check('fr_own', true);
SET enable_seqscan = off;
SELECT array_agg(id ORDER BY id) FROM fr WHERE v < ROW(1, 3)::fraction;
SELECT array_agg(id ORDER BY id) FROM fr WHERE v >= ROW(19, 2)::fraction;
SET enable_seqscan = on; SET enable_bitmapscan = off; SET enable_indexscan = off;
SELECT array_agg(id ORDER BY id) FROM fr WHERE v < ROW(1, 3)::fraction;
SELECT array_agg(id ORDER BY id) FROM fr WHERE v >= ROW(19, 2)::fraction;
RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_indexscan;
DROP OPERATOR FAMILY fraction_own USING surfidx CASCADE;
-- a class whose operators belong to another order in btree: text's < with a comparison of bytes
CREATE COLLATION words (provider = icu, locale = 'en');
CREATE OPERATOR CLASS text_bytes FOR TYPE text USING surfidx AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 bttext_pattern_cmp(text, text);
CREATE TABLE tb AS SELECT i AS id, (CASE WHEN i % 2 = 0 THEN 'a' ELSE 'B' END || i % 70) COLLATE words AS t FROM generate_series(1, 300) i;
CREATE INDEX tb_t ON tb USING surfidx (t text_bytes);
SELECT surfidx_check('tb_t', true);
INSERT INTO tb SELECT id + 300, t FROM tb;
SELECT surfidx_merge('tb_t'), surfidx_check('tb_t', true);
SET enable_seqscan = off;
SELECT count(*) FROM tb WHERE t = 'B7';
SELECT count(*) FROM tb WHERE t = 'a8';
RESET enable_seqscan;
DROP TABLE tb;
DROP OPERATOR FAMILY text_bytes USING surfidx;
-- a class whose functions contradict one another
CREATE OPERATOR CLASS int8_mixed FOR TYPE int8 USING surfidx AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 btint8cmp(int8, int8), FUNCTION 2 btfloat8sortsupport(internal);
CREATE TABLE mixed AS SELECT i % 3 AS g, i::int8 AS v FROM generate_series(-3, 9) i;
CREATE INDEX mixed_v ON mixed USING surfidx (g, v int8_mixed);
-- ... of text: the collation is named, too
CREATE OPERATOR CLASS text_mixed FOR TYPE text USING surfidx AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 bttextcmp(text, text), FUNCTION 2 bttext_pattern_sortsupport(internal);
CREATE TABLE mixed_text AS SELECT x COLLATE words AS t FROM unnest('{a,B,c,D}'::text[]) x;
CREATE INDEX mixed_t ON mixed_text USING surfidx (t text_mixed);
DROP TABLE mixed_text;
DROP OPERATOR FAMILY text_mixed USING surfidx;
CREATE INDEX mixed_v ON mixed USING surfidx (g, v int8_mixed DESC) WHERE v > 0;
SELECT surfidx_check('mixed_v', true);
DROP TABLE mixed;
DROP OPERATOR FAMILY int8_mixed USING surfidx;
-- in C it does, for the index; ORDER BY needs a btree class that has the operators as well, as core looks orders up there
CREATE OPERATOR CLASS fraction_bt DEFAULT FOR TYPE fraction USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 fraction_cmp(fraction, fraction);
CREATE OPERATOR CLASS fraction_c FOR TYPE fraction USING surfidx AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 fraction_cmp(fraction, fraction);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'fraction_c' ORDER BY 1;
SELECT * FROM compare('fr', '(v fraction_c, id)', '{"SELECT v, id FROM %t ORDER BY v, id", "SELECT id FROM %t WHERE v = ROW(3, 4)::fraction", "SELECT id FROM %t WHERE v < ROW(3, 4)::fraction"}', '{index,only}');
-- a class without an operator, and one with a function too few
CREATE OPERATOR CLASS fraction_few FOR TYPE fraction USING surfidx AS OPERATOR 1 <, OPERATOR 3 =, FUNCTION 1 fraction_cmp(fraction, fraction);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'fraction_few';
CREATE OPERATOR CLASS fraction_none FOR TYPE fraction USING surfidx AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
CREATE INDEX ON fr USING surfidx (v fraction_none);
-- types that have no class at all
CREATE TABLE nocls (a json, b point, c xid);
CREATE INDEX ON nocls USING surfidx (a);
CREATE INDEX ON nocls USING surfidx (b);
CREATE INDEX ON nocls USING surfidx (c);
-- an order of the user's own: text by its patterns as the default of a domain's index
CREATE INDEX fr_t ON fr USING surfidx (t text_pattern_ops);
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM fr WHERE t ~>=~ 'f' ORDER BY t USING ~<~;
SELECT count(*) FROM fr WHERE t ~>=~ 'f';
-- types with a class whose values cannot be compared all the same: refused before there is an entry
CREATE TABLE je (id int, v json[]);
CREATE INDEX je_v ON je USING surfidx (id, v);
INSERT INTO je VALUES (1, NULL);
INSERT INTO je VALUES (1, '{1}');
INSERT INTO je VALUES (2, NULL), (3, '{2}');
SELECT surfidx_merge('je_v'), surfidx_check('je_v', true);
DROP INDEX je_v;
INSERT INTO je VALUES (1, '{1}');
CREATE INDEX ON je USING surfidx (v);
DROP TABLE fr, nocls, je;
DROP OPERATOR FAMILY fraction_c USING surfidx;
DROP OPERATOR FAMILY fraction_few USING surfidx; DROP OPERATOR FAMILY fraction_none USING surfidx; DROP OPERATOR FAMILY fraction_bt USING btree;
SELECT count(*) FROM pg_opclass WHERE opcname LIKE 'fraction%';
SET client_min_messages = warning;
DROP TYPE fraction CASCADE;
DROP COLLATION words;
