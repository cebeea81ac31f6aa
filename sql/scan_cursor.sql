SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET max_parallel_workers_per_gather = 0;
SET surfidx.auto_merge = off;

CREATE TABLE src AS
SELECT i AS id, (i * 7919) % 97 AS a, (i * 31) % 11 AS b FROM generate_series(1, 900) i;
CREATE TABLE t_delta (id int, a int, b int);
CREATE TABLE t_half (LIKE t_delta);
CREATE TABLE t_merged (LIKE t_delta);
CREATE TABLE t_built (LIKE t_delta);
CREATE VIEW tabs AS SELECT unnest(ARRAY['t_delta', 't_half', 't_merged', 't_built']) AS tab;
INSERT INTO t_built SELECT * FROM src;
SELECT format('CREATE INDEX %I ON %I USING surfidx (a, b, id)', tab || '_abi', tab) FROM tabs ORDER BY 1 \gexec
INSERT INTO t_delta SELECT * FROM src;
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 0;
INSERT INTO t_merged SELECT * FROM src;
SELECT count(surfidx_merge((tab || '_abi')::regclass)) FROM tabs WHERE tab IN ('t_half', 't_merged');
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 1;
ANALYZE t_delta, t_half, t_merged, t_built;

-- Two cursors over the same rows, one of them sorted and materialized, take the same walk
-- of steps in both directions; the number of steps at which they differ.
CREATE FUNCTION walk(tab text, query text, steps int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q		text := replace(query, '%t', tab);
	line	text;
	plan	text := '';
	x		refcursor;
	y		refcursor;
	rx		record;
	ry		record;
	n		int := 0;
	seed	int := 12345;
	diff	int := 0;
	found_	int := 0;
BEGIN
	PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true),
		set_config('enable_indexonlyscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'on', true);
	OPEN y SCROLL FOR EXECUTE q;
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true), set_config('enable_indexscan', 'on', true),
		set_config('enable_indexonlyscan', CASE WHEN query ~ '\*' THEN 'off' ELSE 'on' END, true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || q LOOP
		plan := plan || line || E'\n';
	END LOOP;
	IF plan !~ '^Index' THEN
		RETURN 'not a plain index scan: ' || plan;
	END IF;
	OPEN x SCROLL FOR EXECUTE q;
	FOR i IN 1 .. steps LOOP
		seed := (seed::int8 * 1103515245 + 12345) % 2147483648 - 0;
		n := (seed / 65536) % 41 - 20;
		IF (seed / 1024) % 50 = 0 THEN
			n := n * 100;
		END IF;
		IF (seed / 4096) % 3 > 0 THEN
			n := n / 10;
		END IF;
		FETCH RELATIVE n FROM x INTO rx;
		FETCH RELATIVE n FROM y INTO ry;
		IF rx IS DISTINCT FROM ry THEN
			diff := diff + 1;
		END IF;
		IF ry IS NOT NULL THEN
			found_ := found_ + 1;
		END IF;
	END LOOP;
	CLOSE x;
	CLOSE y;
	RETURN format('%s steps differ, %s', diff, CASE WHEN found_ > steps / 10 THEN 'fine' ELSE 'too few rows met: ' || found_ END);
END $$;

CREATE TABLE queries (q text);
INSERT INTO queries VALUES
	('SELECT * FROM %t ORDER BY a, b, id'),
	('SELECT a, b, id FROM %t ORDER BY a, b, id'),
	('SELECT a, b, id FROM %t ORDER BY a DESC, b DESC, id DESC'),
	('SELECT * FROM %t WHERE a BETWEEN 20 AND 30 ORDER BY a, b, id'),
	('SELECT * FROM %t WHERE a BETWEEN 20 AND 30 AND b < 4 ORDER BY a DESC, b DESC, id DESC'),
	('SELECT id FROM %t WHERE a = 44 ORDER BY b, id');
SELECT tab, q, walk(tab, q, 1500) FROM tabs, queries ORDER BY q COLLATE "C", tab;

-- = ANY on the first column, ordered by it
SELECT tab, walk(tab, 'SELECT a FROM %t WHERE a IN (5, 1000, 7, 90, 31, -5, 7) ORDER BY a', 1500) FROM tabs ORDER BY tab;
SELECT tab, walk(tab, 'SELECT a FROM %t WHERE a IN (5, 1000, 7, 90, 31, -5) AND b IN (1, 100, 2) ORDER BY a DESC', 1500) FROM tabs ORDER BY tab;
SELECT tab, walk(tab, 'SELECT a FROM %t WHERE a IN (5, 7) AND b > 3 ORDER BY a', 300) FROM tabs ORDER BY tab;

-- By hand: ends, turning round, one entry at a time
SET enable_seqscan = off;
SET enable_sort = off;
SET enable_bitmapscan = off;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a, b, id FROM t_half WHERE a IN (3, 500, 4) AND b < 3;
FETCH ALL FROM c;
FETCH BACKWARD 2 FROM c;
FETCH FORWARD 1 FROM c;
FETCH FORWARD 5 FROM c;
FETCH BACKWARD ALL FROM c;
FETCH BACKWARD 1 FROM c;
FETCH FORWARD 1 FROM c;
FETCH LAST FROM c;
FETCH FIRST FROM c;
FETCH ABSOLUTE 3 FROM c;
FETCH RELATIVE 0 FROM c;
FETCH BACKWARD 1 FROM c;
CLOSE c;
DECLARE c SCROLL CURSOR FOR SELECT a FROM t_half WHERE a = 1000;
FETCH 1 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH 1 FROM c;
CLOSE c;
COMMIT;

-- Rows that come while a cursor is open are not its rows; nothing is lost or seen twice
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a, b, id FROM t_half WHERE a BETWEEN 10 AND 11 ORDER BY a, b, id;
FETCH 4 FROM c;
INSERT INTO t_half SELECT id + 10000, a, b FROM src WHERE a BETWEEN 9 AND 12;
FETCH 3 FROM c;
FETCH BACKWARD 3 FROM c;
MOVE ALL FROM c;
FETCH BACKWARD 2 FROM c;
CLOSE c;
DECLARE c CURSOR FOR SELECT a, b, id FROM t_half WHERE a BETWEEN 10 AND 11 ORDER BY a, b, id;
MOVE ALL FROM c;
ROLLBACK;

-- A merge under an open cursor: its position is a key, not a page
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a, b, id FROM t_delta WHERE a IN (10, 20) ORDER BY a, b, id;
DECLARE d SCROLL CURSOR FOR SELECT a, b, id FROM t_delta WHERE a BETWEEN 10 AND 20 ORDER BY a DESC, b DESC, id DESC;
MOVE 3 FROM c;
MOVE 3 FROM d;
SELECT surfidx_merge('t_delta_abi') > 0 AS merged;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH 3 FROM d;
FETCH BACKWARD 2 FROM d;
MOVE FORWARD ALL FROM c;
MOVE FORWARD ALL FROM d;
SELECT count(*) FROM t_delta WHERE a BETWEEN 10 AND 20;
COMMIT;

-- WHERE CURRENT OF
BEGIN;
DECLARE c CURSOR FOR SELECT a, b, id FROM t_half WHERE a = 60 ORDER BY a, b, id;
FETCH 2 FROM c;
UPDATE t_half SET b = 77 WHERE CURRENT OF c;
FETCH 1 FROM c;
DELETE FROM t_half WHERE CURRENT OF c;
FETCH 1 FROM c;
SELECT a, b, id FROM t_half WHERE a = 60 ORDER BY a, b, id;
ROLLBACK;
RESET ALL;

DROP VIEW tabs;
DROP TABLE src, t_delta, t_half, t_merged, t_built, queries;
DROP FUNCTION walk;
