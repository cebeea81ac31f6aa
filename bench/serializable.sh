#!/bin/bash
# Serialization failures of short serializable transactions, surfidx beside btree: by pgbench, one
# kind of transactions at a time and all of them mixed.
#
#	bench/serializable.sh [--rows n] [--clients n] [--transactions n of each client] [--runs n]
#		[--out file.tsv]
#
# The same seeds for both; access methods take turns.  What fails is not repeated.  All failures are
# counted, needed or not: nobody can tell which of two was.  Which transactions meet is chance:
# medians over the runs, with least and greatest.

cd "$(dirname "$0")/.." || exit 1
. bench/begin.sh

rows=20000
clients=16
transactions=200
runs=3
out=$PWD/build/serializable.tsv

take_options "rows clients transactions runs out" "$@"
no_words

own_cluster serializable "shared_buffers = 256MB" "autovacuum = off" "max_connections = 60"
PGOPTIONS="$PGOPTIONS -c default_transaction_isolation=serializable"
PGOPTIONS="$PGOPTIONS -c enable_seqscan=off -c enable_bitmapscan=off"
sql -c "CREATE EXTENSION surfidx"

# Each waits a moment between reading and writing, as applications do.
wait_a_moment='\sleep 5 ms'
declare -A kinds=(
	[insert]="\\set k random(1, :rows * 1000)
BEGIN;
SELECT count(*) FROM item WHERE id = :k;
$wait_a_moment
INSERT INTO item VALUES (:k, 'm' || :k, :k % 1000, 0) ON CONFLICT DO NOTHING;
COMMIT;"
	[transfer]="\\set a random(1, :rows)
\\set b random(1, :rows)
BEGIN;
SELECT v FROM item WHERE id = :a * 1000;
SELECT v FROM item WHERE id = :b * 1000;
$wait_a_moment
UPDATE item SET v = v - 1 WHERE id = :a * 1000;
UPDATE item SET v = v + 1 WHERE id = :b * 1000;
COMMIT;"
	[range]="\\set a random(1, :rows)
\\set b random(1, :rows)
BEGIN;
SELECT sum(v) FROM item WHERE id BETWEEN :a * 1000 AND (:a + 20) * 1000;
$wait_a_moment
INSERT INTO item VALUES (:b * 1000 + random() * 999 + 1, 'n' || :b, :b % 1000, 1)
ON CONFLICT DO NOTHING;
COMMIT;"
	[number]="\\set y random(1, 500)
BEGIN;
SELECT max(n) FROM invoice WHERE year = :y;
$wait_a_moment
INSERT INTO invoice SELECT :y, max(n) + 1 FROM invoice WHERE year = :y;
COMMIT;"
	[book]="\\set r random(1, 200)
\\set t random(1, 20000)
BEGIN;
SELECT count(*) FROM booking WHERE room = :r AND at BETWEEN :t - 5 AND :t + 5;
$wait_a_moment
INSERT INTO booking VALUES (:r, :t);
COMMIT;"
	[some]="\\set a random(1, :rows)
\\set b random(1, :rows)
\\set c random(1, :rows)
BEGIN;
SELECT count(*) FROM item WHERE id = ANY (ARRAY[:a * 1000, :a * 1000 + 1000, :a * 1000 + 7000,
:b * 1000, :b * 1000 + 2000, :c * 1000]);
SELECT name FROM item WHERE name BETWEEN 'm' || :a AND 'm' || :a || '1' ORDER BY name LIMIT 5;
$wait_a_moment
UPDATE item SET k = k + 1 WHERE id = :c * 1000;
COMMIT;")
for kind in "${!kinds[@]}"; do
	echo "${kinds[$kind]}" >"$WORK/$kind.sql"
done
chmod a+r "$WORK"/*.sql

fresh()
{
	sql -v rows="$rows" -v am="$1" <<'END'
DROP TABLE IF EXISTS item, invoice, booking;
CREATE TABLE item (id int8, name text COLLATE "C", k int, v int) WITH (fillfactor = 80);
INSERT INTO item SELECT g * 1000, 'm' || g, g % 1000, 0 FROM generate_series(1, :rows) g;
CREATE UNIQUE INDEX ON item USING :am (id);
CREATE INDEX ON item USING :am (name);
CREATE INDEX ON item USING :am (k);
CREATE TABLE invoice (year int, n int);
INSERT INTO invoice SELECT y, n FROM generate_series(1, 500) y, generate_series(1, 100) n;
CREATE UNIQUE INDEX ON invoice USING :am (year, n);
CREATE TABLE booking (room int, at int);
INSERT INTO booking SELECT r, 20 * t FROM generate_series(1, 200) r, generate_series(1, 1000) t;
CREATE INDEX ON booking USING :am (room, at);
VACUUM (FREEZE, ANALYZE) item, invoice, booking;
END
}

# one kind am run: failures per 1,000 transactions, and transactions a second
one()
{
	local files=() name log=$WORK/pgbench.log

	for name in $1; do
		files+=(-f "$WORK/$name.sql")
	done
	"$BINDIR/pgbench" -n -c "$clients" -j 2 -t "$transactions" -D rows="$rows" --random-seed="$3" \
		--failures-detailed "${files[@]}" >"$log" 2>&1 ||
		{ cat "$log" >&2; return 1; }
	awk -v am="$2" -v kind="$4" -v all=$((clients * transactions)) '
		/^number of serialization failures:/ { f = $5 }
		/^number of other failures|^pgbench: error/ { print > "/dev/stderr" }
		/^tps = / { tps = $3 }
		END { printf "%s\t%s\t%.1f\t%.0f\n", kind, am, f * 1000 / all, tps }' "$log"
}

mkdir -p "$(dirname "$out")"
: >"$out"
for run in $(seq "$runs"); do
	for am in btree surfidx; do
		fresh "$am"
		for kind in insert transfer range number book some; do
			one "$kind" "$am" "$run" "$kind"
		done
		one "insert transfer range number book some" "$am" "$run" mix
	done
done | tee -a "$out" >/dev/null

# medians, least and greatest
sort -t $'\t' -k1,1 -k2,2 -k3,3n "$out" | awk -F '\t' '
	function finish() {
		if (n) {
			f[key] = v[int((n + 1) / 2)]
			span[key] = sprintf("%.1f to %.1f", v[1], v[n])
		}
		n = 0
	}
	{
		if ($1 SUBSEP $2 != key)
			finish()
		key = $1 SUBSEP $2
		v[++n] = $3
		if (!($1 in seen))
			order[++m] = $1
		seen[$1] = 1
	}
	END {
		finish()
		print "serialization failures per 1,000 transactions: median, least to greatest"
		printf "%-10s %8s %16s %8s %16s %6s\n", "", "btree", "", "surfidx", "", "ratio"
		for (i = 1; i <= m; i++) {
			a = order[i] SUBSEP "btree"
			b = order[i] SUBSEP "surfidx"
			ratio = (f[a] + 0 > 0) ? sprintf("%.2f", f[b] / f[a]) : "-"
			printf "%-10s %8.1f %16s ", order[i], f[a], span[a]
			printf "%8.1f %16s %6s\n", f[b], span[b], ratio
		}
	}'
