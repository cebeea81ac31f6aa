-- surfidx_stats(), surfidx_stat_indexes, surfidx_page_stats(), surfidx_page_items(): what they report is true
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;

CREATE TABLE sts (i int8, t text COLLATE "C", u text COLLATE "und-x-icu", v int, a int[] GENERATED ALWAYS AS (ARRAY[v, 1]) STORED) WITH (autovacuum_enabled = off);
INSERT INTO sts SELECT g::int8 * 7919 % 1000003, 'user' || g % 3000 || '@example.org', md5(g::text), g FROM generate_series(1, 20000) g;
CREATE INDEX sts_i ON sts USING surfidx (i) INCLUDE (v);
CREATE INDEX sts_t ON sts USING surfidx (t, i) WITH (filter = surf);
CREATE INDEX sts_u ON sts USING surfidx (u);
CREATE INDEX sts_v ON sts USING surfidx (v);
CREATE INDEX sts_a ON sts USING surfidx (a);
CREATE INDEX sts_none ON sts USING surfidx (v) WHERE v < 0;

-- The parts add up to the whole, and the counts are those of the table.
CREATE VIEW sts_sums AS
SELECT indexrelname, entries, delta_entries, dead_entries, runs, generations,
	blocks_sampled = blocks AND bytes = pg_relation_size(indexrelid) AS whole,
	abs(bytes_per_entry * entries / bytes - 1) < 1e-9 AS bytes,
	abs((keys_per_entry + tids_per_entry + include_per_entry + leaf_overhead_per_entry + leaf_free_per_entry + inner_per_entry +
		filters_per_entry + delta_per_entry + dictionaries_per_entry + free_per_entry + meta_per_entry) / bytes_per_entry - 1) < 1e-9 AS sum,
	leaf_fill > 0.5 AND leaf_fill <= 1 AS fill
FROM surfidx_stat_indexes WHERE relname = 'sts' ORDER BY indexrelname COLLATE "C";
SELECT * FROM sts_sums;
SELECT indexrelname, include_per_entry > 0 AS include, inner_per_entry > 0 AS inner, filters_per_entry > 0 AS filters, delta_per_entry > 0 AS delta,
	(SELECT sum(value::int) FROM jsonb_each_text(codecs -> 'keys')) = (SELECT sum(value::int) FROM jsonb_each_text(codecs -> 'tids')) AS codecs
FROM surfidx_stat_indexes WHERE relname = 'sts' ORDER BY indexrelname COLLATE "C";

-- The delta, dead entries in it, merges
INSERT INTO sts SELECT g::int8 * 7919 % 1000003, 'user' || g % 3000 || '@example.org', md5(g::text), g FROM generate_series(20001, 25000) g;
SELECT * FROM sts_sums;
SELECT delta_per_entry > 0 AS delta, merges, merged_entries, merge_groups, merge_leaves, merge_bytes, merge_seconds, write_amplification FROM surfidx_stats('sts_i');
SELECT surfidx_merge('sts_i'), surfidx_merge('sts_t');
SELECT delta_per_entry = 0 AS no_delta, merges, merged_entries, merge_groups > 0 AS groups, merge_leaves > 10 AS leaves,
	merge_bytes > merge_leaves * 8192 AS bytes, merge_seconds > 0 AS seconds, write_amplification BETWEEN 1.1 AND 100 AS amplification
FROM surfidx_stat_indexes WHERE relname = 'sts' AND indexrelname IN ('sts_i', 'sts_t') ORDER BY indexrelname;
SELECT * FROM sts_sums;

