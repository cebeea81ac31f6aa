/* surfidx--1.0.sql */

-- complain if script is sourced in psql rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION surfidx" to load this file. \quit

-- The access method

CREATE FUNCTION surfidx_handler(internal)
RETURNS index_am_handler
AS 'MODULE_PATHNAME' LANGUAGE C STRICT;

CREATE ACCESS METHOD surfidx TYPE INDEX HANDLER surfidx_handler;

COMMENT ON ACCESS METHOD surfidx IS 'compact ordered index';

-- Byte encodings of types: support function 7

DO $$
DECLARE
	type text;
BEGIN
	FOREACH type IN ARRAY '{bit, bool, bpchar, bpchar_pattern, bytea, char, date, float4, float8, inet, int2, int4, int8,
		interval, macaddr, macaddr8, money, name, numeric, oid, oidvector, pg_lsn, text, text_pattern, tid, time, timestamp,
		timestamptz, timetz, uuid, xid8}'::text[]
	LOOP
		EXECUTE pg_catalog.format('CREATE FUNCTION surfidx_enc_%s(internal) RETURNS internal '
			'AS ''MODULE_PATHNAME'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', type);
	END LOOP;
END $$;

-- Operator families and classes: names, operators and support functions are those of this server's btree, so that the
-- planner takes the orders for the same, and a later server's new types come along; the function stays, for servers that
-- pg_upgrade has made newer.  Classes that get no function 7 have their keys in the comparator key space: datum bytes,
-- ordered by function 1.

CREATE FUNCTION surfidx_mirror_btree(OUT added text)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $mirror$
DECLARE
	btree CONSTANT oid := (SELECT oid FROM pg_am WHERE amname = 'btree');
	own CONSTANT oid := (SELECT oid FROM pg_am WHERE amname = 'surfidx');
	target CONSTANT oid := (SELECT extnamespace FROM pg_extension WHERE extname = 'surfidx');
	place CONSTANT text := quote_ident((SELECT nspname FROM pg_namespace WHERE oid = target));
	fam record;
	cls record;
	mine oid;
	name text;
	members text;
BEGIN
	FOR fam IN
		SELECT oid, opfname FROM pg_opfamily
		WHERE opfmethod = btree AND opfnamespace = 'pg_catalog'::regnamespace ORDER BY opfname
	LOOP
		name := format('OPERATOR FAMILY %s.%I USING surfidx', place, fam.opfname);
		mine := (SELECT oid FROM pg_opfamily
			WHERE opfmethod = own AND opfnamespace = target AND opfname = fam.opfname);
		IF mine IS NULL THEN
			EXECUTE 'CREATE ' || name;
			mine := (SELECT oid FROM pg_opfamily
				WHERE opfmethod = own AND opfnamespace = target AND opfname = fam.opfname);
			-- what no script of the extension makes does not belong to it by itself
			IF NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_opfamily'::regclass AND objid = mine
					AND deptype = 'e') THEN
				EXECUTE 'ALTER EXTENSION surfidx ADD ' || name;
			END IF;
			added := name;
			RETURN NEXT;
		END IF;
		-- each class with its members, then what else the family has
		FOR cls IN
			SELECT opcname, opcdefault, opcintype FROM pg_opclass c
			WHERE opcfamily = fam.oid AND opcnamespace = 'pg_catalog'::regnamespace
				AND NOT EXISTS (SELECT FROM pg_opclass x
					WHERE x.opcmethod = own AND x.opcnamespace = target AND x.opcname = c.opcname)
			UNION ALL SELECT NULL, NULL, NULL
			ORDER BY opcdefault DESC NULLS LAST, opcname
		LOOP
			-- what the family has already it shares: a second class on a type, the members of the first
			SELECT string_agg(item, ', ' ORDER BY kind, l, r, number) INTO members FROM (
				SELECT 1 AS kind, amoplefttype AS l, amoprighttype AS r, amopstrategy AS number,
					format('OPERATOR %s %s', amopstrategy, amopopr::regoperator) AS item
				FROM pg_amop o WHERE amopfamily = fam.oid AND NOT EXISTS (SELECT FROM pg_amop x
					WHERE x.amopfamily = mine AND x.amoplefttype = o.amoplefttype
						AND x.amoprighttype = o.amoprighttype AND x.amopstrategy = o.amopstrategy)
				UNION ALL
				SELECT 2, amproclefttype, amprocrighttype, amprocnum,
					format('FUNCTION %s (%s, %s) %s', amprocnum, amproclefttype::regtype,
						amprocrighttype::regtype, amproc::regprocedure)
				FROM pg_amproc p WHERE amprocfamily = fam.oid AND NOT EXISTS (SELECT FROM pg_amproc x
					WHERE x.amprocfamily = mine AND x.amproclefttype = p.amproclefttype
						AND x.amprocrighttype = p.amprocrighttype AND x.amprocnum = p.amprocnum)) m
			WHERE cls.opcname IS NULL OR (l = cls.opcintype AND r = cls.opcintype);
			IF cls.opcname IS NULL THEN
				CONTINUE WHEN members IS NULL;
				EXECUTE format('ALTER OPERATOR FAMILY %s.%I USING surfidx ADD %s', place, fam.opfname, members);
				added := format('members of OPERATOR FAMILY %s.%I USING surfidx', place, fam.opfname);
				RETURN NEXT;
				CONTINUE;
			END IF;
			-- a class needs a clause
			members := coalesce(members, format('STORAGE %s', cls.opcintype::regtype));
			name := format('OPERATOR CLASS %s.%I USING surfidx', place, cls.opcname);
			EXECUTE format('CREATE OPERATOR CLASS %s.%I %s FOR TYPE %s USING surfidx FAMILY %s.%I AS %s',
				place, cls.opcname, CASE WHEN cls.opcdefault THEN 'DEFAULT' ELSE '' END,
				cls.opcintype::regtype, place, fam.opfname, members);
			IF NOT EXISTS (SELECT FROM pg_depend d JOIN pg_opclass c ON c.oid = d.objid
					WHERE d.classid = 'pg_opclass'::regclass AND d.deptype = 'e'
						AND c.opcmethod = own AND c.opcnamespace = target AND c.opcname = cls.opcname) THEN
				EXECUTE 'ALTER EXTENSION surfidx ADD ' || name;
			END IF;
			added := name;
			RETURN NEXT;
		END LOOP;
	END LOOP;

	-- Encodings decide how keys are stored: never behind an index's back.
	FOR cls IN
		SELECT f.opfname, c.opcintype::regtype AS type, e.proname AS encoding
		FROM pg_opclass c
			JOIN pg_opfamily f ON f.oid = c.opcfamily
			JOIN pg_proc e ON e.pronamespace = target AND e.prorettype = 'internal'::regtype
				AND e.proname = 'surfidx_enc_' || CASE c.opcname WHEN 'oid8_ops' THEN 'xid8' WHEN 'varbit_ops' THEN 'bit'
					ELSE left(c.opcname::text, -length('_ops')) END
		WHERE c.opcmethod = own AND c.opcnamespace = target
			AND NOT EXISTS (SELECT FROM pg_amproc p WHERE p.amprocfamily = f.oid AND p.amproclefttype = c.opcintype
				AND p.amprocnum = 7)
			AND NOT EXISTS (SELECT FROM pg_index JOIN pg_opclass x ON x.oid = ANY (indclass)
				WHERE x.opcfamily = f.oid AND x.opcintype = c.opcintype)
	LOOP
		EXECUTE format('ALTER OPERATOR FAMILY %1$s.%2$I USING surfidx ADD FUNCTION 7 (%3$s, %3$s) %1$s.%4$s(internal)',
			place, cls.opfname, cls.type, cls.encoding);
	END LOOP;
