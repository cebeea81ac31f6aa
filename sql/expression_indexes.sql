-- Expression and partial indexes, with keys that need their comparison function
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TABLE ee AS SELECT i AS id, i * 7919 % 300 AS a, (ARRAY['Ärger', 'arg', 'ZEBRA', 'zebra'])[1 + i % 4] || i % 30 AS t,
	CASE WHEN i % 5 > 0 THEN jsonb_build_object('k', i % 40, 'l', ARRAY[i % 3, i % 7]) END AS j FROM generate_series(1, 800) i;
SELECT * FROM compare('ee', '((a / 4.0), id)', '{"SELECT a / 4.0, id FROM %t WHERE a / 4.0 > 50.250 ORDER BY a / 4.0, id", "SELECT id FROM %t WHERE a / 4.0 = 12.50"}', '{index,bitmap}');
SELECT * FROM compare('ee', '(lower(t) COLLATE "en-x-icu", id)', '{"SELECT lower(t), id FROM %t WHERE lower(t) COLLATE \"en-x-icu\" >= ''as'' ORDER BY lower(t) COLLATE \"en-x-icu\", id",
	"SELECT id FROM %t WHERE lower(t) COLLATE \"en-x-icu\" = ''zebra7''"}', '{index,bitmap}');
SELECT * FROM compare('ee', '((j -> ''k'') DESC NULLS LAST, (j -> ''l''), id)',
	'{"SELECT id, j FROM %t ORDER BY j -> ''k'' DESC NULLS LAST, j -> ''l'', id", "SELECT id FROM %t WHERE j -> ''k'' = ''7'' AND j -> ''l'' >= ''[1]''",
	"SELECT id FROM %t WHERE (j -> ''k'') IS NULL ORDER BY j -> ''k'' DESC NULLS LAST, j -> ''l'', id"}', '{index}');
SELECT * FROM compare('ee', '(t COLLATE "en-x-icu", id) WHERE a < 100',
	'{"SELECT t, id FROM %t WHERE a < 100 ORDER BY t COLLATE \"en-x-icu\", id /* nocond */", "SELECT id FROM %t WHERE a < 50 AND t COLLATE \"en-x-icu\" > ''z''"}', '{index}');
-- the partial index is used where the condition is implied, and only there
CREATE INDEX ee_part ON ee USING surfidx (id) WHERE a IS NOT NULL AND t IS NOT NULL;
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM ee WHERE id = 5 AND a > 3 AND t = 'arg1';
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT id FROM ee WHERE id = 5 AND a > 3;
SET enable_seqscan = off;
UPDATE ee SET a = NULL WHERE id < 100;
UPDATE ee SET a = 5 WHERE id < 50;
SELECT surfidx_check('ee_part', true);
SELECT surfidx_merge('ee_part') > 0;
SELECT surfidx_check('ee_part', true);
-- an expression that fails, at creation and at insertion
CREATE INDEX ee_fail ON ee USING surfidx ((1 / (id - 5)));
CREATE INDEX ee_fail ON ee USING surfidx ((1 / (id + 5)));
INSERT INTO ee (id) VALUES (-5);
SELECT surfidx_check('ee_fail', true);
\set VERBOSITY sqlstate
CREATE INDEX ON ee USING surfidx (random());
\set VERBOSITY default
DROP TABLE ee;
