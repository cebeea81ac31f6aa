# What was dead to everybody need not be so later: the server's horizon moves back when a standby
# with hot_standby_feedback connects again.  Entries that readers took out meanwhile are gone, and
# surfidx_check() must not miss them.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $primary = new_node('primary', <<'END', allows_streaming => 1);
autovacuum = off
surfidx.auto_merge = off
END
$primary->start;
# few rows on a page: nothing is pruned, and the table says what is dead by its horizon alone
my %index = (delta => '(k)', cut => '(k) WITH (keys = cut)', uniq => '(k, s)', tree => '(k)');
my @names = sort keys %index;

$primary->safe_psql('postgres', 'CREATE EXTENSION surfidx');
foreach my $name (@names)
{
	my @sql = ("INSERT INTO $name SELECT g, 'x' FROM generate_series(1, 60) g",
		'CREATE ' . ($name eq 'uniq' ? 'UNIQUE ' : '')
		  . "INDEX ${name}_i ON $name USING surfidx $index{$name}");

	# an index that was there before has the rows in its log
	@sql = reverse @sql if $name ne 'tree';
	$primary->safe_psql('postgres', join(';', "CREATE TABLE $name (k int, s text)", @sql));
}
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf',
	"hot_standby_feedback = on\nwal_receiver_status_interval = 1s");
$standby->start;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

my $old = open_session($standby);
my $feedback = 'SELECT count(backend_xmin) = %d FROM pg_stat_replication';

is(ask($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM delta;'), 60,
	'an old snapshot of the standby');
ok($primary->poll_query_until('postgres', sprintf($feedback, 1)), '... of which the primary knows');
my $conninfo = $standby->safe_psql('postgres', 'SHOW primary_conninfo');

$standby->safe_psql('postgres', "ALTER SYSTEM SET primary_conninfo = 'host=/nowhere'");
$standby->reload;
ok($primary->poll_query_until('postgres', sprintf($feedback, 0)), '... until it is away');
$primary->safe_psql('postgres', "DELETE FROM $_ WHERE k <= 40") foreach @names;
foreach my $name (@names)
{
	is($primary->safe_psql('postgres', "SET enable_seqscan = off; SET enable_bitmapscan = off;
		SELECT count(ctid) FROM (SELECT ctid FROM $name WHERE k > 0 ORDER BY k OFFSET 0) x"),
		20, "$name: readers take out what is dead") for 1 .. 2;
}
$standby->safe_psql('postgres', q(ALTER SYSTEM RESET primary_conninfo));
$standby->reload;
ok($primary->poll_query_until('postgres', sprintf($feedback, 1)), 'the standby is back');
foreach my $name (@names)
{
	my ($rc, $out, $err) = $primary->psql('postgres', "SELECT surfidx_check('${name}_i', true, true)");

	is($err, '', "$name: nothing is missed");
	is(ask($old, "SET enable_seqscan = off; SELECT count(*) FROM $name WHERE k > 0;"), 60,
		'... and the old snapshot has its rows');
}
end_session($old);
done_testing();
