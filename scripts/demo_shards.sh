#!/bin/bash
# A table over several servers, with surfidx on each: a front whose table is partitioned by hash
# over postgres_fdw, and three shards.  Rows go in while one shard is killed and comes back, and
# while another one is killed for good and its standby takes its place; all answers are compared
# with those of one plain table.  "make demo-shards" builds and installs first.
#
#	DEMO_ROWS=100000	rows before the load
#
# Ends with status 0 if every answer was right.  docs/scale-out.md tells what is shown.

set -e -o pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh
. scripts/cluster.sh
. scripts/demo/good.sh

rows=${DEMO_ROWS:-100000}
readonly SHARDS=3 LOAD_SECONDS=8
port=()

leave()
{
	set +e
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	wait
	cluster_cleanup
}

front()
{
	PGPORT=$front_port sql "$@"
}

start_shards()
{
	local i

	for ((i = 0; i < SHARDS; i++)); do
		cluster_start "shard$i" "max_connections = 40"
		port[i]=$PGPORT
		sql <<-'END'
			CREATE EXTENSION surfidx;
			SET surfidx.unique_notice = off;
			CREATE TABLE reading (id int8, device int, at timestamptz, v int,
				PRIMARY KEY (id) WITH (access_method = surfidx));
			CREATE INDEX ON reading USING surfidx (device, at) INCLUDE (v) WITH (delta_size = 256);
			CREATE INDEX ON reading USING surfidx (at) WITH (delta_size = 256);
		END
	done
}

# A standby of shard $1, which has each row before the front hears that it is committed.  The data
# are copied while nobody has to wait for a standby, so that the copy, promoted, waits for none.
start_standby()
{
	local data=$WORK/standby$1

	standby_port=$((port[$1] == 39999 ? 20000 : port[$1] + 1))
	until ! as_user "$BINDIR/pg_isready" -q -h "$WORK" -p "$standby_port"; do
		standby_port=$((standby_port + 1))
	done
	PGPORT=${port[$1]} as_user "$BINDIR/pg_basebackup" -D "$data" -R -c fast --no-sync
	echo "port = $standby_port" | as_user tee -a "$data/postgresql.conf" >/dev/null
	as_user "$BINDIR/pg_ctl" -D "$data" -l "$data.log" -w -t 60 start >/dev/null
	PGPORT=${port[$1]} sql -c "ALTER SYSTEM SET synchronous_standby_names = '*'" \
		-c "ALTER SYSTEM SET synchronous_commit = 'remote_apply'"
	PGPORT=${port[$1]} sql -A -t -c "SELECT pg_reload_conf()" >/dev/null
	until [ "$(PGPORT=${port[$1]} sql -A -t -c "SELECT sync_state
			FROM pg_stat_replication")" = sync ]; do
		sleep 0.1
	done
}

# Rows of a device are on one shard: what is grouped by devices is computed there.
start_front()
{
	local i

	cluster_start front "enable_partitionwise_aggregate = on" "enable_partitionwise_join = on"
	front_port=$PGPORT
	front <<-END
		CREATE EXTENSION postgres_fdw;
		CREATE TABLE plain (id int8 PRIMARY KEY, device int, at timestamptz, v int);
		CREATE TABLE reading (id int8, device int, at timestamptz, v int)
			PARTITION BY HASH (device);
	END
	for ((i = 0; i < SHARDS; i++)); do
		front <<-END
			CREATE SERVER shard$i FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST',
				port '${port[i]}', dbname 'postgres', async_capable 'true', use_remote_estimate 'true');
			CREATE USER MAPPING FOR CURRENT_USER SERVER shard$i OPTIONS (user 'postgres');
			CREATE FOREIGN TABLE reading_$i PARTITION OF reading
				FOR VALUES WITH (MODULUS $SHARDS, REMAINDER $i) SERVER shard$i
				OPTIONS (table_name 'reading', batch_size '1000');
		END
	done
}

load()
{
	front <<-END
		INSERT INTO plain SELECT i, i * 7919 % 1000, '2026-01-01 UTC'::timestamptz
			+ i * interval '1 minute', i % 997 FROM generate_series(1, $rows) i;
		INSERT INTO reading TABLE plain;
	END
	vacuum
}

vacuum()
{
	local p

	for p in "${port[@]}"; do
		PGPORT=$p sql -c "VACUUM ANALYZE reading"
	done
}

# What is asked of each of both tables.
readonly QUESTIONS=(
	"SELECT count(*), sum(v), min(at), max(at) FROM @"
	"SELECT md5(string_agg(concat(id, device, at, v), ',' ORDER BY id)) FROM @"
	"SELECT device, count(*), sum(v), max(at) FROM @ GROUP BY device ORDER BY device"
	"SELECT id, v FROM @ WHERE device = 77 AND at >= '2026-01-03 UTC' ORDER BY at, id LIMIT 50"
	"SELECT count(*), sum(v) FROM @ WHERE at BETWEEN '2026-01-10 UTC' AND '2026-01-20 UTC'"
	"SELECT id, at FROM @ WHERE at > '2026-02-01 UTC' ORDER BY at, id LIMIT 100"
	"SELECT count(*) FROM @ WHERE device IN (1, 5, 9) AND v > 500")

compare()
{
	local q is should same=t

	for q in "${QUESTIONS[@]}"; do
		is=$(front -A -t -c "${q//@/reading}")
		should=$(front -A -t -c "${q//@/plain}")
		[ "$is" = "$should" ] || { same=f; echo "differs: $q"; }
	done
	good $same "$1: ${#QUESTIONS[@]} questions, the answers of a plain table"
}

