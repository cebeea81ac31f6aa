#!/bin/bash
# Hybrid indexes (SIGMOD 2016, sections 6 and 7, appendices), inside PostgreSQL: YCSB, order entry in
# the manner of TPC-C, voter, articles, and the sweep of the merge ratio.
#
#	bench/papers/hybrid.sh [--entries n] [--transactions n] [--runs n] [--keys "name..."]
#		[--ratios "n..."] [--parts "name..."] [--secs n] [--out directory]
#
#	--entries n		rows of YCSB's table and of the sweep (default 100000; the paper has 50 million)
#	--transactions	of each measurement of YCSB and order entry (default 20000)
#	--runs n		of everything (default 1)
#	--keys			of YCSB (default "int8 email", the paper's random integers and e-mails)
#	--ratios		of merge_ratio (default "0.01 0.03 0.1 0.3 1")
#	--secs n		of voter and articles (default 10)
#	--parts			ycsb, tpcc, loads (voter, articles), ratio; default: all
#	--out directory	of the TSV and the charts (default build/papers)
#
# The paper measures a structure by itself, and H-Store; here an index of a server stands for both,
# so that a transaction's CPU is mostly that of the server around it.  The parts are those of
# bench/load.sh, bench/outgrow.sh and bench/hybrid.sh, which have more to set; voter and articles
# stay in memory here.

cd "$(dirname "$0")/../.." || exit 1
. bench/papers/common.sh

entries=100000
transactions=20000
runs=1
keys="int8 email"
ratios="0.01 0.03 0.1 0.3 1"
parts="ycsb tpcc loads ratio"
secs=10
paper "transactions runs keys ratios parts secs" "$@"

# part experiment script argument...
part()
{
	local experiment=$1 script=$2

	shift 2
	"bench/$script" --runs "$runs" --out "$work/part.tsv" "$@"
	ours_of_runs "$experiment" "$work/part.tsv"
}

for part in $parts; do
	case $part in
		ycsb)
			part ycsb load.sh --rows "$entries" --transactions "$transactions" --keys "$keys" \
				--choice zipf --clients 2 a c e
			;;
		tpcc)
			part tpcc load.sh --rows 300000 --transactions $((transactions / 10)) --clients 2 orders
			;;
		loads)
			part loads outgrow.sh --steps 0.3 --shares "" --ams "btree full" --secs "$secs" --warm 1 \
				voter articles
			;;
		ratio)
			# as many rows again: at the smallest ratios each merge is followed by others
			bench/hybrid.sh --runs "$runs" --out "$work/ratio.tsv" --rows "$entries" \
				--transactions $((entries / 10)) --ratios "$ratios" ratio
			# curves by the ratio, btree's level
			awk -F '\t' -v OFS='\t' -v ratios="$ratios" '
				$1 != "btree" { sub("merge_ratio ", "", $1); print; next }
				{ n = split(ratios, x, " "); for (i = 1; i <= n; i++) { $1 = x[i]; print } }' \
				"$work/ratio.tsv" >"$work/part.tsv"
			ours_of_runs ratio "$work/part.tsv"
			;;
		*) what_is "$part" ;;
	esac
done
theirs

# table experiment metric...
tables()
{
	local experiment=$1 metric

	shift
	for metric; do
		grep -q "^$experiment	.*	$metric	" "$tsv" || continue
		show "$experiment" "$metric"
		if [ "$experiment" = ratio ]; then
			draw ratio "$metric" merge_ratio x
		else
			draw "$experiment" "$metric" ""
		fi
	done
}

tables ycsb "CPU, us per transaction" "WAL, bytes per transaction" "index size, MB"
tables tpcc "CPU, us per transaction" "WAL, bytes per transaction" "index size, MB"
tables loads "CPU, us per transaction" "CPU, us per row" "WAL, bytes per row" "indexes, MB"
tables ratio "CPU, us per row" "WAL, bytes per row" merges "CPU, us per lookup" "indexes, MB"
echo "# $tsv, $SECONDS s"
