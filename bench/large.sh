#!/bin/bash
# One index of half a billion entries, built, checked, asked, grown and vacuumed, beside btree.
#
#	bench/large.sh [--rows n] [--out file.tsv] [access method]...
#
#	--rows n	of random int8 (default 500000000, which take 45 GB of $TMPDIR while btree is built)
#	access method	btree, surfidx (default: surfidx btree, one after the other)
#
# Each thing is measured once, by one process: CPU of all processes, and the clock.  Needs Linux
# (/proc), and amcheck for btree's check.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=500000000
runs=1
out=$PWD/build/large.tsv

take_options "rows out" "$@"
[ ${#words[@]} -gt 0 ] || words=(surfidx btree)

own_cluster large "shared_buffers = 1GB" "max_wal_size = 4GB" "checkpoint_timeout = 1h" \
	"wal_level = minimal" "max_wal_senders = 0" "autovacuum = off" "maintenance_work_mem = 1GB" \
	"max_parallel_maintenance_workers = 0" "max_parallel_workers_per_gather = 0" \
	"surfidx.merge_worker_idle = 0"

# measured "what" [per] statement...: elapsed seconds, and CPU seconds (or us for each of so many)
measured()
{
	local what=$1 per=$2

	shift 2
	{
		# (a session that has just ended counts once the postmaster knows)
		echo "CALL bench.settle('none');
			SELECT a.own AS own, a.ended AS ended, extract(epoch FROM clock_timestamp()) AS t,
			pg_current_wal_insert_lsn() AS wal FROM bench.all_cpu() a \gset"
		printf '%s;\n' "$@" | sed 's/;;*$/;/'
		echo "CALL bench.settle('none');
			SELECT '$am' AS am, '$what' AS metric, $per AS per,
			(a.own + a.ended - :own - :ended) / 1e9 AS cpu,
			extract(epoch FROM clock_timestamp()) - :t AS elapsed,
			pg_wal_lsn_diff(pg_current_wal_insert_lsn(), :'wal') AS wal
			FROM bench.all_cpu() a \gset
			INSERT INTO measured VALUES (:'am', :'metric', :per, :cpu, :elapsed, :wal);"
	} | sql -o /dev/null
	sql -A -t -F ' ' -c "SELECT '#', am, metric, round(cpu::numeric, 1), round(elapsed::numeric)
		FROM measured ORDER BY n DESC LIMIT 1"
}

# (the bare ones of bench/write.sql: own CPU, and that of processes that have ended)
sql -f bench/schema.sql -f bench/write.sql
sql <<-END
	CREATE EXTENSION amcheck;
	CREATE TABLE measured (am text, metric text, per float8, cpu float8, elapsed float8, wal float8,
		n serial);
END
report_machine
am=table
measured "make the table" "$rows" "BEGIN" "CREATE TABLE t AS SELECT (random() * 9e18)::int8 AS k
	FROM (SELECT generate_series(1, $rows)) s" "COMMIT"
measured "VACUUM (FREEZE)" "$rows" "VACUUM (FREEZE) t"
sql -c "CREATE TABLE asked AS
	SELECT k FROM t TABLESAMPLE SYSTEM (0.01) ORDER BY random() LIMIT 20000"
asks="SET enable_seqscan = off; SET enable_bitmapscan = off;
	SET plan_cache_mode = force_generic_plan;
	DO \$\$ DECLARE x int8; BEGIN
		FOR x IN SELECT k FROM asked LOOP PERFORM k FROM t WHERE k = x; END LOOP; END \$\$"
for am in "${words[@]}"; do
	check="surfidx_check('t_k', true, true)"
	[ "$am" = surfidx ] || check="bt_index_check('t_k', true)"
	measured build "$rows" "CREATE INDEX t_k ON t USING $am (k)"
	sql -c "INSERT INTO measured
		SELECT '$am', 'bytes of an entry', 1, NULL, pg_relation_size('t_k') / $rows.0, NULL"
	measured "lookup, nothing in buffers" 20000 "$asks"
	measured "lookup, asked before" 20000 "$asks"
	measured "count(*)" "$rows" "SET enable_seqscan = off; SELECT count(*) FROM t"
	measured "check, all rows" "$rows" "SELECT $check"
	measured "insert a five hundredth" "$((rows / 500))" "INSERT INTO t
		SELECT (random() * 9e18)::int8 FROM generate_series(1, $rows / 500)"
	[ "$am" != surfidx ] || measured "merge it" "$((rows / 500))" "SELECT surfidx_merge('t_k')"
	measured "delete a two thousandth" "$((rows / 2000))" "DELETE FROM t WHERE ctid IN
		(SELECT format('(%s,7)', 9 * b)::tid FROM generate_series(0, $rows / 2000) b)"
	measured "VACUUM" "$rows" "VACUUM t"
	measured "check, pages alone" "$rows" "SELECT ${check/, true*/)}"
	[ "$am" != surfidx ] || sql -c "SELECT * FROM surfidx_stats('t_k', 0)" -x
	sql -c "DROP INDEX t_k" -c CHECKPOINT
done
sql -P footer=off -P border=0 <<-END
	SELECT metric, am, (cpu * 1e9 / per)::numeric(12, 1) AS "CPU, ns each",
		cpu::numeric(12, 1) AS "CPU, s", elapsed::numeric(12, 1) AS "elapsed, s",
		(wal / per)::numeric(12, 1) AS "WAL, bytes each"
	FROM measured ORDER BY n
END
mkdir -p "$(dirname "$out")"
sql -c "COPY (SELECT am, metric, per, cpu, elapsed, wal FROM measured ORDER BY n)
	TO STDOUT WITH (FORMAT csv, DELIMITER E'\t', HEADER)" >"$out"
echo "# $out, $SECONDS s"
