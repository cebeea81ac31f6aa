#!/bin/bash
# What a standby takes while its primary writes, surfidx beside btree: replay, lag, conflicts, and
# what readers there get meanwhile.
#
#	bench/replica.sh [--rows n] [--secs n] [--rate n] [--vacuum n] [--runs n] [--out file.tsv]
#
#	--secs n	of each measurement (default 20)
#	--rate n	transactions a second of the primary's two writers, of ten inserted rows each, one
#				updated and one deleted (default 500)
#	--vacuum n	seconds from one VACUUM on the primary to the next (default 10)
#
# One index at a time, of random int8.  Replay is the CPU of the standby's startup process, for each
# inserted row.  On the standby one session looks up keys by index-only scans, one counts a range of a
# hundredth of the table, and one keeps a snapshot for three seconds at a time, with
# max_standby_streaming_delay = 1 s: it is what gets canceled.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=500000
secs=20
rate=500
vacuum=10
runs=3
out=$PWD/build/replica.tsv

take_options "rows secs rate vacuum runs out" "$@"
no_words

own_cluster primary "shared_buffers = 256MB" "max_wal_size = 64GB" "checkpoint_timeout = 1h" \
	"autovacuum = off" "wal_keep_size = 16GB"
sql <<-END
	CREATE EXTENSION surfidx;
	CREATE TABLE result (am text, metric text, value float8);
	CREATE TABLE t (k int8, v int);
END
as_user "$BINDIR/pg_basebackup" -D "$WORK/standby" -R -c fast --no-sync
printf '%s\n' "port = $((PGPORT + 1))" "hot_standby_feedback = off" "max_standby_streaming_delay = 1s" |
	as_user tee -a "$WORK/standby/postgresql.conf" >/dev/null
as_user "$BINDIR/pg_ctl" -D "$WORK/standby" -l "$WORK/standby.log" -w start >/dev/null
startup=$(ps -o pid= -o args= --ppid "$(head -1 "$WORK/standby/postmaster.pid")" |
	awk '/startup/ { print $1 }')

standby()
{
	PGPORT=$((PGPORT + 1)) "$@"
}

replay_cpu()
{
	cut -d ' ' -f 1 "/proc/$startup/schedstat"
}

caught_up()
{
	local lsn

	lsn=$(sql -A -t -c "SELECT pg_current_wal_flush_lsn()")
	until [ "$(standby sql -A -t -c "SELECT pg_last_wal_replay_lsn() >= '$lsn'")" = t ]; do
		sleep 0.02
	done
}

# queries that the standby has canceled
conflicts()
{
	standby sql -A -t -c "SELECT sum(confl_snapshot + confl_lock + confl_bufferpin + confl_deadlock)
		FROM pg_stat_database_conflicts"
}

note()
{
	sql -c "INSERT INTO result VALUES ('$am', '$1', ${2:-NULL})"
}

# reader name: in $WORK/name.pgbench, to $WORK/name.out
reader()
{
	standby env PGOPTIONS="-c enable_seqscan=off -c enable_bitmapscan=off" \
		pgbench -n -f "$WORK/$1.pgbench" -M prepared -T "$secs" >"$WORK/$1.out" 2>&1 || true
}

# A session that keeps a snapshot for longer than replay may wait, again and again.
long_reader()
{
	local end=$((SECONDS + secs))

	while [ "$SECONDS" -lt "$end" ]; do
		standby psql -X -q -c "BEGIN ISOLATION LEVEL REPEATABLE READ" -c "SELECT count(*) FROM t" \
			-c "SELECT pg_sleep(3)" -c "COMMIT" >/dev/null 2>&1 || true
	done
}

