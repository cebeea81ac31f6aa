#!/bin/bash
# Elastic indexes (EDBT 2022), inside PostgreSQL: a bound of 50 to 90 % of whole keys that is crossed
# while rows come and while they go, and a trace of logs whose days differ in size.
#
#	bench/papers/elastic.sh [--entries n] [--transactions n] [--bounds "n..."] [--day n]
#		[--days "n..."] [--window n] [--buffers size] [--out directory]
#
#	--entries n		rows when there are most (default 200000, the paper has 100 million), of random
#					uuids: bench/elastic.sh
#	--transactions	of each workload at each size (default 2000)
#	--bounds		size_limit in percent of the whole keys' index (default "50 60 70 80 90")
#	--day n			rows of a day of the trace that is as large as the mean (default 40000; 0: none)
#	--days			sizes of days, in percent of the mean
#	--window n		so many days are kept (default 4); the trace's size_limit is what whole keys of
#					so many days of the mean take
#	--buffers size	shared_buffers of both (default 64MB)
#	--out directory	of the TSV and the charts (default build/papers)
#
# The trace has the form of the paper's figure 1: a day of an object store's log is often half as
# large again as the mean, and some are two to three and a half times as large.  The log itself is
# not public; its rows here are (time, object, bytes), some 20 of them a second at a mean day, in
# the order of time, indexed by time and object.  Each day comes in, the oldest one goes.

cd "$(dirname "$0")/../.." || exit 1
. bench/papers/common.sh

entries=200000
transactions=2000
bounds="50 60 70 80 90"
day=40000
days="80 110 90 70 150 320 120 60 100"
window=4
buffers=64MB
paper "transactions bounds day days window buffers" "$@"

# ---- the bound ----

# bytes an entry of whole keys, 16 of a uuid, and half of one of a TID
whole=$((entries * 17 / 1024))
for bound in $bounds; do
	kinds=elastic
	[ "$bound" != "${bounds%% *}" ] || kinds="btree full elastic cut"
	bench/elastic.sh --rows "$entries" --transactions "$transactions" --runs 1 --kinds "$kinds" \
		--buffers "$buffers" --quarters "2 4 3 1" --limit $((whole * bound / 100)) \
		--out "$work/bound.tsv" \
		>"$work/bound.txt" || { cat "$work/bound.txt"; die "bench/elastic.sh failed"; }
	sed -i "s/\telastic\t/\telastic, $bound %\t/" "$work/bound.tsv"
	ours_of_runs bound "$work/bound.tsv"
done

# ---- the trace ----

# make kind using
make()
{
	sql -c "CREATE TABLE t_$1 (at timestamptz, object int8, bytes int)" \
		-c "CREATE INDEX i_$1 ON t_$1 USING $2"
}

# come day: its rows, spread over 24 hours, into every table
come()
{
	local n=$((day * $2 / 100)) kind

	for kind in $kinds; do
		sql -c "INSERT INTO t_$kind SELECT timestamptz '2026-01-01' + $1 * interval '1 day'
				+ g * (interval '1 day' / $n), hashint8extended(g / 3, $1) & 1048575, g % 65536
			FROM generate_series(1, $n) g" \
			-c "DELETE FROM t_$kind WHERE at <= timestamptz '2026-01-01'
				+ ($1 - $window + 1) * interval '1 day'" \
			-c "VACUUM (ANALYZE) t_$kind"
	done
}

# ask day kind: windows of 100 rows, and lookups, within the days that are there; CPU of one in us
ask()
{
	local what query

	for what in range lookup; do
		query="SELECT sum(bytes) FROM (SELECT bytes FROM t_$2 WHERE at >= k ORDER BY at, object LIMIT 100) s"
		[ $what = range ] || query="SELECT sum(bytes) FROM t_$2 WHERE at = k"
		sql -At -F "$(printf '\t')" <<-END | grep "$(printf '\t')"
			SET enable_seqscan = off;
			SET enable_bitmapscan = off;
			DO 'BEGIN PERFORM setseed(0.5); END';
			SELECT cpu() AS start \\gset
			DO \$\$
			DECLARE
				k timestamptz;
				x int8;
			BEGIN
				FOR i IN 1 .. $transactions LOOP
					SELECT max(at) - random() * interval '20 hours' INTO k FROM t_$2;
					$([ $what = range ] || echo "SELECT min(at) INTO k FROM t_$2 WHERE at >= k;")
					${query/SELECT sum(bytes)/SELECT sum(bytes) INTO x};
				END LOOP;
			END \$\$;
			SELECT '$2', $1, '$what, us', (cpu() - :start) / $transactions;
		END
	done
}

run_trace()
{
	local number=0 limit size kind

	own_cluster trace "shared_buffers = $buffers" "autovacuum = off" "max_wal_size = 8GB" \
		"synchronous_commit = off" "checkpoint_timeout = 1h"
	trap 'leave; rm -rf "$work"' EXIT
	sql -c "CREATE EXTENSION surfidx" -c "CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql AS
		\$\$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1000\$\$"
	kinds="full"
	make full "surfidx (at, object)"
	for number in $(seq $window); do
		come "$number" 100
	done
	limit=$(sql -At -c "SELECT greatest(pg_relation_size('i_full') / 1024, 64)")
	sql -c "DROP TABLE t_full"
	echo "# size_limit of the trace: $limit kB"
	kinds="btree full elastic cut"
	make btree "btree (at, object)"
	make full "surfidx (at, object)"
	make elastic "surfidx (at, object) WITH (size_limit = $limit)"
	make cut "surfidx (at, object) WITH (keys = cut)"
	number=0
	for size in $days; do
		number=$((number + 1))
		come $number "$size"
		for kind in $kinds; do
			sql -At -F "$(printf '\t')" -c "SELECT '$kind', $number, 'index, MB',
				pg_relation_size('i_$kind') / 1e6"
			[ "$kind" != elastic ] || sql -At -F "$(printf '\t')" -c "SELECT '$kind', $number,
				'leaves cut, %', coalesce(100.0 * cut_leaves / nullif(leaves, 0), 0)
				FROM surfidx_leaf_keys('i_$kind')"
			ask $number "$kind"
		done
		printf 'rows of the window\t%s\t%s\t%s\n' $number "thousand rows" \
			"$(sql -At -c "SELECT count(*) / 1000.0 FROM t_btree")"
	done | ours trace
}

[ "$day" -eq 0 ] || run_trace
theirs
for metric in "index, MB" "leaves cut, %" "a: CPU, us" "c: CPU, us" "e: CPU, us" "i: CPU, us"; do
	show bound "$metric"
	draw bound "$metric" ""
done
for metric in "thousand rows" "index, MB" "leaves cut, %" "lookup, us" "range, us"; do
	[ "$day" -eq 0 ] || { show trace "$metric"; draw trace "$metric" day; }
done
echo "# $tsv, $SECONDS s"
