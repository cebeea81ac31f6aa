-- surfidx_advise(): estimates within a tenth of the truth, statements that run, remarks on what PostgreSQL refuses
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.unique_notice = off;
SELECT setseed(0.5);
SET surfidx.auto_merge = off;
CREATE SCHEMA "advise me";
SET search_path = "advise me", public;

-- where there is nothing to advise on, it says so
SELECT * FROM surfidx_advise(1000000000000000);
CREATE TABLE adv (id serial PRIMARY KEY, r int8, u uuid, e text COLLATE "C", p text COLLATE "C", l text, at timestamptz, f float8, d int, n numeric)
	WITH (autovacuum_enabled = off);
INSERT INTO adv (r, u, e, p, l, at, f, d, n)
SELECT (random() * 9e18)::int8, md5(g::text)::uuid, (ARRAY['com.', 'org.'])[1 + g % 2] || md5((g % 97)::text)::char(6) || '@' || md5(g::text)::char(9),
	'/usr/share/doc/' || md5((g / 30)::text) || '/file' || g, md5(g::text)::char(12), '2020-01-01'::timestamptz + g * interval '1 s' * random(), random(), g % 3000,
	(random() * 1e5)::numeric(10, 2)
FROM generate_series(1, 60000) g;
CREATE UNIQUE INDEX adv_r ON adv (r);
CREATE INDEX adv_u ON adv (u);
CREATE INDEX adv_e ON adv (e);
CREATE INDEX adv_p ON adv (p);
CREATE INDEX adv_l ON adv (l COLLATE "en-x-icu");
CREATE INDEX adv_at ON adv (at DESC NULLS LAST);
CREATE INDEX adv_f ON adv (f);
CREATE INDEX adv_d ON adv (d);
CREATE INDEX "adv USING btree (" ON adv (d, at);
CREATE INDEX adv_n ON adv (n) INCLUDE (id);
CREATE INDEX adv_x ON adv (lower(p)) WHERE d > 1000;
CREATE TABLE adv_ref (id int REFERENCES adv);
CREATE TABLE adv_empty (a int UNIQUE);
CREATE TABLE adv_class (a int4);
-- an operator class that surfidx has no counterpart of
CREATE FUNCTION adv_cmp(int4, int4) RETURNS int4 LANGUAGE internal IMMUTABLE STRICT AS 'btint4cmp';
CREATE OPERATOR CLASS adv_ops FOR TYPE int4 USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 adv_cmp(int4, int4);
CREATE INDEX adv_class_a ON adv_class (a adv_ops);

CREATE TABLE advice AS SELECT * FROM surfidx_advise(0) WHERE schemaname = 'advise me';
SELECT indexrelname, statement, CASE WHEN indexrelname !~ 'adv_[fn]' THEN remark END AS remark
FROM advice ORDER BY indexrelname;

-- a constraint: what is said leads to its conversion
SELECT statement FROM advice WHERE indexrelname = 'adv_empty_a_key';
SELECT substring(remark, 'SELECT statement FROM .*\)') AS ask FROM advice WHERE indexrelname = 'adv_empty_a_key' \gset
SELECT regexp_replace(statement, '_\d+', '_N', 'g') AS statement FROM (:ask) x;
-- one that cannot be converted before 18 is told how it is exchanged by hand
CREATE TABLE adv_parent (a int) PARTITION BY RANGE (a);
CREATE TABLE adv_part PARTITION OF adv_parent (CONSTRAINT adv_own UNIQUE (a)) DEFAULT;
SELECT remark ~ CASE WHEN current_setting('server_version_num')::int < 180000
	THEN '^then ALTER TABLE "advise me".adv_part DROP CONSTRAINT adv_own, ADD CONSTRAINT adv_own UNIQUE USING INDEX adv_own_surfidx$' ELSE '^a constraint: SELECT statement FROM ' END AS remark
FROM surfidx_advise(0) WHERE indexrelname = 'adv_own';

-- the statements work, and the sizes come true
SELECT replace(statement, ' CONCURRENTLY', '') FROM advice WHERE statement IS NOT NULL AND pg_relation_size(indexrelid) > 100000
\gexec
SELECT a.indexrelname, a.entries, a.surfidx_bytes, pg_relation_size(i.oid) AS real_bytes
FROM advice a JOIN pg_class b ON b.oid = a.indexrelid LEFT JOIN pg_class i ON i.relname = b.relname || '_surfidx'
WHERE pg_relation_size(indexrelid) > 100000 AND statement IS NOT NULL AND
	(abs(a.surfidx_bytes - pg_relation_size(i.oid)) <= 0.1 * pg_relation_size(i.oid) + 8192 AND
	 a.btree_bytes = pg_relation_size(a.indexrelid) AND
	 a.entries = (SELECT count(*) FROM adv WHERE b.relname <> 'adv_x' OR d > 1000)) IS NOT TRUE;
SELECT bool_and(ratio = round(surfidx_bytes::numeric / btree_bytes, 3)) AS ratio, bool_and(surfidx_bytes < btree_bytes) AS smaller
FROM advice WHERE entries > 0;

