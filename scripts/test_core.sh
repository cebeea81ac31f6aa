#!/bin/bash
# PostgreSQL's own regression and isolation tests over surfidx:
#
#	PGSRC=/path/to/postgresql-source scripts/test_core.sh
#
# They run twice on a throw-away cluster that has the extension: with btrees as the tests ask for
# them, and with surfidx.in_place_of_btree = all.  What the two runs print differently is shown, and
# kept below build/core; what PostgreSQL expects is not asked, since the extension's own objects show
# in many answers.  docs/compatibility.md explains differences.
# PGSRC has to be of the server's major version.
#
#	SUITES="regress isolation"	which of them
#	SCHEDULE=file				another schedule for regress
#	TEST_CONF="a = b; c = d"	more configuration

set -e
cd "$(dirname "$0")/.."
. scripts/common.sh
. scripts/cluster.sh

find_postgres
[ -f "$PGSRC/src/test/regress/parallel_schedule" ] || die "PGSRC must name PostgreSQL's source tree"
version=$("$PG_CONFIG" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
grep -q "PACKAGE_VERSION='$version[.a-z]" "$PGSRC/configure" ||
	die "$PGSRC is not of PostgreSQL $version, the server's version"
scripts/install.sh
make_workdir
trap cluster_cleanup EXIT
OUT=$ROOT_DIR/build/core
rm -rf "$OUT"
mkdir -p "$OUT"

# The tests' C functions, against this server's headers.
build_library()
{
	local source

	mkdir "$WORK/lib"
	# two of them are in contrib
	for source in src/test/regress/regress contrib/spi/refint contrib/spi/autoinc; do
		# shellcheck disable=SC2046
		cc -shared -fPIC -O1 -w -I"$("$PG_CONFIG" --includedir-server)" \
			-I"$("$PG_CONFIG" --includedir)" $("$PG_CONFIG" --cppflags) \
			"$PGSRC/$source.c" -o "$WORK/lib/$(basename $source).so"
	done
	chmod -R a+rX "$WORK/lib"
}

# run btree|all suite
run()
{
	local kind=$1 suite=$2 out=$WORK/$1-$2 program schedule
	local in=$WORK/$suite-in

	case $suite in
		regress)
			program=$PGXS_DIR/src/test/regress/pg_regress
			schedule=${SCHEDULE:-$in/parallel_schedule}
			;;
		isolation)
			program=$PGXS_DIR/src/test/isolation/pg_isolation_regress
			schedule=$in/isolation_schedule
			;;
	esac
	# a copy that the server's user may read
	[ -d "$in" ] || { cp -a "$PGSRC/src/test/$suite" "$in"; chmod -R a+rX "$in"; }
	as_user mkdir "$out"
	(cd "$out" && as_user "$program" --inputdir="$in" --outputdir="$out" --dlpath="$WORK/lib" \
		--bindir="$BINDIR" --schedule="$schedule" --max-connections=4 --max-concurrent-tests=20 \
		--load-extension=surfidx --host="$PGHOST" --port="$PGPORT" --user=postgres \
		--dbname="core_$suite" >"$WORK/$kind-$suite.log" 2>&1) || true
	mkdir -p "$OUT/$kind"
	cp -r "$out/results" "$OUT/$kind/$suite"
	cp "$WORK/$kind-$suite.log" "$OUT/$kind/"
}

# plain file: without the method's name, where nothing but that says it, and the width of columns
plain()
{
	sed -E -e 's/USING surfidx/USING btree/g; s/, surfidx \(/, btree (/g; s/" surfidx \(/" btree (/g' \
		-e 's/^surfidx, for /btree, for /; s/, primary key, surfidx/, primary key, btree/' \
		-e 's/^((primary key|unique|unique nulls not distinct), )surfidx,/\1btree,/' \
		-e "s/ WITH \(access_method='?surfidx'?\)//; s/ +/ /g; s/-{3,}/---/g; s/ $//" "$1"
}

# compare suite
compare()
{
	local file name same=0
	local differ=()

	for file in "$OUT/btree/$1"/*.out; do
		name=$(basename "$file" .out)
		if diff -U3 --label "$name: btree" --label "$name: surfidx" \
			<(plain "$file") <(plain "$OUT/all/$1/$name.out") >"$OUT/$1-$name.diff"; then
			same=$((same + 1))
			rm "$OUT/$1-$name.diff"
		else
			differ+=("$name")
			cat "$OUT/$1-$name.diff"
		fi
	done
	echo "# $1: $same tests print the same, ${#differ[@]} differ: ${differ[*]}"
}

build_library
for kind in btree all; do
	setting=$([ $kind = all ] && echo all || echo off)
	cluster_start "$kind" "surfidx.in_place_of_btree = $setting" "surfidx.in_place_notice = off" \
		"autovacuum = off" "max_prepared_transactions = 2" "timezone = 'PST8PDT'" \
		"datestyle = 'Postgres, MDY'"
	for suite in ${SUITES:-regress isolation}; do
		run "$kind" "$suite"
	done
	cluster_stop
	cp "$CLUSTER_LOG" "$OUT/$kind/server.log"
	! grep -E "TRAP:|PANIC|terminated by signal" "$CLUSTER_LOG" ||
		echo "# the server broke down with $kind"
done
for suite in ${SUITES:-regress isolation}; do
	compare "$suite"
done
