#!/bin/bash
# Do merges keep up with COPY at full speed?  Into a table that has rows already, with 1, 3 or 8
# indexes (random int8, uuid, e-mails in turn), from 1 and 2 sessions: btree, and surfidx with one
# merge worker and with several.  It tells
#
#	rows/s				of all sessions
#	us a row			CPU of the sessions, of merge workers, of both; the rest of the server's is in
#						neither
#	log, times bound	the largest delta of an index that was seen, and the mean of all, in
#						times of delta_size; looked at ten times a second
#	sessions merge		share of the looks in which a session was merging; of those in which workers
#						were, how many these were
#	workers started
#	pages a row		WAL of all, in bytes a row
#
#	bench/keep_up.sh [--runs n] [--rows n] [--before n] [--workers "1 3"] [--indexes "1 3 8"]
#		[--sessions "1 2"] [--memory size] [--conf line]
#
#	--runs n		rounds, all kinds in turn in each (default 3)
#	--rows n		that are copied, by all sessions together (default 1000000)
#	--before n		that are there before (default 1000000)
#	--memory size	surfidx.delta_memory (default 256MB)
#	--conf line		of postgresql.conf

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

runs=3
rows=1000000
before=1000000
workers="1 3"
indexes="1 3 8"
sessions="1 2"
memory=256MB
conf=""

take_options "runs rows before workers indexes sessions memory conf" "$@"
no_words

own_cluster keep_up "shared_buffers = 1GB" "autovacuum = off" "jit = off" "max_wal_size = 16GB" \
	"checkpoint_timeout = 1h" "surfidx.delta_memory = '$memory'" ${conf:+"$conf"}
sql <<'SQL'
CREATE EXTENSION surfidx;
CREATE TABLE run (indexes int, sessions int, am text, workers int, secs float8, session_cpu float8,
	worker_cpu float8, wal float8, starts int, largest float8, mean float8, own float8,
	at_work float8);
CREATE TABLE look (at timestamptz, largest float8, mean float8, own int, workers int);
CREATE TABLE used (cpu float8);
CREATE TABLE lines (n bigint, line text);
-- of this backend, in seconds
CREATE FUNCTION own_cpu() RETURNS float8 LANGUAGE sql AS $$
	SELECT (s[14]::int + s[15]::int) / 100.0 FROM regexp_split_to_array(regexp_replace(
		pg_read_file('/proc/self/stat'), '\(.*\)', 'x'), ' ') s $$;
-- a look, ten times a second, until there is a table of that name
CREATE PROCEDURE watch() LANGUAGE plpgsql AS $$
BEGIN
	WHILE to_regclass('done') IS NULL LOOP
		INSERT INTO look SELECT clock_timestamp(), max(l), avg(l),
			(SELECT count(*) FROM surfidx_progress() p JOIN pg_stat_activity a USING (pid)
				WHERE backend_type = 'client backend'),
			(SELECT count(*) FROM surfidx_progress() p JOIN pg_stat_activity a USING (pid)
				WHERE backend_type LIKE 'surfidx%')
			FROM (SELECT (SELECT log_pages FROM surfidx_meta(indexrelid::regclass)) * 8192.0
				/ pg_size_bytes(current_setting('surfidx.delta_size')) AS l FROM pg_index
				WHERE indrelid = 't'::regclass) x;
		COMMIT;
		PERFORM pg_stat_clear_snapshot();
		PERFORM pg_sleep(0.1);
	END LOOP;
	INSERT INTO used SELECT own_cpu();
END $$;
SQL

columns=(a b c d e f g h)
make_columns='a int8, b uuid, c text COLLATE "C", d int8, e uuid, f text COLLATE "C", g int8, h uuid'
random="(random() * 9e18)::int8, gen_random_uuid(), 'user' || (random() * 1e9)::int8 || '@example'
	|| (random() * 50)::int || '.org', (random() * 9e18)::int8, gen_random_uuid(), md5(random()::text),
	(random() * 9e18)::int8, gen_random_uuid()"

# files of the server's: what is there before, and what each session copies
report_machine
for n in 1 2; do
	sql -c "COPY (SELECT $random FROM generate_series(1, $rows / 2)) TO '$PGDATA/part$n'"
done
sql -c "COPY (SELECT $random FROM generate_series(1, $before)) TO '$PGDATA/before'"

no_worker()
{
	sql -c "DO \$\$BEGIN WHILE EXISTS (SELECT FROM pg_stat_activity
		WHERE backend_type LIKE 'surfidx%') LOOP PERFORM pg_sleep(0.05);
		PERFORM pg_stat_clear_snapshot(); END LOOP; END\$\$"
	sleep 0.2
}

