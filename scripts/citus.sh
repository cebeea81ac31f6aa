#!/bin/bash
# surfidx below Citus, as docs/integrations.md tells it: a coordinator and two workers, distributed,
# reference and partitioned tables, keys, shards that move, split and are isolated while rows come in.
# PG_CONFIG names a server that Citus (13.2 or later) and surfidx are installed in; Debian has no
# package of Citus.  A line for each check; status 1 if one is not as told.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/cluster.sh
. scripts/says.sh
readonly ROWS=60000
declare -A port

leave()
{
	[ -z "$writer" ] || kill "$writer" 2>/dev/null
	wait
	cluster_cleanup
}

# at node [argument of psql]...
at()
{
	local node=$1

	shift
	PGPORT=${port[$node]} sql -At "$@"
}

# works what statement...: each of them works
works()
{
	local what=$1 said

	shift
	said=$(printf '%s;\n' "$@" | at front -f - 2>&1 >/dev/null) && said=
	says "$what" '' "$said"
}

start_servers()
{
	local node

	for node in front one two; do
		cluster_start "$node" "shared_preload_libraries = 'citus,surfidx'" \
			"listen_addresses = 'localhost'" "wal_level = logical" "max_connections = 200" \
			"max_prepared_transactions = 100" "max_replication_slots = 20" "max_wal_senders = 20" \
			"max_worker_processes = 40" "max_logical_replication_workers = 20" \
			"citus.node_conninfo = 'sslmode=disable'" "surfidx.unique_notice = off" \
			"citus.enable_statistics_collection = off" || die "no server $node"
		port[$node]=$PGPORT
		sql -c "CREATE EXTENSION citus" -c "CREATE EXTENSION surfidx"
	done
	at front >/dev/null <<-END
		SELECT citus_set_coordinator_host('localhost', ${port[front]});
		SELECT citus_add_node('localhost', ${port[one]});
		SELECT citus_add_node('localhost', ${port[two]});
	END
}

# the same rows in a plain table and in distributed ones
make_tables()
{
	works "tables are distributed" "SET citus.shard_count = 8" \
		"CREATE TABLE plain (tenant int, id int8, at timestamptz, kind text, v int,
			PRIMARY KEY (tenant, id))" \
		"CREATE TABLE event (LIKE plain)" \
		"CREATE INDEX event_made_before ON event USING surfidx (kind)" \
		"SELECT create_distributed_table('event', 'tenant')" \
		"CREATE UNIQUE INDEX event_once ON event USING surfidx (tenant, id)" \
		"CREATE INDEX event_at ON event USING surfidx (tenant, at) INCLUDE (v)
			WITH (delta_size = 64)" \
		"CREATE INDEX CONCURRENTLY event_v ON event USING surfidx (v)"
	works "so are partitioned ones" \
		"CREATE TABLE daily (LIKE plain) PARTITION BY RANGE (at)" \
		"CREATE INDEX ON daily USING surfidx (tenant, at)" \
		"SELECT create_distributed_table('daily', 'tenant')" \
		"CREATE TABLE daily_1 PARTITION OF daily FOR VALUES FROM ('2026-01-01') TO ('2026-02-01')" \
		"CREATE TABLE daily_2 PARTITION OF daily FOR VALUES FROM ('2026-02-01') TO ('2027-01-01')"
	works "reference tables" \
		"CREATE TABLE kind (kind text)" "SELECT create_reference_table('kind')" \
		"CREATE UNIQUE INDEX ON kind USING surfidx (kind)"
	works "... with rows, all in one transaction" "BEGIN" \
		"CREATE TABLE own (k int)" "CREATE INDEX ON own USING surfidx (k) WITH (delta_size = 64)" \
		"SELECT create_reference_table('own')" \
		"INSERT INTO own SELECT hashint4(i) FROM generate_series(1, 50000) i" "COMMIT" \
		"INSERT INTO own SELECT k + 1 FROM own"
	works "rows come in" \
		"INSERT INTO plain SELECT i % 97, i, '2026-01-01'::timestamptz + i * interval '1 minute',
			'k' || i % 13, i * 7919 % 1000 FROM generate_series(1, $ROWS) i" \
		"INSERT INTO event TABLE plain" "INSERT INTO daily TABLE plain" \
		"INSERT INTO kind SELECT DISTINCT kind FROM plain" "VACUUM ANALYZE event"
}

# the same statement of the table t, asked of the plain and of the distributed one
same_answers()
{
	local question n=0 plain there

	while read -r question; do
		n=$((n + 1))
		plain=$(at front -c "${question//@/plain}")
		there=$(at front -c "${question//@/event}")
		[ "$there" = "$plain" ] || says "$1: $question" "$plain" "$there"
	done <<-'END'
		SELECT count(*), sum(v), max(at) FROM @
		SELECT count(*), sum(v) FROM @ WHERE tenant = 5
		SELECT * FROM @ WHERE tenant = 7 AND id = 7
		SELECT id, v FROM @ WHERE tenant = 9 AND at > '2026-01-20' ORDER BY at LIMIT 10
		SELECT tenant, count(*), sum(v) FROM @ GROUP BY tenant ORDER BY tenant
		SELECT kind, count(*) FROM @ GROUP BY kind ORDER BY kind
		SELECT date_trunc('day', at), count(*) FROM @ WHERE tenant = 3 GROUP BY 1 ORDER BY 1
		SELECT count(*) FROM @ JOIN kind USING (kind) WHERE v BETWEEN 10 AND 20
	END
	says "$1: $n statements answer as of a plain table" "$n" "$n"
}

