# old_snapshot_threshold (before 17): a snapshot whose rows VACUUM has removed gets an error, not fewer rows (R6).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $config = $ENV{PG_CONFIG} || 'pg_config';
my ($version) = `$config --version` =~ /(\d+)/;
if ($version >= 17)
{
	exit 0 if $ENV{SURFIDX_LIST};
	plan skip_all => 'this version has no old_snapshot_threshold';
}

scenario 'a snapshot that has expired', ['snapshots do not expire'], sub {
	# Entries in the delta, in the main tree, in a run; and as btree does it.
	my %tables = (
		btree => [ 'btree', '', '' ],
		delta => [ 'surfidx', '', '' ],
		tree => [ 'surfidx', '', "SELECT surfidx_merge('tree_k')" ],
		run => [ 'surfidx', 'WITH (run_ratio = 10, merge_ratio = 10)', "SELECT surfidx_merge('run_k'); INSERT INTO run SELECT g, g FROM generate_series(1, 1000) g; VACUUM run" ]);

	for my $table (sort keys %tables)
	{
		my ($am, $options, $fill) = @{ $tables{$table} };

		sql("CREATE TABLE $table (k int, v int); CREATE INDEX ${table}_k ON $table USING $am (k) $options;
			INSERT INTO $table SELECT g, g FROM generate_series(1, 1000) g; $fill; DELETE FROM $table WHERE k < 20");
	}
	my $old = session();
	sql('BEGIN ISOLATION LEVEL REPEATABLE READ; SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT 1', $old);
	# With a threshold of 0 the server takes for old what is older than five seconds, and only pretends: VACUUM leaves the snapshot its rows.
	settle(6);
	sql("VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) $_") for sort keys %tables;
	for my $table (sort keys %tables)
	{
		sql('SAVEPOINT s', $old);
		is(error_of("SELECT count(*) FROM $table WHERE k BETWEEN 10 AND 900", $old), '72000', "$table: an error");
		sql('ROLLBACK TO s', $old);
	}
};

run_scenarios(conf => ['old_snapshot_threshold = 0']);
