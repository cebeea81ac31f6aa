-- surfidx_check() and surfidx_meta(): every kind of index, in every state that one session can bring about
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;
SET surfidx.unique_notice = off;
CREATE TYPE chk_mood AS ENUM ('low', 'middle', 'high');
CREATE TABLE chk (i int, b bigint, s text COLLATE "C", u uuid, d timestamptz, v int) WITH (autovacuum_enabled = off);
CREATE TABLE chk_wide (s text COLLATE "C", v text) WITH (autovacuum_enabled = off);

CREATE FUNCTION chk_all() RETURNS TABLE (index name, problem text) LANGUAGE plpgsql AS $$
BEGIN
	FOR index IN SELECT relname FROM pg_class c JOIN pg_am a ON a.oid = c.relam
		WHERE amname = 'surfidx' AND relkind = 'i' AND relname LIKE 'chk%' ORDER BY relname COLLATE "C"
	LOOP
		BEGIN
			PERFORM surfidx_check(index::text::regclass, true);
		EXCEPTION WHEN OTHERS THEN
			problem := SQLSTATE || ' ' || SQLERRM;
			RETURN NEXT;
		END;
	END LOOP;
END $$;

CREATE INDEX chk_i ON chk USING surfidx (i);
CREATE INDEX chk_desc ON chk USING surfidx (i DESC NULLS LAST, s NULLS FIRST, b DESC);
CREATE INDEX chk_s ON chk USING surfidx (s) INCLUDE (v, d);
CREATE UNIQUE INDEX chk_b ON chk USING surfidx (b);
CREATE INDEX chk_u ON chk USING surfidx (u);
CREATE INDEX chk_d ON chk USING surfidx (d);
CREATE INDEX chk_dup ON chk USING surfidx (v);
CREATE INDEX chk_part ON chk USING surfidx (i) WHERE v = 3;
CREATE INDEX chk_array ON chk USING surfidx ((ARRAY[i % 100, v]));
CREATE INDEX chk_range ON chk USING surfidx ((int4range(v, v + 10)), i);
CREATE INDEX chk_num ON chk USING surfidx ((b::numeric / 8) DESC);
CREATE INDEX chk_enum ON chk USING surfidx ((CASE v % 3 WHEN 0 THEN 'middle'::chk_mood WHEN 1 THEN 'high' ELSE 'low' END), s) INCLUDE (v);
CREATE INDEX chk_expr ON chk USING surfidx ((i / 2), upper(s COLLATE "C"));
CREATE INDEX chk_wide_s ON chk_wide USING surfidx (s);

-- empty
SELECT * FROM chk_all();
SELECT version, length(build_id) AS id, epoch, removals, generations, frozen, log_pages, delta_entries, merges, level, entries, leaves
FROM surfidx_meta('chk_i');

-- in the delta
INSERT INTO chk SELECT CASE WHEN g % 50 > 0 THEN g * 7919 % 10007 END, g, CASE WHEN g % 40 > 0 THEN md5(g::text) END,
	md5(g::text)::uuid, '2025-01-01'::timestamptz + g * interval '17 seconds', g % 5
FROM generate_series(1, 10000) g;
INSERT INTO chk_wide SELECT repeat(chr(65 + g % 26), 100 * (g % 26)) || g, g FROM generate_series(1, 800) g;
SELECT * FROM chk_all();
SELECT generations, frozen, log_pages > 5 AS log_pages, delta_entries, merges, entries FROM surfidx_meta('chk_i');

-- in the tree
SELECT indexrelid::regclass, surfidx_merge(indexrelid::regclass)
FROM pg_index WHERE indrelid IN ('chk'::regclass, 'chk_wide'::regclass) ORDER BY indexrelid::regclass::text COLLATE "C";
SELECT * FROM chk_all();
SELECT generations, frozen, log_pages, delta_entries, merges, level, entries FROM surfidx_meta('chk_i');

-- in both, with dead rows
INSERT INTO chk SELECT g * 104729 % 10007, g, 'x' || md5(g::text), md5(g::text)::uuid, '2024-01-01'::timestamptz + g * interval '1 day', g % 5
FROM generate_series(10001, 13000) g;
INSERT INTO chk_wide SELECT repeat(chr(65 + g % 26), 100 * (g % 26)) || g, g FROM generate_series(801, 1200) g;
DELETE FROM chk WHERE b % 3 = 0;
DELETE FROM chk_wide WHERE v::int % 3 = 0;
UPDATE chk SET s = s || s WHERE b % 7 = 0;
SELECT * FROM chk_all();
VACUUM chk, chk_wide;
SELECT * FROM chk_all();
SELECT removals > 0 AS removals, generations, merges, delta_entries FROM surfidx_meta('chk_i');

-- emptied, and filled again
DELETE FROM chk;
DELETE FROM chk_wide;
VACUUM chk, chk_wide;
SELECT * FROM chk_all();
INSERT INTO chk SELECT g, g, 's' || g, NULL, NULL, g FROM generate_series(1, 5000) g;
SELECT surfidx_merge('chk_i'), surfidx_merge('chk_s'), surfidx_merge('chk_u');
SELECT * FROM chk_all();

-- changed within a transaction, seen by the same transaction
BEGIN;
INSERT INTO chk SELECT g, g, 's' || g, NULL, NULL, g FROM generate_series(5001, 6000) g;
SAVEPOINT a;
DELETE FROM chk WHERE i % 2 = 0;
SELECT * FROM chk_all();
ROLLBACK TO a;
TRUNCATE chk;
INSERT INTO chk (i, b) VALUES (1, 1);
SELECT * FROM chk_all();
ROLLBACK;
SELECT * FROM chk_all();
REINDEX TABLE chk;
SELECT * FROM chk_all();

-- what is no index of ours
SELECT surfidx_check('chk');
CREATE INDEX chk_btree ON chk (i);
SELECT surfidx_check('chk_btree');
SELECT * FROM surfidx_meta('chk_btree');
CREATE TABLE chk_parts (n int) PARTITION BY RANGE (n);
CREATE INDEX chk_parts_n ON chk_parts USING surfidx (n);
SELECT surfidx_check('chk_parts_n');
SELECT surfidx_check(NULL) IS NULL AS null_is_null;

-- only with the privilege
CREATE ROLE chk_nobody;
SET ROLE chk_nobody;
SELECT surfidx_check('chk_i');
SELECT * FROM surfidx_meta('chk_i');
RESET ROLE;
DROP ROLE chk_nobody;

-- an entry that the index lacks: its expression is not as immutable as it said
CREATE TABLE chk_lies (n int);
CREATE FUNCTION chk_lie(n int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN n; END';
CREATE INDEX chk_lies_n ON chk_lies USING surfidx (chk_lie(n));
INSERT INTO chk_lies VALUES (1);
CREATE OR REPLACE FUNCTION chk_lie(n int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN -n; END';
SELECT surfidx_check('chk_lies_n');
SELECT surfidx_check('chk_lies_n', true);
-- and the entry that it has is not its row's
SELECT surfidx_check('chk_lies_n', false, true);
SELECT indexrelname, problem FROM surfidx_check_all(false, true) WHERE problem IS NOT NULL ORDER BY 1;

SET surfidx_ending.damaged = 'chk_lies_n';
DROP TABLE chk, chk_wide, chk_parts, chk_lies;
DROP FUNCTION chk_all, chk_lie;
DROP TYPE chk_mood;
