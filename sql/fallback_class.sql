SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.auto_merge = off;
SET surfidx.unique_notice = off;
-- A type that can be taken for text and has a btree class of its own: text's class would find other values equal.
CREATE TYPE folded;
CREATE FUNCTION folded_in(cstring) RETURNS folded LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION folded_out(folded) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
CREATE TYPE folded (INPUT = folded_in, OUTPUT = folded_out, LIKE = text, COLLATABLE = true);
CREATE CAST (folded AS text) WITHOUT FUNCTION AS IMPLICIT;
RESET client_min_messages;
CREATE FUNCTION folded_cmp(folded, folded) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT bttextcmp(lower($1::text), lower($2::text))';
CREATE FUNCTION folded_lt(folded, folded) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT folded_cmp($1, $2) < 0';
CREATE FUNCTION folded_le(folded, folded) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT folded_cmp($1, $2) <= 0';
CREATE FUNCTION folded_eq(folded, folded) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT folded_cmp($1, $2) = 0';
CREATE FUNCTION folded_ge(folded, folded) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT folded_cmp($1, $2) >= 0';
CREATE FUNCTION folded_gt(folded, folded) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT folded_cmp($1, $2) > 0';
CREATE OPERATOR < (LEFTARG = folded, RIGHTARG = folded, PROCEDURE = folded_lt);
CREATE OPERATOR <= (LEFTARG = folded, RIGHTARG = folded, PROCEDURE = folded_le);
CREATE OPERATOR = (LEFTARG = folded, RIGHTARG = folded, PROCEDURE = folded_eq);
CREATE OPERATOR >= (LEFTARG = folded, RIGHTARG = folded, PROCEDURE = folded_ge);
CREATE OPERATOR > (LEFTARG = folded, RIGHTARG = folded, PROCEDURE = folded_gt);
CREATE OPERATOR CLASS folded_ops DEFAULT FOR TYPE folded USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 folded_cmp(folded, folded);
CREATE DOMAIN folded_domain AS folded;
CREATE TABLE fold (id int, f folded COLLATE "C", d folded_domain, v varchar, r regclass, i int);
INSERT INTO fold VALUES (1, 'A', 'x', 'v', 'pg_class', 1), (2, 'a', 'y', 'w', 'pg_type', 2);
CREATE UNIQUE INDEX ON fold USING btree (f);
CREATE UNIQUE INDEX ON fold USING surfidx (f);
CREATE INDEX ON fold USING surfidx (id, d);
-- what btree does likewise
CREATE INDEX ON fold USING surfidx ((f::text));
CREATE INDEX ON fold USING surfidx (v, r, i oid_ops);
DROP TABLE fold;
SET client_min_messages = warning;
DROP TYPE folded CASCADE;
