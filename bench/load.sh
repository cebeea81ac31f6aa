#!/bin/bash
# pgbench's clients beside one index: YCSB A to F with uniform, Zipf's and latest keys, TPC-B, order entry, and the ingest of a time series.
#
#	bench/load.sh [--rows n] [--transactions n] [--clients "n..."] [--runs n] [--buffers size] [--memory size] [--ams "btree surfidx"]
#		[--keys "int8 email uuid"] [--choice "uniform zipf latest"] [--out file.tsv] [load]...
#
#	load			a b c d e f (YCSB), tpcb, orders (bench/orders.sql), tpcb-keys, orders-keys (with primary
#					keys of the method, and foreign keys), series; default: all
#	--rows n		rows of the table before (default 1000000); of orders: order lines, of which a warehouse has 300,000
#	--transactions	of each measurement (default 100000)
#	--clients		of pgbench (default 4); if there are several numbers, all with each of them
#	--buffers size	shared_buffers (default 1GB); a small one makes the index larger than memory
#	--memory size	of the whole server, page cache included, by a control group where this machine allows one; says so if it does not
#	--ams			access methods; hash does not do e and series
#
# a: half reads, half updates; b: 5 % updates; c: reads; d: reads of the latest rows, 5 % inserts; e: ranges of up to 100 rows, 5 % inserts; f: half reads, half
# reads with an update of what was read.  Keys are in no order of the rows (but in series: sensor and time).  latest: Zipf's choice counted from the newest
# row on; d takes no other one.  Zipf's parameter is 1.01, the least but one that pgbench has.
#
# For each: CPU of all server processes, background ones included, WAL, and pages read from outside of shared_buffers, per transaction (and with --memory
# those that were read from the disk again); by the clock transactions a second, and how long the
# 99th of 100 and the slowest took, which only a quiet machine tells (a full delta is merged
# meanwhile if a tenth of the rows comes in); medians over the runs, access methods in turn.  What the table takes is in it, and surfidx' merge at the end, however small
# the delta is by then: what that takes is told apart.  Needs Linux (/proc).

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh
. bench/memory.sh
. bench/server.sh

rows=1000000
transactions=100000
clients=4
runs=3
buffers=1GB
memory=
ams="btree surfidx"
keys="int8 email uuid"
choice="uniform zipf latest"
loads=
out=$PWD/build/load.tsv

take_options "rows transactions clients runs buffers memory ams keys choice out" "$@"
choices=$choice
all_clients=$clients
for word in "${words[@]}"; do
	case $word in
		a | b | c | d | e | f | tpcb | orders | tpcb-keys | orders-keys | series)
			loads="$loads $word" ;;
		*) what_is "$word" ;;
	esac
done
[ "$rows" -ge 1000 ] && [ "$runs" -ge 1 ] || die "--rows must be at least 1000, --runs 1"
for clients in $all_clients; do
	[ "$transactions" -ge "$clients" ] || die "--transactions must be at least as many as clients"
done
loads=${loads:-a b c d e f tpcb orders tpcb-keys orders-keys series}

# ---- tables and scripts ----

# key_of kind expression: the key of row number expression, in no order
key_of()
{
	case $1 in
		int8) echo "hashint8extended($2, 1)" ;;
		email) echo "('user' || (hashint8extended($2, 1) & 4294967295) || '@' || (array['example.org','mail.example.com','example.net'])[(1 + $2 % 3)::int])::text COLLATE \"C\"" ;;
		uuid) echo "md5(($2)::text)::uuid" ;;
	esac
}

type_of()
{
	case $1 in
		email) echo 'text COLLATE "C"' ;;
		*) echo "$1" ;;
	esac
}

# make_table keys: t (k, v), numbered from 1 on by a sequence
make_table()
{
	sql -c "DROP TABLE IF EXISTS t" -c "DROP SEQUENCE IF EXISTS t_n" -c "CREATE TABLE t (k $(type_of "$1"), v text)" \
		-c "INSERT INTO t SELECT $(key_of "$1" g::int8), repeat('x', 100) FROM generate_series(1, $rows) g" \
		-c "CREATE SEQUENCE t_n START $((rows + 1))"
}

