#!/bin/bash
# Data that outgrow memory, as in the papers on hybrid and elastic indexes: a server with a limit of
# memory by a control group, in which at first all fits.
#
#	bench/outgrow.sh [--memory size] [--buffers size] [--steps "n..."] [--shares "1/n..."]
#		[--secs n] [--warm n] [--runs n] [--clients n] [--ams "btree full cut elastic"]
#		[--keys "email int8 uuid"] [--limit kB] [--out file.tsv] [load]...
#
#	load		voter (a vote, after a look at how often that phone has voted), articles (read with
#				their comments by indexes, and written), orders (bench/orders.sql), ycsb (C,
#				lookups, then A, half updates, uniform; of each kind of keys); default: all
#	--memory	of the whole server, page cache included (default 96MB)
#	--buffers	shared_buffers (default 16MB)
#	--steps		sizes of the database with btree, in multiples of that memory (default "0.4 0.6 0.8
#				1.2 2 4"); orders take whole warehouses of some 95 MB, and one at least
#	--shares	after the last step: memory for such a share of that database, and 24 MB for the
#				server itself (default "1/8 1/4 1/2 1"; "" for none)
#	--secs, --runs	of each measurement (default 3 and 3), after --warm seconds (default 3)
#	--ams		full: surfidx; cut: with keys = cut; elastic: with size_limit = --limit (of each
#				index; default: an eighth of the memory)
#
# Each step, for each access method in turn: the server begins anew, reads its tables and indexes,
# rows are inserted up to the step's number, VACUUM, a checkpoint, and pgbench.  For each:
# transactions per second (by the clock: with the machine's load), CPU of all server processes, pages
# of files that were read again from disk (memory.sh; whatever else the machine does), pages from
# outside of shared_buffers by indexes and tables, rows that were visited because keys are cut, WAL,
# sizes.  Growth is measured per row.  Where a method reads 0.1 pages again per transaction it is
# said to fall off.  What cannot be measured because the limit ends processes is told, and left out.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh
. bench/memory.sh
. bench/server.sh

memory=96MB
buffers=16MB
steps="0.4 0.6 0.8 1.2 2 4"
shares="1/8 1/4 1/2 1"
secs=3
warm=3
runs=3
clients=4
ams="btree full cut elastic"
keys=email
limit=
out=$PWD/build/outgrow.tsv

take_options "memory buffers steps shares secs warm runs clients ams keys limit out" "$@"
loads=
for word in "${words[@]}"; do
	case $word in
		voter | articles | orders | ycsb) loads="$loads $word" ;;
		*) what_is "$word" ;;
	esac
done
loads=${loads:-voter articles orders ycsb}
bytes=$(numfmt --from=iec "${memory%B}")
limit=${limit:-$((bytes / 8192))}
fitting=$memory		# the limit of now

# ---- what is measured ----

# bytes of a row of a load (with its share of other tables), and of its btrees
bytes_of()
{
	case $1 in
		voter) echo 110 ;;
		articles) echo 300 ;;
		orders) echo 95000000 ;;
		ycsb) case $key in email) echo 240 ;; uuid) echo 195 ;; *) echo 180 ;; esac ;;
	esac
}

# the name of the measurements of a load
set_of()
{
	[ "$1" = ycsb ] && echo "ycsb $key" || echo "$1"
}

# rows_of load step
rows_of()
{
	awk -v m="$bytes" -v s="$2" -v b="$(bytes_of "$1")" \
		'BEGIN { n = int(m * s / b); print n < 1 ? 1 : n }'
}

options_of()
{
	case $1 in
		cut) echo "WITH (keys = cut)" ;;
		elastic) echo "WITH (size_limit = $limit)" ;;
	esac
}

in_database()
{
	local PGDATABASE=$1

	shift
	PGOPTIONS="$PGOPTIONS -c bench.keys=$key" sql "$@"
}

