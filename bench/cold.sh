#!/bin/bash
# Queries whose table is not in memory, and whose indexes are: btree, a bitmap scan of it, surfidx,
# and surfidx without reading ahead, in turn, elapsed.  Before each turn the server is restarted, its
# files are dropped from the kernel's cache (an ordinary user may do that to files of his), and the
# index is read.  The server is the one of $PG_CONFIG, in which surfidx is installed.
#
#	bench/cold.sh [--rows n] [--runs n] [--delay us] [--depth n] [--concurrency n] [--warm 1]
#
#	--rows n		of the table, some 220 bytes each, in random order (default 1500000)
#	--runs n		turns (default 5)
#	--delay us		each read takes so long, as bench/slow_disk.c has it (default 0: as the disk does)
#	--depth n		... and so many go on at once (default 64)
#	--concurrency n	effective_io_concurrency (default 16)
#	--warm 1		read the table, too: all is in shared buffers, and CPU time is told in place of
#					elapsed

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=1500000
runs=5
delay=0
depth=64
concurrency=16
warm=

take_options "rows runs delay depth concurrency warm" "$@"
no_words
[ "$rows" -ge 100000 ] && [ "$runs" -ge 1 ] ||
	die "--rows must be at least 100000, --runs at least 1"

own_cluster cold "shared_buffers = ${BENCH_SHARED_BUFFERS:-512MB}" "maintenance_work_mem = 256MB" \
	"max_wal_size = 64GB" "autovacuum = off" "effective_io_concurrency = $concurrency" \
	"surfidx.auto_merge = off" "max_parallel_workers_per_gather = 0"
preload=
if [ "$delay" -gt 0 ]; then
	${CC:-cc} -O2 -shared -fPIC -o "$WORK/slow_disk.so" bench/slow_disk.c -ldl
	chmod a+rx "$WORK/slow_disk.so"
	preload=$WORK/slow_disk.so
fi

drop_files()
{
	find "$PGDATA/base" -type f -size +64k -exec dd if={} iflag=nocache count=0 status=none \;
}

begin_cold()
{
	as_user "$BINDIR/pg_ctl" -D "$PGDATA" -m fast -w -t 300 stop >/dev/null
	[ -n "$warm" ] || drop_files
	as_user env ${preload:+LD_PRELOAD="$preload"} SLOW_US="$delay" SLOW_DEPTH="$depth" \
		SLOW_PATH="$file" \
		"$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -w -t 300 start >/dev/null
}

# what each way is allowed to use
declare -A other=([btree]=surfidx [bitmap]=surfidx [surfidx]=btree [without]=btree)
declare -A ours=([btree]=btree [bitmap]=btree [surfidx]=surfidx [without]=surfidx)
declare -A settings=(
	[btree]="enable_indexscan = on" [bitmap]="enable_indexscan = off"
	[surfidx]="surfidx.read_ahead = 32" [without]="surfidx.read_ahead = 0")
# (what reads many rows comes last: a page that is in memory is of no use any more)
names=("one row" "first 1000" "last 1000" "list of 1000" "nested loop" "20000 rows")
queries=(
	"SELECT sum(v) FROM t WHERE k = $((rows / 3))"
	"SELECT sum(v) FROM (SELECT v FROM t ORDER BY k LIMIT 1000) s"
	"SELECT sum(v) FROM (SELECT v FROM t ORDER BY k DESC LIMIT 1000) s"
	"SELECT sum(v) FROM t WHERE k = ANY
		(ARRAY(SELECT i * $((rows / 1001)) FROM generate_series(1, 1000) i))"
	"SELECT sum(t.v) FROM o JOIN t USING (k)"
	"SELECT sum(v) FROM t WHERE k BETWEEN $((rows / 2)) AND $((rows / 2 + 19999))")

