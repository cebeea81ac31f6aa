-- The order changes while the server runs, under entries that are still in the delta (K4, R12): what
-- was put in the old order in memory must not lead scans and merges round in circles, nor past rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET enable_seqscan = off;
SET enable_sort = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;

-- What it says, or "out of order".
CREATE FUNCTION said(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE n text;
BEGIN
	EXECUTE query INTO n;
	RETURN n;
EXCEPTION WHEN index_corrupted THEN
	RETURN regexp_replace(SQLERRM, '.* is (out of order) .*', '\1');
END $$;
CREATE FUNCTION in_order() RETURNS text LANGUAGE sql
AS $$ SELECT said('SELECT count(*) FROM (SELECT v FROM changed ORDER BY v) x') $$;

-- What happens to n rows whose type loses its first attribute.
CREATE PROCEDURE lose_attribute(n int) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TYPE changing AS (a int, b int);
	CREATE TABLE changed (i int, v changing) WITH (autovacuum_enabled = off);
	CREATE INDEX changed_v ON changed USING surfidx (v);
	INSERT INTO changed SELECT i, ROW((i * 7927) % 10007, (i * 104729) % 10009)::changing
	FROM generate_series(1, n) i;
	-- which brings them into memory in the order of now
	ASSERT (SELECT count(*) FROM (SELECT v FROM changed ORDER BY v) x) = n;
	ALTER TYPE changing DROP ATTRIBUTE a;
END $$;

-- a scan ends: it says so, or misses rows; the check says so, and then all is well
DO $$
DECLARE
	says text;
	checks text;
BEGIN
	FOR n IN 1 .. 8 LOOP
		CALL lose_attribute(n * 120);
		says := in_order();
		IF says <> 'out of order' AND says::int > n * 120 THEN
			RAISE NOTICE '% of % rows', says, n * 120;
		END IF;
		checks := said('SELECT surfidx_check(''changed_v'', true, true)');
		-- (the session that reported it has dropped what was in another order)
		IF checks <> (CASE says WHEN 'out of order' THEN '' ELSE 'out of order' END) THEN
			RAISE NOTICE '% rows, %: the check says %', n * 120, says, checks;
		END IF;
		IF in_order() <> (n * 120)::text THEN
			RAISE NOTICE '% rows: % afterwards', n * 120, in_order();
		END IF;
		DROP TABLE changed;
		DROP TYPE changing;
	END LOOP;
END $$;

-- CLUSTER loses none
CALL lose_attribute(480);
CLUSTER changed USING changed_v;
SELECT count(*), count(DISTINCT i) FROM changed;
SELECT in_order();
DROP TABLE changed;
DROP TYPE changing;
CALL lose_attribute(5000);
CLUSTER changed USING changed_v;
SELECT count(*), count(DISTINCT i) FROM changed;
DROP TABLE changed;
DROP TYPE changing;

-- a merge brings each entry once
CALL lose_attribute(5000);
SELECT surfidx_merge('changed_v');
SELECT entries FROM surfidx_stats('changed_v');
SELECT surfidx_check('changed_v', true, true);
SELECT in_order();
DROP TABLE changed;
DROP TYPE changing;

-- VACUUM that makes the file shorter: pages move only where comparisons lead to their neighbours
CREATE TYPE changing AS (a int, b text COLLATE "C");
CREATE TABLE changed (i int, v changing) WITH (autovacuum_enabled = off);
INSERT INTO changed SELECT i,
	ROW(i, lpad(((i * 10 + hashint4(i)::int8 % 1500 + 2000))::text, 8, '0') || repeat('x', 600))::changing
FROM generate_series(1, 5000) i;
CREATE INDEX changed_v ON changed USING surfidx (v);
SELECT levels > 2 AS deep FROM surfidx_stats('changed_v');
ALTER TYPE changing DROP ATTRIBUTE a;
DELETE FROM changed WHERE i BETWEEN 500 AND 2500;
VACUUM changed;
VACUUM changed;
SELECT entries FROM surfidx_stats('changed_v');
INSERT INTO changed SELECT i, ROW(lpad((i * 10)::text, 8, '0') || repeat('y', 600))::changing
FROM generate_series(1, 3000) i;
SELECT surfidx_merge('changed_v');
DELETE FROM changed WHERE i % 3 > 0;
VACUUM changed;
SET enable_seqscan = on;
SELECT entries - (SELECT count(ctid) FROM changed) AS "too many" FROM surfidx_stats('changed_v');
SELECT said('SELECT surfidx_check(''changed_v'')');
REINDEX INDEX changed_v;
SELECT surfidx_check('changed_v', true, true);
DROP TABLE changed;
DROP TYPE changing;
