#!/bin/bash
# Build and install the extension; one at a time, should several people work in one tree.

set -e
. "$(dirname "$0")/common.sh"
find_postgres
cd "$ROOT_DIR"
mkdir -p build
exec 9>build/lock
flock 9

# -s: only warnings and errors are worth reading
make -s -j"$(nproc)" PG_CONFIG="$PG_CONFIG" all
if [ -w "$("$PG_CONFIG" --pkglibdir)" ] && [ -w "$("$PG_CONFIG" --sharedir)" ]; then
	make -s PG_CONFIG="$PG_CONFIG" install >/dev/null
else
	as_root make -s PG_CONFIG="$PG_CONFIG" install >/dev/null
fi
