#!/bin/bash
# What the paper on elastic indexes measures, inside PostgreSQL: indexes that grow past a bound and
# shrink again, in a fixed amount of memory.
#
#	bench/elastic.sh [--rows n] [--transactions n] [--runs n] [--buffers size] [--limit kB]
#		[--memory size] [--kinds "name..."] [--quarters "n..."] [--out file.tsv]
#
#	--rows n			rows when there are most (default 1000000)
#	--transactions n	of each workload at each size (default 20000)
#	--runs n			how often each workload is run at each size (default 3)
#	--buffers size		shared_buffers (default 16MB: half of the btree when it is largest)
#	--memory size		of the whole server, page cache included, by a control group: each method
#						is then measured by itself, its files read before
#	--kinds				of the methods below (default "btree full elastic cut")
#	--quarters			of the rows, one step after the other (default "1 2 3 4 3 2 1")
#	--limit kB			size_limit of "elastic" (default: half of what whole keys take then)
#
# Keys are random uuids.  The tables are alike but for their index: btree, whole keys (full), whole
# keys with size_limit (elastic), cut keys (cut).  Rows grow from a quarter to all, a quarter at
# once, which is the burst, and go again down to a quarter; VACUUM, which also merges, after each
# step.  At each size the methods take turns at
#
#	a	YCSB A: half lookups, half updates of a column that has no index
#	c	YCSB C: lookups
#	e	YCSB E: ranges of 50 rows with all columns, and one insert of twenty
#	i	ranges of 50 keys by index-only scans, which need the keys
#
# one statement and commit each, in a procedure: what is left out is the client and the planner.
# CPU of the session per transaction, and pages of the index that it had to read; of each step sizes,
# cut leaves, and the CPU of the burst.  With --memory transactions per second, by the clock, and
# pages read again from disk, too, and rows per second of the burst.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh
. bench/memory.sh
. bench/server.sh

rows=1000000
transactions=20000
runs=3
buffers=16MB
limit=
memory=
out=$PWD/build/elastic.tsv
kinds="btree full elastic cut"
quarters="1 2 3 4 3 2 1"
have=0

take_options "rows transactions runs buffers limit memory kinds quarters out" "$@"
no_words
limit=${limit:-$((rows * 17 / 2 / 1024))}

own_cluster elastic "shared_buffers = $buffers" "autovacuum = off" "max_wal_size = 16GB" \
	"synchronous_commit = off" "checkpoint_timeout = 1h" \
	"maintenance_work_mem = $([ -n "$memory" ] && echo 8 || echo 64)MB" \
	${memory:+"surfidx.delta_memory = 8MB" "max_connections = 20" "fsync = on"}
trap 'leave; memory_release' EXIT
[ -z "$memory" ] || memory_limit "$memory" || memory=
sql <<'END'
CREATE EXTENSION surfidx;
CREATE TABLE result (key_set text, entries int8, metric text, am text, value float8);
CREATE FUNCTION key_of(n int8) RETURNS uuid IMMUTABLE LANGUAGE sql RETURN md5(n::text)::uuid;
-- CPU of this session's server process, in us
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql AS
	$$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1000$$;
CREATE FUNCTION clock() RETURNS float8 LANGUAGE sql AS
	$$SELECT extract(epoch FROM clock_timestamp())::float8$$;
END

# make kind using: its table, its index, and n transactions of a kind of workload over it
make()
{
	sql -v t="t_$1" -v i="i_$1" -v p="work_$1" <<-END
		CREATE TABLE :t (u uuid, v int) WITH (fillfactor = 90);
		CREATE INDEX :i ON :t USING $2;
		CREATE PROCEDURE work_$1(what text, n int, top int8, turn int) LANGUAGE plpgsql AS \$\$
		DECLARE
			k uuid;
			x int8;
		BEGIN
			PERFORM setseed(turn / 100.0);
			FOR i IN 1 .. n LOOP
				k := key_of(1 + (random() * (top - 1))::int8);
				IF what = 'a' AND i % 2 = 0 THEN
					UPDATE t_$1 SET v = v + 1 WHERE u = k;
				ELSIF what IN ('a', 'c') THEN
					SELECT v INTO x FROM t_$1 WHERE u = k;
				ELSIF what = 'e' AND i % 20 = 0 THEN
					INSERT INTO t_$1 VALUES (gen_random_uuid(), 0);
				ELSIF what = 'e' THEN
					SELECT sum(v) INTO x
					FROM (SELECT v FROM t_$1 WHERE u >= k ORDER BY u LIMIT 50) s;
				ELSE
					SELECT count(y) INTO x
					FROM (SELECT u AS y FROM t_$1 WHERE u >= k ORDER BY u LIMIT 50) s;
				END IF;
				COMMIT;
			END LOOP;
		END \$\$;
	END
}

