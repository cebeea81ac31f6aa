-- Dictionaries of keys: every scheme, every kind of scan, byte order and comparator order
SET surfidx.unique_notice = off;
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE FUNCTION hope_text(n int) RETURNS TABLE (id int, v text) LANGUAGE sql AS $$
	SELECT i, CASE WHEN i % 50 = 0 THEN NULL WHEN i % 49 = 0 THEN '' ELSE
		'/usr/share/' || (ARRAY['doc', 'man', 'locale', 'python3'])[1 + i % 4] || '/package-' || i * 7 % 60
		|| (ARRAY['/README', '/changelog.gz', '/copyright', '.py'])[1 + i * 3 % 4] || CASE WHEN i % 5 = 0 THEN i::text ELSE '' END END
	FROM generate_series(1, n) i $$;

-- text in byte order and in a linguistic one, bytea with zeros, a composite key, descending, INCLUDE columns, an expression
SELECT make_source('ht', 'SELECT id, v COLLATE "C" FROM hope_text(900)');
SELECT * FROM compare_type('ht', '{"",/usr,/usr/share/doc/package-7/copyright,/usr/share/man/package-14.py,/zzz}');
SELECT * FROM compare('ht', '(v, id) WITH (hope = double)', '{"SELECT id, v FROM %t WHERE v LIKE ''/usr/share/doc/%''",
	"SELECT v, id FROM %t WHERE v > ''/usr/share/locale'' ORDER BY v, id", "SELECT v, id FROM %t WHERE v < ''/usr/share/man/p'' ORDER BY v DESC, id DESC",
	"SELECT v, id FROM %t WHERE v = ''/usr/share/python3/package-3.py'' AND id > 100",
	"SELECT v, id FROM %t WHERE v BETWEEN ''/usr/share/doc/package-1'' AND ''/usr/share/doc/package-3''"}');
SELECT * FROM compare('ht', '(v DESC, id) WITH (hope = alm_improved)', '{"SELECT id, v FROM %t WHERE v LIKE ''/usr/share/doc/%''",
	"SELECT v, id FROM %t WHERE v > ''/usr/share/locale'' ORDER BY v DESC, id"}');
SELECT * FROM compare('ht', '(v, id) WITH (hope = fsst)', '{"SELECT id, v FROM %t WHERE v LIKE ''/usr/share/doc/%''",
	"SELECT v, id FROM %t WHERE v > ''/usr/share/locale'' ORDER BY v, id"}');
SELECT * FROM compare('ht', '(v, id) INCLUDE (g) WITH (hope = ''3grams'')', '{"SELECT id, v, g FROM %t WHERE v >= ''/usr/share/locale''"}');
SELECT make_source('hl', 'SELECT id, v COLLATE "en-x-icu" FROM hope_text(700)');
SELECT * FROM compare('hl', '(v, id) WITH (hope = single)', '{"SELECT id, v FROM %t WHERE v >= ''/usr/share/locale''",
	"SELECT v, id FROM %t WHERE v < ''/usr/share/man/p'' ORDER BY v, id", "SELECT v, id FROM %t WHERE v = ''/usr/share/python3/package-3.py''"}');
SELECT * FROM compare('hl', '(v, id) WITH (hope = alm)', '{"SELECT id, v FROM %t WHERE v >= ''/usr/share/locale''",
	"SELECT v, id FROM %t WHERE v < ''/usr/share/man/p'' ORDER BY v DESC, id DESC"}');
SELECT make_source('hb', $$SELECT id, decode(repeat('00ff0001', id % 7) || md5(v), 'hex') FROM hope_text(700)$$);
SELECT * FROM compare('hb', '(v, id) WITH (hope = ''4grams'')', '{"SELECT id, v FROM %t WHERE v >= ''\\x00ff''",
	"SELECT v, id FROM %t WHERE v < ''\\x00ff00020000'' ORDER BY v, id", "SELECT v, id FROM %t WHERE v > ''\\x00'' ORDER BY v DESC, id DESC"}');

