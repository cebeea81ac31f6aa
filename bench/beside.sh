#!/bin/bash
# Readers and writers at once, surfidx beside btree: lookups and inserts a second, and what readers
# wait for.
#
#	bench/beside.sh [--rows n] [--secs n] [--readers "n..."] [--writers n] [--rate n] [--delta n]
#		[--runs n] [--out file.tsv]
#
#	--readers "", --delta 0: none of these sets
#	--rate: calls of all writers a second, 5,000 rows each; 0 (as it is): as many as they can
#
# Sessions look up random int8 keys, 500 in one query, so that the index is what takes the time,
# while others insert such keys, 500 in one transaction.  One more set has the most readers, no
# writer, and some keys that came before: in surfidx those are the delta.  Access methods take
# turns; each measurement begins with a new table and index.  Readers are looked at 20 times a
# second in pg_stat_activity: the share of samples that wait for an image's lock (tranche
# surfidx_image), and for a page's (BufferContent).  Rates are by the clock: on a busy machine only
# those of one run compare.
#
# CPU is that of whole sessions, from the beginning of their first call to that of their last one.
# Linux counts the time of a running process from tick to tick, or when it stops: when a call begins
# its session has just waited for pgbench, and all is counted; during one some milliseconds are not.
# So one call is ten queries, or ten transactions, for pgbench's share to be small.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=1000000
secs=5
readers="1 4 8"
writers=1
rate=0
delta=20000
runs=3
out=$PWD/build/beside.tsv

take_options "rows secs readers writers rate delta runs out" "$@"
no_words
throttle=()
[ "$rate" -eq 0 ] || throttle=(-R "$rate")

own_cluster beside "shared_buffers = 512MB" "autovacuum = off" "max_wal_size = 4GB" \
	"synchronous_commit = off"
sql -c "CREATE EXTENSION surfidx"
sql <<'END'
CREATE TABLE result (key_set text, entries int8, metric text, am text, value float8);
CREATE TABLE t (k int8);
CREATE TABLE used (who text, pid int, ns float8);
CREATE FUNCTION key_of(i int8) RETURNS int8 LANGUAGE sql IMMUTABLE AS
	'SELECT hashint8extended(i, 7)';