# write_scripts keys choice: read, update, insert, scan and modify in $WORK
write_scripts()
{
	local n=":n::int8"

	case $2 in
		uniform) echo "\\set n random(1, $rows)" ;;
		zipf) echo "\\set n random_zipfian(1, $rows, 1.01)" ;;
		latest)
			echo "\\set n random_zipfian(1, $rows, 1.01)"
			n="((SELECT last_value FROM t_n) - :n)::int8"
			;;
	esac >"$WORK/choose"
	{ cat "$WORK/choose"; echo "SELECT v FROM t WHERE k = $(key_of "$1" "$n");"; } >"$WORK/read.sql"
	{ cat "$WORK/choose"; echo "UPDATE t SET v = repeat('y', 100) WHERE k = $(key_of "$1" "$n");"; } >"$WORK/update.sql"
	{ cat "$WORK/read.sql"; echo "UPDATE t SET v = repeat('z', 100) WHERE k = $(key_of "$1" "$n");"; } >"$WORK/modify.sql"
	{ cat "$WORK/choose"; echo "\\set m random(1, 100)"; echo "SELECT v FROM t WHERE k >= $(key_of "$1" "$n") ORDER BY k LIMIT :m;"; } >"$WORK/scan.sql"
	echo "INSERT INTO t SELECT $(key_of "$1" n), repeat('x', 100) FROM nextval('t_n') n;" >"$WORK/insert.sql"
}

scripts_of()
{
	case $1 in
		a) echo "read@50 update@50" ;;
		b) echo "read@95 update@5" ;;
		c) echo "read@1" ;;
		d) echo "read@95 insert@5" ;;
		e) echo "scan@95 insert@5" ;;
		f) echo "read@50 modify@50" ;;
		series) echo "ingest@9 window@1" ;;
	esac
}

# ---- measuring ----

