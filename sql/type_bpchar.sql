-- bpchar and varchar: blanks at the end do not count, and come back; the pattern classes
SET surfidx.unique_notice = off;
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('bp', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE 'k' || i * 7 % 61 || repeat(' ', i % 5) END::bpchar FROM generate_series(1, 600) i$$);
SELECT * FROM compare_type('bp', '{"","k17","k17  ","k5","z"}');
SELECT * FROM compare_type('bp', '{"","k17","k17  ","k5","z"}', 'bpchar_pattern_ops', '{~<~,~<=~,=,~>=~,~>~}');
SELECT make_source('bc', $$SELECT id, (CASE WHEN id % 2 = 0 THEN upper(v) ELSE v END)::char(9) COLLATE "en-x-icu" FROM bp$$);
SELECT * FROM compare_type('bc', '{"","k17","K17  ","k5","z"}');
SELECT make_source('vc', $$SELECT id, v::text::varchar(12) FROM bp$$);
SELECT * FROM compare_type('vc', '{"","k17","k17  ","k5","z"}', 'varchar_ops');

-- the blanks of each value
CREATE TABLE blanks (v bpchar);
CREATE INDEX blanks_v ON blanks USING surfidx (v);
INSERT INTO blanks VALUES ('a'), ('a '), ('a   '), ('');
SET enable_seqscan = off;
SELECT format('[%s]', v) FROM blanks WHERE v = 'a  ' ORDER BY 1;
SELECT octet_length(v) FROM blanks WHERE v = 'a  ' ORDER BY 1;
SELECT surfidx_merge('blanks_v');
SELECT octet_length(v) FROM blanks WHERE v = 'a  ' ORDER BY 1;
-- blanks beyond any key's length
SELECT count(*) FROM blanks WHERE v = ('a' || repeat(' ', 3000))::bpchar;
SELECT count(*) FROM blanks WHERE v IN ('q', ('a' || repeat(' ', 3000))::bpchar);
SELECT count(*) FROM blanks WHERE v <= ('a' || repeat(' ', 3000))::bpchar;
CREATE TABLE blanks2 (v bpchar, w bpchar);
CREATE INDEX ON blanks2 USING surfidx (v, w);
INSERT INTO blanks2 SELECT v, v FROM blanks;
SELECT count(*) FROM blanks2 WHERE v = ('a' || repeat(' ', 2000))::bpchar AND w = ('a' || repeat(' ', 2000))::bpchar;
RESET enable_seqscan;
DELETE FROM blanks WHERE v = 'a';
CREATE UNIQUE INDEX ON blanks USING surfidx (v);
INSERT INTO blanks VALUES ('a  '), ('b');
INSERT INTO blanks VALUES ('a');
DROP TABLE bp, bc, vc, blanks, blanks2;
