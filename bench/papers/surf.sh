#!/bin/bash
# SuRF (SIGMOD 2018, sections 4 and 5): bits a key against false positives; times of points, open and
# closed seeks; threads; and in the server what filters save on a time series.
#
#	bench/papers/surf.sh [--entries n] [--threads n] [--rows n] [--queries n] [--buffers size]
#		[--out directory]
#
#	--entries n		keys of each set (default 1000000; the paper has 50 million random int8 and 25
#					million e-mails, host first)
#	--threads n		most threads (default 4)
#	--rows n		events of the time series (default 500000, 0: none; the paper has 100 GB of
#					events of 2,000 sensors), --queries of each kind (default 1000), --buffers
#					shared_buffers (default 1MB): bench/timeseries.sh
#	--out directory	of the TSV and the charts (default build/papers)
#
# bench/core/bench_surf.c has more sets, and the textbook structure beside them.

cd "$(dirname "$0")/../.." || exit 1
. bench/papers/common.sh

entries=1000000
threads=4
rows=500000
queries=1000
buffers=1MB
paper "threads rows queries buffers" "$@"
core_objects "$work"
core_bench "$work" seeks
"$work/seeks" -n "$entries" -t "$threads" >"$work/lines"
for set in int8 e-mails; do
	awk -F '\t' -v OFS='\t' -v set=$set '$1 == set { print $2, $3, $4, $5 }' "$work/lines" |
		ours $set
done
if [ "$rows" -gt 0 ]; then
	bench/timeseries.sh --rows "$rows" --queries "$queries" --buffers "$buffers" \
		--out "$work/timeseries.tsv"
	ours_of_runs "time series" "$work/timeseries.tsv"
fi
theirs
for set in int8 e-mails; do
	for metric in "wrong points, %" "wrong closed seeks, %" "wrong of both, %"; do
		show $set "$metric"
		draw $set "$metric" "bits a key" y
	done
	for metric in "point, ns" "open seek, ns" "closed seek, ns" "build, ns a key"; do
		show $set "$metric"
		draw $set "$metric" "bits a key"
	done
	for metric in "by threads: CPU, ns" "by threads: million a second"; do
		show $set "$metric"
		draw $set "$metric" threads
	done
done
for metric in "leaves per query" "pages read per query" "CPU, us per query"; do
	[ "$rows" -eq 0 ] || { show "time series" "$metric"; draw "time series" "$metric" ""; }
done
echo "# $tsv, $SECONDS s"
