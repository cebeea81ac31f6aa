#!/bin/bash
# The write path beside btree: CPU and WAL per inserted row, merges included, and what the index has grown to.
#
#	bench/write.sh [--rows n] [--runs n] [--full | --clients | --latency | --churn | --recovery] [--secs n] [--out file.tsv] [key set]...
#
#	key sets	int8 uuid4 hostmail serial (default: all), and those of bench/schema.sql
#	--rows n	rows in the table before (default 2000000)
#	--runs n	times that each thing is measured, no index, btree and surfidx in turn (default 3); +100 % is measured once
#	--full		10000000 rows, +10 % in ten steps of 1 % with a checkpoint before each, and nothing else
#	--clients	instead: single-row inserts by 1, 2, 4 and 8 clients, serial and random, --secs each (default 10)
#	--latency	instead: the same by 2 clients, random, with a delta of 256 kB, so that merges run nearly all the time: p99 and maximum
#	--churn		instead: updates of the indexed column by 2 clients for --secs (default 120) with autovacuum on: size beside fresh
#	--recovery	instead: SIGKILL with a full delta; seconds until the server answers again, and of the first scan
#	--out file	the medians as a TSV (default build/write.tsv)
#
# Needs Linux (/proc).  What the same inserts take into a table without an index is taken off.  The background worker
# merges when its policy says so, its CPU counts; at the end of each measurement the delta is merged, so that nothing hides in it.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=2000000
runs=3
secs=
full=
clients=
latency=
churn=
recovery=
sets=
out=$PWD/build/write.tsv

while [ $# -gt 0 ]; do
	case $1 in
		--rows) rows=$2; shift ;;
		--runs) runs=$2; shift ;;
		--secs) secs=$2; shift ;;
		--full) full=1; rows=10000000 ;;
		--clients) clients=1 ;;
		--latency) latency=1 ;;
		--churn) churn=1 ;;
		--recovery) recovery=1 ;;
		--out) out=$(realpath -m "$2"); shift ;;
		-*) die "what is \"$1\"? See the head of bench/write.sh" ;;
		*) sets="$sets $1" ;;
	esac
	shift
done
[ "$rows" -ge 10000 ] && [ "$runs" -ge 1 ] || die "--rows must be at least 10000, --runs at least 1"
sets=${sets:-int8 uuid4 hostmail serial}

# ---- one session, many rows ----

measure_set()
{
	local i am

	for ((i = 0; i < runs; i++)); do
		for am in none btree surfidx; do
			sql -c "CALL bench.copy_table('$am')" -c "VACUUM ANALYZE w"
			if [ -n "$full" ]; then
				sql -c "CALL bench.write('$1', '+10 % in ten steps', '$am', 0, bench.more_pages(1), 10)"
			else
				sql -c "CALL bench.write('$1', '+10 %', '$am', 0, bench.more_pages(0.1), 1)"
				[ $i -gt 0 ] || sql -c "CALL bench.write('$1', '+100 %', '$am', bench.more_pages(0.1), bench.more_pages(1), 1)"
			fi
			[ $am != surfidx ] || sql -c "SELECT surfidx_check('w_index', true)" >/dev/null
		done
	done
	sql -c "DROP TABLE w"
}

# How many merges there were, too, of each run.
report_merges()
{
	sql -A -t -c "SELECT metric || ': ' || string_agg(value::text, ', ') FROM bench.result WHERE key_set = '$1' AND metric LIKE 'merges so far%' GROUP BY metric"
}

write_sets()
{
	local set

	for set in $sets; do
		sql -c "CALL bench.load('$set', $rows, $((full ? rows / 10 : rows)))" -c "VACUUM (FREEZE, ANALYZE)"
		measure_set "$set"
		report_set "$set" "$rows"
		report_merges "$set"
	done
	report_tsv "$out"
	echo
	echo "# $out, $SECONDS s"
}

# ---- many sessions, single rows ----

wait_for_worker()
{
	sql -c "DO \$\$BEGIN WHILE NOT bench.none_ending() LOOP PERFORM pg_sleep(0.01); PERFORM pg_stat_clear_snapshot(); END LOOP; END\$\$"
}

# run_clients pattern am number
run_clients()
{
	local log merges

	sql -c "CALL bench.client_table('$1', '$2', '${latency:+WITH (delta_size = 256)}')" -c "VACUUM ANALYZE c" -c CHECKPOINT
	rm -f "$WORK"/tx.*
	# the CPU of backends counts when they have ended
	sql -c "TRUNCATE bench.cpu_mark" -c "INSERT INTO bench.cpu_mark SELECT ended FROM bench.all_cpu()"
	pgbench -n -f "$WORK/$1.pgbench" -M prepared -c "$3" -j "$3" -T "${secs:-10}" -l --log-prefix="$WORK/tx" >"$WORK/pgbench.out" 2>&1 ||
		{ cat "$WORK/pgbench.out" >&2; return 1; }
	merges=NULL
	[ "$2" != surfidx ] || { wait_for_worker; merges=$(psql -X -A -t -c "SELECT merges FROM surfidx_meta('c_k')"); sql -c "SELECT surfidx_merge('c_k')" >/dev/null; }
	wait_for_worker
	log=$(cat "$WORK"/tx.* | cut -d ' ' -f 3 | sort -n | awk '{t[NR] = $1} END {print t[int(NR * 0.5) + 1], t[int(NR * 0.99) + 1], t[int(NR * 0.999) + 1], t[NR], NR}')
	# shellcheck disable=SC2086
	set -- "$1" "$2" "$3" $log
	sql -c "INSERT INTO bench.client_run SELECT '$1', '$2', $3, $(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$WORK/pgbench.out"),
		((SELECT ended FROM bench.all_cpu()) - ended) / 1e3 / $8, $4, $5, $6, $7, $merges FROM bench.cpu_mark"
	[ "$2" != surfidx ] || sql -c "SELECT surfidx_check('c_k', true)" >/dev/null
}

