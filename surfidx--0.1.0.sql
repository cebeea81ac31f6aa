/* surfidx--0.1.0.sql */

-- complain if script is sourced in psql rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION surfidx" to load this file. \quit

-- The access method

CREATE FUNCTION surfidx_handler(internal)
RETURNS index_am_handler
AS 'MODULE_PATHNAME' LANGUAGE C STRICT;

CREATE ACCESS METHOD surfidx TYPE INDEX HANDLER surfidx_handler;

COMMENT ON ACCESS METHOD surfidx IS 'compact ordered index';

-- Not for queries: an operator that stands for the order of whatever index is being built when tuplesort asks for one

CREATE FUNCTION surfidx_sort_support(internal) RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;

CREATE FUNCTION surfidx_sort_less(internal, internal) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;

CREATE OPERATOR <#< (LEFTARG = internal, RIGHTARG = internal, FUNCTION = surfidx_sort_less);

CREATE OPERATOR FAMILY surfidx_sort_ops USING btree;

ALTER OPERATOR FAMILY surfidx_sort_ops USING btree ADD
	OPERATOR 1 <#< (internal, internal),
	FUNCTION 2 (internal, internal) surfidx_sort_support(internal);

-- Byte encodings of types: support function 7

CREATE FUNCTION surfidx_enc_bool(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_bytea(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_char(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_date(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_int2(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_int4(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_int8(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_macaddr(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_macaddr8(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_name(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_oid(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_pg_lsn(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_text(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_time(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_timestamp(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_timestamptz(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_uuid(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_xid8(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_bit(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_bpchar(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_bpchar_pattern(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_float4(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_float8(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_inet(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_interval(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_money(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_numeric(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_text_pattern(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_oidvector(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_tid(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION surfidx_enc_timetz(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Operator families and classes: names, operators and support functions 1 to 4 are btree's, so that the planner
-- takes the orders for the same

CREATE OPERATOR FAMILY integer_ops USING surfidx;

CREATE OPERATOR CLASS int2_ops DEFAULT FOR TYPE int2 USING surfidx FAMILY integer_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (int2, int2) btint2cmp(int2, int2),
	FUNCTION 2 (int2, int2) btint2sortsupport(internal),
	FUNCTION 3 (int2, int2) in_range(int2, int2, int2, boolean, boolean),
	FUNCTION 4 (int2, int2) btequalimage(oid),
	FUNCTION 7 (int2, int2) surfidx_enc_int2(internal);

CREATE OPERATOR CLASS int4_ops DEFAULT FOR TYPE int4 USING surfidx FAMILY integer_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (int4, int4) btint4cmp(int4, int4),
	FUNCTION 2 (int4, int4) btint4sortsupport(internal),
	FUNCTION 3 (int4, int4) in_range(int4, int4, int4, boolean, boolean),
	FUNCTION 4 (int4, int4) btequalimage(oid),
	FUNCTION 7 (int4, int4) surfidx_enc_int4(internal);

CREATE OPERATOR CLASS int8_ops DEFAULT FOR TYPE int8 USING surfidx FAMILY integer_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (int8, int8) btint8cmp(int8, int8),
	FUNCTION 2 (int8, int8) btint8sortsupport(internal),
	FUNCTION 3 (int8, int8) in_range(int8, int8, int8, boolean, boolean),
	FUNCTION 4 (int8, int8) btequalimage(oid),
	FUNCTION 7 (int8, int8) surfidx_enc_int8(internal);

ALTER OPERATOR FAMILY integer_ops USING surfidx ADD
	OPERATOR 1 < (int2, int4),
	OPERATOR 2 <= (int2, int4),
	OPERATOR 3 = (int2, int4),
	OPERATOR 4 >= (int2, int4),
	OPERATOR 5 > (int2, int4),
	FUNCTION 1 (int2, int4) btint24cmp(int2, int4),
	FUNCTION 3 (int2, int4) in_range(int2, int2, int4, boolean, boolean),
	OPERATOR 1 < (int2, int8),
	OPERATOR 2 <= (int2, int8),
	OPERATOR 3 = (int2, int8),
	OPERATOR 4 >= (int2, int8),
	OPERATOR 5 > (int2, int8),
	FUNCTION 1 (int2, int8) btint28cmp(int2, int8),
	FUNCTION 3 (int2, int8) in_range(int2, int2, int8, boolean, boolean),
	OPERATOR 1 < (int4, int2),
	OPERATOR 2 <= (int4, int2),
	OPERATOR 3 = (int4, int2),
	OPERATOR 4 >= (int4, int2),
	OPERATOR 5 > (int4, int2),
	FUNCTION 1 (int4, int2) btint42cmp(int4, int2),
	FUNCTION 3 (int4, int2) in_range(int4, int4, int2, boolean, boolean),
	OPERATOR 1 < (int4, int8),
	OPERATOR 2 <= (int4, int8),
	OPERATOR 3 = (int4, int8),
	OPERATOR 4 >= (int4, int8),
	OPERATOR 5 > (int4, int8),
	FUNCTION 1 (int4, int8) btint48cmp(int4, int8),
	FUNCTION 3 (int4, int8) in_range(int4, int4, int8, boolean, boolean),
	OPERATOR 1 < (int8, int2),
	OPERATOR 2 <= (int8, int2),
	OPERATOR 3 = (int8, int2),
	OPERATOR 4 >= (int8, int2),
	OPERATOR 5 > (int8, int2),
	FUNCTION 1 (int8, int2) btint82cmp(int8, int2),
	OPERATOR 1 < (int8, int4),
	OPERATOR 2 <= (int8, int4),
	OPERATOR 3 = (int8, int4),
	OPERATOR 4 >= (int8, int4),
	OPERATOR 5 > (int8, int4),
	FUNCTION 1 (int8, int4) btint84cmp(int8, int4);

CREATE OPERATOR FAMILY text_ops USING surfidx;

CREATE OPERATOR CLASS text_ops DEFAULT FOR TYPE text USING surfidx FAMILY text_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (text, text) bttextcmp(text, text),
	FUNCTION 2 (text, text) bttextsortsupport(internal),
	FUNCTION 4 (text, text) btvarstrequalimage(oid),
	FUNCTION 7 (text, text) surfidx_enc_text(internal);

-- text's members serve varchar too; the clause is there because a class needs one
CREATE OPERATOR CLASS varchar_ops FOR TYPE text USING surfidx FAMILY text_ops AS
	STORAGE text;

CREATE OPERATOR CLASS name_ops DEFAULT FOR TYPE name USING surfidx FAMILY text_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (name, name) btnamecmp(name, name),
	FUNCTION 2 (name, name) btnamesortsupport(internal),
	FUNCTION 4 (name, name) btvarstrequalimage(oid),
	FUNCTION 7 (name, name) surfidx_enc_name(internal);

ALTER OPERATOR FAMILY text_ops USING surfidx ADD
	OPERATOR 1 < (name, text),
	OPERATOR 2 <= (name, text),
	OPERATOR 3 = (name, text),
	OPERATOR 4 >= (name, text),
	OPERATOR 5 > (name, text),
	FUNCTION 1 (name, text) btnametextcmp(name, text),
	OPERATOR 1 < (text, name),
	OPERATOR 2 <= (text, name),
	OPERATOR 3 = (text, name),
	OPERATOR 4 >= (text, name),
	OPERATOR 5 > (text, name),
	FUNCTION 1 (text, name) bttextnamecmp(text, name);

CREATE OPERATOR FAMILY datetime_ops USING surfidx;

CREATE OPERATOR CLASS date_ops DEFAULT FOR TYPE date USING surfidx FAMILY datetime_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (date, date) date_cmp(date, date),
	FUNCTION 2 (date, date) date_sortsupport(internal),
	FUNCTION 3 (date, interval) in_range(date, date, interval, boolean, boolean),
	FUNCTION 4 (date, date) btequalimage(oid),
	FUNCTION 7 (date, date) surfidx_enc_date(internal);

CREATE OPERATOR CLASS timestamp_ops DEFAULT FOR TYPE timestamp USING surfidx FAMILY datetime_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (timestamp, timestamp) timestamp_cmp(timestamp, timestamp),
	FUNCTION 2 (timestamp, timestamp) timestamp_sortsupport(internal),
	FUNCTION 3 (timestamp, interval) in_range(timestamp, timestamp, interval, boolean, boolean),
	FUNCTION 4 (timestamp, timestamp) btequalimage(oid),
	FUNCTION 7 (timestamp, timestamp) surfidx_enc_timestamp(internal);

CREATE OPERATOR CLASS timestamptz_ops DEFAULT FOR TYPE timestamptz USING surfidx FAMILY datetime_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (timestamptz, timestamptz) timestamptz_cmp(timestamptz, timestamptz),
	FUNCTION 2 (timestamptz, timestamptz) timestamp_sortsupport(internal),
	FUNCTION 3 (timestamptz, interval) in_range(timestamptz, timestamptz, interval, boolean, boolean),
	FUNCTION 4 (timestamptz, timestamptz) btequalimage(oid),
	FUNCTION 7 (timestamptz, timestamptz) surfidx_enc_timestamptz(internal);

ALTER OPERATOR FAMILY datetime_ops USING surfidx ADD
	OPERATOR 1 < (date, timestamp),
	OPERATOR 2 <= (date, timestamp),
	OPERATOR 3 = (date, timestamp),
	OPERATOR 4 >= (date, timestamp),
	OPERATOR 5 > (date, timestamp),
	FUNCTION 1 (date, timestamp) date_cmp_timestamp(date, timestamp),
	OPERATOR 1 < (date, timestamptz),
	OPERATOR 2 <= (date, timestamptz),
	OPERATOR 3 = (date, timestamptz),
	OPERATOR 4 >= (date, timestamptz),
	OPERATOR 5 > (date, timestamptz),
	FUNCTION 1 (date, timestamptz) date_cmp_timestamptz(date, timestamptz),
	OPERATOR 1 < (timestamp, date),
	OPERATOR 2 <= (timestamp, date),
	OPERATOR 3 = (timestamp, date),
	OPERATOR 4 >= (timestamp, date),
	OPERATOR 5 > (timestamp, date),
	FUNCTION 1 (timestamp, date) timestamp_cmp_date(timestamp, date),
	OPERATOR 1 < (timestamp, timestamptz),
	OPERATOR 2 <= (timestamp, timestamptz),
	OPERATOR 3 = (timestamp, timestamptz),
	OPERATOR 4 >= (timestamp, timestamptz),
	OPERATOR 5 > (timestamp, timestamptz),
	FUNCTION 1 (timestamp, timestamptz) timestamp_cmp_timestamptz(timestamp, timestamptz),
	OPERATOR 1 < (timestamptz, date),
	OPERATOR 2 <= (timestamptz, date),
	OPERATOR 3 = (timestamptz, date),
	OPERATOR 4 >= (timestamptz, date),
	OPERATOR 5 > (timestamptz, date),
	FUNCTION 1 (timestamptz, date) timestamptz_cmp_date(timestamptz, date),
	OPERATOR 1 < (timestamptz, timestamp),
	OPERATOR 2 <= (timestamptz, timestamp),
	OPERATOR 3 = (timestamptz, timestamp),
	OPERATOR 4 >= (timestamptz, timestamp),
	OPERATOR 5 > (timestamptz, timestamp),
	FUNCTION 1 (timestamptz, timestamp) timestamptz_cmp_timestamp(timestamptz, timestamp);

CREATE OPERATOR FAMILY bool_ops USING surfidx;

CREATE OPERATOR CLASS bool_ops DEFAULT FOR TYPE bool USING surfidx FAMILY bool_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (bool, bool) btboolcmp(bool, bool),
	FUNCTION 4 (bool, bool) btequalimage(oid),
	FUNCTION 7 (bool, bool) surfidx_enc_bool(internal);

CREATE OPERATOR FAMILY bytea_ops USING surfidx;

CREATE OPERATOR CLASS bytea_ops DEFAULT FOR TYPE bytea USING surfidx FAMILY bytea_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (bytea, bytea) byteacmp(bytea, bytea),
	FUNCTION 2 (bytea, bytea) bytea_sortsupport(internal),
	FUNCTION 4 (bytea, bytea) btequalimage(oid),
	FUNCTION 7 (bytea, bytea) surfidx_enc_bytea(internal);

CREATE OPERATOR FAMILY char_ops USING surfidx;

CREATE OPERATOR CLASS char_ops DEFAULT FOR TYPE "char" USING surfidx FAMILY char_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 ("char", "char") btcharcmp("char", "char"),
	FUNCTION 4 ("char", "char") btequalimage(oid),
	FUNCTION 7 ("char", "char") surfidx_enc_char(internal);

CREATE OPERATOR FAMILY macaddr_ops USING surfidx;

CREATE OPERATOR CLASS macaddr_ops DEFAULT FOR TYPE macaddr USING surfidx FAMILY macaddr_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (macaddr, macaddr) macaddr_cmp(macaddr, macaddr),
	FUNCTION 2 (macaddr, macaddr) macaddr_sortsupport(internal),
	FUNCTION 4 (macaddr, macaddr) btequalimage(oid),
	FUNCTION 7 (macaddr, macaddr) surfidx_enc_macaddr(internal);

CREATE OPERATOR FAMILY macaddr8_ops USING surfidx;

CREATE OPERATOR CLASS macaddr8_ops DEFAULT FOR TYPE macaddr8 USING surfidx FAMILY macaddr8_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (macaddr8, macaddr8) macaddr8_cmp(macaddr8, macaddr8),
	FUNCTION 4 (macaddr8, macaddr8) btequalimage(oid),
	FUNCTION 7 (macaddr8, macaddr8) surfidx_enc_macaddr8(internal);

CREATE OPERATOR FAMILY oid_ops USING surfidx;

CREATE OPERATOR CLASS oid_ops DEFAULT FOR TYPE oid USING surfidx FAMILY oid_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (oid, oid) btoidcmp(oid, oid),
	FUNCTION 2 (oid, oid) btoidsortsupport(internal),
	FUNCTION 4 (oid, oid) btequalimage(oid),
	FUNCTION 7 (oid, oid) surfidx_enc_oid(internal);

CREATE OPERATOR FAMILY pg_lsn_ops USING surfidx;

CREATE OPERATOR CLASS pg_lsn_ops DEFAULT FOR TYPE pg_lsn USING surfidx FAMILY pg_lsn_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (pg_lsn, pg_lsn) pg_lsn_cmp(pg_lsn, pg_lsn),
	FUNCTION 4 (pg_lsn, pg_lsn) btequalimage(oid),
	FUNCTION 7 (pg_lsn, pg_lsn) surfidx_enc_pg_lsn(internal);

CREATE OPERATOR FAMILY time_ops USING surfidx;

CREATE OPERATOR CLASS time_ops DEFAULT FOR TYPE time USING surfidx FAMILY time_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (time, time) time_cmp(time, time),
	FUNCTION 3 (time, interval) in_range(time, time, interval, boolean, boolean),
	FUNCTION 4 (time, time) btequalimage(oid),
	FUNCTION 7 (time, time) surfidx_enc_time(internal);

CREATE OPERATOR FAMILY uuid_ops USING surfidx;

CREATE OPERATOR CLASS uuid_ops DEFAULT FOR TYPE uuid USING surfidx FAMILY uuid_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (uuid, uuid) uuid_cmp(uuid, uuid),
	FUNCTION 2 (uuid, uuid) uuid_sortsupport(internal),
	FUNCTION 4 (uuid, uuid) btequalimage(oid),
	FUNCTION 7 (uuid, uuid) surfidx_enc_uuid(internal);

CREATE OPERATOR FAMILY xid8_ops USING surfidx;

CREATE OPERATOR CLASS xid8_ops DEFAULT FOR TYPE xid8 USING surfidx FAMILY xid8_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 (xid8, xid8) xid8cmp(xid8, xid8),
	FUNCTION 4 (xid8, xid8) btequalimage(oid),
	FUNCTION 7 (xid8, xid8) surfidx_enc_xid8(internal);

-- All other families and classes that this server's btree has: mirrored, so that a later server's new types come along.
-- Those that get no function 7 below have their keys in the comparator key space: datum bytes, ordered by function 1.

CREATE FUNCTION surfidx_mirror_btree() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $mirror$
DECLARE
	bt CONSTANT oid := (SELECT oid FROM pg_am WHERE amname = 'btree');
	own CONSTANT oid := (SELECT oid FROM pg_am WHERE amname = 'surfidx');
	target text := (SELECT quote_ident(nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace
					WHERE extname = 'surfidx');
	fam record;
	cls record;
	members text;
BEGIN
	FOR fam IN
		SELECT f.oid, quote_ident(opfname) AS name FROM pg_opfamily f
		WHERE opfmethod = bt AND opfnamespace = 'pg_catalog'::regnamespace
			AND NOT EXISTS (SELECT FROM pg_opfamily x WHERE x.opfmethod = own AND x.opfname = f.opfname)
		ORDER BY opfname
	LOOP
		EXECUTE format('CREATE OPERATOR FAMILY %s.%s USING surfidx', target, fam.name);
		FOR cls IN
			SELECT quote_ident(opcname) AS name, opcdefault, opcintype, opckeytype FROM pg_opclass
			WHERE opcfamily = fam.oid AND opcnamespace = 'pg_catalog'::regnamespace
			ORDER BY opcdefault DESC, opcname
		LOOP
			-- a second class on a type of the family shares the members of the first
			members := CASE WHEN EXISTS (SELECT FROM pg_amop o JOIN pg_opfamily x ON x.oid = o.amopfamily
					WHERE x.opfmethod = own AND quote_ident(x.opfname) = fam.name
						AND o.amoplefttype = cls.opcintype AND o.amoprighttype = cls.opcintype)
				THEN format('STORAGE %s', cls.opcintype::regtype)
				ELSE (SELECT string_agg(item, ', ' ORDER BY kind, number) FROM (
					SELECT 1 AS kind, amopstrategy AS number,
						format('OPERATOR %s %s', amopstrategy, amopopr::regoperator) AS item
					FROM pg_amop WHERE amopfamily = fam.oid
						AND amoplefttype = cls.opcintype AND amoprighttype = cls.opcintype
					UNION ALL
					SELECT 2, amprocnum,
						format('FUNCTION %s (%s, %s) %s', amprocnum, amproclefttype::regtype,
							amprocrighttype::regtype, amproc::regprocedure)
					FROM pg_amproc WHERE amprocfamily = fam.oid
						AND amproclefttype = cls.opcintype AND amprocrighttype = cls.opcintype) m)
				END;
			EXECUTE format('CREATE OPERATOR CLASS %s.%s %s FOR TYPE %s USING surfidx FAMILY %s.%s AS %s',
				target, cls.name, CASE WHEN cls.opcdefault THEN 'DEFAULT' ELSE '' END,
				cls.opcintype::regtype, target, fam.name, members);
		END LOOP;
		SELECT string_agg(item, ', ' ORDER BY kind, l, r, number) INTO members FROM (
			SELECT 1 AS kind, amoplefttype AS l, amoprighttype AS r, amopstrategy AS number,
				format('OPERATOR %s %s', amopstrategy, amopopr::regoperator) AS item
			FROM pg_amop WHERE amopfamily = fam.oid AND amoplefttype <> amoprighttype
			UNION ALL
			SELECT 2, amproclefttype, amprocrighttype, amprocnum,
				format('FUNCTION %s (%s, %s) %s', amprocnum, amproclefttype::regtype,
					amprocrighttype::regtype, amproc::regprocedure)
			FROM pg_amproc WHERE amprocfamily = fam.oid AND amproclefttype <> amprocrighttype) m;
		IF members IS NOT NULL THEN
			EXECUTE format('ALTER OPERATOR FAMILY %s.%s USING surfidx ADD %s', target, fam.name, members);
		END IF;
	END LOOP;
END
$mirror$;

SELECT surfidx_mirror_btree();

DROP FUNCTION surfidx_mirror_btree();

ALTER OPERATOR FAMILY bit_ops USING surfidx ADD FUNCTION 7 (bit, bit) surfidx_enc_bit(internal);
ALTER OPERATOR FAMILY bpchar_ops USING surfidx ADD FUNCTION 7 (bpchar, bpchar) surfidx_enc_bpchar(internal);
ALTER OPERATOR FAMILY bpchar_pattern_ops USING surfidx ADD FUNCTION 7 (bpchar, bpchar) surfidx_enc_bpchar_pattern(internal);
ALTER OPERATOR FAMILY float_ops USING surfidx ADD
	FUNCTION 7 (float4, float4) surfidx_enc_float4(internal),
	FUNCTION 7 (float8, float8) surfidx_enc_float8(internal);
ALTER OPERATOR FAMILY interval_ops USING surfidx ADD FUNCTION 7 (interval, interval) surfidx_enc_interval(internal);
ALTER OPERATOR FAMILY money_ops USING surfidx ADD FUNCTION 7 (money, money) surfidx_enc_money(internal);
ALTER OPERATOR FAMILY network_ops USING surfidx ADD FUNCTION 7 (inet, inet) surfidx_enc_inet(internal);
ALTER OPERATOR FAMILY numeric_ops USING surfidx ADD FUNCTION 7 (numeric, numeric) surfidx_enc_numeric(internal);
ALTER OPERATOR FAMILY oidvector_ops USING surfidx ADD FUNCTION 7 (oidvector, oidvector) surfidx_enc_oidvector(internal);
ALTER OPERATOR FAMILY text_pattern_ops USING surfidx ADD FUNCTION 7 (text, text) surfidx_enc_text_pattern(internal);
ALTER OPERATOR FAMILY tid_ops USING surfidx ADD FUNCTION 7 (tid, tid) surfidx_enc_tid(internal);
ALTER OPERATOR FAMILY timetz_ops USING surfidx ADD FUNCTION 7 (timetz, timetz) surfidx_enc_timetz(internal);
ALTER OPERATOR FAMILY varbit_ops USING surfidx ADD FUNCTION 7 (varbit, varbit) surfidx_enc_bit(internal);

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
	OUT index regclass,
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
	OUT leaves bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_meta(regclass) IS
'what the metapage of a surfidx index says';

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
	OUT index regclass,
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
	OUT filters_wrong bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION surfidx_stats(regclass, integer, boolean) IS
'what a surfidx index consists of, from a sample of its blocks (0: all), and what merges have done; not strict: a warning instead of an error where it cannot be read';

CREATE VIEW surfidx_stat_indexes AS
SELECT n.nspname AS schemaname, t.relname, c.relname AS indexrelname, i.indrelid AS relid, i.indexrelid, s.*
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
SELECT p.pid, pg_catalog.current_database() AS datname, p.index, p.phase, p.source, p.target, p.entries_done, p.entries_total,
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

REVOKE ALL ON FUNCTION surfidx_stats(regclass, integer, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION surfidx_stats(regclass, integer, boolean) TO pg_stat_scan_tables;
GRANT SELECT ON surfidx_stat_indexes TO pg_stat_scan_tables;
GRANT SELECT ON surfidx_stat_progress_merge TO PUBLIC;
REVOKE ALL ON FUNCTION surfidx_page_stats(regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION surfidx_page_stats(regclass, bigint) TO pg_read_server_files;
REVOKE ALL ON FUNCTION surfidx_page_items(regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION surfidx_page_items(regclass, bigint) TO pg_read_server_files;
REVOKE ALL ON FUNCTION surfidx_filters(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION surfidx_filters(regclass) TO pg_read_server_files;
REVOKE ALL ON FUNCTION surfidx_check(regclass, boolean, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION surfidx_check_all(boolean, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION surfidx_meta(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION surfidx_meta(regclass) TO pg_read_server_files;
REVOKE ALL ON FUNCTION surfidx_runs(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION surfidx_runs(regclass) TO pg_read_server_files;
REVOKE ALL ON FUNCTION surfidx_dictionaries(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION surfidx_dictionaries(regclass) TO pg_read_server_files;

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

CREATE FUNCTION surfidx_advise(
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
		SELECT x.indrelid AS tableid, x.indexrelid AS indexid, x.indisunique, x.indisreplident, i.relname AS name,
			pg_get_indexdef(x.indexrelid) AS definition,
			format('CREATE %sINDEX %I ON %I.%I USING btree ', CASE WHEN x.indisunique THEN 'UNIQUE ' END,
				i.relname, n.nspname, t.relname) AS head,
			format('%I.%I', n.nspname, t.relname) AS on_table,
			(SELECT c.contype FROM pg_constraint c
				WHERE c.conindid = x.indexrelid AND c.conrelid = x.indrelid AND c.contype IN ('p', 'u')) AS contype,
			current_setting('server_version_num')::int < 180000 AND EXISTS (SELECT FROM pg_constraint c
				WHERE c.conindid = x.indexrelid AND c.confrelid = x.indrelid AND c.contype = 'f') AS is_target,
			(SELECT min(y.indexrelid::regclass::text) FROM pg_index y JOIN pg_class o ON o.oid = y.indexrelid
					JOIN pg_am b ON b.oid = o.relam
				WHERE b.amname = 'surfidx' AND y.indrelid = x.indrelid AND y.indisvalid
					AND y.indnkeyatts = x.indnkeyatts AND y.indkey = x.indkey AND y.indoption = x.indoption
					AND y.indcollation = x.indcollation AND (y.indisunique OR NOT x.indisunique)
					AND pg_get_expr(y.indexprs, y.indrelid) IS NOT DISTINCT FROM pg_get_expr(x.indexprs, x.indrelid)
					AND pg_get_expr(y.indpred, y.indrelid) IS NOT DISTINCT FROM pg_get_expr(x.indpred, x.indrelid)) AS twin
		FROM pg_index x
			JOIN pg_class i ON i.oid = x.indexrelid
			JOIN pg_class t ON t.oid = x.indrelid
			JOIN pg_namespace n ON n.oid = t.relnamespace
			JOIN pg_am a ON a.oid = i.relam
		WHERE a.amname = 'btree' AND i.relkind = 'i' AND x.indisvalid AND i.relpersistence <> 't'
			AND NOT (i.relpersistence = 'u' AND pg_is_in_recovery())
			AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
			AND pg_relation_size(x.indexrelid) >= min_bytes)
	SELECT c.tableid::regclass, c.indexid::regclass, e.btree_bytes, e.surfidx_bytes,
		round(e.surfidx_bytes::numeric / nullif(e.btree_bytes, 0), 3), e.entries,
		CASE WHEN e.surfidx_bytes IS NOT NULL AND c.contype IS DISTINCT FROM 'p' AND NOT c.is_target AND c.twin IS NULL
			AND starts_with(c.definition, c.head) THEN
			format('CREATE %sINDEX CONCURRENTLY %I ON %s USING surfidx %s', CASE WHEN c.indisunique THEN 'UNIQUE ' END,
				left(c.name, 55) || '_surfidx', c.on_table, substr(c.definition, length(c.head) + 1)) END,
		concat_ws('; ',
			CASE WHEN e.surfidx_bytes IS NULL THEN
				'a column has no surfidx operator class: make one from its btree functions' END,
			'surfidx index ' || c.twin || ' has the same columns',
			CASE c.contype WHEN 'p' THEN 'primary key: PostgreSQL takes only btree, keep this one'
				WHEN 'u' THEN 'UNIQUE constraint: PostgreSQL takes only btree; a unique index would do the same without being a constraint' END,
			CASE WHEN c.is_target THEN
				'target of a foreign key: before PostgreSQL 18 only btree, keep this one' END,
			CASE WHEN c.indisreplident THEN 'replica identity: name the new index as one before dropping this one' END,
			CASE WHEN NOT e.ordered_bytes THEN
				'comparator key space: larger and slower than with ordered bytes (for text: COLLATE "C")' END)
	FROM candidate c, LATERAL surfidx_estimate(c.indexid::regclass) e
	ORDER BY e.btree_bytes - e.surfidx_bytes DESC NULLS LAST, c.indexid;
END;

COMMENT ON FUNCTION surfidx_advise(bigint) IS
'for each btree index of at least so many bytes: its size, an estimate of what it would be as surfidx, and the statement to try it';

-- Without the library at server start all this is there, and no index can be made

CREATE FUNCTION surfidx_preload_warning() RETURNS void AS 'MODULE_PATHNAME' LANGUAGE C;
SELECT surfidx_preload_warning();
DROP FUNCTION surfidx_preload_warning();

REVOKE ALL ON FUNCTION surfidx_estimate(regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION surfidx_advise(bigint) FROM PUBLIC;
