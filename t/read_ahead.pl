# Pages of the table that are asked for before their rows are visited (R13): how many, and how many
# in vain, by the statistics.  After a restart all pages have to be read.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use JSON::PP qw(decode_json);
use Test::More;

my $node = new_node('main', <<'END', allows_streaming => 1);
surfidx.auto_merge = off
max_parallel_workers_per_gather = 0
enable_seqscan = off
enable_bitmapscan = off
enable_sort = off
effective_io_concurrency = 1
shared_buffers = 64MB
END
$node->start;

# a row on each page, and keys in no order
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE t (k int, g int, v int, pad text) WITH (autovacuum_enabled = off);
ALTER TABLE t ALTER pad SET STORAGE plain;
INSERT INTO t SELECT i, i % 10, i, repeat('x', 4500) FROM
	(SELECT i FROM generate_series(1, 2000) i ORDER BY hashint4(i)) s;
CREATE INDEX t_k ON t USING surfidx (k);
CREATE INDEX t_gk ON t USING surfidx (g, k);
CREATE INDEX t_v ON t USING surfidx (v) WHERE hashint4(v) % 3 = 0;
CREATE TABLE o (k int);
CREATE TABLE r (a int, b int, c int, pad text) WITH (autovacuum_enabled = off);
ALTER TABLE r ALTER pad SET STORAGE plain;
INSERT INTO r SELECT i / 4, 7, i % 4, repeat('x', 4500) FROM
	(SELECT i FROM generate_series(0, 399) i ORDER BY hashint4(i)) s;
CREATE INDEX r_abc ON r USING surfidx (a, b, c);
INSERT INTO o SELECT i * 97 FROM generate_series(1, 20) i;
VACUUM ANALYZE t, o, r;
END

my $RANGE = 'SELECT sum(v) FROM t WHERE k BETWEEN 501 AND 1000';

