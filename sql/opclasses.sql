-- Operator classes, storage parameters, settings and the errors of CREATE INDEX; then every class's order,
-- operators and index-only values, ascending and descending, from the tree and from the delta.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET max_parallel_workers_per_gather = 0;
SET surfidx.auto_merge = off;
\pset null NULL

--
-- The catalogs: what btree has, under the same names
--
SELECT opcname, opcintype::regtype, opcdefault, amvalidate(c.oid)
FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'surfidx' AND opcname <> 'oid8_ops' ORDER BY 1;
-- oid8 came with 19
SELECT count(*) = (to_regtype('oid8') IS NOT NULL)::int AS oid8
FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'surfidx' AND opcname = 'oid8_ops' AND opcdefault AND amvalidate(c.oid);

CREATE TEMP VIEW opc_members AS
SELECT amname, opfname, 'operator' AS kind, amopstrategy AS num, amoplefttype::regtype AS l,
	amoprighttype::regtype AS r, amopopr::regoperator::text AS member
FROM pg_amop o JOIN pg_opfamily f ON f.oid = amopfamily JOIN pg_am a ON a.oid = opfmethod
UNION ALL
SELECT amname, opfname, 'function', amprocnum, amproclefttype::regtype, amprocrighttype::regtype, amproc::regprocedure::text
FROM pg_amproc p JOIN pg_opfamily f ON f.oid = amprocfamily JOIN pg_am a ON a.oid = opfmethod;

-- ours but not btree's: the byte encodings
SELECT opfname, kind, num, l, r, member FROM opc_members WHERE amname = 'surfidx' AND opfname <> 'oid8_ops'
EXCEPT SELECT opfname, kind, num, l, r, member FROM opc_members WHERE amname = 'btree' ORDER BY 1, 2, 3, 4, 5;
-- btree's but not ours (6 is skip support, of 18)
SELECT opfname, kind, num, l, r, member FROM opc_members WHERE amname = 'btree' AND (kind, num) <> ('function', 6) AND opfname <> 'surfidx_sort_ops'
EXCEPT SELECT opfname, kind, num, l, r, member FROM opc_members WHERE amname = 'surfidx' ORDER BY 1, 2, 3, 4, 5;
SELECT opcname, opcintype::regtype, opcdefault, opfname, opckeytype::regtype
FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod JOIN pg_opfamily f ON f.oid = opcfamily WHERE amname = 'btree' AND opcnamespace = 'pg_catalog'::regnamespace
EXCEPT SELECT opcname, opcintype::regtype, opcdefault, opfname, CASE opcname WHEN 'name_ops' THEN 'cstring'::regtype WHEN 'varchar_ops' THEN 0 ELSE opckeytype::regtype END
FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod JOIN pg_opfamily f ON f.oid = opcfamily WHERE amname = 'surfidx' ORDER BY 1;
-- A class of a later server that is not here has come along by itself (this test lists it above), and wants a test of its values.
SELECT opcname, opcintype::regtype FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'surfidx' AND opcname NOT IN (
	'array_ops', 'bit_ops', 'bool_ops', 'bpchar_ops', 'bpchar_pattern_ops', 'bytea_ops', 'char_ops', 'cidr_ops', 'date_ops', 'enum_ops', 'float4_ops', 'float8_ops', 'inet_ops',
	'int2_ops', 'int4_ops', 'int8_ops', 'interval_ops', 'jsonb_ops', 'macaddr8_ops', 'macaddr_ops', 'money_ops', 'multirange_ops', 'name_ops', 'numeric_ops', 'oid8_ops', 'oid_ops', 'oidvector_ops',
	'pg_lsn_ops', 'range_ops', 'record_image_ops', 'record_ops', 'text_ops', 'text_pattern_ops', 'tid_ops', 'time_ops', 'timestamp_ops', 'timestamptz_ops', 'timetz_ops',
	'tsquery_ops', 'tsvector_ops', 'uuid_ops', 'varbit_ops', 'varchar_ops', 'varchar_pattern_ops', 'xid8_ops');
