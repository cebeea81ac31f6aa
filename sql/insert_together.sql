-- D7: entries of one statement wait for each other; readers in between, and rollbacks of rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;

CREATE TABLE tog (k int, s text COLLATE "C", u int);
CREATE INDEX tog_k ON tog USING surfidx (k);
CREATE INDEX tog_s ON tog USING surfidx (s) INCLUDE (u);
CREATE INDEX tog_e ON tog USING surfidx ((k % 100), k) WHERE k % 3 = 0;
CREATE UNIQUE INDEX tog_u ON tog (u);
-- do indexes answer as the table does?
CREATE FUNCTION tog_same(OUT total bigint, OUT same boolean) LANGUAGE plpgsql
	SET enable_bitmapscan = off AS $$
DECLARE
	way text;
	what text;
	n bigint[];
	one bigint;
BEGIN
	FOREACH way IN ARRAY ARRAY['on', 'off'] LOOP
		PERFORM set_config('enable_seqscan', way, true);
		PERFORM set_config('enable_indexscan', CASE way WHEN 'on' THEN 'off' ELSE 'on' END, true);
		PERFORM set_config('enable_indexonlyscan', CASE way WHEN 'on' THEN 'off' ELSE 'on' END, true);
		FOREACH what IN ARRAY ARRAY['k > 0', 's >= ''''', 'k % 3 = 0 AND k % 100 >= 0'] LOOP
			EXECUTE 'SELECT coalesce(sum(hashint4(k)::int8 + length(s)), 0) FROM tog WHERE ' || what INTO one;
			n := n || one;
		END LOOP;
	END LOOP;
	SELECT count(*) INTO total FROM tog;
	same := n[1:3] = n[4:6];
END $$;
CREATE FUNCTION tog_sound() RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(surfidx_check(i::regclass, true, true)::text, ''), '')
	FROM unnest('{tog_k, tog_s, tog_e}'::text[]) i $$;
-- what a place takes, several times; then long keys
INSERT INTO tog SELECT g, 's' || g FROM generate_series(1, 1000) g;
INSERT INTO tog SELECT g, repeat(md5(g::text), 60) FROM generate_series(1001, 1020) g;
SELECT * FROM tog_same();
-- an error halfway, by itself and caught; a subtransaction of a function goes while the statement goes on
CREATE FUNCTION tog_row(i int, bad int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF i = bad THEN
		RAISE division_by_zero;
	ELSIF i % 10 = 0 THEN
		BEGIN
			INSERT INTO tog SELECT i + 10000 * g, 'inner' FROM generate_series(1, 8) g;
			PERFORM 1 / (i % 20);
		EXCEPTION WHEN division_by_zero THEN
			NULL;
		END;
	END IF;
	RETURN i;
END $$;
INSERT INTO tog SELECT tog_row(g, 1180), 'e' FROM generate_series(1101, 1200) g;
SELECT * FROM tog_same();
INSERT INTO tog SELECT tog_row(g, 0), 'e' FROM generate_series(1101, 1200) g;
SELECT * FROM tog_same();
BEGIN;
SAVEPOINT a;
INSERT INTO tog SELECT g, 'a' FROM generate_series(1301, 1400) g;
ROLLBACK TO a;
INSERT INTO tog SELECT g, 'b' FROM generate_series(1301, 1350) g;
SAVEPOINT b;
INSERT INTO tog SELECT tog_row(g, 1390), 'c' FROM generate_series(1351, 1400) g;
ROLLBACK TO b;
COMMIT;
VACUUM tog;
INSERT INTO tog SELECT g, 'd' FROM generate_series(1401, 1500) g;
SELECT * FROM tog_same();
-- triggers that look, write, and wait for the end
CREATE TABLE tog_log (k int, n int);
CREATE INDEX tog_log_k ON tog_log USING surfidx (k);
CREATE FUNCTION tog_before() RETURNS trigger LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
	IF NEW.k % 25 = 0 THEN
		INSERT INTO tog_log SELECT NEW.k, count(*) FROM tog WHERE k BETWEEN 2001 AND 2100;
	END IF;
	RETURN NEW;
END $$;
CREATE FUNCTION tog_after() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO tog_log SELECT -NEW.k, g FROM generate_series(1, 6) g WHERE NEW.k % 50 = 0;
	RETURN NULL;
END $$;
CREATE TRIGGER tog_before BEFORE INSERT ON tog FOR EACH ROW EXECUTE FUNCTION tog_before();
CREATE CONSTRAINT TRIGGER tog_after AFTER INSERT ON tog DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION tog_after();
INSERT INTO tog SELECT g, 't' FROM generate_series(2001, 2100) g;
COPY tog (k) FROM PROGRAM 'seq 2101 2190; echo x';
COPY tog (k) FROM PROGRAM 'seq 2101 2200';
SELECT k, n FROM tog_log WHERE k > 0 ORDER BY k;
SET enable_seqscan = off;
SELECT count(*), sum(n) FROM tog_log WHERE k < 0;
RESET enable_seqscan;
DROP TRIGGER tog_before ON tog;
SELECT * FROM tog_same();
-- rows that are taken back, and rows that move
INSERT INTO tog SELECT g, 'u', g FROM generate_series(3001, 3100) g;
INSERT INTO tog SELECT g + 1, 'v', g FROM generate_series(3050, 3150) g ON CONFLICT (u) DO NOTHING;
INSERT INTO tog SELECT g + 1, 'v', g FROM generate_series(3050, 3250) g
	ON CONFLICT (u) DO UPDATE SET k = tog.k + 500;
UPDATE tog SET k = k + 7000, s = s || 'x' WHERE k BETWEEN 1 AND 400;
MERGE INTO tog USING generate_series(3201, 3300) g ON u = g
	WHEN MATCHED THEN UPDATE SET k = k + 1, s = 'm'
	WHEN NOT MATCHED THEN INSERT VALUES (g, 'n', g);
WITH w AS (INSERT INTO tog SELECT g, 'w' FROM generate_series(4001, 4100) g RETURNING k)
	INSERT INTO tog_log SELECT k, 0 FROM w;
SELECT * FROM tog_same();
-- more indexes than have a place; a new file in the same transaction
CREATE TABLE tog_part (k int, s text COLLATE "C") PARTITION BY HASH (k);
SELECT format('CREATE TABLE tog_part%s PARTITION OF tog_part FOR VALUES WITH (MODULUS 20, REMAINDER %s)',
	r, r) FROM generate_series(0, 19) r \gexec
CREATE INDEX tog_part_k ON tog_part USING surfidx (k);
BEGIN;
INSERT INTO tog_part SELECT g, 'p' FROM generate_series(1, 2000) g;
UPDATE tog_part SET k = k + 5000 WHERE k <= 1000;
COMMIT;
BEGIN;
TRUNCATE tog_log;
INSERT INTO tog_log SELECT g, 1 FROM generate_series(1, 100) g;
REINDEX INDEX tog_log_k;
INSERT INTO tog_log SELECT g, 2 FROM generate_series(1, 100) g;
COMMIT;
SET enable_seqscan = off;
SELECT count(*), sum(k) FROM tog_part WHERE k > 0;
SELECT count(*), sum(n) FROM tog_log WHERE k > 0;
RESET enable_seqscan;
-- tables that end with their transaction, procedures that end theirs
BEGIN;
CREATE TEMP TABLE tog_temp (k int) ON COMMIT DELETE ROWS;
CREATE INDEX ON tog_temp USING surfidx (k);
INSERT INTO tog_temp SELECT generate_series(1, 300);
COMMIT;
SELECT count(*) FROM tog_temp WHERE k > 0;
CREATE PROCEDURE tog_ends() LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..4 LOOP
		INSERT INTO tog SELECT 20000 * i + g, 'p' FROM generate_series(1, 30) g;
		IF i % 2 = 0 THEN COMMIT; ELSE ROLLBACK; END IF;
	END LOOP;
END $$;
CALL tog_ends();
SELECT * FROM tog_same();
SELECT tog_sound();
DROP PROCEDURE tog_ends;
DROP TABLE tog, tog_log, tog_part, tog_temp;
DROP FUNCTION tog_same, tog_sound, tog_row, tog_before, tog_after;
