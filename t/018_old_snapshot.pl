# old_snapshot_threshold (before 17): a snapshot whose rows VACUUM has removed gets an error, not fewer rows.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('old_snapshot', "fsync = off\nsurfidx.auto_merge = off");
$node->start;
if ($node->safe_psql('postgres', "SELECT count(*) FROM pg_settings WHERE name = 'old_snapshot_threshold'") eq '0')
{
	$node->stop;
	plan skip_all => 'this version has no old_snapshot_threshold';
}
$node->append_conf('postgresql.conf', 'old_snapshot_threshold = 0');
$node->restart;
$node->safe_psql('postgres', 'CREATE EXTENSION surfidx');

# Entries in the delta, in the main tree, in a run; and as btree does it.
my %tables = (
	btree => [ 'btree', '', '' ],
	delta => [ 'surfidx', '', '' ],
	tree => [ 'surfidx', '', "SELECT surfidx_merge('tree_k');" ],
	run => [ 'surfidx', 'WITH (run_ratio = 10, merge_ratio = 10)', "SELECT surfidx_merge('run_k'); INSERT INTO run SELECT g, g FROM generate_series(1, 1000) g; VACUUM run;" ]);

foreach my $table (sort keys %tables)
{
	my ($am, $options, $fill) = @{ $tables{$table} };

	$node->safe_psql('postgres', <<"END");
CREATE TABLE $table (k int, v int);
CREATE INDEX ${table}_k ON $table USING $am (k) $options;
INSERT INTO $table SELECT g, g FROM generate_series(1, 1000) g;
$fill
DELETE FROM $table WHERE k < 20;
END
}

my $old = $node->background_psql('postgres', on_error_stop => 0);

$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT 1');
# With a threshold of 0 the server takes for old what is older than five seconds, and only pretends: VACUUM leaves the snapshot its rows.
$node->safe_psql('postgres', 'SELECT pg_sleep(6)');
$node->safe_psql('postgres', "VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) $_") foreach sort keys %tables;
foreach my $table (sort keys %tables)
{
	$old->{stderr} = '';
	my $rows = $old->query("SAVEPOINT s; SELECT count(*) FROM $table WHERE k BETWEEN 10 AND 900");
	like($old->{stderr}, qr/snapshot too old/, "$table: an error") or diag("got $rows");
	$old->query('ROLLBACK TO s');
}
$old->quit;
$node->stop;
done_testing();
