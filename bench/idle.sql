-- What bench/idle.sh measures: statements whose plans surfidx has no part in.
CREATE TABLE o (id int PRIMARY KEY, k int NOT NULL, v float8, note text);
INSERT INTO o SELECT i, i % 1000, random(), 'note ' || i FROM generate_series(1, :rows) i;
CREATE INDEX o_k ON o (k, v);
CREATE TABLE c (k int PRIMARY KEY, name text);
INSERT INTO c SELECT i, 'name ' || i FROM generate_series(0, 999) i;
VACUUM ANALYZE o;
VACUUM ANALYZE c;

-- share: of the times that a cheap statement is made
CREATE TABLE bench.idle_query (n serial, what text, query text, share float8);
INSERT INTO bench.idle_query (what, query, share) VALUES
	('a row by its key', 'SELECT note FROM o WHERE id = 4711', 1),
	('a count of 100 rows', 'SELECT count(*) FROM o WHERE k = 17', 1),
	('groups of 500 rows', 'SELECT k, sum(v), count(*) FROM o WHERE k < 5 GROUP BY k', 0.25),
	('DISTINCT of 500 rows', 'SELECT DISTINCT v FROM o WHERE k < 5 ORDER BY v', 0.25),
	('a join of three', 'SELECT max(c.name) FROM o JOIN c USING (k) JOIN o p ON p.id = o.id + 1
		WHERE o.id BETWEEN 100 AND 110', 0.5),
	('an UPDATE', 'UPDATE o SET note = note WHERE id = 4712', 1),
	('a read of the table', 'SELECT sum(v) FROM o WHERE note <> ''''', 0.002);

CREATE TABLE bench.idle_result (n int, server text, round int, ns float8);

CREATE PROCEDURE bench.idle(of_server text, times int)
LANGUAGE plpgsql AS $$
DECLARE
	q bench.idle_query;
	round int := (SELECT count(*) FROM bench.idle_result r WHERE r.n = 1 AND r.server = of_server);
	c0 bigint;
	m int;
BEGIN
	FOR q IN SELECT * FROM bench.idle_query ORDER BY n LOOP
		m := greatest(times * q.share, 1);
		EXECUTE q.query;
		c0 := bench.cpu();
		FOR i IN 1..m LOOP
			EXECUTE q.query;
		END LOOP;
		INSERT INTO bench.idle_result
			VALUES (q.n, of_server, round, (bench.cpu() - c0)::float8 / m);
		COMMIT;
	END LOOP;
END
$$;

-- Medians, and those of what one round has lost beside the server without the library.
CREATE VIEW bench.idle_report AS
	WITH median AS (SELECT n, server, percentile_cont(0.5) WITHIN GROUP (ORDER BY ns) / 1000 AS us
			FROM bench.idle_result GROUP BY 1, 2),
		lost AS (SELECT n, r.server,
				percentile_cont(0.5) WITHIN GROUP (ORDER BY r.ns / w.ns - 1) * 100 AS percent,
				percentile_cont(0.25) WITHIN GROUP (ORDER BY r.ns / w.ns - 1) * 100 AS low,
				percentile_cont(0.75) WITHIN GROUP (ORDER BY r.ns / w.ns - 1) * 100 AS high
			FROM bench.idle_result r JOIN bench.idle_result w USING (n, round)
			WHERE w.server = 'without' GROUP BY 1, 2)
	SELECT q.what, round(w.us::numeric, 1) AS "without, us", round(l.us::numeric, 1) AS "loaded, us",
		round(f.us::numeric, 1) AS "aggregates off, us",
		format('%s %% (%s to %s)', round(x.percent::numeric, 1), round(x.low::numeric, 1),
			round(x.high::numeric, 1)) AS "lost, loaded (quartiles)",
		format('%s %%', round(y.percent::numeric, 1)) AS "lost, off"
	FROM bench.idle_query q JOIN median w ON w.n = q.n AND w.server = 'without'
		JOIN median l ON l.n = q.n AND l.server = 'loaded'
		JOIN median f ON f.n = q.n AND f.server = 'aggregates off'
		JOIN lost x ON x.n = q.n AND x.server = 'loaded'
		JOIN lost y ON y.n = q.n AND y.server = 'aggregates off'
	ORDER BY q.n;