# plan pattern query: does the front ask so?
plan()
{
	local shown

	shown=$(front -A -t -c "EXPLAIN (VERBOSE, COSTS off) $3")
	if grep -q -e "$1" <<<"$shown"; then good t "$2"; else good f "$2"; echo "$shown"; fi
}

plans()
{
	local each

	plan "Async Foreign Scan" "shards are read side by side" \
		"SELECT * FROM reading WHERE at > '2026-02-01 UTC'"
	plan "Remote SQL: SELECT device, count(\*), sum(v)" "groups of devices are made by the shards" \
		"SELECT device, count(*), sum(v) FROM reading GROUP BY device"
	plan "Remote SQL.*ORDER BY at" "... and they sort" \
		"SELECT id, at FROM reading WHERE at > '2026-02-01 UTC' ORDER BY at LIMIT 10"
	each="SELECT sum(n) FROM (SELECT count(*) AS n FROM reading_0 UNION ALL
		SELECT count(*) FROM reading_1 UNION ALL SELECT count(*) FROM reading_2) s"
	plan "Remote SQL: SELECT count(\*)" "... and count, asked for each" "$each"
	good "$(front -A -t -c "SELECT ($each) = (SELECT count(*) FROM plain)")" "... the right number"
	each=$(PGPORT=${port[0]} sql -A -t -c "EXPLAIN SELECT device, count(*), sum(v) FROM reading
		GROUP BY device")
	good "$(grep -q SurfidxAggregate <<<"$each" && echo t)" "a shard computes groups from its index"
}

# One row after the other, into both tables or none, each tried until it is there: a shard that
# is killed may have committed what the front does not know of.
writer()
{
	local id=$((10000000 * $1)) end=$((SECONDS + LOAD_SECONDS))

	while [ "$SECONDS" -lt "$end" ]; do
		id=$((id + 1))
		until front -c "BEGIN" -c "INSERT INTO reading VALUES ($id, $id % 1000,
				'2026-06-01 UTC'::timestamptz + $id % 100000 * interval '1 minute', $id % 997)
				ON CONFLICT DO NOTHING" \
			-c "INSERT INTO plain VALUES ($id, $id % 1000,
				'2026-06-01 UTC'::timestamptz + $id % 100000 * interval '1 minute', $id % 997)" \
			-c "COMMIT" >/dev/null 2>&1; do
			echo >>"$WORK/again"
			sleep 0.05
		done
	done
}

# A power failure of one shard, as far as a process can see.
kill_shard()
{
	local data=$WORK/shard$1 pid i

	pid=$(head -1 "$data/postmaster.pid")
	kill -9 "$pid"
	# (not before the last of its processes has noticed)
	for ((i = 0; i < 100; i++)); do
		sleep 0.3
		! as_user "$BINDIR/pg_ctl" -D "$data" -l "$data.log" -w -t 60 start >/dev/null 2>&1 || return 0
	done
	tail "$data.log" >&2
	return 1
}

# Shard $1 does not come back: its standby is promoted, and the front told where it is.
promote_standby()
{
	kill -9 "$(head -1 "$WORK/shard$1/postmaster.pid")"
	as_user "$BINDIR/pg_ctl" -D "$WORK/standby$1" -w -t 60 promote >/dev/null
	port[$1]=$standby_port
	front -c "ALTER SERVER shard$1 OPTIONS (SET port '$standby_port')"
}

# under_load what shard: it happens to that shard while rows come in
under_load()
{
	local before after w

	before=$(front -A -t -c "SELECT count(*) FROM plain")
	rm -f "$WORK/again"
	for w in 1 2; do
		writer $((2 * $2 + w)) &
	done
	sleep 2
	"$@"
	wait
	after=$(front -A -t -c "SELECT count(*) FROM plain")
	good "$([ "$after" -gt "$before" ] && echo t)" "$((after - before)) rows came in meanwhile"
	echo "    tried again: $(wc -l <"$WORK/again" 2>/dev/null || echo 0)"
}

# Each shard's own look at its indexes, and all of them from the front.
check()
{
	local p problems=''

	for p in "${port[@]}"; do
		problems=$problems$(PGPORT=$p sql -A -t -c "SELECT indexrelid::regclass, problem
			FROM surfidx_check_all(true, true) WHERE problem IS NOT NULL")
	done
	good "$([ -z "$problems" ] && echo t)" "every index of every shard is sound"
	[ -z "$problems" ] || echo "$problems"
}

find_postgres
make_workdir
trap leave EXIT
trap 'exit 130' INT TERM
export PGOPTIONS="-c client_min_messages=warning"
start_shards
start_front
load
plans
compare "$rows rows"
under_load kill_shard 1
compare "a shard was killed with SIGKILL under load, and is back"
start_standby 2
under_load promote_standby 2
compare "another one was killed under load, and its standby promoted"
front -c "UPDATE reading SET v = v + 1 WHERE device % 10 = 3" \
	-c "UPDATE plain SET v = v + 1 WHERE device % 10 = 3" \
	-c "DELETE FROM reading WHERE device % 10 = 4" -c "DELETE FROM plain WHERE device % 10 = 4"
vacuum
compare "rows changed and deleted, VACUUM"
check
[ $wrong -eq 0 ] || die "$wrong wrong"
echo "all answers were right, $SECONDS s"
