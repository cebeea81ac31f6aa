-- Types of contrib modules, through operator classes made from btree's; a module that is not installed is not tested
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
-- The statement that a user would write, for every default btree class of an extension.
CREATE FUNCTION adopt_classes(ext text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	cls record;
BEGIN
	FOR cls IN SELECT c.oid, c.opcname, c.opcintype, c.opcfamily FROM pg_opclass c JOIN pg_depend d ON d.objid = c.oid AND d.classid = 'pg_opclass'::regclass
			JOIN pg_extension e ON e.oid = d.refobjid JOIN pg_am a ON a.oid = opcmethod
			WHERE e.extname = ext AND amname = 'btree' AND opcdefault
	LOOP
		EXECUTE format('CREATE OPERATOR CLASS %I DEFAULT FOR TYPE %s USING surfidx AS %s', cls.opcname, cls.opcintype::regtype,
			(SELECT string_agg(item, ', ') FROM (
				SELECT format('OPERATOR %s %s', amopstrategy, amopopr::regoperator) AS item FROM pg_amop
				WHERE amopfamily = cls.opcfamily AND amoplefttype = cls.opcintype AND amoprighttype = cls.opcintype
				UNION ALL SELECT format('FUNCTION %s %s', amprocnum, amproc::regprocedure) FROM pg_amproc
				WHERE amprocfamily = cls.opcfamily AND amproclefttype = cls.opcintype AND amprocrighttype = cls.opcintype) m));
	END LOOP;
END $$;

CREATE FUNCTION compare_extension(ext text, source text, literals text[], ops text[] DEFAULT '{<,<=,=,>=,>}')
RETURNS TABLE (def text, state text, mode text, query text, complaint text) LANGUAGE plpgsql SET client_min_messages = warning AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = ext) THEN
		RETURN;
	END IF;
	EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I', ext);
	PERFORM adopt_classes(ext);
	PERFORM make_source('con', source, ops[1]);
	RETURN QUERY SELECT * FROM compare_type('con', literals, ops => ops);
	DROP TABLE con;
	EXECUTE format('DROP EXTENSION %I CASCADE', ext);
END $$;

SELECT * FROM compare_extension('citext', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 2 = 0 THEN upper('w' || i * 7 % 91) ELSE 'w' || i * 7 % 91 END::citext
	FROM generate_series(1, 200) i$$, '{"",W17,w17,w5,z}');
SELECT * FROM compare_extension('ltree', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE format('top.a%s.b%s', i % 9, i * 7 % 31) END::ltree
	FROM generate_series(1, 160) i$$, '{"",top,top.a3,top.a3.b7,top.z}');
SELECT * FROM compare_extension('hstore', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE format('k%s=>%s, l=>NULL', i % 9, i * 7 % 31) END::hstore
	FROM generate_series(1, 160) i$$, '{"",k3=>5,"k3=>3, l=>NULL"}', '{#<#,#<=#,=,#>=#,#>#}');
SELECT * FROM compare_extension('seg', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE format('%s.%s .. %s', i % 9, i % 7, i % 9 + i % 3 + 1) END::seg
	FROM generate_series(1, 160) i$$, '{0,"3.1 .. 5","3.10 .. 5.0",9}');
SELECT * FROM compare_extension('cube', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE cube(ARRAY[i % 9, i * 7 % 31]::float8[], ARRAY[i % 5, 9]::float8[]) END
	FROM generate_series(1, 160) i$$, '{"(0)","(3,4)","(3, 17),(8, 9)","(9,9)"}');
SELECT * FROM compare_extension('isn', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE ('978' || lpad((i * 7919 % 100000)::text, 9, '0') || '0!')::isbn13 END
	FROM generate_series(1, 160) i$$, '{9780000000002,9780000395030!,9780000999990!}');
DROP FUNCTION compare_extension, adopt_classes;
-- Tools that know btree's pages refuse: amcheck, pageinspect, pgstattuple (surfidx_check, surfidx_page_stats and surfidx_meta are ours)
CREATE TABLE looked_at AS SELECT generate_series(1, 100) AS k;
CREATE INDEX looked_at_k ON looked_at USING surfidx (k);
CREATE FUNCTION refuses(ext text, statement text) RETURNS text LANGUAGE plpgsql SET client_min_messages = warning AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = ext) THEN
		RETURN NULL;
	END IF;
	EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I', ext);
	EXECUTE statement;
	RETURN statement || ' is not refused';
EXCEPTION WHEN feature_not_supported OR wrong_object_type OR invalid_parameter_value OR object_not_in_prerequisite_state THEN
	RETURN NULL;
END $$;
SELECT r FROM (VALUES ('amcheck', 'SELECT bt_index_check(''looked_at_k'')'), ('amcheck', 'SELECT bt_index_parent_check(''looked_at_k'')'),
	('pageinspect', 'SELECT * FROM bt_metap(''looked_at_k'')'), ('pageinspect', 'SELECT * FROM bt_page_stats(''looked_at_k'', 3)'),
	('pgstattuple', 'SELECT * FROM pgstatindex(''looked_at_k''::regclass)'), ('pgstattuple', 'SELECT * FROM pgstattuple(''looked_at_k''::regclass)')) v (ext, q), refuses(ext, q) r WHERE r IS NOT NULL;
DROP TABLE looked_at;
DROP FUNCTION refuses;
