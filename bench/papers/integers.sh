#!/bin/bash
# Codecs of sorted integers (Lemire, Rupp: Upscaledb, Information Systems 66, 2017): size, decoding,
# access, search, insertion and SUM by the width of differences, in blocks of 128 and 256.
#
#	bench/papers/integers.sh [--entries n] [--out directory]
#
#	--entries n		integers of each width (default 100000, 0.4 MB: in the second-level cache)
#	--out directory	of the TSV and the charts (default build/papers)
#
# Sorted 32-bit integers with random differences of so many bits, as in the paper's first
# experiments.  Its second ones, inside Upscaledb, have their counterpart in bench/run.sh (lookups,
# inserts and builds in the server) and in bench/counts.sh (SUM).

cd "$(dirname "$0")/../.." || exit 1
. bench/papers/common.sh

entries=100000
paper "" "$@"
core_objects "$work"
core_bench "$work" widths
"$work/widths" -n "$entries" >"$work/lines"
for block in 128 256; do
	awk -F '\t' -v OFS='\t' -v b=$block '$1 == b { print $2, $3, $4, $5 }' "$work/lines" |
		ours "blocks of $block"
done
theirs
for metric in "bits an integer" "encode, ns" "decode, ns" "get, ns" "find, ns" "insert, ns" "sum, ns"; do
	for block in 128 256; do
		show "blocks of $block" "$metric"
		draw "blocks of $block" "$metric" "bits of a difference" \
			"$([[ $metric = bits* ]] || echo y)"
	done
done
echo "# $tsv, $SECONDS s"
