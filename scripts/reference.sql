-- docs/reference.md, from the comments in the catalog and the descriptions of the settings:
-- scripts/reference.sh.  Where the extension is, and what the server's version is, makes no difference.
\pset format unaligned
\pset tuples_only on
BEGIN;
SELECT pg_catalog.set_config('search_path', 'pg_catalog', true) \gset ignored_
CREATE FUNCTION pg_temp.inputs(function oid) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(concat_ws(' ', CASE a.mode WHEN 'v' THEN 'VARIADIC' END, a.name, format_type(a.type, NULL))
			|| coalesce(' DEFAULT ' || regexp_replace(pg_get_function_arg_default(p.oid, a.n::int4), '::\w+$', ''), ''),
			', ' ORDER BY a.n), '')
	FROM pg_proc p, ROWS FROM (unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])), unnest(p.proargnames),
		unnest(p.proargmodes)) WITH ORDINALITY AS a(type, name, mode, n)
	WHERE p.oid = function AND a.type IS NOT NULL AND coalesce(a.mode, 'i') <> 'o'
$$;
CREATE FUNCTION pg_temp.result(function oid) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN count(a.name) FILTER (WHERE a.mode = 'o') = 0 THEN format_type(p.prorettype, NULL)
		ELSE CASE WHEN p.proretset THEN 'rows of ' ELSE '' END
			|| string_agg('`' || a.name || '`', ', ' ORDER BY a.n) FILTER (WHERE a.mode = 'o') END
	FROM pg_proc p LEFT JOIN ROWS FROM (unnest(p.proargnames), unnest(p.proargmodes)) WITH ORDINALITY AS a(name, mode, n) ON true
	WHERE p.oid = function
	GROUP BY p.oid
$$;
\echo '# Reference'
\echo
\echo 'What `\\dx+ surfidx`, `\\df+` and `pg_settings` tell, too: this page is made from there by'
\echo '`scripts/reference.sh` of the sources. [What the settings are for, and the storage'
\echo 'parameters](parameters.md); [what monitoring functions return](monitoring.md).'
\echo
\echo '## Functions'
\echo
\echo '| function | returns | what it does |'
\echo '|---|---|---|'
SELECT format('| `%s(%s)` | %s | %s |', p.proname, pg_temp.inputs(p.oid), pg_temp.result(p.oid), d.description)
FROM pg_depend e
	JOIN pg_extension x ON x.oid = e.refobjid AND x.extname = 'surfidx'
	JOIN pg_proc p ON p.oid = e.objid
	JOIN pg_description d ON d.objoid = p.oid AND d.classoid = 'pg_proc'::regclass
WHERE e.classid = 'pg_proc'::regclass AND e.refclassid = 'pg_extension'::regclass AND e.deptype = 'e'
ORDER BY p.proname, pg_temp.inputs(p.oid) COLLATE "C";
\echo
\echo '## Views'
\echo
\echo '| view | columns | what it shows |'
\echo '|---|---|---|'
SELECT format('| `%s` | %s | %s |', c.relname,
	(SELECT string_agg('`' || a.attname || '`', ', ' ORDER BY a.attnum) FROM pg_attribute a
		WHERE a.attrelid = c.oid AND a.attnum > 0), d.description)
FROM pg_depend e
	JOIN pg_extension x ON x.oid = e.refobjid AND x.extname = 'surfidx'
	JOIN pg_class c ON c.oid = e.objid AND c.relkind = 'v'
	JOIN pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
WHERE e.classid = 'pg_class'::regclass AND e.refclassid = 'pg_extension'::regclass AND e.deptype = 'e'
ORDER BY c.relname;
\echo
\echo '## Settings'
\echo
\echo '| setting | default | changed by | what it is |'
\echo '|---|---|---|---|'
SELECT format('| `%s` | %s | %s | %s |', name,
	CASE WHEN unit IN ('kB', '8kB') THEN pg_size_pretty(boot_val::int8 * CASE unit WHEN 'kB' THEN 1024 ELSE 8192 END)
		ELSE concat_ws(' ', boot_val, unit) END,
	CASE context WHEN 'postmaster' THEN 'restart' WHEN 'sighup' THEN 'reload' WHEN 'user' THEN 'anybody' WHEN 'internal' THEN 'nobody' ELSE context END,
	concat_ws(' ', short_desc, extra_desc))
FROM pg_settings
WHERE name LIKE 'surfidx.%'
ORDER BY name COLLATE "C";
ROLLBACK;
