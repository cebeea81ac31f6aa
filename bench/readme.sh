#!/bin/bash
# The tables of README.md and docs/figures.md and the charts, from what bench/run.sh and
# bench/counts.sh have written.
#
#	bench/readme.sh [--check] [run.tsv [counts.tsv [people.tsv]]]	default: the newest ones below bench/results
#
#	--check		change nothing; status 1 if a table is another one
#
# Numbers are surfidx's as a multiple of btree's, of medians, but for the first lines and for
# answers.  The charts need gnuplot.

set -e -o pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

check=
[ "$1" != --check ] || { check=1; shift; }
tsv=${1:-$(ls bench/results/????-??-??.tsv | tail -1)}
[ -f "$tsv" ] || die "there is no file $tsv"
counts=${2:-$(ls bench/results/????-??-??-counts.tsv | tail -1)}
[ -f "$counts" ] || die "there is no file $counts"
people=${3:-$(ls bench/results/????-??-??-people.tsv | tail -1)}
[ -f "$people" ] || die "there is no file $people"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/sets" <<'END'
int8	random int8
serial	serial int8
timestamp	timestamps
uuid	random uuid
email	e-mails
path	file paths
END
cat >"$work/people-sets" <<'END'
code	product codes, C
code-libc	en_US.UTF-8
code-icu	ICU
owner	(int4, code), C
owner-icu	ICU
END
# the table of README.md that has it, besides docs/figures.md; how it is shown; metric; its words
cat >"$work/lines" <<'END'
sizes	btree	size, bytes per entry	bytes per entry, btree
sizes	surfidx	size, bytes per entry	bytes per entry, surfidx
-	limit	size, bytes per entry	... that the keys' information takes
glance	ratio	size, bytes per entry	size
-	ratio	size after inserts, bytes per entry	size after 10 % more rows
glance	ratio	build CPU, ns per entry	CPU of CREATE INDEX
-	ratio	build WAL, bytes per entry	WAL of CREATE INDEX
glance	ratio	lookup, hit, ns	CPU of a lookup, found (nested loop)
-	ratio	lookup, miss, ns	... not found
-	ratio	lookup as a statement of its own, ns	... as a statement of its own
-	ratio	= ANY of 1000 keys, ns per key	... of 1,000 keys at once (`= ANY`), per key
-	ratio	range of 100 rows, ns	CPU of a range of 100 rows
-	ratio	range of 100 rows backward, ns	... backward
-	ratio	first 100 rows, ns	CPU of the first 100 rows
-	ratio	last 100 rows, ns	... of the last
-	ratio	full index-only scan, ns per row	CPU of a full index-only scan
-	ratio	full index-only count(*), ns per row	... of `count(*)`, which needs no values
-	ratio	pages missed per lookup, buffers = 1/5 of btree	pages missed per lookup, with buffers for a fifth of btree
glance	ratio	insert, CPU, ns per row	CPU of an inserted row, merges included
glance	ratio	insert, WAL, bytes per row	WAL of an inserted row, merges included
-	ratio	VACUUM, CPU, ns per dead row	CPU of VACUUM, a fifth of the rows deleted
-	ratio	VACUUM, WAL, bytes per dead row	WAL of that VACUUM
END

# queries of a whole table: set of keys, metric, words, words below a bar
cat >"$work/queries" <<'END'
int8	count(*)	`count(*)`	count(*)
int8	sum	`sum` of a bigint	sum
int8	sum, min, max and count	`sum`, `min`, `max` and `count`	sum, min, max
hundred	GROUP BY	`GROUP BY`, 100 rows a group	GROUP BY
hundred	count(DISTINCT)	`count(DISTINCT)`, 100 rows a value	DISTINCT
timestamp	GROUP BY date_bin, a day	`GROUP BY date_bin`, a day	by day
END

# milliseconds of each of them
answers()
{
	awk -F '\t' '
	FILENAME ~ /queries$/ { key[++n] = $1 "\t" $2; text[n] = $3; next }
	FNR > 1 { v[$1 "\t" $3, $4] = $5; if ($1 == "int8") entries = $2 }
	function number(x) { return x >= 100 ? sprintf("%.0f", x) : sprintf("%.2g", x) }
	END {
		printf "| ms of CPU, %g million rows | btree | surfidx | times less |\n|---|---|---|---|\n", entries / 1e6
		for (i = 1; i <= n; i++) {
			b = v[key[i], "btree"] / 1000
			s = v[key[i], "surfidx"] / 1000
			printf "| %s | %s | **%s** | %s |\n", text[i], number(b), number(s), number(b / s)
		}
	}' "$work/queries" "$counts"
}

