# The postmaster goes on after a crash of one of its processes (restart_after_crash), again and again:
# what start-up registers in it is there once, and nothing of shared memory is from before.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('restart', "restart_after_crash = on\nsurfidx.auto_merge = off");
$node->start;
create_table($node);
my $postmaster = $node->safe_psql('postgres', 'SELECT pg_read_file($$postmaster.pid$$)') =~ /^(\d+)/ && $1;

for my $n (1 .. 3)
{
	change_rows($node, 300, $n);
	my $pid = $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");

	kill 'KILL', $pid;
	ok($node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid)"),
		"crash $n: the server is back");
	is($node->safe_psql('postgres', 'SELECT pg_read_file($$postmaster.pid$$)') =~ /^(\d+)/ && $1,
		$postmaster, "crash $n: it is the same postmaster");
	check_indexes($node, "crash $n");
	my $images = "SELECT used FROM surfidx_shared_memory() WHERE name = 'images'";
	my $before = $node->safe_psql('postgres', $images);
	my $with = $node->safe_psql('postgres', 'CREATE TABLE g (k int);
		CREATE UNIQUE INDEX g_k ON g USING surfidx (k); INSERT INTO g VALUES (1), (2);' . $images);
	$node->safe_psql('postgres', 'DROP TABLE g');
	is("$with " . $node->safe_psql('postgres', $images), $before + 1 . " $before",
		"crash $n: a file's death is heard of");
}
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal (?!9)/, 'nothing else fell');
$node->stop;
done_testing();