END
$mirror$;

COMMENT ON FUNCTION surfidx_mirror_btree() IS
'adds operator families, classes and members that the server''s btree has and surfidx has not: for a database that pg_upgrade brought to a newer server';

SELECT surfidx_mirror_btree();

-- Functions

CREATE FUNCTION surfidx_merge(index regclass)
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_merge(regclass) IS
'merge the delta of a surfidx index into its tree; the number of entries merged (for the index''s owner)';

CREATE FUNCTION surfidx_check(
	index regclass,
	heapallindexed boolean DEFAULT false,
	rowsmatch boolean DEFAULT false)
RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_check(regclass, boolean, boolean) IS
'verify a surfidx index; an error tells what is wrong';

CREATE FUNCTION surfidx_check_all(
	heapallindexed boolean DEFAULT false,
	rowsmatch boolean DEFAULT false,
	OUT schemaname name,
	OUT relname name,
	OUT indexrelname name,
	OUT indexrelid oid,
	OUT problem text)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_check_all(boolean, boolean) IS
'verify all surfidx indexes of this database; for each what is wrong, or NULL';

CREATE FUNCTION surfidx_meta(
	index regclass,
	OUT version integer,
	OUT build_id text,
	OUT epoch bigint,
	OUT removals bigint,
	OUT generations integer,
	OUT frozen integer,
	OUT log_pages bigint,
	OUT delta_entries bigint,
	OUT merges bigint,
	OUT root bigint,
	OUT level integer,
	OUT entries bigint,
	OUT leaves bigint,
	OUT fault text)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_meta(regclass) IS
'what the metapage of a surfidx index says; fault: what is damaged about its lists';

