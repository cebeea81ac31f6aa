#!/bin/bash
# The time-series experiment of the SuRF paper (section 5.2) inside PostgreSQL: how many leaves filters save.
#
#	bench/timeseries.sh [--rows n] [--queries n] [--buffers size] [--out file.tsv]
#
#	--rows n		events (default 2000000) of 2,000 sensors, Poisson: one each millisecond on average, times in nanoseconds
#	--queries n		of each kind (default 2000)
#	--buffers size	shared_buffers (default 2MB: a quarter of the index without filters, a sixth of it with them)
#
# The index is on (at, sensor).  Queries: one event (point) that is there or not; the first event at or after a time (open seek);
# the first event between two times (closed seek), so far apart that 10 to 99 % of the answers are empty.
# For each kind of filter: leaves read, filters asked, and pages that were not in shared_buffers, per
# query; and CPU of the session, planning aside.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=2000000
queries=2000
buffers=2MB
out=$PWD/build/timeseries.tsv

take_options "rows queries buffers out" "$@"
no_words

own_cluster timeseries "shared_buffers = $buffers" "autovacuum = off" "max_wal_size = 4GB" \
	"wal_level = minimal" "max_wal_senders = 0" "maintenance_work_mem = 256MB"

sql -v rows="$rows" <<'END'
CREATE EXTENSION surfidx;
SELECT setseed(0.5) \gset
CREATE TABLE event AS
	SELECT sum((-ln(1 - random()) * 1e6)::int8) OVER (ORDER BY g)::int8 AS at, (random() * 1999)::int8 AS sensor
	FROM generate_series(1, :rows) g;
VACUUM (ANALYZE, FREEZE) event;
CREATE TABLE result (key_set text, metric text, am text, value float8);
CREATE TABLE query (kind text, k int, lo int8, hi int8, sensor int8);
-- CPU of this session's server process, in us
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql AS
	$$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1000$$;
-- Runs the queries of one kind; pages read from outside shared_buffers.
CREATE FUNCTION ask(kind text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	cond text := CASE WHEN kind LIKE 'point%' THEN 'at = lo AND e.sensor = q.sensor' WHEN kind = 'open seek' THEN 'at >= lo'
		ELSE 'at >= lo AND at < hi' END;
	j json;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_memoize = off;
	SET LOCAL enable_material = off;
	EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT json) SELECT * FROM query q,
		LATERAL (SELECT at FROM event e WHERE %s ORDER BY at LIMIT 1) x WHERE kind = %L', cond, kind) INTO j;
	RETURN (j #>> '{0,Plan,Plans,1,Shared Read Blocks}')::numeric;
END $$;
END
sql -v n="$queries" <<'END'
SELECT setseed(0.25) \gset
INSERT INTO query SELECT 'point, there', k, at, NULL, sensor FROM (SELECT at, sensor, row_number() OVER () AS k FROM
	(SELECT * FROM event ORDER BY random() LIMIT :n) x) y;
INSERT INTO query SELECT 'point, absent', k, lo, NULL, sensor FROM
	(SELECT k, (random() * (SELECT max(at) FROM event))::int8 AS lo, (random() * 1999)::int8 AS sensor FROM generate_series(1, :n) k) x
	WHERE NOT EXISTS (SELECT FROM event WHERE at = lo);
INSERT INTO query SELECT 'open seek', k, (random() * (SELECT max(at) FROM event))::int8, NULL, NULL FROM generate_series(1, :n) k;
INSERT INTO query SELECT format('closed seek, %s %% empty', p), k, lo, lo + (-ln(p / 100.0) * 1e6)::int8, NULL
	FROM (SELECT p, k, (random() * (SELECT max(at) FROM event))::int8 AS lo FROM generate_series(1, :n) k, unnest(ARRAY[10, 50, 90, 99]) p) x;
VACUUM ANALYZE query;
END

printf '%-10s %-26s %10s %10s %10s %10s %10s\n' filter queries leaves filters 'page reads' \
	'CPU, us' index
for filter in none bloom surf; do
	sql -c "SET client_min_messages = warning" -c "DROP INDEX IF EXISTS event_at_sensor" -c "CREATE INDEX event_at_sensor ON event USING surfidx (at, sensor) WITH (filter = $filter)" \
		-c "CHECKPOINT"
	for kind in 'point, there' 'point, absent' 'open seek' 'closed seek, 10 % empty' 'closed seek, 50 % empty' 'closed seek, 90 % empty' \
		'closed seek, 99 % empty'; do
		# once to warm up, once to count
		sql -At -F ' ' -v kind="$kind" -v filter="$filter" <<'END' | awk 'NF > 1'
SELECT ask(:'kind') \gset warm_
SELECT leaves AS leaves0, filters AS filters0 FROM surfidx_page_counts() \gset
SELECT cpu() AS cpu0 \gset
SELECT ask(:'kind') AS reads \gset
SELECT cpu() - :cpu0 AS cpu \gset
WITH c AS (SELECT round((leaves - :leaves0)::numeric / n, 3) AS leaves, round((filters - :filters0)::numeric / n, 3) AS filters, round(:reads::numeric / n, 3) AS reads, round(:cpu::numeric / n, 2) AS cpu
		FROM surfidx_page_counts(), (SELECT count(*) AS n FROM query WHERE kind = :'kind') x),
	r AS (INSERT INTO result SELECT :'kind', metric, :'filter', value FROM c,
		LATERAL (VALUES ('leaves per query', leaves), ('filters per query', filters), ('pages read per query', reads),
			('CPU, us per query', cpu)) v (metric, value))
SELECT format('%-10s %-26s %10s %10s %10s %10s %10s', :'filter', :'kind', leaves, filters, reads, cpu, pg_size_pretty(pg_relation_size('event_at_sensor'))) FROM c;
END
	done
done
report_runs "$out" "SELECT key_set, $rows AS entries, metric, am, value FROM result"
