-- Leaves of parents whose separators are long and nearly the same: merges and VACUUM find room for them in a record
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
CREATE TABLE prefixed (k text COLLATE "C", m text COLLATE "C", a text[], v int) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill(low int, high int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO prefixed SELECT repeat('p', 2000) || md5(g::text), g % 4 || repeat('q', 700) || md5(g::text),
		ARRAY[repeat('r', 2000), md5(g::text)], g
	FROM generate_series(low, high) g $$;
CREATE FUNCTION numbers(name regclass) RETURNS text LANGUAGE sql AS $$
	SELECT 'leaves: ' || (leaves > 25) FROM surfidx_leaf_keys(name) $$;

SELECT fill(1, 30000);
CREATE INDEX prefixed_k ON prefixed USING surfidx (k) WITH (hope = off);
CREATE INDEX prefixed_m ON prefixed USING surfidx (m) WITH (hope = off);
CREATE INDEX prefixed_a ON prefixed USING surfidx (a);
SELECT numbers('prefixed_k'), numbers('prefixed_m'), numbers('prefixed_a');

-- new entries, and as many that go
SELECT fill(30001, 32000);
SELECT surfidx_merge(i) FROM unnest('{prefixed_k,prefixed_m,prefixed_a}'::regclass[]) i;
DELETE FROM prefixed WHERE v % 3 = 0;
VACUUM prefixed;
SELECT surfidx_check(i, true, true) FROM unnest('{prefixed_k,prefixed_m,prefixed_a}'::regclass[]) i;

-- keys that are cut, and whole again: their leaves become many
ALTER INDEX prefixed_m SET (keys = cut);
VACUUM prefixed;
SELECT cut_leaves = leaves AS cut FROM surfidx_leaf_keys('prefixed_m');
ALTER INDEX prefixed_m SET (keys = full);
VACUUM prefixed;
SELECT cut_leaves FROM surfidx_leaf_keys('prefixed_m');
SELECT surfidx_check('prefixed_m', true, true);
SET enable_seqscan = off;
SELECT count(*), sum(v) FROM prefixed WHERE m >= '1' AND m < '3';
SELECT count(*), sum(v) FROM prefixed WHERE k > repeat('p', 2000) || '8';
SELECT count(*), sum(v) FROM prefixed WHERE a > ARRAY[repeat('r', 2000), '8'];

-- two texts of several hundred bytes each, of which the first one is the same in many rows
CREATE TABLE two_texts (k text COLLATE "C", m text COLLATE "C", v int) WITH (autovacuum_enabled = off);
CREATE FUNCTION some_text(i int, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT left(string_agg(md5(i || ' ' || j), ''), n) FROM generate_series(1, n / 32 + 1) j $$;
INSERT INTO two_texts SELECT some_text(g % 5, 600), some_text(-g, 400), g FROM generate_series(1, 12000) g;
CREATE INDEX two_texts_km ON two_texts USING surfidx (k, m) WITH (keys = cut);
ALTER INDEX two_texts_km SET (keys = full);
VACUUM two_texts;
SELECT leaves > 50 AS many, cut_leaves FROM surfidx_leaf_keys('two_texts_km');
SELECT surfidx_check('two_texts_km', true, true);
INSERT INTO two_texts SELECT some_text(g % 5, 600), some_text(-g, 400), g FROM generate_series(12001, 13000) g;
SELECT surfidx_merge('two_texts_km');
SELECT surfidx_check('two_texts_km', true, true);
DROP TABLE prefixed, two_texts;
DROP FUNCTION fill, numbers, some_text;