-- every scheme, built over rows and filled by merges
CREATE TABLE hope (v text COLLATE "C");
INSERT INTO hope SELECT v || id FROM hope_text(20000);
CREATE FUNCTION hope_scheme(scheme text, filled bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows CONSTANT int := 20000;
	answer text;
BEGIN
	EXECUTE format('CREATE INDEX hope_v ON hope USING surfidx (v) WITH (hope = %L, merge_ratio = 0.05)', scheme);
	IF filled THEN
		INSERT INTO hope SELECT v || id || 'x' FROM hope_text(rows);
		PERFORM surfidx_merge('hope_v');
		INSERT INTO hope SELECT v || id || 'y' FROM hope_text(rows);
		PERFORM surfidx_merge('hope_v');
		DELETE FROM hope WHERE v LIKE '%x' OR v LIKE '%y';
	END IF;
	PERFORM surfidx_check('hope_v', true);
	SELECT string_agg(dictionary || ' ' || d.scheme || CASE WHEN rate < 0.92 THEN ' smaller' ELSE '' END, ', ') FROM surfidx_dictionaries('hope_v') d INTO answer;
	DROP INDEX hope_v;
	RETURN scheme || ': ' || coalesce(answer, 'none');
END $$;
SELECT hope_scheme(s, false) FROM unnest('{auto,off,single,double,3grams,4grams,alm,alm_improved,fsst}'::text[]) s;
SELECT hope_scheme(s, true) FROM unnest('{double,alm_improved}'::text[]) s;
TRUNCATE hope;
SELECT hope_scheme(s, true) FROM unnest('{off,single,double,alm}'::text[]) s;

-- what auto chooses: FSST for words and paths, codes of bits for digits; none where packing is as good: base 64
CREATE FUNCTION hope_auto(rows text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE 'CREATE TEMP TABLE hope_auto AS ' || rows;
	CREATE INDEX hope_auto_v ON hope_auto USING surfidx (v COLLATE "C");
	SELECT string_agg(scheme, ', ') FROM surfidx_dictionaries('hope_auto_v') INTO answer;
	DROP TABLE hope_auto;
	RETURN coalesce(answer, 'none');
END $$;
SELECT hope_auto($$SELECT DISTINCT s[1 + i % 20] || s[1 + i / 20 % 20] || s[1 + i * 7 / 400 % 20] || (ARRAY['s', 'ing', 'ed', 'er', '', 'ly'])[1 + i % 6] AS v
	FROM generate_series(1, 60000) i, (SELECT '{ma,ri,an,jo,el,son,ber,ka,li,th,er,mi,ch,ta,do,ro,be,st,ne,ha}'::text[] s) x$$) AS words,
	hope_auto($$SELECT '/usr/share/' || (ARRAY['doc', 'man', 'locale', 'python3'])[1 + i % 4] || '/package-' || i * 7 % 6000
	|| (ARRAY['/README', '/changelog.gz', '/copyright', '.py'])[1 + i * 3 % 4] || i AS v FROM generate_series(1, 20000) i$$) AS paths,
	hope_auto($$SELECT translate(encode(sha256(i::text::bytea), 'base64'), '=', '') AS v FROM generate_series(1, 20000) i$$) AS base64,
	hope_auto($$SELECT translate(md5(i::text) || md5('x' || i), 'abcdef', '') AS v FROM generate_series(1, 20000) i$$) AS digits;

-- long keys fill the sample of a build before all of its blocks were read: it is of all parts of the table, not of its beginning (of hex digits alone, which take half)
CREATE TABLE hope_kinds AS SELECT i FROM generate_series(1, 55000) i;
CREATE FUNCTION hope_pad(i int, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT repeat('-', n)$$;
CREATE FUNCTION hope_kind(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN i <= 27500 THEN md5(i::text) ELSE translate(md5(i::text), '0123456789abcdef', 'ghijklmnopqrstuv') END $$;
CREATE INDEX hope_kinds_i ON hope_kinds USING surfidx (hope_pad(i, 1000) COLLATE "C", hope_pad(i, 1001) COLLATE "C", hope_pad(i, 500) COLLATE "C", hope_kind(i) COLLATE "C")
	WITH (hope = single);
SELECT scheme, rate BETWEEN 0.61 AND 0.75 AS both_kinds FROM surfidx_dictionaries('hope_kinds_i');
DROP TABLE hope_kinds;
DROP FUNCTION hope_auto, hope_pad, hope_kind;

-- where the first leaves that a merge writes have keys of another kind, that are few, these get a dictionary, and the others keep theirs
CREATE FUNCTION hope_words(i int, of int, digits text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(translate(left(md5(('x' || substr(md5(i::text), n, 7))::bit(28)::int % of || 'of' || of), 16), '0123456789abcdef', digits), '') FROM generate_series(1, 19, 6) n $$;
CREATE TABLE hope_first AS SELECT CASE WHEN i % 30 = 0 THEN 'a/' || hope_words(i, 100, 'ghijklmnopqrstuv') ELSE 'b/' || hope_words(i, 100, 'GHIJKLMNOPQRSTUV') END COLLATE "C" AS v, i % 21 = 0 AS later
	FROM generate_series(1, 60000) i;
CREATE TABLE hope_all (v text COLLATE "C");
INSERT INTO hope_all SELECT v FROM hope_first WHERE NOT later;
CREATE INDEX hope_all_v ON hope_all USING surfidx (v);
SELECT pg_relation_size('hope_all_v') AS built \gset
INSERT INTO hope_all SELECT v FROM hope_first WHERE later;
SELECT surfidx_merge('hope_all_v');
SELECT dictionary, scheme FROM surfidx_dictionaries('hope_all_v');
SELECT pg_relation_size('hope_all_v') < 1.1 * :built AS as_large_as_built;
DROP TABLE hope_first, hope_all;
DROP FUNCTION hope_words;

-- kinds of keys of which the one makes a poor dictionary: built with it alone, then merged; and built of both, which stand in blocks of the table
CREATE FUNCTION hope_token(i int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(chr(33 + ('x' || substr(md5(i || '.' || n), 1, 4))::bit(16)::int % 94), '') FROM generate_series(1, 30) n $$;
CREATE FUNCTION hope_address(i int) RETURNS text LANGUAGE sql AS $$
	SELECT 'https://www.example.com/shop/item?id=' || hashint4(i)::bigint + 2147483648 || '&lang=en&session=' || i % 99991 $$;
CREATE TABLE hope_both (v text COLLATE "C");
INSERT INTO hope_both SELECT hope_token(i) FROM generate_series(1, 20000) i;
CREATE INDEX hope_both_v ON hope_both USING surfidx (v);
SELECT dictionary, scheme, rate > 0.8 AS poor FROM surfidx_dictionaries('hope_both_v');
INSERT INTO hope_both SELECT hope_address(i) FROM generate_series(1, 60000) i;
SELECT surfidx_merge('hope_both_v');
INSERT INTO hope_both SELECT hope_address(i) FROM generate_series(60001, 120000) i;
SELECT surfidx_merge('hope_both_v');
SELECT dictionary, scheme, rate > 0.8 AS poor FROM surfidx_dictionaries('hope_both_v');
REINDEX INDEX hope_both_v;
SELECT dictionary, scheme, rate > 0.8 AS poor FROM surfidx_dictionaries('hope_both_v');
DROP TABLE hope_both;
DROP FUNCTION hope_token;

-- two kinds of text take as much in one index as in two if a merge brings the other kind: each has a dictionary
CREATE FUNCTION hope_mail(i int) RETURNS text LANGUAGE sql AS $$
	SELECT n[1 + (h & 7)] || '.' || n[1 + (h >> 3 & 7)] || n[1 + (h >> 6 & 7)] || (h >> 9 & 8191) || '@' || d[1 + (h >> 22 & 7)] || '.' || t[1 + (h >> 25 & 3)]
	FROM (SELECT hashint4(i) AS h, '{anna,bert,carla,dieter,elena,fritz,gerda,heinz}'::text[] AS n,
		'{gmail,yahoo,hotmail,gmx,t-online,outlook,mailbox,posteo}'::text[] AS d, '{com,de,net,org}'::text[] AS t) x $$;
CREATE FUNCTION hope_used(i regclass) RETURNS numeric LANGUAGE sql AS $$SELECT ((bytes_per_entry - free_per_entry) * entries)::numeric FROM surfidx_stats(i, 0) $$;
CREATE TABLE hope_mails AS SELECT hope_mail(i) COLLATE "C" AS v FROM generate_series(1, 60000) i;
CREATE TABLE hope_addresses AS SELECT hope_address(i) COLLATE "C" AS v FROM generate_series(1, 60000) i;
CREATE TABLE hope_merged AS SELECT v FROM hope_mails;
CREATE INDEX hope_mails_v ON hope_mails USING surfidx (v);
CREATE INDEX hope_addresses_v ON hope_addresses USING surfidx (v);
CREATE INDEX hope_merged_v ON hope_merged USING surfidx (v);
INSERT INTO hope_merged SELECT v FROM hope_addresses;
SELECT surfidx_merge('hope_merged_v') > 0;
SELECT i, hope_used(i) / (hope_used('hope_mails_v') + hope_used('hope_addresses_v')) < 1.05 AS as_two,
	(SELECT count(*) FROM surfidx_stats(i, 0), jsonb_array_elements(dictionaries) d WHERE (d->>'leaves')::int > 20) AS dictionaries, surfidx_check(i, true)
	FROM CAST('hope_merged_v' AS regclass) i;
DROP TABLE hope_mails, hope_addresses, hope_merged;
DROP FUNCTION hope_mail, hope_address, hope_used;

-- a table with one kind of keys in its first blocks and another one in later ones: the halves of a sample do not have the same shares of them
CREATE TABLE hope_blocks (v text COLLATE "C");
INSERT INTO hope_blocks SELECT encode(sha256(i::text::bytea), 'base64') FROM generate_series(1, 25000) i;
INSERT INTO hope_blocks SELECT repeat('https://www.example.com/', 6) || hashint4(i)::bigint + 2147483648 || '&lang=en&session=' || i % 99991 FROM generate_series(1, 30000) i;
CREATE INDEX hope_blocks_v ON hope_blocks USING surfidx (v);
SELECT scheme, rate < 0.5 AS good FROM surfidx_dictionaries('hope_blocks_v');
DROP TABLE hope_blocks;

-- the parameter: checked, and what it is changed to holds for leaves written from then on
CREATE INDEX hope_v ON hope USING surfidx (v) WITH (hope = huffman);
CREATE INDEX hope_v ON hope USING surfidx (v) WITH (hope = single);
INSERT INTO hope SELECT v FROM hope_text(5000);
SELECT surfidx_merge('hope_v') > 0;
ALTER INDEX hope_v SET (hope = double);
INSERT INTO hope SELECT v || 'z' FROM hope_text(5000);
SELECT surfidx_merge('hope_v') > 0;
INSERT INTO hope SELECT v || 'zz' FROM hope_text(5000);
SELECT surfidx_merge('hope_v') > 0;
SELECT dictionary, scheme FROM surfidx_dictionaries('hope_v');
SELECT surfidx_check('hope_v', true);
-- all leaves are rewritten: nobody needs the first one any more
DELETE FROM hope WHERE v LIKE '%z' OR v LIKE '%0' OR v LIKE '%py';
VACUUM hope;
SELECT dictionary, scheme FROM surfidx_dictionaries('hope_v');
SELECT surfidx_check('hope_v', true);
-- a rolled back and a truncated index, a temporary and an unlogged one
BEGIN;
TRUNCATE hope;
INSERT INTO hope SELECT v FROM hope_text(3000);
SELECT surfidx_merge('hope_v') > 0;
SELECT dictionary, scheme FROM surfidx_dictionaries('hope_v');
SELECT count(v) FROM hope WHERE v LIKE '/usr/share/doc/%';
ROLLBACK;
SET enable_seqscan = off;
SELECT count(v) FROM hope WHERE v LIKE '/usr/share/doc/%';
CREATE TEMP TABLE hope_temp AS SELECT v COLLATE "C" FROM hope_text(3000);
CREATE INDEX hope_temp_v ON hope_temp USING surfidx (v) WITH (hope = alm_improved);
CREATE UNLOGGED TABLE hope_unlogged AS SELECT v COLLATE "C" FROM hope_text(3000);
CREATE INDEX hope_unlogged_v ON hope_unlogged USING surfidx (v) WITH (hope = alm_improved);
SELECT count(v) FROM hope_temp WHERE v LIKE '/usr/share/doc/%';
SELECT count(v) FROM hope_unlogged WHERE v LIKE '/usr/share/doc/%';
SELECT surfidx_check('hope_temp_v', true), surfidx_check('hope_unlogged_v', true);
RESET enable_seqscan;
DROP TABLE ht, hl, hb, hope, hope_temp, hope_unlogged;
DROP FUNCTION hope_text, hope_scheme;
