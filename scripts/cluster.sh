# Sourced: throw-away clusters.  Call make_workdir and find_postgres (common.sh) first.
#
#	cluster_start name [configuration line]...	sets PGDATA, PGHOST, PGPORT, PGUSER, PGDATABASE, CLUSTER_LOG
#	cluster_stop [mode]							the one that was started last; mode fast, immediate, smart
#	sql [argument of psql]...					asks it; an error ends it
#	cluster_cleanup								stops what runs in $WORK and removes it: for trap ... EXIT
#
# A cluster listens on a socket in $WORK only, so that it meets no other one. It is in the C locale unless
# CLUSTER_INITDB_OPTS says otherwise.  TEST_CONF may hold more configuration lines, separated by semicolons.

CLUSTER_RUNNING=

cluster_start()
{
	local name=$1

	shift
	export PGDATA=$WORK/$name PGHOST=$WORK PGUSER=postgres PGDATABASE=postgres
	export PGPORT=$((20000 + RANDOM % 20000))
	CLUSTER_LOG=$WORK/$name.log
	# shellcheck disable=SC2086
	as_user "$BINDIR/initdb" -D "$PGDATA" -U postgres -A trust -E UTF8 --no-sync \
		${CLUSTER_INITDB_OPTS:---no-locale} >"$WORK/initdb.log" 2>&1 ||
		{ cat "$WORK/initdb.log" >&2; return 1; }
	{
		echo "shared_preload_libraries = 'surfidx'"
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$WORK'"
		echo "port = $PGPORT"
		echo "fsync = off"
		echo "lc_messages = 'C'"
		echo "jit = off"	# plans that are only disabled cost enough for it to compile them
		echo "log_line_prefix = '%m [%p] %a '"
		[ -z "$TEST_CONF" ] || echo "${TEST_CONF//;/$'\n'}"
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} | as_user tee -a "$PGDATA/postgresql.conf" >/dev/null
	if ! as_user "$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -w -t 60 start >"$WORK/pg_ctl.log" 2>&1; then
		cat "$WORK/pg_ctl.log" "$CLUSTER_LOG" >&2
		return 1
	fi
	CLUSTER_RUNNING=$PGDATA
}

cluster_stop()
{
	[ -n "$CLUSTER_RUNNING" ] || return 0
	as_user "$BINDIR/pg_ctl" -D "$CLUSTER_RUNNING" -m "${1:-fast}" -w -t 60 stop >/dev/null 2>&1 ||
		as_user "$BINDIR/pg_ctl" -D "$CLUSTER_RUNNING" -m immediate -w stop >/dev/null 2>&1
	CLUSTER_RUNNING=
}

sql()
{
	psql -X -q -v ON_ERROR_STOP=1 "$@"
}

# Servers that a TAP test left behind when it was killed have their data below $WORK, too.
cluster_cleanup()
{
	local pidfile

	[ -n "$WORK" ] || return 0
	cd /
	find "$WORK" -name postmaster.pid 2>/dev/null | while read -r pidfile; do
		as_user "$BINDIR/pg_ctl" -D "$(dirname "$pidfile")" -m immediate -w stop >/dev/null 2>&1
	done
	CLUSTER_RUNNING=
	# what a test has mounted (scripts/test.sh)
	[ -z "$SURFIDX_SMALL_DISK" ] || umount "$SURFIDX_SMALL_DISK"
	rm -rf "$WORK"
}
