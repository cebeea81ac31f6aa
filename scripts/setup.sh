#!/bin/bash
# Install through apt what building and testing need and the machine lacks: a C compiler,
# a PostgreSQL server with its development files, and the Perl modules of the TAP tests.
# Does nothing, silently, where all is there.
#
#	setup.sh [program]...		and these programs, whose packages have their names, with - for _

set -e
. "$(dirname "$0")/common.sh"

missing=

need()
{
	missing="$missing $*"
}

# The major version to complete (a server without its development files), else the distribution's default.
major()
{
	local m

	m=$(ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | sort -rV | head -1 | cut -d/ -f5)
	[ -n "$m" ] || m=$(apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -1)
	[ -n "$m" ] || die "apt knows no PostgreSQL"
	echo "$m"
}

# A PG_CONFIG that was given and does not work is the caller's mistake, not a package that is missing.
if [ -n "$PG_CONFIG" ] && ! "$ROOT_DIR/scripts/pg_config.sh" >/dev/null; then
	die "$PG_CONFIG does not belong to a PostgreSQL 15 or later with server and development files"
fi

compiler=${CC:-cc}
# (it may be a wrapper with a compiler, "ccache gcc")
command -v "${compiler%% *}" >/dev/null || need gcc libc6-dev
"$ROOT_DIR/scripts/pg_config.sh" >/dev/null || need server
command -v prove >/dev/null || need perl
perl -MIPC::Run -e 1 2>/dev/null || need libipc-run-perl
for program; do
	command -v "$program" >/dev/null || need "${program//_/-}"
done
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || die "missing:$missing; install by hand, there is no apt here"
export DEBIAN_FRONTEND=noninteractive
echo "# installing:$missing"
as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update
if [[ $missing == *server* ]]; then
	m=$(major)
	missing="${missing/server/} postgresql-$m postgresql-server-dev-$m"
fi
# shellcheck disable=SC2086
as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends $missing >/dev/null
"$ROOT_DIR/scripts/pg_config.sh" >/dev/null || die "PostgreSQL 15 or later was not installed"
for program; do
	command -v "$program" >/dev/null || die "$program was not installed"
done
