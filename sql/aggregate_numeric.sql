-- sum and avg of numeric computed by the index: values, and their display scale
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE DOMAIN price AS numeric(12,2);
CREATE TABLE t (id int NOT NULL, b int NOT NULL, s text DEFAULT 'new' COLLATE "C", k int, p price, neg numeric(20,6), wild numeric, few numeric(8,3), v int, mixed numeric) WITH (autovacuum_enabled = off);
-- wild: of each kind there is a group of its own, kinds beside them, and one with all that is finite
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	h int := abs(hashint4(NEW.id)::int8) % 1000000007;
BEGIN
	NEW.k := NEW.id % 16;
	NEW.p := CASE WHEN NEW.id % 50 <> 3 THEN h / 100.0 - 3000000 END;
	NEW.neg := (h % 100000000) / -1000000.0 * (10 ^ (NEW.id % 8))::numeric;
	NEW.v := nullif(NEW.id % 2500, 11);
	-- values of one length and other weights and signs, few of them twice
	NEW.mixed := CASE WHEN NEW.id % 3 = 0 THEN 1 + h % 9998 + 0.12345678 WHEN NEW.id % 800 <> 1 THEN 10001 + h % 9000000 + 0.5 ELSE -3 - h % 900 - 0.00010002 END;
	NEW.few := nullif(NEW.id % 20, 7) * 0.25;
	NEW.wild := CASE NEW.k
		WHEN 0 THEN CASE WHEN NEW.id % 7 = 0 THEN 'Infinity'::numeric ELSE h END
		WHEN 1 THEN CASE WHEN NEW.id % 70 < 3 THEN 'NaN'::numeric ELSE h / 7.0 END
		WHEN 2 THEN CASE NEW.id % 9 WHEN 1 THEN 'Infinity'::numeric WHEN 2 THEN '-Infinity'::numeric ELSE 1.50 END
		WHEN 3 THEN CASE WHEN NEW.id % 3 = 1 THEN '-Infinity'::numeric ELSE -h END
		WHEN 4 THEN round(h / 3.0, NEW.id % 30)
		WHEN 5 THEN h * 1e20
		WHEN 6 THEN (h % 10000) * 1e-9
		WHEN 7 THEN round(0, NEW.id % 5)
		WHEN 8 THEN (CASE WHEN NEW.id % 2 = 0 THEN '-' ELSE '' END || '9999999999999999.99999999')::numeric
		WHEN 9 THEN round(h, 126 + NEW.id % 4)
		WHEN 10 THEN NULL
		WHEN 11 THEN (NEW.id % 3 - 1) * 1e-300
		WHEN 12 THEN (h::numeric) ^ (1 + NEW.id % 4)
		WHEN 13 THEN (NEW.id % 5) * 10000.0000
		ELSE h / 1000.0 END;
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, i % 9, 'key ' || i % 300 FROM generate_series(1, 20000) i;
CREATE INDEX t_p ON t USING surfidx (p);
CREATE INDEX t_neg ON t USING surfidx (neg DESC NULLS LAST);
CREATE INDEX t_kw ON t USING surfidx (k, wild);
CREATE INDEX t_kf ON t USING surfidx (b, few DESC);
CREATE INDEX t_fk ON t USING surfidx (few, p, k);
CREATE INDEX t_id ON t USING surfidx (id) INCLUDE (wild, p);
CREATE INDEX t_vm ON t USING surfidx (v, mixed);
CREATE INDEX t_s ON t USING surfidx (s, k DESC, few);
VACUUM ANALYZE t;
EXPLAIN (COSTS OFF) SELECT sum(p), avg(p) FROM t WHERE p > 0;
EXPLAIN (COSTS OFF) SELECT k, sum(wild) AS x FROM t GROUP BY k HAVING avg(wild) > 3;
INSERT INTO asked (query) VALUES
	('SELECT sum(p), avg(p), count(p), count(*) FROM t'), ('SELECT sum(p), avg(p) FROM t WHERE p > 0'), ('SELECT sum(p), avg(p) FROM t WHERE p IS NULL'), ('SELECT sum(p), avg(p) FROM t WHERE p > 1e9'),
	('SELECT sum(p) + avg(p) - min(p) AS x FROM t WHERE p BETWEEN -10000 AND 10000'), ('SELECT sum(neg), avg(neg), count(neg) FROM t'), ('SELECT sum(neg) FROM t WHERE neg < -5'),
	('SELECT count(DISTINCT k), sum(wild) FROM t WHERE k IN (4, 5, 6)'), ('SELECT sum(few), avg(few) FROM t WHERE b = 3'), ('SELECT b, sum(few), avg(few), count(few) FROM t GROUP BY b'),
	('SELECT sum(few), avg(few), sum(p), avg(p) FROM t WHERE few > 2'), ('SELECT sum(k), sum(p), sum(few) FROM t WHERE few = 1'), ('SELECT sum(wild), avg(p) FROM t WHERE id < 0'),
	('SELECT s, sum(few), avg(few) FROM t GROUP BY s'), ('SELECT s, k, sum(few) FROM t GROUP BY s, k HAVING sum(few) > 10'), ('SELECT id, sum(wild), avg(p), sum(p) FROM t GROUP BY id'),
	('SELECT sum(mixed), avg(mixed) FROM t WHERE v > 3'), ('SELECT sum(mixed), avg(mixed) FROM t WHERE v IS NULL'), ('SELECT v, sum(mixed), avg(mixed) FROM t GROUP BY v'),
	('SELECT sum(mixed), avg(mixed), sum(v) FROM t WHERE v >= 0'), ('SELECT v, sum(mixed) FROM t WHERE mixed > 5000 GROUP BY v'),
	('SELECT sum(p), avg(wild) FROM t WHERE id BETWEEN 100 AND 140');
