#!/bin/bash
# surfidx below Patroni, as docs/integrations.md tells it: two servers that Patroni makes, a planned
# change of the primary and one after a crash, what was the primary made a standby by pg_rewind.
# On Debian as root: installs Patroni by apt.  Its store is its own (Raft): no etcd is needed.
# A line for each check; status 1 if one is not as told.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/cluster.sh
. scripts/says.sh
readonly PATIENCE=60
declare -A pid

# At once: a program that is told to end hands over first, or waits for the others.
end_node()
{
	kill -KILL "$(cat "$WORK/$1.pid")"
	wait "${pid[$1]}"
	unset "pid[$1]"
} 2>/dev/null

leave()
{
	local n

	for n in "${!pid[@]}"; do end_node "$n"; done
	cluster_cleanup
}

# at node [argument of psql]...
at()
{
	psql -X -q -At -h "$WORK" -p $((base + $1)) -U postgres -d postgres "${@:2}" 2>&1
}

# until what wanted command...: the command prints that
until_says()
{
	local what=$1 wanted=$2 end=$((SECONDS + PATIENCE)) got

	shift 2
	until got=$("$@" 2>&1); [ "$got" = "$wanted" ] || [ $SECONDS -gt $end ]; do sleep 0.5; done
	says "$what" "$wanted" "$got"
	[ $failed -eq 0 ] || { tail -n 50 "$WORK"/patroni?.log; exit 1; }
}

# node number: its configuration.  0 has no server: it only has a voice.
configure()
{
	local n=$1 others=() i

	for i in 0 1 2; do
		[ "$i" = "$n" ] || others+=("127.0.0.1:$((base + 20 + i))")
	done
	as_user tee "$WORK/$n.yml" >/dev/null <<-END
		scope: app
		name: node$n
		restapi:
		  listen: 127.0.0.1:$((base + 10 + n))
		  connect_address: 127.0.0.1:$((base + 10 + n))
		raft:
		  data_dir: $WORK/raft$n
		  self_addr: 127.0.0.1:$((base + 20 + n))
		  partner_addrs: ["${others[0]}", "${others[1]}"]
		bootstrap:
		  dcs:
		    ttl: 20
		    loop_wait: 1
		    retry_timeout: 5
		    maximum_lag_on_failover: 0
		    postgresql:
		      use_pg_rewind: true
		      parameters:
		        shared_preload_libraries: surfidx
		        wal_log_hints: on
		        surfidx.unique_notice: off
		        fsync: off
		  initdb: [{encoding: UTF8}, {locale: C}, no-sync]
		  pg_hba: ["local all all trust", "host all all 127.0.0.1/32 trust",
		    "host replication all 127.0.0.1/32 trust"]
		postgresql:
		  listen: 127.0.0.1:$((base + n))
		  connect_address: 127.0.0.1:$((base + n))
		  data_dir: $WORK/pg$n
		  bin_dir: $BINDIR
		  use_unix_socket: true
		  authentication:
		    superuser: {username: postgres}
		    replication: {username: postgres}
		  parameters: {unix_socket_directories: "$WORK"}
	END
}

run_node()
{
	local program=patroni

	[ "$1" != 0 ] || program=patroni_raft_controller
	# shellcheck disable=SC2016	# the shell whose number it is
	as_user sh -c 'echo $$ >"$1.pid"; exec "$2" "$1.yml"' sh "$WORK/$1" "$program" \
		>>"$WORK/patroni$1.log" 2>&1 &
	pid[$1]=$!
}

ctl()
{
	as_user patronictl -c "$WORK/1.yml" "$@"
}

is_primary()
{
	at "$1" -c 'SELECT NOT pg_is_in_recovery()'
}

# What is in table and index, and what is wrong with them.
content()
{
	at "$1" -c "SET enable_seqscan = off" -c "SELECT count(*), sum(hashtext(v)::int8), (SELECT
		string_agg(problem, '; ') FROM surfidx_check_all(true, true)) FROM kept WHERE v > '5'"
}

# primary from: rows of all kinds, merged ones and such as are only in the log
more_rows()
{
	at "$1" -c "INSERT INTO kept SELECT i, md5(i::text) FROM generate_series($2, $2 + 9999) i" \
		-c "SELECT surfidx_merge('kept_v')" -c "DELETE FROM kept WHERE id % 7 = 0" \
		-c "VACUUM kept" \
		-c "INSERT INTO kept SELECT i, md5(i::text)
			FROM generate_series($2 + 10000, $2 + 10999) i" \
		>/dev/null
}

make_workdir
trap leave EXIT
find_postgres
command -v patroni >/dev/null && /usr/bin/python3 -c 'import pysyncobj' 2>/dev/null ||
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends patroni \
		python3-pysyncobj >/dev/null || die "could not install Patroni"
scripts/install.sh >/dev/null || die "could not build and install surfidx"
base=$((20000 + RANDOM % 20000))
for n in 0 1 2; do configure $n; done
run_node 0
run_node 1
until_says "Patroni makes a primary" t is_primary 1
run_node 2
until_says "and a standby" f is_primary 2
at 1 -c 'CREATE EXTENSION surfidx' -c 'CREATE TABLE kept (id int8 PRIMARY KEY
	WITH (access_method = surfidx), v text)' \
	-c 'CREATE INDEX kept_v ON kept USING surfidx (v) WITH (delta_size = 128)'
more_rows 1 1
until_says "the standby has all of it, in sound indexes" "$(content 1)" content 2

ctl switchover --force --candidate node2 app >"$WORK/switchover" 2>&1
until_says "a planned change: the standby is the primary" t is_primary 2
until_says "... and the primary a standby" f is_primary 1
more_rows 2 30001
until_says "... which has what comes then" "$(content 2)" content 1

stop_point=$(at 2 -c 'SELECT pg_current_wal_lsn()')
end_node 2
kill -KILL "$(head -1 "$WORK/pg2/postmaster.pid")"
until_says "a crash: the standby is the primary" t is_primary 1
more_rows 1 60001
run_node 2
until_says "... and what comes back a standby" f is_primary 2
until_says "... which has what came meanwhile" "$(content 1)" content 2
says "... in the primary's history" t "$(at 1 -c "SELECT pg_current_wal_lsn() > '$stop_point'")"
exit $failed