# what docs/integrations.md says to run; each worker's answer
sound()
{
	says "$1: all indexes of all servers are sound" 'sound' "$(at front -c "
		SELECT DISTINCT result FROM run_command_on_all_nodes(\$\$SELECT coalesce(string_agg(
			format('%s: %s', indexrelname, problem), '; '), 'sound')
			FROM surfidx_check_all() WHERE problem IS NOT NULL\$\$)")"
}

# Rows that come in while a shard goes away: each is in both tables, or will be tried again.
write_on()
{
	local i

	for ((i = ROWS + 1; ; i++)); do
		at front -c "INSERT INTO event VALUES ($((i % 97)), $i, '2026-03-01', 'w', 1)
			ON CONFLICT (tenant, id) DO UPDATE SET v = 1" 2>/dev/null &&
			echo "$i" >>"$WORK/written"
	done
}

while_written()
{
	local what=$1 before after

	shift
	before=$(wc -l <"$WORK/written")
	works "$what" "$@"
	until after=$(wc -l <"$WORK/written"); [ "$after" -gt $((before + 5)) ]; do sleep 0.1; done
}

move_shards()
{
	local shard

	touch "$WORK/written"
	write_on &
	writer=$!
	shard=$(at front -c "SELECT shardid FROM citus_shards WHERE table_name = 'event'::regclass
		AND nodeport = ${port[one]} ORDER BY shardid LIMIT 1")
	while_written "a shard moves" "SELECT citus_move_shard_placement($shard, 'localhost',
		${port[one]}, 'localhost', ${port[two]}, 'force_logical')"
	while_written "... and back in one transaction" "SELECT citus_move_shard_placement($shard,
		'localhost', ${port[two]}, 'localhost', ${port[one]}, 'block_writes')"
	while_written "a shard is split" "SELECT citus_split_shard_by_split_points($shard,
		ARRAY[((SELECT (shardminvalue::int8 + shardmaxvalue::int8) / 2 FROM pg_dist_shard
			WHERE shardid = $shard))::text], (SELECT array_agg(nodeid) FROM (SELECT nodeid FROM
			pg_dist_node WHERE groupid > 0 ORDER BY nodeid LIMIT 2) n), 'force_logical')"
	while_written "a tenant gets its own" \
		"SELECT isolate_tenant_to_new_shard('event', 5, 'CASCADE', shard_transfer_mode => 'block_writes')"
	while_written "shards are rebalanced" "SELECT rebalance_table_shards(
		shard_transfer_mode => 'force_logical')"
	kill "$writer"
	wait "$writer" 2>/dev/null
	writer=
	says "all that was written meanwhile is there" "$(wc -l <"$WORK/written")" "$(at front -c "
		SELECT count(*) FROM event WHERE id = ANY ('{$(paste -sd, "$WORK/written")}')")"
	works "and goes" "DELETE FROM event WHERE id > $ROWS"
}

keys()
{
	works "a key on surfidx" \
		"CREATE TABLE account (id int8, v int, PRIMARY KEY (id) WITH (access_method = surfidx))" \
		"SELECT create_distributed_table('account', 'id')" \
		"INSERT INTO account SELECT i, i FROM generate_series(1, 1000) i" \
		"INSERT INTO account VALUES (5, 0) ON CONFLICT (id) DO UPDATE SET v = -1"
	says "... of each shard" 'surfidx' "$(at front -c "SELECT DISTINCT result
		FROM run_command_on_shards('account', \$\$SELECT amname FROM pg_index
			JOIN pg_class i ON i.oid = indexrelid JOIN pg_am a ON a.oid = relam
			WHERE indrelid = '%s'::regclass AND indisprimary\$\$)")"
}

coordinator()
{
	says "an index of the empty shell answers nothing" '0A000' "$(at front -v VERBOSITY=sqlstate \
		-c "SELECT surfidx_count('event_at')" 2>&1 | sed -n 's/^ERROR:  //p')"
	says "and is kept as it is" 't' "$(at front -c "SELECT bool_and(statement IS NULL
		OR remark IS NOT NULL) FROM surfidx_convert('event', method => 'btree')" 2>&1)"
}

make_workdir
trap leave EXIT
find_postgres
[ -f "$("$PG_CONFIG" --sharedir)/extension/citus.control" ] || die "$PG_CONFIG has no Citus"
start_servers
make_tables
same_answers "loaded"
sound "loaded"
move_shards
same_answers "moved"
sound "moved"
keys
coordinator
exit $failed
