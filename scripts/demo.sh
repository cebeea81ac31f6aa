#!/bin/bash
# Show the extension at work on a throw-away cluster with a million real file paths; "make demo" builds and installs first.
# Ends with a table and status 0 if every answer was right.
#
#	DEMO_ROWS=1000000		rows
#	OFFLINE=1				fetch nothing, take this machine's own paths
#	PATHS_FILE=file			take these paths
#	TEST_CONF="a = b; ..."	more server configuration

set -e -o pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh
. scripts/cluster.sh
. scripts/demo/good.sh
. scripts/demo/paths.sh

rows=${DEMO_ROWS:-1000000}
[ "$rows" -ge 1000000 ] || die "DEMO_ROWS must be at least 1000000"
readonly WRITE_SECONDS=8	# inserts and deletes while queries run
readonly CRASH_SECONDS=3	# inserts before the server is killed
readonly BATCH=50			# rows per transaction there
writers=

headline()
{
	echo
	echo "== $*"
}

# The value that a query gives.
value()
{
	sql -A -t -c "$1"
}

table()
{
	sql -P footer=off -P border=0 -P null=- -c "$1"
}

# ---- steps ----

load()
{
	headline "Real data"
	collect_paths "$WORK" "$rows"
	sql -f scripts/demo/schema.sql
	sql -c "\\copy demo.raw (path, package) FROM '$WORK/paths.tsv'" -c "CALL demo.fill()" -c "VACUUM ANALYZE file"
	rm -f "$WORK/paths.tsv"
	echo "$(value "SELECT count(*) FROM file") file paths from $PATHS_SOURCE"
	table "SELECT id, left(path, 60) AS path, left(package, 20) AS package, hash, changed FROM file WHERE id % 300000 = 7 ORDER BY id"
}

build()
{
	local name am

	headline "CREATE INDEX, surfidx and btree side by side"
	for name in $(value "SELECT name FROM demo.wanted ORDER BY n"); do
		for am in btree surfidx; do
			sql -c "CALL demo.build('$name', '$am')"
		done
	done
	sql -c "VACUUM ANALYZE file"
	sql -c "ANALYZE demo.built"
	table "SELECT definition, round(max(bytes) FILTER (WHERE am = 'btree') / 1048576.0, 1) AS \"btree MB\",
			round(max(bytes) FILTER (WHERE am = 'surfidx') / 1048576.0, 1) AS \"surfidx MB\",
			round(max(seconds) FILTER (WHERE am = 'btree')::numeric, 2) AS \"btree s\",
			round(max(seconds) FILTER (WHERE am = 'surfidx')::numeric, 2) AS \"surfidx s\"
		FROM demo.built JOIN demo.wanted USING (name) GROUP BY n, definition ORDER BY n"
}

query()
{
	local n

	headline "Queries with the surfidx indexes: EXPLAIN (ANALYZE, BUFFERS)"
	for n in $(value "SELECT n FROM demo.queries ORDER BY n"); do
		echo
		value "SELECT title || ': ' || query FROM demo.queries WHERE n = $n"
		value "SELECT demo.explain('surfidx', query) FROM demo.queries WHERE n = $n" | sed 's/^/    /'
	done
	headline "The same queries with either kind of index: median time and buffers"
	sql -c "CREATE TABLE demo.measured AS SELECT n, title, b.ms AS btree_ms, s.ms AS surfidx_ms,
				b.buffers AS btree_buffers, s.buffers AS surfidx_buffers, s.used
			FROM demo.queries, demo.measure('btree', query) b, demo.measure('surfidx', query) s"
	table 'SELECT title, btree_ms AS "btree ms", surfidx_ms AS "surfidx ms", btree_buffers AS "btree buffers",
			surfidx_buffers AS "surfidx buffers" FROM demo.measured ORDER BY n'
	good "$(value "SELECT bool_and(used) FROM demo.measured")" "the planner used a surfidx index for every query"
}

# The pids of the server's merge workers, one line each time one is seen.
watch_worker()
{
	while sleep 0.1; do
		psql -X -A -t -c "SELECT pid FROM pg_stat_activity WHERE backend_type = 'surfidx merge worker'"
	done 2>/dev/null
}

wait_for_worker()
{
	local i

	for ((i = 0; i < 100; i++)); do
		[ -n "$(value "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'surfidx merge worker'")" ] || return 0
		sleep 0.1
	done
}

