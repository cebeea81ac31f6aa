# Merge workers of several databases, which come and go while merges run (M12 to M14, M17): no session that
# wants a database waits for a worker in vain, and what is due in those that stay is merged at last.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{SURFIDX_TORTURE_SEED} || 1;
my $tables = 6;
my $rounds = 6;

srand($seed);
note("seed $seed");
my $node = new_node('databases', <<'END');
surfidx.delta_size = '64kB'
surfidx.max_merge_workers = 2
surfidx.log_merge_min_duration = -1
fsync = off
max_worker_processes = 5
max_connections = 30
END
$node->start;

sub fill
{
	my ($from) = @_;

	return join('', map { "INSERT INTO t$_ SELECT (random() * 1e9)::int, repeat('x', 100)
		FROM generate_series($from, $from + 999);\n" } 1 .. $tables);
}

# A database from which others are made, each time with deltas that are due.
$node->safe_psql('postgres', 'CREATE DATABASE model');
$node->safe_psql('model', 'CREATE EXTENSION surfidx;' . join('', map { "CREATE TABLE t$_ (k int, v text);
	CREATE INDEX t${_}_k ON t$_ USING surfidx (k) INCLUDE (v) WITH (run_ratio = 0, merge_ratio = 10);" }
	1 .. $tables));

sub create
{
	my ($name) = @_;

	$node->safe_psql('model', fill(1));
	my ($rc, $out, $err) = $node->psql('postgres', "CREATE DATABASE $name TEMPLATE model");
	is($rc, 0, "$name is made while its template is merged") or diag($err);
	return;
}

sub drop
{
	my ($name, $how) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "DROP DATABASE $name $how");

	is($rc, 0, "$name goes while it is merged, $how") or diag($err);
	return;
}

create("d$_") for 1 .. 3;
for my $round (1 .. $rounds)
{
	my %session = map { $_ => start_script($node, "round$round$_", fill($round * 10000) x 2, "d$_") } 1 .. 3;
	my $victim = 1 + int(rand(3));

	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE backend_type LIKE 'surfidx%' ORDER BY random() LIMIT 1")
	  if $round % 2 == 0;
	$session{$victim}->finish;
	drop("d$victim", $round % 3 == 0 ? 'WITH (FORCE)' : '');
	create("d$victim");
	$session{$_}->finish for grep { $_ != $victim } 1 .. 3;
}

# Only inserts from here on; each database asks, and whatever waits there is merged.
my $due = "SELECT count(*) FROM pg_class c, surfidx_meta(c.oid::regclass) WHERE relkind = 'i'
	AND relname ~ '^t\\d+_k\$' AND log_pages >= 8";
for my $db ('model', map { "d$_" } 1 .. 3)
{
	# (what was asked for in vain is left alone for a second)
	my $left = $tables;

	for my $try (1 .. 180)
	{
		$node->safe_psql($db, join('', map { "INSERT INTO t$_ SELECT 1, repeat('x', 100)
			FROM generate_series(1, 70);" } 1 .. $tables)) if $try % 10 == 1;
		$left = $node->safe_psql($db, $due);
		last if $left == 0;
		$node->safe_psql('postgres', 'SELECT pg_sleep(0.1)');
	}
	is($left, '0', "$db: nothing that is due is left");
}
ok( $node->poll_query_until('model', "SELECT used = 0 FROM surfidx_shared_memory() WHERE name = 'merge workers'"),
	'all workers end');
ok( $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%'"),
	'and are gone');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal|is being accessed/, 'nothing wrong in the log');
$node->stop;
done_testing();