INSERT INTO asked (query) SELECT format('SELECT sum(wild), avg(wild), count(wild) FROM t WHERE k %s', c)
	FROM unnest(ARRAY['= 0', '= 1', '= 2', '= 3', '= 4', '= 5', '= 6', '= 7', '= 8', '= 9', '= 10', '= 11', '= 12', '= 13', '= 14', '>= 4', '> 12', '< 4', 'BETWEEN 6 AND 9', 'IN (0, 3)', 'IN (4, 13)']) c;
INSERT INTO asked (query) VALUES ('SELECT k, sum(wild), avg(wild), count(wild) FROM t GROUP BY k');
\set ECHO none
\i :states
\set ECHO all
-- one value many times: posting lists
CREATE TABLE same (v numeric NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO same SELECT CASE WHEN i % 10000 = 0 THEN 1e30 ELSE (i % 3) * 3333333333333333.00000001 END FROM generate_series(1, 30000) i;
CREATE INDEX same_v ON same USING surfidx (v);
VACUUM ANALYZE same;
TRUNCATE asked;
INSERT INTO asked (query) VALUES ('SELECT sum(v), avg(v) FROM same'), ('SELECT sum(v), avg(v) FROM same WHERE v > 0'), ('SELECT sum(v), avg(v) FROM same WHERE v BETWEEN 1 AND 1e20');
SELECT * FROM differences();
SELECT sum(v), avg(v) FROM same;
-- keys that repeat, and do not fit two integers, leave no memory until the scan's end
CREATE TABLE odd AS SELECT i % 10 AS k, i + 0.0123456789 AS n FROM generate_series(1, 20000) i, generate_series(1, 2);
ALTER TABLE odd ALTER k SET NOT NULL, ALTER n SET NOT NULL;
CREATE INDEX ON odd USING surfidx (k, n);
VACUUM ANALYZE odd;
CREATE TABLE used (bytes bigint);
BEGIN;
SET LOCAL enable_seqscan = off;
DECLARE c CURSOR FOR SELECT k, sum(n) FROM odd GROUP BY k;
MOVE 1 FROM c;
INSERT INTO used SELECT sum(used_bytes) FROM pg_backend_memory_contexts WHERE name LIKE 'surfidx%';
MOVE 8 FROM c;
SELECT sum(used_bytes) - bytes < 200000 AS few FROM pg_backend_memory_contexts, used WHERE name LIKE 'surfidx%' GROUP BY bytes;
COMMIT;
DROP TABLE odd, used;
-- declined: what is no plain sum
INSERT INTO declined (why, query) VALUES ('distinct', 'SELECT sum(DISTINCT v) FROM same'), ('an ordered set', 'SELECT mode() WITHIN GROUP (ORDER BY v) FROM same'),
	('FILTER by a subquery', 'SELECT sum(v) FILTER (WHERE v > (SELECT 3)) FROM same');
SELECT * FROM declined();
DROP TABLE t, asked, declined, same;
DROP FUNCTION fill, plan_of, analyzed, rows_of, differences, declined;
DROP DOMAIN price;