# Elapsed ms of each query (warm: CPU time of the backend, for half a second of it).
one_turn()
{
	local way=$1 q

	begin_cold
	{
		echo "SET client_min_messages = error; BEGIN; DROP INDEX t_${other[$way]};"
		echo "SET enable_seqscan = off; SET enable_sort = off; SET enable_hashjoin = off;"
		echo "SET enable_mergejoin = off; SET enable_memoize = off; SET ${settings[$way]};"
		[ "$way" = bitmap ] || echo "SET enable_bitmapscan = off;"
		echo "SELECT pg_prewarm('t_${ours[$way]}') \\g /dev/null"
		[ -z "$warm" ] || echo "SELECT pg_prewarm('t') \\g /dev/null"
		echo "SELECT sum(v) FROM t WHERE k = 1 \\g /dev/null"
		for q in "${!queries[@]}"; do
			echo "SELECT '$way', '${names[$q]}', bench_ms(\$q\$${queries[$q]}\$q\$, ${warm:-0});"
		done
		echo "ROLLBACK;"
	} | sql -A -t -F "$(printf '\t')" >>"$WORK/results.tsv"
}

sql <<END
CREATE EXTENSION surfidx;
CREATE EXTENSION pg_prewarm;
CREATE TABLE t (k int, v int, pad text);
INSERT INTO t SELECT i, i, repeat('x', 180) FROM
	(SELECT i FROM generate_series(1, $rows) i ORDER BY hashint4(i)) s;
CREATE TABLE o AS SELECT k FROM t WHERE k % $((rows / 10000)) = 7 ORDER BY hashint4(k + 1);
CREATE INDEX t_surfidx ON t USING surfidx (k);
CREATE INDEX t_btree ON t USING btree (k);
VACUUM ANALYZE t, o;
CHECKPOINT;
-- CPU of this process, in ticks of the kernel (10 ms)
CREATE FUNCTION bench_ticks() RETURNS numeric LANGUAGE sql AS \$\$
	SELECT a[12]::numeric + a[13]::numeric FROM regexp_split_to_array(
		substring(pg_read_file('/proc/self/stat') from '\) (.*)'), ' ') a
\$\$;
CREATE FUNCTION bench_ms(query text, warm int) RETURNS numeric LANGUAGE plpgsql AS \$\$
DECLARE
	t timestamptz := clock_timestamp();
	n int := 0;
	ticks numeric;
BEGIN
	IF warm = 0 THEN
		EXECUTE query;
		RETURN round(extract(epoch FROM clock_timestamp() - t) * 1000, 2);
	END IF;
	EXECUTE query;
	ticks := bench_ticks();
	LOOP
		EXECUTE query;
		n := n + 1;
		EXIT WHEN n % 16 = 0 AND bench_ticks() - ticks >= 50 * warm;
	END LOOP;
	RETURN round((bench_ticks() - ticks) * 10 / n, 4);
END \$\$;
END
sync -f "$PGDATA"
file=$(sql -A -t -c "SELECT pg_relation_filepath('t')")
report_machine
: >"$WORK/results.tsv"
for ((run = 0; run < runs; run++)); do
	for way in btree bitmap surfidx without; do
		one_turn "$way"
	done
done
median="percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way ="
sql -P footer=off -P border=0 <<END
CREATE TEMP TABLE r (way text, query text, ms float8);
\copy r FROM '$WORK/results.tsv'
CREATE TEMP VIEW m AS SELECT query, $median 'btree') AS btree, $median 'bitmap') AS bitmap,
	$median 'without') AS without, $median 'surfidx') AS surfidx FROM r GROUP BY query;
SELECT query, btree::numeric(10, 3) AS "btree, ms", bitmap::numeric(10, 3) AS "its bitmap scan",
	without::numeric(10, 3) AS "surfidx, read_ahead = 0", surfidx::numeric(10, 3),
	(surfidx / btree)::numeric(10, 3) AS "of btree", (surfidx / without)::numeric(10, 3) AS "of 0"
FROM m ORDER BY array_position(
	ARRAY['one row', 'first 1000', 'last 1000', 'list of 1000', 'nested loop', '20000 rows'],
	query);
END
