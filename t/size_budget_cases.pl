# surfidx.size_budget where leaves of all heats lie side by side, beside size_limit, with keys of
# several lengths, near a rounding error, and where workers are cancelled or it is switched off.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'usleep';

my $node = new_node('size_budget_cases', <<'END');
surfidx.budget_interval = 1
max_parallel_workers_per_gather = 0
autovacuum = off
END
$node->start;

# A database of its own with what that makes, and a budget of so many percent of it.
sub database
{
	my ($db, $make, $percent) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, "CREATE EXTENSION surfidx; $make");
	$node->safe_psql($db, 'VACUUM ANALYZE');
	my $budget = $node->safe_psql($db,
		"SELECT ceil(size / 1024.0 * $percent / 100) FROM surfidx_budget()");
	$node->safe_psql('postgres', "ALTER DATABASE $db SET surfidx.size_budget = '${budget}kB'")
	  if $percent;
	return;
}

sub uuids
{
	my ($t, $n, $how) = (@_, '');

	return "CREATE TABLE $t AS SELECT md5(g::text)::uuid AS u FROM generate_series(1, $n) g;
		CREATE INDEX ${t}_u ON $t USING surfidx (u) $how;";
}

# Read, with a pause, so many times or until that is true.
sub rounds
{
	my ($db, $n, $read, $cond) = @_;

	for (1 .. $n)
	{
		$node->safe_psql($db, "SET enable_seqscan = off; SET enable_bitmapscan = off;
			SET enable_sort = off; $read");
		usleep(600_000);
		return 1 if $node->safe_psql($db, "SELECT $cond FROM surfidx_budget()") eq 't';
	}
	return 0;
}

# Such rounds until the budget is kept
sub kept
{
	my ($db, $read, $what) = @_;

	ok(rounds($db, 40, $read, 'size <= size_budget'), "kept: $what")
	  or diag($node->safe_psql($db, 'SELECT x FROM surfidx_budget() x'));
	return;
}

sub all_of
{
	my ($t, $column) = @_;

	return "SELECT count($column) FROM (SELECT $column FROM $t ORDER BY 1 OFFSET 0) x;";
}

# Hot leaves everywhere among cold ones
database('scattered', uuids('t', 150000), 85);
kept('scattered', q{SELECT count((SELECT u FROM t WHERE u >= md5(g::text)::uuid ORDER BY u LIMIT 1))
	FROM generate_series(1, 100) g, generate_series(1, 6 + g % 2);}, 'scattered reads');

# Both kinds of bounds
database('beside', uuids('a', 100000, "WITH (size_limit = 16000)") . uuids('b', 100000), 70);
kept('beside', all_of('b', 'u') x 8, 'beside size_limit');
$node->safe_psql('beside', all_of('a', 'u'));
my $state = "SELECT cut_leaves > 0, leaves_made_whole FROM surfidx_leaf_keys('a_u')";
my $whole = $node->safe_psql('beside', $state);
$node->safe_psql('beside', 'VACUUM a');
is($node->safe_psql('beside', $state), $whole, 'VACUUM makes nothing whole under a budget');

# Whole leaves of dense short keys have more entries than cut leaves of long ones.
database('mixed', uuids('b', 150000) . <<'END', 75);
CREATE TABLE m (s text COLLATE "C");
INSERT INTO m SELECT 'a' || to_char(g, 'FM0000000') FROM generate_series(1, 400000) g;
INSERT INTO m SELECT 'b' || md5(g::text) || md5((-g)::text) FROM generate_series(1, 60000) g;
CREATE INDEX m_s ON m USING surfidx (s);
END
my $reads = q{SELECT count((SELECT s FROM m WHERE s >= 'a' || to_char(g % 400000, 'FM0000000')
	ORDER BY s LIMIT 1)) FROM generate_series(1, 12000000, 2000) g;} . all_of('b', 'u');
kept('mixed', $reads, 'short and long keys');
ok(!rounds('mixed', 8, $reads, 'size < 0.85 * size_budget'), '... and used');

# Each leaf is read less than once an interval: hot ones become whole all the same, once others,
# which were read often, are forgotten.
database('sparse', join('', map { uuids("t$_", 60000) } 1 .. 4), 60);
ok(rounds('sparse', 60, all_of('t1', 'u') x 4 . all_of('t2', 'u') x 4,
	q{(SELECT cut_leaves * 10 >= leaves * 9 FROM surfidx_leaf_keys('t3_u', 1))}), 'cut');
ok(rounds('sparse', 120, q{SELECT count((SELECT u FROM t3 WHERE u >= k ORDER BY u LIMIT 1))
	FROM (SELECT md5(g || random()::text)::uuid AS k FROM generate_series(1, 3) g OFFSET 0) x;},
	q{(SELECT cut_entries * 4 FROM surfidx_leaf_keys('t3_u')) < 60000}), 'sparse reads')
  or diag($node->safe_psql('sparse', q{SELECT k FROM surfidx_leaf_keys('t3_u') k}));

# 119 pages are a little less than 0.9 of 119 / 0.9 ones.
database('small', <<'END', 100 / 0.995);
CREATE TABLE t (u uuid);
DO $$ BEGIN
	FOR n IN 40 .. 80 LOOP
		INSERT INTO t SELECT md5(g::text)::uuid
			FROM generate_series((SELECT count(*) FROM t) + 1, n * 1000) g;
		DROP INDEX IF EXISTS t_u;
		CREATE INDEX t_u ON t USING surfidx (u);
		EXIT WHEN (SELECT size / current_setting('block_size')::int IN (119, 120, 128, 129)
			FROM surfidx_budget());
	END LOOP;
END $$;
END
ok(rounds('small', 40, all_of('t', 'u'), 'size <= 0.98 * size_budget'), 'few pages');

# Workers that are cancelled
database('cancelled', join('', map { uuids("t$_", 20000) } 1 .. 12), 60);
my $cancel = start_script($node, 'cancel', <<'END', 'cancelled');
DO $$ BEGIN
	FOR i IN 1 .. 3000 LOOP
		PERFORM pg_cancel_backend(pid)
			FROM pg_stat_get_activity(NULL) WHERE backend_type LIKE 'surfidx%';
		PERFORM pg_sleep(random() / 500);
	END LOOP;
END $$
END
$node->safe_psql('cancelled', all_of('t1', 'u') x 2), usleep(300_000) for 1 .. 15;
$cancel->finish;
kept('cancelled', all_of('t1', 'u'), 'after workers were cancelled');

# Switched off while leaves are cut
database('off', join('', map { uuids("t$_", 60000, 'WITH (size_limit = 100000)') } 1 .. 3), 0);
$node->append_conf('postgresql.conf', <<'END');
surfidx.size_budget = 2500
surfidx.merge_cost_delay = 50
surfidx.merge_cost_limit = 20
END
$node->reload;
usleep(1_200_000);
$node->safe_psql('off', all_of('t1', 'u'));
$node->poll_query_until('off', "SELECT count(*) > 0 FROM surfidx_stat_progress_merge
	WHERE phase IN ('cutting keys', 'sleeping')");
$node->append_conf('postgresql.conf', "surfidx.size_budget = 0\nsurfidx.merge_cost_delay = 0");
$node->reload;
$node->poll_query_until('off',
	"SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%'");
is($node->safe_psql('off', "SELECT sum(cut_leaves) < sum(leaves)
	FROM generate_series(1, 3) i, surfidx_leaf_keys('t' || i || '_u')"),
	't', 'switched off: not all are cut');
unlike(slurp_file($node->logfile),
	qr/size_budget of 0 kB|PANIC|TRAP|terminated by signal/, 'nothing wrong in the log');
done_testing();
