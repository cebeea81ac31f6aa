#!/bin/bash
# What VACUUM takes that comes often, surfidx beside btree: CPU of all the server, WAL, size.
#
#	bench/vacuum.sh [--rows n] [--rounds n] [--secs n] [--rate n] [--runs n] [--out file.tsv]
#		[part]...
#
#	part	churn		random int8; each round inserts 10,000 rows, changes the key of 1,000 and deletes
#						1,000, everywhere in table and index, then VACUUM
#			inserts		the same with inserts alone
#			still		VACUUM of a table with a delta, to which nothing is done between the rounds
#			queue		serial keys: inserted at one end and deleted at the other, at full speed for
#						--secs, with autovacuum each second
#			bulk		a fifth of the rows goes at once: VACUUM that leaves indexes alone, with the
#						index, and of the table without one: what is the index's part?
#			default: all but the last
#	--rows n	of the table at the start (default 500000; of a queue: 50000)
#	--rounds n	of each measurement (default 20)
#	--secs n	of each measurement of queue (default 60)
#	--rate n	rows a second of a queue, put by one session and taken by another, as many with
#			each method, at the same moments (default 0: as fast as two sessions put and take)
#
# Access methods take turns.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=500000
rounds=20
secs=60
rate=0
runs=3
out=$PWD/build/vacuum.tsv

take_options "rows rounds secs rate runs out" "$@"

# CPU of all processes of the server that there are or were, in ticks.
server_cpu()
{
	local main

	main=$(head -1 "$PGDATA/postmaster.pid")
	{
		awk '{ print $16 + $17 }' "/proc/$main/stat"
		# shellcheck disable=SC2046 # some may be gone by now
		{ cat $(pgrep -P "$main" | sed 's|.*|/proc/&/stat|') 2>/dev/null || true; } |
			sed 's/.*) //' | awk '{ print $12 + $13 }'
	} | awk '{ sum += $1 } END { print sum }'
}

begin()
{
	wal0=$(sql -A -t -c CHECKPOINT -c "SELECT pg_current_wal_insert_lsn()")
	cpu0=$(server_cpu)
}

note()
{
	sql -c "INSERT INTO result SELECT '$part', '$am', '$1', $2"
}

# end_of n things: CPU and WAL of each since begin
end_of()
{
	local cpu1

	# sessions that have ended are counted once their parent knows
	sleep 0.5
	cpu1=$(server_cpu)
	note "CPU, us per $2" "($cpu1 - $cpu0) * 1e6 / $(getconf CLK_TCK) / $1"
	note "WAL, bytes per $2" "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$wal0') / $1"
	note "size, MB" "pg_relation_size(coalesce(to_regclass('t_k'), 't')) / 1048576.0"
}

# The key of row v is a hash of v.
make_table()
{
	sql -c "DROP TABLE IF EXISTS t" -c "CREATE TABLE t (k int8, v int)" \
		-c "INSERT INTO t SELECT hashint8extended(i, 0), i FROM generate_series(1, $1) i" \
		-c "CREATE INDEX t_k ON t USING $am (k)" -c "VACUUM ANALYZE t"
}

round()
{
	local first=$((rows + $1 * 10000)) i

	for ((i = 0; i < 20; i++)); do
		echo "INSERT INTO t SELECT hashint8extended(i, 0), i
			FROM generate_series($((first + i * 500 + 1)), $((first + i * 500 + 500))) i;"
	done
	[ "$part" = inserts ] || echo "
		UPDATE t SET k = t.k + 1 FROM generate_series($(($1 * 2000 + 1)), $(($1 * 2000 + 1000))) i
			WHERE t.k = hashint8extended(i::int8 * 7919 % $rows + 1, 0);
		DELETE FROM t USING generate_series($(($1 * 2000 + 1001)), $(($1 * 2000 + 2000))) i
			WHERE t.k = hashint8extended(i::int8 * 7919 % $rows + 1, 0);"
	echo "VACUUM t;"
}

measure_rounds()
{
	local i

	make_table "$rows"
	{
		echo "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;"
		for ((i = 0; i < rounds; i++)); do round "$i"; done
	} >"$WORK/rounds.sql"
	begin
	sql -f "$WORK/rounds.sql"
	end_of $((rounds * 10000)) "inserted row"
}

measure_still()
{
	local i

	make_table "$rows"
	sql -c "INSERT INTO t SELECT hashint8extended(-i, 0), i FROM generate_series(1, 10000) i"
	sql -c "VACUUM (FREEZE, INDEX_CLEANUP OFF) t" -c "SELECT pg_sleep(0.5)" >/dev/null
	for ((i = 0; i < rounds; i++)); do echo "VACUUM (FREEZE) t;"; done >"$WORK/rounds.sql"
	begin
	sql -f "$WORK/rounds.sql"
	end_of "$rounds" VACUUM
}

