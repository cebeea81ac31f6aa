-- text in collations that do not compare bytes: ICU, also one where equal is not identical
SET surfidx.unique_notice = off;
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE FUNCTION words(n int) RETURNS TABLE (id int, v text) LANGUAGE sql AS $$
	SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE
		(ARRAY['cote', 'Cote', 'coté', 'côte', 'CÔTÉ', 'co-te', 'résumé', 'resume', 'Résumé', 'zebra', 'Äpfel', 'apfel', 'straße', 'strasse', '', 'ﬁn', 'fin'])[1 + i * 7 % 17]
		|| CASE WHEN i % 3 = 0 THEN '' WHEN i % 3 = 1 THEN (i % 40)::text ELSE '/' || chr(97 + i % 26) || '.txt' END END
	FROM generate_series(1, n) i $$;
SELECT make_source('en', 'SELECT id, v COLLATE "en-x-icu" FROM words(700)');
SELECT * FROM compare_type('en', '{"",apfel,CÔTÉ,coté,co-te/c.txt,resume1,strasse,zzz}');
SELECT make_source('ic', 'SELECT id, v COLLATE ignore_case FROM words(700)');
SELECT * FROM compare_type('ic', '{"",apfel,côté,COTE,co-te/c.txt,RESUME1,STRASSE,zzz}');

-- prefixes: as ranges in C and with the pattern operators, not in a linguistic collation
SELECT make_source('pa', 'SELECT id, v COLLATE "en-x-icu" FROM words(700)', '~<~');
SELECT * FROM compare_type('pa', '{"",apfel,CÔTÉ,coté}', 'text_pattern_ops', '{~<~,~<=~,=,~>=~,~>~}');
SELECT * FROM compare('en', '(v COLLATE "C", id)', '{"SELECT id, v FROM %t WHERE v COLLATE \"C\" LIKE ''co%''",
	"SELECT id, v FROM %t WHERE v COLLATE \"C\" >= ''co'' AND v COLLATE \"C\" < ''cp'' ORDER BY v COLLATE \"C\", id"}');
SELECT * FROM compare('en', '(v, id)', '{"SELECT id, v FROM %t WHERE v >= ''co'' AND v < ''cp'' ORDER BY v, id",
	"SELECT id, v FROM %t WHERE v >= ''co'' AND v LIKE ''co%''"}');

-- a unique index takes what the collation says
CREATE TABLE names (v text COLLATE ignore_case);
CREATE UNIQUE INDEX names_v ON names USING surfidx (v);
INSERT INTO names VALUES ('Ada'), ('Grace');
INSERT INTO names VALUES ('ADA');
SELECT surfidx_merge('names_v');
INSERT INTO names VALUES ('ada');
SET enable_seqscan = off;
SELECT v FROM names WHERE v = 'ADA';
RESET enable_seqscan;
-- equal by pattern is equal by byte, which the type's = is not
CREATE INDEX ON names USING surfidx (v text_pattern_ops);
CREATE INDEX ON names USING surfidx ((v::bpchar) bpchar_pattern_ops);
-- without a collation
CREATE INDEX ON names USING surfidx ((v || v COLLATE "C"));
CREATE TABLE mixed (a text COLLATE "C", b text COLLATE "en-x-icu");
\set VERBOSITY sqlstate
CREATE INDEX ON mixed USING surfidx ((a || b));
\set VERBOSITY default
DROP TABLE en, ic, pa, names, mixed;
DROP FUNCTION words;
DROP COLLATION ignore_case;
