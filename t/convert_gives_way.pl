# A conversion's worker and a session wait for each other (rule Q6): VACUUM ANALYZE, a transaction
# that comes to ANALYZE or to alter what it has used.  The worker gives way, and tries again.
#
# Sessions look for deadlocks after minutes here, so that nothing depends on which side looks first.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SurfidxTest;
use Test::More;

my $node = new_node('convert_gives_way', <<'END');
surfidx.auto_merge = off
deadlock_timeout = '10min'
END
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE t (id int PRIMARY KEY, k int);
INSERT INTO t SELECT g, g FROM generate_series(1, 1000) g;
END
my $method = 'btree';
my $worker = "backend_type = 'surfidx conversion'";
my @sessions = map { open_session($node) } 1 .. 3;

sub sql { return $node->safe_psql('postgres', $_[0]) }
sub seen { return $node->poll_query_until('postgres', "SELECT $_[0]") }

# Hand the table to the worker.
sub begin
{
	$method = $method eq 'btree' ? 'surfidx' : 'btree';
	sql("SELECT count(*) FROM surfidx_convert('t', method => '$method', dry_run => false)");
	return;
}

# The worker waits for a transaction, in a statement of that kind.
sub worker_waits
{
	my ($statement) = @_;

	ok(seen("count(*) = 1 FROM pg_stat_activity JOIN pg_locks l USING (pid) WHERE $worker "
		. "AND query ~ '^$statement' AND locktype = 'virtualxid' AND NOT granted"),
		"$statement waits for a transaction");
	return;
}

# So many sessions wait for the lock on the table.
sub wait_for_table
{
	my ($n) = @_;

	return seen("count(*) = $n FROM pg_locks WHERE relation = 't'::regclass AND NOT granted");
}

# All sessions got what they asked for, and the table was converted.
sub all_is_well
{
	my ($what) = @_;

	ok(seen("count(statement) = 0 AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE $worker) "
		. "FROM surfidx_convert('t', method => '$method')"), "$what: the conversion ends");
	is(join('', map { $_->{err} } @sessions), '', '... and no session met an error');
	is(sql("SELECT string_agg(relname || ' ' || amname, ', ') FROM pg_index JOIN pg_class i ON "
		. "i.oid = indexrelid JOIN pg_am a ON a.oid = relam WHERE indrelid = 't'::regclass"),
		"t_pkey $method", '... and the table has the one index');
	return;
}

# The answer of a statement that was sent.
sub answer
{
	my ($session) = @_;
	my $r = $session->receive(5 * $PostgreSQL::Test::Utils::timeout_default);

	$session->{err} .= $r->{lost} ? 'lost' : $r->{error};
	return;
}

my ($nightly, $keeper, $writer) = @sessions;

foreach (1 .. 2)
{
	# VACUUM is before the worker in the queue for the table, and its ANALYZE after it
	ask($keeper, 'BEGIN; LOCK TABLE t IN SHARE UPDATE EXCLUSIVE MODE');
	ask($writer, 'BEGIN; UPDATE t SET k = k + 1 WHERE id = 1');
	$nightly->send('VACUUM ANALYZE t');
	wait_for_table(1);
	begin();
	ok(wait_for_table(2), 'VACUUM and the worker want the table');
	ask($keeper, 'COMMIT');
	worker_waits('CREATE');
	ok(wait_for_table(1), 'ANALYZE has its snapshot and wants the table');
	ask($writer, 'COMMIT');
	answer($nightly);
	all_is_well("VACUUM ANALYZE, to $method");
}
foreach my $statement ('ANALYZE t', 'ALTER TABLE t ALTER k SET STATISTICS 7')
{
	ask($writer, 'BEGIN; UPDATE t SET k = k + 1 WHERE id = 1');
	begin();
	worker_waits('CREATE');
	ask($writer, "$statement; COMMIT");
	all_is_well("a transaction of a writer, $statement");

	# a reader's transaction is nobody's whom a build waits for
	ask($writer, 'BEGIN; SELECT count(*) FROM t');
	begin();
	worker_waits('DROP');
	ask($writer, "$statement; COMMIT");
	all_is_well("a transaction of a reader, $statement");
}
my @gave_way = slurp_file($node->logfile) =~ /LOG:  surfidx: a conversion gave way/g;

is(scalar @gave_way, 6, 'the log says each time that the worker gave way');
unlike(slurp_file($node->logfile), qr/ERROR:|PANIC|TRAP/, '... and has no error');
end_session($_) foreach @sessions;
$node->stop;
done_testing();
