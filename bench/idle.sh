#!/bin/bash
# What surfidx takes from plans that do not use it: CPU of the backend for statements over tables
# that have btree indexes alone, planned each time and executed again and again, in a server that
# has not loaded the library ("without"), that has, and that has with surfidx.aggregates = off.
# "make bench-full BENCH_ARGS=idle" builds and installs first.
#
#	bench/idle.sh [--rows n] [--runs n] [--times n] [--out file.tsv]
#
#	--rows n	rows of the table (default 100000)
#	--runs n	rounds, each of which starts the server both ways (default 9)
#	--times n	how often a statement is planned in one measurement (default 4000)
#	--out file	the medians as a TSV (default build/idle.tsv)

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=100000
runs=9
times=4000
out=$PWD/build/idle.tsv

take_options "rows runs times out" "$@"
no_words

# restart [setting]...: the server with other settings for this start
restart()
{
	as_user "$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -o "$*" -m fast -w restart >/dev/null
}

own_cluster idle "shared_buffers = 256MB" "autovacuum = off" "jit = off" \
	"max_parallel_workers_per_gather = 0"
sql -f bench/schema.sql -f bench/idle.sql -v rows="$rows"
report_machine
for ((i = 0; i < runs; i++)); do
	restart "-c shared_preload_libraries="
	sql -c "CALL bench.idle('without', $times)"
	restart
	sql -c "CALL bench.idle('loaded', $times)"
	sql -c "SET surfidx.aggregates = off" -c "CALL bench.idle('aggregates off', $times)"
done
sql -P footer=off -P border=0 -c "SELECT * FROM bench.idle_report"
mkdir -p "$(dirname "$out")"
sql -c "COPY (SELECT * FROM bench.idle_report) TO STDOUT
	WITH (FORMAT csv, DELIMITER E'\t', HEADER)" >"$out"
echo "# $out, $SECONDS s"
