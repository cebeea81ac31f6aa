-- WITH (keys = cut): leaves store of a key what distinguishes it from its neighbours, and the table has the rest
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.unique_notice = off;
SET surfidx.auto_merge = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;

-- which indexes can: others say so
CREATE TABLE few (n int, s text COLLATE "C", i text COLLATE "en-x-icu", a int[]);
CREATE INDEX few_all ON few USING surfidx (n, s) WITH (keys = cut);
CREATE INDEX few_icu ON few USING surfidx (i) WITH (keys = cut);
CREATE INDEX few_raw ON few USING surfidx (a) WITH (keys = cut);
CREATE INDEX few_expr ON few USING surfidx ((n + 1)) WITH (keys = cut);
CREATE INDEX few_include ON few USING surfidx (n) INCLUDE (s) WITH (keys = cut);
CREATE INDEX few_filter ON few USING surfidx (n) WITH (keys = cut, filter = bloom);
CREATE INDEX few_wrong ON few USING surfidx (n) WITH (keys = half);
DROP TABLE few;

-- kinds of keys: numbers that are dense and sparse, uuids, text, several columns, duplicates, NULLs, long values
CREATE TABLE cut (id int8, n int8, u uuid, s text COLLATE "C", d date, m numeric, k int, l text COLLATE "C");
CREATE FUNCTION fill(low int, high int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO cut SELECT g, (hashint8(g)::int8 << 31) + hashint8(-g), md5(g::text)::uuid,
		'user' || hashint4(g) % 1000 || '@' || CASE WHEN g % 3 = 0 THEN 'example.com' ELSE md5((g / 7)::text) || '.org' END,
		CASE WHEN g % 10 <> 0 THEN '2000-01-01'::date + g % 3000 END, g / 7.0, g % 40,
		CASE WHEN g % 50 = 0 THEN repeat(md5(g::text), 40 + g % 20) ELSE g::text END
	FROM generate_series(low, high) g ORDER BY hashint4(g) $$;
SELECT fill(1, 6000);
CREATE FUNCTION make_indexes(how text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c text;
BEGIN
	FOREACH c IN ARRAY '{id,n,u,s,"d DESC NULLS LAST",m,"k, n","k, s DESC",l}'::text[] LOOP
		EXECUTE format('CREATE INDEX %I ON cut USING surfidx (%s) WITH (keys = %s)', 'cut_' || lower(translate(c, ' ,', '_')), c, how);
	END LOOP;
END $$;
SELECT make_indexes('cut');
-- bytes of leaves, beside whole keys
CREATE FUNCTION leaf_bytes() RETURNS TABLE (index name, bytes int8) LANGUAGE sql AS $$
	SELECT relname, pg_relation_size(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname ~ '^cut_' AND amname = 'surfidx' $$;
CREATE TABLE sizes AS SELECT * FROM leaf_bytes();
ANALYZE cut;

-- what an index tells, beside what the table does, for plain, index-only and bitmap scans in both directions
CREATE TABLE asked (n serial, query text);
INSERT INTO asked (query) SELECT format('SELECT %s FROM cut WHERE %s ORDER BY %s', c.want, c.cond, c.ord) FROM (VALUES
	('id', 'id BETWEEN 500 AND 700', 'id'), ('id', 'id > 5900', 'id DESC'), ('id, n', 'id = 77', 'id'), ('id', 'id = 77000', 'id'),
	('id', 'id = ANY (ARRAY[5, 6, 7, 3000, 9999])', 'id'), ('n', 'n > 0 AND n < 2000000000000000000', 'n'), ('id', 'n < 0', 'n DESC'),
	('u', 'u >= ''80000000-0000-0000-0000-000000000000''', 'u'), ('id', 'u = md5(''4321'')::uuid', 'u'),
	('s', 's LIKE ''user5%''', 's, 1'), ('s', 's >= ''user9'' AND s < ''user95''', 's DESC'), ('d', 'd BETWEEN ''2001-01-01'' AND ''2001-02-01''', 'd'),
	('d', 'd IS NULL', 'd'), ('d', 'true', 'd DESC NULLS LAST'), ('m', 'm BETWEEN 100 AND 101', 'm'), ('m', 'm = 100', 'm'),
	('k, n', 'k = 7', 'k, n'), ('k, n', 'k = 7 AND n > 0', 'k, n DESC'), ('k', 'k IN (3, 5)', 'k, n'), ('k, n', '(k, n) > (30, 0)', 'k, n'),
	('k, s', 'k = 9 AND s > ''user5''', 'k, s DESC'), ('l', 'l > ''9'' COLLATE "C"', 'l'), ('l', 'length(l) > 1000', 'l')) c (want, cond, ord);
INSERT INTO asked (query) SELECT unnest(ARRAY['SELECT count(*), min(n), max(n) FROM cut', 'SELECT count(*) FROM cut WHERE id > 17',
	'SELECT count(*), sum(n) FROM cut WHERE n > 0', 'SELECT k, count(*), min(n) FROM cut GROUP BY k ORDER BY k', 'SELECT DISTINCT k FROM cut ORDER BY k',
	'SELECT count(DISTINCT d) FROM cut', 'SELECT count(*) FROM cut a JOIN cut b ON a.n = b.n', 'SELECT max(u::text) FROM cut WHERE u < ''10000000-0000-0000-0000-000000000000''']);
-- keys beside those that are there: a row that is looked at again may be there for another key of the list
INSERT INTO asked (query) VALUES ('SELECT id FROM cut WHERE n = ANY (ARRAY(SELECT n + i FROM cut, generate_series(-1, 1) i WHERE id < 200)) ORDER BY id');
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r text;
BEGIN
	EXECUTE 'SELECT count(*) || '':'' || md5(string_agg(x::text, ''|'')) FROM (' || query || ') x' INTO r;
	RETURN r;
END $$;
CREATE FUNCTION differences() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	q text;
	want text;
	how text;
BEGIN
	FOR q IN SELECT query FROM asked ORDER BY n LOOP
		PERFORM set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true), set_config('enable_seqscan', 'on', true),
			set_config('surfidx.aggregates', 'off', true);
		want := rows_of(q);
		PERFORM set_config('enable_seqscan', 'off', true);
		FOREACH how IN ARRAY '{indexscan,indexonlyscan,bitmapscan,aggregates}'::text[] LOOP
			PERFORM set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
				set_config('surfidx.aggregates', 'off', true);
			IF how = 'aggregates' THEN
				PERFORM set_config('surfidx.aggregates', 'on', true), set_config('enable_indexonlyscan', 'on', true);
			ELSE
				PERFORM set_config('enable_' || how, 'on', true);
			END IF;
			IF rows_of(q) IS DISTINCT FROM want THEN
				RETURN NEXT how || ': ' || q;
			END IF;
		END LOOP;
		PERFORM set_config('enable_seqscan', 'off', true);
	END LOOP;
END $$;
CREATE FUNCTION check_all() RETURNS void LANGUAGE sql AS $$
	SELECT surfidx_check(c.oid::regclass, true, true) FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname ~ '^cut_' AND amname = 'surfidx' $$;
SELECT * FROM differences();
SELECT check_all();

-- beside a delta; updates, deletions; merged; vacuumed
SELECT fill(6001, 7000);
UPDATE cut SET n = n + 1, s = s || 'x' WHERE id % 7 = 0;
DELETE FROM cut WHERE id % 11 = 0;
SELECT * FROM differences();
SELECT sum(surfidx_merge(c.oid::regclass)) > 0 AS merged FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname ~ '^cut_' AND amname = 'surfidx';
SELECT * FROM differences();
SELECT check_all();
VACUUM cut;
SELECT * FROM differences();
SELECT check_all();
-- a second round, whose merges meet what was cut before
SELECT fill(7001, 9000);
UPDATE cut SET n = n - 1 WHERE id % 5 = 0;
SELECT sum(surfidx_merge(c.oid::regclass)) > 0 AS merged FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname ~ '^cut_' AND amname = 'surfidx';
SELECT * FROM differences();
SELECT check_all();

-- cursors that turn round, marks
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM cut WHERE n > 0 ORDER BY n;
CREATE TABLE turned (n serial, id int8);
CREATE FUNCTION turn() RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	c REFCURSOR := 'c';
	there int8[];
	back int8[];
	one int8;
BEGIN
	FOR i IN 1 .. 900 LOOP
		FETCH c INTO one;
		there := there || one;
	END LOOP;
	FOR i IN 1 .. 899 LOOP
		FETCH PRIOR FROM c INTO one;
		back := one || back;
	END LOOP;
	RETURN there[1 : 899] = back;
END $$;
SELECT turn();
ROLLBACK;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_sort = off;
SELECT count(*) FROM (SELECT a.k, b.k FROM cut a JOIN cut b ON a.k = b.k AND a.n = b.n) x;
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_sort;

-- counts between keys that are there (dead entries are counted, too)
VACUUM cut;
SELECT count(*) FILTER (WHERE surfidx_count('cut_n', a.n, a.n) <> 1) AS one, count(*) FILTER (WHERE surfidx_count('cut_n', NULL::int8, a.n) <> a.r) AS upto,
	count(*) FILTER (WHERE surfidx_count('cut_n', NULL::int8, a.n, high_inclusive => false) <> a.r - 1) AS below
FROM (SELECT n, rank() OVER (ORDER BY n) AS r FROM cut) a WHERE r % 97 = 0;

-- as ALTER INDEX says: whole again, cut again
CREATE TABLE cut_bytes AS SELECT * FROM leaf_bytes();
CREATE FUNCTION set_all(how text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	i name;
BEGIN
	FOR i IN SELECT index FROM leaf_bytes() LOOP
		EXECUTE format('ALTER INDEX %I SET (keys = %s)', i, how);
		PERFORM surfidx_merge(i::text::regclass);
	END LOOP;
END $$;
SELECT set_all('full');
SELECT * FROM differences();
SELECT check_all();
SELECT b.index, l.bytes > b.bytes AS more FROM cut_bytes b JOIN leaf_bytes() l USING (index) WHERE index IN ('cut_u', 'cut_s', 'cut_l') ORDER BY index COLLATE "C";
SELECT set_all('cut');
SELECT * FROM differences();
SELECT check_all();
-- by VACUUM as well
ALTER INDEX cut_u SET (keys = full);
CREATE TABLE before AS SELECT pg_relation_size('cut_u') AS bytes;
VACUUM cut;
SELECT pg_relation_size('cut_u') > 1.5 * bytes AS whole FROM before;
ALTER INDEX cut_u RESET (keys);
ALTER INDEX cut_u SET (keys = cut);
VACUUM cut;
SELECT pg_relation_size('cut_u') < 1.1 * bytes AS cut FROM before;
SELECT check_all();
-- REINDEX
REINDEX TABLE cut;
SELECT * FROM differences();
REINDEX INDEX CONCURRENTLY cut_u;
VACUUM cut;
SELECT pg_relation_size('cut_u') < 1.1 * bytes AS cut FROM before;
SELECT check_all();

-- filters want keys whole: leaves that are cut already have none over them until VACUUM comes
CREATE TABLE sieved (k int8) WITH (autovacuum_enabled = off);
INSERT INTO sieved SELECT g * 1000003::int8 FROM generate_series(1, 20000) g;
SET surfidx.auto_merge = on;
-- a transaction that has created an index merges by itself
BEGIN;
CREATE INDEX sieved_k ON sieved USING surfidx (k) WITH (keys = cut);
ALTER INDEX sieved_k SET (filter = bloom, delta_size = 64, run_ratio = 0);
INSERT INTO sieved SELECT g * 1000003::int8 + 1 FROM generate_series(1, 20000) g;
COMMIT;
SET surfidx.auto_merge = off;
SELECT merges > 0 AS merged FROM surfidx_stats('sieved_k');
SELECT surfidx_check('sieved_k', true, true);
SELECT count(*) FILTER (WHERE NOT EXISTS (SELECT FROM sieved s WHERE s.k = g * 1000003::int8)) AS missing FROM generate_series(1, 20000) g;
VACUUM sieved;
SELECT surfidx_check('sieved_k', true, true);
SELECT count(*) FILTER (WHERE NOT EXISTS (SELECT FROM sieved s WHERE s.k = g * 1000003::int8)) AS missing FROM generate_series(1, 20000) g;
DROP TABLE sieved;

-- constraints
CREATE TABLE one (id int8, v int);
CREATE UNIQUE INDEX one_id ON one USING surfidx (id) WITH (keys = cut);
INSERT INTO one SELECT g * 1000003::int8, g FROM generate_series(1, 3000) g;
SELECT surfidx_merge('one_id') > 0;
INSERT INTO one VALUES (2000006, 0);
INSERT INTO one VALUES (2000006, 0) ON CONFLICT (id) DO UPDATE SET v = excluded.v RETURNING *;
INSERT INTO one VALUES (2000007, 0) ON CONFLICT (id) DO NOTHING RETURNING *;
UPDATE one SET id = id + 1 WHERE v < 100;
UPDATE one SET id = 3000009 WHERE v = 4;
DELETE FROM one WHERE id = 3000010;
INSERT INTO one VALUES (3000010, 3);
SELECT surfidx_merge('one_id') > 0;
INSERT INTO one VALUES (3000010, 3);
SELECT surfidx_check('one_id', true, true);
CREATE TABLE later (id int8, EXCLUDE USING surfidx (id WITH =) WITH (keys = cut) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO later SELECT g * 1000003::int8 FROM generate_series(1, 2000) g;
SELECT surfidx_merge('later_id_excl') > 0;
BEGIN;
INSERT INTO later VALUES (2000006);
DELETE FROM later WHERE id = 2000006;
INSERT INTO later VALUES (2000006);
COMMIT;
INSERT INTO later VALUES (2000006);

-- keys that ascend: where the tree ends is known without its last leaf
INSERT INTO one SELECT g * 1000003::int8, g FROM generate_series(3001, 20000) g;
SELECT surfidx_merge('one_id') > 0;
SELECT leaves AS before FROM surfidx_page_counts() \gset
INSERT INTO one SELECT g * 1000003::int8, g FROM generate_series(20001, 21000) g;
SELECT count(*) FROM generate_series(21001, 22000) g WHERE EXISTS (SELECT FROM one WHERE id = g * 1000003::int8 OFFSET 0);
SELECT leaves - :before < 100 AS without FROM surfidx_page_counts();
INSERT INTO one VALUES (20001 * 1000003::int8);
INSERT INTO one VALUES (20000 * 1000003::int8);

-- counts by pages: few leaves are read; where a bound begins as a stored key, all that are in the range
CREATE TABLE many (u uuid) WITH (autovacuum_enabled = off);
INSERT INTO many SELECT md5(g::text)::uuid FROM generate_series(1, 500000) g;
CREATE INDEX many_u ON many USING surfidx (u) WITH (keys = cut);
VACUUM ANALYZE many;
SELECT leaves AS before FROM surfidx_page_counts() \gset
SELECT count(*) FROM many;
SELECT leaves - :before < 100 AS few FROM surfidx_page_counts();
SELECT count(*) AS wrong FROM (SELECT u, row_number() OVER (ORDER BY u) AS n FROM many) x
WHERE n % 1009 = 0 AND (SELECT count(*) FROM many WHERE u <= x.u) <> n;
DROP TABLE many;

-- readers that do not check rows again: CLUSTER, the planner, a build's second look
CLUSTER one USING one_id;
SELECT bool_and(id > before) FROM (SELECT id, lag(id) OVER (ORDER BY ctid) AS before FROM one) x;
CREATE INDEX CONCURRENTLY one_v ON one USING surfidx (v) WITH (keys = cut);
VACUUM one;
SELECT surfidx_check('one_v', true, true), surfidx_check('one_id', true, true);
SELECT max(id), min(v) FROM one;

-- HOT chains: an entry's key is that of the chain's last row that is not dead to all
CREATE TABLE chain (k int8, v int) WITH (fillfactor = 50);
INSERT INTO chain SELECT g * 1000003::int8, g FROM generate_series(1, 500) g;
BEGIN;
UPDATE chain SET k = 7 WHERE v = 3;
CREATE INDEX chain_k ON chain USING surfidx (k) WITH (keys = cut);
COMMIT;
SELECT v FROM chain WHERE k = 7;
SELECT k FROM chain WHERE k BETWEEN 0 AND 3000009 ORDER BY k;
DROP INDEX chain_k;
BEGIN;
UPDATE chain SET k = 8 WHERE v = 5;
ROLLBACK;
CREATE INDEX chain_k ON chain USING surfidx (k) WITH (keys = cut);
SELECT v FROM chain WHERE k = 8;
SELECT k FROM chain WHERE k BETWEEN 4000000 AND 6000018 ORDER BY k;
UPDATE chain SET v = v + 1000 WHERE k < 100000000;
SELECT k FROM chain WHERE k BETWEEN 4000000 AND 6000018 ORDER BY k;
INSERT INTO chain SELECT g * 1000003 + 1, g FROM generate_series(1, 500) g;
SELECT surfidx_merge('chain_k') > 0;
SELECT surfidx_check('chain_k', true, true);

-- the planner knows that an index-only scan visits rows for their keys
SET enable_indexonlyscan = on;
VACUUM ANALYZE cut;
CREATE FUNCTION cost_of(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	EXECUTE 'EXPLAIN ' || query INTO line;
	RETURN substring(line FROM '\.\.([0-9.]+)')::float8;
END $$;
CREATE TABLE costs AS SELECT cost_of('SELECT u FROM cut WHERE u < ''20000000-0000-0000-0000-000000000000''') AS read, cost_of('SELECT count(*) FROM cut WHERE u < ''20000000-0000-0000-0000-000000000000''') AS counted;
SELECT set_all('full');
SELECT read > 1.5 * cost_of('SELECT u FROM cut WHERE u < ''20000000-0000-0000-0000-000000000000''') AS read,
	counted > 1.5 * cost_of('SELECT count(*) FROM cut WHERE u < ''20000000-0000-0000-0000-000000000000''') AS counted FROM costs;

-- bounds that differ from all keys of a block in bits that these share, and agree with a run of equal stored keys in the others
CREATE TABLE runs AS SELECT (2 * i::int8) << 32 AS k FROM generate_series(1, 200) i;
INSERT INTO runs VALUES ((200::int8 << 32) + 1);
CREATE TABLE decimals AS SELECT i + CASE WHEN i * 7919 % 13 < 4 THEN 0.9 ELSE 0 END AS n FROM generate_series(1, 400) i;
CREATE INDEX runs_k ON runs USING surfidx (k) WITH (keys = cut);
CREATE INDEX decimals_n ON decimals USING surfidx (n DESC) WITH (keys = cut);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE FUNCTION asked_runs(i int) RETURNS bigint[] LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE b int8 := i::int8 << 32; r bigint[] := '{}'; c bigint;
BEGIN
	FOR d IN 0..2 LOOP
		SELECT count(*) INTO c FROM (SELECT k FROM runs WHERE k < b + d OFFSET 0) x; r := r || c;
		SELECT count(*) INTO c FROM (SELECT k FROM runs WHERE k > b + d OFFSET 0) x; r := r || c;
		SELECT count(*) INTO c FROM (SELECT n FROM decimals WHERE n >= i + d / 10.0 OFFSET 0) x; r := r || c;
		SELECT count(*) INTO c FROM (SELECT n FROM decimals WHERE n = i + d / 10.0 OFFSET 0) x; r := r || c;
	END LOOP;
	SELECT count(*) INTO c FROM (SELECT k FROM runs WHERE k BETWEEN b - (1::int8 << 32) AND b + (1::int8 << 32) ORDER BY k DESC OFFSET 0) x;
	RETURN r || c;
END $$;
CREATE TABLE by_index AS SELECT i, asked_runs(i) AS r FROM generate_series(0, 402) i;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_seqscan = on;
SELECT count(*) AS wrong FROM by_index WHERE r <> asked_runs(i);
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_bitmapscan;
SET enable_seqscan = off;
DROP FUNCTION asked_runs;
DROP TABLE runs, decimals, by_index;

-- A scan visits as many rows as it returns keys, not those of many keys at once.
CREATE TABLE few AS SELECT md5(g::text)::uuid AS u FROM generate_series(1, 20000) g;
CREATE INDEX few_u ON few USING surfidx (u) WITH (keys = cut);
VACUUM ANALYZE few;
SET enable_bitmapscan = off;
SET enable_sort = off;
SELECT count(x.u) FROM (SELECT md5(g || 'x')::uuid AS k FROM generate_series(1, 100) g OFFSET 0) s,
	LATERAL (SELECT u FROM few WHERE u >= k ORDER BY u LIMIT 1) x;
SELECT count(x.u) FROM (SELECT md5(g || 'y')::uuid AS k FROM generate_series(1, 100) g OFFSET 0) s,
	LATERAL (SELECT u FROM few WHERE u <= k ORDER BY u DESC LIMIT 1) x;
SELECT recovered_by_readers < 250 AS few FROM surfidx_leaf_keys('few_u');
RESET enable_bitmapscan;
RESET enable_sort;
DROP TABLE few;

DROP TABLE cut, sizes, asked, cut_bytes, before, one, later, chain, costs;
DROP FUNCTION fill, make_indexes, leaf_bytes, rows_of, differences, check_all, set_all, cost_of;
