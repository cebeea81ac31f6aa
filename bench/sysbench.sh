#!/bin/bash
# sysbench's loads, surfidx beside btree: CPU of all processes of the server for each event, events a
# second, and the 99th percentile.  Both indexes of each table (id, unique; k) are of the access
# method.  The access methods take turns on databases with the same history; VACUUM comes before each
# run; CPU is read two seconds after its end.
#
#	bench/sysbench.sh [--rows n] [--tables n] [--threads n] [--runs n] [--scale n] [--out file.tsv] [load]...
#
#	load	oltp_point_select, oltp_read_only, oltp_read_write, oltp_update_index, oltp_write_only,
#			select_random_ranges; default: all of them
#	--scale	times the events of a run

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=100000
tables=2
threads=8
runs=5
scale=1
out=$PWD/build/sysbench.tsv
take_options "rows tables threads runs scale out" "$@"
command -v sysbench >/dev/null || die "sysbench is not installed"
declare -A events=([oltp_point_select]=200000 [oltp_read_only]=6000 [oltp_read_write]=6000
	[oltp_update_index]=60000 [oltp_write_only]=20000 [select_random_ranges]=40000)
loads=("${words[@]}")
[ ${#loads[@]} -gt 0 ] || loads=(oltp_point_select select_random_ranges oltp_read_only
	oltp_update_index oltp_write_only oltp_read_write)
for load in "${loads[@]}"; do
	[ -n "${events[$load]}" ] || what_is "$load"
done

# run am load phase [option]...
run()
{
	local am=$1 load=$2 phase=$3

	shift 3
	sysbench --db-driver=pgsql --pgsql-host="$PGHOST" --pgsql-port="$PGPORT" --pgsql-user=postgres \
		--pgsql-db="$am" --tables="$tables" --table-size="$rows" --rand-seed=7 --db-ps-mode=auto "$@" \
		"$load" "$phase"
}

own_cluster sysbench "shared_buffers = 512MB" "max_wal_size = 16GB" "checkpoint_timeout = 1h" \
	"autovacuum = off" "synchronous_commit = off" "max_connections = 200"
for am in btree surfidx; do
	sql -c "CREATE DATABASE $am"
	run "$am" oltp_read_write prepare >/dev/null
	for n in $(seq "$tables"); do
		PGDATABASE=$am sql -c "CREATE EXTENSION IF NOT EXISTS surfidx" \
			-c "ALTER TABLE sbtest$n DROP CONSTRAINT sbtest${n}_pkey" \
			-c "DROP INDEX k_$n" -c "CREATE UNIQUE INDEX ON sbtest$n USING $am (id)" \
			-c "CREATE INDEX ON sbtest$n USING $am (k)"
	done
done
report_machine
printf 'load\tam\trun\tus\tper_second\tp99\n' >"$out"
for load in "${loads[@]}"; do
	n=$((events[$load] * scale))
	for r in $(seq 0 "$runs"); do
		for am in btree surfidx; do
			PGDATABASE=$am sql -c "VACUUM ANALYZE" -c "CHECKPOINT"
			sleep 1
			before=$(server_ticks)
			run "$am" "$load" run --threads="$threads" --events="$n" --time=0 --percentile=99 \
				>"$WORK/said" 2>&1 || { cat "$WORK/said" >&2; die "$load failed"; }
			sleep 2
			after=$(server_ticks)
			# the first run of a load fills memory
			[ "$r" -gt 0 ] || continue
			awk -v ticks="$((after - before))" -v hz="$(getconf CLK_TCK)" -v n="$n" -v OFS='\t' \
				-v load="$load" -v am="$am" -v r="$r" '
				/transactions:/ { gsub(/[(]/, ""); per = $3 }
				/99th percentile:/ { p99 = $3 }
				END { print load, am, r, ticks * 1e6 / hz / n, per, p99 }' "$WORK/said" >>"$out"
		done
	done
done
sql <<END
CREATE TABLE r (load text, am text, run int, us float8, per_second float8, p99 float8);
\copy r FROM '$out' WITH (FORMAT csv, HEADER, DELIMITER E'\t')
SELECT load, am, percentile_cont(0.5) WITHIN GROUP (ORDER BY us)::numeric(12, 1) AS "CPU, us", min(us)::numeric(12, 1),
	max(us)::numeric(12, 1), percentile_cont(0.5) WITHIN GROUP (ORDER BY per_second)::int AS "a second",
	percentile_cont(0.5) WITHIN GROUP (ORDER BY p99)::numeric(12, 2) AS "p99, ms"
FROM r GROUP BY 1, 2 ORDER BY 1, 2;
SELECT load, (percentile_cont(0.5) WITHIN GROUP (ORDER BY us) FILTER (WHERE am = 'surfidx') /
	percentile_cont(0.5) WITHIN GROUP (ORDER BY us) FILTER (WHERE am = 'btree'))::numeric(6, 3) AS "CPU of btree's"
FROM r GROUP BY 1 ORDER BY 1;
END
