-- B5: searches that begin where ranks of characters, or bytes, point, in orders about which these say almost all, or nothing.
-- Each against a btree, from a session whose copies of roots are made.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
CREATE SCHEMA guesses;
SET search_path = guesses, public;
SET client_min_messages = warning;
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION numbers (provider = icu, locale = 'en-u-kn-true');
CREATE COLLATION shifted (provider = icu, locale = 'en-u-ka-shifted');
CREATE COLLATION french (provider = icu, locale = 'fr-CA');
CREATE COLLATION czech (provider = icu, locale = 'cs');
CREATE COLLATION upper_first (provider = icu, locale = 'en-u-kf-upper');

CREATE FUNCTION word(i int, kind int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE kind
		WHEN 0 THEN 'AX-' || left(translate(md5(i::text), 'abcdef', '012345'), 3) || chr(65 + i % 26) || '-' || i
		WHEN 1 THEN CASE WHEN i % 3 = 0 THEN upper(x) WHEN i % 3 = 1 THEN initcap(x) ELSE x END
		WHEN 2 THEN (ARRAY['Öl', 'über', 'Straße', 'Müll', 'chata', 'cote', 'côte', 'coté', 'hora', 'Ängste', 'strasse', 'oel',
			'Ёлка', 'елка', 'ЁЛКА', 'їжак', 'Іжак', 'Ґава', 'ѓавол', 'Ώρα', 'ωρα', 'ὥρα', 'ΩΡΑ', 'ρας'])[1 + i % 24] || left(m, 2) || '-' || i % 90
		ELSE left(m, 1 + i % 4) || i % 7 || repeat('-', i % 3) || ' ' || left(m, i % 9) END
	FROM (SELECT translate(md5(i::text), '0123456789', 'ghijklmnop') m) m,
		-- letters of one byte and of two
		LATERAL (SELECT translate(m, 'abcdefghijklmnop', (ARRAY['abcdefghijklmnop', 'абвгдеёжзийклмђо', 'αβγδεζηθικλμνξός'])[1 + i / 12 % 3]) COLLATE "en-x-icu" x) x
$$;

CREATE TABLE sought (s text, n int);
INSERT INTO sought SELECT w || CASE WHEN i % 4 = 1 THEN '0' WHEN i % 4 = 2 THEN ' ' ELSE '' END, i % 9
	FROM generate_series(1, 8000, 29) i, LATERAL (SELECT word(i, i % 4) w) x;
INSERT INTO sought VALUES ('', 0), ('zzzzzz', 3), ('ß', 1), (chr(1) || 'a', 2), (repeat('a', 700), 4), ('日本', 5);

-- Lookups, misses, ranges of both directions, row comparisons, = ANY: a hash of all that came, by one of two indexes.
CREATE FUNCTION answers(tab regclass, ahead bool) RETURNS text LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
	q text;
	a text;
	r text := '';
BEGIN
	FOREACH q IN ARRAY ARRAY[
		'SELECT count(*) || md5(string_agg(r.s || r.n, '','' ORDER BY r.s COLLATE "C", r.n)) FROM sought w, LATERAL (SELECT s, n FROM T WHERE s = w.s) r',
		'SELECT count(*) || md5(string_agg(r.s || r.n, '','' ORDER BY r.s COLLATE "C", r.n)) FROM sought w, LATERAL (SELECT s, n FROM T WHERE s = w.s AND n = w.n) r',
		'SELECT md5(string_agg(r.s, '','' ORDER BY w.s COLLATE "C", w.n, o)) FROM sought w, LATERAL (SELECT s, row_number() OVER () o FROM (SELECT s FROM T WHERE s > w.s ORDER BY s LIMIT 7) x) r',
		'SELECT md5(string_agg(r.s, '','' ORDER BY w.s COLLATE "C", w.n, o)) FROM sought w, LATERAL (SELECT s, row_number() OVER () o FROM (SELECT s FROM T WHERE s <= w.s ORDER BY s DESC LIMIT 7) x) r',
		'SELECT md5(string_agg(r.s || r.n, '','' ORDER BY w.s COLLATE "C", w.n, o)) FROM sought w, LATERAL (SELECT s, n, row_number() OVER () o FROM (SELECT s, n FROM T WHERE (s, n) >= (w.s, w.n) ORDER BY s, n LIMIT 5) x) r',
		'SELECT md5(string_agg(r.s, '','' ORDER BY w.s COLLATE "C", w.n, o)) FROM sought w, LATERAL (SELECT s, row_number() OVER () o FROM (SELECT s FROM T WHERE n = w.n AND s >= w.s ORDER BY s LIMIT 7) x) r',
		'SELECT count(*)::text FROM T WHERE s = ANY (ARRAY(SELECT s FROM sought))'] LOOP
		-- what needs all of an index that begins with n
		CONTINUE WHEN ahead AND q LIKE '%ORDER BY s%' AND q NOT LIKE '%n = w.n AND s >=%';
		CONTINUE WHEN NOT ahead AND q LIKE '%n = w.n AND s >=%';
		FOR i IN 1..2 LOOP
			EXECUTE replace(q, 'FROM T ', format('FROM %s ', tab)) INTO a;
		END LOOP;
		r := r || a || ' ';
	END LOOP;
	RETURN r;
END
$$;

CREATE PROCEDURE compare(coll text, def text) LANGUAGE plpgsql AS $$
DECLARE
	b text;
	s text;
BEGIN
	DROP TABLE IF EXISTS b, s;
	EXECUTE format('CREATE TABLE b (s text COLLATE %s, n int)', coll);
	EXECUTE format('CREATE TABLE s (s text COLLATE %s, n int)', coll);
	INSERT INTO b SELECT word(i, i % 4), i % 9 FROM generate_series(1, 8000) i;
	-- (posting lists, one of them through many leaves)
	INSERT INTO b SELECT word(i % 5 * 29 + 1, (i % 5 * 29 + 1) % 4), i % 9 FROM generate_series(1, 2500) i;
	INSERT INTO s SELECT * FROM b;
	EXECUTE 'CREATE INDEX b_i ON b ' || def;
	EXECUTE 'CREATE INDEX s_i ON s USING surfidx ' || def;
	ANALYZE b, s;
	b := answers('b', def LIKE '(n%');
	s := answers('s', def LIKE '(n%');
	IF b <> s THEN
		RAISE EXCEPTION '% %: % by btree, % by surfidx', coll, def, b, s;
	END IF;
	-- leaves that split unknown to the copy, and entries in the delta
	INSERT INTO b SELECT word(i, i % 4), i % 9 FROM generate_series(8001, 9600) i;
	INSERT INTO s SELECT word(i, i % 4), i % 9 FROM generate_series(8001, 9000) i;
	PERFORM surfidx_merge('s_i');
	INSERT INTO s SELECT word(i, i % 4), i % 9 FROM generate_series(9001, 9600) i;
	b := answers('b', def LIKE '(n%');
	s := answers('s', def LIKE '(n%');
	IF b <> s THEN
		RAISE EXCEPTION '% %, split: % by btree, % by surfidx', coll, def, b, s;
	END IF;
	PERFORM surfidx_check('s_i', true);
END
$$;

CALL compare('"en-x-icu"', '(s)');
CALL compare('"de-x-icu"', '(s DESC, n)');
CALL compare('numbers', '(s)');
CALL compare('shifted', '(s, n)');
CALL compare('french', '(s)');
CALL compare('czech', '(s) INCLUDE (n)');
CALL compare('upper_first', '(s, n)');
CALL compare('"ru-x-icu"', '(s)');
CALL compare('"el-x-icu"', '(s DESC, n)');
-- (a column in front, by which the others are equal)
CALL compare('"en-x-icu"', '(n, s)');
CALL compare('no_case', '(s)');

DROP SCHEMA guesses CASCADE;
