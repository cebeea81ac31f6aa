-- The demo's table and its helpers.  The name of an index ends in _surfidx or _btree: its access method.
CREATE EXTENSION surfidx;
CREATE SCHEMA demo;

CREATE SEQUENCE demo.file_id;

-- A file as a package brings it.  "hash" is a random number, "changed" the time of a package and a few
-- milliseconds more for each of its files; both come from the names, so that every run has the same.
CREATE TABLE file (
	id bigint NOT NULL DEFAULT nextval('demo.file_id'),
	path text COLLATE "C" NOT NULL,
	package text COLLATE "C",
	hash bigint,
	changed timestamptz
);

CREATE TABLE demo.raw (line bigserial, path text COLLATE "C", package text COLLATE "C");

CREATE FUNCTION demo.package_time(package text) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
	SELECT timestamptz '2020-01-01 UTC' + abs(hashtext(package)::bigint) * interval '1 second' / 12
$$;

CREATE PROCEDURE demo.fill()
LANGUAGE sql AS $$
	INSERT INTO file (path, package, hash, changed)
		SELECT path, package, hashtextextended(path, 0), demo.package_time(package) + line * interval '7 milliseconds'
		FROM demo.raw ORDER BY line;
	DROP TABLE demo.raw;
$$;

-- What is built, in this order: a name and CREATE INDEX ... ON file USING (what this table says).
CREATE TABLE demo.wanted (n int, name text, is_unique boolean, definition text, shown text);
INSERT INTO demo.wanted VALUES
	(1, 'path', false, '(path)', 'path'),
	(2, 'id', true, '(id)', 'id, unique'),
	(3, 'hash', false, '(hash)', 'hash: random int8'),
	(4, 'changed', false, '(changed DESC)', 'changed: timestamptz DESC'),
	(5, 'package', false, '(package, path) INCLUDE (id)', 'package, path, INCLUDE id');

CREATE TABLE demo.built (name text, am text, seconds float8, bytes bigint);

CREATE PROCEDURE demo.build(name text, am text)
LANGUAGE plpgsql AS $$
DECLARE
	w demo.wanted;
	t0 timestamptz := clock_timestamp();
BEGIN
	SELECT * INTO w FROM demo.wanted WHERE wanted.name = build.name;
	EXECUTE format('CREATE %s INDEX %I ON file USING %I %s', CASE WHEN w.is_unique THEN 'UNIQUE' END,
				   name || '_' || am, am, w.definition);
	INSERT INTO demo.built VALUES (name, am, extract(epoch FROM clock_timestamp() - t0),
								   pg_relation_size((name || '_' || am)::regclass));
END
$$;

-- Drop the indexes of another access method than this: to be called where it will be rolled back.
CREATE PROCEDURE demo.only(am text)
LANGUAGE plpgsql AS $$
DECLARE
	i regclass;
BEGIN
	FOR i IN SELECT indexrelid FROM pg_index JOIN pg_class c ON c.oid = indexrelid
			WHERE indrelid = 'file'::regclass AND c.relname NOT LIKE '%\_' || am
	LOOP
		EXECUTE format('DROP INDEX %s', i);
	END LOOP;
END
$$;

-- EXPLAIN with the indexes of one access method in place: the plan's lines, without the planner's own buffers and time.
CREATE FUNCTION demo.explain(am text, query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	lines text := '';
	planning boolean := false;
BEGIN
	BEGIN
		CALL demo.only(am);
		EXECUTE query;			-- once more, so that the pages are in memory
		FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) ' || query
		LOOP
			planning := line LIKE 'Planning%' OR (planning AND line LIKE '  %');
			CONTINUE WHEN planning;
			lines := lines || line || E'\n';
		END LOOP;
		RAISE EXCEPTION USING ERRCODE = 'P0099', MESSAGE = lines;
	EXCEPTION WHEN SQLSTATE 'P0099' THEN
		RETURN QUERY SELECT * FROM regexp_split_to_table(rtrim(SQLERRM, E'\n'), E'\n');
	END;
END
$$;

