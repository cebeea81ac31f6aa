#!/bin/bash
# surfidx beside btree on the same tables, in CPU time of the backend; "make bench" builds and installs first.
#
#	bench/run.sh [--rows n] [--runs n] [--full] [--out file.tsv] [key set]... [pgbench] [counts]
#
#	counts		bench/counts.sh: answers by block; its medians in counts.tsv beside the file
#	pgbench		pgbench -S and TPC-B with the accounts' key in either index: transactions per second, by the clock, so that the
#				machine has to be quiet, and CPU time of the backend per transaction
#	key sets	int8 serial timestamp uuid email path (default: these, and counts)
#				code code-icu code-libc name md5 numeric inet float8
#				price latitude double (float8, too)
#				event owner owner-icu ("people": these and those of "code" to "float8")
#				see bench/schema.sql for what they are
#	--rows n	rows of each set, of which 10 % more are inserted later (default 2000000)
#	--runs n	times that each thing is measured, btree and surfidx in turn (default 3)
#	--full		int8 with 10000000 rows and path with 5000000
#	--out file	the medians as a TSV (default build/bench.tsv)
#
# Needs Linux (/proc/self/schedstat) and some 150 bytes of disk and, for medians worth a look, of memory per row.  The
# figures are medians (least-greatest) of the runs.  Inserts: a copy of the table with one index, after a
# checkpoint, in pieces; merges are made in the same session when they are due, and once at the end, so that they count; what
# the same inserts take into a table without an index is taken off.  So with VACUUM, of that copy, when a fifth of its rows has been deleted: what is left
# holds a second visit to the table's pages, which any index brings.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh
. scripts/demo/paths.sh

rows=2000000
runs=3
full=
sets=
pgbench=
counts=
out=$PWD/build/bench.tsv

while [ $# -gt 0 ]; do
	case $1 in
		--rows) rows=$2; shift ;;
		--runs) runs=$2; shift ;;
		--full) full=1 ;;
		--out) out=$(realpath -m "$2"); shift ;;
		int8 | serial | timestamp | uuid | email | path) sets="$sets $1" ;;
		code | code-icu | code-libc | name | md5 | numeric | inet | float8) sets="$sets $1" ;;
		price | latitude | double) sets="$sets $1" ;;
		event | owner | owner-icu) sets="$sets $1" ;;
		people)
			sets="$sets code code-icu code-libc name md5 numeric inet float8"
			sets="$sets event owner owner-icu"
			;;
		pgbench) pgbench=1 ;;
		counts) counts=1 ;;
		*) die "what is \"$1\"? See the head of bench/run.sh" ;;
	esac
	shift
done
[ "$rows" -ge 10000 ] && [ "$runs" -ge 1 ] || die "--rows must be at least 10000, --runs at least 1"
[ -n "$sets$pgbench$counts" ] || { sets="int8 serial timestamp uuid email path"; counts=1; }

rows_of()
{
	case $full$1 in
		1int8) echo 10000000 ;;
		1path) echo 5000000 ;;
		*) echo "$rows" ;;
	esac
}

load_set()
{
	local n=$2 extra=$(($2 / 10))

	if [ "$1" = path ]; then
		collect_paths "$WORK" $((n + extra))
		echo "# paths: $PATHS_SOURCE"
		sql -c "CREATE TABLE bench.raw (path text COLLATE \"C\")"
		cut -f 1 "$WORK/paths.tsv" | sql -c "\\copy bench.raw FROM STDIN"
		rm -f "$WORK/paths.tsv"
	fi
	sql -c "CALL bench.load('$1', $n, $extra)" -c "DROP TABLE IF EXISTS bench.raw" -c "VACUUM (FREEZE, ANALYZE)"
}

# restart [setting]...: the server with other settings for this start
restart()
{
	as_user "$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -o "$*" -m fast -w restart >/dev/null
}

# A fifth of btree's size in buffers, which the access method that has fewer pages uses better.
measure_misses()
{
	local i kb

	kb=$(psql -X -A -t -c "SELECT greatest(pg_relation_size('r_btree') / 5 / 1024, 1024)")
	sql -c CHECKPOINT
	restart "-c shared_buffers=${kb}kB"
	for ((i = 0; i < runs; i++)); do
		sql -c "CALL bench.misses('$1')"
	done
	restart
}

# pgbench's own transactions, and around the first and the last one of a session a look at its backend's CPU time.
pgbench_script()
{
	echo '\set n :n + 1'
	echo '\if :n = 1'
	echo "SELECT bench.cpu() AS c0 \\gset"
	echo '\endif'
	echo '\set aid random(1, 100000 * :scale)'
	[ "$1" = select ] || cat <<-'END'
		\set bid random(1, 1 * :scale)
		\set tid random(1, 10 * :scale)
		\set delta random(-5000, 5000)
		BEGIN;
		UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
	END
	echo 'SELECT abalance FROM pgbench_accounts WHERE aid = :aid;'
	[ "$1" = select ] || cat <<-'END'
		UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
		UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
		INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
		END;
	END
	echo '\if :n = :last'
	echo "INSERT INTO bench.result VALUES ('pgbench', 1000000, '$2', '$3', (bench.cpu() - :c0) / 1000.0 / :last);"
	echo '\endif'
}