measure_bulk()
{
	local what

	for what in OFF ON none; do
		make_table "$rows"
		sql -c "DELETE FROM t WHERE v % 5 = 0"
		[ "$what" != none ] || sql -c "DROP INDEX t_k"
		begin
		sql -c "VACUUM (INDEX_CLEANUP $([ "$what" = none ] && echo ON || echo "$what")) t"
		end_of $((rows / 5)) "dead row, index $what"
	done
	sql -c "CREATE INDEX t_k ON t USING $am (k)"
}

# pgbench with these options; what it says is shown only if it fails
play()
{
	pgbench -n -M prepared --random-seed=1 "$@" >"$WORK/pgbench.$BASHPID" 2>&1 ||
		{ cat "$WORK/pgbench.$BASHPID" >&2; return 1; }
}

# Rows are put and taken for --secs, by processes that $players names.
start_players()
{
	local script

	players=
	if [ "$rate" = 0 ]; then
		play -f "$WORK/put.pgbench" -f "$WORK/take.pgbench" -c 2 -j 2 -T "$secs" &
		players=$!
		return
	fi
	for script in put take; do
		play -f "$WORK/$script.pgbench" -c 1 -R "$rate" -t $((rate * secs)) &
		players+=" $!"
	done
}

# Bytes of WAL since begin in records about a relation.
wal_about()
{
	local end file

	end=$(sql -A -t -c "SELECT pg_current_wal_flush_lsn()")
	file=$(sql -A -t -c "SELECT format('%s/%s/%s', coalesce(nullif(dattablespace, 0), 1663), d.oid,
		pg_relation_filenode('$1')) FROM pg_database d WHERE datname = current_database()")
	pg_waldump --path="$PGDATA/pg_wal" --start="$wal0" --end="$end" --relation="$file" --stats |
		awk '$1 == "Total" { print $(NF - 1) }'
}

measure_queue()
{
	local n player size most=0

	sql -c "DROP TABLE IF EXISTS t" -c "CREATE TABLE t (k serial8, v text)" \
		-c "INSERT INTO t (v) SELECT 'job ' || i FROM generate_series(1, 50000) i" \
		-c "CREATE INDEX t_k ON t USING $am (k)" -c "VACUUM ANALYZE t" \
		-c "ALTER TABLE t SET (autovacuum_vacuum_scale_factor = 0.05)"
	note "size at the start, MB" "pg_relation_size('t_k') / 1048576.0"
	begin
	n=$(sql -A -t -c "SELECT last_value FROM t_k_seq")
	start_players
	for player in $players; do
		while kill -0 "$player" 2>/dev/null; do
			sleep 1
			size=$(sql -A -t -c "SELECT pg_relation_size('t_k')")
			most=$((size > most ? size : most))
		done
		wait "$player"
	done
	n=$(($(sql -A -t -c "SELECT last_value FROM t_k_seq") - n))
	end_of "$n" "row"
	note "WAL about the index, bytes per row" "$(wal_about t_k).0 / $n"
	note "size at most, MB" "$most / 1048576.0"
	note "rows a second" "$n / $secs.0"
	note "rows left" "count(*) FROM t"
	note "autovacuums" "autovacuum_count FROM pg_stat_user_tables WHERE relname = 't'"
}

own_cluster vacuum "shared_buffers = 256MB" "max_wal_size = 64GB" "checkpoint_timeout = 1h" \
	"autovacuum_naptime = 1s" "autovacuum_vacuum_cost_delay = 0" "jit = off" \
	"max_parallel_workers_per_gather = 0" ${BENCH_CONF:+"$BENCH_CONF"}
sql <<-END
	CREATE EXTENSION surfidx;
	CREATE TABLE result (part text, am text, metric text, value float8);
END
# as many are taken as are put
echo "INSERT INTO t (v) VALUES ('job');" >"$WORK/put.pgbench"
echo "DELETE FROM t WHERE k = (SELECT k FROM t ORDER BY k FOR UPDATE SKIP LOCKED LIMIT 1);" \
	>"$WORK/take.pgbench"
report_machine
for part in "${words[@]:-churn inserts still queue}"; do
	parts+=" $part"
done
for part in $parts; do
	sql -c "ALTER SYSTEM SET autovacuum = $([ "$part" = queue ] && echo on || echo off)" \
		-c "SELECT pg_reload_conf()" >/dev/null
	for ((turn = 0; turn < runs; turn++)); do
		for am in btree surfidx; do
			case $part in
				churn | inserts) measure_rounds ;;
				still) measure_still ;;
				queue) measure_queue ;;
				bulk) measure_bulk ;;
				*) what_is "$part" ;;
			esac
			[ "$am" != surfidx ] || sql -c "SELECT surfidx_check('t_k', true)" >/dev/null
		done
	done
done
sql -P footer=off -P border=0 <<-END
	SELECT part, metric, am, percentile_cont(0.5) WITHIN GROUP (ORDER BY value)::numeric(12, 2) AS median,
		min(value)::numeric(12, 2) AS least, max(value)::numeric(12, 2) AS greatest
	FROM result GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
END
report_runs "$out" "SELECT part AS key_set, $rows AS entries, metric, am, value FROM result"
