# Sourced: Debian and Ubuntu systems below build/distros, which debootstrap makes.  Needs Debian and
# root; fetches from the mirror that this machine's apt uses.  Ubuntu comes from $UBUNTU_MIRROR, or
# from where debootstrap's own recipe takes it.  Call check_machine, lock_distros and find_mirror first.
#
# The systems run in mount and process namespaces of their own: whatever ends a script, no server goes
# on running, and nothing stays mounted below build/ that "make clean" would delete.

readonly DISTROS=$ROOT_DIR/build/distros

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

# One script at a time; children that outlive it close 9.
lock_distros()
{
	mkdir -p "$DISTROS"
	exec 9>"$DISTROS/lock"
	flock -n 9 || die "another script is using $DISTROS"
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

# inside dir command...: with those variables of $PASSED_ON that are set
inside()
{
	local dir=$1 name keep=()

	shift
	for name in $PASSED_ON http_proxy https_proxy; do
		[ -z "${!name}" ] || keep+=("$name=${!name}")
	done
	cp -L /etc/resolv.conf "$dir/etc/resolv.conf" || return
	isolated bash -c '
		dir=$1
		shift
		mount -t proc proc "$dir/proc" &&
			mount -t tmpfs -o mode=1777 tmpfs "$dir/dev/shm" &&
			mount -t tmpfs -o mode=1777 tmpfs "$dir/tmp" &&
			exec chroot "$dir" "$@"' bash "$dir" \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "${keep[@]}" "$@"
}

# bootstrap suite dir package...: the smallest system, and these packages; what is there already stays
bootstrap()
{
	local suite=$1 dir=$2 mirror=$MIRROR recipe=sid more=() keys

	shift 2
	[ ! -f "$dir/.complete" ] || return 0
	echo "# debootstrap $suite"
	if [ "$suite" = noble ]; then
		mirror=${UBUNTU_MIRROR:-$(ubuntu_mirror "$suite")}
		[ -n "$mirror" ] || { echo "debootstrap knows no mirror of Ubuntu: set UBUNTU_MIRROR"; return 1; }
		recipe=gutsy
		keys=$(ubuntu_keyring "$suite" "$mirror") || return 1
		more=("--keyring=$keys" --components=main,universe)
	fi
	# an older debootstrap does not know the names of younger releases
	[ ! -e "/usr/share/debootstrap/scripts/$suite" ] || recipe=
	rm -rf "$dir"
	mkdir -p "$dir"
	# shellcheck disable=SC2086
	if ! isolated debootstrap --force-check-gpg --variant=minbase "--include=ca-certificates$(printf ',%s' "$@")" \
		"${more[@]}" "$suite" "$dir" "$mirror" $recipe >"$dir.log" 2>&1; then
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
	touch "$dir/.complete"
}

# copy_tree dir: these sources, as /surfidx of the system
copy_tree()
{
	local dir=$1

	rm -rf "$dir/surfidx" && mkdir "$dir/surfidx" &&
		tar -c --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.d' --exclude='*.so' . | tar -x -C "$dir/surfidx"
}