# pgbench_cpu select|tpcb metric am transactions: CPU time of the backend per transaction
pgbench_cpu()
{
	pgbench_script "$1" "$2" "$3" >"$WORK/pgbench.sql"
	"$BINDIR/pgbench" -n -M prepared -s 10 -t "$4" -D n=0 -D last="$4" -D c0=0 -f "$WORK/pgbench.sql" >/dev/null 2>&1
}

measure_pgbench()
{
	local i am what

	"$BINDIR/pgbench" -i -q -s 10 -I dtgv >/dev/null 2>&1
	for ((i = 0; i < runs; i++)); do
		for am in btree surfidx; do
			sql -c "DROP INDEX IF EXISTS accounts_aid" -c "CREATE UNIQUE INDEX accounts_aid ON pgbench_accounts USING $am (aid)" \
				-c "VACUUM ANALYZE pgbench_accounts" -c CHECKPOINT
			for what in "pgbench -S, statements per second:-S" "pgbench TPC-B, transactions per second:-b tpcb-like"; do
				# shellcheck disable=SC2086
				sql -v metric="${what%%:*}" -v am=$am -v tps="$("$BINDIR/pgbench" -n -M prepared -T 10 ${what##*:} |
					sed -n 's/^tps = \([0-9.]*\).*/\1/p')" <<<"INSERT INTO bench.result VALUES ('pgbench', 1000000, :'metric', :'am', :tps)"
			done
			pgbench_cpu select "pgbench -S, CPU, us per statement" $am 100000
			pgbench_cpu tpcb "pgbench TPC-B, CPU, us per transaction" $am 30000
		done
	done
}

# VACUUM when a fifth of the rows, drawn by chance, has been deleted.
measure_vacuum()
{
	sql -c "DELETE FROM w WHERE hashtid(ctid) & 1023 < 205" -c CHECKPOINT
	sql -c "CALL bench.vacuum_begins()" -c "VACUUM w" -c "CALL bench.vacuum_ended('$1', '$2')"
}

# Builds and scans alternate between the two access methods, so that what the machine does meanwhile hits both.
measure_set()
{
	local i am

	for ((i = 0; i < runs; i++)); do
		for am in btree surfidx; do
			sql -c "DROP INDEX IF EXISTS r_$am" -c CHECKPOINT -c "CALL bench.build('$1', '$am')"
		done
	done
	for ((i = 0; i < runs; i++)); do
		for am in btree surfidx; do
			sql -c "DROP INDEX r_$am" -c CHECKPOINT -c "CALL bench.build_parallel('$1', '$am')"
		done
	done
	sql -c "CALL bench.compare('$1')"
	for ((i = 0; i < runs; i++)); do
		sql -c "CALL bench.read('$1')"
	done
	measure_misses "$1"
	sql -c "DROP INDEX r_btree, r_surfidx"
	for ((i = 0; i < runs; i++)); do
		for am in none btree surfidx; do
			sql -c "CALL bench.copy_table('$am')" -c "VACUUM ANALYZE w" -c CHECKPOINT -c "CALL bench.insert('$1', '$am')"
			[ $am = none ] || sql -c "CALL bench.compare_inserted()"
			[ $am != surfidx ] || [ $i -gt 0 ] || sql -c "SELECT surfidx_check('w_index', true)" >/dev/null
			measure_vacuum "$1" $am
			[ $am != surfidx ] || [ $i -gt 0 ] || sql -c "CALL bench.compare_inserted()" -c "SELECT surfidx_check('w_index', true, true)" >/dev/null
		done
	done
	sql -c "DROP TABLE w"
}

own_cluster bench "shared_buffers = ${BENCH_SHARED_BUFFERS:-2GB}" "maintenance_work_mem = 512MB" "work_mem = 256MB" \
	"max_wal_size = 64GB" "checkpoint_timeout = 1h" "autovacuum = off" "jit = off" \
	"max_parallel_maintenance_workers = 0" "max_parallel_workers_per_gather = 0"
sql -f bench/schema.sql
report_machine
for set in $sets; do
	n=$(rows_of "$set")
	known=$(psql -X -A -t -c "SELECT count(*) FROM bench.key_set WHERE name = '$set'")
	[ "$known" = 1 ] || { echo "# $set: the server has no such collation"; continue; }
	load_set "$set" "$n"
	measure_set "$set"
	report_set "$set" "$n"
done
if [ -n "$pgbench" ]; then
	measure_pgbench
	echo
	echo "pgbench, one client, prepared statements, 1000000 accounts"
	sql -P footer=off -P border=0 -c "SELECT metric, btree, surfidx, ratio, spread FROM bench.report WHERE key_set = 'pgbench' ORDER BY n"
fi
if [ -n "$sets$pgbench" ]; then
	echo
	echo "Bytes per entry, and surfidx as a multiple of btree:"
	sql -P footer=off -P border=0 -c "SELECT * FROM bench.overview ORDER BY keys"
	report_tsv "$out"
	echo
	bench/chart.sh "$out"
	echo "# $out, $SECONDS s"
fi
cluster_stop
[ -z "$counts" ] ||
	bench/counts.sh --rows "$rows" --runs "$runs" --out "$(dirname "$out")/counts.tsv"
