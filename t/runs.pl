# Intermediate runs: merges between them under load, crashes during them, a standby that follows; and a merge that
# goes on where it was interrupted.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('runs', <<'END', allows_streaming => 1);
wal_consistency_checking = 'surfidx'
surfidx.delta_size = '64kB'
surfidx.run_ratio = 10
surfidx.merge_ratio = 10
surfidx.auto_merge = off
checkpoint_timeout = 1h
wal_keep_size = 2GB
max_wal_size = 10GB
END
$node->start;
create_table($node);
change_rows($node, 6000, 1);
$node->safe_psql('postgres', 'SELECT surfidx_merge(i::regclass) FROM unnest(\'{t_n,t_s,t_u,t_ns,t_c}\'::text[]) i');
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = 100ms\nhot_standby_feedback = off");
$standby->start;

sub setting
{
	my ($name, $value) = @_;

	$node->safe_psql('postgres', "ALTER SYSTEM SET $name = $value");
	$node->reload;
	return;
}

sub runs
{
	my ($where) = @_;

	return $where->safe_psql('postgres', 'SELECT count(*) FROM surfidx_runs(\'t_s\')');
}

foreach my $round (2 .. 4)
{
	change_rows($node, 1500, $round);
	$node->safe_psql('postgres', 'VACUUM t');
}
cmp_ok(runs($node), '>=', 3, 'deltas went into runs');
check_indexes($node, 'runs');
compare_plans($node, 'runs');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
cmp_ok(runs($standby), '>=', 3, 'the standby has them');
check_indexes($standby, 'runs on the standby');
compare_plans($standby, 'runs on the standby');

# Runs come and go while sessions insert and VACUUM; the postmaster is killed.
setting('surfidx.merge_ratio', 0.3);
setting('surfidx.auto_merge', 'on');
foreach my $round (1 .. 2)
{
	my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM t');
	my @sessions;

	foreach my $loader (1 .. 2)
	{
		push @sessions, start_script($node, "load$loader", "SELECT setseed(0.$round$loader);\n"
			  . ("INSERT INTO t (n, s, v) SELECT (random() * 20000)::int, md5(random()::text), g FROM generate_series(1, 300) g;\n"
			  . "DELETE FROM t WHERE n % 97 = 5;\n") x 200);
	}
	push @sessions, start_script($node, 'care', "VACUUM t;\nSELECT surfidx_merge('t_n');\n" x 200);
	push @sessions, start_script($node, 'reader', "SET enable_seqscan = off;\nSELECT count(*) FROM t WHERE n > 0;\n" x 500);
	ok($node->poll_query_until('postgres', "SELECT count(*) >= $rows + 5000 FROM t"), "load $round is running");
	$node->kill9;
	stop_script($_) foreach @sessions;
	ok(start_again($node), "server starts after kill $round");
	check_indexes($node, "after kill $round");
	compare_plans($node, "after kill $round");
}
setting('surfidx.auto_merge', 'off');
$node->safe_psql('postgres', 'VACUUM t');
check_indexes($node, 'after VACUUM');
compare_plans($node, 'after VACUUM');
$standby->stop;
$standby->start;
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
check_indexes($standby, 'the standby at the end');
compare_plans($standby, 'the standby at the end');
$node->safe_psql('postgres', 'SELECT surfidx_merge(i::regclass) FROM unnest(\'{t_n,t_s,t_u,t_ns,t_c}\'::text[]) i');
is(runs($node), 1, 'surfidx_merge() leaves one run');
check_indexes($node, 'one run');
$standby->stop;

# A merge that is slow enough to be seen, and killed, goes on after the groups that it had written.
setting('surfidx.run_ratio', 0);
setting('surfidx.merge_ratio', 10);
setting('surfidx.merge_cost_limit', 1);
setting('surfidx.merge_cost_delay', 100);
$node->safe_psql('postgres', <<'END');
CREATE TABLE slow (k int8) WITH (autovacuum_enabled = off);
INSERT INTO slow SELECT hashint8extended(i, 1) FROM generate_series(1, 150000) i;
CREATE INDEX slow_k ON slow USING surfidx (k);
CHECKPOINT;
END
setting('surfidx.auto_merge', 'on');
# between the bound, 8 pages, and twice the bound, where merges do not sleep any more
$node->safe_psql('postgres', 'INSERT INTO slow SELECT hashint8extended(i, 2) FROM generate_series(1, 5000) i');
ok($node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM surfidx_progress() WHERE indexrelname = 'slow_k' AND groups >= 3 AND entries_done > 0"),
	'surfidx_progress() shows a merge');
like($node->safe_psql('postgres', "SELECT query FROM pg_stat_activity WHERE backend_type = 'surfidx merge worker'"),
	qr/merging index slow_k/, 'and so does pg_stat_activity');
$node->kill9;
ok(start_again($node), 'server starts');
setting('surfidx.auto_merge', 'off');
my $delta = $node->safe_psql('postgres', "SELECT delta_entries FROM surfidx_meta('slow_k')");
is($delta, 5000, 'the generation is still there');
my $merged = $node->safe_psql('postgres', "SELECT surfidx_merge('slow_k')");
cmp_ok($merged, '<', 5000, 'the merge went on where it was');
cmp_ok($merged, '>', 0, 'to its end');
is($node->safe_psql('postgres', "SELECT surfidx_check('slow_k', true), (SELECT entries FROM surfidx_meta('slow_k'))"), '|155000', 'nothing is missing, nothing counted twice');
$node->stop;
done_testing();
