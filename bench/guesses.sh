#!/bin/bash
# Text of several alphabets by linguistic collations, where searches guess (B5): merges, lookups,
# lookups beside a delta, the first lookup of a backend, in CPU time of the backend, by one library
# or by several in turn.
#
#	bench/guesses.sh [--rows n] [--runs n] [--libraries "name=file.so ..."] [set]...
#
#	--libraries	builds of surfidx.so, each put in the place of the installed one for its turns,
#				which is put back at the end (default: the installed one; none is no name).
#				Without guesses is one with NULL for ranks in order.c
#	set			latin, german, czech, cyrillic, ukrainian, greek, greek-el, chinese; -libc:
#				en_US.UTF-8 (default: all)
cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=200000 runs=3 libraries=
take_options "rows runs libraries" "$@"
own_cluster guesses "shared_buffers = 512MB" "max_wal_size = 16GB" "autovacuum = off" \
	"surfidx.auto_merge = off"
installed=$("$PG_CONFIG" --pkglibdir)/surfidx.so
cp "$installed" "$WORK/installed.so"

install_library()
{
	cp "$1" "$installed.new" && mv "$installed.new" "$installed"
}

put_back()
{
	install_library "$WORK/installed.so"
	leave
}
trap put_back EXIT
[ -n "$libraries" ] || libraries="installed=$WORK/installed.so"

# one_turn set name: what bench.guess says, and the comparisons that its merge made
one_turn()
{
	local compared

	sql -c "DROP TABLE IF EXISTS r" -c "CREATE TABLE r (LIKE base)" \
		-c "INSERT INTO r SELECT * FROM base" -c "CREATE INDEX r_index ON r USING surfidx (k)" \
		-c "VACUUM (FREEZE, ANALYZE)" -c CHECKPOINT
	sql -c "CALL bench.guess('$1', '$2')" 2>"$WORK/said" || { cat "$WORK/said" >&2; exit 1; }
	compared=$(sed -n 's/.* compared \([0-9]*\) times by .*/\1/p' "$WORK/said")
	# (a library from before that was told says nothing)
	[ -z "$compared" ] || sql -c "CALL bench.note('$1', 'merge, comparisons per new row', '$2',
		$compared / ($rows / 10.0))"
}

sql -f bench/schema.sql -f bench/guesses.sql
report_machine
[ ${#words[@]} -gt 0 ] ||
	mapfile -t words < <(psql -XAtc "SELECT name FROM bench.words ORDER BY name")
for set in "${words[@]}"; do
	sql -c "CALL bench.load_words('$set', $rows)"
	for ((i = 0; i < runs; i++)); do
		for library in $libraries; do
			install_library "${library#*=}"
			as_user "$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -m fast -w restart >/dev/null
			one_turn "$set" "${library%%=*}"
		done
	done
	sql -P footer=off -P border=0 -c "SELECT * FROM bench.guesses('$set', '$libraries')"
done
echo "# $SECONDS s, load $(cut -d ' ' -f 1-3 /proc/loadavg)"