# Run "SELECT ..." again and again until the time is over or the server is gone.  The pipe holds some more
# statements by then: the WHERE clause makes them void.
repeat()
{
	local until=$((SECONDS + $1)) stop=$(($(date +%s) + $1))

	while [ $SECONDS -lt $until ] && echo "SELECT $2 WHERE clock_timestamp() < to_timestamp($stop);"; do
		:
	done 2>/dev/null | psql -X -q -A -t
}

change()
{
	local before after pids

	headline "Inserts and deletes while queries run, merges in the background"
	sql -c "ALTER INDEX path_surfidx SET (delta_size = 1024)" -c "ALTER INDEX id_surfidx SET (delta_size = 256)" \
		-c "ALTER INDEX hash_surfidx SET (delta_size = 256)" -c "ALTER INDEX changed_surfidx SET (delta_size = 256)" \
		-c "ALTER INDEX package_surfidx SET (delta_size = 1024)"
	echo "The delta may take 256 kB or 1 MB for each index, so that merges are due often. Before:"
	table "TABLE demo.state"
	before=$(value "SELECT sum(merges) FROM demo.state")
	watch_worker >"$WORK/workers" &
	pids=$!
	repeat $WRITE_SECONDS "demo.add_files('new1', 500)" >"$WORK/added1" &
	writers=$!
	repeat $WRITE_SECONDS "demo.remove_files(50)" >"$WORK/removed" &
	writers="$writers $!"
	repeat $WRITE_SECONDS "demo.same_answers()" >"$WORK/answers"
	# shellcheck disable=SC2086
	wait $writers || true
	writers=
	wait_for_worker
	kill $pids
	wait $pids 2>/dev/null || true
	after=$(value "SELECT sum(merges) FROM demo.state")
	echo "After $(paste -sd+ "$WORK/added1" | bc_sum) inserted and $(paste -sd+ "$WORK/removed" | bc_sum) deleted rows:"
	table "TABLE demo.state"
	good "$([ "$after" -gt "$before" ] && [ -s "$WORK/workers" ] && echo t)" \
		"$((after - before)) merges by $(sort -u "$WORK/workers" | grep -c .) background workers meanwhile"
	good "$(grep -q t "$WORK/answers" && ! grep -qv '^t$' "$WORK/answers" && echo t)" \
		"$(wc -l <"$WORK/answers") answers by index while that went on, each equal to a sequential scan in its snapshot"
}

# Sum of "1+2+3".
bc_sum()
{
	tr '+' '\n' | awk '{ s += $1 } END { print s + 0 }'
}

# merge_now: in the foreground, and VACUUM after the deletes
merge_now()
{
	headline "SELECT surfidx_merge(index) and VACUUM"
	table "SELECT name AS index, surfidx_merge((name || '_surfidx')::regclass) AS \"entries merged\" FROM demo.wanted ORDER BY n"
	sql -c "VACUUM file"
	table "TABLE demo.state"
}