# write_scripts: pgbench's, with :rows and :top
write_scripts()
{
	cat >"$WORK/voter.sql" <<-'END'
		\set area random(0, 299)
		\set number random(0, 9999999)
		\set c random(1, 6)
		SELECT cast_vote((201 + :area)::int8 * 10000000 + :number, :c);
	END
	printf '\\set age 1 + random_exponential(0, :rows / 10 - 1, 4)\nSELECT read_article(:age);\n' \
		>"$WORK/read_article.sql"
	printf '\\set n random(1, :rows / 20)\nSELECT read_user(:n);\n' >"$WORK/read_user.sql"
	printf '\\set age 1 + random_exponential(0, :rows / 10 - 1, 4)\n%s\n' \
		'\set n random(1, :rows / 20)' 'SELECT write_comment(:age, :n);' >"$WORK/write_comment.sql"
	printf '\\set n random(1, :rows / 20)\nSELECT write_article(:n);\n' >"$WORK/write_article.sql"
	printf '\\set n random(1, :rows)\nSELECT v FROM usertable WHERE k = %s_of(:n);\n' "$key" \
		>"$WORK/read.sql"
	printf '\\set n random(1, :rows)\nUPDATE usertable SET v = %s WHERE k = %s_of(:n);\n' \
		"repeat('y', 100)" "$key" >"$WORK/update.sql"
	for t in enter_order pay order_status deliver stock_level; do
		printf '%s\n' "\\set w random(1, :rows)" "SELECT orders.$t(:w);" >"$WORK/$t.sql"
	done
}

scripts_of()
{
	case $1 in
		voter) echo "voter@1" ;;
		articles) echo "read_article@60 read_user@10 write_comment@27 write_article@3" ;;
		orders) echo "enter_order@45 pay@43 order_status@4 deliver@4 stock_level@4" ;;
		*C) echo "read@1" ;;
		*A) echo "read@50 update@50" ;;
	esac
}

# run_clients database secs rows set: pgbench's output
run_clients()
{
	local args=() s

	for s in $(scripts_of "$4"); do
		args+=(-f "$WORK/${s%@*}.sql@${s#*@}")
	done
	PGDATABASE=$1 "$BINDIR/pgbench" -n -M prepared -c "$clients" -j 2 -T "$2" -D rows="$3" \
		"${args[@]}" >"$WORK/pgbench.out" 2>&1
}

# failed set rows am: that cannot be measured, because the limit ends processes, say
failed()
{
	echo "# $(date +%T) $1, $2, $3: FAILED: $(grep -m 1 -E 'ERROR|FATAL|WARNING|error' \
		"$WORK/pgbench.out")"
	until in_database postgres -c "SELECT 1" >/dev/null 2>&1; do sleep 1; done
}

# into counted: ticks, refaults, ns, WAL, pages of indexes and of tables from outside of
# shared_buffers, keys for which readers and merges asked the table
count()
{
	counted="$(server_ticks) $(memory_refaults) $(date +%s%N)"
	counted+=" $(in_database "$1" -A -t -F ' ' <<-'END'
		SELECT pg_stat_force_next_flush() \gset
		SELECT pg_current_wal_lsn() - '0/0', sum(idx_blks_read), sum(heap_blks_read),
			(SELECT coalesce(sum(recovered_by_readers), 0) || ' ' ||
				coalesce(sum(recovered_by_merges), 0)
			FROM pg_class c JOIN pg_am a ON a.oid = relam AND amname = 'surfidx' AND relkind = 'i',
				surfidx_leaf_keys(c.oid::regclass, 1))
		FROM pg_statio_user_tables;
	END
	)"
}