-- What a dictionary saves: when it was made, and now that keys unlike those have come
CREATE TABLE std AS SELECT 'user' || g * 7919 % 30011 || '@mail.example.org' AS s FROM generate_series(1, 6000) g;
CREATE INDEX std_s ON std USING surfidx (s COLLATE "C") WITH (hope = double, merge_ratio = 10);
CREATE VIEW std_rates AS
SELECT j ->> 'scheme' AS scheme, (j ->> 'bytes')::int > 0 AS bytes, (j ->> 'leaves')::int AS leaves, (j ->> 'rate')::numeric AS rate, (j ->> 'rate_now')::numeric AS rate_now
FROM (SELECT dictionaries -> 0 AS j FROM surfidx_stats('std_s', 0)) x;
SELECT scheme, bytes, leaves > 0 AS leaves, rate BETWEEN 0.2 AND 0.9 AS rate, abs(rate_now - rate) < 0.02 AS rate_now FROM std_rates;
UPDATE std SET s = s || abs(hashtext(s));
VACUUM std;
SELECT rate_now > 1.2 * rate AS rate_now FROM std_rates;
SELECT dictionaries FROM surfidx_stats('sts_i');
DROP VIEW std_rates;
DROP TABLE std;

-- A sample of a few blocks tells nearly the same; wrong numbers of blocks
SELECT blocks_sampled, bytes_per_entry = (SELECT bytes_per_entry FROM surfidx_stats('sts_u', 0)) AS bytes,
	abs(keys_per_entry / (SELECT keys_per_entry FROM surfidx_stats('sts_u', 0)) - 1) < 0.5 AS keys
FROM surfidx_stats('sts_u', 20);
SELECT surfidx_stats('sts_u', -1);
SELECT surfidx_stats('sts');

-- Pages: of every kind, and the items of leaves and logs are all entries
CREATE VIEW sts_pages AS
SELECT c.relname AS index, p.* FROM pg_class c, generate_series(0, pg_relation_size(c.oid) / 8192 - 1) b, surfidx_page_stats(c.oid, b) p
WHERE c.relkind = 'i' AND c.relname LIKE 'sts\_%';
SELECT index, kind, count(*) > 0 AS some, sum(items) FILTER (WHERE kind IN ('leaf', 'log')) AS entries FROM sts_pages WHERE NOT free AND kind <> 'dictionary' GROUP BY 1, 2 ORDER BY index COLLATE "C", kind;
SELECT count(*) FILTER (WHERE body_bytes + free_bytes <> 8144) AS room,
	count(*) FILTER (WHERE kind = 'leaf' AND body_bytes <= key_bytes + tid_bytes + include_bytes) AS parts,
	count(*) FILTER (WHERE kind IN ('leaf', 'inner', 'filter') AND low IS NULL) AS low,
	count(*) FILTER (WHERE kind IN ('leaf', 'inner') AND (high IS NULL) <> (right_link IS NULL)) AS high
FROM sts_pages WHERE NOT free;
SELECT index, count(*), count(DISTINCT tid), bool_and(data = format('(%s)', i)), bool_and(length(include) = 5)
FROM sts_pages p, surfidx_page_items('sts_i', blkno) JOIN sts ON sts.ctid = tid WHERE index = 'sts_i' AND kind = 'leaf' AND NOT free GROUP BY 1;
SELECT index, count(*), bool_and(data = format('(%s, %s)', t, i))
FROM sts_pages p, surfidx_page_items('sts_t', blkno) JOIN sts ON sts.ctid = tid WHERE index = 'sts_t' AND kind = 'leaf' AND NOT free GROUP BY 1;
SELECT index, kind, count(*), bool_and(data = format('(%s)', u)), bool_or(dead)
FROM sts_pages p, surfidx_page_items('sts_u', blkno) JOIN sts ON sts.ctid = tid WHERE index = 'sts_u' AND kind IN ('leaf', 'log') AND NOT free GROUP BY 1, 2 ORDER BY 2;
SELECT count(*), count(data) FROM sts_pages p, surfidx_page_items('sts_a', blkno) WHERE index = 'sts_a' AND kind = 'leaf' AND NOT free;
-- children of inner pages are leaves, with the entries that their parent says, below a filter or not
SELECT index, count(*) > 10 AS children, bool_and(l.kind = 'leaf' AND NOT l.free AND l.items = c.entries AND l.low = c.key) AS leaves, count(filter) > 0 AS filters
FROM sts_pages p, surfidx_page_items(index::regclass, blkno) c, surfidx_page_stats(index::regclass, c.child) l
WHERE p.kind = 'inner' AND NOT p.free AND index IN ('sts_i', 'sts_t') GROUP BY 1 ORDER BY 1;
SELECT surfidx_page_items('sts_i', 0);
SELECT surfidx_page_stats('sts_i', -1);
SELECT surfidx_page_items('sts_none', 100);
SELECT surfidx_page_stats('sts', 0);

