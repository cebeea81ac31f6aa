# The background worker merges while sessions insert, and gives way.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('worker', <<'END');
surfidx.delta_size = '64kB'
surfidx.log_merge_min_duration = 0
max_connections = 20
END
$node->start;
create_table($node);

my @sessions;
foreach my $i (1 .. 4)
{
	push @sessions, start_script($node, "insert$i", "SELECT setseed(0.$i);\n"
		  . ("INSERT INTO t (n, s, v) SELECT (random() * 20000)::int, md5(random()::text), g FROM generate_series(1, 100) g;\n" x 100));
}
foreach my $index (@INDEXES)
{
	ok($node->poll_query_until('postgres', "SELECT merges > 0 FROM surfidx_meta('$index')"), "worker merges $index");
}
check_indexes($node, 'while sessions insert');
compare_plans($node, 'while sessions insert');
foreach my $i (1 .. 4)
{
	ok($sessions[ $i - 1 ]->finish, "session $i ends well")
	  or diag(slurp_file("${PostgreSQL::Test::Utils::tmp_check}/insert$i.log"));
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), 40000, 'every row is there');
check_indexes($node, 'after the inserts');
compare_plans($node, 'after the inserts');

# While it waits for more to do, it says so; before 17 an extension's waits have no names.
my $idle = $node->safe_psql('postgres', 'SHOW server_version_num') < 170000 ? 'Extension'
	: 'SurfidxMergeIdle';

sub set_idle
{
	my ($time) = @_;

	$node->safe_psql('postgres', "ALTER SYSTEM SET surfidx.merge_worker_idle = '$time'");
	$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
	return;
}

set_idle('1h');
$node->safe_psql('postgres', 'INSERT INTO t (n) SELECT generate_series(1, 5000)');
ok($node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity "
	. "WHERE backend_type LIKE 'surfidx%' AND wait_event_type = 'Extension' "
	. "AND wait_event = '$idle'"), "an idle worker waits for $idle");
set_idle('500ms');

# Gone when there is nothing to do.
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%'"),
	'the worker ends');

# What wants the index for itself does not wait for a merge to end; nor does DROP DATABASE.
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE o (n int);
CREATE INDEX o_n ON o USING surfidx (n);
END
foreach my $round (1 .. 3)
{
	$node->safe_psql('other', 'INSERT INTO o SELECT random() * 100000000 FROM generate_series(1, 30000)');
	my ($rc, $out, $err) = $node->psql('other', "SET lock_timeout = '10s'; SET deadlock_timeout = '10ms'; REINDEX INDEX o_n");
	is($rc, 0, "REINDEX $round while the worker is busy") or diag($err);
	is($node->safe_psql('other', "SELECT surfidx_check('o_n', true)"), '', "check $round");
}
$node->safe_psql('other', 'INSERT INTO o SELECT random() * 100000000 FROM generate_series(1, 100000)');
my ($rc, $out, $err) = $node->psql('postgres', 'DROP DATABASE other');
is($rc, 0, 'DROP DATABASE while the worker is busy') or diag($err);
# The log says why an index was merged.
$node->safe_psql('postgres', 'SET surfidx.auto_merge = off; INSERT INTO t (n) SELECT
	generate_series(1, 5000)');
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', 'SET surfidx.auto_merge = off; INSERT INTO t (n) VALUES (-1)');
$node->safe_psql('postgres', "SELECT surfidx_merge('$INDEXES[0]')");
my $merges = qr/LOG:  merge of surfidx index "postgres\.public\.\w+": [1-9]\d* .*; reason: (.*)/;
my $log = slurp_file($node->logfile);
like($log, $merges, 'merges are logged');
my %reasons = map { $_ => 1 } $log =~ /$merges/g;
ok($reasons{$_}, "... with the reason: $_")
  for 'surfidx_merge()', 'VACUUM', 'the delta has delta_size';
note(join "\n", sort keys %reasons);
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal|ERROR/, 'nothing wrong in the log');
$node->stop;
done_testing();
