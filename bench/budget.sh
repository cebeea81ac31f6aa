#!/bin/bash
# One budget for many indexes (surfidx.size_budget): indexes of uuids under a part of their total
# size, most reads on a few of them, then on a few others.  It prints every few seconds what all
# take of the budget, and how many leaves of the indexes that are read most are whole; and CPU of
# index-only lookups there, beside that of the same indexes before there was a budget.
#
#	bench/budget.sh [--indexes n] [--hot n] [--rows n] [--share percent] [--reads percent]
#		[--seconds n] [--interval s] [--runs n]
#
#	--indexes n			tables, with an index each (default 20)
#	--hot n				of which so many have most of the reads (default 4)
#	--rows n			of each (default 400000, some 6.5 MB of index)
#	--share percent		the budget, of the total size (default 50)
#	--reads percent		of the hot ones (default 90)
#	--seconds n			of each of the two loads (default 150)
#	--interval s		surfidx.budget_interval (default 10)
#	--runs n			rounds of lookups that are measured (default 5)

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

take_options "indexes hot rows share reads seconds interval runs" "$@"
no_words

own_cluster budget "shared_buffers = 1GB" "autovacuum = off" "max_wal_size = 16GB" \
	"surfidx.budget_interval = $interval"
sql -v indexes="$indexes" -v rows="$rows" <<'SQL'
CREATE EXTENSION surfidx;
SELECT set_config('bench.rows', :'rows', false) \g /dev/null
SELECT set_config('bench.indexes', :'indexes', false) \g /dev/null
DO $$ BEGIN
	FOR i IN 1 .. current_setting('bench.indexes')::int LOOP
		EXECUTE format('CREATE TABLE t%s AS
			SELECT md5(g::text)::uuid AS u FROM generate_series(1, %s) g', i,
			current_setting('bench.rows'));
		EXECUTE format('CREATE INDEX t%s_u ON t%1$s USING surfidx (u)', i);
	END LOOP;
END $$;
VACUUM (ANALYZE);
-- of this backend, in seconds
CREATE FUNCTION own_cpu() RETURNS float8 LANGUAGE sql AS $$
	SELECT (s[14]::int + s[15]::int) / 100.0 FROM regexp_split_to_array(regexp_replace(
		pg_read_file('/proc/self/stat'), '\(.*\)', 'x'), ' ') s $$;
-- CPU of a lookup in us
CREATE FUNCTION lookups(i int, n int, rows int) RETURNS float8 LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
	before float8;
BEGIN
	before := own_cpu();
	EXECUTE format('SELECT count(u) FROM
		(SELECT (SELECT u FROM t%s t WHERE t.u >= s.k ORDER BY u LIMIT 1)
		FROM (SELECT md5((random() * %s)::int::text)::uuid AS k FROM generate_series(1, %s)) s) x',
		i, rows, n);
	RETURN (own_cpu() - before) * 1e6 / n;
END $$;
CREATE TABLE run (phase text, i int, us float8);
SQL

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

# state what first last: a line
state()
{
	sql -A -t -F ' ' -c "SELECT '$1', '${SECONDS} s', pg_size_pretty(size),
			round(100.0 * size / nullif(size_budget, 0), 1) || ' % of the budget,',
			'hot leaves whole: ' || (SELECT sum(leaves - cut_leaves) || ' of ' || sum(leaves)
				FROM generate_series($2::int, $3::int) i, surfidx_leaf_keys('t' || i || '_u', 1))
		FROM surfidx_budget()"
}

# measure phase first last: lookups in these
measure()
{
	local run i

	for run in $(seq "$runs"); do
		for i in $(seq "$2" "$3"); do
			sql -A -t -c "INSERT INTO run SELECT '$1', $i, lookups($i, 100000, $rows)"
		done
	done
}

# phase name first last: load until the time is over, with a line every few seconds
phase()
{
	local end=$((SECONDS + seconds))

	while [ $SECONDS -lt $end ]; do
		load "$2" "$3" $((seconds / 15 > 2 ? seconds / 15 : 2))
		state "$1" "$2" "$3"
	done
	measure "$1" "$2" "$3"
}

report_machine
total=$(sql -A -t -c "SELECT size FROM surfidx_budget()")
echo "# $indexes indexes of $rows uuids, $((total / 1048576)) MB in all; budget $share % of it;" \
	"$reads % of reads on $hot"
measure "whole keys" 1 $((2 * hot))
sql -c "ALTER DATABASE postgres SET surfidx.size_budget = '$((total / 1024 * share / 100))kB'"
phase "first load" 1 "$hot"
phase "shifted" $((hot + 1)) $((2 * hot))
sql -P footer=off -P border=0 <<'SQL'
SELECT r.phase,
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY r.us)::numeric, 2) AS "us a lookup",
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY w.us)::numeric, 2) AS "whole keys",
	round(100 * (percentile_cont(0.5) WITHIN GROUP (ORDER BY r.us)
		/ percentile_cont(0.5) WITHIN GROUP (ORDER BY w.us) - 1)::numeric, 1) AS "more, %"
FROM run r JOIN run w ON w.i = r.i AND w.phase = 'whole keys'
WHERE r.phase <> 'whole keys' GROUP BY 1 ORDER BY 1;
SQL
grep -E "size_budget" "$CLUSTER_LOG" | sed 's/^.*\] [^ ]* //' | tail -40
echo "# $SECONDS s"
