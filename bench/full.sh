#!/bin/bash
# All that bench/ can measure, one part after the other; "make bench-full" builds and installs first.
#
#	bench/full.sh [--rows n] [--runs n] [--transactions n] [--secs n] [--out directory] [part]...
#
#	part	core		codecs and leaves beside the information limit, without a server	(rows: entries)
#			tables		bench/run.sh: sizes, builds, lookups, ranges, scans, inserts
#			counts		bench/counts.sh: answers computed by block, planning included
#			idle		bench/idle.sh: statements that surfidx has no part in
#			pgbench		bench/run.sh pgbench: -S and TPC-B, by the clock and in CPU time
#			write		bench/write.sh: inserts of 10 and 100 %
#			clients		bench/write.sh --clients: single rows by 1 to 8 sessions
#			churn, recovery	bench/write.sh with that option
#			timeseries	bench/timeseries.sh: what filters save
#			load		bench/load.sh: YCSB A to F, TPC-B, order entry (with keys, too), series
#			buffers		bench/load.sh with shared_buffers of a fifth of the btree's size or less: index larger than memory
#			memory		the same with a limit of memory for the whole server, where this machine allows one
#			outgrow		bench/outgrow.sh: data that outgrow such a limit step by step
#			elastic		bench/elastic.sh: indexes that grow past a bound and shrink again
#			burst		the same with a limit of memory for the whole server
#			hybrid		bench/hybrid.sh: when to merge, and many secondary indexes
#			beside		bench/beside.sh: readers and writers at once
#			peers		bench/peers.sh: hash, brin, bloom, gin
#			growth		bench/growth.sh: what is measured of millions, and computed for ten billion
#			first		bench/first.sh: the first lookups after a restart, a crash, a promotion
#			replica		bench/replica.sh: a standby while its primary writes
#			backup		bench/backup.sh: pages between two incremental backups (17 and later)
#			default: all of them, some hours
#	--rows n			rows of the tables of each part, instead of its own default (10 and 5 million, 2 million, 1 million)
#	--runs n			how often each thing is measured (default 3)
#	--transactions n	of each measurement of load, buffers and memory (default 100000)
#	--secs n			of each measurement of clients (default 10), and of churn (default 120)
#	--out directory		default build/bench-full
#
# Each part's output is directory/part.txt, its medians directory/part.tsv with charts beside it (core: the text only).
# A part that fails does not keep the others from running; the exit status tells.

set -o pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh

rows=
runs=3
transactions=100000
secs=
out=$PWD/build/bench-full
parts=

while [ $# -gt 0 ]; do
	case $1 in
		--rows) rows=$2; shift ;;
		--runs) runs=$2; shift ;;
		--transactions) transactions=$2; shift ;;
		--secs) secs="--secs $2"; shift ;;
		--out) out=$(realpath -m "$2"); shift ;;
		core | tables | counts | idle | pgbench | write | clients | churn | recovery | timeseries) parts="$parts $1" ;;
		outgrow | burst | hybrid) parts="$parts $1" ;;
		load | buffers | memory | elastic | beside | peers | growth | first | replica | backup) parts="$parts $1" ;;
		*) die "what is \"$1\"? See the head of bench/full.sh" ;;
	esac
	shift
done

# the option, if there is one for this run
of_rows()
{
	[ -z "$rows" ] || echo "--rows $rows"
}

# A fifth of what a btree on so many int8 takes, 22.5 bytes each, at least 1 MB; and for memory that and what a server needs to breathe.
fifth()
{
	local mb=$((${rows:-1000000} * 9 / 2 / 1048576))

	echo $((mb > 0 ? mb : 1))
}

# Rows without their indexes, when there are most, and what a server needs.
burst()
{
	local mb=$((${rows:-1000000} * 56 / 1048576))

	echo $((mb > 40 ? mb + 28 : 68))
}

run_part()
{
	local ycsb="a b c d e f"

	# shellcheck disable=SC2046,SC2086
	case $1 in
		core) scripts/bench-core.sh $rows ;;
		tables) bench/run.sh $([ -n "$rows" ] || echo --full) $(of_rows) --runs "$runs" --out "$out/$1.tsv" int8 serial timestamp uuid email path ;;
		counts) bench/counts.sh $(of_rows) --runs "$runs" --out "$out/$1.tsv" ;;
		idle) bench/idle.sh $(of_rows) --out "$out/$1.tsv" ;;
		pgbench) bench/run.sh pgbench --runs "$runs" --out "$out/$1.tsv" ;;
		write) bench/write.sh $(of_rows) --runs "$runs" --out "$out/$1.tsv" ;;
		clients | churn | recovery) bench/write.sh --$1 $(of_rows) $secs --runs "$runs" --out "$out/$1.tsv" ;;
		timeseries) bench/timeseries.sh $(of_rows) --out "$out/$1.tsv" ;;
		load) bench/load.sh $(of_rows) --runs "$runs" --transactions "$transactions" --out "$out/$1.tsv" ;;
		buffers) bench/load.sh $(of_rows) --runs "$runs" --transactions "$transactions" --buffers "$(fifth)MB" --out "$out/$1.tsv" $ycsb ;;
		memory) bench/load.sh $(of_rows) --runs "$runs" --transactions "$transactions" --buffers "$(fifth)MB" --memory "$(($(fifth) + 64))MB" --out "$out/$1.tsv" $ycsb ;;
		outgrow) bench/outgrow.sh ${rows:+--steps "0.4 0.8" --shares 1/2 --secs 1} --runs "$runs" \
			--out "$out/$1.tsv" ;;
		burst) bench/elastic.sh $(of_rows) --runs "$runs" --memory "$(burst)MB" \
			--out "$out/$1.tsv" ;;
		elastic | beside | first | replica | hybrid)
			bench/$1.sh $(of_rows) --runs "$runs" --out "$out/$1.tsv" ;;
		growth) bench/growth.sh ${rows:+"$rows" "$((rows * 3))"} --out "$out/$1.tsv" ;;
		backup) bench/backup.sh $(of_rows) --out "$out/$1.tsv" ;;
		peers) bench/peers.sh $(of_rows) --runs "$runs" --out "$out/$1.tsv" ;;
	esac
}

mkdir -p "$out"
failed=
for part in ${parts:-core tables counts idle pgbench write clients churn recovery timeseries \
	load buffers memory outgrow elastic burst hybrid beside peers growth first replica backup}; do
	echo "## $part"
	t0=$SECONDS
	run_part "$part" 2>&1 | tee "$out/$part.txt" || failed="$failed $part"
	echo "# $part: $((SECONDS - t0)) s, $out/$part.txt"
done
[ -z "$failed" ] || die "failed:$failed"
