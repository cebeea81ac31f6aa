# surfidx.size_budget: workers share it out among the indexes of a database by how they are read,
# and anew when others are read; what cannot be cut stays, and a budget that cannot be kept is said
# once.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'usleep';

my $node = new_node('size_budget', <<'END', allows_streaming => 1);
surfidx.budget_interval = 2
max_parallel_workers_per_gather = 0
END
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE FUNCTION make(t text, how text, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %s (u uuid, v int)', t);
	EXECUTE format('INSERT INTO %s SELECT md5(g::text)::uuid, g FROM generate_series(1, %s) g',
		t, n);
	EXECUTE format('CREATE INDEX %s_u ON %1$s USING surfidx (u) %s', t, how);
END $$;
SELECT make('t' || i, '', 60000) FROM generate_series(1, 8) i;
SELECT make('pinned_full', 'WITH (keys = full)', 20000),
	make('pinned_cut', 'WITH (keys = cut)', 20000),
	make('fixed', 'INCLUDE (v)', 10000), make('limited', 'WITH (size_limit = 100)', 20000);
CREATE TABLE parted (u uuid, v int) PARTITION BY RANGE (v);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10000);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10000) TO (20000);
CREATE INDEX parted_u ON parted USING surfidx (u);
INSERT INTO parted SELECT md5(g::text)::uuid, g FROM generate_series(1, 19999) g;
CREATE DATABASE other;
VACUUM ANALYZE;
END
$node->safe_psql('other', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE t AS SELECT md5(g::text)::uuid AS u FROM generate_series(1, 60000) g;
CREATE INDEX t_u ON t USING surfidx (u);
VACUUM t;
END
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('size_budget_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

sub value { my ($sql, $on) = @_; return ($on // $node)->safe_psql('postgres', $sql) }

# All values of these tables, out of their indexes, several times.
sub reads
{
	my ($on, $db, $times, @tables) = @_;
	my $sql = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;';

	$sql .= "SELECT max(u::text) FROM (SELECT u FROM $_ ORDER BY u OFFSET 0) x;"
	  for (@tables) x $times;
	$on->safe_psql($db, $sql);
	return;
}

# Read tables until something is true of the database's indexes.
sub read_until
{
	my ($cond, @tables) = @_;

	for (1 .. $PostgreSQL::Test::Utils::timeout_default)
	{
		reads($node, 'postgres', 12, @tables);
		return 1 if value("SELECT $cond FROM surfidx_budget()") eq 't';
		usleep(300_000);
	}
	diag("not yet: $cond", value('SELECT x FROM surfidx_budget() x'),
		value("SELECT string_agg(relname || ' ' || k, E'\n') FROM pg_class, surfidx_leaf_keys(oid, 1) k
			WHERE relname LIKE 't__u'"));
	return 0;
}

# Entries of these tables' indexes whose keys are cut, in percent.
sub cut_percent
{
	return '(SELECT sum(k.cut_entries) * 100 / sum(s.entries) FROM unnest(ARRAY['
	  . join(',', map { "'${_}_u'" } @_)
	  . ']::regclass[]) i, surfidx_leaf_keys(i, 0) k, surfidx_stats(i, 1) s)';
}

sub changes
{
	return value("SELECT sum(leaves_made_cut + leaves_made_whole)
		FROM pg_class c JOIN pg_am a ON a.oid = relam, surfidx_leaf_keys(c.oid, 1) WHERE relkind = 'i' AND amname = 'surfidx'");
}

# Without a budget
reads($node, 'postgres', 1, 't1', 't2');
my $before = changes();
is(value('SELECT size_budget IS NULL AND over_budget IS NULL AND size > 0 AND indexes = 14
	AND fixed_indexes = 13 FROM surfidx_budget()'),
	't', 'none yet');
is(changes(), $before, 'nothing is cut without one');

# The indexes that are read stay whole; the others are cut until the budget is kept.
my $budget = value("SELECT size / 1024 * 6 / 10 FROM surfidx_budget()");
$node->safe_psql('postgres', "ALTER DATABASE postgres SET surfidx.size_budget = '${budget}kB'");
ok(read_until('size <= 0.98 * size_budget', 't1', 't2'), 'kept');
is(value('SELECT over_budget FROM surfidx_budget()'), 'f', 'and said so');
is(value("SELECT sum(cut_leaves)
	FROM unnest('{pinned_full_u,fixed_u}'::regclass[]) i, surfidx_leaf_keys(i, 1)"),
	'0', 'what is pinned or cannot be cut is whole');
is(value('SELECT ' . cut_percent('t1', 't2') . ' < 5'), 't', 'what is read, too');
is(value("SELECT cut_leaves = leaves FROM surfidx_leaf_keys('pinned_cut_u')"),
	't', 'what is pinned as cut is cut');
is(value("SELECT string_agg(keys, ', ' ORDER BY i)
	FROM unnest('{t1_u,pinned_full_u,pinned_cut_u,fixed_u,limited_u}'::regclass[])
	WITH ORDINALITY x (x, i), surfidx_leaf_keys(x, 1)"),
	'by size_budget, full, cut, full, by size_limit', 'what decides');
is(value('SELECT fixed_indexes FROM surfidx_budget()'), '3', 'what it does not change');
like(slurp_file($node->logfile),
	qr/LOG: .*index "t\d_u" has gone from \d+ kB to \d+ kB for surfidx.size_budget/, 'logged');
reads($node, 'other', 2, 't');
is($node->safe_psql('other', "SELECT cut_leaves FROM surfidx_leaf_keys('t_u')"),
	'0', 'another database has its own');

# Others are read: they get their keys back, and the budget is kept.
ok(read_until(cut_percent('t3', 't4') . ' < 5 AND size <= 1.03 * size_budget', 't3', 't4'),
	'shifted');
ok(read_until('size <= 0.98 * size_budget', 't3', 't4'), 'kept again');

# Nothing changes back and forth.
$before = changes();
for (1 .. 5)
{
	reads($node, 'postgres', 12, 't3', 't4');
	usleep(1_500_000);
}
cmp_ok(changes() - $before, '<=', value('SELECT leaves / 10 FROM surfidx_budget()'),
	'no change back and forth');

# Rows that come, and those of a session's own
my $temporary = open_session($node);
ask($temporary, 'CREATE TEMPORARY TABLE mine (u uuid)');
ask($temporary, 'CREATE INDEX mine_u ON mine USING surfidx (u)');
ask($temporary, 'INSERT INTO mine SELECT md5(g::text)::uuid FROM generate_series(1, 60000) g');
is(ask($temporary, 'SELECT indexes FROM surfidx_budget()'), '14', 'temporary ones are not counted');
$node->safe_psql('postgres',
	"INSERT INTO t$_ SELECT md5(g::text)::uuid, g FROM generate_series(60001, 70000) g")
  for 3 .. 8;
ok(read_until('size <= 1.03 * size_budget', 't3', 't4'), 'kept while rows come');
is(ask($temporary, "SELECT cut_leaves FROM surfidx_leaf_keys('mine_u', 1)"),
	'0', 'a temporary one is left alone');
end_session($temporary);
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
reads($standby, 'postgres', 2, 't1', 't3', 't5');
is(value("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%'", $standby),
	'0', 'no worker on a standby');

# Less than all take when they are cut: said once, and rows are inserted.
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET surfidx.size_budget = 500');
ok(read_until("over_budget AND (SELECT bool_and(k.cut_leaves >= k.leaves - 3)
	FROM generate_series(1, 8) i, surfidx_leaf_keys('t' || i || '_u', 1) k)", 't3'),
	'cannot be kept');
for (1 .. 4)
{
	usleep(2_100_000);
	reads($node, 'postgres', 1, 't3');
	$node->safe_psql('postgres',
		"INSERT INTO t1 SELECT gen_random_uuid(), g FROM generate_series(1, 100) g");
}
my $told = () = slurp_file($node->logfile) =~
  /WARNING: .*surfidx indexes of this database take \d+ kB of a surfidx.size_budget of 500 kB/g;
is($told, 1, 'said once');

# Without it keys come back.
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET surfidx.size_budget');
$node->poll_query_until('postgres',
	"SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%'");
$node->safe_psql('postgres', 'VACUUM');
is(value("SELECT sum(cut_leaves)
	FROM generate_series(1, 8) i, surfidx_leaf_keys('t' || i || '_u', 1)"), '0', 'all whole');
unlike(slurp_file($_->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing wrong in the log')
  for $node, $standby;
done_testing();
