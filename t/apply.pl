# Logical replication searches the subscriber's table through surfidx indexes, where this version of PostgreSQL lets it; where it does not, the way
# around that docs/unique.md names heals the subscription.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('apply', <<'END', allows_streaming => 'logical');
surfidx.auto_merge = off
wal_retrieve_retry_interval = '200ms'
max_logical_replication_workers = 8
END
$node->start;
my $version = $node->safe_psql('postgres', 'SHOW server_version_num') / 10000;
$version = int $version;

# Publisher and subscriber are two databases of one server, so slots are made beforehand.
$node->safe_psql('postgres', "CREATE DATABASE $_") for qw(pub sub);
my $tables = <<'END';
CREATE EXTENSION surfidx;
CREATE TABLE ident (k int NOT NULL, s text COLLATE "C" NOT NULL, v int);
CREATE UNIQUE INDEX ident_sk ON ident USING surfidx (s, k DESC);
ALTER TABLE ident REPLICA IDENTITY USING INDEX ident_sk;
CREATE TABLE whole (k int, n numeric, v int);
CREATE INDEX whole_n ON whole USING surfidx (n) INCLUDE (v);
ALTER TABLE whole REPLICA IDENTITY FULL;
END
$node->safe_psql($_, $tables) for qw(pub sub);

my %index = (ident => 'ident_sk', whole => 'whole_n');

sub subscribe
{
	my ($table) = @_;

	$node->safe_psql('pub', "CREATE PUBLICATION p_$table FOR TABLE $table; SELECT pg_create_logical_replication_slot('s_$table', 'pgoutput')");
	$node->safe_psql('sub', "CREATE SUBSCRIPTION s_$table CONNECTION 'port=" . $node->port . ' host=' . $node->host . " dbname=pub' PUBLICATION p_$table WITH (create_slot = false, slot_name = 's_$table', copy_data = false)");
	return;
}

# Has the subscriber the publisher's rows in the end?
sub follows
{
	my ($table, $what) = @_;
	my $sums = "SELECT count(*), sum(hashtextextended($table\::text, 0)) FROM $table";
	my $want = $node->safe_psql('pub', $sums);

	ok($node->poll_query_until('sub', $sums, $want), $what);
	is($node->safe_psql('sub', "SELECT surfidx_check('$index{$table}', true, true)"), '', "$what: check");
	return;
}

my %change = (
	ident => 'UPDATE ident SET v = v + 1 WHERE k % 3 = 0; DELETE FROM ident WHERE k % 7 = 1; UPDATE ident SET s = s || \'x\' WHERE k % 5 = 2',
	whole => 'UPDATE whole SET v = v + 1 WHERE k % 3 = 0; DELETE FROM whole WHERE k % 7 = 1');

# ---- REPLICA IDENTITY USING INDEX ----

subscribe('ident');
$node->safe_psql('pub', "INSERT INTO ident SELECT i, 's' || i % 10, i FROM generate_series(1, 300) i");
follows('ident', 'rows inserted');
my $log = -s $node->logfile;
# an assertion of 17's own believes that it would be right
my $asserts = $node->safe_psql('postgres', 'SHOW debug_assertions') eq 'on';
my $btree = 'CREATE UNIQUE INDEX ident_btree ON ident (s, k); ALTER TABLE ident REPLICA IDENTITY USING INDEX ident_btree';
$node->safe_psql('sub', $btree) if $version == 17 && $asserts;
$node->safe_psql('pub', $change{ident});
if ($version == 17)
{
  SKIP:
	{
		skip 'needs a server without assertions', 1 if $asserts;
		$node->wait_for_log(qr/missing operator/, $log);
		pass('17 cannot apply through the index');
		$node->safe_psql('sub', $btree);
	}
	follows('ident', 'changes applied once the identity is a btree');
}
else
{
	follows('ident', 'changes applied through the index, from the delta');
	ok($node->poll_query_until('sub', "SELECT idx_scan > 0 FROM pg_stat_user_indexes WHERE indexrelname = 'ident_sk'"), 'the index was searched');
}
$node->safe_psql('sub', "SELECT surfidx_merge('ident_sk')");
$node->safe_psql('pub', $change{ident});
follows('ident', 'changes applied, from leaves');
$node->safe_psql('pub', "INSERT INTO ident SELECT i, 't' || i % 10, i FROM generate_series(301, 400) i; $change{ident}");
follows('ident', 'changes applied, from both');

# ---- REPLICA IDENTITY FULL ----

subscribe('whole');
$node->safe_psql('pub', "INSERT INTO whole SELECT i, i % 50 + CASE i % 2 WHEN 0 THEN 0.0 ELSE 0.00 END, i FROM generate_series(1, 300) i");
follows('whole', 'rows without a key inserted');
$node->safe_psql('pub', $change{whole});
follows('whole', 'rows without a key changed, from the delta');
$node->safe_psql('sub', "SELECT surfidx_merge('whole_n')");
$node->safe_psql('pub', $change{whole});
follows('whole', 'rows without a key changed, from leaves');
if ($version >= 18)
{
	ok($node->poll_query_until('sub', "SELECT idx_scan > 0 FROM pg_stat_user_indexes WHERE indexrelname = 'whole_n'"), 'through the index');
}
else
{
	is($node->safe_psql('sub', "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'whole_n'"), 0, 'before 18 not through the index');
}

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing bad in the log');
$node->safe_psql('sub', "ALTER SUBSCRIPTION s_$_ DISABLE; ALTER SUBSCRIPTION s_$_ SET (slot_name = NONE); DROP SUBSCRIPTION s_$_") for qw(ident whole);
$node->stop('fast');
done_testing();
