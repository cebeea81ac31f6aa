#!/bin/bash
# Many indexes at once: eight on one table, one on each of 200 tables that are written in turn, one
# on each of 2,000 partitions of which each gets a few rows at a time.  CPU is that of all
# processes of the server that have ended (sessions, merge workers), WAL and CPU are of the inserts
# alone, with the table's own ("none" has no index); size is of the indexes, when all is done.
#
#	bench/many.sh [--runs n] [--scale n] [--memory size] [--only "eight tables partitions"]
#
#	--runs n		rounds, access methods in turn in each (default 3)
#	--scale n		part of the rows: 1 is 400,000 for each (default 1)
#	--memory size	surfidx.delta_memory (default 64MB)
#	--only "..."	parts (default all)

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

runs=3
scale=1
memory=64MB
only="eight tables partitions"

take_options "runs scale memory only" "$@"
no_words

own_cluster many "shared_buffers = 256MB" "autovacuum = off" "jit = off" "max_wal_size = 8GB" \
	"max_locks_per_transaction = 1000" "surfidx.delta_memory = '$memory'"
sql <<'END'
CREATE EXTENSION surfidx;
CREATE TABLE run (part text, am text, cpu float8, wal float8, mb float8, merges bigint, starts bigint);
CREATE FUNCTION each_of(n int, what text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN FOR i IN 1 .. n LOOP EXECUTE replace(what, '#', i::text); END LOOP; END $$;
-- random, and the same in each run
CREATE FUNCTION mix(g bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
	$$ SELECT (g * 6364136223846793005::numeric % 1000000007)::bigint $$;
END

# make part am, and load part: into that many rows
make_eight()
{
	local columns=(id r1 r2 r3 m e low at) c

	sql -c "CREATE TABLE t (id bigint, r1 bigint, r2 int, r3 bigint, m text COLLATE \"C\",
		e text COLLATE \"C\", low int, at timestamptz)"
	[ "$1" = none ] || for c in "${columns[@]}"; do sql -c "CREATE INDEX ON t USING $1 ($c)"; done
}

load_eight()
{
	local i n=$((20000 / scale))

	for ((i = 0; i < 20; i++)); do
		sql -c "INSERT INTO t SELECT g, mix(g), mix(g + 7), mix(g * 3), md5(g::text),
			'user' || mix(g) || '@example' || g % 50 || '.org', g % 1000,
			'2026-01-01'::timestamptz + g * interval '1 s'
			FROM generate_series($i * $n + 1, ($i + 1) * $n) g"
	done
}

make_tables()
{
	sql -c "SELECT each_of(200, 'CREATE TABLE t# (k bigint, v int)')" >/dev/null
	[ "$1" = none ] ||
		sql -c "SELECT each_of(200, 'CREATE UNIQUE INDEX ON t# USING $1 (k)')" >/dev/null
}

# a statement of four rows for each table in turn, from two sessions
load_tables()
{
	local s

	for s in 0 1; do
		sql -c "DO \$\$BEGIN FOR i IN 1 .. $((250 / scale)) LOOP
			PERFORM each_of(200, 'INSERT INTO t# SELECT mix(g * 200 + #), g
				FROM generate_series(' || ($s * 1000 + i) * 4 || ', ' || ($s * 1000 + i) * 4 + 3
				|| ') g'); COMMIT; END LOOP; END\$\$" &
	done
	wait
}

make_partitions()
{
	sql -c "CREATE TABLE t (k bigint, v int) PARTITION BY HASH (k)" \
		-c "DO \$\$BEGIN FOR i IN 0 .. 1999 LOOP EXECUTE format('CREATE TABLE t%s PARTITION OF t
		FOR VALUES WITH (MODULUS 2000, REMAINDER %s)', i, i); COMMIT; END LOOP; END\$\$"
	[ "$1" = none ] || sql -c "CREATE INDEX ON t USING $1 (k)"
}

load_partitions()
{
	local i n=$((20000 / scale))

	for ((i = 0; i < 20; i++)); do
		sql -c "INSERT INTO t SELECT mix(g), g FROM generate_series($i * $n + 1, ($i + 1) * $n) g"
	done
}

all_cpu()
{
	awk '{print $16 + $17}' "/proc/$(head -1 "$PGDATA/postmaster.pid")/stat"
}

# until no worker is there, and what has ended is counted
settled()
{
	sql -c "DO \$\$BEGIN WHILE EXISTS (SELECT FROM pg_stat_activity
		WHERE backend_type LIKE 'surfidx%') LOOP PERFORM pg_sleep(0.05);
		PERFORM pg_stat_clear_snapshot(); END LOOP; END\$\$"
	sleep 0.3
}

measure()
{
	local part=$1 am=$2 cpu wal starts rows=$((400000 / scale))

	sql -c "DO \$\$DECLARE r record; BEGIN FOR r IN SELECT relname FROM pg_class
		WHERE relname ~ '^t\\d*\$' AND relkind IN ('r', 'p') AND NOT relispartition LOOP
		EXECUTE 'DROP TABLE ' || r.relname; COMMIT; END LOOP; END\$\$"
	"make_$part" "$am"
	sql -c CHECKPOINT
	settled
	starts=$(sql -Atc "SELECT taken FROM surfidx_shared_memory() WHERE name = 'merge workers'")
	wal=$(sql -Atc "SELECT pg_current_wal_insert_lsn() - '0/0'")
	cpu=$(all_cpu)
	"load_$part"
	settled
	cpu=$(($(all_cpu) - cpu))
	sql -c "INSERT INTO run SELECT '$part', '$am', $cpu * 1e4 / $rows,
		(pg_current_wal_insert_lsn() - '0/0' - $wal) / $rows,
		(SELECT sum(pg_relation_size(indexrelid)) / 1048576.0 FROM pg_index i
			WHERE EXISTS (SELECT FROM pg_class c WHERE c.oid = indrelid AND relname ~ '^t\\d*\$'
			AND relkind = 'r')),
		(SELECT sum((SELECT merges FROM surfidx_meta(c.oid::regclass))) FROM pg_class c
			WHERE relkind = 'i' AND relam = (SELECT oid FROM pg_am WHERE amname = 'surfidx')),
		(SELECT taken - $starts FROM surfidx_shared_memory() WHERE name = 'merge workers')"
	sql -Atc "SELECT * FROM run ORDER BY ctid DESC LIMIT 1"
}

report_machine
for ((i = 0; i < runs; i++)); do
	for part in $only; do
		for am in none btree surfidx; do measure "$part" "$am"; done
	done
done
echo "# load: $(cut -d' ' -f1-3 /proc/loadavg)"
sql -P footer=off -P border=0 -c "SELECT part, am,
	format('%s (%s-%s)', round(m[1]::numeric, 2), round(lo[1]::numeric, 2),
		round(hi[1]::numeric, 2)) AS \"CPU, us a row\",
	format('%s (%s-%s)', round(m[2]), round(lo[2]), round(hi[2])) AS \"WAL, bytes a row\",
	format('%s (%s-%s)', round(m[3]::numeric, 1), round(lo[3]::numeric, 1),
		round(hi[3]::numeric, 1)) AS \"indexes, MB\", m[4] AS merges, m[5] AS workers
	FROM (SELECT part, am,
		percentile_disc(ARRAY[0.5]) WITHIN GROUP (ORDER BY cpu) || percentile_disc(ARRAY[0.5])
		WITHIN GROUP (ORDER BY wal) || percentile_disc(ARRAY[0.5]) WITHIN GROUP (ORDER BY mb)
		|| percentile_disc(ARRAY[0.5]) WITHIN GROUP (ORDER BY merges::float8)
		|| percentile_disc(ARRAY[0.5]) WITHIN GROUP (ORDER BY starts::float8) AS m,
		ARRAY[min(cpu), min(wal), min(mb)] AS lo, ARRAY[max(cpu), max(wal), max(mb)] AS hi
		FROM run GROUP BY part, am) x ORDER BY part, am"
echo "# $SECONDS s"
