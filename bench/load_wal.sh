#!/bin/bash
# WAL, CPU and size of loads at random without a checkpoint, surfidx beside btree, at default settings: a table
# of n rows with an index is doubled, or its keys are updated.
#
#	bench/load_wal.sh [--rows n] [--runs n] [--set "name = value"] [--out file.tsv] [load]...
#
#	load	int8, uuid (200 INSERTs of n / 200 rows), int8_rows, uuid_rows (n INSERTs), churn (200 UPDATEs of n / 200
#			keys, with a second index on the rows' numbers); default: all of them
#	--set	a line of the configuration

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=1000000
runs=1
set=
out=$PWD/build/load_wal.tsv
take_options "rows runs set out" "$@"
loads=("${words[@]}")
[ ${#loads[@]} -gt 0 ] || loads=(int8 uuid int8_rows uuid_rows churn)

# what each load inserts for row n, and the statement that it repeats for rows [at, at + few)
key_of()
{
	case $1 in
		int8 | int8_rows | churn) echo "hashint8extended(n, 1)" ;;
		uuid | uuid_rows) echo "md5(n::text)::uuid" ;;
		*) what_is "$1" ;;
	esac
}

# The statements of a load, one a line.
statements()
{
	local key

	key=$(key_of "$1")
	case $1 in
		churn) sql -Atc "SELECT format('UPDATE t SET k = hashint8extended(k, %s) WHERE n %% 200 = %s;', i, i * 77 % 200)
			FROM generate_series(0, 199) i" ;;
		*_rows) sql -Atc "SELECT format('INSERT INTO t VALUES (%s, %L);', n, $key)
			FROM generate_series($rows + 1, 2 * $rows) n" ;;
		*) sql -Atc "SELECT format('INSERT INTO t SELECT n, $key FROM generate_series(%s, %s) n;',
			$rows + i * ($rows / 200) + 1, $rows + (i + 1) * ($rows / 200)) FROM generate_series(0, 199) i" ;;
	esac
}

bytes() { sql -Atc "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"; }
size() { sql -Atc "SELECT pg_relation_size('t_k')"; }

for load in "${loads[@]}"; do
	key_of "$load" >/dev/null
done
own_cluster load_wal "shared_buffers = 1GB" "max_wal_size = 32GB" "checkpoint_timeout = 1h" "autovacuum = off" \
	"synchronous_commit = off" ${set:+"$set"}
sql -c "CREATE EXTENSION surfidx"
report_machine
printf 'load\tam\trun\twal\tcpu\tsize\trest\n' >"$out"
for load in "${loads[@]}"; do
	statements "$load" >"$WORK/load.sql"
	for r in $(seq "$runs"); do
		# none: what the table takes
		for am in none btree surfidx; do
			size=0 rest=0
			sql -c "DROP TABLE IF EXISTS t" -c "CREATE TABLE t AS SELECT n, $(key_of "$load") AS k FROM generate_series(1, $rows) n"
			[ "$am" = none ] || sql -c "CREATE INDEX t_k ON t USING $am (k)"
			[ "$load" != churn ] || [ "$am" = none ] || sql -c "CREATE INDEX t_n ON t USING $am (n)"
			sql -c "VACUUM ANALYZE t" -c CHECKPOINT
			sleep 1
			wal=$(bytes)
			ticks=$(server_ticks)
			sql -q -f "$WORK/load.sql" >/dev/null
			sleep 3
			ticks=$(($(server_ticks) - ticks))
			wal=$(($(bytes) - wal))
			if [ "$am" != none ]; then
				size=$(size)
				sql -c CHECKPOINT -c "VACUUM t"
				sleep 2
				sql -c "VACUUM t"
				rest=$(size)
			fi
			printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$load" "$am" "$r" "$wal" "$ticks" "$size" "$rest" >>"$out"
		done
	done
done
sql <<END
CREATE TABLE r (load text, am text, run int, wal float8, cpu float8, size float8, rest float8);
\copy r FROM '$out' WITH (FORMAT csv, HEADER, DELIMITER E'\t')
WITH m AS (SELECT load, am, percentile_cont(0.5) WITHIN GROUP (ORDER BY wal) / $rows AS wal,
	percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu) / $(getconf CLK_TCK) AS cpu,
	percentile_cont(0.5) WITHIN GROUP (ORDER BY size) AS size, percentile_cont(0.5) WITHIN GROUP (ORDER BY rest) AS rest
	FROM r GROUP BY 1, 2)
SELECT m.load, m.am, m.wal::numeric(12, 1) AS "WAL a row", (m.wal - n.wal)::numeric(12, 1) AS "without the table's",
	((m.wal - n.wal) / nullif(b.wal - n.wal, 0))::numeric(6, 2) AS "of btree's", m.cpu::numeric(8, 1) AS "CPU, s",
	(m.size / 1e6)::numeric(8, 1) AS "MB at the end", (m.rest / 1e6)::numeric(8, 1) AS "after VACUUM"
FROM m JOIN m n ON n.load = m.load AND n.am = 'none' JOIN m b ON b.load = m.load AND b.am = 'btree' ORDER BY 1, m.am;
END
