#!/bin/bash
# Growth to ten billion entries: measured for millions, and computed from that for more
# (bench/growth.pl).
#
#	bench/growth.sh [--delta kB] [--buffers MB] [--out file.tsv] [rows]...
#
#	rows		of the index before; a fifth more is inserted (default 2000000 6000000).  The first one
#				tells what an entry costs, by which the others are predicted.
#	--delta		delta_size (default 256, so that an index of millions has runs)
#
# CPU is of all processes; what the table takes is left out.  Needs Linux (/proc).

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

delta=256
buffers=8
runs=1
out=$PWD/build/growth.tsv

take_options "delta buffers out" "$@"
[ ${#words[@]} -gt 0 ] || words=(2000000 6000000)

own_cluster growth "shared_buffers = ${buffers}MB" "max_wal_size = 64GB" "checkpoint_timeout = 1h" \
	"autovacuum = off" "maintenance_work_mem = 256MB" "max_parallel_maintenance_workers = 0"
sql -f bench/schema.sql -f bench/write.sql
sql <<-'END'
	CREATE TABLE grown (kind text, rows int8, added int8, chunk float8, buffers int8,
		log_page float8, entry float8, wal float8, own_ns float8, merge_ns float8,
		pages_written float8, pages_read float8, runs int, levels int, size float8,
		vacuum_ns float8);
	CREATE TABLE of_table AS TABLE grown;
	CREATE PROCEDURE wait_for_worker() LANGUAGE plpgsql AS $$
	BEGIN
		COMMIT;
		WHILE NOT bench.none_ending() LOOP
			PERFORM pg_sleep(0.005);
			PERFORM pg_stat_clear_snapshot();
		END LOOP;
		COMMIT;
	END $$;
	CREATE FUNCTION key_of(kind text, i int8) RETURNS int8 LANGUAGE sql
	RETURN CASE kind WHEN 'serial' THEN i ELSE (random() * 9e18)::int8 END;

	-- A fifth more, a full delta at a time, each of which the worker merges before the next one.
	CREATE PROCEDURE grow(what text, n int8, pages int, mb int, indexed boolean)
	LANGUAGE plpgsql AS $$
	DECLARE
		g grown;
		c0 record;
		c1 record;
		wal pg_lsn;
		meta record;
		most int := 0;
		at int8 := n + 5000;
		c int8;
	BEGIN
		wal := pg_current_wal_insert_lsn();
		c0 := bench.all_cpu();
		INSERT INTO t SELECT key_of(what, i) FROM generate_series(n + 1, at) i;
		SELECT chunk, log_page INTO g.chunk, g.log_page FROM of_table WHERE kind = what;
		IF indexed THEN
			meta := surfidx_meta('t_k');
			g.log_page := meta.delta_entries / meta.log_pages::float8;
			g.chunk := ceil(pages * g.log_page * 1.05);
		END IF;
		-- (5,000 are there)
		c := greatest(coalesce(g.chunk, n / 20)::int8 - 5000, 1);
		WHILE at < n * 1.2 LOOP
			INSERT INTO t SELECT key_of(what, i) FROM generate_series(at + 1, at + c) i;
			at := at + c;
			c := coalesce(g.chunk, n / 20)::int8;
			CALL wait_for_worker();
			IF indexed THEN
				most := greatest(most, (SELECT count(*) - 1 FROM surfidx_runs('t_k')));
			END IF;
		END LOOP;
		c1 := bench.all_cpu();
		g.kind := what;
		g.rows := n;
		g.added := at - n;
		g.buffers := mb * 128;
		g.wal := (pg_current_wal_insert_lsn() - wal)::float8 / g.added;
		g.own_ns := (c1.own - c0.own)::float8 / g.added;
		g.merge_ns := (c1.ended - c0.ended)::float8 / g.added;
		g.runs := most;
		INSERT INTO of_table SELECT g.* WHERE NOT indexed;
		INSERT INTO grown SELECT g.* WHERE indexed;
		COMMIT;
	END $$;
END
report_machine
for n in "${words[@]}"; do
	for kind in random serial; do
		for indexed in false true; do
			sql -c "DROP TABLE IF EXISTS t" -c "CREATE TABLE t (k int8)" \
				-c "INSERT INTO t SELECT key_of('$kind', i) FROM generate_series(1, $n) i"
			[ $indexed = false ] ||
				sql -c "CREATE INDEX t_k ON t USING surfidx (k) WITH (delta_size = $delta)"
			sql -c "VACUUM t" -c CHECKPOINT
			if [ $indexed = true ]; then
				sql -c "SELECT pg_stat_reset()" >/dev/null
				sql -c "CREATE TABLE before AS
					SELECT 8120.0 * leaves / entries AS entry FROM surfidx_meta('t_k')"
			fi
			sql -c "CALL grow('$kind', $n, $delta / 8, $buffers, $indexed)"
			if [ $indexed = true ]; then
				sql <<-END
					SELECT pg_stat_force_next_flush();
					SELECT pg_sleep(1);
					UPDATE grown g SET pages_written = s.merge_bytes / 8192.0 / added,
						pages_read = idx_blks_read / added::float8, levels = s.levels,
						size = s.bytes, entry = b.entry
					FROM surfidx_stats('t_k', 0) s, before b, pg_statio_user_indexes i
					WHERE i.indexrelname = 't_k' AND g.kind = '$kind' AND g.rows = $n;
					DROP TABLE before;
				END
			fi >/dev/null
			table=of_table
			[ $indexed = false ] || table=grown
			sql >/dev/null <<-END
				DELETE FROM t WHERE ctid::text LIKE '%,77)' OR ctid::text LIKE '%,177)';
				SELECT bench.cpu() AS start \gset
				VACUUM (PARALLEL 0, TRUNCATE off) t;
				UPDATE $table SET vacuum_ns = (bench.cpu() - :start) / (rows + added)::float8
				WHERE kind = '$kind' AND rows = $n;
			END
			[ $indexed = false ] || sql -c "SELECT surfidx_check('t_k')" >/dev/null
		done
	done
done
mkdir -p "$(dirname "$out")"
sql -c "COPY (SELECT g.kind, g.rows, added, chunk, buffers, log_page, entry, g.wal - t.wal AS wal,
		g.own_ns - t.own_ns AS own_ns, g.merge_ns - t.merge_ns AS merge_ns, pages_written,
		pages_read, g.runs, g.levels, g.size, g.vacuum_ns - t.vacuum_ns AS vacuum_ns
	FROM grown g JOIN (SELECT kind, rows, wal, own_ns, merge_ns, vacuum_ns FROM of_table) t
		USING (kind, rows) ORDER BY kind, rows)
	TO STDOUT WITH (FORMAT csv, DELIMITER E'\t', HEADER)" >"$out"
bench/growth.pl "$out"
echo "# $out, $SECONDS s"
