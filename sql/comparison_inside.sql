-- Comparisons of arrays, rows and ranges that ask functions not written in C: these may not run while pages are locked
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
CREATE TABLE looked_up (w int PRIMARY KEY WITH (access_method = surfidx), n int);
INSERT INTO looked_up SELECT g, g FROM generate_series(1, 100) g;
CREATE FUNCTION by_table(a int, b int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RETURN (SELECT n FROM looked_up WHERE w = a) - (SELECT n FROM looked_up WHERE w = b); END $$;
CREATE OPERATOR CLASS by_table_ops FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =,
	OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 by_table(int, int);
CREATE TYPE span AS RANGE (subtype = int, subtype_opclass = by_table_ops, multirange_type_name = spans);
CREATE DOMAIN some_span AS span;
CREATE TYPE span_row AS (a int, b some_span);
CREATE TABLE inside (s span, ss span[], r span_row, m spans, d some_span, ok int4range, oks int[]);
CREATE INDEX ON inside USING surfidx (s);
CREATE INDEX ON inside USING surfidx (ss);
CREATE INDEX ON inside USING surfidx (r);
CREATE INDEX ON inside USING surfidx (m);
CREATE INDEX ON inside USING surfidx (d);
CREATE INDEX ON inside USING surfidx ((ARRAY[r]));
CREATE INDEX inside_ok ON inside USING surfidx (ok, oks);
ALTER TABLE inside ADD UNIQUE (s) WITH (access_method = surfidx);
-- and btree stays what would be one of these
SET surfidx.in_place_of_btree = indexes;
CREATE INDEX inside_s ON inside (s);
CREATE INDEX inside_r ON inside (r);
CREATE INDEX inside_ok_2 ON inside (ok);
RESET surfidx.in_place_of_btree;
SELECT c.relname, a.amname FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.relname ~ '^inside_' ORDER BY 1;
SELECT indexrelname, statement IS NULL AS stays, remark FROM surfidx_convert('inside') GROUP BY 1, 2, 3 ORDER BY 1;
INSERT INTO inside (s, ok, oks) SELECT span(g, g + 1), int4range(g, g + 1), ARRAY[g] FROM generate_series(1, 99) g;
SELECT count(*) FROM inside WHERE s > span(90, 91);
DROP TABLE inside, looked_up CASCADE;
DROP TYPE span_row;
DROP DOMAIN some_span;
DROP TYPE span;
DROP OPERATOR FAMILY by_table_ops USING btree;
DROP FUNCTION by_table(int, int);
