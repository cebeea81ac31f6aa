# A file that a transaction has made and a crash or a promotion takes away: sessions of the standby
# outlive its promotion with all that they remember of the index; of a crash nothing is left.  What
# else takes files away is in discarded_files.pl.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = new_node('discarded_primary', <<'END', allows_streaming => 1);
surfidx.auto_merge = off
surfidx.unique_notice = off
allow_in_place_tablespaces = on
enable_seqscan = off
enable_bitmapscan = off
END
my $standby = PostgreSQL::Test::Cluster->new('discarded_standby');
my $merge = "SELECT surfidx_merge('d_k')";

# Rows that are found by their keys, one by one, and what lies beyond them.
sub found
{
	my ($s, $from, $to) = @_;
	my $each = 'SELECT count(x.k) FROM generate_series(%d, %d) g, '
	  . 'LATERAL (SELECT k FROM d WHERE k = g OFFSET 0) x';

	return ask($s, join('; ', sprintf($each, $from, $to), sprintf($each, $to + 1, $to + 80)) . ';');
}

# Go on in that server, and see whether session s sees it.
sub go_on
{
	my ($node, $s, $what) = @_;

	$node->safe_psql('postgres', "INSERT INTO d SELECT generate_series(20001, 23000); $merge");
	is(found($s, 20001, 23000), "3000\n0", "$what: rows beyond what was the end");
	is(ask($s, 'INSERT INTO d VALUES (22000) ON CONFLICT DO NOTHING;
		SELECT count(*) FROM d WHERE k = 22000;'), 1, "$what: none of them twice");
	is($s->{err}, '', "$what: no errors");
	is($node->psql('postgres', "SELECT surfidx_check('d_k', true, true)"), 0, "$what: sound");
	return;
}

$primary->start;
$primary->safe_psql('postgres', $_) for 'CREATE EXTENSION surfidx',
  "CREATE TABLESPACE elsewhere LOCATION ''";
$primary->safe_psql('postgres', "CREATE TABLE d (k int8) WITH (autovacuum_enabled = off);
	INSERT INTO d SELECT generate_series(1, 20000);
	CREATE UNIQUE INDEX d_k ON d USING surfidx (k)");
$primary->backup('base');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

my $mover = open_session($primary);
my $reader = open_session($standby);

is(found($reader, 1, 20000), "20000\n0", 'the standby remembers');
ask($mover, "BEGIN; ALTER INDEX d_k SET TABLESPACE elsewhere;
	INSERT INTO d SELECT generate_series(20001, 21000); $merge;");
is(found($mover, 20001, 21000), "1000\n0", 'the mover does');
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
# (replay holds the lock that ALTER INDEX has taken, until the promotion)
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
go_on($standby, $reader, 'promotion');

$primary->stop('immediate');
$primary->start;
my $after = open_session($primary);
is(found($after, 1, 20000), "20000\n0", 'crash: back in the old file');
go_on($primary, $after, 'crash');
end_session($_) for $reader, $after;
$_->stop for $standby, $primary;
done_testing();