zombie()
{
	grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# All processes of the server at once: those that it started, and itself.
kill_server()
{
	local postmaster children pid

	postmaster=$(head -1 "$PGDATA/postmaster.pid")
	children=$(awk -v p="$postmaster" '{ sub(/^.*\) /, ""); if ($2 == p) print pid(FILENAME) }
		function pid(f) { split(f, a, "/"); return a[3] }' /proc/[0-9]*/stat 2>/dev/null || true)
	# shellcheck disable=SC2086
	as_user kill -KILL "$postmaster" $children 2>/dev/null || true
	# a new server refuses to start while old processes are there ...
	for pid in $postmaster $children; do
		while kill -0 "$pid" 2>/dev/null && ! zombie "$pid"; do
			sleep 0.05
		done
	done
	# ... and mistakes a zombie for one: some containers have no init process that collects them
	! zombie "$postmaster" || rm -f "$PGDATA/postmaster.pid" "$PGHOST/.s.PGSQL.$PGPORT.lock"
	echo "killed: the server ($postmaster) and its $(echo $children | wc -w) processes"
}

crash()
{
	local i rows_before rows_after acked present

	headline "SIGKILL in the middle of inserts"
	rows_before=$(value "SELECT count(*) FROM file")
	sql -c "CHECKPOINT"
	for i in 1 2; do
		repeat 60 "demo.add_files('crash$i', $BATCH)" >"$WORK/acked$i" 2>"$WORK/crash$i.err" &
		writers="$writers $!"
	done
	repeat 60 "demo.remove_files(20)" >/dev/null 2>&1 &
	writers="$writers $!"
	sleep $CRASH_SECONDS
	kill_server
	# shellcheck disable=SC2086
	kill $writers 2>/dev/null || true
	wait
	writers=
	if ! as_user "$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -w -t 120 start >"$WORK/pg_ctl.log" 2>&1; then
		tail -20 "$CLUSTER_LOG"
		die "the server did not start again"
	fi
	grep -E 'redo (starts|done)' "$CLUSTER_LOG" | tail -2 | sed 's/^[^]]*\] *//'
	table "TABLE demo.state"
	acked=$(cat "$WORK"/acked[12] | awk '{ s += $1 } END { print s + 0 }')
	rows_after=$(value "SELECT count(*) FROM file")
	present=$(value "SELECT count(*) FROM file WHERE package IN ('crash1', 'crash2')")
	good "$([ "$acked" -gt 0 ] && [ "$present" -ge "$acked" ] && [ "$present" -le $((acked + 2 * BATCH)) ] && echo t)" \
		"$acked inserted rows were reported as committed, $present are there; in all $rows_before before, $rows_after after"
}

prove()
{
	headline "Index against table, row by row"
	sql -f scripts/demo/prove.sql >/dev/null
	table 'SELECT what AS "read by index", by_index AS "rows by index", by_table AS "rows by table", missing AS "missing in index",
		extra AS "not in table", disorder AS "out of order" FROM demo.proofs ORDER BY n'
	good "$(value "SELECT bool_and(used AND by_index = by_table AND missing + extra + disorder = 0) FROM demo.proofs")" \
		"index and table are equal, in the index's order (EXCEPT ALL both ways)"
	good t "surfidx_check(index, heapallindexed) found nothing wrong in the $(value "SELECT count(*) FROM demo.wanted") indexes"
}

summary()
{
	headline "Summary: $(value "SELECT count(*) FROM file") rows, PostgreSQL $(value "SHOW server_version")"
	table "SELECT shown AS index, round(max(bytes) FILTER (WHERE am = 'btree') / 1048576.0, 1) AS \"btree MB\",
			round(max(bytes) FILTER (WHERE am = 'surfidx') / 1048576.0, 1) AS \"surfidx MB\",
			round(100.0 * max(bytes) FILTER (WHERE am = 'surfidx') / max(bytes) FILTER (WHERE am = 'btree'), 1) || ' %' AS \"of btree\",
			round(max(seconds) FILTER (WHERE am = 'btree')::numeric, 2) AS \"btree build s\",
			round(max(seconds) FILTER (WHERE am = 'surfidx')::numeric, 2) AS \"surfidx build s\"
		FROM demo.built JOIN demo.wanted USING (name) GROUP BY n, shown ORDER BY n"
	table 'SELECT title AS query, btree_ms AS "btree ms", surfidx_ms AS "surfidx ms", btree_buffers AS "btree buffers",
			surfidx_buffers AS "surfidx buffers" FROM demo.measured ORDER BY n'
	echo "Build sizes are those of fresh indexes; times are of this machine, now, and vary from run to run."
}

# ---- main ----

leave()
{
	set +e +o pipefail
	# shellcheck disable=SC2086
	[ -z "$writers" ] || kill $writers 2>/dev/null
	cluster_cleanup
}

find_postgres
make_workdir
trap leave EXIT
trap 'exit 130' INT TERM
# fsync: what was committed shall be there after the crash as it would be on a real server
export PGOPTIONS="-c client_min_messages=warning"	# what the notices say is in docs/unique.md
cluster_start demo "fsync = on" "shared_buffers = 512MB" "max_wal_size = 4GB" "maintenance_work_mem = 256MB" \
	"max_parallel_maintenance_workers = 0" "max_parallel_workers_per_gather = 0" "jit = off"
for step in load build query change merge_now crash prove summary; do
	$step
done
echo
if [ $wrong -gt 0 ]; then
	echo "$wrong checks FAILED, see WRONG above ($SECONDS s)"
	exit 1
fi
echo "All checks passed in $SECONDS s."
