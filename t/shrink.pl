# What VACUUM and surfidx_merge() give back: the end of the file, sparse inner pages, levels; beside sessions, standbys and crashes.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('shrink', "wal_consistency_checking = 'all'\nmax_wal_senders = 2\nwal_keep_size = 1GB\nsurfidx.auto_merge = off", allows_streaming => 1);
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE s AS SELECT i, md5(i::text) COLLATE "C" AS t FROM generate_series(1, 30000) i;
CREATE INDEX s_t ON s USING surfidx (t) WITH (filter = surf);
-- many inner pages: separators are long, because neighbours differ late
CREATE INDEX s_r ON s USING surfidx ((repeat(md5((i / 64)::text), 20) || repeat(md5((i / 8)::text), 10) || repeat(md5(i::text), 10)) COLLATE "C") WHERE i < 6000;
END

my $level = $node->safe_psql('postgres', "SELECT level FROM surfidx_meta('s_r')");

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', 'max_standby_streaming_delay = 100ms');
$standby->start;

sub blocks
{
	my ($index) = @_;

	return $node->safe_psql('postgres', "SELECT pg_relation_size('$index') / 8192");
}

sub check_both
{
	my ($what) = @_;

	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	foreach my $where ($node, $standby)
	{
		foreach my $index ('s_t', 's_r')
		{
			is($where->safe_psql('postgres', "SELECT surfidx_check('$index', true)"), '', "$what: check of $index on the " . $where->name);
		}
		is($where->safe_psql('postgres', "SELECT pg_relation_size('s_t') / 8192"), blocks('s_t'), "$what: size on the " . $where->name);
	}
	return;
}

# A session with a place in the file remembered, and perhaps a cursor.
my $session = open_session($node);

# The log's pages go with the merge.
my $before = blocks('s_t');
# (each key twice: that makes more log than leaves, whatever the filters take)
ask($session, 'INSERT INTO s SELECT i, md5(i::text) FROM generate_series(30001, 39000) i, generate_series(1, 2);');
my $full = blocks('s_t');
# a worker that is at it holds a lock, and the file stays as it is
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%'");
# in an open transaction, too: the lock that this takes does not last as long, here and there
ask($session, "BEGIN; SELECT surfidx_merge('s_t');");
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
cmp_ok(blocks('s_t'), '<', $full,
	"a merge gives the log's pages back: $before blocks, $full with the log, " . blocks('s_t') .
	' after');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock'}), '0', 'a merge in an open transaction leaves no lock on the standby');
is($standby->safe_psql('postgres', q{SELECT pg_relation_size('s_t') / 8192}), blocks('s_t'),
	'... where the file is as short');
ask($session, 'COMMIT;');
$node->safe_psql('postgres', "SELECT surfidx_merge('s_r')");

check_both('merge');
ask($session, "INSERT INTO s SELECT i, md5(i::text) FROM generate_series(39001, 39010) i;");
is($session->{err}, '', 'a session that had its place in the log beyond the end goes on');

# Nobody may be cut off: with a cursor open the file stays as it is, and the cursor too.
ask($session, 'BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; DECLARE c CURSOR FOR SELECT i FROM s ORDER BY t;');
ask($session, 'FETCH 10 FROM c;');
$full = blocks('s_t');
$node->safe_psql('postgres', 'DELETE FROM s WHERE i % 4 <> 0');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) s');
cmp_ok(blocks('s_t'), '>=', $full, 'nothing is cut off while somebody reads');
my @rest = split /\n/, ask($session, 'FETCH ALL FROM c;');
is(scalar @rest, 48000, 'and the reader gets all its rows');
ask($session, 'COMMIT;');
check_both('pages moved');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) s');
cmp_ok(blocks('s_t'), '<', 0.4 * $full, "then the file shrinks from $full blocks to " . blocks('s_t'));
check_both('cut off');

# vacuum_truncate says whether VACUUM may.
$node->safe_psql('postgres', 'ALTER TABLE s SET (vacuum_truncate = off)');
$node->safe_psql('postgres', 'DELETE FROM s WHERE i % 16 <> 0');
$full = blocks('s_t');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) s');
cmp_ok(blocks('s_t'), '>=', $full, 'vacuum_truncate = off is heeded');
$node->safe_psql('postgres', 'ALTER TABLE s RESET (vacuum_truncate)');

# Little is left of a tree that was high.
$node->safe_psql('postgres', 'DELETE FROM s WHERE i > 100');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) s') foreach (1 .. 3);
cmp_ok(blocks('s_r'), '<', 15, 'of 6,000 large entries 6 are left, and ' . blocks('s_r') . ' blocks');
cmp_ok($node->safe_psql('postgres', "SELECT level FROM surfidx_meta('s_r')"), '<', $level, "and fewer levels than $level");
check_both('little left');
is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM (SELECT t FROM s ORDER BY t) x'),
	$node->safe_psql('postgres', 'SELECT count(*) FROM s'), 'and all of it is found');

# Killed in the midst of it.
foreach my $round (1 .. 3)
{
	$node->safe_psql('postgres', "INSERT INTO s SELECT i, md5(i::text) FROM generate_series(1000, 20000) i; SELECT surfidx_merge('s_t'), surfidx_merge('s_r')");
	$node->safe_psql('postgres', "DELETE FROM s WHERE i >= 1000 AND i % 8 <> $round");
	my $vacuum = start_script($node, "vacuum$round", "VACUUM (INDEX_CLEANUP ON) s;\n" x 20);
	select(undef, undef, undef, 0.05 * $round);
	$node->stop('immediate');
	stop_script($vacuum);
	ok(start_again($node), "started after kill $round");
	check_both("kill $round");
	$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) s');
	check_both("VACUUM after kill $round");
}
end_session($session);
$standby->stop;
$node->stop;
done_testing();
