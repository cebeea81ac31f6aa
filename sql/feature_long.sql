-- Values far longer than a key may be, which btree takes because they compress: so does the comparator key space
SET surfidx.unique_notice = off;
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
-- neighbours that differ at the end only, in lengths from 1 to 60,000; some fit as they are, some do not
SELECT make_source('lt', $$SELECT i, (repeat(CASE i % 3 WHEN 0 THEN 'Lorem ' WHEN 1 THEN 'lorem ' ELSE 'ab' END, (ARRAY[1, 300, 449, 450, 3000, 10000])[1 + i * 7 % 6]) || i * 31 % 40) COLLATE "en-x-icu" FROM generate_series(1, 240) i$$);
CREATE INDEX ON lt USING btree (v);
SELECT * FROM compare('lt', '(v, id)', ARRAY['SELECT rk, id FROM %t WHERE g >= 0 ORDER BY v, id', 'SELECT id FROM %t WHERE v = repeat(''Lorem '', 10000) || 3', 'SELECT id FROM %t WHERE v > repeat(''lorem '', 3000) || 5 AND v <= repeat(''Lorem '', 10000) || 7',
	'SELECT id FROM %t WHERE v IN (repeat(''ab'', 10000) || 2, repeat(''Lorem '', 3000) || 3, ''ab7'', repeat(''x'', 100000)) AND id > 20 ORDER BY v, id', 'SELECT id FROM %t WHERE v < ANY (ARRAY[repeat(''ab'', 10000), repeat(''Lorem '', 300)])']::text[], '{index,bitmap}') WHERE complaint <> 'no index condition';
-- from the index alone
SELECT * FROM compare('lt', '(v)', ARRAY['SELECT md5(v) FROM %t WHERE v > repeat(''lorem '', 3000)', 'SELECT md5(v) FROM %t WHERE v = repeat(''ab'', 3000) || 2', 'SELECT length(v) FROM %t ORDER BY v DESC']::text[], '{only}');
-- several such columns, lists of them behind one another
CREATE TABLE ll AS SELECT a.id, a.v, (b.v || a.id % 3) COLLATE ignore_case AS w, a.rk FROM lt a JOIN lt b ON b.id = 241 - a.id;
SELECT * FROM compare('ll', '(v, w DESC) INCLUDE (id, rk)', ARRAY['SELECT id FROM %t WHERE v IN (SELECT v FROM lt WHERE id < 4)', 'SELECT id FROM %t WHERE v = (SELECT v FROM lt WHERE id = 10) AND w < (SELECT upper(w) || ''z'' FROM ll WHERE id = 10)',
	'SELECT id FROM %t WHERE v = ANY ((SELECT array_agg(v) FROM lt WHERE id < 30)::text[]) AND w = ANY ((SELECT array_agg(upper(w)) FROM ll WHERE id BETWEEN 10 AND 40)::text[])',
	'SELECT id FROM %t WHERE v IS NOT NULL AND w = (SELECT upper(w) FROM ll WHERE id = 19)']::text[], '{index,bitmap}') WHERE complaint <> 'no index condition';
-- other types, and INCLUDE columns beside
CREATE TABLE lo AS SELECT id, array_fill(id % 50, ARRAY[(ARRAY[3, 600, 2500])[1 + id % 3]]) AS a, jsonb_build_object('k', repeat('v', id % 4 * 2000), 'id', id % 60) AS j,
	int4multirange(VARIADIC ARRAY(SELECT int4range(k * 10, k * 10 + 5) FROM generate_series(1, 200) k)) AS r, repeat('include', 200) AS i FROM generate_series(1, 200) id;
SELECT * FROM compare('lo', '(a, j) INCLUDE (id, i)', ARRAY['SELECT id FROM %t WHERE a = array_fill(7, ARRAY[2500])', 'SELECT id, length(i) FROM %t WHERE a > array_fill(7, ARRAY[600])', 'SELECT id FROM %t WHERE a = array_fill(1, ARRAY[600]) AND j >= ''{"k": "", "id": 1}''']::text[], '{only,bitmap}');
SELECT * FROM compare('lo', '(j, r)', ARRAY['SELECT id FROM %t WHERE j = jsonb_build_object(''k'', repeat(''v'', 6000), ''id'', 7)', 'SELECT id FROM %t WHERE j = jsonb_build_object(''k'', repeat(''v'', 6000), ''id'', 7) AND r > ''{}''']::text[], '{index,bitmap}');
-- unique: long and short, beside what makes a short one long
CREATE TABLE lu (t text COLLATE "en-x-icu", x text);
\set VERBOSITY terse
CREATE UNIQUE INDEX lu_t ON lu USING surfidx (t) INCLUDE (x);
INSERT INTO lu VALUES (repeat('u', 2000), 'x'), (repeat('u', 90000), NULL);
INSERT INTO lu VALUES (repeat('u', 2000), repeat('y', 2000));
INSERT INTO lu VALUES (repeat('u', 90000), repeat('y', 2000)) ON CONFLICT (t) DO UPDATE SET x = 'conflict';
SELECT length(t), x FROM lu ORDER BY 1;
SELECT surfidx_merge('lu_t') > 0, surfidx_check('lu_t', true);
INSERT INTO lu VALUES (repeat('u', 90000), NULL);
DELETE FROM lu WHERE length(t) > 2000;
VACUUM lu;
INSERT INTO lu VALUES (repeat('u', 90000), 'again');
SELECT surfidx_check('lu_t', true);
-- what does not compress stays too long, as it is for btree
INSERT INTO lu SELECT string_agg(md5(i::text), '') FROM generate_series(1, 200) i;
DROP INDEX lu_t;
CREATE INDEX lu_t ON lu USING btree (t);
INSERT INTO lu SELECT string_agg(md5(i::text), '') FROM generate_series(1, 200) i;
-- in ordered bytes they have to fit; a class without a byte encoding takes them
CREATE OPERATOR CLASS long_text_ops FOR TYPE text USING surfidx AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 bttextcmp(text, text), FUNCTION 2 bttextsortsupport(internal), FUNCTION 4 btvarstrequalimage(oid);
ALTER TABLE lt ALTER v TYPE text COLLATE "C";
CREATE INDEX ON lt USING surfidx (v);
SELECT * FROM compare('lt', '(v long_text_ops, id)', ARRAY['SELECT id FROM %t WHERE g >= 0 ORDER BY v, id', 'SELECT id FROM %t WHERE v = repeat(''Lorem '', 10000) || 3', 'SELECT id FROM %t WHERE v > repeat(''lorem '', 3000) || 5 ORDER BY v DESC, id DESC']::text[], '{index}') WHERE complaint <> 'no index condition';
DROP OPERATOR FAMILY long_text_ops USING surfidx;
DROP TABLE lt, ll, lo, lu;
DROP COLLATION ignore_case;
