-- A table that Citus distributes has its rows in shards, and an empty shell here: the shell's index answers nothing.
-- Citus is not needed: its list of such tables is.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.unique_notice = off;
CREATE TABLE cit_shell (id int8, v text COLLATE "C");
CREATE INDEX cit_shell_i ON cit_shell USING surfidx (id);
CREATE INDEX cit_shell_b ON cit_shell (v);
CREATE TABLE cit_local (id int8);
CREATE INDEX cit_local_i ON cit_local USING surfidx (id);
INSERT INTO cit_local SELECT g FROM generate_series(1, 100) g;
-- a table of that name elsewhere is somebody's own
CREATE TABLE pg_dist_partition (logicalrelid regclass);
INSERT INTO pg_dist_partition VALUES ('cit_local');
SELECT surfidx_count('cit_shell_i'), surfidx_count('cit_local_i');
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char" NOT NULL, partkey text, colocationid int NOT NULL DEFAULT 0);
INSERT INTO pg_catalog.pg_dist_partition VALUES ('cit_shell', 'h', 'id');
RESET allow_system_table_mods;

SELECT surfidx_count('cit_local_i');
SELECT surfidx_count('cit_shell_i');
-- every function that takes an index
DO $$
DECLARE
	f record;
BEGIN
	FOR f IN SELECT proname, pronargs - pronargdefaults AS n, provariadic <> 0 AS more FROM pg_proc p
		JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid AND extname = 'surfidx'
		WHERE pg_get_function_arguments(p.oid) ~ '^index regclass' AND proname NOT IN ('surfidx_statement', 'surfidx_convert_swap') ORDER BY proname
	LOOP
		BEGIN
			EXECUTE format('SELECT %I(%L%s)', f.proname, 'cit_shell_i', CASE WHEN f.more THEN ', 5' ELSE repeat(', 3', f.n - 1) END);
			RAISE WARNING '%() answers', f.proname;
		EXCEPTION WHEN feature_not_supported THEN
			IF SQLERRM !~ 'in shards$' THEN RAISE; END IF;
			RAISE NOTICE '%() refuses', f.proname;
		END;
	END LOOP;
END $$;
SELECT entries FROM surfidx_stat_indexes WHERE indexrelname LIKE 'cit\_%' ORDER BY indexrelname;
SELECT indexrelname, problem FROM surfidx_check_all(true, true) WHERE indexrelname LIKE 'cit\_%';
SELECT indexrelname, statement, remark FROM surfidx_convert('cit_shell') ORDER BY 1;
SELECT indexrelname, statement, remark FROM surfidx_convert('cit_shell', method => 'btree') ORDER BY 1;
-- queries, which Citus sends to the shards, and writes are none of ours
SET enable_seqscan = off;
SELECT count(*) FROM cit_shell WHERE id = 5;
RESET enable_seqscan;

-- a table of another layout says nothing
SET allow_system_table_mods = on;
DROP TABLE pg_catalog.pg_dist_partition;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid text);
INSERT INTO pg_catalog.pg_dist_partition VALUES ('cit_shell');
SELECT surfidx_count('cit_shell_i');
DROP TABLE pg_catalog.pg_dist_partition;
RESET allow_system_table_mods;
DROP TABLE public.pg_dist_partition, cit_shell, cit_local;
