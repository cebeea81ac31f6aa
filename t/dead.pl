# Dead entries are removed before VACUUM: where readers meet them, at a cost linear in their number, and with conflicts on standbys.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('dead', "wal_consistency_checking = 'all'\nmax_wal_senders = 2\nwal_keep_size = 1GB", allows_streaming => 1);
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
SET surfidx.unique_notice = off;
CREATE TABLE h (id int, v int);
INSERT INTO h SELECT i, 0 FROM generate_series(1, 1000) i;
CREATE INDEX h_v ON h (v);	-- so that no update is HOT
CREATE UNIQUE INDEX h_id ON h USING surfidx (id);
CREATE PROCEDURE bump(n int) LANGUAGE plpgsql AS
	$$BEGIN FOR i IN 1..n LOOP UPDATE h SET v = v + 1 WHERE id = 7; COMMIT; END LOOP; END$$;
-- Pages with room left are not pruned: only the index tells standbys what is gone.
CREATE TABLE q (id int) WITH (fillfactor = 70);
INSERT INTO q SELECT generate_series(1, 20000);
CREATE INDEX q_id ON q USING surfidx (id);
CREATE PROCEDURE take(n int) LANGUAGE plpgsql AS
	$$BEGIN FOR i IN 1..n LOOP DELETE FROM q WHERE ctid = (SELECT ctid FROM q ORDER BY id LIMIT 1 FOR UPDATE); COMMIT; END LOOP; END$$;
CREATE TABLE r (LIKE q) WITH (fillfactor = 70);
CREATE INDEX r_id ON r USING surfidx (id);
INSERT INTO r SELECT generate_series(1, 2000);
ALTER TABLE q SET (fillfactor = 100);
ALTER TABLE r SET (fillfactor = 100);
CREATE PROCEDURE take_r(n int) LANGUAGE plpgsql AS
	$$BEGIN FOR i IN 1..n LOOP DELETE FROM r WHERE ctid = (SELECT ctid FROM r ORDER BY id LIMIT 1 FOR UPDATE); COMMIT; END LOOP; END$$;
END

# Buffers that a query touches.
sub buffers
{
	my ($query) = @_;
	my $plan = $node->safe_psql('postgres',
		"SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");

	return $plan =~ /Buffers: shared hit=(\d+)/ ? $1 : 0;
}

# A row updated again and again: each update removes what the one before it left.
$node->safe_psql('postgres', 'CALL bump(3000)');
cmp_ok(buffers('SELECT v FROM h WHERE id = 7'), '<', 50, 'a row updated 3,000 times is found as fast as any other');
is($node->safe_psql('postgres', "SELECT surfidx_check('h_id', true)"), '', 'check');
cmp_ok($node->safe_psql('postgres', "SELECT surfidx_merge('h_id')"), '<', 1000, 'and few of its versions come to a leaf');
is($node->safe_psql('postgres', "SELECT surfidx_check('h_id', true)"), '', 'check after the merge');

# Versions that nobody met: the merge that brings new ones asks about them.
$node->safe_psql('postgres', <<'END');
SET surfidx.unique_notice = off;
CREATE TABLE w (id int, o int, v int);
INSERT INTO w SELECT i, i / 10, 0 FROM generate_series(1, 3000) i;
CREATE INDEX w_v ON w (v);
CREATE UNIQUE INDEX w_id ON w USING surfidx (id);
CREATE INDEX w_o ON w USING surfidx (o);
UPDATE w SET v = v + 1;
UPDATE w SET v = v + 1;
END
foreach my $index ('w_id', 'w_o')
{
	$node->safe_psql('postgres', "SELECT surfidx_merge('$index')");
	is($node->safe_psql('postgres', "SELECT entries FROM surfidx_meta('$index')"), '3000', "a merge leaves one version of each row in $index");
	is($node->safe_psql('postgres', "SELECT surfidx_check('$index', true)"), '', "check of $index");
}
$node->safe_psql('postgres', 'UPDATE w SET o = o + 1000');
$node->safe_psql('postgres', "SELECT surfidx_merge('w_o')");
cmp_ok($node->safe_psql('postgres', "SELECT entries FROM surfidx_meta('w_o')"), '<', 3200, 'where keys change the table tells which rows it has pruned');
is($node->safe_psql('postgres', "SELECT surfidx_check('w_o', true)"), '', 'check of w_o');
is($node->safe_psql('postgres', "SET enable_seqscan = off; SELECT count(*), sum(id) FROM w WHERE o >= 0"), '3000|4501500', 'all rows are found');

