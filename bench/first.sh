#!/bin/bash
# The first lookups after a restart, a crash and a promotion, beside a full delta: what they take
# until they are at their pace, surfidx beside btree.
#
#	bench/first.sh [--rows n] [--delta n] [--runs n] [--out file.tsv]
#
#	--delta n	rows inserted after the build, which stay in the delta (default 600000)
#
# Both indexes are of one server, of tables that have the same rows, and take turns in being first.
# Shared buffers are empty, the kernel's cache is not.  One session looks up 20,000 random keys in
# batches of 100: what batches take above the median of the last half is the price of the beginning;
# the pace is reached where five batches one after the other are within half of that median.
# Redo's own time is in "bench/write.sh --recovery".

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=1000000
delta=600000
runs=3
out=$PWD/build/first.tsv

take_options "rows delta runs out" "$@"
no_words

own_cluster first "shared_buffers = 512MB" "max_wal_size = 64GB" "checkpoint_timeout = 1h" \
	"wal_keep_size = 16GB" \
	"autovacuum = off" "surfidx.auto_merge = off" "surfidx.idle_flush = -1"
primary=$PGDATA
sql <<-END
	CREATE EXTENSION surfidx;
	CREATE TABLE btree AS SELECT (random() * 9e18)::int8 AS k FROM generate_series(1, $rows);
	CREATE TABLE surfidx AS TABLE btree;
	CREATE INDEX btree_k ON btree (k);
	CREATE INDEX surfidx_k ON surfidx USING surfidx (k) WITH (merge_ratio = 10, delta_size = 65536);
	VACUUM ANALYZE btree, surfidx;
	CREATE TABLE more AS SELECT (random() * 9e18)::int8 AS k FROM generate_series(1, $delta);
	CREATE TABLE asked AS SELECT row_number() OVER (ORDER BY random()) AS i, k
	FROM (SELECT k FROM btree UNION ALL SELECT k FROM more) s ORDER BY i LIMIT 20000;
	-- us; exact after a sleep only
	CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql AS \$\$
		SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1000
		FROM pg_sleep(0.0005) \$\$;
	CREATE TABLE result (key_set text, am text, metric text, value float8);
END

# what_comes key_set am: nanoseconds and CPU of batches, by a new session of the server in PGPORT
what_comes()
{
	sql -A -t -F ' ' <<-END | tee "$WORK/looked" >/dev/null
		SET enable_seqscan = off;
		SET enable_bitmapscan = off;
		SET plan_cache_mode = force_generic_plan;
		SELECT count(k) FROM asked;
		DO \$\$
		DECLARE
			batch int8[];
			batches text := '';
			keys int8[][];
			c float8;
			t float8;
			x int8;
			found int8 := 0;
		BEGIN
			FOR b IN 0 .. 199 LOOP
				batch := ARRAY(SELECT k FROM asked WHERE i > b * 100 AND i <= b * 100 + 100);
				c := cpu();
				t := extract(epoch FROM clock_timestamp()) * 1e6;
				FOR n IN 1 .. 100 LOOP
					SELECT count(*) INTO x FROM $2 WHERE k = batch[n];
					found := found + x;
				END LOOP;
				t := extract(epoch FROM clock_timestamp()) * 1e6 - t;
				batches := batches || format('%s %s%s', cpu() - c, t, E'\n');
			END LOOP;
			IF found < 20000 THEN
				RAISE EXCEPTION 'WRONG: found % of 20000', found;
			END IF;
			PERFORM set_config('bench.batches', batches, false);
		END \$\$;
		SELECT current_setting('bench.batches');
	END
	perl -ane 'next if @F != 2; push @c, $F[0]; push @t, $F[1];
		END {
			sub med { my @s = sort { $a <=> $b } @_; $s[@s / 2] }
			my $n = @c; my ($pc, $pt) = (med(@c[$n / 2 .. $n - 1]), med(@t[$n / 2 .. $n - 1]));
			my ($row, $at, $mc, $mt) = (0, $n, 0, 0);
			for (0 .. $n - 1) { $row = $c[$_] < 1.5 * $pc ? $row + 1 : 0;
				if ($row == 5) { $at = $_ - 4; last } }
			for (0 .. $at - 1) { $mc += $c[$_] - $pc; $mt += $t[$_] - $pt; }
			printf "first hundred, ms\t%f\n", $t[0] / 1000;
			printf "lookups until the pace\t%d\n", $at * 100;
			printf "more CPU until then, ms\t%f\n", $mc / 1000;
			printf "more time until then, ms\t%f\n", $mt / 1000;
			printf "pace: CPU of a lookup, us\t%f\n", $pc / 100; }' "$WORK/looked" |
		while IFS=$'\t' read -r metric value; do
			echo "INSERT INTO result VALUES ('$1', '$2', '$metric', $value);"
		done >>"$WORK/results.sql"
}

# both key_set turn
both()
{
	# (catalogs, and the pages of the keys that will be asked for)
	sql -c "SELECT count(k) FROM asked" >/dev/null
	if [ $(($2 % 2)) -eq 0 ]; then
		what_comes "$1" btree
		what_comes "$1" surfidx
	else
		what_comes "$1" surfidx
		what_comes "$1" btree
	fi
}

server()
{
	as_user "$BINDIR/pg_ctl" -D "$1" -l "$WORK/$(basename "$1").log" -w -t 120 "${@:2}" >/dev/null
}

report_machine
# standbys, one for each promotion: they get the delta by replay
for ((i = 0; i < runs; i++)); do
	as_user "$BINDIR/pg_basebackup" -D "$WORK/standby$i" -R -c fast --no-sync
	echo "port = $((PGPORT + 1 + i))" | as_user tee -a "$WORK/standby$i/postgresql.conf" >/dev/null
done
sql -c CHECKPOINT -c "INSERT INTO btree TABLE more" -c "INSERT INTO surfidx TABLE more"
sql -A -t -c "SELECT '# delta: ' || delta_entries || ' entries in ' || log_pages || ' pages'
	FROM surfidx_meta('surfidx_k')"
port=$PGPORT
for ((i = 0; i < runs; i++)); do
	server "$WORK/standby$i" start
	PGPORT=$((port + 1 + i))
	lsn=$(PGPORT=$port sql -A -t -c "SELECT pg_current_wal_flush_lsn()")
	until [ "$(sql -A -t -c "SELECT pg_last_wal_replay_lsn() >= '$lsn'")" = t ]; do sleep 0.1; done
	server "$WORK/standby$i" promote
	both promotion "$i"
	server "$WORK/standby$i" stop -m immediate
done
PGPORT=$port
for ((i = 0; i < runs; i++)); do
	server "$primary" stop -m immediate
	server "$primary" start
	both crash "$i"
done
for ((i = 0; i < runs; i++)); do
	server "$primary" restart -m fast
	both restart "$i"
done
sql -f "$WORK/results.sql"
sql -P footer=off -P border=0 <<-END
	SELECT key_set AS "after", metric, am,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY value)::numeric(12, 1) AS median,
		min(value)::numeric(12, 1) AS least, max(value)::numeric(12, 1) AS greatest
	FROM result GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
END
sql -c "SELECT surfidx_check('surfidx_k', true, true)" >/dev/null
report_runs "$out" "SELECT key_set, $rows AS entries, metric, am, value FROM result"