-- Each makes an index that takes a row; those of types that are not a column's are in the tests of arrays, enums, ranges and records.
DO $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT opcname, opcintype::regtype AS t FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod JOIN pg_type ON pg_type.oid = opcintype WHERE amname = 'surfidx' AND typtype <> 'p' LOOP
		EXECUTE format('CREATE TABLE opc_each (v %s)', c.t);
		EXECUTE format('CREATE INDEX opc_each_v ON opc_each USING surfidx (v %I)', c.opcname);
		INSERT INTO opc_each VALUES (NULL);
		PERFORM surfidx_merge('opc_each_v'), surfidx_check('opc_each_v', true, true);
		DROP TABLE opc_each;
	END LOOP;
END $$;

--
-- Properties
--
CREATE TABLE opc (a int, t text COLLATE "C", n numeric);
INSERT INTO opc VALUES (1, 'one', 1.0), (2, NULL, NULL);
CREATE INDEX opc_a ON opc USING surfidx (a);
SELECT p, pg_indexam_has_property(a.oid, p), pg_index_has_property('opc_a'::regclass, p),
	pg_index_column_has_property('opc_a'::regclass, 1, p)
FROM pg_am a, unnest(ARRAY['can_order', 'can_unique', 'can_multi_col', 'can_exclude', 'can_include', 'clusterable',
	'index_scan', 'bitmap_scan', 'backward_scan', 'asc', 'nulls_last', 'orderable', 'distance_orderable', 'returnable',
	'search_array', 'search_nulls']) WITH ORDINALITY AS u (p, n)
WHERE amname = 'surfidx' ORDER BY n;

--
-- Storage parameters and settings
--
CREATE INDEX opc_opt ON opc USING surfidx (a) WITH (delta_size = 64, merge_ratio = 0.5, fillfactor = 90, deduplicate_items = off);
SELECT reloptions FROM pg_class WHERE relname = 'opc_opt';
ALTER INDEX opc_opt SET (delta_size = 128);
ALTER INDEX opc_opt RESET (merge_ratio, fillfactor);
SELECT reloptions FROM pg_class WHERE relname = 'opc_opt';
ALTER INDEX opc_opt SET (delta_size = 63);
ALTER INDEX opc_opt SET (merge_ratio = 11);
ALTER INDEX opc_opt SET (fillfactor = 9);
ALTER INDEX opc_opt SET (buffering = on);
CREATE INDEX ON opc USING surfidx (a) WITH (delta_siez = 64);
SELECT name, boot_val, unit, context, vartype, min_val, max_val FROM pg_settings WHERE name LIKE 'surfidx.%' ORDER BY name;
SET surfidx.delta_siez = 1;

--
-- What cannot be indexed: another type's class, a comparison function that is not written in C
--
CREATE INDEX ON opc USING surfidx (a text_ops);
CREATE FUNCTION opc_cmp(int4, int4) RETURNS int4 LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN btint4cmp($1, $2); END $$;
CREATE OPERATOR CLASS opc_plpgsql FOR TYPE int4 USING surfidx AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 opc_cmp(int4, int4);
CREATE TABLE opc_slow (i int4);
CREATE INDEX ON opc_slow USING surfidx (i opc_plpgsql);
DROP OPERATOR FAMILY opc_plpgsql USING surfidx;
DROP TABLE opc_slow;
DROP FUNCTION opc_cmp(int4, int4);

-- A class made of a comparison function alone: the comparator key space

CREATE OPERATOR CLASS opc_numeric FOR TYPE numeric USING surfidx AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 numeric_cmp(numeric, numeric), FUNCTION 2 numeric_sortsupport(internal);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'opc_numeric';
CREATE INDEX ON opc USING surfidx (a, n opc_numeric);
-- the class takes what it needs with it; the rest goes with the family
SELECT pg_describe_object(classid, objid, objsubid), deptype FROM pg_depend
WHERE refclassid = 'pg_opclass'::regclass AND refobjid = (SELECT oid FROM pg_opclass WHERE opcname = 'opc_numeric') ORDER BY 1;
ALTER OPERATOR FAMILY opc_numeric USING surfidx DROP FUNCTION 2 (numeric, numeric);
ALTER OPERATOR FAMILY opc_numeric USING surfidx ADD OPERATOR 1 < (int8, int4), FUNCTION 7 (int4, int4) btint4cmp(int4, int4);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'opc_numeric';
ALTER OPERATOR FAMILY opc_numeric USING surfidx ADD OPERATOR 6 < (int4, int4);
ALTER OPERATOR FAMILY opc_numeric USING surfidx ADD FUNCTION 8 (int4, int4) btint4cmp(int4, int4);
DROP OPERATOR FAMILY opc_numeric USING surfidx CASCADE;

