#!/bin/bash
# For the image of ../Dockerfile: run by its entry point when a database is made, with the temporary server up.

set -e
echo "shared_preload_libraries = 'surfidx'" >>"$PGDATA/postgresql.conf"
pg_ctl -D "$PGDATA" -m fast -w restart -o "-c listen_addresses=''" >/dev/null
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "${POSTGRES_DB:-$POSTGRES_USER}" <<'END'
CREATE SCHEMA surfidx;
CREATE EXTENSION surfidx SCHEMA surfidx;
END