-- one that is too large to be read whole: a sample
CREATE TABLE adv_big (b text COLLATE "C") WITH (autovacuum_enabled = off);
INSERT INTO adv_big SELECT '/usr/share/doc/' || md5((g / 30)::text) || '/' || md5((g / 7)::text) || '/' || g FROM generate_series(1, 200000) g;
CREATE INDEX adv_b ON adv_big (b);
CREATE INDEX adv_b_surfidx ON adv_big USING surfidx (b);
SELECT sampled < 150000 AS sample, entries, abs(surfidx_bytes - pg_relation_size('adv_b_surfidx')) <= 0.1 * pg_relation_size('adv_b_surfidx') AS bytes FROM surfidx_estimate('adv_b');
-- one that has its twin
SELECT indexrelname, statement, remark FROM surfidx_advise() WHERE indexrelname IN ('adv_b', 'adv_x');
-- two kinds of keys: the sample's dictionary is further from that of all
INSERT INTO adv_big SELECT md5(b) || b FROM adv_big WHERE b LIKE '%7';
REINDEX INDEX adv_b_surfidx;
SELECT abs(entries - 220000) < 22000 AS entries, abs(surfidx_bytes - pg_relation_size('adv_b_surfidx')) <= 0.15 * pg_relation_size('adv_b_surfidx') AS bytes FROM surfidx_estimate('adv_b');

-- serial numbers, of which a leaf holds seventy thousand: the ends of a sample's chains must not count
CREATE TABLE adv_serial AS SELECT g::int8 AS s FROM generate_series(1, 1000000) g;
CREATE INDEX adv_s ON adv_serial (s);
CREATE INDEX adv_s_surfidx ON adv_serial USING surfidx (s);
SELECT sampled < 1000000 AS sample, entries, abs(surfidx_bytes - pg_relation_size('adv_s_surfidx')) <= 0.1 * pg_relation_size('adv_s_surfidx') + 8192 AS bytes FROM surfidx_estimate('adv_s');

-- cut keys: where they could be, and what a large index is told
CREATE TABLE adv_cut (u uuid, n numeric) WITH (autovacuum_enabled = off);
INSERT INTO adv_cut SELECT md5(g::text)::uuid, g FROM generate_series(1, 100000) g;
CREATE INDEX adv_cut_u ON adv_cut (u);
CREATE INDEX adv_cut_i ON adv_cut (u) INCLUDE (n);
CREATE INDEX adv_cut_x ON adv_cut ((n + 1));
CREATE INDEX adv_cut_surfidx ON adv_cut USING surfidx (u) WITH (keys = cut);
SELECT abs(surfidx_estimate_cut('adv_cut_u') - pg_relation_size('adv_cut_surfidx')) <= 0.1 * pg_relation_size('adv_cut_surfidx') AS bytes,
	surfidx_estimate_cut('adv_cut_i') AS include, surfidx_estimate_cut('adv_cut_x') AS expression, surfidx_estimate_cut('adv_l') AS comparator,
	surfidx_estimate_cut('adv_empty_a_key') AS empty;
DROP INDEX adv_cut_surfidx;
SELECT indexrelname, regexp_replace(remark, '\d+ kB', 'N kB', 'g') AS remark FROM surfidx_advise() WHERE relname = 'adv_cut' ORDER BY 1;
-- a sample of a large one (more than 16 MB), of keys that repeat or not, beside what there is then
CREATE FUNCTION estimates_off(list int, apart boolean) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	how text;
	estimated int8;
	bytes int8;
BEGIN
	CREATE TABLE adv_large AS SELECT hashint8extended(CASE WHEN apart THEN hashint4(i) % (100000 / list) ELSE i / list END, 0) AS k
		FROM generate_series(1, 100000) i;
	CREATE INDEX adv_large_k ON adv_large (k) WITH (fillfactor = 10, deduplicate_items = off);
	IF pg_relation_size('adv_large_k') < 17000000 THEN
		RETURN NEXT 'it is not large';
	END IF;
	FOREACH how IN ARRAY '{full,cut}'::text[] LOOP
		estimated := CASE how WHEN 'cut' THEN surfidx_estimate_cut('adv_large_k') ELSE (surfidx_estimate('adv_large_k')).surfidx_bytes END;
		EXECUTE format('CREATE INDEX adv_large_surfidx ON adv_large USING surfidx (k) WITH (keys = %s)', how);
		bytes := pg_relation_size('adv_large_surfidx');
		IF abs(estimated - bytes) > 0.1 * bytes + 16384 THEN
			RETURN NEXT format('%s keys, %s times each, apart %s: %s instead of %s', how, list, apart, estimated, bytes);
		END IF;
		DROP INDEX adv_large_surfidx;
	END LOOP;
	DROP TABLE adv_large;
END $$;
SELECT estimates_off(list, apart) FROM (VALUES (1, true), (100, true), (100, false)) v (list, apart);

-- what cannot be estimated
SELECT * FROM surfidx_estimate('adv');
SELECT * FROM surfidx_estimate('adv_r_surfidx');
CREATE ROLE adv_nobody;
GRANT USAGE ON SCHEMA "advise me" TO adv_nobody;
SET ROLE adv_nobody;
SELECT * FROM surfidx_estimate('adv_r');
SELECT * FROM surfidx_advise();
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA "advise me" CASCADE;
DROP ROLE adv_nobody;
