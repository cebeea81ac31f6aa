#!/bin/bash
# Every access method that can hold an integer column, beside surfidx: size, CPU of CREATE INDEX, of lookups and of short ranges.
#
#	bench/peers.sh [--rows n] [--runs n] [--out file.tsv]
#
#	peers	btree, surfidx, hash, brin (minmax_multi), bloom, gin (btree_gin): those that the server has
#	keys	serial: in the order of the table; random: in none
#
# Reads go through bitmap scans, which all of them have, one index at a time; lossy ones look at many rows for each answer, and that counts.  CPU
# of the backend (/proc/self/schedstat: Linux), medians over the runs.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=1000000
runs=3
out=$PWD/build/peers.tsv

take_options "rows runs out" "$@"
no_words
[ "$rows" -ge 10000 ] && [ "$runs" -ge 1 ] || die "--rows must be at least 10000, --runs at least 1"

own_cluster peers "shared_buffers = 1GB" "maintenance_work_mem = 512MB" "max_wal_size = 16GB" "autovacuum = off" "max_parallel_maintenance_workers = 0" \
	"max_parallel_workers_per_gather = 0"
sql -v rows="$rows" <<'END'
CREATE EXTENSION surfidx;
SELECT format('CREATE EXTENSION %I', name) FROM pg_available_extensions WHERE name IN ('bloom', 'btree_gin') \gexec
CREATE TABLE peer (name text, method text, class text);
INSERT INTO peer VALUES ('btree', 'btree', ''), ('surfidx', 'surfidx', ''), ('hash', 'hash', ''), ('brin', 'brin', 'int8_minmax_multi_ops');
INSERT INTO peer SELECT 'gin', 'gin', 'int8_ops' FROM pg_extension WHERE extname = 'btree_gin';
-- bloom has a class for int4 only
INSERT INTO peer SELECT 'bloom', 'bloom', 'int4' FROM pg_extension WHERE extname = 'bloom';
CREATE TABLE result (key_set text, entries bigint, metric text, am text, value float8);
CREATE TABLE t (serial int8, random int8, serial4 int, random4 int);
INSERT INTO t SELECT g, x, g, x FROM (SELECT g, hashint8extended(g, 0) & 2147483647 AS x FROM generate_series(1, :rows) g) s;
VACUUM (FREEZE, ANALYZE) t;
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql VOLATILE AS $$ SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 $$;
CREATE PROCEDURE measure(keys text, peer_name text) LANGUAGE plpgsql AS $$
DECLARE
	p peer := (SELECT x FROM peer x WHERE name = peer_name);
	n bigint := (SELECT reltuples FROM pg_class WHERE relname = 't');
	col text := keys || CASE WHEN p.class = 'int4' THEN '4' ELSE '' END;
	type text := CASE WHEN p.class = 'int4' THEN 'int4' ELSE 'int8' END;
	t0 float8;
	began timestamptz;
	done int;
	k bigint;
	found bigint;
BEGIN
	DROP INDEX IF EXISTS i;
	t0 := cpu();
	EXECUTE format('CREATE INDEX i ON t USING %s (%I %s)', p.method, col, CASE WHEN p.class <> 'int4' THEN p.class ELSE '' END);
	INSERT INTO result VALUES (keys, n, 'build CPU, ns per entry', p.name, (cpu() - t0) / n), (keys, n, 'size, bytes per entry', p.name, pg_relation_size('i') / n::float8);
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	t0 := cpu();
	began := clock_timestamp();
	FOR j IN 1 .. 2000 LOOP
		done := j;
		EXIT WHEN j > 20 AND clock_timestamp() > began + interval '0.5 s';
		k := j * 7919 % n + 1;
		IF keys = 'random' THEN k := hashint8extended(k, 0) & 2147483647; END IF;
		EXECUTE format('SELECT count(*) FROM t WHERE %I = %s::%s', col, k, type) INTO found;
		IF found < 1 THEN RAISE EXCEPTION '% does not find %', p.name, k; END IF;
	END LOOP;
	INSERT INTO result VALUES (keys, n, 'lookup, us', p.name, (cpu() - t0) / done / 1000);
	IF p.name IN ('hash', 'bloom') THEN RETURN; END IF;
	t0 := cpu();
	began := clock_timestamp();
	FOR j IN 1 .. 2000 LOOP
		done := j;
		EXIT WHEN j > 20 AND clock_timestamp() > began + interval '0.5 s';
		k := CASE WHEN keys = 'random' THEN j * 79190003::bigint % 2147000000 ELSE j * 7919 % (n - 100) + 1 END;
		EXECUTE format('SELECT count(*) FROM t WHERE %I BETWEEN %s::%s AND %s::%s', col, k, type,
			k + CASE WHEN keys = 'random' THEN 2147483648 * 100 / n ELSE 100 END, type) INTO found;
	END LOOP;
	INSERT INTO result VALUES (keys, n, 'range of 100 rows, us', p.name, (cpu() - t0) / done / 1000);
END $$;
END
for ((i = 0; i < runs; i++)); do
	for keys in serial random; do
		for peer in $(psql -X -A -t -c "SELECT name FROM peer"); do
			sql -c "CALL measure('$keys', '$peer')"
		done
	done
done
sql -c "CREATE VIEW summary AS SELECT key_set, entries, metric, am, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median, min(value), max(value), count(*) AS runs
	FROM result GROUP BY 1, 2, 3, 4"
echo "# PostgreSQL $(psql -X -A -t -c "SHOW server_version"), $(nproc) CPUs, $rows rows, median of $runs"
sql -P footer=off -P border=0 -c "SELECT key_set AS keys, metric, string_agg(format('%s %s', am, median::numeric(12, 2)), ', ' ORDER BY median) AS medians FROM summary GROUP BY 1, 2 ORDER BY 2, 1"
report_runs "$out" "SELECT key_set, $rows AS entries, metric, am, value FROM result"
