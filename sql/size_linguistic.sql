SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET max_parallel_maintenance_workers = 0;
-- Text in linguistic collations takes at most half of what it takes in a btree index: several kinds of text made of English words, in no order in the table,
-- in collations of ICU and of the C library (if there is any but C), when the index is built and after a tenth more rows have been merged.
CREATE TABLE word AS SELECT row_number() OVER (ORDER BY min(n), w) - 1 AS n, w
	FROM (SELECT objoid, description FROM pg_description WHERE classoid = 'pg_proc'::regclass) d, regexp_split_to_table(lower(description), '[^a-z]+') WITH ORDINALITY u (w, n)
	WHERE length(w) BETWEEN 2 AND 12 GROUP BY w;
SELECT count(*) > 1000 AS enough FROM word;
CREATE FUNCTION h(i int, salt int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint8(i * 131 + salt)::int8)::int % 1000 + 1';
CREATE TABLE base AS SELECT i, w[h(i, 1)] AS a, w[h(i, 2)] AS b, w[h(i, 3)] AS c, w[h(i, 4)] AS d, w[h(i, 5)] AS e, abs(hashint4(i)) % 1000 AS n
	FROM generate_series(1, 22000) i, (SELECT array_agg(w ORDER BY n) FROM word) a (w);
CREATE TABLE kinds AS
	SELECT i, 'mail' AS kind, format('%s.%s%s@%s.%s', a, b, n, c, (ARRAY['com', 'org', 'net', 'de'])[1 + n % 4]) AS t FROM base
	UNION ALL SELECT i, 'name', format('%s %s-%s, %s.', initcap(a), initcap(b), initcap(c), upper(left(d, 1))) FROM base
	UNION ALL SELECT i, 'title', format('%s %s, %s %s %s', initcap(a), b, c, d, e) FROM base
	UNION ALL SELECT i, 'path', format('/srv/%s/%s_%s/%s%s.txt', a, b, c, d, n) FROM base
	UNION ALL SELECT i, 'accents', translate(format('%s %s %s', initcap(a), b, initcap(c)), 'aeouns', 'äéøüñß') FROM base
	UNION ALL SELECT i, 'category', format('%s / %s', initcap(left(a, 2)), left(b, 1)) FROM base;
CREATE FUNCTION sizes(coll text) RETURNS TABLE (of text, kind text, fresh numeric, later numeric) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
	of := coll;
	FOR kind IN SELECT DISTINCT k.kind FROM kinds k LOOP
		EXECUTE format('CREATE TABLE txt (t text COLLATE %I)', coll);
		INSERT INTO txt SELECT k.t FROM kinds k WHERE k.kind = kind AND i <= 20000;
		CREATE INDEX txt_b ON txt (t);
		CREATE INDEX txt_s ON txt USING surfidx (t);
		fresh := pg_relation_size('txt_s')::numeric / pg_relation_size('txt_b');
		INSERT INTO txt SELECT k.t FROM kinds k WHERE k.kind = kind AND i > 20000;
		PERFORM surfidx_merge('txt_s'), surfidx_check('txt_s', true);
		later := pg_relation_size('txt_s')::numeric / pg_relation_size('txt_b');
		DROP TABLE txt;
		RETURN NEXT;
	END LOOP;
END $$;
CREATE TABLE measured AS SELECT s.* FROM (
	SELECT unnest('{en-x-icu,sv-x-icu}'::text[])
	UNION ALL (SELECT collname FROM pg_collation WHERE collprovider = 'c' AND collname NOT IN ('C', 'POSIX', 'ucs_basic') AND collencoding IN (-1, pg_char_to_encoding(getdatabaseencoding()))
		ORDER BY collname = 'en_US.utf8' DESC, collname COLLATE "C" LIMIT 1)) c (name), sizes(name) s;
SELECT count(DISTINCT of) >= 3 AS collations, count(DISTINCT kind) AS kinds FROM measured;
-- more than half; after a merge, the log's pages are most of the few that an index of some hundred different keys has
SELECT of, kind, round(fresh, 3), round(later, 3) FROM measured WHERE fresh > 0.5 OR later > 0.5 AND kind <> 'category' ORDER BY 1, 2;
DROP TABLE measured;
DROP TABLE kinds, base, word;
DROP FUNCTION sizes, h;
