#!/bin/bash
# Run the whole test suite on every PostgreSQL version, each in a Debian system of its own below build/distros, which
# debootstrap makes the first time (some minutes and 1 GB each) and later runs use again.  Needs Debian and root; fetches
# from the mirror that this machine's apt uses.  PostgreSQL 16 is in no release of Debian, but in
# Ubuntu 24.04, which comes from $UBUNTU_MIRROR, or from where debootstrap's own recipe takes it.
# 19 is in Debian's experimental suite, on top of the release that comes next.
#
#	versions.sh [15|16|17|18|19]...	which versions; default: all.  19:isolation,tap: two stages
#	SURFIDX_OPTIONAL_VERSIONS="19"	these may be out of reach: that is told, and no failure
#	ONLY=, TESTS=, TEST_CONF=, WERROR=, SANITIZE=, KEEP=, SURFIDX_..._SEED=	as in test.sh and the tests
#
# The versions are tested side by side.  The last lines are "PostgreSQL V: N passed, N failed" for each version and
# "N passed, N failed" in all.
#
# The systems run in mount and process namespaces of their own: whatever ends this script, no server goes on
# running, and nothing stays mounted below build/ that "make clean" would delete.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh

declare -A SUITES=([15]=bookworm [16]=noble [17]=trixie [18]=forky [19]=experimental)
readonly DISTROS=$ROOT_DIR/build/distros
readonly PASSED_ON="ONLY TESTS TAP TEST_CONF WERROR SANITIZE KEEP SURFIDX_DIFF_SEED SURFIDX_TORTURE_SEED SURFIDX_HOSTILE_SEED SURFIDX_STORM_SEED"

# ---- can this machine do it? ----

check_machine()
{
	[ "$(id -u)" -eq 0 ] || die "must run as root: it makes whole Debian systems below build/distros"
	command -v apt-get >/dev/null || die "needs Debian's apt"
	if ! unshare --mount --pid --fork --propagation private true 2>/dev/null; then
		die "may not make mount and process namespaces here (a container without CAP_SYS_ADMIN?)"
	fi
	if ! command -v debootstrap >/dev/null || [ ! -f /usr/share/keyrings/debian-archive-keyring.gpg ]; then
		echo "# installing: debootstrap"
		apt-get -qq update &&
			DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends \
				debootstrap debian-archive-keyring >/dev/null || die "could not install debootstrap"
	fi
}

# The mirror of Debian's main archive that apt is configured for.  Labels are unknown to apt before its first update.
find_mirror()
{
	local try

	for try in 1 2; do
		MIRROR=$(apt-get indextargets --format '$(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
			awk '$1 == "Debian" && $2 == "main" { print $3; exit }')
		[ -z "$MIRROR" ] || break
		apt-get -qq update
	done
	[ -n "$MIRROR" ] || die "apt has no source of Debian packages; this works on Debian only"
	eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
	export http_proxy https_proxy
}

# ubuntu_mirror suite: the mirror that debootstrap's own recipe has for this machine
ubuntu_mirror()
{
	(
		ARCH=$(dpkg --print-architecture)
		SUITE=$1
		default_mirror() { echo "$1"; }
		. /usr/share/debootstrap/scripts/gutsy
	) 2>/dev/null | head -1
}

# Ubuntu's archive keys are in no package of Debian bookworm.  They come from Ubuntu's own package, which nothing but this
# checksum vouches for: that of the file with key F6ECB3762474EDA9D21B7022871920D1991BC93C.
readonly UBUNTU_KEYS=80a36b0a6de2f69f49d2df75ef473ccde121e9e190b9ea01d20a4f63778d5c31

# ubuntu_keyring suite mirror: the path of the checked file of keys
ubuntu_keyring()
{
	local dir=$DISTROS/ubuntu-keyring keys=$DISTROS/ubuntu-archive-keyring.gpg options

	if [ ! -f "$keys" ]; then
		rm -rf "$dir"
		mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/x"
		echo "deb [trusted=yes] $2 $1 main" >"$dir/sources.list"
		options=(-qq -o "Dir::Etc::SourceList=$dir/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$dir/lists"
			-o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=root)
		(cd "$dir" && apt-get "${options[@]}" update && apt-get "${options[@]}" download ubuntu-keyring &&
			dpkg-deb -x ubuntu-keyring_*.deb x) >"$dir.log" 2>&1 || { cat "$dir.log" >&2; return 1; }
		mv "$dir/x/usr/share/keyrings/ubuntu-archive-keyring.gpg" "$keys"
		rm -rf "$dir"
	fi
	if ! echo "$UBUNTU_KEYS  $keys" | sha256sum --quiet -c >&2; then
		rm -f "$keys"
		return 1
	fi
	echo "$keys"
}

# ---- one Debian system ----

