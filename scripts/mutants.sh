#!/bin/bash
# mutants.sh [rule]...: break each rule that a scenario of t/stops names, in a test build, and see that the scenario fails.
# A mutant that nothing notices is a failure; so is a scenario that fails without one.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/cluster.sh
. scripts/test_server.sh
clean_environment "$@"
trap cluster_cleanup EXIT
trap 'exit 130' INT TERM
make_workdir
find_postgres
test_server "$WORK/server" || die "the test build failed"
cp -r t "$WORK/"
chown -R "$(test_user)" "$WORK"
cd "$WORK" || exit 1

# stops seconds file [variable]...: its status
stops()
{
	local limit=$1 file=$2

	shift 2
	as_user env TMPDIR="$WORK" PG_CONFIG="$TEST_PG_CONFIG" "$@" timeout -k 10 "$limit" perl "$file" >"$WORK/out" 2>&1
}

killed=0
survived=0
for file in t/stops/*.pl; do
	as_user env SURFIDX_LIST=1 perl "$file" >list || die "$file has no list"
	[ -s list ] || continue
	if ! stops 900 "$file"; then
		echo "$file fails without a mutant:"
		grep -A6 '^not ok' out
		survived=$((survived + 1))
		continue
	fi
	while IFS=$'\t' read -r rule scenario <&3; do
		[ $# -eq 0 ] || printf '%s\n' "$@" | grep -qxF "$rule" || continue
		if stops 120 "$file" SURFIDX_MUTANT="$rule" SURFIDX_SCENARIO="$scenario"; then
			echo "SURVIVED: $rule ($file: $scenario)"
			survived=$((survived + 1))
		else
			echo "killed: $rule, by \"$(grep -m1 '^not ok' out | sed 's/^not ok [0-9]* - //' | cut -c 1-80)\" of \"$scenario\""
			killed=$((killed + 1))
		fi
	done 3<list
done
echo "$killed mutants killed, $survived survived"
[ "$survived" -eq 0 ] && [ "$killed" -gt 0 ]