# A queue: the rows at its head stand in leaves.
$node->safe_psql('postgres', 'CALL take(6000)');
cmp_ok(buffers('SELECT id FROM q ORDER BY id LIMIT 1'), '<', 100, "a queue's head is found past 6,000 deleted rows");
is($node->safe_psql('postgres', "SELECT surfidx_check('q_id', true)"), '', 'check');

# What the standby's snapshots still see must not vanish without a word.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = off\nmax_standby_streaming_delay = 0");
$standby->start;
$node->wait_for_catchup($standby);

my $session = open_session($standby);

# Twice: entries that leave with their generation, and entries that leave a leaf.
foreach my $case (
	[ 'r', 'an image', 'SET enable_seqscan = off; SET enable_bitmapscan = off; CALL take_r(500)', "SELECT surfidx_merge('r_id')" ],
	[ 'q', 'a leaf', 'CALL take(2000)', 'SELECT 1' ])
{
	my ($table, $what, $change, $then) = @$case;
	my $conflicts = 'SELECT confl_snapshot FROM pg_stat_database_conflicts WHERE datname = current_database()';
	my $before = $standby->safe_psql('postgres', $conflicts);
	my $rows;

	ask($session, '\connect postgres');
	ask($session, 'BEGIN ISOLATION LEVEL REPEATABLE READ;');
	$rows = ask($session, "SELECT count(*) FROM $table;");
	cmp_ok($rows, '>', 500, "$what: the standby sees the rows");
	$node->safe_psql('postgres', $change);
	if ($what eq 'an image')
	{
		$node->wait_for_catchup($standby);
		is(ask($session, "SELECT count(*) FROM $table;"), $rows, "$what: nothing is gone before the merge");
	}
	$node->safe_psql('postgres', $then);
	$node->wait_for_catchup($standby);
	ok($standby->poll_query_until('postgres', "SELECT ($conflicts) > $before"), "$what: a snapshot that still needs removed entries is cancelled");
	is($standby->safe_psql('postgres', "SELECT surfidx_check('${table}_id', true)"), '', "$what: check on the standby");
	is($standby->safe_psql('postgres', "SET enable_seqscan = off; SELECT id = (SELECT max(id) + 1 - count(*) FROM $table) FROM $table ORDER BY id LIMIT 1"),
		't', "$what: a new snapshot sees the queue's head");
}
end_session($session);

# After a crash images are built anew, with dead rows and all; they go again.
$node->safe_psql('postgres', 'CALL bump(500)');
$node->stop('immediate');
ok(start_again($node), 'the server starts after a crash');
is($node->safe_psql('postgres', "SELECT surfidx_check('h_id', true)"), '', 'check after the crash');
$node->safe_psql('postgres', 'CALL bump(500)');
buffers('SELECT v FROM h WHERE id = 7');
cmp_ok(buffers('SELECT v FROM h WHERE id = 7'), '<', 50, 'the row is found fast again');

# A page of the table that is damaged is the table's affair: the merge that wants to know which rows it has pruned goes on without.
$node->safe_psql('postgres', <<'END');
CREATE TABLE d (k int) WITH (autovacuum_enabled = off);
CREATE INDEX d_k ON d USING surfidx (k);
INSERT INTO d SELECT generate_series(1, 3000);
SELECT surfidx_merge('d_k');
UPDATE d SET k = k + 10000;
SELECT pg_stat_force_next_flush();
END
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('d')");
$node->stop;
open(my $f, '+<:raw', $file) or die "$file: $!";
seek($f, 5 * 8192, 0);
print $f "\xff" x 24;
close $f;
$node->start;
my ($rc, $out, $err) = $node->psql('postgres', "SELECT surfidx_merge('d_k')");
is($rc, 0, 'a damaged page of the table: the index is merged');
like($err, qr/WARNING: .*invalid page in block 5/, 'and the log says so');
is($node->safe_psql('postgres', "SELECT delta_entries FROM surfidx_meta('d_k')"), '0', 'nothing is left in the delta');
cmp_ok($node->safe_psql('postgres', "SELECT entries FROM surfidx_meta('d_k')"), '<', 6000, 'without the rows that stood before it');
$node->safe_psql('postgres', 'DROP TABLE d');
$standby->stop;
$node->stop;
done_testing();
