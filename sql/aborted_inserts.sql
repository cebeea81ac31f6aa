-- Rows that are inserted and rolled back again and again, with the same keys: their entries are
-- dead to everybody, and sessions that meet them find out.  The index does not grow by them (bound 5).
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.unique_notice = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_indexonlyscan = off;

-- in the transaction that has made the index: does it grow by two pages at most?
CREATE FUNCTION go_round(tab text, rounds int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
BEGIN
	EXECUTE format('INSERT INTO %I VALUES (-1)', tab);
	before := pg_relation_size(tab || '_k');
	FOR i IN 1..rounds LOOP
		BEGIN
			EXECUTE format('DO $d$ BEGIN PERFORM * FROM %I WHERE k > 0 AND k < 100; END $d$', tab);
			EXECUTE format('INSERT INTO %I SELECT generate_series(1, 100)', tab);
			RAISE reading_sql_data_not_permitted;
		EXCEPTION WHEN reading_sql_data_not_permitted THEN NULL;
		END;
	END LOOP;
	RETURN pg_relation_size(tab || '_k') <= before + 2 * 8192;
END $$;

BEGIN;
CREATE TABLE ab_plain (k int);
CREATE INDEX ab_plain_k ON ab_plain USING surfidx (k);
SELECT go_round('ab_plain', 200) AS plain;
SELECT surfidx_check('ab_plain_k', true, true);
COMMIT;
BEGIN;
CREATE TABLE ab_unique (k int);
CREATE UNIQUE INDEX ab_unique_k ON ab_unique USING surfidx (k);
SELECT go_round('ab_unique', 200) AS "unique";
SELECT surfidx_check('ab_unique_k', true, true);
COMMIT;
CREATE TEMP TABLE ab_temp (k int);
CREATE INDEX ab_temp_k ON ab_temp USING surfidx (k);
SELECT go_round('ab_temp', 200) AS temp;
SELECT surfidx_check('ab_temp_k', true, true);
-- one row in a loop
BEGIN;
CREATE TABLE ab_one (k int);
CREATE UNIQUE INDEX ab_one_k ON ab_one USING surfidx (k);
INSERT INTO ab_one VALUES (-1);
SELECT pg_relation_size('ab_one_k') AS before \gset
DO $$
BEGIN
	FOR i IN 1..10000 LOOP
		BEGIN
			INSERT INTO ab_one VALUES (1);
			RAISE reading_sql_data_not_permitted;
		EXCEPTION WHEN reading_sql_data_not_permitted THEN NULL;
		END;
	END LOOP;
END $$;
SELECT pg_relation_size('ab_one_k') <= :before + 2 * 8192 AS one;
SELECT surfidx_check('ab_one_k', true, true);
COMMIT;
-- a delta that has living rows beside them is left alone
BEGIN;
CREATE TABLE ab_mixed (k int);
CREATE INDEX ab_mixed_k ON ab_mixed USING surfidx (k);
INSERT INTO ab_mixed SELECT generate_series(1000, 3000);
SELECT go_round('ab_mixed', 1);
SELECT merges FROM surfidx_meta('ab_mixed_k');
COMMIT;
DROP TABLE ab_plain, ab_unique, ab_temp, ab_one, ab_mixed;
DROP FUNCTION go_round;
