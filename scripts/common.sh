# Sourced by the other scripts: which user runs what, and where PostgreSQL is.
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

# clean_environment [argument]...: begin the script again with nothing in the environment but what
# says what to do, in the C locale and in UTC.  So tests depend neither on settings of PostgreSQL's
# programs, nor on locale, time zone, umask, directory for temporary files, or on options of make or
# Perl.  .ci/run gives bad ones.
clean_environment()
{
	local name keep=()

	if [ -z "$SURFIDX_CLEAN" ]; then
		for name in $(compgen -e); do
			case $name in
				PATH | USER | LOGNAME | CC | COPT | LTO | PG_CONFIG | OLD_PG_CONFIG) ;&
				ONLY | TESTS | TAP | TEST_CONF | WERROR | SANITIZE | KEEP | CLUSTER_INITDB_OPTS) ;&
				SURFIDX_* | CCACHE_* | *SAN_OPTIONS | *_proxy)
					keep+=("$name=${!name}") ;;
			esac
		done
		exec env -i "${keep[@]}" HOME="${HOME:-/}" LC_ALL=C TZ=UTC SURFIDX_CLEAN=1 \
			bash "$ROOT_DIR/scripts/$(basename "$0")" "$@" </dev/null
	fi
	unset SURFIDX_CLEAN
	umask 022
	PATH=$PATH:/usr/sbin:/sbin
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
