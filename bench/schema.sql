-- Helpers of bench/run.sh.  Everything is measured in the session's own CPU time: shared machines lie about wall-clock time.
CREATE EXTENSION surfidx;
CREATE SCHEMA bench;

-- Nanoseconds on the CPU, by the scheduler's account of this backend, which is exact only after a sleep, else up to a tick late.
CREATE FUNCTION bench.cpu() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
	SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 100), ' ', 1)::bigint FROM pg_sleep(0.0005)
$$;

-- One line per single measurement.
-- n: their order, which tells whose turns were one after the other
CREATE TABLE bench.result (key_set text, entries bigint, metric text, am text, value float8, n bigserial);

-- Rows of r and of more, filled by bench.load.
CREATE TABLE bench.loaded (rows bigint, extra bigint);

/*
 * The key columns of r, k and perhaps more: in place of $k as a list, of $desc with DESC after each, of $r., $b. or $m. with that
 * alias before each, of $count as the sum of their counts.
 */
CREATE FUNCTION bench.of_keys(query text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
	c text[] := (SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'r'::regclass AND attnum > 0);
	a text;
BEGIN
	query := replace(query, '$desc', array_to_string(c, ' DESC, ') || ' DESC');
	FOREACH a IN ARRAY ARRAY['r', 'b', 'm'] LOOP
		query := replace(query, '$' || a || '.', a || '.' || array_to_string(c, ', ' || a || '.'));
	END LOOP;
	query := replace(query, '$count', 'count(r.' || array_to_string(c, ') + count(r.') || ')');
	RETURN replace(query, '$k', array_to_string(c, ', '));
END
$$;

CREATE PROCEDURE bench.note(key_set text, metric text, am text, value float8)
LANGUAGE sql AS $$
	INSERT INTO bench.result SELECT key_set, rows, metric, am, value FROM bench.loaded
$$;

/*
 * Make r (indexed), more (inserted later, in the order in which it lies) with the type of k, after which more columns may follow.
 * What a set says: keys, in the order of the table, as a query of (k, later), or of all columns and later; sample of misses,
 * from a key.
 */
CREATE TABLE bench.key_set (name text PRIMARY KEY, type text, keys text, miss text, title text, bits float8);

/*
 * bits: the information in a key, its entropy where the generator tells.  An index says which key is in which row, which suffices to make
 * the index: so no index can take less than the sum of these, whatever the order of keys and rows.  random() has 52 bits.
 */
CREATE FUNCTION bench.entropy(p float8[]) RETURNS float8
LANGUAGE sql IMMUTABLE AS $$
	SELECT -sum(x * ln(x)) / ln(2) FROM unnest(p) x WHERE x > 0
$$;

/*
 * $1 is replaced by the number of rows, $2 by that of the rows to insert later.
 * e-mails: host names of 200 with few that are frequent, names and numbers as people have them.
 */
INSERT INTO bench.key_set VALUES
	('int8', 'int8', $$SELECT (random() * 9e18)::int8, i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$(random() * 9e18)::int8$$, 'random int8, random TIDs; more in random order', 52),
	('serial', 'int8', $$SELECT i, i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$k + 1000000000$$, 'serial int8 in table order; more ascending', 0),
	('timestamp', 'timestamptz',
		$$SELECT timestamptz '2024-01-01 UTC' + interval '1 second' * sum(-ln(1 - random())) OVER (ORDER BY i), i > $1
			FROM generate_series(1, $1 + $2) i$$,
		$$k + interval '1 microsecond'$$, 'timestamps, one a second on average, in table order; more ascending',
		ln(exp(1) * 1e6) / ln(2)),
	('uuid', 'uuid', $$SELECT md5('uuid' || i)::uuid, i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$md5(k::text)::uuid$$, 'random uuid, random TIDs; more in random order', 128),
	('email', 'text COLLATE "C"',
		$$SELECT (ARRAY['anna', 'ben', 'carla', 'david', 'eva', 'frank', 'greta', 'hans', 'ines', 'jan', 'klara', 'lukas', 'maria',
				'nico', 'olga', 'paul', 'rosa', 'stefan', 'tina', 'ulrich', 'vera', 'walter'])[1 + (random() * 21)::int] || '.' ||
				(ARRAY['adler', 'becker', 'conrad', 'dietz', 'engel', 'fischer', 'graf', 'huber', 'jung', 'koch', 'lang', 'meyer', 'neumann',
				'otto', 'peters', 'richter', 'schmidt', 'thomas', 'ulrich', 'vogel', 'weber', 'zimmermann'])[1 + (random() * 21)::int] ||
				to_char((random() * 99999)::int, 'FM99999') || '@' ||
				substr(md5('host' || (200 * random() ^ 3)::int), 1, 5) || '.' ||
				(ARRAY['com', 'org', 'net', 'example'])[1 + (4 * random() ^ 2 - 0.5)::int], i > $1
			FROM generate_series(1, $1 + $2) i$$,
		$$k || 'x'$$, 'e-mail-like text of 27 bytes, random TIDs; more in random order',
		-- two names of 22 of which the first and the last are half as frequent, a number, a host and its domain by their shares
		2 * bench.entropy(ARRAY(SELECT CASE WHEN i IN (0, 21) THEN 0.5 ELSE 1 END / 21 FROM generate_series(0, 21) i)) + log(2, 99999) +
		bench.entropy(ARRAY(SELECT power(least(i + 0.5, 200) / 200, 1 / 3.0) - power(greatest(i - 0.5, 0) / 200, 1 / 3.0) FROM generate_series(0, 200) i)) +
		bench.entropy(ARRAY(SELECT sqrt(least(i + 1, 4) / 4.0) - sqrt(i / 4.0) FROM generate_series(0, 3) i))),
	('path', 'text COLLATE "C"', $$SELECT path, row_number() OVER () > $1 FROM (SELECT path FROM bench.raw ORDER BY random()) s$$,
		$$k || '~'$$, 'file paths, random TIDs; more in random order', NULL);

/*
 * Keys as people have them that nothing was tuned on: codes in three collations (bytes, ICU's, and the C library's where it has
 * that locale), names, digests and numbers as they are printed, numeric and network types.
 */
CREATE FUNCTION bench.code(i bigint) RETURNS text
LANGUAGE sql VOLATILE AS $$
	SELECT (ARRAY['AX', 'BK', 'CM', 'DR', 'EL', 'FT', 'GH', 'HX'])[1 + (random() ^ 2 * 7)::int] || '-' || to_char(random() * 999, 'FM000') ||
		chr(65 + (random() * 25)::int) || '-' || to_char(random() * 99999, 'FM00000')
$$;
INSERT INTO bench.key_set
	SELECT v.name, 'text COLLATE "' || v.coll || '"', $$SELECT bench.code(i), i > $1 FROM generate_series(1, $1 + $2) i$$, $$k || '0'$$,
		'product codes, collation ' || v.coll || '; more in random order', NULL
	FROM (VALUES ('code', 'C'), ('code-icu', 'en-x-icu'), ('code-libc', 'en_US.utf8')) v (name, coll)
		JOIN pg_collation c ON c.collname = v.coll;
INSERT INTO bench.key_set VALUES
	('name', 'text COLLATE "C"',
		$$SELECT lower((ARRAY['James', 'Mary', 'Robert', 'Patricia', 'John', 'Jennifer', 'Michael', 'Linda', 'David', 'Elizabeth', 'William', 'Barbara',
				'Richard', 'Susan', 'Joseph', 'Jessica', 'Thomas', 'Sarah', 'Charles', 'Karen', 'Wei', 'Fatima', 'Oluwaseun', 'Giulia', 'Søren'])
				[1 + (random() ^ 1.5 * 24)::int] || '.' ||
			(ARRAY['Smith', 'Johnson', 'Williams', 'Brown', 'Jones', 'Garcia', 'Miller', 'Davis', 'Rodriguez', 'Martinez', 'Hernandez', 'Lopez',
				'Gonzalez', 'Wilson', 'Anderson', 'Nguyen', 'Kowalski', 'Papadopoulos', 'Li', 'Müller'])[1 + (random() ^ 1.5 * 19)::int] ||
			CASE WHEN random() < 0.8 THEN (random() * 9999)::int::text ELSE '' END || '@' ||
			(ARRAY['gmail.com', 'yahoo.com', 'hotmail.com', 'outlook.com', 'gmx.de', 'web.de', 'orange.fr', 'mail.ru', 'qq.com', 'example.co.uk'])
				[1 + (random() ^ 2 * 9)::int]), i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$k || 'x'$$, 'e-mails of real names at a few hosts; more in random order', NULL),
	('md5', 'text COLLATE "C"', $$SELECT md5('m' || i), i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$md5(k)$$, 'md5 as text; more in random order', 128),
	('numeric', 'numeric(12,2)', $$SELECT (exp(random() * 16) / 100)::numeric(12, 2), i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$k + 0.001$$, 'amounts of money; more in random order', NULL),
	('inet', 'inet', $$SELECT '10.0.0.0'::inet + (random() * 16777215)::bigint, i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$k + 16777216$$, 'addresses of a network; more in random order', 24),
	('float8', 'float8', $$SELECT round((random() * 1e6)::numeric, 6)::float8, i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$k + 0.0000001$$, 'float8 of six decimals; more in random order', log(2, 1e12)),
	('price', 'float8', $$SELECT round((exp(random() * 16) / 100)::numeric, 2)::float8, i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$k + 0.001$$, 'float8 of prices; more in random order', NULL),
	('latitude', 'float8', $$SELECT round((random() * 180 - 90)::numeric, 5)::float8, i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$k + 0.000001$$, 'float8 of coordinates, five decimals; more in random order', log(2, 18e6)),
	('double', 'float8', $$SELECT random(), i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$k + 1e-15$$, 'float8 at random, no decimals; more in random order', 52),
	('event', 'text COLLATE "C", l timestamptz',
		$$SELECT 'sensor-' || to_char(random() * 999, 'FM000') || chr(97 + (random() * 5)::int), timestamptz '2024-01-01 UTC' + i * interval '0.1 second', i > $1
			FROM generate_series(1, $1 + $2) i$$,
		$$k, l + interval '1 microsecond'$$, '(text, timestamptz) of 6,000 devices; more ascending', NULL);
INSERT INTO bench.key_set
	SELECT v.name, 'int4, l text COLLATE "' || v.coll || '"',
		$$SELECT (random() ^ 2 * 999)::int, bench.code(i), i > $1 FROM generate_series(1, $1 + $2) i$$,
		$$k, l || '0'$$, '(int4, text), codes of a thousand owners, collation ' || v.coll || '; more in random order', NULL
	FROM (VALUES ('owner', 'C'), ('owner-icu', 'en-x-icu')) v (name, coll)
		JOIN pg_collation c ON c.collname = v.coll;

CREATE PROCEDURE bench.load(set_name text, n bigint, extra bigint)
LANGUAGE plpgsql AS $$
DECLARE
	s bench.key_set;
BEGIN
	SELECT * INTO STRICT s FROM bench.key_set WHERE name = set_name;
	DROP TABLE IF EXISTS r, more, hit, miss, lower_bound;
	PERFORM setseed(0.42);
	EXECUTE format('CREATE TABLE r (k %s)', s.type);
	EXECUTE format('CREATE TABLE more (k %s)', s.type);
	EXECUTE bench.of_keys('CREATE TEMP TABLE keys ($k, later) AS ') || replace(replace(s.keys, '$1', n::text), '$2', extra::text);
	EXECUTE bench.of_keys('INSERT INTO r SELECT $k FROM keys WHERE NOT later');
	EXECUTE bench.of_keys('INSERT INTO more SELECT $k FROM keys WHERE later');
	DROP TABLE keys;
	DELETE FROM bench.loaded;
	INSERT INTO bench.loaded SELECT (SELECT count(*) FROM r), (SELECT count(*) FROM more);
	EXECUTE format('CREATE TABLE hit AS SELECT * FROM r ORDER BY random() LIMIT %s', least(n / 10, 200000));
	-- (an anti join may leave them in the order of the key, in which all pages are warm)
	EXECUTE format(bench.of_keys('CREATE TABLE miss AS SELECT * FROM (SELECT %s FROM hit) m ($k) WHERE NOT EXISTS (SELECT FROM r WHERE ($r.) = ($m.)) ORDER BY random()'), s.miss);
	EXECUTE 'CREATE TABLE lower_bound AS SELECT * FROM hit LIMIT 5000';
	IF s.bits IS NOT NULL THEN
		CALL bench.note(set_name, 'size, bytes per entry', 'limit', s.bits / 8);
	END IF;
END
$$;

-- CREATE INDEX: CPU per entry, bytes per entry, WAL per entry.  The index stays.
CREATE PROCEDURE bench.build(key_set text, am text)
LANGUAGE plpgsql AS $$
DECLARE
	n float8 := (SELECT rows FROM bench.loaded);
	wal pg_lsn := pg_current_wal_insert_lsn();
	c0 bigint := bench.cpu();
BEGIN
	EXECUTE format(bench.of_keys('CREATE INDEX %I ON r USING %I ($k)'), 'r_' || am, am);
	CALL bench.note(key_set, 'build CPU, ns per entry', am, (bench.cpu() - c0) / n);
	CALL bench.note(key_set, 'build WAL, bytes per entry', am, (pg_current_wal_insert_lsn() - wal)::float8 / n);
	CALL bench.note(key_set, 'size, bytes per entry', am, pg_relation_size(('r_' || am)::regclass) / n);
END
$$;

/*
 * The same with two workers, whose CPU time nobody adds up for us: by the clock, so the machine has to be quiet.  Every participant
 * gets the same share of maintenance_work_mem with either access method.
 */
CREATE PROCEDURE bench.build_parallel(key_set text, am text)
LANGUAGE plpgsql SET max_parallel_maintenance_workers = 2 AS $$
DECLARE
	n float8 := (SELECT rows FROM bench.loaded);
	t0 timestamptz := clock_timestamp();
BEGIN
	EXECUTE format(bench.of_keys('CREATE INDEX %I ON r USING %I ($k)'), 'r_' || am, am);
	CALL bench.note(key_set, 'build with 2 workers, elapsed, ns per entry', am, extract(epoch FROM clock_timestamp() - t0) * 1e9 / n);
END
$$;

-- CPU of a query by one of the two indexes of r: the other one is dropped for the time of it.  The second of two runs counts.
CREATE FUNCTION bench.timed(query text, am text, OUT ns bigint, OUT answer text)
LANGUAGE plpgsql AS $$
DECLARE
	c0 bigint;
BEGIN
	BEGIN
		EXECUTE format('DROP INDEX %I', 'r_' || CASE am WHEN 'btree' THEN 'surfidx' ELSE 'btree' END);
		EXECUTE query INTO answer;
		c0 := bench.cpu();
		EXECUTE query INTO answer;
		ns := bench.cpu() - c0;
		RAISE EXCEPTION SQLSTATE 'P0099';
	EXCEPTION WHEN SQLSTATE 'P0099' THEN
		NULL;
	END;
END
$$;

-- What is measured: per is a query for the number by which the time is divided.
CREATE TABLE bench.query (n int, metric text, query text, per text);
INSERT INTO bench.query VALUES
	(1, 'lookup, hit, ns', 'SELECT $count FROM hit JOIN r USING ($k)', 'SELECT count(*) FROM hit'),
	(2, 'lookup, miss, ns', 'SELECT $count FROM miss JOIN r USING ($k)', 'SELECT count(*) FROM miss'),
	(3, 'lookup as a statement of its own, ns', 'SELECT bench.statements(bench.of_keys(''SELECT FROM r WHERE ($r.) = ($b.)''))',
		'SELECT count(*) * 4 FROM lower_bound'),
	(4, 'range of 100 rows, ns', 'SELECT $count FROM lower_bound b CROSS JOIN LATERAL
			(SELECT $k FROM r WHERE ($k) >= ($b.) ORDER BY $k LIMIT 100) r', 'SELECT count(*) FROM lower_bound'),
	(5, 'range of 100 rows backward, ns', 'SELECT $count FROM lower_bound b CROSS JOIN LATERAL
			(SELECT $k FROM r WHERE ($k) <= ($b.) ORDER BY $desc LIMIT 100) r', 'SELECT count(*) FROM lower_bound'),
	(6, 'full index-only scan, ns per row', 'SELECT $count FROM r WHERE k IS NOT NULL', 'SELECT rows FROM bench.loaded'),
	(8, 'full index-only count(*), ns per row', 'SELECT count(*) FROM r WHERE k IS NOT NULL', 'SELECT rows FROM bench.loaded'),
	(7, '= ANY of 1000 keys, ns per key', 'SELECT count(*) FROM generate_series(0, 4) g (b) CROSS JOIN LATERAL
			(SELECT r.k FROM r WHERE r.k = ANY (ARRAY(SELECT k FROM hit OFFSET g.b * 1000 LIMIT 1000))) x', 'SELECT 5000'),
	(9, '= ANY of 200 keys, ns per key', 'SELECT count(*) FROM generate_series(0, 24) g (b) CROSS JOIN LATERAL
			(SELECT r.k FROM r WHERE r.k = ANY (ARRAY(SELECT k FROM hit OFFSET g.b * 200 LIMIT 200))) x', 'SELECT 5000'),
	-- (OFFSET: each time anew)
	(10, 'first 100 rows, ns', 'SELECT $count FROM generate_series(1, 3000) g (b) CROSS JOIN LATERAL
			(SELECT $k FROM r ORDER BY $k LIMIT 100 OFFSET g.b * 0) r', 'SELECT 3000'),
	(11, 'last 100 rows, ns', 'SELECT $count FROM generate_series(1, 3000) g (b) CROSS JOIN LATERAL
			(SELECT $k FROM r ORDER BY $desc LIMIT 100 OFFSET g.b * 0) r', 'SELECT 3000');

-- Lookups through plans of their own, as an application's prepared statements are: the start of a scan counts.
CREATE FUNCTION bench.statements(query text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	found_rows bigint;
BEGIN
	EXECUTE format($f$CREATE OR REPLACE FUNCTION pg_temp.statements() RETURNS bigint LANGUAGE plpgsql AS $s$
		DECLARE
			found_rows bigint := 0;
			b record;
		BEGIN
			FOR i IN 1..4 LOOP
				FOR b IN SELECT * FROM lower_bound LOOP
					PERFORM %s;
					found_rows := found_rows + found::int;
				END LOOP;
			END LOOP;
			RETURN found_rows;
		END $s$ $f$, substr(query, 8));
	EXECUTE 'SELECT pg_temp.statements()' INTO found_rows;
	RETURN found_rows;
END
$$;

-- One round: each query by either index, and the answers must be the same.
CREATE PROCEDURE bench.read(key_set text)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
SET enable_memoize = off SET enable_material = off AS $$
DECLARE
	q bench.query;
	per float8;
	b record;
	s record;
BEGIN
	FOR q IN SELECT * FROM bench.query ORDER BY n LOOP
		EXECUTE q.per INTO per;
		CONTINUE WHEN per = 0;
		q.query := bench.of_keys(q.query);
		b := bench.timed(q.query, 'btree');
		s := bench.timed(q.query, 'surfidx');
		IF b.answer IS DISTINCT FROM s.answer THEN
			RAISE EXCEPTION 'WRONG: % by btree: %, by surfidx: % (%)', q.metric, b.answer, s.answer, key_set;
		END IF;
		CALL bench.note(key_set, q.metric, 'btree', b.ns / per);
		CALL bench.note(key_set, q.metric, 'surfidx', s.ns / per);
	END LOOP;
END
$$;

/*
 * Pages of the index that a lookup does not find in shared_buffers, which run.sh has made small for this: the second of two
 * runs, so that what the first one left there counts.
 */
CREATE PROCEDURE bench.misses(key_set text)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
SET enable_memoize = off SET enable_material = off AS $$
DECLARE
	am text;
	plan json;
	per float8;
BEGIN
	FOREACH am IN ARRAY ARRAY['btree', 'surfidx'] LOOP
		BEGIN
			EXECUTE format('DROP INDEX %I', 'r_' || CASE am WHEN 'btree' THEN 'surfidx' ELSE 'btree' END);
			FOR i IN 1..2 LOOP
				EXECUTE bench.of_keys('EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) SELECT $count FROM hit JOIN r USING ($k)') INTO plan;
			END LOOP;
			SELECT (n ->> 'Shared Read Blocks')::float8 / (n ->> 'Actual Loops')::float8 INTO per
				FROM json_array_elements(plan -> 0 -> 'Plan' -> 'Plans' -> 0 -> 'Plans') n WHERE n ->> 'Node Type' = 'Index Only Scan';
			RAISE EXCEPTION SQLSTATE 'P0099';
		EXCEPTION WHEN SQLSTATE 'P0099' THEN
			NULL;
		END;
		CALL bench.note(key_set, 'pages missed per lookup, buffers = 1/5 of btree', am, per);
	END LOOP;
END
$$;

-- Every key of the table in the order of either index: a hash over the order itself.  And what advice the btree gives.
CREATE PROCEDURE bench.compare(key_set text)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
	query text := bench.of_keys('SELECT count(*) || '' '' || sum(hashtextextended(($k)::text, n)::numeric)
		FROM (SELECT $k, row_number() OVER () AS n FROM (SELECT $k FROM r ORDER BY $k) o) x');
	b record := bench.timed(query, 'btree');
	s record := bench.timed(query, 'surfidx');
BEGIN
	IF b.answer IS DISTINCT FROM s.answer THEN
		RAISE EXCEPTION 'WRONG: the indexes differ for %: %, %', key_set, b.answer, s.answer;
	END IF;
	INSERT INTO bench.result SELECT key_set, rows, 'size as surfidx_estimate() tells, bytes per entry', 'surfidx', surfidx_bytes / rows::float8
		FROM surfidx_estimate('r_btree'), bench.loaded;
END
$$;

/* ---- inserts: w is a copy of r with one index or none ---- */

CREATE PROCEDURE bench.copy_table(am text)
LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS w;
	CREATE TABLE w (LIKE r);
	INSERT INTO w SELECT * FROM r;
	IF am <> 'none' THEN
		EXECUTE format(bench.of_keys('CREATE INDEX w_index ON w USING %I ($k)'), am);
	END IF;
END
$$;

-- Would a worker merge now?  By bounds 1 and 2 of policy.c: so much of a log, or 32 pages and merge_ratio of the tree's entries,
-- as if the log had been begun before the last checkpoint: one begun since may have twice as many.
CREATE FUNCTION bench.merge_due(index regclass) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
	SELECT log_pages >= pg_size_bytes(current_setting('surfidx.delta_size')) / 8192 OR
		(log_pages >= 32 AND delta_entries >= current_setting('surfidx.merge_ratio')::float8 * entries)
	FROM surfidx_meta(index)
$$;

-- As the worker would, but here, so that it counts, and at the end.  Gives the CPU time that the merge took.
CREATE FUNCTION bench.merge_if_due(at_end boolean) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	c0 bigint;
BEGIN
	IF NOT at_end AND NOT bench.merge_due('w_index') THEN
		RETURN 0;
	END IF;
	c0 := bench.cpu();
	PERFORM surfidx_merge('w_index');
	RETURN bench.cpu() - c0;
END
$$;

-- Insert what is in "more" in pieces; merges included, the last one too.
CREATE PROCEDURE bench.insert(key_set text, am text)
LANGUAGE plpgsql
SET surfidx.auto_merge = off SET enable_bitmapscan = off AS $$
DECLARE
	n float8 := (SELECT extra FROM bench.loaded);
	pages int := pg_relation_size('more') / 8192;
	step int := greatest(1, pages / 100);
	all_rows float8 := (SELECT rows + extra FROM bench.loaded);
	merges float8 := 0;
	wal pg_lsn := pg_current_wal_insert_lsn();
	c0 bigint := bench.cpu();
BEGIN
	FOR p IN 0..pages BY step LOOP
		INSERT INTO w SELECT * FROM more WHERE ctid >= format('(%s,0)', p)::tid AND ctid < format('(%s,0)', p + step)::tid;
		IF am = 'surfidx' THEN
			merges := merges + bench.merge_if_due(p + step > pages);
		END IF;
	END LOOP;
	CALL bench.note(key_set, 'insert with the table, CPU, ns per row', am, (bench.cpu() - c0) / n);
	CALL bench.note(key_set, 'insert with the table, WAL, bytes per row', am, (pg_current_wal_insert_lsn() - wal)::float8 / n);
	IF am <> 'none' THEN
		CALL bench.note(key_set, 'size after inserts, bytes per entry', am, pg_relation_size('w_index') / all_rows);
	END IF;
	IF am = 'surfidx' THEN
		CALL bench.note(key_set, 'merges in it, CPU, ns per row', am, merges / n);
	END IF;
	IF (SELECT count(*) FROM w) <> all_rows THEN
		RAISE EXCEPTION 'WRONG: rows are missing';
	END IF;
END
$$;

-- The index of w holds what the table holds.
CREATE PROCEDURE bench.compare_inserted()
LANGUAGE plpgsql SET enable_bitmapscan = off AS $$
DECLARE
	query text := bench.of_keys('SELECT count(*) || '' '' || sum(hashtextextended(($k)::text, 0)::numeric) FROM (SELECT $k FROM w ORDER BY $k) x');
	by_index text;
	by_table text;
BEGIN
	SET LOCAL enable_seqscan = off;
	EXECUTE query INTO by_index;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	EXECUTE query INTO by_table;
	IF by_index IS DISTINCT FROM by_table THEN
		RAISE EXCEPTION 'WRONG: by index %, by table %', by_index, by_table;
	END IF;
END
$$;

/* ---- VACUUM: a fifth of w's rows, drawn by chance, is dead ---- */

CREATE PROCEDURE bench.vacuum_begins()
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('bench.wal', pg_current_wal_insert_lsn()::text, false), set_config('bench.cpu', bench.cpu()::text, false);
END
$$;

CREATE PROCEDURE bench.vacuum_ended(key_set text, am text)
LANGUAGE plpgsql AS $$
DECLARE
	cpu float8 := bench.cpu() - current_setting('bench.cpu')::bigint;
	wal float8 := pg_current_wal_insert_lsn() - current_setting('bench.wal')::pg_lsn;
	alive float8 := (SELECT count(*) FROM w);
	dead float8 := (SELECT rows + extra FROM bench.loaded) - alive;
BEGIN
	CALL bench.note(key_set, 'VACUUM with the table, CPU, ns per dead row', am, cpu / dead);
	CALL bench.note(key_set, 'VACUUM with the table, WAL, bytes per dead row', am, wal / dead);
	IF am <> 'none' THEN
		CALL bench.note(key_set, 'size after VACUUM, bytes per entry', am, pg_relation_size('w_index') / alive);
	END IF;
END
$$;

/* ---- what is printed ---- */

/*
 * The index's own part of an insert or a VACUUM: what it takes where the table has no index is taken off, run by run.
 * What merges take of an insert stands beside a whole insert of btree's.
 */
CREATE VIEW bench.line AS
	SELECT key_set, entries, metric, am, value, n FROM bench.result WHERE metric NOT LIKE '% with the table, %'
	UNION ALL
	SELECT r.key_set, r.entries, replace(r.metric, ' with the table', ''), r.am, r.value - none.median, r.n
	FROM bench.result r JOIN (SELECT key_set, metric, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median
		FROM bench.result WHERE am = 'none' GROUP BY 1, 2) none USING (key_set, metric)
	WHERE r.am <> 'none'
	UNION ALL
	SELECT r.key_set, r.entries, 'merges in it, CPU, ns per row', r.am, r.value - none.median, r.n
	FROM bench.result r JOIN (SELECT key_set, metric, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median
		FROM bench.result WHERE am = 'none' GROUP BY 1, 2) none USING (key_set, metric)
	WHERE r.am = 'btree' AND metric = 'insert with the table, CPU, ns per row';

CREATE FUNCTION bench.number(v float8) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN abs(v) >= 100 THEN v::numeric(20, 0) WHEN abs(v) >= 10 THEN v::numeric(20, 1) ELSE v::numeric(20, 2) END::text
$$;

CREATE VIEW bench.summary AS
	SELECT key_set, entries, metric, am, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median,
		min(value) AS min, max(value) AS max, count(*) AS runs
	FROM bench.line GROUP BY 1, 2, 3, 4;

/*
 * surfidx as a multiple of btree: of the medians, as docs/figures.md has it, and the least and the greatest quotient of one turn of both, which
 * were one after the other.
 */
CREATE VIEW bench.quotient AS
	WITH turn AS (SELECT key_set, entries, metric, am, value, row_number() OVER (PARTITION BY key_set, metric, am ORDER BY n) AS i FROM bench.line),
		of_turn AS (SELECT key_set, metric, min(s.value / b.value), max(s.value / b.value), count(*) AS turns
			FROM turn b JOIN turn s USING (key_set, metric, i) WHERE b.am = 'btree' AND s.am = 'surfidx' AND b.value > 0 GROUP BY 1, 2)
	SELECT key_set, b.entries, metric, s.median / b.median AS ratio, q.min, q.max, q.turns
	FROM of_turn q JOIN bench.summary b USING (key_set, metric) JOIN bench.summary s USING (key_set, metric)
	WHERE b.am = 'btree' AND s.am = 'surfidx' AND b.median > 0;

CREATE TABLE bench.ordered_metric (n serial, metric text);
INSERT INTO bench.ordered_metric (metric) VALUES ('size, bytes per entry'), ('size as surfidx_estimate() tells, bytes per entry'), ('size after inserts, bytes per entry'),
	('build CPU, ns per entry'), ('build WAL, bytes per entry'), ('lookup, hit, ns'), ('lookup, miss, ns'),
	('lookup as a statement of its own, ns'), ('range of 100 rows, ns'), ('range of 100 rows backward, ns'), ('full index-only scan, ns per row'), ('full index-only count(*), ns per row'),
	('= ANY of 1000 keys, ns per key'), ('= ANY of 200 keys, ns per key'), ('first 100 rows, ns'), ('last 100 rows, ns'), ('pages missed per lookup, buffers = 1/5 of btree'),
	('insert, CPU, ns per row'), ('merges in it, CPU, ns per row'), ('insert, WAL, bytes per row'),
	('VACUUM, CPU, ns per dead row'), ('VACUUM, WAL, bytes per dead row'), ('size after VACUUM, bytes per entry'),
	('pgbench -S, statements per second'), ('pgbench TPC-B, transactions per second'),
	('pgbench -S, CPU, us per statement'), ('pgbench TPC-B, CPU, us per transaction'),
	('build with 2 workers, elapsed, ns per entry');

CREATE VIEW bench.report AS
	SELECT key_set, o.n, metric, b.entries,
		bench.number(b.median) || ' (' || bench.number(b.min) || '-' || bench.number(b.max) || ')' AS btree,
		bench.number(s.median) || ' (' || bench.number(s.min) || '-' || bench.number(s.max) || ')' AS surfidx,
		q.ratio::numeric(10, 3), q.min::numeric(10, 2) || '-' || q.max::numeric(10, 2) AS spread
	FROM bench.ordered_metric o JOIN bench.summary b USING (metric) JOIN bench.summary s USING (key_set, metric)
		LEFT JOIN bench.quotient q USING (key_set, metric)
	WHERE b.am = 'btree' AND s.am = 'surfidx';

-- One line per key set, as docs/figures.md has it: bytes per entry of both, then surfidx as a multiple of btree.
CREATE FUNCTION bench.ratio(set_name text, what text) RETURNS numeric
LANGUAGE sql STABLE AS $$
	SELECT ratio::numeric(10, 2) FROM bench.report WHERE key_set = set_name AND metric = what
$$;

CREATE VIEW bench.overview AS
	SELECT key_set AS keys, (b.entries / 1e6)::numeric(10, 1) AS millions, bench.number(b.median) AS "btree B", bench.number(s.median) AS "surfidx B",
		(s.median / b.median)::numeric(10, 3) AS size,
		(SELECT (l.median / s.median)::numeric(10, 2) FROM bench.summary l WHERE l.key_set = b.key_set AND l.metric = 'size as surfidx_estimate() tells, bytes per entry') AS advised,
		(SELECT bench.number(l.median) FROM bench.summary l WHERE l.key_set = b.key_set AND l.metric = b.metric AND l.am = 'limit') AS "limit B",
		bench.ratio(key_set, 'size after inserts, bytes per entry') AS "after +10 %",
		bench.ratio(key_set, 'build CPU, ns per entry') AS build,
		bench.ratio(key_set, 'build WAL, bytes per entry') AS "build WAL",
		bench.ratio(key_set, 'lookup, hit, ns') AS lookup,
		bench.ratio(key_set, 'lookup, miss, ns') AS miss,
		bench.ratio(key_set, 'lookup as a statement of its own, ns') AS statement,
		bench.ratio(key_set, 'range of 100 rows, ns') AS range,
		bench.ratio(key_set, 'full index-only scan, ns per row') AS "full scan",
		bench.ratio(key_set, 'insert, CPU, ns per row') AS insert,
		bench.ratio(key_set, 'insert, WAL, bytes per row') AS "insert WAL",
		bench.ratio(key_set, 'VACUUM, CPU, ns per dead row') AS vacuum,
		bench.ratio(key_set, 'VACUUM, WAL, bytes per dead row') AS "vacuum WAL"
	FROM bench.summary b JOIN bench.summary s USING (key_set, metric)
	WHERE metric = 'size, bytes per entry' AND b.am = 'btree' AND s.am = 'surfidx';
