# Each kind of record has a name and a description in pg_walinspect, with and without images.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('walinspect', "surfidx.auto_merge = off\nautovacuum = off");
$node->start;
my $there = "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_walinspect'";
plan skip_all => 'pg_walinspect is not installed' if !$node->safe_psql('postgres', $there);
$node->safe_psql('postgres', 'CREATE EXTENSION surfidx; CREATE EXTENSION pg_walinspect;
	CREATE TABLE t (k int); CREATE INDEX t_k ON t USING surfidx (k)');

my %kind = map { $_ => 1 } qw(APPEND EXTEND FREEZE GROUP META FLAG GATE BATCH);
for my $round ('with images', 'without')
{
	$node->safe_psql('postgres', 'CHECKPOINT') if $round eq 'with images';
	my $from = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');

	for my $sql ('INSERT INTO t SELECT generate_series(1, 3000)', "SELECT surfidx_merge('t_k')",
		'INSERT INTO t SELECT generate_series(1, 500)', 'DELETE FROM t WHERE k % 3 = 0',
		'VACUUM (INDEX_CLEANUP ON) t', "SELECT surfidx_merge('t_k')")
	{
		$node->safe_psql('postgres', $sql);
	}
	# VACUUM and merges have no transaction id, so that nothing flushed their records yet
	$node->safe_psql('postgres', "SELECT pg_logical_emit_message(true, '', '')");
	my $to = $node->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
	my $records = "pg_get_wal_records_info('$from', '$to') WHERE resource_manager = 'surfidx'";
	my $kinds = "SELECT DISTINCT record_type FROM $records";
	my @seen = split /\n/, $node->safe_psql('postgres', $kinds);

	delete @kind{@seen};
	is($node->safe_psql('postgres', "$kinds AND coalesce(description, '') = ''"),
		'', "$round: no description is empty");
	is($node->safe_psql('postgres', "$kinds AND record_type ~ 'UNKNOWN'"),
		'', "$round: no name is missing");
	is($node->safe_psql('postgres', "SELECT count(*) > 20 FROM $records
		AND description ~ '^entr(y|ies \\d+) of \\d+ bytes\$'"), 't',
		"$round: entries and their sizes");
}
is(join(' ', sort keys %kind), '', 'each kind of record was seen');
$node->stop;
done_testing();
