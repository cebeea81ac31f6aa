#!/bin/bash
# Charts of a TSV that bench/run.sh has written, as SVG, one file beside it for each metric: bars,
# or, of key sets that were measured with more than two numbers of entries, curves over these.
#
#	bench/chart.sh file.tsv [metric [file.svg [key_set]]]
#
#	file.tsv	key_set, entries, metric, am, median, min, max, runs
#			("ratio" in place of an access method is no bar)
#			a metric that says "logarithmic" has such an axis
#	metric		this one alone ("size, bytes per entry"), into file.svg
#	key_set		curves of this one alone, whose metrics are in a file each
#
# Needs gnuplot; where there is none it says so and makes nothing.

set -e -o pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

tsv=${1:?chart.sh file.tsv [metric [file.svg]]}
[ -f "$tsv" ] || die "there is no file $tsv"
if ! command -v gnuplot >/dev/null; then
	echo "# no charts: gnuplot is not installed (Debian: gnuplot-nox)"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# colours of the access methods, in bars and curves
colours="set linetype 1 lc rgb '#b0b0b0'
	set linetype 2 lc rgb '#2a6fb0'
	set linetype 3 lc rgb '#e0a030'
	set linetype 4 lc rgb '#70a060'
	set linetype 5 lc rgb '#a06090'"

# key_sets metric kind: key sets of it that are to be curves, or bars
key_sets()
{
	awk -F '\t' -v m="$1" -v kind="$2" '
		NR > 1 && $3 == m {
			if (!($1 in n)) set[++sets] = $1
			if (!(($1, $2) in seen)) { seen[$1, $2] = 1; n[$1]++ }
		}
		END {
			for (s = 1; s <= sets; s++)
				if ((n[set[s]] > 2) == (kind == "curves")) print set[s]
		}' "$tsv"
}

# curves metric file.svg key_set: a curve for each access method over the number of entries, and
# bars from the least to the greatest value
curves()
{
	local am plot='' axis='set yrange [0:*]' n=0 unit=1 rows=rows

	case $1 in *logarithmic*) axis='set logscale y' ;; esac
	if awk -F '\t' -v set="$3" '$1 == set && $2 > 10000 { found = 1 } END { exit !found }' "$tsv"; then
		unit=1000
		rows='thousand rows'
	fi
	while read -r am; do
		n=$((n + 1))
		awk -F '\t' -v OFS='\t' -v m="$1" -v set="$3" -v am="$am" -v unit="$unit" \
			'NR > 1 && $1 == set && $3 == m && $4 == am { print $2 / unit, $5, $6, $7 }' "$tsv" |
			sort -n >"$work/curve$n"
		plot+="${plot:+, }'$work/curve$n' using 1:2 with linespoints lt $n lw 2 pt 7 ps 0.6"
		plot+=" title '$am', '$work/curve$n' using 1:2:3:4 with yerrorbars lt $n pt 0 notitle"
	done < <(awk -F '\t' -v m="$1" -v set="$3" \
		'NR > 1 && $1 == set && $3 == m && $4 != "ratio" && !seen[$4]++ { print $4 }' "$tsv")
	gnuplot <<-END
		set terminal svg size 760,360 font 'Helvetica,12' background 'white'
		set output '$2'
		set title "$3: $1" noenhanced
		set datafile separator '\t'
		set xlabel '$rows'
		set xrange [0:*]
		set xtics nomirror
		set ytics nomirror
		set grid ytics lc rgb '#dddddd'
		set border 3
		set lmargin 9
		set rmargin 3
		set key top left noenhanced
		$axis
		$colours
		plot $plot
	END
	echo "# $2"
}

# chart metric file.svg: groups of bars, a group for each key set and a bar for each access method
chart()
{
	local ams am title column=2 plot='' axis='set yrange [0:*]'

	case $1 in *logarithmic*) axis=$'set logscale y\n\t\tset yrange [0.1:*]' ;; esac

	# what no index can be smaller than comes last, in a colour of its own
	ams=$(awk -F '\t' -v m="$1" 'NR > 1 && $3 == m && $4 != "ratio" && !seen[$4]++ { if ($4 == "limit") last = $4; else print $4 } END { print last }' "$tsv")
	key_sets "$1" bars >"$work/bars"
	# rows: key set, then the median, least and greatest value for each access method
	awk -F '\t' -v m="$1" -v ams="$(tr '\n' ' ' <<<"$ams")" '
		BEGIN { n = split(ams, am, " ") }
		FILENAME ~ /bars$/ { bar[$0] = 1; next }
		$1 in bar && $3 == m {
			if (!($1 in seen)) { seen[$1] = 1; set[++sets] = $1 }
			v[$1, $4] = $5 "\t" $6 "\t" $7
		}
		END {
			for (s = 1; s <= sets; s++) {
				printf "%s", set[s]
				for (a = 1; a <= n; a++) printf "\t%s", ((set[s], am[a]) in v) ? v[set[s], am[a]] : "NaN\tNaN\tNaN"
				print ""
			}
		}' "$work/bars" "$tsv" >"$work/data"
	for am in $ams; do
		title=$am
		[ "$am" != limit ] || title='information limit'
		plot+="${plot:+, }'$work/data' using $column:$((column + 1)):$((column + 2)):xtic(1) title '$title'"
		[ "$am" != limit ] || plot+=" lc rgb '#e0a030'"
		column=$((column + 3))
	done
	gnuplot <<-END
		set terminal svg size 760,360 font 'Helvetica,12' background 'white'
		set output '$2'
		set title "$1" noenhanced
		set datafile separator '\t'
		set style data histograms
		set style histogram errorbars gap 1 lw 1
		set style fill solid 0.85 border -1
		set boxwidth 0.9
		set xtics noenhanced nomirror scale 0
		set ytics nomirror
		set grid ytics lc rgb '#dddddd'
		set border 3
		set lmargin 7
		set rmargin 1
		set key top left noenhanced
		$axis
		$colours
		plot $plot
	END
	echo "# $2"
}

if [ $# -gt 3 ]; then
	curves "$2" "$3" "$4"
	exit
elif [ $# -gt 1 ]; then
	chart "$2" "${3:?the SVG file}"
	exit
fi
name_of()
{
	tr -cs 'A-Za-z0-9\n' _ <<<"$1" | sed 's/_*$//'
}

awk -F '\t' 'NR > 1 && !seen[$3]++ { print $3 }' "$tsv" | while read -r metric; do
	svg=${tsv%.tsv}-$(name_of "$metric")
	[ -z "$(key_sets "$metric" bars)" ] || chart "$metric" "$svg.svg" </dev/null
	key_sets "$metric" curves | while read -r set; do
		curves "$metric" "$svg-$(name_of "$set").svg" "$set" </dev/null
	done
done