# took_of_log: how long transactions took, by pgbench's logs: the 99th of 100 and the slowest, in ms
took_of_log()
{
	cat "$WORK"/took/* | awk '{ print $3 }' | sort -n | awk '{ took[NR] = $1 }
		END { printf "%.3f %.3f\n", took[int((NR * 99 + 99) / 100)] / 1000, took[NR] / 1000 }'
}

# measure key_set am script...: one run, into table result
measure()
{
	local set=$1 am=$2 wal read ticks last refaults took

	shift 2
	[ "$all_clients" = "$clients" ] || set="$set, $clients clients"
	rm -rf "$WORK/took" && mkdir "$WORK/took"
	sql -c CHECKPOINT -c "SELECT pg_stat_reset()" >/dev/null
	wal=$(psql -X -A -t -c "SELECT pg_current_wal_lsn()")
	refaults=$(memory_refaults)
	ticks=$(server_ticks)
	"$BINDIR/pgbench" -n -M prepared -c "$clients" -j 2 -t $((transactions / clients)) \
		-l --log-prefix="$WORK/took/log" "$@" >"$WORK/pgbench.out" 2>&1 || { cat "$WORK/pgbench.out"; die "pgbench failed"; }
	last=$(server_ticks)
	[ "$am" != surfidx ] || sql -c "SELECT surfidx_merge(indexrelid::regclass) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam WHERE amname = 'surfidx'" >/dev/null
	last=$(($(server_ticks) - last))
	ticks=$(($(server_ticks) - ticks))
	refaults=$(($(memory_refaults) - refaults))
	took=$(took_of_log)
	sleep 1		# statistics come late
	read=$(psql -X -A -t -c "SELECT blks_read FROM pg_stat_database WHERE datname = current_database()")
	sql -v s="$set" -v am="$am" -v t="$transactions" -v ticks="$ticks" -v hz="$(getconf CLK_TCK)" -v wal="$wal" -v read="$read" \
		-v tps="$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$WORK/pgbench.out")" \
		-v p99="${took% *}" -v most="${took#* }" <<-'END'
		INSERT INTO result VALUES (:'s', 'CPU, us per transaction', :'am', :ticks::float8 * 1e6 / :hz / :t),
			(:'s', 'transactions a second', :'am', :tps),
			(:'s', 'latency of the 99th of 100, ms', :'am', :p99),
			(:'s', 'latency of the slowest, ms', :'am', :most),
			(:'s', 'WAL, bytes per transaction', :'am', pg_wal_lsn_diff(pg_current_wal_lsn(), :'wal') / :t),
			(:'s', 'pages read, per transaction', :'am', :read::float8 / :t),
			(:'s', 'index size, MB', :'am', (SELECT sum(pg_relation_size(indexrelid)) / 1048576.0 FROM pg_index i JOIN pg_class t ON t.oid = indrelid
				JOIN pg_am a ON a.oid = (SELECT relam FROM pg_class WHERE oid = indexrelid)
				WHERE t.relnamespace IN ('public'::regnamespace, to_regnamespace('orders')) AND amname = :'am' AND (:'s' LIKE '%keys' OR NOT indisprimary)));
	END
	[ "$am" != surfidx ] || sql -c "INSERT INTO result VALUES ('$set', 'CPU of the merge at the end, us per transaction', '$am', $last * 1e6 / $(getconf CLK_TCK) / $transactions)"
	[ -z "$MEMORY_GROUP" ] || sql -c "INSERT INTO result VALUES ('$set', 'pages read again from disk, per transaction', '$am', $refaults::float8 / $transactions)"
}

# run_load load keys choice
run_load()
{
	local set="$1 $2 $3" am i args=() s

	for s in $(scripts_of "$1"); do
		args+=(-f "$WORK/${s%@*}.sql@${s#*@}")
	done
	for ((i = 0; i < runs; i++)); do
		for am in $ams; do
			[[ $am != hash || $1 != e ]] || continue
			make_table "$2"
			sql -c "CREATE INDEX t_k ON t USING $am (k)" -c "VACUUM (FREEZE, ANALYZE) t"
			measure "$set" "$am" "${args[@]}"
		done
	done
}

run_tpcb()
{
	local am i

	for ((i = 0; i < runs; i++)); do
		for am in $ams; do
			"$BINDIR/pgbench" -i -q -s $((rows / 100000 > 0 ? rows / 100000 : 1)) -I dtgv >/dev/null 2>&1
			sql -c "CREATE INDEX accounts_aid ON pgbench_accounts USING $am (aid)" -c "VACUUM ANALYZE pgbench_accounts"
			measure "tpcb" "$am" -b tpcb-like
		done
	done
	"$BINDIR/pgbench" -i -I d >/dev/null 2>&1
}

# As "pgbench -i --foreign-keys" makes it where surfidx.in_place_of_btree is on.  Before 18 that
# leaves primary keys alone, so they are exchanged before the foreign keys are made.
run_tpcb_keys()
{
	local am i scale=$((rows / 100000 > 0 ? rows / 100000 : 1)) place t

	for ((i = 0; i < runs; i++)); do
		for am in $ams; do
			[ "$am" != hash ] || continue
			[ "$am" = surfidx ] && place=all || place=off
			PGOPTIONS="$PGOPTIONS -c surfidx.in_place_of_btree=$place" "$BINDIR/pgbench" \
				-i -q -s $scale -I dtgvp >/dev/null 2>&1
			for t in branches:bid tellers:tid accounts:aid; do
				[ "$am" = surfidx ] && psql -X -At -c "SELECT relam <> 403 FROM pg_class
					WHERE relname = 'pgbench_${t%:*}_pkey'" | grep -q f || continue
				sql -c "ALTER TABLE pgbench_${t%:*} DROP CONSTRAINT pgbench_${t%:*}_pkey,
					ADD PRIMARY KEY (${t#*:}) WITH (access_method = surfidx)"
			done
			"$BINDIR/pgbench" -i -q -I f >/dev/null 2>&1
			sql -c "VACUUM ANALYZE pgbench_accounts, pgbench_branches, pgbench_tellers"
			measure tpcb-keys "$am" -b tpcb-like
		done
	done
	"$BINDIR/pgbench" -i -I d >/dev/null 2>&1
}

# The sizes of all its indexes, too.  run_orders [keys]: primary and foreign keys
run_orders()
{
	local name=orders${1:+-$1} am i t args=()
	local weights=(enter_order@45 pay@43 order_status@4 deliver@4 stock_level@4)
	local warehouses=$((rows / 300000 > 0 ? rows / 300000 : 1))

	sql -f bench/orders.sql
	for t in "${weights[@]}"; do
		printf '%s\n' "\\set w random(1, $warehouses)" "SELECT orders.${t%@*}(:w);" >"$WORK/${t%@*}.sql"
		args+=(-f "$WORK/${t%@*}.sql@${t#*@}")
	done
	for ((i = 0; i < runs; i++)); do
		for am in $ams; do
			[ "$am" != hash ] || continue
			sql -c "SET search_path = orders" -c "CALL drop_keys()" -c "CALL fill($warehouses)" \
				-c "CALL make_${1:-indexes}('$am')" -c "VACUUM (FREEZE, ANALYZE)"
			PGOPTIONS="$PGOPTIONS -c search_path=orders,public" measure "$name" "$am" "${args[@]}"
			sql -c "INSERT INTO result SELECT '$name: ' || relname, 'index size, MB', '$am', pg_relation_size(oid) / 1048576.0 FROM pg_class
				WHERE relnamespace = 'orders'::regnamespace AND relkind = 'i' AND relname NOT LIKE 'warehouse%' AND relname NOT LIKE 'district%'"
		done
	done
	sql -c "DROP SCHEMA orders CASCADE"
}

# Readings of 2,000 sensors, 20 in each transaction; one in ten asks for the last rows of one sensor.
run_series()
{
	local am i

	cat >"$WORK/ingest.sql" <<-'END'
		\set s random(1, 2000)
		INSERT INTO reading SELECT (:s + g * 97) % 2000, clock_timestamp(), g FROM generate_series(1, 20) g;
	END
	cat >"$WORK/window.sql" <<-'END'
		\set s random(0, 1999)
		SELECT avg(value) FROM (SELECT value FROM reading WHERE sensor = :s ORDER BY at DESC LIMIT 100) x;
	END
	for ((i = 0; i < runs; i++)); do
		for am in $ams; do
			[ "$am" != hash ] || continue
			sql -c "DROP TABLE IF EXISTS reading" -c "CREATE TABLE reading (sensor int, at timestamptz, value float8)" \
				-c "INSERT INTO reading SELECT g % 2000, now() - (($rows - g) * interval '1 ms'), g FROM generate_series(1, $rows) g" \
				-c "CREATE INDEX reading_sensor_at ON reading USING $am (sensor, at)" -c "VACUUM (FREEZE, ANALYZE) reading"
			measure series "$am" -f "$WORK/ingest.sql@9" -f "$WORK/window.sql@1"
		done
	done
	sql -c "DROP TABLE reading"
}

own_cluster load "shared_buffers = $buffers" "jit = off" "max_parallel_workers_per_gather = 0" \
	"maintenance_work_mem = $([ -n "$memory" ] && echo 16 || echo 256)MB" \
	"max_wal_size = 16GB" "checkpoint_timeout = 1h"
trap 'leave; memory_release' EXIT
[ -z "$memory" ] || memory_limit "$memory" || true
sql -c "CREATE EXTENSION surfidx" -c "CREATE TABLE result (key_set text, metric text, am text, value float8)"
echo "# PostgreSQL $(psql -X -A -t -c "SHOW server_version"), $(nproc) CPUs, $rows rows, shared_buffers $buffers${MEMORY_GROUP:+, memory $memory}, $all_clients clients, $transactions transactions, median of $runs"
for clients in $all_clients; do
	for load in $loads; do
		case $load in
			tpcb) run_tpcb ;;
			orders) run_orders ;;
			tpcb-keys) run_tpcb_keys ;;
			orders-keys) run_orders keys ;;
			series) run_series ;;
			*)
				for k in $keys; do
					for choice in $choices; do
						[[ $load != d || $choice = latest ]] || continue
						write_scripts "$k" "$choice"
						run_load "$load" "$k" "$choice"
					done
				done
				;;
		esac
	done
done
sql -c "CREATE VIEW summary AS SELECT key_set, metric, am, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median, min(value), max(value), count(*) AS runs
	FROM result GROUP BY 1, 2, 3"
sql -P footer=off -P border=0 -c "SELECT key_set AS load, metric, string_agg(format('%s %s', am, median::numeric(12, 2)), ', ' ORDER BY am) AS medians,
	(max(median) FILTER (WHERE am = 'surfidx') / nullif(max(median) FILTER (WHERE am = 'btree'), 0))::numeric(10, 2) AS ratio FROM summary GROUP BY 1, 2 ORDER BY 1, 2"
report_runs "$out" "SELECT key_set, $rows AS entries, metric, am, value FROM result"
