#!/bin/bash
# What other tools make of surfidx indexes, as docs/integrations.md tells it: Django, SQLAlchemy and
# Alembic, pg_partman, pg_repack, HypoPG, pg_amcheck, pgBackRest, repmgr.  On Debian as root: installs
# them by apt, for the server's version.  A line for each; status 1 if one is not as told.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/cluster.sh
trap cluster_cleanup EXIT
make_workdir
find_postgres
version=$("$PG_CONFIG" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
python=/usr/bin/python3
failed=0

"$python" -c 'import alembic, django, psycopg2, sqlalchemy' 2>/dev/null &&
	[ -x "$BINDIR/pg_repack" ] && [ -x "$BINDIR/repmgr" ] &&
	command -v pgbackrest >/dev/null && [ -f "$("$PG_CONFIG" --sharedir)/extension/hypopg.control" ] ||
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends python3-django \
		python3-sqlalchemy python3-alembic python3-psycopg2 "postgresql-$version-repack" \
		"postgresql-$version-partman" "postgresql-$version-hypopg" pgbackrest \
		"postgresql-$version-repmgr" >/dev/null ||
	die "could not install the tools"
scripts/install.sh >/dev/null || die "could not build and install surfidx"

# says name words command...: the command's output has these words
says()
{
	local name=$1 words=$2

	shift 2
	if "$@" >"$WORK/said" 2>&1 && grep -q -e "$words" "$WORK/said"; then
		echo "$name: ok"
	else
		echo "$name: NOT as told:"
		cat "$WORK/said"
		failed=1
	fi
}

query()
{
	psql -X -At -c "$1"
}

backrest=(pgbackrest --config="$WORK/pgbackrest.conf" --stanza=app)
cluster_start integrations "archive_mode = on" "archive_command = '${backrest[*]} archive-push %p'" \
	"wal_log_hints = on" "surfidx.unique_notice = off" || die "no server"
sql -c "CREATE EXTENSION surfidx; CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman;
	CREATE EXTENSION hypopg; CREATE EXTENSION pg_repack; CREATE EXTENSION amcheck"
"$python" scripts/integrations.py || failed=1

sql <<-'END'
	CREATE TABLE reading (sensor int, at timestamptz NOT NULL) PARTITION BY RANGE (at);
	CREATE INDEX ON reading USING surfidx (sensor);
	CREATE TABLE reading_template (LIKE reading);
	CREATE UNIQUE INDEX ON reading_template USING surfidx (at, sensor);
	CREATE TABLE packed (id int PRIMARY KEY WITH (access_method = surfidx), v text);
	INSERT INTO packed SELECT i, md5(i::text) FROM generate_series(1, 20000) i;
	CREATE INDEX packed_v ON packed USING surfidx (v) WITH (delta_size = 128);
	DELETE FROM packed WHERE id % 3 = 0;
END
if [ "$version" -lt 17 ]; then
	sql -c "SELECT partman.create_parent('public.reading', 'at', 'native', 'daily',
		p_template_table := 'public.reading_template')" >/dev/null
else
	sql -c "SELECT partman.create_parent('public.reading', 'at', '1 day',
		p_template_table := 'public.reading_template')" >/dev/null
fi
says "pg_partman: partitions get the parent's and the template's indexes" '^surfidx|t$' query "
	SELECT amname, count(*) = 2 * count(DISTINCT indrelid) FROM pg_inherits
	JOIN pg_index ON inhrelid = indrelid JOIN pg_class i ON i.oid = indexrelid
	JOIN pg_am a ON a.oid = relam
	WHERE inhparent = 'reading'::regclass GROUP BY 1"
says "pg_repack: the table is written anew" 'repacking table "public.packed"' \
	"$BINDIR/pg_repack" -t packed -d postgres
says "pg_repack: its indexes keep method and parameters" '^2$' query "
	SELECT count(*) FROM pg_indexes WHERE tablename = 'packed'
	AND indexdef ~ 'USING surfidx .* WITH .*(access_method=surfidx|delta_size=.128)'"
says "pg_repack: and are sound" '^0$' query "
	SELECT count(problem) FROM surfidx_check_all(true, true)"
says "HypoPG: refuses the method" 'access method "surfidx" is not supported' \
	bash -c "! psql -c \"SELECT hypopg_create_index('CREATE INDEX ON packed USING surfidx (v)')\""
says "pg_amcheck: skips what is not btree" 'no btree indexes to check' \
	bash -c "! '$BINDIR/pg_amcheck' -d postgres -i 'packed*'"

