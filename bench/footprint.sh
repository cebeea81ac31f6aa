#!/bin/bash
# Instructions, and misses of a first cache of 32 kB for them, of the statements that sysbench's
# oltp_read_write sends: how much code each takes.  Counted by valgrind (callgrind) in a server of one
# session, so whatever else the machine does changes nothing.
#
#	bench/footprint.sh [--rows n] [--transactions n] [--ams "btree surfidx"] [--out file.tsv] [statement]...
#
#	statement	point, range, sum, order, distinct (of 100 rows), update_index, update, transaction,
#				append (a row above all others), beside (append, then point); default: point range
#				update_index transaction.  everyday: what applications ask of a shop, planned each
#				time (tables of everyday.sql; or one of them, named in footprint.pl)
#
# Each is counted for n and for 2n of them; the difference is of n that came when all was in memory.
# "method" is the part inside of nbtree's functions or of surfidx.so.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=100000
transactions=100
ams="btree surfidx"
out=$PWD/build/footprint.tsv
take_options "rows transactions ams out" "$@"
command -v valgrind >/dev/null || die "valgrind is not installed"

# count am statement n: instructions, misses; the same of the method
count()
{
	rm -rf "$WORK/copy" && cp -a "$WORK/data.$1" "$WORK/copy"
	perl bench/footprint.pl statements "$2" "$3" "$rows" >"$WORK/statements"
	as_user valgrind --tool=callgrind --callgrind-out-file="$WORK/copy/counted" --cache-sim=yes \
		--I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64 "$BINDIR/postgres" --single -D "$WORK/copy" postgres \
		<"$WORK/statements" >"$WORK/said" 2>&1
	! grep -m1 -E "ERROR|FATAL" "$WORK/said" >&2 || die "a statement failed"
	callgrind_annotate --auto=no --threshold=100 "$WORK/copy/counted" | perl bench/footprint.pl sums
}

everyday=" $(perl bench/footprint.pl everyday) "
statements=${words[*]:-point range update_index transaction}
statements=${statements/everyday/$everyday}
shop=
for statement in $statements; do
	[[ $everyday != *" $statement "* ]] || shop=yes
done
own_cluster made "autovacuum = off" "shared_buffers = 256MB"
for am in $ams; do
	sql -c "CREATE EXTENSION IF NOT EXISTS surfidx" -c "CREATE TABLE s (id int, k int, c char(120), pad char(60))" -c "SELECT setseed(0.5)" \
		-c "INSERT INTO s SELECT i, 1 + random() * $rows, repeat(md5(i::text), 3), md5(i::text) FROM generate_series(1, $rows) i" \
		-c "CREATE UNIQUE INDEX ON s USING $am (id)" -c "CREATE INDEX ON s USING $am (k)" >/dev/null
	[ -z "$shop" ] || sql -q -v am="$am" -f bench/everyday.sql >/dev/null 2>&1
	# in a session of its own: what the first one has written is counted before
	sql -c "VACUUM (FREEZE, ANALYZE)"
	cluster_stop
	cp -a "$PGDATA" "$WORK/data.$am"
	as_user "$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -w start >/dev/null
	CLUSTER_RUNNING=$PGDATA
	sql -c "DROP TABLE IF EXISTS s, customers, orders, items" 2>/dev/null
done
cluster_stop
printf 'am\tstatement\tinstructions\tmisses\tmethod\tmethod_misses\n' >"$out"
for statement in $statements; do
	for am in $ams; do
		first=$(count "$am" "$statement" "$transactions")
		second=$(count "$am" "$statement" $((2 * transactions)))
		# shellcheck disable=SC2086
		echo $first $second | awk -v n="$transactions" -v am="$am" -v s="$statement" -v OFS='\t' \
			'{ print am, s, int(($5 - $1) / n), int(($6 - $2) / n), int(($7 - $3) / n), int(($8 - $4) / n) }' >>"$out"
	done
done
column -t "$out"