# note set rows am transactions before unit: what has been counted since, per unit
note()
{
	local b=() a=()

	read -r -a b <<<"$5"
	read -r -a a <<<"$counted"
	sql -v s="$1" -v r="$2" -v am="$3" -v n="$4" -v u="$6" -v hz="$(getconf CLK_TCK)" \
		-v us="$(((a[2] - b[2]) / 1000))" -v ticks=$((a[0] - b[0])) -v refaults=$((a[1] - b[1])) \
		-v wal=$((a[3] - b[3])) -v index=$((a[4] - b[4])) -v heap=$((a[5] - b[5])) \
		-v readers=$((a[6] - b[6])) -v merges=$((a[7] - b[7])) \
		-v load="$(cut -d ' ' -f 1 /proc/loadavg)" <<-'END'
		INSERT INTO result
		SELECT :'s', :r, metric, :'am', value
		FROM (VALUES (:'u' || 's per second', :n * 1e6 / :us),
			('CPU, us per ' || :'u', :ticks * 1e6 / :hz / :n),
			('pages read again from disk, per ' || :'u', :refaults::float8 / :n),
			('index pages not in shared_buffers, per ' || :'u', :index::float8 / :n),
			('table pages not in shared_buffers, per ' || :'u', :heap::float8 / :n),
			('rows visited by readers for cut keys, per ' || :'u', :readers::float8 / :n),
			('rows visited by merges for cut keys, per ' || :'u', :merges::float8 / :n),
			('WAL, bytes per ' || :'u', :wal::float8 / :n),
			('load of the machine', :load)) v (metric, value);
	END
	echo "# $(date +%T) $1, $2, $3: $4 ${6}s in $(((a[2] - b[2]) / 1000000)) ms," \
		"$((a[1] - b[1])) pages read again"
}

# sizes database set rows am
sizes()
{
	local mb

	mb=$(in_database "$1" -A -t -F "'), ('" <<-'END'
		SELECT 'tables, MB'', ''' || sum(pg_table_size(oid)) / 1e6,
			'indexes, MB'', ''' || sum(pg_indexes_size(oid)) / 1e6
		FROM pg_class WHERE relkind = 'r'
			AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
	END
	)
	sql -c "INSERT INTO result SELECT '$2', $3, metric, '$4', value::float8
		FROM (VALUES ('$mb')) v (metric, value)"
}

