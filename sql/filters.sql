SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;

-- Filters change no answer: after the build, merges, deletions and changes of the storage parameters. Each query is
-- asked of a table with filters and of one with btree indexes.
CREATE TABLE flt (i int8, t text COLLATE "C", u text COLLATE "und-x-icu", n numeric, j jsonb GENERATED ALWAYS AS (('[' || i::text || ']')::jsonb) STORED);
CREATE TABLE ref (i int8, t text COLLATE "C", u text COLLATE "und-x-icu", n numeric);
CREATE INDEX flt_surf ON flt USING surfidx (i) WITH (filter = surf);
CREATE INDEX flt_bloom ON flt USING surfidx (i DESC) WITH (filter = bloom);
CREATE INDEX flt_text ON flt USING surfidx (t) WITH (filter = surf, surf_hash_bits = 4, surf_real_bits = 0);
CREATE INDEX flt_multi ON flt USING surfidx (t, i) WITH (filter = surf, surf_real_bits = 8);
-- in the comparator key space: hashes where equal keys have equal bytes, else nothing
CREATE INDEX flt_coll ON flt USING surfidx (u, i) WITH (filter = surf);
CREATE INDEX flt_num ON flt USING surfidx (n) WITH (filter = surf);
CREATE INDEX flt_json ON flt USING surfidx (j) WITH (filter = surf);
INSERT INTO flt SELECT g::int8 * 7919 % 1000003 * 10, md5(g::text), 'u' || g % 3000, g FROM generate_series(1, 20000) g;
INSERT INTO ref SELECT i, t, u, n FROM flt;
CREATE INDEX ON ref (i);
CREATE INDEX ON ref (t, i);
CREATE INDEX ON ref (u, i);
CREATE INDEX ON ref (n);
CREATE TABLE flt_index AS SELECT indexrelid::regclass AS index FROM pg_index WHERE indrelid = 'flt'::regclass;
REINDEX TABLE flt;
VACUUM ANALYZE flt, ref;
SELECT index, filters > 0 AS filters, covered > 0.9 * leaves AS most_leaves FROM flt_index, surfidx_filters(index) WHERE index::text <> 'flt_num' ORDER BY 1;

CREATE FUNCTION flt_ask(tab text, backward bool) RETURNS TABLE (q text, k int, n int8, s numeric) LANGUAGE plpgsql AS $$
DECLARE
	w text[];
	o text := CASE WHEN backward THEN ' DESC' ELSE '' END;