isolated()
{
	unshare --mount --pid --fork --kill-child --propagation private -- "$@"
}

# inside dir command...
inside()
{
	local dir=$1 name keep=()

	shift
	for name in $PASSED_ON http_proxy https_proxy; do
		[ -z "${!name}" ] || keep+=("$name=${!name}")
	done
	isolated bash -c '
		dir=$1
		shift
		mount -t proc proc "$dir/proc" &&
			mount -t tmpfs -o mode=1777 tmpfs "$dir/dev/shm" &&
			mount -t tmpfs -o mode=1777 tmpfs "$dir/tmp" &&
			exec chroot "$dir" "$@"' bash "$dir" \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "${keep[@]}" "$@"
}

# make_system suite dir: the smallest system, and make; scripts/setup.sh brings the rest as on any fresh machine
make_system()
{
	local suite=$1 dir=$2 mirror=$MIRROR recipe=sid more=() keys

	[ ! -f "$dir/.complete" ] || return 0
	echo "# debootstrap $suite"
	if [ "$suite" = noble ]; then
		mirror=${UBUNTU_MIRROR:-$(ubuntu_mirror "$suite")}
		[ -n "$mirror" ] || { echo "debootstrap knows no mirror of Ubuntu: set UBUNTU_MIRROR"; return 1; }
		recipe=gutsy
		keys=$(ubuntu_keyring "$suite" "$mirror") || return 1
		more=("--keyring=$keys" --components=main,universe)
	fi
	# which is no system of its own, but packages for one
	[ "$suite" != experimental ] || suite=${SUITES[18]}
	# an older debootstrap does not know the names of younger releases
	[ ! -e "/usr/share/debootstrap/scripts/$suite" ] || recipe=
	rm -rf "$dir"
	mkdir -p "$dir"
	# shellcheck disable=SC2086
	if ! isolated debootstrap --force-check-gpg --variant=minbase --include=make,ca-certificates "${more[@]}" \
		"$suite" "$dir" "$mirror" $recipe >"$dir.log" 2>&1; then
		tail -5 "$dir.log"
		return 1
	fi
	# the latest minor version
	[ "$suite" != noble ] || echo "deb $mirror $suite-updates main universe" >>"$dir/etc/apt/sources.list"
	# packages start no servers
	printf '#!/bin/sh\nexit 101\n' >"$dir/usr/sbin/policy-rc.d"
	chmod +x "$dir/usr/sbin/policy-rc.d"
	# a mirror may lag; signatures are checked all the same
	echo 'Acquire::Check-Valid-Until "false"; DPkg::Use-Pty "false";' \
		>"$dir/etc/apt/apt.conf.d/99surfidx"
	[ "$2" != "$DISTROS/experimental" ] || add_experimental "$dir" || return 1
	touch "$dir/.complete"
}

# add_experimental dir: of experimental only what PostgreSQL 19 is built of, and the server itself
add_experimental()
{
	local dir=$1

	echo "deb $MIRROR experimental main" >>"$dir/etc/apt/sources.list"
	printf 'Package: src:postgresql-19\nPin: release a=experimental\nPin-Priority: 990\n' \
		>"$dir/etc/apt/preferences.d/surfidx"
	cp -L /etc/resolv.conf "$dir/etc/resolv.conf"
	if ! inside "$dir" sh -c 'apt-get -qq update && apt-get -qq -y install --no-install-recommends \
			postgresql-19 postgresql-server-dev-19' >"$dir.log" 2>&1; then
		tail -5 "$dir.log"
		return 1
	fi
}

copy_tree()
{
	local dir=$1

	rm -rf "$dir/surfidx" && mkdir "$dir/surfidx" &&
		tar -c --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.d' --exclude='*.so' . | tar -x -C "$dir/surfidx" &&
		cp -L /etc/resolv.conf "$dir/etc/resolv.conf"
}

# ---- one version ----

# Without LTO a build takes half the time.
# test_version version stages: what it prints ends in "N passed, N failed"; no stages: all
test_version()
{
	local version=$1 suite=${SUITES[$1]} t0=$SECONDS ONLY=${2:-$ONLY}
	local dir=$DISTROS/$suite log=$DISTROS/test-$version.log result found

	: >"$log"
	if ! make_system "$suite" "$dir" && [[ " $SURFIDX_OPTIONAL_VERSIONS " == *" $version "* ]]; then
		result="0 passed, 0 failed"
		echo "NOT TESTED: PostgreSQL $version, its system $suite cannot be had"
	elif [ ! -f "$dir/.complete" ] || ! copy_tree "$dir"; then
		result="0 passed, 1 failed"
		echo "FAILED: no system $suite for PostgreSQL $version"
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
mkdir -p "$DISTROS"
exec 9>"$DISTROS/lock"
flock -n 9 || die "another run of this script is using $DISTROS"
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
