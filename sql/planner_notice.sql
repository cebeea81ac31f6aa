SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;

-- CREATE UNIQUE INDEX says once what core grants only to btree.
CREATE TABLE n (a int, b int);
CREATE UNIQUE INDEX n_a ON n USING surfidx (a);
CREATE UNIQUE INDEX CONCURRENTLY ON n USING surfidx (b) WHERE a > 0;
-- not for others, not for what exists, not by other commands
CREATE INDEX n_b ON n USING surfidx (b);
CREATE UNIQUE INDEX n_ab ON n (a, b);
CREATE UNIQUE INDEX IF NOT EXISTS n_a ON n USING surfidx (a);
REINDEX INDEX n_a;
REINDEX INDEX CONCURRENTLY n_a;
REINDEX TABLE n;
CLUSTER n USING n_a;
VACUUM FULL n;
TRUNCATE n;
ALTER TABLE n ALTER a TYPE int8;
CREATE TABLE n2 (LIKE n INCLUDING INDEXES);
DO $$ BEGIN CREATE UNIQUE INDEX n_ba ON n USING surfidx (b, a); END $$;
CREATE TABLE n3 (a int, EXCLUDE USING surfidx (a WITH =));
-- nor when it fails
INSERT INTO n VALUES (-1, 1), (-2, 1);
CREATE UNIQUE INDEX n_fails ON n USING surfidx (b);
CREATE UNIQUE INDEX n_fails ON n USING nosuchmethod (b);
-- IF NOT EXISTS that creates
CREATE UNIQUE INDEX IF NOT EXISTS n_new ON n USING surfidx (a, b);
-- with the lift off there is more
SET surfidx.onconflict_lift = off;
CREATE UNIQUE INDEX n_unlifted ON n USING surfidx (b, a);
RESET surfidx.onconflict_lift;
SET surfidx.unique_notice = off;
CREATE UNIQUE INDEX n_quiet ON n USING surfidx (a DESC);
DROP TABLE n, n2, n3;
