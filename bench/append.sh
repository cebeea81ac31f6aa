#!/bin/bash
# Rows with ascending keys, one by one, beside btree: a loop of INSERT in a procedure, a COMMIT every
# 1,000, into a table that has rows already, with a plain and with a unique index on int8.  surfidx
# twice: with merge workers that end at once, and with such as wait for more
# (surfidx.merge_worker_idle).  It tells, in ns a row,
#
#	CPU			of the session and of all processes that ended, what the table alone takes taken off
#	session		of it, the session's
#	processes	merge workers that were started
#
#	bench/append.sh [--runs n] [--rows n] [--before n] [--idle "0 500ms"] [--conf line] [--out f]
#
#	--runs n	rounds, all kinds in turn in each (default 3)
#	--rows n	that are inserted (default 500000)
#	--before n	that are there before (default 300000)
#	--conf line	of postgresql.conf
#	--out f		all runs as a TSV

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

runs=3
rows=500000
before=300000
idle="0 500ms"
conf=""
out=build/append.tsv

take_options "runs rows before idle conf out" "$@"
no_words

own_cluster append "shared_buffers = 512MB" "autovacuum = off" "jit = off" "max_wal_size = 16GB" \
	"checkpoint_timeout = 1h" "synchronous_commit = off" ${conf:+"$conf"}
sql -f bench/schema.sql -f bench/write.sql >/dev/null
sql <<'SQL'
CREATE TABLE bench.append (kind text, am text, idle text, cpu float8, own float8, starts int,
	merges int);
CREATE PROCEDURE bench.rows(first int, last int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN first .. last LOOP
		INSERT INTO a VALUES (i);
		IF i % 1000 = 0 THEN
			COMMIT;
		END IF;
	END LOOP;
	COMMIT;
END $$;
CREATE PROCEDURE bench.append(kind text, am text, idle text, before int, n int)
LANGUAGE plpgsql AS $$
DECLARE
	starts text := $q$SELECT taken FROM surfidx_shared_memory() WHERE name = 'merge workers'$q$;
	c0 record;
	c1 record;
	ended record;
	s0 int;
	s1 int;
	merges int;
BEGIN
	EXECUTE starts INTO s0;
	c0 := bench.all_cpu();
	CALL bench.rows(before + 1, before + n);
	c1 := bench.all_cpu();
	FOR i IN 1 .. 60000 LOOP
		PERFORM pg_stat_clear_snapshot();
		EXIT WHEN bench.none_ending();
		PERFORM pg_sleep(0.01);
	END LOOP;
	ended := bench.all_cpu();
	EXECUTE starts INTO s1;
	IF am = 'surfidx' THEN
		merges := (surfidx_meta('a_k')).merges;
	END IF;
	INSERT INTO bench.append VALUES (kind, am, idle, (c1.own - c0.own + ended.ended - c0.ended)
		/ n::float8, (c1.own - c0.own) / n::float8, s1 - s0, merges);
	COMMIT;
END $$;
SQL

measure()
{
	local kind=$1 am=$2 idle=$3

	sql -c "ALTER SYSTEM SET surfidx.merge_worker_idle = '$idle'" -c "SELECT pg_reload_conf()" >/dev/null
	sql -c "DROP TABLE IF EXISTS a" -c "CREATE TABLE a (k int8)" \
		-c "INSERT INTO a SELECT generate_series(1, $before)"
	case $am in
		none) ;;
		*) sql -c "CREATE $([ "$kind" = plain ] || echo unique) INDEX a_k ON a USING $am (k)" ;;
	esac
	sql -c "VACUUM ANALYZE a" -c CHECKPOINT
	sql -c "CALL bench.append('$kind', '$am', '$idle', $before, $rows)"
	[ "$am" != surfidx ] || [ -z "$(sql -Atc "SELECT surfidx_check('a_k', true)")" ]
}

report_machine
for ((i = 0; i < runs; i++)); do
	measure plain none 0
	for kind in plain unique; do
		measure $kind btree 0
		for ms in $idle; do measure $kind surfidx "$ms"; done
	done
done
echo "# load: $(cut -d' ' -f1-3 /proc/loadavg)"
sql -P footer=off -P border=0 -c "WITH bare AS (
		SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu) AS cpu FROM bench.append
		WHERE am = 'none'),
	m AS (SELECT kind, am, idle, percentile_cont(0.5) WITHIN GROUP (ORDER BY a.cpu) - bare.cpu AS cpu,
			min(a.cpu - bare.cpu) AS least, max(a.cpu - bare.cpu) AS most,
			percentile_cont(0.5) WITHIN GROUP (ORDER BY a.own) - bare.cpu AS own,
			percentile_cont(0.5) WITHIN GROUP (ORDER BY starts) AS starts,
			percentile_cont(0.5) WITHIN GROUP (ORDER BY merges) AS merges, bare.cpu AS bare
		FROM bench.append a, bare WHERE am <> 'none' GROUP BY kind, am, idle, bare.cpu)
	SELECT kind, am, idle, round(cpu) AS cpu, round(least) || '-' || round(most) AS range,
		(cpu / first_value(cpu) OVER w)::numeric(6, 2) AS x, round(own) AS session,
		(own / first_value(own) OVER w)::numeric(6, 2) AS x, starts AS processes, merges,
		round(bare) AS \"the table\"
	FROM m WINDOW w AS (PARTITION BY kind ORDER BY am, idle) ORDER BY kind, am, idle"
mkdir -p "$(dirname "$out")"
sql -c "\copy bench.append TO '$out'"
echo "# $out, $SECONDS s"
