-- V6: VACUUM merges a delta that is due, and else only what writes few leaves beside its own.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;

CREATE TABLE scattered (k int8, i int) WITH (autovacuum_enabled = off);
CREATE FUNCTION scattered_add(f int, t int) RETURNS void LANGUAGE sql AS
	$$INSERT INTO scattered SELECT hashint8extended(i, 0), i FROM generate_series(f, t) i$$;
SELECT scattered_add(1, 200000);
CREATE INDEX scattered_k ON scattered USING surfidx (k) WITH (run_ratio = 0);
CREATE FUNCTION scattered_is(OUT merges bigint, OUT delta bigint) LANGUAGE sql AS
	$$SELECT merges::int8, delta_entries::int8 FROM surfidx_meta('scattered_k')$$;
SELECT leaves > 130 AS enough FROM surfidx_meta('scattered_k');

-- nothing is dead, and the delta falls into most leaves: it stays
SELECT scattered_add(200001, 202000);
VACUUM scattered;
SELECT * FROM scattered_is();
-- dead entries here and there
DELETE FROM scattered WHERE k BETWEEN 0 AND 20000000000000000;
VACUUM (INDEX_CLEANUP ON) scattered;
SELECT merges, delta BETWEEN 1990 AND 2000 AS stays FROM scattered_is();
-- dead entries in each leaf: these are written in any case
DELETE FROM scattered WHERE i % 50 = 0;
VACUUM (INDEX_CLEANUP ON) scattered;
SELECT * FROM scattered_is();
SELECT surfidx_check('scattered_k', true, true);

-- not where the delta would go into a run, other pages
ALTER INDEX scattered_k SET (run_ratio = 10);
SELECT scattered_add(202001, 204000);
DELETE FROM scattered WHERE i % 50 = 1;
VACUUM (INDEX_CLEANUP ON) scattered;
SELECT merges, delta > 1900 AS stays FROM scattered_is();
SELECT count(*) AS runs FROM surfidx_runs('scattered_k');
ALTER INDEX scattered_k SET (run_ratio = 0);

-- as much as one is allowed: due
ALTER INDEX scattered_k SET (delta_size = 64);
SELECT scattered_add(204001, 208000);
VACUUM scattered;
SELECT * FROM scattered_is();
ALTER INDEX scattered_k RESET (delta_size);

-- few leaves
INSERT INTO scattered SELECT i, i FROM generate_series(1, 1000) i;
VACUUM scattered;
SELECT * FROM scattered_is();

-- a log of dead entries alone
BEGIN;
SELECT scattered_add(208001, 210000);
ROLLBACK;
VACUUM (INDEX_CLEANUP ON) scattered;
SELECT * FROM scattered_is();

SELECT surfidx_check('scattered_k', true, true);
SELECT surfidx_count('scattered_k') = count(*) AS each_one FROM scattered;
DROP TABLE scattered;
DROP FUNCTION scattered_add, scattered_is;