-- too large: as one column, as several, with INCLUDE columns; what btree takes fits, and what can be compressed
CREATE FUNCTION opc_text(n int) RETURNS text LANGUAGE sql AS
	$$ SELECT substr(string_agg(md5(i::text), ''), 1, n) FROM generate_series(1, n / 32 + 1) i $$;
CREATE TABLE opc_large (i int, t text COLLATE "C", b bytea, u text, v text);
ALTER TABLE opc_large ALTER u SET STORAGE EXTERNAL;
INSERT INTO opc_large VALUES (1, opc_text(4212));
CREATE INDEX opc_large_t ON opc_large USING surfidx (t);
INSERT INTO opc_large VALUES (2, opc_text(4213));
INSERT INTO opc_large VALUES (2, opc_text(1000000));
DROP INDEX opc_large_t;
CREATE INDEX opc_large_t ON opc_large USING surfidx (i DESC, t);
CREATE INDEX opc_large_t ON opc_large USING surfidx (i, b) INCLUDE (u, v);
INSERT INTO opc_large VALUES (3, NULL, decode(repeat('01', 13440), 'hex'));
INSERT INTO opc_large VALUES (4, NULL, (SELECT string_agg(sha512(i::text::bytea), '') FROM generate_series(1, 50) i));
INSERT INTO opc_large VALUES (5, NULL, NULL, opc_text(2685));
INSERT INTO opc_large VALUES (6, NULL, NULL, opc_text(2686));
INSERT INTO opc_large VALUES (7, NULL, NULL, NULL, repeat('x', 100000));
DROP TABLE opc_large;

--
-- Every class: orders and operators against those of a sequential scan
--

