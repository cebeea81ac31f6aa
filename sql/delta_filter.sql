-- Filters in front of images: keys that are looked up again and again in a delta that grows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;

CREATE TABLE fresh (i int8, u uuid, t text, n numeric, c text COLLATE "und-x-icu") WITH (autovacuum_enabled = off);
SET surfidx.unique_notice = off;
CREATE UNIQUE INDEX fresh_i ON fresh USING surfidx (i) WITH (delta_size = 65536, merge_ratio = 10);
CREATE INDEX fresh_u ON fresh USING surfidx (u) INCLUDE (i) WITH (delta_size = 65536, merge_ratio = 10);
CREATE INDEX fresh_t ON fresh USING surfidx (t COLLATE "C", i) WITH (delta_size = 65536, merge_ratio = 10);
CREATE INDEX fresh_n ON fresh USING surfidx (n) WITH (delta_size = 65536, merge_ratio = 10);
CREATE INDEX fresh_c ON fresh USING surfidx (c) WITH (delta_size = 65536, merge_ratio = 10);

-- Rows whose numbers divide by three; 1.0 and 1.00 are equal and have other bytes.
CREATE FUNCTION put(lo int, hi int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO fresh SELECT 3 * g, md5(g::text)::uuid, 'key ' || g % 100, (3 * g)::numeric(20, 1), 'Key ' || g
		FROM generate_series(lo, hi) g;
$$;
-- How many of so many keys, of which each column has every third one, are found.
CREATE FUNCTION found(hi int, OUT i bigint, OUT u bigint, OUT t bigint, OUT n bigint, OUT c bigint) LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM generate_series(1, hi * 3) g JOIN fresh ON i = g),
		(SELECT count(*) FROM generate_series(1, hi * 3) g JOIN fresh ON u = md5((g / 3.0)::float8::text)::uuid),
		(SELECT count(*) FROM generate_series(1, hi * 3) g JOIN fresh ON t = 'key ' || g / 3 % 100 AND i = g),
		(SELECT count(*) FROM generate_series(1, hi * 3) g JOIN fresh ON n = g::numeric(20, 2)),
		(SELECT count(*) FROM generate_series(1, hi * 3) g JOIN fresh ON c = 'Key ' || (g / 3.0)::float8);
$$;

SELECT put(1, 1500);
EXPLAIN (COSTS OFF) SELECT count(*) FROM generate_series(1, 10) g JOIN fresh ON u = md5((g / 3.0)::float8::text)::uuid;
SELECT * FROM found(1500);
SELECT put(1501, 1510);
SELECT * FROM found(1510);
-- some pages of the log at once
SELECT put(1511, 9000);
SELECT * FROM found(9000);
SELECT put(9001, 9100);
SELECT * FROM found(9100);
SELECT surfidx_check(x, true, true) FROM unnest(ARRAY['fresh_i', 'fresh_u', 'fresh_t', 'fresh_n', 'fresh_c']::regclass[]) x;

-- Uniqueness, and rows that were there before.
INSERT INTO fresh (i) VALUES (30);
INSERT INTO fresh (i) VALUES (27300) ON CONFLICT DO NOTHING;
INSERT INTO fresh (i) VALUES (31);
UPDATE fresh SET i = 33 WHERE i = 31;
UPDATE fresh SET i = 32 WHERE i = 31;
DELETE FROM fresh WHERE i % 5 = 0;
INSERT INTO fresh (i) VALUES (30), (35);
SELECT count(*) FROM generate_series(1, 27400) g JOIN fresh ON i = g;
VACUUM (INDEX_CLEANUP ON) fresh;
SELECT count(*) FROM generate_series(1, 27400) g JOIN fresh ON i = g;
INSERT INTO fresh (i) VALUES (30);
SELECT surfidx_check('fresh_i', true, true);
DROP TABLE fresh;

-- Images of temporary tables are the backend's own.
CREATE TEMP TABLE own (k int);
CREATE INDEX own_k ON own USING surfidx (k) WITH (delta_size = 65536, merge_ratio = 10);
INSERT INTO own SELECT 2 * g FROM generate_series(1, 2000) g;
SELECT count(*) FROM generate_series(1, 6000) g JOIN own ON k = g;
INSERT INTO own SELECT 2 * g FROM generate_series(2001, 20000) g;
SELECT count(*) FROM generate_series(1, 60000) g JOIN own ON k = g;
INSERT INTO own VALUES (1);
SELECT count(*) FROM generate_series(1, 60000) g JOIN own ON k = g;
SELECT surfidx_check('own_k', true, true);
DROP TABLE own;
DROP FUNCTION put, found;