CREATE FUNCTION surfidx_runs(
	index regclass,
	OUT run bigint,
	OUT root bigint,
	OUT level integer,
	OUT entries bigint,
	OUT leaves bigint,
	OUT merging boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_runs(regclass) IS
'static runs of a surfidx index, newest first; the last one is the main tree';

CREATE FUNCTION surfidx_dictionaries(
	index regclass,
	OUT dictionary bigint,
	OUT scheme text,
	OUT bytes integer,
	OUT rate double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_dictionaries(regclass) IS
'dictionaries with which leaves of a surfidx index code keys, oldest first; rate: bytes stored per byte that front coding leaves';

CREATE FUNCTION surfidx_count(
	index regclass,
	low "any" DEFAULT NULL,
	high "any" DEFAULT NULL,
	low_inclusive boolean DEFAULT true,
	high_inclusive boolean DEFAULT true,
	approximate boolean DEFAULT false)
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_count(regclass, "any", "any", boolean, boolean, boolean) IS
'number of entries of a surfidx index from low to high, without reading the leaves between';

CREATE FUNCTION surfidx_rank(index regclass, VARIADIC key "any")
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_rank(regclass, "any") IS
'number of entries of a surfidx index before the first one with these leading columns';

CREATE FUNCTION surfidx_nth(index regclass, n bigint, OUT key text[], OUT tid tid)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_nth(regclass, bigint) IS
'row after the first n entries of a surfidx index, or before the last ones: -1 is the last row';

CREATE FUNCTION surfidx_sample(index regclass, n bigint, OUT key text[], OUT tid tid)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_sample(regclass, bigint) IS
'n different rows of a surfidx index, drawn at random with equal chances';

CREATE FUNCTION surfidx_ntiles(
	index regclass,
	n integer,
	OUT tile integer,
	OUT low text[],
	OUT high text[],
	OUT entries bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_ntiles(regclass, integer) IS
'bounds, low <= key < high, that cut a surfidx index into n parts of about as many entries';

CREATE FUNCTION surfidx_why_not(query text)
RETURNS text
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_why_not(text) IS
'why surfidx indexes do not compute the aggregates of a query, or that they do; the query is planned, not executed';

CREATE FUNCTION surfidx_may_contain(index regclass, VARIADIC key "any")
RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_may_contain(regclass, "any") IS
'false if no entry of a surfidx index has these leading columns';

CREATE FUNCTION surfidx_may_contain_range(
	index regclass,
	low "any",
	high "any",
	low_inclusive boolean DEFAULT true,
	high_inclusive boolean DEFAULT true)
RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_may_contain_range(regclass, "any", "any", boolean, boolean) IS
'false if a surfidx index has no entry from low to high';

CREATE FUNCTION surfidx_progress(
	OUT pid integer,
	OUT schemaname name,
	OUT relname name,
	OUT indexrelname name,
	OUT indexrelid oid,
	OUT phase text,
	OUT source bigint,
	OUT target bigint,
	OUT entries_done bigint,
	OUT entries_total bigint,
	OUT groups bigint,
	OUT leaves_written bigint,
	OUT bytes_written bigint,
	OUT started timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_progress() IS
'merges of surfidx indexes of this database that are going on';

CREATE FUNCTION surfidx_shared_memory(
	OUT name text,
	OUT places bigint,
	OUT used bigint,
	OUT taken bigint,
	OUT evicted bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION surfidx_shared_memory() IS
'tables of surfidx in shared memory: places, those in use, those taken so far, and those taken from others';

CREATE FUNCTION surfidx_filters(
	index regclass,
	OUT filters bigint,
	OUT leaves bigint,
	OUT covered bigint,
	OUT keys bigint,
	OUT bytes bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_filters(regclass) IS
'the filters of a surfidx index: their number, leaves and those that have one, keys in filters and bytes of filters';

CREATE FUNCTION surfidx_page_counts(OUT leaves bigint, OUT filters bigint, OUT denied bigint, OUT wrong bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_page_counts() IS
'leaves of surfidx indexes that this session has read; filters that it has asked before, those that made a leaf unnecessary, and those that sent it to a leaf in vain';

-- What an index consists of

CREATE FUNCTION surfidx_stats(
	index regclass,
	sample_blocks integer DEFAULT 1000,
	strict boolean DEFAULT true,
	OUT bytes bigint,
	OUT blocks bigint,
	OUT blocks_sampled bigint,
	OUT entries bigint,
	OUT delta_entries bigint,
	OUT dead_entries bigint,
	OUT generations integer,
	OUT runs integer,
	OUT levels integer,
	OUT bytes_per_entry float8,
	OUT keys_per_entry float8,
	OUT tids_per_entry float8,
	OUT include_per_entry float8,
	OUT leaf_overhead_per_entry float8,
	OUT leaf_free_per_entry float8,
	OUT inner_per_entry float8,
	OUT filters_per_entry float8,
	OUT delta_per_entry float8,
	OUT dictionaries_per_entry float8,
	OUT free_per_entry float8,
	OUT meta_per_entry float8,
	OUT leaf_fill float8,
	OUT codecs jsonb,
	OUT dictionaries jsonb,
	OUT merges bigint,
	OUT merged_entries bigint,
	OUT merge_groups bigint,
	OUT merge_leaves bigint,
	OUT merge_bytes bigint,
	OUT merge_seconds float8,
	OUT write_amplification float8,
	OUT filters_asked bigint,
	OUT filters_denied bigint,
	OUT filters_wrong bigint,
	OUT pages_read_ahead bigint,
	OUT pages_read_in_vain bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_stats(regclass, integer, boolean) IS
'what a surfidx index consists of, from a sample of its blocks (0: all), and what merges have done; not strict: a warning instead of an error where it cannot be read';

CREATE FUNCTION surfidx_leaf_keys(
	index regclass,
	sample_blocks integer DEFAULT 1000,
	OUT keys text,
	OUT leaves bigint,
	OUT cut_leaves bigint,
	OUT cut_entries bigint,
	OUT recovered_by_readers bigint,
	OUT recovered_by_merges bigint,
	OUT leaves_made_cut bigint,
	OUT leaves_made_whole bigint,
	OUT last_change timestamptz,
	OUT size_limit bigint,
	OUT size bigint,
	OUT over_limit boolean)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_leaf_keys(regclass, integer) IS
'what leaves of a surfidx index have of keys, what that has taken so far, and its size beside its size_limit';

CREATE FUNCTION surfidx_budget(
	OUT size_budget bigint,
	OUT size bigint,
	OUT over_budget boolean,
	OUT indexes bigint,
	OUT leaves bigint,
	OUT cut_leaves bigint,
	OUT fixed_indexes bigint,
	OUT fixed_size bigint)
RETURNS record
LANGUAGE sql STRICT VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	SELECT b.bytes, pg_catalog.sum(x.size)::int8, pg_catalog.sum(x.size) > b.bytes::numeric,
		pg_catalog.count(*), pg_catalog.sum(x.leaves)::int8, pg_catalog.sum(x.cut_leaves)::int8,
		pg_catalog.count(*) FILTER (WHERE x.fixed), coalesce(pg_catalog.sum(x.size) FILTER (WHERE x.fixed), 0::numeric)::int8
	FROM (
		SELECT coalesce(k.size, pg_catalog.pg_relation_size(c.oid::regclass)) AS size, k.leaves, k.cut_leaves,
			coalesce(k.keys, 'full') NOT LIKE 'by %' AS fixed
		FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_am a ON a.oid = c.relam
			JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
			CROSS JOIN LATERAL surfidx_stats(CASE WHEN i.indisready THEN c.oid END, 1, false) s
			CROSS JOIN LATERAL surfidx_leaf_keys(CASE WHEN s.bytes IS NOT NULL THEN c.oid END, 1) k
		WHERE a.amname = 'surfidx' AND c.relkind = 'i' AND c.relpersistence <> 't'
			AND NOT (c.relpersistence = 'u' AND pg_catalog.pg_is_in_recovery())) x
		RIGHT JOIN (SELECT nullif(pg_catalog.pg_size_bytes(pg_catalog.current_setting('surfidx.size_budget')), 0::int8)) b(bytes)
			ON true
	GROUP BY b.bytes;
END;

COMMENT ON FUNCTION surfidx_budget() IS
'what the surfidx indexes of this database take of surfidx.size_budget, and what of that it does not change';

CREATE VIEW surfidx_stat_indexes AS
SELECT n.nspname AS schemaname, t.relname, c.relname AS indexrelname, i.indexrelid, s.*
FROM pg_catalog.pg_class c
	JOIN pg_catalog.pg_am a ON a.oid = c.relam
	JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
	JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	CROSS JOIN LATERAL (
		SELECT a.amname = 'surfidx' AND c.relkind = 'i' AND i.indisready
			AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
			AND NOT (c.relpersistence = 'u' AND pg_catalog.pg_is_in_recovery())) AS g(readable)
	CROSS JOIN LATERAL surfidx_stats(CASE WHEN g.readable THEN c.oid::pg_catalog.regclass END, 1000, false) s
WHERE g.readable;

COMMENT ON VIEW surfidx_stat_indexes IS 'surfidx_stats() of all surfidx indexes of this database; NULLs and a warning for those that cannot be read';

CREATE VIEW surfidx_stat_progress_merge AS
SELECT p.pid, pg_catalog.current_database() AS datname,
	p.schemaname, p.relname, p.indexrelname, p.indexrelid, p.phase, p.source, p.target, p.entries_done, p.entries_total,
	p.groups, p.leaves_written, p.bytes_written, p.started
FROM surfidx_progress() p;

COMMENT ON VIEW surfidx_stat_progress_merge IS 'merges of surfidx indexes that are going on in this database';

-- Single pages, as pageinspect shows btree's

CREATE FUNCTION surfidx_page_stats(
	index regclass,
	block bigint,
	OUT blkno bigint,
	OUT kind text,
	OUT free boolean,
	OUT lsn pg_lsn,
	OUT owner bigint,
	OUT level integer,
	OUT right_link bigint,
	OUT sealed boolean,
	OUT body_bytes integer,
	OUT free_bytes integer,
	OUT items bigint,
	OUT dead_items bigint,
	OUT leaf_blocks integer,
	OUT keys integer,
	OUT key_bytes integer,
	OUT tid_bytes integer,
	OUT include_bytes integer,
	OUT codecs jsonb,
	OUT low bytea,
	OUT high bytea)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_page_stats(regclass, bigint) IS
'what a page of a surfidx index is and holds';

CREATE FUNCTION surfidx_page_items(
	index regclass,
	block bigint,
	OUT item integer,
	OUT leaf_block integer,
	OUT key bytea,
	OUT data text,
	OUT tid tid,
	OUT include bytea,
	OUT dead boolean,
	OUT child bigint,
	OUT entries bigint,
	OUT filter bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_page_items(regclass, bigint) IS
'the entries of a leaf or a log page of a surfidx index, or the children of an inner page';

-- Indexes that exist change their access method

CREATE FUNCTION surfidx_convert(
	relation regclass DEFAULT NULL,
	schema regnamespace DEFAULT NULL,
	method name DEFAULT 'surfidx',
	dry_run boolean DEFAULT true,
	OUT schemaname name,
	OUT relname name,
	OUT indexrelname name,
	OUT indexrelid oid,
	OUT statement text,
	OUT remark text)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_convert(regclass, regnamespace, name, boolean) IS
'the statements that make surfidx indexes of a table''s or schema''s btrees, or btrees of surfidx indexes; not as a dry run: a worker runs them';

CREATE FUNCTION surfidx_convert_swap(index regclass)
RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_convert_swap(regclass) IS
'exchanges an index and the twin that surfidx_convert() has named for it';

-- Advice: what btree indexes would weigh

CREATE FUNCTION surfidx_estimate(
	btree regclass,
	OUT btree_bytes bigint,
	OUT entries bigint,
	OUT surfidx_bytes bigint,
	OUT ordered_bytes boolean,
	OUT sampled bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_estimate(regclass) IS
'what a btree index would weigh as surfidx, from a sample of its pages';

CREATE FUNCTION surfidx_estimate_cut(btree regclass)
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_estimate_cut(regclass) IS
'what a btree index would weigh as surfidx with keys = cut; NULL: its keys cannot be cut';

CREATE FUNCTION surfidx_statement(index regclass, name name)
RETURNS text
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_statement(regclass, name) IS
'the statement that makes a surfidx index of that name of what a btree index has; NULL: a column has no operator class';

CREATE FUNCTION surfidx_advise_nothing(min_bytes bigint)
RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION surfidx_advise_nothing(bigint) IS
'for surfidx_advise(): a notice that it has no index to advise on; false';

CREATE FUNCTION surfidx_advise(
	min_bytes bigint DEFAULT 1048576,
	OUT schemaname name,
	OUT relname name,
	OUT indexrelname name,
	OUT indexrelid oid,
	OUT btree_bytes bigint,
	OUT surfidx_bytes bigint,
	OUT ratio numeric,
	OUT entries bigint,
	OUT statement text,
	OUT remark text)
RETURNS SETOF record
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
BEGIN ATOMIC
	WITH candidate AS MATERIALIZED (
		SELECT n.nspname, t.relname, i.relname AS indexname, x.indexrelid AS indexid, x.indisreplident,
			pg_catalog.format('%I.%I', n.nspname, t.relname) AS on_table,
			k.contype, CASE WHEN k.conparentid = 0::oid THEN pg_catalog.quote_ident(k.conname::text) END AS con,
			EXISTS (SELECT FROM pg_catalog.pg_constraint c
				WHERE c.conindid = x.indexrelid AND c.confrelid = x.indrelid AND c.contype = 'f') AS is_target,
			t.relispartition AS is_partition,
			pg_catalog.current_setting('server_version_num'::text)::int4 < 180000 AS unique_stays,
			(pg_catalog.left(i.relname::text, 55) || '_surfidx')::name AS new_name,
			(SELECT pg_catalog.min(y.indexrelid::regclass::text)
				FROM pg_catalog.pg_index y JOIN pg_catalog.pg_class o ON o.oid = y.indexrelid
					JOIN pg_catalog.pg_am b ON b.oid = o.relam
				WHERE b.amname = 'surfidx' AND y.indrelid = x.indrelid AND y.indisvalid
					AND y.indnkeyatts = x.indnkeyatts AND y.indkey OPERATOR(pg_catalog.=) x.indkey
					AND y.indoption OPERATOR(pg_catalog.=) x.indoption
					AND y.indcollation = x.indcollation AND (y.indisunique OR NOT x.indisunique)
					AND pg_catalog.pg_get_expr(y.indexprs, y.indrelid)
						IS NOT DISTINCT FROM pg_catalog.pg_get_expr(x.indexprs, x.indrelid)
					AND pg_catalog.pg_get_expr(y.indpred, y.indrelid)
						IS NOT DISTINCT FROM pg_catalog.pg_get_expr(x.indpred, x.indrelid)) AS twin
		FROM pg_catalog.pg_index x
			JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
			JOIN pg_catalog.pg_class t ON t.oid = x.indrelid
			JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
			JOIN pg_catalog.pg_am a ON a.oid = i.relam
			LEFT JOIN pg_catalog.pg_constraint k
				ON k.conindid = x.indexrelid AND k.conrelid = x.indrelid AND k.contype IN ('p', 'u')
		WHERE a.amname = 'btree' AND i.relkind = 'i' AND x.indisvalid AND i.relpersistence <> 't'
			AND NOT (i.relpersistence = 'u' AND pg_catalog.pg_is_in_recovery())
			AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
			AND pg_catalog.pg_relation_size(x.indexrelid) >= min_bytes)
	SELECT a.* FROM (
		SELECT c.nspname, c.relname, c.indexname, c.indexid, e.btree_bytes, e.surfidx_bytes,
			pg_catalog.round(e.surfidx_bytes::numeric / nullif(e.btree_bytes, 0::int8)::numeric, 3), e.entries,
			CASE WHEN e.surfidx_bytes IS NOT NULL AND (c.contype IS NULL OR c.con IS NOT NULL) AND c.twin IS NULL THEN
				surfidx_statement(c.indexid::regclass, c.new_name) END,
			pg_catalog.concat_ws('; '::text,
				CASE WHEN e.surfidx_bytes IS NULL THEN
					'a column has no surfidx operator class: make one from its btree functions' END,
				'surfidx index ' || c.twin || ' has the same columns',
				CASE WHEN c.contype IS NOT NULL AND c.con IS NULL THEN
						'constraint of a partitioned table: goes and comes with that'
					WHEN c.contype IS NULL OR c.twin IS NOT NULL OR e.surfidx_bytes IS NULL THEN NULL
					WHEN NOT (c.is_partition AND c.unique_stays) THEN
						pg_catalog.format('a constraint: SELECT statement FROM %s(%L) has the statements that exchange it, '
							'and the table''s other btrees, beside readers and writers',
							'surfidx_convert'::regproc, c.on_table)
					ELSE
						CASE WHEN c.is_target THEN 'foreign keys refer to it, drop them first and add them again after; ' ELSE '' END ||
						pg_catalog.format('then ALTER TABLE %s DROP CONSTRAINT %s, ADD CONSTRAINT %2$s %s USING INDEX %I',
							c.on_table, c.con, CASE c.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, c.new_name) END,
				CASE WHEN c.indisreplident THEN 'replica identity: name the new index as one before dropping this one' END,
				CASE WHEN NOT e.ordered_bytes THEN
					'compared by a function, as text in the order of a language: keys = cut does nothing; '
					'text that only programs read is faster with COLLATE "C"' END,
				CASE WHEN e.surfidx_bytes >= 1048576::int8 AND c.twin IS NULL THEN
					(SELECT 'with keys = cut: ' || pg_catalog.pg_size_pretty(k.bytes) || ' in place of ' || pg_catalog.pg_size_pretty(e.surfidx_bytes)
					FROM surfidx_estimate_cut(c.indexid::regclass) k(bytes) WHERE k.bytes * 4::int8 < e.surfidx_bytes * 3::int8) END)
		FROM candidate c, LATERAL surfidx_estimate(c.indexid::regclass) e
		WHERE e.btree_bytes IS NOT NULL
		UNION ALL
		SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
		FROM surfidx_advise_nothing(min_bytes) f(said) WHERE NOT EXISTS (SELECT FROM candidate) AND f.said) a
	ORDER BY a.btree_bytes - a.surfidx_bytes DESC NULLS LAST, a.indexid;
END;

COMMENT ON FUNCTION surfidx_advise(bigint) IS
'for each btree index of at least so many bytes: its size, an estimate of what it would be as surfidx, and the statement to try it';

-- Health: which index needs somebody, why, and the statement that helps

CREATE FUNCTION surfidx_health(
	OUT schemaname name,
	OUT relname name,
	OUT indexrelname name,
	OUT indexrelid oid,
	OUT status text,
	OUT reason text,
	OUT statement text)
RETURNS SETOF record
LANGUAGE sql STRICT VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	WITH candidate AS MATERIALIZED (
		SELECT n.nspname, t.relname, c.relname AS indexname, i.indexrelid AS indexid, i.indisvalid, i.indisready,
			pg_catalog.format('%I.%I', n.nspname, c.relname) AS name,
			(SELECT CASE WHEN o.option_value ~ '^[0-9]+$' THEN o.option_value::int8 * 1024::int8
					WHEN o.option_value ~ '^\s*[0-9.]+\s*(kB|MB|GB|TB)\s*$' THEN pg_catalog.pg_size_bytes(o.option_value) END
				FROM pg_catalog.pg_options_to_table(c.reloptions) o
				WHERE o.option_name = 'delta_size') AS delta_size,
			c.reloptions::text ~ 'size_limit=' AS has_limit,
			-- of columns that its comparison function orders, the first collation of another version
			(SELECT pg_catalog.min(CASE WHEN v.coll = 'pg_catalog."default"'::regcollation THEN
					pg_catalog.format('the database''s collation has another version now; after the statement, ALTER '
						'DATABASE %I REFRESH COLLATION VERSION', d.datname)
					ELSE pg_catalog.format('collation %s has another version now; after the statement, ALTER COLLATION '
						'%s REFRESH VERSION', v.coll::regcollation, v.coll::regcollation) END)
				FROM ROWS FROM (pg_catalog.unnest(i.indcollation::oid[]), pg_catalog.unnest(i.indclass::oid[])) AS v(coll, opclass)
					JOIN pg_catalog.pg_opclass k ON k.oid = v.opclass
					JOIN pg_catalog.pg_collation l ON l.oid = v.coll
					JOIN pg_catalog.pg_database d ON d.datname = pg_catalog.current_database()
				WHERE k.opcname::text !~ '_pattern_ops$'
					AND CASE WHEN v.coll = 'pg_catalog."default"'::regcollation THEN
						d.datcollversion <> pg_catalog.pg_database_collation_actual_version(d.oid)
						ELSE l.collversion <> pg_catalog.pg_collation_actual_version(l.oid) END) AS changed
		FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_am a ON a.oid = c.relam
			JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
			JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE a.amname = 'surfidx' AND c.relkind = 'i' AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
			AND NOT (c.relpersistence = 'u' AND pg_catalog.pg_is_in_recovery())),
	measured AS (
		SELECT c.*, s.bytes, s.free_per_entry * s.entries AS free, k.size_limit, k.size, k.over_limit, k.cut_leaves < k.leaves AS some_whole,
			m.log_pages * pg_catalog.current_setting('block_size')::int8 AS delta,
			least(coalesce(c.delta_size, pg_catalog.pg_size_bytes(pg_catalog.current_setting('surfidx.delta_size'))),
				pg_catalog.pg_size_bytes(pg_catalog.current_setting('surfidx.delta_memory')) / 8::int8) AS delta_bound
		FROM candidate c
			CROSS JOIN LATERAL surfidx_stats(CASE WHEN c.indisready THEN c.indexid END, 100, false) s
			CROSS JOIN LATERAL surfidx_meta(CASE WHEN s.bytes IS NOT NULL THEN c.indexid END) m
			CROSS JOIN LATERAL surfidx_leaf_keys(CASE WHEN s.bytes IS NOT NULL AND c.has_limit THEN c.indexid END, 1) k
		-- not if it was dropped meanwhile
		WHERE NOT c.indisready OR s.bytes IS NOT NULL
			OR CASE WHEN s.bytes IS NULL THEN pg_catalog.pg_relation_size(c.indexid::regclass) IS NOT NULL END)
	SELECT m.nspname, m.relname, m.indexname, m.indexid, CASE WHEN f.reason IS NULL THEN 'ok' ELSE 'attention' END,
		f.reason, f.statement
	FROM measured m LEFT JOIN LATERAL (
		SELECT r.reason, r.statement
		FROM (VALUES
			(NOT m.indisvalid AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_progress_create_index p
					WHERE p.index_relid = m.indexid)
				-- REINDEX and DROP INDEX CONCURRENTLY hold it as long as they have work with it
				AND NOT EXISTS (SELECT FROM pg_catalog.pg_locks l
					JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = pg_catalog.current_database()
					WHERE l.relation = m.indexid AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted),
				1, 'it is invalid: what built it did not end',
				'REINDEX INDEX CONCURRENTLY ' || m.name),
			(m.indisready AND m.bytes IS NULL,
				2, 'it cannot be read: the warning says why',
				'REINDEX INDEX ' || m.name),
			(m.changed IS NOT NULL,
				3, m.changed,
				'REINDEX INDEX CONCURRENTLY ' || m.name),
			(m.delta > 2::int8 * m.delta_bound,
				4, pg_catalog.format('its delta has %s, where merges are due at %s%s', pg_catalog.pg_size_pretty(m.delta),
					pg_catalog.pg_size_pretty(m.delta_bound),
					CASE WHEN NOT pg_catalog.current_setting('surfidx.auto_merge')::bool THEN
						', and surfidx.auto_merge is off' END),
				pg_catalog.format('SELECT %s(%L)', 'surfidx_merge'::regproc, m.name)),
			(m.over_limit AND m.some_whole,
				5, pg_catalog.format('it has %s, more than its size_limit of %s, and leaves that are not cut',
					pg_catalog.pg_size_pretty(m.size), pg_catalog.pg_size_pretty(m.size_limit)),
				pg_catalog.format('SELECT %s(%L)', 'surfidx_merge'::regproc, m.name)),
			(m.over_limit,
				6, pg_catalog.format('it has %s, more than its size_limit of %s, although its leaves are cut',
					pg_catalog.pg_size_pretty(m.size), pg_catalog.pg_size_pretty(m.size_limit)),
				pg_catalog.format('ALTER INDEX %s SET (size_limit = ''%s kB'')', m.name, m.size / 1024::int8 * 5::int8 / 4::int8)),
			(m.free > 4194304::float8 AND m.free > 0.5::float8 * m.bytes::float8,
				7, pg_catalog.format('some %s of its %s are free', pg_catalog.pg_size_pretty(m.free::int8),
					pg_catalog.pg_size_pretty(m.bytes)),
				pg_catalog.format('SELECT %s(%L)', 'surfidx_merge'::regproc, m.name))
		) AS r(holds, n, reason, statement)
		WHERE r.holds
		ORDER BY r.n
		LIMIT 1) f ON true
	ORDER BY f.reason IS NULL, m.nspname, m.relname, m.indexname;
END;

COMMENT ON FUNCTION surfidx_health() IS
'for each surfidx index of this database ok or attention, the most urgent reason, and the statement that helps';

-- Tuning: what the counters say against an index's settings, as statements to try and to take back

CREATE FUNCTION surfidx_tune(
	min_bytes bigint DEFAULT 16777216,
	OUT schemaname name,
	OUT relname name,
	OUT indexrelname name,
	OUT indexrelid oid,
	OUT setting text,
	OUT current_value text,
	OUT proposed_value text,
	OUT reason text,
	OUT statement text,
	OUT revert text)
RETURNS SETOF record
LANGUAGE sql STRICT VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	WITH candidate AS MATERIALIZED (
		SELECT n.nspname, t.relname, c.relname AS indexname, i.indexrelid AS indexid,
			pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, i.indisready,
			p.idx_scan, p.idx_tup_read,
			-- bitmap scans count their rows at the table: where one index alone has such entries they are its own
			p.idx_tup_fetch + CASE WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_stat_all_indexes o
					WHERE o.relid = i.indrelid AND o.indexrelid <> i.indexrelid AND o.idx_tup_read > o.idx_tup_fetch) THEN
				least(pg_catalog.pg_stat_get_tuples_fetched(i.indrelid), p.idx_tup_read - p.idx_tup_fetch) ELSE 0::int8 END AS visited,
			(SELECT pg_catalog.jsonb_object_agg(o.option_name, o.option_value)
				FROM pg_catalog.pg_options_to_table(c.reloptions) o) AS given,
			-- keys are told apart by their bytes, and a row has all of them
			i.indexprs IS NULL AND i.indnatts = i.indnkeyatts AND NOT EXISTS (
				SELECT FROM ROWS FROM (pg_catalog.unnest(i.indcollation::oid[]), pg_catalog.unnest(i.indclass::oid[])) AS v(coll, opclass)
					JOIN pg_catalog.pg_opclass k ON k.oid = v.opclass
					LEFT JOIN pg_catalog.pg_collation l ON l.oid = v.coll
				WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_amproc f
						WHERE f.amprocfamily = k.opcfamily AND f.amproclefttype = k.opcintype AND f.amprocnum = 7::int2)
					OR (l.oid IS NOT NULL AND l.collname NOT IN ('C', 'POSIX', 'ucs_basic') AND NOT EXISTS (
						SELECT FROM pg_catalog.pg_database d WHERE l.collname = 'default'
							AND d.datname = pg_catalog.current_database() AND d.datcollate IN ('C', 'POSIX')))) AS can_cut
		FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_am a ON a.oid = c.relam
			JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
			JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			JOIN pg_catalog.pg_stat_all_indexes p ON p.indexrelid = i.indexrelid
		WHERE a.amname = 'surfidx' AND c.relkind = 'i' AND i.indisvalid AND c.relpersistence <> 't'
			AND NOT (c.relpersistence = 'u' AND pg_catalog.pg_is_in_recovery())
			AND pg_catalog.pg_relation_size(c.oid::regclass) >= min_bytes),
	measured AS (
		SELECT c.*, s.*, c.given ->> 'filter' AS filter, c.given ->> 'keys' AS keys, c.given ->> 'size_limit' AS size_limit,
			CASE WHEN c.given ->> 'delta_size' ~ '^[0-9]+$' THEN (c.given ->> 'delta_size')::int8 * 1024::int8
				-- (a parameter may be written in ways that the function does not know)
				WHEN c.given ->> 'delta_size' ~ '^\s*[0-9.]+\s*(kB|MB|GB|TB)\s*$' THEN pg_catalog.pg_size_bytes(c.given ->> 'delta_size')
				ELSE pg_catalog.pg_size_bytes(pg_catalog.current_setting('surfidx.delta_size')) END AS delta_size,
			pg_catalog.pg_size_bytes(pg_catalog.current_setting('surfidx.delta_memory')) / 8::int8 AS delta_most,
			CASE WHEN c.given ->> 'merge_ratio' ~ '^[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$' THEN (c.given ->> 'merge_ratio')::numeric
				ELSE pg_catalog.current_setting('surfidx.merge_ratio')::numeric END AS merge_ratio,
			-- bytes of log and entries that a merge has taken, on average
			s.merge_bytes::numeric / greatest(s.write_amplification - 1::numeric, 0.001) / nullif(s.merges, 0::int8)::numeric AS delta_bytes,
			s.merged_entries::numeric / nullif(s.merges, 0::int8)::numeric AS delta_entries_merged,
			-- merges of so many times the entries write less than eight bytes for each
			CASE WHEN s.merges >= 10::int8 AND s.write_amplification > 8::numeric THEN pg_catalog.power(2::numeric,
				pg_catalog.ceil(pg_catalog.log(2::numeric, (s.write_amplification - 1::numeric) / 7::numeric))) END AS times
		FROM candidate c
			CROSS JOIN LATERAL (SELECT x.bytes, x.entries, x.merges, x.merged_entries, x.merge_bytes,
					x.write_amplification::numeric AS write_amplification, x.filters_asked, x.filters_denied
				FROM surfidx_stats(CASE WHEN c.indisready THEN c.indexid END, 100, false) x) s
		WHERE s.bytes IS NOT NULL)
	SELECT m.nspname, m.relname, m.indexname, m.indexid, r.setting, r.now, r.proposed, r.reason,
		CASE WHEN r.proposed IS NULL THEN pg_catalog.format('ALTER INDEX %s RESET (%s)', m.name, r.setting)
			ELSE pg_catalog.format('ALTER INDEX %s SET (%s = %L)', m.name, r.setting, r.proposed) END,
		CASE WHEN m.given ->> r.setting IS NULL THEN pg_catalog.format('ALTER INDEX %s RESET (%s)', m.name, r.setting)
			ELSE pg_catalog.format('ALTER INDEX %s SET (%s = %L)', m.name, r.setting, m.given ->> r.setting) END
	FROM measured m CROSS JOIN LATERAL (VALUES
		(m.times > 1::numeric AND m.delta_bytes >= m.delta_size::numeric * 0.5 AND m.delta_size * 2::int8 <= m.delta_most,
			'delta_size', (m.delta_size / 1024::int8)::text || ' kB',
			(least(m.delta_size * m.times::int8, m.delta_most) / 1024::int8)::text || ' kB',
			pg_catalog.format('merges write %s bytes for each one that is inserted: the larger the delta, the fewer',
				pg_catalog.round(m.write_amplification, 1))),
		(m.times > 1::numeric AND m.delta_bytes < m.delta_size::numeric * 0.5
				AND m.delta_entries_merged >= m.merge_ratio * m.entries::numeric * 0.5 AND m.merge_ratio <= 0.2,
			'merge_ratio', m.merge_ratio::text, pg_catalog.trim_scale(least(m.merge_ratio * m.times, 0.4))::text,
			pg_catalog.format('merges of %s entries write %s bytes for each one that is inserted: the larger the delta, the fewer',
				pg_catalog.round(m.delta_entries_merged), pg_catalog.round(m.write_amplification, 1))),
		(coalesce(m.filter, 'none') = 'none' AND m.keys IS DISTINCT FROM 'cut' AND m.size_limit IS NULL
				AND m.idx_scan >= 10000::int8 AND m.idx_tup_read < m.idx_scan / 10::int8
				AND m.bytes > pg_catalog.pg_size_bytes(pg_catalog.current_setting('shared_buffers')),
			'filter', 'none', 'bloom',
			pg_catalog.format('%s scans have found %s entries, and it is larger than shared_buffers: a filter spares leaves',
				m.idx_scan, m.idx_tup_read)),
		(m.filter <> 'none' AND m.filters_asked >= 10000::int8 AND m.filters_denied < m.filters_asked / 10::int8,
			'filter', m.filter, NULL,
			pg_catalog.format('its filters have spared %s leaves of %s', m.filters_denied, m.filters_asked)),
		(m.can_cut AND m.keys IS NULL AND m.size_limit IS NULL AND coalesce(m.filter, 'none') = 'none'
				AND pg_catalog.current_setting('surfidx.keys') = 'full'
				AND pg_catalog.current_setting('surfidx.size_budget') = '0'
				AND m.idx_tup_read >= 10000::int8 AND m.visited >= m.idx_tup_read - m.idx_tup_read / 20::int8,
			'keys', 'full', 'cut',
			pg_catalog.format('scans have visited the rows of %s in %s entries anyway, so they need no keys',
				m.visited, m.idx_tup_read))
	) AS r(holds, setting, now, proposed, reason)
	WHERE r.holds
	ORDER BY m.bytes DESC, m.name, r.setting;
END;

COMMENT ON FUNCTION surfidx_tune(bigint) IS
'what the counters of surfidx indexes of at least so many bytes say against their settings: a row for each proposal, with the statements that apply and revert it';

-- Without the library at server start all this is there, and no index can be made

CREATE FUNCTION surfidx_preload_warning() RETURNS void AS 'MODULE_PATHNAME' LANGUAGE C;
SELECT surfidx_preload_warning();
DROP FUNCTION surfidx_preload_warning();

-- Privileges: sizes and counts are for roles that may see those of other indexes (pg_monitor is among them), pages that
-- show keys for roles that may read files, and what takes long or changes something for the owner or the superuser

REVOKE ALL ON FUNCTION surfidx_stats(regclass, integer, boolean), surfidx_leaf_keys(regclass, integer), surfidx_budget(),
	surfidx_meta(regclass), surfidx_runs(regclass), surfidx_dictionaries(regclass), surfidx_filters(regclass),
	surfidx_page_stats(regclass, bigint), surfidx_page_items(regclass, bigint), surfidx_check(regclass, boolean, boolean),
	surfidx_check_all(boolean, boolean), surfidx_estimate(regclass), surfidx_estimate_cut(regclass), surfidx_advise(bigint),
	surfidx_health(), surfidx_tune(bigint), surfidx_mirror_btree() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION surfidx_stats(regclass, integer, boolean), surfidx_leaf_keys(regclass, integer), surfidx_budget(),
	surfidx_meta(regclass), surfidx_runs(regclass), surfidx_dictionaries(regclass), surfidx_filters(regclass),
	surfidx_estimate(regclass), surfidx_estimate_cut(regclass), surfidx_advise(bigint), surfidx_health(), surfidx_tune(bigint)
	TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION surfidx_meta(regclass), surfidx_runs(regclass), surfidx_dictionaries(regclass),
	surfidx_filters(regclass), surfidx_page_stats(regclass, bigint), surfidx_page_items(regclass, bigint)
	TO pg_read_server_files;
GRANT SELECT ON surfidx_stat_indexes TO pg_stat_scan_tables;
GRANT SELECT ON surfidx_stat_progress_merge TO PUBLIC;