# step rows name kind: rows 1 to that many are there from now on
step()
{
	local change

	change="INSERT INTO %s SELECT key_of(g), 0 FROM generate_series($have + 1, $1) g"
	[ "$1" -ge "$have" ] ||
		change="DELETE FROM %s USING generate_series($1 + 1, $have) g WHERE u = key_of(g)"
	# shellcheck disable=SC2059
	sql -v name="$2" -v n="$1" -v kind="$3" -v i="i_$3" -v memory="$memory" \
		-v rows=$(($1 > have ? $1 - have : have - $1)) <<-END
		CHECKPOINT;
		SET enable_hashjoin = off;
		SET enable_mergejoin = off;
		\\set refaults \`$(memory_refaults_command)\`
		SELECT cpu() AS start, clock() AS began \\gset
		$(printf "$change" "t_$3");
		\\set again \`$(memory_refaults_command)\`
		INSERT INTO result
		SELECT :'name', :n, 'burst: ' || metric, :'kind', value
		FROM (VALUES ('CPU, s', (cpu() - :start) / 1e6),
			('rows per second', :rows / (clock() - :began)),
			('pages read again, per row', (:again - :refaults)::float8 / :rows)) v (metric, value)
		WHERE metric = 'CPU, s' OR :'memory' <> '';
		VACUUM (ANALYZE) t_$3;
		INSERT INTO result
		VALUES (:'name', :n, 'index, MB', :'kind', pg_relation_size(:'i') / 1e6);
	END
	[ "$3" = btree ] || sql -v name="$2" -v n="$1" -v kind="$3" -v i="i_$3" <<-'END'
		INSERT INTO result
		SELECT :'name', :n, metric, :'kind', value
		FROM surfidx_leaf_keys(:'i'), LATERAL (VALUES
			('leaves cut, %', 100.0 * cut_leaves / nullif(leaves, 0)),
			('leaves made cut so far', leaves_made_cut),
			('leaves made whole so far', leaves_made_whole)) v (metric, value)
	END
}

# measure what kind turn name rows; turn 0 only makes warm
measure()
{
	sql -v name="$4" -v n="$5" -v kind="$2" -v what="$1" -v t="$transactions" -v i="i_$2" \
		-v memory="$memory" -v turn="$3" <<-END
		SET enable_seqscan = off;
		SET enable_bitmapscan = off;
		SELECT idx_blks_read AS read FROM pg_statio_user_indexes WHERE indexrelname = :'i' \\gset
		\\set refaults \`$(memory_refaults_command)\`
		SELECT cpu() AS start, clock() AS began \\gset
		CALL work_$2('$1', $transactions, $5, $3);
		SELECT cpu() - :start AS cpu, clock() - :began AS seconds \\gset
		\\set again \`$(memory_refaults_command)\`
		SELECT pg_stat_force_next_flush() \\gset
		INSERT INTO result
		SELECT :'name', :n, :'what' || ': ' || metric, :'kind', value
		FROM pg_statio_user_indexes, LATERAL (VALUES ('CPU, us', :cpu / :t),
			('index pages read', (idx_blks_read - :read)::float8 / :t),
			('transactions per second', :t / :seconds),
			('pages read again', (:again - :refaults)::float8 / :t)) v (metric, value)
		WHERE indexrelname = :'i' AND :turn > 0
			AND (:'memory' <> '' OR metric NOT IN ('transactions per second', 'pages read again'));
	END
}

# by_turns rows name: methods measured one after the other, each thing again and again
by_turns()
{
	local kind turn what

	for kind in $kinds; do
		step "$1" "$2" "$kind"
	done
	for what in a c e i; do
		for turn in $(seq "$runs"); do
			for kind in $kinds; do
				measure $what "$kind" "$turn" "$2" "$1"
			done
		done
	done
}

# by_itself rows name: with a limit of memory, where others' pages are not to be in it
by_itself()
{
	local kind turn what

	for kind in $kinds; do
		# (begun anew, it would not know any more which leaves are read)
		memory_forget
		server_read postgres ".*_$kind"
		step "$1" "$2" "$kind"
		for what in a c e i; do
			for turn in $(seq 0 "$runs"); do
				measure $what "$kind" "$turn" "$2" "$1"
			done
		done
	done
}

# metric: a table of medians, a line for each step
show()
{
	sql -P footer=off -P border=0 -v m="$1" <<-'END'
		SELECT key_set AS :"m", max(median) FILTER (WHERE am = 'btree') AS btree,
			max(median) FILTER (WHERE am = 'full') AS "full",
			max(median) FILTER (WHERE am = 'elastic') AS elastic,
			max(median) FILTER (WHERE am = 'cut') AS cut
		FROM (SELECT key_set, am,
				percentile_cont(0.5) WITHIN GROUP (ORDER BY value)::numeric(12, 2) AS median
			FROM result WHERE metric = :'m' GROUP BY 1, 2) s
		GROUP BY 1 ORDER BY 1
	END
}

make btree "btree (u)"
make full "surfidx (u)"
make elastic "surfidx (u) WITH (size_limit = $limit)"
make cut "surfidx (u) WITH (keys = cut)"
report_machine
echo "# shared_buffers = $buffers${memory:+, memory $memory}, size_limit = $limit kB," \
	"$transactions transactions"
number=0
for quarter in $quarters; do
	number=$((number + 1))
	now=$((rows / 4 * quarter))
	name="$number: $now rows"
	if [ -n "$memory" ]; then
		by_itself $now "$name"
	else
		by_turns $now "$name"
	fi
	have=$now
done
sql -A -t -c "SELECT DISTINCT metric FROM result ORDER BY 1" | while read -r metric; do
	show "$metric"
done
report_runs "$out" "SELECT * FROM result"
