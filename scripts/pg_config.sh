#!/bin/bash
# Print the pg_config of a server that extensions can be built for: the one that PG_CONFIG names,
# else the one in PATH, else the newest below /usr/lib/postgresql.  Nothing and status 1 if there is none.

MIN_MAJOR=15

usable()
{
	local version major

	version=$("$1" --version 2>/dev/null) || return 1
	major=${version#PostgreSQL }
	major=${major%%[!0-9]*}
	[ "${major:-0}" -ge "$MIN_MAJOR" ] &&
		[ -x "$("$1" --bindir)/postgres" ] &&
		[ -f "$("$1" --pgxs)" ] &&
		[ -f "$("$1" --includedir-server)/postgres.h" ]
}

if [ -n "$PG_CONFIG" ]; then
	candidates=$PG_CONFIG
else
	candidates="$(command -v pg_config) $(ls -d /usr/lib/postgresql/*/bin/pg_config 2>/dev/null | sort -rV)"
fi
for c in $candidates; do
	if usable "$c"; then
		echo "$c"
		exit 0
	fi
done
exit 1
