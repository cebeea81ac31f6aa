# Sourced in the root of the sources: what the scripts of bench/papers share.
#
#	paper "option ..." argument...	how each begins: --entries n, --out directory (default
#								build/papers), and the options named; sets $work, a folder that is gone
#								at the end, and $tsv, the file of results, empty; prints the machine
#	ours experiment				adds lines "series x metric value" (with tabs), which come in
#	ours_of_runs experiment file	those of a file that report_runs has written (bench/report.sh): the
#								method is the series, the key set x
#	theirs						adds what the paper's authors published, of published.tsv
#	show experiment metric		a table: a line for each x, a column for each series; or lines of
#								"value (x)" where each series has its own x
#	draw experiment metric x-axis [log]	the same as a chart, $out/NAME-EXPERIMENT-METRIC.svg: curves
#								where x is a number, else bars; log: logarithmic axes, x, y or xy
#
# Results have the columns experiment, series, x, metric, value, source (ours or theirs).  Times are
# CPU times, since machines are shared.  Charts need gnuplot; where there is none they are left out.

. bench/begin.sh
. bench/core/build.sh

name=$(basename "$0" .sh)

paper()
{
	local options=$1

	shift
	out=$PWD/build/papers
	take_options "entries out $options" "$@"
	no_words
	mkdir -p "$out"
	tsv=$out/$name.tsv
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	printf 'experiment\tseries\tx\tmetric\tvalue\tsource\n' >"$tsv"
	echo "# $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(nproc) CPUs, load" \
		"$(cut -d ' ' -f 1-3 /proc/loadavg); ${entries:+$entries entries}"
}

ours()
{
	awk -F '\t' -v OFS='\t' -v e="$1" 'NF == 4 { print e, $0, "ours" }' >>"$tsv"
}

ours_of_runs()
{
	awk -F '\t' -v OFS='\t' 'NR > 1 && $4 != "ratio" { print $4, $1, $3, $5 }' "$2" | ours "$1"
}

theirs()
{
	awk -F '\t' -v OFS='\t' -v p="$name" '$1 == p { print $2, $3, $4, $5, $6, "theirs" }' \
		bench/papers/published.tsv >>"$tsv"
}

# rows experiment metric: its lines, x in the order in which they came
show()
{
	echo
	echo "$1: $2"
	awk -F '\t' -v e="$1" -v m="$2" '
		$1 == e && $4 == m {
			s = $2 ($6 == "theirs" ? " (theirs)" : "")
			if (!(s in seen)) { seen[s] = 1; series[++n] = s }
			if (!($3 in known)) { known[$3] = 1; x[++rows] = $3 }
			v[$3, s] = $5
			cells++
		}
		END {
			# curves whose x differ from series to series: a line for each
			for (j = 1; j <= n && cells * 2 < rows * n; j++) {
				printf "%-18s", series[j]
				for (i = 1; i <= rows; i++)
					if ((x[i], series[j]) in v) printf "  %.4g (%s)", v[x[i], series[j]], x[i]
				print ""
			}
			if (cells * 2 < rows * n) exit
			width = 12
			for (i = 1; i <= rows; i++) if (length(x[i]) > width) width = length(x[i])
			printf "%-*s", width, ""
			for (j = 1; j <= n; j++) printf "  %12s", series[j]
			print ""
			for (i = 1; i <= rows; i++) {
				printf "%-*s", width, x[i]
				for (j = 1; j <= n; j++) {
					w = length(series[j]) > 12 ? length(series[j]) : 12
					if ((x[i], series[j]) in v) printf "  %*.4g", w, v[x[i], series[j]]
					else printf "  %*s", w, "-"
				}
				print ""
			}
		}' "$tsv"
}

