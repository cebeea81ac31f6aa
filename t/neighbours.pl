# Other statements beside a long merge: they neither wait for its end nor break it, or the merge gives way to them.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

# A worker that sleeps 0.4 s after each group of leaves.
my $node = new_node('neighbours', <<'END');
wal_level = logical
surfidx.delta_size = '1MB'
surfidx.merge_cost_delay = '100ms'
surfidx.merge_cost_limit = 1
deadlock_timeout = '100ms'
log_lock_waits = on
END
$node->start;

# A database with a table whose delta is being merged, or a run into the main tree if the options say so. Its name.
my $merges = 0;

sub start_merge
{
	my ($options) = @_;
	my $db = 'd' . ++$merges;

	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE m AS SELECT i, md5(i::text) COLLATE "C" AS s FROM generate_series(1, 60000) i;
CREATE INDEX m_s ON m USING surfidx (s);
END
	$node->safe_psql($db, "ALTER INDEX m_s SET ($options)") if $options;
	# one that has ended before we look is followed by another one
	for (1 .. 20)
	{
		$node->safe_psql($db, 'INSERT INTO m SELECT i, md5(random()::text) FROM generate_series(60001, 85000) i');
		for (1 .. 50)
		{
			return $db if $node->safe_psql($db, $options
				? "SELECT count(*) FROM surfidx_runs('m_s') WHERE merging"
				: 'SELECT count(*) FROM surfidx_progress() WHERE groups > 0') > 0;
			usleep(100_000);
		}
	}
	die 'no merge';
}

sub is_merging
{
	my ($db) = @_;

	return $node->safe_psql($db, 'SELECT count(*) FROM surfidx_progress()') == 1 &&
	  $node->safe_psql($db, "SELECT frozen FROM surfidx_meta('m_s')") == 1;
}

# Nobody waits for a lock for longer than this, merges or not.
sub run_beside
{
	my ($db, $sql) = @_;

	return $node->psql($db, "SET lock_timeout = '1s';\n$sql", on_error_stop => 1);
}

# These leave the merge alone.  (It is slow, not endless: where it has ended, another one is begun.)
my $db = start_merge();
foreach my $sql (
	'SELECT count(*) FROM m WHERE s >= \'a\'',
	'ANALYZE m',
	'CREATE INDEX CONCURRENTLY m_i ON m (i)',
	'CREATE INDEX CONCURRENTLY m_i2 ON m USING surfidx (i)',
	"ALTER TABLE m ADD COLUMN c int DEFAULT 1",
	'UPDATE m SET i = i + 1 WHERE i < 100',
	"SELECT count(*) FROM pg_create_logical_replication_slot('slot', 'test_decoding', true); INSERT INTO m (i) VALUES (-1); SELECT count(*) FROM pg_logical_slot_get_changes('slot', NULL, NULL)",
	'DROP INDEX CONCURRENTLY IF EXISTS m_i')
{
	$db = start_merge() unless is_merging($db);
	my ($rc, $out, $err) = run_beside($db, $sql);

	is($rc, 0, "$sql: no wait") or diag($err);
}
$db = start_merge() unless is_merging($db);
$node->command_ok([ 'pg_dump', '-d', $node->connstr($db), '--lock-wait-timeout=1s', '-f', '/dev/null' ], 'pg_dump: no wait');

# VACUUM works on the same leaves: it takes turns with the merge.
$db = start_merge() unless is_merging($db);
my ($rc, $out, $err) = run_beside($db, "DELETE FROM m WHERE i % 50 = 1; VACUUM (INDEX_CLEANUP ON) m");
is($rc, 0, 'VACUUM takes turns') or diag($err);
is($node->safe_psql($db, "SELECT surfidx_check('m_s', true)"), '', 'check while the merge goes on');

# These want the index: the merge gives way, or there is nothing left to merge.
foreach my $sql ('REINDEX INDEX m_s', 'ALTER TABLE m ALTER s TYPE text COLLATE "POSIX"', 'TRUNCATE m', 'DROP INDEX m_s', 'DROP TABLE m')
{
	$db = start_merge();
	($rc, $out, $err) = run_beside($db, $sql);
	is($rc, 0, "$sql: the merge gives way") or diag($err);
	is($node->safe_psql($db, "SELECT surfidx_check('m_s', true)"), '', "$sql: check") if $sql !~ /DROP/;
}
start_merge();
($rc, $out, $err) = run_beside('postgres', "DROP DATABASE d$merges");
is($rc, 0, 'DROP DATABASE: the merge gives way') or diag($err);

# The same while a run is merged into the main tree.
my $runs = 'run_ratio = 10, merge_ratio = 0.2';
foreach my $sql ('CREATE INDEX CONCURRENTLY m_i ON m (i)', 'DELETE FROM m WHERE i % 50 = 1; VACUUM (INDEX_CLEANUP ON) m', 'TRUNCATE m', 'DROP TABLE m')
{
	$db = start_merge($runs);
	($rc, $out, $err) = run_beside($db, $sql);
	is($rc, 0, "$sql beside the merge of a run") or diag($err);
	is($node->safe_psql($db, "SELECT surfidx_check('m_s', true)"), '', "$sql beside the merge of a run: check") if $sql !~ /DROP/;
}
start_merge($runs);
($rc, $out, $err) = run_beside('postgres', "DROP DATABASE d$merges");
is($rc, 0, 'DROP DATABASE: the merge of a run gives way') or diag($err);
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal|deadlock detected/, 'nothing wrong in the log');
$node->stop('immediate');
done_testing();
