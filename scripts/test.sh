#!/bin/bash
# Build, install, and run every test there is; the last line is "N passed, N failed".
#
#	ONLY=core,regress,isolation,tap,stops	these stages
#	TEST_CONF="a = b; c = d"			more configuration for the regress and isolation cluster
#	SANITIZE=1							unit tests of src/core under ASan and UBSan
#	WERROR=1							warnings in src/core are errors
#	TESTS="name..."						only these: sql/name.sql, specs/name.spec, t/name.pl, t/stops/name.pl, src/core/test/name.c
#	KEEP=1								leave the temporary directory in place
#
# The stage "stops" runs t/stops on a private copy of the server with a test build of surfidx:
# src/base/stop.h.
#
# One unit-test "ok", one regress or isolation test, one TAP "ok" count one each;
# skipped ones do not count.  A build, a server start or a program that fails without
# saying "not ok", and each crash found in a server log, counts as one failure.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/cluster.sh
. scripts/test_server.sh
clean_environment "$@"

passed=0
failed=0

TESTS=${TESTS:-$TAP}	# its name when only TAP tests could be chosen

wanted()
{
	[ -z "$ONLY" ] || [[ ",$ONLY," == *",$1,"* ]]
}

# chosen name
chosen()
{
	[ -z "$TESTS" ] || [[ " $TESTS " == *" $1 "* ]]
}

fail()
{
	failed=$((failed + 1))
	echo "FAILED: $*"
}

# A name that no test has is a mistake of the caller.
check_names()
{
	local name places

	case $ONLY in
		core) places='src/core/test/%s.c' ;;
		regress) places='sql/%s.sql' ;;
		isolation) places='specs/%s.spec' ;;
		tap) places='t/%s.pl' ;;
		stops) places='t/stops/%s.pl' ;;
		*) places='src/core/test/%s.c sql/%s.sql specs/%s.spec t/%s.pl t/stops/%s.pl' ;;
	esac
	for name in $TESTS; do
		# shellcheck disable=SC2086
		[ -n "$(ls ${places//%s/$name} 2>/dev/null)" ] ||
			die "no test has the name $name"
	done
}

# stage name function: run it, then show its output, how long it took and what it brought
stage()
{
	local t0=$SECONDS p0=$passed f0=$failed

	wanted "$1" || [ "$1" = build ] || return 0
	"$2" >"$WORK/stage.$1" 2>&1
	cat "$WORK/stage.$1"
	echo "# $1: $((passed - p0)) passed, $((failed - f0)) failed in $((SECONDS - t0)) s"
}

# lane stage...: runs the stages one after the other, beside the other lanes.  Its counts go to a
# file for join_lanes.
lane()
{
	local name

	(
		passed=0
		failed=0
		trap cluster_stop EXIT
		for name; do
			stage "$name" "stage_$name"
		done
		echo "$passed $failed" >"$WORK/lane.$1"
	) &
}

# join_lanes first-stage...: wait for the lanes that begin with these stages; add up their counts
join_lanes()
{
	local name good bad

	wait
	for name; do
		if read -r good bad <"$WORK/lane.$name"; then
			passed=$((passed + good))
			failed=$((failed + bad))
		else
			fail "the lane of $name did not end"
		fi
	done
}

# count_tap name log status: add up the TAP of one program
count_tap()
{
	local name=$1 log=$2 status=$3 good bad planned

	good=$(grep -E '^ok [0-9]' "$log" | grep -Eivc '# *skip')
	bad=$(grep -E '^not ok' "$log" | grep -Eivc '# *todo')
	planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$log" | tail -1)
	# a file that has nothing to test on this version
	[ -n "$planned" ] || ! grep -q '^t/.* skipped: ' "$log" || planned=0
	passed=$((passed + good))
	failed=$((failed + bad))
	if [ "$bad" -gt 0 ]; then
		echo "FAILED: $name: $bad of $((good + bad))"
		grep -E -A12 '^not ok' "$log" | head -100
	elif [ "$status" -ne 0 ]; then
		fail "$name: exit status $status"
		tail -30 "$log"
	elif [ -z "$planned" ] || [ "$planned" -ne "$(grep -Ec '^(not )?ok [0-9]' "$log")" ]; then
		fail "$name: ran $((good + bad)) of ${planned:-an unknown number of} tests"
	fi
}

# took name start: note how long a program took, for slowest
took()
{
	echo "$((SECONDS - $2)) s $1" >>"$WORK/times"
}

# Where to look first when the tests take too long.
slowest()
{
	[ -z "$TESTS" ] && [ -f "$WORK/times" ] || return 0
	echo "# slowest: $(sort -rn "$WORK/times" | head -8 | paste -sd, | sed 's/,/, /g')"
}

