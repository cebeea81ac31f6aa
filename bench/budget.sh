#!/bin/bash
# One budget for many indexes (surfidx.size_budget): indexes of uuids under a part of their total
# size, most reads on a few of them, then on a few others.  It prints every few seconds what all
# take of the budget, and how many leaves of the indexes that are read most are whole; and CPU of
# index-only lookups there, in turn with the same lookups in indexes of the same rows that have
# whole keys, in a database that has no budget.
#
#	bench/budget.sh [--indexes n] [--hot n] [--rows n] [--share percent] [--reads percent]
#		[--seconds n] [--interval s] [--runs n] [--lookups n] [--buffers size]
#
#	--indexes n			tables, with an index each (default 20)
#	--hot n				of which so many have most of the reads (default 4)
#	--rows n			of each (default 400000, some 6.5 MB of index; 6200000: 100 MB)
#	--share percent		the budget, of the total size (default 50)
#	--reads percent		of the hot ones (default 90)
#	--seconds n			of each of the two loads (default 150)
#	--interval s		surfidx.budget_interval (default 10; the server's own is 30)
#	--runs n			rounds of lookups that are measured (default 5)
#	--lookups n			of each index in a round (default 100000)
#	--buffers size		shared_buffers (default 1GB)
#
# At the size of a server (12 GB of disk, half an hour):
#	bench/budget.sh --rows 6200000 --seconds 600 --interval 30 --buffers 6GB

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

indexes=20
hot=4
rows=400000
share=50
reads=90
seconds=150
interval=10
runs=5
lookups=100000
buffers=1GB

take_options "indexes hot rows share reads seconds interval runs lookups buffers" "$@"
no_words

own_cluster budget "shared_buffers = $buffers" "autovacuum = off" "max_wal_size = 16GB" \
	"wal_level = minimal" "max_wal_senders = 0" "surfidx.budget_interval = $interval"

# tables database n: t1 to tn, with the same rows in the same order
tables()
{
	sql -d "$1" -v n="$2" -v rows="$rows" <<-'SQL'
		CREATE EXTENSION surfidx;
		SELECT set_config('bench.rows', :'rows', false),
			set_config('bench.n', :'n', false) \g /dev/null
		DO $$ BEGIN
			FOR i IN 1 .. current_setting('bench.n')::int LOOP
				EXECUTE format(CASE i WHEN 1 THEN 'CREATE TABLE t%1$s AS
					SELECT md5(g::text)::uuid AS u FROM generate_series(1, %2$s) g'
					ELSE 'CREATE TABLE t%1$s AS TABLE t1' END, i, current_setting('bench.rows'));
				EXECUTE format('CREATE INDEX t%s_u ON t%1$s USING surfidx (u)', i);
			END LOOP;
		END $$;
		VACUUM (ANALYZE);
		-- of this backend, in us
		CREATE FUNCTION own_cpu() RETURNS float8 LANGUAGE sql AS
			$$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1000$$;
		-- CPU of a lookup in us, of the second of two rounds with the same keys
		CREATE FUNCTION lookups(i int, n int, rows int, seed float8) RETURNS float8 LANGUAGE plpgsql
		SET enable_seqscan = off SET enable_bitmapscan = off AS $$
		DECLARE
			before float8;
		BEGIN
			PERFORM setseed(seed);
			CREATE TEMP TABLE probe AS
				SELECT md5((random() * rows)::int::text)::uuid AS k FROM generate_series(1, n);
			FOR round IN 1 .. 2 LOOP
				before := own_cpu();
				EXECUTE format('SELECT count(u) FROM
					(SELECT (SELECT u FROM t%s t WHERE t.u >= k ORDER BY u LIMIT 1)
					FROM probe) x', i);
			END LOOP;
			RETURN (own_cpu() - before) / n;
		END $$;
	SQL
}

sql -c "CREATE DATABASE whole"
tables postgres "$indexes"
tables whole $((2 * hot))
sql -c "CREATE TABLE run (phase text, run int, i int, us float8, whole_us float8)" \
	-c "CREATE TABLE state (phase text, second int, size float8, budget float8, whole float8,
		leaves float8)"