# measure database set rows am
measure()
{
	local before n now began

	run_clients "$1" "$warm" "$3" "$2" || { failed "${@:2}"; return 0; }
	for _ in $(seq "$runs"); do
		count "$1"
		before=$counted
		run_clients "$1" "$secs" "$3" "$2" || { failed "${@:2}"; return 0; }
		count "$1"
		n=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' \
			"$WORK/pgbench.out")
		# time without that of connecting
		read -r -a now <<<"$counted"
		read -r _ _ began _ <<<"$before"
		now[2]=$(awk -v began="$began" -v n="$n" '
			/^tps/ { printf "%.0f", began + 1e9 * n / $3 }' "$WORK/pgbench.out")
		counted=${now[*]}
		note "$5" "$3" "$4" "$n" "$before" transaction
	done
}

# measure_all load rows am name: all loads over these tables
measure_all()
{
	local set

	for set in $([ "$1" = ycsb ] && echo C A || echo "$1"); do
		[ "$1" != ycsb ] || set="ycsb $key $set"
		measure "$3" "$set" "$2" "$3" "$set$4"
	done
}

# ---- steps and shares ----

create()
{
	local am=surfidx

	[ "$2" != btree ] || am=btree
	sql -c "DROP DATABASE IF EXISTS \"$2\"" -c "CREATE DATABASE \"$2\""
	in_database "$2" -c "CREATE EXTENSION surfidx" -f bench/outgrow.sql
	if [ "$1" = orders ]; then
		in_database "$2" -f bench/orders.sql \
			-c "ALTER DATABASE \"$2\" SET search_path = orders, public"
	fi
	in_database "$2" -c "CALL make_$1('$am', '$(options_of "$2")')"
}

# anew am: the server, for the tables of this one
anew()
{
	server_restart "$fitting"
	server_read "$1"
}

# grow load rows am have: the rows that are missing
grow()
{
	local before

	anew "$3"
	count "$3"
	before=$counted
	in_database "$3" -c "CALL grow_$1($2)"
	count "$3"
	note "$(set_of "$1"), growth" "$2" "$3" "$(($2 - $4))" "$before" \
		"$([ "$1" = orders ] && echo warehouse || echo row)"
	in_database "$3" -c "VACUUM ANALYZE" -c CHECKPOINT
	sizes "$3" "$(set_of "$1")" "$2" "$3"
}

run_load()
{
	local am step rows have=0 size share

	write_scripts
	for am in $ams; do
		create "$1" "$am"
	done
	for step in $steps; do
		rows=$(rows_of "$1" "$step")
		[ "$rows" -gt "$have" ] || continue
		for am in $ams; do
			grow "$1" "$rows" "$am" "$have"
			measure_all "$1" "$rows" "$am" ""
		done
		have=$rows
	done
	size=$(sql -A -t -c "SELECT sum(value) * 1e6 FROM (SELECT DISTINCT metric, value FROM result
		WHERE key_set = '$(set_of "$1")' AND entries = $have AND metric ~ '^(tables|indexes)'
			AND am = '${ams%% *}') s")
	for share in $shares; do
		fitting=$(awk -v s="$size" -v f="$share" 'BEGIN { split(f, q, "/");
			printf "%d\n", (s * q[1] / (q[2] ? q[2] : 1) + 24 * 1048576) / 4096 }')
		fitting=$((fitting * 4096))
		for am in $ams; do
			anew "$am"
			measure_all "$1" "$have" "$am" ", memory $share"
		done
	done
	fitting=$memory
	for am in $ams; do
		sql -c "DROP DATABASE \"$am\""
	done
}

own_cluster outgrow "shared_buffers = $buffers" "max_parallel_workers_per_gather = 0" \
	"maintenance_work_mem = 8MB" "work_mem = 1MB" "autovacuum = off" "fsync = on" \
	"synchronous_commit = off" "max_wal_size = 16GB" "checkpoint_timeout = 1h" \
	"max_connections = 20" "surfidx.delta_memory = 16MB" "surfidx.delta_size = 1MB"
trap 'leave; memory_release' EXIT
memory_limit "$memory" || true
sql -c "CREATE TABLE result (key_set text, entries int8, metric text, am text, value float8)"
report_machine
echo "# shared_buffers $buffers${MEMORY_GROUP:+, memory $memory}, $clients clients," \
	"size_limit $limit kB"
for load in $loads; do
	for key in $([ "$load" = ycsb ] && echo "$keys" || echo int8); do
		run_load "$load"
	done
done

sql <<'END'
CREATE VIEW medians AS
SELECT key_set, entries, metric, am, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median
FROM result GROUP BY 1, 2, 3, 4;
\pset footer off
\pset border 0
SELECT key_set AS load, entries AS rows, metric,
	max(median) FILTER (WHERE am = 'btree')::numeric(12, 2) AS btree,
	max(median) FILTER (WHERE am = 'full')::numeric(12, 2) AS "full",
	max(median) FILTER (WHERE am = 'cut')::numeric(12, 2) AS cut,
	max(median) FILTER (WHERE am = 'elastic')::numeric(12, 2) AS elastic
FROM medians GROUP BY 1, 2, 3 ORDER BY 1, 3, 2;
\echo where methods fall off: rows at which a transaction reads more than 0.1 pages again
SELECT key_set AS load, am, min(entries) FILTER (WHERE median > 0.1) AS rows,
	max(entries) FILTER (WHERE median <= 0.1) AS "still without", max(entries) AS most
FROM medians WHERE metric = 'pages read again from disk, per transaction'
	AND key_set NOT LIKE '%, memory%'
GROUP BY 1, 2 ORDER BY 1, 2;
END
report_runs "$out" "SELECT * FROM result"
