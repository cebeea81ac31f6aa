#!/bin/bash
# What a stranger does, on systems that have never seen PostgreSQL: builds the packages; installs one,
# uses it and removes it; follows README.md to a first index.  Each in a copy of its own of the
# smallest system that debootstrap makes (distros.sh), with the PostgreSQL of that release.
#
#	fresh.sh [bookworm|noble|trixie]...		which systems; default: all
#
# Prints TAP, and how long README.md's commands took.  What they said is in build/distros/fresh-*.log.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/tap.sh
. scripts/distros.sh

declare -A VERSIONS=([bookworm]=15 [noble]=16 [trixie]=17)

# ---- what happens inside, each in a bash -e of its own ----

# build_packages: as CI does it
build_packages()
{
	apt-get -qq install --no-install-recommends make
	make --no-print-directory -C /surfidx test-package
}

sql()
{
	runuser -u postgres -- psql -X -q -At -v ON_ERROR_STOP=1 "$@"
}

# use_package version: the way in, and the way out that docs/upgrades.md tells
use_package()
{
	local version=$1

	apt-get -qq install /surfidx/build/packages/postgresql-"$version"-surfidx_*.deb
	pg_conftool "$version" main set shared_preload_libraries surfidx
	pg_ctlcluster "$version" main start
	sql -c "CREATE SCHEMA surfidx" -c "CREATE EXTENSION surfidx SCHEMA surfidx" \
		-c "CREATE TABLE t AS SELECT g AS id FROM generate_series(1, 10000) g" \
		-c "CREATE INDEX t_id ON t USING surfidx (id)" -c "ANALYZE t"
	sql -c "EXPLAIN SELECT * FROM t WHERE id = 4711" | grep "using t_id"
	! apt-get -qq remove "postgresql-$version-surfidx" || return
	sql -c "DROP INDEX t_id" -c "DROP EXTENSION surfidx" -c CHECKPOINT
	pg_conftool "$version" main remove shared_preload_libraries
	pg_ctlcluster "$version" main restart
	apt-get -qq purge "postgresql-$version-surfidx"
	pg_ctlcluster "$version" main restart
	[ "$(sql -c "SELECT count(*) FROM t WHERE id = 4711")" = 1 ]
	! ls "/usr/lib/postgresql/$version/lib/surfidx.so" "/usr/share/postgresql/$version/extension/surfidx"*
}

# use_readme version: its installation, then its first SQL, by a user who may use sudo and has a table
use_readme()
{
	useradd --create-home dba
	echo 'dba ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/dba
	chown -R dba /surfidx
	awk '/^```$/{ exit } on; /^```sql$/{ on = 1 }' /surfidx/README.md >/home/dba/first.sql
	{
		echo "cd /surfidx"
		awk '/^## /{ on = $2 == "Install" } on && sub(/^    /, "")' /surfidx/README.md | sed "s/^V=.*/V=$1/"
		echo 'sudo -u postgres psql -X -c "CREATE TABLE orders (customer_id bigint, id bigint)"'
		echo 'sudo -u postgres psql -X -v ON_ERROR_STOP=1 <~/first.sql'
		echo ': the first index is there'
	} >/home/dba/commands
	TIMEFORMAT="# in all %R s; CPU %U s and %S s of the system's"
	time PS4='# $SECONDS s: ' runuser -u dba -- bash -ex /home/dba/commands
}

# ---- outside ----

# step suite function: in a fresh copy, which it prints nothing but the log's name of
step()
{
	local suite=$1 name=$2 dir=$DISTROS/fresh log=$DISTROS/fresh-$1-$2.log

	rm -rf "$dir" && cp -a "$DISTROS/clean-$suite" "$dir" && copy_tree "$dir" || return
	mkdir "$dir/surfidx/build"
	[ ! -d "$DISTROS/packages-$suite" ] || cp -r "$DISTROS/packages-$suite" "$dir/surfidx/build/packages" || return
	inside "$dir" bash -c "$(declare -f sql "$name"); set -e; apt-get -qq update; $name ${VERSIONS[$suite]}" >"$log" 2>&1
}

[ $# -gt 0 ] || set -- bookworm noble trixie
for suite; do
	[ -n "${VERSIONS[$suite]}" ] || die "$suite is not one of: ${!VERSIONS[*]}"
done
check_machine
lock_distros
find_mirror
for suite; do
	system=$DISTROS/clean-$suite
	log=$DISTROS/fresh-$suite
	bootstrap "$suite" "$system" sudo
	ok $? "$suite: a system" "$system.log"
	[ -f "$system/.complete" ] || continue
	# yes, a person would say
	echo 'APT::Get::Assume-Yes "true";' >"$system/etc/apt/apt.conf.d/98surfidx"
	rm -rf "$DISTROS/packages-$suite"
	step "$suite" build_packages
	ok $? "$suite: packages are built, and tried" "$log-build_packages.log"
	mv "$DISTROS/fresh/surfidx/build/packages" "$DISTROS/packages-$suite"
	step "$suite" use_package
	ok $? "$suite: a package is installed, used and removed, and the server starts" "$log-use_package.log"
	step "$suite" use_readme
	ok $? "$suite: README.md leads to a first index" "$log-use_readme.log"
	grep -E '^# ([0-9]+ s: |in all )' "$log-use_readme.log"
done
rm -rf "$DISTROS/fresh"
done_testing
