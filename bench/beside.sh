#!/bin/bash
# Readers and writers at once, surfidx beside btree: lookups and inserts a second, and what readers
# wait for.
#
#	bench/beside.sh [--rows n] [--secs n] [--readers "n..."] [--writers n] [--runs n]
#		[--out file.tsv]
#
# Sessions look up random int8 keys, 500 in one query, so that the index is what takes the time,
# while others insert such keys, 500 in one transaction.  Access methods take turns; each
# measurement begins with a new table and index.  Readers are looked at 20 times a second in
# pg_stat_activity: the share of samples that wait for an image's lock (tranche surfidx_image), and
# for a page's (BufferContent).  Rates are by the clock: on a busy machine only those of one run
# compare.  CPU is the readers', per lookup.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=1000000
secs=5
readers="1 4 8"
writers=1
runs=3
out=$PWD/build/beside.tsv

take_options "rows secs readers writers runs out" "$@"
no_words

own_cluster beside "shared_buffers = 512MB" "autovacuum = off" "max_wal_size = 4GB" \
	"synchronous_commit = off"
sql -c "CREATE EXTENSION surfidx"
sql <<'END'
CREATE TABLE result (key_set text, entries int8, metric text, am text, value float8);
CREATE TABLE t (k int8);
CREATE TABLE used (ns float8, lookups int);
CREATE FUNCTION key_of(i int8) RETURNS int8 LANGUAGE sql IMMUTABLE AS
	'SELECT hashint8extended(i, 7)';
-- one statement of many lookups, as a join by the index
CREATE FUNCTION look(rows int8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	cpu float8 := split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8;
BEGIN
	PERFORM count(t.k) FROM (SELECT key_of((random() * rows)::int8) AS k
		FROM generate_series(1, 500) OFFSET 0) x JOIN t USING (k);
	INSERT INTO used
	SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 - cpu, 500;
END $$;
ALTER FUNCTION look(int8) SET enable_seqscan = off;
ALTER FUNCTION look(int8) SET enable_hashjoin = off;
ALTER FUNCTION look(int8) SET enable_mergejoin = off;
ALTER FUNCTION look(int8) SET enable_bitmapscan = off;
CREATE FUNCTION put() RETURNS void LANGUAGE sql AS
	'INSERT INTO t SELECT (random() * 9e18)::int8 FROM generate_series(1, 500)';
END
echo "SELECT look(:rows)" >"$WORK/look.sql"
echo "SELECT put()" >"$WORK/put.sql"
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

# one am readers
one()
{
	local pids=() sampler pid

	sql -v am="$1" -v rows="$rows" <<'END'
DROP TABLE IF EXISTS t;
CREATE TABLE t (k int8);
INSERT INTO t SELECT key_of(i) FROM generate_series(1, :rows) i;
CREATE INDEX t_k ON t USING :am (k);
VACUUM (FREEZE, ANALYZE) t;
TRUNCATE used;
CHECKPOINT;
END
	psql -X -A -t -f "$WORK/sample.sql" >"$WORK/samples" 2>/dev/null &
	sampler=$!
	PGAPPNAME=look "$BINDIR/pgbench" -n -c "$2" -T "$secs" -D rows="$rows" -f "$WORK/look.sql" \
		>"$WORK/look.out" 2>&1 &
	pids+=($!)
	if [ "$writers" -gt 0 ]; then
		"$BINDIR/pgbench" -n -c "$writers" -T "$secs" -f "$WORK/put.sql" >"$WORK/put.out" 2>&1 &
		pids+=($!)
	else
		echo "number of transactions actually processed: 0" >"$WORK/put.out"
	fi
	for pid in "${pids[@]}"; do
		wait "$pid" || { cat "$WORK/look.out" "$WORK/put.out" >&2; return 1; }
	done
	kill "$sampler" 2>/dev/null
	wait "$sampler" 2>/dev/null || true
	sql -v am="$1" -v set="$2 readers, $writers writers" -v n="$rows" -v secs="$secs" \
		-v look="$(transactions_of "$WORK/look.out")" -v put="$(transactions_of "$WORK/put.out")" \
		-v image="$(share_of surfidx_image)" -v page="$(share_of BufferContent)" <<'END'
INSERT INTO result
SELECT :'set', :n, metric, :'am', value
FROM (VALUES ('lookups per second', :look * 500.0 / :secs),
	('inserts per second', :put * 500.0 / :secs),
	('CPU, ns per lookup', (SELECT sum(ns) / sum(lookups) FROM used)),
	('waiting for an image, % of samples', :image),
	('waiting for a page, % of samples', :page)) v (metric, value);
END
}

report_machine
for _ in $(seq "$runs"); do
	for n in $readers; do
		for am in btree surfidx; do
			one "$am" "$n"
		done
	done
done
sql -P footer=off -P border=0 -c "SELECT key_set, metric, am,
	percentile_cont(0.5) WITHIN GROUP (ORDER BY value)::numeric(12, 1) AS median,
	min(value)::numeric(12, 1), max(value)::numeric(12, 1)
	FROM result GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
report_runs "$out" "SELECT * FROM result"
