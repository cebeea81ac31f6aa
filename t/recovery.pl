# Crash recovery: random changes, merges and VACUUM, an immediate stop, a killed postmaster.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('crash', <<'END');
wal_consistency_checking = 'all'
surfidx.delta_size = '256kB'
surfidx.auto_merge = off
checkpoint_timeout = 1h
max_wal_size = 10GB
END
$node->start;
create_table($node);

# What the delta holds, what a merge has moved, what VACUUM has removed, before and after a checkpoint.
change_rows($node, 8000, 1);
$node->safe_psql('postgres', "SELECT surfidx_merge('t_n'), surfidx_merge('t_u')");
$node->safe_psql('postgres', 'CHECKPOINT');
change_rows($node, 8000, 2);
$node->safe_psql('postgres', 'VACUUM t');
change_rows($node, 4000, 3);
$node->safe_psql('postgres', "SELECT surfidx_merge('t_s')");
change_rows($node, 4000, 4);
check_indexes($node, 'before the crash');
compare_plans($node, 'before the crash');

$node->stop('immediate');
$node->start;
check_indexes($node, 'after an immediate stop');
compare_plans($node, 'after an immediate stop');

# VACUUM without its merge: flags in the log stay.
$node->safe_psql('postgres', 'SET surfidx.auto_merge = off; DELETE FROM t WHERE u % 13 = 5');
$node->safe_psql('postgres', 'VACUUM t');
$node->stop('immediate');
$node->start;
check_indexes($node, 'after VACUUM and a crash');
compare_plans($node, 'after VACUUM and a crash');

# Kill the postmaster while sessions insert, merge and vacuum.
foreach my $round (1 .. 2)
{
	my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM t');
	my @sessions;

	foreach my $loader (1 .. 2)
	{
		push @sessions, start_script($node, "load$loader", "SELECT setseed(0.$round$loader);\n"
			  . ("INSERT INTO t (n, s, v) SELECT (random() * 20000)::int, md5(random()::text), g FROM generate_series(1, 300) g;\n" x 300));
	}
	push @sessions, start_script($node, 'care',
		"SELECT surfidx_merge(i::regclass) FROM unnest('{t_n,t_s,t_u,t_ns,t_c}'::text[]) i;\nVACUUM t;\n" x 200);
	ok($node->poll_query_until('postgres', "SELECT count(*) >= $rows + 6000 FROM t"), "load $round is running");
	ok($node->poll_query_until('postgres', "SELECT merges > 1 FROM surfidx_meta('t_s')"), "load $round has merged");
	$node->kill9;
	stop_script($_) foreach @sessions;
	ok(start_again($node), "server starts after kill $round");
	check_indexes($node, "after kill $round");
	compare_plans($node, "after kill $round");
}

# Life goes on.
change_rows($node, 2000, 5);
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', "SELECT surfidx_merge('t_ns')");
check_indexes($node, 'at the end');
compare_plans($node, 'at the end');
$node->stop;
done_testing();