# table name sets run.tsv: the lines that belong to it, all of them to "figures"
table()
{
	awk -F '\t' -v name="$1" '
	FILENAME ~ /sets$/ { set[++sets] = $1; title[sets] = $2; next }
	FILENAME ~ /lines$/ {
		if (name == "figures" || name == $1) { what[++lines] = $2; metric[lines] = $3; text[lines] = $4 }
		next
	}
	FNR > 1 { v[$1, $3, $4] = $5; has[$1, $3, $4] = measured[$3] = 1; limits += $4 == "limit"; if ($1 == set[1]) entries = $2 }
	# three digits that count
	function number(x)
	{
		return x == 0 ? "0" : x >= 100 ? sprintf("%.0f", x) : x >= 10 ? sprintf("%.1f", x) : sprintf("%.3g", x)
	}
	function ratio(x) { return x == 0 ? "0" : x < 0.05 ? sprintf("%.3f", x) : sprintf("%.2f", x) }
	function quotient(s, m)
	{
		if (!((set[s], m, "surfidx") in has)) return ""
		return v[set[s], m, "btree"] == 0 ? "0" : ratio(v[set[s], m, "surfidx"] / v[set[s], m, "btree"])
	}
	END {
		printf "| %g million rows", entries / 1e6
		for (s = 1; s <= sets; s++) printf " | %s", title[s]
		print " |"
		for (s = 0; s <= sets; s++) printf "|---"
		print "|"
		for (l = 1; l <= lines; l++) {
			m = metric[l]
			# not measured in this run
			if (!(m in measured) || (what[l] == "limit" && !limits)) continue
			printf "| %s", text[l]
			for (s = 1; s <= sets; s++) {
				if (what[l] == "ratio")
					printf " | %s", quotient(s, m)
				else
					printf what[l] == "surfidx" ? " | **%s**" : " | %s",
						(set[s], m, what[l]) in has ? number(v[set[s], m, what[l]]) : "?"
			}
			print " |"
		}
	}' "$2" "$work/lines" "$3"
}

for name in sizes glance figures; do
	table $name "$work/sets" "$tsv" >"$work/table-$name"
done
table glance "$work/people-sets" "$people" >"$work/table-people"
table figures "$work/people-sets" "$people" >"$work/table-people-figures"
answers >"$work/table-answers"
stale=
for doc in README.md docs/figures.md; do
	awk -v tables="$work/table-" '
	/^<!-- end of figures -->/ { inside = 0 }
	!inside { print }
	/^<!-- (sizes|glance|figures|answers|people|people-figures) -->/ { inside = 1; while ((getline line <(tables $2)) > 0) print line }' \
		$doc >"$work/doc"
	if [ -z "$check" ]; then
		cat "$work/doc" >$doc
	elif ! diff $doc "$work/doc"; then
		stale+=" $doc"
	fi
done
[ -z "$stale" ] || die "not the tables of $tsv, $counts and $people:$stale"
[ -z "$check" ] || exit 0

# the chart's sets have the table's titles and order
head -1 "$tsv" >"$work/size.tsv"
while IFS=$'\t' read -r name title; do
	awk -F '\t' -v OFS='\t' -v name="$name" -v title="$title" '$1 == name && $3 == "size, bytes per entry" { $1 = title; print }' "$tsv" >>"$work/size.tsv"
done <"$work/sets"
bench/chart.sh "$work/size.tsv" "size, bytes per entry" docs/size.svg
metric="CPU of a query over 2 million rows, ms, logarithmic"
{
	head -1 "$counts"
	awk -F '\t' -v OFS='\t' -v metric="$metric" '
	FILENAME ~ /queries$/ { key[++n] = $1 "\t" $2; text[n] = $4; next }
	$4 != "ratio" { v[$1 "\t" $3, $4] = $5 / 1000 OFS $6 / 1000 OFS $7 / 1000 OFS $8 }
	END { for (i = 1; i <= n; i++) for (a = 1; a <= 2; a++) {
		am = a == 1 ? "btree" : "surfidx"
		print text[i], 0, metric, am, v[key[i], am]
	} }' "$work/queries" "$counts"
} >"$work/answers.tsv"
bench/chart.sh "$work/answers.tsv" "$metric" docs/answers.svg
