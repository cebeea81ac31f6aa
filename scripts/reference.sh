#!/bin/bash
# Write docs/reference.md anew (scripts/reference.sql), by a server of its own with the library that
# is installed: `make install` first.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/cluster.sh
clean_environment "$@"
find_postgres
make_workdir
trap cluster_cleanup EXIT
cp scripts/reference.sql "$WORK/"
cluster_start reference && sql -c "CREATE EXTENSION surfidx" &&
	sql -f "$WORK/reference.sql" >"$WORK/reference.md" && cp "$WORK/reference.md" docs/reference.md
