-- Cut leaves of long keys become whole, though one record has no room for them as whole ones (W10)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
CREATE FUNCTION wide_key(i int, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT md5(i::text) || (SELECT string_agg(md5(i || ' ' || j), '') FROM generate_series(1, n) j)
$$;
CREATE TABLE wide (k text COLLATE "C", v int) WITH (autovacuum_enabled = off);
CREATE TABLE answers (n int, before text);
CREATE FUNCTION answer() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a text;
BEGIN
	SELECT count(*) || ' ' || sum(hashtext(k)::int8) || ' ' || (SELECT count(*) FROM wide WHERE k BETWEEN '4' AND 'a')
		|| ' ' || (SELECT string_agg(v::text, ',' ORDER BY v) FROM wide WHERE k = wide_key(17, 12)) INTO a FROM wide WHERE k >= '2';
	RETURN a;
END $$;

-- a leaf that is the root; then many; keys of 400 and of 2,100 bytes; some of many rows
INSERT INTO wide SELECT wide_key(i, 12), i FROM generate_series(1, 1500) i;
CREATE INDEX wide_k ON wide USING surfidx (k) WITH (keys = cut);
SELECT leaves, cut_leaves FROM surfidx_leaf_keys('wide_k');
ALTER INDEX wide_k SET (keys = full);
VACUUM wide;
SELECT leaves > 30 AS many, cut_leaves FROM surfidx_leaf_keys('wide_k');
SELECT surfidx_check('wide_k', true, true);

INSERT INTO wide SELECT wide_key(i, 12), i FROM generate_series(1501, 5000) i;
INSERT INTO wide SELECT wide_key(i, 65), i FROM generate_series(5001, 5600) i;
INSERT INTO wide SELECT wide_key(i % 5 + 15, 12), -i FROM generate_series(1, 3000) i;
ALTER INDEX wide_k SET (keys = cut);
VACUUM wide;
SELECT leaves = cut_leaves AS cut FROM surfidx_leaf_keys('wide_k');
SELECT surfidx_check('wide_k', true, true);
SET enable_seqscan = off;
INSERT INTO answers VALUES (1, answer());
ALTER INDEX wide_k SET (keys = full);
SELECT surfidx_merge('wide_k') >= 0 AS merged;
SELECT leaves > 300 AS many, cut_leaves FROM surfidx_leaf_keys('wide_k');
SELECT surfidx_check('wide_k', true, true);
SELECT answer() = before AS same FROM answers;

-- rows that are gone meanwhile, and new ones
ALTER INDEX wide_k SET (keys = cut);
VACUUM wide;
DELETE FROM wide WHERE v % 3 = 0;
INSERT INTO wide SELECT wide_key(i, 12), i FROM generate_series(6001, 6300) i;
UPDATE answers SET before = answer();
ALTER INDEX wide_k SET (keys = full);
VACUUM wide;
SELECT cut_leaves FROM surfidx_leaf_keys('wide_k');
SELECT surfidx_check('wide_k', true, true);
SELECT answer() = before AS same FROM answers;

-- by size_limit: cut, and whole again
ALTER INDEX wide_k RESET (keys);
ALTER INDEX wide_k SET (size_limit = 1000);
VACUUM wide;
SELECT cut_leaves > 0 AS cut FROM surfidx_leaf_keys('wide_k');
SELECT answer() = before AS same FROM answers;
ALTER INDEX wide_k RESET (size_limit);
VACUUM wide;
SELECT cut_leaves FROM surfidx_leaf_keys('wide_k');
SELECT surfidx_check('wide_k', true, true);
SELECT answer() = before AS same FROM answers;
DROP TABLE wide, answers;
DROP FUNCTION answer, wide_key;