CREATE TABLE demo.queries (n serial, title text, query text);
INSERT INTO demo.queries (title, query) VALUES
	('point: a path', $$SELECT * FROM file WHERE path = (SELECT path FROM file WHERE id = 123456)$$),
	('point: a random number', $$SELECT id FROM file WHERE hash = (SELECT hash FROM file WHERE id = 654321)$$),
	('points: = ANY of 1000', $$SELECT count(*) FROM file WHERE id = ANY (ARRAY(SELECT i * 997 FROM generate_series(1, 1000) i))$$),
	('range: 1 % of the numbers', $$SELECT count(*) FROM file WHERE hash BETWEEN 0 AND 184467440737095516$$),
	('range: a month', $$SELECT count(*) FROM file WHERE changed >= '2022-05-01 UTC' AND changed < '2022-06-01 UTC'$$),
	('prefix: LIKE', $$SELECT count(*) FROM file WHERE path LIKE '/usr/share/doc/lib%'$$),
	('prefix, two columns', $$SELECT path, id FROM file WHERE package = (SELECT package FROM file WHERE id = 500000) AND path > '/usr/share' ORDER BY path LIMIT 50$$),
	('ordered: next 100 paths', $$SELECT path FROM file WHERE path > '/usr/share/m' ORDER BY path LIMIT 100$$),
	('ordered: latest 100', $$SELECT changed FROM file ORDER BY changed DESC LIMIT 100$$),
	('backward: last 100 paths', $$SELECT path FROM file ORDER BY path DESC LIMIT 100$$),
	('smallest and largest', $$SELECT min(hash), max(hash) FROM file$$),
	('all paths in order', $$SELECT count(*) FROM (SELECT path FROM file ORDER BY path OFFSET 0) o$$);

-- Median execution time (ms) and buffers of a query with the indexes of one access method, and whether they were used.
CREATE FUNCTION demo.measure(am text, query text, OUT ms numeric, OUT buffers bigint, OUT used boolean)
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	times float8[] := '{}';
	note text;
BEGIN
	BEGIN
		CALL demo.only(am);
		EXECUTE query;
		FOR i IN 1..5 LOOP
			EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT json) ' || query INTO plan;
			times := times || (plan -> 0 ->> 'Execution Time')::float8;
		END LOOP;
		buffers := (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
		used := plan::text LIKE '%\_' || am || '"%';
		RAISE EXCEPTION SQLSTATE 'P0099';
	EXCEPTION WHEN SQLSTATE 'P0099' THEN
		NULL;
	END;
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric(10, 2) INTO ms FROM unnest(times) t;
END
$$;

-- One answer by index and one by sequential scan in the same snapshot: STABLE functions see the snapshot of the statement that calls them.
CREATE FUNCTION demo.by_index(lo bigint, n bigint, OUT rows bigint, OUT hashes numeric)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
	SELECT count(*), sum(hash) INTO rows, hashes FROM file WHERE hash >= lo AND hash < lo + n;
END
$$;

CREATE FUNCTION demo.by_table(lo bigint, n bigint, OUT rows bigint, OUT hashes numeric)
LANGUAGE plpgsql STABLE SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off AS $$
BEGIN
	SELECT count(*), sum(hash) INTO rows, hashes FROM file WHERE hash >= lo AND hash < lo + n;
END
$$;

CREATE FUNCTION demo.same_answers() RETURNS boolean
LANGUAGE sql VOLATILE AS $$
	SELECT i.rows = t.rows AND i.hashes IS NOT DISTINCT FROM t.hashes
	FROM (SELECT (-9e18 + random() * 17e18)::bigint AS lo OFFSET 0) r,
		demo.by_index(lo, 1000000000000000000) i, demo.by_table(lo, 1000000000000000000) t
$$;

-- Insert copies of n files below /srv/<who>, as one transaction.
CREATE FUNCTION demo.add_files(who text, n int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
	start bigint := 1 + random() * 900000;
BEGIN
	INSERT INTO file (path, package, hash, changed)
		SELECT '/srv/' || who || path, who, hashtextextended(who || path || random(), 0), clock_timestamp()
		FROM file WHERE id BETWEEN start AND start + n - 1;
	RETURN n;
END
$$;

CREATE FUNCTION demo.remove_files(n int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
	start bigint := 1 + random() * 900000;
BEGIN
	DELETE FROM file WHERE id BETWEEN start AND start + n - 1;
	RETURN n;
END
$$;

-- The state of the surfidx indexes.
CREATE VIEW demo.state AS
	SELECT name AS index, merges, delta_entries AS "in delta", frozen, log_pages AS "log pages",
		entries AS "in tree", leaves, level + 1 AS levels, pg_size_pretty(pg_relation_size((name || '_surfidx')::regclass)) AS size
	FROM demo.wanted, surfidx_meta((name || '_surfidx')::regclass) ORDER BY n;
