#!/bin/bash
# The launcher of pg_regress and pg_isolation_regress: ending.sh program argument...
#
# Runs one test, and checks every surfidx index before the test drops any, and at its end
# (ending.sql).  What is wrong stands in the test's output, which is then not as expected.

database=${*: -1}
database=${database#dbname=}
for ((i = 1; i < $#; i++)); do
	[ "${!i}" != -d ] || { next=$((i + 1)); database=${!next}; }
done
here=$(dirname "$0")
[ -z "$SURFIDX_SHUFFLE" ] || psql -X -q -d "$database" -f "$here/shuffle.sql" </dev/null || exit
psql -X -q -d "$database" -f "$here/ending.sql" </dev/null || exit
"$@"
status=$?
psql -X -q -A -t -d "$database" -c 'SELECT surfidx_ending.check_all()' </dev/null 2>&1 |
	grep -v '^$'
exit $status