-- 'ok' if a query gives the same, in the same order, by index and by sequential scan and sort.
-- (Core makes k of k = true, which it takes for an index condition with btree only before 18.)
CREATE FUNCTION opc_verdict(stmt text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	agg		text := 'SELECT array_agg(q::text) FROM (' || stmt || ') q';
	line	text;
	plan	text := '';
	want	text[];
	got		text[];
BEGIN
	SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_seqscan = on; SET LOCAL enable_sort = on;
	EXECUTE agg INTO want;
	SET LOCAL enable_indexscan = on; SET LOCAL enable_indexonlyscan = on;
	SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || agg LOOP
		plan := plan || line || E'\n';
	END LOOP;
	EXECUTE agg INTO got;
	IF plan !~ 'Index' OR plan ~ 'Sort'
		OR (stmt ~ 'WHERE' AND plan !~ 'Index Cond' AND stmt !~ '::bool') THEN
		RETURN stmt || E':\n' || plan;
	ELSIF got IS DISTINCT FROM want THEN
		RETURN stmt || ': ' || coalesce(cardinality(got), 0) || ' rows instead of ' || coalesce(cardinality(want), 0);
	END IF;
	RETURN 'ok';
END $$;

-- values, among them the extreme ones, each twice, and NULLs, half in the tree and half in the delta;
-- every operator against every value and some of other types
CREATE FUNCTION opc_try(typ text, vals text[], others text[] DEFAULT '{}') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	dir		text;
	op		text;
	val		text;
	failed	int := 0;
	tried	int := 0;
	v		text;
	step	int;
BEGIN
	FOREACH dir IN ARRAY ARRAY['ASC', 'DESC', 'ASC NULLS FIRST', 'DESC NULLS LAST'] LOOP
		EXECUTE 'CREATE TABLE opc_t (k ' || typ || ', n int)';
		EXECUTE 'INSERT INTO opc_t SELECT v::' || typ || ', n FROM unnest($1) WITH ORDINALITY u (v, n) UNION ALL SELECT NULL, 0' USING vals;
		EXECUTE 'CREATE INDEX ON opc_t USING surfidx (k ' || dir || ', n)';
		EXECUTE 'INSERT INTO opc_t SELECT v::' || typ || ', n + 1000 FROM unnest($1) WITH ORDINALITY u (v, n) UNION ALL SELECT NULL, 1' USING vals;
		FOR step IN 1 .. 2 LOOP
			v := opc_verdict('SELECT k, n FROM opc_t ORDER BY k ' || dir || ', n');
			tried := tried + 1;
			IF v <> 'ok' THEN failed := failed + 1; RETURN NEXT v; END IF;
			FOREACH op IN ARRAY ARRAY['<', '<=', '=', '>=', '>'] LOOP
				FOREACH val IN ARRAY (SELECT array_agg(quote_literal(x) || '::' || typ) FROM unnest(vals) x) || others LOOP
					v := opc_verdict('SELECT k, n FROM opc_t WHERE k ' || op || ' ' || val || ' ORDER BY k ' || dir || ', n');
					tried := tried + 1;
					IF v <> 'ok' THEN failed := failed + 1; RETURN NEXT v; END IF;
				END LOOP;
			END LOOP;
			PERFORM surfidx_merge('opc_t_k_n_idx');
		END LOOP;
		DROP TABLE opc_t;
	END LOOP;
	RETURN NEXT typ || ': ' || tried || ' tried, ' || failed || ' failed';
END $$;

SELECT opc_try('int2', '{-32768,-32767,-256,-1,0,1,255,256,32767}',
	'{-32769,32768::int4,0::int4,-2147483648,9223372036854775807,''-9223372036854775808''::int8,1::int8,-32768::int8}');
SELECT opc_try('int4', '{-2147483648,-65536,-1,0,1,65535,65536,2147483647}',
	'{1::int2,(-32768)::int2,0::int8,2147483648,-2147483649,9223372036854775807,''-9223372036854775808''::int8}');
SELECT opc_try('int8', '{-9223372036854775808,-4294967296,-1,0,1,4294967296,9223372036854775807}',
	'{1::int2,0::int4,-2147483648}');
SELECT opc_try('oid', '{0,1,2147483647,2147483648,4294967295}');
SELECT opc_try('bool', '{f,t}');
SELECT opc_try('"char"', '{"",a,b,~}');
SELECT opc_try('uuid', '{00000000-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000001,7fffffff-ffff-ffff-ffff-ffffffffffff,80000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}');
SELECT opc_try('macaddr', '{00:00:00:00:00:00,00:00:00:00:00:01,7f:ff:ff:ff:ff:ff,80:00:00:00:00:00,ff:ff:ff:ff:ff:ff}');
SELECT opc_try('macaddr8', '{00:00:00:00:00:00:00:00,00:00:00:00:00:00:00:01,7f:ff:ff:ff:ff:ff:ff:ff,80:00:00:00:00:00:00:00,ff:ff:ff:ff:ff:ff:ff:ff}');
SELECT opc_try('pg_lsn', '{0/0,0/1,7FFFFFFF/FFFFFFFF,80000000/0,FFFFFFFF/FFFFFFFF}');
SELECT opc_try('xid8', '{0,1,9223372036854775807,9223372036854775808,18446744073709551615}');
SELECT opc_try('time', '{00:00,00:00:00.000001,12:00,23:59:59.999999,24:00}');
SELECT opc_try('date', '{-infinity,4714-11-24 BC,1999-12-31,2000-01-01,2000-01-02,294276-12-31,294277-01-01,5874897-12-31,infinity}',
	'{"''-infinity''::timestamp","''4714-11-24 00:00:00.000001 BC''::timestamp","''1999-12-31''::timestamp","''1999-12-31 00:00:00.000001''::timestamp","''2000-01-01''::timestamp","''294276-12-31 23:59:59.999999''::timestamp","''infinity''::timestamp","''2000-01-01''::timestamptz","''1999-12-31 23:59:59+00''::timestamptz","''-infinity''::timestamptz"}');
SELECT opc_try('timestamp', '{-infinity,4714-11-24 BC,1999-12-31 23:59:59.999999,2000-01-01,2000-01-01 00:00:00.000001,294276-12-31 23:59:59.999999,infinity}',
	'{"''-infinity''::date","''4714-11-24 BC''::date","''1999-12-31''::date","''2000-01-01''::date","''294277-01-01''::date","''5874897-12-31''::date","''infinity''::date","''2000-01-01''::timestamptz","''infinity''::timestamptz"}');
SELECT opc_try('timestamptz', '{-infinity,4714-11-24 BC,1999-12-31 23:59:59.999999,2000-01-01,2000-01-01 00:00:00.000001,294276-12-31 23:59:59.999999,infinity}',
	'{"''-infinity''::date","''1999-12-31''::date","''2000-01-01''::date","''2000-01-01''::timestamp","''infinity''::timestamp"}');
SET timezone = 'America/New_York';
SELECT opc_try('timestamptz', '{1999-12-31 23:59:59.999999,2000-01-01,2000-01-01 00:00:00.000001,2000-01-01 05:00+00}',
	'{"''1999-12-31''::date","''2000-01-01''::date","''2000-01-01''::timestamp","''infinity''::timestamp"}');
SET timezone = 'UTC';
SELECT opc_try('text COLLATE "C"', ARRAY['', 'a', E'a\x01', E'a\x01b', 'aa', 'b', 'é', E'\x01', E'\x7f', repeat('x', 2000), repeat('x', 2001)],
	ARRAY['''a''::name', '''aaa''::name', '''''::name', '''é''::name']);
SELECT opc_try('varchar(10) COLLATE "C"', '{"",a,aa,ab,b,é}', ARRAY['''aaa''::text']);
SELECT opc_try('name', ARRAY['', 'a', 'aa', 'b', repeat('c', 62), repeat('c', 63), 'd'],
	ARRAY['repeat(''c'', 61)', 'repeat(''c'', 63)', 'repeat(''c'', 64)', 'repeat(''c'', 62) || ''d''', '''''::text']);
SELECT opc_try('bytea', '{"\\x","\\x00","\\x0000","\\x0001","\\x01","\\x0100","\\x0101","\\x0102","\\x02","\\x61","\\x6100","\\x6101","\\xfe","\\xff","\\xff00","\\xffff"}');

-- INCLUDE columns of all shapes come back as they were
CREATE TABLE opc_inc (k int, b bool, c "char", i2 int2, i4 int4, i8 int8, f float8, n numeric, t text, u uuid, iv interval, a int[], nm name, p point, v int2vector, big text);
INSERT INTO opc_inc SELECT i, i % 2 = 0, chr(64 + i % 26)::"char", i, -i, i * 4294967296, CASE i % 3 WHEN 0 THEN '-0' WHEN 1 THEN 'NaN' ELSE '1.5' END::float8,
	CASE i % 2 WHEN 0 THEN 1.0 ELSE 1.000 END, repeat('é', i % 40), md5(i::text)::uuid, i * '1 day 1 second'::interval, ARRAY[i, NULL, -i], 'name' || i,
	point(i, -i), '1 2 3', repeat('compressible', 20 * (i % 10))
FROM generate_series(1, 100) i;
INSERT INTO opc_inc (k) SELECT i FROM generate_series(101, 110) i;
UPDATE opc_inc SET (b, n, a, nm) = (NULL, NULL, NULL, NULL) WHERE k % 4 = 0;
UPDATE opc_inc SET (c, i8, t, p, big) = (NULL, NULL, NULL, NULL, NULL) WHERE k % 5 = 0;
CREATE INDEX opc_inc_k ON opc_inc USING surfidx (k) INCLUDE (b, c, i2, i4, i8, f, n, t, u, iv, a, nm, p, v, big);
INSERT INTO opc_inc SELECT k + 1000, b, c, i2, i4, i8, f, n, t, u, iv, a, nm, p, v, big FROM opc_inc;
VACUUM opc_inc;
SELECT opc_verdict('SELECT * FROM opc_inc ORDER BY k');
SELECT surfidx_merge('opc_inc_k') >= 0;
SELECT opc_verdict('SELECT * FROM opc_inc ORDER BY k');

DROP TABLE opc, opc_inc;
DROP VIEW opc_members;
DROP FUNCTION opc_text, opc_verdict, opc_try;
