-- Keys that only a comparison function orders: merge joins and their marks, cursors both ways, VACUUM, keys as long as they may be
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE co AS SELECT i AS id, round((i * 7919 % 97)::numeric / 2, i % 3 + 1) AS n,
	(CASE WHEN i % 2 = 0 THEN 'Key' ELSE 'kEY' END || i * 31 % 53) COLLATE ignore_case AS t FROM generate_series(1, 600) i;
CREATE INDEX co_n ON co USING surfidx (n, id);
CREATE INDEX co_t ON co USING surfidx (t, id);
INSERT INTO co SELECT id + 600, n, t FROM co WHERE id <= 300;

-- each value of the outer side meets many equal, not identical ones, back to the mark each time
CREATE FUNCTION joined() RETURNS TABLE (plan text, rows bigint, sum bigint) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	q text;
BEGIN
	FOREACH q IN ARRAY ARRAY['a.n = b.n', 'a.t = b.t'] LOOP
		plan := '';
		FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM co a JOIN co b ON ' || q || ' WHERE a.id % 2 = 0' LOOP
			plan := plan || coalesce((regexp_match(line, 'Merge Join|Sort$|Index Only Scan|Index Scan'))[1] || ' ', '');
		END LOOP;
		EXECUTE 'SELECT count(*), sum(a.id * b.id % 1009) FROM co a JOIN co b ON ' || q || ' WHERE a.id % 2 = 0' INTO rows, sum;
		RETURN NEXT;
	END LOOP;
END $$;
SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;
SELECT rows, sum FROM joined();
RESET enable_indexscan; RESET enable_indexonlyscan; RESET enable_bitmapscan;
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_sort = off; SET enable_bitmapscan = off; SET enable_material = off;
SELECT * FROM joined();
SELECT surfidx_merge('co_n') > 0, surfidx_merge('co_t') > 0;
SELECT * FROM joined();
RESET enable_hashjoin; RESET enable_nestloop; RESET enable_sort; RESET enable_material;

-- a cursor both ways, over a merge
BEGIN;
INSERT INTO co VALUES (2001, 5.0, 'KEY5'), (2002, 5.00, 'key5');
DECLARE c SCROLL CURSOR FOR SELECT t, n, id FROM co WHERE t IN ('key5', 'KEY7') AND id > 580 ORDER BY t, id;
FETCH 5 FROM c;
SELECT surfidx_merge('co_t');
FETCH BACKWARD 3 FROM c;
FETCH ALL FROM c;
FETCH BACKWARD 4 FROM c;
FETCH ABSOLUTE 3 FROM c;
COMMIT;

-- VACUUM of entries that are equal to live ones
DELETE FROM co WHERE id % 3 <> 0;
INSERT INTO co SELECT 3000 + i, i % 50, 'kEy' || i % 53 FROM generate_series(1, 200) i;
DELETE FROM co WHERE id BETWEEN 3000 AND 3100;
VACUUM co;
SELECT surfidx_check('co_n', true), surfidx_check('co_t', true);
SELECT surfidx_merge('co_n') >= 0, surfidx_merge('co_t') >= 0;
VACUUM co;
SELECT surfidx_check('co_n', true), surfidx_check('co_t', true);
SELECT (surfidx_meta('co_n')).entries = count(*), (surfidx_meta('co_t')).entries = count(*) FROM co;
SELECT count(*) FROM co WHERE t = 'KEY7';
RESET enable_seqscan; RESET enable_bitmapscan;
SELECT count(*) FROM co WHERE lower(t) = 'key7' COLLATE "C";

-- long keys, which make inner pages of few children
SELECT make_source('lo', $$SELECT i, (CASE WHEN i % 2 = 0 THEN 'A' ELSE 'a' END || repeat(md5((i * 7919 % 150)::text), 81)) COLLATE ignore_case FROM generate_series(1, 300) i$$);
SELECT * FROM compare('lo', '(v)', ARRAY['SELECT v FROM %t ORDER BY v DESC LIMIT 0', 'SELECT rk FROM %t ORDER BY v', 'SELECT rk FROM %t WHERE v > ''a7'' AND v < ''A9'' ORDER BY v DESC',
	'SELECT id FROM %t WHERE v = ''a'' || repeat(md5(''77''), 81)'], '{index,bitmap}');
INSERT INTO lo (v) VALUES (repeat('z', 2694));
CREATE INDEX lo_v ON lo USING surfidx (v);
INSERT INTO lo (v) VALUES (repeat('y', 2695));
-- the same in one byte-comparing collation, onto leaves that are there already
CREATE TABLE lc (v text COLLATE "C");
CREATE INDEX lc_v ON lc USING surfidx (v);
INSERT INTO lc SELECT left(repeat(md5((i / 20)::text), 100), 2690) || i FROM generate_series(1000, 1600) i;
SELECT surfidx_merge('lc_v');
INSERT INTO lc SELECT left(repeat(md5((i / d)::text), 100), 2690) || i FROM generate_series(1000, 1600) i, unnest(ARRAY[1, 20]) d;
SELECT surfidx_merge('lc_v');
SELECT surfidx_check('lc_v', true);
DROP TABLE co, lo, lc;
DROP FUNCTION joined;
DROP COLLATION ignore_case;