draw()
{
	local svg="$out/$name-$(tr -cs 'A-Za-z0-9\n' _ <<<"$1-$2" | sed 's/_*$//').svg"
	local set source n=0 plot='' axes='' style

	command -v gnuplot >/dev/null || { echo "# no chart: gnuplot is not installed"; return 0; }
	case $4 in
		x) axes='set logscale x' ;;
		y) axes='set logscale y' ;;
		xy) axes='set logscale xy' ;;
		*) axes="set yrange [0:$(awk -F '\t' -v e="$1" -v m="$2" '
			$1 == e && $4 == m && $5 > 0 { most = "*" } END { print most ? most : 1 }' "$tsv")]" ;;
	esac
	if awk -F '\t' -v e="$1" -v m="$2" '$1 == e && $4 == m && $3 !~ /^[0-9.]+$/ { found = 1 }
		END { exit !found }' "$tsv"; then
		bars "$1" "$2" "$svg" "$axes"
		return
	fi
	while IFS=$'\t' read -r set source; do
		n=$((n + 1))
		awk -F '\t' -v OFS='\t' -v e="$1" -v m="$2" -v s="$set" -v from="$source" \
			'$1 == e && $4 == m && $2 == s && $6 == from { print $3, $5 }' "$tsv" |
			sort -g >"$work/curve$n"
		style="pt 7 ps 0.6 lw 2"
		[ "$source" = ours ] || style="pt 6 ps 0.8 dt 2 lw 1"
		plot+="${plot:+, }'$work/curve$n' using 1:2 with linespoints lc $(colour "$1" "$2" "$set")"
		plot+=" $style title '$set$([ "$source" = ours ] || echo ", published")'"
	done < <(awk -F '\t' -v OFS='\t' -v e="$1" -v m="$2" \
		'$1 == e && $4 == m && !seen[$2, $6]++ { print $2, $6 }' "$tsv")
	gnuplot <<-END
		set terminal svg size 760,400 font 'Helvetica,12' background 'white'
		set output '$svg'
		set title "$1: $2" noenhanced
		set datafile separator '\t'
		set xlabel '$3'
		set grid ytics lc rgb '#dddddd'
		set border 3
		set xtics nomirror
		set ytics nomirror
		set key outside right noenhanced
		$axes
		plot $plot
	END
	echo "# $svg"
}

# the number of a series among those of an experiment: ours and theirs have one colour
colour()
{
	awk -F '\t' -v e="$1" -v m="$2" -v s="$3" \
		'$1 == e && $4 == m && !($2 in n) { n[$2] = ++all } END { print n[s] }' "$tsv"
}

bars()
{
	local column=2 set plot=''

	awk -F '\t' -v e="$1" -v m="$2" '
		$1 == e && $4 == m {
			s = $2 ($6 == "theirs" ? ", published" : "")
			if (!(s in seen)) { seen[s] = 1; series[++n] = s }
			if (!($3 in known)) { known[$3] = 1; x[++rows] = $3 }
			v[$3, s] = $5
		}
		END {
			for (j = 1; j <= n; j++) printf "\t%s", series[j]
			print ""
			for (i = 1; i <= rows; i++) {
				printf "%s", x[i]
				for (j = 1; j <= n; j++) printf "\t%s", (x[i], series[j]) in v ? v[x[i], series[j]] : "NaN"
				print ""
			}
		}' "$tsv" >"$work/bars"
	while read -r set; do
		plot+="${plot:+, }'$work/bars' every ::1 using $column:xtic(1) title '$set'"
		[[ $set != *published ]] || plot+=" fs pattern 4"
		column=$((column + 1))
	done < <(head -1 "$work/bars" | tr '\t' '\n' | tail -n +2)
	gnuplot <<-END
		set terminal svg size 760,400 font 'Helvetica,12' background 'white'
		set output '$3'
		set title "$1: $2" noenhanced
		set datafile separator '\t'
		set style data histograms
		set style fill solid 0.85 border -1
		set boxwidth 0.9
		set key outside right noenhanced
		set xtics noenhanced nomirror scale 0
		set ytics nomirror
		set grid ytics lc rgb '#dddddd'
		set border 3
		$4
		plot $plot
	END
	echo "# $3"
}
