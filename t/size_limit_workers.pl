# size_limit in the background: workers cut leaves and make them whole again;
# dumps keep it; standbys read both kinds, and go on when promoted.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('size_limit', '', allows_streaming => 1);
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE t (u uuid, v int);
CREATE INDEX t_u ON t USING surfidx (u) WITH (delta_size = 256, size_limit = 700);
END
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('size_limit_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

my $sum = "SELECT count(*), md5(string_agg(u::text, '' ORDER BY u))";

sub rows
{
	my ($on, $how) = @_;
	my $set = join('', map { "SET enable_$_ = off; " } qw(seqscan bitmapscan sort), $how);

	return $on->safe_psql('postgres', "$set $sum FROM (SELECT u FROM t ORDER BY u OFFSET 0) x");
}

sub of_keys
{
	my ($on, $what) = @_;

	return $on->safe_psql('postgres', "SELECT $what FROM surfidx_leaf_keys('t_u')");
}

sub same
{
	my ($on, $what) = @_;
	my $set = join('', map { "SET enable_$_ = off; " } qw(indexonlyscan indexscan bitmapscan));
	my $want = $on->safe_psql('postgres', "$set $sum FROM t");

	is(rows($on, $_), $want, "$what: without $_") for 'indexscan', 'indexonlyscan';
	is($on->safe_psql('postgres', "SELECT surfidx_check('t_u', true, true)"), '', "$what: check");
	return;
}

# Rows until something is true, or are not enough.
sub insert_until
{
	my ($cond, $merge) = @_;
	my $n = 0;

	for my $i (1 .. 60)
	{
		$n = $node->safe_psql('postgres', 'SELECT coalesce(max(v), 0) FROM t');
		$node->safe_psql('postgres',
			"INSERT INTO t SELECT md5(g::text)::uuid, g FROM generate_series($n + 1, $n + 10000) g");
		$node->poll_query_until('postgres',
			"SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%'");
		$node->safe_psql('postgres', "SELECT surfidx_merge('t_u')") if $merge;
		return 1 if of_keys($node, $cond) eq 't';
	}
	return 0;
}

ok(insert_until('leaves_made_cut > 0'), 'a worker cuts leaves');
is(of_keys($node, 'cut_leaves < leaves'), 't', 'not all of them');
ok(insert_until('over_limit AND cut_leaves = leaves', 1), 'until all are cut and it is not enough');
$node->safe_psql('postgres', "SELECT surfidx_merge('t_u')");
my $log = slurp_file($node->logfile);
is(() = $log =~ /LOG: .*index "t_u" takes \d+ kB of a size_limit of 700 kB/g, 1, 'said once');
same($node, 'all cut');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
same($standby, 'standby, all cut');

# Whole again under load: the limit is far now, and the keys are read.
$node->safe_psql('postgres', 'ALTER INDEX t_u SET (size_limit = 100000)');
rows($node, 'indexscan');
ok(insert_until('leaves_made_whole > 0'), 'a worker makes leaves whole that are read');
ok(insert_until('cut_leaves < leaves / 2'), 'more of them');
same($node, 'whole again');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
same($standby, 'standby, both kinds');

# Dump and restore keep it.
my $dump = $node->data_dir . '/../dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres'), '-t', 't' ], 'dump');
like(slurp_file($dump), qr/size_limit='?100000'?/, 'with the bound');

# After a restart all leaves are cold; a standby that is promoted begins there, too.
$node->stop;
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
$standby->safe_psql('postgres', 'ALTER INDEX t_u SET (size_limit = 900)');
$standby->safe_psql('postgres', "SELECT surfidx_merge('t_u')");
is(of_keys($standby, 'cut_leaves = leaves OR size <= 0.85 * size_limit'),
	't', 'promoted: cut again');
same($standby, 'promoted');
$log = slurp_file($standby->logfile);
unlike($log, qr/PANIC|TRAP|terminated by signal/, 'nothing wrong in the log');
$standby->stop;
done_testing();
