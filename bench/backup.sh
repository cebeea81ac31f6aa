#!/bin/bash
# What a backup has to copy: pages that changed between two incremental backups, and all of an
# index, surfidx beside btree.  Needs PostgreSQL 17.
#
#	bench/backup.sh [--rows n] [--out file.tsv]
#
# Random and ascending int8.  A server for each index: a full backup, then after 1 and 10 % more
# rows, and after VACUUM of a tenth that was deleted, an incremental one.  What of the table changes
# is left out: pages are those of the index's file.  At the end the backups are combined, which is
# what a restore takes, and the index of the combined one is checked.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=1000000
runs=1
out=$PWD/build/backup.tsv

take_options "rows out" "$@"
no_words

# MB of the index's file in a backup: whole, or its changed pages
index_mb()
{
	find "$1/${path%/*}" -name "${path##*/}" -o -name "INCREMENTAL.${path##*/}" \
		-o -name "${path##*/}.[0-9]*" -o -name "INCREMENTAL.${path##*/}.[0-9]*" |
		xargs -r stat -c %s | awk '{ n += $1 } END { printf "%.3f", n / 1048576 }'
}

# seconds_since t0
seconds_since()
{
	awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }'
}

# backup name metric: since the last one, if there is one
backup()
{
	local t0=$EPOCHREALTIME

	as_user "$BINDIR/pg_basebackup" -D "$WORK/$am.$kind.$1" -c fast --no-sync \
		${last:+--incremental="$last/backup_manifest"}
	last=$WORK/$am.$kind.$1
	backups="$backups $last"
	echo "$kind	$am	$2: index, MB	$(index_mb "$last")" >>"$WORK/results"
	echo "$kind	$am	$2: all, MB	$(du -sm --exclude=pg_wal "$last" | cut -f 1)" >>"$WORK/results"
	echo "$kind	$am	$2: elapsed, s	$(seconds_since "$t0")" >>"$WORK/results"
}

settle()
{
	# a worker may be merging, and what it writes belongs to these rows
	until [ "$(sql -A -t -c "SELECT count(*) FROM pg_stat_activity
		WHERE backend_type LIKE 'surfidx%'")" = 0 ]; do sleep 0.05; done
}

measure()
{
	local last='' backups='' path key t0

	key="(random() * 9e18)::int8"
	[ "$kind" = random ] || key=i
	cluster_start "$am.$kind" "shared_buffers = 512MB" "max_wal_size = 64GB" "autovacuum = off" \
		"checkpoint_timeout = 1h" "summarize_wal = on"
	sql -c "CREATE EXTENSION surfidx" -c "SELECT setseed(0.5)" \
		-c "CREATE TABLE t AS SELECT $key AS k FROM generate_series(1, $rows) i" \
		-c "CREATE INDEX t_k ON t USING $am (k)" -c "VACUUM ANALYZE t" >/dev/null
	path=$(sql -A -t -c "SELECT pg_relation_filepath('t_k')")
	backup full "full"
	sql -c "INSERT INTO t SELECT $key FROM generate_series($rows + 1, $rows + $rows / 100) i"
	settle
	backup one "1 % more"
	sql -c "INSERT INTO t SELECT $key FROM generate_series($rows + 1 + $rows / 100,
		$rows + $rows / 100 + $rows / 10) i"
	settle
	backup ten "10 % more"
	sql -c "DELETE FROM t WHERE hashint8(k) % 10 = 3" -c "VACUUM (TRUNCATE off) t"
	backup vacuum "VACUUM of 10 %"
	cluster_stop
	t0=$EPOCHREALTIME
	# shellcheck disable=SC2086
	as_user "$BINDIR/pg_combinebackup" --no-sync -o "$WORK/combined" $backups
	echo "$kind	$am	combined: elapsed, s	$(seconds_since "$t0")" >>"$WORK/results"
	as_user "$BINDIR/pg_ctl" -D "$WORK/combined" -l "$WORK/combined.log" -w start >/dev/null
	[ "$am" = btree ] || sql -c "SELECT surfidx_check('t_k', true, true)" >/dev/null
	as_user "$BINDIR/pg_ctl" -D "$WORK/combined" -m fast -w stop >/dev/null
	rm -rf "$WORK/combined"
	# shellcheck disable=SC2086
	rm -rf $backups
}

find_postgres
if [ "$("$PG_CONFIG" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')" -lt 17 ]; then
	echo "# not measured: incremental backups are of PostgreSQL 17 and later"
	exit 0
fi
make_workdir
trap leave EXIT
trap 'exit 130' INT TERM
for kind in random ascending; do
	for am in btree surfidx; do
		measure
	done
done
cluster_start report
report_machine
sql -c "CREATE TABLE result (key_set text, am text, metric text, value float8, n serial)" \
	-c "\\copy result (key_set, am, metric, value) FROM '$WORK/results'"
sql -P footer=off -P border=0 <<-END
	SELECT key_set, metric, max(value) FILTER (WHERE am = 'btree') AS btree,
		max(value) FILTER (WHERE am = 'surfidx') AS surfidx
	FROM result GROUP BY 1, 2 ORDER BY 1, min(n)
END
report_runs "$out" "SELECT key_set, $rows AS entries, metric, am, value FROM result"
