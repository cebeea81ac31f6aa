# Sourced: what bench/run.sh and bench/write.sh print of the tables of bench/schema.sql.
#
#	report_machine				the server, the processor, and how often each thing is measured ($runs)
#	report_set key_set rows		a table of medians with least and greatest values, and surfidx as a multiple of btree: of medians, and from run to run
#	report_tsv file				all medians, of bench.summary, and that multiple, as "ratio" in place of an access method
#	report_runs file query		medians of a query's rows (key_set, entries, metric, am, value), one for each run; and charts of them

report_machine()
{
	echo "# PostgreSQL $(sql -A -t -c "SHOW server_version"), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)," \
		"$(nproc) CPUs; median (least-greatest) of $runs"
}

report_set()
{
	echo
	echo "$1: $(sql -A -t -c "SELECT title FROM bench.key_set WHERE name = '$1'"), $2 rows"
	sql -P footer=off -P border=0 -c "SELECT metric, btree, surfidx, ratio, spread FROM bench.report WHERE key_set = '$1' ORDER BY n"
}

report_tsv()
{
	mkdir -p "$(dirname "$1")"
	sql -c "COPY (SELECT key_set, entries, metric, am, median, min, max, runs
		FROM (SELECT * FROM bench.summary UNION ALL SELECT key_set, entries, metric, 'ratio', ratio, min, max, turns FROM bench.quotient) s
			JOIN bench.ordered_metric USING (metric)
		ORDER BY key_set, n, am) TO STDOUT WITH (FORMAT csv, DELIMITER E'\\t', HEADER)" >"$1"
}

report_runs()
{
	mkdir -p "$(dirname "$1")"
	sql -c "COPY (SELECT key_set, entries, metric, am, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median, min(value), max(value), count(*) AS runs
		FROM ($2) r GROUP BY 1, 2, 3, 4 ORDER BY 3, 1, 2, 4) TO STDOUT WITH (FORMAT csv, DELIMITER E'\\t', HEADER)" >"$1"
	bench/chart.sh "$1"
	echo "# $1, $SECONDS s"
}
