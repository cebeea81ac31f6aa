-- Helpers of bench/write.sh, on top of schema.sql.  Merges are made by the background worker as its policy has it; its CPU
-- counts, its start included: that of all processes which end while something is measured.

/*
 * Nanoseconds on the CPU of this backend, and of every child of the postmaster that has ended.  The second part is
 * exact to a clock tick (10 ms): enough for tenths of a second.
 */
CREATE FUNCTION bench.all_cpu(OUT own bigint, OUT ended bigint)
LANGUAGE sql VOLATILE AS $$
	SELECT bench.cpu(), (split_part(stat, ' ', 16)::bigint + split_part(stat, ' ', 17)::bigint) * 10000000
	FROM pg_read_file('/proc/' || split_part(pg_read_file('postmaster.pid'), E'\n', 1) || '/stat', 0, 1000) stat
$$;

INSERT INTO bench.key_set VALUES
	('uuid4', 'uuid', $$SELECT overlay(overlay(md5('u' || i) PLACING '4' FROM 13) PLACING substr('89ab', 1 + i % 4, 1) FROM 17)::uuid, i > $1
			FROM generate_series(1, $1 + $2) i$$,
		$$md5(k::text)::uuid$$, 'uuid v4, random TIDs; more in random order'),
	('hostmail', 'text COLLATE "C"',
		replace((SELECT keys FROM bench.key_set WHERE name = 'email'), 'SELECT (ARRAY[''anna''',
			'SELECT regexp_replace(mail, ''^(.*)@(.*)\.(.*)$'', ''\3.\2@\1''), later FROM (SELECT (ARRAY[''anna''') || ') m (mail, later)',
		$$k || 'x'$$, 'e-mails, host name reversed and in front, random TIDs; more in random order');

-- No worker is there, and no child of the postmaster that has left but was not waited for: its CPU would not count yet.
CREATE FUNCTION bench.none_ending() RETURNS boolean
LANGUAGE sql VOLATILE AS $$
	SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%')
		AND NOT EXISTS (SELECT FROM split_part(pg_read_file('postmaster.pid'), E'\n', 1) pm,
			string_to_table(trim(E' \n' FROM pg_read_file('/proc/' || pm || '/task/' || pm || '/children', 0, 10000)), ' ') child
			WHERE child::int NOT IN (SELECT pid FROM pg_stat_activity))
$$;

-- Wait until no worker is there any more, so that its CPU counts, then merge what is left.
CREATE PROCEDURE bench.settle(am text)
LANGUAGE plpgsql AS $$
BEGIN
	COMMIT;
	FOR i IN 1..60000 LOOP
		PERFORM pg_stat_clear_snapshot();
		EXIT WHEN bench.none_ending();
		PERFORM pg_sleep(0.01);
	END LOOP;
	IF am = 'surfidx' THEN
		PERFORM surfidx_merge('w_index');
	END IF;
	COMMIT;
END
$$;

-- Insert pages [first, last) of "more" in 100 pieces, each a transaction. Checkpoints: that many, evenly spread, one at the start.
CREATE PROCEDURE bench.write(key_set text, what text, am text, first int, last int, checkpoints int)
LANGUAGE plpgsql AS $$
DECLARE
	pages int := last - first;
	added bigint;
	n float8 := 0;
	all_rows float8;
	wal pg_lsn;
	c0 record;
	c1 record;
BEGIN
	CHECKPOINT;
	COMMIT;
	wal := pg_current_wal_insert_lsn();
	c0 := bench.all_cpu();
	FOR piece IN 0..99 LOOP
		IF piece > 0 AND piece % (100 / checkpoints) = 0 THEN
			CHECKPOINT;
		END IF;
		INSERT INTO w SELECT k FROM more
			WHERE ctid >= format('(%s,0)', first + pages * piece / 100)::tid AND ctid < format('(%s,0)', first + pages * (piece + 1) / 100)::tid;
		GET DIAGNOSTICS added = ROW_COUNT;
		n := n + added;
		COMMIT;
	END LOOP;
	c1 := bench.all_cpu();
	CALL bench.note(key_set, 'insert with the table, foreground CPU ' || what || ', ns per row', am, (c1.own - c0.own) / n);
	CALL bench.settle(am);
	c1 := bench.all_cpu();
	CALL bench.note(key_set, 'insert with the table, CPU ' || what || ', ns per row', am, (c1.own + c1.ended - c0.own - c0.ended) / n);
	CALL bench.note(key_set, 'insert with the table, WAL ' || what || ', bytes per row', am, (pg_current_wal_insert_lsn() - wal)::float8 / n);
	all_rows := (SELECT count(*) FROM w);
	IF am <> 'none' THEN
		CALL bench.note(key_set, 'size after ' || what || ', bytes per entry', am, pg_relation_size('w_index') / all_rows);
	END IF;
	IF am = 'surfidx' THEN
		CALL bench.note(key_set, 'merges so far, ' || what, am, (surfidx_meta('w_index')).merges);
	END IF;
	COMMIT;
END
$$;

CREATE FUNCTION bench.more_pages(share float8) RETURNS int
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN (pg_relation_size('more') / 8192 * share)::int;
END
$$;

TRUNCATE bench.ordered_metric RESTART IDENTITY;
INSERT INTO bench.ordered_metric (metric)
	SELECT format(m, w) FROM (VALUES ('+10 %'), ('+10 % in ten steps'), ('+100 %')) p (w),
		(VALUES ('insert, CPU %s, ns per row'), ('insert, foreground CPU %s, ns per row'), ('insert, WAL %s, bytes per row'),
			('size after %s, bytes per entry'), ('merges so far, %s')) v (m);

/* ---- clients ---- */

CREATE TABLE bench.client_run (pattern text, am text, clients int, tps float8, cpu_us float8, p50 float8, p99 float8, p999 float8, max float8, merges int);

CREATE TABLE bench.cpu_mark (ended bigint);

-- A table with a million rows and the index; pattern serial or random.
CREATE PROCEDURE bench.client_table(pattern text, am text, options text)
LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS c;
	DROP SEQUENCE IF EXISTS c_seq;
	CREATE SEQUENCE c_seq CACHE 100 START 1000001;
	CREATE UNLOGGED TABLE IF NOT EXISTS c_start AS SELECT i::int8 AS i, (random() * 9e18)::int8 AS r FROM generate_series(1, 1000000) i;
	CREATE TABLE c (k int8);
	EXECUTE format('INSERT INTO c SELECT %s FROM c_start', CASE pattern WHEN 'serial' THEN 'i' ELSE 'r' END);
	IF am <> 'none' THEN
		EXECUTE format('CREATE INDEX c_k ON c USING %I (k) %s', am, CASE am WHEN 'surfidx' THEN options ELSE '' END);
	END IF;
END
$$;
