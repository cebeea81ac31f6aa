#!/bin/bash
# The Fast Succinct Trie (SuRF, SIGMOD 2018, section 4.1) beside pointer tries and a B+tree: memory,
# lookups, ranges of 50 keys; and the sweep of dense levels.
#
#	bench/papers/fst.sh [--entries n] [--levels "n..."] [--out directory]
#
#	--entries n		keys of each set (default 1000000; the paper has 50 million random int8 of YCSB
#					and 25 million e-mails, host first)
#	--levels		dense levels of the sweep (default "1 2 3 4 5 6 8")
#	--out directory	of the TSV and the charts (default build/papers)
#
# trie is the SuRF's, which cuts keys as the paper's tries do; pages and image are what the index is
# made of, with whole keys and TIDs.  ART, C-ART and B+tree are throw-away code
# (bench/core/baselines.h).  For the sweep src/core/filters/surf_write.c is compiled with another
# choose_dense(), which takes the number given; levels that the trie has not are sparse, too.

cd "$(dirname "$0")/../.." || exit 1
. bench/papers/common.sh

entries=1000000
levels="1 2 3 4 5 6 8"
paper "levels" "$@"
core_objects "$work"
core_bench "$work" fst

# of "set structure metric value" with tabs: series are structures, x are sets
"$work/fst" -n "$entries" >"$work/lines"
awk -F '\t' -v OFS='\t' '{ print $2, $1, $3, $4 }' "$work/lines" | ours structures

# dense_levels n: bench_fst whose tries have so many
dense_levels()
{
	sed "s/^#define DENSE_LEVELS.*/#define DENSE_LEVELS $1/
		s|dense <= sparse + all / DENSE_SHARE|dense + sparse + all > 0|" \
		src/core/filters/surf_write.c >"$work/surf_write.c"
	cmp -s "$work/surf_write.c" src/core/filters/surf_write.c && die "choose_dense() has changed"
	# shellcheck disable=SC2086
	${CC:-cc} $core_flags -c "$work/surf_write.c" -o "$work/surf_write.o"
	core_bench "$work" fst
}

for level in $levels; do
	dense_levels "$level"
	"$work/fst" -t -n "$entries" |
		awk -F '\t' -v OFS='\t' -v x="$level" '$3 ~ /^(bytes|point|dense)/ { print $1, x, $3, $4 }' |
		ours "dense levels"
done
theirs
for metric in "bytes an entry" "point, ns" "point, Zipf, ns" "range of 50, ns" "build, ns an entry"; do
	show structures "$metric"
	draw structures "$metric" ""
done
for metric in "bytes an entry" "point, ns" "dense nodes"; do
	show "dense levels" "$metric"
	draw "dense levels" "$metric" "dense levels"
done
echo "# $tsv, $SECONDS s"
