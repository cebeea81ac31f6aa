-- A merge whose group of leaves, widened to absorb an overflow, needs more pages than one record takes.
-- It used to be halved, widened, halved, ... without end.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET statement_timeout = '60s';

CREATE TABLE merge_group (k int, s text);
INSERT INTO merge_group
	SELECT g * 16, (SELECT string_agg(md5((g * 50 + i)::text), '') FROM generate_series(1, 5 + g % 60) i)
	FROM generate_series(1, 1000) g;
CREATE INDEX merge_group_k ON merge_group USING surfidx (k) INCLUDE (s);
INSERT INTO merge_group
	SELECT g, (SELECT string_agg(md5((g * 50 + i)::text), '') FROM generate_series(1, g % 60) i)
	FROM generate_series(1, 16000, 2) g;
SELECT surfidx_merge('merge_group_k') AS merged;
SELECT surfidx_check('merge_group_k', true);
DROP TABLE merge_group;
