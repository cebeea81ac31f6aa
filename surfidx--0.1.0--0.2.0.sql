/* surfidx--0.1.0--0.2.0.sql */

-- complain if script is sourced in psql rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION surfidx UPDATE TO '0.2.0'" to load this file. \quit

-- There was no release 0.1.0, only builds that called themselves that: from each of them this leads to the same 0.2.0.
-- Some had surfidx_shared_memory() not yet, some surfidx_convert() already.

-- Builds sort by themselves

DROP OPERATOR FAMILY IF EXISTS surfidx_sort_ops USING btree;
DROP OPERATOR IF EXISTS <#< (internal, internal);
DROP FUNCTION IF EXISTS surfidx_sort_less(internal, internal);
DROP FUNCTION IF EXISTS surfidx_sort_support(internal);

-- What the server's btree has besides, which a later server may have more of

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
		FOR cls IN
			SELECT opcname, opcdefault, opcintype FROM pg_opclass c
			WHERE opcfamily = fam.oid AND opcnamespace = 'pg_catalog'::regnamespace
				AND NOT EXISTS (SELECT FROM pg_opclass x
					WHERE x.opcmethod = own AND x.opcnamespace = target AND x.opcname = c.opcname)
			ORDER BY opcdefault DESC, opcname
		LOOP
			-- what the family has already it shares: a second class on a type, the members of the first
			members := (SELECT string_agg(item, ', ' ORDER BY kind, number) FROM (
				SELECT 1 AS kind, amopstrategy AS number,
					format('OPERATOR %s %s', amopstrategy, amopopr::regoperator) AS item
				FROM pg_amop o WHERE amopfamily = fam.oid
					AND amoplefttype = cls.opcintype AND amoprighttype = cls.opcintype
					AND NOT EXISTS (SELECT FROM pg_amop x
						WHERE x.amopfamily = mine AND x.amoplefttype = o.amoplefttype
							AND x.amoprighttype = o.amoprighttype AND x.amopstrategy = o.amopstrategy)
				UNION ALL
				SELECT 2, amprocnum,
					format('FUNCTION %s (%s, %s) %s', amprocnum, amproclefttype::regtype,
						amprocrighttype::regtype, amproc::regprocedure)
				FROM pg_amproc p WHERE amprocfamily = fam.oid
					AND amproclefttype = cls.opcintype AND amprocrighttype = cls.opcintype
					AND NOT EXISTS (SELECT FROM pg_amproc x
						WHERE x.amprocfamily = mine AND x.amproclefttype = p.amproclefttype
							AND x.amprocrighttype = p.amprocrighttype AND x.amprocnum = p.amprocnum)) m);
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
					AND x.amprocrighttype = p.amprocrighttype AND x.amprocnum = p.amprocnum)) m;
		IF members IS NOT NULL THEN
			EXECUTE format('ALTER OPERATOR FAMILY %s.%I USING surfidx ADD %s', place, fam.opfname, members);
			added := format('members of OPERATOR FAMILY %s.%I USING surfidx', place, fam.opfname);
			RETURN NEXT;
		END IF;
	END LOOP;

	-- Encodings of types that only later servers have.  They decide how keys are stored: never behind an index's back.
	FOR cls IN
		SELECT c.oid, f.opfname, c.opcintype::regtype AS type, e.encoding
		FROM (VALUES ('oid8_ops', 'surfidx_enc_xid8')) AS e (class, encoding)
			JOIN pg_opclass c ON c.opcmethod = own AND c.opcnamespace = target AND c.opcname = e.class
			JOIN pg_opfamily f ON f.oid = c.opcfamily
		WHERE NOT EXISTS (SELECT FROM pg_amproc p WHERE p.amprocfamily = f.oid AND p.amproclefttype = c.opcintype
				AND p.amprocnum = 7)
			AND NOT EXISTS (SELECT FROM pg_index WHERE c.oid = ANY (indclass))
	LOOP
		EXECUTE format('ALTER OPERATOR FAMILY %1$s.%2$I USING surfidx ADD FUNCTION 7 (%3$s, %3$s) %1$s.%4$s(internal)',
			place, cls.opfname, cls.type, cls.encoding);
	END LOOP;
