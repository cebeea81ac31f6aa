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
-- several such columns, lists of them one after the other
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
-- in ordered bytes what follows the first 1,024 bytes of a key is compressed so that bytes keep their order
ALTER TABLE lt ALTER v TYPE text COLLATE "C";
SELECT make_source('ltc', 'SELECT id, v FROM lt');
SELECT * FROM compare('ltc', '(v, id)', ARRAY['SELECT rk, id FROM %t WHERE g >= 0 ORDER BY v, id', 'SELECT rk, id FROM %t WHERE g >= 0 ORDER BY v DESC, id DESC', 'SELECT id FROM %t WHERE v = repeat(''Lorem '', 10000) || 3', 'SELECT id FROM %t WHERE v > repeat(''lorem '', 3000) || 5 AND v <= repeat(''lorem '', 10000) || 7',
	'SELECT id FROM %t WHERE v LIKE repeat(''lorem '', 3000) || ''3%''', 'SELECT id FROM %t WHERE v IN (repeat(''ab'', 10000) || 2, repeat(''Lorem '', 3000) || 3, ''ab7'', repeat(''x'', 100000)) AND id > 20 ORDER BY v, id', 'SELECT id FROM %t WHERE v < ANY (ARRAY[repeat(''ab'', 10000), repeat(''Lorem '', 300)])']::text[], '{index,bitmap}') WHERE complaint <> 'no index condition';
SELECT * FROM compare('ltc', '(v DESC) INCLUDE (id)', ARRAY['SELECT md5(v), id FROM %t WHERE v > repeat(''lorem '', 3000)', 'SELECT md5(v) FROM %t WHERE v = repeat(''ab'', 3000) || 2', 'SELECT length(v) FROM %t ORDER BY v DESC', 'SELECT md5(v) FROM %t WHERE v ~ ''7$'' ORDER BY v DESC']::text[], '{only}') WHERE complaint <> 'no index condition';
-- values around each length at which something changes, by all operators
SELECT make_source('le', $$SELECT i, (repeat(chr(97 + i % 3), 1000 + i / 8) || CASE i % 8 / 2 WHEN 0 THEN '' WHEN 1 THEN ' ' WHEN 2 THEN 'b' ELSE 'ab' END) COLLATE "C" FROM generate_series(150, 240) i$$);
SELECT * FROM compare_type('le', ARRAY(SELECT v FROM le WHERE id IN (150, 189, 191, 194, 240) ORDER BY v));
-- other types: bytes, bits, numbers of a thousand digits, blanks
SELECT make_source('lb', $$SELECT i, convert_to(v, 'UTF8') || decode(repeat('00', i % 2000), 'hex') || CASE i % 3 WHEN 0 THEN '' ELSE '\x01' END::bytea FROM (SELECT id AS i, v FROM lt WHERE id <= 60) x$$);
SELECT * FROM compare_type('lb', ARRAY(SELECT v FROM lb WHERE id % 17 = 3 ORDER BY v LIMIT 3)::text[]);
SELECT make_source('lv', $$SELECT i, repeat((ARRAY['10', '01', '0', '0001'])[1 + i % 4], (ARRAY[3, 4000, 4097, 60000])[1 + i * 7 % 4])::varbit || ((i % 9)::bit(4))::varbit FROM generate_series(1, 60) i$$);
SELECT * FROM compare_type('lv', ARRAY(SELECT v FROM lv WHERE id % 17 = 3 ORDER BY v LIMIT 3)::text[]);
SELECT make_source('ln', $$SELECT i, (CASE i % 3 WHEN 0 THEN '-' ELSE '' END || repeat((ARRAY['12', '70000', '123456789'])[1 + i % 3], (ARRAY[3, 300, 900, 3000])[1 + i * 7 % 4]) || '.' || repeat('5', i % 30) || CASE i % 4 WHEN 0 THEN '00' ELSE '' END)::numeric FROM generate_series(1, 60) i$$);
SELECT * FROM compare_type('ln', ARRAY(SELECT v FROM ln WHERE id % 17 = 3 ORDER BY v LIMIT 3)::text[]);
SELECT make_source('lc', $$SELECT i, (repeat('char', (ARRAY[3, 255, 256, 257, 2000])[1 + i % 5]) || i % 7)::char(9000) COLLATE "C" FROM generate_series(1, 60) i$$);
SELECT * FROM compare_type('lc', ARRAY(SELECT v FROM lc WHERE id % 17 = 3 ORDER BY v LIMIT 3)::text[]);
-- numbers and intervals of each length around that at which something changes
SELECT make_source('nd', $$SELECT i, (CASE i % 3 WHEN 0 THEN '-' ELSE '' END || CASE i % 2 WHEN 0 THEN '0.' || repeat('1234', 500 + i / 2) ELSE repeat('4321', 500 + i / 2) END)::numeric FROM generate_series(1, 60) i$$);
SELECT * FROM compare_type('nd', ARRAY(SELECT v FROM nd WHERE id % 17 = 3 ORDER BY v LIMIT 3)::text[]);
CREATE TABLE li (t text COLLATE "C", v interval);
CREATE INDEX li_tv ON li USING surfidx (t, v);
DO $$
DECLARE
	v text;
BEGIN
	FOREACH v IN ARRAY ARRAY['1 hour', '1 day', '1 mon 1 day'] LOOP
		FOR n IN 2650 .. 2720 LOOP
			BEGIN
				INSERT INTO li SELECT substr(string_agg(md5(i::text || v), ''), 1, n), v::interval FROM generate_series(1, 90) i;
			EXCEPTION WHEN program_limit_exceeded THEN
				NULL;
			END;
		END LOOP;
	END LOOP;
END $$;
SELECT v, max(length(t)), count(*) FROM li GROUP BY v ORDER BY v;
SELECT surfidx_check('li_tv', true);
-- what does not fit even so
CREATE TABLE lx (t text COLLATE "C", b bytea);
CREATE INDEX lx_t ON lx USING surfidx (t);
CREATE INDEX lx_b ON lx USING surfidx (b);
INSERT INTO lx (t) SELECT string_agg(md5(i::text), '') FROM generate_series(1, 200) i;
INSERT INTO lx (b) SELECT string_agg(sha512(i::text::bytea), '') FROM generate_series(1, 43) i;
INSERT INTO lx (t) VALUES (repeat('x', 1100000));
-- incompressible bytes take all of a key; and digits that btree refuses
INSERT INTO lx SELECT (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 120) i), substr(string_agg(sha512(i::text::bytea), ''), 1, 2650) FROM generate_series(1, 100) i;
SELECT length(t), length(b) FROM lx ORDER BY t;
SELECT surfidx_check('lx_t', true), surfidx_check('lx_b', true);
DROP TABLE lt, ltc, ll, lo, lu, le, lb, lv, ln, nd, li, lc, lx;
DROP COLLATION ignore_case;