# ---- what copies files: merged leaves and deltas, some of them in WAL after the copy ----

CONTENT="SELECT count(*), md5(string_agg(v, ',' ORDER BY v)), (SELECT count(problem)
	FROM surfidx_check_all(true, true)) FROM packed WHERE v > '5'"

more_rows()
{
	sql -c "INSERT INTO packed SELECT i, md5(i::text) FROM generate_series($1, $1 + 3000) i" \
		-c "SELECT surfidx_merge('packed_v')" -c "DELETE FROM packed WHERE id % 7 = 0" \
		-c "INSERT INTO packed SELECT i, md5(i::text) FROM generate_series($1 + 5000, $1 + 5099) i" \
		>/dev/null
}

# file line...: a file that the server's user may read
conf()
{
	local file=$1

	shift
	printf '%s\n' "$@" | as_user tee "$file" >/dev/null
}

conf "$WORK/pgbackrest.conf" "[global]" "repo1-path=$WORK/backrest" "lock-path=$WORK/backrest.lock" \
	"log-level-file=off" "log-level-console=info" "start-fast=y" "[app]" "pg1-path=$PGDATA" \
	"pg1-socket-path=$WORK" "pg1-port=$PGPORT" "pg1-user=postgres"
says "pgBackRest: knows the server" 'completed successfully' as_user "${backrest[@]}" stanza-create
more_rows 30000
says "pgBackRest: a backup" 'completed successfully' as_user "${backrest[@]}" backup
more_rows 50000
says "pgBackRest: WAL after it" 'completed successfully' as_user "${backrest[@]}" check

# node number directory port: repmgr's configuration
node()
{
	conf "$WORK/node$1.conf" "node_id=$1" "node_name='node$1'" "data_directory='$2'" \
		"conninfo='host=$WORK port=$3 user=postgres dbname=postgres'" "pg_bindir='$BINDIR'"
}

other=$((PGPORT + 1))
node 1 "$PGDATA" "$PGPORT"
node 2 "$WORK/standby" "$other"
repmgr=(as_user "$BINDIR/repmgr" -f)
says "repmgr: a primary" 'registered' "${repmgr[@]}" "$WORK/node1.conf" primary register
says "repmgr: a standby's copy" 'standby clone.*complete' "${repmgr[@]}" "$WORK/node2.conf" \
	-h "$WORK" -p "$PGPORT" -U postgres -d postgres standby clone --fast-checkpoint
conf "$WORK/standby.port" "port = $other" "archive_mode = off"
as_user sh -c "cat '$WORK/standby.port' >>'$WORK/standby/postgresql.conf'"
as_user "$BINDIR/pg_ctl" -D "$WORK/standby" -l "$WORK/standby.log" -w start >/dev/null
says "repmgr: a standby" 'registration complete' \
	"${repmgr[@]}" "$WORK/node2.conf" standby register --wait-sync
more_rows 70000
query "$CONTENT" >"$WORK/content"
cluster_stop
says "repmgr: which is promoted" 'STANDBY PROMOTE successful' \
	"${repmgr[@]}" "$WORK/node2.conf" standby promote
PGPORT=$other says "repmgr: ... and has all of it, in sound indexes" "^$(cat "$WORK/content")$" \
	query "$CONTENT"
PGPORT=$other says "repmgr: ... and goes on" '^INSERT' psql -X -c "INSERT INTO packed VALUES (-1, 'x')"
as_user "$BINDIR/pg_ctl" -D "$WORK/standby" -m fast -w stop >/dev/null

says "pgBackRest: a restore" 'completed successfully' as_user "${backrest[@]}" \
	--pg1-path="$WORK/restored" restore
conf "$WORK/restored/postgresql.auto.conf.more" "archive_mode = off"
as_user sh -c "cat '$WORK/restored/postgresql.auto.conf.more' >>'$WORK/restored/postgresql.auto.conf'"
as_user "$BINDIR/pg_ctl" -D "$WORK/restored" -l "$WORK/restored.log" -w start >/dev/null
until [ "$(query 'SELECT pg_is_in_recovery()')" = f ]; do sleep 0.2; done
says "pgBackRest: ... has all of it, in sound indexes" "^$(cat "$WORK/content")$" query "$CONTENT"
as_user "$BINDIR/pg_ctl" -D "$WORK/restored" -m fast -w stop >/dev/null
exit $failed
