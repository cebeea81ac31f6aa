SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;

-- Pages that scans visit, as EXPLAIN counts them at the scan's node: index, visibility map and, in plain index scans, table. A merge of any other index
-- makes a scan read its metapage again, so where a number is expected there are five tries.
CREATE FUNCTION visits(query text, expected int DEFAULT NULL) RETURNS int LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_memoize = off
SET enable_material = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
	plan json;
	node jsonb;
	n int;
BEGIN
	FOR try IN 1..5 LOOP
		EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT JSON) ' || query INTO plan;
		node := jsonb_path_query_first(plan::jsonb, 'strict $.**?(@."Node Type" like_regex "^Index")');
		n := (node ->> 'Shared Hit Blocks')::int + (node ->> 'Shared Read Blocks')::int;
		EXIT WHEN n = coalesce(expected, n);
	END LOOP;
	RETURN n;
END $$;

-- one level above the leaves
CREATE TABLE sb (k int8, v int) WITH (autovacuum_enabled = off);
INSERT INTO sb SELECT i::int8 * 7919 % 30011, i FROM generate_series(1, 30000) i;
CREATE INDEX sb_k ON sb USING surfidx (k);
-- two levels: separators as long as keys, since groups of rows share nearly all of theirs
CREATE TABLE sb_deep (t text COLLATE "C") WITH (autovacuum_enabled = off);
INSERT INTO sb_deep SELECT g.t || to_char(i, 'FM00') FROM
	(SELECT (SELECT string_agg(md5(g || ':' || j), '') FROM generate_series(1, 31) j) AS t FROM generate_series(1, 160) g) g, generate_series(1, 60) i;
CREATE INDEX sb_deep_t ON sb_deep USING surfidx (t);
VACUUM ANALYZE sb, sb_deep;
SELECT i, level FROM unnest(ARRAY['sb_k', 'sb_deep_t']) i, surfidx_meta(i::regclass);
CREATE TABLE sb_keys AS SELECT t AS g FROM sb_deep ORDER BY md5(t) LIMIT 1000;
CREATE VIEW sb_many AS SELECT count(x.k) FROM generate_series(1, 1000) g, LATERAL (SELECT k FROM sb WHERE k = g * 23 % 30011) x;
CREATE VIEW sb_deep_many AS SELECT count(x.t) FROM sb_keys, LATERAL (SELECT t FROM sb_deep WHERE t = g) x;

\c
SET effective_io_concurrency = 1;
-- a scan for one key, index-only (gate, root, leaf, visibility map) and plain (root, leaf, row), since planning has read the metapage; the first ones fill the catalogs' caches
SELECT visits('SELECT k FROM sb WHERE k = 4711') > 0 AS first, visits('SELECT k FROM sb WHERE k = 4711', 4) AS only, visits('SELECT v FROM sb WHERE k = 4711', 3) AS plain;
SELECT visits(format('SELECT t FROM sb_deep WHERE t = %L', min(g))) > 0 AS first, visits(format('SELECT t FROM sb_deep WHERE t = %L', min(g)), 5) AS deep FROM sb_keys;
-- many lookups in one scan: when the root was copied, the gate and a page of each level below it
SELECT visits('SELECT * FROM sb_many') > 0 AS first, visits('SELECT * FROM sb_many', 2001) AS then;
SELECT visits('SELECT * FROM sb_deep_many') > 0 AS first, visits('SELECT * FROM sb_deep_many', 3001) AS then;

-- and after some thousand, when the level below the root is in the copy too, a page of each level below that
SELECT count(*) FROM generate_series(1, 4) i, LATERAL (SELECT visits('SELECT * FROM sb_deep_many OFFSET ' || i * 0)) x;
SELECT visits('SELECT * FROM sb_deep_many', 2001) AS then;

-- ranges: a page for each leaf, forward and backward (gate and, for single rows and for blocks, visibility map besides)
SELECT visits('SELECT k FROM sb WHERE k >= 0 ORDER BY k', leaves::int + 3) - leaves AS forward, visits('SELECT k FROM sb WHERE k >= 0 ORDER BY k DESC', leaves::int + 4) - leaves AS backward
	FROM surfidx_meta('sb_k');
SELECT visits('SELECT k FROM sb WHERE k >= 4711 ORDER BY k LIMIT 1', 3) AS "LIMIT 1";
-- leaves that are asked for ahead are looked up in their parents, once for many
SET effective_io_concurrency = 16;
SELECT visits('SELECT t FROM sb_deep WHERE t > '''' ORDER BY t') - leaves < 120 AS forward,
	visits('SELECT t FROM sb_deep WHERE t > '''' ORDER BY t DESC') - leaves < 120 AS backward FROM surfidx_meta('sb_deep_t');

-- = ANY: neighbouring keys share their leaf, distant ones have one each
SELECT visits('SELECT k FROM sb WHERE k = ANY (ARRAY(SELECT generate_series(1, 1000)))') < 20 AS neighbours,
	visits('SELECT k FROM sb WHERE k = ANY (ARRAY(SELECT generate_series(1, 1000))) ORDER BY k DESC') < 20 AS backward,
	visits('SELECT v FROM sb WHERE k = ANY (ARRAY(SELECT generate_series(1, 1000)))') < 1020 AS "with rows",
	visits('SELECT k FROM sb WHERE k = ANY (ARRAY(SELECT generate_series(1, 30000, 3000)))', 12) AS distant;

-- beyond the last key: when the tree's end is known, the gate alone
SELECT visits('SELECT count(x.k) FROM generate_series(1, 1000) g, LATERAL (SELECT k FROM sb WHERE k = g + 30011) x') < 1100 AS "beyond the end";

-- a copy of two levels stays a way to all keys while leaves are split, emptied and moved (the root stays)
SET surfidx.auto_merge = off;
INSERT INTO sb_deep SELECT t || '.' FROM sb_deep WHERE t LIKE '0%35';
SELECT surfidx_merge('sb_deep_t') > 0 AS merged;
SELECT count FROM sb_deep_many;
SELECT visits('SELECT * FROM sb_deep_many') < 4000 AS then;
DELETE FROM sb_deep WHERE t NOT IN (SELECT g FROM sb_keys);
VACUUM sb_deep;
SELECT count FROM sb_deep_many;
SELECT surfidx_check('sb_deep_t', true, true);

DROP VIEW sb_many, sb_deep_many;
DROP TABLE sb, sb_deep, sb_keys;
DROP FUNCTION visits;