# ---- stages ----

BUILT=

stage_build()
{
	if scripts/install.sh >"$WORK/build.log" 2>&1; then
		BUILT=1
	else
		fail "build or install"
	fi
	cat "$WORK/build.log"
}

stage_core()
{
	local flags="-std=c11 -g -O2 -Wall -Wextra -DSFX_ASSERTS $CORE_FLAGS" src name status

	[ -z "$WERROR" ] || flags="$flags -Werror"
	[ -z "$SANITIZE" ] || flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=undefined"
	set -- src/core/test/test_*.c
	[ -f "$1" ] || return 0
	mkdir "$WORK/core"
	# shellcheck disable=SC2086
	if ! printf '%s\n' $CORE_SOURCES |
		xargs -P "$(nproc)" -I{} sh -c "${CC:-cc} $flags -c {} -o '$WORK/core/'\$(basename {} .c).o"; then
		fail "compiling src/core"
		return
	fi
	for src; do
		name=$(basename "$src" .c)
		chosen "$name" || continue
		# shellcheck disable=SC2086
		if ! ${CC:-cc} $flags "$src" "$WORK"/core/*.o -lm -o "$WORK/$name"; then
			fail "compiling $src"
			continue
		fi
		(cd "$WORK" && as_user timeout 900 "./$name") >"$WORK/$name.tap" 2>&1
		status=$?
		count_tap "$src" "$WORK/$name.tap" $status
	done
	[ -n "$TESTS" ] || replay_corpora "$flags"
}

# What fuzzing found worth keeping (make fuzz): each case once through its target.
replay_corpora()
{
	local src name status

	for src in fuzz/fuzz_*.c; do
		name=$(basename "$src" .c)
		name=${name#fuzz_}
		[ -d "fuzz/corpus/$name" ] || continue
		# shellcheck disable=SC2086
		if ! ${CC:-cc} $1 "$src" fuzz/replay.c "$WORK"/core/*.o -lm -o "$WORK/fuzz_$name"; then
			fail "compiling $src"
			continue
		fi
		cp -r "fuzz/corpus/$name" "$WORK/corpus_$name"
		(cd "$WORK" && as_user timeout 900 "./fuzz_$name" "$name" "corpus_$name"/*) >"$WORK/fuzz_$name.tap" 2>&1
		status=$?
		count_tap "$src" "$WORK/fuzz_$name.tap" $status
	done
}

# A crash may leave no trace in a test's output, if it hit a background process.
check_log()
{
	if grep -E 'TRAP:|PANIC:|was terminated by signal' "$1" >"$WORK/crashes"; then
		fail "crash in $(basename "$1"): $(head -3 "$WORK/crashes")"
	fi
}

# run_regress name program input-subdirectory extension [option]...
run_regress()
{
	local name=$1 program=$2 dir=$3 ext=$4 out=$WORK/out/$1 tests test good

	shift 4
	tests=$(cd "$WORK/$dir" 2>/dev/null && ls -- *."$ext" 2>/dev/null | LC_ALL=C sort | sed "s/\.$ext\$//" |
		while read -r name; do chosen "$name" && echo "$name"; done)
	[ -n "$tests" ] || return 0
	set -- "$@" $tests
	# one that has no expected output yet shows all that it puts out; pg_regress would give up
	for test in $tests; do
		[ -f "$WORK/expected/$test.out" ] || : >"$WORK/expected/$test.out"
	done
	if [ ! -x "$program" ]; then
		fail "$name: $program is missing"
		return
	fi
	# What autovacuum merges, counts and marks all-visible, it does when it likes: it does not come.
	# (Off it is another thing: since 18 an index build then leaves the table's statistics alone.)
	cluster_start "$name" "autovacuum_naptime = 1d" ||
		{ fail "$name: server does not start"; return; }
	as_user mkdir -p "$out"
	(cd "$WORK" && as_user "$program" --inputdir="$WORK" --outputdir="$out" --bindir="$BINDIR" \
		--launcher="$WORK/t/ending.sh" --host="$PGHOST" --port="$PGPORT" --user=postgres \
		--dbname="surfidx_$name" "$@") \
		>"$WORK/$name.out" 2>&1
	cluster_stop

	# PostgreSQL 15 prints "test x ... ok", later ones TAP
	good=$(grep -Ec '^(test .* \.\.\. ok|ok [0-9])' "$WORK/$name.out")
	passed=$((passed + good))
	tests=$(wc -w <<<"$tests")
	if [ "$good" -ne "$tests" ]; then
		failed=$((failed + tests - good))
		grep -Ev '^(test .* \.\.\. ok|ok [0-9])' "$WORK/$name.out"
		[ ! -f "$out/regression.diffs" ] || head -500 "$out/regression.diffs"
	fi
	test=$("$PG_CONFIG" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
	if ! scripts/alternatives.pl --matched "$out/results" "$test" >"$WORK/alternatives"; then
		fail "expected files of other versions: $(cat "$WORK/alternatives")"
	fi
	check_log "$CLUSTER_LOG"
}

# Options such as --load-extension stand before the names of the tests.
stage_regress()
{
	run_regress regress "$PGXS_DIR/src/test/regress/pg_regress" sql sql
}

stage_isolation()
{
	run_regress isolation "$PGXS_DIR/src/test/isolation/pg_isolation_regress" specs spec --load-extension=surfidx
}

# A file system that is soon full, where we may mount one.
small_disk()
{
	mkdir "$WORK/small"
	[ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=16m tmpfs "$WORK/small" 2>/dev/null || return
	chown "$(test_user)" "$WORK/small"
	export SURFIDX_SMALL_DISK=$WORK/small
}

stage_tap()
{
	local test name log status server_log t0

	set -- "$WORK"/t/*.pl
	[ -f "$1" ] || return 0
	if [ ! -f "$PGXS_DIR/src/test/perl/PostgreSQL/Test/Cluster.pm" ]; then
		fail "tap: PostgreSQL::Test::Cluster is not installed beside PGXS"
		return
	fi
	for test; do
		name=$(basename "$test" .pl)
		chosen "$name" || continue
		log=$WORK/$name.tap
		t0=$SECONDS
		# Names of PostgreSQL's own settings must not reach the clusters that the tests make.
		(cd "$WORK" && unset PGDATA PGHOST PGPORT PGUSER PGDATABASE && as_user env \
			PERL5LIB="$PGXS_DIR/src/test/perl:$WORK/t" PG_REGRESS="$PGXS_DIR/src/test/regress/pg_regress" \
			TESTDIR="$WORK" TESTDATADIR="$WORK/tmp_check" TESTLOGDIR="$WORK/tmp_check/log" \
			timeout 1800 prove -v --merge "t/$name.pl") >"$log" 2>&1
		status=$?
		took "t/$name.pl" $t0
		count_tap "t/$name.pl" "$log" $status
		if [ $status -ne 0 ]; then
			for server_log in "$WORK"/tmp_check/log/"$name"_*.log; do
				[ ! -f "$server_log" ] || { echo "--- $(basename "$server_log")"; tail -20 "$server_log"; }
			done
		fi
	done
}

# Scenarios with stop points: races and crashes between two given steps.
stage_stops()
{
	local file name status t0

	if ! test_server "$WORK/server" >"$WORK/test_build.log" 2>&1; then
		fail "test build"
		cat "$WORK/test_build.log"
		return
	fi
	chown -R "$(test_user)" "$WORK/server"
	for file in "$WORK"/t/stops/*.pl; do
		name=$(basename "$file" .pl)
		chosen "$name" || continue
		t0=$SECONDS
		(cd "$WORK" && as_user env PG_CONFIG="$TEST_PG_CONFIG" TMPDIR="$WORK" timeout -k 10 1800 perl "t/stops/$name.pl") \
			>"$WORK/stops_$name.tap" 2>&1
		status=$?
		took "t/stops/$name.pl" $t0
		count_tap "t/stops/$name.pl" "$WORK/stops_$name.tap" $status
	done
}

# ---- main ----

for name in ${ONLY//,/ }; do
	case $name in
		core | regress | isolation | tap | stops) ;;
		*) die "ONLY must be of core, regress, isolation, tap, stops, separated by commas" ;;
	esac
done
check_names
[ -z "$KEEP" ] && trap cluster_cleanup EXIT || trap 'cluster_stop immediate' EXIT
trap 'exit 130' INT TERM
make_workdir
[ -z "$KEEP" ] || echo "# $WORK"
[ "$ONLY" = core ] || { find_postgres; stage build stage_build; }

# The test user may be unable to read, let alone write, the checkout.
for dir in sql expected specs t docs bench scripts monitoring; do
	[ ! -d $dir ] || cp -r $dir "$WORK/"
done
# t/readme.pl and t/format.pl hold the documents against these
mkdir "$WORK/src"
cp README.md CHANGELOG.md surfidx--*.sql "$WORK/"
cp -r src/base src/core src/inspect src/pages "$WORK/src/"
chown -R "$(test_user)" "$WORK"
if [ -n "$BUILT" ]; then
	! wanted tap || small_disk
	# two lanes that take about as long as each other
	lane tap isolation core
	lane regress stops
	join_lanes tap regress
	slowest
else
	stage core stage_core
fi

[ $((passed + failed)) -gt 0 ] || echo "no tests were run"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
