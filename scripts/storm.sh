#!/bin/bash
# The storm (t/storm.pl, t/lib/SurfStorm.pm) for as long as asked, on the server that PG_CONFIG
# names, into which surfidx is installed first.
#
#	storm.sh [--seconds N] [--seed N] [--tables N] [--sessions N] [--no-standby] [--skip kind,kind]
#		[--weight kind=N] [--conf 'a = b'] [--trace] [--keep DIR] [--verbose]
#
# --skip: kinds of statements that are left out: the names in SurfStorm's @kinds and %ddl; ddl, all
# those of %ddl inside transactions; kill; promote.  --weight: how often one of @kinds comes, beside
# what others have there.  --trace: the log has every statement.  --keep: where to copy the servers'
# files of a failure.  INSTALLED=1: surfidx is installed already.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/cluster.sh
trap cluster_cleanup EXIT
trap 'exit 130' INT TERM
[ -n "$INSTALLED" ] || { scripts/setup.sh && scripts/install.sh; } || die "no surfidx installed"
find_postgres
make_workdir
cp -r t "$WORK/"
chown -R "$(test_user)" "$WORK"
cd "$WORK" || exit 1
as_user env TMPDIR="$WORK" PG_CONFIG="$PG_CONFIG" perl t/storm.pl "$@"
