#!/bin/bash
# Run the whole test suite on every PostgreSQL version, each in a Debian system of its own (distros.sh), made
# the first time (some minutes and 1 GB each) and used again by later runs.  PostgreSQL 16 is in no release of Debian,
# but in Ubuntu 24.04; 19 in Debian's experimental suite, on top of the release that comes next.
#
#	versions.sh [15|16|17|18|19]...	which versions; default: all.  19:isolation,tap: two stages
#	SURFIDX_OPTIONAL_VERSIONS="19"	these may be out of reach: that is told, and no failure
#	ONLY=, TESTS=, TEST_CONF=, WERROR=, SANITIZE=, KEEP=, SURFIDX_..._SEED=	as in test.sh and the tests
#
# The versions are tested side by side.  The last lines are "PostgreSQL V: N passed, N failed" for each version and
# "N passed, N failed" in all.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/distros.sh

declare -A SUITES=([15]=bookworm [16]=noble [17]=trixie [18]=forky [19]=experimental)
readonly PASSED_ON="ONLY TESTS TAP TEST_CONF WERROR SANITIZE KEEP SURFIDX_DIFF_SEED SURFIDX_TORTURE_SEED SURFIDX_HOSTILE_SEED SURFIDX_STORM_SEED"

# ---- one version ----

# make_system suite dir: and make; scripts/setup.sh brings the rest as on any fresh machine
make_system()
{
	local suite=$1 dir=$2

	# which is no system of its own, but packages for one
	if [ "$suite" = experimental ]; then
		bootstrap "${SUITES[18]}" "$dir" make && { [ -f "$dir/.experimental" ] || add_experimental "$dir"; }
	else
		bootstrap "$suite" "$dir" make
	fi
}

# add_experimental dir: of experimental only what PostgreSQL 19 is built of, and the server itself
add_experimental()
{
	local dir=$1

	echo "deb $MIRROR experimental main" >>"$dir/etc/apt/sources.list"
	printf 'Package: src:postgresql-19\nPin: release a=experimental\nPin-Priority: 990\n' \
		>"$dir/etc/apt/preferences.d/surfidx"
	if ! inside "$dir" sh -c 'apt-get -qq update && apt-get -qq -y install --no-install-recommends \
			postgresql-19 postgresql-server-dev-19' >"$dir.log" 2>&1; then
		tail -5 "$dir.log"
		return 1
	fi
	touch "$dir/.experimental"
}

# Without LTO a build takes half the time.
# test_version version stages: what it prints ends in "N passed, N failed"; no stages: all
test_version()
{
	local version=$1 suite=${SUITES[$1]} t0=$SECONDS ONLY=${2:-$ONLY}
	local dir=$DISTROS/$suite log=$DISTROS/test-$version.log result found

	: >"$log"
	if ! make_system "$suite" "$dir" || ! copy_tree "$dir"; then
		if [[ " $SURFIDX_OPTIONAL_VERSIONS " == *" $version "* ]]; then
			result="0 passed, 0 failed"
			echo "NOT TESTED: PostgreSQL $version, its system $suite cannot be had"
		else
			result="0 passed, 1 failed"
			echo "FAILED: no system $suite for PostgreSQL $version"
		fi
	else
		inside "$dir" env LTO= make --no-print-directory -C /surfidx test 2>&1 | tee "$log" |
			grep --line-buffered -Ev '^[0-9]+ passed, [0-9]+ failed$'
		result=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -1)
		found=$(inside "$dir" /surfidx/scripts/pg_config.sh) && found=$(inside "$dir" "$found" --version)
		if [[ $found != "PostgreSQL $version"[!0-9]* ]]; then
			echo "FAILED: $suite has ${found:-no PostgreSQL}, not PostgreSQL $version"
			result="0 passed, 1 failed"
		elif [ -z "$result" ]; then
			echo "FAILED: the tests of PostgreSQL $version did not end, see $log"
			result="0 passed, 1 failed"
		fi
	fi
	echo "# PostgreSQL $version: $((SECONDS - t0)) s"
	echo "$result"
}

# ---- main ----

[ $# -gt 0 ] || set -- 15 16 17 18 19
for version; do
	[ -n "${SUITES[${version%%:*}]}" ] || die "PostgreSQL $version is not one of: 15 16 17 18 19"
done
check_machine
lock_distros
find_mirror
passed=0
failed=0
summary=
for version; do
	stage=${version#"${version%%:*}"}
	version=${version%%:*}
	echo "# PostgreSQL $version, ${SUITES[$version]}"
	test_version "$version" "${stage#:}" >"$DISTROS/out-$version.log" 2>&1 9>&- &
done
wait
for version; do
	version=${version%%:*}
	out=$DISTROS/out-$version.log
	result=$(tail -1 "$out")
	sed "\$d; s/^/$version: /" "$out"
	summary+="PostgreSQL $version: $result"$'\n'
	passed=$((passed + ${result%% *}))
	result=${result#*, }
	failed=$((failed + ${result%% *}))
done
printf '%s' "$summary"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