-- what this session has used when a call begins
CREATE FUNCTION begin_call(who text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO used
	VALUES (who, pg_backend_pid(),
		split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8)
$$;
-- statements of many lookups, as joins by the index
CREATE FUNCTION look(rows int8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM begin_call('look');
	FOR n IN 1..10 LOOP
		PERFORM count(t.k) FROM (SELECT key_of((random() * rows)::int8) AS k
			FROM generate_series(1, 500) OFFSET 0) x JOIN t USING (k);
	END LOOP;
END $$;
ALTER FUNCTION look(int8) SET enable_seqscan = off;
ALTER FUNCTION look(int8) SET enable_hashjoin = off;
ALTER FUNCTION look(int8) SET enable_mergejoin = off;
ALTER FUNCTION look(int8) SET enable_bitmapscan = off;
CREATE PROCEDURE put() LANGUAGE plpgsql AS $$
BEGIN
	PERFORM begin_call('put');
	FOR n IN 1..10 LOOP
		INSERT INTO t SELECT (random() * 9e18)::int8 FROM generate_series(1, 500);
		COMMIT;
	END LOOP;
END $$;
-- ns of whole sessions for each of the 5,000 things that a call does
CREATE FUNCTION used_by(whose text) RETURNS float8 LANGUAGE sql AS $$
	SELECT sum(ns) / nullif(sum(calls), 0) / 5000
	FROM (SELECT max(ns) - min(ns) AS ns, count(*) - 1 AS calls FROM used
		WHERE who = whose GROUP BY pid) s
$$;
END
echo "SELECT look(:rows)" >"$WORK/look.sql"
echo "CALL put()" >"$WORK/put.sql"
cat >"$WORK/sample.sql" <<'END'
SELECT coalesce(wait_event, 'none') FROM pg_stat_activity
WHERE application_name = 'look' AND state = 'active'
\watch 0.05
END
chmod a+r "$WORK"/*.sql

# file: transactions of that run of pgbench
transactions_of()
{
	sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$1"
}

# share_of event: percent of the samples
share_of()
{
	sed 's/^ *//' "$WORK/samples" | awk -v event="$1" '
		$1 == event { n++ }
		/^(none|[A-Z][A-Za-z]*|surfidx_[a-z]*)$/ { all++ }
		END { printf "%.1f", all ? 100 * n / all : 0 }'
}

# one am readers writers delta
one()
{
	local pids=() sampler pid at_rate=""

	[ "$rate" -eq 0 ] || [ "$3" -eq 0 ] || at_rate=" at $rate calls/s"
	sql -v am="$1" -v rows="$rows" -v delta="$4" <<'END'
DROP TABLE IF EXISTS t;
CREATE TABLE t (k int8);
INSERT INTO t SELECT key_of(i) FROM generate_series(1, :rows) i;
CREATE INDEX t_k ON t USING :am (k);
-- pages become all-visible only when the commit of their rows is on disk
CHECKPOINT;
VACUUM (FREEZE, ANALYZE) t;
SELECT relallvisible = relpages AS vouched FROM pg_class WHERE oid = 't'::regclass \gset
\if :vouched
\else
\warn pages of the table are not all-visible: lookups would visit them
\endif
INSERT INTO t SELECT (random() * 9e18)::int8 FROM generate_series(1, :delta);
TRUNCATE used;
CHECKPOINT;
END
	psql -X -A -t -f "$WORK/sample.sql" >"$WORK/samples" 2>/dev/null &
	sampler=$!
	PGAPPNAME=look "$BINDIR/pgbench" -n -c "$2" -T "$secs" -D rows="$rows" -f "$WORK/look.sql" \
		>"$WORK/look.out" 2>&1 &
	pids+=($!)
	if [ "$3" -gt 0 ]; then
		"$BINDIR/pgbench" -n -c "$3" "${throttle[@]}" -T "$secs" -f "$WORK/put.sql" \
			>"$WORK/put.out" 2>&1 &
		pids+=($!)
	else
		echo "number of transactions actually processed: 0" >"$WORK/put.out"
	fi
	for pid in "${pids[@]}"; do
		wait "$pid" || { cat "$WORK/look.out" "$WORK/put.out" >&2; return 1; }
	done
	kill "$sampler" 2>/dev/null
	wait "$sampler" 2>/dev/null || true
	sql -v am="$1" -v set="$2 readers, $3 writers$at_rate, delta $4" -v n="$rows" -v secs="$secs" \
		-v look="$(transactions_of "$WORK/look.out")" -v put="$(transactions_of "$WORK/put.out")" \
		-v image="$(share_of surfidx_image)" -v page="$(share_of BufferContent)" <<'END'
INSERT INTO result
SELECT :'set', :n, metric, :'am', value
FROM (VALUES ('lookups per second', :look * 5000.0 / :secs),
	('inserts per second', :put * 5000.0 / :secs),
	('CPU, ns per lookup', used_by('look')),
	('CPU, ns per insert', coalesce(used_by('put'), 0)),
	('waiting for an image, % of samples', :image),
	('waiting for a page, % of samples', :page)) v (metric, value);
END
}

report_machine
for _ in $(seq "$runs"); do
	for n in $readers; do
		for am in btree surfidx; do
			one "$am" "$n" "$writers" 0
		done
	done
	# shellcheck disable=SC2086
	most=$(printf '%s\n' $readers | sort -n | tail -1)
	[ "$delta" -eq 0 ] || for am in btree surfidx; do
		one "$am" "${most:-8}" 0 "$delta"
	done
done
sql -P footer=off -P border=0 -c "SELECT key_set, metric, am,
	percentile_cont(0.5) WITHIN GROUP (ORDER BY value)::numeric(12, 1) AS median,
	min(value)::numeric(12, 1), max(value)::numeric(12, 1)
	FROM result GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
report_runs "$out" "SELECT * FROM result"
