#!/bin/bash
# What takes hours: a line each, "ok: ..." or "FAILED: ..." with the file that has all of it.
#
#	nightly.sh [storm|aggregates|crash|diff|sqlsmith|discard|explained|shuffled|bold|tables|sweep|
#				mutants|tools|application|shards|versions|fresh]...
#				which; default: all, in this order
#
# PG_CONFIG names the server, into which surfidx is installed; assertions should be on in it
# (--enable-cassert), and "discard" needs them.  SURFIDX_NIGHTLY_SECONDS: how long each of storm,
# aggregates, crash and diff goes on, 3600.  SURFIDX_NIGHTLY_SEED: theirs, new each time and
# printed.
# DISCARD_TESTS: only these of the regression tests.  What is said goes to build/nightly.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/cluster.sh
readonly SECS=${SURFIDX_NIGHTLY_SECONDS:-3600}
readonly SEED=${SURFIDX_NIGHTLY_SEED:-$((RANDOM * 32768 + RANDOM))}
readonly OUT=$ROOT_DIR/build/nightly
failed=0

# step name command...: a line of what came of it
step()
{
	local name=$1 t0=$SECONDS result=ok

	shift
	"$@" >"$OUT/$name.log" 2>&1 || { result=FAILED; failed=1; }
	echo "$result: $name, seed $SEED, $((SECONDS - t0)) s ($OUT/$name.log)"
}

# bench/torture/*.pl with its options, as the user that servers run as
torture()
{
	(cd "$WORK" && as_user env TMPDIR="$WORK" PG_CONFIG="$PG_CONFIG" \
		perl "$@" --seed "$SEED" --seconds "$SECS")
}

# Random queries over tables that have surfidx indexes and no others.  The role is no superuser: the
# functions that it calls shall not shut the server down.  What counts is that the server stays, and
# that it finds no damage; that random queries fail is no wonder.
sqlsmith_queries()
{
	local set="ALTER ROLE smith SET"

	command -v sqlsmith >/dev/null || { echo "sqlsmith is not installed"; return 1; }
	cluster_start sqlsmith "log_line_prefix = '%m [%p] %e '" "autovacuum_naptime = 1s" || return
	sql -c "CREATE EXTENSION surfidx; CREATE ROLE smith LOGIN" \
		-c "GRANT CREATE ON DATABASE postgres TO smith; GRANT CREATE ON SCHEMA public TO smith" \
		-c "$set enable_seqscan = off; $set statement_timeout = '2s'" \
		-c "$set min_parallel_index_scan_size = 0; $set parallel_setup_cost = 0"
	perl -It/lib -MSurfStorm -e 'print SurfStorm->schema(@ARGV)' "$SEED" 20 >"$WORK/schema.sql"
	psql -X -q -U smith -f "$WORK/schema.sql"
	sql -c "VACUUM ANALYZE"
	timeout "$SECS" sqlsmith --target="host=$PGHOST port=$PGPORT dbname=postgres user=smith" \
		--exclude-catalog --seed="$SEED" --max-queries="${SURFIDX_NIGHTLY_QUERIES:-20000}" --verbose
	echo "sqlsmith: status $?"
	sql -At -c "SELECT * FROM surfidx_check_all(true, true)" >"$WORK/check" || return
	cp "$CLUSTER_LOG" "$OUT/sqlsmith.server.log"
	cluster_stop
	echo "$(grep -c '|$' "$WORK/check") indexes are sound"
	! grep -v '|$' "$WORK/check" || return
	! grep -E 'TRAP:|PANIC:|was terminated by signal|XX00[12]|XX000.*surfidx' "$CLUSTER_LOG"
}

# Caches are dropped whenever they may be: code that keeps a pointer into one crashes.
discard()
{
	"$PG_CONFIG" --configure | grep -q -- --enable-cassert ||
		{ echo "$PG_CONFIG belongs to a server without assertions"; return 1; }
	ONLY=regress TESTS="$DISCARD_TESTS" TEST_CONF="debug_discard_caches = 1" scripts/test.sh
}

# Each statement is instrumented and its plan printed, those in functions too.
explained()
{
	local conf="session_preload_libraries = auto_explain"

	for value in log_analyze log_nested_statements log_verbose log_buffers; do
		conf+=";auto_explain.$value = on"
	done
	ONLY=regress TEST_CONF="$conf;auto_explain.log_min_duration = 0" scripts/test.sh
}

# No test depends on where catalogs have their rows: t/shuffle.sql.
shuffled()
{
	ONLY=regress SURFIDX_SHUFFLE=1 scripts/test.sh
}

# As some distributions compile: the optimizer at its boldest.
bold()
{
	local status

	make -s clean && COPT=-O3 ONLY=regress scripts/test.sh
	status=$?
	make -s clean
	return $status
}

# Other than the suite's tests this one takes hours, which the suite would not give it.
sweep()
{
	(cd "$WORK" && as_user env TMPDIR="$WORK" PG_CONFIG="$PG_CONFIG" SURFIDX_SWEEP=all \
		SURFIDX_SWEEP_SEED="$SEED" perl -It/lib t/hostile.pl)
}

# ---- main ----

trap cluster_cleanup EXIT
trap 'exit 130' INT TERM
mkdir -p "$OUT"
scripts/install.sh >"$OUT/build.log" 2>&1 || die "surfidx was not installed: $OUT/build.log"
find_postgres
make_workdir
cp -r t bench "$WORK/"
chown -R "$(test_user)" "$WORK"
[ $# -gt 0 ] || set -- storm aggregates crash diff sqlsmith discard explained shuffled bold \
	tables sweep mutants tools application shards versions fresh
for name; do
	case $name in
		storm) step storm env INSTALLED=1 scripts/storm.sh --seconds "$SECS" --seed "$SEED" ;;
		# a storm half of whose statements are aggregates by the index, held against core's
		aggregates) step aggregates env INSTALLED=1 scripts/storm.sh --seconds "$SECS" \
			--seed "$SEED" --tables 12 --weight aggregate=80 --weight compare=10 ;;
		crash) step crash torture bench/torture/crash.pl --standby ;;
		diff) step diff torture bench/torture/diff.pl --sessions 2 --out "$WORK" ;;
		sqlsmith) step sqlsmith sqlsmith_queries ;;
		discard) step discard discard ;;
		explained) step explained explained ;;
		shuffled) step shuffled shuffled ;;
		bold) step bold bold ;;
		tables) step tables env SURFIDX_FULL=1 ONLY=tap TESTS=shared_tables scripts/test.sh ;;
		# each byte of a page of each kind: t/hostile.pl
		sweep) step sweep sweep ;;
		mutants) step mutants scripts/mutants.sh ;;
		tools) step tools scripts/integrations.sh ;;
		application) step application scripts/application.sh ;;
		shards) step shards scripts/demo_shards.sh ;;
		# all of it, of which CI runs a part; needs root
		versions) step versions scripts/versions.sh 16 17 18 19 ;;
		# systems that have never seen PostgreSQL: packages, and README.md; needs root
		fresh) step fresh scripts/fresh.sh ;;
		*) die "no such thing: $name" ;;
	esac
done
exit $failed
