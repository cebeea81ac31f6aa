-- WITH (size_limit = kB): near the bound the leaves that are read least are cut; far below it those that are read get their keys back
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.unique_notice = off;
SET surfidx.auto_merge = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE bound (u uuid, s text COLLATE "C", v int) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill(low int, high int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO bound SELECT md5(g::text)::uuid, md5((g / 3)::text) || g, g FROM generate_series(low, high) g $$;
SELECT fill(1, 60000);

-- which values it has, and which indexes it is for: others say so
CREATE INDEX bound_u ON bound USING surfidx (u) WITH (size_limit = 63);
CREATE INDEX bound_u ON bound USING surfidx (u) WITH (size_limit = '3 TB');
CREATE INDEX bound_u ON bound USING surfidx (u) WITH (size_limit = '10 MiB');
CREATE INDEX bound_u ON bound USING surfidx (u) WITH (size_limit = much);
CREATE INDEX bound_u ON bound USING surfidx (u) WITH (size_limit = '10 MB', delta_size = '1MB');
SELECT size_limit FROM surfidx_leaf_keys('bound_u');
DROP INDEX bound_u;
CREATE INDEX bound_u ON bound USING surfidx (u) INCLUDE (v) WITH (size_limit = 640);
DROP INDEX bound_u;
CREATE INDEX bound_u ON bound USING surfidx (u);
CREATE INDEX bound_s ON bound USING surfidx (s) WITH (size_limit = 100000);
VACUUM ANALYZE bound;

-- all of an index, or a part of it, as kept in its leaves and as the table has it
CREATE FUNCTION reads(high text) RETURNS text LANGUAGE plpgsql SET enable_indexscan = off SET enable_sort = off AS $$
DECLARE
	r text;
BEGIN
	SELECT md5(string_agg(u::text, '|')) INTO r FROM (SELECT u FROM bound WHERE u < high::uuid ORDER BY u) x;
	RETURN r;
END $$;
CREATE FUNCTION differences() RETURNS SETOF text LANGUAGE plpgsql AS $f$
DECLARE
	q text;
	r text;
	want text;
	how text;
BEGIN
	FOREACH q IN ARRAY '{SELECT u FROM bound WHERE u > $$70000000-0000-0000-0000-000000000000$$ ORDER BY u,SELECT u FROM bound ORDER BY u DESC,SELECT v FROM bound WHERE u = ANY (ARRAY(SELECT u FROM bound WHERE v % 97 = 0)) ORDER BY u,SELECT count(*) FROM bound WHERE u < $$30000000-0000-0000-0000-000000000000$$,SELECT s FROM bound WHERE s > $$c$$ ORDER BY s,SELECT v FROM bound WHERE s LIKE $$d%$$ ORDER BY s}'::text[] LOOP
		q := 'SELECT count(*) || md5(string_agg(x::text, $$|$$)) FROM (' || q || ') x';
		FOREACH how IN ARRAY '{seqscan,indexscan,indexonlyscan,bitmapscan}'::text[] LOOP
			PERFORM set_config('enable_' || h, CASE WHEN h = how THEN 'on' ELSE 'off' END, true)
			FROM unnest('{seqscan,indexscan,indexonlyscan,bitmapscan}'::text[]) h;
			EXECUTE q INTO r;
			want := CASE WHEN how = 'seqscan' THEN r ELSE want END;
			IF r IS DISTINCT FROM want THEN
				RETURN NEXT how || ': ' || q;
			END IF;
		END LOOP;
	END LOOP;
	PERFORM set_config('enable_indexscan', 'on', true);
END $f$;
CREATE FUNCTION state(OUT kinds text, OUT share text, OUT over bool) LANGUAGE sql AS $$
	SELECT CASE WHEN cut_leaves = 0 THEN 'whole' WHEN cut_leaves = leaves THEN 'cut' ELSE 'both' END,
		CASE WHEN size > size_limit THEN 'above' WHEN size > 0.9 * size_limit THEN '90 %' WHEN size > 0.85 * size_limit THEN '85 %'
			WHEN size >= 0.75 * size_limit THEN '75 %' ELSE 'below' END, over_limit
	FROM surfidx_leaf_keys('bound_u', 0) $$;
CREATE TABLE seen (n serial, made_cut int8, made_whole int8, readers int8, merges int8);
CREATE FUNCTION look(OUT cut bool, OUT whole bool, OUT recovered bool) LANGUAGE plpgsql AS $$
DECLARE
	now record;
	before record;
BEGIN
	SELECT * INTO now FROM surfidx_leaf_keys('bound_u');
	SELECT * INTO before FROM seen ORDER BY n DESC LIMIT 1;
	INSERT INTO seen (made_cut, made_whole, readers, merges)
	VALUES (now.leaves_made_cut, now.leaves_made_whole, now.recovered_by_readers, now.recovered_by_merges);
	cut := now.leaves_made_cut > before.made_cut;
	whole := now.leaves_made_whole > before.made_whole;
	recovered := now.recovered_by_readers > before.readers;
END $$;
SELECT keys, leaves > 0 AS leaves, cut_leaves, cut_entries, leaves_made_cut, last_change, size_limit, size > 0 AS size, over_limit FROM surfidx_leaf_keys('bound_u');
INSERT INTO seen (made_cut, made_whole, readers, merges) VALUES (0, 0, 0, 0);

-- the coldest leaves are cut, down to 85 %; those that are read keep their keys
ALTER INDEX bound_u SET (size_limit = 100000);
SELECT reads('40000000-0000-0000-0000-000000000000') IS NOT NULL;
ALTER INDEX bound_u SET (size_limit = 640);
SELECT surfidx_merge('bound_u');
SELECT * FROM state(), look();
SELECT cut_entries BETWEEN 1 AND 59999 AS some, last_change > '2020-01-01' AS changed, size_limit = 640 * 1024 AS limit_bytes FROM surfidx_leaf_keys('bound_u', 0);
SELECT reads('40000000-0000-0000-0000-000000000000') IS NOT NULL;
SELECT * FROM look();
SELECT reads('ffffffff-0000-0000-0000-000000000000') IS NOT NULL;
SELECT * FROM look();
SELECT * FROM differences();
SELECT surfidx_check('bound_u', true, true);
-- the planner charges visits to rows for the share of entries that is cut
CREATE FUNCTION cost() RETURNS float8 LANGUAGE plpgsql SET enable_indexscan = off SET enable_sort = off AS $$
DECLARE
	line text;
BEGIN
	EXECUTE 'EXPLAIN SELECT u FROM bound ORDER BY u' INTO line;
	RETURN substring(line FROM '\.\.([0-9.]+)')::float8;
END $$;
SELECT cost() AS both, cut_entries / 60000.0 AS share FROM surfidx_leaf_keys('bound_u', 0) \gset
BEGIN;
DROP INDEX bound_u;
CREATE INDEX bound_whole ON bound USING surfidx (u);
SELECT cost() AS whole \gset
DROP INDEX bound_whole;
CREATE INDEX bound_cut ON bound USING surfidx (u) WITH (keys = cut);
SELECT cost() AS cut \gset
ROLLBACK;
SELECT abs((:both - :whole) / (:cut - :whole) - :share) < 0.1 AS by_entries;
-- nothing is done twice, nor undone
SELECT surfidx_merge('bound_u');
VACUUM bound;
SELECT cut, whole FROM look();

-- rows that come get the kind of their neighbours, and leaves are cut again when 90 % are reached; by VACUUM as well
SELECT fill(60001, 70000);
SELECT surfidx_merge('bound_u') > 0;
SELECT fill(70001, 80000);
VACUUM bound;
SELECT kinds, over, cut FROM state(), look();
SELECT * FROM differences();
SELECT surfidx_check('bound_u', true, true), surfidx_check('bound_s', true, true);

-- all is cut, and it is not enough
ALTER INDEX bound_u SET (size_limit = 128);
SELECT surfidx_merge('bound_u') >= 0 AS merged;
SELECT * FROM state();
SELECT * FROM differences();

-- far below the bound: leaves that nobody takes keys from stay as they are; the others get theirs back, up to 80 %
CREATE FUNCTION set_limit(share float8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('ALTER INDEX bound_u SET (size_limit = %s)', (SELECT (size / 1024 / share)::int FROM surfidx_leaf_keys('bound_u')));
END $$;
SELECT cut_leaves > 0 AND recovered_by_readers > 0 AS read FROM surfidx_leaf_keys('bound_u');
REINDEX INDEX bound_u;
ALTER INDEX bound_u SET (size_limit = 128);
SELECT surfidx_merge('bound_u') >= 0 AS merged;
SELECT set_limit(0.3);
INSERT INTO seen (made_cut, made_whole, readers, merges) SELECT leaves_made_cut, leaves_made_whole, 0, 0 FROM surfidx_leaf_keys('bound_u');
SELECT surfidx_merge('bound_u');
SELECT * FROM state(), look();
SELECT count(*) FROM bound a WHERE u = ANY (ARRAY(SELECT md5(g::text)::uuid FROM generate_series(1, 2000) g));
SELECT surfidx_merge('bound_u');
SELECT kinds, share, whole FROM state(), look();
SELECT reads('30000000-0000-0000-0000-000000000000') IS NOT NULL;
SELECT surfidx_merge('bound_u');
SELECT kinds, over, whole, recovered FROM state(), look();
SELECT recovered_by_merges > 0 AS by_merges FROM surfidx_leaf_keys('bound_u');
SELECT reads('30000000-0000-0000-0000-000000000000') IS NOT NULL;
SELECT * FROM look();
SELECT reads('ffffffff-0000-0000-0000-000000000000') IS NOT NULL;
SELECT surfidx_merge('bound_u');
SELECT size < 0.85 * size_limit AS below_85 FROM surfidx_leaf_keys('bound_u');
SELECT surfidx_merge('bound_u');
INSERT INTO seen (made_cut, made_whole, readers, merges) SELECT leaves_made_cut, leaves_made_whole, 0, 0 FROM surfidx_leaf_keys('bound_u');
VACUUM bound;
SELECT cut, whole FROM look();
SELECT * FROM differences();
SELECT surfidx_check('bound_u', true, true);

-- rows go: VACUUM gives keys back
DELETE FROM bound WHERE v % 2 = 0;
VACUUM bound;
SELECT * FROM differences();
SELECT surfidx_check('bound_u', true, true);

-- keys pins a kind, whatever the bound says
ALTER INDEX bound_u SET (keys = full, size_limit = 64);
VACUUM bound;
SELECT keys FROM surfidx_leaf_keys('bound_u');
SELECT * FROM state();
ALTER INDEX bound_u SET (keys = cut, size_limit = 100000);
VACUUM bound;
SELECT keys FROM surfidx_leaf_keys('bound_u');
SELECT * FROM state();
-- without both all are whole
ALTER INDEX bound_u RESET (keys, size_limit);
VACUUM bound;
SELECT keys, cut_leaves, size_limit, over_limit FROM surfidx_leaf_keys('bound_u');
SELECT * FROM differences();
SELECT surfidx_check('bound_u', true, true);
SELECT surfidx_leaf_keys('bound_u', -1);
SELECT surfidx_leaf_keys('bound');

DROP TABLE bound, seen;
DROP FUNCTION fill, reads, differences, state, look, set_limit, cost;
