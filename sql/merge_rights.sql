SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;

-- The right to merge: the owner has it, and from 17 on each role that may maintain the table (before that, a member of the owner's role stands in)
CREATE ROLE regress_surfidx_owner;
CREATE ROLE regress_surfidx_other;
CREATE TABLE mr (i int);
CREATE INDEX mr_i ON mr USING surfidx (i) WITH (delta_size = 1024);
ALTER TABLE mr OWNER TO regress_surfidx_owner;
INSERT INTO mr SELECT generate_series(1, 100);
SET ROLE regress_surfidx_other;
SELECT surfidx_merge('mr_i');
RESET ROLE;
DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 170000 THEN
		GRANT MAINTAIN ON mr TO regress_surfidx_other;
	ELSE
		GRANT regress_surfidx_owner TO regress_surfidx_other;
	END IF;
END $$;
SET ROLE regress_surfidx_other;
SELECT surfidx_merge('mr_i');
RESET ROLE;
INSERT INTO mr SELECT generate_series(1, 50);
SET ROLE regress_surfidx_owner;
SELECT surfidx_merge('mr_i');
RESET ROLE;
DROP TABLE mr;
DROP ROLE regress_surfidx_owner, regress_surfidx_other;
