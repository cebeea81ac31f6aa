# A server that does not preload the library says so, and stays up.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('preload');
$node->start;
create_table($node);
change_rows($node, 500, 1);
$node->stop;

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->start;
my ($rc, $out, $err) = $node->psql('postgres', "LOAD 'surfidx'");
is($rc, 0, 'LOAD succeeds') or diag($err);

# The extension can be created, but not without a word: its first index would fail.
$node->safe_psql('postgres', 'CREATE DATABASE fresh');
($rc, $out, $err) =
	$node->psql('fresh', "\\set VERBOSITY verbose\nCREATE EXTENSION surfidx");
is($rc, 0, 'CREATE EXTENSION succeeds');
my $said = qr/WARNING:  55000: .*not loaded at server start.*HINT:.*shared_preload_libraries/s;
like($err, $said, '... and says what is missing and what to do');
$node->safe_psql('postgres', 'DROP DATABASE fresh');

my %refused = (
	'CREATE INDEX' => 'CREATE INDEX ON t USING surfidx (v)',
	'INSERT' => 'INSERT INTO t (n) VALUES (1)',
	'index scan' => 'SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM t WHERE n = 1',
	'bitmap scan' => 'SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off; '
	  . 'SELECT count(*) FROM t WHERE n = 1',
	'VACUUM' => 'VACUUM t',
	'REINDEX' => 'REINDEX INDEX t_n',
	'surfidx_merge' => "SELECT surfidx_merge('t_n')",
	'surfidx_check' => "SELECT surfidx_check('t_n')",
	'surfidx_meta' => "SELECT surfidx_meta('t_n')");
foreach my $what (sort keys %refused)
{
	# VACUUM needs something to remove in order to look at the indexes.
	($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$refused{$what}");
	isnt($rc, 0, "$what fails");
	like($err, qr/ERROR:  55000: .*not loaded at server start.*HINT:.*shared_preload_libraries/s, "$what: clear error");
}
is($node->safe_psql('postgres', 'SELECT count(*) > 0 FROM t'), 't', 'the table can be read');
$node->safe_psql('postgres', 'DROP INDEX t_s');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname = 't_s'"), '0', 'an index can be dropped');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'no crash');
$node->stop;

# With the library again, everything is as it was.
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'surfidx'");
$node->start;
$node->safe_psql('postgres', 'CREATE INDEX t_s ON t USING surfidx (s)');
check_indexes($node, 'preloaded again');
$node->safe_psql('postgres', 'CREATE DATABASE fresh');
($rc, $out, $err) = $node->psql('fresh', 'CREATE EXTENSION surfidx');
is($err, '', 'CREATE EXTENSION has nothing to say');
my $left = "SELECT count(*) FROM pg_proc WHERE proname = 'surfidx_preload_warning'";
is($node->safe_psql('fresh', $left), '0', '... and leaves nothing of the question behind');
compare_plans($node, 'preloaded again');
$node->stop;
done_testing();