END
$mirror$;

COMMENT ON FUNCTION surfidx_mirror_btree() IS
'adds operator families, classes and members that the server''s btree has and surfidx has not: for a database that pg_upgrade brought to a newer server';

SELECT surfidx_mirror_btree();

-- New since, or since some build

CREATE OR REPLACE FUNCTION surfidx_shared_memory(
	OUT name text,
	OUT places bigint,
	OUT used bigint,
	OUT taken bigint,
	OUT evicted bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION surfidx_shared_memory() IS
'tables of surfidx in shared memory: places, those in use, those taken so far, and those taken from others';

CREATE OR REPLACE FUNCTION surfidx_convert(
	relation regclass DEFAULT NULL,
	schema regnamespace DEFAULT NULL,
	method name DEFAULT 'surfidx',
	dry_run boolean DEFAULT true,
	OUT table_name regclass,
	OUT index_name regclass,
	OUT statement text,
	OUT remark text)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_convert(regclass, regnamespace, name, boolean) IS
'the statements that make surfidx indexes of a table''s or schema''s btrees, or btrees of surfidx indexes; not as a dry run: a worker runs them';

CREATE OR REPLACE FUNCTION surfidx_convert_swap(index regclass)
RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_convert_swap(regclass) IS
'exchanges an index and the twin that surfidx_convert() has named for it';

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

CREATE OR REPLACE FUNCTION surfidx_advise(
	min_bytes bigint DEFAULT 1048576,
	OUT table_name regclass,
	OUT index_name regclass,
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
		SELECT x.indrelid AS tableid, x.indexrelid AS indexid, x.indisreplident,
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
	SELECT c.tableid::regclass, c.indexid::regclass, e.btree_bytes, e.surfidx_bytes,
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
					CASE WHEN c.is_target THEN 'foreign keys refer to it, drop them before and add them behind; ' ELSE '' END ||
					pg_catalog.format('then ALTER TABLE %s DROP CONSTRAINT %s, ADD CONSTRAINT %2$s %s USING INDEX %I',
						c.on_table, c.con, CASE c.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, c.new_name) END,
			CASE WHEN c.indisreplident THEN 'replica identity: name the new index as one before dropping this one' END,
			CASE WHEN NOT e.ordered_bytes THEN
				'comparator key space: larger and slower than with ordered bytes (for text: COLLATE "C")' END,
			CASE WHEN e.surfidx_bytes >= 1048576::int8 AND c.twin IS NULL THEN
				(SELECT 'with keys = cut: ' || pg_catalog.pg_size_pretty(k.bytes) || ' in place of ' || pg_catalog.pg_size_pretty(e.surfidx_bytes)
				FROM surfidx_estimate_cut(c.indexid::regclass) k(bytes) WHERE k.bytes * 4::int8 < e.surfidx_bytes * 3::int8) END)
	FROM candidate c, LATERAL surfidx_estimate(c.indexid::regclass) e
	ORDER BY e.btree_bytes - e.surfidx_bytes DESC NULLS LAST, c.indexid;
END;

COMMENT ON FUNCTION surfidx_advise(bigint) IS
'for each btree index of at least so many bytes: its size, an estimate of what it would be as surfidx, and the statement to try it';

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

REVOKE ALL ON FUNCTION surfidx_leaf_keys(regclass, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION surfidx_leaf_keys(regclass, integer) TO pg_stat_scan_tables;

-- pg_monitor sees of these indexes what it sees of others

GRANT EXECUTE ON FUNCTION surfidx_meta(regclass) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION surfidx_runs(regclass) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION surfidx_dictionaries(regclass) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION surfidx_filters(regclass) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION surfidx_estimate(regclass) TO pg_stat_scan_tables;
REVOKE ALL ON FUNCTION surfidx_estimate_cut(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION surfidx_estimate_cut(regclass) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION surfidx_advise(bigint) TO pg_stat_scan_tables;
REVOKE ALL ON FUNCTION surfidx_mirror_btree() FROM PUBLIC;