# load first last seconds: reads of all, most of them between these, one after the other
load()
{
	cat >"$WORK/hot.sql" <<-END
		\\set i random($1, $2)
		\\set r random(1, $rows)
		SELECT u FROM t:i WHERE u >= md5(':r')::uuid ORDER BY u LIMIT 1;
	END
	cat >"$WORK/cold.sql" <<-END
		\\set i random(1, $indexes)
		\\set r random(1, $rows)
		SELECT u FROM t:i WHERE u >= md5(':r')::uuid ORDER BY u LIMIT 1;
	END
	PGOPTIONS="$PGOPTIONS -c enable_seqscan=off -c enable_bitmapscan=off" pgbench -n -M simple \
		-c 1 -T "$3" -f "$WORK/hot.sql@$reads" -f "$WORK/cold.sql@$((100 - reads))" >/dev/null 2>&1
}

# state phase first last: a line
state()
{
	sql -A -t -F ' ' -c "INSERT INTO state SELECT '$1', $((SECONDS - began)), size, size_budget,
			k.whole, k.leaves FROM surfidx_budget(), (SELECT sum(k.leaves - cut_leaves) AS whole,
				sum(k.leaves) AS leaves
				FROM generate_series($2::int, $3::int) i,
					surfidx_leaf_keys('t' || i || '_u', 1) k) k
		RETURNING phase, second || ' s', pg_size_pretty(size::int8),
			round((100 * size / budget)::numeric, 1) || ' % of the budget,',
			'hot leaves whole: ' || whole || ' of ' || leaves"
}

# measure phase first last: lookups in these, and in those with whole keys, which come first in
# every second round
measure()
{
	local run i us whole

	for run in $(seq "$runs"); do
		for i in $(seq "$2" "$3"); do
			[ $((run % 2)) = 0 ] || us=$(one postgres)
			whole=$(one whole)
			[ $((run % 2)) = 1 ] || us=$(one postgres)
			sql -c "INSERT INTO run VALUES ('$1', $run, $i, $us, $whole)"
		done
	done
}

one()
{
	sql -d "$1" -A -t -c "SELECT lookups($i, $lookups, $rows, $run / 100.0)"
}

# phase name first last: load until the time is over, with a line every few seconds
phase()
{
	began=$SECONDS
	while [ $((SECONDS - began)) -lt "$seconds" ]; do
		load "$2" "$3" $((interval / 2 > 2 ? interval / 2 : 2))
		state "$1" "$2" "$3"
	done
	measure "$1" "$2" "$3"
	state "$1" "$2" "$3"
}

report_machine
total=$(sql -A -t -c "SELECT size FROM surfidx_budget()")
echo "# $indexes indexes of $rows uuids, $((total / 1048576)) MB in all; budget $share % of it;" \
	"$reads % of reads on $hot; $SECONDS s to make them"
measure "1 no budget" 1 "$hot"
sql -c "ALTER DATABASE postgres SET surfidx.size_budget = '$((total / 1024 * share / 100))kB'"
phase "2 first load" 1 "$hot"
phase "3 shifted" $((hot + 1)) $((2 * hot))
sql -P footer=off -P border=0 <<'SQL'
SELECT phase, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY us)::numeric, 3) AS "us a lookup",
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY whole_us)::numeric, 3) AS "whole keys",
	round(100 * (percentile_cont(0.5) WITHIN GROUP (ORDER BY us / whole_us) - 1)::numeric, 1)
		AS "more, %",
	round(100 * (percentile_cont(0.25) WITHIN GROUP (ORDER BY us / whole_us) - 1)::numeric, 1)
		AS "a quarter below",
	round(100 * (percentile_cont(0.75) WITHIN GROUP (ORDER BY us / whole_us) - 1)::numeric, 1)
		AS "a quarter above"
FROM run GROUP BY 1 ORDER BY 1;
WITH s AS (
	SELECT *, min(second) FILTER (WHERE size <= 1.03 * budget) OVER (PARTITION BY phase) AS kept,
		max(second) FILTER (WHERE whole < 0.98 * leaves) OVER (PARTITION BY phase) AS slow
	FROM state)
SELECT phase, min(kept) AS "s to 103 % of it",
	round((100 * max(size / budget) FILTER (WHERE second >= kept))::numeric, 1)
		AS "most after that, %",
	coalesce((min(second) FILTER (WHERE slow IS NULL OR second > slow))::text, 'never')
		AS "s until 98 % of hot leaves are whole",
	round((100 * max(whole / leaves))::numeric, 1) AS "most whole, %"
FROM s GROUP BY 1 ORDER BY 1;
SQL
grep -E "size_budget" "$CLUSTER_LOG" | sed 's/^.*\] [^ ]* //' | tail -40
echo "# $SECONDS s, load $(cut -d ' ' -f 1-3 /proc/loadavg)"