BEGIN
	FOREACH w SLICE 1 IN ARRAY ARRAY[
		['i = k * 3331 / 10 * 10', 'i'], ['i = k * 3331', 'i'], ['i BETWEEN k * 3331 AND k * 3331 + 9', 'i'],
		['i > k * 3331 AND i < k * 3331 + 300', 'i'], ['i IN (k * 3331, k * 3331 + 1, k::int8 * 7919 % 1000003 * 10)', 'i'],
		['t = md5(k::text)', 't'], ['t BETWEEN left(md5(k::text), 4) AND left(md5(k::text), 4) || ''~''', 't'],
		['t = md5(k::text) AND i > 5000000', 't'], ['t = md5(k::text) AND i = k::int8 * 7919 % 1000003 * 10', 't'],
		['u = ''u'' || k AND i = k::int8 * 7919 % 1000003 * 10', 'u'], ['u = ''u'' || k AND i > k', 'u'], ['n = k + 0.0', 'n']] LOOP
		RETURN QUERY EXECUTE format('SELECT %L, k, count(i), sum(n) FROM generate_series(0, 3000, 7) k, LATERAL
			(SELECT i, n FROM %I WHERE %s ORDER BY %s) x GROUP BY 2', w[1], tab, w[1], w[2] || o);
	END LOOP;
END $$;
CREATE VIEW flt_wrong AS
	SELECT * FROM ((SELECT 'too many', * FROM flt_ask('flt', false) EXCEPT ALL SELECT 'too many', * FROM flt_ask('ref', false))
		UNION ALL (SELECT 'lost', * FROM flt_ask('ref', false) EXCEPT ALL SELECT 'lost', * FROM flt_ask('flt', false))
		UNION ALL (SELECT 'lost backward', * FROM flt_ask('ref', true) EXCEPT ALL SELECT 'lost backward', * FROM flt_ask('flt', true))) x
	LIMIT 5;
EXPLAIN (COSTS OFF) SELECT k, count(i) FROM generate_series(0, 3000) k, LATERAL (SELECT i FROM flt WHERE i = k ORDER BY i) x GROUP BY 1;
SELECT * FROM flt_wrong;
SELECT count(surfidx_check(index, true)) FROM flt_index;

-- fewer leaves are read: none for most absent keys and empty ranges
SELECT leaves AS leaves0, filters AS filters0 FROM surfidx_page_counts() \gset
SELECT count(x.i) FROM generate_series(1, 2000) k, LATERAL (SELECT i FROM flt WHERE i = k * 5000 + 1 ORDER BY i DESC) x;
SELECT leaves - :leaves0 < 100 AS few_leaves, filters - :filters0 = 2000 AS asked FROM surfidx_page_counts();
SELECT leaves AS leaves0, filters AS filters0 FROM surfidx_page_counts() \gset
SELECT count(x.t) FROM generate_series(1, 2000) k, LATERAL (SELECT t FROM flt WHERE t > md5('x' || k) AND t < md5('x' || k) || 'zz' ORDER BY t LIMIT 1) x;
SELECT leaves - :leaves0 < 1000 AS few_leaves, filters - :filters0 >= 2000 AS asked FROM surfidx_page_counts();

-- a range with one end is next to never empty: no filter is asked for it
SELECT leaves AS leaves0, filters AS filters0 FROM surfidx_page_counts() \gset
SELECT count(x.i) FROM generate_series(1, 100) k, LATERAL (SELECT i FROM flt WHERE i >= k * 5000 + 1 ORDER BY i LIMIT 1) x;
SELECT leaves - :leaves0 >= 100 AS leaves, filters - :filters0 AS asked FROM surfidx_page_counts();

-- may_contain believes filters, and a key that is there is never denied
SELECT surfidx_may_contain('flt_surf', 5) AS surf, surfidx_may_contain('flt_bloom', 5) AS bloom,
	surfidx_may_contain_range('flt_surf', 1, 9) AS surf, surfidx_may_contain_range('flt_bloom', 1, 9) AS bloom;
SELECT count(*) = 430 AS all_there, bool_and(surfidx_may_contain('flt_surf', i) AND surfidx_may_contain('flt_bloom', i) AND
		surfidx_may_contain_range('flt_surf', i - 1, i) AND surfidx_may_contain('flt_text', t) AND
		surfidx_may_contain('flt_multi', t) AND surfidx_may_contain('flt_multi', t, i) AND surfidx_may_contain('flt_coll', u, i) AND
		surfidx_may_contain('flt_num', n) AND surfidx_may_contain('flt_json', jsonb_build_array(i))) AS none_denied
	FROM (SELECT * FROM ref ORDER BY n LIMIT 430) x;

-- merges of keys that fall everywhere, and of ascending ones; half of them into leaves that split
INSERT INTO flt SELECT g::int8 * 7919 % 1000003 * 10, md5(g::text), 'u' || g % 3000, g FROM generate_series(20001, 30000) g;
INSERT INTO flt SELECT 10000000 + g, 'z' || g, 'v' || g, g FROM generate_series(30001, 34000) g;
INSERT INTO ref SELECT i, t, u, n FROM flt WHERE n > 20000;
SELECT * FROM flt_wrong;
SELECT count(surfidx_merge(index)) FROM flt_index;
SELECT * FROM flt_wrong;
SELECT count(surfidx_check(index, true)) FROM flt_index;
SELECT index, filters > 0 AS filters, covered > 0.9 * leaves AS most_leaves FROM flt_index, surfidx_filters(index) WHERE index::text <> 'flt_num' ORDER BY 1;

-- deletions
DELETE FROM flt WHERE n % 3 = 0 OR i BETWEEN 2000000 AND 5000000;
DELETE FROM ref WHERE n % 3 = 0 OR i BETWEEN 2000000 AND 5000000;
VACUUM flt, ref;
SELECT * FROM flt_wrong;
SELECT count(surfidx_check(index, true)) FROM flt_index;
SELECT surfidx_may_contain_range('flt_surf', 2100000, 4900000);

-- another kind, and none, for what is rewritten from now on
ALTER INDEX flt_surf SET (filter = bloom);
ALTER INDEX flt_bloom SET (filter = surf);
ALTER INDEX flt_text SET (filter = none);
INSERT INTO flt SELECT g::int8 * 7919 % 1000003 * 10, md5(g::text), 'u' || g % 3000, g FROM generate_series(20000, 22000) g;
INSERT INTO ref SELECT g::int8 * 7919 % 1000003 * 10, md5(g::text), 'u' || g % 3000, g FROM generate_series(20000, 22000) g;
SELECT count(surfidx_merge(index)) FROM flt_index;
SELECT * FROM flt_wrong;
SELECT count(surfidx_check(index, true)) FROM flt_index;
-- (a leaf that gets no row keeps the filter that it has)
SELECT index, covered > 0.5 * leaves AS filters FROM flt_index, surfidx_filters(index) WHERE index::text <> 'flt_num' ORDER BY 1;

-- absent keys of joins: anti-joins, EXISTS, checks of references from deleted rows; unique checks on insert.  Each asks a filter, hardly any reads a leaf
CREATE TABLE flt_parent (g int PRIMARY KEY, id int8 UNIQUE);
CREATE TABLE flt_child (parent int8);
INSERT INTO flt_parent SELECT g, g::int8 * 7919 % 1000003 * 10 FROM generate_series(1, 21000) g;
INSERT INTO flt_child SELECT id FROM flt_parent WHERE g % 20 <> 0 AND g <= 20000;
CREATE INDEX flt_child_parent ON flt_child USING surfidx (parent) WITH (filter = surf, surf_real_bits = 8);
ALTER TABLE flt_child ADD FOREIGN KEY (parent) REFERENCES flt_parent (id);
VACUUM ANALYZE flt_parent, flt_child;
CREATE FUNCTION flt_counts(sql text, OUT denied bool, OUT few_leaves bool, OUT asked bigint) LANGUAGE plpgsql AS $$
DECLARE
	a record;
	b record;
BEGIN
	a := surfidx_page_counts();
	EXECUTE sql;
	b := surfidx_page_counts();
	asked := b.filters - a.filters;
	denied := b.denied - a.denied > 0.97 * asked AND asked - (b.denied - a.denied) = b.wrong - a.wrong;
	few_leaves := b.leaves - a.leaves < 0.03 * asked;
END $$;
EXPLAIN (COSTS OFF) SELECT count(*) FROM generate_series(1, 1000) g WHERE NOT EXISTS (SELECT FROM flt_child WHERE parent = g * 10000 + 1);
SELECT * FROM flt_counts('SELECT count(*) FROM generate_series(1, 1000) g WHERE NOT EXISTS (SELECT FROM flt_child WHERE parent = g * 10000 + 1)');
SELECT * FROM flt_counts('SELECT count(*) FROM (SELECT * FROM flt_parent WHERE g % 20 = 0 OFFSET 0) p LEFT JOIN flt_child c ON c.parent = p.id WHERE c.parent IS NULL');
SELECT * FROM flt_counts('DELETE FROM flt_parent WHERE g <= 20000 AND g % 20 = 0');
DELETE FROM flt_parent WHERE g = 1;
-- what is there is not denied
SELECT leaves AS leaves0, filters AS filters0, denied AS denied0, wrong AS wrong0 FROM surfidx_page_counts() \gset
SELECT count(*) FROM generate_series(1, 1000) g WHERE EXISTS (SELECT FROM flt_child WHERE parent = (g * 20 - 1)::int8 * 7919 % 1000003 * 10);
SELECT filters - :filters0 AS asked, denied - :denied0 AS denied, wrong - :wrong0 AS wrong, leaves - :leaves0 AS leaves FROM surfidx_page_counts();
-- on runs in front of the main tree, too
ALTER INDEX flt_child_parent SET (delta_size = 64, run_ratio = 10, merge_ratio = 10);
INSERT INTO flt_child SELECT id FROM flt_parent WHERE g % 20 <> 0 AND g <= 20000 ORDER BY random() LIMIT 8000;
VACUUM flt_child;
SELECT count(*), min(leaves) > 1 AS several_leaves FROM surfidx_runs('flt_child_parent');
SELECT * FROM flt_counts('SELECT count(*) FROM generate_series(1, 1000) g WHERE NOT EXISTS (SELECT FROM flt_child WHERE parent = g * 10000 + 1)');
DROP TABLE flt_child, flt_parent;

-- unique checks ask filters, too, of either kind; what is there they find
CREATE TABLE flt_u (i int8 NOT NULL);
INSERT INTO flt_u SELECT g::int8 * 618033 % 1000003 FROM generate_series(1, 20000) g;
SET surfidx.unique_notice = off;
CREATE UNIQUE INDEX flt_u_i ON flt_u USING surfidx (i) WITH (filter = bloom);
SELECT * FROM flt_counts('INSERT INTO flt_u SELECT g::int8 * 618033 % 1000003 FROM generate_series(20001, 21000) g');
-- (but Bloom filters know nothing of ranges, and are not counted as asked)
SELECT * FROM flt_counts('SELECT count(x.i) FROM generate_series(1, 500) k, LATERAL (SELECT i FROM flt_u WHERE i > k * 1000 AND i < k * 1000 + 40 ORDER BY i LIMIT 1) x');
INSERT INTO flt_u VALUES (618033);
INSERT INTO flt_u VALUES (20500::int8 * 618033 % 1000003);
SELECT surfidx_merge('flt_u_i');
INSERT INTO flt_u VALUES (20500::int8 * 618033 % 1000003);
SELECT surfidx_check('flt_u_i', true);
DROP INDEX flt_u_i;
CREATE UNIQUE INDEX flt_u_i ON flt_u USING surfidx (i) WITH (filter = surf);
SELECT * FROM flt_counts('INSERT INTO flt_u SELECT g::int8 * 618033 % 1000003 FROM generate_series(21001, 22000) g');
INSERT INTO flt_u VALUES (618033);
INSERT INTO flt_u VALUES (21500::int8 * 618033 % 1000003);
INSERT INTO flt_u VALUES (618033), (22500::int8 * 618033 % 1000003) ON CONFLICT DO NOTHING;
SELECT surfidx_merge('flt_u_i');
INSERT INTO flt_u VALUES (21500::int8 * 618033 % 1000003);
SELECT surfidx_check('flt_u_i', true), count(*), count(DISTINCT i) FROM flt_u;

-- long keys have none; a leaf of many equal keys is no problem
CREATE TABLE flt_long (t text COLLATE "C");
INSERT INTO flt_long SELECT repeat('x', 300) || repeat(md5(g::text), 20) FROM generate_series(1, 600) g;
INSERT INTO flt_long SELECT 'same' FROM generate_series(1, 20000);
CREATE INDEX flt_long_t ON flt_long USING surfidx (t) WITH (filter = surf);
INSERT INTO flt_long SELECT repeat('x', 300) || repeat(md5(g::text), 20) FROM generate_series(601, 900) g;
INSERT INTO flt_long SELECT md5(g::text) FROM generate_series(1, 5000) g;
SELECT surfidx_merge('flt_long_t') > 0 AS merged;
SELECT surfidx_check('flt_long_t', true);
SELECT count(*) FROM flt_long WHERE t = 'same';
CREATE INDEX ON flt_long USING surfidx (t) WITH (filter = 'cuckoo');
CREATE INDEX ON flt_long USING surfidx (t) WITH (surf_hash_bits = 33);

-- partial indexes, expressions, NULLs, descending columns, and leaves with a dictionary: what is there is not denied, most of what is not is
CREATE TABLE flt_any (i int, d date, t text COLLATE "C");
INSERT INTO flt_any SELECT nullif(g * 7919 % 100003 * 37, 370), CASE WHEN g % 50 > 0 THEN date '2000-01-01' + g * 7919 % 50021 * 3 END, '/usr/share/doc/package' || g * 13 || '/copyright' FROM generate_series(1, 12000) g;
CREATE INDEX flt_part ON flt_any USING surfidx (i) WITH (filter = surf) WHERE i % 2 = 0;
CREATE INDEX flt_expr ON flt_any USING surfidx ((i / 37 * 2), upper(t)) WITH (filter = surf);
CREATE INDEX flt_null ON flt_any USING surfidx (d DESC NULLS LAST, i NULLS FIRST) WITH (filter = surf);
CREATE INDEX flt_dict ON flt_any USING surfidx (t DESC) WITH (filter = surf, hope = alm_improved);
SELECT index, (SELECT covered = leaves FROM surfidx_filters(index)) AS all_leaves, (SELECT count(*) FROM surfidx_dictionaries(index)) AS dictionaries
	FROM unnest('{flt_part,flt_expr,flt_null,flt_dict}'::regclass[]) index ORDER BY 1;
CREATE VIEW flt_any_answers AS SELECT bool_and(i % 2 <> 0 OR surfidx_may_contain('flt_part', i)) AS partial, bool_and(surfidx_may_contain('flt_expr', i / 37 * 2, upper(t)) AND
	surfidx_may_contain('flt_expr', i / 37 * 2)) AS expression, bool_and(surfidx_may_contain('flt_null', d) AND surfidx_may_contain('flt_null', d, i) AND surfidx_may_contain_range('flt_null', d, d)) AS nulls,
	bool_and(surfidx_may_contain('flt_dict', t) AND surfidx_may_contain_range('flt_dict', t, t || '!')) AS dictionary FROM flt_any;
CREATE VIEW flt_any_absent AS SELECT count(*) FILTER (WHERE surfidx_may_contain('flt_part', g * 74 + 1)) < 60 AS partial,
	count(*) FILTER (WHERE surfidx_may_contain('flt_expr', g * 2 + 1)) < 60 AS expression, count(*) FILTER (WHERE surfidx_may_contain_range('flt_null', date '2000-01-01' + g * 3 + 1, date '2000-01-01' + g * 3 + 2)) < 60 AS nulls,
	count(*) FILTER (WHERE surfidx_may_contain_range('flt_dict', '/usr/share/doc/package' || g * 13 || '/x', '/usr/share/doc/package' || g * 13 || '/z')) < 60 AS dictionary
	FROM generate_series(1, 1200) g;
SELECT * FROM flt_any_answers;
SELECT * FROM flt_any_absent;
SELECT surfidx_count('flt_part') = (SELECT count(*) FROM flt_any WHERE i % 2 = 0) AS partial, surfidx_count('flt_expr', 100, 20000) = (SELECT count(*) FROM flt_any WHERE i / 37 * 2 BETWEEN 100 AND 20000) AS expression,
	surfidx_count('flt_null', NULL, '2010-01-01') = (SELECT count(*) FROM flt_any WHERE d <= '2010-01-01') AS nulls, surfidx_count('flt_dict', '/usr/share/doc/package13', '/usr/share/doc/package26') =
	(SELECT count(*) FROM flt_any WHERE t BETWEEN '/usr/share/doc/package13' AND '/usr/share/doc/package26') AS dictionary;
-- new keys in leaves that have filters, and in the delta
INSERT INTO flt_any SELECT -g * 7919 % 100003 * 37, date '1990-01-01' + g, '/usr/lib/package' || g * 13 FROM generate_series(1, 1500) g;
SELECT count(surfidx_merge(index)) FROM unnest('{flt_part,flt_expr,flt_null,flt_dict}'::regclass[]) index;
INSERT INTO flt_any SELECT -g * 37 - 1, date '1980-01-01' + g, '/usr/bin/package' || g * 13 FROM generate_series(1, 500) g;
SELECT * FROM flt_any_answers;
SELECT count(surfidx_check(index, true, true)) FROM unnest('{flt_part,flt_expr,flt_null,flt_dict}'::regclass[]) index;
DROP VIEW flt_any_answers, flt_any_absent;
DROP TABLE flt_any;

DROP VIEW flt_wrong;
DROP FUNCTION flt_ask, flt_counts;
DROP TABLE flt, ref, flt_index, flt_u, flt_long;
