# Sourced by the other scripts: who runs what, and where PostgreSQL is.
#
# PostgreSQL refuses to run as root.  As root, as_user runs a command as an
# ordinary user (postgres, or surfidx_test, which is made if need be); else as the caller.

ROOT_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# folders CORE|LAYERS: those of src, in the order in which they may use each other, as the Makefile has them
folders()
{
	sed -n "s/^$1 = //p" "$ROOT_DIR/Makefile"
}

# Flags and sources of src/core, which is compiled without a server, and of the rest.  For words without blanks.
CORE_FLAGS=$(printf -- '-Isrc/%s ' $(folders CORE))
CORE_SOURCES=$(printf 'src/%s/*.c ' $(folders CORE))
LAYER_FLAGS=$(printf -- '-Isrc/%s ' $(folders LAYERS))
LAYER_SOURCES=$(printf 'src/%s/*.c ' $(folders LAYERS))

die()
{
	echo "$(basename "$0"): $*" >&2
	exit 1
}

as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "needs root or sudo for: $*"
	fi
}

# The user that servers and tests run as.
test_user()
{
	if [ "$(id -u)" -ne 0 ]; then
		id -un
	elif id postgres >/dev/null 2>&1; then
		echo postgres
	else
		id surfidx_test >/dev/null 2>&1 || useradd --system --no-create-home surfidx_test
		echo surfidx_test
	fi
}

as_user()
{
	if [ "$(id -u)" -ne 0 ]; then
		"$@"
	elif command -v runuser >/dev/null; then
		runuser -u "$(test_user)" -- "$@"
	else
		su -s /bin/bash "$(test_user)" -c "$(printf '%q ' "$@")"
	fi
}

# A temporary directory owned by the test user; the path is short because sockets live in it.
make_workdir()
{
	WORK=$(mktemp -d /tmp/surfidx.XXXXXX) || die "no temporary directory"
	chown "$(test_user)" "$WORK"
	export HOME=$WORK
}

# Set PG_CONFIG, BINDIR and PGXS_DIR (the root of the installed makefiles and test programs).
find_postgres()
{
	PG_CONFIG=$("$ROOT_DIR/scripts/pg_config.sh") ||
		die "no PostgreSQL with server development files found; run scripts/setup.sh"
	export PG_CONFIG
	BINDIR=$("$PG_CONFIG" --bindir)
	PGXS_DIR=$(cd "$(dirname "$("$PG_CONFIG" --pgxs)")/../.." && pwd)
	export PATH=$BINDIR:$PATH
}
