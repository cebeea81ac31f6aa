-- surfidx_rank(), surfidx_nth(), surfidx_sample(), surfidx_ntiles(): places among entries, keys of
-- visible rows

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
\pset null NULL
CREATE TABLE t (k int, s text COLLATE "C", id int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i * 7919::bigint % 20011, 's' || i % 7, i FROM generate_series(1, 20000) i;
INSERT INTO t SELECT NULL, 'x', 20000 + i FROM generate_series(1, 3) i;
CREATE INDEX t_k ON t USING surfidx (k);
CREATE INDEX t_sk ON t USING surfidx (s, k DESC) INCLUDE (id);
CREATE TABLE sorted AS SELECT row_number() OVER (ORDER BY k) - 1 AS place, k FROM t;
CREATE INDEX ON sorted (place);

-- rank and nth are each other's inverse, and what a sort says, built, beside a delta, merged
CREATE FUNCTION places_that_differ() RETURNS TABLE (place bigint, k int, nth text[], rank bigint)
LANGUAGE sql AS $$
	SELECT s.place, s.k, (surfidx_nth('t_k', s.place)).key, surfidx_rank('t_k', s.k)
	FROM sorted s WHERE (s.place % 611 = 0 OR s.place > 19990)
		AND ((surfidx_nth('t_k', s.place)).key IS DISTINCT FROM ARRAY[s.k::text]
			OR (s.k IS NOT NULL AND surfidx_rank('t_k', s.k) <> s.place))
$$;
SELECT * FROM places_that_differ();
INSERT INTO t SELECT 30000 + i, 'y', 30000 + i FROM generate_series(1, 300) i;
INSERT INTO t SELECT -i, 'y', 30000 + i FROM generate_series(1, 40) i;
TRUNCATE sorted;
INSERT INTO sorted SELECT row_number() OVER (ORDER BY k) - 1 AS place, k FROM t;
SELECT * FROM places_that_differ();
SELECT surfidx_merge('t_k') IS NOT NULL;
SELECT * FROM places_that_differ();
SELECT surfidx_rank('t_k', -100), surfidx_rank('t_k', 100000), surfidx_rank('t_k', NULL::int);
SELECT surfidx_rank('t_sk', 's3') = count(*) FILTER (WHERE s < 's3'), surfidx_rank('t_sk', 's3', 777) = count(*) FILTER (WHERE s < 's3' OR (s = 's3' AND k > 777)) FROM t;

-- from the end, beyond it, of several columns
SELECT n, (surfidx_nth('t_k', n)).key FROM unnest('{-1,-4,-20343,-20344,20342,20343,9223372036854775807,-9223372036854775808}'::bigint[]) n;
SELECT x.key, t.s, t.k FROM surfidx_nth('t_sk', 5000) x JOIN t ON t.ctid = x.tid;

-- the key is that of a row that the snapshot sees
BEGIN;
DELETE FROM t WHERE k BETWEEN 100 AND 200;
INSERT INTO t VALUES (-1000, 'z', 1);
SELECT (surfidx_nth('t_k', 0)).key, (surfidx_nth('t_k', surfidx_rank('t_k', 100))).key;
SELECT count(*), bool_or(key[1]::int BETWEEN 100 AND 200) FROM surfidx_sample('t_k', 100000);
ROLLBACK;
SELECT (surfidx_nth('t_k', 0)).key;
-- the entry that was rolled back counts until then
VACUUM (INDEX_CLEANUP ON) t;

-- samples: so many rows, all different, from everywhere
SELECT count(*), count(DISTINCT tid), count(*) FILTER (WHERE key[1]::int < 10000) BETWEEN 150 AND 350, bool_and(t.k IS NOT DISTINCT FROM key[1]::int)
	FROM surfidx_sample('t_k', 500) x JOIN t ON t.ctid = x.tid;
SELECT count(*), count(DISTINCT tid) = (SELECT count(*) FROM t) FROM surfidx_sample('t_k', 30000);
SELECT count(*) FROM surfidx_sample('t_k', 0);

-- parts
SELECT * FROM surfidx_ntiles('t_k', 4);
SELECT count(*), sum(entries), max(entries) - min(entries) <= 2 FROM surfidx_ntiles('t_k', 100);
SELECT bool_and(entries = (SELECT count(*) FROM t WHERE (low IS NULL OR k >= low[1]::int) AND (high IS NULL OR k < high[1]::int)))
	FROM surfidx_ntiles('t_k', 10) WHERE high IS NOT NULL;
CREATE TABLE few (g text) WITH (autovacuum_enabled = off);
INSERT INTO few SELECT 'g' || i / 400 FROM generate_series(0, 1199) i;
CREATE INDEX few_g ON few USING surfidx (g);
SELECT * FROM surfidx_ntiles('few_g', 7);
SELECT * FROM surfidx_ntiles('few_g', 1);
TRUNCATE few;
SELECT * FROM surfidx_ntiles('few_g', 3);
SELECT * FROM surfidx_nth('few_g', 0);
SELECT * FROM surfidx_sample('few_g', 3);

-- errors and rights
\set VERBOSITY verbose
\set SHOW_CONTEXT never
CREATE FUNCTION tried(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN sqlstate || ' ' || sqlerrm || ' / ' || hint;
END $$;
SELECT tried(q) FROM unnest(ARRAY['SELECT surfidx_sample(''t_k'', -1)', 'SELECT surfidx_ntiles(''t_k'', 0)', 'SELECT surfidx_nth(''t'', 1)',
	'SELECT surfidx_rank(''t_k'', 1, 2)', 'SELECT surfidx_rank(''t_k'', ''abc'')', 'SELECT surfidx_rank(''t_k'', 10000000000)']) q;
SELECT surfidx_nth(NULL, 1), surfidx_nth('t_k', NULL), surfidx_rank(NULL, 1);
CREATE ROLE surfidx_ranks;
SET ROLE surfidx_ranks;
SELECT tried(q) FROM unnest(ARRAY['SELECT surfidx_nth(''public.t_k'', 1)', 'SELECT surfidx_rank(''public.t_k'', 1)', 'SELECT surfidx_sample(''public.t_k'', 1)', 'SELECT surfidx_ntiles(''public.t_k'', 2)']) q;
RESET ROLE;
GRANT SELECT (k) ON t TO surfidx_ranks;
SET ROLE surfidx_ranks;
SELECT tried(q) FROM unnest(ARRAY['SELECT surfidx_nth(''public.t_k'', 1)', 'SELECT surfidx_nth(''public.t_sk'', 1)']) q;
RESET ROLE;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
SET ROLE surfidx_ranks;
SELECT tried('SELECT surfidx_sample(''public.t_k'', 1)');
RESET ROLE;
DROP TABLE t, few, sorted;
DROP FUNCTION places_that_differ, tried;
DROP ROLE surfidx_ranks;