write_clients()
{
	local patterns='serial random' numbers='1 2 4 8' pattern i am n

	[ -z "$latency" ] || { patterns=random; numbers=2; }
	echo "INSERT INTO c VALUES (nextval('c_seq'));" >"$WORK/serial.pgbench"
	printf '%s\n' '\set r random(1, 9000000000000000000)' 'INSERT INTO c VALUES (:r);' >"$WORK/random.pgbench"
	for pattern in $patterns; do
		for ((i = 0; i < runs; i++)); do
			for n in $numbers; do
				for am in none btree surfidx; do
					run_clients $pattern $am $n
				done
			done
		done
	done
	sql -P footer=off -P border=0 -c "SELECT pattern, clients, am, bench.number(percentile_cont(0.5) WITHIN GROUP (ORDER BY tps)) AS tps,
		bench.number(percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu_us)) AS \"CPU us per insert\",
		bench.number(percentile_cont(0.5) WITHIN GROUP (ORDER BY p50)) AS \"median us\",
		bench.number(percentile_cont(0.5) WITHIN GROUP (ORDER BY p99)) AS \"p99 us\",
		bench.number(percentile_cont(0.5) WITHIN GROUP (ORDER BY p999)) AS \"p99.9 us\",
		bench.number(percentile_cont(0.5) WITHIN GROUP (ORDER BY max)) AS \"max us\", min(merges) AS merges
		FROM bench.client_run GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
	report_runs "$out" "SELECT pattern || ', ' || clients || ' clients' AS key_set, 1000000 AS entries, metric, am, value FROM bench.client_run,
		LATERAL (VALUES ('transactions per second', tps), ('CPU, us per insert', cpu_us), ('median, us', p50), ('p99, us', p99), ('p99.9, us', p999),
			('maximum, us', max)) v (metric, value)"
}

# ---- updates of an indexed column ----

churn_sizes()
{
	sql -c "INSERT INTO bench.churn_size SELECT '$1', pg_relation_size('u_btree'), pg_relation_size('u_surfidx'), pg_relation_size('u_id_btree'), pg_relation_size('u_id_surfidx'),
		(surfidx_meta('u_surfidx')).leaves, (surfidx_meta('u_id_surfidx')).leaves, (surfidx_meta('u_surfidx')).log_pages, (surfidx_meta('u_id_surfidx')).log_pages,
		n_dead_tup FROM pg_stat_user_tables WHERE relname = 'u'"
}

write_churn()
{
	local i

	sql -c "CREATE TABLE bench.churn_size (t text, btree bigint, surfidx bigint, id_btree bigint, id_surfidx bigint, leaves int, id_leaves int,
		log int, id_log int, dead bigint)" \
		-c "CREATE TABLE u AS SELECT i AS id, (random() * 9e18)::int8 AS k FROM generate_series(1, 500000) i" \
		-c "CREATE INDEX u_btree ON u (k)" -c "CREATE INDEX u_surfidx ON u USING surfidx (k)" \
		-c "CREATE INDEX u_id_btree ON u (id)" -c "CREATE INDEX u_id_surfidx ON u USING surfidx (id)" -c "VACUUM ANALYZE u"
	sql -c "ALTER SYSTEM SET autovacuum = on" -c "ALTER SYSTEM SET autovacuum_naptime = '1s'" \
		-c "ALTER SYSTEM SET autovacuum_vacuum_cost_delay = 0" -c "SELECT pg_reload_conf()" >/dev/null
	printf '%s\n' '\set i random(1, 500000)' '\set k random(1, 9000000000000000000)' 'UPDATE u SET k = :k WHERE id = :i;' >"$WORK/churn.pgbench"
	churn_sizes fresh
	for i in 1 2 3 4; do
		pgbench -n -f "$WORK/churn.pgbench" -M prepared -c 2 -j 2 -T $(((${secs:-120} + 3) / 4)) >"$WORK/pgbench.out" 2>&1 ||
			{ cat "$WORK/pgbench.out" >&2; return 1; }
		churn_sizes "after $((i * ${secs:-120} / 4)) s"
	done
	sql -c "ALTER SYSTEM SET autovacuum = off" -c "SELECT pg_reload_conf()" >/dev/null
	sql -c "SELECT n_tup_upd AS updates, autovacuum_count AS vacuums FROM pg_stat_user_tables WHERE relname = 'u'"
	sql -c "VACUUM u"
	churn_sizes "after VACUUM"
	sql -c "SELECT surfidx_check('u_surfidx', true), surfidx_check('u_id_surfidx', true)" >/dev/null
	sql -c "REINDEX TABLE u"
	churn_sizes "built anew"
	sql -P footer=off -P border=0 -c "SELECT t, btree, (btree / first_value(btree) OVER w::numeric)::numeric(10, 2) AS x,
		surfidx, (surfidx / first_value(surfidx) OVER w::numeric)::numeric(10, 2) AS x, leaves, log,
		id_btree, (id_btree / first_value(id_btree) OVER w::numeric)::numeric(10, 2) AS x,
		id_surfidx, (id_surfidx / first_value(id_surfidx) OVER w::numeric)::numeric(10, 2) AS x, id_leaves, id_log, dead
		FROM bench.churn_size WINDOW w AS (ORDER BY ctid DESC) ORDER BY ctid"
	report_runs "$out" "SELECT t AS key_set, 500000 AS entries, metric, am, value / 1048576.0 AS value FROM bench.churn_size,
		LATERAL (VALUES ('size, MB: updated column', 'btree', btree), ('size, MB: updated column', 'surfidx', surfidx),
			('size, MB: unchanged column', 'btree', id_btree), ('size, MB: unchanged column', 'surfidx', id_surfidx)) v (metric, am, value)"
}

