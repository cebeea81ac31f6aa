#!/bin/bash
# Answers computed by block, and rows that come out of one, beside btree's index-only scan on the
# same tables, in CPU time of the backend for whole statements, planning included, and how many times
# less that is.  "make bench-full BENCH_ARGS=counts" builds and installs first.
#
#	bench/counts.sh [--rows n] [--runs n] [--out file.tsv] [set]...
#
#	--rows n	rows of each table (default 2000000)
#	--runs n	times that each thing is measured, btree and surfidx in turn (default 5)
#	--metric re	only what this regular expression matches (default: all)
#	--out file	the medians as a TSV (default build/counts.tsv)
#	set			of keys (default: all): answers:
#				int8 serial timestamp clock email hundred readings sensors numeric
#				offset
#				rows: int8 uuid email numeric inet pair include interval bit array composite

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=2000000
runs=5
metric=.
out=$PWD/build/counts.tsv

take_options "rows runs metric out" "$@"
[ "$rows" -ge 10000 ] && [ "$runs" -ge 1 ] ||
	die "--rows must be at least 10000, --runs at least 1"

known="int8 serial timestamp clock email hundred readings sensors numeric uuid inet pair include"
known="$known offset interval bit array composite"
sets=${words[*]:-$known}
for set in $sets; do
	[[ " $known " == *" $set "* ]] || what_is "$set"
done

measure_set()
{
	local state i

	sql -c "CALL bench.load('$1', $rows, $((rows / 10)))" -c "CALL bench.count_indexes('$1')" \
		-c "CALL bench.count_ranges('$1')"
	while read -r state; do
		# VACUUM would merge what the first state of the delta has left for the second
		[ "$state" = "delta of 5 %" ] || sql -c "VACUUM (FREEZE, ANALYZE) r"
		sql -c "CALL bench.count_state('$state')"
		for ((i = 0; i < runs; i++)); do
			sql -c "CALL bench.counts('$1', '$state')"
		done
	done < <(psql -X -A -t -c "SELECT state FROM bench.count_query WHERE key_set = '$1'
		GROUP BY state ORDER BY min(n)")
}

own_cluster counts "shared_buffers = ${BENCH_SHARED_BUFFERS:-2GB}" "work_mem = 256MB" \
	"maintenance_work_mem = 512MB" "max_wal_size = 64GB" "checkpoint_timeout = 1h" \
	"autovacuum = off" "jit = off" "surfidx.auto_merge = off" "max_parallel_workers_per_gather = 0"
sql -f bench/schema.sql -f bench/counts.sql
sql -v metric="$metric" <<<"DELETE FROM bench.count_query WHERE metric !~ :'metric'"
report_machine
for set in $sets; do
	measure_set "$set"
done
sql -P footer=off -P border=0 -c "SELECT key_set AS keys, metric, \"btree, us\", \"surfidx, us\",
	times, mark, spread FROM bench.count_report ORDER BY n"
report_tsv "$out"
echo "# $out, $SECONDS s"