# What was asked for since the restart, all indexes together: pages, and those in vain.
sub asked
{
	my ($server) = @_;

	return split /\|/, ($server // $node)->safe_psql('postgres', <<'END');
SELECT sum(pages_read_ahead), sum(pages_read_in_vain) FROM surfidx_stat_indexes
END
}

# A statement after a restart: its result, and what it has asked for.
sub cold
{
	my ($sql) = @_;
	my $result;

	$node->restart;
	$result = $node->safe_psql('postgres', $sql);
	return ($result, asked());
}

# ... has this result, and between so many pages and so many are asked for, at most so many in vain.
sub asks
{
	my ($what, $sql, $want, $least, $most, $vain) = @_;
	my ($result, $asked, $in_vain) = cold($sql);

	is($result, $want, "$what: the result");
	ok($asked >= $least && $asked <= $most, "$what: pages") or diag("$asked pages");
	cmp_ok($in_vain, '<=', $vain, "$what: in vain");
	return;
}

my $sum = 250 * 1501;
asks('forward', $RANGE, $sum, 480, 498, 0);
is($node->safe_psql('postgres', $RANGE), $sum, 'again: the result');
my ($before) = asked();
$node->safe_psql('postgres', $RANGE) for 1 .. 3;
is((asked())[0], $before, 'what is in memory is not asked for');

asks('backward', 'SELECT sum(v) FROM (SELECT v FROM t WHERE k BETWEEN 501 AND 1000
	ORDER BY k DESC OFFSET 0) s', $sum, 480, 498, 0);
asks('one row', 'SELECT v FROM t WHERE k = 700', 700, 0, 0, 0);
asks('LIMIT 1', 'SELECT v FROM t ORDER BY k LIMIT 1', 1, 0, 0, 0);
asks('LIMIT 2', 'SELECT sum(v) FROM (SELECT v FROM t ORDER BY k DESC LIMIT 2) s', 3999, 0, 0, 0);
asks('LIMIT 100', 'SELECT sum(v) FROM (SELECT v FROM t ORDER BY k LIMIT 100) s', 5050, 90, 130, 33);
asks('a list', 'SELECT count(v) FROM t WHERE k = ANY
	(ARRAY(SELECT i * 5 FROM generate_series(1, 400) i))', 400, 380, 398, 0);
asks('a list that finds little', 'SELECT count(v) FROM t WHERE k = ANY
	(ARRAY(SELECT i * 100 - 1900 FROM generate_series(1, 4000) i))', 20, 1, 20, 0);
asks('a row comparison', 'SELECT count(v) FROM (SELECT v FROM t WHERE (g, k) > (3, 1500)
	ORDER BY g, k) s', 1250, 1200, 1248, 0);
# its members are gathered once: the scout has the scan's conditions, and no others
asks('a row comparison beside a condition on its last column', 'SELECT count(pad) FROM (SELECT pad
	FROM r WHERE (a, b, c) > (1, 2, 3) AND c = 2 ORDER BY a, b, c) s', 99, 20, 100, 33);
asks('a row comparison of a long tail', 'SELECT count(pad) FROM (SELECT pad
	FROM r WHERE (a, b) > (1, 9) ORDER BY a, b, c) s', 392, 350, 392, 0);
asks('what fails a filter', 'SELECT count(v) FROM (SELECT v FROM t WHERE g >= 0 AND k % 2 = 0 AND
	k BETWEEN 1 AND 100 ORDER BY g, k) s', 50, 30, 100, 33);
asks('off', "SET surfidx.read_ahead = 0; $RANGE", $sum, 0, 0, 0);
asks('no concurrency', "SET effective_io_concurrency = 0; $RANGE", $sum, 0, 0, 0);
asks('at most 4', 'SET surfidx.read_ahead = 4;
	SELECT sum(v) FROM (SELECT v FROM t ORDER BY k LIMIT 50) s', 1275, 40, 51, 4);
asks('concurrency raises it', 'SET surfidx.read_ahead = 4; SET effective_io_concurrency = 100;
	SELECT sum(v) FROM (SELECT v FROM t ORDER BY k LIMIT 300) s', 45150, 310, 400, 101);
asks('parallel', "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0; SET min_parallel_index_scan_size = 0;
	SET min_parallel_table_scan_size = 0; $RANGE", $sum, 400, 1000, 100);
asks('a cursor that turns', 'BEGIN; DECLARE c SCROLL CURSOR FOR SELECT v FROM t ORDER BY k;
	MOVE 200 IN c; MOVE BACKWARD 100 IN c; MOVE 300 IN c; FETCH 1 FROM c; COMMIT',
	401, 380, 600, 70);
asks('ranges of a nested loop', 'SELECT count(s.v) FROM o, LATERAL (SELECT v FROM t
	WHERE t.k BETWEEN o.k AND o.k + 29 OFFSET 0) s', 600, 400, 540, 0);
asks('lookups of a nested loop', 'SET enable_hashjoin = off; SET enable_mergejoin = off;
	SELECT count(t.v) FROM o JOIN t USING (k)', 20, 10, 20, 0);
asks('marks', 'SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_sort = on;
	SELECT count(t.v) FROM (SELECT k FROM o UNION ALL SELECT k FROM o) o2 JOIN t USING (k)',
	40, 1500, 1999, 40);

# without an order, and of many stages
$node->safe_psql('postgres', 'INSERT INTO t SELECT i, i % 10, i, repeat(\'x\', 4500)
	FROM generate_series(501, 1000, 2) i');
asks('a delta', $RANGE, $sum + 250 * 750, 700, 748, 0);
$node->safe_psql('postgres', "SELECT surfidx_merge('t_k'); DELETE FROM t WHERE ctid IN
	(SELECT max(ctid) FROM t GROUP BY k HAVING count(*) = 2); VACUUM t");

# index-only scans
asks('all-visible', 'SELECT count(*) FROM (SELECT k FROM t WHERE k > 0 ORDER BY k OFFSET 0) s',
	2000, 0, 0, 0);
$node->safe_psql('postgres', 'DELETE FROM t WHERE k % 20 = 0');
asks('one in twenty is not',
	'SELECT sum(k) FROM (SELECT k FROM t WHERE k > 0 ORDER BY k OFFSET 0) s',
	2000 * 2001 / 2 - 20 * 50 * 101, 80, 100, 0);
asks('... and counted', 'SELECT count(*) FROM t WHERE k > 0', 1900, 0, 100, 0);

# others that visit rows
asks('the verifier', "SELECT surfidx_check('t_v', true, true)", '', 100, 700, 0);
$node->restart;
$node->safe_psql('postgres', 'CREATE INDEX t_cut ON t USING surfidx (v) WITH (keys = cut)');
asks('cut keys', 'SELECT count(*) FROM (SELECT v FROM t WHERE v > 100 ORDER BY v OFFSET 0) s',
	1805, 1, 2000, 100);

# The time zone is set in the midst of a cursor: what looks ahead prepares the conditions anew, to
# other ranges than those on which the scan stands.
$node->safe_psql('postgres', <<'END');
CREATE TABLE tz (ts timestamp, b int, d date, pad text) WITH (autovacuum_enabled = off);
ALTER TABLE tz ALTER pad SET STORAGE plain;
INSERT INTO tz SELECT '2024-03-10 05:00'::timestamp + i * interval '1 s', i % 1000, '2011-12-20'::date + i % 20,
	repeat('x', 2500) FROM generate_series(1, 6000) i ORDER BY hashint4(i);
CREATE INDEX tz_ts_b ON tz USING surfidx (ts, b);
CREATE INDEX tz_d_b ON tz USING surfidx (d, b);
VACUUM ANALYZE tz;
END
for my $zone ('America/New_York', 'Pacific/Apia', 'UTC')
{
	for my $where (q{(ts, b) > ('2024-03-10 05:00+00'::timestamptz, 5) ORDER BY ts, b},
		q{d = ANY ('{2011-12-29 10:00+00,2011-12-30 10:00+00,2011-12-31 10:00+00}'::timestamptz[]) ORDER BY d, b})
	{
		my ($n) = cold("SET timezone = '" . ($zone eq 'UTC' ? 'Pacific/Apia' : 'UTC') . "'; BEGIN;
			DECLARE c CURSOR FOR SELECT 1 FROM tz WHERE $where; MOVE 2 FROM c;
			SET timezone = '$zone'; MOVE 150 FROM c; COMMIT; SELECT 'alive'");
		like($n, qr/alive$/, "a time zone that is set between two FETCHes: $zone");
	}
}

# EXPLAIN: what the statistics say, of this statement
sub explained
{
	my ($options, $sql, $before) = @_;
	my ($plan) = cold(($before // '') . "EXPLAIN ($options) $sql");
	my ($asked, $in_vain) = asked();

	return ($plan, "pages=$asked in vain=$in_vain");
}
my $LIMITED = 'SELECT v FROM t WHERE k > 500 ORDER BY k LIMIT 100';
my $ANALYZE = 'ANALYZE, COSTS OFF, TIMING OFF, BUFFERS';
my ($plan, $counts) = explained($ANALYZE, $LIMITED);
like($plan, qr/^ *Planning Time.*\nRead Ahead: $counts\nExecution Time/m, 'EXPLAIN: text');
cmp_ok(($counts =~ /pages=(\d+)/)[0], '>', 50, '... of pages that were read');
($plan, $counts) = explained("$ANALYZE, FORMAT json", $LIMITED);
my $stated = decode_json($plan)->[0];
is("pages=$stated->{'Pages Read Ahead'} in vain=$stated->{'Pages Read In Vain'}", $counts, '... JSON');
$stated = decode_json((explained("$ANALYZE, FORMAT json", 'SELECT 1'))[0])->[0];
is($stated->{'Pages Read Ahead'}, 0, '... JSON where nothing was read');
unlike((explained($_, $LIMITED))[0], qr/Read Ahead/i, "... $_")
	for 'ANALYZE, BUFFERS off', 'COSTS off', 'BUFFERS, FORMAT json';
unlike((explained($ANALYZE, 'SELECT 1'))[0], qr/Read Ahead/, '... text where nothing was read');
($plan, $counts) = explained($ANALYZE, 'SELECT o.k, t.v FROM o JOIN t USING (k)',
	'SET enable_hashjoin = off; SET enable_mergejoin = off;');
like($plan, qr/^Read Ahead: $counts$/m, '... of a nested loop');
like($counts, qr/pages=[1-9]/, '... that reads ahead');
($plan, $counts) = explained($ANALYZE, 'SELECT inner_plan()', <<"END");
CREATE FUNCTION inner_plan() RETURNS text LANGUAGE plpgsql AS
	\$\$ DECLARE line text;
	BEGIN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS) $LIMITED' INTO line; RETURN line; END \$\$;
END
like($plan, qr/^Read Ahead: $counts$/m, '... of a statement that explains another');
($plan, $counts) = explained($ANALYZE, 'UPDATE w SET v = 1 WHERE k = 1', <<"END");
CREATE TABLE w AS SELECT 1 AS k, 0 AS v;
CREATE RULE also AS ON UPDATE TO w DO ALSO
	SELECT count(v) FROM (SELECT v FROM t WHERE k > 500 ORDER BY k LIMIT 100) s;
END
is(() = $plan =~ /^Read Ahead: $counts$/mg, 1, '... of one of two statements that a rule makes');
is($node->safe_psql('postgres', <<"END"), '100', '... and nothing stays of one that failed');
DO 'BEGIN
	EXECUTE \$\$EXPLAIN ($ANALYZE) SELECT 1 / (v - v) FROM t WHERE k = 501\$\$;
EXCEPTION WHEN division_by_zero THEN
END';
SELECT count(*) FROM ($LIMITED) s;
END

# pages of a temporary table
is($node->safe_psql('postgres', <<'END'), '500|t', 'temporary tables');
SET temp_buffers = '800kB';
CREATE TEMP TABLE p (LIKE t INCLUDING STORAGE);
INSERT INTO p SELECT * FROM t;
CREATE INDEX p_k ON p USING surfidx (k);
SELECT count(v) FROM p WHERE k BETWEEN 501 AND 1026 \gset
SELECT :count, pages_read_ahead > 400 FROM surfidx_stats('p_k');
END

# a standby
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
is($standby->safe_psql('postgres', $RANGE), $node->safe_psql('postgres', $RANGE), 'a standby');
cmp_ok((asked($standby))[0], '>', 400, 'a standby asks, too');

done_testing();
