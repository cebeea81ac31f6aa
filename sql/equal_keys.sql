-- keys that repeat: how large indexes get, and what they answer where a list goes on in the next block or page
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.unique_notice = off;
SET surfidx.auto_merge = off;
SET max_parallel_workers_per_gather = 0;

-- Each kind of key, each row of a list beside the last one or not; 16 kB is what an empty index and the ends of pages take.
CREATE UNLOGGED TABLE eq_size (g int);
CREATE FUNCTION fill_sizes(list int, apart boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE eq_size;
	CREATE UNLOGGED TABLE eq_size AS
		SELECT k, k::int2 AS i2, k * 1000 AS i4, hashint8extended(k, 0) AS i8, k / 100.0::float8 AS f8, md5(k::text)::uuid AS u,
			'2020-01-01'::timestamptz + k * interval '37 min' AS ts, ('user' || hashint4(k) || '@example.com') COLLATE "C" AS tc,
			('user' || hashint4(k)) COLLATE "en-x-icu" AS tl, k / 7.0 AS n, k / 50 AS c1, hashint4(k) AS c2, k % 1000 AS v,
			CASE WHEN k % 2 = 0 THEN k END AS nul
		FROM (SELECT CASE WHEN apart THEN i % (12000 / list + 1) ELSE i / list END AS k FROM generate_series(0, 11999) i) x;
END $$;
CREATE FUNCTION size_of(am text, cols text, params text) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
	bytes int8;
BEGIN
	EXECUTE format('CREATE INDEX eq_size_i ON eq_size USING %s (%s', am, replace(cols, '|', ') INCLUDE (')) || ')' || params;
	bytes := pg_relation_size('eq_size_i');
	DROP INDEX eq_size_i;
	RETURN bytes;
END $$;
CREATE FUNCTION too_large() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	list int;
	apart boolean;
	c text;
	b int8;
	w int8;
	k int8;
BEGIN
	FOREACH list IN ARRAY '{1,2,5,10,100,1000,10000}'::int[] LOOP
		FOREACH apart IN ARRAY '{f,t}'::boolean[] LOOP
			PERFORM fill_sizes(list, apart);
			FOREACH c IN ARRAY '{i2,i4,i8,f8,u,ts,tc,tl,n,"c1, c2",i4|v,nul}'::text[] LOOP
				b := size_of('btree', c, '');
				w := size_of('surfidx', c, '');
				k := CASE WHEN c NOT IN ('tl', 'i4|v') THEN size_of('surfidx', c, ' WITH (keys = cut)') END;
				IF w > 1.03 * b + 16384 THEN
					RETURN NEXT format('%s, %s times %s: %s bytes, btree %s', c, list, apart, w, b);
				END IF;
				IF k > 1.03 * least(w, b) + 16384 THEN
					RETURN NEXT format('%s, %s times %s: %s bytes, whole %s, btree %s', c, list, apart, k, w, b);
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT too_large();
DROP TABLE eq_size;

-- Lists of 1 to 3,000 rows, of which most end inside a block or at its end; whole, cut, and of both kinds.
CREATE TABLE eq (id int, i8 int8, tc text COLLATE "C", n numeric, nul int);
CREATE FUNCTION fill(low int, high int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO eq SELECT i, hashint8extended(k, 0), 'user' || k || '@example.com', k / 7.0, CASE WHEN k % 3 <> 0 THEN k END
	FROM (SELECT i, CASE i % 8 WHEN 0 THEN i WHEN 1 THEN i / 40 WHEN 2 THEN 10 + i % 3 WHEN 3 THEN 100 + i % 17 WHEN 4 THEN 1 ELSE 1000 + i % 5 END AS k
		FROM generate_series(low, high) i) x ORDER BY hashint4(i) $$;
SELECT fill(1, 12000);
CREATE INDEX eq_i8 ON eq USING surfidx (i8) WITH (keys = cut);
CREATE INDEX eq_tc ON eq USING surfidx (tc) WITH (keys = cut);
CREATE INDEX eq_n ON eq USING surfidx (n) WITH (keys = cut);
CREATE INDEX eq_nul ON eq USING surfidx (nul) WITH (keys = cut);
CREATE INDEX eq_limit ON eq USING surfidx (i8, nul) WITH (size_limit = 64);
CREATE INDEX eq_whole ON eq USING surfidx (n DESC, id);
ANALYZE eq;
-- keys that are there, were there, and lie beside those
CREATE TABLE asked AS SELECT DISTINCT hashint8extended(k, 0) + d AS i8, 'user' || k || repeat('x', d + 1) || '@example.com' AS tx,
	'user' || k || '@example.com' AS tc, k / 7.0 + d AS n, k + d AS nul
	FROM (SELECT generate_series(0, 1100, 40) UNION VALUES (1), (10), (11), (12), (100), (116), (1000), (1001), (1004)) x (k), generate_series(-1, 1) d;
CREATE FUNCTION answers() RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ',
		(SELECT md5(string_agg(c, ',' ORDER BY k)) FROM (SELECT a.i8 AS k, count(eq.id) || ':' || coalesce(sum(eq.id), 0) AS c FROM asked a LEFT JOIN eq ON eq.i8 = a.i8 GROUP BY 1) x),
		(SELECT md5(string_agg(c, ',' ORDER BY k)) FROM (SELECT a.tc AS k, count(eq.id) || ':' || coalesce(sum(eq.id), 0) AS c FROM asked a LEFT JOIN eq ON eq.tc = a.tc GROUP BY 1) x),
		(SELECT md5(string_agg(c, ',' ORDER BY k)) FROM (SELECT a.tx AS k, count(eq.id) || ':' || coalesce(sum(eq.id), 0) AS c FROM asked a LEFT JOIN eq ON eq.tc = a.tx GROUP BY 1) x),
		(SELECT md5(string_agg(c, ',' ORDER BY k)) FROM (SELECT a.n AS k, count(eq.id) || ':' || coalesce(sum(eq.id), 0) AS c FROM asked a LEFT JOIN eq ON eq.n = a.n GROUP BY 1) x),
		(SELECT md5(string_agg(c, ',' ORDER BY k)) FROM (SELECT a.nul AS k, count(eq.nul)::text AS c FROM asked a LEFT JOIN eq ON eq.nul = a.nul GROUP BY 1) x),
		(SELECT md5(string_agg(c, ',' ORDER BY k)) FROM (SELECT a.i8 AS k, count(eq.i8)::text AS c FROM asked a LEFT JOIN eq ON eq.i8 = a.i8 AND eq.nul IS NULL GROUP BY 1) x),
		(SELECT count(*) || ':' || sum(id) FROM eq WHERE i8 > 0), (SELECT count(*) || ':' || sum(id) FROM eq WHERE nul IS NULL),
		(SELECT md5(string_agg(i8::text, ',')) FROM (SELECT i8 FROM eq ORDER BY i8) x),
		(SELECT md5(string_agg(tc, ',')) FROM (SELECT tc FROM eq ORDER BY tc DESC) x),
		(SELECT md5(string_agg(n || ' ' || id, ',')) FROM (SELECT n, id FROM eq WHERE n > 1 ORDER BY n DESC, id LIMIT 4000) x),
		(SELECT md5(string_agg(i8::text, ',')) FROM (SELECT i8 FROM eq WHERE i8 < 0 ORDER BY i8 DESC LIMIT 3000) x)) $$;
CREATE FUNCTION differences() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	want text;
	how text;
BEGIN
	PERFORM set_config('surfidx.aggregates', 'off', true), set_config('enable_' || s, 'off', true) FROM unnest('{indexscan,indexonlyscan,bitmapscan}'::text[]) s;
	PERFORM set_config('enable_seqscan', 'on', true);
	want := answers();
	PERFORM set_config('enable_' || s, 'off', true) FROM unnest('{seqscan,sort,hashjoin,mergejoin}'::text[]) s;
	FOREACH how IN ARRAY '{indexscan,indexonlyscan,bitmapscan,aggregates}'::text[] LOOP
		PERFORM set_config('enable_' || s, 'off', true) FROM unnest('{indexscan,indexonlyscan,bitmapscan}'::text[]) s;
		PERFORM set_config('surfidx.aggregates', CASE WHEN how = 'aggregates' THEN 'on' ELSE 'off' END, true),
			set_config('enable_' || CASE WHEN how = 'aggregates' THEN 'indexonlyscan' ELSE how END, 'on', true);
		IF answers() IS DISTINCT FROM want THEN
			RETURN NEXT how || ': ' || answers() || ' instead of ' || want;
		END IF;
	END LOOP;
	PERFORM set_config('enable_' || s, 'on', true) FROM unnest('{seqscan,sort,hashjoin,mergejoin}'::text[]) s;
	PERFORM surfidx_check(indexrelid, true, true) FROM pg_index WHERE indrelid = 'eq'::regclass;
END $$;
CREATE FUNCTION merged() RETURNS boolean LANGUAGE sql AS $$
	SELECT bool_and(surfidx_merge(indexrelid) >= 0) FROM pg_index WHERE indrelid = 'eq'::regclass $$;
-- leaves, beside those of an index of whole keys that was just built; and beside btree, with all else that is in the file
CREATE FUNCTION grown() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	c record;
	b int8;
	w int8;
BEGIN
	FOR c IN SELECT x.oid, relname, leaves, pg_get_indexdef(x.oid) AS def
		FROM pg_class x JOIN pg_index ON indexrelid = x.oid, surfidx_leaf_keys(x.oid) WHERE indrelid = 'eq'::regclass ORDER BY 2 LOOP
		EXECUTE regexp_replace(replace(c.def, c.relname, 'eq_new'), ' WITH .*', '');
		SELECT leaves INTO w FROM surfidx_leaf_keys('eq_new');
		DROP INDEX eq_new;
		EXECUTE replace(regexp_replace(replace(c.def, c.relname, 'eq_new'), ' WITH .*', ''), 'USING surfidx', 'USING btree');
		b := pg_relation_size('eq_new');
		DROP INDEX eq_new;
		IF c.leaves > 1.3 * w + 2 OR pg_relation_size(c.oid) > b + 40960 THEN
			RETURN NEXT format('%s: %s leaves, whole %s; %s bytes, btree %s', c.relname, c.leaves, w, pg_relation_size(c.oid), b);
		END IF;
	END LOOP;
END $$;
SELECT differences();
-- a delta; merged into lists that are there
SELECT fill(12001, 18000);
SELECT differences();
SELECT merged();
SELECT differences();
SELECT grown();
-- half of each list goes, all of some, and comes again
DELETE FROM eq WHERE id % 2 = 0 OR nul IN (11, 1001);
SELECT differences();
VACUUM eq;
SELECT differences();
SELECT fill(18001, 24000);
SELECT merged();
SELECT differences();
-- one row of a list is left, and the list is cut once more
DELETE FROM eq WHERE nul IN (1, 10, 1000, 1002) AND id > 12005;
VACUUM eq;
SELECT merged();
SELECT differences();
UPDATE eq SET i8 = i8 + 1, tc = tc || 'x', n = n + 1 WHERE id % 3 = 0;
SELECT merged();
VACUUM eq;
SELECT differences();
SELECT grown();
-- cut by size_limit, whole again, cut again
SELECT cut_leaves = leaves AS all_cut FROM surfidx_leaf_keys('eq_limit');
ALTER INDEX eq_limit SET (size_limit = 100000);
ALTER INDEX eq_i8 SET (keys = full);
SELECT merged();
VACUUM eq;
SELECT differences();
SELECT cut_leaves FROM surfidx_leaf_keys('eq_i8');
ALTER INDEX eq_limit SET (size_limit = 64);
ALTER INDEX eq_i8 SET (keys = cut);
SELECT merged();
VACUUM eq;
SELECT differences();
SELECT cut_leaves = leaves AS all_cut FROM surfidx_leaf_keys('eq_i8');
SELECT grown();
DROP TABLE eq, asked;

-- dead rows of one key: the table is asked for the key of a list, not of each of its entries
CREATE TABLE eq_dead (k int8, id int) WITH (autovacuum_enabled = off);
INSERT INTO eq_dead SELECT 5, i FROM generate_series(1, 5000) i;
CREATE INDEX eq_dead_k ON eq_dead USING surfidx (k) WITH (keys = cut);
DELETE FROM eq_dead WHERE id < 5000;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT id FROM eq_dead WHERE k = 5;
SELECT recovered_by_readers < 100 AS few FROM surfidx_leaf_keys('eq_dead_k');
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE eq_dead;

-- a unique index: what repeats are the versions of a row
CREATE TABLE eq_u (id int, v int);
INSERT INTO eq_u SELECT i, 0 FROM generate_series(1, 2000) i;
CREATE UNIQUE INDEX eq_u_id ON eq_u USING surfidx (id) WITH (keys = cut);
CREATE INDEX eq_u_v ON eq_u USING surfidx (v) WITH (keys = cut);
DO $$ BEGIN FOR i IN 1..1500 LOOP UPDATE eq_u SET v = v + 1 WHERE id IN (700, 701); END LOOP; END $$;
SELECT surfidx_merge('eq_u_id') > 0 AS merged;
INSERT INTO eq_u VALUES (700, 0);
INSERT INTO eq_u VALUES (701, 0) ON CONFLICT (id) DO NOTHING;
DELETE FROM eq_u WHERE id = 700;
INSERT INTO eq_u VALUES (700, 0);
INSERT INTO eq_u VALUES (700, 1);
SELECT surfidx_check(i, true, true) FROM unnest('{eq_u_id,eq_u_v}'::regclass[]) i;
VACUUM eq_u;
INSERT INTO eq_u VALUES (701, 0);
SELECT surfidx_check(i, true, true) FROM unnest('{eq_u_id,eq_u_v}'::regclass[]) i;
DROP TABLE eq_u;
DROP FUNCTION fill_sizes, size_of, too_large, fill, answers, differences, merged, grown;
