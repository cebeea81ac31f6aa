#!/bin/bash
# The appendices of the paper on hybrid indexes, inside PostgreSQL: when to merge, and tables with
# many secondary indexes.
#
#	bench/hybrid.sh [--rows n] [--transactions n] [--clients n] [--runs n] [--ratios "n..."]
#		[--sizes "kB..."] [--indexes "n..."] [--out file.tsv] [ratio | size | indexes]...
#
#	ratio		merge_ratio as --ratios say (default "0.01 0.03 0.1 0.3 1"), delta_size 32 MB
#	size		delta_size as --sizes say (default "256 1024 4096 16384 32768"), merge_ratio 10
#	indexes		a table with --indexes (default "1 2 4 8") secondary ones beside a unique one on a
#				serial number, as the settings come
#	--rows n			before (default 300000; of indexes a third)
#	--transactions n	each of ten inserted rows (default: two thirds of the rows)
#	--clients n			default 2
#
# Keys are random int8; btree and surfidx take turns, all with new tables after a checkpoint.  Rows
# per second, latency of transactions (99 %, 99.9 % and the longest: pauses are there), CPU of all
# server processes and WAL per row, both with the merge of what is left in the delta at the end; how
# many merges there were before that; CPU of a lookup beside the delta that is there then.  Needs
# Linux (/proc).

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh
. bench/server.sh

rows=300000
transactions=
clients=2
runs=3
ratios="0.01 0.03 0.1 0.3 1"
sizes="256 1024 4096 16384 32768"
indexes="1 2 4 8"
out=$PWD/build/hybrid.tsv

take_options "rows transactions clients runs ratios sizes indexes out" "$@"
transactions=${transactions:-$((rows / 15))}
parts=
for word in "${words[@]}"; do
	case $word in
		ratio | size | indexes) parts="$parts $word" ;;
		*) what_is "$word" ;;
	esac
done
parts=${parts:-ratio size indexes}

# fill columns rows: a table t with a serial number and so many columns of random keys
fill()
{
	local columns insert

	columns=$(seq -s ', ' -f 'c%g int8' "$1")
	insert="INSERT INTO t (${columns// int8/}) SELECT $(random_keys "$1") FROM generate_series"
	sql -c "DROP TABLE IF EXISTS t" -c "CREATE TABLE t (id serial, $columns)" -c "$insert(1, $2)"
	echo "$insert(1, 10);" >"$WORK/insert.sql"
	printf '\\set n random(1, %s)\n' "$2" >"$WORK/lookup.sql"
	echo "SELECT id FROM t WHERE c1 = hashint8extended(:n, 1) + 1;" >>"$WORK/lookup.sql"
	# rows that lookups find
	sql -c "UPDATE t SET c1 = hashint8extended(id, 1) + 1" -c "VACUUM FULL t"
}

random_keys()
{
	# shellcheck disable=SC2046
	printf '((random() - 0.5) * 1.8e19)::int8 /* %s */\n' $(seq "$1") | paste -s -d ,
}

# clients script transactions [option]...
pgbench_of()
{
	local script=$1 n=$2

	shift 2
	"$BINDIR/pgbench" -n -M prepared -c "$clients" -j 2 -t $((n / clients)) \
		-f "$WORK/$script.sql" "$@" >"$WORK/pgbench.out" 2>&1 ||
		{ cat "$WORK/pgbench.out" >&2; die "pgbench failed"; }
}

# quantiles of the logs of pgbench, in ms
latency()
{
	cat "$WORK"/log.* | awk '{ print $3 }' | sort -n | awk -v q="$1" '
		{ t[NR] = $1 }
		END { i = int(NR * q + 0.5); if (i < 1) i = 1; print t[i] / 1000 }'
}

merges()
{
	sql -A -t -c "SELECT coalesce(sum((surfidx_meta(indexrelid::regclass)).merges), 0)
		FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam
		WHERE indrelid = 't'::regclass AND amname = 'surfidx'"
}

