-- Groups of indexes of one column, whole blocks of them at a time: with and without duplicates, NULLs at either end, and what hides among them
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set states :srcdir '/sql/helpers/answers_states.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE TABLE t (id int NOT NULL, b int NOT NULL, s text DEFAULT 'new' COLLATE "C", one int8, few int2, u uuid, day date, v int) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.one := CASE WHEN NEW.id % 100 <> 13 THEN hashint8extended(NEW.id, 5) END;
	NEW.few := nullif(NEW.id % 40, 7) - 20;
	NEW.u := CASE WHEN NEW.id % 300 <> 9 THEN md5((NEW.id % 9000)::text)::uuid END;
	NEW.day := '2000-01-01'::date + NEW.id / 7;
	NEW.v := nullif(NEW.id % 1000, 500);
	RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO t SELECT i, i % 9, 'key ' || i % 300 FROM generate_series(1, 20000) i;
CREATE INDEX t_id ON t USING surfidx (id);
CREATE INDEX t_one ON t USING surfidx (one DESC) INCLUDE (v);
CREATE INDEX t_few ON t USING surfidx (few NULLS FIRST) INCLUDE (v);
CREATE INDEX t_u ON t USING surfidx (u DESC NULLS LAST);
CREATE INDEX t_day ON t USING surfidx (day) INCLUDE (s, v);
CREATE INDEX t_s ON t USING surfidx (s);
VACUUM ANALYZE t;
INSERT INTO asked (query)
	SELECT replace(q, '$', c) FROM unnest(ARRAY['id', 'one', 'few', 'u', 'day', 's']) c, unnest(ARRAY[
		'SELECT $, count(*) FROM t GROUP BY $', 'SELECT $, count($) AS n FROM t GROUP BY $ HAVING count(*) > 1', 'SELECT DISTINCT $ FROM t',
		'SELECT count(DISTINCT $) FROM t', 'SELECT count(DISTINCT $), count(*), count($) FROM t', 'SELECT count(DISTINCT $) + count(*) AS n FROM t WHERE $ IS NOT NULL',
		'SELECT count(DISTINCT $) FROM t WHERE $ IS NULL', 'SELECT $ FROM t WHERE $ IS NOT NULL GROUP BY $ ORDER BY $ OFFSET 300',
		'SELECT $, count(*) FROM t GROUP BY $ ORDER BY $ OFFSET 15']) q
	WHERE NOT (c = 'one' AND q ~ 'ORDER BY' OR c = 'id' AND q ~ 'WHERE . IS NULL');
INSERT INTO asked (query)
	SELECT replace(q, '$', c) FROM unnest(ARRAY['id', 'one', 'few']) c, unnest(ARRAY[
		'SELECT $, sum($), count($), count(*) FROM t GROUP BY $', 'SELECT $, min($), max($), avg($) FROM t GROUP BY $', 'SELECT count(DISTINCT $), sum($), min($), max($), avg($) FROM t',
		'SELECT $ + 1 AS n, sum($) + count(*) AS m FROM t WHERE $ > 3 GROUP BY $ HAVING sum($) % 3 <> 1', 'SELECT count(DISTINCT $), min($) FROM t WHERE $ BETWEEN -5 AND 5000']) q;
INSERT INTO asked (query) VALUES
	('SELECT one, count(v), sum(v), max(v) FROM t GROUP BY one'), ('SELECT count(DISTINCT one), sum(v), count(v), max(v) FROM t'), ('SELECT count(DISTINCT few), sum(v), count(v), min(v) FROM t'),
	('SELECT few, count(v), avg(v) FROM t GROUP BY few'), ('SELECT day, min(s), max(s), count(s), sum(v) FROM t GROUP BY day'), ('SELECT count(DISTINCT s), max(s), min(s) FROM t'), ('SELECT count(DISTINCT day), max(day), min(day) FROM t WHERE day > ''2001-01-01''');
\set ECHO none
\i :states
\set ECHO all
DROP TABLE t, asked, declined;
DROP FUNCTION fill, plan_of, analyzed, rows_of, differences, declined;
