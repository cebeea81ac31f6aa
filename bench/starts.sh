#!/bin/bash
# What it costs to have many scans open: joins of 2 to 12 tables by their keys, an OR of 1,000 arms,
# a query over 500 partitions.  CPU is that of the backend, planning apart; memory is that of the
# statement's contexts while it returns its row.  Access methods take turns.
#
#	bench/starts.sh [--runs n] [--only "join2 join4 ..."]
#
#	--runs n		rounds, access methods in turn in each (default 5)
#	--only "..."	parts (default all)

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

runs=5
only="lookup join2 join4 join8 join12 range arms ordered partitions"

take_options "runs only" "$@"
no_words

own_cluster starts "shared_buffers = 256MB" "autovacuum = off" "jit = off" \
	"max_locks_per_transaction = 1000" "surfidx.auto_merge = off"

sql <<'END'
CREATE EXTENSION surfidx;
-- what the session's contexts hold, but for catalogs' caches
CREATE FUNCTION held() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts
	WHERE name <> 'CacheMemoryContext' AND parent IS DISTINCT FROM 'CacheMemoryContext' $$;
CREATE TABLE run (part text, am text, cpu numeric, kb numeric);
CREATE FUNCTION nothing() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT 0::bigint';
DO $$ DECLARE am text; BEGIN FOREACH am IN ARRAY ARRAY['btree', 'surfidx'] LOOP
	FOR i IN 1 .. 12 LOOP
		EXECUTE format('CREATE TABLE %s%s AS SELECT g AS k, (g * 7919 + %2$s) %% 20000 + 1 AS next
			FROM generate_series(1, 20000) g', am, i);
		EXECUTE format('CREATE UNIQUE INDEX ON %s%s USING %1$s (k)', am, i);
	END LOOP;
	EXECUTE format('CREATE TABLE %s_p (k int, v int) PARTITION BY HASH (k)', am);
	FOR i IN 0 .. 499 LOOP
		EXECUTE format('CREATE TABLE %s_p%s PARTITION OF %1$s_p
			FOR VALUES WITH (MODULUS 500, REMAINDER %2$s)', am, i);
	END LOOP;
	EXECUTE format('INSERT INTO %s_p SELECT g, g %% 50000 FROM generate_series(1, 200000) g', am);
	EXECUTE format('CREATE INDEX ON %s_p USING %1$s (v)', am);
END LOOP; END $$;
VACUUM ANALYZE;
END

# query am part function: the statement, which calls the function for its row, or one of them
query()
{
	local am=$1 part=$2 call="$3() AS held" i from arms=""

	case $part in
	lookup) echo "SELECT $call FROM ${am}1 WHERE k = 77" ;;
	join*)
		from="${am}1 t1"
		for ((i = 2; i <= ${part#join}; i++)); do
			from+=" JOIN $am$i t$i ON t$i.k = t$((i - 1)).next"
		done
		echo "SELECT $call FROM $from WHERE t1.k = 77" ;;
	range)
		from="SELECT next FROM ${am}1 WHERE k BETWEEN 400 AND 499 OFFSET 99"
		echo "SELECT $call FROM ($from) v" ;;
	arms)
		for ((i = 1; i <= 1000; i++)); do arms+="${arms:+ OR }k = $((i * 19))"; done
		echo "SELECT $call FROM ${am}1 WHERE $arms LIMIT 1" ;;
	ordered) echo "SELECT $call FROM (SELECT v FROM ${am}_p ORDER BY v LIMIT 1) o" ;;
	partitions) echo "SELECT $call FROM (SELECT v FROM ${am}_p WHERE v = 77 OFFSET 3) o" ;;
	esac
}

# A line of the run: CPU of an execution in us, memory in kB.
measure()
{
	local am=$1 part=$2 n=2000 i

	case $part in arms | ordered | partitions) n=40 ;; esac
	{
		echo "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
			SET enable_memoize = off; SET enable_material = off; SET join_collapse_limit = 1;
			SET max_parallel_workers_per_gather = 0; SET plan_cache_mode = force_generic_plan;"
		[ "$part" != arms ] || echo "SET enable_indexscan = off; SET enable_indexonlyscan = off;"
		echo "PREPARE q AS $(query "$am" "$part" nothing);"
		echo "PREPARE m AS $(query "$am" "$part" held);"
		echo "CREATE TEMP TABLE cpu (ns numeric);"
		for i in 1 2; do
			echo "\\o /dev/null"
			printf 'EXECUTE q;%.0s\n' $(seq "$n")
			echo "\\o"
			echo "INSERT INTO cpu
				SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric;"
		done
		echo "EXECUTE m \\gset"
		echo "SELECT '$part', '$am', (max(ns) - min(ns)) / 1000 / $n, :held / 1024 FROM cpu;"
	} | sql -At -F "	" | sql -c "COPY run FROM stdin"
}

report_machine
for ((r = 0; r < runs; r++)); do
	for part in $only; do
		for am in btree surfidx; do measure "$am" "$part"; done
	done
done
echo "# load: $(cut -d' ' -f1-3 /proc/loadavg)"
sql -P footer=off -P border=0 -c "SELECT part, round(b.cpu, 1) AS \"btree, us\", round(s.cpu, 1) AS
	\"surfidx, us\", round(s.cpu / b.cpu, 2) AS \"CPU\", b.kb AS \"btree, kB\", s.kb AS
	\"surfidx, kB\", round(s.kb / b.kb, 2) AS memory
	FROM (SELECT part, percentile_disc(0.5) WITHIN GROUP (ORDER BY cpu) AS cpu, max(kb) AS kb
		FROM run WHERE am = 'btree' GROUP BY part) b
	JOIN (SELECT part, percentile_disc(0.5) WITHIN GROUP (ORDER BY cpu) AS cpu, max(kb) AS kb
		FROM run WHERE am = 'surfidx' GROUP BY part) s USING (part)
	ORDER BY position(part IN '$only')"
echo "# $SECONDS s"