# measure key_set am
measure()
{
	local wal ticks insert lookup last from n merged inserted

	sql -c "VACUUM ANALYZE t" -c CHECKPOINT
	rm -f "$WORK"/log.*
	wal=$(sql -A -t -c "SELECT pg_current_wal_lsn()")
	merged=$(merges)
	ticks=$(server_ticks)
	from=$(date +%s%N)
	pgbench_of insert "$transactions" -l --log-prefix="$WORK/log"
	n=$(($(date +%s%N) - from))
	insert=$(($(server_ticks) - ticks))
	merged=$(($(merges) - merged))
	ticks=$(server_ticks)
	pgbench_of lookup "$transactions"
	lookup=$(($(server_ticks) - ticks))
	ticks=$(server_ticks)
	sql >/dev/null -c "SELECT surfidx_merge(indexrelid::regclass)
		FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam
		WHERE indrelid = 't'::regclass AND amname = 'surfidx'"
	last=$(($(server_ticks) - ticks))
	inserted=$((transactions / clients * clients * 10))
	sql -v s="$1" -v am="$2" -v rows="$rows" -v n="$inserted" -v hz="$(getconf CLK_TCK)" \
		-v ns="$n" -v insert="$insert" -v last="$last" -v lookup="$lookup" -v wal="$wal" \
		-v merged="$merged" -v p99="$(latency 0.99)" -v p999="$(latency 0.999)" \
		-v longest="$(latency 1)" -v load="$(cut -d ' ' -f 1 /proc/loadavg)" <<-'END'
		INSERT INTO result
		SELECT :'s', :rows, metric, :'am', value
		FROM (VALUES ('rows per second', :n * 1e9 / :ns),
			('99 % of transactions within, ms', :p99),
			('99.9 % of transactions within, ms', :p999),
			('longest transaction, ms', :longest),
			('CPU, us per row', (:insert + :last) * 1e6 / :hz / :n),
			('... of the merge at the end', :last * 1e6 / :hz / :n),
			('WAL, bytes per row', (pg_current_wal_lsn() - :'wal')::float8 / :n),
			('merges', :merged),
			('CPU, us per lookup', :lookup * 1e6 / :hz / (:n / 10)),
			('indexes, MB', pg_indexes_size('t') / 1e6),
			('load of the machine', :load)) v (metric, value);
	END
}

# one_index key_set am parameters
one_index()
{
	fill 1 "$rows"
	sql -c "CREATE INDEX t_c1 ON t USING $2 (c1) $3"
	measure "$1" "$2"
}

many_indexes()
{
	local i

	fill 8 $((rows / 3))
	sql -c "CREATE UNIQUE INDEX t_id ON t USING $2 (id)"
	for i in $(seq "$1"); do
		sql -c "CREATE INDEX t_c$i ON t USING $2 (c$i)"
	done
	measure "$1 secondary indexes" "$2"
}

run_part()
{
	local x am

	case $1 in
		ratio)
			one_index "btree" btree
			for x in $ratios; do
				one_index "merge_ratio $x" surfidx "WITH (delta_size = 32768, merge_ratio = $x)"
			done
			;;
		size)
			one_index "btree" btree
			for x in $sizes; do
				one_index "delta_size $(printf %5d "$x") kB" surfidx \
					"WITH (merge_ratio = 10, delta_size = $x)"
			done
			;;
		indexes)
			for x in $indexes; do
				for am in btree surfidx; do
					many_indexes "$x" $am
				done
			done
			;;
	esac
}

own_cluster hybrid "shared_buffers = 512MB" "max_parallel_workers_per_gather = 0" \
	"maintenance_work_mem = 64MB" "autovacuum = off" "fsync = on" "synchronous_commit = off" \
	"max_wal_size = 16GB" "checkpoint_timeout = 1h" "surfidx.delta_memory = 256MB"
sql -c "CREATE EXTENSION surfidx" \
	-c "CREATE TABLE result (key_set text, entries int8, metric text, am text, value float8)"
report_machine
echo "# $rows rows, $transactions transactions of ten rows, $clients clients"
for part in $parts; do
	for _ in $(seq "$runs"); do
		run_part "$part"
	done
done
sql -P footer=off -P border=0 <<'END'
SELECT key_set, metric, am,
	percentile_cont(0.5) WITHIN GROUP (ORDER BY value)::numeric(12, 2) AS median,
	min(value)::numeric(12, 2) AS least, max(value)::numeric(12, 2) AS greatest
FROM result GROUP BY 1, 2, 3 ORDER BY 2, 1, 3;
END
report_runs "$out" "SELECT * FROM result"
