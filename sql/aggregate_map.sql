-- A table whose visibility map has more than one page: counts, sums, groups and rows by block read the right one
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set ECHO none
\i :answers
\set ECHO all
-- a row a page, on two pages of the map, in an order that is not the table's
CREATE UNLOGGED TABLE wide (k int NOT NULL, b int, filler text) WITH (autovacuum_enabled = off);
ALTER TABLE wide ALTER filler SET STORAGE PLAIN;
INSERT INTO wide SELECT i * 7919 % 33013, i % 20, repeat('x', 4100) FROM generate_series(1, 33012) i;
CREATE INDEX wide_k ON wide USING surfidx (k) INCLUDE (b);
CREATE INDEX wide_b ON wide USING surfidx (b, k);
VACUUM (ANALYZE) wide;
SELECT pg_relation_size('wide') / 8192 > 32672 AS more_than_a_page_of_the_map, pg_relation_size('wide', 'vm') / 8192 AS pages;
INSERT INTO asked (query) VALUES ('SELECT count(*), sum(k), max(b) FROM wide'), ('SELECT count(*) FROM wide WHERE k BETWEEN 100 AND 20000'), ('SELECT b, count(*), min(k), max(k) FROM wide GROUP BY b'), ('SELECT DISTINCT b FROM wide'),
	('SELECT b, max(k) FROM wide GROUP BY b'), ('SELECT count(DISTINCT k), count(*) FROM wide WHERE k > 5');
CREATE FUNCTION rows_differ() RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	q text := 'SELECT md5(string_agg(x::text, '' '')) FROM (SELECT k, b FROM wide WHERE k > 9 ORDER BY k) x';
	by_block text;
	one_by_one text;
BEGIN
	EXECUTE q INTO by_block;
	PERFORM set_config('surfidx.rows_by_block', 'off', true);
	EXECUTE q INTO one_by_one;
	PERFORM set_config('surfidx.rows_by_block', 'on', true);
	RETURN by_block IS DISTINCT FROM one_by_one;
END $$;
SELECT * FROM differences();
SELECT rows_differ();
-- dead rows on the first and on the last page of the map
DELETE FROM wide WHERE ctid IN ('(0,1)', '(5,1)', '(32671,1)', '(32672,1)', '(32673,1)', '(33000,1)');
SELECT * FROM differences();
SELECT rows_differ();
-- in their places others, and rows beyond the map as a cursor has it
VACUUM wide;
BEGIN;
DECLARE c CURSOR FOR SELECT k FROM wide ORDER BY k;
MOVE 500 FROM c;
INSERT INTO wide SELECT 40000 + i, i % 20, repeat('y', 4100) FROM generate_series(1, 100) i;
SELECT * FROM differences();
SELECT rows_differ();
MOVE ALL FROM c;
ROLLBACK;
SELECT * FROM differences();
DROP TABLE wide, asked, declined;
DROP FUNCTION rows_differ, plan_of, rows_of, differences, declined, analyzed;