# The table, without and with its indexes of that method.
make_table()
{
	local am=$1 n=$2 i

	sql -c "DROP TABLE IF EXISTS t, done; TRUNCATE look, used" \
		-c "CREATE TABLE t ($make_columns)" -c "COPY t FROM '$PGDATA/before'"
	for ((i = 0; i < n; i++)); do sql -c "CREATE INDEX ON t USING $am (${columns[i]})"; done
	sql -c CHECKPOINT
}

copy_parts()
{
	local n=$1 part pids=() second=()

	[ "$n" = 2 ] || second=(-c "COPY t FROM '$PGDATA/part2'")
	for ((part = 1; part <= n; part++)); do
		sql -c "COPY t FROM '$PGDATA/part$part'" "${second[@]}" \
			-c "INSERT INTO used SELECT own_cpu()" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

measure()
{
	local indexes=$1 sessions=$2 am=$3 workers=$4 ticks began secs starts wal watcher

	sql -c "ALTER SYSTEM SET surfidx.max_merge_workers = $workers" \
		-c "SELECT pg_reload_conf()" >/dev/null
	make_table "$am" "$indexes"
	no_worker
	starts=$(sql -Atc "SELECT taken FROM surfidx_shared_memory() WHERE name = 'merge workers'")
	wal=$(sql -Atc "SELECT pg_current_wal_insert_lsn() - '0/0'")
	ticks=$(all_ended)
	if [ "$am" = surfidx ]; then
		sql -c "CALL watch()" &
		watcher=$!
	fi
	began=$(date +%s.%N)
	copy_parts "$sessions"
	secs=$(echo "$(date +%s.%N) - $began" | bc)
	sql -c "CREATE TABLE done ()"
	[ "$am" != surfidx ] || wait "$watcher"
	no_worker
	ticks=$(($(all_ended) - ticks))
	sql -c "INSERT INTO run SELECT $indexes, $sessions, '$am', $workers, $secs,
		s, $ticks / 100.0 - s - w, (pg_current_wal_insert_lsn() - '0/0' - $wal) / $rows,
		(SELECT taken - $starts FROM surfidx_shared_memory() WHERE name = 'merge workers'),
		(SELECT max(largest) FROM look), (SELECT avg(mean) FROM look),
		(SELECT avg((own > 0)::int) FROM look),
		(SELECT avg(workers) FROM look WHERE workers > 0)
		FROM (SELECT coalesce(sum(cpu) FILTER (WHERE n <= $sessions), 0) AS s,
			coalesce(sum(cpu) FILTER (WHERE n > $sessions), 0) AS w
			FROM (SELECT cpu, row_number() OVER (ORDER BY ctid) AS n FROM used) x) y"
	sql -Atc "SELECT * FROM run ORDER BY ctid DESC LIMIT 1"
	no_worker
}

# of processes that have ended; sessions that only begin and end are the same for all
all_ended()
{
	awk '{print $16 + $17}' "/proc/$(head -1 "$PGDATA/postmaster.pid")/stat"
}

for ((i = 0; i < runs; i++)); do
	for n in $indexes; do
		for s in $sessions; do
			measure "$n" "$s" btree 1
			for w in $workers; do measure "$n" "$s" surfidx "$w"; done
		done
	done
done
echo "# load: $(cut -d' ' -f1-3 /proc/loadavg)"
sql -P footer=off -P border=0 -c "SELECT indexes, sessions,
	am || CASE WHEN am = 'surfidx' THEN ' ' || workers ELSE '' END AS method,
	round(m[1]) || ' (' || round(lo) || '-' || round(hi) || ')' AS \"rows/s\",
	round(m[2]::numeric, 2) AS \"us a row, sessions\", round(m[3]::numeric, 2) AS workers,
	round(m[4]::numeric, 2) || ' (' || round(lo4::numeric, 2) || '-' || round(hi4::numeric, 2) || ')'
	AS both, round(m[5]) AS \"WAL\", round(m[6]::numeric, 2) AS \"log, largest\",
	round(m[7]::numeric, 2) AS mean, round(m[8]::numeric, 2) AS \"sessions merge\",
	round(m[9]::numeric, 2) AS \"workers at work\", m[10] AS started
	FROM (SELECT indexes, sessions, am, workers, ARRAY[
		percentile_cont(0.5) WITHIN GROUP (ORDER BY $rows / secs),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY session_cpu * 1e6 / $rows),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY worker_cpu * 1e6 / $rows),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY (session_cpu + worker_cpu) * 1e6 / $rows),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY wal),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY largest),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY mean),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY own),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY at_work),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY starts)] AS m,
		min($rows / secs) AS lo, max($rows / secs) AS hi,
		min((session_cpu + worker_cpu) * 1e6 / $rows) AS lo4,
		max((session_cpu + worker_cpu) * 1e6 / $rows) AS hi4
		FROM run GROUP BY indexes, sessions, am, workers) x
	ORDER BY x.indexes, x.sessions, x.am, x.workers"
echo "# $SECONDS s"
