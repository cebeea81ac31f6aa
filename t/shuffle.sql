-- Leaves holes of all sizes in the catalogs, once a database: the rows of what a test makes then stand
-- in any order, and a test whose output follows that order differs from what is expected.
-- ending.sh runs it when SURFIDX_SHUFFLE is set (`make nightly`, "shuffled").
SET client_min_messages = error;
SELECT to_regnamespace('surfidx_shuffle') IS NOT NULL AS done \gset
\if :done
\quit
\endif
CREATE SCHEMA surfidx_shuffle;
SET search_path = surfidx_shuffle;
DO $$
BEGIN
	FOR i IN 1..1500 LOOP
		EXECUTE format('CREATE TABLE hole%s (a int PRIMARY KEY, b text CHECK (b <> %L))', i, repeat('x', i % 400));
	END LOOP;
END $$;
DO $$
BEGIN
	FOR i IN 1..1500 LOOP
		IF random() < 0.6 THEN
			EXECUTE format('DROP TABLE hole%s', i);
		END IF;
	END LOOP;
END $$;
VACUUM;