measure()
{
	local cpu0 wal0 had conflicts0 i writers lag=0 now added

	sql -c "TRUNCATE t" -c "INSERT INTO t SELECT (random() * 9e18)::int8, i FROM generate_series(1, $rows) i"
	sql -c "DROP INDEX IF EXISTS t_k" -c "CREATE INDEX t_k ON t USING $am (k)" -c "VACUUM ANALYZE t" \
		-c CHECKPOINT
	caught_up
	had=$(sql -A -t -c "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 't'")
	conflicts0=$(conflicts)
	cpu0=$(replay_cpu)
	wal0=$(sql -A -t -c "SELECT pg_current_wal_insert_lsn()")
	pgbench -n -f "$WORK/write.pgbench" -M prepared -c 2 -j 2 -T "$secs" -R "$rate" >"$WORK/write.out" 2>&1 &
	writers=$!
	reader lookup & reader count & long_reader &
	for ((i = 0; i < secs - 1; i++)); do
		sleep 1
		[ $(((i + 1) % vacuum)) -ne 0 ] || sql -c "VACUUM t"
		now=$(sql -A -t -c "SELECT coalesce(max(extract(epoch FROM replay_lag)), 0) FROM pg_stat_replication")
		lag=$(awk -v a="$lag" -v b="$now" 'BEGIN { print (a > b ? a : b) }')
	done
	wait "$writers" || { cat "$WORK/write.out" >&2; return 1; }
	wait
	sql -c "SELECT pg_sleep(1)" >/dev/null
	added=$(sql -A -t -c "SELECT n_tup_ins - $had FROM pg_stat_user_tables WHERE relname = 't'")
	caught_up
	note "replay, CPU us per inserted row" "$(($(replay_cpu) - cpu0)) / 1000.0 / $added"
	note "WAL, bytes per inserted row" "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$wal0') / $added"
	note "greatest lag of replay, s" "$lag"
	note "queries canceled" "$(conflicts) - $conflicts0"
	for i in lookup count; do
		note "$i on the standby, a second" "$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$WORK/$i.out")"
	done
	note "inserted rows a second" "$added / $secs.0"
	[ "$am" = none ] || sql -A -t -c "SELECT count(*), sum(v) FROM t WHERE k > 0" \
		-c "SELECT count(*) FROM t WHERE k BETWEEN 1000000000000000000 AND 2000000000000000000" >"$WORK/there"
	standby sql -A -t -c "SELECT count(*), sum(v) FROM t WHERE k > 0" \
		-c "SELECT count(*) FROM t WHERE k BETWEEN 1000000000000000000 AND 2000000000000000000" >"$WORK/here"
	cmp -s "$WORK/there" "$WORK/here" || die "WRONG: primary and standby differ"
	[ "$am" != surfidx ] || standby sql -c "SELECT surfidx_check('t_k', true, true)" >/dev/null
}

cat >"$WORK/write.pgbench" <<'END'
\set a random(1, 9000000000000000)
BEGIN;
INSERT INTO t SELECT (random() * 9e18)::int8, i FROM generate_series(1, 10) i;
UPDATE t SET k = k + 1 WHERE k = (SELECT k FROM t WHERE k > :a::int8 * 1000 ORDER BY k LIMIT 1);
DELETE FROM t WHERE k = (SELECT k FROM t WHERE k > :a::int8 * 900 ORDER BY k LIMIT 1);
COMMIT;
END
printf '%s\n' '\set a random(1, 9000000000000000)' \
	'SELECT k FROM t WHERE k > :a::int8 * 1000 ORDER BY k LIMIT 1;' >"$WORK/lookup.pgbench"
printf '%s\n' '\set a random(1, 8900000000000000)' \
	'SELECT count(*) FROM t WHERE k BETWEEN :a::int8 * 1000 AND :a::int8 * 1000 + 90000000000000000;' >"$WORK/count.pgbench"

report_machine
for ((turn = 0; turn < runs; turn++)); do
	for am in btree surfidx; do
		measure
	done
done
sql -P footer=off -P border=0 <<-END
	SELECT metric, am, percentile_cont(0.5) WITHIN GROUP (ORDER BY value)::numeric(12, 2) AS median,
		min(value)::numeric(12, 2) AS least, max(value)::numeric(12, 2) AS greatest
	FROM result GROUP BY 1, 2 ORDER BY 1, 2
END
report_runs "$out" "SELECT 'int8' AS key_set, $rows AS entries, metric, am, value FROM result"