-- What filters were good for, of all sessions: each of 100 absent keys is either denied or looked for in vain
SET enable_seqscan = off;
SELECT count(*) FROM generate_series(1, 100) g WHERE EXISTS (SELECT FROM sts WHERE t = 'user' || g || '@example.net' AND i = g);
RESET enable_seqscan;
SELECT filters_asked = 100 AS asked, filters_denied > 80 AS denied, filters_asked - filters_denied = filters_wrong AS wrong FROM surfidx_stats('sts_t');
SELECT filters_asked, filters_denied, filters_wrong FROM surfidx_stats('sts_i');

-- Rights
CREATE ROLE sts_nobody;
CREATE ROLE sts_monitor IN ROLE pg_stat_scan_tables;
CREATE ROLE sts_reader IN ROLE pg_read_server_files;
SET ROLE sts_nobody;
SELECT surfidx_meta('sts_i');
SELECT surfidx_runs('sts_i');
SELECT surfidx_dictionaries('sts_i');
SELECT surfidx_filters('sts_i');
SELECT surfidx_stats('sts_i');
SELECT count(*) FROM surfidx_stat_indexes;
SELECT surfidx_page_stats('sts_i', 0);
SELECT surfidx_page_items('sts_i', 0);
SELECT count(*) FROM surfidx_stat_progress_merge;
SET ROLE sts_monitor;
SELECT entries FROM surfidx_stats('sts_i');
SELECT entries FROM surfidx_stat_indexes WHERE indexrelname = 'sts_i';
SELECT surfidx_page_stats('sts_i', 0);
SELECT level FROM surfidx_meta('sts_i');
SET ROLE sts_reader;
SELECT generations FROM surfidx_meta('sts_i');
SELECT count(*) FROM surfidx_runs('sts_i');
SELECT count(*) FROM surfidx_dictionaries('sts_i');
SELECT filters > 0 AS filters FROM surfidx_filters('sts_t');
SELECT kind FROM surfidx_page_stats('sts_i', 0);
SELECT count(*) FROM surfidx_page_items('sts_i', 0);
RESET ROLE;

-- A library that is newer than the declarations says so, of one row and of many; one that is older, too
CREATE FUNCTION sts_meta(regclass, OUT version int, OUT build_id text) AS '$libdir/surfidx', 'surfidx_meta' LANGUAGE C;
CREATE FUNCTION sts_runs(regclass, OUT run bigint, OUT root bigint) RETURNS SETOF record
    AS '$libdir/surfidx', 'surfidx_runs' LANGUAGE C;
CREATE FUNCTION sts_pages(regclass) RETURNS bigint AS '$libdir/surfidx', 'surfidx_meta' LANGUAGE C;
CREATE FUNCTION sts_later(regclass, OUT a int, OUT b int, OUT c int, OUT d int, OUT e int, OUT f int,
    OUT later int) RETURNS SETOF record AS '$libdir/surfidx', 'surfidx_runs' LANGUAGE C;
SELECT * FROM sts_meta('sts_i');
SELECT * FROM sts_runs('sts_i');
SELECT sts_pages('sts_i');
SELECT * FROM sts_later('sts_i');
DROP FUNCTION sts_meta, sts_runs, sts_later, sts_pages(regclass);

-- The phases of a build
SELECT n, pg_indexam_progress_phasename(oid, n) FROM pg_am, generate_series(0, 5) n WHERE amname = 'surfidx' ORDER BY n;

DROP VIEW sts_sums, sts_pages;
DROP TABLE sts;
DROP ROLE sts_nobody, sts_monitor, sts_reader;
