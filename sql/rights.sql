-- Rights to call functions: pg_monitor sees of these indexes what pgstattuple shows it of others; keys need the right to read files, rows the right to SELECT
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
CREATE ROLE rights_nobody;
CREATE ROLE rights_stats IN ROLE pg_read_all_stats;
CREATE ROLE rights_scan IN ROLE pg_stat_scan_tables;
CREATE ROLE rights_monitor IN ROLE pg_monitor;
CREATE ROLE rights_files IN ROLE pg_read_server_files;
RESET client_min_messages;
SET surfidx.unique_notice = off;

-- each function and view of the extension, but for what the access method and operator classes call
CREATE TEMP VIEW rights_members AS
SELECT p.oid::regprocedure::text AS member, p.oid AS function, NULL::oid AS view FROM pg_proc p
	JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid AND extname = 'surfidx'
WHERE NOT 'internal'::regtype = ANY (proargtypes)
UNION ALL
SELECT c.oid::regclass::text, NULL, c.oid FROM pg_class c
	JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid AND extname = 'surfidx';
SELECT CASE WHEN bool_or(r = 'rights_nobody') THEN 'anybody' ELSE coalesce(string_agg(r, ', ' ORDER BY n), 'superusers') END AS who, member
FROM rights_members LEFT JOIN unnest(ARRAY['rights_nobody', 'rights_stats', 'rights_scan', 'rights_monitor', 'rights_files']) WITH ORDINALITY u(r, n)
	ON CASE WHEN function IS NULL THEN has_table_privilege(r, view, 'SELECT') ELSE has_function_privilege(r, function, 'EXECUTE') END
GROUP BY member ORDER BY 1, member COLLATE "C";

-- in a schema, of a table, that only its owner may use
CREATE SCHEMA rights_hidden;
CREATE TABLE rights_hidden.t (id int PRIMARY KEY, s text COLLATE "C");
INSERT INTO rights_hidden.t SELECT g, md5(g::text) FROM generate_series(1, 3000) g;
CREATE INDEX t_s ON rights_hidden.t USING surfidx (s) WITH (filter = bloom, hope = fsst);
CREATE TEMP TABLE rights_index AS SELECT 'rights_hidden.t_s'::regclass AS s, 'rights_hidden.t_pkey'::regclass AS btree;
GRANT SELECT ON rights_index TO PUBLIC;

SET ROLE rights_monitor;
SELECT entries FROM rights_index, surfidx_stats(s);
SELECT entries FROM rights_index, surfidx_stat_indexes WHERE indexrelid = s;
SELECT count(*) FROM surfidx_stat_progress_merge WHERE indexrelid = (SELECT s FROM rights_index);
SELECT m.entries FROM rights_index, surfidx_meta(s) m;
SELECT r.entries FROM rights_index, surfidx_runs(s) r;
SELECT scheme FROM rights_index, surfidx_dictionaries(s);
SELECT filters > 0 AS filters FROM rights_index, surfidx_filters(s);
SELECT e.entries FROM rights_index, surfidx_estimate(btree) e;
SELECT indexrelid = (SELECT btree FROM rights_index) AS advised FROM surfidx_advise(65536) WHERE schemaname = 'rights_hidden';
-- but no keys, no rows, and nothing that takes long or changes something
SELECT surfidx_page_stats(s, 3) FROM rights_index;
SELECT surfidx_page_items(s, 3) FROM rights_index;
SELECT surfidx_count(s) FROM rights_index;
SELECT surfidx_may_contain(s, 'a'::text) FROM rights_index;
SELECT surfidx_may_contain_range(s, 'a'::text, 'b'::text) FROM rights_index;
SELECT surfidx_check(s) FROM rights_index;
SELECT * FROM surfidx_check_all();
SELECT surfidx_merge(s) FROM rights_index;
SELECT surfidx_convert(indrelid::regclass) FROM pg_index, rights_index WHERE indexrelid = s;
SELECT surfidx_convert_swap(btree) FROM rights_index;
SELECT * FROM surfidx_mirror_btree();
RESET ROLE;

SET ROLE rights_files;
SELECT DISTINCT kind FROM rights_index, generate_series(3, 8) b, surfidx_page_stats(s, b) ORDER BY 1;
SELECT count(*) > 100 AS items FROM rights_index, generate_series(3, 8) b, surfidx_page_items(s, b);
SELECT entries FROM rights_index, surfidx_stats(s);
RESET ROLE;

DROP SCHEMA rights_hidden CASCADE;
DROP VIEW rights_members;
DROP ROLE rights_nobody, rights_stats, rights_scan, rights_monitor, rights_files;
