#!/bin/bash
# Static checks: gcc and clang with -Wall -Wextra -Werror over src (with and without stop points)
# and src/core, then cppcheck, the order of folders, and what a reader trips over (tidy.pl,
# indent.sh).  A compiler or cppcheck that is missing is a failure: nobody would see what it had
# found.  `make lint` installs them.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
find_postgres
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Callbacks have parameters that one of them does not need; the server's macros compare signed with unsigned numbers and
# leave fields out; its printf attribute is gcc's.
server="-std=gnu11 -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers $CORE_FLAGS $LAYER_FLAGS -isystem $("$PG_CONFIG" --includedir-server)"
failed=0

# check name command...: a line of what went well, or everything that was said
check()
{
	local name=$1

	shift
	if "$@" >"$dir/out" 2>&1; then
		echo "ok: $name"
	else
		echo "FAILED: $name"
		grep -E 'warning:|error:|: \[' "$dir/out" || cat "$dir/out"
		failed=1
	fi
}

# have program
have()
{
	command -v "$1" >/dev/null && return
	echo "FAILED: $1 is not installed"
	failed=1
	return 1
}

# compile compiler flags file...
compile()
{
	local cc=$1 flags=$2

	shift 2
	# shellcheck disable=SC2086
	printf '%s\n' "$@" | xargs -P "$(nproc)" -n 4 "$cc" -fsyntax-only -Wall -Wextra -Werror $flags
}

for cc in gcc clang; do
	have $cc || continue
	extra=
	[ $cc = gcc ] || extra=-Wno-ignored-attributes
	check "$cc, src" compile $cc "$server $extra" $LAYER_SOURCES
	check "$cc, src with stop points" compile $cc "$server $extra -DSFX_TEST" $LAYER_SOURCES
	check "$cc, src/core" compile $cc "-std=c11 $CORE_FLAGS" $CORE_SOURCES
done
if have cppcheck; then
	check cppcheck cppcheck -q -j "$(nproc)" --std=c11 --enable=warning,performance,portability --error-exitcode=1 --library=scripts/cppcheck.cfg \
		--suppressions-list=scripts/cppcheck.txt -DPG_VERSION_NUM=150000 --template='{file}:{line}: [{id}] {message}' $CORE_FLAGS $LAYER_FLAGS $LAYER_SOURCES $CORE_SOURCES
fi
check "objects" make -s -j"$(nproc)" all
check layers scripts/layers.pl
check tidy scripts/tidy.pl
check "expected files" scripts/alternatives.pl
if have "${PG_BSD_INDENT:-pg_bsd_indent}"; then
	check indentation scripts/indent.sh
fi
exit $failed