# ---- a crash with a full delta ----

# seconds_of command...: how long it takes, by the clock
seconds_of()
{
	local t0=$EPOCHREALTIME

	"$@" >/dev/null 2>&1 || return 1
	awk -v a="$t0" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.2f", b - a}'
}

# The server goes without a word, and is there again when it answers.
kill_and_start()
{
	local pid

	pid=$(head -1 "$PGDATA/postmaster.pid")
	kill -9 "$pid"
	# its children notice, and let go of the shared memory
	while as_user "$BINDIR/pg_ctl" -D "$PGDATA" status >/dev/null 2>&1 || pgrep -P "$pid" >/dev/null; do sleep 0.05; done
	sleep 1
	rm -f "$PGDATA/postmaster.pid"
}

start_and_ask()
{
	as_user "$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -W start >/dev/null || return 1
	until psql -X -q -c 'SELECT 1' >/dev/null 2>&1; do sleep 0.01; done
}

write_recovery()
{
	local am up first

	sql -c "CREATE TABLE bench.recovery (metric text, am text, value float8)"
	for am in btree surfidx; do
		sql -c "DROP TABLE IF EXISTS k" -c "CREATE TABLE k AS SELECT (random() * 9e18)::int8 AS k FROM generate_series(1, $rows) i" \
			-c "CREATE INDEX k_k ON k USING $am (k)" -c "VACUUM k" -c CHECKPOINT
		# the default delta_size, filled; nothing is merged
		[ $am = btree ] || sql -c "ALTER INDEX k_k SET (merge_ratio = 10)" -c "ALTER SYSTEM SET surfidx.auto_merge = off" -c "SELECT pg_reload_conf()" >/dev/null
		sql -c "INSERT INTO k SELECT (random() * 9e18)::int8 FROM generate_series(1, 650000) i"
		[ $am = btree ] || sql -c "SELECT delta_entries, log_pages FROM surfidx_meta('k_k')"
		kill_and_start
		up=$(seconds_of start_and_ask)
		first=$(seconds_of psql -X -c "SET enable_seqscan = off" -c "SET enable_bitmapscan = off" -c "SELECT k FROM k WHERE k > 4000000000000000000 ORDER BY k LIMIT 10")
		echo "$am: start after SIGKILL $up s, redo $(grep -o 'redo done.*elapsed: .*' "$CLUSTER_LOG" | tail -1 | sed 's/.*elapsed: //'); first scan with its session $first s"
		sql -c "DROP TABLE k" -c "INSERT INTO bench.recovery VALUES ('start after SIGKILL, s', '$am', $up), ('first scan with its session, s', '$am', $first)"
	done
	report_runs "$out" "SELECT 'int8' AS key_set, $rows AS entries, * FROM bench.recovery"
}

own_cluster write "shared_buffers = ${BENCH_SHARED_BUFFERS:-2GB}" "max_wal_size = 64GB" "checkpoint_timeout = 1h" "autovacuum = off" \
	"maintenance_work_mem = 512MB" "work_mem = 256MB" "max_parallel_maintenance_workers = 0" "max_parallel_workers_per_gather = 0" "jit = off" \
	${BENCH_CONF:+"$BENCH_CONF"}
sql -f bench/schema.sql
sql -f bench/write.sql
report_machine
if [ -n "$clients$latency" ]; then
	write_clients
elif [ -n "$churn" ]; then
	write_churn
elif [ -n "$recovery" ]; then
	write_recovery
else
	write_sets
fi
