#!/bin/bash
# How long locks are held in a transaction, and so how many sessions could run before one of them
# is always held.  Needs a server that counts: PostgreSQL 15 with bench/lock_times.patch.
#
#	bench/locks.sh [--rows n] [--transactions n] [--sessions "n..."] [--runs n]
#		[--ams "btree surfidx"] [--out file.tsv] [load]...
#
#	load	insert, unique			rows with random int8 keys, one a transaction
#			serial, serial-unique	with ascending ones
#			mix						half of insert, half lookups
#			default: all
#
# For each lock that is held exclusively: holds in a transaction, how long each, and together;
# waits for it and how long they took; and how many sessions keep it held all the time, which is
# CPU of a transaction by the time it is held in one.  That bound is of sessions that do nothing
# else, on as many processors.  Pages of a kind are taken together: of "index pages" all are one
# lock after the other where keys ascend and in surfidx (the log's last page), and many different
# ones in a btree of random keys; of the eight locks of WAL insertion an eighth counts.  What a
# merge worker does to the image is in it, its pages are not.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh
. bench/server.sh

rows=300000
transactions=100000
sessions="1 8"
runs=3
ams="btree surfidx"
out=$PWD/build/locks.tsv

take_options "rows transactions sessions runs ams out" "$@"
loads=${words[*]:-insert unique serial serial-unique mix}

# make_table load am
make_table()
{
	local key="hashint8extended(n, 1)" unique=

	[[ $1 != serial* ]] || key=n
	[[ $1 != *unique ]] || unique=UNIQUE
	sql -c "DROP TABLE IF EXISTS t" -c "DROP SEQUENCE IF EXISTS t_n" \
		-c "CREATE TABLE t (k int8)" -c "CREATE SEQUENCE t_n START $((rows + 1)) CACHE 100" \
		-c "INSERT INTO t SELECT $key FROM generate_series(1, $rows) n" \
		-c "CREATE $unique INDEX t_k ON t USING $2 (k)" \
		-c "VACUUM (FREEZE, ANALYZE) t" -c CHECKPOINT
	echo "INSERT INTO t SELECT $key FROM nextval('t_n') n;" >"$WORK/insert.sql"
	printf '%s\n' "\\set n random(1, $rows)" \
		"SELECT k FROM t WHERE k = hashint8extended(:n::int8, 1);" >"$WORK/read.sql"
	scripts=(-f "$WORK/insert.sql@1")
	[ "$1" != mix ] || scripts+=(-f "$WORK/read.sql@1")
}

file_of()
{
	psql -X -A -t -c "SELECT pg_relation_filenode('$1')"
}

# What sessions, and images of others, have left in $WORK/times
lines()
{
	local f

	for f in "$WORK"/times/*; do
		awk '{ line[NR] = $0; if ($1 == "XidGen" && $5 > 1000) all = 1 }
			END {
				for (i = 1; i <= NR; i++)
					if (all || line[i] ~ /^surfidx_image /)
						print line[i]
			}' "$f"
	done
}

# held load am sessions ticks: the same by kind of lock, for a transaction
held()
{
	lines | awk -v OFS='\t' -v load="$1" -v am="$2" -v sessions="$3" -v n="$transactions" \
		-v cpu="$(awk "BEGIN { print $4 * 1e9 / $(getconf CLK_TCK) / $transactions }")" \
		-v index_file="$(file_of t_k)" -v table_file="$(file_of t)" '
		{
			split($2, at, "/")
			lock = $1
			if (lock == "BufferContent" && at[1] == table_file)
				lock = "table pages"
			else if (lock == "BufferContent" && at[1] == index_file)
				lock = at[3] == 0 ? "index, first page" : "index pages"
			else if (lock == "BufferContent")
				lock = "other pages"
			waits[lock] += $7
			waited[lock] += $8
			if ($4 != "exclusive")
				next
			holds[lock] += $5
			ns[lock] += $6
		}
		END {
			for (lock in ns) {
				each = ns[lock] / n / (lock == "WALInsert" ? 8 : 1)
				if (each >= 20 && lock != "LockFastPath")
					print load, am, sessions, lock, holds[lock] / n, ns[lock] / holds[lock],
						each, waits[lock] / n, waited[lock] / n, cpu / each
			}
		}'
}

# measure load sessions am
measure()
{
	local ticks

	PGOPTIONS="-c client_min_messages=error" make_table "$1" "$3"
	rm -f "$WORK"/times/*
	ticks=$(server_ticks)
	"$BINDIR/pgbench" -n -M prepared -c "$2" -j 2 -t $((transactions / $2)) "${scripts[@]}" \
		>"$WORK/pgbench.out" 2>&1 || die "$(cat "$WORK/pgbench.out")"
	ticks=$(($(server_ticks) - ticks))
	[ -n "$(ls "$WORK/times")" ] || die "this server does not count: see the head of $0"
	held "$1" "$3" "$2" "$ticks" | sql -c "COPY held FROM STDIN"
}

own_cluster locks "shared_buffers = 1GB" "autovacuum = off" "synchronous_commit = off" \
	"max_wal_size = 16GB" "checkpoint_timeout = 1h" "max_connections = 200"
mkdir -m 777 "$WORK/times"
export LWLOCK_TIMES=$WORK/times
as_user "$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -m fast -w restart >/dev/null
sql <<'END'
CREATE EXTENSION surfidx;
CREATE TABLE held (load text, am text, sessions int, lock text, holds float8, each float8,
	ns float8, waits float8, waited float8, bound float8);
CREATE FUNCTION middle(float8[]) RETURNS float8 LANGUAGE sql AS
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM unnest($1) x';
CREATE AGGREGATE median(float8) (SFUNC = array_append, STYPE = float8[], FINALFUNC = middle);
END
for ((i = 0; i < runs; i++)); do
	for load in $loads; do
		for n in $sessions; do
			for am in $ams; do
				measure "$load" "$n" "$am"
			done
		done
	done
done
sql -P footer=off -P border=0 <<'END'
SELECT load, sessions, am, lock, median(holds)::numeric(8, 2) AS holds, median(each)::int AS each,
	median(ns)::int AS ns, min(ns)::int AS least, max(ns)::int AS most,
	median(waits)::numeric(8, 4) AS waits, median(waited)::int AS waited,
	median(bound)::int AS bound
FROM held GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, bound
END
mkdir -p "$(dirname "$out")"
sql -c "COPY held TO STDOUT WITH (FORMAT csv, DELIMITER E'\t', HEADER)" >"$out"
echo "# $out, $SECONDS s"
